"""Repairs a RocksDB log in which a process and a fork of it have both written.

A forked child could once write through the nexus of its parent (docs/decisions/042). Both then
counted on from the same sequence number, and from the same end of a block, into the same file.
RocksDB reads nothing of such a log, or only its beginning, up to the first misaligned block. It
contains everything that both wrote, batch by batch, and is written again with new numbers.
"""

from __future__ import annotations

import io
import shutil
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

# https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format, with log numbers.
_BLOCK = 32 * 1024
_HEADER = struct.Struct("<IHBI")  # checksum, length, kind, number of the log
_CHECKED_FROM = 6  # the checksum is that of the header behind the length, and of the content
_FULL, _FIRST, _MIDDLE, _LAST = 5, 6, 7, 8
_BATCH = struct.Struct("<QI")  # the first sequence number, how many there are
_MASK = 0xA282EAD8


def is_forked(graph: Path) -> bool:
    """Whether two processes have written to a log: its sequence numbers go back."""
    for log in graph.glob("*.log"):
        # A writer may remove it meanwhile.
        with suppress(FileNotFoundError):
            if _goes_back(_starts(log)):
                return True
    return False


def repair(graph: Path, aside: Path) -> None:
    """Write the logs of two processes again, with one sequence of numbers.

    A log that changes is copied into the folder ``aside`` first.
    """
    for log in sorted(graph.glob("*.log")):
        batches = list(_batches(log))
        if _goes_back(batches):
            aside.mkdir(exist_ok=True)
            shutil.copy2(log, aside / log.name)
            log.write_bytes(_framed(_numbered(batches), int(log.stem)))


def _goes_back(batches: Iterable[bytes]) -> bool:
    end = 0
    for batch in batches:
        first, count = _BATCH.unpack_from(batch)
        if first < end:
            return True
        end = first + count
    return False


def _numbered(batches: Iterable[bytes]) -> Iterator[bytes]:
    """The batches, each with the number that follows the batch before it."""
    end = 0
    for batch in batches:
        first, count = _BATCH.unpack_from(batch)
        end = max(first, end)
        yield _BATCH.pack(end, count) + batch[_BATCH.size :]
        end += count


def _starts(path: Path) -> Iterator[bytes]:
    """The beginnings of the batches of a log, which are unchecked.

    An import is one batch, hundreds of megabytes long, most of which is not read.
    """
    start = b""
    with path.open("rb") as log:
        for kind, place, length in _fragments(log, int(path.stem), checked=False):
            if kind in (_FULL, _FIRST):
                start = b""
            log.seek(place)
            start += log.read(min(length, _BATCH.size - len(start)))
            if kind in (_FULL, _LAST):
                yield start


def _batches(path: Path) -> Iterator[bytes]:
    """The batches of a log, up to other content, such as that of an older log."""
    parts: list[bytes] = []
    with path.open("rb") as log:
        for kind, place, length in _fragments(log, int(path.stem), checked=True):
            if kind in (_FULL, _FIRST):
                parts.clear()
            log.seek(place)
            parts.append(log.read(length))
            if kind in (_FULL, _LAST):
                yield b"".join(parts)


def _fragments(log: BinaryIO, number: int, checked: bool) -> Iterator[tuple[int, int, int]]:
    """The kinds, places and lengths of the parts of batches. Two writers disagree on where blocks
    end, so the zeros at the end of a block may be anywhere."""
    size = log.seek(0, io.SEEK_END)
    at = end_of_last = 0
    # A writer may shorten the file meanwhile.
    while log.seek(at) == at and len(header := log.read(_HEADER.size)) == _HEADER.size:
        checksum, length, kind, log_number = _HEADER.unpack(header)
        place = at + _HEADER.size
        end = place + length
        is_fragment = _FULL <= kind <= _LAST and log_number == number and end <= size
        if is_fragment and checked:
            is_fragment = checksum == _masked(_crc32c(header[_CHECKED_FROM:] + log.read(length)))
        if is_fragment:
            yield kind, place, length
            at = end_of_last = end
        elif header[0] == 0 and at - end_of_last < _HEADER.size:
            at += 1
        else:
            return


def _framed(contents: Iterable[bytes], number: int) -> bytes:
    """A log with a number."""
    log = bytearray()
    for content in contents:
        begun = False
        while not begun or content:
            room = _BLOCK - len(log) % _BLOCK
            if room < _HEADER.size:
                log += bytes(room)
                room = _BLOCK
            part, content = content[: room - _HEADER.size], content[room - _HEADER.size :]
            kind = (_MIDDLE if content else _LAST) if begun else (_FIRST if content else _FULL)
            header = _HEADER.pack(0, len(part), kind, number)
            checksum = _masked(_crc32c(header[_CHECKED_FROM:] + part))
            log += struct.pack("<I", checksum) + header[4:] + part
            begun = True
    return bytes(log)


def _table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _table()


def _crc32c(data: bytes) -> int:
    """The checksum of RFC 3720, B.4.

    >>> hex(_crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _masked(crc: int) -> int:
    """A checksum as RocksDB stores it."""
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
