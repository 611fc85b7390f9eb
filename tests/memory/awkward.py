"""Precision and recall of edges on awkward notes: ``python -m tests.memory.awkward [--faults]``.

The notes were written before the patterns were made for them, with the edges that a careful reader
sees. A line has a text, its edges as [subject type, subject, predicate, object type, object, "held"
or "ended"], the kind of text, and perhaps ``may`` (edges about which two careful readers would
differ: they count neither as wrong nor as missed) and ``never`` (texts that must be in no entity).
What readers write in several ways has them all, separated by " | "; a known tool has each
of its names.

The files ``held_out_…`` were written after the patterns, by authors who had not seen them; half of
the third is made to be misread. Who writes patterns does not look at them: their faults are never
printed, only their figures. ``held_out_4.jsonl`` is what people and models leave behind, rather
than puzzles; so are the last 740 notes of ``awkward.jsonl``, which were held out before.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kiprdf.memory import extract
from kiprdf.memory.extraction.tools import tool_named
from kiprdf.memory.items import USER_NAME, normalized
from tests.memory.quality import Count, short_name

HERE = Path(__file__).parent
HELD_OUT = ("held_out_2", "held_out_3", "held_out_4")
FILES = ("awkward", *HELD_OUT)
Key = tuple[str, str, str, str]
"""Subject, predicate, object, and "held" or "ended"."""


@dataclass
class Result:
    """Counts of all edges and of those of each kind, what is wrong, and what must not be."""

    counts: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    faults: list[str] = field(default_factory=list)
    leaks: int = 0


def cases(name: str) -> list[dict[str, Any]]:
    """The lines of one of ``FILES``."""
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]


def measure(name: str) -> Result:
    """Extract from each text of a file and compare."""
    result = Result()
    for case in cases(name):
        extraction = extract(case["text"])
        extracted = [
            (edge.subject.name, edge.predicate, edge.object.name, state)
            for state, edges in (("held", extraction.edges), ("ended", extraction.ended))
            for edge in edges
            if edge.weight
        ]
        # What is only denied makes no edge, but ends one that another note states.
        denied = [
            (edge.subject.name, edge.predicate, edge.object.name, "ended")
            for edge in extraction.ended
            if not edge.weight
        ]
        missed = [edge for edge in case["edges"] if not any(map(_same(edge), extracted + denied))]
        right = [_same(edge) for edge in [*case["edges"], *case.get("may", ())]]
        wrong = [edge for edge in extracted if not any(same(edge) for same in right)]
        names = " ".join(entity.name for entity in extraction.entities).lower()
        leaks = [text for text in case.get("never", ()) if text.lower() in names]
        for key in {"all", case["kind"], "plain" if case["kind"] == "plain" else "all but plain"}:
            count = result.counts[key]
            count.right += len(case["edges"]) - len(missed)
            count.wrong += len(wrong)
            count.missed += len(missed)
        result.leaks += len(leaks)
        result.faults += [f"{case['kind']}: {case['text']!r}"] * bool(missed or wrong or leaks)
        result.faults += [f"  - {edge[1:3]} {edge[4:]}" for edge in missed]
        result.faults += [f"  + {edge}" for edge in wrong] + [f"  ! {text}" for text in leaks]
    return result


def _same(expected: list[str]) -> Callable[[Key], bool]:
    """Whether an extracted edge is the expected one."""
    _, subjects, predicate, _, objects, held = expected
    names = {_bare(name) for name in objects.split(" | ")}
    about = {_bare(name) for name in subjects.split(" | ")}

    def same(edge: Key) -> bool:
        subject = "user" if edge[0] == USER_NAME else _bare(edge[0])
        return (edge[1], edge[3]) == (predicate, held) and (
            subject in about and _bare(edge[2]) in names
        )

    return same


def _bare(name: str) -> str:
    bare = short_name(normalized(name).rstrip(".").removeprefix("to "))
    return normalized(tool_named(bare) or bare)


def main() -> None:
    """Print a table for all files; with ``--faults`` what is missed (-), wrong (+), leaked (!)."""
    print("| file | kind | right | wrong | missed | precision | recall |")
    print("|---|---|---|---|---|---|---|")
    for name in FILES:
        result = measure(name)
        for kind, count in sorted(result.counts.items()):
            if name == "awkward" or kind in ("all", "all but plain"):
                print(
                    f"| {name} | {kind} | {count.right} | {count.wrong} | {count.missed}"
                    f" | {count.precision:.3f} | {count.recall:.3f} |"
                )
        print(f"| {name} | secrets in entities | | {result.leaks} | | | |")
    if "--faults" in sys.argv:
        print(*measure("awkward").faults, sep="\n")


if __name__ == "__main__":
    main()
