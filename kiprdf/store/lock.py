"""The writer's lock: re-entrant, fair, and never left locked by an interrupt."""

from __future__ import annotations

import math
import threading

from kiprdf import budget

_RLock = type(threading.RLock())


class FairLock(_RLock):  # type: ignore[valid-type,misc]
    """A re-entrant lock with which a thread in a loop cannot starve the others.

    A thread acquires the turn first, and holds it while it waits for the lock. The last owner, if
    it comes again, waits behind that thread.

    A signal handler may raise between any two instructions of Python, but not within a function
    written in C. So ``__exit__`` is that of the C type. If ``__enter__`` fails, it calls
    ``release`` first, which itself checks whether this thread owns the lock.

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
                # It did not wait, so the interrupt came after the acquisition.
                self.release()
                raise
        try:
            try:
                _acquire(self._turn)
                _acquire(self)
            finally:
                try:  # noqa: SIM105  (an interrupt in ``suppress`` would come before the release)
                    self._turn.release()
                except RuntimeError:
                    pass  # the turn was not acquired
        except BaseException:
            try:  # noqa: SIM105
                self.release()
            except RuntimeError:
                pass  # the lock was not acquired
            raise
        return True


def _acquire(lock: threading.RLock) -> None:
    """Acquire a lock; KIP_4001 when the time of the running request is over."""
    spending = budget.current()
    if spending is None or spending.deadline == math.inf:
        lock.acquire()
    elif not lock.acquire(timeout=min(spending.seconds_left(), threading.TIMEOUT_MAX)):
        raise spending.expired()
