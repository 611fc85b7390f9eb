"""A compiled FIND: what it reads from the store, as a lookup and as SPARQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Protocol, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.budget import WIDTH
from kiprdf.dataclasses import dataclass
from kiprdf.kql import results
from kiprdf.kql.clauses import names_only_elements
from kiprdf.kql.comparisons import Datatypes, KeyDatatypes
from kiprdf.kql.cover import Cover, SortedValue, cover, sorted_by
from kiprdf.kql.entailment import STATED, Sight
from kiprdf.kql.evaluate.by_value import (
    ByValue,
    NewestPlan,
    plan_by_value,
    plan_newest,
    scanned,
)
from kiprdf.kql.evaluate.steps import LookupPlan
from kiprdf.kql.optimize.cardinality import (
    is_anchored,
    may_duplicate,
    named_elements_with_value,
    without_unread_links,
)
from kiprdf.kql.optimize.deadlines import add_deadline_checks
from kiprdf.kql.queries import as_kept
from kiprdf.kql.results import Cells, variable_of
from kiprdf.kql.translate import Path, Translation, translate
from kiprdf.kql.where import Where
from kiprdf.language import ast
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.vocab import query_prefixes
from kiprdf.semantics.arguments import page_size
from kiprdf.sparql.abilities import EMBEDDED, Abilities
from kiprdf.sparql.algebra import (
    BGP,
    Bindings,
    Count,
    Pattern,
    Select,
    SortKey,
    Term,
    TriplePattern,
    certain_variables,
    variables,
)
from kiprdf.sparql.text import PreparedQuery, prepare
from kiprdf.store import Store
from kiprdf.store.base import Row


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of another engine, given the datatypes under some keys.

    ``rows`` of the query are those of the plan where it ``is_pushed``, without ``fixed`` variables.
    """

    datatypes: list[Datatypes]
    cover: Cover
    select: Select | None
    is_pushed: bool
    texts: dict[int | None, PreparedQuery] = field(default_factory=dict)


class IndexPlan(Protocol):
    """A way to the rows without a query."""

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """Rows that are enough to answer; None where another way must be taken."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What the rows of a WHERE are: by index, and as a query; each is made when first needed.

    ``cells`` are what a row holds. The store cuts the page to ``limit`` where it is
    given. ``counts`` are what the store counts instead of listing solutions. ``width`` is how many
    variables a solution has, counted ones included. Of an ordered ``find`` no more than ``needed``
    different rows are shown.
    """

    where: Where
    cells: Cells
    width: int
    limit: int | None = None
    offset: int = 0
    counts: tuple[Count, ...] = ()
    find: ast.Find | None = None
    needed: int | None = None
    _questions: list[Question] = field(default_factory=list, init=False)
    """The last one."""
    _texts: dict[int | None, PreparedQuery] = field(default_factory=dict, init=False)
    rarest: dict[tuple[object, ...], Plan] = field(default_factory=dict, init=False)
    """By commit and constants, the plan that starts from what has fewest matches."""
    suited: dict[int, Plan] = field(default_factory=dict, init=False)
    """By commit, the plan that finds by index what its dataset allows; that of the last one."""
    _variants: dict[object, Plan] = field(default_factory=dict, init=False)

    @property
    def translation(self) -> Translation:
        return self.where.translation

    @property
    def abilities(self) -> Abilities:
        return self.where.abilities

    @cached_property
    def rendering(self) -> results.Rendering:
        """How the rows of a FIND are shown."""
        assert self.find is not None
        return results.Rendering(self.find, self.cells)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The SPARQL variables of a row: nodes, then the values that come with them."""
        return (*self.where.carriers(self.cells.names), *self.translation.projected.values())

    # By index ---------------------------------------------------------------------------------

    @cached_property
    def indexed(self) -> tuple[IndexPlan, ...]:
        """The ways that are tried before the query, in this order."""
        return tuple(way for way in (self.lookup, self.newest, self.by_value) if way is not None)

    @cached_property
    def lookup(self) -> LookupPlan | None:
        """None where there is none, and for later pages: their order is the engine's."""
        if self.offset or not self.abilities.lookups:
            return None
        return self.where.lookup(self.variables, self.counts)

    @cached_property
    def walk(self) -> LookupPlan:
        """The rows without a query, however many are read; for hops over what is believed."""
        plan = self._without_values.lookup(self.variables, self.counts, is_complete=True)
        return cast(LookupPlan, plan)

    @cached_property
    def anchored(self) -> LookupPlan | None:
        """The rows by reads that begin at the elements that it names, on any store; None where
        there are none, or some conditions need an engine."""
        return self._without_values.lookup(self.variables, self.counts)

    @cached_property
    def _without_values(self) -> Where:
        """The WHERE without a search for values."""
        return replace(self.where, abilities=replace(self.abilities, lookups=False))

    @cached_property
    def newest(self) -> NewestPlan | None:
        """None where the order is not by the time of update, the last one first."""
        where = self.where
        if self.find is None or self.needed is None or not self.abilities.lookups:
            return None
        return plan_newest(self.find, where, self.variables, self.cells, self.needed)

    @cached_property
    def by_value(self) -> ByValue | None:
        """None where the WHERE begins at a named element, and for pages that nothing orders: the
        order of their groups, and of later pages, is the engine's."""
        find, where = self.find, self.where
        has_pages = find is not None and find.limit is not None and not find.order_by
        if self.offset or not self.abilities.lookups:
            return None
        if find is not None and has_pages and results.is_grouped(find):
            return None
        needed = None if self.newest else self.needed
        chosen = find, where, self.variables, self.cells, self.counts, needed, self.limit
        return plan_by_value(*chosen)

    @cached_property
    def scanned(self) -> tuple[TriplePattern, ...]:
        """The triples that say what an element is, in a scan of which no solution is checked."""
        where = self.where
        return scanned(where) if where.is_linear and not is_anchored(where.pattern) else ()

    def starting_from(self, rarest: Sequence[TriplePattern]) -> Plan:
        """The plan that starts from one triple of each choice."""
        places = tuple(map(id, rarest))  # to hash terms takes longer than a read
        plan = self._variants.get(places)
        if plan is None:
            choices = self.where.open_choices
            triples = [start for choice in choices for start in choice.starts]
            unused = [start for start in triples if start not in rarest]
            pairs = zip(choices, rarest, strict=True)
            first = [r for choice, r in pairs if choice.facts and r in triples]
            plan = self._variants[places] = self.without(unused, first=first)
        return plan

    def without(
        self,
        starts: Iterable[TriplePattern],
        plain: Iterable[NamedNode] = (),
        first: Iterable[TriplePattern] = (),
    ) -> Plan:
        """The plan that does not start from some triples: it compares the values. Under the
        ``plain`` keys are only values that hold no others. ``first`` triples come before facts at
        an element that the command names."""
        where = self.where
        chosen = where.unused.union(starts), where.plain.union(plain), where.first.union(first)
        if chosen == (where.unused, where.plain, where.first):
            return self
        if chosen not in self._variants:
            unused, plain, first = chosen
            other = replace(where, unused=unused, plain=plain, first=first)
            self._variants[chosen] = replace(self, where=other)
        return self._variants[chosen]

    # As a query -------------------------------------------------------------------------------

    @cached_property
    def _read_pattern(self) -> Pattern:
        """The pattern without the links that no row shows or counts.

        A dataset that others write may have facts without a link.
        """
        pattern = self.where.pattern
        if not self.abilities.lookups:
            return pattern
        counted = [count.variable for count in self.counts if count.variable is not None]
        return without_unread_links(pattern, {*self.variables, *counted}, self.where.iris)

    @cached_property
    def select(self) -> Select:
        """The query without checks of its deadline."""
        return Select(
            self.variables,
            self._read_pattern,
            self.limit,
            self.offset,
            self.counts,
            self.is_ambiguous,
        )

    @cached_property
    def is_ambiguous(self) -> bool:
        """Whether two solutions may be alike in all names."""
        return may_duplicate(self.where.pattern, set(self.where.carriers(self.cells.names)))

    def shown_elements(self, rows: Sequence[Row]) -> frozenset[Term]:
        """The named elements that exist because of the rows that the plan has."""
        if not rows or self.counts:
            return frozenset()
        with_value = self._named_elements_with_value
        if not with_value:
            return self.where.named_elements
        shown = [e for i, e in with_value if any(row[i] is not None for row in rows)]
        return self.where.named_elements.union(shown)

    @cached_property
    def _named_elements_with_value(self) -> list[tuple[int, Term]]:
        """Cells of a row, each with the element that exists if it has a value."""
        return [
            (self.variables.index(variable), element)
            for variable, element in named_elements_with_value(self.where.pattern).items()
            if variable in self.variables and element not in self.where.named_elements
        ]

    def text(self, max_rows: int | None) -> PreparedQuery:
        """The SPARQL; where solutions are counted, no more than ``max_rows`` of them are."""
        if max_rows not in self._texts:
            select = self._limited(self.select, max_rows)
            if not self.where.is_linear:
                select = replace(select, pattern=add_deadline_checks(select.pattern))
            self._texts.clear()
            self._texts[max_rows] = self._prepared(select)
        return self._texts[max_rows]

    def _limited(self, select: Select, max_rows: int | None) -> Select:
        if not select.counts or max_rows is None:
            return select
        # One more row shows that there are too many.
        return replace(select, limit=max_rows // -(-self.width // WIDTH) + 1)

    def _prepared(self, select: Select) -> PreparedQuery:
        kept = as_kept(select, self.abilities)
        return prepare(kept, query_prefixes(self.where.iris.base), self.abilities)

    # On another engine ------------------------------------------------------------------------

    @cached_property
    def sorted_values(self) -> tuple[SortedValue, ...]:
        """What an engine may sort by and cut the page; none where Python must see all rows."""
        if self.find is None or self.needed is None or self.abilities.lookups:
            return ()
        carriers = set(self.where.carriers(self.cells.names))
        # Rows that are alike in what is projected are one.
        is_shown = set(self.cells.names) <= set(self.rendering.projected)
        is_plain = is_shown and carriers <= certain_variables(self.where.pattern)
        most = self.abilities.max_rows
        if not is_plain or self.is_ambiguous or (most is not None and self.needed >= most):
            return ()
        values: list[SortedValue] = []
        for key in self.find.order_by:
            path, predicate = results.path_of(key.expression), results.key_of(key.expression)
            if predicate is None or path not in self.translation.projected:
                return ()
            variable = self.translation.projected[path]
            values.append(SortedValue(variable, predicate, key.descending))
        return tuple(values)

    @cached_property
    def needed_keys(self) -> tuple[NamedNode, ...]:
        """The keys whose datatypes must be known before the query can be written."""
        names = {name for condition in self.where.conditions for name in condition.names}
        values = (self.translation.values[n] for n in names if n in self.translation.values)
        keys = {value.predicate for value in values}.union(v.key for v in self.sorted_values)
        return tuple(sorted((key for key in keys if key is not None), key=str))

    @property
    def is_single_row(self) -> bool:
        """Whether the answer to a query of one value shows all that the FIND reads (106)."""
        find = self.find
        is_whole = find is not None and find.limit is None and not self.counts
        return is_whole and names_only_elements(cast(ast.Find, find).where)

    def question(self, datatypes: KeyDatatypes) -> Question:
        """What is asked; the last one is remembered, with its texts."""
        current = [datatypes.get(key) for key in self.needed_keys]
        for question in self._questions:
            if question.datatypes == current:
                return question
        select, is_pushed = None, False
        covered = self._cover(datatypes)
        if covered.one_value is not None:
            triple = covered.one_value
            select = Select((cast(Variable, triple.object),), BGP((triple,)), distinct=False)
        elif covered.core is not None:
            select = self._pushed(covered, covered.core, datatypes)
            is_pushed = select is not None
            if select is None:
                distinct = may_duplicate(covered.core, set(covered.given))
                select = Select(covered.variables, covered.core, distinct=distinct)
                if not covered.variables:
                    # There is a row if there is any solution.
                    some = min(variables(covered.core), key=str)
                    select = Select((some,), covered.core, limit=1, distinct=False)
        question = Question(current, covered, select, is_pushed)
        self._questions[:] = [question]
        return question

    def _cover(self, datatypes: KeyDatatypes) -> Cover:
        where = self.where
        return cover(
            where.pushed,
            self.variables,
            where.carriers(where.names),
            self.counts,
            self.translation.values,
            self.translation.namer,
            where.iris,
            self.abilities,
            datatypes,
        )

    def _pushed(self, covered: Cover, core: Pattern, datatypes: KeyDatatypes) -> Select | None:
        """The query where the engine may count, sort or cut the page; None where Python must."""
        if not covered.is_exact:
            return None
        shown = tuple(name for name in self.variables if name not in covered.fixed)
        carriers = {n for n in self.where.carriers(self.where.names) if n not in covered.fixed}
        if not (shown or self.counts) or not set(shown) <= set(covered.variables):
            return None
        if self.counts:
            counted = {count.variable for count in self.counts} - {None}
            if counted <= covered.certain and not may_duplicate(core, carriers):
                return Select(shown, core, counts=self.counts)
            return None
        distinct = may_duplicate(core, carriers)
        order = self._order(datatypes) if not distinct else ()
        limit = self.needed if order else self.limit
        return Select(shown, core, limit, self.offset, distinct=distinct, order=order)

    def _order(self, datatypes: KeyDatatypes) -> tuple[SortKey, ...]:
        if not self.sorted_values:
            return ()
        nodes = self.where.carriers(self.rendering.projected)
        return sorted_by(self.sorted_values, nodes, datatypes, self.abilities) or ()

    def question_text(self, question: Question, max_rows: int | None) -> PreparedQuery:
        """The SPARQL of a question; ``max_rows`` as in ``text``."""
        if max_rows not in question.texts:
            assert question.select is not None
            question.texts.clear()
            question.texts[max_rows] = self._prepared(self._limited(question.select, max_rows))
        return question.texts[max_rows]


def plan_find(
    find: ast.Find,
    iris: Iris,
    offset: int = 0,
    abilities: Abilities = EMBEDDED,
    sight: Sight = STATED,
) -> Plan:
    """Compile a checked FIND for a store in which its exact identities exist."""
    if results.is_grouped(find):
        return _plan_grouped(find, iris, abilities, sight)
    names = _names((*find.expressions, *(key.expression for key in find.order_by)))
    # Of ordered rows only a page is shown: what it shows is read for the page.
    first = [key.expression for key in find.order_by] or find.expressions
    translation = translate(find.where, iris, _paths(first), sight)
    cells = _cells(names, translation)
    where = Where(translation, iris, names, abilities)
    limit = page_size(find.limit)
    # One more row than the page shows whether there is a next page.
    most = limit and limit + 1
    if find.order_by:
        needed = most and offset + most
        return Plan(where, cells, len(names), find=find, needed=needed)
    # Virtuoso refuses OFFSET without LIMIT: there Python skips the rows.
    skipped = offset if most else 0
    return Plan(where, cells, len(names), most, skipped, find=find)


def plan_bindings(
    targets: Iterable[ast.Variable],
    where: ast.Block,
    iris: Iris,
    abilities: Abilities = EMBEDDED,
    sight: Sight = STATED,
) -> Plan:
    """Compile a checked WHERE whose solutions are needed for some variables only."""
    names = tuple(dict.fromkeys(target.name for target in targets))
    translation = translate(where, iris, sight=sight)
    cells = _cells(names, translation)
    return Plan(Where(translation, iris, names, abilities), cells, len(names))


def _plan_grouped(find: ast.Find, iris: Iris, abilities: Abilities, sight: Sight) -> Plan:
    """Aggregates read whole solutions: the store counts those that are alike in what they read
    (docs/decisions/102)."""
    plain = [e for e in find.expressions if not isinstance(e, ast.Aggregate)]
    aggregates = [e for e in find.expressions if isinstance(e, ast.Aggregate)]
    shown = [e.argument if isinstance(e, ast.Aggregate) else e for e in find.expressions]
    translation = translate(find.where, iris, _paths(shown), sight)
    width = len(translation.scope)
    where = Where(translation, iris, tuple(translation.scope), abilities)
    plan = Plan(where, _cells(translation.scope, translation), width, find=find)
    if plan.is_ambiguous:
        return plan
    carriers = {a: translation.scope[variable_of(a).name].carrier for a in aggregates}
    certain = certain_variables(where.pattern)
    nodes = [
        aggregate
        for aggregate in aggregates
        if aggregate.function == "COUNT" and isinstance(aggregate.argument, ast.Variable)
    ]
    keys = [*plain, *(a.argument for a in aggregates if a not in nodes)]
    if not all(_adds_up(aggregate, plain, keys) for aggregate in nodes):
        nodes = [aggregate for aggregate in nodes if not aggregate.distinct]
        keys = [*plain, *(a.argument for a in aggregates if a not in nodes)]
    names = _names(key for key in keys if results.path_of(key) not in translation.projected)
    if len(names) == len(translation.scope):
        return plan
    cells = replace(_cells(names, translation), are_counted=True)
    whole = Count(Variable("count_of_solutions_"))
    counted: dict[ast.Aggregate, Count] = {}
    for number, aggregate in enumerate(dict.fromkeys(nodes)):
        node = carriers[aggregate]
        is_whole = node in certain and (
            not aggregate.distinct or not may_duplicate(where.pattern, {node})
        )
        name = Variable(f"count_of_{node.value}_{number}")
        counted[aggregate] = whole if is_whole else Count(name, node, aggregate.distinct)
    counts = (*(count for count in counted.values() if count != whole), whole)
    first = len(cells.names) + len(cells.values)
    cells.counts.update({a: first + counts.index(count) for a, count in counted.items()})
    return replace(plan, cells=cells, counts=counts)


def _adds_up(
    aggregate: ast.Aggregate,
    plain: Sequence[ast.Expression],
    keys: Iterable[ast.Expression],
) -> bool:
    """Whether the counts of nodes add up where solutions are alike in the keys: no node is counted
    in two parts of a group."""
    return not aggregate.distinct or all(
        key in plain if isinstance(key, ast.Variable) else variable_of(key) == aggregate.argument
        for key in keys
    )


def _names(expressions: Iterable[ast.Expression]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(variable_of(e).name for e in expressions))


def _paths(expressions: Iterable[ast.Expression]) -> list[Path]:
    """The values that expressions read, each once."""
    return list(dict.fromkeys(path for e in expressions if (path := results.path_of(e))))


def _cells(names: Iterable[str], translation: Translation) -> Cells:
    indices = {name: index for index, name in enumerate(names)}
    predicates = frozenset(name for name in indices if translation.scope[name].predicate)
    values = {path: len(indices) + index for index, path in enumerate(translation.projected)}
    return Cells(indices, predicates, values)
