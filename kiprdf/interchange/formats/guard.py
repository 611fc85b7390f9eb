"""Checks every document before it is parsed, and refuses what is too large or dangerous.

Brackets that nest too deeply and IRIs that are or become too long (``lengths``) are refused here,
dangerous XML in ``guard_xml``, JSON-LD whose contexts are remote or cost too much in
``guard_jsonld``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange.formats import NAMES, Format, guard_jsonld, guard_xml, lengths
from kiprdf.interchange.mapping.terms import Loader
from kiprdf.source import Span

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
    rf"""(?:[^"'\\<>\[\](){{}}\#bBpP]++|{STRINGS}|\\.?+|<[^<>"{{}}|^`\s]{{0,{lengths.IRI}}}+>"""
    rf"|\#[^\n]*+|(?!{_MARKS}|{_IRI})[<>bBpP])*+((?:{_MARKS}|{_IRI})?)",
    re.DOTALL | re.MULTILINE,
)
_JSON_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.?+)*+(?:"|\Z)|[][{}]', re.DOTALL)
_OPENING = frozenset(("<<", "<<(", "(", "[", "{"))
_CLOSING = frozenset((">>", ")>>", ")", "]", "}"))


def checked(text: str, format: Format, loader: Loader | None, base_iri: str | None) -> str:
    """Return a text that its parser reads safely, without crashing or taking minutes.

    Raises KIP_4002 for what is too large, KIP_1001 for what is dangerous or malformed. XML
    is returned without its declarations, JSON-LD with the remote contexts that the loader returns.
    """
    if format == "rdfxml":
        return guard_xml.checked(text)
    _check_tokens(text, format)
    if format != "jsonld":
        return text
    read = guard_jsonld.checked(text, loader, base_iri)
    if read is not text:
        _check_tokens(read, format)
    return read


# Brackets and IRIs ---------------------------------------------------------------------------


def _check_tokens(text: str, format: Format) -> None:
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
        self._room = lengths.most(text)
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
        lengths.check_length(iri, self._name, span, self._text)
        if not self._directive:
            return
        length = len(iri) + (0 if lengths.is_absolute(iri) else self._base)
        if length > lengths.IRI:
            raise lengths.too_long(self._name, span, self._text)
        if self._directive == "base":
            # The keyword may be a local name; then the base does not change.
            self._base = max(self._base, length)
        self._room -= length
        if self._room < 0:
            raise lengths.excess(self._text, self._name)
