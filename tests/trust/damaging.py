"""Builds a folder with every kind of file, and asks a damaged copy of it everything."""

from __future__ import annotations

import hashlib
import resource
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import kiprdf
import kiprdf.store.journal

NOTES = 60
TOPICS = 4
LONG = "Something long enough to fill the blocks of a table, number "
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Note"} }
  CONCEPT { {type: "$ConceptType", name: "Topic"} }
  CONCEPT { {type: "$PropositionType", name: "about"} }
}
"""
NOTE = """
UPSERT {
  CONCEPT ?topic { {type: "Topic", name: :topic} }
  CONCEPT ?note { {type: "Note", name: :name} SET ATTRIBUTES {n: :n, text: :text, tags: [:topic]} }
  PROPOSITION { (?note, "about", ?topic) }
} WITH METADATA {source: "a test"}
"""
QUESTIONS = {
    "numbers": 'FIND(?n.attributes.n) WHERE { ?n {type: "Note"} } ORDER BY ?n.attributes.n',
    "counts": 'FIND(?t.name, COUNT(?n)) WHERE { (?n, "about", ?t) } ORDER BY ?t.name',
    "without": """
        FIND(?n.name) WHERE { ?n {type: "Note"} NOT { (?n, "about", {type: "Topic", name: "t1"}) } }
        ORDER BY ?n.name""",
    "texts": """
        FIND(?n.name) WHERE { ?n {type: "Note"} FILTER(CONTAINS(?n.attributes.text, "r 7")) }
        ORDER BY ?n.name""",
    "named": 'FIND(?n.attributes, ?n.metadata.source) WHERE { ?n {type: "Note", name: "note9"} }',
    "search": 'SEARCH CONCEPT "note7" LIMIT 3',
    "meaning": 'SEARCH CONCEPT "number 11" MODE "semantic" LIMIT 3',
    "types": "DESCRIBE CONCEPT TYPES",
}
COUNTED = ("base_iri", "commit", "concepts", "propositions", "concept_types")
"""The keys of ``info`` that no loss of a history or of vectors changes."""
Answers = dict[str, Any]


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of the texts, which depend on nothing else."""
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return [[float(byte) + 1 for byte in digest[:16]] for digest in digests]


def write(nexus: kiprdf.Nexus, number: int) -> None:
    topic = f"t{number % TOPICS}"
    values = {"name": f"note{number}", "n": number, "text": LONG + str(number), "topic": topic}
    nexus.execute(NOTE, **values)


def build(folder: str) -> None:
    """A closed nexus that was opened three times, so that it has several files of each kind."""
    kiprdf.store.journal.SEALED_BYTES = 15_000
    for part in range(3):
        with kiprdf.Nexus.open(folder, embedder=embed, genesis=False) as nexus:
            if part == 0:
                nexus.execute(SCHEMA)
            for number in range(NOTES * part // 3, NOTES * (part + 1) // 3):
                write(nexus, number)
            nexus.execute('UPDATE ?n SET ATTRIBUTES {n: :n} WHERE { ?n {name: "note3"} }', n=part)
            nexus.execute('UPDATE ?n SET ATTRIBUTES {n: 3} WHERE { ?n {name: "note3"} }')
            nexus.embed()
            nexus.history("C:Note/note3")


def _answer(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (kiprdf.KipError, kiprdf.StoreError) as error:
        return str(error)


def ask(nexus: kiprdf.Nexus) -> Answers:
    """What a nexus answers, or the sentence of an error."""
    answers = {
        name: _answer(lambda text=text: nexus.execute(text))  # type: ignore[misc]
        for name, text in QUESTIONS.items()
    }
    entries = _answer(lambda: nexus.history("C:Note/note3")["entries"])
    if isinstance(entries, list):
        shown = ("seq", "change", "keys", "statement")
        entries = [[entry[key] for key in shown] for entry in entries]
    answers["history"] = entries
    answers["changes"] = _answer(
        lambda: [commit["seq"] for commit in nexus.changes(20, until=40, limit=100)["commits"]]
    )

    def earlier() -> Any:
        with nexus.at(40) as past:
            return past.execute(QUESTIONS["numbers"])

    answers["at"] = _answer(earlier)
    answers["info"] = _answer(lambda: {key: nexus.info()[key] for key in COUNTED})
    answers["snapshot"] = _answer(lambda: [hashlib.sha256(nexus.snapshot().encode()).hexdigest()])
    answers["sparql"] = _answer(
        lambda: len(nexus.sparql("SELECT ?s { ?s ?p ?o } LIMIT 9").tuples())
    )  # type: ignore[union-attr]
    return answers


def derived_answers(nexus: kiprdf.Nexus) -> Answers:
    """What is answered from files of which SQLite, or nobody, notices a flipped byte."""
    answers: Answers = {}
    for term in ("note7", "number 11", "t1", "fill the blocks", "about"):
        for mode in ("keyword", "semantic", "hybrid"):
            command = f'SEARCH CONCEPT :term MODE "{mode}" LIMIT 9'
            answers[f"{mode} {term}"] = _answer(
                lambda term=term, command=command: nexus.execute(command, term=term)  # type: ignore[misc]
            )
    for name in ("note3", "note9", "note41"):
        answers[f"history {name}"] = _answer(
            lambda name=name: nexus.history(f"C:Note/{name}")["entries"]  # type: ignore[misc]
        )
    answers["changes"] = _answer(
        lambda: [commit["seq"] for commit in nexus.changes(0, source="a test")["commits"]]
    )
    return answers


def visit(folder: str, read_only: bool) -> Answers:
    """Open, ask, check; write, and ask again. Also the memory that all of it took.

    What is opened for writing is repaired.
    """
    _limit_memory()
    try:
        answers = _visit(folder, read_only)
    except kiprdf.StoreError as refused:
        answers = {"refused": str(refused)}
    answers["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return answers


def _visit(folder: str, read_only: bool) -> Answers:
    # There is no writer, for which a reader of damaged files would wait.
    with patch("time.sleep") if read_only else nullcontext():
        nexus = kiprdf.Nexus.open(folder, read_only=read_only, embedder=embed, genesis=False)
    answers: Answers = {"asked": ask(nexus)}
    answers["check"] = _answer(lambda: nexus.check(repair=not read_only))
    answers["backup"] = _answer(lambda: nexus.backup(folder + ".backup"))
    if read_only:
        nexus.close()
    else:
        answers["write"] = _answer(lambda: write(nexus, NOTES))
        answers["asked again"] = ask(nexus)
        answers["close"] = _answer(nexus.close)
        answers["again"] = _answer(lambda: _reopened(folder))
    if answers["backup"] is None:
        answers["copy"] = _answer(lambda: _reopened(folder + ".backup"))
    shutil.rmtree(folder + ".backup", ignore_errors=True)
    return answers


def _reopened(folder: str) -> Any:
    with kiprdf.Nexus.open(folder, read_only=True, genesis=False) as nexus:
        return nexus.execute(QUESTIONS["numbers"])


def _limit_memory() -> None:
    """So that a query without end harms no other program."""
    resource.setrlimit(resource.RLIMIT_DATA, (3 * 1024**3, 3 * 1024**3))
