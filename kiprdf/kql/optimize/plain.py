"""Whether an engine evaluates a pattern rightly, or confuses its groups or regular expressions.

Virtuoso answers wrongly, or with errors of its compiler, where a group reads what BIND has bound,
where OPTIONAL, UNION or BIND are inside of NOT, OPTIONAL or UNION, and where a closure is not the
last step of a chain from an element (docs/decisions/090).
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import Variable

from kiprdf.kql.optimize.closures import closures_are_last
from kiprdf.kql.optimize.regexes import is_portable
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import (
    BGP,
    AntiJoin,
    Call,
    Condition,
    Expression,
    Extend,
    Filter,
    Infix,
    Lateral,
    LeftJoin,
    Pattern,
    Project,
    TriplePattern,
    Union,
    is_iri,
    variables,
)
from kiprdf.trees import walk

MOST_LEVELS = 12
"""Subqueries within each other; twenty are still right, and sixty-four are an error."""


def is_plain(pattern: Pattern, abilities: Abilities) -> bool:
    """Whether a pattern is one of those that an engine evaluates rightly."""
    if abilities.evaluates_all:
        return True
    if not all(is_portable(condition, abilities.regex) for condition in _conditions(pattern)):
        return False
    return abilities.nested_groups or _is_clear(pattern)


def _conditions(pattern: Pattern) -> Iterator[Condition]:
    filters = (part for part in _parts(pattern) if isinstance(part, Filter))
    parts = (part for each in filters for part in walk(each.condition))
    return (part for part in parts if isinstance(part, Condition))


def _is_clear(pattern: Pattern) -> bool:
    """Whether Virtuoso does not confuse the groups of a pattern."""
    groups = _groups(pattern)
    if any(_is_loop(triple) for group in groups for triple in group.triples):
        return False
    return closures_are_last(pattern, groups) and not _forgets(pattern) and _is_plain(pattern)


def optional_of_one_triple(pattern: Pattern) -> set[Variable]:
    """The variables that an OPTIONAL of a single triple binds.

    Virtuoso also counts what it has not bound in an OPTIONAL of several triples.
    """
    return {
        name
        for part in _parts(pattern)
        if isinstance(part, LeftJoin)
        and isinstance(part.right, BGP)
        and len(part.right.triples) == 1
        for name in variables(part.right)
    }


def _is_plain(pattern: Pattern) -> bool:
    match pattern:
        case BGP():
            return True
        case Filter():
            is_unsafe = _is_unsafe(pattern.condition, _extended(pattern.pattern))
            return _is_plain(pattern.pattern) and not (is_unsafe or _compares_optional(pattern))
        case Extend():
            return _is_plain(pattern.pattern)
        case Lateral():
            return _is_plain(pattern.left) and _is_plain(pattern.right) and not _reads_bind(pattern)
        case LeftJoin():
            is_simple = _is_simple(pattern.right) or _is_value(pattern.right)
            is_first = not variables(pattern.left)
            return (
                _is_plain(pattern.left)
                and is_simple
                and not is_first
                and not _reads_outer(pattern.right)
                and not _reads_bind(pattern)
            )
        case AntiJoin():
            # Beside a BIND alone, Virtuoso ignores it.
            is_simple = _is_triples(pattern.right) and any(g.triples for g in _groups(pattern.left))
            return (
                _is_plain(pattern.left)
                and is_simple
                and not _equated(pattern.right) & variables(pattern.left)
                and not _reads_bind(pattern)
            )
        case Union():
            return all(_is_simple(branch) for branch in pattern.branches)
        case Project():
            return _levels(pattern) <= MOST_LEVELS and _is_plain(pattern.pattern)
        case _:
            raise AssertionError(pattern)


def _is_triples(pattern: Pattern) -> bool:
    """Triples with conditions."""
    match pattern:
        case BGP():
            return True
        case Filter():
            return _is_triples(pattern.pattern)
        case _:
            return False


def _is_simple(pattern: Pattern) -> bool:
    """Triples with conditions, their values in OPTIONALs, and the BIND of a constant."""
    match pattern:
        case LeftJoin():
            return _is_simple(pattern.left) and _is_triples(pattern.right)
        case Filter():
            # Of a group with nothing but a condition, Virtuoso has no solution.
            is_simple = bool(variables(pattern.pattern)) and _is_simple(pattern.pattern)
            return is_simple and not _is_unsafe(pattern.condition, _extended(pattern.pattern))
        case Extend():
            return _is_simple(pattern.pattern) and is_iri(pattern.expression)
        case Project():
            return _is_plain(pattern)
        case _:
            return _is_triples(pattern)


def _is_value(pattern: Pattern) -> bool:
    """The id of an element, which binds one variable that nothing else mentions."""
    return isinstance(pattern, Extend) and not any(
        isinstance(part, AntiJoin | Union | Project) for part in _parts(pattern)
    )


def _parts(pattern: Pattern) -> list[Pattern]:
    match pattern:
        case BGP():
            return [pattern]
        case Lateral() | LeftJoin() | AntiJoin():
            return [pattern, *_parts(pattern.left), *_parts(pattern.right)]
        case Union():
            return [pattern, *(part for branch in pattern.branches for part in _parts(branch))]
        case Filter() | Extend() | Project():
            return [pattern, *_parts(pattern.pattern)]
        case _:
            raise AssertionError(pattern)


def _groups(pattern: Pattern) -> list[BGP]:
    return [part for part in _parts(pattern) if isinstance(part, BGP)]


def _is_loop(triple: TriplePattern) -> bool:
    """Whether both ends are one variable, which Virtuoso forgets beside an OPTIONAL."""
    return isinstance(triple.subject, Variable) and triple.subject == triple.object


def _forgets(pattern: Pattern) -> bool:
    """Whether Virtuoso may forget a NOT or a condition beside an OPTIONAL.

    It does where BIND is there, too, where an equality follows a UNION, and where a condition reads
    what an OPTIONAL of several triples binds that shares no variable with what is before it.
    """
    parts = _parts(pattern)
    joins = [part for part in parts if isinstance(part, LeftJoin)]
    has_bind = any(isinstance(part, Extend) for part in parts)
    has_not = any(isinstance(part, AntiJoin) for part in parts)
    has_union = any(isinstance(part, Union) for part in parts)
    is_equated = bool(_equated(pattern)) and (has_bind or has_union)
    if joins and (is_equated or (has_bind and has_not)):
        return True
    read = {name for p in parts if isinstance(p, Filter) for name in variables(p.condition)}
    return any(
        read & variables(join.right)
        for join in joins
        if (has_bind or not variables(join.left) & variables(join.right))
        and sum(len(group.triples) for group in _groups(join.right)) > 1
    )


def _equated(pattern: Pattern) -> set[Variable]:
    """The variables that a FILTER says to be equal to something."""
    conditions = [part.condition for part in _parts(pattern) if isinstance(part, Filter)]
    return {name for condition in conditions for name in _equal(condition)}


def _equal(expression: Expression) -> set[Variable]:
    match expression:
        case Condition():
            return _equal(expression.expression)
        case Infix(operator="&&"):
            return set().union(*map(_equal, expression.operands))
        case Call(function="sameTerm", arguments=terms) | Infix(operator="=", operands=terms):
            return {term for term in terms if isinstance(term, Variable)}
        case _:
            return set()


def _reads_outer(pattern: Pattern) -> bool:
    """Whether a FILTER in a group mentions what only the groups around it bind."""
    bound = {name for group in _groups(pattern) for name in variables(group)}
    conditions = (part.condition for part in _parts(pattern) if isinstance(part, Filter))
    return any(not variables(condition) <= bound for condition in conditions)


def _extended(pattern: Pattern) -> set[Variable]:
    """The variables that BIND binds."""
    return {part.variable for part in _parts(pattern) if isinstance(part, Extend)}


def _reads_bind(join: Lateral | LeftJoin | AntiJoin) -> bool:
    """Whether one side mentions a variable that BIND binds in the other."""
    return bool(
        _extended(join.left) & variables(join.right) or _extended(join.right) & variables(join.left)
    )


def _is_unsafe(condition: Expression, names: set[Variable]) -> bool:
    """Whether a condition compares terms of which BIND binds one, or a value with itself."""
    for part in walk(condition):
        match part:
            case Call(function="sameTerm") if variables(part) & names:
                return True
            case Condition(operands=(Variable() as one, other)) if one == other:
                return True
    return False


def _compares_optional(pattern: Filter) -> bool:
    """Whether a condition compares two values that one OPTIONAL binds."""
    parts = walk(pattern.condition)
    compared = [variables(part) for part in parts if isinstance(part, Condition)]
    joins = [part for part in _parts(pattern.pattern) if isinstance(part, LeftJoin)]
    bound = [variables(join.right) - variables(join.left) for join in joins]
    return any(len(names & inner) > 1 for names in compared for inner in bound)


def _levels(pattern: Pattern) -> int:
    """How many subqueries a pattern has."""
    return sum(isinstance(part, Project) for part in _parts(pattern))
