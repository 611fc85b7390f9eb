"""Writes RDF/XML in the rdf11 profile.

XML 1.0 has no control characters. A literal that holds one is written as the ``rdf:JSON`` text of
its value, which ``profiles.from_profile`` turns back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pyoxigraph import Literal, Triple

from kiprdf.errors import KipError
from kiprdf.interchange import n_triples
from kiprdf.interchange.formats import profiles
from kiprdf.interchange.formats.ordering import UNSHOWN, Dataset, header, node_name, predicate_of
from kiprdf.interchange.formats.output import Output
from kiprdf.interchange.formats.prefixes import namespaces
from kiprdf.rdf import vocab
from kiprdf.rdf.directions import as_json
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import normal

# Letters in all editions of XML 1.0; a predicate with another ending has no element name.
_LETTERS = r"A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
_LOCAL_NAME = re.compile(rf"[{_LETTERS}][{_LETTERS}0-9.-]*\Z")
_PREFIX = re.compile(r"(?![Xx][Mm][Ll])[A-Za-z_][A-Za-z0-9_]*")
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ESCAPED = re.compile(rf'[&<>"\r{UNSHOWN}]')
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
# These names have a meaning in RDF/XML and cannot be predicates (RDF 1.1 XML, 5.1).
_RESERVED = frozenset(
    ("RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype", "Description", "li")
)
_ABOLISHED = frozenset(("bagID", "aboutEach", "aboutEachPrefix"))
_RESERVED_NAMESPACES = ("http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/")


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
    for subject, entries in dataset.blocks(iris):
        lines = "".join(_property(names.by_iri[predicate_of(key)], value) for key, value in entries)
        beginning = f"\n<rdf:Description {_node(subject, 'about')}>\n"
        output.write(f"{beginning}{lines}</rdf:Description>\n")
        output.count(len(entries))
    output.write("</rdf:RDF>\n")


def to_text(text: str) -> str:
    """An object as it is written; literals with characters that XML lacks as their JSON.

    Both are N-Triples.
    """
    value = normal(n_triples.literal(text)) if text.startswith('"') else None
    if isinstance(value, Literal) and _NO_CHARACTER.search(value.value):
        json_text = _NO_CHARACTER.sub(_json_escape, as_json(value).value)
        return str(Literal(json_text, datatype=vocab.JSON))
    return profiles.to_text(text, directions=False)


def _json_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


class _ElementNames:
    def __init__(self) -> None:
        self.by_iri: dict[str, str] = {}
        self.used: dict[str, str] = {"rdf": vocab.RDF}


def _element_names(predicates: Iterable[str], fixed: Mapping[str, str]) -> _ElementNames:
    """A qualified name for each predicate; missing prefixes are generated."""
    by_namespace: dict[str, str] = {}
    for prefix, namespace in fixed.items():
        if _PREFIX.fullmatch(prefix):
            by_namespace.setdefault(namespace, prefix)
    names = _ElementNames()
    for iri in sorted(predicates):
        namespace, local = _split(iri, by_namespace)
        prefix = by_namespace.setdefault(namespace, "")
        if not prefix:
            prefixes = {*fixed, *by_namespace.values()}
            prefix = next(n for i in range(1, len(prefixes) + 2) if (n := f"ns{i}") not in prefixes)
            by_namespace[namespace] = prefix
        names.used[prefix] = namespace
        names.by_iri[iri] = f"{prefix}:{local}"
    return names


def check(triples: Iterable[Triple]) -> None:
    """Raise KIP_1001 for a predicate or a literal that XML cannot have as it is."""
    for triple in triples:
        _split(triple.predicate.value, ())
        if isinstance(triple.object, Literal) and _NO_CHARACTER.search(triple.object.value):
            message = (
                f"A value of <{triple.predicate.value}> has characters that XML does not allow."
            )
            raise KipError("KIP_1001", message, "Write Turtle, or change the value.")


def _split(iri: str, namespaces: Iterable[str]) -> tuple[str, str]:
    """Namespace and local name; a known namespace, if the rest of the IRI is a name."""
    fits = (s for s in namespaces if iri.startswith(s) and _LOCAL_NAME.match(iri, len(s)))
    namespace = max(fits, key=len, default=None)
    if namespace is None:
        match = _LOCAL_NAME.search(iri)
        namespace = iri[: match.start()] if match else iri
    local = iri[len(namespace) :]
    reserved = namespace == vocab.RDF and local in _RESERVED | _ABOLISHED
    if not local or not namespace or reserved or namespace in _RESERVED_NAMESPACES:
        message = f"The predicate <{iri}> cannot be the name of an XML element."
        raise KipError("KIP_1001", message, "Write Turtle, or map it to another IRI.")
    return namespace, local


def _property(name: str, text: str) -> str:
    if not text.startswith('"'):
        return f"    <{name} {_node(node_name(text), 'resource')}/>\n"
    value = n_triples.literal(text)
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
