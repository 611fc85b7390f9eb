"""What mem0 remembers becomes notes; what was said before is superseded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus, importers
from kiprdf.memory import Memory
from tests.importers.exports import NOTHING, SAMPLES, counts, planned, recalled, sample
from tests.long_runs import amount

SUPERSEDED = (
    "FIND(?n.attributes.content, ?n.metadata.superseded_at, ?n.metadata.superseded_by)"
    ' WHERE { ?n {type: "MemoryItem"} FILTER(?n.metadata.superseded == true) }'
)


def superseded(nexus: Nexus) -> set[tuple[Any, ...]]:
    return {*zip(*nexus.execute(SUPERSEDED), strict=True)}


def test_all_of_an_export_is_found(tmp_path: Path) -> None:
    plan = importers.mem0(SAMPLES / "mem0.json")
    assert plan.skipped == []
    assert plan.warnings == ["The key 'content' of a note is written as 'own_content'."]
    with Nexus.open(tmp_path / "brain") as nexus:
        plan.apply(nexus)
        assert recalled(nexus, "What does Ada prefer in the morning?")[0].startswith("Prefers coff")
        assert recalled(nexus, "visa for Japan") == ["Holds a visa for Japan"]
        # What no longer holds is there, and is not recalled.
        for word in ("tea", "dog", "ski"):
            assert recalled(nexus, word) == []
        assert superseded(nexus) == {
            ("Prefers tea in the morning", "2026-03-01T17:00:00Z", "C:MemoryItem/m-coffee"),
            ("Has a dog", "2026-04-01T10:00:00Z", None),
            ("Has a ski pass", "2026-02-02", None),
        }
        [note] = nexus.execute('FIND(?n) WHERE { ?n {type: "MemoryItem", name: "m-coffee"} }')
        assert note["attributes"] == {
            "content": "Prefers coffee in the morning",
            "hash": "5b1c",
            "own_content": "chat",
            "role": "user",
            "run_id": "chat-1",
            "session": "chat-1",
            "speaker": "Ada",
            "tags": [],
            "timestamp": "2026-03-01T17:00:00.000000Z",
            "topic": "drinks",
            "user_id": "ada",
        }
        own = {key: value for key, value in note["metadata"].items() if key[0] != "_"}
        assert own == {
            "created_at": "2026-01-05T02:00:00-08:00",
            "updated_at": "2026-03-01T09:00:00-08:00",
            "original_id": "m-coffee",
            "source": "mem0.json",
        }
        [visa] = nexus.execute('FIND(?n) WHERE { ?n {type: "MemoryItem", name: "m-visa"} }')
        assert visa["metadata"]["valid_until"] == "2126-02-02"
        assert visa["attributes"]["tags"] == ["travel"]
        assert nexus.execute('FIND(?o.name) WHERE { ({type: "person", name: "ada"}, "likes", ?o) }')
        assert Memory(nexus).recall("coffee", since="2026-03-01", until="2026-03-01").notes


def test_a_second_import_updates_what_changed(tmp_path: Path) -> None:
    export = sample("mem0.json")
    with Nexus.memory() as nexus:
        before = {**export, "history": None}
        planned("mem0", tmp_path, before).apply(nexus)
        assert counts(planned("mem0", tmp_path, before).apply(nexus)) == NOTHING
        assert [content for content, _, _ in superseded(nexus)] == ["Has a ski pass"]
        visa = export["results"].pop(1)
        time = "2026-05-01T10:00:00+00:00"
        export["history"]["m-visa"] = [
            {**export["history"]["m-dog"][1], "id": "h-5", "new_memory": visa["memory"]},
            {**export["history"]["m-dog"][0], "id": "h-6", "old_memory": visa["memory"]},
        ]
        export["results"][0] |= {"memory": "Prefers water", "updated_at": time}
        event = {"id": "h-7", "memory_id": "m-coffee", "event": "UPDATE", "updated_at": time}
        texts = {"old_memory": "Prefers coffee in the morning", "new_memory": "Prefers water"}
        export["history"]["m-coffee"].append({**event, **texts})
        planned("mem0", tmp_path, export).apply(nexus)
        assert counts(planned("mem0", tmp_path, export).apply(nexus)) == NOTHING
        assert recalled(nexus, "What does Ada prefer?") == ["Prefers water"]
        assert recalled(nexus, "visa") == []
        assert superseded(nexus) == {
            ("Prefers tea in the morning", "2026-03-01T17:00:00Z", "C:MemoryItem/m-coffee"),
            ("Prefers coffee in the morning", "2026-05-01T10:00:00Z", "C:MemoryItem/m-coffee"),
            ("Has a dog", "2026-04-01T10:00:00Z", None),
            ("Holds a visa for Japan", "2026-04-01T10:00:00Z", None),
            ("Has a ski pass", "2026-02-02", None),
        }


def test_extract_reads_what_holds(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "event": "ADD", "new_memory": "I use Vim.", "created_at": "2026-01-01"},
        {
            "id": "2",
            "event": "UPDATE",
            "old_memory": "I use Vim.",
            "new_memory": "I use Docker.",
            "updated_at": "2026-02-01",
        },
    ]
    export = {"results": [{"id": "m", "memory": "I use Docker."}], "history": {"m": rows}}
    with Nexus.memory() as nexus:
        memory = Memory(nexus)
        ends = memory.upsert_entity("user", "Primary User"), memory.upsert_entity("concept", "tea")
        memory.upsert_edge(ends[0], "prefers", ends[1], 1.0, {})
        for _ in range(2):
            planned("mem0", tmp_path, export).apply(nexus, extract=True)
            edges = {(edge.predicate, edge.weight) for edge in memory.edges()}
            assert edges == {("uses", 0.8), ("prefers", 1.0)}
            assert [tool.name for tool in memory.entities("tool")] == ["Docker"]
        memory.rebuild()
        assert [tool.name for tool in memory.entities("tool")] == ["Docker"]


MEMORY = {"id": "m", "memory": "Likes tea", "created_at": "2026-01-05T10:00:00Z"}


def test_forms_of_other_versions(tmp_path: Path) -> None:
    # 0.1: a list; a deletion without a time comes first. The platform: events as a flat list.
    rows = [
        {"id": "2", "event": "DELETE", "old_memory": "Has a dog", "new_memory": None},
        {
            "id": "1",
            "event": "ADD",
            "new_memory": "Has a dog",
            "created_at": "2025-01-05T10:00:00-08:00",
        },
    ]
    flat = [{**row, "memory_id": "d", "input": [{"role": "user"}]} for row in rows]
    for export in ([MEMORY], {"results": [MEMORY], "history": {"d": rows}}):
        with Nexus.memory() as nexus:
            planned("mem0", tmp_path, export).apply(nexus)
            assert recalled(nexus, "tea") == ["Likes tea"]
    with Nexus.memory() as nexus:
        page = {"count": 3, "next": "?page=2", "previous": None, "results": [MEMORY]}
        plan = planned("mem0", tmp_path, {**page, "history": flat})
        plan.apply(nexus)
        assert superseded(nexus) == {("Has a dog", None, None)}
        assert nexus.execute(
            'FIND(?n.attributes.input) WHERE { ?n {type: "MemoryItem", name: "d"} }'
        )
        assert plan.warnings == [
            "The file has 1 of 3 memories: export all pages.",
            "When 'd' ended is not in the history, as before mem0 2.0.",
        ]


def test_pages_are_one_export(tmp_path: Path) -> None:
    relation = {"source": "ada", "relationship": "lives_in", "target": "lyon"}
    milk = {**MEMORY, "id": "n", "memory": "Likes milk"}
    row = {"event": "UPDATE", "id": "1", "old_memory": "Likes tea!", "new_memory": "Likes tea"}
    row["updated_at"] = "2026-02-01"
    pages = [
        {"results": [MEMORY], "next": "?page=2", "count": 3, "history": {"m": [row]}},
        {"results": [milk], "relations": [relation], "next": None, "count": 3},
        {**MEMORY, "id": "o", "memory": "Likes juice"},
    ]
    plan = planned("mem0", tmp_path, pages)
    assert (plan.skipped, plan.warnings) == ([], [])
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        contents = {item.content for item in Memory(nexus).items()}
        assert contents == {"Likes tea!", "Likes tea", "Likes milk", "Likes juice"}
        assert nexus.execute('FIND(?o.name) WHERE { (?a, "lives_in", ?o) }') == ["lyon"]
    assert planned("mem0", tmp_path, pages[:1]).warnings == [
        "The file has 1 of 3 memories: export all pages."
    ]


def test_rows_of_several_memories_with_the_same_ids(tmp_path: Path) -> None:
    def history(text: str) -> list[dict[str, Any]]:
        of = {"event": "UPDATE", "updated_at": "2026-02-01", "created_at": "2026-01-01"}
        return [{**of, "id": 1, "old_memory": f"{text} once", "new_memory": text}]

    texts = {"m": "Likes tea", "n": "Likes milk", "1": "Likes juice"}
    results = [{"id": id, "memory": text} for id, text in texts.items()]
    export = {"results": results, "history": {id: history(texts[id]) for id in "mn"}}
    with Nexus.memory() as nexus:
        assert planned("mem0", tmp_path, export).apply(nexus)["warnings"] == []
        assert superseded(nexus) == {
            ("Likes tea once", "2026-02-01T00:00:00Z", "C:MemoryItem/m"),
            ("Likes milk once", "2026-02-01T00:00:00Z", "C:MemoryItem/n"),
        }
        assert {*recalled(nexus, "What does she like?")} == {*texts.values()}


def test_what_was_expired_and_is_no_more_holds_again(tmp_path: Path) -> None:
    expired = {**MEMORY, "expiration_date": "2026-02-01"}
    for renewed in (MEMORY, {**MEMORY, "expiration_date": "2126-02-01"}):
        with Nexus.memory() as nexus:
            planned("mem0", tmp_path, [expired]).apply(nexus)
            assert recalled(nexus, "tea") == []
            assert planned("mem0", tmp_path, [renewed]).apply(nexus)["concepts"]["updated"] == 1
            assert recalled(nexus, "tea") == ["Likes tea"]
            assert counts(planned("mem0", tmp_path, [renewed]).apply(nexus)) == NOTHING
            nexus.execute(
                'UPSERT { CONCEPT { {type: "MemoryItem", name: "m"} } }'
                ' WITH METADATA { superseded: true, superseded_at: "2026-03-01T00:00:00Z" }'
            )
            # Who superseded it in the nexus is not overruled.
            report = planned("mem0", tmp_path, [renewed]).apply(nexus)
            assert report["warnings"] == [
                "'m' holds in the source, and is superseded in the nexus."
            ]
            assert recalled(nexus, "tea") == []


@pytest.mark.parametrize(
    ("export", "reason"),
    [
        ({"results": [MEMORY, {"id": "x", "memory": ""}]}, "result 2 is no memory with a text"),
        ({"results": [MEMORY, ["tea"]]}, "result 2 is no memory with a text"),
        (
            {"results": [MEMORY, {**MEMORY, "memory": "Likes milk", "created_at": "2024-01-01"}]},
            "result 2: the memory 'm' is there twice; this is not the last",
        ),
        (
            {"results": [MEMORY], "history": {"m": [{"id": 1}]}},
            "it is no event in the history of 'm'",
        ),
        ({"results": [MEMORY], "history": 7}, "history is no object of lists"),
        ({"results": [MEMORY], "relations": [{"source": "a"}]}, "relation 1 lacks a source"),
        ({"results": [MEMORY], "profile": {"a": 1}}, "it is neither in results"),
        ({"results": [MEMORY], "history": {"x": [{"event": "ADD"}]}}, "there is no text in the"),
    ],
    ids=range(8),
)
def test_what_cannot_be_read_is_reported(tmp_path: Path, export: Any, reason: str) -> None:
    plan = planned("mem0", tmp_path, export)
    [skipped] = plan.skipped
    assert skipped["reason"].startswith(reason)
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        assert recalled(nexus, "What does she like?") == ["Likes tea"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"results": [{"id": "m", "memory": "Li', "mem0.json, line 1, column 36: "),
        ("7", "mem0.json is no list of memories"),
        ('{"results": {}}', "mem0.json is no list of memories"),
        (b'["\xe9"]', "mem0.json, line 1: this is not UTF-8"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(KipError) as caught:
        planned("mem0", tmp_path, content)
    assert caught.value.message.startswith(message)
    assert caught.value.hint


def test_odd_values_are_kept(tmp_path: Path) -> None:
    odd = {
        "id": "odd\nid",
        "memory": "half \ud800 of it",
        "metadata": {"content": 1, "user_id": "other", "deep": {"a": [1, None]}, "Größe": 2**70},
        "user_id": "ada",
        "actor_id": 0,
        "categories": [None, "odd"],
        "run_id": "two\nlines",
        "created_at": "soon",
        "expiration_date": "never",
    }
    with Nexus.open(tmp_path / "brain") as nexus:
        plan = planned("mem0", tmp_path, [odd, {**MEMORY, "user_id": "bob"}])
        plan.apply(nexus)
        [item] = [item for item in Memory(nexus).items() if item.content != "Likes tea"]
        assert item.content == odd["memory"]
        assert (item.session, item.speaker, item.timestamp) == ("two lines", "0", "")
        assert item.tags == ("odd",)
        [note] = nexus.execute('FIND(?n) WHERE { ?n {type: "MemoryItem", name: "odd id"} }')
        values = note["attributes"]
        assert (values["own_content"], values["metadata_user_id"]) == (1, "other")
        assert values["deep"] == {"a": [1, None]}
        assert note["metadata"]["created_at"] == "soon"
        assert note["metadata"]["original_id"] == "odd\nid"
        assert any("no date" in warning for warning in plan.warnings)
        assert any("2 users, such as 'ada'" in warning for warning in plan.warnings)


def test_many_memories(tmp_path: Path) -> None:
    number = amount("IMPORTED", 200)
    export = [
        {**MEMORY, "id": f"m{n}", "memory": f"Fact {n}", "user_id": "ada"} for n in range(number)
    ]
    with Nexus.open(tmp_path / "brain") as nexus:
        report = planned("mem0", tmp_path, export).apply(nexus)
        assert report["concepts"]["created"] == number
        nexus.build_index()
        assert recalled(nexus, f"fact {number - 1}")[0] == f"Fact {number - 1}"
