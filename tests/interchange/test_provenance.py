"""Metadata as PROV-O and Dublin Core, domains as SKOS: the terms, and nothing lost."""

from __future__ import annotations

import pytest
import rdflib
from pyoxigraph import RdfFormat, Triple, serialize
from rdflib.namespace import DC, DCTERMS, PROV, SKOS

import kiprdf
from kiprdf.interchange.publishing.knowledge import Knowledge
from kiprdf.interchange.publishing.provenance import of_domains, provenance, time_literal
from tests.interchange.nexuses import demonstration, hostile
from tests.nexus.support import StoppedClock

BASE = "https://data.example.org/kb/"
DQV = rdflib.Namespace("http://www.w3.org/ns/dqv#")
META = rdflib.Namespace("urn:kip:metadata/")
EMMA = rdflib.URIRef(BASE + "Book/Emma")
PERSUASION = rdflib.URIRef(BASE + "Book/Persuasion")


def nexus_with(metadata: dict[str, object]) -> kiprdf.Nexus:
    """Two books and a person; what is told of the first is the metadata."""
    nexus = kiprdf.Nexus.memory(BASE, clock=StoppedClock())
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Book"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Jane"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Book", name: "Persuasion"} } }')
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Book", name: "Emma"} } } WITH METADATA :metadata',
        metadata=metadata,
    )
    return nexus


def graph_of(triples: list[Triple]) -> rdflib.Graph:
    text = serialize(triples, format=RdfFormat.N_TRIPLES)
    assert text is not None
    return rdflib.Graph().parse(data=text, format="nt")


def domains_of(nexus: kiprdf.Nexus) -> list[Triple]:
    store = nexus._store
    return list(of_domains(Knowledge.of(store.match(None, None, None), store.iris)))


def told(metadata: dict[str, object]) -> rdflib.Graph:
    """The added triples about Emma and her measurements, of her successors too."""
    store = nexus_with(metadata)._store
    return graph_of(list(provenance(store.match(None, None, None), store.iris)))


def text(value: str) -> rdflib.Literal:
    return rdflib.Literal(value)


def moment(value: str) -> list[str]:
    return [rdflib.Literal(value, datatype=rdflib.XSD.dateTime).n3()]


def objects(graph: rdflib.Graph, term: rdflib.URIRef) -> list[str]:
    return sorted(node.n3() for node in graph.objects(EMMA, term))


def test_a_source_with_an_iri_is_what_the_element_was_derived_from() -> None:
    graph = told({"source": "https://example.org/catalogue"})
    assert objects(graph, DCTERMS.source) == ["<https://example.org/catalogue>"]
    assert objects(graph, PROV.wasDerivedFrom) == ["<https://example.org/catalogue>"]
    assert objects(graph, DC.source) == []


@pytest.mark.parametrize(
    "source", ["Demo:TrialSummary", "a: b", "https://a b", "javascript:alert(1)", "urn:x", "C:No/x"]
)
def test_a_source_that_only_looks_like_an_iri_stays_a_text(source: str) -> None:
    graph = told({"source": source})
    assert list(graph.objects(EMMA, DC.source)) == [text(source)]
    assert objects(graph, PROV.wasDerivedFrom) == []


def test_a_source_that_is_an_id_is_the_element() -> None:
    graph = told({"source": "C:Book/Persuasion"})
    assert objects(graph, PROV.wasDerivedFrom) == [PERSUASION.n3()]


def test_evidence_may_be_several_texts_and_iris() -> None:
    graph = told({"evidence": ["a letter", "urn:isbn:9780141439587", 7, ""]})
    assert list(graph.objects(EMMA, DC.source)) == [text("a letter")]
    assert objects(graph, DCTERMS.references) == ["<urn:isbn:9780141439587>"]
    assert objects(graph, PROV.wasDerivedFrom) == ["<urn:isbn:9780141439587>"]


def test_an_author_who_is_a_person_of_the_nexus_is_the_agent() -> None:
    graph = told({"author": "Jane"})
    assert objects(graph, PROV.wasAttributedTo) == [f"<{BASE}Person/Jane>"]
    assert objects(graph, DCTERMS.creator) == [f"<{BASE}Person/Jane>"]


def test_an_author_nobody_knows_is_a_name_and_no_agent() -> None:
    graph = told({"author": "Janet"})
    assert list(graph.objects(EMMA, DC.creator)) == [text("Janet")]
    assert objects(graph, PROV.wasAttributedTo) == []


def test_times_are_typed_with_their_spelling() -> None:
    graph = told({"created_at": "1815-12-23", "observed_at": "2026-01-01T10:00:00+01:00"})
    assert objects(graph, DCTERMS.created) == [f'"1815-12-23"^^<{rdflib.XSD.date}>']
    assert objects(graph, DCTERMS.date) == moment("2026-01-01T10:00:00+01:00")


def test_the_engine_tells_when_an_element_was_made_unless_its_author_does() -> None:
    made, claimed = "2026-01-02T03:04:05.678Z", "2025-06-01T00:00:00Z"
    assert objects(told({}), PROV.generatedAtTime) == moment(made)
    graph = told({"created_at": claimed})
    assert objects(graph, PROV.generatedAtTime) == moment(claimed)
    assert objects(graph, DCTERMS.dateSubmitted) == moment(made)
    assert objects(graph, DCTERMS.modified) == moment(made)


@pytest.mark.parametrize(
    "value", ["2026-02-30", "2026-13-01", "2026-01-01T25:00:00Z", "last week", "2026", "", 7, None]
)
def test_what_is_no_time_gets_no_time(value: object) -> None:
    assert time_literal(value) is None


def test_validity_is_one_period_and_its_end_invalidates() -> None:
    graph = told({"valid_from": "2026-01-01", "valid_until": "2026-06-30T00:00:00Z"})
    period = "start=2026-01-01; end=2026-06-30T00:00:00Z; scheme=W3C-DTF;"
    assert objects(graph, DCTERMS.valid) == [f'"{period}"^^<{DCTERMS.Period}>']
    assert objects(graph, PROV.invalidatedAtTime) == moment("2026-06-30T00:00:00Z")


def test_what_supersedes_is_a_revision() -> None:
    graph = told({"superseded_by": "C:Book/Persuasion"})
    assert objects(graph, DCTERMS.isReplacedBy) == [PERSUASION.n3()]
    assert list(graph.objects(PERSUASION, PROV.wasRevisionOf)) == [EMMA]


def test_a_merge_is_told_by_what_was_replaced() -> None:
    nexus = nexus_with({})
    nexus.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Book", name: "Persuasion"} '
        '?b {type: "Book", name: "Emma"} }'
    )
    store = nexus._store
    graph = graph_of(list(provenance(store.match(None, None, None), store.iris)))
    assert objects(graph, DCTERMS.replaces) == [PERSUASION.n3()]


def test_confidence_is_a_measurement_of_quality() -> None:
    graph = told({"confidence": 0.8})
    (measurement,) = graph.objects(EMMA, DQV.hasQualityMeasurement)
    assert measurement == rdflib.URIRef(f"{EMMA}#confidence")
    assert list(graph.objects(measurement, DQV.isMeasurementOf)) == [META.confidence]
    assert [value.toPython() for value in graph.objects(measurement, DQV.value)] == [0.8]


def test_a_confidence_that_is_no_number_is_no_measurement() -> None:
    assert objects(told({"confidence": "high"}), DQV.hasQualityMeasurement) == []


def test_a_fact_has_its_provenance_on_the_reifier() -> None:
    nexus = nexus_with({})
    nexus.execute(
        'UPSERT { PROPOSITION { ({type: "Person", name: "Jane"}, "knows", {type: "Person", '
        'name: "$self"}) } } WITH METADATA { author: "Jane" }'
    )
    (fact,) = nexus.execute('FIND(?l.id) WHERE { ?l (?a, "knows", ?b) }')
    store = nexus._store
    link = store.iris.from_id(fact)
    assert link is not None
    graph = graph_of(list(provenance(store.match(None, None, None), store.iris)))
    agents = list(graph.objects(rdflib.URIRef(link.value), PROV.wasAttributedTo))
    assert agents == [rdflib.URIRef(BASE + "Person/Jane")]


@pytest.mark.parametrize("make", [demonstration, hostile])
def test_nothing_of_the_dataset_is_said_again_and_every_triple_is_rdf(make: object) -> None:
    store = make()._store  # type: ignore[operator]
    own = set(store.match(None, None, None))
    added = list(provenance(own, store.iris))
    assert added
    assert not own & set(added)
    assert len(graph_of(added)) == len(set(added))


# Domains --------------------------------------------------------------------------------------


def test_domains_are_schemes_of_what_is_filed_there() -> None:
    graph = graph_of(domains_of(demonstration()))
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


def test_a_domain_in_a_domain_is_no_skos_concept() -> None:
    nexus = kiprdf.Nexus.memory(clock=StoppedClock())
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Domain", name: "Novels"} SET PROPOSITIONS { '
        '("belongs_to_domain", {type: "Domain", name: "Unsorted"}) } } }'
    )
    graph = graph_of(domains_of(nexus))
    novels = rdflib.URIRef("urn:kip:nexus/Domain/Novels")
    assert list(graph.objects(novels, rdflib.RDF.type)) == [SKOS.ConceptScheme]
    assert len(list(graph.objects(novels, SKOS.inScheme))) == 1


def test_no_label_is_preferred_and_alternative() -> None:
    nexus = nexus_with({})
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Book", name: "Emma"} SET ATTRIBUTES { aliases: ["Emma", "E", '
        '"E", 7] } SET PROPOSITIONS { ("belongs_to_domain", {type: "Domain", name: "Unsorted"}) } }'
        " }"
    )
    graph = graph_of(domains_of(nexus))
    assert [str(label) for label in graph.objects(EMMA, SKOS.altLabel)] == ["E"]
