"""Size budgets, at the edge and one past it. Past them nothing is rendered."""

from __future__ import annotations

from typing import Any

import pytest

from kiprdf.errors import KipError
from kiprdf.language import bind, parse
from kiprdf.semantics import Catalog, check

CATALOG = Catalog(frozenset(("T",)), frozenset(("p", *(f"p{i}" for i in range(70)))))


def verdict(clauses: str, **parameters: Any) -> str | None:
    return verdict_of(f"FIND(?x) WHERE {{ {clauses} }}", **parameters)


def verdict_of(command: str, **parameters: Any) -> str | None:
    try:
        check(bind(parse(command), parameters), CATALOG)
    except KipError as error:
        return error.code
    return None


def clauses(count: int, form: str = '?x {type: "T"} ') -> str:
    return form * count


@pytest.mark.parametrize(("count", "code"), [(64, None), (65, "KIP_4002")])
def test_a_where_has_64_clauses(count: int, code: str | None) -> None:
    assert verdict(clauses(count)) == code


@pytest.mark.parametrize(("count", "code"), [(64, None), (65, "KIP_4002")])
@pytest.mark.parametrize(
    "command",
    ['FIND({}) WHERE {{ ?x {{type: "T"}} }}', 'FIND(?x) WHERE {{ ?x {{type: "T"}} }} ORDER BY {}'],
)
def test_a_find_has_64_expressions_and_64_keys(command: str, count: int, code: str | None) -> None:
    assert verdict_of(command.format(", ".join(["?x.name"] * count))) == code


@pytest.mark.parametrize(("count", "code"), [(62, None), (63, "KIP_4002")])
@pytest.mark.parametrize("kind", ["NOT", "OPTIONAL", "UNION"])
def test_a_block_and_its_clauses_are_counted_together(
    kind: str, count: int, code: str | None
) -> None:
    assert verdict(f'?x {{type: "T"}} {kind} {{ {clauses(count)} }}') == code


@pytest.mark.parametrize(("count", "code"), [(64, None), (65, "KIP_4002")])
def test_propositions_as_endpoints_count_as_clauses(count: int, code: str | None) -> None:
    # Two nested in one, so three each; the rest is filled up.
    nested = '((?x, "p", ?y), "p", (?x, "p", ?z)) '
    assert verdict(nested * 21 + clauses(count - 63)) == code


@pytest.mark.parametrize(("count", "code"), [(100, None), (101, "KIP_4002")])
def test_the_filters_have_200_operands(count: int, code: str | None) -> None:
    condition = " || ".join(['?x.name == "a"'] * count)
    assert verdict(f'?x {{type: "T"}} FILTER({condition})') == code


def test_operands_of_all_filters_count_together() -> None:
    half = "FILTER(" + " || ".join(['?x.name == "a"'] * 51) + ") "
    assert verdict('?x {type: "T"} ' + half * 2) == "KIP_4002"


def test_operands_inside_not_count() -> None:
    half = "FILTER(" + " || ".join(['?x.name == "a"'] * 51) + ") "
    assert verdict('?x {type: "T"} ' + half + "NOT { " + half + "}") == "KIP_4002"


HOPS = [
    ("{64}", None),
    ("{65}", "KIP_4002"),
    ("{1,64}", None),
    ("{1,65}", "KIP_4002"),
    ("{64,}", None),
    ("{65,}", "KIP_4002"),
    ("{0,999999999}", "KIP_4002"),
]


@pytest.mark.parametrize(("hops", "code"), HOPS)
def test_a_hop_range_ends_at_64(hops: str, code: str | None) -> None:
    assert verdict(f'(?x, "p"{hops}, ?y)') == code


@pytest.mark.parametrize(("hops", "code"), HOPS)
def test_a_hop_range_of_an_endpoint_ends_at_64(hops: str, code: str | None) -> None:
    assert verdict(f'(?x, "p", (?y, "p"{hops}, ?z))') == code


def test_a_hop_range_inside_not_ends_at_64() -> None:
    assert verdict('?x {type: "T"} NOT { (?x, "p"{1,65}, ?y) }') == "KIP_4002"


@pytest.mark.parametrize(("count", "code"), [(64, None), (65, "KIP_4002")])
def test_a_clause_has_64_alternatives(count: int, code: str | None) -> None:
    names = " | ".join(f'"p{i}"' for i in range(count))
    assert verdict(f"(?x, {names}, ?y)") == code


@pytest.mark.parametrize(("count", "code"), [(10_000, None), (10_001, "KIP_4002")])
def test_a_list_of_in_has_10000_items(count: int, code: str | None) -> None:
    assert verdict('?x {type: "T"} FILTER(IN(?x.name, :v))', v=list(range(count))) == code


def test_a_long_list_below_a_negation_is_refused() -> None:
    text = '?x {type: "T"} FILTER(true || !IN(?x.name, :v))'
    assert verdict(text, v=[1] * 10_001) == "KIP_4002"


@pytest.mark.parametrize(
    "command",
    [
        "DELETE CONCEPT ?x DETACH WHERE { %s }",
        'DELETE ATTRIBUTES {"a"} FROM ?x WHERE { %s }',
        'DELETE METADATA {"a"} FROM ?x WHERE { %s }',
    ],
)
def test_the_where_of_a_delete_is_bounded(command: str) -> None:
    with pytest.raises(KipError) as caught:
        check(bind(parse(command % clauses(65)), {}), CATALOG)
    assert caught.value.code == "KIP_4002"


def test_a_refused_where_points_at_the_first_clause_too_many() -> None:
    text = "FIND(?x) WHERE { " + clauses(65, '?x {type: "T"}\n') + "}"
    with pytest.raises(KipError) as caught:
        check(bind(parse(text), {}), CATALOG)
    assert caught.value.in_source(text).position == (65, 1)
