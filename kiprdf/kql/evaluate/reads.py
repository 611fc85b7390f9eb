"""What the steps of a lookup read: from the index, or by queries of many patterns at once.

Where each read is a request (docs/decisions/173), a pattern that was not read yet is noted, and the
step is given up for this solution; when all solutions have been tried, what is missing is read by
one query for each form of pattern, and those that were given up are tried again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from functools import cached_property, partial
from itertools import product
from typing import Any, TypeAlias, TypeVar, cast

from pyoxigraph import NamedNode, Triple, Variable

from kiprdf import budget
from kiprdf.kql import queries
from kiprdf.kql.beliefs import view_of
from kiprdf.kql.clauses import reified
from kiprdf.kql.entailment import STANDS_FOR, clusters_of
from kiprdf.kql.reader import Reader
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import BGP, Alternative, Select, Table, Term, TriplePattern
from kiprdf.store import Store
from kiprdf.store.base import Cell, Row, Statement

T = TypeVar("T")
U = TypeVar("U")
_Key: TypeAlias = tuple[Cell, Cell, Cell]

READ_AT_ONCE = 500
"""Patterns of one query; some engines end at a thousand constants."""
CHECKED_EVERY = 4_096
"""Reads between two checks of the deadline."""
_LINK, _S, _P, _O = map(Variable, ("link", "s", "p", "o"))
_VALUES = (vocab.ATTRIBUTE, vocab.METADATA)


class Fallback(Exception):
    """The engine must answer: only it can decide, or the lookup has grown too large."""


class Reads:
    """What one lookup reads; of the ``rare`` triples it has read all matches."""

    def __init__(self, store: Store, most: int) -> None:
        self.rare: list[TriplePattern] = []
        self._store = store
        self._left = most
        view = view_of(store)
        self._hidden = frozenset[object]() if view is None else view.hidden
        self._values: dict[tuple[Cell, NamedNode], Cell] = {}
        self._neighbours: dict[tuple[Cell, NamedNode, bool], dict[Cell, None]] = {}

    @cached_property
    def reader(self) -> Reader:
        return Reader(self._store)

    def each(
        self, function: Callable[[T, Reads], Iterable[U]], items: Iterable[T]
    ) -> Iterable[Iterable[U]]:
        """What a function that reads returns for each of some items."""
        return [function(item, self) for item in items]

    def __call__(
        self, subject: Cell, predicate: Cell, object: Cell, graph: NamedNode | None = None
    ) -> list[Statement]:
        statements = self._store.lookup(subject, predicate, object, self._left, graph)
        self.count(len(statements) + 1)
        return statements

    def count(self, number: int) -> None:
        """Count solutions and reads."""
        self._left -= number
        if self._left <= 0:
            raise Fallback

    def start(self, triple: TriplePattern, elements: Collection[Cell]) -> None:
        """Note the elements that a triple finds; end where reading on from each is too much."""
        self.rare.append(triple)
        if 2 * len(elements) > self._left:
            raise Fallback

    def value(self, node: Cell, predicate: NamedNode) -> Cell:
        """An attribute or a metadata key of a node, which a condition and a column may both ask."""
        if node is None:
            return None
        key = node, predicate
        if key in self._values:
            return self._values[key]
        statements = self(node, predicate, None)
        value = self._values[key] = statements[0].object if statements else None
        return value

    def is_believed(self, *terms: Any) -> bool:
        """Whether an element, or the fact of three terms, is believed."""
        return (terms[0] if len(terms) == 1 else Triple(*terms)) not in self._hidden

    def neighbours(
        self, node: Cell, predicate: NamedNode | Alternative, forward: bool
    ) -> dict[Cell, None]:
        """The nodes one hop from a node, over facts that are believed."""
        if isinstance(predicate, Alternative):
            each = self.each(lambda step, _: self._along(node, step, forward), predicate.steps)
            return {end: None for ends in each for end in ends}
        ends = self._neighbours.get((node, predicate, forward))
        if ends is None:
            facts = self(node, predicate, None) if forward else self(None, predicate, node)
            if self._hidden:
                facts = [q for q in facts if self.is_believed(q.subject, predicate, q.object)]
            ends = dict.fromkeys(q.object if forward else q.subject for q in facts)
            self._neighbours[node, predicate, forward] = ends
        else:
            self.count(len(ends))  # they make solutions too
        return ends

    def _along(self, node: Cell, step: tuple[NamedNode, bool], forward: bool) -> dict[Cell, None]:
        """The nodes one hop from a node along a predicate that may lead backward."""
        return self.neighbours(node, step[0], step[1] == forward)


class AllReads(Reads):
    """What a lookup of any size reads from the index."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, sys.maxsize)
        self._unchecked = 0

    def each(
        self, function: Callable[[T, Reads], Iterable[U]], items: Iterable[T]
    ) -> Iterable[Iterable[U]]:
        size = 0
        for item in items:
            results = list(function(item, self))
            size += len(results)
            _check_size(size)
            yield results

    def count(self, number: int) -> None:
        """Check the deadline now and then."""
        self._unchecked += number
        if self._unchecked >= CHECKED_EVERY:
            self._unchecked = 0
            budget.check()


class Missing(Exception):
    """Something was asked for that is not read yet."""


class BatchReads(Reads):
    """What one lookup reads by queries; of one query or step at ``most`` so many rows."""

    def __init__(self, store: Store, most: int | None = None) -> None:
        super().__init__(store, CHECKED_EVERY)
        self._most = most
        self._read: dict[_Key, list[Statement]] = {}
        self._missing: dict[_Key, None] = {}
        self._is_inner = False

    @cached_property
    def reader(self) -> Reader:
        return _FactReader(self, self._store)

    def note_value(self, node: Cell, predicate: NamedNode, value: Cell) -> None:
        """Note a value that was read with its element."""
        self._values[node, predicate] = value

    def each(
        self, function: Callable[[T, Reads], Iterable[U]], items: Iterable[T]
    ) -> Iterable[Iterable[U]]:
        waiting, done, size = list(enumerate(items)), dict[int, list[U]](), 0
        is_inner, self._is_inner = self._is_inner, True
        try:
            while waiting:
                missed = []
                for number, item in waiting:
                    try:
                        done[number] = list(function(item, self))
                        size += len(done[number])
                        _check_size(size)
                        self._check_most(size)
                    except Missing:
                        missed.append((number, item))
                if missed and is_inner:
                    raise Missing
                if missed:
                    self._fetch()
                waiting = missed
        finally:
            self._is_inner = is_inner
        return [done[number] for number in sorted(done)]

    def __call__(
        self, subject: Cell, predicate: Cell, object: Cell, graph: NamedNode | None = None
    ) -> list[Statement]:
        key = subject, predicate, object
        statements = self._read.get(key)
        if statements is None:
            self._missing[key] = None
            raise Missing
        self.count(1)
        return statements

    def count(self, number: int) -> None:
        """Count solutions and reads, and check the deadline now and then."""
        self._left -= number
        if self._left <= 0:
            self._left = CHECKED_EVERY
            budget.check()

    def _fetch(self) -> None:
        """Read what is missing, the patterns of one form together."""
        missing, self._missing = list(self._missing), {}
        forms: dict[tuple[object, ...], list[_Key]] = {}
        for key in missing:
            self._read[key] = []
            subject, predicate, object_ = key
            is_value = isinstance(predicate, NamedNode) and predicate.value.startswith(_VALUES)
            # The values of several keys are read together.
            of = None if is_value and subject and not object_ else predicate
            form = subject is None, of, predicate is None, object_ is None, type(object_) is Triple
            forms.setdefault(form, []).append(key)
        for keys in forms.values():
            for start in range(0, len(keys), READ_AT_ONCE):
                some = keys[start : start + READ_AT_ONCE]
                budget.without_row_limit(partial(self._read_together, some))

    def _read_together(self, keys: list[_Key]) -> None:
        predicate = keys[0][1]
        if predicate == vocab.REIFIES:
            self._read_links(keys)
            return
        predicates = {key[1] for key in keys}
        shown = _P if predicate is None or len(predicates) > 1 else cast(NamedNode, predicate)
        given = [
            (place, name)
            for place, name in enumerate((_S, shown, _O))
            if keys[0][place] is not None and isinstance(name, Variable)
        ]
        rows = dict.fromkeys(tuple(key[place] for place, _ in given) for key in keys)
        pattern = BGP((TriplePattern(_S, shown, _O),))
        names = tuple(name for name in (_S, shown, _O) if isinstance(name, Variable))
        for row in self._rows(names, pattern, tuple(name for _, name in given), list(rows)):
            terms = dict(zip(names, row, strict=True))
            triple = Triple(*cast(Any, (terms[_S], terms.get(_P, predicate), terms[_O])))
            parts = zip(triple, keys[0], strict=True)
            key = tuple([None if given is None else part for part, given in parts])
            self._read[cast(_Key, key)].append(triple)

    def _read_links(self, keys: list[_Key]) -> None:
        """The links of facts, the facts of links, or all."""
        fact, link = reified(_S, _P, _O, _LINK)
        names = (_LINK, _S, _P, _O)
        given, rows = tuple[Variable, ...](), list[Row]()
        triples: tuple[TriplePattern, ...] = (link,)
        if isinstance(keys[0][2], Triple):
            # The fact first: an engine has no index of what is inside triple terms.
            triples, given = (fact, link), (_S, _P, _O)
            facts = dict.fromkeys(cast(Triple, key[2]) for key in keys)
            rows = [(each.subject, each.predicate, each.object) for each in cast(Any, facts)]
        elif keys[0][0] is not None:
            given, rows = (_LINK,), [(key[0],) for key in keys]
        by_term: dict[Cell, list[Statement]] = {}
        for node, *terms in self._rows(names, BGP(triples), given, rows):
            triple = Triple(*cast(Any, (node, vocab.REIFIES, Triple(*cast(Any, terms)))))
            of = triple.object if len(given) == 3 else triple.subject if given else None
            by_term.setdefault(of, []).append(triple)
        for subject, predicate, object_ in keys:
            of = object_ if object_ is not None else subject
            self._read[subject, predicate, object_] = [
                each for each in by_term.get(of, ()) if subject in (None, each.subject)
            ]

    def _rows(
        self,
        names: tuple[Variable, ...],
        pattern: BGP,
        given: tuple[Variable, ...],
        rows: list[Row],
    ) -> list[Row]:
        table = Table(given, cast(tuple[tuple[Term, ...], ...], tuple(rows))) if given else None
        limit = None if self._most is None else self._most + 1
        select = Select(names, pattern, limit, distinct=False, table=table)
        rows_read = queries.select(select, self._store)
        self._check_most(len(rows_read))
        return rows_read

    def _check_most(self, number: int) -> None:
        if self._most is not None and number > self._most:
            raise Fallback


class _MergedReads(Reads):
    """Reads of which what is the same is one element, whose values are those of the one that
    stands for it."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)  # type: ignore[call-arg]
        clusters = clusters_of(store)
        assert clusters is not None
        self._clusters = clusters

    def __call__(
        self, subject: Cell, predicate: Cell, object: Cell, graph: NamedNode | None = None
    ) -> list[Statement]:
        if isinstance(predicate, NamedNode) and predicate.value.startswith(_VALUES):
            return super().__call__(subject, predicate, object, graph)
        if predicate == STANDS_FOR:
            one = cast(NamedNode, self._clusters.representative(subject))
            is_it = object in (None, one) and self(one, vocab.TYPE, None)
            return [Triple(one, STANDS_FOR, one)] if is_it else []
        merged: dict[Statement, None] = {}
        missing = None
        for key in product(self._of(subject), self._of(object)):
            try:
                for statement in super().__call__(key[0], predicate, key[1]):
                    s, p, o = statement.subject, statement.predicate, statement.object
                    fact: Any = o if p == vocab.REIFIES else Triple(s, p, o)
                    if fact not in self._hidden:
                        of = self._clusters.representative
                        merged[Triple(of(s), p, of(o))] = None
            except Missing as more:
                missing = more
        if missing is not None:
            raise missing
        return list(merged)

    def _of(self, term: Cell) -> Iterable[Cell]:
        """The terms that a term may stand for."""
        of = self._clusters.of
        if not isinstance(term, Triple):
            return of(term)
        pairs = product(of(term.subject), of(term.object))
        return [Triple(one, term.predicate, other) for one, other in pairs]

    def is_believed(self, *terms: Any) -> bool:
        """Whether an element is believed; facts that are not are not read."""
        return len(terms) > 1 or isinstance(terms[0], Triple) or super().is_believed(*terms)


class _AllMergedReads(_MergedReads, AllReads):
    pass


class _MergedBatchReads(_MergedReads, BatchReads):
    pass


def all_reads(store: Store) -> Reads:
    """What a lookup of any size reads of a store, as a FIND sees it."""
    is_merged = clusters_of(store) is not None
    if store.abilities.lookups:
        return _AllMergedReads(store) if is_merged else AllReads(store)
    return _MergedBatchReads(store) if is_merged else BatchReads(store)


class _FactReader(Reader):
    """Reads the facts of links by the batch."""

    def __init__(self, reads: BatchReads, store: Store) -> None:
        super().__init__(store)
        self._reads = reads

    def fact(self, node: NamedNode) -> Triple | None:
        statements = self._reads(node, vocab.REIFIES, None)
        return cast(Triple, statements[0].object) if statements else None


def _check_size(number: int) -> None:
    """Raise KIP_4002 where a step has more solutions than the budget allows."""
    spending = budget.current()
    if spending is not None:
        spending.check_rows(number, budget.WIDTH)
