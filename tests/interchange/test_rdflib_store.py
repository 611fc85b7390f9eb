"""A nexus in a graph of rdflib: each write changes the graph, and others' changes are seen."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import rdflib
from rdflib import Dataset, Graph, URIRef
from rdflib.graph import ReadOnlyGraphAggregate
from rdflib.namespace import RDF, RDFS, XSD
from rdflib.plugins.stores.memory import Memory

import kiprdf
from kiprdf.errors import StoreError

BASE = "urn:kip:nexus/"
ASPIRIN = URIRef(BASE + "Drug/Aspirin")
HEADACHE = URIRef(BASE + "Symptom/Headache")
TREATS = URIRef(BASE + "$PropositionType/treats")
RISK = URIRef("urn:kip:attribute/risk")
ASK_RISK = 'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "Aspirin"} }'


def connected(target: Graph, **options: Any) -> kiprdf.Nexus:
    return kiprdf.Nexus.connect(target, genesis=False, **options)


def filled(target: Graph, **options: Any) -> kiprdf.Nexus:
    nexus = connected(target, **options)
    for type in ("Drug", "Symptom"):
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: :type} } }', type=type)
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "treats"} } }')
    nexus.execute(
        'UPSERT { CONCEPT ?s { {type: "Symptom", name: "Headache"} } '
        'CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 2, tags: ["a"] } '
        'SET PROPOSITIONS { ("treats", ?s) } } }'
    )
    return nexus


def test_a_proposition_is_a_fact_and_an_rdf_statement() -> None:
    graph = Graph()
    filled(graph)
    (link,) = graph.subjects(RDF.subject, ASPIRIN)
    assert (ASPIRIN, TREATS, HEADACHE) in graph
    assert set(graph.objects(link, RDF.type)) == {RDF.Statement}
    assert (link, RDF.predicate, TREATS) in graph
    assert (link, RDF.object, HEADACHE) in graph
    assert not [t for t in graph if "urn:kip:graph/" in " ".join(t)]


def test_others_changes_are_seen_by_find_search_and_update() -> None:
    graph = Graph()
    nexus = filled(graph)
    graph.set((ASPIRIN, RISK, rdflib.Literal("03", datatype=XSD.integer, normalize=False)))
    assert nexus.execute(ASK_RISK) == [3]
    graph.add((ASPIRIN, URIRef("urn:kip:attribute/note"), rdflib.Literal("zebra")))
    (seen,) = nexus.execute('SEARCH CONCEPT "zebra"')
    assert seen["name"] == "Aspirin"
    nexus.execute(
        "UPDATE ?d SET ATTRIBUTES { risk: ADD(?d.attributes.risk, 1) } "
        'WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    )
    assert list(graph.objects(ASPIRIN, RISK)) == [rdflib.Literal(4)]


@pytest.mark.parametrize(
    "value",
    [
        rdflib.Literal("seven", datatype=XSD.integer),
        rdflib.Literal("9" * 30, datatype=XSD.integer),
        rdflib.Literal("NaN", datatype=XSD.double),
        rdflib.BNode("nameless"),
    ],
)
def test_what_others_write_that_is_no_value_is_not_read(value: Any) -> None:
    graph = Graph()
    with kiprdf.Nexus.connect(graph) as nexus:
        system = URIRef("urn:kip:nexus/Domain/System")
        graph.add((system, URIRef("urn:kip:attribute/size"), value))
        find = 'FIND(?d.attributes.size) WHERE { ?d {type: "Domain", name: "System"} }'
        assert nexus.execute(find) == [None]
        assert nexus.execute('SEARCH CONCEPT "System" LIMIT 1')[0]["name"] == "System"


def test_a_link_that_others_remove_is_gone() -> None:
    graph = Graph()
    nexus = filled(graph)
    (link,) = list(graph.subjects(RDF.subject, ASPIRIN))
    graph.remove((link, None, None))
    graph.remove((ASPIRIN, TREATS, None))
    assert nexus.execute('FIND(COUNT(?l)) WHERE { ?l (?d, "treats", ?s) }') == 0
    assert nexus.check()["faults"] == []


def test_a_link_that_others_add_is_found() -> None:
    graph = Graph()
    nexus = filled(graph)
    digits = "0" * 16
    link, fever = URIRef(f"{BASE}$proposition/{digits}/treats"), URIRef(BASE + "Symptom/Fever")
    graph.add((fever, RDF.type, URIRef(BASE + "$ConceptType/Symptom")))
    graph.add((fever, RDFS.label, rdflib.Literal("Fever")))
    graph.add((ASPIRIN, TREATS, fever))
    parts = zip((RDF.subject, RDF.predicate, RDF.object), (ASPIRIN, TREATS, fever), strict=True)
    for key, part in ((RDF.type, RDF.Statement), *parts):
        graph.add((link, key, part))
    assert nexus.execute('FIND(?l.object) WHERE { ?l (?d, "treats", {name: "Fever"}) }') == [
        "C:Symptom/Fever"
    ]


def test_a_deleted_concept_leaves_nothing_in_the_graph() -> None:
    graph = Graph()
    nexus = filled(graph)
    nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Aspirin"} }')
    assert not [triple for triple in graph if ASPIRIN in triple]
    assert not list(graph.subjects(RDF.type, RDF.Statement))


def test_a_dataset_has_the_bookkeeping_in_its_own_graph() -> None:
    dataset = Dataset()
    filled(dataset).close()
    names = {str(graph.identifier) for graph in dataset.graphs()}
    assert names == {"urn:x-rdflib:default", "urn:kip:graph/nexus"}
    assert connected(dataset).info()["commit"] == 4


def test_two_nexuses_are_kept_in_two_graphs_of_a_dataset() -> None:
    dataset = Dataset()
    one = filled(dataset, default_graph="http://example.org/one")
    other = filled(dataset, default_graph="http://example.org/other")
    one.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Aspirin"} }')
    assert one.execute('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }') == 0
    assert other.execute('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }') == 1


def test_two_nexuses_in_one_graph_lose_no_increment() -> None:
    graph = Graph()
    one = filled(graph)
    other = connected(graph)
    add = (
        "UPDATE ?d SET ATTRIBUTES { risk: ADD(?d.attributes.risk, 1) } "
        'WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    )
    threads = [
        threading.Thread(target=lambda nexus=nexus: [nexus.execute(add) for _ in range(10)])
        for nexus in (one, other, one, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert one.execute(ASK_RISK) == other.execute(ASK_RISK) == [42]
    assert one.info()["commit"] == other.info()["commit"] == 44


def test_a_graph_that_was_parsed_is_connected_with_its_base() -> None:
    graph = Graph()
    filled(graph, base_iri="https://example.org/kb/")
    copy = Graph().parse(data=graph.serialize(format="turtle"), format="turtle")
    nexus = connected(copy)
    assert nexus.base_iri == "https://example.org/kb/"
    assert nexus.execute(ASK_RISK) == [2]


def test_a_snapshot_is_that_of_an_embedded_nexus() -> None:
    graph = Graph()
    nexus = filled(graph)
    embedded = kiprdf.Nexus.memory(genesis=False)
    embedded.restore(nexus.snapshot())
    assert embedded.snapshot() == nexus.snapshot()


def test_a_restore_replaces_the_graph() -> None:
    source = filled(Graph())
    graph = Graph()
    nexus = connected(graph)
    nexus.restore(source.snapshot())
    assert (ASPIRIN, TREATS, HEADACHE) in graph
    assert nexus.execute(ASK_RISK) == [2]


class _Failing(Graph):
    """A graph whose disk is full after some triples."""

    left = 10**9

    def add(self, triple: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise OSError("no space left on device")
        return super().add(triple)


def test_a_graph_that_fails_in_a_write_is_as_before() -> None:
    graph = _Failing()
    nexus = filled(graph)
    before = set(graph)
    graph.left = 2
    with pytest.raises((StoreError, kiprdf.KipError), match="no space left"):
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "B"} SET ATTRIBUTES { a: 1 } } }')
    graph.left = 10**9
    assert set(graph) == before
    assert nexus.execute('FIND(?d.name) WHERE { ?d {type: "Drug"} }') == ["Aspirin"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profile": "rdf12"}, "keeps links as rdf11, not as 'rdf12'"),
        ({"update_url": "http://localhost/"}, "update_url is for a URL"),
        ({"auth": ("user", "secret")}, "auth is for a URL"),
        ({"default_graph": "http://example.org/g"}, "default_graph is for a Dataset"),
        ({"read_only": True}, "There is no nexus in the graph"),
    ],
)
def test_an_option_that_a_graph_has_not_is_refused(options: Any, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        connected(Graph(), **options)


def test_other_data_are_refused_and_left_alone() -> None:
    graph = Graph()
    graph.add((URIRef("urn:a"), RDFS.label, rdflib.Literal("a")))
    with pytest.raises(StoreError, match="other data, which kiprdf does not change"):
        connected(graph)
    assert len(graph) == 1


def test_a_read_only_nexus_follows_and_writes_nothing() -> None:
    graph = Graph()
    writer = filled(graph)
    reader = connected(graph, read_only=True)
    writer.execute(
        'UPDATE ?d SET ATTRIBUTES { risk: 9 } WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    )
    assert reader.execute(ASK_RISK) == [9]
    with pytest.raises(kiprdf.KipError):
        reader.execute('UPSERT { CONCEPT { {type: "Drug", name: "B"} } }')


def test_backup_names_the_means_of_the_graph() -> None:
    with pytest.raises(StoreError, match="copy the graph by its own means"):
        filled(Graph()).backup("/nonexistent/backup")


def test_what_a_graph_began_with_is_searched() -> None:
    with filled(Graph()) as nexus:
        text = nexus.snapshot()
    with kiprdf.Nexus.connect(Graph().parse(data=text, format="turtle")) as nexus:
        assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "aspirin"')] == ["Aspirin"]


def test_a_graph_that_was_loaded_is_used_as_it_is() -> None:
    with kiprdf.Nexus.memory() as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
        nexus.execute(
            'UPDATE ?s SET ATTRIBUTES {mood: "calm"} WHERE { ?s {type: "Person", name: "$self"} }'
        )
        text = nexus.snapshot()
    for target in (Graph(), Dataset()):
        target.parse(data=text, format="turtle")
        with kiprdf.Nexus.connect(target) as nexus:
            assert nexus.snapshot() == text
            assert nexus.check()["faults"] == []
            nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "New"} } }')
            assert kiprdf.Nexus.memory().restore(nexus.snapshot()) > 0


def test_a_graph_that_does_not_keep_what_is_added_is_an_error() -> None:
    class Silent(Memory):
        def add(self, *arguments: Any, **options: Any) -> None:
            pass

    for target in (Graph(store=Silent()), ReadOnlyGraphAggregate([Graph()])):
        with pytest.raises(StoreError, match="The graph cannot be written"):
            kiprdf.Nexus.connect(target)
    graph = Graph()
    with filled(graph) as nexus:
        risks = nexus.execute(ASK_RISK)
    with connected(ReadOnlyGraphAggregate([graph]), read_only=True) as nexus:
        assert nexus.execute(ASK_RISK) == risks


def test_the_index_folder_of_another_graph_is_not_searched(tmp_path: Path) -> None:
    for name in ("Apple", "Pear"):
        with connected(Graph(), index=tmp_path / "index") as nexus:
            nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Fruit"} } }')
            nexus.execute('UPSERT { CONCEPT { {type: "Fruit", name: :name} } }', name=name)
            hits = nexus.execute('SEARCH CONCEPT "apple pear" WITH TYPE "Fruit"')
            assert [hit["name"] for hit in hits] == [name]
    assert (tmp_path / "index" / "search.sqlite3").exists()
