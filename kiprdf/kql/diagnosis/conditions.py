"""Why a test of a FILTER can never be true: an unknown key or name, or values of other kinds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.errors import KipWarning, nearest, shown
from kiprdf.kql import comparisons
from kiprdf.kql.diagnosis.homes import Homes, kinds
from kiprdf.kql.diagnosis.names import explain_name
from kiprdf.kql.scopes import NAMESPACES
from kiprdf.language import ast
from kiprdf.language.printer import condition_text, expression_text, operand_text
from kiprdf.language.values import is_number
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import canonical_json, to_term
from kiprdf.rdf.readings import Reading, read
from kiprdf.semantics.scope import Test

LISTED = 8
"""How many keys a hint lists."""
Pair: TypeAlias = tuple[str, ast.Operand, ast.Operand]
"""An operator, and the operands that it compares."""
_REFLEXIVE = {"<": "<=", ">": ">=", "REGEX": "CONTAINS"}
"""Operators that are true of a value and itself, for those that read the same kinds."""


def positive_tests(block: ast.Block) -> Iterator[Test]:
    """The tests of a block that must hold, or may instead of others: not those under NOT."""
    for clause in block.clauses:
        match clause:
            case ast.Filter():
                yield from _positive(clause.condition)
            case ast.Optional() | ast.Union():
                yield from positive_tests(clause.block)


def _positive(condition: ast.Condition) -> Iterator[Test]:
    match condition:
        case ast.Conjunction() | ast.Disjunction():
            for part in condition.operands:
                yield from _positive(part)
        case ast.Negation(operand=ast.NullTest(negated=False) as test):
            yield replace(test, negated=True)
        case ast.Negation() | ast.Comparison(operator="!=") | ast.NullTest(negated=False):
            pass  # true of what is missing, and of other kinds
        case _:
            yield condition


def explain_test(test: Test, homes: Homes) -> Iterator[KipWarning]:
    """Why a test is true of nothing that its variables can be bound to."""
    unknown = list(_unknown_keys(test, homes))
    yield from unknown
    if unknown or isinstance(test, ast.NullTest):
        return
    pairs = list(_pairs(test))
    misfits = [_misfit(pair, homes) for pair in pairs]
    if misfits and all(misfits):
        message = f"{shown(condition_text(test), 100)} is never true: {misfits[0]}."
        yield KipWarning("NeverTrue", message, _repair(test, homes), test.span)
        return
    for operator, left, right in pairs:
        if operator == "==" and isinstance(left, ast.Path) and left.field == "name":
            types = {home.type for home in homes.of(left.variable)}
            type_name = types.pop() if len(types) == 1 else None
            yield from explain_name(right, type_name, homes.store)


# Keys -----------------------------------------------------------------------------------------


def _unknown_keys(test: Test, homes: Homes) -> Iterator[KipWarning]:
    for operand in tested_operands(test):
        if isinstance(operand, ast.Path):
            yield from explain_key(operand, homes)


def tested_operands(test: Test) -> Iterator[ast.Operand]:
    for _, left, right in _pairs(test):
        yield left
        yield right
    if isinstance(test, ast.NullTest):
        yield test.operand


def explain_key(path: ast.Path, homes: Homes) -> Iterator[KipWarning]:
    """A key that nothing has which its variable can be bound to."""
    if path.key is None:
        return
    of = homes.of(path.variable)
    key = NamedNode(NAMESPACES[path.field] + path.key)
    if homes.store.lookup(None, key, None, 1) and (not of or homes.readings(path)):
        return
    noun = " and no ".join(dict.fromkeys(home.noun for home in of)) or "element"
    field = "attribute" if path.field == "attributes" else "metadata key"
    message = f"No {noun} has the {field} '{path.key}'."
    yield KipWarning("UnknownKey", message, _key_hint(path, homes), path.span)


def _key_hint(path: ast.Path, homes: Homes) -> str | None:
    other = replace(path, field="metadata" if path.field == "attributes" else "attributes")
    present = homes.keys(path)
    elsewhere = homes.keys(other)
    if path.key in elsewhere:
        return f"Did you mean {expression_text(other)}?"
    close = nearest(cast(str, path.key), present, 1)
    if close:
        return f"Did you mean {expression_text(replace(path, key=close[0]))}?"
    listed = sorted(present)[:LISTED]
    more = ", …" if len(present) > LISTED else ""
    return f"Keys in use: {', '.join(listed)}{more}." if listed else None


# Kinds ----------------------------------------------------------------------------------------


def _pairs(test: Test) -> Iterator[Pair]:
    match test:
        case ast.Comparison():
            yield test.operator, test.left, test.right
        case ast.StringTest():
            yield test.function, test.operand, test.argument
        case ast.Truth():
            yield "==", test.operand, ast.Scalar(True)
        case ast.Membership(options=ast.Array(items=items)):
            for item in items:
                yield "==", test.operand, item
        case ast.Membership(options=ast.Path() as path):
            yield "IN", test.operand, path


def explain_numbers(aggregate: ast.Aggregate, homes: Homes) -> Iterator[KipWarning]:
    """A SUM or AVG of values that are not numbers."""
    values = _readings(aggregate.argument, homes)
    if values and not any(map(is_number, values)):
        message = f"{aggregate.function} reads numbers: {_described(aggregate.argument, values)}."
        yield KipWarning("NeverTrue", message, None, aggregate.span)


def _misfit(pair: Pair, homes: Homes) -> str | None:
    """Why two operands can never agree; None where they can."""
    operator, left, right = pair
    lefts, rights = _readings(left, homes), _readings(right, homes)
    if not lefts or not rights:
        return None
    operator = _REFLEXIVE.get(operator, operator)
    if any(_agree(operator, one, other) for one in lefts for other in rights):
        return None
    return f"{_described(left, lefts)} and {_described(right, rights)}"


def _readings(operand: ast.Operand, homes: Homes) -> list[Reading]:
    """A value of each kind that an operand can have; empty where that is not seen."""
    match operand:
        case ast.Path():
            return homes.readings(operand)
        case ast.Variable():
            of = homes.of(operand)
            is_predicate = bool(of) and of[0].is_predicate
            return homes.readings(operand) if is_predicate else [vocab.NONE]  # an element
        case _:
            return [read(cast(Literal, comparisons.literal_operand(operand).term))]


def _agree(operator: str, left: Reading, right: Reading) -> bool:
    """Whether an operator can be true of values of the kinds of two."""
    python = comparisons.OPERATORS[operator].python
    assert python is not None, operator
    if isinstance(right, list) and not isinstance(left, list):
        right = _alike(right, left)
    else:
        left = _alike(left, right)
    return python(_term(left), _term(right))


def _alike(value: Reading, other: Reading) -> Reading:
    """The other value if it is of the same kind; an array with such items."""
    if isinstance(value, list) and isinstance(other, tuple):
        return list(other)  # the whole array
    if isinstance(value, list) and not isinstance(other, list):
        return [_alike(item, other) for item in value]
    return other if comparisons.kind(value) == comparisons.kind(other) else value


def _term(reading: Reading) -> Any:
    if isinstance(reading, NamedNode):
        return reading
    datatype = vocab.LIST_VALUE if isinstance(reading, tuple) else None
    return Literal(canonical_json(reading), datatype=datatype) if datatype else to_term(reading)


def _described(operand: ast.Operand, values: Iterable[Reading]) -> str:
    kinds = dict.fromkeys(map(_noun, values))
    return f"{shown(operand_text(operand))} is {' or '.join(kinds)}"


def _noun(reading: Reading) -> str:
    if isinstance(reading, list) and reading:
        nouns = (_NOUNS[comparisons.kind(item)].split()[-1] for item in reading)
        return f"an array of {' and '.join(dict.fromkeys(f'{noun}s' for noun in nouns))}"
    return _NOUNS[comparisons.kind(reading)]


_NOUNS = {
    "str": "a string",
    "number": "a number",
    "boolean": "a boolean",
    "list": "an array",
    "tuple": "an array",
    "dict": "an object",
    "NoneType": "null",
    "NamedNode": "an element",
}


# What to write instead ----------------------------------------------------------------------------


def _repair(test: Test, homes: Homes) -> str | None:
    """The test with its operands in the kind of the others."""
    match test:
        case ast.Truth():
            return "A path alone must be the boolean true: compare it with a value."
        case ast.Comparison():
            sides = _fitting(test.left, test.right, homes), test.right
            if sides[0] == test.left:
                sides = test.left, _fitting(test.right, test.left, homes)
            if sides[0] == sides[1]:
                return None
            repaired: Test = replace(test, left=sides[0], right=sides[1])
        case ast.Membership(options=ast.Array() as options):
            operand = _fitting(test.operand, options.items[0], homes)
            items = [_fitting(item, test.operand, homes) for item in options.items]
            fitting = replace(options, items=cast(tuple[ast.Value, ...], tuple(items)))
            repaired = replace(test, operand=operand, options=fitting)
        case ast.Membership(operand=ast.Array() as operand, options=ast.Path() as path):
            repaired = replace(test, operand=path, options=operand)
        case ast.StringTest(operand=ast.Variable() as variable):
            repaired = replace(test, operand=ast.Path(variable, "name"))
        case ast.StringTest():
            return f"{test.function} reads strings."
        case _:
            return None
    return None if repaired == test else f"Write {condition_text(repaired)}"


def _fitting(operand: ast.Operand, other: ast.Operand, homes: Homes) -> ast.Operand:
    """An operand in the kind of another: a value of the command, or a field of an element."""
    if isinstance(operand, ast.Variable) and _readings(operand, homes) == [vocab.NONE]:
        if isinstance(other, ast.Variable):
            return operand
        is_id = isinstance(other, ast.Path) and other.field in ("id", "subject", "object")
        return ast.Path(operand, "id" if is_id else "name")
    if isinstance(operand, ast.Scalar) and isinstance(other, ast.Path):
        readings = _readings(other, homes)
        present = {kind for reading in readings for kind in kinds(reading)}
        return ast.Scalar(_in_kind(operand.value, present))
    return operand


def _in_kind(value: Any, kinds: set[str]) -> Any:
    """A value of the command in a kind of the data; unchanged where it has none."""
    if isinstance(value, str) and kinds & {"number", "boolean"}:
        with suppress(ValueError):
            parsed = json.loads(value)
            return parsed if comparisons.kind(parsed) in kinds else value
    if isinstance(value, int | float) and "str" in kinds:
        return json.dumps(value)
    return value
