"""Hints for syntax errors, chosen by the token at the error and by what was expected there.

Most errors are habits from other languages; each has a hint of one line that repairs the command.
"""

from __future__ import annotations

import re
from typing import cast, get_args

from kiprdf.errors import nearest
from kiprdf.language import ast
from kiprdf.language.repairs import advice, repair

_WORD = re.compile(r"\w*")
_COMMAND = re.compile(r"\s*([A-Z]*)")

KEYWORDS = frozenset(
    (
        *("FIND", "WHERE", "FILTER", "NOT", "OPTIONAL", "UNION", "ORDER", "BY", "ASC", "DESC"),
        *("LIMIT", "CURSOR", "DISTINCT", "IN", "IS_NULL", "IS_NOT_NULL"),
        *get_args(ast.AggregateFunction),
        *get_args(ast.StringFunction),
        *("UPSERT", "CONCEPT", "PROPOSITION", "SET", "ATTRIBUTES", "PROPOSITIONS", "WITH"),
        *("METADATA", "EXPECT", "VERSION", "DELETE", "FROM", "DETACH", "UPDATE", "MERGE", "INTO"),
        *get_args(ast.NumberFunction),
        *("DESCRIBE", "PRIMER", "DOMAINS", "TYPES", "TYPE", "SEARCH", "MODE", "THRESHOLD"),
        "EXPORT",
    )
)

SYNTAX = {
    "FIND": "FIND(?x, ?x.name) WHERE { … } ORDER BY ?x.name DESC LIMIT n",
    "UPSERT": 'UPSERT { CONCEPT ?x { {…} SET ATTRIBUTES {…} } PROPOSITION { (?x, "…", ?y) } } '
    "WITH METADATA {…}",
    "UPDATE": "UPDATE ?x SET ATTRIBUTES { key: 1 } SET METADATA { key: 1 } WHERE { … } LIMIT n",
    "MERGE": "MERGE CONCEPT ?from INTO ?to WHERE { ?from {…} ?to {…} }",
    "DELETE": 'DELETE ATTRIBUTES {"key"} FROM ?x WHERE { … }, DELETE PROPOSITIONS ?link WHERE '
    "{ … } or DELETE CONCEPT ?x DETACH WHERE { … }",
    "DESCRIBE": 'DESCRIBE PRIMER, DESCRIBE CONCEPT TYPES or DESCRIBE CONCEPT TYPE "…"',
    "SEARCH": 'SEARCH CONCEPT "…" WITH TYPE "…" MODE … THRESHOLD … LIMIT n',
    "EXPORT": 'EXPORT ?x WHERE { … } LIMIT n CURSOR "…"',
}
"""The syntax of each command, for errors without a more specific hint."""

_ENDINGS = {
    "FIND": 'After WHERE {…} come ORDER BY …, LIMIT n, CURSOR "…", in this order.',
    "UPSERT": "After the closing brace comes WITH METADATA {…} or the next UPSERT.",
    "UPDATE": "SET ATTRIBUTES and SET METADATA come before WHERE {…}, LIMIT n after it.",
    "MERGE": "Nothing follows WHERE {…}, which must bind exactly one pair.",
    "SEARCH": 'After the term come WITH TYPE "…", MODE …, THRESHOLD x, LIMIT n, in this order.',
    "EXPORT": 'After WHERE {…} come LIMIT n and CURSOR "…", in this order.',
    "DESCRIBE": 'CONCEPT TYPES and PROPOSITION TYPES take LIMIT n and CURSOR "…", in this order.',
    "DELETE": "Nothing follows WHERE {…}.",
}
"""What may follow the end of each command."""
END = "the end of the command"


_LATER_VERSION = re.compile(r"(AS\s+OF|HISTORY|CHANGES)\b", re.IGNORECASE)


def syntax_hint(text: str, offset: int, expected: str) -> str:
    """The hint for what was found at an offset instead of what was expected.

    >>> expected = 'a predicate in double quotes'
    >>> syntax_hint("FIND(?a) WHERE { (?a, treats, ?b) }", 22, expected)
    'A predicate has double quotes. Write `"treats"` instead of `treats`.'
    """
    word = cast(re.Match[str], _WORD.match(text, offset)).group()
    return (
        later_version(text, offset)
        or _of_case(word, expected)
        or repair(text, offset, expected)
        or _of_misspelt(word, expected)
        or advice(text, offset, expected)
        or _of_command(text, expected)
    )


def later_version(text: str, offset: int) -> str | None:
    """What KIP 2.0 has for time, and what serves it here."""
    match = _LATER_VERSION.match(text, offset)
    if match is None:
        return None
    words = " ".join(match.group().upper().split())
    calls = {"HISTORY": "call history(id), or ", "CHANGES": "call changes(since), or "}
    return f"{words} is KIP 2.0; {calls.get(words, '')}send as_of."


def _of_case(word: str, expected: str) -> str | None:
    """A keyword in lower case."""
    upper = word.upper()
    if word == upper or upper not in KEYWORDS or not (_names(upper, expected) or expected == END):
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
    if expected == END:
        return _ENDINGS[command]
    return f"The syntax is {SYNTAX[command]}."
