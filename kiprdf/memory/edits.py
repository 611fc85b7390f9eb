"""Changes of single entities and edges: upserts, merging, decay, forgetting and erasing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.execution.support import MENTIONS, STATES, unsupported
from kiprdf.kml.draft import Draft, now
from kiprdf.kql.identities import exists
from kiprdf.memory.evidence import (
    Statement,
    earliest,
    extended,
    holding,
    memories_of,
    resolved,
    statements_of,
    strengthened,
    united,
)
from kiprdf.memory.graph import (
    ITEM,
    Change,
    EdgeLink,
    EntityNode,
    Graph,
    Link,
    edge_id,
    entity_id,
    node_id,
)
from kiprdf.memory.growth import denied_names
from kiprdf.memory.items import USER_NAME, Edge, Entity, is_name, normalized
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.store import OxigraphStore
from kiprdf.store.past import require_embedded

_DAY = 86_400


# Entities and edges ---------------------------------------------------------------------------


def upsert_entity(
    graph: Graph, type: str, name: str, metadata: Mapping[str, Any] | None, moment: str
) -> str:
    """Create an entity or merge metadata into it; return its id."""
    if not isinstance(name, str) or not is_name(name.strip()):
        raise ValueError(f"{name!r} cannot be the name of an entity.")
    details = json_object(metadata or {}, "metadata")

    def write(change: Change) -> str:
        key = type, normalized(name)
        node = graph.named(key[1], type) or EntityNode(
            Entity(entity_id(*key), type, name.strip(), key[1])
        )
        entity = extended(node.entity, moment, metadata=details)
        change.add_entity(replace(node, entity=entity, is_kept=True))
        return entity.id

    return graph.write(write)


def upsert_edge(
    graph: Graph, ends: tuple[str, str, str], weight: float, evidence: object, moment: str
) -> str:
    """Create an edge or add a statement to it; return its id.

    Raises ``ValueError`` for evidence of a memory that is not stored.
    """
    subject_id, predicate, object_id = ends
    statement = Statement(checked_weight(weight), json_object(evidence, "evidence"))

    def write(change: Change) -> str:
        subject, object_ = graph.with_id(subject_id), graph.with_id(object_id)
        for id, node in ((subject_id, subject), (object_id, object_)):
            if node is None:
                raise ValueError(f"There is no entity {id!r}.")
        for id in memories_of(statement):
            if not is_name(id) or not graph.has((ITEM, id)):
                raise ValueError(
                    f"There is no memory {id!r}, so it cannot be evidence. Add the text before, or"
                    " leave out memory_id."
                )
        if subject is None or object_ is None or subject.node == object_.node:
            raise ValueError("An edge connects two different entities.")
        ids = subject.entity.id, predicate, object_.entity.id
        new = Edge(edge_id(*ids), *ids, statement.weight, created_ts=moment)
        key = subject.node, predicate, object_.node
        return add_statement(graph, change, graph.edge(*key), new, statement, key)

    return graph.write(write)


def add_statement(
    graph: Graph, change: Change, link: EdgeLink | None, new: Edge, statement: Statement, key: Link
) -> str:
    """Add a statement without a stored memory to an edge, or to a new one; return its id."""
    moment = new.created_ts
    own = united(link.own if link else {}, statement, moment)
    stated = Statement(statement.weight, {"timestamp": moment, **statement.evidence})
    before = link.edge if link else new
    edge = strengthened(before, stated)
    edge = replace(edge, created_ts=earliest(before.created_ts, moment))
    if edge.valid_until or "valid_until" in own:
        memories = graph.statements_about(link) if link else []
        edge = resolved(edge, statements_of(edge, own, memories))
    change.add_edge(key, edge, own)
    return edge.id


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


# Merging and decay ----------------------------------------------------------------------------


def merge(graph: Graph, change: Change, source: EntityNode, target: EntityNode) -> str:
    """Merge an entity into another of its type; return the id of the other.

    Its names become aliases, by which the other is searched. Each edge gets its strongest
    statement, and its end, also by what memories deny of one of the names. Raises ``ValueError``
    for an entity and itself, and for two types.
    """
    if source.node == target.node:
        raise ValueError(f"{target.entity.name} cannot be merged into itself.")
    if source.entity.type != target.entity.type:
        raise ValueError(
            f"{source.entity.name} is a {source.entity.type}, "
            f"{target.entity.name} a {target.entity.type}; entities of one type merge."
        )
    change.merged = source.node, target.node
    names = [*target.aliases, *source.aliases, source.entity.name, source.entity.normalized_name]
    names = list(dict.fromkeys([*names, *map(normalized, names)]))
    change.add(target.node, {"aliases": names})
    links: dict[Link, list[EdgeLink]] = {}
    for node in (target.node, source.node):
        for end in ("subject", "object"):
            for link in graph.stated_edges(node, end=end):
                ends = [
                    target.node if at == source.node else at for at in (link.subject, link.object)
                ]
                if ends[0] != ends[1]:
                    links.setdefault((ends[0], link.edge.predicate, ends[1]), []).append(link)
    target = replace(target, aliases=tuple(names))
    rejected = change.rejected([*links, *(each.key for each in chain(*links.values()))])
    for key, joined in links.items():
        if not rejected.isdisjoint([key, *(each.key for each in joined)]):
            continue
        survivor = joined[0]
        own = next((link.own for link in joined if link.own), {})
        statements = {each.memory_id: each for link in joined[::-1] for each in link.stated}
        if key[0][1] == USER_NAME:
            for denied in graph.denials(denied_names(key[1], target)):
                if denied.memory_id not in statements:
                    statements[denied.memory_id] = denied
                    change.add_statement(key, denied)
        edge = resolved(survivor.edge, statements_of(survivor.edge, own, [*statements.values()]))
        change.add_edge(key, edge)
    return target.entity.id


def decay(graph: Graph, change: Change, half_life_days: float, now: datetime) -> int:
    """Lower the weight of each edge by the age of its statements; return the number changed.

    A statement counts half after each ``half_life_days``. The weight is computed from what was
    stated, so that a second call on the same day changes nothing.
    """
    is_number = isinstance(half_life_days, int | float) and not isinstance(half_life_days, bool)
    if not is_number or not 0 < half_life_days < float("inf"):
        raise ValueError("half_life_days is a number above 0.")
    count = 0
    links = graph.stated_edges()
    rejected = change.rejected(link.key for link in links)
    for link in links:
        if link.key in rejected:
            continue
        weights = [
            statement.weight * 0.5 ** (_age(statement, link.edge, now) / (half_life_days * _DAY))
            for statement in holding(link.statements)
        ]
        weight = round(max(weights), 6)
        if weight != link.edge.weight:
            change.add_edge(link.key, replace(link.edge, weight=weight))
            count += 1
    return count


def _age(statement: Statement, edge: Edge, now: datetime) -> float:
    """The seconds since a statement; 0 if its time cannot be read."""
    try:
        moment = datetime.fromisoformat(statement.evidence.get("timestamp") or edge.created_ts)
        return max(0.0, (now - moment).total_seconds())
    except (TypeError, ValueError):
        return 0.0


# Forgetting -----------------------------------------------------------------------------------


def replace_graph(graph: Graph, change: Change) -> None:
    """Let a change delete every entity, edge and link of evidence that it does not write.

    A link with a source is of an import, and one from another concept than a memory of others.
    """
    change.removed += [node_id(node.node) for node in graph.entities()]
    change.removed += [link.link for link in graph.edges()]
    for predicate in (STATES, MENTIONS):
        own = f'?m {{type: :type}} ?x (?m, "{predicate}", ?y) FILTER(?x.metadata.source == null)'
        change.removed += graph.column(f"FIND(?x.id) WHERE {{ {own} }}", type=ITEM)


def forget(graph: Graph, change: Change, id: str, *, derived: bool = False) -> None:
    """Delete a memory, the edges and the entities that only it is evidence for."""
    note = node_id((ITEM, id))
    change.removed.append(note)
    stated = graph.edges(f'({{id: :note}}, "{STATES}", ?l)', note=note)
    owned = graph.edges(filter="FILTER(IN(:id, ?l.metadata.memory_ids))", id=id)
    removed = [
        link
        for link in {link.link: link for link in (*stated, *owned)}.values()
        if not _weakened(graph, change, link, id)
    ]
    change.removed += [link.link for link in removed]
    command = f'FIND(?e) WHERE {{ ({{id: :note}}, "{MENTIONS}", ?e) }}'
    nodes = [(each["type"], each["name"]) for each in graph.column(command, note=note)]
    nodes += [end for link in removed for end in (link.subject, link.object)]
    for node in dict.fromkeys(nodes):
        entity = graph.read_entity(graph.nexus.store.iris.concept(*node))
        if entity is not None and not _has_evidence(graph, entity, id, change.removed):
            change.removed.append(node_id(node))
    if derived:
        store = graph.nexus.store
        gone = filter(None, map(store.iris.from_id, change.removed))
        change.removed += map(store.iris.id, unsupported(Draft(store, now), gone))


def _weakened(graph: Graph, change: Change, link: EdgeLink, memory_id: str) -> bool:
    """Take what a memory states from an edge; false without other evidence."""
    others = [each for each in graph.statements_about(link) if each.memory_id != memory_id]
    own = dict(link.own)
    if own and memory_id in own.get("memory_ids", ()):
        own["memory_ids"] = [id for id in own["memory_ids"] if id != memory_id]
        if own.get("memory_id") == memory_id:
            own["memory_id"] = next(iter(own["memory_ids"]), None)
        own = own if own["memory_ids"] else {}
    if own:
        others = statements_of(link.edge, own, others)
    if all(statement.ends and not statement.weight for statement in others):
        return False
    if not change.rejected([link.key]):
        change.add_edge(link.key, resolved(link.edge, others), own if link.own else None)
    return True


def _has_evidence(graph: Graph, node: EntityNode, memory_id: str, gone: Iterable[str]) -> bool:
    if node.is_kept or node.entity.type == "user":
        return True
    links = [link for end in ("subject", "object") for link in graph.edges_at(node.node, end=end)]
    if any(link.link not in gone for link in links):
        return True
    command = f'FIND(?m.name) WHERE {{ (?m, "{MENTIONS}", {{id: :id}}) }}'
    return any(name != memory_id for name in graph.column(command, id=node_id(node.node)))


# Erasing, as docs/how-to/forget.md says -------------------------------------------------------


def erase(graph: Graph, id: str, *, derived: bool = False) -> dict[str, Any]:
    """Erase a memory for good, with what only it states, now or earlier; return what went.

    First the facts that other memories state, too, lose it as their evidence; then all the rest
    is erased as one change. A memory that was forgotten can be erased, too.
    """
    nexus = graph.nexus
    store = require_embedded(nexus.store, "erase a memory")
    iris = store.iris
    note = iris.concept(ITEM, id)

    def weaken(change: Change) -> list[str]:
        forget(graph, change, id)
        ids, change.removed = change.removed, []
        return ids

    nexus.transaction(lambda tx: None)  # a nexus that is open read-only is refused
    with store.writing():
        was_there = graph.has((ITEM, id))
        if was_there:  # what may not go is refused before others lose their evidence
            check = partial(graph.write, lambda change: forget(graph, change, id))
            try:
                check(dry_run=True)
            except KipError:
                check()  # is refused again, and noted: a dry run is not
                raise
        ids = graph.write(weaken) if was_there else [node_id((ITEM, id))]
        nodes = [node for each in ids if (node := iris.from_id(each))]
        facts = _facts(store)
        nodes += _only_earlier(store, facts, note)
        report = nexus.forget([iris.id(node) for node in nodes], derived=derived)
    is_erased = was_there or bool(report["commits"])
    links = {node: facts[node] for node in nodes if node in facts}
    return {
        "id": id,
        "erased": is_erased,
        "entities": [_named(iris, node) for node in nodes if node != note and node not in links],
        "edges": [_shown(iris, node, fact) for node, fact in links.items()],
        **report,
        "elements": report["elements"] if is_erased else [],
    }


def _facts(store: OxigraphStore) -> dict[Any, Triple]:
    """The facts of all links, now and earlier."""
    journal = store.journal or store.closed_journal
    facts: dict[Any, Any] = {
        quad.subject: quad.object for quad in store.match(None, vocab.REIFIES, None)
    }
    past = () if journal is None else journal.commits(0, journal.last)
    for commit in paced(past):
        for subject, predicate, value in commit.added:
            if predicate == vocab.REIFIES:
                facts.setdefault(subject, value)
    return facts


def _only_earlier(
    store: OxigraphStore, facts: dict[Any, Triple], note: NamedNode
) -> list[NamedNode]:
    """What is gone by now, and only this memory has ever been evidence for."""
    evidence = {store.iris.predicate(name) for name in (STATES, MENTIONS)}
    sources: dict[Any, set[Any]] = {}
    for fact in list(facts.values()):
        if fact.predicate in evidence:
            ends = facts.get(fact.object)
            for node in (fact.object, *((ends.subject, ends.object) if ends else ())):
                sources.setdefault(node, set()).add(fact.subject)
    return [
        node for node, memories in sources.items() if memories == {note} and not exists(node, store)
    ]


def _named(iris: Iris, node: Any) -> dict[str, str]:
    name = iris.name(node.value)
    assert isinstance(name, ConceptName)
    return {"type": name.type.lower(), "name": name.name}


def _shown(iris: Iris, link: NamedNode, fact: Triple) -> dict[str, str]:
    subject, object_ = _named(iris, fact.subject), _named(iris, fact.object)
    predicate = iris.id(link).rpartition(":")[2]
    return {"subject": subject["name"], "predicate": predicate, "object": object_["name"]}
