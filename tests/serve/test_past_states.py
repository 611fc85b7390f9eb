"""A state that is made of another one, of the present or of nothing is the state of its commit."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

import kiprdf
from kiprdf.async_nexus import THREADS
from kiprdf.serve import app
from kiprdf.serve.past_states import KEPT, PastStates
from tests.long_runs import SEED, amount
from tests.store.test_past import SCHEMA, Clock, change

STATEMENTS = amount("HISTORIES", 40)
SECRET = "gone-for-good"


def past_files(folder: Path) -> list[Path]:
    return list(folder.glob("history/past-*"))


@pytest.mark.parametrize("is_on_disk", [True, False])
def test_every_kept_state_equals_the_snapshot_of_its_commit(
    tmp_path: Path, is_on_disk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lead to each other forwards and backwards."""
    monkeypatch.setattr("kiprdf.store.past.CHECKPOINT_COST", 0 if is_on_disk else 10**9)
    monkeypatch.setattr("kiprdf.store.past.DISK_COST", 0 if is_on_disk else 1)
    chance = random.Random(SEED)
    states = PastStates()
    with kiprdf.Nexus.open(tmp_path / "kb", clock=Clock()) as nexus:
        timeline = states.follow(nexus.store.journal)
        nexus.execute(SCHEMA)
        snapshots: dict[int, str] = {}
        for _ in range(STATEMENTS):
            change(nexus, chance)
            snapshots[nexus.info()["commit"]] = nexus.snapshot()
        with states.at(nexus, timeline, 0) as empty:
            assert empty.snapshot() == "# kiprdf 1 base <urn:kip:nexus/>\n"
        for number in chance.choices(list(snapshots), k=len(snapshots) // 2):
            with states.at(nexus, timeline, number) as past:
                assert past.snapshot() == snapshots[number]
                report = past.check()
                assert (report["commit"], report["faults"]) == (number, [])
        assert bool(past_files(tmp_path / "kb")) == is_on_disk
        assert len(past_files(tmp_path / "kb")) <= KEPT
    assert not past_files(tmp_path / "kb")


def filled(folder: Path, batch: int = 60, commits: int = 30) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.open(folder)
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
    for number in range(commits):
        concepts = "\n".join(
            f'CONCEPT {{ {{type: "Drug", name: "D{number}-{one}"}} SET ATTRIBUTES {{ n: {one} }} }}'
            for one in range(batch)
        )
        nexus.execute(f"UPSERT {{ {concepts} }}")
    return nexus


def test_a_step_takes_a_part_of_what_the_first_state_takes(tmp_path: Path) -> None:
    def seconds(states: PastStates, number: int) -> float:
        begin = time.process_time()
        with states.at(nexus, timeline, number):
            return time.process_time() - begin

    with filled(tmp_path / "kb", batch=150) as nexus:
        middle = nexus.info()["commit"] // 2
        states = PastStates()
        timeline = states.follow(nexus.store.journal)
        steps = []
        first = seconds(states, middle)
        for number in (1, -1, 2, -2, 1, -1):
            steps.append(seconds(states, middle + number))
        assert sorted(steps)[len(steps) // 2] < first / 3


def test_what_is_forgotten_is_in_no_kept_state(tmp_path: Path) -> None:
    states = PastStates()
    with filled(tmp_path / "kb", commits=4) as nexus:
        timeline = states.follow(nexus.store.journal)
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {n: 1} } }', name=SECRET
        )
        last = nexus.info()["commit"]
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Later"} } }')
        with states.at(nexus, timeline, last - 1) as before:
            assert SECRET not in before.snapshot()
        with states.at(nexus, timeline, last) as past:
            assert SECRET in past.snapshot()
            nexus.forget("FIND(?d) WHERE { ?d {name: :name} }", name=SECRET)
            with states.at(nexus, timeline, last) as other:
                assert SECRET not in other.snapshot()
                assert "D3-1" in other.snapshot()
        for number in (last - 1, last, last + 1):
            with states.at(nexus, timeline, number) as past:
                assert SECRET not in past.snapshot()
                assert "D3-1" in past.snapshot()
        bytes_ = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert SECRET.encode() not in bytes_


def test_what_is_compacted_cannot_be_reached(tmp_path: Path) -> None:
    states = PastStates()
    with filled(tmp_path / "kb", commits=6) as nexus:
        timeline = states.follow(nexus.store.journal)
        last = nexus.info()["commit"]
        for number in (last - 4, last - 1):
            with states.at(nexus, timeline, number):
                pass
        nexus.compact_history(last - 2)
        assert not past_files(tmp_path / "kb")
        with pytest.raises(kiprdf.KipError, match="KIP_3002"):
            states.at(nexus, timeline, last - 4).__enter__()
        with states.at(nexus, timeline, last - 2) as past, nexus.at(last - 2) as same:
            assert past.snapshot() == same.snapshot()


def test_a_reader_sees_that_its_files_are_replaced(tmp_path: Path) -> None:
    with filled(tmp_path / "kb", commits=3) as nexus:
        last = nexus.info()["commit"]
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: :name} } }', name=SECRET)
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Later"} } }')
        with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
            states = PastStates()
            timeline = states.follow(reader.store.journal)
            with states.at(reader, timeline, last + 1) as past:
                assert SECRET in past.snapshot()
            nexus.forget("FIND(?d) WHERE { ?d {name: :name} }", name=SECRET)
            with pytest.raises(kiprdf.StoreError, match="open it again"):
                states.at(reader, timeline, last + 1).__enter__()


def test_a_kept_state_has_the_defaults_of_now(tmp_path: Path) -> None:
    states = PastStates()
    with filled(tmp_path / "kb", commits=1) as nexus:
        timeline = states.follow(nexus.store.journal)
        for default in (False, True):
            nexus._engine.writer.set_entail(default)
            with states.at(nexus, timeline, 1) as past:
                assert past.entail == default


def test_pages_of_the_past_leave_threads_for_those_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_open = threading.Event()
    open_state = PastStates.at

    def wait(*arguments: Any) -> AbstractContextManager[kiprdf.Nexus]:
        assert is_open.wait(60)
        return open_state(*arguments)

    async def statuses(nexus: kiprdf.Nexus) -> list[int]:
        transport = httpx.ASGITransport(app(nexus))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            addresses = ["/explore/?as_of=3", "/page/Drug/D0-0?as_of=3", "/explore/names?as_of=3"]
            asked = [
                asyncio.create_task(client.get(addresses[number % len(addresses)]))
                for number in range(THREADS + 2)
            ]
            await asyncio.sleep(0.1)
            now = await asyncio.wait_for(client.get("/explore/"), 30)
            assert not any(task.done() for task in asked)
            is_open.set()
            return [now.status_code, *(one.status_code for one in await asyncio.gather(*asked))]

    monkeypatch.setattr(PastStates, "at", wait)
    with filled(tmp_path / "kb", batch=1, commits=3) as nexus:
        assert set(asyncio.run(statuses(nexus))) == {200}
