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
        ("execute_kip", list(COMMANDS)),
        ("sparql", list(QUERIES)),
        ("restore", list(DOCUMENTS)),
        *(("import_rdf", list(DOCUMENTS)[part::4]) for part in range(4)),
    ],
)
def test_beyond_the_limits_the_process_survives(entry_point: str, inputs: list[str]) -> None:
    child = children.run("-m", "tests.trust.resource_limits", entry_point, *inputs)
    # The last name without an outcome is what ended the process.
    assert child.status == 0, child.output[-20_000:]
    outcomes = dict(re.findall(r"^(.*): (\w+)$", child.output, re.MULTILINE))
    assert list(outcomes) == inputs
    assert {name: code for name, code in outcomes.items() if code not in ALLOWED} == {}
    if entry_point != "restore":
        within = [name for name in inputs if name.endswith(WITHIN)]
        assert {name: outcomes[name] for name in within} == dict.fromkeys(within, "ok")
