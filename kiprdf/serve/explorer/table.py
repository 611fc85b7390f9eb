"""A type as a table of its concepts, or a predicate as one of its facts.

The rows are those of a FIND, whose text the page shows; so are the numbers of the values. The FIND
is built as a tree: what an address says enters it as values only (docs/decisions/223).
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast
from urllib.parse import urlencode

from pyoxigraph import NamedNode, Variable

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.kql.reader import Reader
from kiprdf.kql.results import identity
from kiprdf.language import ast, to_text
from kiprdf.language.names import is_key
from kiprdf.language.printer import condition_text, operand_text
from kiprdf.meta.counts import KEY, VALUE, X, by_predicate, grouped, kept_uses
from kiprdf.pages.page import View, count, words
from kiprdf.pages.page import name as name_text
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json, to_term
from kiprdf.rdf.readings import read
from kiprdf.serve.explorer.csv_files import CSV, csv_bytes
from kiprdf.serve.explorer.explorer import Explorer
from kiprdf.serve.explorer.fact_acts import add_link
from kiprdf.serve.explorer.page import ExplorerPage, page_start
from kiprdf.serve.http import Answer, to_json
from kiprdf.serve.state import number_of
from kiprdf.sparql.algebra import TripleTerm

PATH = "explore/table"
SIZE = 50
"""The rows of a page."""
MOST_COLUMNS = 8
"""The attributes that are shown where none are chosen: those that most rows have."""
MOST_SHOWN = 60
"""The most columns that can be chosen, beside its elements: a FIND has 64 expressions."""
MOST_VALUES = 20
"""A column with more values is not counted by value."""
MOST_COUNTED, COLUMNS_COUNTED = 10_000, 16
"""The most rows, and columns, whose values are counted."""
METADATA = ("status", "source", "author", "confidence", "_created_at", "_updated_at")
"""The metadata that can be columns."""
_LONGEST_VALUE, _SHORT, _CUT, _WHOLE = 40, 24, 80, 300
_CHUNK = 500
_IDS = ("id", "subject_id", "object_id")
"""The headings of ids in a CSV."""
_X, _SUBJECT, _OBJECT = map(ast.Variable, ("x", "subject", "object"))
_INTEGERS = range(-(2**63), 2**63)
_TYPED = re.compile(r'true|false|-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|".*"', re.DOTALL)
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")


class Operator(NamedTuple):
    """How the value of a column is compared."""

    text: str
    condition: Callable[[ast.Path, ast.Scalar], ast.Condition]
    has_value: bool = True


def _compared(symbol: ast.ComparisonOperator) -> Callable[[ast.Path, ast.Scalar], ast.Condition]:
    return lambda path, value: ast.Comparison(symbol, path, value)


OPERATORS = {
    "is": Operator("is", _compared("==")),
    "not": Operator("is not", _compared("!=")),
    "contains": Operator("contains", lambda path, text: ast.StringTest("CONTAINS", path, text)),
    "ge": Operator("≥", _compared(">=")),
    "le": Operator("≤", _compared("<=")),
    "some": Operator("has a value", lambda path, _: ast.NullTest(path, True), False),
    "none": Operator("has none", lambda path, _: ast.NullTest(path, False), False),
}
_CHOSEN = ("is", "none")
"""The operators of a value that is chosen among the counted ones of a column."""


class Filter(NamedTuple):
    """A condition on a column, as an address has it: ``age:ge:30``."""

    column: str
    operator: str
    value: str = ""

    def __str__(self) -> str:
        return ":".join(self)


def value_of(text: str) -> str | int | float | bool:
    """The value that a text in an address is: a number, true or false, else a text.

    A text that looks like another value has quotes.

    >>> value_of("30"), value_of('"30"'), value_of("true"), value_of("Lisbon")
    (30, '30', True, 'Lisbon')
    """
    try:
        value = json.loads(text) if _TYPED.fullmatch(text) else text
    except ValueError:
        return text
    # Neither an infinite number is a value, nor one outside the 64-bit range.
    is_none = value not in _INTEGERS if isinstance(value, int) else value in (math.inf, -math.inf)
    return text if is_none else cast("str | int | float | bool", value)


def value_text(value: str | int | float | bool) -> str:
    """The text of a value in an address.

    >>> value_text("Lisbon"), value_text("30"), value_text(30)
    ('Lisbon', '"30"', '30')
    """
    is_plain = isinstance(value, str) and value_of(value) == value
    return cast(str, value) if is_plain else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Asked:
    """What the address of a table asks for: the rows of a type, or of a predicate."""

    name: str
    is_predicate: bool = False
    filters: tuple[Filter, ...] = ()
    sort: str = ""
    is_descending: bool = False
    search: str = ""
    shown: tuple[str, ...] = ()
    first: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Asked:
        """That of the fields of an address; KIP_1001 for what is none."""
        fields: dict[str, list[str]] = {}
        for key, text in pairs:
            fields.setdefault(key, []).append(text)
        last = {key: texts[-1] for key, texts in fields.items()}
        is_predicate = "predicate" in last
        first = last.get("first", "")
        asked = cls(
            last.get("predicate" if is_predicate else "type", ""),
            is_predicate,
            tuple(map(_filter, dict.fromkeys(fields.get("filter", ())))),
            last.get("sort", ""),
            last.get("order") == "desc",
            last.get("q", "").strip(),
            first=number_of(first) or 0,
        )
        for one in asked.filters:
            asked.condition(one)
        shown = dict.fromkeys(map(asked.column, fields.get("show", ())))
        if len(shown) > MOST_SHOWN:
            message = f"A table has at most {MOST_SHOWN} columns, and not {len(shown):,}."
            hint = "Choose fewer. The CSV has all, where none is chosen."
            raise KipError("KIP_4002", message, hint)
        return replace(
            asked,
            sort=asked.sort and asked.column(asked.sort),
            shown=tuple(one for one in shown if one not in asked.names),
        )

    def fields(self) -> dict[str, str | list[str]]:
        """The fields of its address, without the page."""
        return {
            "predicate" if self.is_predicate else "type": self.name,
            "filter": list(map(str, self.filters)),
            "sort": self.sort,
            "order": "desc" if self.is_descending else "",
            "q": self.search,
            "show": list(self.shown),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that each row has: the names of its elements."""
        return ("subject", "object") if self.is_predicate else ("name",)

    @property
    def elements(self) -> tuple[ast.Variable, ...]:
        return (_X, _SUBJECT, _OBJECT) if self.is_predicate else (_X,)

    def path(self, column: str) -> ast.Path:
        """What a column shows, as KQL; KIP_1001 for none."""
        if column in self.names:
            elements = {"name": _X, "subject": _SUBJECT, "object": _OBJECT}
            return ast.Path(elements[column], "name")
        field, _, key = column.rpartition(".")
        if field not in ("", "attributes", "metadata") or not is_key(key):
            message = f"The table has no column {json.dumps(column[:60])}."
            raise KipError("KIP_1001", message, "Give the key of an attribute, or metadata.KEY.")
        return ast.Path(_X, "metadata" if field == "metadata" else "attributes", key)

    def column(self, given: str) -> str:
        """The name of a column, which no other of a table or its CSV has; KIP_1001 for none."""
        path = self.path(given)
        if given in self.names or path.field == "metadata":
            return given
        return f"attributes.{path.key}" if path.key in (*_IDS, *self.names) else str(path.key)

    def condition(self, one: Filter) -> ast.Condition:
        """A filter as KQL; KIP_1001 for none."""
        operator, value = OPERATORS[one.operator], value_of(one.value)
        if one.operator == "contains" and not isinstance(value, str):
            value = one.value
        return operator.condition(self.path(one.column), ast.Scalar(value))

    def where(self, columns: Iterable[str] = ()) -> ast.Block:
        """The rows as KQL; a search is one in some columns."""
        name = ast.Scalar(self.name)
        rows: ast.Clause = ast.ConceptClause(_X, ast.ConceptMatcher(type=name))
        if self.is_predicate:
            predicates = ast.Predicates((ast.PredicateName(name),))
            fact = ast.PropositionMatcher(_SUBJECT, predicates, _OBJECT)
            rows = ast.PropositionClause(_X, fact)
        conditions = [self.condition(one) for one in self.filters]
        if self.search:
            conditions.append(self.matches(columns))
        return ast.Block((rows, *map(ast.Filter, conditions)))

    def matches(self, columns: Iterable[str]) -> ast.Condition:
        """The search as KQL: a letter matches in either case, a number is one of its value."""
        pattern = ast.Scalar("(?i)" + _SPECIAL.sub(r"\\\g<0>", self.search))
        value = value_of(self.search)
        tests: list[ast.Condition] = []
        for path in map(self.path, (*self.names, *columns)):
            tests.append(ast.StringTest("REGEX", path, pattern))
            if path.key is not None and not isinstance(value, str):
                tests.append(ast.Comparison("==", path, ast.Scalar(value)))
        return ast.Disjunction(tuple(tests))

    def order(self) -> tuple[ast.OrderKey, ...]:
        columns = (self.sort,) if self.sort else self.names
        return tuple(ast.OrderKey(self.path(one), self.is_descending) for one in columns)


def _filter(text: str) -> Filter:
    column, _, rest = text.partition(":")
    operator, _, value = rest.partition(":")
    if operator not in OPERATORS:
        message = f"This is no filter: {json.dumps(text[:60])}."
        hint = f"Give COLUMN:OPERATOR:VALUE; the operators are {', '.join(OPERATORS)}."
        raise KipError("KIP_1001", message, hint)
    return Filter(column, operator, value)


class _Rows:
    """The rows of a table in one nexus."""

    def __init__(self, explorer: Explorer, asked: Asked) -> None:
        self.explorer, self.asked = explorer, asked
        attributes = [asked.column(f"attributes.{key}") for key in self._in_use()]
        self.all_columns = attributes + [f"metadata.{key}" for key in METADATA]
        self.columns = list(asked.shown) or attributes[:MOST_COLUMNS]

    def _in_use(self) -> list[str]:
        """The attributes of the rows, also of those that only follow, the most frequent first."""
        asked, kinds = self.asked, {self.asked.name}
        if self.explorer.nexus.entail:
            path = ast.Path(_X, "predicate" if asked.is_predicate else "type")
            kinds |= {kind for kind, _ in self.find((path, self._number), asked.where()) if kind}
        counts = sum((Counter(self._keys(kind)) for kind in kinds), Counter[NamedNode]())
        nodes = sorted(counts, key=lambda node: (-counts[node], node.value))
        attributes = (node.value for node in nodes if node.value.startswith(vocab.ATTRIBUTE))
        return [iri.removeprefix(vocab.ATTRIBUTE) for iri in attributes]

    def _keys(self, kind: str) -> dict[NamedNode, int]:
        store = self.explorer.store
        if not self.asked.is_predicate:
            uses = kept_uses(store)
            if uses is not None:
                return by_predicate(uses, subject=kind)
            return dict(grouped(store, (KEY,), (X, vocab.TYPE, store.iris.type(kind)), _HAS))
        fact = Variable("subject"), store.iris.predicate(kind), Variable("object")
        link: Any = (X, vocab.REIFIES, TripleTerm(*fact))
        return dict(grouped(store, (KEY,), fact, link, _HAS))

    @property
    def _number(self) -> ast.Aggregate:
        return ast.Aggregate("COUNT", self.asked.elements[-1])

    def find(
        self,
        expressions: Iterable[ast.Expression],
        where: ast.Block,
        order: tuple[ast.OrderKey, ...] = (),
        limit: int | None = None,
    ) -> Sequence[tuple[Any, ...]]:
        """The rows of a FIND."""
        most = None if limit is None else ast.Scalar(limit)
        find = ast.Find(tuple(expressions), where, order, most)
        return self.explorer.nexus.find(to_text(find)).tuples()

    def where(self, asked: Asked | None = None) -> ast.Block:
        return (asked or self.asked).where(self.columns)

    def command(self) -> str:
        """The FIND that answers the whole table."""
        paths = map(self.asked.path, self.columns)
        find = ast.Find((*self.asked.elements, *paths), self.where(), self.asked.order())
        return to_text(find)

    def total(self, asked: Asked | None = None) -> int:
        """How many rows there are."""
        ((number,),) = self.find((self._number,), self.where(asked))
        return cast(int, number)

    def identities(self, limit: int | None = None) -> Sequence[tuple[Any, ...]]:
        """The ids of the elements of the rows, in the order of the table."""
        return self.find(self._ids, self.where(), self.asked.order(), limit)

    @property
    def _ids(self) -> list[ast.Expression]:
        return [ast.Path(variable, "id") for variable in self.asked.elements]

    def page(self) -> Part:
        """The rows of the page. A search is one FIND of all rows: it takes longer than reading
        them."""
        first, paths = self.asked.first, list(map(self.asked.path, self.columns))
        if not self.asked.search:
            total = self.total()
            first = page_start(first, SIZE, total)
            return Part(total, first, self.identities(first + SIZE)[first:], {})
        rows = self.find((*self._ids, *paths), self.where(), self.asked.order())
        first = page_start(first, SIZE, len(rows))
        width = len(self._ids)
        values = {
            column: [(row[at], 1) for row in rows]
            for at, column in enumerate(self.columns, start=width)
        }
        ids = [row[:width] for row in rows[first : first + SIZE]]
        return Part(len(rows), first, ids, values)

    def elements(self, rows: Iterable[tuple[str | None, ...]]) -> Iterator[dict[str, Any]]:
        """The elements of some rows; of a fact that only follows, its ends."""
        store = self.explorer.store
        reader = Reader(store)
        listed = list(rows)
        nodes = [None if row[0] is None else store.iris.from_id(row[0]) for row in listed]
        reader.prefetch(nodes)
        for row, node in zip(listed, nodes, strict=True):
            # What follows from a definition may have other ends than what it follows from.
            ends = zip(("id", "subject", "object"), row, strict=False)
            yield ({} if node is None else reader.object(node)) | dict(ends)

    def cell(self, element: dict[str, Any], column: str) -> tuple[Json, ...]:
        """The value of a column, in a tuple that is empty where there is none."""
        path = self.asked.path(column)
        if path.key is None:
            end = element[column] if self.asked.is_predicate else element["id"]
            return (self._name(end),)
        values = element.get(path.field, {})
        return (values[path.key],) if path.key in values else ()

    def _name(self, identity: str) -> str:
        node = self.explorer.store.iris.from_id(identity)
        name = None if node is None else self.explorer.store.iris.concept_name(node.value)
        return identity if name is None else name

    # How often values occur -----------------------------------------------------------------------

    def counted(self, part: Part) -> Iterator[tuple[str, Counted]]:
        """The columns with few values, each with its values: their numbers under the filters of
        the other columns."""
        for column in self.columns[:COLUMNS_COUNTED]:
            is_chosen = any(
                one.column == column and one.operator in _CHOSEN for one in self.asked.filters
            )
            others = replace(self.asked, filters=tuple(self._without(column)))
            if is_chosen and self.total(others) > MOST_COUNTED:
                continue
            pairs: Sequence[Any] | None = None if is_chosen else part.values.get(column)
            if pairs is None:
                pairs = self.find((self.asked.path(column), self._number), self.where(others))
            counted = _counted(pairs)
            if counted is not None and (is_chosen or counted.is_useful):
                yield column, counted

    def _without(self, column: str) -> Iterator[Filter]:
        """The filters without the value that is chosen of a column."""
        for one in self.asked.filters:
            if one.column != column or one.operator not in _CHOSEN:
                yield one

    def choose(self, column: str, choice: Filter) -> Asked:
        """The table with another value of a column, or without the one that is chosen."""
        others = tuple(self._without(column))
        filters = others if choice in self.asked.filters else (*others, choice)
        return replace(self.asked, filters=filters, first=0)

    def with_filter(self, added: Filter) -> Asked:
        """The table with a filter that a person wrote: a text of digits is a text where the column
        has texts."""
        value = value_of(added.value)
        if not isinstance(value, str) and added.operator in ("is", "not", "ge", "le"):
            tried = added._replace(operator="is") if added.operator == "not" else added
            numbers = [
                self.total(Asked(self.asked.name, self.asked.is_predicate, (one,)))
                for one in (tried, tried._replace(value=json.dumps(added.value)))
            ]
            if numbers[0] == 0 < numbers[1]:
                added = added._replace(value=json.dumps(added.value))
        elif not OPERATORS[added.operator].has_value:
            added = added._replace(value="")
        filters = tuple(dict.fromkeys((*self.asked.filters, added)))
        return replace(self.asked, filters=filters, first=0)


_HAS = (X, KEY, VALUE)


class Part(NamedTuple):
    """The rows of a page: how many there are in all, and which is the first of the page.

    ``values`` are those of columns whose values were read, each with the number 1.
    """

    total: int
    first: int
    ids: Sequence[tuple[Any, ...]]
    values: dict[str, list[tuple[Any, ...]]]


class Counted(NamedTuple):
    """The values of a column with their numbers, and the number of rows without one."""

    values: list[tuple[str | int | float | bool, int]]
    none: int

    @property
    def is_useful(self) -> bool:
        """Whether a choice narrows the table, and finds more than one row."""
        numbers = [number for _, number in self.values]
        return len(numbers) + bool(self.none) > 1 and max(numbers, default=0) > 1


def _counted(pairs: Iterable[tuple[Any, ...]]) -> Counted | None:
    """The values as FILTER reads them: an array is each of its items. None for too many of them,
    and for long ones."""
    numbers: dict[Any, tuple[Any, int]] = {}
    none = 0
    for value, number in pairs:
        reading = None if value is None else read(to_term(value))
        if reading is None:
            none += number
            continue
        items = reading if isinstance(reading, list) else [reading]
        for key, item in {identity(item): item for item in items if item is not None}.items():
            is_short = not isinstance(item, str) or len(item) <= _LONGEST_VALUE
            if not isinstance(item, str | int | float | bool) or not is_short:
                return None
            numbers[key] = item, numbers.get(key, (item, 0))[1] + number
            if len(numbers) > MOST_VALUES:
                return None
    values = sorted(numbers.values(), key=lambda one: (-one[1], str(one[0])))
    return Counted(values, none)


# The page -----------------------------------------------------------------------------------------


def address(explorer: Explorer, asked: Asked) -> str:
    """The address of a table."""
    fields = {key: value for key, value in asked.fields().items() if value}
    return explorer.page(PATH).href(f"{PATH}?{urlencode(fields, doseq=True)}")


def filtered(explorer: Explorer, asked: Asked, added: tuple[str, str, str]) -> str:
    """The address of a table with a filter more, as a form sent it."""
    one = _filter(":".join(added))
    asked.condition(one)
    return address(explorer, _Rows(explorer, asked).with_filter(one))


def table(explorer: Explorer, asked: Asked) -> str:
    """The page of a table."""
    return explorer.store.read(lambda: _page(explorer, asked))


def _page(explorer: Explorer, asked: Asked) -> str:
    rows = _Rows(explorer, asked)
    part = rows.page()
    total = part.total
    is_narrowed = bool(asked.filters or asked.search)
    whole = rows.total(Asked(asked.name, asked.is_predicate)) if is_narrowed else None
    page = explorer.page(PATH, None, **asked.fields())
    elements = rows.elements(part.ids)
    shown = [_row(explorer, page, rows, element) for element in elements]
    cells = zip(*(one["cells"] for one in shown), strict=True)
    kinds = [{cell.get("kind") for cell in column} for column in cells]
    figures = ["number" in each and each <= {"number", "null", None} for each in kinds]
    is_figure = dict(zip(rows.columns, figures, strict=False))
    members = "fact" if asked.is_predicate else "member"
    number = count(total, members) if whole is None else f"{total:,} of {count(whole, members)}"
    kind = "$PropositionType" if asked.is_predicate else "$ConceptType"

    def link(**changes: Any) -> str:
        return address(explorer, replace(asked, first=0, **changes))

    return page.html(
        "explorer/table.html",
        f"Table of {asked.name}",
        asked=asked,
        of=page.definition_link(kind, asked.name),
        add=None if asked.is_predicate else add_link(explorer, page, asked.name),
        number=number,
        command=rows.command(),
        query=page.query_link(rows.command()),
        chips=[_chip(page, asked, one, link) for one in asked.filters],
        search=condition_text(asked.matches(rows.columns)) if asked.search else None,
        is_narrowed=is_narrowed,
        clear=link(filters=(), search=""),
        unsearched=link(search=""),
        operators=[(key, operator.text) for key, operator in OPERATORS.items()],
        choices=[(one, _title(asked, one)) for one in (*asked.names, *rows.all_columns)],
        shown=[(one, _title(asked, one), one in rows.columns) for one in rows.all_columns],
        usual=link(shown=()) if asked.shown else None,
        facets=_facets(explorer, page, rows, part) if total <= MOST_COUNTED else [],
        is_counted=total <= MOST_COUNTED and len(rows.columns) <= COLUMNS_COUNTED,
        most=f"{MOST_COUNTED:,} rows and {COLUMNS_COUNTED} columns",
        headings=[
            _heading(asked, column, link) | {"is_figure": is_figure.get(column)}
            for column in (*asked.names, *rows.columns)
        ],
        figures=figures,
        rows=shown,
        pager=page.pager(part.first, SIZE, total),
        downloads=[(title, f"{link()}&format={key}") for key, title in FORMATS.items()],
    )


def _title(asked: Asked, column: str) -> str:
    """The title of a column, which says whose it is where another may have the same."""
    path = asked.path(column)
    if path.key is None:
        return column
    of = column.rpartition(".")[0]
    return words(path.key.lstrip("_")) + (f" ({of})" if of else "")


def _chip(page: ExplorerPage, asked: Asked, one: Filter, link: Callable[..., str]) -> View:
    value, operator = value_of(one.value), OPERATORS[one.operator]
    text = value if isinstance(value, str) else page.value(value)["text"]
    return {
        "column": _title(asked, one.column),
        "operator": operator.text,
        "value": name_text(text or '""', _CUT) if operator.has_value else "",
        "kql": condition_text(asked.condition(one)),
        "without": link(filters=tuple(each for each in asked.filters if each != one)),
    }


def _heading(asked: Asked, column: str, link: Callable[..., str]) -> View:
    """A heading; its link sorts by the column, and turns the order of the one that sorts."""
    sorts = column == (asked.sort or asked.names[0])
    turned = sorts and not asked.is_descending
    return {
        "title": _title(asked, column),
        "kql": operand_text(asked.path(column)),
        "sorted": ("descending" if asked.is_descending else "ascending") if sorts else None,
        "href": link(sort=column, is_descending=turned),
    }


def _facets(explorer: Explorer, page: ExplorerPage, rows: _Rows, part: Part) -> list[View]:
    facets = []
    for column, counted in rows.counted(part):
        choices = [
            (page.value(value)["text"], Filter(column, "is", value_text(value)), number)
            for value, number in counted.values
        ]
        if counted.none:
            choices.append(("none", Filter(column, "none"), counted.none))
        facets.append(
            {
                "title": _title(rows.asked, column),
                "choices": [
                    {
                        "text": text,
                        "number": f"{number:,}",
                        "href": address(explorer, rows.choose(column, choice)),
                        "is_chosen": choice in rows.asked.filters,
                        "is_none": choice.operator == "none",
                    }
                    for text, choice, number in choices
                ],
            }
        )
    return facets


def _row(explorer: Explorer, page: ExplorerPage, rows: _Rows, element: dict[str, Any]) -> View:
    """A row: links to its elements, and its values."""
    node = None if element["id"] is None else explorer.store.iris.from_id(element["id"])
    ends = [element["subject"], element["object"]] if rows.asked.is_predicate else [element["id"]]
    return {
        "links": [explorer.link(page, end) for end in ends],
        "fact": page.node_link(node)["href"] if rows.asked.is_predicate and node else None,
        "unbelieved": None if node is None else explorer.nexus.beliefs.view().reasons.get(node),
        "cells": [_cell(page, rows.cell(element, column)) for column in rows.columns],
    }


def _cell(page: ExplorerPage, values: tuple[Json, ...]) -> View:
    """A value on one line; a longer one is cut, with its beginning as a title."""
    if not values:
        return {}
    (value,) = values
    if value is None:
        return {"kind": "null"}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"kind": "number", "text": str(value)}
    shown = page.value(value)
    if isinstance(value, list):
        text = " · ".join(each if isinstance(each, str) else _json(each) for each in value)
    elif isinstance(value, dict):
        text = shown["text"] if shown["kind"] == "tagged" else _json(value)
    elif shown["kind"] != "text" and len(str(value)) <= _CUT:
        return {"kind": "value", "value": shown}
    else:
        text = str(value)
    if len(text) <= _SHORT:
        return {"kind": "text", "text": text}
    cut, whole = (text if len(text) <= most else text[:most] + "…" for most in (_CUT, _WHOLE))
    return {"kind": "long", "text": cut, "whole": whole if whole != cut else None}


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


# All rows -----------------------------------------------------------------------------------------

FORMATS = {"csv": "CSV", "excel": "CSV for Excel", "json": "JSON"}
"""The formats of all rows; Excel reads UTF-8 only behind a mark."""


def download(explorer: Explorer, asked: Asked, format: str) -> Answer:
    """All rows of a table: a CSV, or a JSON array of their elements; KIP_1001 for other formats."""
    if format not in FORMATS:
        message = f"There is no format {json.dumps(format[:60])}."
        raise KipError("KIP_1001", message, f"The formats are {', '.join(FORMATS)}.")
    return explorer.store.read(lambda: _download(explorer, asked, format))


def _download(explorer: Explorer, asked: Asked, format: str) -> Answer:
    rows = _Rows(explorer, asked)
    ids = rows.identities()
    chunks = (ids[at : at + _CHUNK] for at in range(0, len(ids), _CHUNK))
    # Each chunk is written before the next is read.
    elements = (element for chunk in chunks for element in rows.elements(chunk))
    if format == "json":
        content = b"[" + b",\n".join(map(to_json, elements)) + b"]\n"
        return Answer(content, "application/json", len(ids))
    columns = [*asked.names, *(asked.shown or rows.all_columns)]
    ends = ("subject", "object") if asked.is_predicate else ()
    heading = ["id", *(f"{end}_id" for end in ends), *columns]
    lines = (
        [element[end] for end in ("id", *ends)]
        + [next(iter(rows.cell(element, column)), None) for column in columns]
        for element in elements
    )
    mark = codecs.BOM_UTF8 if format == "excel" else b""
    return Answer(mark + csv_bytes(heading, lines), CSV, len(ids))
