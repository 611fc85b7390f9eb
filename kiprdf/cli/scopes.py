"""The commands for scopes: the nexuses in the folders of a directory."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from kiprdf.brains import Brains, View
from kiprdf.cli import opening, output
from kiprdf.cli.failures import Failure, PlainCommand, Subcommands
from kiprdf.cli.history import key_lines
from kiprdf.cli.options import SERVE, AsOption, DryRunOption, JsonOption
from kiprdf.cli.root import app
from kiprdf.cli.tables import listed
from kiprdf.copying import copy_element
from kiprdf.errors import LockedError, shown
from kiprdf.maintenance import size_of
from kiprdf.nexus import Nexus

scopes_app = typer.Typer(cls=Subcommands, no_args_is_help=True)
app.add_typer(scopes_app, name="scopes", rich_help_panel=SERVE)

DirOption = Annotated[
    Path,
    typer.Option(
        "--dir",
        "-d",
        envvar="KIPRDF_SCOPES",
        show_envvar=True,
        metavar="DIR",
        help="The directory of the scopes; each is a folder in it.",
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the scope.")]
DEFAULT_DIR = Path("scopes")


@scopes_app.callback()
def scopes() -> None:
    """Manage scopes: one memory for each person, and those that they share."""


@contextmanager
def opened_scopes(directory: Path, required: Collection[str]) -> Iterator[Brains]:
    """The scopes of a directory that exists, and has those that are required."""
    if not directory.exists():
        hint = f"kiprdf scopes add NAME --dir {directory} creates the first one"
        raise Failure(f"There are no scopes in {directory}: {hint}.")
    with Brains(directory, embedder=opening.embedder()) as brains:
        names = brains.names()
        for name in required:
            if name not in names:
                close = difflib.get_close_matches(name, names, 1, 0.75)
                there = (
                    f"did you mean {shown(close[0])!r}?" if close else f"it has {listed(names)}."
                )
                raise Failure(f"There is no scope {shown(name)!r} in {directory}: {there}")
        yield brains


@contextmanager
def opened_view(directory: Path, reads: Sequence[str], write: str | None) -> Iterator[Nexus]:
    """What several scopes have together. Only the one to write is locked for other processes."""
    with opened_scopes(directory, reads), ExitStack() as stack:
        members = {}
        for name in reads:
            opened = Nexus.open(
                directory / name, read_only=name != write, embedder=opening.embedder()
            )
            members[name] = stack.enter_context(opened)
        written = members.get(write or "")
        view = View(list(members.values()), write=written, embedder=opening.embedder())
        yield stack.enter_context(view)


@scopes_app.command("list", cls=PlainCommand)
def show_list(dir: DirOption = DEFAULT_DIR, as_json: JsonOption = False) -> None:
    """List the scopes of a directory, with the bytes that each takes on disk.

    \b
    Examples:
      kiprdf scopes list --dir brains
      kiprdf scopes list --dir brains --json
    """
    with opened_scopes(dir, ()) as brains:
        rows = [{"name": name, "bytes": size_of(dir / name)} for name in brains.names()]
    lines = (f"{one['name']}  {_megabytes(one['bytes'])}" for one in rows)
    output.show_list(as_json, rows, lines, f"There are no scopes in {dir}.")


@scopes_app.command(cls=PlainCommand)
def add(name: NameArgument, dir: DirOption = DEFAULT_DIR) -> None:
    """Add a scope to a directory, which is created if there is none.

    \b
    Examples:
      kiprdf scopes add ada --dir brains
    """
    with Brains(dir, embedder=opening.embedder()) as brains:
        brains.add(name)
    output.note(f"Added the scope {name} to {dir}.")


@scopes_app.command(cls=PlainCommand)
def remove(
    name: NameArgument,
    dir: DirOption = DEFAULT_DIR,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
) -> None:
    """Erase a scope: its knowledge, its history, and all its other files.

    What was copied from it into other scopes stays there: kiprdf undo --source
    scope:NAME takes that back. On a terminal, you are asked first.

    \b
    Examples:
      kiprdf scopes remove ada --dir brains
      kiprdf scopes remove ada --dir brains --yes
    """
    with opened_scopes(dir, (name,)) as brains:
        size = _megabytes(size_of(dir / name))
        if _is_asked() and not yes:
            typer.confirm(f"Erase the scope {name} of {dir}, {size}, for good?", abort=True)
        try:
            brains.remove(name)
        except LockedError as error:
            way = f"a server erases its scopes itself: DELETE /scopes/{quote(name)}"
            raise Failure(f"{error.where} first; {way}.") from None
    output.note(f"Erased the scope {name} of {dir}: {size}.")


@scopes_app.command(cls=PlainCommand)
def copy(
    element: Annotated[
        str,
        typer.Argument(
            metavar="ELEMENT",
            help="An element: Aspirin, Drug:Aspirin, (Aspirin, treats, Headache), or its id.",
        ),
    ],
    source: Annotated[str, typer.Argument(metavar="FROM", help="The scope that has it.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The scope to write it to.")],
    dir: DirOption = DEFAULT_DIR,
    by: AsOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Copy an element from one scope to another, with its source noted.

    It comes with its attributes and metadata, without what is stated about it.
    What it refers to, and TO lacks, comes too: definitions, and the ends of a
    fact by their names. The metadata source of all this is "scope:FROM".

    \b
    Examples:
      kiprdf scopes copy Drug:Aspirin ada team --dir brains
      kiprdf scopes copy '(Aspirin, treats, Headache)' ada team --dry-run
    """
    if source == target:
        raise typer.BadParameter(f"FROM and TO are the same scope, {source}.")
    with (
        output.errors_as_json(as_json),
        opened_scopes(dir, (source, target)) as brains,
        Nexus.open(dir / source, read_only=True, embedder=opening.embedder()) as read,
    ):
        written = brains[target]
        with written.acting(author=by, kind="human"):
            report = copy_element(element, read, written, source, dry_run=dry_run)
    output.show_list(as_json, report, _lines(report), f"{target} has all of it already.")
    if dry_run and not as_json:
        output.note("Dry run: nothing was written.")


def _lines(report: list[dict[str, Any]]) -> Iterator[str]:
    for one in report:
        yield f"{one['change']} {one['element']}"
        yield from key_lines(one["keys"])


def _is_asked() -> bool:
    return sys.stdin.isatty()


def _megabytes(size: Any) -> str:
    return f"{size / 1e6:.1f} MB"
