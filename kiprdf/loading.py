"""Imports that no signal interrupts.

Python does not undo an interrupted import: modules that import each other may remain half imported,
and a module may remain locked. Signal handlers raise in the main thread, so another one imports
(docs/decisions/113).
"""

from __future__ import annotations

import re
import sys
from _thread import start_new_thread
from importlib import import_module
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import logging
    from types import ModuleType

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

    try:
        if sys.is_finalizing():
            raise RuntimeError
        start_new_thread(run, ())
    except RuntimeError:  # the interpreter exits: another thread would never run
        run()
    fault = faults.get()
    if fault is not None:
        raise fault


class Lazy:
    """A module that is imported when one of its names is first used.

    >>> Lazy("json").dumps([1])
    '[1]'
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            load(self._name)
            self._module = sys.modules[self._name]  # which is empty when the interpreter ends
        return getattr(self._module, name)


class _LazyPattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, method)
        return method


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when it is first used.

    Some take milliseconds: those with ranges of characters, or with many alternatives.

    >>> bool(lazy_pattern("[a-z]+").fullmatch("abc"))
    True
    """
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _LazyLogger:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        load("logging")
        import logging

        return getattr(logging.getLogger(self._name), name)


def lazy_logger(name: str) -> logging.Logger:
    """A logger that imports ``logging`` when it is first used: most processes log nothing.

    >>> lazy_logger("kiprdf").name
    'kiprdf'
    """
    return cast("logging.Logger", _LazyLogger(name))
