"""One FIND from checked tree to result: probe, translate, render, select, shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import current
from kiprdf.errors import KipError
from kiprdf.kql import cursor, results
from kiprdf.kql.probe import probe
from kiprdf.kql.reader import Reader
from kiprdf.kql.stages import is_anchored, is_linear, products, staged
from kiprdf.kql.translate import translate
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import Json
from kiprdf.rdf.vocab import prefixes
from kiprdf.semantics.places import page_size
from kiprdf.sparql.algebra import Pattern, Select
from kiprdf.sparql.text import render, render_count
from kiprdf.store import Store
from kiprdf.store.base import Row, Watch

CONCEPT, PROPOSITION = vocab.TYPE, vocab.REIFIES
"""The predicate of which every concept, every proposition, is the subject exactly once."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a FIND asks the store.

    ``names`` are the KQL variables of the SELECT's columns, ``predicates`` those of them that
    hold predicates. ``paged`` tells whether the store cuts the page; ordered and grouped rows are
    cut behind it.
    """

    select: Select
    names: tuple[str, ...]
    predicates: frozenset[str]
    paged: bool


def plan(find: ast.Find, iris: Iris, offset: int = 0) -> Plan:
    """Compile a checked FIND."""
    grouped = results.is_grouped(find)
    projected = None if grouped else _shown_names(find)
    pattern, scope = translate(find.where, iris, frozenset(projected) if projected else None)
    names = tuple(scope) if projected is None else projected
    paged = not find.order_by and not grouped
    limit = page_size(find.limit)
    select = Select(
        tuple(scope[name].carrier for name in names),
        pattern,
        # One more than the page tells whether there is a next page.
        limit=limit + 1 if paged and limit is not None else None,
        offset=offset if paged else 0,
    )
    predicates = frozenset(name for name in names if scope[name].predicate)
    return Plan(select, names, predicates, paged)


def _shown_names(find: ast.Find) -> tuple[str, ...]:
    """What is shown or ordered by; aggregates look at whole solutions instead."""
    shown = (*find.expressions, *(key.expression for key in find.order_by))
    return tuple(dict.fromkeys(results.variable_of(expression).name for expression in shown))


def run(find: ast.Find, store: Store) -> tuple[list[list[Json]], str | None]:
    """The columns of a checked FIND, and the cursor of the next page if there is one."""
    offset = cursor.decode(find)
    probe(find.where, store)
    planned = plan(find, store.iris, offset)
    rows = _rows(compiled(planned, store.iris), store)
    columns, following = shaped(find, planned, rows, store, offset)
    if following is None:
        return columns, None
    return columns, cursor.encode(find, store.commit(), following)


def shaped(
    find: ast.Find, planned: Plan, rows: list[Row], store: Store, offset: int
) -> tuple[list[list[Json]], int | None]:
    """The columns of one page, and where the next begins if there is one."""
    solutions: list[results.Solution] = [
        dict(zip(planned.names, cast(tuple[NamedNode | None, ...], row), strict=True))
        for row in rows
    ]
    limit = page_size(find.limit)
    wanted = None if limit is None else limit + 1
    found, count = results.columns(
        find,
        solutions,
        planned.predicates,
        Reader(store),
        offset=0 if planned.paged else offset,
        limit=wanted,
    )
    if limit is None or count <= limit:
        return found, None
    return [column[:limit] for column in found], offset + limit


@dataclass(frozen=True, slots=True)
class Query:
    """A plan as SPARQL, how it is watched, and what must be counted before it is run."""

    plan: Plan
    text: str
    watch: Watch
    products: tuple[tuple[Pattern, Pattern], ...]


def compiled(planned: Plan, iris: Iris) -> Query:
    """A plan as SPARQL; what may visit more solutions than it reads triples is watched."""
    select, pattern = planned.select, planned.select.pattern
    if is_linear(pattern):
        return Query(planned, text_of(select, iris), "no", ())
    # What begins at one element mostly ends before a thread has begun.
    watch: Watch = "asking" if is_anchored(pattern) else "apart"
    text = text_of(replace(select, pattern=staged(pattern)), iris)
    return Query(planned, text, watch, tuple(products(pattern)))


def _rows(query: Query, store: Store) -> list[Row]:
    spending = current()
    most = None if spending is None else spending.budget.max_product_rows
    if most is not None:
        for sides in query.products:
            _require_small(sides, most, store)
    return store.select(query.text, watch=query.watch)


def _require_small(sides: tuple[Pattern, Pattern], most: int, store: Store) -> None:
    """Raise KIP_4002 when two patterns without a common variable have too many combinations."""
    left, right = (
        cast(Literal, store.select(render_count(staged(side), most + 1), watch="apart")[0][0])
        for side in sides
    )
    combinations = int(left.value) * int(right.value)
    if combinations > most:
        message = f"Two parts of WHERE share no variable, and have {combinations} combinations"
        hint = "Link them by a proposition, or ask for each of them alone."
        raise KipError("KIP_4002", f"{message}; {most} are allowed.", hint)


def text_of(select: Select, iris: Iris) -> str:
    """A query as SPARQL, with the prefixes of the nexus."""
    return render(select, prefixes(iris.base))


def nodes(target: ast.Variable, where: ast.Block, store: Store) -> list[NamedNode]:
    """The distinct elements bound to one variable of a checked WHERE; nulls are left out."""
    return [node for (node,) in bindings((target,), where, store)]


def bindings(
    targets: Sequence[ast.Variable], where: ast.Block, store: Store
) -> list[tuple[NamedNode, ...]]:
    """What a checked WHERE binds to some variables together; rows with a null are left out."""
    probe(where, store)
    names = list(dict.fromkeys(target.name for target in targets))
    pattern, scope = translate(where, store.iris, frozenset(names))
    select = Select(tuple(scope[name].carrier for name in names), pattern)
    planned = Plan(select, tuple(names), frozenset(), paged=True)
    places = [names.index(target.name) for target in targets]
    return [
        tuple(cast(NamedNode, row[place]) for place in places)
        for row in _rows(compiled(planned, store.iris), store)
        if None not in row
    ]
