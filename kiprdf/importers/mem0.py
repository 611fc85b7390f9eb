"""The memories of mem0 (``mem0ai`` 2.2.1; also 0.1, 1.0 and the platform) as notes.

The file has what ``get_all()`` returns: a list, or ``{"results": […], "relations": […]}``; beside
it ``"history": {id: […]}`` may have what ``history(id)`` returns. A memory is a note of its id. A
text that it had before is a superseded note, of the id of the row that ended it; what was deleted
is superseded, too (docs/decisions/235).
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from kiprdf.errors import KipError
from kiprdf.importers.plan import Plan, keep_apart, read_json, usable_name
from kiprdf.importers.times import moment
from kiprdf.memory.graph import ITEM, node_id

UNKNOWN = "Entity"
"""The type of the end of a relation that has none."""
_TEXTS = ("memory", "text", "data")
_EVENT = ("id", "memory_id", "old_memory", "new_memory", "new_value", "event", "is_deleted")
_TIMES = ("created_at", "updated_at")
_EVENTS = {"ADD": 0, "UPDATE": 1, "DELETE": 2}
"""The order of events of one time; all others are between."""
_SCOPE = ("user_id", "agent_id", "app_id", "run_id")
_PAGES = (20, 100)
"""How many memories ``get_all`` returns at most, if no other number is given."""
Json = dict[str, Any]


@dataclass
class _Text:
    """A text of a memory: since when, what else its row has, and the row that ended it."""

    text: str
    since: str | None = None
    rest: Json = field(default_factory=dict)
    ended: Json | None = None


def mem0(path: str | os.PathLike[str], *, source: str | None = None) -> Plan:
    """A plan of a file with the answer of ``get_all()``, and perhaps a history.

    Raises ``KipError``: KIP_1001 for a file that is none.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mem0.json"
    >>> _ = file.write_text('{"results": [{"id": "m1", "memory": "Likes tea."}]}')
    >>> mem0(file).concepts[0]["attributes"]["content"]
    'Likes tea.'
    """
    plan = Plan("mem0", source or Path(path).name)
    content = read_json(path)
    content = _united(content) if isinstance(content, list) else content
    if not isinstance(content, dict) or not isinstance(content.get("results"), list):
        message = f"{plan.source} is no list of memories, and has no list 'results'."
        raise KipError("KIP_1001", message, "Write what get_all() returns to it, as JSON.")
    memories = _memories(content.pop("results"), plan)
    histories = _histories(content.pop("history", None), plan)
    _warn_of_pages(content, len(memories), plan)
    users = sorted({str(one["user_id"]) for one in memories.values() if one.get("user_id")})
    taken = Counter(
        [*memories, *(str(row.get("id")) for rows in histories.values() for row in rows)]
    )
    for id in dict.fromkeys([*memories, *histories]):
        _add_memory(plan, id, memories.pop(id, None), histories.pop(id, []), taken)
    _add_relations(content.pop("relations", None), plan)
    for key, value in content.items():
        if value is not None:
            plan.skip({key: value}, "it is neither in results, relations nor history")
    if len(users) > 1:
        plan.warn(
            f"The memories are of {len(users)} users, such as {users[0]!r}: `recall` finds those"
            " of all; FILTER by the attribute user_id, or import each user into a nexus."
        )
    return plan


def _united(given: list[Any]) -> Json:
    """A list of memories, or of the pages of an answer, as one answer."""
    united: Json = {"results": []}
    for item in given:
        if not isinstance(item, dict) or not isinstance(item.get("results"), list):
            united["results"].append(item)
            continue
        for key, value in item.items():
            before = united.setdefault(key, value)
            if isinstance(before, list) and isinstance(value, list) and before is not value:
                before.extend(value)
            elif isinstance(before, dict) and isinstance(value, dict):
                before.update(value)
            else:
                united[key] = value
    return united


def _memories(results: list[Any], plan: Plan) -> dict[str, Json]:
    """The memories by id; of several with one id, the one that was updated last."""
    memories: dict[str, Json] = {}
    for number, item in enumerate(results, 1):
        text = _text(item, _TEXTS) if isinstance(item, dict) else ""
        if not text.strip():
            plan.skip(item, f"result {number} is no memory with a text")
            continue
        id = item.get("id")
        if not isinstance(id, str | int) or not str(id).strip():
            of = f"{item.get('user_id')}\n{text}".encode("utf-8", "surrogatepass")
            id = f"memory_{hashlib.sha256(of).hexdigest()[:24]}"
        before = memories.get(str(id))
        if before is None or before == item:
            memories[str(id)] = item
            continue
        last = max(before, item, key=_changed)
        memories[str(id)] = last
        other = before if last is item else item
        plan.skip(other, f"result {number}: the memory {id!r} is there twice; this is not the last")
    return memories


def _changed(item: Json) -> str:
    """When a memory, or what a row says, was written last; empty if that is not known."""
    return moment(item.get("updated_at")) or moment(item.get("created_at")) or ""


def _histories(given: Any, plan: Plan) -> dict[str, list[Json]]:
    """The rows of each memory: by id, or each with its ``memory_id``."""
    if isinstance(given, list):
        pairs: Iterable[tuple[Any, Any]] = [
            (row.get("memory_id") if isinstance(row, dict) else None, [row]) for row in given
        ]
    else:
        pairs = given.items() if isinstance(given, dict) else ()
        if given is not None and not isinstance(given, dict):
            plan.skip(given, "history is no object of lists by the id of the memory")
    histories: dict[str, list[Json]] = {}
    for id, rows in pairs:
        rows = rows.get("results", rows) if isinstance(rows, dict) else rows
        for row in rows if isinstance(rows, list) else [rows]:
            if id and isinstance(row, dict) and _text(row, ("event",)):
                histories.setdefault(str(id), []).append(row)
                if row["event"].upper() not in _EVENTS:
                    plan.warn(f"{id!r} has an event {row['event']!r}: it is read as an UPDATE.")
                for key in _TIMES:
                    if row.get(key) and moment(row[key]) is None:
                        plan.warn(f"{id!r} has an event whose {key} is no time: {row[key]!r}.")
            else:
                plan.skip(row, f"it is no event in the history of {id!r}")
    return histories


def _warn_of_pages(content: Json, count: int, plan: Plan) -> None:
    """What of an answer in pages is lacking."""
    total, following = content.pop("count", None), content.pop("next", None)
    content.pop("previous", None)
    if (isinstance(total, int) and total > count) or following:
        plan.warn(f"The file has {count} of {total or 'more'} memories: export all pages.")
    elif count in _PAGES:
        plan.warn(
            f"The file has {count} memories, which is the most that get_all() returns if it has no"
            " top_k (before 2.0: limit): export it with a greater one if there are more."
        )


# A memory -------------------------------------------------------------------------------------


def _add_memory(
    plan: Plan, id: str, item: Json | None, rows: list[Json], taken: Mapping[str, int]
) -> None:
    """Add the note of a memory, and those of the texts that it had before.

    A row whose id others have, too, is not known by it alone.
    """
    texts, is_deleted = _texts(rows)
    last = texts[-1] if texts else None
    if item is not None:
        text = _text(item, _TEXTS)
        if last is None or last.text != text or last.ended is not None:
            if last is not None and last.ended is None:
                last.ended = {"updated_at": item.get("updated_at")}
            last = _Text(text, item.get("updated_at") or item.get("created_at"))
            texts.append(last)
    elif last is None:
        for row in rows:
            plan.skip(row, f"there is no text in the history of {id!r}")
        return
    elif not is_deleted:
        plan.warn(f"The memory {id!r} is in the history only; it was not deleted, and is held.")
    item = {key: value for key, value in (item or {}).items() if value is not None}
    scope = {key: item[key] for key in _SCOPE if key in item}
    for number, former in enumerate(texts[:-1], 1):
        row = former.ended or {}
        by = {"superseded_by": node_id((ITEM, usable_name(id)))}
        own = str(row.get("id") or f"{id} ({number})")
        own = f"{id} {own}" if taken.get(own, 0) > 1 else own
        _add_note(plan, own, former, {"memory_id": id, **scope, **former.rest}, by)
    last.since = last.since or item.get("updated_at") or item.get("created_at")
    _add_note(plan, id, last, {**last.rest, **item})


def _texts(rows: list[Json]) -> tuple[list[_Text], bool]:
    """The texts of a history in their order, and whether the memory is deleted."""
    texts: list[_Text] = []
    is_deleted = False
    for row in sorted(rows, key=_order):
        old, new = _text(row, ("old_memory",)), _text(row, ("new_memory", "new_value"))
        event = row["event"].upper()
        is_open = bool(texts) and texts[-1].ended is None
        if event == "DELETE":
            old = old or new  # the platform has the text that was deleted as the new one
        if old and not (is_open and texts[-1].text == old):
            if is_open:
                texts[-1].ended = row
            texts.append(_Text(old, row.get("created_at")))
            is_open = True
        rest = {k: v for k, v in row.items() if k not in (*_EVENT, *_TIMES) and v is not None}
        is_deleted = event == "DELETE"
        if new and not is_deleted and not (is_open and texts[-1].text == new):
            if is_open:
                texts[-1].ended = row
            texts.append(_Text(new, row.get("updated_at") or row.get("created_at"), rest))
        elif texts:
            texts[-1].rest = {**rest, **texts[-1].rest}
            if is_deleted and is_open:
                texts[-1].ended = row
    return texts, is_deleted


def _order(row: Json) -> tuple[bool, str, int]:
    """By time; a deletion without one, as before 2.0, is the last."""
    event, time = row["event"].upper(), _changed(row)
    return not time and event == "DELETE", time, _EVENTS.get(event, 1)


def _add_note(plan: Plan, id: str, of: _Text, item: Json, by: Json | None = None) -> None:
    """Add a text of a memory as a note, with what the memory has beside it."""
    item = {k: one for k, one in item.items() if k != "id" and (k not in _TEXTS or one != of.text)}
    marks: Json = {key: item.pop(key, None) for key in _TIMES}
    expires = item.get("expiration_date")
    if of.ended is not None:
        time = _changed(of.ended) or None
        if time is None:
            plan.warn(f"When {id!r} ended is not in the history, as before mem0 2.0.")
        marks |= {"superseded": True, "superseded_at": time, **(by or {})}
    elif expires:
        marks |= _expired(expires, id, plan)
    own = item.pop("metadata", None)
    for key, value in own.items() if isinstance(own, dict) else ():
        if item.get(key) is None:
            item[key] = value
        else:
            keep_apart(item, key, value, "metadata")
    if own and not isinstance(own, dict):
        keep_apart(item, "metadata", own)
    tags = item.pop("categories", None) or []
    tags = tags if isinstance(tags, list) else [tags]
    options: Json = {"session": item.get("run_id"), "speaker": item.pop("actor_id", None)}
    options = {
        k: usable_name(str(value)) for k, value in options.items() if value not in (None, "")
    }
    role = item.pop("role", None)
    plan.add_note_if_valid(
        of.text,
        id=id,
        timestamp=moment(of.since),
        attributes=item,
        metadata=marks,
        tags=[str(tag) for tag in tags if tag is not None],
        role=None if role is None else str(role),
        **options,
    )


def _expired(expires: object, id: str, plan: Plan) -> Json:
    """The end of a memory: mem0 shows it on the day of its ``expiration_date``, and not after."""
    try:
        end = date.fromisoformat(str(expires)[:10]) + timedelta(days=1)
    except (ValueError, OverflowError):
        plan.warn(f"{id!r} has an expiration_date that is no date, and does not expire.")
        return {}
    has_ended = end <= datetime.now(UTC).date()
    ended = {"superseded": True, "superseded_at": end.isoformat()} if has_ended else {}
    return {"valid_until": end.isoformat(), **ended}


# Relations ------------------------------------------------------------------------------------


def _add_relations(given: Any, plan: Plan) -> None:
    """Add the relations of a graph store, which mem0 had before 2.0."""
    if given is not None and not isinstance(given, list):
        plan.skip({"relations": given}, "relations is no list")
    ends: dict[tuple[str, str], tuple[str, str]] = {}
    for number, item in enumerate(given if isinstance(given, list) else (), 1):
        rest = dict(item) if isinstance(item, dict) else {}
        source, predicate = rest.pop("source", None), rest.pop("relationship", None)
        target = rest.pop("destination", None) or rest.pop("target", None)
        if not all(isinstance(each, str) and each.strip() for each in (source, predicate, target)):
            plan.skip(item, f"relation {number} lacks a source, relationship or target")
            continue
        types = [rest.pop(f"{end}_type", None) for end in ("source", "destination", "target")]
        start = str(types[0] or UNKNOWN), source
        end = str(types[1] or types[2] or UNKNOWN), target
        for key in (start, end):
            if key not in ends:
                ends[key] = plan.add_concept(*key)
        plan.add_proposition(ends[start], predicate, ends[end], rest)


def _text(item: Json, keys: Iterable[str]) -> str:
    """The first text under some keys; empty without one."""
    return next((item[key] for key in keys if isinstance(item.get(key), str) and item[key]), "")
