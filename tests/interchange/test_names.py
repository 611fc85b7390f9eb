"""What resources, types and predicates of imported data are called."""

from __future__ import annotations

import re
from typing import Any

import pytest

import kiprdf

PREFIXES = """
@prefix : <https://example.org/> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <https://schema.org/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix vcard: <http://www.w3.org/2006/vcard/ns#> .
@prefix as: <https://www.w3.org/ns/activitystreams#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix gndo: <https://d-nb.info/standards/elementset/gnd#> .
"""
BY_RANK = [
    "rdfs:label",
    "skos:prefLabel",
    "schema:name",
    "foaf:name",
    "vcard:fn",
    "as:name",
    "dcterms:title",
    "gndo:preferredNameForThePerson",
]
GND = ["Work", "CorporateBody", "PlaceOrGeographicName", "SubjectHeading", "ConferenceOrEvent"]


def nexus() -> kiprdf.Nexus:
    return kiprdf.Nexus.memory("https://data.example.org/kb/", genesis=False)


def imported(text: str, **options: Any) -> kiprdf.Nexus:
    one = nexus()
    one.import_rdf(PREFIXES + text, define=True, **options)
    return one


def names(one: kiprdf.Nexus, type: str) -> Any:
    return one.execute("FIND(?x.name) WHERE { ?x {type: :type} }", type=type)


@pytest.mark.parametrize("place", range(len(BY_RANK)))
def test_the_best_label_is_the_name(place: int) -> None:
    labels = " ; ".join(f'{one} "by {one}"' for one in reversed(BY_RANK[place:]))
    assert names(imported(f":q1 a :Thing ; {labels} ."), "Thing") == [f"by {BY_RANK[place]}"]


@pytest.mark.parametrize("of", [*(f"ForThe{one}" for one in (*GND, "Family")), ""])
def test_the_preferred_names_of_the_gnd_are_names(of: str) -> None:
    text = f'<https://d-nb.info/gnd/118540238> a :Thing ; gndo:preferredName{of} "Goethe" .'
    assert names(imported(text), "Thing") == ["Goethe"]


OPAQUE = [
    "GO_0008150",
    "NCIT_C12434",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "RCFZ8QnBUBLYf8UE6tIzHcB",
    "EMMO_52fa9c76_fc42_4eca_a5c1_6095a1c9caab",
]


@pytest.mark.parametrize("choice", [None, "local", "label"])
@pytest.mark.parametrize("local", OPAQUE)
def test_opaque_ids_are_no_names_where_a_label_is(local: str, choice: Any) -> None:
    term, data = f"<https://example.org/{local}>", f"<https://example.org/data/{local}>"
    label = 'rdfs:label "Geist"'
    both = imported(f"{data} a {term} ; {label} . {term} {label} .", names=choice)
    assert names(both, "Geist") == ["Geist"]
    for property in ("skos:prefLabel", "schema:name", "dcterms:title"):
        ontology = nexus()
        text = f'{PREFIXES} {term} a owl:Class ; {property} "Geist"@en .'
        ontology.import_ontology(text, names=choice)
        assert names(ontology, "$ConceptType") == ["Geist"]


TERMS = """
:gpt a :GeoPoint ; rdfs:label "Ölberg" ; :elev 3 ; :nearTo :Other . :Other a :GeoPoint .
:GeoPoint a owl:Class ; rdfs:label "place on the map" .
:elev a owl:DatatypeProperty ; rdfs:domain :GeoPoint ; rdfs:label "Höhe"@de, "elevation"@en .
:nearTo a owl:ObjectProperty ; skos:prefLabel "is near" .
"""
CHOICES: list[tuple[Any, list[str], list[str], list[str]]] = [
    (None, ["GeoPoint"], ["nearTo"], ["Other", "Ölberg"]),
    ("local", ["GeoPoint"], ["nearTo"], ["Other", "gpt"]),
    ("label", ["place_on_the_map"], ["is_near"], ["Other", "Ölberg"]),
]


@pytest.mark.parametrize(("choice", "types", "predicates", "things"), CHOICES)
def test_names_are_local_names_or_labels(
    choice: Any, types: list[str], predicates: list[str], things: list[str]
) -> None:
    one, data = nexus(), PREFIXES + TERMS
    one.import_ontology(data, names=choice)
    assert names(one, "$ConceptType") == types
    one.import_rdf(data, define=True, names=choice)
    assert sorted(names(one, types[0])) == things
    assert names(one, "$PropositionType") == predicates
    key = "elevation" if choice == "label" else "elev"
    assert one.execute("FIND(?x.attributes) WHERE { ?x {type: :t} }", t=types[0])[0][key] == 3
    before = one.snapshot(mapping="original")
    for other in (None, "local", "label"):
        for again in (one.import_ontology(data, names=other), one.import_rdf(data, names=other)):
            assert again["definitions"]["concept_types"] == []
            assert again["definitions"]["predicates"] == []
            for kind in ("concepts", "propositions"):
                assert again.get(kind, {}).get("created", 0) == 0
    assert one.snapshot(mapping="original") == before


@pytest.mark.parametrize(("choice", "other"), [("local", "label"), ("label", "local")])
def test_data_with_labels_of_its_terms_name_them_and_a_later_import_finds_them(
    choice: Any, other: Any
) -> None:
    data = re.sub("a owl:[A-Za-z]* ;", "a :Term ;", TERMS)
    one = imported(data, names=choice)
    types = {"local": ["GeoPoint", "Term"], "label": ["Term", "place_on_the_map"]}
    assert sorted(names(one, "$ConceptType")) == types[choice]
    again = one.import_rdf(PREFIXES + data, define=True, names=other)
    assert again["concepts"]["created"] == again["propositions"]["created"] == 0
    assert again["definitions"] == {"concept_types": [], "predicates": []}


def test_names_are_refused_that_are_no_choice() -> None:
    with pytest.raises(kiprdf.KipError, match='names is "local" or "label", not '):
        nexus().import_rdf(PREFIXES, names="both")  # type: ignore[arg-type]
