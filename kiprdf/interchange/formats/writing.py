"""Writes datasets of a nexus, and parts of them, in every format."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple, serialize

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange.formats import (
    NAMES,
    Format,
    Profile,
    check_format,
    check_profile,
    jsonld,
    rdfxml,
    turtle,
)
from kiprdf.interchange.formats.ordering import Dataset, Reification, normalized
from kiprdf.interchange.formats.output import Advance, Output
from kiprdf.interchange.formats.parsing import OXIGRAPH_FORMATS
from kiprdf.interchange.formats.profiles import to_text
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.loading import load
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping


_OF_GRAPHS = ("trig", "nquads", "jsonld")
"""The formats of named graphs; the others have all triples in one."""


def write_foreign(
    quads: Iterable[Quad],
    output: IO[bytes],
    format: Format,
    prefixes: dict[str, str],
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


# Writing --------------------------------------------------------------------------------------


_ENGINE_METADATA = frozenset(NamedNode(vocab.METADATA + key) for key in vocab.ENGINE_KEYS)


class Serializer:
    """Has read a dataset, and writes it in one format, the same text for the same triples.

    The triples are those of a store, in any order; a part of a dataset is written alike. With a
    mapping it is written in its vocabulary. Raises KIP_1001 for an unknown format or profile.
    """

    def __init__(
        self,
        triples: StagingStore | Iterable[Triple],
        format: Format,
        iris: Iris,
        *,
        profile: Profile = "rdf11",
        mapping: Mapping | None = None,
        engine_metadata: bool = True,
    ) -> None:
        check_format(format)
        check_profile(profile)
        if format in ("jsonld", "rdfxml") and profile != "rdf11":
            message = f"{NAMES[format]} does not support RDF 1.2."
            raise KipError("KIP_1001", message, 'Use the profile "rdf11", or another format.')
        self._format = format
        self._iris = iris
        self._mapping = mapping
        reification: Reification = "triples"
        if profile == "rdf11":
            reification = "statements"
        elif format in ("turtle", "trig"):
            reification = "annotations"
        if not engine_metadata:
            triples = (triple for triple in triples if triple.predicate not in _ENGINE_METADATA)
        if mapping is not None:
            load("kiprdf.interchange.mapped")
            from kiprdf.interchange.mapped import applied

            triples = applied(normalized(triples), iris, mapping)

        def convert(text: str) -> str:
            if format == "rdfxml":
                return rdfxml.to_text(text)
            return to_text(text, directions=profile == "rdf12" or format == "jsonld")

        # Annotations join a link and its fact, and the terms of a mapping depend on all values.
        is_sorted_on_disk = mapping is None and reification != "annotations"
        self._dataset = Dataset(triples, reification, convert, iris if is_sorted_on_disk else None)

    def write(
        self,
        target: IO[bytes],
        *,
        prefixes: dict[str, str] | None = None,
        advance: Advance | None = None,
    ) -> int:
        """Write the dataset, once; returns the number of triples
        in the document.

        It may use ``prefixes`` besides those of the dataset and the mapping. ``advance`` is called
        with the number of triples written since its last call. Raises KIP_1001 for what a format
        cannot express.
        """
        mapped = {} if self._mapping is None else self._mapping.prefixes
        every_prefix = {**mapped, **(prefixes or {})}
        with Output(target, advance) as output:
            match self._format:
                case "turtle" | "trig":
                    turtle.write(self._dataset, output, self._iris, every_prefix)
                case "ntriples" | "nquads":
                    turtle.write_lines(self._dataset, output, self._iris)
                case "jsonld":
                    jsonld.write(self._dataset, output, self._iris, self._mapping)
                case "rdfxml":
                    rdfxml.write(self._dataset, output, self._iris, every_prefix)
        return output.triples
