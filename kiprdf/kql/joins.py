"""Which clause of a segment comes first.

The engine orders the triples inside a BGP well, and nothing across a barrier; a path, a reified
alternative or a predicate variable in a BGP with a type clause makes it scan the type. So plain
triples go together, everything else stands alone, and each comes when what it leans on is bound
(docs/decisions/006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import Variable

from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    AntiJoin,
    Lateral,
    Pattern,
    TriplePattern,
    is_iri,
    variables,
)

TRIPLES_A_GROUP = 16
"""Planning time grows steeply with the triples of one group: 192 in one take seven seconds."""

Emit: TypeAlias = Callable[[Pattern, set[Variable]], Pattern]


@dataclass(frozen=True, slots=True)
class Plain:
    """Triples of one clause that may share a BGP with others."""

    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Alone:
    """A clause that needs a group of its own.

    ``emit`` adds it to a pattern, knowing what is bound there. ``names`` are its variables, the
    ``ends`` among them those from which it is cheap to start; with ``anchored`` it can start from
    a constant.
    """

    emit: Emit = field(compare=False)
    names: frozenset[Variable]
    ends: frozenset[Variable]
    anchored: bool


Unit: TypeAlias = Plain | Alone


def join(
    pattern: Pattern,
    units: Iterable[Unit],
    bound: set[Variable],
    wanted: set[Variable],
    settle: Callable[[Pattern], Pattern],
    fresh: Callable[[str], Variable],
) -> Pattern:
    """A pattern joined with all units of a segment; ``bound`` gains what they bind.

    ``wanted`` are the variables whose values matter outside; of what stands apart from them,
    existence is enough. ``settle`` is called where something new is bound, before it is
    multiplied by what follows.
    """
    components = _components([unit for unit in units if isinstance(unit, Plain)])
    alone = [unit for unit in units if isinstance(unit, Alone)]
    shared = wanted.union(bound, *(unit.names for unit in alone))
    for apart in [c for c in components if _is_apart(c, shared)]:
        if len(components) + len(alone) > 1 or pattern != UNIT:
            components.remove(apart)
            pattern = _where_exists(pattern, apart, fresh)
    while components or alone:
        component = _connected(components, bound)
        leaning = next((u for u in alone if u.anchored or u.ends & bound), None)
        if component is None and leaning is None:
            component = min(components, key=_anchor, default=None)
            leaning = alone[0] if component is None else None
        if component is not None:
            components.remove(component)
            pattern = _join_triples(pattern, component, bound)
        else:
            assert leaning is not None
            alone.remove(leaning)
            pattern = leaning.emit(pattern, bound)
        pattern = settle(pattern)
    return pattern


def _is_apart(component: list[TriplePattern], shared: set[Variable]) -> bool:
    """Whether nobody looks at a component; one with a constant is cheap as it is."""
    return not variables(tuple(component)) & shared and _anchor(component) > 0


def _where_exists(
    pattern: Pattern, component: list[TriplePattern], fresh: Callable[[str], Variable]
) -> Pattern:
    """A pattern where a component has a match at all: not without one."""
    without = AntiJoin(UNIT, BGP(tuple(component)), (), fresh("missing"))
    return AntiJoin(pattern, without, (), fresh("found"))


def lateral(left: Pattern, right: Pattern) -> Pattern:
    """A correlated join, or the right side alone where nothing stands before it."""
    return right if left == UNIT else Lateral(left, right)


def _components(units: list[Plain]) -> list[list[TriplePattern]]:
    """Triples that hang together by their variables."""
    components: list[tuple[set[Variable], list[TriplePattern]]] = []
    for unit in units:
        names, triples = variables(unit.triples), list(unit.triples)
        for component in [c for c in components if c[0] & names]:
            components.remove(component)
            names |= component[0]
            triples = component[1] + triples
        components.append((names, triples))
    return [triples for _, triples in components]


def _connected(
    components: list[list[TriplePattern]], bound: set[Variable]
) -> list[TriplePattern] | None:
    return next((c for c in components if variables(tuple(c)) & bound), None)


def _anchor(component: list[TriplePattern]) -> int:
    """How few matches the best triple of a component has: constant, name, type, free."""
    return min(map(_selectivity, component))


def _selectivity(triple: TriplePattern) -> int:
    if is_iri(triple.subject):
        return 0
    if triple.predicate == vocab.LABEL:
        return 1
    if is_iri(triple.object):
        return 2 if triple.predicate == vocab.TYPE else 0
    return 3


def _join_triples(pattern: Pattern, triples: list[TriplePattern], bound: set[Variable]) -> Pattern:
    """Add a component in groups of a size that the planner can order."""
    remaining = list(dict.fromkeys(triples))
    while remaining:
        group = remaining if len(remaining) <= TRIPLES_A_GROUP else _next_group(remaining, bound)
        pattern = lateral(pattern, BGP(tuple(group)))
        bound |= variables(tuple(group))
        remaining = [triple for triple in remaining if triple not in group]
    return pattern


def _next_group(triples: list[TriplePattern], bound: set[Variable]) -> list[TriplePattern]:
    """Up to sixteen triples that hang together, from the best anchor on."""
    group: list[TriplePattern] = []
    known = set(bound)
    rest = list(triples)
    while rest and len(group) < TRIPLES_A_GROUP:
        best = min(rest, key=lambda t: (not variables(t) & known, _selectivity(t)))
        group.append(best)
        known |= variables(best)
        rest.remove(best)
    return group
