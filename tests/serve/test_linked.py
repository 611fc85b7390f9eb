"""/graph, /data, dereferencing, the description of the dataset, caching."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest
from rdflib import RDF, Graph, Literal, URIRef

import kiprdf
from tests.nexus.support import FACTS, SCHEMA
from tests.serve.conftest import BASE
from tests.serve.running import RunningServer, running, serving

ASPIRIN = URIRef(f"{BASE}Drug/Aspirin")
TREATS = URIRef(f"{BASE}$PropositionType/treats")
FORMATS = {
    "text/turtle": "turtle",
    "application/n-triples": "nt11",
    "application/ld+json": "json-ld",
    "application/rdf+xml": "xml",
}


@pytest.mark.parametrize("media_type", FORMATS)
def test_the_graph_is_the_snapshot(server: RunningServer, media_type: str, folder: Path) -> None:
    answer = server.client.get("/graph?default", headers={"Accept": media_type})
    assert answer.headers["content-type"].partition(";")[0] == media_type
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        expected = nexus.to_rdflib()
    assert len(Graph().parse(data=answer.content, format=FORMATS[media_type])) == len(expected)


def test_the_graph_restores(server: RunningServer) -> None:
    with kiprdf.Nexus.memory() as copy:
        assert copy.restore(server.client.get("/graph?default").text) > 0
        assert copy.execute('FIND(?d.name) WHERE { ?d {name: "Aspirin"} }') == ["Aspirin"]


@pytest.mark.parametrize(
    ("address", "accept"),
    [
        ("/graph?default&profile=rdf12", "text/turtle"),
        ("/graph?default", "text/turtle;version=1.2"),
        ("/data/Drug/Aspirin", "text/turtle; version=1.2"),
    ],
)
def test_rdf_12_is_written_on_request(server: RunningServer, address: str, accept: str) -> None:
    answer = server.client.get(address, headers={"Accept": accept})
    assert "version=1.2" in answer.headers["content-type"]
    assert " ~ <" in answer.text


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/graph", 400),
        ("/graph?graph=urn:kip:bookkeeping", 404),
        ("/graph?graph=http://example.org/", 404),
        ("/graph?default&profile=rdf13", 400),
        ("/data/Drug/Nobody", 404),
        ("/data/Drug", 404),
        ("/data/", 404),
        ("/data/%00/%00", 404),
        ("/data/Drug/%ff", 404),
        ("/data/..%2f..%2fetc/passwd", 404),
        ("/data/$proposition/0000000000000000/treats", 404),
        ("/kb/Drug/Nobody", 404),
    ],
)
def test_what_is_not_there_is_refused(server: RunningServer, address: str, status: int) -> None:
    answer = server.client.get(address)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "name", "message", "hint"}


def test_a_format_without_rdf_12_is_406(server: RunningServer) -> None:
    headers = {"Accept": "application/ld+json"}
    answer = server.client.get("/graph?default&profile=rdf12", headers=headers)
    assert answer.status_code == 406


def test_an_element_in_no_accepted_form_is_406_with_the_forms(server: RunningServer) -> None:
    answer = server.client.get("/kb/Drug/Aspirin", headers={"Accept": "image/png"})
    assert answer.status_code == 406
    hint = answer.json()["error"]["hint"]
    assert hint.startswith("The types are text/turtle, ")
    assert hint.endswith(", text/html.")


@pytest.mark.parametrize("name", ["Aspirin", "Vitamin C", "a/b", "阿司匹林"])
def test_an_element_is_at_its_iri_and_at_data(server: RunningServer, name: str) -> None:
    path = f"Drug/{quote(name, safe='')}"
    answer = server.client.get(f"/kb/{path}", headers={"Accept": "text/turtle"})
    assert (answer.status_code, answer.headers["vary"]) == (303, "Accept")
    assert answer.headers["location"] == f"/data/{path}"
    graph = Graph().parse(data=server.client.get(f"/data/{path}").content, format="turtle")
    label = URIRef("http://www.w3.org/2000/01/rdf-schema#label")
    assert Literal(name) in graph.objects(None, label)


def test_the_document_of_an_element_has_its_propositions(server: RunningServer) -> None:
    graph = Graph().parse(data=server.client.get("/data/Drug/Aspirin").content, format="turtle")
    assert {str(symptom) for symptom in graph.objects(ASPIRIN, TREATS)} == {
        f"{BASE}Symptom/Fever",
        f"{BASE}Symptom/Headache",
    }
    assert len(list(graph.subjects(RDF.type, RDF.Statement))) == 2


def test_a_proposition_has_a_document(server: RunningServer) -> None:
    statement = 'FIND(?l.id) WHERE { ?l ({name: "Aspirin"}, "treats", {name: "Fever"}) }'
    (identity,) = server.kip(statement).json()["result"]
    _, digits, predicate = identity.split(":")
    answer = server.client.get(f"/data/$proposition/{digits}/{predicate}")
    graph = Graph().parse(data=answer.content, format="turtle")
    assert (ASPIRIN, TREATS, URIRef(f"{BASE}Symptom/Fever")) in graph


@pytest.mark.parametrize("address", ["/graph?default", "/data/Drug/Aspirin", "/.well-known/void"])
def test_a_tag_changes_with_each_commit(server: RunningServer, address: str) -> None:
    first = server.client.get(address)
    tag = first.headers["etag"]
    assert tag.startswith('"')
    for given in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        answer = server.client.get(address, headers={"If-None-Match": given})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    turtle, n_triples = (
        server.client.get(address, headers={"Accept": accept}).headers["etag"]
        for accept in ("text/turtle", "application/n-triples")
    )
    assert turtle != n_triples
    server.kip(f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "new {address}"}} }} }}')
    answer = server.client.get(address, headers={"If-None-Match": tag})
    assert (answer.status_code, answer.headers["vary"]) == (200, "Accept")


def test_void_describes_the_dataset(server: RunningServer) -> None:
    graph = Graph().parse(data=server.client.get("/.well-known/void").content, format="turtle")
    void = "http://rdfs.org/ns/void#"
    (dataset,) = graph.subjects(URIRef(f"{void}sparqlEndpoint"), URIRef(f"{server.address}sparql"))
    assert int(graph.value(dataset, URIRef(f"{void}triples"))) == len(
        Graph().parse(data=server.client.get("/graph?default").content, format="turtle")
    )


@pytest.mark.parametrize("base", ["http://kb.example/a%20b/", "http://kb.example/кб/c/"])
def test_an_element_is_at_its_iri_below_any_base(tmp_path: Path, base: str) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", base):
        pass
    with serving(tmp_path / "kb", "--read-only") as server:
        path = urlsplit(base).path + "Domain/CoreSchema"
        answer = server.client.get(path, headers={"Accept": "text/turtle"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/data/Domain/CoreSchema")


@pytest.mark.parametrize("prefix", ["", "/memory"])
def test_links_begin_at_the_public_address(folder: Path, prefix: str) -> None:
    """The proxy may remove the path of the address or not."""
    public = "https://kb.example/memory/"
    with serving(folder, "--read-only", "--base-url", public) as server:

        def get(path: str, accept: str) -> httpx.Response:
            headers = {"Accept": accept, "Host": "kb.example"}
            return server.client.get(prefix + path, headers=headers)

        assert get("/", "text/html").headers["location"] == "/memory/explore/"
        text = get("/page/Drug/Aspirin", "text/html").text
        links = re.findall(r'(?:href|src|action)="(/[^"]*)"', text)
        assert all(link.startswith("/memory/") for link in links)
        assert get("/static/style.css", "*/*").status_code == 200
        assert get("/openapi.json", "*/*").json()["servers"] == [{"url": public}]
        void = get("/.well-known/void", "application/n-triples").text
        places = set(re.findall(r"<(https://kb\.example[^#>]*)", void))
        assert places == {
            public,
            f"{public}.well-known/void",
            f"{public}sparql",
            f"{public}graph?default",
            f"{public}feed",
        }


def test_a_urn_base_has_data_below_its_base(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
    with serving(tmp_path / "kb", "--base-url", "https://kb.example/memory/") as server:
        answer = server.client.get("/data/Drug/Aspirin", headers={"Host": "kb.example"})
        assert "<urn:kip:nexus/>" in answer.text
        void = server.client.get("/.well-known/void").text
        assert "https://kb.example/memory/sparql" in void


@pytest.fixture(scope="module")
def server_at_the_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A nexus whose elements have IRIs directly below the host."""
    folder = tmp_path_factory.mktemp("root") / "kb"
    with kiprdf.Nexus.open(folder, "http://kb.example/") as nexus:
        nexus.execute(SCHEMA)
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Vitamin C"} } }')
    with serving(folder) as running:
        yield running


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/Drug/Vitamin%20C", 303),
        ("PUT", "/Drug/Vitamin%20C", 405),
        ("PUT", "/Drug/nothing", 404),
        ("GET", "/nothing", 404),
        ("POST", "/nothing", 404),
        ("GET", "/kip", 405),
        ("PUT", "/graph", 405),
    ],
)
def test_a_base_at_the_root_leaves_other_routes_alone(
    server_at_the_root: RunningServer, method: str, path: str, status: int
) -> None:
    answer = server_at_the_root.client.request(method, path)
    assert answer.status_code == status
    assert ("allow" in answer.headers) == (status == 405)


# A large dataset ----------------------------------------------------------------------------------


def test_a_large_graph_is_sent_from_a_file_and_stops_with_its_client(folder: Path) -> None:
    code = (
        "import sys, time, kiprdf.cli; from kiprdf.serve.routes import linked; "
        "linked.SPOOLED_BYTES = 100; linked.SENT_BYTES = 1000; "
        "from kiprdf.interchange.formats import ordering; add = ordering.Dataset._add; "
        "ordering.Dataset._add = lambda *a: (wait(), add(*a))[1]; "
        "arguments = sys.argv[1:]; "
        "sys.argv[1:] = ['serve', arguments[0], '--read-only', '--port', '0']; "
        "wait = lambda: time.sleep(float(open(arguments[1]).read())); "
        "kiprdf.cli.main()"
    )
    seconds = folder.parent / "seconds"
    seconds.write_text("0")
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        expected = nexus.snapshot()
    with running(["-c", code, str(folder), str(seconds)]) as server:
        client = server.client
        whole = client.get("/graph?default")
        assert whole.text == expected
        assert whole.headers["content-length"] == str(len(whole.content))
        head = client.head("/graph?default")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]
        assert head.headers["etag"] == whole.headers["etag"]
        tag = {"If-None-Match": whole.headers["etag"]}
        assert client.get("/graph?default", headers=tag).status_code == 304
        # Six that nobody waits for: two are made at once, and end; the others are not begun.
        seconds.write_text("0.5")
        for _ in range(6):
            with suppress(httpx.TimeoutException):
                client.get("/graph?default", timeout=0.2)
        begun = time.monotonic()
        seconds.write_text("0")
        assert client.get("/graph?default").text == expected
        assert time.monotonic() - begun < 5
