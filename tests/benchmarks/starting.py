"""How long it takes until there is a nexus: absolute figures, of fresh processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.measure import Ratio

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


def _seconds(code: str) -> float:
    """The seconds that a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)
