"""What a nexus answers with ``entail`` is what the oracle matches in all that follows.

The oracle makes everything that follows, and knows no paths. ``KIPRDF_ENTAIL`` sets how many graphs
are tried, with up to eight questions each, before and after a definition has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy, deepcopy
from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

import kiprdf
from tests.long_runs import amount
from tests.oracle import Answer, Graph, TooManySolutions
from tests.oracle.entailed import Entailed
from tests.properties.comparison import difference
from tests.properties.entailed import RULES, Case, Entail, ruled_cases
from tests.properties.strategies import PREDICATES, TYPES
from tests.properties.test_believed import MOMENTS, Believed, answer_in, marks
from tests.properties.test_engine_equals_oracle import build
from tests.properties.test_why import part
from tests.shortcuts import no_lookups, no_shortcuts
from tests.standard_sparql import standard_sparql

EACH = settings(max_examples=amount("ENTAIL", 2))
Ways = Sequence[Callable[[], AbstractContextManager[Any]]]


@EACH
@given(case=ruled_cases())
def test_answers_are_those_of_the_closure(case: Case) -> None:
    nexus = build(case.graph)
    compare_all(nexus, case, (nullcontext, nullcontext, no_lookups, no_shortcuts))
    change(nexus, case)
    compare_all(nexus, case, (nullcontext,))


@EACH
@given(case=ruled_cases())
def test_another_engine_answers_with_what_follows(case: Case) -> None:
    nexus = build(case.graph)
    with standard_sparql():
        compare_all(nexus, case, (nullcontext,))


@EACH
@given(case=ruled_cases())
def test_an_earlier_state_answers_by_its_definitions(case: Case) -> None:
    nexus = build(case.graph, history=True)
    before, earlier = nexus.info()["commit"], deepcopy(case)
    change(nexus, case)
    compare_all(nexus, case, (nullcontext,))
    with nexus.at(before) as past:
        compare_all(past, earlier, (nullcontext, no_lookups))
    compare_all(nexus, case, (nullcontext,))


@EACH
@given(case=ruled_cases())
def test_a_view_answers_with_what_follows_from_all_its_members(case: Case) -> None:
    graph = case.graph
    # A fact of one member may rest on a definition, and on a rule, that only the other one has.
    facts = part(graph, list(graph.propositions)[::2])
    types = [name for name in TYPES if graph.is_type(name)]
    facts.define(types=tuple(types), predicates=(*PREDICATES, *RULES))
    others = Graph()
    others.concepts = graph.concepts
    others.propositions = part(graph, list(graph.propositions)[1::2]).propositions
    nexus = kiprdf.View([build(others), build(facts)])
    compare_all(nexus, case, (nullcontext, no_lookups))


@EACH
@given(case=ruled_cases(), data=st.data())
def test_what_is_not_believed_has_no_consequences(case: Case, data: st.DataObject) -> None:
    """Also a rule may be retracted: a proposition of a hierarchy, or a definition."""
    at = data.draw(st.sampled_from(MOMENTS))
    for identifier in case.graph.elements():
        case.graph.element(identifier)["metadata"] |= data.draw(marks)
    nexus = build(case.graph)
    compare_all(nexus, case, (nullcontext, no_lookups, no_shortcuts), at)
    with standard_sparql():
        compare_all(nexus, case, (nullcontext,), at)


@EACH
@given(case=ruled_cases())
def test_pages_are_those_of_what_follows(case: Case) -> None:
    nexus = build(case.graph)
    for query in case.queries:
        right = answer_of(query, case.graph, case.entail)
        if not isinstance(right, Answer) or right.scalar or right.limit is not None:
            continue
        rows: list[Any] = []
        request: dict[str, Any] = {"command": f"{query} LIMIT 2", "entail": case.entail}
        while request:
            response = nexus.execute_kip_readonly(request)
            columns = response["result"] if right.width > 1 else [response["result"]]
            rows += zip(*columns, strict=True)
            cursor = response.get("next_cursor")
            command = f'{query} LIMIT 2 CURSOR "{cursor}"'
            request = {**request, "command": command} if cursor else {}
        columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * right.width
        note(query)
        result = columns if right.width > 1 else columns[0]
        assert difference(query, right, {"result": result}) is None


def compare_all(nexus: kiprdf.Nexus, case: Case, ways: Ways, at: str | None = None) -> None:
    """That each question is answered rightly with what follows, and without, in several ways."""
    for query in case.queries:
        for entail in (case.entail, None, case.entail):
            right = answer_of(query, case.graph, entail, at)
            if right is None:
                continue
            command = query if at is None else kiprdf.believed(query, at=at)
            request = {"command": command} | ({"entail": entail} if entail else {})
            for way in ways if entail else ways[:1]:
                if way is not nullcontext:
                    nexus._engine.statements.clear()
                with way():
                    fault = difference(query, right, nexus.execute_kip_readonly(request))
                if fault:
                    for written in case.graph.requests():
                        note(str(written))
                    note(f"{request} by {way.__name__}")
                assert fault is None


def answer_of(
    query: str, graph: Graph, entail: Entail | None, at: str | None = None
) -> Answer | str | None:
    """The oracle's answer, in what is believed at a time; None where it takes too long."""
    left = graph if at is None else Believed(graph, at)
    if entail:
        left = Entailed(left, same_as=entail == "same_as")
    # A named element must exist, believed or not; of which types it is follows from what is left.
    named = copy(left)
    named.concepts, named.propositions = graph.concepts, graph.propositions
    try:
        return answer_in(query, left, named)
    except TooManySolutions:
        return None


def change(nexus: kiprdf.Nexus, case: Case) -> None:
    """Change a definition, in the nexus and in the graph."""
    command = "UPDATE ?x SET ATTRIBUTES :changes WHERE { ?x {id: :id} }"
    parameters = {"id": case.changed, "changes": case.changes}
    response = nexus.execute_kip({"command": command, "parameters": parameters})
    assert "error" not in response, response
    case.graph.concepts[case.changed]["attributes"] |= case.changes
