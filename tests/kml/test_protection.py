"""What no statement may change (KIP_3004, Appendix 4), line by line of the semantics page."""

from __future__ import annotations

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


def matcher(type: str, name: str) -> str:
    return f'{{type: "{type}", name: "{name}"}}'


@pytest.mark.parametrize(("type", "name"), SYSTEM)
class TestSystem:
    def test_attributes_are_not_written(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        body = f"{matcher(type, name)} SET ATTRIBUTES {{ note: 1 }}"
        refused(nexus, f"UPSERT {{ CONCEPT {{ {body} }} }}")

    def test_block_metadata_is_not_written(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        body = f"CONCEPT {{ {matcher(type, name)} }} WITH METADATA {{ note: 1 }}"
        refused(nexus, f"UPSERT {{ {body} }}")

    def test_outer_metadata_is_not_written(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        refused(nexus, f"UPSERT {{ CONCEPT {{ {matcher(type, name)} }} }} WITH METADATA {{ n: 1 }}")

    def test_an_id_in_place_of_the_name_does_not_bypass_the_protection(
        self, nexus: kiprdf.Nexus, type: str, name: str
    ) -> None:
        command = "UPSERT { CONCEPT { {id: :id} SET ATTRIBUTES { note: 1 } } }"
        refused(nexus, command, id=f"C:{type}/{name}")

    def test_a_bare_block_passes(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        with untouched(nexus):
            nexus.execute(f"UPSERT {{ CONCEPT {{ {matcher(type, name)} }} }}")

    def test_writing_the_same_values_passes(
        self, nexus: kiprdf.Nexus, type: str, name: str
    ) -> None:
        actor = element(nexus, f"C:{type}/{name}")
        metadata = {k: v for k, v in actor["metadata"].items() if not k.startswith("_")}
        with untouched(nexus):
            nexus.execute(
                f"UPSERT {{ CONCEPT {{ {matcher(type, name)} SET ATTRIBUTES :a }} "
                "WITH METADATA :m }",
                a=actor["attributes"],
                m=metadata,
            )

    def test_attributes_are_not_deleted(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        where = f"WHERE {{ ?x {matcher(type, name)} }}"
        refused(nexus, f'DELETE ATTRIBUTES {{"description"}} FROM ?x {where}')

    def test_metadata_is_not_deleted(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        where = f"WHERE {{ ?x {matcher(type, name)} }}"
        refused(nexus, f'DELETE METADATA {{"source"}} FROM ?x {where}')

    def test_the_concept_is_not_deleted(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        refused(nexus, f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {matcher(type, name)} }}")

    def test_its_own_links_are_not_deleted(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        nexus.execute(
            f"UPSERT {{ CONCEPT {{ {matcher(type, name)} SET PROPOSITIONS "
            '{ ("belongs_to_domain", {type: "Domain", name: "Archived"}) } } }'
        )
        where = f'WHERE {{ ?l ({matcher(type, name)}, "belongs_to_domain", {{name: "Archived"}}) }}'
        refused(nexus, f"DELETE PROPOSITIONS ?l {where}")

    def test_new_links_from_it_are_allowed(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        before = commit(nexus)
        nexus.execute(
            f"UPSERT {{ CONCEPT {{ {matcher(type, name)} SET PROPOSITIONS "
            '{ ("belongs_to_domain", {type: "Domain", name: "Unsorted"}) '
            "WITH METADATA { source: 1 } } } }"
        )
        assert commit(nexus) == before + 1

    def test_a_cascade_does_not_delete_its_links(
        self, nexus: kiprdf.Nexus, type: str, name: str
    ) -> None:
        nexus.execute(
            f'UPSERT {{ CONCEPT ?d {{ {{type: "Domain", name: "Mine"}} }} '
            f"CONCEPT {{ {matcher(type, name)} SET PROPOSITIONS "
            '{ ("belongs_to_domain", ?d) } } }'
        )
        refused(nexus, f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {matcher('Domain', 'Mine')} }}")


@pytest.mark.parametrize(("type", "name"), ACTORS)
class TestActors:
    def test_core_directives_are_not_written(
        self, nexus: kiprdf.Nexus, type: str, name: str
    ) -> None:
        body = f"{matcher(type, name)} SET ATTRIBUTES {{ core_directives: [] }}"
        refused(nexus, f"UPSERT {{ CONCEPT {{ {body} }} }}")

    def test_core_directives_are_not_set_to_null(
        self, nexus: kiprdf.Nexus, type: str, name: str
    ) -> None:
        body = f"{matcher(type, name)} SET ATTRIBUTES {{ core_directives: null }}"
        refused(nexus, f"UPSERT {{ CONCEPT {{ {body} }} }}")

    def test_core_directives_are_not_deleted(
        self, nexus: kiprdf.Nexus, type: str, name: str
    ) -> None:
        where = f"WHERE {{ ?x {matcher(type, name)} }}"
        refused(nexus, f'DELETE ATTRIBUTES {{"persona", "core_directives"}} FROM ?x {where}')

    def test_the_same_core_directives_pass(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        directives = element(nexus, f"C:{type}/{name}")["attributes"]["core_directives"]
        with untouched(nexus):
            nexus.execute(
                f"UPSERT {{ CONCEPT {{ {matcher(type, name)} "
                "SET ATTRIBUTES { core_directives: :same } } }",
                same=directives,
            )

    def test_the_actor_is_not_deleted(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        refused(nexus, f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {matcher(type, name)} }}")

    def test_the_actor_is_not_deleted_among_others(
        self, nexus: kiprdf.Nexus, type: str, name: str
    ) -> None:
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann"} } }')
        refused(nexus, 'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Person"} }')

    def test_other_attributes_may_change(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        nexus.execute(
            f"UPSERT {{ CONCEPT {{ {matcher(type, name)} "
            'SET ATTRIBUTES { persona: "warm", strengths: ["listening"] } } }'
        )
        assert element(nexus, f"C:{type}/{name}")["attributes"]["persona"] == "warm"

    def test_other_attributes_may_be_deleted(
        self, nexus: kiprdf.Nexus, type: str, name: str
    ) -> None:
        where = f"WHERE {{ ?x {matcher(type, name)} }}"
        receipt = nexus.execute(f'DELETE ATTRIBUTES {{"persona"}} FROM ?x {where}')
        assert receipt == {"updated_concepts": 1, "updated_propositions": 0}

    def test_metadata_may_change(self, nexus: kiprdf.Nexus, type: str, name: str) -> None:
        nexus.execute(
            f"UPSERT {{ CONCEPT {{ {matcher(type, name)} }} WITH METADATA {{ seen: 1 }} }}"
        )
        assert element(nexus, f"C:{type}/{name}")["metadata"]["seen"] == 1


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
