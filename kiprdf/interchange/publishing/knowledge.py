"""A dataset as people read it: elements by IRI, with the facts that begin and end at each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.rdf.elements import Concept, Element, Proposition, read_element
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import Json, to_json

DOMAIN = "Domain"
MEMBERSHIP = "belongs_to_domain"
PERSON = "Person"


@dataclass
class Knowledge:
    """All elements of a dataset, in the order of their IRIs.

    ``own`` are the triples an element is the subject of, its facts among them; ``facts_from`` and
    ``facts_to`` the propositions of which it is the subject or the object, ``facts_by`` those of a
    predicate.
    """

    iris: Iris
    elements: dict[NamedNode, Element] = field(default_factory=dict)
    own: dict[NamedNode, list[Triple]] = field(default_factory=lambda: defaultdict(list))
    by_type: dict[str, list[Concept]] = field(default_factory=lambda: defaultdict(list))
    facts_from: dict[NamedNode, list[Proposition]] = field(
        default_factory=lambda: defaultdict(list)
    )
    facts_to: dict[NamedNode, list[Proposition]] = field(default_factory=lambda: defaultdict(list))
    facts_by: dict[str, list[Proposition]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, triples: Iterable[Triple], iris: Iris) -> Knowledge:
        """Read a dataset once; what is about no element of this nexus is left out."""
        found = cls(iris)
        for triple in paced(triples):
            found.own[cast(NamedNode, triple.subject)].append(triple)
        for node in paced(sorted(found.own, key=lambda node: node.value)):
            element = read_element(iris, node, found._described(node))
            if element is not None:
                found._sort_in(element)
        return found

    def _described(self, node: NamedNode) -> Iterator[Triple]:
        predicates = self.iris.predicates
        return (t for t in self.own[node] if not t.predicate.value.startswith(predicates))

    def _sort_in(self, element: Element) -> None:
        self.elements[element.node] = element
        if isinstance(element, Concept):
            self.by_type[element.type].append(element)
        else:
            self.facts_from[element.subject].append(element)
            self.facts_to[element.object].append(element)
            self.facts_by[element.predicate].append(element)

    @property
    def concepts(self) -> Iterator[Concept]:
        return (one for one in self.elements.values() if isinstance(one, Concept))

    @property
    def propositions(self) -> Iterator[Proposition]:
        return (one for one in self.elements.values() if isinstance(one, Proposition))

    def concept(self, type: str, name: str) -> Concept | None:
        found = self.elements.get(self.iris.concept(type, name))
        return found if isinstance(found, Concept) else None

    def members(self, domain: NamedNode) -> list[NamedNode]:
        """What was filed under a domain, in the order of the IRIs."""
        facts = (fact for fact in self.facts_to.get(domain, ()) if fact.predicate == MEMBERSHIP)
        return sorted((fact.subject for fact in facts), key=lambda node: node.value)

    def named(self, text: str) -> NamedNode | None:
        """The element that a text names by its id, or by its IRI below the base."""
        if not text.startswith(("C:", "P:", self.iris.base)):
            return None
        node = self.iris.from_id(text)
        return node if node in self.elements else None

    def person(self, text: str) -> NamedNode | None:
        """The element that is meant by an author: one named by its id, or a Person by name."""
        named = self.named(text)
        if named is not None:
            return named
        found = self.concept(PERSON, text)
        return None if found is None else found.node


def attribute(element: Element, key: str) -> Json:
    """The value of an attribute; None where it is absent or null."""
    term = element.attributes.get(key)
    return None if term is None else to_json(term)


def metadata(element: Element, key: str) -> Json:
    """The value of a metadata key; None where it is absent or null."""
    term = element.metadata.get(key)
    return None if term is None else to_json(term)


def text_of(element: Element, key: str) -> str | None:
    """An attribute that is a text which says something."""
    value = attribute(element, key)
    return value if isinstance(value, str) and value.strip() else None


def is_definition(concept: Concept) -> bool:
    """Whether a concept belongs to the schema."""
    return concept.type.startswith("$")
