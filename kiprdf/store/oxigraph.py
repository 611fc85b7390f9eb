"""The embedded store: Oxigraph, in memory or in a folder."""

from __future__ import annotations

import logging
import math
import os
import shutil
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
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
    RdfFormat,
    Triple,
    Variable,
)
from pyoxigraph import Store as Engine

from kiprdf import budget, forks
from kiprdf.checksums import FileSums
from kiprdf.derived_file import copy_file
from kiprdf.errors import (
    DamagedGraphError,
    ReplacedError,
    StoreError,
    clear_frames,
)
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, decode
from kiprdf.sparql.abilities import EMBEDDED
from kiprdf.sparql.algebra import BGP, Select, TriplePattern
from kiprdf.sparql.text import render, render_update
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
    CommitNumber,
    Text,
    commit_note,
    note,
    read_commit_number,
    readable,
    rebuild_texts,
    record,
    remove_earlier_number,
    stored_texts,
    texts_in,
    texts_of,
    unreadable,
)
from kiprdf.store.cancellation import CancellationToken, is_any_abandoned, run_cancellable
from kiprdf.store.delta import UNKNOWN, Delta, Origin, Written, difference
from kiprdf.store.folder import (
    DAMAGED,
    FORMAT,
    FORMAT_NOTE,
    GRAPH,
    OPEN_ATTEMPTS,
    VECTORS,
    Claim,
    absolute,
    checked_base,
    convert,
    copied,
    damaged_file,
    graph_folder,
    identity,
    is_erasing,
    new_folder,
    notes_history,
    open_engine,
    open_folder,
    other_graph,
    remove_old_logs,
    require_base,
    require_rocksdb,
    write_afresh,
    write_manifest,
)
from kiprdf.store.guard import is_one_pattern
from kiprdf.store.journal import FOLDER as HISTORY
from kiprdf.store.journal import Journal, Sync, adopt, discard_prepared
from kiprdf.store.journal_files import Commit, decoded, rows_of
from kiprdf.store.lock import FairLock
from kiprdf.store.rebuilding import GAP, LOST, gap_record, quads_of, rebuild
from kiprdf.store.sorted_values import FOLDER as VALUES
from kiprdf.store.sorted_values import KEPT_COMMITS, Scope, SortedValues, ValueIndex
from kiprdf.store.sparql_worker import RecentChanges, SparqlAnswer, SparqlProcesses
from kiprdf.store.totals import FILE as TOTALS
from kiprdf.store.totals import Recent, Totals
from kiprdf.store.update_times import UPDATED_AT, Range, UpdateTimes

T = TypeVar("T")
_log = logging.getLogger("kiprdf")

READ_ATTEMPTS = 3
REOPEN_ATTEMPTS = 6
"""A write waits a third of a second for readers that began before a fault."""
FLUSHED_QUADS = 20_000
"""Written quads after which the log is flushed into tables, so that closing, and opening after a
crash, never take long."""
COPIED_QUADS = 500_000
"""The most quads of a graph that a reader copies into memory, to add the commits that it lacks."""
LOOKED_AFTER_SECONDS = 0.1
"""How often a query, or a write, looks whether files were touched."""
TRIED_AFTER_SECONDS = 10
"""How often a file is written to find out whether that is possible."""
COMPACTED_QUADS = 20_000
"""Removed quads after which an engine in memory may be compacted."""
_DEFAULT = DefaultGraph()
_ELEMENT, _TIME = Variable("x"), Variable("time")
_ALL_TIMES = render(
    Select((_TIME,), BGP((TriplePattern(_ELEMENT, UPDATED_AT, _TIME),)), distinct=True)
)

LOST_RECORDS = "The history lacks commits %s to %s of the nexus in %s: their records were lost."
_RESTORE = "restore a backup."


class Follower(Protocol):
    """What is derived from the dataset, and follows its commits."""

    def note(self, number: int, removed: Sequence[Written], added: Sequence[Written]) -> None:
        """Note what a commit removed and added; called under the writer's lock."""

    def clear(self) -> None:
        """Drop all of it, in files, too: it is made again when it is needed."""

    def close(self, number: int) -> None:
        """Write what is kept in files, as of the last commit."""


class OxigraphStore(OwnStore):
    """A dataset in an embedded Oxigraph.

    >>> store = OxigraphStore.memory()
    >>> store.commit()
    0
    """

    abilities = EMBEDDED
    is_shared = False
    location: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        engine: Engine,
        base: str,
        folder: Path | None = None,
        read_only: bool = False,
        claim: Claim | None = None,
        journal: Journal | None = None,
    ) -> None:
        super().__init__()
        self._engine = engine
        self._folder = folder
        self._identity: str | None = None
        """The identity of the files that a reader has opened."""
        self._claim = claim
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
        self._followers: tuple[Follower, ...] = (
            self.changes,
            self._update_times,
            self._totals,
            self._values,
        )
        if self._last.number == 0 and next(self._quads(None, None, None, None), None) is None:
            self._update_times.build(0, ())
            self._totals.set_uses(0, Counter())
            self._totals.set_recent(0, Recent(), Recent())
        forks.protect(self)

    @classmethod
    def memory(cls, base: str | None = None, history: bool = False) -> OxigraphStore:
        """A new store that lives as long as the process; its journal is in a temporary folder."""
        store = cls(Engine(), checked_base(vocab.DEFAULT_BASE if base is None else base))
        if history:
            files = tempfile.mkdtemp(prefix="kiprdf-")
            weakref.finalize(store, shutil.rmtree, files, ignore_errors=True)
            store.journal = Journal(Path(files))
        return store

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        base: str | None = None,
        read_only: bool = False,
        history: bool = False,
        sync: Sync = "normal",
    ) -> OxigraphStore:
        """The store in a folder, which is created if it is absent or empty.

        ``history`` writes a journal of the commits. Commits of a journal that the graph has lost
        are written again, with and without ``history``. Raises ``StoreError`` as ``open_folder``
        does.
        """
        path = absolute(folder)
        for attempt in range(OPEN_ATTEMPTS):
            opened = identity(path) if read_only else None
            store = cls._open_or_rebuild(path, base, read_only, history)
            store._identity = opened
            if read_only and store.journal is not None:
                store.journal.is_replaced = store._is_replaced
            if not store._is_replaced() or attempt == OPEN_ATTEMPTS - 1:
                break
            store.close()
            time.sleep(0.02 * attempt)
        store.sync = None if read_only else sync
        if store.sync == "full" and store.journal is not None:
            store.journal.sync()
        return store

    def _is_replaced(self) -> bool:
        """Whether a writer has replaced the files that this reader has open."""
        if not self.read_only or self._folder is None:
            return False
        return self._identity is None or identity(self._folder) != self._identity

    @classmethod
    def _open_or_rebuild(
        cls, path: Path, base: str | None, read_only: bool, history: bool
    ) -> OxigraphStore:
        try:
            return cls._open(path, base, read_only, history)
        except DamagedGraphError as fault:
            clear_frames(fault)
            if read_only and (path / HISTORY).is_dir():
                hint = f"Its history may have all of it: kiprdf check --nexus {path}"
            elif read_only or not rebuild(path):
                hint = "Its history does not have all of it: restore a backup."
            else:
                return cls._open(path, base, read_only, history)
            raise DamagedGraphError(f"{fault} {hint}") from None

    @classmethod
    def _open(cls, path: Path, base: str | None, read_only: bool, history: bool) -> OxigraphStore:
        claim: Claim | None = None
        journal: Journal | None = None
        try:
            if read_only and (path / HISTORY).is_dir():
                # Before the graph: a record of it that the graph lacks was lost, or is the last.
                journal = Journal(path / HISTORY, read_only)
            opened = open_folder(path, base, read_only, history)
            engine, chosen, format, claim = opened
            del opened
            require_base(engine, path, chosen)
            if format < FORMAT:
                convert(engine, path, chosen)
            if not read_only:
                remove_earlier_number(engine)
                (adopt if is_erasing(path) else discard_prepared)(path / HISTORY)
            store = cls(engine, chosen, path, read_only, claim)
            if (history and not read_only) or (path / HISTORY).is_dir():
                store._open_journal(journal or Journal(path / HISTORY, read_only), history)
            store._note_files()
            return store
        except BaseException:
            # The traceback keeps this frame, and must not keep the folder.
            claim = None
            raise

    def _open_journal(self, journal: Journal, history: bool) -> None:
        """Take a journal, and write again what the graph has lost of it; a reader in memory."""
        missing = 0 if self.lacks_number() else journal.last - self.commit()
        # A writer writes the record first: beside it, the last commit may just be happening.
        if missing > 0 and not (self.read_only and missing == 1 and journal.has_writer()):
            self._restore_commits(journal)
        elif missing < 0 and self.read_only:
            journal.refresh()
        if history and not (self.read_only or self.lacks_number()):
            self._note_gap(journal)
        if not self.read_only and journal.last:
            journal.mark(closed=journal.last < self.commit() or not history)
        if history or self.read_only:
            self.journal = journal
        else:
            self.closed_journal = journal

    def _restore_commits(self, journal: Journal) -> None:
        """Write the commits again that the graph has lost, in a reader to a copy in memory."""
        read_only, number = self.read_only, self.commit()
        lost = f"The graph of the nexus in {self._folder} lacks commits {number + 1} to"
        if read_only:
            if len(self._engine) > COPIED_QUADS:
                hint = f"restore them from its history: kiprdf check --nexus {self._folder}"
                raise StoreError(f"{lost} {journal.last}; {hint}")
            self._engine = copied(self._engine)
        self.read_only = False
        for commit in journal.commits(number, journal.last):
            if commit.first != self._last.number + 1:
                raise StoreError(f"{lost} {commit.first - 1}, and so does its history: {_RESTORE}")
            self._last = self._last._replace(number=commit.number - 1)
            self._apply(commit.delta(), is_recorded=True)
        self.read_only = read_only

    def _note_files(self) -> None:
        """Note the checksums of the files of the graph."""
        if self._sums is not None and not self.read_only:
            # A query that ran out of time may still have the engine open.
            self._sums.note(is_closed=self._closed and not is_any_abandoned())

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

    def _note_gap(self, journal: Journal) -> None:
        """Note in the journal what it lacks at its end; if the disk is full, the gap remains."""
        folder, number = self._folder, self.commit()
        assert folder is not None
        is_lost = notes_history(folder) and not journal.is_closed
        if journal.last < number and (journal.last or (is_lost and not journal.faults)):
            if is_lost:
                _log.warning(LOST_RECORDS, journal.last + 1, number, folder)
            triples, kind = self.match(None, None, None), LOST if is_lost else GAP
            try:
                commit = gap_record(journal, number, triples, self.records(), kind)
                if commit is not None:
                    journal.append(commit)
            except StoreError as fault:
                _log.warning("The gap in the history of %s is not recorded: %s", folder, fault)
        if journal.last and not notes_history(folder):
            graph = graph_folder(folder).name
            write_manifest(folder, self.iris.base, graph, is_erasing(folder), history=True)

    def lost_records(self) -> list[tuple[int, int]]:
        """The first and the last of commits whose records the history has lost."""
        journal, folder, number = self.journal, self._folder, self.commit()
        gaps = [] if journal is None else journal.gaps
        lost = [gap for gap in gaps if journal and journal.commit(gap[1]).origin.kind == LOST]
        last = 0 if journal is None else journal.last
        is_closed = self.closed_journal is not None or (journal is not None and journal.is_closed)
        if last < number and not is_closed and folder is not None and notes_history(folder):
            lost.append((last + 1, number))
        return lost

    @property
    def embedded(self) -> OxigraphStore:
        return self

    @property
    def folder(self) -> Path | None:
        """Where the store lives on disk, if it does."""
        return self._folder

    @property
    def index_folder(self) -> Path | None:
        """The same: the text index is beside the graph."""
        return self._folder

    def close(self) -> None:
        """Flush all writes and release the folder. Closing twice is fine."""
        self.require_own_process()
        if self._closed:
            return
        if self.failure is not None:
            # The disk may have room again since the write that failed.
            with self._lock:
                self._reopen()
        self._closed = True
        engine = self._engine
        try:
            self._processes.close()
            for follower in self._followers:
                follower.close(self._last.number)
            for journal in filter(None, (self.journal, self.closed_journal)):
                journal.close()
            if self._folder is not None and not self.read_only:
                engine.flush()
        except ENGINE_FAULTS as fault:
            message = f"The nexus in {self._folder} cannot be written: {fault}"
            raise StoreError(self.failure or message) from None
        finally:
            del self._engine, engine
            try:
                self._note_files()
            finally:
                self._claim = None

    def abandon(self) -> None:
        """Leave the folder to the process that this one was forked from."""
        if hasattr(self, "_engine"):
            forks.keep_forever(self._engine)
        self._claim = None

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
        return unreadable(fault)

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
            if not isinstance(object, NamedNode | Triple):
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
            with nullcontext() if self.read_only else self._lock:
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

    def _clear_derived(self) -> None:
        """Drop what is derived: the dataset is another one, or something was forgotten."""
        for follower in self._followers:
            follower.clear()

    def has_sound_values(self, repair: bool) -> bool:
        """Whether the files of sorted values are as they were written; ``repair`` removes them."""
        return self._values.is_sound(repair)

    def _values_of(self, key: NamedNode) -> Iterator[tuple[str, Any]]:
        for quad in self._quads(None, key, None, _DEFAULT):
            yield cast(NamedNode, quad.subject).value, quad.object

    def _changes_after(self, number: int) -> Iterator[tuple[int, Sequence[Any], Sequence[Any]]]:
        """The commits after one, as far as the journal has few and small ones."""
        journal, commit = self.journal, self.commit()
        if journal is None or commit > number + KEPT_COMMITS:
            return
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
        return [
            triple
            for triple in (*self.match(node, None, None), *self.match(None, None, node))
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
            # A write is running; it has happened when its number is in the graph.
            if commit_note(noted.number + 1) in engine:
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

    def renumber(self, above: int) -> int:
        """Give the last commit a number above another one, and return it."""
        with self.writing():
            journaled = 0 if self.journal is None else self.journal.last
            self._last = self._last._replace(number=max(above, journaled))
            return self.apply(Delta())

    def records(self) -> dict[str, str]:
        records: dict[str, str] = {}
        for quad in self._quads(None, None, None, vocab.BOOKKEEPING):
            if quad.predicate.value.startswith(RECORD):
                key = decode(quad.predicate.value[len(RECORD) :])
                records[key] = cast(Literal, quad.object).value
        return records

    def read(self, function: Callable[[], T]) -> T:
        self._require_open()
        if self.read_only:
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

    def fault_of_files(self) -> str | None:
        """Why the folder could not be opened again, which the open engine does not notice."""
        if self._folder is None or self.read_only:
            return None
        try:
            open_engine(self._folder, read_only=True)
        except StoreError as fault:
            return str(fault)
        return None

    def has_right_texts(self) -> bool:
        """Whether the stored texts are those of the values."""
        return set(stored_texts(self.engine)) == set(texts_in(self.engine))

    def rebuild_texts(self) -> None:
        """Write the texts of all values again."""
        with self.writing():
            rebuild_texts(self.engine)

    # Copying ----------------------------------------------------------------------------------

    def copy(self) -> OxigraphStore:
        """A copy in memory, as of one commit."""
        # An iterator sees one state as long as it lives.
        return OxigraphStore(copied(budget.paced(iter(self.engine))), self.iris.base)

    def backup(self, folder: str | os.PathLike[str], history: bool = True) -> None:
        """Copy the store into a folder, which is absent or empty, as of one commit.

        The vectors of texts are copied, and the journal, too, unless ``history`` is false. Readers
        do not wait, and writers hardly wait for a folder. The copy is complete or absent. Raises
        ``StoreError``: ``ReplacedError`` in a reader whose files a writer has replaced.
        """
        self._require_open()
        target = absolute(folder)
        require_rocksdb(target)
        with new_folder(target) as copy:
            journal = (self.journal or self.closed_journal) if history else None
            is_noted = self._folder is not None and notes_history(self._folder)
            is_noted = history and (is_noted or journal is not None)
            write_manifest(copy, self.iris.base, history=is_noted)
            with nullcontext() if self.read_only else self.writing():
                if journal is not None:
                    journal.copy(copy / HISTORY, self.commit())
                # An iterator sees one state as long as it lives.
                quads = iter(self.engine)
                if self._folder is not None and not self.read_only:
                    self.engine.flush()
                    # RocksDB links the files that never change.
                    self.engine.backup(str(copy / GRAPH))
            if not (copy / GRAPH).exists():
                engine = Engine(str(copy / GRAPH))
                engine.bulk_extend(quads)
                engine.flush()
            if self._folder is not None:
                copy_file(self._folder / VECTORS, copy / VECTORS)
            if self._is_replaced():
                message = f"The nexus in {self._folder} was rewritten meanwhile, or forgetting was"
                raise ReplacedError(f"{message} interrupted: open it again, once for writing.")

    # Writing ----------------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[Any]:
        self.require_own_process()
        if self.read_only:
            raise StoreError("The nexus is open read-only.")
        return self._lock

    def write(self, function: Callable[[], T]) -> T:
        with self.writing():
            return function()

    def apply(self, delta: Delta) -> int:
        with self.writing():
            number = self.commit() + 1
            try:
                return self._apply(delta)
            except StoreError as fault:
                # After an error RocksDB refuses all writes until it is opened again.
                if self.failure is None or not self._reopen(fault):
                    raise
            return number if self.commit() == number else self._apply(delta)

    def _reopen(self, fault: BaseException | None = None) -> bool:
        """Open the graph again, for all threads; False if it cannot be written yet.

        Meanwhile readers read the same files; those that began before end first.
        """
        if fault is not None:
            clear_frames(fault)
        number, journal = self._last.number, self.journal
        try:
            if self._folder is None:
                return False
            self._engine = open_engine(self._folder, read_only=True, attempts=1)
            remove_old_logs(self._folder)
            self._sums = None
            self._engine = open_engine(self._folder, read_only=False, attempts=REOPEN_ATTEMPTS)
            self._last = read_commit_number(self._engine)
            if self._last.number != number:
                self._clear_derived()
            if journal is not None and journal.last > self._last.number:
                self._restore_commits(journal)
        except StoreError:
            return False
        finally:
            if self._sums is None and self._folder is not None:
                self._sums = FileSums(graph_folder(self._folder))
        self._note_files()
        self.failure = None
        return self._last.number >= number

    def require_writable_files(self) -> None:
        """Raise ``StoreError`` if the folder cannot be written.

        A file is written to find out, unless one was written in the last ten seconds.
        """
        assert self._folder is not None
        if self.failure is not None:
            with self.writing():
                if self.failure is not None and not self._reopen():
                    raise StoreError(self.failure)
        if time.monotonic() < self._tried_at + TRIED_AFTER_SECONDS:
            return
        try:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                file.write(bytes(4096))
            self._tried_at = time.monotonic()
        except OSError as fault:
            raise StoreError(f"The nexus cannot be written: {fault.strerror}.") from None

    def _apply(self, delta: Delta, *, is_recorded: bool = False) -> int:
        """Write a commit; ``failure`` says from then on why that failed, or None.

        ``is_recorded`` says that its record is in the journal.
        """
        engine = self.engine
        self.require_sound_files()
        before = self._last if self._last.is_certain else read_commit_number(engine)
        number = before.number + 1
        self._totals.load(before.number, self._changes_after)
        notes = [commit_note(number)]
        if number == 1:
            notes.append(FORMAT_NOTE)
            notes.append(note(vocab.BASE, Literal(self.iris.base)))
            # There are no earlier ones, which would have to be removed.
            notes += [note(record(key), Literal(text)) for key, text in delta.records.items()]
        only_adds = not (delta.removed or (delta.records and number > 1))
        rows = rows_of(delta.added) if only_adds else None
        journal = None if is_recorded else self.journal
        self._last = before._replace(is_certain=False)
        earlier: Sequence[Quad] = ()
        try:
            if journal is not None:
                self._note_in_journal(journal, number, delta, rows)
            texts = texts_of(delta.removed), texts_of(delta.added)
            if rows is None:
                self._update(delta, texts, before.notes, notes)
            else:
                quads: list[Text | Quad] = [*texts[1], *notes]
                for subject, predicate, value, graph in quads:
                    rows.append(f"{subject!s} {predicate!s} {value!s} {graph!s} .")
                earlier = self._add(rows, before.notes)
            # A graph that has lost its log may accept a write without showing it.
            if notes[0] not in engine:
                raise OSError("the written quads are missing.")
        except BaseException as fault:
            self._tried_at = -math.inf
            # Only the graph shows whether the write has happened.
            with suppress(StoreError):
                self._last = read_commit_number(engine)
            if journal is not None and self._last.number < number:
                journal.drop(number)
            if isinstance(fault, ENGINE_FAULTS):
                error = unreadable(fault, "written")
                if self.failure is not None:  # then only readers have the files by now
                    error = StoreError(self.failure)
                if self._folder is not None:
                    self.failure = str(error)
                raise error from fault
            raise
        for follower in self._followers:
            follower.note(number, delta.removed, delta.added)
        self._last = CommitNumber(number, (notes[0], *earlier))
        self.failure = None
        if self._folder is not None:
            self._flush_after(len(delta.added) + len(delta.removed))
        else:
            self._compact_after(len(delta.removed) + len(before.notes))
        return number

    def _note_in_journal(
        self, journal: Journal, number: int, delta: Delta, rows: Sequence[str] | None = None
    ) -> None:
        """Append a commit to the journal, before it happens."""
        before = self.records() if delta.records else {}
        records = {key: (before.get(key), value) for key, value in delta.records.items()}
        journal.append(Commit(number, delta.origin, delta.removed, delta.added, records), rows)

    def flush(self) -> None:
        """Put all commits into the tables of the graph; the journal may lose them then."""
        try:
            self.engine.flush()
        except ENGINE_FAULTS as fault:
            # The readers that a fault has left cannot flush, which says nothing about the disk.
            self.failure = self.failure or str(unreadable(fault, "written"))
            if not self._reopen(fault):
                raise StoreError(self.failure) from None

    def _flush_after(self, written: int) -> None:
        """Flush the log into tables after enough writes; a failure does not undo them."""
        self._unflushed += written
        if self._unflushed >= FLUSHED_QUADS:
            with suppress(*ENGINE_FAULTS):
                self._engine.flush()
                self._note_files()
            self._unflushed = 0

    def _compact_after(self, removed: int) -> None:
        """Copy the dataset when more quads were removed from it than it has.

        An engine in memory never frees removed quads, which take some 400 bytes each.
        """
        self._uncompacted += removed
        if self._uncompacted < self._compacted_after:
            return
        size = len(self._engine)  # counts the quads one by one
        if self._uncompacted < size:
            self._compacted_after = size
            return
        # Readers of the old engine go on; it has the same quads.
        self._engine = copied(self._engine)
        self._uncompacted = 0
        self._compacted_after = COMPACTED_QUADS

    def _update(
        self,
        delta: Delta,
        texts: tuple[list[Text], list[Text]],
        earlier: Iterable[Quad],
        notes: Iterable[Quad],
    ) -> None:
        """Remove and add quads in one transaction."""
        removed: list[Written | Text | Quad] = [*delta.removed, *texts[0], *earlier]
        added: list[Written | Text | Quad] = [*delta.added, *texts[1], *notes]
        for key, value in delta.records.items():
            quad = note(record(key), Literal(value))
            removed += self._quads(quad.subject, quad.predicate, None, quad.graph_name)
            added.append(quad)
        self.engine.update(render_update(removed, added))

    def _add(self, rows: Iterable[str], earlier: Sequence[Quad]) -> Sequence[Quad]:
        """Add rows of N-Quads in one transaction.

        The earlier commit number is removed afterwards: until then, and after a crash, the higher
        one counts (docs/decisions/039). Returns the notes that could not be removed.
        """
        self.engine.load("\n".join(rows), RdfFormat.N_QUADS, lenient=True)
        try:
            for quad in earlier:
                self.engine.remove(quad)
        except ENGINE_FAULTS:
            # The write has happened; the next one tries again.
            return earlier
        return ()

    def replace(self, dataset: Engine, records: dict[str, str], origin: Origin = UNKNOWN) -> int:
        """Replace the whole dataset, as one commit, and return its number.

        ``dataset`` has a default graph only, and belongs to this store from now on. ``records`` are
        added to the existing ones. The lock is held.
        """
        with self.writing():
            if self._folder is not None:
                return self.apply(
                    difference(self.match(None, None, None), dataset, records, origin)
                )
            graph, number = vocab.BOOKKEEPING, self.commit() + 1
            if self.journal is not None:
                changes = difference(self.match(None, None, None), dataset, records, origin)
                self._note_in_journal(self.journal, number, changes)
            notes = {quad.predicate: quad.object for quad in self._quads(graph, None, None, graph)}
            notes |= {vocab.FORMAT: FORMAT_NOTE.object, vocab.BASE: Literal(self.iris.base)}
            notes |= {record(key): Literal(value) for key, value in records.items()}
            notes[vocab.COMMIT] = commit_note(number).object
            dataset.extend(Quad(graph, key, value, graph) for key, value in notes.items())
            dataset.extend(texts_in(dataset))
            # Readers of the old engine go on, and see by the commit number that it is old.
            self._last = self._last._replace(is_certain=False)
            self._engine = dataset
            self._last = CommitNumber(number, (commit_note(number),))
            self._clear_derived()
            self._build_update_times()
            return number

    # Writing afresh ---------------------------------------------------------------------------

    def rewrite(
        self, quads: Iterable[Quad] | None = None, prepare: Callable[[], object] | None = None
    ) -> None:
        """Write the dataset to fresh files, in which nothing is left of removed quads.

        ``quads`` are the dataset afterwards, with its notes; without them it stays as it is.
        ``prepare`` prepares the journal afterwards; then ``erased`` must be called when what is
        derived is erased, too. The change is complete or absent, also after a kill. The lock is
        held.
        """
        with self.writing():
            quads = iter(self.engine) if quads is None else quads
            journal = self.journal or self.closed_journal
            if self._folder is None:
                engine = copied(quads)
                if prepare is not None:
                    prepare()
            else:
                engine = write_afresh(self._folder, self.iris.base, quads, prepare)
            self._last = self._last._replace(is_certain=False)
            self._engine = engine
            self._last = read_commit_number(engine)
            self._clear_derived()
            self._unflushed = self._uncompacted = 0
            if prepare is not None and journal is not None:
                journal.adopt()
            if self._folder is not None:
                self._sums = FileSums(graph_folder(self._folder))
                self._note_files()
                shutil.rmtree(other_graph(self._folder), ignore_errors=True)

    def rebuild(self) -> bool:
        """Write the graph again from the journal; False where that lacks a commit."""
        with self.writing():
            journal = self.journal
            quads = None if journal is None else quads_of(journal, self.iris.base)
            if quads is None or journal is None or journal.last < self._last.number:
                return False
            self.rewrite(quads)
            return True

    @property
    def is_erasing(self) -> bool:
        """Whether derived files may still have what was forgotten."""
        return self._folder is not None and not self.read_only and is_erasing(self._folder)

    def erased(self) -> None:
        """Note that no file has what was forgotten."""
        self._clear_derived()
        if self._folder is not None:
            shutil.rmtree(self._folder / DAMAGED, ignore_errors=True)
            write_manifest(self._folder, self.iris.base, graph_folder(self._folder).name)


def _triples(store: OxigraphStore, engine: Engine, *pattern: Any) -> Iterator[Triple]:
    """The triples of a pattern; by itself, since another layer would slow small readings down."""
    try:
        for quad in engine.quads_for_pattern(*pattern):
            yield quad.triple
    except ENGINE_FAULTS as fault:
        raise store._unreadable(fault) from fault
