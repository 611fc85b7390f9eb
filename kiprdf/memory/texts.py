"""A memory's text as the attributes of a concept, and back; and its time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from kiprdf.memory.extraction import check_text
from kiprdf.memory.items import Item

Clock: TypeAlias = Callable[[], datetime]
PIECE = 200_000
"""Characters of a piece of a long text; a string of KIP has at most 1 MiB."""
_SURROGATE = re.compile("[\ud800-\udfff]")
COLUMNS = "?m.name, ?m.attributes.content, ?m.attributes.more_content, " + (
    "?m.attributes.lone_surrogates, ?m.attributes.tags, ?m.attributes.timestamp"
)


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
    if not isinstance(moment, datetime):
        raise ValueError(f"A timestamp is a text in ISO 8601 or a datetime, not {moment!r}.")
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat().replace("+00:00", "Z")


def attributes(content: str, tags: object, timestamp: str) -> dict[str, Any]:
    """The attributes of a memory. Raises ``ValueError`` or ``TypeError`` for what is none."""
    check_text(content)
    if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags):  # type: ignore[attr-defined]
        raise ValueError("tags is a list of texts.")
    surrogates = [[match.start(), ord(match[0])] for match in _SURROGATE.finditer(content)]
    safe = _SURROGATE.sub("\ufffd", content)
    values: dict[str, Any] = {"content": safe[:PIECE], "timestamp": timestamp, "tags": list(tags)}  # type: ignore[call-overload]
    if len(safe) > PIECE:
        values["more_content"] = [safe[i : i + PIECE] for i in range(PIECE, len(safe), PIECE)]
    if surrogates:
        values["lone_surrogates"] = surrogates
    return values


def item(row: tuple[Any, ...]) -> Item:
    """The memory in a row of ``COLUMNS``."""
    id, content, more, surrogates, tags, timestamp = row
    text = "".join([content or "", *(more or ())])
    if surrogates:
        characters = list(text)
        for place, code in surrogates:
            characters[place] = chr(code)
        text = "".join(characters)
    return Item(id, text, tuple(tags or ()), timestamp or "")


def order(stored: Item) -> tuple[str, str]:
    """What memories are ordered by: the time, then the id."""
    return stored.timestamp.rstrip("Z"), stored.id


def environment(variables: Mapping[str, str], name: str) -> str:
    """The value of an environment variable in lower case, without blanks."""
    return variables.get(name, "").strip().lower()
