"""The writes that were refused: a line of JSON for each, in a file of the folder, without texts."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

from kiprdf.actors import Actor
from kiprdf.errors import KipError

_KEYS = ("time", "principal", "session", "code", "digest")
FILE = "audit.jsonl"
FILE_BYTES = 10_000_000
"""The size from which the file becomes ``audit.jsonl.1``, and so on."""
FILES = 5
"""The earlier files that are kept."""
KEPT = 1000
"""The last refusals of a nexus in memory, or of one that is open read-only."""
LIMIT = 100
MOST = 10_000
_FAILED = "KIP_4003"
"""The code of what was not refused, but has failed."""
_WRITES = re.compile(r"(?:\s|//[^\n]*\n)*(?:UPSERT|UPDATE|MERGE|DELETE)\b")


class Refusals:
    """Notes refused writes, and lists them; only who may write to a folder changes its file."""

    def __init__(self, folder: Path | None, read_only: bool) -> None:
        self._path = None if folder is None else folder / FILE
        self._is_read_only = read_only
        self._kept: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def note(self, actor: Actor, code: str, text: str | None) -> None:
        """Note a refusal; a disk that cannot be written is not another error."""
        if code == _FAILED:
            return
        digest = text and hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = dict(zip(_KEYS, (moment, actor.signature, actor.session, code, digest), strict=True))
        with self._lock:
            if self._path is None or self._is_read_only:
                self._kept.append(line)
                return
            with suppress(OSError):
                _append(self._path, json.dumps(line))

    def listed(self, author: str | None, session: str | None, limit: int) -> list[dict[str, Any]]:
        """The last refusals, the newest first; damaged lines are left out."""
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST:
            message = f"The limit is a number from 1 to {MOST}, not {limit!r}."
            raise KipError("KIP_1001", message, f"Leave it out, for {LIMIT}.")
        with self._lock:
            kept: list[dict[str, Any] | None] = [*self._kept]
        files = [] if self._path is None else _files(self._path)
        chosen = (
            line
            for lines in chain([kept], map(_lines, files))
            for line in reversed(lines)
            if line is not None
            and author in (None, line["principal"].partition("/")[2])
            and session in (None, line["session"])
        )
        return list(islice(chosen, limit))


def faults(folder: Path | None) -> list[str]:
    """The damaged lines of the files in a folder, as sentences."""
    return [
        f"Line {number} of {path.name} is damaged; delete it."
        for path in ([] if folder is None else _files(folder / FILE))
        for number, line in enumerate(_lines(path), start=1)
        if line is None
    ]


def writes(text: object) -> bool:
    """Whether a command is a statement that writes, by its first word.

    >>> writes("// a note\\nUPSERT {"), writes("FIND(?x)")
    (True, False)
    """
    return isinstance(text, str) and _WRITES.match(text) is not None


def _files(path: Path) -> list[Path]:
    """The file and the earlier ones, the newest first."""
    return [path, *(path.with_name(f"{FILE}.{number}") for number in range(1, FILES + 1))]


def _append(path: Path, line: str) -> None:
    """Append a line, to a new file if this one is long."""
    with suppress(FileNotFoundError):
        if path.stat().st_size + len(line) > FILE_BYTES:
            newest_first = _files(path)
            for earlier, later in reversed([*zip(newest_first[1:], newest_first, strict=False)]):
                with suppress(FileNotFoundError):
                    later.replace(earlier)
    with path.open("ab") as file:
        if file.tell():
            with path.open("rb") as written:
                written.seek(-1, os.SEEK_END)
                # A crash may have cut the last line.
                line = line if written.read() == b"\n" else f"\n{line}"
        file.write(f"{line}\n".encode())


def _lines(path: Path) -> list[dict[str, Any] | None]:
    """The lines of a file; None for one that is damaged."""
    lines: list[dict[str, Any] | None] = []
    with suppress(OSError):
        for text in path.read_bytes().splitlines():
            try:
                line = json.loads(text)
                texts = (line["time"], line["principal"], line["code"])
                is_sound = all(isinstance(each, str) for each in texts)
                lines.append({key: line[key] for key in _KEYS} if is_sound else None)
            except (ValueError, TypeError, KeyError):
                lines.append(None)
    return lines


def copy(folder: Path, target: Path) -> None:
    """Copy the files into another folder."""
    for path in _files(folder / FILE):
        with suppress(FileNotFoundError):
            (target / path.name).write_bytes(path.read_bytes())
