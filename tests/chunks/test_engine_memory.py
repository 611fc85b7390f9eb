"""Recall by activation: engine.memory (section "Mimicking Human Memory")."""

from __future__ import annotations

from collections import Counter

import pytest

from kiprdf import chunks

DOGS = "dog rex {age 1}\ndog fido {age 2}\ndog bello {age 3}"
GET = "ask {} => dog {@module facts; @do get}"


class Hands:
    """A clock that stands where it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def recall(engine: chunks.Engine, goal: str = "ask {}") -> str:
    engine.goal(goal)
    engine.run()
    buffer = engine.module("facts").buffer
    assert buffer is not None
    return str(buffer.id)


def engine_with(noise: float, rules: str) -> tuple[chunks.Engine, Hands]:
    clock = Hands()
    engine = chunks.Engine(rules, {"facts": DOGS}, clock=clock)
    engine.memory(decay=0.5, noise=noise)
    return engine, clock


def test_without_noise_the_last_recalled_chunk_is_recalled_again() -> None:
    rules = """ask {age !} => dog {@module facts; @do get}
               ask {age ?a} => dog {@module facts; @do get; age ?a}"""
    engine, clock = engine_with(0, rules)
    assert recall(engine, "ask {age 2}") == "fido"
    clock.now = 1.0
    assert {recall(engine) for _ in range(20)} == {"fido"}


def test_with_noise_what_was_used_lately_is_recalled_more_often_and_forgotten_with_time() -> None:
    def share_of_fido(later: float) -> float:
        names: Counter[str] = Counter()
        for seed in range(200):
            engine = chunks.Engine(
                "ask {} => dog {@module facts; @do get}",
                {"facts": DOGS},
                seed=seed,
                clock=lambda: later,
            )
            engine.memory(noise=0.5)
            engine.module("facts").graph.activate("fido", now=0.0)
            names[recall(engine)] += 1
        return names["fido"] / 200

    soon, late = share_of_fido(0.0), share_of_fido(20.0)
    assert soon > 0.65
    assert late == pytest.approx(1 / 3, abs=0.1)


def test_without_memory_nothing_is_boosted() -> None:
    engine = chunks.Engine(GET, {"facts": DOGS})
    name = recall(engine)
    assert engine.module("facts").graph.activation(name, now=0.0) == 0.0


def test_a_rule_that_fires_is_chosen_again() -> None:
    engine = chunks.Engine("a {} => one {}\na {} => two {}\na {} => three {}")
    engine.memory(noise=0)
    places = set()
    for _ in range(10):
        engine.goal("a {}")
        firing = engine.step()
        assert firing is not None
        places.add(firing.index)
    assert len(places) == 1


def test_put_and_patch_boost_and_a_seed_decides() -> None:
    rules = """save {} => dog {@module facts; @do put; @id laika; age 9}
               ask {} => dog {@module facts; @do get}"""
    engine, _ = engine_with(0, rules)
    engine.goal("save {}")
    engine.run()
    assert engine.module("facts").graph.activation("laika", now=0.0) == 1.0
    assert recall(engine) == "laika"


@pytest.mark.parametrize("options", [{"decay": -1}, {"noise": -0.1}])
def test_a_number_below_zero_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(chunks.ChunksError, match="from 0"):
        chunks.Engine("a {} => b {}").memory(**options)
