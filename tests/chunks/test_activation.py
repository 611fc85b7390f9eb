"""Activation: decay, the spacing effect, and spreading over what chunks refer to."""

from __future__ import annotations

import math

import pytest

from kiprdf.chunks import Graph


def test_activation_decays_exponentially_at_the_given_rate() -> None:
    graph = Graph("dog d {}")
    graph.activate("d", 10)
    assert graph.activation("d", 10) == 1.0
    assert graph.activation("d", 14) == pytest.approx(math.exp(-2))
    assert graph.activation("d", 14, decay=0.1) == pytest.approx(math.exp(-0.4))


def test_repeated_boost_is_smaller_the_sooner_it_comes() -> None:
    soon, late = Graph("dog d {}"), Graph("dog d {}")
    for graph, second in ((soon, 0.1), (late, 5)):
        graph.activate("d", 0)
        graph.activate("d", second)
    assert soon.activation("d", 0.1, decay=0) == pytest.approx(1.095, abs=0.001)
    assert late.activation("d", 5, decay=0) == pytest.approx(1.993, abs=0.001)


def test_activation_is_divided_among_the_chunks_referred_to_and_weakens() -> None:
    graph = Graph("dog a {likes b, c} dog b {likes d} dog c {} dog d {likes a} dog e {}")
    graph.activate("a", 0)
    assert [graph.activation(id, 0) for id in "abcde"] == [1.0, 0.25, 0.25, 0.125, 0.0]


def test_activation_spreads_over_links_and_stops_below_the_threshold() -> None:
    graph = Graph(
        "dog d0 {}" + "".join(f"dog d{i} {{}} d{i - 1} likes d{i}\n" for i in range(1, 20))
    )
    graph.activate("d0", 0)
    active = [i for i in range(20) if graph.activation(f"d{i}", 0)]
    assert active == [0, 1, 2, 3, 4, 5, 6]


def test_changed_chunk_keeps_its_activation_and_a_removed_one_loses_it() -> None:
    graph = Graph("dog d {}")
    graph.activate("d", 0)
    graph.add(graph["d"].with_(properties={"age": 4}))
    assert graph.activation("d", 0) == 1.0
    graph.remove("d")
    graph.activate("d", 0)
    assert graph.activation("d", 0) == 0.0
