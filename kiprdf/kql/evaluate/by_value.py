"""Finds elements by the order of a value: ranges, prefixes, and the page of an ORDER BY.

The store keeps elements in the order of their last update (docs/decisions/048), and in that of the
values of keys that were asked for often enough (docs/decisions/154). Those in a range, or the first
ones, are looked up as if the command named them, until the rows fill the page. Where too many are
in the range, or a search grows too large, the engine tests all elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.budget import check
from kiprdf.dataclasses import dataclass
from kiprdf.kql import results
from kiprdf.kql.evaluate.reads import Fallback, Reads
from kiprdf.kql.evaluate.steps import LookupPlan, Solution
from kiprdf.kql.results import Cells
from kiprdf.kql.where import Where
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
    Term,
    TriplePattern,
    TripleTerm,
    certain_variables,
    is_iri,
)
from kiprdf.store import Store
from kiprdf.store.base import Row
from kiprdf.store.sorted_values import Bounds, Scope, bounded, prefixed
from kiprdf.store.update_times import Range

LEAST_SHARE = 16
"""One of so many elements is looked up in the time in which the engine tests them all."""
READ_SHARE = 8
"""One read for so many elements may end without a page: half of what the engine takes."""
MOST_UNSORTED = 1_000
"""The elements in a range that are looked up and sorted, where a page is asked for."""
MOST_READS = 10_000
"""Elements, triples and reads until the page is full, some 20 ms; sorting all rows takes 20 µs a
row."""
AT_ONCE = 256
_LAST = "\U0010ffff"
Test: TypeAlias = tuple[str, Literal | Hole]
"""A condition on a value: the operator and the constant."""
InOrder: TypeAlias = Iterable[tuple[object, bool, list[str]]]
"""Values in their order, whether elements that have one are tied, and their IRIs, sorted."""


@dataclass(frozen=True, slots=True)
class _Sorted:
    """An element with a value under a key, which is in the first slot of its ``lookup``.

    ``kind`` is the triple that narrows what it can be.
    """

    element: Variable
    key: NamedNode
    kind: TriplePattern | None
    lookup: LookupPlan

    def scope(self, iris: Iris, bindings: Bindings) -> Scope:
        return Scope(self.key, *_span(self.kind, iris, bindings))


@dataclass(frozen=True, slots=True)
class RangePlan(_Sorted):
    """An element that conditions on its value narrow."""

    tests: tuple[Test, ...]

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
class PagePlan(_Sorted):
    """The first rows of a WHERE whose order begins with a value of an element.

    ``shown`` are the cells of the projected variables, ``needed`` the number of rows that differ
    in them. Where ``is_ordered``, elements of one value are in the order of the rows.
    """

    descending: bool
    shown: tuple[int, ...]
    needed: int
    is_ordered: bool

    def fill(
        self,
        walk: InOrder,
        store: Store,
        bindings: Bindings,
        most_reads: int,
        *,
        is_all: bool = False,
    ) -> list[Row] | None:
        """Enough rows that surely sort before all others; None where that is not certain.

        With ``is_all`` no other elements can have rows.
        """
        _, *others = self.lookup.filled(bindings)
        _, end = _span(self.kind, store.iris, bindings)
        reads = Reads(store, most_reads)
        rows: list[Row] = []
        different: set[Row] = set()
        previous = None
        try:
            for value, is_tied, iris in walk:
                if value != previous and len(different) >= self.needed:
                    return rows
                previous = value
                reads.count(1)
                for iri in iris:
                    reads.count(1)
                    if not iri.endswith(end):
                        continue
                    for _, row in self.lookup.solve([[NamedNode(iri), *others]], reads).values():
                        rows.append(row)
                        different.add(tuple([row[cell] for cell in self.shown]))
                    if self.is_ordered and is_tied and len(different) >= self.needed:
                        return rows
        except Fallback:
            return None
        # Elements without a value may follow.
        return rows if is_all else None


@dataclass(frozen=True, slots=True)
class NewestPlan:
    """The newest rows of a WHERE."""

    page: PagePlan

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """Enough rows that surely sort before all others; None where that is not certain."""
        newest = store.newest(self._ranges(store.iris, bindings))
        walk = ((time, True, iris) for time, iris in newest)
        return self.page.fill(walk, store, bindings, MOST_READS)

    def _ranges(self, iris: Iris, bindings: Bindings) -> list[Range]:
        """The IRIs that the element can have."""
        links = (iris.propositions, iris.propositions + _LAST)
        start, _ = _span(self.page.kind, iris, bindings)
        if start or self.page.kind is None:
            return [(start, start + _LAST)]
        return [("", links[0]), (links[1], _LAST)]


@dataclass(frozen=True, slots=True)
class ByValue:
    """How the rows of a WHERE are chosen by sorted values.

    At most ``limit`` elements of a range are looked up.
    """

    ranges: tuple[RangePlan, ...]
    page: PagePlan | None
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
        return self.page.fill(walk, store, bindings, most, is_all=is_all)

    def spend(self, store: Store, bindings: Bindings, seconds: float) -> None:
        """Note what the engine took to answer without the sorted values."""
        plans = (*self.ranges, *([self.page] if self.page else ()))
        for scope in dict.fromkeys(plan.scope(store.iris, bindings) for plan in plans):
            store.sorted_values(scope, seconds)


def plan_newest(
    find: ast.Find, where: Where, columns: tuple[Variable, ...], cells: Cells, needed: int
) -> NewestPlan | None:
    """The plan of a FIND for ``needed`` rows; None where it must sort all of them."""
    key = find.order_by[0]
    path = results.path_of(key.expression)
    if path is None or path[1:] != ("metadata", vocab.UPDATED_AT) or not key.descending:
        return None
    page = _plan_page(find, where, columns, cells, needed)
    return None if page is None else NewestPlan(page)


def plan_by_value(
    find: ast.Find | None,
    where: Where,
    columns: tuple[Variable, ...],
    cells: Cells,
    counts: tuple[Count, ...],
    needed: int | None,
    limit: int | None,
) -> ByValue | None:
    """The plan of a WHERE; None without a condition or an order that sorted values can help.

    ``needed`` rows are on the page of an ORDER BY, or ``limit`` on one without.
    """
    group, values = _first_group(where.pushed), where.translation.values
    if group is None or any(map(_names_element, group.parts)):
        return None
    constants = {variable for variable, _ in group.constants}
    tests: dict[tuple[Variable, NamedNode], list[Test]] = {}
    for name, variable, constant in _tests(where.pushed):
        value = values.get(variable)
        key = None if value is None else value.predicate
        if value is not None and key is not None and value.node not in constants:
            tests.setdefault((value.node, key), []).append((name, constant))
    ranges: list[RangePlan] = []
    for (element, key), own in tests.items():
        kind, lookup = _plan_element(element, where, columns, counts)
        if lookup is not None:
            ranges.append(RangePlan(element, key, kind, lookup, tuple(own)))
    page = None
    if find is not None and needed is not None:
        page = _plan_page(find, where, columns, cells, needed)
    return ByValue(tuple(ranges), page, limit) if ranges or page else None


def _plan_page(
    find: ast.Find, where: Where, columns: tuple[Variable, ...], cells: Cells, needed: int
) -> PagePlan | None:
    """The first rows of a FIND by the element of its first key; None where they are not looked
    up, or it is not sorted by a value."""
    first = find.order_by[0]
    key, name = results.key_of(first.expression), results.variable_of(first.expression).name
    if key is None:
        return None
    element = where.translation.scope[name].carrier
    kind, lookup = _plan_element(element, where, columns)
    if lookup is None:
        return None
    names = list(dict.fromkeys(results.variable_of(e).name for e in find.expressions))
    is_ordered = len(find.order_by) == 1 and names[0] == name
    shown = tuple(cells.names[name] for name in names)
    return PagePlan(element, key, kind, lookup, first.descending, shown, needed, is_ordered)


def _plan_element(
    element: Variable, where: Where, columns: tuple[Variable, ...], counts: tuple[Count, ...] = ()
) -> tuple[TriplePattern | None, LookupPlan | None]:
    """What narrows an element, and the lookup that begins at it; None where there is none."""
    group = _first_group(where.pushed)
    # Only here may the element be bound before everything else.
    if group is None or element not in certain_variables(group):
        return None, None
    lookup = where.lookup(columns, counts, given=(element,))
    return _kind_of(group, element), lookup


def _span(kind: TriplePattern | None, iris: Iris, bindings: Bindings) -> tuple[str, str]:
    """What the IRI of an element of a kind begins and ends with, as far as that is known."""
    if kind is None:
        return "", ""
    if kind.predicate == vocab.REIFIES:
        fact = kind.object
        predicate = fact.predicate if isinstance(fact, TripleTerm) else None
        if not isinstance(predicate, NamedNode):
            return iris.propositions, ""
        return iris.propositions, f"/{predicate.value.removeprefix(iris.predicates)}"
    term = kind.object
    definition = bindings[term] if isinstance(term, Hole) else term
    if not isinstance(definition, NamedNode):
        return "", ""
    return f"{iris.base}{definition.value.removeprefix(iris.concept_types)}/", ""


def _first_group(pattern: Pattern) -> Group | None:
    """The group that is evaluated first, whose solutions all others extend or drop."""
    match pattern:
        case Group(before=before):
            return pattern if before == UNIT else _first_group(before)
        case algebra.Lateral() | algebra.AntiJoin():
            return _first_group(pattern.left)
        case algebra.Filter() | algebra.Extend():
            return _first_group(pattern.pattern)
    return None


def _kind_of(group: Group, element: Term) -> TriplePattern | None:
    """A triple of a group that shows whether an element is a concept, of a type, or a link."""
    triples = (
        triple for part in group.parts if isinstance(part, algebra.BGP) for triple in part.triples
    )
    own = [t for t in triples if t.subject == element and t.predicate in vocab.IDENTITY]
    return min(own, key=lambda triple: isinstance(triple.object, Variable), default=None)


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
