"""The file of the MCP memory server becomes entities, relations, and notes that recall finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import KipError, Nexus, importers
from kiprdf.memory import Memory
from tests.importers.exports import NOTHING, SAMPLES, counts, planned, recalled
from tests.long_runs import amount

ADA = '{type: "person", name: "Ada"}'


def entity(name: Any, type: Any, *observations: Any) -> str:
    line = {"type": "entity", "name": name, "entityType": type, "observations": [*observations]}
    return json.dumps(line) + "\n"


def relation(start: str, name: str, end: str) -> str:
    line = {"type": "relation", "from": start, "to": end, "relationType": name}
    return json.dumps(line) + "\n"


def test_all_of_a_file_is_found(tmp_path: Path) -> None:
    plan = importers.mcp_memory(SAMPLES / "memory.jsonl")
    assert (plan.report()["concepts"], plan.report()["notes"]) == (7, 4)
    assert plan.skipped == []
    assert plan.warnings == ["'Bob' is named by a relation only: its type is Entity."]
    with Nexus.open(tmp_path / "brain") as nexus:
        plan.apply(nexus)
        memory = Memory(nexus)
        assert recalled(nexus, "Which language does Ada speak?")[0] == "Speaks fluent Spanish"
        assert [item.content for item in memory.items(session="Ada")] == [
            "Speaks fluent Spanish",
            'Prefers meetings in the "morning",\nnot later',
            "Has a cat",
        ]
        mentioning = f'FIND(?n.attributes.content) WHERE {{ (?n, "mentions", {ADA}) }}'
        assert len(nexus.execute(mentioning)) == 3
        linked = f'FIND(?o.name) WHERE {{ ({ADA}, "works_at" | "knows", ?o) }}'
        assert sorted(nexus.execute(linked)) == ["Acme Corp.", "Bob"]
        [acme] = nexus.execute('FIND(?c) WHERE { ?c {type: "software_company"} }')
        assert acme["attributes"] == {"original_type": "software company"}
        kept = {key: acme["metadata"][key] for key in ("source", "original_id")}
        assert kept == {"source": "memory.jsonl", "original_id": "Acme Corp."}
        # Nothing says when an observation was made; the block shows whom it is about.
        text = memory.recall("bridges", limit=1).text(mark="mark")
        assert '"] "Acme Corp.": "Builds bridges 🌉"' in text


def test_a_second_import_writes_only_what_is_new(tmp_path: Path) -> None:
    text = (SAMPLES / "memory.jsonl").read_text("utf-8")
    with Nexus.memory() as nexus:
        planned("mcp_memory", tmp_path, text).apply(nexus)
        assert counts(planned("mcp_memory", tmp_path, text).apply(nexus)) == NOTHING
        grown = f"{text}\n{entity('Ada', 'person', 'Plays chess')}{relation('Bob', 'likes', 'Ada')}"
        report = planned("mcp_memory", tmp_path, grown).apply(nexus)
        assert report["definitions"]["predicates"] == ["likes"]
        assert report["propositions"] == {"created": 2, "updated": 0, "unchanged": 6}
        assert recalled(nexus, "chess")[0] == "Plays chess"
        assert len(list(Memory(nexus).items())) == 5
        # What only a relation named becomes an entity, and what is gone is listed.
        later = grown.replace("Has a cat", "Has a dog") + entity("Bob", "person")
        report = planned("mcp_memory", tmp_path, later).apply(nexus)
        assert [row["name"][:12] for row in report["vanished"] if "name" in row] == ["observation_"]
        friends = f'FIND(?b.type) WHERE {{ ({ADA}, "knows", ?b) }}'
        assert nexus.execute(kiprdf.believed(friends)) == ["person"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            '{"type":"entity","name":"A',
            "mcp_memory.json, line 2, column 25: the text ends too early",
        ),
        ('{"type":"_aim","source":"mcp"}', "line 2: it is no entity and no relation"),
        ('["entity"]', "line 2 is no object"),
        (entity("", "person", "Lives alone"), "line 2: it lacks name"),
        (entity(None, "person"), "line 2: it lacks name"),
        (relation("Eve", "", "Ada"), "line 2: it lacks from, to and relationType"),
        (entity("Eve", "robot"), "line 2: an earlier line has another entityType of this entity"),
        (entity("Eve", "person", " ", 7), "an observation of 'Eve' without a text"),
        ("[" * 100_000, "mcp_memory.json nests too deeply to be read."),
    ],
    ids=range(9),
)
def test_what_cannot_be_read_is_reported(tmp_path: Path, lines: str, reason: str) -> None:
    plan = planned("mcp_memory", tmp_path, entity("Eve", "person", "Has a cat") + lines)
    [skipped] = plan.skipped
    assert skipped["reason"].startswith(reason)
    shown = skipped["item"].rstrip("…")
    assert shown in lines or json.loads(shown)
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        assert "Has a cat" in recalled(nexus, "cat")


@pytest.mark.parametrize("content", ["", "\n", "[]", "{}", '{"results": []}', b"\xff\x00\x80"])
def test_another_file_is_refused(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(KipError) as caught:
        planned("mcp_memory", tmp_path, content)
    assert caught.value.code == "KIP_1001"
    assert "mcp_memory.json" in caught.value.message
    assert caught.value.hint


def test_an_answer_of_read_graph_is_read(tmp_path: Path) -> None:
    graph = {
        "entities": [{"name": "Ada", "entityType": "person", "observations": ["Has a cat"]}],
        "relations": [{"from": "Ada", "to": "Ada", "relationType": "trusts"}],
        "version": 2,
    }
    plan = planned("mcp_memory", tmp_path, json.dumps(graph, indent=2))
    [skipped] = plan.skipped
    assert skipped["item"] == '{"version": 2}'
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        assert nexus.execute(f'FIND(?o.name) WHERE {{ ({ADA}, "trusts", ?o) }}') == ["Ada"]
        assert recalled(nexus, "cat") == ["Has a cat"]


def test_an_answer_with_what_is_around_it_is_read(tmp_path: Path) -> None:
    items = [{"name": "Ada", "entityType": "person", "observations": ["Has a cat"]}]
    graph = {"entities": items, "relations": []}
    text = [{"type": "text", "text": json.dumps(graph, indent=2)}]
    answers = [
        {"jsonrpc": "2.0", "id": 1, "result": {"content": text, "structuredContent": graph}},
        {"content": text},
        [{"type": "entity", **items[0]}],
        {"type": "graph", **graph},
    ]
    for answer in answers:
        plan = planned("mcp_memory", tmp_path, json.dumps(answer, indent=1))
        with Nexus.memory() as nexus:
            plan.apply(nexus)
            assert recalled(nexus, "cat") == ["Has a cat"]


def test_names_that_kip_cannot_spell_are_kept(tmp_path: Path) -> None:
    names = ["Two\nlines", "Two lines", "..", "x" * 3000, "half \ud800", "药物", "A/B#c?d"]
    text = "".join(entity(name, "药物", f"Is number {n}") for n, name in enumerate(names))
    text += relation("..", "half \ud800", "药物") + relation("Two\nlines", "knows", "Two lines")
    plan = planned("mcp_memory", tmp_path, text)
    assert plan.skipped == []
    with Nexus.open(tmp_path / "brain") as nexus:
        plan.apply(nexus)
        [type] = {row["type"] for row in plan.concepts if row["type"] != "MemoryItem"}
        columns = nexus.execute(
            "FIND(?c.name, ?c.attributes.original_name, ?c.metadata.original_id)"
            f' WHERE {{ ?c {{type: "{type}"}} }}'
        )
        rows = [*zip(*columns, strict=True)]
        assert len({name for name, _, _ in rows}) == 7
        originals = {original or name for name, original, _ in rows}
        assert originals == {name.replace("\ud800", "\ufffd") for name in names}
        assert len(nexus.execute('FIND(?n.name) WHERE { (?n, "mentions", ?c) }')) == 7
        assert len(nexus.execute('FIND(?a.name) WHERE { ?l (?a, "knows", ?b) }')) == 1
        assert counts(planned("mcp_memory", tmp_path, text).apply(nexus)) == NOTHING


def test_what_belongs_to_every_nexus_is_not_written_over(tmp_path: Path) -> None:
    entities = [
        ("Person", "$self"),
        ("Domain", "CoreSchema"),
        ("$ConceptType", "$ConceptType"),
        ("Rejection", "Of an offer"),
    ]
    lines = [
        {"type": "entity", "name": name, "entityType": type, "core_mission": "To spy"}
        for type, name in entities
    ]
    lines.append({"type": "relation", "from": "$self", "to": "CoreSchema", "relationType": "knows"})
    text = "\n".join(map(json.dumps, lines))
    with Nexus.memory() as nexus:
        own = "FIND(?x) WHERE { ?x {type: :type, name: :name} }"
        before = [nexus.execute(own, type=type, name=name) for type, name in entities[:3]]
        assert all(before)
        report = planned("mcp_memory", tmp_path, text).apply(nexus)
        assert report["concepts"] == {"created": 4, "updated": 0, "unchanged": 0}
        assert report["warnings"] == [
            "'$self' is another Person here: it is called '$self (mcp-memory)'.",
            "'CoreSchema' is another Domain here: it is called 'CoreSchema (mcp-memory)'.",
        ]
        assert before == [nexus.execute(own, type=type, name=name) for type, name in entities[:3]]
        spying = (
            'FIND(?x.type, ?x.name) WHERE { ?x {} FILTER(?x.attributes.core_mission == "To spy") }'
        )
        assert {*zip(*nexus.execute(spying), strict=True)} == {
            ("Person", "$self (mcp-memory)"),
            ("Domain", "CoreSchema (mcp-memory)"),
            ("ConceptType", "$ConceptType"),
            ("ImportedRejection", "Of an offer"),
        }
        linked = 'FIND(?a.attributes.original_name, ?b.name) WHERE { (?a, "knows", ?b) }'
        assert nexus.execute(linked) == [["$self"], ["CoreSchema (mcp-memory)"]]
        assert counts(planned("mcp_memory", tmp_path, text).apply(nexus)) == NOTHING


def test_fields_of_variants_are_kept(tmp_path: Path) -> None:
    line = {
        "type": "entity",
        "name": "Ada",
        "entityType": "person",
        "createdAt": "2026-01-02T00:00:00Z",
        "observations": [
            {"content": "Has a cat", "timestamp": 1768186800000, "tags": ["pets"], "weight": 0.5},
            "x" * 300_000 + " end",
        ],
    }
    with Nexus.memory() as nexus:
        plan = planned("mcp_memory", tmp_path, json.dumps(line))
        plan.apply(nexus)
        [note] = nexus.execute(
            'FIND(?n) WHERE { ?n {type: "MemoryItem"} FILTER(?n.attributes.weight > 0) }'
        )
        assert note["attributes"]["timestamp"] == "2026-01-12T03:00:00.000000Z"
        assert note["attributes"]["own_tags"] == ["pets"]
        assert "The key 'tags' of a note is written as 'own_tags'." in plan.warnings
        assert nexus.execute(f"FIND(?a.attributes.createdAt) WHERE {{ ?a {ADA} }}") == [
            "2026-01-02T00:00:00Z"
        ]
        assert sorted(len(item.content) for item in Memory(nexus).items()) == [9, 300_004]


def test_many_entities(tmp_path: Path) -> None:
    number = amount("IMPORTED", 200)
    lines = [entity(f"E{n}", "thing", f"Observation {n}") for n in range(number)]
    lines += [relation(f"E{n}", "next", f"E{(n + 1) % number}") for n in range(number)]
    plan = planned("mcp_memory", tmp_path, "".join(lines))
    with Nexus.open(tmp_path / "brain") as nexus:
        report = plan.apply(nexus)
        assert report["propositions"]["created"] == 2 * number
        nexus.build_index()
        assert recalled(nexus, f"observation {number - 1}")[0] == f"Observation {number - 1}"
