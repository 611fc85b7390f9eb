"""The progress of a long call, for display.

>>> with reported(lambda what, number: print(what, number)):
...     report("reading", 500)
reading 500
>>> report("reading", 500)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Report: TypeAlias = Callable[[str, int], None]
"""Called with what is done ("reading", "writing") and the number of triples since the last call."""

_report: ContextVar[Report | None] = ContextVar("kiprdf_progress", default=None)


@contextmanager
def reported(function: Report) -> Iterator[None]:
    """Call a function for each batch of triples that calls in the ``with`` block transfer."""
    token = _report.set(function)
    try:
        yield
    finally:
        _report.reset(token)


def report(what: str, number: int) -> None:
    """Report a batch of triples."""
    function = _report.get()
    if function is not None:
        function(what, number)
