"""A memory in a store that several processes write."""

from __future__ import annotations

import json

from kiprdf import Nexus
from kiprdf.memory import Memory
from tests.engines.servers import Engine
from tests.long_runs import amount
from tests.programs import Piped

ADDED = amount("ADDED", 1)
WRITER = """
import json, sys
from kiprdf import Nexus
from kiprdf.memory import Memory

arguments, name, number = json.loads(sys.argv[1])
with Nexus.connect(**arguments) as nexus:
    memory = Memory(nexus)
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(number):
        memory.upsert_entity("project", "Atlas", {f"{name}{n}": n})
        memory.add("The project Atlas uses PostgreSQL.", id=f"{name}-{n}")
"""


def test_two_processes_that_add_to_one_memory_lose_nothing(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus:
        memory = Memory(nexus)
        processes = []
        for name in ("first", "second"):
            arguments = json.dumps([server.arguments, name, ADDED])
            process = Piped(["-c", WRITER, arguments])
            assert process.readline() == "ready\n"
            processes.append(process)
        for process in processes:
            process.send()
        assert [process.finish() for process in processes] == [("", "")] * 2
        names = {f"{name}-{n}" for name in ("first", "second") for n in range(ADDED)}
        assert {item.id for item in memory.items()} == names
        (edge,) = memory.edges("uses")
        assert set(edge.evidence["memory_ids"]) == names
        atlas = memory.entity("Atlas")
        assert atlas is not None
        assert set(atlas.metadata) == {name.replace("-", "") for name in names}


def test_notes_in_a_store_are_recalled_and_other_processes_are_seen(server: Engine) -> None:
    with Nexus.connect(**server.arguments) as nexus, Nexus.connect(**server.arguments) as second:
        memory, other = Memory(nexus), Memory(second)
        memory.add("Where is the key?", session="a", timestamp="2026-01-05", speaker="Eve")
        assert len(memory.recall("key", session="a").notes) == 1
        other.add("Under the mat, with my Zed.", session="a", timestamp="2026-01-05", speaker="Al")
        other.add("I prefer Vim.", timestamp="2026-01-05")
        notes = memory.recall("Where is the key?", session="a").notes
        assert [note.item.speaker for note in notes] == ["Eve", "Al"]
        assert notes[1].because[-1] == "session"
        answer = memory.recall("vim")
        assert [fact.predicate for fact in answer.notes[0].facts] == ["prefers"]
        assert "User --[prefers]--> [tool] Vim (weight: 1.0)" in memory.context("What do I prefer?")
