"""A FIND reads nodes first and their values then; both are of one state."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import kiprdf


@pytest.fixture(params=["memory", "disk"])
def nexus(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[kiprdf.Nexus]:
    nexus = (
        kiprdf.Nexus.memory(genesis=False)
        if request.param == "memory"
        else kiprdf.Nexus.open(tmp_path / "nexus", genesis=False)
    )
    with nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } }')
        yield nexus


WRITE = " ".join(
    f'CONCEPT {{ {{type: "T", name: "N{i}"}} SET ATTRIBUTES {{v: :v}} }}' for i in range(20)
)


def test_answers_during_writes_do_not_mix_states(nexus: kiprdf.Nexus) -> None:
    nexus.execute(f"UPSERT {{ {WRITE} }}", v=0)
    done = threading.Event()
    mixed: list[object] = []

    def read_often() -> None:
        while not done.is_set():
            shown, counted = nexus.execute(
                'FIND(MIN(?x.attributes.v), MAX(?x.attributes.v)) WHERE { ?x {type: "T"} }'
            )
            rows = nexus.find('FIND(?x.attributes.v) WHERE { ?x {type: "T"} }').tuples()
            if shown != counted or len(set(rows)) != 1:
                mixed.append((shown, counted, rows))

    readers = [threading.Thread(target=read_often) for _ in range(2)]
    for reader in readers:
        reader.start()
    for value in range(1, 30):
        nexus.execute(f"UPSERT {{ {WRITE} }}", v=value)
    done.set()
    for reader in readers:
        reader.join()
    assert mixed == []


def test_two_threads_that_write_lose_nothing(nexus: kiprdf.Nexus) -> None:
    def write(name: str) -> None:
        for value in range(30):
            nexus.execute(
                'UPSERT { CONCEPT { {type: "T", name: "shared"} SET ATTRIBUTES :map } }',
                map={f"{name}{value}": value},
            )

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (attributes,) = nexus.execute('FIND(?x.attributes) WHERE { ?x {type: "T", name: "shared"} }')
    assert attributes == {f"{name}{value}": value for name in "ab" for value in range(30)}
    (version,) = nexus.execute('FIND(?x.metadata._version) WHERE { ?x {name: "shared"} }')
    assert version == 60
