"""The garbage collector is paused while a capsule is read, and as it was afterwards."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from kiprdf import KipError, Nexus, collector, parse


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    gc.enable()


def test_pauses_that_overlap_end_with_the_last() -> None:
    first_began, second_began, first_ended = (threading.Event() for _ in range(3))
    states: list[bool] = []

    def first() -> None:
        first_began.set()
        second_began.wait(60)

    def second() -> None:
        second_began.set()
        first_ended.wait(60)
        states.append(gc.isenabled())

    threads = [threading.Thread(target=collector.paused, args=(f,)) for f in (first, second)]
    threads[0].start()
    first_began.wait(60)
    threads[1].start()
    threads[0].join()
    first_ended.set()
    threads[1].join()
    assert states == [False]
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    collector.paused(list)
    assert not gc.isenabled()


def collections() -> int:
    return int(gc.get_stats()[0]["collections"])


def test_a_capsule_is_parsed_without_collections_and_a_faulty_one_ends_the_pause() -> None:
    text = "UPSERT { " + 'CONCEPT { {type: "Drug", name: "A"} } ' * 20_000
    before = collections()
    with pytest.raises(KipError):
        parse(text, limit_size=False)
    assert collections() - before < 10
    assert gc.isenabled()


def test_a_capsule_is_applied_without_collections() -> None:
    blocks = (f'CONCEPT {{ {{type: "Drug", name: "{number}"}} }}' for number in range(1_000))
    definition = 'CONCEPT { {type: "$ConceptType", name: "Drug"} }'
    text = f"UPSERT {{ {definition} {' '.join(blocks)} }}"
    with Nexus.memory(genesis=False) as nexus:
        before = collections()
        nexus.apply_capsule(text)
        assert collections() - before < 10
    assert gc.isenabled()
