"""Ranks rows by their words: one FTS5 table for each kind of element, in one SQLite file.

FTS5 gets finished tokens: `segment` cuts the texts, and the `ascii` tokenizer keeps them unchanged.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from kiprdf.derived_file import DerivedFile, uri_to_read
from kiprdf.search.ranking import EXACT, WEIGHTS, named, rank, table_of, type_token, whole
from kiprdf.search.rows import KINDS, Hit, IndexRow, Kind, digest, embedded_text
from kiprdf.search.segment import SEGMENTER_VERSION, exact_token, folded_name, segment

# Increased with every change of the schema below or of the tokens of a row.
INDEX_FILE = "search.sqlite3"
"""The name of the file of an index in its folder."""
INDEX_VERSION = f"6, segmenter {SEGMENTER_VERSION}"

AT_ONCE = 500  # rows written by one statement
AT_ONCE_CHARACTERS = 1_000_000  # of the texts of these rows, without the last one
CACHED_TEXT = 200  # characters of a text whose tokens are cached

_COLUMNS = ", ".join(WEIGHTS)
_HAS_ID = "SELECT 1 FROM element WHERE id = ?"
# Keys and types are BLOBs because they may hold what SQLite's TEXT cannot, a lone surrogate.
_SCHEMA = (
    "CREATE TABLE about (version TEXT NOT NULL, store_commit INTEGER NOT NULL)",
    # The keys that the commits after `first` up to `last` touched; their rows are outdated.
    "CREATE TABLE postponed (first INTEGER NOT NULL, last INTEGER NOT NULL, keys BLOB NOT NULL)",
    "CREATE TABLE element (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,"
    " type BLOB NOT NULL, digest BLOB NOT NULL)",
    *(
        f"CREATE VIRTUAL TABLE {kind} USING fts5({_COLUMNS}, detail = none, "
        "tokenize = \"ascii tokenchars '_'\")"
        for kind in KINDS
    ),
)


class Entries(NamedTuple):
    """The rows of one kind, ordered by key; the digest is that of what an embedder reads."""

    commit: int
    keys: tuple[str, ...]
    types: tuple[str, ...]
    digests: tuple[bytes, ...]


class TextIndex:
    """The text index of one store, in the file `path`, or in memory.

    >>> index = TextIndex(None)
    >>> row = IndexRow("urn:1", "concept", "Drug", "Aspirin", ("阿司匹林",), "Relieves pain.", "")
    >>> index.update([row], removed=[], commit=7)
    >>> [hit.key for hit in index.search("concept", "PAIN")], index.commit
    (['urn:1'], 7)

    Threads may share it: one lock serializes their calls. Methods raise `sqlite3.Error` (and
    `search` ValueError), and then the rows and the commit are unchanged. A damaged file is emptied
    before the error is raised, so that `rebuild` can follow.
    """

    def __init__(self, path: str | os.PathLike[str] | None, read_only: bool = False) -> None:
        """Open the file; create it, or empty it if it is damaged or of another version.

        With `read_only` the file belongs to another process: it is never written, and
        `sqlite3.Error` is raised if it is absent, damaged or of another version.
        """
        self._file = DerivedFile(path, INDEX_VERSION, _create, read_only)

    @property
    def commit(self) -> int:
        """The commit of the store that the index reflects; -1 if unknown."""
        return self._file.use(_commit)

    def update(self, rows: Iterable[IndexRow], removed: Iterable[str], commit: int) -> None:
        """Delete the `removed` keys and replace the rows of other keys, in one transaction."""

        def updated(connection: sqlite3.Connection) -> None:
            _delete(connection, removed)
            _put_all(connection, rows, commit)

        self._file.change(updated)

    def rebuild(self, rows: Iterable[IndexRow], commit: int) -> None:
        """Replace all rows, in one transaction."""

        def rebuilt(connection: sqlite3.Connection) -> None:
            # Dropping the tables is much faster than deleting row by row.
            for table in ("about", "postponed", "element", *KINDS):
                connection.execute(f"DROP TABLE {table}")
            _create(connection)
            _put_all(connection, rows, commit)
            # In one part, words are found several times as fast.
            for kind in KINDS:
                connection.execute(f"INSERT INTO {kind} ({kind}) VALUES ('optimize')")

        self._file.change(rebuilt)

    def postpone(self, keys: Iterable[str], first: int, last: int) -> None:
        """Keep, for a later `update`, which keys the commits after `first` up to `last` touched."""
        joined = _blob("\n".join(keys))  # no IRI has a line end
        statement = "INSERT INTO postponed VALUES (?, ?, ?)"
        self._file.change(lambda c: c.execute(statement, (first, last, joined)))

    def postponed(self) -> tuple[set[str], int]:
        """The keys kept for a later `update`, and the commit that it brings the index to."""

        def read(connection: sqlite3.Connection) -> tuple[set[str], int]:
            keys: set[str] = set()
            reached = _commit(connection)
            rows = connection.execute("SELECT first, last, keys FROM postponed ORDER BY first")
            for first, last, joined in rows:
                if first == reached:
                    keys.update(_text(joined).split("\n") if joined else ())
                    reached = last
            return keys, reached

        return self._file.use(read)

    def search(self, kind: Kind, term: str, type: str | None = None, limit: int = 100) -> list[Hit]:
        """Return the rows with any word of the term, best first, ties by key (KIP 5.2).

        Rows whose whole name or an alias is the term come first (`is_exact`), with any other
        text. More words, rarer words and weightier fields score higher. The last word also matches
        longer words, with a lower score. The score is s/(1+s), where s is the sum of the weighted
        BM25 of the words. Raises ValueError if the term has no word.
        """
        ranked = self._file.use(lambda connection: rank(connection, kind, term, type, limit))
        return [Hit(_text(key), score) for key, score in ranked]

    def holds(self, rows: Iterable[IndexRow]) -> bool:
        """Return whether the index has exactly these rows, word by word."""

        def compared(connection: sqlite3.Connection) -> bool:
            number = 0
            for row in rows:
                number += 1
                words = tuple(_blob(column) for column in _columns(row))
                expected = (_blob(row.type), digest(embedded_text(row)), *words)
                if _stored(connection, row) != expected:
                    return False
            elements, *words_of = (
                int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
                for table in ("element", *KINDS)
            )
            for kind in KINDS:
                # Raises an error where the words and the inverted index differ.
                connection.execute(f"INSERT INTO {kind} ({kind}) VALUES ('integrity-check')")
            return number == elements == sum(words_of)

        return self._file.use(compared)

    def entries(self, kind: Kind) -> Entries:
        """Return every row of a kind, and the commit they reflect."""
        statement = "SELECT key, type, digest FROM element WHERE kind = ? ORDER BY key"

        def read(connection: sqlite3.Connection) -> tuple[int, list[tuple[bytes, bytes, bytes]]]:
            return _commit(connection), connection.execute(statement, (kind,)).fetchall()

        commit, rows = self._file.use(read)
        keys = tuple(_text(key) for key, _, _ in rows)
        types = tuple(_text(type) for _, type, _ in rows)
        return Entries(commit, keys, types, tuple(digest for _, _, digest in rows))

    def close(self) -> None:
        """Close the file; every other method then fails with `sqlite3.ProgrammingError`."""
        self._file.close()


def is_exact(hit: Hit) -> bool:
    """Whether the name of a hit of `TextIndex.search`, or an alias, is the term.

    >>> index = TextIndex(None)
    >>> row = IndexRow("urn:1", "concept", "Drug", "Aspirin", ("ASA",), "", "A drug.")
    >>> index.update([row], removed=[], commit=1)
    >>> [is_exact(hit) for term in ("asa", "drug") for hit in index.search("concept", term)]
    [True, False]
    """
    return hit.score >= EXACT / (1 + EXACT)


def commit_of_file(path: str | os.PathLike[str]) -> int:
    """The commit that the index in a file reflects or has postponed; -1 if unknown."""
    try:
        connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=rw", uri=True)
        try:
            (last,) = connection.execute("SELECT max(last) FROM postponed").fetchone()
            return max(_commit(connection), last or 0)
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError, TypeError, ValueError):
        return -1


def count_embedded(path: Path, vectors_path: Path) -> int:
    """The number of rows in the file of an index that have vectors in another file.

    0 if one of the files is absent or cannot be read.
    """
    try:
        connection = sqlite3.connect(uri_to_read(path), uri=True)
        try:
            connection.execute("ATTACH ? AS vectors", (uri_to_read(vectors_path),))
            condition = "digest IN (SELECT digest FROM vectors.vector)"
            (count,) = connection.execute(
                f"SELECT count(*) FROM element WHERE {condition}"
            ).fetchone()
            return int(count)
        finally:
            connection.close()
    except sqlite3.Error:
        return 0


def _create(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO about VALUES (?, -1)", (INDEX_VERSION,))


def _commit(connection: sqlite3.Connection) -> int:
    (commit,) = connection.execute("SELECT store_commit FROM about").fetchone()
    return int(commit)


def _put_all(connection: sqlite3.Connection, rows: Iterable[IndexRow], commit: int) -> None:
    for batch in _batches(rows):
        try:
            _insert(connection, batch.values())
        except sqlite3.IntegrityError:  # few rows are there already
            _delete(connection, batch)
            _insert(connection, batch.values())
    connection.execute("DELETE FROM postponed")
    connection.execute("UPDATE about SET store_commit = ?", (commit,))


def _batches(rows: Iterable[IndexRow]) -> Iterator[dict[str, IndexRow]]:
    """The rows in batches that are written at once; of equal keys the last row."""
    batch: dict[str, IndexRow] = {}
    characters = 0
    for row in rows:
        batch[row.key] = row
        characters += len(row.description) + len(row.text) + sum(map(len, row.aliases))
        if len(batch) == AT_ONCE or characters > AT_ONCE_CHARACTERS:
            yield batch
            batch, characters = {}, 0
    if batch:
        yield batch


def _delete(connection: sqlite3.Connection, keys: Iterable[str]) -> None:
    remaining = map(_blob, keys)
    while batch := tuple(islice(remaining, AT_ONCE)):
        holes = ", ".join("?" * len(batch))
        ids = connection.execute(
            f"DELETE FROM element WHERE key IN ({holes}) RETURNING id", batch
        ).fetchall()
        for table in KINDS if ids else ():
            connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", ids)


def _insert(connection: sqlite3.Connection, rows: Iterable[IndexRow]) -> None:
    """Insert rows of different keys; one statement for each row would be much slower."""
    numbered = sorted(_numbered(connection, rows), key=itemgetter(0))
    connection.executemany(
        "INSERT INTO element (id, key, kind, type, digest) VALUES (?, ?, ?, ?, ?)",
        [
            (identifier, _blob(row.key), row.kind, _blob(row.type), digest(embedded_text(row)))
            for identifier, row in numbered
        ],
    )
    for kind in KINDS:
        connection.executemany(
            f"INSERT INTO {kind} (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            ((identifier, *_columns(row)) for identifier, row in numbered if row.kind == kind),
        )


def _numbered(
    connection: sqlite3.Connection, rows: Iterable[IndexRow]
) -> Iterator[tuple[int, IndexRow]]:
    """The rows with their ids, digests of their keys: the same in each index of a nexus."""
    taken: set[int] = set()
    for row in rows:
        number = int.from_bytes(blake2b(_blob(row.key), digest_size=6).digest(), "big")
        while number in taken or connection.execute(_HAS_ID, (number,)).fetchone():
            number += 1
        taken.add(number)
        yield number, row


def _columns(row: IndexRow) -> tuple[str, ...]:
    """The tokens of a row, one text for each column."""
    # Names and descriptions of predicates repeat; those of concepts do not.
    is_common = row.kind == "proposition"
    exact = _cached_whole_names(row.name) if is_common else _whole_names(row.name)
    whole_aliases = map(_cached_whole_alias if is_common else _whole_alias, row.aliases)
    name = _cached_tokens(row.name) if is_common else _tokens(row.name)
    # Lines keep two aliases apart: no pair of characters spans them.
    aliases = _tokens("\n".join(row.aliases))
    # A proposition has its predicate as name and type, and names of others as aliases.
    words = "" if is_common else named((*name.split(), *aliases.split()))
    of_type = "" if is_common else _cached_type_token(row.kind, row.type)
    description = row.description
    is_short = len(description) <= CACHED_TEXT
    return (
        " ".join((of_type, exact, *whole_aliases, words, "")),
        name,
        aliases,
        _cached_tokens(description) if is_short else _tokens(description),
        _tokens(row.text),
    )


def _tokens(text: str) -> str:
    return " ".join(segment(text)) if text else ""


def _whole_names(name: str) -> str:
    same, folded = whole("same", name), whole("name", folded_name(name))
    return f"{exact_token(name)} {same} {folded}"


def _whole_alias(alias: str) -> str:
    return whole("alias", folded_name(alias))


_cached_tokens = lru_cache(maxsize=1024)(_tokens)
_cached_type_token = lru_cache(maxsize=1024)(type_token)
_cached_whole_names = lru_cache(maxsize=1024)(_whole_names)
_cached_whole_alias = lru_cache(maxsize=1024)(_whole_alias)


def _stored(connection: sqlite3.Connection, row: IndexRow) -> tuple[object, ...] | None:
    """The values in the tables for the key of a row."""
    values: tuple[object, ...] | None = connection.execute(
        f"SELECT element.type, element.digest, {_COLUMNS} FROM element "
        f"JOIN {table_of(row.kind)} AS words ON words.rowid = element.id "
        "WHERE element.key = ? AND element.kind = ?",
        (_blob(row.key), row.kind),
    ).fetchone()
    return values


def _blob(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "surrogatepass")
