"""Changes of single entities and edges, and what forgetting a memory deletes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kiprdf.memory.graph import (
    ITEM,
    MENTIONS,
    STATES,
    Change,
    EdgeLink,
    EntityNode,
    Graph,
    Node,
    Statement,
    edge_id,
    entity_id,
    type_name,
)
from kiprdf.memory.growth import is_name, resolved, statements_of, strengthened
from kiprdf.memory.items import Edge, Entity, normalized


def entity(
    graph: Graph, type: str, name: str, metadata: Mapping[str, Any] | None, moment: str
) -> str:
    """Create an entity or merge metadata into it; return its id."""
    if not isinstance(name, str) or not is_name(name.strip()):
        raise ValueError(f"{name!r} cannot be the name of an entity.")
    details = json_object(metadata or {}, "metadata")

    def write() -> str:
        node = graph.entity((type, normalized(name)))
        if node is None:
            id = entity_id(type, normalized(name))
            created = Entity(id, type, name.strip(), normalized(name), details, moment, moment)
            node = EntityNode(created, (type_name(type), name.strip()))
        else:
            merged = {**node.entity.metadata, **details}
            updated = max(node.entity.updated_ts, moment, key=lambda time: time.rstrip("Z"))
            node = replace(node, entity=replace(node.entity, metadata=merged, updated_ts=updated))
        change = Change()
        change.write_entity(replace(node, is_kept=True))
        graph.commit(change)
        return node.entity.id

    return graph.write(write)


def edge(
    graph: Graph, ends: tuple[str, str, str], weight: float, evidence: object, moment: str
) -> str:
    """Create an edge or add a statement to it; return its id."""
    subject_id, predicate, object_id = ends
    statement = Statement(checked_weight(weight), json_object(evidence, "evidence"))

    def write() -> str:
        subject, object_ = graph.with_id(subject_id), graph.with_id(object_id)
        for id, node in ((subject_id, subject), (object_id, object_)):
            if node is None:
                raise ValueError(f"There is no entity {id!r}.")
        if subject is None or object_ is None or subject.node == object_.node:
            raise ValueError("An edge connects two different entities.")
        change = Change()
        id, _ = add_edge(graph, change, subject, predicate, object_, statement, moment)
        graph.commit(change)
        return id

    return graph.write(write)


def add_edge(
    graph: Graph,
    change: Change,
    subject: EntityNode,
    predicate: str,
    object_: EntityNode,
    statement: Statement,
    moment: str,
    new_id: str | None = None,
) -> tuple[str, bool]:
    """Add a statement without a stored memory to a change; return the id, and if it is new."""
    link = graph.edge(subject.node, predicate, object_.node)
    own = united(link.own if link else {}, statement)
    stated = Statement(statement.weight, {"timestamp": moment, **statement.evidence})
    times = (str(own.get("timestamp") or ""), str(stated.evidence["timestamp"]))
    own["timestamp"] = max(times, key=lambda time: time.rstrip("Z"))
    if link is None:
        ids = (subject.entity.id, predicate, object_.entity.id)
        id = new_id or edge_id(*ids)
        written = Edge(id, *ids, statement.weight, stated.evidence, moment)
    else:
        written = replace(strengthened(link.edge, stated), created_ts=link.edge.created_ts)
    if written.valid_until or "valid_until" in own:
        id = link.link if link else ""
        memories = graph.statements("?l (id: :id)", id=id).get(id, []) if link else []
        written = resolved(written, statements_of(EdgeLink(written, id, own), memories))
    change.write_edge(subject.node, object_.node, written, own)
    return written.id, link is None


def united(own: Mapping[str, Any], statement: Statement) -> dict[str, Any]:
    """The evidence without stored memories, after another statement."""
    evidence = statement.evidence
    before = Statement(own.get("weight", -1.0), dict(own))
    first: Mapping[str, Any] = own
    last: Mapping[str, Any] = evidence
    if statement.strength < before.strength:
        first, last = evidence, own
    ids = [*own.get("memory_ids", ()), *_ids(evidence)]
    weight = max(statement.weight, before.weight)
    return {**first, **last, "weight": weight, "memory_ids": list(dict.fromkeys(ids))}


def _ids(evidence: Mapping[str, Any]) -> list[str]:
    ids = evidence.get("memory_ids")
    own = evidence.get("memory_id")
    listed = [id for id in ids if isinstance(id, str)] if isinstance(ids, list) else []
    return listed if own is None or own in listed else [*listed, own]


def checked_weight(weight: object) -> float:
    """A weight from 0 to 1, else ``ValueError``."""
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
        raise ValueError(f"A weight is a number from 0 to 1, not {weight!r}.")
    return float(weight)


def json_object(value: object, name: str) -> dict[str, Any]:
    """A copy of a mapping as JSON, else ``ValueError``."""
    try:
        if isinstance(value, Mapping):
            copied: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
            return copied
    except (TypeError, ValueError, RecursionError):
        pass
    raise ValueError(f"{name} is an object of JSON values.")


def forgetting(graph: Graph, id: str) -> Change:
    """The change that deletes a memory, the edges and the entities that only it is evidence for."""
    change = Change()
    change.removed.append(f"C:{ITEM}/{id}")
    stated = graph.edges(f'({{type: "{ITEM}", name: :id}}, "{STATES}", ?l)', id=id)
    owned = graph.edges(filter="FILTER(IN(:id, ?l.metadata.memory_ids))", id=id)
    removed: list[EdgeLink] = []
    for link in {link.link: link for link in (*stated, *owned)}.values():
        _weaken(graph, change, link, id, removed)
    command = (
        "FIND(?e.attributes.entity_id)"
        f' WHERE {{ ({{type: "{ITEM}", name: :id}}, "{MENTIONS}", ?e) }}'
    )
    candidates = graph.column(command, id=id)
    for link in removed:
        candidates += [link.edge.subject_id, link.edge.object_id]
    gone = {link.link for link in removed}
    for candidate in dict.fromkeys(candidates):
        node = graph.with_id(candidate)
        if node is not None and not _has_evidence(graph, node, id, gone):
            change.removed.append(f"C:{node.node[0]}/{node.node[1]}")
    return change


def _weaken(
    graph: Graph, change: Change, link: EdgeLink, memory_id: str, removed: list[EdgeLink]
) -> None:
    """Take what a memory states from an edge; without other evidence the edge is removed."""
    statements = graph.statements("?l (id: :id)", id=link.link).get(link.link, [])
    others = [each for each in statements if each.evidence["memory_id"] != memory_id]
    own = dict(link.own)
    if own and memory_id in own.get("memory_ids", ()):
        own["memory_ids"] = [id for id in own["memory_ids"] if id != memory_id]
        if own.get("memory_id") == memory_id:
            own["memory_id"] = next(iter(own["memory_ids"]), None)
        own = own if own["memory_ids"] else {}
    if own:
        others = statements_of(replace(link, own=own), others)
    if all(statement.ends and not statement.weight for statement in others):
        removed.append(link)
        change.removed.append(link.link)
        return
    edge = resolved(link.edge, others)
    subject, object_ = graph.with_id(edge.subject_id), graph.with_id(edge.object_id)
    if subject is not None and object_ is not None:
        change.write_edge(subject.node, object_.node, edge, own if link.own else None)


def _has_evidence(graph: Graph, node: EntityNode, memory_id: str, gone: Iterable[str]) -> bool:
    if node.is_kept or node.entity.type == "user":
        return True
    links = [link for end in ("subject", "object") for link in graph.edges_at(node.node, end=end)]
    if any(link.link not in gone for link in links):
        return True
    return any(name != memory_id for name in mentioning(graph, node.node))


def mentioning(graph: Graph, node: Node) -> list[str]:
    """The memories that name an entity."""
    command = f'FIND(?m.name) WHERE {{ (?m, "{MENTIONS}", {{type: :type, name: :name}}) }}'
    return graph.column(command, type=node[0], name=node[1])


def replace_graph(graph: Graph, change: Change) -> None:
    """Let a change delete every entity, edge and link of evidence that it does not write."""
    change.removed += [f"C:{node.node[0]}/{node.node[1]}" for node in graph.entities()]
    change.removed += [link.link for link in graph.edges()]
    for predicate in (STATES, MENTIONS):
        command = f'FIND(?x.id) WHERE {{ ?x (?m, "{predicate}", ?y) }}'
        change.removed += graph.column(command)
