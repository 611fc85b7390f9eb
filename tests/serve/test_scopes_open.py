"""Folders of scopes are opened on demand and closed again; one that is broken affects no other."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import kiprdf
from kiprdf.serve.connections import LEAST_CONNECTIONS, most_connections
from tests.serve.raw import connect, head
from tests.serve.scoped import PEOPLE, ScopedServer, make, serving_scopes, token

NAMES = ("team", "ada", "bob", "cleo", "dan")
MANY = {
    "root": ("human", "admin", [], None),
    "ada": ("human", "write", ["team", "ada"], "ada"),
    "bob": ("model", "write", ["bob"], "bob"),
    "turned": ("model", "read", ["ada", "team"], None),
    "three": ("model", "read", ["team", "ada", "bob"], None),
}


def open_folders(scoped: ScopedServer) -> set[str]:
    """The names of the scopes of which the server has files open."""
    start = f"{scoped.directory}{os.sep}"
    names = set()
    for entry in Path(f"/proc/{scoped.server.pid}/fd").iterdir():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        if target.startswith(start):
            names.add(target.removeprefix(start).split(os.sep)[0])
    return names


def form_key(scoped: ScopedServer, name: str) -> str:
    """What the form that edits an element of a scope sends."""
    form = f"/scopes/{name}/explore/act/edit/Person/Eve?key=attributes.age"
    page = scoped.send("root", "GET", form).text
    keys = re.findall(r'name="key" value="([0-9a-f]{64})"', page)
    assert len(keys) == 1
    return str(keys[0])


@contextmanager
def held(scoped: ScopedServer, who: str, path: str) -> Iterator[socket.socket]:
    """A request whose body is not complete."""
    call = {"method": "execute_kip", "params": {"command": PEOPLE}}
    body = json.dumps(call).encode()
    fields = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    with connect(scoped.server) as connection:
        authorization = f"Authorization: Bearer {token(who)}"
        connection.sendall(head("POST", f"{path}/kip", authorization, *fields) + body[:1])
        # It is read when another request on this path has been answered.
        scoped.people(who, path)
        connection.sendall(body[1:-1])
        yield connection
        connection.sendall(body[-1:])
        assert b"200 OK" in connection.recv(65_536)


def test_few_folders_are_open_at_once(tmp_path: Path) -> None:
    make(tmp_path / "scopes", NAMES)
    with serving_scopes(tmp_path, "--open-scopes", "2", access=MANY) as scoped:
        assert open_folders(scoped) == set()
        for name in NAMES:
            assert scoped.people("root", f"/scopes/{name}") == [f"of {name}"]
            assert len(open_folders(scoped)) <= 2
        assert open_folders(scoped) == {"cleo", "dan"}
        assert scoped.people("root", "/scopes/cleo") == ["of cleo"]
        assert scoped.people("root", "/scopes/ada") == ["of ada"]
        assert open_folders(scoped) == {"cleo", "ada"}
        # A view has its members open, and is closed with one of them.
        assert scoped.people("ada") == ["of ada", "of team"]
        assert open_folders(scoped) == {"team", "ada"}
        assert scoped.write("ada", "of the view").status_code == 200
        assert scoped.people("bob") == ["of bob"]
        assert scoped.people("ada") == ["of ada", "of team", "of the view"]
        assert scoped.people("turned") == ["of ada", "of team", "of the view"]
        too_many = scoped.kip("three", PEOPLE)
        assert too_many.status_code == 503
        assert "--open-scopes" in too_many.json()["error"]["hint"]
        # A form outlives the closing of its folder.
        age = 'UPSERT { CONCEPT { {type: "Person", name: "Eve"} SET ATTRIBUTES { age: 7 } } }'
        for name in ("ada", "dan"):
            assert scoped.kip("root", age, f"/scopes/{name}").status_code == 200
        first = form_key(scoped, "ada")
        assert form_key(scoped, "dan") != first
        assert scoped.people("bob") == ["of bob"]
        assert open_folders(scoped) == {"dan", "bob"}
        assert form_key(scoped, "ada") == first


def test_what_is_read_is_not_closed(tmp_path: Path) -> None:
    make(tmp_path / "scopes", NAMES)
    with serving_scopes(tmp_path, "--open-scopes", "2", access=MANY) as scoped:
        with held(scoped, "root", "/scopes/ada"), held(scoped, "root", "/scopes/team"):
            busy = scoped.kip("root", PEOPLE, "/scopes/bob")
            assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
            assert open_folders(scoped) == {"ada", "team"}
            # They go on to be read, also as a view.
            assert scoped.people("ada") == ["of ada", "of team"]
            refused = scoped.send("root", "DELETE", "/scopes/ada")
            assert refused.status_code == 409
            assert scoped.people("root", "/scopes/ada") == ["of ada"]
        assert scoped.people("root", "/scopes/bob") == ["of bob"]
        with held(scoped, "root", "/scopes/ada"), ThreadPoolExecutor() as threads:
            erasing = threads.submit(scoped.send, "root", "DELETE", "/scopes/bob")
            assert erasing.result().status_code == 204
        # What is erased has no view any more, and says which scope is missing.
        assert scoped.send("root", "DELETE", "/scopes/ada").status_code == 204
        missing = scoped.kip("ada", PEOPLE)
        assert (missing.status_code, "'ada'" in missing.text) == (503, True)
        assert scoped.kip("ada", PEOPLE, "/scopes/ada").status_code == 404
        assert scoped.people("ada", "/scopes/team") == ["of team"]


def test_many_requests_take_turns(tmp_path: Path) -> None:
    make(tmp_path / "scopes", NAMES)
    limits = ("--open-scopes", "3", "--max-rows", "30")
    with serving_scopes(tmp_path, *limits, access=MANY) as scoped:
        chosen = random.Random(7)
        places = [("root", f"/scopes/{name}") for name in NAMES]
        places += [("ada", ""), ("turned", ""), ("three", ""), ("bob", "")]
        expected = {("root", f"/scopes/{name}"): [f"of {name}"] for name in NAMES}
        expected |= {key: ["of ada", "of team"] for key in (("ada", ""), ("turned", ""))}
        expected |= {("three", ""): ["of ada", "of bob", "of team"], ("bob", ""): ["of bob"]}
        most = 0

        def ask(place: tuple[str, str]) -> None:
            nonlocal most
            for _ in range(20):
                answer = scoped.kip(place[0], PEOPLE, place[1])
                if answer.status_code != 503:
                    break
            people = [name for name in answer.json()["result"] if name.startswith("of ")]
            assert people == expected[place]
            most = max(most, len(open_folders(scoped)))

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(ask, [chosen.choice(places) for _ in range(80)]))
        assert 2 <= most <= 3
        # The limits of a request hold for views, too.
        for who, path in (("ada", ""), ("bob", ""), ("root", "/scopes/ada")):
            answer = scoped.kip(who, "FIND(?x) WHERE { ?x {} }", path)
            assert answer.json()["error"]["code"] == "KIP_4002", (who, path)


def test_a_broken_scope_affects_no_other(tmp_path: Path) -> None:
    make(tmp_path / "scopes", NAMES)
    shutil.copytree(tmp_path / "scopes" / "cleo", tmp_path / "copy")
    (tmp_path / "scopes" / "dan" / "nexus.json").write_text("{")
    access = {**MANY, "dan": ("model", "write", ["dan"], "dan")}
    access["cleo"] = ("model", "write", ["team", "cleo"], "cleo")
    with serving_scopes(tmp_path, access=access) as scoped:

        def check(who: str, path: str, reason: str) -> None:
            answer = scoped.kip(who, PEOPLE, path)
            assert answer.status_code == 503, answer.text
            assert reason in answer.json()["error"]["message"]
            assert str(tmp_path) not in answer.text
            assert scoped.people("bob") == ["of bob"]

        # It is damaged.
        check("dan", "/scopes/dan", "'dan'")
        check("dan", "", "'dan'")
        assert scoped.kip("ada", PEOPLE, "/scopes/dan").status_code == 404
        # Another process has it.
        with kiprdf.Nexus.open(scoped.directory / "ada"):
            check("ada", "/scopes/ada", "Another process")
            check("ada", "", "Another process")
            assert scoped.send("root", "DELETE", "/scopes/ada").status_code == 409
            assert scoped.people("ada", "/scopes/team") == ["of team"]
        assert scoped.people("ada") == ["of ada", "of team"]
        # It is removed from the disk.
        assert scoped.people("cleo") == ["of cleo", "of team"]
        shutil.rmtree(scoped.directory / "cleo")
        check("cleo", "", "'cleo'")
        check("cleo", "/scopes/cleo", "'cleo'")
        assert scoped.kip("ada", PEOPLE, "/scopes/cleo").status_code == 404
        shutil.copytree(tmp_path / "copy", scoped.directory / "cleo")
        assert scoped.people("cleo") == ["of cleo", "of team"]
        assert "cleo" in open_folders(scoped)
        # It is removed, and there is another one in its place before anybody asks.
        shutil.rmtree(scoped.directory / "cleo")
        assert scoped.send("root", "POST", "/scopes", json={"name": "cleo"}).status_code == 201
        assert scoped.people("cleo", "/scopes/cleo") == []
        assert scoped.write("cleo", "of another", "/scopes/cleo").status_code == 200
        assert scoped.people("cleo") == ["of another", "of team"]
        (scoped.directory / "cleo").rename(tmp_path / "moved")
        shutil.copytree(tmp_path / "copy", scoped.directory / "cleo")
        check("cleo", "/scopes/cleo", "no longer there")
        assert scoped.people("cleo") == ["of cleo", "of team"]
        # The directory is away.
        scoped.directory.rename(tmp_path / "away")
        for method, options in (("GET", {}), ("POST", {"json": {"name": "eve"}})):
            failed = scoped.send("root", method, "/scopes", **options)
            assert failed.status_code == 500
            assert failed.json()["error"]["message"] == "The server failed."
        (tmp_path / "away").rename(scoped.directory)
    # The end of the server has released all.
    for name in ("team", "ada", "cleo"):
        kiprdf.Nexus.open(tmp_path / "scopes" / name).close()


def test_descriptors_are_left_for_folders() -> None:
    assert most_connections(10**9) == LEAST_CONNECTIONS
    assert most_connections() > LEAST_CONNECTIONS
