"""Runs the command line, in this process or as a child process, and compares what it prints."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

from typer import testing
from typer.main import get_command
from typer.testing import CliRunner, Result

from kiprdf.cli import app
from tests.programs import start

ROOT = Path(__file__).resolve().parents[2]
# To put the commands together takes 25 ms, each time.
setattr(testing, "_get_command", cache(get_command))  # noqa: B010
_CHECKER = doctest.OutputChecker()


def invoke(*arguments: str, **options: Any) -> Result:
    """Run ``kiprdf`` in this process; options are those of typer's runner."""
    if arguments[:1] == ("mcp",):
        import mcp  # noqa: F401  (it keeps the standard error that it finds, not the runner's)

    return CliRunner().invoke(app, list(arguments), prog_name="kiprdf", **options)


def environment(**more: str) -> dict[str, str]:
    """An environment without colours and wrapping, which finds this checkout."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **more}


def run_process(
    *arguments: str,
    folder: Path,
    stdin: bytes = b"",
    program: Sequence[str] = ("-m", "kiprdf"),
    stdout: Path | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run ``kiprdf``, or another program of Python, as a child process in a folder."""
    with tempfile.TemporaryDirectory() as others:
        given, output, errors = (Path(others) / name for name in ("given", "output", "errors"))
        given.write_bytes(stdin)
        files = (stdout or output, errors)
        process = start([*program, *arguments], *files, environment(**variables), folder, given)
        process.join(60)
        if process.exitcode is None:
            process.kill()
            raise AssertionError(f"{arguments} did not end: {errors.read_text('utf-8')}")
        printed = [path.read_bytes().decode() if path.exists() else "" for path in (output, errors)]
        return subprocess.CompletedProcess(arguments, process.exitcode, *printed)


def run_afresh(
    *arguments: str,
    folder: Path,
    env: dict[str, str] | None = None,
    stdout: int | IO[bytes] = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Run ``kiprdf`` in a new interpreter, with variables that it reads when it starts."""
    done = subprocess.run(
        [sys.executable, "-m", "kiprdf", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(**(env or {})),
        timeout=60,
        check=False,
    )
    output = (done.stdout or b"").decode()
    return subprocess.CompletedProcess(done.args, done.returncode, output, done.stderr.decode())


def matches(expected: str, actual: str) -> bool:
    """Whether a text is the expected one, in which ``...`` stands for anything."""
    return expected == actual or _CHECKER.check_output(expected, actual, doctest.ELLIPSIS)
