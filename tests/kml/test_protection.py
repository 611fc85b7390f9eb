"""What no statement may change (KIP_3004, Appendix 4), line by line of the semantics page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import kiprdf
from tests.nexus.support import StoppedClock, code, commit, element, untouched

SYSTEM = [
    ("$ConceptType", "$ConceptType"),
    ("$ConceptType", "$PropositionType"),
    ("$ConceptType", "Domain"),
    ("$PropositionType", "belongs_to_domain"),
    ("Domain", "CoreSchema"),
]
ACTORS = [("Person", "$self"), ("Person", "$system")]


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return kiprdf.Nexus.memory(clock=StoppedClock())


def refused(nexus: kiprdf.Nexus, command: str, **parameters: Any) -> None:
    """The statement is KIP_3004, in a dry run too, and changes no quad."""
    with untouched(nexus):
        assert code(nexus, command, **parameters) == "KIP_3004"
        request = {"command": command, "parameters": parameters, "dry_run": True}
        assert nexus.execute_kip(request)["error"]["code"] == "KIP_3004"


def on(command: str, type: str, name: str) -> str:
    """A command with a concept in place of MATCHER and ID."""
    named = command.replace("MATCHER", f'{{type: "{type}", name: "{name}"}}')
    return named.replace("ID", f'"C:{type}/{name}"')


IN_DOMAIN = 'CONCEPT { MATCHER SET PROPOSITIONS { ("belongs_to_domain", %s) } }'
REFUSED_OF_SYSTEM = {
    "attributes": "UPSERT { CONCEPT { MATCHER SET ATTRIBUTES { note: 1 } } }",
    "metadata of the block": "UPSERT { CONCEPT { MATCHER } WITH METADATA { note: 1 } }",
    "metadata of the statement": "UPSERT { CONCEPT { MATCHER } } WITH METADATA { n: 1 }",
    "by its id": "UPSERT { CONCEPT { {id: ID} SET ATTRIBUTES { note: 1 } } }",
    "attributes deleted": 'DELETE ATTRIBUTES {"description"} FROM ?x WHERE { ?x MATCHER }',
    "metadata deleted": 'DELETE METADATA {"source"} FROM ?x WHERE { ?x MATCHER }',
    "the concept deleted": "DELETE CONCEPT ?x DETACH WHERE { ?x MATCHER }",
}
REFUSED_OF_ACTORS = {
    "written": "UPSERT { CONCEPT { MATCHER SET ATTRIBUTES { core_directives: [] } } }",
    "set to null": "UPSERT { CONCEPT { MATCHER SET ATTRIBUTES { core_directives: null } } }",
    "deleted": 'DELETE ATTRIBUTES {"persona", "core_directives"} FROM ?x WHERE { ?x MATCHER }',
    "the actor": "DELETE CONCEPT ?x DETACH WHERE { ?x MATCHER }",
}


@pytest.fixture(scope="module")
def unchanged() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory(clock=StoppedClock()) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }')
        yield nexus


@pytest.mark.parametrize("command", REFUSED_OF_SYSTEM.values(), ids=REFUSED_OF_SYSTEM)
def test_no_statement_changes_what_the_nexus_consists_of(
    unchanged: kiprdf.Nexus, command: str
) -> None:
    for type, name in SYSTEM:
        refused(unchanged, on(command, type, name))


@pytest.mark.parametrize("command", REFUSED_OF_ACTORS.values(), ids=REFUSED_OF_ACTORS)
def test_no_statement_changes_the_core_directives_of_an_actor(
    unchanged: kiprdf.Nexus, command: str
) -> None:
    for type, name in ACTORS:
        refused(unchanged, on(command, type, name))


def test_an_actor_is_not_deleted_among_others(unchanged: kiprdf.Nexus) -> None:
    refused(unchanged, 'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Person"} }')


@pytest.mark.parametrize(("type", "name"), SYSTEM)
def test_a_statement_that_changes_nothing_passes(
    unchanged: kiprdf.Nexus, type: str, name: str
) -> None:
    concept = element(unchanged, f"C:{type}/{name}")
    metadata = {k: v for k, v in concept["metadata"].items() if not k.startswith("_")}
    same = "UPSERT { CONCEPT { MATCHER SET ATTRIBUTES :a } WITH METADATA :m }"
    with untouched(unchanged):
        unchanged.execute(on("UPSERT { CONCEPT { MATCHER } }", type, name))
        unchanged.execute(on(same, type, name), a=concept["attributes"], m=metadata)


@pytest.mark.parametrize(("type", "name"), SYSTEM)
def test_a_protected_concept_may_get_links_which_stay(
    nexus: kiprdf.Nexus, type: str, name: str
) -> None:
    unsorted = '("belongs_to_domain", {type: "Domain", name: "Unsorted"})'
    link = f"{unsorted} WITH METADATA {{ source: 1 }}"
    before = commit(nexus)
    text = f"UPSERT {{ CONCEPT {{ MATCHER SET PROPOSITIONS {{ {link} }} }} }}"
    nexus.execute(on(text, type, name))
    assert commit(nexus) == before + 1
    archived = '{type: "Domain", name: "Archived"}'
    nexus.execute(on(f"UPSERT {{ {IN_DOMAIN % archived} }}", type, name))
    link = '?l (MATCHER, "belongs_to_domain", {name: "Archived"})'
    refused(nexus, on(f"DELETE PROPOSITIONS ?l WHERE {{ {link} }}", type, name))
    mine = 'CONCEPT ?d { {type: "Domain", name: "Mine"} } '
    nexus.execute(on(f"UPSERT {{ {mine}{IN_DOMAIN % '?d'} }}", type, name))
    refused(nexus, on("DELETE CONCEPT ?x DETACH WHERE { ?x MATCHER }", "Domain", "Mine"))


@pytest.mark.parametrize(("type", "name"), ACTORS)
def test_what_else_an_actor_has_may_change(nexus: kiprdf.Nexus, type: str, name: str) -> None:
    def actor() -> dict[str, Any]:
        return element(nexus, f"C:{type}/{name}")

    same = "UPSERT { CONCEPT { MATCHER SET ATTRIBUTES { core_directives: :same } } }"
    with untouched(nexus):
        nexus.execute(on(same, type, name), same=actor()["attributes"]["core_directives"])
    other = 'SET ATTRIBUTES { persona: "warm", strengths: ["listening"] }'
    nexus.execute(on(f"UPSERT {{ CONCEPT {{ MATCHER {other} }} }}", type, name))
    assert actor()["attributes"]["persona"] == "warm"
    deletion = 'DELETE ATTRIBUTES {"persona"} FROM ?x WHERE { ?x MATCHER }'
    receipt = nexus.execute(on(deletion, type, name))
    assert receipt == {"updated_concepts": 1, "updated_propositions": 0}
    nexus.execute(on("UPSERT { CONCEPT { MATCHER } WITH METADATA { seen: 1 } }", type, name))
    assert actor()["metadata"]["seen"] == 1


def test_one_protected_block_refuses_the_whole_statement(nexus: kiprdf.Nexus) -> None:
    refused(
        nexus,
        'UPSERT { CONCEPT { {type: "Person", name: "Ann"} } } '
        'UPSERT { CONCEPT { {type: "Domain", name: "CoreSchema"} SET ATTRIBUTES { a: 1 } } }',
    )


def test_a_capsule_of_the_library_is_not_privileged(nexus: kiprdf.Nexus) -> None:
    capsule = 'UPSERT { CONCEPT { {type: "Domain", name: "CoreSchema"} SET ATTRIBUTES { a: 1 } } }'
    with untouched(nexus), pytest.raises(kiprdf.KipError) as raised:
        nexus.apply_capsule(capsule)
    assert raised.value.code == "KIP_3004"


@pytest.mark.parametrize("name", ["Unsorted", "Archived"])
def test_the_other_domains_may_be_changed(nexus: kiprdf.Nexus, name: str) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Domain", name: :name} SET ATTRIBUTES { a: 1 } } }', name=name
    )
    assert element(nexus, f"C:Domain/{name}")["attributes"]["a"] == 1


@pytest.mark.parametrize("name", ["Unsorted", "Archived"])
def test_the_other_domains_may_be_deleted(nexus: kiprdf.Nexus, name: str) -> None:
    receipt = nexus.execute(
        'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Domain", name: :name} }', name=name
    )
    assert receipt["deleted_concepts"] == 1


def test_a_link_to_a_protected_object_may_be_deleted(nexus: kiprdf.Nexus) -> None:
    receipt = nexus.execute(
        'DELETE PROPOSITIONS ?l WHERE { ?l ({type: "$ConceptType", name: "Person"}, '
        '"belongs_to_domain", {type: "Domain", name: "CoreSchema"}) }'
    )
    assert receipt == {"deleted_propositions": 1}


def test_core_directives_of_other_concepts_may_change(nexus: kiprdf.Nexus) -> None:
    upsert = 'UPSERT { CONCEPT { {type: "Person", name: "Ann"} SET ATTRIBUTES :a } }'
    nexus.execute(upsert, a={"core_directives": [1]})
    nexus.execute(upsert, a={"core_directives": [2]})
    assert element(nexus, "C:Person/Ann")["attributes"] == {"core_directives": [2]}


def test_deleting_every_concept_is_refused(nexus: kiprdf.Nexus) -> None:
    refused(nexus, 'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Domain"} }')


def test_without_genesis_a_protected_concept_may_be_created() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Domain"} SET ATTRIBUTES { a: 1 } } '
        'CONCEPT { {type: "Domain", name: "CoreSchema"} SET ATTRIBUTES { b: 1 } } '
        'CONCEPT { {type: "Domain", name: "CoreSchema"} SET ATTRIBUTES { b: 2 } } }'
    )
    assert element(nexus, "C:Domain/CoreSchema")["attributes"] == {"b": 2}


def test_without_genesis_it_is_protected_from_then_on() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } '
        'CONCEPT { {type: "Person", name: "$self"} SET ATTRIBUTES { core_directives: [1] } } }'
    )
    refused(
        nexus,
        'UPSERT { CONCEPT { {type: "Person", name: "$self"} '
        "SET ATTRIBUTES { core_directives: [2] } } }",
    )


def test_core_directives_may_not_be_added_to_an_actor_that_has_none() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } '
        'CONCEPT { {type: "Person", name: "$self"} } }'
    )
    refused(
        nexus,
        'UPSERT { CONCEPT { {type: "Person", name: "$self"} '
        "SET ATTRIBUTES { core_directives: [2] } } }",
    )
