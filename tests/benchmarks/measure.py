"""Two ways to one end, by turns, and the ratio of the middle round."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple


class Ratio(NamedTuple):
    """What kiprdf and the yardstick take, and how many times as much the first may take.

    Both in seconds, or in bytes. A promise in absolute figures has its figure as the yardstick.
    """

    name: str
    ours: float
    yardstick: float
    target: float
    unit: Literal["s", "bytes"] = "s"

    @property
    def ratio(self) -> float:
        return self.ours / self.yardstick

    @property
    def is_reached(self) -> bool:
        return self.ratio <= self.target


def side_by_side(
    name: str,
    ours: Callable[[int], Any],
    yardstick: Callable[[int], Any],
    *,
    target: float,
    rounds: int = 15,
    seconds: float = 0.5,
) -> Ratio:
    """Each round runs both, as often as fits into some time; the argument is a running number.

    Returns the round with the median ratio; other load on the machine slows both of a round alike.
    """
    times = max(1, int(seconds / max(_once(yardstick, 0), _once(ours, 0), 1e-9) / rounds))
    ratios: list[Ratio] = []
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            seconds_each = []
            for function in (ours, yardstick):
                started = time.perf_counter()
                for turn in range(times):
                    function(number * times + turn)
                seconds_each.append((time.perf_counter() - started) / times)
            ratios.append(Ratio(name, *seconds_each, target))
    finally:
        gc.enable()
    return sorted(ratios, key=lambda ratio: ratio.ratio)[rounds // 2]


def _once(function: Callable[[int], Any], number: int) -> float:
    started = time.perf_counter()
    function(number)
    return time.perf_counter() - started
