"""The one rule by which statements are merged: the strongest wins, and times span all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from kiprdf.dataclasses import dataclass
from kiprdf.memory.items import Edge, Entity, comparable


@dataclass(frozen=True)
class Statement:
    """What one memory states: the evidence of an edge, with its weight.

    It ends the edge if its evidence has ``superseded``; with a weight of 0 it is no evidence that
    the edge ever held. ``turn`` is the session of the memory and its place there.
    """

    weight: float
    evidence: Mapping[str, Any]
    turn: tuple[str, int] | None = None

    @property
    def memory_id(self) -> str:
        """The memory; empty for evidence without one."""
        return str(self.evidence.get("memory_id") or "")

    @property
    def ends(self) -> bool:
        """Whether it says that the edge does not hold."""
        return bool(self.evidence.get("superseded"))

    @property
    def time(self) -> str:
        """The time in a form that is compared as text."""
        return comparable(str(self.evidence.get("timestamp") or ""))

    @property
    def strength(self) -> tuple[float, str, str]:
        """The strongest statement has the greatest; of equal weights, the newest."""
        return self.weight, self.time, self.memory_id


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


def strengthened(edge: Edge, statement: Statement) -> Edge:
    """An edge after another statement."""
    timestamp = str(statement.evidence.get("timestamp") or edge.created_ts)
    edge = replace(edge, created_ts=earliest(edge.created_ts, timestamp))
    if statement.strength < Statement(edge.weight, edge.evidence).strength:
        return edge
    return replace(edge, weight=statement.weight, evidence=dict(statement.evidence))


def united(own: Mapping[str, Any], statement: Statement, moment: str) -> dict[str, Any]:
    """The evidence of an edge that no stored memory has, after another statement at a time."""
    before = Statement(own.get("weight", -1.0), own)
    parts = sorted([before, statement], key=lambda each: each.strength)
    timestamp = str(statement.evidence.get("timestamp") or moment)
    return {
        **parts[0].evidence,
        **parts[1].evidence,
        "weight": parts[1].weight,
        "memory_ids": list(dict.fromkeys([*own.get("memory_ids", ()), *memories_of(statement)])),
        "timestamp": latest(str(own.get("timestamp") or ""), timestamp),
    }


def memories_of(statement: Statement) -> list[str]:
    """The memories that evidence from outside names."""
    ids = statement.evidence.get("memory_ids")
    listed = [id for id in ids if isinstance(id, str)] if isinstance(ids, list) else []
    own = statement.evidence.get("memory_id")
    return listed if own is None or own in listed else [*listed, own]


def extended(entity: Entity, *times: str, metadata: Mapping[str, Any] | None = None) -> Entity:
    """An entity after it was named again at some times, with more metadata."""
    return replace(
        entity,
        metadata={**entity.metadata, **(metadata or {})},
        created_ts=earliest(entity.created_ts, *times),
        updated_ts=latest(entity.updated_ts, *times),
    )


def statements_of(edge: Edge, own: Mapping[str, Any], stated: list[Statement]) -> list[Statement]:
    """All statements of an edge: those of stored memories, and its own evidence."""
    if not own:
        return stated or [Statement(edge.weight, edge.evidence)]
    own = {"timestamp": edge.created_ts, **own}
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
        key=lambda statement: statement.strength[1:],
    )
    edge = replace(edge, weight=strongest.weight, valid_until=None, superseded_by=None)
    if not ending:
        return replace(edge, evidence=dict(strongest.evidence))
    superseding = (each.evidence.get("superseded_by") for each in ending)
    return replace(
        edge,
        evidence=dict(ending[0].evidence),
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


def earliest(*times: str) -> str:
    """The earliest of some times, of which some are not known."""
    return min(filter(None, times), key=comparable, default="")


def latest(*times: str) -> str:
    """The latest of some times."""
    return max(times, key=comparable)


def newest_first(edges: Iterable[Edge]) -> list[Edge]:
    """Edges, those that hold first, then the newest."""
    by_time = sorted(edges, key=lambda edge: edge.time, reverse=True)
    return sorted(by_time, key=lambda edge: edge.valid_until is not None)
