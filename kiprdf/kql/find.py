"""Runs one FIND from checked tree to result: check identities, plan, read, shape."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.budget import WIDTH, Spending, check, current, without_row_limit
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.kql import cursor, results
from kiprdf.kql.beliefs import name_of, plain, view_of
from kiprdf.kql.clauses import required
from kiprdf.kql.comparisons import TESTS
from kiprdf.kql.cover import is_counted_alike
from kiprdf.kql.entailment import clusters_of, rules_of, sight_of
from kiprdf.kql.evaluate.by_value import number_of
from kiprdf.kql.evaluate.reads import BatchReads, Fallback, Reads, all_reads
from kiprdf.kql.evaluate.steps import MOST_READS
from kiprdf.kql.holes import Arguments, argument
from kiprdf.kql.identities import Purpose, check_identities, check_patterns, exists
from kiprdf.kql.optimize.cardinality import filters_product, is_anchored, is_contradictory
from kiprdf.kql.optimize.deadlines import add_deadline_checks
from kiprdf.kql.plan import Plan, Question, plan_bindings, plan_find
from kiprdf.kql.queries import as_kept, key_datatypes, select
from kiprdf.kql.reader import Reader
from kiprdf.kql.results import Lack
from kiprdf.kql.starts import from_rarest, suited
from kiprdf.language import ast
from kiprdf.rdf.literals import Json
from kiprdf.rdf.vocab import query_prefixes
from kiprdf.semantics.patterns import Kinds
from kiprdf.semantics.scope import exported
from kiprdf.sparql.algebra import (
    UNIT,
    Bindings,
    Count,
    Hole,
    Lateral,
    Pattern,
    Select,
    Term,
    constants,
    variables,
)
from kiprdf.sparql.text import render, render_count
from kiprdf.store import Store
from kiprdf.store.base import Cell, Request, Row, Tests

LONG_SCAN = 100_000
"""The elements that a scan reads in about a second, or more."""
FAILED = 8
"""How many times the time of a question counts that failed: only sorted values can answer it."""
NO_BINDINGS: Bindings = {}
_SORTED = "If its values can be sorted, that is under way: send it again in a minute."


class FindResult(NamedTuple):
    """The columns of a FIND, one for each expression.

    ``next_cursor`` makes the cursor of the next page, if there is one: that takes as long as a
    lookup, and not every caller wants it. ``lacks`` is what the answer lacks, if anything: rows,
    values other than null, or a key that it counts or sorts by. ``commit`` is that of such an
    answer.
    """

    find: ast.Find
    rendering: results.Rendering
    columns: list[list[Json]]
    next_cursor: Callable[[], str] | None = None
    lacks: Lack | None = None
    commit: int = 0


def run(find: ast.Find, store: Store, beside: tuple[ast.Expression, ...] = ()) -> FindResult:
    """Run a checked FIND; columns of what is shown ``beside`` follow those of its expressions."""
    offset = cursor.decode(find, name_of(store))
    named: tuple[tuple[Term, ...], ...] = ()
    if store.abilities.lookups:
        check_identities(find.where, store)
    else:
        check_patterns(find.where)
        named = tuple(required(find.where, store.iris, rules_of(store)))
    shown = replace(find, expressions=(*find.expressions, *beside)) if beside else find
    plan = plan_find(shown, store.iris, offset, store.abilities, sight_of(store))
    result = Prepared(shown, Kinds(), plan, named).run({}, store, lambda: find, offset)
    if result is None:
        check_identities(find.where, store)
        raise AssertionError("one of them does not exist")
    return result


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compiled WHERE, which may have ``holes`` for its parameters; of each of the ``required``
    tuples an element must exist.

    ``constants`` are those of the plan without the holes, ``kinds`` what its variables may be.
    """

    command: ast.Find | ast.Targeted
    kinds: Kinds
    plan: Plan
    required: tuple[tuple[Term, ...], ...]
    holes: tuple[Hole, ...] = ()
    constants: frozenset[object] = frozenset()

    def run(
        self,
        parameters: Mapping[str, Any],
        store: Store,
        bound: Callable[[], ast.Find],
        offset: int = 0,
    ) -> FindResult | None:
        """One page of the answer of a FIND; None as ``rows`` says.

        ``bound`` returns the FIND with its parameters, which a cursor is made from.
        """
        find, plan, rendering = self.command, self.plan, self.plan.rendering
        assert isinstance(find, ast.Find)
        selected = self.rows(parameters, store)
        if selected is None:
            return None
        limit, next_cursor = rendering.limit, None
        # The store has skipped the pages before where it cuts them.
        skipped = 0 if plan.offset else offset
        most = None if limit is None else limit + 1
        columns, count = rendering.columns(selected, Reader(store), skipped, most)
        if limit is not None and count > limit:
            commit, start = store.commit(), offset + limit
            columns = [column[:limit] for column in columns]

            def next_cursor() -> str:
                return cursor.encode(bound(), commit, start, name_of(store))

        lacks = None if offset else rendering.lack(columns, store)
        if lacks is None:
            return FindResult(find, rendering, columns, next_cursor)
        return FindResult(bound(), rendering, columns, next_cursor, lacks, store.commit())

    def rows_of_each(
        self, arguments: Sequence[Mapping[str, Any]], store: Store
    ) -> list[Row] | None:
        """The rows for some parameters together, all of them, read from the index; None where that
        takes a query, or is too much. What is required exists."""
        lookup, most = self.plan.anchored, MOST_READS * len(arguments)
        spending = current()
        if clusters_of(store) is not None:
            return None
        if lookup is None or (spending is not None and not spending.budget.allows(most)):
            return None
        check()
        starts = [lookup.filled(Arguments(one, store.iris)) for one in arguments]
        reads = Reads(store, most) if store.abilities.lookups else BatchReads(store, most)
        try:
            return lookup.result(lookup.solve(starts, reads))
        except Fallback:
            return None

    def nodes(self, parameters: Mapping[str, Any], store: Store) -> list[NamedNode] | None:
        """The elements that are bound to the target of a statement, or None, as ``rows`` says."""
        assert not isinstance(self.command, ast.Find)
        selected = self.rows(parameters, store)
        if selected is None:
            return None
        return [node for (node,) in _bound_rows((self.command.target,), selected, self.plan)]

    def rows(self, parameters: Mapping[str, Any], store: Store) -> list[Row] | None:
        """The rows of the plan for parameters of the kinds it was compiled for.

        None when a required element does not exist, and where a parameter is equal to a constant:
        they may be joined in another order than different ones, and so may the next page.
        """
        bindings = Arguments(parameters, store.iris)
        terms = {bindings[hole] for hole in self.holes}
        if len(terms) < len(self.holes) or not self.constants.isdisjoint(terms):
            return None

        def do_exist(required: Iterable[tuple[Term, ...]]) -> bool:
            every: Any = [
                [bindings[t] if isinstance(t, Hole) else t for t in terms] for terms in required
            ]
            store.prefetch(node for nodes in every for node in nodes)
            return all(any(exists(node, store) for node in nodes) for nodes in every)

        # The rows of most answers show that these elements exist.
        try:
            selected = rows(self.plan, store, bindings)
        except KipError:
            if do_exist(self.required):
                raise
            return None
        if not self.required:
            return selected
        shown = self.plan.shown_elements(selected)
        unseen = [terms for terms in self.required if shown.isdisjoint(terms)]
        return selected if not unseen or do_exist(unseen) else None


def prepare(command: ast.Find | ast.Targeted, kinds: Kinds, store: Store) -> Prepared | None:
    """Compile a checked FIND, or the WHERE of a statement, with holes.

    None for one with a product, whose size is counted, and for one whose text depends on what fills
    the holes.
    """
    if isinstance(command, ast.Find):
        plan = plan_find(command, store.iris, 0, store.abilities, sight_of(store))
    else:
        plan = _plan_bindings((command.target,), command.where, store)
    if plan.where.is_open or plan.where.products:
        return None
    check_patterns(command.where)
    mentioned = constants(plan.where.pattern)
    mentioned_holes = {term for term in mentioned if isinstance(term, Hole)}
    holes = set(map(argument, mentioned_holes))
    named = tuple(required(command.where, store.iris, rules_of(store)))
    others = frozenset(mentioned - mentioned_holes)
    return Prepared(command, kinds, plan, named, tuple(holes), others)


def rows(plan: Plan, store: Store, bindings: Bindings = NO_BINDINGS) -> list[Row]:
    """The rows of a plan: looked up by index, otherwise by the engine.

    Of an ordered FIND, rows that cannot be on its page may be missing.
    """
    if clusters_of(store) is not None:
        return _walked(plan, store, bindings)
    plan = suited(plan, store)
    is_chosen = plan.where.has_choice
    if is_chosen:
        plan = from_rarest(plan, store, bindings)
    looked_up = _looked_up(plan, store, bindings)
    if looked_up is not None:
        return looked_up
    return _queried(plan if is_chosen else from_rarest(plan, store, bindings), store, bindings)


def _looked_up(plan: Plan, store: Store, bindings: Bindings) -> list[Row] | None:
    """The rows by the first way that leads to them without a query."""
    spending = current()
    if spending is not None and not spending.budget.allows(MOST_READS):
        return None
    check()
    for way in plan.indexed:
        selected = way.rows(store, bindings)
        if selected is not None:
            if plan.limit is not None and len(selected) >= plan.limit:
                return None
            if spending is not None:
                spending.check_rows(len(selected), plan.width)
            return selected
    return None


def _queried(plan: Plan, store: Store, bindings: Bindings) -> list[Row]:
    """The rows that the engine has for the query."""
    if plan.where.is_contradictory:
        return []
    spending = current()
    budget = None if spending is None else spending.budget
    if budget is not None and budget.max_product_rows is not None:
        for sides in plan.where.products:
            if plan.abilities.lookups or all(map(is_counted_alike, sides)):
                _check_combinations(sides, budget.max_product_rows, store)
    if not plan.abilities.lookups:
        return _covered(plan, store, bindings)
    if plan.where.is_walked:
        return _walked(plan, store, bindings)
    if spending is not None and plan.where.products:
        _check_product(plan, spending, store)
    view = view_of(store)
    # A query that reads few facts is shorter without those that it does not read.
    reads_all = plan.limit is None and not (plan.where.starts or is_anchored(plan.where.pattern))
    facts = {"facts": view.facts} if view is not None and reads_all else {}
    text = plan.text(None if budget is None else budget.max_rows).text(bindings, **facts)
    keep = None
    if plan.needed is not None:
        keep = plan.rendering.keep(Reader(store), plan.needed)
    cancellation = "threaded" if _is_long(plan, store, bindings) else plan.where.cancellation
    request = Request(cancellation, plan.width, _tests(store), keep)
    started, by_value = time.perf_counter(), plan.by_value
    try:
        selected = store.select(text, request)
        if plan.counts:
            _check_rows(selected, plan)
    except KipError as error:
        if by_value is not None and error.code in ("KIP_4001", "KIP_4002"):
            error.hint = f"{error.hint} {_SORTED}"
            by_value.spend(store, bindings, FAILED * (time.perf_counter() - started))
        raise
    if by_value is not None:
        by_value.spend(store, bindings, time.perf_counter() - started)
    return selected


def _is_long(plan: Plan, store: Store, bindings: Bindings) -> bool:
    """Whether a scan that nothing can stop may take seconds, so that its caller leaves it."""
    numbers = (number_of(triple, store, bindings) for triple in plan.scanned)
    return any(number is not None and number > LONG_SCAN for number in numbers)


def _walked(plan: Plan, store: Store, bindings: Bindings) -> list[Row]:
    """The rows by steps of a lookup alone."""
    start, clusters = plan.walk.filled(bindings), clusters_of(store)
    if clusters is not None:
        start = list(map(clusters.representative, start))
    return _page(plan.walk.result(plan.walk.solve([start], all_reads(store))), plan)


def _covered(plan: Plan, store: Store, bindings: Bindings) -> list[Row]:
    """The rows by what another engine has for the cover of a WHERE."""
    question = plan.question(key_datatypes(plan.needed_keys, plain(store)))
    covered, selected = question.cover, list[Row]()
    if question.select is not None:
        spending = current()
        most = None if spending is None else spending.budget.max_rows
        text = plan.question_text(question, most).text(bindings)
        if question.is_pushed:
            return _pushed(plan, question, text, store, bindings)
        request = Request(single_row=covered.one_value is not None and plan.is_single_row)
        selected = without_row_limit(lambda: store.select(text, request))
        if covered.one_value is not None:
            selected = selected or [(None,)]
    return _page(covered.rows(selected, store, bindings), plan)


def _page(completed: list[Row], plan: Plan) -> list[Row]:
    """The rows of a page among all rows."""
    _check_rows(completed, plan)
    return completed if plan.limit is None else completed[plan.offset : plan.offset + plan.limit]


def _tests(store: Store) -> Tests:
    """The functions that a query of a store may call."""
    view = view_of(store)
    return TESTS if view is None else view.tests


def _pushed(
    plan: Plan, question: Question, text: str, store: Store, bindings: Bindings
) -> list[Row]:
    """The rows of a query that is a whole WHERE, with the terms of the variables that it lacks."""
    fixed = {name: bindings.get(cast(Hole, t), t) for name, t in question.cover.fixed.items()}
    is_whole = fixed.keys().isdisjoint(plan.variables)
    keep = None
    if plan.needed is not None and is_whole:
        keep = plan.rendering.keep(Reader(store), plan.needed)
    selected = store.select(text, Request(width=plan.width, keep=keep))
    if plan.counts:
        _check_rows(selected, plan)
    if is_whole:
        return selected
    rows = []
    for row in selected:
        if plan.counts and not results.count(row[-1]):
            continue  # A query without a variable to group by counts no solutions as a row.
        cells = iter(row)
        shown = [fixed[name] if name in fixed else next(cells) for name in plan.variables]
        rows.append((*cast(Row, tuple(shown)), *cells))
    return rows


def _check_rows(rows: list[Row], plan: Plan) -> None:
    """Raise KIP_4002 for more solutions, counted ones included, than the budget allows."""
    spending = current()
    if spending is not None:
        number = sum(results.count(row[-1]) for row in rows) if plan.counts else len(rows)
        spending.check_rows(number, plan.width)


def _count(pattern: Pattern, most: int, store: Store, distinct: Sequence[Variable] = ()) -> int:
    if is_contradictory(pattern):
        return 0
    if isinstance(pattern, Lateral) and not distinct:
        sides = pattern.left, pattern.right
        if set.isdisjoint(*map(variables, sides)):
            left, right = (_count(side, most, store) for side in sides)
            return min(most, left * right)
    if not store.abilities.lookups:
        counted = Select((), pattern, most, counts=(Count(Variable("number")),))
        return results.count(select(counted, store)[0][0])
    query = render_count(add_deadline_checks(pattern), most, distinct)
    request = Request("threaded", tests=_tests(store))
    return results.count(store.select(query, request)[0][0])


def _check_combinations(sides: tuple[Pattern, Pattern], most: int, store: Store) -> None:
    """Raise KIP_4002 when two patterns without a common variable have too many combinations."""
    left, right = (_count(side, most + 1, store) for side in sides)
    combinations = left * right
    if combinations > most:
        message = f"Two parts of WHERE share no variable, and have {combinations} combinations"
        hint = "Link them by a proposition, or ask for each of them alone."
        raise KipError("KIP_4002", f"{message}; {most} are allowed.", hint)


def _check_product(plan: Plan, spending: Spending, store: Store) -> None:
    """Raise KIP_4002 for a product with too many solutions, before any of them is kept.

    A million rows of eight variables are most of a gigabyte; the engine counts them in no space.
    """
    most = spending.budget.max_rows
    is_whole = not plan.counts and plan.limit is None and not plan.offset
    # After a FILTER, counting would take as long as the query.
    if most is None or not is_whole or filters_product(plan.where.pattern):
        return
    distinct = plan.variables if plan.is_ambiguous else ()
    enough = most // -(-plan.width // WIDTH) + 1
    spending.check_rows(_count(plan.where.pattern, enough, store, distinct), plan.width)


def count_solutions(where: ast.Block, store: Store, most: int) -> int:
    """How many solutions a checked WHERE has; counting stops at ``most``."""
    plan = _plan_bindings(map(ast.Variable, exported(where)), where, store)
    is_walked = plan.where.is_walked or clusters_of(store) is not None
    if not plan.abilities.lookups or is_walked:
        return len(rows(replace(plan, limit=most), store))
    plan = from_rarest(suited(plan, store), store, NO_BINDINGS)
    distinct = plan.variables if most > 1 and plan.is_ambiguous else ()
    return _count(plan.where.pattern, most, store, distinct)


def explain(find: ast.Find, store: Store) -> str:
    """The SPARQL of a checked FIND, without checks of its deadline."""
    sight = sight_of(store)
    plan = plan_find(find, store.iris, 0, store.abilities, replace(sight, merges=False))
    plan = from_rarest(suited(plan, store), store, NO_BINDINGS)
    query: Select | None = plan.select
    if not plan.abilities.lookups:
        query = plan.question(key_datatypes(plan.needed_keys, plain(store))).select
    query = Select((), UNIT, distinct=False) if query is None else query
    note = "# The hops are walked over facts that are believed.\n" if plan.where.is_walked else ""
    note = "# It is walked over what is the same as one element.\n" if sight.merges else note
    if (
        not note
        and plan.by_value is not None
        and plan.by_value.rows(store, NO_BINDINGS) is not None
    ):
        note = "# It is answered by values or counts that are kept, without a query.\n"
    return note + render(
        as_kept(query, plan.abilities), query_prefixes(store.iris.base), store.abilities
    )


def nodes(
    target: ast.Variable,
    where: ast.Block,
    store: Store,
    most: int | None = None,
    purpose: Purpose = "read",
) -> list[NamedNode]:
    """The distinct elements bound to one variable of a checked WHERE; nulls are left out."""
    return [node for (node,) in bindings((target,), where, store, most, purpose)]


def solutions(names: Sequence[str], find: ast.Find, store: Store) -> list[dict[str, Cell]]:
    """What the WHERE of a FIND binds to some variables together, up to its LIMIT."""
    limit = cast(int, cast(ast.Scalar, find.limit).value)
    plan = replace(_plan_bindings(map(ast.Variable, names), find.where, store), limit=limit)
    indices = plan.cells.names
    return [{name: row[indices[name]] for name in names} for row in rows(plan, store)]


def bindings(
    targets: Sequence[ast.Variable],
    where: ast.Block,
    store: Store,
    most: int | None = None,
    purpose: Purpose = "read",
    taken: Collection[str] = (),
) -> list[tuple[NamedNode, ...]]:
    """What a checked WHERE binds to some variables together, in at most ``most`` rows; rows with a
    null are left out. An error suggests no name that is ``taken``."""
    check_identities(where, store, purpose, taken)
    plan = replace(_plan_bindings(targets, where, store), limit=most)
    return _bound_rows(targets, rows(plan, store), plan)


def _plan_bindings(targets: Iterable[ast.Variable], where: ast.Block, store: Store) -> Plan:
    return plan_bindings(targets, where, store.iris, store.abilities, sight_of(store))


def _bound_rows(
    targets: Sequence[ast.Variable], rows: Iterable[Row], plan: Plan
) -> list[tuple[NamedNode, ...]]:
    """What the rows of a plan bind to some variables; rows with a null are left out."""
    indices = [plan.cells.names[target.name] for target in targets]
    return [
        tuple([cast(NamedNode, row[index]) for index in indices]) for row in rows if None not in row
    ]
