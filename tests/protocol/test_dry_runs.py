"""A dry run answers as the real run would, and writes nothing; in a batch it is cumulative."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import budget
from tests.nexus.support import FACTS, SCHEMA, StoppedClock, untouched

NEW = 'UPSERT { CONCEPT { {type: "Drug", name: "Zinc"} SET ATTRIBUTES { risk: 1 } } }'
DRUGS = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name'
WRITES = {
    "DELETE ATTRIBUTES": (
        'DELETE ATTRIBUTES {"risk", "colour"} FROM ?x WHERE { ?x {type: "Drug"} }',
        {"updated_concepts": 1, "updated_propositions": 0},
    ),
    "DELETE METADATA": (
        'DELETE METADATA {"source"} FROM ?x WHERE { ?x (?d, "treats", ?s) }',
        {"updated_concepts": 0, "updated_propositions": 2},
    ),
    "DELETE PROPOSITIONS": (
        'DELETE PROPOSITIONS ?l WHERE { ?l (?d, "treats", {type: "Symptom", name: "Headache"}) }',
        {"deleted_propositions": 2},
    ),
    "DELETE CONCEPT": (
        'DELETE CONCEPT ?s DETACH WHERE { ?s {type: "Symptom"} }',
        {"deleted_concepts": 2, "deleted_propositions": 3},
    ),
    "UPDATE": (
        'UPDATE ?d SET ATTRIBUTES { risk: ADD(?d.attributes.risk, 1) } WHERE { ?d {type: "Drug"} }',
        {"updated": 1, "matched": 1},
    ),
    "MERGE": (
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Symptom", name: "Fever"} '
        '?b {type: "Symptom", name: "Headache"} }',
        {
            "merged": True,
            "links_repointed": 0,
            "links_deduplicated": 1,
            "attributes_filled": 1,
        },
    ),
    "UPSERT": (
        NEW,
        {"blocks": 1, "upsert_concept_nodes": ["C:Drug/Zinc"], "upsert_proposition_links": []},
    ),
}


@pytest.fixture(params=["memory", "folder"])
def nexus(request: pytest.FixtureRequest, tmp_path: Path) -> kiprdf.Nexus:
    """The small medical example, in memory and in a folder."""
    clock = StoppedClock()
    if request.param == "memory":
        nexus = kiprdf.Nexus.memory(genesis=False, clock=clock)
    else:
        nexus = kiprdf.Nexus.open(tmp_path / "kb", genesis=False, clock=clock)
    nexus.execute(SCHEMA)
    nexus.execute(FACTS)
    return nexus


def dry(nexus: kiprdf.Nexus, *commands: str) -> list[dict[str, Any]]:
    """The responses to a dry run of a batch, which leaves the nexus as it is."""
    with untouched(nexus):
        response = nexus.execute_kip({"commands": list(commands), "dry_run": True})
    responses = response["result"]
    assert isinstance(responses, list)
    return responses


@pytest.mark.parametrize("name", WRITES)
def test_the_receipt_of_a_dry_run_is_that_of_the_real_run(nexus: kiprdf.Nexus, name: str) -> None:
    command, receipt = WRITES[name]
    with untouched(nexus):
        assert nexus.execute_kip({"command": command, "dry_run": True}) == {"result": receipt}
    assert nexus.execute_kip({"command": command}) == {"result": receipt}


@pytest.mark.parametrize("name", WRITES)
def test_execute_takes_dry_run_as_an_option_and_not_as_a_parameter(
    nexus: kiprdf.Nexus, name: str
) -> None:
    command, receipt = WRITES[name]
    with untouched(nexus):
        assert nexus.execute(command, dry_run=True) == receipt
        with pytest.raises(kiprdf.KipError, match="KIP_1001"):
            nexus.execute(command, readonly=True)


def test_a_find_in_a_dry_run_sees_the_writes_before_it_only(nexus: kiprdf.Nexus) -> None:
    responses = dry(nexus, DRUGS, NEW, DRUGS)
    assert (responses[0], responses[2]) == (
        {"result": ["Aspirin"]},
        {"result": ["Aspirin", "Zinc"]},
    )


def test_a_search_in_a_dry_run_sees_the_writes_before_it(nexus: kiprdf.Nexus) -> None:
    responses = dry(nexus, NEW, 'SEARCH CONCEPT "zinc"')
    assert [hit["id"] for hit in responses[1]["result"]] == ["C:Drug/Zinc"]
    assert nexus.execute('SEARCH CONCEPT "zinc"') == []


def test_describe_and_export_in_a_dry_run_see_the_writes_before_them(nexus: kiprdf.Nexus) -> None:
    herb = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Herb"} } }'
    export = 'EXPORT ?t WHERE { ?t {type: "$ConceptType", name: "Herb"} }'
    responses = dry(nexus, herb, "DESCRIBE CONCEPT TYPES", export)
    assert "Herb" in responses[1]["result"]
    assert responses[2]["result"]["concepts"] == 1


def test_versions_in_a_dry_run_rise_as_in_the_real_run(nexus: kiprdf.Nexus) -> None:
    version = 'FIND(?d.metadata._version) WHERE { ?d {type: "Drug", name: "Aspirin"} }'
    update = (
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} EXPECT VERSION %d '
        "SET ATTRIBUTES { risk: %d } } }"
    )
    batch = (update % (1, 5), update % (2, 6), version, update % (1, 7), version)
    responses = dry(nexus, *batch)
    assert responses[2] == {"result": [3]}
    assert responses[3]["error"]["code"] == "KIP_3005"
    assert len(responses) == 4


def test_the_first_failing_write_ends_a_dry_run_as_it_ends_the_batch(nexus: kiprdf.Nexus) -> None:
    missing = (
        'UPSERT { CONCEPT { {type: "Drug", name: "X"} '
        'SET PROPOSITIONS { ("treats", {type: "Symptom", name: "None"}) } } }'
    )
    batch = [NEW, "FIND(", missing, DRUGS]
    responses = dry(nexus, *batch)
    assert [set(response) for response in responses] == [{"result"}, {"error"}, {"error"}]
    assert responses == nexus.execute_kip({"commands": batch})["result"]


def test_parameters_of_an_item_hold_in_a_dry_run(nexus: kiprdf.Nexus) -> None:
    write = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } }'
    response = nexus.execute_kip(
        {
            "commands": [write, {"command": write, "parameters": {"name": "B"}}, DRUGS],
            "parameters": {"name": "A"},
            "dry_run": True,
        }
    )
    assert response["result"][2] == {"result": ["A", "Aspirin", "B"]}


def test_a_readonly_dry_run_refuses_each_write(nexus: kiprdf.Nexus) -> None:
    request = {"commands": [NEW, NEW, DRUGS], "dry_run": True}
    responses = nexus.execute_kip_readonly(request)["result"]
    assert [response.get("error", {}).get("code") for response in responses] == [
        "KIP_1001",
        "KIP_1001",
        None,
    ]
    assert responses[2] == {"result": ["Aspirin"]}


def test_a_dry_run_in_a_nexus_that_is_open_read_only_refuses_each_write(tmp_path: Path) -> None:
    kiprdf.Nexus.open(tmp_path / "kb").close()
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as nexus:
        write = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }'
        responses = nexus.execute_kip({"commands": [write, write], "dry_run": True})["result"]
        assert [response["error"]["code"] for response in responses] == ["KIP_1001", "KIP_1001"]


def test_a_dry_run_in_a_strict_nexus_is_strict_to_its_end() -> None:
    nexus = kiprdf.Nexus.memory(strict_schema=True)
    define = (
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Sensor"} SET ATTRIBUTES '
        '{ description: "d", instance_schema: {unit: {type: "string", is_required: true}} } } }'
    )
    responses = dry(nexus, define, 'UPSERT { CONCEPT { {type: "Sensor", name: "t1"} } }')
    assert responses[1]["error"]["code"] == "KIP_2002"


def test_a_dry_run_of_a_batch_of_one_copies_nothing(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("kiprdf.store.OxigraphStore.copy")
    assert "result" in dry(nexus, NEW)[0]
    assert "result" in dry(nexus, DRUGS, NEW)[1]
    assert "result" in dry(nexus, DRUGS, DRUGS)[1]


def test_the_copy_of_a_dry_run_spends_the_time_of_the_request(nexus: kiprdf.Nexus) -> None:
    values = ", ".join(f"k{number}: {number}" for number in range(400))
    nexus.execute(f'UPDATE ?d SET ATTRIBUTES {{ {values} }} WHERE {{ ?d {{type: "Drug"}} }}')
    with pytest.raises(kiprdf.KipError, match="KIP_4001"):
        budget.spend(kiprdf.Budget(timeout_s=1e-9), nexus.store.copy)
