"""Checksums of files, noted beside them, which show a byte that changed by itself."""

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


# The files of a graph -------------------------------------------------------------------------


SUMS = "sums.json"
_MANIFEST = "MANIFEST-"
_PATTERNS = ("*.sst", f"{_MANIFEST}*")


class FileSums:
    """The checksums of the files in the folder of a graph; none are known of an earlier version.

    RocksDB finds a damaged block when it reads it. But a query of the engine may then drop
    solutions without an error, or collect the same error for ever. So the writer notes the checksum
    of each file, and a file that was touched since is compared before the engine reads it
    (docs/decisions/110)::

        graph/sums.json   {"is_closed": true,
                           "files": {"000012.sst": [size, CRC-32, time of change, inode], ...}}

    Tables never change, and a manifest only grows: what was noted of a file remains its beginning.
    The engine removes tables that it does not need; but none after it was closed.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> table = folder / "000012.sst"
    >>> _ = table.write_bytes(b"content")
    >>> FileSums(folder).note()
    >>> _ = table.write_bytes(b"cOntent")
    >>> FileSums(folder).damaged()
    ['000012.sst']
    """

    def __init__(self, graph: Path) -> None:
        self._graph = graph
        self._sums, self.is_closed = _read(graph / SUMS)

    def damaged(self, *, every_byte: bool = False) -> list[str]:
        """The names of files that are not as they were noted.

        Without ``every_byte``, only files that were touched since are read.
        """
        names, missing = [], []
        is_unchanged, graph = self.is_closed, str(self._graph)
        # The manifests come last: one grows before a table that it does not need is removed.
        for name, noted in sorted(self._sums.items()):
            try:
                # Most files are not touched: a look at each is all that a write waits for.
                stat = os.stat(f"{graph}/{name}")
                touched = (stat.st_mtime_ns, stat.st_ino)
                is_unchanged &= stat.st_size == noted.size
                if self.is_closed and stat.st_size > noted.size and name.endswith(".sst"):
                    # A table that was whole never grows; its end is where reading begins.
                    names.append(name)
                    continue
                if touched == noted[2:] and stat.st_size >= noted.size and not every_byte:
                    continue
                with open(f"{graph}/{name}", "rb") as file:
                    if sum_of(file, noted.size) != noted[:2]:
                        names.append(name)
                    else:
                        self._sums[name] = noted._replace(changed=touched[0], inode=touched[1])
            except FileNotFoundError:
                missing.append(name)
            except OSError:
                names.append(name)
        # A manifest that has grown, or is gone, shows that the engine was open again.
        is_unchanged &= not any(name.startswith(_MANIFEST) for name in missing)
        return names + missing if is_unchanged else names

    def note(self, *, is_closed: bool = False) -> None:
        """Note the files that are new, that a manifest has grown, and whether the engine is closed.

        A file that is damaged by now stays noted as it was. A full disk is not an error: what was
        noted before still holds.
        """
        damaged = set(self.damaged())
        sums: dict[str, Sum] = {}
        for path in (path for pattern in _PATTERNS for path in self._graph.glob(pattern)):
            noted = self._sums.get(path.name)
            with suppress(OSError), path.open("rb") as file:
                stat = os.fstat(file.fileno())
                # After a full disk or a crash the engine may give a new table the name of one that
                # it had begun.
                is_new = noted is None or noted.inode != stat.st_ino
                if (
                    noted is None
                    or is_new
                    or (noted.size != stat.st_size and path.name not in damaged)
                ):
                    noted = Sum(*sum_of(file, stat.st_size), stat.st_mtime_ns, stat.st_ino)
                sums[path.name] = noted
        if (sums, is_closed) != _read(self._graph / SUMS):
            partial = self._graph / (SUMS + ".partial")
            with suppress(OSError):
                partial.write_text(json.dumps({"is_closed": is_closed, "files": sums}), "utf-8")
                partial.replace(self._graph / SUMS)
        self._sums, self.is_closed = sums, is_closed


def _read(path: Path) -> tuple[dict[str, Sum], bool]:
    """The noted checksums, and whether the engine was closed; nothing of a file that is damaged."""
    try:
        content = json.loads(path.read_bytes())
        sums = {name: Sum(*noted) for name, noted in content["files"].items()}
        return sums, bool(content["is_closed"])
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}, False
