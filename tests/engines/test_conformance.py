"""The conformance cases on real engines; a file is one test, which fills a store for each case.

Where no engine is chosen, the cases that only ask run on one.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from kiprdf import Nexus
from tests.conformance.test_conformance import FILES, _only_asks, _prepared, _run
from tests.engines.conftest import NAMES
from tests.engines.filling import fill
from tests.engines.servers import Engine


@pytest.mark.parametrize("name", FILES)
def test_cases(engine: Engine, name: str) -> None:
    runs_all = NAMES in os.environ
    if not runs_all and engine.name != "oxigraph":
        pytest.skip(f"{engine.name} runs with {NAMES}={engine.name}")
    options: dict[str, Any] = FILES[name].get("nexus", {})
    prepared = _prepared(name, True)
    fill(engine, prepared)
    wrong: list[str] = []
    is_filled = True
    for case in FILES[name]["cases"]:
        steps = [case, *case.get("then", ())]
        if not (runs_all or _only_asks(steps)):
            continue
        if not is_filled:
            engine.clear()
            fill(engine, prepared)
        is_filled = _only_asks(steps)
        with Nexus.connect(**{**engine.arguments, **options}) as nexus:
            for step in steps:
                try:
                    _run(nexus, step, 1)
                except AssertionError as fault:
                    wrong.append(f"{case['name']}: {str(fault)[:500]}")
                    break
    assert not wrong
