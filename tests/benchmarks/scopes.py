"""Thousands of scopes: ``python -m tests.benchmarks.scopes DIRECTORY [--only STEP ...]``.

The directory is made when it is absent, and used again by later runs. A scope takes 2 MB. The first
thousand are written, each in 0.2 s of a processor; the others are copies of their files. After that
all steps take less than three minutes on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyoxigraph

import kiprdf
from tests.benchmarks.measure import side_by_side
from tests.serve.scoped import serving_scopes

T = TypeVar("T")
SCOPES = 5_000
WRITTEN = 1_000
"""Of the scopes; the others are copies of these."""
CONCEPTS = 100
"""Of each scope; there are as many links, and what the bundled capsules have."""
DESCRIPTORS = 1_024
QUESTION = 'FIND(?d.attributes.note) WHERE { ?d {type: "Drug", name: "Drug 7"} }'
ANOTHER = """UPSERT { CONCEPT { {type: "Person", name: :name}
    SET PROPOSITIONS { ("treats", {type: "Person", name: "$self"}) } } }"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scopes")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--scopes", type=int, default=SCOPES)
    parser.add_argument("--times", type=int, default=1_000, help="openings, and requests")
    parser.add_argument("--only", choices=STEPS, nargs="+", default=list(STEPS))
    arguments = parser.parse_args()
    # As many descriptors as most systems allow; a child process has the same limit.
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    build(arguments.directory, arguments.scopes)
    for step in arguments.only:
        print(f"\n{step}", flush=True)
        STEPS[step](arguments.directory, arguments.scopes, arguments.times)


def name_of(number: int) -> str:
    return f"scope-{number:05}"


def knowledge(scope: str, concepts: int = CONCEPTS, kind: str = "Drug") -> str:
    """A command that writes concepts, each with a link to the one before it."""
    types = (
        f'CONCEPT {{ {{type: "$ConceptType", name: "{kind}"}} }}',
        'CONCEPT { {type: "$PropositionType", name: "treats"} }',
    )
    described = (_concept(scope, kind, number) for number in range(concepts))
    return "\n".join(["UPSERT {", *types, *described, "}"])


def _concept(scope: str, kind: str, number: int) -> str:
    link = f' SET PROPOSITIONS {{ ("treats", ?c{number - 1}) }}' if number else ""
    note = f"What {scope} knows of drug number {number}, which it has tried"
    attributes = f'SET ATTRIBUTES {{ note: "{note}", number: {number} }}'
    return f'CONCEPT ?c{number} {{ {{type: "{kind}", name: "Drug {number}"}} {attributes}{link} }}'


def build(directory: Path, scopes: int) -> None:
    """Make the scopes that are missing."""
    with kiprdf.Brains(directory) as brains:
        there = set(brains.names())
        for number in range(min(scopes, WRITTEN)):
            if name_of(number) not in there:
                brains.add(name_of(number)).execute(knowledge(name_of(number)))
    for number in range(WRITTEN, scopes):
        if name_of(number) not in there:
            copied = directory / name_of(number % WRITTEN)
            shutil.copytree(copied, directory / name_of(number), dirs_exist_ok=True)


class Durations:
    """Milliseconds of calls: of the clock, and of the processor."""

    def __init__(self) -> None:
        self._each: list[tuple[float, float]] = []

    def call(self, function: Callable[[], T]) -> T:
        started = time.perf_counter(), time.process_time()
        result = function()
        ended = time.perf_counter(), time.process_time()
        self._each.append((1e3 * (ended[0] - started[0]), 1e3 * (ended[1] - started[1])))
        return result

    @property
    def least(self) -> float:
        """The least time of the processor."""
        return min(each for _, each in self._each)

    @property
    def of_clock(self) -> str:
        return str(self).partition(",")[0]

    def __str__(self) -> str:
        """The least, the median and the 95th percentile."""
        parts = []
        for times in map(sorted, zip(*self._each, strict=True)):
            chosen = times[0], times[len(times) // 2], times[len(times) * 95 // 100]
            parts.append(" / ".join(f"{time:.2f}" for time in chosen))
        return f"{parts[0]} ms, of the processor {parts[1]}"


def amounts(process: int | str = "self") -> str:
    """What a process has of the system."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    descriptors = len(os.listdir(f"/proc/{process}/fd"))
    return f"{pages * resource.getpagesize() / 1e6:.0f} MB, {descriptors} descriptors"


def processor(process: int) -> float:
    """The seconds of the processor that a process has spent."""
    user, system = Path(f"/proc/{process}/stat").read_text().split()[13:15]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


# Steps ----------------------------------------------------------------------------------------


def openings(directory: Path, scopes: int, times: int) -> None:
    """How long it takes to open, to ask, to close and to create a scope."""
    opening, asking, closing, listing = (Durations() for _ in range(4))
    for number in random.Random(2).sample(range(scopes), min(scopes, 100)):
        nexus = opening.call(partial(kiprdf.Nexus.open, directory / name_of(number)))
        asking.call(partial(nexus.find, QUESTION))
        closing.call(nexus.close)
    creating, writing, closing_written = (Durations() for _ in range(3))
    with tempfile.TemporaryDirectory(dir=directory.parent) as folder:
        for number in range(10):
            nexus = creating.call(partial(kiprdf.Nexus.open, Path(folder) / str(number)))
            writing.call(partial(nexus.execute, knowledge("one")))
            closing_written.call(nexus.close)
    with kiprdf.Brains(directory) as brains:
        for _ in range(5):
            listing.call(brains.names)
    print(f"opening {opening}")
    print(f"the first question {asking}")
    print(f"closing {closing}")
    print(f"creating {creating}")
    print(f"writing 200 elements {writing}")
    print(f"closing after that {closing_written}")
    print(f"names() {listing}")


def walk(directory: Path, scopes: int, times: int) -> None:
    """What a process that opens random scopes has, and whether that grows."""
    chosen, opening = random.Random(1), Durations()
    with kiprdf.Brains(directory) as brains:
        for number in range(times):
            if number % (times // 5) == 0:
                print(f"{number} opened: {amounts()}", flush=True)
            scope = chosen.randrange(scopes)
            nexus = opening.call(partial(brains.__getitem__, name_of(scope)))
            check(nexus.find(QUESTION).column("?d.attributes.note"), scope)
            del nexus
        print(f"{times} opened: {amounts()}; each {opening}")


def check(rows: Sequence[object], scope: int) -> None:
    """End the benchmark unless a scope answers with what it knows."""
    if name_of(scope % WRITTEN) not in str(rows):
        sys.exit(f"{name_of(scope)} answers {rows}")


def served(directory: Path, scopes: int, times: int) -> None:
    """The same of a server: requests to random scopes, and to views of two of them."""
    chosen = random.Random(3)
    views = {
        f"p{number}": ("model", "write", [name_of(number), name_of(number + 1)], name_of(number))
        for number in chosen.sample(range(scopes - 1), 200)
    }
    access = {"root": ("human", "admin", [], None), **views}
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "scopes").symlink_to(directory)
        with serving_scopes(Path(place), access=access) as scoped:
            process = scoped.server.pid
            limits = resource.prlimit(process, resource.RLIMIT_NOFILE)
            print(f"at most {limits[0]} descriptors; at the beginning: {amounts(process)}")
            of_scope, of_view, same = Durations(), Durations(), Durations()
            for number in range(1, times + 1):
                scope = chosen.randrange(scopes)
                path = f"/scopes/{name_of(scope)}"
                answer = of_scope.call(partial(scoped.kip, "root", QUESTION, path))
                check([answer.text], scope)
                same.call(partial(scoped.kip, "root", QUESTION, path))
                if number % 5 == 0:
                    who = chosen.choice(list(views))
                    answer = of_view.call(partial(scoped.kip, who, QUESTION))
                    check([answer.text], int(views[who][2][1].removeprefix("scope-")))
                if number % (times // 5) == 0:
                    spent = f"{processor(process):.0f} s of the processor"
                    print(f"{number} requests: {amounts(process)}, {spent}", flush=True)
            print(f"to a scope that may be closed {of_scope.of_clock}")
            print(f"to one that is open {same.of_clock}")
            print(f"to a view of two {of_view.of_clock}")


def viewed(directory: Path, scopes: int, times: int) -> None:
    """A view beside a plain copy of its members, and how it follows a commit."""
    with tempfile.TemporaryDirectory(dir=directory.parent) as folder:
        large = [Path(folder) / name for name in ("a", "b")]
        for number, path in enumerate(large):
            with kiprdf.Nexus.open(path) as nexus:
                for part in range(4):
                    nexus.execute(knowledge(path.name, 500, f"Drug{number}{part}"))
        small = [Path(folder) / name_of(number) for number in (1, 2)]
        for path in small:
            shutil.copytree(directory / path.name, path)
        for label, folders in (
            ("two scopes", small),
            ("two larger folders", large),
        ):
            members = [kiprdf.Nexus.open(path) for path in folders]
            _building(label, members)
            for member in members:
                member.close()
        members = [kiprdf.Nexus.memory() for _ in range(2)]
        for number, nexus in enumerate(members):
            nexus.execute(knowledge("one", 800, f"Drug{number}"))
        _building("in memory", members)


def _building(label: str, members: list[kiprdf.Nexus]) -> None:
    quads = sum(len(member.store.embedded.engine) for member in members)  # type: ignore[union-attr]

    def copy() -> None:
        engine = pyoxigraph.Store()
        for member in members:
            assert member.store.embedded is not None
            engine.bulk_extend(iter(member.store.embedded.engine))

    building, copying, following = Durations(), Durations(), Durations()
    for _ in range(9):
        copying.call(copy)
        building.call(lambda: kiprdf.View(members)).close()
    ratio = building.least / copying.least
    each = [1e3 * least / quads for least in (building.least, copying.least)]
    print(f"{label}: {quads} quads, {each[0]:.1f} µs each, {ratio:.2f} times a copy: {each[1]:.1f}")
    with kiprdf.View(members) as view:
        view.info()
        for number in range(100):
            members[-1].execute(ANOTHER, name=f"New {number}")
            following.call(view.store.records)
    print(f"following a commit {following}")


def alone(directory: Path, scopes: int, times: int) -> None:
    """A question to a nexus of a directory, beside the same to a nexus that is opened by itself."""
    with kiprdf.Brains(directory) as brains, kiprdf.Nexus.open(directory / name_of(2)) as nexus:
        brains.view(name_of(1), name_of(3))
        kept = brains[name_of(1)]
        for label, ask in (
            ("kept", lambda _: kept.find(QUESTION)),
            ("by its name", lambda _: brains[name_of(1)].find(QUESTION)),
        ):
            beside = side_by_side(label, ask, lambda _: nexus.find(QUESTION), target=1.0)
            print(f"{label}: {1e6 * beside.ours:.1f} µs, {beside.ratio:.2f} times as long")


STEPS: dict[str, Callable[[Path, int, int], None]] = {
    "openings": openings,
    "walk": walk,
    "served": served,
    "viewed": viewed,
    "alone": alone,
}
"""What is measured in a directory, with a number of scopes and of openings or requests."""


if __name__ == "__main__":
    main()
