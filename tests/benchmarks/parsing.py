"""Text to tree: a capsule by the megabyte, and a FIND whose text was never seen before."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import kiprdf
from kiprdf.language import parse
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio

CAPSULE = 30_000
"""Propositions; more take longer, and no less a megabyte."""
PAIRS = 500
QUESTION = """\
FIND(?s.name, ?b.name, ?d.attributes.risk)
WHERE {
  ?d {type: "Drug", name: :name}
  (?d, "treats", ?s {type: "Symptom"})
  FILTER(?d.attributes.risk >= 0 && STARTS_WITH(?s.name, "S"))
  OPTIONAL { (?s, "broader", ?b) }
  NOT { (?s, "broader", {name: "S0"}) }
}
ORDER BY ?s.name DESC // %8d
LIMIT 10"""


def measured(propositions: int) -> Iterator[Ratio]:
    """A capsule, and a cold FIND in a nexus of that size."""
    yield capsule(data.capsule(min(propositions, CAPSULE)))
    nexus = kiprdf.Nexus.memory(genesis=False)
    data.build(propositions, nexus)
    yield cold(nexus)


def capsule(text: str) -> Ratio:
    """Seconds for a megabyte of text."""
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        parse(text, limit_size=False)
        seconds.append(time.perf_counter() - started)
    ours = statistics.median(seconds) / len(text.encode()) * 1e6
    return Ratio("capsule, parse alone", ours, yardstick=1.0, target=1.0)


def cold(nexus: kiprdf.Nexus) -> Ratio:
    """What a new text costs more than one that was cached; a comment makes it new."""

    differences = []
    for turn in range(PAIRS):
        started = time.perf_counter()
        new = nexus.execute(QUESTION % (turn + 1), name="D8")
        between = time.perf_counter()
        cached = nexus.execute(QUESTION % 0, name="D8")
        differences.append(2 * between - started - time.perf_counter())
        assert new == cached != []
    ours = statistics.median(differences)
    return Ratio("cold FIND, 300 characters", ours, yardstick=0.001, target=1.0)
