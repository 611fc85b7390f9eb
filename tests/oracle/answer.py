"""FIND, aggregates, ORDER BY and LIMIT over the solutions (KIP 3.3, 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key, partial
from typing import Any, assert_never

from kiprdf.language import ast
from tests.oracle.conditions import operand_value
from tests.oracle.graph import Graph
from tests.oracle.values import Element, compare_for_order, equal

Solution = Mapping[str, Element | str | None]


@dataclass(frozen=True)
class Row:
    """One row of the answer.

    ``values``: one Python value an expression, elements as the objects FIND shows. ``keys``: the
    raw values of the sort keys. ``tie``: IRIs (or predicate names) of the projected variables.
    """

    values: tuple[Any, ...]
    keys: tuple[Any, ...]
    tie: tuple[str | None, ...]


@dataclass(frozen=True)
class Answer:
    """The rows before LIMIT, in order if there is an ORDER BY.

    ``grouped``: the FIND has aggregates. ``scalar``: it has nothing else. ``ties_decided``: rows
    of equal keys have one right order; beside aggregates that holds only if every plain
    expression is a bare variable, for a group of equal values has no IRI.
    """

    rows: tuple[Row, ...]
    width: int
    limit: int | None
    ordered: bool
    grouped: bool
    scalar: bool
    ties_decided: bool

    @property
    def result(self) -> Any:
        """What the engine would answer: columns, index-aligned, a lone one unwrapped."""
        rows = self.rows if self.limit is None else self.rows[: self.limit]
        columns: list[Any] = [[row.values[i] for row in rows] for i in range(self.width)]
        if self.scalar:
            columns = [column[0] for column in columns]
        return columns[0] if self.width == 1 else columns


def answer(find: ast.Find, solutions: Sequence[Solution], graph: Graph) -> Answer:
    """Project, collapse or group, sort."""
    plain = [
        expression for expression in find.expressions if not isinstance(expression, ast.Aggregate)
    ]
    grouped = len(plain) < len(find.expressions)
    rows = _group(find, solutions, graph) if grouped else _collapse(find, solutions, graph)
    if find.order_by:
        directions = [key.descending for key in find.order_by]
        rows.sort(key=cmp_to_key(partial(_compare_rows, directions)))
    return Answer(
        rows=tuple(rows),
        width=len(find.expressions),
        limit=_limit(find),
        ordered=bool(find.order_by),
        grouped=grouped,
        scalar=not plain,
        ties_decided=not grouped
        or all(isinstance(expression, ast.Variable) for expression in plain),
    )


def _limit(find: ast.Find) -> int | None:
    if find.limit is None:
        return None
    assert isinstance(find.limit, ast.Scalar)
    assert isinstance(find.limit.value, int)
    return find.limit.value


def shown(value: Any, graph: Graph) -> Any:
    """A value as FIND shows it."""
    return graph.node(value.id) if isinstance(value, Element) else value


def projected(expressions: Sequence[ast.Expression]) -> list[str]:
    """The variables of the plain expressions, in FIND order, each once."""
    names: dict[str, None] = {}
    for expression in expressions:
        if isinstance(expression, ast.Path):
            names[expression.variable.name] = None
        elif isinstance(expression, ast.Variable):
            names[expression.name] = None
    return list(names)


# Without aggregates ---------------------------------------------------------------------------


def _collapse(find: ast.Find, solutions: Sequence[Solution], graph: Graph) -> list[Row]:
    """Rule: "solutions equal in all projected variables collapse before ORDER BY and LIMIT"."""
    names = projected(find.expressions)
    alike: dict[tuple[Any, ...], list[Solution]] = {}
    for solution in solutions:
        alike.setdefault(tuple(solution[name] for name in names), []).append(solution)
    return [_collapsed(find, names, members, graph) for members in alike.values()]


def _collapsed(find: ast.Find, names: list[str], members: list[Solution], graph: Graph) -> Row:
    """Rule: "a collapsed solution then ranks by its row that sorts first"."""
    first = members[0]
    tie = tuple(_tie_text(first[name]) for name in names)
    values = tuple(
        shown(_value(expression, first, graph), graph) for expression in find.expressions
    )
    directions = [key.descending for key in find.order_by]
    candidates = [
        Row(values, tuple(_value(k.expression, m, graph) for k in find.order_by), tie)
        for m in members
    ]
    return min(candidates, key=cmp_to_key(partial(_compare_rows, directions)))


def _value(expression: ast.Expression, solution: Solution, graph: Graph) -> Any:
    assert not isinstance(expression, ast.Aggregate)
    return operand_value(expression, solution, graph)


def _tie_text(value: Element | str | None) -> str | None:
    return value.iri if isinstance(value, Element) else value


def _compare_rows(directions: Sequence[bool], left: Row, right: Row) -> int:
    """Keys first, each in its direction; "ties go by the IRIs of the projected variables"."""
    for one, other, descending in zip(left.keys, right.keys, directions, strict=True):
        order = compare_for_order(one, other, descending=descending)
        if order:
            return order
    for one, other in zip(left.tie, right.tie, strict=True):
        order = _compare_ties(one, other)
        if order:
            return order
    return 0


def _compare_ties(left: str | None, right: str | None) -> int:
    # The page says where null stands among sort keys, not among ties: here it is first.
    if left is None or right is None:
        return (left is not None) - (right is not None)
    return (left > right) - (left < right)


# With aggregates ------------------------------------------------------------------------------


def _group(find: ast.Find, solutions: Sequence[Solution], graph: Graph) -> list[Row]:
    """Rule: "plain expressions beside aggregates form the group key (by projected values)"."""
    plain = [
        expression for expression in find.expressions if not isinstance(expression, ast.Aggregate)
    ]
    # With aggregates only, the whole set is one group, even when it is empty (KIP 3.3).
    groups: list[tuple[tuple[Any, ...], list[Solution]]] = [] if plain else [((), [])]
    for solution in solutions:
        key = tuple(_value(expression, solution, graph) for expression in plain)
        for group, members in groups:
            if all(map(equal, group, key)):
                members.append(solution)
                break
        else:
            groups.append((key, [solution]))
    return [_grouped(find, members, graph) for _, members in groups]


def _grouped(find: ast.Find, members: list[Solution], graph: Graph) -> Row:
    values = [
        _aggregate(expression, members, graph)
        if isinstance(expression, ast.Aggregate)
        else _value(expression, members[0], graph)
        for expression in find.expressions
    ]
    keys = tuple(values[find.expressions.index(key.expression)] for key in find.order_by)
    plain = [expression for expression in find.expressions if isinstance(expression, ast.Variable)]
    tie = tuple(_tie_text(members[0][name]) for name in projected(plain))
    return Row(tuple(shown(value, graph) for value in values), keys, tie)


def _aggregate(aggregate: ast.Aggregate, members: Sequence[Solution], graph: Graph) -> Any:
    """Over the non-null values of the uncollapsed solutions of one group."""
    values = [operand_value(aggregate.argument, member, graph) for member in members]
    values = [value for value in values if value is not None]
    match aggregate.function:
        case "COUNT":
            return len(_distinct(values)) if aggregate.distinct else len(values)
        case "SUM":
            return _sum(_numbers(values))
        case "AVG":
            numbers = _numbers(values)
            return sum(numbers) / len(numbers) if numbers else None
        case "MIN":
            return min(values, key=cmp_to_key(compare_for_order), default=None)
        case "MAX":
            return max(values, key=cmp_to_key(compare_for_order), default=None)
        case _:
            assert_never(aggregate.function)


def _sum(numbers: Sequence[int | float]) -> int | float:
    """Rule: "numbers only; integers of any size; with a float, rounded once"."""
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    return float(sum(map(Fraction, numbers)))


def _numbers(values: Sequence[Any]) -> list[int | float]:
    """Rule: "SUM and AVG use the numbers"; a boolean is none."""
    return [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]


def _distinct(values: Sequence[Any]) -> list[Any]:
    distinct: list[Any] = []
    for value in values:
        if not any(equal(value, other) for other in distinct):
            distinct.append(value)
    return distinct
