"""What a folder of millions of propositions takes: ``python -m tests.benchmarks.millions FOLDER``.

Each line is printed as a row of Markdown, in elapsed time. ``--only ask`` asks what is loaded.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import kiprdf
from tests.benchmarks import data
from tests.benchmarks.growth import ANCHORED
from tests.benchmarks.shapes import SHAPES

REPORTED = 1_000_000
TIMES = 300
NEWEST = "FIND(?x) WHERE { ?x (?s, ?p, ?o) } ORDER BY ?x.metadata._updated_at DESC LIMIT 10"
COUNTED = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'
FIRST = """
import sys, time
import kiprdf
began = time.monotonic()
with kiprdf.Nexus.open(sys.argv[1]) as nexus:
    nexus.execute('FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "D8"} }')
    print(time.monotonic() - began)
"""


def concepts(propositions: int) -> Iterator[tuple[Any, ...]]:
    """The concepts for so many propositions, as rows of ``Nexus.load``."""
    drugs, symptoms, authors = data.sizes(propositions)
    yield from (("Symptom", f"S{number}") for number in range(symptoms))
    yield from (("Author", f"A{number}") for number in range(authors))
    for number, chance in _drugs(drugs):
        text = f"Relieves {chance.choice(data.WORDS)} and {chance.choice(data.WORDS)}."
        values = {"risk": chance.randrange(5), "description": text}
        yield "Drug", f"D{number}", values, _metadata(number, authors)


def propositions_of(propositions: int) -> Iterator[tuple[Any, ...]]:
    """Four symptoms and four drugs of each drug; an author states two facts of one in eight."""
    drugs, symptoms, authors = data.sizes(propositions)
    for number in range(1, symptoms):
        yield ("Symptom", f"S{number}"), "broader", ("Symptom", f"S{(number - 1) // 3}")
    for number, chance in _drugs(drugs):
        drug, given = ("Drug", f"D{number}"), _metadata(number, authors)
        treated = [("Symptom", f"S{other}") for other in chance.sample(range(symptoms), 4)]
        others = chance.sample(range(number), min(number, 4))
        for other in treated:
            yield drug, "treats", other, None, given
        for other_drug in others:
            yield drug, "interacts_with", ("Drug", f"D{other_drug}"), None, given
        for other in treated[:2] if number % 8 == 0 else ():
            yield ("Author", given["author"]), "stated", (drug, "treats", other)


def _drugs(drugs: int) -> Iterator[tuple[int, random.Random]]:
    return ((number, random.Random(number)) for number in range(drugs))


def _metadata(number: int, authors: int) -> dict[str, Any]:
    author = f"A{number % authors}"
    return {
        "confidence": number % 100 / 100,
        "source": f"paper {number % 1000}",
        "author": author,
    }


def load(folder: Path, propositions: int) -> None:
    """Load a new folder, and say each million of rows how far it is."""
    began = time.monotonic()

    def watched(rows: Iterable[tuple[Any, ...]], kind: str) -> Iterator[tuple[Any, ...]]:
        for number, row in enumerate(rows, 1):
            if number % REPORTED == 0:
                seconds = time.monotonic() - began
                print(f"  {number:,} {kind}, {seconds:.0f} s, {resident():,} MB", file=sys.stderr)
            yield row

    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        nexus.execute(data.SCHEMA)
        nexus.load(
            watched(concepts(propositions), "concepts"),
            watched(propositions_of(propositions), "propositions"),
        )
        row("load", time.monotonic() - began)
        began = time.monotonic()
    row("close", time.monotonic() - began)
    row("memory, most while loading", f"{resident():,} MB")


def resident() -> int:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def row(name: str, value: float | str) -> None:
    """Print a row; a number is that of seconds."""
    if isinstance(value, float):
        value = f"{value:.2f} s" if value >= 0.01 else f"{1e6 * value:.0f} µs"
    print(f"| {name} | {value} |", flush=True)


def timed(function: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    began = time.monotonic()
    function()
    return time.monotonic() - began


def middle(functions: Iterable[Callable[[], object]]) -> float:
    """The median of the seconds that some calls take."""
    return statistics.median(map(timed, functions))


def ask(folder: Path, propositions: int) -> None:
    """Ask, write, and copy a folder that is loaded."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    row("size on disk", f"{size / 1e6:,.0f} MB")
    drugs = data.sizes(propositions)[0]
    for name in ("open, with the first question, after a pause", "open, with the first question"):
        command = [sys.executable, "-c", FIRST, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row(name, float(done.stdout))
    chance = random.Random(1)
    with kiprdf.Nexus.open(folder) as nexus:
        for shape in SHAPES:
            if shape.name in ANCHORED:
                asked = [shape.parameters(chance.randrange(drugs // 8) * 8) for _ in range(TIMES)]
                row(shape.name, middle(partial(nexus.execute, shape.kip, **own) for own in asked))
        row("newest, first", timed(lambda: nexus.execute(NEWEST)))
        row("newest", timed(lambda: nexus.execute(NEWEST)))
        row("COUNT of a type", timed(lambda: nexus.execute(COUNTED)))
        text = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES { risk: 1 } } }'
        names = [f"new {time.time_ns()} {number}" for number in range(99)]
        row(
            "UPSERT of a concept", middle(partial(nexus.execute, text, name=name) for name in names)
        )
        row("text index of concepts", timed(lambda: nexus.build_index(propositions=False)))
        for name, term in (("SEARCH of a name", "D9977"), ("SEARCH of a common word", "nausea")):
            search = partial(nexus.execute, "SEARCH CONCEPT :term LIMIT 10", term=term)
            row(name, middle(search for _ in range(9)))
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            out = Path(name, "snapshot.ttl")
            row("snapshot", timed(lambda: nexus.write_snapshot(out)))
            row("size of the snapshot", f"{out.stat().st_size / 1e6:,.0f} MB")
            row("backup", timed(lambda: nexus.backup(Path(name, "backup"))))
    row("memory, most", f"{resident():,} MB")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.millions", description=__doc__
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--millions", type=float, default=1)
    parser.add_argument("--only", choices=("load", "ask"))
    options = parser.parse_args()
    propositions = int(options.millions * 1_000_000)
    print("| | |\n|---|--:|")
    if options.only != "ask":
        load(options.folder, propositions)
    if options.only != "load":
        ask(options.folder, propositions)


if __name__ == "__main__":
    main()
