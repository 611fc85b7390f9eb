"""The id of a nexus among those that follow each other (docs/decisions/200).

A folder keeps it in a file, which notes its own inode. A copy of the folder, or a backup, is
another nexus, which gets another id.
"""

from __future__ import annotations

import os
import re
import uuid
from contextlib import suppress
from pathlib import Path

from kiprdf.store.oxigraph import OxigraphStore

FILE = "replica"
_NOTED = re.compile(r"([0-9a-f]{32}) (\d+)\n")


def replica_of(store: OxigraphStore) -> str | None:
    """The id of a nexus, which is made when it is first needed; None if that cannot be written.

    >>> store = OxigraphStore.memory()
    >>> replica_of(store) == replica_of(store)
    True
    """
    if store.folder is None:
        store.replica = store.replica or uuid.uuid4().hex
        return store.replica
    path = store.folder / FILE
    with suppress(OSError):
        if _noted(path) is None:
            _write(path)
    return _noted(path)


def _noted(path: Path) -> str | None:
    """The id in a file that is no copy."""
    with suppress(OSError), path.open(encoding="ascii", errors="replace") as file:
        match = _NOTED.fullmatch(file.read())
        if match is not None and int(match[2]) == os.fstat(file.fileno()).st_ino:
            return match[1]
    return None


def _write(path: Path) -> None:
    """Write a new id; of several processes that do, one wins."""
    partial = path.with_suffix(f".{uuid.uuid4().hex}.partial")
    try:
        with partial.open("x", encoding="ascii") as file:
            file.write(f"{uuid.uuid4().hex} {os.fstat(file.fileno()).st_ino}\n")
        if path.exists():  # a copy, of which nobody reads the id
            partial.replace(path)
        else:
            with suppress(FileExistsError):
                os.link(partial, path)
    finally:
        partial.unlink(missing_ok=True)
