"""Work in a separate process, so that what kills a process is a failed test, with its input."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.programs import start
from tests.trust.corpus import TESTS

SECONDS = 600.0
"""Far more than any child takes; only a hang gets there."""


class Child(NamedTuple):
    """How a child ended; ``output`` is all that it printed."""

    status: int
    output: str


def run(*arguments: str, seconds: float | None = SECONDS) -> Child:
    """Run Python on some arguments."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        program = start(arguments, output)
        program.join(seconds)
        status, end = program.exitcode, ""
        if status is None:
            program.kill()
            program.join()
            status, end = -1, "\nIt did not end."
        return Child(status, output.read_bytes().decode("utf-8", "backslashreplace") + end)


def run_afresh(*arguments: str) -> Child:
    """Run Python on arguments that fork: no process shares anything with those of other tests."""
    done = subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), *sys.path])},
    )
    return Child(done.returncode, done.stdout.decode("utf-8", "backslashreplace"))
