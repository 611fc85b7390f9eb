"""Rows of nodes to the result of FIND: collapse, group, order, page, shape (KIP 3.3, 3.5)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from operator import itemgetter
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.kql.optimize.push_filters import NAMESPACES
from kiprdf.kql.reader import Reader
from kiprdf.kql.translate import Path
from kiprdf.language import ast
from kiprdf.language.values import is_number
from kiprdf.rdf.literals import Json, canonical_json, to_json
from kiprdf.store.base import Keep, Row

SORTED_AT_ONCE = 4_096
"""How many rows are kept besides those of the page, until they are sorted and cut."""
Value: TypeAlias = Callable[[Row], Json]
"""What an expression is in a row, nodes standing for themselves."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Which cell of a row holds what.

    ``names`` are the KQL variables, ``predicates`` those that hold predicates, ``values`` what was
    read with the nodes, ``counts`` what the store has counted.
    """

    names: dict[str, int]
    predicates: frozenset[str] = frozenset()
    values: dict[Path, int] = field(default_factory=dict)
    counts: dict[ast.Aggregate, int] = field(default_factory=dict)


def columns(
    find: ast.Find,
    rows: list[Row],
    cells: Cells,
    reader: Reader,
    offset: int = 0,
    limit: int | None = None,
) -> tuple[list[list[Json]], int]:
    """One page of a FIND as columns, one an expression, and the number of its rows."""
    answers = _Answers(find, cells, reader)
    end = None if limit is None else offset + limit
    if is_grouped(find):
        answers.prefetch(find.expressions, rows)
        page = answers.grouped(rows)[offset:end]
        reader.prefetch(itertools.chain.from_iterable(page))
        shown = [list(map(answers.shown, map(itemgetter(i), page))) for i in answers.indices]
        return shown, len(page)
    answers.prefetch([key.expression for key in find.order_by], rows)
    chosen = list(itertools.islice(answers.collapsed(answers.ordered(rows)), offset, end))
    answers.prefetch(find.expressions, chosen)
    return [answers.column(expression, chosen) for expression in find.expressions], len(chosen)


def first_rows(find: ast.Find, cells: Cells, reader: Reader, number: int) -> Keep:
    """A function that keeps, of many rows of an ordered FIND, those that sort first."""
    answers = _Answers(find, cells, reader)

    def keep(rows: list[Row]) -> list[Row]:
        if len(rows) < 2 * number + SORTED_AT_ONCE:
            return rows
        return list(itertools.islice(answers.collapsed(answers.ordered(rows)), number))

    return keep


def is_grouped(find: ast.Find) -> bool:
    """Whether FIND holds an aggregate."""
    return any(isinstance(expression, ast.Aggregate) for expression in find.expressions)


def is_nothing(find: ast.Find, columns: list[list[Json]]) -> bool:
    """Whether a FIND has found nothing: no row, or in the only row only aggregates of nothing.

    A SUM of 0 may still be one of numbers.
    """
    if not columns[0] or not all(isinstance(e, ast.Aggregate) for e in find.expressions):
        return not columns[0]
    return all(map(is_null, find.expressions, columns))


def is_null(expression: ast.Expression, column: list[Json]) -> bool:
    """Whether all cells of a column are null, or counts or sums of nothing."""
    is_sum = isinstance(expression, ast.Aggregate) and expression.function in ("COUNT", "SUM")
    return all(value is None or (is_sum and not value) for value in column)


def key_of(expression: ast.Expression) -> NamedNode | None:
    """The predicate of the attribute or metadata key that an expression reads; None without."""
    path = expression.argument if isinstance(expression, ast.Aggregate) else expression
    if isinstance(path, ast.Variable) or path.key is None:
        return None
    return NamedNode(NAMESPACES[path.field] + path.key)


def shape(find: ast.Find, columns: list[list[Json]]) -> Json:
    """The result of KIP 6.2: columns; a single expression's column alone; an ungrouped aggregate
    as a scalar in its place."""
    shown: list[Json] = list(columns)
    if all(isinstance(expression, ast.Aggregate) for expression in find.expressions):
        shown = [column[0] if column else None for column in columns]
    return shown[0] if len(shown) == 1 else shown


class _Answers:
    def __init__(self, find: ast.Find, cells: Cells, reader: Reader) -> None:
        self._find = find
        self._cells = cells
        self._reader = reader
        self.indices = range(len(find.expressions))

    def prefetch(self, expressions: Iterable[ast.Expression], rows: Iterable[Row]) -> None:
        """Read the elements ahead whose values some expressions need."""
        if not self._reader.reads_ahead:
            return
        read = [e for e in expressions if self._reads_element(e)]
        indices = {self._cells.names[variable_of(expression).name] for expression in read}
        if indices:
            self._reader.prefetch(row[index] for row in rows for index in indices)

    def _reads_element(self, expression: ast.Expression) -> bool:
        if isinstance(expression, ast.Aggregate):
            return expression not in self._cells.counts and self._reads_value(expression.argument)
        if isinstance(expression, ast.Variable):
            # In groups an element is shown, not read.
            is_shown = not is_grouped(self._find)
            return is_shown and expression.name not in self._cells.predicates
        return self._reads_value(expression)

    def _reads_value(self, expression: ast.Variable | ast.Path) -> bool:
        if isinstance(expression, ast.Variable) or expression.field in ("id", "type", "name"):
            return False
        return (
            expression.variable.name,
            expression.field,
            expression.key,
        ) not in self._cells.values

    def column(self, expression: ast.Expression, rows: Sequence[Row]) -> list[Json]:
        """What an expression is in some rows, as JSON."""
        values = list(map(self._value(expression), paced(rows)))
        if isinstance(expression, ast.Variable) and expression.name not in self._cells.predicates:
            return list(map(self.shown, values))
        return values

    def shown(self, value: Json) -> Json:
        return self._reader.object(value) if isinstance(value, NamedNode) else value

    def _value(self, expression: ast.Expression) -> Value:
        variable = variable_of(expression)
        index = self._cells.names[variable.name]
        if isinstance(expression, ast.Variable):
            is_predicate = variable.name in self._cells.predicates
            return (
                _of_cell(index, self._reader.predicate_name) if is_predicate else itemgetter(index)
            )
        path = cast(ast.Path, expression)
        read = self._cells.values.get((variable.name, path.field, path.key))
        if read is not None:
            return _of_cell(read, to_json)
        if path.field == "name":
            return _of_cell(index, self._name)
        return _of_cell(index, lambda node: self._reader.value(node, path.field, path.key))

    def _name(self, node: NamedNode) -> str | None:
        return self._reader.iris.concept_name(node.value)

    # Without aggregates -----------------------------------------------------------------------

    def collapsed(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Rows that are equal in all projected variables are one: the first in order."""
        names = self._projected()
        if set(self._cells.names) <= set(names):
            return rows
        return _firsts(rows, self._nodes(names))

    def _projected(self) -> list[str]:
        return list(dict.fromkeys(variable_of(e).name for e in self._find.expressions))

    def _nodes(self, names: Iterable[str]) -> Callable[[Row], tuple[Any, ...]]:
        indices = [self._cells.names[name] for name in names]
        return lambda row: tuple([row[index] for index in indices])

    def ordered(self, rows: list[Row]) -> list[Row]:
        if not self._find.order_by:
            return rows
        cells = self._nodes(self._projected())
        ordered = sorted(rows, key=lambda row: [_iri(node) for node in cells(row)])
        for key in reversed(self._find.order_by):
            ordered = _sorted(ordered, self._value(key.expression), key.descending)
        return ordered

    # With aggregates --------------------------------------------------------------------------

    def grouped(self, rows: Iterable[Row]) -> list[list[Json]]:
        """One row a combination of the plain expressions' values (KIP 3.3)."""
        plain = [e for e in self._find.expressions if not isinstance(e, ast.Aggregate)]
        values = [self._value(expression) for expression in plain]
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in paced(rows):
            identity = tuple([_identity(value(row)) for value in values])
            groups.setdefault(identity, []).append(row)
        if not plain and not groups:
            groups[()] = []
        ranked = list(groups.values())
        if self._find.order_by:
            cells = self._nodes(dict.fromkeys(variable_of(expression).name for expression in plain))
            ranked.sort(
                key=lambda group: min(
                    ([_iri(node) for node in cells(row)] for row in group), default=[]
                )
            )
        columns = [list(self._group_column(e, ranked)) for e in self._find.expressions]
        shown: list[list[Json]] = list(map(list, zip(*columns, strict=True)))
        for key in reversed(self._find.order_by):
            index = self._find.expressions.index(key.expression)
            shown = _sorted(shown, itemgetter(index), key.descending)
        return shown

    def _group_column(
        self, expression: ast.Expression, groups: Iterable[Sequence[Row]]
    ) -> Iterable[Json]:
        if not isinstance(expression, ast.Aggregate):
            return map(_representative, itertools.repeat(self._value(expression)), groups)
        counted = self._cells.counts.get(expression)
        if counted is not None:
            return (sum(count(row[counted]) for row in group) for group in groups)
        value = self._value(expression.argument)
        return (_aggregate(expression, list(map(value, group))) for group in paced(groups))


def _firsts(rows: Iterable[Row], identity: Callable[[Row], tuple[Any, ...]]) -> Iterable[Row]:
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = identity(row)
        if key not in seen:
            seen.add(key)
            yield row


def _of_cell(index: int, function: Callable[[Any], Json]) -> Value:
    """A function of one cell; null where the cell is unbound."""

    def value(row: Row) -> Json:
        cell = row[index]
        return None if cell is None else function(cell)

    return value


def _representative(value: Value, group: Sequence[Row]) -> Json:
    """Values that are equal (3 and 3.0) are one key; the first in order represents them."""
    first = value(group[0])
    return min(map(value, group), key=_rank) if is_number(first) else first


def count(cell: object) -> int:
    """The number that the store has counted."""
    return int(cast(Literal, cell).value)


def _aggregate(aggregate: ast.Aggregate, values: list[Json]) -> Json:
    """An aggregate over the values of a group (KIP 3.3); nulls are left out."""
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
    try:
        return _sum(numbers)
    except OverflowError:
        message = "The SUM is beyond the range of a double."
        raise KipError("KIP_4002", message, "Sum fewer values.", aggregate.span) from None


def _sum(numbers: Sequence[int | float]) -> int | float:
    """Exact where all are integers, else rounded once, since the order of the rows is undefined.

    Raises ``OverflowError`` beyond the range of a double.
    """
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    if all(isinstance(number, float) or abs(number) <= 2**53 for number in numbers):
        with suppress(OverflowError):
            # It gives up where a part of the sum is beyond the range.
            return math.fsum(numbers)
    return float(sum(map(Fraction, numbers)))


def variable_of(expression: ast.Expression) -> ast.Variable:
    """The variable that an expression reads."""
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
        # 2**53 that share a double are different here, as in the engine's own grouping.
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
    """The order of values, equal numbers by their type: 3 and 3.0 must not depend on the store."""
    return sort_key(value), isinstance(value, float)


def _sorted(items: Iterable[Any], value: Callable[[Any], Json], descending: bool) -> list[Any]:
    """Stable; null last in both directions."""
    keyed = [(value(item), item) for item in paced(items)]
    filled = [(sort_key(value), item) for value, item in keyed if value is not None]
    # Python's sort keeps equal items in their order in both directions, as ties need.
    filled.sort(key=itemgetter(0), reverse=descending)
    return [item for _, item in filled] + [item for value, item in keyed if value is None]
