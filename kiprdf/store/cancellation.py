"""Cancels queries that run out of time (docs/decisions/036).

The engine runs a query inside one native call for each row, and nothing interrupts that call. A
*cooperative* query calls ``CHECK_DEADLINE`` as it runs: once the time is over, every further
solution is dropped, and the query ends. A *threaded* query runs on a separate thread, which its
caller can abandon.
"""

from __future__ import annotations

import math
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import Spending
from kiprdf.errors import KipError, clear_frames
from kiprdf.rdf import vocab
from kiprdf.store.base import SIMPLE, Cell, Request, Tests

T = TypeVar("T")

CHECK_DEADLINE = NamedNode(vocab.FUNCTION + "check-deadline")
"""``CHECK_DEADLINE(?x)`` is true until the query is cancelled."""
COUNT_HOP = NamedNode(vocab.FUNCTION + "count-hop")
"""The same, and counts the nodes that hops pass."""
MAX_ABANDONED = 8
"""Abandoned queries that may still run; beyond them no other threaded query starts."""
_CHUNK = 1024
_TRUE = Literal("true", datatype=vocab.BOOLEAN)

_FALSE = Literal("false", datatype=vocab.BOOLEAN)
HOLD = NamedNode(vocab.FUNCTION + "hold")
"""``HOLD(?x)`` is true, and keeps the left operand of the test that is called next.

The engine calls a function of Python that catches all exceptions: a generator, which takes one
argument.
"""

_Answers: TypeAlias = Generator[Literal | NamedNode, Any, None]


class CancellationToken:
    """Whether a query should continue; the engine calls ``functions`` to check.

    The engine ignores exceptions in such a call, and drops the solution. A signal handler may raise
    at any instruction, even at the first one of a function. So the engine calls generators, which
    catch every exception raised while they run; it is raised again when the query has ended.
    """

    def __init__(self, spending: Spending | None) -> None:
        self._max_hops = None if spending is None else spending.budget.max_hops_rows
        self._spending = spending
        self._hops = 0
        self._held: Cell = None
        self._fault: BaseException | None = None
        self._is_cancelled = False

    def functions(self, tests: Tests) -> dict[NamedNode, Callable[..., Any]]:
        """The custom functions of one query: those that cancel it, and ``tests`` of two terms."""
        functions = {
            CHECK_DEADLINE: self._answers(self._check_deadline).send,
            COUNT_HOP: self._answers(self._count_hop).send,
        }
        if tests:
            functions[HOLD] = self._answers(self._hold).send
            for name, test in tests.items():
                functions[name] = self._answers(partial(self._test, test)).send
        for send in functions.values():
            send(None)  # a generator must run up to its first yield
        return functions

    def cancel(self, fault: KipError | None = None) -> None:
        """Let the query find no more solutions; ``fetch_all`` then raises instead of returning."""
        self._fault = fault
        self._is_cancelled = True

    def _hold(self, term: Cell) -> bool:
        self._held = term
        return True

    def _test(self, test: Callable[[Cell, Cell], bool], term: Cell) -> bool:
        return test(self._held, term)

    def _answers(self, judge: Callable[[Any], bool]) -> _Answers:
        """Receive terms from the engine, and answer each one until the cancellation."""
        answer: Literal | NamedNode = _TRUE
        while not self._is_cancelled:
            try:
                while True:
                    term = yield answer
                    result = _TRUE if judge(term) else _FALSE
                    # An IRI is not a truth value: the solution is dropped.
                    answer = vocab.NONE if self._is_cancelled else result
            except GeneratorExit:
                return
            except BaseException as fault:
                self._fault = fault
                self._is_cancelled = True

    def _check_deadline(self, node: Cell) -> bool:
        if self._spending is not None and time.monotonic() > self._spending.deadline:
            self.cancel()
        return True

    def _count_hop(self, node: Cell) -> bool:
        self._hops += 1
        if self._max_hops is not None and self._hops > self._max_hops:
            hint = "Begin the hops at fewer concepts, or shorten their range."
            message = f"The hops visit more than {self._max_hops} nodes."
            self.cancel(KipError("KIP_4002", message, hint))
        return self._check_deadline(node)

    def fetch_all(self, solutions: Iterable[Any], request: Request = SIMPLE) -> list[Any]:
        """All solutions of a query, or those that its request keeps, within the budget.

        Raises KIP_4001 when the time is over, KIP_4002 when there are too many solutions.
        """
        width, keep = request.width, request.keep
        rows: list[Any] = []
        number = 0
        solutions = iter(solutions)
        while chunk := list(islice(solutions, _CHUNK)):
            rows += chunk
            number += len(chunk)
            self._check(number, len(tuple(chunk[0])) if width is None else width)
            if keep is not None:
                rows = keep(rows)
        self._check(0, 0)
        return rows

    def _check(self, number: int, width: int) -> None:
        if self._spending is not None:
            self._spending.check()
        if self._fault is not None:
            try:
                raise self._fault
            finally:
                self._fault = None  # or it keeps itself: its traceback has this token
        if self._spending is not None:
            self._spending.check_rows(number, width)


class _Thread:
    """The state of a thread; it keeps nothing of the thread's work alive."""

    def __init__(self) -> None:
        self._is_running = False
        self.events: SimpleQueue[None] = SimpleQueue()
        """Gets an item when the thread ends, and when its request is cancelled."""

    def wake(self) -> None:
        """Let the thread that waits go on."""
        self.events.put(None)

    def begin(self) -> None:
        self._is_running = True

    def end(self) -> None:
        self._is_running = False
        self.wake()

    def is_alive(self) -> bool:
        return self._is_running


_abandoned: set[_Thread] = set()


def is_any_abandoned() -> bool:
    """Whether a query that ran out of time still runs."""
    return any(thread.is_alive() for thread in list(_abandoned))


def run_cancellable(
    function: Callable[[CancellationToken], T], spending: Spending | None, *, threaded: bool = True
) -> T:
    """Call a function; raise KIP_4001 when it takes longer than the budget allows.

    Only a ``threaded`` call can be abandoned. Starting a thread takes longer than many queries, and
    without a time limit no thread is started.
    """
    token = CancellationToken(spending)
    if not threaded or spending is None or spending.deadline == math.inf:
        return _call(function, token)
    # The later commands of a batch that is out of time start nothing.
    spending.check()
    ended = [thread for thread in list(_abandoned) if not thread.is_alive()]
    _abandoned.difference_update(ended)
    if len(_abandoned) >= MAX_ABANDONED:
        message = f"{MAX_ABANDONED} queries that ran out of time have not ended yet."
        raise KipError("KIP_4002", message, "Wait for them, and ask for less at once.")
    return _ThreadedCall[T](token).wait(function, spending)


def _call(function: Callable[[CancellationToken], T], token: CancellationToken) -> T:
    try:
        return function(token)
    except BaseException as fault:
        clear_frames(fault)
        raise


class _ThreadedCall(Generic[T]):
    """One call on a separate thread.

    The thread is started, and waited for, by single calls of C functions: an interrupt within
    ``threading.Thread.start`` may keep the thread from ever running, within ``join`` make it look
    as if it had ended.
    """

    def __init__(self, token: CancellationToken) -> None:
        self._token = token
        self._results: list[T] = []
        self._fault: BaseException | None = None
        self._thread = _Thread()

    def wait(self, function: Callable[[CancellationToken], T], spending: Spending) -> T:
        try:
            start_new_thread(self._run, ([function],))
            if spending.cancellation is not None:
                spending.cancellation.call_on_cancel(self._thread.wake)
            with suppress(Empty):
                seconds = min(spending.seconds_left(), threading.TIMEOUT_MAX)
                self._thread.events.get(timeout=seconds)
        except BaseException:
            self._abandon()
            raise
        if self._fault is not None:
            try:
                raise self._fault
            finally:
                self._fault = None  # or it keeps itself, the engine, and with that the folder
        if not self._results:
            self._abandon()
            raise spending.expired()
        return self._results[0]

    def _abandon(self) -> None:
        """Cancel the query, and let the thread end by itself."""
        self._token.cancel()
        _abandoned.add(self._thread)

    def _run(self, functions: list[Callable[[CancellationToken], T]]) -> None:
        self._thread.begin()
        try:
            # The thread keeps its arguments, and a function may keep the engine.
            self._results.append(_call(functions.pop(), self._token))
        except BaseException as fault:
            if self._thread not in _abandoned:
                self._fault = fault
        finally:
            # The traceback of the fault has this frame.
            thread = self._thread
            del self
            thread.end()
