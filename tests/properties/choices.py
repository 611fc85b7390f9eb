"""Choices of a generator that Hypothesis draws."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


class Choices:
    """Draws from options; what is drawn first is what examples shrink to."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def pick(self, options: Any) -> Any:
        return self._draw(st.sampled_from(list(options)))

    def one_in(self, number: int) -> bool:
        """True once in ``number`` draws; examples shrink to False."""
        return bool(self._draw(st.integers(0, number - 1)) == number - 1)

    def weighted(self, *options: tuple[int, str]) -> str:
        return str(self.pick([name for weight, name in options for _ in range(weight)]))
