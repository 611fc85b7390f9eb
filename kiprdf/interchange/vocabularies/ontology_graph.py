"""An ontology's triples, easy to ask: lists, unions, restrictions, shapes, texts by language."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from kiprdf.interchange.vocabularies.standards import (
    DCAM,
    OWL,
    SCHEMA,
    SH,
    owl,
    rdf,
    rdfs,
    sh,
    skos,
)
from kiprdf.rdf import vocab

Node: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal

EVERYTHING = (rdfs("Resource").value, owl("Thing").value)
STANDARDS = (vocab.RDF, vocab.RDFS, vocab.XSD, OWL)
"""Namespaces whose terms are the language of ontologies and never definitions themselves."""
_COUNT = re.compile(r"[0-9]{1,18}")
_OPERATORS = (owl("unionOf"), owl("intersectionOf"))

_INTEGERS = [
    "integer",
    "int",
    "long",
    "short",
    "byte",
    "nonNegativeInteger",
    "positiveInteger",
    "nonPositiveInteger",
    "negativeInteger",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
]
JSON_TYPES: dict[str, str | None] = {
    **{vocab.XSD + name: "integer" for name in _INTEGERS},
    **{vocab.XSD + name: "number" for name in ("decimal", "double", "float")},
    **{OWL + name: "number" for name in ("real", "rational")},
    vocab.XSD + "boolean": "boolean",
    **{space + "Integer": "integer" for space in SCHEMA},
    **{space + name: "number" for space in SCHEMA for name in ("Number", "Float")},
    **{space + "Boolean": "boolean" for space in SCHEMA},
    **{
        space + name: "string"
        for space in SCHEMA
        for name in ("Text", "URL", "Date", "DateTime", "Time", "CssSelectorType", "XPathType")
    },
    # Texts with a language are objects in KIP, others strings: either may come.
    **{vocab.RDF + name: None for name in ("langString", "PlainLiteral", "JSON")},
    vocab.RDFS + "Literal": None,
}
"""The JSON types of datatypes; those that are not listed are written as strings."""


LABELS = (vocab.LABEL, skos("prefLabel"))
DESCRIPTIONS = (
    skos("definition"),
    rdfs("comment"),
    NamedNode("http://purl.org/dc/terms/description"),
    NamedNode("http://purl.org/dc/elements/1.1/description"),
    NamedNode("http://www.w3.org/ns/prov#definition"),
    NamedNode("http://purl.obolibrary.org/obo/IAO_0000115"),
)
"""Texts that say what a term means, in the order in which they stand together."""
DOMAINS = (
    *(NamedNode(space + "domainIncludes") for space in SCHEMA),
    NamedNode(DCAM + "domainIncludes"),
)
RANGES = (
    *(NamedNode(space + "rangeIncludes") for space in SCHEMA),
    NamedNode(DCAM + "rangeIncludes"),
)
PROPERTIES = (
    rdf("Property"),
    *map(owl, ("ObjectProperty", "DatatypeProperty", "AnnotationProperty", "FunctionalProperty")),
    *map(owl, ("InverseFunctionalProperty", "SymmetricProperty", "TransitiveProperty")),
)


@dataclass(slots=True)
class Values:
    """What may stand as object of a property: classes, datatypes, or one of some terms."""

    classes: set[str] = field(default_factory=set)
    datatypes: set[str] = field(default_factory=set)
    options: list[Term] = field(default_factory=list)
    everything: bool = False

    def add(self, other: Values) -> None:
        self.classes |= other.classes
        self.datatypes |= other.datatypes
        self.options += [term for term in other.options if term not in self.options]
        self.everything |= other.everything

    def __bool__(self) -> bool:
        return bool(self.classes or self.datatypes or self.options or self.everything)


class Graph:
    """Triples by subject and predicate. Graphs of quads are taken as one."""

    def __init__(self, triples: Iterable[Triple | Quad]) -> None:
        self._objects: dict[Node, dict[NamedNode, list[Term]]] = defaultdict(dict)
        self._subjects: dict[tuple[NamedNode, Term], list[Node]] = defaultdict(list)
        for triple in triples:
            subject, object_ = triple.subject, triple.object
            if not isinstance(subject, Triple) and not isinstance(object_, Triple):
                self._objects[subject].setdefault(triple.predicate, []).append(object_)
                self._subjects[triple.predicate, object_].append(subject)
        self._datatypes = frozenset(self._declared_datatypes())

    def subjects(self, predicate: NamedNode, *objects: Term) -> set[Node]:
        return {one for object_ in objects for one in self._subjects.get((predicate, object_), ())}

    def having(self, predicate: NamedNode) -> list[Node]:
        return [node for node, own in self._objects.items() if predicate in own]

    def objects(self, node: Node, *predicates: NamedNode) -> list[Term]:
        """The objects of any of the predicates, in an order that no file's order changes."""
        own = self._objects.get(node, {})
        found = [term for predicate in predicates for term in own.get(predicate, ())]
        return sorted(dict.fromkeys(found), key=str)

    def named(self, node: Node, *predicates: NamedNode) -> list[str]:
        return [o.value for o in self.objects(node, *predicates) if isinstance(o, NamedNode)]

    def nodes(self, node: Node, *predicates: NamedNode) -> list[Node]:
        return [o for o in self.objects(node, *predicates) if not isinstance(o, Literal)]

    def number(self, node: Node, *predicates: NamedNode) -> int | None:
        """The largest count that is said; what is no count is no number."""
        texts = (o.value for o in self.objects(node, *predicates) if isinstance(o, Literal))
        return max((int(text) for text in texts if _COUNT.fullmatch(text)), default=None)

    def is_a(self, node: Node, *classes: NamedNode) -> bool:
        return any(one in classes for one in self.objects(node, vocab.TYPE))

    def items(self, head: Term) -> list[Term]:
        """The members of an RDF list; of one that is a circle, each once."""
        found: list[Term] = []
        seen: set[Term] = set()
        while isinstance(head, NamedNode | BlankNode) and head not in seen:
            seen.add(head)
            found += self.objects(head, rdf("first"))[:1]
            head = next(iter(self.objects(head, rdf("rest"))), rdf("nil"))
        return found

    def members(self, node: Node, *predicates: NamedNode) -> Iterator[Term]:
        for head in self.objects(node, *predicates):
            yield from self.items(head)

    def texts(self, node: Node, *predicates: NamedNode) -> dict[str, str]:
        """Texts by language, ``""`` without one; what several predicates say stands together."""
        found: dict[str, list[str]] = defaultdict(list)
        for predicate in predicates:
            for term in self.objects(node, predicate):
                text = term.value.strip() if isinstance(term, Literal) else ""
                if isinstance(term, Literal) and text and text not in found[term.language or ""]:
                    found[term.language or ""].append(text)
        return {language: "\n\n".join(found[language]) for language in sorted(found)}

    def _declared_datatypes(self) -> Iterator[str]:
        roots = [rdfs("Datatype"), *(NamedNode(space + "DataType") for space in SCHEMA)]
        pending = [*self.subjects(vocab.TYPE, *roots), *roots[1:]]
        seen: set[Node] = set()
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending += self._subjects.get((rdfs("subClassOf"), node), ())
        return (node.value for node in seen if isinstance(node, NamedNode))

    def is_datatype(self, iri: str) -> bool:
        return (
            iri in self._datatypes
            or iri in JSON_TYPES
            or iri.startswith(vocab.XSD)
            or iri in (vocab.RDF + "HTML", vocab.RDF + "XMLLiteral", vocab.RDF + "dirLangString")
        )

    def is_expression(self, node: Node) -> bool:
        """Whether a class stands for others: one without a label of its own."""
        is_class = bool(self.texts(node, *LABELS)) and isinstance(node, NamedNode)
        return not is_class and bool(self.objects(node, *_OPERATORS))

    def _is_data_range(self, node: Node) -> bool:
        """Whether a datatype is made of others, or of some of their values."""
        is_datatype = self.is_a(node, rdfs("Datatype"), owl("DataRange"))
        made_of = (*_OPERATORS, owl("oneOf"), owl("onDatatype"))
        return is_datatype and bool(self.objects(node, *made_of))

    def values(self, *nodes: Term) -> Values:
        """What classes, datatypes or expressions of them allow; the wider where in doubt."""
        found = Values()
        pending, seen = list(nodes), set[Term]()
        while pending:
            node = pending.pop()
            if isinstance(node, Literal) or node in seen:
                continue
            seen.add(node)
            if self.is_expression(node) or self._is_data_range(node):
                self._add_data_range(found, node)
                pending += self.members(node, *_OPERATORS)
            elif isinstance(node, NamedNode):
                self._add_named(found, node.value)
        return found

    def _add_named(self, found: Values, iri: str) -> None:
        if iri in EVERYTHING:
            found.everything = True
        elif self.is_datatype(iri):
            found.datatypes.add(iri)
        elif not iri.startswith(STANDARDS):
            found.classes.add(iri)

    def _add_data_range(self, found: Values, node: Node) -> None:
        """The literals of an enumeration, the datatype that a restricted one is made of."""
        options = [one for one in self.members(node, owl("oneOf")) if isinstance(one, Literal)]
        found.options += options
        found.datatypes |= {option.datatype.value for option in options}
        found.datatypes |= set(self.named(node, owl("onDatatype")))

    def shape_values(self, shape: Node) -> Values:
        """What a property shape allows as values, those of its alternatives together."""
        found = Values()
        pending: list[Term] = [shape]
        seen: set[Term] = set()
        while pending:
            node = pending.pop()
            if not isinstance(node, Literal) and node not in seen:
                seen.add(node)
                self._add_shape(found, node)
                pending += self.members(node, sh("or"), sh("xone"), sh("and"))
        return found

    def _add_shape(self, found: Values, shape: Node) -> None:
        own = self.values(*self.objects(shape, sh("class")))
        for inner in self.nodes(shape, sh("node")):
            own.classes |= set(self.shape_classes(inner))
        own.options += self.members(shape, sh("in"))
        own.datatypes |= set(self.named(shape, sh("datatype")))
        if not own.datatypes:
            own.datatypes |= {o.datatype.value for o in own.options if isinstance(o, Literal)}
        kinds = set(self.named(shape, sh("nodeKind")))
        if not own and SH + "Literal" in kinds:
            own.datatypes.add(vocab.RDFS + "Literal")
        elif not own:
            own.everything = bool(kinds & {SH + "IRI", SH + "BlankNodeOrIRI", SH + "BlankNode"})
        found.add(own)

    def shape_classes(self, shape: Node) -> list[str]:
        """The classes whose members a node shape is about."""
        found = self.named(shape, sh("targetClass"))
        if isinstance(shape, NamedNode) and self.is_a(shape, rdfs("Class"), owl("Class")):
            found.append(shape.value)
        return sorted({iri for iri in found if not iri.startswith(STANDARDS)})
