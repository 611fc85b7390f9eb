"""Reads RDF whose IRIs, literals or lines are partly bad: what is bad is left out and noted.

N-Triples and N-Quads are read line by line. In other formats a triple with a bad IRI is left out;
what the parser cannot read at all stays an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple
from pyoxigraph import parse as parse_rdf

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats import Format, guard
from kiprdf.language.values import LONE_SURROGATE
from kiprdf.source import NOWHERE, Span

LINES = ("ntriples", "nquads")
"""The formats in which each statement is a line."""
LISTED = 1000
"""How many bad lines or triples are noted with their text; all are counted."""
_BLOCK = 500
"""The lines that are parsed at once, until one of them is bad."""
_LENGTH = 200
_RELATIVE = "No scheme found in an absolute IRI"
_END = re.compile("\r\n|\n|\r")


class BadLine(NamedTuple):
    """A line, or a triple of it, that is left out; 0 where the line is not known."""

    triple: str
    reason: str
    line: int


@dataclass
class BadParts:
    """What is left out of documents: the first of it, and the number of all."""

    first: list[BadLine] = field(default_factory=list)
    count: int = 0

    def note(self, line: int, text: str, reason: str) -> None:
        """Note a line or a triple."""
        self.count += 1
        if len(self.first) < LISTED:
            self.first.append(BadLine(shown(text.strip(), _LENGTH), reason, line))

    def warnings(self) -> Iterator[str]:
        """One sentence with the number of all, if there are any."""
        if self.count:
            listed = f"; the first {LISTED} are listed" if self.count > LISTED else ""
            what = "line or triple is" if self.count == 1 else "lines or triples are"
            yield f"{self.count} {what} bad and left out (lenient){listed}."


def decoded(content: bytes | str, encoding: str, bad: BadParts) -> str:
    """The text of lines, in which those that are not text are empty."""
    text = content.decode(encoding, "surrogateescape") if isinstance(content, bytes) else content
    if LONE_SURROGATE.search(text) is None:
        return text
    what = "it is not UTF-8 text"
    return _kept(text, lambda line: what if LONE_SURROGATE.search(line) else None, bad)


def within_bounds(text: str, format: Format, bad: BadParts) -> str:
    """The text of lines, in which those with brackets or IRIs beyond all bounds are empty."""
    try:
        guard.check_tokens(text, format)
    except KipError:
        return _kept(text, lambda line: _excess(line, format), bad)
    return text


def _excess(line: str, format: Format) -> str | None:
    try:
        guard.check_tokens(line, format)
    except KipError as fault:
        return fault.message
    return None


def _kept(text: str, fault: Any, bad: BadParts) -> str:
    lines = _END.split(text)
    for number, line in enumerate(paced(lines), 1):
        reason = fault(line)
        if reason is not None:
            bad.note(number, LONE_SURROGATE.sub("\ufffd", line), reason)
            lines[number - 1] = ""
    return "\n".join(lines)


def parsed(
    text: str, read: str, format: Format, parser: RdfFormat, base_iri: str | None, bad: BadParts
) -> Iterator[Quad]:
    """The quads of a checked text but those that are bad; ``text`` is the document itself."""
    if format in LINES:
        lines = _END.split(read)
        for start in range(0, len(lines), _BLOCK):
            yield from _of_lines(lines[start : start + _BLOCK], start + 1, parser, bad)
    else:
        yield from _sound(
            parse_rdf(read, format=parser, base_iri=base_iri, lenient=True), text, bad
        )


def whole(
    quads: Iterable[Quad], text: str, read: str, base_iri: str | None, lost: Counter[str]
) -> Iterator[Quad]:
    """The quads of JSON-LD; what its parser leaves out is an error, or counted.

    Raises KIP_1001 for an IRI that is not well-formed; what JSON-LD says to drop, relative IRIs and
    predicates that are blank nodes, is counted in ``lost``. The lenient parser reads all of them.
    """
    count = 0
    for quad in quads:
        count += 1
        yield quad
    again = partial(parse_rdf, read, RdfFormat.JSON_LD, base_iri=base_iri, lenient=True)
    if count == sum(1 for _ in paced(again())):
        return
    good: set[str] = set()
    for quad in paced(again()):
        for value, reason in filter(None, (_bad_value(term, good) for term in quad)):
            if reason.endswith(_RELATIVE) or value.startswith("_:"):
                lost[value] += 1
                break
            place = text.find(value)
            span = NOWHERE if place < 0 else Span(place, place + len(value))
            message = f"The text is not valid JSON-LD: {shown(value)} is not {reason}."
            hint = "Correct it, or import the file without its triples: lenient=True (--lenient)."
            raise KipError("KIP_1001", message, hint, span, text)


def left_out(lost: Counter[str]) -> Iterator[tuple[str, str]]:
    """Each key or relative IRI that JSON-LD leaves out, and why, with the number of times."""
    for value, count in sorted(lost.items()):
        times = "once" if count == 1 else f"{count} times"
        yield (
            shown(value, _LENGTH),
            f"left out {times}, as JSON-LD says: it is a key without a meaning in the contexts, or"
            " in RDF, or a relative IRI without a base",
        )


def _of_lines(lines: list[str], number: int, parser: RdfFormat, bad: BadParts) -> list[Quad]:
    """The quads of some lines: of all at once, else of each half, until one line is bad."""
    try:
        return list(parse_rdf("\n".join(lines), format=parser))
    except SyntaxError as fault:
        if len(lines) == 1:
            bad.note(number, lines[0], _reason(fault))
            return []
    half = len(lines) // 2
    first = _of_lines(lines[:half], number, parser, bad)
    return first + _of_lines(lines[half:], number + half, parser, bad)


def _reason(fault: SyntaxError) -> str:
    return re.sub(r" \(line \d+\)$", "", fault.msg.partition(": ")[2] or fault.msg)


def _sound(quads: Iterable[Quad], text: str, bad: BadParts) -> Iterator[Quad]:
    """The quads whose IRIs and language tags are well-formed."""
    good: set[str] = set()
    for quad in paced(quads):
        bad_value = next(filter(None, (_bad_value(term, good) for term in quad)), None)
        if bad_value is None:
            yield quad
            continue
        value, reason = bad_value
        place = text.find(value) if bad.count < LISTED else -1
        line = 0 if place < 0 else text.count("\n", 0, place) + 1
        bad.note(line, f"{quad} .", f"{shown(value)} is not {reason}")


def _bad_value(term: Any, good: set[str]) -> tuple[str, str] | None:
    """The IRI or language tag of a term that is not well-formed, and what it is not."""
    if isinstance(term, Triple):
        return next(filter(None, (_bad_value(part, good) for part in term)), None)
    if isinstance(term, Literal) and term.language is not None:
        try:
            Literal("", language=term.language)
        except ValueError:
            return term.language, "a language tag"
        return None
    iri = term.datatype if isinstance(term, Literal) else term
    if not isinstance(iri, NamedNode) or iri.value in good:
        return None
    try:
        NamedNode(iri.value)
    except ValueError as fault:
        return iri.value, f"an IRI: {str(fault).rstrip('.')}"
    good.add(iri.value)
    return None
