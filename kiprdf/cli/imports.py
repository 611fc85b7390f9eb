"""The command import, and its report."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiprdf.cli import inputs, opening, output, tables
from kiprdf.cli.opening import Imports, Place, place_of
from kiprdf.cli.options import (
    EXCHANGE,
    JsonOption,
    MappingOption,
    Names,
    RdfFormatOption,
    StrictOption,
    Tool,
)
from kiprdf.cli.root import app
from kiprdf.errors import KipError, StoreError
from kiprdf.interchange.files import Buffered
from kiprdf.interchange.imports import passes
from kiprdf.loading import Lazy
from kiprdf.nexus import Nexus

if TYPE_CHECKING:
    from kiprdf import importers
    from kiprdf.cli import other_tools
else:
    other_tools = Lazy("kiprdf.cli.other_tools")

SHOWN = 5
"""The number of warnings, and of reasons for skipped triples, in the report for people."""
EXAMPLES = 3
"""The number of skipped triples shown for each reason."""
_ALL = "use --json to see all"


@app.command("import", cls=Imports, rich_help_panel=EXCHANGE)
def import_(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="RDF; - for stdin.")],
    mapping: MappingOption = None,
    define: Annotated[
        bool, typer.Option("--define", help="Define missing types and predicates.")
    ] = False,
    default_type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Type of resources without a type.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="Preferred languages of names, such as en or en,de."),
    ] = None,
    names: Annotated[
        Names | None,
        typer.Option(help="What names are made of: labels, or local names of IRIs."),
    ] = None,
    format: RdfFormatOption = None,
    base_iri: Annotated[
        str | None, typer.Option(metavar="IRI", help="Base for relative IRIs in the files.")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="JSON-LD context, or URL=FILE. Can be repeated."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Source recorded as metadata (default: the file name)."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="End what the source stated before, and does not now."),
    ] = False,
    ontology: Annotated[
        bool,
        typer.Option("--ontology", help="Import definitions; with --define, the data as well."),
    ] = False,
    nanopublications: Annotated[
        bool,
        typer.Option("--nanopublications", help="Import all nanopublications, or none."),
    ] = False,
    trust: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Refuse nanopublications that no such key signed."),
    ] = None,
    inherit: Annotated[
        bool,
        typer.Option("--inherit", help="Copy inherited attributes to subclasses (--ontology)."),
    ] = False,
    tool: Annotated[
        Tool | None,
        typer.Option("--from", help="The files are no RDF: what another tool wrote, or tables."),
    ] = None,
    type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Type of the rows of a table.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the names of the rows.")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLUMN", help="Attribute of a column. Can be repeated."),
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=PREDICATE:TYPE", help="Links of a column. Can be repeated."),
    ] = None,
    map: Annotated[Path | None, typer.Option(metavar="FILE", help="These columns as TOML.")] = None,
    extract: Annotated[
        bool, typer.Option("--extract", help="Add to the graph what imported notes state.")
    ] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Skip bad lines and bad IRIs, and report them.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report what would change, write nothing.")
    ] = False,
    as_json: JsonOption = False,
    strict: StrictOption = None,
) -> None:
    """Import external RDF as concepts and propositions, one transaction per file.

    Resources are identified by IRI: importing a file again updates them. Triples
    that KIP cannot represent are reported. Links between files are added at the
    end; a dry run checks each file on its own. Nothing is fetched from the
    network.

    \b
    Examples:
      kiprdf import people.ttl --mapping foaf
      kiprdf import people.ttl --mapping foaf --mapping mine.jsonld --dry-run
      kiprdf import rivers.ttl --define --language en --nexus brain
      kiprdf import clinic.owl --ontology --inherit
      kiprdf import facts.trig --nanopublications
      kiprdf import data.jsonld --define --context context.jsonld
      kiprdf import - --format ntriples --source crm --define < data.nt
      kiprdf import --from mem0 memories.json --dry-run
      kiprdf import --from csv drugs.csv --type Drug --key name --link maker=made_by:Company
    """
    of_table = (type, key, attribute, link, map)
    if tool is not None:
        rdf = (mapping, define, default_type, language, format, base_iri, context)
        if any((*rdf, ontology, nanopublications, trust, inherit, lenient, replace)):
            kept = "--source, --extract, --dry-run, --json, --strict and those of tables"
            raise typer.BadParameter(f"Of the options, --from takes {kept}.")
        table = other_tools.TableOptions(*of_table)
        plans = other_tools.plans(tool, files, table, source)
        _import_from(ctx, plans, dry_run=dry_run, extract=extract, as_json=as_json, strict=strict)
        return
    if any(of_table) or extract:
        raise typer.BadParameter("--extract and the options of tables need --from.")
    if inherit and not ontology:
        raise typer.BadParameter("--inherit requires --ontology.")
    takes_data = not ontology or bool(define or default_type or language or replace)
    if inherit and takes_data:
        raise typer.BadParameter("--inherit is for definitions alone, without their data.")
    if trust and not nanopublications:
        raise typer.BadParameter("--trust requires --nanopublications.")
    others = (ontology, define, language, names, base_iri, context, source, replace)
    if nanopublications and any(others):
        kept = "--mapping, --default-type, --format, --trust and --dry-run"
        raise typer.BadParameter(f"Of these options, --nanopublications takes {kept}.")
    if strict is not None and dry_run:
        raise typer.BadParameter("--strict is stored; it cannot be combined with --dry-run.")
    for path in files:
        inputs.require_file(path)
    server = place_of(ctx).server()
    if server is not None and strict is not None:
        raise typer.BadParameter("--strict belongs to a folder or a store, not to a server.")
    if server is not None and nanopublications:
        raise typer.BadParameter("Import nanopublications where the nexus is, not on a server.")
    options: dict[str, Any] = {"format": format, "dry_run": dry_run}
    options["lenient"] = lenient
    options["context"] = _contexts(context or [])
    options["names"] = names
    options |= {"mapping": mapping if server else inputs.mapping_of(mapping), "base_iri": base_iri}
    if not takes_data:
        options["inherit"] = inherit
    else:
        options |= {"define": define, "default_type": default_type, "language": language}
        options |= {"replace": replace, "ontology": ontology}
    importer = _Importer(files, not takes_data, options, source, as_json)
    target: AbstractContextManager[Nexus]
    if server is not None:
        target = server
    elif dry_run:
        target = _open_for_dry_run(place_of(ctx))
    else:
        target = place_of(ctx).for_command(strict_schema=strict)
    with target as opened:
        if nanopublications:
            chosen = {key: options[key] for key in ("format", "mapping", "dry_run")}
            if default_type is not None:
                chosen["default_type"] = default_type
            importer.run_nanopublications(opened, {**chosen, "trusted": trust})
        else:
            importer.run(opened)
    if dry_run and not as_json:
        output.note("Dry run: nothing was written.")


def _import_from(
    ctx: typer.Context,
    plans: Sequence[importers.Plan],
    *,
    dry_run: bool,
    extract: bool,
    as_json: bool,
    strict: bool | None,
) -> None:
    """Write plans of other tools, or try them out."""
    place = place_of(ctx)
    if place.server() is not None:
        raise typer.BadParameter("Import from other tools where the nexus is, not on a server.")
    if dry_run:
        with _open_for_dry_run(place) as nexus:
            other_tools.run(plans, nexus, {"dry_run": True}, as_json)
        if not as_json:
            output.note("Dry run: nothing was written.")
    else:
        with place.for_command(strict_schema=strict) as nexus:
            other_tools.run(plans, nexus, {"extract": extract}, as_json)


def _contexts(arguments: list[str]) -> list[Any] | None:
    """The contexts of ``--context``: files, some of them by URL."""
    contexts: list[Any] = []
    for argument in arguments:
        url, separator, file = argument.rpartition("=")
        path = Path(file if separator and "://" in url else argument)
        inputs.require_file(path)
        contexts.append(path if str(path) == argument else {url: path})
    return contexts or None


def _open_for_dry_run(place: Place) -> Nexus:
    """Open a nexus for a dry run; if another program writes to it, write checks are skipped."""
    if place.is_absent:
        return opening.in_memory()
    try:
        return place.to_write()
    except StoreError:
        return place.to_read()


class _Importer:
    """Imports files with the same options and prints a report for each."""

    def __init__(
        self,
        files: list[Path],
        ontology: bool,
        options: dict[str, Any],
        source: str | None,
        as_json: bool,
    ) -> None:
        self._files, self._ontology = files, ontology
        self._options = options
        self._source = source
        self._as_json = as_json
        # Standard input can be read only once, and before the nexus is opened: it may be slow.
        self._documents = [
            Buffered(io.BytesIO(inputs.read_bytes(path))) if path == inputs.STDIN else path
            for path in files
        ]

    def run(self, nexus: Nexus) -> None:
        """Import every file, then again the links to what later files described.

        Those that replace are imported together: they are what the source states.
        """
        if self._options.get("replace") and len(self._documents) > 1:
            self._import(nexus, self._documents, {**self._options, "update": True})
            return
        share_names = self._ontology or self._options["define"] or self._options["ontology"]
        dry_run = self._options["dry_run"]
        for one, own in passes(self._documents, share_names=share_names, dry_run=dry_run):
            self._import(nexus, one, {**self._options, **own})

    def run_nanopublications(self, nexus: Nexus, options: dict[str, Any]) -> None:
        """Import the nanopublications of all files in one commit."""
        documents: list[Any] = [*self._documents]
        with output.errors_as_json(self._as_json):
            report = nexus.import_nanopublications(documents, **options)
        title = output.counted(len(report["nanopublications"]), "nanopublication")
        output.show_answer(self._as_json, report, report_lines(title, report))

    def _import(self, nexus: Nexus, source: Any, options: dict[str, Any]) -> None:
        """Import one file, or several as one; the second time it is reported if it added links."""
        path = inputs.STDIN if isinstance(source, Buffered) else source
        name = "standard input" if path == inputs.STDIN else str(path)
        # What is read from standard input today need not be what was yesterday.
        is_named = isinstance(source, Buffered) and not options.get("replace")
        options["metadata"] = {"source": name} if is_named else {}
        if isinstance(source, list):
            name = ", ".join(map(str, self._files))
        if self._source is not None and self._ontology:
            options["metadata"]["source"] = self._source
        elif self._source is not None:
            options["source"] = self._source
        links_only = not options["update"]
        import_document: Any = nexus.import_ontology if self._ontology else nexus.import_rdf
        try:
            # An error of several names the file.
            naming = nullcontext() if isinstance(source, list) else inputs.naming(path)
            with naming, output.progress_bar() as advance:
                advance(0, f"importing {name}")
                report = import_document(source, **options)
            report = report["documents"][0] if isinstance(source, list) else report
        except KipError as error:
            if self._as_json:
                output.show_error(error, file=name)
            raise
        if links_only and not report["propositions"]["created"]:
            return
        # Printed now, because the next file may fail.
        title = f"{name}, links to later files" if links_only else name
        document = {"file": name, **({"again": True} if links_only else {}), **report}
        output.show_answer(self._as_json, document, report_lines(title, report))


# Report ---------------------------------------------------------------------------------------


def report_lines(name: str, report: dict[str, Any]) -> Iterator[str]:
    """The lines of a report: counts, definitions, the first skipped triples and warnings.

    >>> counts = {"created": 2, "updated": 1, "unchanged": 0}
    >>> other = {"definitions": {"concept_types": ["River"], "predicates": []}, "warnings": []}
    >>> report = {"triples": 9, "concepts": counts, "propositions": counts, "skipped": [], **other}
    >>> print("\\n".join(report_lines("people.ttl", report)))
    people.ttl: 9 triples
      concepts: 2 created, 1 updated, 0 unchanged
      propositions: 2 created, 1 updated, 0 unchanged
      concept types defined: River
    """
    yield f"{name}: {output.counted(report['triples'], 'triple')}" if "triples" in report else name
    kinds = ("concepts", "propositions")
    # An ontology without a hierarchy has neither.
    if any(sum(report[kind].values()) for kind in kinds):
        for kind in kinds:
            counts = ", ".join(f"{number} {what}" for what, number in report[kind].items())
            yield f"  {kind}: {counts}"
    elif not any(report["definitions"].values()):
        yield "  nothing to write"
    yield from output.erased_lines(report)
    for kind, names in report["definitions"].items():
        if names:
            yield f"  {kind.replace('_', ' ')} defined: {tables.listed(names)}"
    yield from _replaced(report.get("replaced") or {})
    yield from _skipped(report["skipped"])
    warnings = report["warnings"]
    if warnings:
        yield f"  warnings: {len(warnings)}"
        yield from _first(warnings, SHOWN, "    ")


def _replaced(replaced: dict[str, Any]) -> Iterator[str]:
    """What ended, or holds again, and the first of it."""
    for change in ("superseded", "removed", "restored") if replaced else ():
        counts = ", ".join(f"{number} {kind}" for kind, number in replaced[change].items())
        named = [one["element"] for one in replaced["elements"] if one["change"] == change]
        if named:
            yield f"  {change}: {counts}"
            yield from _first(named, SHOWN, "    ")
    of_values = [one for one in replaced.get("elements", ()) if "keys" in one]
    if of_values:
        yield f"  values removed: {replaced['values']}"
        named = [f"{one['element']}: {', '.join(one['keys'])}" for one in of_values]
        yield from _first(named, SHOWN, "    ")


def _skipped(skipped: list[dict[str, Any]]) -> Iterator[str]:
    """Each reason with the number of triples or other items, and the first of them."""
    by_reason: dict[str, list[str]] = {}
    for entry in skipped:
        line = f"line {entry['line']}: " if "line" in entry else ""
        item = entry.get("triple") or entry["item"]
        by_reason.setdefault(entry["reason"], []).append(line + item)
    if skipped:
        yield f"  skipped: {len(skipped)}"
    for reason, triples in list(by_reason.items())[:SHOWN]:
        yield f"    {len(triples)}: {reason}"
        yield from _first(triples, EXAMPLES, "      ")
    if len(by_reason) > SHOWN:
        yield f"    … {len(by_reason) - SHOWN} more reasons; {_ALL}"


def _first(lines: list[str], limit: int, indent: str) -> Iterator[str]:
    for line in lines[:limit]:
        yield f"{indent}{line}"
    if len(lines) > limit:
        yield f"{indent}… {len(lines) - limit} more; {_ALL}"
