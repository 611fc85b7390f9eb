"""Each operator compares in Python as in SPARQL, for every pair of kinds of value."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from pyoxigraph import BaseDirection, Literal, NamedNode, Variable

from kiprdf.kql import comparisons
from kiprdf.kql.comparisons import OPERATORS, LiteralOperand, NodeOperand, Operand, ValueOperand
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_term
from kiprdf.sparql.algebra import UNIT, Condition, Expression, Extend, Negation, Pattern, Select
from kiprdf.sparql.text import render
from kiprdf.store import OxigraphStore

X, Y = Variable("x"), Variable("y")
TERMS: list[Literal | NamedNode | None] = [
    None,
    *map(to_term, (
        None, True, False, 0, 1, -1, 3, 1.0, 0.5, -0.0, 3.0, 1e300, 2**53, 2**53 + 1,
        float(2**53), -(2**63), 2**63 - 1, "", "a", "B", "é", "1", "true", "😀", "\uffff",
        [1], [1.0], {"a": 1}, {"@value": "a", "@language": "de"},
        {"@value": "1", "@type": "http://example.org/t"},
    )),
    Literal("a", language="ar", direction=BaseDirection.RTL),
    *(Literal(text, datatype=vocab.DOUBLE) for text in ("NaN", "INF", "-INF")),
    Literal(str(2**63), datatype=vocab.INTEGER),
    *(Literal(text, datatype=NamedNode(vocab.XSD + "decimal")) for text in ("1.0", "0.5")),
    Literal("2026-11-22", datatype=NamedNode(vocab.XSD + "date")),
]  # fmt: skip
NODES = [None, NamedNode("urn:kip:nexus/Drug/Aspirin"), NamedNode("urn:kip:nexus/Drug/Ibuprofen")]
NODES += [NamedNode("urn:kip:nexus/$proposition/48ec6e8e3fe50dea/treats")]
"""Concepts and a proposition."""


@pytest.fixture(scope="module")
def store() -> OxigraphStore:
    return OxigraphStore.memory()


def in_the_engine(store: OxigraphStore, conditions: list[Expression], given: Any) -> list[bool]:
    pattern: Pattern = UNIT
    for name, term in given.items():
        if term is not None:
            pattern = Extend(pattern, name, term)
    names = [Variable(f"result{number}") for number in range(len(conditions))]
    for name, condition in zip(names, conditions, strict=True):
        pattern = Extend(pattern, name, condition)
    (row,) = store.select(render(Select(tuple(names), pattern, distinct=False)))
    assert all(isinstance(cell, Literal) for cell in row), (conditions, given)
    return [cell.value == "true" for cell in row]  # type: ignore[union-attr]


def in_python(condition: Expression, given: Any) -> bool | None:
    if isinstance(condition, Negation):
        inner = in_python(condition.operand, given)
        return None if inner is None else not inner
    if isinstance(condition, Literal):
        return condition == comparisons.TRUE
    if not isinstance(condition, Condition):
        return None
    function = OPERATORS[condition.name].python
    cells = [given[t] if isinstance(t, Variable) else t for t in condition.operands]
    return None if function is None else function(*cells)


def conditions(left: Operand, right: Operand) -> Iterator[Expression]:
    """Every operator on two operands."""
    for symbol in ("==", "!=", "<", "<=", ">", ">="):
        yield comparisons.compare(symbol, left, right)  # type: ignore[arg-type]
    for name in ("CONTAINS", "STARTS_WITH", "ENDS_WITH"):
        yield comparisons.string_test(name, left, right)  # type: ignore[arg-type]
    yield comparisons.is_null(left)
    yield comparisons.truth(left)
    if isinstance(left, ValueOperand) and isinstance(right, LiteralOperand) and not _is_null(right):
        options = (right, LiteralOperand(Literal("a")), LiteralOperand(to_term(3)))
        terms = tuple(option.term for option in options)
        yield Condition("IN", (X, *terms), OPERATORS["IN"].sparql(left, *options))


def _is_null(operand: LiteralOperand) -> bool:
    return operand.term == vocab.NULL


def compared(store: OxigraphStore, left: Operand, right: Operand, given: Any) -> int:
    """How many conditions the table decides, each as the engine does."""
    made = list(conditions(left, right))
    expected = in_the_engine(store, made, given)
    decided = 0
    for condition, result in zip(made, expected, strict=True):
        python = in_python(condition, given)
        decided += python is not None
        assert python in (None, result), (condition, given)
    return decided


def test_values_are_compared_as_the_engine_compares_them(store: OxigraphStore) -> None:
    decided = sum(
        compared(store, ValueOperand(X), ValueOperand(Y), {X: x, Y: y})
        for x, y in itertools.product(TERMS, repeat=2)
    )
    assert decided > 12_000


def test_a_value_is_compared_with_a_constant_as_the_engine_compares_it(
    store: OxigraphStore,
) -> None:
    decided = sum(
        compared(store, ValueOperand(X), LiteralOperand(y), {X: x, Y: y})
        for x, y in itertools.product(TERMS, repeat=2)
        if y is not None
    )
    assert decided > 12_000


def test_nodes_are_compared_by_identity(store: OxigraphStore) -> None:
    for x, y in itertools.product(NODES, repeat=2):
        assert compared(store, NodeOperand(X), NodeOperand(Y), {X: x, Y: y}) == 11
    for x, y in itertools.product(NODES, TERMS):
        compared(store, NodeOperand(X), ValueOperand(Y), {X: x, Y: y})
        compared(store, ValueOperand(Y), NodeOperand(X), {X: x, Y: y})


def test_only_regular_expressions_are_left_to_the_engine() -> None:
    assert [name for name, made in OPERATORS.items() if made.python is None] == ["REGEX"]
