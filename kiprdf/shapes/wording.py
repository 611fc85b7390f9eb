"""Results of pySHACL in the words of KIP."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import rdflib
from pyoxigraph import Literal, NamedNode
from rdflib import RDF, SH, Graph

from kiprdf.interchange.formats.graphs import rdf_term
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.kql.identities import exists
from kiprdf.rdf import vocab
from kiprdf.rdf.directions import read_value
from kiprdf.rdf.literals import Json, canonical_json, to_json
from kiprdf.shapes.reads import members
from kiprdf.shapes.shapes import Violation
from kiprdf.store import Store

_OWN = {
    vocab.TYPE: "type",
    vocab.LABEL: "name",
    vocab.SUBJECT: "subject",
    vocab.PREDICATE: "predicate",
    vocab.OBJECT: "object",
}
_MARKS: dict[Any, str] = {SH.zeroOrMorePath: "*", SH.oneOrMorePath: "+", SH.zeroOrOnePath: "?"}
_USES = (
    *(SH.property, SH.node, SH["not"], SH.qualifiedValueShape, SH.sparql),
    *(SH["and"], SH["or"], SH.xone, RDF.first, RDF.rest),
)
"""How a shape is a part of another."""
_REFERS = (SH.node, SH["not"], SH["and"], SH["or"], SH.xone)
"""The constraints whose values are shapes."""
HINT = rdflib.URIRef(f"{SH}agentInstruction")
"""A term of SHACL 1.2."""


class Wording:
    """Names what shapes name as the nexus in a store does."""

    def __init__(self, graph: Graph, store: Store, mapping: Mapping | None) -> None:
        self._graph = graph
        self._store = store
        self._iris = store.iris
        self._mapping = mapping

    def violation(self, result: dict[Any, Any]) -> Violation:
        """The violation of a result, from its properties."""
        shape, focus = result[SH.sourceShape], result[SH.focusNode]
        source = result.get(SH.sourceConstraint, shape)
        owners = list(self._owners(source))
        key = self._key(result)
        # What the alternatives of sh:xone and sh:not advise may be what is wrong.
        advising = self._referred(shape, key) if key not in (SH.xone, SH["not"]) else ()
        texts = [self._text(self._graph.objects(one, SH.message)) for one in (source, shape)]
        is_worded = any(texts)
        hints = (self._text(self._graph.objects(one, HINT)) for one in (*owners, *advising))
        path = result.get(SH.resultPath)
        severity = str(result[SH.resultSeverity])
        named = next((one for one in owners if isinstance(one, rdflib.URIRef)), shape)
        return Violation(
            message=self._ids_in(self._text(result[SH.resultMessage]))
            if is_worded
            else self._default(result, key),
            path=None if path is None else self.path(path),
            value=self.value(result.get(SH.value)),
            hint=next(filter(None, hints), None),
            severity=severity.removeprefix(str(SH)),
            shape=str(named),
            element=str(self.value(focus)),
        )

    def _owners(self, shape: Any) -> Iterable[Any]:
        """A shape, and those that it is a part of, from the inside."""
        seen, pending = set(), [shape]
        while pending:
            one = pending.pop(0)
            if one not in seen:
                seen.add(one)
                yield one
                for use in _USES:
                    pending += sorted(self._graph.subjects(use, one))

    def _referred(self, shape: Any, key: Any) -> Iterable[Any]:
        """The shapes to which a constraint of a shape refers, with their parts."""
        pending = [item for one in self._graph.objects(shape, key) for item in self._items(one)]
        while pending and key in _REFERS:
            yield (one := pending.pop(0))
            pending += sorted(members(self._graph, one))  # shapes are not recursive

    def _text(self, literals: Iterable[Any]) -> str:
        return " ".join(sorted(set(map(str, literals))))

    def _ids_in(self, text: str) -> str:
        """A text with the ids of the elements whose IRIs a query has filled in."""
        iris = self._iris
        pattern = rf"{re.escape(iris.base)}\S*[^\s.,;:!?)>'\"]"
        return re.sub(pattern, lambda match: str(self.value(rdflib.URIRef(match[0]))), text)

    def _key(self, result: dict[Any, Any]) -> rdflib.URIRef:
        """The property of a constraint."""
        component = result[SH.sourceConstraintComponent].removeprefix(str(SH))
        name = component.removesuffix("ConstraintComponent")
        return rdflib.URIRef(f"{SH}{name[:1].lower()}{name[1:]}")

    def _default(self, result: dict[Any, Any], key: rdflib.URIRef) -> str:
        """What a constraint without a message demands."""
        demanded = list(self._graph.objects(result[SH.sourceShape], key))
        if not demanded:
            # A query, or a component of others, which may have a message.
            text = self._text(result[SH.resultMessage])
            return text or "It does not satisfy the SPARQL of the shape."
        values = [", ".join(map(self._shown, self._items(one))) for one in demanded]
        if key in _REFERS:
            parts = self._referred(result[SH.sourceShape], key)
            texts = (self._text(self._graph.objects(one, SH.message)) for one in parts)
            named = [canonical_json(str(one)) for one in demanded if isinstance(one, rdflib.URIRef)]
            worded = [", ".join(map(canonical_json, dict.fromkeys(filter(None, texts))))]
            values = worded if worded[0] else named
        text = " ".join([f"It does not satisfy sh:{key[len(str(SH)) :]}", *sorted(values)])
        return f"{text.strip()}."

    def _shown(self, term: Any) -> str:
        return canonical_json(self.value(term))

    def _items(self, term: Any) -> Iterable[Any]:
        return self._graph.items(term) if (term, RDF.first, None) in self._graph else [term]

    def value(self, term: Any) -> Json:
        """A value as FIND shows it, an element as its id."""
        if term is None or isinstance(term, rdflib.BNode):
            return None if term is None else str(term)
        native = rdf_term(term)
        if isinstance(native, Literal):
            native = read_value(native)
        if isinstance(native, NamedNode) and native != vocab.NULL:
            own = self._iris.name(native.value) is not None
            return self._iris.id(native) if own else native.value
        return to_json(native)

    def path(self, path: Any) -> str:
        """A path in the words of KIP: ``attributes.dose``, ``^"treats"``, ``"a"/"b"``."""
        graph = self._graph
        if isinstance(path, rdflib.URIRef):
            return self.property(NamedNode(str(path)))
        for key, value in graph.predicate_objects(path):
            if key == RDF.first:
                return "/".join(map(self.path, graph.items(path)))
            if key == SH.alternativePath:
                return "|".join(map(self.path, graph.items(value)))
            if key == SH.inversePath:
                return f"^{self.path(value)}"
            if key in _MARKS:
                return f"{self.path(value)}{_MARKS[key]}"
        return str(path)

    def type(self, term: Any) -> str | None:
        """The name of a type; None for what is none."""
        iri = str(term)
        if iri.startswith(self._iris.concept_types):
            return self._iris.concept_name(iri)
        return None if self._mapping is None else self._mapping.type_of(iri)

    def property(self, node: NamedNode) -> str:
        """A property in the words of KIP; an IRI that is none in angle brackets."""
        iri = node.value
        for space, name in ((vocab.ATTRIBUTE, "attributes"), (vocab.METADATA, "metadata")):
            if iri.startswith(space):
                return f"{name}.{iri[len(space) :]}"
        if node in _OWN:
            return _OWN[node]
        if iri.startswith(self._iris.predicates):
            return f'"{self._iris.concept_name(iri)}"'
        return self._mapped(node) or f"<{iri}>"

    def _mapped(self, node: NamedNode) -> str | None:
        mapping, iri = self._mapping, node.value
        if mapping is None:
            return None
        predicate, label = mapping.predicate_of(iri), mapping.label()
        if predicate is not None and exists(self._iris.predicate(predicate), self._store):
            return f'"{predicate}"'
        if label is not None and label.iri == node:
            return "name"
        for named, name in (
            (mapping.attribute_of, "attributes"),
            (mapping.metadata_of, "metadata"),
        ):
            if (term := named(iri)) is not None:
                return f"{name}.{term[0]}"
        return None
