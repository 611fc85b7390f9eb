"""Reads JSON (RFC 8259) with the place of each member, and refuses duplicate keys.

Python's own reader keeps the last of two equal keys, and returns no places.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, TypeAlias

from kiprdf.errors import KipError, shown
from kiprdf.source import Span

Path: TypeAlias = tuple[str | int, ...]
Positions: TypeAlias = dict[Path, Span]
"""Where a member is: the key of an object's member, the value of an array's."""

NESTING = 64
"""How deep objects and arrays nest at most."""

_BLANK = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null", re.ASCII)


def read(text: str) -> tuple[Any, Positions]:
    """The value of a JSON text, and the places of its members.

    Raises KIP_1001 with line and column for a text that is not JSON or has a key twice,
    KIP_4002 for one that nests deeper than ``NESTING``.

    >>> read('{"a": [1, "x"]}')
    ({'a': [1, 'x']}, {('a',): Span(start=1, end=4), ('a', 0): Span(start=7, end=8),
     ('a', 1): Span(start=10, end=13)})
    """
    reader = _Reader(text.removeprefix("\ufeff"))
    value, end = reader.value(reader.skip(0), ())
    end = reader.skip(end)
    if end != len(reader.text):
        raise reader.fault(end, "there is more text after its end")
    return value, reader.positions


def reason(error: json.JSONDecodeError) -> str:
    """The message of Python's reader, as the end of a sentence."""
    why = re.sub(r"( starting)? at$", "", error.msg)
    return why[:1].lower() + why[1:]


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.positions: Positions = {}

    def fault(self, at: int, why: str, end: int | None = None) -> KipError:
        span = Span(at, at + 1 if end is None else end)
        hint = "Check the text at this place."
        return KipError("KIP_1001", f"This is not valid JSON: {why}.", hint, span, self.text)

    def skip(self, at: int) -> int:
        """The next place that is not blank."""
        match = _BLANK.match(self.text, at)
        assert match is not None
        return match.end()

    def value(self, at: int, path: Path) -> tuple[Any, int]:
        first = self.text[at : at + 1]
        if first in ("{", "["):
            if len(path) >= NESTING:
                message = f"The JSON nests deeper than {NESTING} levels."
                raise KipError("KIP_4002", message, None, Span(at, at + 1), self.text)
            return self._object(at, path) if first == "{" else self._array(at, path)
        if first == '"':
            return self._string(at)
        match = _SCALAR.match(self.text, at)
        if match is None:
            raise self.fault(at, "a value is missing here")
        return self._scalar(match.group(), at), match.end()

    def _scalar(self, text: str, at: int) -> Any:
        try:
            return json.loads(text)
        except ValueError:  # an integer with more digits than Python reads
            raise self.fault(at, "the number is too long", at + len(text)) from None

    def _string(self, at: int) -> tuple[str, int]:
        try:
            string: tuple[str, int] = scanstring(self.text, at + 1, True)
            return string
        except json.JSONDecodeError as error:
            raise self.fault(error.pos, reason(error)) from None

    def _object(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        at = self.skip(at + 1)
        if self.text.startswith("}", at):
            return members, at + 1
        while True:
            key, end = self._key(at, members, path)
            members[key], at = self.value(end, (*path, key))
            at, done = self._next(at, "}")
            if done:
                return members, at

    def _key(self, at: int, members: dict[str, Any], path: Path) -> tuple[str, int]:
        """A new key and the place of its value."""
        if not self.text.startswith('"', at):
            raise self.fault(at, "a key in double quotes is missing here")
        key, end = self._string(at)
        if key in members:
            raise self.fault(at, f"the key '{shown(key)}' is in the object twice", end)
        self.positions[(*path, key)] = Span(at, end)
        colon = self.skip(end)
        if not self.text.startswith(":", colon):
            raise self.fault(colon, "a colon is missing here")
        return key, self.skip(colon + 1)

    def _array(self, at: int, path: Path) -> tuple[list[Any], int]:
        items: list[Any] = []
        at = self.skip(at + 1)
        if self.text.startswith("]", at):
            return items, at + 1
        while True:
            item, end = self.value(at, (*path, len(items)))
            self.positions[(*path, len(items))] = Span(at, end)
            items.append(item)
            at, done = self._next(end, "]")
            if done:
                return items, at

    def _next(self, at: int, closing: str) -> tuple[int, bool]:
        """The place after a comma or a closing bracket, and whether it was the bracket."""
        at = self.skip(at)
        if self.text.startswith(closing, at):
            return at + 1, True
        if not self.text.startswith(",", at):
            raise self.fault(at, f"a comma or '{closing}' is missing here")
        return self.skip(at + 1), False
