"""Imports that no signal interrupts.

Python does not undo an interrupted import: modules that import each other may remain half imported,
and a module may remain locked. Signal handlers raise in the main thread, so another one imports
(docs/decisions/113).
"""

from __future__ import annotations

from _thread import start_new_thread
from importlib import import_module
from queue import SimpleQueue

_loaded: set[str] = set()


def load(*names: str) -> None:
    """Import modules, so that an ``import`` statement that follows only looks them up.

    >>> load("json")
    """
    if _loaded.issuperset(names):
        return
    # Started and waited for by single calls of C functions, as queries are.
    faults: SimpleQueue[BaseException | None] = SimpleQueue()

    def run() -> None:
        try:
            for name in names:
                import_module(name)
            _loaded.update(names)
            faults.put(None)
        except BaseException as fault:
            faults.put(fault)

    start_new_thread(run, ())
    fault = faults.get()
    if fault is not None:
        raise fault
