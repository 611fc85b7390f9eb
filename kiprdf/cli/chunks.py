"""The commands for chunks and rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from kiprdf.cli.failures import PlainCommand, Subcommands
from kiprdf.cli.options import EVERYDAY, JsonOption, MappingOption
from kiprdf.cli.root import app

chunks_app = typer.Typer(cls=Subcommands, no_args_is_help=True)
app.add_typer(chunks_app, name="chunks", rich_help_panel=EVERYDAY)


@chunks_app.callback()
def chunks() -> None:
    """Chunks and rules: a notation and a rule engine."""


ShowFormat = Literal["text", "json", "turtle"]
"""What ``show`` writes."""


@chunks_app.command(cls=PlainCommand)
def check(
    files: Annotated[list[Path], typer.Argument(help="Files of chunks, or - for standard input.")],
) -> None:
    """Check the syntax and the rules of files.

    Each fault is printed on a line, FILE:LINE:COLUMN: sentence. The exit status is 1
    if there are faults.

    \b
    Examples:
      kiprdf chunks check facts.chk rules.chk
      cat rules.chk | kiprdf chunks check -
    """
    # The other commands start sooner without the grammar of chunks.
    from kiprdf.cli.chunks_files import check_files

    check_files(files)


@chunks_app.command(cls=PlainCommand)
def show(
    file: Annotated[Path, typer.Argument(help="A file of chunks, or - for standard input.")],
    format: Annotated[ShowFormat, typer.Option(help="What to write.")] = "text",
    mapping: MappingOption = None,
) -> None:
    """Print a file in canonical form, and its counts on standard error.

    \b
    Examples:
      kiprdf chunks show facts.chk
      kiprdf chunks show facts.chk --format turtle --mapping foaf
    """
    from kiprdf.cli.chunks_files import show_file

    if mapping and format != "turtle":
        raise typer.BadParameter("--mapping needs --format turtle.")
    show_file(file, format, mapping)


@chunks_app.command(cls=PlainCommand)
def run(
    rules: Annotated[Path, typer.Option(help="File with the rules.")],
    goal: Annotated[str, typer.Option(help="First chunk of the goal.")],
    facts: Annotated[
        Path | None, typer.Option(help="File or nexus folder for the module facts.")
    ] = None,
    module: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="Another module; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of random choices.")] = 0,
    max_cycles: Annotated[int, typer.Option(min=0, help="Maximum number of firings.")] = 1000,
    trace: Annotated[bool, typer.Option("--trace", help="Print each step as it happens.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run rules on facts, beginning with a goal.

    In the rules, "@do log" prints its message, and "@do show" prints its value. At
    the end, the buffers are printed.

    \b
    Examples:
      kiprdf chunks run --rules count.chk --goal 'count {from 1; to 3}'
      kiprdf chunks run --rules home.chk --facts home-facts.chk --goal 'dusk {}' --trace
      kiprdf chunks run --rules tidy.chk --facts nexus --goal 'tidy {}'
    """
    # The other commands start sooner without the engine and its grammar.
    from kiprdf.cli.chunks_files import run_rules

    run_rules(
        rules,
        goal,
        _modules(facts, module or []),
        seed=seed,
        max_cycles=max_cycles,
        trace=trace,
        as_json=as_json,
    )


def _modules(facts: Path | None, others: list[str]) -> dict[str, Path]:
    """The paths of the modules by name."""
    paths = {} if facts is None else {"facts": facts}
    for option in others:
        name, separator, path = option.partition("=")
        if not (name and separator and path):
            raise typer.BadParameter(f"{option} is not NAME=FILE.", param_hint="--module")
        paths[name] = Path(path)
    return paths
