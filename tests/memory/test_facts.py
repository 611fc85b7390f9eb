"""Relations that end: by a newer memory, in the order of the times of the memories."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from kiprdf import Nexus
from kiprdf.memory import Extraction, Found, FoundEdge, Memory
from kiprdf.memory.items import USER

JANUARY, FEBRUARY, MARCH = (f"2026-0{month}-01T00:00:00Z" for month in (1, 2, 3))


def edge(predicate: str, name: str, weight: float = 1.0, **values: Any) -> FoundEdge:
    return FoundEdge(USER, predicate, Found("tool", name), weight, "stub", **values)


def read(text: str) -> Extraction:
    """An extractor of a small notation, so that these tests do not depend on patterns.

    ``+ uses Vim`` holds, ``- uses Vim`` held before, ``~ uses Vim`` is denied,
    ``> Vim Helix`` is a switch, ``= Vim Helix`` uses Helix and denies Vim.
    """
    mark, *words = text.split()
    if mark == "+":
        return Extraction((), (edge(*words),))
    if mark == "=":
        new = edge("uses", words[1])
        return Extraction((), (new,), (edge("uses", words[0], weight=0.0, superseded_by=new),))
    if mark == ">":
        new = edge("uses", words[1])
        return Extraction((), (new,), (edge("uses", words[0], superseded_by=new),))
    return Extraction((), (), (edge(*words, weight=0.0 if mark == "~" else 1.0),))


@pytest.fixture
def memory() -> Memory:
    return Memory(Nexus.memory(), extractor=read)


def facts(memory: Memory) -> dict[tuple[str, str], str | None]:
    names = {entity.id: entity.name for entity in memory.entities()}
    return {(edge.predicate, names[edge.object_id]): edge.valid_until for edge in memory.edges()}


def test_a_denial_ends_a_fact_and_a_later_statement_makes_it_true_again(memory: Memory) -> None:
    python = ("prefers", "Python")
    memory.add("+ prefers Python", id="jan", timestamp=JANUARY)
    assert facts(memory) == {python: None}
    memory.add("~ prefers Python", id="feb", timestamp=FEBRUARY)
    (ended,) = memory.edges()
    assert (ended.valid_until, ended.evidence["memory_id"]) == (FEBRUARY, "feb")
    assert (ended.weight, ended.evidence["memory_ids"]) == (1.0, ["jan", "feb"])
    memory.add("+ prefers Python", id="mar", timestamp=MARCH)
    (held,) = memory.edges()
    assert (held.valid_until, held.evidence["memory_id"]) == (None, "mar")
    assert memory.nexus.check()["faults"] == []


def test_a_denial_of_what_nobody_stated_makes_no_fact(memory: Memory) -> None:
    memory.add("~ uses Kafka", timestamp=FEBRUARY)
    assert memory.edges() == []
    assert memory.entity("Kafka") is None
    memory.add("- uses Mongo", timestamp=FEBRUARY)
    assert facts(memory) == {("uses", "Mongo"): FEBRUARY}


def test_the_end_is_metadata_that_kql_reads(memory: Memory) -> None:
    memory.add("> npm pnpm", id="a", timestamp=FEBRUARY)
    npm = memory.neighbors("npm")[0].edge
    pnpm = memory.neighbors("pnpm")[0].edge
    assert (npm.superseded_by, pnpm.valid_until) == (pnpm.id, None)
    rows = memory.nexus.find(
        "FIND(?t.name, ?l.metadata.superseded, ?l.metadata.valid_until, ?l.metadata.superseded_by)"
        ' WHERE { ?l ({type: "User", name: "Primary User"}, "uses", ?t) } ORDER BY ?t.name ASC'
    ).tuples()
    assert rows == (("npm", True, FEBRUARY, pnpm.id), ("pnpm", None, None, None))


NOTES = (
    ("a", "+ prefers Python", JANUARY),
    ("b", "~ prefers Python", FEBRUARY),
    ("c", "> npm pnpm", FEBRUARY),
    ("d", "+ uses npm", JANUARY),
    ("e", "+ uses Vim", MARCH),
    ("f", "~ uses Vim", FEBRUARY),
    ("g", "~ uses Kafka", JANUARY),
    ("h", "= Slack Zulip", FEBRUARY),
    ("i", "+ uses Slack", JANUARY),
)


def test_only_the_times_of_the_memories_count_and_a_rebuild_changes_nothing() -> None:
    snapshots = []
    for order in list(permutations(NOTES))[::60480]:
        memory = Memory(Nexus.memory(), extractor=read)
        for id, text, timestamp in order:
            memory.add(text, id=id, timestamp=timestamp)
        before = memory.export()["edges"]
        memory.rebuild()
        assert memory.export()["edges"] == before
        snapshots.append(before)
    assert all(snapshot == snapshots[0] for snapshot in snapshots)
    assert facts(memory) == {
        ("prefers", "Python"): FEBRUARY,
        ("uses", "npm"): FEBRUARY,
        ("uses", "pnpm"): None,
        ("uses", "Vim"): None,
        ("uses", "Slack"): FEBRUARY,
        ("uses", "Zulip"): None,
    }
    ids = {each.entity.name: each.edge for each in memory.neighbors("primary user")}
    assert ids["Slack"].superseded_by == ids["Zulip"].id


def test_a_rebuild_takes_back_what_an_extractor_denied_before() -> None:
    nexus = Nexus.memory()
    Memory(nexus, extractor=read).add("~ uses Vim", id="a", timestamp=MARCH)
    memory = Memory(nexus, extractor=lambda text: Extraction((), (edge("uses", "Vim"),)))
    memory.rebuild()
    memory.add("any", timestamp=JANUARY)
    assert facts(memory) == {("uses", "Vim"): None}


def test_of_one_time_the_end_is_the_later(memory: Memory) -> None:
    memory.add("~ uses Vim", timestamp=JANUARY)
    memory.add("+ uses Vim", timestamp=JANUARY)
    assert facts(memory) == {("uses", "Vim"): JANUARY}


def test_forgetting_the_end_makes_a_fact_true_and_forgetting_the_fact_leaves_nothing(
    memory: Memory,
) -> None:
    memory.add("+ uses Vim", id="a", timestamp=JANUARY)
    memory.add("~ uses Vim", id="b", timestamp=FEBRUARY)
    memory.forget("b")
    assert facts(memory) == {("uses", "Vim"): None}
    memory.add("~ uses Vim", id="c", timestamp=FEBRUARY)
    memory.forget("a")
    assert facts(memory) == {}
    assert memory.entity("Vim") is None
    memory.add("+ uses Vim", id="d", timestamp=JANUARY)
    assert facts(memory) == {("uses", "Vim"): FEBRUARY}


def test_held_facts_come_first_then_the_newest_of_equal_weight(memory: Memory) -> None:
    for text, timestamp in (
        ("+ uses Vim", JANUARY),
        ("+ uses Zed", MARCH),
        ("+ uses Emacs", FEBRUARY),
        ("> Zed Helix", MARCH),
        ("+ prefers Zed", FEBRUARY),
    ):
        memory.add(text, timestamp=timestamp)
    names = [name for predicate, name in facts(memory) if predicate == "uses"]
    assert names == ["Helix", "Emacs", "Vim", "Zed"]
    predicates = [(each.edge.predicate, each.edge.valid_until) for each in memory.neighbors("zed")]
    assert predicates == [("prefers", None), ("uses", MARCH)]


def test_decay_and_merge_keep_an_end(memory: Memory) -> None:
    memory.add("+ uses Vim", timestamp=JANUARY)
    memory.add("~ uses Vim", timestamp=FEBRUARY)
    memory.decay(30)
    assert facts(memory) == {("uses", "Vim"): FEBRUARY}
    memory.add("+ uses Neovim", timestamp=MARCH)
    memory.merge("vim", "neovim")
    assert facts(memory) == {("uses", "Neovim"): None}
    memory.add("~ uses Vim", timestamp="2026-04-01")
    assert facts(memory) == {("uses", "Neovim"): "2026-04-01T00:00:00Z"}
    memory.rebuild()
    assert facts(memory) == {("uses", "Neovim"): "2026-04-01T00:00:00Z"}


def test_a_snapshot_has_the_end_only_where_there_is_one(memory: Memory) -> None:
    memory.add("> npm pnpm", id="a", timestamp=FEBRUARY)
    snapshot = memory.export()
    assert [set(each) & {"valid_until", "superseded_by"} for each in snapshot["edges"]] == [
        set(),
        {"valid_until", "superseded_by"},
    ]
    for merge in (False, True):
        other = Memory(Nexus.memory(), extractor=read)
        other.import_(snapshot, merge=merge)
        assert other.export()["edges"] == snapshot["edges"]
        other.add("+ uses npm", timestamp=MARCH)
        assert facts(other) == {("uses", "npm"): None, ("uses", "pnpm"): None}
    snapshot["edges"][1]["valid_until"] = 7
    with pytest.raises(ValueError, match="is no text"):
        memory.import_(snapshot)


def test_an_imported_end_does_not_end_what_was_stated_after_it(memory: Memory) -> None:
    memory.add("> npm pnpm", timestamp=FEBRUARY)
    other = Memory(Nexus.memory(), extractor=read)
    other.add("+ uses npm", timestamp=MARCH)
    other.import_(memory.export(), merge=True)
    assert facts(other) == {("uses", "npm"): None, ("uses", "pnpm"): None}
    third = Memory(Nexus.memory(), extractor=read)
    third.add("+ uses npm", timestamp=JANUARY)
    third.import_(memory.export(), merge=True)
    assert facts(third)[("uses", "npm")] == FEBRUARY


def test_an_edge_that_is_written_again_is_true_again(memory: Memory) -> None:
    memory.add("- uses Vim", timestamp=JANUARY)
    vim = memory.entity("vim")
    assert vim is not None
    memory.upsert_edge("entity:user:primary", "uses", vim.id, 0.6, {"src": "hand"})
    assert facts(memory) == {("uses", "Vim"): None}


def test_contradictions_are_of_relations_and_of_decisions(memory: Memory) -> None:
    memory.add("+ uses Vim", id="a", timestamp=JANUARY)
    memory.add("+ uses Vim", id="b", timestamp=FEBRUARY)
    memory.add("> Emacs Helix", id="c", timestamp=FEBRUARY)
    assert memory.contradictions() == []
    memory.add("~ uses Vim", id="d", timestamp=MARCH)
    (pair,) = memory.contradictions()
    assert (pair.older.name, pair.newer.name, pair.memories) == ("Vim", "Vim", ("b", "d"))


def test_a_decision_against_a_tool_contradicts_its_use() -> None:
    memory = Memory(Nexus.memory())
    memory.add("I use Docker.", id="a", timestamp=JANUARY)
    memory.add("Decided not to use Docker.", id="b", timestamp=FEBRUARY)
    (pair,) = memory.contradictions()
    assert (pair.older.name, pair.newer.name) == ("Docker", "Not to use Docker")
    assert pair.memories == ("a", "b")


def test_notes_in_plain_words_end_facts() -> None:
    memory = Memory(Nexus.memory())
    for text, timestamp in (
        ("I prefer Python.", JANUARY),
        ("I don't like Python anymore.", FEBRUARY),
        ("I use Docker.", JANUARY),
        ("I no longer use Docker, I use Podman.", FEBRUARY),
        ("We switched from npm to pnpm.", FEBRUARY),
        ("We were using Mongo before.", FEBRUARY),
        ("I misspoke, I don't use Kafka.", FEBRUARY),
    ):
        memory.add(text, timestamp=timestamp)
    assert facts(memory) == {
        ("prefers", "Python"): FEBRUARY,
        ("uses", "Podman"): None,
        ("uses", "pnpm"): None,
        ("uses", "Docker"): FEBRUARY,
        ("uses", "npm"): FEBRUARY,
        ("uses", "MongoDB"): FEBRUARY,
    }
    memory.add("I prefer Python.", timestamp=MARCH)
    assert facts(memory)[("prefers", "Python")] is None


@pytest.mark.parametrize(
    "text", ["I switched from npm to pnpm.", "I no longer use npm, I use pnpm."]
)
def test_the_context_of_what_ended_shows_what_took_its_place(text: str) -> None:
    memory = Memory(Nexus.memory())
    memory.add("I use npm.", timestamp="2026-01-10")
    memory.add(text, timestamp="2026-02-01")
    shown = [line for line in memory.context("npm").splitlines() if "--[" in line]
    assert shown == [
        "  User --[uses]--> [tool] pnpm (weight: 0.8)",
        "  User --[uses]--> [tool] npm (until 2026-02-01)",
    ]
    assert [fact.valid_until is None for fact in memory.recall("npm").facts] == [True, False]


@pytest.mark.parametrize("times", [(MARCH, FEBRUARY, JANUARY), (MARCH, MARCH, MARCH)])
def test_in_a_session_the_turns_decide_where_the_clock_goes_back(times: tuple[str, ...]) -> None:
    memory = Memory(Nexus.memory(), extractor=read)
    seen = []
    for text, timestamp in zip(("+ uses Vim", "~ uses Vim", "+ uses Vim"), times, strict=True):
        memory.add(text, id=f"{len(seen)}", timestamp=timestamp, session="s")
        seen.append(facts(memory)[("uses", "Vim")])
        before = memory.export()["edges"]
        memory.rebuild()
        assert memory.export()["edges"] == before
    assert seen == [None, MARCH, None]
    assert [item.timestamp for item in memory.items()] == sorted(times)
    memory.forget("2")
    assert facts(memory) == {("uses", "Vim"): MARCH}
    memory.add("+ uses Vim", timestamp=JANUARY, session="other")
    assert facts(memory) == {("uses", "Vim"): MARCH}
    memory.add("+ uses Vim", timestamp="2026-03-02T00:00:00Z", session="other")
    assert facts(memory) == {("uses", "Vim"): None}


def test_a_session_of_notes_in_plain_words_whose_clock_goes_back() -> None:
    memory = Memory(Nexus.memory())
    memory.add("I use Docker.", session="s", timestamp=MARCH)
    memory.add("I no longer use Docker.", session="s", timestamp=FEBRUARY)
    assert facts(memory) == {("uses", "Docker"): MARCH}
    memory.rebuild()
    assert facts(memory) == {("uses", "Docker"): MARCH}


def test_what_was_denied_under_another_name_ends_at_the_merge(memory: Memory) -> None:
    memory.add("+ uses Vim", timestamp=JANUARY)
    memory.add("+ prefers Neovim", timestamp=JANUARY)
    memory.add("~ uses Neovim", id="b", timestamp=FEBRUARY)
    assert facts(memory)[("uses", "Vim")] is None
    memory.merge("neovim", "vim")
    assert facts(memory) == {("uses", "Vim"): FEBRUARY, ("prefers", "Vim"): None}
    merged = memory.export()["edges"]
    memory.rebuild()
    assert memory.export()["edges"] == merged
    memory.forget("b")
    assert facts(memory) == {("uses", "Vim"): None, ("prefers", "Vim"): None}


def test_an_import_names_what_took_the_place_by_the_id_that_it_has_here(memory: Memory) -> None:
    memory.add("> npm pnpm", timestamp=FEBRUARY)
    snapshot = memory.export()
    text = json.dumps(snapshot).replace(snapshot["edges"][0]["id"], "edge:theirs")
    other = Memory(Nexus.memory(), extractor=read)
    other.add("+ uses pnpm", timestamp=MARCH)
    other.import_(text, merge=True)
    edges = {each.entity.name: each.edge for each in other.neighbors("primary user")}
    assert edges["npm"].superseded_by == edges["pnpm"].id != "edge:theirs"
    new = Memory(Nexus.memory(), extractor=read)
    new.import_(text, merge=True)
    assert {edge["superseded_by"] for edge in new.export()["edges"][1:]} == {"edge:theirs"}


@pytest.mark.parametrize(
    ("notes", "ended"),
    [
        (("I'm working on Lumen.", "I finished Lumen last week."), ("works_on", "Lumen")),
        (("I'm working on Lumen.", "Lumen is done."), ("works_on", "Lumen")),
        (("I'm working on Lumen.", "We shipped Lumen!"), ("works_on", "Lumen")),
        (
            ("We decided to use Redis for caching.", "Scratch that: not Redis."),
            ("decided", "Use Redis for caching"),
        ),
        (
            ("We decided to use Postgres for the shop.", "Scratch that: not Postgres."),
            ("decided", "Use Postgres for the shop"),
        ),
        (("I use Docker.", "I use Podman instead of Docker now."), ("uses", "Docker")),
        (("I use Docker.", "I no longer use Docker at work, only at home."), None),
        (("We decided not to use Redis.", "Scratch that: not Redis."), None),
    ],
)
@pytest.mark.parametrize("is_late", [False, True])
def test_notes_end_what_other_notes_state(
    notes: tuple[str, str], ended: tuple[str, str] | None, is_late: bool
) -> None:
    memory = Memory(Nexus.memory())
    times = (JANUARY, FEBRUARY)
    for note, time in sorted(
        zip(notes, times, strict=True), key=lambda each: each[1], reverse=is_late
    ):
        memory.add(note, timestamp=time)
    expected = {ended: FEBRUARY} if ended else {}
    for _ in range(2):
        assert {fact: until for fact, until in facts(memory).items() if until} == expected
        assert len(facts(memory)) == (2 if "Podman" in notes[1] else 1)
        memory.rebuild()
