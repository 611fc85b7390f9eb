"""A FIND with why, and one that also matches what follows, beside the same FIND alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kiprdf
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side

TIMES, SECONDS_A_ROW = 3.0, 50e-6
"""What why may take: so many times the answer, and so long for each row."""
ENTAILED = 1.3
"""What entailment may take where no rule applies."""
QUESTIONS = (
    ("one hop", 'FIND(?s.name) WHERE { ({type: "Drug", name: "D8"}, "treats", ?s) }'),
    (
        "a page",
        'FIND(?d.name, ?s.name) WHERE { ?d {type: "Drug"} (?d, "treats", ?s) } LIMIT 100',
    ),
    (
        "a page of a filter",
        'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk > 3) } '
        "ORDER BY ?d.name LIMIT 100",
    ),
    ("groups", 'FIND(?d.attributes.risk, COUNT(?s)) WHERE { (?d, "treats", ?s) }'),
)


def measured(propositions: int) -> Iterator[Ratio]:
    """Each question, warm."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    data.build(propositions, nexus)
    for name, command in QUESTIONS:
        rows = len(nexus.why(command).rows)

        def alone(_: int, command: str = command) -> Any:
            return nexus.execute(command)

        def why(_: int, command: str = command) -> Any:
            return nexus.why(command)

        def entailed(_: int, command: str = command) -> Any:
            return nexus.execute(command, entail=True)

        ratio = side_by_side(f"why: {name}", why, alone, target=TIMES)
        yield ratio._replace(target=TIMES + rows * SECONDS_A_ROW / ratio.yardstick)
        yield side_by_side(f"entail, no rule: {name}", entailed, alone, target=ENTAILED)
