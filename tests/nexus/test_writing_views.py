"""Writing through a view: names are those of the view, and one member is written."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Store as Engine

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
    assert scopes.ada.check()["faults"] == []
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
    assert len(scopes.ada.believed(named).tuples()) == 0
    assert len(scopes.view.believed(named).tuples()) == 1
    assert scopes.view.execute(named) == [fact]
    # Its writer may state it as well.
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ ({ASPIRIN}, "treats", {HEADACHE}) }} }}')
    [own] = scopes.ada.execute(named)
    assert {"_mentioned", "status"}.isdisjoint(own["metadata"])
    assert len(scopes.ada.believed(named).tuples()) == 1


def test_values_of_a_fact_of_another_scope_say_nothing_of_its_status(scopes: Scopes) -> None:
    [fact] = links(scopes.view, "treats")
    by_id = f'UPSERT {{ PROPOSITION {{ (id: "{fact["id"]}") %s }} }}'
    scopes.view.execute(by_id % "SET ATTRIBUTES {since: 2020}")
    [own] = links(scopes.ada, "treats")
    assert own["attributes"] == {"since": 2020}
    assert {"_mentioned", "status"}.isdisjoint(own["metadata"])
    [shown] = links(scopes.view, "treats")
    assert "status" not in shown["metadata"]
    scopes.view.execute(by_id % "" + '\n WITH METADATA {status: "draft"}')
    [shown] = links(scopes.view, "treats")
    assert shown["metadata"]["status"] == "draft"
    assert "_mentioned" not in shown["metadata"]


def test_values_of_a_fact_that_was_only_named_before(scopes: Scopes) -> None:
    named = f'({ASPIRIN}, "treats", {HEADACHE})'
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ ({named}, "treats", {BOB}) }} }}')
    [id] = scopes.view.execute(f"FIND(?l.id) WHERE {{ ?l {named} }}")
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ (id: "{id}") SET ATTRIBUTES {{a: 1}} }} }}')
    for nexus in (scopes.ada, scopes.view):
        [own] = nexus.execute(f"FIND(?l) WHERE {{ ?l {named} }}")
        assert own["attributes"] == {"a": 1}
        assert {"_mentioned", "status"}.isdisjoint(own["metadata"])
        assert own["metadata"]["_version"] == 1


def test_facts_about_facts_of_one_statement_are_found_once(scopes: Scopes) -> None:
    facts = [
        f'PROPOSITION ?f{number} {{ (?f{number - 1}, "treats", ?f{number - 2}) }}'
        for number in range(3, 300)
    ]
    scopes.view.execute(
        f"""UPSERT {{ CONCEPT ?f0 {{ {BOB} }} CONCEPT ?f1 {{ {ASPIRIN} }}
        PROPOSITION ?f2 {{ (?f0, "treats", ?f1) }} {" ".join(facts)} }}"""
    )
    assert len(links(scopes.ada, "treats")) == 298


def test_who_retracts_a_fact_that_is_only_named_retracts_it(scopes: Scopes) -> None:
    named = f'({ASPIRIN}, "treats", {HEADACHE})'
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ ({named}, "treats", {BOB}) }} }}')
    retract = f'UPDATE ?l SET METADATA {{status: "retracted"}} WHERE {{ ?l {named} }}'
    with pytest.raises(KipError, match="in the scope 'team' only"):
        scopes.view.execute(retract)
    scopes.ada.execute(retract)
    status = scopes.view.execute(f"FIND(?l.metadata.status) WHERE {{ ?l {named} }}")
    assert status == ["retracted"]


def test_a_fact_that_nobody_states_any_more_is_no_belief(scopes: Scopes) -> None:
    named = f'({ASPIRIN}, "treats", {HEADACHE})'
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ ({named}, "treats", {BOB}) }} }}')
    scopes.team.execute(f"DELETE PROPOSITIONS ?l WHERE {{ ?l {named} }}")
    assert len(scopes.view.believed(f"FIND(?l) WHERE {{ ?l {named} }}").tuples()) == 0
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


def test_a_stub_has_no_version_yet(scopes: Scopes) -> None:
    scopes.view.execute(
        f"UPSERT {{ CONCEPT {{ {ASPIRIN} SET ATTRIBUTES {{a: 1}} "
        f'SET PROPOSITIONS {{ ("treats", {BOB}) }} }} }}'
    )
    assert values(scopes.ada, BOB) == {}
    text = f"UPSERT {{ CONCEPT {{ {BOB} EXPECT VERSION :v SET ATTRIBUTES {{home: :home}} }} }}"
    with pytest.raises(KipError, match="is in other scopes only"):
        scopes.view.execute(text, v=1, home="Oslo")
    scopes.view.execute(text, v=0, home="Oslo")
    assert values(scopes.ada, BOB) == {"home": "Oslo", "_version": 1}
    [at] = scopes.ada.execute(f"FIND(?p.metadata._created_at) WHERE {{ ?p {BOB} }}")
    assert at is not None


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


# UPDATE, DELETE and MERGE -------------------------------------------------------------------------

NOT_OWN = "in the scope 'team' only, and this view writes to the scope 'ada'"


def own_bob(scopes: Scopes) -> None:
    """Let both have Bob, and a person who is Ada's alone."""
    scopes.view.execute(
        f'UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{home: "Oslo", shoe: 43}} }}'
        ' CONCEPT { {type: "Person", name: "Cy"} SET ATTRIBUTES {age: 20} } }'
    )


def refusal(nexus: Nexus, text: str, **parameters: Any) -> str:
    """The message of a statement that is KIP_3004, and changes nothing in what the view shows."""
    before = nexus.snapshot()
    messages = []
    for dry_run in (True, False):
        with pytest.raises(KipError) as caught:
            nexus.execute(text, dry_run=dry_run, **parameters)
        assert caught.value.code == "KIP_3004"
        messages.append(caught.value.message)
    assert nexus.snapshot() == before
    assert messages[0] == messages[1]
    return messages[0]


def test_update_changes_the_part_of_the_member(scopes: Scopes) -> None:
    own_bob(scopes)
    text = "UPDATE ?p SET ATTRIBUTES {shoe: 44, age: ADD(?p.attributes.age, 1)} WHERE { ?p %s }"
    receipt = scopes.view.execute(text % BOB, dry_run=True)
    assert scopes.view.execute(text % BOB) == receipt == {"updated": 1, "matched": 1}
    # The age is that of the team, which the view shows, and one more.
    assert values(scopes.ada, BOB) == {"home": "Oslo", "shoe": 44, "age": 41, "_version": 2}
    assert values(scopes.view, BOB)["age"] == 41


def test_update_of_what_only_others_have_writes_nothing(scopes: Scopes) -> None:
    own_bob(scopes)
    some = '?p {type: "Person"} FILTER(?p.attributes.age > 0)'
    assert scopes.view.execute(
        f"UPDATE ?p SET ATTRIBUTES {{age: 1}} WHERE {{ {some} }}", dry_run=True
    ) == {"updated": 2, "matched": 2}
    scopes.team.execute('UPSERT { CONCEPT { {type: "Person", name: "Di"} SET ATTRIBUTES {age: 1}}}')
    scopes.note()
    message = refusal(scopes.view, f"UPDATE ?p SET ATTRIBUTES {{age: 1}} WHERE {{ {some} }}")
    assert message == f"C:Person/Di is {NOT_OWN}."
    message = refusal(scopes.view, f"UPDATE ?p SET METADATA {{x: 1}} WHERE {{ ?p {ASPIRIN} }}")
    assert message == f"C:Drug/Aspirin is {NOT_OWN}."


def test_a_stub_is_nothing_of_ones_own(scopes: Scopes) -> None:
    scopes.view.execute(
        f'UPSERT {{ CONCEPT {{ {BOB} SET PROPOSITIONS {{("treats", {HEADACHE})}} }} }}'
    )
    assert values(scopes.ada, HEADACHE) == {}
    for text in (
        f"UPDATE ?x SET ATTRIBUTES {{a: 1}} WHERE {{ ?x {HEADACHE} }}",
        f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {HEADACHE} }}",
    ):
        assert refusal(scopes.view, text) == f"C:Symptom/Headache is {NOT_OWN}."
    # When nobody else has it, it is one's own to delete.
    scopes.team.execute(f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {HEADACHE} }}")
    scopes.note()
    receipt = scopes.view.execute(f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {HEADACHE} }}")
    assert receipt == {"deleted_concepts": 1, "deleted_propositions": 1}


def test_delete_removes_the_part_of_the_member(scopes: Scopes) -> None:
    own_bob(scopes)
    scopes.view.execute(
        f'UPSERT {{ CONCEPT {{ {BOB} SET PROPOSITIONS {{("treats", {HEADACHE})}} }} }}'
    )
    receipt = scopes.view.execute(f"DELETE CONCEPT ?p DETACH WHERE {{ ?p {BOB} }}")
    assert receipt == {"deleted_concepts": 1, "deleted_propositions": 1}
    assert values(scopes.view, BOB)["home"] == "Rome"
    with pytest.raises(KipError, match="KIP_3002"):
        scopes.ada.execute(f"FIND(?p) WHERE {{ ?p {BOB} }}")
    message = refusal(scopes.view, f"DELETE CONCEPT ?p DETACH WHERE {{ ?p {BOB} }}")
    assert message == f"C:Person/Bob is {NOT_OWN}."


def test_delete_propositions(scopes: Scopes) -> None:
    [fact] = links(scopes.view, "treats")
    text = 'DELETE PROPOSITIONS ?l WHERE { ?l (?a, "treats", ?b) }'
    assert refusal(scopes.view, text) == f"{fact['id']} is {NOT_OWN}."
    scopes.view.execute(f'UPSERT {{ PROPOSITION {{ ({ASPIRIN}, "treats", {HEADACHE}) }} }}')
    assert scopes.view.execute(text) == {"deleted_propositions": 1}
    assert links(scopes.view, "treats") == [fact]


def test_keys_that_only_others_have_are_not_deleted(scopes: Scopes) -> None:
    own_bob(scopes)
    delete = 'DELETE ATTRIBUTES {"%s"} FROM ?p WHERE { ?p {type: "Person"} }'
    assert refusal(scopes.view, delete % "age") == f"'age' of C:Person/Bob is {NOT_OWN}."
    # Both have a home: the own one goes, and that of the team shows again.
    receipt = scopes.view.execute(delete % "home")
    assert receipt == {"updated_concepts": 1, "updated_propositions": 0}
    assert values(scopes.view, BOB)["home"] == "Rome"
    message = refusal(scopes.view, delete % "home")
    assert message == f"'home' of C:Person/Bob is {NOT_OWN}."
    # A key that no element has changes nothing.
    assert scopes.view.execute(delete % "hat")["updated_concepts"] == 0
    metadata = f'DELETE METADATA {{"source"}} FROM ?p WHERE {{ ?p {BOB} }}'
    assert refusal(scopes.view, metadata) == f"'source' of C:Person/Bob is {NOT_OWN}."


def test_merge_joins_what_the_member_has(scopes: Scopes) -> None:
    own_bob(scopes)
    merge = "MERGE CONCEPT ?a INTO ?b WHERE { ?a %s ?b %s }"
    cy, robert = '{type: "Person", name: "Cy"}', '{type: "Person", name: "Robert"}'
    scopes.team.execute(f"UPSERT {{ CONCEPT {{ {robert} }} }}")
    scopes.note()
    assert refusal(scopes.view, merge % (cy, robert)) == f"C:Person/Robert is {NOT_OWN}."
    assert refusal(scopes.view, merge % (robert, cy)) == f"C:Person/Robert is {NOT_OWN}."
    scopes.view.execute(merge % (cy, BOB))
    assert values(scopes.ada, BOB)["aliases"] == ["Cy"]
    assert values(scopes.view, BOB)["age"] == 20


# Other ways of writing ----------------------------------------------------------------------------


def test_a_transaction_of_a_view(scopes: Scopes) -> None:
    def write(tx: Any) -> int:
        rows = tx.find(f"FIND(?p.attributes.age) WHERE {{ ?p {BOB} }}")
        tx.execute(f"UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{age: 41}} }} }}")
        bob = {"type": "Person", "name": "Bob"}
        cy = {"type": "Person", "name": "Cy", "attributes": {"age": 1}}
        tx.write([cy, {"subject": cy, "predicate": "treats", "object": bob, "metadata": {"x": 1}}])
        return int(rows.tuples()[0][0])

    commit = scopes.ada.info()["commit"]
    assert scopes.view.transaction(write, dry_run=True) == scopes.view.transaction(write) == 40
    assert scopes.ada.info()["commit"] == commit + 1
    assert values(scopes.ada, BOB) == {"age": 41, "_version": 1}
    assert len(links(scopes.view, "treats")) == 2
    scopes.view.transaction(lambda tx: tx.write(removed=["C:Person/Cy", "C:Person/Nobody"]))
    assert len(links(scopes.view, "treats")) == 1
    with pytest.raises(KipError, match=NOT_OWN):
        scopes.view.transaction(lambda tx: tx.write(removed=["C:Drug/Aspirin"]))


def test_a_batch_of_a_view(scopes: Scopes) -> None:
    commands = [
        f"UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{age: 41}} }} }}",
        f"UPDATE ?p SET ATTRIBUTES {{age: ADD(?p.attributes.age, 1)}} WHERE {{ ?p {BOB} }}",
        f"FIND(?p.attributes.age) WHERE {{ ?p {BOB} }}",
        f"UPDATE ?p SET ATTRIBUTES {{dose: 1}} WHERE {{ ?p {ASPIRIN} }}",
    ]
    before = scopes.ada.snapshot()
    tried = scopes.view.execute_kip({"commands": commands, "dry_run": True})
    assert scopes.ada.snapshot() == before
    answers = scopes.view.execute_kip({"commands": commands})
    assert tried == answers
    assert answers["result"][2]["result"] == [42]
    assert answers["result"][3]["error"]["code"] == "KIP_3004"


def test_capsules_and_imports_go_to_the_member(scopes: Scopes, tmp_path: Path) -> None:
    scopes.view.apply_capsule(f"UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{hat: 7}} }} }}")
    assert values(scopes.ada, BOB) == {"hat": 7, "_version": 1}
    text = """
    @prefix x: <https://x.example/> .
    x:Cy a x:Drug ; x:treats x:Cough . x:Cough a x:Symptom .
    """
    report = scopes.view.import_rdf(text, dry_run=True)
    assert report["concepts"]["created"] == 2
    assert scopes.view.import_rdf(text)["propositions"]["created"] == 1
    assert len(links(scopes.ada, "treats")) == 1
    assert scopes.view.import_rdf(text)["propositions"]["created"] == 0


def test_a_type_of_another_scope_cannot_go_while_it_is_used(scopes: Scopes) -> None:
    scopes.view.execute('UPSERT { CONCEPT { {type: "Drug", name: "Codeine"} } }')
    # The team may delete its definition; what the member named keeps its own.
    for kind in ("Drug", "Symptom"):
        scopes.team.execute(f'DELETE CONCEPT ?x DETACH WHERE {{ ?x {{type: "{kind}"}} }}')
    scopes.team.execute(
        'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "$ConceptType", name: "Drug"} }'
    )
    scopes.note()
    names = 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
    assert scopes.view.execute(names) == scopes.ada.execute(names) == ["Codeine"]


def test_a_strict_member_judges_what_the_view_shows() -> None:
    scopes = Scopes(strict_schema=True)
    scopes.team.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES {instance_schema: '
        '{dose: {type: "number", is_required: true}, maker: {type: "string"}}} } }'
    )
    assert scopes.view.strict_schema
    text = "UPSERT { CONCEPT { %s SET ATTRIBUTES {maker: :maker} } }"
    with pytest.raises(KipError, match="KIP_2003"):
        scopes.view.execute(text % ASPIRIN, maker=1)
    scopes.view.execute(text % ASPIRIN, maker="X")  # the team has its dose
    with pytest.raises(KipError, match="KIP_2002"):
        scopes.view.execute(text % '{type: "Drug", name: "New"}', maker="X")
    scopes.close()


# Trust --------------------------------------------------------------------------------------------


def test_a_model_cannot_change_by_another_scope_what_people_decided(scopes: Scopes) -> None:
    scopes.team.execute(f'UPDATE ?p SET METADATA {{status: "reviewed"}} WHERE {{ ?p {BOB} }}')
    scopes.team.execute(
        'UPDATE ?l SET METADATA {status: "retracted"} WHERE { ?l (?a, "treats", ?b) }'
    )
    scopes.note()
    with scopes.view.acting(author="m", kind="model"):
        message = refusal(
            scopes.view,
            f'UPSERT {{ PROPOSITION {{ ({ASPIRIN}, "treats", {HEADACHE}) }} WITH METADATA '
            '{status: "active"} }',
        )
        assert "only a person changes its status" in message
        receipt = scopes.view.execute(
            f"UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{shoe: 43}} }} }}"
        )
        assert receipt["unreviewed"] == ["C:Person/Bob"]
    assert values(scopes.view, BOB)["status"] == "active"


def test_what_another_scope_rejected_is_not_written_through_the_view(scopes: Scopes) -> None:
    name = scopes.team.reject(("C:Person/Bob", "attributes.home", "The Moon"), reason="A joke.")
    scopes.note()
    moon = f'UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{home: "the  moon"}} }} }}'
    assert "was rejected by human/owner" in refusal(scopes.view, moon)
    with pytest.raises(KipError, match=f"C:Rejection/{name[:40]}.* is {NOT_OWN}"):
        scopes.view.lift(name)
    with pytest.raises(KipError, match="KIP_3002"):
        scopes.view.lift("0" * 64)


def test_rejections_are_those_of_the_member(scopes: Scopes) -> None:
    own_bob(scopes)
    [fact] = links(scopes.view, "treats")
    for what in (fact["id"], ("C:Drug/Aspirin", "treats", "C:Symptom/Headache")):
        with pytest.raises(KipError, match=f"{fact['id']} is {NOT_OWN}"):
            scopes.view.reject(what, reason="It does not.")
    with pytest.raises(KipError, match=f"'age' of C:Person/Bob is {NOT_OWN}"):
        scopes.view.reject(("C:Person/Bob", "attributes.age", 40), reason="No.")
    name = scopes.view.reject(("C:Person/Bob", "attributes.home", "Oslo"), reason="No.")
    assert "home" not in values(scopes.ada, BOB)
    assert [one["name"] for one in scopes.view.rejections()] == [name]
    scopes.view.lift(name)
    assert scopes.ada.rejections() == []


def test_proposals_to_a_view_are_those_of_the_member(scopes: Scopes) -> None:
    text = f"UPSERT {{ CONCEPT {{ {BOB} SET ATTRIBUTES {{shoe: 43}} }} }}"
    with scopes.view.acting(author="m", access="propose"):
        answer = scopes.view.execute(text)
        stale = scopes.view.execute(text.replace("43", "44"))
    assert answer["would"]["upsert_concept_nodes"] == ["C:Person/Bob"]
    assert [one["id"] for one in scopes.ada.proposals()] == ["prop-1", "prop-2"]
    with pytest.raises(KipError, match="its names are those of the view of team, ada"):
        scopes.ada.approve("prop-1")
    scopes.view.approve("prop-1")
    assert values(scopes.ada, BOB) == {"shoe": 43, "_version": 1}
    with pytest.raises(KipError, match="prop-2 is stale"):
        scopes.view.approve(stale["proposed"])
    assert scopes.view.decline("prop-2", "It is old.")["state"] == "declined"


def test_what_concerns_one_nexus_is_refused(scopes: Scopes) -> None:
    view = scopes.view
    calls: list[Any] = [
        lambda: view.undo(seq=1),
        lambda: view.forget(["C:Person/Bob"]),
        lambda: view.apply_erasures(view.erasures()),
        lambda: view.compact_history(1),
        lambda: view.restore(scopes.team.snapshot()),
        lambda: view.apply_patch(""),
        view.optimize,
    ]
    for call in calls:
        with pytest.raises(KipError) as caught:
            call()
        assert caught.value.code == "KIP_1001"
        assert caught.value.hint == "Call it on 'ada', the member that this view writes."


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
        refused(first, "Write it in the scope 'team', or leave it to a person", NOTE, note=2)
        scopes.team.store.scope = ""  # as in memory
        refused(first, "Write it in that scope, or leave it to a person", NOTE, note=2)
    with scopes.view.acting(author="m", kind="model"):
        assert scopes.view.execute(NOTE, note=2)["unreviewed"] == ["C:Person/Bob"]
    (metadata,) = scopes.view.execute(ADA_STATUS)
    assert metadata["status"] == "active"


def test_a_model_puts_no_value_back_under_a_review(scopes: Scopes) -> None:
    scopes.team.execute(MARK, status="reviewed")
    scopes.note()
    uncover = 'DELETE METADATA {"status"} FROM ?p WHERE { ?p ' + BOB + " }"
    with scopes.view.acting(author="m", kind="model"):
        scopes.view.execute(NOTE, note=2)
    refused(scopes.view, "would be reviewed: only a person", uncover)
    assert scopes.view.execute(ADA_STATUS)[0]["status"] == "active"
    scopes.view.execute(uncover)
    assert scopes.view.execute(ADA_STATUS)[0]["status"] == "reviewed"


def test_what_another_scope_has_rejected_is_not_written_by_merge(scopes: Scopes) -> None:
    merge = "MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: :who} ?b " + BOB + " }"
    scopes.view.execute(NOTE, note=1)
    scopes.view.execute(TREATS, who="Bob")
    scopes.view.execute("DELETE PROPOSITIONS ?l WHERE { ?l (" + BOB + ', "treats", ?s) }')
    scopes.view.execute(TREATS, who="Zed")
    scopes.view.execute(TREATS, who="Rob")
    scopes.view.execute(merge, who="Rob")  # the positive control
    scopes.ada.undo(seq=scopes.ada.info()["commit"])
    scopes.team.reject(REJECTED, reason="He is a patient.")
    scopes.note()
    refused(scopes.view, "was rejected by human/owner at", TREATS, who="Bob")
    refused(scopes.view, "was rejected by human/owner at", merge, who="Zed")


def test_a_capsule_leaves_out_what_the_written_member_has_forgotten(scopes: Scopes) -> None:
    scopes.view.execute(TREATS, who="Zed")
    scopes.ada.forget(["C:Person/Zed"])
    text = TREATS.replace(":who", '"Zed"')
    assert scopes.view.apply_capsule(text)["erased"] == 2
    assert scopes.ada.execute('FIND(?p) WHERE { ?p {name: "Zed"} }') == []


def test_views_that_write_each_others_members_at_once(scopes: Scopes) -> None:
    other = View([scopes.ada, scopes.team], write=scopes.team)
    drug = '{type: "Drug", name: :n}'
    text = f'UPSERT {{ CONCEPT {{ {drug} SET PROPOSITIONS {{("treats", {BOB})}} }} }}'
    faults: list[Exception] = []

    def write(view: Nexus) -> None:
        try:
            for number in range(15):
                view.execute(text, n=f"{id(view)} {number}")
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=write, args=(view,)) for view in (scopes.view, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert faults == []
    for view in (scopes.view, other):
        assert view.execute('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }') == 31
    other.close()
    scopes.note()


def test_no_statement_of_a_view_keeps_the_files_of_a_closed_member(tmp_path: Path) -> None:
    """The engine would still change them, and the next opening call that damage."""
    person = '{type: "Person", name: "Bo"}'
    upsert = f"UPSERT {{ CONCEPT {{ {person} SET ATTRIBUTES {{n: 1}} }} }}"
    update = f"UPDATE ?p SET ATTRIBUTES {{n: 2}} WHERE {{ ?p {person} }}"
    delete = f"DELETE CONCEPT ?p DETACH WHERE {{ ?p {person} }}"
    with Nexus.open(tmp_path / "team") as team:
        team.execute(upsert)
    gc.disable()
    try:
        with (
            Nexus.open(tmp_path / "team", read_only=True) as team,
            Nexus.open(tmp_path / "ada") as ada,
            View([team, ada], write=ada) as view,
        ):
            refused = view.execute_kip({"command": update})
            assert refused["error"]["code"] == "KIP_3004"
            for text in (upsert, update, update, delete):
                view.execute(text, dry_run=True)
                view.execute(text)
            view.transaction(lambda tx: tx.execute(upsert))
            assert view.why(f"FIND(?p) WHERE {{ ?p {person} }}").rows
            assert view.history("C:Person/Bo")["entries"]
        for folder in ("team", "ada"):
            graph = next(path.parent for path in (tmp_path / folder).glob("graph*/CURRENT"))
            Engine(str(graph))  # an error while this process has it open
    finally:
        gc.enable()
