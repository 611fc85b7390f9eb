"""Rows of Python, beside the engine's bulk load of the same quads, and the same data as UPSERT.

All are processor times, of which the middle round counts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from pyoxigraph import DefaultGraph, Quad, Store

import kiprdf
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio
from tests.benchmarks.writing import Plain, plain_triple, quads, require_equal

MOST = 20_000
ROUNDS = 3
CLOCK = partial(datetime, 2026, 1, 1, tzinfo=UTC)


def measured(propositions: int) -> Iterator[Ratio]:
    """In memory, and in a folder with its history."""
    with kiprdf.Nexus.memory(genesis=False, clock=CLOCK) as nexus:
        text = data.capsule(min(propositions, MOST))
        nexus.apply_capsule(text)
        plain = [plain_triple(triple) for triple in nexus.store.match(None, None, None)]
    rows = data.rows(min(propositions, MOST))
    yield from _compared("in memory", 4.0, rows, text, plain, lambda: None)
    with tempfile.TemporaryDirectory() as parent:
        numbers = count()
        yield from _compared(
            "on disk", 2.5, rows, text, plain, lambda: Path(parent) / str(next(numbers))
        )


def _compared(
    place: str,
    target: float,
    rows: tuple[data.Rows, data.Rows],
    text: str,
    plain: list[Plain],
    folder: Callable[[], Path | None],
) -> Iterator[Ratio]:
    def opened() -> kiprdf.Nexus:
        path = folder()
        if path is None:
            return kiprdf.Nexus.memory(genesis=False, clock=CLOCK)
        return kiprdf.Nexus.open(path, genesis=False, clock=CLOCK)

    def load(nexus: kiprdf.Nexus) -> None:
        nexus.execute(data.SCHEMA)
        nexus.load(*rows)

    def bulk(store: Store) -> None:
        store.bulk_extend(quads(plain))

    def bare() -> Store:
        path = folder()
        return Store() if path is None else Store(str(path))

    with opened() as nexus:
        load(nexus)
        default = DefaultGraph()
        written: list[Quad] = [q for q in nexus.store.engine if q.graph_name == default]
        require_equal(f"load, {place}", written, quads(plain))
    yield _ratio(f"load, {place}", opened, load, bare, bulk, target)
    apply = kiprdf.Nexus.apply_capsule
    yield _ratio(f"load, {place}, as UPSERT", opened, load, opened, lambda n: apply(n, text), 0.25)


def _ratio(
    name: str,
    opened: Callable[[], Any],
    ours: Callable[[Any], object],
    other: Callable[[], Any],
    yardstick: Callable[[Any], object],
    target: float,
) -> Ratio:
    rounds = []
    for _ in range(ROUNDS):
        both = []
        for make, run in ((opened, ours), (other, yardstick)):
            store = make()
            started = time.process_time()
            run(store)
            both.append(time.process_time() - started)
            if isinstance(store, kiprdf.Nexus):
                store.close()
        rounds.append(Ratio(name, *both, target))
    return sorted(rounds, key=lambda each: each.ratio)[ROUNDS // 2]
