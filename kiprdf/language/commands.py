"""Reads one command with the grammar and reports syntax errors in KIP terms.

Imported when the first command is parsed, because pyparsing and the grammar take a third of the
import time of the whole package.
"""

from __future__ import annotations

import re
from typing import cast

import pyparsing as pp

from kiprdf.errors import KipError
from kiprdf.language import ast, grammar, values
from kiprdf.language.readers import Reader, Readers
from kiprdf.source import Span

_FIRST_WORD = re.compile(r"[A-Za-z_]*")
_readers = Readers()


def read(bare: str) -> ast.Command:
    """Parse a text whose comments are blanked; raises KIP_1001 and KIP_1002."""
    start = values.skip_space(bare, 0)
    word = cast(re.Match[str], _FIRST_WORD.match(bare, start)).group()
    if word not in grammar.COMMANDS:
        raise _unknown_command(bare, start, word)
    parts: list[ast.Command] = []
    try:
        end = _reader(word)(bare, start, parts)
    except pp.ParseBaseException as fault:
        raise _syntax_error(bare, fault) from None
    if end < len(bare):
        raise _trailing_text(bare, end)
    (command,) = parts
    return command


def _reader(word: str) -> Reader:
    """The reader of a command, compiled on first use: that takes milliseconds."""
    return _readers.of(grammar.COMMANDS[word])


def _unknown_command(bare: str, offset: int, word: str) -> KipError:
    """The error for a text whose first word is not a command."""
    span = Span(offset, offset + max(1, len(word)))
    if not bare.strip():
        how = "Send the text of a command, such as `DESCRIBE PRIMER`; // begins a comment."
        return KipError("KIP_1001", "The command is empty.", how, span)
    hint = "Send only the command text, without code fences, quotes or a surrounding request."
    *others, last = grammar.COMMANDS
    message = f"A command begins with {', '.join(others)} or {last}."
    return KipError("KIP_1001", message, hint, span, expected="a command")


def _trailing_text(bare: str, offset: int) -> KipError:
    following = cast(re.Match[str], _FIRST_WORD.match(bare, offset)).group()
    span = Span(offset, offset + max(1, len(following)))
    if following in grammar.COMMANDS:
        hint = "Send several commands in the list `commands`; only UPSERT blocks can share a text."
        return KipError("KIP_1001", "The text contains a second command.", hint, span)
    return _unexpected(bare, offset, "the end of the command", span)


def _syntax_error(bare: str, fault: pp.ParseBaseException) -> KipError:
    offset = values.skip_space(bare, fault.loc)
    expected = fault.msg.removeprefix("Expected ").strip().rstrip(",")
    return _unexpected(bare, offset, expected, values.token_span(bare, offset))


def _unexpected(bare: str, offset: int, expected: str, span: Span) -> KipError:
    """An error without a hint, which the parser asks advice for."""
    message = f"Expected {expected}, found {values.describe_token(bare, offset)}."
    return KipError("KIP_1001", message, "", span, expected=expected)
