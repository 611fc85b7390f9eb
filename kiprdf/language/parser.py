"""Text to tree: ``parse``. Budgets first, then the grammar, then the error in KIP's words."""

from __future__ import annotations

import re
import sys
from typing import cast, get_args

import pyparsing as pp

from kiprdf.errors import KipError
from kiprdf.language import ast, grammar, limits, values
from kiprdf.source import Span

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[][{}()]|!(?!=)', re.DOTALL)
_FIRST_WORD = re.compile(r"[A-Za-z_]*")
# A level of nesting costs the combinators about thirty Python frames, and the stages behind
# them fewer; Python's usual limit is 1 000 in all.
_FRAMES_A_LEVEL = 60
_ROOMY_DEPTH = 10


def parse(text: str, *, limit_size: bool = True) -> ast.Command:
    """Read one KIP command (KIP 3, 4, 5); several UPSERT blocks are one command.

    Raises ``KipError``: KIP_1001 or KIP_1002 with the place of the fault, KIP_4002 beyond the
    budgets. ``limit_size=False`` lifts the limit of 256 KiB, for capsules.

    >>> parse('DESCRIBE CONCEPT TYPE "Drug"')
    DescribeType(kind='CONCEPT', name=Scalar(value='Drug'))
    """
    try:
        return _parse(text, limit_size)
    except KipError as error:
        raise error.in_source(text) from None


def _parse(text: str, limit_size: bool) -> ast.Command:
    if limit_size and len(text) > limits.COMMAND_BYTES // 4:
        _check_size(text)
    bare, depth = _prepare(text)
    _make_room(depth)
    start = values.skip_space(bare, 0)
    word = cast(re.Match[str], _FIRST_WORD.match(bare, start)).group()
    if word not in grammar.COMMANDS:
        raise grammar.unknown_command(word, start)
    try:
        (command,) = grammar.COMMANDS[word].parse_string(bare)
        end = _end_of(bare, command)
    except pp.ParseBaseException as fault:
        raise _in_our_words(bare, fault) from None
    if end < len(bare):
        raise _trailing(bare, end, word)
    return cast(ast.Command, command)


def _check_size(text: str) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > limits.COMMAND_BYTES:
        message = "The command is longer than 256 KiB."
        hint = "Split it, send values as parameters, or load it with apply_capsule."
        raise KipError("KIP_4002", message, hint)


def _prepare(text: str) -> tuple[str, int]:
    """Blank the comments, so that offsets stay; measure the nesting."""
    pieces: list[str] = []
    copied = depth = deepest = negations = 0
    for match in _STRUCTURE.finditer(text):
        first = match.group()[0]
        if first == "/":
            pieces.append(text[copied : match.start()])
            pieces.append(" " * (match.end() - match.start()))
            copied = match.end()
            continue
        negations = negations + 1 if first == "!" else 0
        if first in "([{":
            depth += 1
        elif first in ")]}":
            depth -= 1
        deepest = max(deepest, depth + negations)
        if depth > limits.NESTING or negations > limits.NESTING:
            message = f"The command nests deeper than {limits.NESTING} levels."
            span = Span(match.start(), match.end())
            raise KipError("KIP_4002", message, "Split the command.", span)
    pieces.append(text[copied:])
    return "".join(pieces), deepest


def _make_room(depth: int) -> None:
    """Raise Python's recursion limit for a deeply nested command; it is never lowered again.

    Lowering it could strand another thread that is deep in a command of its own.
    """
    wanted = 1_000 + depth * _FRAMES_A_LEVEL
    if depth > _ROOMY_DEPTH and sys.getrecursionlimit() < wanted:
        sys.setrecursionlimit(wanted)


def _end_of(bare: str, command: ast.Node) -> int:
    end = command.span.end
    return values.skip_space(bare, end)


_ENDINGS = {
    "FIND": 'Behind WHERE {…} stand ORDER BY one expression, LIMIT n, CURSOR "…", in this order.',
    "UPSERT": "Behind the closing brace stands WITH METADATA {…} or the next UPSERT.",
    "SEARCH": 'Behind the term stand WITH TYPE "…" and LIMIT n, in this order.',
    "DESCRIBE": 'LIMIT n and CURSOR "…" stand behind TYPES, in this order.',
}
"""What may still follow, by the first word of a command."""


def _trailing(bare: str, offset: int, word: str) -> KipError:
    following = cast(re.Match[str], _FIRST_WORD.match(bare, offset)).group()
    span = Span(offset, offset + max(1, len(following)))
    if following in grammar.COMMANDS:
        hint = "Send several commands as the list `commands`; only UPSERT blocks may share a text."
        return KipError("KIP_1001", "A second command stands in the same text.", hint, span)
    found = values.describe_token(bare, offset)
    message = f"Expected the end of the command, found {found}."
    return KipError("KIP_1001", message, _ENDINGS.get(word), span)


def _in_our_words(bare: str, fault: pp.ParseBaseException) -> KipError:
    offset = values.skip_space(bare, fault.loc)
    expected = fault.msg.removeprefix("Expected ").strip().rstrip(",")
    found = values.describe_token(bare, offset)
    message = f"Expected {expected}, found {found}."
    return KipError("KIP_1001", message, _hint(bare, offset, expected), Span(offset, offset + 1))


_KEYWORDS = frozenset(
    (
        *("FIND", "WHERE", "FILTER", "NOT", "OPTIONAL", "UNION", "ORDER", "BY", "ASC", "DESC"),
        *("LIMIT", "CURSOR", "DISTINCT", "IN", "IS_NULL", "IS_NOT_NULL"),
        *get_args(ast.AggregateFunction),
        *get_args(ast.StringFunction),
        *("UPSERT", "CONCEPT", "PROPOSITION", "SET", "ATTRIBUTES", "PROPOSITIONS", "WITH"),
        *("METADATA", "DELETE", "FROM", "DETACH"),
        *("DESCRIBE", "PRIMER", "DOMAINS", "TYPES", "TYPE", "SEARCH"),
    )
)


def _hint(bare: str, offset: int, expected: str) -> str | None:
    """What to do about the token at the fault, where its look tells."""
    word = cast(re.Match[str], _FIRST_WORD.match(bare, offset)).group()
    return _word_hint(word, expected) if word else _mark_hint(bare[offset : offset + 2], expected)


_MISPLACED = {
    "AND": "Join conditions with &&.",
    "OR": "Join conditions with ||.",
    "IN": 'Membership is a function: IN(?x.name, ["a", "b"]).',
    "AS": "Leave AS out: a column is named by its expression.",
    "DISTINCT": "FIND repeats no row anyway; DISTINCT stands in COUNT(DISTINCT ?x).",
    "OFFSET": "Page with LIMIT and CURSOR: send next_cursor of the page before.",
    "GROUP": "Leave GROUP BY out: what stands beside an aggregate in FIND is the group.",
    "EXISTS": "Write the pattern as a clause, or NOT { … } for its absence.",
    "WITH": "WITH METADATA stands behind the closing brace of its block.",
    "ATTRIBUTES": "Write SET ATTRIBUTES {…}.",
    "PROPOSITIONS": "Write SET PROPOSITIONS {…}.",
    "MINUS": "Write NOT { … }.",
    "SELECT": "A query is FIND(…) WHERE {…}.",
}
"""Words that stand at a place, or in a language, other than theirs."""


def _word_hint(word: str, expected: str) -> str | None:
    if expected.startswith("a predicate"):
        return f'Write it in double quotes: "{word}".'
    if expected.startswith("{type:"):
        return 'The matcher has braces of its own: CONCEPT ?x { {type: "…", name: "…"} … }.'
    if word in ("ORDER", "LIMIT", "CURSOR") and "a clause" in expected:
        return f"{word} stands behind the closing brace of WHERE."
    if word == "NOT" and "a condition" in expected:
        return "Negate a condition with !, as in !IS_NULL(?x.attributes.key)."
    if word in _MISPLACED:
        return _MISPLACED[word]
    if word.upper() in _KEYWORDS and word not in _KEYWORDS:
        return f"Keywords are upper case: {word.upper()}."
    return None


def _mark_hint(following: str, expected: str) -> str | None:
    first = following[:1]
    if expected == "WHERE":
        return "Write WHERE before the block."
    if expected == "','":
        return 'A proposition is (subject, "predicate", object), with commas.'
    if first == "=" and following != "==":
        return "Equality is written ==."
    if following in ("<>", "->", "=>"):
        return 'Write != for unequal, (?a, "predicate", ?b) for a link.'
    if first in ("*", "+") and "hop" not in expected:
        return 'Any number of hops is "p"{1,}, or "p"{0,} with none among them.'
    if first == "{" and expected == "a variable":
        return 'Bind the target in WHERE: DELETE CONCEPT ?x DETACH WHERE { ?x {type: "…"} }.'
    if first == "{" and "a clause" in expected:
        return 'A concept clause in WHERE has a variable: ?x {type: "…"}.'
    if first == "(" and expected == "'{'":
        return "The block stands in braces."
    if first in ("'", "‘", "“", "”"):
        return 'Strings stand in straight double quotes: "…".'
    return None
