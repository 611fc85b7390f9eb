"""Where a query checks its deadline (docs/decisions/036).

The engine cannot be stopped. But a solution that a stage of the query drops is not carried on: so
``CHECK_DEADLINE`` follows each stage that multiplies solutions, and is true as long as there is
time. A query whose solutions are no more than the triples it reads needs none.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from pyoxigraph import NamedNode, Variable

from kiprdf.kql.optimize.cardinality import bound_together, has_long_list
from kiprdf.sparql.algebra import (
    BGP,
    AntiJoin,
    Call,
    Extend,
    Filter,
    Group,
    Hops,
    Lateral,
    LeftJoin,
    Pattern,
    Project,
    Union,
)
from kiprdf.store.cancellation import CHECK_DEADLINE, COUNT_HOP


def add_deadline_checks(pattern: Pattern) -> Pattern:
    """The same solutions, with a check after each stage; for an engine that calls our functions."""
    return _checked(pattern, CHECK_DEADLINE)


def _checked(pattern: Pattern, function: NamedNode) -> Pattern:
    match pattern:
        case BGP():
            return _with_checks(pattern, _shared(pattern), function)
        case Lateral() | LeftJoin() | AntiJoin():
            # The right side starts again for each solution of the left.
            left = _checked_after(_checked(pattern.left, function), function)
            return replace(pattern, left=left, right=_checked(pattern.right, function))
        case Union():
            return Union(tuple(_checked(branch, function) for branch in pattern.branches))
        case Project():
            # The levels of a hop range are the subqueries.
            return replace(pattern, pattern=_checked(pattern.pattern, COUNT_HOP))
        case Filter() if has_long_list(pattern.condition):
            inner = _checked_after(_checked(pattern.pattern, function), function)
            return replace(pattern, pattern=inner)
        case Filter() | Extend():
            return replace(pattern, pattern=_checked(pattern.pattern, function))
        case Group() | Hops():
            raise AssertionError("order_joins replaces these")


def _checked_after(pattern: Pattern, function: NamedNode) -> Pattern:
    """A pattern that passes nothing on once it is cancelled; the same one without a variable."""
    match pattern:
        case BGP() | Project():
            last = _last(pattern)
            return pattern if last is None else _with_checks(pattern, {last}, function)
        case Lateral():
            right = _checked_after(pattern.right, function)
            if right != pattern.right:
                return replace(pattern, right=right)
            return replace(pattern, left=_checked_after(pattern.left, function))
        case LeftJoin() | AntiJoin():
            return replace(pattern, left=_checked_after(pattern.left, function))
        case Union():
            # Its branches may have no variable in common.
            return Union(tuple(_checked_after(branch, function) for branch in pattern.branches))
        case Filter() if _is_check(pattern.condition):
            return pattern
        case Filter() | Extend():
            return replace(pattern, pattern=_checked_after(pattern.pattern, function))
        case Group() | Hops():
            raise AssertionError("order_joins replaces these")


def _is_check(condition: object) -> bool:
    return isinstance(condition, Call) and condition.function in (CHECK_DEADLINE, COUNT_HOP)


def _with_checks(pattern: Pattern, names: set[Variable], function: NamedNode) -> Pattern:
    for name in sorted(names, key=lambda name: name.value):
        pattern = Filter(pattern, Call(function, (name,)))
    return pattern


def _shared(group: BGP) -> set[Variable]:
    """The variables at which triples that multiply are joined."""
    bound = (names for triple in group.triples for names in bound_together(triple))
    multiplying = [names for names in bound if len(names) > 1]
    return {name for one, other in itertools.combinations(multiplying, 2) for name in one & other}


def _last(pattern: BGP | Project) -> Variable | None:
    """A node that is surely bound where a pattern ends, and as late as can be."""
    if isinstance(pattern, Project):
        return pattern.variables[-1] if pattern.variables else None
    names = [names for triple in pattern.triples for names in bound_together(triple) if names]
    return max(names[-1], key=lambda name: name.value) if names else None
