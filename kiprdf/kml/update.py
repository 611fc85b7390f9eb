"""UPDATE: new values for what a WHERE matches, computed from the old ones (KIP 1.0, UPDATE)."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import TypeAlias

from kiprdf.budget import paced
from kiprdf.kml.draft import Draft
from kiprdf.kql.reader import Reader
from kiprdf.language import ast, limits
from kiprdf.language.parameters import to_json
from kiprdf.language.values import is_number
from kiprdf.rdf.elements import Element, Term
from kiprdf.rdf.literals import Json, to_term
from kiprdf.rdf.literals import to_json as term_to_json
from kiprdf.semantics.arguments import page_size
from kiprdf.store import Store

Number: TypeAlias = int | float
Assignment: TypeAlias = tuple[str, Callable[[Element], Term | None]]


def update(command: ast.Update, draft: Draft) -> dict[str, int]:
    """Carry out a checked UPDATE in a draft and return its receipt.

    ``matched`` counts the targets, ``updated`` those that changed.
    """
    shown = draft.shown
    targets = draft.owned(shown.targeted(command, "write")[: page_size(command.limit)])
    attributes = _assignments(command.attributes, shown.store)
    metadata = _assignments(command.metadata, shown.store)
    draft.store.prefetch(targets)
    for node in paced(targets):
        element = draft.element(node)
        assert element is not None, node
        before = draft.seen(node)
        for assignments, terms in ((attributes, element.attributes), (metadata, element.metadata)):
            for key, calculate in assignments:
                term = calculate(before)
                if term is not None:
                    terms[key] = term
    return {"updated": sum(1 for _ in draft.changes()), "matched": len(targets)}


def _assignments(
    assignments: ast.Assignments | ast.Placeholder | None, store: Store
) -> list[Assignment]:
    """What to write by key, as functions of the element before the statement."""
    assert not isinstance(assignments, ast.Placeholder), assignments
    entries = () if assignments is None else assignments.entries
    return [(entry.key, _term(entry.value, store)) for entry in entries]


def _term(value: ast.Calculation | ast.Value, store: Store) -> Callable[[Element], Term | None]:
    """A function that returns the term to write; None if a calculation has no number."""
    if not isinstance(value, ast.Calculation):
        # The same for all targets.
        term = to_term(to_json(value))
        return lambda before: term
    calculated = _calculated(value, store)

    def computed(before: Element) -> Term | None:
        result = calculated(before)
        return to_term(result) if _is_operand(result) and _is_storable(result) else None

    return computed


def _calculated(calculation: ast.Calculation, store: Store) -> Callable[[Element], Json]:
    arguments = [_value(argument, store) for argument in calculation.arguments]
    if calculation.function == "COALESCE":

        def first(before: Element) -> Json:
            values = (argument(before) for argument in arguments)
            return next((value for value in values if value is not None), None)

        return first
    function = _FUNCTIONS[calculation.function]

    def computed(before: Element) -> Json:
        values = [argument(before) for argument in arguments]
        if not all(map(_is_operand, values)):
            return None
        try:
            result = function(values)
        except OverflowError:
            # An integer on the way to the result is beyond any double.
            return None
        return result if _is_operand(result) else None

    return computed


def _value(argument: ast.Argument, store: Store) -> Callable[[Element], Json]:
    """A number, or the value that the element had before the statement."""
    match argument:
        case ast.Calculation():
            return _calculated(argument, store)
        case ast.Path(field="attributes" | "metadata" as field, key=str() as key):
            return functools.partial(_value_of, field, key)
        case ast.Path():
            reader = Reader(store)
            return lambda before: reader.value(before.node, argument.field, argument.key)
        case ast.Scalar():
            return lambda before: argument.value
        case _:
            raise AssertionError(argument)


def _value_of(field: str, key: str, element: Element) -> Json:
    term = (element.attributes if field == "attributes" else element.metadata).get(key)
    return None if term is None else term_to_json(term)


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
    """The number, or the bound that it exceeds; None if the bounds are swapped."""
    number, low, high = numbers
    if low > high:
        return None
    return low if number < low else high if number > high else number


_FUNCTIONS: dict[str, Callable[[list[Number]], Number | None]] = {
    "ADD": _added,
    "MUL": _multiplied,
    "CLAMP": _clamped,
}
