"""What a memory recalls is believed: what was retracted is not stated as held."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kiprdf
from kiprdf.memory import Memory
from kiprdf.memory.functions import MemoryFunctions
from tests.cases import each_case


@pytest.fixture
def nexus() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory() as opened:
        yield opened


def facts(memory: Memory, query: str) -> list[str]:
    """The lines of the facts that a recall shows."""
    return [line for line in str(memory.recall(query)).splitlines() if "--[" in line]


@pytest.fixture
def falcon(nexus: kiprdf.Nexus) -> Memory:
    memory = Memory(nexus)
    memory.add("The rollout of Falcon begins on Monday.", id="one")
    memory.add("The rollout of Falcon was moved to Friday.", id="two")
    return memory


MARKS: list[tuple[str, object]] = [
    *(("status", status) for status in ("retracted", "deprecated", "draft")),
    ("status", ["active", "draft"]),
    ("superseded", True),
    ("superseded_by", "two"),
    ("valid_until", "2001-01-01"),
    ("valid_from", "2999-01-01"),
]


@each_case("key, value", MARKS)
def test_a_note_that_is_not_believed_is_not_recalled_and_the_recall_says_so(
    falcon: Memory, key: str, value: object
) -> None:
    memory, nexus = falcon, falcon.nexus
    query = "rollout of Falcon"

    def recalled() -> set[str]:
        return {note.item.id for note in memory.recall(query).notes}

    assert recalled() == {"one", "two"}
    mark = "UPDATE ?m SET METADATA :marks WHERE { ?m {name: :id} }"
    nexus.execute(mark, id="one", marks={key: value})
    assert recalled() == {"two"}
    answer = memory.recall(query)
    assert "1 note is of the query, but not believed." in answer.reasons
    tool = MemoryFunctions(nexus).call("recall", {"query": query})["result"]
    for text in (str(answer), tool, memory.context(query)):
        assert "Monday" not in text
    assert "Friday" in tool
    assert memory.get("one") is not None  # it is stored, and read by its id
    nexus.execute(mark, id="one", marks={key: None})
    assert recalled() == {"one", "two"}


def test_what_is_no_mark_hides_no_note(nexus: kiprdf.Nexus) -> None:
    memory = Memory(nexus)
    memory.add("The rollout of Falcon begins on Monday.", id="one")
    mark = "UPDATE ?m SET METADATA :marks WHERE { ?m {name: :id} }"
    for marks in (
        {"status": "reviewed", "superseded": False},
        {"status": "confirmed", "expires_at": "2001-01-01"},
        {"status": "Retracted", "valid_from": "2001-01-01", "valid_until": "2999-01-01"},
    ):
        nexus.execute(mark, id="one", marks=marks)
        assert [note.item.id for note in memory.recall("rollout of Falcon").notes] == ["one"]


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
