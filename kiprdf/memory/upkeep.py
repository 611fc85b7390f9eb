"""Maintains a graph over time: decay, merging, contradictions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, cast

from kiprdf.kml.draft import Draft
from kiprdf.kml.merge import ALIASES
from kiprdf.memory.extraction import tools
from kiprdf.memory.graph import (
    Change,
    EdgeLink,
    EntityNode,
    Graph,
    Statement,
    draft_statement,
    drafted_edge,
    type_name,
    write_resolved,
)
from kiprdf.memory.growth import denied_names, holding, resolved, statements_of
from kiprdf.memory.items import PREDICATES, USER_ID, USER_NAME, Entity, normalized
from kiprdf.rdf.literals import to_json, to_term

_NEGATION = re.compile(r"^(?:not to|never|no longer|stop|drop)\s+", re.I)
_VERBS = {"uses": "use", "prefers": "prefer", "works_on": "work on"}
_DAY = 86_400


@dataclass(frozen=True)
class Contradiction:
    """Two statements about the same thing, one of them with a negation.

    ``older`` and ``newer`` are the decisions that they make, or the objects of their relations:
    the same one twice where a memory states a relation and another one ends it. ``memories`` are
    the memories that state them.
    """

    older: Entity
    newer: Entity
    memories: tuple[str, ...] = ()


def decay(graph: Graph, half_life_days: float, now: datetime) -> int:
    """Lower the weight of each edge by the age of its statements; return the number changed.

    A statement counts half after each ``half_life_days``. The weight is computed from what was
    stated, so that a second call on the same day changes nothing.
    """
    is_number = isinstance(half_life_days, int | float) and not isinstance(half_life_days, bool)
    if not is_number or not 0 < half_life_days < float("inf"):
        raise ValueError("half_life_days is a number above 0.")
    change = Change()
    nodes = {node.entity.id: node for node in graph.entities()}
    stated = graph.statements()
    count = 0
    for link in graph.edges():
        weights = [
            statement.weight * 0.5 ** (_age(statement, link, now) / (half_life_days * _DAY))
            for statement in holding(statements_of(link, stated.get(link.link, [])))
        ]
        weight = round(max(weights), 6)
        if weight != link.edge.weight:
            ends = nodes[link.edge.subject_id], nodes[link.edge.object_id]
            change.write_edge(ends[0].node, ends[1].node, replace(link.edge, weight=weight))
            count += 1
    graph.commit(change)
    return count


def _age(statement: Statement, link: EdgeLink, now: datetime) -> float:
    """The seconds since a statement; 0 if its time cannot be read."""
    try:
        moment = datetime.fromisoformat(statement.evidence.get("timestamp") or link.edge.created_ts)
        return max(0.0, (now - moment).total_seconds())
    except (TypeError, ValueError):
        return 0.0


def merge(graph: Graph, source: EntityNode, target: EntityNode) -> str:
    """Merge an entity into another of its type; return the id of the other.

    Its names become aliases, by which the other is searched. Raises ``ValueError`` for an entity
    and itself, and for two types.
    """
    if source.node == target.node:
        raise ValueError(f"{target.entity.name} cannot be merged into itself.")
    if source.entity.type != target.entity.type:
        raise ValueError(
            f"{source.entity.name} is a {source.entity.type}, "
            f"{target.entity.name} a {target.entity.type}; entities of one type merge."
        )
    graph.merge(source.node, target.node, lambda draft: _join(graph, draft, source, target))
    return target.entity.id


def _join(graph: Graph, draft: Draft, source: EntityNode, target: EntityNode) -> None:
    """Give an entity the names of one that was merged into it, and each edge its strongest
    statement, and its end, also by what memories deny of one of its names."""
    concept = draft.concept(*target.node)
    aliases = to_json(concept.attributes[ALIASES])
    names = [*cast("list[str]", aliases), *source.aliases, source.entity.normalized_name]
    names = list(dict.fromkeys([*names, *map(normalized, names)]))
    concept.attributes[ALIASES] = to_term(names)
    target = replace(target, aliases=tuple(names))
    user = draft.named(type_name("user"), USER_NAME)
    for link in draft.links_at(concept.node):
        if link.predicate in PREDICATES and "edge_id" in link.metadata:
            edge, stated = drafted_edge(link, draft)
            if link.subject == user:
                memories = {each.evidence["memory_id"] for each in stated}
                for denied in graph.denials(denied_names(link.predicate, target)):
                    if denied.evidence["memory_id"] not in memories:
                        memories.add(denied.evidence["memory_id"])
                        draft_statement(link, draft, denied)
                        stated.append(denied)
            write_resolved(link, resolved(edge.edge, statements_of(edge, stated)))


def contradictions(graph: Graph) -> list[Contradiction]:
    """The statements of which a newer one negates an older one, or takes a negation back.

    Decisions and relations are compared by a verb and its object: "use Docker".
    """
    entities = {node.entity.id: node.entity for node in graph.entities()}
    stated, links = graph.statements(), graph.edges()
    sources = {link.edge.object_id: link.edge.evidence.get("memory_id") for link in links}
    claims = [
        _Claim(entity.created_ts.rstrip("Z"), is_negative, entity, sources.get(entity.id), subjects)
        for entity in entities.values()
        if entity.type == "decision"
        for is_negative, subjects in [_decided(entity)]
    ]
    for link in links:
        verb, entity = _VERBS.get(link.edge.predicate), entities[link.edge.object_id]
        if verb is not None and link.edge.subject_id == USER_ID:
            claims += [
                _Claim(each.time, each.ends, entity, each.evidence.get("memory_id"), (subject,))
                for each in statements_of(link, stated.get(link.link, []))
                for subject in [f"{verb} {entity.normalized_name}"]
            ]
    earlier: dict[str, dict[bool, _Claim]] = {}
    pairs: dict[tuple[str, str], Contradiction] = {}
    for claim in sorted(claims, key=lambda claim: (*claim[:2], claim.entity.normalized_name)):
        opposites = (earlier.get(subject, {}).get(not claim.ends) for subject in claim.subjects)
        older = next(filter(None, opposites), None)
        if older is not None and (older.memory is None or older.memory != claim.memory):
            memories = tuple(id for id in (older.memory, claim.memory) if id)
            pair = Contradiction(older.entity, claim.entity, memories)
            pairs[older.entity.id, claim.entity.id] = pair
        for subject in claim.subjects:
            earlier.setdefault(subject, {})[claim.ends] = claim
    return list(pairs.values())


class _Claim(NamedTuple):
    """What a memory says at a time for or against the subjects, each a verb with its object."""

    time: str
    ends: bool
    entity: Entity
    memory: str | None
    subjects: tuple[str, ...]


def _decided(decision: Entity) -> tuple[bool, tuple[str, ...]]:
    """Whether a decision is negative, and its subjects: its words, and its verb with each tool."""
    words = _NEGATION.sub("", decision.normalized_name)
    verb = words.split(" ", 1)[0]
    names = [mention.name for mention in tools.mentions(_NEGATION.sub("", decision.name))]
    subjects = (words, *(f"{verb} {normalized(name)}" for name in names))
    return words != decision.normalized_name, subjects
