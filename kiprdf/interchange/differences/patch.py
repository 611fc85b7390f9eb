"""RDF Patch, the format of Jena: what to delete from a dataset and what to add, a triple a row.

https://afs.github.io/rdf-delta/rdf-patch.html; triples are written as in RDF 1.2 N-Triples.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from typing import NamedTuple, cast

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Triple,
    serialize,
)
from pyoxigraph import parse as parse_rdf

from kiprdf.errors import KipError
from kiprdf.errors import shown as beginning
from kiprdf.interchange.files import LONE_SURROGATE
from kiprdf.rdf.literals import normal
from kiprdf.source import Span

_ROW = re.compile(r"[ \t]*(?:(A|D)(?=[ \t]+[<_])|(TX|TC|TA)[ \t]*\.|(H|PA|PD)(?=[ \t]).*\.)?[ \t]*")
_COMMENT = re.compile(r"[ \t]*(?:#.*)?")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')
_IDS = uuid.UUID("5f0b6e0e-1f5c-5d6c-9d8c-2a6f1f3c7a11")
"""The namespace of the ids of patches."""


class Patch(NamedTuple):
    """What a patch does in the end: the triples that are then gone, and those that are there."""

    removed: frozenset[Triple]
    added: frozenset[Triple]

    def inverse(self) -> Patch:
        """What undoes it, on the dataset that it was made for."""
        return Patch(self.added, self.removed)


def between(before: Iterable[Triple], after: Iterable[Triple]) -> Patch:
    """What turns one dataset into the other. Both have the same base."""
    old, new = dataset(before), dataset(after)
    return Patch(old - new, new - old)


def dataset(triples: Iterable[Triple]) -> frozenset[Triple]:
    """Triples with every value in the spelling of the mapping; engines have their own."""
    return frozenset(map(_normal, triples))


def _normal(triple: Triple) -> Triple:
    value = triple.object
    if isinstance(value, Triple) or value == normal(cast(Literal | NamedNode, value)):
        return triple
    return Triple(triple.subject, triple.predicate, normal(cast(Literal | NamedNode, value)))


def apply(patch: Patch, triples: Iterable[Triple]) -> frozenset[Triple]:
    """The dataset after a patch. Deleting what is not there, or adding what is, does nothing."""
    return dataset(triples) - dataset(patch.removed) | dataset(patch.added)


# Writing --------------------------------------------------------------------------------------


def write(removed: Iterable[Triple], added: Iterable[Triple]) -> str:
    """A patch as text: one transaction, rows sorted, deletions first.

    The id in its header is a function of the rows: the same patch has the same bytes.
    """
    rows = "".join([*_rows("D", removed), *_rows("A", added)])
    return f"H id <uuid:{uuid.uuid5(_IDS, rows)}> .\nTX .\n{rows}TC .\n"


def _rows(operation: str, triples: Iterable[Triple]) -> list[str]:
    content = serialize(dataset(triples), format=RdfFormat.N_TRIPLES)
    assert content is not None
    # Not splitlines: a string may hold other line separators as they are.
    lines = content.decode().split("\n")
    return sorted(f"{operation} {line}\n" for line in lines if line)


# Reading --------------------------------------------------------------------------------------


def read(text: str) -> Patch:
    """What a patch in text form does in the end; what an aborted transaction did is dropped.

    Headers and prefixes are skipped. Raises KIP_1001 with line and column for what is no patch and
    for rows of named graphs and with blank nodes, which no nexus has; KIP_4002 for triple terms in
    triple terms.
    """
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    surrogate = next((n for n, line in enumerate(lines) if LONE_SURROGATE.search(line)), None)
    if surrogate is not None:
        raise _fault("The row holds a lone surrogate, which is no character.", lines, surrogate, 0)
    operations: list[str] = []
    statements: list[str] = []
    for number, line in enumerate(lines):
        operation, statement = _operation(line, number, lines)
        operations += [operation] if operation else []
        statements.append(statement)
    triples = iter(_triples("\n".join(statements), lines))
    return _effect([(word, next(triples) if word in "AD" else None) for word in operations])


def _operation(line: str, number: int, lines: list[str]) -> tuple[str, str]:
    """The word of a row, and its triple at the place at which it stands in the row."""
    match = _ROW.match(line)
    assert match is not None
    if match[1]:
        if _STRING.sub("", line).count("<<") > 1:
            message = "A triple term nests another."
            raise _fault(message, lines, number, 0, "KIP_4002")
        return match[1], " " * match.end(1) + line[match.end(1) :]
    if not _COMMENT.fullmatch(line, match.end()):
        message = f"This is no row of an RDF Patch: {beginning(line.strip())!r}."
        raise _fault(message, lines, number, len(line) - len(line.lstrip()))
    return match[2] or "", ""


def _triples(statements: str, lines: list[str]) -> list[Triple]:
    """One a line: the parser sees to it."""
    try:
        quads = list(parse_rdf(statements, format=RdfFormat.N_QUADS))
    except SyntaxError as fault:
        message = f"The row cannot be read: {fault.msg.split(': ', 1)[-1].rstrip('.')}."
        line, column = (fault.lineno or 1) - 1, (fault.offset or 1) - 1
        raise _fault(message, lines, line, column) from None
    numbers = (number for number, line in enumerate(statements.split("\n")) if line)
    for number, quad in zip(numbers, quads, strict=True):
        reason = _foreign(quad)
        if reason is not None:
            raise _fault(reason, lines, number, 0)
    return [quad.triple for quad in quads]


def _foreign(quad: Quad) -> str | None:
    """Why a row is not about a nexus, if so."""
    if not isinstance(quad.graph_name, DefaultGraph):
        return "A nexus keeps its knowledge in the default graph, not in a named one."
    inner = quad.object if isinstance(quad.object, Triple) else quad.triple
    terms = (quad.subject, quad.object, inner.subject, inner.object)
    if any(isinstance(term, BlankNode) for term in terms):
        return "A nexus has no blank nodes, and those of a patch are nobody else's."
    return None


def _effect(rows: list[tuple[str, Triple | None]]) -> Patch:
    """The last row about a triple decides; those of a transaction count once it is committed."""
    kept: dict[Triple, str] = {}
    open_: dict[Triple, str] = {}
    for word, triple in rows:
        if triple is not None:
            open_[_normal(triple)] = word
        elif word == "TA":
            open_ = {}
        else:
            kept |= open_
            open_ = {}
    kept |= open_
    decided = {word: frozenset(t for t, last in kept.items() if last == word) for word in "AD"}
    return Patch(decided["D"], decided["A"])


def _fault(
    message: str, lines: list[str], number: int, column: int, code: str = "KIP_1001"
) -> KipError:
    number = min(number, len(lines) - 1)
    start = sum(len(line) + 1 for line in lines[:number]) + column
    hint = "Rows are 'A s p o .' and 'D s p o .' with terms as in N-Triples."
    return KipError(code, message, hint, Span(start, start + 1), "\n".join(lines))
