"""DELETE in its four forms, and its cascade (KIP 4.2)."""

from __future__ import annotations

import pytest

import kiprdf
from tests.nexus.support import REIFIES, code, element, facts, medical, untouched

DELETE_DRUGS = 'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }'


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return medical()


def tower(floors: int) -> kiprdf.Nexus:
    """Ann's claims, each about the one below."""
    nexus = medical()
    last = 'PROPOSITION ?l0 { ({type: "Drug", name: "Aspirin"}, "treats", ?fever) }'
    claims = "".join(
        f'PROPOSITION ?l{n + 1} {{ (?ann, "stated", ?l{n}) }}\n' for n in range(floors)
    )
    nexus.execute(
        'UPSERT { CONCEPT ?fever { {type: "Symptom", name: "Fever"} } '
        f'CONCEPT ?ann {{ {{type: "User", name: "Ann"}} }} {last} {claims} }}'
    )
    return nexus


def updated(concepts: int, propositions: int) -> dict[str, int]:
    return {"updated_concepts": concepts, "updated_propositions": propositions}


def deleted(concepts: int, propositions: int) -> dict[str, int]:
    return {"deleted_concepts": concepts, "deleted_propositions": propositions}


LINKS = {"deleted_propositions": 2}
RECEIPTS = {
    "attributes of concepts and links": (
        'ATTRIBUTES {"risk", "wording"} FROM ?x WHERE { ?x {type: "Drug"} '
        'UNION { ?x (?u, "stated", ?f) } }',
        updated(1, 1),
    ),
    "metadata, counted where an element lost a key": (
        'METADATA {"source"} FROM ?x WHERE { ?x {type: "Drug"} '
        'UNION { ?x (?d, "treats", ?s) } UNION { ?x {type: "Symptom"} } }',
        updated(1, 2),
    ),
    "a target in several rows, counted once": (
        'ATTRIBUTES {"risk"} FROM ?d WHERE { (?d, "treats", ?s) }',
        updated(1, 0),
    ),
    "null rows of the target, skipped": (
        'ATTRIBUTES {"wording"} FROM ?c WHERE { ?s {type: "Symptom"} '
        'OPTIONAL { ?c (?u, "stated", ?s) } }',
        updated(0, 0),
    ),
    "a link, and those about it": (
        'PROPOSITIONS ?l WHERE { ?l (?d, "treats", {type: "Symptom", name: "Headache"}) }',
        LINKS,
    ),
    "a link by id": (
        "PROPOSITIONS ?l WHERE { ?l (id: :id) }",
        LINKS,
    ),
    "a concept, its links and those about them": (
        'CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }',
        deleted(1, 3),
    ),
    "the objects of links": ('CONCEPT ?s DETACH WHERE { ?s {type: "Symptom"} }', deleted(2, 3)),
    "a definition with its last instances": (
        'CONCEPT ?t DETACH WHERE { ?t {type: "Drug"} '
        'UNION { ?t {type: "$ConceptType", name: "Drug"} } }',
        deleted(2, 3),
    ),
    "a predicate whose last link the cascade deletes": (
        'CONCEPT ?t DETACH WHERE { ?t {type: "Drug"} '
        'UNION { ?t {type: "$PropositionType", name: "stated"} } }',
        deleted(2, 3),
    ),
    "no attributes": ('ATTRIBUTES {"a"} FROM ?x WHERE { ?x {name: "No"} }', updated(0, 0)),
    "no metadata": ('METADATA {"a"} FROM ?x WHERE { ?x {name: "No"} }', updated(0, 0)),
    "no links": (
        'PROPOSITIONS ?x WHERE { ?x ({name: "No"}, "treats", ?y) }',
        {"deleted_propositions": 0},
    ),
    "no concepts": ('CONCEPT ?x DETACH WHERE { ?x {name: "No"} }', deleted(0, 0)),
}


@pytest.mark.parametrize(("command", "receipt"), RECEIPTS.values(), ids=RECEIPTS)
def test_a_receipt_counts_what_was_deleted(
    nexus: kiprdf.Nexus, command: str, receipt: dict[str, int]
) -> None:
    before = facts(nexus)
    assert nexus.execute(f"DELETE {command}", id="P:48ec6e8e3fe50dea:treats") == receipt
    assert (facts(nexus) == before) == (not any(receipt.values()))


def test_deleting_an_attribute_removes_its_triple_and_no_other(nexus: kiprdf.Nexus) -> None:
    before = facts(nexus)
    nexus.execute('DELETE ATTRIBUTES {"risk"} FROM ?x WHERE { ?x {type: "Drug"} }')
    gone = {predicate for _, predicate, _ in before - facts(nexus)}
    assert gone == {"<urn:kip:attribute/risk>", "<urn:kip:metadata/_version>"}


def test_a_deleted_link_leaves_no_triple(nexus: kiprdf.Nexus) -> None:
    nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l (?d, "treats", ?s) }')
    left = [triple for triple in facts(nexus) if REIFIES in triple or "$proposition" in str(triple)]
    assert left == []


@pytest.mark.parametrize("floors", [1, 5, 40])
def test_the_cascade_is_transitive(floors: int) -> None:
    nexus = tower(floors)
    receipt = nexus.execute(
        'DELETE PROPOSITIONS ?l WHERE { ?l (?d, "treats", {type: "Symptom", name: "Fever"}) }'
    )
    assert receipt == {"deleted_propositions": floors + 1}


def test_deleting_a_claim_keeps_the_fact_it_is_about() -> None:
    nexus = tower(3)
    nexus.execute('DELETE PROPOSITIONS ?l WHERE { ?l (?u, "stated", ?x) }')
    assert nexus.execute('FIND(COUNT(?l)) WHERE { ?l (?d, "treats", ?s) }') == 2


def test_nothing_that_mentions_a_deleted_concept_is_left(nexus: kiprdf.Nexus) -> None:
    nexus.execute(DELETE_DRUGS)
    assert [triple for triple in facts(nexus) if "Drug/Aspirin" in str(triple)] == []


def test_a_deletion_changes_no_other_quad(nexus: kiprdf.Nexus) -> None:
    before = facts(nexus)
    nexus.execute(DELETE_DRUGS)
    assert facts(nexus) < before


def test_a_recreated_concept_starts_without_attributes_at_version_one(nexus: kiprdf.Nexus) -> None:
    nexus.execute(DELETE_DRUGS)
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} } }')
    aspirin = element(nexus, "C:Drug/Aspirin")
    assert ("attributes" in aspirin, aspirin["metadata"]["_version"]) == (False, 1)


@pytest.mark.parametrize(
    "head",
    ['ATTRIBUTES {"a"} FROM ?x', 'METADATA {"a"} FROM ?x', "PROPOSITIONS ?x", "CONCEPT ?x DETACH"],
)
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ('?y {type: "Drug"}', "KIP_3001"),
        ('?y {type: "Drug"} NOT { (?x, "treats", ?y) }', "KIP_3001"),
        ('?y {type: "Drug", name: "No"} (?y, ?p, ?x)', "KIP_3002"),
        ('?y {id: "C:Drug/No"} (?y, ?p, ?x)', "KIP_3002"),
        ('?y {type: "drug"} (?y, ?p, ?x)', "KIP_2001"),
    ],
)
def test_a_broken_where_is_refused_in_every_form(
    nexus: kiprdf.Nexus, head: str, where: str, expected: str
) -> None:
    with untouched(nexus):
        assert code(nexus, f"DELETE {head} WHERE {{ {where} }}") == expected


@pytest.mark.parametrize(
    "command",
    [
        'DELETE PROPOSITIONS ?x WHERE { ?x {type: "Drug"} }',
        'DELETE CONCEPT ?x DETACH WHERE { ?x (?a, "treats", ?b) }',
        "DELETE CONCEPT ?p DETACH WHERE { (?a, ?p, ?b) }",
        'DELETE ATTRIBUTES {"a"} FROM ?p WHERE { (?a, ?p, ?b) }',
        'DELETE CONCEPT ?x WHERE { ?x {type: "Drug"} }',
    ],
)
def test_a_target_of_the_wrong_kind_is_a_syntax_error(nexus: kiprdf.Nexus, command: str) -> None:
    with untouched(nexus):
        assert code(nexus, command) == "KIP_1001"


def test_elements_of_the_other_kind_are_skipped() -> None:
    nexus = tower(1)
    # ?x is what Ann stated: two links, and no concept.
    with untouched(nexus):
        receipt = nexus.execute('DELETE CONCEPT ?x DETACH WHERE { (?u, "stated", ?x) }')
    assert receipt == {"deleted_concepts": 0, "deleted_propositions": 0}


@pytest.mark.parametrize(
    ("meta", "name", "count"), [("$ConceptType", "Symptom", 2), ("$PropositionType", "treats", 2)]
)
def test_a_definition_in_use_is_not_deleted_and_its_instances_are_counted(
    nexus: kiprdf.Nexus, meta: str, name: str, count: int
) -> None:
    command = f'DELETE CONCEPT ?t DETACH WHERE {{ ?t {{type: "{meta}", name: "{name}"}} }}'
    with untouched(nexus), pytest.raises(kiprdf.KipError, match=rf"'{name}' still has {count} "):
        nexus.execute(command)


def test_one_instance_of_a_definition_is_counted_in_the_singular(nexus: kiprdf.Nexus) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Ward"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Ward", name: "West"} } }')
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute('DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Ward"} }')
    assert raised.value.message == "'Ward' still has 1 concept."
    assert raised.value.hint == "Delete it first."


def test_a_definition_with_one_remaining_instance_is_not_deleted(nexus: kiprdf.Nexus) -> None:
    command = (
        'DELETE CONCEPT ?t DETACH WHERE { ?t {type: "Symptom", name: "Fever"} '
        'UNION { ?t {type: "$ConceptType", name: "Symptom"} } }'
    )
    with untouched(nexus):
        assert code(nexus, command) == "KIP_2002"


def test_after_its_definition_is_deleted_a_type_is_unknown(nexus: kiprdf.Nexus) -> None:
    nexus.execute(DELETE_DRUGS)
    nexus.execute('DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Drug"} }')
    assert code(nexus, 'FIND(?d) WHERE { ?d {type: "Drug"} }') == "KIP_2001"


def test_every_concept_and_link_can_be_deleted_at_once(nexus: kiprdf.Nexus) -> None:
    nexus.execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "User"} }')
    nexus.execute(
        'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Drug"} UNION { ?x {type: "Symptom"} } '
        'UNION { ?x {type: "$ConceptType"} } UNION { ?x {type: "$PropositionType"} } }'
    )
    assert facts(nexus) == frozenset()
