"""FILTER: operands to values, conditions to true or false (KIP 3.4.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, assert_never

from kiprdf.errors import KipError
from kiprdf.language import ast
from kiprdf.language.parameters import to_json
from tests.oracle.graph import Graph
from tests.oracle.values import Element, alike, as_people_read, as_whole, equal, less

Solution = Mapping[str, Element | str | None]


def operand_value(operand: ast.Operand, solution: Solution, graph: Graph) -> Any:
    """Rule: "absent attribute, explicit null, unbound variable are all null"."""
    match operand:
        case ast.Variable():
            return solution[operand.name]
        case ast.Path():
            return path_value(operand, solution[operand.variable.name], graph)
        case _:
            return to_json(operand)


def path_value(path: ast.Path, value: Element | str | None, graph: Graph) -> Any:
    """A field that the element's kind does not have is null."""
    if value is None:
        return None
    assert isinstance(value, Element)
    if path.field == "id":
        return value.id
    element = graph.element(value.id)
    return element.get(path.field) if path.key is None else element[path.field].get(path.key)


def holds(condition: ast.Condition, solution: Solution, graph: Graph) -> bool:
    """Whether a condition is true; there is no third value."""

    def value(operand: ast.Operand) -> Any:
        read = as_people_read(operand_value(operand, solution, graph))
        return read if isinstance(operand, ast.Path) else as_whole(read)

    match condition:
        case ast.Comparison():
            return _compared(condition.operator, value(condition.left), value(condition.right))
        case ast.Membership():
            options = value(condition.options)
            if not isinstance(options, list | tuple):
                options = [] if options is None else [options]
            return any(alike(value(condition.operand), option) for option in options)
        case ast.NullTest():
            return (value(condition.operand) is None) != condition.negated
        case ast.StringTest():
            return _string_test(
                condition.function, value(condition.operand), value(condition.argument)
            )
        case ast.Truth():
            return alike(value(condition.operand), True)
        case ast.Negation():
            return not holds(condition.operand, solution, graph)
        case ast.Conjunction():
            return all(holds(operand, solution, graph) for operand in condition.operands)
        case ast.Disjunction():
            return any(holds(operand, solution, graph) for operand in condition.operands)
        case _:
            assert_never(condition)


def _compared(operator: ast.ComparisonOperator, left: Any, right: Any) -> bool:
    """Rule: "== and != are exact opposites"; the orders are false where two values have none."""
    match operator:
        case "==":
            return alike(left, right)
        case "!=":
            return not alike(left, right)
        case "<":
            return less(left, right)
        case ">":
            return less(right, left)
        case "<=":
            return less(left, right) or _equal_and_ordered(left, right)
        case ">=":
            return less(right, left) or _equal_and_ordered(left, right)
        case _:
            assert_never(operator)


def _equal_and_ordered(left: Any, right: Any) -> bool:
    return isinstance(left, bool | int | float | str) and equal(left, right)


def _string_test(function: ast.StringFunction, text: Any, argument: Any) -> bool:
    """Rule: "case-sensitive, false on a non-string; REGEX unanchored", true for some item."""
    if isinstance(text, list):
        return any(_string_test(function, item, argument) for item in text)
    if isinstance(argument, list):
        return any(_string_test(function, text, item) for item in argument)
    if not isinstance(text, str) or not isinstance(argument, str):
        return False
    match function:
        case "CONTAINS":
            return argument in text
        case "STARTS_WITH":
            return text.startswith(argument)
        case "ENDS_WITH":
            return text.endswith(argument)
        case "REGEX":
            return _matches(argument, text)
        case _:
            assert_never(function)


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error as fault:
        raise KipError("KIP_1001", f"No regular expression: {fault}.") from None
