"""Refuses raw SPARQL that would reach the network, write, or overload the engine.

The engine parses without a tokenizer: to it, ``falseSERVICE:x`` calls a service. So the guard
allows the word only in strings, IRIs, variables and local names, and refuses a text in which it
could recognize one of these where the engine does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiprdf.errors import KipError
from kiprdf.loading import lazy_pattern
from kiprdf.source import Span

QUERY_BYTES = 64 * 1024
BRACKET_DEPTH = 100
OPERATORS = 200
TEXT_FUNCTIONS = 8
"""Calls of functions that build long strings from short ones; chained they fill the memory."""
JOINS = 100
"""Triples and groups; the engine takes minutes to plan a few hundred of them."""
LISTED_TERMS = 64
"""Adjacent terms in one pair of parentheses, as in an RDF collection."""

_ESCAPE = lazy_pattern(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
# A comparison with a string, or an IRI with an apostrophe: two ways to read what follows.
_IRI = r"[^\x00-\x20<>\"{}|^`\\]"
_AMBIGUOUS = lazy_pattern(rf"<{_IRI}*'")
_NAME = r"[\w\u00b7\u0300-\u036f\u203f\u2040]"
_TOKEN = lazy_pattern(
    r"(?P<space>\s+)"
    r"|(?P<comment>\#[^\r\n]*)"
    r'|(?P<string>"""(?:"{0,2}(?:[^"\\]|\\.))*"""'
    r"|'''(?:'{0,2}(?:[^'\\]|\\.))*'''"
    r'|"(?:[^"\\\r\n]|\\.)*"'
    r"|'(?:[^'\\\r\n]|\\.)*')"
    rf"|(?P<iri><{_IRI}*>)"
    rf"|(?P<variable>[?$]{_NAME}+)"
    rf"|(?P<name>(?:[^\W\d_](?:{_NAME}|[.-])*)?:(?:{_NAME}|[:.-]|%[0-9A-Fa-f]{{2}}"
    r"|\\[_~.!$&'()*+,;=/?#@%-])*)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<word>@?{_NAME}+(?:--?\w+)*)"
    r"|(?P<mark><<\(?|\)?>>|&&|\|\||\^\^?|!=|<=|>=|~|\{\||\|\}|[][{}()|/!=<>*+?.,;-])",
    re.DOTALL,
)
_BUILT_IN = re.compile(r"<?(?:bif|sql):", re.IGNORECASE)
_TEXT_FUNCTIONS = frozenset(("CONCAT", "GROUP_CONCAT", "REPLACE"))
_READING = frozenset(("SELECT", "ASK", "CONSTRUCT", "DESCRIBE"))
_OPERATOR_WORDS = frozenset(
    ("UNION", "OPTIONAL", "FILTER", "LATERAL", "MINUS", "EXISTS", "AS", "IN")
)
_OPERATOR_MARKS = frozenset(
    ("&&", "||", "|", "/", "!", "=", "!=", "<", ">", "<=", ">=", "+", "-", "^")
)
_BEFORE_STAR = frozenset(("SELECT", "DISTINCT", "REDUCED", "("))
_OPENING = frozenset(("{", "(", "[", "<<", "<<(", "{|"))
_CLOSING = frozenset(("}", ")", "]", ">>", ")>>", "|}"))
_TERMS = frozenset(("string", "iri", "variable", "name", "number", "word"))

_KINDS = {"iri": "i", "name": "i", "variable": "v", "string": "l", "number": "n"}
_KIND_WORDS = {"PREFIX": "P", "BASE": "B", "ASK": "A", "SELECT": "S", "WHERE": "W", "LIMIT": "L"}
_ONE_PATTERN = re.compile(r"(?:Pii|Bi)*(?:A|S(?:v{1,3}|\*))W?\{[iv][iv][ivln]\.?\}(?:Ln)?")


def check_query(text: str) -> str:
    """Check a query and return it with its code point escapes resolved (SPARQL §19.2).

    Raises KIP_1001 for a text that is not a query, has SERVICE or FROM, or can be read in two
    ways; KIP_4002 beyond 64 KiB, 100 levels of brackets, 200 operators, or 100 triples and groups,
    where the engine would plan for minutes or crash.
    """
    if not isinstance(text, str):
        raise KipError("KIP_1001", "A query must be a string.", "Send SPARQL as a string.")
    if len(text.encode("utf-8", "surrogatepass")) > QUERY_BYTES:
        raise KipError("KIP_4002", "The SPARQL text is longer than 64 KiB.", "Split the query.")
    text = _resolved(text)
    ambiguous = _AMBIGUOUS.search(text)
    if ambiguous:
        hint = "Write a space after '<' in a comparison, and %27 for an apostrophe in an IRI."
        span = Span(ambiguous.start(), ambiguous.end())
        raise KipError("KIP_1001", "This can be read in two ways.", hint, span, text)
    only_reads = False
    for match in _tokens(text):
        _refuse_service(match)
        _refuse_word("FROM", match)
        only_reads = only_reads or match.group().upper() in _READING
    if not only_reads:
        hint = "Use SELECT, ASK, CONSTRUCT or DESCRIBE; write with KML."
        raise KipError("KIP_1001", "This is not a SPARQL query.", hint)
    _check_size(text)
    return text


def returns_triples(text: str) -> bool:
    """Whether a query that passed the guard is a CONSTRUCT or DESCRIBE.

    >>> returns_triples("PREFIX select: <urn:x> CONSTRUCT WHERE { ?s ?p ?o }")
    True
    """
    words = (match.group().upper() for match in _tokens(text) if match.lastgroup == "word")
    return next((word for word in words if word in _READING), "") in ("CONSTRUCT", "DESCRIBE")


def refuse_extensions(text: str) -> None:
    """Raise KIP_1001 for what could reach beyond the knowledge of a nexus in a store of others:
    GRAPH, and the DEFINE, ``bif:`` and ``sql:`` of Virtuoso."""
    for match in _tokens(text):
        _refuse_word("GRAPH", match)
        _refuse_word("DEFINE", match)
        if match.lastgroup in ("iri", "name") and _BUILT_IN.match(match.group()):
            message = f"{match.group()} is refused: it may call a procedure of the store."
            span = Span(match.start(), match.end())
            raise KipError("KIP_1001", message, "Use functions of SPARQL.", span, text)


def is_one_pattern(text: str) -> bool:
    """Whether a query that passed the guard is a single index lookup without further computation.

    Such a query takes no longer than reading its answer.
    """
    kinds = "".join(_kind(match) for match in _tokens(text) if match.lastgroup != "comment")
    shape = _ONE_PATTERN.fullmatch(kinds)
    if shape is None:
        return False
    pattern = text[text.rindex("{") :]
    ends = [match.group()[1:] for match in _tokens(pattern) if match.lastgroup == "variable"]
    return len(ends) == len(set(ends))


def _kind(match: re.Match[str]) -> str:
    """One letter for a token of ``_ONE_PATTERN``."""
    token = match.group()
    if match.lastgroup == "word":
        return "i" if token == "a" else _KIND_WORDS.get(token.upper(), "?")
    if match.lastgroup == "mark":
        return token if token in ("{", "}", ".", "*") else "?"
    return _KINDS[match.lastgroup or ""]


def _resolved(text: str) -> str:
    """The text without code point escapes; one that yields an escape again is refused."""
    resolved = _ESCAPE.sub(lambda m: _character(m.group(1) or m.group(2)), text)
    if _ESCAPE.search(resolved):
        message = "The code point escapes yield another escape."
        raise KipError("KIP_1001", message, "Write the character itself.")
    return resolved


def _character(digits: str) -> str:
    number = int(digits, 16)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        message = f"The code point escape {digits} is not a character."
        raise KipError("KIP_1001", message, "Write the character itself.")
    return chr(number)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """The tokens of a text without white space; raises KIP_1001 for anything else."""
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            span = Span(offset, offset + 1)
            message = "The SPARQL text cannot be parsed here."
            raise KipError(
                "KIP_1001", message, "Check that each string and IRI is closed.", span, text
            )
        if match.lastgroup != "space":
            yield match
        offset = match.end()


def _refuse_service(match: re.Match[str]) -> None:
    if match.lastgroup in ("string", "iri", "variable"):
        return
    # The engine may find the keyword before the colon of a name, but not after it.
    exposed = match.group().partition(":")[0] if match.lastgroup == "name" else match.group()
    if "service" in exposed.casefold():
        hint = (
            "A query cannot call other services. If the word is part of a name, write the name "
            "as a full IRI: <…>."
        )
        span = Span(match.start(), match.end())
        raise KipError("KIP_1001", "SERVICE is refused.", hint, span, match.string)


def _refuse_word(word: str, match: re.Match[str]) -> None:
    if match.lastgroup == "word" and match.group().upper() == word:
        message = f"{word} is refused: a query reads the default graph only."
        span = Span(match.start(), match.end())
        raise KipError("KIP_1001", message, f"Leave {word} out.", span, match.string)


def _check_size(text: str) -> None:
    """Count what the engine plans; lists of values in parentheses or VALUES cost little."""
    open_brackets: list[str] = []
    operators = joins = neighbours = calls = 0
    previous, previous_is_term = "", False
    for match in _tokens(text):
        token = match.group()
        is_term = match.lastgroup in _TERMS
        if token in _OPENING:
            open_brackets.append(token)
            joins += token != "("
            neighbours = 0
        elif token in _CLOSING:
            if open_brackets:
                open_brackets.pop()
        elif open_brackets[-1:] == ["("]:
            neighbours += is_term and previous_is_term
        else:
            joins += token in (".", ";", ",") or token.upper() in ("VALUES", "GRAPH")
        operators += token in _OPERATOR_MARKS or token.upper() in _OPERATOR_WORDS
        # The star of SELECT * and COUNT(*) is not an operator.
        operators += token == "*" and previous not in _BEFORE_STAR
        previous, previous_is_term = token.upper(), is_term
        calls += token.upper() in _TEXT_FUNCTIONS
        _refuse_oversize(len(open_brackets), operators, joins, neighbours, calls)


def _refuse_oversize(depth: int, operators: int, joins: int, neighbours: int, calls: int) -> None:
    limits = (
        (depth, BRACKET_DEPTH, "levels of brackets"),
        (operators, OPERATORS, "operators"),
        (joins, JOINS, "triples and groups"),
        (neighbours, LISTED_TERMS, "terms in a row in parentheses"),
        (calls, TEXT_FUNCTIONS, "calls of CONCAT, GROUP_CONCAT and REPLACE"),
    )
    for number, most, what in limits:
        if number > most:
            message = f"The SPARQL text has more than {most} {what}."
            raise KipError("KIP_4002", message, "Split the query.")
