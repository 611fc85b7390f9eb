"""Commands for the history of a nexus."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import kiprdf
from kiprdf.arguments import check_names
from kiprdf.cli import answers, inputs, output
from kiprdf.cli.failures import Subcommands
from kiprdf.cli.opening import OfFolder, OfHistory, OfServer, place_of
from kiprdf.cli.options import (
    HISTORY,
    DryRunOption,
    EntailOption,
    JsonOption,
    KeyOption,
    ParamOption,
    TargetArgument,
)
from kiprdf.cli.root import app
from kiprdf.execution.history import DIGITS
from kiprdf.interchange.differences.difference import DEEPEST_SHOWN, printable, shown
from kiprdf.nexus import Nexus
from kiprdf.rdf.iris import ConceptName

erasures_app = typer.Typer(cls=Subcommands, no_args_is_help=True)
app.add_typer(erasures_app, name="erasures", rich_help_panel=HISTORY)


@app.command(cls=OfFolder, rich_help_panel=HISTORY)
def at(
    ctx: typer.Context,
    when: Annotated[
        str,
        typer.Argument(
            metavar="WHEN", help="The number of a commit, or a time such as 2026-03-01T12:00:00Z."
        ),
    ],
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="A KIP command that reads; - for stdin.")
    ],
    param: ParamOption = None,
    entail: EntailOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a KIP command on an earlier state of the nexus.

    A time means the last commit at or before it. kiprdf info shows which commits
    the history covers.

    \b
    Examples:
      kiprdf at 1500 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
      kiprdf at 2026-03-01T12:00:00Z 'DESCRIBE PRIMER' --nexus brain
    """
    text = inputs.command_text(command, None)
    parameters = inputs.parameters(param or (), None)
    with output.errors_as_json(as_json):
        parsed = kiprdf.parse(text)
        with place_of(ctx).to_read() as opened, opened.at(_moment(when)) as past:
            cursor = answers.show(past, parsed, text, parameters, entail=entail, as_json=as_json)
            if not as_json:
                output.note_cursor(cursor)


def _moment(when: str) -> int | str:
    # Python reads no number of several thousand digits.
    return int(when) if when.isdecimal() and len(when) <= DIGITS else when


@app.command(cls=OfFolder, rich_help_panel=HISTORY)
def history(
    ctx: typer.Context,
    element: Annotated[
        str,
        typer.Argument(
            metavar="ELEMENT",
            help="An element: Aspirin, Drug:Aspirin, (Aspirin, treats, Headache), or its id.",
        ),
    ],
    key: Annotated[
        str | None, typer.Option(help="Only changes of this key, such as attributes.risk.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of changes.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="Cursor from the previous page.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the changes of an element, even of a deleted one, the newest first.

    \b
    Examples:
      kiprdf history Aspirin
      kiprdf history Drug:Aspirin --key attributes.risk --json
      kiprdf history '(Drug:Aspirin, treats, Symptom:Headache)'
    """
    with output.errors_as_json(as_json), place_of(ctx).to_read() as opened:
        page = opened.history(opened.id_of(element), key=key, limit=limit, cursor=cursor)
    _show_page(page, page["entries"], _entry_lines, as_json)


@app.command(cls=OfFolder, rich_help_panel=HISTORY)
def changes(
    ctx: typer.Context,
    since: Annotated[
        str | None, typer.Option(help="The commit, or the time, after which to begin.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="The last commit, or its time.")] = None,
    type: Annotated[
        str | None, typer.Option(help="Only elements of this type or predicate.")
    ] = None,
    author: Annotated[str | None, typer.Option(help="Only commits of this author.")] = None,
    session: Annotated[str | None, typer.Option(help="Only commits of this session.")] = None,
    source: Annotated[str | None, typer.Option(help="Only elements with this source.")] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of commits.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="Cursor from the previous page.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the commits after a commit or a time, and the changes of each.

    Without --since, all that the history has. A fact is shown by its ends.

    \b
    Examples:
      kiprdf changes
      kiprdf changes --since 1500
      kiprdf changes --since 2026-03-01T12:00:00Z --type Drug --json
    """
    with output.errors_as_json(as_json), place_of(ctx).to_read() as opened:
        page = opened.changes(
            None if since is None else _moment(since),
            None if until is None else _moment(until),
            type=type,
            author=author,
            session=session,
            source=source,
            limit=limit,
            cursor=cursor,
        )
        lines = partial(_commit_lines, name=_names(opened, page["commits"]))
        _show_page(page, page["commits"], lines, as_json)


@app.command(cls=OfHistory, rich_help_panel=HISTORY)
def undo(
    ctx: typer.Context,
    seq: Annotated[int | None, typer.Option(help="The commit to undo.")] = None,
    session: Annotated[str | None, typer.Option(help="Undo the commits of a session.")] = None,
    source: Annotated[str | None, typer.Option(help="Undo statements with this source.")] = None,
    skip: Annotated[bool, typer.Option("--skip", help="Skip conflicts, undo the rest.")] = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Undo a commit, a session or a source by a new commit.

    If a later commit changed the same values, that is a conflict, and nothing is
    written. --skip undoes the rest.

    \b
    Examples:
      kiprdf undo --seq 1500 --dry-run
      kiprdf undo --session s-42 --skip
    """
    with output.errors_as_json(as_json), place_of(ctx).existing(dry_run) as opened:
        report = opened.undo(
            seq=seq,
            session=session,
            source=source,
            conflicts="skip" if skip else "refuse",
            dry_run=dry_run,
        )
        is_written = report["reverted"] and not dry_run
        done = () if not is_written else opened.changes(since=report["seq"] - 1)["commits"]
        lines = _with_names((item["id"] for item in report["reverted"]), _names(opened, done))
    shown = [f"{lines[item['id']]}: {item['change']}" for item in report["reverted"]]
    shown += [f"conflict: {json.dumps(one, ensure_ascii=False)}" for one in report["conflicts"]]
    output.show_answer(as_json, report, map(printable, shown))
    if as_json:
        return
    if not report["reverted"]:
        output.note("Nothing to undo.")
    if dry_run:
        output.note("Dry run: nothing was written.")


@app.command(cls=OfServer, rich_help_panel=HISTORY)
def forget(
    ctx: typer.Context,
    command: Annotated[
        str, typer.Argument(metavar="FIND", help="A FIND that shows elements; - for stdin.")
    ],
    param: ParamOption = None,
    derived: Annotated[
        bool, typer.Option("--derived", help="Forget what has no other evidence, too.")
    ] = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Erase elements for good: from the graph, the history and every file.

    Propositions about them are erased, too. Other elements that mention their names
    are listed, but not changed. Existing backups and snapshots are not changed:
    kiprdf erasures export writes a list that they can be opened with.

    \b
    Examples:
      kiprdf forget 'FIND(?p) WHERE { ?p {type: "Person", name: "Jane"} }' --dry-run
      kiprdf forget 'FIND(?p) WHERE { ?p {type: "Person", name: "Jane"} }'
    """
    place = place_of(ctx)
    text = inputs.command_text(command, None)
    parameters = inputs.parameters(param or (), None)
    with (
        output.errors_as_json(as_json),
        place.server() or place.existing(dry_run) as opened,
    ):
        check_names(parameters, ("derived", "dry_run"))
        lines = {}
        if isinstance(opened, Nexus) and not as_json:
            plan = opened.forget(text, derived=derived, dry_run=True, **parameters)
            ids = [id for key in _FORGOTTEN for id in plan.get(key, ())]
            lines = _with_names(ids, _names(opened))
        report = opened.forget(text, derived=derived, dry_run=dry_run, **parameters)
    shown = [
        prefix + printable(lines.get(id, id))
        for key, prefix in _FORGOTTEN.items()
        for id in report.get(key, ())
    ]
    output.show_answer(as_json, report, shown)
    if as_json:
        return
    if not report["elements"]:
        output.note("Nothing to forget.")
    if dry_run:
        output.note("Dry run: nothing was written.")


@app.command(cls=OfFolder, rich_help_panel=HISTORY)
def receipt(
    ctx: typer.Context,
    seq: Annotated[int, typer.Argument(metavar="SEQ", help="The number of a commit.")],
    key: KeyOption,
    file: TargetArgument = inputs.STDIN,
) -> None:
    """Write a signed receipt of a commit: what it was, when, by whom, without content.

    It has the kind of the commit, its time and author, how much it changed, and the
    digest of its record: no names and no values. kiprdf verify --receipt compares
    it with the history of a folder.

    \b
    Examples:
      kiprdf receipt 12 --key key.json
      kiprdf receipt 12 receipt.jsonld --key key.json --nexus brain
    """
    with place_of(ctx).to_read() as opened:
        document = opened.receipt(seq, key)
    inputs.write_signed(file, document, key)


@erasures_app.callback()
def erasures() -> None:
    """Make copies forget: backups, snapshots, capsules, other folders."""


@erasures_app.command(cls=OfFolder)
def export(ctx: typer.Context, file: TargetArgument = inputs.STDIN) -> None:
    """Write the erasure list: a digest for each element that was forgotten.

    It has no names, but whoever knows a name can compute its digest.

    \b
    Examples:
      kiprdf erasures export erasures.txt --nexus brain
    """
    with place_of(ctx).to_read() as opened:
        text = opened.erasures()
    inputs.write_document(file, text)


@erasures_app.command(cls=OfServer)
def apply(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An erasure list; - for stdin.")],
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Forget what the erasure list of another nexus names, and remember the list.

    From then on imports, capsules and restores leave out what it names. Applied
    again, it changes nothing.

    \b
    Examples:
      kiprdf erasures apply erasures.txt --nexus brain-2026-11-22
    """
    text = inputs.read_text(file)
    place = place_of(ctx)
    with output.errors_as_json(as_json), place.server() or place.existing(dry_run) as opened:
        report = opened.apply_erasures(io.StringIO(text), dry_run=dry_run)
    erased = output.counted(report["erased"], "element")
    commits = output.counted(report["commits"], "commit")
    listed = output.counted(report["listed"], "digest")
    line = f"{erased} erased, {commits} of the history rewritten, {listed} added to the list"
    output.show_answer(as_json, report, line)
    if dry_run and not as_json:
        output.note("Dry run: nothing was written.")


@app.command(cls=OfFolder, rich_help_panel=HISTORY)
def refusals(
    ctx: typer.Context,
    author: Annotated[str | None, typer.Option(help="Only those of an author.")] = None,
    session: Annotated[str | None, typer.Option(help="Only those of a session.")] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of lines.")] = 100,
    as_json: JsonOption = False,
) -> None:
    """List the writes that were refused, the newest first.

    A line has the time, the principal, its session, the code of the error, and the
    SHA-256 of the text, which is not kept.

    \b
    Examples:
      kiprdf refusals
      kiprdf refusals --author claude --json
    """
    with output.errors_as_json(as_json), place_of(ctx).to_read() as opened:
        listed = opened.refusals(author=author, session=session, limit=limit)
    lines = (" ".join(filter(None, line.values())) for line in listed)
    output.show_list(as_json, listed, lines, "Nothing was refused.")


@app.command("compact-history", cls=OfServer, rich_help_panel=HISTORY)
def compact_history(
    ctx: typer.Context,
    before: Annotated[str, typer.Option(help="First commit to keep: number, time or date.")],
    as_json: JsonOption = False,
) -> None:
    """Replace the history up to a commit or a time by one record of that state.

    \b
    Examples:
      kiprdf compact-history --before 2026-01-01
      kiprdf compact-history --before 1500 --nexus brain
    """
    with (
        output.errors_as_json(as_json),
        place_of(ctx).server() or place_of(ctx).existing() as opened,
    ):
        report = opened.compact_history(_moment(before))
    line = f"The history begins at commit {report['earliest_seq']}."
    output.show_answer(as_json, report, line)


def _show_page(
    page: dict[str, Any],
    items: list[dict[str, Any]],
    lines: Callable[[dict[str, Any]], Iterator[str]],
    as_json: bool,
) -> None:
    """Print a page of a history as JSON, or the lines of its items and how to get the next one."""
    output.show_answer(as_json, page, (line for item in items for line in lines(item)))
    if as_json:
        return
    if not items:
        output.note("No changes.")
    output.note_cursor(page["next_cursor"])


def _entry_lines(entry: dict[str, Any]) -> Iterator[str]:
    yield f"{_head(entry)}: {entry['change']} by {entry['statement']['kind']}"
    yield from key_lines(entry["keys"])


def key_lines(keys: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A line for each key that was added, removed or changed, with its values."""
    for item in keys:
        values = [json.dumps(item[side], ensure_ascii=False) for side in _SIDES if side in item]
        sign = "~" if len(values) == 2 else "+" if "after" in item else "-"
        yield printable(f"    {sign} {item['key']}: {' -> '.join(values)}")


def _commit_lines(commit: dict[str, Any], name: Callable[[str], str]) -> Iterator[str]:
    yield f"{_head(commit)}: {commit['kind']}"
    if "forgotten" in commit:
        yield f"    {output.counted(commit['forgotten'], 'element')} forgotten"
    if "gate" in commit:
        yield f"    shapes {'removed' if commit['gate'] is None else 'set'}"
    for title in ("concepts", "propositions"):
        for sign, kind in (("+", "added"), ("-", "removed"), ("~", "changed")):
            for element in commit[title][kind]:
                yield f"    {sign} {name(element['id'])}"


def _names(nexus: Any, commits: Iterable[dict[str, Any]] = ()) -> Callable[[str], str]:
    """Returns the name of an element by its id, also of a link that the commits removed."""
    groups = (group for commit in commits for group in commit["propositions"].values())
    links: dict[str, Any] = {link["id"]: link for group in groups for link in group}

    def name(id: str, depth: int = DEEPEST_SHOWN) -> str:
        """An element as people write it; the id of a link that is not in the nexus any more."""
        if id.startswith("C:"):
            type, _, own = id.removeprefix("C:").partition("/")
            return shown(ConceptName(type, own))
        if id not in links:
            links[id] = next(iter(nexus.execute(_LINK, entail=False, id=id)), None)
        link = links[id]
        if link is None or not depth:
            return id
        ends = [name(link[end], depth - 1) for end in ("subject", "object")]
        return f"({ends[0]}, {link['predicate']}, {ends[1]})"

    return name


def _with_names(ids: Iterable[str], name: Callable[[str], str]) -> dict[str, str]:
    """Ids with what is printed for them: a link is followed by its ends."""
    shown = {id: name(id) if id.startswith("P:") else id for id in ids}
    return {id: id if text == id else f"{id} {text}" for id, text in shown.items()}


_LINK = "FIND(?l) WHERE { OPTIONAL { ?l (id: :id) } }"
_SIDES = ("before", "after")
_FORGOTTEN = {
    "elements": "",
    "links": "",
    "derived": "",
    "mentions": "mentioned by ",
    "proposals": "removed the proposal ",
    "questions": "removed the saved question ",
    "unsupported": "without evidence now: ",
}
"""What the report of a forgetting has, and how it is shown."""


def _head(entry: dict[str, Any]) -> str:
    """The number and the time of a commit, and who made it."""
    author = entry.get("actor", entry["author"])
    run = f"({entry['proposal']} of {entry['proposed_by']})" if "proposal" in entry else None
    who = printable(" ".join(filter(None, (author, entry["session"], run))))
    return f"{entry['seq']} {entry['at']}{' ' + who if who else ''}"
