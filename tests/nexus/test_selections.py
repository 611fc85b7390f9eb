"""Snapshots of a part of a nexus."""

from __future__ import annotations

import pytest
import rdflib

import kiprdf
from tests.nexus.support import medical, restored


def names(nexus: kiprdf.Nexus, concept_type: str) -> list[str]:
    return list(
        nexus.execute("FIND(?x.name) WHERE { ?x {type: :t} } ORDER BY ?x.name", t=concept_type)
    )


@pytest.mark.parametrize(
    ("select", "drugs", "symptoms"),
    [
        ('FIND(?d) WHERE { ?d {type: "Drug"} }', ["Aspirin"], []),
        ('EXPORT ?d WHERE { ?d {type: "Drug"} }', ["Aspirin"], []),
        ('FIND(?s.name, ?s) WHERE { ?s {type: "Symptom"} }', [], ["Fever", "Headache"]),
        ('FIND(?l) WHERE { ?l (?d, "treats", {name: "Fever"}) }', ["Aspirin"], ["Fever"]),
    ],
)
def test_a_selection_is_restored_with_what_it_refers_to(
    select: str, drugs: list[str], symptoms: list[str]
) -> None:
    nexus = medical()
    part = restored(nexus, select=select)
    types = part.execute("DESCRIBE CONCEPT TYPES")
    assert (names(part, "Drug") if "Drug" in types else []) == drugs
    assert (names(part, "Symptom") if "Symptom" in types else []) == symptoms


@pytest.mark.parametrize(
    "select",
    [
        'FIND(?d.name) WHERE { ?d {type: "Drug"} }',
        'FIND(?d) WHERE { ?d {type: "Drug"} } LIMIT 1',
        'EXPORT ?d WHERE { ?d {type: "Drug"} } LIMIT 1',
        "DESCRIBE PRIMER",
    ],
)
def test_what_selects_no_elements_as_a_whole_is_refused_at_its_place(select: str) -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        medical().snapshot(select=select)
    assert (caught.value.code, caught.value.position) == ("KIP_1001", (1, 1))


def test_provenance_of_elements_and_links_uses_prov_and_dublin_core() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ann"} } '
        'CONCEPT { {type: "Person", name: "Bob"} SET PROPOSITIONS { '
        '("knows", {type: "Person", name: "Ann"}) WITH METADATA { author: "Ann" } } } }'
    )
    graph = rdflib.Graph().parse(data=nexus.provenance(), format="turtle")
    ann = rdflib.URIRef("urn:kip:nexus/Person/Ann")
    (link,) = graph.subjects(rdflib.PROV.wasAttributedTo, ann)
    assert "$proposition/" in str(link)
    schemes = {str(scheme) for scheme in graph.subjects(rdflib.RDF.type, rdflib.SKOS.ConceptScheme)}
    assert "urn:kip:nexus/Domain/CoreSchema" in schemes
