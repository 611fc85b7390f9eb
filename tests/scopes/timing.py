"""Whether one call takes longer than another, beyond noise."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from statistics import median

from tests.long_runs import amount

ROUNDS = amount("QUESTIONS", 250) // 32
ATTEMPTS = range(5)
"""How often is measured: noise makes a difference once in twenty times, and never each time."""
LEAST = 0.05
"""The part of a call's time by which another one differs at least."""


def differs(one: Callable[[], object], other: Callable[[], object]) -> bool:
    """Whether the medians of two calls are further apart than those of 95 of 100 random halves."""
    choose = random.Random(1)
    calls = [(0, one), (1, other)]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        choose.shuffle(calls)
        for number, call in calls:
            begun = time.perf_counter()
            call()
            times[number].append(time.perf_counter() - begun)
    all_times = times[0] + times[1]
    halves = []
    for _ in range(100):
        choose.shuffle(all_times)
        halves.append(_apart(all_times[::2], all_times[1::2]))
    apart = _apart(*times)
    return apart > LEAST * median(all_times) and apart > sorted(halves)[95]


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    return abs(median(one) - median(other))
