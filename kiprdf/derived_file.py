"""SQLite files of derived data: created when absent, emptied when damaged or outdated.

SQLite does not notice a changed byte in most places. So the checksum of a file is noted when it was
closed, and the note is removed before it is changed: the file that a killed process leaves has none
(docs/decisions/110).
"""

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from kiprdf import forks
from kiprdf.checksums import NOTE, drop_note, is_as_noted, note
from kiprdf.loading import lazy_logger

T = TypeVar("T")

LOCK_SECONDS = 1.0
"""How long a write waits for another program that has the file locked; the file can wait."""

_log = lazy_logger(__name__)
_DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class DerivedFile:
    """One connection to the file `path`, or to a database in memory.

    `create` creates the tables of an empty database, among them `about` with one row and a column
    `version`. Threads may share the file: one lock serializes their uses.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        version: str,
        create: Callable[[sqlite3.Connection], None],
        read_only: bool = False,
    ) -> None:
        """Open the file; create it, or empty it if it is damaged or of another version.

        With `read_only` the file belongs to another process: it is never written, and
        `sqlite3.Error` is raised if it is absent, damaged or of another version.
        """
        self._path = None if path is None or read_only else Path(path)
        self._version = version
        self._create = create
        self._lock = threading.Lock()
        is_usable = path is None or _is_usable(Path(path))
        if read_only and path is not None:
            if not is_usable:
                raise sqlite3.DatabaseError("The file is not as it was written.")
            self._connection = _copy(Path(path), version)
        else:
            if not is_usable:
                remove(self._path)
            self._connection = _connect(self._path, version, create)
        forks.protect(self)

    def use(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Call a function with the connection; empty the file if it turns out to be damaged.

        Raises `sqlite3.Error` for any damaged file, or what the function raises.
        """
        with self._lock:
            try:
                return function(self._connection)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                if not _is_damage(error):
                    raise
                self._connection.close()
                remove(self._path)
                self._connection = _connect(self._path, self._version, self._create)
                raise sqlite3.DatabaseError("The file was damaged; it is empty.") from error

    def change(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Call a function in one transaction, which is rolled back if the function fails."""

        def changed(connection: sqlite3.Connection) -> T:
            if self._path is not None:
                drop_note(self._path)
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                return function(connection)

        return self.use(changed)

    def close(self) -> None:
        """Close the file; later uses raise `sqlite3.ProgrammingError`."""
        with self._lock:
            self._connection.close()
            # With a log another program has the file open.
            if self._path is not None and not Path(f"{self._path}-wal").exists():
                note(self._path)

    def abandon(self) -> None:
        """Leave the file to the process that this one was forked from."""
        forks.keep_forever(self._connection)


def is_sound(path: Path, *, every_byte: bool = True) -> bool:
    """Whether a file is absent, or as it was when it was closed."""
    return not path.exists() or is_as_noted(path, every_byte=every_byte)


def _is_usable(path: Path) -> bool:
    if is_sound(path, every_byte=False):
        return True
    _log.warning("The file %s is not as it was written: its content is made again.", path.name)
    return False


def _connect(
    path: Path | None, version: str, create: Callable[[sqlite3.Connection], None]
) -> sqlite3.Connection:
    """Open the file; replace an unusable one by an empty one."""
    connection = _open(path)
    if not _is_current(connection, version):
        connection.close()
        remove(path)
        connection = _open(path)
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            create(connection)
    # WAL commits are cheap; a power cut may lose the last ones, and `about` with them.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _copy(path: Path, version: str) -> sqlite3.Connection:
    """A copy in memory of a file of another process, which may replace it at any time."""
    source = sqlite3.connect(uri_to_read(path), uri=True)
    copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    try:
        source.backup(copy)
        copy.text_factory = bytes
        if not _is_current(copy, version):
            raise sqlite3.DatabaseError(f"{path.name} is damaged or of another version")
    except sqlite3.Error:
        copy.close()
        raise
    finally:
        source.close()
    return copy


def copy_file(path: Path, target: Path) -> None:
    """Copy a file that a process may be writing; nothing, where it is absent or damaged."""
    if not path.exists() or not _is_usable(path):
        return
    try:
        with (
            closing(sqlite3.connect(uri_to_read(path), uri=True)) as source,
            closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
    except sqlite3.Error:
        remove(target)


def uri_to_read(path: Path) -> str:
    """The URI that reads a file of another process in place, and creates no files beside it."""
    # Without a log no process has the file open, and it can be read by itself.
    still = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
    return f"{path.absolute().as_uri()}?mode=ro{still}"


def _open(path: Path | None) -> sqlite3.Connection:
    # Autocommit: every transaction here begins by an explicit BEGIN.
    connection = sqlite3.connect(
        path or ":memory:",
        timeout=LOCK_SECONDS,
        check_same_thread=False,
        isolation_level=None,
    )
    connection.text_factory = bytes  # text of a damaged file need not be UTF-8
    return connection


def _is_current(connection: sqlite3.Connection, version: str) -> bool:
    """Whether the file is undamaged and of this version."""
    try:
        state = connection.execute("PRAGMA quick_check(1)").fetchall()
        state += connection.execute("SELECT version FROM about").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if _is_damage(error):  # or there is no such table
            return False
        connection.close()
        raise
    return state == [(b"ok",), (version.encode(),)]


def _is_damage(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    """Whether an error means an unusable file, and not one that is locked, full or read-only."""
    if isinstance(error, UnicodeDecodeError):  # SQLite's message quotes the damaged file
        return True
    # The statements here are constants, so SQLITE_ERROR is a fault of the file, too. An error of
    # the Python module, such as the use of a closed connection, has no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def remove(path: Path | None) -> None:
    """Remove a file, and those that SQLite keeps beside it."""
    if path is None:
        return
    try:
        for suffix in ("", "-wal", "-shm", NOTE):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
    except OSError as error:
        raise sqlite3.OperationalError(f"cannot replace {path}: {error}") from error
