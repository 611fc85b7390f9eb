"""SEARCH beside the bare query of SQLite, and keeping the index up beside the write."""

from __future__ import annotations

import sqlite3
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import kiprdf
from kiprdf.meta.search import all_elements, index_rows
from kiprdf.search import ranking
from kiprdf.search.segment import segment_term
from tests.benchmarks import data
from tests.benchmarks.measure import Ratio, side_by_side

TERMS = ("pain", "fever cough", "D4711", "relieves swelling")
LIMIT = 20
BATCHES = 7
BATCH = 400


def measured(propositions: int) -> Iterator[Ratio]:
    """As many concepts as propositions are asked for, each with a description, and no links."""
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(data.SCHEMA)
    for start in range(0, propositions, data.BLOCKS):
        nexus.apply_capsule(_concepts("D", range(start, min(start + data.BLOCKS, propositions))))
    nexus.build_index(propositions=False)
    columns = ", ".join(ranking.WEIGHTS)
    connection: sqlite3.Connection = nexus._engine.indexer.current()._file._connection
    connection.execute(f"CREATE VIRTUAL TABLE temp.words USING fts5({columns})")
    ids = dict(connection.execute("SELECT key, id FROM element"))
    store = nexus._engine.store
    connection.executemany(
        f"INSERT INTO words (rowid, {columns}) VALUES (?, ?, ?, ?, ?)",
        (
            (ids[row.key.encode()], row.name, " ".join(row.aliases), row.description, row.text)
            for row in index_rows(store, all_elements(store))
        ),
    )
    for term in TERMS:
        yield search(nexus, term)
    yield indexing(nexus)


def _concepts(letter: str, numbers: range) -> str:
    """A capsule of concepts, four facts each where there are symptoms."""
    words = data.WORDS
    blocks = (
        f'CONCEPT {{ {{type: "Drug", name: "{letter}{n}"}} SET ATTRIBUTES {{ risk: {n % 5}, '
        f'description: "Relieves {words[n % 8]} and {words[n * 7 // 8 % 8]}." }} }}'
        for n in numbers
    )
    return "UPSERT {\n" + "\n".join(blocks) + "\n}"


def search(nexus: kiprdf.Nexus, term: str) -> Ratio:
    """A term, beside the query that finds and ranks the same rows, and gives their texts."""
    connection: sqlite3.Connection = nexus._engine.indexer.current()._file._connection
    command = f'SEARCH CONCEPT "{term}" LIMIT {LIMIT}'
    tokens = segment_term(term)
    match = " OR ".join((*(f'"{token}"' for token in tokens), f'"{tokens[-1]}" *'))
    weights = ", ".join(map(str, ranking.WEIGHTS.values()))
    query = (
        "SELECT element.key, element.type, words.name, words.description, "
        f"bm25(words, {weights}) AS score FROM words "
        "JOIN element ON element.id = words.rowid WHERE words MATCH ? "
        "ORDER BY score, element.key LIMIT ?"
    )

    def ours(_: int) -> Any:
        return nexus.execute(command)

    def yardstick(_: int) -> list[tuple[Any, ...]]:
        rows = connection.execute(query, (match, LIMIT))
        return [(*(text.decode() for text in texts), -score) for *texts, score in rows]

    if len(ours(0)) != len(yardstick(0)):
        sys.exit(f"SEARCH {term}: {len(ours(0))} rows, and {len(yardstick(0))} by hand")
    return side_by_side(f"SEARCH {term}", ours, yardstick, target=3.0)


def indexing(nexus: kiprdf.Nexus) -> Ratio:
    """The rows of a batch of new concepts, made when the next SEARCH comes, beside the write."""
    wrote, indexed = [], []
    for number in range(BATCHES):
        text = _concepts("N", range(number * BATCH, (number + 1) * BATCH))
        started = time.perf_counter()
        nexus.apply_capsule(text)
        wrote.append(time.perf_counter() - started)
        started = time.perf_counter()
        caught_up = nexus._engine.indexer.current()
        indexed.append(time.perf_counter() - started)
        if caught_up.search("concept", f"N{number * BATCH}", limit=1) == []:
            sys.exit("indexing: what was written is not found")
    medians = statistics.median(indexed), statistics.median(wrote)
    return Ratio(f"indexing {BATCH} concepts", *medians, target=0.3)
