"""Values that a FILTER requires, as triples that are joined instead of OPTIONAL ones.

Every comparison of a null with a constant is false (docs/decisions/050), so a solution without the
value is dropped anyway. What is joined, an engine may begin with.
"""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    AntiJoin,
    Condition,
    Expression,
    Extend,
    Filter,
    Infix,
    Lateral,
    LeftJoin,
    Pattern,
    Union,
    map_patterns,
    variables,
)


def required_values(pattern: Pattern) -> Pattern:
    """The same solutions, where what a FILTER requires is joined."""
    pattern = map_patterns(pattern, lambda part, *_: required_values(part))
    if isinstance(pattern, Filter):
        for name in sorted(_required_by(pattern.condition), key=lambda name: name.value):
            pattern = replace(pattern, pattern=_joined(pattern.pattern, name))
    return pattern


def _required_by(condition: Expression) -> set[Variable]:
    """The variables without which a condition is false."""
    match condition:
        case Condition(operands=(Variable() as name, Literal() | NamedNode() as constant)):
            return {name} if condition.name != "IS_NULL" and constant != vocab.NULL else set()
        case Infix(operator="&&"):
            return set().union(*map(_required_by, condition.operands))
        case Infix(operator="||"):
            return set.intersection(*map(_required_by, condition.operands))
    return set()


def _joined(pattern: Pattern, name: Variable) -> Pattern:
    """A pattern whose solutions have a value, which an OPTIONAL triple binds in it."""
    match pattern:
        case LeftJoin(right=BGP(triples=(triple,)) as value) if triple.object == name:
            return Lateral(pattern.left, value)
        case LeftJoin() | AntiJoin() if name not in variables(pattern.right):
            return replace(pattern, left=_joined(pattern.left, name))
        case Filter():
            return replace(pattern, pattern=_joined(pattern.pattern, name))
        case Extend() if name != pattern.variable:
            return replace(pattern, pattern=_joined(pattern.pattern, name))
        case Lateral():
            return _joined_in_one(pattern, name)
        case Union():
            return Union(tuple(_joined(branch, name) for branch in pattern.branches))
    return pattern


def _joined_in_one(pattern: Lateral, name: Variable) -> Pattern:
    """The join in the side that mentions a variable, if only one does."""
    left, right = (name in variables(side) for side in (pattern.left, pattern.right))
    if left and right:
        return pattern
    if right:
        return replace(pattern, right=_joined(pattern.right, name))
    return replace(pattern, left=_joined(pattern.left, name))
