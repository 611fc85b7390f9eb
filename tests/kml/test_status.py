"""``metadata.status`` on every path that writes: people review, and people lift retractions."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import rdflib

import kiprdf
from kiprdf import chunks
from kiprdf.memory import Memory
from tests.nexus.support import StoppedClock, dataset, element, facts, untouched

Write = Callable[[kiprdf.Nexus], Any]

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "says"} }
  CONCEPT { {type: "Symptom", name: "Headache"} }
  CONCEPT { {type: "Symptom", name: "Ache"} }
  CONCEPT { {type: "Symptom", name: "Migraine"} }
}
"""
DRUG = """
UPSERT {
  CONCEPT ?drug { {type: "Drug", name: :name} SET ATTRIBUTES { dose: 1 } }
  PROPOSITION ?fact { (?drug, "treats", {type: "Symptom", name: "Headache"}) }
  PROPOSITION { (?drug, "treats", {type: "Symptom", name: "Ache"}) }
  PROPOSITION { ({type: "Symptom", name: "Migraine"}, "says", ?fact) }
}
WITH METADATA { source: "leaflet" }
"""
MARK = "UPDATE ?x SET METADATA { status: :status } WHERE { ?x {type: :type, name: :name} }"
MARK_FACT = """
UPDATE ?l SET METADATA { status: :status }
WHERE { ?l ({type: "Drug", name: :name}, "treats", {type: "Symptom", name: "Headache"}) }
"""


def world(**options: Any) -> kiprdf.Nexus:
    """A nexus with a drug and its fact that are reviewed, retracted, and plain."""
    defaults: dict[str, Any] = {"genesis": False, "history": True, "clock": StoppedClock()}
    return filled(kiprdf.Nexus.memory(**{**defaults, **options}))


def filled(nexus: kiprdf.Nexus) -> kiprdf.Nexus:
    nexus.execute(SCHEMA)
    for name in ("Reviewed", "Retracted", "Plain"):
        nexus.execute(DRUG, name=name)
    for name in ("Reviewed", "Retracted"):
        nexus.execute(MARK, status=name.lower(), type="Drug", name=name)
        nexus.execute(MARK_FACT, status=name.lower(), name=name)
    return nexus


def acting(nexus: kiprdf.Nexus, kind: Any) -> AbstractContextManager[None]:
    return nexus.acting(author="m", kind=kind)


def fact(nexus: kiprdf.Nexus, name: str) -> str:
    command = 'FIND(?l.id) WHERE { ?l ({name: :name}, "treats", {name: "Headache"}) }'
    (id,) = nexus.execute(command, name=name)
    return str(id)


def status(nexus: kiprdf.Nexus, id: str) -> Any:
    return element(nexus, id)["metadata"].get("status")


def statement(text: str, **parameters: Any) -> Write:
    return lambda nexus: nexus.execute(text, **parameters)


def capsule(text: str) -> Write:
    return lambda nexus: nexus.apply_capsule(text)


def in_transaction(text: str, **parameters: Any) -> Write:
    return lambda nexus: nexus.transaction(lambda tx: tx.execute(text, **parameters))


def written(*elements: dict[str, Any], removed: tuple[str, ...] = ()) -> Write:
    return lambda nexus: nexus.transaction(lambda tx: tx.write(elements, removed))


def patched(change: Write) -> Write:
    """The patch that leads to what the owner's change makes of a nexus."""

    def apply(nexus: kiprdf.Nexus) -> Any:
        with kiprdf.Nexus.memory(genesis=False, clock=StoppedClock()) as other:
            other.restore(nexus.snapshot())
            change(other)
            return nexus.apply_patch(nexus.patch_to(other).text)

    return apply


def imported(body: str, **options: Any) -> Write:
    prefix = "@prefix : <urn:x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    return lambda nexus: nexus.import_rdf(prefix + body, define=True, **options)


def with_rule(action: str) -> Write:
    def run(nexus: kiprdf.Nexus) -> Any:
        engine = chunks.Engine(f"start {{}} => {action}", {"facts": nexus})
        engine.goal("start {}")
        engine.run()
        if engine.module("facts").status not in (None, "okay"):
            raise kiprdf.KipError("KIP_3004", "The rule has failed.", "")

    return run


def upsert(name: str, metadata: str, fact: bool = False) -> str:
    """An UPSERT that states a drug, or its fact, with other metadata."""
    drug = f'{{type: "Drug", name: "{name}"}}'
    if not fact:
        return f"UPSERT {{ CONCEPT {{ {drug} }} WITH METADATA {{ {metadata} }} }}"
    link = f'({drug}, "treats", {{type: "Symptom", name: "Headache"}})'
    return f"UPSERT {{ PROPOSITION {{ {link} }} }} WITH METADATA {{ {metadata} }}"


def drug(name: str, status: Any) -> dict[str, Any]:
    return {"type": "Drug", "name": name, "metadata": {"status": status}}


def link(name: str, status: Any) -> dict[str, Any]:
    ends = {"subject": f"C:Drug/{name}", "predicate": "treats", "object": "C:Symptom/Headache"}
    return {**ends, "metadata": {"status": status}}


MERGE = """
MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: :a} ?b {type: "Drug", name: :b} }
"""
MERGE_ENDS = 'MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: "Headache"} ?b {name: "Ache"} }'
UNMARK = 'DELETE METADATA {"status"} FROM ?x WHERE { ?x {type: "Drug", name: :name} }'
DELETE = 'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Drug", name: :name} }'
DELETE_FACT = """
DELETE PROPOSITIONS ?l WHERE { ?l ({type: "Drug", name: :name}, "treats", ?s) }
"""


def setting(name: str, status: Any) -> dict[str, Write]:
    """Each way to give a drug or its fact another status, by path."""
    given = {"status": status, "name": name}
    text = f"status: {json.dumps(status)}"
    return {
        "UPSERT": statement(upsert(name, text)),
        "UPSERT of a fact": statement(upsert(name, text, fact=True)),
        "UPDATE": statement(MARK, type="Drug", **given),
        "UPDATE of a fact": statement(MARK_FACT, **given),
        "capsule": capsule(upsert(name, text, fact=True)),
        "transaction": in_transaction(MARK, type="Drug", **given),
        "transaction.write": written(drug(name, status)),
        "transaction.write of a fact": written(link(name, status)),
        "import": imported(
            f':x a :Drug ; rdfs:label "{name}" ; :seen "x" .', metadata={"status": status}
        ),
        "patch": patched(statement(MARK, type="Drug", **given)),
        "patch of a fact": patched(statement(MARK_FACT, **given)),
    }


def unmarking(name: str) -> dict[str, Write]:
    """Each way to remove the status of a drug."""
    return {
        "DELETE METADATA": statement(UNMARK, name=name),
        "transaction": in_transaction(UNMARK, name=name),
        "patch": patched(statement(UNMARK, name=name)),
    }


def deleting(name: str) -> dict[str, Write]:
    """Each way to delete a drug or its fact."""
    return {
        "DELETE CONCEPT": statement(DELETE, name=name),
        "DELETE PROPOSITIONS": statement(DELETE_FACT, name=name),
        "cascade": statement('DELETE CONCEPT ?x DETACH WHERE { ?x {name: "Headache"} }'),
        "MERGE of the concept": statement(MERGE, a=name, b="Plain"),
        "MERGE of its end": statement(MERGE_ENDS),
        "transaction": in_transaction(DELETE, name=name),
        "transaction.write": written(removed=(f"C:Drug/{name}",)),
        "transaction.write of its end": written(removed=("C:Symptom/Headache",)),
        "patch": patched(statement(DELETE, name=name)),
        "patch of the fact": patched(statement(DELETE_FACT, name=name)),
        "forget": lambda nexus: nexus.forget([f"C:Drug/{name}"]),
        "forget of the fact": lambda nexus: nexus.forget([fact(nexus, name)]),
        "rule": with_rule(f"Drug {{@module facts; @do delete; @id {name}}}"),
    }


def cases(prefix: str, writes: dict[str, Write]) -> list[Any]:
    return [pytest.param(write, id=f"{prefix}: {path}") for path, write in writes.items()]


NEW = 'UPSERT { CONCEPT { {type: "Drug", name: "New"} } WITH METADATA { status: "reviewed" } }'
NEW_FACT = upsert("Plain", 'status: "reviewed"', fact=True).replace("Headache", "Migraine")
OF_NEW = {
    "UPSERT": statement(NEW),
    "UPSERT of a fact": statement(NEW_FACT),
    "capsule": capsule(NEW),
    "transaction": in_transaction(NEW_FACT),
    "transaction.write": written(drug("New", "reviewed")),
    "import": imported(':x a :Drug ; rdfs:label "New" .', metadata={"status": "reviewed"}),
    "ontology": lambda nexus: nexus.import_ontology(
        "@prefix : <urn:x/> . :New a <http://www.w3.org/2002/07/owl#Class> .",
        metadata={"status": "reviewed"},
    ),
    "patch": patched(statement(NEW)),
    "patch of a fact": patched(statement(NEW_FACT)),
}
TYPED = {"@value": "reviewed", "@type": "http://www.w3.org/2001/XMLSchema#string"}
ONLY_PEOPLE = [
    *cases("review", setting("Plain", "reviewed")),
    *cases("review what is new", OF_NEW),
    *cases("review with a language", setting("Plain", {"@value": "reviewed", "@language": "en"})),
    *cases("review with a datatype", {"UPDATE": setting("Plain", TYPED)["UPDATE"]}),
    *cases("review in a list", setting("Plain", ["active", "reviewed"])),
    *cases("review what is retracted", setting("Retracted", "reviewed")),
    *cases("draft what is reviewed", setting("Reviewed", "draft")),
    *cases("retract what is reviewed", setting("Reviewed", "retracted")),
    *cases("unmark what is reviewed", unmarking("Reviewed")),
    *cases("delete what is reviewed", deleting("Reviewed")),
    *cases("lift", setting("Retracted", "active")),
    *cases("lift to a draft", setting("Retracted", "draft")),
    *cases("lift by a list", setting("Retracted", ["retracted"])),
    *cases("unmark what is retracted", unmarking("Retracted")),
    *cases("delete what is retracted", deleting("Retracted")),
]


def test_the_world_of_the_cases() -> None:
    with world() as nexus:
        assert status(nexus, "C:Drug/Plain") is None
        assert status(nexus, fact(nexus, "Reviewed")) == "reviewed"
        metadata = element(nexus, fact(nexus, "Retracted"))["metadata"]
        assert metadata["status"] == "retracted"
        assert metadata["retracted_by"] == "human/owner"
        assert metadata["retracted_at"] == "2026-01-02T03:04:05.678Z"


@pytest.mark.parametrize("write", ONLY_PEOPLE)
def test_what_only_people_may_do(write: Write, request: pytest.FixtureRequest) -> None:
    kind = "job" if "a fact" in request.node.name else "model"
    with world() as nexus:
        with untouched(nexus), pytest.raises(kiprdf.KipError) as raised, acting(nexus, kind):
            write(nexus)
        assert raised.value.code == "KIP_3004"
        before = dataset(nexus)
        with nexus.acting(author="ada", kind="human"):
            write(nexus)
        assert dataset(nexus) != before


@pytest.mark.parametrize(
    ("change", "id"),
    [
        (statement(MARK, status="retracted", type="Drug", name="Plain"), "C:Drug/Plain"),
        (statement(MARK, status="draft", type="Drug", name="Reviewed"), "C:Drug/Reviewed"),
        (statement(DRUG, name="New"), "C:Drug/New"),
    ],
    ids=["a retraction", "a review that was taken back", "what was reviewed afterwards"],
)
def test_an_undo_of_what_people_judged_is_for_people(change: Write, id: str) -> None:
    with world() as nexus:
        change(nexus)
        seq = nexus.info()["commit"]
        if id == "C:Drug/New":
            nexus.execute(MARK, status="reviewed", type="Drug", name="New")
            seq = nexus.info()["commit"]
        with nexus.acting(author="m"), untouched(nexus):
            plan = nexus.undo(seq=seq, dry_run=True)
            assert "only a person" in plan["conflicts"][0]["protected"]
            assert plan["conflicts"][0]["id"] == id
            with pytest.raises(kiprdf.KipError, match="only a person"):
                nexus.undo(seq=seq)
            assert nexus.undo(seq=seq, conflicts="skip")["seq"] is None
        with nexus.acting(author="ada", kind="human"):
            assert nexus.undo(seq=seq)["seq"] == seq + 1


# Values ---------------------------------------------------------------------------------------

RULE = "Drug {@module facts; @do put; @id Reviewed; dose 2}"
SET_DOSE = 'UPSERT { CONCEPT { {type: "Drug", name: "Reviewed"} SET ATTRIBUTES { dose: 2 } } }'
RECEIPTS: dict[str, Write] = {
    "UPSERT of an attribute": statement(SET_DOSE),
    "UPSERT of metadata": statement(upsert("Reviewed", 'source: "forum"')),
    "UPSERT with the status that it gets": statement(upsert("Reviewed", 'a: 1, status: "active"')),
    "UPDATE": statement('UPDATE ?x SET ATTRIBUTES { dose: 2 } WHERE { ?x {name: "Reviewed"} }'),
    "MERGE of another one into it": statement(MERGE, a="Plain", b="Reviewed"),
    "DELETE ATTRIBUTES": statement(
        'DELETE ATTRIBUTES {"dose"} FROM ?x WHERE { ?x {name: "Reviewed"} }'
    ),
    "DELETE METADATA": statement(
        'DELETE METADATA {"source"} FROM ?x WHERE { ?x {name: "Reviewed"} }'
    ),
    "capsule": capsule(SET_DOSE),
    "transaction": in_transaction(SET_DOSE),
    "import": imported(':x a :Drug ; rdfs:label "Reviewed" ; :seen "x" .'),
    "patch": patched(statement(SET_DOSE)),
}


@pytest.mark.parametrize("write", RECEIPTS.values(), ids=RECEIPTS)
def test_a_value_that_no_person_wrote_makes_a_reviewed_element_active(write: Write) -> None:
    kind = "job" if write is RECEIPTS["UPDATE"] else "model"
    with world() as nexus:
        with acting(nexus, kind):
            receipt = write(nexus)
        assert receipt["unreviewed"] == ["C:Drug/Reviewed"]
        metadata = element(nexus, "C:Drug/Reviewed")["metadata"]
        assert (metadata["status"], metadata["_actor"]) == ("active", f"{kind}/m")
        assert status(nexus, fact(nexus, "Reviewed")) == "reviewed"


@pytest.mark.parametrize("write", RECEIPTS.values(), ids=RECEIPTS)
def test_a_value_that_a_person_wrote_leaves_it_reviewed(write: Write) -> None:
    if write is RECEIPTS["UPSERT with the status that it gets"]:
        return
    with world() as nexus:
        before = element(nexus, "C:Drug/Reviewed")
        with nexus.acting(author="ada", kind="human"):
            assert "unreviewed" not in write(nexus)
        assert status(nexus, "C:Drug/Reviewed") == "reviewed"
        assert element(nexus, "C:Drug/Reviewed") != before


def test_a_dry_run_says_what_would_not_be_reviewed() -> None:
    with world() as nexus, nexus.acting(author="m"), untouched(nexus):
        request = {"command": SET_DOSE, "dry_run": True}
        assert nexus.execute_kip(request)["result"]["unreviewed"] == ["C:Drug/Reviewed"]
        receipt = nexus.transaction(lambda tx: tx.execute(SET_DOSE), dry_run=True)
        assert receipt["unreviewed"] == ["C:Drug/Reviewed"]
        report = imported(':x a :Drug ; rdfs:label "Reviewed" ; :seen "x" .', dry_run=True)(nexus)
        assert report["unreviewed"] == ["C:Drug/Reviewed"]


def test_a_transaction_knows_afterwards_what_is_no_longer_reviewed() -> None:
    with world() as nexus, nexus.acting(author="m"):
        element = {"type": "Drug", "name": "Reviewed", "attributes": {"dose": 2}}
        done = nexus.transaction(lambda tx: (tx.write([element]), tx)[1])
        assert done.unreviewed == ["C:Drug/Reviewed"]


def test_a_rule_that_changes_a_value_makes_it_active() -> None:
    with world() as nexus:
        with nexus.acting(author="m"):
            with_rule(RULE)(nexus)
        assert element(nexus, "C:Drug/Reviewed")["attributes"] == {"dose": 2}
        assert status(nexus, "C:Drug/Reviewed") == "active"


def test_other_ends_are_another_value_of_a_fact() -> None:
    with world() as nexus:
        id = fact(nexus, "Reviewed")
        nexus.execute('UPSERT { CONCEPT { {type: "Symptom", name: "Pain"} } }')
        merge = MERGE_ENDS.replace("Ache", "Pain")
        with nexus.acting(author="m"):
            receipt = nexus.execute(merge)
        assert receipt["unreviewed"] == [id]
        assert element(nexus, id)["object"] == "C:Symptom/Pain"
        assert status(nexus, id) == "active"


def test_other_ends_of_a_fact_are_another_value_of_the_facts_about_it() -> None:
    """A reviewed sentence about a fact says something else when a merge changes the fact."""
    says = """UPSERT { CONCEPT ?who { {type: "Symptom", name: :who} }
      PROPOSITION ?it { (?who, "says", (id: :id)) } PROPOSITION { (?who, "says", ?it) } }
      WITH METADATA { status: "reviewed" }"""
    with world() as nexus:
        stated = nexus.execute(says, who="Migraine", id=fact(nexus, "Reviewed"))
        about = stated["upsert_proposition_links"]
        nexus.execute('UPSERT { CONCEPT { {type: "Symptom", name: "Pain"} } }')
        merge, seq = MERGE_ENDS.replace("Ache", "Pain"), nexus.info()["commit"] + 1
        nexus.execute(merge)
        assert [status(nexus, id) for id in about] == ["reviewed", "reviewed"]
        with nexus.acting(author="m"):
            undone = nexus.undo(seq=seq)["unreviewed"]
        assert {*about} <= {*undone}
        assert [status(nexus, id) for id in about] == ["active", "active"]
        nexus.execute(says, who="Migraine", id=fact(nexus, "Reviewed"))
        with nexus.acting(author="m"):
            assert {*about} <= {*nexus.execute(merge)["unreviewed"]}
        assert [status(nexus, id) for id in about] == ["active", "active"]


def test_an_undo_says_what_is_no_longer_reviewed() -> None:
    with world() as nexus:
        nexus.execute(SET_DOSE)
        seq = nexus.info()["commit"]
        with nexus.acting(author="m"):
            assert nexus.undo(seq=seq, dry_run=True)["unreviewed"] == ["C:Drug/Reviewed"]
            assert nexus.undo(seq=seq)["unreviewed"] == ["C:Drug/Reviewed"]
        assert element(nexus, "C:Drug/Reviewed")["attributes"] == {"dose": 1}
        assert status(nexus, "C:Drug/Reviewed") == "active"


@pytest.mark.parametrize(
    "write",
    [
        statement(DRUG, name="Reviewed"),
        in_transaction(DRUG, name="Reviewed"),
        statement(MARK, status="reviewed", type="Drug", name="Reviewed"),
        capsule(upsert("Reviewed", 'source: "leaflet", status: "reviewed"')),
        statement(upsert("Retracted", 'source: "leaflet", status: "retracted"')),
    ],
)
def test_what_changes_no_value_leaves_it_reviewed(write: Write) -> None:
    with world() as nexus, nexus.acting(author="m"), untouched(nexus):
        assert "unreviewed" not in write(nexus)


def test_what_a_model_says_of_what_nobody_judged_is_free() -> None:
    with world() as nexus, nexus.acting(author="m"):
        for value in ("draft", "deprecated", "retracted", "active", "odd", None):
            nexus.execute(MARK, status=value, type="Drug", name="Plain")
            assert status(nexus, "C:Drug/Plain") == value
        nexus.execute(DELETE, name="Plain")


def test_a_model_may_write_to_what_is_retracted() -> None:
    with world() as nexus, nexus.acting(author="m"):
        nexus.execute(SET_DOSE.replace("Reviewed", "Retracted"))
        assert element(nexus, "C:Drug/Retracted")["attributes"] == {"dose": 2}
        assert status(nexus, "C:Drug/Retracted") == "retracted"


# The marks of a retraction --------------------------------------------------------------------

ACTORS: list[tuple[dict[str, Any], str]] = [
    ({}, "human/owner"),
    ({"author": "ada", "kind": "human"}, "human/ada"),
    ({"author": "m"}, "model/m"),
    ({"author": "j", "kind": "job"}, "job/j"),
]
AT = "2026-01-02T03:04:05.678Z"


@pytest.mark.parametrize(
    ("path", "actor", "label"),
    [
        *((path, *ACTORS[2]) for path in setting("Plain", "retracted")),
        *((path, *actor) for path in ("UPSERT", "patch of a fact") for actor in ACTORS),
    ],
)
def test_the_engine_notes_who_retracted(path: str, actor: dict[str, Any], label: str) -> None:
    with world() as nexus:
        with nexus.acting(**actor):
            setting("Plain", "retracted")[path](nexus)
        id = "C:Drug/Plain" if "fact" not in path and path != "capsule" else fact(nexus, "Plain")
        metadata = element(nexus, id)["metadata"]
        assert metadata["status"] == "retracted"
        assert (metadata["retracted_by"], metadata["retracted_at"]) == (label, AT)


CLAIM = 'status: "retracted", retracted_by: "human/eve", retracted_at: "1999-01-01T00:00:00Z"'


@pytest.mark.parametrize(
    "write",
    [
        statement(upsert("Plain", CLAIM)),
        capsule(upsert("Plain", CLAIM)),
        in_transaction(upsert("Plain", CLAIM)),
        statement(upsert("New", CLAIM)),
    ],
)
def test_nobody_else_says_who_retracted(write: Write) -> None:
    with world() as nexus:
        with nexus.acting(author="m"):
            write(nexus)
        (metadata,) = nexus.execute(
            'FIND(?x.metadata) WHERE { ?x {type: "Drug"} FILTER(?x.metadata.status == "retracted")'
            ' FILTER(?x.name != "Retracted") }'
        )
        assert (metadata["retracted_by"], metadata["retracted_at"]) == ("model/m", AT)


@pytest.mark.parametrize(
    "write",
    [
        statement(upsert("Retracted", 'retracted_by: "model/m"')),
        statement('DELETE METADATA {"retracted_by", "retracted_at"} FROM ?x WHERE { ?x {} }'),
        statement(upsert("Plain", 'retracted_by: "human/ada"')),
        in_transaction(upsert("Plain", 'retracted_at: "1999"')),
        patched(statement(DRUG, name="Plain")),
    ],
)
@pytest.mark.parametrize("actor", [{}, {"author": "m"}], ids=["owner", "model"])
def test_the_marks_change_with_the_status_alone(write: Write, actor: dict[str, Any]) -> None:
    with world() as nexus, nexus.acting(**actor), untouched(nexus):
        write(nexus)


@pytest.mark.parametrize(
    "write", [*setting("Retracted", "active").values(), *unmarking("Retracted").values()]
)
def test_a_retraction_that_is_lifted_leaves_no_marks(write: Write) -> None:
    with world() as nexus:
        with nexus.acting(author="ada", kind="human"):
            write(nexus)
        marked = nexus.execute(
            "FIND(?x.id) WHERE { ?x {} FILTER(?x.metadata.retracted_by != null) }"
        )
        marked += nexus.execute(
            "FIND(?x.id) WHERE { ?x (?s, ?p, ?o) FILTER(?x.metadata.retracted_by != null) }"
        )
        assert len(marked) == 1


def test_a_model_lifts_what_a_model_retracted() -> None:
    with world() as nexus, nexus.acting(author="m"):
        nexus.execute(MARK, status="retracted", type="Drug", name="Plain")
        nexus.execute(MARK, status="active", type="Drug", name="Plain")
        assert element(nexus, "C:Drug/Plain")["metadata"]["status"] == "active"
        assert "retracted_by" not in element(nexus, "C:Drug/Plain")["metadata"]


def test_an_undo_of_a_lifted_retraction_is_a_new_retraction() -> None:
    with world() as nexus:
        nexus.execute(MARK, status="active", type="Drug", name="Retracted")
        with nexus.acting(author="ada", kind="human"):
            nexus.undo(seq=nexus.info()["commit"])
        assert element(nexus, "C:Drug/Retracted")["metadata"]["retracted_by"] == "human/ada"


def test_what_a_model_retracted_and_a_person_rejects_is_retracted_by_the_person() -> None:
    with world() as nexus:
        id = fact(nexus, "Plain")
        with nexus.acting(author="m"):
            nexus.execute(MARK_FACT, status="retracted", name="Plain")
        with nexus.acting(author="ada", kind="human"):
            nexus.reject(id, reason="It does not.")
        assert element(nexus, id)["metadata"]["retracted_by"] == "human/ada"
        with nexus.acting(author="m"), pytest.raises(kiprdf.KipError, match="only a person"):
            nexus.execute(DELETE_FACT, name="Plain")


# A patch --------------------------------------------------------------------------------------


def test_a_patch_of_a_principal_names_it_and_nobody_else() -> None:
    def forge(nexus: kiprdf.Nexus) -> None:
        with nexus.acting(author="ada", kind="human"):
            nexus.execute(SET_DOSE.replace("Reviewed", "Plain"))
            nexus.execute(DRUG, name="New")

    with world() as nexus:
        with nexus.acting(author="m"):
            patched(forge)(nexus)
        for id in ("C:Drug/Plain", "C:Drug/New"):
            assert element(nexus, id)["metadata"]["_actor"] == "model/m"


def test_a_patch_that_only_claims_another_writer_changes_nothing() -> None:
    with world() as nexus:
        with nexus.acting(author="m"):
            nexus.execute(DRUG, name="New")
        actor = "<urn:kip:metadata/_actor>"
        subject = "<urn:kip:nexus/Drug/New>"
        patch = f'TX .\nD {subject} {actor} "model/m" .\nA {subject} {actor} "human/ada" .\nTC .\n'
        before = facts(nexus)
        with nexus.acting(author="n"):
            nexus.apply_patch(patch)
        assert facts(nexus) == before
        nexus.apply_patch(patch)
        assert element(nexus, "C:Drug/New")["metadata"]["_actor"] == "human/ada"


def test_a_patch_without_the_marks_of_a_retraction_gets_them() -> None:
    with world() as nexus:
        status = "<urn:kip:nexus/Drug/Plain> <urn:kip:metadata/status>"
        nexus.apply_patch(f'TX .\nA {status} "retracted" .\nTC .\n')
        metadata = element(nexus, "C:Drug/Plain")["metadata"]
        assert (metadata["retracted_by"], metadata["retracted_at"]) == ("human/owner", AT)
        nexus.apply_patch(f'TX .\nD {status} "retracted" .\nTC .\n')
        assert "retracted_by" not in element(nexus, "C:Drug/Plain")["metadata"]


def test_a_patch_of_the_owner_is_exact() -> None:
    with world() as nexus, kiprdf.Nexus.memory(genesis=False) as other:
        other.restore(nexus.snapshot())
        with other.acting(author="ada", kind="human"):
            other.execute(MARK, status="retracted", type="Drug", name="Plain")
            other.execute(MARK, status="active", type="Drug", name="Retracted")
        nexus.apply_patch(nexus.patch_to(other).text)
        assert facts(nexus) == facts(other)


# Memory, and other stores ---------------------------------------------------------------------

NOTE = "I use Docker."
EDGE = """
UPDATE ?l SET METADATA { status: :status }
WHERE { ?l ({type: "User"}, "uses", {type: "Tool", name: "Docker"}) }
"""
MEMORY_DELETES: dict[str, Callable[[Memory, str], Any]] = {
    "forget": Memory.forget,
    "erase": Memory.erase,
    "import_": lambda memory, id: memory.import_({**memory.export(), "entities": [], "edges": []}),
}


@pytest.mark.parametrize("value", ["reviewed", "retracted"])
@pytest.mark.parametrize("delete", MEMORY_DELETES.values(), ids=MEMORY_DELETES)
def test_a_memory_deletes_nothing_that_people_judged(
    delete: Callable[[Memory, str], Any], value: str
) -> None:
    with kiprdf.Nexus.memory(history=True) as nexus:
        memory = Memory(nexus)
        id = memory.add(NOTE)
        nexus.execute(EDGE, status=value)
        with untouched(nexus), pytest.raises(kiprdf.KipError) as raised, acting(nexus, "model"):
            delete(memory, id)
        assert raised.value.code == "KIP_3004"
        assert len(memory.edges("uses")) == 1
        delete(memory, id)
        assert memory.edges("uses") == []


def test_a_note_that_states_a_retracted_fact_leaves_it_retracted() -> None:
    with kiprdf.Nexus.memory() as nexus:
        memory = Memory(nexus)
        memory.add(NOTE)
        nexus.execute(EDGE, status="retracted")
        with nexus.acting(author="m"):
            memory.add(NOTE, session="another")
            edge = memory.edges("uses")[0]
            memory.upsert_edge(edge.subject_id, "uses", edge.object_id, 1.0, {"src": "m"})
        (metadata,) = nexus.execute('FIND(?l.metadata) WHERE { ?l ({type: "User"}, "uses", ?t) }')
        assert (metadata["status"], metadata["retracted_by"]) == ("retracted", "human/owner")


def test_a_stronger_statement_makes_a_reviewed_edge_active() -> None:
    with kiprdf.Nexus.memory() as nexus:
        memory = Memory(nexus)
        memory.add(NOTE)
        nexus.execute(EDGE, status="reviewed")
        edge = memory.edges("uses")[0]
        with nexus.acting(author="m"):
            memory.upsert_edge(edge.subject_id, "uses", edge.object_id, 1.0, {"src": "m"})
        (metadata,) = nexus.execute('FIND(?l.metadata) WHERE { ?l ({type: "User"}, "uses", ?t) }')
        assert (metadata["status"], metadata["confidence"]) == ("active", 1.0)


def test_a_graph_of_rdflib_keeps_the_rules() -> None:
    with filled(kiprdf.Nexus.connect(rdflib.Graph(), clock=StoppedClock())) as nexus:
        metadata = element(nexus, fact(nexus, "Retracted"))["metadata"]
        assert (metadata["retracted_by"], metadata["retracted_at"]) == ("human/owner", AT)
        with nexus.acting(author="m"):
            writes = (
                setting("Plain", "reviewed")["UPDATE of a fact"],
                setting("Retracted", "active")["transaction"],
                deleting("Reviewed")["cascade"],
                deleting("Retracted")["MERGE of its end"],
            )
            for write in writes:
                with pytest.raises(kiprdf.KipError) as raised:
                    write(nexus)
                assert raised.value.code == "KIP_3004"
            assert nexus.execute(SET_DOSE)["unreviewed"] == ["C:Drug/Reviewed"]
        assert status(nexus, "C:Drug/Reviewed") == "active"
        assert status(nexus, fact(nexus, "Reviewed")) == "reviewed"


# What an error says ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "place", "message", "hint"),
    [
        (
            NEW,
            "1:20",
            "C:Drug/New would be reviewed: only a person may say so.",
            'Leave out the status, or write "draft", and let a person review it.',
        ),
        (
            upsert("Retracted", 'status: "active"'),
            "1:20",
            f"C:Drug/Retracted was retracted by human/owner at {AT}: only a person changes its"
            " status.",
            "Leave out the status. A person can lift the retraction.",
        ),
        (
            upsert("Reviewed", 'status: "draft"'),
            "1:20",
            "C:Drug/Reviewed is reviewed: only a person changes its status.",
            "Leave out the status. A new value makes the element active again.",
        ),
        (
            DELETE.replace(":name", '"Reviewed"'),
            "1:1",
            "C:Drug/Reviewed is reviewed: only a person may delete or merge it.",
            "Keep it, or leave this to a person.",
        ),
    ],
)
def test_an_error_names_the_element_the_place_and_the_way_out(
    command: str, place: str, message: str, hint: str
) -> None:
    with world() as nexus, nexus.acting(author="m"):
        with pytest.raises(kiprdf.KipError) as raised:
            nexus.execute(command)
        assert str(raised.value) == f"KIP_3004 {place} {message} Hint: {hint}"


def test_the_hints_are_right() -> None:
    with world() as nexus, nexus.acting(author="m"):
        nexus.execute(NEW.replace('status: "reviewed"', 'status: "draft"'))
        assert status(nexus, "C:Drug/New") == "draft"
        nexus.execute(upsert("Retracted", "a: 1"))
        assert status(nexus, "C:Drug/Retracted") == "retracted"
        nexus.execute(upsert("Reviewed", "a: 1"))
        assert status(nexus, "C:Drug/Reviewed") == "active"


def test_a_memory_opens_where_a_person_has_reviewed_all_of_it() -> None:
    with kiprdf.Nexus.memory() as nexus:
        memory = Memory(nexus)
        memory.add(NOTE)
        nexus.execute("""
        UPDATE ?x SET METADATA { status: "reviewed" }
        WHERE { ?x {type: "$ConceptType"} FILTER(?x.metadata.source == "kiprdf.memory") }
        """)
        commit = nexus.info()["commit"]
        with nexus.acting(author="m"):
            memory = Memory(nexus)
        assert nexus.info()["commit"] == commit
        assert len(memory.edges("uses")) == 1


def test_an_erasure_that_is_refused_takes_no_evidence_away() -> None:
    with kiprdf.Nexus.memory(history=True) as nexus:
        memory = Memory(nexus)
        memory.add("I use Python.")
        id = memory.add("I use Python. I use Docker.")
        nexus.execute(EDGE, status="reviewed")
        with untouched(nexus), pytest.raises(kiprdf.KipError) as raised, acting(nexus, "model"):
            memory.erase(id)
        assert raised.value.code == "KIP_3004"
        assert memory.erase(id)["erased"]
        assert [len(edge.evidence["memory_ids"]) for edge in memory.edges("uses")] == [1]
        assert memory.entity("Docker") is None
