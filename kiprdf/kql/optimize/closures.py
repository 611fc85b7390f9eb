"""Closures in subqueries of their own, for an engine that joins them wrongly.

Beside OPTIONALs, and on cycles, Virtuoso loses solutions of ``p*`` or has some twice. The DISTINCT
solutions of a chain that ends with it are right (docs/decisions/090).
"""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import Variable

from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    Extend,
    Filter,
    LeftJoin,
    Pattern,
    Project,
    TriplePattern,
    ZeroOrMore,
    is_iri,
    variables,
)


def closures_apart(pattern: Pattern) -> Pattern:
    """The same solutions, where the joined triples with a closure are a subquery."""
    match pattern:
        case BGP() if any(map(is_closure, pattern.triples)):
            names = sorted(variables(pattern), key=lambda variable: variable.value)
            return Project(pattern, tuple(names))
        case Filter() | Extend() | Project():
            return replace(pattern, pattern=closures_apart(pattern.pattern))
        case LeftJoin():
            return replace(pattern, left=closures_apart(pattern.left))
        case _:
            return pattern


def closures_are_last(pattern: Pattern, groups: list[BGP]) -> bool:
    """Whether a pattern of some groups has no closure, or one at the end of a chain.

    OPTIONAL values and conditions may follow the chain.
    """
    if not any(is_closure(triple) for group in groups for triple in group.triples):
        return True
    while not isinstance(pattern, BGP):
        match pattern:
            case Filter() | Project():
                pattern = pattern.pattern
            case LeftJoin(right=BGP(triples=(_,))):
                pattern = pattern.left
            case _:
                return False
    return _is_chain(pattern)


def _is_chain(group: BGP) -> bool:
    """Whether each triple leads from an element, or from what those before it bind, to another.

    The last triple is a closure.
    """
    if not group.triples:
        return False
    *steps, last = group.triples
    reached: set[Variable] = set()
    for triple in group.triples:
        starts = sum(is_iri(end) or end in reached for end in (triple.subject, triple.object))
        if starts != 1 or triple.predicate == vocab.TYPE:
            return False
        reached |= set(triple.names)
    return is_closure(last) and not any(map(is_closure, steps))


def is_closure(triple: TriplePattern) -> bool:
    return isinstance(triple.predicate, ZeroOrMore)
