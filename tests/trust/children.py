"""Work in a separate process, so that what kills a process is a failed test, with its input."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

from tests.trust.corpus import TESTS

SECONDS = 600.0
"""Far more than any child takes; only a hang gets there."""


class Child(NamedTuple):
    """How a child ended; ``output`` is all that it printed."""

    status: int
    output: str


def run(*arguments: str, seconds: float | None = SECONDS) -> Child:
    """Run Python on some arguments."""
    path = os.pathsep.join([str(TESTS.parent), *filter(None, sys.path)])
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired as fault:
        return Child(-1, _shown(fault.output or b"") + "\nIt did not end.")
    return Child(done.returncode, _shown(done.stdout))


def _shown(output: bytes) -> str:
    return output.decode("utf-8", "backslashreplace")
