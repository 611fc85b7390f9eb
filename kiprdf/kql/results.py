"""Turns rows of nodes into the result of FIND: group, order, page, shape (KIP 3.3, 3.5)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias
from typing import Literal as OneOf

from pyoxigraph import NamedNode

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.kql.reader import Reader
from kiprdf.kql.scopes import NAMESPACES, PREDICATE_NAME
from kiprdf.kql.translate import Path
from kiprdf.language import ast
from kiprdf.language.printer import expression_text
from kiprdf.language.values import is_number
from kiprdf.loading import load
from kiprdf.rdf.literals import Json, canonical_json, to_json
from kiprdf.rdf.readings import sort_key
from kiprdf.semantics.arguments import page_size
from kiprdf.store import Store
from kiprdf.store.base import Keep, Row

SORTED_AT_ONCE = 4_096
"""How many rows are kept besides those of the page, until they are sorted and cut."""
Value: TypeAlias = Callable[[Row, Reader], Json]
"""What an expression is in a row, nodes standing for themselves."""
Column: TypeAlias = Callable[[Iterable[Row], Reader], list[Json]]
"""What is shown of an expression in some rows."""
GroupColumn: TypeAlias = "Callable[[Sequence[_Group], Reader], list[Json]]"
"""What an expression is in some groups."""
Lack: TypeAlias = OneOf["rows", "values", "keys"]


@dataclass(frozen=True, slots=True)
class Cells:
    """Which cell of a row holds what.

    ``names`` are the KQL variables, ``predicates`` those that hold predicates, ``values`` what was
    read with the nodes, ``counts`` what the store has counted. Where ``are_counted``, the last cell
    is the number of solutions that are alike in all others.
    """

    names: dict[str, int]
    predicates: frozenset[str] = frozenset()
    values: dict[Path, int] = field(default_factory=dict)
    counts: dict[ast.Aggregate, int] = field(default_factory=dict)
    are_counted: bool = False


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


class Rendering:
    """How the rows of one FIND, with a page of ``limit`` rows, are shown.

    ``cells`` says what the rows hold. What depends on the FIND alone is made once.
    """

    def __init__(self, find: ast.Find, cells: Cells) -> None:
        self._find = find
        self._cells = cells
        self._is_grouped = is_grouped(find)
        self.limit = page_size(find.limit)
        self._keys = list(map(key_of, find.expressions))
        self._used_keys = list(self._columns_of_keys())
        self._columns: list[Column] = []
        self._group_columns: list[GroupColumn] = []
        if self._is_grouped:
            self._plain = [e for e in find.expressions if not isinstance(e, ast.Aggregate)]
            self._group_cells = [self._cell(expression)[0] for expression in self._plain]
            self._group_values = list(map(self._value, self._plain))
            self._group_columns = list(map(self._group_column, find.expressions))
        else:
            self._columns = list(map(self._column, find.expressions))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(map(expression_text, self._find.expressions))

    def _columns_of_keys(self) -> Iterator[tuple[int | None, NamedNode]]:
        """The keys that the FIND counts or sorts by, each with its column if it is shown."""
        shown = self._find.expressions
        for index, key in enumerate(self._keys):
            if key is not None and isinstance(shown[index], ast.Aggregate):
                yield index, key
        for expression in (key.expression for key in self._find.order_by):
            key = key_of(expression)
            if key is not None:
                yield shown.index(expression) if expression in shown else None, key

    def lack(self, columns: list[list[Json]], store: Store) -> Lack | None:
        """What the first page of an answer lacks: see ``FindResult``."""
        first = columns[0]
        if first and first[0] and not self._used_keys:
            return None  # as most answers
        if len(first) <= 1 and is_nothing(self._find, columns):
            return "rows"
        null = list(map(is_null, self._find.expressions, columns))
        if all(null) and all(self._keys):
            return "values"
        used = (key for index, key in self._used_keys if index is None or null[index])
        return "keys" if any(not store.lookup(None, key, None, 1) for key in used) else None

    def columns(
        self, rows: list[Row], reader: Reader, offset: int = 0, limit: int | None = None
    ) -> tuple[list[list[Json]], int]:
        """One page as columns, one an expression, and the number of its rows."""
        expressions = self._find.expressions
        end = None if limit is None else offset + limit
        if self._is_grouped:
            self._prefetch(expressions, rows, reader)
            page = [column[offset:end] for column in self._grouped(rows, reader)]
            reader.prefetch(itertools.chain.from_iterable(page))
            return [[_shown(value, reader) for value in column] for column in page], len(page[0])
        if self._find.order_by:
            self._prefetch([key.expression for key in self._find.order_by], rows, reader)
            rows = self._ordered(rows, reader)
        chosen = list(itertools.islice(self._collapsed(rows), offset, end))
        self._prefetch(expressions, chosen, reader)
        return [show(paced(chosen), reader) for show in self._columns], len(chosen)

    def keep(self, reader: Reader, number: int) -> Keep:
        """A function that keeps, of many rows of an ordered FIND, those that sort first."""

        def keep(rows: list[Row]) -> list[Row]:
            if len(rows) < 2 * number + SORTED_AT_ONCE:
                return rows
            ordered = self._ordered(rows, reader)
            return list(itertools.islice(self._collapsed(ordered), number))

        return keep

    def _prefetch(
        self, expressions: Iterable[ast.Expression], rows: Iterable[Row], reader: Reader
    ) -> None:
        """Read the elements ahead whose values some expressions need."""
        if not reader.reads_ahead:
            return
        read = [e for e in expressions if self._reads_element(e)]
        indices = {self._cells.names[variable_of(expression).name] for expression in read}
        if indices:
            reader.prefetch(row[index] for row in rows for index in indices)

    def _reads_element(self, expression: ast.Expression) -> bool:
        if isinstance(expression, ast.Aggregate):
            return expression not in self._cells.counts and self._reads_value(expression.argument)
        if isinstance(expression, ast.Variable):
            # In groups an element is shown, not read.
            return not self._is_grouped and expression.name not in self._cells.predicates
        return self._reads_value(expression)

    def _reads_value(self, expression: ast.Variable | ast.Path) -> bool:
        if isinstance(expression, ast.Variable) or expression.field in ("id", "type", "name"):
            return False
        return path_of(expression) not in self._cells.values

    def _column(self, expression: ast.Expression) -> Column:
        """What is shown of an expression: nodes as their elements."""
        index, convert = self._cell(expression)
        show = convert or _shown

        def column(rows: Iterable[Row], reader: Reader) -> list[Json]:
            cells = [row[index] for row in rows]
            return [None if cell is None else show(cell, reader) for cell in cells]

        return column

    def _value(self, expression: ast.Expression) -> Value:
        index, convert = self._cell(expression)
        if convert is None:
            return lambda row, reader: row[index]

        def value(row: Row, reader: Reader) -> Json:
            cell = row[index]
            return None if cell is None else convert(cell, reader)

        return value

    def _cell(self, expression: ast.Expression) -> tuple[int, Callable[[Any, Reader], Json] | None]:
        """The cell that an expression is read from, and how; a node stands for itself."""
        path = path_of(expression)
        if path in self._cells.values:
            return self._cells.values[path], _literal
        name = variable_of(expression).name
        index = self._cells.names[name]
        if path is None:
            if name not in self._cells.predicates:
                return index, None
            path = name, PREDICATE_NAME, None
        _, field, key = path
        if field == "name":
            return index, lambda node, reader: reader.iris.concept_name(node.value)
        return index, lambda node, reader: reader.value(node, field, key)

    # Without aggregates -----------------------------------------------------------------------

    def _collapsed(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Rows that are equal in all projected variables are one: the first in order."""
        return rows if self._are_different else _firsts(rows, self._nodes(self.projected))

    @cached_property
    def _are_different(self) -> bool:
        """Whether no two rows are equal in the projected variables."""
        return set(self._cells.names) <= set(self.projected)

    @cached_property
    def projected(self) -> list[str]:
        """The variables that the expressions read."""
        return list(dict.fromkeys(variable_of(e).name for e in self._find.expressions))

    def _nodes(self, names: Iterable[str]) -> Callable[[Row], tuple[Any, ...]]:
        indices = [self._cells.names[name] for name in names]
        return lambda row: tuple([row[index] for index in indices])

    def _ordered(self, rows: list[Row], reader: Reader) -> list[Row]:
        cells = self._nodes(self.projected)
        ordered = sorted(rows, key=lambda row: [_iri(node) for node in cells(row)])
        for key in reversed(self._find.order_by):
            value = self._value(key.expression)
            values = [value(row, reader) for row in paced(ordered)]
            ordered = _sorted(ordered, values, key.descending)
        return ordered

    # With aggregates --------------------------------------------------------------------------

    def _grouped(self, rows: Iterable[Row], reader: Reader) -> list[list[Json]]:
        """The columns of one row a combination of the plain expressions' values (KIP 3.3)."""
        groups = self._groups(rows, reader)
        if self._find.order_by:
            plain = self._plain
            in_cells = [i for i, e in enumerate(plain) if path_of(e) in self._cells.values]
            for index in reversed(in_cells):
                values = [group.spellings[0][index] for group in groups]
                groups = _sorted(groups, values, descending=False)
            others = (e for i, e in enumerate(plain) if i not in in_cells)
            names = dict.fromkeys(variable_of(e).name for e in others)
            cells = self._nodes(names)
            groups.sort(
                key=lambda group: min(
                    ([_iri(node) for node in cells(row)] for row in group.rows), default=[]
                )
            )
        columns = [column(groups, reader) for column in self._group_columns]
        for key in reversed(self._find.order_by):
            values = columns[self._find.expressions.index(key.expression)]
            order = _sorted(range(len(values)), values, key.descending)
            columns = [[column[row] for row in order] for column in columns]
        return columns

    def _groups(self, rows: Iterable[Row], reader: Reader) -> list[_Group]:
        """The rows by the values of the plain expressions; each term is read once."""
        indices, values = self._group_cells, self._group_values
        alike: dict[tuple[Any, ...], list[Row]] = {}
        for row in paced(rows):
            alike.setdefault(tuple([row[index] for index in indices]), []).append(row)
        groups: dict[tuple[Any, ...], _Group] = {}
        for some in paced(alike.values()):
            spelling = [value(some[0], reader) for value in values]
            group = groups.setdefault(tuple(map(identity, spelling)), _Group([], []))
            group.spellings.append(spelling)
            group.rows.extend(some)
        if not indices and not groups:
            groups[()] = _Group([], [])
        return list(groups.values())

    def _group_column(self, expression: ast.Expression) -> GroupColumn:
        if not isinstance(expression, ast.Aggregate):
            index = self._plain.index(expression)
            return lambda groups, _: [
                _representative([values[index] for values in group.spellings]) for group in groups
            ]
        counted = self._cells.counts.get(expression)
        if counted is not None:
            return lambda groups, _: [sum([count(row[counted]) for row in g.rows]) for g in groups]
        value = self._value(expression.argument)
        is_repeated = not expression.distinct and expression.function not in ("MIN", "MAX")
        return lambda groups, reader: [
            _aggregate(expression, self._values(value, group.rows, reader, is_repeated))
            for group in paced(groups)
        ]

    def _values(
        self, value: Value, rows: Iterable[Row], reader: Reader, is_repeated: bool
    ) -> list[Json]:
        """A value of all solutions, or of all rows."""
        if not (is_repeated and self._cells.are_counted):
            return [value(row, reader) for row in rows]
        repeated = (itertools.repeat(value(row, reader), count(row[-1])) for row in rows)
        return list(itertools.chain.from_iterable(repeated))


class _Group(NamedTuple):
    """The rows of a group, and each spelling of its values (3 and 3.0)."""

    spellings: list[list[Json]]
    rows: list[Row]


def _literal(term: Any, _: Reader) -> Json:
    return to_json(term)


def _shown(value: Json, reader: Reader) -> Json:
    return reader.object(value) if isinstance(value, NamedNode) else value


def _firsts(rows: Iterable[Row], identity: Callable[[Row], tuple[Any, ...]]) -> Iterable[Row]:
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = identity(row)
        if key not in seen:
            seen.add(key)
            yield row


def _representative(values: Sequence[Json]) -> Json:
    """Values that are equal are one key; the first in order represents them."""
    return min(values, key=_rank) if is_number(values[0]) else values[0]


def count(cell: Any) -> int:
    """The number that the store has counted."""
    return int(cell.value)


def _aggregate(aggregate: ast.Aggregate, values: list[Json]) -> Json:
    """An aggregate over the values of a group (KIP 3.3); nulls are left out."""
    values = [value for value in values if value is not None]
    match aggregate.function:
        case "COUNT":
            if aggregate.distinct:
                return len({identity(value) for value in values})
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
    load("fractions")
    from fractions import Fraction

    return float(sum(map(Fraction, numbers)))


def variable_of(expression: ast.Expression) -> ast.Variable:
    """The variable that an expression reads."""
    if isinstance(expression, ast.Aggregate):
        return variable_of(expression.argument)
    return expression if isinstance(expression, ast.Variable) else expression.variable


def path_of(expression: ast.Expression) -> Path | None:
    """What an expression reads of a variable; None for the variable itself."""
    path = expression.argument if isinstance(expression, ast.Aggregate) else expression
    return None if isinstance(path, ast.Variable) else (path.variable.name, path.field, path.key)


def _iri(node: NamedNode | None) -> str:
    return "" if node is None else node.value


def identity(value: Json) -> Any:
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


def _rank(value: Json) -> tuple[Any, bool]:
    """The order of values, equal numbers by their type: 3 and 3.0 must not depend on the store."""
    return sort_key(value), isinstance(value, float)


def _sorted(items: Iterable[Any], values: Iterable[Json], descending: bool) -> list[Any]:
    """The items in the order of their values; stable, null last in both directions."""
    keyed = list(zip(values, items, strict=True))
    filled = [(sort_key(value), item) for value, item in paced(keyed) if value is not None]
    # Python's sort keeps equal items in their order in both directions, as ties need.
    filled.sort(key=itemgetter(0), reverse=descending)
    return [item for _, item in filled] + [item for value, item in keyed if value is None]
