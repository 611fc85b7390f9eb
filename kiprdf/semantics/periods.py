"""Periods: concepts whose name is an interval of time.

``2019-01-01/2022-01-01`` begins with its first moment and ends before its second one; ``..`` is an
open end (ISO 8601-2). A time without an offset is in UTC, a date is its first moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from kiprdf.errors import KipError, shown

TYPE = "Period"
PREDICATE = "valid_during"
FROM, UNTIL = "from", "until"
"""The attributes of a Period, which have its ends; ``OPEN`` is an open one."""
VALID_FROM, VALID_UNTIL = "valid_from", "valid_until"
"""Metadata that are another interval of an element."""
OPEN = ".."

_YEAR_OR_MONTH = re.compile(r"[0-9]{4}(-[0-9]{2})?")


class Interval(NamedTuple):
    """From a moment to before another one, as ``moment`` writes them; None is an open end."""

    start: str | None
    end: str | None

    @property
    def name(self) -> str:
        """The name of its Period."""
        return f"{self.start or OPEN}/{self.end or OPEN}"


def moment(value: object) -> str | None:
    """A time in UTC to the second, a midnight as its date, so that texts compare as times.

    None for what is no time.

    >>> moment("2019-01"), moment("2019-01-01T02:30:00+02:00"), moment("soon")
    ('2019-01-01', '2019-01-01T00:30:00Z', None)
    """
    text = value.isoformat() if isinstance(value, date) else value
    if not isinstance(text, str):
        return None
    if _YEAR_OR_MONTH.fullmatch(text):
        text = f"{text}-01-01"[:10]
    try:
        read = datetime.fromisoformat(text)
        utc = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if utc.time().replace(microsecond=0) == time():
        return utc.date().isoformat()
    return utc.replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def instant(value: object, parameter: str) -> str:
    """A time as ``valid_from`` is compared with it; KIP_1001 for a parameter that is not one."""
    utc = moment(value)
    if utc is None:
        message = f"Parameter '{parameter}': {shown(str(value))!r} is not a time."
        raise KipError("KIP_1001", message, "Write a date, or 2026-03-01T12:00:00Z.")
    return utc if "T" in utc else f"{utc}T00:00:00Z"


def interval(name: object) -> Interval | None:
    """The interval that the name of a Period means; None for other names, and empty ones.

    >>> interval("2019/2022-06-01"), interval("Bronze Age")
    (Interval(start='2019-01-01', end='2022-06-01'), None)
    """
    if not isinstance(name, str) or name.count("/") != 1:
        return None
    parts = name.split("/")
    ends = [None if part == OPEN else moment(part) for part in parts]
    if any(end is None and part != OPEN for end, part in zip(ends, parts, strict=True)):
        return None
    start, end = ends
    return Interval(start, end) if _is_before(start, end) else None


def attributes(type: str, name: str) -> dict[str, str]:
    """The attributes of a concept that follow from its name; none but for a Period."""
    ends = interval(name) if type == TYPE else None
    return {} if ends is None else {FROM: ends.start or OPEN, UNTIL: ends.end or OPEN}


def of_metadata(metadata: dict[str, Any]) -> Interval | None:
    """The interval of ``valid_from`` and ``valid_until``, of which one may be missing."""
    start, end = moment(metadata.get(VALID_FROM)), moment(metadata.get(VALID_UNTIL))
    return Interval(start, end) if (start or end) and _is_before(start, end) else None


def of_element(metadata: dict[str, Any], during: Iterable[tuple[str, str]]) -> list[Interval]:
    """The intervals of an element: those of its Periods, by type and name, and its own.

    >>> of_element({"valid_from": "2024"}, [("Period", "2019/2022"), ("Event", "Spring")])
    [Interval(start='2019-01-01', end='2022-01-01'), Interval(start='2024-01-01', end=None)]
    """
    given = [of_metadata(metadata), *(interval(name) for type, name in during if type == TYPE)]
    return sorted({one for one in given if one is not None}, key=_start)


def united(intervals: Iterable[Interval]) -> list[Interval]:
    """The same times as intervals that neither overlap nor touch, in their order.

    >>> united([Interval("2021-01-01", None), Interval("2019-01-01", "2021-01-01")])
    [Interval(start='2019-01-01', end=None)]
    """
    result: list[Interval] = []
    for one in sorted(intervals, key=_start):
        last = result[-1] if result else None
        if last is None or (last.end is not None and (one.start or "") > last.end):
            result.append(one)
        elif last.end is not None and (one.end is None or one.end > last.end):
            result[-1] = Interval(last.start, one.end)
    return result


def _start(one: Interval) -> tuple[str, str]:
    return one.start or "", one.end or ""


def _is_before(start: str | None, end: str | None) -> bool:
    return start is None or end is None or start < end
