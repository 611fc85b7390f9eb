"""Readers beside writers see whole commits, and the newest ones (architecture: Consistency).

``KIPRDF_EXAMPLES`` lengthens the runs: a hundredth of a second for each.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests import threads
from tests.long_runs import amount

SECONDS = max(0.5, amount("EXAMPLES", 0) / 100)
SCHEMA = (
    'UPSERT { CONCEPT { {type: "$ConceptType", name: "Pair"} } '
    'CONCEPT { {type: "$PropositionType", name: "with"} } }'
)


@pytest.fixture(params=["memory", "disk"])
def nexus(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[kiprdf.Nexus]:
    if request.param == "memory":
        opened = kiprdf.Nexus.memory(genesis=False)
    else:
        opened = kiprdf.Nexus.open(tmp_path / "brain", genesis=False)
    with opened:
        opened.execute(SCHEMA)
        yield opened


def together(*jobs: Callable[[], Any]) -> list[int]:
    """Run each job over and over in its own thread; how often each ran.

    The first fault of any of them is raised here.
    """
    end = time.monotonic() + SECONDS
    counts = [0] * len(jobs)

    def repeat(index: int) -> None:
        while time.monotonic() < end:
            jobs[index]()
            counts[index] += 1

    threads.together(*(partial(repeat, index) for index in range(len(jobs))))
    return counts


def writer(nexus: kiprdf.Nexus, name: str) -> Callable[[], None]:
    """Raise two attributes of two pairs together, one by one number."""
    numbers = iter(range(1, 10**9))

    def write() -> None:
        number = next(numbers)
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Pair", name: :a} SET ATTRIBUTES { left: :n, right: :n } } '
            'CONCEPT { {type: "Pair", name: :b} SET ATTRIBUTES { left: :n, right: :n } } }',
            a=f"{name}1",
            b=f"{name}2",
            n=number,
        )

    return write


def test_a_find_never_mixes_two_commits(nexus: kiprdf.Nexus) -> None:
    writers = [writer(nexus, "x"), writer(nexus, "y")]
    for write in writers:
        write()

    def read() -> None:
        rows = nexus.find(
            'FIND(?p.name, ?p.attributes.left, ?p.attributes.right) WHERE { ?p {type: "Pair"} }'
        )
        values = {row["?p.name"]: tuple(row.values())[1:] for row in rows}
        assert len(values) == 4
        assert values["x1"] == values["x2"], values
        assert values["y1"] == values["y2"], values
        assert all(left == right for left, right in values.values()), values

    counts = together(*writers, read, read, read, read)
    assert min(counts) > 0


def test_whole_objects_never_mix_two_commits(nexus: kiprdf.Nexus) -> None:
    writers = [writer(nexus, "x"), writer(nexus, "y")]
    for write in writers:
        write()

    def read() -> None:
        values = {
            item["name"]: item for item in nexus.execute('FIND(?p) WHERE { ?p {type: "Pair"} }')
        }
        for name in ("x", "y"):
            one, other = values[f"{name}1"], values[f"{name}2"]
            assert one["attributes"] == other["attributes"]
            assert one["metadata"]["_version"] == other["metadata"]["_version"]

    counts = together(*writers, read, read, read, read)
    assert min(counts) > 0


def test_snapshots_hold_whole_commits(nexus: kiprdf.Nexus) -> None:
    write = writer(nexus, "x")
    write()

    def read() -> None:
        lines = nexus.snapshot(engine_metadata=False).splitlines()
        values = {line.split()[1] for line in lines if line.lstrip().startswith("attr:")}
        assert len(values) == 1, values

    assert min(together(write, read, read)) > 0


def test_no_increment_of_two_writers_is_lost(nexus: kiprdf.Nexus) -> None:
    upsert = 'UPSERT { CONCEPT { {type: "Pair", name: "one"} SET ATTRIBUTES { v: :v } } }'
    nexus.execute(upsert, v="start")
    values = iter(range(10**9))
    lock = threading.Lock()

    def write() -> None:
        with lock:
            value = next(values)
        nexus.execute(upsert, v=value)

    counts = together(write, write)
    version = nexus.execute('FIND(?p.metadata._version) WHERE { ?p {type: "Pair"} }')
    assert version == [sum(counts) + 1]


def test_a_type_registered_by_one_thread_is_known_to_all_at_once(nexus: kiprdf.Nexus) -> None:
    names = iter(f"T{number}" for number in range(10**9))
    registered: list[str] = []

    def register() -> None:
        name = next(names)
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: :name} } }', name=name)
        registered.append(name)

    def use() -> None:
        for name in registered[-1:]:
            assert nexus.execute("FIND(?x) WHERE { ?x {type: :type} }", type=name) == []
            nexus.execute('UPSERT { CONCEPT { {type: :type, name: "x"} } } ', type=name)
            nexus.execute("DELETE CONCEPT ?x DETACH WHERE { ?x {type: :type} }", type=name)

    assert min(together(register, use)) > 0


def test_a_type_that_is_created_and_deleted_is_either_known_or_not(nexus: kiprdf.Nexus) -> None:
    def toggle() -> None:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Now"} } }')
        assert "Now" in nexus.execute("DESCRIBE CONCEPT TYPES")
        nexus.execute('DELETE CONCEPT ?t DETACH WHERE { ?t {type: "$ConceptType", name: "Now"} }')
        assert "Now" not in nexus.execute("DESCRIBE CONCEPT TYPES")

    def use() -> None:
        response = nexus.execute_kip({"command": 'FIND(?x) WHERE { ?x {type: "Now"} }'})
        assert response.get("result") == [] or response["error"]["code"] == "KIP_2001", response

    assert min(together(toggle, use, use)) > 0


def test_search_beside_a_writer_finds_what_was_written(nexus: kiprdf.Nexus) -> None:
    names = iter(f"word{number}" for number in range(10**9))
    written: list[str] = []

    def write() -> None:
        name = next(names)
        nexus.execute('UPSERT { CONCEPT { {type: "Pair", name: :name} } }', name=name)
        written.append(name)

    def search() -> None:
        for name in written[-1:]:
            hits = nexus.execute("SEARCH CONCEPT :term LIMIT 1", term=name)
            assert [hit["name"] for hit in hits] == [name]

    assert min(together(write, search, search)) > 0


def test_deleting_beside_readers_never_shows_a_dangling_link(nexus: kiprdf.Nexus) -> None:
    make = (
        'UPSERT { CONCEPT ?a { {type: "Pair", name: "a"} } '
        'CONCEPT { {type: "Pair", name: "b"} SET PROPOSITIONS { ("with", ?a) } } }'
    )

    def write() -> None:
        nexus.execute(make)
        nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Pair"} }')

    def read() -> None:
        rows = nexus.find('FIND(?b, ?l, ?a) WHERE { ?l (?b, "with", ?a) }')
        assert [row for row in rows if None in row.values()] == []
        primer = nexus.execute("DESCRIBE PRIMER")
        assert primer["total_domains"] == 0

    assert min(together(write, read, read)) > 0


def test_dry_runs_beside_a_writer_write_nothing(nexus: kiprdf.Nexus) -> None:
    write = writer(nexus, "x")

    def dry() -> None:
        command = 'UPSERT { CONCEPT { {type: "Pair", name: "dry"} } }'
        response = nexus.execute_kip({"command": command, "dry_run": True})
        assert response["result"]["upsert_concept_nodes"] == ["C:Pair/dry"]

    together(write, dry)
    assert nexus.execute('FIND(?p) WHERE { ?p {name: "dry"} }') == []
