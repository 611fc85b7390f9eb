"""No note makes a rejected fact hold again; the notes themselves stay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kiprdf import KipError, Nexus
from kiprdf.memory import Memory

TEXT = "I prefer Redis."
FACTS = 'FIND(?l.predicate, ?o.name, ?l.metadata.status) WHERE { ?l (?s {type: "User"}, ?p, ?o) }'


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Nexus.memory(history=True) as nexus:
        yield Memory(nexus)


def reject_all(memory: Memory) -> list[str]:
    """Reject every edge; return the ids of the propositions."""
    links = [link.link for link in memory.graph.edges()]
    for link in links:
        memory.nexus.reject(link, reason="It was a joke.")
    return links


def status(memory: Memory, link: str) -> str | None:
    listed: list[str | None] = memory.nexus.execute(
        "FIND(?l.metadata.status) WHERE { ?l (id: :id) }", id=link
    )
    return listed[0]


def test_a_note_is_stored_and_its_rejected_fact_is_counted(memory: Memory) -> None:
    memory.add(TEXT)
    (link,) = reject_all(memory)
    before = memory.rejected
    ids = [memory.add(text) for text in (TEXT, "I really prefer Redis.", "I prefer REDIS!")]
    assert (before, memory.rejected) == (0, 3)
    assert all(memory.get(id) is not None for id in ids)
    assert status(memory, link) == "retracted"
    assert len(memory.graph.edges()) == 1
    assert [entity.name for entity in memory.entities() if entity.type != "user"] == ["Redis"]
    memory.add("I prefer Python.")
    assert len(memory.graph.edges()) == 2


def test_a_fact_that_is_rejected_before_any_note(memory: Memory) -> None:
    other = Memory(Nexus.memory())
    other.add(TEXT)
    (edge,) = other.graph.edges()
    user, redis = (f"C:{type}/{name}" for type, name in (edge.subject, edge.object))
    memory.nexus.reject((user, edge.edge.predicate, redis), reason="It was a joke.")
    id = memory.add(TEXT)
    assert (memory.graph.edges(), memory.rejected) == ([], 1)
    assert memory.get(id) is not None
    # What it names is kept as long as the note.
    assert memory.entity("Redis") is not None
    memory.forget(id)
    assert memory.entity("Redis") is None


def test_it_survives_rebuild_decay_and_an_import(memory: Memory) -> None:
    memory.add(TEXT)
    memory.add("I prefer Python.")
    snapshot = memory.export()
    (link,) = [edge.link for edge in memory.graph.edges() if edge.object[1] == "Redis"]
    memory.nexus.reject(link, reason="It was a joke.")
    expected = {"memories": 2, "entities": 3, "edges": 1, "rejected": 1}
    assert memory.rebuild(dry_run=True) == expected
    assert memory.rebuild() == expected
    assert status(memory, link) == "retracted"
    memory.decay(0.000001)
    assert status(memory, link) == "retracted"
    counts = memory.import_(snapshot, merge=True)
    assert (counts["edges"], counts["rejected"]) == (1, 1)
    counts = memory.import_(snapshot)
    assert (counts["edges"], counts["rejected"]) == (1, 1)
    assert status(memory, link) == "retracted"


def test_an_edge_that_a_caller_writes_is_refused(memory: Memory) -> None:
    memory.add(TEXT)
    (edge,) = memory.edges()
    reject_all(memory)
    with pytest.raises(KipError, match="was rejected by"):
        memory.upsert_edge(edge.subject_id, edge.predicate, edge.object_id, 0.9, {})


def test_merging_entities_does_not_bring_it_back(memory: Memory) -> None:
    memory.add(TEXT)
    reject_all(memory)
    memory.add("I prefer Valkey.")
    names = [edge.object[1] for edge in memory.graph.edges()]
    assert sorted(names) == ["Redis", "Valkey"]
    memory.merge("Valkey", "Redis")
    (edge,) = memory.graph.edges()
    assert status(memory, edge.link) == "retracted"
    memory.add("I still prefer Valkey.")
    assert memory.rejected == 1


def test_a_model_adds_notes_that_state_it_many_times(memory: Memory) -> None:
    memory.add(TEXT)
    (link,) = reject_all(memory)
    with memory.nexus.acting(author="claude"):
        memory.add_many(f"Note {number}: {TEXT}" for number in range(60))
    assert len(list(memory.items())) == 61
    assert memory.rejected == 1
    assert status(memory, link) == "retracted"
    assert memory.recall("Redis").notes
