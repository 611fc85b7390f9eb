"""Whether the solutions of a pattern are a set as they come, without DISTINCT.

Triples are a set. So solutions can only be alike in some variables when others, which tell them
apart, are not among these, or when a UNION or an alternative finds them twice.
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

_OF_THE_SUBJECT = (vocab.TYPE, vocab.LABEL)
_KEYS = (vocab.ATTRIBUTE, vocab.METADATA)


Part: TypeAlias = TriplePattern | tuple[Variable, ...]
"""A triple, or the variables of a subquery."""


def is_set(pattern: Pattern, names: set[Variable]) -> bool:
    """Whether no two solutions of a pattern can be alike in some variables."""
    try:
        parts = list(_parts(pattern, set(), set()))
    except _Unknown:
        return False
    known = set(names)
    growing = True
    while growing:
        found = set().union(
            *(
                _determined(part, known) - outer
                for part, outer in parts
                if isinstance(part, TriplePattern)
            )
        )
        growing = not found <= known
        known |= found
    return all(variables(part) <= known for part, _ in parts)


class _Unknown(Exception):
    """A pattern that may find a solution twice."""


def _parts(
    pattern: Pattern, before: set[Variable], outer: set[Variable]
) -> Iterator[tuple[Part, set[Variable]]]:
    """What makes the solutions, each with the variables of which it tells nothing.

    An optional part may be missing, and then tells nothing of what stands ``before`` it; ``outer``
    are such variables already.
    """
    match pattern:
        case BGP():
            for triple in pattern.triples:
                if isinstance(triple.predicate, Alternative):
                    raise _Unknown
                yield triple, outer
        case Lateral():
            yield from _parts(pattern.left, before, outer)
            yield from _parts(pattern.right, before | variables(pattern.left), outer)
        case LeftJoin():
            yield from _parts(pattern.left, before, outer)
            before = before | variables(pattern.left)
            yield from _parts(pattern.right, before, outer | before)
        case AntiJoin():
            yield from _parts(pattern.left, before, outer)
        case Filter():
            yield from _parts(pattern.pattern, before, outer)
        case Extend():
            # What is bound is told by the variables of its expression.
            yield from _parts(pattern.pattern, before, outer)
        case Project():
            yield pattern.variables, outer
        case _:
            raise _Unknown


def _determined(triple: TriplePattern, known: set[Variable]) -> set[Variable]:
    """The variables of a triple of which there is one term, where others are known."""
    if isinstance(triple.object, TripleTerm):
        link, fact = variables(triple.subject), variables(triple.object)
        return link | fact if link <= known or fact <= known else set()
    if isinstance(triple.predicate, NamedNode) and (
        triple.predicate in _OF_THE_SUBJECT or triple.predicate.value.startswith(_KEYS)
    ):
        return variables(triple.object) if variables(triple.subject) <= known else set()
    return set()
