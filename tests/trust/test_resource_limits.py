"""Within the limits of the engine and far beyond, every entry point answers or refuses."""

from __future__ import annotations

import re

import pytest

from tests.trust import children
from tests.trust.entry_points import ALLOWED_CODES
from tests.trust.resource_limits import COMMANDS, DOCUMENTS, QUERIES

ALLOWED = {*ALLOWED_CODES, "ok"}
WITHIN = (", deep", ", many", ", far")
"""The endings of names of inputs within the limits: they must not be refused."""


@pytest.mark.parametrize(
    ("entry_point", "inputs"),
    [
        ("execute_kip", COMMANDS),
        ("sparql", QUERIES),
        ("restore", DOCUMENTS),
        ("import_rdf", DOCUMENTS),
    ],
)
def test_beyond_the_limits_the_process_survives(
    entry_point: str, inputs: dict[str, object]
) -> None:
    child = children.run("-m", "tests.trust.resource_limits", entry_point)
    # The last name without an outcome is what ended the process.
    assert child.status == 0, child.output[-20_000:]
    outcomes = dict(re.findall(r"^(.*): (\w+)$", child.output, re.MULTILINE))
    assert list(outcomes) == list(inputs)
    assert {name: code for name, code in outcomes.items() if code not in ALLOWED} == {}
    if entry_point != "restore":
        within = {name: code for name, code in outcomes.items() if name.endswith(WITHIN)}
        assert set(within.values()) == {"ok"}, within
