"""The items of a store of LangGraph (``langgraph.store.base.Item`` of langgraph-checkpoint 4.3.2).

An item is a note of the memory whose name is its namespace and key as a path, and whose attribute
``value`` is the object, as in docs/how-to/langgraph.md. These shapes are read:

- what ``Item.dict`` returns, in a list, in lines of JSON, or in an object with ``items``:
  ``{"namespace": [label, …], "key": …, "value": {…}, "created_at": …, "updated_at": …}``;
- rows of the table ``store`` of PostgresStore and SqliteStore, which have ``prefix``, the labels
  with dots between them, in place of ``namespace``, and may have ``expires_at``;
- the file of SqliteStore.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kiprdf.errors import KipError
from kiprdf.execution.authors import AUTHOR
from kiprdf.importers.plan import Plan, keep_apart, parse_json, read_text
from kiprdf.importers.times import moment
from kiprdf.interchange.importing.stated import NOT_OF_SOURCES
from kiprdf.memory.texts import stored_time

_SQLITE = b"SQLite format 3\0"
_HINT = "Give a JSON list of what item.dict() returns, or the file of SqliteStore."
_READ = ("namespace", "prefix", "key", "value")
_OURS = NOT_OF_SOURCES | {AUTHOR, "original_id"}
"""The metadata keys that mean something to a nexus: those of an item are other ones."""
_TIMES = ("created_at", "updated_at", "expires_at")
Json = dict[str, Any]


def langgraph(path: str | os.PathLike[str], *, source: str | None = None) -> Plan:
    """A plan of the items of a store of LangGraph.

    Raises ``KipError``: KIP_1001 for a file that has no items.

    >>> _ = Path("store.json").write_text(
    ...     '[{"namespace": ["ada"], "key": "tea", "value": {"text": "Ada likes tea."}}]')
    >>> langgraph("store.json").concepts[0]["name"]
    'ada/tea'
    """
    file = Path(path)
    plan = Plan("langgraph", source or file.name)
    seen: dict[str, Json] = {}
    for number, item in _items(file, plan):
        match item:
            case {"key": str(key), "value": value} if value is not None and _namespace(item):
                name = "/".join(quote(part, safe="") for part in (*_namespace(item), key))
                if seen.setdefault(name, item) != item:
                    plan.skip(seen[name], f"item {number} after it has its namespace and key")
                seen[name] = item
            case _:
                plan.skip(item, f"item {number} has no namespace, key and value of LangGraph")
    if not seen:
        raise KipError("KIP_1001", f"{plan.source} has no item of a store of LangGraph.", _HINT)
    for name, item in seen.items():
        _add(plan, name, item)
    return plan


def _add(plan: Plan, name: str, item: Json) -> None:
    namespace, key, value = _namespace(item), item["key"], item["value"]
    times = {name: moment(item.get(name)) for name in _TIMES}
    created, updated, expires = times.values()
    read = {*_READ, *(name for name in _TIMES if times[name])}
    metadata: Json = {name: item[name] for name in item if name not in (*read, *_OURS)}
    for name in [name for name in item if name in _OURS and name not in read]:
        keep_apart(metadata, name, item[name])
    for time, given in (("created_at", created), ("updated_at", updated), ("valid_until", expires)):
        metadata[time] = given or metadata.get(time)
    if expires and stored_time(expires) <= datetime.now(UTC).isoformat():
        metadata |= {"superseded": True, "superseded_at": expires}
    plan.add_note_if_valid(
        "\n".join(_lines(value)) or json.dumps(value, ensure_ascii=False),
        id=name,
        timestamp=updated or created,
        tags=namespace,
        attributes={"value": value, "namespace": namespace, "key": key},
        metadata=metadata,
    )


def _lines(value: Any, name: str = "") -> Iterator[str]:
    """The texts and numbers of a value, each after its key, unless it is the only one.

    >>> list(_lines({"text": "Ada likes tea."})), list(_lines({"kind": "fact", "n": [1, 2]}))
    (['Ada likes tea.'], ['kind: fact', 'n: 1', 'n: 2'])
    """
    if isinstance(value, dict) and len(value) == 1 and not name:
        yield from _lines(*value.values())
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _lines(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _lines(one, name)
    elif value is not None and value != "":
        yield f"{name}: {value}" if name else str(value)


def _namespace(item: Json) -> list[str]:
    """The labels of a namespace; none for what is no namespace."""
    match item:
        case {"namespace": [*labels]} if labels and all(isinstance(one, str) for one in labels):
            return labels
        case {"prefix": str(prefix)} | {"namespace": str(prefix)} if prefix:
            return prefix.split(".")
    return []


def _items(file: Path, plan: Plan) -> Iterator[tuple[int, Any]]:
    """The items of a file, with their numbers.

    In rows of a table, each value is a text of JSON; in items, one that looks like an object.
    """
    for number, item in enumerate(_rows(file, plan), 1):
        value = item.get("value") if isinstance(item, dict) else None
        if isinstance(value, str) and ("prefix" in item or value.lstrip()[:1] == "{"):
            try:
                item = {**item, "value": parse_json(value, plan.source)}
            except KipError as fault:
                if "prefix" in item:
                    plan.skip(item, f"item {number}: {fault.message}")
                    continue
        yield number, item


def _rows(file: Path, plan: Plan) -> Iterator[Any]:
    with file.open("rb") as opened:
        is_sqlite = opened.read(len(_SQLITE)) == _SQLITE
    if is_sqlite:
        yield from _sqlite_rows(file)
        return
    text = read_text(file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].rstrip().endswith("}") and lines[0][1][0] == "{":
        for number, line in lines:
            try:
                yield parse_json(line, plan.source, number)
            except KipError as fault:
                plan.skip(line, fault.message)
        return
    match parse_json(text, plan.source):
        case {"items": [*items]} | [*items]:
            yield from items
        case whole:
            yield whole


def _sqlite_rows(file: Path) -> Iterator[Json]:
    """The rows of the table ``store``, without a write to the file."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            yield from map(dict, database.execute("SELECT * FROM store ORDER BY prefix, key"))
    except sqlite3.Error as fault:
        raise KipError(
            "KIP_1001", f"{file.name} is no store of LangGraph: {fault}.", _HINT
        ) from None
