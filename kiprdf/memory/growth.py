"""Adds the statements of memories to a graph, or rebuilds it from all memories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kiprdf.memory.graph import (
    Change,
    EdgeLink,
    EntityNode,
    Graph,
    Key,
    Node,
    Statement,
    edge_id,
    entity_id,
    type_name,
)
from kiprdf.memory.items import (
    PREDICATES,
    TYPES,
    USER,
    Edge,
    Entity,
    Extraction,
    Found,
    FoundEdge,
    Item,
)

_NO_NAME = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MOST_NAME = 1024


def is_name(name: object) -> bool:
    """Whether a text can be the name of a concept."""
    if not isinstance(name, str) or name != name.strip() or name in ("", ".", ".."):
        return False
    return len(name) <= _MOST_NAME and _NO_NAME.search(name) is None


class Growth:
    """The change that memories make to a graph, in the order in which they are added.

    With ``kept`` the graph is built again: entities keep their ids and aliases, edges their ids.
    """

    def __init__(
        self, graph: Graph, kept: tuple[Iterable[EntityNode], Iterable[EdgeLink]] | None = None
    ) -> None:
        self._graph = graph
        self._builds = kept is not None
        entities, edges = kept or ((), ())
        self._kept = {
            (node.entity.type, name): node
            for node in entities
            for name in (*node.aliases, node.entity.normalized_name)
        }
        self._kept_edges = {_ends(link.edge): link.edge.id for link in edges}
        self._replaced = {_ends(link.edge) for link in edges if link.own}
        self._node_of: dict[Key, Node] = {}
        self._nodes: dict[Node, EntityNode] = {}
        self._changed: dict[Node, None] = {}
        self._edges: dict[tuple[Node, str, Node], Edge] = {}
        self._statements: list[tuple[str, tuple[Node, str, Node], Statement]] = []
        self._mentions: list[tuple[str, Node]] = []

    @property
    def entities(self) -> list[EntityNode]:
        """The entities that are written."""
        return [self._nodes[node] for node in self._changed]

    @property
    def edges(self) -> list[Edge]:
        """The edges that are written."""
        return list(self._edges.values())

    def add(self, memory: Item, extraction: Extraction, src: str = "deterministic") -> None:
        """Add what a memory states; the user is created with the first one."""
        self._entity(USER, memory.timestamp)
        for edge in extraction.edges:
            if _is_valid(edge.subject) and _is_valid(edge.object) and edge.predicate in PREDICATES:
                self._edge(edge, memory, src)
        linked = {end.key for edge in extraction.edges for end in (edge.subject, edge.object)}
        for entity in extraction.entities:
            if entity.key not in linked and _is_valid(entity):
                node = self._entity(entity, memory.timestamp).node
                self._mentions.append((memory.id, node))

    def change(self) -> Change:
        """What must be written."""
        change = Change()
        for node in self.entities:
            change.write_entity(node)
        for (subject, _, object_), edge in self._edges.items():
            own: dict[str, Any] | None = {} if _ends(edge) in self._replaced else None
            change.write_edge(subject, object_, edge, own)
        for memory_id, key, statement in self._statements:
            change.write_statement(memory_id, key, statement)
        for memory_id, mentioned in self._mentions:
            change.write_mention(memory_id, mentioned)
        return change

    def _entity(self, entity: Found, timestamp: str) -> EntityNode:
        """The entity of the graph, created or with its times extended."""
        node = self._current(entity.key)
        if node is None:
            node = self._created(entity, timestamp)
        elif entity.key == USER.key:
            return node
        else:
            node = _extended(node, timestamp)
        self._changed[node.node] = None
        self._nodes[node.node] = node
        self._node_of[entity.key] = node.node
        return node

    def _current(self, key: Key) -> EntityNode | None:
        if key in self._node_of:
            return self._nodes[self._node_of[key]]
        node = None if self._builds else self._graph.entity(key)
        if node is not None:
            self._node_of[key] = node.node
            node = self._nodes.setdefault(node.node, node)
        return node

    def _created(self, entity: Found, timestamp: str) -> EntityNode:
        type, name, normalized_name = entity.type, entity.name, entity.normalized_name
        id = entity_id(type, normalized_name)
        aliases: tuple[str, ...] = ()
        kept = self._kept.get(entity.key)
        if kept is not None:
            id, aliases = kept.entity.id, kept.aliases
            if kept.entity.normalized_name != normalized_name:
                name, normalized_name = kept.entity.name, kept.entity.normalized_name
                existing = self._nodes.get((type_name(type), name))
                if existing is not None:
                    return _extended(existing, timestamp)
        created = Entity(id, type, name, normalized_name, {}, timestamp, timestamp)
        self._node_of[type, normalized_name] = (type_name(type), name)
        return EntityNode(created, (type_name(type), name), aliases)

    def _edge(self, stated: FoundEdge, memory: Item, src: str) -> None:
        subject = self._entity(stated.subject, memory.timestamp)
        object_ = self._entity(stated.object, memory.timestamp)
        key = (subject.node, stated.predicate, object_.node)
        evidence = {"memory_id": memory.id, "src": src, "timestamp": memory.timestamp}
        if stated.pattern:
            evidence["pattern"] = stated.pattern
        statement = Statement(stated.weight, evidence)
        edge = self._edges.get(key)
        if edge is None and not self._builds:
            link = self._graph.edge(*key)
            edge = None if link is None else link.edge
        if edge is None:
            ends = (subject.entity.id, stated.predicate, object_.entity.id)
            id = self._kept_edges.get(ends) or edge_id(*ends)
            edge = Edge(id, *ends, stated.weight, evidence, memory.timestamp)
        else:
            edge = strengthened(edge, statement)
        self._edges[key] = edge
        self._statements.append((memory.id, key, statement))


def strengthened(edge: Edge, statement: Statement) -> Edge:
    """An edge after another statement: the strongest gives weight and evidence."""
    timestamp = str(statement.evidence.get("timestamp") or edge.created_ts)
    edge = replace(edge, created_ts=_earlier(edge.created_ts, timestamp))
    if statement.strength < Statement(edge.weight, edge.evidence).strength:
        return edge
    return replace(edge, weight=statement.weight, evidence=statement.evidence)


def _extended(node: EntityNode, timestamp: str) -> EntityNode:
    """An entity after another mention: its times span all of them."""
    entity = node.entity
    created = _earlier(entity.created_ts, timestamp)
    updated = entity.updated_ts
    if _earlier(updated, timestamp) == updated:
        updated = timestamp
    return replace(node, entity=replace(entity, created_ts=created, updated_ts=updated))


def _earlier(first: str, second: str) -> str:
    return min(first, second, key=lambda timestamp: timestamp.rstrip("Z"))


def _is_valid(entity: Any) -> bool:
    return isinstance(entity, Found) and entity.type in TYPES and is_name(entity.name)


def _ends(edge: Edge) -> tuple[str, str, str]:
    return edge.subject_id, edge.predicate, edge.object_id
