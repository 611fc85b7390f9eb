"""Knowledge is written under the IRIs that it came with (docs/decisions/080)."""

from __future__ import annotations

from pathlib import Path

import pytest
import rdflib
from rdflib.compare import isomorphic

import kiprdf
from tests.interchange.nexuses import RDFLIB_FORMATS
from tests.interchange.originals import PREFIXES, check_home

FOAF = "http://xmlns.com/foaf/0.1/"
DOCUMENTS = {
    "people": """
        ex:ada a foaf:Person ; foaf:name "Ada Lovelace" ; foaf:knows ex:charles ; foaf:age 36 ;
            foaf:birthday "1815-12-10"^^xsd:date ; foaf:nick "Ada", "Countess"@en ;
            foaf:homepage <https://ada.example/> ; ex:weight "01.50"^^xsd:decimal .
        ex:charles a foaf:Person, ex:Engineer ; foaf:name "Charles Babbage" ;
            foaf:mbox <mailto:charles@example.org> ; ex:steps (1 2 "x") ; ex:number 01 .
        [] a foaf:Document ; foaf:maker ex:ada ; foaf:title "Notes" .
        ex:untyped ex:is "described" .""",
    "thesaurus": """
        ex:scheme a skos:ConceptScheme ; dcterms:title "Animals"@en ; skos:hasTopConcept ex:cat .
        ex:cat a skos:Concept ; skos:prefLabel "Cat"@en, "Katze"@de ; skos:altLabel "kitty"@en ;
            skos:broader ex:animal ; skos:inScheme ex:scheme ; skos:notation "C1"^^ex:code .
        ex:animal a skos:Concept ; skos:prefLabel "Animal"@en ; skos:narrower ex:cat ;
            skos:exactMatch <https://other.example/animal> .""",
    "catalogue": """
        ex:catalogue a dcat:Catalog ; dcterms:title "All"@en ; dcat:dataset ex:data .
        ex:data a dcat:Dataset ; dcterms:issued "2020-01-01"^^xsd:date ;
            dcat:keyword "a"@en, "b"@en ; dcat:distribution ex:file ;
            dcterms:spatial [ a dcterms:Location ; dcat:bbox "POINT(0 0)"^^ex:wkt ] .
        ex:file a dcat:Distribution ; dcat:byteSize "5120"^^xsd:nonNegativeInteger ;
            dcat:mediaType <https://www.iana.org/assignments/media-types/text/csv> .""",
    "provenance": """
        ex:report a prov:Entity ; prov:wasGeneratedBy ex:writing ; prov:wasDerivedFrom ex:notes .
        ex:notes a prov:Entity ; rdfs:label "notes" .
        ex:writing a prov:Activity ; prov:used ex:notes ;
            prov:startedAtTime "2020-01-01T00:00:00+01:00"^^xsd:dateTime ;
            prov:qualifiedAssociation [ a prov:Association ; prov:hadRole ex:author ] .""",
    "a statement": """
        ex:a a foaf:Person ; foaf:name "A" ; foaf:knows ex:b . ex:b a foaf:Person ; foaf:name "B" .
        [] a rdf:Statement ; rdf:subject ex:a ; rdf:predicate foaf:knows ; rdf:object ex:b ;
            ex:certainty 0.9 ; dcterms:source "book" .""",
    "names": """
        ex:a a foaf:Person ; foaf:name "Same" . ex:c a foaf:Person ; foaf:name " two  blanks " .
        ex:b a foaf:Person ; foaf:name "Same" ; rdfs:label "Same" .
        ex:d a foaf:Agent, foaf:Person ; foaf:name 5 .""",
    "a class that is a concept": """
        ex:Dog a ex:Breed ; ex:size 3 . ex:rex a ex:Dog ; ex:kind ex:Dog .""",
    "two lists": """
        ex:a a ex:T ; ex:steps (1 2), (3 "x"@en) . ex:b a ex:T ; ex:steps (1 2) .""",
    "literals": """
        ex:a ex:p 1, 1.0, 1.0e0, "1", true, "true", 01, "x"^^ex:other, <https://example.org/iri>,
            "é"@fr-CA, "漢"@zh-Hant-TW, "@en-gb", "a\\nb",
            "12"^^xsd:byte, "INF"^^xsd:double, -0.0e0, "1E400"^^xsd:double,
            123456789012345678901234567890 ; ex:q (), (ex:b (1 ("x"@en))) .""",
}


def graph(text: str, format: str = "turtle") -> rdflib.Graph:
    if format not in ("trig", "nquads"):
        return rdflib.Graph().parse(data=text, format=format)
    triples = rdflib.Graph()
    for subject, predicate, value, _ in rdflib.Dataset().parse(data=text, format=format).quads():
        triples.add((subject, predicate, value))
    return triples


def imported(document: str, **options: str) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    text = PREFIXES + DOCUMENTS[document]
    report = nexus.import_rdf(text, format="turtle", define=True, default_type="Thing", **options)
    assert report["skipped"] == []
    return nexus


def with_new_knowledge(nexus: kiprdf.Nexus) -> kiprdf.Nexus:
    """A fact about each imported fact, with metadata, by a concept that no import brought."""
    nexus.execute(
        'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Reader"} }'
        ' CONCEPT ?p { {type: "$PropositionType", name: "doubts"} }'
        ' CONCEPT ?r { {type: "Reader", name: "R"} SET ATTRIBUTES { age: 5, name: "R" } } }'
    )
    links = list(nexus.find("FIND(?l.id) WHERE { ?l (?s, ?p, ?o) }"))
    for (link,) in (row.values() for row in links):
        nexus.execute(
            'UPSERT { PROPOSITION ?p { ({type: "Reader", name: "R"}, "doubts", (id: "'
            f'{link}")) }} }} WITH METADATA {{ source: "the reader" }}'
        )
    return nexus


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_was_imported_is_written_as_it_was(document: str) -> None:
    profile = "rdf11" if document == "a statement" else "rdf12"
    check_home(DOCUMENTS[document], profile=profile, default_type="Thing")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_was_imported_is_written_as_it_was_beside_new_knowledge(document: str) -> None:
    nexus = with_new_knowledge(imported(document))
    text = nexus.snapshot(mapping="original", only="imported")
    assert isomorphic(graph(text), graph(PREFIXES + DOCUMENTS[document]))


@pytest.mark.parametrize("format", RDFLIB_FORMATS)
@pytest.mark.parametrize("document", ["people", "a statement"])
def test_every_format_has_the_same_triples(document: str, format: str) -> None:
    text = imported(document).snapshot(format=format, mapping="original", only="imported")
    assert isomorphic(graph(text, RDFLIB_FORMATS[format]), graph(PREFIXES + DOCUMENTS[document]))


@pytest.mark.parametrize("format", RDFLIB_FORMATS)
def test_a_whole_snapshot_has_what_was_imported_and_the_rest(format: str) -> None:
    nexus = with_new_knowledge(imported("people"))
    whole = graph(nexus.snapshot(format=format, mapping="original"), RDFLIB_FORMATS[format])
    ada, foaf = rdflib.URIRef("https://example.org/ada"), rdflib.Namespace(FOAF)
    assert {str(one) for one in whole.objects(ada, foaf.nick)} == {"Ada", "Countess"}
    assert str(whole.value(ada, rdflib.URIRef("urn:kip:vocab/id"))) == "C:Person/Ada Lovelace"
    assert "the reader" in map(str, whole.objects())


def test_a_changed_value_is_written_under_its_property() -> None:
    nexus = imported("people")
    nexus.execute('UPDATE ?p SET ATTRIBUTES { age: 37 } WHERE { ?p {name: "Ada Lovelace"} }')
    written = graph(nexus.snapshot(mapping="original", only="imported"))
    expected = graph(PREFIXES + DOCUMENTS["people"].replace("foaf:age 36", "foaf:age 37"))
    assert isomorphic(written, expected)


def test_an_iri_of_two_elements_is_an_error_that_names_both() -> None:
    nexus = imported("people")
    nexus.execute(
        'UPSERT { CONCEPT ?p { {type: "Person", name: "Another"}'
        ' SET ATTRIBUTES { same_as: "https://example.org/ada" } } }'
    )
    with pytest.raises(kiprdf.KipError) as error:
        nexus.snapshot(mapping="original")
    assert error.value.code == "KIP_3003"
    assert "'C:Person/Ada Lovelace'" in error.value.message
    assert "'C:Person/Another'" in error.value.message


def test_original_cannot_be_combined_with_another_mapping() -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001 The mapping 'original' cannot be combined"):
        imported("people").snapshot(mapping=["original", "foaf"])


def test_only_needs_the_mapping() -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001 Only the mapping 'original' can select"):
        imported("people").snapshot(only="imported")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("original", "KIP_1001 A snapshot with the mapping original is for other tools"),
        (None, "KIP_2002 This was written with the mapping original"),
    ],
)
def test_a_snapshot_under_original_iris_is_not_restored(
    mapping: str | None, message: str, tmp_path: Path
) -> None:
    nexus = imported("names")
    nexus.snapshot(tmp_path / "original.nt", mapping="original")
    restored = kiprdf.Nexus.memory(genesis=False)
    with pytest.raises(kiprdf.KipError, match=message) as error:
        restored.restore(tmp_path / "original.nt", mapping=mapping)
    assert error.value.hint == "Restore a snapshot that was written without this mapping."
    assert restored.info()["concepts"] == 0
    restored.restore(nexus.snapshot())
    assert restored.snapshot() == nexus.snapshot()


def test_a_changed_iri_is_the_one_that_is_written() -> None:
    nexus = imported("people")
    nexus.execute(
        'UPDATE ?p SET ATTRIBUTES { same_as: "https://other.example/ada" }'
        ' WHERE { ?p {name: "Ada Lovelace"} }'
    )
    written = graph(nexus.snapshot(mapping="original", only="imported"))
    changed = (PREFIXES + DOCUMENTS["people"]).replace("ex:ada", "<https://other.example/ada>")
    assert isomorphic(written, graph(changed))


def test_an_imported_concept_without_iri_is_not_left_out_silently() -> None:
    nexus = imported("people")
    nexus.execute('DELETE ATTRIBUTES {"same_as"} FROM ?p WHERE { ?p {name: "Ada Lovelace"} }')
    with pytest.raises(kiprdf.KipError, match="'C:Person/Ada Lovelace' was imported, but has no"):
        nexus.snapshot(mapping="original", only="imported")
    nexus.execute('DELETE METADATA {"imported_at"} FROM ?p WHERE { ?p {name: "Ada Lovelace"} }')
    assert "ada" not in nexus.snapshot(mapping="original", only="imported")


@pytest.mark.parametrize(
    "definition",
    [
        '{ iri: 5, instance_schema: "x" }',
        '{ iri: "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", name_iri: "urn:kip:vocab/id" }',
        '{ instance_schema: { age: { iri: "no iri" }, nick: { iri: "urn:kip:attribute/age" },'
        ' name: { iri: "http://x.example/n", datatype: "http://[", language: "not a tag" } } }',
    ],
)
def test_definitions_changed_by_hand_never_prevent_an_export(definition: str) -> None:
    nexus = imported("people")
    nexus.execute(
        'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Person"}'
        f" SET ATTRIBUTES {definition} }} }}"
    )
    assert "C:Person/Ada Lovelace" in nexus.snapshot(mapping="original")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("ex:a a ex:T ; <https://example.org/> 5 .", "cannot be the name of an XML element"),
        (r'ex:a a ex:T ; ex:p "\u0001" .', "has characters that XML does not allow"),
    ],
)
def test_rdf_xml_refuses_what_xml_cannot_have(statement: str, message: str) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.import_rdf(PREFIXES + statement, define=True)
    with pytest.raises(kiprdf.KipError, match=f"KIP_1001 .*{message}"):
        nexus.snapshot(format="rdfxml", mapping="original", only="imported")
