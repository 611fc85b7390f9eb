"""Classes above classes, and classes that are equivalent, become knowledge of a nexus."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

import kiprdf

NS, OTHER = "https://example.org/o#", "https://example.org/b#"
PREFIXES = f"""
@prefix : <{NS}> .
@prefix b: <{OTHER}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
PLACES = """
:Place a owl:Class . :Settlement a owl:Class ; rdfs:subClassOf :Place .
:City a owl:Class ; rdfs:subClassOf :Settlement . :River a owl:Class .
"""


def empty() -> kiprdf.Nexus:
    return kiprdf.Nexus.memory(genesis=False)


def import_text(nexus: kiprdf.Nexus, turtle: str, **options: Any) -> Any:
    return nexus.import_ontology(PREFIXES + turtle, **options)


def below(nexus: kiprdf.Nexus, name: str, predicate: str = "subclass_of") -> set[str]:
    """The names of the definitions below one, in any number of steps."""
    meta_type = "$ConceptType" if predicate == "subclass_of" else "$PropositionType"
    return set(
        nexus.execute(
            f'FIND(?t.name) WHERE {{ (?t, "{predicate}"{{1,}}, '
            f'{{type: "{meta_type}", name: "{name}"}}) }}'
        )
    )


def attributes(nexus: kiprdf.Nexus, name: str, meta_type: str = "$ConceptType") -> dict[str, Any]:
    (row,) = nexus.execute(
        f'FIND(?t.attributes) WHERE {{ ?t {{type: "{meta_type}", name: "{name}"}} }}'
    )
    return dict(row)


# Hierarchy ----------------------------------------------------------------------------------


def test_the_classes_below_one_are_found_in_one_line() -> None:
    nexus = empty()
    import_text(nexus, PLACES)
    query = 'FIND(?t.name) WHERE { (?t, "subclass_of"{0,}, {type: "$ConceptType", name: "Place"}) }'
    assert set(nexus.execute(query)) == {"Place", "Settlement", "City"}


@pytest.mark.parametrize(
    "turtle",
    [
        ":City owl:equivalentClass [ owl:intersectionOf ( :Place [ owl:onProperty :p ] ) ] .",
        ":Place owl:unionOf ( :City :River ) .",
        ":Place owl:equivalentClass [ a owl:Class ; owl:unionOf ( :City :River ) ] .",
        ":Place owl:disjointUnionOf ( :City :River ) .",
        ":City skos:broader :Place .",
        ":City skos:broadMatch :Place .",
        ":Place skos:narrower :City .",
    ],
)
def test_owl_and_skos_say_in_several_ways_that_a_class_is_below_another(turtle: str) -> None:
    nexus = empty()
    import_text(nexus, f":Place a owl:Class . :City a owl:Class . :River a owl:Class . {turtle}")
    assert "City" in below(nexus, "Place")


def test_predicates_are_below_predicates_of_the_file_and_of_earlier_files() -> None:
    nexus = empty()
    import_text(nexus, "b:knows a owl:ObjectProperty .")
    import_text(
        nexus,
        ":meets a owl:ObjectProperty ; rdfs:subPropertyOf b:knows ."
        ":marries a owl:ObjectProperty ; rdfs:subPropertyOf :meets .",
    )
    assert below(nexus, "knows", "subproperty_of") == {"meets", "marries"}


def test_skos_concepts_that_are_no_classes_are_data() -> None:
    nexus = empty()
    report = import_text(nexus, ":a a skos:Concept ; skos:broader :b . :b a skos:Concept .")
    assert report["definitions"] == {"concept_types": [], "predicates": []}


def test_an_ontology_without_a_hierarchy_defines_no_predicate_for_it() -> None:
    report = import_text(empty(), ":A a owl:Class .")
    assert report["definitions"] == {"concept_types": ["A"], "predicates": []}


def test_the_same_ontology_again_links_nothing() -> None:
    nexus = empty()
    import_text(nexus, PLACES)
    report = import_text(nexus, PLACES)
    assert report["propositions"] == {"created": 0, "updated": 0, "unchanged": 0}
    assert report["definitions"] == {"concept_types": [], "predicates": []}


def test_the_hierarchy_has_the_source_of_the_ontology_that_states_it_first() -> None:
    nexus = empty()
    import_text(nexus, PLACES, metadata={"source": "first"})
    import_text(nexus, PLACES + ":Lake a owl:Class ; rdfs:subClassOf :Place .",
                metadata={"source": "second"})  # fmt: skip
    rows = nexus.execute(
        'FIND(?t.name, ?l.metadata.source) WHERE { ?l (?t, "subclass_of", ?above) }'
    )
    assert dict(zip(*rows, strict=True)) == {
        "Settlement": "first", "City": "first", "Lake": "second"
    }  # fmt: skip


def test_a_strict_nexus_accepts_the_hierarchy() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False, strict_schema=True)
    import_text(nexus, PLACES)
    assert below(nexus, "Place") == {"Settlement", "City"}


def test_a_hierarchy_made_by_hand_is_in_the_schema() -> None:
    nexus = empty()
    import_text(nexus, PLACES)
    nexus.execute("""
    UPSERT { PROPOSITION {
      ({type: "$ConceptType", name: "River"}, "subclass_of", {type: "$ConceptType", name: "Place"})
    } }""")
    other = empty()
    other.import_ontology(nexus.schema())
    assert below(other, "Place") == {"Settlement", "City", "River"}


def test_a_predicate_of_that_name_gets_another_one() -> None:
    nexus = empty()
    report = import_text(nexus, PLACES + ":subclass_of a owl:ObjectProperty .")
    assert report["warnings"] == [
        f"<{NS}subclass_of> is called 'subclass_of_2' because 'subclass_of' links definitions."
    ]
    assert attributes(nexus, "subclass_of_2", "$PropositionType")["same_as"] == NS + "subclass_of"
    assert below(nexus, "Place") == {"Settlement", "City"}


# Equivalent terms ---------------------------------------------------------------------------

CORPORATIONS = [
    ':Corporation a owl:Class ; rdfs:comment "A company." ; rdfs:subClassOf :Agent .',
    'b:Corporation a owl:Class ; rdfs:label "corporation"@en ; rdfs:subClassOf b:Owner .',
    ":Corporation owl:equivalentClass b:Corporation .",
    ":name a owl:DatatypeProperty ; rdfs:domain :Corporation ; rdfs:range xsd:string ."
    "b:seat a owl:DatatypeProperty ; rdfs:domain b:Corporation ; rdfs:range xsd:string .",
    ":owns a owl:ObjectProperty ; rdfs:domain b:Corporation ; rdfs:range :Corporation .",
]


@pytest.mark.parametrize("order", list(permutations(range(5)))[::17])
def test_equivalent_classes_are_one_type_with_two_iris(order: tuple[int, ...]) -> None:
    nexus = empty()
    report = import_text(nexus, "\n".join(CORPORATIONS[place] for place in order))
    assert report["definitions"]["concept_types"] == ["Agent", "Corporation", "Owner"]
    assert attributes(nexus, "Corporation") == {
        "description": "A company.",
        "labels": {"en": "corporation"},
        "iri": OTHER + "Corporation",
        "same_as": [OTHER + "Corporation", NS + "Corporation"],
        "instance_schema": {
            "name": {"is_required": False, "item_type": "string", "iri": NS + "name"},
            "seat": {"is_required": False, "item_type": "string", "iri": OTHER + "seat"},
        },
    }
    assert "Corporation" in below(nexus, "Agent")
    assert "Corporation" in below(nexus, "Owner")
    owns = attributes(nexus, "owns", "$PropositionType")
    assert (owns["subject_types"], owns["object_types"]) == (["Corporation"], ["Corporation"])


def test_data_of_both_iris_have_the_one_type() -> None:
    nexus = empty()
    import_text(nexus, "\n".join(CORPORATIONS))
    nexus.import_rdf(PREFIXES + ":acme a :Corporation . b:bolt a b:Corporation .")
    assert set(nexus.execute('FIND(?c.name) WHERE { ?c {type: "Corporation"} }')) == {
        "acme", "bolt"
    }  # fmt: skip


def test_a_chain_of_equivalent_classes_with_different_names_is_one_type() -> None:
    report = import_text(
        empty(),
        ":C a owl:Class ; owl:equivalentClass :B . :B a owl:Class ."
        ":A a owl:Class ; owl:equivalentClass :B .",
    )
    assert report["definitions"]["concept_types"] == ["A"]


def test_both_descriptions_of_equivalent_classes_stay() -> None:
    nexus = empty()
    import_text(nexus, ':A a owl:Class ; rdfs:comment "One." ; owl:equivalentClass :B .'
                ':B a owl:Class ; rdfs:comment "Two." .')  # fmt: skip
    assert attributes(nexus, "A")["description"] == "One.\n\nTwo."


def test_a_later_equivalent_class_is_the_type_that_the_nexus_has() -> None:
    nexus = empty()
    import_text(nexus, "b:Firm a owl:Class .")
    import_text(nexus, ":Company a owl:Class ; owl:equivalentClass b:Firm . b:Firm a owl:Class .")
    assert attributes(nexus, "Firm")["same_as"] == [OTHER + "Firm", NS + "Company"]
    assert nexus.execute('FIND(?t.name) WHERE { ?t {type: "$ConceptType"} }') == ["Firm"]


def test_two_types_of_the_nexus_that_turn_out_to_be_equivalent_stay_two() -> None:
    nexus = empty()
    import_text(nexus, ":Firm a owl:Class . b:Firm a owl:Class .")
    report = import_text(nexus, ":Firm a owl:Class ; owl:equivalentClass b:Firm ."
                         "b:Firm a owl:Class .")  # fmt: skip
    assert report["warnings"] == [
        "'Firm' and 'Firm_2' are equivalent in the ontology; they stay two definitions."
    ]


def test_equivalent_properties_are_one_predicate_or_one_attribute() -> None:
    nexus = empty()
    report = import_text(
        nexus,
        ":knows a owl:ObjectProperty ; rdfs:domain :A ; owl:equivalentProperty b:knows ."
        "b:knows a owl:ObjectProperty, owl:SymmetricProperty ; rdfs:domain :B ."
        ":age a owl:DatatypeProperty ; rdfs:domain :A . b:age a owl:DatatypeProperty ;"
        " owl:equivalentProperty :age ; rdfs:domain :A .",
    )
    assert report["definitions"]["predicates"] == ["knows"]
    knows = attributes(nexus, "knows", "$PropositionType")
    assert knows["subject_types"] == ["A", "B"]
    assert knows["is_symmetric"]
    assert knows["same_as"] == [OTHER + "knows", NS + "knows"]
    assert list(attributes(nexus, "A")["instance_schema"]) == ["age"]


# Names --------------------------------------------------------------------------------------


def test_each_term_that_shares_a_name_with_another_is_reported() -> None:
    terms = [
        ':Person a owl:Class ; rdfs:comment "p" .',
        "b:Person a owl:Class .",
        ":age a owl:DatatypeProperty ; rdfs:domain :Person .",
        "b:age a owl:DatatypeProperty ; rdfs:domain :Person .",
    ]
    expected = [
        f"<{NS}age> is called 'age_2' because <{OTHER}age> is called 'age'; "
        "a mapping can give it another name.",
        f"<{OTHER}Person> is called 'Person_2' because <{NS}Person> is called 'Person'; "
        "a mapping can give it another name.",
    ]
    for order in permutations(terms):
        report = import_text(empty(), "\n".join(order), dry_run=True)
        assert sorted(report["warnings"], reverse=True) == expected
