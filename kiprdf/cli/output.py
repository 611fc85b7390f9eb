"""What the commands print: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.highlighter import RegexHighlighter
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from kiprdf.rows import Rows

CELL_CHARACTERS = 300
"""Longer cells are cut on a terminal."""
CODE_CHARACTERS = 100
"""Cropped code is no wider than this."""
COLUMN_CHARACTERS = 16
"""Where columns would be narrower than this, rows are shown one value a line."""
LISTED = 10
"""As many items of a list of names are shown."""
_UNWRAPPED = 100_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_THEME = Theme(
    {
        "kip.keyword": "bold blue",
        "kip.variable": "cyan",
        "kip.string": "green",
        "kip.comment": "dim italic",
    }
)


class KipHighlighter(RegexHighlighter):
    """Colours of a KIP command."""

    base_style = "kip."
    highlights = (
        r'(?P<string>"(\\.|[^"\\])*")|(?P<comment>//[^\n]*)'
        r"|(?P<variable>[?]\w+(\.\w+)*)|(?P<keyword>\b[A-Z][A-Z_]+\b)",
    )


def console(*, stderr: bool = False) -> Console:
    """A console for one stream; what goes to a file or a pipe is not wrapped."""
    made = Console(stderr=stderr, theme=_THEME, markup=False, highlight=False, emoji=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _UNWRAPPED
    return made


def show(renderable: RenderableType) -> None:
    """Print a result."""
    screen = console()
    if screen.is_terminal:
        screen.print(renderable)
        return
    with screen.capture() as captured:
        screen.print(renderable)
    sys.stdout.write(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE))


def show_text(text: str | Text) -> None:
    """Print a text as it is, long lines and all."""
    console().print(text, soft_wrap=True)


def show_code(text: str, language: str, *, crop: bool = False) -> None:
    """Print code, in colour on a terminal; ``crop`` cuts long lines."""
    screen = console()
    code = Text(text)
    if screen.is_terminal:
        from rich.syntax import Syntax

        # The colours of the terminal's own palette suit dark and light backgrounds.
        code = Syntax(text, language, theme="ansi_dark").highlight(text)
        code.rstrip()
    if crop:
        width = min(screen.width, CODE_CHARACTERS)
        screen.print(code, no_wrap=True, overflow="ellipsis", width=width)
    else:
        screen.print(code, soft_wrap=True)


def write_exactly(text: str) -> None:
    """Print a text as it is, in UTF-8, so that it can be piped into a file or a command."""
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(text)


def note(text: str) -> None:
    """Tell a person something that is no result."""
    sys.stdout.flush()
    console(stderr=True).print(Text(printable(text), "dim"), soft_wrap=True)


def error_lines(headline: str, excerpt: str | None = None, hint: str | None = None) -> None:
    """Print an error: what, where, and what to do next."""
    screen = console(stderr=True)
    screen.print(Text(printable(headline), "bold red"), soft_wrap=True)
    if excerpt and not excerpt.startswith("\n"):
        line, _, carets = excerpt.partition("\n")
        line, carets = _pointed(line, carets, min(screen.width, CODE_CHARACTERS) - 4)
        screen.print(Text(f"  {line}"), soft_wrap=True)
        screen.print(Text(f"  {carets}", "red"), soft_wrap=True)
    if hint:
        screen.print(Text(f"Hint: {printable(hint)}"), soft_wrap=True)


def _pointed(line: str, carets: str, width: int) -> tuple[str, str]:
    """A line and its carets as a terminal shows them: cut where long, wide characters counted.

    >>> print("\\n".join(_pointed('"阿司" foo', "     ^^^", 40)))
    "阿司" foo
           ^^^
    """
    start, end = carets.index("^"), len(carets)
    room = width * len(line) // max(1, cell_len(line))
    first = max(0, min(start - room // 2, len(line) - room))
    last = first + room
    before = ("…" if first else "") + printable(line[first:start], keep="\t")
    part = printable(line[start : min(end, last)])
    behind = printable(line[end:last]) + ("…" if last < len(line) else "")
    margin = "".join("\t" if c == "\t" else " " * cell_len(c) for c in before)
    return before + part + behind, margin + "^" * max(1, cell_len(part))


def printable(text: str, keep: str = "") -> str:
    """A text without control characters, which could steer the terminal.

    >>> print(printable("two\\nlines"))
    two\\nlines
    """

    def escaped(match: re.Match[str]) -> str:
        return match[0] if match[0] in keep else json.dumps(match[0])[1:-1]

    return _CONTROL.sub(escaped, text)


# Values ---------------------------------------------------------------------------------------


def show_json(document: Any) -> None:
    """Print one JSON document: indented for a person, on one line for a program."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=indent) + "\n")


def cell(value: Any) -> str:
    """One value of an answer in short: concepts and propositions by their identity.

    >>> cell({"_type": "ConceptNode", "type": "Drug", "name": "Aspirin"})
    'Drug:Aspirin'
    >>> cell(["oral", 2, None])
    '["oral", 2, null]'
    """
    if isinstance(value, str):
        return printable(value)
    kind = value.get("_type") if isinstance(value, dict) else None
    if kind == "ConceptNode":
        return printable(f"{value['type']}:{value['name']}")
    if kind == "PropositionLink":
        ends = (_endpoint(value["subject"]), value["predicate"], _endpoint(value["object"]))
        return printable(f"({', '.join(ends)})")
    return printable(json.dumps(value, ensure_ascii=False))


def _endpoint(identity: str) -> str:
    """An endpoint by its id: ``Type:Name`` for a concept, the id for a proposition."""
    if not identity.startswith("C:"):
        return identity
    kind, _, name = identity[2:].partition("/")
    return f"{kind}:{name}"


def _cell_text(value: Any, limit: int) -> Text:
    text = cell(value)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return Text(text, "dim" if value is None else "")


# Tables ---------------------------------------------------------------------------------------


def show_rows(rows: Rows) -> None:
    """Print the answer of a FIND as a table; the number of rows and the cursor are notes."""
    show(table(rows.columns, rows.tuples, console()))
    note(counted(len(rows), "row"))
    note_cursor(rows.next_cursor)


def counted(number: int, thing: str) -> str:
    """
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def note_cursor(cursor: str | None) -> None:
    """Tell how to go on when there is more."""
    if cursor is not None:
        note(f'There is more: repeat the command with CURSOR "{cursor}" behind LIMIT.')


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], screen: Console) -> Table:
    """Rows of JSON values under their column names, or row by row where these are too many."""
    limit = CELL_CHARACTERS if screen.is_terminal else sys.maxsize
    cells = [[_cell_text(value, limit) for value in row] for row in rows]
    names = [printable(column) for column in columns]
    contents = [max((row[i].cell_len for row in cells), default=0) for i in range(len(names))]
    needed = sum(map(max, contents, map(len, names))) + 3 * len(names) + 1
    if needed > screen.width and screen.width < COLUMN_CHARACTERS * len(names):
        return _records(names, cells)
    made = Table(box=box.ROUNDED, header_style="bold")
    for index, header in enumerate(_headers(names, contents, needed - screen.width)):
        values = [row[index] for row in rows]
        made.add_column(Text(header), justify=_side(values), overflow="fold")
    for row_cells in cells:
        made.add_row(*row_cells)
    return made


def _records(names: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    """One line a value, a blank line between rows."""
    grid = _grid()
    for number, row in enumerate(rows):
        if number:
            grid.add_row()
        for name, value in zip(names, row, strict=True):
            grid.add_row(Text(name), value)
    return grid


def _grid() -> Table:
    """Two columns without lines: labels and values."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _headers(names: Sequence[str], contents: Sequence[int], excess: int) -> list[str]:
    """Column names; paths are broken at their dots until the excess width is gone.

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


def _side(values: Sequence[Any]) -> Any:
    """Numbers stand right."""
    known = [value for value in values if value is not None]
    numbers = all(isinstance(value, int | float) and value is not True for value in known)
    return "right" if known and numbers else "left"


# Receipts and META ----------------------------------------------------------------------------


def show_result(result: Any) -> None:
    """Print the result of another command than FIND."""
    if isinstance(result, list) and result and all(map(_is_element, result)):
        show(_elements(result))
    elif isinstance(result, list) and not any(isinstance(item, dict | list) for item in result):
        show_text("\n".join(map(cell, result)) if result else "nothing")
    else:
        show(_outline(result))


def _is_element(value: Any) -> bool:
    return isinstance(value, dict) and value.get("_type") in ("ConceptNode", "PropositionLink")


def _elements(elements: Sequence[dict[str, Any]]) -> Table:
    """Found concepts and propositions, in short."""
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
    """Nested keys and values, the keys indented."""
    grid = _grid()
    for label, text in outline_rows(value):
        grid.add_row(Text(label), Text(text))
    return grid


def outline_rows(value: Any, margin: str = "") -> Iterator[tuple[str, str]]:
    """The lines of an outline: an indented key, and the value behind it.

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
    """A value on one line; long lists are cut."""
    if not isinstance(value, list):
        return cell(value)
    named = ", ".join(cell(item) for item in value[:LISTED])
    more = len(value) - LISTED
    return f"{named}, … {more} more" if more > 0 else named or "none"


# Long work ------------------------------------------------------------------------------------


@contextmanager
def progress(total: float | None = None) -> Iterator[Any]:
    """A progress bar on standard error, on a terminal only; yields ``advance(amount, doing)``."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    screen = console(stderr=True)
    shown = Progress(
        *columns,
        TimeElapsedColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with shown:
        task = shown.add_task("", total=total)

        def advance(amount: float, doing: str | None = None) -> None:
            shown.update(task, advance=amount, description=doing and printable(doing))

        yield advance
