"""The writer's lock: re-entrant, fair to those who wait, and never left held by an interrupt."""

from __future__ import annotations

import math
import threading

from kiprdf import budget

_RLock = type(threading.RLock())


class FairLock(_RLock):  # type: ignore[valid-type,misc]
    """A re-entrant lock that a thread in a loop cannot keep from the others.

    A thread that wants the lock first takes the turn, and holds it while it waits. The last owner,
    coming again, waits behind it: a reader that gave up reading beside writers gets its state.

    A signal handler may raise between any two instructions of Python, but not within a function
    written in C. So ``__exit__`` is that of the C type, and where ``__enter__`` fails, its first
    step is to call ``release``, which itself knows whether this thread has the lock.

    >>> lock = FairLock()
    >>> with lock, lock:
    ...     pass
    """

    def __init__(self) -> None:
        self._turn = threading.RLock()

    def __enter__(self) -> bool:
        if self._is_owned():
            try:
                return bool(self.acquire())
            except BaseException:
                # It did not wait, so the interrupt came when it was taken.
                self.release()
                raise
        try:
            try:
                _take(self._turn)
                _take(self)
            finally:
                try:  # noqa: SIM105  (an interrupt in ``suppress`` would come before the release)
                    self._turn.release()
                except RuntimeError:
                    pass  # the turn was not taken
        except BaseException:
            try:  # noqa: SIM105
                self.release()
            except RuntimeError:
                pass  # the lock was not taken
            raise
        return True


def _take(lock: threading.RLock) -> None:
    """Wait for a lock, as long as the running request has time."""
    spending = budget.current()
    if spending is None or spending.deadline == math.inf:
        lock.acquire()
    elif not lock.acquire(timeout=min(spending.seconds_left(), threading.TIMEOUT_MAX)):
        raise spending.expired()
