"""Files beside the graph that are not as they were written: found, reported, and made again."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.checksums import NOTE, noted_sum
from tests.cli.runner import invoke
from tests.programs import start
from tests.search.toys import by_meaning

INDEX, VECTORS = "search.sqlite3", "vectors.sqlite3"
COMMITS, STATEMENTS = "history/index.sqlite3", "history/statements.jsonl"
FILES = (INDEX, VECTORS, COMMITS, STATEMENTS)
CHANGED = "is not as it was written: its content is made again"
BASE = "http://kb.example/"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A closed nexus with all of these files."""
    with kiprdf.Nexus.open(tmp_path / "kb", base_iri=BASE, embedder=by_meaning) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Symptom"} } }')
        nexus.execute('UPSERT { CONCEPT { {type: "Symptom", name: "Headache"} } }')
        ask(nexus)
    return tmp_path / "kb"


def ask(nexus: kiprdf.Nexus) -> Any:
    words = nexus.execute('SEARCH CONCEPT "headache"')
    meaning = nexus.execute('SEARCH CONCEPT "cephalalgia" MODE "semantic"')
    return words, meaning, nexus.history("C:Symptom/Headache")["entries"]


def flip(path: Path, *, keeps_time: bool = False) -> None:
    """A bit of the last thing that is stored in a file."""
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)
    if keeps_time:
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("name", FILES)
def test_files_are_noted_when_they_are_closed_and_not_while_they_are_changed(
    folder: Path, name: str
) -> None:
    noted = noted_sum(folder / name)
    assert noted is not None
    assert noted.size == (folder / name).stat().st_size
    with kiprdf.Nexus.open(folder, embedder=by_meaning) as nexus:
        ask(nexus)
        assert noted_sum(folder / name) == noted
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Symptom", name: "Migraine"} SET ATTRIBUTES {n: 1}}}'
        )
        ask(nexus)
        assert noted_sum(folder / name) == (noted if name == STATEMENTS else None)
    assert noted_sum(folder / name) not in (noted, None)


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("name", [INDEX, VECTORS, COMMITS])
def test_a_derived_file_that_differs_is_made_again_with_a_line_in_the_log(
    folder: Path, name: str, read_only: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with kiprdf.Nexus.open(folder, read_only=True, embedder=by_meaning) as nexus:
        right = ask(nexus)
    assert [message for message in caplog.messages if CHANGED in message] == []
    flip(folder / name)
    for number in range(2):
        caplog.clear()
        with kiprdf.Nexus.open(folder, read_only=read_only, embedder=by_meaning) as nexus:
            assert ask(nexus) == right
        messages = [message for message in caplog.messages if CHANGED in message]
        assert bool(messages) == (read_only or number == 0)


@pytest.mark.parametrize("name", FILES)
def test_check_reads_every_byte_and_repairs(folder: Path, name: str) -> None:
    flip(folder / name, keeps_time=True)
    with kiprdf.Nexus.open(folder, read_only=True, embedder=by_meaning) as nexus:
        report = nexus.check(repair=True)
    messages = [*report["faults"], *report["history"]["faults"]]
    if name == INDEX:
        assert (report["index"], messages) == ("wrong", [])
    else:
        about = [Path(name).name in fault and "check --repair" in fault for fault in messages]
        assert about == [True]
    answer = invoke("check", "--repair", "--nexus", str(folder))
    assert answer.exit_code == (name == STATEMENTS)
    assert ("texts of statements are lost. The others are kept." in answer.stdout) == (
        name == STATEMENTS
    )
    assert invoke("check", "--nexus", str(folder)).exit_code == 0
    with kiprdf.Nexus.open(folder, read_only=True, embedder=by_meaning) as nexus:
        words, meaning, entries = ask(nexus)
    assert [hit["name"] for hit in (*words, *meaning)] == ["Headache", "Headache"]
    assert len(entries) == 1


def test_lost_texts_of_statements_are_no_entries_without_a_text(folder: Path) -> None:
    flip(folder / STATEMENTS)
    for read_only in (True, False):
        with kiprdf.Nexus.open(folder, read_only=read_only) as nexus:
            with pytest.raises(kiprdf.KipError, match="texts of statements are lost") as raised:
                nexus.history("C:Symptom/Headache")
            assert "kiprdf check --repair --nexus FOLDER" in str(raised.value)
            if not read_only:  # writes go on
                nexus.execute('UPSERT { CONCEPT { {type: "Symptom", name: "Fever"} } }')
                with pytest.raises(kiprdf.KipError, match="texts of statements are lost"):
                    nexus.compact_history(nexus.info()["commit"])
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.check(repair=True)["history"]["state"] == "wrong"
        assert nexus.check()["history"]["state"] == "sound"
        assert nexus.history("C:Symptom/Fever")["entries"][0]["statement"]["text"]
        nexus.forget('FIND(?s) WHERE { ?s {type: "Symptom", name: "Fever"} }')
        assert nexus.check()["history"]["state"] == "sound"


def test_a_file_of_a_process_that_was_killed_is_trusted(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    code = (
        "import sys, time, kiprdf; n = kiprdf.Nexus.open(sys.argv[1]); "
        'n.execute(\'UPSERT { CONCEPT { {type: "Symptom", name: "Fever"} } }\'); '
        "n.execute('SEARCH CONCEPT \"fever\"'); print(1, flush=True); time.sleep(60)"
    )
    process = start(["-c", code, str(folder)], tmp_path / "output")
    while process.is_alive() and not (tmp_path / "output").read_text():
        pass
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(30)
    assert noted_sum(folder / INDEX) is None
    with kiprdf.Nexus.open(folder) as nexus:
        assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "fever"')] == ["Fever"]
    assert [message for message in caplog.messages if CHANGED in message] == []


@pytest.mark.parametrize("name", FILES)
def test_files_of_an_earlier_version_and_copies_are_trusted(
    folder: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    data = (folder / name).read_bytes()
    (folder / name).unlink()
    (folder / name).write_bytes(data)  # another inode and time
    Path(f"{folder / FILES[FILES.index(name) - 1]}{NOTE}").unlink()
    for read_only in (True, False):
        with kiprdf.Nexus.open(folder, read_only=read_only, embedder=by_meaning) as nexus:
            ask(nexus)
    assert [message for message in caplog.messages if CHANGED in message] == []
    assert all(noted_sum(folder / file) for file in FILES)


def test_a_damaged_index_reports_no_lost_commits(folder: Path) -> None:
    with sqlite3.connect(folder / INDEX) as connection:
        connection.execute("UPDATE about SET store_commit = store_commit + 3")
    connection.close()
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.check()["faults"] == []


def test_a_backup_leaves_damaged_vectors_out(folder: Path, tmp_path: Path) -> None:
    flip(folder / VECTORS)
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(tmp_path / "copy")
    assert not (tmp_path / "copy" / VECTORS).exists()


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b"\xff", b'{"format": 3, "base": "http://kb.example.org/"}', None]
)
def test_a_damaged_manifest_is_written_again(folder: Path, content: bytes | None) -> None:
    manifest = folder / "nexus.json"
    before = manifest.read_text()
    manifest.unlink() if content is None else manifest.write_bytes(content)
    for read_only in (True, False):
        command = f"Repair it: kiprdf check --repair --nexus {folder}"
        with pytest.raises(kiprdf.StoreError, match=command):
            kiprdf.Nexus.open(folder, read_only=read_only)
    answer = invoke("check", "--repair", "--nexus", str(folder))
    assert (answer.exit_code, "was damaged, and was written again" in answer.stderr) == (0, True)
    assert manifest.read_text() == before
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.info()["base_iri"] == BASE


def test_a_manifest_beside_two_graphs_is_not_guessed(folder: Path) -> None:
    (folder / "nexus.json").write_text("{")
    (folder / "graph.2").mkdir()
    (folder / "graph.2" / "CURRENT").touch()
    answer = invoke("check", "--repair", "--nexus", str(folder))
    assert (answer.exit_code, "Restore a backup." in answer.stderr) == (1, True)
    assert (folder / "nexus.json").read_text() == "{"


def test_a_reader_whose_file_a_writer_removed_is_opened_again(folder: Path) -> None:
    class Gone:
        def __getattr__(self, name: str) -> Any:
            raise OSError("IO error: No such file or directory: While open a file: 000012.sst")

    for read_only, hint in ((True, "open the nexus again"), (False, "check --repair")):
        nexus = kiprdf.Nexus.open(folder, read_only=read_only)
        engine = nexus.store._engine  # type: ignore[attr-defined]
        nexus.store._engine = Gone()  # type: ignore[attr-defined]
        with pytest.raises(kiprdf.KipError, match=hint) as raised:
            nexus.execute('FIND(?s.name) WHERE { ?s {type: "Symptom"} } ORDER BY ?s.name')
        assert ("--repair" in str(raised.value)) == (not read_only)
        nexus.store._engine = engine  # type: ignore[attr-defined]
        nexus.close()
