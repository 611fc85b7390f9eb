"""The writer's lock: re-entrant, and fair to those who wait."""

from __future__ import annotations

import threading
from types import TracebackType


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
            with self._turn:
                self._lock.acquire()
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
