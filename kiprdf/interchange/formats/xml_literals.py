"""Writes the XML in ``rdf:parseType="Literal"`` as text, before the parser of RDF reads it.

The parser declares namespaces of such XML twice, which is not XML, and refuses an empty one. Its
text in RDF is that of Exclusive XML Canonicalization (RDF 1.1 XML, 7.2.17).
"""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from kiprdf.budget import check
from kiprdf.errors import KipError
from kiprdf.rdf import vocab
from kiprdf.source import Span

_PARSE_TYPE = re.compile(rb"""(\s)([^\s=<>/"']+):parseType\s*=\s*(?:"Literal"|'Literal')""")
_PREFIXES = re.compile(r"([\w.-]+):")
_SEPARATOR = "\x01"
"""What separates the namespace, the local name and the prefix of a name; XML cannot have it."""
_XML = {"xml": "http://www.w3.org/XML/1998/namespace"}
"""The prefix that needs no declaration."""
_IN_TEXT = {"\r": "&#xD;"}
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
            text = escape(_canonical(inside.decode(), scope), {"\r": "&#xD;"})
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
        f"xmlns{':' if prefix else ''}{prefix}={quoteattr(scope[prefix])}"
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
        self.parser.CharacterDataHandler = lambda text: self.pieces.append(escape(text, _IN_TEXT))
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
