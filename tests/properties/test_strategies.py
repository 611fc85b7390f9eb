"""What the strategies promise, checked without an engine."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kiprdf.language import ast, bind, parse, to_text
from tests.oracle import Answer, Graph, TooManySolutions, evaluate
from tests.oracle.upsert import upsert
from tests.properties.comparison import difference, expected, frozen
from tests.properties.strategies import Case, cases, graphs

EASY = settings(
    max_examples=5,
)


@EASY
@given(case=cases())
def test_queries_are_refused_only_for_dangling_identities(case: Case) -> None:
    for query in case.queries:
        try:
            answer = expected(query, case.graph)
        except TooManySolutions:
            continue
        assert isinstance(answer, Answer) or answer == "KIP_3002"


@EASY
@given(case=cases())
def test_queries_survive_printing(case: Case) -> None:
    for query in case.queries:
        assert parse(to_text(parse(query))) == parse(query)


@EASY
@given(case=cases())
def test_the_oracle_agrees_with_itself(case: Case) -> None:
    for query in case.queries:
        try:
            answer = expected(query, case.graph)
        except TooManySolutions:
            continue
        if isinstance(answer, Answer):
            assert difference(query, answer, {"result": answer.result}) is None


@EASY
@given(graph=graphs())
def test_requests_create_the_graph(graph: Graph) -> None:
    rebuilt = Graph()
    for request in graph.requests():
        upsert(rebuilt, _bound(request))
    assert frozen(rebuilt.concepts) == frozen(graph.concepts)
    assert frozen(rebuilt.propositions) == frozen(graph.propositions)


def _bound(request: dict[str, Any]) -> ast.Upsert:
    command = bind(parse(request["command"]), request["parameters"])
    assert isinstance(command, ast.Upsert)
    return command


@EASY
@given(graph=graphs(), predicate=st.sampled_from(("likes", "knows", "says")))
def test_a_hop_range_is_the_union_of_its_lengths(graph: Graph, predicate: str) -> None:
    text = 'FIND(?x, ?y) WHERE {{ (?x, "{}"{}, ?y) }}'
    whole = _rows(text.format(predicate, "{0,3}"), graph)
    parts = [_rows(text.format(predicate, f"{{{length}}}"), graph) for length in range(4)]
    assert whole == set().union(*parts)


def _rows(query: str, graph: Graph) -> set[object]:
    find = parse(query)
    assert isinstance(find, ast.Find)
    return {frozen(list(row.values)) for row in evaluate(find, graph).rows}
