"""Choices of a generator: drawn by Hypothesis, or at random."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st


class Choices:
    """Draws from options; what is drawn first is what examples shrink to."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def pick(self, options: Any) -> Any:
        return self._draw(st.sampled_from(list(options)))

    def number(self, least: int, most: int) -> int:
        return int(self._draw(st.integers(least, most)))

    def one_in(self, number: int) -> bool:
        """True once in ``number`` draws; examples shrink to False."""
        return self.number(0, number - 1) == number - 1

    def weighted(self, *options: tuple[int, str]) -> str:
        return str(self.pick([name for weight, name in options for _ in range(weight)]))


class RandomChoices(Choices):
    """Chooses by a generator of random numbers, which costs a tenth of the time."""

    _draw: random.Random

    def pick(self, options: Any) -> Any:
        return self._draw.choice(list(options))

    def number(self, least: int, most: int) -> int:
        return self._draw.randint(least, most)
