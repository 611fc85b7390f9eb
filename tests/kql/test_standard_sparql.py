"""SPARQL 1.1 on a dataset in RDF 1.1, without LATERAL and custom functions, answers the same."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from hypothesis import given, note, settings
from pyoxigraph import Literal, Variable

from kiprdf.kql.comparisons import FALSE, Operand, TextOperand, ValueOperand, literal_operand
from kiprdf.kql.optimize.standard_conditions import KeyValues, standard_conditions
from kiprdf.kql.scopes import Value
from kiprdf.language.parameters import from_json
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_json, to_term
from kiprdf.sparql.abilities import EMBEDDED
from kiprdf.sparql.algebra import UNIT, Call, Expression, Filter, Negation
from kiprdf.store import OxigraphStore
from tests.kql.test_comparisons import TERMS, X, Y, conditions, in_python, in_the_engine
from tests.long_runs import amount
from tests.oracle import TooManySolutions
from tests.properties.comparison import difference, expected
from tests.properties.strategies import Case, cases
from tests.properties.test_engine_equals_oracle import build
from tests.standard_sparql import standard_sparql


@settings(max_examples=amount("EXAMPLES", 15))
@given(case=cases())
def test_standard_sparql_equals_oracle(case: Case) -> None:
    nexus = build(case.graph)
    with standard_sparql() as texts:
        for query in case.queries:
            try:
                answer = expected(query, case.graph)
            except TooManySolutions:
                continue
            fault = difference(query, answer, nexus.execute_kip_readonly({"command": query}))
            if fault:
                note("\n".join((*map(str, case.graph.requests()), query, texts[-1])))
            assert fault is None


BY_UNITS = replace(EMBEDDED, code_points=False)
JSON_TERMS = [term for term in TERMS if isinstance(term, Literal) and term.datatype == vocab.JSON]


def _standard(condition: Expression, values: dict[Variable, Value]) -> Expression:
    keys = {vocab.attribute(key): KeyValues(JSON_TERMS) for key in ("x", "y")}
    pattern = standard_conditions(Filter(UNIT, condition), values, keys, BY_UNITS)
    assert isinstance(pattern, Filter)
    return pattern.condition


def _compared(left: Operand, right: Operand, values: dict[Variable, Value], givens: Any) -> int:
    """How many conditions in SPARQL 1.1 Python decides, each as FILTER does, and its negation."""
    made: list[Expression] = list(conditions(left, right))
    # To FILTER, an error is false.
    asked: list[Expression] = [Call("COALESCE", (_standard(c, values), FALSE)) for c in made]
    made += map(Negation, tuple(made))
    asked += (_standard(c, values) for c in made[len(asked) :])
    results = in_the_engine(OxigraphStore.memory(), asked, givens)
    decided = 0
    for bound, row in zip(givens, results, strict=True):
        for condition, result in zip(made, row, strict=True):
            python = in_python(condition, bound)
            decided += python is not None
            assert python in (None, result), (condition, bound)
    return decided


NODE = Variable("node")
TWO_VALUES = {X: Value(NODE, "attributes", "x"), Y: Value(NODE, "attributes", "y")}


def test_two_values_are_compared_as_in_python() -> None:
    pairs = [{X: x, Y: y} for x, y in itertools.product(TERMS[::2], TERMS[1::2])]
    assert _compared(ValueOperand(X), ValueOperand(Y), TWO_VALUES, pairs) > 12_000


def test_a_value_is_compared_with_a_constant_as_in_python() -> None:
    values = [{X: x} for x in TERMS]
    constants = [literal_operand(from_json(to_json(y))) for y in TERMS if y is not None]
    decided = sum(_compared(ValueOperand(X), c, TWO_VALUES, values) for c in constants)
    assert decided > 50_000


def test_a_name_is_compared_with_a_value_as_in_python() -> None:
    names = [None, *map(to_term, ("", "a", "B", "1"))]
    pairs = [{X: x, Y: y} for x, y in itertools.product(names, TERMS)]
    values = TWO_VALUES | {X: Value(NODE, "name", None)}
    assert _compared(TextOperand(X), ValueOperand(Y), values, pairs) > 4_000
