"""Random queries on random graphs: what an engine answers beside the naive evaluator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from kiprdf import Nexus
from tests.engines.filling import fill
from tests.engines.servers import Engine
from tests.properties.comparison import difference
from tests.properties.entailed import Case as RuledCase
from tests.properties.strategies import Case, cases
from tests.properties.test_engine_equals_oracle import build
from tests.properties.test_entailed import answer_of

AnyCase: TypeAlias = Case | RuledCase

ASKED = 3
PAIRS = 500


@dataclass
class Comparison:
    """How many pairs of a graph and a query were compared, and what came out."""

    pairs: int = 0
    refused: list[str] = field(default_factory=list)
    """The queries that were KIP_4002, which is no wrong answer."""
    wrong: list[str] = field(default_factory=list)


def compare(
    engine: Engine, pairs: int = PAIRS, graphs: SearchStrategy[AnyCase] | None = None
) -> Comparison:
    """Ask an engine about so many pairs of a random graph and a query on it, always the same."""
    comparison = Comparison()

    @settings(
        max_examples=pairs,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases() if graphs is None else graphs)
    def each(case: AnyCase) -> None:
        if comparison.pairs < pairs:
            _compare(engine, case, comparison)

    each()
    return comparison


def _compare(engine: Engine, case: AnyCase, comparison: Comparison) -> None:
    entail = case.entail if isinstance(case, RuledCase) else None
    engine.clear()
    embedded = build(case.graph)
    if engine.update_url is not None:
        fill(engine, embedded)
    with Nexus.connect(**engine.arguments, genesis=False) as nexus:
        if engine.update_url is None:
            for request in case.graph.requests():
                nexus.execute_kip(request)
        for query in case.queries:
            answer = answer_of(query, case.graph, entail)
            if answer is None:
                continue
            request = {"command": query} | ({"entail": entail} if entail else {})
            # Asked again, a query may be answered by a plan that is filled with its constants.
            asked = [nexus.execute_kip_readonly(request) for _ in range(ASKED)]
            comparison.pairs += 1
            faults = ((difference(query, answer, response), response) for response in asked)
            fault, response = next((each for each in faults if each[0] is not None), (None, {}))
            if fault is not None:
                code = response.get("error", {}).get("code")
                faults = comparison.refused if code == "KIP_4002" else comparison.wrong
                faults.append(f"{request}\n{fault[:300]}")
