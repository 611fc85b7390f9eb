"""The notation of chunks as text: the grammar in pyparsing, and ``parse`` (docs/chunks.md).

``-`` instead of ``+`` commits: after it no alternative is tried, so that an error is reported at
its place. ``kiprdf.language.readers`` compiles the rules to functions, and these are what runs.
The comments of the text are already blanked. Beyond the grammar of the draft (Chunks grammar) it
accepts several conditions, a trailing ``;`` or comma, reserved names as types and values, ``!!``
and ``!"text"``.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pyparsing as pp

from kiprdf import collector
from kiprdf.chunks.model import (
    DATE,
    IRI_TAIL,
    NAME,
    NAME_CHARACTER,
    NUMBER,
    Atom,
    Chunk,
    ChunksSyntaxError,
    Condition,
    Date,
    Document,
    Link,
    Name,
    Negated,
    Rule,
    Statement,
    Text,
    Value,
    Variable,
    is_date,
    is_name,
)
from kiprdf.language.readers import Built, Readers, Scanned
from kiprdf.language.values import LONE_SURROGATE, skip_space
from kiprdf.source import Span, position

_SPACE = r"[ \t\r\n]*+"
_GAP = r"[ \t\r\n]++"
_PLAIN_TEXT = r'"[^"\\\x00-\x1f]*+"'
_ANY_TEXT = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+'
_ZONED_DATE = re.sub(r"\?P<\w+>", "?:", DATE)


class Fault(Exception):
    """A mistake at an offset of the text."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


# Values ---------------------------------------------------------------------------------------

_VALUE = re.compile(
    rf"(?P<plain>{_PLAIN_TEXT})"
    rf"|(?P<number>{NUMBER})(?!{NAME_CHARACTER})"
    rf"|(?P<date>{_ZONED_DATE})(?!{NAME_CHARACTER})"
    rf"|(?P<name>@?{NAME}|\*)"
    rf"|\?(?P<variable>{NAME})"
    r"|(?P<negated>!)"
    r'|(?P<text>")'
)
_TEXT = re.compile(_ANY_TEXT)
_LONG_INTEGER = 400
_BOOLEANS = {"true": True, "false": False}


def _scan_value(text: str, offset: int) -> tuple[Atom, int]:
    """Read one atomic value."""
    match = _VALUE.match(text, offset)
    if match is None:
        raise pp.ParseException(text, offset, "Expected a value")
    written, end = match.group(), match.end()
    match match.lastgroup:
        case "plain":
            return Text(written[1:-1]), end
        case "name":
            return _BOOLEANS[written] if written in _BOOLEANS else Name(written), end
        case "number":
            is_integer = written.lstrip("-").isdigit() and len(written) < _LONG_INTEGER
            return int(written) if is_integer else float(written), end
        case "variable":
            return Variable(written[1:]), end
        case "date":
            return _date_or_name(written, offset), end
        case "text":
            return _scan_text(text, offset)
    return _scan_negated(text, offset)


def _date_or_name(written: str, offset: int) -> Name:
    if is_date(written):
        return Date(written)
    if "+" in written:
        raise Fault(offset, f"'{written}' is not a date.")
    return Name(written)


def _scan_text(text: str, offset: int) -> tuple[Text, int]:
    """Read a string literal with escapes."""
    match = _TEXT.match(text, offset)
    assert match is not None
    end = match.end()
    if text[end : end + 1] != '"':
        if end == len(text):
            raise Fault(offset, "This string has no closing quotation mark.")
        if text[end] == "\\":
            raise Fault(end, "A string has the escapes of JSON only.")
        if text[end] in "\r\n":
            raise Fault(offset, "This string has no closing quotation mark in its line.")
        raise Fault(end, "A string contains a control character; write it as an escape.")
    resolved: str = json.loads(text[offset : end + 1])
    if LONE_SURROGATE.search(resolved):
        raise Fault(offset, "This string contains half of a surrogate pair.")
    return Text(resolved), end + 1


_NEGATIONS = re.compile("!+")


def _scan_negated(text: str, offset: int) -> tuple[Atom, int]:
    """Read ``!``, ``!value`` or ``!!value``, in which two negations cancel each other."""
    match = _NEGATIONS.match(text, offset)
    assert match is not None
    negations, end = match.end() - offset, match.end()
    if _VALUE.match(text, end) is None:
        if negations > 1:
            raise Fault(offset, "A name is expected after '!!'.")
        return Negated(), end
    if text[end] == "*":
        raise Fault(end, "'!' negates one name, number, text or variable, not '*'.")
    value, end = _scan_value(text, end)
    return (Negated(value) if negations % 2 else value), end


value = Scanned("a value", re.compile(r'["!?*@A-Za-z0-9._\-/:]'), _scan_value)
comma = pp.Suppress(",")


# Chunks ---------------------------------------------------------------------------------------

_NAME = re.compile(rf"@?{NAME}")
_TYPE = re.compile(rf"\*|@?{NAME}")
_HEAD = re.compile(
    rf"(?P<type>\*|@?{NAME})(?:{_GAP}(?P<id>{_ZONED_DATE}(?!{NAME_CHARACTER})|{NAME}))?{_SPACE}\{{"
)
_LINK = re.compile(
    rf"{NAME}{_GAP}@?{NAME}{_GAP}(?:{_ZONED_DATE}(?!{NAME_CHARACTER})|{NAME})(?!{_SPACE}\{{)"
)
_SEPARATOR = re.compile(r";|[A-Za-z0-9._\-/:@]")


def _name(written: str, offset: int) -> Name:
    """A name where a number or a boolean is not allowed."""
    first = written[0]
    if (first <= "9" and first != "@") or first in "tf":
        if is_date(written):
            return Date(written)
        if first != "*" and not is_name(written):
            raise Fault(offset, f"A name is expected, but '{written}' is a number or a boolean.")
    return Name(written)


def _scan_head(text: str, offset: int) -> tuple[tuple[Name, Name | None], int]:
    """Read the type, the identifier and the opening brace of a chunk."""
    match = _HEAD.match(text, offset)
    if match is None:
        raise _faulty_head(text, offset)
    identifier = match["id"]
    if identifier is not None:
        identifier = _name(identifier, match.start("id"))
    return (_name(match["type"], offset), identifier), match.end()


def _faulty_head(text: str, offset: int) -> pp.ParseBaseException:
    """The error for a statement that is neither a chunk nor a link."""
    names = re.compile(rf"(?:{_TYPE.pattern})(?:{_GAP}{NAME})?{_SPACE}").match(text, offset)
    assert names is not None
    expected = "'{'" if len(names.group().split()) > 1 else "an identifier or '{'"
    return pp.ParseSyntaxException(text, names.end(), f"Expected {expected}")


def _scan_property_name(text: str, offset: int) -> tuple[Name, int]:
    match = _NAME.match(text, offset)
    if match is None:
        raise pp.ParseException(text, offset, "Expected the name of a property")
    return _name(match.group(), offset), match.end()


def _scan_separator(text: str, offset: int) -> tuple[None, int]:
    """Read ``;``, or nothing if the property begins in a line after that of the last value."""
    if text[offset] == ";":
        return None, offset + 1
    if "\n" not in text[_end_of_previous(text, offset) : offset]:
        raise pp.ParseException(text, offset, "Expected ';', a line break or '}'")
    return None, offset


def _end_of_previous(text: str, offset: int) -> int:
    while text[offset - 1] in " \t\r\n":
        offset -= 1
    return offset


def _property(_: Span, name: Name, *items: Atom) -> tuple[Name, Value]:
    return name, items[0] if len(items) == 1 else items


def _chunk(span: Span, head: tuple[Name, Name | None], *properties: Any) -> Chunk:
    return Chunk._make(head[0], dict(filter(None, properties)), head[1], span.start)


_property_name = Scanned("the name of a property", _NAME, _scan_property_name)
property_ = Built(_property_name - value - pp.ZeroOrMore(comma - value), _property)
separator = Scanned("';', a line break or '}'", _SEPARATOR, _scan_separator)
properties = property_ + pp.ZeroOrMore(separator + property_)
closing = pp.Suppress("}").set_name("';', a line break or '}'")
head = Scanned("a chunk", _TYPE, _scan_head)
chunk = Built(head - pp.Opt(properties) - pp.Opt(pp.Suppress(";")) - closing, _chunk)


# Rules and links ------------------------------------------------------------------------------


def _negated(_: Span, negations: str, chunk: Chunk) -> Condition:
    return Condition(chunk, negated=negations.count("!") % 2 == 1)


def _rule(span: Span, first: Chunk | Condition, *tail: Any) -> Chunk | Rule:
    """A rule, or the chunk alone if no ``=>`` follows."""
    if not tail:
        assert isinstance(first, Chunk)
        return first
    *conditions, actions = tail
    return Rule((first, *conditions), actions, line=span.start)  # type: ignore[arg-type]


def _scan_link(text: str, offset: int) -> tuple[Link, int]:
    match = _LINK.match(text, offset)
    assert match is not None
    parts = [_name(written, offset) for written in match.group().split()]
    return Link(*parts, line=offset), match.end()


link = Scanned("a link", _LINK, _scan_link)
condition = Built(pp.Regex(rf"!(?:{_SPACE}!)*+").set_name("'!'") - chunk, _negated) | chunk
actions = pp.Group(pp.Suppress("=>") - chunk - pp.ZeroOrMore(comma - chunk)).set_name("'=>'")
more_conditions = pp.OneOrMore(comma + condition) + pp.Opt(comma) - actions
tail = (actions | more_conditions | comma - actions).set_name("',' or '=>'")
statement = (link | Built(chunk + pp.Opt(tail), _rule) | Built(condition - tail, _rule)).set_name(
    "a statement"
)

_read_statement = Readers().of(statement)
"""Reads one statement; the ``line`` of what it makes is its offset."""


# Text to document -----------------------------------------------------------------------------

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
        offset = _read_statement(bare, offset, statements)
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
