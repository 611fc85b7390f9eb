"""The rows SEARCH ranks: an FTS5 table for concepts and one for propositions, in one SQLite file.

FTS5 sees finished tokens only: `segment` cuts the texts, and the `ascii` tokenizer leaves what it
is given alone. The file is a copy of what the store knows: a damaged or older one is thrown away.
"""

import math
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from kiprdf.search.segment import SEGMENTER_VERSION, exact_token, segment, segment_term

Kind = Literal["concept", "proposition"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Moves with every change of the schema below or of what a row offers.
INDEX_VERSION = f"1, segmenter {SEGMENTER_VERSION}"

# A column's weight stands for that many occurrences of a word in other text.
WEIGHTS = {"exact": 80.0, "name": 40.0, "aliases": 12.0, "description": 3.0, "text": 1.0}
SHORTEST_PREFIX = 3  # characters of a term's last word before it also finds longer words
PREFIX_WEIGHT = 0.25  # of a longer word, against the whole word
LONGEST_TERM = 64  # tokens of a term that are looked for

_COLUMNS = ", ".join(WEIGHTS)
# Keys and types are BLOBs because they may hold what SQLite's TEXT cannot, a lone surrogate.
_SCHEMA = (
    "CREATE TABLE about (version TEXT NOT NULL, store_commit INTEGER NOT NULL)",
    "CREATE TABLE element (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, type BLOB NOT NULL)",
    *(
        f"CREATE VIRTUAL TABLE {kind} USING fts5({_COLUMNS}, tokenize = \"ascii tokenchars '_'\")"
        for kind in KINDS
    ),
)
_DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What can be found of one element."""

    key: str  # IRI of the element
    kind: Kind
    type: str  # concept type, or predicate
    name: str  # concept name, or predicate
    aliases: tuple[str, ...]  # of a concept; of a proposition, the names of its endpoints
    description: str  # the concept's, or the predicate's
    text: str  # all other text attributes


class Hit(NamedTuple):
    """A row that was found; a higher score, in (0, 1), is a better answer."""

    key: str
    score: float


class TextIndex:
    """The text index of one store, in the file `path`, or in memory.

    >>> index = TextIndex(None)
    >>> row = IndexRow("urn:1", "concept", "Drug", "Aspirin", ("阿司匹林",), "Relieves pain.", "")
    >>> index.update([row], removed=[], commit=7)
    >>> [hit.key for hit in index.search("concept", "PAIN")], index.commit
    (['urn:1'], 7)

    Threads may share it: one lock orders their calls. A method fails with `sqlite3.Error` only
    (save for the ValueError of `search`), and then leaves the rows and the commit as they were. A
    file found to be damaged is emptied before the error is raised, so that `rebuild` can follow.
    """

    def __init__(self, path: str | os.PathLike[str] | None, read_only: bool = False) -> None:
        """Open the file; create it, or empty it if it is damaged or of another version.

        With `read_only` the file is another's: it is never written, and `sqlite3.Error` is raised
        where it is absent, damaged or of another version.
        """
        self._path = None if path is None or read_only else Path(path)
        self._lock = threading.Lock()
        if read_only and path is not None:
            self._connection = _connect_to_read(Path(path))
        else:
            self._connection = _connect(self._path)

    @property
    def commit(self) -> int:
        """The commit of the store that the index reflects; -1 when that is unknown."""
        with self._guarded() as connection:
            (commit,) = connection.execute("SELECT store_commit FROM about").fetchone()
            return int(commit)

    def update(self, rows: Iterable[IndexRow], removed: Iterable[str], commit: int) -> None:
        """Delete the `removed` keys, put each row in the place of its key's, in one transaction."""
        with self._guarded() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            for key in removed:
                _delete(connection, _blob(key))
            _put_all(connection, rows, commit)

    def rebuild(self, rows: Iterable[IndexRow], commit: int) -> None:
        """Replace everything by the rows, in one transaction."""
        with self._guarded() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            # To drop the tables is much faster than to delete row by row.
            for table in ("about", "element", *KINDS):
                connection.execute(f"DROP TABLE {table}")
            _create(connection)
            _put_all(connection, rows, commit)

    def search(self, kind: Kind, term: str, type: str | None = None, limit: int = 100) -> list[Hit]:
        """Return the rows that hold any word of the term, best first, ties by key (KIP 5.2).

        More and rarer words score more, and so do weightier fields; the last word also finds
        longer words, for less. The score is s/(1+s), s the sum of the words' weighted BM25.
        Raises ValueError if the term has no word.
        """
        weights = _weigh(term)
        if not weights:
            raise ValueError(f"The term {term[:50]!r} has no word to search for.")
        with self._guarded() as connection:
            rows = _rank(connection, kind, weights, type, limit)
            return [Hit(_text(key), score / (1 + score)) for key, score in rows]

    def close(self) -> None:
        """Close the file; every other method then fails with `sqlite3.ProgrammingError`."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection to one thread; empty the file if it turns out to be damaged."""
        with self._lock:
            try:
                yield self._connection
            except (sqlite3.Error, UnicodeDecodeError) as error:
                if not _is_damage(error):
                    raise
                self._connection.close()
                _discard(self._path)
                self._connection = _connect(self._path)
                raise sqlite3.DatabaseError("The text index was damaged; it is empty.") from error


def _connect(path: Path | None) -> sqlite3.Connection:
    """Open the index; one that cannot be used is replaced by an empty one."""
    connection = _open(path)
    if not _is_current(connection):
        connection.close()
        _discard(path)
        connection = _open(path)
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            _create(connection)
    # WAL commits are cheap; a power cut may lose the last ones, which `commit` then tells.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """A copy in memory of another's file: reading in place would leave files beside it."""
    # Without its log nobody has the file open, and nothing beside it is needed to read it.
    mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"
    source = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
    copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    try:
        source.backup(copy)
        if not _is_current(copy):
            raise sqlite3.DatabaseError("the text index is damaged or of another version")
    except sqlite3.Error:
        copy.close()
        raise
    finally:
        source.close()
    return copy


def _open(path: Path | None) -> sqlite3.Connection:
    # Autocommit: every transaction here begins by an explicit BEGIN.
    connection = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
    connection.text_factory = bytes  # text of a damaged file need not be UTF-8
    return connection


def _is_current(connection: sqlite3.Connection) -> bool:
    """Tell whether the file is an undamaged index of this version."""
    try:
        state = connection.execute("PRAGMA quick_check(1)").fetchall()
        state += connection.execute("SELECT version FROM about").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if _is_damage(error):  # or there is no such table
            return False
        connection.close()
        raise
    return state == [(b"ok",), (INDEX_VERSION.encode(),)]


def _is_damage(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    """Tell a file that cannot be used from one that is locked, full or read-only."""
    if isinstance(error, UnicodeDecodeError):  # SQLite's message quotes the damaged file
        return True
    # The statements here are constants, so that SQLITE_ERROR too speaks of the file. An error of
    # the Python module, such as the use of a closed connection, has no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def _discard(path: Path | None) -> None:
    if path is None:
        return
    try:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
    except OSError as error:
        raise sqlite3.OperationalError(f"cannot replace the text index {path}: {error}") from error


def _create(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO about VALUES (?, -1)", (INDEX_VERSION,))


def _put_all(connection: sqlite3.Connection, rows: Iterable[IndexRow], commit: int) -> None:
    for row in rows:
        _delete(connection, _blob(row.key))
        _insert(connection, row)
    connection.execute("UPDATE about SET store_commit = ?", (commit,))


def _delete(connection: sqlite3.Connection, key: bytes) -> None:
    found = connection.execute("DELETE FROM element WHERE key = ? RETURNING id", (key,)).fetchall()
    for table in KINDS:
        connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", found)


def _insert(connection: sqlite3.Connection, row: IndexRow) -> None:
    identifier = connection.execute(
        "INSERT INTO element (key, type) VALUES (?, ?)", (_blob(row.key), _blob(row.type))
    ).lastrowid
    # Lines keep two aliases apart: no pair of characters spans them.
    texts = (row.name, "\n".join(row.aliases), row.description, row.text)
    columns = (exact_token(row.name), *(" ".join(segment(text)) for text in texts))
    connection.execute(
        f"INSERT INTO {_table(row.kind)} (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        (identifier, *columns),
    )


def _weigh(term: str) -> dict[str, float]:
    """Return the MATCH expressions of a term, each with its weight; none if it has no word."""
    tokens = segment_term(term)[:LONGEST_TERM]
    if not tokens:
        return {}
    weights = {_match(token): 1.0 for token in (*tokens, exact_token(term))}
    if len(tokens[-1]) >= SHORTEST_PREFIX:
        weights[_match(tokens[-1]) + " *"] = PREFIX_WEIGHT
    return weights


def _match(token: str) -> str:
    """Return the MATCH expression that finds the token: an FTS5 string, whatever it holds."""
    return '"' + token.replace('"', '""') + '"'


def _rank(
    connection: sqlite3.Connection,
    kind: Kind,
    weights: dict[str, float],
    type: str | None,
    limit: int,
) -> list[tuple[bytes, float]]:
    """Return the keys with the highest sums of weighted BM25, best first."""
    table = _table(kind)
    parameters: list[object] = []
    for expression, factor in _factors(connection, table, weights):
        parameters += [factor, expression]
    if not parameters:
        return []
    columns = ", ".join(map(str, WEIGHTS.values()))
    # FTS5's bm25() is negative.
    part = f"SELECT rowid, -bm25({table}, {columns}) * ? FROM {table} WHERE {table} MATCH ?"
    parts = " UNION ALL ".join([part] * (len(parameters) // 2))
    wanted = None if type is None else _blob(type)
    statement = (
        f"WITH part (id, score) AS MATERIALIZED ({parts}) "
        "SELECT key, sum(score) AS total FROM part JOIN element USING (id) "
        "WHERE type = coalesce(?, type) GROUP BY id ORDER BY total DESC, key LIMIT ?"
    )
    return connection.execute(statement, (*parameters, wanted, limit)).fetchall()


def _factors(
    connection: sqlite3.Connection, table: str, weights: dict[str, float]
) -> Iterator[tuple[str, float]]:
    """Yield each expression that finds something, and what to multiply its bm25() by."""
    # FTS5's own table of row lengths is the quickest to count.
    (total,) = connection.execute(f"SELECT count(*) FROM {table}_docsize").fetchone()
    for expression, weight in weights.items():
        (found,) = connection.execute(
            f"SELECT count(*) FROM {table} WHERE {table} MATCH ?", (expression,)
        ).fetchone()
        if found:
            yield expression, weight * _rarity(total, found)


def _rarity(total: int, found: int) -> float:
    """Return what turns FTS5's inverse document frequency into one that is always positive."""
    odds = (total - found + 0.5) / (found + 0.5)
    # To FTS5 a word of half the rows or more is worth 1e-6: in a small store, almost any word.
    fts5 = math.log(odds) if odds > 1 else 1e-6
    return math.log1p(odds) / fts5


def _table(kind: str) -> str:
    assert kind in KINDS, kind
    return kind


def _blob(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "surrogatepass")
