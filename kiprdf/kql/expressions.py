"""FILTER conditions as SPARQL expressions (KIP 3.4.3).

Every expression here is total: true or false, never an error, or ``!`` would keep it an error.
A value variable that is unbound, or bound to ``kip:null``, is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.holes import value_term
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import Call, Expression, Hole, In, Infix, Negation

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
    return LiteralOperand(value_term(value))


def _and(*parts: Expression) -> Expression:
    return Infix("&&", parts)


def _or(*parts: Expression) -> Expression:
    return parts[0] if len(parts) == 1 else Infix("||", parts)


def _total(expression: Expression) -> Expression:
    """False where an expression is an error."""
    return Call("COALESCE", (expression, FALSE))


def _unbound(variable: Variable) -> Expression:
    return Negation(Call("BOUND", (variable,)))


def is_null(operand: Operand) -> Expression:
    """Absent, explicitly null and unbound are all null."""
    match operand:
        case NodeOperand():
            return _unbound(operand.carrier)
        case ValueOperand():
            same = Call("sameTerm", (operand.variable, vocab.NULL))
            return _or(_unbound(operand.variable), same)
        case LiteralOperand():
            return TRUE if operand.term == vocab.NULL else FALSE
        case _:
            assert_never(operand)


def _term(operand: ValueOperand | LiteralOperand) -> Variable | Literal | NamedNode | Hole:
    return operand.variable if isinstance(operand, ValueOperand) else operand.term


def equal(left: Operand, right: Operand) -> Expression:
    """Null equals only null, numbers compare by value, nodes by identity."""
    if isinstance(left, LiteralOperand):
        left, right = right, left
    if isinstance(right, LiteralOperand):
        if right.term == vocab.NULL:
            return is_null(left)
        if isinstance(left, NodeOperand):
            return FALSE
        return _total(Infix("=", (_term(left), right.term)))
    both_null = _and(is_null(left), is_null(right))
    if isinstance(left, NodeOperand) and isinstance(right, NodeOperand):
        same = Call("sameTerm", (left.carrier, right.carrier))
        return _or(both_null, _total(same))
    if isinstance(left, NodeOperand) or isinstance(right, NodeOperand):
        return both_null
    neither = (Negation(is_null(left)), Negation(is_null(right)))
    return _or(both_null, _and(*neither, _total(Infix("=", (_term(left), _term(right))))))


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def ordered(operator: str, left: Operand, right: Operand) -> Expression:
    """``< <= > >=``: numbers, strings and booleans among their own kind, else false."""
    if isinstance(left, NodeOperand) or isinstance(right, NodeOperand):
        return FALSE
    if isinstance(left, LiteralOperand) and isinstance(right, ValueOperand):
        return ordered(_FLIPPED[operator], right, left)
    if isinstance(right, LiteralOperand):
        return _ordered_to_literal(operator, left, right.term)
    first, second = _term(left), _term(right)
    compared = Infix(operator, (first, second))  # type: ignore[arg-type]
    as_numbers = Infix(
        operator,  # type: ignore[arg-type]
        (Call(vocab.INTEGER, (first,)), Call(vocab.INTEGER, (second,))),
    )
    of_one_kind = _or(
        _and(Call("isNumeric", (first,)), Call("isNumeric", (second,))),
        _and(_is_string(first), _is_string(second)),
    )
    both_boolean = _and(_has_type(first, vocab.BOOLEAN), _has_type(second, vocab.BOOLEAN))
    # The engine has no order of booleans, and calls every value of a kind it does not know
    # equal to itself under <=.
    return _total(Call("IF", (both_boolean, as_numbers, _and(of_one_kind, compared))))


def _ordered_to_literal(
    operator: str, left: ValueOperand | LiteralOperand, literal: Literal | NamedNode | Hole
) -> Expression:
    if isinstance(literal, NamedNode) or (
        isinstance(literal, Literal) and literal.datatype == vocab.JSON
    ):
        return FALSE
    first = _term(left)
    if isinstance(literal, Hole) or literal.datatype != vocab.BOOLEAN:
        return _total(Infix(operator, (first, literal)))  # type: ignore[arg-type]
    value = literal.value == "true"
    fitting = [
        TRUE if candidate else FALSE
        for candidate in (False, True)
        if {
            "<": candidate < value,
            "<=": candidate <= value,
            ">": candidate > value,
            ">=": candidate >= value,
        }[operator]
    ]
    return _or(*(_total(Infix("=", (first, term))) for term in fitting)) if fitting else FALSE


def _has_type(term: Expression, datatype: NamedNode) -> Expression:
    return Infix("=", (Call("DATATYPE", (term,)), datatype))


def _is_string(term: Expression) -> Expression:
    return _has_type(term, vocab.STRING)


def member(operand: Operand, options: tuple[ast.Value, ...]) -> Expression:
    """``IN``: equal to one of the options; no option is never equal."""
    terms = tuple(literal_operand(option).term for option in options)
    values = tuple(dict.fromkeys(term for term in terms if term != vocab.NULL))
    parts: list[Expression] = []
    if vocab.NULL in terms:
        parts.append(is_null(operand))
    if values and not isinstance(operand, NodeOperand):
        parts.append(_total(In(_term(operand), values)))
    return _or(*parts) if parts else FALSE


_STRING_FUNCTIONS = {
    "CONTAINS": "CONTAINS",
    "STARTS_WITH": "STRSTARTS",
    "ENDS_WITH": "STRENDS",
    "REGEX": "REGEX",
}


def string_test(function: ast.StringFunction, operand: Operand, argument: Operand) -> Expression:
    """Case-sensitive; false unless both are strings."""
    if isinstance(operand, NodeOperand) or isinstance(argument, NodeOperand):
        return FALSE
    terms = (_term(operand), _term(argument))
    tested = Call(_STRING_FUNCTIONS[function], terms)
    guards = (_is_string(term) for term in terms if not _is_written_string(term))
    return _total(_and(*guards, tested))


def _is_written_string(term: Expression) -> bool:
    if isinstance(term, Hole):
        return term.kind == "text"
    return isinstance(term, Literal) and term.datatype == vocab.STRING


def truth(operand: Operand) -> Expression:
    """An operand alone is true iff it is the boolean true."""
    return equal(operand, LiteralOperand(TRUE))


def compare(operator: ast.ComparisonOperator, left: Operand, right: Operand) -> Expression:
    """One comparison; ``!=`` is the exact opposite of ``==``."""
    if operator == "==":
        return equal(left, right)
    if operator == "!=":
        return Negation(equal(left, right))
    return ordered(cast(str, operator), left, right)
