"""The commands of ``kiprdf``: what they are called, what they take, and what their help says."""

from __future__ import annotations

import io
import logging
import sys
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import kiprdf
from kiprdf.cli import answers, inputs, output
from kiprdf.cli.failures import Commands, Failure, writing
from kiprdf.errors import KipError
from kiprdf.interchange.files import write_text
from kiprdf.language import ast
from kiprdf.nexus import Nexus
from kiprdf.protocol import error_object

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"


class Profile(StrEnum):
    """The two ways of writing links in Turtle."""

    RDF11 = "rdf11"
    RDF12 = "rdf12"


NexusOption = Annotated[
    Path,
    typer.Option(
        "--nexus", "-n", envvar="KIPRDF_NEXUS", metavar="FOLDER", help="The folder of the nexus."
    ),
]
BaseOption = Annotated[
    str | None,
    typer.Option(metavar="IRI", help="The base of all IRIs; chosen once, when the nexus is made."),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="The value of a placeholder: JSON, or else a string. Can be repeated.",
    ),
]
ParamsFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A JSON object of parameters.")
]
FormatOption = Annotated[Format, typer.Option(help="A table for people, or the KIP response.")]
MemoryOption = Annotated[
    bool, typer.Option("--memory", help="Use a new nexus in memory instead of a folder.")
]
DEFAULT_NEXUS = Path("nexus")


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows its code instead of failing.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="kiprdf")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kiprdf {kiprdf.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Log the traceback when the engine fails (KIP_4003).")
    ] = False,
) -> None:
    """A knowledge store that speaks KIP and lives in RDF.

    \b
    Start here:
      kiprdf demo                      a tour, nothing to prepare
      kiprdf load medical              example knowledge into the folder ./nexus
      kiprdf shell                     ask and tell, line by line
      kiprdf run 'DESCRIBE PRIMER'     one command

    Every command takes --help and shows examples.
    """
    if not debug:
        logging.getLogger("kiprdf").addHandler(logging.NullHandler())


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where the snapshot is written.")
    ] = Path("medical.ttl"),
) -> None:
    """Show what it does: a capsule in, questions, answers, a Turtle snapshot out.

    \b
    Examples:
      kiprdf demo
      kiprdf demo --out /tmp/medical.ttl
    """
    from kiprdf.cli.demo import run_demo

    run_demo(out)


@app.command()
def run(
    command: Annotated[
        str | None, typer.Argument(metavar="COMMAND", help="One KIP command; - for stdin.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the command here.")
    ] = None,
    nexus: NexusOption = DEFAULT_NEXUS,
    param: ParamOption = None,
    params_file: ParamsFileOption = None,
    readonly: Annotated[
        bool, typer.Option("--readonly", help="Refuse commands that write.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, write nothing.")
    ] = False,
    format: FormatOption = Format.TABLE,
    memory: MemoryOption = False,
    base_iri: BaseOption = None,
) -> None:
    """Run one KIP command, from the argument, a file or standard input.

    A command that only reads works beside a program that writes to the nexus.
    An UPSERT makes the nexus if there is none.

    \b
    Examples:
      kiprdf run 'FIND(?d.name) WHERE { ?d {type: "Drug"} } LIMIT 5'
      kiprdf run --file question.kip --param name=Aspirin --param limit=5
      kiprdf run --file changes.kip --dry-run
      echo 'DESCRIBE PRIMER' | kiprdf run --format json
    """
    text = inputs.command_text(command, file)
    given = inputs.parameters(param or (), params_file)
    try:
        parsed = kiprdf.parse(text)
        writes = isinstance(parsed, ast.Manipulation)
        if writes and readonly:
            answers.refuse_write(text)
        with _opened(nexus, writes, dry_run, memory, base_iri) as opened:
            if format is Format.JSON:
                answers.show_response(opened, text, given, dry_run)
            else:
                answers.show_answer(opened, parsed, text, given, dry_run)
    except KipError as error:
        if format is Format.JSON:
            output.show_json({"error": error_object(error).model_dump()})
        raise


def _opened(
    folder: Path, writes: bool, dry_run: bool, memory: bool, base_iri: str | None
) -> AbstractContextManager[Nexus]:
    """The nexus that a command runs on; only one that writes may make it."""
    if memory:
        return inputs.open_in_memory(base_iri)
    if writes and not (dry_run and inputs.is_absent(folder)):
        return inputs.open_for_command(folder, base_iri)
    return inputs.open_to_read(folder, base_iri)


@app.command()
def shell(
    nexus: NexusOption = DEFAULT_NEXUS,
    readonly: Annotated[
        bool, typer.Option("--readonly", help="Only read; works beside a program that writes.")
    ] = False,
    memory: MemoryOption = False,
    base_iri: BaseOption = None,
) -> None:
    """Ask and tell, command by command, with history; .help shows how.

    \b
    Examples:
      kiprdf shell
      kiprdf shell --nexus brain
      kiprdf shell --memory
    """
    from kiprdf.cli.shell import Shell

    if memory:
        opened = inputs.open_in_memory(base_iri)
    elif readonly:
        opened = inputs.open_to_read(nexus)
    else:
        opened = inputs.open_to_write(nexus, base_iri)
    with opened:
        Shell(opened).run()


@app.command()
def load(
    capsules: Annotated[
        list[str],
        typer.Argument(metavar="CAPSULE...", help="Files, or the name of an example: medical."),
    ],
    nexus: NexusOption = DEFAULT_NEXUS,
    base_iri: BaseOption = None,
) -> None:
    """Load knowledge capsules, each in one transaction.

    \b
    Examples:
      kiprdf load medical
      kiprdf load drugs.kip symptoms.kip --nexus brain
    """
    texts = [(name, inputs.capsule_text(name)) for name in capsules]
    for name, text in texts:
        if "{" not in text:
            raise Failure(f"{name} holds no UPSERT block.")
    total = sum(len(text) for _, text in texts) if len(texts) > 1 else None
    with inputs.open_for_command(nexus, base_iri) as opened:
        loaded: list[str] = []
        try:
            with output.progress(total) as advance:
                for name, text in texts:
                    advance(0, name)
                    loaded.append(f"{name}: {inputs.apply(opened, text)}")
                    advance(len(text))
        finally:
            # Printed when the bar is gone, since both may stand on one terminal.
            for line in loaded:
                output.show_text(line)
            if len(loaded) < len(texts):
                output.note(f"{texts[len(loaded)][0]} was not loaded:")


@app.command()
def snapshot(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write; standard output without it.")
    ] = inputs.STDIN,
    nexus: NexusOption = DEFAULT_NEXUS,
    profile: Annotated[
        Profile, typer.Option(help="rdf11 loads everywhere; rdf12 writes links as reifiers.")
    ] = Profile.RDF11,
    no_engine_metadata: Annotated[
        bool,
        typer.Option("--no-engine-metadata", help="Leave _version and its kin out."),
    ] = False,
) -> None:
    """Write the whole nexus as Turtle, the same text for the same knowledge.

    \b
    Examples:
      kiprdf snapshot brain.ttl
      kiprdf snapshot --profile rdf12 > brain.ttl
      kiprdf snapshot knowledge.ttl --no-engine-metadata    # to keep in git
    """
    kept = not no_engine_metadata
    with inputs.open_to_read(nexus) as opened, output.progress() as advance:
        advance(0, "writing Turtle")
        if file == inputs.STDIN:
            text = opened.snapshot(profile=profile.value, engine_metadata=kept)
        else:
            with writing(file):
                text = opened.snapshot(file, profile.value, engine_metadata=kept)
    if file == inputs.STDIN:
        output.write_exactly(text)
    else:
        output.note(f"Wrote {file}, {text.count(chr(10))} lines.")


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A snapshot; - for stdin.")],
    nexus: NexusOption = DEFAULT_NEXUS,
    base_iri: BaseOption = None,
) -> None:
    """Load a snapshot into a new nexus, ids and metadata included.

    The new nexus has the base of the snapshot unless --base-iri gives another.
    A Turtle file without the first line of a snapshot needs --base-iri.

    \b
    Examples:
      kiprdf restore brain.ttl --nexus copy
      kiprdf restore brain.ttl -n copy --base-iri https://data.example.org/kb/
    """
    text = inputs.read_text(file)
    origin = inputs.snapshot_base(text)
    if origin is None and base_iri is None:
        raise Failure(f"{file} does not tell the base of its IRIs; give it with --base-iri.")
    made_with = base_iri or (origin if inputs.is_absent(nexus) else None)
    with inputs.open_for_command(nexus, made_with) as opened, output.progress() as advance:
        advance(0, "reading Turtle")
        count = opened.restore(io.StringIO(text), base_iri=None if origin else base_iri)
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
    with inputs.open_to_read(nexus) as opened, output.progress() as advance:
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


@app.command()
def explain(
    command: Annotated[
        str | None, typer.Argument(metavar="FIND", help="A FIND; - for standard input.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the FIND here.")
    ] = None,
    nexus: NexusOption = DEFAULT_NEXUS,
    param: ParamOption = None,
    params_file: ParamsFileOption = None,
) -> None:
    """Show the SPARQL that a FIND becomes.

    \b
    Examples:
      kiprdf explain 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
      kiprdf explain --file question.kip --param name=Aspirin
    """
    text = inputs.command_text(command, file)
    given = inputs.parameters(param or (), params_file)
    answers.refuse_other_than_find(text)
    with inputs.open_to_read(nexus) as opened:
        answers.show_plan(opened, text, given)


@app.command()
def info(nexus: NexusOption = DEFAULT_NEXUS, format: FormatOption = Format.TABLE) -> None:
    """Tell the base, the size and the state of a nexus.

    \b
    Examples:
      kiprdf info
      kiprdf info --nexus brain --format json
    """
    with inputs.open_to_read(nexus) as opened:
        found = opened.info()
    # This look at the nexus is read-only; the nexus itself is not.
    del found["read_only"]
    if format is Format.JSON:
        output.show_json(found)
    else:
        output.show_result(found)
