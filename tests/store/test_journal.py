"""The journal: records in files, what is damaged in them, and a graph that lost commits."""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, Literal, NamedNode, Triple

import kiprdf
from kiprdf.store import journal as journals
from kiprdf.store.delta import Origin
from kiprdf.store.journal import Journal
from kiprdf.store.journal_files import Commit, decoded, encoded
from tests.nexus.support import dataset

ANN = NamedNode("urn:kip:nexus/Person/Ann")
NOTE = NamedNode("urn:kip:attribute/note")
ORIGIN = Origin("2026-01-01T00:00:00.000Z", "UPSERT", "agent-7", None)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
terms = (
    texts.map(Literal)
    | st.builds(lambda text: Literal(text, language="en"), texts)
    | st.builds(lambda text: Literal(text, language="ar", direction=BaseDirection.RTL), texts)
    | st.builds(lambda text: Literal(text, datatype=NamedNode("urn:x:type")), texts)
    | st.just(ANN)
    | st.just(Triple(ANN, NOTE, ANN))
)
rows = st.lists(st.tuples(st.just(ANN), st.just(NOTE), terms), max_size=4)


def note(number: int, text: str = "a text") -> Commit:
    return Commit(number, ORIGIN, (), [Triple(ANN, NOTE, Literal(f"{text} {number}"))])


def numbers(journal: Journal, after: int = 0, until: int = 10_000) -> list[int]:
    return [commit.number for commit in journal.commits(after, until)]


@given(rows, rows, st.dictionaries(texts, st.tuples(st.none() | texts, texts), max_size=2))
def test_record_is_read_as_it_was_written(
    removed: list[tuple[NamedNode, NamedNode, Literal]],
    added: list[tuple[NamedNode, NamedNode, Literal]],
    records: dict[str, tuple[str | None, str]],
) -> None:
    commit = decoded(encoded(Commit(7, ORIGIN, removed, added, records)))
    assert (commit.number, commit.origin, commit.records) == (7, ORIGIN, records)
    assert [tuple(triple) for triple in commit.removed] == removed
    assert [tuple(triple) for triple in commit.added] == added


def test_long_record_is_compressed() -> None:
    commit = Commit(1, ORIGIN, [], [Triple(ANN, NOTE, Literal("x" * 100_000))])
    assert len(encoded(commit)) < 1_000
    assert decoded(encoded(commit)) == commit


def test_torn_tail_is_cut_at_every_byte(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "whole")
    for number in (1, 2, 3):
        journal.append(note(number))
    journal.close()
    text = (tmp_path / "whole" / "000001.klog").read_bytes()
    third = len(text) // 3
    for size in range(2 * third, len(text)):
        folder = tmp_path / f"cut{size}"
        folder.mkdir()
        (folder / "000001.klog").write_bytes(text[:size])
        torn = Journal(folder)
        assert (torn.last, numbers(torn), torn.faults) == (2, [1, 2], [])
        assert (folder / "000001.klog").stat().st_size == 2 * third
        torn.append(note(3))
        assert numbers(torn) == [1, 2, 3]
        torn.close()


def test_statements_are_written_once_and_survive_torn_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    one, two = (journal.note_statement(text) for text in ("UPSERT {\n}", "Grüße"))
    assert journal.note_statement("UPSERT {\n}") == one
    file = tmp_path / "statements.jsonl"
    assert file.read_text() == '\n"UPSERT {\\n}"\n"Grüße"'
    file.write_text(file.read_text()[:-3])
    torn = Journal(tmp_path)
    assert set(torn.statements().values()) == {"UPSERT {\n}"}
    assert torn.statements()[one] == torn.statements()[one[:16]] == "UPSERT {\n}"
    assert torn.note_statement("Grüße") == two
    reader = Journal(tmp_path, read_only=True)
    assert set(reader.statements().values()) == {"UPSERT {\n}", "Grüße"}
    torn.copy(tmp_path / "copy")
    assert Journal(tmp_path / "copy", read_only=True).statements() == reader.statements()


def test_flipped_bit_loses_one_record_and_is_reported(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for number in (1, 2, 3, 4):
        journal.append(note(number))
    journal.close()
    log = tmp_path / "000001.klog"
    text = bytearray(log.read_bytes())
    text[len(text) // 4 + 20] ^= 1
    log.write_bytes(text)
    damaged = Journal(tmp_path)
    assert (numbers(damaged), damaged.earliest(4), damaged.has_gap) == ([1, 3, 4], 2, True)
    assert damaged.verify() == ["1 record of the file 000001.klog of the history is damaged."]


def interrupted(lines: int, function: Callable[[], object]) -> bool:
    """Whether a call was interrupted before this line of the journal that it runs."""

    def trace(frame: FrameType, event: str, value: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != journals.__file__:
            return None
        if event == "line":
            lines -= 1
            if lines == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_line_leaves_a_record_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "SEALED_BYTES", 2_600)
    journal = Journal(tmp_path)
    number, lines, interrupts = 1, 1, 0
    while number < 30:
        # As far as the lines go; then the next record, and from the first line again.
        if interrupted(lines, lambda: journal.append(note(number))):  # noqa: B023
            interrupts += 1
            if lines % 3 == 0:  # the next one takes back what the interrupt has left
                interrupted(lines % 7, lambda: journal.drop(number))  # noqa: B023
            lines += 1
            continue
        assert journal.verify() == []
        number, lines = number + 1, 1
    assert interrupts > 500
    assert numbers(journal) == list(range(1, 30))
    journal.close()
    assert numbers(Journal(tmp_path)) == list(range(1, 30))


def test_a_past_nexus_that_nobody_closes_leaves_no_files(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path) as nexus:
        past = nexus.at(1)
        assert len(list(tmp_path.glob("history/past-*"))) == 1
        del past
        gc.collect()
        assert not list(tmp_path.glob("history/past-*"))


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    """A journal of 30 records in several files."""
    monkeypatch.setattr(journals, "SEALED_BYTES", 2_600)
    journal = Journal(tmp_path / "history")
    for number in range(1, 31):
        journal.append(note(number))
    yield journal
    journal.close()


def test_sealed_files_are_compressed_and_read(sealed: Journal, tmp_path: Path) -> None:
    files = sorted(path.name for path in (tmp_path / "history").iterdir())
    assert files == ["000001.kseg", "000002.kseg", "000003.klog"]
    assert numbers(sealed) == list(range(1, 31))
    assert numbers(sealed, 8, 12) == [9, 10, 11, 12]
    again = Journal(tmp_path / "history", read_only=True)
    assert (numbers(again, 20), again.earliest(30), again.verify()) == (list(range(21, 31)), 0, [])


def test_reader_goes_on_when_a_file_is_sealed(sealed: Journal, tmp_path: Path) -> None:
    reader = Journal(tmp_path / "history", read_only=True)
    for number in range(31, 60):
        sealed.append(note(number))
    assert numbers(reader, until=30) == list(range(1, 31))


def test_deleted_and_damaged_files_are_reported(sealed: Journal, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "history", tmp_path / "damaged")
    (tmp_path / "history" / "000001.kseg").unlink()
    deleted = Journal(tmp_path / "history", read_only=True)
    assert deleted.verify() == ["A file of the history before 000002.kseg is missing."]
    assert deleted.earliest(30) == numbers(deleted)[0] - 1 > 0
    path = tmp_path / "damaged" / "000002.kseg"
    text = bytearray(path.read_bytes())
    text[30] ^= 1
    path.write_bytes(text)
    (fault,) = Journal(tmp_path / "damaged", read_only=True).verify()
    assert fault.startswith("The file 000002.kseg of the history is damaged: ")


def test_kill_between_sealing_and_removing_the_log_loses_nothing(
    sealed: Journal, tmp_path: Path
) -> None:
    log = (tmp_path / "history" / "000003.klog").read_bytes()
    sealed.append(note(31, "x" * 2_000))
    sealed.append(note(32))
    (tmp_path / "history" / "000003.klog").write_bytes(log)
    (tmp_path / "history" / "000009.partial").write_bytes(b"kip")
    again = Journal(tmp_path / "history")
    assert numbers(again) == list(range(1, 33))
    assert not (tmp_path / "history" / "000009.partial").exists()
    assert not (tmp_path / "history" / "000003.klog").exists()


def test_a_log_that_cannot_be_sealed_grows_and_is_said_once(
    sealed: Journal, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    *_, log = sorted((tmp_path / "history").glob("*.klog"))
    log.with_suffix(".kseg").mkdir()
    for number in range(31, 61):
        sealed.append(note(number))
    assert numbers(sealed) == list(range(1, 61))
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 1
    assert f"The file {log} of the history is not sealed:" in lines[0]


# In a nexus -----------------------------------------------------------------------------------


def add(nexus: kiprdf.Nexus, *names: str) -> None:
    for name in names:
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: :name} } }', name=name)


def state(nexus: kiprdf.Nexus) -> tuple[str, int]:
    history = nexus.check()["history"]
    return history["state"], history["earliest_seq"]


def test_commits_that_the_graph_lost_come_from_the_journal(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        add(nexus, "Ann")
    shutil.copytree(folder / "graph", tmp_path / "earlier")
    with kiprdf.Nexus.open(folder) as nexus:
        add(nexus, "Bob", "Cleo")
        nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ann"} }')
    with kiprdf.Nexus.open(folder, strict_schema=True) as nexus:
        whole, commit = dataset(nexus), nexus.info()["commit"]
    for history in (True, False):
        shutil.rmtree(folder / "graph")
        shutil.copytree(tmp_path / "earlier", folder / "graph")
        with kiprdf.Nexus.open(folder, history=history) as nexus:
            assert (dataset(nexus), nexus.info()["commit"]) == (whole, commit)
            assert (nexus.strict_schema, nexus.check()["faults"]) == (True, [])


def test_reader_leaves_the_journal_alone(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        add(nexus, "Ann")
    log = tmp_path / "kb" / "history" / "000001.klog"
    log.write_bytes(log.read_bytes() + b"torn")
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
        assert state(reader) == ("sound", 0)
    assert log.read_bytes().endswith(b"torn")


@pytest.fixture
def gap(tmp_path: Path) -> tuple[Path, int]:
    """A nexus of which two commits after a number were written without a history."""
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        add(nexus, "Ann")
        last = nexus.info()["commit"]
    shutil.copytree(folder / "graph", tmp_path / "earlier")
    with kiprdf.Nexus.open(folder, history=False) as nexus:
        nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ann"} }')
        add(nexus, "Bob")
        assert nexus.check()["history"] is None
        assert nexus.info()["history"] == {"earliest_seq": 0, "latest_seq": last, "closed": True}
        end = nexus.info()["commit"]
    assert end >= last + 2
    return folder, last


def test_commits_without_history_are_one_record(gap: tuple[Path, int]) -> None:
    folder, last = gap
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        end = reader.info()["commit"]
        assert reader.info()["history"] == {"earliest_seq": end, "latest_seq": end}
    with kiprdf.Nexus.open(folder) as nexus:
        assert state(nexus) == ("gap", 0)
        assert nexus.info()["history"] == {"earliest_seq": 0, "latest_seq": end}
        add(nexus, "Cleo")
        (gone,) = nexus.history("C:Person/Ann", limit=1)["entries"]
        assert (gone["seq"], gone["change"], gone["statement"]["kind"]) == (end, "deleted", "GAP")
        commits = nexus.changes(last)["commits"]
        assert [(commit["seq"], commit["kind"]) for commit in commits] == [
            (end, "GAP"),
            (end + 1, "UPSERT"),
        ]
        people = 'FIND(?p.name) WHERE { ?p {type: "Person"} }'
        named = {}
        for number in (last, end, end + 1):
            with nexus.at(number) as past:
                named[number] = sorted(set(past.execute(people)) - {"$self", "$system"})
        assert named == {last: ["Ann"], end: ["Bob"], end + 1: ["Bob", "Cleo"]}
        with pytest.raises(kiprdf.KipError) as raised:
            nexus.at(last + 1)
        assert (
            raised.value.message == f"Commits {last + 1} to {end} were written without a history."
        )
        assert raised.value.hint == f"Give {last}, before them, or {end}."
    with kiprdf.Nexus.open(folder) as nexus:
        assert state(nexus) == ("gap", 0)


def test_gap_is_compacted_forgotten_sealed_and_written_as_others(
    gap: tuple[Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, last = gap
    monkeypatch.setattr(journals, "SEALED_BYTES", 2_600)
    with kiprdf.Nexus.open(folder) as nexus:
        end = nexus.info()["commit"]
        add(nexus, "Cleo", "Dora", "Eve")
        assert list((folder / "history").glob("*.kseg"))
        nexus.snapshot(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
        nexus.forget('FIND(?p) WHERE { ?p {type: "Person", name: "Dora"} }')
        assert state(nexus) == ("gap", 0)
        with nexus.at(last) as past:
            assert past.check()["faults"] == []
        nexus.compact_history(end)
        assert state(nexus) == ("sound", end)
    with kiprdf.Nexus.open(tmp_path / "copy", genesis=False) as copy:
        copy.restore(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
        assert state(copy) == ("gap", 0)
        assert copy.history("C:Person/Bob")["entries"][0]["seq"] == end


def test_graph_that_lost_a_gap_gets_it_from_the_journal(gap: tuple[Path, int]) -> None:
    folder, _ = gap
    with kiprdf.Nexus.open(folder) as nexus:
        add(nexus, "Cleo")
        whole, commit = dataset(nexus), nexus.info()["commit"]
    shutil.rmtree(folder / "graph")
    shutil.copytree(folder.with_name("earlier"), folder / "graph")
    with kiprdf.Nexus.open(folder) as nexus:
        assert (dataset(nexus), nexus.info()["commit"]) == (whole, commit)
        assert (state(nexus), nexus.check()["faults"]) == (("gap", 0), [])


def cut_tables(graph: Path) -> None:
    for table in graph.glob("*.sst"):
        table.write_bytes(table.read_bytes()[: table.stat().st_size // 2])


def damage_manifest(graph: Path) -> None:
    for file in graph.glob("MANIFEST-*"):
        file.write_bytes(b"nonsense")


def remove_tables(graph: Path) -> None:
    for table in graph.glob("*.sst"):
        table.unlink()


@pytest.mark.parametrize("damage", [cut_tables, damage_manifest, remove_tables, shutil.rmtree])
def test_damaged_graph_is_rebuilt_from_the_journal(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder, "https://kb.example/", strict_schema=False) as nexus:
        add(nexus, "Ann", "Bob")
        nexus.compact_history(nexus.info()["commit"] - 1)
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Person", name: "Cleo"} SET ATTRIBUTES {a: ["x", 1]} } }'
        )
        whole, commit = dataset(nexus), nexus.info()["commit"]
    damage(folder / "graph")
    with pytest.raises(kiprdf.StoreError, match=f"all of it: kiprdf check --nexus {folder}$"):
        kiprdf.Nexus.open(folder, read_only=True).execute("DESCRIBE PRIMER")
    with kiprdf.Nexus.open(folder) as nexus:
        assert (dataset(nexus), nexus.info()["commit"]) == (whole, commit)
        assert nexus.check()["faults"] == []
        assert nexus.execute('SEARCH CONCEPT "Cleo"')[0]["name"] == "Cleo"
        add(nexus, "Dora")
    (warning,) = caplog.messages
    assert warning == (
        f"The graph of the nexus in {folder} was damaged. It was written again from its history, "
        f"as of commit {commit}; the damaged one is in {folder / 'damaged'}."
    )
    assert [path.name[:6] for path in (folder / "damaged").glob("*")] in ([], ["graph-"])


def test_damaged_graph_that_the_journal_lacks_is_refused(gap: tuple[Path, int]) -> None:
    folder, _ = gap
    damage_manifest(folder / "graph")
    before = sorted(path.name for path in folder.iterdir())
    for options in ({}, {"read_only": True}):
        with pytest.raises(kiprdf.StoreError, match="cannot be opened: Corruption"):
            kiprdf.Nexus.open(folder, **options)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_folder_without_history_begins_one(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb", history=False) as nexus:
        add(nexus, "Ann")
        last = nexus.info()["commit"]
    assert not (tmp_path / "kb" / "history").exists()
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        add(nexus, "Bob")
        assert state(nexus) == ("sound", last)


def test_recorded_times_never_fall(tmp_path: Path) -> None:
    times = iter(range(1_000))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with kiprdf.Nexus.open(
        tmp_path / "kb", clock=lambda: now - timedelta(hours=next(times))
    ) as nexus:
        add(nexus, "Ann", "Bob")
        journal = nexus.store.journal
        assert journal is not None
        commits = list(journal.commits(0, 1_000))
    assert {commit.origin.at for commit in commits} == {"2026-01-01T00:00:00.000Z"}
    assert {commit.origin.kind for commit in commits} == {"UPSERT"}


def test_restore_is_one_record(tmp_path: Path) -> None:
    source = kiprdf.Nexus.memory()
    add(source, "Ann")
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.restore(source.snapshot())
        assert state(nexus) == ("sound", 0)
        journal = nexus.store.journal
        assert journal is not None
        (commit,) = journal.commits(journal.last - 1, journal.last)
        assert (commit.origin.kind, commit.records["restored"]) == ("RESTORE", (None, "true"))


def test_backup_has_the_history_or_not(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        add(nexus, "Ann")
        nexus.backup(tmp_path / "with")
        nexus.backup(tmp_path / "without", history=False)
        last = nexus.info()["commit"]
    with kiprdf.Nexus.open(tmp_path / "with") as copy:
        assert state(copy) == ("sound", 0)
    assert not (tmp_path / "without" / "history").exists()
    with kiprdf.Nexus.open(tmp_path / "without") as copy:
        assert copy.info()["history"] == {"earliest_seq": last, "latest_seq": last}


def test_journal_of_another_graph_is_wrong(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with kiprdf.Nexus.open(tmp_path / name) as nexus:
            add(nexus, f"Person {name}")
    shutil.rmtree(tmp_path / "one" / "history")
    shutil.copytree(tmp_path / "two" / "history", tmp_path / "one" / "history")
    with kiprdf.Nexus.open(tmp_path / "one") as nexus:
        assert nexus.check()["history"] == {
            "state": "wrong",
            "earliest_seq": 0,
            "faults": ["The records of the history do not lead to the graph."],
        }
