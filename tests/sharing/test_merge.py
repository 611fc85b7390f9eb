"""Merging nexuses, branches and snapshots: what is taken, what is a conflict, what is left."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kiprdf import KipError, Nexus, View
from tests.serve.running import serving

SCHEMA = """UPSERT {
  CONCEPT { {type: "$PropositionType", name: "likes"} }
  CONCEPT ?bo { {type: "Person", name: "Bo"} }
  CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { age: 36, town: "Rome" }
    SET PROPOSITIONS { ("likes", ?bo) } }
}"""


def put(nexus: Nexus, name: str, attributes: str = "", metadata: str = "") -> None:
    values = f"SET ATTRIBUTES {{ {attributes} }}" if attributes else ""
    about = f"WITH METADATA {{ {metadata} }}" if metadata else ""
    nexus.execute(f'UPSERT {{ CONCEPT {{ {{type: "Person", name: "{name}"}} {values} }} {about} }}')


def likes(nexus: Nexus, subject: str, object: str) -> None:
    text = """UPSERT {
      CONCEPT { {type: "Person", name: :subject}
        SET PROPOSITIONS { ("likes", {type: "Person", name: :object}) } }
    }"""
    nexus.execute(text, subject=subject, object=object)


def delete(nexus: Nexus, name: str) -> None:
    nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: :name} }', name=name)


def attributes(nexus: Nexus, name: str = "Ada") -> dict[str, Any]:
    return nexus.find(f'FIND(?p) WHERE {{ ?p {{type: "Person", name: "{name}"}} }}')[0]["?p"][
        "attributes"
    ]


def metadata(nexus: Nexus, name: str = "Ada") -> dict[str, Any]:
    return nexus.find(f'FIND(?p) WHERE {{ ?p {{type: "Person", name: "{name}"}} }}')[0]["?p"][
        "metadata"
    ]


def exists(nexus: Nexus, name: str) -> bool:
    names = nexus.find('FIND(?p.name) WHERE { ?p {type: "Person"} }').column("?p.name")
    return name in names


class Pair:
    """A nexus and a branch of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.brain = Nexus.open(folder / "brain")
        self.brain.execute(SCHEMA)
        self.brain.branch(folder / "idea")
        self.idea = Nexus.open(folder / "idea")

    def merge(self, **options: Any) -> Any:
        return self.brain.merge(self.folder / "idea", **options)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    pair = Pair(tmp_path)
    with pair.brain, pair.idea:
        yield pair


# Branches -------------------------------------------------------------------------------------


def test_a_branch_is_merged_once(pair: Pair) -> None:
    put(pair.idea, "Ada", 'age: 37, friend: "Cy"')
    put(pair.idea, "Cy")
    delete(pair.idea, "Bo")
    put(pair.brain, "Ada", 'town: "Oslo"')
    merged = pair.merge()
    assert merged.base == "commit 2, the last that both histories have"
    assert merged.counts() == {
        "concepts": {"added": 1, "removed": 1, "changed": 1},
        "propositions": {"added": 0, "removed": 1, "changed": 0},
    }
    assert merged.conflicts == []
    assert attributes(pair.brain) == {"age": 37, "town": "Oslo", "friend": "Cy"}
    assert not exists(pair.brain, "Bo")
    assert merged.seq == pair.brain.info()["commit"]
    assert pair.brain.changes(since=merged.seq - 1)["commits"][0]["kind"] == "COMBINE"
    again = pair.merge()
    assert (bool(again), again.seq) == (False, None)
    # The other way, and then again with something new.
    assert pair.idea.merge(pair.folder / "brain").counts()["concepts"]["changed"] == 1
    assert attributes(pair.idea) == attributes(pair.brain)
    assert pair.merge().seq is None
    put(pair.idea, "Di")
    put(pair.brain, "Ada", "age: 40")
    assert pair.merge().text().split("\n")[2:5] == ["Concepts", "+ Person:Di", ""]
    assert attributes(pair.brain)["age"] == 40


def test_branches_that_were_merged_crosswise_have_no_false_conflict(
    tmp_path: Path, pair: Pair
) -> None:
    put(pair.brain, "Ada", "age: 40")
    put(pair.idea, "Ada", 'town: "Oslo"')
    for name in ("brain", "idea"):
        opened = pair.brain if name == "brain" else pair.idea
        opened.backup(tmp_path / f"old {name}")
    assert pair.merge().conflicts == []
    assert pair.idea.merge(tmp_path / "old brain").conflicts == []
    # Each changes what it has from the other one.
    put(pair.brain, "Ada", 'age: 41, town: "Bonn"')
    merged = pair.idea.merge(pair.folder / "brain")
    assert (merged.conflicts, attributes(pair.idea)) == ([], {"age": 41, "town": "Bonn"})
    put(pair.idea, "Ada", "age: 42")
    put(pair.brain, "Ada", 'town: "Kiel"')
    merged = pair.merge()
    assert (merged.conflicts, attributes(pair.brain)) == ([], {"age": 42, "town": "Kiel"})


def test_crosswise_merges_of_one_state_each_use_both_as_the_base(
    tmp_path: Path, pair: Pair
) -> None:
    put(pair.brain, "Ada", "age: 40")
    put(pair.idea, "Ada", 'town: "Oslo"')
    pair.brain.backup(tmp_path / "old brain")
    pair.merge()
    pair.idea.merge(tmp_path / "old brain")
    put(pair.brain, "Ada", "age: 41")
    put(pair.idea, "Ada", 'town: "Bonn"')
    merged = pair.merge()
    assert "crosswise" in merged.base
    assert (merged.conflicts, attributes(pair.brain)) == ([], {"age": 41, "town": "Bonn"})


def test_a_base_survives_compaction_and_forgetting(pair: Pair) -> None:
    put(pair.brain, "Cy", "age: 1")
    pair.brain.forget('FIND(?p) WHERE { ?p {type: "Person", name: "Bo"} }')
    put(pair.idea, "Ada", "age: 37")
    delete(pair.idea, "Bo")
    pair.brain.compact_history(pair.brain.info()["commit"])
    merged = pair.merge()
    assert merged.base == "commit 2, at which the branch began"
    assert attributes(pair.brain) == {"age": 37, "town": "Rome"}


def test_what_was_undone_is_merged_again(pair: Pair) -> None:
    put(pair.idea, "Ada", "age: 37")
    put(pair.brain, "Ada", "age: 38")
    before = pair.brain.snapshot(engine_metadata=False)
    merged = pair.merge(prefer="theirs")
    assert (merged.decided, attributes(pair.brain)["age"]) == (1, 37)
    pair.brain.undo(seq=merged.seq)
    assert pair.brain.snapshot(engine_metadata=False) == before
    assert [one["key"] for one in pair.merge().conflicts] == ["attributes.age"]


def test_an_earlier_commit_is_merged_back(pair: Pair) -> None:
    put(pair.brain, "Ada", "age: 40")
    put(pair.brain, "Ada", 'town: "Oslo"')
    assert pair.brain.merge(3).seq is None
    pair.brain.merge(2, base=3)  # what commit 3 changed, backwards
    assert attributes(pair.brain) == {"age": 36, "town": "Oslo"}


# Conflicts ------------------------------------------------------------------------------------


def test_a_conflict_keeps_both_until_a_person_resolves_it(pair: Pair) -> None:
    with pair.idea.acting(author="bob", kind="human"):
        put(pair.idea, "Ada", "age: 37")
    put(pair.brain, "Ada", "age: 38")
    merged = pair.merge()
    (conflict,) = merged.conflicts
    theirs = metadata(pair.idea)["_updated_at"]
    ours = {"value": 38, "by": None, "at": metadata(pair.brain)["_updated_at"]}
    assert conflict == {
        "id": "C:Person/Ada",
        "key": "attributes.age",
        "ours": ours,
        "theirs": {"value": 37, "by": "human/bob", "at": theirs},
    }
    assert pair.brain.conflicts() == [conflict]
    assert metadata(pair.brain)["conflict"] == [
        {"key": "attributes.age", "value": 37, "by": "human/bob", "at": theirs}
    ]
    # The values are equal by now, and the next merge removes the entry.
    put(pair.brain, "Ada", "age: 37")
    assert pair.brain.conflicts() == []
    put(pair.idea, "Ada", "x: 1")
    pair.merge()
    assert "conflict" not in metadata(pair.brain)


@pytest.mark.parametrize("prefer", [None, "ours"])
def test_the_value_that_stays_keeps_who_wrote_it(pair: Pair, prefer: str | None) -> None:
    with pair.brain.acting(author="ada", kind="human"):
        put(pair.brain, "Ada", "age: 37", 'author: "ada"')
        pair.idea.merge(pair.brain)
        put(pair.brain, "Ada", "age: 38", 'author: "ada"')
    with pair.idea.acting(author="bob", kind="human"):
        put(pair.idea, "Ada", "age: 39, x: 1", 'author: "bob"')
    pair.merge(prefer=prefer)
    assert attributes(pair.brain) == {"age": 38, "town": "Rome", "x": 1}
    assert (metadata(pair.brain)["_actor"], metadata(pair.brain)["author"]) == ("human/ada", "ada")
    if prefer is None:
        (conflict,) = pair.brain.conflicts()
        assert (conflict["ours"]["by"], conflict["theirs"]["by"]) == ("human/ada", "human/bob")


def test_who_and_when_are_those_of_the_key(pair: Pair) -> None:
    times = {}
    for nexus, person, age in ((pair.brain, "ada", 38), (pair.idea, "bob", 39)):
        with nexus.acting(author=person, kind="human"):
            put(nexus, "Ada", f"age: {age}")
        times[person] = metadata(nexus)["_updated_at"]
    with pair.idea.acting(author="eve", kind="human"):
        put(pair.idea, "Ada", 'town: "Oslo"')  # is taken, so Ada has the time of the merge
    (conflict,) = pair.merge().conflicts
    assert conflict["ours"] == {"value": 38, "by": "human/ada", "at": times["ada"]}
    assert conflict["theirs"] == {"value": 39, "by": "human/bob", "at": times["bob"]}
    assert attributes(pair.brain) == {"age": 38, "town": "Oslo"}
    assert metadata(pair.brain)["_updated_at"] > times["bob"]
    assert pair.brain.conflicts() == [conflict]
    with pair.brain.acting(author="eve", kind="human"):
        put(pair.brain, "Ada", "x: 1")
    assert pair.brain.conflicts() == [conflict]


def test_notes_that_people_write_are_listed_or_left_out() -> None:
    nexus = Nexus.memory(history=True)
    put(nexus, "Ada", "age: 1")
    noted = [{"key": "attributes.age", "value": 2, "more": 3}, {"key": "attributes.a b"}]
    noted += [{"key": "attributes."}, {"key": "age"}, {"key": ["attributes.age"]}]
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Person", name: "Ada"} } } WITH METADATA { conflict: :noted }',
        noted=noted,
    )
    assert [one["theirs"] for one in nexus.conflicts()] == [{"value": 2, "by": None, "at": None}]


def test_an_element_that_one_deleted_and_the_other_changed_is_a_conflict(pair: Pair) -> None:
    delete(pair.idea, "Ada")
    put(pair.brain, "Ada", "age: 40")
    put(pair.idea, "Bo", "age: 1")
    likes(pair.brain, "Bo", "Ada")
    delete(pair.brain, "Bo")
    merged = pair.merge()
    assert [(one["id"], one["key"]) for one in merged.conflicts] == [
        ("C:Person/Ada", "exists"),
        ("C:Person/Bo", "exists"),
    ]
    assert "value" not in merged.conflicts[0]["theirs"]
    assert "value" not in merged.conflicts[1]["ours"]
    assert merged.conflicts[1]["theirs"]["value"]["attributes"] == {"age": 1}
    assert (exists(pair.brain, "Ada"), exists(pair.brain, "Bo")) == (True, False)
    # An element that is not there has no metadata; the report had it.
    assert [one["id"] for one in pair.brain.conflicts()] == ["C:Person/Ada"]
    pair.brain.undo(seq=merged.seq)
    pair.merge(prefer="theirs")
    assert (exists(pair.brain, "Ada"), exists(pair.brain, "Bo")) == (False, True)


def test_a_deleted_end_of_a_new_link_is_a_conflict(pair: Pair) -> None:
    put(pair.brain, "Cy")
    likes(pair.brain, "Cy", "Bo")
    delete(pair.idea, "Bo")
    merged = pair.merge()
    assert [(one["id"], one["key"]) for one in merged.conflicts] == [("C:Person/Bo", "exists")]
    assert pair.brain.find(
        'FIND(?a.name) WHERE { (?a, "likes", {type: "Person", name: "Bo"}) }'
    ).column("?a.name") == ["Cy"]


def test_strict_refuses_the_whole_and_names_the_conflicts(pair: Pair) -> None:
    put(pair.idea, "Ada", 'age: 37, hobby: "chess"')
    put(pair.brain, "Ada", "age: 38")
    commit = pair.brain.info()["commit"]
    with pytest.raises(KipError, match=r"KIP_2002 .*1 conflict: C:Person/Ada attributes\.age\."):
        pair.merge(strict=True)
    assert (pair.brain.info()["commit"], attributes(pair.brain)["age"]) == (commit, 38)
    assert pair.merge(strict=True, prefer="ours").decided == 1


def test_many_conflicts_are_counted(pair: Pair) -> None:
    keys = ", ".join(f"k{number}: 1" for number in range(150))
    put(pair.brain, "Ada", keys)
    put(pair.idea, "Ada", keys.replace(": 1", ": 2"))
    merged = pair.merge(dry_run=True)
    text = merged.text()
    assert (len(merged.conflicts), text.count("! Person:Ada")) == (150, 100)
    assert "… and 50 more" in text
    assert "Conflicts: 150" in text
    with pytest.raises(KipError, match=r"150 conflicts: .*; and 130 more"):
        pair.merge(strict=True)


def test_newest_asks_the_times_and_no_clock_that_is_ahead() -> None:
    clock = [2003]

    def now() -> datetime:
        return datetime(clock[0], 1, 1, tzinfo=UTC)

    for others, expected in ((2001, 20), (2004, 4), (2090, 20)):
        nexus, other = Nexus.memory(clock=now), Nexus.memory(clock=now)
        clock[0] = 2003
        put(nexus, "Ada", "age: 20")
        clock[0] = others
        put(other, "Ada", "age: 4")
        clock[0] = 2010
        merged = nexus.merge(other, prefer="newest")
        assert attributes(nexus)["age"] == expected, others
        assert len(merged.conflicts) == (others == 2090)


def test_most_trusted_asks_the_status() -> None:
    for ours, theirs, expected in (
        ("draft", "active", 2),
        ("active", "draft", 1),
        ("draft", "draft", 1),
    ):
        nexus, other = Nexus.memory(), Nexus.memory()
        put(nexus, "Ada", "age: 1", f'status: "{ours}"')
        put(other, "Ada", "age: 2", f'status: "{theirs}"')
        merged = nexus.merge(other, prefer="most_trusted")
        assert attributes(nexus)["age"] == expected
        assert bool(merged.conflicts) == (ours == theirs)


def test_a_function_decides(pair: Pair) -> None:
    put(pair.brain, "Ada", "age: 1, x: 1, y: 1")
    put(pair.idea, "Ada", "age: 2, x: 2, y: 2")
    choices = {"attributes.age": "theirs", "attributes.x": "ours", "attributes.y": None}
    merged = pair.merge(prefer=lambda conflict: choices[conflict["key"]])
    assert (merged.decided, [one["key"] for one in merged.conflicts]) == (2, ["attributes.y"])
    assert attributes(pair.brain) | {"town": ""} == {"age": 2, "town": "", "x": 1, "y": 1}
    for wrong in ("mine", 7):
        with pytest.raises(KipError, match="KIP_1001"):
            pair.merge(prefer=wrong)
    put(pair.idea, "Ada", "y: 3")
    with pytest.raises(KipError, match="KIP_1001 The function of prefer returned 3"):
        pair.merge(prefer=lambda conflict: 3)


# Elements -------------------------------------------------------------------------------------


def test_a_concept_that_theirs_merged_into_another_is_merged_here(pair: Pair) -> None:
    put(pair.idea, "Robert")
    pair.idea.execute(
        """MERGE CONCEPT ?a INTO ?b WHERE {
          ?a {type: "Person", name: "Bo"} ?b {type: "Person", name: "Robert"}
        }"""
    )
    put(pair.brain, "Cy")
    likes(pair.brain, "Cy", "Bo")
    put(pair.brain, "Bo", "age: 5")
    merged = pair.merge()
    assert merged.conflicts == []
    fans = (
        'FIND(?a.name) WHERE { (?a, "likes", {type: "Person", name: "Robert"}) } ORDER BY ?a.name'
    )
    assert pair.brain.find(fans).column("?a.name") == ["Ada", "Cy"]
    assert attributes(pair.brain, "Robert") == {"age": 5, "aliases": ["Bo"]}
    assert not exists(pair.brain, "Bo")
    assert pair.merge().seq is None


def test_what_is_taken_keeps_its_author_and_its_earliest_time(pair: Pair) -> None:
    with pair.idea.acting(author="bob", kind="human"):
        put(pair.idea, "Cy", "age: 1", 'author: "bob"')
        put(pair.idea, "Ada", "age: 37")
    pair.merge()
    cy, ada = metadata(pair.brain, "Cy"), metadata(pair.brain)
    assert (cy["_actor"], cy["author"], cy["_version"]) == ("human/bob", "bob", 1)
    assert cy["_created_at"] == metadata(pair.idea, "Cy")["_created_at"]
    assert (ada["_actor"], ada["_version"]) == ("human/bob", 2)
    assert ada["_created_at"] == metadata(pair.idea)["_created_at"]
    # A model may not say who wrote something.
    put(pair.idea, "Di")
    with pair.brain.acting(author="bot"):
        pair.merge()
    assert metadata(pair.brain, "Di")["_actor"] == "model/bot"


def test_a_snapshot_without_a_base_deletes_nothing(pair: Pair) -> None:
    delete(pair.idea, "Bo")
    put(pair.idea, "Ada", "age: 37, x: 1")
    merged = pair.brain.merge(pair.idea.snapshot())
    assert merged.base == "none: no common history"
    assert [(one["id"], one["key"]) for one in merged.conflicts] == [
        ("C:Person/Ada", "attributes.age")
    ]
    assert exists(pair.brain, "Bo")
    assert attributes(pair.brain) == {"age": 36, "town": "Rome", "x": 1}
    assert pair.brain.merge(pair.idea.snapshot()).seq is None


def test_a_server_is_a_side(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "served") as nexus:
        put(nexus, "Ada", "age: 36")
    nexus = Nexus.memory()
    with serving(str(tmp_path / "served"), "--read-token", "let-me-read") as server:
        with pytest.raises(KipError, match=r"KIP_1001 .* the status 401.*Give its token"):
            nexus.merge(server.address)
        nexus.merge(server.address, token="let-me-read")
    assert attributes(nexus) == {"age": 36}


def test_two_threads_merge_each_other(pair: Pair) -> None:
    def run(nexus: Nexus, other: Nexus, name: str) -> None:
        for number in range(5):
            put(nexus, f"{name}{number}")
            nexus.merge(other)

    threads = [
        Thread(target=run, args=args, daemon=True)
        for args in ((pair.brain, pair.idea, "B"), (pair.idea, pair.brain, "I"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    for nexus in (pair.brain, pair.idea):
        nexus.merge(pair.idea if nexus is pair.brain else pair.brain)
        assert all(exists(nexus, f"{name}{number}") for name in "BI" for number in range(5))
        assert nexus.conflicts() == []


def test_nothing_is_lost_of_a_folder_that_is_written_meanwhile(pair: Pair) -> None:
    put(pair.idea, "Cy")
    reader = Nexus.open(pair.folder / "idea", read_only=True)
    with reader:
        # As where a process writes between the graph and the history: this one has more.
        put(pair.idea, "Di")
        journal = reader.store.journal
        assert journal is not None
        journal.refresh()
        assert (reader.info()["commit"], journal.last) == (4, 5)
        pair.brain.merge(reader)
    assert (exists(pair.brain, "Cy"), exists(pair.brain, "Di")) == (True, False)
    assert pair.merge().base == "commit 4 of the other nexus, which was merged before"
    assert exists(pair.brain, "Di")


# What never comes -----------------------------------------------------------------------------


def test_what_was_erased_or_rejected_does_not_return(pair: Pair) -> None:
    put(pair.idea, "Bo", "age: 5")
    put(pair.idea, "Cy", "age: 5, town: 7")
    likes(pair.idea, "Cy", "Bo")
    likes(pair.idea, "Cy", "Ada")
    put(pair.idea, "Ada", "age: 99")
    put(pair.brain, "Ada", "age: 40")
    pair.brain.forget('FIND(?p) WHERE { ?p {type: "Person", name: "Bo"} }')
    pair.brain.reject(("C:Person/Ada", "attributes.age", 99), reason="A joke.")
    pair.brain.reject(("C:Person/Cy", "likes", "C:Person/Ada"), reason="No.")
    pair.brain.reject(("C:Person/Cy", "attributes.town", 7), reason="No.")
    merged = pair.merge()
    link = pair.idea.id_of("(Person:Cy, likes, Person:Ada)")
    assert merged.erased == 3  # Bo, and both who like him
    assert set(merged.rejected) == {"C:Person/Ada.age", "C:Person/Cy.town", link}
    assert merged.conflicts == []
    assert attributes(pair.brain) == {"age": 40, "town": "Rome"}
    assert attributes(pair.brain, "Cy") == {"age": 5}
    assert not exists(pair.brain, "Bo")
    assert "Bo" not in str(merged.to_json())


def test_rejections_of_a_branch_come_and_those_of_the_nexus_stay(pair: Pair) -> None:
    pair.idea.reject(("C:Person/Ada", "attributes.age", 36), reason="Wrong.")
    name = pair.brain.reject(("C:Person/Ada", "attributes.age", 7), reason="Too young.")
    pair.merge()
    assert {one["reason"] for one in pair.brain.rejections()} == {"Wrong.", "Too young."}
    assert "age" not in attributes(pair.brain)
    with pytest.raises(KipError, match="KIP_3004"):
        put(pair.brain, "Ada", "age: 36")
    pair.idea.merge(pair.folder / "brain")
    assert name in {one["name"] for one in pair.idea.rejections()}


def test_the_core_stays_as_it_is(pair: Pair) -> None:
    text = pair.idea.snapshot()
    changed = text.replace("The vocabulary of this nexus", "Another vocabulary")
    assert changed != text
    merged = pair.brain.merge(changed, base=text)
    assert merged.protected == ("C:Domain/CoreSchema",)
    assert not merged


def test_bad_sides_are_refused(pair: Pair, tmp_path: Path) -> None:
    text = pair.idea.snapshot()
    memory = Nexus.memory()
    sides: list[tuple[Any, str]] = [
        (pair.folder / "brain", "KIP_1001 Both sides of the merge are the same nexus"),
        (pair.brain, "KIP_1001 Both sides"),
        (text[:-900], "KIP_"),
        (99, "KIP_3002 There is no commit 99"),
        (-1, "KIP_3002"),
        (None, "KIP_1001"),
        (True, "KIP_1001"),
    ]
    for side, message in sides:
        with pytest.raises(KipError, match=message):
            pair.brain.merge(side)
    with pytest.raises(FileNotFoundError):
        pair.brain.merge(tmp_path / "nowhere.ttl")
    with pytest.raises(KipError, match="KIP_1001 This nexus has no history"):
        memory.branch(tmp_path / "branch")
    with pytest.raises(KipError, match="KIP_1001"):
        View([memory, pair.brain]).merge(text)
    shutil.rmtree(tmp_path / "branch", ignore_errors=True)
    assert pair.brain.info()["commit"] == 2
