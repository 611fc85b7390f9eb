"""The file of the reference MCP memory server (``@modelcontextprotocol/server-memory``).

An entity is a concept, a relation a proposition. An observation is a note that ``mentions`` its
entity; the notes of an entity are a session of its name, in their order (docs/decisions/235). A
line has one of these shapes, as ``saveGraph`` of its version 2026.8.31 writes them, and 0.6.2 did::

    {"type": "entity", "name": …, "entityType": …, "observations": [text, …]}
    {"type": "relation", "from": name, "to": name, "relationType": …}
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kiprdf.errors import KipError
from kiprdf.execution.support import MENTIONS
from kiprdf.importers.plan import Plan, parse_json, read_text
from kiprdf.importers.times import moment

UNKNOWN = "Entity"
"""The type of what only a relation names."""
_TEXTS = ("content", "text", "observation")
_TIMES = ("timestamp", "createdAt", "created_at")
Json = dict[str, Any]


def mcp_memory(path: str | os.PathLike[str], *, source: str | None = None) -> Plan:
    """A plan of a ``memory.jsonl`` (before 2025.9.25 ``memory.json``), or of an answer of its tool
    ``read_graph``.

    Two entities of one name are one, as for the server. A line that cannot be read is skipped.
    Raises ``KipError``: KIP_1001 for a file without any entity or relation.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "memory.jsonl"
    >>> _ = file.write_text('{"type":"entity","name":"Ada","observations":["Likes tea"]}')
    >>> mcp_memory(file).report()["notes"]
    1
    """
    plan = Plan("mcp-memory", source or Path(path).name)
    entities: dict[str, Json] = {}
    relations: dict[tuple[str, str, str], Json] = {}
    for place, item in _items(read_text(path), plan):
        match item.pop("type", None):
            case "entity" if _text(item.get("name")):
                _unite(entities.setdefault(_text(item.pop("name")), {}), item, place, plan)
            case "relation" if all(map(_text, ends := _ends(item))):
                relations.setdefault(ends, {}).update(item)
            case "entity" | "relation" as kind:
                needed = "name" if kind == "entity" else "from, to and relationType"
                plan.skip({"type": kind, **item}, f"{place}: it lacks {needed}")
            case kind:
                plan.skip({"type": kind, **item}, f"{place}: it is no entity and no relation")
    if not entities and not relations:
        message = f"{plan.source} has no entity and no relation of the MCP memory server."
        raise KipError("KIP_1001", message, "Name its file, which is memory.jsonl.")
    concepts = {name: _add_entity(plan, name, item) for name, item in entities.items()}
    for (start, predicate, end), rest in relations.items():
        for name in (start, end):
            if name not in concepts:
                concepts[name] = plan.add_concept(UNKNOWN, name, original_id=name)
                plan.warn(f"{name!r} is named by a relation only: its type is {UNKNOWN}.")
        plan.add_proposition(concepts[start], predicate, concepts[end], rest)
    return plan


def _items(text: str, plan: Plan) -> Iterator[tuple[str, Json]]:
    """The objects of a file with their places: a line each, or all in one document."""
    given: Iterable[tuple[str, Any]]
    try:
        whole = _graph(parse_json(text, plan.source))
    except KipError:
        whole = None
    if isinstance(whole, list):
        given = ((f"item {number}", item) for number, item in enumerate(whole, 1))
    elif isinstance(whole, dict) and whole.get("type") not in ("entity", "relation"):
        given = _of_graph(whole, plan)
    else:
        given = _of_lines(text, plan)
    for place, item in given:
        if isinstance(item, dict):
            yield place, item
        else:
            plan.skip(item, f"{place} is no object")


def _graph(answer: Any) -> Any:
    """The graph in an answer of ``read_graph``, of which a client may have kept what is around."""
    for key in ("result", "structuredContent", "content"):
        inner = answer.get(key) if isinstance(answer, dict) and "type" not in answer else None
        if key == "content" and isinstance(inner, list) and inner and isinstance(inner[0], dict):
            inner = parse_json(str(inner[0].get("text")), "text")
        answer = inner if isinstance(inner, dict) else answer
    return answer


def _of_graph(graph: Json, plan: Plan) -> Iterator[tuple[str, Any]]:
    """The items of an answer of ``read_graph``, with their kinds."""
    for kind, name in (("entity", "entities"), ("relation", "relations")):
        listed = graph.pop(name, None) or []
        for number, item in enumerate(listed if isinstance(listed, list) else [listed], 1):
            yield f"{name} {number}", {**item, "type": kind} if isinstance(item, dict) else item
    if graph:
        plan.skip(graph, "it is neither in entities nor in relations")


def _of_lines(text: str, plan: Plan) -> Iterator[tuple[str, Any]]:
    """The values of the lines; one that is no JSON, such as one that was cut, is skipped."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", parse_json(line, plan.source, number)
            except KipError as error:
                plan.skip(line, error.message)


def _text(value: object) -> str:
    """A name as a text; empty for what is none."""
    is_name = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_name and str(value).strip() else ""


def _ends(item: Json) -> tuple[str, str, str]:
    start, predicate, end = (item.get(key) for key in ("from", "relationType", "to"))
    ends = _text(start), _text(predicate), _text(end)
    if all(ends):
        for key in ("from", "relationType", "to"):
            del item[key]
    return ends


def _unite(entity: Json, item: Json, place: str, plan: Plan) -> None:
    """Add a line to what earlier lines said of its entity."""
    observations = item.pop("observations", None)
    if not isinstance(observations, list):
        observations = [] if observations is None else [observations]
    entity.setdefault("observations", []).extend(observations)
    for key, value in item.items():
        if entity.setdefault(key, value) != value:
            plan.skip({key: value}, f"{place}: an earlier line has another {key} of this entity")


def _add_entity(plan: Plan, name: str, item: Json) -> tuple[str, str]:
    observations = item.pop("observations")
    type = _text(item.get("entityType"))
    if type:
        del item["entityType"]
    concept = plan.add_concept(type or UNKNOWN, name, item, original_id=name)
    ids: set[str] = set()
    for turn, value in enumerate(observations, 1):
        text, rest = _observation(value)
        if not text.strip():
            plan.skip(value, f"an observation of {name!r} without a text")
            continue
        digest = hashlib.sha256(f"{name}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
        id = f"observation_{digest[:24]}"
        if id not in ids:
            ids.add(id)
            time = next((rest[key] for key in _TIMES if key in rest), None)
            note = plan.add_note_if_valid(
                text,
                id=id,
                timestamp=moment(time),
                session=concept[1],
                turn=turn,
                attributes=rest,
            )
            if note is not None:
                plan.add_proposition(note, MENTIONS, concept)
    return concept


def _observation(value: Any) -> tuple[str, Json]:
    """The text of an observation, and what a variant of the server has beside it."""
    if isinstance(value, dict):
        key = next((key for key in _TEXTS if isinstance(value.get(key), str)), "")
        return (value[key], {k: v for k, v in value.items() if k != key}) if key else ("", {})
    return "" if value is None else str(value), {}
