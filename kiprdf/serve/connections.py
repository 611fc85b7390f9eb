"""The connections of a server: fewer than its descriptors, and none that waits is in the way."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from kiprdf.serve.options import is_loopback

MOST_CONNECTIONS = 1000
LEAST_CONNECTIONS = 16
RESERVE = 64
"""The descriptors that are left for files, for processes, and for connections just accepted."""
SPARE = 16
"""The further connections, where all others have running requests; only health is answered."""
ACCEPTED_AT_ONCE = 16
"""Connections that the event loop accepts before they are counted."""


class Connection(Protocol):
    """An open connection; the oldest comes first where some are closed."""

    address: str

    @property
    def is_waiting(self) -> bool:
        """Whether it has no running request: it is idle, or its request is not complete."""

    def close(self) -> None: ...


class Connections:
    """The open connections, at most as many as descriptors allow.

    One address may have half of them; a proxy on this machine all. For a new connection beyond
    that, the one that has waited longest is closed, of the address that has most that wait.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[Connection, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, new: Connection) -> bool:
        """Add a connection; False if all others have running requests, and it is one too many."""
        is_free = True
        of_address = [one for one in self._open if one.address == new.address]
        share = self._most if is_loopback(new.address) else self._most // 2
        if len(of_address) >= share:
            is_free = self._close_one_of(of_address)
        elif len(self._open) >= self._most:
            is_free = self._close_one_of(self._open)
        self._open[new] = None
        return is_free

    def is_full(self) -> bool:
        """Whether not even the spare connections are left."""
        return len(self._open) > self._most + SPARE

    def remove(self, one: Connection) -> None:
        """Remove a closed connection."""
        self._open.pop(one, None)

    def renew(self, one: Connection) -> None:
        """Note that a connection has sent a request: it waits from now on."""
        if one in self._open:
            del self._open[one]
            self._open[one] = None

    def _close_one_of(self, some: Iterable[Connection]) -> bool:
        waiting = [one for one in some if one.is_waiting]
        if not waiting:
            return False
        ((address, _),) = Counter(one.address for one in waiting).most_common(1)
        oldest = next(one for one in waiting if one.address == address)
        self.remove(oldest)
        oldest.close()
        return True


def most_connections(reserved: int = 0) -> int:
    """The connections for which this process has descriptors, besides those that it uses now.

    ``reserved`` are those that it will use.
    """
    try:
        import resource  # not on Windows

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        used = len(os.listdir("/dev/fd"))
    except (ImportError, OSError):
        return MOST_CONNECTIONS
    if limit == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(LEAST_CONNECTIONS, min(MOST_CONNECTIONS, limit - used - reserved - RESERVE))
