"""When a signal handler raises, at any moment, the nexus keeps working and loses nothing.

``KIPRDF_INTERRUPTS`` sets how often, ``KIPRDF_SEED`` when.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.long_runs import SEED, amount
from tests.trust import children

NUMBER = amount("INTERRUPTS", 60)


@pytest.mark.parametrize("kind", ["keyboard", "error"])
@pytest.mark.parametrize("place", ["memory", "folder"])
def test_the_nexus_keeps_working_after_an_interrupt_at_any_moment(
    place: str, kind: str, tmp_path: Path, record_property: Callable[[str, Any], None]
) -> None:
    folder = "-" if place == "memory" else str(tmp_path / "kb")
    number = str(NUMBER // 4)
    child = children.run(
        "-m", "tests.trust.interrupting", folder, number, str(SEED), kind, seconds=None
    )
    assert child.status == 0, child.output[-10_000:]
    record_property("count", f"{place}, {kind}: {re.search('.* interrupts', child.output)[0]}")  # type: ignore[index]
