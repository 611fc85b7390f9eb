"""UPDATE: plain JSON values, and numbers calculated from the target's own values."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterator
from functools import reduce
from typing import Any, TypeAlias, assert_never

from kiprdf.errors import KipError
from kiprdf.language import ast
from kiprdf.language.parameters import to_json
from tests.oracle.check import descendants
from tests.oracle.conditions import path_value
from tests.oracle.graph import Graph
from tests.oracle.statements_targets import BOTH, canonical, check_key, targets
from tests.oracle.values import Element, kind

Number: TypeAlias = int | float


def update(
    statement: ast.Update, graph: Graph, chosen: Collection[str] | None = None
) -> dict[str, Any]:
    """Write on each target; `matched` counts after LIMIT, `updated` what really changed.

    ``chosen``: the targets that a LIMIT leaves.
    """
    for part, entries in _parts(statement):
        for entry in entries:
            check_key(part, entry.key)
    _check_arguments(statement)
    matched = update_targets(statement, graph)
    if chosen is not None:
        matched = [identifier for identifier in matched if identifier in chosen]
    if isinstance(statement.limit, ast.Scalar):
        assert isinstance(statement.limit.value, int)
        matched = matched[: statement.limit.value]
    # A target's own values are all that is read, so one may be written before the next is read.
    updated = sum(_write(statement, identifier, graph) for identifier in matched)
    return {"updated": updated, "matched": len(matched)}


def update_targets(statement: ast.Update, graph: Graph) -> list[str]:
    """All targets, before LIMIT."""
    return targets(
        statement.target,
        statement.where,
        graph,
        kinds=BOTH,
        paths=_paths(statement),
        limit=statement.limit,
    )


def _write(statement: ast.Update, identifier: str, graph: Graph) -> bool:
    """All values first, then all keys; whether anything changed."""
    element = graph.element(identifier)
    before = canonical(element)
    new = [
        (part, entry.key, _value(entry.value, identifier, graph))
        for part, entries in _parts(statement)
        for entry in entries
    ]
    for part, key, values in new:
        for value in values:
            element[part][key] = value
    return canonical(element) != before


def _value(value: ast.Calculation | ast.Value, identifier: str, graph: Graph) -> tuple[Any, ...]:
    """The value to write; none for "a null or non-number result", or an integer of too many
    bits. A JSON value is written as it is, null too."""
    if not isinstance(value, ast.Calculation):
        return (to_json(value),)
    result = calculated(value, identifier, graph)
    if kind(result) != "number":
        return ()
    return (result,) if isinstance(result, float) or -(2**63) <= result < 2**63 else ()


# What the SETs contain ----------------------------------------------------------------------


def _parts(
    statement: ast.Update,
) -> Iterator[tuple[str, tuple[ast.Assignment | ast.Entry, ...]]]:
    for part, assigned in (("attributes", statement.attributes), ("metadata", statement.metadata)):
        if assigned is None:
            continue
        if not isinstance(assigned, ast.Assignments | ast.Object):
            raise KipError("KIP_1001", "SET takes an object.")
        yield part, assigned.entries


def _calculations(statement: ast.Update) -> Iterator[ast.Calculation]:
    for each in descendants((statement.attributes, statement.metadata)):
        if isinstance(each, ast.Calculation):
            yield each


def _paths(statement: ast.Update) -> list[ast.Path]:
    arguments = [argument for each in _calculations(statement) for argument in each.arguments]
    return [argument for argument in arguments if isinstance(argument, ast.Path)]


def _check_arguments(statement: ast.Update) -> None:
    """Rule: "over numbers, placeholders and the target's own paths, nested"; "Whole ?x.attributes
    and ?x.metadata belong in FIND only". What a placeholder stands for is a number as well."""
    for path in _paths(statement):
        if path.variable != statement.target:
            raise KipError("KIP_1001", "A calculation reads its target's own values.")
        if path.field in ("attributes", "metadata") and path.key is None:
            raise KipError("KIP_1001", f"A whole .{path.field} belongs in FIND only.")
    for calculation in _calculations(statement):
        for argument in calculation.arguments:
            if isinstance(argument, ast.Path | ast.Calculation):
                continue
            if kind(to_json(argument)) != "number":
                raise KipError("KIP_1001", f"{calculation.function} computes with numbers.")


# Calculations ---------------------------------------------------------------------------------


def calculated(argument: ast.Argument, identifier: str, graph: Graph) -> Any:
    """The value of an argument: a number, null, or the value at a path."""
    match argument:
        case ast.Calculation():
            arguments = [calculated(each, identifier, graph) for each in argument.arguments]
            return _apply(argument.function, arguments)
        case ast.Path():
            element = Element(identifier, graph.iri(identifier))
            return path_value(argument, element, graph)
        case _:
            return to_json(argument)


def _apply(function: ast.NumberFunction, arguments: list[Any]) -> Any:
    if function == "COALESCE":
        return next((argument for argument in arguments if argument is not None), None)
    if any(kind(argument) != "number" for argument in arguments):
        return None
    match function:
        case "ADD":
            return _reduced(operator.add, arguments)
        case "MUL":
            return _reduced(operator.mul, arguments)
        case "CLAMP":
            return _clamped(*arguments)
        case _:
            assert_never(function)


def _reduced(operation: Callable[[Number, Number], Number], arguments: list[Number]) -> Any:
    """Left to right; integers of any size while both are integers. Null once it is no number any
    more: beyond the doubles, or an integer that no double can hold."""

    def step(left: Number | None, right: Number) -> Number | None:
        if left is None:
            return None
        try:
            result = operation(left, right)
        except OverflowError:
            return None
        return result if isinstance(result, int) or math.isfinite(result) else None

    first: Number | None = arguments[0]
    return reduce(step, arguments[1:], first)


def _clamped(number: Number, low: Number, high: Number) -> Number | None:
    if low > high:
        return None
    return low if number < low else high if number > high else number
