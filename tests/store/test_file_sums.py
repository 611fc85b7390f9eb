"""Files of the graph that are not as they were written are found before the engine reads them."""

from __future__ import annotations

import os
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import kiprdf
from kiprdf import checksums
from kiprdf.budget import Budget, Spending
from kiprdf.checksums import SUMS, FileSums
from kiprdf.store import oxigraph_reads
from kiprdf.store.cancellation import CancellationToken, is_any_abandoned, run_cancellable

NAMES = 'FIND(?n.name) WHERE { ?n {type: "Note"} } ORDER BY ?n.name'
ALL = [f"note{number}" for number in range(5)]
DAMAGED = "is not as it was written"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A closed nexus with several tables."""
    for part in range(2):
        with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
            nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Note"} } }')
            for number in range(5) if part else ():
                nexus.execute('UPSERT { CONCEPT { {type: "Note", name: :n} } }', n=f"note{number}")
    return tmp_path / "kb"


def largest_table(folder: Path) -> Path:
    sizes: dict[Path, int] = {}
    for table in (folder / "graph").glob("*.sst"):
        with suppress(FileNotFoundError):  # an open engine removes tables
            sizes[table] = table.stat().st_size
    return max(sizes, key=sizes.__getitem__)


def flip(path: Path, place: int = -1) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_every_file_of_a_closed_graph_is_noted(folder: Path) -> None:
    assert FileSums(folder / "graph").damaged(every_byte=True) == []
    tables = {path.name for path in (folder / "graph").glob("*.sst")}
    (manifest,) = (folder / "graph").glob("MANIFEST-*")
    assert len(tables) > 5
    for name in (*tables, manifest.name):
        path = folder / "graph" / name
        data = path.read_bytes()
        for wrong in (b"", data[:-1], bytes([data[0] ^ 1]) + data[1:]):
            path.write_bytes(wrong)
            assert FileSums(folder / "graph").damaged() == [name]
        path.unlink()
        # Without its manifest the engine opens nothing.
        assert FileSums(folder / "graph").damaged() == ([] if path == manifest else [name])
        path.write_bytes(data)
        assert FileSums(folder / "graph").damaged() == []


def decay(folder: Path) -> Path:
    """The table in which a byte changes by itself, and which is not read at opening."""
    for table in sorted((folder / "graph").glob("*.sst")):
        stat, data = table.stat(), table.read_bytes()
        flip(table, len(data) // 3)
        os.utime(table, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert FileSums(folder / "graph").damaged() == []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "sleep", lambda seconds: None)  # no writer is waited for
            with suppress(kiprdf.StoreError), kiprdf.Nexus.open(folder, read_only=True):
                return table
        table.write_bytes(data)
    raise AssertionError("Every table is read at opening.")


def test_a_byte_that_changes_by_itself_is_found_by_reading_every_byte(folder: Path) -> None:
    table = decay(folder)
    assert FileSums(folder / "graph").damaged(every_byte=True) == [table.name]
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        report = reader.check()
    (fault,) = report["faults"]
    assert f"the file {table.name} of its graph {DAMAGED}" in fault
    assert fault.endswith("repair it: kiprdf check --repair --nexus FOLDER")
    assert (report["concepts"], report["index"]) == (None, "unchecked")
    with kiprdf.Nexus.open(folder) as nexus:
        report = nexus.check(repair=True)
        assert (report["faults"], report["history"]["state"]) == ([], "sound")
        assert nexus.execute(NAMES) == ALL
        nexus.execute('UPSERT { CONCEPT { {type: "Note", name: "note5"} } }')
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        assert reader.execute(NAMES) == [*ALL, "note5"]


def test_after_a_crash_every_byte_is_read(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    sums = folder / "graph" / SUMS
    for is_damaged in (False, True):
        if is_damaged:
            decay(folder)
        sums.write_text(sums.read_text().replace('"is_closed": true', '"is_closed": false'))
        with kiprdf.Nexus.open(folder) as nexus:
            assert nexus.execute(NAMES) == ALL
        assert ["was damaged" in message for message in caplog.messages] == [True] * is_damaged


def test_damage_that_is_read_while_opening_is_repaired(folder: Path) -> None:
    """In several tables, although no file was touched."""
    tables = [table.name for table in (folder / "graph").glob("*.sst")]
    for name in sorted(tables)[::6]:
        copy = folder.with_name("copy")
        shutil.copytree(folder, copy)
        FileSums(copy / "graph").note(is_closed=True)
        table = copy / "graph" / name
        stat = table.stat()
        flip(table, stat.st_size // 3)
        os.utime(table, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        with kiprdf.Nexus.open(copy) as nexus:
            assert nexus.check(repair=True)["faults"] == []
            assert nexus.execute(NAMES) == ALL
        shutil.rmtree(copy)


@pytest.mark.parametrize("read_only", [True, False])
def test_damage_after_opening_is_one_sentence_until_it_is_repaired(
    folder: Path, read_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query that groups or sorts would collect the errors of the engine without end."""
    monkeypatch.setattr(oxigraph_reads, "LOOKED_AFTER_SECONDS", 0)
    with kiprdf.Nexus.open(folder, read_only=read_only) as nexus:
        assert nexus.execute(NAMES) == ALL
        for table in (folder / "graph").glob("*.sst"):
            with suppress(FileNotFoundError):
                flip(table, table.stat().st_size // 2)
        for command in (NAMES, 'FIND(COUNT(?n)) WHERE { ?n {type: "Note"} }'):
            with pytest.raises(kiprdf.KipError, match=DAMAGED) as raised:
                nexus.execute(command)
            assert "kiprdf check --repair" in raised.value.hint
        with pytest.raises(kiprdf.KipError, match=DAMAGED):
            nexus.sparql("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
        with pytest.raises(kiprdf.KipError, match=DAMAGED):
            nexus.info()
        assert nexus.check()["faults"]
        if read_only:
            return
        with pytest.raises(kiprdf.KipError, match=DAMAGED):
            nexus.execute('UPSERT { CONCEPT { {type: "Note", name: "note5"} } }')
        assert nexus.check(repair=True)["faults"] == []
        assert nexus.execute(NAMES) == ALL
        nexus.execute('UPSERT { CONCEPT { {type: "Note", name: "note5"} } }')
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        assert reader.execute(NAMES) == [*ALL, "note5"]


def test_a_damaged_graph_without_a_history_is_refused(folder: Path) -> None:
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.backup(folder.with_name("copy"), history=False)
    copy = folder.with_name("copy")
    flip(largest_table(copy))
    with pytest.raises(kiprdf.StoreError, match=f"{DAMAGED}.*restore a backup"):
        kiprdf.Nexus.open(copy)
    with pytest.raises(kiprdf.StoreError, match=DAMAGED):
        kiprdf.Nexus.open(copy, read_only=True)


def test_a_copied_graph_is_read_and_one_of_an_earlier_version_too(folder: Path) -> None:
    copy = shutil.copytree(folder, folder.with_name("copy"), copy_function=shutil.copyfile)
    (folder / "graph" / SUMS).unlink()
    for place in (copy, folder):
        with kiprdf.Nexus.open(place, read_only=True) as reader:
            assert reader.execute(NAMES) == ALL
    kiprdf.Nexus.open(folder).close()
    flip(largest_table(folder))
    with pytest.raises(kiprdf.StoreError, match=DAMAGED):
        kiprdf.Nexus.open(folder, read_only=True)


def test_a_file_that_was_damaged_meanwhile_is_not_noted_as_right(folder: Path) -> None:
    sums = FileSums(folder / "graph")
    table = largest_table(folder)
    flip(table)
    sums.note()
    assert FileSums(folder / "graph").damaged() == [table.name]


def test_an_open_graph_may_lose_tables_and_its_manifest_may_grow(folder: Path) -> None:
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.store._note_files()  # type: ignore[attr-defined]
        (manifest,) = (folder / "graph").glob("MANIFEST-*")
        manifest.write_bytes(manifest.read_bytes() + b"more")
        largest_table(folder).unlink()
        assert FileSums(folder / "graph").damaged() == []


def test_a_query_that_still_runs_keeps_the_engine_open(folder: Path) -> None:
    """Tables that the engine removes later are no damage."""
    may_end = threading.Event()
    with kiprdf.Nexus.open(folder) as nexus:
        engine = [nexus.store.engine]  # type: ignore[attr-defined]

        def query(_: CancellationToken) -> None:
            may_end.wait(60)
            engine.clear()

        with pytest.raises(kiprdf.KipError, match="KIP_4001"):
            run_cancellable(query, Spending(Budget(timeout_s=0.5)))
    table = largest_table(folder)
    content = table.read_bytes()
    table.unlink()
    assert FileSums(folder / "graph").damaged() == []
    table.write_bytes(content)
    may_end.set()
    while is_any_abandoned():
        time.sleep(0.01)
    kiprdf.Nexus.open(folder).close()
    largest_table(folder).unlink()
    assert len(FileSums(folder / "graph").damaged()) == 1


def test_a_full_disk_keeps_what_was_noted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "graph" / "000999.sst").write_bytes(b"new")
    before = (folder / "graph" / SUMS).read_bytes()

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checksums.Path, "write_text", full)
    FileSums(folder / "graph").note()
    assert (folder / "graph" / SUMS).read_bytes() == before


def test_bytes_behind_the_end_of_a_table_are_damage(tmp_path: Path) -> None:
    kiprdf.Nexus.open(tmp_path).close()
    table = min(tmp_path.glob("graph/*.sst"))
    with table.open("ab") as file:
        file.write(bytes(100))
    assert FileSums(tmp_path / "graph").damaged() == [table.name]
    with kiprdf.Nexus.open(tmp_path) as nexus:
        assert nexus.check()["faults"] == []
    assert FileSums(tmp_path / "graph").damaged(every_byte=True) == []
