"""Reads elements and their values from a store, each node once per command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf import budget
from kiprdf.kql.scopes import PREDICATE_NAME
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, read_element, read_object
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, to_json
from kiprdf.semantics import Catalog
from kiprdf.store import Store
from kiprdf.store.base import Statement

Term: TypeAlias = NamedNode | Literal


class Reader:
    """The values of nodes for one command; reads each element at most once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._elements: dict[NamedNode, Element | None] = {}
        self._statements: dict[NamedNode, Sequence[Statement]] = {}
        self._facts: dict[NamedNode, Triple | None] = {}
        self.iris = store.iris
        self.reads_ahead = not store.abilities.lookups
        """Whether reading elements one by one takes long."""

    def prefetch(self, nodes: Iterable[object]) -> None:
        """Read the elements among some cells ahead, where that is worth it."""
        if self.reads_ahead:
            self._store.prefetch(node for node in nodes if isinstance(node, NamedNode))

    def element(self, node: NamedNode) -> Element | None:
        """The element a node is, with its values as they are spelled."""
        if node not in self._elements:
            budget.check()
            triples = self._store.statements(node)
            self._elements[node] = read_element(self.iris, node, triples, convert=None)
        return self._elements[node]

    def object(self, node: NamedNode) -> dict[str, Json]:
        """The KIP JSON of the element a node is."""
        shown = read_object(self.iris, node, self._triples(node))
        assert shown is not None, node
        return shown

    def _triples(self, node: NamedNode) -> Sequence[Statement]:
        triples = self._statements.get(node)
        if triples is None:
            budget.check()
            triples = self._statements[node] = self._store.statements(node)
        return triples

    def value(self, node: NamedNode, field: str, key: str | None) -> Json:
        """What ``?v.field.key`` is for one node; null where the node does not have it."""
        if field in ("attributes", "metadata"):
            return self._values(node, field, key)
        if field == "id":
            return self.iris.id(node)
        if field == "name":
            return self.iris.concept_name(node.value)
        if field == PREDICATE_NAME:
            return self.predicate_name(node)
        name = self.iris.name(node.value)
        if isinstance(name, ConceptName):
            return name.type if field == "type" else None
        if field == "type":
            return None
        fact = self.fact(node)
        if fact is None:
            return None
        if field == "predicate":
            return self.predicate_name(fact.predicate)
        return self.iris.id(cast(NamedNode, fact.subject if field == "subject" else fact.object))

    def predicate_name(self, node: NamedNode) -> str:
        return node.value[len(self.iris.predicates) :]

    def fact(self, node: NamedNode) -> Triple | None:
        """What a proposition states; None for another node."""
        if node not in self._facts:
            triple = next(self._store.match(node, vocab.REIFIES, None), None)
            self._facts[node] = None if triple is None else cast(Triple, triple.object)
        return self._facts[node]

    def _values(self, node: NamedNode, field: str, key: str | None) -> Json:
        if key is None:
            return self.object(node).get(field, {})
        namespace = vocab.ATTRIBUTE if field == "attributes" else vocab.METADATA
        triple = next(self._store.match(node, NamedNode(namespace + key), None), None)
        return None if triple is None else to_json(cast(Term, triple.object))


def read_catalog(store: Store) -> Catalog:
    """The registered types and predicates."""
    return Catalog(_names(store, "$ConceptType"), _names(store, "$PropositionType"))


def _names(store: Store, meta_type: str) -> frozenset[str]:
    names = (
        store.iris.name(cast(NamedNode, triple.subject).value)
        for triple in store.match(None, vocab.TYPE, store.iris.type(meta_type))
    )
    return frozenset(name.name for name in names if isinstance(name, ConceptName))


def link_of(store: Store, fact: Triple) -> NamedNode | None:
    """The reifier of an asserted triple."""
    triple = next(store.match(None, vocab.REIFIES, fact), None)
    return None if triple is None else cast(NamedNode, triple.subject)


def links_at(store: Store, node: NamedNode) -> list[tuple[NamedNode, Proposition]]:
    """The propositions that have a node as subject or object."""
    links: dict[NamedNode, Proposition] = {}
    facts = store.facts(node)
    store.prefetch((), facts)
    for fact in facts:
        link = link_of(store, fact)
        assert link is not None, fact
        predicate = fact.predicate.value[len(store.iris.predicates) :]
        subject, object_ = cast(NamedNode, fact.subject), cast(NamedNode, fact.object)
        links[link] = Proposition(link, subject, predicate, object_)
    return list(links.items())
