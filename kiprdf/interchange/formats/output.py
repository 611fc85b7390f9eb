"""Buffers text for a binary file, and counts the triples in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from typing import IO, Any, TypeAlias

Advance: TypeAlias = Callable[[int], object]
"""Is called with the number of triples written since the last call."""

_BUFFER = 1 << 16
_SPOOLED = 1 << 20
_STEP = 1000


class Output:
    """A binary file that is open for writing; it stays open."""

    def __init__(self, target: IO[bytes], advance: Advance | None) -> None:
        self._target: Any = target
        self._advance = advance
        self._pieces: list[str] = []
        self._size = 0
        self._reported = 0
        self.triples = 0

    def write(self, text: str) -> None:
        """Write a text; it is buffered until there is enough of it."""
        self._pieces.append(text)
        self._size += len(text)
        if self._size >= _BUFFER:
            self._flush()

    def write_after(self, body: Callable[[], None], beginning: Callable[[], str]) -> None:
        """Write the output of ``body`` after a header that depends on it.

        The body is kept in a temporary file when it is large.
        """
        target = self._target
        with SpooledTemporaryFile(_SPOOLED) as waiting:
            self._target = waiting
            body()
            self._flush()
            self._target = target
            self.write(beginning())
            self._flush()
            waiting.seek(0)
            shutil.copyfileobj(waiting, target, _BUFFER)

    def count(self, triples: int) -> None:
        """Add to the number of triples that have been written."""
        self.triples += triples
        if self.triples - self._reported >= _STEP:
            self._report()

    def close(self) -> None:
        """Write what is left in the buffer."""
        self._flush()
        if self.triples > self._reported:
            self._report()

    def _flush(self) -> None:
        self._target.write("".join(self._pieces).encode())
        self._pieces, self._size = [], 0

    def _report(self) -> None:
        if self._advance is not None:
            self._advance(self.triples - self._reported)
        self._reported = self.triples
