"""What a request may spend: time, and how many solutions it may visit (KIP_4001, KIP_4002).

The clock of a request is seen by everything that the request runs, through a context variable:
what reads a store asks it, and nobody in between hands it on.
"""

from __future__ import annotations

import math
import reprlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from kiprdf.errors import KipError

T = TypeVar("T")

WIDTH = 8
"""A solution of more variables counts for several."""
_SOME = 256
"""How many items are worked on between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What each request may spend; None is no limit.

    ``timeout_s`` are the seconds of one request (KIP_4001 beyond). The others are KIP_4002
    beyond: ``max_rows`` are the solutions that one WHERE may have, before they are grouped,
    ordered and paged; ``max_product_rows`` the combinations of patterns that share no variable,
    counted before they are made; ``max_hops_rows`` the nodes that the hops of one WHERE may pass.

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
        """Whether some rows, hops or combinations are within every limit."""
        limits = (self.max_rows, self.max_product_rows, self.max_hops_rows)
        return all(limit is None or number <= limit for limit in limits)


@dataclass(slots=True)
class Spending:
    """One running request; ``deadline`` is on the clock of ``time.monotonic``."""

    budget: Budget
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        seconds = self.budget.timeout_s
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        """Raise KIP_4001 when the time is over."""
        if time.monotonic() > self.deadline:
            raise self.expired()

    def check_rows(self, number: int, width: int) -> None:
        """Raise KIP_4002 when a WHERE has more solutions, of so many variables, than it may."""
        most = self.budget.max_rows
        # What fills memory is the cells.
        if most is not None and number * -(-width // WIDTH) > most:
            raise KipError("KIP_4002", f"There are more than {most} solutions.")

    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def expired(self) -> KipError:
        message = f"The request took longer than {self.budget.timeout_s:g} s."
        return KipError("KIP_4001", message)


_current: ContextVar[Spending | None] = ContextVar("kiprdf_spending", default=None)


def current() -> Spending | None:
    """What the running request spends; None outside of one."""
    return _current.get()


def check() -> None:
    """Raise KIP_4001 when the time of the running request is over."""
    spending = _current.get()
    if spending is not None:
        spending.check()


def paced(items: Iterable[T]) -> Iterable[T]:
    """Items as they come, until the time of the running request is over."""
    size = getattr(items, "__len__", None)
    # Most commands have few of anything: these need no look at the clock, and no generator.
    return items if size is not None and size() <= _SOME else _paced(items)


def _paced(items: Iterable[T]) -> Iterator[T]:
    coming = iter(items)
    while some := list(islice(coming, _SOME)):
        check()
        yield from some


def spend(budget: Budget, function: Callable[[], T]) -> T:
    """Call a function as one request on a budget.

    The clock is set in a copy of the context, which the interpreter itself leaves again: whatever
    instruction a signal handler raises at, the clock does not run on.

    >>> spend(Budget(timeout_s=2.5), lambda: current().budget.timeout_s)
    2.5
    """
    return copy_context().run(_call, Spending(budget), function)


def without_limit(function: Callable[[], T]) -> T:
    """Call a function whose work serves every later request too, without the clock of this one."""
    return copy_context().run(_call, None, function)


def _call(spending: Spending | None, function: Callable[[], T]) -> T:
    _current.set(spending)
    return function()
