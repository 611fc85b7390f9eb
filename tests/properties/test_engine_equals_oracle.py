"""The engine answers every query as the naive evaluator does.

``KIPRDF_EXAMPLES`` sets how many graphs are tried.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note, settings

import kiprdf
from kiprdf.kql import starts
from kiprdf.rdf import readings
from tests.long_runs import amount
from tests.oracle import Graph, TooManySolutions
from tests.properties.comparison import difference, expected
from tests.properties.strategies import Case, cases
from tests.shortcuts import no_lookups, no_shortcuts

EXAMPLES = amount("EXAMPLES", 4)


def build(graph: Graph, *, history: bool = False) -> Any:
    """An engine in memory that holds the graph."""
    nexus = kiprdf.Nexus.memory(genesis=False, history=history)
    for request in graph.requests():
        response = _as_json(nexus.execute_kip(request))
        assert "error" not in response, (request, response)
    return nexus


def _as_json(response: Any) -> Any:
    return response if isinstance(response, dict) else response.model_dump()


EACH = settings(
    max_examples=EXAMPLES,
)


@EACH
@given(case=cases())
def test_engine_equals_oracle(case: Case) -> None:
    _compare(case)


@EACH
@given(case=cases(faulty=True))
def test_engine_refuses_what_the_oracle_refuses(case: Case) -> None:
    _compare(case)


def _compare(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readings, "MOST_NUMBERS", case.most)
        patch.setattr(starts, "COUNTED_FIRST", case.most)
        _compare_all(case)


def _compare_all(case: Case) -> None:
    nexus = build(case.graph)
    for query in case.queries:
        try:
            answer = expected(query, case.graph)
        except TooManySolutions:
            continue
        fault = _ask(nexus, query, answer)
        with no_lookups():
            # A cached plan has its lookup.
            nexus._engine.statements.clear()
            fault = fault or _ask(nexus, query, answer)
        with no_shortcuts():
            response = _as_json(nexus.execute_kip_readonly({"command": query}))
            fault = fault or difference(query, answer, response)
        if fault:
            for request in case.graph.requests():
                note(str(request))
            note(query)
        assert fault is None


def _ask(nexus: Any, query: str, answer: Any) -> str | None:
    """What is wrong with a response; a text that comes again is remembered and must not change."""
    response = _as_json(nexus.execute_kip_readonly({"command": query}))
    for number in range(4):
        if number >= 2:
            # Then the text is new, and has the plan of those that differ in literals only.
            nexus._engine.statements.forget_texts()
        assert _as_json(nexus.execute_kip_readonly({"command": query})) == response
    return difference(query, answer, response)
