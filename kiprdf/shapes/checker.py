"""Shapes as pySHACL evaluates them, on the elements that may violate them."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, partial
from typing import Any, TypeVar, cast

import rdflib
from pyoxigraph import Literal, NamedNode, Triple
from pyshacl.constraints import CONSTRAINT_PARAMETERS_MAP
from pyshacl.constraints.core.string_based_constraints import PatternConstraintComponent
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shape import Shape
from pyshacl.shapes_graph import ShapesGraph
from rdflib import OWL, RDF, RDFS, SH, Graph
from rdflib.collection import Collection as List
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.store import Store as RdflibStore

from kiprdf.errors import KipError, nearest, shown
from kiprdf.interchange.formats.graphs import rdf_term, rdflib_term
from kiprdf.interchange.formats.parsing import quads
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.kql.comparisons import engine_matches
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import read_catalog
from kiprdf.rdf import vocab
from kiprdf.rdf.directions import read_value
from kiprdf.rdf.literals import Json, canonical_json, normal, to_json
from kiprdf.shapes.demands import preferred
from kiprdf.shapes.reads import PATH, Reads, members, parts
from kiprdf.shapes.shapes import Violation
from kiprdf.shapes.view import View, changed
from kiprdf.store import Delta, Store

T = TypeVar("T")
_log = logging.getLogger("kiprdf.pyshacl")
"""What pySHACL logs, it raises, too."""
_log.addHandler(logging.NullHandler())
_log.propagate = False
DEPTH = 50
"""How deep shapes may refer to each other."""
_NOT_EVALUATED = (SH.rule, SH.js, SH.target, SH.expression, SH.entailment)
_NOTHING = rdflib.URIRef("urn:kip:nothing")
_PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL}
"""The prefixes that SPARQL of shapes need not declare."""
_NO_SHAPE = "Let sh:class say what the values are: it needs no shape."
_HINT = "Correct the shapes, or remove them."


class _GateShapes(ShapesGraph):
    """Shapes that this module evaluates, unlike those of others in the same process."""


class _Pattern(PatternConstraintComponent):
    """``sh:pattern`` by the engine: Python's ``re`` may need years for a text."""

    def __init__(self, shape: Shape) -> None:
        if not isinstance(shape.sg, _GateShapes):
            super().__init__(shape)
            return
        super(PatternConstraintComponent, self).__init__(shape)
        patterns: Any = list(shape.objects(SH.pattern))  # type: ignore[no-untyped-call]
        self.flags: Any = next(shape.objects(SH.flags), None)  # type: ignore[no-untyped-call]
        self.string_rules = patterns
        self.compiled_cache: Any = {one: _Matcher(one, self.flags or "") for one in patterns}


class _Matcher:
    """A pattern, with the methods of one of ``re`` that pySHACL calls."""

    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern, self._flags = str(pattern), str(flags)
        if engine_matches("", self._pattern, self._flags) is None:
            raise ValueError(f"{self._pattern!r} is no regular expression of SPARQL")

    def match(self, text: str) -> None:
        """Nothing: pySHACL then searches."""

    def search(self, text: str) -> bool | None:
        return engine_matches(text, self._pattern, self._flags)


class _Everything(RdflibStore):
    """A graph in which each pattern has an answer, so that each path is followed to its end."""

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[Any]:
        yield tuple(one or _NOTHING for one in triple_pattern), iter(())


CONSTRAINT_PARAMETERS_MAP[SH.pattern] = _Pattern


class Checker:
    """The shapes of a text, ready to be evaluated; raises KIP_1001 for those that cannot be."""

    def __init__(self, text: str, vocabulary: Store, mapping: Mapping | None) -> None:
        self._mapping = mapping
        self._graph = _parsed(text)
        _ignore_own(self._graph, mapping)
        self._queries = _evaluated(lambda: _queries(self._graph))
        shapes = _GateShapes(self._graph, logger=_log)
        self._shapes: list[Shape] = _evaluated(lambda: list(shapes.shapes))
        if not self._shapes:
            hint = "A shape is of the type sh:NodeShape, or has a target such as sh:targetClass."
            raise KipError("KIP_1001", "The text contains no SHACL shapes.", hint)
        _require_no_recursion(self._graph, [shape.node for shape in self._shapes])
        # To check a node without values reads all constraints, one that has all values all paths.
        for shape in self._shapes:
            self._results(shape, Graph(bind_namespaces="none"), {_NOTHING})
            _evaluated(partial(shape.value_nodes, Graph(_Everything()), _NOTHING))
        self.warnings = tuple(dict.fromkeys(self._warnings(vocabulary)))

    @cached_property
    def _reads(self) -> Reads:
        starts = [shape.node for shape, _ in self._targets]
        nodes = [shape.node for shape in self._shapes]
        return Reads(self._graph, nodes, starts, self._queries)

    @cached_property
    def _targets(self) -> list[tuple[Shape, list[set[Any]]]]:
        """The shapes that have targets, with these."""
        declared = ((one, list(map(set, one.target()))) for one in self._shapes)  # type: ignore[no-untyped-call]
        return [(shape, targets) for shape, targets in declared if any(targets)]

    # Warnings ---------------------------------------------------------------------------------

    def _warnings(self, store: Store) -> Iterator[str]:
        """What the shapes have and the nexus does not, and what is not evaluated."""
        graph, wording = self._graph, Wording(self._graph, store, self._mapping)
        if (None, OWL.imports, None) in graph:
            yield "owl:imports is not followed: shapes are those of the text alone."
        for key in _NOT_EVALUATED:
            if (None, key, None) in graph:
                yield f"sh:{key[len(str(SH)) :]} is not evaluated."
        catalog = read_catalog(store)
        classes = {one for _, declared in self._targets for one in declared[1] | declared[2]}
        for term in sorted(classes.union(graph.objects(None, SH["class"])), key=str):
            type = wording.type(term)
            names = {*catalog.concept_types, "$ConceptType", "$PropositionType"}
            if type is None and NamedNode(str(term)) != vocab.STATEMENT:
                yield f"<{term}> is not a type of the nexus{self._in_mapping}."
            elif type is not None and type not in names:
                yield f"The nexus has no type '{shown(type)}'.{_similar(type, names)}"
        for term in sorted(self._reads.properties):
            word = wording.property(NamedNode(str(term)))
            if word.startswith("<"):
                yield f"{word} is not a property of the nexus{self._in_mapping}."
            elif word.startswith('"') and word[1:-1] not in catalog.predicates:
                similar = _similar(word[1:-1], catalog.predicates)
                yield f"The nexus has no predicate {word}.{similar}"
            elif (
                "." in word
                and self._mapping is None
                and not store.lookup(None, NamedNode(str(term)), None, 1)
            ):
                yield f"No element has {word}."
        for use in (SH.targetNode, SH.hasValue):
            for term in graph.objects(None, use):
                name = store.iris.name(str(term)) if isinstance(term, rdflib.URIRef) else None
                if name is not None and not exists(NamedNode(str(term)), store):
                    yield f"The nexus has no {shown(name.id)}."

    @property
    def _in_mapping(self) -> str:
        return "; give the mapping that has it" if self._mapping is None else ", nor of the mapping"

    # Checking ---------------------------------------------------------------------------------

    def violations(
        self, store: Store, touched: Collection[NamedNode] | None, delta: Delta
    ) -> list[Violation]:
        """See ``kiprdf.shapes.violations``."""
        after = View(store, delta, self._mapping).graph
        if touched is None:
            results = [
                one
                for shape in self._shapes
                for one in self._results(shape, after, _all_targets(shape, after))
            ]
        else:
            before = View(store, mapping=self._mapping).graph
            own = {rdflib.URIRef(node.value) for node in touched}
            others = (
                self._reads.elements(changed(store, delta, self._mapping), (before, after)) - own
            )
            results = self._of(after, own)
            new = self._of(after, others)
            if new:
                focus = {one[SH.focusNode] for one in new}
                old = {_key(one) for one in self._of(before, focus)}
                results += [one for one in new if _key(one) not in old]
        wording = Wording(self._graph, store, self._mapping)
        # A shape that another one uses, and that has targets, gives a result twice.
        violations = map(wording.violation, {_key(one): one for one in results}.values())
        return sorted(
            violations, key=lambda one: (one.element, one.path or "", one.shape, str(one))
        )

    def _of(self, graph: Graph, nodes: Collection[Any]) -> list[dict[Any, Any]]:
        """The results of the shapes whose targets some nodes are."""
        results = []
        for shape, declared in self._targets:
            if targets := _among(nodes, declared, graph):
                results += self._results(shape, graph, targets)
        return results

    def _results(self, shape: Shape, graph: Graph, nodes: Collection[Any]) -> list[dict[Any, Any]]:
        """The results of a shape for nodes, each as its properties."""
        executor = SHACLExecutor(max_validation_depth=2 * DEPTH)
        results = []
        for node in sorted(nodes):
            _, reports = _evaluated(partial(shape.validate, executor, graph, focus=node))
            results += [_properties(result, triples) for _, result, triples in reports]
        return results


def _properties(result: Any, triples: Any) -> dict[Any, Any]:
    """The properties of a result; its messages are a tuple."""
    properties: dict[Any, Any] = {SH.resultMessage: ()}
    for subject, predicate, value in triples:
        if subject == result:
            value = value[1] if isinstance(value, tuple) else value
            if predicate == SH.resultMessage:
                value = (*properties[predicate], value)
            properties[predicate] = value
    return properties


def _key(result: dict[Any, Any]) -> tuple[Any, ...]:
    keys = (SH.focusNode, SH.sourceShape, SH.sourceConstraint, SH.sourceConstraintComponent)
    return tuple(result.get(key) for key in (*keys, SH.resultPath, SH.value))


def _all_targets(shape: Shape, graph: Graph) -> set[Any]:
    return cast("set[Any]", shape.focus_nodes(graph))  # type: ignore[no-untyped-call]


def _among(nodes: Collection[Any], declared: list[set[Any]], graph: Graph) -> set[Any]:
    """Those of some nodes, and of their values that are literals, which are targets of a shape."""
    own, classes, implicit, objects_of, subjects_of = declared
    targets = own.intersection(nodes)
    types = {
        type
        for one in classes | implicit
        for type in graph.transitive_subjects(RDFS.subClassOf, one)
    }
    for node in nodes:
        if (
            any((node, RDF.type, type) in graph for type in types)
            or any((node, key, None) in graph for key in subjects_of)
            or any((None, key, node) in graph for key in objects_of)
        ):
            targets.add(node)
        for key in objects_of:
            targets |= {one for one in graph.objects(node, key) if isinstance(one, rdflib.Literal)}
    return targets


# Reading ------------------------------------------------------------------------------------------


def _parsed(text: str) -> Graph:
    graph = Graph("SimpleMemory", bind_namespaces="none")
    for quad in quads(text, "turtle"):
        value = quad.object
        if isinstance(value, Triple) or isinstance(quad.subject, Triple):
            message = "Shapes are in RDF 1.1: the text has a triple in a triple."
            raise KipError("KIP_1001", message, "Write shapes of links for rdf:Statement.")
        term = normal(value) if isinstance(value, Literal) else value
        graph.add(tuple(map(rdflib_term, (quad.subject, quad.predicate, term))))
    for key in (SH.message, HINT):
        for subject in {*graph.subjects(key)}:
            texts = {*graph.objects(subject, key)}
            for other in texts.difference(preferred(texts)):
                graph.remove((subject, key, other))
    return graph


def _ignore_own(graph: Graph, mapping: Mapping | None) -> None:
    """Let closed shapes ignore what no writer can leave out.

    That is what the nexus writes by itself, and the exact value that a mapping keeps beside what it
    makes of an array.
    """
    keys = (*vocab.ENGINE_KEYS, vocab.MERGED_FROM, vocab.MENTIONED)
    own = [*map(vocab.metadata, keys)]
    if mapping is not None:
        own += [term.iri for key in keys if (term := mapping.metadata(key))]
    for shape in {*graph.subjects(SH.closed)}:
        ignored = list(own)
        if mapping is not None:
            classes = map(str, graph.objects(shape, SH.targetClass))
            types = (None, *map(mapping.type_of, classes))
            paths = [*graph.objects(shape, SH.property / SH.path)]
            for head in graph.objects(shape, SH.ignoredProperties):
                paths += graph.items(head)
            for path in map(str, paths):
                attributes = (pair for type in types for pair in mapping.attributes_of(path, type))
                ignored += [vocab.attribute(key) for key, _ in attributes]
                ignored += [vocab.metadata(key) for key, _ in mapping.all_metadata_of(path)]
        terms: list[Any] = [rdflib_term(one) for one in ignored]
        graph.add((shape, SH.ignoredProperties, List(graph, rdflib.BNode(), terms).uri))


def _evaluated(function: Callable[[], T]) -> T:
    """The result of a function of pySHACL; KIP_1001 for shapes that it refuses."""
    try:
        return function()
    except (KipError, MemoryError):
        raise
    except Exception as fault:
        reason = str(getattr(fault, "message", None) or fault).strip().split("\n")[0].rstrip(".")
        message = f"The shapes cannot be evaluated: {shown(reason, 300)}."
        raise KipError("KIP_1001", message, _HINT) from fault


def _require_no_recursion(graph: Graph, shapes: Collection[Any]) -> None:
    """Raise KIP_1001 for a shape that refers to itself, whose meaning SHACL leaves open."""
    depths: dict[Any, int] = {}
    for root in shapes:
        path: dict[Any, Iterator[Any]] = {root: iter(members(graph, root))}
        while path:
            last = next(reversed(path))
            following = next(path[last], None)
            if following is None:
                depths[last] = 1 + max((depths[one] for one in members(graph, last)), default=0)
                del path[last]
            elif following in path:
                named = next((one for one in path if isinstance(one, rdflib.URIRef)), following)
                raise KipError("KIP_1001", f"The shape <{named}> refers to itself.", _NO_SHAPE)
            elif following not in depths:
                path[following] = iter(members(graph, following))
    if max(depths.values()) > DEPTH:
        message = f"Shapes refer to each other more than {DEPTH} levels deep."
        raise KipError("KIP_1001", message, _NO_SHAPE)


def _queries(graph: Graph) -> dict[Any, set[Any]]:
    """The triple patterns of SPARQL in shapes; KIP_1001 for SPARQL that reads other data."""
    declared = [
        f"PREFIX {graph.value(one, SH.prefix)}: <{graph.value(one, SH.namespace)}>"
        for one in {*graph.objects(None, SH.declare)}
    ]
    usual = [f"PREFIX {name}: <{space}>" for name, space in _PREFIXES.items()]
    prologue = "\n".join([*usual, *declared])
    patterns: dict[Any, set[Any]] = defaultdict(set)
    for key in (SH.select, SH.ask):
        for node, text in graph.subject_objects(key):
            query = re.sub(r"[$?]PATH\b", f"<{PATH}>", str(text))
            for part in parts(translateQuery(parseQuery(f"{prologue}\n{query}")).algebra):
                if not isinstance(part, CompValue):
                    continue
                if part.name in ("ServiceGraphPattern", "DatasetClause"):
                    message = "The SPARQL of a shape reads the nexus, without SERVICE and FROM."
                    raise KipError("KIP_1001", message, "Remove SERVICE and FROM from the query.")
                if part.name in ("BGP", "TriplesBlock"):
                    for block in part.triples:
                        patterns[node].update(zip(*[iter(block)] * 3, strict=True))
    return patterns


def _similar(name: str, names: Collection[str]) -> str:
    similar = nearest(name, names, 1)
    return f" Did you mean '{similar[0]}'?" if similar else ""


# Wording ------------------------------------------------------------------------------------------


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
