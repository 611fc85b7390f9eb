"""UPDATE, MERGE CONCEPT and DELETE change a nexus as the model changes two dictionaries.

``KIPRDF_EXAMPLES`` sets how many histories are tried.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.long_runs import amount
from tests.oracle import Graph, TooManySolutions
from tests.properties.history import History
from tests.properties.statement_graphs import NAMES, mirrored_graphs, number_graphs, tangles
from tests.properties.statements import Statement, calculations, revivals, statements

EXAMPLES = amount("EXAMPLES", 8)
MOST_STATEMENTS = 6


EACH = settings(
    max_examples=EXAMPLES,
)
MODES = (("run",), ("dry", "run"), ("run", "run"))


@EACH
@given(graph=mirrored_graphs(), data=st.data())
def test_statements_match_the_model(graph: Graph, data: Any) -> None:
    with History(graph) as history:
        for _ in range(data.draw(st.integers(1, MOST_STATEMENTS))):
            revival = data.draw(revivals(history.model))
            if revival is not None:
                history.run(revival)
            if not history.model.concepts:
                return  # A statement has deleted everything, the definitions too.
            statement = data.draw(statements(history.model))
            try:
                for mode in data.draw(st.sampled_from(MODES)):
                    history.try_dry(statement) if mode == "dry" else history.run(statement)
            except TooManySolutions:
                return


@EACH
@given(graph=mirrored_graphs(), data=st.data())
def test_a_dry_run_of_a_batch_answers_what_the_batch_would(graph: Graph, data: Any) -> None:
    with History(graph) as history:
        count = data.draw(st.integers(1, MOST_STATEMENTS))
        history.try_batch([data.draw(statements(history.model)) for _ in range(count)])


@EACH
@given(graph=tangles(), names=st.permutations(NAMES[:3]))
def test_merges_of_connected_links_match_the_model(graph: Graph, names: list[str]) -> None:
    one, other, last = names
    with History(graph) as history:
        history.run(merging(one, other))
        history.run(merging(other, last))


@EACH
@given(graph=number_graphs(), data=st.data())
def test_calculations_equal_those_of_the_model(graph: Graph, data: Any) -> None:
    with History(graph) as history:
        history.run(data.draw(calculations(history.model)))
        history.run(data.draw(calculations(history.model)))


def merging(source: str, target: str) -> Statement:
    where = f'?s {{type: "T", name: "{source}"}} ?o {{type: "T", name: "{target}"}}'
    return Statement(f"MERGE CONCEPT ?s INTO ?o WHERE {{ {where} }}")
