"""A process that is killed while it forgets, compacts, seals, restores or backs up (SIGKILL).

Reopened, the folder is as before or as after; what was forgotten is in no file, or all of it is
there.
"""

from __future__ import annotations

import os
import pkgutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.store import journal
from tests.long_runs import amount
from tests.nexus.test_forget import FIND, JANE, SECRETS, remaining, write
from tests.programs import PROCESSES

STEPS = [
    ("kiprdf.store.folder", "write_manifest", 1, False),
    ("kiprdf.store.journal", "adopt", 1, True),
    ("kiprdf.meta.indexing:Indexer", "erase", 1, True),
    # The others, on demand.
    ("kiprdf.store.journal:Journal", "prepare", 1, False),
    ("kiprdf.store.journal_files", "span_of", 20, False),
    ("pathlib:Path", "replace", 2, False),
    ("pathlib:Path", "replace", 3, True),
    ("pathlib:Path", "replace", 4, True),
    ("shutil", "rmtree", 2, True),
    ("kiprdf.store.oxigraph:OxigraphStore", "erased", 1, True),
][: amount("FORGETTINGS", 3)]
"""A function, its call that is interrupted, and whether it was forgotten by then."""


def killing(place: str, name: str, times: int) -> None:
    """End this process at a call of a function."""
    target = pkgutil.resolve_name(place)
    function = getattr(target, name)
    calls = 0

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == times:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)

    setattr(target, name, counted)


def forget(folder: str, place: str, name: str, times: int) -> None:
    nexus = kiprdf.Nexus.open(folder)
    write(nexus)
    killing(place, name, times)
    nexus.forget(FIND, name=JANE)


def compact(folder: str, place: str, name: str, times: int) -> None:
    nexus = kiprdf.Nexus.open(folder)
    write(nexus)
    killing(place, name, times)
    nexus.compact_history(nexus.info()["commit"] - 2)


def seal(folder: str, place: str, name: str, times: int) -> None:
    journal.SEALED_BYTES = 4_000
    nexus = kiprdf.Nexus.open(folder)
    killing(place, name, times)
    write(nexus)


def restore(folder: str, place: str, name: str, times: int) -> None:
    nexus = kiprdf.Nexus.open(folder, genesis=False)
    source = Path(folder).parent
    killing(place, name, times)
    nexus.restore(source / "m.ttl", history=source / "m.rdfp")


def back_up(folder: str, place: str, name: str, times: int) -> None:
    nexus = kiprdf.Nexus.open(folder)
    write(nexus)
    killing(place, name, times)
    nexus.backup(f"{folder}-copy")


def run_killed(function: Callable[..., None], *arguments: Any) -> None:
    child = PROCESSES.Process(target=function, args=arguments, daemon=True)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL


def require_sound(nexus: kiprdf.Nexus) -> None:
    report = nexus.check()
    assert (report["faults"], report["index"]) == ([], "sound")
    assert report["history"] == {"state": "sound", "earliest_seq": 0, "faults": []}


@pytest.mark.parametrize(("place", "name", "times", "is_forgotten"), STEPS)
def test_forgetting_that_was_killed_is_complete_or_absent(
    tmp_path: Path, place: str, name: str, times: int, is_forgotten: bool
) -> None:
    folder = tmp_path / "kb"
    run_killed(forget, str(folder), place, name, times)
    with kiprdf.Nexus.open(folder) as nexus:
        require_sound(nexus)
        names = nexus.execute('FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name')
        assert (JANE in names) == (not is_forgotten)
        # The list is written with what it is a list of, or not at all.
        assert len(nexus.erasures().splitlines()) == (4 if is_forgotten else 1)
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Dora"} } }')
    if is_forgotten:
        assert remaining(folder, SECRETS) == set()
    assert sorted(path.name for path in folder.glob("graph*")) == [
        "graph.2" if is_forgotten else "graph"
    ]


SEALING = [
    ("kiprdf.store.journal", "seal", 1),
    ("pathlib:Path", "unlink", 1),
    ("pathlib:Path", "replace", 1),
    ("pathlib:Path", "unlink", 2),
    ("os", "fsync", 1),
][: amount("FORGETTINGS", 1)]


@pytest.mark.parametrize(("place", "name", "times"), SEALING)
def test_sealing_that_was_killed_loses_nothing(
    tmp_path: Path, place: str, name: str, times: int
) -> None:
    folder = tmp_path / "kb"
    run_killed(seal, str(folder), place, name, times)
    with kiprdf.Nexus.open(folder) as nexus:
        require_sound(nexus)
        assert nexus.info()["history"]["latest_seq"] == nexus.info()["commit"]


COMPACTING = [
    ("kiprdf.store.journal", "adopt", 1),
    ("pathlib:Path", "replace", 3),
    ("pathlib:Path", "unlink", 1),
    ("pathlib:Path", "replace", 1),
    ("pathlib:Path", "replace", 2),
][: amount("FORGETTINGS", 1)]


@pytest.mark.parametrize(("place", "name", "times"), COMPACTING)
def test_compacting_that_was_killed_is_complete_or_absent(
    tmp_path: Path, place: str, name: str, times: int
) -> None:
    folder = tmp_path / "kb"
    run_killed(compact, str(folder), place, name, times)
    with kiprdf.Nexus.open(folder) as nexus:
        last = nexus.info()["commit"]
        history = nexus.check()["history"]
        assert (history["state"], history["earliest_seq"] in (0, last - 2)) == ("sound", True)
        with nexus.at(last - 1) as past:
            assert past.check()["faults"] == []
        nexus.forget(FIND, name=JANE)
    assert remaining(folder, SECRETS) == set()


RESTORING = [
    ("kiprdf.store.folder", "write_manifest", 1, False),
    ("kiprdf.store.journal", "adopt", 1, True),
    ("kiprdf.store.journal:Journal", "prepare", 1, False),
    ("pathlib:Path", "replace", 3, True),
    ("shutil", "rmtree", 2, True),
][: amount("FORGETTINGS", 2)]


@pytest.mark.parametrize(("place", "name", "times", "is_restored"), RESTORING)
def test_restoring_a_history_that_was_killed_is_complete_or_absent(
    tmp_path: Path, place: str, name: str, times: int, is_restored: bool
) -> None:
    source = kiprdf.Nexus.memory(history=True)
    write(source)
    text = source.snapshot(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
    run_killed(restore, str(tmp_path / "kb"), place, name, times)
    with kiprdf.Nexus.open(tmp_path / "kb", genesis=False) as nexus:
        require_sound(nexus)
        assert nexus.info()["commit"] == (source.info()["commit"] if is_restored else 0)
        if not is_restored:
            nexus.restore(tmp_path / "m.ttl", history=tmp_path / "m.rdfp")
        assert nexus.snapshot() == text
        assert nexus.history("C:Person/Bob") == source.history("C:Person/Bob")


def test_backup_that_was_killed_is_absent(tmp_path: Path) -> None:
    folder, copy = tmp_path / "kb", tmp_path / "kb-copy"
    run_killed(back_up, str(folder), "kiprdf.store.oxigraph", "copy_file", 1)
    assert not copy.exists()
    with kiprdf.Nexus.open(folder) as nexus:
        require_sound(nexus)
        nexus.backup(copy)
        text = nexus.snapshot()
    with kiprdf.Nexus.open(copy) as nexus:
        require_sound(nexus)
        assert nexus.snapshot() == text


def test_sealing_on_a_full_disk_is_put_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SEALED_BYTES", 4_000)
    history = tmp_path / "kb" / "history"
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        full = history / "000001.partial"
        full.symlink_to("/dev/full")
        write(nexus)
        assert (history / "000001.klog").stat().st_size > 8_000
        require_sound(nexus)
        full.unlink()
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Dora"} } }')
        assert list(history.glob("*.kseg"))
        require_sound(nexus)
        entries = nexus.history("C:Person/Bob")["entries"]
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        require_sound(nexus)
        assert nexus.history("C:Person/Bob")["entries"] == entries
