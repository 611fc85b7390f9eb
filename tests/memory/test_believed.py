"""What a memory recalls is believed: what was retracted is not stated as held."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kiprdf
from kiprdf.memory import Memory


@pytest.fixture
def nexus() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory() as opened:
        yield opened


def facts(memory: Memory, query: str) -> list[str]:
    """The lines of the facts that a recall shows."""
    return [line for line in str(memory.recall(query)).splitlines() if "--[" in line]


def test_a_retracted_note_is_not_recalled_and_the_recall_says_so(nexus: kiprdf.Nexus) -> None:
    memory = Memory(nexus)
    one = memory.add("The rollout of Falcon begins on Monday.", id="one")
    memory.add("The rollout of Falcon was moved to Friday.", id="two")
    assert {note.item.id for note in memory.recall("rollout of Falcon").notes} == {"one", "two"}
    status = 'UPDATE ?m SET METADATA {status: "retracted"} WHERE { ?m {name: :id} }'
    nexus.execute(status, id=one)
    recalled = memory.recall("rollout of Falcon")
    assert [note.item.id for note in recalled.notes] == ["two"]
    assert "1 note is of the query, but not believed." in recalled.reasons
    nexus.execute(status.replace("retracted", "active"), id=one)
    assert {note.item.id for note in memory.recall("rollout of Falcon").notes} == {"one", "two"}


@pytest.mark.parametrize(
    "metadata",
    [
        {"status": "retracted"},
        {"status": "draft"},
        {"superseded": True},
        {"valid_from": "2999-01-01"},
    ],
)
def test_a_fact_that_is_not_believed_is_in_no_answer(
    nexus: kiprdf.Nexus, metadata: dict[str, object]
) -> None:
    memory = Memory(nexus)
    memory.add("I use Vim.")
    memory.add("I use Docker.")
    assert "Docker" in memory.context("What do I use?")
    assert len(facts(memory, "Which tools do I use?")) == 2
    nexus.execute(
        "UPDATE ?l SET METADATA :metadata"
        ' WHERE { ?l (?u, "uses", {type: "Tool", name: "Docker"}) }',
        metadata=metadata,
    )
    for shown in (
        memory.context("What do I use?"),
        "\n".join(facts(memory, "Which tools do I use?")),
    ):
        assert "Vim" in shown
        assert "Docker" not in shown
    by_name = memory.recall("Docker")
    assert by_name.facts == ()
    assert "(weight" not in memory.context("Docker")


def test_an_entity_that_is_not_believed_has_no_facts(nexus: kiprdf.Nexus) -> None:
    memory = Memory(nexus)
    memory.add("I use Docker.")
    assert [hit.entity.name for hit in memory.recall("Docker").entities] == ["Docker"]
    nexus.execute(
        'UPDATE ?t SET METADATA {status: "retracted"} WHERE { ?t {type: "Tool", name: "Docker"} }'
    )
    recalled = memory.recall("Docker")
    assert recalled.entities == ()
    assert recalled.facts == ()
    assert memory.context("Docker") == ""
    assert [note.item.content for note in recalled.notes] == ["I use Docker."]


def test_a_fact_that_ended_is_still_shown_as_past(nexus: kiprdf.Nexus) -> None:
    memory = Memory(nexus)
    memory.add("I use Docker.", timestamp="2026-01-01")
    memory.add("I switched from Docker to Podman.", timestamp="2026-02-01")
    lines = facts(memory, "Which tools do I use?")
    assert len(lines) == 2
    assert "Podman" in lines[0]
    assert "weight" in lines[0]
    assert "Docker" in lines[1]
    assert "until 2026-02-01" in lines[1]
    nexus.execute(
        'UPDATE ?l SET METADATA {status: "retracted"}'
        ' WHERE { ?l (?u, "uses", {type: "Tool", name: "Docker"}) }'
    )
    assert not any("Docker" in line for line in facts(memory, "Which tools do I use?"))
