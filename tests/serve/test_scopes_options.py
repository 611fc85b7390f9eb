"""How a server of several nexuses is started, and who needs no token there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.cli.runner import invoke
from tests.serve.running import RunningServer, running
from tests.serve.scoped import PEOPLE, WRITE, make

MCP = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "execute_kip", "arguments": {"command": WRITE.replace(":name", '"by mcp"')}},
}
BOTH = {"Accept": "application/json, text/event-stream"}


def serve(*options: str, **environment: str) -> Any:
    arguments = ["-m", "kiprdf", "serve", "--port", "0", *options]
    return running(arguments, environment)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a directory of scopes, and with a nexus besides."""
    place = tmp_path_factory.mktemp("place")
    make(place / "scopes", ("ada",))
    kiprdf.Nexus.open(place / "other").close()
    return place


def kip(server: RunningServer, path: str, command: str, **headers: str) -> Any:
    call = {"method": "execute_kip", "params": {"command": command}}
    return server.client.post(f"{path}/kip", json=call, headers=headers)


def test_without_a_token_all_scopes_are_everybodys(tmp_path: Path) -> None:
    make(tmp_path / "scopes", ("team", "ada"))
    with serve("--scopes", str(tmp_path / "scopes")) as server:
        assert server.client.get("/scopes").json() == {"scopes": ["ada", "team"]}
        assert kip(server, "/scopes/ada", PEOPLE).json()["result"][-1] == "of ada"
        find = 'FIND(?p.metadata._actor) WHERE { ?p {type: "Person", name: "by mcp"} }'
        answer = server.client.post("/scopes/ada/mcp", json=MCP, headers=BOTH)
        assert answer.json()["result"]["isError"] is False
        assert kip(server, "/scopes/ada", find).json()["result"] == ["model/mcp"]
        assert kip(server, "", PEOPLE).status_code == 404
        assert server.client.post("/mcp", json=MCP, headers=BOTH).status_code == 404
        added = server.client.post("/scopes", json={"name": "bob"})
        assert added.status_code == 201
        assert server.client.delete("/scopes/bob").status_code == 204


def test_the_one_token_is_an_admin(tmp_path: Path) -> None:
    make(tmp_path / "scopes", ("team", "ada"))
    with serve("--scopes", str(tmp_path / "scopes"), KIPRDF_TOKEN="s3cret") as server:
        assert server.client.get("/scopes").status_code == 401
        token = {"Authorization": "Bearer s3cret"}
        assert server.client.get("/scopes", headers=token).json() == {"scopes": ["ada", "team"]}
        write = kip(server, "/scopes/ada", WRITE.replace(":name", '"x"'), **token)
        assert write.status_code == 200
        copy, address = str(tmp_path / "copy"), f"{server.address}scopes/ada/"
        done = invoke("backup", copy, "--nexus", address, "--token", "s3cret")
        assert done.exit_code == 0, done.output
        with kiprdf.Nexus.open(tmp_path / "copy", read_only=True) as copied:
            assert copied.execute(PEOPLE)[-2:] == ["of ada", "x"]
        # In a browser, it reads, as with one nexus.
        server.client.post("/login", data={"token": "s3cret"})
        assert server.client.get("/scopes/ada/explore/").status_code == 200
        assert kip(server, "/scopes/ada", WRITE.replace(":name", '"y"')).status_code == 403


def test_mounted_folders_alone(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with kiprdf.Nexus.open(tmp_path / name) as nexus:
            nexus.execute(WRITE, name=f"of {name}")
    mounts = [f"--mount=one={tmp_path / 'a'}", f"--mount=two={tmp_path / 'b'}"]
    with serve(*mounts) as server:
        assert server.client.get("/scopes").json() == {"scopes": ["one", "two"]}
        assert kip(server, "/scopes/two", PEOPLE).json()["result"][-1] == "of b"
        refused = server.client.post("/scopes", json={"name": "three"})
        assert (refused.status_code, "--scopes" in refused.text) == (403, True)
        # What is written elsewhere is refused by the name that it has here.
        assert server.client.get("/ready").json() == {"status": "ready"}


def test_a_server_that_only_reads(tmp_path: Path) -> None:
    make(tmp_path / "scopes", ("team", "ada"))
    with (
        kiprdf.Nexus.open(tmp_path / "scopes" / "ada"),
        serve("--scopes", str(tmp_path / "scopes"), "--read-only") as server,
    ):
        assert kip(server, "/scopes/ada", PEOPLE).json()["result"][-1] == "of ada"
        assert kip(server, "/scopes/ada", WRITE.replace(":name", '"x"')).status_code == 403
        assert server.client.post("/scopes", json={"name": "bob"}).status_code == 403
        assert server.client.delete("/scopes/team").status_code == 403


def test_the_directory_may_be_created(tmp_path: Path) -> None:
    with serve("--scopes", str(tmp_path / "new"), "--create") as server:
        assert server.client.post("/scopes", json={"name": "ada"}).status_code == 201
    assert json.loads((tmp_path / "new" / "ada" / "nexus.json").read_text())


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        (["--scopes", "absent"], 1, "There is no directory absent"),
        (["--scopes", "scopes/ada"], 1, "is a nexus"),
        (["ada", "--scopes", "scopes"], 2, "leave the other one out"),
        (["--nexus", "ada", "--mount", "x=other"], 2, "leave the other one out"),
        (["--memory", "--scopes", "scopes"], 2, "leave the other one out"),
        (["--scopes", "scopes", "--read-token", "r3ad"], 2, "read token"),
        (["--scopes", "scopes", "--mount", "ada=other"], 2, "'ada' is taken"),
        (["--scopes", "scopes", "--mount", "ADA=other"], 2, "'ada' is taken"),
        (["--scopes", "scopes", "--mount", "x=scopes/ada"], 2, "without this option"),
        (["--mount", "x=other", "--mount", "y=other/../other"], 2, "without this option"),
        (["--mount", "x=other", "--mount", "X=scopes/ada"], 2, "'x' is taken"),
        (["--mount", "x=absent"], 2, "There is no nexus in absent"),
        (["--mount", "../x=other"], 2, "is no name"),
        (["--mount", "other"], 2, "--mount team=FOLDER"),
        (["--scopes", "scopes", "--open-scopes", "0"], 2, "--open-scopes"),
        (["--scopes", "scopes", "--host", "0.0.0.0"], 2, "--principals"),
    ],
)
def test_what_cannot_be_served(
    place: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], status: int, reason: str
) -> None:
    monkeypatch.chdir(place)
    done = invoke("serve", *options)
    assert done.exit_code == status, done.output
    assert reason in " ".join(done.stderr.split())
