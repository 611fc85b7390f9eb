"""Order, identity and shape of results."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

import kiprdf
from kiprdf.kql.results import shape, sort_key
from kiprdf.language import ast, parse

IN_ORDER: list[Any] = [
    False, True,
    -1e308, -5, -0.5, 0, 1, 1.5, 2, 9007199254740993, 1e300,
    "", "10", "9", "A", "a", "é", "\uffff", "😀",
]  # fmt: skip


def test_kinds_and_values_are_in_order() -> None:
    for one, other in itertools.pairwise(IN_ORDER):
        assert sort_key(one) < sort_key(other), (one, other)


def test_other_values_sort_after_strings_by_their_stored_text() -> None:
    others: list[Any] = [[1, 2], [1], {"a": 1}, [], {}]
    assert sorted(others, key=sort_key) == [[1, 2], [1], [], {"a": 1}, {}]
    assert all(sort_key("😀") < sort_key(other) for other in others)


def test_an_integer_and_its_double_rank_alike() -> None:
    assert sort_key(3) == sort_key(3.0)


def test_every_shuffle_sorts_alike() -> None:
    for seed in range(200):
        values = random.Random(seed).sample(IN_ORDER, len(IN_ORDER))
        assert json.dumps(sorted(values, key=sort_key)) == json.dumps(IN_ORDER), seed


def find(shown: str) -> ast.Find:
    command = parse(f'FIND({shown}) WHERE {{ ?d {{name: "x"}} }}')
    assert isinstance(command, ast.Find)
    return command


@pytest.mark.parametrize(
    ("shown", "columns", "result"),
    [
        ("?d.name", [["a", "b"]], ["a", "b"]),
        ("?d.name", [[]], []),
        ("?d.name, ?d.id", [["a"], ["b"]], [["a"], ["b"]]),
        ("?d.name, ?d.id", [[], []], [[], []]),
        ("COUNT(?d)", [[3]], 3),
        ("COUNT(?d), SUM(?d.attributes.n)", [[3], [4]], [3, 4]),
        ("?d.name, COUNT(?d)", [["a", "b"], [1, 2]], [["a", "b"], [1, 2]]),
        ("COUNT(?d)", [[]], None),
    ],
)
def test_shape(shown: str, columns: list[list[Any]], result: Any) -> None:
    assert shape(find(shown), columns) == result


@pytest.mark.parametrize(
    ("numbers", "total"),
    [
        ([0.1, 0.2, 0.3, 1e16, -1e16], 0.6),
        ([1e308, 1e308, -1e308], 1e308),
        ([2**53 + 1, 1.0, 0], 2.0**53 + 2),
    ],
)
def test_a_sum_does_not_depend_on_the_order_of_the_rows(numbers: list[float], total: float) -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    orders = list(itertools.permutations(numbers))
    types = " ".join(
        f'CONCEPT {{ {{type: "$ConceptType", name: "N{i}"}} }}' for i in range(len(orders))
    )
    values = " ".join(
        f'CONCEPT {{ {{type: "N{i}", name: "{place}"}} SET ATTRIBUTES {{ n: {number} }} }}'
        for i, order in enumerate(orders)
        for place, number in enumerate(order)
    )
    nexus.apply_capsule(f"UPSERT {{ {types} {values} }}")
    summed = 'FIND(SUM(?n.attributes.n)) WHERE {{ ?n {{type: "N{}"}} }}'
    sums = {nexus.execute(summed.format(i)) for i in range(len(orders))}
    assert sums == {total}
