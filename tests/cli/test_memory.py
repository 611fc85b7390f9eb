"""The commands of ``kiprdf memory``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import runner

NOTE = "I'm working on meshalyzer with Python."
NO_MEMORY = "kiprdf: There is no memory mem_none; kiprdf memory list shows the ids.\n"


@pytest.fixture
def nexus(tmp_path: Path) -> str:
    return str(tmp_path / "brain")


@pytest.fixture
def id(nexus: str) -> str:
    done = runner.invoke("memory", "add", NOTE, "--tag", "a", "--tag", "b", "--nexus", nexus)
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A nexus with the note, for commands that leave the graph as it is."""
    folder = str(tmp_path_factory.mktemp("memory") / "brain")
    assert runner.invoke("memory", "add", NOTE, "--nexus", folder).exit_code == 0
    return folder


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
def test_what_the_commands_print(shared: str, arguments: list[str], lines: list[str]) -> None:
    done = runner.invoke("memory", *arguments, "--nexus", shared)
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


def run(nexus: str, *arguments: str) -> list[str]:
    done = runner.invoke("memory", *arguments, "--nexus", nexus)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_a_text_is_of_the_time_that_is_given(nexus: str) -> None:
    run(nexus, "add", "I went to Rome.", "--timestamp", "2024-05-07T10:00:00+02:00")
    assert run(nexus, "list")[-1].endswith(" 2024-05-07T08:00:00Z I went to Rome.")
    done = runner.invoke("memory", "add", "x", "--timestamp", "May", "--nexus", nexus)
    assert done.exit_code != 0
    assert "'May' is no time in ISO 8601." in done.output


def test_texts_are_listed_the_newest_first(nexus: str, id: str) -> None:
    second = run(nexus, "add", "I went\nto Rome.", "--session", "s 1", "--speaker", "Melanie")[0]
    third = run(nexus, "add", "x" * 200, "--session", "t")[0]
    lines = run(nexus, "list")
    assert [line.split()[0] for line in lines] == [third, second, id]
    assert lines[0].endswith(f"Z t {'x' * 119}…")
    assert lines[1].endswith("Z s 1 Melanie: I went to Rome.")
    assert lines[2].endswith(f"Z {NOTE}")
    done = runner.invoke("memory", "list", "--limit", "1", "--nexus", nexus)
    assert (done.stdout.split()[0], done.stderr) == (
        third,
        "There are more texts: set a greater --limit.\n",
    )
    done = runner.invoke("memory", "list", "--session", "s 1", "--json", "--nexus", nexus)
    items = json.loads(done.stdout)
    assert [(item["id"], item["session"], item["speaker"], item["turn"]) for item in items] == [
        (second, "s 1", "Melanie", 1)
    ]
    assert done.stderr == ""
    none = runner.invoke("memory", "list", "--session", "none", "--nexus", nexus)
    assert (none.exit_code, none.stdout, none.stderr) == (0, "", "The session has no notes.\n")


def test_a_text_is_forgotten_or_erased(nexus: str, id: str) -> None:
    other = run(nexus, "add", "I decided to use Zebrafinch.")[0]
    assert run(nexus, "forget", id) == [id]
    assert run(nexus, "search", "meshalyzer") == []
    files = [path for path in Path(nexus).rglob("*") if path.is_file()]
    assert any(b"Zebrafinch" in path.read_bytes() for path in files)
    assert run(nexus, "forget", other, "--for-good") == [
        other,
        "[decision] Use Zebrafinch",
        "Primary User --[decided]--> Use Zebrafinch",
    ]
    files = [path for path in Path(nexus).rglob("*") if path.is_file()]
    assert not any(b"Zebrafinch" in path.read_bytes() for path in files)
    receipt = json.loads("\n".join(run(nexus, "forget", id, "--for-good", "--json")))
    assert (receipt["id"], receipt["erased"]) == (id, True)


def test_entities_are_merged_and_old_statements_decay(nexus: str, id: str) -> None:
    run(nexus, "add", "I'm working on Mesh-Analyzer. Decided to use SQLite for KG.")
    run(nexus, "add", "Decided not to use SQLite for KG.")
    merged = run(nexus, "merge", "mesh-analyzer", "meshalyzer")[0]
    assert merged.startswith("entity:")
    assert run(nexus, "search", "mesh-analyzer") == ["[project] Meshalyzer (Score: 1.0)"]
    (line,) = run(nexus, "contradictions")
    assert line.startswith(
        "[decision] Use SQLite for KG | [decision] Not to use SQLite for KG (mem_"
    )
    pairs = json.loads("\n".join(run(nexus, "contradictions", "--json")))
    assert pairs[0]["newer"]["name"] == "Not to use SQLite for KG"
    assert run(nexus, "decay", "0.000001") == ["4 edges changed."]


def test_texts_are_recalled_with_filters(tmp_path: Path) -> None:
    nexus = str(tmp_path / "n")
    for session in ("s 1", "t"):
        text = f"The soup of {session} needs garlic."
        runner.invoke("memory", "add", text, "--session", session, "--tag", "a", "--nexus", nexus)
    done = runner.invoke("memory", "recall", "garlic", "--session", "t", "--nexus", nexus)
    assert done.exit_code == 0
    assert '\nNotes (1/1):\n1. ["mem_' in done.stdout
    assert 'Z, "t": "The soup of t needs garlic."\n</memory ' in done.stdout
    options = ("--since", "2026-01-01", "--tag", "a", "--limit", "1", "--json")
    done = runner.invoke("memory", "recall", "garlic", *options, "--nexus", nexus)
    (note,) = json.loads(done.stdout)["notes"]
    assert note["item"]["tags"] == ["a"]
    for most, is_empty in ((200, False), (50, True)):
        done = runner.invoke("memory", "recall", "soup", "--max-chars", str(most), "--nexus", nexus)
        assert len(done.stdout) <= most + 1
        assert done.stderr.endswith("Nothing fits into max_chars=50.\n") is is_empty
    done = runner.invoke("memory", "recall", "garlic", "--until", "soon", "--nexus", nexus)
    assert (done.exit_code, done.stderr) == (1, "kiprdf: 'soon' is no time in ISO 8601.\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["get", "mem_none"], NO_MEMORY),
        (["forget", "mem_none"], NO_MEMORY),
        (["forget", "mem_none", "--for-good"], NO_MEMORY),
        (["merge", "a", "b"], "kiprdf: There is no entity 'a'.\n"),
        (["decay", "0"], "kiprdf: half_life_days is a number above 0.\n"),
        (
            ["add", "x", "--session", "a\nb"],
            "kiprdf: session is a text of one line, of at most 1024 characters.\n",
        ),
        (
            ["neighbors", "nobody"],
            "kiprdf: There is no entity nobody; kiprdf memory search finds one by a part of its "
            "name.\n",
        ),
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


def test_an_entity_is_named_by_its_name_or_its_type_and_name(nexus: str, id: str) -> None:
    shown = [
        runner.invoke("memory", "neighbors", name, nexus) for name in ("python", "tool:Python")
    ]
    assert shown[0].exit_code == 0
    assert "[tool] Python" in shown[0].stdout
    assert shown[1].stdout == shown[0].stdout
    assert runner.invoke("memory", "neighbors", "file:Python", nexus).exit_code == 1
