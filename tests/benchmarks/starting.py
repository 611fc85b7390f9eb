"""How long it takes until there is a nexus: absolute figures, imports in fresh processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pyoxigraph

import kiprdf
from tests.benchmarks.measure import Ratio

T = TypeVar("T")
ROUNDS = 15
IMPORTED = (
    "import time; started = time.perf_counter(); from kiprdf import Nexus; "
    "print(time.perf_counter() - started)"
)
ASKED = (
    "import sys, time; from kiprdf import Nexus; started = time.perf_counter(); "
    "nexus = Nexus.open(sys.argv[1]); "
    'rows = nexus.find(\'FIND(?d.name) WHERE { ?d {type: "Domain", name: "System"} }\'); '
    "print(time.perf_counter() - started); assert rows.column('?d.name') == ['System']"
)
OPENED = (
    "import time, kiprdf; started = time.perf_counter(); nexus = kiprdf.Nexus.memory(); "
    "print(time.perf_counter() - started); assert nexus.info()['propositions'] > 20"
)


def measured(propositions: int) -> Iterator[Ratio]:
    """The import, a nexus with all bundled capsules, and a folder with its first question."""
    del propositions  # there are none yet
    times: dict[str, list[float]] = {"imported": [], "opened": [], "asked": []}
    with tempfile.TemporaryDirectory() as folder:
        nexus = Path(folder) / "nexus"
        kiprdf.Nexus.open(nexus).close()
        for _ in range(ROUNDS):
            times["imported"].append(_seconds(IMPORTED))
            times["opened"].append(_seconds(OPENED))
            times["asked"].append(_seconds(ASKED, str(nexus)))
        imported, opened, asked = map(statistics.median, times.values())
        yield Ratio("import kiprdf", imported, 0.070, target=1.0)
        yield Ratio("a memory nexus", opened, 0.150, target=1.0)
        ours, bare = _openings(nexus)
        yield Ratio("an existing folder", ours, 0.030, target=1.0)
        yield Ratio("the same, beside RocksDB", ours, bare, target=1.5)
        yield Ratio("an existing folder, with the first question", asked, 0.030, target=1.0)


def _openings(folder: Path) -> tuple[float, float]:
    """The fastest opening of a folder, and of its graph alone: most of both is RocksDB's."""
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(ROUNDS):
        opened = _timed(lambda: kiprdf.Nexus.open(folder), ours)
        opened.close()
        del opened
        _timed(lambda: pyoxigraph.Store(str(folder / "graph")), bare)
    return min(ours), min(bare)


def _timed(function: Callable[[], T], times: list[float]) -> T:
    started = time.perf_counter()
    result = function()
    times.append(time.perf_counter() - started)
    return result


def _seconds(code: str, *arguments: str) -> float:
    """The seconds that a fresh process prints."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)
