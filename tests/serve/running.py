"""A real server in a child process, on a free port of loopback."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import httpx

from tests.programs import start

if TYPE_CHECKING:
    # It takes a second to load, in each process of the run.
    from mcp import StdioServerParameters


class RunningServer:
    """A child process that serves; ``client`` sends requests to it."""

    def __init__(self, process: BaseProcess, address: str, errors: Path) -> None:
        self.process = process
        self.address = address
        self.errors = errors
        self.client = httpx.Client(base_url=address, timeout=60)

    def kip(self, command: str, headers: dict[str, str] | None = None, **params: Any) -> Any:
        """POST /kip with one command."""
        call = {"method": "execute_kip", "params": {"command": command, **params}}
        return self.client.post("/kip", json=call, headers=headers)

    def stop(self, number: int = signal.SIGTERM) -> int | None:
        """Send a signal and return the exit status."""
        self.client.close()
        self.send_signal(number)
        return self.wait()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, seconds: float = 60) -> int | None:
        """The exit status; None if it still runs."""
        self.process.join(seconds)
        return self.process.exitcode


@contextmanager
def serving(
    folder: Path | str, *options: str, command: str = "serve", **environment: str
) -> Iterator[RunningServer]:
    """``kiprdf serve`` on a folder, with more options; stopped at the end."""
    arguments = ["-m", "kiprdf", command, str(folder), "--port", "0", *options]
    with running(arguments, environment) as server:
        yield server


@contextmanager
def over_pipes(arguments: Sequence[str], **environment: str) -> Iterator[StdioServerParameters]:
    """What a client of MCP starts to reach a program that need not load the libraries again."""
    with program_over_pipes(arguments, **environment) as (program, _):
        yield program


@contextmanager
def program_over_pipes(
    arguments: Sequence[str], exits: int = 0, **environment: str
) -> Iterator[tuple[StdioServerParameters, BaseProcess]]:
    """The same with the process of the program, which ends with a status."""
    from mcp import StdioServerParameters

    with tempfile.TemporaryDirectory() as pipes:
        given, output, errors = (Path(pipes, name) for name in ("given", "output", "errors"))
        os.mkfifo(given)
        os.mkfifo(output)
        process = start(arguments, output, errors, {**os.environ, **environment}, given=given)
        relay = ["-c", 'cat <"$1" & exec cat >"$0"', str(given), str(output)]
        yield StdioServerParameters(command="sh", args=relay), process
        process.join(60)
        assert process.exitcode == exits, errors.read_text("utf-8")


@contextmanager
def running(
    arguments: Sequence[str], environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[RunningServer]:
    """Python with arguments that serve."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KIPRDF_")}
    with tempfile.TemporaryDirectory() as prints:
        output, errors = Path(prints) / "output", Path(prints) / "errors"
        process = start(arguments, output, errors, {**clean, **environment})
        while not output.read_text().endswith("\n") and process.is_alive():
            time.sleep(0.005)
        match = re.search(r"http://\S+/", output.read_text())
        if match is None:
            process.kill()
            raise AssertionError(f"The server did not start: {errors.read_text()}")
        server = RunningServer(process, match.group(), errors)
        try:
            yield server
        finally:
            server.client.close()
            if process.is_alive():
                process.terminate()
            process.join(60)
