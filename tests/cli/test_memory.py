"""The commands of ``kiprdf memory``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import runner

NOTE = "I'm working on meshalyzer with Python."


@pytest.fixture
def nexus(tmp_path: Path) -> str:
    return str(tmp_path / "brain")


@pytest.fixture
def id(nexus: str) -> str:
    done = runner.invoke("memory", "add", NOTE, "--tag", "a", "--tag", "b", "--nexus", nexus)
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


def test_add_prints_the_id_and_get_the_text(nexus: str, id: str) -> None:
    assert id.startswith("mem_")
    assert runner.invoke("memory", "get", id, "--nexus", nexus).stdout == NOTE + "\n"
    item = json.loads(runner.invoke("memory", "get", id, "--json", "--nexus", nexus).stdout)
    assert (item["content"], item["tags"]) == (NOTE, ["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["stats"], ["memories: 1", "entities: 3", "edges: 2", "  [user] 1", "  [project] 1",
                     "  [tool] 1", "  uses: 1", "  works_on: 1"]),
        (["search", "mesh"], ["[project] Meshalyzer (Score: 0.7)"]),
        (["search", "mesh", "--type", "tool", "--limit", "3"], []),
        (["neighbors", "python"], ["User --[uses]--> [tool] Python (weight: 0.8)"]),
        (["neighbors", "entity:user:primary", "--direction", "incoming"], []),
        (["context", "nothing"], []),
        (["rebuild"], ["memories: 1, entities: 3, edges: 2"]),
        (["rebuild", "--dry-run"], ["memories: 1, entities: 3, edges: 2"]),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("id")
def test_what_the_commands_print(nexus: str, arguments: list[str], lines: list[str]) -> None:
    done = runner.invoke("memory", *arguments, "--nexus", nexus)
    assert (done.exit_code, done.stdout.splitlines()) == (0, lines)


@pytest.mark.usefixtures("id")
def test_a_snapshot_is_exported_and_imported(nexus: str, tmp_path: Path) -> None:
    file, other = str(tmp_path / "graph.json"), str(tmp_path / "other")
    assert runner.invoke("memory", "export", file, "--nexus", nexus).exit_code == 0
    assert json.loads(Path(file).read_text("utf-8"))["version"] == "1.0"
    done = runner.invoke("memory", "import", file, "--merge", "--json", "--nexus", other)
    assert json.loads(done.stdout) == {"entities": 3, "edges": 2, "created": 5, "updated": 0}
    context = runner.invoke("memory", "context", "python", "--nexus", other).stdout
    assert "  User --[uses]--> [tool] Python (weight: 0.8)\n" in context


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["get", "mem_none"], "kiprdf: There is no memory mem_none.\n"),
        (["neighbors", "nobody"], "kiprdf: There is no entity nobody.\n"),
        (["import", "graph.txt"], "kiprdf: There is no file graph.txt.\n"),
        (["export", "/"], "kiprdf: / cannot be written: Is a directory.\n"),
    ],
)
@pytest.mark.usefixtures("id")
def test_a_failure_is_one_sentence(nexus: str, arguments: list[str], sentence: str) -> None:
    done = runner.invoke("memory", *arguments, "--nexus", nexus)
    assert (done.exit_code, done.stderr) == (1, sentence)


@pytest.mark.usefixtures("id")
def test_another_version_of_a_snapshot_is_refused(nexus: str, tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_text('{"version": "3.0"}', "utf-8")
    done = runner.invoke("memory", "import", str(file), "--nexus", nexus)
    assert (done.exit_code, done.stderr) == (
        1,
        "kiprdf: The snapshot has version '3.0'; this is version '1.0'.\n",
    )
