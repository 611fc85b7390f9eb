"""RDF/XML of the rdf11 profile: written, and checked before a parser of RDF reads it.

XML 1.0 has no control characters. A literal that holds one is written as the ``rdf:JSON`` text of
its value, from which ``profiles.from_profile`` makes it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast
from xml.parsers import expat

from pyoxigraph import Literal

from kiprdf.errors import KipError
from kiprdf.interchange.formats import lengths, profiles
from kiprdf.interchange.formats.ordering import UNSHOWN, Dataset, header, node_name
from kiprdf.interchange.formats.output import Output
from kiprdf.interchange.formats.prefixes import namespaces
from kiprdf.interchange.formats.profiles import as_json
from kiprdf.interchange.staging_store import Node, Term
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import normal
from kiprdf.source import Span

NESTING = 1000
"""How deep elements may nest: lists that are written out nest two levels an item."""
ATTRIBUTES = 1000
"""How many attributes an element may have: the RDF parser's time grows with their square."""
NAMESPACES = 1000
"""How many namespaces may be declared around an element: the parser looks through them all."""

# Letters of every edition of XML 1.0; a predicate that ends otherwise has no element name.
_LETTERS = r"A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
_LOCAL_NAME = re.compile(rf"[{_LETTERS}][{_LETTERS}0-9.-]*\Z")
_PREFIX = re.compile(r"(?![Xx][Mm][Ll])[A-Za-z_][A-Za-z0-9_]*")
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ESCAPED = re.compile(rf'[&<>"\r{UNSHOWN}]')
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
# What these names mean in RDF/XML, they do not mean as predicates (RDF 1.1 XML, 5.1).
_RESERVED = frozenset(
    ("RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype", "Description", "li")
)
_ABOLISHED = frozenset(("bagID", "aboutEach", "aboutEachPrefix"))
_RESERVED_NAMESPACES = ("http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/")
_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")


# Out ------------------------------------------------------------------------------------------


def write(dataset: Dataset, output: Output, iris: Iris, prefixes: Mapping[str, str]) -> None:
    """Write a dataset in the profile rdf11, a triple a line, after an instruction with the base.

    Raises KIP_1001 for a predicate whose IRI does not end in an XML name.
    """
    names = _element_names(dataset.predicates(), namespaces(iris, prefixes))
    output.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    output.write(f"<?{header(iris)}?>\n<rdf:RDF")
    for prefix, namespace in sorted(names.used.items()):
        output.write(f'\n    xmlns:{prefix}="{_escaped(namespace)}"')
    output.write(">\n")
    for subject, own in dataset.blocks(iris, lambda value: value):
        lines = "".join(_property(names.by_iri[name], value) for name, _, value in own)
        beginning = f"\n<rdf:Description {_node(subject, 'about')}>\n"
        output.write(f"{beginning}{lines}</rdf:Description>\n")
        output.count(len(own))
    output.write("</rdf:RDF>\n")


def to_value(term: Term) -> Term:
    """An object as it is written; that of characters which XML does not have as its JSON."""
    value = normal(term) if isinstance(term, Literal) else term
    if isinstance(value, Literal) and _NO_CHARACTER.search(value.value):
        text = _NO_CHARACTER.sub(_json_escape, as_json(value).value)
        return Literal(text, datatype=vocab.JSON)
    return profiles.to_value(value, directions=False)


def _json_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


class _ElementNames:
    def __init__(self) -> None:
        self.by_iri: dict[str, str] = {}
        self.used: dict[str, str] = {"rdf": vocab.RDF}


def _element_names(predicates: Iterable[str], known: Mapping[str, str]) -> _ElementNames:
    """A qualified name for each predicate, with a prefix made up where there is none."""
    by_namespace: dict[str, str] = {}
    for prefix, namespace in known.items():
        if _PREFIX.fullmatch(prefix):
            by_namespace.setdefault(namespace, prefix)
    names = _ElementNames()
    for iri in sorted(predicates):
        namespace, local = _split(iri, by_namespace)
        prefix = by_namespace.setdefault(namespace, "")
        if not prefix:
            taken = {*known, *by_namespace.values()}
            prefix = next(n for i in range(1, len(taken) + 2) if (n := f"ns{i}") not in taken)
            by_namespace[namespace] = prefix
        names.used[prefix] = namespace
        names.by_iri[iri] = f"{prefix}:{local}"
    return names


def _split(iri: str, known: Mapping[str, str]) -> tuple[str, str]:
    """Namespace and local name; a known namespace, if the rest of the IRI is a name."""
    fits = (s for s in known if iri.startswith(s) and _LOCAL_NAME.match(iri, len(s)))
    namespace = max(fits, key=len, default=None)
    if namespace is None:
        found = _LOCAL_NAME.search(iri)
        namespace = iri[: found.start()] if found else iri
    local = iri[len(namespace) :]
    reserved = namespace == vocab.RDF and local in _RESERVED | _ABOLISHED
    if not local or not namespace or reserved or namespace in _RESERVED_NAMESPACES:
        message = f"The predicate <{iri}> cannot be the name of an XML element."
        raise KipError("KIP_1001", message, "Write Turtle, or map it to another IRI.")
    return namespace, local


def _property(name: str, value: Term) -> str:
    if not isinstance(value, Literal):
        return f"    <{name} {_node(node_name(cast(Node, value)), 'resource')}/>\n"
    attribute = ""
    if value.language is not None:
        attribute = f' xml:lang="{value.language}"'
    elif value.datatype != vocab.STRING:
        attribute = f' rdf:datatype="{_escaped(value.datatype.value)}"'
    return f"    <{name}{attribute}>{_escaped(value.value)}</{name}>\n"


def _node(name: str, attribute: str) -> str:
    if name.startswith("_:"):
        return f'rdf:nodeID="{name[2:]}"'
    return f'rdf:{attribute}="{_escaped(name)}"'


def _escaped(text: str) -> str:
    return _ESCAPED.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _ESCAPES.get(character) or f"&#x{ord(character):X};"


# In -------------------------------------------------------------------------------------------


def checked(text: str) -> str:
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


def pieces(text: str) -> list[str]:
    """The text, each piece ending with a tag: a parser that fails has read as far as its fault."""
    return re.findall(r"[^>]*>|[^>]+\Z", text)


def offset(text: str, line: int, column: int) -> Span:
    """Where a line and a column, counted from 1, are in a text."""
    start = -1
    for _ in range(line - 1):
        start = text.find("\n", start + 1)
    return Span(start + column, start + column + 1)
