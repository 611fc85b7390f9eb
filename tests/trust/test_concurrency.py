"""Everything that reads, beside everything that writes; and two processes at one folder.

What ``tests/nexus/test_threads.py`` and ``test_versions.py`` do not try: readers of all kinds at
once, over a text that every statement changes in two places.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.nexus.support import dataset, restored
from tests.programs import PROCESSES
from tests.threads import together
from tests.trust import visiting
from tests.trust.processes import run

WRITES = 6
"""Of each writer; the readers read until the writers are done."""
COUNTERS, INCREMENTS = 5, 20
SCHEMA = (
    'UPSERT { CONCEPT { {type: "$ConceptType", name: "Pair"} } '
    'CONCEPT { {type: "$PropositionType", name: "with"} } }'
)
PAIR = (
    'UPSERT { CONCEPT ?a { {type: "Pair", name: :one} SET ATTRIBUTES { n: :n, text: :text } } '
    'CONCEPT { {type: "Pair", name: :other} SET ATTRIBUTES { n: :n, text: :text } '
    'SET PROPOSITIONS { ("with", ?a) } } }'
)
ALL = 'FIND(?p.name, ?p.attributes.n) WHERE { ?p {type: "Pair"} }'


@pytest.fixture
def nexus(tmp_path: Path) -> Any:
    with kiprdf.Nexus.open(tmp_path / "brain") as opened:
        opened.execute(SCHEMA)
        write_pair(opened, "x", 0)
        write_pair(opened, "y", 0)
        yield opened


def write_pair(nexus: kiprdf.Nexus, name: str, number: int) -> None:
    nexus.execute(PAIR, one=f"{name}1", other=f"{name}2", n=number, text=f"{name}word{number}")


def whole(numbers: dict[str, Any]) -> None:
    """Each pair has one number: no commit is seen by halves."""
    assert numbers["x1"] == numbers["x2"], numbers
    assert numbers["y1"] == numbers["y2"], numbers


class Readers:
    """One method for each way to read; each asserts that it reads a single commit."""

    def __init__(self, nexus: kiprdf.Nexus, folder: Path) -> None:
        self._nexus = nexus
        self._folder = folder
        self._copies = 0

    def find(self) -> None:
        whole(dict(self._nexus.find(ALL).tuples()))

    def search(self) -> None:
        hits = self._nexus.execute('SEARCH CONCEPT "x1" WITH TYPE "Pair" LIMIT 10')
        assert hits[0]["name"] == "x1"
        assert hits[0]["attributes"]["text"] == f"xword{hits[0]['attributes']['n']}"

    def snapshot(self) -> None:
        with restored(self._nexus) as copy:
            whole(dict(copy.find(ALL).tuples()))
            assert copy.check()["faults"] == []

    def export(self) -> None:
        text = self._nexus.export('EXPORT ?p WHERE { ?p {type: "Pair"} }')
        with kiprdf.Nexus.memory() as copy:
            copy.execute(SCHEMA)
            copy.apply_capsule(text)
            whole(dict(copy.find(ALL).tuples()))

    def check(self) -> None:
        report = self._nexus.check()
        assert (report["faults"], report["index"]) == ([], "sound")

    def backup(self) -> None:
        self._copies += 1
        copy = self._folder / f"copy{self._copies}"
        self._nexus.backup(copy)
        with kiprdf.Nexus.open(copy) as opened:
            whole(dict(opened.find(ALL).tuples()))
            assert opened.check()["faults"] == []

    def all_in_a_batch(self) -> None:
        commands = [ALL, "DESCRIBE PRIMER", 'FIND(COUNT(?l)) WHERE { ?l (?a, "with", ?b) }']
        results = self._nexus.execute_kip_readonly({"commands": commands})["result"]
        assert not [result for result in results if "error" in result]
        names, numbers = results[0]["result"]
        whole(dict(zip(names, numbers, strict=True)))
        assert results[2]["result"] == 2


WAYS = ("find", "search", "snapshot", "export", "check", "backup", "all_in_a_batch")


def test_readers_of_every_kind_see_whole_commits_beside_writers(
    nexus: kiprdf.Nexus, tmp_path: Path
) -> None:
    readers = Readers(nexus, tmp_path)
    done = [threading.Event(), threading.Event()]
    reads = dict.fromkeys(WAYS, 0)

    def write(name: str, ended: threading.Event) -> None:
        try:
            for number in range(1, WRITES + 1):
                write_pair(nexus, name, number)
        finally:
            ended.set()

    def read(way: str) -> None:
        while reads[way] == 0 or not all(ended.is_set() for ended in done):
            getattr(readers, way)()
            reads[way] += 1

    writers = [lambda: write("x", done[0]), lambda: write("y", done[1])]
    together(*writers, *(lambda way=way: read(way) for way in WAYS))
    assert dict(nexus.find(ALL).tuples()) == dict.fromkeys(("x1", "x2", "y1", "y2"), WRITES)
    assert min(reads.values()) > 0


def test_counters_under_expect_version_end_at_exactly_all_increments(nexus: kiprdf.Nexus) -> None:
    read = 'FIND(?p.attributes.n, ?p.metadata._version) WHERE { ?p {type: "Pair", name: "x1"} }'
    write = (
        'UPSERT { CONCEPT { {type: "Pair", name: "x1"} EXPECT VERSION :version '
        "SET ATTRIBUTES { n: :n } } }"
    )

    def increment() -> None:
        for _ in range(INCREMENTS):
            while True:
                (number,), (version,) = nexus.execute(read)
                request = {"command": write, "parameters": {"n": number + 1, "version": version}}
                error = nexus.execute_kip(request).get("error")
                if error is None:
                    break
                assert error["code"] == "KIP_3005", error

    # Among readers and another writer, who move the commit on and hold the lock.
    others = [lambda: write_pair(nexus, "y", 1), lambda: nexus.check(), lambda: nexus.snapshot()]
    together(*[increment] * COUNTERS, *others)
    assert nexus.execute(read) == [[COUNTERS * INCREMENTS], [COUNTERS * INCREMENTS + 1]]


def test_readers_see_no_half_of_a_merge_or_a_deletion(nexus: kiprdf.Nexus) -> None:
    done = threading.Event()

    def write() -> None:
        try:
            for number in range(WRITES // 2):
                write_pair(nexus, "z", number)
                nexus.execute(
                    "MERGE CONCEPT ?a INTO ?b WHERE "
                    '{ ?a {type: "Pair", name: "z1"} ?b {type: "Pair", name: "y1"} }'
                )
                nexus.execute(
                    'DELETE CONCEPT ?a DETACH WHERE { ?a {type: "Pair", name: "z2"} }',
                )
        finally:
            done.set()

    def read() -> None:
        while not done.is_set():
            rows = nexus.find('FIND(?l, ?a.name, ?b.name) WHERE { ?l (?a, "with", ?b) }')
            for row in rows:
                assert None not in row.values(), row
            assert nexus.check()["faults"] == []

    together(write, read, read)


# Two processes --------------------------------------------------------------------------------


def hold(folder: str, connection: Any) -> None:
    """Keep a nexus open, and write on request."""
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        write_pair(nexus, "x", 1)
        connection.send("open")
        while connection.recv() == "write":
            write_pair(nexus, "x", 2)
            nexus.execute('SEARCH CONCEPT "x1"')
            connection.send("written")


@pytest.fixture
def held(tmp_path: Path) -> Any:
    """A folder that another process has open, and the line to it."""
    ours, theirs = PROCESSES.Pipe()
    child = PROCESSES.Process(target=hold, args=(str(tmp_path / "brain"), theirs), daemon=True)
    child.start()
    theirs.close()
    assert ours.recv() == "open"
    yield tmp_path / "brain", ours
    ours.send("end")
    child.join(60)
    assert child.exitcode == 0


def test_a_second_writing_process_is_refused_in_one_sentence(held: Any) -> None:
    folder, _ = held
    refused = run(visiting.visit, str(folder))
    assert refused == {
        "refused": f"Another process has the nexus in {folder} open: close it there, or open it "
        "with read_only=True."
    }


def test_a_reader_beside_a_writing_process_shows_the_state_at_its_opening(held: Any) -> None:
    folder, line = held
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        before = dataset(reader)
        line.send("write")
        assert line.recv() == "written"
        assert dict(reader.find(ALL).tuples()) == {"x1": 1, "x2": 1}
        assert dataset(reader) == before
        assert reader.execute('SEARCH CONCEPT "x1"')[0]["attributes"]["text"] == "xword1"
        assert reader.check()["faults"] == []
    with kiprdf.Nexus.open(folder, read_only=True) as reader:
        assert dict(reader.find(ALL).tuples()) == {"x1": 2, "x2": 2}
