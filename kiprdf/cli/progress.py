"""Progress bars for long work, on standard error and on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kiprdf.cli.output import console, counted, printable


@contextmanager
def bar(total: float | None = None) -> Iterator[Any]:
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


@contextmanager
def counting(doing: str) -> Iterator[Callable[[int], None]]:
    """A progress bar for triples, of which nobody knows how many there will be."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        shown(0, f"{doing} {counted(done, 'triple')}")

    with bar() as shown:
        shown(0, doing)
        yield advance
