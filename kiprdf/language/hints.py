"""Hints for syntax errors, chosen by the token at the error and by what was expected there.

Most errors are habits from other languages; each has a hint of one line that repairs the command.
"""

from __future__ import annotations

import re
from typing import cast, get_args

from kiprdf.errors import nearest
from kiprdf.language import ast
from kiprdf.language.names import is_identifier

_WORD = re.compile(r"\w*")

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

_CONCEPT_BLOCK = 'CONCEPT ?x { {type: "…", name: "…"} … }'
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

_MERGE = f"Write {SYNTAX['MERGE']}."
_DELETE_CONCEPT = "DELETE CONCEPT ?x DETACH WHERE { ?x {…} }"

COMMANDS = {
    **dict.fromkeys(("SELECT", "MATCH", "ASK", "RETURN"), "A query is FIND(…) WHERE {…}."),
    **dict.fromkeys(
        ("INSERT", "CREATE", "SET", "CONCEPT", "PROPOSITION", "ADD"),
        f"A write is UPSERT {{ {_CONCEPT_BLOCK} }}.",
    ),
    **dict.fromkeys(("DETACH", "DROP", "REMOVE"), f"Write {_DELETE_CONCEPT}."),
    "EXPECT": "EXPECT VERSION n belongs in a block of UPSERT, after its matcher.",
}
"""What to write instead of a first word that is not a command."""

_ENDINGS = {
    "FIND": 'After WHERE {…} come ORDER BY …, LIMIT n, CURSOR "…", in this order.',
    "UPSERT": "After the closing brace comes WITH METADATA {…} or the next UPSERT.",
    "UPDATE": "SET ATTRIBUTES and SET METADATA come before WHERE {…}, LIMIT n after it.",
    "MERGE": "Nothing follows WHERE {…}, which must bind exactly one pair.",
    "SEARCH": 'After the term come WITH TYPE "…", MODE …, THRESHOLD x, LIMIT n, in this order.',
    "EXPORT": 'After WHERE {…} come LIMIT n and CURSOR "…", in this order.',
    "DESCRIBE": 'CONCEPT TYPES and PROPOSITION TYPES take LIMIT n and CURSOR "…", in this order.',
}
"""What may follow the end of each command."""

_ANYWHERE = {
    "AND": "Join conditions with &&.",
    "OR": "Join conditions with ||.",
    "IN": 'Membership is a function: IN(?x.name, ["a", "b"]).',
    "IS": "Test for null with IS_NULL(?x.attributes.key) or IS_NOT_NULL(…).",
    "LIKE": 'Use CONTAINS(?x.name, "…") or REGEX(?x.name, "…").',
    "CONTAINS": 'It is a function: CONTAINS(?x.name, "…").',
    "AS": "Remove AS: a column is named by its expression.",
    "DISTINCT": "Remove it: FIND lists each node once. Count with COUNT(DISTINCT ?x).",
    "OFFSET": "Page with LIMIT and CURSOR: send the next_cursor of the previous page.",
    "SKIP": "Page with LIMIT and CURSOR: send the next_cursor of the previous page.",
    "GROUP": "Remove GROUP BY: rows are grouped by the other expressions of FIND.",
    "HAVING": "Aggregates cannot be filtered; filter the rows of the answer.",
    "BIND": "Remove BIND: use the dot path, such as ?x.name.",
    "EXISTS": "Write the pattern as a clause, or NOT { … } for its absence.",
    "MINUS": "Write NOT { … }.",
    **dict.fromkeys(("ASC", "DESC"), "The direction comes last: ORDER BY ?x.name DESC."),
    "EXPECT": "EXPECT VERSION n belongs in a block of UPSERT, after its matcher; elsewhere "
    "write FILTER(?x.metadata._version == n).",
    "WITH": "WITH METADATA comes after the closing brace of its block.",
    "METADATA": "Write WITH METADATA {…} after the closing brace of the block.",
    "ATTRIBUTES": "Write SET ATTRIBUTES {…}.",
    "None": "Write null.",
    "True": "Write true.",
    "False": "Write false.",
    "NULL": "Write null.",
}
"""Words that belong in another place or in another language."""


def syntax_hint(text: str, offset: int, expected: str, command: str) -> str:
    """The hint for an error at an offset; the syntax of the command if there is no other.

    >>> expected = 'a predicate in double quotes'
    >>> syntax_hint("FIND(?a) WHERE { (?a, treats, ?b) }", 22, expected, "FIND")
    'Write it in double quotes: "treats".'
    """
    word = cast(re.Match[str], _WORD.match(text, offset)).group()
    if word:
        hint = _of_statement(word, expected, command) or _of_word(word, expected)
    else:
        symbol = text[offset : offset + 2]
        hint = _of_place(symbol[:1], expected) or _of_habit(symbol, expected)
    return hint or f"The syntax is {SYNTAX[command]}."


def ending_hint(text: str, offset: int, command: str) -> str | None:
    """The hint for text after a complete command."""
    word = cast(re.Match[str], _WORD.match(text, offset)).group()
    symbol = text[offset : offset + 1]
    if command == "SEARCH" and word in ("OFFSET", "SKIP", "CURSOR"):
        return "SEARCH has no pages; LIMIT goes up to 100."
    if word in ("OFFSET", "SKIP", "GROUP", "HAVING", "EXPECT"):
        return _ANYWHERE[word]
    if word.upper() in ("ASC", "DESC") and word not in KEYWORDS:
        return f"Keywords are upper case: {word.upper()}."
    if symbol == "?" and command == "FIND":
        return "Several sort keys are separated by commas."
    if symbol == ";":
        return "A command needs no semicolon."
    return _ENDINGS.get(command)


def _of_statement(word: str, expected: str, command: str) -> str | None:
    """Hints for a word that belongs in another statement."""
    if command == "MERGE" and word in ("WITH", "DETACH", "FROM", "TO"):
        return f"{_MERGE} It takes nothing else."
    if command == "UPDATE" and expected == "WHERE" and word == "WITH":
        return "UPDATE writes metadata with SET METADATA {…}."
    if command == "UPDATE" and word in ("PROPOSITIONS", "PROPOSITION") and "META" in expected:
        return "UPDATE writes values; create links with UPSERT."
    if command == "UPDATE" and ("SET ATTRIBUTES" in expected or expected.startswith("ATTRIBUTES")):
        return f"The syntax is {SYNTAX['UPDATE']}."
    if expected == "a variable" and word in ("CONCEPT", "PROPOSITION", "PROPOSITIONS"):
        return "Write only the variable; WHERE determines what it is."
    if expected.startswith("keyword, semantic"):
        return "Modes are keyword, semantic and hybrid."
    if word == "EXPECT" and command == "UPSERT" and expected.startswith("{type:"):
        return "The matcher comes first, then EXPECT VERSION n."
    return None


def _of_word(word: str, expected: str) -> str | None:
    """Hints for a word; what was expected is checked first, because it is more specific."""
    if expected.startswith("a predicate"):
        return f'Write it in double quotes: "{word}".'
    if expected.startswith("{type:"):
        return f"The matcher has its own braces: {_CONCEPT_BLOCK}."
    if expected.startswith("SET ATTRIBUTES or") and word == "PROPOSITIONS":
        return "A PROPOSITION block takes SET ATTRIBUTES only; write another block for a link."
    if word in ("ORDER", "LIMIT", "CURSOR") and "a clause" in expected:
        return f"{word} comes after the closing brace of WHERE."
    if word == "NOT" and "condition" in expected:
        return "Negate a condition with !, as in !IS_NULL(?x.attributes.key)."
    if expected == "DETACH":
        return f"Write {_DELETE_CONCEPT}."
    if expected == "'('":
        return "Parentheses are required here."
    if expected.startswith("PRIMER") and word in ("TYPE", "TYPES", "PREDICATES"):
        return 'Write DESCRIBE CONCEPT TYPES, or DESCRIBE CONCEPT TYPE "…".'
    if expected.startswith("a string") and not word[0].isdigit():
        return f'Write it in double quotes: "{word}".'
    if expected.startswith("'{' or '('"):
        return 'A concept clause is ?x {type: "…"}, a proposition clause (?x, "predicate", ?y).'
    if expected.startswith("(subject"):
        return 'Write (?x, "predicate", ?y); a concept is matched by {type: "…", name: "…"}.'
    if word in _ANYWHERE:
        return _ANYWHERE[word]
    if word.upper() in ("AND", "OR"):
        return _ANYWHERE[word.upper()]
    if word.upper() in KEYWORDS and word not in KEYWORDS:
        return f"Keywords are upper case: {word.upper()}."
    names = "a variable" in expected or "endpoint" in expected
    if names and is_identifier(word) and word not in KEYWORDS:
        return f"Variables begin with a question mark: ?{word}."
    return _of_misspelt(word, expected)


def _of_misspelt(word: str, expected: str) -> str | None:
    candidates = [candidate for candidate in KEYWORDS if candidate in expected]
    close = nearest(word, candidates, most=1)
    return f"Did you mean {close[0]}?" if close and close[0] != word else None


def _of_place(first: str, expected: str) -> str | None:
    """Hints for what is missing at a place, by the first character found there."""
    if expected == "WHERE":
        hints = {"": "Write WHERE { … }.", "{": "Write WHERE before the block."}
        return hints.get(first)
    if expected == "DETACH":
        return f"Write {_DELETE_CONCEPT}."
    if expected == "'('":
        return "Parentheses are required here."
    if expected.startswith("keyword, semantic"):
        return "Write MODE semantic."
    if first == "(" and expected == "a variable":
        return "No parentheses here; write the variable alone: ?x."
    if first == "{" and expected == "a variable":
        return "Write a variable here, and bind it in WHERE: ?x {…}."
    if first == "{" and "a clause (" in expected:
        return 'A concept clause is ?x {type: "…"}; a union is written as  a clause  UNION { … }.'
    if first == "{" and "CONCEPT or PROPOSITION block" in expected:
        return f"Write {_CONCEPT_BLOCK}."
    if first == "{" and "ATTRIBUTES" in expected:
        return "Write SET ATTRIBUTES {…}."
    if first == "(" and expected == "'{'":
        return "Put the block in braces."
    if first == '"' and expected in ("TYPES or TYPE", "CONCEPT or PROPOSITION"):
        return (
            'Write SEARCH CONCEPT "…" or SEARCH PROPOSITION "…".'
            if expected == "CONCEPT or PROPOSITION"
            else 'Write DESCRIBE CONCEPT TYPE "…".'
        )
    if first == '"' and "endpoint" in expected:
        return 'Name a concept by a matcher: {name: "…"} or {type: "…", name: "…"}.'
    if first == "" and "'}'" in expected:
        return "A block is not closed: add the missing '}'. A // comment ends with its line."
    return None


def _of_habit(symbol: str, expected: str) -> str | None:
    """Hints for symbols of other languages."""
    first = symbol[:1]
    if expected.startswith("a list"):
        return 'Put the values in brackets, IN(?x.name, ["a", "b"]), or name the path of an array.'
    if first == "=" and symbol != "==" and not expected.startswith("a number"):
        return "Equality is written ==."
    if first in ("=", "<", ">") and expected.startswith("a number"):
        return "Write the number alone."
    if first == ">" and "a value" in expected:
        return "Inequality is written !=."
    if symbol in ("->", "=>", "-["):
        return 'A link is written (?a, "predicate", ?b).'
    if first in ("&", "|") and symbol not in ("&&", "||"):
        return "Join conditions with && and ||."
    if first in ("*", "+") and expected == "','":
        return f'Any number of hops is "p"{"{0,}" if first == "*" else "{1,}"}.'
    if first == "*" and expected != "a variable":
        return "Name variables: FIND(?x), COUNT(?x)."
    if first in ("+", "-", "/") and ("operator" in expected or "'&&'" in expected):
        return "KIP has no arithmetic; compare with a value."
    if first in ("<", ">", "=", "!") and ("operator" in expected or "'&&'" in expected):
        return "Join two comparisons with &&; negate a comparison as !(…)."
    if first in ("'", "‘", "“", "”"):
        return 'Strings use straight double quotes: "…".'
    if first == "#" or symbol == "/*":
        return "Comments begin with //."
    if first in (",", ".", ";") and "a clause" in expected:
        return "Clauses have no separator."
    if first == "[" and "'{'" in expected:
        return 'Put keys in braces: {"key"}.'
    if first == "-" and "'" in expected:
        return "Identifiers use _, not -."
    if first == '"' and expected.startswith("a number"):
        return "Write the number without quotes."
    if first == "[":
        return "A path reaches a key as ?x.attributes.key."
    if first == ")" and "," not in expected:
        return "Remove the comma before ')', or add the missing part."
    if expected == "','":
        return 'A proposition is (subject, "predicate", object), with commas.'
    return None
