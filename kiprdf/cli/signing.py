"""The commands of signed documents: keys, and a nexus or a capsule as a signed document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import kiprdf
from kiprdf.cli import inputs, output
from kiprdf.cli.failures import Failure, PlainCommand, Subcommands, writing
from kiprdf.cli.opening import Reads, place_of
from kiprdf.cli.options import EXCHANGE, KeyOption, TargetArgument
from kiprdf.cli.root import app

key_app = typer.Typer(cls=Subcommands, no_args_is_help=True)
app.add_typer(key_app, name="key", rich_help_panel=EXCHANGE)


@key_app.callback()
def key() -> None:
    """Make a key that signs documents."""


@key_app.command(cls=PlainCommand)
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file; it must not exist.")],
) -> None:
    """Write a new secret key to a file, and print the did:key that others verify it by.

    Only you can read the file. Keep it: whoever has it signs in your name, and no
    other key has the same did:key.

    \b
    Examples:
      kiprdf key new key.json
    """
    from kiprdf.signing.keys import new_key

    with writing(file):
        did = new_key(file)
    output.show_text(did)


@app.command(cls=Reads, rich_help_panel=EXCHANGE)
def sign(
    ctx: typer.Context,
    key: KeyOption,
    file: TargetArgument = inputs.STDIN,
    select: Annotated[
        str | None,
        typer.Option("--select", "-s", metavar="EXPORT", help="Sign only what this selects."),
    ] = None,
    capsule: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Sign a capsule instead of a nexus; - for stdin."),
    ] = None,
) -> None:
    """Write the nexus, or a part of it, as a signed document that others can verify.

    It is JSON-LD with a W3C Data Integrity proof (eddsa-rdfc-2022). A selection is
    an EXPORT or its WHERE, and includes what it depends on. A signed capsule is
    read by kiprdf load --trust.

    \b
    Examples:
      kiprdf sign brain.jsonld --key key.json
      kiprdf sign --key key.json --select '?d {type: "Drug"}' > drugs.jsonld
      kiprdf sign drugs.jsonld --key key.json --capsule drugs.kip
    """
    if capsule is not None:
        if select is not None:
            raise typer.BadParameter("Give either --capsule or --select, not both.")
        text = inputs.capsule_text(capsule)
        if "{" not in text:
            raise Failure(f"{capsule} contains no UPSERT block.")
        inputs.write_signed(file, kiprdf.sign_capsule(text, key), key)
        return
    with place_of(ctx).to_read() as opened:
        document = opened.sign(key, selection=select)
    if select is not None and '"@included":[\n]' in document[:100]:
        raise Failure("Nothing was selected; nothing was written.")
    inputs.write_signed(file, document, key)
