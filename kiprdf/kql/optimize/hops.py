"""Hop ranges as SPARQL (KIP 3.4.2). A hop clause is a set of pairs, so nodes are counted, never
paths: each level has its own DISTINCT, which stays linear where ``p/p?/p?`` is exponential.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.kql.clauses import Node, contains_one, reified
from kiprdf.kql.translate import lateral
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Alternative,
    Call,
    Extend,
    Filter,
    HopRange,
    Hops,
    Lateral,
    LeftJoin,
    OneOrMore,
    Pattern,
    Project,
    TriplePattern,
    Union,
    ZeroOrMore,
    is_iri,
)

Fresh: TypeAlias = Callable[[str], Variable]


def expand_hops(left: Pattern, hops: Hops, bound: set[Variable], fresh: Fresh) -> Pattern:
    """A pattern joined with a hop clause, from the better end that is bound.

    The other end is checked afterwards. ``bound`` are the variables of ``left``.
    """
    subject, object_ = cast(Node, hops.subject), cast(Node, hops.object)
    if not _is_bound(subject, bound) and not _is_bound(object_, bound):
        left = lateral(left, _starts(cast(Variable, subject), hops, fresh))
        bound = bound | {cast(Variable, subject)}
    forward = _is_bound(subject, bound) and (is_iri(subject) or not is_iri(object_))
    near, far = (subject, object_) if forward else (object_, subject)
    checked = _is_bound(far, bound)
    reached = fresh("far") if checked else cast(Variable, far)
    branches = tuple(
        _branch(near, hop, reached, forward, hops.link, fresh) for hop in hops.alternatives
    )
    right = branches[0] if len(branches) == 1 else Union(branches)
    joined = lateral(left, right)
    return Filter(joined, Call("sameTerm", (reached, far))) if checked else joined


def _is_bound(node: Node, bound: set[Variable]) -> bool:
    return is_iri(node) or node in bound


def _starts(near: Variable, hops: Hops, fresh: Fresh) -> Pattern:
    """Every node from which a clause with two free ends may start, once."""
    if any(hop.minimum == 0 for hop in hops.alternatives):
        return _element(near, fresh)
    starts = tuple(
        Project(BGP((step_to(near, hop.predicate, fresh("end"), True),)), (near,))
        for hop in hops.alternatives
    )
    return starts[0] if len(starts) == 1 else Union(starts)


def _element(node: Node, fresh: Fresh) -> Pattern:
    """Matches when a node is a concept or a proposition; enumerates them when it is free."""
    concept = BGP((TriplePattern(node, vocab.TYPE, fresh("type")),))
    proposition = BGP((TriplePattern(node, vocab.REIFIES, fresh("fact")),))
    return Union((concept, proposition))


def _branch(
    near: Node,
    hop: HopRange,
    far: Variable,
    forward: bool,
    link: Variable | None,
    fresh: Fresh,
) -> Pattern:
    """The pairs of one alternative, with the link of the direct ones where it is named."""
    pairs = _pairs(near, hop, far, forward, fresh)
    if link is None or not contains_one(hop):
        return pairs
    subject, object_ = (near, far) if forward else (far, near)
    links = [
        BGP(reified(*((subject, p, object_) if is_forward else (object_, p, subject)), link))
        for p, is_forward in hop.links
    ]
    return Lateral(pairs, LeftJoin(UNIT, links[0] if len(links) == 1 else Union(tuple(links))))


def _pairs(near: Node, hop: HopRange, far: Variable, forward: bool, fresh: Fresh) -> Pattern:
    """The far ends within a hop range of a near end that is bound, or constant.

    The zero-hop part is every element of the nexus.
    """
    if hop.minimum > 0:
        return _levels(near, hop, far, forward, fresh)
    itself = Extend(_element(near, fresh), far, near)
    if hop.maximum == 0:
        return itself
    further = _levels(near, HopRange(hop.predicate, 1, hop.maximum), far, forward, fresh)
    return Union((itself, further))


def step_to(
    start: Node,
    predicate: NamedNode | Alternative | OneOrMore | ZeroOrMore,
    end: Variable,
    forward: bool,
) -> TriplePattern:
    """The triple of a step from one node to another, or back."""
    return TriplePattern(*((start, predicate, end) if forward else (end, predicate, start)))


def _levels(near: Node, hop: HopRange, far: Variable, forward: bool, fresh: Fresh) -> Pattern:
    """At least one hop: exact levels up to the minimum, then stay-or-step, or the closure."""
    predicate, minimum, maximum = hop.predicate, hop.minimum, hop.maximum
    if (minimum, maximum) == (1, 1):
        return BGP((step_to(near, predicate, far, forward),))
    origin = (near,) if isinstance(near, Variable) else ()
    exact = minimum - 1 if maximum is None else minimum
    optional = 0 if maximum is None else maximum - minimum
    pattern: Pattern = UNIT
    at: Node = near
    for level in range(exact):
        last = level == exact - 1 and maximum is not None and not optional
        to = far if last else fresh("hop")
        step = BGP((step_to(at, predicate, to, forward),))
        pattern = Project(lateral(pattern, step), (*origin, to))
        at = to
    for level in range(optional):
        to = far if level == optional - 1 else fresh("hop")
        step = BGP((step_to(at, predicate, to, forward),))
        stay_or_step = Union((Extend(UNIT, to, at), step))
        pattern = Project(Lateral(pattern, stay_or_step), (*origin, to))
        at = to
    if maximum is None:
        closure = BGP((step_to(at, OneOrMore(predicate), far, forward),))
        pattern = Project(lateral(pattern, closure), (*origin, far))
    return pattern
