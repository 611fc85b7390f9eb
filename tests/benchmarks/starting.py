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
IMPORTED = "import time; started = time.perf_counter(); {}; print(time.perf_counter() - started)"
NEEDED = "import pyoxigraph, pydantic"
OPENED = (
    "import time, kiprdf; started = time.perf_counter(); nexus = kiprdf.Nexus.memory(); "
    "print(time.perf_counter() - started); assert nexus.info()['propositions'] > 20"
)


def measured(propositions: int) -> Iterator[Ratio]:
    """The import beyond that of what it stands on, and a nexus with all bundled capsules."""
    del propositions  # there are none yet
    times: dict[str, list[float]] = {"needed": [], "kiprdf": [], "opened": []}
    for _ in range(ROUNDS):
        times["needed"].append(_seconds(IMPORTED.format(NEEDED)))
        times["kiprdf"].append(_seconds(IMPORTED.format(f"{NEEDED}, kiprdf")))
        times["opened"].append(_seconds(OPENED))
    needed, whole, opened = (statistics.median(seconds) for seconds in times.values())
    yield Ratio("import kiprdf", whole - needed, 0.150, target=1.0)
    yield Ratio("a memory nexus", opened, 0.150, target=1.0)
    with tempfile.TemporaryDirectory() as folder:
        ours, bare = _openings(Path(folder) / "nexus")
    yield Ratio("an existing folder", ours, 0.030, target=1.0)
    yield Ratio("the same, beside RocksDB", ours, bare, target=1.5)


def _openings(folder: Path) -> tuple[float, float]:
    """The fastest opening of a folder, and of its graph alone: most of both is RocksDB's."""
    kiprdf.Nexus.open(folder).close()
    ours, bare = [], []
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


def _seconds(code: str) -> float:
    """The seconds that a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)
