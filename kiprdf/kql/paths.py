"""Hop ranges as SPARQL (KIP 3.4.2). A hop clause is a set of pairs, so nodes are counted, never
paths: each level is a DISTINCT of its own, which stays linear where ``p/p?/p?`` is exponential.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pyoxigraph import NamedNode, Variable

from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Extend,
    Hole,
    Lateral,
    OneOrMore,
    Pattern,
    Project,
    TriplePattern,
    Union,
)

Node: TypeAlias = Variable | NamedNode | Hole
Fresh: TypeAlias = Callable[[str], Variable]


def hops(
    near: Node, predicate: NamedNode, hops: ast.Hops, far: Variable, forward: bool, fresh: Fresh
) -> Pattern:
    """The far ends within a hop range of a near end that is bound, or constant.

    ``forward`` walks from subject to object. The zero-hop part is every element of the nexus.
    """
    if hops.minimum > 0:
        return _walk(near, predicate, hops.minimum, hops.maximum, far, forward, fresh)
    itself = Extend(element(near, fresh), far, near)
    if hops.maximum == 0:
        return itself
    return Union((itself, _walk(near, predicate, 1, hops.maximum, far, forward, fresh)))


def element(node: Node, fresh: Fresh) -> Pattern:
    """Matches when a node is a concept or a proposition; enumerates them when it is free."""
    concept = BGP((TriplePattern(node, vocab.TYPE, fresh("type")),))
    proposition = BGP((TriplePattern(node, vocab.REIFIES, fresh("fact")),))
    return Union((concept, proposition))


def starts(near: Variable, predicate: NamedNode, forward: bool, fresh: Fresh) -> Pattern:
    """Every node that a predicate leaves (or enters), once."""
    return Project(BGP((_step(near, predicate, fresh("end"), forward),)), (near,))


def _step(
    start: Node, predicate: NamedNode | OneOrMore, end: Variable, forward: bool
) -> TriplePattern:
    return TriplePattern(*((start, predicate, end) if forward else (end, predicate, start)))


def _walk(
    near: Node,
    predicate: NamedNode,
    minimum: int,
    maximum: int | None,
    far: Variable,
    forward: bool,
    fresh: Fresh,
) -> Pattern:
    """At least one hop: exact levels up to the minimum, then stay-or-step, or the closure."""
    origin = (near,) if isinstance(near, Variable) else ()
    exact = minimum - 1 if maximum is None else minimum
    optional = 0 if maximum is None else maximum - minimum
    pattern: Pattern = UNIT
    at: Node = near
    for level in range(exact):
        last = level == exact - 1 and maximum is not None and not optional
        to = far if last else fresh("hop")
        step = BGP((_step(at, predicate, to, forward),))
        pattern = Project(step if pattern is UNIT else Lateral(pattern, step), (*origin, to))
        at = to
    for level in range(optional):
        to = far if level == optional - 1 else fresh("hop")
        step = BGP((_step(at, predicate, to, forward),))
        stay_or_step = Union((Extend(UNIT, to, at), step))
        pattern = Project(Lateral(pattern, stay_or_step), (*origin, to))
        at = to
    if maximum is None:
        closure = BGP((_step(at, OneOrMore(predicate), far, forward),))
        joined = closure if pattern is UNIT else Lateral(pattern, closure)
        pattern = Project(joined, (*origin, far))
    return pattern
