"""The commands for chunks and rules."""

from __future__ import annotations

import typer

from kiprdf.cli.chunks_run import run
from kiprdf.cli.root import app

chunks_app = typer.Typer(no_args_is_help=True)
app.add_typer(chunks_app, name="chunks")


@chunks_app.callback()
def chunks() -> None:
    """Chunks and rules: a notation and a rule engine."""


chunks_app.command("run")(run)
