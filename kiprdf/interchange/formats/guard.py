"""The guard in front of all parsers of RDF: everything that is too large or dangerous is refused.

Brackets that nest too deeply, IRIs that are or become too long (``lengths``), XML with a document
type definition, JSON-LD whose contexts are remote or cost too much (``document_contexts``,
``jsonld_lengths``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.parsers import expat

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange.formats import lengths
from kiprdf.interchange.formats.document_contexts import resolved
from kiprdf.interchange.formats.names import NAMES, Format
from kiprdf.interchange.mapping.terms import Loader
from kiprdf.source import Span

NESTING = 100
"""How deep brackets may nest; the parser crashes far beyond, or takes minutes."""
XML_NESTING = 1000
"""How deep elements may nest: lists that are written out nest two levels an item."""
ATTRIBUTES = 1000
"""How many attributes an element may have: the RDF parser's time grows with their square."""
NAMESPACES = 1000
"""How many namespaces may be declared around an element: the parser looks through them all."""

# Strings that are not closed are tokens too, or each quote in them would be tried in vain.
# Without ``++``, which never looks back, a string of 10 MB would take a gigabyte to be matched.
_STRINGS = (
    r'"""(?:[^"\\]++|\\.?+|"(?!""))*+(?:"""|\Z)|\'\'\'(?:[^\'\\]++|\\.?+|\'(?!\'\'))*+(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\n]++|\\.?+)*+(?:"|$)|\'(?:[^\'\\\n]++|\\.?+)*+(?:\'|$)'
)
_IRI = r'<[^<>"{}|^`\s]*+>'
_MARKS = r"<<\(?|\)?>>|[][(){}]|[bBpP](?i:ase|refix)\b"
_TOKENS = re.compile(
    rf"{_STRINGS}|\\.|{_IRI}|\#[^\n]*|{_MARKS}",
    re.DOTALL | re.MULTILINE,
)
# What is before the next bracket, directive or IRI that is too long is most of a text. It is
# passed in one go; every character is in one of these, and so no place is looked at again.
_NOTABLE = re.compile(
    rf"""(?:[^"'\\<>\[\](){{}}\#bBpP]++|{_STRINGS}|\\.?+|<[^<>"{{}}|^`\s]{{0,{lengths.IRI}}}+>"""
    rf"|\#[^\n]*+|(?!{_MARKS}|{_IRI})[<>bBpP])*+((?:{_MARKS}|{_IRI})?)",
    re.DOTALL | re.MULTILINE,
)
_JSON_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.?+)*+(?:"|\Z)|[][{}]', re.DOTALL)
_OPENING = frozenset(("<<", "<<(", "(", "[", "{"))
_CLOSING = frozenset((">>", ")>>", ")", "]", "}"))
_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")


def checked(text: str, format: Format, loader: Loader | None, base_iri: str | None) -> str:
    """A text that its parser reads safely: nothing in it crashes the parser or takes it minutes.

    Raises KIP_4002 for what is too large, and KIP_1001 for what is dangerous or no XML or JSON. XML
    is returned without its declaration, JSON-LD with the remote contexts that the loader returns.
    """
    if format == "rdfxml":
        return _checked_xml(text)
    _check_tokens(text, format)
    if format != "jsonld":
        return text
    read = resolved(text, loader, base_iri)
    if read is not text:
        _check_tokens(read, format)
    return read


# Brackets and IRIs ---------------------------------------------------------------------------


def _check_tokens(text: str, format: Format) -> None:
    """Raise KIP_4002 at the first bracket too many, or an IRI that becomes too long."""
    depth = 0
    iris = lengths.Iris(text, NAMES[format])
    for token, at in paced(_json_tokens(text) if format == "jsonld" else _tokens(text, iris)):
        if token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            # A closing bracket too many is the parser's to refuse; it must not make room here.
            depth = max(0, depth - 1)
        if depth > NESTING:
            message = f"The {NAMES[format]} nests deeper than {NESTING} brackets."
            span = Span(at, at + len(token))
            raise KipError("KIP_4002", message, "Write the data flat.", span, text)


def _json_tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((match.group(), match.start()) for match in _JSON_BRACKETS.finditer(text))


def _tokens(text: str, iris: lengths.Iris) -> Iterator[tuple[str, int]]:
    """The brackets of a text and their places; its IRIs are checked on the way."""
    place = 0
    # After the word of a directive every token counts until its IRI comes.
    while match := (_TOKENS.search if iris.is_awaited else _NOTABLE.match)(text, place):
        group = 0 if iris.is_awaited else 1
        token, at, place = match.group(group), match.start(group), match.end()
        if token in _OPENING or token in _CLOSING:
            yield token, at
        elif token:
            iris.take(token, at)
        else:
            return


# XML -----------------------------------------------------------------------------------------


def _checked_xml(text: str) -> str:
    """A text that is well-formed, harmless XML, without its declaration.

    Raises KIP_1001 with line and column for a text that is not well-formed, or has a document type
    definition; KIP_4002 for elements that nest too deeply, for too many attributes or namespaces,
    for IRIs that are too long.
    """
    check = _Check(text)
    try:
        check.parser.Parse(text.encode(), True)
    except expat.ExpatError as fault:
        span = offset(text, fault.lineno, fault.offset + 1)
        message = f"The text is no XML: {expat.ErrorString(fault.code)}."
        raise KipError("KIP_1001", message, "Check the file at this place.", span, text) from None
    declaration = _DECLARATION.match(text)
    if declaration is None:
        return text
    # The text is decoded by now, whatever it declares. Blanks keep all places.
    return re.sub(r"[^\n]", " ", declaration.group()) + text[declaration.end() :]


class _Check:
    """Looks at each element before a parser of RDF does."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open = [_Scope(0, 0)]
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._on_start
        self.parser.EndElementHandler = self._on_end
        self.parser.StartDoctypeDeclHandler = self._on_doctype

    def _on_start(self, name: str, attributes: dict[str, str]) -> None:
        scope = self._open[-1].inside(attributes) if attributes else self._open[-1]
        self._open.append(scope)
        why = _excess(len(self._open) - 1, len(attributes), scope)
        if why is not None:
            hint = "Write the data flat, and long data as literals."
            raise KipError("KIP_4002", f"The XML {why}.", hint, self._place(), self._text)

    def _on_end(self, name: str) -> None:
        self._open.pop()

    def _on_doctype(self, *_: object) -> None:
        # Its entities read files, or grow to gigabytes.
        message = "The XML has a document type definition (<!DOCTYPE …>), which is not read."
        span = Span(at := self._text.find("<!DOCTYPE"), at + 9)
        raise KipError("KIP_1001", message, "Write its entities out.", span, self._text)

    def _place(self) -> Span:
        parser = self.parser
        return offset(self._text, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)


class _Scope(NamedTuple):
    """What holds inside of an element: the namespaces around it, and the longest IRI of them."""

    namespaces: int
    base: int
    longest: int = 0

    def inside(self, attributes: Mapping[str, str]) -> _Scope:
        """The scope of an element in this one."""
        declared = [iri for name, iri in attributes.items() if name.startswith("xmlns")]
        base = attributes.get("xml:base", "")
        # Relative bases grow upon each other.
        length = len(base) if ":" in base else self.base + len(base)
        language = len(attributes.get("xml:lang", ""))
        longest = max([length, language, *map(len, declared)])
        return _Scope(self.namespaces + len(declared), length, longest)


def _excess(depth: int, attributes: int, scope: _Scope) -> str | None:
    if depth > XML_NESTING:
        return f"nests deeper than {XML_NESTING} elements"
    if attributes > ATTRIBUTES:
        return f"has an element with more than {ATTRIBUTES} attributes"
    if scope.namespaces > NAMESPACES:
        return f"declares more than {NAMESPACES} namespaces"
    is_long = scope.longest > lengths.IRI
    return (
        f"has an IRI, or a part of one, of more than {lengths.IRI} characters" if is_long else None
    )


def offset(text: str, line: int, column: int) -> Span:
    """Where a line and a column, counted from 1, are in a text."""
    start = -1
    for _ in range(line - 1):
        start = text.find("\n", start + 1)
    return Span(start + column, start + column + 1)
