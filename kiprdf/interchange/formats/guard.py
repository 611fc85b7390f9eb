"""Refuses documents whose brackets nest too deeply, or whose terms become too long.

A parser expands every abbreviation of a text: a prefix of 100 kB that is used 5 000 times turns a
small file into half a gigabyte. So single IRIs are bounded, and all terms together in proportion
to the text that they come from. Dangerous XML is refused in ``guard_xml``, JSON-LD whose contexts
are remote or cost too much in ``guard_jsonld``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.budget import check, paced
from kiprdf.errors import KipError
from kiprdf.interchange.formats import NAMES, Format
from kiprdf.source import NOWHERE, Span

IRI = 8192
"""How many characters an IRI has at most; a language tag too."""
GROWTH = 100
"""How many times as long as its text the terms of a document may be, when they are written out."""
ALLOWANCE = 64_000_000
"""How many characters they may have besides, however short the text is."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
SOME = 256
"""How many quads are measured at once: each alone would take longer than to parse it."""


def bounded(quads: Iterable[Quad], text: str, name: str) -> Iterator[tuple[list[Quad], str]]:
    """The quads of a document in portions, with their text; KIP_4002 once they are too long."""
    room = most(text)
    remaining = iter(quads)
    while some := list(islice(remaining, SOME)):
        check()
        written = list(map(str, some))
        if max(map(len, written)) > IRI:
            for quad in some:
                for term in (quad.subject, quad.predicate, quad.object, quad.graph_name):
                    check_term(term, name)
        whole = "\n".join(written)
        room -= len(whole)
        if room < 0:
            raise excess(text, name)
        yield some, whole


def check_term(term: Any, name: str) -> None:
    """Raise KIP_4002 for an IRI or a language tag that is too long."""
    if isinstance(term, Triple):
        for part in (term.subject, term.predicate, term.object):
            check_term(part, name)
    elif isinstance(term, Literal):
        check_length(term.language or term.datatype.value, name)
    elif isinstance(term, NamedNode):
        check_length(term.value, name)


def check_length(text: str, name: str, span: Span = NOWHERE, source: str | None = None) -> None:
    """Raise KIP_4002 for what is longer than an IRI may be."""
    if len(text) > IRI:
        raise too_long(name, span, source)


def is_absolute(iri: str) -> bool:
    """Whether an IRI begins with a scheme; one such as ``a/b:c`` is relative."""
    return _SCHEME.match(iri) is not None


def too_long(name: str, span: Span = NOWHERE, source: str | None = None) -> KipError:
    """The error of an IRI that is too long."""
    message = f"The {name} has an IRI, or a part of one, of more than {IRI} characters."
    return KipError("KIP_4002", message, "Write long data as literals.", span, source)


def most(text: str) -> int:
    """The number of characters that the terms of a document may have in total."""
    return ALLOWANCE + GROWTH * len(text)


def excess(text: str, name: str) -> KipError:
    """The error of terms that have more characters than that."""
    message = f"The {name} becomes more than {GROWTH} times as long when its IRIs are written out."
    return KipError("KIP_4002", message, "Shorten its prefixes and its base.", NOWHERE, text)


NESTING = 100
"""How deep brackets may nest; the parser crashes far beyond, or takes minutes."""

# Unclosed strings are tokens too, or the search would start again at each of their quotes.
# ``++`` does not backtrack; without it, matching a string of 10 MB would take a gigabyte.
STRINGS = (
    r'"""(?:[^"\\]++|\\.?+|"(?!""))*+(?:"""|\Z)|\'\'\'(?:[^\'\\]++|\\.?+|\'(?!\'\'))*+(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\n]++|\\.?+)*+(?:"|$)|\'(?:[^\'\\\n]++|\\.?+)*+(?:\'|$)'
)
_IRI = r'<[^<>"{}|^`\s]*+>'
_MARKS = r"<<\(?|\)?>>|[][(){}]|[bBpP](?i:ase|refix)\b"
_TOKENS = re.compile(
    rf"{STRINGS}|\\.|{_IRI}|\#[^\n]*|{_MARKS}",
    re.DOTALL | re.MULTILINE,
)
# Most of a text is before the next bracket, directive or IRI that is too long. It is skipped in one
# match; each character is in one of these alternatives, and so no place is matched twice.
_NOTABLE = re.compile(
    rf"""(?:[^"'\\<>\[\](){{}}\#bBpP]++|{STRINGS}|\\.?+|<[^<>"{{}}|^`\s]{{0,{IRI}}}+>"""
    rf"|\#[^\n]*+|(?!{_MARKS}|{_IRI})[<>bBpP])*+((?:{_MARKS}|{_IRI})?)",
    re.DOTALL | re.MULTILINE,
)
_JSON_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.?+)*+(?:"|\Z)|[][{}]', re.DOTALL)
_OPENING = frozenset(("<<", "<<(", "(", "[", "{"))
_CLOSING = frozenset((">>", ")>>", ")", "]", "}"))


# Brackets and IRIs ---------------------------------------------------------------------------


def check_tokens(text: str, format: Format) -> None:
    """Raise KIP_4002 at the first bracket too many, or an IRI that becomes too long."""
    depth = 0
    iris = Iris(text, NAMES[format])
    for token, at in paced(_json_tokens(text) if format == "jsonld" else _tokens(text, iris)):
        if token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            # The parser refuses an extra closing bracket; it must not lower the depth here.
            depth = max(0, depth - 1)
        if depth > NESTING:
            message = f"The {NAMES[format]} nests deeper than {NESTING} brackets."
            span = Span(at, at + len(token))
            raise KipError("KIP_4002", message, "Write the data with less nesting.", span, text)


def _json_tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((match.group(), match.start()) for match in _JSON_BRACKETS.finditer(text))


def _tokens(text: str, iris: Iris) -> Iterator[tuple[str, int]]:
    """The brackets of a text and their places; IRIs are checked as they are passed."""
    place = 0
    # After the keyword of a directive no token is skipped until its IRI.
    while match := (_TOKENS.search if iris.is_awaited else _NOTABLE.match)(text, place):
        group = 0 if iris.is_awaited else 1
        token, at, place = match.group(group), match.start(group), match.end()
        if token in _OPENING or token in _CLOSING:
            yield token, at
        elif token:
            iris.take(token, at)
        else:
            return


class Iris:
    """The IRIs between angle brackets of a text, and how long its bases and prefixes become.

    Each base may be relative to the one before it and each prefix to the base; the parser stores
    all of them in full.
    """

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._room = most(text)
        self._base = 0
        self._directive = ""

    @property
    def is_awaited(self) -> bool:
        """Whether the next IRI is a base or a prefix."""
        return bool(self._directive)

    def take(self, token: str, at: int) -> None:
        """Process a token; raise KIP_4002 for an IRI that is, or becomes, too long."""
        word = token.lower()
        if word in ("base", "prefix"):
            self._directive = word
        elif token[0] == "<":
            self._iri(token[1:-1], Span(at, at + len(token)))
            self._directive = ""
        elif token[0] != "#":
            self._directive = ""

    def _iri(self, iri: str, span: Span) -> None:
        check_length(iri, self._name, span, self._text)
        if not self._directive:
            return
        length = len(iri) + (0 if is_absolute(iri) else self._base)
        if length > IRI:
            raise too_long(self._name, span, self._text)
        if self._directive == "base":
            # The keyword may be a local name; then the base does not change.
            self._base = max(self._base, length)
        self._room -= length
        if self._room < 0:
            raise excess(self._text, self._name)
