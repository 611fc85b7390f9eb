"""The protocols of stores: narrow enough for a remote SPARQL store to implement them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeAlias, TypeGuard, TypeVar
from typing import Literal as OneOf

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple
from pyoxigraph import Store as Engine

from kiprdf import forks
from kiprdf.errors import ClosedError, StoreError
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.abilities import Abilities
from kiprdf.store.delta import UNKNOWN, Delta, Origin
from kiprdf.store.journal import Journal
from kiprdf.store.sorted_values import Scope, SortedValues
from kiprdf.store.totals import Totals
from kiprdf.store.update_times import Range

if TYPE_CHECKING:
    from kiprdf.store.oxigraph import OxigraphStore
    from kiprdf.store.sparql_worker import SparqlAnswer

T = TypeVar("T")
Cell: TypeAlias = NamedNode | Literal | BlankNode | Triple | None
Iri: TypeAlias = NamedNode | None
Nodes: TypeAlias = Iterable[NamedNode]
Row: TypeAlias = tuple[Cell, ...]
Keep: TypeAlias = Callable[[list[Row]], list[Row]]
"""Selects, of the rows fetched so far, those that an answer needs."""
Statement: TypeAlias = Triple | Quad
Tests: TypeAlias = Mapping[NamedNode, Callable[[Cell, Cell], bool]]
"""Functions of two terms that a query may call, by their IRIs."""
NO_TESTS: Tests = {}
Cancellation: TypeAlias = OneOf["none", "cooperative", "threaded"]
"""How a query is cancelled: not at all, by checks of the deadline in it, or by these on a separate
thread, which can be abandoned."""


class Request(NamedTuple):
    """How a SELECT is run.

    A "cooperative" query may call ``CHECK_DEADLINE`` and ``COUNT_HOP``; a "threaded" one is also
    abandoned when the time of the running request is over (KIP_4001). ``width`` is the number of
    variables in a row, where the row also has columns for their values. The query may apply one of
    the ``tests`` to two terms: ``IF(HOLD(left), test(right), false)``. Only rows that ``keep``
    selects are kept. A ``single_row`` query has one row at most, which is enough for the answer,
    also if it is of a later commit than the one on which the function began (docs/decisions/106).
    """

    cancellation: Cancellation = "none"
    width: int | None = None
    tests: Tests = NO_TESTS
    keep: Keep | None = None
    single_row: bool = False


SIMPLE = Request()
"""A query that is not cancelled, of which every row is kept."""


class Solutions(NamedTuple):
    """The answer to a SELECT."""

    names: tuple[str, ...]
    rows: list[Row]


class CommitConflict(Exception):
    """Another commit came while a state was in use; ``number`` is its number, if known."""

    def __init__(self, number: int | None = None) -> None:
        super().__init__(number)
        self.number = number


class Store(Protocol):
    """A dataset to read."""

    @property
    def iris(self) -> Iris:
        """The IRIs below this store's base."""

    @property
    def abilities(self) -> Abilities:
        """What queries of this store may use."""

    def select(self, query: str, request: Request = SIMPLE) -> list[Row]:
        """The rows of a SELECT, cells in the order of its variables, None where unbound.

        More rows than the budget allows are KIP_4002.
        """

    def match(self, subject: Iri, predicate: Iri, object: Cell) -> Iterator[Triple]:
        """The triples of the default graph that match a pattern; None matches any term."""

    def lookup(
        self, subject: Cell, predicate: Cell, object: Cell, most: int, graph: Iri = None
    ) -> list[Statement]:
        """The first triples, at most ``most``, that match a pattern; without a deadline check.

        They are those of the default graph where no ``graph`` is given.
        """

    def newest(self, ranges: Sequence[Range]) -> Iterator[tuple[str, list[str]]]:
        """The times at which elements were last updated, the last one first, with their IRIs.

        Only IRIs in the ranges are returned, sorted; those of one time may come in several lists.
        Elements without a time are left out; all are if some time is not a string.
        """

    def sorted_values(self, scope: Scope, seconds: float = 0.0) -> SortedValues | None:
        """The elements that have some key, in the order of its values; None where no index has it.

        ``seconds`` are what a question has just taken without it: after enough of them it is built.
        """

    def totals(self) -> Totals | None:
        """Totals of the dataset; None where its writers do not keep them."""

    def describe(self, node: NamedNode) -> list[Triple]:
        """The triples that make a node an element: those with it as subject, without its facts."""

    def statements(self, node: NamedNode) -> Sequence[Statement]:
        """The triples of ``describe``, perhaps with facts of the node: the fastest to read."""

    def facts(self, node: NamedNode) -> list[Triple]:
        """The triples that propositions state of a node, as subject or object."""

    def prefetch(self, nodes: Nodes, facts: Iterable[Triple] = (), ends: Nodes = ()) -> None:
        """Read ahead what describes some nodes, the links of some facts, and the facts that have
        some nodes as ends. Nothing where a read takes no request.
        """

    def commit(self) -> int:
        """The number of commits; reading it costs almost nothing."""

    def read(self, function: Callable[[], T]) -> T:
        """Run a reading function, which may be repeated, on one state of the dataset."""


class Reading(NamedTuple, Generic[T]):
    """What a reading function returned, and the commit that it saw."""

    commit: int
    result: T


class NexusStore(Store, Protocol):
    """A store for a nexus: one writer at a time, and readers that see whole commits only."""

    @property
    def embedded(self) -> OxigraphStore | None:
        """The store itself where its engine runs in this process: its files can be checked,
        repaired and rewritten, and each commit be recorded. None for a SPARQL endpoint."""

    @property
    def read_only(self) -> bool: ...

    def records(self) -> dict[str, str]:
        """The records of the nexus about itself, which ``Delta.records`` wrote."""

    def write(self, function: Callable[[], T]) -> T:
        """Run a function that reads, checks and applies, on one state of the dataset.

        It may be repeated where another process has written: it changes nothing but by ``apply``.
        """

    def writing(self) -> AbstractContextManager[None]:
        """The lock of this process's writers."""

    def apply(self, delta: Delta) -> int:
        """Write a delta as one commit and return its number; ``write`` is running."""

    def replace(self, dataset: Engine, records: dict[str, str], origin: Origin = UNKNOWN) -> int:
        """Replace the whole dataset, as one commit; ``write`` is running."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes may write to it at any time."""

    def changed_since(self, number: int) -> Collection[NamedNode] | None:
        """The elements that commits of a shared store after one touched; None where that is not
        known."""

    @property
    def folder(self) -> Path | None:
        """Where the store is on disk, if it is."""

    @property
    def index_folder(self) -> Path | None:
        """The folder of the text index; without one it is in memory."""

    @property
    def location(self) -> Mapping[str, str]:
        """Where the store is, if it is not in this process: keys of ``Nexus.info``."""

    def close(self) -> None: ...

    @property
    def closed(self) -> bool: ...

    @property
    def is_forked(self) -> bool:
        """Whether another process opened the store, and this one was forked from it."""

    def require_own_process(self) -> None:
        """Raise ``StoreError`` in a process that was forked from the one that opened the store."""

    def read_whole(self, function: Callable[[Engine], T]) -> T:
        """Call a function, which may be repeated, with the whole dataset as of one commit."""

    def query(self, text: str) -> SparqlAnswer:
        """Answer SPARQL that a caller wrote and the guard let through.

        Raises ``SyntaxError``, ``ValueError``, ``OSError`` and ``RuntimeError`` as engines do.
        """

    def try_read(self, function: Callable[[], T]) -> Reading[T] | None:
        """Run a reading function once, without a lock; None if a commit came in between."""

    @property
    def journal(self) -> Journal | None:
        """What each commit changed, if that is recorded."""

    def copy(self) -> NexusStore:
        """A copy in memory, as of one commit."""

    def backup(self, folder: str | os.PathLike[str], history: bool = True) -> None:
        """Copy the store into a folder, with its journal or not; raises ``StoreError``."""


class OwnStore:
    """A store of the process that opened it, until it is closed."""

    forked = (
        "This nexus belongs to the process that opened it, and this process is a fork of that one; "
        "start processes that use kiprdf with the method spawn."
    )
    """The error in another process."""

    def __init__(self) -> None:
        self._process = forks.process
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def is_forked(self) -> bool:
        return self._process != forks.process

    def require_own_process(self) -> None:
        if self._process != forks.process:
            raise StoreError(self.forked)

    def _require_open(self) -> None:
        self.require_own_process()
        if self._closed:
            raise ClosedError()


def is_store(value: object) -> TypeGuard[NexusStore]:
    """Whether a value is a store of any kind."""
    return hasattr(value, "abilities")
