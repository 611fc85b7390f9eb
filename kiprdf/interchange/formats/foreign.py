"""Writes triples that are no dataset of a nexus, with blank nodes and named graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, RdfFormat, serialize

from kiprdf.budget import paced
from kiprdf.interchange.formats.names import Format

_FORMATS = {
    "turtle": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "ntriples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "jsonld": RdfFormat.JSON_LD,
    "rdfxml": RdfFormat.RDF_XML,
}
_OF_GRAPHS = ("trig", "nquads", "jsonld")
"""The formats of named graphs; the others have all triples in one."""


def write_foreign(
    quads: Iterable[Quad], output: IO[bytes], format: Format, prefixes: Mapping[str, str]
) -> int:
    """Write quads, the same text for the same quads; return their number.

    ``prefixes`` that are not used are left out.
    """
    every: Iterable[Any] = paced(quads)
    if format not in _OF_GRAPHS:
        every = (Quad(quad.subject, quad.predicate, quad.object) for quad in every)
    ordered = sorted(dict.fromkeys(every), key=_order)
    iris = {term.value for quad in ordered for term in quad if isinstance(term, NamedNode)}
    used = {
        name: namespace
        for name, namespace in sorted(prefixes.items())
        if any(iri.startswith(namespace) for iri in iris)
    }
    serialize(ordered, output, format=_FORMATS[format], prefixes=used)
    return len(ordered)


def _order(quad: Any) -> tuple[bool, str, bool, str, str, str]:
    """By graph, then IRIs before blank nodes."""
    in_graph, is_blank = quad.graph_name != DefaultGraph(), isinstance(quad.subject, BlankNode)
    subject, predicate, value = map(str, quad.triple)
    return in_graph, str(quad.graph_name), is_blank, subject, predicate, value
