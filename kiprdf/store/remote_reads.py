"""Reads a dataset behind a SPARQL endpoint: patterns, elements, pages of all triples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from pyoxigraph import Literal, NamedNode, Quad, Triple, Variable

from kiprdf import budget, progress
from kiprdf.errors import KipError
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import decode
from kiprdf.sparql import requests
from kiprdf.sparql.algebra import BGP, Select, TriplePattern, TripleTerm
from kiprdf.sparql.text import render
from kiprdf.store.base import (
    SIMPLE,
    Cell,
    Iri,
    Nodes,
    Request,
    Row,
    Solutions,
    Statement,
)
from kiprdf.store.bookkeeping import RECORD, texts_of
from kiprdf.store.endpoint import Dataset
from kiprdf.store.guard import refuse_extensions, returns_triples
from kiprdf.store.http import EndpointFault
from kiprdf.store.remote_session import RemoteSession
from kiprdf.store.sorted_values import Scope
from kiprdf.store.sparql_worker import SparqlAnswer
from kiprdf.store.update_times import UPDATED_AT, Range

K = TypeVar("K")

DESCRIBED_AT_ONCE = 500
"""The elements that one request describes."""
NEWEST_AT_ONCE = 2_000
READ_AT_ONCE = 50_000
"""The triples that one answer has where all are read."""
_VARIABLES = (Variable("s"), Variable("p"), Variable("o"))


class RemoteReads(RemoteSession):
    """What was read of a commit is kept, and asked once."""

    def select(self, query: str, request: Request = SIMPLE) -> list[Row]:
        return self._counted(query, request).rows

    def query(self, text: str) -> SparqlAnswer:
        """Answer SPARQL that a caller wrote and the guard let through.

        Raises ``SyntaxError`` for a text that the engine refuses, and KIP_4002 where it sends a
        part of the answer only.
        """
        self._require_open()
        graph = self.place.graph
        if graph is None and self.abilities.default_graph is not None:
            # Otherwise DESCRIBE has the triples of other graphs, too.
            graph = NamedNode(self.abilities.default_graph)
        dataset = Dataset() if graph is None else Dataset(graph)
        refuse_extensions(text)
        answer: SparqlAnswer
        try:
            if returns_triples(text):
                triples: Any = self.endpoint.construct(text, dataset)
                answer = [Triple(*terms) for terms in self.layout.rows(triples)]
            else:
                answer = self.endpoint.query(text, dataset, read=self.layout.rows)
        except EndpointFault as fault:
            if fault.status == 400:
                raise SyntaxError(str(fault).rstrip(".")) from None
            raise
        most = self.abilities.max_rows
        parts = answer.rows if isinstance(answer, Solutions) else answer
        if most is not None and isinstance(parts, list) and len(parts) >= most:
            message = f"The store returns at most {most} rows, and this query may have more."
            raise KipError("KIP_4002", message, "Page with ORDER BY, LIMIT and OFFSET.")
        return answer

    def match(self, subject: Iri, predicate: Iri, object: Cell) -> Iterator[Triple]:
        budget.check()
        return iter(self._matching(subject, predicate, object))

    def lookup(
        self, subject: Cell, predicate: Cell, object: Cell, most: int, graph: Iri = None
    ) -> list[Statement]:
        if graph is not None:
            texts = self._texts(cast(Any, subject), cast(Any, predicate))
            matching: list[Statement] = [q for q in texts if object in (None, q.object)]
            return matching[:most]
        return list(self._matching(cast(Any, subject), cast(Any, predicate), object, most)[:most])

    def _texts(self, subject: NamedNode | None, predicate: NamedNode) -> list[Quad]:
        """The texts in the values of a predicate, which other stores have in a graph."""
        cached, pattern = self._cached.texts, (subject, predicate)
        if pattern not in cached:
            texts = texts_of(self._matching(subject, predicate, None))
            cached[pattern] = [Quad(*text) for text in texts]
        return cached[pattern]

    def _matching(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object_: Cell,
        most: int | None = None,
    ) -> list[Triple]:
        """The triples of a pattern, from what is cached or by a request."""
        if subject is not None:
            if predicate is not None and not predicate.value.startswith(self.iris.predicates):
                of_subject = self.describe(subject)
                return [
                    triple
                    for triple in of_subject
                    if triple.predicate == predicate and object_ in (None, triple.object)
                ]
        elif predicate == vocab.REIFIES:
            return self._reifying(object_)
        elif predicate == vocab.TYPE and object_ in self._meta_types:
            defined = self._defined()[cast(NamedNode, object_)]
            return [Triple(node, vocab.TYPE, object_) for node in defined]
        if subject is None and predicate is None and object_ is None and most is None:
            return list(self.layout.folded(self._all()))
        if self.layout.links == "rdf11" and predicate in (None, vocab.TYPE):
            most = None  # rows of statements are dropped from the answer
        rows = self._pattern(subject, predicate, object_, most)
        return list(self.layout.folded(rows))

    def _pattern(self, *pattern: Any) -> list[tuple[Any, Any, Any]]:
        """The triples of a pattern as the store keeps them."""
        *terms, most = pattern
        given = [self.layout.term(term) for term in terms]
        if None not in given:
            # A query without variables is not a query to some engines; then other predicates count.
            given[1] = most = None
        cells = [
            variable if term is None else _in_pattern(term)
            for term, variable in zip(given, _VARIABLES, strict=True)
        ]
        free = [number for number, term in enumerate(given) if term is None]
        columns = tuple(_VARIABLES[number] for number in free)
        limit = most if most is not None and most < 10**9 else None
        query = Select(columns, BGP((TriplePattern(*cells),)), limit=limit, distinct=False)
        triples = []
        for row in self._select(render(query)).rows:
            triple = list(terms)
            for number, cell in zip(free, row, strict=True):
                triple[number] = cell
            if terms[1] in (None, triple[1]):
                triples.append(tuple(triple))
        return triples

    def _all(self) -> Iterator[tuple[Any, Any, Any]]:
        """All triples as the store keeps them, in answers of bounded size.

        Unless a function reads, those of each predicate are of one commit, but all may not be.
        """
        most = self.abilities.max_rows
        # One row of an answer is the commit number; a full answer may be a part.
        size = READ_AT_ONCE if most is None else min(READ_AT_ONCE, most - 2)
        counted: Any = self._select(requests.predicates()).rows
        for predicate, count in counted:
            number, rows = int(count.value), set[Row]()
            if number < size:
                rows = self._pages(predicate, size, requests.page)
            if len(rows) != number and (not rows or self._continues(predicate, len(rows))):
                rows = self.read(partial(self._of_predicate, predicate, size, number))
            yield from ((subject, predicate, object_) for subject, object_ in rows)

    def _continues(self, predicate: NamedNode, number: int) -> bool:
        """Whether there are more triples with a predicate than some that were received."""
        next_one = requests.page(requests.of_predicate(predicate), most=1, offset=number)
        return bool(self._select(next_one).rows)

    def _of_predicate(self, predicate: NamedNode, size: int, counted: int) -> set[Row]:
        """The subjects and objects of the triples with a predicate, of one commit.

        Raises ``EndpointFault`` where they are not as many as the store counts.
        """
        received = self._pages(predicate, size, requests.page)
        if len(received) != counted:
            # Another commit may have come since they were counted.
            counts: Any = dict(cast(Any, self._select(requests.predicates()).rows))
            counted = int(counts[predicate].value) if predicate in counts else 0
        if len(received) != counted:
            # Each page may have had another order, which sorting would take longer to prevent.
            ordered = partial(requests.ordered_page, names=("s", "o"))
            received = self._pages(predicate, size, ordered)
        if len(received) != counted:
            raise EndpointFault(
                f"{self.endpoint.url} returned {len(received)} of {counted} triples with the "
                f"predicate {predicate.value}."
            )
        return received

    def _pages(self, predicate: NamedNode, size: int, page: Callable[..., str]) -> set[Row]:
        """The subjects and objects of the triples with a predicate, by some answers."""
        query, received = requests.of_predicate(predicate), set[Row]()
        session = self._session
        for offset in itertools.count(0, size):
            text = page(query, most=size, offset=offset)
            rows, number = self._answers.triples(text, predicate)
            if session is not None:
                self._compare(session, number)
            progress.report("reading", len(rows))
            received.update(rows)
            if len(rows) < size:
                return received
        raise AssertionError("a page is the last one")

    def _defined(self) -> dict[NamedNode, list[NamedNode]]:
        """The definitions of types and of predicates, by their meta-type."""
        cached = self._cached
        if cached.definitions is None:
            defined: dict[NamedNode, list[NamedNode]] = {type: [] for type in self._meta_types}
            for node, type in cast(Any, self._select(requests.typed(self._meta_types)).rows):
                defined[type].append(node)
            cached.definitions = defined
        return cached.definitions

    def _reifying(self, fact: Any) -> list[Triple]:
        """The reifying triples of a fact, or of all."""
        if fact is None:
            rows: Any = self._select(requests.reifiers(None, self.abilities.links)).rows
            return [Triple(link, vocab.REIFIES, Triple(*ends)) for link, *ends in rows]
        links = self._cached.links
        if fact not in links:
            links[fact] = self._links_of([fact])[fact]
        return [Triple(link, vocab.REIFIES, fact) for link in links[fact]]

    def _links_of(self, facts: Sequence[Triple]) -> dict[Triple, list[NamedNode]]:
        """The links that state each of some facts."""
        rows: Any = self._select(requests.reifiers(facts, self.abilities.links)).rows
        links: dict[Triple, list[NamedNode]] = {fact: [] for fact in facts}
        for link, *ends in rows:
            links[Triple(*ends)].append(link)
        return links

    def describe(self, node: NamedNode) -> list[Triple]:
        budget.check()
        triples = self._cached.described.get(node)
        return self._ask([node])[node] if triples is None else triples

    def statements(self, node: NamedNode) -> list[Triple]:
        return self.describe(node)

    def facts(self, node: NamedNode) -> list[Triple]:
        facts = self._cached.facts.get(node)
        return self._facts_at([node])[node] if facts is None else facts

    def _facts_at(self, nodes: Sequence[NamedNode]) -> dict[NamedNode, list[Triple]]:
        """The facts that have one of some nodes as an end; their links are kept, too."""
        facts: dict[NamedNode, list[Triple]] = {node: [] for node in nodes}
        cached = self._cached
        rows: Any = self._select(requests.links_at(nodes, self.layout.links)).rows
        for link, subject, predicate, object_ in rows:
            fact = Triple(subject, predicate, object_)
            for end in (subject, object_):
                if end in facts and fact not in facts[end]:
                    facts[end].append(fact)
            if link not in cached.links.setdefault(fact, []):
                cached.links[fact].append(link)
        cached.facts.update(facts)
        return facts

    def prefetch(self, nodes: Nodes, facts: Iterable[Triple] = (), ends: Nodes = ()) -> None:
        """Read each kind in one request, where a reading function runs."""
        nodes, facts, ends = dict.fromkeys(nodes), dict.fromkeys(facts), dict.fromkeys(ends)
        if self._session is None or not (nodes or facts or ends):
            return
        cached = self._cached
        for some in _unread(ends, cached.facts):
            self._facts_at(some)
        for some_facts in _unread(facts, cached.links):
            cached.links.update(self._links_of(some_facts))
        for some in _unread(nodes, cached.described):
            self._ask(some)

    def _ask(self, nodes: Sequence[NamedNode]) -> dict[NamedNode, list[Triple]]:
        """The triples of nodes by one request, without their facts."""
        rows: Any = self._select(requests.described(nodes, self.iris.predicates)).rows
        described: dict[NamedNode, list[Triple]] = {node: [] for node in nodes}
        for triple in self.layout.folded(rows):
            described[cast(NamedNode, triple.subject)].append(triple)
        self._cached.described.update(described)
        return described

    def newest(self, ranges: Sequence[Range]) -> Iterator[tuple[str, list[str]]]:
        if self._select(requests.other_values(UPDATED_AT)).rows:
            return
        offset = 0
        while True:
            # Alone, since a part of a query need not keep its order.
            text = requests.newest(UPDATED_AT, NEWEST_AT_ONCE, offset)
            rows: Any = self._unchecked(text).rows
            times: dict[str, list[str]] = {}
            for time, node in rows:
                if any(first <= node.value < end for first, end in ranges):
                    times.setdefault(time.value, []).append(node.value)
            for time, iris in times.items():
                yield time, iris
            offset += len(rows)
            if len(rows) < NEWEST_AT_ONCE:
                return

    def sorted_values(self, scope: Scope, seconds: float = 0.0) -> None:
        """None: the store has its own indexes."""

    def totals(self) -> None:
        """None: others may write."""

    def records(self) -> dict[str, str]:
        return {
            decode(key.value[len(RECORD) :]): value.value
            for key, value in self.notes()
            if key.value.startswith(RECORD)
        }

    def notes(self) -> list[tuple[NamedNode, Literal]]:
        """What the nexus notes about itself, as keys and values."""
        rows: Any = self._select(requests.notes(self.place.bookkeeping)).rows
        return list(rows)


def _in_pattern(term: Any) -> Any:
    return TripleTerm(*term) if isinstance(term, Triple) else term


def _unread(wanted: Iterable[K], cached: Mapping[K, object]) -> Iterator[list[K]]:
    """Those of which nothing is cached, as many at once as one request reads."""
    missing = iter([one for one in wanted if one not in cached])
    while some := list(itertools.islice(missing, DESCRIBED_AT_ONCE)):
        yield some
