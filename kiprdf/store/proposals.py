"""The proposals of a nexus: statements that wait for a person (docs/decisions/184).

In a folder they are lines of JSON in a file: a proposal, or the keys that a decision adds to it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from kiprdf.errors import StoreError
from kiprdf.store.journal_files import replace_file, sync_folder
from kiprdf.store.lock import FairLock

Entry: TypeAlias = dict[str, Any]
FILE = "proposals.jsonl"
APPROVED = "approved"
"""The record of the last proposal that was run, which the commit of its statement has written."""
OPEN = "open"
"""The state of a proposal that waits."""
KEPT_DECIDED = 1000
"""Decided proposals that stay in the file; twice as many make it be written again."""
_LAST = "last"
"""The key of the line with the number of the last proposal."""


class Proposals:
    """Proposals by their ids, the oldest first; ``folder`` is None for those of a nexus in memory.

    Whoever adds or changes one holds the writer's lock of the nexus.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE
        self._lock = FairLock()
        self._entries: dict[str, Entry] = {}
        self._last = 0
        self._version: tuple[int, ...] | None = None
        """What differs when another process has changed the file that was read."""
        self._size = 0
        """The bytes of its whole lines."""

    def all(self) -> list[Entry]:
        """Every proposal that is kept."""
        with self._lock:
            self._read()
            return list(self._entries.values())

    def waiting(self) -> int:
        """How many are open."""
        with self._lock:
            self._read()
            return sum(one["state"] == OPEN for one in self._entries.values())

    def add(self, proposal: Entry) -> str:
        """Keep a new proposal, and return its id."""
        with self._lock:
            self._read()
            id = f"prop-{self._last + 1}"
            self._append({"id": id, **proposal, "state": OPEN})
            return id

    def decide(self, id: str, decision: Entry) -> None:
        """Note what became of a proposal."""
        with self._lock:
            self._read()
            self._append({"id": id, **decision})
            decided = [one["id"] for one in self._entries.values() if one["state"] != OPEN]
            if len(decided) > 2 * KEPT_DECIDED:
                self._remove(decided[:-KEPT_DECIDED])

    def remove(self, ids: Iterable[str]) -> None:
        """Remove proposals, and every byte of them in the file."""
        with self._lock:
            self._read()
            if not self._entries.keys().isdisjoint(ids):
                self._remove(ids)

    # The file ---------------------------------------------------------------------------------

    def _read(self) -> None:
        version = self._file_version()
        if version == self._version:
            return
        self._entries, self._last, self._size = {}, 0, 0
        for line in self._lines():
            self._note(line)
        self._version = version

    def _file_version(self) -> tuple[int, ...] | None:
        if self._path is not None:
            with suppress(FileNotFoundError):
                state = self._path.stat()
                return state.st_ino, state.st_size, state.st_mtime_ns
        return None

    def _lines(self) -> Iterator[Entry]:
        """The whole lines of the file: a crash may have cut the last one."""
        if self._path is None or not self._path.exists():
            return
        data = self._path.read_bytes()
        self._size = data.rfind(b"\n") + 1
        for number, line in enumerate(data[: self._size].splitlines(), start=1):
            try:
                entry = json.loads(line)
            except ValueError:
                entry = None
            if not isinstance(entry, dict) or not entry.keys() & {"id", _LAST}:
                raise StoreError(f"Line {number} of {FILE} is damaged: remove it, or the file.")
            yield entry

    def _note(self, line: Entry) -> None:
        if _LAST in line:
            self._last = line[_LAST]
        else:
            if "by" in line or line["id"] in self._entries:
                self._entries.setdefault(line["id"], {}).update(line)
            self._last = max(self._last, int(line["id"].removeprefix("prop-")))

    def _append(self, line: Entry) -> None:
        data = _encoded(line)

        def write(path: Path) -> None:
            with path.open("r+b" if path.exists() else "xb") as file:
                # What a crash has cut, and what did not fit on the disk, is written over.
                file.truncate(self._size)
                file.seek(self._size)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            sync_folder(path.parent)

        self._write(write)
        self._size += len(data)
        self._note(line)

    def _remove(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._entries.pop(id, None)
        lines = [{_LAST: self._last}, *self._entries.values()]
        self._write(lambda path: replace_file(path, map(_encoded, lines)))
        self._size = 0 if self._version is None else self._version[1]

    def _write(self, write: Callable[[Path], None]) -> None:
        """Change the file on the disk, and note its state."""
        if self._path is None:
            return
        self._version = None
        try:
            write(self._path)
        except OSError as fault:
            raise StoreError(f"{self._path} cannot be written: {fault.strerror}.") from None
        self._version = self._file_version()


def _encoded(line: Entry) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"
