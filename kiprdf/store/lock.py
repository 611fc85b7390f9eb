"""The writer's lock: re-entrant, and fair to those who wait."""

from __future__ import annotations

import math
import threading
from types import TracebackType

from kiprdf import budget


class FairLock:
    """A re-entrant lock that a thread in a loop cannot keep from the others.

    Who wants the lock first takes the turn. Who waits holds it, so that the last owner, coming
    again, waits behind: a reader that gave up reading beside writers gets its state.

    >>> lock = FairLock()
    >>> with lock, lock:
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        if self._owner != me:
            _take(self._turn)
            try:
                _take(self._lock)
            finally:
                self._turn.release()
            self._owner = me
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._owner = None
            self._lock.release()


def _take(lock: threading.Lock) -> None:
    """Wait for a lock, as long as the running request has time."""
    spending = budget.current()
    if spending is None or spending.deadline == math.inf:
        lock.acquire()
    elif not lock.acquire(timeout=min(spending.seconds_left(), threading.TIMEOUT_MAX)):
        raise spending.expired()
