"""FIND beside the good SPARQL that an expert would write by hand, on the engine and on rdflib."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pyoxigraph import Literal

import kiprdf
from kiprdf.rdf.literals import to_json
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side
from tests.benchmarks.shapes import SHAPES, Shape

Numbers = Callable[[int], int]


def measured(propositions: int) -> Iterator[Ratio]:
    """Every shape, warm: its text has been seen, its parameter not."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    data.build(propositions, nexus)
    drugs = int(nexus.execute('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'))

    def number(turn: int) -> int:
        """A drug of which an author stated something."""
        return (drugs // 2 + turn * 8) % drugs // 8 * 8

    ratios = []
    for shape in SHAPES:
        ratios.append(on_the_engine(nexus, shape, number))
        yield ratios[-1]
    yield mean("all of them", ratios, 1.3)
    graph = nexus.to_rdflib()
    ratios = [on_rdflib(nexus, graph, shape, number) for shape in SHAPES]
    yield mean("all, beside rdflib", ratios, 1 / 20)


def mean(name: str, ratios: list[Ratio], target: float) -> Ratio:
    """The geometric means of some questions."""
    ours = statistics.geometric_mean(ratio.ours for ratio in ratios)
    return Ratio(name, ours, statistics.geometric_mean(ratio.yardstick for ratio in ratios), target)


def on_the_engine(nexus: kiprdf.Nexus, shape: Shape, number: Numbers) -> Ratio:
    """One question beside SPARQL on the same store, decoded to the same values."""
    engine = nexus.store.engine

    def yardstick(turn: int) -> list[Any]:
        rows = engine.query(shape.query(number(turn)))
        return list(zip(*[[_value(cell) for cell in row] for row in rows], strict=True))  # type: ignore[union-attr]

    return _beside(nexus, shape, number, yardstick, 2.0)


def on_rdflib(nexus: kiprdf.Nexus, graph: Any, shape: Shape, number: Numbers) -> Ratio:
    """The same beside rdflib's own SPARQL, on the graph without triple terms."""

    def yardstick(turn: int) -> list[Any]:
        rows = graph.query(shape.query(number(turn), rdf11=True))
        return list(zip(*[[cell and cell.toPython() for cell in row] for row in rows], strict=True))

    return _beside(nexus, shape, number, yardstick, 1 / 20)


def _value(cell: Any) -> Any:
    return to_json(cell) if isinstance(cell, Literal) else cell and cell.value


def _beside(
    nexus: kiprdf.Nexus,
    shape: Shape,
    number: Numbers,
    yardstick: Callable[[int], list[Any]],
    target: float,
) -> Ratio:
    def ours(turn: int) -> Any:
        return nexus.execute(shape.kip, **shape.parameters(number(turn)))

    answer, by_hand = ours(0), yardstick(0)
    rows = len(answer[0] if answer and isinstance(answer[0], list) else answer)
    if rows != len(by_hand[0] if by_hand else ()):
        sys.exit(f"{shape.name}: {rows} rows, and {len(by_hand)} by hand")
    return side_by_side(shape.name, ours, yardstick, target=target)
