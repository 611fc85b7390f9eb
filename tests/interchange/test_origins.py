"""What an import records of the IRIs, datatypes and languages of the data (decisions/079)."""

from __future__ import annotations

from typing import Any

from kiprdf import Nexus

EX = "https://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"""
@prefix : <{EX}> .
@prefix xsd: <{XSD}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def imported(text: str, **options: Any) -> Nexus:
    nexus = Nexus.memory(genesis=False)
    nexus.import_rdf(PREFIXES + text, define=True, **options)
    return nexus


def definition(nexus: Nexus, name: str, meta_type: str = "$ConceptType") -> dict[str, Any]:
    return _one(
        nexus, f'FIND(?d.attributes) WHERE {{ ?d {{type: "{meta_type}", name: "{name}"}} }}'
    )


def original(nexus: Nexus, name: str) -> Any:
    return _one(nexus, f'FIND(?d.metadata.original) WHERE {{ ?d {{name: "{name}"}} }}')


def _one(nexus: Nexus, command: str) -> Any:
    (value,) = nexus.execute(command)
    return value


def test_a_type_has_the_iris_of_its_class_its_names_and_its_keys() -> None:
    nexus = imported(
        ':a a :Person ; rdfs:label "Ada" ; :born "1815-12-10"^^xsd:date ; :page <urn:x:p> ;'
        ' :motto "Ja"@de ; :age 36 ; :steps ( 1 2 ) .'
    )
    person = definition(nexus, "Person")
    assert person["iri"] == EX + "Person"
    assert person["name_iri"] == "http://www.w3.org/2000/01/rdf-schema#label"
    assert person["instance_schema"] == {
        "age": {"iri": EX + "age"},
        "born": {"iri": EX + "born", "datatype": XSD + "date"},
        "motto": {"iri": EX + "motto", "language": "de"},
        "page": {"iri": EX + "page", "datatype": "@id"},
        "steps": {"iri": EX + "steps", "container": "@list"},
    }
    assert original(nexus, "Ada") is None


def test_a_predicate_has_its_iri_and_those_of_the_keys_of_propositions() -> None:
    nexus = imported(":a a :T ; :knows :b {| :since 1833 |} . :b a :T .")
    knows = definition(nexus, "knows", "$PropositionType")
    assert knows["iri"] == EX + "knows"
    assert knows["instance_schema"] == {"since": {"iri": EX + "since"}}


def test_a_value_keeps_digits_and_a_datatype_that_are_not_usual() -> None:
    nexus = imported(
        ':a a :T ; :price "1.10"^^xsd:decimal . :b a :T ; :price "2.5"^^xsd:decimal .'
        ' :c a :T ; :price "2.5"^^xsd:decimal, "cheap" .'
    )
    assert definition(nexus, "T")["instance_schema"]["price"]["datatype"] == XSD + "decimal"
    assert original(nexus, "a") == {
        "attributes": {"price": [{"@value": "1.10", "@type": XSD + "decimal"}]}
    }
    assert original(nexus, "b") is None
    # A text that is no decimal has no datatype by itself.
    assert original(nexus, "c") is None


def test_two_properties_of_one_key_are_both_recorded() -> None:
    nexus = imported(':a a :T ; :title "X" ; <urn:x:title> "X" . :b a :T ; :title "Y" .')
    assert original(nexus, "a") == {
        "attributes": {"title": [{"@value": "X", "property": "urn:x:title"}, {"@value": "X"}]}
    }


def test_a_definition_written_by_hand_keeps_its_iri() -> None:
    nexus = Nexus.memory(genesis=False)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} SET ATTRIBUTES {iri: "urn:x:T"} } }'
    )
    nexus.import_rdf(f"{PREFIXES} :a a :T .")
    assert definition(nexus, "T")["iri"] == "urn:x:T"
    assert original(nexus, "a") == {"@type": [EX + "T"]}


def test_a_second_import_records_nothing_new() -> None:
    text = PREFIXES + ':a a :T ; :price "1.10"^^xsd:decimal ; :knows :b . :b a :T .'
    nexus = Nexus.memory(genesis=False)
    nexus.import_rdf(text, define=True)
    before = nexus.snapshot()
    nexus.import_rdf(text, define=True)
    assert nexus.snapshot() == before


def test_another_file_about_a_concept_keeps_what_the_first_one_recorded() -> None:
    nexus = imported(':a a :T ; :price "1.10"^^xsd:decimal . :b a :T ; :price 2.5, 2.6 .')
    nexus.import_rdf(PREFIXES + ':a a :T ; :size "7.00"^^xsd:decimal . :b a :T ; :size 1.5, 1.6 .')
    assert set(original(nexus, "a")["attributes"]) == {"price", "size"}


def test_what_kiprdf_wrote_with_a_mapping_records_nothing() -> None:
    source = imported(":a a :T ; :knows :b ; :age 3 . :b a :T .")
    mapping = {"@context": {"T": EX + "U", "age": EX + "years", "knows": EX + "likes"}}
    copy = Nexus.memory(genesis=False)
    copy.import_rdf(source.snapshot(mapping=mapping), mapping=mapping, define=True)
    assert definition(copy, "T")["iri"] == EX + "T"
    assert original(copy, "a") is None
