"""Joins for an engine without LATERAL: each group is evaluated alone, and joined afterwards.

A right side that only shares variables with the left by its triples stays as it is. One that reads
a variable of the left in another way (in a FILTER of an inner group, a BIND, an inner OPTIONAL or
NOT) is evaluated together with a copy of the left, and its solutions are joined by the variables
that decide what it reads. NOT becomes ``FILTER NOT EXISTS`` in the first case, and ``MINUS`` in
the second: engines differ in what an inner group of EXISTS sees. So no engine has to carry a
variable into a group.

In the result, the right side of ``Lateral`` is an ordinary join, that of ``AntiJoin`` a MINUS where
it is a ``Project``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from pyoxigraph import Variable

from kiprdf.kql.scopes import Namer, Values
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    AntiJoin,
    Call,
    Expression,
    Extend,
    Filter,
    Group,
    Hops,
    Lateral,
    LeftJoin,
    Pattern,
    Project,
    Union,
    certain_variables,
    variables,
)

Joined: TypeAlias = tuple[Pattern, tuple[Expression, ...]]
"""A pattern and the conditions at the end of its group."""


def standard_joins(pattern: Pattern, values: Values, namer: Namer) -> Pattern:
    """The same solutions by joins that SPARQL 1.1 has."""
    return _Standard(values, namer).block(pattern)


class _Standard:
    def __init__(self, values: Values, namer: Namer) -> None:
        self._values = values
        self._fresh = namer.fresh

    def block(self, pattern: Pattern) -> Pattern:
        """A pattern that sees nothing around it."""
        return _filtered(*self._join(UNIT, (), pattern))

    def _join(self, left: Pattern, conditions: tuple[Expression, ...], right: Pattern) -> Joined:
        """The correlated join of two patterns; ``conditions`` are those of the group so far.

        A condition may come last, since what follows it binds nothing that it reads.
        """
        match right:
            case BGP():
                return _with_triples(left, right), conditions
            case Lateral():
                return self._join(*self._join(left, conditions, right.left), right.right)
            case Filter():
                joined, conditions = self._join(left, conditions, right.pattern)
                return joined, (*conditions, right.condition)
            case Extend():
                joined, conditions = self._join(left, conditions, right.pattern)
                return Extend(joined, right.variable, right.expression), conditions
            case LeftJoin():
                joined, conditions = self._join(left, conditions, right.left)
                return self._optional(joined, right.right), conditions
            case AntiJoin():
                joined, conditions = self._join(left, conditions, right.left)
                return self._without(joined, right), conditions
            case Union():
                return self._union(left, right), conditions
            case Project():
                return self._subquery(left, right), conditions
            case Group() | Hops():
                raise AssertionError("order_joins replaces these")

    def _with(self, left: Pattern, right: Pattern) -> Pattern:
        """A pattern evaluated together with a copy of what it sees."""
        return _filtered(*self._join(left, (), right))

    def _closed(self, left: Pattern, right: Pattern, shown: tuple[Variable, ...]) -> Pattern:
        """A subquery of a right side, with a copy of what it reads of the left.

        The copy may have more solutions than the left: it is joined with the left by its keys.
        """
        return Project(self._with(_core(left, variables(right) | set(shown)), right), shown)

    def _optional(self, left: Pattern, right: Pattern) -> Pattern:
        if variables(right) <= certain_variables(left):
            return left  # Virtuoso loses values of the OPTIONALs after one that binds nothing.
        if not _reads(right, ends_group=True) & variables(left):
            return LeftJoin(left, self.block(right))
        new = _bound(right) - variables(left)
        left, keys = self._keyed(left, right)
        shown = (*keys, *_in_order(new))
        return LeftJoin(left, self._closed(left, right, shown))

    def _without(self, left: Pattern, node: AntiJoin) -> Pattern:
        right = node.right
        shared = variables(left) & variables(right)
        if not shared or (_is_flat(right) and not _reads(right) & variables(left)):
            return replace(node, left=left, right=self.block(right), shared=())
        left, keys = self._keyed(left, right)
        return replace(node, left=left, right=self._closed(left, right, keys), shared=keys)

    def _union(self, left: Pattern, union: Union) -> Pattern:
        is_closed = not any(isinstance(branch, Project) for branch in union.branches)
        if left == UNIT or (is_closed and not _reads(union) & variables(left)):
            return _joined(left, Union(tuple(map(self.block, union.branches))))
        return Union(tuple(self._with(left, branch) for branch in union.branches))

    def _subquery(self, left: Pattern, query: Project) -> Pattern:
        """The levels of a hop range: the first one begins where the left is."""
        if left == UNIT or not set(query.variables[:1]) & variables(left):
            return _joined(left, self._level(UNIT, query))
        return Lateral(left, self._level(_core(left, set(query.variables)), query))

    def _level(self, left: Pattern, query: Project) -> Pattern:
        match query.pattern:
            case Lateral(left=Project() as inner, right=step):
                pattern = self._with(self._level(left, inner), step)
            case step:
                pattern = self._with(left, step)
        return Project(pattern, query.variables)

    def _keyed(self, left: Pattern, right: Pattern) -> tuple[Pattern, tuple[Variable, ...]]:
        """The left, with the variables that decide what the right reads of it.

        They are never unbound: an unbound one would join with anything.
        """
        names = variables(right) & variables(left)
        read = {self._values[name].node if name in self._values else name for name in names}
        certain = certain_variables(left)
        keys = read & certain
        for name in _in_order(read - certain):
            key = self._fresh(f"{name.value}_or_none")
            left = Extend(left, key, Call("COALESCE", (name, vocab.NONE)))
            keys.add(key)
        return left, _in_order(keys)


def _reads(pattern: Pattern, ends_group: bool = False) -> set[Variable]:
    """What a pattern reads of the solutions around it, other than by joining its triples.

    Where it ``ends_group``, as an OPTIONAL does, its own conditions see both sides.
    """
    match pattern:
        case BGP():
            return set()
        case Lateral():
            right = _reads(pattern.right, ends_group)
            return _reads(pattern.left, ends_group) | right - certain_variables(pattern.left)
        case LeftJoin() | AntiJoin():
            right = _reads(pattern.right) | variables(pattern.right)
            return _reads(pattern.left, ends_group) | right - certain_variables(pattern.left)
        case Filter():
            read = set() if ends_group else variables(pattern.condition)
            inner = _reads(pattern.pattern, ends_group)
            return inner | read - certain_variables(pattern.pattern)
        case Extend():
            read = variables(pattern.expression) - certain_variables(pattern.pattern)
            return _reads(pattern.pattern, ends_group) | read
        case Union():
            return set().union(*map(_reads, pattern.branches))
        case Project():
            return _reads(pattern.pattern)
        case Group() | Hops():
            raise AssertionError("order_joins replaces these")


def _is_flat(pattern: Pattern) -> bool:
    """Whether a pattern is triples, conditions and values: what every engine does within EXISTS."""
    match pattern:
        case BGP():
            return True
        case Filter() | Extend():
            return _is_flat(pattern.pattern)
        case Lateral() | LeftJoin():
            return _is_flat(pattern.left) and _is_flat(pattern.right)
        case _:
            return False


def _bound(pattern: Pattern) -> set[Variable]:
    """The variables that a pattern may bind for what follows it."""
    match pattern:
        case AntiJoin():
            return _bound(pattern.left)
        case Lateral() | LeftJoin():
            return _bound(pattern.left) | _bound(pattern.right)
        case Filter():
            return _bound(pattern.pattern)
        case Extend():
            return _bound(pattern.pattern) | {pattern.variable}
        case Union():
            return set().union(*map(_bound, pattern.branches))
        case Project():
            return set(pattern.variables)
        case BGP() | Group() | Hops():
            return variables(pattern)


def _core(left: Pattern, needed: set[Variable]) -> Pattern:
    """A pattern without the optional parts, values and NOTs that bind nothing that is needed."""
    match left:
        case LeftJoin():
            if not (variables(left.right) - variables(left.left)) & needed:
                return _core(left.left, needed)
            return replace(left, left=_core(left.left, needed | variables(left.right)))
        case AntiJoin():
            return _core(left.left, needed)
        case Extend():
            if left.variable not in needed:
                return _core(left.pattern, needed)
            return replace(left, pattern=_core(left.pattern, needed | variables(left.expression)))
        case Lateral():
            return replace(left, left=_core(left.left, needed | variables(left.right)))
        case _:
            return left


def _joined(left: Pattern, right: Pattern) -> Pattern:
    return right if left == UNIT else Lateral(left, right)


def _with_triples(left: Pattern, right: BGP) -> Pattern:
    """A pattern joined with triples, which go to the others: before what they do not need."""
    match left:
        case BGP():
            return BGP(tuple(dict.fromkeys((*left.triples, *right.triples))))
        case LeftJoin() | AntiJoin():
            if not (variables(left.right) - variables(left.left)) & variables(right):
                return replace(left, left=_with_triples(left.left, right))
        case Extend():
            if not {left.variable, *variables(left.expression)} & variables(right):
                return replace(left, pattern=_with_triples(left.pattern, right))
        case Lateral(right=BGP() as last):
            return Lateral(left.left, BGP((*last.triples, *right.triples)))
    return _joined(left, right)


def _filtered(pattern: Pattern, conditions: Iterable[Expression]) -> Pattern:
    for condition in conditions:
        pattern = Filter(pattern, condition)
    return pattern


def _in_order(names: Iterable[Variable]) -> tuple[Variable, ...]:
    return tuple(sorted(names, key=lambda name: name.value))
