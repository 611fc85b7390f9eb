"""Forgetting what has no other evidence: what only the forgotten stated, mentioned, or led to."""

from __future__ import annotations

from pathlib import Path

import pytest

import kiprdf
from kiprdf.memory import Memory
from tests.nexus.test_forget import remaining

SCHEMA = " ".join(
    f'UPSERT {{ CONCEPT {{ {{type: "{meta}", name: "{name}"}} }} }}'
    for meta, name in [
        ("$ConceptType", "Note"),
        ("$ConceptType", "Place"),
        ("$PropositionType", "states"),
        ("$PropositionType", "lives_in"),
    ]
)
NOTES = """UPSERT {
  CONCEPT ?ada { {type: "Person", name: "Ada"} }
  CONCEPT ?rome { {type: "Place", name: "Rome"} }
  CONCEPT ?paris { {type: "Place", name: "Paris"} }
  CONCEPT ?oslo { {type: "Place", name: "Oslo"} }
  PROPOSITION ?only { (?ada, "lives_in", ?rome) }
  PROPOSITION ?both { (?ada, "lives_in", ?paris) }
  PROPOSITION ?claim { (?ada, "mentions", ?only) }
  CONCEPT ?one { {type: "Note", name: "one"}
    SET PROPOSITIONS {
      ("states", ?only) ("states", ?both) ("mentions", ?oslo) ("mentions", ?ada) } }
  CONCEPT ?two { {type: "Note", name: "two"} SET PROPOSITIONS { ("states", ?both) } }
  CONCEPT ?lesson { {type: "Insight", name: "lesson"} SET PROPOSITIONS { ("derived_from", ?one) } }
  CONCEPT { {type: "Insight", name: "moral"} SET PROPOSITIONS { ("derived_from", ?lesson) } }
  CONCEPT { {type: "Insight", name: "other"}
    SET PROPOSITIONS { ("derived_from", ?lesson) ("derived_from", ?two) } }
  CONCEPT { {type: "Insight", name: "fact's"} SET PROPOSITIONS { ("derived_from", ?only) } }
}"""
LOST = ["C:Insight/fact's", "C:Insight/lesson", "C:Insight/moral", "C:Place/Oslo"]
FIND = 'FIND(?n) WHERE { ?n {type: "Note", name: "one"} }'


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    nexus.execute(NOTES)
    return nexus


def fact(nexus: kiprdf.Nexus, place: str) -> list[str]:
    ids: list[str] = nexus.execute(
        'FIND(?l.id) WHERE { ?l (?p, "lives_in", {type: "Place", name: :place}) }', place=place
    )
    return ids


def names(nexus: kiprdf.Nexus, type: str) -> list[str]:
    column: list[str] = nexus.execute(
        "FIND(?x.name) WHERE { ?x {type: :type} } ORDER BY ?x.name", type=type
    )
    return column


def test_what_has_no_other_evidence_is_named_and_stays(nexus: kiprdf.Nexus) -> None:
    expected = sorted([*LOST, *fact(nexus, "Rome")])
    plan = nexus.forget(FIND, dry_run=True)
    report = nexus.forget(FIND)
    assert plan["unsupported"] == report["unsupported"] == expected
    assert report["elements"] == ["C:Note/one"]
    assert "derived" not in report
    assert names(nexus, "Insight") == ["fact's", "lesson", "moral", "other"]
    assert names(nexus, "Place") == ["Oslo", "Paris", "Rome"]
    assert len(fact(nexus, "Rome")) == 1


def test_what_has_no_other_evidence_is_forgotten_too(nexus: kiprdf.Nexus) -> None:
    expected = sorted([*LOST, *fact(nexus, "Rome")])
    plan = nexus.forget(FIND, derived=True, dry_run=True)
    assert names(nexus, "Insight") == ["fact's", "lesson", "moral", "other"]
    report = nexus.forget(FIND, derived=True)
    assert report == {**plan, "seq": report["seq"]}
    assert (report["elements"], report["derived"]) == (["C:Note/one"], expected)
    assert "unsupported" not in report
    assert not {*report["links"]} & {*expected}
    # What others state, mention or led to stays, and so do ends with other links.
    assert names(nexus, "Insight") == ["other"]
    assert names(nexus, "Place") == ["Paris", "Rome"]
    assert names(nexus, "Note") == ["two"]
    assert fact(nexus, "Rome") == []
    assert len(fact(nexus, "Paris")) == 1
    assert "Ada" in names(nexus, "Person")
    check = nexus.check()
    assert (check["faults"], check["history"]["state"]) == ([], "sound")
    # The links about them are listed as well, so that no copy brings them back.
    assert len(nexus.erasures().splitlines()) > 1 + len(expected) + len(report["links"])
    copy = kiprdf.Nexus.memory()
    copy.execute(SCHEMA)
    copy.execute(NOTES)
    copy.apply_erasures(nexus.erasures())
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)


def test_two_notes_that_state_the_same_take_it_along_together(nexus: kiprdf.Nexus) -> None:
    both = 'FIND(?n) WHERE { ?n {type: "Note"} }'
    report = nexus.forget(both, derived=True)
    assert names(nexus, "Insight") == []
    assert fact(nexus, "Paris") == []
    assert {"C:Insight/other", "C:Insight/lesson"} <= {*report["derived"]}


def test_evidence_of_ones_own_and_what_is_protected_stay(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        """UPSERT {
          CONCEPT ?self { {type: "Person", name: "$self"} }
          CONCEPT ?type { {type: "$ConceptType", name: "Place"} }
          CONCEPT ?kept { {type: "Place", name: "Bern"} SET ATTRIBUTES { is_kept: true } }
          CONCEPT { {type: "Note", name: "one"} SET PROPOSITIONS {
            ("mentions", ?self) ("mentions", ?type) ("mentions", ?kept) } }
          PROPOSITION { ({type: "Person", name: "Ada"}, "lives_in", {type: "Place", name: "Rome"}) }
          WITH METADATA { evidence: { weight: 1 } }
        }"""
    )
    report = nexus.forget(FIND, derived=True)
    assert report["derived"] == sorted(set(LOST) - {"C:Insight/fact's"})
    assert names(nexus, "Place") == ["Bern", "Paris", "Rome"]


def test_circles_of_conclusions_end() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(
        """UPSERT {
          CONCEPT ?a { {type: "Insight", name: "a"} }
          CONCEPT ?b { {type: "Insight", name: "b"} SET PROPOSITIONS { ("derived_from", ?a) } }
          CONCEPT ?c { {type: "Insight", name: "c"} SET PROPOSITIONS { ("derived_from", ?b) } }
          CONCEPT { {type: "Insight", name: "b"} SET PROPOSITIONS { ("derived_from", ?c) } }
        }"""
    )
    assert "unsupported" not in nexus.forget(["C:Insight/a"])
    # b and c are derived from each other, too.
    assert names(nexus, "Insight") == ["b", "c"]
    assert nexus.forget(["C:Insight/b"], derived=True)["derived"] == ["C:Insight/c"]


def test_a_parameter_is_not_named_as_the_option() -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001 The argument derived is True or False"):
        kiprdf.Nexus.memory().forget(FIND, derived="yes")  # type: ignore[arg-type]


# A memory -------------------------------------------------------------------------------------


def remember(memory: Memory) -> str:
    memory.add("I use Docker.")
    id = memory.add("I use Docker, and decided to use Zebrafinch.")
    memory.nexus.execute(
        """UPSERT { CONCEPT ?note { {type: "MemoryItem", name: :id} }
          CONCEPT { {type: "Insight", name: "Xylophonium"}
            SET PROPOSITIONS { ("derived_from", ?note) } } }""",
        id=id,
    )
    return id


def test_forgetting_a_note_of_a_nexus_takes_what_only_it_stated() -> None:
    """As ``Memory.erase`` does, by the links alone."""
    memory = Memory(kiprdf.Nexus.memory(history=True))
    id = remember(memory)
    report = memory.nexus.forget([f"C:MemoryItem/{id}"], derived=True)
    assert [one for one in report["derived"] if one.startswith("C:")] == [
        "C:Decision/Use Zebrafinch",
        "C:Insight/Xylophonium",
    ]
    assert [edge.predicate for edge in memory.edges()] == ["uses"]
    assert [entity.name for entity in memory.entities("tool")] == ["Docker"]
    assert len(memory.entities("user")) == 1


def test_what_is_derived_from_an_erased_memory_is_named_or_erased(tmp_path: Path) -> None:
    words = ["Zebrafinch", "Xylophonium"]
    for derived in (False, True):
        nexus = kiprdf.Nexus.open(tmp_path / str(derived))
        memory = Memory(nexus)
        receipt = memory.erase(remember(memory), derived=derived)
        assert receipt.get("derived" if derived else "unsupported") == ["C:Insight/Xylophonium"]
        assert names(nexus, "Insight") == ([] if derived else ["Xylophonium"])
        nexus.close()
        left = set() if derived else {"Xylophonium"}
        assert remaining(tmp_path / str(derived), words) == left


def test_what_is_derived_from_a_forgotten_memory_is_deleted_and_restored(tmp_path: Path) -> None:
    memory = Memory(kiprdf.Nexus.memory(history=True))
    id = remember(memory)
    before = memory.nexus.snapshot(engine_metadata=False)
    assert memory.forget(id, derived=True)
    assert names(memory.nexus, "Insight") == []
    memory.nexus.undo(seq=memory.nexus.info()["commit"])
    assert memory.nexus.snapshot(engine_metadata=False) == before
    memory.forget(id)
    assert names(memory.nexus, "Insight") == ["Xylophonium"]
