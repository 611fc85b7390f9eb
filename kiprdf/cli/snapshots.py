"""The commands that take knowledge out as a whole and back in: snapshot, restore, export."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any

import typer

from kiprdf.cli import answers, inputs, output, progress
from kiprdf.cli.failures import Failure, writing
from kiprdf.cli.options import (
    DEFAULT_NEXUS,
    BaseOption,
    MappingOption,
    NexusOption,
    ParamOption,
    ParamsFileOption,
    Profile,
    ProfileOption,
    RdfFormatOption,
)
from kiprdf.cli.root import app
from kiprdf.interchange.files import write_text
from kiprdf.nexus import Nexus

IN_MEMORY = 2**24
"""Larger snapshots wait in a file until they are whole, before they are printed."""


@app.command()
def snapshot(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write; standard output without it.")
    ] = inputs.STDIN,
    nexus: NexusOption = DEFAULT_NEXUS,
    format: RdfFormatOption = None,
    profile: ProfileOption = Profile.RDF11,
    mapping: MappingOption = None,
    domain: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only what belongs to this domain.")
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            "--select", "-s", metavar="FIND", help="Only what this FIND or EXPORT selects."
        ),
    ] = None,
    no_engine_metadata: Annotated[
        bool,
        typer.Option("--no-engine-metadata", help="Leave _version and its kin out."),
    ] = False,
) -> None:
    """Write the nexus as RDF, the same text for the same knowledge.

    Turtle, unless --format or the suffix of the file says otherwise: .ttl .trig .nt .nq .jsonld
    .rdf. With a mapping it speaks the words of others; restore reads it with the same mapping.
    A part holds what it stands on, definitions included.

    \b
    Examples:
      kiprdf snapshot brain.ttl
      kiprdf snapshot --profile rdf12 > brain.ttl
      kiprdf snapshot knowledge.ttl --no-engine-metadata    # to keep in git
      kiprdf snapshot brain.jsonld --mapping schema-org
      kiprdf snapshot system.nt --domain System
      kiprdf snapshot --select 'EXPORT ?p WHERE { ?p {type: "Person"} }'
    """
    options: dict[str, Any] = {
        "profile": profile.value,
        "format": format and format.value,
        "mapping": inputs.mapping_of(mapping),
        "domain": domain,
        "select": select,
        "engine_metadata": not no_engine_metadata,
    }
    with inputs.open_to_read(nexus) as opened:
        if file == inputs.STDIN:
            _print_snapshot(opened, options)
        else:
            with writing(file), progress.counting("writing") as advance:
                triples = opened.write_snapshot(file, advance=advance, **options)
            output.note(f"Wrote {file}, {output.counted(triples, 'triple')}.")


def _print_snapshot(nexus: Nexus, options: dict[str, Any]) -> None:
    """Print a snapshot when it is whole: a failure leaves nothing half-written."""
    with SpooledTemporaryFile(IN_MEMORY) as whole:
        with progress.counting("writing") as advance:
            nexus.write_snapshot(whole, advance=advance, **options)
        whole.seek(0)
        output.write_bytes(whole)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A snapshot; - for stdin.")],
    nexus: NexusOption = DEFAULT_NEXUS,
    format: RdfFormatOption = None,
    mapping: MappingOption = None,
    base_iri: BaseOption = None,
) -> None:
    """Load a snapshot into a new nexus, ids and metadata included.

    The new nexus has the base of the snapshot unless --base-iri gives another.
    A file that does not begin as a snapshot does needs --base-iri. What was written with a
    mapping is read with it. RDF of others is taken in by kiprdf import.

    \b
    Examples:
      kiprdf restore brain.ttl --nexus copy
      kiprdf restore brain.ttl -n copy --base-iri https://data.example.org/kb/
      kiprdf restore brain.jsonld -n copy --mapping schema-org
    """
    found, words = inputs.snapshot_of(file, format), inputs.mapping_of(mapping)
    if found.base is None and base_iri is None:
        raise Failure(f"{file} does not tell the base of its IRIs; give it with --base-iri.")
    made_with = base_iri or (found.base if inputs.is_absent(nexus) else None)
    with inputs.open_for_command(nexus, made_with) as opened, progress.bar() as advance:
        advance(0, f"reading {file}")
        count = opened.restore(
            io.BytesIO(found.content),
            base_iri=None if found.base else base_iri,
            format=found.format,
            mapping=words,
        )
    output.show_text(f"{file}: {count} concepts and propositions restored into {nexus}")


@app.command()
def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write; standard output without it.")
    ] = inputs.STDIN,
    select: Annotated[
        str | None,
        typer.Option(
            "--select", "-s", metavar="EXPORT", help="An EXPORT that tells what; else everything."
        ),
    ] = None,
    nexus: NexusOption = DEFAULT_NEXUS,
    param: ParamOption = None,
    params_file: ParamsFileOption = None,
) -> None:
    """Write a knowledge capsule: UPSERT text that load, or any KIP engine, reads.

    A capsule names concepts and facts. Ids, versions and times stay behind; a snapshot keeps them.

    \b
    Examples:
      kiprdf export brain.kip
      kiprdf export drugs.kip --select 'EXPORT ?d WHERE { ?d {type: "Drug"} }'
      kiprdf export drugs.kip --select 'EXPORT ?d WHERE {
        ?d {type: "$ConceptType", name: "Drug"} UNION { ?d {type: "Drug"} } }'
      kiprdf export | kiprdf load - --nexus copy

    The second selection takes the definition along, for a nexus that has none. Everything holds
    $self too: loaded elsewhere, it becomes what it is here, core_directives aside.
    """
    given = inputs.parameters(param or (), params_file)
    with inputs.open_to_read(nexus) as opened, progress.bar() as advance:
        advance(0, "writing the capsule")
        text, cursor = answers.exported(opened, select, given)
    if not text:
        raise Failure("Nothing was selected, and nothing written.")
    if file == inputs.STDIN:
        output.write_exactly(text)
    else:
        with writing(file):
            write_text(file, text)
        output.note(f"Wrote {file}, {text.count(chr(10))} lines.")
    output.note_cursor(cursor)
