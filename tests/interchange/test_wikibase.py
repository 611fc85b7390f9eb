"""Statements of Wikibase are propositions: rank, qualifiers, references, values, languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.nexus.support import empty

FILE = Path(__file__).parent / "wikibase" / "adams.ttl"


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
