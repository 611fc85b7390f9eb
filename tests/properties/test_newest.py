"""After any history, the newest elements are those that the naive evaluator finds.

``KIPRDF_EXAMPLES`` sets how many histories are tried.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.long_runs import amount
from tests.oracle import Graph, TooManySolutions
from tests.properties.comparison import difference, expected
from tests.properties.history import History
from tests.properties.statement_graphs import mirrored_graphs
from tests.properties.statements import statements

EXAMPLES = amount("EXAMPLES", 5)
SHOWN = "?x.id, ?x.metadata._updated_at, ?x.metadata._version"
WHERES = (
    "?x {}",
    '?x {type: "T"}',
    "?x (?s, ?p, ?o)",
    "?l (?x, ?p, ?o)",
    "?x (?s, ?p, ?o {})",
    '?x (?s, ?p, ?o) FILTER(?s.type == "T") NOT { (?x, ?q, ?z) }',
)


@settings(max_examples=EXAMPLES)
@given(graph=mirrored_graphs(), data=st.data())
def test_newest_first_after_any_history(graph: Graph, data: Any) -> None:
    with History(graph) as history:
        for _ in range(data.draw(st.integers(1, 4))):
            try:
                history.run(data.draw(statements(history.model)))
            except TooManySolutions:
                return
            limit = data.draw(st.integers(1, 4))
            then = data.draw(st.sampled_from(("", ", ?x.id DESC")))
            keys = f"ORDER BY ?x.metadata._updated_at DESC{then} LIMIT {limit}"
            where = data.draw(st.sampled_from(WHERES))
            first = data.draw(st.sampled_from(("", "?s.id, " if "?s" in where else "")))
            query = f"FIND({first}{SHOWN}) WHERE {{ {where} }} {keys}"
            note(query)
            answer = expected(query, history.model)
            response = history.nexus.execute_kip({"command": query})
            assert difference(query, answer, response) is None
