"""The pages of elements, and what of the store they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from heapq import nsmallest
from types import MappingProxyType
from typing import NamedTuple, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.kql.reader import link_of
from kiprdf.nexus import Nexus
from kiprdf.pages.elements import element_page
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Proposition, read_element
from kiprdf.serve.explorer import acts
from kiprdf.serve.explorer.absence import suggestions
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.graph import Selected, around
from kiprdf.serve.explorer.page import LISTED, Numbers, element_path
from kiprdf.serve.explorer.time_pages import label
from kiprdf.serve.routes.linked import no_element
from kiprdf.serve.state import number_of
from kiprdf.store import Store

LEAST, ROWS = 10, 120
"""Rows of a list on a page: at least, and those of its lists together unless there are more."""
MOST_ABOUT = 14
"""Facts about a fact in a list."""
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
    part = Part.of_query(query)
    triples, listed, numbers = store.read(lambda: surroundings(store, node, part))
    if part is not None and not listed:
        # There is no such list, or it ends before.
        part = None
        triples, listed, numbers = store.read(lambda: surroundings(store, node))
    knowledge = Knowledge.of(triples, store.iris)
    if part is not None:
        page = explorer.page(path, knowledge, list=query["list"])
        page = replace(page, listed=listed, numbers=numbers, first=part.first)
        return element_page(page, knowledge.elements[node])
    selected = Selected.of(query)
    page = explorer.page(path, knowledge, **selected.query)
    page = replace(page, listed=listed, numbers=numbers)
    page = replace(page, acts=acts.of_page(explorer, page, knowledge.elements[node], query))
    page = replace(page, graph=around(explorer, page, node, selected))
    return element_page(page, knowledge.elements[node])


def _was_there(id: str, now: Nexus) -> bool:
    try:
        return bool(now.history(id, limit=1)["entries"])
    except KipError:
        return False


class Part(NamedTuple):
    """The list that a page shows alone, and where it begins: facts, or members of a definition."""

    of: str
    """``from`` and ``to`` for facts of the element, ``Members`` and ``Facts`` of a definition."""
    key: str | None
    """The predicate of facts of the element."""
    first: int

    @classmethod
    def of_query(cls, query: Mapping[str, str]) -> Part | None:
        """What the fields ``list`` and ``first`` of an address say; None without them.

        >>> Part.of_query({"list": "to:works_for", "first": "50"})
        Part(of='to', key='works_for', first=50)
        """
        of, _, key = query.get("list", "").partition(":")
        return cls(of, key or None, number_of(query.get("first", "")) or 0) if of else None


class Surroundings(NamedTuple):
    """What the page of an element shows."""

    triples: list[Triple]
    listed: frozenset[NamedNode]
    """The facts and members in its lists, which may be a part of them."""
    numbers: Numbers
    """How long the whole lists are."""


def surroundings(store: Store, node: NamedNode, part: Part | None = None) -> Surroundings:
    """What the page of an element shows; with a part, only that list."""
    reading = _Surroundings(store)
    reading.add(node, _DEEPEST)
    lists = dict(reading.lists(node))
    if part is not None:
        lists = {name: some for name, some in lists.items() if name == part[:2]}
    numbers: Numbers = {name: len(some) for name, some in lists.items()}
    size = min(LISTED, max(LEAST, ROWS // (len(lists) or 1)))
    first = 0 if part is None else part.first
    listed: set[NamedNode] = set()
    for (of, _), some in lists.items():
        for shown in nsmallest(first + size, some, reading.order)[first:]:
            one = shown.subject if of == "Members" else link_of(store, shown)
            if isinstance(one, NamedNode):
                listed.add(one)
                reading.add(one, 2 if of in ("Members", "Facts") else _DEEPEST)
                if of in ("from", "to"):
                    numbers |= reading.add_facts_about(one)
    return Surroundings(reading.triples, frozenset(listed), numbers)


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

    def add_facts_about(self, link: NamedNode) -> Numbers:
        """Add the first facts about a fact, and return how many there are if that is more."""
        about = [one for of, some in self.lists(link) for one in some]
        for other in about[:MOST_ABOUT]:
            node = link_of(self._store, other)
            if node is not None:
                self.add(node, 1)
        return {("about", link.value): len(about)} if len(about) > MOST_ABOUT else {}

    def lists(self, node: NamedNode) -> Iterator[tuple[tuple[str, str | None], list[Triple]]]:
        """The facts of an element by direction and predicate, and what a definition has."""
        predicates, name = self._store.iris.predicates, self._store.iris.concept_name
        for of, pattern in (("from", (node, None, None)), ("to", (None, None, node))):
            groups: dict[str, list[Triple]] = {}
            for triple in self._store.match(*pattern):
                if triple.predicate.value.startswith(predicates):
                    groups.setdefault(triple.predicate.value, []).append(triple)
            for predicate in sorted(groups):
                yield (of, name(predicate)), groups[predicate]
        if members := list(self._store.match(None, vocab.TYPE, node)):
            yield ("Members", None), members
        if node.value.startswith(predicates) and (
            facts := list(self._store.match(None, node, None))
        ):
            yield ("Facts", None), facts

    def order(self, triple: Triple) -> tuple[str, str]:
        """The names of the ends of a triple, by which pages sort; facts come before concepts."""
        name = self._store.iris.concept_name
        subject, object = cast("tuple[NamedNode, NamedNode]", (triple.subject, triple.object))
        return (name(subject.value) or "").casefold(), (name(object.value) or "").casefold()
