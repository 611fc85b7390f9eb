"""Each operator compares in Python as in SPARQL, for every pair of kinds of value."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from pyoxigraph import BaseDirection, Literal, NamedNode, Variable

from kiprdf.kql import comparisons
from kiprdf.kql.comparisons import (
    OPERATORS,
    TESTS,
    LiteralOperand,
    NodeOperand,
    Operand,
    TextOperand,
    ValueOperand,
    literal_operand,
)
from kiprdf.language.parameters import from_json
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_json, to_term
from kiprdf.sparql.algebra import (
    UNIT,
    Condition,
    Expression,
    Extend,
    Hole,
    Infix,
    Negation,
    Pattern,
    Select,
    Union,
)
from kiprdf.sparql.text import render
from kiprdf.store import OxigraphStore, Request

X, Y = Variable("x"), Variable("y")
TERMS: list[Literal | NamedNode | None] = [
    None,
    *map(to_term, (
        None, True, False, 0, 1, -1, 3, 1.0, 0.5, -0.0, 3.0, 1e300, 2**53, 2**53 + 1,
        float(2**53), -(2**63), 2**63 - 1, "", "a", "B", "é", "1", "true", "😀", "\uffff",
        [1], [1.0], [], ["a"], ["a", None], ["1", True, 3.0], [["a"]], [{"a": 1}], {"a": 1}, {},
        {"@value": "a", "@language": "de"}, {"@value": "1", "@type": "http://example.org/t"},
        [{"@value": "a", "@language": "de"}, {"@value": "B", "@language": "en"}],
        *({"@value": text, "@type": vocab.XSD + datatype} for text, datatype in (
            ("3.00", "decimal"), ("3", "int"), ("9" * 30, "nonNegativeInteger"), ("1", "boolean"),
            ("2026-11-22", "date"), ("NaN", "double"), ("-INF", "float"), ("1_0", "integer"),
        )),
        [{"@value": "0.5", "@type": vocab.XSD + "decimal"}, "x"],
    )),
    Literal("a", language="ar", direction=BaseDirection.RTL),
]  # fmt: skip
NODES = [None, NamedNode("urn:kip:nexus/Drug/Aspirin"), NamedNode("urn:kip:nexus/Drug/Ibuprofen")]
NODES += [NamedNode("urn:kip:nexus/$proposition/48ec6e8e3fe50dea/treats")]
"""Concepts and a proposition."""


@pytest.fixture(scope="module")
def store() -> OxigraphStore:
    return OxigraphStore.memory()


def in_the_engine(
    store: OxigraphStore, conditions: list[Expression], givens: list[Any]
) -> list[list[bool]]:
    """The results of conditions for each of some bindings, with some of these in one query."""
    if len(givens) > 60:
        first = in_the_engine(store, conditions, givens[:60])
        return first + in_the_engine(store, conditions, givens[60:])
    number = Variable("number")
    branches: list[Pattern] = []
    for index, given in enumerate(givens):
        branch: Pattern = Extend(UNIT, number, to_term(index))
        for name, term in given.items():
            if term is not None:
                branch = Extend(branch, name, term)
        branches.append(branch)
    pattern: Pattern = Union(tuple(branches))
    names = [Variable(f"result{index}") for index in range(len(conditions))]
    for name, condition in zip(names, conditions, strict=True):
        pattern = Extend(pattern, name, condition)
    text = render(Select((number, *names), pattern, distinct=False))
    rows = sorted(store.select(text, Request(tests=TESTS)), key=lambda row: int(row[0].value))  # type: ignore[union-attr]
    assert all(isinstance(cell, Literal) for row in rows for cell in row), (conditions, givens)
    return [[cell.value == "true" for cell in row[1:]] for row in rows]  # type: ignore[union-attr]


def in_python(condition: Expression, given: Any) -> bool | None:
    if isinstance(condition, Negation):
        inner = in_python(condition.operand, given)
        return None if inner is None else not inner
    if isinstance(condition, Literal):
        return condition == comparisons.TRUE
    if isinstance(condition, Infix):
        parts = [in_python(part, given) for part in condition.operands]
        decided = condition.operator == "||"
        return decided if decided in parts else None if None in parts else not decided
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
    if not isinstance(right, LiteralOperand | NodeOperand):
        yield comparisons.member_of(left, right)
    if not isinstance(left, NodeOperand):
        yield comparisons.member_of(right, left)
    if isinstance(right, LiteralOperand):
        assert not isinstance(right.term, Hole)
        yield comparisons.member(left, tuple(map(from_json, (to_json(right.term), "a", 3))))
    yield comparisons.is_null(left)
    yield comparisons.truth(left)


def compared(store: OxigraphStore, left: Operand, right: Operand, givens: list[Any]) -> int:
    """How many conditions the table decides, each as the engine does."""
    made = list(conditions(left, right))
    decided = 0
    for given, expected in zip(givens, in_the_engine(store, made, givens), strict=True):
        for condition, result in zip(made, expected, strict=True):
            python = in_python(condition, given)
            decided += python is not None
            assert python in (None, result), (condition, given)
    return decided


def test_values_are_compared_as_the_engine_compares_them(store: OxigraphStore) -> None:
    pairs = [{X: x, Y: y} for x, y in itertools.product(TERMS, repeat=2)]
    assert compared(store, ValueOperand(X), ValueOperand(Y), pairs) > 25_000


def test_a_value_is_compared_with_a_constant_as_the_engine_compares_it(
    store: OxigraphStore,
) -> None:
    values = [{X: x} for x in TERMS]
    constants = [literal_operand(from_json(to_json(y))) for y in TERMS if y is not None]
    decided = sum(compared(store, ValueOperand(X), constant, values) for constant in constants)
    assert decided > 25_000


def test_a_name_is_compared_as_the_engine_compares_it(store: OxigraphStore) -> None:
    names = [None, *map(to_term, ("", "a", "B", "1"))]
    pairs = [{X: x, Y: y} for x, y in itertools.product(names, TERMS)]
    assert compared(store, TextOperand(X), ValueOperand(Y), pairs) > 2_000
    for y in TERMS:
        if y is not None:
            constant = literal_operand(from_json(to_json(y)))
            compared(store, TextOperand(X), constant, [{X: x} for x in names])
    both = [{X: x, Y: y} for x, y in itertools.product(names, repeat=2)]
    compared(store, TextOperand(X), TextOperand(Y), both)


def test_nodes_are_compared_by_identity(store: OxigraphStore) -> None:
    pairs = [{X: x, Y: y} for x, y in itertools.product(NODES, repeat=2)]
    assert compared(store, NodeOperand(X), NodeOperand(Y), pairs) == 11 * len(pairs)
    pairs = [{X: x, Y: y} for x, y in itertools.product(NODES, TERMS)]
    compared(store, NodeOperand(X), ValueOperand(Y), pairs)
    compared(store, ValueOperand(Y), NodeOperand(X), pairs)


def test_only_regular_expressions_are_left_to_the_engine() -> None:
    assert [name for name, made in OPERATORS.items() if made.python is None] == ["REGEX"]
