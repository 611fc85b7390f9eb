"""Queries that blow up are given up, and end; large results stay within their budgets."""

from __future__ import annotations

import json
import re
import threading

import pytest

import kiprdf
from kiprdf.store import cancellation
from tests.cases import each_case
from tests.long_runs import SEED
from tests.nexus.support import code
from tests.nexus.test_budget import wait_for_the_last, with_nodes
from tests.trust import attacks, children
from tests.trust.test_fuzz import NUMBER


def test_random_explosive_queries_time_out_and_end() -> None:
    number = max(NUMBER // 60, 1)
    child = children.run("-m", "tests.trust.attacks", str(SEED), "0", str(number), seconds=None)
    # The last line with a number is the query that went wrong.
    assert child.status == 0, child.output[-10_000:]


@pytest.fixture(scope="module")
def dense() -> kiprdf.Nexus:
    return attacks.dense(120)


@pytest.mark.parametrize(
    "command",
    [
        # The branches of a UNION and of alternatives were not asked, and went on for minutes.
        'FIND(?a) WHERE { (?a, "knows" | "likes"{1,3}, {type: "N", name: "n1"}) '
        'OPTIONAL { UNION { UNION { (?b, "says"{2,20}, (?a, "knows", ?c)) } } } }',
        'FIND(?a) WHERE { (?a, "knows" | "likes"{1,6}, ?b) (?c, "knows" | "likes"{2,20}, ?a) '
        '?l (?d, "knows", {type: "N", name: "n0"}) }',
        'FIND(?a) WHERE { (?b, "knows"{2} | "likes", ?c) ?a {type: "N"} '
        'OPTIONAL { ?l (?a, "likes"{0,}, ?b) } }',
        # Nor was what stands before a NOT.
        'FIND(?a) WHERE { ?a {type: "M"} NOT { (?b, "knows"{2,3}, ?c) (?c, "says", ?b) } }',
        'FIND(?a) WHERE { ?a {type: "M"} UNION { ?a {type: "N"} } '
        'NOT { (?b, "knows", ?c) (?c, "likes", ?d) (?d, "says", ?b) } }',
    ],
)
def test_abandoned_work_ends(command: str, dense: kiprdf.Nexus) -> None:
    response = dense.execute_kip({"command": command})
    assert "result" in response or response["error"]["code"] in ("KIP_4001", "KIP_4002")
    wait_for_the_last()


def test_a_batch_of_attacks_is_one_request(dense: kiprdf.Nexus) -> None:
    path = " ".join(f'(?a{n}, "knows", ?a{n + 1})' for n in range(20))
    responses = dense.execute_kip({"commands": [f"FIND(COUNT(?a0)) WHERE {{ {path} }}"] * 20})[
        "result"
    ]
    assert {response["error"]["code"] for response in responses} == {"KIP_4001"}
    wait_for_the_last()


def test_the_nexus_keeps_working_under_attacks_from_many_threads(dense: kiprdf.Nexus) -> None:
    path = " ".join(f'(?a{n}, "knows", ?a{n + 1})' for n in range(20))
    codes: list[str] = []

    def attack() -> None:
        codes.append(code(dense, f"FIND(COUNT(?a0)) WHERE {{ {path} }}"))

    threads = [threading.Thread(target=attack) for _ in range(3 * cancellation.MAX_ABANDONED)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(codes) == len(threads)
    assert set(codes) <= {"KIP_4001", "KIP_4002"}
    wait_for_the_last()
    with dense.limited(timeout_s=attacks.SECONDS):
        assert dense.execute('FIND(?x.name) WHERE { ?x {type: "N", name: "n7"} }') == ["n7"]


PATTERNS = ["(a*)*$", "(a|a)*b", "((a{1,50}){1,50}){1,2}", "^(.*.*.*.*.*)*$", "(x+x+)+y"]


@each_case("pattern", PATTERNS)
def test_a_pattern_takes_no_exponential_time(pattern: str) -> None:
    nexus = with_nodes(1)
    nexus.execute('UPDATE ?n SET ATTRIBUTES { long: :x } WHERE { ?n {type: "N"} }', x="xa" * 50_000)
    command = 'FIND(?n) WHERE { ?n {type: "N"} FILTER(REGEX(?n.attributes.long, :p)) }'
    response = nexus.execute_kip({"command": command, "parameters": {"p": pattern}})
    assert "result" in response or response["error"]["code"] in ("KIP_1001", "KIP_4001")


MEMORY = """
import json, sys, kiprdf
from pathlib import Path
from tests.nexus.test_budget import wait_for_the_last, with_nodes
nexus = with_nodes(20_000, 150)
size = "x" * 2**20

def most():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

for name, work in json.loads(sys.argv[1]).items():
    Path("/proc/self/clear_refs").write_text("5")  # the most is then what is used now
    before = most()
    exec(work)
    print(f"{name}: {(most() - before) // 1024}", flush=True)
    wait_for_the_last()
"""
PATH = " ".join(f'(?a{n}, "knows", ?a{n + 1})' for n in range(20))
LARGE = {
    "a page of a huge set": (
        f"assert nexus.execute('FIND(?a0, ?a20) WHERE {{ {PATH} }} LIMIT 1')",
        50,
    ),
    "a row too many": (
        f"with nexus.limited(max_rows=10_000):\n    nexus.execute_kip({{'command': "
        f"'FIND(COUNT(?a0)) WHERE {{ {PATH} }}'}})",
        200,
    ),
    "a product": (
        "nexus.execute_kip({'command': 'FIND(?a, ?b) WHERE { ?a {type: \"N\"} "
        "?b {type: \"N\"} }'})",
        100,
    ),
    "many columns": (
        "nexus.execute_kip({'command': 'FIND(' + '?a.name, ' * 20_000 + '?a) WHERE "
        "{ ?a {type: \"N\"} }'})",
        100,
    ),
    "a list of choices": (
        "with nexus.limited(timeout_s=1.0):\n    nexus.execute_kip({'command': 'FIND(?a) WHERE { "
        "?a {type: \"N\"} FILTER(IN(?a.name, :l)) }', 'parameters': {'l': [*map(str, "
        "range(10_000))]}})",
        100,
    ),
    "a search for everything": (
        "assert len(nexus.execute('SEARCH CONCEPT \"n7\" LIMIT 9223372036854775807')) <= 100",
        400,
    ),
    "an export of everything": ("assert nexus.export()", 600),
    "a long string, often": (
        "for n in range(20):\n    nexus.execute('UPSERT { CONCEPT { {type: \"N\", name: :n} "
        "SET ATTRIBUTES { x: :x } } }', n=str(n), x=size)\n"
        "nexus.execute('FIND(?a.attributes.x) WHERE { ?a {type: \"N\"} } LIMIT 3')",
        400,
    ),
}  # fmt: skip


def test_large_work_uses_bounded_memory() -> None:
    works = {name: work for name, (work, _) in LARGE.items()}
    child = children.run("-c", MEMORY, json.dumps(works))
    assert child.status == 0, child.output
    used = dict(re.findall(r"^(.*): (-?\d+)$", child.output, re.MULTILINE))
    assert list(used) == list(LARGE)
    assert {name: used[name] for name, (_, most) in LARGE.items() if int(used[name]) >= most} == {}


def test_a_long_list_times_out() -> None:
    nexus = with_nodes(20_000)
    command = 'FIND(?a) WHERE { ?a {type: "N"} FILTER(IN(?a.name, :l)) }'
    # Two hundred million comparisons, which the engine makes in one go. On a slow machine a short
    # time may be over before the engine has the query.
    for seconds in (0.1, 0.5, 2.5):
        with nexus.limited(timeout_s=seconds):
            assert code(nexus, command, l=[str(number) for number in range(10_000)]) == "KIP_4001"
        if cancellation._abandoned:
            break
    assert cancellation._abandoned
    wait_for_the_last()
