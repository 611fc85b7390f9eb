"""Adds the statements of memories to a graph, or rebuilds it from all memories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeAlias

from kiprdf.memory.extraction.tools import mentions
from kiprdf.memory.graph import (
    SUCCESSOR,
    Change,
    EdgeLink,
    EntityNode,
    Graph,
    Key,
    Node,
    Statement,
    denial,
    edge_id,
    entity_id,
    turn_of,
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
    normalized,
)

_EdgeKey: TypeAlias = tuple[Node, str, Node]

_NO_NAME = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MOST_NAME = 1024
_AGAINST = ("not ", "against ", "no ")


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
        self._edges: dict[_EdgeKey, Edge] = {}
        self._links: dict[_EdgeKey, EdgeLink] = {}
        self._statements: dict[_EdgeKey, list[Statement]] = {}
        self._mentions: list[tuple[str, Node]] = []
        self._denials: dict[str, dict[str, Statement]] = {}
        """By the name of a relation, what the memories state that deny it, by their ids."""

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

    def change(self) -> Change:
        """What must be written."""
        change = Change()
        self._resolve()
        for node in self.entities:
            change.write_entity(node)
        for (subject, _, object_), edge in self._edges.items():
            own: dict[str, Any] | None = {} if _ends(edge) in self._replaced else None
            change.write_edge(subject, object_, edge, own)
        for key, statements in self._statements.items():
            for statement in statements:
                change.write_statement(statement.evidence["memory_id"], key, statement)
        for memory_id, mentioned in self._mentions:
            change.write_mention(memory_id, mentioned)
        denies: dict[str, list[str]] = {}
        for name, denials in self._denials.items():
            for memory_id, denied in denials.items():
                by = denied.evidence.get("superseded_by")
                names = [name] if by is None else [name, f"{name}{SUCCESSOR}{by}"]
                denies.setdefault(memory_id, []).extend(names)
        for memory_id in [*denies, *(self._graph.denying() if self._builds else ())]:
            change.write_item(memory_id, {"denies": denies.get(memory_id)})
        return change

    def _resolve(self) -> None:
        """Decide which of the edges hold, where a memory says that one does not."""
        for key, edge in self._edges.items():
            statements, link = self._statements[key], self._links.get(key)
            is_ended = link is not None and link.edge.valid_until is not None
            if not is_ended and not any(statement.ends for statement in statements):
                continue
            if link is not None:
                stated = self._graph.statements("?l (id: :id)", id=link.link).get(link.link, [])
                new = {statement.evidence["memory_id"] for statement in statements}
                before = [each for each in stated if each.evidence["memory_id"] not in new]
                statements = [*statements_of(link, before), *statements]
            self._edges[key] = resolved(edge, statements)

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
            id = self._kept_edges.get(nodes) or edge_id(*nodes)
            edge = Edge(id, *nodes, stated.weight, evidence, memory.timestamp)
            self._statements[key] = self._denied(stated, object_)
        else:
            edge = strengthened(edge, statement)
        self._edges[key] = edge
        self._statements.setdefault(key, []).append(statement)

    def _current_edge(self, key: _EdgeKey) -> Edge | None:
        """The edge of this change, else of the graph."""
        if key not in self._edges and not self._builds:
            link = self._graph.edge(*key)
            if link is not None:
                self._links[key] = link
                return link.edge
        return self._edges.get(key)

    def _id_of(self, stated: FoundEdge | None) -> str | None:
        """The id of an edge that this change writes."""
        if stated is None or not {stated.subject.key, stated.object.key} <= self._node_of.keys():
            return None
        subject, object_ = self._node_of[stated.subject.key], self._node_of[stated.object.key]
        edge = self._edges.get((subject, stated.predicate, object_))
        return None if edge is None else edge.id

    def _denial(self, stated: FoundEdge, memory: Item) -> None:
        """Add that a memory denies a relation of the user, and end the edge if there is one."""
        name = denied_name(stated.predicate, stated.object.type, stated.object.normalized_name)
        turn = turn_of(memory.session, memory.turn)
        statement = denial(memory.id, memory.timestamp, turn, self._id_of(stated.superseded_by))
        self._denials.setdefault(name, {})[memory.id] = statement
        object_ = stated.object.key
        if self._builds and object_ in self._kept:
            entity = self._kept[object_].entity
            object_ = (entity.type, entity.normalized_name)
        subject, node = self._current(USER.key), self._current(object_)
        if subject is None:
            return
        nodes = {node.node} if node is not None else set()
        if stated.predicate == "decided":
            stored = [] if self._builds else self._graph.entities("decision")
            decisions = [*stored, *self._nodes.values()]
            nodes |= {each.node for each in decisions if name in denied_names("decided", each)}
        for object_node in nodes:
            key = (subject.node, stated.predicate, object_node)
            edge = self._current_edge(key)
            if edge is not None:
                self._edges[key] = edge
                self._statements.setdefault(key, []).append(statement)

    def _denied(self, stated: FoundEdge, object_: EntityNode) -> list[Statement]:
        """What memories deny of an edge that is created."""
        if stated.subject.key != USER.key:
            return []
        names = denied_names(stated.predicate, object_, stated.object.normalized_name)
        denials = [each for name in names for each in self._denials.get(name, {}).values()]
        if not self._builds:
            denials += self._graph.denials(names)
        return list({each.evidence["memory_id"]: each for each in denials}.values())


def denied_name(predicate: str, type: str, normalized_name: str) -> str:
    """The name of a relation of the user in the attribute ``denies`` of a memory."""
    return f"{predicate} {type} {normalized_name}"


def denied_names(predicate: str, object_: EntityNode, *names: str) -> list[str]:
    """The names of a relation of the user by all names of its object.

    "Use Redis for queues" is also named "use redis", since a correction names the tool alone.
    """
    names = (*names, object_.entity.normalized_name, *map(normalized, object_.aliases))
    if object_.entity.type == "decision":
        tools = (
            tool.name for name in names if not name.startswith(_AGAINST) for tool in mentions(name)
        )
        names = (*names, *(f"use {normalized(tool)}" for tool in tools))
    return [denied_name(predicate, object_.entity.type, name) for name in dict.fromkeys(names)]


def statements_of(link: EdgeLink, stated: list[Statement]) -> list[Statement]:
    """All statements of an edge: those of stored memories, and its own evidence."""
    if not link.own:
        return stated or [Statement(link.edge.weight, link.edge.evidence)]
    own = {"timestamp": link.edge.created_ts, **link.own}
    statements = [*stated, Statement(own["weight"], own)]
    until = own.get("valid_until")
    if isinstance(until, str):
        ending = {**own, "timestamp": until, "superseded": True}
        statements.append(Statement(own["weight"], ending))
    return statements


def resolved(edge: Edge, statements: list[Statement]) -> Edge:
    """An edge after all its statements: it holds if the newest says so.

    It ends with the first statement after those that it holds; of two of the same time, the one
    that ends it is the later, unless both are of one session.
    """
    strongest = max(holding(statements), key=lambda statement: statement.strength)
    statements = _by_turn(statements)
    last = max((statement.time for statement in statements if not statement.ends), default="")
    ending = sorted(
        (each for each in statements if each.ends and each.time >= last),
        key=lambda statement: (statement.time, str(statement.evidence.get("memory_id"))),
    )
    edge = replace(edge, weight=strongest.weight, valid_until=None, superseded_by=None)
    if not ending:
        return replace(edge, evidence=strongest.evidence)
    superseding = (each.evidence.get("superseded_by") for each in ending)
    return replace(
        edge,
        evidence=ending[0].evidence,
        valid_until=ending[0].evidence.get("timestamp"),
        superseded_by=next(filter(None, superseding), None),
    )


def holding(statements: list[Statement]) -> list[Statement]:
    """The statements by which an edge holds; all of them, if each ends it."""
    return [statement for statement in statements if not statement.ends] or statements


def _by_turn(statements: list[Statement]) -> list[Statement]:
    """Statements without those that a later turn of their session takes back at their time.

    None is of an earlier time than those of the turns before it: a clock may have gone back.
    """
    left = [statement for statement in statements if statement.turn is None]
    turns = sorted(
        (statement for statement in statements if statement.turn is not None),
        key=lambda statement: statement.turn or (),
    )
    for _, session in groupby(turns, lambda statement: statement.turn and statement.turn[0]):
        kept: list[Statement] = []
        for statement in session:
            if kept and statement.time <= kept[-1].time:
                time = kept[-1].evidence.get("timestamp")
                statement = replace(statement, evidence={**statement.evidence, "timestamp": time})
            while kept and kept[-1].time == statement.time and kept[-1].ends != statement.ends:
                kept.pop()
            kept.append(statement)
        left += kept
    return left


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


def _is_valid_edge(edge: FoundEdge) -> bool:
    return _is_valid(edge.subject) and _is_valid(edge.object) and edge.predicate in PREDICATES


def _ends(edge: Edge) -> tuple[str, str, str]:
    return edge.subject_id, edge.predicate, edge.object_id
