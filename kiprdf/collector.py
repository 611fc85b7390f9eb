"""Python's garbage collector, paused while a capsule, or a whole dataset, is read or written.

The collector looks for cycles among all objects again and again while their number grows. Trees of
frozen nodes, drafts, quads and lines have none, and for a large capsule the search takes longer
than the parsing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_pauses = 0
_was_running = False


@contextmanager
def paused() -> Iterator[None]:
    """No collection meanwhile, in any thread; a collector that was off stays off.

    What other threads leave behind in cycles waits for the end. Pauses may nest and overlap.
    """
    global _pauses, _was_running
    with _lock:
        if _pauses == 0:
            _was_running = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_running:
                gc.enable()
