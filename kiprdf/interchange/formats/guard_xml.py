"""Checks RDF/XML before it is parsed: entities, nesting, attributes, lengths of IRIs.

A document type definition may declare internal entities, as Protégé does. They are replaced here,
because the RDF parser reads definitions wrongly: it accepts an entity in a comment, and takes the
last of two declarations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from xml.parsers import expat

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats import lengths
from kiprdf.loading import load
from kiprdf.source import Span

NESTING = 1000
"""How deep elements may nest: lists that are written out nest two levels an item."""
ATTRIBUTES = 1000
"""How many attributes an element may have: the RDF parser's time grows with their square."""
NAMESPACES = 1000
"""How many namespaces may be declared around an element: the parser looks through them all."""
ENTITIES = 1000
"""How many entities may be declared; each is as long as an IRI at most."""
GROWTH = 10
"""How many times as long a text may become when its entities are replaced."""
ALLOWANCE = 100_000
"""How many characters longer it may become in any case."""

_LITERALS = re.compile("""parseType\\s*=\\s*["']Literal["']""")
_XML_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")
# Each also ends at the end of the text, or every opening would be searched to the end.
_SKIPPED = r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)"
_PROLOG = re.compile(rf"(?:\s++|{_SKIPPED})*+", re.DOTALL)
_DOCTYPE = re.compile(r"<!DOCTYPE\s+[^\s\[<>]+\s*(?P<opening>\[|>)")
_NAME = r"[^\s&;#%<>\"'/]+"
_ENTITY = rf"<!ENTITY\s+(?P<name>{_NAME})\s+(?P<value>\"[^\"]*\"|'[^']*')\s*>"
_DECLARATION = re.compile(rf"\s+|{_SKIPPED}|{_ENTITY}|(?P<closing>\]\s*>)", re.DOTALL)
_SECTION = rf"{_SKIPPED}|<!\[CDATA\[.*?(?:\]\]>|\Z)"
_REFERENCE = re.compile(rf"{_SECTION}|&(?P<name>{_NAME});", re.DOTALL)
_MARKUP = re.compile(r"<|&#(?:0*60|x0*3[cC]);")
_AMPERSAND = re.compile(r"&#(?:0*38|x0*26);")
_PREDEFINED = frozenset(("amp", "lt", "gt", "quot", "apos"))
_VALUES = r"\"[^\"]*+\"|'[^']*+'"
_TAG = re.compile(rf"{_SECTION}|<(?:[^\"'>]|{_VALUES})*+>", re.DOTALL)
_VALUE = re.compile(_VALUES)
_RAW_SPACE = re.compile("=\\s*+(?:\"[^\"<\t\n]*+[\t\n]|'[^'<\t\n]*+[\t\n])")
"""A tab or a line end in what may be the value of an attribute."""
_QUOTED = {'"': "&quot;", "'": "&apos;", ">": "&gt;"}
"""What would end an attribute value, a tag or a section of the text around a reference."""


def checked(text: str) -> str:
    """Return XML that its parser reads safely: no declarations, entities replaced, same lines.

    Raises KIP_1001 with line and column for a text that is not well-formed, or whose document type
    definition declares anything but internal entities; KIP_4002 for entities that grow, for
    elements that nest too deeply, for too many attributes or namespaces, for IRIs that are too
    long.
    """
    read = _without_doctype(text)
    check = _ElementCheck(text)
    try:
        # The original text, for places: its entities have been checked.
        check.parser.Parse(text.encode(), True)
    except expat.ExpatError as fault:
        span = offset(text, fault.lineno, fault.offset + 1)
        message = f"The text is not valid XML: {expat.ErrorString(fault.code)}."
        raise KipError("KIP_1001", message, "Check the file at this place.", span, text) from None
    read = _with_plain_space(read)
    if _LITERALS.search(read):
        load("kiprdf.interchange.formats.xml_literals")
        from kiprdf.interchange.formats.xml_literals import with_xml_literals

        read = with_xml_literals(read, ALLOWANCE + GROWTH * len(text))
    declaration = _XML_DECLARATION.match(read)
    # The text is decoded already, regardless of the encoding it declares.
    return read if declaration is None else _blank(declaration.group()) + read[declaration.end() :]


def _with_plain_space(text: str) -> str:
    """The text with the line ends and the attribute values that XML parsers read (XML 1.0, 2.11 and
    3.3.3); the parser of RDF leaves them as they are.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _TAG.sub(_with_spaces, text) if _RAW_SPACE.search(text) else text


def _with_spaces(tag: re.Match[str]) -> str:
    """A tag with spaces for the tabs and line ends in its values; a comment as it is."""
    text = tag.group()
    if text.startswith(("<!", "<?")):
        return text
    return _VALUE.sub(lambda value: value.group().translate({9: " ", 10: " "}), text)


def offset(text: str, line: int, column: int) -> Span:
    """The offset of a line and a column, both counted from 1."""
    start = -1
    for _ in range(line - 1):
        start = text.find("\n", start + 1)
    return Span(start + column, start + column + 1)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


# Entities ------------------------------------------------------------------------------------


def _without_doctype(text: str) -> str:
    """The text with a blank document type definition, and its entities replaced."""
    prolog = _PROLOG.match(text)
    start = 0 if prolog is None else prolog.end()
    if not text.startswith("<!DOCTYPE", start):
        return text
    entities, end = _entities(text, start)
    return text[:start] + _blank(text[start:end]) + _replaced(text, end, entities)


def _entities(text: str, start: int) -> tuple[dict[str, str], int]:
    """The internal entities of the definition that begins at ``start``, and where it ends."""
    doctype = _DOCTYPE.match(text, start)
    if doctype is None:
        # Nothing is fetched, neither from the network nor from a disk.
        raise _refused(
            text, start, "The <!DOCTYPE> of the XML is broken or refers to another file."
        )
    entities: dict[str, str] = {}
    at = doctype.end()
    closed = doctype["opening"] == ">"
    while not closed:
        declaration = _DECLARATION.match(text, at)
        if declaration is None:
            raise _refused(
                text,
                at,
                "The <!DOCTYPE> of the XML declares something other than internal entities.",
            )
        name = declaration["name"]
        # Of two declarations, XML takes the first.
        if name is not None and name not in _PREDEFINED and name not in entities:
            entities[name] = _replacement(declaration, entities)
        if len(entities) > ENTITIES:
            raise _too_long(text, at, f"The XML declares more than {ENTITIES} entities.")
        closed = declaration["closing"] is not None
        at = declaration.end()
    return entities, at


def _replacement(declaration: re.Match[str], entities: Mapping[str, str]) -> str:
    """The text that references to an entity are replaced with."""
    text, start = declaration.string, declaration.start()
    entity = f"The entity {shown(declaration['name'])} of the XML"
    if _MARKUP.search(declaration["value"]):
        raise _refused(text, start, f"{entity} contains markup.")
    # References to other characters mean the same at each use.
    value = _AMPERSAND.sub("&", declaration["value"][1:-1])

    def referred(match: re.Match[str]) -> str:
        name = match["name"]
        if name in _PREDEFINED:
            return match.group()
        if name not in entities:
            raise _refused(
                text, start, f"{entity} uses {shown(name)}, which is not declared before it."
            )
        return entities[name]

    pieces = []
    length = last = 0
    for match in _REFERENCE.finditer(value):
        pieces += [value[last : match.start()], referred(match)]
        length += sum(map(len, pieces[-2:]))
        last = match.end()
        if length > lengths.IRI:
            break
    value = "".join([*pieces, value[last:]])
    if len(value) > lengths.IRI:
        raise _too_long(text, start, f"{entity} has more than {lengths.IRI} characters.")
    return re.sub("[\"'>]", lambda match: _QUOTED[match.group()], value)


def _replaced(text: str, start: int, entities: Mapping[str, str]) -> str:
    """The text from ``start`` on, with references to entities replaced."""
    room = ALLOWANCE + GROWTH * len(text)
    pieces = []
    for match in paced(_REFERENCE.finditer(text, start)):
        value = entities.get(match["name"] or "")
        if value is None:
            continue
        pieces += [text[start : match.start()], value]
        start = match.end()
        room -= len(value)
        if room < 0:
            message = f"Its entities make the XML more than {GROWTH} times as long."
            raise _too_long(text, match.start(), message)
    return "".join([*pieces, text[start:]])


def _refused(text: str, at: int, message: str) -> KipError:
    hint = 'Only internal entities (<!ENTITY name "text">) are read; write the others out.'
    return KipError("KIP_1001", message, hint, Span(at, at + 9), text)


def _too_long(text: str, at: int, message: str) -> KipError:
    return KipError("KIP_4002", message, "Write the entities out.", Span(at, at + 1), text)


# Elements ------------------------------------------------------------------------------------


class _ElementCheck:
    """Checks each element before the parser of RDF reads it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open = [_Scope(0, 0)]
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._on_start
        self.parser.EndElementHandler = self._on_end

    def _on_start(self, name: str, attributes: dict[str, str]) -> None:
        scope = self._open[-1].inside(attributes) if attributes else self._open[-1]
        self._open.append(scope)
        why = _excess(len(self._open) - 1, len(attributes), scope)
        if why is not None:
            parser = self.parser
            span = offset(self._text, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
            hint = "Write the data with less nesting, and long data as literals."
            raise KipError("KIP_4002", f"The XML {why}.", hint, span, self._text)

    def _on_end(self, name: str) -> None:
        self._open.pop()


class _Scope(NamedTuple):
    """What applies inside an element: the namespaces in scope, and the longest IRI of them."""

    namespaces: int
    base: int
    longest: int = 0

    def inside(self, attributes: Mapping[str, str]) -> _Scope:
        """The scope of an element inside this one."""
        declared = [iri for name, iri in attributes.items() if name.startswith("xmlns")]
        base = attributes.get("xml:base", "")
        # Relative bases are appended to each other.
        length = len(base) + (0 if lengths.is_absolute(base) else self.base)
        language = len(attributes.get("xml:lang", ""))
        longest = max([length, language, *map(len, declared)])
        return _Scope(self.namespaces + len(declared), length, longest)


def _excess(depth: int, attributes: int, scope: _Scope) -> str | None:
    if depth > NESTING:
        return f"nests deeper than {NESTING} elements"
    if attributes > ATTRIBUTES:
        return f"has an element with more than {ATTRIBUTES} attributes"
    if scope.namespaces > NAMESPACES:
        return f"declares more than {NAMESPACES} namespaces"
    is_long = scope.longest > lengths.IRI
    return (
        f"has an IRI, or a part of one, of more than {lengths.IRI} characters" if is_long else None
    )
