"""Conditions that can never be what was meant (KIP 3.4.3): an element, a text or a number alone,
and an element compared with a literal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from kiprdf.errors import KipError
from kiprdf.language import ast
from kiprdf.language.printer import expression_text, value_text
from kiprdf.semantics.scope import Kind

Compared: TypeAlias = ast.Comparison | ast.StringTest
Elements: TypeAlias = Mapping[str, frozenset[Kind]]
_TEXT_FIELDS = ("id", "type", "name", "subject", "predicate", "object")


def check_sense(
    condition: ast.Condition,
    elements: Elements,
    compared: Compared | None = None,
) -> None:
    """Raise KIP_1001 for the first test of a condition that makes no sense.

    ``elements`` are the variables that hold concepts or propositions, ``compared`` is the
    test that was joined with the condition before it.
    """
    match condition:
        case ast.Negation():
            check_sense(condition.operand, elements, compared)
        case ast.Conjunction() | ast.Disjunction():
            for part in condition.operands:
                check_sense(part, elements, compared)
                compared = part if isinstance(part, Compared) else compared
        case ast.Truth():
            _check_truth(condition.operand, elements, compared)
        case ast.Comparison():
            _check_pair(condition.left, condition.right, elements)
            _check_pair(condition.right, condition.left, elements)
        case ast.Membership(options=ast.Array() as options):
            values = [item for item in options.items if not _is_null(item)]
            if values and len(values) == len(options.items):
                _check_pair(condition.operand, values[0], elements)
        case ast.StringTest():
            _check_pair(condition.operand, condition.argument, elements)
            _check_pair(condition.argument, condition.operand, elements)
        case _:
            pass


def _is_null(operand: ast.Operand) -> bool:
    return isinstance(operand, ast.Scalar) and operand.value is None


def _check_truth(operand: ast.Operand, elements: Elements, compared: Compared | None) -> None:
    """A single operand is a condition if its value can be a boolean."""
    match operand:
        case ast.Path() if operand.field not in _TEXT_FIELDS:
            return
        case ast.Scalar(value=bool()) | ast.Placeholder():
            return
        case ast.Variable() | ast.Path():
            shown = expression_text(operand)
            is_element = isinstance(operand, ast.Variable) and operand.name in elements
            what = "an element" if is_element else "a text"
            hint = f"Write `IS_NOT_NULL({shown})` instead of `{shown}`, or compare it with a value."
        case _:
            shown, what = value_text(operand), "a value"
            hint = "Write a comparison: path, operator, value."
            match compared:
                case ast.Comparison(left=ast.Path() | ast.Variable() as left):
                    repeated = f"{expression_text(left)} {compared.operator} {shown}"
                    hint = f"Repeat the comparison: write `{repeated}` instead of `{shown}`."
                case ast.StringTest(operand=ast.Path() as path):
                    repeated = f"{compared.function}({expression_text(path)}, {shown})"
                    hint = f"Repeat the test: write `{repeated}` instead of `{shown}`."
                case _:
                    pass
    raise KipError("KIP_1001", f"{shown} is {what}, not a condition.", hint, operand.span)


def _check_pair(operand: ast.Operand, other: ast.Operand, elements: Elements) -> None:
    """An element equals no literal but null, which tests whether it is bound."""
    if not isinstance(operand, ast.Variable) or operand.name not in elements:
        return
    if not isinstance(other, ast.Scalar | ast.Array | ast.Object) or _is_null(other):
        return
    shown = f"?{operand.name}"
    hint = f"Compare a value of it, such as {shown}.name or {shown}.attributes.key."
    if isinstance(other, ast.Scalar) and isinstance(other.value, str):
        named = "name" if "concept" in elements[operand.name] else "predicate"
        field = "id" if other.value.startswith(("C:", "P:")) else named
        hint = f"Write `{shown}.{field}` instead of `{shown}`."
    message = f"{shown} is an element; it is never equal to a literal."
    raise KipError("KIP_1001", message, hint, operand.span)


def check_aggregate(aggregate: ast.Aggregate) -> None:
    """A SUM or AVG reads numbers, which an element and its names and ids never are."""
    argument, function = aggregate.argument, aggregate.function
    if function not in ("SUM", "AVG"):
        return
    if isinstance(argument, ast.Path) and argument.field not in _TEXT_FIELDS:
        return
    shown = expression_text(argument)
    what = "a text" if isinstance(argument, ast.Path) else "not a number"
    message = f"{function} reads numbers; {shown} is {what}."
    hint = f"Calculate with an attribute: {function}(?x.attributes.…)."
    if function == "SUM":
        hint = f"To count, write `COUNT` instead of `SUM`. {hint}"
    raise KipError("KIP_1001", message, hint, aggregate.span)
