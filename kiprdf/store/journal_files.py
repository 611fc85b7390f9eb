"""The records of the journal, and their files.

A record is a line of JSON and N-Triples. In a file it is in a frame: its length, its CRC-32, and
the record. A sealed file has blocks of compressed frames, and a directory of the blocks at its end.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyoxigraph as ox

from kiprdf.dataclasses import dataclass
from kiprdf.store.delta import Delta, Lines, Origin, Written

BLOCK = 256
"""The number of records that are compressed together."""
LEVEL = 3
"""How hard zlib tries: a sixth more bytes than its default, in less than a third of the time."""
COMPRESSED_BYTES = 64 * 1024
"""The size from which a record is compressed by itself."""
_JSON = json.JSONEncoder(ensure_ascii=False)
_FRAME = struct.Struct("<II")
FRAME_HEADER = _FRAME.size
"""The bytes of a frame before its record."""
_MAGIC = b"kipseg1\n"
NOTHING = "0" * 64
"""The ``previous`` of a first record."""
_START = re.compile(rb'\[(?:\[(\d+), )?(\d+)\]?, "([^"]*)"')


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: the triples that it removed and added, and the records with both values.

    With ``since`` it is what all commits after that one changed, which were not recorded.
    ``previous`` is the digest of the record before, ``replaced`` that of the record in the place of
    which this one was written later; None in what was recorded before there was a chain.
    """

    number: int
    origin: Origin
    removed: Sequence[Written] = ()
    added: Sequence[Written] = ()
    records: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    since: int | None = None
    previous: str | None = None
    replaced: str | None = None

    @property
    def first(self) -> int:
        """The first commit that it stands for."""
        return self.number if self.since is None else self.since + 1

    def delta(self) -> Delta:
        """What writes this commit again."""
        after = {key: value for key, (_, value) in self.records.items()}
        return Delta(self.removed, self.added, records=after, origin=self.origin)


def encoded(
    commit: Commit, rows: Sequence[str] | None = None, previous: str | None = None
) -> bytes:
    """The text of a record: one line of JSON, then N-Triples, the removed ones first.

    ``rows`` are its triples, where they are written already, ``previous`` is the digest of the
    record before it.
    """
    *origin, digest, kind_of_author = commit.origin
    number = commit.number if commit.since is None else [commit.first, commit.number]
    head: list[Any] = [number, *origin, len(commit.removed), commit.records, digest]
    rest = [kind_of_author, previous or commit.previous, commit.replaced]
    while rest and rest[-1] is None:
        rest.pop()
    head += rest
    if rows is None:
        rows = rows_of(itertools.chain(commit.removed, commit.added))
    data = "\n".join([_JSON.encode(head), *rows]).encode()
    return zlib.compress(data, 1) if len(data) > COMPRESSED_BYTES else data


def rows_of(triples: Iterable[Written]) -> list[str]:
    """Triples as rows of N-Triples."""
    if isinstance(triples, Lines):
        return [*rows_of(triples.others), *triples.rows]
    rows: list[str] = []
    last, start = None, ""
    for subject, predicate, value in triples:
        if subject is not last:
            # Printing a term takes longer than comparing it.
            last, start = subject, str(subject)
        # pyoxigraph prints a triple without the brackets of a triple term; without !s
        # the format takes longer.
        text = f"<<( {value!s} )>>" if type(value) is ox.Triple else str(value)
        rows.append(f"{start} {predicate!s} {text} .")
    return rows


def decoded(data: bytes) -> Commit:
    """The inverse of ``encoded``."""
    first, _, rows = text_of(data).partition(b"\n")
    numbers, at, kind, author, session, undoes, removed, records, *rest = json.loads(first)
    digest, kind_of_author, previous, replaced = (*rest, None, None, None, None)[:4]
    number, since = (numbers, None) if isinstance(numbers, int) else (numbers[1], numbers[0] - 1)
    triples = [quad.triple for quad in ox.parse(rows, format=ox.RdfFormat.N_TRIPLES)]
    origin = Origin(at, kind, author, session, tuple(undoes), digest, kind_of_author)
    both = {key: (before, after) for key, (before, after) in records.items()}
    sides = triples[:removed], triples[removed:]
    return Commit(number, origin, *sides, both, since, previous, replaced)


class Change(NamedTuple):
    """The quads that a commit removed and added, and its records with both values."""

    removed: list[ox.Quad]
    added: list[ox.Quad]
    records: dict[str, tuple[str | None, str | None]]

    def undone(self) -> Change:
        """The change that takes this one back."""
        records = {key: (after, before) for key, (before, after) in self.records.items()}
        return Change(self.added, self.removed, records)


def change_of(data: bytes) -> Change:
    """What a record changes in a graph; a third of the work of ``decoded``."""
    first, _, rows = text_of(data).partition(b"\n")
    head = json.loads(first)
    removed, quads = head[6], list(ox.parse(rows, format=ox.RdfFormat.N_TRIPLES))
    records = {key: (before, after) for key, (before, after) in head[7].items()}
    return Change(quads[:removed], quads[removed:], records)


def text_of(data: bytes) -> bytes:
    """A record as it was before it was compressed."""
    return data if data[:1] == b"[" else zlib.decompress(data)


def number_of(data: bytes) -> int:
    return span_of(data)[1]


class Links(NamedTuple):
    """The kind of a record's commit, and the digests in it: of the outline of its statement, and
    those of ``Commit``."""

    kind: str
    statement: str | None
    previous: str | None
    replaced: str | None


def links_of(data: bytes) -> Links:
    """What a record says besides its triples; ``ValueError`` if it is damaged."""
    try:
        head = json.loads(text_of(data).partition(b"\n")[0])
    except RecursionError:
        raise ValueError("A record is nested too deeply.") from None
    digest, _, previous, replaced = (*head[8:], None, None, None, None)[:4]
    if any(not isinstance(one, str | None) for one in (digest, previous, replaced)):
        raise ValueError("A digest is no text.")
    return Links(head[2], digest, previous, replaced)


def extended(digest: str, data: bytes) -> str:
    """The digest of records in their order, with one more; that of none is ""."""
    return hashlib.sha256(digest.encode() + data).hexdigest()


def link_of(data: bytes) -> str:
    """What the next record has as ``previous``: the digest of a record as it was first written."""
    return links_of(data).replaced or digest_of(data)


def digest_of(data: bytes) -> str:
    """The SHA-256 of a record."""
    return hashlib.sha256(data).hexdigest()


def chained(commits: Iterable[Commit]) -> Iterator[bytes]:
    """The records of commits that begin a chain."""
    previous = NOTHING
    for commit in commits:
        data = encoded(replace(commit, replaced=None), previous=previous)
        previous = digest_of(data)
        yield data


def rewritten(commit: Commit, data: bytes) -> bytes:
    """The record of a commit in the place of another record."""
    return encoded(replace(commit, previous=links_of(data).previous, replaced=link_of(data)))


def span_of(data: bytes) -> tuple[int, int]:
    """The first and the last commit that a record stands for."""
    return _span_and_kind(data)[0]


def _span_and_kind(data: bytes) -> tuple[tuple[int, int], bool]:
    """The same, and whether the record is what several commits changed together.

    Of a compressed record the beginning is unpacked for both at once.
    """
    head = _START.match(_start(data))
    if head is None:
        raise ValueError("A record has no number.")
    last = int(head[2])
    return (int(head[1] or last), last), head[1] is not None


def time_of(data: bytes) -> str:
    """The time of a record, which follows its number: the rest may be long."""
    head = _START.match(_start(data))
    return "" if head is None else head[3].decode()


def _start(data: bytes) -> bytes:
    """The number and the time of a record, at least."""
    return data[:64] if data[:1] == b"[" else zlib.decompressobj().decompress(data, 64)


class Frames(NamedTuple):
    """The intact frames of a text: the commits and places of the records, and where they end."""

    spans: list[tuple[int, int]]
    gaps: list[tuple[int, int]]
    places: list[tuple[int, int]]
    end: int
    damaged: int

    @property
    def numbers(self) -> list[int]:
        return [last for _, last in self.spans]


def framed(data: bytes) -> bytes:
    return _FRAME.pack(len(data), zlib.crc32(data)) + data


def frames_of(text: bytes) -> Frames:
    """Read frames up to the first one that is torn; a damaged one before others is left out."""
    spans: list[tuple[int, int]] = []
    gaps: list[tuple[int, int]] = []
    places: list[tuple[int, int]] = []
    at = end = damaged = skipped = 0
    while at + _FRAME.size <= len(text):
        length, checksum = _FRAME.unpack_from(text, at)
        start, at = at + _FRAME.size, at + _FRAME.size + length
        if at > len(text):
            break
        data = text[start:at]
        try:
            is_sound = zlib.crc32(data) == checksum and length > 0
            span, is_gap = _span_and_kind(data) if is_sound else ((0, 0), False)
        except (ValueError, zlib.error):
            is_sound = False
        if not is_sound:
            skipped += 1
            continue
        spans.append(span)
        if is_gap:
            gaps.append(span)
        places.append((start, at))
        end, damaged, skipped = at, damaged + skipped, 0
    return Frames(spans, gaps, places, end, damaged)


class Sealed:
    """A compressed file of the journal, which never changes; raises ``ValueError`` if damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END) - _FRAME.size
            file.seek(max(0, size))
            tail = file.read()
            length, checksum = _FRAME.unpack(tail) if len(tail) == _FRAME.size else (size + 1, 0)
            if length > size:
                raise ValueError("The directory is missing.")
            file.seek(size - length)
            directory = file.read(length)
        if zlib.crc32(directory) != checksum:
            raise ValueError("The directory is damaged.")
        content = json.loads(directory)
        self.runs: list[tuple[int, int]] = [tuple(run) for run in content["runs"]]
        self.gaps: list[tuple[int, int]] = [tuple(gap) for gap in content.get("gaps", ())]
        self.previous: str = content["previous"]
        self.is_first: bool = content.get("first", False)
        """Whether it replaces all files before it."""
        self.has_base: bool = content.get("base", False)
        """Whether its first record is the whole dataset as of its commit."""
        # Where each begins, its place, its size, and its CRC-32; earlier files lack the last.
        self._blocks: list[tuple[int, ...]] = content["blocks"]

    def hash(self) -> str:
        """The SHA-256 of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def blocks(self, after: int, until: int) -> range:
        """The places of the blocks with the records above a number, up to another."""
        if self.runs[-1][1] <= after:
            return range(0)
        firsts = [first for first, *_ in self._blocks]
        return range(max(0, bisect_right(firsts, after + 1) - 1), bisect_right(firsts, until))

    def in_place(self) -> Iterator[bytes | None]:
        """The records in their order, up to one that is damaged, which is None."""
        spans: list[tuple[int, int]] = []
        with self.path.open("rb") as file:
            is_sound = file.read(len(_MAGIC)) == _MAGIC
            for _, offset, length, *checksum in self._blocks if is_sound else ():
                file.seek(offset)
                text = file.read(length)
                # What comes before a fault can be read.
                for data in records_in(_inflated(text)):
                    yield data
                    if data is None:
                        return
                    spans.append(span_of(data))
                if checksum and zlib.crc32(text) != checksum[0]:
                    yield None
                    return
        if joined([], spans) != self.runs:
            yield None

    def block(self, place: int) -> list[tuple[int, bytes]]:
        """The records of a block with their numbers, in their order."""
        _, offset, length, *_ = self._blocks[place]
        with self.path.open("rb") as file:
            file.seek(offset)
            text = _decompressed(file.read(length))
        frames = frames_of(text)
        if frames.damaged or frames.end != len(text):
            raise ValueError("A record is damaged.")
        records = (text[start:end] for start, end in frames.places)
        return list(zip(frames.numbers, records, strict=True))


def records_in(text: bytes) -> Iterator[bytes | None]:
    """The records of a file, up to one that is damaged or torn, which is None."""
    at = 0
    while at < len(text):
        length, checksum = _FRAME.unpack(text[at : at + _FRAME.size].ljust(_FRAME.size, b"\0"))
        start, at = at + _FRAME.size, at + _FRAME.size + length
        data = text[start:at]
        is_sound = len(data) == length > 0 and zlib.crc32(data) == checksum
        yield data if is_sound else None
        if not is_sound:
            return


def _inflated(data: bytes) -> bytes:
    """What can be decompressed of a block, with a torn frame at the end where that is not all."""
    inflater, parts = zlib.decompressobj(), list[bytes]()
    try:
        parts.extend(inflater.decompress(data[at : at + 64]) for at in range(0, len(data), 64))
        return b"".join(parts) + (b"" if inflater.eof else b"\0")
    except zlib.error:
        return b"".join(parts) + b"\0"


def _decompressed(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error as fault:
        raise ValueError(str(fault)) from None


def seal(
    path: Path,
    records: Iterable[bytes],
    previous: str,
    *,
    is_first: bool = False,
    has_base: bool = False,
) -> None:
    """Write records as a compressed file, whole or not at all."""
    runs: list[tuple[int, int]] = []
    gaps: list[tuple[int, int]] = []
    blocks: list[tuple[int, ...]] = []
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        offset = file.write(_MAGIC)
        remaining = iter(records)
        while block := list(itertools.islice(remaining, BLOCK)):
            kinds = list(map(_span_and_kind, block))
            spans = [span for span, _ in kinds]
            runs = joined(runs, spans)
            gaps += [span for span, is_gap in kinds if is_gap]
            data = zlib.compress(b"".join(map(framed, block)), LEVEL)
            blocks.append((spans[0][1], offset, len(data), zlib.crc32(data)))
            offset += file.write(data)
        content: dict[str, Any] = {"runs": runs, "gaps": gaps, "previous": previous}
        content |= {"blocks": blocks, "first": is_first, "base": has_base}
        directory = json.dumps(content).encode()
        file.write(directory + _FRAME.pack(len(directory), zlib.crc32(directory)))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Replace a file at once, by one with ``.partial`` after its name, and sync it."""
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("wb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Let the names of the files in a folder survive a power cut, where the system can."""
    with suppress(OSError):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def joined(
    runs: Iterable[tuple[int, int]], others: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Runs of commits with others at their end, as a new list; adjacent ones are one.

    >>> joined([(1, 3)], [(4, 4), (7, 8)])
    [(1, 4), (7, 8)]
    """
    result: list[tuple[int, int]] = []
    for first, last in (*runs, *others):
        if result and result[-1][1] + 1 == first:
            result[-1] = (result[-1][0], last)
        else:
            result.append((first, last))
    return result
