"""Finds elements by the order of a value: ranges, prefixes, and the page of an ORDER BY.

The store keeps elements in the order of their last update (docs/decisions/048), and in that of the
values of keys that were asked for often enough (docs/decisions/154). Those in a range, or the first
ones, are looked up as if the command named them, until the rows fill the page. Where too many are
in the range, or a search grows too large, the engine tests all elements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.budget import check, paced
from kiprdf.dataclasses import dataclass
from kiprdf.kql import results
from kiprdf.kql.evaluate.reads import Fallback, Reads
from kiprdf.kql.evaluate.steps import LookupPlan, Solution
from kiprdf.kql.results import Cells
from kiprdf.kql.where import Where
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
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
from kiprdf.store.sorted_values import Bounds, Scope, SortedValues, UnreadableError, bounded
from kiprdf.store.update_times import Range

LEAST_SHARE = 16
"""One of so many elements is looked up in the time in which the engine tests them all."""
LEAST_SHARE_OF_PLAIN = 4
"""The same where the values need not be read."""
MOST_LISTED = 1_000_000
"""Rows that are read at once: a budget allows no more, unless its limit was raised."""
READ_SHARE = 8
"""One read for so many elements may end without a page: half of what the engine takes."""
MOST_UNSORTED = 1_000
"""The elements in a range that are looked up and sorted, where a page is asked for."""
MOST_READS = 10_000
"""Elements, triples and reads until the page is full, some 20 ms; sorting all rows takes 20 µs a
row."""
AT_ONCE = 256
_ELEMENT, _VALUE, _SUBJECT, _OBJECT = range(4)
"""What a cell of a row is: an element, its value, or an end of its fact."""
_LAST = "\U0010ffff"
InOrder: TypeAlias = Iterable[tuple[object, bool, list[str]]]
"""Values in their order, whether elements that have one are tied, and their IRIs, sorted."""


@dataclass(frozen=True, slots=True)
class _Keyed:
    """An element with a value under a key; ``kind`` is the triple that narrows what it can be."""

    element: Variable
    key: NamedNode
    kind: TriplePattern | None

    def scope(self, iris: Iris, bindings: Bindings) -> Scope:
        return Scope(self.key, *_span(self.kind, iris, bindings))


@dataclass(frozen=True, slots=True)
class _Tested(_Keyed):
    """An element that conditions on its value narrow."""

    tests: tuple[Condition, ...]

    def bounds(self, bindings: Bindings, is_plain: bool) -> Bounds | None:
        """Values among which are all for which the tests hold; None where that is unknown.

        With ``is_plain``, no values are arrays, or texts with a language.
        """
        constants = [
            (test.name, read(cast(Literal, bindings[term] if isinstance(term, Hole) else term)))
            for test in self.tests
            for term in test.operands[1:]
        ]
        every = [
            (name, bounded(name, value))
            for name, value in constants
            if isinstance(value, str if name == "STARTS_WITH" else bool | int | float | str)
        ]
        if not is_plain:
            # No array is in a range, but different items may begin with different texts.
            compared = [each for each in every if each[0] not in ("==", "STARTS_WITH")]
            every = compared or [each for each in every if each[0] == "STARTS_WITH"][:1]
        if not every:
            return None
        own = [bounds for _, bounds in every if bounds.kind == every[0][1].kind]
        is_exact = is_plain and len(own) == len(self.tests) and all(b.is_exact for b in own)
        return Bounds(own[0].kind, tuple(test for b in own for test in b.tests), is_exact)


@dataclass(frozen=True, slots=True)
class RangePlan(_Tested):
    """An element in the first slot of its ``lookup``; ``rest`` is what of it plain values leave."""

    lookup: LookupPlan
    rest: LookupPlan


@dataclass(frozen=True, slots=True)
class ValuesPlan(_Tested):
    """A WHERE of which the values of a key are all that must be read.

    ``cells`` are what a row has. Rows that ``are_counted`` have a value, or nothing, and the number
    of its elements.
    """

    cells: tuple[int, ...]
    are_counted: bool

    def rows(self, store: Store, bindings: Bindings, most: int) -> list[Row] | None:
        """The rows; None for more than ``most``, and where the engine must answer."""
        values = store.sorted_values(self.scope(store.iris, bindings))
        bounds = self.bounds(bindings, is_plain=True)
        is_exact = not self.tests or (bounds is not None and bounds.is_exact)
        if values is None or not is_exact or values.has_others():
            return None
        if self.are_counted:
            return self._counted(values, bounds, store, bindings)
        if bounds is None:
            return None
        if self.cells == (_ELEMENT,):
            iris = values.between(bounds, most)
            return None if iris is None else [(NamedNode(iri),) for iri in iris]
        pairs = values.valued(bounds, most)
        if pairs is None:
            return None
        cells = self.cells
        if max(cells) <= _VALUE:
            return [
                tuple([value if cell else NamedNode(iri) for cell in cells]) for iri, value in pairs
            ]
        rows: dict[Row, None] = {}  # an end may have several links
        for iri, value in paced(pairs):
            node = NamedNode(iri)
            fact: Any = store.lookup(node, vocab.REIFIES, None, 1)[0].object
            row = node, value, fact.subject, fact.object
            rows[tuple([row[cell] for cell in cells])] = None
        return list(rows)

    def _counted(
        self, values: SortedValues, bounds: Bounds | None, store: Store, bindings: Bindings
    ) -> list[Row] | None:
        if not self.cells:
            number = values.number(bounds)
            return None if number is None else [(Literal(number),)]
        tally = values.tally(bounds, MOST_LISTED)
        if tally is None:
            return None
        rows: list[Row] = [(value, Literal(number)) for value, number in tally]
        if bounds is None:
            number = number_of(cast(TriplePattern, self.kind), store, bindings)
            if number is None:
                return None
            others = number - sum(number for _, number in tally)
            rows += [(None, Literal(others))] if others else []
        return rows


@dataclass(frozen=True, slots=True)
class NumberPlan:
    """A WHERE that asks for the number of the elements of a type, or of the facts of a predicate;
    ``kind`` is the triple that each of them has."""

    kind: TriplePattern

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        number = number_of(self.kind, store, bindings)
        return None if number is None else [(Literal(number),)]


@dataclass(frozen=True, slots=True)
class PagePlan(_Keyed):
    """The first rows of a WHERE whose order begins with a value of an element.

    That is in the first slot of the ``lookup``. ``shown`` are the cells of the projected variables,
    ``needed`` the number of rows that differ in them. Where ``is_ordered``, elements of one value
    are in the order of the rows.
    """

    lookup: LookupPlan
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
        except (Fallback, UnreadableError):
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

    At most ``limit`` elements of a range are looked up. ``whole`` needs nothing but the values.
    """

    whole: ValuesPlan | NumberPlan | None
    ranges: tuple[RangePlan, ...]
    page: PagePlan | None
    limit: int | None

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """Rows that are enough to answer; None where the engine must."""
        if isinstance(self.whole, NumberPlan):
            return self.whole.rows(store, bindings)
        if self.whole is not None and self.page is None:
            rows = self.whole.rows(store, bindings, self.limit or MOST_LISTED)
            if rows is not None:
                return rows
        chosen = self._in_range(store, bindings)
        if chosen is None:
            return self._first(store, bindings)
        lookup, iris, most = chosen
        _, *others = lookup.filled(bindings)
        reads = Reads(store, most)
        solved: dict[Row, tuple[Solution, Row]] = {}
        try:
            for at in range(0, len(iris), AT_ONCE):
                check()
                starts: list[Solution] = [
                    [NamedNode(iri), *others] for iri in iris[at : at + AT_ONCE]
                ]
                for key, solution in lookup.solve(starts, reads).items():
                    solved.setdefault(key, solution)
        except Fallback:
            return None
        return lookup.result(solved)

    def _in_range(
        self, store: Store, bindings: Bindings
    ) -> tuple[LookupPlan, list[str], int] | None:
        """The lookup of the range with the fewest elements, these, and the most that it reads."""
        best: tuple[LookupPlan, list[str], int] | None = None
        for plan in self.ranges:
            values = store.sorted_values(plan.scope(store.iris, bindings))
            if values is None:
                continue
            bounds = plan.bounds(bindings, is_plain=not values.has_others())
            if bounds is None:
                continue
            most = values.size // (LEAST_SHARE_OF_PLAIN if bounds.is_exact else LEAST_SHARE) + 1
            if self.page is not None:
                most = min(most, MOST_UNSORTED)
            if self.limit is not None:
                most = min(most, self.limit)
            iris = values.between(bounds, most if best is None else min(most, len(best[1])))
            if iris is not None:
                lookup = plan.rest if bounds.is_exact else plan.lookup
                best = lookup, iris, max(values.size, 4 * MOST_UNSORTED)
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
        bounds = None
        if same is not None and not values.has_others():
            # Others are not sorted by what they are compared by.
            bounds = same.bounds(bindings, is_plain=True)
        walk = values.walk(self.page.descending, bounds)
        most = min(max(values.size // READ_SHARE, MOST_UNSORTED), MOST_READS)
        is_all = same is not None
        return self.page.fill(walk, store, bindings, most, is_all=is_all)

    def spend(self, store: Store, bindings: Bindings, seconds: float) -> None:
        """Note what the engine took to answer without the sorted values."""
        plans: list[_Keyed] = [*self.ranges, *([self.page] if self.page else ())]
        scopes = [plan.scope(store.iris, bindings) for plan in plans]
        whole = self.whole
        if isinstance(whole, ValuesPlan):
            scopes.append(whole.scope(store.iris, bindings))
        if whole is not None and whole.kind is not None:
            needs_number = isinstance(whole, NumberPlan) or (whole.are_counted and not whole.tests)
            if needs_number and number_of(whole.kind, store, bindings) is None:
                scopes.append(members(whole.kind, store.iris, bindings))
        for scope in dict.fromkeys(scopes):
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
    tests: dict[tuple[Variable, NamedNode], list[Condition]] = {}
    for test in _tests(where.pushed):
        value = values.get(cast(Variable, test.operands[0]))
        key = None if value is None else value.predicate
        if value is not None and key is not None and value.node not in constants:
            tests.setdefault((value.node, key), []).append(test)
    ranges: list[RangePlan] = []
    for (element, key), own in tests.items():
        if all(test.name == "==" for test in own):
            continue  # the engine finds these
        kind, lookup = _plan_element(element, where, columns, counts)
        if lookup is not None:
            pattern = _without(where.pushed, kind, own)
            rest = where.lookup(columns, counts, given=(element,), pattern=pattern)
            ranges.append(RangePlan(element, key, kind, tuple(own), lookup, rest or lookup))
    page = None
    if find is not None and needed is not None:
        page = _plan_page(find, where, columns, cells, needed)
    whole = _plan_whole(where, columns, counts, tests)
    return ByValue(whole, tuple(ranges), page, limit) if whole or ranges or page else None


def _plan_whole(
    where: Where,
    columns: tuple[Variable, ...],
    counts: tuple[Count, ...],
    tests: Mapping[tuple[Variable, NamedNode], list[Condition]],
) -> ValuesPlan | NumberPlan | None:
    """The plan of a WHERE that says only what an element is, and how a value of it compares."""
    group = where.pushed
    if not isinstance(group, Group) or group.before != UNIT or group.constants or len(tests) > 1:
        return None
    kind = _only_kind(group, where.iris)
    is_number = len(counts) == 1 and counts[0].variable is None
    if kind is None or (counts and not is_number):
        return None
    if not (columns or group.conditions):
        return NumberPlan(kind)
    element, values = cast(Variable, kind.subject), where.translation.values
    places: dict[Term, int] = {element: _ELEMENT}
    if isinstance(kind.object, TripleTerm) and not counts:
        places |= {kind.object.subject: _SUBJECT, kind.object.object: _OBJECT}
    cells = tuple([places.get(column, _VALUE) for column in columns])
    read = [values.get(column) for column in columns if column not in places]
    keys = {(value.node, value.predicate) for value in read if value}.union(tests)
    if None in read or len(keys) != 1 or kind.predicate not in vocab.IDENTITY:
        return None
    ((of, key),) = keys
    own = next(iter(tests.values()), [])
    if of != element or key is None or len(own) < len(list(_conjuncts(group.conditions))):
        return None
    if _ELEMENT in cells if counts else not own:
        return None
    return ValuesPlan(element, key, kind, tuple(own), cells, bool(counts))


def _only_kind(group: Group, iris: Iris) -> TriplePattern | None:
    """The triple that shows what an element is, where a group says nothing else."""
    triples = set(_triples(group))
    links = [triple for triple in triples if isinstance(triple.object, TripleTerm)]
    facts = {cast(TripleTerm, link.object).asserted for link in links} or triples
    if (
        len(facts) != 1
        or len(links) > 1
        or not all(isinstance(p, algebra.BGP) for p in group.parts)
    ):
        return None
    (fact,) = facts
    if fact.predicate == vocab.TYPE:
        return fact if isinstance(fact.subject, Variable) and is_iri(fact.object) else None
    (kind,) = links or [fact]
    is_named = isinstance(fact.predicate, NamedNode) and fact.predicate.value.startswith(
        iris.predicates
    )
    is_open = len(kind.names) == 2 + len(links)
    return kind if is_named and is_open and triples <= {fact, kind} else None


def _triples(group: Group) -> Iterator[TriplePattern]:
    for part in group.parts:
        if isinstance(part, algebra.BGP):
            yield from part.triples


def _without(
    pattern: Pattern, kind: TriplePattern | None, conditions: Collection[Expression]
) -> Pattern:
    """A WHERE without the type of an element, and some conditions, in its first group."""
    match pattern:
        case Group() if pattern.before == UNIT:
            parts = pattern.parts
            # Links may have the key, too: only a named type is left out.
            if kind is not None and kind.predicate == vocab.TYPE and is_iri(kind.object):
                parts = tuple(
                    algebra.BGP(tuple([triple for triple in part.triples if triple != kind]))
                    if isinstance(part, algebra.BGP)
                    else part
                    for part in parts
                )
            return replace(
                pattern,
                parts=parts,
                conditions=tuple([c for c in pattern.conditions if c not in conditions]),
                starts=tuple([s for s in pattern.starts if s.condition not in conditions]),
            )
        case Group():
            return replace(pattern, before=_without(pattern.before, kind, conditions))
        case algebra.Lateral() | algebra.AntiJoin():
            return replace(pattern, left=_without(pattern.left, kind, conditions))
        case algebra.Filter() | algebra.Extend():
            return replace(pattern, pattern=_without(pattern.pattern, kind, conditions))
    return pattern


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


def scanned(where: Where) -> tuple[TriplePattern, ...]:
    """The triples of a WHERE that say what an element is, or what facts there are."""
    group, predicates = _first_group(where.pushed), where.iris.predicates
    triples = () if group is None else _triples(group)
    return tuple(
        [
            triple
            for triple in triples
            if triple.predicate in vocab.IDENTITY
            or (
                isinstance(triple.predicate, NamedNode)
                and triple.predicate.value.startswith(predicates)
            )
        ]
    )


def number_of(kind: TriplePattern, store: Store, bindings: Bindings) -> int | None:
    """How many elements have the triple that shows their kind; None where that is not kept."""
    scope, totals = members(kind, store.iris, bindings), store.totals()
    if totals is not None:
        of = None
        if scope.start:
            of, _ = cast(ConceptName, store.iris.name(f"{scope.start}_"))
        number = totals.number(store.commit(), scope.key.value, of)
        if number is not None:
            return number
    values = store.sorted_values(scope)
    return None if values is None else values.number()


def members(kind: TriplePattern, iris: Iris, bindings: Bindings) -> Scope:
    """A scope in which each element of a kind is once: those of a type, or facts by their ends."""
    if kind.predicate == vocab.TYPE:
        return Scope(vocab.TYPE, *_span(kind, iris, bindings))
    fact = kind.object.asserted if isinstance(kind.object, TripleTerm) else kind
    return Scope(fact.predicate if isinstance(fact.predicate, NamedNode) else vocab.REIFIES)


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
    triples = _triples(group)
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


_TESTS = ("==", "<", "<=", ">", ">=", "STARTS_WITH")


def _tests(pattern: Pattern) -> Iterator[Condition]:
    """The comparisons of a value with a constant that hold for all solutions."""
    for condition in _conjuncts(_conditions(pattern)):
        match condition:
            case Condition(operands=(Variable(), Literal() | Hole())):
                if condition.name in _TESTS:
                    yield condition


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
