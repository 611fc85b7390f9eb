"""Blank nodes are named by their statements, not by labels or order, in few steps."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, NamedNode

from kiprdf.interchange.importing import blank_nodes
from kiprdf.interchange.importing.blank_nodes import Partition, Steps, blank_names
from kiprdf.interchange.importing.external import ExternalTriple, Items

P = NamedNode("urn:p")
Arrow = tuple[int, int]


def renamed(arrows: Iterable[Arrow], labels: list[int]) -> frozenset[tuple[str, str]]:
    """The arrows between the names of blank nodes that have these labels."""
    nodes = [BlankNode(f"b{label}") for label in labels]
    statements = [ExternalTriple(nodes[start], P, nodes[end]) for start, end in arrows]
    names = blank_names(statements)
    assert len(set(names.values())) == len(names)
    return frozenset((names[s.subject].value, names[s.object].value) for s in statements)  # type: ignore[index]


def both_ways(edges: Iterable[Arrow]) -> list[Arrow]:
    return [arrow for a, b in edges for arrow in ((a, b), (b, a))]


RING = [(n, (n + 1) % 7) for n in range(7)]
CLIQUE = [(a, b) for a in range(7) for b in range(7) if a != b]
PRISM = both_ways([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)])
# Every node has three neighbours, but not every node is like every other.
UNEVEN = both_ways(
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 6), (3, 7), (4, 5), (4, 6), (5, 7), (6, 7)]
)


@example(RING, 1).via("symmetric")
@example(CLIQUE, 2).via("symmetric")
@example(PRISM, 3).via("symmetric")
@example(UNEVEN, 4).via("looks symmetric and is not")
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16), st.integers())
def test_neither_labels_nor_order_make_a_difference(arrows: list[Arrow], seed: int) -> None:
    chance, labels = random.Random(seed), list(range(8))
    before = renamed(arrows, labels)
    chance.shuffle(labels)
    shuffled = chance.sample(arrows, len(arrows))
    assert renamed(shuffled, labels) == before


def test_a_large_clique_is_named_the_same_by_other_labels() -> None:
    arrows = [(a, b) for a in range(60) for b in range(60) if a != b]
    assert renamed(arrows, list(range(60))) == renamed(arrows[::-1], list(range(60, 0, -1)))


def test_blank_nodes_differ_by_their_places_in_a_list() -> None:
    a, b = BlankNode("a"), BlankNode("b")
    one = blank_names([ExternalTriple(NamedNode("urn:x"), P, Items((a, b, a)))])
    other = blank_names([ExternalTriple(NamedNode("urn:x"), P, Items((b, a, b)))])
    assert (one[a], one[b]) == (other[b], other[a])
    assert one[a] != one[b]


def steps(edges: list[list[tuple[int, int]]]) -> int:
    """How many steps it takes to give each vertex of a graph its own cell."""
    allowed = Steps(10**9)
    partition = Partition(edges, [""] * len(edges), allowed)
    partition.break_ties(len(edges))
    return 10**9 - allowed.left


def chain(length: int) -> list[list[tuple[int, int]]]:
    """Each vertex knows the next and the one before."""
    forth = [[(0, n + 1)] if n + 1 < length else [] for n in range(length)]
    return [forth[n] + ([(1, n - 1)] if n else []) for n in range(length)]


def ring(length: int) -> list[list[tuple[int, int]]]:
    return [[(0, (n + 1) % length), (1, (n - 1) % length)] for n in range(length)]


def star(length: int) -> list[list[tuple[int, int]]]:
    return [[(0, n) for n in range(1, length)], *([(1, 0)] for _ in range(1, length))]


def isolated(length: int) -> list[list[tuple[int, int]]]:
    return [[] for _ in range(length)]


@pytest.mark.parametrize("graph", [chain, ring, star, isolated])
def test_twice_as_many_vertices_take_little_more_than_twice_the_steps(graph) -> None:  # type: ignore[no-untyped-def]
    few, many = steps(graph(4_000)), steps(graph(8_000))
    assert many < 2.3 * few
    assert many < 40 * 8_000


@pytest.mark.parametrize("arrows", [RING, CLIQUE, PRISM])
def test_what_is_symmetric_needs_no_trying(
    arrows: list[Arrow], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = renamed(arrows, list(range(8)))
    monkeypatch.setattr(blank_nodes, "STEPS", 0)
    assert renamed(arrows, list(range(8))) == tried
