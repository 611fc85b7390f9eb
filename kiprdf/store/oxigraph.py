"""The embedded store: Oxigraph, in memory or in a folder, is opened, copied and written."""

from __future__ import annotations

import math
import os
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pyoxigraph import (
    Literal,
    Quad,
    RdfFormat,
)
from pyoxigraph import Store as Engine

from kiprdf import budget
from kiprdf.checksums import FileSums
from kiprdf.derived_file import copy_file
from kiprdf.errors import (
    DamagedGraphError,
    ReplacedError,
    StoreError,
    clear_frames,
)
from kiprdf.loading import Lazy, lazy_logger
from kiprdf.rdf import vocab
from kiprdf.sparql.text import render_update
from kiprdf.store import refusals
from kiprdf.store.bookkeeping import (
    ENGINE_FAULTS,
    CommitNumber,
    Text,
    commit_note,
    note,
    noted_by,
    read_commit_number,
    rebuild_texts,
    record,
    remove_earlier_notes,
    rewritten_note,
    stored_texts,
    texts_in,
    texts_of,
    unreadable,
)
from kiprdf.store.cancellation import is_any_abandoned
from kiprdf.store.delta import UNKNOWN, Delta, Origin, Written, difference
from kiprdf.store.folder import (
    DAMAGED,
    FORMAT,
    FORMAT_NOTE,
    GRAPH,
    OPEN_ATTEMPTS,
    VECTORS,
    FolderLock,
    absolute,
    checked_base,
    convert,
    copied,
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
from kiprdf.store.journal import FOLDER as HISTORY
from kiprdf.store.journal import Journal, Sync, adopt, discard_prepared, reading
from kiprdf.store.journal_files import Commit, decoded, link_of, rows_of
from kiprdf.store.oxigraph_reads import COMPACTED_QUADS, OxigraphReads
from kiprdf.store.proposals import FILE as PROPOSALS
from kiprdf.store.questions import FILE as QUESTIONS
from kiprdf.store.rebuilding import GAP, LOST, gap_record, quads_of, rebuild

if TYPE_CHECKING:
    import shutil
    import tempfile
else:
    shutil = Lazy("shutil")
    tempfile = Lazy("tempfile")


T = TypeVar("T")
_log = lazy_logger("kiprdf")

REOPEN_ATTEMPTS = 6
"""A write waits a third of a second for readers that began before a fault."""
FLUSHED_QUADS = 20_000
"""Written quads after which the log is flushed into tables, so that closing, and opening after a
crash, never take long."""
BULK_QUADS = 20_000
"""Quads from which on it is faster to write them to files of the graph than to its log."""
COPIED_QUADS = 500_000
"""The most quads of a graph that a reader copies into memory, to add the commits that it lacks."""
TRIED_AFTER_SECONDS = 10
"""How often a file is written to find out whether that is possible."""
LOST_RECORDS = "The history lacks commits %s to %s of the nexus in %s: their records were lost."
_RESTORE = "restore a backup."


class OxigraphStore(OxigraphReads):
    """A dataset in an embedded Oxigraph.

    >>> store = OxigraphStore.memory()
    >>> store.commit()
    0
    """

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
        folder_lock: FolderLock | None = None
        journal: Journal | None = None
        try:
            if read_only and (path / HISTORY).is_dir():
                # Before the graph: a record of it that the graph lacks was lost, or is the last.
                journal = Journal(path / HISTORY, read_only)
            opened = open_folder(path, base, read_only, history)
            engine, chosen, format, folder_lock = opened
            del opened
            require_base(engine, path, chosen)
            if format < FORMAT:
                convert(engine, path, chosen)
            if not read_only:
                remove_earlier_notes(engine)
                (adopt if is_erasing(path) else discard_prepared)(path / HISTORY)
            store = cls(engine, chosen, path, read_only, folder_lock)
            if (history and not read_only) or (path / HISTORY).is_dir():
                store._open_journal(journal or Journal(path / HISTORY, read_only), history)
            store._note_files()
            return store
        except BaseException:
            # The traceback keeps this frame, and must not keep the folder.
            folder_lock = None
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
        if not self.read_only and (journal.last or self.commit() == 0):
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
        with reading():
            lost_records = list(journal.records(number))
        for data in lost_records:
            commit = decoded(data)
            if commit.first != self._last.number + 1:
                raise StoreError(f"{lost} {commit.first - 1}, and so does its history: {_RESTORE}")
            self._last = self._last._replace(number=commit.number - 1)
            self._apply(commit.delta(), link_of(data))
        self.read_only = read_only

    def _note_files(self) -> None:
        """Note the checksums of the files of the graph."""
        if self._sums is not None and not self.read_only:
            # A query that ran out of time may still have the engine open.
            self._sums.note(is_closed=self._closed and not is_any_abandoned())

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
                    self._note_head(journal)
            except StoreError as fault:
                _log.warning("The gap in the history of %s is not recorded: %s", folder, str(fault))
        if journal.is_closed:
            # A kill may have come after the record of the gap, and before its note.
            self._note_missing_head(journal)
        if journal.last and not notes_history(folder):
            graph = graph_folder(folder).name
            write_manifest(folder, self.iris.base, graph, is_erasing(folder), history=True)

    def _note_head(self, journal: Journal) -> None:
        """Note the last record in the graph, where no commit does that."""
        noted = commit_note(journal.last, journal.head)
        try:
            self.engine.add(noted)
        except ENGINE_FAULTS as fault:
            raise unreadable(fault, "written") from fault
        # The next commit removes both.
        self._last = self._last._replace(notes=(*self._last.notes, noted))

    def _note_missing_head(self, journal: Journal) -> None:
        """Note the last record in the graph, if it is that of the last commit and none is noted."""
        last = self._last.number
        heads = {number: head for number, head in map(noted_by, self._last.notes) if head}
        if journal.last == last > 0 and last not in heads:
            self._note_head(journal)

    def adopt(self, journal: Journal) -> None:
        """Replace the files of the journal by those that it has prepared; the lock is held."""
        graph, noted = vocab.BOOKKEEPING, rewritten_note(journal.prepared.rewritten)
        try:
            earlier = list(self._quads(graph, vocab.REWRITTEN, None, graph))
            # A kill leaves both notes: one of them is that of the files.
            self.engine.add(noted)
            self.flush()
        except BaseException as fault:
            journal.discard()
            if isinstance(fault, ENGINE_FAULTS):
                raise unreadable(fault, "written") from fault
            raise
        journal.adopt()
        self._note_missing_head(journal)
        # What remains after a fault is removed by the next compaction.
        with suppress(*ENGINE_FAULTS):
            for quad in earlier:
                if quad != noted:
                    self.engine.remove(quad)

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
            for follower in self.followers:
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
                self._folder_lock = None

    # Checking ---------------------------------------------------------------------------------

    def has_sound_values(self, repair: bool) -> bool:
        """Whether the files of sorted values are as they were written; ``repair`` removes them."""
        return self._values.is_sound(repair)

    def renumber(self, above: int) -> int:
        """Give the last commit a number above another one, and return it."""
        with self.writing():
            journaled = 0 if self.journal is None else self.journal.last
            self._last = self._last._replace(number=max(above, journaled))
            return self.apply(Delta())

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
        copy = OxigraphStore(copied(budget.paced(iter(self.engine))), self.iris.base)
        copy.scope = self.scope
        return copy

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
            is_noted = history and (is_noted or bool(journal and journal.last))
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
                for name in (PROPOSALS, QUESTIONS):
                    with suppress(FileNotFoundError):
                        shutil.copyfile(self._folder / name, copy / name)
                refusals.copy(self._folder, copy)
            self.require_own_files()

    def require_own_files(self) -> None:
        """Raise ``ReplacedError`` in a reader whose files a writer has replaced."""
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
        if self.journal is not None and self.journal.failure is not None:
            raise StoreError(self.journal.failure)
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

    def _apply(self, delta: Delta, head: str | None = None) -> int:
        """Write a commit; ``failure`` says from then on why that failed, or None.

        ``head`` is the digest of its record, if that is in the journal.
        """
        engine = self.engine
        self.require_sound_files()
        before = self._last if self._last.is_certain else read_commit_number(engine)
        number = before.number + 1
        self._totals.load(before.number, self._changes_after)
        only_adds = not (delta.removed or (delta.records and number > 1))
        rows = rows_of(delta.added) if only_adds else None
        journal = self.journal if head is None else None
        self._last = before
        earlier: Sequence[Quad] = ()
        try:
            if journal is not None:
                self._note_in_journal(journal, number, delta, rows)
                head = journal.head
            noted = commit_note(number, head)
            self._last = before._replace(is_certain=False, next=noted)
            notes = [noted]
            if number == 1:
                notes += [FORMAT_NOTE, note(vocab.BASE, Literal(self.iris.base))]
                # There are no earlier ones, which would have to be removed.
                notes += [note(record(key), Literal(text)) for key, text in delta.records.items()]
            texts = texts_of(delta.removed), texts_of(delta.added)
            if rows is None:
                self._update(delta, texts, before.notes, notes)
            else:
                quads: list[Text | Quad] = [*texts[1], *notes]
                for subject, predicate, value, graph in quads:
                    rows.append(f"{subject!s} {predicate!s} {value!s} {graph!s} .")
                # A kill leaves no part of the files, and the record in the journal is complete.
                is_large = self._folder is not None and head is not None
                is_large = is_large and len(delta.added) > BULK_QUADS
                earlier = self._add(rows, before.notes, is_large=is_large)
            # A graph that has lost its log may accept a write without showing it.
            if noted not in engine:
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
        for follower in self.followers:
            follower.note(number, delta.removed, delta.added)
        self._last = CommitNumber(number, (noted, *earlier))
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
        self._sync_records()
        try:
            self.engine.flush()
        except ENGINE_FAULTS as fault:
            # The readers that a fault has left cannot flush, which says nothing about the disk.
            self.failure = self.failure or str(unreadable(fault, "written"))
            if not self._reopen(fault):
                raise StoreError(self.failure) from None

    def _sync_records(self) -> None:
        """Put the records of what the graph has on the disk, before it is there itself."""
        if self.journal is not None:
            self.journal.sync_appended()

    def _flush_after(self, written: int) -> None:
        """Flush the log into tables after enough writes; a failure does not undo them."""
        self._unflushed += written
        if self._unflushed >= FLUSHED_QUADS:
            # The call that waits for the records raises what their sync does.
            with suppress(*ENGINE_FAULTS, StoreError):
                self._sync_records()
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

    def _add(
        self, rows: Iterable[str], earlier: Sequence[Quad], *, is_large: bool
    ) -> Sequence[Quad]:
        """Add rows of N-Quads in one transaction, or as files, which are added as a whole, too.

        The notes of the earlier commit are removed afterwards: until then, and after a crash, the
        higher number counts (docs/decisions/039). Returns those that could not be removed.
        """
        if is_large:
            # The files are on the disk at once: what was written before must not come later.
            self._sync_records()
            self.engine.flush()
        add = self.engine.bulk_load if is_large else self.engine.load
        add("\n".join(rows), RdfFormat.N_QUADS, lenient=True)
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
            last = commit_note(number, None if self.journal is None else self.journal.head)
            notes.pop(vocab.COMMIT, None)
            dataset.extend(Quad(graph, key, value, graph) for key, value in notes.items())
            dataset.add(last)
            dataset.extend(texts_in(dataset))
            # Readers of the old engine go on, and see by the commit number that it is old.
            self._last = self._last._replace(is_certain=False, next=last)
            self._engine = dataset
            self._last = CommitNumber(number, (last,))
            self._clear_derived()
            self._build_update_times()
            return number

    # Writing afresh ---------------------------------------------------------------------------

    def rewrite(
        self, quads: Iterable[Quad] | None = None, prepare: Callable[[], object] | None = None
    ) -> None:
        """Write the dataset to fresh files, in which nothing is left of removed quads.

        ``quads`` are the dataset afterwards, with its notes; without them it stays as it is.
        ``prepare`` prepares the journal first; then ``erased`` must be called when what is
        derived is erased, too. The change is complete or absent, also after a kill. The lock is
        held.
        """
        with self.writing():
            self._sync_records()
            quads = iter(self.engine) if quads is None else quads
            journal = self.journal or self.closed_journal
            if self._folder is None:
                if prepare is not None:
                    prepare()
                engine = copied(quads)
            else:
                engine = write_afresh(self._folder, self.iris.base, quads, prepare)
            self._last = self._last._replace(is_certain=False, next=None)
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
