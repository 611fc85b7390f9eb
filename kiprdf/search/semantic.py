"""Ranks rows by meaning: cosines of vectors, exact, in memory."""

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
"""Reads the rows of some keys again; the index stores no texts."""
TERMS = 64
"""Terms whose vectors are cached."""
DIGITS = 6
"""Digits of a cosine; further digits depend on the machine, and would decide ties."""


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
            cosines[[other != type for other in self.types]] = 0
        order = np.argsort(-cosines, kind="stable")[:limit]
        return [Hit(self.keys[row], float(cosines[row])) for row in order if cosines[row] > 0]


class SemanticIndex:
    """Ranks the rows of a text index by meaning.

    A search embeds the texts that have changed since the last one. Vectors are not lost when the
    embedder fails later. Threads may share the index; one at a time updates it and calls the
    embedder.
    """

    def __init__(self, embedder: Embedder, path: Path | None, read_only: bool = False) -> None:
        """Store vectors in the file `path`, or only in memory; see `Vectors`."""
        self._vectors = Vectors(embedder, path, read_only)
        self._lock = threading.Lock()
        self._vectors_of: dict[Kind, dict[bytes, Vector]] = {}
        self._tables: dict[Kind, _Table] = {}
        self._terms: dict[str, Vector] = {}
        self._is_compared = False  # the file with the index
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

        Raises `EmbeddingError`, any other exception of the embedder, and `sqlite3.Error` for a
        fault of the text index.
        """
        self._vectors.refuse_own_embedder()
        with self._timed_lock():
            try:
                table = self._table(index, rows_of, kind)
                vector = self._term(clean(term)) if table.keys else None
            finally:
                if self._is_closed:
                    self._vectors.close()
        return [] if vector is None else table.rank(vector, type, limit)

    def _timed_lock(self) -> AbstractContextManager[Any]:
        """The lock, which waits until the running request is out of time."""
        spending = current()
        if spending is None or spending.deadline == math.inf:
            return self._lock
        return _TimedLock(self._lock, spending)

    def _term(self, text: str) -> Vector:
        """The vector of a term, cached since a search beside a writer is repeated."""
        if text not in self._terms:
            if len(self._terms) == TERMS:
                del self._terms[next(iter(self._terms))]
            self._terms[text] = self._vectors.of(text)
        return self._terms[text]

    def close(self) -> None:
        """Close the file of vectors; a search that waits for its embedder closes it later."""
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
        vectors = self._vectors_of.setdefault(kind, {})
        self._add_missing(vectors, entries, rows_of)
        table = _table_of(entries, vectors)
        if entries.commit < 0 or len(table.keys) < len(entries.keys):
            # The index was emptied, or a row changed meanwhile: this is not the state of a commit,
            # and its vectors must not be deleted.
            return table
        self._delete_unused(index, vectors, entries)
        # Views of the new matrix, so that the old one is freed.
        self._vectors_of[kind] = dict(
            zip(dict.fromkeys(entries.digests), table.matrix, strict=True)
        )
        self._tables[kind] = table
        return table

    def _add_missing(self, vectors: dict[bytes, Vector], entries: Entries, rows_of: RowsOf) -> None:
        """Add the missing vectors: stored ones, then those of new texts."""
        missing = set(entries.digests) - vectors.keys()
        if not missing:
            return
        vectors.update(self._vectors.load(missing))
        keys = (
            key
            for key, of_text in zip(entries.keys, entries.digests, strict=True)
            if of_text in missing and of_text not in vectors
        )
        texts = map(embedded_text, rows_of(keys))
        # Batch by batch, so that a text of two rows is embedded once, and nothing is lost when the
        # embedder fails later.
        new_texts = (text for text in texts if digest(text) not in vectors)
        for of_text, vector in self._vectors.make(new_texts):
            vectors[of_text] = vector

    def _delete_unused(
        self, index: TextIndex, vectors: dict[bytes, Vector], entries: Entries
    ) -> None:
        """Delete the vectors of texts that no row has any more."""
        if self._is_compared:
            self._vectors.forget(vectors.keys() - set(entries.digests))
            return
        # The file may contain such vectors from earlier processes.
        all_entries = [index.entries(kind) for kind in KINDS]
        if all(of_kind.commit == entries.commit for of_kind in all_entries):
            used = {of_text for of_kind in all_entries for of_text in of_kind.digests}
            self._vectors.forget(self._vectors.stored() - used)
            self._is_compared = True


class _TimedLock:
    """A lock that waits until a request is out of time (KIP_4001).

    Only for threads that kiprdf starts: in the main thread, a signal handler between two lines
    could leave it locked.
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


def _table_of(entries: Entries, vectors: dict[bytes, Vector]) -> _Table:
    """Return the table of the rows that have vectors."""
    numbers: dict[bytes, int] = {}
    for of_text in entries.digests:
        if of_text in vectors:
            numbers.setdefault(of_text, len(numbers))
    rows = [
        (key, type, numbers[of_text])
        for key, type, of_text in zip(*entries[1:], strict=True)
        if of_text in numbers
    ]
    keys, types, texts = zip(*rows, strict=True) if rows else ((), (), ())
    matrix = np.stack([vectors[key] for key in numbers]) if rows else np.empty((0, 0), np.float32)
    return _Table(entries.commit, keys, types, matrix, np.array(texts, dtype=np.intp))
