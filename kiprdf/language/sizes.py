"""How large a Python value of a caller is, before anything walks through it (KIP_4002 beyond).

A value can hold one list twice, which holds another twice: 41 such lists are a few kilobytes and
2**41 values. So a value counts each time it is used, and each list is looked at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kiprdf.errors import KipError
from kiprdf.language import limits
from kiprdf.source import NOWHERE, Span

_PLAIN = frozenset((int, float, bool, type(None)))


class Size(NamedTuple):
    """Items of lists and members of objects, and the characters of strings and keys."""

    values: int
    characters: int


class Sizes:
    """Measures values together, such as all parameters of a command."""

    def __init__(
        self,
        what: str,
        values: int = limits.PARAMETER_VALUES,
        characters: int = limits.PARAMETER_CHARACTERS,
    ) -> None:
        self._what = what
        self._most = Size(values, characters)
        self._values = 0
        self._characters = 0
        # With each size stands the value, so that no other can get its id.
        self._known: dict[tuple[int, int], tuple[Any, Size]] = {}

    def add(self, value: Any, span: Span = NOWHERE) -> None:
        """Count a value; raise KIP_4002 when it nests too deeply or all of them are too much."""
        if isinstance(value, str):
            self._characters += len(value)
        elif isinstance(value, list | tuple | Mapping):
            size = self._size(value, 0, span)
            self._values += size.values
            self._characters += size.characters
        if self._values > self._most.values:
            raise self._excess(f"{self._most.values} values", span)
        if self._characters > self._most.characters:
            raise self._excess(f"{self._most.characters} characters", span)

    def _excess(self, most: str, span: Span) -> KipError:
        hint = "What is used twice counts twice. Send less at once."
        return KipError("KIP_4002", f"{self._what} has more than {most}.", hint, span)

    def _size(self, value: Any, depth: int, span: Span) -> Size:
        if depth == limits.NESTING:
            message = f"A value nests deeper than {limits.NESTING} levels."
            raise KipError("KIP_4002", message, "Flatten the value.", span)
        place = id(value), depth
        if place not in self._known:
            self._known[place] = value, self._measured(value, depth, span)
        return self._known[place][1]

    def _measured(self, value: Any, depth: int, span: Span) -> Size:
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
