"""Documents of well-known vocabularies go in and come out under their own IRIs.

Each sample is imported with packs and without; then one fact is changed, and nothing else differs.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
import rdflib
from rdflib.compare import isomorphic

import kiprdf

FOLDER = Path(__file__).parent / "samples"


class Sample(NamedTuple):
    """A document, its packs, a change as KIP, and the same change as triples before and after."""

    file: str
    packs: tuple[str, ...]
    change: str
    before: str
    after: str


PREFIXES = """
PREFIX : <https://{}.example/>
PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX schema: <https://schema.org/>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
SAMPLES = {
    "people": Sample(
        "foaf.ttl",
        ("dcterms", "foaf"),
        'UPDATE ?p SET ATTRIBUTES { age: 37 } WHERE { ?p {type: "Person", name: "Ada Lovelace"} }',
        ":ada foaf:age 36 .",
        ":ada foaf:age 37 .",
    ),
    "terms": Sample(
        "skos.ttl",
        ("dcterms", "skos"),
        'DELETE PROPOSITIONS ?l WHERE { ?l ({name: "tea"}, ?b, {name: "pot"}) }',
        ":tea skos:related :pot .",
        "",
    ),
    "books": Sample(
        "schema-org.jsonld",
        ("schema-org",),
        "UPDATE ?b SET ATTRIBUTES { numberOfPages: 211 } "
        'WHERE { ?b {name: "Notes on the Engine"} }',
        ":engine schema:numberOfPages 210 .",
        ":engine schema:numberOfPages 211 .",
    ),
    "data": Sample(
        "dcat.ttl",
        ("dcterms", "foaf", "skos"),
        'UPDATE ?d SET ATTRIBUTES { byteSize: 5120001 } WHERE { ?d {name: "Levels as CSV"} }',
        ':levels-csv <http://www.w3.org/ns/dcat#byteSize> "5120000"^^xsd:nonNegativeInteger .',
        ':levels-csv <http://www.w3.org/ns/dcat#byteSize> "5120001"^^xsd:nonNegativeInteger .',
    ),
    "lab": Sample(
        "prov.ttl",
        ("dcterms", "foaf", "prov"),
        'UPSERT { PROPOSITION { ({type: "Event", name: "Drawing"}, "used", '
        '{type: "Entity", name: "Row 1"}) } }',
        "",
        ":draw prov:used :row1 .",
    ),
}


def parsed(file: str) -> rdflib.Graph:
    return rdflib.Graph().parse(FOLDER / file)


def written(nexus: kiprdf.Nexus) -> rdflib.Graph:
    text = nexus.snapshot(mapping="original", only="imported")
    return rdflib.Graph().parse(data=text)


def imported(sample: Sample, packs: tuple[str, ...] | None) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    report = nexus.import_rdf(FOLDER / sample.file, mapping=packs, define=True, language="en")
    assert report["skipped"] == []
    return nexus


@pytest.mark.parametrize("with_packs", [True, False])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_document_comes_out_as_it_went_in(name: str, with_packs: bool) -> None:
    sample = SAMPLES[name]
    nexus = imported(sample, sample.packs if with_packs else None)
    assert isomorphic(written(nexus), parsed(sample.file))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_changed_fact_is_all_that_differs(name: str) -> None:
    sample = SAMPLES[name]
    nexus = imported(sample, sample.packs)
    nexus.execute(sample.change)
    expected = parsed(sample.file)
    prefixes = PREFIXES.format(name)
    expected.update(f"{prefixes} DELETE DATA {{ {sample.before} }}")
    expected.update(f"{prefixes} INSERT DATA {{ {sample.after} }}")
    assert isomorphic(written(nexus), expected)
    assert not isomorphic(expected, parsed(sample.file))


# Wikidata -----------------------------------------------------------------------------------

WIKIDATA = """
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX s: <http://www.wikidata.org/entity/statement/>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX schema: <http://schema.org/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
COUNTS = """ wd:Q42 wikibase:sitelinks 3 ; schema:version 5 ;
    schema:dateModified "2024-01-01T00:00:00Z"^^xsd:dateTime . """


def wikidata() -> tuple[kiprdf.Nexus, rdflib.Graph]:
    """A nexus and the graph of the same document, with the counts that the query service adds."""
    text = (FOLDER.parent / "wikibase" / "adams.ttl").read_text()
    nexus = kiprdf.Nexus.memory()
    turtle = f"{WIKIDATA}{text}{COUNTS}"
    report = nexus.import_rdf(turtle, mapping="wikidata", define=True)
    graph = rdflib.Graph().parse(data=turtle)
    # The only triple of the report: its subject has no type.
    assert len(report["skipped"]) == 1
    graph.remove((None, rdflib.URIRef("http://wikiba.se/ontology#wikiGroup"), None))
    return nexus, graph


def test_statements_of_wikidata_come_out_as_they_went_in() -> None:
    nexus, graph = wikidata()
    assert isomorphic(written(nexus), graph)


def test_a_changed_rank_is_all_that_differs() -> None:
    nexus, graph = wikidata()
    nexus.execute(
        'UPDATE ?l SET ATTRIBUTES { rank: "preferred" } '
        'WHERE { ?l ({type: "Item", name: "Douglas Adams"}, "height", ?v) }'
    )
    graph.update(
        f"{WIKIDATA} DELETE DATA {{ s:Q42-height wikibase:rank wikibase:NormalRank }} ; "
        f"{WIKIDATA} INSERT DATA {{ s:Q42-height wikibase:rank wikibase:PreferredRank }}"
    )
    assert isomorphic(written(nexus), graph)


# Ontologies ---------------------------------------------------------------------------------

VOCABULARIES = Path(__file__).parent / "vocabularies"
WATER = "PREFIX : <https://water.example/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "


def ontology() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    nexus.import_ontology(FOLDER / "ontology.ttl")
    return nexus


def changed_ontology(update: str) -> rdflib.Graph:
    expected = parsed("ontology.ttl")
    expected.update(WATER + update)
    return expected


@pytest.mark.parametrize("file", ["foaf.nq", "skos.nq"])
def test_a_vocabulary_comes_out_as_it_went_in(file: str) -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.import_ontology(VOCABULARIES / file)
    expected = rdflib.Graph()
    for quad in rdflib.Dataset().parse(VOCABULARIES / file, format="nquads").quads():
        expected.add(quad[:3])
    assert isomorphic(written(nexus), expected)


def test_restrictions_and_the_head_of_an_ontology_come_out_as_they_went_in() -> None:
    nexus = ontology()
    assert isomorphic(written(nexus), parsed("ontology.ttl"))
    nexus.import_ontology(FOLDER / "ontology.ttl")
    assert isomorphic(written(nexus), parsed("ontology.ttl"))


@pytest.mark.parametrize(
    ("change", "update"),
    [
        (
            'UPDATE ?t SET ATTRIBUTES { description: "Wet." } '
            'WHERE { ?t {type: "$ConceptType", name: "Water"} }',
            'DELETE DATA { :Water rdfs:comment "Standing or flowing water."@en } ; '
            'INSERT DATA { :Water rdfs:comment "Wet."@en }',
        ),
        (
            'DELETE PROPOSITIONS ?l WHERE { ?l ({name: "River"}, "subclass_of", {name: "Water"}) }',
            "DELETE DATA { :River rdfs:subClassOf :Water }",
        ),
        (
            'UPSERT { PROPOSITION { ({type: "$ConceptType", name: "Lake"}, "subclass_of", '
            '{type: "$ConceptType", name: "River"}) } }',
            "INSERT DATA { :Lake rdfs:subClassOf :River }",
        ),
    ],
)
def test_a_change_of_a_definition_is_all_that_differs(change: str, update: str) -> None:
    nexus = ontology()
    nexus.execute(change)
    expected = changed_ontology(update.replace("; INSERT", f"; {WATER} INSERT"))
    assert isomorphic(written(nexus), expected)
    assert not isomorphic(expected, parsed("ontology.ttl"))


def test_a_new_version_of_an_ontology_replaces_its_statements(tmp_path: Path) -> None:
    nexus, text = kiprdf.Nexus.memory(), (FOLDER / "ontology.ttl").read_text()
    file = tmp_path / "water.ttl"
    for number in ("1", "2"):
        file.write_text(text.replace('"1"^^', f'"{number}"^^'))
        nexus.import_ontology(file)
    assert isomorphic(written(nexus), rdflib.Graph().parse(file))


def test_an_ontology_and_its_data_come_out_together() -> None:
    nexus = ontology()
    data = "@prefix : <https://water.example/> . :inn a :River ; :length 517.5 ; :flowsInto :pond ."
    data += " :pond a :Lake ."
    nexus.import_rdf(data)
    expected = parsed("ontology.ttl") + rdflib.Graph().parse(data=data)
    assert isomorphic(written(nexus), expected)


# Named graphs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trig",
    [
        ":g1 { :a a :T ; :v 1 ; :p :b . } :g2 { :a :v 2 ; :w 'x'@en . :b a :T . } :c a :T ; :v 3 .",
        ":a a :T . :g1 { :a :v 1 } :g2 { :a :v 2 . }",
        ":a a :T . :g1 { :a a :U ; rdfs:label 'a thing' } :g2 { :a :v 2 . }",
        ":g1 { :a a :T ; :v 1 ; :p :b } :g2 { :a a :T ; :p :b . :b a :T . }",
    ],
)
def test_each_statement_comes_out_in_its_graphs(trig: str) -> None:
    document = f"""@prefix : <https://e.example/> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {trig}"""
    nexus = kiprdf.Nexus.memory()
    nexus.import_rdf(document, format="trig", define=True)
    text = nexus.snapshot(format="trig", mapping="original", only="imported")
    graphs = (rdflib.Dataset().parse(data=one, format="trig") for one in (text, document))
    first, second = (set(graph.quads()) for graph in graphs)
    assert first == second
