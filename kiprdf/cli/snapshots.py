"""The commands that write and read a whole nexus: snapshot, restore, export."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any

import typer

from kiprdf.cli import answers, inputs, output
from kiprdf.cli.failures import Failure, writing
from kiprdf.cli.opening import Creates, Reads, place_of
from kiprdf.cli.options import (
    EXCHANGE,
    BaseOption,
    HistoryOption,
    JsonOption,
    MappingOption,
    Only,
    ParamOption,
    ParamsFileOption,
    ProfileOption,
    RdfFormatOption,
    StrictOption,
    TargetArgument,
)
from kiprdf.cli.root import app

_MEMORY_BYTES = 2**24
"""A larger snapshot is spooled to a temporary file before it is printed."""


@app.command(cls=Reads, rich_help_panel=EXCHANGE)
def snapshot(
    ctx: typer.Context,
    file: TargetArgument = inputs.STDIN,
    format: RdfFormatOption = None,
    profile: ProfileOption = "rdf11",
    mapping: MappingOption = None,
    domain: Annotated[
        str | None, typer.Option(metavar="NAME", help="Write only the members of this domain.")
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            "--select", "-s", metavar="FIND", help="Write only what this FIND or EXPORT selects."
        ),
    ] = None,
    only: Annotated[
        Only | None,
        typer.Option(help="Write only imported knowledge; needs --mapping original."),
    ] = None,
    no_engine_metadata: Annotated[
        bool,
        typer.Option("--no-engine-metadata", help="Omit _version, _created_at and _updated_at."),
    ] = False,
    history: HistoryOption = None,
) -> None:
    """Write the nexus as RDF; the same knowledge always gives the same text.

    The format is Turtle unless --format or the file suffix selects another: .ttl
    .trig .nt .nq .jsonld .rdf. A mapping translates to other vocabularies;
    restore needs the same mapping. A selection includes what it depends on, such
    as definitions.

    \b
    Examples:
      kiprdf snapshot brain.ttl
      kiprdf snapshot brain.ttl --history brain.rdfp
      kiprdf snapshot --profile rdf12 > brain.ttl
      kiprdf snapshot knowledge.ttl --no-engine-metadata    # for version control
      kiprdf snapshot brain.jsonld --mapping schema-org
      kiprdf snapshot people.ttl --mapping original --only imported
      kiprdf snapshot system.nt --domain System
      kiprdf snapshot --select 'EXPORT ?p WHERE { ?p {type: "Person"} }'
    """
    options: dict[str, Any] = {
        "profile": profile,
        "format": format,
        "mapping": inputs.mapping_of(mapping),
        "domain": domain,
        "select": select,
        "only": only,
        "engine_metadata": not no_engine_metadata,
    }
    if history is not None and file == inputs.STDIN:
        raise Failure("A snapshot with its history needs a file.")
    with place_of(ctx).to_read() as opened:
        if history is not None:
            with writing(file):
                opened.snapshot(file, history=history, **options)
            output.note(f"Wrote {file} and {history}.")
            return
        if file != inputs.STDIN:
            with writing(file), output.triple_counter("writing") as advance:
                triples = opened.write_snapshot(file, advance=advance, **options)
            output.note(f"Wrote {file}, {output.counted(triples, 'triple')}.")
            return
        # Printed only when complete, so that a failure prints nothing.
        with SpooledTemporaryFile(_MEMORY_BYTES) as content:
            with output.triple_counter("writing") as advance:
                opened.write_snapshot(content, advance=advance, **options)
            content.seek(0)
            output.write_bytes(content)


@app.command(cls=Creates, rich_help_panel=EXCHANGE)
def restore(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A snapshot; - for stdin.")],
    format: RdfFormatOption = None,
    mapping: MappingOption = None,
    base_iri: BaseOption = None,
    strict: StrictOption = None,
    history: HistoryOption = None,
    check: Annotated[
        bool, typer.Option("--check", help="Refuse what violates the shapes of the nexus.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Load a snapshot into a new nexus, including ids and metadata.

    The new nexus gets the base IRI of the snapshot unless --base-iri sets
    another. A file that does not declare its base requires --base-iri. A snapshot
    written with a mapping must be read with the same mapping. To load other RDF,
    use kiprdf import.

    It checks that the file is the dataset of a nexus, and nothing that it says:
    who wrote, reviewed, retracted or rejected what, schemas, versions and times
    are taken as they are. Restore what you trust. With --check, it must satisfy
    the shapes of kiprdf gate.

    \b
    Examples:
      kiprdf restore brain.ttl --nexus copy
      kiprdf restore brain.ttl -n copy --history brain.rdfp
      kiprdf restore brain.ttl -n copy --base-iri https://data.example.org/kb/
      kiprdf restore brain.jsonld -n copy --mapping schema-org
    """
    source, names = inputs.snapshot_of(file, format), inputs.mapping_of(mapping)
    if source.base is None and base_iri is None:
        raise Failure(f"{file} does not declare its base IRI; specify it with --base-iri.")
    new_base = base_iri or (source.base if place_of(ctx).is_absent else None)
    with (
        place_of(ctx).for_command(new_base, strict) as opened,
        output.errors_as_json(as_json),
        output.progress_bar() as advance,
    ):
        advance(0, f"reading {file}")
        count = opened.restore(
            io.BytesIO(source.content),
            base_iri=None if source.base else base_iri,
            format=source.format,
            mapping=names,
            history=history,
            check=check,
        )
    line = f"{file}: {count} concepts and propositions restored into {place_of(ctx)}"
    report = {"file": str(file), "elements": count}
    report |= {"erased": count.erased} if count.erased else {}
    output.show_answer(as_json, report, [line, *output.erased_lines(report)])


@app.command(cls=Reads, rich_help_panel=EXCHANGE)
def export(
    ctx: typer.Context,
    file: TargetArgument = inputs.STDIN,
    select: Annotated[
        str | None,
        typer.Option(
            "--select", "-s", metavar="EXPORT", help="Export only what this EXPORT selects."
        ),
    ] = None,
    param: ParamOption = None,
    params_file: ParamsFileOption = None,
) -> None:
    """Write a knowledge capsule: UPSERT blocks that kiprdf load and other KIP
    engines read.

    A capsule has no ids, versions or times; use snapshot to keep them.

    \b
    Examples:
      kiprdf export brain.kip
      kiprdf export drugs.kip --select 'EXPORT ?d WHERE { ?d {type: "Drug"} }'
      kiprdf export drugs.kip --select 'EXPORT ?d WHERE {
        ?d {type: "$ConceptType", name: "Drug"} UNION { ?d {type: "Drug"} } }'
      kiprdf export | kiprdf load - --nexus copy

    The second selection includes the definition of the type, for a nexus that
    lacks it. A full export includes $self; loading it overwrites the same
    attributes of $self in the target, except its core_directives.
    """
    parameters = inputs.parameters(param or (), params_file)
    with place_of(ctx).to_read() as opened, output.progress_bar() as advance:
        advance(0, "writing the capsule")
        text, cursor = answers.exported(opened, select, parameters)
    if not text:
        raise Failure("Nothing was selected; nothing was written.")
    inputs.write_document(file, text)
    output.note_cursor(cursor)
