"""Precision and recall of extraction on a corpus: ``python -m tests.memory.quality [--faults]``.

A line of ``corpus.jsonl`` has a text, its entities as [type, name], its edges as [subject,
predicate, object, weight] by name, and the kind of text. Names are compared as ``normalized_name``,
without an article in front.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kiprdf.memory import Extraction, extract
from kiprdf.memory.items import USER_NAME, normalized

CORPUS = Path(__file__).with_name("corpus.jsonl")
_ARTICLES = ("a ", "an ", "the ", "my ")


@dataclass
class Count:
    """What was extracted and is right, what is wrong, and what was missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong or 1)

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed or 1)


@dataclass
class Result:
    """Counts of all entities, all edges, and of each type, predicate and kind of text."""

    counts: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    faults: list[tuple[str, list[str], list[str]]] = field(default_factory=list)

    def add(self, keys: tuple[str, ...], expected: set[Any], extracted: set[Any]) -> None:
        for key in keys:
            count = self.counts[key]
            count.right += len(expected & extracted)
            count.wrong += len(extracted - expected)
            count.missed += len(expected - extracted)


def cases() -> list[dict[str, Any]]:
    """The lines of the corpus."""
    return [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines() if line]


def measure() -> Result:
    """Extract from each text of the corpus and compare."""
    result = Result()
    for case in cases():
        expected = {(kind, short_name(name)) for kind, name in case["entities"]}
        stated = {(short_name(s), p, short_name(o), w) for s, p, o, w in case["edges"]}
        extraction = extract(case["text"])
        entities, edges = set(_entities(extraction)), set(_edges(extraction))
        result.add(("all", "entities", case["kind"]), expected, entities)
        result.add(("all", "edges", case["kind"]), stated, edges)
        for kind in {kind for kind, _ in expected | entities}:
            result.add((kind,), _of(expected, 0, kind), _of(entities, 0, kind))
        for predicate in {edge[1] for edge in stated | edges}:
            result.add((predicate,), _of(stated, 1, predicate), _of(edges, 1, predicate))
        if expected != entities or stated != edges:
            missed = [*map(str, expected - entities), *map(str, stated - edges)]
            wrong = [*map(str, entities - expected), *map(str, edges - stated)]
            result.faults.append((case["text"], missed, wrong))
    return result


def _of(facts: set[Any], index: int, value: str) -> set[Any]:
    return {fact for fact in facts if fact[index] == value}


def short_name(name: str) -> str:
    if name == USER_NAME:
        return "user"
    name = normalized(name)
    return next((name[len(a) :] for a in _ARTICLES if name.startswith(a)), name)


def _entities(extraction: Extraction) -> Iterator[tuple[str, str]]:
    return ((entity.type, short_name(entity.name)) for entity in extraction.entities)


def _edges(extraction: Extraction) -> Iterator[tuple[str, str, str, float]]:
    return (
        (short_name(edge.subject.name), edge.predicate, short_name(edge.object.name), edge.weight)
        for edge in extraction.edges
    )


def main() -> None:
    """Print a table; with ``--faults`` each text with what was missed (-) and is wrong (+)."""
    result = measure()
    if "--faults" in sys.argv:
        for text, missed, wrong in result.faults:
            print(repr(text), *(f"\n  - {fact}" for fact in missed), *(f"\n  + {f}" for f in wrong))
    print("|  | right | wrong | missed | precision | recall |\n|---|---|---|---|---|---|")
    for key, count in result.counts.items():
        print(
            f"| {key} | {count.right} | {count.wrong} | {count.missed}"
            f" | {count.precision:.3f} | {count.recall:.3f} |"
        )


if __name__ == "__main__":
    main()
