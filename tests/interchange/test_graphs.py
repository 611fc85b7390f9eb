"""Datasets as graphs of rdflib, and back."""

from __future__ import annotations

from typing import Any

import pytest
import rdflib
from rdflib import Literal, URIRef

import kiprdf
from kiprdf import Mapping
from kiprdf.interchange.formats.graphs import from_rdflib, to_rdflib
from kiprdf.interchange.formats.ordering import normalized
from tests.interchange.nexuses import colliding, demonstration, hostile, small
from tests.interchange.test_formats import mapping, values
from tests.trust import children

NEXUSES = {
    "small": small,
    "colliding types": colliding,
    "hostile": hostile,
    "demonstration": demonstration,
    "values": values,
}
BASE = "https://data.example.org/kb/"
B = URIRef("https://data.example.org/kb/Person/B")


def triples_of(nexus: kiprdf.Nexus) -> set[Any]:
    return set(normalized(nexus.store.match(None, None, None)))


def from_graph(*arguments: Any) -> list[Any]:
    return list(normalized(from_rdflib(*arguments)))


def graph_of(nexus: kiprdf.Nexus, vocabulary: Mapping | None = None) -> rdflib.Graph:
    return to_rdflib(triples_of(nexus), nexus.store.iris, vocabulary)


@pytest.mark.parametrize("words", ["none", "schema-org", "own"])
@pytest.mark.parametrize("name", NEXUSES)
def test_a_dataset_is_read_back_from_a_graph(name: str, words: str) -> None:
    nexus, vocabulary = NEXUSES[name](), mapping(words)
    triples = from_graph(graph_of(nexus, vocabulary), nexus.base_iri, vocabulary)
    assert (set(triples), len(triples)) == (triples_of(nexus), len(triples_of(nexus)))


@pytest.mark.parametrize("format", ["turtle", "nt", "xml", "json-ld"])
def test_a_dataset_is_read_back_from_what_rdflib_writes(format: str) -> None:
    nexus = demonstration()
    text = graph_of(nexus).serialize(format=format)
    graph = rdflib.Graph().parse(data=text, format=format)
    assert set(from_graph(graph, nexus.base_iri)) == triples_of(nexus)


def test_the_graph_is_that_of_the_snapshot() -> None:
    nexus = small()
    assert set(rdflib.Graph().parse(data=nexus.snapshot())) == set(graph_of(nexus))


def test_a_link_is_a_statement() -> None:
    graph = graph_of(small())
    link = URIRef("https://data.example.org/kb/$proposition/8bc0deb0201a0ad0/treats")
    assert (link, rdflib.RDF.type, rdflib.RDF.Statement) in graph
    assert graph.value(link, rdflib.RDF.predicate) == URIRef(BASE + "$PropositionType/treats")


def test_values_are_pythons_in_rdflib() -> None:
    subject = URIRef("https://data.example.org/kb/Drug/阿司匹林")
    graph = graph_of(small())
    attributes = {
        str(predicate)[len("urn:kip:attribute/") :]: value.toPython()
        for predicate, value in graph.predicate_objects(subject)
        if predicate.startswith("urn:kip:attribute/") and isinstance(value, Literal)
    }
    assert (attributes["risk"], attributes["dose"], attributes["safe"], attributes["big"]) == (
        2,
        0.5,
        True,
        1e300,
    )


def test_the_words_of_a_mapping_are_in_the_graph() -> None:
    graph = graph_of(values(), mapping("own"))
    assert (B, rdflib.RDF.type, URIRef("https://data.example/x_Person")) in graph
    ends = list(graph.subject_objects(URIRef("https://data.example/x_knows")))
    assert ends == [(URIRef(BASE + "Person/A"), B)]


def test_prefixes_are_bound() -> None:
    bound = {name: str(iri) for name, iri in graph_of(small()).namespaces()}
    assert (bound["attr"], bound["type"]) == ("urn:kip:attribute/", BASE + "$ConceptType/")


def test_a_number_that_rdflib_spells_otherwise_is_the_number() -> None:
    graph = graph_of(small())
    subject = URIRef("https://data.example.org/kb/Drug/阿司匹林")
    graph.set(
        (subject, URIRef("urn:kip:attribute/dose"), Literal("5E-1", datatype=rdflib.XSD.double))
    )
    assert set(from_graph(graph, BASE)) == triples_of(small())


@pytest.mark.parametrize("iri", ["a b", "x"])
def test_a_term_that_is_no_iri_is_refused(iri: str) -> None:
    graph = rdflib.Graph()
    graph.add((URIRef(iri), rdflib.RDF.type, URIRef("urn:t")))
    with pytest.raises(kiprdf.KipError) as raised:
        from_graph(graph, BASE)
    assert raised.value.code == "KIP_1001"


def test_a_base_that_is_none_is_refused() -> None:
    with pytest.raises(kiprdf.KipError, match="does not end in"):
        from_graph(rdflib.Graph(), "urn:x")


def test_half_a_statement_is_refused() -> None:
    graph = graph_of(small())
    graph.remove((None, rdflib.RDF.predicate, None))
    with pytest.raises(kiprdf.KipError) as raised:
        from_graph(graph, BASE)
    assert raised.value.code == "KIP_2002"


def test_rdflib_is_loaded_when_a_graph_is_asked_for() -> None:
    program = (
        "import sys, kiprdf\n"
        "from kiprdf.interchange.formats.graphs import to_rdflib\n"
        "assert 'rdflib' not in sys.modules\n"
        "nexus = kiprdf.Nexus.memory()\n"
        "to_rdflib(nexus.store.match(None, None, None), nexus.store.iris)\n"
        "assert 'rdflib' in sys.modules\n"
    )
    assert children.run("-c", program) == (0, "")
