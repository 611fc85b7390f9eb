"""The versions of elements, in pages: each is the element as the commit left it."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kiprdf
from kiprdf.execution import history, versions
from kiprdf.execution.history import state_of
from kiprdf.execution.versions import Place, Version, Versions
from kiprdf.rdf import vocab
from kiprdf.store.journal import Journal
from tests.long_runs import SEED, amount
from tests.store.test_past import SCHEMA, change

STATEMENTS = amount("HISTORIES", 40)
MANY = [f'CONCEPT {{ {{type: "Drug", name: "M{number}"}} }}' for number in range(30)]


def pages(source: Versions, place: Place | None = None) -> list[list[Version]]:
    """All pages from a place on; the last one may still grow."""
    read, following = [], place or source.first()
    while following is not None:
        page = source.page(following)
        read.append(page.versions)
        following = page.next
    return read


def check(nexus: kiprdf.Nexus, read: list[list[Version]], first: int) -> None:
    """Compare versions with the nexus as of each commit, and see that none is missing."""
    store = nexus.store
    members = [version for page in read for version in page]
    assert sorted(members, key=lambda one: one.number) == members
    assert len({(one.node, one.number) for one in members}) == len(members)
    for number in range(first, store.commit() + 1):
        with nexus.at(number) as past:
            for one in members:
                if one.number == number:
                    assert one.state == state_of(past.store, one.node), (number, one.node)
    latest = {one.node: one.state for one in members}
    present = {triple.subject for key in vocab.IDENTITY for triple in store.match(None, key, None)}
    assert {node for node, state in latest.items() if state} == present


@pytest.mark.parametrize(("size", "is_indexed"), [(3, False), (7, True)])
def test_each_version_is_the_element_as_of_its_commit(
    size: int, is_indexed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_indexed:
        monkeypatch.setattr(history, "FEW", 0)
    monkeypatch.setattr(versions, "PAGE", size)
    chance = random.Random(SEED + size)
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        for _ in range(STATEMENTS):
            change(nexus, chance)
        nexus.execute(f"UPSERT {{ {' '.join(MANY)} }}")
        source = Versions(nexus.store)
        read = pages(source)
        check(nexus, read, 1)
        assert {len(page) for page in read[:-1]} <= {size}
        # A page depends on nothing that was read before it, and stays as it is.
        middle = Place(nexus.info()["commit"] // 2)
        begun = pages(Versions(nexus.store), middle)
        assert [one for page in begun for one in page] == [
            one for page in read for one in page if one.number >= middle.number
        ]
        for _ in range(5):
            change(nexus, chance)
        assert pages(source)[: len(read) - 1] == read[:-1]
        epoch = source.epoch()
        nexus.compact_history(middle.number)
        assert source.first() == middle
        assert source.epoch() != epoch
        check(nexus, pages(source), middle.number)


def test_page_of_long_values_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    for number in range(5):
        change = 'UPSERT { CONCEPT { {type: "Drug", name: "D"} SET ATTRIBUTES {note: :text} } }'
        nexus.execute(change, text=f"{number}" * 400_000)
    source = Versions(nexus.store)
    assert [len(page) for page in pages(source, Place(nexus.info()["commit"] - 4))] == [3, 2]


@pytest.mark.parametrize("is_of_head", [False, True])
def test_commit_while_a_link_is_read_is_behind_it(
    is_of_head: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } }'
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        end = Place(nexus.info()["commit"] + 1)
        expected = Versions(nexus.store).link(end)
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        read = Journal.records

        def records(self: Journal, after: int = 0, until: int = sys.maxsize) -> Iterator[bytes]:
            listed = [*read(self, after, until)]
            if after == end.number - (2 if is_of_head else 1):
                monkeypatch.undo()
                nexus.execute(write, name="Meanwhile")
            return iter(listed)

        monkeypatch.setattr(Journal, "records", records)
        assert Versions(nexus.store).link(end) == expected
        assert nexus.info()["commit"] == end.number
        nexus.execute(write, name="Next")
        assert Versions(nexus.store).link(end) == expected
    assert kiprdf.Nexus.verify_history(tmp_path / "kb")["fault"] is None
