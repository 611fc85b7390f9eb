"""Erases the remains of forgotten texts from derived files."""

import sqlite3
from collections.abc import Collection
from pathlib import Path

from kiprdf.checksums import drop_note, note
from kiprdf.derived_file import is_sound


def erase_file(path: Path) -> None:
    """Remove a file of derived data, with what SQLite keeps beside it."""
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink(missing_ok=True)


def keep_vectors(path: Path, digests: Collection[bytes]) -> None:
    """Keep only the vectors of some texts in a file; removed if it is damaged.

    No process has the file open. Computing vectors costs money, so the others are kept.
    """
    if not path.exists():
        return
    if not is_sound(path):
        erase_file(path)
        return
    drop_note(path)
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            stored = {key for (key,) in connection.execute("SELECT digest FROM vector")}
            unused = [(key,) for key in stored.difference(digests)]
            connection.executemany("DELETE FROM vector WHERE digest = ?", unused)
            # Deleted rows stay in free pages until the file is written afresh.
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        note(path)
    except sqlite3.Error:
        erase_file(path)
