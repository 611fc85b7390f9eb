"""Whether the records of a history are those that were written: each has the digest of the one
before, and the graph notes the last one (docs/decisions/211)."""

from __future__ import annotations

import zlib
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, cast

from pyoxigraph import Literal

from kiprdf.errors import StoreError
from kiprdf.rdf import vocab
from kiprdf.store.bookkeeping import read_commit_number, readable
from kiprdf.store.folder import open_engine
from kiprdf.store.journal import FOLDER, Journal
from kiprdf.store.journal_files import NOTHING, extended, link_of, links_of, span_of

FORGOTTEN_TEXTS = "forgotten_texts"
"""The record of how many texts of statements a commit has forgotten."""
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
    for quad in noted.notes:
        commit, _, digest = cast(Literal, quad.object).value.partition(" ")
        if quad.predicate == vocab.CHAIN and commit.isdecimal():
            heads.setdefault(int(commit), set()).add(digest)
    rewritten = readable(engine, graph, vocab.REWRITTEN, None, graph)
    return Noted(noted.number, heads, {cast(Literal, quad.object).value for quad in rewritten})


def verified(folder: Path, attempts: int = 2) -> Chain:
    """What is found along the history in a folder; raises ``StoreError`` if there is none."""
    if not (folder / FOLDER).is_dir():
        raise StoreError(f"The nexus in {folder} has no history.")
    noted = noted_in(folder)
    journal = Journal(folder / FOLDER, read_only=True)
    try:
        chain = _Verifier(journal, noted).chain()
        # A writer may have replaced files meanwhile.
        is_final = chain.fault is None or not attempts or not journal.has_writer()
    finally:
        journal.close()
    return chain if is_final else verified(folder, attempts - 1)


class _Verifier:
    """Verifies the records of a journal."""

    def __init__(self, journal: Journal, noted: Noted) -> None:
        self._journal = journal
        self._noted = noted
        self._texts = journal.statements()
        self._chained: int | None = None
        self._last, self._head = 0, NOTHING
        self._rewritten = ""
        self._first_rewritten = 0
        self._lacking: dict[str, int] = {}
        self._forgotten = 0
        """The texts of statements that were forgotten."""

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
        elif fault is None and self._noted.number not in self._noted.heads:
            warning = "The graph does not note the last record: commits were written without one."
        return Chain(commit, fault, self._chained, self._last, self._head, warning)

    def _record(self, data: bytes | None, after: bytes | None) -> None:
        """Check a record by those beside it."""
        if data is None:
            is_end = self._last >= self._noted.number
            raise _Broken(self._next, _UNFINISHED if is_end else _DAMAGED)
        try:
            (first, last), links, link = span_of(data), links_of(data), link_of(data)
        except (ValueError, TypeError, LookupError, zlib.error):
            raise _Broken(self._next, _DAMAGED) from None
        if self._last == 0:
            if links.previous not in (None, NOTHING) and links.replaced is None:
                raise _Broken(first - 1, "Its record, and all before it, are missing.")
        elif first > self._last + 1:
            raise _Broken(self._last + 1, "Its record is missing.")
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
        if links.previous is not None and self._chained is None:
            self._chained = first
        if links.replaced is not None:
            self._rewritten = extended(self._rewritten, data)
            self._first_rewritten = self._first_rewritten or last
        self._forgotten += int(links.records.get(FORGOTTEN_TEXTS, ["0"])[-1] or 0)
        if links.statement is not None and links.statement not in self._texts:
            self._lacking.setdefault(links.statement, last)
        self._last, self._head = last, link

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
        if self._last < number and not self._journal.is_closed:
            raise _Broken(self._last + 1, "Its record is missing.")
        if self._last == number and heads and self._head not in heads.get(number, ()):
            raise _Broken(number, _CHANGED)
        if self._rewritten and self._rewritten not in rewritten:
            raise _Broken(self._first_rewritten, f"{_CHANGED} Or another one that was rewritten.")
        if len(self._lacking) > self._forgotten:
            more = " Or that of a later one: others were forgotten." if self._forgotten else ""
            raise _Broken(min(self._lacking.values()), f"{_TEXT}{more}")
