"""FILTER conditions judged in Python: as the engine judges them, or not at all.

What the engine does with numbers beyond 2**53, with values of different kinds and with its own
datatypes is its own affair: a solution that has such a value is ``Unsure``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.expressions import FALSE, TRUE
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_json
from kiprdf.sparql.algebra import Call, Expression, Hole, In, Infix, Negation
from kiprdf.store.base import Cell

Solution: TypeAlias = list[Cell]
Slots: TypeAlias = Callable[[Variable | NamedNode | Literal | Hole], int]
"""Where the cell of a term stands in a solution."""
Test: TypeAlias = Callable[[Solution], bool | None]
"""Whether a condition holds; None is SPARQL's error."""

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TEXT_TESTS: dict[str, Callable[[str, str], bool]] = {
    "CONTAINS": operator.contains,
    "STRSTARTS": str.startswith,
    "STRENDS": str.endswith,
}
MOST_OPTIONS = 32
"""Of an IN; the engine compares with longer lists more quickly."""
_EXACT = 2**53
"""Up to here an integer is the double that it is compared as."""


class Unsure(Exception):
    """The engine has to be asked."""


def judge(condition: Expression, slots: Slots) -> Test:
    """A condition as a function; ``Unsure`` for one that is left to the engine."""
    match condition:
        case Literal():
            return _constant(condition)
        case Negation():
            return _not(judge(condition.operand, slots))
        case Infix(operator="&&"):
            return _and([judge(operand, slots) for operand in condition.operands])
        case Infix(operator="||"):
            return _or([judge(operand, slots) for operand in condition.operands])
        case Infix(operands=(Call(function="DATATYPE", arguments=(Variable() as term,)), kind)):
            if condition.operator == "=" and isinstance(kind, NamedNode):
                return _is_of_kind(slots(term), kind)
        case Infix(
            operands=(
                Variable() | Literal() | Hole() as left,
                Variable() | Literal() | Hole() as right,
            )
        ):
            if condition.operator == "=":
                return _equal(slots(left), slots(right))
            if condition.operator in _ORDERS:
                return _ordered(_ORDERS[condition.operator], slots(left), slots(right))
        case In(operand=Variable() as operand) if len(condition.options) <= MOST_OPTIONS:
            return _or([_equal(slots(operand), slots(option)) for option in condition.options])
        case Call(function="COALESCE", arguments=(first, second)) if second == FALSE:
            return _total(judge(first, slots))
        case Call(function="BOUND", arguments=(Variable() as term,)):
            return _is_bound(slots(term))
        case Call(function="sameTerm", arguments=(left, right)):
            if isinstance(left, Variable | NamedNode | Hole) and isinstance(
                right, Variable | NamedNode | Hole
            ):
                return _same(slots(left), slots(right))
        case Call(
            function=str() as name, arguments=(Variable() as text, Literal() | Hole() as part)
        ):
            if name in _TEXT_TESTS:
                return _text_test(_TEXT_TESTS[name], slots(text), slots(part))
    raise Unsure


def _constant(literal: Literal) -> Test:
    if literal not in (TRUE, FALSE):
        raise Unsure
    is_true = literal == TRUE
    return lambda solution: is_true


def _not(inner: Test) -> Test:
    def judged(solution: Solution) -> bool | None:
        found = inner(solution)
        return None if found is None else not found

    return judged


def _and(parts: Sequence[Test]) -> Test:
    """False where one part is, whatever the others are (SPARQL §17.2)."""

    def judged(solution: Solution) -> bool | None:
        found = [part(solution) for part in parts]
        return False if False in found else None if None in found else True

    return judged


def _or(parts: Sequence[Test]) -> Test:
    """True where one part is, whatever the others are (SPARQL §17.2)."""

    def judged(solution: Solution) -> bool | None:
        found = [part(solution) for part in parts]
        return True if True in found else None if None in found else False

    return judged


def _total(inner: Test) -> Test:
    return lambda solution: inner(solution) is True


def _is_bound(slot: int) -> Test:
    return lambda solution: solution[slot] is not None


def _same(left: int, right: int) -> Test:
    def judged(solution: Solution) -> bool | None:
        one, other = solution[left], solution[right]
        return None if one is None or other is None else one == other

    return judged


def _is_of_kind(slot: int, kind: NamedNode) -> Test:
    def judged(solution: Solution) -> bool | None:
        cell = solution[slot]
        return cell.datatype == kind if isinstance(cell, Literal) else None

    return judged


def _equal(left: int, right: int) -> Test:
    def judged(solution: Solution) -> bool | None:
        one, other = solution[left], solution[right]
        if one is None or other is None:
            return None
        if isinstance(one, NamedNode) or isinstance(other, NamedNode):
            return one == other
        values = _alike(one, other)
        return bool(values[0] == values[1])

    return judged


def _ordered(compare: Callable[[Any, Any], bool], left: int, right: int) -> Test:
    def judged(solution: Solution) -> bool | None:
        one, other = solution[left], solution[right]
        if not isinstance(one, Literal) or not isinstance(other, Literal):
            return None
        values = _alike(one, other)
        if isinstance(values[0], bool):
            raise Unsure
        return compare(*values)

    return judged


def _alike(one: Cell, other: Cell) -> tuple[Any, Any]:
    """The values of two literals of one kind, for which Python and SPARQL agree."""
    assert isinstance(one, Literal)
    assert isinstance(other, Literal)
    kinds = (one.datatype, other.datatype)
    if kinds[0] != kinds[1] and not all(kind in (vocab.INTEGER, vocab.DOUBLE) for kind in kinds):
        raise Unsure
    if kinds[0] not in (vocab.STRING, vocab.INTEGER, vocab.DOUBLE, vocab.BOOLEAN):
        raise Unsure
    values = to_json(one), to_json(other)
    if kinds[0] != kinds[1] and any(isinstance(v, int) and abs(v) > _EXACT for v in values):
        raise Unsure
    return values


def _text_test(function: Callable[[str, str], bool], text: int, part: int) -> Test:
    def judged(solution: Solution) -> bool | None:
        one, other = solution[text], solution[part]
        if one is None:
            return None
        if not isinstance(one, Literal) or one.datatype != vocab.STRING:
            raise Unsure
        assert isinstance(other, Literal)
        return function(one.value, other.value)

    return judged
