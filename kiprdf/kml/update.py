"""UPDATE: new values for what a WHERE matches, computed from the old ones (KIP 1.0, UPDATE)."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias, assert_never

from kiprdf.kml.draft import Draft
from kiprdf.kql.find import nodes
from kiprdf.language import ast, limits
from kiprdf.language.parameters import to_json
from kiprdf.rdf import literals
from kiprdf.rdf.elements import Concept, Element, Proposition, Term, Terms
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import Json, to_term
from kiprdf.semantics.places import page_size

Number: TypeAlias = int | float


def update(command: ast.Update, draft: Draft) -> dict[str, int]:
    """Carry a checked UPDATE out in a draft; its receipt.

    ``matched`` counts the targets, ``updated`` those of them that changed.
    """
    targets = nodes(command.target, command.where, draft.store)[: page_size(command.limit)]
    attributes, metadata = _assignments(command.attributes), _assignments(command.metadata)
    for node in targets:
        element = draft.element(node)
        assert element is not None, node
        # Both maps are computed before either is written: they see one state.
        new_attributes = dict(_computed(attributes, element, draft.store.iris))
        new_metadata = dict(_computed(metadata, element, draft.store.iris))
        element.attributes.update(new_attributes)
        element.metadata.update(new_metadata)
    return {"updated": sum(1 for _ in draft.changes()), "matched": len(targets)}


def _assignments(
    found: ast.Assignments | ast.Value | None,
) -> Mapping[str, Term | ast.Calculation]:
    """What to write by key; values that are the same for all targets as terms."""
    if found is None:
        return {}
    assert isinstance(found, ast.Assignments | ast.Object)
    return {
        entry.key: entry.value
        if isinstance(entry.value, ast.Calculation)
        else to_term(to_json(entry.value))
        for entry in found.entries
    }


def _computed(
    assignments: Mapping[str, Term | ast.Calculation], element: Element, iris: Iris
) -> Iterator[tuple[str, Term]]:
    """The terms to write to one element; a key without a number as its result is skipped."""
    for key, value in assignments.items():
        if isinstance(value, ast.Calculation):
            result = _calculated(value, element, iris)
            if _is_number(result) and _is_storable(result):
                yield key, to_term(result)
        else:
            yield key, value


def _calculated(calculation: ast.Calculation, element: Element, iris: Iris) -> Json:
    values = [_value(argument, element, iris) for argument in calculation.arguments]
    if calculation.function == "COALESCE":
        return next((value for value in values if value is not None), None)
    if not all(map(_is_number, values)):
        return None
    try:
        return _FUNCTIONS[calculation.function](values)
    except OverflowError:
        # An integer on the way to the result is beyond any double.
        return None


def _value(argument: ast.Argument, element: Element, iris: Iris) -> Json:
    match argument:
        case ast.Calculation():
            return _calculated(argument, element, iris)
        case ast.Path():
            return _at(argument, element, iris)
        case ast.Scalar():
            return argument.value
        case _:
            raise AssertionError(argument)


def _at(path: ast.Path, element: Element, iris: Iris) -> Json:
    """What ``?v.field.key`` is for an element; null where it has no such thing."""
    if path.field == "attributes" or path.field == "metadata":
        terms: Terms = element.attributes if path.field == "attributes" else element.metadata
        term = terms.get(path.key or "")
        return None if term is None else literals.to_json(term)
    if path.field == "id":
        return iris.id(element.node)
    match element:
        case Concept():
            return {"type": element.type, "name": element.name}.get(path.field)
        case Proposition():
            ends = {"subject": element.subject, "object": element.object}
            if path.field in ends:
                return iris.id(ends[path.field])
            return element.predicate if path.field == "predicate" else None
        case _:
            assert_never(element)


def _is_number(value: Json) -> bool:
    """Whether a value can be computed with; a boolean cannot, nor infinity."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


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
