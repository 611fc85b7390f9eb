"""Times of other tools, in the forms in which their exports have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from kiprdf.memory.texts import iso_time

_ZONE = re.compile(r"\[[^\]]*\]\Z")
_NUMBER = re.compile(r"-?\d{9,}(?:\.\d+)?", re.ASCII)
_MILLISECONDS, _MICROSECONDS = 1e11, 1e14
"""From where on a number of seconds is one of milliseconds, and of microseconds."""


def moment(value: object) -> str | None:
    """A time as ISO 8601 in UTC; None for what is none.

    It may be a text in ISO 8601, a number of seconds, milliseconds or microseconds since 1970, or a
    time of the Neo4j driver, of which JSON has the private fields.

    >>> moment("2026-01-12T04:00:00.000000000+01:00[Europe/Paris]"), moment(1768186800000)
    ('2026-01-12T03:00:00Z', '2026-01-12T03:00:00Z')
    >>> moment("soon")
    """
    try:
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            value = float(value)
        if isinstance(value, str):
            return iso_time(_ZONE.sub("", value.strip()))
        if isinstance(value, int | float) and not isinstance(value, bool):
            size = abs(value)
            unit = 1e6 if size >= _MICROSECONDS else 1e3 if size >= _MILLISECONDS else 1
            return iso_time(datetime.fromtimestamp(value / unit, UTC))
        if isinstance(value, Mapping):
            return iso_time(_of_neo4j(value))
    except (ValueError, OverflowError, OSError, KeyError, TypeError):
        pass
    return None


def _of_neo4j(value: Mapping[str, Any]) -> datetime:
    """A ``neo4j.time.DateTime`` of which an encoder has written the fields."""
    day, time = value["_DateTime__date"], value["_DateTime__time"]
    zone = time.get("_Time__tzinfo")
    minutes = zone.get("_minutes", 0) if isinstance(zone, Mapping) else 0
    parts = [day[f"_Date__{part}"] for part in ("year", "month", "day")]
    parts += [time[f"_Time__{part}"] for part in ("hour", "minute", "second")]
    text = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}".format(
        *parts, time.get("_Time__nanosecond", 0) // 1000
    )
    return datetime.fromisoformat(text).replace(tzinfo=timezone(timedelta(minutes=minutes)))
