"""Which classes and properties an ontology has, and what it says of a property as a whole."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from pyoxigraph import NamedNode

from kiprdf.interchange.vocabularies import existing as nexus
from kiprdf.interchange.vocabularies.definitions import Skipped
from kiprdf.interchange.vocabularies.ontology_graph import Graph, Node, Values
from kiprdf.interchange.vocabularies.ontology_names import Given, plain_name
from kiprdf.interchange.vocabularies.ontology_uses import read_uses
from kiprdf.interchange.vocabularies.ontology_words import (
    DESCRIPTIONS,
    DOMAINS,
    LABELS,
    PROPERTIES,
    RANGES,
    STANDARDS,
)
from kiprdf.interchange.vocabularies.standards import owl, rdfs, sh
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName

_ABOVE = 1_000
"""How many properties above one are asked for its domain and range."""
_READ = (*LABELS, *DESCRIPTIONS, *DOMAINS, *RANGES)
"""What ontologies say something of their terms by; OWL wants it declared where it is used."""


@dataclass(slots=True)
class Property:
    """What an ontology says about a property as a whole."""

    node: NamedNode
    domains: Values
    values: Values
    is_predicate: bool = False
    is_attribute: bool = False


class Found:
    """The terms of an ontology: its classes, its properties, and what classes say of properties."""

    def __init__(self, graph: Graph, given: Given, existing: nexus.Definitions) -> None:
        self._graph = graph
        self._given = given
        self._existing = existing
        self.skipped: list[Skipped] = []
        self.uses, self.homes = read_uses(graph, self.skipped)
        self.shapes = self._shapes_by_class()
        self.properties = {iri: self._property(NamedNode(iri)) for iri in self._property_iris()}
        self.classes = self._class_iris()

    def _class_iris(self) -> list[str]:
        """Classes that are declared, and those that are only mentioned, so that nothing dangles."""
        graph = self._graph
        nodes = graph.subjects(vocab.TYPE, rdfs("Class"), owl("Class"))
        nodes |= set(graph.having(rdfs("subClassOf")))
        found = {owner for uses in self.uses.values() for owner in uses} | set(self.shapes)
        for node in nodes:
            if isinstance(node, NamedNode):
                found.add(node.value)
                above = (term for term, _ in graph.superiors(node))
                found |= {term.value for term in above if isinstance(term, NamedNode)}
        for one in self.properties.values():
            found |= one.domains.classes | (one.values.classes if one.is_predicate else set())
        return sorted(iri for iri in found if self._is_definable(iri))

    def _is_definable(self, iri: str) -> bool:
        if iri.startswith(STANDARDS) or self._graph.is_datatype(iri):
            return False
        return not self._graph.is_a(NamedNode(iri), owl("Restriction"))

    def _shapes_by_class(self) -> dict[str, list[Node]]:
        """The node shapes of each class, in an order that no file's order changes."""
        graph, found = self._graph, defaultdict[str, list[Node]](list)
        nodes = graph.subjects(vocab.TYPE, sh("NodeShape"))
        nodes |= {*graph.having(sh("targetClass")), *graph.having(sh("property"))}
        for shape in sorted(nodes, key=str):
            for iri in graph.shape_classes(shape):
                found[iri].append(shape)
                target = (shape, sh("targetClass"), NamedNode(iri))
                graph.use([target])
        return found

    def _property_iris(self) -> list[str]:
        graph = self._graph
        nodes = graph.subjects(vocab.TYPE, *PROPERTIES)
        for predicate in (rdfs("domain"), rdfs("range"), rdfs("subPropertyOf"), *DOMAINS, *RANGES):
            nodes |= set(graph.having(predicate))
        found = {node.value for node in nodes if isinstance(node, NamedNode)}
        found |= set(self.uses)
        return sorted(i for i in found if self._is_definable(i) and not self._is_declaration(i))

    def _is_declaration(self, iri: str) -> bool:
        """Whether nothing is said of a term but that ontologies annotate their terms by it."""
        said = [(NamedNode(iri), vocab.TYPE, owl("AnnotationProperty"))]
        is_bare = self._graph.statements_of(NamedNode(iri)) == said and iri not in self.uses
        if is_bare and NamedNode(iri) in _READ:
            self._graph.use(said)
        return is_bare

    def _property(self, node: NamedNode) -> Property:
        uses = self.uses.get(node.value, {})
        domains = self._said(node, rdfs("domain"), *DOMAINS)
        values = self._said(node, rdfs("range"), *RANGES)
        if not domains:
            domains.classes |= {owner for owner in uses if not owner.startswith(STANDARDS)}
        if not values:
            for use in uses.values():
                values.add(use.values)
        found = Property(node, domains, values)
        found.is_predicate, found.is_attribute = self._kinds(found)
        return found

    def _said(self, node: NamedNode, *predicates: NamedNode) -> Values:
        """What a property says, or the nearest one above it that says something (RDFS 3)."""
        pending, seen = deque([node.value]), set[str]()
        while pending and len(seen) < _ABOVE:
            iri = pending.popleft()
            if iri in seen:
                continue
            found = self._graph.said(NamedNode(iri), *predicates)
            if iri == vocab.LABEL.value:
                found.datatypes.add(vocab.RDFS + "Literal")
            if found:
                return found
            seen.add(iri)
            pending += self._graph.named(NamedNode(iri), rdfs("subPropertyOf"))
        return Values()

    def _kinds(self, one: Property) -> tuple[bool, bool]:
        """Whether a property is a predicate, and whether it is an attribute; it may be both."""
        graph, values = self._graph, one.values
        if self._given.is_attribute_only(one.node.value):
            return False, True
        things = graph.is_a(one.node, owl("ObjectProperty"))
        literals = graph.is_a(one.node, owl("DatatypeProperty"))
        if things or literals:
            return things, literals
        if values:
            return bool(values.classes) or values.everything, bool(values.datatypes)
        is_note = graph.is_a(one.node, owl("AnnotationProperty")) or self._is_known_attribute(one)
        return not is_note, is_note

    def _is_known_attribute(self, one: Property) -> bool:
        """Whether the nexus has an attribute of the name for a class of the domain."""
        names = {self._given.type(iri) or "" for iri in one.domains.classes}
        found = (self._existing.get(ConceptName(META_TYPES[0], name)) for name in names)
        key = plain_name(one.node.value, None)
        return any(known is not None and key in known.rules for known in found)

    def is_foreign(self, iri: str) -> bool:
        """Whether a term has no texts here: its own vocabulary may be another one."""
        return not self._graph.texts(NamedNode(iri), *LABELS, *DESCRIPTIONS)

    def is_declared(self, iri: str) -> bool:
        """Whether a term is more than mentioned."""
        is_used = iri in self.uses or iri in self.shapes
        return is_used or self._graph.is_subject(NamedNode(iri))
