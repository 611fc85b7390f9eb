"""Rows of nodes to the result of FIND: collapse, group, order, page, shape (KIP 3.3, 3.5)."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.kql.reader import Reader
from kiprdf.language import ast
from kiprdf.language.values import is_number
from kiprdf.rdf.literals import Json, canonical_json

Solution: TypeAlias = dict[str, NamedNode | None]
"""A node by KQL variable; None is null."""


def columns(
    find: ast.Find,
    solutions: Iterable[Solution],
    predicates: frozenset[str],
    reader: Reader,
    offset: int = 0,
    limit: int | None = None,
) -> tuple[list[list[Json]], int]:
    """One page of a FIND as columns, one an expression, and the number of its rows.

    ``predicates`` are the variables that hold predicates.
    """
    answers = _Answers(find, predicates, reader)
    rows = answers.rows(solutions)
    page = list(itertools.islice(rows, offset, None if limit is None else offset + limit))
    return [[row[i] for row in page] for i in range(len(find.expressions))], len(page)


def is_grouped(find: ast.Find) -> bool:
    """Whether FIND holds an aggregate."""
    return any(isinstance(expression, ast.Aggregate) for expression in find.expressions)


def shape(find: ast.Find, found: list[list[Json]]) -> Json:
    """The result of KIP 6.2: columns; a single expression's column alone; an ungrouped aggregate
    as a scalar in its place."""
    shown: list[Json] = list(found)
    if all(isinstance(expression, ast.Aggregate) for expression in find.expressions):
        shown = [column[0] if column else None for column in found]
    return shown[0] if len(shown) == 1 else shown


class _Answers:
    def __init__(self, find: ast.Find, predicates: frozenset[str], reader: Reader) -> None:
        self._find = find
        self._predicates = predicates
        self._reader = reader

    def rows(self, solutions: Iterable[Solution]) -> Iterable[list[Json]]:
        """All rows in order, as JSON values."""
        if is_grouped(self._find):
            return self._grouped(solutions)
        projected = self._collapsed(self._ordered(solutions))
        return (
            [self._shown(solution, expression) for expression in self._find.expressions]
            for solution in projected
        )

    # Without aggregates -----------------------------------------------------------------------

    def _collapsed(self, solutions: Iterable[Solution]) -> Iterable[Solution]:
        """Solutions that are equal in all projected variables are one: the first in order."""
        names = self._projected()
        seen: set[tuple[NamedNode | None, ...]] = set()
        for solution in solutions:
            key = tuple(solution[name] for name in names)
            if key not in seen:
                seen.add(key)
                yield solution

    def _projected(self) -> list[str]:
        return list(dict.fromkeys(variable_of(e).name for e in self._find.expressions))

    def _ordered(self, solutions: Iterable[Solution]) -> Iterable[Solution]:
        if not self._find.order_by:
            return solutions
        names = self._projected()
        ordered = sorted(solutions, key=lambda s: tuple(_iri(s[name]) for name in names))
        for key in reversed(self._find.order_by):
            value = functools.partial(self._value, expression=key.expression)
            ordered = _sorted(ordered, value, key.descending)
        return ordered

    def _value(self, solution: Solution, expression: ast.Expression) -> Json:
        """What an expression is in a solution, nodes standing for themselves."""
        assert not isinstance(expression, ast.Aggregate)
        node = solution[variable_of(expression).name]
        if node is None:
            return None
        if isinstance(expression, ast.Variable):
            is_predicate = expression.name in self._predicates
            return self._reader.predicate_name(node) if is_predicate else node
        return self._reader.value(node, expression.field, expression.key)

    def _shown(self, solution: Solution, expression: ast.Expression) -> Json:
        value = self._value(solution, expression)
        return self._reader.object(value) if isinstance(value, NamedNode) else value

    # With aggregates --------------------------------------------------------------------------

    def _grouped(self, solutions: Iterable[Solution]) -> list[list[Json]]:
        """One row a combination of the plain expressions' values (KIP 3.3)."""
        plain = [e for e in self._find.expressions if not isinstance(e, ast.Aggregate)]
        groups: dict[tuple[Any, ...], list[Solution]] = {}
        for solution in solutions:
            identity = tuple(_identity(self._value(solution, expression)) for expression in plain)
            groups.setdefault(identity, []).append(solution)
        if not plain and not groups:
            groups[()] = []
        ranked = list(groups.values())
        if self._find.order_by:
            names = list(dict.fromkeys(variable_of(expression).name for expression in plain))
            ranked.sort(
                key=lambda group: min(
                    (tuple(_iri(solution[name]) for name in names) for solution in group),
                    default=(),
                )
            )
        rows = [self._group_row(group) for group in ranked]
        for key in reversed(self._find.order_by):
            index = self._find.expressions.index(key.expression)
            rows = _sorted(rows, lambda row, i=index: row[i], key.descending)  # type: ignore[misc]
        return [[self._object(value) for value in row] for row in rows]

    def _object(self, value: Json) -> Json:
        return self._reader.object(value) if isinstance(value, NamedNode) else value

    def _group_row(self, group: Sequence[Solution]) -> list[Json]:
        return [
            self._aggregate(expression, group)
            if isinstance(expression, ast.Aggregate)
            else self._representative(expression, group)
            for expression in self._find.expressions
        ]

    def _representative(self, expression: ast.Expression, group: Sequence[Solution]) -> Json:
        """Values that are equal (3 and 3.0) are one key; the first in order stands for them."""
        return min((self._value(solution, expression) for solution in group), key=_rank)

    def _aggregate(self, aggregate: ast.Aggregate, group: Sequence[Solution]) -> Json:
        values = [self._value(solution, aggregate.argument) for solution in group]
        values = [value for value in values if value is not None]
        match aggregate.function:
            case "COUNT":
                if aggregate.distinct:
                    return len({_identity(value) for value in values})
                return len(values)
            case "MIN":
                return min(values, key=_rank, default=None)
            case "MAX":
                return max(values, key=_rank, default=None)
        numbers = [value for value in values if is_number(value)]
        if aggregate.function == "AVG":
            return math.fsum(n / len(numbers) for n in numbers) if numbers else None
        total = sum(numbers)
        if isinstance(total, float) and not math.isfinite(total):
            message = "The SUM is beyond the range of a double."
            raise KipError("KIP_4002", message, "Sum fewer values.", aggregate.span)
        return total


def variable_of(expression: ast.Expression) -> ast.Variable:
    """The variable that an expression looks at."""
    if isinstance(expression, ast.Aggregate):
        return variable_of(expression.argument)
    return expression if isinstance(expression, ast.Variable) else expression.variable


def _iri(node: NamedNode | None) -> str:
    return "" if node is None else node.value


def _identity(value: Json) -> Any:
    """Equal exactly for values that are equal under ``==`` in KQL."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int | float):
        # An integer and a double are compared as doubles, two integers exactly; integers beyond
        # 2**53 that share a double are told apart here, as in the engine's own grouping.
        return ("number", value)
    if isinstance(value, list | dict):
        return ("json", canonical_json(value))
    return value


def sort_key(value: Json) -> tuple[int, Any]:
    """Kinds in the order booleans, numbers, strings, others by their stored text."""
    if isinstance(value, bool):
        return (0, value)
    if isinstance(value, int | float):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    if isinstance(value, NamedNode):
        return (3, value.value)
    return (3, canonical_json(value))


def _rank(value: Json) -> tuple[Any, bool]:
    """The order of values, equal numbers told apart: 3 and 3.0 must not depend on the store."""
    return sort_key(value), isinstance(value, float)


def _sorted(items: Iterable[Any], value: Callable[[Any], Json], descending: bool) -> list[Any]:
    """Stable; null last in both directions."""
    keyed = [(value(item), item) for item in items]
    filled = [(sort_key(found), item) for found, item in keyed if found is not None]
    # Python's sort keeps equal items in their order in both directions, as ties need.
    filled.sort(key=lambda pair: pair[0], reverse=descending)
    return [item for _, item in filled] + [item for found, item in keyed if found is None]
