"""What a power cut takes: with ``sync="full"`` nothing that was acknowledged (decision 114).

``KIPRDF_CUTS`` sets how many commits are written before it.
"""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import kiprdf
from kiprdf.store import OxigraphStore
from tests.cli import runner
from tests.long_runs import amount
from tests.serve.running import serving
from tests.trust import children
from tests.trust.cutting import NOTE, TYPE, UPDATE

CUTS = amount("CUTS", 40)
NAMES = 'FIND(?n.name) WHERE { ?n {type: "Note"} } ORDER BY ?n.name'


def cut(tmp_path: Path, sync: str) -> tuple[list[str], Path]:
    """The acknowledged names, and the folder as a power cut leaves it."""
    done = children.run_afresh(
        "-m", "tests.trust.cutting", str(tmp_path / "brain"), sync, str(CUTS)
    )
    assert done == (0, "")
    return json.loads((tmp_path / "acknowledged").read_text()), tmp_path / "synced"


def test_a_power_cut_takes_nothing_with_full_sync(tmp_path: Path) -> None:
    acknowledged, folder = cut(tmp_path, "full")
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.execute(NAMES) == acknowledged
        report = nexus.check()
        assert (report["faults"], report["history"]["state"]) == ([], "sound")


def test_a_power_cut_takes_the_last_commits_with_normal_sync(tmp_path: Path) -> None:
    acknowledged, folder = cut(tmp_path, "normal")
    with kiprdf.Nexus.open(folder) as nexus:
        left = nexus.execute(NAMES)
        assert left == acknowledged[: len(left)]
        assert len(left) < len(acknowledged)
        assert nexus.check()["faults"] == []


def syncs_of_a_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[int, Any]:
    """How often the records are synced by one write, and what ``info`` says of it."""
    synced: list[str] = []
    original = os.fdatasync
    monkeypatch.setattr(
        os, "fdatasync", lambda n: (synced.append(os.readlink(f"/proc/self/fd/{n}")), original(n))
    )
    with kiprdf.Nexus.open(folder, **options) as nexus:
        nexus.execute(TYPE)
        nexus.execute(NOTE, name="first", text="b")  # a new statement, whose text is synced, too
        texts = [name for name in synced if name.endswith("statements.jsonl")]
        assert bool(texts) == (options.get("sync") == "full")
        synced.clear()
        nexus.execute(NOTE, name="a", text="b")
        assert all(name.endswith(".klog") for name in synced)
        return len(synced), nexus.info()["sync"]


def test_each_commit_is_synced_once_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert syncs_of_a_write(tmp_path / "a", monkeypatch) == (0, "normal")
    assert syncs_of_a_write(tmp_path / "b", monkeypatch, sync="normal") == (0, "normal")
    assert syncs_of_a_write(tmp_path / "c", monkeypatch, sync="full") == (1, "full")
    with kiprdf.Nexus.open(tmp_path / "c", read_only=True) as reader:
        assert "sync" not in reader.info()
    assert "sync" not in kiprdf.Nexus.memory(history=True).info()


def test_full_sync_needs_a_history_and_a_known_word(tmp_path: Path) -> None:
    with pytest.raises(kiprdf.KipError, match=r"KIP_1001 sync=.full. puts each record of the hist"):
        kiprdf.Nexus.open(tmp_path / "brain", sync="full", history=False)
    with pytest.raises(kiprdf.KipError, match="KIP_1001 The argument sync is"):
        kiprdf.Nexus.open(tmp_path / "brain", sync="extra")  # type: ignore[arg-type]
    assert not (tmp_path / "brain").exists()


def fail(number: int) -> None:
    raise OSError(5, "Input/output error")


def test_a_failed_sync_is_an_error_and_the_last_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain", sync="full") as nexus:
        nexus.execute(TYPE)
        last = nexus.info()["commit"]
        with monkeypatch.context() as failing:
            failing.setattr(os, "fdatasync", fail)
            with pytest.raises(kiprdf.KipError, match=r"may not be on the disk: I.* Hint: Open"):
                nexus.load([("Note", "a")])  # nor does it say that nothing was written
        # Who follows the nexus gets nothing that it may lose.
        with pytest.raises(kiprdf.KipError, match="KIP_4003 The write may not be on the disk"):
            nexus.changes(last)
        assert nexus.execute(NAMES) == ["a"]
        # The disk may have lost it: nothing is written after it.
        refused = r"KIP_4003 The history cannot be written: I.* Hint: Open the nexus again\."
        assert nexus.problems() == ["The history cannot be written: Input/output error."]
        with pytest.raises(kiprdf.KipError, match=refused):
            nexus.execute(NOTE, name="c", text="d")
    # What the disk has of a file after a failed sync is not known: its records are in another one.
    assert [path.name for path in (tmp_path / "brain" / "history").glob("0*")] == ["000001.kseg"]
    with kiprdf.Nexus.open(tmp_path / "brain", sync="full") as nexus:
        assert nexus.execute(NAMES) == ["a"]
        nexus.execute(NOTE, name="c", text="d")
        assert nexus.execute(NAMES) == ["a", "c"]


@pytest.mark.parametrize("fails", [False, True])
def test_a_record_that_is_taken_back_hides_no_failed_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """The system says once that a sync has failed: a later one says nothing of the records."""
    syncs: list[int] = []
    original = os.fdatasync

    def sync(number: int) -> None:
        syncs.append(number)
        if fails and len(syncs) == 1:
            fail(number)
        original(number)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    batch = {
        "commands": [
            {"command": NOTE, "parameters": {"name": "b", "text": "c"}},
            {"command": UPDATE, "parameters": {"name": "d"}},
        ]
    }
    with kiprdf.Nexus.open(tmp_path / "brain", sync="full") as nexus:
        nexus.execute(TYPE)
        nexus.execute(NOTE, name="a", text="b")
        nexus.execute(UPDATE, name="c")
        monkeypatch.setattr(os, "fdatasync", sync)
        monkeypatch.setattr(OxigraphStore, "_update", full)
        answer = nexus.execute_kip(batch)
        if fails:
            assert "may not be on the disk" in answer["error"]["message"]
        else:
            written, refused = answer["result"]
            assert ("result" in written, "error" in refused) == (True, True)


def test_a_commit_that_a_follower_gets_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be read before; who follows the nexus would have what its power cut takes."""
    running, going_on = threading.Event(), threading.Event()
    original = os.fdatasync

    def sync(number: int) -> None:
        running.set()
        assert going_on.wait(20)
        original(number)

    with kiprdf.Nexus.open(tmp_path / "brain", sync="full") as nexus:
        nexus.execute(TYPE)
        nexus.execute(NOTE, name="a", text="")
        last = nexus.info()["commit"]
        monkeypatch.setattr(os, "fdatasync", sync)
        with ThreadPoolExecutor() as pool:
            writing = pool.submit(nexus.execute, NOTE, name="b", text="")
            assert running.wait(20)
            following = pool.submit(nexus.changes, last)
            assert nexus.execute(NAMES) == ["a", "b"]
            time.sleep(0.05)
            assert not following.done()
            going_on.set()
            assert [one["seq"] for one in following.result()["commits"]] == [last + 1]
            assert writing.result()


def test_the_command_line_has_the_option(tmp_path: Path) -> None:
    brain = str(tmp_path / "brain")
    done = runner.invoke("run", "--nexus", brain, "--sync", "full", TYPE)
    assert done.exit_code == 0, done.output
    done = runner.invoke("serve", "--memory", "--sync", "full")
    assert "--sync belongs to a folder" in done.output
    done = runner.invoke("info", "--nexus", "http://127.0.0.1:1/query", "--sync", "full")
    assert "--sync belongs to a folder" in done.output


def test_a_server_shows_its_mode(tmp_path: Path) -> None:
    kiprdf.Nexus.open(tmp_path / "brain").close()
    for options, mode in ((("--sync", "full"), "full"), ((), "normal")):
        with serving(tmp_path / "brain", *options) as server:
            answer: httpx.Response = server.client.get("/metrics")
            assert f'kiprdf_sync{{mode="{mode}"}} 1' in answer.text.splitlines()


def test_a_batch_and_threads_share_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for a batch; one for all that came while another one was running."""
    synced: list[int] = []
    running, going_on = threading.Event(), threading.Event()
    original = os.fdatasync

    def sync(number: int) -> None:
        synced.append(nexus.info()["commit"])
        running.set()
        assert going_on.wait(20)
        original(number)

    with kiprdf.Nexus.open(tmp_path / "brain", sync="full") as nexus:
        nexus.execute(TYPE)
        nexus.execute(NOTE, name="first", text="b")
        first = nexus.info()["commit"]
        monkeypatch.setattr(os, "fdatasync", sync)
        going_on.set()
        commands = [{"command": NOTE, "parameters": {"name": f"{n}", "text": ""}} for n in "abc"]
        response = nexus.execute_kip({"commands": commands})
        assert all("result" in one for one in response["result"])
        assert synced == [first + 3]

        running.clear()
        going_on.clear()
        with ThreadPoolExecutor() as pool:
            written = [pool.submit(nexus.execute, NOTE, name="d", text="")]
            assert running.wait(20)
            written += [pool.submit(nexus.execute, NOTE, name=name, text="") for name in "efg"]
            while nexus.info()["commit"] < first + 7:
                time.sleep(0.01)
            assert not any(one.done() for one in written)
            going_on.set()
        assert synced == [first + 3, first + 4, first + 7]
        assert all(one.result() for one in written)
