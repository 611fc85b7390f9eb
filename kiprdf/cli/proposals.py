"""The commands for proposals: what waits for a person, and what that person decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from kiprdf.cli import output
from kiprdf.cli.failures import Subcommands
from kiprdf.cli.opening import OfFolder, OfHistory, place_of
from kiprdf.cli.options import HISTORY, AsOption, JsonOption
from kiprdf.cli.root import app
from kiprdf.execution.proposals import read_by
from kiprdf.spelling import visible_text

proposals_app = typer.Typer(cls=Subcommands, no_args_is_help=True)
app.add_typer(proposals_app, name="proposals", rich_help_panel=HISTORY)
_LISTED = 5
"""The changes of a proposal that the list shows."""

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The proposal, such as prop-7.")]


@proposals_app.callback()
def proposals() -> None:
    """Review what those who may only propose would write."""


@proposals_app.command("list", cls=OfFolder)
def show_list(
    ctx: typer.Context,
    all: Annotated[bool, typer.Option("--all", help="Also those that were decided.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the proposals that wait, the oldest first.

    \b
    Examples:
      kiprdf proposals list
      kiprdf proposals list --all --json
    """
    with place_of(ctx).to_read() as opened:
        listed = opened.proposals(all=all)
    lines = (line for one in listed for line in _short(one))
    output.show_list(as_json, listed, lines, "No proposal waits.")


@proposals_app.command(cls=OfFolder)
def show(ctx: typer.Context, id: IdArgument, as_json: JsonOption = False) -> None:
    """Show a proposal: who made it, its differences, its statement, and what it read.

    \b
    Examples:
      kiprdf proposals show prop-7
    """
    with output.errors_as_json(as_json), place_of(ctx).to_read() as opened:
        proposal = opened.proposal(id)
    output.show_answer(as_json, proposal, _lines(proposal))


@proposals_app.command(cls=OfHistory)
def approve(
    ctx: typer.Context, id: IdArgument, by: AsOption = None, as_json: JsonOption = False
) -> None:
    """Run a proposal as it was made, under the name of who approves.

    If something that it read has changed, it is stale, and nothing is written.

    \b
    Examples:
      kiprdf proposals approve prop-7
      kiprdf proposals approve prop-7 --as ada --nexus brain
    """
    with output.errors_as_json(as_json), place_of(ctx).for_person(by) as opened:
        receipt = opened.approve(id)
    output.show_answer(as_json, receipt, (f"{id} is approved.", json.dumps(receipt)))


@proposals_app.command(cls=OfHistory)
def decline(
    ctx: typer.Context,
    id: IdArgument,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why.")],
    reject: Annotated[
        bool, typer.Option("--reject", help="What it would state is never written again.")
    ] = False,
    by: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close a proposal without running it.

    \b
    Examples:
      kiprdf proposals decline prop-7 --reason 'She lives in Turin.'
    """
    with output.errors_as_json(as_json), place_of(ctx).for_person(by) as opened:
        proposal = opened.decline(id, reason, reject=reject)
    names = proposal.get("rejected", [])
    lines = (f"{id} is declined.", *(f"rejected: {name}" for name in names))
    output.show_answer(as_json, proposal, lines)


def _short(proposal: dict[str, Any]) -> Iterator[str]:
    """Who made a proposal, and its first changes."""
    yield _head(proposal)
    lines = proposal["diff"].splitlines()
    changes = [line for line in lines if line.startswith(("+ ", "- ", "~ "))]
    yield from (f"    {visible_text(line)}" for line in changes[:_LISTED])
    if len(changes) > _LISTED:
        yield f"    … {len(changes) - _LISTED} more: kiprdf proposals show {proposal['id']}"


def _lines(proposal: dict[str, Any]) -> Iterator[str]:
    yield _head(proposal)
    if "reason" in proposal:
        yield f"Reason: {visible_text(proposal['reason'])}"
    yield ""
    yield from map(visible_text, (proposal["diff"] or "No differences.").splitlines())
    yield ""
    yield from map(visible_text, ("Statement:", *proposal["text"].split("\n")))
    if proposal["parameters"]:
        text = json.dumps(proposal["parameters"], ensure_ascii=False)
        yield f"Parameters: {visible_text(text)}"
    yield f"It read: {visible_text(read_by(proposal))}"


def _head(proposal: dict[str, Any]) -> str:
    state = proposal["state"]
    who = state if state == "open" else f"{state} by {proposal['decided_by']}"
    session = f" {proposal['session']}" if proposal["session"] else ""
    by = visible_text(f"{proposal['by']}{session}: {who}")
    return f"{proposal['id']} {proposal['at']} {by}"
