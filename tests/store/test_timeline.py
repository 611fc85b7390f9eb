"""How many elements the commits of a history added, as the records say."""

from __future__ import annotations

from pathlib import Path

import kiprdf
from kiprdf.store.timeline import Timeline, growth

COMMANDS = (
    """UPSERT {
      CONCEPT { {type: "$ConceptType", name: "Drug"} }
      CONCEPT { {type: "$PropositionType", name: "treats"} }
    }""",
    """UPSERT {
      CONCEPT ?a { {type: "Drug", name: "A"} SET ATTRIBUTES {note: :forged} }
      CONCEPT ?b { {type: "Drug", name: "B"} }
      CONCEPT ?c { {type: "Drug", name: "C"} }
      PROPOSITION ?f { (?a, "treats", ?b) }
      PROPOSITION { (?f, "treats", ?c) }
    }""",
    'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {risk: 1} } }',
    'MERGE CONCEPT ?c INTO ?b WHERE { ?c {type: "Drug", name: "C"} ?b {type: "Drug", name: "B"} }',
    'DELETE CONCEPT ?a DETACH WHERE { ?a {type: "Drug", name: "A"} }',
)
FORGED = "\n<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:b> .\n"
"""A text that looks like a triple of a concept."""


def totals(nexus: kiprdf.Nexus) -> tuple[int, int]:
    ((concepts,),) = nexus.find("FIND(COUNT(?x)) WHERE { ?x {} }").tuples()
    ((facts,),) = nexus.find("FIND(COUNT(?x)) WHERE { ?x (?s, ?p, ?o) }").tuples()
    return concepts, facts


def test_the_growth_of_each_commit_is_the_difference_of_the_totals(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        journal = nexus.store.journal
        assert journal is not None
        begin, before = nexus.store.commit(), totals(nexus)
        grown = []
        for command in COMMANDS:
            nexus.execute(command, **({"forged": FORGED} if ":forged" in command else {}))
            timeline = Timeline(journal)
            timeline.read(nexus.store.commit())
            after = totals(nexus)
            grown.append((after[0] - before[0], after[1] - before[1]))
            assert timeline.grown(begin, nexus.store.commit()) == grown[-1]
        assert grown == [(2, 0), (5, 2), (5, 2), (4, 2), (3, 0)]
        assert timeline.grown(begin + 1, begin + 2) == (3, 2)


def test_a_record_that_removes_more_than_it_adds_is_negative() -> None:
    type_ = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    head = '[7,"2026-01-01T00:00:00.000Z","DELETE",null,null,[],2,{}]'
    rows = [f"<urn:a> {type_} <urn:b> .", f"<urn:c> {type_} <urn:b> ."]
    added = f"<urn:d> {type_} <urn:b> ."
    assert growth("\n".join([head, *rows, added]).encode()) == (-1, 0)
