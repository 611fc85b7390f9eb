"""What is believed is what is left when all else is deleted.

The naive evaluator answers on the graph without the elements that are not believed, and without the
facts about them. ``KIPRDF_EXAMPLES`` sets how many graphs are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import kiprdf
from kiprdf.errors import KipError
from kiprdf.language import ast, bind, parse
from tests.long_runs import amount
from tests.oracle import Answer, Graph, TooManySolutions
from tests.oracle.answer import answer
from tests.oracle.check import check
from tests.oracle.evaluate import _check_identities, solutions
from tests.oracle.graph import proposition_id
from tests.properties.comparison import difference
from tests.properties.strategies import graphs, queries
from tests.properties.test_engine_equals_oracle import build
from tests.shortcuts import no_lookups, no_shortcuts
from tests.standard_sparql import standard_sparql

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[T]], T]

EACH = settings(max_examples=amount("EXAMPLES", 4), deadline=None)
TIMES = ("2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01")
MOMENTS = ("2019-06-01", "2021-01-01", "2022-06-01", "2024-01-01")

_GERMAN = {"@value": "retracted", "@language": "de"}
_status = st.sampled_from(("draft", "deprecated", "retracted", "active", "reviewed", "old"))
_time = st.sampled_from(TIMES)
marks: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.just({}),
    st.just({}),
    st.fixed_dictionaries({"status": _status}),
    st.fixed_dictionaries({"superseded": st.booleans() | st.just([True])}),
    st.fixed_dictionaries({"status": st.just(["new", "draft"]) | st.sampled_from((_GERMAN, 1))}),
    st.fixed_dictionaries({"superseded_by": st.sampled_from(("P:1", None))}),
    st.fixed_dictionaries({}, optional={"valid_from": _time, "valid_until": _time}),
    st.fixed_dictionaries({"valid_from": st.sampled_from((3, None, "soon"))}),
)


@dataclass(frozen=True)
class Case:
    graph: Graph
    queries: list[str]
    changed: str
    change: dict[str, Any]


@st.composite
def marked_cases(draw: Draw[Any]) -> Case:
    """A graph of which some elements are not believed, queries, and a change of one element."""
    graph = draw(graphs())
    for identifier in list(graph.elements()):
        graph.element(identifier)["metadata"] |= draw(marks)
    graph.define(types=("Period",), predicates=("valid_during",))
    for fact in list(graph.propositions):
        for _ in range(draw(st.sampled_from((0, 0, 0, 1, 2)))):
            start, end = draw(_time), draw(st.sampled_from((*TIMES, "..")))
            if start < end or end == "..":
                name, ends = f"{start}/{end}", {"from": start, "until": end}
                period = graph.concept("Period", name, ends)
                if proposition_id(fact, "valid_during", period) not in graph:
                    graph.proposition(fact, "valid_during", period, {}, draw(marks))
    asked = draw(st.lists(queries(graph), min_size=4, max_size=8))
    changed = draw(st.sampled_from(list(graph.elements())))
    return Case(graph, asked, changed, draw(marks) or {"status": "retracted"})


class Believed(Graph):
    """A graph at a moment; what defines its types and predicates need not be believed."""

    def __init__(self, graph: Graph, at: str) -> None:
        super().__init__()
        self._whole = graph
        gone = {i for i in graph.elements() if _is_marked(graph.element(i)["metadata"])}
        gone = _with_facts(graph, gone)
        gone |= {i for i in graph.elements() if i not in gone and not _is_valid(graph, i, gone, at)}
        gone = _with_facts(graph, gone)
        self.concepts = {i: c for i, c in graph.concepts.items() if i not in gone}
        self.propositions = {i: p for i, p in graph.propositions.items() if i not in gone}

    def is_type(self, name: str) -> bool:
        return self._whole.is_type(name)

    def is_predicate(self, name: str) -> bool:
        return self._whole.is_predicate(name)


def _is_marked(metadata: dict[str, Any]) -> bool:
    return (
        metadata.get("status") in ("draft", "deprecated", "retracted", ["new", "draft"], _GERMAN)
        or metadata.get("superseded") in (True, [True])
        or metadata.get("superseded_by") is not None
    )


def _with_facts(graph: Graph, gone: set[str]) -> set[str]:
    while True:
        more = {
            identifier
            for identifier, fact in graph.propositions.items()
            if fact["subject"] in gone or fact["object"] in gone
        } - gone
        if not more:
            return gone
        gone = gone | more


def _is_valid(graph: Graph, identifier: str, gone: set[str], at: str) -> bool:
    metadata = graph.element(identifier)["metadata"]
    start, end = metadata.get("valid_from"), metadata.get("valid_until")
    intervals = [(start, end)] if (start, end) != (None, None) else []
    if identifier in graph.propositions:
        for during, fact in graph.propositions.items():
            is_during = fact["predicate"] == "valid_during" and fact["subject"] == identifier
            if is_during and during not in gone:
                start, end = graph.concepts[fact["object"]]["name"].split("/")
                intervals.append((start, None if end == ".." else end))
    return not intervals or any(
        (start is None or (isinstance(start, str) and start <= at)) and (end is None or at < end)
        for start, end in intervals
    )


def expected(query: str, graph: Graph, at: str) -> Answer | str:
    """The answer on what is believed."""
    return answer_in(query, Believed(graph, at), graph)


def answer_in(query: str, left: Graph, graph: Graph) -> Answer | str:
    """The answer on what is left of a graph; named elements must exist in the graph."""
    find = bind(parse(query), {})
    assert isinstance(find, ast.Find)
    try:
        check(find, left)
        _check_identities(find.where, graph)
        return answer(find, solutions(find.where, left), left)
    except KipError as error:
        return error.code


@EACH
@given(case=marked_cases(), at=st.sampled_from(MOMENTS))
def test_what_is_believed_is_what_is_left_without_the_rest(case: Case, at: str) -> None:
    nexus = build(case.graph)
    _compare_all(nexus, case, at)
    element = case.graph.element(case.changed)
    element["metadata"] |= case.change
    target = "?x (id: :id)" if case.changed.startswith("P:") else "?x {id: :id}"
    command = f"UPDATE ?x SET METADATA :changes WHERE {{ {target} }}"
    written = {"command": command, "parameters": {"id": case.changed, "changes": case.change}}
    response = nexus.execute_kip(written)
    assert "error" not in response, response
    _compare_all(nexus, case, at)


@EACH
@given(case=marked_cases(), at=st.sampled_from(MOMENTS))
def test_another_engine_is_asked_for_what_is_believed(case: Case, at: str) -> None:
    nexus = build(case.graph)
    with standard_sparql():
        _compare_all(nexus, case, at, ways=())


Ways = Sequence[Callable[[], AbstractContextManager[None]]]


def _compare_all(
    nexus: kiprdf.Nexus, case: Case, at: str, ways: Ways = (no_lookups, no_shortcuts)
) -> None:
    """That a query is answered rightly, also when its text comes again, and in other ways."""
    for query in case.queries:
        try:
            right = expected(query, case.graph, at)
        except TooManySolutions:
            continue
        request = {"command": kiprdf.believed(query, at=at)}
        for way in (nullcontext, nullcontext, nullcontext, *ways):
            if way is not nullcontext:
                nexus._engine.statements.clear()
            with way():
                fault = difference(query, right, nexus.execute_kip_readonly(request))
            if fault:
                for written in case.graph.requests():
                    note(str(written))
                note(f"{query} at {at}, by {way.__name__}")
            assert fault is None
        nexus._engine.statements.clear()


@pytest.mark.parametrize("at", MOMENTS)
def test_the_test_has_graphs_of_which_a_part_is_believed(at: str) -> None:
    graph = Graph()
    graph.define(types=("T",), predicates=("likes", "valid_during"))
    one, other = graph.concept("T", "A"), graph.concept("T", "B", {}, {"valid_from": "2021-01-01"})
    fact = graph.proposition(one, "likes", other)
    graph.proposition(fact, "likes", one)
    assert len(Believed(graph, at).propositions) == (0 if at < "2021" else 2)
