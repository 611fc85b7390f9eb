"""Lists of described resources are links that KQL follows, and lists again on the way home."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rdflib import Graph
from rdflib.compare import isomorphic

import kiprdf
from tests.nexus.support import empty

PREFIXES = """
@prefix : <https://example.org/> .
@prefix bibo: <http://purl.org/ontology/bibo/> .
@prefix fhir: <http://hl7.org/fhir/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
PAPER = json.dumps(
    {
        "@context": {
            "schema": "http://schema.org/",
            "author": {"@id": "schema:author", "@container": "@list"},
            "name": "schema:name",
        },
        "@id": "https://example.org/tool",
        "@type": "schema:SoftwareSourceCode",
        "name": "tool",
        "author": [
            {"@id": "https://example.org/zoe", "@type": "schema:Person", "name": "Zoe"},
            {"@type": "schema:Person", "name": "Ann"},
        ],
    }
)
PATIENT = PREFIXES + (
    ':tool a fhir:Patient ; fhir:name ( [ a fhir:HumanName ; foaf:name "Zoe" ]'
    ' [ a fhir:HumanName ; foaf:name "Ann" ] ) .'
)
COLLECTION = PREFIXES + (
    ":tool a skos:OrderedCollection ; skos:memberList ( :z :a ) ."
    ' :z a skos:Concept ; skos:prefLabel "Zoe" . :a a skos:Concept ; skos:prefLabel "Ann" .'
)
AUTHORS = PREFIXES + (
    ":tool a bibo:Article ; bibo:authorList ( :z :a ) ."
    ' :z a foaf:Person ; foaf:name "Zoe" . :a a foaf:Person ; foaf:name "Ann" .'
)
LISTS = {
    "schema.org": (PAPER, "jsonld", "author", "schema-org"),
    "schema.org without mapping": (PAPER, "jsonld", "author", None),
    "FHIR": (PATIENT, "turtle", "name", None),
    "SKOS": (COLLECTION, "turtle", "memberList", "skos"),
    "SKOS without mapping": (COLLECTION, "turtle", "memberList", None),
    "BIBO": (AUTHORS, "turtle", "authorList", "foaf"),
}
ODD = """
:s a :T ; :l ( :a :b :a ) , ( :b :a ) , ( ( :a ) ( :b :a ) ) , :a , ( :b "x" ( :a ) 5 ) ,
    ( :undescribed :a ) , ( :s :a ) , ( ) , ( ( ) ) , ( 1 2 ) ; :m ( :a :b ) .
:a a :T . :b a :T ; :l ( :s ) .
"""


def imported(text: str, form: Any = "turtle", **options: Any) -> kiprdf.Nexus:
    nexus = empty()
    report = nexus.import_rdf(text, format=form, define=True, **options)
    assert report["skipped"] == []
    return nexus


def home(nexus: kiprdf.Nexus) -> Graph:
    text = nexus.snapshot(mapping="original", only="imported")
    return Graph().parse(data=text, format="turtle")


@pytest.mark.parametrize("case", LISTS)
def test_a_list_of_resources_is_links_in_its_order(case: str) -> None:
    text, form, predicate, pack = LISTS[case]
    nexus = imported(text, form, mapping=pack)
    rows = nexus.find(
        "FIND(?o.name, ?l.attributes.position) WHERE { ?l (?s, :predicate, ?o) "
        'FILTER(?s.attributes.same_as == "https://example.org/tool") } '
        "ORDER BY ?l.attributes.position ASC",
        predicate=predicate,
    )
    assert [tuple(row.values()) for row in rows] == [("Zoe", 1), ("Ann", 2)]
    (attributes,) = nexus.execute(
        "FIND(?s.attributes) WHERE { ?s {} FILTER(?s.attributes.same_as == "
        '"https://example.org/tool") }'
    )
    assert not {predicate, "source"} & attributes.keys() - {"name"}


@pytest.mark.parametrize("case", LISTS)
def test_a_list_of_resources_comes_home(case: str) -> None:
    text, form, _, pack = LISTS[case]
    nexus = imported(text, form, mapping=pack)
    expected = Graph().parse(data=text, format="json-ld" if form == "jsonld" else form)
    assert isomorphic(home(nexus), expected)
    again = nexus.import_rdf(text, format=form, mapping=pack)  # type: ignore[arg-type]
    for kind in ("concepts", "propositions"):
        assert again[kind]["created"] == again[kind]["updated"] == 0


def test_odd_lists_are_followed_where_they_can_be_and_come_home() -> None:
    nexus = imported(PREFIXES + ODD)
    assert isomorphic(home(nexus), Graph().parse(data=PREFIXES + ODD, format="turtle"))
    rows = nexus.find('FIND(?o.name, ?l.attributes.position) WHERE { ?l ({name: "s"}, "l", ?o) }')
    assert {row["?o.name"]: row["?l.attributes.position"] for row in rows} == {
        "a": [1, 2, 3, [1, 1], [2, 2], [3, 1]],
        "b": [1, 2, [2, 1]],
    }


def test_a_list_of_literals_is_an_array() -> None:
    nexus = imported(PREFIXES + ":s a :T ; :steps ( 3 1 2 ) . :a a :T .")
    assert nexus.execute('FIND(?s.attributes.steps) WHERE { ?s {name: "s"} }') == [[3, 1, 2]]


def test_a_list_follows_what_becomes_of_its_links() -> None:
    nexus = imported(PREFIXES + ":s a :T ; :l ( :a :b :c ) . :a a :T . :b a :T . :c a :T .")
    nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l ({name: "s"}, "l", {name: "b"}) }')
    expected = PREFIXES + ":s a :T ; :l ( :a :c ) . :a a :T . :b a :T . :c a :T ."
    assert isomorphic(home(nexus), Graph().parse(data=expected, format="turtle"))


def test_an_array_of_an_earlier_import_becomes_links_when_its_items_are_described() -> None:
    nexus, text = empty(), ":s a :T ; :l ( :a :b ) ."
    nexus.import_rdf(PREFIXES + text, define=True)
    assert nexus.execute('FIND(?s.attributes.l) WHERE { ?s {name: "s"} }') == [
        ["https://example.org/a", "https://example.org/b"]
    ]
    nexus.import_rdf(PREFIXES + text + " :a a :T . :b a :T .", define=True)
    assert nexus.execute('FIND(?s.attributes.l) WHERE { ?s {name: "s"} }') == [None]
    assert nexus.execute('FIND(?o.name) WHERE { ({name: "s"}, "l", ?o) } ORDER BY ?o.name ASC') == [
        "a",
        "b",
    ]


def test_the_predicate_of_a_list_must_be_defined() -> None:
    nexus = imported(PREFIXES + ":a a :T .")
    with pytest.raises(kiprdf.KipError, match=r"KIP_2001 .*predicates 'l'"):
        nexus.import_rdf(PREFIXES + ":s a :T ; :l ( :a ) .")
