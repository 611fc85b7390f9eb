"""Reads the embedded Oxigraph, in memory or in a folder."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, cast

from pyoxigraph import (
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
    Triple,
    Variable,
)
from pyoxigraph import Store as Engine

from kiprdf import budget, forks
from kiprdf.checksums import FileSums
from kiprdf.errors import (
    ReplacedError,
    StoreError,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, decode
from kiprdf.sparql.abilities import EMBEDDED
from kiprdf.sparql.algebra import BGP, Select, TriplePattern
from kiprdf.sparql.text import render
from kiprdf.store.base import (
    SIMPLE,
    Cell,
    Iri,
    Nodes,
    OwnStore,
    Reading,
    Request,
    Row,
    Solutions,
    Statement,
)
from kiprdf.store.bookkeeping import (
    ENGINE_FAULTS,
    KEPT_BYTES,
    RECORD,
    read_commit_number,
    readable,
    unreadable,
)
from kiprdf.store.cancellation import CancellationToken, run_cancellable
from kiprdf.store.delta import Written
from kiprdf.store.folder import (
    FolderLock,
    damaged_file,
    graph_folder,
)
from kiprdf.store.guard import is_one_pattern
from kiprdf.store.journal import Journal, Sync
from kiprdf.store.journal_files import decoded
from kiprdf.store.lock import FairLock
from kiprdf.store.sorted_values import FOLDER as VALUES
from kiprdf.store.sorted_values import KEPT_COMMITS, Scope, SortedValues, ValueIndex
from kiprdf.store.sparql_worker import RecentChanges, SparqlAnswer, SparqlProcesses
from kiprdf.store.totals import FILE as TOTALS
from kiprdf.store.totals import Recent, Totals
from kiprdf.store.update_times import UPDATED_AT, Range, UpdateTimes

T = TypeVar("T")

READ_ATTEMPTS = 3
LOOKED_AFTER_SECONDS = 0.1
"""How often a query, or a write, looks whether files were touched."""
COMPACTED_QUADS = 20_000
"""Removed quads after which an engine in memory may be compacted."""
_DEFAULT = DefaultGraph()
_NO_LITERALS = NamedNode, Triple
_ELEMENT, _TIME = Variable("x"), Variable("time")
_ALL_TIMES = render(
    Select((_TIME,), BGP((TriplePattern(_ELEMENT, UPDATED_AT, _TIME),)), distinct=True)
)


class Follower(Protocol):
    """What is derived from the dataset, and follows its commits."""

    def note(self, number: int, removed: Sequence[Written], added: Sequence[Written]) -> None:
        """Note what a commit removed and added; called under the writer's lock."""

    def clear(self) -> None:
        """Drop all of it, in files, too: it is made again when it is needed."""

    def close(self, number: int) -> None:
        """Write what is kept in files, as of the last commit."""


class OxigraphReads(OwnStore):
    """The reading half of an embedded store, with what is derived from its dataset."""

    abilities = EMBEDDED
    is_shared = False
    location: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        engine: Engine,
        base: str,
        folder: Path | None = None,
        read_only: bool = False,
        folder_lock: FolderLock | None = None,
        journal: Journal | None = None,
    ) -> None:
        super().__init__()
        self._engine = engine
        self._folder = folder
        self.scope = "" if folder is None else folder.name
        """The name of this nexus among others."""
        self.served_as = ""
        """What a server of several nexuses has here; cursors are bound to it."""
        self._identity: str | None = None
        """The identity of the files that a reader has opened."""
        self._folder_lock = folder_lock
        self._lock = FairLock()
        self._last = read_commit_number(engine)
        self._unflushed = 0
        self._uncompacted = 0
        self._compacted_after = COMPACTED_QUADS
        self._processes = SparqlProcesses(self)
        self._sums = None if folder is None else FileSums(graph_folder(folder))
        self._looked_at = 0.0
        self.journal = journal
        self.sync: Sync | None = None
        """None where nothing is written to a folder."""
        self._tried_at = -math.inf
        """When ``require_writable_files`` last wrote a file; a failed write makes it look again."""
        self.failure: str | None = None
        """Why the engine refused the last write."""
        self.closed_journal: Journal | None = None
        """That of a folder which is opened without a history."""
        self.changes = RecentChanges()
        self._update_times = UpdateTimes()
        is_writer = folder is not None and not read_only
        self._values = ValueIndex(folder / VALUES if folder and is_writer else None)
        self.iris = Iris(base)
        self.read_only = read_only
        file = None if folder is None else folder / VALUES / TOTALS
        self._totals = Totals(self.iris, file, is_writer=not read_only)
        self.is_fixed = read_only
        """Whether the dataset never changes while it is open."""
        self.replica: str | None = None
        """The id of a nexus in memory among those that follow each other."""
        self.followers: list[Follower] = [
            self.changes,
            self._update_times,
            self._totals,
            self._values,
        ]
        if self._last.number == 0 and next(self._quads(None, None, None, None), None) is None:
            self._update_times.build(0, ())
            self._totals.set_uses(0, Counter())
            self._totals.set_recent(0, Recent(), Recent())
        forks.protect(self)

    @property
    def folder(self) -> Path | None:
        """Where the store lives on disk, if it does."""
        return self._folder

    @property
    def index_folder(self) -> Path | None:
        """The folder of the text index, which is beside the graph."""
        return self._folder

    @property
    def lock(self) -> FairLock:
        """The writer's lock."""
        return self._lock

    @property
    def is_certain(self) -> bool:
        """Whether no commit is being written."""
        return self._last.is_certain

    def require_sound_files(self, *, every_byte: bool = False) -> None:
        """Raise ``DamagedGraphError`` if a file of the graph is not as it was written.

        Cheap, and only done now and then, without ``every_byte``.
        """
        now = time.monotonic()
        if self._sums is None or (now < self._looked_at + LOOKED_AFTER_SECONDS and not every_byte):
            return
        damaged = self._sums.damaged(every_byte=every_byte)
        if damaged:
            raise damaged_file(damaged[0])
        self._looked_at = now

    def abandon(self) -> None:
        """Leave the folder to the process that this one was forked from."""
        if hasattr(self, "_engine"):
            forks.keep_forever(self._engine)
        self._folder_lock = None

    # Reading ----------------------------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        """The pyoxigraph store, for bulk reading and raw SPARQL."""
        self._require_open()
        return self._engine

    def _unreadable(self, fault: Exception) -> StoreError:
        """The error of a reading that failed; a writer removes tables that a reader may need."""
        if self.read_only and "no such file" in str(fault).lower():
            message = "A file of the nexus was removed or replaced meanwhile; open the nexus again."
            return ReplacedError(message)
        damaged = self._sums.damaged() if self._sums is not None else ()
        return damaged_file(damaged[0]) if damaged else unreadable(fault)

    def read_whole(self, function: Callable[[Engine], T]) -> T:
        try:
            return self.read(lambda: function(self.engine))
        except ENGINE_FAULTS as fault:
            raise self._unreadable(fault) from fault

    def select(self, query: str, request: Request = SIMPLE) -> list[Row]:
        engine = self.engine
        self.require_sound_files()

        def run(token: CancellationToken) -> list[Row]:
            try:
                solutions = engine.query(query, custom_functions=token.functions(request.tests))
                return token.fetch_all(map(tuple, cast(QuerySolutions, solutions)), request)
            except ENGINE_FAULTS as fault:
                raise self._unreadable(fault) from fault

        threaded = request.cancellation == "threaded"
        return run_cancellable(run, budget.current(), threaded=threaded)

    def query(self, text: str) -> SparqlAnswer:
        """Answer SPARQL that a caller wrote and the guard let through (docs/decisions/043).

        A single index lookup runs here, everything else in a process that can be killed. Raises
        ``SyntaxError``, ``ValueError``, ``OSError`` and ``RuntimeError`` as the engine does.
        """
        engine = self.engine
        self.require_sound_files()
        if not is_one_pattern(text):
            return self._processes.query(text, budget.current())

        def run(token: CancellationToken) -> SparqlAnswer:
            try:
                results = engine.query(text)
                if isinstance(results, QuerySolutions):
                    names = tuple(variable.value for variable in results.variables)
                    return Solutions(names, token.fetch_all(map(tuple, results)))
                return bool(cast(QueryBoolean, results))
            except ENGINE_FAULTS as fault:
                raise self._unreadable(fault) from fault

        return run_cancellable(run, budget.current())

    def match(self, subject: Iri, predicate: Iri, object: Cell) -> Iterator[Triple]:
        budget.check()
        return _triples(self, self.engine, subject, predicate, object, _DEFAULT)

    def lookup(
        self, subject: Cell, predicate: Cell, object: Cell, most: int, graph: Iri = None
    ) -> list[Statement]:
        try:
            if graph is None and type(object) is NamedNode and subject and predicate:
                # The engine finds one quad in a fifth of the time that a pattern takes.
                quad = Quad(cast(NamedNode, subject), cast(NamedNode, predicate), object)
                return [quad] if quad in self._engine else []
            match: Any = self._engine.quads_for_pattern
            if graph is not None:
                return list(islice(match(subject, predicate, object, graph), most))
            # Passing the default graph would take longer than finding a triple.
            quads = match(subject, predicate, object)
            if predicate is not vocab.REIFIES and not isinstance(object, _NO_LITERALS):
                # The other graphs have literals, and one IRI that is no value.
                quads = (quad for quad in quads if quad.graph_name == _DEFAULT)
            return list(islice(quads, most))
        except AttributeError:
            self._require_open()
            raise
        except ENGINE_FAULTS as fault:
            raise self._unreadable(fault) from fault

    def newest(self, ranges: Sequence[Range]) -> Iterator[tuple[str, list[str]]]:
        if not self._update_times.is_current(self.commit()):
            # Without the lock, a commit that comes in between would be missing.
            with nullcontext() if self.is_fixed else self._lock:
                self._build_update_times()
        return self._update_times.newest(self.commit(), ranges, self._updated_at)

    def _build_update_times(self) -> None:
        if not self._update_times.is_current(self.commit()):
            times = [time for (time,) in self.select(_ALL_TIMES)]
            self._update_times.build(self.commit(), times)

    def _updated_at(self, time: Literal) -> list[str]:
        """The IRIs of the elements that were last updated at a time."""
        text = render(Select((_ELEMENT,), BGP((TriplePattern(_ELEMENT, UPDATED_AT, time),))))
        rows: Any = budget.without_row_limit(lambda: self.select(text))
        return [node.value for (node,) in rows]

    def sorted_values(self, scope: Scope, seconds: float = 0.0) -> SortedValues | None:
        if self.is_shared:
            return None
        if seconds:
            self._values.spend(scope, seconds, self.commit, lambda: self._values_of(scope.key))
        return self._values.get(scope, self.commit, self._changes_after)

    def totals(self) -> Totals | None:
        if self.is_shared:
            return None
        self.require_sound_files()
        self._totals.load(self.commit(), self._changes_after)
        return self._totals

    def follow(self, follower: Follower) -> None:
        """Let something that is derived follow the commits."""
        self.followers.append(follower)

    def _clear_derived(self) -> None:
        """Drop what is derived: the dataset is another one, or something was forgotten."""
        for follower in self.followers:
            follower.clear()

    def _values_of(self, key: NamedNode) -> Iterator[tuple[str, Any]]:
        for quad in self._quads(None, key, None, _DEFAULT):
            yield cast(NamedNode, quad.subject).value, quad.object

    def _changes_after(self, number: int) -> Iterator[tuple[int, Sequence[Any], Sequence[Any]]]:
        """The commits after one, as far as the journal has few and small ones."""
        journal, commit = self.journal, self.commit()
        if journal is None or commit > number + KEPT_COMMITS:
            return
        # Reading goes on where the disk fails.
        with suppress(StoreError):
            for data in journal.records(number, commit):
                if len(data) > KEPT_BYTES:
                    return
                change = decoded(data)
                yield change.number, change.removed, change.added

    def describe(self, node: NamedNode) -> list[Triple]:
        budget.check()
        facts = self.iris.predicates
        triples = _triples(self, self.engine, node, None, None, _DEFAULT)
        return [triple for triple in triples if not triple.predicate.value.startswith(facts)]

    def statements(self, node: NamedNode) -> list[Statement]:
        try:
            return list(self.engine.quads_for_pattern(node, None, None, _DEFAULT))
        except ENGINE_FAULTS as fault:
            raise self._unreadable(fault) from fault

    def facts(self, node: NamedNode) -> list[Triple]:
        of_others = (one for one in self.match(None, None, node) if one.subject != node)
        return [
            triple
            for triple in (*self.match(node, None, None), *of_others)
            if triple.predicate.value.startswith(self.iris.predicates)
        ]

    def prefetch(self, nodes: Nodes, facts: Iterable[Triple] = (), ends: Nodes = ()) -> None:
        """Nothing: each read takes microseconds."""

    def _quads(self, *pattern: Any) -> Iterator[Quad]:
        return readable(self.engine, *pattern)

    def commit(self) -> int:
        engine = self.engine
        while True:
            noted = self._last
            if noted.is_certain:
                return noted.number
            if noted.next is None:  # a dataset takes the place of this one
                return read_commit_number(engine).number
            # A write is running; it has happened when its note is in the graph.
            if noted.next in engine:
                return noted.number + 1
            if noted is self._last:
                return noted.number

    def changed_since(self, number: int) -> None:
        """None: each writer notes its commits where they matter."""

    def lacks_number(self) -> bool:
        """Whether the number of the last commit is noted, but cannot be read.

        An interrupt could make pyoxigraph write ``<unprintable int object>`` for it.
        """
        return bool(self._last.notes) and self._last.number == 0

    def records(self) -> dict[str, str]:
        records: dict[str, str] = {}
        for quad in self._quads(None, None, None, vocab.BOOKKEEPING):
            if quad.predicate.value.startswith(RECORD):
                key = decode(quad.predicate.value[len(RECORD) :])
                records[key] = cast(Literal, quad.object).value
        return records

    def read(self, function: Callable[[], T]) -> T:
        self._require_open()
        if self.is_fixed:
            return function()
        for _ in range(READ_ATTEMPTS):
            reading = self.try_read(function)
            if reading is not None:
                return reading.result
        with self._lock:
            return function()

    def try_read(self, function: Callable[[], T]) -> Reading[T] | None:
        """Run a reading function once, without a lock; None if a commit came in between."""
        before = self.commit()
        try:
            result = function()
        except Exception as error:
            # An error on a mix of two states may be wrong; on one state it is the answer. Files
            # of the history may be replaced without a commit.
            if self.commit() == before and not isinstance(error, StoreError):
                raise
            return None
        return Reading(before, result) if self.commit() == before else None


def _triples(store: OxigraphReads, engine: Engine, *pattern: Any) -> Iterator[Triple]:
    """The triples of a pattern; by itself, since another layer would slow small readings down."""
    try:
        for quad in engine.quads_for_pattern(*pattern):
            yield quad.triple
    except ENGINE_FAULTS as fault:
        raise store._unreadable(fault) from fault
