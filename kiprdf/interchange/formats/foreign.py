"""Writes triples that are not the dataset of a nexus, with blank nodes and named graphs."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from typing import IO, Any

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, serialize

from kiprdf.budget import paced
from kiprdf.interchange.formats import Format, rdfxml
from kiprdf.interchange.formats.parsing import OXIGRAPH_FORMATS

_OF_GRAPHS = ("trig", "nquads", "jsonld")
"""The formats of named graphs; the others have all triples in one."""


def write_foreign(
    quads: Iterable[Quad],
    output: IO[bytes],
    format: Format,
    prefixes: Mapping[str, str],
    *,
    lower_tags: bool = False,
) -> int:
    """Write quads, the same text for the same quads; return their number.

    ``prefixes`` that are not used are left out. Language tags are in their usual form, or all in
    lower case, as Wikibase has them. Raises KIP_1001 for what a format cannot express.
    """
    every: Iterable[Any] = paced(quads)
    if format not in _OF_GRAPHS:
        every = (Quad(quad.subject, quad.predicate, quad.object) for quad in every)
    ordered = sorted(dict.fromkeys(every), key=_order)
    if format == "rdfxml":
        rdfxml.check(quad.triple for quad in ordered)
    iris = {term.value for quad in ordered for term in quad if isinstance(term, NamedNode)}
    used = {
        name: namespace
        for name, namespace in sorted(prefixes.items())
        if any(iri.startswith(namespace) for iri in iris)
    }
    content = io.BytesIO()
    serialize(ordered, content, format=OXIGRAPH_FORMATS[format], prefixes=used)
    text = content.getvalue()
    if format == "rdfxml":
        text = text.replace(b"\r", b"&#xD;")  # XML reads a bare one as the end of a line
    output.write(text if lower_tags else _with_usual_tags(text, format))
    return len(ordered)


_TAGS = {
    "jsonld": re.compile(rb'("@language":")([^"]+)'),
    "rdfxml": re.compile(rb'(<[^<>]* xml:lang=")([^"]+)'),
}
_OTHER_TAGS = re.compile(rb'("(?:[^"\\]|\\.)*+"@?+)((?<=@)[a-z0-9-]+)?', re.DOTALL)
"""Strings with their tags, so that no tag is looked for in a string."""


def _with_usual_tags(content: bytes, format: Format) -> bytes:
    """The content with language tags as RFC 5646 (2.1.1) and most data write them.

    Parsers and the store write all in lower case; rdflib compares them as they are written.

    >>> _with_usual_tags(b'<urn:a> <urn:b> "@en-gb"@en-gb .', "turtle")
    b'<urn:a> <urn:b> "@en-gb"@en-GB .'
    """
    tags = _TAGS.get(format, _OTHER_TAGS)
    return tags.sub(lambda match: match[1] + _usual_tag(match[2] or b""), content)


def _usual_tag(tag: bytes) -> bytes:
    """A language tag in its usual form, ``zh-Hant-TW``; after a single letter all are lower."""
    parts = tag.split(b"-")
    single = next((number for number, part in enumerate(parts) if len(part) == 1), len(parts))
    for number in range(1, single):
        if parts[number].isalpha():
            cases = {2: bytes.upper, 4: bytes.title}
            parts[number] = cases.get(len(parts[number]), bytes.lower)(parts[number])
    return b"-".join(parts)


def _order(quad: Any) -> tuple[bool, str, bool, str, str, str]:
    """By graph, then IRIs before blank nodes."""
    in_graph, is_blank = quad.graph_name != DefaultGraph(), isinstance(quad.subject, BlankNode)
    subject, predicate, value = map(str, quad.triple)
    return in_graph, str(quad.graph_name), is_blank, subject, predicate, value
