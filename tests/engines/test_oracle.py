"""Random queries have the same answers on an engine as of the naive evaluator."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.engines.conftest import NAMES
from tests.engines.oracle import compare
from tests.engines.servers import Engine
from tests.long_runs import amount
from tests.properties.entailed import ruled_cases
from tests.properties.strategies import cases

PAIRS = amount("ENGINE_PAIRS", 4)


@pytest.mark.parametrize("graphs", [cases(), ruled_cases()], ids=["stated", "entailed"])
def test_random_queries_are_answered_rightly(engine: Engine, graphs: Any) -> None:
    if NAMES not in os.environ and engine.name != "oxigraph":
        pytest.skip(f"{engine.name} runs with {NAMES}={engine.name}")
    comparison = compare(engine, PAIRS, graphs)
    assert comparison.pairs >= PAIRS
    assert comparison.wrong == []
    assert comparison.refused == []
