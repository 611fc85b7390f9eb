"""Keeps a forked child from using the files that its parent has open.

A fork copies the memory of a process, but neither its threads nor its file locks. Closed in the
child, RocksDB waits for missing threads and overwrites the parent's files, and SQLite may delete
the parent's log. So everything that was open at the fork stays open, unused, until the child ends,
and the child ends without the exit handlers of RocksDB (docs/decisions/042).
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Protocol
from weakref import ref


class Owner(Protocol):
    """An object with open files of a library that cannot be used after a fork."""

    def abandon(self) -> None:
        """Called in a forked child: keep the library's object from ever being closed."""


process = os.getpid()
"""The number of this process, which is read for each request: the system takes longer to ask."""
_owners: list[ref[Owner]] = []
_process_with_rocksdb: int | None = None


def protect(owner: Owner) -> None:
    """Call ``owner.abandon`` in every child that is forked while the owner exists."""
    # Not a WeakSet: an exception of a signal handler would be lost in its callbacks.
    _owners[:] = [*(other for other in _owners if other() is not None), ref(owner)]


def note_rocksdb() -> None:
    """Remember that this process uses RocksDB, whose threads a child will not have."""
    global _process_with_rocksdb
    if _process_with_rocksdb is None:
        _process_with_rocksdb = process


def has_lost_rocksdb() -> bool:
    """Whether this process was forked from one that used RocksDB, which cannot write here."""
    return _process_with_rocksdb not in (None, process)


def keep_forever(handle: object) -> None:
    """Keep an object from being closed, at the end of the process too."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(handle))


def _after_fork_in_child() -> None:
    global process
    process = os.getpid()
    if has_lost_rocksdb():
        _skip_exit_handlers()
    for reference in _owners:
        owner = reference()
        if owner is not None:
            owner.abandon()


def _skip_exit_handlers() -> None:
    """Let the process end right after Python, with its own status.

    RocksDB's exit handler joins its threads, and ends a child with SIGSEGV. Only glibc passes the
    status to an exit handler; elsewhere RocksDB's handler runs.
    """
    library: Any = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
