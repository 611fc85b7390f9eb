"""A product that is too large is refused before any of it is in memory."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest
from pyoxigraph import Literal

import kiprdf
from kiprdf import Budget
from kiprdf.rdf import vocab
from kiprdf.store import Delta
from tests.nexus.support import code
from tests.nexus.test_budget import with_nodes
from tests.trust import children

TWO = '?a {type: "N"} ?b {type: "N"}'
EIGHT = " ".join(f'?{name} {{type: "N"}}' for name in "abcdefgh")
PRODUCTS = {
    6: (f"FIND({', '.join(f'?{name}' for name in 'abcdefgh')}) WHERE {{ {EIGHT} }}",),
    260: (f'FIND(?a, ?b, ?c) WHERE {{ {TWO} ?c {{type: "N"}} }}',),
    4_400: (
        f"FIND(?a, ?b) WHERE {{ {TWO} }}",
        f"FIND(?a.name, ?b.name) WHERE {{ {TWO} }} ORDER BY ?b.name LIMIT 5",
        f"FIND(?a.name, MAX(?b.name)) WHERE {{ {TWO} }}",
        f"FIND(?a, COUNT(?b)) WHERE {{ {TWO} }}",
        f"FIND(COUNT(?a)) WHERE {{ {TWO} }}",
        f'FIND(?a, ?b) WHERE {{ {TWO} OPTIONAL {{ (?a, "knows", ?c) }} }}',
    ),
}
"""Commands by the number of nodes that they are asked on."""
ROWS = 100_000
"""The limit; each product is at least ten times as large."""
MOST = 50 * 1024
"""Kilobytes; the product of eight variables takes more than 80 000."""


def on_disk(folder: Path, number: int) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.open(folder)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } '
        'CONCEPT { {type: "$PropositionType", name: "knows"} } }'
    )
    iris = nexus.store.iris
    nodes = [iris.concept("N", f"n{i}") for i in range(number)]
    added = [(node, vocab.TYPE, iris.type("N")) for node in nodes]
    added += [(node, vocab.LABEL, Literal(f"n{i}")) for i, node in enumerate(nodes)]  # type: ignore[misc]
    with nexus.store.writing():
        nexus.store.apply(Delta([], added, nodes))  # type: ignore[arg-type]
    return nexus


def measure(folder: str) -> None:
    """Run by a child: how the commands on each nexus end, and how much the process grows."""
    for number, commands in PRODUCTS.items():
        nexus = on_disk(Path(folder) / str(number), number) if folder else with_nodes(number)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with nexus.limited(max_rows=ROWS):
            answers = {code(nexus, command) for command in commands}
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(number, *answers, "small" if grown < MOST else grown)
        nexus.close()


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_products_beyond_the_row_limit_need_no_memory(place: str, tmp_path: Path) -> None:
    folder = str(tmp_path) if place == "disk" else ""
    child = children.run("-m", "tests.kql.test_products", folder, seconds=240.0)
    expected = [f"{number} KIP_4002 small" for number in PRODUCTS]
    assert (child.status, child.output.splitlines()) == (0, expected)


def test_a_product_within_the_row_limit_is_answered() -> None:
    nexus = with_nodes(100, budget=Budget(max_rows=10_000))
    rows = nexus.find(f"FIND(?a.name, ?b.name) WHERE {{ {TWO} }}")
    assert len(set(rows.tuples())) == 10_000
    with nexus.limited(max_rows=9_999):
        assert code(nexus, f"FIND(?a.name, ?b.name) WHERE {{ {TWO} }}") == "KIP_4002"
        for command, number in {
            f"FIND(?a, ?b) WHERE {{ {TWO} }} LIMIT 7": 7,
            f"FIND(?a) WHERE {{ {TWO} }}": 100,
            f"FIND(?a, ?b) WHERE {{ {TWO} FILTER(?a.name == ?b.name) }}": 100,
            f'FIND(?a, ?b) WHERE {{ {TWO} NOT {{ ?b {{type: "N"}} }} }}': 0,
        }.items():
            assert len(nexus.find(command)) == number, command


def test_pages_of_a_product_continue() -> None:
    nexus = with_nodes(40, budget=Budget(max_rows=900))
    command = f"FIND(?a.name, ?b.name) WHERE {{ {TWO} }} LIMIT 400"
    first = nexus.find(command)
    second = nexus.find(f'{command} CURSOR "{first.next_cursor}"')
    assert len(set(first.tuples()) | set(second.tuples())) == 800


if __name__ == "__main__":
    measure(*sys.argv[1:])
