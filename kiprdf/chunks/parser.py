"""Text to document: ``parse`` blanks the comments, then applies the grammar."""

from __future__ import annotations

import re
from typing import Any

import pyparsing as pp

from kiprdf import collector
from kiprdf.chunks.grammar import Fault, read_statement
from kiprdf.chunks.model import (
    IRI_TAIL,
    NAME,
    Chunk,
    ChunksSyntaxError,
    Document,
    Link,
    Rule,
    Statement,
)
from kiprdf.language.values import skip_space
from kiprdf.source import position

# A comment does not begin inside of a string or an IRI.
_COMMENT = re.compile(rf'"(?:[^"\\\n]|\\[^\n])*+"?|{IRI_TAIL}|#[^\n]*+')
_TOKEN = re.compile(rf'"[^"\n]{{0,30}}"?|[!?@]?{NAME}|=>|.', re.DOTALL)


def parse(text: str) -> Document:
    """Parse the notation of chunks.

    Raises ``ChunksSyntaxError`` with the place of the mistake.

    >>> parse("dog kindof mammal").links[0].object
    Name('mammal')
    """
    bare = _blanked(text)
    try:
        return collector.paused(lambda: Document(tuple(_statements(bare))))
    except Fault as fault:
        raise _error(text, fault.offset, fault.message) from None
    except pp.ParseBaseException as fault:
        raise _error(text, fault.loc, _sentence(bare, fault)) from None


def parse_chunk(text: str) -> Chunk:
    """Parse a text of one chunk or link.

    >>> parse_chunk("dog dog1 {age 4}").id
    Name('dog1')
    """
    statements = parse(text).statements
    if len(statements) == 1:
        (statement,) = statements
        if not isinstance(statement, Rule):
            return statement.chunk if isinstance(statement, Link) else statement
    raise ChunksSyntaxError("The text is not one chunk or link.", line=1, column=1)


def _blanked(text: str) -> str:
    """Replace comments and a byte order mark by spaces, so that offsets stay valid."""
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    return _COMMENT.sub(_blank, text) if "#" in text else text


def _blank(match: re.Match[str]) -> str:
    token = match.group()
    return " " * len(token) if token[0] == "#" else token


def _statements(bare: str) -> list[Statement]:
    statements: list[Statement] = []
    offset, line, counted = skip_space(bare, 0), 1, 0
    while offset < len(bare):
        offset = read_statement(bare, offset, statements)
    for statement in statements:
        for item in _located(statement):
            line += bare.count("\n", counted, item.line)
            counted = item.line
            object.__setattr__(item, "line", line)
    return statements


def _located(statement: Statement) -> list[Any]:
    """A statement and the chunks in it; the grammar leaves the offset of each in ``line``."""
    return [statement, *statement.chunks] if isinstance(statement, Rule) else [statement]


def _sentence(bare: str, fault: pp.ParseBaseException) -> str:
    expected = fault.msg.removeprefix("Expected ")
    if fault.loc >= len(bare):
        return f"The text ends where {expected} is expected."
    match = _TOKEN.match(bare, fault.loc)
    assert match is not None
    token = match.group()
    shown = token if token.isprintable() else f"the character U+{ord(token[0]):04X}"
    shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
    return f"Here {expected} is expected, not {shown if shown != token else repr(token)}."


def _error(text: str, offset: int, message: str) -> ChunksSyntaxError:
    line, column = position(text, offset)
    return ChunksSyntaxError(message, line=line, column=column)
