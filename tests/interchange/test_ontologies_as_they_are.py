"""Ontologies and data in one file, read once each, and named as people name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import rdflib
from rdflib.compare import isomorphic

import kiprdf
from kiprdf.interchange.formats.parsing import parse
from tests.interchange.graphs import isomorphic as same_graphs

PREFIXES = """
@prefix : <https://ex.org/> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix swrl: <http://www.w3.org/2003/11/swrl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def nexus() -> kiprdf.Nexus:
    return kiprdf.Nexus.memory("https://data.example.org/kb/", genesis=False)


def home(one: kiprdf.Nexus) -> rdflib.Graph:
    return rdflib.Graph().parse(data=one.snapshot(mapping="original", only="imported"))


def names(one: kiprdf.Nexus, type_name: str) -> list[str]:
    return sorted(one.execute(f'FIND(?c.name) WHERE {{ ?c {{type: "{type_name}"}} }}'))


# Heads ----------------------------------------------------------------------------------------

HEAD = """
:data a owl:Ontology ; rdfs:label "Trees data"@en ; owl:imports :onto ;
    dcterms:creator [ rdfs:label "Ann" ; :roles ( "author" "editor" ) ] .
:oak a <https://ex.org/onto#Tree>, owl:NamedIndividual ; rdfs:label "Oak" .
"""
TERMS = ":Shrub a owl:Class ; rdfs:comment 'A plant.' ."


@pytest.mark.parametrize("text", [HEAD, HEAD + TERMS])
@pytest.mark.parametrize("order", ["ontology, data", "data, ontology"])
def test_the_head_of_an_ontology_is_kept_once_by_either_import(text: str, order: str) -> None:
    one, text = nexus(), PREFIXES + text
    for what in order.split(", "):
        if what == "ontology":
            one.import_ontology(text)
        else:
            one.import_rdf(text, define=True, default_type="Thing")
    assert isomorphic(home(one), rdflib.Graph().parse(data=text))


def test_a_head_in_a_data_file_is_a_concept_that_can_be_asked_for() -> None:
    one = nexus()
    text = PREFIXES + ':d a owl:Ontology ; rdfs:label "Trees"@en ; owl:versionInfo "1" .'
    assert one.import_rdf(text, define=True)["skipped"] == []
    values = one.execute('FIND(?o.attributes.versionInfo) WHERE { ?o {type: "Ontology"} }')
    assert values == ["1"]
    assert isomorphic(home(one), rdflib.Graph().parse(data=text))


def test_a_head_is_reported_by_an_import_that_must_not_define() -> None:
    one = nexus()
    one.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Tree"} } }')
    report = one.import_rdf(PREFIXES + ":d a owl:Ontology . :oak a :Tree .")
    assert [skipped["reason"] for skipped in report["skipped"]] == [
        "the head of an ontology; import it as one, or define its type to keep it as data"
    ]
    assert report["concepts"]["created"] == 1


@pytest.mark.parametrize(
    "terms",
    [
        ":note a owl:AnnotationProperty ; rdfs:label 'note' ; rdfs:comment 'A remark.' .",
        "rdfs:label rdfs:comment 'What people call it.'@en ; a rdf:Property .",
        "[] a owl:AllDifferent ; owl:distinctMembers ( :a :b ) .",
        ":d a owl:Ontology ; owl:versionInfo '1' .",
    ],
)
def test_an_ontology_without_classes_is_kept(terms: str) -> None:
    one = nexus()
    one.import_ontology(PREFIXES + terms)
    assert isomorphic(home(one), rdflib.Graph().parse(data=PREFIXES + terms))
    other = ":e a owl:Ontology ; owl:versionInfo '2' ."
    one.import_ontology(PREFIXES + other)
    one.import_ontology(PREFIXES + other)
    assert isomorphic(home(one), rdflib.Graph().parse(data=PREFIXES + terms + other))
    assert names(one, "$ConceptType") == ["Ontology"]


def test_the_type_that_keeps_a_head_does_not_take_the_name_of_another_type() -> None:
    one = nexus()
    one.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Ontology"} } }')
    text = PREFIXES + ":d a owl:Ontology ; owl:versionInfo '1' ."
    one.import_ontology(text)
    assert names(one, "$ConceptType") == ["Ontology", "Ontology_2"]
    assert isomorphic(home(one), rdflib.Graph().parse(data=text))


# Axioms ---------------------------------------------------------------------------------------

MIXED = {
    "facets": """
        :p a owl:DatatypeProperty ; rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:float ;
            owl:withRestrictions ( [ xsd:minInclusive 0.0 ] ) ] .
        :q a owl:DatatypeProperty ; rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:float ;
            owl:withRestrictions ( [ xsd:minInclusive 0.0 ] ) ] .""",
    "inverses": """
        :C rdfs:subClassOf [ a owl:Restriction ; owl:someValuesFrom :D ;
            owl:onProperty [ owl:inverseOf :p ] ] . :p a owl:ObjectProperty .""",
    "chains": ":p a owl:ObjectProperty ; owl:propertyChainAxiom ( :q [ owl:inverseOf :p ] ) .",
    "annotated": """
        :C rdfs:subClassOf :D . [] a owl:Axiom ; owl:annotatedSource :C ; rdfs:comment "so" ;
            owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :D .""",
    "expressions": """
        :C a owl:Class ; owl:equivalentClass [ owl:intersectionOf ( :D [ owl:complementOf [
            owl:unionOf ( :E [ owl:oneOf ( :a :b ) ] ) ] ] ) ] .""",
    "shapes": """
        :S a sh:NodeShape ; sh:targetClass :C ; sh:property [ sh:path [ sh:inversePath :p ] ] .""",
    "untyped axioms": "[ owl:disjointWith :D ; owl:unionOf ( :C :E ) ] rdfs:comment 'odd' .",
    "classes without a name": """
        :C a owl:Class . :z a :C, [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue 1 ] .""",
    "lists with names": """
        :L rdf:first :C ; rdf:rest ( [ owl:complementOf :D ] ) .
        :E a owl:Class ; owl:unionOf :L .""",
    "lists with names that nothing refers to": """
        :C a owl:Class . :dates a rdf:List ; rdfs:label "Dates"@en ;
            rdf:first [ sh:datatype xsd:date ] ; rdf:rest ( [ sh:datatype xsd:dateTime ] ) .
        :classes rdf:first :C ; rdf:rest :more . :more rdf:first [ owl:complementOf :C ] ;
            rdf:rest rdf:nil .""",
    "rules": """
        :C a owl:Class . :uncle a swrl:Imp ; swrl:body [ a swrl:AtomList ;
            rdf:first [ a swrl:ClassAtom ; swrl:classPredicate :C ; swrl:argument1 :x ] ;
            rdf:rest [ a swrl:AtomList, rdf:List ; rdf:first [ a swrl:ClassAtom ;
                swrl:classPredicate :D ; swrl:argument1 :x ] ; rdf:rest () ] ] ;
            swrl:head [ a swrl:AtomList ; rdf:rest () ;
                rdf:first [ a swrl:ClassAtom ; swrl:classPredicate :C ; swrl:argument1 :x ] ] .
        :x a swrl:Variable .""",
    "a class that is a thing": ":C a owl:Class, :Breed ; rdfs:subClassOf [ owl:hasValue 1 ] .",
}
DATA = ":a a :C ; :v [ a :T ; :w 1 ] ; :l ( 1 2 ) . :b a :C ; :v [ :w 2 ] ."


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("default_type", [None, "Thing"])
def test_ontology_and_data_in_one_file_come_home_once(name: str, default_type: Any) -> None:
    one, text = nexus(), PREFIXES + MIXED[name] + DATA
    one.import_ontology(text)
    one.import_rdf(text, define=True, default_type=default_type)
    expected = rdflib.Graph().parse(data=text)
    if default_type is None:
        # The blank node without a class, and the link to it, are reported.
        for node in list(expected.subjects(rdflib.URIRef("https://ex.org/w"), rdflib.Literal(2))):
            expected.remove((node, None, None))
            expected.remove((None, None, node))
    assert isomorphic(home(one), expected)
    if default_type is None:
        assert "Thing" not in names(one, "$ConceptType")
    else:
        assert len(names(one, "Thing")) == 1


def test_what_is_left_to_the_import_of_the_ontology_is_reported() -> None:
    one, text = nexus(), PREFIXES + MIXED["facets"] + DATA
    report = one.import_rdf(text, define=True, default_type="Thing")
    assert len(report["skipped"]) == 16
    assert {skipped["reason"] for skipped in report["skipped"]} == {
        "a part of an axiom; import it as an ontology",
        "a class, property or shape is not a concept; import it as an ontology",
    }


def test_classes_that_are_things_do_not_add_links_between_definitions() -> None:
    one = nexus()
    text = (
        PREFIXES
        + """
        :A a owl:Class ; owl:equivalentClass :B . :B a owl:Class ; rdfs:subClassOf :C .
        :D a owl:Class ; rdfs:subClassOf :A . :C a owl:Class .
        :x a :Kind ; rdfs:subClassOf :y . :y a :Kind ."""
    )
    one.import_ontology(text)
    one.import_rdf(text, define=True)
    assert isomorphic(home(one), rdflib.Graph().parse(data=text))


def test_the_atoms_of_a_rule_are_links() -> None:
    one = nexus()
    text = PREFIXES + MIXED["rules"].replace(":C a owl:Class .", "")
    assert one.import_rdf(text, define=True)["skipped"] == []
    assert isomorphic(home(one), rdflib.Graph().parse(data=text))
    rows = one.execute(
        'FIND(?l.attributes.position) WHERE { ?l ({type: "Imp"}, "body", ?a) } '
        "ORDER BY ?l.attributes.position ASC"
    )
    assert rows == [1, 2]


def test_an_inverse_alone_makes_properties() -> None:
    one = nexus()
    text = PREFIXES + ":partOf owl:inverseOf :hasPart ."
    report = one.import_ontology(text)
    assert report["definitions"]["predicates"] == ["hasPart", "partOf"]
    (inverse,) = one.execute('FIND(?p.attributes.inverse_of) WHERE { ?p {name: "partOf"} }')
    assert inverse == "hasPart"
    assert isomorphic(home(one), rdflib.Graph().parse(data=text))


# Names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("iri", "expected"),
    [
        ("https://ex.org/Ünïcode", "Unicode"),
        ("https://ex.org/Ärger", "Arger"),
        ("https://ex.org/naïve", "naive"),
        ("https://ex.org/été", "ete"),
        ("https://ex.org/Größe", "Grosse"),
        ("https://ex.org/smørrebrød", "smorrebrod"),
        ("https://ex.org/Łódź-Œuvre", "Lodz_OEuvre"),
        ("https://ex.org/%C3%9Cber", "Uber"),
        ("https://ex.org/TeaЧай", "TeaChai"),
        ("https://ex.org/茶Tea_Чай-Cup", "Tea_Chai_Cup"),
        ("https://ex.org/Όρος", "Oros"),
    ],
)
def test_latin_letters_are_written_without_their_marks(iri: str, expected: str) -> None:
    one = nexus()
    text = f"<urn:x:a> a <{iri}> ; <{iri}> 1 . <urn:x:b> a <{iri}> ; <urn:x:p> <urn:x:a> ."
    one.import_rdf(text, define=True)
    assert names(one, "$ConceptType") == [expected]
    values = one.execute(f'FIND(?a.attributes.{expected}) WHERE {{ ?a {{name: "a"}} }}')
    assert values == [1]
    assert isomorphic(home(one), rdflib.Graph().parse(data=text))


OPAQUE = [
    "http://purl.obolibrary.org/obo/RO_0000052",
    "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "https://ex.org/id-f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "http://webprotege.stanford.edu/RBGK1EZogKmTJUyW3HfCU5t",
    "http://webprotege.stanford.edu/R8d3Kx92LmQ7vW1ZbN4pYta",
    "https://w3id.org/emmo#EMMO_64963ed6_39c9_4258_85e0_6466c4b5420c",
    "https://ex.org/0b1946a51b5c1dcdc5a2a1c1e1d2b3a4",
    "https://ex.org/名前",
]
READABLE = [
    "https://ex.org/ReferenceOfSomethingElse",
    "https://ex.org/date-of-birth",
    "https://ex.org/H2O",
    "https://ex.org/deadbeef",
]


@pytest.mark.parametrize("iri", OPAQUE)
def test_a_label_is_the_name_where_the_iri_says_nothing(iri: str) -> None:
    label = f'<{iri}> rdfs:label "Größe von"@de, "size of"@en .'
    data = f":a a <{iri}> ; <{iri}> 5, :b . :b a :T ."
    text = f"{PREFIXES} {label} {data}"
    one = nexus()
    one.import_rdf(text, define=True)
    assert "size_of" in names(one, "$ConceptType")
    assert names(one, "$PropositionType") == ["size_of"]
    assert one.execute('FIND(?a.attributes.size_of) WHERE { ?a {name: "a"} }') == [5]
    # Later data without the label, and an ontology, use the same names.
    one.import_rdf(f"{PREFIXES} :c a <{iri}> ; <{iri}> 6 .")
    assert one.execute('FIND(?c.attributes.size_of) WHERE { ?c {name: "c"} }') == [6]
    ontology = f'<{iri}> a owl:Class ; rdfs:label "Größe von"@de, "size of"@en .'
    other = nexus()
    other.import_ontology(PREFIXES + ontology)
    assert names(other, "$ConceptType") == ["size_of"]


@pytest.mark.parametrize("iri", READABLE)
def test_an_iri_that_can_be_read_is_the_name(iri: str) -> None:
    one = nexus()
    one.import_ontology(f'{PREFIXES} <{iri}> a owl:Class ; rdfs:label "another name" .')
    assert names(one, "$ConceptType") != ["another_name"]


def test_one_label_of_two_terms_names_neither_in_data_and_is_numbered_in_an_ontology() -> None:
    labels = 'obo:RO_0000001 rdfs:label "part of" . obo:BFO_0000050 rdfs:label "part of" .'
    data = ":a a :T ; obo:RO_0000001 :b ; obo:BFO_0000050 :b . :b a :T ."
    one = nexus()
    one.import_rdf(PREFIXES + labels + data, define=True)
    assert names(one, "$PropositionType") == ["BFO_0000050", "RO_0000001"]
    other = nexus()
    typed = "obo:RO_0000001 a owl:ObjectProperty . obo:BFO_0000050 a owl:ObjectProperty ."
    other.import_ontology(PREFIXES + labels + typed)
    assert names(other, "$PropositionType") == ["part_of", "part_of_2"]
    other.import_rdf(PREFIXES + data, define=True)
    assert len(names(other, "$PropositionType")) == 2
    assert isomorphic(home(other), rdflib.Graph().parse(data=PREFIXES + labels + typed + data))


def test_data_use_the_keys_that_an_ontology_gave_to_its_properties(tmp_path: Path) -> None:
    ontology = f"""{PREFIXES} :T a owl:Class .
        <https://ex.org/a#size> a owl:DatatypeProperty ; rdfs:domain :T .
        <https://ex.org/b#size> a owl:DatatypeProperty ; rdfs:domain :T .
        obo:IAO_0000004 a owl:DatatypeProperty ; rdfs:domain :T ; rdfs:label "has value"@en ."""
    data = f"""{PREFIXES} :x a :T ; <https://ex.org/a#size> 1 ; <https://ex.org/b#size> 2 ;
        obo:IAO_0000004 3 ."""
    one = nexus()
    one.import_ontology(ontology)
    one.import_rdf(data)
    (attributes,) = one.execute('FIND(?x.attributes) WHERE { ?x {name: "x"} }')
    assert (attributes["size"], attributes["size_2"], attributes["has_value"]) == (1, 2, 3)
    expected = rdflib.Graph().parse(data=ontology) + rdflib.Graph().parse(data=data)
    assert isomorphic(home(one), expected)


# Other formats --------------------------------------------------------------------------------

OWL_XML = """<?xml version="1.0"?>
<!-- Not <rdf:RDF>. -->
<Ontology xmlns="%s" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xml:base="urn:o">
  <Declaration><Class IRI="#A"/></Declaration>
</Ontology>"""


@pytest.mark.parametrize("given", ["{}", "&owl;"])
def test_owl_xml_is_named_with_what_helps(given: str) -> None:
    iri = "http://www.w3.org/2002/07/owl#"
    text = OWL_XML % given.format(iri)
    if given == "&owl;":
        text = text.replace("<Ont", f'<!DOCTYPE Ontology [<!ENTITY owl "{iri}">]><Ont', 1)
    with pytest.raises(kiprdf.KipError) as error:
        nexus().import_ontology(text, format="rdfxml")
    assert (error.value.code, error.value.message, error.value.hint) == (
        "KIP_1001",
        "The text is OWL/XML, which is not RDF/XML.",
        "Convert it to RDF/XML or Turtle: robot convert --input FILE --output FILE.ttl",
    )


def test_rdf_xml_whose_root_is_an_ontology_is_read() -> None:
    namespaces = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl='
    root = f'<owl:Ontology {namespaces}"http://www.w3.org/2002/07/owl#" rdf:about="urn:o"'
    assert len(list(parse(f"{root}/>", "rdfxml"))) == 1
    with pytest.raises(kiprdf.KipError, match="is not valid RDF/XML"):
        parse(f'{root}><owl:x IRI="a"/></owl:Ontology>', "rdfxml")


# Whole files ----------------------------------------------------------------------------------

# Each construct of gist, DCAT 3 and the Relation Ontology of OBO, as these files have them.
CONSTRUCTS = Path(__file__).parent / "samples" / "relations.owl"


def test_no_triple_of_any_construct_is_missing() -> None:
    one = nexus()
    one.import_ontology(CONSTRUCTS)
    one.import_rdf(CONSTRUCTS, define=True, default_type="Thing")
    expected = [quad.triple for quad in parse(CONSTRUCTS.read_text(), "rdfxml")]
    for format in ("turtle", "rdfxml", "jsonld"):
        text = one.snapshot(format=format, mapping="original", only="imported")
        assert same_graphs([quad.triple for quad in parse(text, format)], expected)
    assert {"overlaps", "part_of"} <= {*names(one, "$PropositionType")}
    first = one.snapshot(format="ntriples", mapping="original", only="imported")
    report = one.import_rdf(CONSTRUCTS, define=True, default_type="Thing")
    assert report["concepts"]["created"] == report["propositions"]["created"] == 0
    assert one.import_ontology(CONSTRUCTS)["definitions"] == {"concept_types": [], "predicates": []}
    assert one.snapshot(format="ntriples", mapping="original", only="imported") == first
