"""Processes that change the files of a folder take turns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def turn(folder: str | os.PathLike[str]) -> Iterator[None]:
    """A block during which other processes and threads wait for their own; raises ``OSError``."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(ImportError):  # on Windows
            import fcntl

            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)
