"""A nexus answers or refuses every input, and the process survives.

``KIPRDF_FUZZ`` is the number of inputs, ``KIPRDF_SEED`` what they are drawn from.
"""

from __future__ import annotations

import re

import pytest

from tests.long_runs import SEED, amount
from tests.trust import children
from tests.trust.entry_points import ENTRY_POINTS, ROUND

NUMBER = amount("FUZZ", 240)


def failure(entry_point: str, child: children.Child) -> str:
    """What went wrong, the last input before the process ended, and how to repeat it."""
    number = int(re.findall(r"^(\d+)$", child.output, re.MULTILINE)[-1])
    first = number - number % ROUND
    again = f"python -m tests.trust.fuzzing {entry_point} {SEED} {first} {number - first + 1}"
    words = re.sub(r"^\d+\n", "", child.output, flags=re.MULTILINE)
    return f"status {child.status} at input {number}: {again}\n{words[:20_000]}"


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_an_entry_point_answers_or_refuses_every_input(entry_point: str) -> None:
    number = str(max(NUMBER // len(ENTRY_POINTS), 1))
    # Each input has its own limit; how many there are is for the caller to say.
    child = children.run(
        "-m", "tests.trust.fuzzing", entry_point, str(SEED), "0", number, seconds=None
    )
    assert child.status == 0, failure(entry_point, child)


DEADLY = """
import faulthandler, sys
from tests.trust import entry_points, fuzzing
class Deadly(entry_points.Terms):
    def enter(self, given):
        self.count = getattr(self, "count", 0) + 1
        if self.count == 4:
            {}
entry_points.ENTRY_POINTS["deadly"] = fuzzing.ENTRY_POINTS["deadly"] = Deadly
fuzzing.SECONDS = 2.0
sys.exit(fuzzing.main("deadly", "1", 0, 10))
"""


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("faulthandler._sigsegv()", "Segmentation fault"),
        ("while True: pass", "Timeout"),
        ("raise KeyError('our fault')", "KeyError: 'our fault'"),
        ("bytes(8 * 1024**3)", "MemoryError"),
    ],
)
def test_the_cause_that_ended_a_process_is_named(deed: str, words: str) -> None:
    child = children.run("-c", DEADLY.format(deed))
    assert child.status != 0
    assert words in child.output
    assert "FAULT deadly 1 3" in child.output or "at input 3" in failure("deadly", child)
