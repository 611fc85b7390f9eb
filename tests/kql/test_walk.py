"""What is looked up by index instead of asked in SPARQL, and that both find the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from pyoxigraph import Literal, Variable

import kiprdf
from kiprdf.kql import expressions, find
from kiprdf.kql.conditions import Unsure, judge
from kiprdf.kql.find import Query, plan
from kiprdf.kql.walk import MOST_READS
from kiprdf.language import bind, parse
from kiprdf.language.parameters import from_json
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import to_term
from kiprdf.sparql.algebra import UNIT, Expression, Extend, Pattern, Select
from kiprdf.sparql.text import render
from kiprdf.store import OxigraphStore
from tests.nexus.support import medical
from tests.shortcuts import no_walks

IRIS = Iris("urn:kip:nexus/")
ASPIRIN = '{type: "Drug", name: "Aspirin"}'


def query(where: str, shown: str = "?s") -> Query:
    command = bind(parse(f"FIND({shown}) WHERE {{ {where} }}"), {})
    return Query(plan(command, IRIS), IRIS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "where",
    [
        '?s {type: "Drug", name: "Aspirin"}',
        '?s {name: "Aspirin"}',
        f'({ASPIRIN}, "treats", ?s)',
        f'(?s, "treats", {ASPIRIN})',
        f'({ASPIRIN}, "treats" | "eases", ?s)',
        f'({ASPIRIN}, "treats"{{2,}}, ?s)',
        f'({ASPIRIN}, "treats"{{0,3}}, ?s)',
        f"?s ({ASPIRIN}, ?p, ?x)",
        f'(?s, "stated", ({ASPIRIN}, "treats", ?x))',
        f'({ASPIRIN}, "treats", ?s) OPTIONAL {{ (?s, "broader", ?b) }} NOT {{ (?b, "eases", ?s) }}',
        f'({ASPIRIN}, "treats", ?s) UNION {{ ({ASPIRIN}, "eases", ?s) }}',
        f'({ASPIRIN}, "treats", ?s) FILTER(?s.attributes.x > 3 || IS_NULL(?s.metadata.y))',
        f'({ASPIRIN}, "treats", ?s) FILTER(IN(?s.name, ["a", "b"]) && !STARTS_WITH(?s.type, "S"))',
        '?s {type: "Drug"} FILTER(?s.name == "Aspirin")',
    ],
)
def test_what_begins_at_a_named_element_is_walked(where: str) -> None:
    assert query(where).walk is not None


@pytest.mark.parametrize(
    "where",
    [
        '?s {type: "Drug"}',
        '(?s, "treats", ?x)',
        '?s (?x, "treats", ?y)',
        f'?s {{type: "Drug"}} ({ASPIRIN}, "treats", ?x)',
        f'({ASPIRIN}, "treats", ?s) OPTIONAL {{ ?x {{type: "Drug"}} }}',
        f'({ASPIRIN}, "treats", ?s) FILTER(REGEX(?s.name, "a.c"))',
        f'({ASPIRIN}, "treats", ?s) FILTER(?s.id == "x")',
        f'({ASPIRIN}, "treats", ?s) FILTER(IN(?s.attributes.n, {list(range(33))}))',
    ],
)
def test_what_does_not_is_asked(where: str) -> None:
    assert query(where).walk is None


@pytest.fixture
def hub() -> Iterator[kiprdf.Nexus]:
    """An element with more facts than a walk reads."""
    with medical() as nexus:
        facts = " ".join(
            f'CONCEPT {{ {{type: "Symptom", name: "S{number}"}} '
            f'SET PROPOSITIONS {{ ("treats", {{type: "Drug", name: "Aspirin"}}) }} }}'
            for number in range(MOST_READS)
        )
        nexus.execute(f"UPSERT {{ {facts} }}")
        yield nexus


def test_a_walk_that_grows_ends_and_the_engine_answers(hub: kiprdf.Nexus) -> None:
    command = f'FIND(?s.name) WHERE {{ (?s, "treats", {ASPIRIN}) }}'
    for _ in range(3):
        assert sorted(hub.execute(command)) == sorted(f"S{n}" for n in range(MOST_READS))
    assert hub.execute(f'FIND(COUNT(?s)) WHERE {{ (?s, "treats", {ASPIRIN}) }}') == MOST_READS


def test_solutions_that_are_found_without_a_look_are_counted_too() -> None:
    nexus = medical()
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "next"} } }')
    ring = [f'CONCEPT ?c{n} {{ {{type: "Symptom", name: "R{n}"}} }}' for n in range(40)]
    ring += [f'PROPOSITION {{ (?c{n}, "next", ?c{(n + 1) % 40}) }}' for n in range(40)]
    nexus.execute(f"UPSERT {{ {' '.join(ring)} }}")
    first = '{type: "Symptom", name: "R0"}'
    where = f'({first}, "next"{{1,}}, ?a) (?a, "next"{{1,}}, ?b)'
    asked = query(where, "COUNT(?b)")
    assert asked.walk is not None
    assert asked.walk.rows(nexus._store, {}) is None
    assert nexus.execute(f"FIND(COUNT(?b)) WHERE {{ {where} }}") == 40 * 40


def test_the_pages_of_a_walk_are_those_of_the_engine(hub: kiprdf.Nexus) -> None:
    command = f'FIND(?s.name) WHERE {{ ({ASPIRIN}, "treats", ?s) }} LIMIT 1'
    first = hub.answer(command)
    second = hub.answer(f'{command} CURSOR "{first.next_cursor}"')
    assert sorted(first.result + second.result) == ["Fever", "Headache"]
    assert second.next_cursor is None


def test_a_walk_keeps_to_a_budget_that_is_smaller() -> None:
    nexus = medical()
    command = f'FIND(?s.name) WHERE {{ ({ASPIRIN}, "treats", ?s) }}'
    with nexus.limited(max_rows=1), pytest.raises(kiprdf.KipError, match="KIP_4002"):
        nexus.execute(command)
    with nexus.limited(timeout_s=1e-9), pytest.raises(kiprdf.KipError, match="KIP_4001"):
        nexus.execute(command)


def test_a_walk_counts_as_the_engine_does() -> None:
    nexus = medical()
    where = f'({ASPIRIN}, ?p, ?s) OPTIONAL {{ (?u, "stated", ?s) }}'
    for shown in ("COUNT(?s)", "COUNT(DISTINCT ?p)", "?p, COUNT(?s)", "?s.type, COUNT(?u)"):
        walked = nexus.execute(f"FIND({shown}) WHERE {{ {where} }}")
        with no_walks():
            assert nexus.execute(f"FIND({shown})  WHERE {{ {where} }}") == walked
    assert nexus.execute(f"FIND(COUNT(?s)) WHERE {{ ({ASPIRIN}, ?p, ?s) }}") == 2
    assert nexus.execute(f'FIND(COUNT(?x)) WHERE {{ ({ASPIRIN}, "stated", ?x) }}') == 0


# Conditions --------------------------------------------------------------------------------------

UNBOUND = object()
VALUES: list[Any] = [
    UNBOUND, None, True, False, 0, 1, -1, 3, 1.0, 0.5, -0.0, 3.0, 1e300, 2**53, 2**53 + 1,
    float(2**53), -(2**63), "", "a", "B", "é", "1", "true", "😀", "\uffff", [1], {"a": 1},
    {"@value": "a", "@language": "de"}, {"@value": "1", "@type": "http://example.org/t"},
]  # fmt: skip
X, Y = expressions.ValueOperand(Variable("x")), expressions.ValueOperand(Variable("y"))


def conditions(literal: Any) -> Iterator[Expression]:
    """What FILTERs compile to, with one value or two in it."""
    written = () if literal is UNBOUND else (expressions.LiteralOperand(to_term(literal)),)
    for other in (Y, *written):
        for operator in ("==", "!=", "<", "<=", ">", ">="):
            yield expressions.compare(operator, X, other)  # type: ignore[arg-type]
    for operand in written:
        for name in ("CONTAINS", "STARTS_WITH", "ENDS_WITH"):
            yield expressions.string_test(name, X, operand)
        yield expressions.member(X, (from_json(literal), from_json("a")))
    yield expressions.is_null(X)
    yield expressions.truth(X)


def solution(x: Any, y: Any) -> dict[Variable, Any]:
    given = {Variable("x"): x, Variable("y"): y}
    return {name: to_term(value) for name, value in given.items() if value is not UNBOUND}


def by_the_engine(store: OxigraphStore, condition: Expression, given: dict[Variable, Any]) -> bool:
    pattern: Pattern = UNIT
    for name, term in given.items():
        pattern = Extend(pattern, name, term)
    found = Variable("found")
    ((answer,),) = store.select(render(Select((found,), Extend(pattern, found, condition))))
    assert isinstance(answer, Literal), condition
    return answer.value == "true"


def test_a_condition_is_judged_as_the_engine_judges_it() -> None:
    store = OxigraphStore.memory()
    judged = 0
    for x, y in itertools.product(VALUES, repeat=2):
        for condition in conditions(y):
            given = solution(x, y)
            cells: list[Any] = []

            def slot(term: Any, cells: list[Any] = cells, given: Any = given) -> int:
                cells.append(given.get(term) if isinstance(term, Variable) else term)
                return len(cells) - 1

            try:
                found = judge(condition, slot)(cells)
            except Unsure:
                continue
            judged += 1
            assert found is by_the_engine(store, condition, given), (condition, x, y)
    assert judged > 3_500


def test_no_walks_asks_the_engine() -> None:
    assert find.walk is not None
    with no_walks():
        assert query(f'({ASPIRIN}, "treats", ?s)').walk is None
