"""Elements in the order of a value: the engine has no order of literals (docs/decisions/154)."""

from __future__ import annotations

import hashlib
import math
import sqlite3
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from pyoxigraph import Literal, NamedNode

from kiprdf import budget
from kiprdf.derived_file import DerivedFile, is_sound, remove, uri_to_read
from kiprdf.errors import KipError, StoreError
from kiprdf.loading import Lazy, lazy_logger
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_json, to_term
from kiprdf.rdf.readings import PLAIN, compared_keys, sort_key
from kiprdf.store.delta import Written

if TYPE_CHECKING:
    import shutil
else:
    shutil = Lazy("shutil")


FOLDER = "values"
_ENDING = ".sqlite3"
WORTH_SECONDS = 0.02
"""How long questions about a key take before it is indexed."""
LEAST_SECONDS = 0.05
"""How long an index may take to build, also where the questions were faster."""
KEPT_CHARACTERS = 100
"""The beginning of a text that is indexed: elements whose values differ later are tied."""
KEPT_TRIPLES = 10_000
"""Written triples that are kept until a question needs those of its key."""
KEPT_COMMITS = 256
"""The most commits of other processes that are read from the history."""
CHUNK = 64
_LAST = "\U0010ffff"
_VERSION = "1"
_SORTED, _COMPARED = 1, 2
"""What a row is for: ORDER BY, FILTER, or both."""
MOST_SCOPES = 1_000
MOST_KEPT = 32
"""Indexes at once: one takes three file descriptors, or 85 kB."""
MOST_BUILDING = 4
"""Threads that build at once: a question that is refused may have more keys."""
FAULTS = (
    sqlite3.Error,
    OSError,
    ArithmeticError,
    ValueError,
    LookupError,
    RecursionError,
    StoreError,
)
"""Of the file, of a value that no command writes, or of the dataset: then nothing is indexed."""
_log = lazy_logger("kiprdf")
_INSERT = "INSERT OR REPLACE INTO sorted VALUES (?, ?, ?, ?)"
_DELETE = "DELETE FROM sorted WHERE kind = ? AND value = ? AND iri = ? AND use = ?"

Triples: TypeAlias = Sequence[Written]
Change: TypeAlias = tuple[int, Triples, Triples]
"""The number of a commit, and the triples that it removed and added."""
Changes: TypeAlias = Callable[[int], Iterable[Change]]
"""The commits after one."""


class UnreadableError(Exception):
    """The rest of some values cannot be read: there is a later commit, or the index is gone."""


class Scope(NamedTuple):
    """The values of a key that elements have whose IRIs begin and end with some texts."""

    key: NamedNode
    start: str = ""
    end: str = ""

    def has(self, iri: str) -> bool:
        return iri.startswith(self.start) and iri.endswith(self.end)


class Bounds(NamedTuple):
    """The values of one kind that compare so with some others.

    Where it ``is_exact``, they are those for which a FILTER holds, if it finds nothing in arrays.
    """

    kind: int
    tests: tuple[tuple[str, Any], ...] = ()
    is_exact: bool = True


class SortedValues:
    """The values of a scope as of one commit.

    The methods return less, or nothing, after a later commit.
    """

    def __init__(self, part: _Part, commit: int) -> None:
        self._part = part
        self._commit = commit
        self.size = part.size
        """About how many values there are."""

    def between(self, bounds: Bounds, most: int) -> list[str] | None:
        """The elements with a value in a range, in its order; None for more than ``most``.

        Of texts longer than ``KEPT_CHARACTERS`` only the beginning is compared.
        """
        where, values = _within(bounds)
        where = f"use & {_COMPARED} AND {where} ORDER BY value, iri LIMIT {most + 1}"
        rows = self._rows(where, values, "iri")
        if rows is None or len(rows) > most:
            return None
        return list(dict.fromkeys([iri.decode() for (iri,) in rows]))

    # Of a key under which are only booleans, numbers and texts ---------------------------------

    def has_others(self) -> bool:
        """Whether some values are no booleans, numbers or texts."""
        return self._rows("kind = 3 LIMIT 1", ()) != []

    def number(self, bounds: Bounds | None = None) -> int | None:
        """How many elements have a value, or one in a range; None after a later commit."""
        commit, number = self._part.counted
        if bounds is None and commit == self._commit:
            return number
        rows = self._rows(*_all_or(bounds), "COUNT(*)")
        if rows is None:
            return None
        if bounds is None:
            self._part.counted = self._commit, rows[0][0]
        return cast(int, rows[0][0])

    def tally(self, bounds: Bounds | None, most: int) -> list[tuple[Literal, int]] | None:
        """The different values, and how many elements have each; None where some are not whole, or
        for more than ``most``."""
        where, values = _all_or(bounds)
        what = "kind, value, COUNT(*), SUM(typeof(value) = 'real')"
        rows = self._rows(f"{where} GROUP BY kind, value LIMIT {most + 1}", values, what)
        if rows is None or len(rows) > most or not all(_is_whole(row[:2]) for row in rows):
            return None
        # 3 and 3.0 are equal.
        return [
            (_term(kind, number(value) if kind == 1 else value), count)
            for kind, value, every, doubles in rows
            for number, count in ((int, every - doubles), (float, doubles))
            if count
        ]

    def valued(self, bounds: Bounds, most: int) -> list[tuple[str, Literal]] | None:
        """The elements with a value in a range, with it; None where some are not whole, or for
        more than ``most``."""
        where, values = _within(bounds)
        rows = self._rows(f"{where} LIMIT {most + 1}", values)
        if rows is None or len(rows) > most:
            return None
        # Equal numbers are one key, but 3 and 3.0 are not shown alike.
        terms: dict[tuple[int, Any, Any], Literal] = {}
        for kind, value, _ in rows:
            key = kind, value, type(value)
            if key not in terms:
                if not _is_whole((kind, value)):
                    return None
                terms[key] = _term(kind, value)
        return [(iri.decode(), terms[kind, value, type(value)]) for kind, value, iri in rows]

    def walk(
        self, descending: bool, bounds: Bounds | None
    ) -> Iterator[tuple[tuple[int, Any], bool, list[str]]]:
        """Values in their order, each with whether it is whole, and its elements by their IRIs.

        The elements of one value may come in several lists. Raises ``UnreadableError``.
        """
        within, fixed = _all_or(bounds)
        sign, way = ("<", "DESC") if descending else (">", "ASC")
        order = f"ORDER BY kind {way}, value {way}, iri {way} LIMIT {CHUNK}"
        after, place = "1", cast(tuple[Any, ...], ())
        while True:
            where = f"use & {_SORTED} AND {within} AND {after}"
            rows = self._read(f"{where} {order}", (*fixed, *place))
            runs = [
                (tie, [iri.decode() for _, _, iri in run])
                for tie, run in groupby(rows, lambda row: (row[0], row[1]))
            ]
            last = runs[-1] if len(rows) == CHUNK else None
            for tie, iris in runs:
                if (tie, iris) != last:
                    yield tie, _is_whole(tie), sorted(iris)
            if last is None:
                return
            yield from self._tied(last[0])
            after, place = f"(kind, value) {sign} (?, ?)", last[0]

    def _tied(self, tie: tuple[int, Any]) -> Iterator[tuple[tuple[int, Any], bool, list[str]]]:
        iri: Any = b""
        while True:
            rows = self._read(
                f"use & {_SORTED} AND kind = ? AND value = ? AND iri > ? ORDER BY iri LIMIT 256",
                (*tie, iri.decode()),
            )
            if not rows:
                return
            yield tie, _is_whole(tie), [iri.decode() for _, _, iri in rows]
            iri = rows[-1][2]

    def _read(self, where: str, values: Sequence[Any]) -> list[Any]:
        rows = self._rows(where, values)
        if rows is None:
            raise UnreadableError
        return rows

    def _rows(
        self, where: str, values: Sequence[Any], what: str = "kind, value, iri"
    ) -> list[Any] | None:
        """Rows of the index; None after a later commit, or where the file cannot be read."""
        part = self._part

        def rows(connection: sqlite3.Connection) -> list[Any] | None:
            if part.commit != self._commit:
                return None
            query = f"SELECT {what} FROM sorted WHERE {where}"
            # Texts are read as bytes, and compared as they are read.
            texts = [value.decode() if isinstance(value, bytes) else value for value in values]
            return connection.execute(query, texts).fetchall()

        try:
            return part.file.use(rows)
        except sqlite3.Error:
            part.commit = None
            return None


def _within(bounds: Bounds) -> tuple[str, tuple[Any, ...]]:
    where = "".join(f" AND value {sign} ?" for sign, _ in bounds.tests)
    return f"kind = ?{where}", (bounds.kind, *[value for _, value in bounds.tests])


def _all_or(bounds: Bounds | None) -> tuple[str, tuple[Any, ...]]:
    return ("1", ()) if bounds is None else _within(bounds)


def _term(kind: int, value: Any) -> Literal:
    """A value that is whole, as a literal."""
    if kind == 2:
        return Literal(value.decode())
    return cast(Literal, to_term(value if kind else bool(value)))


def _is_whole(tie: tuple[int, Any]) -> bool:
    """Whether elements with one indexed value have equal values."""
    value = tie[1]
    if isinstance(value, bytes):
        return len(value) < KEPT_CHARACTERS
    return not isinstance(value, float) or abs(value) < 2**63


def bounded(symbol: str, value: Any) -> Bounds:
    """The values that may compare so with a boolean, a number or a text."""
    kind, bound = sort_key(value)
    if kind == 1 and abs(bound) >= 2**53:
        return Bounds(kind, (), False)  # integers are compared with doubles as doubles
    is_exact = kind != 2 or len(bound) < KEPT_CHARACTERS
    if kind == 2:
        bound = bound[:KEPT_CHARACTERS]
    if symbol == "STARTS_WITH":
        return Bounds(kind, ((">=", bound), ("<=", bound + _LAST * KEPT_CHARACTERS)), is_exact)
    sign = symbol if is_exact else f"{symbol[0]}="
    return Bounds(kind, ((sign, bound),), is_exact)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE about (version TEXT, number INTEGER, size INTEGER)")
    connection.execute("INSERT INTO about VALUES (?, 0, 0)", (_VERSION,))
    connection.execute(
        "CREATE TABLE sorted (kind, value, iri, use, PRIMARY KEY (kind, value, iri)) WITHOUT ROWID"
    )


def _number_of(path: Path) -> int:
    """The commit that a file reflects; a large number where it cannot be read."""
    try:
        with closing(sqlite3.connect(uri_to_read(path), uri=True)) as connection:
            ((number,),) = connection.execute("SELECT number FROM about")
            return int(number)
    except (sqlite3.Error, ValueError, TypeError):
        return sys.maxsize


def _rows_of(iri: str, term: Any) -> Iterable[tuple[int, Any, str, int]]:
    """The rows of a value; none of null.

    Raises ``ValueError`` for one without a place in the order, such as NaN.
    """
    if isinstance(term, Literal) and term.datatype == vocab.STRING:
        return ((2, term.value[:KEPT_CHARACTERS], iri, _SORTED | _COMPARED),)
    if isinstance(term, NamedNode) and term != vocab.NULL:  # of a type, or a fact
        return ((3, term.value, iri, _SORTED),)
    value = to_json(term)
    if value is None:
        return ()
    if isinstance(term, Literal) and term.datatype in PLAIN:
        return ((*_indexed(sort_key(value)), iri, _SORTED | _COMPARED),)
    uses = dict.fromkeys(map(_indexed, compared_keys(term)), _COMPARED)
    key = _indexed(sort_key(value))
    uses[key] = uses.get(key, 0) | _SORTED
    return [(*key, iri, use) for key, use in uses.items()]


def _indexed(key: tuple[int, Any]) -> tuple[int, Any]:
    """A sort key as SQLite keeps it."""
    kind, value = key
    if isinstance(value, str):
        return kind, value[:KEPT_CHARACTERS]
    if value != value or (value == 0 and math.copysign(1, value) < 0):
        raise ValueError("a number without an order, or -0.0, which SQLite would keep as 0.0.")
    is_long = isinstance(value, int) and not -(2**63) <= value < 2**63
    return kind, float(value) if is_long else value


class _Part:
    """The index of one scope; ``commit`` is the one that it reflects, None once it is useless.

    ``in_file`` is the number that the file has, which is behind where no commit changed anything.
    """

    def __init__(self, scope: Scope, path: Path | None) -> None:
        self.scope = scope
        self.file = DerivedFile(path, _VERSION, _create)
        if path is None:  # then nothing may be on a disk, where SQLite would sort
            self.file.use(lambda connection: connection.execute("PRAGMA temp_store = MEMORY"))
        self.commit: int | None = None
        self.in_file = 0
        self.is_built = False
        self.building = threading.Lock()
        """Is held by the thread that builds it."""
        self.size = 0
        self.counted = -1, 0
        """The last commit of which all values were counted, and their number."""
        self.used_at = time.monotonic()

    def open(self) -> None:
        """Read what the file reflects."""
        ((self.in_file, self.size),) = self.file.use(
            lambda connection: connection.execute("SELECT number, size FROM about").fetchall()
        )
        # Without a number, building it was interrupted.
        self.commit = self.in_file or None
        self.is_built = True

    def follow(self, commits: Iterable[Change], *, to_file: bool = False) -> None:
        """Bring the index to the last of some commits; it is useless if one is missing."""
        commit = self.commit
        if commit is None:
            return
        later = [change for change in commits if change[0] > commit]
        if [number for number, *_ in later] != [commit + at + 1 for at in range(len(later))]:
            self.commit = None
            return
        changes = [
            (is_added, subject.value, value)
            for _, *sides in later
            for is_added, triples in enumerate(sides)
            for subject, key, value in triples
            if key == self.scope.key and self.scope.has(subject.value)
        ]
        number = commit + len(later)

        def apply(connection: sqlite3.Connection) -> None:
            for is_added, some in groupby(changes, itemgetter(0)):
                rows = (row for _, iri, value in some for row in _rows_of(iri, value))
                connection.executemany(_INSERT if is_added else _DELETE, rows)
            self.size = max(0, self.size + sum(1 if added else -1 for added, *_ in changes))
            connection.execute("UPDATE about SET number = ?, size = ?", (number, self.size))

        if changes or (to_file and self.in_file != number):
            self.file.change(apply)
            self.in_file = number
        self.commit = number

    def fill(self, values: Iterable[tuple[str, Any]], end: float) -> None:
        """Write all values, sorted by SQLite, whose tree then grows at its end; raises
        ``TimeoutError`` when the time is over, or the index useless."""

        def fill(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM sorted")
            connection.execute("CREATE TEMP TABLE unsorted (kind, value, iri, use)")
            rows = (row for iri, value in self._until(end, values) for row in _rows_of(iri, value))
            connection.executemany("INSERT INTO unsorted VALUES (?, ?, ?, ?)", rows)
            self.size = connection.execute(
                "INSERT OR REPLACE INTO sorted SELECT * FROM unsorted ORDER BY kind, value, iri"
            ).rowcount
            connection.execute("DROP TABLE unsorted")
            connection.execute("UPDATE about SET number = ?, size = ?", (self.in_file, self.size))

        self.in_file = cast(int, self.commit)
        self.file.change(fill)
        self.is_built = True

    def _until(self, end: float, values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        for number, (iri, value) in enumerate(values):
            if number % 256 == 0 and (self.commit is None or time.perf_counter() > end):
                raise TimeoutError("it would take longer than the questions.")
            if self.scope.has(iri):
                yield iri, value


class ValueIndex:
    """The sorted values of a store: of those scopes that questions have spent time on.

    Each is a file in a folder, or in memory. Writers note their commits; the next question brings
    an index up to date. Without a journal that has the commits since it was closed, and where a
    file is damaged, it is built again.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._has_written = False
        self._parts: dict[Scope, _Part] = {}
        self._commits: list[Change] = []
        self._triples = 0
        """The number of triples in these commits."""
        self._spent: dict[Scope, tuple[float, float]] = {}
        """What questions have taken, and what they have to take until an index is built."""

    def note(self, number: int, removed: Triples, added: Triples) -> None:
        if not self._has_written:
            self._has_written = True
            self._remove_lost(number)
        if self._parts:
            with self._lock:
                self._commits.append((number, removed, added))
                self._triples += len(removed) + len(added)
                if self._triples > KEPT_TRIPLES:
                    for scope, part in list(self._parts.items()):
                        self._follow(scope)
                        if part.commit != number:
                            part.commit = None  # it is being built, and lacks these commits
                    self._commits, self._triples = [], 0

    def _follow(self, scope: Scope, *, to_file: bool = False) -> None:
        """Bring an index to the last commit that was noted; drop a useless one."""
        part = self._parts[scope]
        if part.is_built:
            try:
                part.follow(self._commits, to_file=to_file)
            except FAULTS as fault:
                self._give_up(scope, fault)
        if part.is_built and part.commit is None:
            self._drop(scope)
            self._spent.pop(scope, None)

    def _remove_lost(self, number: int) -> None:
        """Remove the files that have a commit of this number, or later ones, which were lost."""
        if self._folder is not None and self._folder.exists():
            with self._lock:
                opened = set(map(self._path, self._parts))
                for path in set(self._folder.glob(f"*{_ENDING}")) - opened:
                    if _number_of(path) >= number:
                        with suppress(sqlite3.Error):
                            remove(path)

    def get(self, scope: Scope, commit: Callable[[], int], changes: Changes) -> SortedValues | None:
        """The values of a scope as of the last commit; None where they are not indexed."""
        with self._lock:
            if scope not in self._parts:
                path = self._path(scope)
                if path is None or not path.exists():
                    return None
                try:
                    # From here on commits are noted.
                    part = self._add(scope, path)
                    part.open()
                    number = commit()
                    if part.commit is not None and part.commit < number:
                        part.follow(changes(part.commit))
                    if part.commit != number:
                        part.commit = None
                except FAULTS as fault:
                    self._give_up(scope, fault)
                    return None
            self._follow(scope)
            part_now, number = self._parts.get(scope), commit()
            if part_now is None or not part_now.is_built or part_now.commit != number:
                return None
            part_now.used_at = time.monotonic()
            return SortedValues(part_now, number)

    def _add(self, scope: Scope, path: Path | None) -> _Part:
        """A new index; of too many the one is dropped that was not used for longest."""
        built = [other for other, part in self._parts.items() if part.is_built]
        if len(built) >= MOST_KEPT:
            self._drop(min(built, key=lambda other: self._parts[other].used_at))
        part = self._parts[scope] = _Part(scope, path)
        return part

    def spend(
        self,
        scope: Scope,
        seconds: float,
        commit: Callable[[], int],
        values: Callable[[], Iterable[Any]],
    ) -> None:
        """Note what a question took without the index, which is built after enough of them.

        A thread builds it; the question waits for at most half of the time that its request has
        left. Building ends where it takes longer than the questions did, and begins again after
        twice as much. ``values`` returns the elements that have the key, with their values.
        """
        with self._lock:
            if scope in self._parts:
                return
            if len(self._spent) > MOST_SCOPES:
                self._spent.clear()
            spent, needed = self._spent.get(scope, (0.0, WORTH_SECONDS))
            spent += seconds
            self._spent[scope] = (spent, needed)
            building = sum(not part.is_built for part in self._parts.values())
            if spent < needed or building >= MOST_BUILDING:
                return
            self._spent[scope] = (spent, 2 * spent)
            path = self._path(scope)
            try:
                if path is not None:
                    path.parent.mkdir(exist_ok=True)
                part = self._add(scope, path)
                # What is committed from here on is noted, and what is read may have it already.
                part.commit = commit()
                allowed = max(spent, LEAST_SECONDS)
                part.building.acquire()
                start_new_thread(self._build, (part, values, time.perf_counter() + allowed))
            except (*FAULTS, RuntimeError) as fault:  # or no thread can be started
                self._give_up(scope, fault)
                return
            except BaseException:  # of a signal handler, or the nexus was closed meanwhile
                self._drop(scope)
                raise
        spending = budget.current()
        left = math.inf if spending is None else spending.seconds_left() / 2
        if part.building.acquire(timeout=min(allowed, left, threading.TIMEOUT_MAX)):
            part.building.release()

    def _build(
        self, part: _Part, values: Callable[[], Iterable[tuple[str, Any]]], end: float
    ) -> None:
        try:
            part.fill(values(), end)
        except (*FAULTS, KipError) as fault:  # or the nexus was closed meanwhile
            _log.info("The values of %s are not indexed: %s", part.scope.key.value, fault)
        finally:
            with self._lock:
                if not part.is_built and self._parts.get(part.scope) is part:
                    self._drop(part.scope)
            part.building.release()

    def _path(self, scope: Scope) -> Path | None:
        if self._folder is None:
            return None
        name = hashlib.sha256("\n".join((scope.key.value, *scope[1:])).encode()).hexdigest()
        return self._folder / f"{name[:20]}{_ENDING}"

    def _give_up(self, scope: Scope, fault: Exception) -> None:
        _log.info("The values of %s are not indexed: %s", scope.key.value, fault)
        self._drop(scope)

    def _drop(self, scope: Scope) -> None:
        part = self._parts.pop(scope, None)
        if part is not None:
            part.commit = None
            with suppress(sqlite3.Error, OSError):
                part.file.close()
                remove(self._path(scope))

    def close(self, commit: int) -> None:
        """Close the files, as of the last commit; what is being built is given up."""
        with self._lock:
            unbuilt = [part for part in self._parts.values() if not part.is_built]
            for part in unbuilt:
                part.commit = None
        for part in unbuilt:
            part.building.acquire()  # it reads the engine, which is closed after this
        with self._lock:
            for scope, part in list(self._parts.items()):
                self._follow(scope, to_file=self._folder is not None)
                if part.commit == commit and part.is_built:
                    part.file.close()
                else:
                    self._drop(scope)
            self._parts.clear()

    def is_sound(self, repair: bool) -> bool:
        """Whether the files are as they were written; with ``repair`` they are removed if not."""
        files = [] if self._folder is None else self._folder.glob(f"*{_ENDING}")
        is_right = all(map(is_sound, files))
        if repair and not is_right:
            self.clear()
        return is_right or repair

    def clear(self) -> None:
        """Remove all of it: something was forgotten, or the dataset is another one."""
        with self._lock:
            for scope in list(self._parts):
                self._drop(scope)
            self._spent.clear()
            self._commits, self._triples = [], 0
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
