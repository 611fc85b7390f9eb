"""Items of stores of LangGraph: from the package's own stores, and files in their shapes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.store.memory import InMemoryStore

import kiprdf
from kiprdf import Nexus, importers
from kiprdf.memory import Memory
from tests.importers.exports import planned, recalled

TIMES = {"created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-02T03:04:05.5+01:00"}
TEA = {"namespace": ["users", "ada"], "key": "tea", "value": {"text": "Ada likes green tea."}}


def test_items_of_the_store_itself_are_notes_of_its_namespaces(tmp_path: Path) -> None:
    store = InMemoryStore()
    store.put(("users", "ada"), "tea/1", {"text": "Ada likes green tea.", "strength": 3})
    store.put(("users", "bob"), "m", {"kind": "Memory", "content": {"content": "Bob has a boat."}})
    store.put(("empty",), "none", {})
    items = [item.dict() for item in store.search((), limit=100)]
    plan = planned("langgraph", tmp_path, items)
    rows = {row["name"]: row for row in plan.concepts}
    assert sorted(rows) == ["empty/none", "users/ada/tea%2F1", "users/bob/m"]
    ada = rows["users/ada/tea%2F1"]
    assert ada["attributes"]["value"] == {"text": "Ada likes green tea.", "strength": 3}
    assert ada["attributes"]["content"] == "text: Ada likes green tea.\nstrength: 3"
    assert ada["attributes"]["namespace"] == ada["attributes"]["tags"] == ["users", "ada"]
    assert ada["attributes"]["key"] == "tea/1"
    [item] = [one for one in items if one["key"] == "tea/1"]
    assert ada["metadata"]["updated_at"] == item["updated_at"].replace("+00:00", "Z")
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        again = planned("langgraph", tmp_path, items).apply(nexus)
        assert again["concepts"] == {"created": 0, "updated": 0, "unchanged": 3}
        assert recalled(nexus, "who has a boat?")[0] == "kind: Memory\ncontent: Bob has a boat."
        notes = Memory(nexus).recall("tea", tags=["ada"]).notes
        assert [note.item.id for note in notes] == ["users/ada/tea%2F1"]


def test_rows_of_its_tables_and_other_shapes_are_read(tmp_path: Path) -> None:
    ended = {"expires_at": "2026-01-05T00:00:00+00:00", "ttl_minutes": 5}
    row = {"prefix": "users.ada", "key": "tea", "value": json.dumps(TEA["value"]), **TIMES}
    for content in (
        [{**TEA, **TIMES, "score": 0.5}],
        {"items": [{**TEA, **TIMES}]},
        [{**row, **ended}],
        "\n".join([json.dumps({**TEA, **TIMES}), "", json.dumps({**TEA, "key": "x"}), '{"cut']),
    ):
        plan = planned("langgraph", tmp_path, content)
        [tea] = [row for row in plan.concepts if row["name"] == "users/ada/tea"]
        assert tea["attributes"]["content"] == "Ada likes green tea."
        assert tea["attributes"]["timestamp"] == "2026-01-02T02:04:05.500000Z"
        assert tea["metadata"]["created_at"] == "2026-01-01T00:00:00Z"
        if "score" in str(content):
            assert tea["metadata"]["score"] == 0.5
        if "ttl_minutes" in str(content):
            assert tea["metadata"]["superseded"] is True
            assert tea["metadata"]["superseded_at"] == tea["metadata"]["valid_until"]
            assert tea["metadata"]["valid_until"] == "2026-01-05T00:00:00Z"
    assert plan.skipped == [
        {"item": '{"cut', "reason": "langgraph.json, line 4, column 2: the text ends too early."}
    ]


def test_values_that_are_no_objects_are_notes(tmp_path: Path) -> None:
    values = ["Ada likes tea.", [1, "two"], 5, '{"text": "JSON"}']
    items = [{"namespace": ["a"], "key": str(n), "value": one} for n, one in enumerate(values)]
    items += [{"namespace": ["a"], "key": "no", "value": None}]
    items[0] |= {"created_at": "soon", "expires_at": "later"}
    plan = planned("langgraph", tmp_path, items)
    rows = [row["attributes"] for row in plan.concepts]
    assert [row["content"] for row in rows] == ["Ada likes tea.", "1\ntwo", "5", "JSON"]
    assert [row["value"] for row in rows] == [*values[:3], {"text": "JSON"}]
    assert plan.concepts[0]["metadata"] == {
        "original_id": "a/0",
        "created_at": "soon",
        "expires_at": "later",
    }
    assert len(plan.skipped) == 1
    with Nexus.memory() as nexus:
        assert plan.apply(nexus)["concepts"]["created"] == 4


def test_the_file_of_its_sqlite_store_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a b.db"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL,"
            " created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
            " updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, expires_at TIMESTAMP,"
            " ttl_minutes REAL, PRIMARY KEY (prefix, key))"
        )
        row = (
            "users.ada",
            "tea",
            '{"text": "Ada likes tea."}',
            "2026-01-01 00:00:00",
            "2026-01-02",
        )
        insert = "INSERT INTO store (prefix, key, value, created_at, updated_at)"
        database.execute(f"{insert} VALUES (?, ?, ?, ?, ?)", row)
        database.execute("INSERT INTO store (prefix, key, value) VALUES ('a', 'b', 'no json')")
    before = file.read_bytes()
    plan = importers.langgraph(file)
    [tea] = plan.concepts
    assert tea["name"] == "users/ada/tea"
    assert tea["metadata"]["created_at"] == "2026-01-01T00:00:00Z"
    assert len(plan.skipped) == 1
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a b.db"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "has no item"),
        ('[{"namespace": ["a"], "key": "b", "value": ', "line 1"),
        ('[{"namespace": [1], "key": "b", "value": {}}, 3]', "has no item"),
        (b"SQLite format 3\0" + bytes(100), "is no store of LangGraph"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001") as caught:
        planned("langgraph", tmp_path, content)
    assert message in caught.value.message
