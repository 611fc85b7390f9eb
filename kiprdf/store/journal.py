"""The journal of a nexus: what each commit removed and added, in the order of the commits.

A record is appended before the graph's transaction. So the journal is a write-ahead log as well:
records that the graph lacks after a crash are written to it again (docs/decisions/059).

::

    history/000001.klog   the last records
    history/000000.kseg   earlier ones, compressed, with the SHA-256 of the file before
    history/closed        the graph is written without the journal
    history/statements.jsonl  the outlines of the statements
    history/index.sqlite3     which commits mention what; derived, made when it is asked for
"""

from __future__ import annotations

import errno
import hashlib
import io
import itertools
import json
import os
import sys
import threading
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, TypeVar

from pyoxigraph import Quad

from kiprdf.checksums import NOTE, drop_note, is_as_noted, note
from kiprdf.dataclasses import dataclass
from kiprdf.errors import ReplacedError, StoreError, UnsyncedError
from kiprdf.loading import Lazy, lazy_logger
from kiprdf.rdf.iris import Iris
from kiprdf.store.bookkeeping import commit_note, rewritten_note
from kiprdf.store.commit_index import CommitIndex, remove_index
from kiprdf.store.delta import Written
from kiprdf.store.journal_files import (
    FRAME_HEADER,
    NOTHING,
    Commit,
    Sealed,
    decoded,
    digest_of,
    encoded,
    extended,
    framed,
    frames_of,
    joined,
    link_of,
    links_of,
    number_of,
    records_in,
    seal,
    sync_folder,
    time_of,
)

if TYPE_CHECKING:
    import shutil
else:
    shutil = Lazy("shutil")

T = TypeVar("T")
Sync = Literal["normal", "full"]
"""When a commit is on the disk: when the system writes it, or before the answer."""
FOLDER = "history"
PAST = "past-"
"""What the names of temporary copies of the graph begin with, in the same folder."""
NEXT = ".next"
"""What the names of files end with that are prepared, and not yet those of the journal."""
STATEMENTS = "statements.jsonl"
"""The name of the file of the outlines."""
READ_ATTEMPTS = 8
"""How often a reader begins to read the files while a writer replaces them."""
SEALED_BYTES = 4 * 1024**2
"""The size from which the file of the last records is sealed."""
CLOSED = "closed"
"""The name of the file that says that the graph is written without the journal."""
_COMPACTED = "The history was compacted meanwhile; open the nexus again."
_TEXTS_LOST = f"The file {STATEMENTS} of the history is damaged: texts of statements are lost."
_REPAIR_TEXTS = (
    "Restore a backup; or show the others without them: kiprdf check --repair --nexus FOLDER"
)
_log = lazy_logger("kiprdf")


class Anchor(NamedTuple):
    """What the graph notes of the records: the number and the digest of the last one, and a digest
    of all that were written in the place of others; "" without any."""

    number: int
    head: str
    rewritten: str

    def notes(self, number: int) -> list[Quad]:
        """The quads that note it, and the last commit of the graph."""
        quads = [commit_note(number, self.head if self.number == number else None)]
        return [*quads, rewritten_note(self.rewritten)] if self.rewritten else quads


NO_RECORDS = Anchor(0, NOTHING, "")
"""What the graph notes of a journal without records."""


class _Anchoring:
    """The anchor of records while they pass."""

    def __init__(self) -> None:
        self._last = b""
        self._rewritten = ""

    def seen(self, records: Iterable[bytes]) -> Iterator[bytes]:
        for data in records:
            self._last = data
            if links_of(data).replaced:
                self._rewritten = extended(self._rewritten, data)
            yield data

    def anchor(self) -> Anchor:
        if not self._last:
            return NO_RECORDS
        return Anchor(number_of(self._last), link_of(self._last), self._rewritten)


@dataclass(slots=True)
class _Log:
    """The file of the last records: their numbers, where their frames begin, and its size."""

    path: Path
    numbers: list[int]
    offsets: list[int]
    size: int


class Journal:
    """The records of a folder; the writer's lock is held by whoever appends.

    ``faults`` are sentences about damaged files, ``index`` finds commits by what they mention.
    Raises ``StoreError`` where the folder cannot be read.

    >>> import tempfile
    >>> from kiprdf.store.delta import Origin
    >>> journal = Journal(Path(tempfile.mkdtemp()))
    >>> journal.append(Commit(1, Origin("2026-01-01T00:00:00.000Z", "UPSERT")))
    >>> [commit.origin.kind for commit in journal.commits(after=0, until=1)]
    ['UPSERT']
    """

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self._folder = folder
        self._read_only = read_only
        self.missing: list[str] = []
        self._file: io.FileIO | None = None
        """The log, open to be written."""
        self._broken = self._syncs = False
        self._sync_lock = threading.Lock()
        """Held while records are synced, and where the file is replaced."""
        self._appended = self._synced = 0
        """How many records were appended, and how many of them are on the disk."""
        self.failure: str | None = None
        """Why the last sync failed, after which nothing is appended."""
        self._unsealed: Path | None = None
        """The log that could not be sealed, which is said once."""
        self._head: str | None = None
        self.prepared = NO_RECORDS
        """What anchors the files that were prepared last."""
        self._begun = 0
        """The first commit of the record that was appended last, or was not finished."""
        self._time = ""
        self._statements: dict[str | None, str] | None = None
        self.index = CommitIndex(folder, read_only)
        self.is_replaced: Callable[[], bool] = lambda: False
        """Whether the files are by now those of another graph, which a reader does not have."""
        self.dependents: list[Callable[[], None]] = []
        """What drops that which was made of the records, when they are replaced, or closed."""
        # Records that are asked for one by one are often in one block.
        self._block = lru_cache(maxsize=2)(Sealed.block)
        try:
            if not read_only:
                folder.mkdir(parents=True, exist_ok=True)
            self._read_again() if read_only else self._read()
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or fault
            raise StoreError(f"The history in {folder} cannot be read: {reason}.") from None

    def _read_again(self) -> None:
        """Read what files there are by now, while a writer may replace them."""
        for attempt in range(READ_ATTEMPTS):
            try:
                self._read()
                break
            except FileNotFoundError:
                if attempt == READ_ATTEMPTS - 1:
                    raise

    def _read(self) -> None:
        """Read what files there are, and cut a torn tail off.

        Raises ``ReplacedError``, and keeps what was read before, if they are those of another
        graph.
        """
        unreadable: dict[str, str] = {}
        segments: list[Sealed] = []
        # The logs come first: one that is sealed meanwhile is among the sealed files then.
        logs = sorted(self._folder.glob("*.klog"))
        sealed = sorted(self._folder.glob("*.kseg"))
        for path in sealed:
            try:
                segment = Sealed(path)
            except (ValueError, KeyError) as fault:
                unreadable[path.stem] = f"The file {path.name} of the history is damaged: {fault}"
                continue
            # A kill may leave files that this one replaces.
            segments = [segment] if segment.is_first else [*segments, segment]
        begin = segments[0].path.stem if segments and segments[0].is_first else ""
        faults = [fault for stem, fault in unreadable.items() if stem > begin]
        done = {segment.path.stem for segment in segments}
        number = max((int(path.stem) for path in (*sealed, *logs)), default=0)
        # A kill between sealing a log and removing it leaves both.
        open_logs = [path for path in logs if path.stem not in done and path.stem > begin]
        current = open_logs[-1] if open_logs else None
        path = current or self._folder / f"{number + 1:06d}.klog"
        present = {int(file.stem) for file in (*sealed, path) if file.stem >= begin}
        numbers = range(int(begin or 1), max(present))
        text = current.read_bytes() if current is not None else b""
        frames = frames_of(text)
        if frames.damaged:
            records = "1 record" if frames.damaged == 1 else f"{frames.damaged} records"
            verb = "is" if frames.damaged == 1 else "are"
            faults.append(f"{records} of the file {path.name} of the history {verb} damaged.")
        if self.is_replaced():
            raise ReplacedError("The nexus was rewritten meanwhile; open it again.")
        self.faults = faults
        self.missing = [
            f"The file {number:06d}.kseg of the history is missing."
            for number in numbers
            if number not in present
        ]
        runs = [run for segment in segments for run in segment.runs]
        self._runs = joined(runs, frames.spans)
        sealed_gaps = [gap for segment in segments for gap in segment.gaps]
        self.gaps = [*sealed_gaps, *frames.gaps]
        """The first and the last commit of each record of what was written without it."""
        offsets = [start - FRAME_HEADER for start, _ in frames.places]
        # Read as one, since a writer may seal the log meanwhile.
        self._files = segments, _Log(path, frames.numbers, offsets, frames.end)
        self._head = None
        last = [text[start:end] for start, end in frames.places[-1:]]
        self._time = time_of(*last) if last else self._time_of_sealed()
        if self._read_only:
            return
        replaced = [path for path in sealed if path.stem < begin]
        closed = [log for log in logs if log != current]
        for path in (*self._folder.glob("*.partial"), *closed, *replaced):
            path.unlink()
        for past in self._folder.glob(f"{PAST}*"):
            shutil.rmtree(past, ignore_errors=True)
        if len(text) > frames.end:
            with path.open("r+b") as file:
                file.truncate(frames.end)

    def refresh(self) -> None:
        """Read the files again, which a writer has changed."""
        with reading():
            self._read_again()

    def has_writer(self) -> bool:
        """Whether another process, or another store of this one, is writing to the journal."""
        with suppress(OSError), self._files[1].path.open("rb") as file:
            return not _lock(file, exclusive=False)
        return False

    def _time_of_sealed(self) -> str:
        """The time of the last record in a sealed file."""
        *_, last = b"", *self.records(self.last - 1)
        return time_of(last) if last else ""

    @property
    def head(self) -> str:
        """What the next record has as ``previous``."""
        if self._head is not None:
            return self._head
        # Not kept: whoever reads it does not have the lock, and a record may be appended meanwhile.
        *_, last = b"", *self.records(self.last - 1)
        return link_of(last) if last else NOTHING

    def anchor(self) -> Anchor:
        """What anchors the records; each of them is read."""
        anchoring = _Anchoring()
        deque(anchoring.seen(self.records()), maxlen=0)
        return anchoring.anchor()

    @property
    def last(self) -> int:
        """The number of the last record; 0 without any."""
        return self._runs[-1][1] if self._runs else 0

    def earliest(self, number: int) -> int:
        """The first commit from which all records up to a commit are there."""
        for first, last in reversed(self._runs):
            if first <= number <= last:
                return first if first == self.base else first - 1
        return number

    def begin(self, until: int) -> int | None:
        """The number above which records lead from nothing to a commit; None where some lack.

        A record of the whole dataset may be the first of them.
        """
        earliest = self.earliest(until)
        return max(0, earliest - 1) if earliest in (0, self.base) else None

    def from_nothing(self, until: int) -> Iterator[Commit] | None:
        """The commits from an empty dataset up to a number; None where the first ones are missing.

        A record of the whole dataset may be the first of them.
        """
        begin = self.begin(until)
        return None if begin is None else self.commits(begin, until)

    @property
    def base(self) -> int | None:
        """The commit whose record is the whole dataset, if the history was compacted."""
        sealed, _ = self._files
        return sealed[0].runs[0][0] if sealed and sealed[0].has_base else None

    @property
    def version(self) -> str:
        """Another text whenever all records were replaced by others."""
        sealed, _ = self._files
        return sealed[0].path.stem if sealed and sealed[0].is_first else ""

    @property
    def is_closed(self) -> bool:
        """Whether the graph has been written without the journal since its last record."""
        return (self._folder / CLOSED).exists()

    def mark(self, *, closed: bool) -> None:
        """Note whether the graph is written without the journal from now on."""
        path = self._folder / CLOSED
        try:
            path.touch() if closed else path.unlink(missing_ok=True)
        except OSError as fault:
            raise StoreError(f"The history cannot be written: {fault.strerror}.") from None

    def gap_at(self, number: int) -> tuple[int, int] | None:
        """The first and the last of the commits without a record of which a commit is one."""
        return next(((a, b) for a, b in self.gaps if a <= number < b), None)

    @property
    def has_gap(self) -> bool:
        """Whether commits have no record."""
        runs = itertools.pairwise(self._runs)
        return bool(self.gaps) or any(one[1] + 1 != other[0] for one, other in runs)

    # Writing ----------------------------------------------------------------------------------

    def append(self, commit: Commit, rows: Sequence[str] | None = None) -> None:
        """Append a record; nothing is written if that raises ``StoreError``.

        The time that is recorded never falls, even if the clock does. ``rows`` are the triples as
        N-Triples, where they are written already.
        """
        # Only what has not happened has its number given again.
        self.drop(commit.first)
        if self._broken or commit.first <= self.last:
            error = StoreError(self.failure or "The history could not be corrected.")
            error.hint = "Open the nexus again."
            raise error
        if self._files[1].size >= SEALED_BYTES:
            self._seal_log()
        log = self._files[1]
        if commit.origin.at < self._time:
            commit = replace(commit, origin=commit.origin._replace(at=self._time))
        data = encoded(commit, rows, self.head)
        frame = framed(data)
        self._begun = commit.first
        try:
            if self._file is None:
                self._file = _locked(io.FileIO(log.path, "ab"))
            self._cut()
            if self._file.write(frame) != len(frame):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._appended += 1
            if self._syncs and log.size == 0:
                sync_folder(self._folder)
            awaited = _awaited.get()
            if awaited is None:
                self.sync_appended()
            elif self._syncs:
                awaited.add(self)
            # In the order that `drop` takes back, wherever an interrupt comes.
            log.offsets.append(log.size)
            log.numbers.append(commit.number)
            log.size += len(frame)
            self._time = commit.origin.at
            self._head = digest_of(data)
            if commit.since is not None:
                self.gaps = [*self.gaps, (commit.first, commit.number)]
            self._runs = joined(self._runs, [(commit.first, commit.number)])
        except BaseException as fault:
            self.drop(commit.first)
            if not isinstance(fault, OSError):
                raise
            reason = fault.strerror or fault
            raise StoreError(f"The history cannot be written: {reason}.") from fault

    def sync(self) -> None:
        """Put all records on the disk, and from now on each one that is appended."""
        self._syncs = True
        try:
            with suppress(FileNotFoundError), io.FileIO(self._files[1].path, "rb+") as file:
                _sync(file)
        except OSError as fault:
            raise StoreError(f"The history cannot be written: {fault.strerror}.") from None
        for folder in (self._folder, *self._folder.absolute().parents[:2]):
            sync_folder(folder)

    def sync_appended(self) -> None:
        """Put the records that were appended on the disk, if each of them has to be there.

        Threads that come while one does that have theirs put there together. After a failure
        nothing is appended any more: the graph has what may not be on the disk.
        """
        appended = self._appended
        if not self._syncs or self._synced >= appended:
            return
        with self._sync_lock:
            if self._synced >= appended:
                return
            appended = self._appended
            try:
                if self._broken or self._file is None:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                self._sync_file(self._file)
            except OSError as fault:
                self._broken = True
                reason = fault.strerror or fault
                raise UnsyncedError(f"The write may not be on the disk: {reason}.") from None
            self._synced = appended

    def _sync_file(self, file: io.FileIO) -> None:
        """Sync the log; the lock of that is held."""
        try:
            _sync(file)
        except OSError as fault:
            # The system says it once: the next sync would not say what this one has lost.
            self._broken = True
            self.failure = f"The history cannot be written: {fault.strerror or fault}."
            raise

    def note_statement(self, text: str) -> str | None:
        """Write the outline of a statement, once, and return its digest.

        Nothing depends on it, so a full disk is not an error: then it has none.
        """
        digest = digest_of_text(text)
        statements = self.statements()
        if digest not in statements:
            # The break comes first: it ends a line that an earlier fault has left incomplete.
            line = b"\n" + json.dumps(text, ensure_ascii=False).encode()
            with suppress(OSError), io.FileIO(self._folder / STATEMENTS, "ab") as file:
                if file.write(line) == len(line):
                    if self._syncs:
                        _sync(file)
                    _keep(statements, text)
        return digest if digest in statements else None

    def statements(self) -> dict[str | None, str]:
        """The outlines of statements by their digests; lines that are damaged are left out.

        In records that were written before there was a chain, a digest has 16 digits.
        """
        if self._statements is None or self._read_only:
            self._statements = {}
            with suppress(FileNotFoundError):
                for line in (self._folder / STATEMENTS).read_bytes().split(b"\n"):
                    with suppress(ValueError):
                        _keep(self._statements, str(json.loads(line)))
        return self._statements

    def drop(self, number: int) -> None:
        """Remove the record that was appended last, if this is its first commit.

        That may be interrupted, as the appending was, and is complete when it is repeated.
        """
        if number != self._begun:
            return
        self._head = None
        log = self._files[1]
        kept = bisect_left(log.numbers, number)
        log.size = log.offsets[kept] if kept < len(log.offsets) else log.size
        del log.offsets[kept:], log.numbers[kept:]
        self.gaps = [gap for gap in self.gaps if gap[0] < number]
        self._runs = [
            (first, min(last, number - 1)) for first, last in self._runs if first < number
        ]
        with suppress(OSError):
            self._cut()

    def _cut(self) -> None:
        """Remove from the file what is behind the last record."""
        size = self._files[1].size
        if self._file is not None and os.fstat(self._file.fileno()).st_size > size:
            self._file.truncate(size)
            if self._syncs:
                with self._sync_lock:
                    self._sync_file(self._file)

    def _seal_log(self) -> None:
        """Compress the file of the last records and begin another; a full disk is not an error."""
        segments, log = self._files
        sealed = log.path.with_suffix(".kseg")
        try:
            text = log.path.read_bytes()[: log.size]
            previous = segments[-1].hash() if segments else NOTHING
            frames = frames_of(text)
            seal(sealed, (text[start:end] for start, end in frames.places), previous)
            segment = Sealed(sealed)
            with self._sync_lock:
                self._close_log()
                self._synced = self._appended
            self._files = [*segments, segment], _Log(self._path_after(log), [], [], 0)
        except BaseException as fault:
            # A log beside its sealed file is not read again, and would get further records.
            if self._files[1] is log:
                with suppress(OSError):
                    sealed.unlink(missing_ok=True)
            if not isinstance(fault, OSError | ValueError):
                raise
            if self._unsealed != log.path:
                # Not the fault itself: it refers to the graph, and a handler may keep the record.
                reason = str(fault)
                _log.warning("The file %s of the history is not sealed: %s", log.path, reason)
            self._unsealed = log.path
            return
        with suppress(OSError):
            log.path.unlink()

    def _path_after(self, log: _Log) -> Path:
        return self._folder / f"{int(log.path.stem) + 1:06d}.klog"

    def prepare(
        self,
        records: Iterable[bytes],
        keeps: Callable[[str | None, str], bool],
        *,
        has_base: bool = False,
    ) -> None:
        """Write files that replace all of the journal as soon as they are adopted.

        ``keeps`` says of which digests and outlines of statements remain.
        """
        self.require_statements()
        sealed = self._path_after(self._files[1]).with_suffix(f".kseg{NEXT}")
        anchoring = _Anchoring()
        try:
            seal(sealed, anchoring.seen(records), NOTHING, is_first=True, has_base=has_base)
            self.prepared = anchoring.anchor()
            kept = [text for digest, text in self.statements().items() if keeps(digest, text)]
            texts = dict.fromkeys(kept)
            lines = "".join(f"\n{json.dumps(text, ensure_ascii=False)}" for text in texts)
            (self._folder / f"{STATEMENTS}{NEXT}").write_text(lines, "utf-8")
        except BaseException as fault:
            discard_prepared(self._folder)
            if not isinstance(fault, OSError):
                raise
            reason = fault.strerror or fault
            raise StoreError(f"The history cannot be written: {reason}.") from fault

    def discard(self) -> None:
        """Remove the files that were prepared."""
        discard_prepared(self._folder)

    def require_statements(self) -> None:
        """Raise ``StoreError`` if texts of statements are damaged: they would be left out."""
        if not is_as_noted(self._folder / STATEMENTS):
            raise StoreError(f"{_TEXTS_LOST} {_REPAIR_TEXTS}")

    def has_sound_statements(self) -> bool:
        """Whether no byte of the texts of statements has changed since they were noted."""
        return is_as_noted(self._folder / STATEMENTS, every_byte=True)

    def verify_statements(self, repair: bool) -> list[str]:
        """A sentence if texts of statements are damaged; ``repair`` keeps the others."""
        path = self._folder / STATEMENTS
        repair = repair and not self._read_only
        if self.has_sound_statements():
            return []
        if repair:
            path.touch()
            drop_note(path)
            note(path)
        return [f"{_TEXTS_LOST} {'The others are kept.' if repair else _REPAIR_TEXTS}"]

    def adopt(self) -> None:
        """Replace all earlier files by the prepared ones."""
        with self._sync_lock:
            self._close_log()
            self._synced = self._appended
        self._broken = True
        with self.index.replaced():
            adopt(self._folder)
            self._statements = None
            self._read()
            # Last: with the files before, nobody copies the note of this one.
            note(self._folder / STATEMENTS)
        self._broken, self.failure = False, None
        self._drop_dependents()

    def _drop_dependents(self) -> None:
        for drop in self.dependents:
            drop()

    def close(self) -> None:
        """Close the files."""
        self._drop_dependents()
        try:
            log = self._files[1]
            if self.failure is not None and log.size and _is_intact(log):
                # What the system keeps of a file after a failed sync is not known; this is another.
                self._seal_log()
            elif not self._broken:
                self.sync_appended()
        finally:
            self._close_log()
        if not self._read_only:
            note(self._folder / STATEMENTS)
        self.index.close()

    def _close_log(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    # Reading ----------------------------------------------------------------------------------

    def indexed(
        self, until: int, iris: Iris, sources: Callable[[], Iterable[Written]]
    ) -> CommitIndex:
        """The index of the commits up to a number; raises ``StoreError`` for a damaged record.

        ``sources`` are the triples of the dataset that name a source.
        """
        with reading():
            self.index.catch_up(self.records, self.earliest(until), until, iris, sources)
        return self.index

    def is_indexed(self, until: int) -> bool:
        """Whether the index has the commits up to a number already."""
        with reading():
            return self.index.is_current(self.records, until)

    def commit(self, number: int) -> Commit:
        """One commit, or those without a record of which it is one.

        Raises ``StoreError`` for a damaged or missing record.
        """
        gap = self.gap_at(number)
        number = number if gap is None else gap[1]
        for commit in self.commits(number - 1, number):
            return commit
        raise StoreError(f"The history cannot be read: commit {number} is missing.")

    def commits(self, after: int, until: int) -> Iterator[Commit]:
        """The commits above a number, up to another one, in their order.

        Raises ``StoreError`` for a damaged record.
        """
        with reading():
            yield from map(decoded, self.records(after, until))

    def size(self, after: int, until: int) -> int:
        """The bytes of the records above a number, up to another."""
        with reading():
            return sum(map(len, self.records(after, until)))

    def records(self, after: int = 0, until: int = sys.maxsize) -> Iterator[bytes]:
        """The records above a number, up to another; a writer may replace files meanwhile.

        They are put on the disk first: who follows this nexus keeps them. Raises ``ReplacedError``
        if the writer has compacted them, ``UnsyncedError`` if they cannot be put there.
        """
        self.sync_appended()
        base = self.base
        while True:
            files = segments, log = self._files
            try:
                for segment in segments:
                    for place in segment.blocks(after, until):
                        for number, data in self._block(segment, place):
                            if after < number <= until:
                                yield data
                                after = number
                text = _part(log, after, until)
            except FileNotFoundError:
                if self._read_only:
                    self._read_again()
                if files is self._files:
                    raise
                if self.base != base and (self.base or 0) > after:
                    raise ReplacedError(_COMPACTED) from None
                continue
            yield from (text[start:end] for start, end in frames_of(text).places)
            return

    def in_place(self) -> Iterator[bytes | None]:
        """Each record in its place, up to one that is damaged, which is None."""
        segments, log = self._files
        for segment in segments:
            yield from segment.in_place()
        with suppress(FileNotFoundError):
            yield from records_in(log.path.read_bytes())

    def copy(self, folder: Path, until: int = sys.maxsize) -> None:
        """Copy the records up to a commit into a new folder, while a writer may replace files.

        Files that never change are linked if possible. Raises ``ReplacedError`` where the commit
        is not in the journal any more.
        """
        while True:
            folder.mkdir()
            files = segments, log = self._files
            is_there = any(first <= until <= last for first, last in self._runs)
            if until < self.last and (not is_there or self.gap_at(until)):
                raise ReplacedError(_COMPACTED)
            try:
                for name in (STATEMENTS, STATEMENTS + NOTE, CLOSED):
                    with suppress(FileNotFoundError):
                        shutil.copy2(self._folder / name, folder / name)
                for segment in segments:
                    self._copy_segment(segment, folder / segment.path.name, until)
                if text := _part(log, 0, until):
                    (folder / log.path.name).write_bytes(text)
                return
            except FileNotFoundError:
                if self._read_only:
                    self._read_again()
                if files is self._files:
                    raise
            shutil.rmtree(folder)

    def _copy_segment(self, segment: Sealed, target: Path, until: int) -> None:
        """Copy what a sealed file has up to a commit; another process may have written the rest."""
        if segment.runs[-1][1] <= until:
            try:
                os.link(segment.path, target)
            except OSError:
                shutil.copy2(segment.path, target)
        elif segment.runs[0][0] <= until:
            blocks = (self._block(segment, place) for place in segment.blocks(0, until))
            records = (data for block in blocks for number, data in block if number <= until)
            flags = {"is_first": segment.is_first, "has_base": segment.has_base}
            seal(target, records, segment.previous, **flags)

    def verify(self) -> list[str]:
        """Sentences about what is damaged; every record is read."""
        sentences = list(self.faults)
        previous = NOTHING
        for segment in self._files[0]:
            if segment.previous != previous:
                sentences.append(f"A file of the history before {segment.path.name} is missing.")
            try:
                previous = segment.hash()
                for place in segment.blocks(0, sys.maxsize):
                    segment.block(place)
            except (OSError, ValueError) as fault:
                if self._read_only and isinstance(fault, FileNotFoundError):
                    self._read_again()
                    return self.verify()
                name = segment.path.name
                sentences.append(f"The file {name} of the history is damaged: {fault}")
        log = self._files[1]
        if log.size and not _is_intact(log):
            if self._read_only and not log.path.exists():
                self._read_again()
                return self.verify()
            sentences.append(f"The file {log.path.name} of the history is damaged.")
        return sentences or list(self.missing)


_awaited: ContextVar[set[Journal] | None] = ContextVar("awaited", default=None)


def synced(function: Callable[[], T]) -> T:
    """What a function returns, once all that it has appended to journals is on the disk.

    Within another call, that of the outer one is waited for (docs/decisions/250).
    """
    if _awaited.get() is not None:
        return function()
    journals: set[Journal] = set()
    try:
        return copy_context().run(_collecting, journals, function)
    finally:
        for journal in journals:
            journal.sync_appended()


def _collecting(journals: set[Journal], function: Callable[[], T]) -> T:
    _awaited.set(journals)
    return function()


def _locked(file: io.FileIO) -> io.FileIO:
    """A log that its writer has open; readers see by the lock that it is there."""
    _lock(file, exclusive=True)
    return file


def _lock(file: IO[bytes], *, exclusive: bool) -> bool:
    """Lock a file until it is closed, unless another process, or file object, has it locked."""
    try:
        import fcntl
    except ImportError:  # on Windows
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def reading() -> Iterator[None]:
    """Raise ``StoreError`` for files that are damaged or missing."""
    try:
        yield
    except (OSError, ValueError) as fault:
        raise StoreError(f"The history cannot be read: {fault}") from None


def _is_intact(log: _Log) -> bool:
    """Whether a log still has the records that were found in it."""
    try:
        frames = frames_of(log.path.read_bytes()[: log.size])
    except (OSError, ValueError):
        return False
    return frames.numbers == log.numbers


def _part(log: _Log, after: int, until: int) -> bytes:
    """The frames of a log above a number, up to another."""
    first, last = (bisect_right(log.numbers, number) for number in (after, until))
    if first >= last:
        return b""
    begin = log.offsets[first]
    end = log.offsets[last] if last < len(log.offsets) else log.size
    with log.path.open("rb") as file:
        file.seek(begin)
        return file.read(end - begin)


def _sync(file: io.FileIO) -> None:
    # Not every system has the one that leaves the times of the file out.
    getattr(os, "fdatasync", os.fsync)(file.fileno())


def adopt(folder: Path) -> None:
    """Give the files that were prepared in a folder their names."""
    remove_index(folder)
    drop_note(folder / STATEMENTS)
    # The sealed file comes first: the texts before serve the records before and after.
    for path in sorted(folder.glob(f"*{NEXT}")):
        path.replace(path.with_suffix(""))
    sync_folder(folder)


def discard_prepared(folder: Path) -> None:
    """Remove the files that were prepared in a folder."""
    for path in folder.glob(f"*{NEXT}"):
        path.unlink()


def digest_of_text(text: str) -> str:
    """The digest of the outline of a statement."""
    return hashlib.sha256(text.encode()).hexdigest()


def _keep(statements: dict[str | None, str], text: str) -> None:
    """Note an outline by its digest, in both lengths."""
    digest = digest_of_text(text)
    statements[digest] = statements[digest[:16]] = text
