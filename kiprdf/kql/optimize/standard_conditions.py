"""Conditions for an engine that calls no custom functions (docs/decisions/075).

Each operand is read as what it can be: null, a number, a boolean, a text, a node, or one of the
arrays and objects that the store has under its key, which are constants here. A condition is the
disjunction of the pairs for which it may hold. Two constants are compared in Python, by the table
of ``kql.comparisons``; other pairs by an operator of SPARQL 1.1, behind tests of the kinds of both
sides, since engines differ in what they compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import NamedTuple, TypeAlias, TypeGuard, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.errors import KipError
from kiprdf.kql.comparisons import FALSE, FUNCTIONS, TESTS, TRUE
from kiprdf.kql.optimize.push_filters import NAMESPACES
from kiprdf.kql.optimize.regexes import in_syntax
from kiprdf.kql.scopes import Values
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import to_json, to_term
from kiprdf.rdf.readings import Reading, read
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import (
    Call,
    Condition,
    Expression,
    Extend,
    Filter,
    Group,
    Hole,
    In,
    Infix,
    Negation,
    Pattern,
    map_patterns,
)
from kiprdf.store.base import Cell
from kiprdf.trees import walk


class KeyValues(NamedTuple):
    """What a store has under a key: its arrays and objects, and the datatypes of all values, None
    among them where there are values without one. Without ``datatypes`` they may be any."""

    json: Sequence[Literal] = ()
    datatypes: frozenset[NamedNode | None] | None = None


JsonValues: TypeAlias = Mapping[NamedNode, KeyValues]
"""What a store has under each key."""
MOST_VALUES = 5_000
"""Arrays and objects that one condition lists; engines end at some ten thousand constants."""
MOST_TESTS = 500
"""Comparisons of one condition; ten thousand crash the parser of some engines."""
_EMPTY = Literal("")
_LAST = Literal("([\ue000-\uffff])")
_LAST_MOVED = Literal("\ud7ff$1")
_ANY_URI = NamedNode(vocab.XSD + "anyURI")
_NUMBERS = (vocab.INTEGER, vocab.DOUBLE)
_TEXTS: frozenset[NamedNode | None] = frozenset((vocab.STRING,))
_OWN_DOUBLES: frozenset[NamedNode | None] = frozenset((vocab.OWN_DOUBLE,))
_INTEGERS: frozenset[NamedNode | None] = frozenset((vocab.INTEGER,))
_NUMERIC: frozenset[NamedNode | None] = frozenset((*_NUMBERS, vocab.OWN_DOUBLE))


def standard_conditions(
    pattern: Pattern,
    values: Values,
    json_values: JsonValues,
    abilities: Abilities,
) -> Pattern:
    """The same solutions by conditions that SPARQL 1.1 has.

    ``json_values`` has at least the values of the ``json_keys``. Raises KIP_4002 for a condition
    that more than ``MOST_VALUES`` arrays and objects satisfy.
    """
    return _Conditions(values, json_values, abilities).pattern(pattern)


def json_keys(pattern: Pattern, values: Values) -> tuple[NamedNode, ...]:
    """The predicates whose arrays and objects the conditions of a pattern may read."""
    names = {
        name
        for condition in _conditions(pattern)
        if condition.name != "IS_NULL"
        for name in condition.names
    }
    keys = {_key(name, values) for name in names}
    return tuple(sorted((key for key in keys if key is not None), key=str))


def compares_holes(pattern: Pattern) -> bool:
    """Whether a condition compares a constant that is chosen later, which must be known here."""
    conditions = _conditions(pattern)
    return any(isinstance(term, Hole) for condition in conditions for term in condition.operands)


def _conditions(pattern: Pattern) -> Iterator[Condition]:
    return (node for node in walk(pattern) if isinstance(node, Condition))


def _key(name: Variable, values: Values) -> NamedNode | None:
    value = values.get(name)
    if value is None or value.field not in NAMESPACES:
        return None
    return NamedNode(NAMESPACES[value.field] + str(value.key))


@dataclass(frozen=True, slots=True)
class _Constant:
    """An operand where ``guard`` holds: one term, or null."""

    guard: Expression
    cell: Cell
    holder: Variable | None = None
    """The variable that holds an array or object, which is known by its text."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """An operand where ``guard`` holds: any value of a kind."""

    guard: Expression
    kind: str
    value: Expression
    by_units: bool = False
    """Whether its text is spelled for an order by the units of UTF-16."""
    inexact: Inexact = "no"
    """The numbers that the engine confuses where it compares doubles."""
    holder: Variable | None = None
    """The variable with a number as it is kept."""


Inexact: TypeAlias = OneOf["no", "zeros", "neighbours"]
_Case: TypeAlias = "_Constant | _Kind"


class _Conditions:
    def __init__(self, values: Values, json_values: JsonValues, abilities: Abilities) -> None:
        self._values = values
        self._json = json_values
        self._unicode_constants = abilities.unicode_constants
        self._own_datatypes = abilities.own_datatypes
        self._code_points = abilities.code_points
        self._regex = abilities.regex
        self._inexact: Inexact = "no"
        if not (abilities.one_zero and abilities.exact_doubles):
            self._inexact = "zeros" if abilities.exact_doubles else "neighbours"

    def pattern(self, pattern: Pattern) -> Pattern:
        pattern = map_patterns(pattern, lambda part, *_: self.pattern(part))
        if isinstance(pattern, Filter):
            return replace(pattern, condition=self._expression(pattern.condition))
        if isinstance(pattern, Extend):
            return replace(pattern, expression=_or_unbound(pattern.expression))
        assert not isinstance(pattern, Group)
        return pattern

    def _expression(self, expression: Expression, is_negated: bool = False) -> Expression:
        match expression:
            case Negation():
                return Negation(self._expression(expression.operand, True))
            case Infix():
                operands = (self._expression(each, is_negated) for each in expression.operands)
                return Infix(expression.operator, tuple(operands))
            case Condition():
                return replace(expression, expression=self._condition(expression, is_negated))
            case _:
                return expression

    def _condition(self, condition: Condition, is_negated: bool) -> Expression:
        names = [term for term in condition.operands if isinstance(term, Variable)]
        if condition.name == "IS_NULL" or not any(name in self._values for name in names):
            # Nodes are compared by identity.
            return self._with_constants(condition.expression)
        name, (left, right) = condition.name, condition.operands
        if name == "REGEX" and isinstance(right, Literal):
            right = in_syntax(right, self._regex)
        cases = self._cases(left), self._cases(right)
        if name in _ORDERS and not self._code_points and all(map(_may_exceed, (left, right))):
            cases = list(map(_by_units, cases[0])), list(map(_by_units, cases[1]))
        pairs = [(one, other) for one in cases[0] for other in cases[1]]
        tests: list[Expression] = []
        listed: dict[tuple[Variable, Expression], list[Literal]] = {}
        for one, other in pairs:
            holds = _holds(name, one, other)
            if holds == FALSE:
                continue
            holders = [case for case in (one, other) if _is_held(case)]
            if holds == TRUE and len(holders) == 1:
                # One list instead of one comparison each.
                (case,) = holders
                beside = (other if case is one else one).guard
                key = cast(Variable, case.holder), beside
                listed.setdefault(key, []).append(cast(Literal, case.cell))
            else:
                tests.append(_all(*map(_guard, (one, other)), holds))
        if len(tests) > MOST_TESTS or sum(map(len, listed.values())) > MOST_VALUES:
            raise _too_many()
        for (holder, beside), terms in listed.items():
            is_listed = In(holder, tuple(terms))
            tests.append(_all(_has_type(holder, vocab.JSON), beside, is_listed))
        if not tests:
            return FALSE
        holds = self._with_constants(_any(tests))
        is_simple = len(names) == 1 and _EMPTY not in condition.operands
        if is_simple and name not in _EQUALITIES and not is_negated:
            # To FILTER, an error is false; and Virtuoso begins with what it compares to a constant.
            return holds
        return Call("COALESCE", (holds, FALSE))

    def _with_constants(self, expression: Expression) -> Expression:
        """An expression whose constants the engine compares as they are."""
        return expression if self._unicode_constants else _without_plain_constants(expression)

    # What an operand can be -------------------------------------------------------------------

    def _cases(self, term: object) -> list[_Case]:
        if not isinstance(term, Variable):
            return [_Constant(TRUE, cast(Cell, term))]
        unbound = Negation(Call("BOUND", (term,)))
        key = _key(term, self._values)
        if key is None:
            bound = Call("BOUND", (term,))
            text = term if self._unicode_constants else Call("STR", (term,))
            return [_Constant(unbound, None), _Kind(bound, "text", text)]
        is_null = Infix("||", (unbound, Call("sameTerm", (term, vocab.NULL))))
        is_json = _has_type(term, vocab.JSON)
        cases: list[_Case] = [_Constant(is_null, None)]
        cases += (_Constant(is_json, value, term) for value in self._key_values(key).json)
        return [*cases, *self._kinds(term, self._key_values(key).datatypes)]

    def _key_values(self, key: NamedNode) -> KeyValues:
        return self._json.get(key, KeyValues())

    def _kinds(
        self, term: Variable, datatypes: frozenset[NamedNode | None] | None
    ) -> Iterator[_Kind]:
        """The kinds of single values, but those that do not occur."""
        # Where a variable is unbound, Virtuoso goes on as if it were a value.
        is_bound = Call("BOUND", (term,))
        if datatypes is not None and datatypes <= _NUMERIC:
            inexact: Inexact = "no" if datatypes <= _INTEGERS else self._inexact
            yield _Kind(is_bound, "number", self._number(term, datatypes), False, inexact, term)
            return
        if datatypes == _TEXTS:
            yield _Kind(is_bound, "text", Call("STR", (term,)))
            return
        # Some engines take a boolean for a number.
        is_boolean = _has_type(term, vocab.BOOLEAN)
        is_number = _all(Call("isNumeric", (term,)), Negation(is_boolean))
        number: Expression = term
        is_true: Expression = term
        others = [*_NUMBERS, vocab.BOOLEAN, vocab.JSON]
        if self._own_datatypes:
            text = Call("STR", (term,))
            is_own = _has_type(term, vocab.OWN_DOUBLE)
            number = self._number(term, datatypes)
            is_number = Infix("||", (is_own, Call("isNumeric", (term,))))
            is_boolean = _has_type(term, vocab.OWN_BOOLEAN)
            is_true = Infix("=", (text, Literal("true")))
            others += (vocab.OWN_DOUBLE, vocab.OWN_BOOLEAN)
        yield _Kind(is_number, "number", number, False, self._inexact, term)
        # Engines differ in what a boolean equals, and in their order.
        yield _Kind(is_boolean, "boolean", Call("IF", (is_true, Literal(1), Literal(0))))
        is_other = Infix("||", (In(_type(term), tuple(others)), is_number))
        has_language = Infix("!=", (Call("LANG", (term,)), Literal("")))
        is_text = Infix("||", (has_language, Negation(is_other)))
        is_literal = Call("isLiteral", (term,))
        yield _Kind(_all(is_bound, is_literal, is_text), "text", Call("STR", (term,)))
        is_node = Negation(is_literal)
        yield _Kind(
            _all(is_bound, is_node, Negation(Call("sameTerm", (term, vocab.NULL)))), "node", term
        )

    def _number(self, term: Variable, datatypes: frozenset[NamedNode | None] | None) -> Expression:
        """A number as the engine compares it, among values of some datatypes or of any."""
        if not self._own_datatypes:
            return term
        double = _double(Call("STR", (term,)))
        if datatypes == _OWN_DOUBLES:
            return double
        number: Expression = term
        if datatypes is None or not datatypes <= _NUMERIC:
            # Beside alternatives, Virtuoso calculates with other values, too, and fails.
            number = Call("IF", (Call("isNumeric", (term,)), term, Literal(0)))
        if datatypes is None or vocab.OWN_DOUBLE in datatypes:
            number = Call("IF", (_has_type(term, vocab.OWN_DOUBLE), double, number))
        return number


def _or_unbound(expression: Expression) -> Expression:
    """What BIND binds, unbound where what it reads is: for Virtuoso STR has a value of nothing."""
    match expression:
        case Call("STRAFTER", (Call("STR", (Variable() as name,)), _)):
            return Call("IF", (Call("BOUND", (name,)), expression, name))
        case _:
            return expression


def _too_many() -> KipError:
    message = f"A FILTER is true for more than {MOST_VALUES} arrays and objects of this store."
    hint = "Ask for fewer elements at once, or read the values with FIND and compare them yourself."
    return KipError("KIP_4002", message, hint)


# Pairs --------------------------------------------------------------------------------------------


def _holds(name: str, one: _Case, other: _Case) -> Expression:
    """Whether an operator holds for two operands, of which each is what its case says."""
    if isinstance(one, _Constant) and isinstance(other, _Constant):
        return TRUE if TESTS[FUNCTIONS[name]](one.cell, other.cell) else FALSE
    if isinstance(one, _Kind) and isinstance(other, _Kind):
        if one.kind != other.kind:
            return FALSE
        kind = other if one.inexact == "no" else one
        return _native(name, kind, one.value, other.value)
    constant = one if isinstance(one, _Constant) else cast(_Constant, other)
    kind = one if isinstance(one, _Kind) else cast(_Kind, other)
    terms = tuple(
        _as_term(reading, kind.by_units)
        for reading in _scalars(name, read(constant.cell))
        if _kind_of(reading) == kind.kind
    )
    if not terms:
        return FALSE
    tests: list[Expression] = []
    if len(terms) > 1 and name in ("==", "IN") and kind.kind != "node":
        if kind.inexact == "neighbours":
            assert kind.holder is not None
            return In(Call("STR", (kind.holder,)), tuple(_spellings(terms)))
        listed = tuple(term for term in terms if not _confuses(kind, kind.value, term))
        tests = [In(kind.value, listed)] if listed else []
        terms = tuple(term for term in terms if term not in listed)
    tests += (
        _native(name, kind, *((t, kind.value) if constant is one else (kind.value, t)))
        for t in terms
    )
    return _any(tests)


def _scalars(name: str, reading: Reading) -> Sequence[Reading]:
    """What a constant is to a single value: itself, or each of its items."""
    if isinstance(reading, list) and name not in _ORDERS:
        return reading
    return (reading,)


def _may_exceed(term: object) -> bool:
    """Whether an operand may be a text that code points and units of UTF-16 order differently."""
    if isinstance(term, Variable):
        return True
    reading = read(cast(Cell, term))
    return isinstance(reading, str) and any(character > "\ud7fe" for character in reading)


def _by_units(case: _Case) -> _Case:
    """A text whose units of UTF-16 have the order of its code points.

    The characters after the surrogates are moved before them, behind the last one that is there.
    """
    if isinstance(case, _Constant) or case.kind != "text":
        return case
    return replace(case, value=text_by_units(case.value), by_units=True)


def text_by_units(text: Expression) -> Expression:
    """A text whose order by the units of UTF-16 is that of the code points of another."""
    return Call("REPLACE", (text, _LAST, _LAST_MOVED))


def _as_term(reading: Reading, by_units: bool) -> Literal | NamedNode:
    """The constant that a value of its kind is compared with."""
    if by_units and isinstance(reading, str):
        reading = re.sub(_LAST.value, "\ud7ff\\1", reading)
    if isinstance(reading, bool):
        return Literal(int(reading))
    return reading if isinstance(reading, NamedNode) else to_term(reading)


def _kind_of(reading: Reading) -> str | None:
    if isinstance(reading, bool):
        return "boolean"
    if isinstance(reading, int | float):
        return "number"
    if isinstance(reading, NamedNode):
        return "node"
    return "text" if isinstance(reading, str) else None


_NATIVE = {"STARTS_WITH": "STRSTARTS", "ENDS_WITH": "STRENDS"}
_ORDERS = ("<", "<=", ">", ">=")
_EQUALITIES = ("==", "IN")


def _native(name: str, case: _Kind, one: Expression, other: Expression) -> Expression:
    """An operator on two values of one kind."""
    kind = case.kind
    if _confuses(case, one, other):
        # The sign of a difference is exact; adding 0 makes 0.0 of -0.0.
        one, other = Infix("+", (Infix("-", (one, other)), Literal(0))), Literal(0)
    if name in ("==", "IN"):
        return Call("sameTerm", (one, other)) if kind == "node" else Infix("=", (one, other))
    if name in _ORDERS:
        return FALSE if kind == "node" else Infix(name, (one, other))  # type: ignore[arg-type]
    if kind != "text":
        return FALSE
    holds = Call(_NATIVE.get(name, name), (one, other))
    if name == "REGEX":
        return holds
    if other == _EMPTY:
        return TRUE  # not to Virtuoso
    return holds if isinstance(other, Literal) else _any([Infix("=", (other, _EMPTY)), holds])


def _spellings(numbers: Iterable[Literal | NamedNode]) -> Iterator[Literal]:
    """The texts that are kept of what is equal to some numbers, by this library or its engine."""
    for term in numbers:
        number = float(term.value)
        same = {term.value, to_term(number).value, Literal(number).value}
        if number == 0:
            same |= {to_term(-number).value, Literal(-number).value}
        if number.is_integer():
            same.add(str(int(number)))
        yield from map(Literal, sorted(same))


def _confuses(kind: _Kind, one: Expression, other: Expression) -> bool:
    """Whether the engine may find the wrong order of two numbers."""
    if kind.inexact == "zeros":
        terms = [term for term in (one, other) if isinstance(term, Literal)]
        return all(to_json(term) == 0 for term in terms)
    return kind.inexact == "neighbours"


# Expressions --------------------------------------------------------------------------------------


def _is_held(case: _Case) -> TypeGuard[_Constant]:
    return isinstance(case, _Constant) and case.holder is not None


def _guard(case: _Case) -> Expression:
    if _is_held(case):
        terms = (cast(Variable, case.holder), cast(Literal, case.cell))
        return _all(case.guard, Infix("=", terms))
    return case.guard


def _without_plain_constants(expression: Expression) -> Expression:
    """An expression in which texts beyond ASCII are those of typed literals where one is compared.

    Virtuoso finds them equal to no value within COALESCE and IF, nor IRIs by ``sameTerm``.
    """
    match expression:
        case Infix(operands=(one, other)) if _is_unicode(one) or _is_unicode(other):
            return Infix(expression.operator, (_as_text(one), _as_text(other)))
        case In() if any(map(_is_unicode, expression.options)):
            plain = tuple(term for term in expression.options if not _is_unicode(term))
            others = [term for term in expression.options if _is_unicode(term)]
            parts = [In(expression.operand, plain)] if plain else []
            equal = (Infix("=", (expression.operand, term)) for term in others)
            return _any([*parts, *map(_without_plain_constants, equal)])
        case Infix():
            operands = tuple(map(_without_plain_constants, expression.operands))
            return Infix(expression.operator, operands)
        case Negation():
            return Negation(_without_plain_constants(expression.operand))
        case Call(function="sameTerm"):
            return Infix("=", expression.arguments)
        case Call():
            arguments = tuple(map(_without_plain_constants, expression.arguments))
            return Call(expression.function, arguments)
        case _:
            return expression


def _is_unicode(term: Expression) -> bool:
    is_text = isinstance(term, Literal) and term.datatype == vocab.STRING
    return is_text and not cast(Literal, term).value.isascii()


def _as_text(term: Expression) -> Expression:
    if isinstance(term, Literal):
        return Call("STR", (Literal(term.value, datatype=_ANY_URI),))
    return Call("STR", (term,)) if isinstance(term, Variable) else term


def _all(*conditions: Expression) -> Expression:
    parts = tuple(dict.fromkeys(c for c in conditions if c != TRUE))
    return Infix("&&", parts) if len(parts) > 1 else parts[0] if parts else TRUE


def _any(conditions: Iterable[Expression]) -> Expression:
    parts = tuple(dict.fromkeys(conditions))
    return Infix("||", parts) if len(parts) > 1 else parts[0]


def _type(term: Variable) -> Expression:
    return Call("DATATYPE", (term,))


def _has_type(term: Variable, datatype: NamedNode) -> Expression:
    return Infix("=", (_type(term), datatype))


def _double(text: Expression) -> Expression:
    return Call(vocab.DOUBLE, (text,))
