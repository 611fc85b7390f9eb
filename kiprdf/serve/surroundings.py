"""Reads the data for the page of an element: its facts, their other ends, their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.kql.reader import link_of
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Proposition, read_element
from kiprdf.serve.drawing import DRAWN
from kiprdf.store import Store

MOST_FACTS = 1000
"""Facts of an element that its page reads."""
MOST_MEMBERS = 500
_DEEPEST = 3


def surroundings(store: Store, node: NamedNode) -> list[Triple]:
    """The triples of an element and of all that its page shows."""
    reading = _Surroundings(store)
    reading.add(node, _DEEPEST)
    for link in reading.facts_of(node, MOST_FACTS):
        reading.add(link, _DEEPEST)
        for about in reading.facts_of(link, DRAWN):
            reading.add(about, 1)
    for member in reading.members(node):
        reading.add(member, 2)
    return reading.triples


class _Surroundings:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._added: set[NamedNode] = set()
        self.triples: list[Triple] = []

    def add(self, node: NamedNode, depth: int) -> None:
        """Add an element, its definition, and its ends down to a depth."""
        if node in self._added:
            return
        self._added.add(node)
        own = self._store.describe(node)
        self.triples += own
        element_ = read_element(self._store.iris, node, own)
        iris = self._store.iris
        if isinstance(element_, Concept):
            self._add_definition(iris.type(element_.type))
            author = element_.metadata.get("author")
            if isinstance(author, Literal) and depth == _DEEPEST:
                self.add(iris.concept("Person", author.value), 1)
        elif isinstance(element_, Proposition):
            self._add_definition(iris.predicate(element_.predicate))
            for end in (element_.subject, element_.object):
                if depth > 0:
                    self.add(end, depth - 1)

    def _add_definition(self, node: NamedNode) -> None:
        if node not in self._added:
            self._added.add(node)
            self.triples += self._store.describe(node)

    def facts_of(self, node: NamedNode, most: int) -> list[NamedNode]:
        """The propositions with an element as subject or object, at most some of each."""
        predicates = self._store.iris.predicates
        facts = [
            fact
            for pattern in ((node, None, None), (None, None, node))
            for fact in islice(
                (
                    triple
                    for triple in self._store.match(*pattern)
                    if triple.predicate.value.startswith(predicates)
                ),
                most,
            )
        ]
        links = (link_of(self._store, fact) for fact in dict.fromkeys(facts))
        return [link for link in links if link is not None]

    def members(self, node: NamedNode) -> Iterator[NamedNode]:
        """The concepts of a type, or the propositions with a predicate, at most some."""
        for triple in islice(self._store.match(None, vocab.TYPE, node), MOST_MEMBERS + 1):
            yield cast(NamedNode, triple.subject)
        if node.value.startswith(self._store.iris.predicates):
            for fact in list(islice(self._store.match(None, node, None), MOST_MEMBERS + 1)):
                link = link_of(self._store, fact)
                if link is not None:
                    yield link
