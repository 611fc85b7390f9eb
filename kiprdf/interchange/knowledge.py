"""A dataset by element: all concepts and propositions, and the facts of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import cast

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.rdf.elements import Concept, Element, Proposition, attribute, read_element
from kiprdf.rdf.iris import Iris

DOMAIN = "Domain"
MEMBERSHIP = "belongs_to_domain"
PERSON = "Person"


@dataclass
class Knowledge:
    """All elements of a dataset, in the order of their IRIs.

    ``facts_from`` and ``facts_to`` are the propositions with an element as subject or object,
    ``facts_by`` those with a predicate.
    """

    iris: Iris
    elements: dict[NamedNode, Element] = field(default_factory=dict)
    by_type: dict[str, list[Concept]] = field(default_factory=lambda: defaultdict(list))
    facts_from: dict[NamedNode, list[Proposition]] = field(
        default_factory=lambda: defaultdict(list)
    )
    facts_to: dict[NamedNode, list[Proposition]] = field(default_factory=lambda: defaultdict(list))
    facts_by: dict[str, list[Proposition]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, triples: Iterable[Triple], iris: Iris) -> Knowledge:
        """Read the elements of this nexus from a dataset; other subjects are ignored."""
        by_subject: dict[NamedNode, list[Triple]] = defaultdict(list)
        for triple in paced(triples):
            if not triple.predicate.value.startswith(iris.predicates):
                by_subject[cast(NamedNode, triple.subject)].append(triple)
        knowledge = cls(iris)
        for node in paced(sorted(by_subject, key=lambda node: node.value)):
            element = read_element(iris, node, by_subject[node])
            if element is not None:
                knowledge._add(element)
        return knowledge

    def _add(self, element: Element) -> None:
        self.elements[element.node] = element
        if isinstance(element, Concept):
            self.by_type[element.type].append(element)
        else:
            self.facts_from[element.subject].append(element)
            self.facts_to[element.object].append(element)
            self.facts_by[element.predicate].append(element)

    def beginning(self, node: NamedNode) -> NamedNode:
        """The concept where a fact begins: its subject, or where that begins; else the element."""
        while isinstance(element := self.elements[node], Proposition):
            node = element.subject
        return node

    def facts_about_facts(self, concept: NamedNode) -> Iterator[Proposition]:
        """The facts that begin at a concept and have a fact as subject."""
        pending = [fact.node for fact in self.facts_from.get(concept, ())]
        while pending:
            facts = self.facts_from.get(pending.pop(), ())
            yield from facts
            pending.extend(fact.node for fact in facts)

    @property
    def concepts(self) -> Iterator[Concept]:
        return (one for one in self.elements.values() if isinstance(one, Concept))

    @property
    def propositions(self) -> Iterator[Proposition]:
        return (one for one in self.elements.values() if isinstance(one, Proposition))

    def concept(self, type: str, name: str) -> Concept | None:
        element = self.elements.get(self.iris.concept(type, name))
        return element if isinstance(element, Concept) else None

    def members(self, domain: NamedNode) -> list[NamedNode]:
        """The members of a domain, in the order of their IRIs."""
        facts = (fact for fact in self.facts_to.get(domain, ()) if fact.predicate == MEMBERSHIP)
        return sorted((fact.subject for fact in facts), key=lambda node: node.value)

    def element_named(self, text: str) -> NamedNode | None:
        """The element with this id, or with this IRI below the base."""
        if not text.startswith(("C:", "P:", self.iris.base)):
            return None
        node = self.iris.from_id(text)
        return node if node in self.elements else None

    def person(self, author: str) -> NamedNode | None:
        """The element that an author refers to: one with this id, or a Person of this name."""
        node = self.element_named(author)
        if node is not None:
            return node
        person = self.concept(PERSON, author)
        return None if person is None else person.node


def text_of(element: Element, key: str) -> str | None:
    """The value of an attribute if it is a string that is not blank."""
    value = attribute(element, key)
    return value if isinstance(value, str) and value.strip() else None


def is_definition(concept: Concept) -> bool:
    """Whether a concept belongs to the schema."""
    return concept.type.startswith("$")
