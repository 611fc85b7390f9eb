"""``python -m tests.benchmarks [--scale small|medium|large] [--only PART ...] [--json OUT]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator

import pyoxigraph

from tests.benchmarks import (
    carrying,
    chunks,
    embedded,
    growth,
    importing,
    loading,
    parsing,
    peers,
    questions,
    reasons,
    searching,
    serving,
    starting,
    totals,
    values,
    writing,
)
from tests.benchmarks.measure import Ratio

SCALES = {"small": 10_000, "medium": 100_000, "large": 1_000_000}
"""Propositions."""
PARTS: dict[str, Callable[[int], Iterator[Ratio]]] = {
    "questions": questions.measured,
    "reasons": reasons.measured,
    "values": values.measured,
    "totals": totals.measured,
    "parsing": parsing.measured,
    "writing": writing.measured,
    "loading": loading.measured,
    "carrying": carrying.measured,
    "importing": importing.measured,
    "searching": searching.measured,
    "starting": starting.measured,
    "serving": serving.measured,
    "growth": growth.measured,
    "chunks": chunks.measured,
    "peers": peers.measured,
    "embedded": embedded.measured,
}
"""What is measured, each part by a function of the number of propositions."""


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    parts = {}
    for part in arguments.only or PARTS:
        print(f"\n{part}", flush=True)
        ratios = []
        for ratio in PARTS[part](SCALES[arguments.scale]):
            print(line(ratio), flush=True)
            ratios.append(ratio)
        print(f"{sum(ratio.is_reached for ratio in ratios)} of {len(ratios)} reached")
        parts[part] = ratios
    if arguments.json:
        report = {"machine": machine(), "scale": arguments.scale}
        report["parts"] = {
            part: [{**ratio._asdict(), "ratio": ratio.ratio} for ratio in ratios]
            for part, ratios in parts.items()
        }
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)


def line(ratio: Ratio) -> str:
    """A row of the table."""
    verdict = "" if ratio.is_reached else "  <- beyond"
    amounts = f"{shown(ratio.ours, ratio.unit)} {shown(ratio.yardstick, ratio.unit)}"
    return f"{ratio.name:28} {amounts} {ratio.ratio:7.2f} of {ratio.target:.2f}{verdict}"


def shown(amount: float, unit: str) -> str:
    """Seconds or bytes in a unit that people read."""
    if unit == "bytes":
        return f"{amount / 1e6:10,.1f} MB"
    if amount >= 1:
        return f"{amount:10,.2f} s "
    return f"{amount * 1e3:10,.2f} ms" if amount >= 1e-3 else f"{amount * 1e6:10,.1f} µs"


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
    parser.add_argument("--only", metavar="PART", choices=PARTS, nargs="+")
    parser.add_argument("--json", metavar="OUT")
    return parser.parse_args()


if __name__ == "__main__":
    main()
