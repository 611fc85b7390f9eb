"""A value under each operator and in each place of a WHERE: the answer is that of the evaluator.

Each question is asked with the value in the text, as a parameter, and in a list. Of the values,
each shape has two, and all with ``KIPRDF_EXAMPLES``.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

import kiprdf
from tests.long_runs import amount
from tests.oracle import Answer, Graph
from tests.properties.comparison import difference, expected
from tests.shortcuts import no_lookups

EVERY = 1 if amount("EXAMPLES", 10) > 10 else 7
XSD = "http://www.w3.org/2001/XMLSchema#"
STORED: list[Any] = [
    7, 7.0, 7.5, 0, -0.0, 8, True, False, None, "7", "open", "Open", "", "2026-01-02",
    "2026-01-02T00:00:00Z", [7, 8], ["open", 7], [], [[7]], [None, "x"], [True], {"n": 7},
    {"n": {"m": ["open"]}}, {"@value": "open", "@language": "en"},
    {"@value": "7.00", "@type": f"{XSD}decimal"}, {"@value": "2026-01-02", "@type": f"{XSD}date"},
    2**53, 2**53 + 1, 1e300, "é", [1, 2, 3, 4, 5, 6],
]  # fmt: skip
SOUGHT: list[Any] = [7, 7.0, 7.5, 0, -0.0, True, "7", "open", "", "2026-01-02", None, [7, 8], 2**53]
TASK = '?x {type: "Task"}'
LINK = '?l (?x, "owns", ?y)'
SHAPES = (
    "FIND(?x.name) WHERE { TASK FILTER(TEST(?x.attributes.v)) }",
    "FIND(?x.name) WHERE { TASK FILTER(TEST(?x.metadata.v) && !IS_NULL(?x.attributes.v)) }",
    "FIND(?x.name) WHERE { TASK FILTER(TEST(?x.attributes.v) || IS_NULL(?x.attributes.v)) }",
    "FIND(?x.name) WHERE { TASK FILTER(!(TEST(?x.attributes.v))) }",
    "FIND(?x.name) WHERE { TASK NOT { FILTER(TEST(?x.attributes.v)) } }",
    "FIND(?x.name) WHERE { TASK NOT { LINK FILTER(TEST(?l.metadata.v)) } }",
    "FIND(?x.name, ?y.name) WHERE { TASK OPTIONAL { LINK FILTER(TEST(?y.attributes.v)) } }",
    "FIND(?x.name) WHERE { TASK FILTER(TEST(?x.attributes.v)) UNION { TASK "
    "FILTER(TEST(?x.metadata.w)) } }",
    "FIND(?x.name, ?y.name) WHERE { LINK FILTER(TEST(?x.attributes.v)) }",
    "FIND(?x.name, ?y.name) WHERE { LINK FILTER(TEST(?y.attributes.v)) }",
    "FIND(?x.name, ?y.name) WHERE { LINK FILTER(TEST(?l.attributes.v)) }",
    "FIND(?x.name) WHERE { LINK FILTER(TEST(?l.metadata.v) && TEST(?x.attributes.v)) }",
    "FIND(?x.name, ?y.name) WHERE { ?l (?x, ?p, ?y) FILTER(TEST(?l.metadata.v)) }",
    'FIND(?x.name) WHERE { ?l (?x, "owns" | "knows", ?y) FILTER(TEST(?l.metadata.v)) }',
    "FIND(?z.name) WHERE { (?z, \"said\", LINK) FILTER(TEST(?l.metadata.v)) }",
    'FIND(?z.name) WHERE { ?m (?z, "said", (?x, "owns", ?y)) FILTER(TEST(?m.attributes.v)) }',
    'FIND(?y.name) WHERE { TASK (?x, "owns"{1,2}, ?y) FILTER(TEST(?x.attributes.v)) }',
    'FIND(?x.name) WHERE { (?x, "owns"{1,}, ?y) FILTER(TEST(?y.attributes.v)) }',
    "FIND(COUNT(?x)) WHERE { TASK FILTER(TEST(?x.attributes.v)) }",
    "FIND(?x.attributes.w, COUNT(?x)) WHERE { TASK FILTER(TEST(?x.attributes.v)) }",
    "FIND(?x.name, ?x.attributes.w) WHERE { LINK FILTER(TEST(?l.metadata.v)) } "
    "ORDER BY ?x.attributes.w DESC LIMIT 3",
    "FIND(?x.name) WHERE { ?x {name: \"t3\"} LINK FILTER(TEST(?l.metadata.v)) }",
    "FIND(?x.name) WHERE { TASK FILTER(TEST(?x.attributes.v)) FILTER(TEST(?x.metadata.v)) }",
)  # fmt: skip


@cache
def graph() -> Graph:
    graph = Graph()
    graph.define(types=("Task", "Person"), predicates=("owns", "knows", "said"))
    tasks = []
    for number, value in enumerate(STORED):
        maps = {"v": value, "w": number % 3}, {"v": value, "w": value}
        tasks.append(graph.concept("Task", f"t{number}", *maps))
    tasks.append(graph.concept("Task", "none"))
    person = graph.concept("Person", "p", {"v": 7})
    for number, value in enumerate(STORED):
        other = tasks[(number * 7 + 1) % len(STORED)]
        maps = {"v": value}, {"v": value}
        if other != tasks[number]:
            link = graph.proposition(tasks[number], "owns", other, *maps)
            graph.proposition(person, "said", link, {"v": value})
        graph.proposition(tasks[number], "knows", person, None, {"v": value})
    return graph


@cache
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    for request in graph().requests():
        response = nexus.execute_kip(request)
        assert "error" not in response, response
    return nexus


def question(shape: str, test: str) -> str:
    """A shape with ``test`` for each ``TEST(path)``, in which ``{}`` is the path."""
    before, *rest = shape.replace("TASK", TASK).replace("LINK", LINK).split("TEST(")
    for part in rest:
        path, after = part.split(")", 1)
        before += test.replace("{}", path) + after
    return before


@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_a_value_in_a_shape(number: int) -> None:
    shape = SHAPES[number]
    for value in SOUGHT[number % EVERY :: EVERY]:
        text = json.dumps(value)
        forms: list[tuple[str, str, dict[str, Any]]] = []
        if not isinstance(value, list):
            others = [value, "open", 8]
            listed = json.dumps(others)
            forms += [
                (f"{{}} == {text}", "{} == :v", {"v": value}),
                (f"IN({text}, {{}})", "IN(:v, {})", {"v": value}),
                (f"IN({{}}, {listed})", "IN({}, :l)", {"l": others}),
                (f"IN({{}}, [{text}, {text}])", "IN({}, [:v, :w])", {"v": value, "w": value}),
            ]
        else:
            forms.append((f"{{}} == {text}", "{} == :v", {"v": value}))
        for written, sent, parameters in forms:
            query = question(shape, written)
            answer = expected(query, graph())
            assert isinstance(answer, Answer), (query, answer)
            for text_, sent_with in ((query, {}), (question(shape, sent), parameters)):
                for _ in range(2):
                    _compare(text_, sent_with, query, answer)
                with no_lookups():
                    nexus()._engine.statements.clear()
                    _compare(text_, sent_with, query, answer)
                nexus()._engine.statements.clear()


def _compare(text: str, parameters: dict[str, Any], query: str, answer: Answer) -> None:
    response = nexus().execute_kip_readonly({"command": text, "parameters": parameters})
    fault = difference(query, answer, response)
    assert fault is None, (text, parameters, fault)
