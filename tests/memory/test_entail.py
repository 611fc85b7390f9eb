"""A memory, and rules over chunks, ask for what is stated, with any default of the nexus."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

import kiprdf
from kiprdf import chunks
from kiprdf.memory import Memory

RULES = """
UPSERT {
  CONCEPT { {type: "$PropositionType", name: "same_as"} }
  CONCEPT { {type: "$PropositionType", name: "subclass_of"} }
}
UPSERT {
  CONCEPT ?tool { {type: "Tool", name: "Python"} }
  CONCEPT ?other { {type: "Tool", name: "CPython"} SET PROPOSITIONS { ("same_as", ?tool) } }
}
UPDATE ?p SET ATTRIBUTES { is_symmetric: true, is_transitive: true }
WHERE { ?p {type: "$PropositionType"} FILTER(?p.name != "belongs_to_domain") }
"""
NOTES = (
    "I'm working on meshalyzer. I prefer Python, and decided to use SQLite.",
    "Meshalyzer uses CPython. I prefer CPython.",
)


def remembered(entail: Any) -> tuple[Any, ...]:
    nexus = kiprdf.Nexus.memory(entail=entail, clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    memory = Memory(nexus)
    memory.add(NOTES[0])
    nexus.execute(RULES.split("UPDATE")[0])
    nexus.execute("UPDATE" + RULES.split("UPDATE")[1])
    memory.add(NOTES[1])
    recalled = [(hit.excerpt, hit.score) for hit in memory.recall("which python").notes]
    contexts = [re.sub("mem_[0-9a-f]+", "", memory.context(word)) for word in ("python", "mesh")]
    facts = nexus.find("FIND(?s.name, ?p, ?o.name) WHERE { (?s, ?p, ?o) }", entail=False).tuples()
    entities = [entity.name for entity in memory.entities()]
    names = {entity.id: entity.name for entity in memory.entities()}
    edges = [(names[e.subject_id], e.predicate, names[e.object_id]) for e in memory.edges()]
    stated = sorted(re.sub("mem_[0-9a-f]+", "", str(fact)) for fact in facts)
    return contexts, recalled, entities, sorted(edges), memory.stats(), stated


def test_a_memory_answers_and_grows_alike_with_any_default() -> None:
    plain = remembered(False)
    assert "[tool] Python" in plain[0][0]
    assert remembered("same_as") == plain


@pytest.mark.parametrize("entail", [False, True, "same_as"])
def test_rules_match_and_delete_what_is_stated(entail: Any) -> None:
    nexus = kiprdf.Nexus.memory(entail=entail)
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$PropositionType", name: "subclass_of"} }
      CONCEPT { {type: "$ConceptType", name: "Place"} }
    }""")
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$ConceptType", name: "City"}
        SET PROPOSITIONS { ("subclass_of", {type: "$ConceptType", name: "Place"}) } }
    }""")
    nexus.execute("""UPSERT {
      CONCEPT { {type: "Place", name: "Alps"} } CONCEPT { {type: "City", name: "Turin"} }
    }""")
    graph = chunks.from_nexus(nexus)
    assert [chunk.type for chunk in graph if chunk.id == "Turin"] == ["City"]
    engine = chunks.Engine(
        "start {} => Place {@module memory; @do delete}, start {@do clear}",
        modules={"memory": nexus},
    )
    engine.goal("start {}")
    engine.run(max_cycles=3)
    left = "FIND(?p.name) WHERE { ?p {type: :type} }"
    assert nexus.execute(left, entail=False, type="Place") == []
    assert nexus.execute(left, entail=False, type="City") == ["Turin"]
