"""Thousands of scopes in one process: ``python -m tests.benchmarks.scopes DIRECTORY``.

The directory is made when it is absent, and used again by later runs. A scope takes 2 MB. The first
thousand are written, each in 0.2 s of a processor; the others are copies of their files.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import kiprdf

SCOPES = 5_000
WRITTEN = 1_000
"""Of the scopes; the others are copies of these."""
CONCEPTS = 100
"""Of each scope; there are as many links, and what the bundled capsules have."""
DESCRIPTORS = 1_024
QUESTION = 'FIND(?d.attributes.note) WHERE { ?d {type: "Drug", name: "Drug 7"} }'


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scopes")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--scopes", type=int, default=SCOPES)
    parser.add_argument("--openings", type=int, default=SCOPES)
    parser.add_argument("--most-open", type=int, default=40)
    arguments = parser.parse_args()
    limit_descriptors()
    build(arguments.directory, arguments.scopes)
    names = [name_of(number) for number in range(arguments.scopes)]
    walk(arguments.directory, names, arguments.openings, arguments.most_open)


def limit_descriptors() -> None:
    """Let this process have as many descriptors as most systems allow."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))


def name_of(number: int) -> str:
    return f"scope-{number:05}"


def knowledge(scope: str, concepts: int = CONCEPTS) -> str:
    """A command that writes concepts, each with a link to the one before it."""
    types = (
        'CONCEPT { {type: "$ConceptType", name: "Drug"} }',
        'CONCEPT { {type: "$PropositionType", name: "treats"} }',
    )
    return "\n".join(["UPSERT {", *types, *(_concept(scope, i) for i in range(concepts)), "}"])


def _concept(scope: str, number: int) -> str:
    before = (number or CONCEPTS) - 1
    link = f' SET PROPOSITIONS {{ ("treats", ?c{before}) }}' if number else ""
    note = f"What {scope} knows of drug number {number}, which it has tried"
    attributes = f'SET ATTRIBUTES {{ note: "{note}", number: {number} }}'
    return f'CONCEPT ?c{number} {{ {{type: "Drug", name: "Drug {number}"}} {attributes}{link} }}'


def build(directory: Path, scopes: int) -> None:
    """Make the scopes that are missing."""
    with kiprdf.Brains(directory) as brains:
        there = set(brains.names())
        for number in range(min(scopes, WRITTEN)):
            if name_of(number) not in there:
                brains.add(name_of(number)).execute(knowledge(name_of(number)))
            if number % 200 == 199:
                report(f"made {number + 1}")
    for number in range(WRITTEN, scopes):
        if name_of(number) not in there:
            copied = directory / name_of(number % WRITTEN)
            shutil.copytree(copied, directory / name_of(number), dirs_exist_ok=True)


def walk(directory: Path, names: list[str], openings: int, most_open: int) -> None:
    """Open random scopes, ask each one, and print what the process has meanwhile."""
    chosen = random.Random(1)
    times: list[tuple[float, float]] = []
    with kiprdf.Brains(directory, most_open=most_open) as brains:
        report("begins")
        timed("names()", brains.names)
        for number in range(1, openings + 1):
            name = chosen.choice(names)
            started = time.perf_counter(), time.process_time()
            nexus = brains[name]
            times.append((time.perf_counter() - started[0], time.process_time() - started[1]))
            (row,) = nexus.find(QUESTION).column("?d.attributes.note")
            if name_of(int(name[-5:]) % WRITTEN) not in str(row):
                sys.exit(f"{name} answers {row}")
            del nexus
            if number % max(1, openings // 10) == 0:
                wall, processor = (
                    " ".join(f"{1e3 * at:.1f}" for at in (min(each), *quantiles(each)))
                    for each in zip(*times[-500:], strict=True)
                )
                report(f"opened {number}: ms {wall}; of the processor {processor};")
    gc.collect()
    report("closed")


def quantiles(times: tuple[float, ...]) -> tuple[float, float]:
    ordered = sorted(times)
    return statistics.median(ordered), ordered[len(ordered) * 95 // 100]


def timed(label: str, function: Callable[[], object]) -> None:
    times = []
    for _ in range(5):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    print(f"{label}: {1e3 * min(times):.2f} ms", flush=True)


def report(label: str) -> None:
    """Print what the process has of the system."""
    descriptors = len(os.listdir("/proc/self/fd"))
    threads = len(os.listdir("/proc/self/task"))
    amounts = f"{resident() / 1e6:.0f} MB, {descriptors} descriptors, {threads} threads"
    print(f"{label} {amounts}", flush=True)


def resident() -> int:
    """The bytes of memory that this process occupies."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
