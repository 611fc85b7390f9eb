"""At the edge of what the engine can do, and far beyond it, every door answers or refuses."""

from __future__ import annotations

import re

import pytest

from tests.trust import children
from tests.trust.cliffs import COMMANDS, DOCUMENTS, QUERIES
from tests.trust.doors import KNOWN

ALLOWED = {*KNOWN, "ok"}
WITHIN = (", deep", ", many", ", far")
"""What is called so is as deep, many or far as the limits allow, and no reason to refuse."""


@pytest.mark.parametrize(
    ("door", "tried"),
    [
        ("execute_kip", COMMANDS),
        ("sparql", QUERIES),
        ("restore", DOCUMENTS),
        ("import_rdf", DOCUMENTS),
    ],
)
def test_beyond_the_edge_the_process_lives(door: str, tried: dict[str, object]) -> None:
    child = children.run("-m", "tests.trust.cliffs", door)
    # The last name without an outcome is what ended the process.
    assert child.status == 0, child.output[-20_000:]
    found = dict(re.findall(r"^(.*): (\w+)$", child.output, re.MULTILINE))
    assert list(found) == list(tried)
    assert {name: code for name, code in found.items() if code not in ALLOWED} == {}
    if door != "restore":
        within = {name: code for name, code in found.items() if name.endswith(WITHIN)}
        assert set(within.values()) == {"ok"}, within
