"""What a forked child may do with the files that its parent has open: nothing.

A fork copies the memory of a process, but neither its threads nor its locks on files. Closed in the
child, RocksDB waits for threads that are not there and writes over the parent's files, and SQLite
may delete the parent's log. So whatever was open at the fork stays open, untouched, until the child
ends, and the child ends without the exit handlers of RocksDB (docs/decisions/042).
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Protocol
from weakref import ref


class Owner(Protocol):
    """Something that has files open through a library that cannot be used across a fork."""

    def abandon(self) -> None:
        """Called in a forked child: keep the library's object from being closed, and let it be."""


_owners: list[ref[Owner]] = []
_process_with_rocksdb: int | None = None


def protect(owner: Owner) -> None:
    """Have an owner called in every child that is forked while it lives."""
    # No WeakSet: what a signal handler raises in its callbacks would be lost.
    _owners[:] = [*(known for known in _owners if known() is not None), ref(owner)]


def note_rocksdb() -> None:
    """Remember that this process uses RocksDB, whose threads no child will have."""
    global _process_with_rocksdb
    if _process_with_rocksdb is None:
        _process_with_rocksdb = os.getpid()


def has_lost_rocksdb() -> bool:
    """Whether this process was forked from one that used RocksDB, which cannot write here."""
    return _process_with_rocksdb not in (None, os.getpid())


def keep_forever(handle: object) -> None:
    """Keep an object from being closed, at the end of the process too."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(handle))


def _after_fork_in_child() -> None:
    if has_lost_rocksdb():
        _skip_exit_handlers()
    for known in _owners:
        owner = known()
        if owner is not None:
            owner.abandon()


def _skip_exit_handlers() -> None:
    """Let the process end right after Python has, with the status that it has.

    RocksDB's own exit handler joins its threads, and ends a child with SIGSEGV. Only glibc hands
    the status to an exit handler; elsewhere the child ends as RocksDB lets it.
    """
    library: Any = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
