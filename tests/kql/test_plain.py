"""Which patterns an engine that confuses nested groups is given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kiprdf.kql.plan import Plan, plan_find
from kiprdf.language import ast, parse
from kiprdf.rdf.iris import Iris
from kiprdf.store.connecting import ENGINES

ABILITIES = replace(ENGINES["virtuoso"], nested_groups=False)


def _plan(where: str, shown: str = "?d") -> Plan:
    find = parse(f"FIND({shown}) WHERE {{ {where} }}")
    assert isinstance(find, ast.Find)
    return plan_find(find, Iris("urn:kip:nexus/"), abilities=ABILITIES)


def _is_plain(where: str) -> bool:
    return _plan(where).is_plain({})


@pytest.mark.parametrize(
    "where",
    [
        '?d {type: "Drug"} FILTER(?d.attributes.risk > 2 && ?d.name != "é")',
        '?d {type: "Drug", name: "Aspirin"} OPTIONAL { (?d, "treats", ?s) }',
        '(?d, "treats", ?s) NOT { (?d, "is_a", {name: "NSAID"}) }',
        '?d {type: "Drug"} NOT { (?d, "treats", ?e) FILTER(?e.name == "Rash") }',
        '(?d, "treats", {name: "A"}) UNION { (?d, "treats", {name: "B"}) }',
        '({type: "Drug", name: "Aspirin"}, "is_a"{1,}, ?d)',
        '({type: "Drug", name: "Aspirin"}, "is_a"{0,}, ?d)',
        '({type: "Drug", name: "Aspirin"}, "treats", ?c) (?c, "is_a"{2,}, ?d)',
        '(?d, "is_a"{2,3}, ?c)',
        '?d {type: "Drug"} FILTER(REGEX(?d.name, "^A(b|c)$"))',
        '?d {type: "Drug", name: "A"} OPTIONAL { (?d, "treats", ?s) } FILTER(IS_NULL(?s))',
        '?d {type: "Drug", name: "A"} FILTER(?d.attributes.risk > 2)',
        '?d {type: "D"} OPTIONAL { (?d, "is_a", ?e) } FILTER(?e.attributes.a < ?d.attributes.b)',
    ],
)
def test_the_engine_is_asked(where: str) -> None:
    assert _is_plain(where)


@pytest.mark.parametrize(
    "where",
    [
        '?d {type: "Drug"} NOT { (?d, "treats", ?e) FILTER(IS_NULL(?e.name)) }',
        '?d {type: "Drug", name: "A"} UNION { ?c {type: "C"} } NOT { (?d, "treats", ?s) }',
        '?d {type: "D"} NOT { (?d, "a", ?s) UNION { ?d {type: "D", name: "A"} } }',
        '(?a, "says"{0,1}, ?d) ?d {type: "U"}',
        '(?d, "is_a", ?c) (?c, "is_a"{0,}, ?e)',
        '({type: "Drug", name: "A"}, "is_a"{0,}, ?d) ?b {type: "Drug"}',
        '({type: "Drug", name: "A"}, "is_a"{0,}, ?d) ?d {type: "Drug"}',
        '?l ({type: "Drug", name: "A"}, "is_a"{0,}, ?d)',
        '({type: "Drug", name: "A"}, "is_a"{0,}, ?d) (?d, "is_a"{0,}, ?e)',
        '({type: "Drug", name: "A"}, "is_a"{0,}, {type: "Drug", name: "B"}) ?d {type: "Drug"}',
        'OPTIONAL { (?d, "likes"{0,}, ?b) OPTIONAL { ?b {type: "U"} } }',
        '({type: "N", name: "a"}, "next"{1,64}, ?d)',
        '?d {type: "Drug"} FILTER(REGEX(?d.name, "^.$"))',
        'OPTIONAL { (?d, "treats", {name: "A"}) }',
        '?d {type: "Drug", name: "A"} NOT { (?x, "treats", ?d) }',
        '?d {type: "D"} NOT { ?d {type: "D", name: "A"} ?d {} }',
        '?d {type: "D", name: "A"} (?b, "treats", ?c) NOT { ?b {} } OPTIONAL { (?c, "is_a", ?e) }',
        '?d {type: "D", name: "A"} OPTIONAL { (?b, "is_a", ?d) ?b {} } FILTER(IS_NULL(?b))',
        '?d {type: "D"} OPTIONAL { FILTER(?d.attributes.a == 1) (?d, "treats", ?s) }',
        '?l (?d, "is_a"{1,2}, ?d) ?d {type: "D"}',
        '(?d, "is_a", ?d)',
        '?d {type: "D", name: "A"} OPTIONAL { (?d, "is_a"{0,}, ?e) }',
        '(?d, "knows", ?b) UNION { FILTER(!(REGEX(null, "a"))) }',
        '?d {type: "D"} FILTER(?d.attributes.a <= ?d.attributes.a)',
        '?d {type: "D"} OPTIONAL { (?d, "is_a", ?e) } FILTER(?e.attributes.a < ?e.attributes.b)',
    ],
)
def test_the_embedded_engine_is_asked(where: str) -> None:
    assert not _is_plain(where)


def test_what_may_be_null_is_counted_by_the_engine() -> None:
    where = '?d {type: "Drug"} OPTIONAL { (?d, "causes", ?s) }'
    for shown, counted in (("COUNT(?d)", "*"), ("COUNT(?s)", "?s"), ("COUNT(DISTINCT ?d)", "?d")):
        plan = _plan(where, shown)
        assert plan.is_plain({})
        assert str(plan.counts[0].variable or "*") == counted
    where = '?d {type: "Drug"} OPTIONAL { ?l (?d, "causes", ?s) }'
    assert [count.variable for count in _plan(where, "COUNT(?s)").counts] == [None]


def test_one_link_is_not_two() -> None:
    assert _plan('?l (?d, "is_a"{1,2}, ?c) ?l (?a, "is_a"{2,3}, ?b)').where.is_contradictory
    assert not _plan('?l (?d, "is_a"{1,2}, ?c) ?l (?a, "is_a"{1,3}, ?b)').where.is_contradictory
