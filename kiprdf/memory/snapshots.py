"""Snapshots of a graph, version 1.0: written, read and checked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kiprdf.memory.edits import add_statement, checked_weight, json_object
from kiprdf.memory.evidence import Statement, extended, memories_of
from kiprdf.memory.graph import Change, EntityNode, Graph, Key, Link, entity_id
from kiprdf.memory.items import (
    PREDICATES,
    TYPES,
    USER,
    USER_ID,
    USER_NAME,
    Edge,
    Entity,
    is_name,
    normalized,
)

VERSION = "1.0"
_END = ("valid_until", "superseded_by")


def export(nodes: Iterable[EntityNode], edges: Iterable[Edge], moment: str) -> dict[str, Any]:
    """A snapshot of entities and edges.

    An entity that others were merged into has their names as ``aliases``; an edge has the keys of
    its end, which version 1.0 does not know, only if it ended.
    """
    return {
        "version": VERSION,
        "exported_at": moment,
        "entities": [
            node.entity.to_dict() | ({"aliases": list(node.aliases)} if node.aliases else {})
            for node in nodes
        ],
        "edges": [
            {
                key: value
                for key, value in edge.to_dict().items()
                if not (key in _END and value is None)
            }
            for edge in edges
        ],
    }


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


def add(
    graph: Graph, change: Change, snapshot: Mapping[str, Any], *, merge: bool
) -> dict[str, int]:
    """Add a checked snapshot to a change, and return its counts."""
    moment = str(snapshot.get("exported_at") or "")
    before = {node.key: node for node in graph.entities()}
    by_id = {node.entity.id: node for node in before.values()} if merge else {}
    created = 0
    nodes = _with_user(snapshot, moment)
    for node in nodes.values():
        existing = before.get(node.key)
        if existing is None and merge:
            type, names = node.entity.type, dict.fromkeys(node.names)
            others = [name for name in names if (type, name) not in nodes or name == node.key[1]]
            existing = next(filter(None, (graph.named(name, type) for name in others)), None)
        created += existing is None
        written = _merged(existing, node) if existing is not None and merge else node
        change.add_entity(written, replaces=not merge)
        by_id[node.entity.id] = written
    edges = [
        _without_erased(_edge(value, number), change)
        for number, value in enumerate(snapshot["edges"])
    ]
    links: dict[Link, tuple[Edge, EntityNode, EntityNode]] = {}
    for edge in edges:
        subject, object_ = by_id.get(edge.subject_id), by_id.get(edge.object_id)
        if subject is None or object_ is None or subject.node == object_.node:
            raise ValueError(f"The edge {edge.id} of the snapshot has an end that is not there.")
        key = (subject.node, edge.predicate, object_.node)
        if key in links:
            raise ValueError(f"The edge {edge.id} of the snapshot is there twice.")
        links[key] = edge, subject, object_
    present = {key: graph.edge(*key) for key in links}
    ids = {  # of edges that took the place of others: those that they have here
        edge.id: edge.id if link is None or not merge else link.edge.id
        for link, (edge, *_) in zip(present.values(), links.values(), strict=True)
    }
    rejected = change.rejected(links)
    for key, (edge, subject, object_) in links.items():
        if key in rejected:
            continue
        time = edge.created_ts or moment
        end = {name: value for name in _END if (value := getattr(edge, name)) is not None}
        if "superseded_by" in end:
            end["superseded_by"] = ids.get(end["superseded_by"], end["superseded_by"])
        statement = Statement(edge.weight, {**edge.evidence, **end})
        edge = replace(edge, created_ts=time)
        if merge:
            ids_here = subject.entity.id, edge.predicate, object_.entity.id
            new = Edge(edge.id, *ids_here, edge.weight, created_ts=time)
            add_statement(graph, change, present[key], new, statement, key)
        else:
            own = {
                **statement.evidence,
                "weight": edge.weight,
                "memory_ids": memories_of(statement),
            }
            change.add_edge(key, edge, own)
        created += present[key] is None
    counts = {"entities": len(snapshot["entities"]), "edges": len(edges) - len(rejected)}
    total = sum(counts.values())
    if rejected:
        counts["rejected"] = len(rejected)
    return {**counts, "created": min(created, total), "updated": max(total - created, 0)}


def _merged(existing: EntityNode, node: EntityNode) -> EntityNode:
    """An existing entity with the metadata and the names of one of a snapshot."""
    entity = node.entity
    names = dict.fromkeys([*existing.aliases, *node.aliases, entity.normalized_name])
    names.pop(existing.entity.normalized_name, None)
    times = entity.created_ts, entity.updated_ts
    merged = extended(existing.entity, *times, metadata=entity.metadata)
    return replace(existing, entity=merged, aliases=tuple(names))


def _with_user(snapshot: Mapping[str, Any], moment: str) -> dict[Key, EntityNode]:
    """The entities of a snapshot, with the user, whom edges may name without an entity."""
    entities: dict[Key, EntityNode] = {}
    ids: set[str] = set()
    for number, value in enumerate(snapshot["entities"]):
        node = _entity(value, number, moment)
        if node.key in entities or node.entity.id in ids:
            raise ValueError(f"The entity {node.entity.id} of the snapshot is there twice.")
        entities[node.key] = node
        ids.add(node.entity.id)
    if USER_ID not in ids and any(
        USER_ID in (value.get("subject_id"), value.get("object_id")) for value in snapshot["edges"]
    ):
        type, name = USER.key
        user = Entity(entity_id(type, name), type, USER_NAME, name, {}, moment, moment)
        entities.setdefault(USER.key, EntityNode(user))
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
    name = name.strip()
    entity = Entity(id, str(type), name, normalized(name), metadata, created, updated)
    names = dict.fromkeys([*aliases, *map(normalized, aliases)])
    return EntityNode(entity, tuple(names))


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


def _without_erased(edge: Edge, change: Change) -> Edge:
    """An edge whose evidence names no memory that was erased for good."""
    memories = memories_of(Statement(edge.weight, edge.evidence))
    gone = change.erased_notes(memories)
    if not gone:
        return edge
    left = [id for id in memories if id not in gone]
    own = edge.evidence.get("memory_id")
    kept = {"memory_id": next(iter(left), None) if own in gone else own, "memory_ids": left}
    return replace(edge, evidence={**edge.evidence, **kept})


def _text(value: object, default: str, place: str) -> str:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"A time of the {place} of the snapshot is no text.")
    return value or default
