"""RDF of any origin, read safely: nothing is fetched, nothing crashes, faults have a place."""

from __future__ import annotations

import codecs
import hashlib
import io
import operator
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import IO, Any, NamedTuple, cast

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, Triple
from pyoxigraph import parse as parse_rdf

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.files import LONE_SURROGATE
from kiprdf.interchange.formats import jsonld_faults, lengths, rdfxml
from kiprdf.interchange.formats.document_contexts import resolved
from kiprdf.interchange.formats.names import NAMES, Format, check_format
from kiprdf.interchange.mapping.terms import Loader
from kiprdf.source import NOWHERE, Span

NESTING = 100
"""How deep brackets may nest; the parser crashes far beyond, or takes minutes."""

_PARSERS: dict[Format, RdfFormat] = {
    "turtle": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "ntriples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "jsonld": RdfFormat.JSON_LD,
    "rdfxml": RdfFormat.RDF_XML,
}

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
_XML_ENCODING = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_XML_ENCODINGS = re.compile(r"(?i)utf-?8|utf-?16|(us-)?ascii|iso-8859-\d{1,2}|windows-125\d")
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def parse(
    content: str | bytes,
    format: Format,
    *,
    base_iri: str | None = None,
    loader: Loader | None = None,
) -> list[Quad]:
    """The quads of a document, each once, in the order of the document.

    Relative IRIs are resolved against ``base_iri``. Blank nodes have labels that no other document
    has. Nothing is fetched but the contexts of JSON-LD, by a ``loader`` that is given. Raises
    KIP_1001 with line and column for a broken document, KIP_4002 for one that nests too deeply, or
    whose terms are far longer than its text.
    """
    return list(dict.fromkeys(quads(content, format, base_iri=base_iri, loader=loader)))


def quads(
    content: str | bytes,
    format: Format,
    *,
    base_iri: str | None = None,
    loader: Loader | None = None,
) -> Iterator[Quad]:
    """The quads of a document as they come, which may say one twice; see ``parse``."""
    check_format(format)
    _check_base(base_iri)
    text = decoded(content, format)
    read = _checked(text, format, loader, base_iri)
    return _quads(text, read, format, base_iri)


def checked_quads(text: str, format: Format) -> Iterator[Quad]:
    """The quads of a text that ``check_tokens`` has let through; see ``quads``."""
    return _quads(text, text, format, None)


def _quads(text: str, read: str, format: Format, base_iri: str | None) -> Iterator[Quad]:
    return chain.from_iterable(_parsed(text, read, format, base_iri))


def _parsed(text: str, read: str, format: Format, base_iri: str | None) -> Iterator[Iterable[Quad]]:
    """The quads of a text that may be read, some at a time."""
    labels = _Labels(text)
    try:
        found = parse_rdf(read, format=_PARSERS[format], base_iri=base_iri)
        for some, written in lengths.bounded(found, read, NAMES[format]):
            # Most documents have no blank nodes, most others few.
            yield map(labels.quad, some) if "_:" in written else some
    except SyntaxError as fault:
        raise _fault(fault, text, read, format, base_iri) from None
    except MemoryError as fault:
        message = f"The {NAMES[format]} is too much for its parser: {fault}."
        raise KipError("KIP_4002", message, "A string or a comment has 16 MB at most.") from None


def _check_base(base_iri: str | None) -> None:
    """Raise KIP_1001 for what relative IRIs cannot be relative to."""
    if base_iri is None:
        return
    hint = "Give an absolute IRI."
    if not isinstance(base_iri, str):
        message = f"The base of relative IRIs is a text, not {type(base_iri).__name__}."
        raise KipError("KIP_1001", message, hint)
    lengths.check_length(base_iri, "base")
    try:
        NamedNode(base_iri)
    except ValueError as fault:
        message = f"<{base_iri}> cannot be the base of relative IRIs: {fault}."
        raise KipError("KIP_1001", message, hint) from None


def _checked(text: str, format: Format, loader: Loader | None, base_iri: str | None) -> str:
    """What a parser may read, once nothing in it would crash the parser or take it minutes."""
    if format == "rdfxml":
        return rdfxml.checked(text)
    check_tokens(text, format)
    if format != "jsonld":
        return text
    read = resolved(text, loader, base_iri)
    if read is not text:
        check_tokens(read, format)
    return read


# Text -----------------------------------------------------------------------------------------


def decoded(content: str | bytes, format: Format) -> str:
    """A document as text; only XML may be in another encoding than UTF-8."""
    if isinstance(content, str):
        text = content.removeprefix("\ufeff")
        found = None if text.isascii() else LONE_SURROGATE.search(text)
        if found:
            message = "The text holds a lone surrogate, which is no character."
            raise KipError("KIP_1001", message, "Read the file as UTF-8.", _at(found), text)
        return text
    if not isinstance(content, bytes):
        message = f"A document is a text or bytes, not {type(content).__name__}."
        raise KipError("KIP_1001", message, "Read the file first.")
    encoding = _encoding(content, format)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as fault:
        before = content[: fault.start].decode(encoding, "replace")
        message = f"The {NAMES[format]} is no {encoding.upper().removesuffix('-SIG')} text."
        span = Span(len(before), len(before) + 1)
        readable = content.decode(encoding, "replace")
        raise KipError("KIP_1001", message, "Save it as UTF-8.", span, readable) from None


def _encoding(content: bytes, format: Format) -> str:
    """The encoding that the first bytes of a document tell, or that XML declares."""
    encoding = next((name for bom, name in _BOMS.items() if content.startswith(bom)), "utf-8")
    declared = _XML_ENCODING.match(content) if format == "rdfxml" else None
    if declared is None or encoding != "utf-8":
        return encoding
    found = declared.group(1).decode()
    try:
        codecs.lookup(found)
    except LookupError:
        is_known = False
    else:
        is_known = _XML_ENCODINGS.fullmatch(found) is not None
    if not is_known:
        message = f"The XML is in the encoding {shown(found)}, which is not read."
        raise KipError("KIP_1001", message, "Save it as UTF-8.")
    return found


def _at(match: re.Match[str]) -> Span:
    return Span(match.start(), match.end())


class Tokens(NamedTuple):
    """What a look at the tokens of a text has found."""

    brackets: set[str]
    iris: lengths.Iris


def check_tokens(text: str, format: Format) -> Tokens:
    """Raise KIP_4002 at the first bracket too many, or an IRI that becomes too long."""
    depth = 0
    iris = lengths.Iris(text, NAMES[format])
    found = Tokens(set(), iris)
    for token, at in paced(_json_tokens(text) if format == "jsonld" else _tokens(text, iris)):
        found.brackets.add(token)
        if token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            # A closing bracket too many is the parser's to refuse; it must not make room here.
            depth = max(0, depth - 1)
        if depth > NESTING:
            message = f"The {NAMES[format]} nests deeper than {NESTING} brackets."
            span = Span(at, at + len(token))
            raise KipError("KIP_4002", message, "Write the data flat.", span, text)
    return found


def _json_tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((match.group(), match.start()) for match in _JSON_BRACKETS.finditer(text))


def _tokens(text: str, iris: lengths.Iris) -> Iterator[tuple[str, int]]:
    """The brackets of a text and their places; its IRIs are judged on the way."""
    place = 0
    # Which IRI belongs to a directive is told by all that stands between.
    while found := (_TOKENS.search if iris.is_awaited else _NOTABLE.match)(text, place):
        group = 0 if iris.is_awaited else 1
        token, at, place = found.group(group), found.start(group), found.end()
        if token in _OPENING or token in _CLOSING:
            yield token, at
        elif token:
            iris.take(token, at)
        else:
            return


# Faults ---------------------------------------------------------------------------------------


def _fault(
    fault: SyntaxError, text: str, read: str, format: Format, base_iri: str | None
) -> KipError:
    """What the parser says, at its place in the text."""
    _, has_place, reason = fault.msg.partition(": ")
    reason = reason if has_place and fault.lineno is not None else fault.msg
    message = f"The text is no {NAMES[format]}: {reason.rstrip('.')}."
    hint = "Check the file at this place."
    if base_iri is None and "No scheme found" in reason:
        hint = "Give the base of its relative IRIs (base_iri, --base-iri), or write them in full."
    if fault.lineno is not None:
        # A document whose remote contexts were put in place has other places; it is JSON, though.
        known = read == text
        span = rdfxml.offset(text, fault.lineno, fault.offset or 1) if known else NOWHERE
    elif format == "jsonld":
        span = jsonld_faults.place(text, _repeats(fault.msg, base_iri))
    else:
        span = _reached(read, format, base_iri)
    return KipError("KIP_1001", message, hint, span, text)


def _repeats(message: str, base_iri: str | None) -> Callable[[str], bool]:
    """Whether a part of a JSON-LD document fails with a message."""

    def fails(part: str) -> bool:
        try:
            deque(parse_rdf(part, format=RdfFormat.JSON_LD, base_iri=base_iri), 0)
        except SyntaxError as fault:
            return fault.msg == message
        return False

    return fails


def _reached(read: str, format: Format, base_iri: str | None) -> Span:
    """How far a parser comes that is fed piece by piece, when its fault does not tell its place."""
    pieces = rdfxml.pieces(read)
    source = _Pieces(pieces)
    try:
        deque(parse_rdf(cast(IO[bytes], source), format=_PARSERS[format], base_iri=base_iri), 0)
    except SyntaxError:
        last = pieces[max(source.given - 1, 0)]
        end = sum(map(len, pieces[: source.given]))
        return Span(end - len(last.lstrip()), end)
    return NOWHERE


class _Pieces(io.RawIOBase):
    """A binary file that gives out one piece at each reading, and counts them."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces
        self._rest = b""
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        if not self._rest and self.given < len(self._pieces):
            self._rest = self._pieces[self.given].encode()
            self.given += 1
        end = len(self._rest) if size < 0 else size
        found, self._rest = self._rest[:end], self._rest[end:]
        return found


# Blank nodes ----------------------------------------------------------------------------------


class _Labels:
    """Labels of blank nodes that are those of one document: of its content, and a number."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[BlankNode, BlankNode] = {}

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(self._text.encode()).hexdigest()[:16]

    def quad(self, quad: Quad) -> Quad:
        before = quad.subject, quad.object, quad.graph_name
        subject, value, graph = after = tuple(map(self._named, before))
        if all(map(operator.is_, before, after)):
            return quad
        return Quad(subject, quad.predicate, value, graph)

    def _named(self, term: Any) -> Any:
        if isinstance(term, BlankNode):
            found = self._known.get(term)
            if found is None:
                found = BlankNode(f"b{self._digest}n{len(self._known)}")
                self._known[term] = found
            return found
        if isinstance(term, Triple):
            return Triple(*map(self._named, (term.subject, term.predicate, term.object)))
        return term
