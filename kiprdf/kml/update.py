"""UPDATE: new values for what a WHERE matches, computed from the old ones (KIP 1.0, UPDATE)."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from pyoxigraph import NamedNode

from kiprdf.kml.draft import Draft
from kiprdf.kql.find import nodes
from kiprdf.kql.reader import Reader
from kiprdf.language import ast, limits
from kiprdf.language.parameters import to_json
from kiprdf.language.values import is_number
from kiprdf.rdf.elements import Term
from kiprdf.rdf.literals import Json, to_term
from kiprdf.semantics.places import page_size

Number: TypeAlias = int | float
Prepared: TypeAlias = Term | ast.Calculation


def update(command: ast.Update, draft: Draft) -> dict[str, int]:
    """Carry a checked UPDATE out in a draft; its receipt.

    ``matched`` counts the targets, ``updated`` those of them that changed.
    """
    targets = nodes(command.target, command.where, draft.store)[: page_size(command.limit)]
    attributes, metadata = _prepared(command.attributes), _prepared(command.metadata)
    # It reads the store, and so the state before the statement, whatever is drafted by now.
    reader = Reader(draft.store)
    for node in targets:
        element = draft.element(node)
        assert element is not None, node
        for assignments, terms in ((attributes, element.attributes), (metadata, element.metadata)):
            if assignments:
                terms.update(_computed(assignments, node, reader))
    return {"updated": sum(1 for _ in draft.changes()), "matched": len(targets)}


def _prepared(found: ast.Assignments | ast.Placeholder | None) -> Mapping[str, Prepared]:
    """What to write by key; values that are the same for all targets as terms."""
    assert not isinstance(found, ast.Placeholder), found
    return {
        entry.key: entry.value
        if isinstance(entry.value, ast.Calculation)
        else to_term(to_json(entry.value))
        for entry in (() if found is None else found.entries)
    }


def _computed(
    assignments: Mapping[str, Prepared], node: NamedNode, reader: Reader
) -> Iterator[tuple[str, Term]]:
    """The terms to write to one element; a key without a number as its result is skipped."""
    for key, value in assignments.items():
        if isinstance(value, ast.Calculation):
            result = _calculated(value, node, reader)
            if _is_operand(result) and _is_storable(result):
                yield key, to_term(result)
        else:
            yield key, value


def _calculated(calculation: ast.Calculation, node: NamedNode, reader: Reader) -> Json:
    values = [_value(argument, node, reader) for argument in calculation.arguments]
    if calculation.function == "COALESCE":
        return next((value for value in values if value is not None), None)
    if not all(map(_is_operand, values)):
        return None
    try:
        result = _FUNCTIONS[calculation.function](values)
    except OverflowError:
        # An integer on the way to the result is beyond any double.
        return None
    return result if _is_operand(result) else None


def _value(argument: ast.Argument, node: NamedNode, reader: Reader) -> Json:
    match argument:
        case ast.Calculation():
            return _calculated(argument, node, reader)
        case ast.Path():
            return reader.value(node, argument.field, argument.key)
        case ast.Scalar():
            return argument.value
        case _:
            raise AssertionError(argument)


def _is_operand(value: Json) -> bool:
    # Integers are exact on the way to a result, and may be beyond any double there.
    return is_number(value) and (isinstance(value, int) or math.isfinite(value))


def _is_storable(number: Number) -> bool:
    return isinstance(number, float) or (limits.INTEGER_MINIMUM <= number <= limits.INTEGER_MAXIMUM)


def _added(numbers: list[Number]) -> Number:
    # From left to right on every Python: sum() of newer ones corrects its rounding.
    return functools.reduce(operator.add, numbers)


def _multiplied(numbers: list[Number]) -> Number:
    return functools.reduce(operator.mul, numbers)


def _clamped(numbers: list[Number]) -> Number | None:
    """The number, or the bound that it lies beyond; nothing when the bounds are crossed."""
    number, low, high = numbers
    if low > high:
        return None
    return low if number < low else high if number > high else number


_FUNCTIONS: dict[str, Callable[[list[Number]], Number | None]] = {
    "ADD": _added,
    "MUL": _multiplied,
    "CLAMP": _clamped,
}
