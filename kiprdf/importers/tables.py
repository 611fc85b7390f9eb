"""Rows as concepts: CSV, lines of JSON, data frames (docs/how-to/from-other-tools.md)."""

from __future__ import annotations

import csv as csv_module
import io
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from kiprdf.errors import KipError
from kiprdf.importers.plan import Plan, keys_of, parse_json, read_text
from kiprdf.interchange.tables import records
from kiprdf.language.names import is_key

_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 1 << 22
_LISTED = 20
"""The most columns that a hint lists."""
_INTEGER = re.compile(r"(?!-0\Z)-?(?:0|[1-9]\d{0,17})", re.ASCII)
_NUMBER = re.compile(r"(?!-0\Z)-?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
_COMMA_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:,\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"-?(?:[1-9]\d{0,2}(?:,\d{3})?|0)", re.ASCII)
_SEPARATOR_LINE = re.compile(r"(\"?)sep=(.)\1\r?\n")
"""What Excel reads as the separator of the lines below."""
_DIGITS = 15
"""The digits that a number in a cell may have: a double keeps them all."""


@dataclass(frozen=True)
class Columns:
    """What the columns of a table become.

    The text in the column ``key`` names a concept of the type ``type``. ``attributes`` has the
    columns of attributes by their names, ``links`` what is linked by column, as
    ``predicate:Type``. Each other column is an attribute under its own name.
    """

    type: str
    key: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)

    def link(self, column: str) -> tuple[str, str]:
        """The predicate and the type of what a column links to."""
        predicate, separator, type = self.links[column].partition(":")
        if not separator or not predicate or not type:
            message = f"The link of {column!r} is {self.links[column]!r}."
            raise KipError("KIP_1001", message, "Write it as predicate:Type.")
        return predicate, type


def columns_of(path: str | os.PathLike[str]) -> Columns:
    """The columns that a TOML file describes: ``type``, ``key``, ``attributes``, ``links``."""
    name = Path(path).name
    try:
        content = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as fault:
        raise KipError("KIP_1001", f"{name} is not TOML: {fault}.") from None
    kinds = {"type": str, "key": str, "attributes": dict, "links": dict}
    hint = 'It has type = "…", key = "COLUMN", and may have tables [attributes] and [links].'
    for entry, value in content.items():
        if entry not in kinds or not isinstance(value, kinds[entry]):
            raise KipError("KIP_1001", f"{name} has an unexpected {entry!r}.", hint)
        if isinstance(value, dict) and not all(isinstance(one, str) for one in value.values()):
            raise KipError("KIP_1001", f"A value of {entry!r} in {name} is no text.", hint)
    if missing := {"type", "key"} - content.keys():
        raise KipError("KIP_1001", f"{name} lacks {' and '.join(sorted(missing))}.", hint)
    return Columns(**content)


def csv(
    path: str | os.PathLike[str],
    *,
    type: str,
    key: str,
    attributes: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    source: str | None = None,
) -> Plan:
    """A plan of a CSV file (RFC 4180): each row is a concept, its first line has the columns.

    ``key`` is the column of the names, ``attributes`` maps names of attributes to columns,
    ``links`` columns to ``predicate:Type``; each other column is an attribute. Columns are
    separated by the sign among ``, ; | tab`` that the first line has most, or that a line
    ``sep=;`` above it names. A column of numbers, or of true and false, has such values, unless one
    of its cells would lose a digit, as ``007``.

    Raises ``KipError``: KIP_1001 for a file that is no such table.
    """
    plan = Plan("csv", source or Path(path).name)
    names, rows = _csv_rows(read_text(path), plan)
    return _filled(plan, names, rows, Columns(type, key, attributes or {}, links or {}))


def jsonl(
    path: str | os.PathLike[str],
    *,
    type: str,
    key: str,
    attributes: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    source: str | None = None,
) -> Plan:
    """A plan of lines of JSON, or of one array: each object is a concept, its keys are columns.

    The other arguments are those of ``csv``; a list in a column of links is a link to each item.

    Raises ``KipError``: KIP_1001 for a line that is not JSON.
    """
    plan = Plan("jsonl", source or Path(path).name)
    rows = _json_rows(read_text(path), plan)
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    if not names:
        hint = "Write one object on each line, or one array of objects."
        raise KipError("KIP_1001", f"{plan.source} has no object with values.", hint)
    return _filled(plan, names, rows, Columns(type, key, attributes or {}, links or {}))


def frame(
    data: Any,
    *,
    type: str,
    key: str,
    attributes: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    source: str = "data frame",
) -> Plan:
    """A plan of a data frame of pandas, Polars, PyArrow, or with the interchange protocol.

    Each row is a concept; the other arguments are those of ``csv``, and ``source`` is a name for
    where the data come from. Empty cells are left out.

    Raises ``KipError``: KIP_1001 for what is no data frame.
    """
    plan = Plan("frame", source)
    names, rows = records(data)
    return _filled(
        plan, names, enumerate(rows, 1), Columns(type, key, attributes or {}, links or {})
    )


Row = tuple[int, dict[str, Any]]
"""The number of a row's line, and its values by column; empty cells are left out."""


def _filled(plan: Plan, names: Sequence[str], rows: Iterable[Row], columns: Columns) -> Plan:
    """The plan with a concept for each row."""
    plan.type(columns.type)
    keys = _attribute_keys(plan, names, columns)
    links = {column: columns.link(column) for column in columns.links}
    lines: dict[str, int] = {}
    written: dict[tuple[str, str], dict[str, Any]] = {}
    linked: dict[tuple[str, str], tuple[str, str]] = {}
    for line, row in rows:
        name = _name(row.get(columns.key))
        if name is None:
            plan.skip(row, f"line {line}: there is no name in the column {columns.key!r}")
            continue
        values = {key: row[column] for key, column in keys.items() if column in row}
        concept = plan.add_concept(columns.type, name, values)
        attributes = plan.concepts[-1]["attributes"]
        before = written.setdefault(concept, attributes)
        for key in before.keys() & attributes.keys():
            if before[key] != attributes[key]:
                place = f"lines {lines[name]} and {line} have the {columns.key} {name!r}"
                plan.skip({key: before[key]}, f"{place}; the last value is written")
        written[concept] = before | attributes
        lines[name] = line
        for column, (predicate, type) in links.items():
            for value in _items(row.get(column)):
                target = _name(value)
                if target is None:
                    plan.skip({column: value}, f"line {line}: this is no name to link to")
                    continue
                if (type, target) not in linked:
                    linked[type, target] = plan.add_concept(type, target)
                plan.add_proposition(concept, predicate, linked[type, target])
    return plan


def _attribute_keys(plan: Plan, names: Sequence[str], columns: Columns) -> dict[str, str]:
    """The column of each attribute."""
    for column in (columns.key, *columns.attributes.values(), *columns.links):
        if column not in names:
            listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
            raise KipError("KIP_1001", f"There is no column {column!r}.", f"There are: {listed}.")
    for name in columns.attributes:
        if not is_key(name):
            hint = "It has letters, digits and _, and does not begin with a digit."
            raise KipError("KIP_1001", f"{name!r} cannot be the name of an attribute.", hint)
    chosen = {columns.key, *columns.links, *columns.attributes.values()}
    others = [name for name in names if name not in chosen]
    for name in others:
        if name in columns.attributes:
            hint = f"Give another name to one of them: --attribute OTHER={name}."
            raise KipError("KIP_1001", f"Two columns are the attribute {name!r}.", hint)
    keys = keys_of([*columns.attributes, *others])
    for name in others:
        if keys[name] != name:
            plan.warn(f"The column {name!r} is the attribute '{keys[name]}'.")
    return {**columns.attributes, **{keys[name]: name for name in others}}


def _name(value: object) -> str | None:
    """The name in a cell: a text or a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def _items(value: object) -> list[Any]:
    """The values of a cell."""
    return [] if value is None else value if isinstance(value, list) else [value]


# CSV ------------------------------------------------------------------------------------------


def _csv_rows(text: str, plan: Plan) -> tuple[list[str], list[Row]]:
    """The columns and the rows of a CSV text."""
    noted = _SEPARATOR_LINE.match(text)
    text = text[noted.end() :] if noted else text
    first = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    delimiter = noted[2] if noted else max(_DELIMITERS, key=first.count)
    before = 1 if noted else 0
    csv_module.field_size_limit(max(csv_module.field_size_limit(), _LONGEST_FIELD))
    reader = csv_module.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    read: list[tuple[int, list[str]]] = []
    try:
        filled = (cells for cells in reader if any(map(str.strip, cells)))
        read.extend((reader.line_num + before, cells) for cells in filled)
    except csv_module.Error as fault:
        ended = "unexpected end" in str(fault)
        hint = "A quotation mark is not closed: the file may be cut." if ended else ""
        hint = hint or "Write a quotation mark within a cell twice."
        message = f"{plan.source}, line {reader.line_num + before}: {fault}."
        raise KipError("KIP_1001", message, hint) from None
    if not read:
        raise KipError("KIP_1001", f"{plan.source} is empty.", "Its first line names the columns.")
    names = _column_names(read[0][1], plan)
    rows: list[Row] = []
    short: list[int] = []
    for line, cells in read[1:]:
        if beyond := [cell for cell in cells[len(names) :] if cell.strip()]:
            plan.skip(beyond, f"line {line} has more cells than there are columns")
        if len(cells) < len(names):
            short.append(line)
        rows.append((line, {n: c for n, c in zip(names, cells, strict=False) if c.strip()}))
    if short:
        lines = "1 line has" if len(short) == 1 else f"{len(short)} lines have"
        plan.warn(f"{lines} fewer cells than the {len(names)} columns, first line {short[0]}.")
    if not rows:
        plan.warn(f"{plan.source} has a line of columns, and no rows.")
    for name in names:
        if _read_values(rows, name, has_commas=delimiter != ","):
            plan.warn(f"The column {name!r} stays text: a comma in it may be one of thousands.")
    return names, rows


def _column_names(cells: Sequence[str], plan: Plan) -> list[str]:
    """A name for each column, each another one."""
    names: dict[str, None] = {}
    numbers: dict[str, Iterator[int]] = {}
    for number, cell in enumerate(cells, 1):
        plain = cell.strip() or f"column {number}"
        own = numbers.setdefault(plain, count(1))
        candidates = (plain if n == 1 else f"{plain} {n}" for n in own)
        name = next(one for one in candidates if one not in names)
        if name != cell.strip():
            plan.warn(f"Column {number} is called {name!r}.")
        names[name] = None
    return [*names]


def _read_values(rows: Iterable[Row], name: str, *, has_commas: bool) -> bool:
    """Make numbers or booleans of the texts of a column, if all of them are the same as values.

    ``has_commas`` if a comma may stand before decimals. Returns whether it may as well be one of
    thousands, so that the column stays text.
    """
    cells = [row for _, row in rows if name in row]
    texts = [row[name].strip() for row in cells]
    if (
        has_commas
        and any("," in text for text in texts)
        and all(map(_COMMA_NUMBER.fullmatch, texts))
    ):
        if all(map(_THOUSANDS.fullmatch, texts)):
            return True
        texts = [text.replace(",", ".") for text in texts]
    values: list[Any]
    if all(map(_INTEGER.fullmatch, texts)):
        values = [int(text) for text in texts]
    elif _are_decimals(texts):
        values = [float(text) if "." in text else int(text) for text in texts]
    elif all(text.lower() in ("true", "false") for text in texts):
        values = [text.lower() == "true" for text in texts]
    else:
        return False
    for row, value in zip(cells, values, strict=True):
        row[name] = value
    return False


def _are_decimals(texts: Sequence[str]) -> bool:
    """Whether numbers say what the texts do: ``1.10`` and ``1.9`` may be versions."""
    if not all(_NUMBER.fullmatch(text) and len(text) <= _DIGITS for text in texts):
        return False
    places = {len(text.partition(".")[2]) for text in texts}
    return len(places) == 1 or all("." not in text or text[-1] != "0" for text in texts)


# JSON -----------------------------------------------------------------------------------------


def _line(text: str, number: int, plan: Plan) -> Any:
    if text.strip() == "{":
        message = f"{plan.source}, line {number}: an object is on more than one line."
        raise KipError("KIP_1001", message, "Write each object on one line, or give an array.")
    return parse_json(text, plan.source, number, _reader(plan, f"line {number}"))


def _reader(plan: Plan, place: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Makes an object of pairs. Of a key that is there twice, the last value counts."""

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in pairs:
            if key in values:
                reason = f"{place} has the key {key!r} twice; the last value is written"
                plan.skip({key: values[key]}, reason)
            values[key] = value
        return values

    return read


def _json_rows(text: str, plan: Plan) -> list[Row]:
    """The rows of lines of JSON, or of an array."""
    if text.lstrip().startswith("["):
        whole = parse_json(text, plan.source, pairs=_reader(plan, "an object"))
        items = [(number, one) for number, one in enumerate(whole, 1)]
    else:
        lines = enumerate(text.split("\n"), 1)
        items = [(n, _line(one, n, plan)) for n, one in lines if one.strip()]
    rows: list[Row] = []
    for number, value in items:
        if isinstance(value, dict):
            rows.append((number, {name: one for name, one in value.items() if one is not None}))
        else:
            plan.skip(value, f"row {number} is no object")
    return rows
