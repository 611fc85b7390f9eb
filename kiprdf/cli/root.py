"""``kiprdf`` itself: what it is called with, and where its commands register."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

import kiprdf
from kiprdf.cli.failures import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows its code instead of failing.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="kiprdf")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kiprdf {kiprdf.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Log the traceback when the engine fails (KIP_4003).")
    ] = False,
) -> None:
    """A knowledge store that speaks KIP and lives in RDF.

    \b
    Start here:
      kiprdf demo                      a tour, nothing to prepare
      kiprdf load medical              example knowledge into the folder ./nexus
      kiprdf shell                     ask and tell, line by line
      kiprdf run 'DESCRIBE PRIMER'     one command

    Every command takes --help and shows examples.
    """
    if not debug:
        logging.getLogger("kiprdf").addHandler(logging.NullHandler())
