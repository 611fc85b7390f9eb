"""The commands ``chunks check`` and ``chunks show``: read files of chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from kiprdf import chunks
from kiprdf.chunks import Chunk, ChunksError, Graph, Link, Rule
from kiprdf.chunks.model import is_rule, resolve_rule
from kiprdf.chunks.rules import CompiledRule
from kiprdf.cli import inputs, output
from kiprdf.cli.chunks_run import chunk_json, located
from kiprdf.cli.failures import Failure


def check_files(files: list[Path]) -> None:
    """Print the faults of files; exit with 1 if there are any."""
    faults = 0
    for file in files:
        for fault in _faults(inputs.read_text(file)):
            output.show_text(located(file, fault))
            faults += 1
    noun = "fault" if faults == 1 else "faults"
    output.note(f"{output.counted(len(files), 'file')}, {faults} {noun}.")
    if faults:
        raise typer.Exit(1)


def _faults(text: str) -> list[ChunksError]:
    """The first syntax error, or the faults of all rules."""
    try:
        graph = Graph(text)
    except ChunksError as error:
        return [error]
    cited: dict[str | None, Chunk] = {chunk.id: chunk for chunk in graph}
    faults = []
    for index, chunk in enumerate(filter(is_rule, graph.of_type("rule"))):
        try:
            rule = resolve_rule(chunk, cited)
            CompiledRule(rule, index, _modules(rule))
        except ChunksError as error:
            faults.append(error)
    return faults


def _modules(rule: Rule) -> set[str]:
    """The modules that a rule names: in a file, none is missing."""
    names = (chunk.get(name, "goal") for chunk in rule.chunks for name in ("@module", "@to"))
    return {str(name) for name in names}


def show_file(file: Path, format: str, mapping: list[str] | None) -> None:
    """Print the statements of a file as text, json or turtle, and count them."""
    try:
        document = chunks.parse(inputs.read_text(file))
        if format == "json":
            output.show_json([_statement_json(statement) for statement in document.statements])
        elif format == "turtle":
            output.write_exactly(chunks.to_rdf(Graph(document), mapping=inputs.mapping_of(mapping)))
        else:
            output.write_exactly(chunks.to_text(document))
    except ChunksError as error:
        raise Failure(located(file, error)) from None
    rules = sum(
        isinstance(item, Rule) or (isinstance(item, Chunk) and is_rule(item))
        for item in document.statements
    )
    counts = ((len(document.chunks), "chunk"), (len(document.links), "link"), (rules, "rule"))
    output.note(", ".join(output.counted(*count) for count in counts) + ".")


def _statement_json(statement: Chunk | Link | Rule) -> dict[str, Any]:
    match statement:
        case Chunk():
            return chunk_json(statement)
        case Link(subject=subject, label=label, object=object):
            return {"subject": str(subject), "label": str(label), "object": str(object)}
    conditions = [
        {**chunk_json(condition.chunk), "negated": condition.negated}
        for condition in statement.conditions
    ]
    return {"conditions": conditions, "actions": list(map(chunk_json, statement.actions))}
