"""The index of the journal: the same answers with it, without it, and with one that is wrong."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.checksums import drop_note
from kiprdf.execution import history
from kiprdf.execution.history import Log
from kiprdf.store import commit_index, journal_files
from kiprdf.store import journal as journals
from tests.long_runs import SEED, amount
from tests.store.test_past import SCHEMA, Clock, change

STATEMENTS = amount("HISTORIES", 60)
DRUG = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {risk: :risk} } }'
SOURCED = DRUG + " WITH METADATA { source: :source }"


def filled(folder: Path) -> kiprdf.Nexus:
    """A nexus with five commits: the schema, two sources, and one that leaves the source."""
    nexus = kiprdf.Nexus.open(folder)
    nexus.execute(SCHEMA)
    nexus.execute(SOURCED, name="A", risk=1, source="doc-1")
    nexus.execute(SOURCED, name="B", risk=1, source="doc-2")
    nexus.execute(DRUG, name="A", risk=2)
    return nexus


def of_source(nexus: kiprdf.Nexus, source: Any) -> list[int]:
    return [commit["seq"] for commit in nexus.changes(0, source=source)["commits"]]


def of_element(nexus: kiprdf.Nexus, id: str) -> list[int]:
    return [entry["seq"] for entry in nexus.history(id)["entries"]]


def test_selections_of_a_random_history_are_those_of_all_its_changes() -> None:
    chance = random.Random(SEED)
    nexus = kiprdf.Nexus.memory(history=True, clock=Clock())
    nexus.execute(SCHEMA)
    for number in range(STATEMENTS):
        with nexus.acting(author=f"a{number % 3}", session=f"s{number // 5}"):
            change(nexus, chance)
        if number % 7 == 0:  # the index catches up in steps
            nexus.changes(0, author="a1")
    commits = nexus.changes(0, limit=10_000)["commits"]

    def ids(commit: dict[str, Any], prefix: str) -> bool:
        parts = [*commit["concepts"].values(), *commit["propositions"].values()]
        return any(element["id"].startswith(prefix) for part in parts for element in part)

    selections: list[tuple[dict[str, Any], Callable[[Any], bool]]] = [
        ({"author": "a1"}, lambda commit: commit["author"] == "a1"),
        ({"session": "s3"}, lambda commit: commit["session"] == "s3"),
        ({"type": "Drug"}, lambda commit: ids(commit, "C:Drug/")),
    ]
    for selection, is_meant in selections:
        shown = nexus.changes(0, limit=10_000, **selection)["commits"]
        meant = [commit["seq"] for commit in commits if is_meant(commit)]
        assert [commit["seq"] for commit in shown] == meant, selection
    for name in range(6):
        id = f"C:Drug/D{name}"
        meant = [commit["seq"] for commit in commits if ids(commit, id)]
        assert sorted(of_element(nexus, id)) == meant, id


def test_source_that_a_later_commit_leaves_is_still_that_of_the_element(tmp_path: Path) -> None:
    with filled(tmp_path / "kb") as nexus:
        first = nexus.info()["commit"] - 2
        assert of_source(nexus, "doc-1") == [first, first + 2]
        assert nexus.history("C:Drug/A")["entries"][0]["source"] == "doc-1"
        nexus.execute('DELETE METADATA {"source"} FROM ?d WHERE { ?d {type: "Drug", name: "A"} }')
        nexus.execute(DRUG, name="A", risk=3)
        assert of_source(nexus, "doc-1") == [first, first + 2, first + 3]
        sources = [entry["source"] for entry in nexus.history("C:Drug/A")["entries"]]
        assert sources == [None, None, "doc-1", "doc-1"]


def test_source_of_before_the_history_began_is_found(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", history=False) as nexus:
        nexus.execute(SCHEMA)
        for name, source in {"A": "doc-1", "B": "doc-1", "C": 1.0}.items():
            nexus.execute(SOURCED, name=name, risk=1, source=source)
        begin = nexus.info()["commit"]
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(DRUG, name="A", risk=2)
        nexus.execute(SOURCED, name="B", risk=2, source="doc-2")
        nexus.execute(DRUG, name="C", risk=2)

        def seqs(source: Any) -> list[int]:
            commits = nexus.changes(begin, source=source)["commits"]
            return [commit["seq"] - begin for commit in commits]

        assert (seqs("doc-1"), seqs("doc-2"), seqs(1)) == ([1, 2], [2], [3])
        index = sqlite3.connect(tmp_path / "kb" / "history" / "index.sqlite3")
        with closing(index):  # another program has it locked
            index.execute("BEGIN IMMEDIATE")
            assert seqs("doc-1") == [1, 2]


def test_page_after_the_last_commit_is_empty(tmp_path: Path) -> None:
    with filled(tmp_path / "kb") as nexus:
        last = str(nexus.info()["commit"])
        for cursor in (last, "9" * 20):
            assert nexus.changes(0, source="doc-1", cursor=cursor)["commits"] == []


@pytest.mark.parametrize("source", [1, 1.0, True, ["a", 1], {"b": 1, "a": None}, "line\nbreak"])
def test_sources_of_every_kind_are_found(source: Any) -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    nexus.execute(SOURCED, name="A", risk=1, source=source)
    assert of_source(nexus, source) == [nexus.info()["commit"]]


def remove(index: Path) -> None:
    index.unlink()


def damage(index: Path) -> None:
    index.write_bytes(b"no database" * 1_000)
    drop_note(index)


def cut(index: Path) -> None:
    index.write_bytes(index.read_bytes()[:5_000])
    drop_note(index)


@pytest.mark.parametrize("fault", [remove, damage, cut])
@pytest.mark.parametrize("read_only", [False, True])
def test_index_that_is_absent_or_damaged_is_made_again(
    tmp_path: Path, fault: Callable[[Path], None], read_only: bool
) -> None:
    with filled(tmp_path / "kb") as nexus:
        answers = nexus.history("C:Drug/A"), nexus.changes(0, source="doc-2")
    index = tmp_path / "kb" / "history" / "index.sqlite3"
    fault(index)
    state = index.read_bytes() if index.exists() else None
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=read_only) as nexus:
        assert (nexus.history("C:Drug/A"), nexus.changes(0, source="doc-2")) == answers
        if read_only:
            assert state == (index.read_bytes() if index.exists() else None)


@pytest.mark.parametrize("read_only", [False, True])
def test_index_of_another_journal_is_not_believed(tmp_path: Path, read_only: bool) -> None:
    with kiprdf.Nexus.open(tmp_path / "other") as nexus:
        for name in "CDEFGH":
            nexus.execute('UPSERT { CONCEPT { {type: "Person", name: :name} } }', name=name)
        nexus.history("C:Person/C")
    with filled(tmp_path / "kb") as nexus:
        entries = of_element(nexus, "C:Drug/A")
    index = Path("history", "index.sqlite3")
    shutil.copy(tmp_path / "other" / index, tmp_path / "kb" / index)
    drop_note(tmp_path / "kb" / index)
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=read_only) as nexus:
        assert of_element(nexus, "C:Drug/A") == entries
        with pytest.raises(kiprdf.KipError, match="does not mention C:Person/C"):
            nexus.history("C:Person/C")


def test_index_follows_a_journal_that_is_compacted_and_rewritten(tmp_path: Path) -> None:
    with filled(tmp_path / "kb") as nexus:
        last = nexus.info()["commit"]
        assert of_element(nexus, "C:Drug/A") == [last, last - 2]
        nexus.compact_history(last - 1)
        assert of_element(nexus, "C:Drug/A") == [last]
        assert nexus.history("C:Drug/A")["entries"][0]["source"] == "doc-1"
        assert [commit["seq"] for commit in nexus.changes(last - 1, source="doc-1")["commits"]] == [
            last
        ]
        nexus.forget('FIND(?d) WHERE { ?d {type: "Drug", name: "A"} }')
        with pytest.raises(kiprdf.KipError, match="does not mention C:Drug/A"):
            nexus.history("C:Drug/A")
        nexus.execute(DRUG, name="B", risk=5)
        assert of_element(nexus, "C:Drug/B") == [last + 2]


def test_question_that_a_compaction_interrupts_is_asked_again(tmp_path: Path) -> None:
    with filled(tmp_path / "kb") as nexus:
        last = nexus.info()["commit"]
        logs: list[Log] = []

        def numbers() -> list[int]:
            logs.append(Log(nexus.store))
            if len(logs) == 1:
                nexus.compact_history(last - 1)
            return list(logs[-1].numbers(type="Drug"))

        assert (nexus.store.read(numbers), len(logs)) == ([last], 2)


def test_changes_since_a_late_commit_read_no_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[int] = []

    def noted(data: bytes) -> journal_files.Commit:
        commit = journal_files.decoded(data)
        decoded.append(commit.number)
        return commit

    monkeypatch.setattr(journals, "decoded", noted)
    monkeypatch.setattr(commit_index, "decoded", noted)
    with filled(tmp_path / "kb") as nexus:
        nexus.execute(DRUG, name="A", risk=7)
        last = nexus.info()["commit"]
        decoded.clear()
        commits = nexus.changes(last - 2)["commits"]
        assert [commit["seq"] for commit in commits] == [last - 1, last]
        assert {*decoded} == {last - 1, last}
        decoded.clear()
        commits = nexus.changes(last - 1, type="Drug")["commits"]
        assert [commit["seq"] for commit in commits] == [last]
        assert {*decoded} == {last}
        decoded.clear()
        assert nexus.history("C:Drug/A")["entries"][0]["seq"] == last
        assert 1 in decoded, "an element is looked up in the index of all commits"


def test_changes_are_the_same_with_an_index_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled(tmp_path / "kb") as nexus:
        for source in ("doc-2", "doc-3", "doc-2"):
            nexus.execute(DRUG, name="A", risk=len(source))
            nexus.execute(
                "UPDATE ?d SET ATTRIBUTES {seen: true} SET METADATA {source: :source} "
                'WHERE { ?d {type: "Drug"} }',
                source=source,
            )
            nexus.execute('UPDATE ?d SET ATTRIBUTES {seen: false} WHERE { ?d {type: "Drug"} }')
        without_index = nexus.changes(None, source="doc-2"), nexus.changes(0)
        monkeypatch.setattr(history, "FEW", 0)
        assert (nexus.changes(None, source="doc-2"), nexus.changes(0)) == without_index


def test_writes_do_not_touch_the_index(tmp_path: Path) -> None:
    with filled(tmp_path / "kb") as nexus:
        index = tmp_path / "kb" / "history" / "index.sqlite3"
        assert not index.exists()
        nexus.history("C:Drug/A")
        # An index that cannot be written: a folder is in its place.
        nexus.compact_history(nexus.info()["commit"] - 1)
        index.mkdir()
        nexus.execute(DRUG, name="A", risk=3)
        assert len(of_element(nexus, "C:Drug/A")) == 2


def test_commits_of_sealed_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "SEALED_BYTES", 4_000)
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        first = nexus.info()["commit"]
        for number in range(1, 25):
            nexus.execute(DRUG, name=f"D{number % 5}", risk=number)
        assert len(list((tmp_path / "kb" / "history").glob("*.kseg"))) > 3
        assert [number - first for number in of_element(nexus, "C:Drug/D2")] == [22, 17, 12, 7, 2]
        keys = nexus.history("C:Drug/D2", limit=1, cursor=str(first + 17))["entries"][0]["keys"]
        assert keys == [{"key": "attributes.risk", "before": 7, "after": 12}]
