"""The commands that look after a nexus: check, backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kiprdf.cli import inputs, output, progress
from kiprdf.cli.failures import Failure
from kiprdf.cli.options import DEFAULT_NEXUS, Format, FormatOption, NexusOption
from kiprdf.cli.root import app
from kiprdf.errors import ForkedLogError, StoreError
from kiprdf.nexus import Nexus
from kiprdf.store.oxigraph import repair_log

SHOWN = 20
"""As many faults are printed for people."""


@app.command()
def check(nexus: NexusOption = DEFAULT_NEXUS, format: FormatOption = Format.TABLE) -> None:
    """Look at every triple of a nexus and at its text index, and make a wrong index anew.

    The exit status is 0 when all is sound, or was made so; 1 when something is wrong. Beside a
    program that writes to the nexus, nothing is repaired.

    \b
    Examples:
      kiprdf check
      kiprdf check --nexus brain --format json
    """
    with _opened(nexus) as opened, progress.bar() as advance:
        advance(0, f"checking {nexus}")
        found = opened.check(repair=not opened.read_only)
    if format is Format.JSON:
        output.show_json(found)
    else:
        _show(nexus, found)
    raise typer.Exit(int(bool(found["faults"]) or found["index"] == "wrong"))


def _opened(folder: Path) -> Nexus:
    """The nexus as it is: nothing is loaded into it."""
    if inputs.is_absent(folder):
        raise Failure(f"There is no nexus in {folder}.")
    try:
        try:
            return Nexus.open(folder, genesis=False)
        except ForkedLogError:
            repair_log(folder)
            output.note(
                f"A process and a fork of it had both written to the log of {folder}. It now has "
                f"what both wrote; the log as it was is in {folder / 'damaged'}."
            )
            return Nexus.open(folder, genesis=False)
    except StoreError:
        return Nexus.open(folder, read_only=True)


def _show(folder: Path, found: dict[str, Any]) -> None:
    faults = found["faults"]
    counts = f"{output.counted(found['concepts'], 'concept')}, " + output.counted(
        found["propositions"], "proposition"
    )
    told = "nothing is wrong" if not faults else output.counted(len(faults), "fault")
    output.show_text(f"{folder}: {counts}; {told}. The text index is {found['index']}.")
    for fault in faults[:SHOWN]:
        output.show_text(f"  {fault}")
    if len(faults) > SHOWN:
        output.note(f"And {len(faults) - SHOWN} more; --format json shows all.")


@app.command()
def backup(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to make the copy; absent or empty.")
    ],
    nexus: NexusOption = DEFAULT_NEXUS,
) -> None:
    """Copy a nexus, as of one moment, also beside a program that writes to it.

    The copy is a nexus: every command takes it with --nexus. A snapshot is the same knowledge as
    text, which any version reads.

    \b
    Examples:
      kiprdf backup brain-2026-11-22
      kiprdf backup /mnt/backups/brain --nexus brain
    """
    with inputs.open_to_read(nexus) as opened, progress.bar() as advance:
        advance(0, f"copying {nexus}")
        opened.backup(folder)
    output.note(f"Copied {nexus} to {folder}.")
