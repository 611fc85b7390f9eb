"""The program ``kiprdf``, its global options, and the application that its commands register in."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

import kiprdf
from kiprdf.cli import output
from kiprdf.cli.failures import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["--help", "-h"],
        # As run and shell spelled it before serve and mcp had it.
        "token_normalize_func": lambda name: "read-only" if name == "readonly" else name,
    },
)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal cannot show is written as an escape sequence.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="kiprdf")


def _show_version(requested: bool) -> None:
    if requested:
        print(f"kiprdf {kiprdf.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an engine failure (KIP_4003).")
    ] = False,
) -> None:
    """A knowledge store for AI agents that speaks KIP and stores RDF.

    \b
    Start here:
      kiprdf demo                      a guided tour; needs no preparation
      kiprdf load medical              load example knowledge into ./nexus
      kiprdf shell                     run commands interactively
      kiprdf run 'DESCRIBE PRIMER'     run one command

    Every command has examples in its --help.
    """
    if not debug:
        logging.getLogger("kiprdf").addHandler(output.NOTES)
