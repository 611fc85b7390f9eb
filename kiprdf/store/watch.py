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
from _thread import start_new_thread
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

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

_Answers: TypeAlias = Generator[Literal | NamedNode, NamedNode, None]


class _Thread:
    """Whether a thread runs; what it works on is not kept by it."""

    def __init__(self) -> None:
        self._is_running = False
        self.has_ended = threading.Lock()
        self.has_ended.acquire()

    def begin(self) -> None:
        self._is_running = True

    def end(self) -> None:
        self._is_running = False
        self.has_ended.release()

    def is_alive(self) -> bool:
        return self._is_running


_left_behind: set[_Thread] = set()


class Life:
    """Whether somebody waits for a query; the engine calls ``functions`` to know.

    It takes no notice when such a call raises, and drops the solution. A signal handler may raise
    at any instruction, the first one of a function too. So the calls go to generators, which catch
    whatever is raised while they run, and keep it until the query has ended.
    """

    def __init__(self, spending: Spending | None) -> None:
        self._most_passed = None if spending is None else spending.budget.max_hops_rows
        self._spending = spending
        self._deadline = math.inf if spending is None else spending.deadline
        self._passed = 0
        self._fault: BaseException | None = None
        self._is_over = False

    @property
    def functions(self) -> dict[NamedNode, Callable[..., Any]]:
        """What the engine calls, for one query."""
        asked, passed = self._answers(self._ask), self._answers(self._pass)
        next(asked)
        next(passed)
        return {ALIVE: asked.send, PASSED: passed.send}

    def end(self, fault: KipError | None = None) -> None:
        """Let the query find nothing more; what it has found is no answer."""
        self._fault = fault
        self._is_over = True

    def _answers(self, look: Callable[[], None]) -> _Answers:
        """What the engine gets for each node that it sends."""
        answer: Literal | NamedNode = _TRUE
        while not self._is_over:
            try:
                while True:
                    node = yield answer
                    look()
                    # An IRI is no truth value: the solution is dropped.
                    answer = node if self._is_over else _TRUE
            except GeneratorExit:
                return
            except BaseException as fault:
                self._fault = fault
                self._is_over = True

    def _ask(self) -> None:
        if time.monotonic() > self._deadline:
            self.end()

    def _pass(self) -> None:
        self._passed += 1
        if self._most_passed is not None and self._passed > self._most_passed:
            hint = "Begin the hops at fewer concepts, or shorten their range."
            message = f"The hops pass more than {self._most_passed} nodes."
            self.end(KipError("KIP_4002", message, hint))
        self._ask()

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
    ended = [thread for thread in list(_left_behind) if not thread.is_alive()]
    _left_behind.difference_update(ended)
    if len(_left_behind) >= MOST_LEFT_BEHIND:
        message = f"{MOST_LEFT_BEHIND} queries that ran out of time have not ended yet."
        raise KipError("KIP_4002", message, "Wait for them, and ask for less at once.")
    return _Run[T](life).wait(function, spending)


def _tidied(function: Callable[[Life], T], life: Life) -> T:
    try:
        return function(life)
    except BaseException as fault:
        # The frames hold iterators of the engine, which must end on the thread that made them.
        traceback.clear_frames(fault.__traceback__)
        raise


class _Run(Generic[T]):
    """One call on a thread of its own.

    The thread is started and waited for by single calls of C functions: an interrupt within
    ``threading.Thread.start`` may keep the thread from ever running, within ``join`` make it look
    as if it had ended.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._results: list[T] = []
        self._fault: BaseException | None = None
        self._thread = _Thread()

    def wait(self, function: Callable[[Life], T], spending: Spending) -> T:
        try:
            start_new_thread(self._run, (function,))
            seconds = min(spending.seconds_left(), threading.TIMEOUT_MAX)
            has_ended = self._thread.has_ended.acquire(timeout=seconds)
        except BaseException:
            self._leave()
            raise
        if not has_ended:
            self._leave()
            raise spending.expired()
        if self._fault is not None:
            raise self._fault
        return self._results[0]

    def _leave(self) -> None:
        """Let the thread end by itself."""
        self._life.end()
        _left_behind.add(self._thread)

    def _run(self, function: Callable[[Life], T]) -> None:
        self._thread.begin()
        try:
            self._results.append(_tidied(function, self._life))
        except BaseException as fault:
            self._fault = fault
        finally:
            # It may hold the engine, and with it a folder.
            del function
            self._thread.end()
