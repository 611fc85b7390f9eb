"""The commands that run KIP: demo, run, shell, load, explain, diagnose, info."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import kiprdf
from kiprdf.cli import answers, inputs, opening, output, tables
from kiprdf.cli.failures import Failure, PlainCommand
from kiprdf.cli.opening import Creates, Reads, place_of
from kiprdf.cli.options import (
    EVERYDAY,
    BaseOption,
    DryRunOption,
    EntailOption,
    FileOption,
    JsonOption,
    MemoryOption,
    ParamOption,
    ParamsFileOption,
    StrictOption,
    TimeoutOption,
)
from kiprdf.cli.root import app
from kiprdf.interchange import formats
from kiprdf.language import ast
from kiprdf.nexus import Nexus


@app.command(cls=PlainCommand, rich_help_panel=EVERYDAY)
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="File for the snapshot.")
    ] = Path("medical.ttl"),
) -> None:
    """Load an example capsule, run some queries, and write a Turtle snapshot.

    \b
    Examples:
      kiprdf demo
      kiprdf demo --out /tmp/medical.ttl
    """
    from kiprdf.cli.demo import run_demo

    run_demo(out)


@app.command(cls=Creates, rich_help_panel=EVERYDAY)
def run(
    ctx: typer.Context,
    command: Annotated[
        str | None, typer.Argument(metavar="COMMAND", help="One KIP command; - for stdin.")
    ] = None,
    file: FileOption = None,
    param: ParamOption = None,
    params_file: ParamsFileOption = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Refuse commands that write.")
    ] = False,
    dry_run: DryRunOption = False,
    believed: Annotated[
        bool,
        typer.Option(
            "--believed",
            help="Let a FIND see nothing that is draft, deprecated, retracted, superseded or not "
            "valid now.",
        ),
    ] = False,
    entail: EntailOption = None,
    timeout: TimeoutOption = None,
    as_json: JsonOption = False,
    memory: MemoryOption = False,
    base_iri: BaseOption = None,
    strict: StrictOption = None,
) -> None:
    """Run one KIP command from the argument, a file or standard input.

    A command that only reads can run while another program writes to the nexus.
    UPSERT creates the nexus if it does not exist.

    \b
    Examples:
      kiprdf run 'FIND(?d.name) WHERE { ?d {type: "Drug"} } LIMIT 5'
      kiprdf run --file question.kip --param name=Aspirin --param limit=5
      kiprdf run --believed 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
      kiprdf run --entail 'FIND(?p.name) WHERE { ?p {type: "Place"} }'
      kiprdf run --file changes.kip --dry-run
      kiprdf run --file changes.kip --strict
      echo 'DESCRIBE PRIMER' | kiprdf run --json
    """
    text = inputs.command_text(command, file)
    parameters = inputs.parameters(param or (), params_file)
    if timeout is not None and not timeout > 0:
        raise typer.BadParameter("--timeout must be greater than 0.")
    if strict is not None and (read_only or dry_run):
        raise typer.BadParameter(
            "--strict is stored; it cannot be combined with --read-only or --dry-run."
        )
    limits: dict[str, Any] = {} if timeout is None else {"timeout_s": timeout}
    budget = kiprdf.Budget(**limits)
    place = place_of(ctx)
    with output.errors_as_json(as_json):
        text = kiprdf.believed(text) if believed else text
        parsed = kiprdf.parse(text)
        writes = isinstance(parsed, ast.Manipulation)
        if writes and read_only:
            answers.refuse_write(text)
        opened: AbstractContextManager[Nexus]
        if memory:
            opened = opening.in_memory(base_iri, strict)
        elif strict is not None or (writes and not (dry_run and place.is_absent)):
            opened = place.for_command(base_iri, strict, budget)
        else:
            opened = place.to_read(base_iri, budget)
        with opened as target, target.limited(**limits):
            if isinstance(parsed, ast.Search):
                with output.index_progress() as advance:
                    target.build_index(advance, propositions=parsed.kind == "PROPOSITION")
            cursor = answers.show(target, parsed, text, parameters, dry_run, entail, as_json)
            if not as_json:
                output.note_cursor(cursor)


@app.command(cls=Creates, rich_help_panel=EVERYDAY)
def shell(
    ctx: typer.Context,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Refuse writes; works while another program writes.")
    ] = False,
    entail: EntailOption = None,
    memory: MemoryOption = False,
    base_iri: BaseOption = None,
    strict: StrictOption = None,
) -> None:
    """Start an interactive shell with history; .help lists its commands.

    \b
    Examples:
      kiprdf shell
      kiprdf shell --nexus brain
      kiprdf shell --memory
    """
    from kiprdf.cli.shell import Shell

    if strict is not None and read_only:
        raise typer.BadParameter("--strict is stored; it cannot be combined with --read-only.")
    if memory:
        opened = opening.in_memory(base_iri, strict)
    elif read_only or place_of(ctx).is_only_read:
        opened = place_of(ctx).to_read()
    else:
        opened = place_of(ctx).to_write(base_iri, strict)
    with opened:
        Shell(opened, entail).run()


@app.command(cls=Creates, rich_help_panel=EVERYDAY)
def load(
    ctx: typer.Context,
    capsules: Annotated[
        list[str],
        typer.Argument(metavar="CAPSULE...", help="Files, or bundled ones: medical, trust."),
    ],
    trust: Annotated[
        list[str] | None,
        typer.Option(metavar="DID", help="Load only what this signer has signed. Can be repeated."),
    ] = None,
    as_json: JsonOption = False,
    base_iri: BaseOption = None,
    strict: StrictOption = None,
) -> None:
    """Load knowledge capsules, each in one transaction.

    --json prints one line for each capsule.

    \b
    Examples:
      kiprdf load medical
      kiprdf load drugs.kip symptoms.kip --nexus brain
      kiprdf load drugs.jsonld --trust did:key:z6Mkon3Necd6NkkyfoGoHxid2znGc59LU3K7mubaRcFbLfLX
    """
    texts = [(name, inputs.capsule_text(name)) for name in capsules]
    for name, text in texts:
        if "{" not in text:
            hint = " Import RDF with kiprdf import." if formats.format_of(Path(name)) else ""
            raise Failure(f"{name} contains no UPSERT block.{hint}")
    total = sum(len(text) for _, text in texts) if len(texts) > 1 else None
    with (
        place_of(ctx).for_command(base_iri, strict) as opened,
        output.errors_as_json(as_json),
    ):
        loaded: list[inputs.Added] = []
        try:
            with output.progress_bar(total) as advance:
                for name, text in texts:
                    advance(0, name)
                    loaded.append(inputs.apply(opened, text, trust))
                    advance(len(text))
        finally:
            # Printed after the bar has disappeared: both may use the same terminal.
            for (name, _), added in zip(texts, loaded, strict=False):
                document = {"file": name, **added.document()}
                lines = [f"{name}: {added}", *output.erased_lines(document)]
                output.show_answer(as_json, document, lines)
            if len(loaded) < len(texts):
                output.note(f"{texts[len(loaded)][0]} was not loaded:")


@app.command(cls=Reads, rich_help_panel=EVERYDAY)
def explain(
    ctx: typer.Context,
    command: Annotated[
        str | None, typer.Argument(metavar="FIND", help="A FIND; - for standard input.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the FIND here.")
    ] = None,
    param: ParamOption = None,
    params_file: ParamsFileOption = None,
    entail: EntailOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the SPARQL query that a FIND is translated to.

    \b
    Examples:
      kiprdf explain 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
      kiprdf explain --file question.kip --param name=Aspirin
    """
    text = inputs.command_text(command, file)
    parameters = inputs.parameters(param or (), params_file)
    with output.errors_as_json(as_json):
        answers.refuse_other_than_find(text)
        with place_of(ctx).to_read() as opened:
            if as_json:
                sparql = opened._engine.explain(text, parameters, entail)
                output.show_json({"sparql": sparql})
            else:
                answers.show_sparql(opened, text, parameters, entail)


@app.command(cls=Reads, rich_help_panel=EVERYDAY)
def diagnose(
    ctx: typer.Context,
    command: Annotated[
        str | None, typer.Argument(metavar="COMMAND", help="A command with a WHERE; - for stdin.")
    ] = None,
    file: FileOption = None,
    param: ParamOption = None,
    params_file: ParamsFileOption = None,
    entail: EntailOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how many solutions each clause of a command leaves, and why an answer is empty.

    The command itself is not run.

    \b
    Examples:
      kiprdf diagnose 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.name == "aspirin") }'
      kiprdf diagnose --file question.kip --json
    """
    text = inputs.command_text(command, file)
    parameters = inputs.parameters(param or (), params_file)
    with place_of(ctx).to_read() as opened, output.errors_as_json(as_json):
        diagnosis = opened._engine.diagnose(text, parameters, entail)
    if as_json:
        steps = [asdict(step) for step in diagnosis.steps]
        output.show_response(steps, None, diagnosis.warnings)
    else:
        output.show_text(output.printable(repr(diagnosis), keep="\n"))


@app.command(cls=Reads, rich_help_panel=EVERYDAY)
def info(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Show the base IRI, size and state of a nexus.

    \b
    Examples:
      kiprdf info
      kiprdf info --nexus brain --json
    """
    with place_of(ctx).to_read() as opened:
        facts = opened.info()
    # This command opens the nexus read-only; the nexus itself is not.
    del facts["read_only"]
    if as_json:
        output.show_json(facts)
    else:
        tables.show_result(facts)
