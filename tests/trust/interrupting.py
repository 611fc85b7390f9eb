"""Work that a timer interrupts: python -m tests.trust.interrupting FOLDER NUMBER SEED KIND

A signal handler raises at a random moment of a call, NUMBER times. At every moment, the next
request is answered, the statement in flight is there whole or not at all, and nothing that was
acknowledged is lost. KIND is "keyboard" (KeyboardInterrupt) or "error" (an Exception, as a timer of
a user's own may raise it). With "-" as FOLDER the nexus lives in memory.
"""

from __future__ import annotations

import faulthandler
import gc
import logging
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import kiprdf
from kiprdf.store import cancellation

SECONDS = 60.0
"""Far longer than any call takes; what waits for ever is ended here, with its place."""
PEOPLE = 40
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "N"} }
  CONCEPT { {type: "$ConceptType", name: "M"} }
  CONCEPT { {type: "$PropositionType", name: "knows"} }
}
"""
FOAF = """
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<https://example.org/#ada> a foaf:Person ; foaf:name "Ada" ; foaf:knows <https://example.org/#bob> .
<https://example.org/#bob> a foaf:Person ; foaf:name "Bob" .
"""
PAIR = """
UPSERT {
  CONCEPT ?a { {type: "N", name: "left"} SET ATTRIBUTES { n: :n, text: "word%d" } }
  CONCEPT { {type: "N", name: "right"} SET ATTRIBUTES { n: :n } SET PROPOSITIONS { ("knows", ?a) } }
}
"""
LEFT = 'FIND(?x.attributes.n) WHERE { ?x {type: "N", name: "left"} }'
RIGHT = 'FIND(?x.attributes.n) WHERE { ?x {type: "N", name: "right"} }'
ALL = 'FIND(COUNT(?x)) WHERE { ?x {type: "N"} }'
HOPS = 'FIND(COUNT(?b)) WHERE { (?a, "knows"{1,3}, ?b) (?b, "knows", ?c) FILTER(?c.name != "x") }'
SELF = 'FIND(?p.name) WHERE { ?p {type: "Person", name: "$self"} }'


class Interrupted(Exception):
    """What a user's own timer raises."""


class Timer:
    """Raises in the main thread, once, a random moment after it was set."""

    def __init__(self, kind: str, random: Random) -> None:
        self._raised = KeyboardInterrupt if kind == "keyboard" else Interrupted
        self._random = random
        self._armed = False
        self.longest = 0.003
        signal.signal(signal.SIGALRM, self._ring)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._armed:
            self._armed = False
            raise self._raised

    def interrupts(self, call: Callable[[], Any]) -> bool:
        """Whether a call was interrupted; its result is ignored."""
        delay = 1e-6 + self._random.random() * self.longest
        try:
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, delay)
            call()
            self._armed = False
        except (KeyboardInterrupt, Interrupted):
            return True
        except kiprdf.KipError as error:
            # What a handler raises becomes a fault of the engine, if it is an Exception.
            if error.code != "KIP_4003":
                raise
            return True
        return False


class Run:
    """A nexus, what it holds, and the calls that are interrupted."""

    def __init__(self, folder: Path | None, seed: str, kind: str) -> None:
        self._folder = folder
        self._random = Random(seed)
        self._timer = Timer(kind, self._random)
        self.interrupts = 0
        self.counts: Counter[str] = Counter()
        self.nexus = kiprdf.Nexus.memory() if folder is None else kiprdf.Nexus.open(folder)
        self.nexus.execute(SCHEMA)
        links = " ".join(
            f'CONCEPT {{ {{type: "N", name: "n{n}"}} SET PROPOSITIONS {{ '
            f'("knows", {{type: "N", name: "n{n - 1}"}}) '
            f'("knows", {{type: "N", name: "n{n // 2}"}}) }} }}'
            for n in range(2, PEOPLE)
        )
        first = " ".join(f'CONCEPT {{ {{type: "N", name: "n{n}"}} }}' for n in range(2))
        self.nexus.execute(f"UPSERT {{ {first} {links} }}")
        self._number = 0
        self.nexus.execute(PAIR % 0, n=0)
        self._calls: dict[str, Callable[[], Any]] = {
            "known text": lambda: self.nexus.execute(LEFT),
            "new text": lambda: self.nexus.execute(f"{ALL} // {self._random.random()}"),
            "hops": lambda: self._same(self.nexus.execute(HOPS), self._hops),
            "hops apart": lambda: self.nexus.execute(f"{HOPS} // {self._random.random()}"),
            "request": lambda: self.nexus.execute_kip({"commands": [LEFT, ALL, "DESCRIBE PRIMER"]}),
            "write": self._write,
            "written": self._write,
            "bulk": self._bulk,
            "update": lambda: self.nexus.execute(
                "UPDATE ?x SET ATTRIBUTES { m: ADD(COALESCE(?x.attributes.m, 0), 1) } "
                'WHERE { ?x {type: "N"} }'
            ),
            "delete": lambda: self.nexus.execute(
                'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "M"} }'
            ),
            "search": lambda: self.nexus.execute('SEARCH CONCEPT "left"'),
            "limited": self._limited,
            "sparql": lambda: self.nexus.sparql(
                "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p"
            ),
            "snapshot": lambda: self.nexus.snapshot(),
            "export": lambda: self.nexus.export(),
            "check": lambda: self.nexus.check(),
            "import": lambda: self.nexus.import_rdf(FOAF, mapping="foaf", dry_run=True),
            "schema": lambda: self.nexus.execute('DESCRIBE CONCEPT TYPE "N"'),
        }
        if folder is not None:
            self._calls |= {"reopen": self._reopen, "drop": self._drop, "at": self._at}
        self._hops = self.nexus.execute(HOPS)
        for call in self._calls.values():  # what is imported when it is first used
            call()

    def _same(self, actual: Any, expected: Any) -> None:
        assert actual == expected, (actual, expected)

    def _write(self) -> None:
        self.nexus.execute(PAIR % (self._number + 1), n=self._number + 1)

    def _bulk(self) -> None:
        blocks = " ".join(f'CONCEPT {{ {{type: "M", name: "m{n}"}} }}' for n in range(60))
        self.nexus.apply_capsule(f"UPSERT {{ {blocks} }}")

    def _limited(self) -> None:
        with self.nexus.limited(timeout_s=1e-9):
            assert "error" in self.nexus.execute_kip({"command": ALL})

    def _at(self) -> None:
        assert len(self.nexus.at(2).execute('FIND(?x) WHERE { ?x {type: "N"} }')) in (0, PEOPLE + 2)

    def _reopen(self) -> None:
        assert self._folder is not None
        self.nexus.close()
        self.nexus = kiprdf.Nexus.open(self._folder)

    def _drop(self) -> None:
        assert self._folder is not None
        del self.nexus
        self.nexus = kiprdf.Nexus.open(self._folder)

    def step(self) -> None:
        """Interrupt one call, and check the nexus afterwards."""
        name = self._random.choice(list(self._calls))
        self._timer.longest = self._random.choice((0.001, 0.005, 0.02, 0.08))
        interrupted = self._timer.interrupts(self._calls[name])
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self._folder is not None and (not hasattr(self, "nexus") or self.nexus.store.closed):
            self.nexus = kiprdf.Nexus.open(self._folder)
        self.interrupts += interrupted
        self.counts[f"{name}, {'interrupted' if interrupted else 'not'}"] += 1
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            self._check_nexus()
        except BaseException:
            print("after", name, "interrupted" if interrupted else "whole", flush=True)
            raise
        faulthandler.cancel_dump_traceback_later()

    def _check_nexus(self) -> None:
        assert self.nexus.execute(SELF) == ["$self"]
        (left,), (right,) = self.nexus.execute(LEFT), self.nexus.execute(RIGHT)
        assert left == right, (left, right)
        assert left in (self._number, self._number + 1), (left, self._number)
        self._number = left
        assert self.nexus.execute('FIND(COUNT(?x)) WHERE { ?x {type: "M"} }') in (0, 60)
        counters = self.nexus.execute('FIND(?x.attributes.m) WHERE { ?x {type: "N"} }')
        assert len(set(counters)) == 1, counters
        if self._random.random() < 0.1:
            self._number += 1
            self.nexus.execute(PAIR % self._number, n=self._number)
            word = f"word{self._number}"
            (hit,) = self.nexus.execute("SEARCH CONCEPT :word LIMIT 1", word=word)
            assert hit["name"] == "left", (word, hit)
        assert gc.isenabled()
        assert self.nexus.store._lock._is_owned() is False

    def finish(self) -> None:
        report = self.nexus.check()
        assert (report["faults"], report["index"]) == ([], "sound"), report
        if self._folder is not None:
            gc.collect()
            assert report["history"]["state"] == "sound", report
            assert not list(self._folder.glob("history/past-*"))
        assert not any(run.is_alive() for run in cancellation._abandoned)
        self.nexus.close()
        if self._folder is not None:
            with kiprdf.Nexus.open(self._folder) as nexus:
                assert nexus.check()["faults"] == []


def main(folder: str, number: str, seed: str, kind: str) -> None:
    faulthandler.enable()
    logging.disable(logging.CRITICAL)
    run = Run(None if folder == "-" else Path(folder), seed, kind)
    while run.interrupts < int(number):
        run.step()
    run.finish()
    print(f"{run.interrupts} interrupts", dict(sorted(run.counts.items())))


if __name__ == "__main__":
    main(*sys.argv[1:5])
