"""Answers for people: rows as tables, everything else as outlines."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kiprdf.cli.output import console, counted, note, printable, show, show_text
from kiprdf.rdf.elements import is_element
from kiprdf.rows import Rows

CELL_CHARACTERS = 300
"""The maximum length of a cell on a terminal."""
COLUMN_CHARACTERS = 16
"""If columns would be narrower than this, each value gets its own line."""
LISTED = 10
"""The number of items shown of a list of names."""


def show_rows(rows: Rows) -> None:
    """Print the rows of a FIND as a table, and their number as a note."""
    show(table(rows.columns, rows.tuples(), console()))
    note(counted(len(rows), "row"))


def cell(value: Any) -> str:
    """A value in short form; a concept or proposition by its identity.

    >>> cell({"_type": "ConceptNode", "id": "C:a/b", "type": "Drug", "name": "Aspirin"})
    'Drug:Aspirin'
    >>> cell(["oral", 2, None])
    '["oral", 2, null]'
    """
    if isinstance(value, str):
        return printable(value)
    if is_element(value):
        if value["_type"] == "ConceptNode":
            return printable(f"{value['type']}:{value['name']}")
        ends = (_endpoint(value["subject"]), value["predicate"], _endpoint(value["object"]))
        return printable(f"({', '.join(ends)})")
    return printable(json.dumps(value, ensure_ascii=False))


def _endpoint(identity: str) -> str:
    """The short form of an id: ``Type:Name`` for a concept, the id for a proposition."""
    if not identity.startswith("C:"):
        return identity
    kind, _, name = identity[2:].partition("/")
    return f"{kind}:{name}"


def _cell_text(value: Any, limit: int) -> Text:
    text = cell(value)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return Text(text, "dim" if value is None else "")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], screen: Console) -> Table:
    """A table of rows, or one value per line if there are too many columns for the screen."""
    limit = CELL_CHARACTERS if screen.is_terminal else sys.maxsize
    cells = [[_cell_text(value, limit) for value in row] for row in rows]
    names = [printable(column) for column in columns]
    contents = [max((row[i].cell_len for row in cells), default=0) for i in range(len(names))]
    needed = sum(map(max, contents, map(len, names))) + 3 * len(names) + 1
    if needed > screen.width and screen.width < COLUMN_CHARACTERS * len(names):
        return _records(names, cells)
    result = Table(box=box.ROUNDED, header_style="bold")
    for index, header in enumerate(_headers(names, contents, needed - screen.width)):
        values = [row[index] for row in rows]
        result.add_column(Text(header), justify=_justification(values), overflow="fold")
    for row_cells in cells:
        result.add_row(*row_cells)
    return result


def _records(names: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    """One line for each value, and a blank line between rows."""
    grid = _grid()
    for number, row in enumerate(rows):
        if number:
            grid.add_row()
        for name, value in zip(names, row, strict=True):
            grid.add_row(Text(name), value)
    return grid


def _grid() -> Table:
    """Two columns without borders: labels and values."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _headers(names: Sequence[str], contents: Sequence[int], excess: int) -> list[str]:
    """Column names, with line breaks at dots until the table fits.

    >>> _headers(["?d.name", "?d.attributes.risk_level"], [9, 1], 8)
    ['?d.name', '?d\\n.attributes\\n.risk_level']
    """
    headers = list(names)
    gains = {index: len(name) - contents[index] for index, name in enumerate(names)}
    for index in sorted(gains, key=lambda index: -gains[index]):
        if excess <= 0:
            break
        if len(names[index]) > COLUMN_CHARACTERS:
            headers[index] = re.sub(r"\.(?=[a-z_])", "\n.", headers[index])
        longest = max(map(len, headers[index].split("\n")))
        excess -= max(0, gains[index]) - max(0, longest - contents[index])
    return headers


def _justification(values: Sequence[Any]) -> Any:
    """Right for a column of numbers, otherwise left."""
    present = [value for value in values if value is not None]
    numbers = all(isinstance(value, int | float) and value is not True for value in present)
    return "right" if present and numbers else "left"


# Receipts and META ----------------------------------------------------------------------------


def show_result(result: Any) -> None:
    """Print the result of a command other than FIND."""
    if isinstance(result, list) and result and all(map(is_element, result)):
        show(_elements(result))
    elif isinstance(result, list) and not any(isinstance(item, dict | list) for item in result):
        show_text("\n".join(map(cell, result)) if result else "nothing")
    else:
        show(_outline(result))


def _elements(elements: Sequence[dict[str, Any]]) -> Table:
    """Concepts and propositions that a SEARCH returned."""
    rows = [
        (
            element,
            element.get("metadata", {}).get("_score"),
            element.get("attributes", {}).get("description"),
        )
        for element in elements
    ]
    columns = ("found", "score", "description")
    kept = [i for i in range(3) if i == 0 or any(row[i] is not None for row in rows)]
    chosen = [[row[i] for i in kept] for row in rows]
    return table([columns[i] for i in kept], chosen, console())


def _outline(value: Any) -> Table:
    """Nested keys and values, with indented keys."""
    grid = _grid()
    for label, text in outline_rows(value):
        grid.add_row(Text(label), Text(text))
    return grid


def outline_rows(value: Any, margin: str = "") -> Iterator[tuple[str, str]]:
    """The lines of an outline: an indented key and its value.

    >>> list(outline_rows({"a": 1, "b": {"c": ["x", "y"]}}))
    [('a', '1'), ('b', ''), ('  c', 'x, y')]
    """
    if isinstance(value, dict):
        for key, item in value.items():
            label = margin + printable(key)
            if _is_nested(item):
                yield label, ""
                yield from outline_rows(item, margin + "  ")
            else:
                yield label, _short(item)
    elif isinstance(value, list) and _is_nested(value):
        for item in value:
            (first, text), *others = outline_rows(item, margin + "  ") or [(margin, "")]
            yield f"{margin}- {first.strip()}", text
            yield from others
    else:
        yield margin, _short(value)


def _is_nested(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, dict | list) for item in value)
    return isinstance(value, dict) and bool(value)


def _short(value: Any) -> str:
    """A value on one line; a long list is cut."""
    return listed(value) if isinstance(value, list) else cell(value)


def listed(items: Sequence[Any]) -> str:
    """The first items of a list on one line, and the number of the others."""
    shown = ", ".join(cell(item) for item in items[:LISTED])
    more = len(items) - LISTED
    return f"{shown}, … {more} more" if more > 0 else shown or "none"
