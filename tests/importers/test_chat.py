"""Exports of ChatGPT and Claude, in their shapes of 2023 to 2026, and bad ones."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import Nexus, importers
from kiprdf.importers import Plan
from kiprdf.interchange import compression
from kiprdf.memory import Memory
from tests.importers.exports import planned

Json = dict[str, Any]


def node(id: str, parent: str | None, children: list[str], message: Json | None = None) -> Json:
    """A node of ChatGPT's mapping."""
    given = None if message is None else {"id": id, **message}
    return {"id": id, "message": given, "parent": parent, "children": children}


def message(role: str, time: float | None, content: Json, **more: Any) -> Json:
    """A message of ChatGPT."""
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    return {
        "author": author,
        "create_time": time,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": more.pop("metadata", {}),
        "recipient": "all",
        "channel": None,
        **more,
    }


def text(*parts: Any) -> Json:
    """A content of texts."""
    return {"content_type": "text", "parts": list(parts)}


HIDDEN = {"is_visually_hidden_from_conversation": True}
EMPTY = message("system", None, text(""), metadata=HIDDEN)
RAN = {"content_type": "execution_output", "text": "green"}
CHATGPT = {
    "title": "Tea",
    "create_time": 1700000000.5,
    "update_time": 1700000100.0,
    "mapping": {
        "root": node("root", None, ["system"]),
        "system": node(
            "system", "root", ["own"], message("system", None, text(""), metadata=HIDDEN)
        ),
        "own": node(
            "own",
            "system",
            ["asked"],
            message(
                "user",
                None,
                {
                    "content_type": "user_editable_context",
                    "user_profile": "I am a nurse.",
                    "user_instructions": "Be brief.",
                },
                metadata=HIDDEN,
            ),
        ),
        "asked": node(
            "asked",
            "own",
            ["old", "code"],
            message(
                "user",
                1700000001.25,
                {
                    "content_type": "multimodal_text",
                    "parts": [
                        {
                            "content_type": "image_asset_pointer",
                            "asset_pointer": "file-service://file-1",
                        },
                        {"content_type": "audio_transcription", "text": "What tea is this?"},
                        "I use Vim.",
                    ],
                },
                metadata={"attachments": [{"id": "file-1", "name": "tea.png"}]},
            ),
        ),
        "old": node("old", "asked", [], message("assistant", 1700000002.0, text("Black tea."))),
        "code": node(
            "code",
            "asked",
            ["thought"],
            message(
                "assistant",
                1700000003.0,
                {"content_type": "code", "language": "python", "text": "look()"},
                recipient="python",
            ),
        ),
        "thought": node(
            "thought",
            "code",
            ["ran"],
            message(
                "assistant",
                None,
                {
                    "content_type": "thoughts",
                    "thoughts": [{"summary": "Colour", "content": "It is green."}],
                },
            ),
        ),
        "ran": node(
            "ran",
            "thought",
            ["new"],
            message(
                "tool",
                1700000004.0,
                {"content_type": "execution_output", "text": "green"},
                name="python",
            ),
        ),
        "new": node("new", "ran", [], message("assistant", 1700000005.0, text("Green tea."))),
    },
    "moderation_results": [],
    "current_node": "new",
    "conversation_id": "c-1",
    "id": "c-1",
    "default_model_slug": "gpt-4o",
}
CLAUDE = {
    "uuid": "k-1",
    "name": "Trip",
    "summary": "",
    "created_at": "2025-02-01T10:00:00.123456Z",
    "updated_at": "2025-02-01T11:00:00.000000Z",
    "account": {"uuid": "a-1"},
    "chat_messages": [
        {
            "uuid": "m1",
            "text": "Plan a trip to Rome.",
            "content": [
                {"type": "text", "text": "Plan a trip to Rome.", "citations": []},
            ],
            "sender": "human",
            "created_at": "2025-02-01T10:00:01.000000Z",
            "updated_at": "2025-02-01T10:00:01.000000Z",
            "attachments": [
                {
                    "file_name": "wishes.txt",
                    "file_size": 9,
                    "file_type": "txt",
                    "extracted_content": "Colosseum",
                }
            ],
            "files": [{"file_name": "map.png"}],
        },
        {
            "uuid": "m2",
            "text": "Sure.",
            "content": [
                {"type": "thinking", "thinking": "A short one."},
                {"type": "tool_use", "name": "web_search", "input": {"query": "Rome"}},
                {"type": "tool_result", "content": [{"type": "text", "text": "I live in Rome."}]},
                {"type": "text", "text": "Sure."},
            ],
            "sender": "assistant",
            "created_at": "2025-02-01T10:00:02.000000Z",
            "updated_at": "2025-02-01T10:00:02.000000Z",
            "attachments": [],
            "files": [],
            "parent_message_uuid": "m1",
        },
        {
            "uuid": "m3",
            "text": "",
            "content": [],
            "sender": "human",
            "created_at": "2025-02-01T10:00:03.000000Z",
            "attachments": [],
            "files": [{"file_name": "photo.png"}],
        },
        {
            "uuid": "m4",
            "text": "",
            "content": [],
            "sender": "assistant",
            "attachments": [],
            "files": [],
        },
    ],
}


def notes_of(plan: Plan) -> list[tuple[Any, ...]]:
    """Session, turn, role and text of the notes of a plan."""
    keys = ("session", "turn", "role", "content")
    return [
        tuple(row["attributes"].get(key) for key in keys)
        for row in plan.concepts
        if row["type"] == "MemoryItem"
    ]


def test_a_conversation_of_chatgpt_is_a_session(tmp_path: Path) -> None:
    plan = planned("chat", tmp_path, [CHATGPT])
    assert notes_of(plan) == [
        ("c-1", 1, "user", "I am a nurse.\nBe brief."),
        ("c-1", 2, "user", "[image: file-service://file-1]\nWhat tea is this?\nI use Vim."),
        ("c-1", 3, "assistant", "look()"),
        ("c-1", 4, "assistant", "It is green.\nColour"),
        ("c-1", 5, "tool", "green"),
        ("c-1", 6, "assistant", "Green tea."),
        ("c-1 not shown", 1, "assistant", "Black tea."),
    ]
    rows = {row["name"]: row for row in plan.concepts}
    assert rows["c-1"] == {
        "type": "Conversation",
        "name": "c-1",
        "attributes": {"title": "Tea", "created_at": "2023-11-14T22:13:20.500000Z"},
        "metadata": {
            "original_id": "c-1",
            "details": {"update_time": 1700000100.0, "default_model_slug": "gpt-4o"},
        },
    }
    own, asked, thought, ran = (rows[f"c-1/{id}"] for id in ("own", "asked", "thought", "ran"))
    assert own["attributes"]["hidden"] is True
    assert own["attributes"]["timestamp"] == "2023-11-14T22:13:20.500000Z"
    assert asked["attributes"]["timestamp"] == "2023-11-14T22:13:21.250000Z"
    assert thought["attributes"]["timestamp"] == "2023-11-14T22:13:23.000000Z"
    assert ran["attributes"]["speaker"] == "python"
    assert asked["metadata"]["original_id"] == "asked"
    attached = asked["metadata"]["details"]["metadata"]["attachments"]
    assert attached == [{"id": "file-1", "name": "tea.png"}]
    assert plan.skipped == []
    assert plan.warnings == [
        "'Tea' has 1 message in branches that are not shown: see the session 'c-1 not shown'."
    ]


def test_a_conversation_of_claude_is_a_session(tmp_path: Path) -> None:
    plan = planned("chat", tmp_path, [CLAUDE])
    assert notes_of(plan) == [
        ("k-1", 1, "user", "Plan a trip to Rome."),
        (
            "k-1",
            2,
            "assistant",
            'A short one.\nweb_search({"query": "Rome"})\n> I live in Rome.\nSure.',
        ),
        ("k-1", 3, "user", "[file: photo.png]"),
    ]
    rows = {row["name"]: row for row in plan.concepts}
    first = rows["k-1/m1"]["attributes"]
    assert first["attachments"][0]["extracted_content"] == "Colosseum"
    assert first["files"] == [{"file_name": "map.png"}]
    assert first["timestamp"] == "2025-02-01T10:00:01.000000Z"
    assert rows["k-1/m2"]["metadata"]["details"]["parent_message_uuid"] == "m1"
    assert rows["k-1"]["attributes"]["title"] == "Trip"
    assert plan.skipped == [
        {"item": '{"conversation": "k-1", "message": "m4"}', "reason": "a message without a text"}
    ]


def test_the_last_branch_of_claude_is_shown(tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    turns = [
        ("m1", root, "tea"), ("m2", "m1", "green"), ("m3", "m1", "black"), ("m4", "m2", "thanks"),
        ("m5", "m3", "good"),
    ]  # fmt: skip
    messages = [
        {"uuid": id, "parent_message_uuid": parent, "sender": "human", "text": text}
        for id, parent, text in turns
    ]
    export = {"uuid": "c1", "name": "Tea", "created_at": "2026-01-01T00:00:00Z"}
    without = [{k: v for k, v in one.items() if k != "parent_message_uuid"} for one in messages]
    for given, leaf, shown in (
        (messages, None, ["m1", "m3", "m5"]),
        (messages, "m4", ["m1", "m2", "m4"]),
        (without, None, ["m1", "m2", "m3", "m4", "m5"]),
        ([*messages, messages[-1]], None, ["m1", "m2", "m3", "m4", "m5", "m5"]),
    ):
        more = {} if leaf is None else {"current_leaf_message_uuid": leaf}
        plan = planned("chat", tmp_path, [{**export, **more, "chat_messages": given}])
        texts = {id: text for id, _, text in turns}
        assert [note[3] for note in notes_of(plan) if note[0] == "c1"] == [texts[m] for m in shown]
        hidden = len(given) - len(shown)
        assert plan.report()["warnings"] == [
            f"'Tea' has {hidden} messages in branches that are not shown: see the session"
            " 'c1 not shown'."
        ] * (hidden > 0)  # fmt: skip


def test_messages_are_recalled_and_state_nothing_unless_asked(tmp_path: Path) -> None:
    export = [CHATGPT, CLAUDE]
    with Nexus.memory() as nexus:
        planned("chat", tmp_path, export).apply(nexus)
        again = planned("chat", tmp_path, export).apply(nexus)
        assert again["concepts"] == {"created": 0, "updated": 0, "unchanged": 12}
        memory = Memory(nexus)
        assert memory.recall("trip to Rome").notes[0].item.id == "k-1/m1"
        assert [item.id for item in memory.items(session="k-1")] == ["k-1/m1", "k-1/m2", "k-1/m3"]
        assert memory.edges() == []
        planned("chat", tmp_path, export).apply(nexus, extract=True)
        assert [edge.predicate for edge in Memory(nexus).edges()] == ["uses"]
        more = {**CLAUDE, "chat_messages": [*CLAUDE["chat_messages"][:3]]}  # type: ignore[index]
        more["chat_messages"].append({"uuid": "m5", "text": "Thanks.", "sender": "human"})
        report = planned("chat", tmp_path, [CHATGPT, more]).apply(nexus)
        assert report["concepts"]["created"] == 1
        assert report["vanished"] == []


def test_nothing_of_a_content_is_lost(tmp_path: Path) -> None:
    voice = {
        "content_type": "multimodal_text",
        "parts": [
            {"content_type": "audio_transcription", "text": "I like tea.", "direction": "in"},
            {"audio_start_timestamp": 3.5},
        ],
    }
    details = {"metadata": {"attachments": [{"name": "a.pdf"}]}}
    mapping = {
        "a": node("a", "deleted", ["b"], message("user", 1.0e9, voice, **details)),
        "b": node("b", "a", ["deleted too"], message("assistant", None, text("Fine."))),
    }
    chatgpt = {"id": "c", "current_node": "deleted too", "mapping": mapping, "title": 7}
    blocks = [{"type": "thinking", "thinking": "Hm.", "summaries": [{"summary": "Think"}]}]
    pasted = [{"file_name": "", "extracted_content": "A long text on zebras."}]
    claude = {
        "uuid": "k",
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "", "attachments": pasted},
            {"uuid": "2", "sender": "assistant", "text": "Other.", "content": blocks},
            {"uuid": "3", "sender": "human", "text": "Ok.", "created_at": "soon", "files": 5},
        ],
    }
    plan = planned("chat", tmp_path, [chatgpt, claude])
    assert notes_of(plan) == [
        ("c", 1, "user", "I like tea."),
        ("c", 2, "assistant", "Fine."),
        ("k", 1, "user", "A long text on zebras."),
        ("k", 2, "assistant", "Hm."),
        ("k", 3, "user", "Ok."),
    ]
    rows = {row["name"]: row for row in plan.concepts}
    assert rows["c"]["metadata"]["details"] == {"title": 7}
    assert rows["c/a"]["attributes"]["files"] == [{"name": "a.pdf"}]
    assert rows["c/a"]["metadata"]["details"]["content"] == voice
    assert "content" not in rows["c/b"]["metadata"]["details"]
    assert rows["k/1"]["attributes"]["attachments"] == pasted
    assert rows["k/2"]["metadata"]["details"] == {"text": "Other.", "content": blocks}
    assert rows["k/3"]["metadata"]["details"] == {"created_at": "soon"}
    assert rows["k/3"]["attributes"]["files"] == [5]


def test_what_was_edited_away_states_nothing(tmp_path: Path) -> None:
    mapping = {
        "r": node("r", None, ["a", "b"]),
        "a": node("a", "r", [], message("user", 1.0e9, text("I use Emacs."))),
        "b": node("b", "r", [], message("user", 1.0e9 + 1, text("I use Vim."))),
    }
    export = [{"id": "c", "current_node": "b", "mapping": mapping}]
    with Nexus.memory() as nexus:
        planned("chat", tmp_path, export).apply(nexus, extract=True)
        memory = Memory(nexus)
        assert [edge.object_id for edge in memory.edges()] == [memory.entity("Vim").id]  # type: ignore[union-attr]
        assert len([*memory.items()]) == 2


def test_a_folder_of_an_export_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    (folder / "data").mkdir(parents=True)
    (folder / "data/conversations-000.json").write_text(json.dumps([CHATGPT]))
    (folder / "data/conversations-001.json").write_text(json.dumps([CLAUDE]))
    (folder / "conversations.json").symlink_to(folder / "data/conversations-000.json")
    (folder / "user.json").write_text("{}")
    plan = importers.chat(folder)
    assert (plan.source, len(notes_of(plan))) == ("export", 10)
    assert [entry["item"] for entry in plan.skipped if "archive" in entry["reason"]] == [
        "conversations.json",
        "user.json",
    ]


def test_what_is_too_large_is_reported_with_its_name(tmp_path: Path) -> None:
    attached = [{"file_name": "a", "extracted_content": "z" * (16 << 20)}]
    listed = [
        {"uuid": "1", "sender": "human", "text": "See a.", "attachments": attached},
        {"uuid": "2", "sender": "human", "text": "z" * (5 << 20)},
    ]
    plan = planned("chat", tmp_path, [{"uuid": "k", "chat_messages": listed}])
    assert notes_of(plan) == [("k", 1, "user", "See a.")]
    assert [entry["item"][:20] for entry in plan.skipped] == [
        '{"k/1": {"attachment',
        "k/2: zzzzzzzzzzzzzzz",
    ]


def test_an_archive_is_read_within_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("data/conversations-000.json", json.dumps([CHATGPT]))
        opened.writestr("data/conversations-001.json", json.dumps([CLAUDE]))
        opened.writestr("user.json", "{}")
    plan = importers.chat(archive)
    assert len(notes_of(plan)) == 10
    assert [entry["item"] for entry in plan.skipped if "archive" in entry["reason"]] == [
        "user.json"
    ]
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("conversations.json", b" " * 3_000_000)
    monkeypatch.setattr(sys.modules["kiprdf.importers.chat"], "ALLOWANCE", 1_000_000)
    assert compression.GROWTH * bomb.stat().st_size < 2_000_000
    with pytest.raises(kiprdf.KipError) as caught:
        importers.chat(bomb)
    assert caught.value.code == "KIP_4002"
    data = bytearray(archive.read_bytes())
    data[60:90] = bytes(30)
    archive.write_bytes(data)
    with pytest.raises(kiprdf.KipError, match="cannot be read"):
        importers.chat(archive)


def test_odd_conversations_are_read_or_reported(tmp_path: Path) -> None:
    circle = {
        "a": node("a", "b", ["b"], message("user", 1.0e9, text("one"))),
        "b": node("b", "a", ["a"], message("critic", None, text("two"))),
    }
    profile = {"user_context_message_data": {"about_user_message": "I like tea."}}
    export = [
        {"id": "c", "title": None, "current_node": "b", "mapping": circle},
        {
            "conversation_id": "old",
            "mapping": {
                "x": node(
                    "x", None, ["y", "z"], message("system", None, text(""), metadata=profile)
                ),
                "y": node("y", "x", [], message("user", 5.0e8, text("earlier"))),
                "z": node("z", "x", [], message("user", 6.0e8, text("later"))),
            },
        },
        {"uuid": "u", "chat_messages": [1, {"uuid": "w", "text": "\ud800 hi", "sender": "human"}]},
        {"uuid": "no messages"},
        7,
    ]
    plan = planned("chat", tmp_path, json.dumps(export))
    assert notes_of(plan) == [
        ("c", 1, "user", "one"),
        ("c", 2, None, "two"),
        ("old", 1, "system", "I like tea."),
        ("old", 2, "user", "later"),
        ("old not shown", 1, "user", "earlier"),
        ("u", 1, "user", "\ufffd hi"),
    ]
    assert [entry["item"] for entry in plan.skipped] == ["1", '{"uuid": "no messages"}', "7"]
    assert "The messages of the conversation c are in a circle: it is read once." in plan.warnings
    assert "The conversation u has no time, and neither have its messages." in plan.warnings
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        memory = Memory(nexus)
        assert memory.get("u/w").content == "\ud800 hi"  # type: ignore[union-attr]
        assert memory.recall("hi").notes[0].item.timestamp == ""
        assert plan.apply(nexus)["concepts"] == {"created": 0, "updated": 0, "unchanged": 9}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("[]", "has no conversation"),
        ('[{"uuid": "a"}]', "has no conversation"),
        ('[{"uuid": "a", "chat_messages": [', "line 1, column 34"),
        ("[" * 100_000, "nests too deep"),
        (b"\xe9", "line 1: this is not UTF-8 text"),
        (b"PK\x03\x04cut", "line 1, column 1"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str | bytes, place: str) -> None:
    with pytest.raises(kiprdf.KipError, match="KIP_1001") as caught:
        planned("chat", tmp_path, content)
    assert place in caught.value.message
