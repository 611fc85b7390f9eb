"""The commands for memories: texts in a nexus, and the graph extracted from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kiprdf.cli import inputs, output
from kiprdf.cli.failures import Failure, Subcommands, writing
from kiprdf.cli.opening import Creates, Reads, Writes, place_of
from kiprdf.cli.options import EVERYDAY, JsonOption
from kiprdf.cli.root import app

if TYPE_CHECKING:
    from kiprdf.memory import Memory
    from kiprdf.memory.items import Entity, Item
    from kiprdf.nexus import Nexus

memory_app = typer.Typer(cls=Subcommands, no_args_is_help=True)
app.add_typer(memory_app, name="memory", rich_help_panel=EVERYDAY)
_LINE = 120
"""Characters of a text in a list."""


Direction = Literal["both", "outgoing", "incoming"]
"""The directions of edges."""


EntityType = Literal["user", "project", "tool", "file", "concept", "decision"]
"""The types of entities."""


TypeOption = Annotated[EntityType | None, typer.Option("--type", help="Type of the entities.")]

SessionOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="The conversation of the text.")
]


@memory_app.callback()
def memory() -> None:
    """Remember texts, and query the graph that is extracted from them."""


@contextmanager
def _opened(opened: Nexus) -> Iterator[Memory]:
    """The memory of a nexus; what it refuses is reported as one sentence."""
    from kiprdf.memory import Memory

    with opened as nexus:
        try:
            yield Memory(nexus)
        except (ValueError, TypeError) as fault:
            raise Failure(str(fault)) from None


@memory_app.command(cls=Creates)
def add(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text; - for standard input.")],
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A label. Can be repeated.")
    ] = None,
    session: SessionOption = None,
    speaker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who says it, if it is not the user.")
    ] = None,
    timestamp: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it was said, if not now.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Store a text, add its statements to the graph, and print its id.

    \b
    Examples:
      kiprdf memory add 'I prefer Python, and decided to use SQLite for KG.'
      kiprdf memory add 'I went to Rome.' --session chat-17 --speaker Melanie
      kiprdf memory add - --tag notes --nexus brain < notes.txt
    """
    content = inputs.read_text(inputs.STDIN) if text == "-" else text
    with _opened(place_of(ctx).to_write()) as opened:
        id = opened.add(
            content, tags=tag or (), session=session, speaker=speaker, timestamp=timestamp
        )
        rejected = opened.rejected
    output.show_answer(as_json, {"id": id}, id)
    if rejected:
        output.note(f"{output.counted(rejected, 'fact')} rejected by a person, and left out.")


@memory_app.command(cls=Reads)
def get(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.")],
    as_json: JsonOption = False,
) -> None:
    """Print a stored text.

    \b
    Examples:
      kiprdf memory get mem_3f2a --json
    """
    with _opened(place_of(ctx).to_read()) as opened:
        item = opened.get(id)
    if item is None:
        raise Failure(f"There is no memory {id}; kiprdf memory list shows the ids.")
    if as_json:
        output.show_json(asdict(item))
    else:
        output.show_text(output.printable(item.content, keep="\n\t"))


@memory_app.command("list", cls=Reads)
def list_(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of texts.")] = 20,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the stored texts, the newest first, each in one line.

    \b
    Examples:
      kiprdf memory list --session chat-17 --limit 100
    """
    with _opened(place_of(ctx).to_read()) as opened:
        items = list(opened.items(session=session, newest=limit + 1))[::-1]
    shown = items[:limit]
    output.show_answer(as_json, list(map(asdict, shown)), map(_line, shown))
    if not items:
        place = "memory has no notes" if session is None else "session has no notes"
        output.note(f"The {place}.")
    if len(items) > limit:
        output.note("There are more texts: set a greater --limit.")


def _line(item: Item) -> str:
    text = " ".join(item.content.split())
    text = text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"
    place = f" {item.session}" if item.session else ""
    speaker = f"{item.speaker}: " if item.speaker else ""
    return f"{item.id} {item.timestamp}{place} {speaker}{text}"


@memory_app.command(cls=Writes)
def forget(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.")],
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Erase it from the history and all files, too.")
    ] = False,
    derived: Annotated[
        bool, typer.Option("--derived", help="Also what is derived from it alone.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a stored text, and what only it states.

    \b
    Examples:
      kiprdf memory forget mem_3f2a
      kiprdf memory forget mem_3f2a --for-good --json
    """
    with _opened(place_of(ctx).existing()) as opened:
        receipt: dict[str, Any] = {"id": id}
        if for_good:
            receipt |= opened.erase(id, derived=derived)
        else:
            receipt["forgotten"] = opened.forget(id, derived=derived)
    if not receipt["erased" if for_good else "forgotten"]:
        raise Failure(f"There is no memory {id}; kiprdf memory list shows the ids.")
    lines = [id, *(f"[{one['type']}] {one['name']}" for one in receipt.get("entities", ()))]
    for edge in receipt.get("edges", ()):
        lines.append(f"{edge['subject']} --[{edge['predicate']}]--> {edge['object']}")
    lines += receipt.get("derived", ())
    lines += [f"without evidence now: {one}" for one in receipt.get("unsupported", ())]
    output.show_answer(as_json, receipt, lines)


@memory_app.command(cls=Writes)
def merge(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The entity that goes.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The entity that stays.")],
    as_json: JsonOption = False,
) -> None:
    """Merge an entity into another of its type, by id or name, and print the other's id.

    \b
    Examples:
      kiprdf memory merge 'mesh analyzer' meshalyzer
    """
    with _opened(place_of(ctx).existing()) as opened:
        id = opened.merge(source, target)
    output.show_answer(as_json, {"id": id}, id)


@memory_app.command(cls=Reads)
def contradictions(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Show the pairs of statements of which the newer contradicts the older."""
    with _opened(place_of(ctx).to_read()) as opened:
        pairs = opened.contradictions()
    lines = []
    for pair in pairs:
        memories = f" ({', '.join(pair.memories)})" if pair.memories else ""
        lines.append(f"{_shown(pair.older)} | {_shown(pair.newer)}{memories}")
    output.show_answer(as_json, list(map(asdict, pairs)), lines)


@memory_app.command(cls=Writes)
def decay(
    ctx: typer.Context,
    days: Annotated[float, typer.Argument(metavar="DAYS", help="A statement counts half then.")],
    as_json: JsonOption = False,
) -> None:
    """Lower the weights of old statements: each counts half after so many days.

    \b
    Examples:
      kiprdf memory decay 90
    """
    with _opened(place_of(ctx).existing()) as opened:
        count = opened.decay(days)
    output.show_answer(as_json, {"changed": count}, f"{output.counted(count, 'edge')} changed.")


@memory_app.command(cls=Reads)
def stats(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Count memories, entities by type, and edges by predicate."""
    with _opened(place_of(ctx).to_read()) as opened:
        counts = opened.stats()
    lines = [f"{name}: {counts[name]}" for name in ("memories", "entities", "edges")]
    lines += [f"  [{type}] {count}" for type, count in counts["entities_by_type"].items()]
    lines += [f"  {predicate}: {count}" for predicate, count in counts["top_predicates"]]
    output.show_answer(as_json, counts, lines)


@memory_app.command(cls=Reads)
def search(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A name, or a part of one.")],
    type: TypeOption = None,
    limit: Annotated[int, typer.Option(min=0, help="Maximum number of results.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Search the entities by name, the best first.

    \b
    Examples:
      kiprdf memory search python --type tool --limit 5
    """
    with _opened(place_of(ctx).to_read()) as opened:
        hits = opened.search(text, type=type, limit=limit)
    document = [{"entity": hit.entity.to_dict(), "score": hit.score} for hit in hits]
    lines = (f"{_shown(hit.entity)} (Score: {hit.score})" for hit in hits)
    output.show_answer(as_json, document, lines)


@memory_app.command("neighbors", cls=Reads)
def show_neighbors(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ENTITY", help="Python, tool:Python, or an id.")],
    direction: Annotated[Direction, typer.Option(help="Direction of the edges.")] = "both",
    as_json: JsonOption = False,
) -> None:
    """Show the edges of an entity, the strongest first.

    \b
    Examples:
      kiprdf memory neighbors python --direction incoming
    """
    with _opened(place_of(ctx).to_read()) as opened:
        entity = opened.entity(name)
        neighbors = opened.neighbors(name, direction=direction)
    if entity is None:
        hint = "kiprdf memory search finds one by a part of its name"
        raise Failure(f"There is no entity {name}; {hint}.")
    lines = []
    for neighbor in neighbors:
        ends = [_shown(entity), _shown(neighbor.entity)]
        if neighbor.direction == "incoming":
            ends.reverse()
        edge = neighbor.edge
        weight = round(edge.weight, 2)
        lines.append(f"{ends[0]} --[{edge.predicate}]--> {ends[1]} (weight: {weight})")
    output.show_answer(as_json, list(map(asdict, neighbors)), lines)


@memory_app.command(cls=Reads)
def recall(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question, or some words.")],
    limit: Annotated[int, typer.Option(min=0, help="Most notes.")] = 10,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only notes of this time or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only notes up to this time or day.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Only notes with this label. Can be repeated."),
    ] = None,
    session: SessionOption = None,
    max_chars: Annotated[int, typer.Option(min=0, help="Most characters.")] = 4000,
    as_json: JsonOption = False,
) -> None:
    """Print the texts that answer a query, and what they state, as a block for a prompt.

    \b
    Examples:
      kiprdf memory recall 'When did Caroline go to Rome?' --limit 5
      kiprdf memory recall garlic --since 2026-01-01 --tag recipe --json
    """
    with _opened(place_of(ctx).to_read()) as opened:
        answer = opened.recall(
            query,
            limit=limit,
            since=since,
            until=until,
            tags=tag or (),
            session=session,
            max_chars=max_chars,
        )
    if as_json:
        output.show_json(answer.to_dict())
    elif text := str(answer):
        output.show_text(text)
    else:
        output.note(" ".join(answer.reasons))


@memory_app.command(cls=Reads)
def context(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the prompt is about.")],
    max_edges: Annotated[int | None, typer.Option(min=0, help="Most edges (20).")] = None,
    max_chars: Annotated[int | None, typer.Option(min=0, help="Most characters (1500).")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the part of the graph about a query, as a block of text for a prompt.

    \b
    Examples:
      kiprdf memory context 'meshalyzer python'
    """
    with _opened(place_of(ctx).to_read()) as opened:
        text = opened.context(query, max_edges=max_edges, max_chars=max_chars)
    if as_json:
        output.show_json({"context": text})
    elif text:
        output.show_text(text)


@memory_app.command(cls=Reads)
def export(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    as_json: JsonOption = False,
) -> None:
    """Write the graph as a JSON snapshot."""
    with _opened(place_of(ctx).to_read()) as opened:
        snapshot = opened.export()
        with writing(file):
            opened.export_file(file)
    _show_counts({key: len(snapshot[key]) for key in ("entities", "edges")}, as_json)


@memory_app.command("import", cls=Creates)
def import_(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSON snapshot.")],
    merge: Annotated[
        bool, typer.Option("--merge", help="Add to the graph instead of replacing it.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Replace the graph by a JSON snapshot, or merge it; the stored texts stay."""
    inputs.require_file(file)
    with _opened(place_of(ctx).to_write()) as opened:
        counts = opened.import_(file, merge=merge)
    _show_counts(counts, as_json)


@memory_app.command(cls=Writes)
def rebuild(
    ctx: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the counts of the new graph, write nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Build the graph again from the stored texts."""
    place = place_of(ctx)
    with _opened(place.existing(dry_run)) as opened:
        counts = opened.rebuild(dry_run=dry_run)
    _show_counts(counts, as_json)


def _show_counts(counts: dict[str, Any], as_json: bool) -> None:
    line = ", ".join(f"{name}: {count}" for name, count in counts.items())
    output.show_answer(as_json, counts, line)


def _shown(entity: Entity) -> str:
    return "User" if entity.type == "user" else f"[{entity.type}] {entity.name}"
