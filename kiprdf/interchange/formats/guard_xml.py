"""Checks RDF/XML before it is parsed: entities, nesting, attributes, lengths of IRIs.

A document type definition may declare internal entities, as Protégé does. They are replaced here,
because the RDF parser reads definitions wrongly: it accepts an entity in a comment, and takes the
last of two declarations. XML in ``rdf:parseType="Literal"`` is written as text, that of Exclusive
XML Canonicalization (RDF 1.1 XML, 7.2.17): the parser declares its namespaces twice, which is not
XML, and refuses an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from xml.parsers import expat

from kiprdf.budget import check, paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats import guard
from kiprdf.rdf import vocab
from kiprdf.source import Span

_PARSE_TYPE = re.compile(rb"""(\s)([^\s=<>/"']+):parseType\s*=\s*(?:"Literal"|'Literal')""")
_PREFIXES = re.compile(r"([\w.-]+):")
_SEPARATOR = "\x01"
"""What separates the namespace, the local name and the prefix of a name; XML cannot have it."""
_XML = {"xml": "http://www.w3.org/XML/1998/namespace"}
"""The prefix that needs no declaration."""
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_IN_VALUE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"}
)


def with_xml_literals(text: str, room: int) -> str:
    """RDF/XML that is well-formed, with its XML literals as texts with a datatype.

    It has as many tags as before, by which the places of faults are found. Raises KIP_4002 if the
    texts have more than ``room`` characters.
    """
    reader = _Reader(text.encode(), room)
    reader.parser.Parse(reader.content, True)
    return b"".join([*reader.pieces, reader.content[reader.start :]]).decode()


class _Reader:
    def __init__(self, content: bytes, room: int) -> None:
        self.content, self.room = content, room
        self.pieces: list[bytes] = []
        self.start = 0
        """Where the part of the content begins that is not in ``pieces``."""
        self._scopes: list[dict[str, str]] = [{}]
        self._tag = b""
        self._inside = self._depth = 0
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._on_start
        self.parser.EndElementHandler = self._on_end

    def _on_start(self, name: str, attributes: dict[str, str]) -> None:
        if self._tag:
            self._depth += 1
            return
        declared = {
            key.removeprefix("xmlns").removeprefix(":"): value
            for key, value in attributes.items()
            if key == "xmlns" or key.startswith("xmlns:")
        }
        scope = {**self._scopes[-1], **declared} if declared else self._scopes[-1]
        self._scopes.append(scope)
        if "Literal" not in attributes.values():
            return
        at = self.parser.CurrentByteIndex
        end = _end_of_tag(self.content, at)
        tag = self.content[at:end]
        for match in _PARSE_TYPE.finditer(tag):
            if scope.get(match[2].decode()) == vocab.RDF:
                self.pieces.append(self.content[self.start : at])
                datatype = f' {match[2].decode()}:datatype="{vocab.XML_LITERAL.value}"'.encode()
                self._tag = tag[: match.start()] + datatype + tag[match.end() :]
                self._inside = end

    def _on_end(self, name: str) -> None:
        if self._depth:
            self._depth -= 1
            return
        scope = self._scopes.pop()
        if not self._tag:
            return
        check()
        at = max(self._inside, self.parser.CurrentByteIndex)
        is_empty = self._tag.endswith(b"/>")
        inside = b"" if is_empty else self.content[self._inside : at]
        try:
            text = _canonical(inside.decode(), scope).translate(_IN_TEXT)
        except expat.ExpatError as fault:
            start = len(self.content[: self._inside].decode())
            message = f"The XML of a literal is not valid: {expat.ErrorString(fault.code)}."
            hint = "Declare the prefixes of its elements and attributes."
            span, whole = Span(start, start + 1), self.content.decode()
            raise KipError("KIP_1001", message, hint, span, whole) from None
        self.room -= len(text)
        if self.room < 0:
            message = "The namespaces of its XML literals make the XML many times as long."
            raise KipError("KIP_4002", message, "Declare shorter namespaces.")
        if is_empty:
            self.pieces += [self._tag[:-2], b"></", name.encode(), b">"]
            self.start = self._inside
        else:
            end = self.content.index(b">", at) + 1
            same = b"<!---->" * inside.count(b"<")
            self.pieces += [self._tag, text.encode(), self.content[at:end], same]
            self.start = end
        self._tag = b""


def _end_of_tag(content: bytes, at: int) -> int:
    """The offset after the tag that begins at an offset; a value of it may contain ``>``."""
    tag = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""").match(content, at)
    assert tag is not None
    return tag.end()


def _canonical(content: str, scope: dict[str, str]) -> str:
    """The canonical form of XML inside of an element with some namespaces."""
    used = {"", *_PREFIXES.findall(content)} & scope.keys()
    declared = " ".join(
        f'xmlns{":" if prefix else ""}{prefix}="{scope[prefix].translate(_IN_VALUE)}"'
        for prefix in sorted(used - _XML.keys())
    )
    writer = _Writer()
    writer.parser.Parse(f"<x {declared}>{content}</x>".encode(), True)
    return "".join(writer.pieces)


class _Name(NamedTuple):
    """A name of XML; they sort as attributes are written."""

    namespace: str
    local: str
    prefix: str

    @classmethod
    def of(cls, text: str) -> _Name:
        """A name as the parser has it: a local name, or its namespace, itself and a prefix."""
        match text.split(_SEPARATOR):
            case [local]:
                return cls("", local, "")
            case [namespace, local, *prefix]:
                return cls(namespace, local, "".join(prefix))
        raise AssertionError(text)

    def __str__(self) -> str:
        return f"{self.prefix}:{self.local}" if self.prefix else self.local


class _Writer:
    """Writes what is inside of the first element; each namespace where its prefix is used."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._written: list[dict[str, str]] = []
        """The namespaces that are declared in what is written, for each open element."""
        self.parser = expat.ParserCreate("utf-8", _SEPARATOR)
        self.parser.namespace_prefixes = True
        self.parser.StartElementHandler = self._on_start
        self.parser.EndElementHandler = self._on_end
        self.parser.CharacterDataHandler = lambda text: self.pieces.append(text.translate(_IN_TEXT))
        self.parser.CommentHandler = lambda text: self.pieces.append(f"<!--{text}-->")
        self.parser.ProcessingInstructionHandler = self._on_instruction

    def _on_start(self, tag: str, values: dict[str, str]) -> None:
        if not self._written:
            self._written.append({"": "", **_XML})
            return
        name, attributes = _Name.of(tag), {_Name.of(one): value for one, value in values.items()}
        # An attribute without a prefix has no namespace.
        used = {one.prefix: one.namespace for one in attributes if one.prefix}
        used[name.prefix] = name.namespace
        new = dict(sorted(used.items() - self._written[-1].items()))
        written = {f"xmlns:{prefix}".rstrip(":"): iri for prefix, iri in new.items()}
        written |= {str(one): attributes[one] for one in sorted(attributes)}
        texts = (f' {one}="{value.translate(_IN_VALUE)}"' for one, value in written.items())
        self.pieces.append(f"<{name}{''.join(texts)}>")
        self._written.append({**self._written[-1], **new} if new else self._written[-1])

    def _on_end(self, tag: str) -> None:
        self._written.pop()
        if self._written:
            self.pieces.append(f"</{_Name.of(tag)}>")

    def _on_instruction(self, target: str, data: str) -> None:
        self.pieces.append(f"<?{target} {data}?>" if data else f"<?{target}?>")


# Documents ------------------------------------------------------------------------------------


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
        if length > guard.IRI:
            break
    value = "".join([*pieces, value[last:]])
    if len(value) > guard.IRI:
        raise _too_long(text, start, f"{entity} has more than {guard.IRI} characters.")
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
        length = len(base) + (0 if guard.is_absolute(base) else self.base)
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
    is_long = scope.longest > guard.IRI
    return f"has an IRI, or a part of one, of more than {guard.IRI} characters" if is_long else None
