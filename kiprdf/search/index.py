"""Ranks rows by their words: one FTS5 table for each kind of element, in one SQLite file.

FTS5 gets finished tokens: `segment` cuts the texts, and the `ascii` tokenizer keeps them unchanged.
"""

import os
import re
import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from itertools import chain, count, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from kiprdf.checksums import drop_note, note
from kiprdf.derived_file import DerivedFile, is_sound, remove, uri_to_read
from kiprdf.language.names import META_TYPES
from kiprdf.loading import Lazy
from kiprdf.search.ranking import (
    COUNT,
    EXACT,
    LONGEST_ROW,
    STOP_NAME,
    WEIGHTS,
    Postings,
    RankedRows,
    counted,
    rank,
    table_of,
    whole,
)
from kiprdf.search.rows import KINDS, Hit, IndexRow, Kind, digest, embedded_text
from kiprdf.search.segment import SEGMENTER_VERSION, exact_token, folded_name, segment
from kiprdf.search.words import ends_in, is_of_stop_words, languages_of, stem_token, stems

if TYPE_CHECKING:
    from kiprdf.search import dates
else:
    dates = Lazy("kiprdf.search.dates")

# Increased with every change of the schema below or of the tokens of a row.
INDEX_FILE = "search.sqlite3"
"""The name of the file of an index in its folder."""
INDEX_VERSION = f"17, segmenter {SEGMENTER_VERSION}"

T = TypeVar("T")

AT_ONCE = 500  # rows written by one statement
KEPT_COMMITS, KEPT_KEYS = 256, 1000  # commits whose changes are kept one by one, and their keys
AT_ONCE_CHARACTERS = 1_000_000  # of the texts of these rows, without the last one
MERGED_PAGES = 500  # of the words, that one step of `merge` writes
_TIME = re.compile(r"T(?<=\d{4}-\d\d-\d\dT)\d\d:\d\d(?:[:.\d]*)(?:Z|[+-]\d\d:?\d\d)?")
"""The time of day after a date: its numbers are in too many texts to find one."""
CACHED_TEXT = 200  # characters of a text whose tokens are cached
CACHED_DEFINITION = 4000  # characters of a definition whose tokens are cached
_DEFINING = frozenset((*META_TYPES, "Domain"))
"""The types of the concepts that every new nexus has, beside those whose names begin with `$`."""

# Keys and types are BLOBs because they may hold what SQLite's TEXT cannot, a lone surrogate.
_SCHEMA = (
    "CREATE TABLE about (version TEXT NOT NULL, store_commit INTEGER NOT NULL)",
    # Keys whose rows are absent or outdated, some hundreds of a kind in each row.
    "CREATE TABLE missing (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, keys BLOB NOT NULL)",
    "CREATE INDEX missing_of ON missing (kind)",
    "CREATE TABLE element (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,"
    " type BLOB NOT NULL, digest BLOB NOT NULL)",
    # The missing keys of a kind are NULL where it is not in the index.
    "CREATE TABLE total (kind TEXT PRIMARY KEY, rows INTEGER NOT NULL, length INTEGER NOT NULL,"
    " missing INTEGER)",
    "CREATE TABLE language (code TEXT PRIMARY KEY)",
    *chain.from_iterable(
        (
            f"INSERT INTO total VALUES ('{kind}', 0, 0, 0)",
            f"CREATE VIRTUAL TABLE {kind} USING fts5(tokens, detail = none, columnsize = 0, "
            f"tokenize = \"ascii tokenchars '_{COUNT}'\")",
            f"CREATE VIRTUAL TABLE {kind}_token USING fts5vocab({kind}, instance)",
        )
        for kind in KINDS
    ),
)


class Changes(NamedTuple):
    """Rows of a kind, by key, as of a commit: the type, and the digest of what an embedder reads.

    They are those that changed since another commit, None for one that was deleted, or all.
    """

    commit: int
    rows: dict[str, tuple[str, bytes] | None]
    are_all: bool


class Commits(Generic[T]):
    """What the last commits changed; those of which this is not known leave a gap.

    >>> commits = Commits[str]()
    >>> commits.note(1, 2, ["a"])
    >>> commits.note(2, 3, ["b"])
    >>> sorted(commits.since(1, until=3) or ()), commits.since(0, until=3)
    (['a', 'b'], None)
    """

    def __init__(self) -> None:
        self._noted = deque[_Commit[T]]()

    def note(self, before: int, commit: int, keys: Iterable[T]) -> None:
        """Note the keys that a commit changed."""
        self._noted.append(_Commit(before, commit, set(keys)))
        if len(self._noted) > KEPT_COMMITS:
            first, second = self._noted.popleft(), self._noted.popleft()
            if first.commit == second.before:
                first.keys.update(second.keys)
                second = _Commit(first.before, second.commit, first.keys)
            self._noted.appendleft(second)

    def since(self, since: int, until: int) -> set[T] | None:
        """The keys that changed between two commits; None if that is not known."""
        keys: set[T] = set()
        for before, commit, changed in reversed(tuple(self._noted)):
            if until == since:
                break
            if commit != until:
                return None
            keys |= changed
            until = before
        return keys if 0 <= since == until else None

    def trim(self) -> None:
        """Forget the last large commit, and those before it."""
        small = takewhile(lambda each: len(each.keys) <= KEPT_KEYS, reversed(self._noted))
        self._noted = deque([*small][::-1])


class _Commit(NamedTuple, Generic[T]):
    before: int
    commit: int
    keys: set[T]


class State(NamedTuple):
    """The commit that an index reflects, -1 if unknown, but for the rows of `missing` keys."""

    commit: int
    missing: int


class TextIndex:
    """The text index of one store, in the file `path`, or in memory.

    >>> index = TextIndex(None)
    >>> row = IndexRow("urn:1", "concept", "Drug", "Aspirin", ("阿司匹林",), "Relieves pain.", "")
    >>> index.update([row], removed=[], commit=7)
    >>> [hit.key for hit in index.search("concept", "PAIN")], index.commit
    (['urn:1'], 7)

    Threads may share it: one lock serializes their calls. Methods raise `sqlite3.Error` (and
    `search` NoWordError), and then the rows and the commit are unchanged. A damaged file is emptied
    before the error is raised, so that `rebuild` can follow.
    """

    def __init__(self, path: str | os.PathLike[str] | None, read_only: bool = False) -> None:
        """Open the file; create it, or empty it if it is damaged or of another version.

        With `read_only` the file belongs to another process: it is never written, and
        `sqlite3.Error` is raised if it is absent, damaged or of another version.
        """
        self._file = DerivedFile(path, INDEX_VERSION, _create, read_only)
        self._commits = Commits[str]()
        self._postings = {kind: Postings(kind) for kind in KINDS}

    @property
    def commit(self) -> int:
        """The commit of the store that the index reflects; -1 if unknown or rows are missing."""
        return self._file.use(_commit)

    def state(self) -> State:
        """The commit that the index reflects, and the number of its missing keys."""
        return self._file.use(_state)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of elements that the index has."""

        def read(connection: sqlite3.Connection) -> tuple[Kind, ...]:
            return _kinds(connection) if _state(connection).commit >= 0 else ()

        return self._file.use(read)

    def reached(self, kind: Kind) -> int:
        """The commit that the rows of a kind reflect; -1 if unknown or some of them are missing."""
        return self._file.use(lambda connection: _reached(connection, kind))

    def update(
        self,
        rows: Iterable[IndexRow],
        removed: Iterable[str],
        commit: int,
        kinds: tuple[Kind, ...] = KINDS,
    ) -> None:
        """Delete the `removed` keys and replace the rows of other keys, in one transaction.

        Nothing is done if the index has other kinds than those whose changes are given.
        """

        def updated(connection: sqlite3.Connection) -> tuple[int, int, set[str]] | None:
            if _kinds(connection) != kinds:
                return None
            before, keys = _state(connection).commit, set(removed)
            self._delete(connection, keys)
            for batch in batches(rows):
                self._put(connection, batch)
                keys.update(batch)
            connection.execute("UPDATE about SET store_commit = ?", (commit,))
            return before, commit, keys

        noted = self._file.change(updated)
        if noted is not None:
            self._commits.note(*noted)
            self._commits.trim()

    def begin(self, keys: Mapping[Kind, Iterable[str]], commit: int, state: State) -> None:
        """Let the index have some kinds, whose rows are all missing; `fill` writes them.

        Nothing is done if another program has changed the `state` of the index.
        """
        batches = list(_joined(keys))

        def begun(connection: sqlite3.Connection) -> None:
            if _state(connection) != state:
                return
            # Dropping the tables is much faster than deleting row by row.
            of_kinds = chain.from_iterable((f"{kind}_token", kind) for kind in KINDS)
            for table in ("about", "missing", "element", "total", "language", *of_kinds):
                connection.execute(f"DROP TABLE {table}")
            _create(connection)
            absent = [(kind,) for kind in KINDS if kind not in keys]
            connection.executemany("UPDATE total SET missing = NULL WHERE kind = ?", absent)
            _miss(connection, batches, commit)

        self._file.change(begun)
        self._commits = Commits()
        for postings in self._postings.values():
            postings.forget()

    def extend(self, keys: Mapping[Kind, Iterable[str]], state: State) -> None:
        """Let the index also have other kinds, unless another program has changed its `state`."""
        batches = list(_joined(keys))

        def extended(connection: sqlite3.Connection) -> None:
            if _state(connection) == state:
                added = [(kind,) for kind in keys]
                connection.executemany("UPDATE total SET missing = 0 WHERE kind = ?", added)
                _miss(connection, batches, state.commit)

        self._file.change(extended)

    def postpone(self, keys: Mapping[Kind, Iterable[str]], commit: int) -> None:
        """Let the index reflect a commit, but for the rows of some keys of its kinds.

        Nothing is done if the index has other kinds.
        """

        def postponed(connection: sqlite3.Connection) -> None:
            if _kinds(connection) == tuple(keys):
                _miss(connection, _joined(keys), commit)

        self._file.change(postponed)

    def fill(
        self, rows_of: Callable[[list[str]], dict[str, IndexRow]], commit: int | None = None
    ) -> bool:
        """Write some hundreds of missing rows, in one transaction; False if none are missing.

        Those of concepts are written first. `rows_of` returns the first of `batches` of their rows,
        of the index's commit or a later one, whose keys will be updated. Rows that can only be of
        one `commit` are refused if the index has another.
        """

        def first(connection: sqlite3.Connection) -> tuple[int, int, bytes, bytes] | None:
            columns = "store_commit, id, kind, keys"
            one = "SELECT id FROM missing ORDER BY kind, id LIMIT 1"
            statement = f"SELECT {columns} FROM about, missing WHERE id = ({one})"
            chunk: tuple[int, int, bytes, bytes] | None = connection.execute(statement).fetchone()
            return chunk

        chunk = self._file.use(first)
        if chunk is None:
            return False
        reached, id, kind, joined = chunk
        if commit not in (None, reached):
            raise overtaken()
        keys = _text(joined).split("\n")
        batch = rows_of(keys)
        # A batch of long texts ends before the last key; elements that are gone have no row.
        is_whole = len(batch) < AT_ONCE and characters(batch.values()) <= AT_ONCE_CHARACTERS
        done = len(keys) if is_whole else keys.index(next(reversed(batch))) + 1

        def filled(connection: sqlite3.Connection) -> None:
            if first(connection) == chunk:
                self._delete(connection, keys[:done])
                self._put(connection, batch)
                connection.execute("DELETE FROM missing WHERE id = ?", (id,))
                fewer = "UPDATE total SET missing = missing - ? WHERE kind = ?"
                connection.execute(fewer, (len(keys), kind.decode()))
                left = {of: keys[done:] for of in KINDS if of.encode() == kind}
                _miss(connection, _joined(left), reached)

        self._file.change(filled)
        return True

    def merge(self) -> bool:
        """Merge some of the parts in which words are stored; False if there is one for each kind.

        In one part, words are found a fifth faster.
        """

        def merged(connection: sqlite3.Connection) -> bool:
            before = connection.total_changes
            for kind in KINDS:
                statement = f"INSERT INTO {kind} ({kind}, rank) VALUES ('merge', ?)"
                # A negative number begins, a positive one goes on.
                connection.execute(statement, (-MERGED_PAGES,))
            return connection.total_changes - before >= 2 * len(KINDS)

        return self._file.change(merged)

    def search(self, kind: Kind, term: str, type: str | None = None, limit: int = 100) -> list[Hit]:
        """Return the rows with any word of the term, best first, ties by key (KIP 5.2).

        Rows whose whole name or an alias is the term come first (`is_exact`), with any other
        text. More words, rarer words and weightier fields score higher. Other forms of a word and
        words that begin with the last one match, too, with a lower score. The score is s/(1+s),
        where s is the sum of the weighted BM25 of the words. Raises NoWordError if the term has no
        word and is no name, KIP_4001 when the time of the request is over.
        """
        return self.find(kind, term, type, limit).hits

    def find(self, kind: Kind, term: str, type: str | None = None, limit: int = 100) -> RankedRows:
        """The same hits, with the words that were searched instead of those of the term."""
        postings = self._postings[kind]
        return self._file.use(lambda file: rank(postings.read(file), term, type, limit))

    def rarity(self, kind: Kind, tokens: Iterable[str]) -> dict[str, float]:
        """The weights of words in a ranking: the rarer the larger, and above 0."""

        def counted(connection: sqlite3.Connection) -> dict[str, float]:
            postings = self._postings[kind].read(connection)
            return {token: postings.rarity(postings.number(token)) for token in tokens}

        return self._file.use(counted)

    def holds(self, rows: Iterable[IndexRow]) -> bool:
        """Return whether the index has exactly these rows, word by word."""

        def compared(connection: sqlite3.Connection) -> bool:
            number = 0
            for row in rows:
                number += 1
                tokens = _blob(_words(row).tokens)
                expected = (_blob(row.type), digest(embedded_text(row)), tokens)
                statement = (
                    "SELECT element.type, element.digest, tokens FROM element "
                    f"JOIN {table_of(row.kind)} AS words ON words.rowid = element.id "
                    "WHERE element.key = ? AND element.kind = ?"
                )
                stored = connection.execute(statement, (_blob(row.key), row.kind)).fetchone()
                if stored != expected:
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

    def changes(self, kind: Kind, since: int = -1) -> Changes:
        """The rows of a kind that changed since a commit; all of them, if these are not known."""
        statement = "SELECT key, type, digest FROM element WHERE kind = ?"

        def read(connection: sqlite3.Connection) -> Changes:
            commit = _reached(connection, kind)
            keys = self._commits.since(since, commit)
            if keys is None:
                selected = connection.execute(statement, (kind,)).fetchall()
            else:
                one = f"{statement} AND key = ?"
                selected = [row for k in keys for row in connection.execute(one, (kind, _blob(k)))]
            rows: dict[str, tuple[str, bytes] | None] = dict.fromkeys(keys or ())
            for key, type, of_text in selected:
                # Keys as those of `Postings.keys`, which are compared with them.
                rows[sys.intern(_text(key))] = sys.intern(_text(type)), of_text
            return Changes(commit, rows, keys is None)

        return self._file.use(read)

    def _delete(self, connection: sqlite3.Connection, keys: Iterable[str]) -> None:
        remaining = map(_blob, keys)
        while batch := tuple(islice(remaining, AT_ONCE)):
            holes = ", ".join("?" * len(batch))
            deleted = connection.execute(
                f"DELETE FROM element WHERE key IN ({holes}) RETURNING id, kind", batch
            ).fetchall()
            for kind in KINDS if deleted else ():
                ids = [(id,) for id, of_kind in deleted if of_kind == kind.encode()]
                for id in ids:
                    statement = f"SELECT tokens FROM {kind} WHERE rowid = ?"
                    (tokens,) = connection.execute(statement, id).fetchone()
                    self._postings[kind].forget(id[0], tokens.decode())
                connection.executemany(f"DELETE FROM {kind} WHERE rowid = ?", ids)
                _count(connection, kind, -1, [id for (id,) in ids])

    def _put(self, connection: sqlite3.Connection, batch: Mapping[str, IndexRow]) -> None:
        """Replace rows; one statement for each row would be much slower."""
        self._delete(connection, batch)
        rows = batch.values()
        (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM element").fetchone()
        words_of_rows = [*map(_words, rows)]
        # The id of a row has its length in its lower part.
        numbers = count(last // (LONGEST_ROW + 1) + 1)
        ids = [
            number * (LONGEST_ROW + 1) + min(words.length, LONGEST_ROW)
            for number, words in zip(numbers, words_of_rows, strict=False)
        ]
        connection.executemany(
            "INSERT INTO element (id, key, kind, type, digest) VALUES (?, ?, ?, ?, ?)",
            [
                (id, _blob(row.key), row.kind, _blob(row.type), digest(embedded_text(row)))
                for id, row in zip(ids, rows, strict=True)
            ],
        )
        languages = {language for words in words_of_rows for language in words.languages}
        connection.executemany(
            "INSERT OR IGNORE INTO language VALUES (?)", ((language,) for language in languages)
        )
        for kind in KINDS:
            tokens = [
                (id, words.tokens)
                for id, row, words in zip(ids, rows, words_of_rows, strict=True)
                if row.kind == kind
            ]
            connection.executemany(f"INSERT INTO {kind} (rowid, tokens) VALUES (?, ?)", tokens)
            _count(connection, kind, 1, [id for id, _ in tokens])
            for id, text in tokens:
                self._postings[kind].forget(id, text)

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


def commit_of_file(path: Path) -> int:
    """The commit that the index in a file reflects; -1 if unknown."""
    return _number_in("SELECT store_commit FROM about", path)


def count_embedded(path: Path, vectors_path: Path) -> int:
    """The number of rows in the file of an index that have vectors in another file.

    0 if one of the files is absent or damaged.
    """
    condition = "digest IN (SELECT digest FROM vectors.vector)"
    statement = f"SELECT count(*) FROM element WHERE {condition}"
    return max(0, _number_in(statement, path, vectors_path))


def _number_in(statement: str, path: Path, *vectors: Path) -> int:
    """A number in the file of an index, with that of its vectors; -1 if one is damaged."""
    try:
        if not all(is_sound(file, every_byte=False) for file in (path, *vectors)):
            return -1
        with closing(sqlite3.connect(uri_to_read(path), uri=True)) as connection:
            for file in vectors:
                connection.execute("ATTACH ? AS vectors", (uri_to_read(file),))
            return int(connection.execute(statement).fetchone()[0])
    except (sqlite3.Error, UnicodeDecodeError, TypeError, ValueError):
        return -1


def keep_vectors(path: Path, digests: Collection[bytes]) -> None:
    """Keep only the vectors of some texts in a file; removed if it is damaged.

    No process has the file open. Computing vectors costs money, so the others are kept.
    """
    if not is_sound(path):
        remove(path)
    if not path.exists():
        return
    drop_note(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            stored = {key for (key,) in connection.execute("SELECT digest FROM vector")}
            unused = [(key,) for key in stored.difference(digests)]
            connection.executemany("DELETE FROM vector WHERE digest = ?", unused)
            # Deleted rows stay in free pages until the file is written afresh.
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        note(path)
    except sqlite3.Error:
        remove(path)


def overtaken() -> sqlite3.Error:
    """The error of a program that finds its index changed by another one."""
    return sqlite3.OperationalError("another program has changed the index")


def _create(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO about VALUES (?, -1)", (INDEX_VERSION,))


def _commit(connection: sqlite3.Connection) -> int:
    state = _state(connection)
    return -1 if state.missing else state.commit


def _state(connection: sqlite3.Connection) -> State:
    statement = "SELECT store_commit, (SELECT coalesce(sum(missing), 0) FROM total) FROM about"
    return State(*map(int, connection.execute(statement).fetchone()))


def _kinds(connection: sqlite3.Connection) -> tuple[Kind, ...]:
    stored = connection.execute("SELECT kind FROM total WHERE missing IS NOT NULL").fetchall()
    return tuple(kind for kind in KINDS if (kind.encode(),) in stored)


def _reached(connection: sqlite3.Connection, kind: Kind) -> int:
    statement = "SELECT store_commit FROM about, total WHERE kind = ? AND missing = 0"
    (commit,) = connection.execute(statement, (kind,)).fetchone() or (-1,)
    return int(commit)


def _joined(keys: Mapping[Kind, Iterable[str]]) -> Iterator[tuple[Kind, int, bytes]]:
    """Keys in batches, each with their kind and number, and as one text: no IRI has a line end."""
    for kind, of_kind in keys.items():
        remaining = iter(of_kind)
        while batch := list(islice(remaining, AT_ONCE)):
            yield kind, len(batch), _blob("\n".join(batch))


def _miss(
    connection: sqlite3.Connection, batches: Iterable[tuple[Kind, int, bytes]], commit: int
) -> None:
    for kind, number, keys in batches:
        connection.execute("INSERT INTO missing (kind, keys) VALUES (?, ?)", (kind, keys))
        more = "UPDATE total SET missing = missing + ? WHERE kind = ?"
        connection.execute(more, (number, kind))
    connection.execute("UPDATE about SET store_commit = ?", (commit,))


def batches(rows: Iterable[IndexRow]) -> Iterator[dict[str, IndexRow]]:
    """The rows in batches that are written at once; of equal keys the last row."""
    batch: dict[str, IndexRow] = {}
    size = 0
    for row in rows:
        batch[row.key] = row
        size += characters((row,))
        if len(batch) == AT_ONCE or size > AT_ONCE_CHARACTERS:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def characters(rows: Iterable[IndexRow]) -> int:
    """The characters of the texts of rows."""
    return sum(len(r.description) + len(r.text) + sum(map(len, r.aliases)) for r in rows)


def _count(connection: sqlite3.Connection, kind: str, sign: int, ids: Collection[int]) -> None:
    """Add rows to the totals of a kind, or subtract them."""
    change = sign * len(ids), sign * sum(id & LONGEST_ROW for id in ids), kind
    connection.execute(
        "UPDATE total SET rows = rows + ?, length = length + ? WHERE kind = ?", change
    )


class _Words(NamedTuple):
    """The tokens of a row, the number of its words, and the languages of its text."""

    tokens: str
    length: int
    languages: tuple[str, ...]


def _words(row: IndexRow) -> _Words:
    """The tokens of a row: of whole names, of its words with their counts, of their stems."""
    # Each new nexus, and each one that is checked, has the same definitions.
    is_definition = row.type in _DEFINING or row.name.startswith("$")
    if is_definition and characters((row,)) <= CACHED_DEFINITION:
        return _words_of_definition(row._replace(key=""))
    return _words_of(row)


def _words_of(row: IndexRow) -> _Words:
    text = _TIME.sub("", row.text) if row.text else ""
    # Lines keep two aliases apart: no pair of characters spans them.
    aliases = "\n".join(row.aliases)
    both = row.description and text
    body = f"{row.description}\n{text}" if both else row.description or text
    # Names and descriptions of predicates repeat; those of concepts do not.
    is_common = row.kind == "proposition" and len(body) <= CACHED_TEXT
    segments, stems_in = (_segments, _stems) if is_common else (segment, stems)
    length, counts = 0, dict[str, int]()
    count_of = counts.get
    fields = row.name, aliases, row.description, text
    for field, weight in zip(fields, WEIGHTS.values(), strict=True):
        words = segments(field) if field else ()
        length += len(words)
        for word in words:
            counts[word] = count_of(word, 0) + weight
    languages: tuple[str, ...] = ()
    if body:
        languages = _languages(body) if is_common else languages_of(body, counts)
    tokens = [*_whole_names(row.name), *chain.from_iterable(map(_whole_alias, row.aliases))]
    tokens += [word if number == 1 else counted(word, number) for word, number in counts.items()]
    for language in languages:
        named = stems_in(row.name, language)
        if aliases:
            named = named | stems_in(aliases, language)  # a cached set stays as it is
        tokens += [counted(token, WEIGHTS["name"]) for token in sorted(named)]
        others = sorted(stems_in(body, language) - named)
        if language == "en":
            # Most words are their own stems, and are found without another token.
            others = [token for token in others if count_of(token[_ENGLISH:]) != 1]
        tokens += others
    every = f"{row.name}\n{aliases}\n{body}"
    if languages:
        tokens += sorted(ends_in(every, languages, counts))
    tokens += dates.tokens_of_lines(every)
    return _Words(" ".join(tokens), length, languages)


@lru_cache(maxsize=1024)
def _whole_names(name: str) -> tuple[str, ...]:
    return exact_token(name), whole("same", name), *_whole("name", name)


@lru_cache(maxsize=1024)
def _whole_alias(alias: str) -> tuple[str, ...]:
    return _whole("alias", alias)


def _whole(role: str, name: str) -> tuple[str, ...]:
    folded = folded_name(name)
    return whole(role, folded), *([STOP_NAME] if is_of_stop_words(folded) else [])


_ENGLISH = len(stem_token("", "en"))
_words_of_definition = lru_cache(maxsize=128)(_words_of)
_segments = lru_cache(maxsize=1024)(segment)
_stems = lru_cache(maxsize=1024)(stems)
_languages = lru_cache(maxsize=1024)(lambda text: languages_of(text, segment(text)))


def _blob(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "surrogatepass")
