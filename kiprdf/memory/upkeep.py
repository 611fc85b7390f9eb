"""Maintains a graph over time: decay, merging, contradictions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from kiprdf.kml.draft import Draft
from kiprdf.kml.merge import ALIASES
from kiprdf.memory.extraction import tools
from kiprdf.memory.graph import (
    Change,
    EdgeLink,
    EntityNode,
    Graph,
    Node,
    Statement,
    drafted_edge,
    write_strongest,
)
from kiprdf.memory.items import PREDICATES, Entity, normalized
from kiprdf.rdf.literals import to_json, to_term

_NEGATION = re.compile(r"^(?:not to|never|no longer|stop|drop)\s+", re.I)
_DAY = 86_400


@dataclass(frozen=True)
class Contradiction:
    """Two decisions about the same thing, one of them with a negation."""

    older: Entity
    newer: Entity


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
            for statement in statements_of(link, stated.get(link.link, []))
        ]
        weight = round(max(weights), 6)
        if weight != link.edge.weight:
            ends = nodes[link.edge.subject_id], nodes[link.edge.object_id]
            change.write_edge(ends[0].node, ends[1].node, replace(link.edge, weight=weight))
            count += 1
    graph.commit(change)
    return count


def statements_of(link: EdgeLink, stated: list[Statement]) -> list[Statement]:
    """All statements of an edge: those of stored memories, and its own evidence."""
    if link.own:
        return [*stated, Statement(link.own["weight"], link.own)]
    return stated or [Statement(link.edge.weight, link.edge.evidence)]


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
    graph.merge(source.node, target.node, lambda draft: _join(draft, source, target.node))
    return target.entity.id


def _join(draft: Draft, source: EntityNode, target: Node) -> None:
    """Give an entity the names of one that was merged into it, and each edge its strongest
    statement."""
    concept = draft.concept(*target)
    aliases = to_json(concept.attributes[ALIASES])
    names = [*cast("list[str]", aliases), *source.aliases, source.entity.normalized_name]
    concept.attributes[ALIASES] = to_term(list(dict.fromkeys([*names, *map(normalized, names)])))
    for link in draft.links_at(concept.node):
        if link.predicate in PREDICATES and "edge_id" in link.metadata:
            statements = statements_of(*drafted_edge(link, draft))
            strongest = max(statements, key=lambda statement: statement.strength)
            write_strongest(link, strongest)


def contradictions(graph: Graph) -> Iterator[Contradiction]:
    """The decisions of which a newer one negates an older one, or takes a negation back."""
    decisions = sorted(
        (node.entity for node in graph.entities("decision")),
        key=lambda decision: (decision.created_ts.rstrip("Z"), decision.normalized_name),
    )
    earlier: dict[str, dict[bool, Entity]] = {}
    for decision in decisions:
        is_negative = _NEGATION.match(decision.normalized_name) is not None
        for subject in _subjects(decision):
            before = earlier.get(subject, {})
            opposite = before.get(not is_negative)
            if opposite is not None:
                yield Contradiction(opposite, decision)
                break
        for subject in _subjects(decision):
            earlier.setdefault(subject, {})[is_negative] = decision


def _subjects(decision: Entity) -> list[str]:
    """What a decision is about: its words without a negation, and its verb with each tool."""
    words = _NEGATION.sub("", decision.normalized_name)
    verb = words.split(" ", 1)[0]
    names = [mention.name for mention in tools.mentions(_NEGATION.sub("", decision.name))]
    return [words, *(f"{verb} {name}" for name in names)]
