"""``kiprdf nanopublication``: one fact of a nexus, to be sent to others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kiprdf.cli import inputs
from kiprdf.cli.opening import Reads, place_of
from kiprdf.cli.options import EXCHANGE, MappingOption
from kiprdf.cli.root import app


@app.command(cls=Reads, rich_help_panel=EXCHANGE)
def nanopublication(
    ctx: typer.Context,
    element: Annotated[
        str,
        typer.Argument(
            metavar="FACT", help='A proposition: its id, or "(Drug:Aspirin, treats, …)".'
        ),
    ],
    target: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file; - for stdout.")
    ] = inputs.STDIN,
    mapping: MappingOption = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", "-k", metavar="FILE", help="Sign with a key of kiprdf key new."),
    ] = None,
) -> None:
    """Write a fact with what is known of it as a nanopublication, in TriG.

    Its assertion is the fact; its provenance, the metadata. Its IRI ends in a digest
    of its content, so that a changed copy shows.

    \b
    Examples:
      kiprdf nanopublication "(Drug:Aspirin, treats, Symptom:Headache)" -o fact.trig
      kiprdf import fact.trig --nanopublications --nexus other
    """
    vocabulary = inputs.mapping_of(mapping)
    with place_of(ctx).to_read() as opened:
        text = opened.nanopublication(opened.id_of(element), mapping=vocabulary, key=key)
    if key is None:
        inputs.write_document(target, text)
    else:
        inputs.write_signed(target, text, key)
