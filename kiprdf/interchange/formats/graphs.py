"""Converts the dataset of a nexus to a graph of rdflib and back; reads foreign graphs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Triple,
    serialize,
)

from kiprdf.budget import paced
from kiprdf.errors import KipError, shown
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.formats.prefixes import namespaces
from kiprdf.interchange.formats.profiles import to_profile
from kiprdf.interchange.formats.reading import restored
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.loading import load
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, base_fault

if TYPE_CHECKING:
    import rdflib

    from kiprdf.interchange.mapping.contexts import Mapping


def to_rdflib(
    triples: Iterable[Triple], iris: Iris, mapping: Mapping | None = None
) -> rdflib.Graph:
    """The rdf11 profile of a dataset, in the vocabulary of a mapping if one is given.

    Literals keep their texts; the prefixes of the dataset are bound.
    """
    load("rdflib")
    import rdflib

    mapped: Iterable[Triple] = normalized(triples)
    if mapping is not None:
        load("kiprdf.interchange.mapped")
        from kiprdf.interchange.mapped import applied

        mapped = applied(mapped, iris, mapping)
    graph = rdflib.Graph()
    for name, iri in namespaces(iris, {} if mapping is None else mapping.prefixes).items():
        graph.bind(name, iri, replace=True)
    for triple in paced(to_profile(mapped, "rdf11")):
        parts = (triple.subject, triple.predicate, triple.object)
        subject, predicate, value = map(rdflib_term, parts)
        graph.add((subject, predicate, value))
    return graph


def from_rdflib(graph: rdflib.Graph, base_iri: str, mapping: Mapping | None = None) -> StagingStore:
    """The dataset of a nexus with a base, from a graph in the rdf11 profile.

    A graph that was written with a mapping is read with it. Raises KIP_1001 for a term or a triple
    that RDF does not have, KIP_2002 for a statement that does not stand for one fact.
    """
    fault = base_fault(base_iri)
    if fault is not None:
        raise KipError("KIP_1001", f"The base <{base_iri}> {fault}.", "Give another base_iri.")
    return restored(_triples(graph), base_iri, mapping)


def _triples(graph: rdflib.Graph) -> Iterator[Quad]:
    load("rdflib")
    import rdflib

    if not isinstance(graph, rdflib.Graph):
        message = f"The graph must be an rdflib.Graph, not {type(graph).__name__}."
        raise KipError("KIP_1001", message, "Give an rdflib.Graph.")
    for triple in paced(graph.triples((None, None, None))):
        yield _quad(triple, DefaultGraph())


def _quad(triple: Iterable[Any], graph: Any) -> Quad:
    subject, predicate, value = terms = tuple(map(rdf_term, triple))
    try:
        return Quad(subject, predicate, value, graph)
    except TypeError:
        # rdflib accepts literals as subjects, and any term as predicate.
        written = shown(" ".join(map(str, terms)))
        message = f"The graph contains {written}, which is not an RDF triple."
        hint = "Make its subject an IRI or a blank node, and its predicate an IRI."
        raise KipError("KIP_1001", message, hint) from None


def is_graph(source: object) -> TypeGuard[rdflib.Graph]:
    """Whether a value is a graph or dataset of rdflib; does not import rdflib."""
    rdflib = sys.modules.get("rdflib")
    return rdflib is not None and isinstance(source, rdflib.Graph)


def to_nquads(graph: rdflib.Graph) -> str:
    """The N-Quads of a graph or dataset. Raises KIP_1001 for a term that RDF does not have."""
    quads = []
    for *terms, name in paced(_quads(graph)):
        quads.append(_quad(terms, _graph_name(name)))
    return cast(bytes, serialize(quads, format=RdfFormat.N_QUADS)).decode()


def _quads(graph: Any) -> Iterable[Any]:
    """The triples of a graph, or the quads of a dataset."""
    if graph.context_aware:
        return cast(Iterable[Any], graph.quads((None, None, None, None)))
    return ((*triple, None) for triple in graph.triples((None, None, None)))


def _graph_name(graph: Any) -> Any:
    from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

    name = getattr(graph, "identifier", graph)
    return DefaultGraph() if name in (None, DATASET_DEFAULT_GRAPH_ID) else rdf_term(name)


def rdflib_term(term: object) -> Any:
    import rdflib

    if isinstance(term, NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, BlankNode):
        return rdflib.BNode(term.value)
    assert isinstance(term, Literal), term
    if term.language is not None:
        return rdflib.Literal(term.value, lang=term.language)
    # Plain strings have no datatype, to be equal to those that rdflib parses.
    is_plain = term.datatype == vocab.STRING
    datatype = None if is_plain else rdflib.URIRef(term.datatype.value)
    return rdflib.Literal(term.value, datatype=datatype, normalize=False)


def rdf_term(term: Any) -> Any:
    import rdflib

    try:
        if isinstance(term, rdflib.URIRef):
            return NamedNode(str(term))
        if isinstance(term, rdflib.BNode):
            return BlankNode(str(term))
        if isinstance(term, rdflib.Literal):
            if term.language is not None:
                return Literal(str(term), language=term.language)
            datatype = None if term.datatype is None else NamedNode(str(term.datatype))
            return Literal(str(term), datatype=datatype)
    except ValueError as fault:
        message = f"The graph contains {shown(repr(term))}, which is not an RDF term: {fault}."
        raise KipError("KIP_1001", message, "Replace this term, or remove its triples.") from None
    message = f"The graph contains {shown(repr(term))}, which is not an IRI, literal or blank node."
    raise KipError("KIP_1001", message, "Replace this term, or remove its triples.")
