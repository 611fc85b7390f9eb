"""The option --entail of the commands that ask, and what ``info`` shows (docs/decisions/208)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.nexus.test_entail import ANSWERS, FACTS, PLACES, SCHEMA

from .conftest import Invoke

OPTIONS: list[tuple[list[str], Any]] = [
    ([], None),
    (["--entail"], True),
    (["--entail=true"], True),
    (["--entail", "true"], True),
    (["--entail=same_as"], "same_as"),
    (["--entail", "same_as"], "same_as"),
    (["--entail=false"], False),
]


def made(folder: Path, default: Any) -> None:
    with kiprdf.Nexus.open(folder, entail=default) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)


def result(invoke: Invoke, *arguments: str) -> Any:
    return json.loads(invoke(*arguments, PLACES, "--json").stdout)["result"]


@pytest.mark.parametrize("default", [False, "same_as"])
def test_each_command_asks_as_its_option_says_and_else_as_the_nexus_does(
    invoke: Invoke, tmp_path: Path, default: Any
) -> None:
    made(tmp_path / "nexus", default)
    commit = json.loads(invoke("info", "--json").stdout)["commit"]
    rows = {False: "1 row", True: "3 rows", "same_as": "2 rows"}
    for options, value in OPTIONS if default else OPTIONS[:2]:
        assert result(invoke, "run", *options) == ANSWERS[default if value is None else value]
    for options, value in (OPTIONS[0], OPTIONS[1], OPTIONS[-1]):
        chosen = default if value is None else value
        assert rows[chosen] in invoke("run", *options, PLACES).stderr
        assert result(invoke, "at", str(commit), *options) == ANSWERS[chosen]
        assert result(invoke, "why", *options) == ANSWERS[chosen]
        assert result(invoke, "diagnose", *options)[-1]["solutions"] == len(ANSWERS[chosen])
        shell = invoke("shell", "--read-only", *options, input=f"{PLACES};\nDESCRIBE DOMAINS;\n")
        assert rows[chosen] in shell.stderr
        assert "CoreSchema" in shell.stdout
    sparql = {
        value: invoke("explain", *options, PLACES, "--json").stdout for options, value in OPTIONS
    }
    assert "City" not in sparql[False]
    assert "City" in sparql[True]
    assert sparql[None] == sparql[default]


def test_another_value_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    made(tmp_path / "nexus", False)
    refused = invoke("run", "--entail=yes", PLACES)
    assert refused.exit_code == 2
    assert "'yes' is not one of true, false, same_as." in " ".join(refused.stderr.split())


def test_only_a_find_is_asked_so(invoke: Invoke, tmp_path: Path) -> None:
    made(tmp_path / "nexus", False)
    for command in ("DESCRIBE DOMAINS", 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Place"} }'):
        refused = invoke("run", "--entail", command)
        assert refused.exit_code == 1
        assert "Only a FIND can be asked for what follows." in refused.stderr
        assert invoke("run", "--entail=false", "--dry-run", command).exit_code == 0


def test_a_parameter_may_be_called_entail(invoke: Invoke, tmp_path: Path) -> None:
    made(tmp_path / "nexus", False)
    named = 'FIND(?p.name) WHERE { ?p {type: "City", name: :entail} }'
    for command in ("run", "why"):
        answer = invoke(command, "--entail", "--param", "entail=Turin", named, "--json")
        assert json.loads(answer.stdout)["result"] == ["Turin"]
        answer = invoke(command, "--param", "entail=Turin", named, "--json")
        assert json.loads(answer.stdout)["result"] == ["Turin"]
    assert "Turin" in invoke("run", "--param", "entail=Turin", named).stdout
    assert invoke("explain", "--param", "entail=Turin", named).exit_code == 0
    assert invoke("diagnose", "--param", "entail=Turin", named).exit_code == 0


@pytest.mark.parametrize("default", [False, "same_as"])
def test_info_shows_the_default(invoke: Invoke, tmp_path: Path, default: Any) -> None:
    made(tmp_path / "nexus", default)
    assert json.loads(invoke("info", "--json").stdout)["entail"] == default
    lines = [line for line in invoke("info").stdout.splitlines() if "entail" in line]
    assert len(lines) == 1
    assert str(default).lower() in lines[0].lower()


def test_why_names_an_element_that_is_the_same_as_in_its_facts(
    invoke: Invoke, tmp_path: Path
) -> None:
    made(tmp_path / "nexus", False)
    question = 'FIND(?p.name) WHERE { ?p {type: "City", name: "Turin"} }'
    lines = invoke("why", "--entail=same_as", question).stdout.splitlines()
    named = [line.strip() for line in lines if "by the rule same_as" in line]
    assert named == ["by the rule same_as of City:Torino"], lines


def test_a_cursor_says_that_it_belongs_to_what_follows(invoke: Invoke, tmp_path: Path) -> None:
    made(tmp_path / "nexus", False)
    question = PLACES + " LIMIT 1"
    cursor = json.loads(invoke("run", "--entail", question, "--json").stdout)["next_cursor"]
    following = f'{question} CURSOR "{cursor}"'
    assert invoke("run", "--entail", following).exit_code == 0
    refused = " ".join(invoke("run", following).stderr.split())
    assert "Send a cursor with the command, parameters, view and entail of the" in refused
