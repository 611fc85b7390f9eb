"""The commands for snapshots in git: those that git runs, and one that sets them up."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiprdf import collector
from kiprdf.cli import inputs, output
from kiprdf.cli.failures import PlainCommand
from kiprdf.cli.options import EXCHANGE, JsonOption
from kiprdf.cli.root import app
from kiprdf.errors import KipError
from kiprdf.interchange import formats
from kiprdf.loading import Lazy

if TYPE_CHECKING:
    from kiprdf.sharing import git
else:
    git = Lazy("kiprdf.sharing.git")


@app.command("git-setup", cls=PlainCommand, rich_help_panel=EXCHANGE)
def git_setup(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATTERN]...", help="The files, as in .gitattributes (*.ttl)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Let git merge and show the snapshots in a repository in terms of KIP.

    It adds a line for each pattern to .gitattributes, which is to be committed,
    and configures this clone: each clone needs the command once. Other Turtle is
    merged and shown as text.

    \b
    Examples:
      kiprdf git-setup
      kiprdf git-setup brain.ttl 'exports/*.nt'
    """
    with output.errors_as_json(as_json):
        report = git.setup(Path(), patterns or ["*.ttl"])
    lines = [f"{report['attributes']}: {line}" for line in report["added"]]
    output.show_answer(as_json, report, lines)
    if not as_json:
        output.note("This clone merges and shows snapshots with kiprdf.")
    if shutil.which("kiprdf") is None:
        output.note("Warning: kiprdf is not on the PATH, where git looks for it.")


@app.command("git-show", cls=PlainCommand, rich_help_panel=EXCHANGE)
def git_show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A snapshot; - for stdin.")],
) -> None:
    """Print a snapshot in terms of KIP, for git diff, which runs this command.

    The elements are sorted, each value is a line. What is not a snapshot, or is
    damaged, is printed as it is.

    \b
    Examples:
      kiprdf git-show brain.ttl
    """
    content = inputs.read_as_it_is(file)
    try:
        format = formats.format_of(file) or "turtle"
        text = collector.paused(lambda: git.words(content, format))
    except KipError:
        output.write_bytes(io.BytesIO(content))
    else:
        output.write_exactly(text)


@app.command("git-merge", cls=PlainCommand, rich_help_panel=EXCHANGE)
def git_merge(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The file before both changed it.")],
    ours: Annotated[Path, typer.Argument(metavar="OURS", help="Our file; gets the result.")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS", help="The file of the others.")],
    path: Annotated[
        str | None, typer.Option(metavar="PATH", help="The path of the file in the repository.")
    ] = None,
    marker_size: Annotated[
        int, typer.Option(metavar="NUMBER", help="The length of the markers of a merge as text.")
    ] = 7,
) -> None:
    """Merge three versions of a snapshot; git merge and git rebase run this command.

    It compares element by element, key by key. Where both changed a key in
    different ways, ours stays, theirs is noted in the metadata conflict of the
    element, and the exit status is 1. What is not a snapshot is merged as text; a
    damaged snapshot is left as it is.

    \b
    Examples:
      kiprdf git-merge base.ttl ours.ttl theirs.ttl
    """
    versions = git.Versions(base, ours, theirs)
    status, lines = collector.paused(lambda: git.merge(versions, path, marker_size))
    for line in lines:
        output.note(line)
    raise typer.Exit(status)
