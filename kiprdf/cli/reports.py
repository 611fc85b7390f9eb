"""What an import did, told to people and to programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiprdf.cli import output, tables

SHOWN = 5
"""As many warnings, and reasons why triples were skipped, are listed for people."""
EXAMPLES = 3
"""As many of the triples that were skipped for one reason."""
_ELEMENTS = ("concepts", "propositions")
REST = "--format-of-report json tells all"


def show_report(name: str, report: dict[str, Any]) -> None:
    """Print the report of an import for people."""
    for line in report_lines(name, report):
        output.show_text(output.printable(line))


def report_lines(name: str, report: dict[str, Any]) -> Iterator[str]:
    """The counts, what was defined, and the first of what was skipped or doubtful.

    >>> made = {"created": 2, "updated": 1, "unchanged": 0}
    >>> nothing = {"definitions": {"concept_types": ["River"], "predicates": []}, "warnings": []}
    >>> report = {"triples": 9, "concepts": made, "propositions": made, "skipped": [], **nothing}
    >>> print("\\n".join(report_lines("people.ttl", report)))
    people.ttl: 9 triples
      concepts: 2 created, 1 updated, 0 unchanged
      propositions: 2 created, 1 updated, 0 unchanged
      concept types defined: River
    """
    yield f"{name}: {output.counted(report['triples'], 'triple')}"
    # An ontology has neither.
    if any(sum(report[kind].values()) for kind in _ELEMENTS):
        for kind in _ELEMENTS:
            counts = ", ".join(f"{number} {what}" for what, number in report[kind].items())
            yield f"  {kind}: {counts}"
    elif not any(report["definitions"].values()):
        yield "  nothing to write"
    for kind, names in report["definitions"].items():
        if names:
            yield f"  {kind.replace('_', ' ')} defined: {tables.listed(names)}"
    yield from _skipped(report["skipped"])
    warnings = report["warnings"]
    if warnings:
        yield f"  warnings: {len(warnings)}"
        yield from _first(warnings, SHOWN, "    ")


def _skipped(skipped: list[dict[str, str]]) -> Iterator[str]:
    """Each reason, with the number of triples and the first of them."""
    by_reason: dict[str, list[str]] = {}
    for one in skipped:
        by_reason.setdefault(one["reason"], []).append(one["triple"])
    if skipped:
        yield f"  skipped: {len(skipped)}"
    for reason, triples in list(by_reason.items())[:SHOWN]:
        yield f"    {len(triples)}: {reason}"
        yield from _first(triples, EXAMPLES, "      ")
    if len(by_reason) > SHOWN:
        yield f"    … {len(by_reason) - SHOWN} more reasons; {REST}"


def _first(lines: list[str], most: int, indent: str) -> Iterator[str]:
    for line in lines[:most]:
        yield f"{indent}{line}"
    if len(lines) > most:
        yield f"{indent}… {len(lines) - most} more; {REST}"
