"""One FIND from checked tree to result: probe, translate, render, select, shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.budget import WIDTH, Spending, check, current
from kiprdf.errors import KipError
from kiprdf.kql import cursor, results
from kiprdf.kql.fetches import Fetched
from kiprdf.kql.holes import Arguments
from kiprdf.kql.probe import check_patterns, exists, probe
from kiprdf.kql.reader import Reader
from kiprdf.kql.results import Layout
from kiprdf.kql.segments import required
from kiprdf.kql.sets import is_set
from kiprdf.kql.stages import filters_product, is_anchored, is_linear, products, staged
from kiprdf.kql.translate import Translation, translate
from kiprdf.kql.walk import MOST_READS, Walk, walk
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import Json
from kiprdf.rdf.vocab import prefixes
from kiprdf.semantics.places import page_size
from kiprdf.sparql.algebra import Bindings, Count, Hole, Pattern, Select
from kiprdf.sparql.text import PreparedQuery, render_count
from kiprdf.sparql.text import prepare as prepare_query
from kiprdf.store import Store
from kiprdf.store.base import Cancellation, Row

NO_BINDINGS: Bindings = {}
CONCEPT, PROPOSITION = vocab.TYPE, vocab.REIFIES
"""The predicate of which every concept, every proposition, is the subject exactly once."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a FIND asks the store, and what stands in the cells of its rows.

    ``paged`` tells whether the store cuts the page; ordered and grouped rows are cut behind it.
    ``width`` are the variables of a solution, counted ones included.
    """

    select: Select
    layout: Layout
    paged: bool
    width: int


def plan(find: ast.Find, iris: Iris, offset: int = 0) -> Plan:
    """Compile a checked FIND for a store in which its WHERE was probed."""
    if results.is_grouped(find):
        return _grouped(find, iris)
    names = _names((*find.expressions, *(key.expression for key in find.order_by)))
    # Of ordered rows a page alone is shown: what it shows is read for the page.
    first = [key.expression for key in find.order_by] or find.expressions
    translation = translate(find.where, iris, frozenset(names), _paths(first))
    limit = page_size(find.limit)
    paged = not find.order_by
    select = Select(
        _variables(names, translation),
        translation.pattern,
        # One more than the page tells whether there is a next page.
        limit=limit + 1 if paged and limit is not None else None,
        offset=offset if paged else 0,
        distinct=_has_twins(names, translation),
    )
    return Plan(select, _layout(names, translation), paged, len(names))


def _grouped(find: ast.Find, iris: Iris) -> Plan:
    """Aggregates look at whole solutions; what the store can count alone, it counts."""
    plain = [e for e in find.expressions if not isinstance(e, ast.Aggregate)]
    aggregates = [e for e in find.expressions if isinstance(e, ast.Aggregate)]
    shown = [e.argument if isinstance(e, ast.Aggregate) else e for e in find.expressions]
    translation = translate(find.where, iris, None, _paths(shown))
    names, width = tuple(translation.scope), len(translation.scope)
    has_twins = _has_twins(names, translation)
    if has_twins or not all(_is_counted(aggregate, plain) for aggregate in aggregates):
        select = Select(_variables(names, translation), translation.pattern, distinct=has_twins)
        return Plan(select, _layout(names, translation), False, width)
    names = _names(plain)
    keys = _variables(names, translation)
    layout = _layout(names, translation)
    counts = {}
    for number, aggregate in enumerate(dict.fromkeys(aggregates)):
        carrier = translation.scope[results.variable_of(aggregate).name].carrier
        name = Variable(f"count_of_{carrier.value}_{number}")
        layout.counts[aggregate] = len(keys) + number
        counts[aggregate] = Count(name, carrier, aggregate.distinct)
    whole = Count(Variable("count_of_solutions_"))
    select = Select(keys, translation.pattern, counts=(*counts.values(), whole))
    return Plan(select, layout, False, width)


def _is_counted(aggregate: ast.Aggregate, plain: Sequence[ast.Expression]) -> bool:
    """Whether the counts of nodes add up to those of the groups they are in."""
    if aggregate.function != "COUNT" or not isinstance(aggregate.argument, ast.Variable):
        return False
    return not aggregate.distinct or all(isinstance(key, ast.Variable) for key in plain)


def _has_twins(names: Sequence[str], translation: Translation) -> bool:
    """Whether two solutions may be alike in some names."""
    known = {translation.scope[name].carrier for name in names}
    return not is_set(translation.pattern, known)


def _names(expressions: Iterable[ast.Expression]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(results.variable_of(e).name for e in expressions))


def _paths(expressions: Iterable[ast.Expression]) -> list[Fetched]:
    """The values that expressions look at, each once."""
    paths = (e for e in expressions if isinstance(e, ast.Path))
    return list(dict.fromkeys((path.variable.name, path.field, path.key) for path in paths))


def _variables(names: Sequence[str], translation: Translation) -> tuple[Variable, ...]:
    carriers = (translation.scope[name].carrier for name in names)
    return (*carriers, *translation.values.values())


def _layout(names: Sequence[str], translation: Translation) -> Layout:
    indices = {name: index for index, name in enumerate(names)}
    predicates = frozenset(name for name in names if translation.scope[name].predicate)
    values = {path: len(names) + index for index, path in enumerate(translation.values)}
    return Layout(indices, predicates, values)


class FindResult(NamedTuple):
    """The columns of a FIND, one for each expression, and the cursor of the next page."""

    find: ast.Find
    columns: list[list[Json]]
    cursor: str | None


def run(find: ast.Find, store: Store) -> FindResult:
    """Run a checked FIND."""
    offset = cursor.decode(find)
    probe(find.where, store)
    query = Query(plan(find, store.iris, offset), store.iris)
    columns, following = shaped(find, query.plan, rows(query, store), store, offset)
    if following is None:
        return FindResult(find, columns, None)
    return FindResult(find, columns, cursor.encode(find, store.commit(), following))


@dataclass(frozen=True, slots=True)
class PreparedFind:
    """A compiled FIND with holes for its parameters; ``required`` elements must exist."""

    find: ast.Find
    query: Query
    required: tuple[NamedNode | Hole, ...]

    def run(
        self, parameters: Mapping[str, Any], store: Store, bound: Callable[[], ast.Find]
    ) -> FindResult | None:
        """Run it with parameters of the kinds it was compiled for.

        None when a required element does not exist. ``bound`` returns the FIND with its
        parameters, which a cursor is made from.
        """
        bindings = Arguments(parameters, store.iris)
        for node in self.required:
            if not exists(
                cast(NamedNode, bindings[node] if isinstance(node, Hole) else node), store
            ):
                return None
        query = self.query
        columns, following = shaped(self.find, query.plan, rows(query, store, bindings), store, 0)
        if following is None:
            return FindResult(self.find, columns, None)
        return FindResult(self.find, columns, cursor.encode(bound(), store.commit(), following))


def prepare(find: ast.Find, store: Store) -> PreparedFind | None:
    """Compile a checked FIND with holes; None for one with a product, whose size is counted."""
    query = Query(plan(find, store.iris), store.iris)
    if query.products:
        return None
    check_patterns(find.where, store)
    return PreparedFind(find, query, tuple(required(find.where, store.iris)))


def shaped(
    find: ast.Find, planned: Plan, rows: list[Row], store: Store, offset: int
) -> tuple[list[list[Json]], int | None]:
    """The columns of one page, and where the next begins if there is one."""
    limit = page_size(find.limit)
    found, count = results.columns(
        find,
        rows,
        planned.layout,
        Reader(store),
        offset=0 if planned.paged else offset,
        limit=None if limit is None else limit + 1,
    )
    if limit is None or count <= limit:
        return found, None
    return [column[:limit] for column in found], offset + limit


class Query:
    """A plan as a walk and as SPARQL, each made when it is needed first.

    What may visit more solutions than it reads triples is cancellable; ``products`` must be counted
    before it is run.
    """

    def __init__(self, planned: Plan, iris: Iris) -> None:
        self.plan = planned
        self._iris = iris
        self._text: tuple[int | None, PreparedQuery] | None = None

    @cached_property
    def walk(self) -> Walk | None:
        """None where there is none, and for a page behind the first: its order is the engine's."""
        select = self.plan.select
        return None if select.offset else walk(select, self._iris)

    @cached_property
    def cancellation(self) -> Cancellation:
        if self._is_linear:
            return "none"
        # What begins at one element mostly ends before a thread has begun.
        return "cooperative" if is_anchored(self.plan.select.pattern) else "threaded"

    @cached_property
    def products(self) -> list[tuple[Pattern, Pattern]]:
        return [] if self._is_linear else products(self.plan.select.pattern)

    def text(self, most: int | None) -> PreparedQuery:
        """The SPARQL; ``most`` solutions are counted, where they are counted."""
        if self._text is None or self._text[0] != most:
            select = self.plan.select
            if not self._is_linear:
                select = replace(select, pattern=staged(select.pattern))
            if select.counts and most is not None:
                # One more than it may tells that there are more.
                weight = -(-self.plan.width // WIDTH)
                select = replace(select, limit=most // weight + 1)
            self._text = most, prepare_query(select, prefixes(self._iris.base))
        return self._text[1]

    @cached_property
    def _is_linear(self) -> bool:
        return is_linear(self.plan.select.pattern)


def rows(query: Query, store: Store, bindings: Bindings = NO_BINDINGS) -> list[Row]:
    """The rows of a query: walked, or else by the engine."""
    spending = current()
    budget = None if spending is None else spending.budget
    if query.walk is not None and (budget is None or budget.allows(MOST_READS)):
        check()
        walked = query.walk.rows(store, bindings)
        limit = query.plan.select.limit
        if walked is not None and (limit is None or len(walked) < limit):
            _check_rows(walked, query.plan)
            return walked
    if budget is not None and budget.max_product_rows is not None:
        for sides in query.products:
            _require_small(sides, budget.max_product_rows, store)
    if spending is not None and query.products:
        _require_few(query.plan, spending, store)
    text = query.text(None if budget is None else budget.max_rows)
    found = store.select(
        text.text(bindings), cancellation=query.cancellation, width=query.plan.width
    )
    if query.plan.select.counts:
        _check_rows(found, query.plan)
    return found


def _check_rows(found: list[Row], planned: Plan) -> None:
    """Raise KIP_4002 for more solutions, counted ones included, than the budget allows."""
    spending = current()
    if spending is not None:
        counted = planned.select.counts
        number = sum(results.count(row[-1]) for row in found) if counted else len(found)
        spending.check_rows(number, planned.width)


def _require_small(sides: tuple[Pattern, Pattern], most: int, store: Store) -> None:
    """Raise KIP_4002 when two patterns without a common variable have too many combinations."""
    left, right = (
        results.count(
            store.select(render_count(staged(side), most + 1), cancellation="threaded")[0][0]
        )
        for side in sides
    )
    combinations = left * right
    if combinations > most:
        message = f"Two parts of WHERE share no variable, and have {combinations} combinations"
        hint = "Link them by a proposition, or ask for each of them alone."
        raise KipError("KIP_4002", f"{message}; {most} are allowed.", hint)


def _require_few(planned: Plan, spending: Spending, store: Store) -> None:
    """Raise KIP_4002 for a product whose solutions are too many, before any of them is kept.

    A million rows of eight variables are most of a gigabyte. The engine counts them in no room.
    """
    select, most = planned.select, spending.budget.max_rows
    is_whole = not select.counts and select.limit is None and not select.offset
    # Behind a FILTER, to count would take as long as to find.
    if most is None or not is_whole or filters_product(select.pattern):
        return
    different = select.variables if select.distinct else ()
    enough = most // -(-planned.width // WIDTH) + 1
    counted = render_count(staged(select.pattern), enough, different)
    number = results.count(store.select(counted, cancellation="threaded")[0][0])
    spending.check_rows(number, planned.width)


def text_of(select: Select, iris: Iris) -> str:
    """A query as SPARQL, with the prefixes of the nexus."""
    return prepare_query(select, prefixes(iris.base)).text(NO_BINDINGS)


def nodes(target: ast.Variable, where: ast.Block, store: Store) -> list[NamedNode]:
    """The distinct elements bound to one variable of a checked WHERE; nulls are left out."""
    return [node for (node,) in bindings((target,), where, store)]


def bindings(
    targets: Sequence[ast.Variable], where: ast.Block, store: Store
) -> list[tuple[NamedNode, ...]]:
    """What a checked WHERE binds to some variables together; rows with a null are left out."""
    probe(where, store)
    names = list(dict.fromkeys(target.name for target in targets))
    translation = translate(where, store.iris, frozenset(names))
    distinct = _has_twins(names, translation)
    select = Select(_variables(names, translation), translation.pattern, distinct=distinct)
    planned = Plan(select, _layout(names, translation), True, len(names))
    places = [names.index(target.name) for target in targets]
    return [
        tuple(cast(NamedNode, row[place]) for place in places)
        for row in rows(Query(planned, store.iris), store)
        if None not in row
    ]
