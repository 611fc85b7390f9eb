"""Buffers text for a binary file, and counts the triples in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Self, TypeAlias

Advance: TypeAlias = Callable[[int], object]
"""Is called with the number of triples written since the last call."""

_BUFFER = 1 << 16
_SPOOLED = 1 << 20
_STEP = 1000


class Output:
    """A binary file that is open for writing; it stays open."""

    def __init__(self, target: IO[bytes], advance: Advance | None) -> None:
        self._target: Any = target
        self._held: IO[bytes] | None = None
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

    def hold(self) -> None:
        """Keep what is written from now on, in a temporary file when it is large."""
        self._flush()
        self._held = SpooledTemporaryFile(_SPOOLED)  # noqa: SIM115  (it is closed when the output is)

    def release(self, beginning: str) -> None:
        """Write a beginning that was not known before, and what was held after it."""
        self._flush()
        held, self._held = self._held, None
        assert held is not None
        with held:
            self.write(beginning)
            self._flush()
            held.seek(0)
            shutil.copyfileobj(held, self._target, _BUFFER)

    def count(self, triples: int) -> None:
        """Add to the number of triples that have been written."""
        self.triples += triples
        if self.triples - self._reported >= _STEP:
            self._report()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        """Write what is left in the buffer, unless there was a fault."""
        if self._held is not None:
            self._held.close()
        elif fault == (None, None, None):
            self._flush()
            if self.triples > self._reported:
                self._report()

    def _flush(self) -> None:
        target = self._target if self._held is None else self._held
        target.write("".join(self._pieces).encode())
        self._pieces, self._size = [], 0

    def _report(self) -> None:
        if self._advance is not None:
            self._advance(self.triples - self._reported)
        self._reported = self.triples
