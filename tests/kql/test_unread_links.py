"""A link that is neither shown nor counted is not looked for: each fact has exactly one."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from tests.cases import each_case
from tests.standard_sparql import standard_sparql

BLOCKS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "T"} }
  CONCEPT { {type: "$PropositionType", name: "p"} }
  CONCEPT { {type: "$PropositionType", name: "q"} }
  CONCEPT { {type: "T", name: "A"} }
  CONCEPT { {type: "T", name: "B"} SET PROPOSITIONS { ("p", {type: "T", name: "A"}) } }
  CONCEPT { {type: "T", name: "C"} SET PROPOSITIONS {
    ("p", {type: "T", name: "A"}) ("p", {type: "T", name: "B"}) ("q", {type: "T", name: "B"})
    ("q", ({type: "T", name: "B"}, "p", {type: "T", name: "A"})) } }
}
"""


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(BLOCKS)
    return nexus


@each_case(
    "shown, where, answer",
    [
        ("COUNT(?l)", '?l (?s, "p", ?o)', 3),
        ("COUNT(DISTINCT ?l)", '?l (?s, "p", ?o)', 3),
        ("COUNT(?o)", '?l (?s, "p", ?o)', 3),
        ("COUNT(DISTINCT ?o)", '?l (?s, "p", ?o)', 2),
        ("COUNT(?l), COUNT(DISTINCT ?s)", '?l (?s, "q", ?o)', [2, 1]),
        ("COUNT(?l)", '?l (?s, "p", ?s)', 0),
        ("COUNT(?l)", '?l (?s, "p", ?o) ?k (?o, "p", ?z)', 1),
        ("COUNT(?t), COUNT(?o)", '?t {type: "T"} OPTIONAL { ?l (?t, "q", ?o) }', [4, 2]),
        ("COUNT(?l)", '?l (?s, "p", ?o) NOT { ?k (?s, "q", ?o) }', 2),
        ("?s.name", '?l (?s, "q", ?o) ORDER BY ?s.name', ["C"]),
        ("?p, COUNT(?l)", "?l (?s, ?p, ?o) ORDER BY ?p", [["p", "q"], [3, 2]]),
        ("?s.name, COUNT(?p)", "?l (?s, ?p, ?o) ORDER BY ?s.name", [["B", "C"], [1, 4]]),
    ],
)
def test_the_engine_is_not_asked_for_it(
    nexus: kiprdf.Nexus, shown: str, where: str, answer: Any
) -> None:
    block, order, rest = where.partition(" ORDER BY")
    command = f"FIND({shown}) WHERE {{ {block} }}{order}{rest}"
    assert nexus.execute(command) == answer
    assert "reifies" not in nexus.explain(command)


def test_all_links_are_counted_without_their_facts(nexus: kiprdf.Nexus) -> None:
    command = "FIND(COUNT(?l)) WHERE { ?l (?s, ?p, ?o) }"
    assert nexus.execute(command) == 5
    assert "<<(" not in nexus.explain(command)


@pytest.mark.parametrize(
    ("shown", "where", "answer"),
    [
        ("COUNT(?l)", '?l (?s, "p", ?o) FILTER(IS_NOT_NULL(?l.metadata._version))', 3),
        ("COUNT(?l)", '?l (?s, "p", ?o) (?t, "q", ?l)', 1),
        ("COUNT(?t), COUNT(?l)", '?t {type: "T"} OPTIONAL { ?l (?t, "q", ?o) }', [4, 2]),
        ("?l.subject", '?l (?s, "q", {type: "T", name: "B"})', ["C:T/C"]),
        ("COUNT(?s)", '?l (?s, "p", ?o) ?l (?t, "p", {type: "T", name: "A"})', 2),
        ("COUNT(DISTINCT ?l)", '?l (?s, "p"{1,2}, ?o)', 3),
        ("COUNT(?l)", "?l (?s, ?p, ?s)", 0),
    ],
)
def test_a_link_that_is_read_is_looked_for(
    nexus: kiprdf.Nexus, shown: str, where: str, answer: Any
) -> None:
    command = f"FIND({shown}) WHERE {{ {where} }}"
    assert nexus.execute(command) == answer
    assert "reifies" in nexus.explain(command)


def test_a_dataset_that_others_write_may_have_facts_without_a_link(nexus: kiprdf.Nexus) -> None:
    with standard_sparql() as texts:
        assert nexus.execute('FIND(COUNT(?l)) WHERE { ?l (?s, "p", ?o) }') == 3
    assert "subject" in texts[-1]
