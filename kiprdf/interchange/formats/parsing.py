"""Reads RDF of any origin: without network access or crashes, with the place of each fault.

Language tags that are not well-formed (BCP 47), which parsers refuse, are repaired: ``en_US`` is
read as ``en-US``, a text with any other such tag without a language. Lines stay where they are.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import operator
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import chain
from typing import IO, Any, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple
from pyoxigraph import parse as parse_rdf

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats import (
    NAMES,
    Format,
    check_format,
    guard,
    guard_jsonld,
    guard_xml,
    lenient,
)
from kiprdf.interchange.formats.guard import STRINGS
from kiprdf.interchange.formats.guard_xml import offset
from kiprdf.interchange.formats.lenient import BadParts
from kiprdf.interchange.mapping.reader import Loader
from kiprdf.language.values import LONE_SURROGATE
from kiprdf.source import NOWHERE, Span

_TAG = r"(?P<tag>[\w-]+)"
# Comments and IRIs are tokens too: a quote in them begins no string.
_TURTLE = re.compile(
    rf"(?P<before>(?:{STRINGS})@){_TAG}|{STRINGS}|\#[^\n]*|<[^<>\"{{}}|^`\s]*+>",
    re.DOTALL | re.MULTILINE,
)
_XML = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<[^\s<>/!?](?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>",
    re.DOTALL,
)
_XML_LANGUAGE = re.compile(
    r"(?P<before>\sxml:lang\s*=\s*)(?P<quote>[\"'])(?P<tag>[^\"']*)(?P=quote)"
)
_NO_TAG = "x-kipnone"
"""Written where a format cannot leave a tag out; texts with it get none."""
_DIRECTION = re.compile(r"--(?:ltr|rtl)\Z")

Note = Callable[[str, str | None], None]


def parse_foreign(
    content: str | bytes,
    format: Format,
    *,
    base_iri: str | None = None,
    loader: Loader | None = None,
    bad: BadParts | None = None,
    lost: Counter[str] | None = None,
    once: bool = True,
) -> tuple[list[Quad], list[str]]:
    """The quads of a document as ``parse`` returns them, and a sentence for each repaired tag.

    Without ``once`` a quad is there as often as it is stated.

    With ``bad`` what is bad is noted there, and is not an error. In ``lost`` the keys and relative
    IRIs are counted that JSON-LD leaves out; then a bad IRI is an error as in other formats.
    """
    check_format(format)
    tags: dict[str, str | None] = {}
    text = repaired(decoded(content, format, bad), format, tags.__setitem__)
    note = tags.__setitem__
    every = quads(text, format, base_iri=base_iri, loader=loader, bad=bad, note=note, lost=lost)
    if _NO_TAG in text:
        every = (Quad(*map(_without_placeholder, quad)) for quad in paced(every))
    parsed = list(dict.fromkeys(every)) if once else list(every)
    return parsed, [_sentence(tag, tags[tag]) for tag in tags]


def _without_placeholder(term: Any) -> Any:
    if isinstance(term, Literal) and (term.language or "").startswith(_NO_TAG):
        return Literal(term.value)
    if isinstance(term, Triple):
        return Triple(*map(_without_placeholder, term))
    return term


def repaired(text: str, format: Format, note: Note) -> str:
    """A text in which all language tags are well-formed; each other goes to ``note``.

    Those of JSON-LD, which depend on its contexts, are repaired when it is read.

    >>> repaired('<urn:a> <urn:b> "x"@en_US, "y"@1 .', "turtle", print)
    en_US en-US
    1 None
    '<urn:a> <urn:b> "x"@en-US, "y"   .'
    """
    if format == "rdfxml":
        return _XML.sub(lambda tag: _in_xml(tag.group(), note), text)
    return text if format == "jsonld" else _in_turtle(text, note)


def _sentence(tag: str, correct: str | None) -> str:
    if correct is not None:
        return f"The language tag '{shown(tag)}' is read as '{correct}'."
    return f"'{shown(tag)}' is not a language tag (BCP 47); its texts are kept without a language."


def _is_tag(tag: str) -> bool:
    try:
        Literal("", language=tag)
    except ValueError:
        return False
    return True


def _correct(tag: str, note: Note) -> str | None:
    """A tag, or the same with hyphens, if one of them is well-formed; otherwise None."""
    if _is_tag(tag):
        return tag
    hyphens = tag.replace("_", "-")
    correct = hyphens if _is_tag(hyphens) else None
    note(tag, correct)
    return correct


def _in_turtle(text: str, note: Note) -> str:
    """Turtle, TriG, N-Triples or N-Quads with correct tags."""
    # Nearly all documents have good tags; looking for them takes no walk through the strings.
    tags = {match[1] for match in paced(re.finditer(r"[\"']@([\w-]+)", text))}
    if all(_is_tag(_DIRECTION.sub("", tag)) for tag in tags):
        return text

    def replaced(match: re.Match[str]) -> str:
        tag = match["tag"]
        if tag is None or _is_tag(_DIRECTION.sub("", tag)):
            return match.group()
        correct = _correct(tag, note)
        before: str = match["before"]
        return f"{before[:-1]}{' ' * (len(tag) + 1)}" if correct is None else before + correct

    return _TURTLE.sub(replaced, text)


def _in_xml(tag: str, note: Note) -> str:
    def replaced(match: re.Match[str]) -> str:
        language, quote = match["tag"], match["quote"]
        if not language:
            # The parser refuses the empty tag, which is the XML for no language.
            return f"{match['before']}{quote}{_NO_TAG}{quote}"
        return f"{match['before']}{quote}{_correct(language, note) or _NO_TAG}{quote}"

    return _XML_LANGUAGE.sub(replaced, tag) if "xml:lang" in tag else tag


# Parsing --------------------------------------------------------------------------------------


OXIGRAPH_FORMATS: dict[Format, RdfFormat] = {
    "turtle": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "ntriples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "jsonld": RdfFormat.JSON_LD,
    "rdfxml": RdfFormat.RDF_XML,
}

_XML_ENCODING = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_XML_ENCODINGS = re.compile(r"(?i)utf-?8|utf-?16|(us-)?ascii|iso-8859-\d{1,2}|windows-125\d")
_XML_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_OWL_XML = re.compile(
    r"""(?:[^<]|<[?!])*<(?:[\w.-]+:)?Ontology\s(?![^>]*\srdf:about)"""
    r"""[^>]*["']http://www\.w3\.org/2002/07/owl#["']"""
)
"""The begin of OWL/XML; RDF/XML may have the same root, with rdf:about."""
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def parse(
    content: str | bytes,
    format: Format,
    *,
    base_iri: str | None = None,
    loader: Loader | None = None,
    bad: BadParts | None = None,
) -> list[Quad]:
    """The quads of a document, each once, in the order of the document.

    Relative IRIs are resolved against ``base_iri``. Blank nodes have labels that no other document
    has. Only contexts of JSON-LD are fetched, and only by a given ``loader``. Raises
    KIP_1001 with line and column for a broken document, KIP_4002 for one that nests too deeply, or
    whose terms are far longer than its text.
    """
    every = quads(content, format, base_iri=base_iri, loader=loader, bad=bad)
    return list(dict.fromkeys(every))


def quads(
    content: str | bytes,
    format: Format,
    *,
    base_iri: str | None = None,
    loader: Loader | None = None,
    bad: BadParts | None = None,
    note: Note | None = None,
    lost: Counter[str] | None = None,
) -> Iterator[Quad]:
    """The quads of a document in its order, possibly with duplicates; see ``parse``.

    With ``note`` the language tags of JSON-LD are repaired; ``lost`` is that of ``parse_foreign``.
    """
    check_format(format)
    _check_base(base_iri)
    text = decoded(content, format, bad)
    if bad is not None and format in lenient.LINES:
        read = lenient.within_bounds(text, format, bad)
    else:
        read = checked(text, format, loader, base_iri, note, lost)
    return chain.from_iterable(_parsed(text, read, format, base_iri, bad, lost))


def _parsed(
    text: str,
    read: str,
    format: Format,
    base_iri: str | None,
    bad: BadParts | None,
    lost: Counter[str] | None,
) -> Iterator[Iterable[Quad]]:
    """The quads of a checked text, in portions."""
    labels, parser = _Labels(text), OXIGRAPH_FORMATS[format]
    try:
        parsed: Iterable[Quad]
        if bad is None:
            parsed = parse_rdf(read, format=parser, base_iri=base_iri)
            if lost is not None and format == "jsonld":
                parsed = lenient.whole(parsed, text, read, base_iri, lost)
        else:
            parsed = lenient.parsed(text, read, format, parser, base_iri, bad)
        for some, written in guard.bounded(parsed, read, NAMES[format]):
            # Most documents have no blank nodes, most others few.
            yield map(labels.quad, some) if "_:" in written else some
    except SyntaxError as fault:
        raise _fault(fault, text, read, format, base_iri) from None
    except MemoryError as fault:
        message = f"The {NAMES[format]} parser ran out of memory: {fault}."
        raise KipError(
            "KIP_4002", message, "Shorten strings and comments to at most 16 MB each."
        ) from None


def checked(
    text: str,
    format: Format,
    loader: Loader | None,
    base_iri: str | None,
    note: Note | None = None,
    lost: Counter[str] | None = None,
) -> str:
    """Return a text that its parser reads safely, without crashing or taking minutes.

    Raises KIP_4002 for what is too large, KIP_1001 for what is dangerous or malformed. XML
    is returned without its declarations, JSON-LD with the remote contexts that the loader returns.
    """
    if format == "rdfxml":
        return guard_xml.checked(text)
    guard.check_tokens(text, format)
    if format != "jsonld":
        return text
    correct = None if note is None else partial(_correct, note=note)
    read = guard_jsonld.checked(text, loader, base_iri, correct, lost)
    if read is not text:
        guard.check_tokens(read, format)
    return read


def _check_base(base_iri: str | None) -> None:
    """Raise KIP_1001 for a base IRI that relative IRIs cannot be resolved against."""
    if base_iri is None:
        return
    hint = "Give an absolute IRI."
    if not isinstance(base_iri, str):
        message = f"The base of relative IRIs is a string, not {type(base_iri).__name__}."
        raise KipError("KIP_1001", message, hint)
    guard.check_length(base_iri, "base")
    try:
        NamedNode(base_iri)
    except ValueError as fault:
        message = f"<{base_iri}> cannot be the base of relative IRIs: {fault}."
        raise KipError("KIP_1001", message, hint) from None


# Text -----------------------------------------------------------------------------------------


def decoded(content: str | bytes, format: Format, bad: BadParts | None = None) -> str:
    """A document as text; only XML may be in another encoding than UTF-8.

    With ``bad`` the lines of N-Triples and N-Quads that are no text are noted there, and empty.
    """
    if isinstance(content, str):
        text = content.removeprefix("\ufeff")
        surrogate = None if text.isascii() else LONE_SURROGATE.search(text)
        if surrogate and bad is not None and format in lenient.LINES:
            return lenient.decoded(text, "utf-8", bad)
        if surrogate:
            message = "The text contains a lone surrogate, which is not a character."
            raise KipError(
                "KIP_1001", message, "Read the file as UTF-8.", Span(*surrogate.span()), text
            )
        return text
    if not isinstance(content, bytes):
        message = f"A document is a string or bytes, not {type(content).__name__}."
        raise KipError("KIP_1001", message, "Read the file first.")
    encoding = _encoding(content, format)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as fault:
        if bad is not None and format in lenient.LINES:
            return lenient.decoded(content, encoding, bad)
        before = content[: fault.start].decode(encoding, "replace")
        message = f"The {NAMES[format]} is not {encoding.upper().removesuffix('-SIG')} text."
        span = Span(len(before), len(before) + 1)
        readable = content.decode(encoding, "replace")
        raise KipError("KIP_1001", message, "Save it as UTF-8.", span, readable) from None


def _encoding(content: bytes, format: Format) -> str:
    """The encoding of a document: of its byte order mark, or as XML declares it."""
    encoding = next((name for bom, name in _BOMS.items() if content.startswith(bom)), "utf-8")
    declared = _XML_ENCODING.match(content) if format == "rdfxml" else None
    if declared is None or encoding != "utf-8":
        return encoding
    name = declared.group(1).decode()
    try:
        codecs.lookup(name)
    except LookupError:
        is_supported = False
    else:
        is_supported = _XML_ENCODINGS.fullmatch(name) is not None
    if not is_supported:
        message = f"The XML is in the encoding {shown(name)}, which is not supported."
        raise KipError("KIP_1001", message, "Save it as UTF-8.")
    return name


# Faults ---------------------------------------------------------------------------------------


def _fault(
    fault: SyntaxError, text: str, read: str, format: Format, base_iri: str | None
) -> KipError:
    """The error of the parser, with its place in the text."""
    _, has_place, reason = fault.msg.partition(": ")
    reason = reason if has_place and fault.lineno is not None else fault.msg
    if format == "rdfxml" and _OWL_XML.match(_XML_COMMENT.sub("", read)):
        hint = "Convert it to RDF/XML or Turtle: robot convert --input FILE --output FILE.ttl"
        return KipError("KIP_1001", "The text is OWL/XML, which is not RDF/XML.", hint)
    message = f"The text is not valid {NAMES[format]}: {reason.rstrip('.')}."
    hint = "Check the file at this place."
    if fault.lineno is None and format != "rdfxml":
        hint = "Look in the JSON for the value that the message names."
    if base_iri is None and "No scheme found" in reason:
        hint = "Give the base of its relative IRIs (base_iri, --base-iri), or write them in full."
    if fault.lineno is not None:
        # The remote contexts that were inserted move all places of a document.
        is_same = read == text
        span = offset(text, fault.lineno, fault.offset or 1) if is_same else NOWHERE
    elif format == "rdfxml":
        span = _reached(text, read, base_iri, is_text="text event" in reason)
    else:
        # The JSON is valid; the parser does not report the place of faults in its RDF.
        span = NOWHERE
    return KipError("KIP_1001", message, hint, span, text)


def _reached(text: str, read: str, base_iri: str | None, *, is_text: bool) -> Span:
    """The tag at which the parser of a text fails; the parser does not report it.

    ``is_text``: it fails at the text before the tag.

    The parser is fed tag by tag. Tags are counted from the end, because what is read has as many
    of them behind its document type definition, though its entities are replaced.
    """
    pieces = _tagged(read)
    source = _Pieces(pieces)
    try:
        deque(parse_rdf(cast(IO[bytes], source), format=RdfFormat.RDF_XML, base_iri=base_iri), 0)
    except SyntaxError:
        after = "".join(pieces[source.given :]).count("<")
        start = [match.start() for match in re.finditer("<", text)][-1 - after]
        if is_text:
            begin = text.rfind(">", 0, start) + 1
            begin += len(text[begin:start]) - len(text[begin:start].lstrip())
            return Span(begin, start)
        return Span(start, text.find(">", start) + 1)
    return NOWHERE


def _tagged(text: str) -> list[str]:
    """The text in pieces that end with a tag; a parser fails in the piece with the fault."""
    return re.findall(r"[^>]*>|[^>]+\Z", text)


class _Pieces(io.RawIOBase):
    """A binary file that returns one piece at each reading, and counts them."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces
        self._rest = b""
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        if not self._rest and self.given < len(self._pieces):
            self._rest = self._pieces[self.given].encode()
            self.given += 1
        end = len(self._rest) if size < 0 else size
        piece, self._rest = self._rest[:end], self._rest[end:]
        return piece


# Blank nodes ----------------------------------------------------------------------------------


class _Labels:
    """Labels for blank nodes, unique among documents: a hash of the text, and a number."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._renamed: dict[BlankNode, BlankNode] = {}

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
            node = self._renamed.get(term)
            if node is None:
                node = BlankNode(f"b{self._digest}n{len(self._renamed)}")
                self._renamed[term] = node
            return node
        if isinstance(term, Triple):
            return Triple(*map(self._named, (term.subject, term.predicate, term.object)))
        return term
