"""check, backup and optimize, and the time that a command has."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

from pyoxigraph import Quad

import kiprdf
from kiprdf.checksums import drop_note

from .conftest import Invoke


def spoil(folder: Path) -> None:
    """Assert a fact without a link, as another program might."""
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        iris = nexus.store.iris
        fact = (iris.concept("Drug", "阿司匹林"), iris.predicate("treats"))
        nexus.store.engine.add(Quad(*fact, iris.concept("Symptom", "Headache")))


def test_a_sound_nexus_has_no_faults(loaded: Invoke) -> None:
    answer = loaded("check")
    assert answer.exit_code == 0
    assert answer.stdout.endswith("; no faults. The text index is sound.\n")


def test_a_fault_is_shown_and_sets_the_exit_status(loaded: Invoke, tmp_path: Path) -> None:
    spoil(tmp_path / "nexus")
    answer = loaded("check")
    assert answer.exit_code == 1
    assert "1 fault. The text index is unchecked." in answer.stdout
    assert "the fact has no link" in answer.stdout
    shown = json.loads(loaded("check", "--json").stdout)
    assert len(shown["faults"]) == 1


def test_a_wrong_index_is_repaired(loaded: Invoke, tmp_path: Path) -> None:
    loaded("run", 'SEARCH CONCEPT "Aspirin"')
    with kiprdf.Nexus.open(tmp_path / "nexus") as nexus:
        nexus.execute('SEARCH CONCEPT "Aspirin"')
    connection = sqlite3.connect(tmp_path / "nexus" / "search.sqlite3")
    with connection:
        connection.execute("DELETE FROM element WHERE kind = 'concept'")
    connection.close()
    drop_note(tmp_path / "nexus" / "search.sqlite3")
    first, second = loaded("check"), loaded("check")
    assert first.stdout.endswith("The text index is repaired.\n")
    assert second.stdout.endswith("The text index is sound.\n")
    assert (first.exit_code, second.exit_code) == (0, 0)


def test_a_check_beside_a_writer_repairs_nothing(loaded: Invoke, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "nexus"):
        assert loaded("check").exit_code == 0


def test_a_check_loads_no_capsules(loaded: Invoke, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "bare", genesis=False) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } }')
    assert "1 concept, 0 propositions" in loaded("check", "--nexus", "bare").stdout


def test_there_is_nothing_to_check_in_an_absent_folder(loaded: Invoke, tmp_path: Path) -> None:
    answer = loaded("check", "--nexus", "none")
    assert answer.exit_code == 1
    assert "There is no nexus in none; create one with kiprdf load" in answer.stderr
    assert not (tmp_path / "none").exists()


def test_a_backup_is_a_nexus(loaded: Invoke, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "nexus"):
        answer = loaded("backup", "copy")
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert answer.stderr == "Copied nexus to copy.\n"
    count = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'
    assert "2" in loaded("run", count, "--nexus", "copy").stdout
    again = loaded("backup", "copy")
    assert again.exit_code == 1
    assert "is not empty; a backup needs an empty folder." in again.stderr


def test_a_command_that_has_no_time_times_out(loaded: Invoke) -> None:
    answer = loaded("run", "DESCRIBE DOMAINS", "--timeout", "0.000001")
    assert answer.exit_code == 1
    assert "KIP_4001" in answer.stderr
    assert "The request took longer than 1e-06 s." in answer.stderr
    assert loaded("run", "DESCRIBE DOMAINS", "--timeout", "0").exit_code == 2
    assert loaded("run", "DESCRIBE DOMAINS", "--timeout", "20").exit_code == 0


def test_a_folder_is_optimized(loaded: Invoke) -> None:
    answer = loaded("optimize", "--json")
    assert sorted(json.loads(answer.stdout)) == ["after", "before"]


# Damaged files --------------------------------------------------------------------------------


def damage(folder: Path) -> None:
    """Flip a byte of every table of the graph."""
    for table in (folder / "graph").glob("*.sst"):
        data = bytearray(table.read_bytes())
        data[len(data) // 2] ^= 1
        table.write_bytes(data)


def test_a_damaged_graph_is_repaired(loaded: Invoke, tmp_path: Path) -> None:
    question = ("run", "--json", 'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name')
    before = loaded(*question).stdout
    assert "Aspirin" in before
    damage(tmp_path / "nexus")
    refused = loaded("snapshot", "-")
    assert refused.exit_code == 1
    assert "kiprdf check" in refused.stderr
    repaired = loaded("check", "--repair")
    assert (repaired.exit_code, "no faults" in repaired.stdout) == (0, True)
    assert loaded(*question).stdout == before


def test_a_graph_that_cannot_be_repaired_is_one_sentence(loaded: Invoke, tmp_path: Path) -> None:
    loaded("run", 'FIND(?d) WHERE { ?d {type: "Drug"} }')
    shutil.rmtree(tmp_path / "nexus" / "history")
    damage(tmp_path / "nexus")
    for command in (("check",), ("check", "--repair"), ("rebuild",)):
        answer = loaded(*command)
        assert answer.exit_code == 1
        assert "have all of it: restore a backup" in answer.stderr or command == ("rebuild",)
        assert "Traceback" not in answer.stderr


def test_a_repair_beside_a_writer_is_refused(loaded: Invoke, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "nexus"):
        for command in (("check", "--repair"), ("rebuild",)):
            answer = loaded(*command)
            assert answer.exit_code == 1
            assert "open already" in answer.stderr


def test_a_graph_is_rebuilt_from_its_history(loaded: Invoke, tmp_path: Path) -> None:
    before = loaded("snapshot", "-").stdout
    spoil(tmp_path / "nexus")
    assert loaded("check").exit_code == 1
    assert loaded("rebuild").exit_code == 0
    assert loaded("check").exit_code == 0
    assert loaded("snapshot", "-").stdout == before
