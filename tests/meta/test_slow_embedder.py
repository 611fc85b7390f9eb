"""An embedder that is slow, queries its own nexus or is interrupted blocks nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import Budget
from kiprdf.store import cancellation
from tests.nexus.support import medical
from tests.nexus.test_budget import SOON, wait_for_the_last
from tests.trust import children

WORDS = 'SEARCH CONCEPT "Fever" LIMIT 1'
SENSE = 'SEARCH CONCEPT "Fever" MODE "semantic" LIMIT 1'
BOTH = 'SEARCH CONCEPT "Fever" MODE "hybrid" LIMIT 1'


class Embedder:
    """Counts letters once it is released; calls ``ask`` first."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.go.set()
        self.ask: Callable[[], Any] = lambda: None
        self.calls = 0
        self.running = 0
        self.most = 0

    def __call__(self, texts: list[str], /) -> list[list[float]]:
        self.calls += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            self.ask()
            self.go.wait(SOON)
            return [[1.0 + text.lower().count(letter) for letter in "aeiou"] for text in texts]
        finally:
            self.running -= 1


@pytest.fixture
def embedder() -> Embedder:
    return Embedder()


@pytest.fixture
def nexus(embedder: Embedder) -> kiprdf.Nexus:
    nexus = medical(embedder=embedder)
    nexus.execute(WORDS)  # its index
    return nexus


def names(nexus: kiprdf.Nexus, command: str) -> list[str]:
    return [hit["name"] for hit in nexus.execute(command)]


def by_words(nexus: kiprdf.Nexus, command: str) -> list[str]:
    """The hits of a search whose embedder is too slow, and which says so."""
    answer: Any = nexus.answer(command)
    (warning,) = answer.warnings
    assert warning.name == "SearchedByWords"
    assert "because the embedder took too long" in warning.message
    return [hit["name"] for hit in answer.result]


def test_a_slow_embedder_is_abandoned_and_called_by_one_thread_at_a_time(
    nexus: kiprdf.Nexus, embedder: Embedder
) -> None:
    embedder.go.clear()
    with nexus.limited(timeout_s=0.2):
        for command in (SENSE, SENSE, BOTH):
            began = time.monotonic()
            assert by_words(nexus, command) == ["Fever"]
            assert time.monotonic() - began < SOON / 2
        assert names(nexus, WORDS) == ["Fever"]
    hits: list[list[str]] = []

    def ask() -> None:
        with nexus.limited(timeout_s=0.2):
            hits.append(by_words(nexus, BOTH))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert hits == [["Fever"]] * 20
    assert embedder.calls == embedder.most == 1
    with nexus.limited(timeout_s=0.2):
        assert names(nexus, 'FIND(?x) WHERE { ?x {type: "Symptom", name: "Fever"} }') == ["Fever"]
    embedder.go.set()
    wait_for_the_last()
    assert names(nexus, SENSE)
    assert embedder.most == 1


def test_vectors_of_a_late_embedder_are_kept(nexus: kiprdf.Nexus, embedder: Embedder) -> None:
    nexus.execute(SENSE)
    calls, late = embedder.calls, SENSE.replace("Fever", "A term that is new")
    embedder.go.clear()
    with nexus.limited(timeout_s=0.1):
        assert by_words(nexus, late) == names(nexus, late.replace("semantic", "keyword"))
    embedder.go.set()
    wait_for_the_last()
    nexus.execute(late)
    assert embedder.calls == calls + 1


def test_an_embedder_that_searches_its_own_nexus_searches_by_keyword(
    nexus: kiprdf.Nexus, embedder: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    hits: list[list[str]] = []
    embedder.ask = lambda: hits.append(names(nexus, BOTH))
    assert names(nexus, SENSE)
    assert hits
    assert all(one == ["Fever"] for one in hits)
    assert "searches the nexus that waits for its vectors" in caplog.text


def test_an_embedder_that_queries_in_another_thread_ends_with_the_budget(
    nexus: kiprdf.Nexus, embedder: Embedder
) -> None:
    hits: list[list[str]] = []

    def ask() -> None:
        with nexus.limited(timeout_s=0.2):
            hits.append(by_words(nexus, SENSE))

    def beside() -> None:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(SOON)

    embedder.ask = beside
    with nexus.limited(timeout_s=0.2):
        assert by_words(nexus, SENSE) == ["Fever"]
    wait_for_the_last()
    assert hits == [["Fever"]]
    embedder.ask = lambda: None
    assert names(nexus, SENSE)


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_an_interrupt_passes_through_and_leaves_the_search_usable(
    timeout: float | None, embedder: Embedder
) -> None:
    nexus = medical(embedder=embedder, budget=Budget(timeout_s=timeout))

    def interrupt() -> None:
        raise KeyboardInterrupt

    embedder.ask = interrupt
    with pytest.raises(KeyboardInterrupt):
        nexus.execute(SENSE)
    embedder.ask = lambda: None
    assert names(nexus, SENSE)
    assert not cancellation._abandoned


def test_a_nexus_closes_while_its_embedder_runs(tmp_path: Path, embedder: Embedder) -> None:
    nexus = kiprdf.Nexus.open(tmp_path / "brain", embedder=embedder)
    nexus.execute(WORDS.replace("Fever", "System"))
    embedder.go.clear()
    with nexus.limited(timeout_s=0.1):
        assert by_words(nexus, SENSE.replace("Fever", "System")) == ["System"]
    nexus.close()
    with kiprdf.Nexus.open(tmp_path / "brain", embedder=Embedder()) as again:
        assert again.execute(SENSE)
    embedder.go.set()
    wait_for_the_last()


def halves() -> Any:
    nested: Any = 1.0
    for _ in range(41):
        nested = [nested, nested]
    return nested


def give_lists() -> None:
    """Run by a child: numpy would look through them for ever, and let no other thread run."""
    shared = halves()
    for vectors in ([shared], [[shared]], shared, [[1.0] * 1_000] * 10**7, [[1.0] * 10**6]):
        nexus = medical(embedder=lambda texts, given=vectors: given)  # type: ignore[misc]
        print(names(nexus, BOTH), flush=True)
    print("end")


def test_lists_that_are_no_vectors_are_a_fault_of_the_embedder() -> None:
    child = children.run("-m", "tests.meta.test_slow_embedder", seconds=SOON)
    assert child.status == 0, child.output[-2_000:]
    assert child.output.count("['Fever']") == 5
    assert child.output.rstrip().endswith("end")


if __name__ == "__main__":
    give_lists()
