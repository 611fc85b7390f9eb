"""The description of a dataset: every count counted again, by hand and by SPARQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyoxigraph
import pytest
import rdflib
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple
from rdflib.namespace import DCTERMS, RDF, VOID

import kiprdf
from kiprdf import Mapping
from kiprdf.interchange.description import About, Counts, Dump, describe
from tests.interchange.nexuses import colliding, demonstration, hostile, small, thousands

TYPE = NamedNode(str(RDF.type))
UPDATED = NamedNode("urn:kip:metadata/_updated_at")


def node(name: str) -> NamedNode:
    return NamedNode(f"https://data.example.org/kb/{name}")


GRAPH = [
    Triple(node("a"), TYPE, node("T")),
    Triple(node("b"), TYPE, node("T")),
    Triple(node("b"), node("p"), node("a")),
    Triple(node("a"), UPDATED, Literal("2026-01-01T00:00:00.000Z")),
    Triple(node("b"), UPDATED, Literal("2026-02-01T00:00:00.000Z")),
]
DUMPS = (
    Dump("nexus.nt", "N-Triples", "application/n-triples", "N-Triples", 321),
    Dump("nexus.rdf12.ttl", "Turtle 1.2", "text/turtle", "Turtle", 99, triples=7),
)


FIVE = About("Five triples")


def described(address: str | None = None, about: About = FIVE) -> rdflib.Graph:
    triples = describe(
        Counts.of(GRAPH),
        "https://data.example.org/kb/",
        about=about,
        address=address,
        dumps=DUMPS,
        examples=[node("a")],
        roots=[node("b")],
    )
    text = pyoxigraph.serialize(triples, format=RdfFormat.N_TRIPLES)
    assert text is not None
    return rdflib.Graph().parse(data=text, format="nt")


def dataset_of(graph: rdflib.Graph) -> rdflib.URIRef:
    (dataset,) = graph.subjects(RDF.type, rdflib.DCAT.Dataset)
    assert isinstance(dataset, rdflib.URIRef)
    return dataset


def numbers(graph: rdflib.Graph, about: rdflib.term.Node) -> dict[str, int]:
    """The counts of a dataset, by the names of their terms."""
    names = ("triples", "entities", "classes", "properties", "distinctSubjects", "distinctObjects")
    return {name: int(value) for name in names for value in graph.objects(about, VOID[name])}


def partitions(graph: rdflib.Graph, kind: str, counted: str) -> dict[str, int]:
    return {
        str(iri): int(number)
        for part, iri in graph.subject_objects(VOID[kind])
        for number in graph.objects(part, VOID[counted])
    }


def test_a_graph_of_five_triples_is_described_by_its_counts() -> None:
    graph = described()
    dataset = dataset_of(graph)
    assert dataset == rdflib.URIRef("https://data.example.org/kb/void.ttl#dataset")
    assert numbers(graph, dataset) == {
        "triples": 5,
        "entities": 2,
        "classes": 1,
        "properties": 3,
        "distinctSubjects": 2,
        "distinctObjects": 4,
    }
    assert partitions(graph, "class", "entities") == {"https://data.example.org/kb/T": 2}
    assert partitions(graph, "property", "triples") == {
        "https://data.example.org/kb/p": 1,
        str(RDF.type): 2,
        UPDATED.value: 2,
    }
    assert [str(space) for space in sorted(graph.objects(dataset, VOID.vocabulary))] == [
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "https://data.example.org/kb/",
        "urn:kip:metadata/",
    ]


def test_the_last_change_of_an_element_is_that_of_the_dataset() -> None:
    graph = described()
    (modified,) = graph.objects(dataset_of(graph), DCTERMS.modified)
    assert modified.toPython().isoformat() == "2026-02-01T00:00:00+00:00"


def test_each_dump_is_a_distribution_with_size_and_media_type() -> None:
    graph = described()
    distributions = {
        str(graph.value(one, rdflib.DCAT.downloadURL)): (
            str(graph.value(one, rdflib.DCAT.mediaType)),
            int(graph.value(one, rdflib.DCAT.byteSize)),
        )
        for one in graph.objects(dataset_of(graph), rdflib.DCAT.distribution)
    }
    media_types = "https://www.iana.org/assignments/media-types/"
    assert distributions == {
        "https://data.example.org/kb/nexus.nt": (media_types + "application/n-triples", 321),
        "https://data.example.org/kb/nexus.rdf12.ttl": (media_types + "text/turtle", 99),
    }


def test_a_dump_in_rdf12_is_another_form_with_its_own_number_of_triples() -> None:
    graph = described()
    dataset = dataset_of(graph)
    dumps = [str(file) for file in graph.objects(dataset, VOID.dataDump)]
    assert dumps == ["https://data.example.org/kb/nexus.nt"]
    (form,) = graph.subjects(DCTERMS.isFormatOf, dataset)
    assert numbers(graph, form) == {"triples": 7}


def test_files_may_stand_elsewhere_than_the_iris() -> None:
    graph = described("https://example.com/copy/")
    dataset = dataset_of(graph)
    assert dataset == rdflib.URIRef("https://example.com/copy/void.ttl#dataset")
    (space,) = graph.objects(dataset, VOID.uriSpace)
    assert str(space) == "https://data.example.org/kb/"
    (example,) = graph.objects(dataset, VOID.exampleResource)
    assert str(example) == "https://data.example.org/kb/a"
    (root,) = graph.objects(dataset, VOID.rootResource)
    assert str(root) == "https://data.example.org/kb/b"


BASE = "https://data.example.org/kb/"


@pytest.mark.parametrize(
    ("publisher", "agent"),
    [
        ("Acme Pharmacy", f"{BASE}void.ttl#publisher"),
        ("https://acme.example/#us", "https://acme.example/#us"),
    ],
)
def test_the_publisher_and_the_license_are_described(publisher: str, agent: str) -> None:
    license = "https://creativecommons.org/licenses/by/4.0/"
    graph = described(about=About("Drugs", "What drugs treat.", publisher, license))
    dataset = dataset_of(graph)
    assert graph.value(dataset, DCTERMS.description) == rdflib.Literal("What drugs treat.")
    assert graph.value(dataset, DCTERMS.publisher) == rdflib.URIRef(agent)
    names = list(graph.objects(rdflib.URIRef(agent), rdflib.FOAF.name))
    assert names == ([rdflib.Literal("Acme Pharmacy")] if "void" in agent else [])
    licensed = set(graph.subjects(DCTERMS.license, rdflib.URIRef(license)))
    assert licensed == {dataset, *graph.subjects(RDF.type, rdflib.DCAT.Distribution)}


def test_a_license_that_is_no_address_is_refused() -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001 The license 'CC BY' is not an IRI"):
        About(license="CC BY")


def test_a_description_has_no_blank_nodes() -> None:
    assert not [term for triple in described() for term in triple if isinstance(term, rdflib.BNode)]


# The files of a published nexus ---------------------------------------------------------------

QUERIES = {
    "triples": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "entities": "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }",
    "classes": "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s a ?o }",
    "properties": "SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }",
    "distinctSubjects": "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }",
    "distinctObjects": "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }",
}
CLASSES = "SELECT ?key (COUNT(DISTINCT ?s) AS ?n) { ?s a ?key } GROUP BY ?key"
PROPERTIES = "SELECT ?key (COUNT(*) AS ?n) { ?s ?key ?o } GROUP BY ?key"


def counted(store: pyoxigraph.Store, query: str) -> int:
    (row,) = store.query(query)  # type: ignore[union-attr]
    return int(row["n"].value)


def grouped(store: pyoxigraph.Store, query: str) -> dict[str, int]:
    rows = store.query(query)
    return {row["key"].value: int(row["n"].value) for row in rows}  # type: ignore[union-attr]


@pytest.mark.parametrize("make", [small, demonstration, hostile, colliding, lambda: thousands(300)])
def test_the_counts_are_those_of_sparql_on_the_dump(
    make: Callable[[], kiprdf.Nexus], tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    make().publish(folder)
    store = pyoxigraph.Store()
    store.load(path=str(folder / "nexus.nt"), format=RdfFormat.N_TRIPLES)
    graph = rdflib.Graph().parse(folder / "void.ttl")
    counts = numbers(graph, dataset_of(graph))
    assert counts == {name: counted(store, query) for name, query in QUERIES.items()}
    assert partitions(graph, "class", "entities") == grouped(store, CLASSES)
    assert partitions(graph, "property", "triples") == grouped(store, PROPERTIES)


@pytest.mark.parametrize("pack", ["schema-org", "prov"])
def test_the_counts_are_those_of_the_mapped_dump(pack: str, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    demonstration().publish(folder, mapping=Mapping.load(pack))
    void = rdflib.Graph().parse(folder / "void.ttl")
    graph = rdflib.Graph().parse(folder / "nexus.ttl")
    assert numbers(void, dataset_of(void))["triples"] == len(graph)
    assert partitions(void, "property", "triples") == {
        str(term): len(list(graph.subject_objects(term))) for term in set(graph.predicates())
    }


def test_two_keys_of_one_name_with_one_value_count_once(tmp_path: Path) -> None:
    nexus = small()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "B"} SET ATTRIBUTES { one: "x", two: "x" } } }'
    )
    word = "https://example.org/word"
    mapping = Mapping.load({"@context": {"one": word, "two": word}})
    nexus.publish(tmp_path / "site", mapping=mapping)
    void = rdflib.Graph().parse(tmp_path / "site" / "void.ttl")
    graph = rdflib.Graph().parse(tmp_path / "site" / "nexus.nt", format="nt")
    assert numbers(void, dataset_of(void))["triples"] == len(graph)


def test_the_sizes_and_other_forms_are_those_of_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    place = "https://data.example.org/kb/"
    demonstration().publish(folder, address=place)
    graph = rdflib.Graph().parse(folder / "void.ttl")
    for one in graph.objects(dataset_of(graph), rdflib.DCAT.distribution):
        name = str(graph.value(one, rdflib.DCAT.downloadURL)).removeprefix(place)
        assert (folder / name).stat().st_size == int(graph.value(one, rdflib.DCAT.byteSize)), name
    (form,) = graph.subjects(DCTERMS.isFormatOf)
    text = (folder / "nexus.rdf12.ttl").read_bytes()
    assert numbers(graph, form)["triples"] == len(
        list(pyoxigraph.parse(text, format=RdfFormat.TURTLE))
    )


def test_a_base_that_is_no_place_names_no_files(tmp_path: Path) -> None:
    demonstration().publish(tmp_path / "site")
    graph = rdflib.Graph().parse(tmp_path / "site" / "void.ttl")
    assert str(dataset_of(graph)) == "urn:kip:nexus/void.ttl#dataset"
    for term in (rdflib.VOID.dataDump, rdflib.DCAT.downloadURL, rdflib.DCAT.landingPage):
        assert list(graph.objects(None, term)) == []
