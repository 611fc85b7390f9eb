"""What entailment costs: nothing where it is off, little where no rule applies."""

from __future__ import annotations

import time

import pytest

import kiprdf
from kiprdf.kql import entailment
from tests.cases import each_case

QUESTIONS = (
    'FIND(?d.name) WHERE { ?d {type: "Drug"} }',
    'FIND(?s.name) WHERE { ({type: "Drug", name: "d7"}, "treats", ?s) }',
    'FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "d9"} }',
    'FIND(?d.name) WHERE { ?d {type: "Drug"} (?d, "treats", ?s) ?s {name: "s3"} }',
    'FIND(?s.name, COUNT(?d)) WHERE { (?d, "treats", ?s) }',
    'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.risk DESC LIMIT 5',
    'FIND(?d.name) WHERE { ?d {type: "Drug"} NOT { (?d, "treats", {name: "s1"}) } }',
    'FIND(?b.name) WHERE { ({type: "Drug", name: "d1"}, "next"{1,4}, ?b) }',
)
RULE = """UPSERT {
  CONCEPT { {type: "$PropositionType", name: "near"} SET ATTRIBUTES { is_symmetric: true } }
}"""


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    nexus.execute("""UPSERT {
        CONCEPT { {type: "$ConceptType", name: "Drug"} }
        CONCEPT { {type: "$ConceptType", name: "Symptom"} }
        CONCEPT { {type: "$PropositionType", name: "treats"} }
        CONCEPT { {type: "$PropositionType", name: "next"} }
    }""")
    concepts = [f'CONCEPT ?s{n} {{ {{type: "Symptom", name: "s{n}"}} }}' for n in range(10)]
    for n in range(200):
        links = "".join(f'("treats", ?s{m})' for m in {n % 10, n % 7})
        following = f'("next", ?d{n - 1})' if n else ""
        concepts.append(
            f'CONCEPT ?d{n} {{ {{type: "Drug", name: "d{n}"}} SET ATTRIBUTES {{ risk: {n % 5} }}'
            f" SET PROPOSITIONS {{ {links} {following} }} }}"
        )
    nexus.execute("UPSERT { " + " ".join(concepts) + " }")
    return nexus


@pytest.fixture(scope="module")
def queries(nexus: kiprdf.Nexus) -> list[str]:
    """The query of each question, before there is a rule."""
    queries = [query_of(nexus, question) for question in QUESTIONS]
    nexus.execute(RULE)
    return queries


def query_of(nexus: kiprdf.Nexus, question: str, entail: bool = False) -> str:
    """Without the note that its values are kept, which depends on what was asked before."""
    text = nexus.explain(question, entail=entail)
    return text[text.index("PREFIX") :]


def seconds(nexus: kiprdf.Nexus, question: str, entail: bool, times: int = 10) -> float:
    started = time.process_time()
    for _ in range(times):
        nexus.find(question, entail=entail)
    return time.process_time() - started


@each_case("question", QUESTIONS)
def test_where_no_rule_applies_a_question_takes_hardly_longer(
    nexus: kiprdf.Nexus, queries: list[str], question: str
) -> None:
    """At most 1.3 times as long; twice is allowed to a busy machine."""
    assert query_of(nexus, question, entail=True) in queries
    assert nexus.find(question, entail=True).tuples() == nexus.find(question).tuples()
    plain, entailed = (
        min(column)
        for column in zip(
            *((seconds(nexus, question, False), seconds(nexus, question, True)) for _ in range(7)),
            strict=True,
        )
    )
    assert entailed < 2 * plain + 0.001


def test_where_it_is_off_nothing_changes(
    nexus: kiprdf.Nexus, queries: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unwanted(*_: object) -> None:
        raise AssertionError("rules were read")

    monkeypatch.setattr(entailment, "_derived", unwanted)
    nexus._engine.statements.clear()
    assert [query_of(nexus, question) for question in QUESTIONS] == queries
    for question in QUESTIONS:
        assert nexus.find(question) == nexus.find(question, entail=False)
    with pytest.raises(AssertionError, match="rules were read"):
        entailment.entailed(nexus.store, True)
