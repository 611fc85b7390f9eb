"""DESCRIBE: the primer, the domains, the types (KIP 5.1)."""

from __future__ import annotations

import json

import pytest

import kiprdf
from tests.interchange.nexuses import demonstration
from tests.nexus.support import code, medical, untouched

PRIMER_KEYS = {
    "identity",
    "totals",
    "domain_map",
    "total_domains",
    "recent_changes",
    "waiting",
    "search_modes",
    "protocol",
}
DOMAIN_KEYS = {
    "name",
    "description",
    "key_concept_types",
    "key_proposition_types",
    "key_concepts",
    "concept_count",
}

ZOO = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Animal"} }
  CONCEPT { {type: "$ConceptType", name: "Food"} }
  CONCEPT { {type: "$PropositionType", name: "eats"} }
  CONCEPT { {type: "$PropositionType", name: "fears"} }
  CONCEPT ?zoo { {type: "Domain", name: "Zoo"} SET ATTRIBUTES { description: "About animals." } }
  CONCEPT ?hay { {type: "Food", name: "hay"} SET PROPOSITIONS { ("belongs_to_domain", ?zoo) } }
  CONCEPT ?lion { {type: "Animal", name: "lion"} SET PROPOSITIONS { ("belongs_to_domain", ?zoo) } }
  CONCEPT ?mouse { {type: "Animal", name: "mouse"}
    SET PROPOSITIONS { ("belongs_to_domain", ?zoo) ("eats", ?hay) ("fears", ?lion) } }
  CONCEPT ?zebra { {type: "Animal", name: "zebra"}
    SET PROPOSITIONS { ("belongs_to_domain", ?zoo) ("eats", ?hay) ("fears", ?lion) } }
  CONCEPT ?ant { {type: "Animal", name: "ant"} SET PROPOSITIONS { ("belongs_to_domain", ?zoo) } }
  CONCEPT ?bee { {type: "Animal", name: "bee"}
    SET PROPOSITIONS { ("belongs_to_domain", ?zoo) ("eats", ?hay) } }
  CONCEPT { {type: "Animal", name: "outside"} SET PROPOSITIONS { ("eats", ?hay) } }
}
"""


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return kiprdf.Nexus.memory()


def domain(nexus: kiprdf.Nexus, name: str) -> dict[str, object]:
    primer = nexus.execute("DESCRIBE PRIMER")
    (entry,) = [item for item in primer["domain_map"] if item["name"] == name]
    return dict(entry)


# The primer


def test_the_primer_has_these_keys(nexus: kiprdf.Nexus) -> None:
    assert set(nexus.execute("DESCRIBE PRIMER")) == PRIMER_KEYS


def test_the_primer_names_the_protocol(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute("DESCRIBE PRIMER")["protocol"] == "KIP 1.0"


def test_the_primer_says_what_search_can_do(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute("DESCRIBE PRIMER")["search_modes"] == ["keyword"]


def test_the_identity_is_what_self_is_on_its_first_day(nexus: kiprdf.Nexus) -> None:
    identity = nexus.execute("DESCRIBE PRIMER")["identity"]
    shown = (identity["name"], identity["capabilities"], len(identity["core_directives"]))
    assert shown == ("$self", [], 6)


def test_the_identity_is_what_self_has_become(nexus: kiprdf.Nexus) -> None:
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "$self"} SET ATTRIBUTES '
        '{ name: "Ada", persona: "warm", core_mission: "m", capabilities: ["chess"] } } }'
    )
    identity = nexus.execute("DESCRIBE PRIMER")["identity"]
    keys = ("name", "persona", "core_mission", "capabilities")
    assert [identity[key] for key in keys] == ["Ada", "warm", "m", ["chess"]]


def test_without_self_the_identity_is_null() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    assert nexus.execute("DESCRIBE PRIMER") == {
        "identity": None,
        "totals": {
            "concepts": 0,
            "propositions": 0,
            "unfiled_concepts": 0,
            "concept_types": {},
            "proposition_types": {},
            "unfiled_types": {},
        },
        "domain_map": [],
        "total_domains": 0,
        "recent_changes": {"concepts": [], "propositions": []},
        "waiting": {
            "commitments": {"count": 0, "due": 0, "next": []},
            "sleep_tasks": {"count": 0, "next": []},
        },
        "search_modes": ["keyword"],
        "protocol": "KIP 1.0",
    }


def test_every_domain_of_the_map_has_these_keys(nexus: kiprdf.Nexus) -> None:
    primer = nexus.execute("DESCRIBE PRIMER")
    assert [set(item) - {"left_out"} for item in primer["domain_map"]] == [DOMAIN_KEYS] * 4


def test_the_map_lists_the_domains_by_name(nexus: kiprdf.Nexus) -> None:
    nexus.execute(ZOO)
    primer = nexus.execute("DESCRIBE PRIMER")
    names = [item["name"] for item in primer["domain_map"]]
    assert names == ["Archived", "CoreSchema", "System", "Unsorted", "Zoo"]
    assert primer["total_domains"] == 5


def test_a_domain_counts_its_members(nexus: kiprdf.Nexus) -> None:
    nexus.execute(ZOO)
    assert domain(nexus, "Zoo")["concept_count"] == 6


def test_a_domain_carries_its_description(nexus: kiprdf.Nexus) -> None:
    nexus.execute(ZOO)
    assert domain(nexus, "Zoo")["description"] == "About animals."


def test_a_domain_without_a_description_shows_null(nexus: kiprdf.Nexus) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "Domain", name: "Bare"} } }')
    assert domain(nexus, "Bare") == {
        "name": "Bare",
        "description": None,
        "key_concept_types": [],
        "key_proposition_types": [],
        "key_concepts": [],
        "concept_count": 0,
    }


def test_key_concepts_are_the_five_with_most_links_ties_by_name(nexus: kiprdf.Nexus) -> None:
    nexus.execute(ZOO)
    # hay: 4 links; lion, mouse, zebra: 2 each; bee: 1; ant: none.
    assert domain(nexus, "Zoo")["key_concepts"] == ["hay", "lion", "mouse", "zebra", "bee"]


def test_key_types_are_those_with_most_links(nexus: kiprdf.Nexus) -> None:
    nexus.execute(ZOO)
    assert domain(nexus, "Zoo")["key_concept_types"] == ["Animal", "Food"]


def test_key_predicates_are_those_with_most_links(nexus: kiprdf.Nexus) -> None:
    nexus.execute(ZOO)
    assert domain(nexus, "Zoo")["key_proposition_types"] == ["eats", "fears"]


def test_a_deleted_member_is_removed_from_the_map(nexus: kiprdf.Nexus) -> None:
    nexus.execute(ZOO)
    nexus.execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Food", name: "hay"} }')
    entry = domain(nexus, "Zoo")
    assert (entry["concept_count"], entry["key_concept_types"]) == (5, ["Animal"])


def test_the_primer_of_a_new_nexus_fits_into_four_kilobytes(nexus: kiprdf.Nexus) -> None:
    assert len(json.dumps(nexus.execute("DESCRIBE PRIMER"), ensure_ascii=False)) < 4096


def test_the_primer_does_not_grow_with_the_members_of_a_domain(nexus: kiprdf.Nexus) -> None:
    nexus.execute(ZOO)
    before = len(json.dumps(nexus.execute("DESCRIBE PRIMER")))
    animals = "".join(
        f'CONCEPT {{ {{type: "Animal", name: "z{n}"}} '
        'SET PROPOSITIONS { ("belongs_to_domain", ?zoo) } }'
        for n in range(300)
    )
    nexus.execute(f'UPSERT {{ CONCEPT ?zoo {{ {{type: "Domain", name: "Zoo"}} }} {animals} }}')
    assert len(json.dumps(nexus.execute("DESCRIBE PRIMER"))) < before + 10


def test_the_primer_of_the_medical_example_knows_its_domain() -> None:
    assert "treats" in domain(demonstration(), "Medical")["key_proposition_types"]


@pytest.mark.parametrize(
    "command",
    ["DESCRIBE PRIMER", "DESCRIBE DOMAINS", "DESCRIBE CONCEPT TYPES", "DESCRIBE PROPOSITION TYPES"],
)
def test_describe_and_search_write_nothing(nexus: kiprdf.Nexus, command: str) -> None:
    with untouched(nexus):
        nexus.execute(command)


# Domains and types


def test_domains_are_sorted_names(nexus: kiprdf.Nexus) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "Domain", name: "医学"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Domain", name: "Art"} } }')
    assert nexus.execute("DESCRIBE DOMAINS") == [
        "Archived",
        "Art",
        "CoreSchema",
        "System",
        "Unsorted",
        "医学",
    ]


def test_concept_types_are_sorted_names(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute("DESCRIBE CONCEPT TYPES") == [
        "$ConceptType",
        "$PropositionType",
        "Commitment",
        "Domain",
        "Event",
        "Experience",
        "ExperienceStep",
        "Insight",
        "Period",
        "Person",
        "Preference",
        "Skill",
        "SleepTask",
    ]


def test_predicates_are_sorted_names(nexus: kiprdf.Nexus) -> None:
    assert nexus.execute("DESCRIBE PROPOSITION TYPES") == [
        "belongs_to_domain",
        "caused_by",
        "collaborates_with",
        "compiled_to",
        "consolidated_to",
        "derived_from",
        "derived_insight",
        "has_step",
        "interested_in",
        "involves",
        "knows",
        "mentions",
        "prefers",
        "valid_during",
        "working_on",
    ]


@pytest.mark.parametrize("kind", ["CONCEPT", "PROPOSITION"])
@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pages_of_types_make_up_the_whole_list(nexus: kiprdf.Nexus, kind: str, size: int) -> None:
    whole = nexus.execute(f"DESCRIBE {kind} TYPES")
    names: list[str] = []
    command, parameters = f"DESCRIBE {kind} TYPES LIMIT :n", {"n": size}
    while True:
        response = nexus.execute_kip({"command": command, "parameters": parameters})
        names += response["result"]
        if "next_cursor" not in response:
            break
        command = f"DESCRIBE {kind} TYPES LIMIT :n CURSOR :c"
        parameters = {"n": size, "c": response["next_cursor"]}
    assert names == whole


def test_the_last_full_page_has_no_cursor(nexus: kiprdf.Nexus) -> None:
    assert "next_cursor" not in nexus.execute_kip({"command": "DESCRIBE CONCEPT TYPES LIMIT 13"})


@pytest.mark.parametrize("cursor", ["", "x", "e30", "💊", "W10"])
def test_garbage_is_no_cursor(nexus: kiprdf.Nexus, cursor: str) -> None:
    command = "DESCRIBE CONCEPT TYPES LIMIT 2 CURSOR :c"
    assert code(nexus, command, c=cursor) == "KIP_1001"


def test_the_cursor_of_another_list_is_refused(nexus: kiprdf.Nexus) -> None:
    response = nexus.execute_kip({"command": "DESCRIBE CONCEPT TYPES LIMIT 2"})
    command = "DESCRIBE PROPOSITION TYPES LIMIT 2 CURSOR :c"
    assert code(nexus, command, c=response["next_cursor"]) == "KIP_1001"


@pytest.mark.parametrize(
    ("kind", "name", "meta"),
    [
        ("CONCEPT", "Person", "$ConceptType"),
        ("CONCEPT", "$ConceptType", "$ConceptType"),
        ("CONCEPT", "$PropositionType", "$ConceptType"),
        ("PROPOSITION", "prefers", "$PropositionType"),
    ],
)
def test_a_type_is_described_by_its_definition(
    nexus: kiprdf.Nexus, kind: str, name: str, meta: str
) -> None:
    definition = nexus.execute(f"DESCRIBE {kind} TYPE :name", name=name)
    shown = (
        definition["_type"],
        definition["type"],
        definition["name"],
        bool(definition["attributes"]["description"]),
    )
    assert shown == ("ConceptNode", meta, name, True)


@pytest.mark.parametrize(
    ("kind", "name", "near"),
    [("CONCEPT", "person", "'Person'"), ("PROPOSITION", "prefer", "'prefers'")],
)
def test_an_unknown_type_is_not_found_and_the_nearest_is_named(
    nexus: kiprdf.Nexus, kind: str, name: str, near: str
) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute(f'DESCRIBE {kind} TYPE "{name}"')
    assert (raised.value.code, near in raised.value.hint) == ("KIP_3002", True)


@pytest.mark.parametrize("name", ["", "a b", "\x00", "a/b", "药", "\ud800", "x" * 5000])
def test_a_name_that_no_type_has_is_an_error_of_the_command(nexus: kiprdf.Nexus, name: str) -> None:
    error = code(nexus, "DESCRIBE CONCEPT TYPE :name", name=name)
    assert error in ("KIP_3002", "KIP_1001", "KIP_1002")


def test_a_predicate_is_no_concept_type(nexus: kiprdf.Nexus) -> None:
    assert code(nexus, 'DESCRIBE CONCEPT TYPE "prefers"') == "KIP_3002"


def test_without_genesis_the_meta_types_have_no_definition_to_describe() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    assert code(nexus, 'DESCRIBE CONCEPT TYPE "$ConceptType"') == "KIP_3002"


def test_a_type_is_known_right_after_the_write_that_registers_it() -> None:
    assert medical().execute("DESCRIBE CONCEPT TYPES") == ["Drug", "Symptom", "User"]
