"""What holds on each engine, as a table: ``python -m tests.engines``.

Each engine is started on loopback and stopped again. The columns: the conformance cases, the values
and the commits (tests that fail, of all), random queries beside the naive evaluator (wrong ones, of
all), and the questions of the yardstick (those that take more than 1.5 times their SPARQL by hand,
of all). Nothing is installed; the table says how to get what is missing. All of it takes some
minutes for each engine.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable

from tests.engines.conftest import NAMES
from tests.engines.oracle import PAIRS, compare
from tests.engines.servers import KINDS, running
from tests.engines.yardstick import measured

SUITES = {
    "conformance": "tests/engines/test_conformance.py",
    "values": "tests/engines/test_values.py",
    "commits": "tests/engines/test_commits.py",
}


def main(arguments: list[str] | None = None) -> int:
    """The number of columns in which something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *KINDS], help="all, if none is named")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="random queries; 500 if not given")
    parser.add_argument("--kills", type=int, default=25, help="kills of a server; 25 if not given")
    chosen = parser.parse_args(arguments)
    columns = (*SUITES, "oracle", "yardstick")
    print(f"| engine | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}", flush=True)
    failed = 0
    for name in chosen.names or KINDS:
        kind = KINDS[name]
        if missing := kind.missing():
            print(f"| {name} | needs {missing}: {kind.install} |", flush=True)
            continue
        cells = [_suite(name, path, chosen.kills) for path in SUITES.values()]
        cells += [_cell(lambda name=name: _oracle(name, chosen.pairs))]
        cells += [_cell(lambda name=name: _yardstick(name)) if kind.start else "-"]
        failed += sum(not re.match("0 of|-", cell) for cell in cells)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return failed


def _suite(name: str, path: str, kills: int) -> str:
    """How many tests of a file fail on an engine."""
    environment = {**os.environ, NAMES: name, "KIPRDF_KILLS": str(kills)}
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-rN", "--tb=no", path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stdout)
    marks = "".join(re.findall(r"^([.sFE]+)(?: +\[ *\d+%\])?$", done.stdout, re.MULTILINE))
    failed, passed = len(re.findall("[FE]", marks)), marks.count(".")
    return f"{failed} of {failed + passed}" if failed + passed else "-"


def _cell(measure: Callable[[], str]) -> str:
    try:
        return measure()
    except (Exception, SystemExit) as fault:
        return " ".join(str(fault).split())[:200] or type(fault).__name__


def _oracle(name: str, pairs: int) -> str:
    with running(name) as engine:
        comparison = compare(engine, pairs)
    faults = comparison.wrong + comparison.refused
    sys.stderr.write("".join(f"{fault}\n" for fault in faults))
    refused = f", {len(comparison.refused)} refused" if comparison.refused else ""
    return f"{len(comparison.wrong)} of {comparison.pairs}{refused}"


def _yardstick(name: str) -> str:
    with running(name) as engine:
        ratios = list(measured(engine))
    beyond = [ratio for ratio in ratios if ratio.ratio > ratio.target]
    slowest = max(ratios, key=lambda ratio: ratio.ratio)
    return f"{len(beyond)} of {len(ratios)}, up to {slowest.ratio:.1f} ({slowest.name})"


if __name__ == "__main__":
    sys.exit(main())
