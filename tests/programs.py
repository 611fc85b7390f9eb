"""Programs in processes of their own, which do not load the libraries again.

Each is a fork of one process that has the libraries loaded, and never a folder open. To load them
takes most of a second, and the tests start some hundred programs.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any

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


class Piped:
    """A program whose input is written, and whose output is read, while it runs.

    >>> with Piped(["-c", "print(input().upper(), flush=True)"]) as program:
    ...     program.send("a")
    ...     program.readline()
    'A\\n'
    >>> program.status
    0
    """

    def __init__(self, arguments: Sequence[str], **options: Any) -> None:
        self._pipes = tempfile.TemporaryDirectory(prefix="kiprdf-pipes-")
        given, output, self._errors = (Path(self._pipes.name, name) for name in "ioe")
        os.mkfifo(given)
        os.mkfifo(output)
        self._process = start(arguments, output, self._errors, given=given, **options)
        # In the order in which the program opens them, which waits for the other end.
        self.input: IO[str] = given.open("w", encoding="utf-8")
        self._output = output.open(encoding="utf-8")

    def __enter__(self) -> Piped:
        return self

    def __exit__(self, *failure: object) -> None:
        self.finish()

    def send(self, line: str = "") -> None:
        """Write a line of its input."""
        self.input.write(f"{line}\n")
        self.input.flush()

    def readline(self) -> str:
        """The next line of its output; "" at the end."""
        return self._output.readline()

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.join()

    @property
    def status(self) -> int | None:
        """Its exit status; negative for a signal, None while it runs."""
        return self._process.exitcode

    def finish(self, seconds: float = 60) -> tuple[str, str]:
        """End its input and wait for it; the rest of its output, and its errors. Twice is fine."""
        if self._output.closed:
            return "", ""
        with suppress(BrokenPipeError):
            self.input.close()
        rest = self._output.read()
        self._output.close()
        self._process.join(seconds)
        errors = self._errors.read_text("utf-8") if self._errors.exists() else ""
        self._pipes.cleanup()
        return rest, errors


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
    # Those that are inherited know whether the files of the first process can be searched.
    sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace")
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
