"""A memory's text as the attributes of a concept, and back; and its time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from kiprdf.memory.items import Item

Clock: TypeAlias = Callable[[], datetime]
PIECE = 200_000
"""Characters of a piece of a long text; a string of KIP has at most 1 MiB."""
_SURROGATE = re.compile("[\ud800-\udfff]")
KEYS = (
    *("content", "more_content", "lone_surrogates", "tags", "timestamp"),
    *("session", "speaker", "seen", "last_seen", "role", "turn", "echo_of"),
)
"""The attributes of a memory, in the order of ``item``."""
COLUMNS = ", ".join(["?m.name", *(f"?m.attributes.{key}" for key in KEYS)])


def now() -> datetime:
    """The clock of a memory that was given no other."""
    return datetime.now(UTC)


def iso_time(moment: object) -> str:
    """A time as ISO 8601 in UTC; one without a zone is in UTC. ``ValueError`` for what is no time.

    >>> iso_time("2026-01-12T04:00:00+01:00")
    '2026-01-12T03:00:00Z'
    """
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise ValueError(f"{moment!r} is no time in ISO 8601.") from None
    if isinstance(moment, int | float):
        raise ValueError(
            f"A timestamp is a text in ISO 8601 or a datetime, not {moment!r}; of seconds it is"
            f" datetime.fromtimestamp({moment!r}, UTC)."
        )
    if not isinstance(moment, datetime):
        raise ValueError(f"A timestamp is a text in ISO 8601 or a datetime, not {moment!r}.")
    try:
        aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{moment} is outside of the calendar in UTC.") from None
    return aware.isoformat().replace("+00:00", "Z")


def stored_time(moment: str) -> str:
    """A time of ``iso_time`` as it is stored: always with six digits, so that texts sort by time.

    >>> stored_time("2026-01-12T03:00:00Z")
    '2026-01-12T03:00:00.000000Z'
    """
    return moment if "." in moment else moment.replace("Z", ".000000Z")


def shown_time(stored: str) -> str:
    """A stored time as ``iso_time`` returns it."""
    return stored.replace(".000000Z", "Z")


def attributes(item: Item) -> dict[str, Any]:
    """The attributes of a memory."""
    surrogates = [[match.start(), ord(match[0])] for match in _SURROGATE.finditer(item.content)]
    safe = _SURROGATE.sub("\ufffd", item.content)
    values: dict[str, Any] = {
        "content": safe[:PIECE],
        "timestamp": stored_time(item.timestamp),
        "tags": list(item.tags),
    }
    if len(safe) > PIECE:
        values["more_content"] = [safe[i : i + PIECE] for i in range(PIECE, len(safe), PIECE)]
    if surrogates:
        values["lone_surrogates"] = surrogates
    for key in ("session", "turn", "speaker", "role"):
        if getattr(item, key) is not None:
            values[key] = getattr(item, key)
    if item.echo_of:
        values["echo_of"] = list(item.echo_of)
    if item.seen > 1:
        values |= {"seen": item.seen, "last_seen": stored_time(item.last_seen)}
    return values


def item(row: tuple[Any, ...]) -> Item:
    """The memory in a row of ``COLUMNS``. Other programs may have written values of other types
    into it: these are left out."""
    id, content, more, surrogates, tags, timestamp, *rest = row
    session, speaker, seen, last_seen, role, turn, echo_of = rest
    text = "".join(_strings([content, *_list(more)]))
    time = shown_time(_string(timestamp) or "")
    return Item(
        id,
        _with_surrogates(text, surrogates) if surrogates else text,
        _strings(_list(tags)),
        time,
        _string(session),
        _string(speaker),
        seen if isinstance(seen, int) else 1,
        shown_time(_string(last_seen) or "") or time,
        _string(role),
        turn if isinstance(turn, int) else None,
        _strings(_list(echo_of)),
    )


def _with_surrogates(text: str, surrogates: object) -> str:
    characters = list(text)
    for pair in _list(surrogates):
        match pair:
            case [int(place), int(code)] if 0 <= place < len(text) and 0xD800 <= code < 0xE000:
                characters[place] = chr(code)
    return "".join(characters)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _strings(values: list[Any]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


def order(stored: Item) -> tuple[str, str, int, str]:
    """What memories are ordered by: the time, then the place in the session, then the id."""
    return stored.timestamp.rstrip("Z"), stored.session or "", stored.turn or 0, stored.id


def setting(name: str) -> str:
    """The value of an environment variable in lower case, without blanks.

    It is ``KIPRDF_MEMORY_`` and the name, or, if that is not set, ``MILTON_KG_`` and the name.
    """
    values = (os.environ.get(prefix + name, "") for prefix in ("KIPRDF_MEMORY_", "MILTON_KG_"))
    return next(filter(None, (value.strip().lower() for value in values)), "")
