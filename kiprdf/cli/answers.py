"""Runs KIP commands and prints their answers; used by ``run``, ``explain`` and the shell."""

from __future__ import annotations

import re
from typing import Any

import kiprdf
from kiprdf.cli import output, tables
from kiprdf.errors import KipError
from kiprdf.kql.entailment import Entail
from kiprdf.language import ast
from kiprdf.nexus import Nexus
from kiprdf.source import NOWHERE, Span

_FIRST_WORD = re.compile(r"(?:\s|//[^\n]*\n)*(\w+)")


def show(
    nexus: Nexus,
    parsed: ast.Command,
    text: str,
    parameters: dict[str, Any],
    dry_run: bool = False,
    entail: Entail | None = None,
    as_json: bool = False,
) -> str | None:
    """Run a command and print its answer, as text or as JSON; returns the cursor of a next page."""
    if isinstance(parsed, ast.Find) and not as_json:
        rows = nexus._engine.find(text, parameters, entail=entail)
        tables.show_rows(rows)
        output.show_warnings(rows.warnings)
        return rows.next_cursor
    answer = nexus.answer(text, parameters, dry_run=dry_run, entail=entail)
    if as_json:
        output.show_response(*answer)
    elif isinstance(parsed, ast.Export):
        output.write_exactly(answer.result["capsule"])
        kinds = ("concept", "proposition")
        counts = (output.counted(answer.result[f"{kind}s"], kind) for kind in kinds)
        output.note(f"{', '.join(counts)}.")
    else:
        tables.show_result(answer.result)
    output.show_warnings(answer.warnings)
    if dry_run and not as_json:
        output.note("Dry run: nothing was written.")
    return answer.next_cursor


def exported(
    nexus: Nexus, select: str | None, parameters: dict[str, Any]
) -> tuple[str, str | None]:
    """The capsule of the whole nexus, or of a selection, and the cursor of the next page."""
    if select is None:
        return nexus.export(), None
    if not isinstance(kiprdf.parse(select), ast.Export):
        raise _refusal(select, "--select takes an EXPORT command.", "Begin with EXPORT.")
    answer = nexus.answer(select, parameters)
    return answer.result["capsule"], answer.next_cursor


def show_sparql(
    nexus: Nexus, text: str, parameters: dict[str, Any], entail: Entail | None = None
) -> None:
    """Print the SPARQL query that a FIND is translated to."""
    refuse_other_than_find(text)
    output.show_code(nexus._engine.explain(text, parameters, entail), "sparql")


def refuse_other_than_find(text: str) -> None:
    """Raise KIP_1001 for a command that is not a FIND."""
    if not isinstance(kiprdf.parse(text), ast.Find):
        raise _refusal(text, "Only FIND is translated to SPARQL.", "Begin with FIND.")


def refuse_write(text: str) -> None:
    """Raise KIP_1001 for a command that writes."""
    raise _refusal(text, "--read-only refuses commands that write.", "Remove --read-only.")


def _refusal(text: str, message: str, hint: str) -> KipError:
    """An error that points at the first word of a command."""
    match = _FIRST_WORD.match(text)
    span = Span(match.start(1), match.end(1)) if match else NOWHERE
    return KipError("KIP_1001", message, hint, span, text)
