"""Messages of conversations and many texts at once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kiprdf import Nexus
from kiprdf.memory import Item, Memory

MOMENT = datetime(2026, 1, 12, 3, tzinfo=UTC)


@pytest.fixture
def memory() -> Memory:
    return Memory(Nexus.memory(), clock=lambda: MOMENT)


def stored(memory: Memory, *messages: Any) -> list[Item]:
    items = [memory.get(id) for id in memory.add_messages(messages, session="s")]
    return [item for item in items if item is not None]


def uses(memory: Memory) -> list[str]:
    names = {entity.id: entity.name for entity in memory.entities()}
    return sorted(names[edge.object_id] for edge in memory.edges("uses"))


def test_messages_are_notes_of_their_speakers_in_one_session(memory: Memory) -> None:
    commit = memory.nexus.info()["commit"]
    items = stored(
        memory,
        {"role": "system", "content": "I use Kafka."},
        {"role": "user", "content": "I use Docker.", "timestamp": "2026-01-10T10:00:00+01:00"},
        {"role": "assistant", "content": "I use Podman."},
        {"role": "user", "name": "Melanie", "content": "I use Vim."},
        {"role": "TOOL", "name": "search", "content": "I use Redis."},
        {"role": "developer", "content": "I use Rust."},
    )
    assert memory.nexus.info()["commit"] == commit + 2
    assert [(item.role, item.speaker, item.turn) for item in items] == [
        ("system", "system", 1),
        ("user", "user", 2),
        ("assistant", "assistant", 3),
        ("user", "Melanie", 4),
        ("tool", "search", 5),
        ("system", "system", 6),
    ]
    assert items[1].timestamp == "2026-01-10T09:00:00Z"
    assert {item.timestamp for item in items[2:]} == {"2026-01-12T03:00:00Z"}
    assert [item.content for item in memory.items()][1:3] == ["I use Kafka.", "I use Podman."]
    assert uses(memory) == ["Docker", "Vim"]
    memory.rebuild()
    assert uses(memory) == ["Docker", "Vim"]


CALL = {"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"q": "tea"}'}}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "plain"}, "plain"),
        (
            {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            "one\ntwo",
        ),
        (
            {"content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {}}]},
            "see\n[image]",
        ),
        ({"content": None, "tool_calls": [CALL, CALL]}, 'find({"q": "tea"})\nfind({"q": "tea"})'),
        ({"content": "I look.", "tool_calls": [CALL]}, 'I look.\nfind({"q": "tea"})'),
        ({"content": "", "function_call": {"name": "now", "arguments": ""}}, "\nnow()"),
        (
            {"content": [{"type": "tool_use", "id": "1", "name": "find", "input": {"q": "thé"}}]},
            'find({"q": "thé"})',
        ),
        (
            {
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "1",
                        "content": [
                            {"type": "text", "text": "hot"},
                            {"type": "image", "source": {}},
                        ],
                    }
                ]
            },
            "hot\n[image]",
        ),
        ({"content": [{"type": "input_audio", "input_audio": {"data": "UklG"}}]}, "[audio]"),
        (
            {"content": [{"type": "document", "source": {"type": "text", "data": "A page."}}]},
            "> A page.",
        ),
        ({"content": [{"type": "document", "source": {"type": "base64"}}]}, "[document]"),
        (
            {"content": [{"type": "document", "source": {"type": "content", "content": ["A."]}}]},
            "> A.",
        ),
        ({"content": [{"type": "search_result", "title": "T", "content": ["A."]}]}, "> A."),
        ({"content": None, "refusal": "I cannot."}, "I cannot."),
        ({"content": "", "refusal": "I cannot."}, "I cannot."),
        ({"content": None, "audio": {"id": "a", "transcript": "Hello."}}, "Hello."),
        ({"content": None, "audio": {"id": "a", "data": "UklG"}}, "[audio]"),
        (
            {"content": [{"type": "server_tool_use", "name": "find", "input": {"q": "tea"}}]},
            'find({"q": "tea"})',
        ),
        ({"content": [{"type": "place", "at": [1, 2]}]}, '{"type": "place", "at": [1, 2]}'),
        ({"content": ["a", "b"]}, "a\nb"),
    ],
)
def test_the_content_of_a_message_is_text_parts_or_calls(
    memory: Memory, message: dict[str, Any], text: str
) -> None:
    assert [item.content for item in stored(memory, {"role": "assistant", **message})] == [text]


def test_a_message_without_a_text_is_left_out(memory: Memory) -> None:
    page = {"type": "document", "source": {"type": "text", "data": ""}}
    given = [{"content": None}, {"content": "Tea."}, {"content": [page]}, {}, {"content": []}]
    ids = memory.add_messages([{"role": "user", **each} for each in given], session="s")
    (item,) = memory.items()
    assert (ids, item.content, item.seen) == (["", item.id, "", "", ""], "Tea.", 1)


def test_roles_of_other_programs_are_those_of_the_user_and_the_assistant(memory: Memory) -> None:
    items = stored(
        memory,
        {"role": "human", "content": "I use Docker."},
        {"role": "ai", "content": "I use Podman."},
        {"role": "model", "parts": [{"text": "I use Kafka."}]},
    )
    assert [(item.role, item.content) for item in items] == [
        ("user", "I use Docker."),
        ("assistant", "I use Podman."),
        ("assistant", "I use Kafka."),
    ]
    assert uses(memory) == ["Docker"]


def test_items_of_responses_and_of_langchain_have_a_type_instead_of_a_role(memory: Memory) -> None:
    items = stored(
        memory,
        {"type": "human", "content": "I use Docker."},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I use Redis."}]},
        {"type": "function_call", "name": "find", "arguments": '{"q": "tea"}', "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "I use Kafka."},
        {"type": "custom_tool_call", "name": "run", "input": "ls", "call_id": "2"},
        {"type": "web_search_call", "status": "completed"},
        {"type": "image_generation_call", "result": "iVBO"},
        {"type": "computer_call_output", "output": {"type": "computer_screenshot"}},
    )
    assert [(item.role, item.speaker, item.content) for item in items] == [
        ("user", "user", "I use Docker."),
        ("assistant", "assistant", "I use Redis."),
        ("assistant", "assistant", 'find({"q": "tea"})'),
        ("tool", "tool", "I use Kafka."),
        ("assistant", "assistant", "run(ls)"),
        ("assistant", "assistant", '{"type": "web_search_call", "status": "completed"}'),
        ("assistant", "assistant", "[image]"),
        ("tool", "tool", "[screenshot]"),
    ]
    assert uses(memory) == ["Docker"]
    with pytest.raises(ValueError, match="Message 0: the role is 'item_reference'"):
        memory.add_messages([{"type": "item_reference"}], session="s")


def test_what_a_tool_returned_is_no_statement_of_the_user(memory: Memory) -> None:
    result = {"type": "tool_result", "tool_use_id": "1", "content": "I use Kafka.\nI use Redis."}
    words = {"type": "text", "text": "I use Docker."}
    page = {"type": "document", "source": {"type": "text", "data": "I use Kafka."}}
    only, mixed, _ = stored(
        memory,
        {"role": "user", "content": [result]},
        {"role": "user", "content": [result, words]},
        {"role": "user", "content": [page]},
    )
    assert (only.role, only.speaker, only.content) == ("tool", "tool", "I use Kafka.\nI use Redis.")
    assert (mixed.role, mixed.content) == ("user", "> I use Kafka.\n> I use Redis.\nI use Docker.")
    assert uses(memory) == ["Docker"]


def test_messages_that_are_sent_again_are_the_same_memories(memory: Memory) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "I use Docker."},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "Thanks"},
        {"role": "assistant", "content": "ok"},
    ]
    ids = memory.add_messages(messages, session="s")
    assert ids[1] == ids[3]
    assert (
        memory.add_messages([*messages, {"role": "user", "content": "Bye"}], session="s")[:4] == ids
    )
    assert [(item.content, item.turn, item.seen) for item in memory.items()] == [
        ("I use Docker.", 1, 2),
        ("ok", 2, 4),
        ("Thanks", 3, 2),
        ("Bye", 4, 1),
    ]


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([{"role": "critic", "content": "x"}], "Message 1: the role is 'critic'; roles are user, "),
        ([{"content": "x"}], "Message 1: the role is None"),
        ([{"role": "user", "content": 7}], "Message 1: content is a text, or a list of parts"),
        ([{"role": "user", "content": [7]}], "Message 1: content is a text, or a list of parts"),
        ([{"role": "user", "content": [{"a": b"x"}]}], "Message 1: content is .* that are JSON"),
        ([{"role": "user", "content": "x", "tool_calls": 1}], "Message 1: tool_calls is a list"),
        ([{"role": "user", "content": "x", "timestamp": "noon"}], "Message 1: 'noon' is no time"),
        ([{"role": "user", "content": "x", "name": "A\nB"}], "Message 1: speaker is a text of one"),
        (["x"], "Message 1: a message is a dict with role and content"),
    ],
)
def test_an_invalid_message_is_named_by_its_place_and_nothing_is_stored(
    memory: Memory, messages: list[Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        memory.add_messages([{"role": "user", "content": "first"}, *messages], session="s")
    assert "\n" not in str(caught.value)
    assert list(memory.items()) == []
    memory.add_messages([{"role": "user", "content": "first"}], session="s")
    assert [item.content for item in memory.items()] == ["first"]


def test_a_conversation_needs_a_session_and_a_list(memory: Memory) -> None:
    with pytest.raises(ValueError, match="session is the name of the conversation"):
        memory.add_messages([], session=" ")
    for wrong in ("text", {"role": "user", "content": "x"}, None):
        with pytest.raises(ValueError, match="messages is a list"):
            memory.add_messages(wrong, session="s")  # type: ignore[arg-type]
    assert memory.add_messages([], session="s") == []


def test_content_that_nests_too_deep_is_one_sentence(memory: Memory) -> None:
    content: Any = "x"
    for _ in range(100_000):
        content = [content]
    with pytest.raises(ValueError, match="Message 0: the content nests too deep"):
        memory.add_messages([{"role": "user", "content": content}], session="s")


def test_many_texts_are_two_commits_and_state_what_single_ones_do() -> None:
    texts: list[Any] = [
        "I use Docker.",
        {"content": "I use Vim.", "id": "mem_vim", "tags": ["editor"], "timestamp": "2026-01-01"},
        {"content": "I use Kafka.", "speaker": "assistant"},
        {"content": "I use Rust.", "session": "s", "speaker": "user"},
        {"content": "I use Rust.", "session": "s", "speaker": "user"},
        {"content": "I use Redis.", "after_recall": ["mem_vim"]},
    ]
    many, single = (Memory(Nexus.memory(), clock=lambda: MOMENT) for _ in range(2))
    commit = many.nexus.info()["commit"]
    ids = many.add_many(iter(texts))
    assert many.nexus.info()["commit"] == commit + 2
    for text in texts:
        single.add(**(text if isinstance(text, dict) else {"content": text}))
    assert uses(many) == uses(single) == ["Docker", "Rust", "Vim"]
    assert (ids[1], ids[3]) == ("mem_vim", ids[4])
    assert many.stats() == single.stats()
    rust = many.get(ids[3])
    assert rust is not None
    assert (rust.seen, rust.turn) == (2, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (7, "Text 1: A memory is a str, not int"),
        ({"text": "x"}, "Text 1: a dict has content, and may have tags, id, timestamp, session"),
        ({"content": "x", "id": "mem_a"}, "The memory mem_a has another text"),
        ({"content": "x", "timestamp": "noon"}, "Text 1: 'noon' is no time"),
    ],
)
def test_of_many_texts_with_an_invalid_one_none_is_stored(
    memory: Memory, text: Any, message: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        memory.add_many([{"content": "first", "id": "mem_a"}, text])
    assert list(memory.items()) == []


def test_of_many_texts_the_others_are_read_if_one_cannot_be(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    from kiprdf.memory import extract

    def fail_on_vim(text: str) -> Any:
        if "Vim" in text:
            raise RuntimeError("no")
        return None if "Zed" in text else extract(text)

    failing = Memory(memory.nexus, extractor=fail_on_vim)
    failing.add_many(["I use Docker.", "I use Vim.", "I use Zed.", "I use Rust."])
    assert uses(failing) == ["Docker", "Rust"]
    assert "could not extract: no" in caplog.text
    assert "could not extract: The extractor returned NoneType" in caplog.text


def test_a_failed_extraction_is_made_up_for(memory: Memory) -> None:
    from kiprdf.memory import extract

    calls: list[str] = []

    def fail_at_first(text: str) -> Any:
        calls.append(text)
        if len(calls) in (1, 3):
            raise RuntimeError("no")
        return extract(text)

    memory = Memory(memory.nexus, extractor=fail_at_first)
    memory.add("I use Docker.", id="mem_a")
    assert uses(memory) == []
    memory.add("I use Docker.", id="mem_a")
    assert uses(memory) == ["Docker"]
    memory.add("I use Vim.", session="s", speaker="user")
    assert uses(memory) == ["Docker"]
    memory.add("I use Vim.", session="s", speaker="user")
    assert uses(memory) == ["Docker", "Vim"]
    read = len(calls)
    memory.add("I use Docker.", id="mem_a")
    assert len(calls) == read


def test_a_rebuild_makes_up_for_a_failed_extraction(memory: Memory) -> None:
    def fail(text: str) -> Any:
        raise RuntimeError("no")

    Memory(memory.nexus, extractor=fail).add("I use Docker.")
    assert uses(memory) == []
    memory.rebuild()
    assert uses(memory) == ["Docker"]


def test_an_older_nexus_gets_the_attributes_when_it_is_opened() -> None:
    nexus = Nexus.memory(strict_schema=True)
    Memory(nexus)
    schema = 'FIND(?t.attributes.instance_schema) WHERE { ?t {type: "$ConceptType", name: :name} }'
    old = {"content": {"type": "string"}, "timestamp": {"type": "string"}}
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "MemoryItem"}'
        " SET ATTRIBUTES { instance_schema: :old } } }",
        old=old,
    )
    assert nexus.execute(schema, name="MemoryItem") == [old]
    memory = Memory(nexus)
    assert {"session", "turn", "speaker", "role", "seen", "last_seen", "echo_of"} <= set(
        nexus.execute(schema, name="MemoryItem")[0]
    )
    message = {"role": "user", "content": "I use Docker."}
    for recalled in ([], ["mem_a"]):
        memory.add_messages([message, message], session="s", after_recall=recalled)
        memory.add_messages([{**message, "content": "x"}], session="t", after_recall=recalled)
    assert sorted(item.seen for item in memory.items()) == [2, 4]
