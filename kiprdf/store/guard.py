"""What raw SPARQL from a caller may not do: reach the network, write, or crush the engine."""

from __future__ import annotations

import re

from kiprdf.errors import KipError
from kiprdf.source import Span

QUERY_BYTES = 64 * 1024
BRACKET_DEPTH = 100
OPERATORS = 200

# Strings, IRIs and comments are skipped; what is left are words, brackets and operators.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|<[^<>\"{}|^`\\\s]*>"
    r"|#[^\n]*"
    r"|[?$][A-Za-z0-9_]+"
    r"|[A-Za-z_][\w.-]*:?[\w.%\\-]*"
    r"|:[\w.%\\-]*"
    r"|[0-9]+(?:\.[0-9]+)?|<<\(?|\)?>>|&&|\|\||\^\^|!=|<=|>=|[][{}()|/!=<>*+?.;-]",
    re.DOTALL,
)
_READING = frozenset(("SELECT", "ASK", "CONSTRUCT", "DESCRIBE"))
_COUNTED = frozenset(("UNION", "OPTIONAL", "FILTER", "LATERAL", "MINUS", "EXISTS", "AS"))
_COUNTED_MARKS = frozenset(
    ("&&", "||", "|", "/", "!", "=", "!=", "<", ">", "<=", ">=", "+", "-", ".", ";")
)


def check_query(text: str) -> None:
    """Raise ``KipError`` for a SPARQL text that ``Nexus.sparql`` refuses to run.

    KIP_1001: it is no query, or calls SERVICE. KIP_4002: beyond 64 KiB, brackets nested deeper
    than 100, or more than 200 operators; past them the engine plans for minutes or crashes.
    """
    if len(text.encode("utf-8", "surrogatepass")) > QUERY_BYTES:
        raise KipError("KIP_4002", "The SPARQL text is longer than 64 KiB.", "Split the query.")
    depth = operators = 0
    form: str | None = None
    for match in _TOKEN.finditer(text):
        token = match.group()
        word = token.upper()
        span = Span(match.start(), match.end())
        if word == "SERVICE":
            hint = "Load the remote data first; kiprdf opens no network connection."
            raise KipError("KIP_1001", "SERVICE is refused.", hint, span, text)
        if form is None and word in _READING:
            form = word
        if token in ("{", "(", "[", "<<", "<<("):
            depth += 1
        elif token in ("}", ")", "]", ">>", ")>>"):
            depth -= 1
        if word in _COUNTED or token in _COUNTED_MARKS:
            operators += 1
        if depth > BRACKET_DEPTH:
            message = f"The SPARQL text nests deeper than {BRACKET_DEPTH} brackets."
            raise KipError("KIP_4002", message, "Split the query.", span, text)
        if operators > OPERATORS:
            message = f"The SPARQL text holds more than {OPERATORS} operators."
            raise KipError("KIP_4002", message, "Split the query.", span, text)
    if form is None:
        message = "This is no SPARQL query."
        hint = "SELECT, ASK, CONSTRUCT and DESCRIBE are run; writes go through KML."
        raise KipError("KIP_1001", message, hint)
