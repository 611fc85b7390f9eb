"""Repairs a RocksDB log in which a process and a fork of it have both written.

A forked child could once write through the nexus of its parent (docs/decisions/042). Both then
counted on from the same sequence number, and from the same end of a block, into the same file.
RocksDB reads nothing of such a log, or only its beginning, up to the first misaligned block. It
contains everything that both wrote, batch by batch, and is written again with new numbers.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

# https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format, with log numbers.
_BLOCK = 32 * 1024
_HEADER = struct.Struct("<IHBI")  # checksum, length, kind, number of the log
_CHECKED_FROM = 6  # the checksum is that of the header behind the length, and of the content
_FULL, _FIRST, _MIDDLE, _LAST = 5, 6, 7, 8
_BATCH = struct.Struct("<QI")  # the first sequence number, how many there are
_MASK = 0xA282EAD8


def is_forked(graph: Path) -> bool:
    """Whether two processes have written to a log: its sequence numbers go back."""
    return any(_goes_back(_batches(log, checked=False)) for log in graph.glob("*.log"))


def repair(graph: Path, aside: Path) -> None:
    """Write the logs of two processes again, with one sequence of numbers.

    A log that changes is copied into the folder ``aside`` first.
    """
    for log in sorted(graph.glob("*.log")):
        batches = list(_batches(log, checked=True))
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


def _batches(path: Path, *, checked: bool) -> Iterator[bytes]:
    """The batches of a log, up to other content, such as that of an older log."""
    content = b""
    for kind, part in _fragments(path.read_bytes(), int(path.stem), checked):
        content = part if kind in (_FULL, _FIRST) else content + part
        if kind in (_FULL, _LAST):
            yield content


def _fragments(log: bytes, number: int, checked: bool) -> Iterator[tuple[int, bytes]]:
    """The parts of batches. Two writers disagree on where blocks end, so the zeros at the end of
    a block may be anywhere."""
    at = end_of_last = 0
    while at + _HEADER.size <= len(log):
        checksum, length, kind, log_number = _HEADER.unpack_from(log, at)
        end = at + _HEADER.size + length
        is_fragment = _FULL <= kind <= _LAST and log_number == number and end <= len(log)
        if is_fragment and checked:
            is_fragment = checksum == _masked(_crc32c(log[at + _CHECKED_FROM : end]))
        if is_fragment:
            yield kind, log[at + _HEADER.size : end]
            at = end_of_last = end
        elif log[at] == 0 and at - end_of_last < _HEADER.size:
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
