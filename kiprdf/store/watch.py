"""Runs what the engine cannot be told to stop, and stops waiting for it (docs/decisions/036).

A query is carried out inside of one native call for each row, which nothing interrupts. Where it
asks ``ALIVE`` on its way, it finds nothing more when the time is over, and ends. On a thread of its
own it can be left behind besides, by whoever waits for it.
"""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Generic, TypeVar

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import Spending
from kiprdf.errors import KipError
from kiprdf.rdf import vocab

T = TypeVar("T")

ALIVE = NamedNode(vocab.KIP + "function/alive")
"""``ALIVE(?x)`` is true until nobody waits for the query any more."""
PASSED = NamedNode(vocab.KIP + "function/passed")
"""The same, and counts what hops pass."""
MOST_LEFT_BEHIND = 8
"""Queries that ran out of time and run on; beyond them no other is begun."""
_CHUNK = 1024
_TRUE = Literal("true", datatype=vocab.BOOLEAN)

_left_behind: set[threading.Thread] = set()


class Life:
    """Whether somebody waits for a query; ``functions`` are what the engine calls to know."""

    def __init__(self, spending: Spending | None) -> None:
        self._most_passed = None if spending is None else spending.budget.max_hops_rows
        self._spending = spending
        self._deadline = math.inf if spending is None else spending.deadline
        self._passed = 0
        self._fault: KipError | None = None
        self._is_over = False
        self.functions: dict[NamedNode, Callable[..., Any]] = {
            ALIVE: self._ask,
            PASSED: self._pass,
        }

    def end(self, fault: KipError | None = None) -> None:
        """Let the query find nothing more; what it has found is no answer."""
        self._fault = fault
        self._is_over = True

    def _ask(self, node: NamedNode) -> Literal | NamedNode:
        if time.monotonic() > self._deadline:
            self.end()
        # An IRI is no truth value: the solution is dropped.
        return node if self._is_over else _TRUE

    def _pass(self, node: NamedNode) -> Literal | NamedNode:
        self._passed += 1
        if self._most_passed is not None and self._passed > self._most_passed:
            hint = "Begin the hops at fewer concepts, or shorten their range."
            message = f"The hops pass more than {self._most_passed} nodes."
            self.end(KipError("KIP_4002", message, hint))
        return self._ask(node)

    def taken(self, found: Iterable[Any], width: int | None = None) -> list[Any]:
        """What a query finds, as long as somebody waits and there is not too much of it.

        ``width`` are the variables of a solution, by default all of its cells.
        """
        rows: list[Any] = []
        found = iter(found)
        while chunk := list(islice(found, _CHUNK)):
            rows += chunk
            self._check(len(rows), len(tuple(rows[0])) if width is None else width)
        self._check(0, 0)
        return rows

    def _check(self, number: int, width: int) -> None:
        if self._spending is not None:
            self._spending.check()
        if self._fault is not None:
            raise self._fault
        if self._spending is not None:
            self._spending.check_rows(number, width)


def call(function: Callable[[Life], T], spending: Spending | None, *, apart: bool = True) -> T:
    """What a function returns, or KIP_4001 when it takes longer than there is time.

    Only ``apart``, on a thread of its own, can it be left behind; a thread takes longer to begin
    than many a query to end. Without a time budget it runs as any call does.
    """
    life = Life(spending)
    if not apart or spending is None or spending.deadline == math.inf:
        return _tidied(function, life)
    # The later commands of a batch that is out of time begin nothing.
    spending.check()
    ended = [thread for thread in _left_behind if not thread.is_alive()]
    _left_behind.difference_update(ended)
    if len(_left_behind) >= MOST_LEFT_BEHIND:
        message = f"{MOST_LEFT_BEHIND} queries that ran out of time have not ended yet."
        raise KipError("KIP_4002", message, "Wait for them, and ask for less at once.")
    return _Run(function, life).wait(spending)


def _tidied(function: Callable[[Life], T], life: Life) -> T:
    try:
        return function(life)
    except BaseException as fault:
        # The frames hold iterators of the engine, which must end on the thread that made them.
        traceback.clear_frames(fault.__traceback__)
        raise


class _Run(Generic[T]):
    """One call on a thread of its own."""

    def __init__(self, function: Callable[[Life], T], life: Life) -> None:
        self._function = function
        self._life = life
        self._results: list[T] = []
        self._fault: BaseException | None = None

    def wait(self, spending: Spending) -> T:
        thread = threading.Thread(target=self._run, name="kiprdf query", daemon=True)
        thread.start()
        try:
            thread.join(min(spending.seconds_left(), threading.TIMEOUT_MAX))
        finally:
            # An interruption from the keyboard leaves it behind too.
            if thread.is_alive():
                self._life.end()
                _left_behind.add(thread)
        if thread.is_alive():
            raise spending.expired()
        if self._fault is not None:
            raise self._fault
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(_tidied(self._function, self._life))
        except BaseException as fault:
            self._fault = fault
