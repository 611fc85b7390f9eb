"""A memory that reads the members of a view, and writes to one of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kiprdf import AsyncMemory, Brains, Nexus, View
from kiprdf.memory import Memory


def predicates(memory: Memory) -> set[tuple[str, str]]:
    names = {node.id: node.name for node in memory.entities()}
    return {(edge.predicate, names[edge.object_id]) for edge in memory.edges()}


@pytest.mark.parametrize("is_view_writable", [False, True])
def test_a_memory_reads_all_and_writes_one(tmp_path: Path, is_view_writable: bool) -> None:
    with Brains(tmp_path) as brains:
        team = Memory(brains.add("team"))
        team.add("I use Docker.")
        ada = brains.add("ada")
        if is_view_writable:
            memory = Memory(brains.view("team", "ada", write="ada"))
        else:
            memory = Memory(brains.view("team", "ada"), write=ada)
        before = brains["team"].snapshot()
        id = memory.add("I prefer Python, and I am allergic to peanuts.")
        assert memory.get(id) is not None
        assert predicates(memory) == {("uses", "Docker"), ("prefers", "Python")}
        assert predicates(Memory(brains["ada"])) == {("prefers", "Python")}
        assert [note.item.id for note in memory.recall("peanuts").notes] == [id]
        assert memory.recall("docker").notes
        assert "Docker" in memory.context("docker")
        assert memory.stats()["memories"] == 2
        assert len(list(memory.items())) == 2
        memory.upsert_entity("tool", "Rust")
        assert memory.entity("Rust") is not None
        assert team.entity("Rust") is None
        # What only another member has is not there to be changed.
        [note] = team.items()
        assert not memory.forget(note.id)
        assert memory.forget(id)
        assert memory.get(id) is None
        assert predicates(memory) == {("uses", "Docker")}
        assert memory.rebuild() == {"memories": 0, "entities": 0, "edges": 0}
        assert brains["team"].snapshot() == before


@pytest.mark.parametrize("is_view_writable", [False, True])
def test_what_another_member_has_rejected_is_not_stated(is_view_writable: bool) -> None:
    team, ada = Nexus.memory(), Nexus.memory()
    Memory(team).add("I use Docker.")
    [link] = team.execute('FIND(?l.id) WHERE { ?l (?a, "uses", ?b) }')
    team.reject(link, reason="Nobody does.")
    if is_view_writable:
        memory = Memory(View([team, ada], write=ada))
    else:
        memory = Memory(View([team, ada]), write=ada)
    memory.add("I use DOCKER and Python.")
    assert memory.rejected == 1
    assert predicates(Memory(ada)) == {("uses", "Python")}
    # The member alone knows nothing of it.
    Memory(ada).add("I use DOCKER.")
    assert {name.casefold() for _, name in predicates(Memory(ada))} == {"python", "docker"}


def test_a_memory_writes_to_a_member() -> None:
    team, ada, bo = Nexus.memory(), Nexus.memory(), Nexus.memory()
    for nexus in (View([team, ada]), bo, team):
        with pytest.raises(ValueError, match="write to a member of the view"):
            Memory(nexus, write=bo)
    memory = AsyncMemory(View([team, ada]), write=ada)
    asyncio.run(memory.add("I use Docker."))
    assert [edge.predicate for edge in asyncio.run(memory.edges())] == ["uses"]
    assert [edge.predicate for edge in Memory(ada).edges()] == ["uses"]
    assert Memory(team).edges() == []


def test_a_memory_of_a_view_reads() -> None:
    team = Nexus.memory()
    Memory(team).add("I use Docker.")
    memory = Memory(View([team, Nexus.memory()]))
    assert predicates(memory) == {("uses", "Docker")}
    with pytest.raises(Exception, match="Write to one of its members"):
        memory.add("I use Python.")
