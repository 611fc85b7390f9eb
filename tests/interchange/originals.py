"""Imports and what leaves under original IRIs: the same graph, with other blank nodes."""

from __future__ import annotations

from typing import Any

from pyoxigraph import CanonicalizationAlgorithm, Dataset, RdfFormat, parse

import kiprdf
from tests.nexus.support import empty, restored

PREFIXES = """
@prefix : <https://example.org/> .
@prefix ex: <https://example.org/> .
@prefix bibo: <http://purl.org/ontology/bibo/> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix fhir: <http://hl7.org/fhir/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def canonical(text: str, format: str = "trig") -> Dataset:
    """The dataset of a text, equal for texts that differ in blank nodes only."""
    is_json = format == "jsonld"
    chosen = RdfFormat.JSON_LD if is_json else RdfFormat.TRIG
    dataset = Dataset(parse(text if is_json else PREFIXES + text, format=chosen))
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def original(nexus: kiprdf.Nexus, profile: Any = "rdf12") -> Dataset:
    """What was imported into a nexus, under its original IRIs."""
    text = nexus.snapshot(mapping="original", only="imported", format="trig", profile=profile)
    return canonical(text)


def imported(text: str, format: Any = "trig", **options: Any) -> kiprdf.Nexus:
    """A nexus with nothing but a document, of which nothing was skipped."""
    nexus = empty()
    own = text if format == "jsonld" else PREFIXES + text
    assert nexus.import_rdf(own, format=format, define=True, **options)["skipped"] == []
    return nexus


def check_home(
    text: str, format: Any = "trig", profile: Any = "rdf12", **options: Any
) -> dict[str, Any]:
    """Import a text twice: all of it comes home, and the second changes nothing.

    Returns the second report.
    """
    nexus = imported(text, format, **options)
    assert original(nexus, profile) == canonical(text, format)
    own = text if format == "jsonld" else PREFIXES + text
    again = nexus.import_rdf(own, format=format, **options)
    assert again["skipped"] == []
    for kind in ("concepts", "propositions"):
        assert again[kind]["created"] == again[kind]["updated"] == 0, kind
    assert original(nexus, profile) == canonical(text, format)
    assert restored(nexus).snapshot() == nexus.snapshot()
    return again
