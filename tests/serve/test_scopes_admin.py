"""Scopes are added, listed and erased over HTTP by admins; what others learn of them is nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import kiprdf
from tests.cli.runner import invoke
from tests.serve.scoped import ScopedServer, make, serving_scopes, token


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScopedServer]:
    place = tmp_path_factory.mktemp("scoped")
    make(place / "scopes")
    with kiprdf.Nexus.open(place / "shared") as shared:
        shared.execute('UPSERT { CONCEPT { {type: "Person", name: "of shared"} } }')
    mount = ("--mount", f"shared={place / 'shared'}")
    with serving_scopes(place, *mount, "--audit-log", str(place / "audit.jsonl")) as server:
        yield server


def audited(scoped: ScopedServer) -> list[dict[str, Any]]:
    lines = (scoped.directory.parent / "audit.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("who", "names"),
    [
        ("root", ["ada", "bob", "shared", "team"]),
        ("ada", ["team", "ada"]),
        ("nobody", []),
    ],
)
def test_scopes_are_listed(scoped: ScopedServer, who: str, names: list[str]) -> None:
    answer = scoped.send(who, "GET", "/scopes")
    assert (answer.status_code, answer.json()) == (200, {"scopes": names})


def test_a_scope_is_added_and_erased(scoped: ScopedServer) -> None:
    added = scoped.send("root", "POST", "/scopes", json={"name": "Zoë 2"})
    assert (added.status_code, added.json()) == (201, {"name": "Zoë 2"})
    assert added.headers["location"] == "/scopes/Zo%C3%AB%202/"
    path = added.headers["location"].rstrip("/")
    assert scoped.write("root", "of Zoë", path).status_code == 200
    assert scoped.people("root", path) == ["of Zoë"]
    assert scoped.send("root", "GET", f"{path}/page/Person/of%20Zo%C3%AB").status_code == 200
    assert "Zoë 2" in scoped.send("root", "GET", "/scopes").json()["scopes"]
    erased = scoped.send("root", "DELETE", path)
    assert (erased.status_code, erased.content) == (204, b"")
    assert not (scoped.directory / "Zoë 2").exists()
    assert scoped.send("root", "GET", f"{path}/").status_code == 404
    assert scoped.send("root", "DELETE", path).status_code == 404
    lines = audited(scoped)
    receipts = [(line["principal"], line["receipt"]) for line in lines]
    assert ("root", {"added": "Zoë 2"}) in receipts
    assert ("root", {"removed": "Zoë 2"}) in receipts
    assert [line["scope"] for line in lines if "scope" in line] == ["Zoë 2"]


@pytest.mark.parametrize("name", ["ada", "Ada", "аda", "shared", "SHARED"])
def test_a_name_that_is_taken_or_looks_like_it(scoped: ScopedServer, name: str) -> None:
    answer = scoped.send("root", "POST", "/scopes", json={"name": name})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "KIP_3003")


@pytest.mark.parametrize(
    "body",
    [
        {"name": name}
        for name in ("", "../ada", "a/b", ".", "con", "x" * 256, "a\u200bb", " a", "a ", 7, None)
    ]
    + [{}, [], {"name": "new", "more": 1}, {"name": ["a"]}, {"name": {"a": 1}}],
)
def test_what_is_no_name(scoped: ScopedServer, body: Any) -> None:
    answer = scoped.send("root", "POST", "/scopes", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "KIP_1001")


def test_only_admins_add_and_erase(scoped: ScopedServer) -> None:
    assert scoped.send("ada", "POST", "/scopes", json={"name": "new"}).status_code == 403
    assert scoped.send("ada", "DELETE", "/scopes/ada").status_code == 403
    hidden, absent = (scoped.send("ada", "DELETE", f"/scopes/{name}") for name in ("bob", "none"))
    assert (hidden.status_code, hidden.content) == (404, absent.content)
    assert scoped.people("root", "/scopes/bob") == ["of bob"]


def test_a_mounted_scope_is_served_and_not_erased(scoped: ScopedServer) -> None:
    assert scoped.people("root", "/scopes/shared") == ["of shared"]
    assert scoped.send("root", "DELETE", "/scopes/shared").status_code == 403
    assert scoped.people("root", "/scopes/shared") == ["of shared"]


def test_the_command_line_says_that_a_scope_is_not_there(scoped: ScopedServer) -> None:
    for name, status in (("bob", 0), ("ada", 1), ("absent", 1)):
        url = f"{scoped.server.address}scopes/{name}/"
        answer = invoke("optimize", "--nexus", url, env={"KIPRDF_TOKEN": token("bob")})
        assert answer.exit_code == status, answer.stderr
        if status:
            assert answer.stderr == f"kiprdf: The server has no nexus at {url} for this token.\n"


def test_the_description_has_the_scopes(scoped: ScopedServer) -> None:
    paths = scoped.send("ada", "GET", "/openapi.json").json()["paths"]
    assert set(paths["/scopes"]) == {"get", "post"}
    assert set(paths["/scopes/{name}"]) == {"delete"}
    # Those of one nexus.
    inner = scoped.send("ada", "GET", "/scopes/ada/openapi.json").json()
    assert "/scopes" not in inner["paths"]
    assert inner["servers"] == [{"url": f"{scoped.server.address}scopes/ada/"}]


def test_numbers_are_for_admins_and_name_no_scope(scoped: ScopedServer) -> None:
    assert scoped.send("ada", "GET", "/metrics").status_code == 403
    scoped.people("ada", "/scopes/ada")
    text = scoped.send("root", "GET", "/metrics").text
    assert 'route="/scopes"' in text
    for word in ("ada", "team", "kiprdf_commit", "kiprdf_elements"):
        assert word not in text
    for path in ("/metrics", "/login"):
        assert scoped.send("ada", "GET", f"/scopes/ada{path}").status_code == 404


def test_health_needs_no_token_and_names_no_scope(scoped: ScopedServer) -> None:
    for path, status in (("/health", "ok"), ("/ready", "ready")):
        answer = scoped.send(None, "GET", path)
        assert (answer.status_code, answer.json()) == (200, {"status": status})
    assert scoped.send(None, "GET", "/scopes/ada/health").status_code == 401
    assert scoped.send("ada", "GET", "/scopes/ada/health").json() == {"status": "ok"}
    assert scoped.send("bob", "GET", "/scopes/ada/health").status_code == 404
