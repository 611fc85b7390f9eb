"""What a graph has besides knowledge: its records and commit number, and texts of its values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import starmap
from typing import Any, NamedTuple, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Variable
from pyoxigraph import Store as Engine

from kiprdf.errors import DamagedGraphError, StoreError
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import encode
from kiprdf.rdf.literals import normal
from kiprdf.rdf.readings import PLAIN, held
from kiprdf.sparql.algebra import BGP, Call, Filter, In, Negation, Select, TriplePattern
from kiprdf.sparql.text import render
from kiprdf.store.delta import Lines, Written

KEPT_BYTES = 4 * 1024**2
"""The size of a change that is kept for others, who follow a dataset."""
KEPT_COMMITS = 256
"""The most commits that they are behind."""
RECORD = vocab.KIP + "record/"
_HEAD = f"{vocab.CHAIN.value}/"
ENGINE_FAULTS = (OSError, RuntimeError)
"""What the engine raises when the disk fails."""


class CommitNumber(NamedTuple):
    """The number of the last commit, kept in memory, and the quads of the graph that note it; after
    a crash, also those of an earlier one.

    Reading it from the graph takes longer with each commit: the engine skips removed quads.
    """

    number: int
    notes: tuple[Quad, ...]
    is_certain: bool = True
    """False while a write is running."""
    next: Quad | None = None
    """What notes the commit of that write, if it is known."""


def read_commit_number(engine: Engine) -> CommitNumber:
    """The number in the graph; after a crash the number before it may be noted, too."""
    graph = vocab.BOOKKEEPING
    notes = tuple(readable(engine, None, vocab.COMMIT, None, graph))
    number = max((noted_by(quad)[0] for quad in notes), default=0)
    # Earlier versions noted the record apart.
    return CommitNumber(number, (*notes, *readable(engine, graph, vocab.CHAIN, None, graph)))


def remove_earlier_notes(engine: Engine) -> None:
    """Remove the notes of an earlier commit, which a crash may have left."""
    noted = read_commit_number(engine)
    if noted.number == 0:
        return
    with suppress(*ENGINE_FAULTS):
        for quad in noted.notes:
            if noted_by(quad)[0] != noted.number:
                engine.remove(quad)


def note(key: NamedNode, value: Literal) -> Quad:
    """A quad of the bookkeeping graph."""
    return Quad(vocab.BOOKKEEPING, key, value, vocab.BOOKKEEPING)


def commit_note(number: int, head: str | None = None) -> Quad:
    """The quad that notes the number of a commit; its subject has the digest of its record."""
    subject = vocab.BOOKKEEPING if head is None else NamedNode(_HEAD + head)
    # pyoxigraph converts an integer itself, and ignores an interrupt while it does.
    value = Literal(str(number), datatype=vocab.INTEGER)
    return Quad(subject, vocab.COMMIT, value, vocab.BOOKKEEPING)


def noted_by(quad: Quad) -> tuple[int, str]:
    """The number of the commit that a quad notes, and the digest of its record, or "".

    The number is 0 where it cannot be read.
    """
    number, _, head = cast(Literal, quad.object).value.partition(" ")
    subject = cast(NamedNode, quad.subject).value
    if subject.startswith(_HEAD):
        head = subject[len(_HEAD) :]
    return int(number) if number.isdecimal() else 0, head


def rewritten_note(digest: str) -> Quad:
    """The quad that notes the digest of all records that were written in the place of others."""
    return note(vocab.REWRITTEN, Literal(digest))


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


# Texts ----------------------------------------------------------------------------------------
# The texts, numbers and booleans in arrays, tagged texts and typed values are quads of a graph, in
# which a FILTER finds them by index (docs/decisions/050). Every write changes them with the values.


Text: TypeAlias = tuple[NamedNode, NamedNode, Literal | NamedNode, NamedNode]
"""A quad, as its four terms."""
_NAMES = Variable("s"), Variable("p"), Variable("o")
_IS_PLAIN = In(Call("DATATYPE", (_NAMES[2],)), tuple(sorted(PLAIN, key=str)))
_OTHER_VALUES = render(
    Select(_NAMES, Filter(BGP((TriplePattern(*_NAMES),)), Negation(_IS_PLAIN)), distinct=False)
)


def texts_of(triples: Iterable[Written]) -> list[Text]:
    """The quads of what the objects of some triples hold."""
    if isinstance(triples, Lines):
        triples = [*triples.others, *triples.values]
    # Nearly all values are plain: they are tested here, since a call would cost more than the test.
    return [
        (subject, predicate, item, vocab.TEXTS)
        for subject, predicate, value in triples
        if isinstance(value, Literal) and value.datatype not in PLAIN
        for item in held(value)
    ]


def texts_in(engine: Engine) -> Iterator[Quad]:
    """The quads of texts in all values of the default graph."""
    rows = cast(QuerySolutions, engine.query(_OTHER_VALUES))
    return starmap(Quad, texts_of(cast(Any, map(tuple, rows))))


def stored_texts(engine: Engine) -> Iterator[Quad]:
    """The quads of texts that are stored."""
    for subject, predicate, item, graph in engine.quads_for_pattern(None, None, None, vocab.TEXTS):
        yield Quad(subject, predicate, normal(cast(Literal | NamedNode, item)), graph)


def rebuild_texts(engine: Engine) -> None:
    """Write the texts of all values again."""
    engine.remove_graph(vocab.TEXTS)
    engine.extend(texts_in(engine))
