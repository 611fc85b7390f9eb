"""``kiprdf why``: what the rows of an answer come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kiprdf
from kiprdf.cli import inputs, output
from kiprdf.cli.opening import Reads, place_of
from kiprdf.cli.options import (
    EVERYDAY,
    EntailOption,
    FileOption,
    JsonOption,
    ParamOption,
    ParamsFileOption,
)
from kiprdf.cli.root import app
from kiprdf.interchange.formats import Profile
from kiprdf.rdf.elements import is_element

if TYPE_CHECKING:
    from kiprdf.execution.why import Explained
    from kiprdf.kql.derivations import Derivation


@app.command(cls=Reads, rich_help_panel=EVERYDAY)
def why(
    ctx: typer.Context,
    command: Annotated[
        str | None, typer.Argument(metavar="FIND", help="A FIND; - for standard input.")
    ] = None,
    file: FileOption = None,
    param: ParamOption = None,
    params_file: ParamsFileOption = None,
    row: Annotated[
        int | None, typer.Option(metavar="N", help="Explain one row; the first is 0.", min=0)
    ] = None,
    believed: Annotated[
        bool, typer.Option("--believed", help="Ask for what is believed, as kiprdf run does.")
    ] = False,
    entail: EntailOption = None,
    turtle: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof as PROV-O in Turtle.")
    ] = None,
    profile: Annotated[Profile, typer.Option(help="The profile of that file.")] = "rdf11",
    as_json: JsonOption = False,
) -> None:
    """Show what each row of a FIND comes from: facts, concepts, values, and who stated them.

    \b
    Examples:
      kiprdf why 'FIND(?d.name) WHERE { (?d, "treats", {type: "Symptom", name: "Headache"}) }'
      kiprdf why --row 0 --turtle proof.ttl --file question.kip
    """
    text = inputs.command_text(command, file)
    parameters = inputs.parameters(param or (), params_file)
    if as_json and turtle == inputs.STDIN:
        raise typer.BadParameter("Both are printed: give --turtle a file, or leave --json out.")
    with place_of(ctx).to_read() as opened, output.errors_as_json(as_json):
        text = kiprdf.believed(text) if believed else text
        explained = opened._engine.why(text, parameters, row, entail)
        evidence = explained.evidence()
        proof = None if turtle is None else explained.to_turtle(profile)
    if turtle is not None and proof is not None:
        inputs.write_document(turtle, proof)
    if turtle == inputs.STDIN:
        return
    if as_json:
        output.show_json({**explained.response(), "evidence": evidence})
    else:
        lines = _lines(explained, evidence)
        output.show_text(output.printable("\n".join(lines), keep="\n"))
        output.show_warnings(explained.warnings)
        output.note_cursor(explained.next_cursor)


def _lines(explained: Explained, evidence: dict[str, Any]) -> list[str]:
    lines = []
    table = list(zip(*explained.outcome.columns, strict=True))
    for one in explained.rows:
        values = ", ".join(_element(v["id"]) if is_element(v) else str(v) for v in table[one.row])
        marks = (("confidence", one.confidence), ("trust", one.trust))
        remarks = [f"{name} {value}" for name, value in marks if value is not None]
        lines.append(f"row {one.row}: {values}  {', '.join(remarks)}".rstrip())
        for derivation in one.derivations:
            lines += [f"  {line}" for line in _derivation(derivation, evidence)]
        if one.more != 0:
            more = "an unknown number of" if one.more is None else one.more
            lines.append(f"  and {more} more")
    return lines or ["no rows"]


def _derivation(derivation: Derivation, evidence: dict[str, Any]) -> list[str]:
    """The lines of a derivation, the first of which has a dash."""
    printed = set[str]()
    lines = [line for id in derivation.propositions for line in _lineage(id, evidence, printed)]
    for path in derivation.paths:
        lines.append(f"by {len(path)} hops: " + "; ".join(_fact(evidence[id]) for id in path))
        lines += [line for id in path for line in _lineage(id, evidence, printed)[1:]]
    if not lines:
        lines += [_element(id) for id in derivation.concepts]
    lines += [f"{_element(v['of'])} has {v['key']} {v['value']!r}" for v in derivation.values]
    lines += [f"nothing for {place}" for place in derivation.absent]
    lines += [f"by {derivation.branch}"] if derivation.branch else []
    # The rule of a fact that is printed is beside it.
    others = (one for one in derivation.inferred if one["of"] not in printed)
    lines += [f"by the rule {one['by']} of {_element(one['of'])}" for one in others]
    return [f"{'- ' if number == 0 else '  '}{line}" for number, line in enumerate(lines)]


def _lineage(id: str, evidence: dict[str, Any], printed: set[str]) -> list[str]:
    """An element, and below it what it is derived from, each shown once with what is below it."""
    lines, pending = [], [(id, 0)]
    while pending:
        id, depth = pending.pop()
        one = evidence[id]
        text = _fact(one) if "subject" in one else f"{one['type']}:{one['name']}"
        lines.append(f"{'  ' * depth}from {text}" if depth else text)
        if id not in printed:
            printed.add(id)
            pending += [(source, depth + 1) for source in reversed(one["derived_from"])]
    return lines


def _fact(one: dict[str, Any]) -> str:
    """A fact as people write it, and who stated it."""
    remarks = [
        f"{name} {one[name]}"
        for name in ("source", "author", "confidence", "status")
        if one[name] is not None
    ]
    rules = one["derived_by"] or []
    remarks += [f"derived by {rule}" for rule in (rules if isinstance(rules, list) else [rules])]
    fact = f"({_element(one['subject'])}, {one['predicate']}, {_element(one['object'])})"
    return f"{fact}  {', '.join(remarks)}".rstrip()


def _element(id: str) -> str:
    """``Drug:Aspirin`` for a concept; a proposition by its id."""
    kind, _, name = id.partition(":")
    return name.replace("/", ":", 1) if kind == "C" else id
