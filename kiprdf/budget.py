"""The limits of a request: time (KIP_4001), and the number of solutions it visits (KIP_4002).

The spending of the running request is a context variable. Every function that reads the
store checks it; nothing in between passes it on.
"""

from __future__ import annotations

import math
import reprlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from kiprdf.errors import KipError

T = TypeVar("T")

WIDTH = 8
"""The variables of one solution; a wider one counts as several."""
_LEAST_SECONDS = 1e-6
"""Seconds of a part of a request whose time is over; a budget is above 0."""
_CHECK_INTERVAL = 256
"""How many items are processed between two checks of the deadline."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of each request; None means no limit.

    ``timeout_s`` limits the seconds of one request (KIP_4001). The others are KIP_4002:
    ``max_rows`` limits the solutions of one WHERE, before they are grouped, ordered and paged;
    ``max_product_rows`` the combinations of patterns that share no variable, counted before they
    are computed; ``max_hops_rows`` the nodes that the hops of one WHERE may visit.

    >>> Budget(timeout_s=2.5).max_rows
    1000000
    """

    timeout_s: float | None = 30.0
    max_rows: int | None = 1_000_000
    max_product_rows: int | None = 20_000_000
    max_hops_rows: int | None = 10_000_000

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is None:
                continue
            kinds = int | float if name == "timeout_s" else int
            if not isinstance(value, kinds) or isinstance(value, bool) or not value > 0:
                raise ValueError(f"{name} is a number above 0, or None; not {reprlib.repr(value)}.")

    def allows(self, number: int) -> bool:
        """Whether a number of rows, hops or combinations is within every limit."""
        for limit in (self.max_rows, self.max_product_rows, self.max_hops_rows):
            if limit is not None and number > limit:
                return False
        return True


class Cancellation:
    """Cancels a request that runs on another thread; see ``cancellable``.

    The time of the request runs from here on: it includes the wait for a thread.

    >>> cancellation = Cancellation()
    >>> cancellation.cancel()
    >>> cancellable(cancellation, lambda: spend(Budget(), check))
    Traceback (most recent call last):
    kiprdf.errors.KipError: KIP_4001 The request was cancelled. Hint: ...
    """

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.is_cancelled = False
        self._waiting: list[Callable[[], object]] = []

    def cancel(self) -> None:
        """Let the request end with KIP_4001; a commit that has begun is completed."""
        self.is_cancelled = True
        for wake in list(self._waiting):
            wake()

    def call_on_cancel(self, wake: Callable[[], object]) -> None:
        """Call a function when the request is cancelled, at once if it is already."""
        self._waiting.append(wake)
        if self.is_cancelled:
            wake()


@dataclass(slots=True)
class Spending:
    """One running request, or a part of one that began later.

    Times are on the clock of ``time.monotonic``.
    """

    budget: Budget
    cancellation: Cancellation | None = None
    begun: float | None = None
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        seconds = self.budget.timeout_s
        begun = self.begun
        if begun is None:
            begun = time.monotonic() if self.cancellation is None else self.cancellation.begun
        self.deadline = math.inf if seconds is None else begun + seconds
        if self.cancellation is not None:
            self.cancellation.call_on_cancel(self._end)

    def _end(self) -> None:
        self.deadline = -math.inf

    def check(self) -> None:
        """Raise KIP_4001 when the time is over."""
        if time.monotonic() > self.deadline:
            raise self.expired()

    def check_rows(self, number: int, width: int) -> None:
        """Raise KIP_4002 when ``number`` solutions of ``width`` variables exceed the budget."""
        max_rows = self.budget.max_rows
        # Cells fill the memory, not rows.
        if max_rows is not None and number * -(-width // WIDTH) > max_rows:
            hint = "Narrow the WHERE. A FIND with LIMIT and without ORDER BY reads only its page."
            raise KipError("KIP_4002", f"There are more than {max_rows} solutions.", hint)

    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def expired(self) -> KipError:
        if self.deadline == -math.inf:
            return KipError("KIP_4001", "The request was cancelled.", "Send it again.")
        message = f"The request took longer than {self.budget.timeout_s:g} s."
        return KipError("KIP_4001", message)


_current: ContextVar[Spending | None] = ContextVar("kiprdf_spending", default=None)
_cancellation: ContextVar[Cancellation | None] = ContextVar("kiprdf_cancellation", default=None)


def current() -> Spending | None:
    """The spending of the running request; None outside a request."""
    return _current.get()


def check() -> None:
    """Raise KIP_4001 when the time of the running request is over."""
    spending = _current.get()
    if spending is not None:
        spending.check()


def paced(items: Iterable[T]) -> Iterable[T]:
    """The items; raises KIP_4001 between them when the time of the running request is over."""
    size = getattr(items, "__len__", None)
    # Most commands have few items: these need no check, and no generator.
    is_short = size is not None and size() <= _CHECK_INTERVAL
    return items if is_short else chain.from_iterable(_batches(items))


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, _CHECK_INTERVAL)):
        check()
        yield batch


def spend(budget: Budget, function: Callable[[], T]) -> T:
    """Call a function as one request with a budget.

    The spending is set in a copy of the context, which the interpreter itself leaves: a signal
    handler may raise at any instruction, and no later request inherits the deadline.

    >>> spend(Budget(timeout_s=2.5), lambda: current().budget.timeout_s)
    2.5
    """
    return copy_context().run(_call, Spending(budget, _cancellation.get()), function)


def spend_part(budget: Budget, function: Callable[[], T]) -> T:
    """Call a function as a part of the running request, with another budget.

    Its time begins now, also in a request that can be cancelled and has waited for a thread, and
    ends with the time of the request at the latest.

    >>> part = Budget(timeout_s=9)
    >>> spend(Budget(timeout_s=2), lambda: spend_part(part, lambda: current().seconds_left() <= 2))
    True
    """
    spending = current()
    if spending is None:
        return spend(budget, function)
    left = spending.seconds_left()
    seconds = left if budget.timeout_s is None else min(budget.timeout_s, left)
    if seconds != math.inf:
        budget = replace(budget, timeout_s=max(seconds, _LEAST_SECONDS))
    part = Spending(budget, spending.cancellation, time.monotonic())
    return copy_context().run(_call, part, function)


def spend_half(function: Callable[[], T]) -> T:
    """Call a function in half of the time that the running request has left, if that is limited.

    The other half is for the answer.
    """
    spending = current()
    if spending is None or spending.deadline == math.inf:
        return function()
    spending.check()
    seconds = max(spending.seconds_left() / 2, _LEAST_SECONDS)
    half = replace(spending.budget, timeout_s=seconds)
    part = Spending(half, spending.cancellation, time.monotonic())
    return copy_context().run(_call, part, function)


def cancellable(cancellation: Cancellation, function: Callable[[], T]) -> T:
    """Call a function; each request that it runs can be cancelled from another thread."""

    def run() -> T:
        _cancellation.set(cancellation)
        return function()

    return copy_context().run(run)


def without_limit(function: Callable[[], T]) -> T:
    """Call a function without the deadline of the request; its work serves later requests too."""
    return copy_context().run(_call, None, function)


def without_row_limit(function: Callable[[], T]) -> T:
    """Call a function that counts rows instead of returning them; its deadline stays."""
    spending = current()
    if spending is None:
        return function()
    unlimited = Spending(replace(spending.budget, max_rows=None), spending.cancellation)
    unlimited.deadline = spending.deadline
    return copy_context().run(_call, unlimited, function)


def _call(spending: Spending | None, function: Callable[[], T]) -> T:
    _current.set(spending)
    return function()


class _Limit(NamedTuple):
    """The budget of a nexus in a ``with`` block; it applies while ``block`` is locked."""

    owner: object
    budget: Budget
    block: threading.Lock


_limits: ContextVar[tuple[_Limit, ...]] = ContextVar("kiprdf_limits", default=())


class Budgets:
    """The budget of each request of one nexus, and those of its ``limited`` blocks."""

    def __init__(self, budget: Budget | None) -> None:
        self.budget = budget or Budget()
        self._of_work = replace(self.budget, timeout_s=None)

    def limited(self, **changes: Any) -> AbstractContextManager[object]:
        """A ``with`` block in which each call spends a budget with other fields."""
        # The block begins and ends with calls of C functions, which no interrupt can split.
        block = threading.Lock()
        limit = _Limit(self, replace(self._in_block(self.budget), **changes), block)
        _limits.set((*(outer for outer in _limits.get() if outer.block.locked()), limit))
        return block

    def spend_as_request(self, function: Callable[[], T]) -> T:
        """Run a request; inside another request it spends the outer one's budget."""
        return function() if current() else spend(self._in_block(self.budget), function)

    def spend_as_work(self, function: Callable[[], T]) -> T:
        """The same for work with without its own time limit, such as a snapshot."""
        return function() if current() else spend(self._in_block(self._of_work), function)

    def _in_block(self, default: Budget) -> Budget:
        """The budget of the innermost ``limited`` block of this nexus."""
        for limit in reversed(_limits.get()):
            if limit.owner is self and limit.block.locked():
                return limit.budget
        return default
