"""Chunks and rules: parsing by the megabyte, firings, and a get from many chunks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

from kiprdf import chunks
from tests.benchmarks.measure import Ratio, side_by_side
from tests.chunks.test_engine_speed import COUNT, Naive

DOCUMENTS = {
    "facts": 'dog dog%d {age 4; name "Fido"}\n',
    "rules": "count {state s%d; start ?x; end ?y} => count {at ?x}, show {@module f; value ?y}\n",
    "links": "friend%d knows friend1\n",
}
STEPS = 500
"""The numbers that one run of the counting rules counts."""
GET = "start {at ?n} => increment {@module facts; @do get; number ?n}"
FEW = 1_000


def measured(propositions: int) -> Iterator[Ratio]:
    """Parsing, firings, and a get from as many chunks as propositions."""
    for name, line in DOCUMENTS.items():
        yield parsing(f"a megabyte of {name}", line)
    ours, naive = counting(), naive_counting()
    firings = side_by_side("counting to 500", ours, naive, target=0.25)
    yield firings
    yield Ratio("a firing", firings.ours / (STEPS + 2), yardstick=0.0001, target=1.0)
    yield side_by_side("get, beside 1 000 chunks", getting(propositions), getting(FEW), target=1.5)


def parsing(name: str, line: str) -> Ratio:
    """Seconds for a megabyte of one kind of statement."""
    text = "".join(line % number for number in range(500_000 // len(line)))
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        chunks.parse(text)
        seconds.append(time.perf_counter() - started)
    ours = statistics.median(seconds) / len(text) * 1e6
    return Ratio(name, ours, yardstick=1.0, target=1.0)


def counting() -> Callable[[int], None]:
    """Count with the engine."""
    engine = chunks.Engine(COUNT, {"facts": facts(STEPS)})

    def count(_: int) -> None:
        engine.goal(f"count {{state start; from 0; to {STEPS}}}")
        assert len(engine.run(max_cycles=10 * STEPS)) == STEPS + 2

    return count


def naive_counting() -> Callable[[int], None]:
    """Count with a matcher that has neither compiled rules nor indexes."""
    naive = Naive(COUNT, facts(STEPS))
    (goal,) = chunks.parse(f"count {{state start; from 0; to {STEPS}}}").chunks

    def count(_: int) -> None:
        naive.buffers = {"goal": goal, "facts": None}
        assert naive.run() == STEPS + 2

    return count


def getting(size: int) -> Callable[[int], None]:
    """A rule that gets one of so many chunks by a property."""
    engine = chunks.Engine(GET, {"facts": facts(size)})

    def get(number: int) -> None:
        engine.goal(chunks.Chunk("start", {"at": number % FEW}))
        engine.step()
        assert engine.module("facts").status == "okay"

    return get


def facts(size: int) -> str:
    """Chunks that say which number follows which."""
    return "\n".join(f"increment {{number {n}; successor {n + 1}}}" for n in range(size + 1))
