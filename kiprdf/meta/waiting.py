"""Open commitments and sleep tasks, for the primer.

The questions are KQL, as a model would ask them; the words are those of the bundled capsules
``Commitment`` and ``SleepTask``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from kiprdf.kql import find as kql
from kiprdf.kql import results
from kiprdf.language import Template, ast, parse
from kiprdf.rdf.literals import Json
from kiprdf.semantics import Catalog
from kiprdf.store import Store

# A missing status is that of the capsule's default, and an unknown one is not closed.
_COMMITMENTS = (
    '?x {type: "Commitment"} FILTER(!IN(?x.attributes.status, ["kept", "broken", "released"]))'
)
_SLEEP_TASKS = (
    '?x {type: "SleepTask"} FILTER(!IN(?x.attributes.status, ["completed", "failed", "cancelled"]))'
)
_DUE = "FILTER(?x.attributes.due_at <= :now)"
_COMMITMENT_KEYS = ("description", "promised_by", "promised_to", "due_at")
_SLEEP_TASK_KEYS = ("requested_action", "target_type", "target_name", "priority")


@dataclass
class Waiting:
    """How many promises are open, and due, and how many tasks are left; the next of each."""

    commitments: int = 0
    due: int = 0
    sleep_tasks: int = 0
    next_commitments: list[dict[str, Json]] = field(default_factory=list)
    next_sleep_tasks: list[dict[str, Json]] = field(default_factory=list)


def waiting(store: Store, catalog: Catalog, most: int, now: str) -> Waiting:
    """What waits: promises by the time they are due, tasks by priority, at most so many of each."""
    work = Waiting()
    if "Commitment" in catalog.concept_types:
        order = "?x.attributes.due_at, ?x.attributes.importance DESC"
        work.commitments = _count(store, _COMMITMENTS)
        work.due = _count(store, f"{_COMMITMENTS} {_DUE}", now=now)
        work.next_commitments = _next(store, _COMMITMENTS, order, _COMMITMENT_KEYS, most)
    if "SleepTask" in catalog.concept_types:
        order = "?x.attributes.priority DESC, ?x.attributes.requested_at"
        work.sleep_tasks = _count(store, _SLEEP_TASKS)
        work.next_sleep_tasks = _next(store, _SLEEP_TASKS, order, _SLEEP_TASK_KEYS, most)
    return work


def _count(store: Store, where: str, **parameters: str) -> int:
    return cast(int, _answer(store, f"FIND(COUNT(?x)) WHERE {{ {where} }}", **parameters))


def _next(
    store: Store, where: str, order: str, keys: tuple[str, ...], most: int
) -> list[dict[str, Json]]:
    names = ("name", *keys)
    expressions = ", ".join(("?x.name", *(f"?x.attributes.{key}" for key in keys)))
    text = f"FIND({expressions}) WHERE {{ {where} }} ORDER BY {order} LIMIT {most}"
    rows = zip(*_answer(store, text), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


@lru_cache(maxsize=8)
def _template(text: str) -> Template[Any]:
    return Template(parse(text))


def _answer(store: Store, text: str, **parameters: str) -> Any:
    find = cast(ast.Find, _template(text).bind(parameters))
    result = kql.run(find, store)
    return results.shape(result.find, result.columns)
