"""What many scopes cost one process, as counts, and as ratios that are measured in the same run."""

from __future__ import annotations

import gc
import os
import shutil
import time
import weakref
from collections.abc import Callable
from pathlib import Path

from pyoxigraph import Store as Engine

from kiprdf import Brains, Nexus, View
from kiprdf.store import OxigraphStore
from tests.benchmarks.scopes import QUESTION, knowledge

MOST_OPEN = 5


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def test_thousands_of_scopes_need_what_those_need_that_are_open(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "00") as nexus:
        nexus.execute(knowledge("00"))
    names = [f"{number:02}" for number in range(40)]
    for name in names[1:]:
        shutil.copytree(tmp_path / "00", tmp_path / name)
    stores: list[weakref.ref[OxigraphStore]] = []
    used: list[tuple[int, int]] = []
    before = descriptors()
    with Brains(tmp_path, most_open=MOST_OPEN) as brains:
        for name in names:
            nexus = brains[name]
            assert len(nexus.execute(QUESTION)) == 1
            assert nexus.store.embedded is not None
            stores.append(weakref.ref(nexus.store.embedded))
            del nexus
            used.append((descriptors(), threads()))
        gc.collect()
        assert [store() is not None for store in stores] == [False] * 35 + [True] * 5
    # Each of those that are open has some 20.
    assert before + 10 * MOST_OPEN < used[-1][0] < before + 25 * MOST_OPEN
    assert used[-1] <= used[MOST_OPEN]
    assert descriptors() <= before + 1


def test_a_view_is_built_in_little_more_than_a_copy_takes(tmp_path: Path) -> None:
    members = [Nexus.open(tmp_path / name) for name in ("team", "ada")]
    for member, kind in zip(members, ("Drug", "Plant"), strict=True):
        member.execute(knowledge("both", kind="Drug"))  # the same elements
        member.execute(knowledge("one", kind=kind))
    for member in members:
        member.close()
    members = [Nexus.open(tmp_path / name) for name in ("team", "ada")]
    stores = [member.store.embedded for member in members]

    def copy() -> None:
        engine = Engine()
        for store in stores:
            assert store is not None
            engine.bulk_extend(iter(store.engine))

    def build() -> None:
        View(members).close()

    building, copying = least(build, copy)
    for member in members:
        member.close()
    assert building < 2.1 * copying


def least(*functions: Callable[[], None]) -> list[float]:
    """The least time that each function takes of the processor, of some rounds."""
    times = [[1e9] for _ in functions]
    for _ in range(12):
        for function, each in zip(functions, times, strict=True):
            started = time.process_time()
            function()
            each.append(time.process_time() - started)
    return [min(each) for each in times]
