"""Checksums of files, each noted in a file beside it, which show a byte that changed by itself."""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

NOTE = "-sum"
"""What the name of the file with the checksum of another one ends with."""
_CHUNK = 1024**2


class Sum(NamedTuple):
    size: int
    checksum: int
    changed: int = 0
    inode: int = 0


def sum_of(file: BinaryIO, size: int) -> tuple[int, int]:
    """The size and the checksum of the beginning of a file, up to a size."""
    read = checksum = 0
    while data := file.read(min(_CHUNK, size - read)):
        read += len(data)
        checksum = zlib.crc32(data, checksum)
    return read, checksum


def is_as_noted(path: Path, *, every_byte: bool = False) -> bool:
    """Whether a file begins as was noted, or nothing is noted of it.

    Without ``every_byte``, it is read only if it was touched since.
    """
    noted = noted_sum(path)
    if noted is None:
        return True
    with suppress(OSError), path.open("rb") as file:
        stat = os.fstat(file.fileno())
        touched = (stat.st_mtime_ns, stat.st_ino)
        if touched == noted[2:] and stat.st_size >= noted.size and not every_byte:
            return True
        if sum_of(file, noted.size) == noted[:2]:
            return True
    return noted_sum(path) != noted  # a writer was just changing the file


def note(path: Path) -> None:
    """Note the checksum of a file, which may grow from now on.

    A file that is damaged by now stays noted as it was. A full disk is not an error: nothing is
    noted then.
    """
    noted = noted_sum(path)
    with suppress(OSError), path.open("rb") as file:
        stat = os.fstat(file.fileno())
        touched = (stat.st_mtime_ns, stat.st_ino)
        is_same = noted is not None and (stat.st_size, *touched) == (noted.size, *noted[2:])
        if is_same or not is_as_noted(path):
            return
        partial = Path(f"{path}{NOTE}.partial")
        partial.write_text(json.dumps(Sum(*sum_of(file, stat.st_size), *touched)), "utf-8")
        partial.replace(f"{path}{NOTE}")


def drop_note(path: Path) -> None:
    """Forget what was noted of a file, before it is changed."""
    with suppress(OSError):
        Path(f"{path}{NOTE}").unlink(missing_ok=True)


def noted_sum(path: Path) -> Sum | None:
    """What was noted of a file; None of one that a process that was killed has changed."""
    try:
        return Sum(*map(int, json.loads(Path(f"{path}{NOTE}").read_bytes())))
    except (OSError, ValueError, TypeError):
        return None
