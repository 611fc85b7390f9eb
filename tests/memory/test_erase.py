"""Forgetting takes a memory out of every answer, erasing out of every file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from kiprdf.memory import Memory
from kiprdf.memory.functions import MemoryFunctions
from tests.nexus.test_forget import embedder, remaining

SECRET = "I use Docker and Xylophonium, and decided to use Zebrafinch for the Quixotte."
WORDS = ["xylophonium", "Zebrafinch", "Quixotte", "chat-of-jäne", "Jäne"]


def notes(memory: Memory) -> str:
    memory.add("I use Docker.", id="mem_before")
    id = memory.add(SECRET, session="chat-of-jäne", speaker="user", tags=["Jäne"])
    memory.add("I use Docker still.", id="mem_after")
    return id


def answers(memory: Memory) -> str:
    """All that can be asked, as one text."""
    nexus = memory.nexus
    recall = MemoryFunctions(nexus).call("recall", {"query": "docker zebrafinch xylophonium"})
    searched = [
        nexus.execute(f'SEARCH {kind} "zebrafinch xylophonium quixotte"')
        for kind in ("CONCEPT", "PROPOSITION")
    ]
    return str(
        [
            *(recall, searched, nexus.snapshot(), memory.export(), list(memory.items())),
            memory.context("docker zebrafinch xylophonium", max_chars=100_000),
        ]
    ).casefold()


def texts_in(answer: str) -> set[str]:
    return {word for word in WORDS if word.casefold() in answer}


def test_a_forgotten_memory_is_in_no_answer() -> None:
    memory = Memory(Nexus.memory())
    id = notes(memory)
    assert {"Zebrafinch", "Quixotte", "xylophonium", "Jäne"} <= texts_in(answers(memory))
    assert memory.forget(id)
    assert texts_in(answers(memory)) == set()
    assert [edge.evidence["memory_ids"] for edge in memory.edges()] == [["mem_before", "mem_after"]]
    assert not memory.forget(id)
    assert memory.get(id) is None


@pytest.mark.parametrize(
    ("history", "is_forgotten_before"), [(True, False), (True, True), (False, True)]
)
def test_an_erased_memory_is_in_no_file(
    tmp_path: Path, history: bool, is_forgotten_before: bool
) -> None:
    has_vectors = history and is_forgotten_before
    embed = embedder if has_vectors else None
    nexus = Nexus.open(tmp_path / "brain", history=history, embedder=embed)
    memory = Memory(nexus)
    id = notes(memory)
    nexus.execute(f'SEARCH CONCEPT "docker" {"MODE semantic" if has_vectors else ""}')
    assert remaining(tmp_path, WORDS) == set(WORDS)
    before = nexus.info()["commit"]
    if is_forgotten_before:
        memory.forget(id)
        assert remaining(tmp_path, WORDS) == set(WORDS)
    receipt = memory.erase(id)
    assert remaining(tmp_path, WORDS) == set()
    assert texts_in(answers(memory)) == set()
    assert receipt["seq"] == nexus.info()["commit"]
    if history or not is_forgotten_before:
        decision = {"type": "decision", "name": "Use Zebrafinch for the Quixotte"}
        assert receipt["erased"]
        assert receipt["entities"] == [decision]
        assert receipt["edges"] == [
            {"subject": "Primary User", "predicate": "decided", "object": decision["name"]}
        ]
        assert f"C:MemoryItem/{id}" in receipt["elements"]
    if history:
        assert len(receipt["commits"]) >= 2
        assert nexus.check()["history"]["state"] == "sound"
        with nexus.at(before) as past:
            assert len(list(Memory(past).items())) == 2
    assert [item.id for item in memory.items()] == ["mem_before", "mem_after"]
    assert [edge.evidence["memory_ids"] for edge in memory.edges()] == [["mem_before", "mem_after"]]
    assert memory.erase(id)["erased"] is False
    graph = memory.export()["edges"]
    memory.rebuild()
    assert memory.export()["edges"] == graph
    nexus.close()
    assert remaining(tmp_path, WORDS) == set()


def test_what_only_the_erased_memory_stated_earlier_is_erased_too(tmp_path: Path) -> None:
    nexus = Nexus.open(tmp_path / "brain")
    memory = Memory(nexus)
    memory.add("I use Docker.")
    id = memory.add("I decided to use Zebrafinch.")
    memory.add("I decided to use Heron.")
    memory.import_({"version": "1.0", "entities": [], "edges": []})
    assert memory.entities() == []
    assert remaining(tmp_path, ["Zebrafinch", "Heron"]) == {"Zebrafinch", "Heron"}
    receipt = memory.erase(id)
    assert receipt["entities"] == [{"type": "decision", "name": "Use Zebrafinch"}]
    assert remaining(tmp_path, ["Zebrafinch", "Heron"]) == {"Heron"}
    assert nexus.check()["history"]["state"] == "sound"
    nexus.close()


def test_nothing_is_written_for_an_id_that_no_memory_had(tmp_path: Path) -> None:
    memory = Memory(Nexus.memory(history=True))
    memory.add("I use Docker.")
    commit = memory.nexus.info()["commit"]
    assert memory.erase("mem_none") == {
        "id": "mem_none",
        "erased": False,
        "entities": [],
        "edges": [],
        "elements": [],
        "links": [],
        "commits": [],
        "mentions": [],
        "seq": None,
    }
    assert memory.nexus.info()["commit"] == commit
    with pytest.raises(ValueError, match="cannot be the id"):
        memory.erase(" ")


def test_a_memory_in_the_past_is_not_erased(tmp_path: Path) -> None:
    nexus = Nexus.open(tmp_path / "brain")
    id = Memory(nexus).add("I use Docker.")
    with nexus.at(nexus.info()["commit"]) as past, pytest.raises(KipError):
        Memory(past).erase(id)
    nexus.close()


def test_a_forgotten_turn_is_not_given_again() -> None:
    moment = datetime(2026, 1, 12, tzinfo=UTC)
    memory = Memory(Nexus.memory(), clock=lambda: moment)
    ids: list[Any] = [memory.add(f"Note {number}", session="s") for number in range(3)]
    memory.erase(ids[1])
    assert [item.turn for item in memory.items()] == [1, 3]
    memory.add("Note 3", session="s")
    assert [item.turn for item in memory.items()] == [1, 3, 4]
