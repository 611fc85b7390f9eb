"""Intervals of facts in RDF: a reifier for each, written and read."""

from __future__ import annotations

from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, parse

import kiprdf

ELEMENTS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Company"} }
  CONCEPT { {type: "$PropositionType", name: "works_for"} }
  CONCEPT ?ada { {type: "Person", name: "Ada"} }
  CONCEPT ?acme { {type: "Company", name: "Acme"} }
  CONCEPT ?free { {type: "Company", name: "Free"} }
}
"""
FACTS = """
UPSERT {
  PROPOSITION ?f { ({type: "Person", name: "Ada"}, "works_for", {type: "Company", name: "Acme"}) }
  PROPOSITION { (?f, "valid_during", {type: "Period", name: "2019-01-01/2022-01-01"}) }
  PROPOSITION { (?f, "valid_during", {type: "Period", name: "2024-06-01T12:00:00Z/.."}) }
  PROPOSITION { ({type: "Person", name: "Ada"}, "works_for", {type: "Company", name: "Free"}) }
  WITH METADATA { valid_until: "2021-01-01" }
}
"""
DCTERMS, PROV = "http://purl.org/dc/terms/", "http://www.w3.org/ns/prov#"
REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"
PREFIXES = """
@prefix : <http://x.example/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:ada a :Person ; rdfs:label "Ada" . :acme a :Company ; rdfs:label "Acme" .
"""
DATES = 'prov:generatedAtTime "%sT00:00:00Z"^^xsd:dateTime'
ENDED = DATES + ' ; prov:invalidatedAtTime "%sT00:00:00Z"^^xsd:dateTime'


def with_facts() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(ELEMENTS)
    nexus.execute(FACTS)
    return nexus


def validity(nexus: kiprdf.Nexus) -> dict[str, list[dict[str, Any]]]:
    """The intervals of each fact works_for, by the name of its object."""
    rows = nexus.find('FIND(?l.id, ?c.name) WHERE { ?l (?a, "works_for", ?c) }').tuples()
    return {name: nexus.validity(id) for id, name in rows}


def imported(triples: str) -> tuple[kiprdf.Nexus, dict[str, Any]]:
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_rdf(PREFIXES + triples, format="turtle", define=True)
    return nexus, report


def test_each_interval_has_a_reifier_with_its_times() -> None:
    document = parse(with_facts().provenance(intervals=True), format=RdfFormat.TURTLE)
    quads = [quad for quad in document if "works_for#" in str(quad.subject)]
    reifiers = {quad.subject.value.partition("#")[2]: {} for quad in quads}
    for quad in quads:
        name = quad.predicate.value.replace(DCTERMS, "").replace(PROV, "")
        value = quad.object.value if isinstance(quad.object, Literal) else str(quad.object)
        reifiers[quad.subject.value.partition("#")[2]][name] = value
    ada, works_for = "<urn:kip:nexus/Person/Ada>", "<urn:kip:nexus/$PropositionType/works_for>"
    acme, free = (f"{ada} {works_for} <urn:kip:nexus/Company/{name}>" for name in ("Acme", "Free"))
    assert reifiers == {
        "2019-01-01/2022-01-01": {
            REIFIES: acme,
            "valid": "start=2019-01-01; end=2022-01-01; scheme=W3C-DTF;",
            "generatedAtTime": "2019-01-01T00:00:00Z",
            "invalidatedAtTime": "2022-01-01T00:00:00Z",
        },
        "2024-06-01T12:00:00Z/..": {
            REIFIES: acme,
            "valid": "start=2024-06-01T12:00:00Z; scheme=W3C-DTF;",
            "generatedAtTime": "2024-06-01T12:00:00Z",
        },
        "../2021-01-01": {
            REIFIES: free,
            "valid": "end=2021-01-01; scheme=W3C-DTF;",
            "invalidatedAtTime": "2021-01-01T00:00:00Z",
        },
    }


def test_without_intervals_the_document_has_no_reifiers() -> None:
    document = parse(with_facts().provenance(), format=RdfFormat.TURTLE)
    assert [quad for quad in document if quad.predicate == NamedNode(REIFIES)] == []


def test_intervals_are_the_same_after_export_and_import() -> None:
    nexus, other = with_facts(), kiprdf.Nexus.memory()
    other.execute(ELEMENTS)
    other.import_rdf(nexus.provenance(intervals=True), format="turtle", define=True)
    assert validity(other) == validity(nexus) != {"Acme": [], "Free": []}


@pytest.mark.parametrize(
    ("reifiers", "expected"),
    [
        (
            f":ada :works_for :acme ~ :a {{| {ENDED % ('2019-01-01', '2022-01-01')} |}} "
            f"~ :b {{| {DATES % '2024-01-01'} |}} .",
            [
                {"from": "2019-01-01", "until": "2022-01-01"},
                {"from": "2024-01-01", "until": None},
            ],
        ),
        (
            ':ada :works_for :acme {| dcterms:valid "start=2019; end=2020-06; '
            'scheme=W3C-DTF;"^^dcterms:Period |} .',
            [{"from": "2019-01-01", "until": "2020-06-01"}],
        ),
        (
            ':ada :works_for :acme {| dcterms:valid "2019-01-01/.." |} .',
            [{"from": "2019-01-01", "until": None}],
        ),
        (
            ":ada :works_for :acme . "
            + "".join(
                f"[] a rdf:Statement ; rdf:subject :ada ; rdf:predicate :works_for ; "
                f"rdf:object :acme ; {ENDED % years} . "
                for years in (("2019-01-01", "2020-01-01"), ("2021-01-01", "2022-01-01"))
            ),
            [
                {"from": "2019-01-01", "until": "2020-01-01"},
                {"from": "2021-01-01", "until": "2022-01-01"},
            ],
        ),
    ],
)
def test_reifiers_of_others_are_one_fact_and_its_periods(
    reifiers: str, expected: list[dict[str, Any]]
) -> None:
    nexus, report = imported(reifiers)
    assert validity(nexus) == {"Acme": expected}
    assert report["skipped"] == []
    again = nexus.import_rdf(PREFIXES + reifiers, format="turtle", define=True)
    assert again["propositions"]["created"] == again["concepts"]["created"] == 0


@pytest.mark.parametrize(
    "reifiers",
    [
        f":ada :works_for :acme {{| {DATES % '2019-01-01'} |}} .",
        f":ada :works_for :acme ~ :a {{| {DATES % '2019-01-01'} |}} "
        f"~ :b {{| {DATES % '2020-01-01'} |}} .",
        ':ada :works_for :acme {| dcterms:valid "soon" |} .',
    ],
)
def test_times_that_are_no_intervals_remain_values(reifiers: str) -> None:
    nexus, _ = imported(reifiers)
    assert validity(nexus) == {"Acme": []}
    assert nexus.execute('FIND(COUNT(?p)) WHERE { ?p {type: "Period"} }') == 0
    (attributes,) = nexus.execute('FIND(?l.attributes) WHERE { ?l (?a, "works_for", ?b) }')
    assert attributes.keys() & {"generatedAtTime", "valid"}
