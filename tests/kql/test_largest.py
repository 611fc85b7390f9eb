"""The largest commands that the budgets let through, each in a separate process."""

from __future__ import annotations

import pytest

from tests.trust import children

PROCESSOR_SECONDS = 15
"""What a child may take of the processor, whose use other processes do not change."""
SECONDS = 120
"""The limit for a child that waits, on a busy machine."""

CHILD = """
import resource
import sys
import kiprdf

resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2])))

alternatives = " | ".join(f'"p{i}"{{1,64}}' for i in range(64))
plain = " | ".join(f'"p{i}"' for i in range(64))
where = {
    "hops_in_every_clause": " ".join(f'(?a{i}, "p0"{{1,64}}, ?a{i + 1})' for i in range(64)),
    "closures_in_every_clause": " ".join(f'(?a{i}, "p0"{{0,}}, ?a{i + 1})' for i in range(64)),
    "links_of_alternatives": " ".join(f'?l{i} (?a{i}, {plain}, ?a{i + 1})' for i in range(64)),
    "predicate_variables": " ".join(f"(?a{i}, ?p{i}, ?a{i + 1})" for i in range(64)),
    "alternatives_with_hops": " ".join(f"(?a{i}, {alternatives}, ?a{i + 1})" for i in range(8)),
    "long_lists": '?a0 {type: "T"} FILTER(' + " || ".join(["IN(?a0.name, :v)"] * 100) + ")",
}[sys.argv[1]]
with kiprdf.Nexus.memory(genesis=False) as nexus:
    predicates = [f'CONCEPT {{ {{type: "$PropositionType", name: "p{i}"}} }}' for i in range(64)]
    nexus.execute(
        "UPSERT { " + " ".join(predicates) + ' CONCEPT { {type: "$ConceptType", name: "T"} } '
        'CONCEPT ?a { {type: "T", name: "A"} } '
        'CONCEPT { {type: "T", name: "B"} SET PROPOSITIONS { ("p0", ?a) } } }'
    )
    values = {"v": [str(i) for i in range(10_000)]} if ":v" in where else {}
    request = {"command": "FIND(?a0) WHERE { " + where + " } LIMIT 5", "parameters": values}
    response = nexus.execute_kip(request)
    print("ok" if "result" in response else response["error"]["code"])
"""


@pytest.mark.parametrize(
    "name",
    [
        "hops_in_every_clause",
        "closures_in_every_clause",
        "links_of_alternatives",
        "predicate_variables",
        "alternatives_with_hops",
        "long_lists",
    ],
)
def test_a_command_within_the_budgets_is_answered_or_refused_in_time(name: str) -> None:
    child = children.run("-c", CHILD, name, str(PROCESSOR_SECONDS), seconds=SECONDS)
    assert child.output in ("ok\n", "KIP_4001\n", "KIP_4002\n")
