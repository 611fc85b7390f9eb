"""After any SPARQL the process lives, its memory is bounded, the next request is served."""

from __future__ import annotations

import re
import sys

import pytest

from tests.long_runs import SEED, amount
from tests.trust import children
from tests.trust.bombs import BOMBS

MOST_MIB = 768
"""By how much the memory of a process may grow that sends bombs, its answers included."""
PARTS = 4
KINDS = ("memory", "folder")
CASES = [
    (KINDS[(part + SEED + turn) % 2], list(BOMBS)[part::PARTS])
    for part in range(PARTS)
    for turn in range(amount("BOMBS", 1))
]
"""Each query is tried in memory or in a folder; with KIPRDF_BOMBS=2 in both."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("kind", "names"), CASES, ids=str)
def test_a_bomb_does_no_harm(kind: str, names: list[str]) -> None:
    child = children.run("-m", "tests.trust.bombs", kind, *names)
    # The last name without an outcome is what ended the process.
    assert child.status == 0, child.output[-20_000:]
    outcomes = dict(re.findall(r"^([^:]*): (.*)$", child.output, re.MULTILINE))
    assert outcomes.pop("processes") == "0"
    assert int(outcomes.pop("MiB")) < MOST_MIB
    assert list(outcomes) == names
    allowed = {"ok", "KIP_4001", "KIP_4002"}
    assert {name: words for name, words in outcomes.items() if words not in allowed} == {}
