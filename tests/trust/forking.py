"""Forks of a process with an open nexus: python -m tests.trust.forking FOLDER NUMBER SEED

While two threads write and search, the main thread forks, NUMBER times. Each child calls the nexus
in one way, must get the one StoreError, and ends in one way, with the status that it means. The
parent then still has what it wrote, and so has the folder.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import kiprdf

SECONDS = 60.0
"""A child that takes longer hangs."""
REFUSED = (
    "This nexus belongs to the process that opened it, and this process is a fork of that one; "
    "start processes that use kiprdf with the method spawn."
)
UPSERT = 'UPSERT { CONCEPT { {type: "N", name: :name} SET ATTRIBUTES { text: :text } } }'
COUNT = 'FIND(COUNT(?n)) WHERE { ?n {type: "N"} }'
STATUS = 7


def calls(nexus: kiprdf.Nexus, folder: Path) -> dict[str, Callable[[], Any]]:
    """Every way to use a nexus."""
    aside = str(folder.with_name("aside"))
    return {
        "write": lambda: nexus.execute(UPSERT, name="child", text=""),
        "read": lambda: nexus.execute(COUNT),
        "find": lambda: nexus.find(COUNT),
        "answer": lambda: nexus.answer(COUNT),
        "explain": lambda: nexus.explain(COUNT),
        "search": lambda: nexus.execute('SEARCH CONCEPT "text"'),
        "request": lambda: nexus.execute_kip({"command": COUNT}),
        "batch": lambda: nexus.execute_kip_readonly({"commands": [COUNT]}),
        "close": nexus.close,
        "info": nexus.info,
        "check": nexus.check,
        "backup": lambda: nexus.backup(aside),
        "faulty": lambda: nexus.import_rdf(3),  # type: ignore[arg-type]
        "snapshot": nexus.snapshot,
        "export": nexus.export,
        "capsule": lambda: nexus.apply_capsule("UPSERT { }"),
        "sparql": lambda: nexus.sparql("ASK { ?s ?p ?o }"),
        "import": lambda: nexus.import_rdf("<urn:a> <urn:b> <urn:c> ."),
        "restore": lambda: nexus.restore("# kiprdf 1 base <urn:kip:nexus/>\n"),
        "publish": lambda: nexus.publish(aside),
        "schema": nexus.schema,
        "rdflib": nexus.to_rdflib,
        "diff": lambda: nexus.diff("# kiprdf 1 base <urn:kip:nexus/>\n"),
        "open": lambda: kiprdf.Nexus.open(folder),
    }


def returns() -> None:
    """The child returns from ``main`` as the parent does."""


def exits() -> NoReturn:
    sys.exit(STATUS)


def exits_at_once() -> NoReturn:
    os._exit(STATUS)


ENDS: dict[str, tuple[Callable[[], None], int]] = {
    "returns": (returns, 0),
    "exits": (exits, STATUS),
    "exits at once": (exits_at_once, STATUS),
}


class Parent:
    """A nexus that is written to and searched while the process is forked."""

    def __init__(self, folder: Path) -> None:
        self.nexus = kiprdf.Nexus.open(folder)
        self.nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } }')
        self.written = 0
        self._stopped = False
        self._threads = [threading.Thread(target=work) for work in (self._write, self._search)]
        for thread in self._threads:
            thread.start()

    def _write(self) -> None:
        while not self._stopped:
            self.nexus.execute(UPSERT, name=f"n{self.written}", text=f"text {self.written} " * 50)
            self.written += 1

    def _search(self) -> None:
        while not self._stopped:
            self.nexus.execute('SEARCH CONCEPT "text" LIMIT 3')
            time.sleep(0.01)

    def stop(self) -> None:
        self._stopped = True
        for thread in self._threads:
            thread.join()


def refused(call: Callable[[], Any]) -> str:
    """The StoreError of a call; any other outcome ends the child with a traceback."""
    try:
        answer = call()
    except kiprdf.StoreError as error:
        return str(error)
    raise AssertionError(f"not refused: {answer!r}")


def wait_for(child: int, what: str) -> int:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise AssertionError(f"a child hangs: {what}")


def in_a_pool(nexus: kiprdf.Nexus) -> None:
    """The same by multiprocessing, whose children are forks on this system."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        sender.send(refused(lambda: nexus.execute(COUNT)))

    process = context.Process(target=work)
    process.start()
    assert receiver.poll(SECONDS), "a child of multiprocessing hangs"
    assert receiver.recv() == REFUSED
    process.join(SECONDS)
    assert process.exitcode == 0, process.exitcode


def main(folder: str, number: int, seed: str) -> None:
    faulthandler.enable()
    random = Random(seed)
    parent = Parent(Path(folder))
    every = calls(parent.nexus, Path(folder))
    counts: Counter[str] = Counter()
    names = [*every, "with", "none"]
    for fork in range(number):
        name = names[fork % len(names)]
        way = random.choice(list(ENDS))
        time.sleep(random.random() * 0.01)
        counts[way] += 1
        child = os.fork()
        if child == 0:
            if name == "with":
                with parent.nexus:
                    ENDS[way][0]()
            elif name != "none":
                expected = "cannot be opened for writing" if name == "open" else REFUSED
                assert expected in refused(every[name]), refused(every[name])
                ENDS[way][0]()
            ENDS[way][0]()
            return
        status = wait_for(child, f"{name}, then it {way}")
        assert status == ENDS[way][1], (name, way, status)
    in_a_pool(parent.nexus)
    parent.stop()
    report = parent.nexus.check()
    assert (report["faults"], report["index"]) == ([], "sound"), report
    parent.nexus.close()
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.execute(COUNT) == parent.written
        assert nexus.check()["faults"] == []
    print(f"{number} forks, {parent.written} writes beside them", dict(counts))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
