"""The conformance cases on real engines; a file is one test, which fills a store for each case.

Where no engine is chosen, the cases that only ask run on one.
"""

from __future__ import annotations

import os

import pytest

from kiprdf import Nexus
from tests.conformance.test_conformance import FILES, _only_asks, _prepared, _run
from tests.engines.conftest import NAMES, chosen
from tests.engines.filling import fill
from tests.engines.servers import Engine

RUNS_ALL = NAMES in os.environ


@pytest.mark.parametrize("engine", chosen() if RUNS_ALL else ["oxigraph"], indirect=True)
@pytest.mark.parametrize("name", FILES)
def test_cases(engine: Engine, name: str) -> None:
    prepared = _prepared(name, "on an engine")

    def connected() -> Nexus:
        engine.clear()
        fill(engine, prepared)
        return Nexus.connect(**{**engine.arguments, **FILES[name].get("nexus", {})})

    wrong: list[str] = []
    nexus = connected()
    for case in FILES[name]["cases"]:
        steps = [case, *case.get("then", ())]
        if not (RUNS_ALL or _only_asks(steps)):
            continue
        fault = next(filter(None, (_run(nexus, step, 1) for step in steps)), "")
        if fault:
            wrong.append(f"{case['name']}: {fault[:500]}")
        if not _only_asks(steps):
            nexus.close()
            nexus = connected()
    nexus.close()
    assert wrong == []
