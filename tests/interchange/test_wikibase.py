"""Statements of Wikibase are propositions: rank, qualifiers, references, values, languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import rdflib
from rdflib.compare import isomorphic

import kiprdf
from tests.interchange.test_packs import PREFIXES, WIKIBASE, documents
from tests.nexus.support import empty

FILE = Path(__file__).parent / "wikibase" / "adams.ttl"
TEXT = FILE.read_text()


def imported(language: str | None = "en,de", **options: Any) -> kiprdf.Nexus:
    nexus = empty()
    nexus.import_rdf(FILE, mapping="wikidata", define=True, language=language, **options)
    return nexus


@pytest.fixture(scope="module")
def adams() -> kiprdf.Nexus:
    return imported()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            'FIND(?o.name) WHERE { ?l ({name: "Douglas Adams"}, "occupation", ?o) '
            "FILTER(?l.attributes.truthy) }",
            ["writer", "screenwriter"],
        ),
        (
            'FIND(?o.name) WHERE { ?l (?a, "occupation", ?o) '
            'FILTER(?l.attributes.rank == "deprecated") }',
            ["Q82955"],
        ),
        (
            'FIND(?l.attributes.start_time) WHERE { ?l (?a, "occupation", ?o) '
            'FILTER(?o.name == "screenwriter") }',
            ["1978-01-01T00:00:00Z"],
        ),
        ('FIND(?a.attributes.date_of_birth) WHERE { ?a {name: "Douglas Adams", type: "Item"} }',
         ["1952-03-11T00:00:00Z"]),
        ('FIND(?v.attributes.precision) WHERE { (?a, "date_of_birth", ?v) }', [11]),
        ('FIND(?v.name) WHERE { (?a, "height", ?v) }', ["1.96 metre"]),
        ('FIND(?v.name) WHERE { (?a, "sibling", ?v) }', ["no value"]),
        ('FIND(?v.attributes.kind) WHERE { (?a, "educated_at", ?v) }', ["somevalue"]),
        ('FIND(?a.attributes.VIAF_ID) WHERE { ?a {name: "Douglas Adams", type: "Item"} }',
         ["113230702"]),
        ('FIND(?p.name) WHERE { ?p {type: "$PropositionType"} FILTER(?p.attributes.id == "P106") }',
         ["occupation"]),
        ('FIND(?a.name) WHERE { ?a {type: "Item"} FILTER(?a.attributes.aliases == "DNA") }',
         ["Douglas Adams"]),
    ],
)  # fmt: skip
def test_a_question_is_one_line(adams: kiprdf.Nexus, question: str, answer: list[Any]) -> None:
    assert sorted(adams.execute(question), key=str) == sorted(answer, key=str)


def test_references_are_metadata_of_the_proposition(adams: kiprdf.Nexus) -> None:
    (references,) = adams.execute(
        'FIND(?l.metadata.references) WHERE { ?l (?a, "date_of_birth", ?v) }'
    )
    assert [one.get("reference_URL") or one["stated_in"] for one in references] == [
        "https://example.org/adams",
        {"@id": "http://www.wikidata.org/entity/Q36578"},
    ]


def test_an_import_again_changes_nothing(adams: kiprdf.Nexus) -> None:
    report = adams.import_rdf(FILE, mapping="wikidata", define=True, language="en,de", dry_run=True)
    assert (report["concepts"]["created"], report["concepts"]["updated"]) == (0, 0)
    assert report["propositions"] == {"created": 0, "updated": 0, "unchanged": 13}


def test_a_property_keeps_its_predicate_when_its_label_changes() -> None:
    nexus = imported()
    text = FILE.read_text().replace('"occupation"@en', '"profession"@en')
    nexus.import_rdf(text, mapping="wikidata", define=True, language="en")
    assert nexus.execute(
        'FIND(?p.name) WHERE { ?p {type: "$PropositionType"} FILTER(?p.attributes.id == "P106") }'
    ) == ["occupation"]


def test_predicates_have_english_names_unless_a_language_is_preferred() -> None:
    for language, name in ((None, "occupation"), ("en", "occupation"), ("de", "Tatigkeit")):
        rows = imported(language).execute(
            'FIND(?p.name) WHERE { ?p {type: "$PropositionType"} '
            'FILTER(?p.attributes.id == "P106") }'
        )
        assert rows == [name]


def test_only_the_languages_asked_for_are_imported() -> None:
    nexus = empty()
    report = nexus.import_rdf(FILE, mapping="wikidata", define=True, language="ru")
    assert report["warnings"] == [
        "Labels, descriptions and aliases in 2 other languages are left out."
    ]
    (labels,) = nexus.execute(
        'FIND(?a.attributes.label) WHERE { ?a {type: "Item", name: "Дуглас Адамс"} }'
    )
    assert labels == {"@value": "Дуглас Адамс", "@language": "ru"}


def test_without_define_the_error_names_the_predicates() -> None:
    with pytest.raises(kiprdf.KipError) as error:
        empty().import_rdf(FILE, mapping="wikidata")
    assert error.value.code == "KIP_2001"
    assert "'educated_at'" in error.value.message


def test_an_item_that_is_described_later_is_marked_so() -> None:
    nexus = imported()
    text = FILE.read_text().partition("wdata:Q42")[0]
    nexus.import_rdf(
        text + 'wd:Q82955 a wikibase:Item ; rdfs:label "politician"@en .',
        mapping="wikidata", define=True,
    )  # fmt: skip
    assert nexus.execute(
        "FIND(?a.attributes.undescribed, ?a.attributes.label) "
        'WHERE { ?a {type: "Item", name: "Q82955"} }'
    ) == [[False], [{"@value": "politician", "@language": "en"}]]


@pytest.mark.parametrize(
    "statement",
    [
        "p:P106 s:x .",
        'p:P106 "text" .',
        "p:P106 s:x . s:x ps:P106 wd:Q1 , wd:Q2 .",
        "p:P106 s:x . s:x ps:P31 wd:Q1 .",
    ],
)
def test_a_statement_without_a_single_value_is_in_the_report(statement: str) -> None:
    nexus = empty()
    text = FILE.read_text().partition("wdata:Q42")[0]
    report = nexus.import_rdf(
        f"{text} wd:Q9 a wikibase:Item ; {statement}", mapping="wikidata", define=True
    )
    assert {one["reason"] for one in report["skipped"]} == {"its statement has no single value"}
    assert report["propositions"]["created"] == 0


@pytest.mark.parametrize("graphs", [1, 2])
def test_the_graph_of_a_document_is_metadata(graphs: int) -> None:
    prefixes, _, text = TEXT.partition("wdata:Q42")
    second = "wd:g2 { wd:Q1860 p:P31 s:y . s:y ps:P31 wd:Q34770 . }" if graphs == 2 else ""
    nexus = empty()
    report = nexus.import_rdf(
        f"{prefixes} wd:g {{ wdata:Q42 {text} }} {second}",
        format="trig", mapping="wikidata", define=True,
    )  # fmt: skip
    assert len(report["warnings"]) == graphs - 1
    assert nexus.execute(
        "FIND(?a.metadata.graph, ?l.metadata.graph) "
        'WHERE { ?l (?a, "occupation", ?o) FILTER(?o.name == "Q82955") }'
    ) == [["http://www.wikidata.org/entity/g"], ["http://www.wikidata.org/entity/g"]]


# Back out -------------------------------------------------------------------------------------


def graph(text: str) -> rdflib.Graph:
    return rdflib.Graph().parse(data=text, format="turtle")


@pytest.mark.parametrize(
    "text", [PREFIXES + WIKIBASE + document for document, _ in documents("wikidata")]
)
def test_what_was_imported_is_written_again(text: str) -> None:
    nexus = empty()
    assert nexus.import_rdf(text, mapping="wikidata", define=True)["skipped"] == []
    assert isomorphic(graph(nexus.wikibase()), graph(text))


def test_all_but_what_the_report_skips_is_written_again() -> None:
    nexus = empty()
    (skipped,) = nexus.import_rdf(FILE, mapping="wikidata", define=True)["skipped"]
    missing = graph(TEXT)
    missing.remove((None, rdflib.URIRef("http://wikiba.se/ontology#wikiGroup"), None))
    assert "wikiGroup" in skipped["triple"]
    assert isomorphic(graph(nexus.wikibase()), missing)


@pytest.mark.parametrize(
    ("command", "removed", "added"),
    [
        (
            'UPDATE ?l SET ATTRIBUTES { start_time: "1977-01-01T00:00:00Z" } '
            'WHERE { ?l (?a, "occupation", ?o) FILTER(?o.name == "screenwriter") }',
            [('s:Q42-occupation-2 pq:P580 "1978-01-01T00:00:00Z"^^xsd:dateTime')],
            [('s:Q42-occupation-2 pq:P580 "1977-01-01T00:00:00Z"^^xsd:dateTime')],
        ),
        (
            'UPDATE ?l SET ATTRIBUTES { rank: "preferred" } '
            'WHERE { ?l (?a, "occupation", ?o) FILTER(?o.name == "Q82955") }',
            ["s:Q42-occupation-3 wikibase:rank wikibase:DeprecatedRank"],
            ["s:Q42-occupation-3 wikibase:rank wikibase:PreferredRank"],
        ),
        (
            'UPDATE ?a SET ATTRIBUTES { height: 2.5 } WHERE { ?a {name: "Douglas Adams"} '
            'FILTER(?a.attributes.VIAF_ID == "113230702") }',
            ['wd:Q42 wdt:P2048 "+1.96"^^xsd:decimal'],
            ['wd:Q42 wdt:P2048 "+2.5"^^xsd:decimal'],
        ),
        (
            'UPSERT { CONCEPT { {type: "Item", name: "writer"} '
            'SET PROPOSITIONS { ("occupation", {type: "Item", name: "English"}) } } }',
            [],
            ["wd:Q36180 wdt:P106 wd:Q1860"],
        ),
    ],
)
def test_one_change_changes_one_triple(command: str, removed: list[str], added: list[str]) -> None:
    nexus = imported("en,de,ru")
    before = graph(nexus.wikibase())
    nexus.execute(command)
    prefixes = TEXT.partition("wdata:Q42")[0]
    for triple in graph(prefixes + "".join(f"{line} .\n" for line in removed)):
        assert triple in before
        before.remove(triple)
    for triple in graph(prefixes + "".join(f"{line} .\n" for line in added)):
        before.add(triple)
    assert isomorphic(graph(nexus.wikibase()), before)


@pytest.mark.parametrize(
    "change",
    [
        'rdf: "no Turtle"',
        'same_as: "no IRI"',
        'statements: ["text", {id: "no IRI"}]',
        'rank: 3, types: 4, value_nodes: {"pqv:P580": ["no IRI"], x: 1}',
        "rank: null, truthy: null, start_time: null",
        'label: 5, label_copies: "no IRI", date_of_birth: {"@value": 3}, other_types: "no IRI"',
        'kind: ["text"], value: {"@value": 3}',
    ],
)
def test_values_that_are_no_terms_are_left_out(change: str) -> None:
    nexus = imported()
    nexus.execute(f'UPDATE ?x SET ATTRIBUTES {{ {change} }} WHERE {{ ?x {{type: "Item"}} }}')
    nexus.execute(f'UPDATE ?x SET ATTRIBUTES {{ {change} }} WHERE {{ ?x {{type: "Value"}} }}')
    nexus.execute(
        f"UPDATE ?x SET ATTRIBUTES {{ {change} }} "
        'WHERE { ?x {type: "$PropositionType", name: "occupation"} }'
    )
    nexus.execute(f'UPDATE ?x SET ATTRIBUTES {{ {change} }} WHERE {{ ?x (?a, "occupation", ?o) }}')
    assert len(graph(nexus.wikibase())) > 20


def test_a_nexus_without_wikibase_data_writes_none_of_it() -> None:
    nexus = kiprdf.Nexus.memory()
    assert len(graph(nexus.wikibase())) == 0


def test_a_restored_snapshot_writes_the_same() -> None:
    nexus, copy = imported(None), empty()
    copy.restore(nexus.snapshot())
    assert copy.wikibase() == nexus.wikibase()


def test_a_snapshot_of_what_was_imported_is_in_the_model_of_wikibase() -> None:
    text = TEXT.replace("@ru", "@pt-br") + '\nwd:Q5 rdfs:label "Mensch"@de-at .'
    nexus = empty()
    nexus.import_rdf(text, format="turtle", mapping="wikidata", define=True, default_type="Site")
    nexus.execute(
        'UPSERT { CONCEPT ?c { {type: "Item", name: "new"} SET ATTRIBUTES { seen: true } } }'
    )
    written = nexus.snapshot(mapping="original", only="imported")
    assert isomorphic(rdflib.Graph().parse(data=written), rdflib.Graph().parse(data=text))
