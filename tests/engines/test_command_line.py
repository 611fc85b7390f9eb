"""The command line on the nexus of a store: --nexus URL and the options of stores."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kiprdf import Nexus
from tests.cli.runner import invoke
from tests.engines.filling import fill
from tests.engines.servers import Engine


@pytest.fixture
def place(server: Engine) -> list[str]:
    """The options of a nexus on a server, which is only read."""
    with Nexus.memory() as nexus:
        fill(server, nexus)
    graph = server.default_graph
    return ["--nexus", server.target, *(["--default-graph", graph] if graph else [])]


def test_info_names_the_store(place: list[str]) -> None:
    info = json.loads(invoke("info", "--json", *place).stdout)
    assert info["endpoint"] == place[1]
    assert info["folder"] is None


def test_a_command_reads(place: list[str]) -> None:
    command = 'FIND(?d.name) WHERE { ?d {type: "Domain"} } ORDER BY ?d.name LIMIT 1'
    ran = invoke("run", command, "--json", *place)
    assert json.loads(ran.stdout)["result"] == ["Archived"]


def test_a_write_needs_the_url_of_updates(place: list[str]) -> None:
    ran = invoke("run", 'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }', *place)
    assert ran.exit_code == 1
    expected = f"kiprdf: The nexus at {place[1]} is only read without --update-url.\n"
    assert ran.stderr == expected


def test_a_profile_that_contradicts_the_store_is_one_sentence(place: list[str]) -> None:
    kept = json.loads(invoke("info", "--json", *place).stdout)["profile"]
    other = "rdf11" if kept == "rdf12" else "rdf12"
    ran = invoke("info", "--profile", other, *place)
    expected = (
        f"kiprdf: The nexus in {place[1]} keeps links as {kept}, not as {other}: "
        "leave the profile out.\n"
    )
    assert (ran.exit_code, ran.stderr) == (1, expected)


def test_diff_reads_stores(place: list[str], tmp_path: Path) -> None:
    with Nexus.memory() as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Domain", name: "New"} } }')
        nexus.snapshot(tmp_path / "new.ttl")
    _, url, *graph = place
    same = invoke("diff", url, url, *graph)
    assert (same.exit_code, same.stdout, same.stderr) == (0, "", "No difference.\n")
    other = invoke("diff", url, str(tmp_path / "new.ttl"), *graph)
    assert other.exit_code == 1
    assert other.stdout.splitlines()[:2] == ["Concepts", "+ Domain:New"]


def test_the_shell_reads_without_the_url_of_updates(place: list[str]) -> None:
    ran = invoke(
        "shell",
        *place,
        input='FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} };\n'
        'UPSERT { CONCEPT { {type: "Domain", name: "New"} } };\n',
    )
    assert ran.exit_code == 0
    assert re.search(r"\b4\b", ran.stdout)
    assert "KIP_1001 1:1 The nexus is open read-only." in ran.stderr
