"""Finds the commits that mention an element, a type, an author, a session, or a source.

The index is derived from the journal, and catches up with it before each search: a write never
waits for it or fails because of it. It has hashes only, which may be equal by chance, so callers
check the records (docs/decisions/066).
"""

from __future__ import annotations

import itertools
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from kiprdf.checksums import noted_sum
from kiprdf.derived_file import DerivedFile, is_sound, remove
from kiprdf.errors import StoreError
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import Json, to_json
from kiprdf.store.delta import Written
from kiprdf.store.journal_files import Commit, decoded, number_of

INDEX = "index.sqlite3"
SOURCE = vocab.metadata("source")
LOCATED = (SOURCE, vocab.REIFIES)
"""The predicates of which the index knows the commits that changed their value."""
_VERSION = "1"
_BATCH = 1_000
"""The records that are indexed in one transaction, and the numbers that are read at once."""
_MENTION = "key = ?"
_SOURCE = "key IN (SELECT element FROM sourced WHERE source = ?)"


class CommitIndex:
    """The index of the journal in a folder; a reader of a folder has a copy in memory.

    >>> import tempfile
    >>> from kiprdf.store.delta import Origin
    >>> from kiprdf.store.journal_files import encoded
    >>> record = encoded(Commit(7, Origin("2026-01-01T00:00:00.000Z", author="agent-7")))
    >>> index = CommitIndex(Path(tempfile.mkdtemp()), read_only=False)
    >>> iris = Iris("http://example.org/")
    >>> index.catch_up(lambda after, until: iter([record]), 0, 7, iris, sources=list)
    >>> list(index.numbers(0, 7, author="agent-7"))
    [7]
    """

    def __init__(self, folder: Path, read_only: bool) -> None:
        self._path = folder / INDEX
        self._read_only = read_only
        self._lock = threading.RLock()
        self._file: DerivedFile | None = None

    # Writing ----------------------------------------------------------------------------------

    def catch_up(
        self,
        records: Callable[[int, int], Iterator[bytes]],
        after: int,
        until: int,
        iris: Iris,
        sources: Callable[[], Iterable[Written]],
    ) -> None:
        """Index the records of the journal above a number, up to another.

        ``sources`` are the triples of the dataset that name a source: elements may have had it
        before the first record. The disk may be full, or the file locked by another program: then
        the index is kept in memory.
        """

        def add(indexed: int) -> None:
            if indexed < after < until:
                self._change([], [*_sources(sources())], None)
            self._add(records(max(indexed, after), until), iris)

        with self._lock:
            try:
                add(self._indexed(records))
            except sqlite3.Error:
                self.close()
                self._file = DerivedFile(None, _VERSION, _create)
                add(0)

    def is_current(self, records: Callable[[int, int], Iterator[bytes]], until: int) -> bool:
        """Whether the commits up to a number are indexed."""
        with self._lock:
            try:
                return self._indexed(records) >= until
            except sqlite3.Error:
                return False

    def _indexed(self, records: Callable[[int, int], Iterator[bytes]]) -> int:
        """The last commit that is indexed; another journal begins another index."""
        is_new = self._file is None
        number, sum = self._about()
        if is_new and number and [sum] != [*map(zlib.crc32, records(number - 1, number))]:
            self.close()
            if self._read_only:
                raise sqlite3.DatabaseError("The index is that of another journal.")
            remove(self._path)
            number, _ = self._about()
        return number

    def _about(self) -> tuple[int, int]:
        """The last commit that is indexed, and the checksum of its record."""
        if self._file is None:
            self._file = DerivedFile(self._path, _VERSION, _create, self._read_only)
        query = "SELECT seq, sum FROM about"
        number, sum = self._file.use(lambda connection: connection.execute(query).fetchone())
        return number, sum

    def _add(self, records: Iterator[bytes], iris: Iris) -> None:
        while batch := list(itertools.islice(records, _BATCH)):
            mentions: list[tuple[int, int]] = []
            sourced: list[tuple[int, int]] = []
            for data in batch:
                commit = decoded(data)
                mentions += [(key, commit.number) for key in _keys(commit, iris)]
                sourced += _sources(itertools.chain(commit.removed, commit.added))
            about = (number_of(batch[-1]), zlib.crc32(batch[-1]))
            self._change(mentions, sourced, about)

    def _change(
        self,
        mentions: list[tuple[int, int]],
        sourced: list[tuple[int, int]],
        about: tuple[int, int] | None,
    ) -> None:
        def change(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR IGNORE INTO mention VALUES (?, ?)", mentions)
            connection.executemany("INSERT OR IGNORE INTO sourced VALUES (?, ?)", sourced)
            if about is not None:
                connection.execute("UPDATE about SET seq = ?, sum = ?", about)

        assert self._file is not None
        self._file.change(change)

    # Reading ----------------------------------------------------------------------------------

    def numbers(
        self,
        after: int,
        until: int,
        *,
        element: NamedNode | None = None,
        type: str | None = None,
        author: str | None = None,
        session: str | None = None,
        source: Json = None,
        newest_first: bool = False,
    ) -> Iterator[int]:
        """The numbers of the commits above a number, up to another, that mention all of these.

        Those of a source are those of all elements that had it at some time.
        """
        texts = {
            "element": None if element is None else element.value,
            "type": type,
            "author": author,
            "session": session,
        }
        keys = [(_MENTION, _key(kind, text)) for kind, text in texts.items() if text is not None]
        if source is not None:
            keys.append((_SOURCE, _source_key(source)))
        return self._numbers(keys, after, until, newest_first)

    def _numbers(
        self, keys: list[tuple[str, int]], after: int, until: int, newest_first: bool
    ) -> Iterator[int]:
        if after >= until:
            return
        if not keys:
            yield from range(until, after, -1) if newest_first else range(after + 1, until + 1)
            return
        select = "SELECT seq FROM mention WHERE {} AND seq > ? AND seq <= ? GROUP BY seq"
        query = " INTERSECT ".join(select.format(condition) for condition, _ in keys)
        query += f" ORDER BY seq {'DESC' if newest_first else 'ASC'} LIMIT {_BATCH}"
        while True:
            arguments = [value for _, key in keys for value in (key, after, until)]
            rows = self._rows(query, arguments)
            yield from rows
            if len(rows) < _BATCH:
                return
            after, until = (after, rows[-1] - 1) if newest_first else (rows[-1], until)

    def next_change(self, node: NamedNode, predicate: NamedNode, after: int, until: int) -> int:
        """The first commit above a number that changed a value of an element; 0 for none."""
        query = f"SELECT seq FROM mention WHERE {_MENTION} AND seq > ? AND seq <= ? LIMIT 1"
        key = _key("value", f"{node.value} {predicate.value}")
        return next(iter(self._rows(query, [key, after, until])), 0)

    def _rows(self, query: str, arguments: list[int]) -> list[int]:
        def rows(connection: sqlite3.Connection) -> list[int]:
            return [number for (number,) in connection.execute(query, arguments)]

        try:
            if self._file is not None:
                return self._file.use(rows)
        except sqlite3.Error:
            pass
        raise StoreError("The history was replaced while it was read; ask again.")

    # The file ---------------------------------------------------------------------------------

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """While the journal is replaced by another: what was indexed is gone."""
        with self._lock:
            self.close()
            yield

    def is_sound(self, repair: bool) -> bool:
        """Whether the file is as it was written.

        ``repair`` removes it if not, and if nothing is noted of it: it is made again when needed.
        """
        is_right = is_sound(self._path)
        repair = repair and not self._read_only
        if repair and not (is_right and noted_sum(self._path)):
            with self.replaced():
                remove(self._path)
        return is_right or repair

    def close(self) -> None:
        """Close the file; whoever asks next opens it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def remove_index(folder: Path) -> None:
    """Remove the index of the journal in a folder."""
    remove(folder / INDEX)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE about (version TEXT, seq INTEGER, sum INTEGER)")
    connection.execute("INSERT INTO about VALUES (?, 0, 0)", (_VERSION,))
    for table, columns in (("mention", "key, seq"), ("sourced", "source, element")):
        first, second = columns.split(", ")
        connection.execute(
            f"CREATE TABLE {table} ({first} INTEGER, {second} INTEGER, PRIMARY KEY ({columns}))"
            " WITHOUT ROWID"
        )


# What a commit mentions -----------------------------------------------------------------------


def _keys(commit: Commit, iris: Iris) -> set[int]:
    keys: set[int] = set()
    for kind, text in (("author", commit.origin.author), ("session", commit.origin.session)):
        if text is not None:
            keys.add(_key(kind, text))
    nodes: set[NamedNode] = set()
    for subject, predicate, _ in itertools.chain(commit.removed, commit.added):
        # A fact changes the proposition that states it.
        if not predicate.value.startswith(iris.predicates):
            nodes.add(subject)
            if predicate in LOCATED:
                keys.add(_key("value", f"{subject.value} {predicate.value}"))
    keys.update(_key("element", node.value) for node in nodes)
    types = {type_of(iris, node) for node in nodes}
    keys.update(_key("type", type) for type in types if type is not None)
    return keys


def type_of(iris: Iris, node: NamedNode) -> str | None:
    """The type of a concept, or the predicate of a proposition."""
    name = iris.name(node.value)
    type: str | None = getattr(name, "type", None) or getattr(name, "predicate", None)
    return type


def _sources(triples: Iterable[Written]) -> Iterator[tuple[int, int]]:
    for subject, predicate, value in triples:
        if predicate == SOURCE:
            assert isinstance(value, Literal | NamedNode)
            yield _source_key(to_json(value)), _key("element", subject.value)


def _source_key(source: Json) -> int:
    # Equal numbers and objects are written in several ways.
    return _key("source", source if isinstance(source, str) else "")


def _key(kind: str, text: str) -> int:
    digest = blake2b(f"{kind} {text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
