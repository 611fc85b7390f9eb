"""Where DISTINCT may be left out: no solution can occur twice."""

from __future__ import annotations

import pytest

from kiprdf.kql.plan import plan_find
from kiprdf.language import bind, parse
from kiprdf.rdf.iris import Iris

IRIS = Iris("urn:kip:nexus/")


def is_distinct(shown: str, where: str) -> bool:
    find = bind(parse(f"FIND({shown}) WHERE {{ {where} }}"), {})
    return plan_find(find, IRIS).select.distinct  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shown", "where"),
    [
        ("?d", '?d {type: "Drug"}'),
        ("?d, ?s", '(?d, "treats", ?s)'),
        ("?l", '?l (?d, "treats", ?s)'),
        ("?d.attributes.a", '?d {type: "Drug"} FILTER(?d.attributes.a > 1)'),
        ("?d, ?s", '?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) }'),
        ("?d, ?l", '?d {type: "Drug"} OPTIONAL { ?l (?d, "treats", ?s) }'),
        ("?m, ?a, ?l", '?l (?m, "likes"{1,2}, ?a)'),
        ("?d", '?d {type: "Drug"} NOT { (?d, "treats", ?s) }'),
        ("?l, ?k", '?k (?d, "knows", ?s) OPTIONAL { ?l (?u, "said", ?d) }'),
    ],
)
def test_distinct_solutions_need_no_distinct(shown: str, where: str) -> None:
    assert not is_distinct(shown, where)


@pytest.mark.parametrize(
    ("shown", "where"),
    [
        ("?s", '(?d, "treats", ?s)'),
        ("?d", '(?d, "treats", ?s)'),
        ("?s", '?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) }'),
        # A link that is null does not determine the ends.
        ("?l", '?l (?m, "likes"{1,2}, ?a)'),
        ("?l", '?d {type: "Drug"} OPTIONAL { ?l (?d, "treats", ?s) }'),
        ("?d", '?d {type: "Drug"} UNION { ?d {type: "Herb"} }'),
        ("?d, ?s", '(?d, "treats" | "eases", ?s)'),
    ],
)
def test_solutions_that_may_repeat_are_made_distinct(shown: str, where: str) -> None:
    assert is_distinct(shown, where)
