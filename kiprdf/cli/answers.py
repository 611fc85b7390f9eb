"""Runs commands on a nexus and prints what they answer; for ``run``, ``explain`` and the shell."""

from __future__ import annotations

import re
from typing import Any

import kiprdf
from kiprdf.cli import output, tables
from kiprdf.errors import KipError
from kiprdf.language import ast, bind
from kiprdf.nexus import Nexus
from kiprdf.search.embedders import INSTALL
from kiprdf.semantics.places import search_mode
from kiprdf.source import NOWHERE, Span

_KINDS = ("concept", "proposition")
_FIRST_WORD = re.compile(r"(?:\s|//[^\n]*\n)*(\w+)")


def show_answer(
    nexus: Nexus, parsed: ast.Command, text: str, given: dict[str, Any], dry_run: bool = False
) -> None:
    """Run a command and print what a person wants to see of the answer."""
    if isinstance(parsed, ast.Find):
        tables.show_rows(nexus.find(text, **given))
        return
    answer = nexus.answer(text, given, dry_run=dry_run)
    note_degraded(nexus, parsed, given)
    if isinstance(parsed, ast.Export):
        output.write_exactly(answer.result["capsule"])
        counts = (output.counted(answer.result[f"{kind}s"], kind) for kind in _KINDS)
        output.note(f"{', '.join(counts)}.")
    else:
        tables.show_result(answer.result)
    output.note_cursor(answer.next_cursor)
    if dry_run:
        output.note("Dry run: everything was checked, nothing was written.")


def show_response(nexus: Nexus, text: str, given: dict[str, Any], dry_run: bool = False) -> None:
    """Run a command and print the KIP response; an error is raised."""
    answer = nexus.answer(text, given, dry_run=dry_run)
    note_degraded(nexus, kiprdf.parse(text), given)
    cursor = {} if answer.next_cursor is None else {"next_cursor": answer.next_cursor}
    output.show_json({"result": answer.result, **cursor})


def exported(nexus: Nexus, select: str | None, given: dict[str, Any]) -> tuple[str, str | None]:
    """The capsule of everything, or of a selection with the cursor of its next page."""
    if select is None:
        return nexus.export(), None
    if not isinstance(kiprdf.parse(select), ast.Export):
        message = "Only an EXPORT selects what is written."
        raise KipError("KIP_1001", message, "Begin with EXPORT.", _first_word(select), select)
    answer = nexus.answer(select, given)
    return answer.result["capsule"], answer.next_cursor


def note_degraded(nexus: Nexus, parsed: ast.Command, given: dict[str, Any]) -> None:
    """Say so when a SEARCH looked for words only, because its mode cannot be served."""
    if not isinstance(parsed, ast.Search):
        return
    bound = bind(parsed, given)
    assert isinstance(bound, ast.Search)
    mode = search_mode(bound.mode)
    if mode not in nexus.search_modes:
        output.note(f"This looked for words only; MODE {mode} needs: {INSTALL}")


def show_plan(nexus: Nexus, text: str, given: dict[str, Any]) -> None:
    """Print the SPARQL that a FIND becomes."""
    refuse_other_than_find(text)
    output.show_code(nexus.explain(text, **given), "sparql")


def refuse_other_than_find(text: str) -> None:
    """Point at the first word of a command that is no FIND."""
    if not isinstance(kiprdf.parse(text), ast.Find):
        message = "Only a FIND becomes SPARQL that can be shown."
        raise KipError("KIP_1001", message, "Begin with FIND.", _first_word(text), text)


def refuse_write(text: str) -> None:
    """Point at the first word of a command that writes."""
    message = "--readonly runs no command that writes."
    raise KipError("KIP_1001", message, "Leave --readonly out.", _first_word(text), text)


def _first_word(text: str) -> Span:
    match = _FIRST_WORD.match(text)
    return Span(match.start(1), match.end(1)) if match else NOWHERE
