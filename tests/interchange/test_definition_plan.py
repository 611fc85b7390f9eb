"""Ontologies meet the definitions that a nexus has already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.interchange.vocabularies.definitions import read_definitions
from kiprdf.rdf.iris import ConceptName

FOLDER = Path(__file__).parent / "vocabularies"
FOAF = "http://xmlns.com/foaf/0.1/"
NS = "https://example.org/o#"
PREFIXES = f"""
@prefix : <{NS}> .
@prefix foaf: <{FOAF}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def empty() -> kiprdf.Nexus:
    return kiprdf.Nexus.memory(genesis=False)


def import_text(nexus: kiprdf.Nexus, turtle: str, source: str = "o.ttl", **options: Any) -> Any:
    """Import an ontology; the report."""
    return nexus.import_ontology(PREFIXES + turtle, metadata={"source": source}, **options)


def attributes(nexus: kiprdf.Nexus, name: str, meta_type: str = "$ConceptType") -> dict[str, Any]:
    return read_definitions(nexus.store)[ConceptName(meta_type, name)].attributes


def source(nexus: kiprdf.Nexus, name: str) -> Any:
    (value,) = nexus.execute(
        f'FIND(?t.metadata.source) WHERE {{ ?t {{type: "$ConceptType", name: "{name}"}} }}'
    )
    return value


def reasons(report: Any, iri: str) -> list[str]:
    return [one["reason"] for one in report["skipped"] if one["triple"] == f"<{iri}>"]


# What another file says ---------------------------------------------------------------------

PATIENT = ':Patient a owl:Class ; rdfs:comment "Somebody ill." .'


@pytest.mark.parametrize(
    "second",
    [
        ":shares a owl:ObjectProperty ; rdfs:domain :Patient .",
        ":Patient a owl:Class .",
        ":Child a owl:Class ; rdfs:subClassOf :Patient .",
        ':Patient a owl:Class ; rdfs:label "Patient" .',
    ],
)
def test_a_file_that_only_mentions_a_term_leaves_its_words_and_source(second: str) -> None:
    nexus = empty()
    import_text(nexus, PATIENT, "first.ttl")
    report = import_text(nexus, second, "second.ttl")
    assert attributes(nexus, "Patient") == {
        "description": "Somebody ill.",
        "iri": NS + "Patient",
        "same_as": NS + "Patient",
    }
    assert source(nexus, "Patient") == "first.ttl"
    assert "Patient" not in report["definitions"]["concept_types"]


def test_what_a_second_file_says_of_a_term_is_added() -> None:
    nexus = empty()
    import_text(nexus, PATIENT + ":Patient rdfs:subClassOf :Person ."
            ":age a owl:DatatypeProperty ; rdfs:domain :Patient ; rdfs:range xsd:integer ;"
            ' rdfs:comment "In years." .', "first.ttl")  # fmt: skip
    import_text(nexus, ":Patient rdfs:subClassOf :Client . "
            ":S sh:targetClass :Patient ; sh:property "
            '[ sh:path :age ; sh:name "the age" ; sh:minCount 1 ], [ sh:path :bed ; '
            "sh:nodeKind sh:Literal ] .", "second.ttl")  # fmt: skip
    assert attributes(nexus, "Patient") == {
        "description": "Somebody ill.",
        "iri": NS + "Patient",
        "same_as": NS + "Patient",
        "instance_schema": {
            "age": {
                "is_required": True,
                "item_type": "integer",
                "description": "In years.",
                "iri": NS + "age",
            },
            "bed": {"is_required": False, "iri": NS + "bed"},
        },
    }
    assert source(nexus, "Patient") == "first.ttl"
    above = 'FIND(?t.name) WHERE { ({type: "$ConceptType", name: "Patient"}, "subclass_of", ?t) }'
    assert sorted(nexus.execute(above)) == ["Client", "Person"]


def test_what_a_second_file_does_not_say_of_a_predicate_stays() -> None:
    nexus = empty()
    import_text(nexus, ":treats a owl:ObjectProperty, owl:TransitiveProperty ;"
            ' rdfs:comment "Helps." ; rdfs:domain :Drug ; rdfs:range :Ill .')  # fmt: skip
    before = attributes(nexus, "treats", "$PropositionType")
    import_text(nexus, ":heals a owl:ObjectProperty ; rdfs:subPropertyOf :treats . "
            ":treats a owl:ObjectProperty .")  # fmt: skip
    assert attributes(nexus, "treats", "$PropositionType") == before
    assert before["subject_types"] == ["Drug"]


def test_of_two_files_that_describe_a_term_the_last_one_does_and_says_so() -> None:
    nexus = empty()
    import_text(nexus, PATIENT, "first.ttl")
    report = import_text(
        nexus, ':Patient a owl:Class ; rdfs:comment "One in a ward." .', "second.ttl"
    )
    assert attributes(nexus, "Patient")["description"] == "One in a ward."
    assert source(nexus, "Patient") == "second.ttl"
    assert report["definitions"]["concept_types"] == ["Patient"]
    assert report["warnings"] == [
        "'Patient' had another description; that of this ontology replaces it."
    ]


def test_a_file_that_describes_what_was_mentioned_brings_the_words() -> None:
    nexus = empty()
    import_text(nexus, ":shares a owl:ObjectProperty ; rdfs:domain :Patient .", "first.ttl")
    report = import_text(nexus, PATIENT, "second.ttl")
    assert report["warnings"] == []
    assert attributes(nexus, "Patient")["description"] == "Somebody ill."
    assert source(nexus, "Patient") == "second.ttl"


def test_the_bundled_words_outlive_every_ontology() -> None:
    nexus = kiprdf.Nexus.memory()
    before = attributes(nexus, "Person")["description"], source(nexus, "Person")
    for _ in range(2):
        nexus.import_ontology(FOLDER / "foaf.nq", mapping="foaf")
        import_text(nexus, "foaf:Person a owl:Class ; rdfs:comment 'Mine.' .", "doap.ttl")
    assert (attributes(nexus, "Person")["description"], source(nexus, "Person")) == before


def test_an_ontology_that_comes_again_defines_nothing() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.import_ontology(FOLDER / "foaf.nq")
    report = nexus.import_ontology(FOLDER / "foaf.nq")
    assert report["definitions"] == {"concept_types": [], "predicates": []}


# Homonyms -----------------------------------------------------------------------------------

KNOWS = ":Egg a owl:Class . :knows a owl:ObjectProperty ; rdfs:domain :Hen ; rdfs:range :Egg ."


def test_a_predicate_between_other_types_is_not_the_bundled_one() -> None:
    nexus = kiprdf.Nexus.memory()
    before = attributes(nexus, "knows", "$PropositionType")
    report = import_text(nexus, KNOWS)
    assert attributes(nexus, "knows", "$PropositionType") == before
    other = attributes(nexus, "knows_2", "$PropositionType")
    assert (other["subject_types"], other["object_types"]) == (["Hen"], ["Egg"])
    assert other["same_as"] == NS + "knows"
    assert report["warnings"] == [
        f"<{NS}knows> is called 'knows_2' because 'knows' of the nexus is something else; "
        "a mapping can say that they are the same."
    ]
    assert import_text(nexus, KNOWS)["definitions"]["predicates"] == []


def test_data_find_the_predicate_that_got_another_name() -> None:
    nexus = kiprdf.Nexus.memory()
    import_text(nexus, KNOWS)
    nexus.import_rdf(PREFIXES + ":a a :Hen ; :knows :b . :b a :Egg .")
    assert nexus.execute('FIND(?a.name) WHERE { (?a, "knows_2", ?b) }') == ["a"]


def test_an_equal_name_that_nothing_contradicts_is_taken_for_the_same_and_not_said_to_be() -> None:
    nexus = kiprdf.Nexus.memory()
    report = import_text(
        nexus,
        ":Person a owl:Class . :knows a owl:ObjectProperty ;"
        " rdfs:domain :Person ; rdfs:range :Person .",
    )
    assert report["definitions"] == {"concept_types": [], "predicates": []}
    assert report["warnings"] == [
        f"<{NS}Person> is considered the same as 'Person' of the nexus because of its name; "
        "a mapping can distinguish them.",
        f"<{NS}knows> is considered the same as 'knows' of the nexus because of its name; "
        "a mapping can distinguish them.",
    ]
    assert "same_as" not in attributes(nexus, "Person")
    assert f"{NS}knows" not in nexus.schema()


def test_a_homonym_gains_attributes_and_no_original() -> None:
    nexus = kiprdf.Nexus.memory()
    import_text(nexus, ":height a owl:DatatypeProperty ; rdfs:domain :Person .")
    person = attributes(nexus, "Person")
    assert person["instance_schema"]["height"] == {"is_required": False, "iri": NS + "height"}
    assert not {"iri", "same_as"} & set(person)


def test_a_term_of_one_vocabulary_is_not_that_of_another() -> None:
    nexus = empty()
    import_text(nexus, "foaf:Person a owl:Class ; rdfs:comment 'A person.' .")
    report = import_text(nexus, ":Person a owl:Class ; rdfs:comment 'A role.' .")
    assert report["definitions"]["concept_types"] == ["Person_2"]
    assert attributes(nexus, "Person")["description"] == "A person."
    assert attributes(nexus, "Person_2")["same_as"] == NS + "Person"


def test_a_mapping_says_that_a_term_is_that_of_the_nexus() -> None:
    nexus = kiprdf.Nexus.memory()
    words = {"@context": {"knows": {"@id": NS + "knows", "@type": "@id"}}}
    report = import_text(nexus, KNOWS, mapping=words)
    assert report["definitions"]["predicates"] == ["knows"]
    assert report["warnings"] == []
    before = attributes(nexus, "knows", "$PropositionType")
    assert (before["same_as"], before["subject_types"]) == (NS + "knows", ["Person"])
    assert reasons(report, NS + "knows") == [
        "'knows' is defined already and keeps its own subject_types, object_types"
    ]


def test_words_that_a_user_wrote_stay_though_the_iri_is_that_of_the_mapping() -> None:
    nexus = empty()
    nexus.execute(f"""UPSERT {{ CONCEPT {{ {{type: "$ConceptType", name: "Human"}}
        SET ATTRIBUTES {{ description: "One of us.", same_as: "{FOAF}Person" }} }} }}""")
    import_text(nexus, "foaf:Person a owl:Class ; rdfs:comment 'A person.' .")
    assert attributes(nexus, "Human") == {
        "description": "One of us.",
        "iri": FOAF + "Person",
        "same_as": FOAF + "Person",
    }


def test_the_schema_of_a_nexus_is_read_back_without_a_change() -> None:
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_ontology(nexus.schema())
    assert report["definitions"] == {"concept_types": [], "predicates": []}
    assert report["warnings"] == []


def test_the_shapes_of_a_nexus_make_no_predicates_of_its_attributes() -> None:
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_ontology(nexus.shapes())
    assert report["definitions"] == {"concept_types": [], "predicates": []}
