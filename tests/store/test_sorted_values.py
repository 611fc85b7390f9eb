"""Sorted values follow the commits of their own dataset only, and never keep one from happening."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Timer

import pytest
from pyoxigraph import Literal, NamedNode

import kiprdf
from kiprdf.budget import Budget, spend
from kiprdf.store import sorted_values
from kiprdf.store.sorted_values import (
    Bounds,
    Scope,
    SortedValues,
    UnreadableError,
    ValueIndex,
)

RISK = NamedNode("urn:kip:attribute/risk")
SCOPE = Scope(RISK)


def one(name: str, risk: int) -> tuple[NamedNode, NamedNode, Literal]:
    return NamedNode(f"urn:x/{name}"), RISK, Literal(risk)


def commit(number: int) -> Callable[[], int]:
    return lambda: number


def build(index: ValueIndex, number: int, *names: str) -> None:
    def values() -> Iterator[tuple[str, Literal]]:
        return ((f"urn:x/{name}", Literal(1)) for name in names)

    index.spend(SCOPE, 60, commit(number), values)


def names(values: SortedValues | None) -> list[str]:
    assert values is not None
    return values.between(Bounds(1), 10) or []


def test_commits_before_another_dataset_are_not_followed() -> None:
    """The dataset that replaces another one may have lost its last commits."""
    index = ValueIndex(None)
    build(index, 5, "a")
    index.note(6, (), [one("lost", 2)])
    assert names(index.get(SCOPE, commit(6), lambda _: ())) == ["urn:x/a", "urn:x/lost"]
    index.clear()
    build(index, 5, "a")
    assert names(index.get(SCOPE, commit(5), lambda _: ())) == ["urn:x/a"]
    index.note(6, (), [one("b", 3)])
    assert names(index.get(SCOPE, commit(6), lambda _: ())) == ["urn:x/a", "urn:x/b"]


@pytest.mark.parametrize("is_closed", [False, True])
def test_building_goes_on_after_its_question_and_ends_with_the_store(
    is_closed: bool, tmp_path: Path
) -> None:
    index, go_on = ValueIndex(tmp_path), Event()

    def values() -> Iterator[tuple[str, Literal]]:
        for number in range(10_000):
            yield f"urn:x/{number}", Literal(number)
            if number == 9_000:
                go_on.wait(60)

    spend(Budget(timeout_s=0.5), lambda: index.spend(SCOPE, 60, commit(5), values))
    assert index.get(SCOPE, commit(5), lambda _: ()) is None
    index.note(6, (), [one("later", 2)])
    if is_closed:
        Timer(0.1, go_on.set).start()
        index.close(6)
        assert not list(tmp_path.iterdir())
        return
    go_on.set()
    part = index._parts[SCOPE]
    assert part.building.acquire(timeout=60)
    built = index.get(SCOPE, commit(6), lambda _: ())
    assert built is not None
    assert built.number() == 10_001


def test_few_are_built_at_once_and_what_they_have_is_no_news(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sorted_values, "MOST_BUILDING", 2)
    monkeypatch.setattr(sorted_values, "KEPT_TRIPLES", 0)
    index, go_on = ValueIndex(None), Event()
    scopes = [Scope(NamedNode(f"urn:k:{n}")) for n in range(3)]

    def values() -> Iterator[tuple[str, Literal]]:
        go_on.wait(60)
        yield "urn:x/a", Literal(1)

    def ask() -> None:
        for scope in scopes:
            index.spend(scope, 60, commit(5), values)

    spend(Budget(timeout_s=0.2), ask)
    assert [*index._parts] == scopes[:2]
    # They began when this commit could be read, and before it was noted.
    index.note(5, (), [one("a", 1)])
    go_on.set()
    for scope in scopes[:2]:
        assert index._parts[scope].building.acquire(timeout=60)
        assert names(index.get(scope, commit(5), lambda _: ())) == ["urn:x/a"]
    index.spend(scopes[2], 60, commit(5), values)
    assert names(index.get(scopes[2], commit(5), lambda _: ())) == ["urn:x/a"]


def test_an_interrupt_or_a_closed_nexus_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, raised = ValueIndex(tmp_path), list[object]()
    monkeypatch.setattr(sys, "unraisablehook", raised.append)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def closed() -> Iterator[tuple[str, Literal]]:
        raise kiprdf.KipError("KIP_4003", "The nexus is closed.")

    with monkeypatch.context() as patch:
        patch.setattr(sorted_values, "start_new_thread", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build(index, 5, "a")
    assert not index._parts  # or close() would wait for a thread that does not run
    index.spend(SCOPE, 60, commit(5), closed)
    assert (index._parts, raised, list(tmp_path.iterdir())) == ({}, [], [])
    index.spend(SCOPE, 600, commit(5), lambda: [("urn:x/a", Literal(1))])
    assert names(index.get(SCOPE, commit(5), lambda _: ())) == ["urn:x/a"]
    index.close(5)


def test_few_keys_are_kept_and_a_reader_of_a_dropped_one_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes three file descriptors: questions about many keys must not use them up."""
    monkeypatch.setattr(sorted_values, "MOST_KEPT", 2)
    monkeypatch.setattr(sorted_values, "CHUNK", 1)
    folder = tmp_path / "values"
    index, scopes = ValueIndex(folder), [Scope(NamedNode(f"urn:k:{n}")) for n in range(3)]
    elements = [("urn:x/a", Literal(1)), ("urn:x/b", Literal(2))]
    walks = []
    for scope in scopes:
        index.spend(scope, 60, commit(5), lambda: elements)
        values = index.get(scope, commit(5), lambda _: ())
        assert values is not None
        walks.append(values.walk(False, None))
        assert next(walks[-1])[2] == ["urn:x/a"]
    kept = [index.get(scope, commit(5), lambda _: ()) is not None for scope in scopes]
    assert (kept, len(list(folder.glob("*.sqlite3")))) == ([False, True, True], 2)
    assert next(walks[1])[2] == ["urn:x/b"]
    with pytest.raises(UnreadableError):
        next(walks[0])


def test_a_file_that_cannot_be_removed_fails_no_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_values, "WORTH_SECONDS", 0)
    monkeypatch.setattr(sorted_values, "LEAST_SECONDS", 60)
    with kiprdf.Nexus.open(tmp_path / "kb", genesis=False) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} } }')
        nexus.execute('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk < 4) }')
    (file,) = (tmp_path / "kb" / "values").glob("*.sqlite3")
    file.unlink()
    file.mkdir()
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES {risk: 1} } }')
        question = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk < 4) }'
        for _ in range(2):
            assert nexus.execute(question) == ["A"]


BUILD = """
import resource, signal
from pyoxigraph import Literal
from tests.store.test_sorted_values import SCOPE, commit
from kiprdf.store.sorted_values import ValueIndex

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
index = ValueIndex(None)
values = ((f"urn:x/{n}", Literal(f"{n * 7919 % 50000:0100}")) for n in range(50000))
index.spend(SCOPE, 60, commit(5), lambda: values)
found = index.get(SCOPE, commit(5), lambda _: ())
print(found.size if found else found)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="without a limit of the size of files")
def test_a_nexus_in_memory_writes_no_values_to_a_temporary_file() -> None:
    done = subprocess.run([sys.executable, "-c", BUILD], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("50000\n", "")
