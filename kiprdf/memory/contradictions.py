"""Finds statements that contradict each other."""

from __future__ import annotations

import re
from typing import NamedTuple

from kiprdf.dataclasses import dataclass
from kiprdf.memory.extraction import tools
from kiprdf.memory.graph import Graph
from kiprdf.memory.items import USER_ID, Entity, comparable, normalized

_NEGATION = re.compile(r"^(?:not to|never|no longer|stop|drop)\s+", re.I)
_VERBS = {"uses": "use", "prefers": "prefer", "works_on": "work on"}


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


class _Claim(NamedTuple):
    """What a memory says at a time for or against the subjects, each a verb with its object."""

    time: str
    ends: bool
    entity: Entity
    memory: str | None
    subjects: tuple[str, ...]


def contradictions(graph: Graph) -> list[Contradiction]:
    """The statements of which a newer one negates an older one, or takes a negation back.

    Decisions and relations are compared by a verb and its object: "use Docker".
    """
    entities = {node.entity.id: node.entity for node in graph.entities()}
    links = graph.stated_edges()
    sources = {link.edge.object_id: link.edge.evidence.get("memory_id") for link in links}
    claims = [
        _Claim(comparable(entity.created_ts), is_negative, entity, sources.get(entity.id), subjects)
        for entity in entities.values()
        if entity.type == "decision"
        for is_negative, subjects in [_decided(entity)]
    ]
    for link in links:
        verb, entity = _VERBS.get(link.edge.predicate), entities[link.edge.object_id]
        if verb is not None and link.edge.subject_id == USER_ID:
            claims += [
                _Claim(each.time, each.ends, entity, each.evidence.get("memory_id"), (subject,))
                for each in link.statements
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


def _decided(decision: Entity) -> tuple[bool, tuple[str, ...]]:
    """Whether a decision is negative, and its subjects: its words, and its verb with each tool."""
    words = _NEGATION.sub("", decision.normalized_name)
    verb = words.split(" ", 1)[0]
    names = [mention.name for mention in tools.mentions(_NEGATION.sub("", decision.name))]
    subjects = (words, *(f"{verb} {normalized(name)}" for name in names))
    return words != decision.normalized_name, subjects
