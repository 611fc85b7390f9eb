"""Snapshots of a graph, version 1.0: written, read and checked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kiprdf.memory.graph import Change, EntityNode, Graph, Key, Statement, entity_id, type_name
from kiprdf.memory.growth import is_name
from kiprdf.memory.items import (
    PREDICATES,
    TYPES,
    USER_ID,
    USER_NAME,
    Edge,
    Entity,
    normalized,
)
from kiprdf.memory.upserts import add_edge, checked_weight, json_object

VERSION = "1.0"
_END = ("valid_until", "superseded_by")


def export(nodes: Iterable[EntityNode], edges: Iterable[Edge], moment: str) -> dict[str, Any]:
    """A snapshot of entities and edges.

    An entity that others were merged into has their names as ``aliases``.
    """
    return {
        "version": VERSION,
        "exported_at": moment,
        "entities": [
            node.entity.to_dict() | ({"aliases": list(node.aliases)} if node.aliases else {})
            for node in nodes
        ],
        "edges": [_exported(edge) for edge in edges],
    }


def _exported(edge: Edge) -> dict[str, Any]:
    """An edge as JSON; when it ended only if it did, which version 1.0 does not know."""
    values = edge.to_dict()
    return {key: value for key, value in values.items() if key not in _END or value is not None}


def text(snapshot: Mapping[str, Any]) -> str:
    """A snapshot as JSON text."""
    return json.dumps(snapshot, ensure_ascii=False, indent=2) + "\n"


def read(source: object) -> Mapping[str, Any]:
    """A snapshot from a dict, a path, or JSON text, checked."""
    if isinstance(source, os.PathLike) or (
        isinstance(source, str) and not source.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    ):
        source = Path(source).read_text("utf-8-sig")
    if isinstance(source, str):
        try:
            source = json.loads(source)
        except (ValueError, RecursionError) as fault:
            raise ValueError(f"The snapshot is not JSON: {fault}") from None
    if not isinstance(source, Mapping):
        raise ValueError("A snapshot is a JSON object.")
    if source.get("version") != VERSION:
        raise ValueError(
            f"The snapshot has version {source.get('version')!r}; this is version {VERSION!r}."
        )
    for key in ("entities", "edges"):
        part = source.get(key)
        if not isinstance(part, list) or not all(isinstance(each, Mapping) for each in part):
            raise ValueError(f"{key} of the snapshot is a list of objects.")
    return source


def importing(
    graph: Graph, snapshot: Mapping[str, Any], *, merge: bool
) -> tuple[Change, dict[str, int]]:
    """The change that imports a checked snapshot, and its counts."""
    change = Change()
    moment = str(snapshot.get("exported_at") or "")
    before = {node.node: node for node in graph.entities()}
    by_key = {(n.entity.type, n.entity.normalized_name): n for n in before.values()}
    by_id = {node.entity.id: node for node in before.values()} if merge else {}
    created = 0
    nodes = _with_user(snapshot)
    for node in nodes.values():
        entity = node.entity
        existing = by_key.get((entity.type, entity.normalized_name))
        if existing is None and merge:
            keys = [(entity.type, normalized(name)) for name in node.aliases]
            keys = [
                (entity.type, entity.normalized_name),
                *(key for key in keys if key not in nodes),
            ]
            existing = next(filter(None, map(graph.entity, keys)), None)
        if existing is not None and merge:
            node = _merged(existing, node)
        created += existing is None
        change.write_entity(node, replaces=not merge)
        by_id[entity.id] = node
    edges = [_edge(value, number) for number, value in enumerate(snapshot["edges"])]
    written: set[tuple[Any, ...]] = set()
    ids = _present_ids(graph, edges, by_id) if merge else {}
    for edge in edges:
        ends = [by_id.get(id) for id in (edge.subject_id, edge.object_id)]
        subject, object_ = ends
        if subject is None or object_ is None or subject.node == object_.node:
            raise ValueError(f"The edge {edge.id} of the snapshot has an end that is not there.")
        key = (subject.node, edge.predicate, object_.node)
        if key in written:
            raise ValueError(f"The edge {edge.id} of the snapshot is there twice.")
        written.add(key)
        time = edge.created_ts or moment
        end = {key: value for key in _END if (value := getattr(edge, key)) is not None}
        if merge:
            if edge.superseded_by in ids:
                end["superseded_by"] = ids[edge.superseded_by]
            statement = Statement(edge.weight, {**edge.evidence, **end})
            is_new = add_edge(
                graph, change, subject, edge.predicate, object_, statement, time, edge.id
            )[1]
        else:
            is_new = graph.edge(*key) is None
            _replace_edge(change, subject, object_, replace(edge, created_ts=time), end)
        created += is_new
    total = len(snapshot["entities"]) + len(edges)
    counts = {"entities": len(snapshot["entities"]), "edges": len(edges)}
    return change, {**counts, "created": min(created, total), "updated": max(total - created, 0)}


def _present_ids(
    graph: Graph, edges: Iterable[Edge], by_id: Mapping[str, EntityNode]
) -> dict[str | None, str]:
    """The ids in the graph of the edges of a snapshot that took the place of others."""
    successors = {edge.superseded_by for edge in edges}
    ids: dict[str | None, str] = {}
    for edge in edges:
        ends = by_id.get(edge.subject_id), by_id.get(edge.object_id)
        if edge.id in successors and ends[0] is not None and ends[1] is not None:
            link = graph.edge(ends[0].node, edge.predicate, ends[1].node)
            ids[edge.id] = edge.id if link is None else link.edge.id
    return ids


def _replace_edge(
    change: Change, subject: EntityNode, object_: EntityNode, edge: Edge, end: Mapping[str, str]
) -> None:
    ids = edge.evidence.get("memory_ids")
    ids = [id for id in ids if isinstance(id, str)] if isinstance(ids, list) else []
    memory_id = edge.evidence.get("memory_id")
    if isinstance(memory_id, str) and memory_id not in ids:
        ids.append(memory_id)
    own = {**edge.evidence, **end, "weight": edge.weight, "memory_ids": ids}
    change.write_edge(subject.node, object_.node, edge, own)


def _merged(existing: EntityNode, node: EntityNode) -> EntityNode:
    """An existing entity with the metadata and the names of one of a snapshot."""
    times = (existing.entity.updated_ts, node.entity.updated_ts)
    merged = replace(
        existing.entity,
        metadata={**existing.entity.metadata, **node.entity.metadata},
        updated_ts=max(times, key=lambda time: time.rstrip("Z")),
    )
    names = dict.fromkeys([*existing.aliases, *node.aliases, node.entity.normalized_name])
    names.pop(existing.entity.normalized_name, None)
    return replace(existing, entity=merged, aliases=tuple(names))


def _with_user(snapshot: Mapping[str, Any]) -> dict[Key, EntityNode]:
    """The entities of a snapshot, with the user, whom edges may name without an entity."""
    entities: dict[Key, EntityNode] = {}
    ids: set[str] = set()
    moment = str(snapshot.get("exported_at") or "")
    for number, value in enumerate(snapshot["entities"]):
        node = _entity(value, number, moment)
        entity = node.entity
        key = (entity.type, entity.normalized_name)
        if key in entities or entity.id in ids:
            raise ValueError(f"The entity {entity.id} of the snapshot is there twice.")
        entities[key] = node
        ids.add(entity.id)
    if USER_ID not in ids and any(
        USER_ID in (value.get("subject_id"), value.get("object_id")) for value in snapshot["edges"]
    ):
        name = normalized(USER_NAME)
        user = Entity(entity_id("user", name), "user", USER_NAME, name, {}, moment, moment)
        entities.setdefault(("user", name), EntityNode(user, (type_name("user"), USER_NAME)))
    return entities


def _entity(value: Mapping[str, Any], number: int, moment: str) -> EntityNode:
    id, type, name = (value.get(key) for key in ("id", "type", "name"))
    if type not in TYPES:
        raise ValueError(f"Entity {number} of the snapshot has the unknown type {type!r}.")
    if not isinstance(id, str) or not id or not isinstance(name, str) or not is_name(name.strip()):
        raise ValueError(f"Entity {number} of the snapshot has no valid id and name.")
    created, updated = (
        _text(value.get(key), moment, f"entity {id}") for key in ("created_ts", "updated_ts")
    )
    metadata = json_object(value.get("metadata") or {}, f"metadata of the entity {id}")
    aliases = value.get("aliases") or ()
    if not isinstance(aliases, list | tuple) or not all(isinstance(each, str) for each in aliases):
        raise ValueError(f"aliases of the entity {id} is a list of texts.")
    name, type = name.strip(), str(type)
    entity = Entity(id, type, name, normalized(name), metadata, created, updated)
    names = dict.fromkeys([*aliases, *map(normalized, aliases)])
    return EntityNode(entity, (type_name(type), name), tuple(names))


def _edge(value: Mapping[str, Any], number: int) -> Edge:
    ids = [value.get(key) for key in ("id", "subject_id", "object_id")]
    predicate = value.get("predicate")
    if predicate not in PREDICATES:
        raise ValueError(f"Edge {number} of the snapshot has the unknown predicate {predicate!r}.")
    if not all(isinstance(id, str) and id for id in ids):
        raise ValueError(f"Edge {number} of the snapshot has no valid id and ends.")
    id, subject_id, object_id = map(str, ids)
    weight = checked_weight(value.get("weight"))
    evidence = json_object(value.get("evidence") or {}, f"evidence of the edge {id}")
    created = _text(value.get("created_ts"), "", f"edge {id}")
    until, by = (_text(value.get(key), "", f"edge {id}") or None for key in _END)
    return Edge(id, subject_id, str(predicate), object_id, weight, evidence, created, until, by)


def _text(value: object, default: str, place: str) -> str:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"A time of the {place} of the snapshot is no text.")
    return value or default
