"""Totals that the writer keeps: DESCRIBE and info answer as if everything were counted."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.meta.counts import count_uses
from kiprdf.store import OxigraphStore
from kiprdf.store.totals import Totals

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "T"} }
  CONCEPT { {type: "$ConceptType", name: "A_b"} }
  CONCEPT { {type: "$PropositionType", name: "p"} }
  CONCEPT { {type: "$PropositionType", name: "q"} }
}
"""
DESCRIBED = (
    "DESCRIBE PRIMER",
    'DESCRIBE CONCEPT TYPE "T"',
    'DESCRIBE CONCEPT TYPE "A_b"',
    'DESCRIBE CONCEPT TYPE "$ConceptType"',
    'DESCRIBE PROPOSITION TYPE "p"',
    'DESCRIBE PROPOSITION TYPE "q"',
    'DESCRIBE PROPOSITION TYPE "belongs_to_domain"',
)


def answers(nexus: kiprdf.Nexus) -> list[Any]:
    info = nexus.info()
    return [info["concepts"], info["propositions"], *map(nexus.execute, DESCRIBED)]


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[[kiprdf.Nexus], list[Any]]:
    """What a nexus answers when nothing is kept."""

    def answer(nexus: kiprdf.Nexus) -> list[Any]:
        with monkeypatch.context() as patch:
            patch.setattr(OxigraphStore, "totals", lambda store: None)
            return answers(nexus)

    return answer


def write(nexus: kiprdf.Nexus, chance: random.Random) -> None:
    """One of many kinds of commits."""
    one, other = (f'{{type: "T", name: "n é/{chance.randrange(12)}"}}' for _ in "ab")
    link = f'({one}, "p", {other})'
    commands = [
        f'UPSERT {{ CONCEPT {{ {{type: "A_b", name: "n{chance.randrange(12)}"}} '
        f"SET ATTRIBUTES {{ v: {chance.randrange(3)} }} }} }}",
        f'UPSERT {{ CONCEPT {{ {one} SET ATTRIBUTES {{ w: ["x"] }} }} '
        f"CONCEPT {{ {other} SET PROPOSITIONS {{ "
        '("q", {type: "Domain", name: "Unsorted"}) } } }',
        f"UPSERT {{ CONCEPT {{ {one} }} CONCEPT {{ {other} }} PROPOSITION {{ {link} }} }}",
        f'UPSERT {{ PROPOSITION {{ ({one}, "q", {link}) SET ATTRIBUTES {{ v: 1 }} }} }}',
        f'UPSERT {{ CONCEPT {{ {one} SET PROPOSITIONS {{ ("belongs_to_domain", '
        '{type: "Domain", name: "CoreSchema"}) } } }',
        f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {one} }}",
        f"DELETE PROPOSITIONS ?l WHERE {{ ?l ({one}, ?p, ?y) }}",
        f'DELETE ATTRIBUTES {{"w"}} FROM ?x WHERE {{ ?x {one} }}',
        'UPDATE ?x SET ATTRIBUTES { v: 5 } WHERE { ?x {type: "A_b"} }',
        f"MERGE CONCEPT ?a INTO ?b WHERE {{ ?a {one} ?b {other} }}",
    ]
    with suppress(kiprdf.KipError):  # some concept does not exist, or both are the same
        nexus.execute(chance.choice(commands))


def test_what_is_kept_is_what_is_counted_after_any_commit(
    tmp_path: Path, counting: Callable[[kiprdf.Nexus], list[Any]]
) -> None:
    chance = random.Random(7)
    for folder in (None, tmp_path / "nexus"):
        nexus = kiprdf.Nexus.memory(history=True) if folder is None else kiprdf.Nexus.open(folder)
        with nexus:
            nexus.execute(SCHEMA)
            written = 0
            for _ in range(6):
                before = nexus.info()["commit"]
                for _ in range(24):
                    write(nexus, chance)
                written += nexus.info()["commit"] - before
                assert nexus.store._totals.uses(nexus.store.commit()) is not None  # type: ignore[attr-defined]
                assert answers(nexus) == counting(nexus)
            assert written > 50
            last = nexus.info()["commit"]
            nexus.undo(seq=last)
            assert answers(nexus) == counting(nexus)
            with kiprdf.Nexus.memory() as copy:
                copy.restore(nexus.snapshot())
                assert answers(copy) == counting(copy)
                write(copy, chance)
                assert answers(copy) == counting(copy)
            with nexus.at(last) as past:
                assert answers(past)[:2] == counting(past)[:2]


def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    select = OxigraphStore.select

    def noted(store: OxigraphStore, query: str, *arguments: Any, **options: Any) -> Any:
        if "COUNT" in query:
            asked.append(query)
        return select(store, query, *arguments, **options)

    monkeypatch.setattr(OxigraphStore, "select", noted)
    return asked


@pytest.mark.parametrize("read_only", [False, True])
def test_nothing_is_counted_where_the_writer_has_kept_it(
    tmp_path: Path, read_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nexus"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        write(nexus, random.Random(1))
        expected = answers(nexus)
    with kiprdf.Nexus.open(folder, read_only=read_only) as nexus:
        asked = queries(monkeypatch)
        assert answers(nexus) == expected
        # Links of the members of domains are counted each time, and so is what waits.
        others = ("?domain", "Commitment", "SleepTask")
        assert asked
        assert [query for query in asked if not any(map(query.__contains__, others))] == []


def test_the_file_of_an_earlier_commit_is_brought_up_to_date_from_the_history(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    counting: Callable[[kiprdf.Nexus], list[Any]],
) -> None:
    folder = tmp_path / "nexus"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
    earlier = (folder / "values/totals.json").read_bytes()
    with kiprdf.Nexus.open(folder) as nexus:
        for number in range(10):
            write(nexus, random.Random(number))
    assert (folder / "values/totals.json").read_bytes() != earlier
    (folder / "values/totals.json").write_bytes(earlier)
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        assert nexus.store._totals.uses(0) is None  # type: ignore[attr-defined]
        expected = counting(nexus)
        asked = queries(monkeypatch)
        assert answers(nexus)[:2] == expected[:2]
        assert answers(nexus) == expected
        assert not any("/q>" in query and "?domain" not in query for query in asked)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"1\n{}", None])
def test_a_file_that_is_missing_or_damaged_is_written_again(
    tmp_path: Path, content: bytes | None, counting: Callable[[kiprdf.Nexus], list[Any]]
) -> None:
    folder = tmp_path / "nexus"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute('UPSERT { CONCEPT { {type: "T", name: "n"} SET ATTRIBUTES { v: 1 } } }')
        expected = counting(nexus)
    path = folder / "values/totals.json"
    whole = path.read_bytes()
    if content is None:
        # One digit of a count, which JSON does not notice.
        text = json.loads(whole.partition(b"\n")[2])
        text["uses"][0][3] += 1
        path.write_bytes(whole.partition(b"\n")[0] + b"\n" + json.dumps(text).encode())
    else:
        path.write_bytes(content)
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        assert answers(nexus) == expected
    with kiprdf.Nexus.open(folder) as nexus:
        assert answers(nexus) == expected
    assert path.read_bytes() == whole


def test_a_history_that_cannot_be_read_keeps_nothing_from_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counting: Callable[[kiprdf.Nexus], list[Any]]
) -> None:
    folder = tmp_path / "nexus"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
    earlier = (folder / "values/totals.json").read_bytes()
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "T", name: "m"} } }')
    (folder / "values/totals.json").write_bytes(earlier)
    asked: list[int] = []

    def unreadable(store: OxigraphStore, number: int) -> Any:
        asked.append(number)
        raise kiprdf.StoreError("The history cannot be read.")

    with kiprdf.Nexus.open(folder) as nexus:
        monkeypatch.setattr(OxigraphStore, "_changes_after", unreadable)
        nexus.execute('UPSERT { CONCEPT { {type: "T", name: "n"} } }')
        assert len(asked) == 1
        assert answers(nexus) == counting(nexus)


def test_what_is_forgotten_is_not_in_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "nexus"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute('UPSERT { CONCEPT { {type: "T", name: "Nosy Parker"} } }')
    assert b"Nosy" in (folder / "values/totals.json").read_bytes()
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.forget('FIND(?x) WHERE { ?x {type: "T", name: "Nosy Parker"} }')
        nexus.execute("DESCRIBE PRIMER")
    assert b"Nosy" not in (folder / "values/totals.json").read_bytes()


def test_a_count_during_which_something_is_committed_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, counting: Callable[[kiprdf.Nexus], list[Any]]
) -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(SCHEMA)
    nexus.store._totals.clear()  # type: ignore[attr-defined]
    set_uses = Totals.set_uses
    committed: list[int] = []

    def late(totals: Totals, commit: int, uses: Any) -> None:
        if not committed:
            committed.append(commit)
            nexus.execute('UPSERT { CONCEPT { {type: "T", name: "late"} } }')
        set_uses(totals, commit, uses)

    monkeypatch.setattr(Totals, "set_uses", late)
    count_uses(nexus.store)
    assert committed
    assert answers(nexus) == counting(nexus)
