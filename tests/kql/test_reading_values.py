"""Questions about imported linked data, whose literals have languages and several values."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

import kiprdf
from kiprdf.kql.plan import plan_find
from kiprdf.language import ast, parse
from tests.cases import each_case

VOCABULARY = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <https://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ex: <https://data.example.org/> .

ex:headache a skos:Concept ;
    skos:prefLabel "Headache"@en , "Kopfschmerz"@de , "頭痛"@ja ;
    skos:altLabel "Cephalalgia"@en , "Head pain"@en ;
    skos:definition "Pain in the head."@en ;
    skos:notation "R51" .
ex:nausea a skos:Concept ;
    skos:prefLabel "Nausea"@en , "Übelkeit"@de ;
    skos:altLabel "Feeling sick"@en ;
    skos:notation "R11.0" , "R11" .
ex:aspirin a schema:Drug ;
    schema:name "Aspirin" ;
    schema:alternateName "ASA" , "Acetylsalicylic acid"@en ;
    schema:description "A drug against pain."@en ;
    schema:datePublished "1899-03-06"^^xsd:date ;
    schema:identifier "B01AC06" , "N02BA01" .
"""


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    nexus.import_rdf(VOCABULARY, format="turtle", define=True)
    return nexus


def names(nexus: kiprdf.Nexus, type: str, condition: str, **parameters: Any) -> list[str]:
    """The local names of the imported elements for which a condition holds."""
    where = f'?x {{type: "{type}"}} FILTER({condition})'
    command = f"FIND(?x.attributes.same_as) WHERE {{ {where} }}"
    response = nexus.execute_kip({"command": command, "parameters": parameters})
    iris = [iri for row in nexus.find(command, **parameters) for iri in row.values()]
    assert response["result"] == iris
    # Beside a name, the nexus looks the pattern up instead of asking the engine.
    for id in nexus.execute(f"FIND(?x.id) WHERE {{ {where} }}", **parameters):
        looked_up = f"FIND(?x.id) WHERE {{ ?x {{id: {json.dumps(id)}}} FILTER({condition}) }}"
        assert nexus.execute(looked_up, **parameters) == [id]
    return sorted(iri.rsplit("/", 1)[1] for iri in iris)


QUESTIONS = {
    "a_label_in_one_of_its_languages": ('?x.attributes.prefLabel == "Kopfschmerz"', ["headache"]),
    "a_label_of_two_is_not_another": ('?x.attributes.prefLabel != "Kopfschmerz"', ["nausea"]),
    "a_label_in_any_script": ('?x.attributes.prefLabel == "頭痛"', ["headache"]),
    "one_of_two_alternative_labels": ('?x.attributes.altLabel == "Head pain"', ["headache"]),
    "a_single_alternative_label": ('?x.attributes.altLabel == "Feeling sick"', ["nausea"]),
    "a_label_in_a_list": ('IN(?x.attributes.prefLabel, ["Übelkeit", "Fieber"])', ["nausea"]),
    "a_label_in_a_list_at_a_path": ('IN("Übelkeit", ?x.attributes.prefLabel)', ["nausea"]),
    "a_code_among_codes": ('?x.attributes.notation == "R11"', ["nausea"]),
    "a_single_code": ('?x.attributes.notation == "R51"', ["headache"]),
    "a_beginning_of_codes": ('STARTS_WITH(?x.attributes.notation, "R")', ["headache", "nausea"]),
    "a_part_of_a_definition": ('CONTAINS(?x.attributes.definition, "the head")', ["headache"]),
    "an_end_of_a_label": ('ENDS_WITH(?x.attributes.prefLabel, "keit")', ["nausea"]),
    "a_pattern_of_labels": (r'REGEX(?x.attributes.prefLabel, "^[\\p{Lu}]\\p{L}+z$")', ["headache"]),
    "no_such_label": ('?x.attributes.prefLabel == "Fieber"', []),
    "a_label_by_parameter": ("?x.attributes.prefLabel == :label", ["nausea"]),
}


@each_case("condition, expected", QUESTIONS.values())
def test_a_vocabulary_answers(nexus: kiprdf.Nexus, condition: str, expected: list[str]) -> None:
    parameters = {"label": "Übelkeit"} if ":label" in condition else {}
    assert names(nexus, "Concept", condition, **parameters) == expected


def test_a_drug_is_found_by_its_values(nexus: kiprdf.Nexus) -> None:
    for condition in (
        '?x.attributes.alternateName == "ASA"',
        '?x.attributes.alternateName == "Acetylsalicylic acid"',
        '?x.attributes.identifier == "N02BA01" && ?x.attributes.description != "x"',
        '?x.attributes.datePublished < "1900"',
        'CONTAINS(?x.attributes.description, "pain")',
    ):
        assert names(nexus, "Drug", condition) == ["aspirin"], condition


def test_a_statement_writes_to_what_a_filter_finds(nexus: kiprdf.Nexus) -> None:
    where = '?x {type: "Concept"} FILTER(?x.attributes.prefLabel == "Nausea")'
    receipt = nexus.execute(f"UPDATE ?x SET ATTRIBUTES {{ seen: true }} WHERE {{ {where} }}")
    assert receipt == {"updated": 1, "matched": 1}
    assert names(nexus, "Concept", "?x.attributes.seen") == ["nausea"]
    receipt = nexus.execute(f'DELETE ATTRIBUTES {{"seen"}} FROM ?x WHERE {{ {where} }}')
    assert receipt == {"updated_concepts": 1, "updated_propositions": 0}
    assert names(nexus, "Concept", "?x.attributes.seen") == []


def test_an_item_is_found_without_reading_the_other_elements() -> None:
    """A lookup ends after a thousand reads: it would not have found one of three thousand."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } }')
    for start in range(0, 3_000, 500):
        concepts = " ".join(
            f'CONCEPT {{ {{type: "T", name: "n{n}"}} SET ATTRIBUTES {{ a: ["x{n}", "y"] }} }}'
            for n in range(start, start + 500)
        )
        nexus.execute(f"UPSERT {{ {concepts} }}")
    find = parse('FIND(?x.name) WHERE { ?x {type: "T"} FILTER(?x.attributes.a == "x2000") }')
    plan = plan_find(cast(ast.Find, find), nexus.store.iris)
    assert plan.lookup is not None
    (row,) = cast(Any, plan.lookup.rows(nexus.store, {}))
    assert row[0].value == "urn:kip:nexus/T/n2000"
