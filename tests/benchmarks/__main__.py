"""``python -m tests.benchmarks [--scale small|medium|large] [--only TEXT] [--json OUT]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import pyoxigraph

import kiprdf
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side
from tests.benchmarks.shapes import SHAPES, Shape

SCALES = {"small": 10_000, "medium": 100_000, "large": 1_000_000}


def main() -> None:
    """Build the data, measure, print."""
    arguments = _arguments()
    nexus = kiprdf.Nexus.memory(genesis=False)
    started = time.perf_counter()
    data.build(SCALES[arguments.scale], nexus)
    counts = nexus.info()
    print(f"{counts['propositions']} propositions in {time.perf_counter() - started:.0f} s")
    found = []
    for ratio in measured(nexus, arguments.only):
        print(line(ratio), flush=True)
        found.append(ratio)
    finds = [ratio.ratio for ratio in found]
    print(f"geometric mean {statistics.geometric_mean(finds):.2f}, worst {max(finds):.2f}")
    if arguments.json:
        report = {"machine": machine(), "scale": arguments.scale}
        report["ratios"] = [{**ratio._asdict(), "ratio": ratio.ratio} for ratio in found]
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)


def measured(nexus: kiprdf.Nexus, only: str | None) -> Iterator[Ratio]:
    """The questions whose names hold a text, one after the other."""
    for shape in SHAPES:
        if only is None or only in shape.name:
            yield find(nexus, shape)


def find(nexus: kiprdf.Nexus, shape: Shape) -> Ratio:
    """One question, warm: its text has been seen, its parameter not."""
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


def line(ratio: Ratio) -> str:
    shown = "" if ratio.is_reached else "  <- beyond"
    times = f"{ratio.ours * 1e6:12,.0f} µs {ratio.yardstick * 1e6:12,.0f} µs"
    return f"{ratio.name:24} {times} {ratio.ratio:7.2f}{shown}"


def machine() -> dict[str, object]:
    """What the figures depend on."""
    return {
        "python": platform.python_version(),
        "pyoxigraph": pyoxigraph.__version__,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "date": time.strftime("%Y-%m-%d"),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--scale", choices=SCALES, default="medium")
    parser.add_argument("--only", metavar="TEXT")
    parser.add_argument("--json", metavar="OUT")
    return parser.parse_args()


if __name__ == "__main__":
    main()
