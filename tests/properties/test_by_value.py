"""Answers by sorted values are those of the naive evaluator, also after any history.

``KIPRDF_EXAMPLES`` sets how many graphs and histories are tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from kiprdf.kql.evaluate import by_value
from kiprdf.store import sorted_values
from tests.long_runs import amount
from tests.oracle import Graph, TooManySolutions
from tests.properties.comparison import difference, expected
from tests.properties.history import History
from tests.properties.statement_graphs import mirrored_graphs, values
from tests.properties.statements import statements
from tests.properties.strategies import Case, cases
from tests.properties.test_engine_equals_oracle import build

EXAMPLES = amount("EXAMPLES", 5)
WHERES = (
    '?x {type: "T"}',
    "?x {}",
    '?x {type: "T"} OPTIONAL { (?x, "likes", ?y) }',
    '?x {type: "T"} NOT { (?y, "likes", ?x) }',
    '?x (?y, "likes", ?z)',
    '(?x, "likes", ?y)',
    '?y (?x {type: "U"}, ?p, ?z)',
)
SHOWN = ("?x.id", "?x.attributes.a, ?x.id", "?x.metadata.m, ?x.attributes.b")
COUNTED = (
    "COUNT(?x)",
    "?x.attributes.a, COUNT(?x)",
    "COUNT(?x.attributes.a), MIN(?x.attributes.a)",
    "SUM(?x.metadata.m), ?x.attributes.a",
)


@pytest.fixture(autouse=True, scope="module")
def always() -> Iterator[None]:
    """Every key is indexed at once, however few values it has, and read in small pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_values, "WORTH_SECONDS", 0)
        patch.setattr(sorted_values, "LEAST_SECONDS", 60)
        patch.setattr(sorted_values, "KEPT_CHARACTERS", 2)
        patch.setattr(sorted_values, "CHUNK", 2)
        patch.setattr(sorted_values, "KEPT_TRIPLES", 8)
        patch.setattr(by_value, "LEAST_SHARE", 1)
        patch.setattr(by_value, "LEAST_SHARE_OF_PLAIN", 1)
        yield


@settings(max_examples=EXAMPLES)
@given(case=cases())
def test_any_query(case: Case) -> None:
    nexus = build(case.graph)
    for query in case.queries:
        try:
            answer = expected(query, case.graph)
        except TooManySolutions:
            continue
        for request in case.graph.requests():
            note(str(request))
        note(query)
        # The first answer is the engine's, and the keys are indexed after it.
        for _ in range(2):
            response = nexus.execute_kip_readonly({"command": query})
            assert difference(query, answer, response) is None


@st.composite
def ordered(draw: Any) -> str:
    """A FIND with ranges, and an order or aggregates."""
    keys = st.sampled_from(("attributes.a", "attributes.b", "metadata.m"))
    where = draw(st.sampled_from(WHERES))
    for _ in range(draw(st.integers(0, 2))):
        operator = draw(st.sampled_from(("<", "<=", ">", ">=", "==", "STARTS_WITH")))
        path = f"?x.{draw(keys)}"
        constant = json.dumps(draw(values), ensure_ascii=False)
        if operator == "STARTS_WITH":
            constant = json.dumps(draw(st.sampled_from(("", "a", "ab", "漢", "\uffff"))))
            where += f" FILTER(STARTS_WITH({path}, {constant}))"
        else:
            where += f" FILTER({path} {operator} {constant})"
    shown = draw(st.sampled_from((*SHOWN, *COUNTED)))
    text = f"FIND({shown}) WHERE {{ {where} }}"
    if shown in SHOWN and draw(st.integers(0, 3)):
        text += f" ORDER BY ?x.{draw(keys)}{draw(st.sampled_from(('', ' DESC', ', ?x.id DESC')))}"
        text += f" LIMIT {draw(st.integers(1, 3))}"
    return text


@st.composite
def larger_graphs(draw: Any) -> Graph:
    """A graph in which most elements of a kind have a value, so that these fill a page."""
    graph: Graph = draw(mirrored_graphs())
    person = graph.concept("U", "Person")
    held = st.fixed_dictionaries({"a": values}, optional={"b": values})
    for number in range(draw(st.integers(3, 6))):
        concept = graph.concept("T", f"N{number}", draw(held), {"m": draw(values)})
        graph.proposition(concept, "likes", person, draw(held), {"m": draw(values)})
    return graph


@settings(max_examples=EXAMPLES)
@given(graph=larger_graphs(), data=st.data())
def test_after_any_history(graph: Graph, data: Any) -> None:
    with History(graph) as history:
        asked = data.draw(st.lists(ordered(), min_size=2, max_size=4))
        for turn in range(data.draw(st.integers(2, 4))):
            for query in (*asked, data.draw(ordered())):
                note(query)
                answer = expected(query, history.model)
                for _ in range(1 if turn else 2):
                    response = history.nexus.execute_kip({"command": query})
                    assert difference(query, answer, response) is None
            try:
                history.run(data.draw(statements(history.model)))
            except TooManySolutions:
                return
