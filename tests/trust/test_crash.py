"""A process that is killed at any moment loses nothing that it has acknowledged (SIGKILL).

A child writes into a folder and reports each statement; it is killed while it opens, writes,
searches or closes. Reopened, the folder holds, quad by quad, what was reported, or that and the
one statement that was in flight; ``check`` finds no fault, and SEARCH finds what is there.

``KIPRDF_KILLS`` sets how often, ``KIPRDF_SEED`` when.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.long_runs import SEED, amount
from tests.nexus.support import dataset
from tests.programs import PROCESSES
from tests.trust import writing

KILLS = amount("KILLS", 5)
KILLS_A_FOLDER = 5
"""Then another folder: to be killed at the very first opening is rare otherwise."""
MOMENTS = ("opening", "open", "writing", "writing", "writing", "writing", "searching", "closing")
FLUSHING = ("opening", "closing")
"""Then the engine flushes its log into tables, and syncs it before: no power failure cuts it."""
LATEST = {"opening": 0.12, "open": 0.02, "writing": 0.006, "searching": 0.01, "closing": 0.02}
"""The maximum number of seconds from the report to the kill."""
NAMES_SEARCHED = 12
DAMAGED = 0.3
"""The part of the kills after which the engine's log is damaged."""


class Writer:
    """The life of one child: started at a number, killed at a moment."""

    def __init__(self, folder: Path, seed: int, number: int) -> None:
        self._receiver, sender = PROCESSES.Pipe(duplex=False)
        arguments = (str(folder), seed, number, sender)
        self._process = PROCESSES.Process(target=writing.work, args=arguments, daemon=True)
        self._process.start()
        sender.close()
        self.last = number - 1
        """The last statement that was reported."""

    def wait_for(self, moment: str, times: int) -> None:
        """Listen until something has happened ``times`` times."""
        for _ in range(times):
            while self._listen() != moment:
                pass

    def kill(self) -> None:
        self._process.kill()
        self._process.join(60)
        try:
            while True:
                self._listen()
        except EOFError:
            self._receiver.close()

    def _listen(self) -> str:
        message: str | int = self._receiver.recv()
        if isinstance(message, str):
            return message
        self.last = message
        return "written"


class Expected:
    """A nexus in memory that executed the same statements without a kill."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._clock = writing.Clock()
        self.nexus = kiprdf.Nexus.memory(clock=self._clock)
        self.next = 0

    def execute_until(self, number: int) -> None:
        while self.next <= number:
            writing.execute(self.nexus, self._clock, self._seed, self.next)
            self.next += 1


def survive(folder: Path, expected: Expected, seed: int, chance: random.Random) -> str:
    """Kill one writer and check its folder; returns the moment of the kill."""
    writer = Writer(folder, seed, expected.next)
    moment = chance.choice(MOMENTS)
    times = chance.randint(1, 20) if moment == "writing" else chance.randint(1, 2)
    writer.wait_for(moment, times)
    time.sleep(chance.random() * LATEST[moment])
    writer.kill()
    if moment not in FLUSHING and chance.random() < DAMAGED:
        damage_log(folder, chance)
    expected.execute_until(writer.last)
    with kiprdf.Nexus.open(folder, clock=writing.Clock()) as nexus:
        quads = dataset(nexus)
        if quads != dataset(expected.nexus):
            expected.execute_until(expected.next)
            assert quads == dataset(expected.nexus), (moment, times, writer.last)
        look_at(nexus, chance)
    return moment


def damage_log(folder: Path, chance: random.Random) -> None:
    """Cut the engine's log, as a power failure does; the journal has what is lost."""
    for log in folder.glob("graph/*.log"):
        text = log.read_bytes()
        log.write_bytes(text[: int(len(text) * chance.uniform(0.5, 0.98))])


def look_at(nexus: kiprdf.Nexus, chance: random.Random) -> None:
    # SEARCH first: it must repair an index that was left half-written.
    if nexus.execute_kip({"command": 'DESCRIBE CONCEPT TYPE "Note"'}).get("result"):
        names = nexus.execute('FIND(?n.name) WHERE { ?n {type: "Note"} }')
        for name in chance.sample(names, min(NAMES_SEARCHED, len(names))):
            hits = nexus.execute('SEARCH CONCEPT :name WITH TYPE "Note" LIMIT 1', name=name)
            assert [hit["name"] for hit in hits] == [name]
    report = nexus.check()
    assert (report["faults"], report["index"]) == ([], "sound")
    assert report["history"] == {"state": "sound", "earliest_seq": 0, "faults": []}


@pytest.mark.parametrize("first", range(0, KILLS, KILLS_A_FOLDER))
def test_a_killed_writer_loses_nothing_it_has_acknowledged(
    first: int, tmp_path: Path, record_property: Callable[[str, Any], None]
) -> None:
    seed = SEED * 1000 + first // KILLS_A_FOLDER
    chance, expected = random.Random(seed), Expected(seed)
    kills = range(first, min(first + KILLS_A_FOLDER, KILLS))
    moments = Counter(survive(tmp_path / "kb", expected, seed, chance) for _ in kills)
    record_property("count", f"{len(kills)} kills: {dict(moments)}")
