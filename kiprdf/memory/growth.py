"""Adds the statements of memories to a graph, or rebuilds it from all memories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kiprdf.memory.evidence import (
    Statement,
    denial,
    extended,
    resolved,
    statements_of,
    strengthened,
    turn_of,
)
from kiprdf.memory.extraction.tools import mentions
from kiprdf.memory.graph import (
    ITEM,
    SUCCESSOR,
    Change,
    EdgeLink,
    EntityNode,
    Graph,
    Key,
    Link,
    Node,
    edge_id,
    entity_id,
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
    is_name,
    normalized,
)

_AGAINST = ("not ", "against ", "no ")


class Growth:
    """What memories add to a graph, in the order in which they are added.

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
        self._kept_edges = {_ends(link.edge): link for link in edges}
        self._node_of: dict[Key, Node] = {}
        self._nodes: dict[Node, EntityNode] = {}
        self._links: dict[Link, EdgeLink | None] = {}
        self._statements: dict[Link, list[Statement]] = {}
        self._mentions: list[tuple[str, Node]] = []
        self._denials: dict[str, dict[str, Statement]] = {}
        """By the name of a relation, what the memories state that deny it, by their ids."""
        self.entities: dict[Node, EntityNode] = {}
        """The entities that are written."""
        self.edges: dict[Link, Edge] = {}
        """The edges that are written."""

    def add(self, memory: Item, extraction: Extraction, src: str = "deterministic") -> None:
        """Add what a memory states; the user is created with the first one."""
        self._entity(USER, memory.timestamp)
        for edge in extraction.edges:
            if _is_valid_edge(edge):
                self._edge(edge, memory, src)
        held = {edge.key for edge in extraction.edges}
        for edge in extraction.ended:
            if _is_valid_edge(edge) and edge.key not in held:
                if edge.weight:
                    self._edge(edge, memory, src, ends=True)
                else:
                    self._denial(edge, memory)
        linked = {end.key for edge in extraction.edges for end in (edge.subject, edge.object)}
        for entity in extraction.entities:
            if entity.key not in linked and _is_valid(entity):
                node = self._entity(entity, memory.timestamp).node
                self._mentions.append((memory.id, node))

    def write(self, change: Change) -> None:
        """Add all of it to a change."""
        for node in self.entities.values():
            change.add_entity(node)
        rejected = change.rejected(self.edges)
        for key, edge in self.edges.items():
            if key in rejected:
                # The notes still name its ends.
                self._mentions += [
                    (each.memory_id, end) for each in self._statements[key] for end in key[::2]
                ]
                continue
            statements, kept = self._statements[key], self._kept_edges.get(_ends(edge))
            own: dict[str, Any] | None = {} if kept is not None and kept.own else None
            change.add_edge(key, self._resolved(key, edge, statements), own)
            for statement in statements:
                change.add_statement(key, statement)
        for memory_id, mentioned in self._mentions:
            change.add_mention(memory_id, mentioned)
        denies: dict[str, list[str]] = {}
        for name, denials in self._denials.items():
            for memory_id, denied in denials.items():
                by = denied.evidence.get("superseded_by")
                names = [name] if by is None else [name, f"{name}{SUCCESSOR}{by}"]
                denies.setdefault(memory_id, []).extend(names)
        for memory_id in [*denies, *(self._graph.denying() if self._builds else ())]:
            change.add((ITEM, memory_id), {"denies": denies.get(memory_id)})

    def _resolved(self, key: Link, edge: Edge, statements: list[Statement]) -> Edge:
        """An edge after all statements, if one of them says that it does not hold."""
        link = self._links.get(key)
        is_ended = link is not None and link.edge.valid_until is not None
        if not is_ended and not any(statement.ends for statement in statements):
            return edge
        if link is not None:
            new = {statement.memory_id for statement in statements}
            stated = self._graph.statements_about(link)
            before = [each for each in stated if each.memory_id not in new]
            statements = [*statements_of(link.edge, link.own, before), *statements]
        return resolved(edge, statements)

    def _entity(self, mentioned: Found, timestamp: str) -> EntityNode:
        """The entity of the graph, created or with its times extended."""
        node = self._existing(mentioned)
        if node is None:
            id = entity_id(*mentioned.key)
            node = EntityNode(Entity(id, mentioned.type, mentioned.name, mentioned.normalized_name))
        if mentioned.key != USER.key or not node.entity.created_ts:
            node = replace(node, entity=extended(node.entity, timestamp))
            self.entities[node.node] = node
        self._nodes[node.node] = node
        self._node_of[mentioned.key] = self._node_of[node.key] = node.node
        return node

    def _existing(self, mentioned: Found) -> EntityNode | None:
        """The entity as this change writes it, else as the graph has it, or had it."""
        kept = self._kept.get(mentioned.key)
        for key in (mentioned.key, *([kept.key] if kept else ())):
            if key in self._node_of:
                return self._nodes[self._node_of[key]]
        if not self._builds:
            return self._graph.named(mentioned.normalized_name, mentioned.type)
        if kept is None:
            return None
        name = mentioned.name if kept.key == mentioned.key else kept.entity.name
        entity = replace(kept.entity, name=name, metadata={}, created_ts="", updated_ts="")
        return EntityNode(entity, kept.aliases)

    def _edge(self, stated: FoundEdge, memory: Item, src: str, *, ends: bool = False) -> None:
        subject = self._entity(stated.subject, memory.timestamp)
        object_ = self._entity(stated.object, memory.timestamp)
        key = (subject.node, stated.predicate, object_.node)
        evidence: dict[str, Any] = {"memory_id": memory.id, "src": src}
        evidence["timestamp"] = memory.timestamp
        if stated.pattern:
            evidence["pattern"] = stated.pattern
        if ends:
            evidence |= {"superseded": True, "superseded_by": self._id_of(stated.superseded_by)}
        statement = Statement(stated.weight, evidence, turn_of(memory.session, memory.turn))
        edge = self._current_edge(key)
        if edge is None:
            nodes = (subject.entity.id, stated.predicate, object_.entity.id)
            kept = self._kept_edges.get(nodes)
            id = edge_id(*nodes) if kept is None else kept.edge.id
            edge = Edge(id, *nodes, stated.weight, evidence, memory.timestamp)
            self._statements[key] = self._denied(stated, object_)
        self.edges[key] = strengthened(edge, statement)
        self._statements.setdefault(key, []).append(statement)

    def _current_edge(self, key: Link) -> Edge | None:
        """The edge of this change, else of the graph."""
        if key not in self.edges and not self._builds:
            link = self._links[key] = self._graph.edge(*key)
            return None if link is None else link.edge
        return self.edges.get(key)

    def _id_of(self, stated: FoundEdge | None) -> str | None:
        """The id of an edge that this change writes."""
        if stated is None or not {stated.subject.key, stated.object.key} <= self._node_of.keys():
            return None
        subject, object_ = self._node_of[stated.subject.key], self._node_of[stated.object.key]
        edge = self.edges.get((subject, stated.predicate, object_))
        return None if edge is None else edge.id

    def _denial(self, stated: FoundEdge, memory: Item) -> None:
        """Add that a memory denies a relation of the user, and end the edge if there is one."""
        name = _denied_name(stated.predicate, stated.object.type, stated.object.normalized_name)
        turn = turn_of(memory.session, memory.turn)
        statement = denial(memory.id, memory.timestamp, turn, self._id_of(stated.superseded_by))
        self._denials.setdefault(name, {})[memory.id] = statement
        subject, node = self._current(USER), self._current(stated.object)
        if subject is None:
            return
        nodes = set() if node is None else {node}
        if stated.predicate == "decided":
            stored = [] if self._builds else self._graph.entities("decision")
            decisions = [*stored, *self._nodes.values()]
            nodes |= {each.node for each in decisions if name in denied_names("decided", each)}
        for object_node in nodes:
            key = (subject, stated.predicate, object_node)
            edge = self._current_edge(key)
            if edge is not None:
                self.edges[key] = edge
                self._statements.setdefault(key, []).append(statement)

    def _current(self, mentioned: Found) -> Node | None:
        """The concept of an entity that this change writes, or that the graph has."""
        node = self._existing(mentioned)
        if node is None or (self._builds and node.node not in self._nodes):
            return None
        self._nodes.setdefault(node.node, node)
        self._node_of[mentioned.key] = node.node
        return node.node

    def _denied(self, stated: FoundEdge, object_: EntityNode) -> list[Statement]:
        """What memories deny of an edge that is created."""
        if stated.subject.key != USER.key:
            return []
        names = denied_names(stated.predicate, object_, stated.object.normalized_name)
        denials = [each for name in names for each in self._denials.get(name, {}).values()]
        if not self._builds:
            denials += self._graph.denials(names)
        return list({each.memory_id: each for each in denials}.values())


def _denied_name(predicate: str, type: str, normalized_name: str) -> str:
    """The name of a relation of the user in the attribute ``denies`` of a memory."""
    return f"{predicate} {type} {normalized_name}"


def denied_names(predicate: str, object_: EntityNode, *names: str) -> list[str]:
    """The names of a relation of the user by all names of its object.

    "Use Redis for queues" is also named "use redis", since a correction names the tool alone.
    """
    names = (*names, *object_.names)
    if object_.entity.type == "decision":
        tools = (
            tool.name for name in names if not name.startswith(_AGAINST) for tool in mentions(name)
        )
        names = (*names, *(f"use {normalized(tool)}" for tool in tools))
    return [_denied_name(predicate, object_.entity.type, name) for name in dict.fromkeys(names)]


def _is_valid(entity: Any) -> bool:
    return isinstance(entity, Found) and entity.type in TYPES and is_name(entity.name)


def _is_valid_edge(edge: FoundEdge) -> bool:
    return _is_valid(edge.subject) and _is_valid(edge.object) and edge.predicate in PREDICATES


def _ends(edge: Edge) -> tuple[str, str, str]:
    return edge.subject_id, edge.predicate, edge.object_id
