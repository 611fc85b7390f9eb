"""Processes open a folder in a loop, while another one opens, writes, seals, forgets, closes it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

import kiprdf
from kiprdf.errors import StoreError
from kiprdf.store import journal as journals
from kiprdf.store import oxigraph
from tests.long_runs import amount
from tests.programs import PROCESSES

SECONDS = amount("OPENINGS", 1)
"""Of each test, in which other processes open the folder; docs/testing.md has the long run."""
Loop = Callable[[str, Event, str], None]
PAIR = (
    'UPSERT { CONCEPT ?a { {type: "Person", name: :one} SET ATTRIBUTES { n: :n, text: :text } } '
    'CONCEPT { {type: "Person", name: :other} SET ATTRIBUTES { n: :n } } }'
)
ASK = 'FIND(?a.attributes.n, ?b.attributes.n) WHERE { ?a {type: "Person", name: "left"} '
ASK += '?b {type: "Person", name: "right"} }'
FORGET = 'FIND(?p) WHERE { ?p {type: "Person", name: :name} }'


def write_pair(nexus: kiprdf.Nexus, number: int) -> None:
    nexus.execute(PAIR, one="left", other="right", n=number, text=f"{number} " * 50)


def keep_writing(folder: str, done: Event) -> None:
    """Write with small files, so that logs and tables are replaced all the time."""
    journals.SEALED_BYTES, oxigraph.FLUSHED_QUADS = 2_000, 200
    number = 1
    while not done.is_set():
        with open_to_write(folder) as nexus:
            for _ in range(1 + number % 20):
                number += 1
                write_pair(nexus, number)
            if number % 3 == 0:
                nexus.execute(PAIR, one="Jane", other="Joan", n=0, text="")
                nexus.forget(FORGET, name="Jane")
            if number % 5 == 0:
                nexus.optimize()
            if number % 7 == 0:
                nexus.compact_history(nexus.info()["commit"] - 3)


def open_to_write(folder: str) -> kiprdf.Nexus:
    """Open a folder as soon as nobody else writes."""
    while True:
        try:
            return kiprdf.Nexus.open(folder)
        except StoreError as fault:
            if "Another process has the nexus in" not in str(fault):
                raise


def keep_reading(folder: str, done: Event, printed: str) -> None:
    """Open in a loop; each state is whole, and has the history that leads to it."""
    faults, openings, before = [], 0, 0
    while not done.is_set():
        openings += 1
        try:
            with kiprdf.Nexus.open(folder, read_only=True) as nexus:
                ((left, right),) = nexus.find(ASK).tuples()
                commit = nexus.info()["commit"]
                assert (left == right, commit >= before) == (True, True), (left, right, commit)
                before = commit
                try:
                    report = nexus.check()
                except kiprdf.KipError as fault:
                    # What was opened is right as long as nothing is forgotten.
                    if "meanwhile" not in fault.message:
                        raise
                else:
                    assert (report["faults"], report["history"]["faults"]) == ([], []), report
        except Exception:
            faults.append(traceback.format_exc())
    Path(printed).write_text("\n".join([str(openings), *faults]))


def keep_contending(folder: str, done: Event, printed: str) -> None:
    """Open for writing in a loop: it succeeds, or says who has the folder."""
    faults, openings = [], 0
    while not done.is_set():
        openings += 1
        try:
            kiprdf.Nexus.open(folder).close()
        except StoreError as fault:
            if "Another process has the nexus in" not in str(fault):
                faults.append(traceback.format_exc())
        except Exception:
            faults.append(traceback.format_exc())
    Path(printed).write_text("\n".join([str(openings), *faults]))


@pytest.mark.parametrize(
    "others",
    [[keep_reading] * 3, [keep_contending] * 2 + [keep_reading]],
    ids=["readers", "writers"],
)
def test_openings_beside_a_writer_succeed(tmp_path: Path, others: list[Loop]) -> None:
    folder = str(tmp_path / "kb")
    with kiprdf.Nexus.open(folder) as nexus:
        write_pair(nexus, 1)
    done = PROCESSES.Event()
    prints = [tmp_path / f"{number}.txt" for number in range(len(others))]
    processes = [PROCESSES.Process(target=keep_writing, args=(folder, done), daemon=True)]
    for function, printed in zip(others, prints, strict=True):
        arguments = (folder, done, str(printed))
        processes.append(PROCESSES.Process(target=function, args=arguments, daemon=True))
    for process in processes:
        process.start()
    time.sleep(SECONDS)
    done.set()
    for process in processes:
        process.join(60)
    for printed in prints:
        openings, _, faults = printed.read_text().partition("\n")
        assert (int(openings) > 0, faults) == (True, "")
    assert [process.exitcode for process in processes] == [0] * len(processes)


@pytest.mark.parametrize("is_noticed", [True, False])
def test_a_reader_never_checks_its_graph_with_the_history_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_noticed: bool
) -> None:
    """A writer forgets after the reader has read the saved counts, and before the history."""
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        write_pair(nexus, 1)
    with kiprdf.Nexus.open(tmp_path / "kb") as writer:
        # The saved counts are those of an earlier commit: the history has what came after it.
        writer.execute(PAIR, one="Jane", other="Joan", n=0, text="")
        with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
            journal = reader.store.journal
            assert journal is not None
            records, forgotten = journal.records, list[str]()

            def records_after_the_writer(after: int, until: int) -> Iterator[bytes]:
                if not forgotten:
                    forgotten.extend(writer.forget(FORGET, name="Jane")["elements"])
                return records(after, until)

            monkeypatch.setattr(journal, "records", records_after_the_writer)
            if not is_noticed:
                monkeypatch.setattr(journal, "is_replaced", lambda: False)
            # The files of its graph are open, and are read as before.
            described = reader.execute('DESCRIBE CONCEPT TYPE "Person"')
            assert (described["usage"]["count"], forgotten) == (6, ["C:Person/Jane"])
            with pytest.raises(kiprdf.KipError, match="rewritten meanwhile"):
                reader.check()
        with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
            assert reader.check()["history"]["faults"] == []
