"""What the commands of chunks do with files: check, show and run them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer

from kiprdf import chunks
from kiprdf.chunks import (
    Call,
    Chunk,
    ChunksError,
    Engine,
    Event,
    Firing,
    Graph,
    Link,
    Rule,
)
from kiprdf.chunks.model import is_rule, resolve_rule
from kiprdf.chunks.parser import parse_chunk
from kiprdf.chunks.rules import CompiledRule
from kiprdf.cli import inputs, output
from kiprdf.cli.failures import Failure
from kiprdf.nexus import Nexus

PRINTED = {"log": "message", "show": "value"}
"""The operations of the command line, and the property that each prints."""

SENTENCES = {
    "get": "{module} looks for {action}",
    "next": "{module} goes on to the next",
    "put": "{module} saves {action}",
    "patch": "{module} saves what has changed",
    "delete": "{module} deletes {action}",
    "clear": "{module} is done",
    "queue": "{module} plans {action}",
    "task": "{module} starts the task {action}",
    "done": "the task is done",
    "fail": "the task has failed",
    "all": "{module} plans {action} for when all tasks are done",
    "any": "{module} plans {action} for when one task is done",
    "failed": "{module} plans {action} for when one task has failed",
}
"""What a trace prints for the operations."""


# check and show -------------------------------------------------------------------------------


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
            CompiledRule(rule, index, _named_modules(rule))
        except ChunksError as error:
            faults.append(error)
    return faults


def _named_modules(rule: Rule) -> set[str]:
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
    rules = sum(isinstance(item, Rule) or is_rule(item) for item in document.statements)
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


# run ------------------------------------------------------------------------------------------


def run_rules(
    rules: Path,
    goal: str,
    modules: dict[str, Path],
    *,
    seed: int,
    max_cycles: int,
    trace: bool,
    as_json: bool,
) -> None:
    """Run rules on modules, which are files or folders by name, beginning with a goal."""
    with ExitStack() as stack:
        # A nexus that is several modules is opened once: a rule may compare its facts.
        places = {path.resolve(): path for path in modules.values()}
        sources = {place: _module(path, stack) for place, path in places.items() if path.is_dir()}
        opened = {
            name: sources.get(path.resolve()) or _read(path) for name, path in modules.items()
        }
        document, beginning = _read(rules), _goal(goal)
        try:
            engine = Engine(document, opened, seed=seed)
            report = _Report(engine, prints=not as_json, traces=trace and not as_json)
            engine.goal(beginning)
            firings = engine.run(max_cycles)
        except ChunksError as error:
            raise Failure(located(rules, error)) from None
        if as_json:
            output.show_json(report.as_json(firings))
        else:
            report.finish(firings)


def _module(path: Path, stack: ExitStack) -> Graph | Nexus:
    """The graph of a file; a folder is a nexus, which is closed at the end."""
    if path.is_dir():
        return stack.enter_context(Nexus.open(path))
    return _read(path)


def _goal(text: str) -> Chunk:
    try:
        return parse_chunk(text)
    except ChunksError as error:
        raise Failure(located("--goal", error)) from None


def _read(path: Path) -> Graph:
    try:
        return Graph(chunks.parse(inputs.read_text(path)))
    except ChunksError as error:
        raise Failure(located(path, error)) from None


def located(path: Path | str, error: ChunksError) -> str:
    """An error as ``FILE:LINE:COLUMN: sentence``."""
    return f"{path}:{error.line or 1}:{error.column or 1}: {error.message}"


class _Report:
    """Listens to an engine, and prints or keeps what happens."""

    def __init__(self, engine: Engine, *, prints: bool, traces: bool) -> None:
        self._engine = engine
        self._prints = prints
        self._calls: list[dict[str, Any]] = []
        self._failures: list[str] = []
        self._number = 0
        for name in PRINTED:
            engine.operation(name, self._print)
        engine.on_event(self._note_failure)
        if traces:
            engine.on_event(self._trace)

    def _print(self, call: Call) -> None:
        self._calls.append(
            {
                "name": call.name,
                "module": call.module,
                "properties": {name: _json(value) for name, value in call.properties.items()},
            }
        )
        if self._prints:
            output.show_text(words(call.properties.get(PRINTED[call.name], "")))

    def _note_failure(self, event: Event) -> None:
        if isinstance(event.detail, Exception):
            name = f"{event.call.name} in " if event.call else ""
            self._failures.append(f"{name}{event.module} failed: {event.detail}")

    def _trace(self, event: Event) -> None:
        """Print one line of the story: a rule fires, an operation runs, a buffer changes."""
        match event.detail:
            case Firing() as firing:
                self._number += 1
                output.show_text(f"{self._number}. {_firing_line(firing)}")
            case Call() as call if call.name not in PRINTED:
                sentence = SENTENCES.get(call.name, "{module}: " + call.name + " {action}")
                output.show_text(
                    "   " + sentence.format(module=call.module, action=_action_text(call.action))
                )
            case Exception() as error:
                output.show_text(f"   {event.module} failed: {error}")
            case tuple() as waiting if waiting:
                chunks_ = output.counted(len(waiting), "chunk")
                output.show_text(
                    f"   {event.module} has {chunks_} in its queue, next is {_text(waiting[0])}"
                )
            case Chunk() as chunk:
                output.show_text(f"   {event.module} holds {_text(chunk)}")
            case None if event.kind == "buffer":
                output.show_text(f"   {event.module} is empty")

    def finish(self, firings: list[Firing]) -> None:
        """Print the buffers, and on standard error why the run ended."""
        for name, buffer in self._buffers().items():
            status = self._engine.module(name).status
            note = "" if status == "okay" else f" ({status})"
            if buffer is not None or note:
                output.show_text(f"{name}: {'empty' if buffer is None else _text(buffer)}{note}")
        for failure in self._failures:
            output.note(failure)
        output.note(f"{output.counted(len(firings), 'firing')}; {self._engine.stopped}.")

    def _buffers(self) -> dict[str, Chunk | None]:
        return {name: self._engine.module(name).buffer for name in self._engine.modules}

    def as_json(self, firings: list[Firing]) -> dict[str, Any]:
        """All that happened, as JSON."""
        return {
            "firings": [
                {
                    "index": firing.index,
                    "bindings": {name: _json(value) for name, value in firing.bindings.items()},
                    **({"sources": sorted(firing.sources)} if firing.sources else {}),
                }
                for firing in firings
            ],
            "calls": self._calls,
            "buffers": {
                name: None if buffer is None else chunk_json(buffer)
                for name, buffer in self._buffers().items()
            },
            "statuses": {name: self._engine.module(name).status for name in self._engine.modules},
            "failures": self._failures,
            "stopped": self._engine.stopped,
        }


def _firing_line(firing: Firing) -> str:
    line = f" (line {firing.rule.line})" if firing.rule.line else ""
    values = ", ".join(f"{name} = {words(value)}" for name, value in firing.bindings.items())
    sources = ", ".join(sorted(firing.sources))
    return (
        f"Rule {firing.index + 1}{line} fires"
        + (f" with {values}" if values else "")
        + (f", from {sources}" if sources else "")
    )


def _action_text(action: Chunk) -> str:
    """The chunk of an action, without what is for the engine."""
    plain = {name: value for name, value in action.properties.items() if name[0] != "@"}
    return _text(action.with_(properties=plain))


def _text(chunk: Chunk) -> str:
    return chunks.to_text(chunk, compact=True).strip()


def words(value: Any) -> str:
    """A value as a person reads it: the items of a list side by side."""
    if isinstance(value, tuple):
        return " ".join(map(words, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    return value if isinstance(value, bool | int | float) else str(value)


def chunk_json(chunk: Chunk) -> dict[str, Any]:
    properties = {str(name): _json(value) for name, value in chunk.properties.items()}
    return {"type": str(chunk.type), "id": chunk.id and str(chunk.id), "properties": properties}
