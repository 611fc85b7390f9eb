"""/feed: the event stream and its pages, patches, and server-sent events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from rdflib import DCTERMS, PROV, RDF, Graph, Literal, Namespace, URIRef

import kiprdf
from tests.nexus.support import FACTS, SCHEMA
from tests.serve.conftest import BASE
from tests.serve.running import RunningServer, serving

LDES, TREE = Namespace("https://w3id.org/ldes#"), Namespace("https://w3id.org/tree#")
AS = Namespace("https://www.w3.org/ns/activitystreams#")
COMMIT = URIRef("urn:kip:vocab/commit")
ASPIRIN = URIRef(f"{BASE}Drug/Aspirin")
WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {risk: :risk} } }'
EVENTS = {"Accept": "text/event-stream"}
FORMATS = {
    "text/turtle": "turtle",
    "application/n-triples": "nt11",
    "application/ld+json": "json-ld",
    "application/rdf+xml": "xml",
}


def filled(folder: Path, drugs: int = 0) -> Path:
    """The folder of a nexus with four commits, and one for each of some drugs."""
    with kiprdf.Nexus.open(folder, BASE) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
        nexus.execute(WRITE, name="Aspirin", risk=7)
        nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Aspirin"} }')
        for number in range(drugs):
            nexus.execute(WRITE, name=f"D{number}", risk=number)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(filled(tmp_path_factory.mktemp("feed") / "kb", 250)) as running:
        yield running


def node_after(graph: Graph) -> str | None:
    """The address of the node to which a relation of another leads."""
    return next(map(str, graph.objects(None, TREE.node)), None)


def pages_of(client: httpx.Client, start: str = "/feed") -> list[tuple[httpx.Response, Graph]]:
    """All nodes of a stream, the first one included."""
    pages, address = list[tuple[httpx.Response, Graph]](), start
    while address:
        answer = client.get(address)
        assert answer.status_code == 200, answer.text
        graph = Graph().parse(data=answer.text)
        pages.append((answer, graph))
        address = node_after(graph) or ""
    return pages


def members_of(pages: list[tuple[httpx.Response, Graph]]) -> list[str]:
    return [str(member) for _, graph in pages for member in graph.objects(None, TREE.member)]


# The stream -----------------------------------------------------------------------------------


def test_stream_has_each_version_of_each_element(server: RunningServer) -> None:
    pages = pages_of(server.client)
    stream = URIRef(f"{server.address}feed#stream")
    root, graph = pages[0]
    assert (stream, RDF.type, LDES.EventStream) in graph
    assert (stream, TREE.view, URIRef(f"{server.address}feed")) in graph
    assert (stream, LDES.timestampPath, PROV.generatedAtTime) in graph
    assert (stream, LDES.versionOfPath, DCTERMS.isVersionOf) in graph
    assert "max-age=5" in root.headers["cache-control"]
    union = Graph()
    for _, page in pages[1:]:
        union += page
    versions = sorted(
        (int(str(union.value(member, COMMIT))), member)
        for member in union.subjects(DCTERMS.isVersionOf, ASPIRIN)
    )
    assert [number for number, _ in versions] == [3, 4, 5]
    created, changed, deleted = (member for _, member in versions)
    kept = {(key, value) for _, key, value in union.triples((created, None, None))}
    assert (URIRef("urn:kip:attribute/risk"), Literal(7)) not in kept
    assert (changed, URIRef("urn:kip:attribute/risk"), Literal(7)) in union
    labels = [
        union.value(one, URIRef("http://www.w3.org/2000/01/rdf-schema#label"))
        for one in (created, changed)
    ]
    assert labels == [Literal("Aspirin")] * 2
    assert set(union.predicates(deleted)) == {
        RDF.type,
        DCTERMS.isVersionOf,
        PROV.generatedAtTime,
        COMMIT,
    }
    assert (deleted, RDF.type, AS.Delete) in union
    assert (stream, LDES.versionDeleteObject, AS.Delete) in graph
    facts = set(union.subjects(RDF.predicate, URIRef(f"{BASE}$PropositionType/treats")))
    assert facts
    for fact in facts:
        assert (fact, RDF.type, RDF.Statement) in union
    times = [
        graph.value(one, PROV.generatedAtTime)
        for _, graph in pages
        for one in graph.objects(None, TREE.member)
    ]
    assert None not in times


def test_full_page_is_kept_and_the_last_one_grows(tmp_path: Path) -> None:
    with serving(filled(tmp_path / "kb", 150)) as server:
        before = pages_of(server.client)
        assert len(before) == 3
        *full, last = before[1:]
        for answer, graph in full:
            kept = answer.headers["cache-control"]
            assert kept == "public, max-age=31536000, immutable"
            node = URIRef(str(answer.url))
            assert (node, LDES.immutable, Literal(True)) in graph
            assert len(list(graph.objects(None, TREE.member))) == 200
            (relation,) = graph.objects(node, TREE.relation)
            assert (relation, RDF.type, TREE.GreaterThanOrEqualToRelation) in graph
        assert "immutable" not in last[0].headers["cache-control"]
        server.kip(WRITE, parameters={"name": "New", "risk": 1})
        after = pages_of(server.client)
        assert [one.text for one, _ in after[1:-1]] == [one.text for one, _ in full]
        assert after[-1][0].url == last[0].url
        new = set(members_of(after)) - set(members_of(before))
        assert [re.sub("#.*", "", one) for one in new] == [f"{BASE}Drug/New"]
        tag = last[0].headers["etag"]
        again = server.client.get(last[0].url, headers={"If-None-Match": tag})
        assert again.status_code == 200
        tag = f'W/"x", {again.headers["etag"]}'
        same = server.client.get(last[0].url, headers={"If-None-Match": tag})
        assert (same.status_code, same.content) == (304, b"")


@pytest.mark.parametrize("media_type", FORMATS)
def test_page_in_each_format(server: RunningServer, media_type: str) -> None:
    expected = pages_of(server.client)[1]
    answer = server.client.get(expected[0].url, headers={"Accept": media_type})
    assert answer.headers["content-type"].partition(";")[0] == media_type
    graph = Graph().parse(data=answer.content, format=FORMATS[media_type])
    assert set(graph) == set(expected[1])
    head = server.client.head(expected[0].url, headers={"Accept": media_type})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == answer.headers["etag"]


def test_commit_of_many_elements_takes_several_pages(tmp_path: Path) -> None:
    names = " ".join(f'CONCEPT {{ {{type: "Drug", name: "M{n}"}} }}' for n in range(1_000))
    with serving(filled(tmp_path / "kb"), "--max-body", "9000000") as server:
        last = server.kip(f"UPSERT {{ {names} }}")
        assert last.status_code == 200, last.text
        pages = pages_of(server.client)
        sizes = [len(list(graph.objects(None, TREE.member))) for _, graph in pages[1:]]
        assert (len(sizes), max(sizes)) == (6, 200)
        members = members_of(pages)
        assert len(members) == len(set(members)) == sum(sizes)
        assert sum(one.startswith(f"{BASE}Drug/M") for one in members) == 1_000


def test_what_was_forgotten_is_in_no_page(tmp_path: Path) -> None:
    folder = filled(tmp_path / "kb", 200)
    with serving(folder) as server:
        before = pages_of(server.client)
        assert "Drug/D5" in "".join(answer.text for answer, _ in before)
        forgotten = server.client.post("/maintenance/forget", json={"ids": ["C:Drug/D5"]})
        if forgotten.status_code != 200:
            pytest.fail(forgotten.text)
        after = pages_of(server.client)
        text = "".join(answer.text for answer, _ in after)
        assert "Drug/D5" not in text
        assert "Drug/D6" in text
        assert "Drug/D5" not in server.client.get("/feed?format=patch").text
        for answer, _ in before[1:]:
            moved = server.client.get(answer.url)
            assert moved.status_code == 302
            assert moved.headers["location"] in {str(one.url) for one, _ in after}
        number = server.client.get("/").json()["commit"]
        compacted = server.client.post("/maintenance/compact-history", json={"before": number - 50})
        assert compacted.status_code == 200, compacted.text
        gone = server.client.get(after[1][0].url)
        assert (gone.status_code, gone.json()["error"]["code"]) == (410, "HTTP_410")
        base = pages_of(server.client)
        assert f"{BASE}Drug/D7#" in "".join(members_of(base))
