"""Whether the records of a history are those that were written: each has the digest of the one
before, and the graph notes the last one (docs/decisions/211)."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

from pyoxigraph import Literal

from kiprdf.errors import StoreError
from kiprdf.rdf import vocab
from kiprdf.store.bookkeeping import noted_by, read_commit_number, readable
from kiprdf.store.commit_index import INDEX
from kiprdf.store.folder import MANIFEST, is_erasing, notes_history, open_engine
from kiprdf.store.journal import CLOSED, FOLDER, NEXT, PAST, Journal, adopt
from kiprdf.store.journal_files import NOTHING, digest_of, extended, links_of, span_of
from kiprdf.store.past import KIND as BASE
from kiprdf.store.rebuilding import GAP, LOST

_DAMAGED = "Its record is damaged."


class Chain(NamedTuple):
    """What was found along the records of a history.

    ``commit`` is the number of the first one that is not as it was written, and ``fault`` says what
    is wrong with it; both are None for a sound history. ``chained`` is the first commit whose
    record has the digest of the one before, ``last`` and ``head`` the number and the digest of the
    last record. ``warning`` says what was not checked.
    """

    commit: int | None
    fault: str | None
    chained: int | None
    last: int
    head: str
    warning: str | None = None


ATTEMPTS = 6
"""How often a fault is looked for in files that a writer replaces meanwhile."""
_MISSING = "Its record is missing."
_LOST = "Its record was lost. If you know why, begin the history after that: see kiprdf check."
_TEXTS = "The texts of statements were changed after they were written, but none of a commit."
_CHANGED = "Its record was changed after it was written."
_UNFINISHED = (
    "What follows the last record is none: a write was interrupted, or bytes were added. Open the "
    "nexus for writing once, which removes them."
)
_TEXT = "The text of its statement is missing, or was changed."


class _Broken(Exception):
    """A record is not as it was written: the number of its commit, and what is wrong."""


class Noted(NamedTuple):
    """What a graph notes of its history: its last commit, the digests of the last records by the
    numbers of their commits, and those of all rewritten records."""

    number: int
    heads: dict[int, set[str]]
    rewritten: set[str]


def noted_in(folder: Path) -> Noted:
    """What the graph of a folder notes; raises ``StoreError`` if it cannot be read."""
    engine = open_engine(folder, read_only=True)
    noted = read_commit_number(engine)
    heads: dict[int, set[str]] = {}
    graph = vocab.BOOKKEEPING
    for number, head in map(noted_by, noted.notes):
        if head:
            heads.setdefault(number, set()).add(head)
    rewritten = readable(engine, graph, vocab.REWRITTEN, None, graph)
    return Noted(noted.number, heads, {cast(Literal, quad.object).value for quad in rewritten})


def verified(folder: Path) -> Chain:
    """What is found along the history in a folder; raises ``StoreError`` if there is none."""
    for _ in range(ATTEMPTS):
        before, chain = _touched(folder), _verified(folder)
        # A writer may have replaced files meanwhile.
        if chain.fault is None or _touched(folder) == before:
            break
    return chain


def record_of(folder: Path, number: int) -> bytes | None:
    """The record of a commit in a sound history, or the next one there is."""
    with _files_of(folder) as files:
        journal = Journal(files, read_only=True)
        try:
            return next(journal.records(number - 1), None)
        finally:
            journal.close()


def _touched(folder: Path) -> list[tuple[str, int, int]]:
    """The files of a history, and when they were written last."""
    paths = folder.glob(f"{FOLDER}/*.*")
    return [(path.name, *_written(path)) for path in sorted([*paths, folder / MANIFEST])]


def _written(path: Path) -> tuple[int, int]:
    """When a file was written last, and its inode."""
    with suppress(OSError):
        stat = path.stat()
        return stat.st_mtime_ns, stat.st_ino
    return 0, 0


def _verified(folder: Path) -> Chain:
    is_expected = notes_history(folder)
    if not (is_expected or (folder / FOLDER).is_dir()):
        raise StoreError(f"The nexus in {folder} has no history.")
    noted = noted_in(folder)
    with _files_of(folder) as files:
        journal = Journal(files, read_only=True)
        try:
            return _Verifier(journal, noted, is_expected).chain()
        finally:
            journal.close()


@contextmanager
def _files_of(folder: Path) -> Iterator[Path]:
    """The files of the history of the graph: a kill may have come before they were adopted."""
    files = folder / FOLDER
    if not is_erasing(folder) or not any(files.glob(f"*{NEXT}")):
        yield files
        return
    with TemporaryDirectory(prefix="kiprdf-") as place:
        copy = Path(place, FOLDER)
        copy.mkdir()
        for path in (*files.glob("*.*"), *files.glob(CLOSED)):
            # A writer may adopt them meanwhile.
            with suppress(FileNotFoundError, IsADirectoryError):
                if not path.name.startswith((INDEX, PAST)):
                    shutil.copyfile(path, copy / path.name)
        adopt(copy)
        yield copy


class _Verifier:
    """Verifies the records of a journal; ``is_expected`` says whether there must be some."""

    def __init__(self, journal: Journal, noted: Noted, is_expected: bool) -> None:
        self._journal = journal
        self._noted = noted
        self._is_expected = is_expected
        self._texts = journal.statements()
        self._chained: int | None = None
        self._last, self._head = 0, NOTHING
        self._rewritten = ""
        self._first_rewritten = 0
        self._lacking: dict[str, int] = {}
        self._kind = ""
        """That of the last record."""

    def chain(self) -> Chain:
        """What is found."""
        commit, fault, warning = None, None, None
        try:
            for data, after in pairwise((*self._journal.in_place(), b"")):
                self._record(data, after)
            self._end()
        except _Broken as broken:
            commit, fault = broken.args
        if self._chained is None:
            warning = "No record has the digest of the one before: the next commit begins a chain."
        elif fault is None and (
            self._last < self._noted.number or self._noted.number not in self._noted.heads
        ):
            warning = "The graph does not note the last record: commits were written without one."
        return Chain(commit, fault, self._chained, self._last, self._head, warning)

    def _record(self, data: bytes | None, after: bytes | None) -> None:
        """Check a record by those beside it."""
        if data is None:
            is_end = self._last >= self._noted.number
            raise _Broken(self._next, _UNFINISHED if is_end else _DAMAGED)
        try:
            (first, last), links = span_of(data), links_of(data)
        except (ValueError, TypeError, LookupError, zlib.error):
            raise _Broken(self._next, _DAMAGED) from None
        link = links.replaced or digest_of(data)
        if self._last == 0:
            if links.previous not in (None, NOTHING) and links.replaced is None:
                raise _Broken(first - 1, "Its record, and all before it, are missing.")
        elif first > self._last + 1 and links.previous not in (None, self._head):
            raise _Broken(self._last + 1, _MISSING)
        elif first <= self._last:
            raise _Broken(last, "Its record is not in its place.")
        elif links.previous is None and self._chained is not None:
            raise _Broken(last, _CHANGED)
        elif links.previous not in (None, self._head):
            # If this one is confirmed, the one before it is wrong.
            is_confirmed = (
                self._is_confirmed(last, link, after)
                if links.replaced is None
                else self._are_rewritten_sound()
            )
            raise _Broken(self._last if is_confirmed else last, _CHANGED)
        if link not in self._noted.heads.get(last, (link,)):
            raise _Broken(last, _CHANGED)
        if links.kind == LOST:
            raise _Broken(first, _LOST)
        is_base, has_base = links.kind == BASE, self._journal.base is not None
        # Of one that was written again, what replaced it is compared.
        if not self._last and is_base != has_base and (is_base or links.replaced is None):
            raise _Broken(last, _DAMAGED)
        if links.previous is not None and self._chained is None:
            self._chained = first
        if links.replaced is not None:
            self._rewritten = extended(self._rewritten, data)
            self._first_rewritten = self._first_rewritten or last
        if links.statement is not None and links.statement not in self._texts:
            self._lacking.setdefault(links.statement, last)
        self._last, self._head, self._kind = last, link, links.kind

    @property
    def _next(self) -> int:
        """The number of the commit that should follow."""
        return self._last + 1 if self._last else max(1, self._journal.base or 0)

    def _is_confirmed(self, number: int, link: str, after: bytes | None) -> bool:
        """Whether the next record, or the graph, has the digest of a record."""
        if after:
            with suppress(ValueError, TypeError, LookupError, zlib.error):
                return links_of(after).previous == link
            return False
        return link in self._noted.heads.get(number, ())

    def _are_rewritten_sound(self) -> bool:
        """Whether the graph has the digest of the rewritten records."""
        digest = ""
        for data in self._journal.in_place():
            with suppress(ValueError, TypeError, LookupError, zlib.error):
                if data is not None and links_of(data).replaced is not None:
                    digest = extended(digest, data)
        return digest in self._noted.rewritten

    def _end(self) -> None:
        """Check what the graph notes, and the texts of statements."""
        number, heads, rewritten = self._noted
        is_closed = self._journal.is_closed
        if not self._last and not self._is_expected:
            return  # The next commit is the first one with a record.
        if self._last < number and (self._last < max(heads, default=0) or not is_closed):
            raise _Broken(self._last + 1, _MISSING)
        # The record of a gap, or of all, is noted after it is written.
        is_noted_later = is_closed and number not in heads and self._kind in (GAP, BASE)
        is_noted = self._last == number and bool(heads or self._chained) and not is_noted_later
        if is_noted and self._head not in heads.get(number, ()):
            raise _Broken(number, _CHANGED)
        if self._rewritten and self._rewritten not in rewritten:
            raise _Broken(self._first_rewritten, f"{_CHANGED} Or another one that was rewritten.")
        if self._lacking:
            raise _Broken(min(self._lacking.values()), _TEXT)
        if not self._journal.has_sound_statements():
            raise _Broken(self._last, _TEXTS)
