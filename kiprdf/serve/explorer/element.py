"""The pages of elements, and what of the store they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from heapq import nsmallest
from itertools import islice
from types import MappingProxyType
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.kql.reader import link_of
from kiprdf.meta.counts import KEY, VALUE, X, grouped
from kiprdf.nexus import Nexus
from kiprdf.pages.elements import element_page
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Proposition, read_element
from kiprdf.serve.explorer import acts
from kiprdf.serve.explorer.absence import suggestions
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.graph import Selected, around
from kiprdf.serve.explorer.page import Numbers, element_path
from kiprdf.serve.explorer.time_pages import label
from kiprdf.serve.routes.linked import no_element
from kiprdf.store import Store

MOST_FACTS = 1000
"""Facts of an element that its page reads."""
MOST_ABOUT = 14
"""Facts about a fact in a list."""
MOST_MEMBERS = 500
_DEEPEST = 3


class Absent(Exception):
    """The page of an element that does not exist."""


def element(
    explorer: Explorer, node: NamedNode, now: Nexus, query: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The page of an element; ``Absent`` where it does not exist.

    ``now`` is the nexus with its whole history; a ``query`` names what the last act wrote, and
    selects the graph.
    """
    store, moment = explorer.store, explorer.moment
    path = f"page/{element_path(store.iris.base, node.value)}"
    if not store.describe(node):
        page = replace(explorer.page(path), has_history=_was_there(store.iris.id(node), now))
        when = "now" if moment is None or moment.seq is None else "as of this commit"
        view = {"of": label(store.iris, node), "when": when, "refusal": no_element()}
        view["suggestions"] = suggestions(explorer, page, path)
        raise Absent(page.html("explorer/absent.html", "Not there", **view))
    triples, numbers = store.read(lambda: surroundings(store, node))
    knowledge = Knowledge.of(triples, store.iris)
    selected = Selected.of(query)
    page = replace(explorer.page(path, knowledge, **selected.query), numbers=numbers)
    page = replace(page, acts=acts.of_page(explorer, page, knowledge.elements[node], query))
    page = replace(page, graph=around(explorer, page, node, selected))
    return element_page(page, knowledge.elements[node])


def _was_there(id: str, now: Nexus) -> bool:
    try:
        return bool(now.history(id, limit=1)["entries"])
    except KipError:
        return False


def surroundings(store: Store, node: NamedNode) -> tuple[list[Triple], Numbers]:
    """The triples of an element and of all that its page shows, and the numbers of what is more."""
    reading = _Surroundings(store)
    numbers: Numbers = {}
    reading.add(node, _DEEPEST)
    links = reading.facts_of(node, MOST_FACTS)
    if len(links) >= MOST_FACTS:
        for of, pattern in (("from", (node, KEY, VALUE)), ("to", (X, KEY, node))):
            facts = dict(_facts_by_predicate(store, pattern))
            numbers |= {(of, predicate): number for predicate, number in facts.items()}
            numbers[of, None] = sum(facts.values())
    for link in links:
        reading.add(link, _DEEPEST)
        facts_about = reading.facts_of(link, MOST_ABOUT)
        if len(facts_about) >= MOST_ABOUT:
            ends = ((link, KEY, VALUE), (X, KEY, link))
            rows = (row for pattern in ends for row in _facts_by_predicate(store, pattern))
            numbers["about", link.value] = sum(number for _, number in rows)
        for about in facts_about:
            reading.add(about, 1)
    members = list(reading.members(node))
    if len(members) > MOST_MEMBERS:
        is_predicate = node.value.startswith(store.iris.predicates)
        counted = (X, node, VALUE) if is_predicate else (X, vocab.TYPE, node)
        ((number,),) = grouped(store, (), counted)
        numbers["Facts" if is_predicate else "Members", None] = number
    for member in members:
        reading.add(member, 2)
    return reading.triples, numbers


def _facts_by_predicate(store: Store, pattern: Any) -> Iterator[tuple[str, int]]:
    """The predicates of the facts at an element, with their numbers."""
    for predicate, number in grouped(store, (KEY,), pattern):
        if predicate.value.startswith(store.iris.predicates):
            name = store.iris.concept_name(predicate.value)
            assert name is not None, predicate
            yield name, number


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

    def _order(self, triple: Triple) -> tuple[str, str]:
        """The names of the ends of a triple, by which pages sort; facts come before concepts."""
        name = self._store.iris.concept_name
        subject, object = cast("tuple[NamedNode, NamedNode]", (triple.subject, triple.object))
        return (name(subject.value) or "").casefold(), (name(object.value) or "").casefold()

    def members(self, node: NamedNode) -> Iterator[NamedNode]:
        """The first concepts of a type, or propositions with a predicate, in the page's order."""
        members = self._store.match(None, vocab.TYPE, node)
        for triple in nsmallest(MOST_MEMBERS + 1, members, self._order):
            yield cast(NamedNode, triple.subject)
        if node.value.startswith(self._store.iris.predicates):
            facts = self._store.match(None, node, None)
            for fact in nsmallest(MOST_MEMBERS + 1, facts, self._order):
                link = link_of(self._store, fact)
                if link is not None:
                    yield link
