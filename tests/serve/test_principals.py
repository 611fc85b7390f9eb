"""Requests act as principals: over HTTP by token or cookie, over MCP, with a session."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import kiprdf
from kiprdf import principals
from kiprdf.actors import Access, Kind
from kiprdf.serve import app
from tests.cli.runner import run_process
from tests.serve.raw import connect, head
from tests.serve.running import RunningServer, over_pipes, serving

PRINCIPALS: list[tuple[str, Kind, Access]] = [
    ("ada", "human", "write"),
    ("claude", "model", "write"),
    ("reader", "model", "read"),
    ("proposer", "model", "propose"),
    ("root", "human", "admin"),
]
ACTOR = 'FIND(?d.metadata._actor) WHERE { ?d {type: "Drug"} FILTER(?d.name == :name) }'
WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } }'


class Secured:
    """A server with principals, their file and their tokens."""

    def __init__(self, server: RunningServer, file: Path, tokens: dict[str, str]) -> None:
        self.server, self.file, self.tokens = server, file, tokens

    def headers(self, name: str, **more: str) -> dict[str, str]:
        named = {key.replace("_", "-"): value for key, value in more.items()}
        return {"Authorization": f"Bearer {self.tokens[name]}", **named}

    def write(self, name: str, drug: str, **headers: str) -> httpx.Response:
        answer = self.server.kip(WRITE, self.headers(name, **headers), parameters={"name": drug})
        assert isinstance(answer, httpx.Response)
        return answer

    def actor(self, drug: str) -> Any:
        answer = self.server.kip(ACTOR, self.headers("reader"), parameters={"name": drug})
        return answer.json()["result"]


def copied(folder: Path, target: Path) -> Path:
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(target)
    return target


@pytest.fixture(scope="module")
def secured(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A server with a file of principals, and a token that is in no file."""
    place = tmp_path_factory.mktemp("principals")
    file = place / "principals.toml"
    tokens = {name: principals.add(file, name, kind, access) for name, kind, access in PRINCIPALS}
    nexus = copied(folder, place / "kb")
    options = ("--principals", str(file))
    with serving(nexus, *options, KIPRDF_TOKEN="s3cret", KIPRDF_READ_TOKEN="r3ad") as running:
        yield Secured(running, file, {**tokens, "token": "s3cret", "read-token": "r3ad"})


@pytest.mark.parametrize(
    ("name", "actor"),
    [
        ("ada", "human/ada"),
        ("claude", "model/claude"),
        ("root", "human/root"),
        ("token", "model/token"),
    ],
)
def test_what_a_token_writes_is_its_principals(secured: Secured, name: str, actor: str) -> None:
    assert secured.write(name, f"by {name}").status_code == 200
    assert secured.actor(f"by {name}") == [actor]


@pytest.mark.parametrize("name", ["reader", "read-token"])
def test_who_reads_writes_nothing(secured: Secured, name: str) -> None:
    refused = secured.write(name, "refused")
    assert refused.status_code == 403
    assert refused.json()["error"]["message"] == "This token only reads."
    assert secured.actor("refused") == []


COMPACT = {"before": 1}
IMPORT = {
    "source": "<urn:x:1> a <http://xmlns.com/foaf/0.1/Person> ; "
    '<http://xmlns.com/foaf/0.1/name> "Imported" .',
    "mapping": "foaf",
}
FORGET = {"command": "FIND(?d) WHERE { ?d {type: :type, name: :name} }", "dry_run": True}
FORGET["parameters"] = {"type": "Drug", "name": "Aspirin"}


@pytest.mark.parametrize(
    ("path", "arguments", "refused"),
    [
        ("maintenance/import", IMPORT, {"reader", "proposer", "read-token"}),
        ("maintenance/optimize", {}, {"reader", "proposer", "read-token"}),
        ("maintenance/forget", FORGET, {"reader", "proposer", "read-token"}),
        # It removes who wrote what.
        (
            "maintenance/compact-history",
            COMPACT,
            {"reader", "proposer", "read-token", "ada", "claude"},
        ),
        ("backup", {}, {"reader", "proposer", "read-token"}),
    ],
)
def test_maintenance_needs_the_access(
    secured: Secured, path: str, arguments: dict[str, Any], refused: set[str]
) -> None:
    statuses = {
        name: secured.server.client.post(
            f"/{path}", json=arguments, headers=secured.headers(name)
        ).status_code
        for name in secured.tokens
    }
    assert {name for name, status in statuses.items() if status == 403} == refused
    assert {status for name, status in statuses.items() if name not in refused} <= {200, 404}


def test_an_import_is_its_principals(secured: Secured) -> None:
    headers = secured.headers("claude", KIP_Session="import")
    source = IMPORT["source"].replace("Imported", "Imported too").replace("x:1", "x:2")
    arguments = {**IMPORT, "source": source}
    answer = secured.server.client.post("/maintenance/import", json=arguments, headers=headers)
    assert answer.status_code == 200
    find = 'FIND(?p.metadata._actor) WHERE { ?p {type: "Person", name: "Imported too"} }'
    assert secured.server.kip(find, headers).json()["result"] == ["model/claude"]


def sessions(nexus_folder: Path, **chosen: Any) -> list[tuple[Any, ...]]:
    with kiprdf.Nexus.open(nexus_folder, read_only=True) as nexus:
        commits = nexus.changes(**chosen)["commits"]
    return [(commit["author"], commit["session"]) for commit in commits]


def test_the_journal_has_the_session(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    token = principals.add(file, "ada", "human", "write")
    nexus = copied(folder, tmp_path / "kb")
    bearer = {"Authorization": f"Bearer {token}"}
    with serving(nexus, "--principals", str(file)) as server:
        one, other = (httpx.Client(base_url=server.address, headers=bearer) for _ in range(2))

        def write(client: httpx.Client, name: str, **headers: str) -> httpx.Response:
            params = {"command": WRITE, "parameters": {"name": name}}
            call = {"method": "execute_kip", "params": params}
            fields = [(key.encode(), value.encode()) for key, value in headers.items()]
            return client.post("/kip", json=call, headers=fields)

        write(one, "1", **{"KIP-Session": "s-1"})
        write(one, "2", **{"Mcp-Session-Id": "s-2"})
        write(one, "3", **{"KIP-Session": "阿", "Mcp-Session-Id": "x"})
        for client in (one, one, other):
            assert write(client, f"{time.monotonic()}").status_code == 200
        for wrong in ("x" * 201, "a\tb"):
            answer = write(one, "refused", **{"KIP-Session": wrong})
            assert answer.status_code == 400
            assert answer.json()["error"]["message"] == (
                "The header kip-session is no name of a session."
            )
    written = sessions(nexus, author="ada")
    assert written[:3] == [("ada", "s-1"), ("ada", "s-2"), ("ada", "阿")]
    connections = [session for _, session in written[3:]]
    assert len(connections) == 3
    assert all(session.startswith("connection-") for session in connections)
    assert connections[0] == connections[1] != connections[2]
    assert sessions(nexus, session="s-2") == [("ada", "s-2")]


def test_a_request_acts_as_nobody_of_the_requests_before_it(secured: Secured) -> None:
    """Requests of one connection, sent at once, as a proxy may send those of several clients."""

    def request(name: str, command: str) -> bytes:
        body = json.dumps({"method": "execute_kip", "params": {"command": command}}).encode()
        fields = [f"Authorization: Bearer {secured.tokens[name]}", f"Content-Length: {len(body)}"]
        return head("POST", "/kip", "Content-Type: application/json", *fields) + body

    write = 'UPSERT { CONCEPT { {type: "Drug", name: "%s"} } }'
    sent = [("reader", "DESCRIBE DOMAINS"), ("ada", write % "piped 1"), ("reader", write % "no")]
    sent += [("claude", write % "piped 2"), ("root", write % "piped 3")]
    with connect(secured.server) as connection:
        connection.sendall(b"".join(request(*one) for one in sent))
        text = b""
        while text.count(b"HTTP/1.1 ") < len(sent) or not text.endswith(b"}"):
            text += connection.recv(65536)
    statuses = re.findall(rb"HTTP/1.1 (\d+)", text)
    assert statuses == [b"200", b"200", b"403", b"200", b"200"]
    actors = [secured.actor(f"piped {number}") for number in (1, 2, 3)]
    assert actors == [["human/ada"], ["model/claude"], ["human/root"]]


# The browser --------------------------------------------------------------------------------------


def signed_in(secured: Secured, name: str) -> httpx.Client:
    browser = httpx.Client(base_url=secured.server.address)
    answer = browser.post("/login", data={"token": secured.tokens[name]})
    assert answer.status_code == 303
    assert secured.tokens[name] not in answer.headers["set-cookie"]
    assert browser.get("/graph?default").status_code == 200
    return browser


def posted(browser: httpx.Client, drug: str, **headers: str) -> int:
    params = {"command": WRITE, "parameters": {"name": drug}}
    call = {"method": "execute_kip", "params": params}
    return browser.post("/kip", json=call, headers=headers).status_code


def test_a_person_who_has_signed_in_writes_from_pages_of_the_server_alone(secured: Secured) -> None:
    browser = signed_in(secured, "ada")
    own = secured.server.address.rstrip("/")
    port = own.rpartition(":")[2]
    foreign = [
        {},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": f"http://evil.example:{port}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": own.replace("http:", "file:")},
    ]
    for headers in foreign:
        assert posted(browser, "by cookie", **headers) == 403
    assert secured.actor("by cookie") == []
    assert posted(browser, "by cookie", Origin=own) == 200
    assert secured.actor("by cookie") == ["human/ada"]


def test_an_allowed_origin_writes_with_tokens_but_not_with_cookies(
    secured: Secured, tmp_path: Path
) -> None:
    other = "http://localhost:3000"
    with serving(
        "ignored", "--memory", "--cors", other, "--principals", str(secured.file)
    ) as server:
        call = {"method": "execute_kip", "params": {"command": "DELETE DETACH"}}
        browser = httpx.Client(base_url=server.address, headers={"Origin": other})
        assert browser.post("/kip", json=call, headers=secured.headers("ada")).status_code == 400
        write = {"command": 'UPSERT { CONCEPT { {type: "Domain", name: "D"} } }'}
        call = {"method": "execute_kip", "params": write}
        assert browser.post("/login", data={"token": secured.tokens["ada"]}).status_code == 303
        assert browser.post("/kip", json=call).status_code == 403
        own = {"Origin": server.address.rstrip("/")}
        assert browser.post("/kip", json=call, headers=own).status_code == 200


@pytest.mark.parametrize(
    ("name", "actors"), [("claude", ["model/claude"]), ("token", ["model/token"]), ("reader", [])]
)
def test_a_cookie_has_the_rights_of_its_principal(
    secured: Secured, name: str, actors: list[str]
) -> None:
    browser, drug = signed_in(secured, name), f"by the cookie of {name}"
    own = secured.server.address.rstrip("/")
    assert posted(browser, drug) == 403
    assert posted(browser, drug, Origin=own) == (200 if actors else 403)
    assert secured.actor(drug) == actors


def test_a_digest_in_the_file_makes_no_cookie(secured: Secured) -> None:
    text = secured.file.read_text()
    (digest, *_) = [line.split('"')[1] for line in text.splitlines() if "token_sha256" in line]
    for key in (digest.encode(), bytes.fromhex(digest)):
        forged = hmac.new(key, b"kiprdf session", "sha256").hexdigest()
        for value in (forged, digest):
            cookie = {"Cookie": f"kiprdf_session={value}"}
            answer = secured.server.client.get("/graph?default", headers=cookie)
            assert answer.status_code == 401
    assert (
        secured.server.client.get("/", headers={"Authorization": f"Bearer {digest}"}).status_code
        == 401
    )


# Reloading ----------------------------------------------------------------------------------------


def until(condition: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_file_is_read_again_without_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    tokens = {"ada": principals.add(file, "ada", "human", "write")}
    with serving("ignored", "--memory", "--principals", str(file)) as server:

        def status(name: str) -> int:
            headers = {"Authorization": f"Bearer {tokens[name]}"}
            return int(server.client.get("/", headers=headers).status_code)

        browser = httpx.Client(base_url=server.address)
        browser.post("/login", data={"token": tokens["ada"]})
        assert (status("ada"), browser.get("/").status_code) == (200, 200)
        tokens["bob"] = principals.add(file, "bob", "model", "read")
        assert status("ada") == 200
        until(lambda: status("bob") == 200)
        principals.remove(file, "ada")
        server.send_signal(signal.SIGHUP)
        until(lambda: status("ada") == 401)
        assert (status("bob"), browser.get("/").status_code) == (200, 401)
        file.write_text(file.read_text() + "[[")
        # Nobody asks the server meanwhile: the signal alone makes it read the file.
        server.send_signal(signal.SIGHUP)
        until(lambda: "is not TOML" in server.errors.read_text())
        for _ in range(2):
            server.send_signal(signal.SIGHUP)
            time.sleep(0.1)
        assert status("bob") == 200
        server.stop()
        errors = server.errors.read_text()
    assert errors.count("is not TOML") == 1
    assert "The principals stay as they were." in errors
    assert "The principals were read again: there are 2." in errors
    assert not any(token in errors for token in tokens.values())


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("[[", (), "is not TOML"),
        (None, (), "cannot be read: No such file or directory."),
        ("", ("--token", ""), "The token is empty."),
    ],
)
def test_a_file_that_cannot_be_read_ends_the_start(
    text: str | None, options: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "principals.toml"
    if text is not None:
        file.write_text(text)
    arguments = ("serve", "--memory", "--port", "0", "--principals", str(file), *options)
    process = run_process(*arguments, folder=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert sentence in process.stderr
    assert "Traceback" not in process.stderr


def test_a_token_has_one_principal(secured: Secured) -> None:
    with pytest.raises(ValueError, match="A token is that of the principal 'ada', too"):
        kiprdf.serve.app(
            kiprdf.Nexus.memory(), token=secured.tokens["ada"], principals=secured.file
        )
    with pytest.raises(ValueError, match="cannot be read"):
        app(kiprdf.Nexus.memory(), principals="nowhere.toml")


# Without a token ----------------------------------------------------------------------------------


def test_without_a_token_a_request_is_local_and_human(folder: Path, tmp_path: Path) -> None:
    nexus = copied(folder, tmp_path / "kb")
    with serving(nexus) as server:
        assert server.kip(WRITE, parameters={"name": "local"}).status_code == 200
        actor = server.kip(ACTOR, parameters={"name": "local"}).json()["result"]
    assert actor == ["human/local"]


def test_in_a_network_a_request_without_a_token_is_no_person(tmp_path: Path) -> None:
    options = ("--create", "--host", "0.0.0.0", "--insecure-no-token")
    with serving(tmp_path / "kb", *options) as server:
        address = server.address.replace("0.0.0.0", "127.0.0.1")
        params = {"command": 'UPSERT { CONCEPT { {type: "Domain", name: "D"} } }'}
        httpx.post(f"{address}kip", json={"method": "execute_kip", "params": params})
        params = {"command": 'FIND(?d.metadata._actor) WHERE { ?d {name: "D"} }'}
        answer = httpx.post(f"{address}kip", json={"method": "execute_kip", "params": params})
    assert answer.json() == {"result": ["model/network"]}


# MCP ----------------------------------------------------------------------------------------------

NOTE = {"text": "We use Docker for deployments."}


async def written_by_a_client(session: Any, name: str) -> tuple[Any, Any]:
    """Who wrote what a client of MCP has written, in KIP and as a note."""
    await session.initialize()
    call = {"command": WRITE, "parameters": {"name": name}}
    written = await session.call_tool("execute_kip", call)
    assert not written.is_error, written
    noted = await session.call_tool("remember", NOTE)
    identity = noted.structured_content["result"]["id"]
    read = {"command": ACTOR, "parameters": {"name": name}}
    by = await session.call_tool("execute_kip_readonly", read)
    note = "FIND(?n.metadata._actor) WHERE { ?n {name: :name} }"
    call = {"command": note, "parameters": {"name": identity}}
    of_note = await session.call_tool("execute_kip_readonly", call)
    return by.structured_content["result"], of_note.structured_content["result"]


@pytest.mark.parametrize(
    ("options", "name", "actor"),
    [([], "mcp", "model/mcp"), (["--as", "ada", "--kind", "human"], "ada", "human/ada")],
)
def test_a_child_with_mcp_acts_as_its_principal(
    folder: Path, tmp_path: Path, options: list[str], name: str, actor: str
) -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    nexus = copied(folder, tmp_path / "kb")

    async def run(program: StdioServerParameters) -> None:
        async with stdio_client(program) as streams, ClientSession(*streams[:2]) as session:
            written = await written_by_a_client(session, "by stdio")
            assert written == ([actor], [actor])

    with over_pipes(["-m", "kiprdf", "mcp", str(nexus), *options]) as program:
        asyncio.run(run(program))
    (session,) = {session for _, session in sessions(nexus, author=name)}
    assert session.startswith("mcp-")


def test_a_wrong_name_of_a_client_is_refused(tmp_path: Path) -> None:
    for name in ("owner", "", "a\u200bda"):
        arguments = ("mcp", str(tmp_path / "kb"), "--create", "--as", name)
        process = run_process(*arguments, folder=tmp_path)
        assert (process.returncode, process.stderr[:9]) == (2, "The name ")
    assert not (tmp_path / "kb").exists()


async def over_http(address: str, headers: dict[str, str], name: str) -> tuple[Any, Any]:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx.AsyncClient(headers=headers, timeout=60) as client,
        streamable_http_client(f"{address}mcp", http_client=client) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        return await written_by_a_client(session, name)


def test_a_client_over_http_acts_as_the_principal_of_its_token(secured: Secured) -> None:
    headers = secured.headers("claude", KIP_Session="chat")
    written = asyncio.run(over_http(secured.server.address, headers, "by mcp"))
    assert written == (["model/claude"], ["model/claude"])


@pytest.mark.parametrize(
    ("command", "options", "actor"),
    [
        ("serve", (), "model/mcp"),
        ("mcp", ("--http", "--as", "desktop", "--kind", "job"), "job/desktop"),
    ],
)
def test_a_client_over_http_without_a_token(
    command: str, options: tuple[str, ...], actor: str, folder: Path, tmp_path: Path
) -> None:
    nexus = copied(folder, tmp_path / "kb")
    with serving(nexus, *options, command=command) as server:
        assert asyncio.run(over_http(server.address, {}, "by mcp")) == ([actor], [actor])


def test_clients_of_mcp_have_the_tokens_of_principals(tmp_path: Path) -> None:
    file = tmp_path / "principals.toml"
    token = principals.add(file, "claude", "model", "write")
    options = ("--http", "--create", "--principals", str(file))
    with serving(tmp_path / "kb", *options, command="mcp") as server:
        assert server.client.get("/mcp").status_code == 401
        headers = {"Authorization": f"Bearer {token}"}
        kip = {"method": "execute_kip", "params": {"command": "DESCRIBE DOMAINS"}}
        assert server.client.post("/kip", json=kip, headers=headers).status_code == 200


def test_a_client_is_offered_what_its_principal_may_do(secured: Secured) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async def tools(name: str) -> set[str]:
        async with (
            httpx.AsyncClient(headers=secured.headers(name), timeout=60) as client,
            streamable_http_client(f"{secured.server.address}mcp", http_client=client) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            await session.initialize()
            return {tool.name for tool in (await session.list_tools()).tools}

    reading = {"execute_kip_readonly", "recall"}
    assert asyncio.run(tools("reader")) == reading
    assert asyncio.run(tools("claude")) == {*reading, "execute_kip", "remember"}


def test_the_names_of_the_file_are_nobody_elses(secured: Secured) -> None:
    write = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} } WITH METADATA { author: :author } }'

    def status(name: str, author: str) -> int:
        answer = secured.server.kip(write, secured.headers(name), parameters={"author": author})
        return int(answer.status_code)

    # The reader has never written anything.
    assert status("claude", "Reader") == 403
    assert status("claude", "Claude") == 200
    assert status("root", "proposer") == 403
    assert status("token", "ada") == 403


def test_what_is_refused_is_noted_with_its_principal(folder: Path, tmp_path: Path) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.exceptions import MCPError

    file = tmp_path / "principals.toml"
    tokens = {name: principals.add(file, name, kind, access) for name, kind, access in PRINCIPALS}
    nexus = copied(folder, tmp_path / "kb")
    delete = 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "$self"} }'
    with serving(nexus, "--principals", str(file)) as server:
        at = Secured(server, file, tokens)
        server.kip(delete, at.headers("ada", KIP_Session="s-1"))
        at.write("reader", "refused")
        server.client.post("/maintenance/optimize", headers=at.headers("proposer"))
        server.client.get("/", headers={"Authorization": "Bearer wrong"})

        async def call() -> None:
            async with (
                httpx.AsyncClient(headers=at.headers("reader"), timeout=60) as client,
                streamable_http_client(f"{server.address}mcp", http_client=client) as streams,
                ClientSession(*streams[:2]) as session,
            ):
                await session.initialize()
                with pytest.raises(MCPError):
                    await session.call_tool("execute_kip", {"command": delete})

        asyncio.run(call())
    with kiprdf.Nexus.open(nexus) as opened:
        listed = [(one["principal"], one["code"], one["digest"]) for one in opened.refusals()]
        assert opened.refusals(session="s-1")[0]["principal"] == "human/ada"
    digest = hashlib.sha256(delete.encode()).hexdigest()
    assert listed == [
        ("model/reader", "KIP_3004", digest),
        ("model/proposer", "HTTP_403", None),
        ("model/reader", "HTTP_403", hashlib.sha256(WRITE.encode()).hexdigest()),
        ("human/ada", "KIP_3004", digest),
    ]


def test_a_model_cannot_review_over_http_and_is_informed_what_it_made_active(
    secured: Secured,
) -> None:
    drug = 'UPSERT { CONCEPT { {type: "Drug", name: "Judged"} SET ATTRIBUTES { dose: :dose } } }'
    review = f'{drug} WITH METADATA {{ status: "reviewed" }}'
    kip, parameters = secured.server.kip, {"dose": 1}
    refused = kip(review, secured.headers("claude"), parameters=parameters)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "KIP_3004")
    assert kip(review, secured.headers("ada"), parameters=parameters).status_code == 200
    receipt = kip(drug, secured.headers("claude"), parameters=parameters).json()["result"]
    assert "unreviewed" not in receipt
    receipt = kip(drug, secured.headers("claude"), parameters={"dose": 2}).json()["result"]
    assert receipt["unreviewed"] == ["C:Drug/Judged"]


def test_a_refusal_names_the_token_that_is_in_no_file(tmp_path: Path) -> None:
    options = ("--create", "--token", "s3cret", "--read-token", "r3ad")
    with serving(tmp_path / "kb", *options) as server:
        for token, status in (("s3cret", 400), ("r3ad", 403)):
            answer = server.kip(WRITE, {"Authorization": f"Bearer {token}"})
            assert answer.status_code == status
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        listed = [(one["principal"], one["code"]) for one in nexus.refusals()]
        assert listed == [("model/read-token", "HTTP_403"), ("model/token", "KIP_1001")]
        assert [one["principal"] for one in nexus.refusals(author="read-token")] == [
            "model/read-token"
        ]


def test_a_session_over_mcp_is_found_and_undone(folder: Path, tmp_path: Path) -> None:
    """The header of MCP itself names it: in the history, the audit log, the refusals, an undo."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    file, audit = tmp_path / "principals.toml", tmp_path / "audit.log"
    bearer = {"Authorization": f"Bearer {principals.add(file, 'claude', 'model', 'write')}"}
    nexus = copied(folder, tmp_path / "kb")
    delete = 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "$self"} }'
    options = ("--principals", str(file), "--audit-log", str(audit))

    async def write(server: RunningServer, drug: str, headers: dict[str, str]) -> None:
        async with (
            httpx.AsyncClient(headers={**bearer, **headers}, timeout=60) as client,
            streamable_http_client(f"{server.address}mcp", http_client=client) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            await session.initialize()
            call = {"command": WRITE, "parameters": {"name": drug}}
            assert not (await session.call_tool("execute_kip", call)).is_error
            assert (await session.call_tool("execute_kip", {"command": delete})).is_error
            if headers:
                assert not (await session.call_tool("remember", NOTE)).is_error

    with serving(nexus, *options) as server:
        asyncio.run(write(server, "of the chat", {"Mcp-Session-Id": "chat-7"}))
        asyncio.run(write(server, "of another", {}))
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    of_chat = [line for line in lines if line["session"] == "chat-7"]
    assert {line["principal"] for line in of_chat} == {"claude"}
    written = [line["session"] for line in lines if line["session"] != "chat-7"]
    with kiprdf.Nexus.open(nexus) as opened:
        commits = opened.changes(session="chat-7")["commits"]
        assert {(one["actor"], one["session"]) for one in commits} == {("model/claude", "chat-7")}
        (entry,) = opened.history("C:Drug/of the chat")["entries"]
        assert (entry["actor"], entry["session"]) == ("model/claude", "chat-7")
        (other,) = opened.history("C:Drug/of another")["entries"]
        assert other["session"].startswith("connection-")
        assert other["session"] in written
        assert [one["session"] for one in opened.refusals()] == [other["session"], "chat-7"]
        assert [one["code"] for one in opened.refusals(session="chat-7")] == ["KIP_3004"]
        find = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(STARTS_WITH(?d.name, "of ")) }'
        assert sorted(opened.execute(find)) == ["of another", "of the chat"]
        assert NOTE["text"] in opened.snapshot()
        opened.undo(session="chat-7")
        assert opened.execute(find) == ["of another"]
        assert NOTE["text"] not in opened.snapshot()
