"""Metadata as PROV-O and Dublin Core, domains as SKOS: the terms, and nothing lost."""

from __future__ import annotations

import pytest
import rdflib
from pyoxigraph import RdfFormat, Triple, serialize
from rdflib.namespace import DC, DCTERMS, PROV, SKOS

import kiprdf
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.interchange.provenance import of_domains, of_elements, time_literal
from tests.interchange.nexuses import demonstration, hostile
from tests.nexus.support import StoppedClock

BASE = "https://data.example.org/kb/"
EMMA = rdflib.URIRef(BASE + "Book/Emma")
PERSUASION = rdflib.URIRef(BASE + "Book/Persuasion")
JANE = rdflib.URIRef(BASE + "Person/Jane")
CREATED = "2026-01-02T03:04:05.678Z"
"""The time of the stopped clock."""


def nexus_with(metadata: dict[str, object]) -> kiprdf.Nexus:
    """Two books and a person; the metadata are those of the book Emma."""
    nexus = kiprdf.Nexus.memory(BASE, clock=StoppedClock())
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Book"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Jane"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Book", name: "Persuasion"} } }')
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Book", name: "Emma"} } } WITH METADATA :metadata',
        metadata=metadata,
    )
    return nexus


def knowledge_of(nexus: kiprdf.Nexus) -> Knowledge:
    store = nexus.store
    return Knowledge.of(store.match(None, None, None), store.iris)


def graph_of(triples: list[Triple]) -> rdflib.Graph:
    text = serialize(triples, format=RdfFormat.N_TRIPLES)
    assert text is not None
    return rdflib.Graph().parse(data=text, format="nt")


def provenance_graph(nexus: kiprdf.Nexus) -> rdflib.Graph:
    return graph_of(list(of_elements(knowledge_of(nexus))))


def domain_graph(nexus: kiprdf.Nexus) -> rdflib.Graph:
    return graph_of(list(of_domains(knowledge_of(nexus))))


def moment(value: str) -> rdflib.Literal:
    return rdflib.Literal(value, datatype=rdflib.XSD.dateTime)


CATALOGUE, LETTER = rdflib.URIRef("https://example.org/catalogue"), rdflib.Literal("a letter")
ISBN = rdflib.URIRef("urn:isbn:9780141439587")
LOOK_LIKE_IRIS = (
    *("Demo:TrialSummary", "a: b", "https://a b", "javascript:alert(1)", "urn:x", "C:No/x"),
)
PERIOD = "start=2026-01-01; end=2026-06-30T00:00:00Z; scheme=W3C-DTF;"
ALWAYS = {
    DCTERMS.dateSubmitted: [moment(CREATED)],
    DCTERMS.modified: [moment(CREATED)],
    PROV.generatedAtTime: [moment(CREATED)],
}
TERMS: dict[str, tuple[dict[str, object], dict[rdflib.URIRef, list[rdflib.term.Node]]]] = {
    "nothing but the times of the engine": ({}, {}),
    "a source that is an IRI": (
        {"source": str(CATALOGUE)},
        {DCTERMS.source: [CATALOGUE], PROV.wasDerivedFrom: [CATALOGUE]},
    ),
    **{
        f"a source that only looks like an IRI: {source}": (
            {"source": source},
            {DC.source: [rdflib.Literal(source)]},
        )
        for source in LOOK_LIKE_IRIS
    },
    "a source that is an id": (
        {"source": "C:Book/Persuasion"},
        {DCTERMS.source: [PERSUASION], PROV.wasDerivedFrom: [PERSUASION]},
    ),
    "evidence of several texts and IRIs": (
        {"evidence": ["a letter", str(ISBN), 7, ""]},
        {DC.source: [LETTER], DCTERMS.references: [ISBN], PROV.wasDerivedFrom: [ISBN]},
    ),
    "an author who is a Person": (
        {"author": "Jane"},
        {DCTERMS.creator: [JANE], PROV.wasAttributedTo: [JANE]},
    ),
    "an unknown author": ({"author": "Janet"}, {DC.creator: [rdflib.Literal("Janet")]}),
    "times with their spelling": (
        {"created_at": "1815-12-23", "observed_at": "2026-01-01T10:00:00+01:00"},
        {
            DCTERMS.created: [rdflib.Literal("1815-12-23", datatype=rdflib.XSD.date)],
            DCTERMS.date: [moment("2026-01-01T10:00:00+01:00")],
        },
    ),
    "a time of creation given by the author": (
        {"created_at": "2025-06-01T00:00:00Z"},
        {
            DCTERMS.created: [moment("2025-06-01T00:00:00Z")],
            PROV.generatedAtTime: [moment("2025-06-01T00:00:00Z")],
        },
    ),
    "a validity is one period, and its end invalidates": (
        {"valid_from": "2026-01-01", "valid_until": "2026-06-30T00:00:00Z"},
        {
            DCTERMS.valid: [rdflib.Literal(PERIOD, datatype=DCTERMS.Period)],
            PROV.invalidatedAtTime: [moment("2026-06-30T00:00:00Z")],
        },
    ),
    "a successor": ({"superseded_by": "C:Book/Persuasion"}, {DCTERMS.isReplacedBy: [PERSUASION]}),
    "keys without a term": ({"confidence": 0.8, "status": "draft"}, {}),
}


@pytest.mark.parametrize(("metadata", "expected"), TERMS.values(), ids=TERMS)
def test_metadata_become_these_terms_and_no_others(
    metadata: dict[str, object], expected: dict[rdflib.URIRef, list[rdflib.term.Node]]
) -> None:
    graph = provenance_graph(nexus_with(metadata))
    terms = {term: list(graph.objects(EMMA, term)) for term in set(graph.predicates(EMMA))}
    assert {term: [node.n3() for node in nodes] for term, nodes in terms.items()} == {
        term: [node.n3() for node in nodes] for term, nodes in {**ALWAYS, **expected}.items()
    }


def test_a_successor_is_a_revision() -> None:
    graph = provenance_graph(nexus_with({"superseded_by": "C:Book/Persuasion"}))
    assert list(graph.objects(PERSUASION, PROV.wasRevisionOf)) == [EMMA]


@pytest.mark.parametrize(
    "value", ["2026-02-30", "2026-13-01", "2026-01-01T25:00:00Z", "last week", "2026", "", 7, None]
)
def test_a_value_that_is_not_a_time_has_no_time_literal(value: object) -> None:
    assert time_literal(value) is None


def test_a_merged_concept_replaces_the_other() -> None:
    nexus = nexus_with({})
    nexus.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Book", name: "Persuasion"} '
        '?b {type: "Book", name: "Emma"} }'
    )
    assert list(provenance_graph(nexus).objects(EMMA, DCTERMS.replaces)) == [PERSUASION]


def test_the_provenance_of_a_fact_is_that_of_its_reifier() -> None:
    nexus = nexus_with({})
    nexus.execute(
        'UPSERT { PROPOSITION { ({type: "Person", name: "Jane"}, "knows", {type: "Person", '
        'name: "$self"}) } } WITH METADATA { author: "Jane" }'
    )
    (fact,) = nexus.execute('FIND(?l.id) WHERE { ?l (?a, "knows", ?b) }')
    link = nexus.store.iris.from_id(fact)
    assert link is not None
    agents = provenance_graph(nexus).objects(rdflib.URIRef(link.value), PROV.wasAttributedTo)
    assert list(agents) == [JANE]


@pytest.mark.parametrize("make", [demonstration, hostile])
def test_no_triple_of_the_dataset_is_repeated_and_every_triple_is_valid(make: object) -> None:
    store = make().store  # type: ignore[operator]
    dataset = set(store.match(None, None, None))
    added = list(of_elements(Knowledge.of(dataset, store.iris)))
    assert added
    assert not dataset & set(added)
    assert len(graph_of(added)) == len(set(added))


# Domains --------------------------------------------------------------------------------------


def test_a_domain_is_a_scheme_of_its_members() -> None:
    graph = domain_graph(demonstration())
    medical = rdflib.URIRef("urn:kip:nexus/Domain/Medical")
    aspirin = rdflib.URIRef("urn:kip:nexus/Drug/Aspirin")
    schemes = set(graph.subjects(rdflib.RDF.type, SKOS.ConceptScheme))
    assert len(schemes) == 5
    assert medical in schemes
    assert len(list(graph.subjects(SKOS.inScheme, medical))) == 43
    assert list(graph.objects(aspirin, rdflib.RDF.type)) == [SKOS.Concept]
    assert [str(label) for label in graph.objects(aspirin, SKOS.prefLabel)] == ["Aspirin"]
    aliases = {str(label) for label in graph.objects(aspirin, SKOS.altLabel)}
    assert aliases == {"ASA", "Acetylsalicylic acid", "アスピリン", "阿司匹林"}
    (definition,) = graph.objects(aspirin, SKOS.definition)
    assert str(definition).startswith("Classic remedy against pain and fever")


def test_a_domain_in_a_domain_is_not_a_skos_concept() -> None:
    nexus = kiprdf.Nexus.memory(clock=StoppedClock())
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Domain", name: "Novels"} SET PROPOSITIONS { '
        '("belongs_to_domain", {type: "Domain", name: "Unsorted"}) } } }'
    )
    graph = domain_graph(nexus)
    novels = rdflib.URIRef("urn:kip:nexus/Domain/Novels")
    assert list(graph.objects(novels, rdflib.RDF.type)) == [SKOS.ConceptScheme]
    assert len(list(graph.objects(novels, SKOS.inScheme))) == 1


def test_no_label_is_both_preferred_and_alternative() -> None:
    nexus = nexus_with({})
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Book", name: "Emma"} SET ATTRIBUTES { aliases: ["Emma", "E", '
        '"E", 7] } SET PROPOSITIONS { ("belongs_to_domain", {type: "Domain", name: "Unsorted"}) } }'
        " }"
    )
    labels = domain_graph(nexus).objects(EMMA, SKOS.altLabel)
    assert [str(label) for label in labels] == ["E"]
