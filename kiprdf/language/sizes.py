"""Measures Python values before anything traverses them (KIP_4002 if they are too large).

A list can contain the same list twice, which contains another twice: 41 such lists take a few
kilobytes and expand to 2**41 values. So a value counts each time it is used, but each list is
measured only once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kiprdf.errors import KipError
from kiprdf.language import limits
from kiprdf.source import NOWHERE, Span

_PLAIN = frozenset((int, float, bool, type(None)))


class Size(NamedTuple):
    """The number of list items and object members, and of characters in strings and keys."""

    values: int
    characters: int


class Sizes:
    """The total size of several values, such as all parameters of a command."""

    def __init__(
        self,
        what: str,
        values: int = limits.PARAMETER_VALUES,
        characters: int = limits.PARAMETER_CHARACTERS,
    ) -> None:
        self._what = what
        self._limit = Size(values, characters)
        self._values = 0
        self._characters = 0
        # The value is kept with its size, so that no other object can get its id.
        self._measured: dict[tuple[int, int], tuple[Any, Size]] = {}

    @property
    def total(self) -> int:
        """The characters of all values, and one for each value."""
        return self._values + self._characters

    def add(self, value: Any, span: Span = NOWHERE) -> None:
        """Add a value; raise KIP_4002 if it nests too deeply or the total is too large."""
        if isinstance(value, str):
            self._characters += len(value)
        elif isinstance(value, list | tuple | Mapping):
            size = self._size(value, 0, span)
            self._values += size.values
            self._characters += size.characters
        if self._values > self._limit.values:
            raise self._excess(f"{self._limit.values} values", span)
        if self._characters > self._limit.characters:
            raise self._excess(f"{self._limit.characters} characters", span)

    def _excess(self, limit: str, span: Span) -> KipError:
        hint = "A value that is used twice counts twice. Send less at once."
        return KipError("KIP_4002", f"{self._what} has more than {limit}.", hint, span)

    def _size(self, value: Any, depth: int, span: Span) -> Size:
        if depth == limits.NESTING:
            message = f"A value nests deeper than {limits.NESTING} levels."
            raise KipError("KIP_4002", message, "Flatten the value.", span)
        key = id(value), depth
        if key not in self._measured:
            self._measured[key] = value, self._measure(value, depth, span)
        return self._measured[key][1]

    def _measure(self, value: Any, depth: int, span: Span) -> Size:
        number, characters, items = len(value), 0, value
        if isinstance(value, Mapping):
            characters = sum([len(key) for key in value if isinstance(key, str)])
            items = value.values()
        if set(map(type, items)) <= _PLAIN:
            return Size(number, characters)
        for item in items:
            if isinstance(item, str):
                characters += len(item)
            elif isinstance(item, list | tuple | Mapping):
                size = self._size(item, depth + 1, span)
                number += size.values
                characters += size.characters
        return Size(number, characters)
