"""The graph of a memory in its nexus: read with FIND, written as one commit.

An entity is a concept with the attributes ``entity_id`` and ``normalized_name``. An edge is a
proposition whose weight is its metadata key ``confidence``. What a stored memory states is a link
``states`` from the memory to the proposition, so that another memory with the same statement adds a
link and rewrites nothing; an entity without an edge has a link ``mentions``. What has no stored
memory, from ``upsert_edge`` or a snapshot, is the metadatum ``evidence`` of the proposition.

A relation that ended has the metadata ``superseded``, ``valid_until`` and ``superseded_by``, and
the link ``states`` of the memory that ended it has ``superseded``. What a memory denies is also its
attribute ``denies``, since the relation may be stated by an older memory that is added later.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from pyoxigraph import NamedNode

from kiprdf import collector
from kiprdf.kml import statements
from kiprdf.kml.draft import Draft
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import Reader
from kiprdf.language import bind, parse
from kiprdf.language.ast import Manipulation
from kiprdf.memory.items import PREDICATES, TYPES, USER_ID, USER_NAME, Edge, Entity, normalized
from kiprdf.memory.texts import shown_time
from kiprdf.nexus import Nexus
from kiprdf.rdf.elements import Concept, Proposition, json_map, read_object
from kiprdf.rdf.literals import to_term

T = TypeVar("T")
Node: TypeAlias = tuple[str, str]
"""Type and name of a concept."""
Key: TypeAlias = tuple[str, str]
"""Type and normalized name of an entity."""

ITEM = "MemoryItem"
STATES = "states"
MENTIONS = "mentions"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:kip:memory/")
_EDGES = " | ".join(f'"{predicate}"' for predicate in PREDICATES)
_ENTITY_KEYS = (
    *("entity_id", "normalized_name", "details", "created_ts", "updated_ts", "aliases", "is_kept"),
)
_EDGE_KEYS = ("edge_id", "confidence", "created_ts", "memory_id", "src", "timestamp", "pattern")
_OWN_KEYS = ("evidence", "memory_ids", "valid_until", "superseded_by")
_MERGE = "MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: :type, name: :a} ?b {type: :type, name: :b} }"
_EVIDENCE = ("memory_id", "src", "timestamp", "pattern")
_STATED = (*_EVIDENCE, "superseded", "superseded_by")
_TURN = "?m.attributes.session, ?m.attributes.turn"
SUCCESSOR = " > "
"""In ``denies``, between the name of a relation and the id of the one that took its place."""


@dataclass(frozen=True)
class EntityNode:
    """An entity with the concept that stores it; ``is_kept`` without a memory that names it."""

    entity: Entity
    node: Node
    aliases: tuple[str, ...] = ()
    is_kept: bool = False


@dataclass(frozen=True)
class EdgeLink:
    """An edge with the proposition that stores it.

    ``own`` is the evidence that no stored memory has, with its ``weight``; empty without such.
    """

    edge: Edge
    link: str
    own: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Statement:
    """What one memory states: the evidence of an edge, with its weight.

    It ends the edge if its evidence has ``superseded``; with a weight of 0 it is no evidence that
    the edge ever held. ``turn`` is the session of the memory and its place there.
    """

    weight: float
    evidence: dict[str, Any]
    turn: tuple[str, int] | None = None

    @property
    def ends(self) -> bool:
        """Whether it says that the edge does not hold."""
        return bool(self.evidence.get("superseded"))

    @property
    def time(self) -> str:
        """The time in a form that is compared as text."""
        return str(self.evidence.get("timestamp") or "").rstrip("Z")

    @property
    def strength(self) -> tuple[float, str, str]:
        """The strongest statement has the greatest; of equal weights, the newest."""
        return self.weight, self.time, str(self.evidence.get("memory_id") or "")


def turn_of(session: object, turn: object) -> tuple[str, int] | None:
    """The session of a memory and its place there, if it has both."""
    return (session, turn) if isinstance(session, str) and isinstance(turn, int) else None


def denial(
    memory_id: str, timestamp: str, turn: tuple[str, int] | None, by: str | None
) -> Statement:
    """That an edge does not hold, as a memory states that denies it."""
    evidence = {"memory_id": memory_id, "src": "deterministic", "timestamp": timestamp}
    end = {"superseded": True} if by is None else {"superseded": True, "superseded_by": by}
    return Statement(0.0, {**evidence, **end}, turn)


def type_name(type: str) -> str:
    """The concept type of a type of entities."""
    return type.capitalize()


def entity_id(type: str, normalized_name: str) -> str:
    """The id of a new entity, which follows from its type and name."""
    if (type, normalized_name) == ("user", normalized(USER_NAME)):
        return USER_ID
    return f"entity:{uuid.uuid5(_NAMESPACE, f'{type}/{normalized_name}')}"


def edge_id(subject_id: str, predicate: str, object_id: str) -> str:
    """The id of a new edge, which follows from its ends and predicate."""
    return f"edge:{uuid.uuid5(_NAMESPACE, f'{subject_id} {predicate} {object_id}')}"


class Graph:
    """Reads and writes the entities and edges of a nexus.

    ``is_ready`` is false for a nexus that is open read-only and has no memory; it reads as empty.
    """

    def __init__(self, nexus: Nexus, *, is_ready: bool) -> None:
        self.nexus = nexus
        self.is_ready = is_ready
        self._states = nexus.store.iris.predicate(STATES)

    # Reading ----------------------------------------------------------------------------------

    def rows(self, command: str, **parameters: Any) -> Iterable[tuple[Any, ...]]:
        """The rows of a FIND with several columns."""
        # Unlike find(), execute() does not look for the reason of an empty answer.
        return zip(*self.column(command, **parameters), strict=True)

    def column(self, command: str, **parameters: Any) -> list[Any]:
        """The values of a FIND with one column."""
        values: list[Any] = self.nexus.execute(command, **parameters) if self.is_ready else []
        return values

    def entities(self, type: str | None = None, where: str = "", **values: Any) -> list[EntityNode]:
        """The entities of a type, or of all, that a FILTER on ``?e`` leaves."""
        columns = ", ".join(f"?e.attributes.{key}" for key in _ENTITY_KEYS)
        filter = where or "FILTER(?e.attributes.entity_id != null)"
        # A filter by name or id is read from the index; without one, each type is.
        types = [type] if type or where else TYPES
        nodes = []
        for kind in types:
            matcher = "{type: :type}" if kind else "{}"
            command = f"FIND(?e.type, ?e.name, {columns}) WHERE {{ ?e {matcher} {filter} }}"
            rows = self.rows(command, type=type_name(kind or ""), **values)
            nodes += [_entity(row) for row in rows if row[2] and row[0].lower() in TYPES]
        return sorted(nodes, key=lambda node: TYPES.index(node.entity.type))

    def has(self, *nodes: Node) -> bool:
        """Whether there are concepts of these types with these names."""
        store = self.nexus.store
        return all(exists(store.iris.concept(*node), store) for node in nodes)

    def entity(self, key: Key) -> EntityNode | None:
        """The entity of a type with a normalized name, or one that was merged into it."""
        type, name = key
        return next(iter(self.named(name, type)), None)

    def named(self, name: str, type: str | None = None) -> list[EntityNode]:
        """The entities with a normalized name; those with it as an alias, if there are none."""
        by_name = "FILTER(?e.attributes.normalized_name == :name)"
        by_alias = "FILTER(IN(:name, ?e.attributes.aliases))"
        return self.entities(type, by_name, name=name) or self.entities(type, by_alias, name=name)

    def with_id(self, id: str) -> EntityNode | None:
        """The entity with an id."""
        where = "FILTER(?e.attributes.entity_id == :id)"
        return next(iter(self.entities(None, where, id=id)), None)

    def edges(
        self, pattern: str = "", predicate: str | None = None, filter: str = "", **values: Any
    ) -> list[EdgeLink]:
        """The edges of a predicate, or of all.

        A pattern restricts the ends ``?s`` and ``?o`` and the link ``?l``, a FILTER its metadata.
        """
        keys = ", ".join(f"?l.metadata.{key}" for key in (*_EDGE_KEYS, *_OWN_KEYS))
        predicates = ":predicate" if predicate else _EDGES
        command = (
            "FIND(?l.id, ?s.attributes.entity_id, ?l.predicate, ?o.attributes.entity_id, "
            f"{keys}) WHERE {{ {pattern} ?l (?s, {predicates}, ?o) {filter} }}"
        )
        rows = self.rows(command, predicate=predicate, **values)
        return [_edge(row) for row in rows if row[1] and row[3] and row[4]]

    def edges_at(self, node: Node, *, end: str) -> list[EdgeLink]:
        """The edges with an entity as ``subject`` or ``object``."""
        variable = "?s" if end == "subject" else "?o"
        type, name = node
        return self.edges(f"{variable} {{type: :type, name: :name}}", type=type, name=name)

    def edge(self, subject: Node, predicate: str, object: Node) -> EdgeLink | None:
        """The edge that states a relation of two concepts, which need not exist."""
        if not self.has(subject, object):
            return None
        ends = "?s {type: :st, name: :sn} ?o {type: :ot, name: :on}"
        (st, sn), (ot, on) = subject, object
        return next(iter(self.edges(ends, predicate, st=st, sn=sn, ot=ot, on=on)), None)

    def statements(self, pattern: str = "", **values: Any) -> dict[str, list[Statement]]:
        """What memories state about the propositions ``?l`` of a pattern; the oldest first."""
        keys = ", ".join(f"?x.metadata.{key}" for key in _STATED[1:])
        command = (
            f"FIND(?l.id, ?m.name, ?x.metadata.confidence, {_TURN}, {keys})"
            f' WHERE {{ {pattern} ?x (?m, "states", ?l) }}'
        )
        stated: dict[str, list[Statement]] = {}
        for id, memory_id, weight, session, turn, *rest in self.rows(command, **values):
            evidence = _without_nulls(dict(zip(_STATED, (memory_id, *rest), strict=True)))
            statement = Statement(weight, evidence, turn_of(session, turn))
            stated.setdefault(id, []).append(statement)
        for group in stated.values():
            group.sort(key=lambda statement: statement.strength[1:])
        return stated

    def statements_at(self, node: Node, *, end: str) -> dict[str, list[Statement]]:
        """What memories state about the edges with an entity as ``subject`` or ``object``."""
        matcher = "{type: :type, name: :name}"
        subject, object_ = (matcher, "?o") if end == "subject" else ("?s", matcher)
        type, name = node
        return self.statements(f"?l ({subject}, {_EDGES}, {object_})", type=type, name=name)

    def denials(self, names: Iterable[str]) -> list[Statement]:
        """What the memories state that deny a relation, by its names in ``denies``."""
        command = (
            f"FIND(?m.name, ?m.attributes.timestamp, {_TURN}, ?m.attributes.denies)"
            " WHERE { ?m {type: :type} FILTER(IN(:name, ?m.attributes.denies)) }"
        )
        statements = []
        for name in names:
            for id, time, session, turn, denies in self.rows(command, type=ITEM, name=name):
                start = f"{name}{SUCCESSOR}"
                by = [each.removeprefix(start) for each in denies if each.startswith(start)]
                statements.append(
                    denial(id, shown_time(time), turn_of(session, turn), next(iter(by), None))
                )
        return statements

    def denying(self) -> list[str]:
        """The memories that deny anything."""
        command = "FIND(?m.name) WHERE { ?m {type: :type} FILTER(?m.attributes.denies != null) }"
        return self.column(command, type=ITEM)

    # Reading without a FIND for each ----------------------------------------------------------

    def user_node(self) -> NamedNode:
        """The user's concept, which may not exist."""
        return self.nexus.store.iris.concept(type_name("user"), USER_NAME)

    def stated_links(self, note: NamedNode) -> list[NamedNode]:
        """The propositions of the edges that a memory states."""
        triples = self.nexus.store.match(note, self._states, None)
        return [cast(NamedNode, triple.object) for triple in triples]

    def stated_ends(self, notes: Iterable[NamedNode]) -> set[NamedNode]:
        """The entities of the edges that some memories state."""
        reader = Reader(self.nexus.store)
        links = [reader.element(link) for note in notes for link in self.stated_links(note)]
        ends = [(link.subject, link.object) for link in links if isinstance(link, Proposition)]
        return {end for both in ends for end in both}

    def read_entities(self, nodes: Iterable[NamedNode]) -> list[EntityNode]:
        """The entities that concepts store."""
        store = self.nexus.store
        concepts = [read_object(store.iris, node, store.statements(node)) for node in nodes]
        rows = []
        for concept in filter(None, concepts):
            values: Any = concept.get("attributes", {})
            keys = (values.get(key) for key in _ENTITY_KEYS)
            rows.append((concept["type"], concept["name"], *keys))
        return [_entity(row) for row in rows]

    def read_edges(self, links: Iterable[NamedNode]) -> list[EdgeLink]:
        """The edges that propositions store."""
        reader = Reader(self.nexus.store)
        edges = []
        for node in links:
            link = reader.element(node)
            if isinstance(link, Proposition) and "edge_id" in link.metadata:
                ids = [
                    reader.value(end, "attributes", "entity_id")
                    for end in (link.subject, link.object)
                ]
                values = json_map(link.metadata)
                keys = (values.get(key) for key in (*_EDGE_KEYS, *_OWN_KEYS))
                edges.append(_edge((reader.iris.id(node), ids[0], link.predicate, ids[1], *keys)))
        return edges

    # Writing ----------------------------------------------------------------------------------

    def write(self, function: Callable[[], T]) -> T:
        """Run a function that reads the graph and commits once, on one state of the nexus.

        It runs again where another process has written meanwhile.
        """
        engine = self.nexus._engine
        engine.writer.require_writable()
        return engine.budgets.spend_as_work(lambda: engine.store.write(function))

    def commit(self, change: Change) -> None:
        """Write the elements of a change, and delete what it removes, as one commit."""
        iris = self.nexus.store.iris

        def correct(draft: Draft) -> None:
            nodes = [iris.from_id(id) for id in change.removed]
            written = set(draft.edits)
            draft.delete(
                node for node in nodes if node and node not in written and draft.exists(node)
            )

        self._commit(statements.upsert(change.elements(), _resolve), correct)

    def merge(self, source: Node, target: Node, correct: Callable[[Draft], None]) -> None:
        """Merge a concept into another of its type, and correct what that leaves, as one commit."""
        command = bind(parse(_MERGE), {"type": target[0], "a": source[1], "b": target[1]})
        self._commit(cast(Manipulation, command), correct)

    def _commit(self, command: Manipulation, correct: Callable[[Draft], None]) -> None:
        engine = self.nexus._engine
        writer = engine.writer

        def write() -> None:
            writer.require_writable()
            writer.commit(writer.draft(command, correct=correct)[1].delta())

        def run() -> None:
            engine.store.write(write)

        engine.budgets.spend_as_work(lambda: collector.paused(lambda: engine.boundary.run(run)))


class Change:
    """Elements to write, for one commit, and ids to delete if they are not written."""

    def __init__(self) -> None:
        self.removed: list[str] = []
        self._concepts: dict[Hashable, statements.Concept[Hashable]] = {}
        self._links: dict[Hashable, statements.Proposition[Hashable]] = {}

    def __bool__(self) -> bool:
        return bool(self.removed or self._concepts or self._links)

    def elements(self) -> Sequence[statements.Element[Hashable]]:
        return [*self._concepts.values(), *self._links.values()]

    def write_item(self, id: str, attributes: Mapping[str, Any]) -> None:
        """Write a memory."""
        node = (ITEM, id)
        self._concepts[node] = statements.Concept(node, *node, attributes)

    def write_entity(self, node: EntityNode, *, replaces: bool = False) -> None:
        """Write an entity as a concept; ``replaces`` writes what it lacks as null."""
        entity = node.entity
        attributes: dict[str, Any] = {
            "entity_id": entity.id,
            "normalized_name": entity.normalized_name,
            "created_ts": entity.created_ts,
            "updated_ts": entity.updated_ts,
        }
        if entity.metadata or replaces:
            attributes["details"] = entity.metadata or None
        if node.aliases or replaces:
            attributes["aliases"] = list(node.aliases)
        if node.is_kept or replaces:
            attributes["is_kept"] = node.is_kept
        self._concepts[node.node] = statements.Concept(node.node, *node.node, attributes)

    def write_edge(
        self, subject: Node, object: Node, edge: Edge, own: Mapping[str, Any] | None = None
    ) -> Hashable:
        """Write an edge as a proposition; return its key."""
        metadata: dict[str, Any] = {
            "edge_id": edge.id,
            "confidence": edge.weight,
            "created_ts": edge.created_ts,
            **{key: edge.evidence.get(key) for key in _EVIDENCE},
            **_end_of(edge),
        }
        if own is not None:
            metadata["evidence"] = dict(own) or None
            metadata["memory_ids"] = list(own.get("memory_ids", ())) or None
        key = (subject, edge.predicate, object)
        self._links[key] = statements.Proposition(
            key, subject, edge.predicate, object, {}, metadata
        )
        return key

    def write_statement(self, memory_id: str, edge: Hashable, statement: Statement) -> None:
        """Write what a memory states about an edge of this change."""
        metadata = {"confidence": statement.weight, **statement.evidence}
        del metadata["memory_id"]
        self._link((ITEM, memory_id), STATES, edge, metadata)

    def write_mention(self, memory_id: str, node: Node) -> None:
        """Write that a memory names an entity."""
        self._link((ITEM, memory_id), MENTIONS, node, {})

    def _link(
        self, subject: Hashable, predicate: str, object: Hashable, metadata: Mapping[str, Any]
    ) -> None:
        key = (subject, predicate, object)
        self._links[key] = statements.Proposition(key, subject, predicate, object, {}, metadata)


def _resolve(key: Any) -> statements.Element[Any] | str:
    """The element of an end that a change refers to without writing it."""
    if len(key) == 2:
        return statements.Concept(key, *key)
    return statements.Proposition(key, *key)


def _entity(row: tuple[Any, ...]) -> EntityNode:
    concept_type, name, id, normalized_name, details, created_ts, updated_ts, aliases, is_kept = row
    type = concept_type.lower()
    entity = Entity(id, type, name, normalized_name, details or {}, created_ts, updated_ts)
    return EntityNode(entity, (concept_type, name), tuple(aliases or ()), bool(is_kept))


def _edge(row: tuple[Any, ...]) -> EdgeLink:
    link, subject_id, predicate, object_id, id, weight, created_ts, *rest = row
    *evidence, own, memory_ids, valid_until, superseded_by = rest
    fields = _without_nulls({**(own or {}), **dict(zip(_EVIDENCE, evidence, strict=True))})
    for key in ("weight", "valid_until", "superseded_by"):
        fields.pop(key, None)
    if memory_ids:
        fields["memory_ids"] = list(memory_ids)
    ends = (subject_id, predicate, object_id)
    edge = Edge(id, *ends, weight, fields, created_ts, valid_until, superseded_by)
    return EdgeLink(edge, link, own or {})


def _end_of(edge: Edge) -> dict[str, Any]:
    """The metadata that say whether an edge holds."""
    return {
        "superseded": None if edge.valid_until is None else True,
        "valid_until": edge.valid_until,
        "superseded_by": edge.superseded_by,
    }


def drafted_edge(link: Proposition, draft: Draft) -> tuple[EdgeLink, list[Statement]]:
    """The edge that a proposition of a draft stores, without its ends, and what memories state."""
    values = json_map(link.metadata)
    edge = [values.get(key) for key in (*_EDGE_KEYS, *_OWN_KEYS)]
    stated = []
    for other in draft.links_at(link.node):
        memory = draft.element(other.subject)
        if other.predicate == STATES and isinstance(memory, Concept):
            evidence = {**json_map(other.metadata), "memory_id": memory.name}
            weight = evidence.pop("confidence")
            values = json_map(memory.attributes)
            turn = turn_of(values.get("session"), values.get("turn"))
            stated.append(Statement(weight, {key: evidence.get(key) for key in _STATED}, turn))
    return _edge((draft.id(link.node), "", link.predicate, "", *edge)), stated


def draft_statement(link: Proposition, draft: Draft, statement: Statement) -> None:
    """Write into a draft what a stored memory states about the edge of a proposition."""
    values = {"confidence": statement.weight, **statement.evidence}
    stated = draft.link(draft.named(ITEM, values.pop("memory_id")), STATES, link.node)
    stated.metadata.update((key, to_term(value)) for key, value in values.items())


def write_resolved(link: Proposition, edge: Edge) -> None:
    """Give a proposition of a draft the weight, the evidence and the end of an edge."""
    evidence = {key: edge.evidence.get(key) for key in _EVIDENCE}
    for key, value in {"confidence": edge.weight, **evidence, **_end_of(edge)}.items():
        link.metadata[key] = to_term(value)


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
