"""What is asked about all of a nexus, beside SPARQL by hand; and changes after large commits.

On 10 000 propositions and on more, with the data of ``values``.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kiprdf
from tests.benchmarks import values
from tests.benchmarks.measure import Ratio, side_by_side
from tests.benchmarks.shapes import PREFIXES

ROUNDS = 5
LINES = {
    "COUNT of all links": (
        "FIND(COUNT(?l)) WHERE { ?l (?s, ?p, ?o) }",
        "SELECT (COUNT(?l) AS ?v) { ?l rdf:reifies ?fact }",
    ),
    "COUNT of a type": (
        'FIND(COUNT(?t)) WHERE { ?t {type: "Task"} }',
        "SELECT (COUNT(?t) AS ?v) { ?t a type:Task }",
    ),
    "DESCRIBE PRIMER": (
        "DESCRIBE PRIMER",
        "SELECT ?type (COUNT(?x) AS ?v) { ?x a ?type } GROUP BY ?type",
    ),
    "DESCRIBE CONCEPT TYPE": (
        'DESCRIBE CONCEPT TYPE "Task"',
        "SELECT ?p (COUNT(?o) AS ?v) { ?t a type:Task ; ?p ?o } GROUP BY ?p",
    ),
    "DESCRIBE PROPOSITION TYPE": (
        'DESCRIBE PROPOSITION TYPE "assigned_to"',
        "SELECT (COUNT(?p) AS ?v) { ?t p:assigned_to ?p }",
    ),
    "info": (None, "SELECT (COUNT(?x) AS ?v) { ?x a ?type }"),
    "EXPORT LIMIT 1": (
        'EXPORT ?t WHERE { ?t {type: "Task"} } LIMIT 1',
        "SELECT ?t ?p ?o { { SELECT ?t { ?t a type:Task } ORDER BY ?t LIMIT 1 } ?t ?p ?o }",
    ),
    "EXPORT of links LIMIT 1": (
        'EXPORT ?l WHERE { ?l (?t, "assigned_to", ?p) } LIMIT 1',
        "SELECT ?l ?p ?o { { SELECT ?l { ?t p:assigned_to ?q . "
        "?l rdf:reifies <<( ?t p:assigned_to ?q )>> } ORDER BY ?t ?q LIMIT 1 } ?l ?p ?o }",
    ),
}
"""KIP, or ``info()``, and the SPARQL for what it says of all elements."""
LARGE, SMALL = 10_000, 100
"""The elements of a large and of a small commit."""


def measured(propositions: int) -> Iterator[Ratio]:
    """Every line on 10 000 propositions and on as many as are asked for."""
    for number in sorted({values.SMALL, propositions}):
        nexus = values.nexus_of(number)
        for name in LINES:
            yield beside(name, number, nexus)
    yield from after_large_commits()


def beside(name: str, propositions: int, nexus: kiprdf.Nexus) -> Ratio:
    """A line beside SPARQL by hand."""
    command, sparql = LINES[name]
    engine = nexus.store.engine

    def ours(_: int) -> Any:
        return nexus.info() if command is None else nexus.execute(command)

    def by_hand(_: int) -> Any:
        return list(engine.query(PREFIXES + sparql))

    return side_by_side(
        f"{name}, {propositions:,}", ours, by_hand, target=values.TARGET, rounds=ROUNDS
    )


def after_large_commits() -> Iterator[Ratio]:
    """The first answer after opening a folder with three large commits, beside small ones.

    Where the answer has the last commit, they should be equal; the history of an element needs an
    index, which reads all commits once.
    """
    asked: dict[str, Callable[[kiprdf.Nexus, int], Any]] = {
        "changes": lambda nexus, last: nexus.changes(last - 1),
        "changes of a type": lambda nexus, last: nexus.changes(last - 1, type="Task"),
        "history of an element": lambda nexus, _: nexus.history("C:Task/last"),
    }
    seconds: dict[tuple[int, str], float] = {}
    for elements in (LARGE, SMALL):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "nexus"
            last = _three_commits(path, elements)
            for name, ask in asked.items():
                # The index is written by the last one.
                each = [
                    _first_answer(path, last, ask) for _ in range(1 if "history" in name else 5)
                ]
                seconds[elements, name] = min(each)
    for name in asked:
        pair = seconds[LARGE, name], seconds[SMALL, name]
        yield Ratio(f"{name}, large commits", *pair, values.TARGET)


def _first_answer(path: Path, last: int, ask: Callable[[kiprdf.Nexus, int], Any]) -> float:
    with kiprdf.Nexus.open(path) as nexus:
        nexus.execute('FIND(?t) WHERE { ?t {type: "Task", name: "last"} }')
        started = time.process_time()
        ask(nexus, last)
        return time.process_time() - started


def _three_commits(path: Path, elements: int) -> int:
    with kiprdf.Nexus.open(path) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Task"} } }')
        for commit in range(3):
            blocks = (
                f'CONCEPT {{ {{type: "Task", name: "t{commit}_{number}"}} '
                f'SET ATTRIBUTES {{n: {number}, code: "c{number}"}} }}'
                for number in range(elements)
            )
            nexus.apply_capsule("UPSERT {" + "\n".join(blocks) + "}")
        nexus.execute('UPSERT { CONCEPT { {type: "Task", name: "last"} } }')
        return int(nexus.info()["commit"])
