"""A backup has graph and history of one commit; check reports a history that was lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.errors import ReplacedError
from kiprdf.store import journal as journals
from tests.cli.runner import invoke
from tests.long_runs import amount
from tests.programs import PROCESSES

ADD = 'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES {n: :n} } }'
PERSONS = 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name'
FORGET = 'FIND(?p) WHERE { ?p {type: "Person", name: :name} }'
SOUND = {"state": "sound", "earliest_seq": 0, "faults": []}
BACKUPS = amount("BACKUPS", 3)
"""Beside a process that writes, seals, compacts and forgets; docs/testing.md has the long run."""


@pytest.fixture
def sealing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are sealed after a few commits."""
    monkeypatch.setattr(journals, "SEALED_BYTES", 3_000)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nexus with sealed files, whose last commit is that of Person 29; to be copied."""
    folder = tmp_path_factory.mktemp("backups") / "kb"
    with pytest.MonkeyPatch.context() as patch, kiprdf.Nexus.open(folder) as nexus:
        patch.setattr(journals, "SEALED_BYTES", 3_000)
        write(nexus, range(30))
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, sealing: None) -> Path:
    return shutil.copytree(prepared, tmp_path / "kb")


def write(nexus: kiprdf.Nexus, numbers: range) -> None:
    for n in numbers:
        nexus.execute(ADD, name=f"Person {n:03}", n=n)


def sealed(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "history").glob("*.kseg"))


def require_same(copy: Path, snapshots: dict[int, str], last: int, earliest: int = 0) -> None:
    """A copy is the nexus as of a commit, with everything that led to it."""
    with kiprdf.Nexus.open(copy) as nexus:
        report = nexus.check()
        assert report["faults"] == []
        assert report["history"] == {**SOUND, "earliest_seq": earliest}
        assert nexus.info()["commit"] == last
        for number, text in snapshots.items():
            with nexus.at(number) as past:
                assert past.snapshot() == text
        assert nexus.snapshot() == snapshots[last]
        (newest,) = nexus.history("C:Person/Person 029")["entries"]
        assert newest["change"] == "created"
        assert [entry["id"] for entry in nexus.undo(seq=last)["reverted"]] == [
            f"C:Person/Person {last - 2:03}"
        ]


def states(nexus: kiprdf.Nexus, *numbers: int) -> dict[int, str]:
    snapshots = {}
    for number in numbers:
        with nexus.at(number) as past:
            snapshots[number] = past.snapshot()
    return snapshots


@pytest.mark.parametrize("opened", ["reader", "reader beside a writer", "writer", "closed history"])
def test_backup_has_the_history(folder: Path, tmp_path: Path, opened: str) -> None:
    with kiprdf.Nexus.open(folder) as nexus:
        wanted = states(nexus, 1, 12, 31)
    assert len(sealed(folder)) > 2
    how: dict[str, Any] = {"read_only": opened.startswith("reader")}
    if opened == "closed history":
        how["history"] = False
    writer = kiprdf.Nexus.open(folder) if opened == "reader beside a writer" else None
    with kiprdf.Nexus.open(folder, **how) as nexus:
        nexus.backup(tmp_path / "copy")
        nexus.backup(tmp_path / "bare", history=False)
    if writer is not None:
        writer.close()
    assert not (tmp_path / "bare" / "history").exists()
    require_same(tmp_path / "copy", wanted, 31)


def test_a_backup_is_read_at_once_and_backed_up_itself(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RocksDB notes the identity of a copy when it is opened for writing."""
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.backup(tmp_path / "copy")
        wanted = {31: nexus.snapshot()}
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with kiprdf.Nexus.open(tmp_path / "copy", read_only=True) as copy:
        copy.backup(tmp_path / "copy of it")
        assert [commit["seq"] for commit in copy.changes(30)["commits"]] == [31]
    assert pauses == []
    require_same(tmp_path / "copy of it", wanted, 31)


def test_backup_of_a_nexus_in_memory_has_its_history(tmp_path: Path) -> None:
    with kiprdf.Nexus.memory(history=True) as nexus:
        write(nexus, range(30))
        wanted = states(nexus, 1, 12, 31)
        nexus.backup(tmp_path / "copy")
    require_same(tmp_path / "copy", wanted, 31)


def compact(before: int) -> Callable[[kiprdf.Nexus], object]:
    return lambda nexus: nexus.compact_history(before)


@pytest.mark.parametrize(
    ("change", "earliest"),
    [
        (lambda nexus: None, 0),
        (lambda nexus: write(nexus, range(30, 60)), 0),
        (compact(12), 12),
    ],
    ids=["nothing", "sealing", "compacting"],
)
def test_backup_of_a_reader_ends_at_its_commit(
    folder: Path, tmp_path: Path, change: Callable[[kiprdf.Nexus], object], earliest: int
) -> None:
    """Everything that a writer does after the reader was opened is not in the copy."""
    with kiprdf.Nexus.open(folder) as writer:
        # The log of the reader is not sealed yet.
        write(writer, range(30, 32))
        wanted = states(writer, 12, 20, 33)
        with kiprdf.Nexus.open(folder, read_only=True) as reader:
            write(writer, range(32, 34))
            change(writer)
            reader.backup(tmp_path / "copy")
    require_same(tmp_path / "copy", wanted, 33, earliest)


@pytest.mark.parametrize(
    "change",
    [
        compact(34),
        lambda nexus: [nexus.forget(FORGET, name=f"Person {n:03}") for n in (3, 4)],
        lambda nexus: nexus.optimize(),
    ],
    ids=["compacted beyond", "forgotten twice", "optimized"],
)
def test_backup_of_replaced_files_is_refused(
    folder: Path, tmp_path: Path, change: Callable[[kiprdf.Nexus], object]
) -> None:
    with (
        kiprdf.Nexus.open(folder) as writer,
        kiprdf.Nexus.open(folder, read_only=True) as reader,
    ):
        write(writer, range(30, 34))
        change(writer)
        with pytest.raises(ReplacedError, match=r"meanwhile.* open"):
            reader.backup(tmp_path / "copy")
        assert not (tmp_path / "copy").exists()
        with kiprdf.Nexus.open(folder, read_only=True) as again:
            again.backup(tmp_path / "copy")
            text = again.snapshot()
    with kiprdf.Nexus.open(tmp_path / "copy") as copy:
        assert (copy.snapshot(), copy.check()["history"]["state"]) == (text, "sound")


def _keep_writing(folder: str, done: Event) -> None:
    journals.SEALED_BYTES = 3_000
    number = 30
    while not done.is_set():
        with kiprdf.Nexus.open(folder) as nexus:
            for _ in range(40):
                write(nexus, range(number, number + 1))
                number += 1
                if number % 23 == 0:
                    nexus.compact_history(nexus.info()["commit"] - 5)
                if number % 17 == 0:
                    nexus.forget(FORGET, name=f"Person {number - 1:03}")


@pytest.fixture
def writing(folder: Path) -> Iterator[Path]:
    """The folder while another process opens it, writes, seals, compacts and forgets in a loop."""
    done = PROCESSES.Event()
    writer = PROCESSES.Process(target=_keep_writing, args=(str(folder), done), daemon=True)
    writer.start()
    yield folder
    done.set()
    writer.join(60)
    assert writer.exitcode == 0


def test_backups_beside_another_process_are_one_commit(writing: Path, tmp_path: Path) -> None:
    commits = set()
    for number in range(BACKUPS):
        copy = tmp_path / f"copy{number}"
        answer = invoke("backup", str(copy), "--nexus", str(writing))
        assert (answer.exit_code, answer.stderr) == (0, f"Copied {writing} to {copy}.\n")
        with kiprdf.Nexus.open(copy) as nexus:
            report = nexus.check()
            assert (report["faults"], report["history"]["faults"]) == ([], [])
            assert report["history"]["state"] == "sound"
            commits.add(report["commit"])
            with nexus.at(report["commit"]) as past:
                assert past.snapshot() == nexus.snapshot()
        shutil.rmtree(copy)
    assert len(commits) > 1


def test_backup_has_the_vectors(tmp_path: Path) -> None:
    """They take long to compute, and are not computed again."""

    def count(path: Path) -> int:
        connection = sqlite3.connect(path / "vectors.sqlite3")
        (number,) = connection.execute("SELECT COUNT(*) FROM vector").fetchone()
        connection.close()
        return int(number)

    def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0, len(text)] for text in texts]

    with kiprdf.Nexus.open(tmp_path / "kb", embedder=embed) as nexus:
        write(nexus, range(5))
        nexus.embed()
        nexus.backup(tmp_path / "of writer")
        with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
            reader.backup(tmp_path / "of reader")
    assert count(tmp_path / "of writer") == count(tmp_path / "of reader") > 5


# A history that was lost ----------------------------------------------------------------------


def remove_history(folder: Path) -> None:
    shutil.rmtree(folder / "history")


def cut_log(folder: Path) -> None:
    """The last files of the history are missing, as in a copy that was made file by file."""
    for path in (*(folder / "history").glob("*.klog"), folder / "history" / sealed(folder)[-1]):
        path.unlink()


def check(folder: Path) -> tuple[int, str]:
    answer = invoke("check", "--nexus", str(folder))
    assert answer.exception is None or answer.exit_code == 1
    return answer.exit_code, answer.stdout


@pytest.mark.parametrize(
    ("lose", "first"),
    [
        (remove_history, "check"),
        (remove_history, "write twice"),
        (cut_log, "read"),
        (cut_log, "write twice"),
    ],
)
def test_lost_history_is_reported_until_it_is_accepted(
    folder: Path, caplog: pytest.LogCaptureFixture, lose: Callable[[Path], None], first: str
) -> None:
    assert check(folder)[0] == 0
    lose(folder)
    if first == "read":
        with kiprdf.Nexus.open(folder, read_only=True) as nexus:
            (fault,) = nexus.check()["history"]["faults"]
            assert "to 31 were lost" in fault
    for n in range(2 if first == "write twice" else 0):
        with kiprdf.Nexus.open(folder) as nexus:
            write(nexus, range(30 + n, 31 + n))
    assert ("their records were lost" in caplog.text) == first.startswith("write")
    for _ in range(2):
        status, text = check(folder)
        assert status == 1
        assert "to 31 were lost: the folder was copied without them" in text
        assert text.endswith(f"kiprdf compact-history --before 31 --nexus {folder}\n")
    assert invoke(*text.rpartition("kiprdf ")[2].split()).exit_code == 0
    assert check(folder)[0] == 0
    with kiprdf.Nexus.open(folder) as nexus, nexus.at(31) as past:
        assert len(past.execute(PERSONS)) == 32


def test_history_that_was_left_out_is_no_fault(folder: Path, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(folder, history=False) as nexus:
        write(nexus, range(30, 33))
        nexus.backup(tmp_path / "copy", history=False)
        assert nexus.check()["history"] is None
    assert check(folder)[0] == 0
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.check()["history"] == {"state": "gap", "earliest_seq": 0, "faults": []}
    assert check(tmp_path / "copy")[0] == 0
    with kiprdf.Nexus.open(tmp_path / "new", history=False) as nexus:
        write(nexus, range(3))
    assert check(tmp_path / "new")[0] == 0


def test_older_folder_gets_its_note_when_it_is_written(folder: Path) -> None:
    manifest = folder / "nexus.json"
    noted = json.loads(manifest.read_text())
    assert noted["history"] is True
    manifest.write_text(json.dumps({key: noted[key] for key in ("format", "base", "graph")}))
    cut_log(folder)
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        assert nexus.check()["history"]["state"] == "gap"
    with kiprdf.Nexus.open(folder):
        assert json.loads(manifest.read_text()) == noted
    assert check(folder)[0] == 0
