"""Records what is read, so that a write prepared without the lock can be validated (045)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias, TypeVar

from pyoxigraph import NamedNode, Triple

from kiprdf.store.base import SIMPLE, Cell, Iri, Nodes, Request, Row, Statement, Store
from kiprdf.store.delta import Delta
from kiprdf.store.sorted_values import Scope, SortedValues
from kiprdf.store.update_times import UPDATED_AT, Range

T = TypeVar("T")
_Pattern: TypeAlias = tuple[Cell, Cell, Cell]
_ANY: _Pattern = (None, None, None)


class ReadSet:
    """A store whose reads are recorded as the patterns that they match.

    ``note`` adds a commit that comes after the first read. If no changed triple matches a pattern,
    every read would return the same again, whenever it happened.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._patterns: set[_Pattern] = set()
        self._later: list[Delta | None] = []
        self.iris = store.iris
        self.abilities = store.abilities

    def note(self, delta: Delta | None) -> None:
        """Note a later commit; None if it may change everything."""
        self._later.append(delta)

    def is_outdated(self) -> bool:
        """Whether a later commit changed something that was read."""
        return any(delta is None or self._reads_any(delta) for delta in self._later)

    def _reads_any(self, delta: Delta) -> bool:
        for triple in (*delta.removed, *delta.added):
            cells = ((cell, None) for cell in triple)
            if not self._patterns.isdisjoint(product(*cells)):
                return True
        return False

    def select(self, query: str, request: Request = SIMPLE) -> list[Row]:
        self._patterns.add(_ANY)
        return self._store.select(query, request._replace(single_row=False))

    def match(self, subject: Iri, predicate: Iri, object: Cell) -> Iterator[Triple]:
        self._patterns.add((subject, predicate, object))
        return self._store.match(subject, predicate, object)

    def lookup(
        self, subject: Cell, predicate: Cell, object: Cell, most: int, graph: Iri = None
    ) -> list[Statement]:
        # In the graph of texts, an object is part of a value.
        self._patterns.add((subject, predicate, object if graph is None else None))
        return self._store.lookup(subject, predicate, object, most, graph)

    def newest(self, ranges: Sequence[Range]) -> Iterator[tuple[str, list[str]]]:
        self._patterns.add((None, UPDATED_AT, None))
        return self._store.newest(ranges)

    def sorted_values(self, scope: Scope, seconds: float = 0.0) -> SortedValues | None:
        self._patterns.add((None, scope.key, None))
        return self._store.sorted_values(scope, seconds)

    def totals(self) -> None:
        """None: what they are made of is not recorded."""

    def describe(self, node: NamedNode) -> list[Triple]:
        self._patterns.add((node, None, None))
        return self._store.describe(node)

    def statements(self, node: NamedNode) -> Sequence[Statement]:
        self._patterns.add((node, None, None))
        return self._store.statements(node)

    def facts(self, node: NamedNode) -> list[Triple]:
        self._patterns.update(((node, None, None), (None, None, node)))
        return self._store.facts(node)

    def prefetch(self, nodes: Nodes, facts: Iterable[Triple] = (), ends: Nodes = ()) -> None:
        self._store.prefetch(nodes, facts, ends)

    def commit(self) -> int:
        self._patterns.add(_ANY)
        return self._store.commit()

    def read(self, function: Callable[[], T]) -> T:
        return function()
