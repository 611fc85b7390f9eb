"""Which part of a group comes first, and where each condition is applied.

The engine orders the triples inside a BGP well, and nothing across a barrier; a path, a reified
alternative or a predicate variable in a BGP with a type clause makes it scan the type. So plain
triples go together, every other part is isolated, and each comes when what it leans on is bound
(docs/decisions/006).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

from pyoxigraph import Variable

from kiprdf.dataclasses import dataclass
from kiprdf.kql.optimize.hops import expand_hops
from kiprdf.kql.scopes import Namer, Value, Values, read_by
from kiprdf.kql.translate import lateral
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Alternative,
    AntiJoin,
    Expression,
    Extend,
    Filter,
    Group,
    Hops,
    In,
    OneOf,
    Pattern,
    TriplePattern,
    TripleTerm,
    Union,
    is_iri,
    map_patterns,
    variables,
)
from kiprdf.trees import parts

TRIPLES_A_GROUP = 16
"""Planning time grows steeply with the triples of one group: 192 in one take seven seconds."""


def order_joins(pattern: Pattern, needed: set[Variable], values: Values, namer: Namer) -> Pattern:
    """A pattern without groups that has the same distinct values of the ``needed`` variables."""
    return _Order(values, namer).pattern(pattern, set(), needed)


@dataclass(frozen=True, slots=True)
class IsolatedUnit:
    """A part that needs its own group; from its ``ends`` it is cheap to start.

    It ``is_typed`` where it is the elements of some types.
    """

    part: Pattern
    ends: tuple[object, ...]
    is_typed: bool = False

    def is_ready(self, bound: set[Variable]) -> bool:
        """Whether it can start from a constant or from what is bound."""
        return any(is_iri(end) or end in bound for end in self.ends)


class _Order:
    def __init__(self, values: Mapping[Variable, Value], namer: Namer) -> None:
        self._values = values
        self._fresh = namer.fresh

    def pattern(self, pattern: Pattern, bound: set[Variable], needed: set[Variable]) -> Pattern:
        """A pattern that sees the ``bound`` variables."""

        def visit(part: Pattern, before: Pattern, others: object) -> Pattern:
            return self.pattern(
                part, bound | variables(before), needed | read_by(others, self._values)
            )

        pattern = map_patterns(pattern, visit)
        if not isinstance(pattern, Group):
            return pattern
        return self._group(pattern, bound | variables(pattern.before), needed)

    def _group(self, group: Group, bound: set[Variable], needed: set[Variable]) -> Pattern:
        conditions = _Conditions(group, [(c, read_by(c, self._values)) for c in group.conditions])
        starts = list(group.starts)
        components = _components([p for p in group.parts if _is_plain(p)])
        isolated = [_isolated(part) for part in group.parts if not _is_plain(part)]
        shared = (
            needed | bound | read_by((group.conditions, [u.part for u in isolated]), self._values)
        )
        shared |= set().union(*(variables(unit.part) for unit in isolated))
        pattern = group.before
        for unread in [c for c in components if _is_unread(c, shared)]:
            if len(components) + len(isolated) > 1 or pattern != UNIT:
                components.remove(unread)
                pattern = self._where_exists(pattern, unread)
        while components or isolated:
            component = next((c for c in components if variables(tuple(c)) & bound), None)
            unit = next((u for u in isolated if u.is_ready(bound)), None)
            if component is None and unit is None:
                component = min(components, key=_best_selectivity, default=None)
                start = next((s for s in starts if not s.triple.names <= bound), None)
                is_free = component is None or _best_selectivity(component) > 1
                if start is not None and (is_free or start.first):
                    starts.remove(start)
                    pattern = lateral(pattern, BGP((start.triple,)))
                    bound = bound | start.triple.names
                    conditions.drop(start.condition)
                    components = [_without_facts(c, bound) for c in components]
                    continue
                typed = next((u for u in isolated if u.is_typed), None)
                # The elements of some types are fewer than those of a fact.
                if typed and (component is None or _best_selectivity(component) > 2):
                    component, unit = None, typed
                elif component is None:
                    unit = isolated[0]
            if component is not None:
                components.remove(component)
                pattern = _join_triples(pattern, component, bound)
                bound = bound | variables(tuple(component))
            else:
                assert unit is not None
                isolated.remove(unit)
                pattern = self._join_isolated(pattern, unit.part, bound)
                bound = bound | variables(unit.part)
            pattern = conditions.apply_ready(pattern, bound)
        for variable, term in group.constants:
            pattern = Extend(pattern, variable, term)
        return conditions.apply_rest(pattern)

    def _join_isolated(self, pattern: Pattern, part: Pattern, bound: set[Variable]) -> Pattern:
        if isinstance(part, Hops):
            return expand_hops(pattern, part, bound, self._fresh)
        triple = _types(part)
        if triple is None or not (is_iri(triple.subject) or triple.subject in bound):
            return lateral(pattern, part)
        # The one type of an element is compared faster than it is looked for.
        definition = self._fresh("type")
        checked = lateral(pattern, BGP((replace(triple, object=definition),)))
        return Filter(checked, In(definition, cast(OneOf, triple.object).terms))

    def _where_exists(self, pattern: Pattern, component: list[TriplePattern]) -> Pattern:
        """A pattern where a component has a match at all: not without one."""
        without = AntiJoin(UNIT, BGP(tuple(component)), (), self._fresh("missing"))
        return AntiJoin(pattern, without, (), self._fresh("found"))


class _Conditions:
    """The conditions of a group that are still to be applied, with what they read."""

    def __init__(self, group: Group, conditions: list[tuple[Expression, set[Variable]]]) -> None:
        self._waiting = conditions
        self._names = variables((group.parts, group.constants))
        # Constants are bound after the joins; a link that may be null brings its values.
        links = {part.link for part in group.parts if isinstance(part, Hops)}
        self._late = links | {variable for variable, _ in group.constants}

    def drop(self, condition: Expression) -> None:
        """Leave out a condition that holds anyway."""
        self._waiting = [waiting for waiting in self._waiting if waiting[0] != condition]

    def apply_ready(self, pattern: Pattern, bound: set[Variable]) -> Pattern:
        """Apply what can be judged, before it is multiplied by what follows."""
        for waiting in list(self._waiting):
            condition, read = waiting
            if read & self._names <= bound - self._late:
                pattern = Filter(pattern, condition)
                self._waiting.remove(waiting)
        return pattern

    def apply_rest(self, pattern: Pattern) -> Pattern:
        for condition, _ in self._waiting:
            pattern = Filter(pattern, condition)
        return pattern


def _is_plain(part: Pattern) -> bool:
    """Whether the triples of a part may share a BGP with others."""
    return isinstance(part, BGP) and not any(
        isinstance(triple.predicate, Alternative | Variable) or isinstance(triple.object, OneOf)
        for triple in part.triples
    )


def _types(part: Pattern) -> TriplePattern | None:
    """The triple of a part that is the elements of some types."""
    match part:
        case BGP((TriplePattern(predicate=vocab.TYPE, object=OneOf()) as triple,)):
            return triple
    return None


def _isolated(part: Pattern) -> IsolatedUnit:
    if isinstance(part, Hops):
        return IsolatedUnit(part, (part.subject, part.object))
    first = part.branches[0] if isinstance(part, Union) else part
    assert isinstance(first, BGP)
    # From a link, its fact is found, too.
    # From a type, too much is found.
    ends = [t.object for t in first.triples[:1] if t.predicate != vocab.TYPE]
    is_typed = _types(part) is not None
    return IsolatedUnit(part, (*ends, *(t.subject for t in first.triples)), is_typed)


def _components(parts: Iterable[Pattern]) -> list[list[TriplePattern]]:
    """Triples that hang together by their variables."""
    components: list[tuple[set[Variable], list[TriplePattern]]] = []
    for part in parts:
        assert isinstance(part, BGP)
        names, triples = variables(part), list(part.triples)
        for component in [c for c in components if c[0] & names]:
            components.remove(component)
            names |= component[0]
            triples = component[1] + triples
        components.append((names, triples))
    return [triples for _, triples in components]


def _without_facts(component: list[TriplePattern], links: set[Variable]) -> list[TriplePattern]:
    """A component without the facts of links that are bound: each link has its fact."""
    facts = {
        triple.object.asserted
        for triple in component
        if triple.subject in links and isinstance(triple.object, TripleTerm)
    }
    return [triple for triple in component if triple not in facts]


def _is_unread(component: list[TriplePattern], shared: set[Variable]) -> bool:
    """Whether nothing reads a component; one with a constant is cheap as it is."""
    return not variables(tuple(component)) & shared and _best_selectivity(component) > 0


def _best_selectivity(component: list[TriplePattern]) -> int:
    """How few matches the best triple of a component has: constant, name, type, free."""
    return min(map(selectivity, component))


def selectivity(triple: TriplePattern) -> int:
    """How few matches a triple has: constant, name, type, free."""
    if is_iri(triple.subject):
        return 0
    if triple.predicate == vocab.LABEL:
        return 1
    if is_iri(triple.object):
        return 2 if triple.predicate == vocab.TYPE else 0
    return 3


def _join_triples(pattern: Pattern, triples: list[TriplePattern], bound: set[Variable]) -> Pattern:
    """Add a component in groups of a size that the planner can order.

    Facts about facts are fewer than the facts that they are about. The engine does not know that:
    where nothing is more selective than a type, they get a group of their own, before the others.
    """
    remaining = list(dict.fromkeys(triples))
    if _best_selectivity(remaining) > 1 and not variables(tuple(remaining)) & bound:
        outer = _outer_facts(remaining)
        if outer:
            pattern = lateral(pattern, BGP(tuple(outer)))
            bound = bound | variables(tuple(outer))
            remaining = [triple for triple in remaining if triple not in outer]
    while remaining:
        group = remaining if len(remaining) <= TRIPLES_A_GROUP else _next_group(remaining, bound)
        pattern = lateral(pattern, BGP(tuple(group)))
        bound = bound | variables(tuple(group))
        remaining = [triple for triple in remaining if triple not in group]
    return pattern


def _outer_facts(triples: list[TriplePattern]) -> list[TriplePattern]:
    """The facts about facts, which no other fact is about, with their reifiers."""
    links = {t.object: t.subject for t in triples if isinstance(t.object, TripleTerm)}
    facts = {TripleTerm(*parts(t)) for t in triples if t.object not in links}
    about = {fact for fact in facts if {fact.subject, fact.object} & set(links.values())}
    ends = {end for fact in facts for end in (fact.subject, fact.object)}
    outer = {fact for fact in about if links.get(fact) not in ends}
    return [t for t in triples if t.object in outer or TripleTerm(*parts(t)) in outer]


def _next_group(triples: list[TriplePattern], bound: set[Variable]) -> list[TriplePattern]:
    """Up to sixteen triples that hang together, from the most selective one on."""
    group: list[TriplePattern] = []
    reached = set(bound)
    rest = list(triples)
    while rest and len(group) < TRIPLES_A_GROUP:
        best = min(rest, key=lambda t: (not variables(t) & reached, selectivity(t)))
        group.append(best)
        reached |= variables(best)
        rest.remove(best)
    return group
