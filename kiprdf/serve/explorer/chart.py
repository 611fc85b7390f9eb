"""A chart of an answer: bars for the numbers of names, a line for those of dates."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from kiprdf.language.values import is_number
from kiprdf.pages.page import View
from kiprdf.rdf.elements import is_element

Row = Sequence[Any]
SHOWN = {"bars": 30, "line": 400}
"""How many rows a chart shows."""
_BAR_HEIGHT = 36
_LABEL = 120
_DATE = re.compile(r"\d{4}-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?)?")


def chosen(columns: Sequence[str], rows: Sequence[Row]) -> tuple[str, int, int] | str:
    """The kind of chart, the column of its labels, and that of its numbers; or why there is none.

    Dates are labels first, then what is no number; numbers are those of an aggregate first.

    >>> chosen(["?d.name", "COUNT(?c)"], [["CoreSchema", 28]])
    ('bars', 0, 1)
    >>> chosen(["?d.name"], [["CoreSchema"]])
    'A chart needs a column of numbers beside one of names or dates: FIND(?d.name, COUNT(?c)).'
    """
    every = range(len(columns))
    numbers = [one for one in every if _all(rows, one, is_number)]
    dates = [one for one in every if _all(rows, one, _is_date)]
    others = [one for one in every if one not in numbers]
    if not rows:
        return "An answer without rows has no chart."
    label = [*dates, *others, 0][0]
    aggregates = [one for one in numbers if "(" in columns[one]]
    values = [one for one in (*aggregates, *numbers) if one != label]
    if not values:
        needed = "a column of numbers beside one of names or dates: FIND(?d.name, COUNT(?c))"
        return f"A chart needs {needed}."
    return "line" if label in dates and len(rows) > 1 else "bars", label, values[0]


def chart(
    columns: Sequence[str], rows: Sequence[Row], shown: slice, kind: str, label: int, number: int
) -> View:
    """What the chart of some rows shows, as places in percent of its width; its scale is that of
    all rows."""
    scale = [0.0, *(row[number] for row in rows if row[number] is not None)]
    # The difference of two numbers may be infinite, and so is no scale.
    largest = max(map(abs, scale)) or 1.0
    low, high = min(scale) / largest, max(scale) / largest
    rows = rows[shown]
    drawn = [row for row in rows if row[number] is not None and row[label] is not None]
    missing = len(rows) - len(drawn)
    values = [row[number] / largest for row in drawn]
    extent = high - low or 1.0
    view: View = {
        "kind": kind,
        "title": f"{columns[number]} by {columns[label]}",
        "missing": f"{missing:,} without a value are not drawn." if missing else None,
        "zero": _percent((0.0 - low) / extent),
    }
    marks = [
        {"label": _label(row[label]), "text": f"{row[number]:,}", "place": (value - low) / extent}
        for row, value in zip(drawn, values, strict=True)
    ]
    if kind == "line":
        times = [_time(_text(row[label])) for row in drawn]
        return view | _line(marks, times) | {"low": f"{min(scale):,g}", "high": f"{max(scale):,g}"}
    for index, (mark, value) in enumerate(zip(marks, values, strict=True)):
        mark["y"] = index * _BAR_HEIGHT
        mark["x"] = _percent((min(value, 0.0) - low) / extent)
        mark["width"] = _percent(abs(value) / extent)
    return view | {"bars": marks, "height": len(marks) * _BAR_HEIGHT}


def _line(marks: list[View], times: list[float]) -> View:
    begin, end = min(times, default=0.0), max(times, default=0.0)
    for mark, moment in zip(marks, times, strict=True):
        mark["x"] = _percent((moment - begin) / (end - begin or 1.0))
        mark["y"] = _percent(1 - mark["place"])
    in_time = [mark for _, mark in sorted(zip(times, marks, strict=True), key=lambda one: one[0])]
    return {
        "points": in_time,
        "path": " ".join(f"{mark['x']},{mark['y']}" for mark in in_time),
    }


def _all(rows: Sequence[Row], column: int, test: Any) -> bool:
    """Whether a column has values, and a test holds for each of them."""
    values = [row[column] for row in rows if row[column] is not None]
    return bool(values) and all(map(test, values))


def _text(value: Any) -> Any:
    """The text of a typed or language-tagged value, which may be a date."""
    return value.get("@value", value) if isinstance(value, dict) else value


def _is_date(value: Any) -> bool:
    value = _text(value)
    if not (isinstance(value, str) and _DATE.fullmatch(value)):
        return False
    try:
        _time(value)
    except ValueError:
        return False
    return True


def _time(text: str) -> float:
    moment = datetime.fromisoformat(f"{text}-01" if len(text) == len("2026-01") else text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # Seconds since the year 1: a timestamp of an early year is an error on some systems.
    return (moment - datetime(1, 1, 2, tzinfo=UTC)).total_seconds()


def _label(value: Any) -> str:
    value = _text(value)
    if is_element(value):
        value = value.get("name", value["id"])
    elif isinstance(value, str) and _is_date(value):
        value = value[: len("2026-01-01T10:00")].replace("T", " ")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"
