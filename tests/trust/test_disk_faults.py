"""A disk that is full, read-only, gone or damaged: right answers or a clear sentence.

Never a wrong answer, another exception, or the end of the process; each case runs in a child.
Of a log that was cut, RocksDB keeps the whole entries without an error; the text
index reports lost commits that it knows of.

``KIPRDF_DAMAGES`` sets how often each file is damaged, ``KIPRDF_SEED`` where.
"""

from __future__ import annotations

import itertools
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import kiprdf
from kiprdf.checksums import drop_note
from tests.long_runs import SEED, amount
from tests.programs import PROCESSES
from tests.serve.running import serving
from tests.trust import filling, visiting
from tests.trust.processes import run
from tests.trust.visiting import NOBODY, NOTES, Visit, files_of

DAMAGES = amount("DAMAGES", 1)
PARTS = 2
"""The files are damaged by as many tests, each of which takes a second or two."""
TABLES = 3
"""How many of the graph's tables are damaged by default, beside all that is no table."""
RIGHT = {
    "numbers": list(range(NOTES)),
    "search": ["note7"],
    "faults": [],
    "snapshot": NOTES,
    "sparql": 1,
}


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nexus that was closed."""
    folder = tmp_path_factory.mktemp("closed") / "brain"
    run(visiting.build, str(folder), True)
    return folder


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nexus whose process was killed: its writes are in the logs."""
    folder = tmp_path_factory.mktemp("killed") / "brain"
    child = PROCESSES.Process(target=visiting.build, args=(str(folder), False))
    child.start()
    child.join()
    return folder


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other users reach, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=False)
    shutil.rmtree(folder)


def assert_right_or_error(visit: Visit) -> None:
    """Every answer is the right one, or the sentence of an error."""
    if "refused" in visit:
        assert is_plain_error(visit["refused"])
        return
    for question, right in RIGHT.items():
        answer = visit[question]
        assert answer == right or is_plain_error(answer), (question, answer)
    for deed in ("write", "close"):
        assert visit[deed] is None or is_plain_error(visit[deed]), visit


def is_plain_error(answer: Any) -> bool:
    """An error of the API about the nexus, in one line."""
    return (
        isinstance(answer, str)
        and "\n" not in answer
        and "The engine failed" not in answer
        and answer.removeprefix("KIP_4003 ").startswith(("The ", "/", "No nexus", "No backup"))
    )


# Damaged files --------------------------------------------------------------------------------


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def zeroed(data: bytes, chance: random.Random) -> bytes:
    return bytes(len(data))


def flipped(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def garbage(data: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(len(data))


KINDS = (cut, zeroed, flipped, garbage)
Damage = Callable[[bytes, random.Random], bytes]


def damaged(folder: Path, into: Path, file: Path, damage: Damage, chance: random.Random) -> Path:
    """A copy of a nexus in which one file is damaged."""
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(folder, into)
    data = (into / file).read_bytes()
    (into / file).write_bytes(damage(data, chance))
    return into


@pytest.mark.parametrize("part", range(PARTS))
def test_a_damaged_file_of_a_closed_nexus_is_refused_or_does_no_harm(
    part: int, closed: Path, tmp_path: Path, record_property: Callable[[str, Any], None]
) -> None:
    chance = random.Random(SEED + part)
    tables = [file for file in files_of(closed) if file.suffix == ".sst"]
    left_out = random.Random(SEED).sample(tables, len(tables) - TABLES) if DAMAGES == 1 else ()
    files = [file for file in files_of(closed) if file not in left_out][part::PARTS] * DAMAGES
    record_property("count", f"{len(files)} damaged files")
    for file in files:
        damage = chance.choice(KINDS)
        copy = damaged(closed, tmp_path / "copy", file, damage, chance)
        visit = run(visiting.visit, str(copy))
        try:
            assert_right_or_error(visit)
        except AssertionError as wrong:
            raise AssertionError(f"{file} {damage.__name__}: {wrong}") from wrong


def test_a_missing_file_of_a_closed_nexus_is_refused_or_does_no_harm(
    closed: Path, tmp_path: Path
) -> None:
    files = files_of(closed)
    for file in random.Random(SEED).sample(files, min(len(files), 4 * DAMAGES)):
        copy = damaged(closed, tmp_path / "copy", file, zeroed, random.Random(SEED))
        (copy / file).unlink()
        assert_right_or_error(run(visiting.visit, str(copy)))


def test_a_flipped_byte_in_the_data_is_not_mistaken_for_another_process(
    closed: Path, tmp_path: Path
) -> None:
    tables = [file for file in files_of(closed) if file.suffix == ".sst"]
    largest = max(tables, key=lambda file: (closed / file).stat().st_size)

    def at_the_start(data: bytes, chance: random.Random) -> bytes:
        return bytes([data[0] ^ 0xFF]) + data[1:]

    copy = damaged(closed, tmp_path / "copy", largest, at_the_start, random.Random(SEED))
    visit = run(visiting.visit, str(copy), True)
    assert_right_or_error(visit)
    assert f"the file {largest.name} of its graph is not as it was written" in str(visit)
    assert "nother process" not in str(visit)


@pytest.mark.parametrize("damage", [cut, zeroed, garbage])
@pytest.mark.parametrize("name", ["*.log", "MANIFEST-*"])
def test_commits_that_a_damaged_log_has_lost_are_reported(
    killed: Path, tmp_path: Path, name: str, damage: Damage
) -> None:
    logs = (killed / "graph").glob(name)
    log = max(logs, key=lambda path: path.stat().st_size).relative_to(killed)
    copy = damaged(killed, tmp_path / "copy", log, damage, random.Random(SEED))
    visit = run(visiting.visit, str(copy))
    if "refused" in visit or visit["numbers"] == RIGHT["numbers"]:
        assert_right_or_error(visit)
        return
    assert [fault for fault in visit["faults"] if "has lost" in fault], visit
    numbers = visit["numbers"]
    # What is left is what once was: all up to some note, or no type Note yet.
    assert numbers == list(range(len(numbers))) or "KIP_2001" in numbers


def test_a_damaged_index_does_no_harm(killed: Path, tmp_path: Path) -> None:
    files = [file for file in files_of(killed) if file.name.startswith("search.sqlite3")]
    # Each file and each kind, and with more of them each pair.
    for number in range(min(max(len(files), len(KINDS)) * DAMAGES, len(files) * len(KINDS))):
        turn, place = divmod(number, len(KINDS))
        file, damage = files[(place + turn) % len(files)], KINDS[place]
        copy = damaged(killed, tmp_path / "copy", file, damage, random.Random(SEED))
        visit = run(visiting.visit, str(copy))
        assert {key: visit[key] for key in RIGHT} == RIGHT, (file, damage, visit)


def test_an_index_of_another_version_is_rebuilt(closed: Path, tmp_path: Path) -> None:
    shutil.copytree(closed, tmp_path / "copy")
    with sqlite3.connect(tmp_path / "copy" / "search.sqlite3") as connection:
        connection.execute("UPDATE about SET version = '1, segmenter 0'")
        connection.execute("DELETE FROM concept")
    connection.close()
    drop_note(tmp_path / "copy" / "search.sqlite3")
    visit = run(visiting.visit, str(tmp_path / "copy"))
    assert {key: visit[key] for key in RIGHT} == RIGHT


def test_a_truncated_manifest_gives_no_wrong_answer(killed: Path, tmp_path: Path) -> None:
    """RocksDB then opens without some of the tables, and answers by the others."""
    (manifest,) = (killed / "graph").glob("MANIFEST-*")
    length = manifest.stat().st_size

    for size in range(0, length, max(1, length // (4 * DAMAGES))):

        def to_size(data: bytes, chance: random.Random, size: int = size) -> bytes:
            return data[:size]

        file = manifest.relative_to(killed)
        copy = damaged(killed, tmp_path / "copy", file, to_size, random.Random(SEED))
        visit = run(visiting.visit, str(copy))
        lost = [fault for fault in visit.get("faults", ()) if "has lost" in fault]
        if not lost:
            assert_right_or_error(visit)


def test_a_killed_process_loses_nothing(killed: Path, tmp_path: Path) -> None:
    shutil.copytree(killed, tmp_path / "copy")
    visit = run(visiting.visit, str(tmp_path / "copy"))
    assert visit == {**RIGHT, "write": None, "close": None}


def test_a_graph_that_is_older_than_its_index_is_reported(closed: Path, tmp_path: Path) -> None:
    shutil.copytree(closed, tmp_path / "copy")
    with sqlite3.connect(tmp_path / "copy" / "search.sqlite3") as connection:
        connection.execute("UPDATE about SET store_commit = store_commit + 3")
    connection.close()
    drop_note(tmp_path / "copy" / "search.sqlite3")
    visit = run(visiting.visit, str(tmp_path / "copy"))
    lost = "The graph has lost 3 commits, which its text index knows of; restore a backup."
    assert visit == {**RIGHT, "faults": [lost], "write": None, "close": None}


def test_a_nexus_without_its_core_schema_is_refused(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        nexus.store.engine.update("DELETE WHERE { ?s ?p ?o }")
    with pytest.raises(kiprdf.StoreError, match="core schema is gone"):
        kiprdf.Nexus.open(tmp_path / "brain")


# A full disk ----------------------------------------------------------------------------------


def assert_full(visit: Visit) -> None:
    """All that was acknowledged is there, and the one that was refused is not."""
    acknowledged = visit["acknowledged"]
    assert acknowledged > 5
    assert "cannot be written" in visit["error"]
    assert visit["numbers"] == list(range(acknowledged))
    assert visit["faults"] == []


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    visit = run(visiting.fill_a_file, str(tmp_path / "brain"), 900_000)
    assert_full(visit)
    with kiprdf.Nexus.open(tmp_path / "brain", genesis=False) as nexus:
        assert nexus.execute(visiting.NUMBERS) == list(range(visit["acknowledged"]))
        assert nexus.check()["faults"] == []
        visiting.upsert(nexus, visit["acknowledged"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a disk of a size, and gives it another size when called again."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = False

    def mount(size: str) -> Path:
        nonlocal mounted
        options = f"{'remount,' if mounted else ''}size={size}"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        try:
            done = subprocess.run(command, capture_output=True, check=False).returncode
        except FileNotFoundError:
            done = 1
        if done != 0:
            pytest.skip("mounting a disk takes rights that this user lacks")
        mounted = True
        return place

    yield mount
    if mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_can_be_enlarged(small_disk: Callable[[str], Path]) -> None:
    brain = small_disk("4m") / "brain"
    visit = run(visiting.fill, str(brain))
    assert_full(visit)
    again = run(visiting.visit, str(brain))
    assert is_plain_error(again.get("refused", "The nexus was opened."))
    small_disk("60m")
    with kiprdf.Nexus.open(brain, genesis=False) as nexus:
        numbers = nexus.execute(visiting.NUMBERS)
        assert numbers == list(range(len(numbers)))
        # The visitor before may have had room for its own note.
        assert len(numbers) >= visit["acknowledged"]
        assert nexus.check()["faults"] == []


@pytest.mark.parametrize(("history", "part"), [(True, "history"), (False, "nexus")])
def test_writes_work_again_when_files_may_grow_again(
    history: bool, part: str, tmp_path: Path
) -> None:
    visit = run(filling.with_small_files, str(tmp_path / "brain"), history)
    assert {error.partition(" cannot be written")[0] for error in visit["errors"]} == {
        f"KIP_4003 The {part}"
    }
    assert all("cannot be written: " in problems[0] for problems in visit["problems"])


@pytest.mark.parametrize("left", [0, 6_000, 20_000, 60_000, 300_000])
def test_writes_work_again_when_the_disk_has_room_again(
    small_disk: Callable[[str], Path], left: int
) -> None:
    """The journal, the log of the graph, a table, or the text index is what has no room."""
    brain = small_disk("40m") / "brain"
    visit = run(filling.with_little_room, str(brain), left)
    assert all("No space left on device" in error for error in visit["errors"])
    assert str(brain) not in str(visit["errors"])
    assert all(problems[-1] == "The disk has only 0 MB left." for problems in visit["problems"])


@pytest.mark.parametrize("left", [0, 8_192])
def test_a_history_on_a_full_disk_says_so_and_the_nexus_closes_when_it_has_room(
    small_disk: Callable[[str], Path], left: int
) -> None:
    errors = run(filling.with_history, str(small_disk("12m") / "brain"), left)
    assert len(errors) == 2
    for error in errors:
        assert is_plain_error(error), error
        assert "No space left on device" in error


def test_a_failed_optimize_never_keeps_the_folder_open(tmp_path: Path) -> None:
    """An iterator of the engine that another thread drops would keep the folder for ever."""
    assert run(filling.with_another_thread, str(tmp_path / "brain")) == []


def test_a_server_says_what_is_wrong_and_recovers(
    tmp_path: Path,
) -> None:
    brain = tmp_path / "brain"
    kiprdf.Nexus.open(brain).close()
    with serving(brain, KIPRDF_TOKEN="secret") as server:
        headers = {"Authorization": "Bearer secret"}

        def write() -> httpx.Response:
            return server.kip(filling.TYPE, headers)

        def state(path: str) -> tuple[int, str, list[str]]:
            answer = server.client.get(path)  # without a token
            body = answer.json()
            return answer.status_code, body["status"], body.get("problems", [])

        assert write().status_code == 200
        assert (state("/health"), state("/ready")) == ((200, "ok", []), (200, "ready", []))
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, hard))
        failed = server.kip(filling.NOTE, headers, parameters={"name": "a", "text": "b"})
        assert failed.status_code == 500
        assert failed.json()["error"]["message"].endswith("cannot be written: File too large.")
        problems = ["The nexus cannot be written: File too large."]
        assert state("/health") == (200, "not ok", problems)
        assert state("/ready") == (503, "not ready", problems)
        assert server.kip(filling.NAMES, headers).json()["result"] == []
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert write().status_code == 200
        assert (state("/health"), state("/ready")) == ((200, "ok", []), (200, "ready", []))


def test_a_full_disk_of_a_server_shows_clients_no_path(small_disk: Callable[[str], Path]) -> None:
    brain = small_disk("40m") / "brain"
    with serving(brain, "--create") as server:
        assert server.kip(filling.TYPE).status_code == 200
        other = brain.parent / "other"
        note = {"name": "a", "text": "b"}
        texts: list[str] = []
        # The last block of the history, or of the engine's log, is full first: one after the other.
        for n in itertools.count():
            filling.fill(other)
            parameters = [{**note, "name": f"{n} {m}"} for m in range(9)]
            failed = [server.kip(filling.NOTE, parameters=one) for one in parameters]
            texts += [answer.text for answer in failed if answer.status_code == 500]
            texts += [server.client.get(path).text for path in ("/ready", "/health")]
            other.unlink()
            assert server.client.get("/ready").status_code == 200
            assert server.kip(filling.NOTE, parameters=note).status_code == 200
            if any("000" in text for text in texts):  # the engine's file, by its name
                break
            assert n < 20, texts
        assert str(brain.parent) not in "".join(texts)
        assert str(brain) in server.errors.read_text()


def test_no_nexus_is_created_on_a_full_disk(small_disk: Callable[[str], Path]) -> None:
    visit = run(visiting.fill, str(small_disk("64k") / "brain"))
    assert is_plain_error(visit["refused"])


# Folders that may not be written, and one that goes away --------------------------------------


def for_nobody(folder: Path, into: Path) -> Path:
    """A copy that belongs to the user whom a child becomes; skipped where that cannot be."""
    shutil.copytree(folder, into)
    if os.geteuid() == 0:
        for path in (into, *into.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        if not readable_by_all(Path(kiprdf.__file__)):
            pytest.skip("the superuser's rights cannot be given up: the code is read by no other")
    return into


def readable_by_all(path: Path) -> bool:
    return all(place.stat().st_mode & 0o005 for place in path.resolve().parents)


def without_rights(folder: Path, rights: str) -> None:
    subprocess.run(["chmod", "-R", rights, str(folder)], check=True)


def test_a_read_only_folder_is_refused_for_writing(closed: Path, shared: Path) -> None:
    brain = for_nobody(closed, shared / "brain")
    without_rights(brain, "a-w")
    visit = run(visiting.visit_as_nobody, str(brain))
    assert visit == {"refused": f"The nexus in {brain} cannot be written."}


def test_a_read_only_folder_can_be_read(closed: Path, shared: Path) -> None:
    brain = for_nobody(closed, shared / "brain")
    without_rights(brain, "a-w")
    visit = run(visiting.visit_as_nobody, str(brain), True)
    assert {key: visit[key] for key in RIGHT} == RIGHT


@pytest.mark.parametrize(
    "part", ["", "graph", "nexus.json", "graph/CURRENT", "graph/LOCK", "search.sqlite3"]
)
def test_an_unreadable_part_is_refused_or_not_needed(closed: Path, shared: Path, part: str) -> None:
    brain = for_nobody(closed, shared / "brain")
    (brain / part).chmod(0)
    assert_right_or_error(run(visiting.visit_as_nobody, str(brain)))


def test_a_removed_folder_is_reported_when_closing_at_the_latest(
    closed: Path, tmp_path: Path
) -> None:
    shutil.copytree(closed, tmp_path / "copy")
    visit = run(visiting.visit_a_removed_folder, str(tmp_path / "copy"))
    (fault,) = visit["faults"]
    assert fault.startswith(
        "The folder will not open again; back it up now, while it is open. The nexus in "
    )
    assert_right_or_error({**visit, "faults": fault})
    assert is_plain_error(visit["backup"])
    # Where the engine has noticed it by itself, the write is refused, and closing has no work.
    assert is_plain_error(visit["write"]) or is_plain_error(visit["close"]), visit
