"""Fetches complete answers from an endpoint, in pages where its engine limits their size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pyoxigraph import NamedNode

from kiprdf import budget
from kiprdf.rdf import vocab
from kiprdf.sparql import requests
from kiprdf.sparql.abilities import Abilities
from kiprdf.store.base import Request, Row, Solutions
from kiprdf.store.endpoint import RESULTS, TABLE, Endpoint
from kiprdf.store.layout import HEAD, Head, Layout, Place, highest


class Answers(NamedTuple):
    """Sends queries about the nexus in one place; the rows have terms as kiprdf writes them."""

    endpoint: Endpoint
    place: Place
    abilities: Abilities
    layout: Layout

    def select(self, text: str, request: Request) -> Solutions:
        """The solutions of a query."""
        dataset, read, most = self.place.dataset, self.layout.rows, self.abilities.max_rows
        if most is None:
            return self.endpoint.select(text, dataset, request, read=read)
        first = self.endpoint.select(text, dataset, request._replace(keep=None), read=read)
        if len(first.rows) < most:
            return first
        return self._paged(text, first.names, most, request)

    def with_commit(
        self, text: str, names: Sequence[str], request: Request, identity: str | None
    ) -> tuple[Solutions, int | None]:
        """The solutions of a query, and the number of the commit that they are of.

        The number is None if they came in pages, since another commit may have come in between,
        and 0 where the last row is missing, or the store has another identity.
        """
        numbers: list[Any] = []
        received = 0

        def read(rows: Iterable[Iterable[Any]]) -> Iterator[Row]:
            nonlocal received
            for row in self.layout.rows(rows):
                received += 1
                if row[-1] is None:
                    yield row[:-1]
                else:
                    numbers.append(row[-1])

        key = vocab.COMMIT if identity is None else HEAD
        query = requests.with_note(text, names, self.place.bookkeeping, key, self.abilities)
        dataset, accept = self.place.dataset, TABLE if self.abilities.tables else RESULTS
        answer = self.endpoint.select(query, dataset, request, read=read, accept=accept)
        most = self.abilities.max_rows
        if most is not None and received >= most:
            return self._paged(text, names, most, request), None
        if identity is not None:
            own = [head.number for head in map(Head.read, numbers) if head.identity == identity]
            return answer, max(own, default=0)
        return answer, highest(numbers)

    def triples(self, text: str, predicate: NamedNode) -> tuple[list[Row], int]:
        """The rows ``?s ?o`` of a query, and the number of the commit that they are of.

        They are sent as triples with a predicate, which Virtuoso writes four times as fast.
        """
        place = self.place
        query = requests.as_triples(text, predicate, place.bookkeeping, vocab.COMMIT)
        triples = self.endpoint.construct(query, place.dataset)
        notes = [triple for triple in triples if triple.subject == place.bookkeeping]
        pairs = ((triple.subject, triple.object) for triple in triples if triple not in notes)
        return list(self.layout.rows(pairs)), highest(triple.object for triple in notes)

    def _paged(self, text: str, names: Sequence[str], most: int, request: Request) -> Solutions:
        """The rows of a query in the order of its variables, a page a request."""
        rows: list[Row] = []
        keep, whole = request.keep, request._replace(keep=None)
        width = len(names) if request.width is None else request.width
        number, dataset, read = 0, self.place.dataset, self.layout.rows
        spending = budget.current()
        while True:
            query = requests.ordered_page(text, names, most, number)
            page = self.endpoint.select(query, dataset, whole, read=read).rows
            number += len(page)
            rows += page
            if spending is not None:
                spending.check_rows(number, width)
            if keep is not None:
                rows = keep(rows)
            if len(page) < most:
                return Solutions(tuple(names), rows)
