"""The commands for the gate: the shapes that every write to a nexus must satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kiprdf.cli import inputs, output, tables
from kiprdf.cli.failures import Subcommands
from kiprdf.cli.opening import Creates, Reads, Writes, place_of
from kiprdf.cli.options import MAINTAIN, AsOption, JsonOption, MappingOption
from kiprdf.cli.root import app
from kiprdf.spelling import visible_text

if TYPE_CHECKING:
    from kiprdf.execution.gating import ShapesReport

gate_app = typer.Typer(cls=Subcommands, no_args_is_help=True)
app.add_typer(gate_app, name="gate", rich_help_panel=MAINTAIN)
_NO_SHAPES = "The nexus has no shapes."
_LISTED = 20
"""The violations that are shown without ``--json``."""


OnViolation = Literal["refuse", "propose"]
"""What becomes of a statement that violates a shape."""


@gate_app.callback()
def gate() -> None:
    """Set SHACL shapes that every write must satisfy, and check against them."""


@gate_app.command("set", cls=Creates)
def set_shapes(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Shapes in Turtle; - for stdin.")],
    mapping: MappingOption = None,
    on_violation: Annotated[
        OnViolation,
        typer.Option(help="propose: a person decides on a statement that violates a shape."),
    ] = "refuse",
    by: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set the shapes of a nexus, in its own IRIs or in those of a mapping.

    From then on a write that violates them is refused. What violates them by now
    stays as it is, and is reported.

    \b
    Examples:
      kiprdf gate set shapes.ttl
      kiprdf gate set shapes.ttl --mapping schema-org --on-violation propose
    """
    text, names = inputs.read_text(file), inputs.mapping_of(mapping)
    with (
        output.errors_as_json(as_json),
        place_of(ctx).for_command() as opened,
        opened.acting(author=by, kind="human"),
    ):
        report = opened.set_shapes(text, mapping=names, on_violation=on_violation)
    _show(report, as_json)


@gate_app.command(cls=Reads)
def show(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Print the shapes of a nexus, as they were set.

    \b
    Examples:
      kiprdf gate show > shapes.ttl
    """
    with place_of(ctx).to_read() as opened:
        text, mode = opened.shapes_set(), opened.info()["gate"]
    if as_json:
        output.show_json({"shapes": text, "on_violation": mode})
    elif text is None:
        output.note(_NO_SHAPES)
    else:
        output.write_exactly(text if text.endswith("\n") else f"{text}\n")


@gate_app.command(cls=Reads)
def check(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Check a whole nexus against its shapes, and count the violations of each.

    The exit status is 1 if something violates them, and 0 otherwise.

    \b
    Examples:
      kiprdf gate check
      kiprdf gate check --json --nexus brain
    """
    with output.errors_as_json(as_json), place_of(ctx).to_read() as opened:
        has_shapes, report = opened.shapes_set() is not None, opened.check_shapes()
    if has_shapes or as_json:
        _show(report, as_json)
    else:
        output.note(_NO_SHAPES)
    raise typer.Exit(int(not report.conforms))


@gate_app.command(cls=Writes)
def remove(ctx: typer.Context, by: AsOption = None) -> None:
    """Remove the shapes: writes need not satisfy them any more.

    \b
    Examples:
      kiprdf gate remove --as ada
    """
    with place_of(ctx).for_person(by) as opened:
        had_shapes = opened.shapes_set() is not None
        opened.set_shapes(None)
    output.note("The shapes are removed." if had_shapes else _NO_SHAPES)


def _show(report: ShapesReport, as_json: bool) -> None:
    if as_json:
        output.show_json(report.to_json())
        return
    for warning in report.warnings:
        output.note(f"Warning: {visible_text(warning)}")
    if report.violations:
        rows = list(report.counts.items())
        output.show(tables.table(("shape", "violations"), rows, output.console()))
    output.show_answer(False, None, _lines(report))


def _lines(report: ShapesReport) -> Iterator[str]:
    for one in report.violations[:_LISTED]:
        severity = "" if one.severity == "Violation" else f"{one.severity}: "
        yield visible_text(f"{severity}{one}")
    more = len(report.violations) - _LISTED
    if more > 0:
        yield f"… {more} more; --json shows all of them."
    if not report.violations:
        yield str(report)
