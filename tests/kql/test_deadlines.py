"""Which queries check their deadline, and where."""

from __future__ import annotations

import re
from typing import cast

import pytest

from kiprdf.kql.optimize.cardinality import is_anchored, is_linear, products
from kiprdf.kql.optimize.deadlines import add_deadline_checks
from kiprdf.kql.plan import plan_find
from kiprdf.language import ast, bind, parse
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.algebra import Pattern, Select
from kiprdf.sparql.text import render

IRIS = Iris("urn:kip:nexus/")


def pattern(command: str) -> Pattern:
    return plan_find(cast(ast.Find, bind(parse(command), {})), IRIS).select.pattern


@pytest.mark.parametrize(
    "where",
    [
        '?d {type: "Drug", name: "Aspirin"}',
        '?d {type: "Drug"} (?d, "treats", ?s)',
        '?d {type: "Drug"} (?d, "treats", ?s) ?s {type: "Symptom"}',
        '?l (?d, "treats", ?s) FILTER(?l.metadata.confidence > 0.5)',
        '({type: "Drug", name: "Aspirin"}, "treats", ?s) (?d, "treats", ?s)',
        '(?u, "stated", (?d, "treats", ?s))',
        '?d {type: "Drug"} NOT { (?d, "treats", ?s) }',
        '?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) }',
        '?d {type: "Drug"} UNION { ?s {type: "Symptom"} }',
        "?l (?d, ?p, ?s)",
        '({type: "Drug", name: "Aspirin"}, "knows"{1,}, ?d) (?d, "knows", ?e)',
    ],
)
def test_a_query_that_returns_no_more_than_it_reads_is_linear(where: str) -> None:
    assert is_linear(pattern(f"FIND(COUNT(?d)) WHERE {{ {where} }}"))


@pytest.mark.parametrize(
    "where",
    [
        '?d {type: "Drug"} ?s {type: "Symptom"}',
        '(?d, "treats", ?s) (?e, "treats", ?s)',
        '({type: "Drug", name: "Aspirin"}, "knows", ?d) (?d, "knows", ?e) (?e, "knows", ?f)',
        '(?d, "knows"{1,3}, ?s)',
        '(?x, "knows"{1,}, ?d)',
        # One branch of a range that begins at 1 reads nothing.
        '({type: "Drug"}, "knows"{1,3}, ?d)',
        # A link binds all of these, but the engine begins where two facts meet.
        '?l (?d, "likes", ?e) (?f, "knows", ?g) ?l (?g, "likes", (?d, "knows", ?f))',
        '?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) (?e, "treats", ?s) }',
        '?d {type: "Drug"} NOT { (?d, "treats", ?s) (?e, "treats", ?s) }',
        '?d {type: "Drug"} UNION { (?d, "treats", ?s) (?e, "treats", ?s) }',
    ],
)
def test_a_query_that_may_return_more_is_not_linear(where: str) -> None:
    assert not is_linear(pattern(f"FIND(COUNT(?d)) WHERE {{ {where} }}"))


@pytest.mark.parametrize(("items", "expected"), [(100, True), (101, False)])
def test_a_long_list_is_compared_with_each_solution(items: int, expected: bool) -> None:
    listed = ", ".join(f'"{item}"' for item in range(items))
    where = f'?d {{type: "Drug"}} FILTER(IN(?d.name, [{listed}]))'
    assert is_linear(pattern(f"FIND(?d) WHERE {{ {where} }}")) is expected


def test_the_deadline_is_checked_where_triples_are_joined() -> None:
    where = pattern('FIND(?a, ?d) WHERE { (?a, "knows", ?b) (?b, "knows", ?c) (?c, "knows", ?d) }')
    text = render(Select((), add_deadline_checks(where)))
    checked = re.findall(r"FILTER\(<urn:kip:vocab/function/check-deadline>\((\?\w+)\)\)", text)
    assert checked == ["?b", "?c"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        # Each alternative starts what comes after it.
        ('(?a, "knows" | "likes"{1,2}, ?b) OPTIONAL { (?a, "knows"{2}, ?c) }', ["?a", "?b"]),
        # Each clause with alternatives starts the next.
        ('(?a, "knows" | "likes"{2}, ?b) (?b, "knows" | "likes"{2}, ?c)', ["?a", "?b"]),
        # NOT runs again for each solution before it.
        ('?a {type: "Drug"} NOT { (?b, "knows"{2}, ?c) }', ["?a", "?b"]),
        (
            '?a {type: "Drug"} UNION { ?b {type: "User"} } NOT { (?c, "knows"{2}, ?c) }',
            ["?a", "?b"],
        ),
    ],
)
def test_the_deadline_is_checked_before_a_stage_starts_again(
    where: str, expected: list[str]
) -> None:
    text = render(Select((), add_deadline_checks(pattern(f"FIND(COUNT(?a)) WHERE {{ {where} }}"))))
    checked = re.findall(r"FILTER\(<urn:kip:vocab/function/check-deadline>\((\?\w+)\)\)", text)
    assert set(expected) <= set(checked)


def test_the_levels_of_hops_are_counted() -> None:
    where = pattern('FIND(?a, ?b) WHERE { (?a, "knows"{3}, ?b) }')
    text = render(Select((), add_deadline_checks(where)))
    assert text.count("FILTER(<urn:kip:vocab/function/count-hop>(") == 2


@pytest.mark.parametrize(
    ("shown", "where", "number"),
    [
        ("?d, ?s", '?d {type: "Drug"} ?s {type: "Symptom"}', 1),
        ("?d, ?s, ?e", '?d {type: "Drug"} ?s {type: "Symptom"} ?e {type: "Drug"}', 2),
        ("?d, ?s", '?d {type: "Drug"} ?s {type: "Symptom"} (?d, "treats", ?s)', 0),
        ("?d, ?s", '?d {type: "Drug"} OPTIONAL { ?s {type: "Symptom"} }', 1),
        ("?d, ?s", '?d {type: "Drug"} UNION { ?d {type: "Drug"} ?s {type: "Symptom"} }', 1),
        ("?d", '?d {type: "Drug"} NOT { ?s {type: "Symptom"} ?e {type: "Drug"} }', 0),
        ("?d", '?d {type: "Drug"} ?s {type: "Symptom"}', 0),
        ("?d", '({type: "Drug", name: "Aspirin"}, "knows"{1,3}, ?d)', 0),
    ],
)
def test_products_are_detected(shown: str, where: str, number: int) -> None:
    assert len(products(pattern(f"FIND({shown}) WHERE {{ {where} }}"))) == number


@pytest.mark.parametrize(
    ("where", "anchored"),
    [
        ('({type: "Drug", name: "Aspirin"}, "knows"{1,3}, ?d)', True),
        ('(?d, "knows"{1,3}, {type: "Drug", name: "Aspirin"})', True),
        ('?d {type: "Drug"} (?d, "knows"{1,3}, ?e)', False),
        ('(?d, "treats", ?s) (?e, "treats", ?s)', False),
    ],
)
def test_a_pattern_that_starts_at_a_named_element_is_anchored(where: str, anchored: bool) -> None:
    assert is_anchored(pattern(f"FIND(?d) WHERE {{ {where} }}")) is anchored
