"""Where a JSON-LD document is at fault: its parser says what is wrong, and not always where."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kiprdf.errors import KipError
from kiprdf.interchange.formats import json_text
from kiprdf.source import Span

_TIMES = 8
"""How many times as much as the document is parsed at most, to find the place."""
_AT_LEAST = 2_000_000


def place(text: str, fails: Callable[[str], bool]) -> Span:
    """The place of the smallest part of a document that fails as the whole does.

    In large documents with a fault far below it is perhaps that of a larger part.
    """
    try:
        document, places = json_text.read(text)
    except KipError:
        return Span(0, 1)
    left = max(_TIMES * len(text), _AT_LEAST)

    def fails_in_time(part: Any) -> bool:
        nonlocal left
        written = json.dumps(part)
        left -= len(written)
        if left < 0:
            raise _EnoughError
        return fails(written)

    path: list[str | int] = []
    with suppress(_EnoughError):
        _search(document, fails_in_time, path)
    return places.get(tuple(path), Span(0, 1))


class _EnoughError(Exception):
    """So much has been parsed that the place found so far has to do."""


def _search(value: Any, fails: Callable[[Any], bool], path: list[str | int]) -> None:
    """Follow the fault from a value to its parts, and put the way into ``path``."""
    if isinstance(value, list) and value:
        index = _first(len(value), lambda low, high: fails(value[low:high]))
        path.append(index)
        _search(value[index], lambda part: fails([part]), path)
    elif isinstance(value, dict):
        _search_members(value, fails, path)


def _search_members(
    value: dict[str, Any], fails: Callable[[Any], bool], path: list[str | int]
) -> None:
    context = {key: member for key, member in value.items() if key == "@context"}
    if context and fails(context):
        path.append("@context")
        return
    members = [(key, member) for key, member in value.items() if key not in context]
    if not members:
        return
    number = _first(len(members), lambda low, high: fails(context | dict(members[low:high])))
    key, member = members[number]
    if fails({**context, key: member}):
        path.append(key)
        _search(member, lambda part: fails({**context, key: part}), path)


def _first(count: int, fails: Callable[[int, int], bool]) -> int:
    """The number of a part that fails, by halves: of those that are left, one does.

    Each half is looked at by itself, so that in all no more than twice of everything is read.
    """
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if fails(low, middle):
            high = middle
        else:
            low = middle
    return low
