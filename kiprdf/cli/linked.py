"""The commands for linked data: diff, schema, publish."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

import typer

from kiprdf.cli import inputs, output
from kiprdf.cli.failures import Failure, PlainCommand
from kiprdf.cli.opening import Creates, Place, Reads, place_of
from kiprdf.cli.options import (
    EXCHANGE,
    Facts,
    JsonOption,
    MappingOption,
    TargetArgument,
)
from kiprdf.cli.root import app
from kiprdf.interchange.formats import Profile
from kiprdf.nexus import Nexus

DiffFormat = Literal["text", "patch"]
"""How differences are written."""


@app.command(cls=PlainCommand, rich_help_panel=EXCHANGE)
def diff(
    before: Annotated[
        str, typer.Argument(metavar="A", help="A nexus, in a folder or a store, or a snapshot.")
    ],
    after: Annotated[
        str, typer.Argument(metavar="B", help="The nexus or snapshot to compare it with.")
    ],
    form: Annotated[DiffFormat, typer.Option("--as", help="Text, or an RDF Patch.")] = "text",
    as_json: JsonOption = False,
    engine_metadata: Annotated[
        bool, typer.Option("--engine-metadata", help="Also compare versions and times.")
    ] = False,
    default_graph: Annotated[
        str | None, typer.Option(metavar="IRI", help="Graph of a nexus in a store.")
    ] = None,
) -> None:
    """Show the differences between two nexuses or snapshots, in KIP terms.

    The exit status is 0 if there are no differences, 1 if there are some, and 2
    for an error. A patch compares every triple, including versions, times and
    ids.

    \b
    Examples:
      kiprdf diff yesterday.ttl nexus
      kiprdf diff old new --json
      kiprdf diff old.ttl http://127.0.0.1:3030/ds/query
      kiprdf diff yesterday.nt today.jsonld --as patch > changes.rdfp
    """
    if as_json and form != "text":
        raise typer.BadParameter(f"--json cannot be combined with --as {form}.")
    with ExitStack() as stack:
        old, new = (stack.enter_context(_opened(place, default_graph)) for place in (before, after))
        if form == "patch":
            changes = old.patch_to(new)
            text, status = changes.text, int(any(changes))
        else:
            from kiprdf.interchange.differences.difference import exit_status, render

            difference = old.diff(new, engine_metadata=engine_metadata)
            text = render(difference, "json" if as_json else "text")
            status = exit_status(difference)
    output.write_exactly(text)
    sys.stdout.flush()
    if not status:
        output.note("No difference.")
    raise typer.Exit(status)


def _opened(place: str, default_graph: str | None) -> Nexus:
    store, path = Place(place, default_graph=default_graph), Path(place)
    if store.is_url:
        return store.connect(writes=False, embedder=None)
    if path.is_dir():
        return Place(place).to_read()
    if path != inputs.STDIN and not path.exists():
        raise Failure(f"There is no nexus and no snapshot {path}.")
    return inputs.restored(path)


@app.command(cls=Creates, rich_help_panel=EXCHANGE)
def patch(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An RDF Patch; - for stdin.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the patch, write nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Apply an RDF Patch, such as kiprdf diff --as patch writes, in one transaction.

    The patch must match the state of the nexus: it may delete only triples that
    exist, and add only triples that do not. It may change what a statement may.

    \b
    Examples:
      kiprdf diff yesterday.nt today.nt --as patch > changes.rdfp
      kiprdf patch changes.rdfp --nexus copy
    """
    text, place = inputs.read_text(file), place_of(ctx)
    with (
        place.to_read() if dry_run else place.for_command() as opened,
        inputs.naming(file),
        output.errors_as_json(as_json),
    ):
        changes = opened.apply_patch(text, dry_run=dry_run)
    deleted, added = (output.counted(changes[kind], "triple") for kind in ("deleted", "added"))
    if as_json:
        output.show_json(changes)
    else:
        output.note(f"{deleted} deleted, {added} added.")


@app.command(cls=Reads, rich_help_panel=EXCHANGE)
def schema(
    ctx: typer.Context,
    file: TargetArgument = inputs.STDIN,
    shapes: Annotated[
        bool, typer.Option("--shapes", help="Write SHACL shapes instead of RDFS and OWL.")
    ] = False,
    profile: Annotated[
        Profile | None,
        typer.Option(help="Profile of the snapshots to validate (--shapes; default rdf11)."),
    ] = None,
    mapping: MappingOption = None,
) -> None:
    """Write the types and predicates as RDFS and OWL, or as SHACL shapes, in Turtle.

    With a mapping, equivalent classes and properties are included.

    \b
    Examples:
      kiprdf schema schema.ttl
      kiprdf schema --mapping schema-org --mapping foaf
      kiprdf schema shapes.ttl --shapes
      kiprdf schema --shapes --profile rdf12
    """
    if profile and not shapes:
        raise typer.BadParameter("--profile requires --shapes.")
    if mapping and shapes:
        raise typer.BadParameter("--mapping cannot be combined with --shapes.")
    names = inputs.mapping_of(mapping)
    with place_of(ctx).to_read() as opened:
        if shapes:
            text = opened.shapes(None, profile or "rdf11")
        else:
            text = opened.schema(None, mapping=names)
    inputs.write_document(file, text)


@app.command(cls=Reads, rich_help_panel=EXCHANGE)
def context(ctx: typer.Context, file: TargetArgument = inputs.STDIN) -> None:
    """Write the original IRIs of imported types, predicates and keys as a JSON-LD context.

    Imports record them in the definitions. Use the context as a mapping file with
    --mapping.

    \b
    Examples:
      kiprdf context
      kiprdf context own.jsonld && kiprdf snapshot out.ttl --mapping own.jsonld
    """
    with place_of(ctx).to_read() as opened:
        text = json.dumps(opened.context(), ensure_ascii=False, indent=2) + "\n"
    inputs.write_document(file, text)


@app.command(cls=Reads, rich_help_panel=EXCHANGE)
def publish(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder.")],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the pages.")] = None,
    description: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Description of the dataset.")
    ] = None,
    publisher: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Publisher: a name or an IRI.")
    ] = None,
    license: Annotated[
        str | None, typer.Option("--license", "--licence", metavar="IRI", help="License.")
    ] = None,
    facts: Annotated[
        Facts | None,
        typer.Option(
            help="Facts on separate pages, or inline on the pages of concepts "
            "(default: inline above 1000 facts)."
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="IRI", help="Address of the published folder (default: the base)."),
    ] = None,
    mapping: MappingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the nexus as a folder of static HTML pages and data files.

    The folder contains a page and a Turtle file for each concept and proposition,
    the vocabulary, and the whole dataset in several formats. With --facts inline,
    propositions are on the pages of concepts, and a type has one Turtle file. A
    folder written by an earlier publish is replaced; any other folder that is not
    empty is refused.

    \b
    Examples:
      kiprdf publish site --title Pharmacy
      kiprdf publish site --address https://example.org/kb/ --mapping schema-org
      kiprdf publish site --facts inline --publisher "Acme Pharmacy" \\
          --license https://creativecommons.org/licenses/by/4.0/
    """
    names = inputs.mapping_of(mapping)
    with place_of(ctx).to_read() as opened:
        counts = opened.info()
        total = counts["concepts"] + counts["propositions"]
        with output.progress_bar(total) as advance:
            advance(0, "writing pages")
            result = opened.publish(
                folder,
                title=title,
                description=description,
                publisher=publisher,
                license=license,
                address=address,
                facts=facts,
                mapping=names,
                advance=advance,
            )
    elements = output.counted(result.elements, "element")
    files = output.counted(result.files, "file")
    document = {"folder": str(folder), "elements": result.elements, "files": result.files}
    line = f"{folder}: {elements} in {files}; open {folder / 'index.html'}"
    output.show_answer(as_json, document, line)
    if not as_json and address is None and "://" not in opened.base_iri:
        output.note("void.ttl contains no download addresses; set them with --address.")
