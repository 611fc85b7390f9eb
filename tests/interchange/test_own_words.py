"""Words of kiprdf itself, as names of properties, classes and datatypes of other data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import rdflib

import kiprdf
from tests.interchange.graphs import isomorphic
from tests.nexus.support import restored

WORDS = (
    *("other_types", "other-types", "attributes", "metadata", "graph", "graph_values", "original"),
    *("iri", "name_iri", "instance_schema", "metadata_schema", "name", "type", "id", "axioms"),
    *("predicate", "source", "imported_at", "_version", "superseded_by", "labels", "parents"),
)


def document(word: str) -> str:
    """The word as an attribute of each kind, as a class, a link, and a property of a statement."""
    return f"""@prefix : <https://ex.org/> . @prefix w: <https://ex.org/words#> .
        @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        :a a :T, :U ; w:{word} "m", "n"@en, 5.50, <https://else.example/x> . :b a :T .
        :c a w:{word} ; w:{word} (1 "x"@en) . :d a :T ; w:{word} :b .
        :r a rdf:Statement ; rdf:subject :d ; rdf:predicate w:{word} ; rdf:object :b ;
            w:{word} "m" ."""


def imported(text: str, **options: Any) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory("https://data.example.org/kb/", genesis=False)
    assert nexus.import_rdf(text, define=True, **options)["skipped"] == []
    return nexus


def original(nexus: kiprdf.Nexus) -> rdflib.Graph:
    return rdflib.Graph().parse(data=nexus.snapshot(mapping="original", only="imported"))


@pytest.mark.parametrize("word", WORDS)
def test_an_own_word_comes_home_as_the_property_it_was(word: str) -> None:
    nexus = imported(document(word))
    assert isomorphic(original(nexus), rdflib.Graph().parse(data=document(word)))
    assert restored(nexus, mapping=nexus.context()).snapshot() == nexus.snapshot()


def test_the_names_of_maps_and_the_key_of_classes_are_not_given_to_others() -> None:
    names = ("metadata", "attributes", "other_types", "graph")
    for name in names:
        nexus = imported(document(name))
        attributes = nexus.execute('FIND(?a.attributes) WHERE { ?a {name: "a"} }')[0]
        key = name if name == "graph" else f"{name}_2"
        assert "m" in attributes[key]
        assert attributes["other_types"] == ["https://ex.org/U"]


@pytest.mark.parametrize("word", ["other_types", "attributes", "metadata"])
def test_an_ontology_and_its_data_give_an_own_word_the_same_name(word: str) -> None:
    ontology = f"""@prefix : <https://ex.org/> . @prefix w: <https://ex.org/words#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :T a owl:Class . w:{word} a owl:DatatypeProperty ; rdfs:domain :T .
        :x01 a owl:DatatypeProperty ; rdfs:domain :T ; rdfs:label "{word}" ."""
    data = f"@prefix w: <https://ex.org/words#> . w:a a <https://ex.org/T> ; w:{word} 'm' ."
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.import_ontology(ontology)
    (schema,) = nexus.execute('FIND(?t.attributes.instance_schema) WHERE { ?t {name: "T"} }')
    assert {*schema} == {f"{word}_2", f"{word}_2_2"}
    nexus.import_rdf(data)
    (attributes,) = nexus.execute('FIND(?a.attributes) WHERE { ?a {name: "a"} }')
    (key,) = (key for key, rule in schema.items() if rule["iri"].endswith(f"#{word}"))
    assert attributes[key] == "m"
    expected = rdflib.Graph().parse(data=data) + rdflib.Graph().parse(data=ontology)
    assert isomorphic(original(nexus), expected)


@pytest.mark.parametrize("key", ["graph", "graph_values", "original"])
def test_a_mapping_cannot_give_data_the_metadata_that_imports_write(key: str) -> None:
    trig = """@prefix : <https://ex.org/> .
        :g1 { :a a :T ; :p "m" . } :g2 { :a :p "n", 5.50 . }"""
    context = {"metadata": {"@id": "@nest", "@context": {key: "https://ex.org/p"}}}
    nexus = imported(trig, format="trig", mapping={"@context": context})
    text = nexus.snapshot(format="trig", mapping="original", only="imported")
    both = [rdflib.Dataset().parse(data=one, format="trig") for one in (trig, text)]
    assert {*both[0].quads()} == {*both[1].quads()}


def test_a_mapping_that_names_a_property_other_types_is_reported() -> None:
    context = {"attributes": {"@id": "@nest", "@context": {"other_types": "https://ex.org/p"}}}
    nexus = kiprdf.Nexus.memory(genesis=False)
    text = "@prefix : <https://ex.org/> . :a a :T ; :p 'm' ; :q 'n' ."
    report = nexus.import_rdf(text, define=True, mapping={"@context": context})
    reason = "other_types holds classes; a mapping can give this property another name"
    assert [skipped["reason"] for skipped in report["skipped"]] == [reason]
    assert len(original(nexus)) == 2


def test_classes_that_were_changed_by_hand_are_written_where_they_are_iris() -> None:
    nexus = imported("@prefix : <https://ex.org/> . :a a :T .")
    nexus.execute(
        'UPDATE ?a SET ATTRIBUTES { other_types: ["m", 5, "https://ex.org/U"] }'
        ' WHERE { ?a {name: "a"} }'
    )
    classes = {*original(nexus).objects(None, rdflib.RDF.type)}
    assert classes == {rdflib.URIRef("https://ex.org/T"), rdflib.URIRef("https://ex.org/U")}


@pytest.mark.parametrize(
    "datatype",
    ["ex:code", "unknown:thing", "http://www.w3.org/2001/XMLSchema#nothing", "urn:x:code"],
)
def test_a_folder_is_published_with_any_datatype(datatype: str, tmp_path: Path) -> None:
    text = f"@prefix : <https://ex.org/> . :a a :T ; :p 'm'^^<{datatype}> ; :q 1.50 ."
    nexus = imported(text)
    nexus.publish(tmp_path / "site", mapping="original")
    assert isomorphic(original(nexus), rdflib.Graph().parse(data=text))
    with_context = rdflib.Graph().parse(data=nexus.snapshot(mapping=nexus.context()))
    values = with_context.objects(None, rdflib.URIRef("https://ex.org/p"))
    assert list(values) == [rdflib.Literal("m", datatype=rdflib.URIRef(datatype))]


@pytest.mark.parametrize("word", ["other_types", "attributes", "metadata"])
def test_a_folder_is_published_with_any_property(word: str, tmp_path: Path) -> None:
    nexus = imported(document(word))
    nexus.publish(tmp_path / "site", mapping="original")
    assert (tmp_path / "site" / "void.ttl").stat().st_size > 0
