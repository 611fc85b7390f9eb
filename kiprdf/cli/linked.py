"""The commands that meet the rest of the web of data: import, diff, schema, publish."""

from __future__ import annotations

import io
import sys
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from kiprdf.cli import inputs, output, progress, reports
from kiprdf.cli.failures import Failure, writing
from kiprdf.cli.options import (
    DEFAULT_NEXUS,
    Format,
    MappingOption,
    NexusOption,
    Profile,
    RdfFormatOption,
)
from kiprdf.cli.root import app
from kiprdf.errors import KipError, StoreError
from kiprdf.interchange import formats
from kiprdf.nexus import Nexus
from kiprdf.protocol import error_object

STANDARD_INPUT = "standard input"


class Form(StrEnum):
    """How a difference is written."""

    TEXT = "text"
    JSON = "json"
    CAPSULE = "capsule"
    PATCH = "patch"


# import ---------------------------------------------------------------------------------------


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="RDF; - for stdin.")],
    nexus: NexusOption = DEFAULT_NEXUS,
    mapping: MappingOption = None,
    define: Annotated[
        bool, typer.Option("--define", help="Define the types and predicates that are missing.")
    ] = False,
    default_type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="The type of resources without one.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="TAG", help="The preferred language of names.")
    ] = None,
    format: RdfFormatOption = None,
    base_iri: Annotated[
        str | None, typer.Option(metavar="IRI", help="What relative IRIs are relative to.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Where the data come from, if not the file's name."),
    ] = None,
    ontology: Annotated[
        bool, typer.Option("--ontology", help="Take RDFS, OWL or SHACL in as definitions.")
    ] = False,
    inherit: Annotated[
        bool, typer.Option("--inherit", help="Write out what classes inherit (--ontology).")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would happen, write nothing.")
    ] = False,
    format_of_report: Annotated[
        Format, typer.Option(help="Lines for people, or a JSON object for each file.")
    ] = Format.TABLE,
) -> None:
    """Take RDF of others in as concepts and propositions, each file in one transaction.

    A resource is found again by its IRI: the same file once more updates. Whatever has no
    place in KIP is reported. Links from one file to another are made in the end; a dry run looks
    at each file by itself. Nothing is fetched from the network.

    \b
    Examples:
      kiprdf import people.ttl --mapping foaf
      kiprdf import people.ttl --mapping foaf --mapping mine.jsonld --dry-run
      kiprdf import rivers.ttl --define --language en --nexus brain
      kiprdf import clinic.owl --ontology --inherit
      kiprdf import - --format ntriples --source crm --define < data.nt
    """
    _refuse_unfit(ontology, inherit, define, default_type, language, base_iri)
    for path in files:
        inputs.refuse_absent(path)
    options: dict[str, Any] = {"format": format and format.value, "dry_run": dry_run}
    options["mapping"] = inputs.mapping_of(mapping)
    if ontology:
        options["inherit"] = inherit
    else:
        options |= {"define": define, "default_type": default_type}
        options |= {"language": language, "base_iri": base_iri}
    as_json = format_of_report is Format.JSON
    documents = [_Document.of(path, source) for path in files]
    with _opened_to_try(nexus) if dry_run else inputs.open_for_command(nexus) as opened:
        for document in documents:
            _tell(document.name, _take_in(opened, document, ontology, options, as_json), as_json)
        if not ontology and not dry_run:
            _link(opened, documents[:-1], options, as_json)
    if dry_run and not as_json:
        output.note("Dry run: nothing was written.")


def _refuse_unfit(ontology: bool, inherit: bool, *others: object) -> None:
    if inherit and not ontology:
        raise typer.BadParameter("--inherit is for --ontology.")
    if ontology and any(others):
        names = "--define, --default-type, --language and --base-iri"
        raise typer.BadParameter(f"{names} are not for --ontology.")


def _opened_to_try(folder: Path) -> Nexus:
    """The nexus of a dry run; beside another writer without the checks of a write."""
    if inputs.is_absent(folder):
        return inputs.open_in_memory()
    try:
        return inputs.open_to_write(folder)
    except StoreError:
        return inputs.open_to_read(folder)


class _Document(NamedTuple):
    """One of the files of an import; standard input can be read only once."""

    path: Path
    name: str
    metadata: dict[str, Any]
    content: bytes | None

    @classmethod
    def of(cls, path: Path, source: str | None) -> _Document:
        told = {} if source is None else {"source": source}
        if path != inputs.STDIN:
            return cls(path, str(path), told, None)
        metadata = {"source": STANDARD_INPUT, **told}
        return cls(path, STANDARD_INPUT, metadata, inputs.read_bytes(path))


def _take_in(
    nexus: Nexus, document: _Document, ontology: bool, options: dict[str, Any], as_json: bool
) -> dict[str, Any]:
    """The report of the import of one file."""
    take_in = nexus.import_ontology if ontology else nexus.import_rdf
    try:
        with inputs.about(document.path), progress.bar() as advance:
            advance(0, f"importing {document.name}")
            content = document.path if document.content is None else io.BytesIO(document.content)
            return take_in(content, metadata=document.metadata, **options)
    except KipError as error:
        if as_json:
            output.show_json({"file": document.name, "error": error_object(error).model_dump()})
        raise


def _tell(name: str, report: dict[str, Any], as_json: bool, **more: object) -> None:
    """Tell about a file at once, since the next may fail."""
    if as_json:
        output.show_json({"file": name, **more, **report})
    else:
        reports.show_report(name, report)


def _link(nexus: Nexus, documents: list[_Document], options: dict[str, Any], as_json: bool) -> None:
    """Make the links of files to what later ones described; nothing else changes."""
    for document in documents:
        report = _take_in(nexus, document, False, {**options, "update": False}, as_json)
        if report["propositions"]["created"]:
            _tell(f"{document.name}, links to later files", report, as_json, again=True)


# diff -----------------------------------------------------------------------------------------


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(metavar="A", help="A nexus folder, or a snapshot.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="What to compare it with.")],
    form: Annotated[
        Form, typer.Option("--as", help="For people, for programs, as a capsule or RDF Patch.")
    ] = Form.TEXT,
    engine_metadata: Annotated[
        bool, typer.Option("--engine-metadata", help="Compare versions and times too.")
    ] = False,
    link_ids: Annotated[
        bool, typer.Option("--link-ids", help="Compare the ids of the same facts too.")
    ] = False,
) -> None:
    """Tell what leads from one nexus or snapshot to another, in the terms of KIP.

    The exit status is 0 when nothing differs, 1 when something does, 2 in trouble. A patch is
    about every triple, versions, times and ids among them.

    \b
    Examples:
      kiprdf diff yesterday.ttl nexus
      kiprdf diff old new --as json
      kiprdf diff old new --as capsule > news.kip
      kiprdf diff yesterday.nt today.jsonld --as patch > changes.rdfp
    """
    with ExitStack() as stack:
        old, new = (stack.enter_context(_side(path)) for path in (before, after))
        if form is Form.PATCH:
            text, status = _patch(old, new)
        else:
            text, status = _difference(old, new, form, engine_metadata, link_ids)
    output.write_exactly(text)
    sys.stdout.flush()
    if not status:
        output.note("No difference.")
    raise typer.Exit(status)


def _side(path: Path) -> Nexus:
    if path.is_dir():
        return inputs.open_to_read(path)
    if path != inputs.STDIN and not path.exists():
        raise Failure(f"There is no nexus and no snapshot {path}.")
    return inputs.restored(path)


def _difference(
    before: Nexus, after: Nexus, form: Form, engine_metadata: bool, link_ids: bool
) -> tuple[str, int]:
    from kiprdf.interchange.differences.difference import exit_status, render

    found = before.diff(after, engine_metadata=engine_metadata, link_ids=link_ids)
    return render(found, form.value), exit_status(found)  # type: ignore[arg-type]


def _patch(before: Nexus, after: Nexus) -> tuple[str, int]:
    from kiprdf.interchange.differences import patch

    if before.base_iri != after.base_iri:
        bases = f"<{before.base_iri}> and <{after.base_iri}>"
        raise Failure(f"A patch is between datasets of one base, and these have {bases}.")
    old, new = (
        formats.read(nexus.snapshot(format="ntriples"), "ntriples", nexus.base_iri)
        for nexus in (before, after)
    )
    found = patch.between(old, new)
    return patch.write(*found), int(any(found))


# schema, publish ------------------------------------------------------------------------------


@app.command()
def schema(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write; standard output without it.")
    ] = inputs.STDIN,
    nexus: NexusOption = DEFAULT_NEXUS,
    shapes: Annotated[
        bool, typer.Option("--shapes", help="SHACL shapes instead of RDFS and OWL.")
    ] = False,
    profile: Annotated[
        Profile | None, typer.Option(help="The profile of the snapshots to validate (--shapes).")
    ] = None,
    mapping: MappingOption = None,
) -> None:
    """Write the types and predicates in Turtle: as RDFS and OWL, or as SHACL shapes.

    With a mapping each says what it is equivalent to.

    \b
    Examples:
      kiprdf schema schema.ttl
      kiprdf schema --mapping schema-org --mapping foaf
      kiprdf schema shapes.ttl --shapes
      kiprdf schema --shapes --profile rdf12
    """
    if profile and not shapes:
        raise typer.BadParameter("--profile is for --shapes.")
    if mapping and shapes:
        raise typer.BadParameter("--mapping is not for --shapes.")
    target, words = None if file == inputs.STDIN else file, inputs.mapping_of(mapping)
    with inputs.open_to_read(nexus) as opened, writing(file):
        if shapes:
            text = opened.shapes(target, (profile or Profile.RDF11).value)
        else:
            text = opened.schema(target, mapping=words)
    if target is None:
        output.write_exactly(text)
    else:
        output.note(f"Wrote {file}, {output.counted(text.count(chr(10)), 'line')}.")


@app.command()
def publish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")],
    nexus: NexusOption = DEFAULT_NEXUS,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the pages call the nexus.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="IRI", help="Where the folder will stand, if not at the base."),
    ] = None,
    mapping: MappingOption = None,
) -> None:
    """Write a folder of static pages and files, which needs no server.

    A page and a Turtle file for each concept and fact, the vocabulary, the whole in several
    formats. A folder that was published before is replaced, any other is left alone.

    \b
    Examples:
      kiprdf publish site --title Pharmacy
      kiprdf publish site --address https://example.org/kb/ --mapping schema-org
    """
    words = inputs.mapping_of(mapping)
    with inputs.open_to_read(nexus) as opened:
        counts = opened.info()
        total = counts["concepts"] + counts["propositions"]
        with progress.bar(total) as advance:
            advance(0, "writing pages")
            done = opened.publish(
                folder, title=title, address=address, mapping=words, advance=advance
            )
    what = f"{output.counted(done.elements, 'element')} in {output.counted(done.files, 'file')}"
    output.show_text(f"{folder}: {what}; open {folder / 'index.html'}")
    if address is None and "://" not in opened.base_iri:
        output.note("void.ttl names no addresses; --address says where the folder will stand.")
