"""What an import did, told to people and to programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiprdf.cli import output, tables

SHOWN = 5
"""As many of the triples that were skipped, and of the warnings, are listed for people."""
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
    for kind in ("concepts", "propositions"):
        counts = ", ".join(f"{number} {what}" for what, number in report[kind].items())
        yield f"  {kind}: {counts}"
    for kind, names in report["definitions"].items():
        if names:
            yield f"  {kind.replace('_', ' ')} defined: {tables.listed(names)}"
    skipped = [f"{one['triple']}  {one['reason']}" for one in report["skipped"]]
    yield from _first("skipped", skipped)
    yield from _first("warnings", report["warnings"])


def _first(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"  {title}: {len(lines)}"
    for line in lines[:SHOWN]:
        yield f"    {line}"
    more = len(lines) - SHOWN
    if more > 0:
        yield f"    … {more} more; {REST}"
