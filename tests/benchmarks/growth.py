"""What a hundred times as many propositions change: the time of anchored queries, the memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph

import kiprdf
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side
from tests.benchmarks.shapes import SHAPES, Shape

SMALL = 10_000
ANCHORED = (
    "point",
    "by name",
    "one hop",
    "two hops",
    "hops {1,3}",
    "filter on a link",
    "OPTIONAL",
    "UNION",
    "about a fact",
    "predicate variable",
)
RESIDENT = """
import sys
{}
with open("/proc/self/statm") as file:
    print(int(file.read().split()[1]) * 4096)
"""
OURS = "import kiprdf; nexus = kiprdf.Nexus.memory(genesis=False); nexus.restore(sys.argv[1])"
BARE = "import pyoxigraph; store = pyoxigraph.Store(); store.bulk_load(path=sys.argv[1])"


def measured(propositions: int) -> Iterator[Ratio]:
    """Anchored queries beside themselves on 10 000 propositions, and the memory of a process."""
    with tempfile.TemporaryDirectory() as folder:
        nexuses = []
        for number in (SMALL, propositions):
            path = Path(folder) / f"{number}.ttl"
            data.write_turtle(number, path)
            nexus = kiprdf.Nexus.memory(genesis=False)
            nexus.restore(path)
            nexuses.append(nexus)
        for shape in SHAPES:
            if shape.name in ANCHORED:
                yield query(shape, *nexuses)
        yield newest(*nexuses)
        dump = Path(folder) / "dump.nq"
        nexuses[1].store.engine.dump(str(dump), pyoxigraph.RdfFormat.N_QUADS)
        nexuses.clear()
        yield memory(path, dump)


def query(shape: Shape, small: kiprdf.Nexus, large: kiprdf.Nexus) -> Ratio:
    """One question to both, of drugs that are among the first of the larger too."""
    drugs = data.sizes(SMALL)[0]

    def ask(nexus: kiprdf.Nexus, turn: int) -> object:
        return nexus.execute(
            shape.kip, **shape.parameters((drugs // 2 + turn * 8) % drugs // 8 * 8)
        )

    for nexus in (small, large):
        if not ask(nexus, 0):
            sys.exit(f"{shape.name}: nothing is found")
    return side_by_side(
        f"growth: {shape.name}",
        lambda turn: ask(large, turn),
        lambda turn: ask(small, turn),
        target=1.3,
    )


def newest(small: kiprdf.Nexus, large: kiprdf.Nexus) -> Ratio:
    """The ten propositions updated last."""
    question = "FIND(?x) WHERE { ?x (?s, ?p, ?o) } ORDER BY ?x.metadata._updated_at DESC LIMIT 10"
    return side_by_side(
        "growth: newest",
        lambda _: large.execute(question),
        lambda _: small.execute(question),
        target=1.3,
    )


def memory(snapshot: Path, dump: Path) -> Ratio:
    """What a process has resident that holds a nexus, beside one that holds its quads."""
    return Ratio("memory", _resident(OURS, snapshot), _resident(BARE, dump), 1.25, unit="bytes")


def _resident(code: str, path: Path) -> int:
    command = [sys.executable, "-c", RESIDENT.format(code), str(path)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
