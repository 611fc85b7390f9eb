"""The number of the last commit, as recorded in the graph, and the changes of the last commits."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple, cast

from pyoxigraph import Literal, NamedNode, Quad
from pyoxigraph import Store as Engine

from kiprdf.errors import DamagedGraphError, StoreError
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import encode

KEPT_BYTES = 4 * 1024**2
KEPT_COMMITS = 256
RECORD = vocab.KIP + "record/"
ENGINE_FAULTS = (OSError, RuntimeError)
"""What the engine raises when the disk fails."""


class CommitNumber(NamedTuple):
    """The number of the last commit, kept in memory, and the quads of the graph that note it.

    Reading it from the graph takes longer with each commit: the engine skips removed quads.
    """

    number: int
    notes: tuple[Quad, ...]
    is_certain: bool = True
    """False while a write is running."""


def read_commit_number(engine: Engine) -> CommitNumber:
    """The number in the graph; after a crash the number before it may be noted, too."""
    graph = vocab.BOOKKEEPING
    notes = tuple(readable(engine, graph, vocab.COMMIT, None, graph))
    texts = (cast(Literal, quad.object).value for quad in notes)
    return CommitNumber(max((int(text) for text in texts if text.isdecimal()), default=0), notes)


def remove_earlier_number(engine: Engine) -> None:
    """Remove the number of an earlier commit, which a crash may have left."""
    noted = read_commit_number(engine)
    last = commit_note(noted.number)
    if last not in noted.notes:
        return
    with suppress(*ENGINE_FAULTS):
        for quad in noted.notes:
            if quad != last:
                engine.remove(quad)


def note(key: NamedNode, value: Literal) -> Quad:
    """A quad of the bookkeeping graph."""
    return Quad(vocab.BOOKKEEPING, key, value, vocab.BOOKKEEPING)


def commit_note(number: int) -> Quad:
    """The quad that notes the number of a commit."""
    # pyoxigraph converts an integer itself, and ignores an interrupt while it does.
    return note(vocab.COMMIT, Literal(str(number), datatype=vocab.INTEGER))


def record(key: str) -> NamedNode:
    """The predicate of a record, which a nexus keeps about itself."""
    return NamedNode(RECORD + encode(key))


def readable(engine: Engine, *pattern: Any) -> Iterator[Quad]:
    """The quads of a pattern; a disk that fails raises ``StoreError``."""
    try:
        yield from engine.quads_for_pattern(*pattern)
    except ENGINE_FAULTS as fault:
        raise unreadable(fault) from fault


def unreadable(fault: Exception, deed: str = "read") -> StoreError:
    """The error of a disk that cannot be read, or written."""
    is_damaged = re.search("corruption|no such file", str(fault), re.IGNORECASE)
    error = DamagedGraphError if is_damaged else StoreError
    return error(f"The nexus cannot be {deed}: {fault}")


class RecentChanges:
    """The changes of the last commits, if they are small; none are kept until they are needed.

    Processes that have a copy of the dataset are brought up to date with them.

    >>> changes = RecentChanges()
    >>> changes.since(1, 1), changes.since(1, 2)
    ([], None)
    >>> changes.add(2, [], [])
    >>> len(changes.since(1, 2)), changes.since(0, 2)
    (1, None)
    """

    def __init__(self) -> None:
        self._is_needed = False
        # Replaced as a whole: readers need no lock.
        self._changes: tuple[tuple[int, bytes], ...] = ()

    def add(
        self, number: int, removed: Iterable[Iterable[Any]], added: Iterable[Iterable[Any]]
    ) -> None:
        """Keep a commit, as a pickled pair of the terms of its removed and added triples."""
        if not self._is_needed:
            return
        change = ([tuple(triple) for triple in removed], [tuple(triple) for triple in added])
        changes = (*self._changes, (number, pickle.dumps(change, protocol=5)))[-KEPT_COMMITS:]
        size = sum(len(data) for _, data in changes)
        self._changes = changes if size <= KEPT_BYTES else ()

    def since(self, first: int, last: int) -> list[bytes] | None:
        """The changes after one commit, up to another or beyond; None where some are missing."""
        self._is_needed = True
        later = [(number, data) for number, data in self._changes if first < number]
        numbers = [number for number, _ in later]
        has_gap = numbers != [*range(first + 1, first + 1 + len(numbers))]
        return None if has_gap or first + len(numbers) < last else [data for _, data in later]
