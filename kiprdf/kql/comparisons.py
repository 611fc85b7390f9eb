"""FILTER conditions (KIP 3.4.3): one table, each operator in SPARQL and in Python.

Every SPARQL form is true or false, never an error, since ``!`` of an error is an error. A value
that is unbound, or is ``kip:null``, is null. Arrays, objects and typed values are errors to the
engine's own operators: there the SPARQL form calls the Python form (docs/decisions/050).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Variable
from pyoxigraph import Store as Engine

from kiprdf.dataclasses import dataclass
from kiprdf.kql.holes import MOST_EXACT, NumberOf, ValueOf, as_number, value_term
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import canonical_json, to_json, to_term
from kiprdf.rdf.readings import Reading, read
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import (
    UNIT,
    Call,
    Condition,
    Expression,
    Extend,
    Hole,
    In,
    Infix,
    Negation,
    Select,
)
from kiprdf.sparql.text import render
from kiprdf.store.base import Cell, Tests
from kiprdf.store.cancellation import HOLD

TRUE = Literal("true", datatype=vocab.BOOLEAN)
FALSE = Literal("false", datatype=vocab.BOOLEAN)
BELIEVED = NamedNode(vocab.FUNCTION + "believed")
"""The function of a query that ``believed`` calls."""


@dataclass(frozen=True, slots=True)
class NodeOperand:
    """A variable that holds a concept or proposition; null where unbound."""

    carrier: Variable


@dataclass(frozen=True, slots=True)
class ValueOperand:
    """A variable that holds an attribute or metadata; null where unbound or ``kip:null``."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class TextOperand:
    """A variable that holds a name, type or id, always a string; null where unbound."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class LiteralOperand:
    """A value of the command; the term of null is ``kip:null``."""

    term: Literal | NamedNode | Hole


Operand: TypeAlias = NodeOperand | ValueOperand | TextOperand | LiteralOperand


def literal_operand(value: ast.Value) -> LiteralOperand:
    """A value of the command as an operand, read like one of the dataset; an array is a whole."""
    term = value_term(value)
    if isinstance(term, Hole):
        return LiteralOperand(term)
    reading = read(term)
    if isinstance(reading, list):
        return LiteralOperand(Literal(canonical_json(reading), datatype=vocab.LIST_VALUE))
    return LiteralOperand(to_term(reading))


def _term(operand: Operand) -> Variable | Literal | NamedNode | Hole:
    match operand:
        case NodeOperand():
            return operand.carrier
        case ValueOperand() | TextOperand():
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
    if isinstance(left, LiteralOperand) and not isinstance(right, LiteralOperand):
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
    literals = tuple(dict.fromkeys(map(literal_operand, options)))
    nulls = [literal for literal in literals if literal.term == vocab.NULL]
    holes = [literal for literal in literals if isinstance(literal.term, Hole)]
    parts = [is_null(operand)] if nulls else []
    parts += [equal(operand, hole) for hole in holes]
    terms = [literal.term for literal in literals if literal not in nulls]
    constants = [read(term) for term in terms if not isinstance(term, Hole)]
    if constants and not isinstance(operand, NodeOperand):
        parts.append(_test("IN", operand, LiteralOperand(to_term(constants))))
    return _or(*parts) if parts else FALSE


def member_of(operand: Operand, items: Operand) -> Expression:
    """``IN(operand, path)``: equal to an item of the path's array, or to its one value."""
    if isinstance(operand, NodeOperand):
        # An element is not a value, but may be null.
        return _and(is_null(operand), _test("IN", LiteralOperand(vocab.NULL), items))
    return _test("IN", operand, items)


def string_test(function: ast.StringFunction, operand: Operand, argument: Operand) -> Expression:
    """Case-sensitive; false unless both are strings."""
    if isinstance(operand, NodeOperand) or isinstance(argument, NodeOperand):
        return FALSE
    return _test(function, operand, argument)


def truth(operand: Operand) -> Expression:
    """An operand alone is true iff it is the boolean true."""
    return equal(operand, LiteralOperand(TRUE))


def believed(*terms: Variable | NamedNode | Hole) -> Condition:
    """Whether an element, or the fact of three terms, is believed (docs/decisions/180)."""
    term: Expression = terms[0] if len(terms) == 1 else Call("TRIPLE", terms)
    return Condition("BELIEVED", terms, Call(BELIEVED, (term,)))


def _test(name: str, *operands: Operand) -> Expression:
    terms = tuple(map(_term, operands))
    python = OPERATORS[name].python
    if python is not None and all(isinstance(term, Literal | NamedNode) for term in terms):
        return TRUE if python(*terms) else FALSE
    return Condition(name, terms, OPERATORS[name].sparql(*operands))


# By index -----------------------------------------------------------------------------------------

Terms: TypeAlias = tuple[Literal | NamedNode | Hole, ...]


_BOTH = (False, True)


@lru_cache(maxsize=4_096)
def equal_terms(constant: Literal | NamedNode | Hole) -> tuple[Terms, Terms] | None:
    """What a value that is equal to a constant is, or else holds; None where that is not finite.

    >>> equal_terms(Literal("a"))
    ((<Literal value=a>,), (<Literal value=a>,))
    """
    if isinstance(constant, Hole):
        if constant.kind == "text":
            return (constant,), (constant,)
        if constant.kind != "number":
            return None
        parameter = cast(ValueOf, constant.key).parameter
        integer, double = (Hole(NumberOf(parameter, is_double), "number") for is_double in _BOTH)
        return (integer, double), (double,)
    value = read(constant)
    if isinstance(value, str | bool):
        return (to_term(value),), (to_term(value),)
    if not isinstance(value, int | float) or abs(value) >= MOST_EXACT:
        return None
    terms = [as_number(value, is_double) for is_double in _BOTH]
    if value == 0:
        return (*terms, to_term(0.0), to_term(-0.0)), (to_term(0.0),)
    return tuple(term for term in terms if term != vocab.NONE), (terms[1],)


def options(test: Condition) -> tuple[Variable, Terms] | None:
    """What a test compares with constants: it holds for each value that is equal to one of them.

    None for other tests.
    """
    if test.name not in ("==", "IN"):
        return None
    variable, constant = test.operands
    if test.name == "IN" and isinstance(constant, Variable):
        variable, constant = constant, variable
    if not isinstance(variable, Variable) or isinstance(constant, Variable):
        return None
    if test.name == "IN" and variable == test.operands[0]:
        return variable, tuple(to_term(item) for item in to_json(cast(Literal, constant)))
    return variable, (constant,)


# In SPARQL ----------------------------------------------------------------------------------------


def _and(*parts: Expression) -> Expression:
    return Infix("&&", parts)


def _or(*parts: Expression) -> Expression:
    return parts[0] if len(parts) == 1 else Infix("||", parts)


def _total(*expressions: Expression) -> Expression:
    """The first expression that is not an error; false where all are."""
    return Call("COALESCE", (*expressions, FALSE))


def _judged(name: str, native: Expression, *operands: Operand) -> Expression:
    """A condition that is an error where the engine cannot judge; there Python does."""
    python = _in_python(name, *operands)
    return _total(native) if python == FALSE else _total(native, python)


def _in_python(name: str, left: Operand, right: Operand) -> Expression:
    """The call of a Python form; false where neither operand needs it."""
    if not any(isinstance(o, ValueOperand) or _is_json(_term(o)) for o in (left, right)):
        return FALSE
    return _python_call(name, _term(left), _term(right))


def _python_call(name: str, left: Expression, right: Expression) -> Expression:
    return Call("IF", (Call(HOLD, (left,)), Call(FUNCTIONS[name], (right,)), FALSE))


def _is_json(term: object) -> bool:
    return isinstance(term, Literal) and term.datatype in (vocab.JSON, vocab.LIST_VALUE)


def _text(operand: Operand) -> Expression:
    """A language-tagged text as its text, any other term as it is."""
    term = _term(operand)
    if not isinstance(operand, ValueOperand):
        return term
    has_no_language = Infix("=", (Call("LANG", (term,)), Literal("")))
    return Call("IF", (has_no_language, term, Call("STR", (term,))))


def _has_text(operand: Operand) -> bool:
    """Whether an operand may be equal to a text, or to one of its items."""
    term = _term(operand)
    if isinstance(term, Hole):
        return term.kind == "text"
    return not isinstance(term, Literal) or term.datatype == vocab.STRING


def _is_null_in_sparql(operand: Operand) -> Expression:
    if isinstance(operand, LiteralOperand):
        return is_null(operand)
    unbound = Negation(Call("BOUND", (_term(operand),)))
    if not isinstance(operand, ValueOperand):
        return unbound
    return _or(unbound, Call("sameTerm", (operand.variable, vocab.NULL)))


def _equal_in_sparql(left: Operand, right: Operand) -> Expression:
    if isinstance(right, LiteralOperand):
        compared = _text(left) if _has_text(right) else _term(left)
        return _judged("==", Infix("=", (compared, right.term)), left, right)
    nulls = _is_null_in_sparql(left), _is_null_in_sparql(right)
    if isinstance(left, NodeOperand):
        same: Expression = _total(Call("sameTerm", (_term(left), _term(right))))
        return _or(_and(*nulls), same)
    same = _judged("==", Infix("=", (_text(left), _text(right))), left, right)
    return _or(_and(*nulls), _and(*map(Negation, nulls), same))


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
    if isinstance(right, LiteralOperand):
        if isinstance(second, NamedNode) or _is_json(second):
            return FALSE
        compared = _text(left) if _has_text(right) else first
        return _judged(symbol, Infix(symbol, (compared, second)), left, right)  # type: ignore[arg-type]
    # The engine calls every value of a kind it does not know equal to itself under <=.
    of_one_kind = _or(
        _and(Call("isNumeric", (first,)), Call("isNumeric", (second,))),
        _and(_has_type(first, vocab.STRING), _has_type(second, vocab.STRING)),
    )
    compared = Infix(symbol, (first, second))  # type: ignore[arg-type]
    python = _in_python(symbol, left, right)
    return _total(Call("IF", (of_one_kind, compared, python)))


def _has_type(term: Expression, datatype: NamedNode) -> Expression:
    return Infix("=", (Call("DATATYPE", (term,)), datatype))


def _in_in_sparql(operand: Operand, items: Operand) -> Expression:
    if isinstance(items, LiteralOperand):
        options = tuple(to_term(item) for item in to_json(cast(Literal, items.term)))
        has_text = any(_has_text(LiteralOperand(option)) for option in options)
        compared = _text(operand) if has_text else _term(operand)
        return _judged("IN", In(compared, options), operand, items)
    if isinstance(items, TextOperand):
        return _judged("IN", Infix("=", (_text(operand), _term(items))), operand, items)
    # An item of the array may be null.
    is_literal = isinstance(operand, LiteralOperand)
    left = _term(operand) if is_literal else Call("COALESCE", (_term(operand), vocab.NULL))
    return _total(_python_call("IN", left, _term(items)))


def _string_test_in_sparql(function: str, operand: Operand, argument: Operand) -> Expression:
    """The engine's functions take tagged texts, and are errors on all that is not a text."""
    native = Call(_NATIVE.get(function, function), (_term(operand), _term(argument)))
    return _judged(function, native, operand, argument)


_NATIVE = {"STARTS_WITH": "STRSTARTS", "ENDS_WITH": "STRENDS"}

# In Python ----------------------------------------------------------------------------------------

MOST_OPTIONS = 32
"""Of an IN that is looked up; the engine compares with longer lists more quickly."""


def _is_null(cell: Cell) -> bool:
    return cell is None or cell == vocab.NULL


def _equal_in_python(one: Cell, other: Cell) -> bool:
    return _equal(read(one), read(other))


def _equal(one: Reading, other: Reading) -> bool:
    """An array is equal to an equal array, and to what one of its items is equal to."""
    if isinstance(one, list):
        one, other = other, one
    if not isinstance(other, list):
        return _equal_wholes(one, other)
    if isinstance(one, list | tuple):
        return _equal_wholes(tuple(one), tuple(other))
    # Null is equal to a whole value only.
    return one is not None and any(_equal_wholes(one, item) for item in other)


def _equal_wholes(one: Reading, other: Reading) -> bool:
    common = kind(one)
    if common != kind(other):
        return False
    if common in ("dict", "tuple"):
        return canonical_json(one) == canonical_json(other)
    return bool(operator.eq(*_comparable(one, other)))


def kind(value: Reading) -> str:
    """What two values must have in common to agree."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return type(value).__name__


def _comparable(one: Reading, other: Reading) -> tuple[Reading, Reading]:
    """An integer is compared with a double as a double, as the engine does."""
    if isinstance(one, float) or isinstance(other, float):
        return float(one), float(other)
    return one, other


def _order_in_python(symbol: str, one: Cell, other: Cell) -> bool:
    values = read(one), read(other)
    if type(values[0]) is type(values[1]) and type(values[0]) in _ORDERED:
        return _ORDERS[symbol](*values)
    kinds = {kind(value) for value in values}
    if len(kinds) > 1 or not kinds & {"boolean", "number", "str"}:
        return False
    return _ORDERS[symbol](*_comparable(*values))


_ORDERED = (int, float, str, bool)
"""The types whose values are compared as they are."""


def _in_in_python(cell: Cell, items: Cell) -> bool:
    reading, listed = read(cell), read(items)
    if listed is None:
        return False
    return any(_equal(reading, item) for item in (listed if isinstance(listed, list) else [listed]))


_STRING_TESTS: dict[str, Callable[[str, str], bool]] = {
    "CONTAINS": operator.contains,
    "STARTS_WITH": str.startswith,
    "ENDS_WITH": str.endswith,
}


def _string_test_in_python(name: str, one: Cell, other: Cell) -> bool:
    """Whether a test holds for two texts, or for an item of an array."""
    test = _STRING_TESTS[name]
    return any(test(text, argument) for argument in _texts(other) for text in _texts(one))


def _texts(cell: Cell) -> list[str]:
    reading = read(cell)
    items = reading if isinstance(reading, list) else [reading]
    return [item for item in items if isinstance(item, str)]


def _matches(cell: Cell, pattern: Cell) -> bool:
    """REGEX on texts that are items: the engine matches them, since Python's syntax is another."""
    pairs = [(text, expression) for expression in _texts(pattern) for text in _texts(cell)]
    return any(
        (_short_matches if len(text) < _SHORT else engine_matches)(text, expression)
        for text, expression in pairs
    )


def engine_matches(text: str, pattern: str, flags: str = "") -> bool | None:
    """Whether a text matches a pattern in the engine's syntax; None for an invalid pattern.

    The engine needs a time in proportion to the text, for each pattern.

    >>> engine_matches("Aspirin", "^asp"), engine_matches("", "(")
    (False, None)
    """
    result = Variable("result")
    call = Call("REGEX", tuple(map(Literal, (text, pattern, flags))))
    query = render(Select((result,), Extend(UNIT, result, call), distinct=False))
    ((matches,),) = cast(Any, Engine().query(query))
    return None if matches is None else bool(matches == TRUE)


_SHORT = 100
"""Shorter texts are kept with the patterns that they match: items of arrays are often the same."""
_short_matches = lru_cache(maxsize=4_096)(engine_matches)


# The table ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator in both forms; without a Python form it is left to the engine."""

    sparql: Callable[..., Expression]
    python: Callable[..., bool] | None


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
for _name in _STRING_TESTS:
    OPERATORS[_name] = Operator(
        _partial(_string_test_in_sparql, _name), _partial(_string_test_in_python, _name)
    )

FUNCTIONS = {
    name: NamedNode(vocab.FUNCTION + function)
    for name, function in (
        ("==", "equal"), ("IN", "in"), ("<", "less"), ("<=", "at-most"), (">", "greater"),
        (">=", "at-least"), ("CONTAINS", "contains"), ("STARTS_WITH", "starts-with"),
        ("ENDS_WITH", "ends-with"), ("REGEX", "regex"),
    )
}  # fmt: skip
"""The functions that a query calls where the engine cannot judge."""
TESTS: Tests = {
    iri: cast(Any, OPERATORS[name].python or _matches) for name, iri in FUNCTIONS.items()
}
"""What these functions are."""

# As a cover ---------------------------------------------------------------------------------------

Datatypes: TypeAlias = "frozenset[NamedNode | None] | None"
"""The datatypes of some values, None among them for what is no literal; None where not known."""
KeyDatatypes: TypeAlias = Mapping[NamedNode, Datatypes]
"""The datatypes of the values that a store has under some keys."""
MOST_COVERED = 500
"""Options of an IN that are asked; ten thousand crash the parser of some engines."""
_JUDGED = (vocab.STRING, vocab.INTEGER, vocab.DOUBLE, vocab.BOOLEAN)
"""The datatypes whose values every engine compares, if not in the same way."""
_ANY_URI = NamedNode(vocab.XSD + "anyURI")
_TO_DOUBLE = NamedNode(vocab.XSD + "double")
_NEAR_ZERO = 1e-300
_ROUNDED = 1e-9
"""More than what an engine rounds off, as a part of a number."""


class Covering(NamedTuple):
    """What can be asked of any engine about a condition (docs/decisions/173).

    Every solution that satisfies the condition passes the ``test``, if there is one, and binds the
    ``required`` variables. It ``is_exact`` where no other solution does.
    """

    test: Expression | None = None
    required: frozenset[Variable] = frozenset()
    is_exact: bool = False


_NOTHING = Covering()


def covering(
    condition: Expression,
    datatypes: Callable[[Variable], Datatypes],
    is_certain: Callable[[Variable], bool],
    abilities: Abilities,
) -> Covering:
    """The cover of a condition.

    ``datatypes`` are those that the values of a variable may have; a variable ``is_certain`` if
    its element is bound, so that its value can be asked for.
    """
    match condition:
        case Infix(operator="&&" | "||" as operator, operands=operands):
            parts = [covering(each, datatypes, is_certain, abilities) for each in operands]
            return _all(parts) if operator == "&&" else _any(parts)
        case Negation(operand=Condition("IS_NULL", (Variable() as name,))) if is_certain(name):
            return Covering(required=frozenset((name,)))
        case Call("sameTerm", (left, right)) if _are_certain((left, right), is_certain):
            return Covering(Infix("=", (left, right)), is_exact=True)
        case Condition(name="BELIEVED"):
            return _NOTHING
        case Condition() if _are_certain(condition.operands, is_certain):
            kinds = {name: datatypes(name) for name in condition.names}
            return _covering(condition, kinds, abilities)
    return _NOTHING


def _are_certain(operands: Iterable[object], is_certain: Callable[[Variable], bool]) -> bool:
    return all(is_certain(each) for each in operands if isinstance(each, Variable))


def _all(parts: list[Covering]) -> Covering:
    tests = tuple(part.test for part in parts if part.test is not None)
    required = frozenset[Variable]().union(*(part.required for part in parts))
    test = _and(*tests) if len(tests) > 1 else next(iter(tests), None)
    return Covering(test, required, all(part.is_exact for part in parts))


def _any(parts: list[Covering]) -> Covering:
    required = frozenset.intersection(*(part.required for part in parts))
    tests = [part.test for part in parts]
    if None in tests:
        return Covering(required=required)
    is_exact = all(part.is_exact and part.required == required for part in parts)
    return Covering(_or(*cast(list[Expression], tests)), required, is_exact)


def _covering(
    condition: Condition, datatypes: Mapping[Variable, Datatypes], abilities: Abilities
) -> Covering:
    name, operands = condition.name, condition.operands
    if name == "IS_NULL":
        (variable,) = cast(tuple[Variable], operands)
        is_null = Infix("=", (variable, vocab.NULL))
        return Covering(_or(Negation(Call("BOUND", (variable,))), is_null), is_exact=True)
    if all(isinstance(each, Variable) for each in operands):
        required = frozenset[Variable]() if name in ("==", "IN") else condition.names
        return Covering(required=required)
    tested = options(condition)
    variable, terms = cast(Any, (operands[0], operands[1:]) if tested is None else tested)
    if not isinstance(variable, Variable) or vocab.NULL in terms or len(terms) > MOST_COVERED:
        return _NOTHING
    symbol = "==" if tested is not None else name
    tests = [_covered(symbol, variable, term, datatypes[variable], abilities) for term in terms]
    covered = [test for test in tests if test is not None]
    if not covered or len(covered) < len(tests):
        return Covering(required=frozenset((variable,)))
    test = covered[0][0] if len(covered) == 1 else _or(*(each for each, _ in covered))
    is_exact = all(is_exact for _, is_exact in covered)
    kinds = datatypes[variable]
    judged = (*_JUDGED, vocab.OWN_DOUBLE) if abilities.own_datatypes else _JUDGED
    if kinds is None or not kinds <= set(judged):
        is_other = Negation(In(Call("DATATYPE", (variable,)), judged))
        test, is_exact = _or(is_other, test), False
    return Covering(test, frozenset((variable,)), is_exact)


def _covered(
    symbol: str, variable: Variable, term: object, datatypes: Datatypes, abilities: Abilities
) -> tuple[Expression, bool] | None:
    """A test that all of the judged values pass for which an operator holds, and whether no
    others do."""
    value = read(term) if isinstance(term, Literal) else None
    if isinstance(value, str):
        all_texts = datatypes == frozenset((vocab.STRING,))
        return _text_test(symbol, variable, value, abilities, all_texts)
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) >= MOST_EXACT:
        return None
    return _number_test(symbol, variable, value, datatypes, abilities)


def _text_test(
    symbol: str, variable: Variable, text: str, abilities: Abilities, all_texts: bool
) -> tuple[Expression, bool] | None:
    if symbol == "REGEX" or (symbol in _ORDERS and not (all_texts and abilities.code_points)):
        return None
    if not text and symbol in _STRING_TESTS:
        return None  # Virtuoso finds no text that ends with nothing.
    constant: Expression = Literal(text)
    if not text.isascii():
        # Virtuoso finds a plain one equal to no value in some expressions.
        constant = Call("STR", (Literal(text, datatype=_ANY_URI),))
    value = Call("STR", (variable,))
    if symbol == "==" or symbol in _ORDERS:
        return Infix(cast(Any, "=" if symbol == "==" else symbol), (value, constant)), all_texts
    return Call(_NATIVE.get(symbol, symbol), (value, constant)), all_texts


def _number_test(
    symbol: str, variable: Variable, number: float, datatypes: Datatypes, abilities: Abilities
) -> tuple[Expression, bool] | None:
    """A comparison with a number, or with its neighbours where an engine may confuse them."""
    is_whole = isinstance(number, int) and datatypes == frozenset((vocab.INTEGER,))
    is_exact = is_whole or (datatypes is not None and abilities.exact_doubles and number != 0)
    low: float = number
    high: float = number
    compared: Expression = variable
    if abilities.own_datatypes and not is_whole:
        # A double is read from its text, by an engine that rounds.
        compared = Call(_TO_DOUBLE, (Call("STR", (variable,)),))
        is_exact, margin = False, max(abs(number) * _ROUNDED, _NEAR_ZERO)
        low, high = number - margin, number + margin
    elif number == 0 and not is_whole:
        low, high = -_NEAR_ZERO, _NEAR_ZERO
    elif not is_exact:
        low, high = math.nextafter(number, -math.inf), math.nextafter(number, math.inf)
    below = Infix("<=", (compared, to_term(high)))
    above = Infix(">=", (compared, to_term(low)))
    if symbol == "==":
        if low == high:
            return Infix("=", (variable, to_term(number))), is_exact
        return _and(above, below), is_exact
    if symbol not in _ORDERS:
        return None
    if low == high:
        return Infix(cast(Any, symbol), (variable, to_term(number))), is_exact
    return below if symbol in ("<", "<=") else above, is_exact
