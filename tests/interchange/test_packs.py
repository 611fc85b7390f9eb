"""What the packs make of documents as their vocabularies are used: what is a link stays one.

Each document of ``packs/*.txt`` is followed by all that it becomes: concepts with their values,
then propositions.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kiprdf
from kiprdf.interchange.mapping.contexts import packs
from tests.nexus.support import empty, restored

PREFIXES = """
@prefix : <https://example.org/> .
@prefix dc: <http://purl.org/dc/elements/1.1/> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <https://schema.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
WIKIBASE = """
@prefix geo: <http://www.opengis.net/ont/geosparql#> .
@prefix schema: <http://schema.org/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix s: <http://www.wikidata.org/entity/statement/> .
@prefix ref: <http://www.wikidata.org/reference/> .
@prefix v: <http://www.wikidata.org/value/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix wdtn: <http://www.wikidata.org/prop/direct-normalized/> .
@prefix wdno: <http://www.wikidata.org/prop/novalue/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix psn: <http://www.wikidata.org/prop/statement/value-normalized/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix pr: <http://www.wikidata.org/prop/reference/> .
"""


OURS = ("original", "same_as", "imported_at")
FOLDER = Path(__file__).parent / "packs"


def read(turtle: str, pack: str) -> list[str]:
    """What a document becomes: concepts as ``Type name {values}``, propositions as sentences."""
    nexus = empty()
    prefixes = PREFIXES + (WIKIBASE if pack == "wikidata" else "")
    nexus.import_rdf(prefixes + turtle, mapping=pack, define=True, default_type="Thing")
    columns = nexus.execute(
        "FIND(?c.type, ?c.name, ?c.attributes, ?c.metadata) WHERE { ?c {} } "
        "ORDER BY ?c.type ASC, ?c.name ASC"
    )
    lines = []
    for type_, name, attributes, metadata in zip(*columns, strict=True):
        if type_.startswith("$"):
            continue
        values = {**attributes, **metadata}
        shown = {
            key: values[key]
            for key in sorted(values)
            if not key.startswith("_") and key not in OURS
        }
        lines.append(f"{type_} {name}" + (f" {json.dumps(shown)}" if shown else ""))
    facts = nexus.execute(
        "FIND(?s.name, ?f.predicate, ?o.name, ?f.attributes, ?f.metadata.references) "
        "WHERE { ?f (?s, ?p, ?o) }"
    )
    sentences = []
    for subject, predicate, object_, attributes, references in zip(*facts, strict=True):
        values = {key: attributes[key] for key in sorted(attributes) if key not in OURS}
        if references is not None:
            values["references"] = references
        stated = f"{subject} {predicate} {object_}"
        sentences.append(stated + (f" {json.dumps(values)}" if values else ""))
    return lines + sorted(sentences)


def documents(pack: str) -> list[tuple[str, list[str]]]:
    """The documents of a pack and what each becomes, in indented lines below it."""
    blocks = (FOLDER / f"{pack}.txt").read_text("utf-8").strip().split("\n\n")
    return [
        (
            "\n".join(line for line in block.split("\n") if not line.startswith("    ")),
            [line.strip() for line in block.split("\n") if line.startswith("    ")],
        )
        for block in blocks
    ]


@pytest.mark.parametrize(
    ("pack", "turtle", "expected"),
    [
        (path.stem, turtle, expected)
        for path in sorted(FOLDER.glob("*.txt"))
        for turtle, expected in documents(path.stem)
    ],
)
def test_a_document_becomes_what_it_states(pack: str, turtle: str, expected: list[str]) -> None:
    assert read(turtle, pack) == expected


def test_each_pack_is_tried_on_ten_documents() -> None:
    assert {path.stem: len(documents(path.stem)) for path in FOLDER.glob("*.txt")} == dict.fromkeys(
        packs(), 10
    )


@pytest.mark.parametrize("order", [["foaf", "skos"], ["skos", "foaf"], ["dcterms", "foaf", "skos"]])
def test_the_label_of_a_concept_is_no_metadata_with_several_packs(order: list[str]) -> None:
    nexus = empty()
    nexus.import_rdf(
        PREFIXES + ':tea a skos:Concept ; skos:prefLabel "tea"@en .', mapping=order, define=True
    )
    (metadata,) = nexus.execute('FIND(?c.metadata) WHERE { ?c {type: "Concept", name: "tea"} }')
    assert "name" not in metadata


ABOUT_A_BOOK = {
    "schema-org": (
        ':book a schema:Book ; schema:name "Notes" ; schema:author "Ada" ;'
        ' schema:dateCreated "1843-01-01T00:00:00Z"^^xsd:dateTime ; schema:citation "Sketch" ;'
        ' schema:validFrom "1843-09-01T00:00:00Z"^^xsd:dateTime ;'
        ' schema:validThrough "1852-11-27T00:00:00Z"^^xsd:dateTime ;'
        ' schema:expires "1900-01-01T00:00:00Z"^^xsd:dateTime ;'
        ' schema:creativeWorkStatus "published" .',
        {
            "author": "Ada",
            "created_at": "1843-01-01T00:00:00Z",
            "source": "Sketch",
            "valid_from": "1843-09-01T00:00:00Z",
            "valid_until": "1852-11-27T00:00:00Z",
            "expires_at": "1900-01-01T00:00:00Z",
            "status": "published",
        },
    ),
    "dcterms": (
        ':book a :Book ; dcterms:title "Notes" ; dc:creator "Ada" ; dcterms:source "Sketch" ;'
        ' dcterms:created "1843-01-01T00:00:00Z"^^xsd:dateTime ; dcterms:references "G" ;'
        ' dcterms:isReplacedBy "second edition" .',
        {
            "author": "Ada",
            "source": "Sketch",
            "created_at": "1843-01-01T00:00:00Z",
            "evidence": "G",
            "superseded_by": "second edition",
        },
    ),
    "prov": (
        ':book a prov:Entity ; rdfs:label "Notes" ;'
        ' prov:generatedAtTime "1843-01-01T00:00:00Z"^^xsd:dateTime ;'
        ' prov:invalidatedAtTime "1852-11-27T00:00:00Z"^^xsd:dateTime .',
        {"created_at": "1843-01-01T00:00:00Z", "valid_until": "1852-11-27T00:00:00Z"},
    ),
}
OUR_PROVENANCE = {"source": "books.ttl", "author": "the librarian", "created_at": "2026-01-01"}


def book(nexus: kiprdf.Nexus) -> tuple[dict[str, object], dict[str, object]]:
    """The attributes and the metadata of the book, without names, IRIs and times of writing."""
    ((attributes, metadata),) = nexus.find(
        'FIND(?b.attributes, ?b.metadata) WHERE { ?b {name: "Notes"} }'
    ).tuples()
    left_out = ("name", "title", "same_as", "imported_at")
    return tuple(  # type: ignore[return-value]
        {k: v for k, v in values.items() if k not in left_out and k[0] != "_"}
        for values in (attributes, metadata)
    )


@pytest.mark.parametrize("pack", ABOUT_A_BOOK)
def test_what_a_file_states_of_a_thing_is_no_provenance_of_our_record(pack: str) -> None:
    nexus, (text, expected) = empty(), ABOUT_A_BOOK[pack]
    nexus.import_rdf(PREFIXES + text, mapping=pack, define=True, metadata=OUR_PROVENANCE)
    assert book(nexus) == (expected, OUR_PROVENANCE)


@pytest.mark.parametrize("pack", ABOUT_A_BOOK)
def test_a_thing_and_its_record_stay_apart_on_the_way_out_and_home(pack: str) -> None:
    nexus, (text, expected) = empty(), ABOUT_A_BOOK[pack]
    nexus.import_rdf(PREFIXES + text, mapping=pack, define=True, metadata=OUR_PROVENANCE)
    written = nexus.snapshot(mapping=pack, format="ntriples")
    # A record has no author in the words of a book.
    of_book = [line for line in written.splitlines() if "/Notes> " in line]
    assert not [line for line in of_book if "librarian" in line and "urn:kip:metadata" not in line]
    stated = {line.split(" ", 2)[2] for line in of_book if "urn:kip" not in line.split(" ")[1]}
    assert {f'"{value}"' for value in expected.values()} <= {
        one.removesuffix(" .").split("^^")[0] for one in stated
    }
    other = empty()
    other.import_rdf(written, mapping=pack, format="ntriples", define=True)
    assert book(other) == (expected, OUR_PROVENANCE)


def test_provenance_of_a_statement_comes_home_as_its_provenance() -> None:
    nexus = empty()
    nexus.import_rdf(
        PREFIXES
        + ':a a :T ; :likes :b {| dcterms:source "letter" ; dc:creator "Ada" |} . :b a :T .',
        mapping="dcterms",
        define=True,
    )
    facts = 'FIND(?l.metadata.source, ?l.metadata.author) WHERE { ?l (?a, "likes", ?b) }'
    assert nexus.execute(facts) == [["letter"], ["Ada"]]
    written = nexus.snapshot(mapping="dcterms", format="ntriples")
    assert '<http://purl.org/dc/elements/1.1/creator> "Ada"' in written
    other = empty()
    other.import_rdf(written, mapping="dcterms", format="ntriples", define=True)
    assert other.execute(facts) == [["letter"], ["Ada"]]


def test_a_time_that_the_data_state_is_no_metadata_of_the_engine() -> None:
    nexus = empty()
    modified = ':tea a skos:Concept ; dcterms:modified "2024-03-01T12:30:00+01:00"^^xsd:dateTime .'
    nexus.import_rdf(PREFIXES + modified, mapping=["dcterms", "skos"], define=True)
    question = 'FIND(?c.attributes.modified) WHERE { ?c {type: "Concept", name: "tea"} }'
    assert nexus.execute(question) == ["2024-03-01T12:30:00+01:00"]


MODIFIED = {
    "schema-org": ("schema:dateModified", "dateModified"),
    "dcterms": ("dcterms:modified", "modified"),
}


@pytest.mark.parametrize("pack", MODIFIED)
def test_the_time_of_a_thing_is_not_that_of_its_record(pack: str) -> None:
    nexus, (property, key) = empty(), MODIFIED[pack]
    text = f'{PREFIXES} :b a :T ; rdfs:label "B" ; {property} "2020-01-01" .'
    nexus.import_rdf(f'{text} :c a :T ; rdfs:label "C" .', mapping=pack, define=True)
    written = nexus.snapshot(mapping=pack, format="ntriples")
    iri = property.replace("schema:", "https://schema.org/")
    iri = iri.replace("dcterms:", "http://purl.org/dc/terms/")
    lines = [line for line in written.splitlines() if "/T/" in line.split(" ")[0]]
    stated = [line for line in lines if f"<{iri}>" in line]
    assert [line.split(" ", 2)[2] for line in stated] == ['"2020-01-01" .']
    assert sum("<urn:kip:metadata/_updated_at>" in line for line in lines) == 2
    assert restored(nexus, mapping=pack).snapshot() == nexus.snapshot()
    other = empty()
    other.import_rdf(written, mapping=pack, format="ntriples", define=True)
    assert other.execute(
        f'FIND(?b.attributes.{key}) WHERE {{ ?b {{type: "T"}} }} ORDER BY ?b.name'
    ) == [
        "2020-01-01",
        None,
    ]


@pytest.mark.parametrize("pack", MODIFIED)
def test_the_time_of_a_statement_is_that_of_its_record(pack: str) -> None:
    nexus, (property, key) = empty(), MODIFIED[pack]
    text = f'{PREFIXES} :a :p :b {{| {property} "2020-01-01" |}} . :a a :T . :b a :T .'
    nexus.import_rdf(text, mapping=pack, define=True)
    assert nexus.execute(f'FIND(?l.attributes.{key}) WHERE {{ ?l (?a, "p", ?b) }}') == [
        "2020-01-01"
    ]
    written = nexus.snapshot(mapping=pack, format="ntriples")
    assert f'<urn:kip:attribute/{key}> "2020-01-01"' in written
    assert restored(nexus, mapping=pack).snapshot() == nexus.snapshot()
