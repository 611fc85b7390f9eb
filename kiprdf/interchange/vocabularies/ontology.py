"""An ontology in RDFS, OWL or SHACL becomes definitions (docs/decisions/031).

Classes become concept types, properties with things as values predicates, properties with literals
attributes in the ``instance_schema`` of their classes. Nothing is looked up anywhere: what
``owl:imports`` names is read only when its triples are among those given.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyoxigraph import NamedNode, Quad, Triple

from kiprdf.interchange.importing.known import Known
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.vocabularies.definitions import (
    AttributeDefinition,
    Definitions,
    PredicateDefinition,
    Skipped,
    TypeDefinition,
    preferred,
)
from kiprdf.interchange.vocabularies.ontology_axioms import skipped_axioms
from kiprdf.interchange.vocabularies.ontology_graph import (
    DESCRIPTIONS,
    DOMAINS,
    LABELS,
    PROPERTIES,
    RANGES,
    STANDARDS,
    Graph,
    Node,
    Values,
)
from kiprdf.interchange.vocabularies.ontology_names import Given, allocate
from kiprdf.interchange.vocabularies.ontology_uses import Use, read_uses, rule_of
from kiprdf.interchange.vocabularies.standards import owl, rdfs
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json

_ABOVE = 1_000
"""How many properties above one are asked for its domain and range."""


def definitions_of(
    triples: Iterable[Triple | Quad],
    mapping: Mapping | None = None,
    known: Known | None = None,
) -> Definitions:
    """The definitions an ontology amounts to.

    What the mapping or the nexus has a name for keeps it; ``known`` is what the nexus holds.
    """
    reading = _Reading(Graph(triples), mapping or Mapping.none(), known or Known())
    return reading.definitions()


@dataclass(slots=True)
class _Property:
    """What an ontology says about a property as a whole."""

    node: NamedNode
    domains: Values
    values: Values
    is_predicate: bool = False
    is_attribute: bool = False


class _Reading:
    """One ontology: its classes, its properties, and what classes say about properties."""

    def __init__(self, graph: Graph, mapping: Mapping, known: Known) -> None:
        self._graph = graph
        self._given = Given(mapping, known)
        self._skipped: list[Skipped] = []
        self._uses = read_uses(graph, self._skipped)
        self._properties = {iri: self._property(NamedNode(iri)) for iri in self._property_iris()}
        self._classes = self._class_iris()
        labels = {iri: graph.texts(NamedNode(iri), *LABELS) for iri in self._all_iris()}
        texts = {iri: preferred(found) for iri, found in labels.items()}
        kinds = self._properties.values()
        predicates = [one.node.value for one in kinds if one.is_predicate]
        attributes = [one.node.value for one in kinds if one.is_attribute]
        self._types = allocate(self._by_rank(self._classes), texts, self._given.type)
        self._predicates = allocate(self._by_rank(predicates), texts, self._given.predicate)
        self._keys = allocate(self._by_rank(attributes), texts, self._given.key)

    def _by_rank(self, iris: Iterable[str]) -> list[str]:
        """What is described comes first: a term that is only mentioned takes no name from it."""
        return sorted(iris, key=lambda iri: (self._is_foreign(iri), iri))

    def _all_iris(self) -> Iterator[str]:
        yield from self._classes
        yield from self._properties

    def definitions(self) -> Definitions:
        owners = self._owners()
        owned: dict[str, list[str]] = defaultdict(list)
        for attribute, classes in owners.items():
            for one in classes:
                owned[one].append(attribute)
        types = [self._type(iri, owned[iri]) for iri in self._types]
        attributes = []
        for iri, key in self._keys.items():
            names = sorted(self._types[one] for one in owners[iri])
            attributes.append(AttributeDefinition(key, iri, self._rule(None, iri), tuple(names)))
            if not names:
                reason = "an attribute that no class is said to have; any concept may have it"
                self._skipped.append(Skipped(iri, reason))
        predicates = [self._predicate(iri) for iri in self._predicates]
        self._skip_the_rest_of_terms()
        self._skipped += skipped_axioms(self._graph)
        return Definitions(
            tuple(sorted(types, key=lambda one: one.name)),
            tuple(sorted(predicates, key=lambda one: one.name)),
            tuple(sorted(attributes, key=lambda one: one.key)),
            tuple(sorted(set(self._skipped))),
        )

    # Classes and properties ------------------------------------------------------------------

    def _class_iris(self) -> list[str]:
        """Classes that are declared, and those that are only mentioned, so that nothing dangles."""
        graph = self._graph
        nodes = graph.subjects(vocab.TYPE, rdfs("Class"), owl("Class"))
        nodes |= set(graph.having(rdfs("subClassOf")))
        found = {owner for uses in self._uses.values() for owner in uses}
        for node in nodes:
            if isinstance(node, NamedNode) and not graph.is_expression(node):
                found.add(node.value)
            for parent in graph.objects(node, rdfs("subClassOf")):
                found |= graph.values(parent).classes
        for one in self._properties.values():
            found |= one.domains.classes | (one.values.classes if one.is_predicate else set())
        return sorted(iri for iri in found if self._is_definable(iri, nodes))

    def _is_definable(self, iri: str, declared: set[Node]) -> bool:
        node = NamedNode(iri)
        if self._graph.is_datatype(iri) or self._graph.is_a(node, owl("Restriction")):
            return False
        if iri.startswith(STANDARDS):
            if node in declared:
                self._skipped.append(Skipped(iri, "a term of RDF, RDFS, OWL or XSD itself"))
            return False
        return True

    def _property_iris(self) -> list[str]:
        graph = self._graph
        nodes = graph.subjects(vocab.TYPE, *PROPERTIES)
        for predicate in (rdfs("domain"), rdfs("range"), rdfs("subPropertyOf"), *DOMAINS, *RANGES):
            nodes |= set(graph.having(predicate))
        found = {node.value for node in nodes if isinstance(node, NamedNode)}
        found |= set(self._uses)
        return sorted(iri for iri in found if self._is_definable(iri, nodes))

    def _property(self, node: NamedNode) -> _Property:
        uses = self._uses.get(node.value, {})
        domains = self._said(node, rdfs("domain"), *DOMAINS)
        values = self._said(node, rdfs("range"), *RANGES)
        if not domains:
            domains.classes |= {owner for owner in uses if not owner.startswith(STANDARDS)}
        if not values:
            for use in uses.values():
                values.add(use.values)
        found = _Property(node, domains, values)
        found.is_predicate, found.is_attribute = self._kinds(found)
        return found

    def _said(self, node: NamedNode, *predicates: NamedNode) -> Values:
        """What a property says, or the nearest one above it that says something (RDFS 3)."""
        pending, seen = deque([node.value]), set[str]()
        while pending and len(seen) < _ABOVE:
            iri = pending.popleft()
            if iri in seen:
                continue
            found = Values()
            for value in self._graph.objects(NamedNode(iri), *predicates):
                found.add(self._graph.values(value))
            if iri == vocab.LABEL.value:
                found.datatypes.add(vocab.RDFS + "Literal")
            if found:
                return found
            seen.add(iri)
            pending += self._graph.named(NamedNode(iri), rdfs("subPropertyOf"))
        return Values()

    def _kinds(self, one: _Property) -> tuple[bool, bool]:
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
        is_note = graph.is_a(one.node, owl("AnnotationProperty"))
        return not is_note, is_note

    def _owners(self) -> dict[str, set[str]]:
        """The classes of which the members have an attribute."""
        owners: dict[str, set[str]] = {}
        for iri in self._keys:
            domains = self._properties[iri].domains
            found = domains.classes | set(self._uses.get(iri, ()))
            if domains.everything and not domains.classes:
                found |= {one for one in self._types if self._is_root(one)}
            owners[iri] = {one for one in found if one in self._types}
        return owners

    def _is_root(self, iri: str) -> bool:
        """Whether a class is described here and below no other class."""
        node = NamedNode(iri)
        above = self._graph.named(node, rdfs("subClassOf"))
        return not self._is_foreign(iri) and not any(one in self._types for one in above)

    def _is_foreign(self, iri: str) -> bool:
        """Whether a term is mentioned only: its own vocabulary is another one."""
        return not self._graph.texts(NamedNode(iri), *LABELS, *DESCRIPTIONS)

    # Definitions -----------------------------------------------------------------------------

    def _common(self, iri: str, equivalent: NamedNode) -> dict[str, Any]:
        node = NamedNode(iri)
        return {
            "iri": iri,
            "labels": self._graph.texts(node, *LABELS),
            "descriptions": self._graph.texts(node, *DESCRIPTIONS),
            "same_as": tuple(self._graph.named(node, equivalent)),
        }

    def _type(self, iri: str, owned: list[str]) -> TypeDefinition:
        graph, node = self._graph, NamedNode(iri)
        parents = Values()
        for parent in graph.objects(node, rdfs("subClassOf")):
            parents.add(graph.values(parent))
        rules = {self._keys[one]: self._rule(iri, one) for one in owned}
        return TypeDefinition(
            name=self._types[iri],
            **self._common(iri, owl("equivalentClass")),
            parents=self._names(parents.classes - {iri}),
            instance_schema=dict(sorted(rules.items())),
            key_instances=tuple(self._enumerated(node)),
        )

    def _names(self, iris: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(self._types[iri] for iri in iris if iri in self._types))

    def _enumerated(self, node: NamedNode) -> Iterator[str]:
        """The names of the members of a class that lists them."""
        for member in self._graph.members(node, owl("oneOf")):
            if isinstance(member, NamedNode):
                label = preferred(self._graph.texts(member, *LABELS))
                yield label or re.split(r"[/#:]", member.value)[-1]

    def _rule(self, owner: str | None, iri: str) -> dict[str, Json]:
        """What the ``instance_schema`` of a class says about an attribute."""
        use = self._uses.get(iri, {}).get(owner or "", Use())
        node = NamedNode(iri)
        own = self._graph.texts(node, *DESCRIPTIONS), self._graph.texts(node, *LABELS)
        text = preferred(use.descriptions or own[0] or use.labels or own[1])
        rule = rule_of(use, use.values or self._properties[iri].values)
        return rule | ({"description": text} if text else {})

    def _predicate(self, iri: str) -> PredicateDefinition:
        graph, one = self._graph, self._properties[iri]
        above = graph.named(one.node, rdfs("subPropertyOf"))
        inverses = self._inverses(one.node)
        inverse = [self._predicates[i] for i in inverses if i in self._predicates and i != iri]
        for owner, use in sorted(self._uses.get(iri, {}).items()):
            if use.least > 0:
                reason = f"<{owner}> requires it; an instance_schema speaks of attributes only"
                self._skipped.append(Skipped(iri, reason))
        return PredicateDefinition(
            name=self._predicates[iri],
            **self._described_by_shapes(iri, self._common(iri, owl("equivalentProperty"))),
            parents=tuple(sorted(self._predicates[i] for i in above if i in self._predicates)),
            subject_types=self._ends(one.domains),
            object_types=self._ends(one.values),
            is_symmetric=graph.is_a(one.node, owl("SymmetricProperty")) or iri in inverses,
            is_transitive=graph.is_a(one.node, owl("TransitiveProperty")),
            inverse_of=inverse[0] if inverse else None,
        )

    def _described_by_shapes(self, iri: str, common: dict[str, Any]) -> dict[str, Any]:
        """Texts of the first class that says something, where the property itself has none."""
        for _, use in sorted(self._uses.get(iri, {}).items()):
            common["descriptions"] = common["descriptions"] or use.descriptions
            common["labels"] = common["labels"] or use.labels
        return common

    def _inverses(self, node: NamedNode) -> list[str]:
        found = set(self._graph.named(node, owl("inverseOf")))
        found |= {
            n.value
            for n in self._graph.subjects(owl("inverseOf"), node)
            if isinstance(n, NamedNode)
        }
        return sorted(found)

    def _ends(self, values: Values) -> tuple[str, ...]:
        names = self._names(values.classes)
        return names if names and not values.everything else ("*",)

    # What was skipped ------------------------------------------------------------------------

    def _skip_the_rest_of_terms(self) -> None:
        for iri in (*self._types, *self._predicates):
            if self._is_foreign(iri):
                self._skipped.append(
                    Skipped(iri, "mentioned, not described: give its ontology too")
                )
        for iri, name in self._types.items():
            count = len(self._graph.subjects(vocab.TYPE, NamedNode(iri)))
            if count:
                reason = f"the members of '{name}' ({count}) are data, not definitions"
                self._skipped.append(Skipped(iri, reason))
