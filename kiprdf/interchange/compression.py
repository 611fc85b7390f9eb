"""Expands compressed documents, recognized by their first bytes, within a bound.

``.gz``, ``.bz2`` and ``.xz`` are read by the standard library, ``.zst`` by the extra ``zstd``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

from kiprdf import budget
from kiprdf.errors import KipError
from kiprdf.loading import load

GROWTH = 100
"""How many times as long as its archive a document may be."""
ALLOWANCE = 64_000_000
"""How many bytes it may have besides, however small the archive is."""
_PIECE = 2048
"""The bytes that are expanded at once: to at most 100 MB, in the worst archive of each kind."""
_MEMORY = 256_000_000
"""The bytes that the dictionary of an archive may take; ``xz -9`` and ``zstd -19`` take less."""
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


class _Kind(NamedTuple):
    name: str
    magic: bytes
    reader: Callable[[], _Reader]


class _Reader(NamedTuple):
    """What makes an expander of one member, and its error."""

    member: Callable[[], Any]
    error: type[Exception]


def _gzip() -> _Reader:
    load("zlib")
    import zlib

    return _Reader(lambda: zlib.decompressobj(16 + zlib.MAX_WBITS), zlib.error)


def _bzip2() -> _Reader:
    load("bz2")
    import bz2

    return _Reader(bz2.BZ2Decompressor, OSError)


def _xz() -> _Reader:
    load("lzma")
    import lzma

    member = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=_MEMORY)
    return _Reader(member, lzma.LZMAError)


def _zstandard() -> _Reader:
    try:
        load("zstandard")
    except ImportError:
        hint = "Install kiprdf[zstd], or expand the document first."
        raise KipError("KIP_1001", "Documents in zstd need the extra zstd.", hint) from None
    import zstandard

    archive = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    return _Reader(archive.decompressobj, zstandard.ZstdError)


_KINDS = (
    _Kind("gzip", b"\x1f\x8b", _gzip),
    _Kind("bzip2", b"BZh", _bzip2),
    _Kind("xz", b"\xfd7zXZ\0", _xz),
    _Kind("zstd", b"\x28\xb5\x2f\xfd", _zstandard),
)


def expanded(data: bytes, name: str | None = None) -> bytes:
    """The document in an archive, or the data if they are none.

    Raises KIP_1001 for an archive that is damaged or cut, KIP_4002 for one that expands to more
    than a hundred times its size, and the allowance.

    >>> import gzip
    >>> expanded(gzip.compress(b"one ") + gzip.compress(b"two")), expanded(b"plain")
    (b'one two', b'plain')
    """
    kind = next((one for one in _KINDS if data.startswith(one.magic)), None)
    if kind is None:
        return data
    name, reader = name or "The document", kind.reader()
    room = ALLOWANCE + GROWTH * len(data)
    pieces = []
    try:
        for piece in _pieces(data, reader.member):
            budget.check()
            room -= len(piece)
            if room < 0:
                message = f"{name} expands to more than {GROWTH} times its size."
                hint = "Expand it yourself if that is right, and give the file that comes out."
                raise KipError("KIP_4002", message, hint)
            pieces.append(piece)
    except (EOFError, reader.error) as fault:
        message = f"{name} is damaged: {kind.name} cannot expand it ({str(fault).rstrip('.')})."
        raise KipError("KIP_1001", message, "Get or compress the file again.") from None
    document = b"".join(pieces)
    if document[257:262] == b"ustar" or any(document.startswith(one.magic) for one in _KINDS):
        hint = "Expand it, and give a file that is in it."
        raise KipError("KIP_1001", f"{name} has an archive in it, not a document.", hint)
    return document


def _pieces(data: bytes, new_member: Callable[[], Any]) -> Iterator[bytes]:
    """What the members of an archive expand to, one after the other; zeros may be between them."""
    place, rest = 0, b""
    while rest or place < len(data):
        if not rest:
            rest, place = data[place : place + _PIECE], place + _PIECE
        rest = rest.lstrip(b"\0")
        member = new_member() if rest else None
        while member is not None and not member.eof:
            if not rest and place >= len(data):
                raise EOFError("it ends too early")
            rest = rest or data[place : (place := place + _PIECE)]
            yield member.decompress(rest)
            rest = member.unused_data


def plain_name(name: str) -> str:
    """A name without the suffix of an archive.

    >>> plain_name("data.ttl.gz"), plain_name("data.ttl")
    ('data.ttl', 'data.ttl')
    """
    path = PurePath(name)
    return path.stem if path.suffix.lower() in SUFFIXES else name
