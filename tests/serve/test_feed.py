"""/feed: the event stream and its pages, patches, and server-sent events."""

from __future__ import annotations

import asyncio
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from rdflib import DCTERMS, PROV, RDF, Graph, Literal, Namespace, URIRef

import kiprdf
import kiprdf.serve
from kiprdf.execution import versions
from kiprdf.serve.options import Options
from kiprdf.serve.routes import feed
from kiprdf.serve.state import Server, Service
from tests.long_runs import SEED
from tests.nexus.support import FACTS, SCHEMA
from tests.serve.conftest import BASE
from tests.serve.running import RunningServer, serving
from tests.serve.scoped import make, serving_scopes, token

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
    """The members of some nodes; those of a node are sorted."""
    nodes = (sorted(map(str, graph.objects(None, TREE.member))) for _, graph in pages)
    return [member for members in nodes for member in members]


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
        assert len(before) > 3
        *full, last = before[1:]
        for answer, graph in full:
            kept = answer.headers["cache-control"]
            assert kept == "public, max-age=31536000, immutable"
            node = URIRef(str(answer.url))
            assert (node, LDES.immutable, Literal(True)) in graph
            assert len(list(graph.objects(None, TREE.member))) == 100
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


def test_each_address_has_one_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After writes, forgetting, compaction: the same bytes, or another address, or 410."""
    monkeypatch.setattr(versions, "PAGE", 4)
    chance = random.Random(SEED)
    nexus = kiprdf.Nexus.open(tmp_path / "kb", BASE)
    nexus.execute(SCHEMA)
    transport = httpx.ASGITransport(app=kiprdf.serve.app(nexus))
    kept, statuses = dict[str, str](), set[int]()

    async def run() -> None:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for number in range(6):
                for _ in range(6):
                    nexus.execute(WRITE, name=f"D{chance.randrange(9)}", risk=chance.randrange(5))
                nexus.execute('UPDATE ?d SET ATTRIBUTES {a: 1} WHERE { ?d {type: "Drug"} }')
                if number == 3:
                    nexus.execute(WRITE, name="D5", risk=1)
                    nexus.forget('FIND(?d) WHERE { ?d {type: "Drug", name: "D5"} }')
                if number == 4:
                    nexus.compact_history(nexus.info()["commit"] - 10)
                for address, text in chance.sample([*kept.items()], len(kept)):
                    answer = await client.get(address)
                    statuses.add(answer.status_code)
                    assert answer.status_code in (302, 410) or answer.text == text, address
                address: str | None = "/feed"
                while address:
                    answer = await client.get(address)
                    if "immutable" in answer.headers["cache-control"]:
                        assert kept.setdefault(address, answer.text) == answer.text
                    node = re.search(r"tree#node> <([^>]+)>", answer.text)
                    address = node and node[1]

    asyncio.run(run())
    nexus.close()
    assert statuses == {200, 302, 410}


def test_what_was_before_the_history_has_a_time(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", BASE, history=False) as nexus:
        nexus.execute(SCHEMA)
    with serving(tmp_path / "kb") as server:
        server.kip('UPSERT { CONCEPT { {type: "Drug", name: "New"} } }')
        _, (answer, page) = pages_of(server.client)
        times = {
            str(member): str(page.value(member, PROV.generatedAtTime))
            for member in page.objects(None, TREE.member)
        }
        (new,) = (time for member, time in times.items() if "Drug/New" in member)
        assert set(times.values()) == {"1970-01-01T00:00:00+00:00", new}
        assert '""^^' not in answer.text


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
        assert (len(sizes), max(sizes)) == (11, 100)
        members = members_of(pages)
        assert len(members) == len(set(members)) == sum(sizes)
        assert sum(one.startswith(f"{BASE}Drug/M") for one in members) == 1_000


def test_what_was_forgotten_is_in_no_page(tmp_path: Path) -> None:
    folder = filled(tmp_path / "kb", 200)
    with serving(folder) as server:
        before = pages_of(server.client)
        assert "Drug/D5#" in "".join(answer.text for answer, _ in before)
        command = 'FIND(?d) WHERE { ?d {type: "Drug", name: "D5"} }'
        forgotten = server.client.post("/maintenance/forget", json={"command": command})
        assert forgotten.status_code == 200, forgotten.text
        after = pages_of(server.client)
        text = "".join(answer.text for answer, _ in after)
        assert "Drug/D5#" not in text
        assert "Drug/D6#" in text
        assert "Drug/D5>" not in server.client.get("/feed?format=patch").text
        assert "Drug/D6>" in server.client.get("/feed?format=patch").text
        for answer, _ in before[1:]:
            moved = server.client.get(answer.url)
            assert moved.status_code == 302
            begun = members_of(pages_of(server.client, moved.headers["location"]))
            assert begun
            assert set(begun) <= set(members_of(after))
        number = server.client.get("/").json()["commit"]
        compacted = server.client.post("/maintenance/compact-history", json={"before": number - 50})
        assert compacted.status_code == 200, compacted.text
        gone = server.client.get(after[1][0].url)
        assert (gone.status_code, gone.json()["error"]["code"]) == (410, "HTTP_410")
        base = pages_of(server.client)
        assert f"{BASE}Drug/D7#" in "".join(members_of(base))


def test_stream_after_a_commit_has_what_followed(server: RunningServer) -> None:
    last = server.client.get("/").json()["commit"]
    whole, rest = (
        pages_of(server.client, address) for address in ("/feed", f"/feed?from={last - 120}")
    )
    assert (None, TREE.view, URIRef(f"{server.address}feed?from={last - 120}")) in rest[0][1]
    later = [
        one
        for one in members_of(whole)
        if int(one.rpartition("#commit-")[2].split("-")[0]) > last - 120
    ]
    assert sorted(members_of(rest)) == sorted(later)
    assert len(later) == 120
    nothing = pages_of(server.client, f"/feed?from={last}")
    assert (len(nothing), members_of(nothing)) == (2, [])


# Patches --------------------------------------------------------------------------------------


def numbers_of(text: str) -> list[int]:
    """The numbers of the commits of some patches."""
    return [int(number) for number in re.findall(r'^H seq "(\d+)" \.$', text, re.MULTILINE)]


def test_patches_after_a_commit_continue_those_before(server: RunningServer) -> None:
    whole = server.client.get("/feed?format=patch")
    assert whole.headers["content-type"] == "application/rdf-patch; charset=utf-8"
    last = server.client.get("/").json()["commit"]
    assert numbers_of(whole.text) == [*range(1, last + 1)]
    rest = server.client.get(f"/feed?from={last - 3}", headers={"Accept": "application/rdf-patch"})
    assert numbers_of(rest.text) == [last - 2, last - 1, last]
    assert whole.text.endswith(rest.text)
    nothing = server.client.get(f"/feed?format=patch&from={last}")
    assert (nothing.status_code, nothing.content) == (200, b"")
    tag = {"If-None-Match": rest.headers["etag"]}
    address = f"/feed?format=patch&from={last - 3}"
    assert server.client.get(address, headers=tag).status_code == 304
    head = server.client.head(address)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == rest.headers["etag"]


def test_patches_that_are_gone_are_said_to_be(tmp_path: Path) -> None:
    folder = filled(tmp_path / "kb", 10)
    with kiprdf.Nexus.open(folder) as nexus:
        last = nexus.info()["commit"]
        nexus.compact_history(last - 3)
        snapshot = nexus.snapshot()
    with serving(folder) as server:
        for accept in ("application/rdf-patch", "text/event-stream", "text/turtle"):
            gone = server.client.get("/feed?from=2", headers={"Accept": accept})
            assert gone.status_code == 410
            error = gone.json()["error"]
            assert error["code"] == "KIP_3002"
            assert f"begins at commit {last - 3}" in error["message"]
            assert "from=0" in error["hint"]
        log = server.client.get("/feed?format=patch&from=0").text
        assert numbers_of(log) == [last - 3, last - 2, last - 1, last]
        copy = kiprdf.Nexus.memory(BASE, history=True)
        (tmp_path / "log").write_text(log, "utf-8")
        copy.restore(snapshot, history=tmp_path / "log")
        assert copy.snapshot() == snapshot
        rest = server.client.get(f"/feed?format=patch&from={last - 3}").text
        assert log.endswith(rest)
        assert rest.count("H prev ") == 3


def test_patches_end_where_something_is_forgotten() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    for name in ("One", "Two", "Three"):
        nexus.execute(WRITE, name=name, risk=1)
    server = Server(nexus, Service(Options()))
    patches = feed._patches_above(server, 0)
    assert "Drug/One" in next(text for _, text in patches if "Drug/" in text)
    nexus.execute(WRITE, name="Four", risk=1)
    nexus.forget('FIND(?d) WHERE { ?d {type: "Drug", name: "Two"} }')
    with pytest.raises(kiprdf.StoreError, match="rewritten"):
        next(patches)
    again = "".join(text for _, text in feed._patches_above(server, 0))
    assert ("Drug/Two" in again, "Drug/Three" in again) == (False, True)


@pytest.mark.parametrize(
    ("address", "accept", "status"),
    [
        ("/feed?from=-1", "*/*", 400),
        ("/feed?from=x", "*/*", 400),
        ("/feed?format=patch&from=1.5", "*/*", 400),
        ("/feed?format=csv", "*/*", 400),
        ("/feed?from=100000", "*/*", 404),
        ("/feed?format=patch&from=100000", "*/*", 404),
        ("/feed?from=100000", "text/event-stream", 404),
        ("/feed", "image/png", 406),
        ("/feed?format=patch", "text/turtle", 406),
        ("/feed/x/y", "*/*", 404),
        ("/feed/0-0/100000", "*/*", 404),
        ("/feed/0-0/5", "*/*", 410),
        ("/feed/0-0/5", "text/event-stream", 406),
    ],
)
def test_what_is_no_feed_is_refused(
    server: RunningServer, address: str, accept: str, status: int
) -> None:
    answer = server.client.get(address, headers={"Accept": accept})
    assert answer.status_code == status, answer.text
    assert set(answer.json()["error"]) == {"code", "name", "message", "hint"}


def test_nexus_without_a_history_has_no_feed(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", BASE, history=False):
        pass
    with serving(tmp_path / "kb", "--read-only") as server:
        answer = server.client.get("/feed")
        error = answer.json()["error"]
        assert (answer.status_code, error["message"]) == (404, "This nexus has no history.")
        assert "without history=False" in error["hint"]
        assert "feed#stream" not in server.client.get("/.well-known/void").text


# Events ---------------------------------------------------------------------------------------


class Events:
    """A stream of events, read on a thread."""

    def __init__(self, send: Callable[[], httpx.Client], address: str, **headers: str) -> None:
        self.ids, self.data, self.comments = list[int](), list[str](), 0
        self.error: Exception | None = None
        self._client, self._address, self._headers = send(), address, {**EVENTS, **headers}
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        try:
            with self._client.stream("GET", self._address, headers=self._headers) as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                for line in answer.iter_lines():
                    self.comments += line.startswith(":")
                    if line.startswith("id: "):
                        self.ids.append(int(line.removeprefix("id: ")))
                    elif line.startswith("data: "):
                        self.data.append(line.removeprefix("data: "))
        except httpx.HTTPError as fault:
            self.error = fault

    def wait(self, number: int) -> None:
        """Wait for the event of a commit."""
        until = time.monotonic() + 20
        while number not in self.ids:
            assert time.monotonic() < until, (number, self.ids)
            time.sleep(0.02)


def test_each_commit_is_an_event(tmp_path: Path) -> None:
    with serving(filled(tmp_path / "kb")) as server:
        last = server.client.get("/").json()["commit"]

        def client() -> httpx.Client:
            return httpx.Client(base_url=server.address, timeout=30)

        begun, later = Events(client, "/feed"), Events(client, f"/feed?format=patch&from={last}")
        begun.wait(last)
        server.kip(WRITE, parameters={"name": "One", "risk": 1})
        server.kip(WRITE, parameters={"name": "Two", "risk": 2})
        for events in (begun, later):
            events.wait(last + 2)
        assert begun.ids == [*range(1, last + 3)]
        assert later.ids == [last + 1, last + 2]
        patches = server.client.get(f"/feed?format=patch&from={last}").text
        assert later.data == patches.splitlines()
        resumed = Events(client, "/feed", **{"Last-Event-ID": str(last + 1)})
        resumed.wait(last + 2)
        assert resumed.ids == [last + 2]
        assert server.stop() == 0
        for events in (begun, later, resumed):
            events.thread.join(10)
            assert events.error is None


def test_streams_that_begin_at_once_are_not_too_many() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    server = Server(nexus, Service(Options()))

    async def begun() -> int:
        count = feed.MOST_EVENT_STREAMS + 3
        streams = [feed._stream_events(server, 0) for _ in range(count)]
        firsts = [await anext(stream, None) for stream in streams]
        for stream in streams:
            await stream.aclose()  # type: ignore[attr-defined]
        return firsts.count(":\n\n")

    assert asyncio.run(begun()) == feed.MOST_EVENT_STREAMS
    assert server.service.event_streams == 0


# Scopes and tokens ----------------------------------------------------------------------------


def test_feed_of_a_scope_is_for_who_reads_it(tmp_path: Path) -> None:
    make(tmp_path / "scopes")
    with serving_scopes(tmp_path) as scopes:
        assert scopes.send(None, "GET", "/feed").status_code == 401
        own = scopes.send("alone", "GET", "/feed?format=patch")
        assert "of bob" in own.text
        assert "private" in scopes.send("alone", "GET", "/feed").headers["cache-control"]
        assert "of team" in scopes.send("reader", "GET", "/feed?format=patch").text
        assert "of ada" in scopes.send("ada", "GET", "/scopes/ada/feed?format=patch").text
        hidden = scopes.send("bob", "GET", "/scopes/ada/feed")
        assert hidden.json() == scopes.send("bob", "GET", "/scopes/none/feed").json()
        assert hidden.status_code == 404
        view = scopes.send("viewer", "GET", "/feed")
        error = view.json()["error"]
        assert (view.status_code, error["code"]) == (404, "HTTP_404")
        assert "/scopes/team/feed, /scopes/ada/feed" in error["hint"]
        assert "bob" not in view.text
        node = Graph().parse(data=scopes.send("ada", "GET", "/scopes/ada/feed").text)
        page = node_after(node)
        assert page is not None
        assert page.startswith(f"{scopes.server.address}scopes/ada/feed/")
        assert "of%20ada" in scopes.send("ada", "GET", page).text


def test_stream_of_events_does_not_keep_a_scope(tmp_path: Path) -> None:
    make(tmp_path / "scopes")
    with serving_scopes(tmp_path, "--open-scopes", "1") as scopes:

        def client() -> httpx.Client:
            return httpx.Client(base_url=scopes.server.address, timeout=30)

        bearer = {"Authorization": f"Bearer {token('root')}"}
        events = Events(client, "/scopes/ada/feed", **bearer)
        events.wait(1)
        assert scopes.people("root", "/scopes/bob") == ["of bob"]
        events.thread.join(10)
        assert not events.thread.is_alive()
        again = Events(client, "/scopes/ada/feed", **bearer)
        again.wait(1)
        assert scopes.send("root", "DELETE", "/scopes/ada").status_code == 204
        again.thread.join(10)
        assert not again.thread.is_alive()
