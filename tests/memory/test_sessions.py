"""Sessions, speakers, messages, repeated texts and echoes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import pytest

from kiprdf import Budget, KipError, Nexus
from kiprdf.memory import Extraction, Found, FoundEdge, Memory
from kiprdf.memory.functions import MemoryFunctions
from kiprdf.memory.items import USER

MOMENT = datetime(2026, 1, 12, 3, tzinfo=UTC)


@pytest.fixture
def memory() -> Memory:
    return Memory(Nexus.memory(), clock=lambda: MOMENT)


def edges(memory: Memory) -> list[tuple[str, str, str]]:
    names = {entity.id: entity.name for entity in memory.entities()}
    return [(names[e.subject_id], e.predicate, names[e.object_id]) for e in memory.edges()]


def attributes(memory: Memory, id: str) -> dict[str, Any]:
    values: dict[str, Any] = memory.nexus.execute(
        'FIND(?m) WHERE { ?m {type: "MemoryItem", name: :id} }', id=id
    )[0]["attributes"]
    return values


def test_a_note_has_a_session_a_speaker_and_a_turn(memory: Memory) -> None:
    ids = [
        memory.add("Caroline went to Rome.", session="chat-17", speaker="Melanie"),
        memory.add("She was there on 7 May.", session="chat-17", speaker="Melanie"),
        memory.add("Another chat.", session="chat-18"),
        memory.add("No chat."),
    ]
    items = [memory.get(id) for id in ids]
    places = [(item.session, item.speaker, item.turn, item.seen) for item in items if item]
    assert places == [
        ("chat-17", "Melanie", 1, 1),
        ("chat-17", "Melanie", 2, 1),
        ("chat-18", None, 1, 1),
        (None, None, None, 1),
    ]
    assert attributes(memory, ids[1]) == {
        "content": "She was there on 7 May.",
        "timestamp": "2026-01-12T03:00:00.000000Z",
        "tags": [],
        "session": "chat-17",
        "turn": 2,
        "speaker": "Melanie",
    }


def test_turns_go_on_where_another_memory_or_a_forgotten_note_left_them(memory: Memory) -> None:
    other = Memory(memory.nexus, clock=lambda: MOMENT)
    ids = [
        each.add(f"Note {number}", session="s") for number, each in enumerate([memory, other] * 2)
    ]
    memory.forget(ids[1])
    memory.nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
    ids.append(memory.add("The last", session="s"))
    assert [item.turn for item in memory.items()] == [1, 3, 4, 5]
    assert [item.content for item in memory.items()] == ["Note 0", "Note 2", "Note 3", "The last"]


def test_a_clock_that_goes_back_leaves_turns_and_the_last_time(memory: Memory) -> None:
    times = iter([MOMENT, MOMENT - timedelta(days=1), MOMENT - timedelta(days=2)])
    memory = Memory(memory.nexus, clock=lambda: next(times))
    first, second = (memory.add(text, session="s", speaker="Ada") for text in ("One", "Two"))
    assert memory.add("One", session="s", speaker="Ada") == first
    items = [memory.get(id) for id in (first, second)]
    assert [(item.turn, item.last_seen) for item in items if item] == [
        (1, "2026-01-12T03:00:00Z"),
        (2, "2026-01-11T03:00:00Z"),
    ]


def test_memories_sort_by_time_in_kql_also_within_a_second(memory: Memory) -> None:
    memory.add("later", id="a", timestamp="2026-01-12T03:00:00.500Z")
    memory.add("earlier", id="b", timestamp="2026-01-12T03:00:00Z")
    command = 'FIND(?m.name) WHERE { ?m {type: "MemoryItem"} } ORDER BY ?m.attributes.timestamp'
    assert memory.nexus.execute(command) == ["b", "a"]
    assert [item.timestamp for item in memory.items()] == [
        "2026-01-12T03:00:00Z",
        "2026-01-12T03:00:00.500000Z",
    ]


@pytest.mark.parametrize("speaker", [None, "user", "User", " ", "Primary User"])
def test_the_first_person_is_the_user_without_another_speaker(
    memory: Memory, speaker: str | None
) -> None:
    memory.add("I use Docker.", speaker=speaker)
    assert edges(memory) == [("Primary User", "uses", "Docker")]


@pytest.mark.parametrize("speaker", ["assistant", "tool", "Melanie"])
def test_a_note_of_another_speaker_states_nothing_about_the_user(
    memory: Memory, speaker: str
) -> None:
    text = "I'm working on project Atlas with Docker, I prefer dark mode and decided to use Vim."
    memory.add(text, speaker=speaker)
    assert edges(memory) == []
    entities = [(entity.type, entity.name) for entity in memory.entities()]
    assert ("tool", "Docker") in entities
    assert {type for type, _ in entities} == {"user", "project", "tool"}
    before = memory.export()
    memory.rebuild()
    assert memory.export() == before
    memory.add(text)
    assert ("Primary User", "prefers", "dark mode") in edges(memory)


def test_another_speaker_does_not_end_a_fact_of_the_user(memory: Memory) -> None:
    memory.add("I use Docker.")
    gone = FoundEdge(USER, "uses", Found("tool", "Docker"), 0.8)
    memory = Memory(memory.nexus, extractor=lambda text: Extraction(ended=(gone,)))
    memory.add("I no longer use it.", speaker="assistant")
    assert [edge.valid_until for edge in memory.edges()] == [None]
    memory.add("I no longer use it.")
    assert [edge.valid_until is None for edge in memory.edges()] == [False]


def test_a_text_that_is_repeated_in_its_session_is_one_memory(memory: Memory) -> None:
    first = memory.add("I use  Café.", session="s", speaker="user")
    again = memory.add(" I use Cafe\u0301.\n", session="s", speaker="user", timestamp="2026-02-01")
    assert again == first
    item = memory.get(first)
    assert item is not None
    assert (item.content, item.seen, item.last_seen) == ("I use  Café.", 2, "2026-02-01T00:00:00Z")
    stored = attributes(memory, first)
    assert (stored["seen"], stored["last_seen"]) == (2, "2026-02-01T00:00:00.000000Z")
    others = [
        memory.add("I use Café.", session="s", speaker="Ada"),
        memory.add("I use Café.", session="t", speaker="user"),
        memory.add("I use café.", session="s", speaker="user"),
        memory.add("I use Café.", session="s", speaker="user", id="mem_own"),
        memory.add("I use Café.", session="s"),
        memory.add("I use Café.", session="s"),
        memory.add("I use Café."),
        memory.add("I use Café."),
    ]
    assert len({first, *others}) == 9
    assert memory.stats()["memories"] == 9


def test_a_repeated_text_that_was_forgotten_is_stored_again(memory: Memory) -> None:
    id = memory.add("I use Docker.", session="s", speaker="user")
    memory.forget(id)
    assert edges(memory) == []
    assert memory.add("I use Docker.", session="s", speaker="user") == id
    assert edges(memory) == [("Primary User", "uses", "Docker")]


def test_an_echo_is_stored_and_is_no_evidence(memory: Memory) -> None:
    source = memory.add("The team likes boats.")
    echo = memory.add("I use Docker.", session="s", speaker="user", after_recall=[source])
    assert attributes(memory, echo)["echo_of"] == [source]
    memory.rebuild()
    assert [(entity.type, entity.name) for entity in memory.entities()] == [
        ("user", "Primary User")
    ]
    assert memory.add("I use Docker.", session="s", speaker="user") == echo
    assert edges(memory) == [("Primary User", "uses", "Docker")]
    assert attributes(memory, echo)["echo_of"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"session": 7}, "session is a text of one line"),
        ({"speaker": "A\nB"}, "speaker is a text of one line"),
        ({"after_recall": "mem_a"}, "after_recall is a list of texts"),
        ({"tags": "notes"}, "tags is a list of texts"),
        ({"tags": None}, "tags is a list of texts"),
        ({"tags": ["\ud800"]}, "tags is a list of texts without lone surrogates"),
    ],
)
def test_an_argument_that_is_none_is_refused(
    memory: Memory, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        memory.add("A note", **arguments)
    assert list(memory.items()) == []


def test_remember_takes_a_session_and_a_speaker(memory: Memory) -> None:
    functions = MemoryFunctions(memory.nexus)
    arguments = {"text": "I use Docker.", "session": "s", "speaker": "assistant", "tags": ["a"]}
    id = functions.call("remember", arguments)["result"]["id"]
    assert functions.call("remember", arguments)["result"]["id"] == id
    item = memory.get(id)
    assert item is not None
    assert (item.session, item.speaker, item.tags, item.seen) == ("s", "assistant", ("a",), 2)
    assert edges(memory) == []
    for wrong in (
        {"session": 7},
        {"speaker": ["a"]},
        {"tags": "a, b"},
        {"tags": {"a": 1}},
        {"id": "x"},
    ):
        error = functions.call("remember", {"text": "x", **wrong})["error"]
        assert error["code"] == "KIP_1001"
    assert memory.stats()["memories"] == 1


def test_the_newest_memories_of_a_session_are_listed_by_time(memory: Memory) -> None:
    for number in range(5):
        memory.add(f"Note {number}", session="s" if number % 2 else "t")
    assert [item.content for item in memory.items(session="t", newest=2)] == ["Note 2", "Note 4"]
    assert [item.content for item in memory.items(session="s")] == ["Note 1", "Note 3"]
    assert len(list(memory.items(newest=9))) == 5
    memory.add_messages(
        [{"role": "user", "content": f"Word {number}"} for number in range(9)], session="u"
    )
    newest = [item.content for item in memory.items(newest=3)]
    assert newest == ["Word 6", "Word 7", "Word 8"]


def test_a_long_session_is_listed_without_a_limit_of_time(memory: Memory) -> None:
    memory.add("Note", session="s")
    with patch.object(memory.nexus._engine.budgets, "budget", Budget(timeout_s=1e-9)):
        with pytest.raises(KipError, match="KIP_4001"):
            memory.nexus.execute('FIND(?m) WHERE { ?m {type: "MemoryItem"} }')
        assert [item.content for item in memory.items(session="s")] == ["Note"]


def test_the_next_process_goes_on_with_the_turns(tmp_path: Path) -> None:
    for name in ("first", "second"):
        with Nexus.open(tmp_path / "brain") as nexus:
            memory = Memory(nexus)
            for number in range(2):
                memory.add(f"{name} {number}", session="s", speaker="user")
    with Nexus.open(tmp_path / "brain", read_only=True) as nexus:
        assert [item.turn for item in Memory(nexus).items()] == [1, 2, 3, 4]


def test_a_note_in_a_session_of_many_is_added_fast(memory: Memory) -> None:
    """Ten of them in less time than reading the session takes, also after another writer."""
    count = 1_500
    texts = (f"Note {number}" for number in range(count))
    memory.add_many({"content": text, "session": "s", "speaker": "user"} for text in texts)
    memory.add("Reads the turns", session="s")
    begin = process_time()
    assert len(list(memory.items(session="s"))) == count + 1
    reading = process_time() - begin
    begin = process_time()
    for number in range(10):
        memory.nexus.execute(
            'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {n: :n} } }', n=number
        )
        memory.add(f"More {number}", session="s", speaker="user")
    assert process_time() - begin < reading
    assert [item.turn for item in memory.items(session="s", newest=1)] == [count + 11]
