"""The commands for the principals of a server, in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from kiprdf import principals as file_of
from kiprdf.actors import Access, Kind
from kiprdf.cli import output
from kiprdf.cli.failures import Failure, PlainCommand, Subcommands
from kiprdf.cli.inputs import names_in
from kiprdf.cli.options import SERVE, JsonOption, ReadOption, WriteOption
from kiprdf.cli.root import app

principals_app = typer.Typer(cls=Subcommands, no_args_is_help=True)
app.add_typer(principals_app, name="principals", rich_help_panel=SERVE)


FileOption = Annotated[
    Path,
    typer.Option(
        "--file",
        "-f",
        envvar="KIPRDF_PRINCIPALS",
        show_envvar=True,
        metavar="FILE",
        help="The file of the principals.",
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the principal.")]
DEFAULT_FILE = Path("principals.toml")


@principals_app.callback()
def principals() -> None:
    """List who may use a server, with a token each: people, models and jobs."""


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except file_of.PrincipalsError as error:
        raise Failure(str(error)) from None


@principals_app.command(cls=PlainCommand)
def add(
    name: NameArgument,
    kind: Annotated[Kind, typer.Option(help="Who it is.")] = "model",
    access: Annotated[
        Access, typer.Option(help="What it may do; each includes those before it.")
    ] = "write",
    reads: ReadOption = None,
    writes: WriteOption = None,
    file: FileOption = DEFAULT_FILE,
) -> None:
    """Add a principal to the file, and print its token, which is shown only this once.

    A running server reads the file again when it changes. Of a server of several
    scopes, the principal reads and writes those that are named.

    \b
    Examples:
      kiprdf principals add ada --kind human
      kiprdf principals add claude --kind model --access propose --file /etc/principals.toml
      kiprdf principals add ada --kind human --read team,ada --write ada
    """
    given = {"read": None if reads is None else names_in(reads), "write": writes}
    scopes = {field: value for field, value in given.items() if value is not None}
    with _failures():
        print(file_of.add(file, name, kind, access, scopes))
    output.note(f"This is the token of {name}; {file} has its SHA-256 alone.")


@principals_app.command("list", cls=PlainCommand)
def show_list(file: FileOption = DEFAULT_FILE, as_json: JsonOption = False) -> None:
    """List the principals of the file: name, kind, access and scopes.

    \b
    Examples:
      kiprdf principals list
      kiprdf principals list --json
    """
    with _failures():
        listed = file_of.read(file)
    rows = [
        {"name": one.name, "kind": one.kind, "access": one.access}
        | ({"scopes": dict(one.scopes)} if one.scopes else {})
        for one in listed
    ]
    output.show_answer(as_json, rows, map(_line, listed))


def _line(one: file_of.Principal) -> str:
    reads = f"  reads {', '.join(one.reads)}" if one.reads else ""
    writes = f"  writes {one.writes}" if one.writes else ""
    return f"{one.name}  {one.kind}  {one.access}{reads}{writes}"


@principals_app.command(cls=PlainCommand)
def remove(name: NameArgument, file: FileOption = DEFAULT_FILE) -> None:
    """Remove a principal from the file: its token is not valid any more.

    \b
    Examples:
      kiprdf principals remove claude
    """
    with _failures():
        file_of.remove(file, name)
