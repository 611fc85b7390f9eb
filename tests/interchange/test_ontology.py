"""Ontologies in RDFS, OWL and SHACL become definitions.

``KIPRDF_EXAMPLES`` sets how many generated ontologies are read.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from itertools import permutations
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple

import kiprdf
from kiprdf import Mapping
from kiprdf.interchange.importing.plan import to_upsert
from kiprdf.interchange.vocabularies.definitions import (
    Definitions,
    PredicateDefinition,
    TypeDefinition,
    plan_definitions,
    read_definitions,
)
from kiprdf.language import to_text
from kiprdf.language.names import is_definition_name, is_key
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from tests.interchange.importing import ontology
from tests.long_runs import amount

EXAMPLES = amount("EXAMPLES", 8)
FOLDER = Path(__file__).parent / "vocabularies"
FOAF = "http://xmlns.com/foaf/0.1/"
SKOS = "http://www.w3.org/2004/02/skos/core#"
PREFIXES = """
@prefix : <https://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <https://schema.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def read(turtle: str, **options: Any) -> Definitions:
    quads = pyoxigraph.parse(PREFIXES + turtle, format=RdfFormat.TURTLE)
    return ontology(quads, **options)


def type_(definitions: Definitions, name: str) -> TypeDefinition:
    return next(one for one in definitions.types if one.name == name)


def rules(definitions: Definitions, name: str) -> dict[str, dict[str, Any]]:
    """The rules of a type without the record of IRIs and datatypes, which has its own test."""
    schema = type_(definitions, name).instance_schema
    return {
        key: {part: rule[part] for part in rule if part not in ("iri", "datatype")}
        for key, rule in schema.items()
    }


def predicate(definitions: Definitions, name: str) -> PredicateDefinition:
    return next(one for one in definitions.predicates if one.name == name)


def keys(definitions: Definitions) -> set[str]:
    """The attributes of all types."""
    return {key for one in definitions.types for key in one.instance_schema}


def without_class(definitions: Definitions) -> set[str]:
    """The attributes that are reported because no type has them."""
    reason = "an attribute without a class; any concept may have it"
    return {one.iri for one in definitions.skipped if one.reason == reason}


def reasons(definitions: Definitions, iri: str) -> list[str]:
    return [skipped.reason for skipped in definitions.skipped if skipped.iri == iri]


def attributes(nexus: kiprdf.Nexus, name: str, meta_type: str = "$ConceptType") -> dict[str, Any]:
    """What a definition of a nexus says."""
    return read_definitions(nexus.store)[ConceptName(meta_type, name)].attributes


# Classes and predicates ---------------------------------------------------------------------


def test_classes_and_properties_between_them_become_types_and_predicates() -> None:
    definitions = read("""
        :Drug a owl:Class ; rdfs:comment "A substance." .
        :Symptom a rdfs:Class .
        :treats a owl:ObjectProperty ; rdfs:domain :Drug ; rdfs:range :Symptom .
    """)
    assert [one.name for one in definitions.types] == ["Drug", "Symptom"]
    assert type_(definitions, "Drug").attributes() == {
        "description": "A substance.",
        "iri": "https://example.org/o#Drug",
        "same_as": "https://example.org/o#Drug",
    }
    assert predicate(definitions, "treats").attributes() == {
        "description": "treats",
        "subject_types": ["Drug"],
        "object_types": ["Symptom"],
        "is_symmetric": False,
        "is_transitive": False,
        "iri": "https://example.org/o#treats",
        "same_as": "https://example.org/o#treats",
    }


def test_unions_and_the_includes_of_schema_org_allow_several_types() -> None:
    definitions = read("""
        :a a owl:ObjectProperty ; rdfs:domain [ owl:unionOf ( :A [ owl:unionOf ( :B :C ) ] ) ] .
        :b a rdf:Property ; schema:domainIncludes :A, :B ; schema:rangeIncludes :C, :A .
    """)
    assert predicate(definitions, "a").subject_types == ("A", "B", "C")
    assert predicate(definitions, "b").subject_types == ("A", "B")
    assert predicate(definitions, "b").object_types == ("A", "C")


def test_without_a_range_or_with_the_range_of_everything_anything_may_stand() -> None:
    definitions = read("""
        :a a rdf:Property . :b a owl:ObjectProperty ; rdfs:range owl:Thing ; rdfs:domain :A .
    """)
    assert predicate(definitions, "a").object_types == ("*",)
    assert predicate(definitions, "b").object_types == ("*",)


def test_a_property_has_the_domain_and_range_of_the_one_above_it() -> None:
    definitions = read("""
        :near a owl:ObjectProperty ; rdfs:domain :Place ; rdfs:range :Place .
        :touches a owl:ObjectProperty ; rdfs:subPropertyOf :near .
    """)
    assert predicate(definitions, "touches").subject_types == ("Place",)
    assert predicate(definitions, "touches").parents == ("near",)


def test_symmetric_transitive_and_inverse_properties_keep_it() -> None:
    definitions = read("""
        :a a owl:SymmetricProperty, owl:TransitiveProperty .
        :b a owl:ObjectProperty ; owl:inverseOf :c . :c a owl:ObjectProperty .
        :d a owl:ObjectProperty ; owl:inverseOf :d .
    """)
    assert (
        predicate(definitions, "a").is_symmetric,
        predicate(definitions, "a").is_transitive,
    ) == (True, True)
    assert (predicate(definitions, "b").inverse_of, predicate(definitions, "c").inverse_of) == (
        "c",
        "b",
    )
    assert (predicate(definitions, "d").is_symmetric, predicate(definitions, "d").inverse_of) == (
        True,
        None,
    )


def test_subclasses_name_the_classes_above_them() -> None:
    definitions = read(
        ":A a owl:Class ; rdfs:subClassOf :B, :C, owl:Thing . :B rdfs:subClassOf :D ."
    )
    assert type_(definitions, "A").parents == ("B", "C")
    assert [one.name for one in definitions.types] == ["A", "B", "C", "D"]


# Attributes ---------------------------------------------------------------------------------


def test_datatype_properties_are_attributes_of_their_domains() -> None:
    definitions = read("""
        :age a owl:DatatypeProperty ; rdfs:domain :Person ; rdfs:range xsd:nonNegativeInteger ;
            rdfs:comment "In years." .
        :weight rdfs:domain :Person, :Animal ; rdfs:range xsd:decimal .
        :born rdfs:domain :Person ; rdfs:range xsd:date .
        :alive rdfs:domain :Person ; rdfs:range xsd:boolean .
        :motto rdfs:domain :Person ; rdfs:range rdf:langString .
    """)
    assert rules(definitions, "Person") == {
        "age": {"is_required": False, "item_type": "integer", "description": "In years."},
        "alive": {"is_required": False, "item_type": "boolean"},
        "born": {"is_required": False, "item_type": "string"},
        "motto": {"is_required": False},
        "weight": {"is_required": False, "item_type": "number"},
    }
    assert list(type_(definitions, "Animal").instance_schema) == ["weight"]
    assert not definitions.predicates


def test_restrictions_say_what_is_required_and_what_is_an_array() -> None:
    definitions = read("""
        :a a owl:DatatypeProperty ; rdfs:range xsd:string .
        :b a owl:DatatypeProperty . :c a owl:DatatypeProperty .
        :A rdfs:subClassOf
            [ a owl:Restriction ; owl:onProperty :a ; owl:cardinality 1 ],
            [ a owl:Restriction ; owl:onProperty :b ; owl:someValuesFrom xsd:integer ],
            [ a owl:Restriction ; owl:onProperty :c ; owl:minQualifiedCardinality 2 ;
              owl:onDataRange xsd:string ] .
    """)
    assert rules(definitions, "A") == {
        "a": {"is_required": True, "type": "string"},
        "b": {"is_required": True, "item_type": "integer"},
        "c": {"is_required": True, "type": "array", "item_type": "string"},
    }


def test_enumerations_of_literals_are_enums() -> None:
    definitions = read("""
        :form a owl:FunctionalProperty ; rdfs:domain :Drug ; rdfs:range
            [ a rdfs:Datatype ; owl:oneOf ( "tablet" "syrup" ) ] .
        :level a owl:FunctionalProperty ; rdfs:domain :Drug ;
            rdfs:range [ a owl:DataRange ; owl:oneOf ( 1 2 ) ] .
    """)
    schema = rules(definitions, "Drug")
    assert schema["form"] == {"is_required": False, "type": "string", "enum": ["tablet", "syrup"]}
    assert schema["level"] == {"is_required": False, "type": "integer", "enum": [1, 2]}


def test_an_enumerated_class_names_its_members() -> None:
    definitions = read(""":Weekday a owl:Class ; owl:oneOf ( :Monday :Tuesday ) .
        :Tuesday rdfs:label "Tuesday, that is" .""")
    assert type_(definitions, "Weekday").key_instances == ("Monday", "Tuesday, that is")


def test_values_that_are_things_or_literals_make_a_predicate_and_an_attribute() -> None:
    definitions = read("""
        :address schema:domainIncludes :Person ;
            schema:rangeIncludes :Address, schema:Text .
    """)
    assert predicate(definitions, "address").object_types == ("Address",)
    assert type_(definitions, "Person").instance_schema["address"]["item_type"] == "string"


def test_an_attribute_of_no_class_is_reported() -> None:
    definitions = read(":note a owl:AnnotationProperty ; rdfs:comment 'A note.' .")
    assert (definitions.types, definitions.predicates) == ((), ())
    assert reasons(definitions, "https://example.org/o#note") == [
        "an attribute without a class; any concept may have it"
    ]


def test_an_attribute_of_everything_is_one_of_the_topmost_classes() -> None:
    definitions = read("""
        :A a owl:Class ; rdfs:label "A" ; rdfs:subClassOf owl:Thing .
        :B rdfs:subClassOf :A ; rdfs:label "B" .
        :name a owl:DatatypeProperty ; rdfs:domain owl:Thing .
    """)
    assert list(type_(definitions, "A").instance_schema) == ["name"]
    assert type_(definitions, "B").instance_schema == {}


# SHACL --------------------------------------------------------------------------------------

SHAPES = """
:PersonShape a sh:NodeShape ; sh:targetClass :Person ;
    sh:property [ sh:path :email ; sh:datatype xsd:string ; sh:minCount 1 ; sh:maxCount 1 ;
        sh:description "Where to write to." ; sh:pattern "@" ] ;
    sh:property [ sh:path :status ; sh:maxCount 1 ; sh:in ( "active" "away" ) ;
        sh:defaultValue "active" ] ;
    sh:property [ sh:path :nick ; sh:datatype xsd:string ; sh:maxCount 3 ] ;
    sh:property [ sh:path :knows ; sh:class :Person ; sh:minCount 1 ; sh:description "Whom." ] ;
    sh:property [ sh:path :home ; sh:or ( [ sh:class :Place ] [ sh:datatype xsd:string ] ) ] ;
    sh:property [ sh:path :page ; sh:nodeKind sh:IRI ] .
:Place a rdfs:Class, sh:NodeShape ; sh:property [ sh:path :capital ; sh:node :PersonShape ] .
"""


def test_property_shapes_are_the_instance_schema_of_their_class() -> None:
    assert rules(read(SHAPES), "Person") == {
        "email": {"is_required": True, "type": "string", "description": "Where to write to."},
        "home": {"is_required": False, "item_type": "string"},
        "nick": {"is_required": False, "item_type": "string"},
        "status": {
            "is_required": False,
            "type": "string",
            "enum": ["active", "away"],
            "default_value": "active",
        },
    }


def test_property_shapes_with_classes_are_predicates() -> None:
    definitions = read(SHAPES)
    ends = {one.name: (one.subject_types, one.object_types) for one in definitions.predicates}
    assert ends == {
        "capital": (("Place",), ("Person",)),
        "home": (("Person",), ("Place",)),
        "knows": (("Person",), ("Person",)),
        "page": (("Person",), ("*",)),
    }
    assert predicate(definitions, "knows").description == "Whom."


def test_what_an_instance_schema_cannot_say_is_reported() -> None:
    definitions = read(SHAPES)
    assert reasons(definitions, "https://example.org/o#email") == [
        "<https://example.org/o#Person>: sh:pattern has no counterpart in an instance_schema"
    ]
    assert reasons(definitions, "https://example.org/o#knows") == [
        "<https://example.org/o#Person>: sh:minCount has no counterpart in a definition"
    ]


# What was skipped ---------------------------------------------------------------------------

NS = "https://example.org/o#"
MEMBER = "a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty"


@pytest.mark.parametrize(
    ("turtle", "iri", "reason"),
    [
        (":A a owl:Class ; owl:equivalentClass [ owl:unionOf ( :B :C ) ] .", NS + "A",
         "owl:equivalentClass, owl:unionOf have no counterpart in a definition"),
        (f":p a owl:ObjectProperty ; rdfs:range :C . :A {MEMBER} :p ; owl:allValuesFrom :B ] .",
         NS + "p", f"<{NS}A>: owl:allValuesFrom has no counterpart in a definition"),
        (f":p a owl:ObjectProperty . :A {MEMBER} :p ; owl:maxCardinality 1 ] .",
         NS + "p", f"<{NS}A>: owl:maxCardinality has no counterpart in a definition"),
        ("[] a owl:AllDisjointClasses ; owl:members ( :A :B ) .",
         "http://www.w3.org/2002/07/owl#AllDisjointClasses",
         f"owl:AllDisjointClasses of <{NS}A>, <{NS}B> (owl:members) has no counterpart in a"
         " definition"),
        (":p a owl:ObjectProperty, owl:FunctionalProperty .",
         NS + "p", "a owl:FunctionalProperty has no counterpart in a definition"),
        (":p a owl:InverseFunctionalProperty, owl:IrreflexiveProperty, owl:AsymmetricProperty .",
         NS + "p", "a owl:AsymmetricProperty, a owl:InverseFunctionalProperty, "
         "a owl:IrreflexiveProperty have no counterpart in a definition"),
        (":A a owl:Class ; owl:deprecated true .",
         NS + "A", "owl:deprecated has no counterpart in a definition"),
        (':A a owl:Class ; <http://purl.org/dc/terms/creator> "Ada" ; skos:example "B" ; :own 1 .',
         NS + "A", f"<{NS}own>, dcterms:creator, skos:example have no counterpart in a definition"),
        (":S sh:targetClass :A ; sh:property [ sh:path ( :p :q ) ; sh:maxCount 1 ] .",
         NS + "S", "sh:maxCount, sh:path, sh:property have no counterpart in a definition"),
        (":S sh:targetClass :A ; sh:property [ sh:path [ sh:inversePath :p ] ] .",
         NS + "S", "sh:inversePath, sh:path, sh:property have no counterpart in a definition"),
        (":S sh:targetClass :A ; sh:property [ sh:path :p ; sh:maxCount 1 ; sh:class :B ] .",
         NS + "p", f"<{NS}A>: sh:maxCount has no counterpart in a definition"),
        (":S sh:targetClass :A ; sh:property [ sh:path :p ; sh:class :B ; sh:node :Unknown ] .",
         NS + "p", f"<{NS}A>: sh:node has no counterpart in a definition"),
        (":S a sh:NodeShape ; sh:targetClass :A ; sh:rule [ sh:order 1 ] .",
         NS + "S", "sh:order, sh:rule have no counterpart in a definition"),
        (":n a owl:DatatypeProperty ; rdfs:domain :A ; rdfs:range [ a rdfs:Datatype ; "
         "owl:onDatatype xsd:int ; owl:withRestrictions ( [ xsd:minInclusive 0 ] ) ] .",
         NS + "n", "owl:withRestrictions, xsd:minInclusive have no counterpart in an"
         " instance_schema"),
        (":S sh:targetClass :A ; sh:property "
         "[ sh:path :n ; sh:datatype xsd:int ; sh:minInclusive 0 ] .",
         NS + "n", f"<{NS}A>: sh:minInclusive has no counterpart in an instance_schema"),
        (":n a owl:DatatypeProperty ; rdfs:domain :A ; rdfs:range "
         '[ a rdfs:Datatype ; owl:oneOf ( "a" "b" ) ] .',
         NS + "n", "owl:oneOf: an enum is for attributes that have one value at most"),
        (':n a owl:DatatypeProperty ; rdfs:comment "Of years."@en, "Jahre."@de ; rdfs:domain :A .',
         NS + "n", "rdfs:comment has no counterpart in an instance_schema"),
        (":x a :A ; :n 1 . :A a owl:Class .", NS + "x", "data, not a definition"),
        (":A a owl:Class . :x rdfs:isDefinedBy <https://example.org/o#> .",
         NS + "x", "data, not a definition"),
        ("[] a :A ; :n 1 . :A a owl:Class .", NS + "A", "data, not a definition"),
        (':A a owl:Class . <urn:o> a owl:Ontology ; owl:versionInfo "1" .',
         "urn:o", "about the ontology itself, not about its terms"),
        ("<urn:o> a owl:Ontology ; owl:imports <urn:p> .",
         "urn:o", "owl:imports is not followed; give the triples of both"),
        (":A a owl:Class . <<( :A :b :C )>> :p 1 .".replace("<<(", ":r rdf:reifies <<(").replace(
            " :p 1", ""), NS + "r", "a statement about a statement, not a definition"),
    ],
)  # fmt: skip
def test_what_a_definition_cannot_say_is_listed_under_its_term(
    turtle: str, iri: str, reason: str
) -> None:
    assert reason in reasons(read(turtle), iri)


@pytest.mark.parametrize(
    "turtle",
    [
        ':A a owl:Class ; rdfs:label "A" ; rdfs:comment "Some."@en, "Etwas."@de .',
        ":A a owl:Class, rdfs:Class . :B a owl:Class ; rdfs:subClassOf :A, owl:Thing .",
        ":A a owl:Class ; rdfs:isDefinedBy <https://example.org/o#> .",
        ":A a owl:Class . :p a owl:ObjectProperty ; rdfs:domain [ owl:unionOf ( :A ) ] .",
        f":n a owl:DatatypeProperty . :A {MEMBER} :n ; owl:cardinality 1 ] .",
        ":n a owl:DatatypeProperty, owl:FunctionalProperty ; rdfs:label 'N' ; rdfs:domain :A ."
        ":A a owl:Class .",
        ":p a owl:ObjectProperty ; owl:inverseOf :q . :q a owl:ObjectProperty .",
        ":A a owl:Class . skos:definition a owl:AnnotationProperty .",
        ":S a sh:NodeShape ; sh:targetClass :A ; sh:name 'one' ; sh:description 'Some.' .",
    ],
)
def test_what_is_in_a_definition_is_not_listed(turtle: str) -> None:
    assert read(turtle).skipped == ()


def test_what_a_term_is_declared_as_is_no_reason_to_ask_for_its_ontology() -> None:
    definitions = read(""":Drug a owl:Class . :worksOn a owl:ObjectProperty ; rdfs:range :Far .
        :Nurse a owl:Class ; rdfs:label "care giver" .""")
    assert [tuple(one) for one in definitions.skipped] == [
        (NS + "Far", "mentioned, not described: give its ontology too")
    ]
    texts = {one.name: one.attributes()["description"] for one in definitions.types}
    texts |= {one.name: one.attributes()["description"] for one in definitions.predicates}
    assert texts == {
        "Drug": "drug",
        "Far": "<https://example.org/o#Far>, which its ontology does not describe.",
        "Nurse": "care giver",
        "worksOn": "works on",
    }


def test_the_parts_of_an_intersection_hold_for_the_class() -> None:
    definitions = read("""
        :n a owl:DatatypeProperty .
        :A a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :B
            [ owl:intersectionOf ( :C [ owl:onProperty :n ; owl:minCardinality 1 ] ) ] ) ] .
        :D owl:intersectionOf ( :B :C ) ; a owl:Class .
    """)
    assert type_(definitions, "A").parents == ("B", "C")
    assert rules(definitions, "A") == {"n": {"is_required": True}}
    assert type_(definitions, "D").parents == ("B", "C")


def test_a_class_is_not_below_each_part_of_a_union() -> None:
    definitions = read(":A a owl:Class ; rdfs:subClassOf [ owl:unionOf ( :B :C ) ] .")
    assert type_(definitions, "A").parents == ()


def test_a_shape_describes_a_class_that_nothing_else_describes() -> None:
    definitions = read("""
        :S a sh:NodeShape ; sh:targetClass :A, :B ; rdfs:label "tea" ; sh:description "A drink." .
        :B a owl:Class ; rdfs:comment "Something else." .
    """)
    assert type_(definitions, "A").attributes() == {
        "description": "A drink.", "labels": {"und": "tea"}, "iri": NS + "A", "same_as": NS + "A",
    }  # fmt: skip
    assert type_(definitions, "B").description == "Something else."


def test_an_enumeration_of_things_makes_a_predicate() -> None:
    definitions = read(":S sh:targetClass :A ; sh:property [ sh:path :p ; sh:in ( :x :y ) ] .")
    assert predicate(definitions, "p").object_types == ("*",)


def test_an_annotation_of_a_subclass_axiom_describes_the_attribute() -> None:
    definitions = read(f"""
        :n a owl:DatatypeProperty . :A {MEMBER[: MEMBER.index("[")]} _:r .
        _:r a owl:Restriction ; owl:onProperty :n ; owl:minCardinality 1 .
        [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:subClassOf ;
            owl:annotatedTarget _:r ; skos:definition "How many." .
    """)
    assert type_(definitions, "A").instance_schema["n"]["description"] == "How many."
    assert definitions.skipped == ()


# One value or several -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("several", "single"),
    [
        (":n a owl:DatatypeProperty ; rdfs:domain :T ; rdfs:range xsd:string .",
         ":n a owl:FunctionalProperty ; rdfs:domain :T ; rdfs:range xsd:string ."),
        (":S sh:targetClass :T ; sh:property [ sh:path :n ; sh:datatype xsd:string ] .",
         ":S sh:targetClass :T ; sh:property "
         "[ sh:path :n ; sh:datatype xsd:string ; sh:maxCount 1 ] ."),
        (":S sh:targetClass :T ; sh:property [ sh:path :n ; sh:in ( 'a' 'b' ) ] .",
         ":S sh:targetClass :T ; sh:property [ sh:path :n ; sh:in ( 'a' 'b' ) ; sh:maxCount 1 ] ."),
        (":S sh:targetClass :T ; sh:property "
         "[ sh:path :n ; sh:datatype xsd:string ; sh:maxCount 3 ] .",
         f":n a owl:DatatypeProperty ; rdfs:range xsd:string . :T {MEMBER} :n ; "
         "owl:maxQualifiedCardinality 1 ; owl:onDataRange xsd:string ] ."),
    ],
)  # fmt: skip
def test_a_strict_nexus_accepts_as_many_values_as_the_ontology_allows(
    several: str, single: str
) -> None:
    one, two = '"a"', '["a", "b"]'
    assert [_is_accepted(several, value) for value in (one, two)] == [True, True]
    assert [_is_accepted(single, value) for value in (one, two)] == [True, False]
    assert not _is_accepted(several, '["a", 1]')


def _is_accepted(ontology: str, value: str) -> bool:
    nexus = kiprdf.Nexus.memory(genesis=False, strict_schema=True)
    nexus.import_ontology(PREFIXES + ontology)
    try:
        nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "T", name: "x"}} '
                      f'SET ATTRIBUTES {{ n: {value} }} }} }}')  # fmt: skip
    except kiprdf.KipError as error:
        return error.code != "KIP_2003"
    return True


def test_data_with_one_and_with_two_values_enter_a_strict_nexus() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False, strict_schema=True)
    nexus.import_ontology(PREFIXES + ":n a owl:DatatypeProperty ; rdfs:domain :T ; "
                          "rdfs:range xsd:string . :T a owl:Class .")  # fmt: skip
    nexus.import_rdf(PREFIXES + ':x a :T ; :n "a" . :y a :T ; :n "a", "b" .')
    rows = nexus.execute('FIND(?x.attributes.n) WHERE { ?x {type: "T"} } ORDER BY ?x.name ASC')
    assert rows == ["a", ["a", "b"]]


# Names and texts ----------------------------------------------------------------------------


def test_names_are_local_names_made_into_identifiers() -> None:
    definitions = read("""
        @prefix obo: <http://purl.obolibrary.org/obo/> .
        :date-of-birth a owl:ObjectProperty .
        <https://example.org/o#3DModel> a owl:Class .
        obo:BFO_0000001 a owl:Class ; rdfs:label "independent continuant"@en .
        <https://example.org/名前> a owl:Class ; rdfs:label "Full name" .
        <https://example.org/药> a owl:Class .
    """)
    names = {one.iri: one.name for one in (*definitions.types, *definitions.predicates)}
    assert names["https://example.org/o#date-of-birth"] == "date_of_birth"
    assert names["https://example.org/o#3DModel"] == "_3DModel"
    assert names["http://purl.obolibrary.org/obo/BFO_0000001"] == "independent_continuant"
    assert names["https://example.org/名前"] == "Full_name"
    assert names["https://example.org/药"] == "term_4cbd5d51"


def test_of_two_with_the_same_name_the_described_one_has_it_then_the_first() -> None:
    definitions = read("""
        <urn:a:Person> a owl:Class . <urn:c:Person> a owl:Class ; rdfs:comment "C." .
        <urn:b:Person> a owl:Class ; rdfs:comment "B." .
    """)
    assert {one.iri: one.name for one in definitions.types} == {
        "urn:b:Person": "Person",
        "urn:c:Person": "Person_2",
        "urn:a:Person": "Person_3",
    }


def test_a_mapping_names_what_it_knows() -> None:
    mapping = Mapping.load(
        {"@context": {"@version": 1.1, "Human": FOAF + "Person", "friend_of": FOAF + "knows"}}
    )
    definitions = ontology(foaf_quads(), mapping)
    assert type_(definitions, "Human").iri == FOAF + "Person"
    assert predicate(definitions, "friend_of").subject_types == ("Human",)


def test_what_a_mapping_knows_as_an_attribute_only_is_one() -> None:
    definitions = ontology(foaf_quads(), Mapping.load("foaf"))
    assert "email" in type_(definitions, "Agent").instance_schema
    assert "mbox" not in [one.name for one in definitions.predicates]


def test_a_mapping_knows_schema_org_in_both_of_its_namespaces() -> None:
    mapping = Mapping.load({"@context": {"Human": "https://schema.org/Person"}})
    definitions = read("<http://schema.org/Person> a owl:Class .", mapping=mapping)
    assert definitions.types[0].name == "Human"


def test_what_the_nexus_has_a_name_for_keeps_it() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(f"""UPSERT {{ CONCEPT {{
        {{type: "$ConceptType", name: "Human"}} SET ATTRIBUTES {{ same_as: "{FOAF}Person" }}
    }} }}""")
    definitions = ontology(foaf_quads(), nexus=nexus)
    assert type_(definitions, "Human").iri == FOAF + "Person"


def test_texts_keep_their_languages() -> None:
    definitions = read("""
        :Drug a owl:Class ; rdfs:label "drug"@en, "Arznei"@de ;
            skos:definition "A substance."@en, "Ein Stoff."@de ; rdfs:comment "Mind the dose."@en .
    """)
    assert type_(definitions, "Drug").attributes() == {
        "description": "A substance.\n\nMind the dose.",
        "descriptions": {"de": "Ein Stoff.", "en": "A substance.\n\nMind the dose."},
        "labels": {"de": "Arznei", "en": "drug"},
        "iri": "https://example.org/o#Drug",
        "same_as": "https://example.org/o#Drug",
    }


def test_terms_of_the_standards_are_no_definitions() -> None:
    definitions = read(
        "rdfs:Class a rdfs:Class . xsd:string a rdfs:Datatype . owl:Thing a owl:Class ."
    )
    assert not definitions.types
    assert reasons(definitions, "http://www.w3.org/2000/01/rdf-schema#Class") == [
        "a term of RDF, RDFS, OWL or XSD itself"
    ]


# Whole vocabularies -------------------------------------------------------------------------


def foaf_quads() -> list[pyoxigraph.Quad]:
    return list(pyoxigraph.parse(path=FOLDER / "foaf.nq"))


def skos_quads() -> list[pyoxigraph.Quad]:
    return list(pyoxigraph.parse(path=FOLDER / "skos.nq"))


def schema_org_quads() -> list[pyoxigraph.Quad]:
    try:
        named = files("pyshacl") or []
    except PackageNotFoundError:
        pytest.skip("pyshacl is not installed")
    path = next(one for one in named if one.as_posix().endswith("assets/schema.ttl"))
    return list(pyoxigraph.parse(path=str(path.locate())))


def apply(nexus: kiprdf.Nexus, definitions: Definitions) -> list[str]:
    """Write definitions; the reasons of what was left alone."""
    plan = plan_definitions(definitions, read_definitions(nexus.store))
    nexus.apply_capsule(to_text(to_upsert(plan)))
    return [skipped.reason for skipped in plan.skipped]


def test_foaf_becomes_types_predicates_and_attributes() -> None:
    definitions = ontology(foaf_quads())
    described = [one for one in definitions.types if one.descriptions]
    assert [one.name for one in described] == [
        "Agent", "Document", "Group", "Image", "LabelProperty", "OnlineAccount",
        "OnlineChatAccount", "OnlineEcommerceAccount", "OnlineGamingAccount", "Organization",
        "Person", "PersonalProfileDocument", "Project",
    ]  # fmt: skip
    person = type_(definitions, "Person")
    assert (person.iri, person.description) == (FOAF + "Person", "A person.")
    assert person.instance_schema["firstName"]["description"] == "The first name of a person."
    knows = predicate(definitions, "knows")
    assert (knows.subject_types, knows.object_types) == (("Person",), ("Person",))
    assert predicate(definitions, "depicts").inverse_of == "depiction"
    assert len(definitions.predicates) == 34
    assert len(keys(definitions)) + len(without_class(definitions)) == 28


def test_skos_becomes_types_and_predicates() -> None:
    definitions = ontology(skos_quads())
    assert [one.name for one in definitions.types] == [
        "Collection", "Concept", "ConceptScheme", "OrderedCollection",
    ]  # fmt: skip
    broader = predicate(definitions, "broader")
    assert (broader.subject_types, broader.object_types) == (("Concept",), ("Concept",))
    assert predicate(definitions, "exactMatch").is_symmetric
    assert predicate(definitions, "broaderTransitive").is_transitive
    assert predicate(definitions, "member").object_types == ("Collection", "Concept")
    assert {SKOS + "prefLabel", SKOS + "altLabel"} <= without_class(definitions)
    assert all(one.description for one in (*definitions.types, *definitions.predicates))


def test_schema_org_becomes_types_and_predicates() -> None:
    definitions = ontology(schema_org_quads())
    author = predicate(definitions, "author")
    assert author.object_types == ("Organization", "Person")
    assert author.description is not None
    assert author.description.startswith("The author of this content or rating.")
    person = type_(definitions, "Person")
    assert person.parents == ("Thing",)
    assert person.instance_schema["birthDate"]["item_type"] == "string"
    assert person.instance_schema["birthDate"]["description"] == "Date of birth."
    assert len(definitions.types) > 800
    assert all(one.description for one in (*definitions.types, *definitions.predicates))


@pytest.mark.parametrize("quads", [foaf_quads, skos_quads, schema_org_quads])
def test_a_vocabulary_enters_a_strict_nexus_and_is_described(quads: Any) -> None:
    nexus = kiprdf.Nexus.memory(strict_schema=True)
    definitions = ontology(quads())
    apply(nexus, definitions)
    for one in definitions.types[:: len(definitions.types) // 20 + 1]:
        assert nexus.execute(f'DESCRIBE CONCEPT TYPE "{one.name}"')
    for kind, ones in (("Concept", definitions.types), ("Proposition", definitions.predicates)):
        names = nexus.execute(f'FIND(?d.name) WHERE {{ ?d {{type: "${kind}Type"}} }}')
        assert {one.name for one in ones} <= {*names}


def test_the_words_of_the_nexus_stay_and_gain_what_they_lack() -> None:
    nexus = kiprdf.Nexus.memory()
    before = attributes(nexus, "Person")
    report = nexus.import_ontology(FOLDER / "foaf.nq", mapping="foaf")
    after = attributes(nexus, "Person")
    assert after["description"] == before["description"]
    assert after["same_as"] == FOAF + "Person"
    schema = {**after["instance_schema"]}
    for key, rule in before["instance_schema"].items():
        assert {part: schema[key][part] for part in rule} == rule
    assert schema["geekcode"] == {
        "is_required": False,
        "iri": FOAF + "geekcode",
        "description": "A textual geekcode for this person, see http://www.geekcode.com/geek.html",
    }
    assert [one["reason"] for one in report["skipped"] if "'Person'" in one["reason"]] == [
        "'Person' is defined already and keeps its own description"
    ]


def test_a_predicate_is_below_one_whose_equivalent_is_named() -> None:
    """DCAT 3: dcat:hasCurrentVersion is below pav:hasVersion, the equal of dcat:hasVersion."""
    data = """
        :current a owl:ObjectProperty ; rdfs:subPropertyOf <http://pav.example/version> .
        :version a owl:ObjectProperty ; owl:equivalentProperty <http://pav.example/version> .
    """
    nexus = kiprdf.Nexus.memory()
    nexus.import_ontology(PREFIXES + data)
    above = 'FIND(?y.name) WHERE { ?x {name: "current"} (?x, "subproperty_of", ?y) }'
    assert nexus.execute(above) == ["version"]
    before = nexus.snapshot()
    nexus.import_ontology(PREFIXES + data)
    assert nexus.snapshot() == before


def test_the_same_ontology_again_changes_nothing() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    apply(nexus, ontology(skos_quads()))
    first = nexus.snapshot()
    apply(nexus, ontology(skos_quads(), nexus=nexus))
    assert nexus.snapshot() == first


def test_inherited_definitions_let_a_strict_nexus_accept_members_of_subclasses() -> None:
    definitions = ontology(foaf_quads()).inherited()
    assert "Person" in predicate(definitions, "account").subject_types
    assert "age" in type_(definitions, "Person").instance_schema
    assert predicate(definitions, "depiction").subject_types == ("*",)


# Any triples --------------------------------------------------------------------------------

_SPACE = {
    "rdf": ("type", "first", "rest", "nil", "Property"),
    "rdfs": ("Class", "subClassOf", "subPropertyOf", "domain", "range", "label", "Datatype"),
}
_TERMS = [
    NamedNode(line.split()[-1])
    for line in [
        *(f"http://www.w3.org/1999/02/22-rdf-syntax-ns#{name}" for name in _SPACE["rdf"]),
        *(f"http://www.w3.org/2000/01/rdf-schema#{name}" for name in _SPACE["rdfs"]),
        *(
            f"http://www.w3.org/2002/07/owl#{name}"
            for name in (
                "Class", "ObjectProperty", "DatatypeProperty", "Restriction", "onProperty",
                "unionOf", "oneOf", "minCardinality", "allValuesFrom", "inverseOf", "Thing",
            )
        ),
        *(
            f"http://www.w3.org/ns/shacl#{name}"
            for name in (
                "NodeShape", "targetClass", "property", "path", "datatype", "class", "in", "or",
                "node", "minCount", "defaultValue",
            )
        ),
    ]
]  # fmt: skip
_OWN = [NamedNode(f"urn:x:{name}") for name in ("A", "B", "c", "d")]
_BLANKS = [BlankNode(f"b{number}") for number in range(3)]
_LITERALS = [
    Literal("1", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer")),
    Literal("x", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer")),
    Literal("INF", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#double")),
    Literal("{", datatype=NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON")),
    Literal("text"),
    Literal("Wort", language="de"),
    NamedNode("http://www.w3.org/2001/XMLSchema#string"),
]
triples = st.builds(
    Triple,
    st.sampled_from([*_OWN, *_BLANKS]),
    st.sampled_from(_TERMS),
    st.sampled_from([*_OWN, *_BLANKS, *_TERMS, *_LITERALS]),
)


@settings(max_examples=EXAMPLES * 5)
@given(
    st.lists(triples, max_size=25).flatmap(
        lambda some: st.tuples(st.just(some), st.permutations(some))
    )
)
def test_any_triples_in_any_order_give_the_same_valid_definitions(
    both: tuple[list[Triple], list[Triple]],
) -> None:
    definitions = ontology(both[0])
    for meta_type, ones in (
        ("$ConceptType", definitions.types),
        ("$PropositionType", definitions.predicates),
    ):
        assert all(is_definition_name(meta_type, one.name) for one in ones)
        assert len({one.name for one in ones}) == len(ones)
    assert all(map(is_key, keys(definitions)))
    assert ontology(both[1]) == definitions
    nexus = kiprdf.Nexus.memory(genesis=False)
    plan = plan_definitions(definitions, {})
    if plan.definitions:
        nexus.execute(to_text(to_upsert(plan)))


def test_a_ring_of_nodes_without_a_name_is_reported_alike_in_any_order() -> None:
    one, other = BlankNode("one"), BlankNode("other")
    owl = "http://www.w3.org/2002/07/owl#"
    ring = [
        Triple(one, NamedNode(f"{owl}onProperty"), other),
        Triple(other, NamedNode(f"{owl}inverseOf"), one),
        Triple(one, vocab.TYPE, NamedNode(f"{owl}Axiom")),
        Triple(other, vocab.TYPE, NamedNode("urn:x:A")),
    ]
    reason = "owl:Axiom of <urn:x:A> (owl:inverseOf, owl:onProperty) has no counterpart"
    for order in permutations(ring):
        (skipped,) = ontology(order).skipped
        assert (skipped.iri, reason in skipped.reason) == (f"{owl}Axiom", True)


MARKERS = st.lists(st.sampled_from([*_OWN, *_BLANKS]), min_size=1, max_size=4)


@settings(max_examples=EXAMPLES * 5)
@given(st.lists(triples, max_size=25), MARKERS)
def test_what_no_definition_can_say_is_always_listed(
    some: list[Triple], marked: list[NamedNode | BlankNode]
) -> None:
    labels = [NamedNode(f"urn:mark:{number}") for number, _ in enumerate(marked)]
    more = [Triple(node, label, Literal("x")) for node, label in zip(marked, labels, strict=True)]
    definitions = ontology([*some, *more])
    listed = {iri: " ".join(reasons(definitions, iri)) for iri, _ in definitions.skipped}
    defined = {one.iri for one in (*definitions.types, *definitions.predicates)}
    for node, label in zip(marked, labels, strict=True):
        everything = " ".join(listed.values())
        if isinstance(node, NamedNode) and node.value in defined:
            everything = listed[node.value]
        order = ("data, not a definition", "a term of RDF, RDFS, OWL or XSD itself")
        assert label.value in everything or any(one in everything for one in order)


def test_long_chains_and_shared_unions_are_read_in_time() -> None:
    lines = "".join(
        f"_:n{i} owl:unionOf ( _:n{i + 1} _:n{i + 1} ) . :C{i} rdfs:subClassOf :C{i + 1} .\n"
        for i in range(1_500)
    )
    lines += "".join(f":q{i} rdfs:subPropertyOf :q{i + 1}, :q{i + 2} .\n" for i in range(200))
    definitions = read(
        lines + "_:n1500 owl:unionOf ( :B ) .\n:p a owl:ObjectProperty ; rdfs:domain _:n0 ."
        ":q200 rdfs:domain :A ."
    )
    assert predicate(definitions, "q0").subject_types == ("A",)
    assert predicate(definitions, "p").subject_types == ("B",)
