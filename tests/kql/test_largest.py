"""The largest commands that the budgets let through, in a separate process."""

from __future__ import annotations

from tests.trust import children

PROCESSOR_SECONDS = 15
"""What a command may take of the processor, whose use other processes do not change."""
SECONDS = 360
"""The limit for a child that waits, on a busy machine."""

CHILD = """
import resource
import sys
import time
import kiprdf

alternatives = " | ".join(f'"p{i}"{{1,64}}' for i in range(64))
plain = " | ".join(f'"p{i}"' for i in range(64))
wheres = {
    "hops_in_every_clause": " ".join(f'(?a{i}, "p0"{{1,64}}, ?a{i + 1})' for i in range(64)),
    "closures_in_every_clause": " ".join(f'(?a{i}, "p0"{{0,}}, ?a{i + 1})' for i in range(64)),
    "links_of_alternatives": " ".join(f'?l{i} (?a{i}, {plain}, ?a{i + 1})' for i in range(64)),
    "predicate_variables": " ".join(f"(?a{i}, ?p{i}, ?a{i + 1})" for i in range(64)),
    "alternatives_with_hops": " ".join(f"(?a{i}, {alternatives}, ?a{i + 1})" for i in range(8)),
    "long_lists": '?a0 {type: "T"} FILTER(' + " || ".join(["IN(?a0.name, :v)"] * 100) + ")",
}
with kiprdf.Nexus.memory(genesis=False) as nexus:
    predicates = [f'CONCEPT {{ {{type: "$PropositionType", name: "p{i}"}} }}' for i in range(64)]
    nexus.execute(
        "UPSERT { " + " ".join(predicates) + ' CONCEPT { {type: "$ConceptType", name: "T"} } '
        'CONCEPT ?a { {type: "T", name: "A"} } '
        'CONCEPT { {type: "T", name: "B"} SET PROPOSITIONS { ("p0", ?a) } } }'
    )
    values = {"v": [str(i) for i in range(10_000)]}
    for name, where in wheres.items():
        most = int(time.process_time() + int(sys.argv[1])) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        parameters = values if ":v" in where else {}
        command = "FIND(?a0) WHERE { " + where + " } LIMIT 5"
        response = nexus.execute_kip({"command": command, "parameters": parameters})
        print(name, "ok" if "result" in response else response["error"]["code"], flush=True)
"""


def test_commands_within_the_budgets_are_answered_or_refused_in_time() -> None:
    child = children.run("-c", CHILD, str(PROCESSOR_SECONDS), seconds=SECONDS)
    endings = dict(line.split(" ") for line in child.output.splitlines())
    assert list(endings) == [
        "hops_in_every_clause",
        "closures_in_every_clause",
        "links_of_alternatives",
        "predicate_variables",
        "alternatives_with_hops",
        "long_lists",
    ]
    assert set(endings.values()) <= {"ok", "KIP_4001", "KIP_4002"}
