"""Where a JSON-LD document is at fault: its parser says what is wrong, and not always where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kiprdf.errors import KipError
from kiprdf.interchange.formats import json_text
from kiprdf.interchange.formats.json_text import Path
from kiprdf.source import Span


def place(text: str, fails: Callable[[Any], bool]) -> Span:
    """The place of the smallest part of a document that fails as the whole does."""
    try:
        document, places = json_text.read(text)
    except KipError:
        return Span(0, 1)
    return places.get(_path(document, fails), Span(0, 1))


def _path(value: Any, fails: Callable[[Any], bool]) -> Path:
    if isinstance(value, list) and value:
        index = _first(value, fails)
        return (index, *_path(value[index], lambda part: fails([part])))
    if not isinstance(value, dict):
        return ()
    context = {key: member for key, member in value.items() if key == "@context"}
    if context and fails(context):
        return ("@context",)
    for key, member in value.items():
        inside = _member(key, context, fails)
        if key not in context and inside(member):
            return (key, *_path(member, inside))
    return ()


def _member(
    key: str, context: dict[str, Any], fails: Callable[[Any], bool]
) -> Callable[[Any], bool]:
    return lambda part: fails({**context, key: part})


def _first(items: list[Any], fails: Callable[[Any], bool]) -> int:
    """The first item that fails, by halves: a beginning fails when it holds one."""
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high) // 2
        if fails(items[: middle + 1]):
            high = middle
        else:
            low = middle + 1
    return low
