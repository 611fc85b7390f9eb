"""Several clients of MCP on one folder, each with its own ``kiprdf mcp``."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import kiprdf
from kiprdf.cli.relay import Relay
from kiprdf.serve import local
from kiprdf.serve.options import MCP
from tests.serve.running import program_over_pipes, serving

if TYPE_CHECKING:
    # Where a test needs it: it takes a second to load, in each process of the run.
    from mcp import ClientSession

WRITE = 'UPSERT { CONCEPT { {type: "Person", name: :name} } }'
ACTORS = (
    "FIND(?p.name, ?p.metadata._actor) "
    'WHERE { ?p {type: "Person"} FILTER(?p.metadata._actor != null) } ORDER BY ?p.name'
)
KILLED = -9


@asynccontextmanager
async def client(
    folder: Path, *options: str, exits: int = 0
) -> AsyncIterator[tuple[ClientSession, BaseProcess]]:
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    arguments = ["-m", "kiprdf", "mcp", str(folder), *options]
    with program_over_pipes(arguments, exits) as (program, process):
        async with stdio_client(program) as streams, ClientSession(*streams[:2]) as session:
            await session.initialize()
            yield session, process


async def ask(session: ClientSession, command: str, **fields: Any) -> dict[str, Any]:
    answer = await session.call_tool("execute_kip", {"command": command, **fields})
    (part,) = answer.content
    return json.loads(part.text)  # type: ignore[no-any-return,union-attr]


async def write(session: ClientSession, name: str) -> None:
    response = await ask(session, WRITE, parameters={"name": name})
    assert response["result"]["upsert_concept_nodes"] == [f"C:Person/{name}"], response


async def actors(session: ClientSession) -> dict[str, str]:
    names, labels = (await ask(session, ACTORS))["result"]
    return dict(zip(names, labels, strict=True))


def test_a_second_client_goes_on_where_the_first_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "brain"

    async def run() -> None:
        async with (
            client(folder, "--create", "--as", "first", exits=KILLED) as (first, process),
            client(folder, "--as", "second", "--max-chars", "400") as (second, _),
        ):
            note = folder / local.FILE
            assert stat.S_IMODE(os.stat(note).st_mode) == 0o600
            await write(first, "a")
            await write(second, "b")
            expected = {"a": "model/first", "b": "model/second"}
            assert await actors(first) == await actors(second) == expected
            many = [
                write(one, f"{who}{number}")
                for number in range(10)
                for who, one in (("first", first), ("second", second))
            ]
            await asyncio.gather(*many)
            labels = await actors(first)
            assert {labels[f"first{number}"] for number in range(10)} == {"model/first"}
            assert {labels[f"second{number}"] for number in range(10)} == {"model/second"}
            tools = (await second.list_tools()).tools
            assert [tool.name for tool in tools] == [
                tool.name for tool in (await first.list_tools()).tools
            ]
            cut = await ask(second, "DESCRIBE PRIMER")
            assert cut["warnings"][0]["message"].startswith("max_chars is 400")
            await first.call_tool("remember", {"text": "Ada likes tea. " * 90})
            for size in ({}, {"max_chars": 9_000}):
                answer = await second.call_tool("recall", {"query": "tea", **size})
                text = answer.content[0].text
                assert (len(text) > 500) is bool(size), text
            process.kill()
            process.join()
            await write(second, "c")
            names, _ = (await ask(second, ACTORS, max_chars=9_000))["result"]
            assert len(names) == 23
            async with client(folder, "--as", "third", "--propose") as (third, _):
                for number in range(20):
                    text = f"{number}. {'Ada likes tea. ' * 20}"
                    await second.call_tool("remember", {"text": text})
                answer = await third.call_tool("recall", {"query": "tea", "limit": 20})
                assert 3_000 < len(answer.content[0].text) <= 4_000  # as without a relay
                proposed = await ask(third, WRITE, parameters={"name": "d"})
                assert proposed["result"]["proposed"]
                assert "model/second" in set((await actors(third)).values())
        assert not note.exists()

    asyncio.run(run())


def test_a_client_beside_a_server(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    kiprdf.Nexus.open(folder).close()

    async def run() -> None:
        with serving(folder, KIPRDF_TOKEN="s3cret") as server:
            note = local.noted_in(folder)
            assert note is not None
            assert server.address == f"{note.address}/"
            headers = {"Authorization": f"Bearer {note.token}"}
            as_client = {**headers, local.CLIENT: "model/write/x"}
            # The token of the note is for MCP alone, by clients that say who they are.
            call = {"method": "execute_kip", "params": {"command": "DESCRIBE DOMAINS"}}
            for sent in (headers, as_client):
                assert (
                    httpx.post(f"{server.address}kip", json=call, headers=sent).status_code == 401
                )
            for sent in (headers, {local.CLIENT: "model/write/x"}, {}):
                assert httpx.post(f"{server.address}mcp", json={}, headers=sent).status_code == 401
            admin = {**headers, local.CLIENT: "human/admin/owner"}
            assert httpx.post(f"{server.address}mcp", json={}, headers=admin).status_code == 401
            async with client(folder, "--as", "beside") as (session, _):
                await write(session, "a")
                token = {"Authorization": "Bearer s3cret"}
                assert server.kip(ACTORS, token).json()["result"] == [["a"], ["model/beside"]]
                server.stop()
                await write(session, "b")
                assert await actors(session) == {"a": "model/beside", "b": "model/beside"}

    asyncio.run(run())


class _Ending(BaseHTTPRequestHandler):
    """A process that is killed while it runs a request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True


def test_a_write_that_may_have_run_is_not_sent_again(tmp_path: Path) -> None:
    folder = tmp_path / "brain"
    kiprdf.Nexus.open(folder).close()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Ending) as ending:
        Thread(target=ending.serve_forever, daemon=True).start()
        relay = Relay(folder, lambda: kiprdf.Nexus.open(folder), MCP, "mcp-1", 20_000)
        relay._current = local.Local(f"http://127.0.0.1:{ending.server_port}", "t")
        params = {"name": "execute_kip", "arguments": {"command": WRITE}}
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        reply = json.loads(relay._reply(call, 7))
        assert reply["id"] == 7
        assert reply["result"]["isError"]
        assert "Look with FIND" in reply["result"]["structuredContent"]["error"]["hint"]
        # What only reads is sent again, to this process itself, which has the folder by now.
        params["name"] = "execute_kip_readonly"
        params["arguments"] = {"command": "DESCRIBE DOMAINS"}
        with relay._own:
            again = json.loads(relay._reply(call, 7))
        assert "CoreSchema" in again["result"]["structuredContent"]["result"]
        ending.shutdown()


@pytest.mark.parametrize(
    "text",
    [
        '{"address": "http://127.0.0.1:1", "token": "x"}',
        '{"address": "http://example.org:80", "token": "x"}',
        "{",
    ],
)
def test_a_note_of_a_process_that_was_killed_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / local.FILE).write_text(text)
    assert local.noted_in(tmp_path) is None
    noted = local.Local("http://127.0.0.1:1", "t")
    with local.noted(tmp_path, noted):
        assert local.noted_in(tmp_path) == noted
        # Who can write to the folder leads nobody to another machine.
        (tmp_path / local.FILE).write_text(text)
        assert local.noted_in(tmp_path) in (None, local.Local("http://127.0.0.1:1", "x"))
    assert local.noted_in(tmp_path) is None
    assert not (tmp_path / local.FILE).exists()


@pytest.mark.parametrize("way", ["directory", "pipe", "link", "locked"])
def test_what_others_put_in_the_place_of_the_note_is_none(tmp_path: Path, way: str) -> None:
    path, other = tmp_path / local.FILE, tmp_path / "other"
    other.write_text('{"address": "http://127.0.0.1:1", "token": "x"}')
    with other.open("r+") as file:
        if way == "directory":
            path.mkdir()
        elif way == "pipe":
            os.mkfifo(path)
        elif way == "link":
            path.symlink_to(other)
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
            other.rename(path)
        if way != "locked":
            assert local.noted_in(tmp_path) is None
        elif os.geteuid() == 0:
            os.chown(path, 65534, 65534)
            assert local.noted_in(tmp_path) is None
        noted = local.Local("http://127.0.0.1:1", "t")
        with local.noted(tmp_path, noted):
            assert local.noted_in(tmp_path) == (None if way == "directory" else noted)
    assert path.exists() == (way == "directory")


def test_a_write_that_was_cut_at_the_end_is_not_sent_again(tmp_path: Path) -> None:
    """Only a request that was refused before it ran has ``Retry-After``."""
    folder = tmp_path / "brain"
    kiprdf.Nexus.open(folder).close()
    for header, is_sent_again in (({}, False), ({"Retry-After": "1"}, True)):

        class Closing(_Ending):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(503)
                for name, value in {**header, "Content-Length": "0"}.items():  # noqa: B023
                    self.send_header(name, value)
                self.end_headers()

        with ThreadingHTTPServer(("127.0.0.1", 0), Closing) as closing:
            Thread(target=closing.serve_forever, daemon=True).start()
            relay = Relay(folder, lambda: kiprdf.Nexus.open(folder), MCP, "mcp-1", 20_000)
            relay._current = local.Local(f"http://127.0.0.1:{closing.server_port}", "t")
            arguments = {"command": WRITE, "parameters": {"name": "a"}}
            params = {"name": "execute_kip", "arguments": arguments}
            call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
            with relay._own:
                reply = json.loads(relay._reply(call, 7))["result"]["structuredContent"]
            assert ("error" not in reply) == is_sent_again, reply
            closing.shutdown()
