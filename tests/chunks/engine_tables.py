"""Tables for the rule engine: rules, facts and a goal, and what a run leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kiprdf import chunks


@dataclass(frozen=True)
class Case:
    """One run; an expectation that is None is not checked.

    ``shown`` is what ``@do show`` got as ``value``, ``fired`` the places of the rules that fired,
    ``buffers`` and ``graphs`` are texts of chunks by module, without ids.
    """

    claim: str
    rules: str
    goal: str = "start {}"
    facts: str = ""
    shown: Sequence[Any] | None = None
    fired: Sequence[int] | None = None
    buffers: Mapping[str, str | None] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    graphs: Mapping[str, str] = field(default_factory=dict)
    queues: Mapping[str, str] = field(default_factory=dict)
    stopped: str = "quiet"
    cycles: int = 50

    def check(self) -> None:
        engine = chunks.Engine(self.rules, modules={"facts": self.facts})
        shown: list[Any] = []
        engine.operation("show", lambda call: shown.append(call.properties.get("value")))
        engine.goal(self.goal)
        firings = engine.run(max_cycles=self.cycles)
        if self.shown is not None:
            assert shown == list(self.shown)
        if self.fired is not None:
            assert [firing.index for firing in firings] == list(self.fired)
        for name, text in self.buffers.items():
            buffer = engine.module(name).buffer
            assert content([buffer] if buffer else []) == content(text or ""), name
        for name, status in self.statuses.items():
            assert engine.module(name).status == status, name
        for name, text in self.graphs.items():
            graph = list(engine.module(name).graph)
            assert sorted(content(graph), key=repr) == sorted(content(text), key=repr), name
        for name, text in self.queues.items():
            assert content(engine.module(name).queue) == content(text), name
        assert engine.stopped == self.stopped


def content(source: str | Sequence[Any]) -> list[Any]:
    """Type and properties of each chunk."""
    items = chunks.parse(source).chunks if isinstance(source, str) else source
    return [(str(chunk.type), dict(chunk.properties)) for chunk in items]


def table(*cases: Case) -> Any:
    """Parametrize a test with cases; each is named by its claim."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.claim) for case in cases])
