"""Python's garbage collector, paused while a statement or a whole dataset is read or written.

The collector looks for cycles among all objects again and again while their number grows. Trees of
nodes, drafts, quads and lines have none, and for a large capsule the search takes longer than the
parsing.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import cache, partial
from typing import Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
_pauses: set[object] = set()
_is_off_for_them = False


def paused(function: Callable[[], T]) -> T:
    """Call a function without collections, in any thread; a collector that was off stays off.

    What other threads leave behind in cycles waits for the end. Pauses may nest and overlap. A
    signal handler may raise at any instruction, so each step is one call of a C function, or none.
    """
    global _is_off_for_them
    pause = object()
    try:
        _pauses.add(pause)
        if gc.isenabled():
            _is_off_for_them = True
            gc.disable()
        return function()
    finally:
        try:
            _pauses.discard(pause)
        finally:
            if _is_off_for_them and not _pauses:
                _is_off_for_them = False
                gc.enable()


def cached(method: Callable[Concatenate[S, P], T], owner: S) -> Callable[P, T]:
    """A method of an object with its results, to be an attribute of the object.

    It makes no cycle, so that both are freed with the last reference to the object.
    """
    return cast("Callable[P, T]", cache(partial(method, weakref.proxy(owner))))
