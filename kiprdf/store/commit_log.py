"""What a graph notes about itself: its records, and the number of its last commit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple, cast

from pyoxigraph import Literal, NamedNode, Quad
from pyoxigraph import Store as Engine

from kiprdf.errors import DamagedGraphError, StoreError
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import encode

KEPT_BYTES = 4 * 1024**2
"""The size of a change that is kept for others, who follow a dataset."""
KEPT_COMMITS = 256
"""The most commits that they are behind."""
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
