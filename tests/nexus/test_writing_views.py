"""Writing through a view: names are those of the view, and one member is written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kiprdf import Brains, KipError, Nexus, View

BOB = '{type: "Person", name: "Bob"}'
ASPIRIN = '{type: "Drug", name: "Aspirin"}'
HEADACHE = '{type: "Symptom", name: "Headache"}'
TEAM = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES {description: "A medicine."} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "Person", name: "Bob"} SET ATTRIBUTES {home: "Rome", age: 40} }
  CONCEPT ?a { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {dose: 100} }
  CONCEPT ?h { {type: "Symptom", name: "Headache"} }
  PROPOSITION { (?a, "treats", ?h) }
} WITH METADATA {source: "the team"}"""


def ticking(start: int) -> Any:
    """A clock that goes on by a second at each call."""
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=start)

    def tick() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment

    return tick


class Scopes:
    """A view of ``team`` and ``ada``, whose bases differ; it writes to ``ada``."""

    def __init__(self, **options: Any) -> None:
        self.team = Nexus.memory("urn:team/kb/", clock=ticking(0), history=True)
        self.ada = Nexus.memory(clock=ticking(9), history=True, **options)
        self.team.store.scope, self.ada.store.scope = "team", "ada"
        self.team.execute(TEAM)
        self.view = View([self.team, self.ada], write=self.ada, base_iri="https://v.example/")
        self.note()

    def note(self) -> None:
        """Expect the team to stay as it is now."""
        self._before = self.team.snapshot()

    def assert_others_unchanged(self) -> None:
        assert self.team.snapshot() == self._before

    def close(self) -> None:
        for nexus in (self.view, self.team, self.ada):
            nexus.close()


@pytest.fixture
def scopes() -> Iterator[Scopes]:
    scopes = Scopes()
    yield scopes
    scopes.assert_others_unchanged()
    for nexus in (scopes.view, scopes.team, scopes.ada):
        assert nexus.check()["faults"] == []
    scopes.close()


def values(nexus: Nexus, identity: str) -> dict[str, Any]:
    """The attributes and metadata of a concept, without its times."""
    [shown] = nexus.execute(f"FIND(?x) WHERE {{ ?x {identity} }}")
    metadata = shown.get("metadata", {})
    kept = {key: metadata[key] for key in metadata if key not in ("_created_at", "_updated_at")}
    return {**shown.get("attributes", {}), **kept}


def links(nexus: Nexus, predicate: str) -> list[dict[str, Any]]:
    return nexus.execute(f'FIND(?l) WHERE {{ ?l (?a, "{predicate}", ?b) }} ORDER BY ?l.id')


# UPSERT -------------------------------------------------------------------------------------------


def test_a_new_element_is_that_of_the_member_that_is_written(scopes: Scopes) -> None:
    assert not scopes.view.read_only
    receipt = scopes.view.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {age: 36} } }'
    )
    assert receipt["upsert_concept_nodes"] == ["C:Person/Ada"]
    ada = '{type: "Person", name: "Ada"}'
    assert values(scopes.ada, ada) == values(scopes.view, ada) == {"age": 36, "_version": 1}


def test_a_view_without_a_member_to_write_is_read_only(scopes: Scopes) -> None:
    with View([scopes.team, scopes.ada]) as view, pytest.raises(KipError) as caught:
        view.execute(f"UPSERT {{ CONCEPT {{ {BOB} }} }}")
    assert str(caught.value).startswith("KIP_1001 1:1 This is a view of other nexuses, to read.")
    assert view.read_only


def test_values_of_what_another_scope_has_are_stored_where_is_written(scopes: Scopes) -> None:
    scopes.view.execute(
        f'UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{home: "Oslo", shoe: 43}} }} }}'
    )
    own = {"home": "Oslo", "shoe": 43, "_version": 1}
    assert values(scopes.ada, BOB) == own
    assert values(scopes.view, BOB) == {**own, "age": 40, "source": "the team"}


def test_a_value_that_is_as_in_another_scope_is_stored_too(scopes: Scopes) -> None:
    scopes.view.execute(f'UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{home: "Rome"}} }} }}')
    assert values(scopes.ada, BOB) == {"home": "Rome", "_version": 1}


def test_what_is_only_named_becomes_a_stub(scopes: Scopes) -> None:
    before = values(scopes.view, ASPIRIN)
    scopes.view.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET PROPOSITIONS '
        f'{{ ("treats", {HEADACHE}) ("treats", {{id: "C:Drug/Aspirin"}}) }} }} }}'
    )
    assert values(scopes.ada, ASPIRIN) == values(scopes.ada, HEADACHE) == {}
    assert values(scopes.view, ASPIRIN) == before
    # The types and the predicate are named, too.
    assert {"Drug", "Symptom"} <= {*scopes.ada.execute("DESCRIBE CONCEPT TYPES")}
    assert "description" not in values(scopes.ada, '{type: "$ConceptType", name: "Drug"}')
    assert len(links(scopes.ada, "treats")) == 2
    assert len(links(scopes.view, "treats")) == 3


def test_a_fact_that_is_only_named_is_a_draft_that_nobody_states(scopes: Scopes) -> None:
    [fact] = links(scopes.view, "treats")
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ ((id: "{fact["id"]}"), "treats", {BOB}) }} }}')
    named = f'FIND(?l) WHERE {{ ?l ({ASPIRIN}, "treats", {HEADACHE}) }}'
    [stub] = scopes.ada.execute(named)
    assert stub["metadata"] == {"_mentioned": True, "status": "draft"}
    assert len(scopes.ada.believed(named).tuples) == 0
    assert len(scopes.view.believed(named).tuples) == 1
    assert scopes.view.execute(named) == [fact]
    # Its writer may state it as well.
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ ({ASPIRIN}, "treats", {HEADACHE}) }} }}')
    [own] = scopes.ada.execute(named)
    assert {"_mentioned", "status"}.isdisjoint(own["metadata"])
    assert len(scopes.ada.believed(named).tuples) == 1


def test_a_fact_that_nobody_states_any_more_is_no_belief(scopes: Scopes) -> None:
    named = f'({ASPIRIN}, "treats", {HEADACHE})'
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ ({named}, "treats", {BOB}) }} }}')
    scopes.team.execute(f"DELETE PROPOSITIONS ?l WHERE {{ ?l {named} }}")
    assert len(scopes.view.believed(f"FIND(?l) WHERE {{ ?l {named} }}").tuples) == 0
    [left] = scopes.view.execute(f"FIND(?l) WHERE {{ ?l {named} }}")
    assert left["metadata"] == {"_mentioned": True, "status": "draft"}
    scopes.note()


def test_versions_are_those_of_the_member(scopes: Scopes) -> None:
    text = f"UPSERT {{ CONCEPT {{ {BOB} EXPECT VERSION :v SET ATTRIBUTES {{home: :home}} }} }}"
    with pytest.raises(KipError, match=r"KIP_3005 .*C:Person/Bob is in other scopes only; version"):
        scopes.view.execute(text, v=1, home="Oslo")
    scopes.view.execute(text, v=0, home="Oslo")
    assert values(scopes.ada, BOB)["_version"] == 1
    with pytest.raises(KipError, match="exists already, in version 1"):
        scopes.view.execute(text, v=0, home="Oslo")
    scopes.view.execute(text, v=1, home="Bern")
    assert values(scopes.view, BOB)["home"] == "Bern"


# Which member -------------------------------------------------------------------------------------


def test_what_a_view_writes_is_a_member_that_can_be_written(tmp_path: Path) -> None:
    one, other = Nexus.memory(), Nexus.memory()
    Nexus.open(tmp_path / "x").close()
    closed = Nexus.open(tmp_path / "x", read_only=True)
    inner = View([one], write=one)
    for members, write in (([one], other), ([one, closed], closed), ([inner], inner), ([one], 1)):
        with pytest.raises(KipError, match="KIP_1001"):
            View(members, write=write)  # type: ignore[arg-type]


def test_brains_give_views_that_write_one_of_them(tmp_path: Path) -> None:
    with Brains(tmp_path) as brains:
        team, ada = brains.add("team"), brains.add("ada")
        team.execute(TEAM)
        view = brains.view("team", "ada", write="ada")
        view.execute(f"UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{age: 41}} }} }}")
        assert values(ada, BOB) == {"age": 41, "_version": 1}
        assert ada.store.scope == "ada"
        with pytest.raises(KipError, match="The view does not read 'bo'"):
            brains.view("team", "ada", write="bo")
        with pytest.raises(KipError, match=r"C:Drug/Aspirin is in the scope 'team' only"):
            view.execute(f"UPDATE ?d SET ATTRIBUTES {{dose: 1}} WHERE {{ ?d {ASPIRIN} }}")


def test_an_actor_of_a_view_is_that_of_what_it_writes(scopes: Scopes) -> None:
    with scopes.view.acting(author="agent-7", kind="model", session="s"):
        scopes.view.execute(f"UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{age: 41}} }} }}")
    assert values(scopes.ada, BOB)["_actor"] == "model/agent-7"
    assert scopes.ada.history("C:Person/Bob")["entries"][0]["session"] == "s"
    with scopes.view.acting(author="reader", access="read"), pytest.raises(KipError) as caught:
        scopes.view.execute(f"UPSERT {{ CONCEPT {{ {BOB} }} }}")
    assert caught.value.code == "KIP_3004"
    assert [one["principal"] for one in scopes.ada.refusals()] == ["model/reader"]


# What people judged in another scope ------------------------------------------------------------

ADA_STATUS = "FIND(?p.metadata) WHERE { ?p " + BOB + " }"
MARK = "UPDATE ?p SET METADATA {status: :status} WHERE { ?p " + BOB + " }"
NOTE = "UPSERT { CONCEPT { " + BOB + " SET ATTRIBUTES {note: :note} } }"
SAY = NOTE + " WITH METADATA {status: :status}"

REJECTED = ("C:Person/Bob", "treats", "C:Symptom/Headache")
TREATS = """UPSERT { CONCEPT ?who { {type: "Person", name: :who} }
  PROPOSITION { (?who, "treats", {type: "Symptom", name: "Headache"}) } }"""


def refused(view: Nexus, words: str, text: str, **values: Any) -> None:
    with view.acting(author="m", kind="model"), pytest.raises(KipError, match=words) as caught:
        view.execute(text, **values)
    assert caught.value.code == "KIP_3004"


def test_a_model_does_not_lift_what_a_person_retracted_in_another_scope(scopes: Scopes) -> None:
    scopes.team.execute(MARK, status="retracted")
    scopes.note()
    refused(scopes.view, "was retracted by human/owner", SAY, note=1, status="active")
    with scopes.view.acting(author="m", kind="model"):
        scopes.view.execute(SAY, note=1, status="retracted")
    (metadata,) = scopes.view.execute(ADA_STATUS)
    assert metadata["retracted_by"] == "human/owner"
    for text in (MARK, SAY.replace(":note", "2")):
        refused(scopes.view, "was retracted by human/owner", text, status="active")


def test_a_model_changes_no_value_under_the_review_of_another_scope(scopes: Scopes) -> None:
    scopes.ada.execute(NOTE, note=1)
    scopes.team.execute(MARK, status="reviewed")
    scopes.note()
    with scopes.view.acting(author="m", kind="model"):
        assert scopes.view.execute(NOTE, note=1)
    delete = "DELETE CONCEPT ?p DETACH WHERE { ?p " + BOB + " }"
    with View([scopes.ada, scopes.team], write=scopes.ada, base_iri="https://v.example/") as first:
        # The word of the last member holds, and it says that this is reviewed.
        refused(first, "is reviewed in another scope", NOTE, note=2)
        refused(first, "is reviewed: only a person may delete", delete)
    with scopes.view.acting(author="m", kind="model"):
        assert scopes.view.execute(NOTE, note=2)["unreviewed"] == ["C:Person/Bob"]
    (metadata,) = scopes.view.execute(ADA_STATUS)
    assert metadata["status"] == "active"


def test_what_another_scope_has_rejected_is_not_written_by_merge_or_undo(scopes: Scopes) -> None:
    merge = "MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: :who} ?b " + BOB + " }"
    scopes.view.execute(NOTE, note=1)
    scopes.view.execute(TREATS, who="Bob")
    scopes.view.execute("DELETE PROPOSITIONS ?l WHERE { ?l (" + BOB + ', "treats", ?s) }')
    deleted = scopes.ada.info()["commit"]
    scopes.view.execute(TREATS, who="Zed")
    scopes.view.execute(TREATS, who="Rob")
    scopes.view.execute(merge, who="Rob")  # the positive control
    scopes.view.undo(seq=scopes.ada.info()["commit"])
    scopes.team.reject(REJECTED, reason="He is a patient.")
    scopes.note()
    refused(scopes.view, "was rejected by human/owner at", TREATS, who="Bob")
    refused(scopes.view, "was rejected by human/owner at", merge, who="Zed")
    with scopes.view.acting(author="m", kind="model"), pytest.raises(KipError, match="conflict"):
        scopes.view.undo(seq=deleted)


def test_a_capsule_leaves_out_what_the_written_member_has_forgotten(scopes: Scopes) -> None:
    scopes.view.execute(TREATS, who="Zed")
    scopes.ada.forget(["C:Person/Zed"])
    text = TREATS.replace(":who", '"Zed"')
    assert scopes.view.apply_capsule(text)["erased"] == 2
    assert scopes.ada.execute('FIND(?p) WHERE { ?p {name: "Zed"} }') == []
