"""The history of a view: the commits of its members in the order of time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import kiprdf
from kiprdf import KipError, Nexus

PERSON = 'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES { at: :at } } }'
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that is one minute later at each reading."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def written() -> Iterator[tuple[Nexus, Nexus, list[str]]]:
    """Two nexuses that are written in turn, and the times of that."""
    clock = Clock()
    team, ada = (Nexus.memory(history=True, clock=clock) for _ in range(2))
    team.store.scope, ada.store.scope = "team", "ada"
    times = []
    for number in range(6):
        times.append(clock.now.isoformat())
        with ada.acting(author="m", session=f"s{number}"):
            nexus = ada if number % 2 else team
            nexus.execute(PERSON, name="Bo", at=number)
    yield team, ada, times
    team.close()
    ada.close()


def pages(read: Any, name: str, **arguments: Any) -> list[dict[str, Any]]:
    """All entries, page by page."""
    entries: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = read(**arguments, cursor=cursor)
        assert len(page[name]) <= arguments["limit"]
        entries += page[name]
        cursor = page["next_cursor"]
        if cursor is None:
            return entries


@pytest.mark.parametrize("limit", [1, 2, 4, 100])
def test_the_commits_of_all_members_in_the_order_of_time(
    written: tuple[Nexus, Nexus, list[str]], limit: int
) -> None:
    team, ada, _ = written
    with kiprdf.View([team, ada]) as view:
        entries = pages(view.history, "entries", id="C:Person/Bo", limit=limit)
        commits = pages(view.changes, "commits", type="Person", limit=limit)
    assert [one["scope"] for one in entries] == ["ada", "team"] * 3
    values = [key["after"] for one in entries for key in one["keys"]]
    assert values == [5, 4, 3, 2, 1, 0][: len(values)]
    own = [team.history("C:Person/Bo")["entries"], ada.history("C:Person/Bo")["entries"]]
    for scope, mine in zip(("team", "ada"), own, strict=True):
        of_scope = [
            {key: value for key, value in one.items() if key != "scope"}
            for one in entries
            if one["scope"] == scope
        ]
        assert of_scope == mine
    assert [one["at"] for one in commits] == sorted(one["at"] for one in commits)
    people = [id for one in commits for id in ids_of(one) if id == "C:Person/Bo"]
    assert len(people) == 6
    assert [one["scope"] for one in commits[-6:]] == ["team", "ada"] * 3


def ids_of(commit: dict[str, Any]) -> list[str]:
    """The concepts that a commit added or changed."""
    concepts = commit["concepts"]
    return [one["id"] for one in (*concepts["added"], *concepts["changed"])]


def test_selections_and_times(written: tuple[Nexus, Nexus, list[str]]) -> None:
    team, ada, times = written
    with kiprdf.View([team, ada]) as view, kiprdf.View([view]) as outer:
        assert [one["scope"] for one in view.changes(session="s3")["commits"]] == ["ada"]
        late = view.changes(times[4])["commits"]
        assert [one["scope"] for one in late] == ["team", "ada"]
        assert [one["scope"] for one in outer.changes(times[4])["commits"]] == ["team", "ada"]
        # Before both existed.
        early = (BEGIN - timedelta(days=1)).isoformat()
        assert view.changes(early)["commits"] == view.changes()["commits"]
        assert view.changes(until=early)["commits"] == []
        with pytest.raises(KipError, match="KIP_1001 The commits of a view are not numbered"):
            view.changes(3)
        with pytest.raises(KipError, match="KIP_3002 The history does not mention C:Person/Nix"):
            view.history("C:Person/Nix")
        for cursor in ("12", "", "WyIxIl0=", "W251bGwsMV0="):
            with pytest.raises(KipError, match="KIP_1001 The cursor is not valid"):
                view.history("C:Person/Bo", cursor=cursor)


def test_a_fact_whose_id_a_later_member_uses_for_another_one() -> None:
    team, ada = (Nexus.memory(history=True) for _ in range(2))
    team.store.scope, ada.store.scope = "team", "ada"
    fact = """UPSERT {
      CONCEPT { {type: "$PropositionType", name: "knows"} }
      CONCEPT ?a { {type: "Person", name: "A"} }
      CONCEPT ?x { {type: "Person", name: "X"} }
      PROPOSITION { (?a, "knows", ?x) }
    }"""
    team.execute(fact)
    team.execute('UPSERT { CONCEPT { {type: "Person", name: "B"} } }')
    team.execute('MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: "A"} ?b {name: "B"} }')
    ada.execute(fact)
    with kiprdf.View([team, ada]) as view, kiprdf.View([view]) as outer:
        names, links = view.execute('FIND(?p.name, ?l.id) WHERE { ?l (?p, "knows", ?x) }')
        ids = dict(zip(names, links, strict=True))
        assert team.execute('FIND(?l.id) WHERE { ?l (?p, "knows", ?x) }') == [ids["A"]]
        for nexus in (view, outer):
            entries = nexus.history(ids["B"])["entries"]
            assert [(one["scope"], one["change"]) for one in entries] == [
                ("team", "repointed"),
                ("team", "created"),
            ]
            assert nexus.history(ids["A"])["entries"][0]["scope"] == "ada"
            evidence = nexus.why('FIND(?x.name) WHERE { (?p, "knows", ?x) }').evidence()
            last: Any = {name: evidence[id]["written"] for name, id in ids.items()}
            assert (last["B"]["scope"], last["B"]["seq"]) == ("team", entries[0]["seq"])
            assert last["A"]["scope"] == "ada"


def test_a_member_without_history_is_refused(written: tuple[Nexus, Nexus, list[str]]) -> None:
    team, _, _ = written
    missing = pytest.raises(KipError, match="KIP_1001 This nexus has no history")
    with Nexus.memory() as plain, kiprdf.View([team, plain]) as view, missing:
        view.history("C:Person/Bo")
