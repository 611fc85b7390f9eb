"""Repairs a RocksDB log in which a process and a fork of it have both written.

A forked child could once write through the nexus of its parent (docs/decisions/042). Both then
counted on from the same sequence number into the same file, and RocksDB refuses a log whose numbers
go back. What the parent wrote is all there; the log is written again without the child's batches.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

BACKWARDS = "Sequence number is being set backwards"
"""What RocksDB says of such a log."""

# https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format, with log numbers.
_BLOCK = 32 * 1024
_HEADER = struct.Struct("<IHBI")  # checksum, length, kind, number of the log
_CHECKED_FROM = 6  # the checksum is that of the header behind the length, and of the content
_FULL, _FIRST, _MIDDLE, _LAST = 5, 6, 7, 8
_BATCH = struct.Struct("<QI")  # the first sequence number, how many there are
_MASK = 0xA282EAD8


class _Batch(NamedTuple):
    """What was written at once; ``end`` is the sequence number behind its last."""

    content: bytes
    first: int
    end: int


def repair(graph: Path, aside: Path) -> int:
    """Take out of the logs of a graph what a fork wrote; how many batches that were.

    A log that is changed is copied into the folder ``aside`` first.
    """
    removed = 0
    for log in sorted(graph.glob("*.log")):
        batches = list(_batches(log.read_bytes()))
        kept = _without_fork(batches)
        if len(kept) < len(batches):
            aside.mkdir(exist_ok=True)
            shutil.copy2(log, aside / log.name)
            log.write_bytes(_framed((batch.content for batch in kept), int(log.stem)))
            removed += len(batches) - len(kept)
    return removed


def _without_fork(batches: Iterable[_Batch]) -> list[_Batch]:
    """The batches of the parent: where numbers go back it goes on, and what it passes again was
    the child's."""
    kept: list[_Batch] = []
    for batch in batches:
        while kept and kept[-1].end > batch.first:
            kept.pop()
        kept.append(batch)
    return kept


def _batches(log: bytes) -> Iterator[_Batch]:
    content = b""
    for kind, part in _fragments(log):
        content = part if kind in (_FULL, _FIRST) else content + part
        if kind in (_FULL, _LAST):
            first, count = _BATCH.unpack_from(content)
            yield _Batch(content, first, first + count)


def _fragments(log: bytes) -> Iterator[tuple[int, bytes]]:
    """The parts of batches. Two writers do not agree on where blocks end, so that the zeros at
    their ends may stand anywhere."""
    at = 0
    while at + _HEADER.size <= len(log):
        checksum, length, kind, _ = _HEADER.unpack_from(log, at)
        end = at + _HEADER.size + length
        is_fragment = _FULL <= kind <= _LAST and end <= len(log)
        if is_fragment and checksum == _masked(_crc32c(log[at + _CHECKED_FROM : end])):
            yield kind, log[at + _HEADER.size : end]
            at = end
        elif log[at] == 0:
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
