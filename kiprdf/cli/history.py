"""Commands for the history of a nexus."""

from __future__ import annotations

from typing import Annotated

import typer

import kiprdf
from kiprdf.cli import answers, inputs, output
from kiprdf.cli.options import DEFAULT_NEXUS, JsonOption, NexusOption, ParamOption
from kiprdf.cli.root import app


@app.command()
def at(
    when: Annotated[
        str,
        typer.Argument(help="The number of a commit, or a time such as 2026-03-01T12:00:00Z."),
    ],
    command: Annotated[str, typer.Argument(help="A KIP command that reads; - for standard input.")],
    param: ParamOption = None,
    nexus: NexusOption = DEFAULT_NEXUS,
    as_json: JsonOption = False,
) -> None:
    """Run a KIP command on the nexus as it was.

    A time means the last commit at or before it. kiprdf info shows which commits
    the history covers.

    \b
    Examples:
      kiprdf at 1500 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
      kiprdf at 2026-03-01T12:00:00Z 'DESCRIBE PRIMER' --nexus brain
    """
    text = inputs.command_text(command, None)
    parameters = inputs.parameters(param or (), None)
    with output.errors_as_json(as_json):
        parsed = kiprdf.parse(text)
        with inputs.open_to_read(nexus) as opened, opened.at(_moment(when)) as past:
            show = answers.show_response if as_json else answers.show_answer
            cursor = show(past, parsed, text, parameters)
            if not as_json:
                output.note_cursor(cursor)


def _moment(when: str) -> int | str:
    return int(when) if when.isdecimal() else when
