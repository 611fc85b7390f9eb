"""Conditions that start a query, and clauses that only test existence."""

from __future__ import annotations

import pytest

import kiprdf

SETUP = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "User"} }
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$PropositionType", name: "knows"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
  CONCEPT ?a { {type: "User", name: "a"} SET ATTRIBUTES {city: "Rome", n: 3} }
  CONCEPT ?b { {type: "User", name: "b"} SET ATTRIBUTES {city: "Oslo", n: 3.0} }
  CONCEPT ?c { {type: "User", name: "c"} }
  CONCEPT ?d { {type: "Drug", name: "a"} }
  PROPOSITION ?ab { (?a, "knows", ?b) }
  PROPOSITION ?bc { (?b, "knows", ?c) }
  PROPOSITION ?say { (?ab, "says", ?c) }
}
"""


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SETUP)
    return nexus


CONDITIONS = {
    '?a.name == "a"': ["b", "c"],
    '"a" == ?a.name': ["b", "c"],
    '?a.id == "C:User/a"': ["b", "c"],
    '?a.type == "User" && ?a.attributes.city == "Rome"': ["b", "c"],
    '?a.id == "urn:kip:nexus/User/a"': [],
    '?a.id == "no identity"': [],
    '?a.name == "a" && ?a.attributes.n == 3': ["b", "c"],
    "?a.attributes.n == 3": ["b", "c", "c"],
    '?a.name == "a" || ?a.name == "b"': ["b", "c", "c"],
    '!(?a.name == "b")': ["b", "c"],
    '?a.name == "zz"': [],
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_means_the_same_as_a_clause(nexus: kiprdf.Nexus, condition: str) -> None:
    rows = nexus.find(f'FIND(?a, ?b.name) WHERE {{ (?a, "knows"{{1,}}, ?b) FILTER({condition}) }}')
    assert sorted(rows.column("?b.name")) == CONDITIONS[condition]


def test_the_subject_of_a_link_may_be_required_by_its_id(nexus: kiprdf.Nexus) -> None:
    query = 'FIND(?b.name) WHERE { ?l (?a, "knows", ?b) FILTER(?l.subject == "C:User/b") }'
    assert nexus.find(query).column("?b.name") == ["c"]
    assert "<urn:kip:nexus/User/b> pred:knows" in nexus.explain(query)


def test_a_name_in_a_condition_is_where_the_query_starts(nexus: kiprdf.Nexus) -> None:
    text = nexus.explain(
        'FIND(?b.name) WHERE { (?a, "knows"{1,}, ?b) ?a {type: "User"} FILTER(?a.name == "a") }'
    )
    assert text.index('rdfs:label "a"') < text.index("pred:knows+")


def test_a_condition_is_applied_before_a_hop_multiplies(nexus: kiprdf.Nexus) -> None:
    text = nexus.explain(
        'FIND(?b.name) WHERE { ?a {type: "User"} (?a, "knows"{1,}, ?b) '
        "FILTER(?a.attributes.n > 1) FILTER(?b.attributes.n > 1) }"
    )
    assert text.index("?a_n > 1") < text.index("pred:knows+") < text.index("?b_n > 1")


def test_a_clause_whose_variables_are_unused_is_a_test_of_existence(nexus: kiprdf.Nexus) -> None:
    query = 'FIND(?a.name) WHERE { ?a {type: "Drug"} ?x {type: "User"} ?y {type: "User"} }'
    assert nexus.find(query).column("?a.name") == ["a"]
    assert nexus.explain(query).count("LIMIT 1") == 4


def test_a_test_of_existence_can_fail(nexus: kiprdf.Nexus) -> None:
    query = 'FIND(?a.name) WHERE { ?a {type: "Drug"} ?x {type: "User"} ?y {name: "nobody"} }'
    assert len(nexus.find(query)) == 0


def test_counting_uses_every_variable(nexus: kiprdf.Nexus) -> None:
    query = 'FIND(COUNT(?a)) WHERE { ?a {type: "Drug"} ?x {type: "User"} ?y {type: "User"} }'
    assert nexus.execute(query) == 9


def test_a_link_that_another_clause_mentions_is_no_test_of_existence(nexus: kiprdf.Nexus) -> None:
    rows = nexus.find('FIND(?q, ?b.name) WHERE { ?m (?l (?b, ?q, ?c), "says", ?d) }')
    assert rows.tuples() == (("knows", "a"),)
