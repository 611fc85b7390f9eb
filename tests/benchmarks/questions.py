"""FIND beside the good SPARQL that somebody would write by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import kiprdf
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side
from tests.benchmarks.shapes import SHAPES, Shape


def measured(propositions: int) -> Iterator[Ratio]:
    """Every shape, warm: its text has been seen, its parameter not."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    data.build(propositions, nexus)
    for shape in SHAPES:
        yield find(nexus, shape)


def find(nexus: kiprdf.Nexus, shape: Shape) -> Ratio:
    """One question, warm."""
    engine = nexus._store.engine
    drugs = int(nexus.execute('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'))

    def number(turn: int) -> int:
        """A drug of which an author stated something."""
        return (drugs // 2 + turn * 8) % drugs // 8 * 8

    def ours(turn: int) -> object:
        return nexus.execute(shape.kip, **shape.parameters(number(turn)))

    def yardstick(turn: int) -> list[Any]:
        rows = engine.query(shape.query(number(turn)))
        return [[cell and cell.value for cell in row] for row in rows]

    _require_equal(ours(0), yardstick(0), shape)
    return side_by_side(shape.name, ours, yardstick, target=2.0)


def _require_equal(ours: Any, theirs: list[Any], shape: Shape) -> None:
    """Both have as many rows; the yardstick would not be one otherwise."""
    rows = len(ours[0] if ours and isinstance(ours[0], list) else ours)
    if rows != len(theirs):
        sys.exit(f"{shape.name}: {rows} rows, and {len(theirs)} by hand")
