"""What to write instead of a mistake: the hints of syntax errors.

Most mistakes are habits from other languages. A row of a chapter matches the text at the place of
an error, and its hint gives the replacement literally, in one of the forms that `docs/errors.md`
lists, so that the replacement can be made by a program. ``parse`` asks for a hint after an error,
and nothing here is loaded before.

characters.toml  quotes, comments, placeholders, punctuation and white space of other languages
first_word.toml  the first word of a text, and what follows a complete command
write.toml       UPSERT, UPDATE, MERGE and DELETE
ask.toml         DESCRIBE, SEARCH and EXPORT
filter.toml      FILTER: operators and functions
find.toml        FIND
where.toml       WHERE: clauses, matchers, propositions, objects and paths
syntax.toml      the form of each command, for errors without a more specific hint

rows         what a row is, and how it is matched
functions    the replacements that are more than a template
texts        parts of a command as patterns
unions       a matcher with several types
corrections  the commands that follow a hint
"""

from __future__ import annotations

import re
from typing import cast, get_args

from kiprdf.advice.rows import all_rows, chapter, hint_of
from kiprdf.advice.unions import union_hint
from kiprdf.errors import KipError, nearest
from kiprdf.language import ast
from kiprdf.language.names import KEYWORDS

_WORD = re.compile(r"\w*")
_FIRST_WORD = re.compile(r"[A-Za-z_]*")
_COMMAND = re.compile(r"\s*([A-Z]*)")
_END = "the end of the command"
_LATER_VERSION = re.compile(r"(AS\s+OF|HISTORY|CHANGES)\b", re.IGNORECASE)


def of(text: str, error: KipError) -> str:
    """The hint for an error where something else was expected.

    ``text`` is the command without its comments. An error of the scanner keeps the hint that it
    has, if no row matches; one of the grammar has none.

    >>> from kiprdf.source import Span
    >>> text = "FIND(?a) WHERE { (?a, treats, ?b) }"
    >>> expected = "a predicate in double quotes"
    >>> of(text, KipError("KIP_1001", "", "", Span(22, 28), expected=expected))
    'A predicate has double quotes. Write `"treats"` instead of `treats`.'
    """
    at, expected = error.span.start, cast(str, error.expected)
    if expected == "a command":
        return _of_first_word(text, at, error.hint)
    if error.hint:
        return _of_rows(text, at, expected, error.hint) or error.hint
    word = cast(re.Match[str], _WORD.match(text, at)).group()
    return (
        _of_later_version(text, at)
        or _of_case(word, expected)
        or _of_rows(text, at, expected)
        or _of_misspelt(word, expected)
        or hint_of(all_rows("last"), text, at, expected)
        or _of_command(text, expected)
    )


def _of_first_word(text: str, at: int, own: str) -> str:
    word = cast(re.Match[str], _FIRST_WORD.match(text, at)).group()
    hint = _of_later_version(text, at) or _of_rows(text, at, "a command")
    close = nearest(word, chapter("syntax")["syntax"], most=1)
    if close and (hint is None or word.upper() == close[0]):
        return f"Did you mean {close[0]}? Keywords are upper case."
    return hint or own


def _of_rows(text: str, at: int, expected: str, own: str = "") -> str | None:
    return union_hint(text, at, expected) or hint_of(all_rows(), text, at, expected, own)


def _of_later_version(text: str, at: int) -> str | None:
    """What KIP 2.0 has for time, and what serves it here."""
    match = _LATER_VERSION.match(text, at)
    if match is None:
        return None
    words = " ".join(match.group().upper().split())
    calls = {"HISTORY": "call history(id), or ", "CHANGES": "call changes(since), or "}
    return f"{words} is KIP 2.0; {calls.get(words, '')}send as_of."


def _of_case(word: str, expected: str) -> str | None:
    """A keyword in lower case."""
    upper = word.upper()
    if word == upper or upper not in KEYWORDS or not (_names(upper, expected) or expected == _END):
        return None
    return f"Keywords are upper case. Write `{upper}` instead of `{word}`."


def _of_misspelt(word: str, expected: str) -> str | None:
    if word in KEYWORDS:
        return None
    candidates = [candidate for candidate in KEYWORDS if _names(candidate, expected)]
    close = nearest(word, candidates, most=1)
    return f"Did you mean {close[0]}?" if close else None


def _names(keyword: str, expected: str) -> bool:
    """Whether a keyword is one of those that were expected."""
    words = {
        "an aggregate": get_args(ast.AggregateFunction),
        "a condition": ("IN", "IS_NULL", "IS_NOT_NULL", *get_args(ast.StringFunction)),
    }
    named = any(what in expected and keyword in words[what] for what in words)
    return named or re.search(rf"\b{keyword}\b", expected) is not None


def _of_command(text: str, expected: str) -> str:
    """What the command takes, for errors without a more specific hint."""
    command = cast(re.Match[str], _COMMAND.match(text)).group(1)
    tables = chapter("syntax")
    if expected == _END:
        return str(tables["endings"][command])
    return f"The syntax is {tables['syntax'][command]}."
