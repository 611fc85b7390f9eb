"""Whether a pattern can find a solution twice, so that it needs DISTINCT.

Triples are a set. So two solutions agree in the given variables only when they differ in others, or
when a UNION or an alternative finds them twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pyoxigraph import NamedNode, Variable

from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    Alternative,
    AntiJoin,
    Extend,
    Filter,
    Lateral,
    LeftJoin,
    Pattern,
    Project,
    TriplePattern,
    TripleTerm,
    variables,
)

_FUNCTIONAL = (vocab.TYPE, vocab.LABEL)
_KEYS = (vocab.ATTRIBUTE, vocab.METADATA)


Part: TypeAlias = TriplePattern | tuple[Variable, ...]
"""A triple, or the variables of a subquery."""


def may_duplicate(pattern: Pattern, names: set[Variable]) -> bool:
    """Whether two solutions of a pattern can be alike in some variables."""
    try:
        parts = list(_parts(pattern, (), set()))
    except _Unknown:
        return True
    determined, size = set(names), -1
    while len(determined) > size:
        size = len(determined)
        for part, outer in parts:
            if isinstance(part, TriplePattern):
                determined |= _determined(part, determined) - outer
    return not all(variables(part) <= determined for part, _ in parts)


class _Unknown(Exception):
    """A pattern that may find a solution twice."""


def _parts(
    pattern: Pattern, before: tuple[Pattern, ...], outer: set[Variable]
) -> Iterator[tuple[Part, set[Variable]]]:
    """What makes the solutions, each with the variables that it does not determine.

    An optional part may be missing, and then determines nothing of what comes ``before`` it;
    ``outer`` are such variables already.
    """
    match pattern:
        case BGP():
            for triple in pattern.triples:
                if isinstance(triple.predicate, Alternative):
                    raise _Unknown
                yield triple, outer
        case Lateral():
            yield from _parts(pattern.left, before, outer)
            yield from _parts(pattern.right, (*before, pattern.left), outer)
        case LeftJoin():
            yield from _parts(pattern.left, before, outer)
            before = (*before, pattern.left)
            yield from _parts(pattern.right, before, outer | variables(before))
        case AntiJoin():
            yield from _parts(pattern.left, before, outer)
        case Filter():
            yield from _parts(pattern.pattern, before, outer)
        case Extend():
            # The variables of its expression determine what it binds.
            yield from _parts(pattern.pattern, before, outer)
        case Project():
            yield pattern.variables, outer
        case _:
            raise _Unknown


def _determined(triple: TriplePattern, bound: set[Variable]) -> set[Variable]:
    """The variables of a triple that have one term where others are bound."""
    if isinstance(triple.object, TripleTerm):
        link, fact = variables(triple.subject), variables(triple.object)
        return link | fact if link <= bound or fact <= bound else set()
    if isinstance(triple.predicate, NamedNode) and (
        triple.predicate in _FUNCTIONAL or triple.predicate.value.startswith(_KEYS)
    ):
        return variables(triple.object) if variables(triple.subject) <= bound else set()
    return set()
