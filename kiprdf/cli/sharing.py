"""The commands for branches, and for following: make one, merge it, list what remains open."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kiprdf.cli import output
from kiprdf.cli.failures import Failure, PlainCommand
from kiprdf.cli.opening import OfFolder, Place, place_of
from kiprdf.cli.options import EXCHANGE, DryRunOption, JsonOption
from kiprdf.cli.root import app
from kiprdf.errors import KipError, StoreError
from kiprdf.execution.history import DIGITS
from kiprdf.interchange.differences.difference import printable
from kiprdf.loading import Lazy

if TYPE_CHECKING:
    from kiprdf.sharing import merging
else:
    merging = Lazy("kiprdf.sharing.merging")


Preference = Literal["ours", "theirs", "newest", "most_trusted"]
"""How conflicts are decided."""


@app.command(cls=PlainCommand, rich_help_panel=EXCHANGE)
def branch(
    nexus: Annotated[Path, typer.Argument(metavar="NEXUS", help="Folder of the nexus.")],
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder for the branch; must not exist or be empty."),
    ],
) -> None:
    """Copy a nexus to try something out, and merge it later.

    The branch is a nexus with the history of the other one, and remembers the
    commit at which it began. Another program may write meanwhile.

    \b
    Examples:
      kiprdf branch brain idea
      kiprdf merge idea --nexus brain
    """
    with Place(str(nexus)).to_read() as opened:
        number = opened.branch(folder)
    output.note(f"{folder} is a branch of {nexus} at commit {number}.")


class OfMerge(OfFolder):
    """A command on a nexus in a folder, whose other argument may be a nexus, too."""

    shown = ("sync", "token")

    def _refuse_other_order(self, ctx: Any) -> None:
        pass


@app.command(cls=OfMerge, rich_help_panel=EXCHANGE)
def merge(
    ctx: typer.Context,
    theirs: Annotated[
        str,
        typer.Argument(
            metavar="OTHER",
            help="A folder, a snapshot, the address of a server, or the number of a commit.",
        ),
    ],
    base: Annotated[
        str | None, typer.Option(metavar="PLACE", help="The state that both began with.")
    ] = None,
    prefer: Annotated[
        Preference | None, typer.Option(help="Decide the conflicts, so that none remains.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Merge nothing if there are conflicts.")
    ] = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Merge what another nexus, or a branch, has changed, as one commit.

    What changed on one side is taken. Of what both changed differently, the value
    of the nexus stays, and the other one is noted beside it: see kiprdf conflicts.
    Without --base it is the last state that both histories have in them; with a
    snapshot there is none, and nothing is deleted.

    The exit status is 0, 1 if conflicts remain, and 2 for an error.

    \b
    Examples:
      kiprdf merge idea --nexus brain
      kiprdf merge idea --dry-run
      kiprdf merge theirs.ttl --base old.ttl --prefer newest
      kiprdf merge http://127.0.0.1:8080 --prefer ours
    """
    place = place_of(ctx)
    sides = [_side(one) for one in (theirs, base)]
    token = place.token or os.environ.get("KIPRDF_TOKEN")
    with output.errors_as_json(as_json), place.existing(dry_run) as opened:
        merged = opened.merge(
            sides[0],
            base=sides[1],
            token=token,
            prefer=prefer,
            strict=strict,
            dry_run=dry_run,
        )
    if as_json:
        output.show_json(merged.to_json())
    else:
        output.write_exactly(merged.text())
    sys.stdout.flush()
    raise typer.Exit(1 if merged.open else 0)


@app.command(cls=OfMerge, rich_help_panel=EXCHANGE)
def follow(
    ctx: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A folder, a log of patches, or the address of a server."
        ),
    ],
    selection: Annotated[
        str | None,
        typer.Option("--select", "-s", metavar="WHERE", help="Follow only what this selects."),
    ] = None,
    goes_on: Annotated[
        bool, typer.Option("--watch/--once", help="Follow on, until it is interrupted.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.1, help="How often, with --watch.")
    ] = 2.0,
    as_json: JsonOption = False,
) -> None:
    """Take over what another nexus knows, from where this ended last time.

    It keeps its authors and times, and has its sources as "via" in its metadata.
    What the nexus says itself stays: see kiprdf conflicts. What it has erased or
    rejected does not return. Two that follow each other come to the same.

    \b
    Examples:
      kiprdf follow ../ada/brain --nexus brain
      kiprdf follow http://127.0.0.1:8080/scopes/team --nexus brain --watch
      kiprdf follow ../brain --select '?d {type: "Drug"}'
    """
    place = place_of(ctx)
    token = place.token or os.environ.get("KIPRDF_TOKEN")
    token = token if source.startswith(("http://", "https://")) else None
    with output.errors_as_json(as_json):
        while True:
            try:
                # In between others may write.
                with place.to_write() as opened:
                    report = opened.follow(source, token=token, selection=selection)
                if not goes_on or report["commits"]:
                    _show_followed(report, as_json)
            except (KipError, StoreError) as fault:
                if not goes_on or getattr(fault, "code", "KIP_4003") != "KIP_4003":
                    raise
                output.note(str(fault))
            if not goes_on:
                return
            time.sleep(seconds)


def _show_followed(report: dict[str, Any], as_json: bool) -> None:
    if as_json:
        output.show_json(report)
    else:
        parts = [f"{number} {name}" for name, number in report.items() if name not in _PLACE]
        print(f"{report['source']} up to commit {report['place']}: {', '.join(parts)}")
    sys.stdout.flush()


_PLACE = ("source", "place")


def _side(text: str | None) -> Any:
    """A commit for a number, unless a file or a folder has it as its name."""
    if text is None or (text.startswith(("http://", "https://"))):
        return text
    if text.isdecimal() and len(text) <= DIGITS and not Path(text).exists():
        return int(text)
    if not Path(text).exists():
        raise Failure(f"There is no file or folder {text}.")
    return Path(text)


@app.command(cls=OfFolder, rich_help_panel=EXCHANGE)
def conflicts(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List where others, who were merged or followed, say something else.

    To resolve one, write the value that is right. Where that is not theirs, also
    delete the metadata key "conflict" of the element.

    \b
    Examples:
      kiprdf conflicts
      kiprdf conflicts --json --nexus brain
    """
    with place_of(ctx).to_read() as opened:
        listed = opened.conflicts()
    lines = (
        f"{printable(one['id'])} {printable(one['key'])}: "
        f"ours {merging.side_text(one['ours'])}, theirs {merging.side_text(one['theirs'])}"
        for one in listed
    )
    output.show_list(as_json, listed, lines, "There are no conflicts.")
