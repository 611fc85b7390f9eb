"""Printing: results on standard output; notes, errors and progress on standard error."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.highlighter import RegexHighlighter
from rich.text import Text
from rich.theme import Theme

from kiprdf.errors import KipError, KipWarning
from kiprdf.progress import reported

CODE_CHARACTERS = 100
"""The maximum width of cropped code."""
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
    """Highlights a KIP command."""

    base_style = "kip."
    highlights = (
        r'(?P<string>"(\\.|[^"\\])*")|(?P<comment>//[^\n]*)'
        r"|(?P<variable>[?]\w+(\.\w+)*)|(?P<keyword>\b[A-Z][A-Z_]+\b)",
    )


def console(*, stderr: bool = False) -> Console:
    """A console for one stream; output to a file or a pipe is not wrapped."""
    screen = Console(stderr=stderr, theme=_THEME, markup=False, highlight=False, emoji=False)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = _UNWRAPPED
    return screen


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
    """Print a string without wrapping its lines."""
    console().print(text, soft_wrap=True)


def show_code(text: str, language: str, *, crop: bool = False) -> None:
    """Print code, highlighted on a terminal; ``crop`` cuts long lines."""
    screen = console()
    code = Text(text)
    if screen.is_terminal:
        from rich.syntax import Syntax

        # The terminal's own palette suits dark and light backgrounds.
        code = Syntax(text, language, theme="ansi_dark").highlight(text)
        code.rstrip()
    if crop:
        width = min(screen.width, CODE_CHARACTERS)
        screen.print(code, no_wrap=True, overflow="ellipsis", width=width)
    else:
        screen.print(code, soft_wrap=True)


def write_exactly(text: str) -> None:
    """Print a string unchanged, in UTF-8, so that it can be piped into a file or a command."""
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(text)


def write_bytes(content: IO[bytes]) -> None:
    """Print the content of an open file unchanged."""
    sys.stdout.flush()
    shutil.copyfileobj(content, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def note(text: str) -> None:
    """Print a remark for people on standard error."""
    sys.stdout.flush()
    console(stderr=True).print(Text(printable(text), "dim"), soft_wrap=True)


class _Notes(logging.Handler):
    """Prints the warnings of the library as remarks; the command itself reports errors."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno == logging.WARNING:
            note(record.getMessage())


NOTES = _Notes()


def error_lines(headline: str, excerpt: str | None = None, hint: str | None = None) -> None:
    """Print an error: the message, the place, and what to do next."""
    screen = console(stderr=True)
    screen.print(Text(printable(headline), "bold red"), soft_wrap=True)
    if excerpt and not excerpt.startswith("\n"):
        line, _, carets = excerpt.partition("\n")
        line, carets = _pointed(line, carets, min(screen.width, CODE_CHARACTERS) - 4)
        screen.print(Text(f"  {line}"), soft_wrap=True)
        screen.print(Text(f"  {carets}", "red"), soft_wrap=True)
    if hint:
        screen.print(Text(f"Hint: {printable(hint)}"), soft_wrap=True)


def show_warnings(warnings: Iterable[KipWarning]) -> None:
    """Print on standard error why an answer is empty."""
    screen = console(stderr=True)
    for warning in warnings:
        headline = f"Warning {warning.name}: {warning.located_message}"
        screen.print(Text(printable(headline), "yellow"), soft_wrap=True)
        if warning.hint:
            screen.print(Text(f"Hint: {printable(warning.hint)}"), soft_wrap=True)


def _pointed(line: str, carets: str, width: int) -> tuple[str, str]:
    """A line and its carets for a terminal: cut if too long, aligned with wide characters.

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
    after = printable(line[end:last]) + ("…" if last < len(line) else "")
    margin = "".join("\t" if c == "\t" else " " * cell_len(c) for c in before)
    return before + part + after, margin + "^" * max(1, cell_len(part))


def printable(text: str, keep: str = "") -> str:
    """The string with control characters escaped: they could control the terminal.

    >>> print(printable("two\\nlines"))
    two\\nlines
    """

    def escaped(match: re.Match[str]) -> str:
        return match[0] if match[0] in keep else json.dumps(match[0])[1:-1]

    return _CONTROL.sub(escaped, text)


def show_json(document: Any) -> None:
    """Print one JSON document: indented for a person, on one line for a program."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=indent) + "\n")


def show_answer(as_json: bool, document: Any, lines: str | Iterable[str]) -> None:
    """Print a JSON document for programs, or lines for people."""
    if as_json:
        show_json(document)
        return
    for line in (lines,) if isinstance(lines, str) else lines:
        show_text(printable(line))


def show_list(as_json: bool, listed: Sequence[Any], lines: Iterable[str], otherwise: str) -> None:
    """Print what is listed, as ``show_answer`` does; to people, a note if that is nothing."""
    show_answer(as_json, listed, lines)
    if not (listed or as_json):
        note(otherwise)


def show_response(result: Any, next_cursor: str | None, warnings: Sequence[KipWarning]) -> None:
    """Print the KIP response to a command that has succeeded."""
    # The models of the protocol take a quarter of the start, and most commands need none.
    from kiprdf.protocol import response_of

    show_json(response_of(result, next_cursor, warnings))


def show_error(error: KipError, **before: Any) -> None:
    """Print the KIP response to a command that has failed, after the fields in ``before``."""
    from kiprdf.protocol import error_response

    show_json({**before, **error_response(error)})


@contextmanager
def errors_as_json(as_json: bool) -> Iterator[None]:
    """Print a ``KipError`` as the response of a command too, for programs."""
    try:
        yield
    except KipError as error:
        if as_json:
            show_error(error)
        raise


def counted(number: int, thing: str) -> str:
    """
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def erased_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """That a copy was not written whole, since the erasure list names a part of it."""
    if report.get("erased"):
        yield f"  {counted(report['erased'], 'element')} left out: the erasure list names them"


def note_cursor(cursor: str | None) -> None:
    """Print how to get the next page, if there is one."""
    if cursor is not None:
        note(f'There are more results: repeat the command with CURSOR "{cursor}" after LIMIT.')


# Progress -------------------------------------------------------------------------------------


@contextmanager
def progress_bar(total: float | None = None) -> Iterator[Any]:
    """A progress bar, shown on a terminal only; yields ``advance(amount, description)``.

    It counts the triples that are read from a remote store, or sent to it.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    screen = console(stderr=True)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with progress:
        task = progress.add_task("", total=total)

        def advance(amount: float, description: str | None = None) -> None:
            progress.update(
                task, advance=amount, description=description and printable(description)
            )

        counts: Counter[str] = Counter()

        def transferred(what: str, number: int) -> None:
            counts[what] += number
            advance(0, f"{what} {counted(counts[what], 'triple')}")

        with reported(transferred):
            yield advance


@contextmanager
def index_progress() -> Iterator[Callable[[int], None]]:
    """Shows on a terminal what the text index misses; yields ``advance(missing)``."""
    status = console(stderr=True).status("")

    def advance(missing: int) -> None:
        left = f": {counted(missing, 'element')} left" if missing else ""
        status.update(f"completing the text index{left}")
        status.start()

    try:
        yield advance
    finally:
        status.stop()


@contextmanager
def triple_counter(description: str) -> Iterator[Callable[[int], None]]:
    """A progress bar that counts triples whose total is unknown; yields ``advance(number)``."""
    total = 0

    def advance(number: int) -> None:
        nonlocal total
        total += number
        update(0, f"{description} {counted(total, 'triple')}")

    with progress_bar() as update:
        update(0, description)
        yield advance
