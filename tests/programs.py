"""Programs in processes of their own, which do not load the libraries again.

Each is a fork of one process that has the libraries loaded, and never a store open. To load them
takes most of a second, and the tests start some hundred programs.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.preloaded"])


def start(
    arguments: Sequence[str],
    output: Path,
    errors: Path | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    given: Path = Path(os.devnull),
) -> BaseProcess:
    """``python ARGUMENTS``, which are ``-m`` and a module or ``-c`` and code, and what follows.

    It prints to files; without one for errors, all to the same. It runs in a folder, if there is
    one, and reads what it is given.
    """
    variables = dict(os.environ if environment is None else environment)
    files = (given, output, errors or output)
    program = PROCESSES.Process(
        target=_become, args=(tuple(arguments), files, variables, folder), daemon=True
    )
    # What is printed is there from the beginning.
    output.touch()
    program.start()
    return program


def _become(
    arguments: Sequence[str],
    files: Sequence[Path],
    environment: Mapping[str, str],
    folder: Path | None,
) -> None:
    for number, path in enumerate(files):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    if folder is not None:
        os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    option, program, *others = arguments
    sys.argv = [program if option == "-m" else option, *others]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})


def children(process: int) -> list[int]:
    """The processes that a process has started and that it is not done with."""
    listed: list[int] = []
    # Threads may end meanwhile.
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):
            listed += map(int, (task / "children").read_text().split())
    return listed
