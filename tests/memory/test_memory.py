"""Memories in a nexus, and the graph that grows out of them."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode

from kiprdf import KipError, Nexus
from kiprdf.memory import Extraction, Memory, enrichment
from kiprdf.memory.functions import MemoryFunctions
from kiprdf.store.base import Statement
from kiprdf.store.oxigraph_reads import OxigraphReads

NOTE = "I'm working on meshalyzer. I prefer Python, and decided to use SQLite for KG."
MOMENT = "2026-01-12T03:00:00Z"
USER = "entity:user:primary"


@pytest.fixture
def memory() -> Memory:
    return Memory(Nexus.memory(), clock=lambda: datetime(2026, 1, 12, 3, tzinfo=UTC))


def stated(memory: Memory) -> list[tuple[str, str, str, float]]:
    names = {entity.id: entity.name for entity in memory.entities()}
    edges = memory.edges()
    edges.sort(key=lambda edge: (-edge.weight, edge.predicate, names[edge.object_id]))
    return [
        (names[edge.subject_id], edge.predicate, names[edge.object_id], edge.weight)
        for edge in edges
    ]


def graph(memory: Memory) -> dict[str, Any]:
    snapshot = memory.export()
    del snapshot["exported_at"]
    return snapshot


def test_a_memory_is_stored_and_its_statements_become_a_graph(memory: Memory) -> None:
    id = memory.add(NOTE, tags=["notes"])
    item = memory.get(id)
    assert item is not None
    assert (item.id, item.content, item.tags, item.timestamp) == (id, NOTE, ("notes",), MOMENT)
    assert id.startswith("mem_")
    assert stated(memory) == [
        ("Primary User", "decided", "Use SQLite for KG", 1.0),
        ("Primary User", "prefers", "Python", 1.0),
        ("Primary User", "works_on", "Meshalyzer", 0.9),
    ]
    edge = memory.edges("works_on")[0]
    assert (edge.subject_id, edge.created_ts) == (USER, MOMENT)
    assert edge.evidence == {
        "memory_id": id,
        "src": "deterministic",
        "timestamp": MOMENT,
        "pattern": "works_on",
        "memory_ids": [id],
    }


def test_the_graph_is_knowledge_that_kql_finds(memory: Memory) -> None:
    id = memory.add(NOTE)
    row = memory.nexus.find(
        "FIND(?t.name, ?l.metadata.confidence, ?l.metadata.memory_id)"
        ' WHERE { ?l ({type: "User", name: "Primary User"}, "prefers", ?t) ?t {type: "Tool"} }'
    ).tuples()
    assert row == (("Python", 1.0, id),)


def test_an_add_is_at_most_two_commits(memory: Memory) -> None:
    commit = memory.nexus.info()["commit"]
    memory.add(NOTE)
    assert memory.nexus.info()["commit"] == commit + 2


def test_the_user_is_there_after_the_first_memory(memory: Memory) -> None:
    memory.add("Nothing of interest.")
    assert [entity.id for entity in memory.entities()] == [USER]


def test_the_strongest_statement_gives_weight_and_evidence(memory: Memory) -> None:
    first = memory.add("I use Python.", timestamp="2026-01-01T00:00:00Z")
    second = memory.add("I always use python.", timestamp="2026-01-02T00:00:00Z")
    third = memory.add("I use Python.", timestamp="2026-01-03T00:00:00Z")
    (edge,) = memory.edges()
    assert (edge.weight, edge.created_ts) == (0.9, "2026-01-01T00:00:00Z")
    assert (edge.evidence["memory_id"], edge.evidence["memory_ids"]) == (
        second,
        [first, second, third],
    )
    memory.forget(second)
    (edge,) = memory.edges()
    assert (edge.weight, edge.evidence["memory_id"]) == (0.8, third)


def test_forgetting_removes_what_nothing_else_states(memory: Memory) -> None:
    kept = memory.add("I use Docker.")
    gone = memory.add("I use Docker with Python. Redis is slow.")
    assert memory.forget(gone)
    assert not memory.forget(gone)
    assert [entity.name for entity in memory.entities()] == ["Primary User", "Docker"]
    assert memory.edges()[0].evidence["memory_ids"] == [kept]
    assert memory.get(gone) is None
    assert memory.nexus.check()["faults"] == []


def test_a_rebuild_gives_the_same_graph_and_a_dry_run_changes_nothing(memory: Memory) -> None:
    for text in (NOTE, "I use Docker and Python.", "Harbor project uses Redis, see ./a/b.txt."):
        memory.add(text)
    before = graph(memory)
    commit = memory.nexus.info()["commit"]
    counts = memory.rebuild(dry_run=True)
    assert (counts, memory.nexus.info()["commit"]) == (
        {"memories": 3, "entities": 9, "edges": 7},
        commit,
    )
    assert memory.rebuild() == counts
    assert graph(memory) == before


def test_the_order_in_which_memories_are_added_does_not_matter() -> None:
    texts = [("mem_1", "I use Python."), ("mem_2", "I always use python."), ("mem_3", NOTE)]
    graphs = []
    for order in (texts, texts[::-1]):
        memory = Memory(Nexus.memory())
        for id, text in order:
            memory.add(text, id=id, timestamp=f"2026-01-0{id[-1]}")
        memory.rebuild()
        graphs.append(graph(memory))
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize(
    "content", ["NUL \0 and \ud800 surrogates \udfff", "äöü 漢字 🎉", "x" * 450_000]
)
def test_every_text_is_read_back_unchanged(memory: Memory, content: str) -> None:
    item = memory.get(memory.add(content))
    assert item is not None
    assert item.content == content


@pytest.mark.parametrize("content", ["", "   ", "\n\t", "\u3000"])
def test_an_empty_text_is_refused_in_one_sentence(memory: Memory, content: str) -> None:
    with pytest.raises(ValueError, match=r"^The text of a memory is empty\.$"):
        memory.add(content)
    with pytest.raises(ValueError, match=r"^Text 1: The text of a memory is empty\.$"):
        memory.add_many(["I use Vim.", {"content": content}])
    answer = MemoryFunctions(memory.nexus).call("remember", {"text": content})
    assert answer["error"]["message"] == "The text of a memory is empty."
    assert list(memory.items()) == []
    memory.add("I use Vim.")
    assert len(list(memory.items())) == 1


def test_a_time_in_seconds_is_answered_with_the_form(memory: Memory) -> None:
    message = r"not 1700000000\.0; of seconds it is datetime\.fromtimestamp\(1700000000\.0, UTC\)\."
    with pytest.raises(ValueError, match=message):
        memory.add("I use Vim.", timestamp=1700000000.0)


def test_a_text_beyond_the_limit_is_refused_and_nothing_is_stored(memory: Memory) -> None:
    with pytest.raises(ValueError, match="at most 10000000"):
        memory.add("a" * 10_000_001)
    assert list(memory.items()) == []


def test_an_id_is_used_once(memory: Memory) -> None:
    assert memory.add("I use Python.", id="mem_a") == memory.add("I use Python.", id="mem_a")
    with pytest.raises(ValueError, match="another text"):
        memory.add("I use Rust.", id="mem_a")
    with pytest.raises(ValueError, match="cannot be the id"):
        memory.add("x", id=" ")


def test_a_failing_extractor_never_keeps_a_memory_from_being_stored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(text: str) -> Extraction:
        raise RuntimeError("no")

    memory = Memory(Nexus.memory(), extractor=fail)
    with caplog.at_level(logging.WARNING, "kiprdf"):
        id = memory.add(NOTE)
    assert memory.get(id) is not None
    assert "could not extract: no" in caplog.text


def test_upserts_merge_by_name_and_keep_the_stronger_statement(memory: Memory) -> None:
    tool = memory.upsert_entity("tool", "Zed", {"a": 1})
    assert memory.upsert_entity("tool", " zed ", {"b": 2}) == tool
    entity = memory.entity("ZED")
    assert entity is not None
    assert (entity.id, entity.name, entity.metadata) == (tool, "Zed", {"a": 1, "b": 2})
    user = memory.upsert_entity("user", "Primary User")
    assert user == USER
    for id in ("m1", "m2", "m3"):
        memory.add(f"A text without a relation: {id}.", id=id)
    edge = memory.upsert_edge(user, "uses", tool, 0.5, {"memory_id": "m1", "src": "llm"})
    assert memory.upsert_edge(user, "uses", tool, 0.9, {"memory_id": "m2"}) == edge
    assert memory.upsert_edge(user, "uses", tool, 0.7, {"memory_id": "m3"}) == edge
    (merged,) = memory.edges()
    assert merged.weight == 0.9
    assert (merged.evidence["memory_id"], merged.evidence["memory_ids"]) == (
        "m2",
        ["m1", "m2", "m3"],
    )


@pytest.mark.parametrize(
    ("type", "name"), [("person", "Ada"), ("tool", " "), ("tool", "a\nb"), ("tool", "x" * 2000)]
)
def test_an_invalid_entity_is_refused(memory: Memory, type: str, name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        memory.upsert_entity(type, name)


@pytest.mark.parametrize(
    ("predicate", "end", "weight"),
    [("knows", USER, 0.5), ("uses", "entity:none", 0.5), ("uses", None, 1.5), ("uses", None, True)],
)
def test_an_invalid_edge_is_refused(
    memory: Memory, predicate: str, end: str | None, weight: float
) -> None:
    user, tool = memory.upsert_entity("user", "Primary User"), memory.upsert_entity("tool", "Zed")
    with pytest.raises(ValueError, match=r"."):
        memory.upsert_edge(user, predicate, end or tool, weight, {})


@pytest.mark.parametrize(
    "evidence",
    [
        {"memory_id": "mem_none"},
        {"memory_id": "forgotten"},
        {"memory_id": "kept", "memory_ids": ["kept", "forgotten"]},
        {"memory_ids": ["mem_none"]},
        {"memory_id": "a\nb"},
        {"memory_id": ["kept"]},
        {"memory_id": 5},
    ],
)
def test_evidence_of_a_memory_that_is_not_stored_is_refused(
    memory: Memory, evidence: dict[str, Any]
) -> None:
    user, tool = memory.upsert_entity("user", "Primary User"), memory.upsert_entity("tool", "Zed")
    for id in ("kept", "forgotten"):
        memory.add(f"A text: {id}.", id=id)
    memory.forget("forgotten")
    message = r"^There is no memory .*, so it cannot be evidence\. Add the text before"
    with pytest.raises(ValueError, match=message):
        memory.upsert_edge(user, "uses", tool, 0.5, evidence)
    assert memory.edges() == []
    for allowed in ({"memory_id": "kept"}, {"memory_id": None}, {"src": "hand"}):
        assert memory.upsert_edge(user, "uses", tool, 0.5, allowed)
    assert memory.edges()[0].evidence["memory_ids"] == ["kept"]
    memory.forget("kept")
    assert memory.edges() == []


def test_search_scores_exact_partial_and_word_matches(memory: Memory) -> None:
    for name in ("Dark Mode", "Dark", "Mode of work", "Light"):
        memory.upsert_entity("concept", name)
    hits = [(hit.entity.name, hit.score) for hit in memory.search("dark mode")]
    assert hits == [("Dark Mode", 1.0), ("Dark", 0.7), ("Mode of work", 0.5)]
    assert memory.search("dark mode", type="tool") == []
    assert len(memory.search("dark mode", limit=1)) == 1


def test_neighbors_have_directions_and_are_ordered_by_weight(memory: Memory) -> None:
    memory.add("I use Python. I prefer Rust. Working on harbor.")
    names = [(n.entity.name, n.direction) for n in memory.neighbors(USER)]
    assert names == [("Rust", "outgoing"), ("Harbor", "outgoing"), ("Python", "outgoing")]
    (incoming,) = memory.neighbors("python", direction="incoming")
    assert (incoming.entity.id, incoming.edge.predicate) == (USER, "uses")
    assert memory.neighbors("python", direction="outgoing") == []
    assert memory.neighbors("nobody") == []
    with pytest.raises(ValueError, match="direction"):
        memory.neighbors("python", direction="up")


def test_stats_count_by_type_and_predicate(memory: Memory) -> None:
    memory.add("I use Python and Docker. I prefer Rust.")
    assert memory.stats() == {
        "entities": 4,
        "edges": 3,
        "memories": 1,
        "entities_by_type": {"user": 1, "tool": 3},
        "edges_by_predicate": {"prefers": 1, "uses": 2},
        "top_predicates": [("uses", 2), ("prefers", 1)],
    }


# Context --------------------------------------------------------------------------------------

BLOCK = """\
=== Knowledge Graph Context ===

Entities (2/2):
  [project] Meshalyzer (Score: 1.0)
  [tool] Python (Score: 1.0)

Relationships (2/2):
  User --[prefers]--> [tool] Python (weight: 1.0)
  User --[works_on]--> [project] Meshalyzer (weight: 0.9)

Evidence IDs: mem_a"""


def test_the_context_is_a_block_for_a_prompt(memory: Memory) -> None:
    memory.add(NOTE, id="mem_a")
    assert memory.context("meshalyzer python") == BLOCK
    assert memory.context("nothing") == ""


@pytest.mark.parametrize("characters", [0, 80, 120, 150, 200, 240, 1500])
def test_the_context_is_cut_between_lines(memory: Memory, characters: int) -> None:
    memory.add(NOTE, id="mem_a")
    text = memory.context("meshalyzer python", max_chars=characters)
    assert len(text) <= characters
    for line in text.splitlines():
        assert line in BLOCK or line.startswith(("Entities (", "Relationships ("))


def test_the_environment_sets_the_limits_and_arguments_win(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add(NOTE)
    monkeypatch.setenv("MILTON_KG_CONTEXT_MAX_EDGES", "1")
    assert "Relationships (1/2):" in memory.context("meshalyzer python")
    assert "Relationships (2/2):" in memory.context("meshalyzer python", max_edges=5)
    monkeypatch.setenv("MILTON_KG_CONTEXT_MAX_EDGES", "many")
    assert "Relationships (2/2):" in memory.context("meshalyzer python")
    monkeypatch.setenv("MILTON_KG_CONTEXT_ENABLED", "Off")
    assert memory.context("meshalyzer python") == ""


def test_a_failure_gives_no_context() -> None:
    nexus = Nexus.memory()
    memory = Memory(nexus)
    memory.add(NOTE)
    nexus.close()
    assert memory.context("meshalyzer") == ""


# Snapshots ------------------------------------------------------------------------------------


def test_a_snapshot_restores_the_graph(memory: Memory, tmp_path: Path) -> None:
    memory.add(NOTE)
    memory.add("I use Python.")
    path = tmp_path / "graph.json"
    memory.export_file(path)
    other = Memory(Nexus.memory())
    counts = other.import_(path)
    assert counts == {"entities": 5, "edges": 4, "created": 9, "updated": 0}
    assert graph(other) == graph(memory)
    assert list(other.items()) == []


def test_an_import_replaces_the_graph_in_one_commit_and_a_merge_adds_to_it(memory: Memory) -> None:
    memory.add("I use Docker.")
    snapshot = {
        "version": "1.0",
        "entities": [{"id": "entity:abc123", "type": "project", "name": "Meshalyzer"}],
        "edges": [
            {
                "id": "edge:def456",
                "subject_id": USER,
                "predicate": "works_on",
                "object_id": "entity:abc123",
                "weight": 0.9,
            }
        ],
    }
    assert memory.import_(json.dumps(snapshot), merge=True)["created"] == 2
    assert [edge[2] for edge in stated(memory)] == ["Meshalyzer", "Docker"]
    commit = memory.nexus.info()["commit"]
    memory.import_(snapshot)
    assert memory.nexus.info()["commit"] == commit + 1
    assert stated(memory) == [("Primary User", "works_on", "Meshalyzer", 0.9)]
    assert memory.edges()[0].id == "edge:def456"
    assert len(list(memory.items())) == 1


def test_a_merged_snapshot_spans_the_times_of_both(memory: Memory) -> None:
    memory.add("I use Docker.", timestamp="2026-02-01")
    older, newer = Memory(Nexus.memory()), Memory(Nexus.memory())
    older.add("I use Docker.", timestamp="2026-01-01")
    newer.add("I use Docker.", timestamp="2026-03-01")
    for other in (older, newer):
        memory.import_(other.export(), merge=True)
    docker, (edge,) = memory.entity("docker"), memory.edges()
    assert docker is not None
    times = docker.created_ts, docker.updated_ts, edge.created_ts
    assert times == ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    "snapshot",
    [
        {"version": "2.0", "entities": [], "edges": []},
        {"version": "1.0", "entities": {}, "edges": []},
        {"version": "1.0", "entities": [{"id": "e", "type": "person", "name": "a"}], "edges": []},
        {"version": "1.0", "entities": [{"id": "e", "type": "tool"}], "edges": []},
        "[1]",
        "{",
        7,
    ],
)
def test_another_version_or_shape_is_refused_and_nothing_is_lost(
    memory: Memory, snapshot: object
) -> None:
    memory.add(NOTE)
    before = graph(memory)
    with pytest.raises(ValueError, match=r"."):
        memory.import_(snapshot)
    assert graph(memory) == before


# Enrichment -----------------------------------------------------------------------------------


def answer(*edges: tuple[str, str, str, float]) -> str:
    return json.dumps(
        {
            "entities": [{"type": "concept", "name": "tests"}],
            "edges": [
                {
                    "subject": {"type": "user", "name": "me"},
                    "predicate": predicate,
                    "object": {"type": type, "name": name},
                    "weight": weight,
                }
                for predicate, type, name, weight in edges
            ],
        }
    )


def test_a_model_that_is_given_is_asked_unless_the_environment_forbids_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return answer(
            ("uses", "tool", "Zed", 0.8),
            ("uses", "tool", "weak", 0.4),
            ("knows", "tool", "Zed", 0.9),
            ("prefers", "concept", "ada@example.com", 0.9),
        )

    memory = Memory(Nexus.memory(), enricher=ask)
    monkeypatch.setenv("MILTON_KG_LLM_ENRICH_ENABLED", "false")
    memory.add("I use Python.")
    assert prompts == []
    monkeypatch.delenv("MILTON_KG_LLM_ENRICH_ENABLED")
    memory.add("I use Rust.")
    assert "do not hallucinate" in prompts[0]
    assert "I use Rust." in prompts[0]
    assert stated(memory) == [
        ("Primary User", "uses", "Python", 0.8),
        ("Primary User", "uses", "Rust", 0.8),
        ("Primary User", "uses", "Zed", 0.8),
    ]
    assert sorted(edge.evidence["src"] for edge in memory.edges()) == [
        *["deterministic"] * 2,
        "llm",
    ]
    assert memory.entity("tests", "concept") is not None


@pytest.mark.parametrize("reply", ["no JSON", "[]", '{"edges": 1}', '{"other": []}'])
def test_an_invalid_answer_is_dropped(monkeypatch: pytest.MonkeyPatch, reply: str) -> None:
    monkeypatch.setenv("MILTON_KG_LLM_ENRICH_ENABLED", "1")
    memory = Memory(Nexus.memory(), enricher=lambda prompt: reply)
    memory.add("I use Rust.")
    assert [edge[2] for edge in stated(memory)] == ["Rust"]


def test_a_model_that_hangs_is_left_after_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setenv("MILTON_KG_LLM_ENRICH_ENABLED", "yes")
    monkeypatch.setattr(enrichment, "SECONDS", 0.05)
    event = threading.Event()
    memory = Memory(Nexus.memory(), enricher=lambda prompt: str(event.wait(60)))
    memory.add("I use Rust.")
    event.set()
    assert [edge[2] for edge in stated(memory)] == ["Rust"]


def test_a_read_only_nexus_is_read_and_not_written(tmp_path: Path) -> None:
    Nexus.open(tmp_path / "empty").close()
    with Nexus.open(tmp_path / "empty", read_only=True) as nexus:
        memory = Memory(nexus)
        assert (memory.entities(), memory.context("x"), memory.get("m")) == ([], "", None)
        with pytest.raises(KipError, match="read-only"):
            memory.add("I use Rust.")


def test_a_strict_nexus_accepts_the_graph() -> None:
    memory = Memory(Nexus.memory(strict_schema=True))
    memory.add(NOTE)
    assert len(memory.edges()) == 3


# Upkeep ---------------------------------------------------------------------------------------


def test_weights_decay_with_the_age_of_their_statements(memory: Memory) -> None:
    memory.add("I use Python.", timestamp="2026-01-02T03:00:00Z")
    memory.add("I use Docker.")
    assert memory.decay(10) == 1
    assert [edge[2:] for edge in stated(memory)] == [("Docker", 0.8), ("Python", 0.4)]
    assert memory.decay(10) == 0
    memory.add("I use Python.")
    assert [edge[3] for edge in stated(memory)] == [0.8, 0.8]
    with pytest.raises(ValueError, match="above 0"):
        memory.decay(0)


def test_a_merged_entity_is_an_alias_of_the_other(memory: Memory) -> None:
    for text in ("I always use Python.", "Working on mesh.", "Working on meshalyzer."):
        memory.add(text)
    target = memory.merge("MESH", "meshalyzer")
    memory.add("The mesh project uses Redis.")
    assert [entity.name for entity in memory.entities("project")] == ["Meshalyzer"]
    assert memory.search("mesh")[0].entity.id == target
    assert [edge.subject_id for edge in memory.edges("uses") if edge.weight == 0.8] == [target]
    assert len(memory.edges("works_on")[0].evidence["memory_ids"]) == 2
    before = graph(memory)
    memory.rebuild()
    assert graph(memory) == before
    for source, message in (("meshalyzer", "itself"), ("python", "one type"), ("x", "no entity")):
        with pytest.raises(ValueError, match=message):
            memory.merge(source, "meshalyzer")


def test_a_merge_is_one_commit_that_one_undo_takes_back() -> None:
    nexus = Nexus.memory(history=True)
    memory = Memory(nexus)
    for text in ("I use Python.", "I always use Pyton.", "The mesh project uses Pyton."):
        memory.add(text)
    typo = memory.upsert_entity("tool", "pyton")
    memory.upsert_edge("entity:user:primary", "uses", typo, 0.95, {})
    before, commit = nexus.snapshot(engine_metadata=False), nexus.info()["commit"]
    memory.merge("pyton", "python")
    assert nexus.info()["commit"] == commit + 1
    assert [edge.weight for edge in memory.edges("uses")] == [0.95]
    assert nexus.undo(seq=commit + 1)["conflicts"] == []
    assert nexus.snapshot(engine_metadata=False) == before


def test_a_newer_decision_that_negates_an_older_one_is_reported(memory: Memory) -> None:
    memory.add("Decided to use MongoDB.", timestamp="2026-01-01")
    memory.add("Decided not to use Oracle.", timestamp="2026-01-02")
    memory.add("Decided not to use MongoDB for logs.", timestamp="2026-01-03")
    (contradiction,) = memory.contradictions()
    assert contradiction.older.name == "Use MongoDB"
    assert contradiction.newer.name == "Not to use MongoDB for logs"
    assert len(memory.entities("decision")) == 3


def test_a_memory_that_another_program_wrote_with_other_types_does_not_hide_the_rest() -> None:
    memory = Memory(Nexus.memory())
    memory.nexus.execute("""
    UPSERT {
      CONCEPT { {type: "MemoryItem", name: "odd giraffe"} SET ATTRIBUTES {
        content: 5, more_content: "x", lone_surrogates: [[9, 5], 3], tags: "giraffe",
        timestamp: 7, session: ["s"], speaker: {name: "Ann"}, seen: "twice", turn: "third"
      } }
    }
    """)
    memory.add("A giraffe came by.", id="note")
    assert {note.item.id for note in memory.recall("giraffe").notes} == {"note", "odd giraffe"}
    odd = memory.get("odd giraffe")
    assert odd is not None
    assert (odd.content, odd.tags, odd.session, odd.speaker, odd.seen) == ("", (), None, None, 1)


def test_a_note_does_not_read_all_that_the_user_states(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(Nexus.memory())
    memory.add("I use Docker.")
    read: list[str] = []
    statements = OxigraphReads.statements

    def noted(store: OxigraphReads, node: NamedNode) -> list[Statement]:
        read.append(node.value)
        return statements(store, node)

    monkeypatch.setattr(OxigraphReads, "statements", noted)
    memory.add("I use Docker and Vim.")
    user = memory.graph.user_node().value
    assert user not in read
    memory.nexus.execute('FIND(?u) WHERE { ?u {type: "User"} }')
    assert user in read
