"""The rows SEARCH ranks by their meaning: cosines of vectors, exact, in memory."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiprdf.budget import Spending, current
from kiprdf.search.embedders import Embedder
from kiprdf.search.index import Entries, TextIndex
from kiprdf.search.rows import KINDS, Hit, IndexRow, Kind, clean, digest, embedded_text
from kiprdf.search.vectors import Vector, Vectors

RowsOf = Callable[[Iterable[str]], Iterable[IndexRow]]
"""Makes the rows of some keys again; the index keeps no texts."""
TERMS = 64
"""How many terms are remembered with their vectors."""
DIGITS = 6
"""Of a cosine; the digits behind them depend on the machine, and would decide ties."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The vectors of every row of a kind, as of one commit."""

    commit: int
    keys: tuple[str, ...]  # in their order
    types: tuple[str, ...]
    matrix: NDArray[np.float32]  # one row a text
    texts: NDArray[np.intp]  # which text a key has

    def rank(self, vector: Vector, type: str | None, limit: int) -> list[Hit]:
        """Return the keys with the largest positive cosines, ties by key."""
        cosines = np.round((self.matrix @ vector)[self.texts].astype(np.float64), DIGITS)
        if type is not None:
            cosines[[found != type for found in self.types]] = 0
        order = np.argsort(-cosines, kind="stable")[:limit]
        return [Hit(self.keys[row], float(cosines[row])) for row in order if cosines[row] > 0]


class SemanticIndex:
    """Ranks the rows of a text index by meaning.

    Vectors are made when a search needs them, of what has changed since the last one. What an
    embedder has made is not lost when it then fails. Threads may share it; one at a time brings
    it up to date and calls the embedder.
    """

    def __init__(self, embedder: Embedder, path: Path | None, read_only: bool = False) -> None:
        """Keep vectors in the file `path`, or only in memory; see `Vectors`."""
        self._vectors = Vectors(embedder, path, read_only)
        self._lock = threading.Lock()
        self._known: dict[Kind, dict[bytes, Vector]] = {}
        self._tables: dict[Kind, _Table] = {}
        self._terms: dict[str, Vector] = {}
        self._compared = False  # the file with the index
        self._is_closed = False

    def search(
        self,
        index: TextIndex,
        rows_of: RowsOf,
        kind: Kind,
        term: str,
        type: str | None = None,
        limit: int = 100,
    ) -> list[Hit]:
        """Return the rows whose cosine with the term is positive, best first, ties by key.

        Raises `EmbeddingError`, whatever else the embedder raises, and `sqlite3.Error` for a
        fault of the text index.
        """
        self._vectors.refuse_own_embedder()
        with self._held():
            try:
                table = self._table(index, rows_of, kind)
                vector = self._term(clean(term)) if table.keys else None
            finally:
                if self._is_closed:
                    self._vectors.close()
        return [] if vector is None else table.rank(vector, type, limit)

    def _held(self) -> AbstractContextManager[Any]:
        """The lock, waited for as long as the running request has time."""
        spending = current()
        if spending is None or spending.deadline == math.inf:
            return self._lock
        return _Held(self._lock, spending)

    def _term(self, text: str) -> Vector:
        """The vector of a term; those of the last terms are known, since a search beside a writer
        is made again."""
        if text not in self._terms:
            if len(self._terms) == TERMS:
                del self._terms[next(iter(self._terms))]
            self._terms[text] = self._vectors.of(text)
        return self._terms[text]

    def close(self) -> None:
        """Close the file of vectors; a search that still waits for its embedder does so itself."""
        self._is_closed = True
        if not self._lock.locked():
            with self._lock:
                self._vectors.close()

    def _table(self, index: TextIndex, rows_of: RowsOf, kind: Kind) -> _Table:
        """Return the table of a kind as of the index's commit."""
        table = self._tables.get(kind)
        if table is not None and table.commit == index.commit:
            return table
        entries = index.entries(kind)
        known = self._known.setdefault(kind, {})
        self._make_missing(known, entries, rows_of)
        table = _table_of(entries, known)
        if entries.commit < 0 or len(table.keys) < len(entries.keys):
            # The index was emptied, or a row changed meanwhile: this is no state of a commit, and
            # what is known of it must not be dropped.
            return table
        self._drop_stale(index, known, entries)
        # Views of the new matrix, so that the old one can go.
        self._known[kind] = dict(zip(dict.fromkeys(entries.digests), table.matrix, strict=True))
        self._tables[kind] = table
        return table

    def _make_missing(self, known: dict[bytes, Vector], entries: Entries, rows_of: RowsOf) -> None:
        """Add the vectors that are not known: those that are kept, then those of new texts."""
        missing = {found for found in entries.digests if found not in known}
        if not missing:
            return
        known.update(self._vectors.load(missing))
        lacking = (
            key
            for key, found in zip(entries.keys, entries.digests, strict=True)
            if found in missing and found not in known
        )
        texts = map(embedded_text, rows_of(lacking))
        # Batch by batch, so that a text that two rows share is embedded once, and an embedder
        # that fails later takes nothing away.
        for made, vector in self._vectors.make(text for text in texts if digest(text) not in known):
            known[made] = vector

    def _drop_stale(self, index: TextIndex, known: dict[bytes, Vector], entries: Entries) -> None:
        """Forget the texts that no row has any more."""
        if self._compared:
            self._vectors.forget(known.keys() - set(entries.digests))
            return
        # The file may hold what is stale since before it was opened.
        every = [index.entries(kind) for kind in KINDS]
        if all(one.commit == entries.commit for one in every):
            live = {found for one in every for found in one.digests}
            self._vectors.forget(self._vectors.kept() - live)
            self._compared = True


class _Held:
    """A lock that is waited for no longer than a request has time (KIP_4001).

    For threads of our own: in the main thread, a signal between two lines could leave it locked.
    """

    def __init__(self, lock: threading.Lock, spending: Spending) -> None:
        self._lock = lock
        self._spending = spending

    def __enter__(self) -> None:
        seconds = min(self._spending.seconds_left(), threading.TIMEOUT_MAX)
        if not self._lock.acquire(timeout=seconds):
            raise self._spending.expired()

    def __exit__(self, *fault: object) -> None:
        self._lock.release()


def _table_of(entries: Entries, known: dict[bytes, Vector]) -> _Table:
    """Return the table of the rows whose vectors are known."""
    places: dict[bytes, int] = {}
    for found in entries.digests:
        if found in known:
            places.setdefault(found, len(places))
    rows = [
        (key, type, places[found])
        for key, type, found in zip(*entries[1:], strict=True)
        if found in places
    ]
    keys, types, texts = zip(*rows, strict=True) if rows else ((), (), ())
    matrix = np.stack([known[found] for found in places]) if rows else np.empty((0, 0), np.float32)
    return _Table(entries.commit, keys, types, matrix, np.array(texts, dtype=np.intp))
