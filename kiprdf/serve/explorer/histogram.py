"""The commits of a nexus by their dates, as bars above the slider."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from kiprdf.pages.page import View, count
from kiprdf.store.timeline import Timeline

BARS = 60
"""The most bars that are shown."""
WIDTH, HEIGHT = 10, 40
"""The width of the place of a bar, and the height of the highest one."""
_NARROW = 24
"""No bar is wider than this part of all of them."""


class _Unit(NamedTuple):
    """What a bar stands for: how it is shown, where it begins, and at least its length."""

    name: str
    form: str
    begin: Callable[[datetime], datetime]
    length: timedelta


def _day(time: datetime) -> datetime:
    return time.replace(hour=0, minute=0)


_UNITS = (
    _Unit("minute", "%Y-%m-%d %H:%M UTC", lambda time: time, timedelta(minutes=1)),
    _Unit("hour", "%Y-%m-%d %H:00 UTC", lambda time: time.replace(minute=0), timedelta(hours=1)),
    _Unit("day", "%Y-%m-%d", _day, timedelta(days=1)),
    _Unit(
        "week",
        "Week of %Y-%m-%d",
        lambda time: _day(time) - timedelta(days=time.weekday()),
        timedelta(weeks=1),
    ),
    _Unit("month", "%Y-%m", lambda time: _day(time).replace(day=1), timedelta(days=31)),
    _Unit("year", "%Y", lambda time: _day(time).replace(day=1, month=1), timedelta(days=366)),
)


def histogram(timeline: Timeline, earliest: int, latest: int, seq: int | None) -> View | None:
    """The bars of the commits above a number, up to another, with a marker at one of them.

    The unit is the shortest with at most ``BARS`` bars. None where no unit is, and where all
    commits are in one minute.
    """
    first, end = (bisect_right(timeline.numbers, number) for number in (earliest, latest))
    # The record of a whole dataset may have no time.
    first = max(first, bisect_right(timeline.times, ""))
    if first >= end:
        return None
    for unit in _UNITS:
        starts = _starts(unit, timeline.times[first], timeline.times[end - 1])
        if starts is not None and len(starts) > 1:
            return _view(timeline, first, end, unit, starts, seq)
    return None


def _starts(unit: _Unit, first: str, last: str) -> list[datetime] | None:
    """Where the bars from one time to another begin; None for too many."""
    try:
        begin = datetime.fromisoformat(f"{first[:16]}+00:00")
        starts = [unit.begin(begin)]
        while len(starts) <= BARS and _text(following := _after(unit, starts[-1])) <= last:
            starts.append(following)
    except (ValueError, OverflowError):
        return None
    return starts if len(starts) <= BARS else None


def _after(unit: _Unit, start: datetime) -> datetime:
    return unit.begin(start + unit.length)


def _text(time: datetime) -> str:
    """A time as the journal writes it."""
    return f"{time.isoformat(timespec='milliseconds')[:23]}Z"


def _view(
    timeline: Timeline, first: int, end: int, unit: _Unit, starts: list[datetime], seq: int | None
) -> View:
    ends = [_text(start) for start in starts[1:]]
    places = [first, *(bisect_left(timeline.times, time, first, end) for time in ends), end]
    numbers = [after - before for before, after in itertools.pairwise(places)]
    width = min(0.8, len(starts) / _NARROW) * WIDTH
    marker, bars = 0.0, []
    for place, (start, number) in enumerate(zip(starts, numbers, strict=True)):
        if not number:
            continue
        if seq is None or seq >= timeline.numbers[places[place]]:
            rank = end if seq is None else bisect_right(timeline.numbers, seq)
            marker = place + min(1.0, (rank - places[place]) / number)
        height = max(2, round(HEIGHT * number / max(numbers)))
        bars.append(
            {
                "left": place * WIDTH,
                "x": f"{place * WIDTH + (WIDTH - width) / 2:g}",
                "y": HEIGHT - height,
                "height": height,
                "last": timeline.numbers[places[place + 1] - 1],
                "text": f"{start.strftime(unit.form)}: {count(number, 'commit')}",
            }
        )
    return {
        "label": f"Commits by {unit.name}",
        "bars": bars,
        "width": f"{width:g}",
        "place": WIDTH,
        "total": len(starts) * WIDTH,
        "height": HEIGHT,
        "marker": f"{marker * WIDTH:g}",
        "first": timeline.times[first][:10],
        "end": timeline.times[end - 1][:10],
    }
