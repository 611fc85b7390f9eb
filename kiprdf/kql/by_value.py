"""Finds elements by the order of a value: ranges, prefixes, and the page of an ORDER BY.

The store keeps elements in the order of the values of keys that were asked for often enough
(docs/decisions/154). Those in a range, or the first ones, are looked up as if the command named
them; where too many are in the range, the engine tests them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.budget import check
from kiprdf.kql import results
from kiprdf.kql.lookup import Fallback, LookupPlan, Reads, Solution, plan_lookup
from kiprdf.kql.newest import MOST_READS, Page, first_group, kind_of, plan_page, span
from kiprdf.kql.optimize.push_filters import NAMESPACES
from kiprdf.kql.results import Cells
from kiprdf.kql.translate import Translation
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.readings import read
from kiprdf.sparql import algebra
from kiprdf.sparql.algebra import (
    UNIT,
    Bindings,
    Condition,
    Count,
    Expression,
    Group,
    Hole,
    Infix,
    Pattern,
    TriplePattern,
    certain_variables,
    is_iri,
)
from kiprdf.store import Store
from kiprdf.store.base import Row
from kiprdf.store.sorted_values import Bounds, Scope, bounded, prefixed

LEAST_SHARE = 16
"""One of so many elements is looked up in the time in which the engine tests them all."""
READ_SHARE = 8
"""One read for so many elements may end without a page: half of what the engine takes."""
MOST_UNSORTED = 1_000
"""The elements in a range that are looked up and sorted, where a page is asked for."""
AT_ONCE = 256
Test: TypeAlias = tuple[str, Literal | Hole]
"""A condition on a value: the operator and the constant."""


@dataclass(frozen=True, slots=True)
class RangePlan:
    """An element that conditions on one of its values narrow; it is in the first slot."""

    element: Variable
    key: NamedNode
    kind: TriplePattern | None
    lookup: LookupPlan
    tests: tuple[Test, ...]

    def scope(self, iris: Iris, bindings: Bindings) -> Scope:
        return Scope(self.key, *span(self.kind, iris, bindings))

    def bounds(self, bindings: Bindings) -> Bounds | None:
        """Values among which are all for which the tests hold; None where that is unknown."""
        constants = [
            (name, read(cast(Literal, bindings[term] if isinstance(term, Hole) else term)))
            for name, term in self.tests
        ]
        ranges = [
            bounded(name, value)
            for name, value in constants
            if name != "STARTS_WITH" and isinstance(value, bool | int | float | str)
        ]
        # No array is in a range, but different items may begin with different texts.
        if not ranges:
            texts = [value for name, value in constants if name == "STARTS_WITH"]
            return prefixed(texts[0]) if texts and isinstance(texts[0], str) else None
        ranges = [bounds for bounds in ranges if bounds.kind == ranges[0].kind]
        lows = [bounds.low for bounds in ranges if bounds.low is not None]
        highs = [bounds.high for bounds in ranges if bounds.high is not None]
        return Bounds(ranges[0].kind, max(lows, default=None), min(highs, default=None))


@dataclass(frozen=True, slots=True)
class PageByValue:
    """The first rows in the order of a value of an element."""

    element: Variable
    key: NamedNode
    descending: bool
    page: Page

    def scope(self, iris: Iris, bindings: Bindings) -> Scope:
        return Scope(self.key, *span(self.page.kind, iris, bindings))


@dataclass(frozen=True, slots=True)
class ByValue:
    """How the rows of a WHERE are chosen by sorted values.

    At most ``limit`` elements of a range are looked up.
    """

    ranges: tuple[RangePlan, ...]
    page: PageByValue | None
    limit: int | None

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """Rows that are enough to answer; None where the engine must."""
        chosen = self._in_range(store, bindings)
        if chosen is None:
            return self._first(store, bindings)
        plan, iris, most = chosen
        _, *others = plan.lookup.filled(bindings)
        reads = Reads(store, most)
        solved: dict[Row, tuple[Solution, Row]] = {}
        try:
            for at in range(0, len(iris), AT_ONCE):
                check()
                starts: list[Solution] = [
                    [NamedNode(iri), *others] for iri in iris[at : at + AT_ONCE]
                ]
                for key, solution in plan.lookup.solve(starts, reads).items():
                    solved.setdefault(key, solution)
        except Fallback:
            return None
        return plan.lookup.result(solved)

    def _in_range(
        self, store: Store, bindings: Bindings
    ) -> tuple[RangePlan, list[str], int] | None:
        """The range with the fewest elements, these, and the most that may be read of them."""
        best: tuple[RangePlan, list[str], int] | None = None
        for plan in self.ranges:
            bounds = plan.bounds(bindings)
            values = store.sorted_values(plan.scope(store.iris, bindings))
            if values is None or bounds is None:
                continue
            most = values.size // LEAST_SHARE + 1
            if self.page is not None:
                most = min(most, MOST_UNSORTED)
            if self.limit is not None:
                most = min(most, self.limit)
            iris = values.between(bounds, most if best is None else min(most, len(best[1])))
            if iris is not None:
                best = plan, iris, max(values.size, 4 * MOST_UNSORTED)
        return best

    def _first(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """The rows of the page."""
        if self.page is None:
            return None
        values = store.sorted_values(self.page.scope(store.iris, bindings))
        if values is None:
            return None
        own = (self.page.element, self.page.key)
        same = next((plan for plan in self.ranges if (plan.element, plan.key) == own), None)
        bounds = None if same is None else same.bounds(bindings)
        if bounds is not None and values.has_others():
            bounds = None  # they are not sorted by what they are compared by
        walk = values.walk(self.page.descending, bounds)
        most = min(max(values.size // READ_SHARE, MOST_UNSORTED), MOST_READS)
        is_all = same is not None
        return self.page.page.fill(walk, store, bindings, most, is_all=is_all)

    def spend(self, store: Store, bindings: Bindings, seconds: float) -> None:
        """Note what the engine took to answer without the sorted values."""
        plans = (*self.ranges, *([self.page] if self.page else ()))
        for scope in dict.fromkeys(plan.scope(store.iris, bindings) for plan in plans):
            store.sorted_values(scope, seconds)


def plan_by_value(
    find: ast.Find | None,
    translation: Translation,
    pattern: Pattern,
    columns: tuple[Variable, ...],
    cells: Cells,
    counts: tuple[Count, ...],
    distinct: tuple[Variable, ...],
    needed: int | None,
    limit: int | None,
    iris: Iris,
) -> ByValue | None:
    """The plan of a WHERE; None without a condition or an order that sorted values can help.

    ``needed`` rows are on the page of an ORDER BY, or ``limit`` on one without.
    """
    group = first_group(pattern)
    if group is None or any(map(_names_element, group.parts)):
        return None
    constants = {variable for variable, _ in group.constants}
    tests: dict[tuple[Variable, NamedNode], list[Test]] = {}
    for name, variable, constant in _tests(pattern):
        value = translation.values.get(variable)
        if value is not None and value.field in NAMESPACES and value.node not in constants:
            key = NamedNode(NAMESPACES[value.field] + str(value.key))
            tests.setdefault((value.node, key), []).append((name, constant))
    ranges: list[RangePlan] = []
    certain = certain_variables(group)
    for (element, key), own in tests.items():
        lookup = plan_lookup(
            pattern, columns, distinct, counts, translation.values, iris, given=(element,)
        )
        if element in certain and lookup is not None:
            kind = kind_of(group, element)
            ranges.append(RangePlan(element, key, kind, lookup, tuple(own)))
    page: PageByValue | None = None
    first = None if find is None or needed is None else find.order_by[0]
    sorted_by = None if first is None else results.key_of(first.expression)
    if find is not None and needed is not None and first is not None and sorted_by is not None:
        rows = plan_page(find, translation, pattern, columns, cells, needed, iris)
        if rows is not None:
            element = translation.scope[results.variable_of(first.expression).name].carrier
            page = PageByValue(element, sorted_by, first.descending, rows)
    return ByValue(tuple(ranges), page, limit) if ranges or page else None


def _names_element(part: Pattern) -> bool:
    """Whether a part of a group names an element, from which the engine begins."""
    match part:
        case algebra.Hops():
            return is_iri(part.subject) or is_iri(part.object)
        case algebra.Union():
            return _names_element(part.branches[0])
        case algebra.BGP():
            return any(
                is_iri(triple.subject)
                or triple.predicate == vocab.LABEL
                or (is_iri(triple.object) and triple.predicate != vocab.TYPE)
                for triple in part.triples
            )
    return False


_TESTS = ("<", "<=", ">", ">=", "STARTS_WITH")


def _tests(pattern: Pattern) -> Iterator[tuple[str, Variable, Literal | Hole]]:
    """The comparisons of a value with a constant that hold for all solutions."""
    for condition in _conjuncts(_conditions(pattern)):
        match condition:
            case Condition(operands=(Variable() as value, Literal() | Hole() as constant)):
                if condition.name in _TESTS:
                    yield condition.name, value, constant


def _conditions(pattern: Pattern) -> Iterator[Expression]:
    """The conditions after the group that is evaluated first, and of it."""
    match pattern:
        case Group():
            yield from pattern.conditions
            if pattern.before != UNIT:
                yield from _conditions(pattern.before)
        case algebra.Lateral() | algebra.AntiJoin():
            yield from _conditions(pattern.left)
        case algebra.Filter():
            yield pattern.condition
            yield from _conditions(pattern.pattern)
        case algebra.Extend():
            yield from _conditions(pattern.pattern)


def _conjuncts(conditions: Iterable[Expression]) -> Iterator[Expression]:
    for condition in conditions:
        if isinstance(condition, Infix) and condition.operator == "&&":
            yield from _conjuncts(condition.operands)
        else:
            yield condition
