"""Snapshots in other people's parsers: rdflib (RDF 1.1) and pyoxigraph (RDF 1.1 and 1.2)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pyoxigraph
import pytest
import rdflib
from pyoxigraph import DefaultGraph, RdfFormat

import kiprdf
from tests.interchange.graphs import isomorphic
from tests.interchange.nexuses import (
    HOSTILE_NAMES,
    HOSTILE_STRINGS,
    colliding,
    demonstration,
    hostile,
    small,
)
from tests.nexus.support import facts, medical, restored

Key = tuple[str, ...]
NEXUSES: dict[str, Callable[[], kiprdf.Nexus]] = {
    "small": small,
    "medical": medical,
    "colliding types": colliding,
    "hostile": hostile,
    "hostile below https": lambda: hostile("https://data.example.org/kb/"),
    "bundled capsules": kiprdf.Nexus.memory,
    "demonstration": demonstration,
}


@pytest.fixture(params=NEXUSES, scope="module")
def nexus(request: pytest.FixtureRequest) -> kiprdf.Nexus:
    return NEXUSES[request.param]()


def by_rdflib(text: str) -> rdflib.Graph:
    return rdflib.Graph().parse(data=text, format="turtle")


def rdflib_key(term: Any) -> Key:
    if isinstance(term, rdflib.Literal):
        return ("literal", str(term), str(term.datatype), str(term.language))
    return ("iri" if isinstance(term, rdflib.URIRef) else "blank", str(term))


def oxigraph_key(term: Any) -> Key:
    if isinstance(term, pyoxigraph.Literal):
        plain = term.language is not None or term.datatype.value.endswith("#string")
        datatype = "None" if plain else term.datatype.value
        return ("literal", term.value, datatype, str(term.language))
    return ("iri" if isinstance(term, pyoxigraph.NamedNode) else "blank", term.value)


def test_rdf11_is_the_same_set_of_triples_in_both_parsers(
    nexus: kiprdf.Nexus, as_written: None
) -> None:
    text = nexus.snapshot(profile="rdf11")
    one = {tuple(map(rdflib_key, triple)) for triple in by_rdflib(text)}
    other = {
        tuple(map(oxigraph_key, (quad.subject, quad.predicate, quad.object)))
        for quad in pyoxigraph.parse(text, format=RdfFormat.TURTLE)
    }
    assert one == other


def test_rdf11_is_isomorphic_in_rdflib_after_a_trip_through_pyoxigraph(
    nexus: kiprdf.Nexus,
) -> None:
    text = nexus.snapshot(profile="rdf11")
    store = pyoxigraph.Store()
    store.load(text.encode(), format=RdfFormat.TURTLE)
    dumped = store.dump(format=RdfFormat.N_TRIPLES, from_graph=DefaultGraph())
    again = rdflib.Graph().parse(data=dumped.decode(), format="nt")
    assert isomorphic(by_rdflib(text), again)


def test_rdf11_has_no_blank_node(nexus: kiprdf.Nexus) -> None:
    terms = (term for triple in by_rdflib(nexus.snapshot()) for term in triple)
    assert not any(isinstance(term, rdflib.BNode) for term in terms)


def test_rdf12_is_exactly_the_default_graph(nexus: kiprdf.Nexus) -> None:
    store = pyoxigraph.Store()
    store.load(nexus.snapshot(profile="rdf12").encode(), format=RdfFormat.TURTLE)
    triples = {
        (str(q.subject), str(q.predicate),
         f"<<( {q.object} )>>" if isinstance(q.object, pyoxigraph.Triple) else str(q.object))
        for q in store
    }  # fmt: skip
    assert triples == facts(nexus)


def test_both_profiles_say_the_same(nexus: kiprdf.Nexus) -> None:
    one, other = (facts(restored(nexus, profile=profile)) for profile in ("rdf11", "rdf12"))
    assert one == other


@pytest.fixture(scope="module")
def hostile_graph() -> rdflib.Graph:
    return by_rdflib(hostile().snapshot())


@pytest.mark.parametrize("number", range(len(HOSTILE_STRINGS)))
@pytest.mark.parametrize("space", ["attribute", "metadata"])
def test_rdflib_reads_a_hostile_string(
    hostile_graph: rdflib.Graph, space: str, number: int
) -> None:
    hub = rdflib.URIRef("urn:kip:nexus/Thing/hub")
    literal = hostile_graph.value(hub, rdflib.URIRef(f"urn:kip:{space}/s{number}"))
    assert str(literal) == HOSTILE_STRINGS[number]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=lambda name: ascii(name[:8]))
def test_rdflib_reads_a_hostile_name(hostile_graph: rdflib.Graph, name: str) -> None:
    labels = {str(label) for label in hostile_graph.objects(None, rdflib.RDFS.label)}
    assert name in labels


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=lambda name: ascii(name[:8]))
@pytest.mark.parametrize("profile", ["rdf11", "rdf12"])
def test_a_hostile_name_is_restored(profile: str, name: str) -> None:
    rows = restored_hostile(profile).execute(
        'FIND(?x.name, ?x.attributes.nested) WHERE { ?x {type: "Thing", name: :name} }', name=name
    )
    assert rows == [[name], [{name: [name, None, 1.5]}]]


@functools.cache
def restored_hostile(profile: str) -> kiprdf.Nexus:
    return restored(hostile(), "https://other.example/x/", profile=profile)
