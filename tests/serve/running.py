"""A real server in a child process, on a free port of loopback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx


class RunningServer:
    """A child process that serves; ``client`` sends requests to it."""

    def __init__(self, process: subprocess.Popen[str], address: str, errors: Path) -> None:
        self.process = process
        self.address = address
        self.errors = errors
        self.client = httpx.Client(base_url=address, timeout=60)

    def kip(self, command: str, headers: dict[str, str] | None = None, **params: Any) -> Any:
        """POST /kip with one command."""
        call = {"method": "execute_kip", "params": {"command": command, **params}}
        return self.client.post("/kip", json=call, headers=headers)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit status."""
        self.client.close()
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def serving(
    folder: Path | str, *options: str, command: str = "serve", **environment: str
) -> Iterator[RunningServer]:
    """``kiprdf serve`` on a folder, with more options; stopped at the end."""
    errors = Path(os.environ.get("TMPDIR", "/tmp")) / f"serve-{os.getpid()}-{id(options)}.err"
    line = [sys.executable, "-m", "kiprdf", command, str(folder), "--port", "0", *options]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KIPRDF_")}
    with errors.open("w") as stream:
        process = subprocess.Popen(
            line,
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            env={**clean, **environment},
        )
    assert process.stdout is not None
    printed = process.stdout.readline()
    match = re.search(r"http://\S+/", printed)
    if match is None:
        process.kill()
        raise AssertionError(f"The server did not start: {printed} {errors.read_text()}")
    server = RunningServer(process, match.group(), errors)
    try:
        yield server
    finally:
        server.client.close()
        if process.poll() is None:
            process.terminate()
            process.wait(60)
        process.stdout.close()
        errors.unlink(missing_ok=True)
