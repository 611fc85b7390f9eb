"""The table of docs/security.md of who sees which scope, each cell tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.serve.scoped import WRITE, ScopedServer, make, serving_scopes

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
SCOPES = ("ada", "team", "bob")
"""What the columns mean for ``ada``."""
NAMED = '?p {type: "Person"} FILTER(?p.name == :name)'
FIND = f"FIND(?p.name) WHERE {{ {NAMED} }}"
UPDATE = f"UPDATE ?p SET ATTRIBUTES {{a: 1}} WHERE {{ {NAMED} }}"
DELETE = f"DELETE CONCEPT ?p DETACH WHERE {{ {NAMED} }}"
MERGE = f'MERGE CONCEPT ?p INTO ?q WHERE {{ {NAMED} ?q {{type: "Person", name: "of ada"}} }}'
Do = Callable[[ScopedServer, str], int | bool]


def read(path: str) -> Do:
    return lambda server, scope: server.send("ada", "GET", f"/scopes/{scope}{path}").status_code


def maintain(name: str, **arguments: object) -> Do:
    def do(server: ScopedServer, scope: str) -> int:
        path = f"/scopes/{scope}/{name}"
        return server.send("ada", "POST", path, json=arguments).status_code

    return do


def below(command: str) -> Do:
    return lambda server, scope: (
        server.kip("ada", command, f"/scopes/{scope}", name="new").status_code
    )


def at_the_root(command: str) -> Do:
    """Whether a command at the root does anything to what only a scope has."""

    def do(server: ScopedServer, scope: str) -> bool:
        assert server.write("root", "alone", f"/scopes/{scope}").status_code == 200
        answer = server.kip("ada", command, name="alone")
        left = server.kip("root", FIND, f"/scopes/{scope}", name="alone").json()["result"]
        server.kip("root", DELETE, f"/scopes/{scope}", name="alone")
        if answer.status_code != 200:
            assert left == ["alone"]
            return False
        result = answer.json()["result"]
        return any(result.values()) if isinstance(result, dict) else result == ["alone"]

    return do


DOES: dict[str, list[Do]] = {
    "read below `/scopes/NAME/`": [read("/"), read("/graph?default"), below(FIND)],
    "find it in the answers at the root": [at_the_root(FIND)],
    "write, forget, import and back up below `/scopes/NAME/`": [
        below(WRITE),
        maintain(
            "maintenance/forget",
            command=f"FIND(?p) WHERE {{ {NAMED} }}",
            parameters={"name": "new"},
        ),
        maintain("maintenance/import", source="<urn:a> a <urn:T> .", define=True),
        maintain("backup"),
    ],
    "change, delete or merge at the root what only this scope has": [
        at_the_root(UPDATE),
        at_the_root(DELETE),
        at_the_root(MERGE),
    ],
    "erase it": [
        lambda server, scope: server.send("ada", "DELETE", f"/scopes/{scope}").status_code
    ],
}


def rows() -> list[tuple[str, list[str]]]:
    lines = PAGE.read_text("utf-8").split("## Who sees which scope")[1].split("\n## ")[0]
    table = [line.strip("| ").split(" | ") for line in lines.split("\n") if line.startswith("| ")]
    return [(what, cells) for what, *cells in table[1:]]


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScopedServer]:
    place = tmp_path_factory.mktemp("scoped")
    make(place / "scopes")
    with serving_scopes(place) as server:
        yield server


def test_each_row_of_the_table_is_tried() -> None:
    assert [what for what, _ in rows()] == list(DOES)


@pytest.mark.parametrize(("what", "cells"), rows())
def test_who_sees_which_scope(scoped: ScopedServer, what: str, cells: list[str]) -> None:
    words = {200: "yes", True: "yes", 403: "no", False: "no", 404: "404"}
    for do in DOES[what]:
        assert [words.get(do(scoped, scope)) for scope in SCOPES] == cells
