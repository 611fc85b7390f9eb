"""The speed of the engine: firings a second, and a matcher without compiled rules and indexes."""

from __future__ import annotations

import time
from typing import Any

from kiprdf import chunks

LAST = 1200
FACTS = "\n".join(f"increment {{number {n}; successor {n + 1}}}" for n in range(LAST + 1))
COUNT = """
count {state start; from ?a} =>
  increment {@module facts; @do get; number ?a}, count {state counting; at ?a}
count {state counting; at ?a; to !?a}, increment {@module facts; number ?a; successor ?n} =>
  increment {@module facts; @do get; number ?n}, count {at ?n}
count {state counting; at ?a; to ?a} => count {state stop}
"""
FLOOR = 10_000
"""Firings a second that counting rules must reach; the test allows a busy machine a quarter."""


def test_counting_rules_fire_ten_thousand_times_a_second() -> None:
    engine = chunks.Engine(COUNT, {"facts": FACTS})
    engine.goal(f"count {{state start; from 0; to {LAST}}}")
    naive = Naive(COUNT, FACTS)
    naive.buffers["goal"] = chunks.parse("count {state start; from 0; to 100}").chunks[0]

    started = time.process_time()
    fired = len(engine.run(max_cycles=10 * LAST))
    middle = time.process_time()
    naively_fired = naive.run()
    ended = time.process_time()

    assert (fired, naively_fired) == (LAST + 2, 102)
    rate, naive_rate = fired / (middle - started), naively_fired / (ended - middle)
    assert rate > FLOOR / 4
    assert rate > 4 * naive_rate


class Naive:
    """Matches each rule with generic code, and looks for facts in a list."""

    def __init__(self, rules: str, facts: str) -> None:
        self.rules = chunks.parse(rules).rules
        self.facts = chunks.parse(facts).chunks
        self.buffers: dict[str, chunks.Chunk | None] = {"goal": None, "facts": None}

    def run(self) -> int:
        fired = 0
        while any(self.fire(rule) for rule in self.rules):
            fired += 1
        return fired

    def fire(self, rule: chunks.Rule) -> bool:
        bindings: dict[str, Any] = {}
        for condition in rule.conditions:
            buffer = self.buffers[str(condition.chunk.get("@module", "goal"))]
            if buffer is None or not self.matches(condition.chunk, buffer, bindings):
                return False
        for action in rule.actions:
            module = str(action.get("@module", "goal"))
            values = {
                name: bindings.get(value.name) if isinstance(value, chunks.Variable) else value
                for name, value in action.properties.items()
            }
            plain = {name: value for name, value in values.items() if name[0] != "@"}
            buffer = self.buffers[module]
            if values.get("@do") == "get":
                wanted = chunks.Chunk(action.type, plain)
                matching = [fact for fact in self.facts if self.matches(wanted, fact, {})]
                self.buffers[module] = matching[0] if matching else None
            elif buffer is not None and buffer.type == action.type:
                self.buffers[module] = buffer.with_(properties={**buffer.properties, **plain})
        return True

    def matches(self, pattern: chunks.Chunk, chunk: chunks.Chunk, bindings: dict[str, Any]) -> bool:
        if pattern.type != chunk.type:
            return False
        for name, value in pattern.properties.items():
            if name[0] == "@":
                continue
            if name not in chunk:
                return False
            if isinstance(value, chunks.Variable):
                if bindings.setdefault(value.name, chunk[name]) != chunk[name]:
                    return False
            elif isinstance(value, chunks.Negated):
                if bindings.get(value.value.name) == chunk[name]:
                    return False
            elif value != chunk[name]:
                return False
        return True
