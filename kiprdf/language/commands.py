"""A command without comments to its tree, by the grammar; errors in KIP's words.

Imported when the first command comes: pyparsing and the grammar take as long to load as a third of
everything else.
"""

from __future__ import annotations

import re
from threading import Lock
from typing import cast

import pyparsing as pp

from kiprdf.errors import KipError
from kiprdf.language import ast, grammar, values
from kiprdf.language.hints import ending_hint, syntax_hint
from kiprdf.language.readers import Reader, Readers
from kiprdf.source import Span

_FIRST_WORD = re.compile(r"[A-Za-z_]*")
_readers = Readers()
_made: dict[str, Reader] = {}
_making = Lock()


def read(bare: str) -> ast.Command:
    """The tree of a text whose comments are blank; raises KIP_1001 and KIP_1002."""
    start = values.skip_space(bare, 0)
    word = cast(re.Match[str], _FIRST_WORD.match(bare, start)).group()
    if word not in grammar.COMMANDS:
        raise grammar.unknown_command(word, start)
    parts: list[ast.Command] = []
    try:
        end = _reader(word)(bare, start, parts)
    except pp.ParseBaseException as fault:
        raise _in_our_words(bare, fault, word) from None
    if end < len(bare):
        raise _trailing(bare, end, word)
    (command,) = parts
    return command


def _reader(word: str) -> Reader:
    """The reader of a command, made when the first such command comes: it takes milliseconds."""
    if word not in _made:
        with _making:
            _made[word] = _readers.of(grammar.COMMANDS[word])
    return _made[word]


def _trailing(bare: str, offset: int, word: str) -> KipError:
    following = cast(re.Match[str], _FIRST_WORD.match(bare, offset)).group()
    span = Span(offset, offset + max(1, len(following)))
    if following in grammar.COMMANDS:
        hint = "Send several commands as the list `commands`; only UPSERT blocks may share a text."
        return KipError("KIP_1001", "A second command stands in the same text.", hint, span)
    found = values.describe_token(bare, offset)
    message = f"Expected the end of the command, found {found}."
    return KipError("KIP_1001", message, ending_hint(bare, offset, word), span)


def _in_our_words(bare: str, fault: pp.ParseBaseException, word: str) -> KipError:
    offset = values.skip_space(bare, fault.loc)
    expected = fault.msg.removeprefix("Expected ").strip().rstrip(",")
    message = f"Expected {expected}, found {values.describe_token(bare, offset)}."
    hint = syntax_hint(bare, offset, expected, word)
    return KipError("KIP_1001", message, hint, values.token_span(bare, offset))
