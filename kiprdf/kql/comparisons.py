"""FILTER conditions (KIP 3.4.3): one table, each operator in SPARQL and in Python.

Every SPARQL form is total: true or false, never an error, or ``!`` would keep it an error. A value
that is unbound, or is ``kip:null``, is null. The Python form takes the terms and returns what the
engine would, or None where only the engine can decide: integers beyond 2**53 beside doubles, JSON,
other datatypes, regular expressions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.holes import value_term
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_json
from kiprdf.sparql.algebra import Call, Condition, Expression, Hole, In, Infix, Negation, Term
from kiprdf.store.base import Cell

TRUE = Literal("true", datatype=vocab.BOOLEAN)
FALSE = Literal("false", datatype=vocab.BOOLEAN)


@dataclass(frozen=True, slots=True)
class NodeOperand:
    """A variable that holds a concept or proposition; null where unbound."""

    carrier: Variable


@dataclass(frozen=True, slots=True)
class ValueOperand:
    """A variable that holds a value; null where unbound or ``kip:null``."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class LiteralOperand:
    """A value of the command; the term of null is ``kip:null``."""

    term: Literal | NamedNode | Hole


Operand: TypeAlias = NodeOperand | ValueOperand | LiteralOperand


def literal_operand(value: ast.Value) -> LiteralOperand:
    """A value of the command as an operand."""
    return LiteralOperand(value_term(value))


def _term(operand: Operand) -> Variable | Literal | NamedNode | Hole:
    match operand:
        case NodeOperand():
            return operand.carrier
        case ValueOperand():
            return operand.variable
        case LiteralOperand():
            return operand.term


# From conditions to tests -------------------------------------------------------------------------


def is_null(operand: Operand) -> Expression:
    """Absent, explicitly null and unbound are all null."""
    if isinstance(operand, LiteralOperand):
        return TRUE if operand.term == vocab.NULL else FALSE
    return _test("IS_NULL", operand)


def compare(symbol: ast.ComparisonOperator, left: Operand, right: Operand) -> Expression:
    """One comparison; ``!=`` is the exact opposite of ``==``."""
    if symbol == "==":
        return equal(left, right)
    if symbol == "!=":
        return Negation(equal(left, right))
    if isinstance(left, NodeOperand) or isinstance(right, NodeOperand):
        return FALSE
    if isinstance(left, LiteralOperand) and isinstance(right, ValueOperand):
        return _test(_FLIPPED[symbol], right, left)
    return _test(symbol, left, right)


def equal(left: Operand, right: Operand) -> Expression:
    """Null equals only null, numbers compare by value, nodes by identity."""
    if isinstance(left, LiteralOperand):
        left, right = right, left
    if isinstance(right, LiteralOperand) and right.term == vocab.NULL:
        return is_null(left)
    if isinstance(left, NodeOperand) != isinstance(right, NodeOperand):
        # A node and a value are equal where both are null.
        if isinstance(right, LiteralOperand):
            return FALSE
        return _and(is_null(left), is_null(right))
    return _test("==", left, right)


def member(operand: Operand, options: tuple[ast.Value, ...]) -> Expression:
    """``IN``: equal to one of the options; no option is never equal."""
    terms = tuple(map(value_term, options))
    values = tuple(dict.fromkeys(term for term in terms if term != vocab.NULL))
    parts = [is_null(operand)] if vocab.NULL in terms else []
    if values and not isinstance(operand, NodeOperand):
        parts.append(_test("IN", operand, *map(LiteralOperand, values)))
    return _or(*parts) if parts else FALSE


def string_test(function: ast.StringFunction, operand: Operand, argument: Operand) -> Expression:
    """Case-sensitive; false unless both are strings."""
    if isinstance(operand, NodeOperand) or isinstance(argument, NodeOperand):
        return FALSE
    return _test(function, operand, argument)


def truth(operand: Operand) -> Expression:
    """An operand alone is true iff it is the boolean true."""
    return equal(operand, LiteralOperand(TRUE))


def _test(name: str, *operands: Operand) -> Condition:
    return Condition(name, tuple(map(_term, operands)), OPERATORS[name].sparql(*operands))


# In SPARQL ----------------------------------------------------------------------------------------


def _and(*parts: Expression) -> Expression:
    return Infix("&&", parts)


def _or(*parts: Expression) -> Expression:
    return parts[0] if len(parts) == 1 else Infix("||", parts)


def _total(expression: Expression) -> Expression:
    """False where an expression is an error."""
    return Call("COALESCE", (expression, FALSE))


def _is_null_in_sparql(operand: Operand) -> Expression:
    if isinstance(operand, LiteralOperand):
        return is_null(operand)
    unbound = Negation(Call("BOUND", (_term(operand),)))
    if isinstance(operand, NodeOperand):
        return unbound
    return _or(unbound, Call("sameTerm", (operand.variable, vocab.NULL)))


def _equal_in_sparql(left: Operand, right: Operand) -> Expression:
    if isinstance(right, LiteralOperand):
        return _total(Infix("=", (_term(left), right.term)))
    nulls = _is_null_in_sparql(left), _is_null_in_sparql(right)
    terms = _term(left), _term(right)
    if isinstance(left, NodeOperand):
        return _or(_and(*nulls), _total(Call("sameTerm", terms)))
    return _or(_and(*nulls), _and(*map(Negation, nulls), _total(Infix("=", terms))))


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _order_in_sparql(symbol: str, left: Operand, right: Operand) -> Expression:
    """Numbers, strings and booleans among their own kind, otherwise false."""
    first, second = _term(left), _term(right)
    compared = Infix(symbol, (first, second))  # type: ignore[arg-type]
    if isinstance(right, LiteralOperand):
        datatype = second.datatype if isinstance(second, Literal) else None
        if isinstance(second, NamedNode) or datatype == vocab.JSON:
            return FALSE
        if datatype != vocab.BOOLEAN:
            return _total(compared)
        # The engine has no order of booleans.
        value = second == TRUE
        fitting = [term for term in (FALSE, TRUE) if _ORDERS[symbol](term == TRUE, value)]
        return _or(*(_total(Infix("=", (first, term))) for term in fitting)) if fitting else FALSE
    as_numbers = Infix(
        symbol,  # type: ignore[arg-type]
        (Call(vocab.INTEGER, (first,)), Call(vocab.INTEGER, (second,))),
    )
    of_one_kind = _or(
        _and(Call("isNumeric", (first,)), Call("isNumeric", (second,))),
        _and(_has_type(first, vocab.STRING), _has_type(second, vocab.STRING)),
    )
    both_boolean = _and(_has_type(first, vocab.BOOLEAN), _has_type(second, vocab.BOOLEAN))
    # The engine calls every value of a kind it does not know equal to itself under <=.
    return _total(Call("IF", (both_boolean, as_numbers, _and(of_one_kind, compared))))


def _has_type(term: Expression, datatype: NamedNode) -> Expression:
    return Infix("=", (Call("DATATYPE", (term,)), datatype))


def _in_in_sparql(operand: Operand, *options: Operand) -> Expression:
    return _total(In(_term(operand), tuple(map(_term, options))))


def _string_test_in_sparql(function: str, operand: Operand, argument: Operand) -> Expression:
    terms = (_term(operand), _term(argument))
    guards = (_has_type(term, vocab.STRING) for term in terms if not _is_string_constant(term))
    return _total(_and(*guards, Call(function, terms)))


def _is_string_constant(term: Term) -> bool:
    if isinstance(term, Hole):
        return term.kind == "text"
    return isinstance(term, Literal) and term.datatype == vocab.STRING


# In Python ----------------------------------------------------------------------------------------

_LARGEST = 2**63
"""From here on an integer is no number to the engine."""
_EXACT = 2**53
"""Up to here an integer is the double that it is compared as."""
MOST_OPTIONS = 32
"""Of an IN that is looked up; the engine compares with longer lists more quickly."""


def _is_null(cell: Cell) -> bool:
    return cell is None or cell == vocab.NULL


def _values(one: Cell, other: Cell) -> tuple[Any, Any] | bool | None:
    """Two values of one kind; False for two kinds, None where only the engine can decide."""
    if not isinstance(one, Literal) or not isinstance(other, Literal):
        return None
    kinds = _KINDS.get(one.datatype), _KINDS.get(other.datatype)
    if None in kinds:
        return None
    if kinds[0] != kinds[1]:
        return False
    values = to_json(one), to_json(other)
    if kinds[0] == "number":
        if any(value != value for value in values):  # NaN <= NaN holds for the engine
            return None
        mixed = isinstance(values[0], float) or isinstance(values[1], float)
        most = _EXACT if mixed else _LARGEST - 1
        if any(isinstance(value, int) and abs(value) > most for value in values):
            return None
    return values


_KINDS = {
    vocab.STRING: "string",
    vocab.INTEGER: "number",
    vocab.DOUBLE: "number",
    vocab.BOOLEAN: "boolean",
}


def _equal_in_python(one: Cell, other: Cell) -> bool | None:
    if _is_null(one) or _is_null(other):
        return _is_null(one) and _is_null(other)
    if isinstance(one, NamedNode) and isinstance(other, NamedNode):
        return one == other
    values = _values(one, other)
    return bool(values[0] == values[1]) if isinstance(values, tuple) else values


def _order_in_python(symbol: str, one: Cell, other: Cell) -> bool | None:
    if _is_null(one) or _is_null(other):
        return False
    values = _values(one, other)
    return _ORDERS[symbol](*values) if isinstance(values, tuple) else values


def _in_in_python(cell: Cell, *options: Cell) -> bool | None:
    results = [_equal_in_python(cell, option) for option in options]
    return True if True in results else None if None in results else False


_STRING_TESTS: dict[str, Callable[[str, str], bool]] = {
    "CONTAINS": operator.contains,
    "STARTS_WITH": str.startswith,
    "ENDS_WITH": str.endswith,
}


def _string_test_in_python(name: str, one: Cell, other: Cell) -> bool | None:
    if any(not isinstance(c, Literal) or c.datatype != vocab.STRING for c in (one, other)):
        return False
    return _STRING_TESTS[name](cast(Literal, one).value, cast(Literal, other).value)


# The table ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator in both forms; without a Python form it is left to the engine."""

    sparql: Callable[..., Expression]
    python: Callable[..., bool | None] | None


def _partial(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    return lambda *operands: function(name, *operands)


OPERATORS: dict[str, Operator] = {
    "IS_NULL": Operator(_is_null_in_sparql, _is_null),
    "==": Operator(_equal_in_sparql, _equal_in_python),
    "IN": Operator(_in_in_sparql, _in_in_python),
    "REGEX": Operator(_partial(_string_test_in_sparql, "REGEX"), None),
}
for _symbol in _ORDERS:
    OPERATORS[_symbol] = Operator(
        _partial(_order_in_sparql, _symbol), _partial(_order_in_python, _symbol)
    )
for _name, _function in (
    ("CONTAINS", "CONTAINS"),
    ("STARTS_WITH", "STRSTARTS"),
    ("ENDS_WITH", "STRENDS"),
):
    OPERATORS[_name] = Operator(
        _partial(_string_test_in_sparql, _function), _partial(_string_test_in_python, _name)
    )
