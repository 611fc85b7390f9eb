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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, TypeAlias, TypeVar, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.dataclasses import dataclass
from kiprdf.execution.support import MENTIONS, STATES
from kiprdf.execution.transaction import Transaction
from kiprdf.kql.beliefs import NOT_VALID, SUPERSEDED, View
from kiprdf.kql.identities import exists
from kiprdf.memory.evidence import Statement, denial, statements_of, turn_of
from kiprdf.memory.items import (
    PREDICATES,
    TYPES,
    USER_ID,
    USER_NAME,
    Edge,
    Entity,
    is_name,
    normalized,
)
from kiprdf.memory.texts import shown_time
from kiprdf.nexus import Nexus
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import read_object
from kiprdf.rdf.literals import to_json

T = TypeVar("T")
Json: TypeAlias = Mapping[str, Any]
Node: TypeAlias = tuple[str, str]
"""Type and name of a concept."""
Link: TypeAlias = tuple[Any, str, Any]
"""Subject, predicate and object of a proposition: nodes, or links."""
Key: TypeAlias = tuple[str, str]
"""Type and normalized name of an entity."""

ITEM = "MemoryItem"
EDGES = " | ".join(f'"{predicate}"' for predicate in PREDICATES)
_ENTITY_ID = NamedNode(f"{vocab.ATTRIBUTE}entity_id")
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:kip:memory/")
_EVIDENCE = ("memory_id", "src", "timestamp", "pattern")
_STATED = (*_EVIDENCE, "superseded", "superseded_by")
_END = ("weight", "valid_until", "superseded_by")
_TYPE_OF: dict[str, Any] = {
    **dict.fromkeys((*_EVIDENCE, "edge_id", "valid_until", "superseded_by"), str),
    **dict.fromkeys(("entity_id", "normalized_name", "created_ts", "updated_ts"), str),
    **dict.fromkeys(("confidence", "weight"), int | float),
    **dict.fromkeys(("evidence", "details"), dict),
    **dict.fromkeys(("memory_ids", "aliases"), list),
}
_MOST_STATED = 1_000_000
"""More edges than a text of the greatest length can state."""
SUCCESSOR = " > "
"""In ``denies``, between the name of a relation and the id of the one that took its place."""


@dataclass(frozen=True)
class EntityNode:
    """An entity as a concept stores it; ``is_kept`` without a memory that names it."""

    entity: Entity
    aliases: tuple[str, ...] = ()
    is_kept: bool = False

    @property
    def node(self) -> Node:
        return type_name(self.entity.type), self.entity.name

    @property
    def key(self) -> Key:
        return self.entity.type, self.entity.normalized_name

    @property
    def names(self) -> tuple[str, ...]:
        """All names, normalized."""
        return self.entity.normalized_name, *map(normalized, self.aliases)


@dataclass(frozen=True)
class EdgeLink:
    """An edge with the proposition that stores it, and the concepts of its ends.

    ``own`` is the evidence that no stored memory has, with its ``weight``; empty without such.
    ``stated`` is what memories state, the oldest first, where that was read.
    """

    edge: Edge
    link: str
    subject: Node
    object: Node
    own: dict[str, Any] = field(default_factory=dict)
    stated: tuple[Statement, ...] = ()

    @property
    def key(self) -> Link:
        return self.subject, self.edge.predicate, self.object

    @property
    def statements(self) -> list[Statement]:
        """All statements: those of memories, and its own evidence."""
        return statements_of(self.edge, self.own, [*self.stated])

    def with_memories(self) -> Edge:
        """The edge with the ids of all its memories in its evidence."""
        evidence = self.edge.evidence
        ids = [*evidence.get("memory_ids", ()), *(each.memory_id for each in self.stated)]
        strongest = evidence.get("memory_id")
        if strongest:
            ids.append(strongest)
        memory_ids = list(dict.fromkeys(ids))
        return replace(self.edge, evidence={**evidence, "memory_ids": memory_ids})


def type_name(type: str) -> str:
    """The concept type of a type of entities."""
    return type.capitalize()


def node_id(node: Node) -> str:
    """The id of a concept."""
    return f"C:{node[0]}/{node[1]}"


def entity_id(type: str, normalized_name: str) -> str:
    """The id of a new entity, which follows from its type and name."""
    if (type, normalized_name) == ("user", normalized(USER_NAME)):
        return USER_ID
    return f"entity:{uuid.uuid5(_NAMESPACE, f'{type}/{normalized_name}')}"


def edge_id(subject_id: str, predicate: str, object_id: str) -> str:
    """The id of a new edge, which follows from its ends and predicate."""
    return f"edge:{uuid.uuid5(_NAMESPACE, f'{subject_id} {predicate} {object_id}')}"


class Believed:
    """What a memory shows: the ``notes`` that are not believed are left out.

    A relation that a memory has ended is shown as one that held, unless an end or the relation
    itself is not believed for another reason.
    """

    def __init__(self, view: View, notes: str) -> None:
        self.view = view
        self._reasons = view.reasons
        self.notes = {node.value for node in view.reasons if node.value.startswith(notes)}

    def has(self, node: object) -> bool:
        """Whether an element is believed."""
        return node not in self._reasons

    def has_relation(self, link: object, until: str | None, *ends: object) -> bool:
        """Whether a relation is believed, or was until a time."""
        reason = self._reasons.get(cast(NamedNode, link))
        if reason is None:
            return True
        has_ended = until is not None and reason in (SUPERSEDED, NOT_VALID)
        return has_ended and all(map(self.has, ends))


class Graph:
    """Reads and writes the entities and edges of a nexus.

    ``is_ready`` is false for a nexus that is open read-only and has no memory; it reads as empty.
    """

    def __init__(self, nexus: Nexus, *, is_ready: bool) -> None:
        self.nexus = nexus
        self.is_ready = is_ready
        self._states = nexus.store.iris.predicate(STATES)
        self._notes = nexus.store.iris.concept(ITEM, "x").value[:-1]
        self._believed: Believed | None = None

    # Reading ----------------------------------------------------------------------------------

    def column(self, command: str, **parameters: Any) -> list[Any]:
        """The values of a FIND with one column."""
        if not self.is_ready:
            return []
        # Unlike find(), execute() does not look for the reason of an empty answer.
        values: list[Any] = self.nexus.execute(command, entail=False, **parameters)
        return values

    def rows(self, command: str, **parameters: Any) -> Iterable[tuple[Any, ...]]:
        """The rows of a FIND with several columns."""
        return zip(*self.column(command, **parameters), strict=True)

    def entities(self, type: str | None = None, where: str = "", **values: Any) -> list[EntityNode]:
        """The entities of a type, or of all, that a FILTER on ``?e`` leaves; by type."""
        # A filter by name or id is read from the index; without one, each type is.
        types = [type] if type or where else TYPES
        nodes: list[EntityNode] = []
        for kind in types:
            matcher = "{type: :type}" if kind else "{}"
            # Not the whole concept: of the user that would be all relations, too.
            command = f"FIND(?e.type, ?e.name, {_COLUMNS}) WHERE {{ ?e {matcher} {where} }}"
            for type_, name, *read in self.rows(command, type=type_name(kind or ""), **values):
                attributes = dict(zip(_ATTRIBUTES, read, strict=True))
                nodes += filter(None, [_entity(type_, name, attributes)])
        return sorted(nodes, key=lambda node: TYPES.index(node.entity.type))

    def has(self, *nodes: Node) -> bool:
        """Whether there are concepts of these types with these names."""
        store = self.nexus.store
        return all(exists(store.iris.concept(*node), store) for node in nodes)

    def named(self, name: str, type: str | None = None) -> EntityNode | None:
        """The first entity with a normalized name, else the first with it as an alias."""
        by_name = "FILTER(?e.attributes.normalized_name == :name)"
        by_alias = "FILTER(IN(:name, ?e.attributes.aliases))"
        nodes = self.entities(type, by_name, name=name) or self.entities(type, by_alias, name=name)
        return next(iter(nodes), None)

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
        predicates = ":predicate" if predicate else EDGES
        command = (
            "FIND(?l, ?s.attributes.entity_id, ?o.attributes.entity_id)"
            f" WHERE {{ {pattern} ?l (?s, {predicates}, ?o) {filter} }}"
        )
        edges = (read_edge(*row) for row in self.rows(command, predicate=predicate, **values))
        return [edge for edge in edges if edge is not None]

    def edges_at(self, node: Node, *, end: str) -> list[EdgeLink]:
        """The edges with an entity as ``subject`` or ``object``."""
        variable = "?s" if end == "subject" else "?o"
        return self.edges(f"{variable} {{type: :type, name: :name}}", type=node[0], name=node[1])

    def edge(self, subject: Node, predicate: str, object: Node) -> EdgeLink | None:
        """The edge that states a relation of two concepts, which need not exist."""
        store = self.nexus.store
        ends = store.iris.concept(*subject), store.iris.concept(*object)
        fact = Triple(ends[0], store.iris.predicate(predicate), ends[1])
        reifying = store.lookup(None, vocab.REIFIES, fact, 1) if self.is_ready else ()
        if not reifying:
            return None
        link = cast(NamedNode, reifying[0].subject)
        ids = [store.lookup(end, _ENTITY_ID, None, 1) for end in ends]
        return read_edge(
            read_object(store.iris, link, store.statements(link)) or {},
            *(to_json(cast(Any, of[0].object)) if of else None for of in ids),
        )

    def statements(self, pattern: str = "", **values: Any) -> dict[str, list[Statement]]:
        """What memories state about the propositions ``?l`` of a pattern; the oldest first."""
        command = (
            "FIND(?l.id, ?m.name, ?m.attributes.session, ?m.attributes.turn, ?x)"
            f' WHERE {{ {pattern} ?x (?m, "{STATES}", ?l) }}'
        )
        stated: dict[str, list[Statement]] = {}
        for id, memory_id, session, turn, link in self.rows(command, **values):
            metadata = {**_readable(link.get("metadata", {})), "memory_id": memory_id}
            if "confidence" not in metadata:
                continue
            evidence = {key: metadata[key] for key in _STATED if metadata.get(key) is not None}
            statement = Statement(metadata["confidence"], evidence, turn_of(session, turn))
            stated.setdefault(id, []).append(statement)
        for group in stated.values():
            group.sort(key=lambda statement: statement.strength[1:])
        return stated

    def statements_about(self, link: EdgeLink) -> list[Statement]:
        """What memories state about an edge; the oldest first."""
        return self.statements("?l (id: :id)", id=link.link).get(link.link, [])

    def stated_edges(
        self, node: Node | None = None, *, end: str = "subject", predicate: str | None = None
    ) -> list[EdgeLink]:
        """The edges with what memories state: all, or those with a ``subject`` or ``object``."""
        if node is None:
            links, stated = self.edges(predicate=predicate), self.statements()
        else:
            matcher, type, name = "{type: :type, name: :name}", *node
            ends = (matcher, "?o") if end == "subject" else ("?s", matcher)
            pattern = f"?l ({ends[0]}, {EDGES}, {ends[1]})"
            stated = self.statements(pattern, type=type, name=name)
            links = self.edges_at(node, end=end)
        return [replace(link, stated=tuple(stated.get(link.link, ()))) for link in links]

    def denials(self, names: Iterable[str]) -> list[Statement]:
        """What the memories state that deny a relation, by its names in ``denies``."""
        command = (
            "FIND(?m.name, ?m.attributes.timestamp, ?m.attributes.session, ?m.attributes.turn,"
            " ?m.attributes.denies)"
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

    def believed(self) -> Believed:
        """What is believed now."""
        view, believed = self.nexus.beliefs.view(), self._believed
        if believed is None or believed.view is not view:
            believed = self._believed = Believed(view, self._notes)
        return believed

    def user_node(self) -> NamedNode:
        """The user's concept, which may not exist."""
        return self.nexus.store.iris.concept(type_name("user"), USER_NAME)

    def stated_links(self, note: NamedNode) -> list[NamedNode]:
        """The propositions of the edges that a memory states."""
        triples = self.nexus.store.lookup(note, self._states, None, _MOST_STATED)
        return [cast(NamedNode, triple.object) for triple in triples]

    def read_entity(self, concept: NamedNode) -> EntityNode | None:
        """The entity that a concept stores."""
        store = self.nexus.store
        shown: Json = read_object(store.iris, concept, store.statements(concept)) or {}
        return _entity(shown.get("type", ""), shown.get("name", ""), shown.get("attributes", {}))

    # Writing ----------------------------------------------------------------------------------

    def write(self, function: Callable[[Change], T], *, dry_run: bool = False) -> T:
        """Call a function that reads the graph and fills a change; commit it, return the result.

        It is called again where another process has written meanwhile.
        """

        def run(transaction: Transaction) -> T:
            change = Change(transaction)
            result = function(change)
            change.write()
            return result

        return self.nexus.transaction(run, dry_run=dry_run)


class Change:
    """What one commit writes.

    ``merged`` are two concepts, of which the first is merged into the second before all else;
    ``removed`` are the ids of elements to delete if they are not written. ``counts`` are those of
    a snapshot: what the erasure list names is left out of it, and counted.
    """

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self.merged: tuple[Node, Node] | None = None
        self.removed: list[str] = []
        self.counts: dict[str, int] | None = None
        self._elements: dict[Any, dict[str, Any]] = {}

    def rejected(self, links: Iterable[Link]) -> set[Link]:
        """Those of some edges that a person has rejected: no change writes them."""
        facts = {(node_id(link[0]), link[1], node_id(link[2])): link for link in links}
        return {facts[fact] for fact in self._transaction.rejected(facts)}  # type: ignore[index]

    def erased_notes(self, ids: Iterable[str]) -> set[str]:
        """Those of some memories that were erased for good."""
        was_erased = self._transaction.was_erased
        return {id for id in ids if is_name(id) and was_erased(node_id((ITEM, id)))}

    def write(self) -> None:
        """Write it all in the transaction, but keep what is rejected where it is."""
        transaction = self._transaction
        if self.merged is not None:
            (type, source), (_, target) = self.merged
            transaction.execute(
                "MERGE CONCEPT ?a INTO ?b"
                " WHERE { ?a {type: :type, name: :a} ?b {type: :type, name: :b} }",
                type=type,
                a=source,
                b=target,
            )
        if self._elements or self.removed:
            links = {id for id in self.removed if id.startswith("P:")}
            kept = transaction.rejected(links)
            removed = [id for id in self.removed if id not in kept]
            transaction.write(self._elements.values(), removed)
        if self.counts is not None and (erased := transaction.drop_erased()):
            self.counts |= {"created": self.counts["created"] - erased, "erased": erased}

    def add(self, key: Any, attributes: Json = {}, metadata: Json = {}) -> None:  # noqa: B006
        """Write an element: a concept by its node, a proposition by its link."""
        self._elements[key] = {**_identity(key), "attributes": attributes, "metadata": metadata}

    def add_entity(self, node: EntityNode, *, replaces: bool = False) -> None:
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
        self.add(node.node, attributes)

    def add_edge(self, link: Link, edge: Edge, own: Json | None = None) -> None:
        """Write an edge as a proposition; ``own`` is its new evidence without stored memories."""
        metadata: dict[str, Any] = {
            "edge_id": edge.id,
            "confidence": edge.weight,
            "created_ts": edge.created_ts,
            **{key: edge.evidence.get(key) for key in _EVIDENCE},
            "superseded": None if edge.valid_until is None else True,
            "valid_until": edge.valid_until,
            "superseded_by": edge.superseded_by,
        }
        if own is not None:
            metadata["evidence"] = dict(own) or None
            metadata["memory_ids"] = list(own.get("memory_ids", ())) or None
        self.add(link, {}, metadata)

    def add_statement(self, link: Link, statement: Statement) -> None:
        """Write what a memory states about an edge."""
        metadata = {"confidence": statement.weight, **statement.evidence}
        del metadata["memory_id"]
        self.add(((ITEM, statement.memory_id), STATES, link), {}, metadata)

    def add_mention(self, memory_id: str, node: Node) -> None:
        """Write that a memory names an entity."""
        self.add(((ITEM, memory_id), MENTIONS, node))


def _identity(key: Any) -> dict[str, Any]:
    if len(key) == 2:
        return {"type": key[0], "name": key[1]}
    subject, predicate, object_ = key
    return {"subject": _identity(subject), "predicate": predicate, "object": _identity(object_)}


_ATTRIBUTES = (
    "entity_id",
    "normalized_name",
    "details",
    "created_ts",
    "updated_ts",
    "aliases",
    "is_kept",
)
_COLUMNS = ", ".join(f"?e.attributes.{key}" for key in _ATTRIBUTES)


def _entity(type: str, name: str, attributes: Json) -> EntityNode | None:
    """The entity that a concept stores, if it does."""
    values, type = _readable(attributes), type.lower()
    if type not in TYPES or not values.get("entity_id"):
        return None
    entity = Entity(
        values["entity_id"],
        type,
        name,
        values.get("normalized_name", normalized(name)),
        values.get("details", {}),
        values.get("created_ts", ""),
        values.get("updated_ts", ""),
    )
    return EntityNode(entity, tuple(values.get("aliases") or ()), bool(values.get("is_kept")))


def read_edge(link: Json, subject_id: object, object_id: object) -> EdgeLink | None:
    """The edge that a proposition stores, if it does; its ends have the given ids."""
    values = _readable(link.get("metadata", {}))
    if not {"edge_id", "confidence"} <= values.keys():
        return None
    if not (isinstance(subject_id, str) and isinstance(object_id, str)):
        return None
    own = _readable(values.get("evidence", {}))
    own = own if "weight" in own else {}
    fields = {**own, **{key: values.get(key) for key in _EVIDENCE}}
    evidence = {key: fields[key] for key in fields if key not in _END and fields[key] is not None}
    if values.get("memory_ids"):
        evidence["memory_ids"] = values["memory_ids"]
    edge = Edge(
        values["edge_id"],
        subject_id,
        link["predicate"],
        object_id,
        values["confidence"],
        evidence,
        values.get("created_ts", ""),
        values.get("valid_until"),
        values.get("superseded_by"),
    )
    subject, object_ = (_node(link[end]) for end in ("subject", "object"))
    return EdgeLink(edge, link["id"], subject, object_, own)


def _readable(values: Json) -> dict[str, Any]:
    """Values without those of other types, which other programs may have written."""
    return {
        key: [each for each in value if isinstance(each, str)] if isinstance(value, list) else value
        for key, value in values.items()
        if isinstance(value, _TYPE_OF.get(key, object))
    }


def _node(id: str) -> Node:
    type, _, name = id.removeprefix("C:").partition("/")
    return type, name
