"""Reads the datasets of a nexus from all formats in which they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from kiprdf.errors import KipError
from kiprdf.interchange.formats import NAMES, Format, check_format, jsonld, parsing
from kiprdf.interchange.formats.ordering import FORMAT, normalized
from kiprdf.interchange.formats.profiles import from_profile
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.loading import load
from kiprdf.rdf.iris import Iris, base_fault

if TYPE_CHECKING:
    from kiprdf.interchange.mapping.contexts import Mapping

_HEADER = re.compile(r"# kiprdf (\d{1,9}) base <([^>\n]*)>")
_XML_HEADER = re.compile(r"\s*(?:<\?xml\s[^>]*\?>\s*)?<\?kiprdf (\d{1,9}) base <([^>\n]*)>")


def read(
    content: str | bytes,
    format: Format,
    base: str,
    *,
    source_base: str | None = None,
    mapping: Mapping | None = None,
) -> list[Triple]:
    """The triples of a snapshot in any format and either profile, as the store holds them, each
    once.

    The base of the snapshot is the one it names at its beginning, or ``source_base``; its IRIs
    move to ``base``. A snapshot that was written with a mapping is read with it. Raises KIP_1001
    with line and column for a broken text, KIP_4002 for one that nests too deeply, KIP_2002 for
    what is not a dataset of one graph.
    """
    store = stage(content, format, base, source_base=source_base, mapping=mapping)
    return list(normalized(store))


def stage(
    content: str | bytes,
    format: Format,
    base: str,
    *,
    source_base: str | None = None,
    mapping: Mapping | None = None,
) -> StagingStore:
    """Read a snapshot into a temporary store; see ``read``."""
    check_format(format)
    text = parsing.decoded(content, format)
    origin = base_of(text, format) if source_base is None else source_base
    if origin is None:
        message = f"The {NAMES[format]} does not declare the base of its IRIs."
        raise KipError("KIP_1001", message, "Give the base of its IRIs as base_iri.")
    fault = base_fault(origin)
    if fault is not None:
        raise KipError(
            "KIP_1001",
            f"The base <{origin}> {fault}.",
            "Correct the base in the file, or give another base_iri.",
        )
    quads = _default_graph(parsing.quads(text, format))
    return _dataset(quads, origin, base, mapping)


def base_of(text: str, format: Format) -> str | None:
    """The base that a snapshot names at its beginning; None where there is none.

    Raises KIP_1001 for a snapshot of a newer format.
    """
    if format == "jsonld":
        return jsonld.base_of(text)
    match = (_XML_HEADER if format == "rdfxml" else _HEADER).match(text)
    if match is None:
        return None
    if int(match.group(1)) > FORMAT:
        message = f"The snapshot has format {match.group(1)}; this kiprdf reads {FORMAT}."
        raise KipError("KIP_1001", message, "Use a newer kiprdf.")
    return match.group(2)


def restored(quads: Iterable[Quad], base: str, mapping: Mapping | None = None) -> StagingStore:
    """The dataset for quads of either profile, with their own base."""
    return _dataset(quads, base, base, mapping)


def _dataset(
    quads: Iterable[Quad], origin: str, base: str, mapping: Mapping | None
) -> StagingStore:
    dataset: Iterable[Quad] = from_profile(quads)
    if mapping is not None:
        load("kiprdf.interchange.mapped")
        from kiprdf.interchange.mapped import undone

        # Before the base moves: a string that the mapping made an IRI does not move with it.
        triples = undone((quad.triple for quad in dataset), Iris(origin), mapping)
        dataset = (Quad(*triple) for triple in triples)
    return StagingStore.of(rebased(dataset, origin, base))


def _default_graph(quads: Iterable[Quad]) -> Iterator[Quad]:
    """The quads; KIP_2002 for one in a named graph."""
    default = DefaultGraph()
    for quad in quads:
        if quad.graph_name != default:
            message = f"The snapshot contains the named graph {quad.graph_name}."
            raise KipError("KIP_2002", message, "A nexus is one graph, the default graph.")
        yield quad


def rebased(quads: Iterable[Quad], origin: str, base: str) -> Iterable[Quad]:
    """Quads with the IRIs of one base moved to another."""

    def moved(term: Any) -> Any:
        if isinstance(term, NamedNode) and term.value.startswith(origin):
            return NamedNode(base + term.value[len(origin) :])
        return Triple(*map(moved, term)) if isinstance(term, Triple) else term

    return quads if origin == base else (Quad(*map(moved, quad)) for quad in quads)
