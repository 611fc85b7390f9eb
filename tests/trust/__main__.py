"""Long runs: ``python -m tests.trust --steps 5000 --kills 500``.

Each part that is named with a number runs its pytest file with that number and the seed, and
prints one line. Without a name all parts run, as small as in a test run.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Part:
    """What an option runs: test files, whose number is set by an environment variable."""

    variable: str
    file: str
    small: int
    unit: str


PARTS = {
    "oracle": Part(
        "KIPRDF_EXAMPLES", "tests/properties/test_engine_equals_oracle.py", 15, "graphs"
    ),
    "steps": Part("KIPRDF_STEPS", "tests/trust/test_state_machine.py", 200, "steps"),
    "kills": Part("KIPRDF_KILLS", "tests/trust/test_crash.py", 15, "kills"),
    "interrupts": Part("KIPRDF_INTERRUPTS", "tests/trust/test_interrupts.py", 240, "interrupts"),
    "forks": Part("KIPRDF_FORKS", "tests/trust/test_forks.py", 8, "forks"),
    "damages": Part(
        "KIPRDF_DAMAGES",
        "tests/trust/test_disk_faults.py tests/trust/test_damages.py",
        1,
        "damages of each file",
    ),
    "fuzz": Part("KIPRDF_FUZZ", "tests/trust/test_fuzz.py", 1000, "inputs"),
    "bombs": Part("KIPRDF_BOMBS", "tests/trust/test_sparql_bombs.py", 1, "places of each query"),
}


def main(arguments: list[str] | None = None) -> int:
    """The number of parts that failed."""
    options = read(arguments)
    failed = 0
    for name, part in chosen(options).items():
        line, succeeded = run(name, part[0], part[1], options.seed)
        print(line, flush=True)
        failed += not succeeded
    return failed


def read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    for name, part in PARTS.items():
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"{part.unit}, {part.file}")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    return parser.parse_args(arguments)


def chosen(options: argparse.Namespace) -> dict[str, tuple[Part, int]]:
    """The parts with their numbers; those whose file is not there are left out."""
    named = {name: getattr(options, name) for name in PARTS}
    numbers = {name: number for name, number in named.items() if number is not None}
    if not numbers:
        numbers = {name: part.small for name, part in PARTS.items()}
    return {
        name: (PARTS[name], number)
        for name, number in numbers.items()
        if (ROOT / PARTS[name].file.split()[0]).exists()
    }


def run(name: str, part: Part, number: int, seed: int) -> tuple[str, bool]:
    """Run the file of a part; the line about it, and whether nothing failed."""
    environment = {**os.environ, part.variable: str(number), "KIPRDF_SEED": str(seed)}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            *part.file.split(),
            f"--hypothesis-seed={seed}",
        ]
        done = subprocess.run(
            [*command, f"--junitxml={report}", "-ojunit_family=xunit1"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        count = counted(report) or f"{number} {part.unit}"
    succeeded = done.returncode == 0
    if not succeeded:
        print(done.stdout, done.stderr, file=sys.stderr)
    facts = [
        name,
        count,
        f"seed {seed}",
        f"{time.monotonic() - began:.0f} s",
        "no failure" if succeeded else "FAILED",
        f"{datetime.now(UTC):%Y-%m-%d}",
        f"Python {platform.python_version()}",
        f"pyoxigraph {version('pyoxigraph')}",
        f"{os.cpu_count()} cores",
    ]
    return ", ".join(facts), succeeded


def counted(report: Path) -> str:
    """What the tests themselves have counted."""
    if not report.exists():
        return ""
    properties = ElementTree.parse(report).iter("property")
    return "; ".join(node.get("value", "") for node in properties if node.get("name") == "count")


if __name__ == "__main__":
    sys.exit(main())
