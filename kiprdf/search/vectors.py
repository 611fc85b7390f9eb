"""The vectors of texts, computed by an embedder once and stored by the digest of the text.

A vector depends on its text and the embedder only. So it outlives the text index, and a text that
changes while it is embedded does no harm.
"""

from __future__ import annotations

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiprdf import budget
from kiprdf.budget import Spending
from kiprdf.derived_file import DerivedFile
from kiprdf.search.embedders import AdditiveEmbedder, Embedder, EmbeddingError
from kiprdf.search.rows import digest

Vector = NDArray[np.float32]
Words = tuple[tuple[str, float], ...]
"""The words of a term, with their weights."""

# Increased with every change of the schema below.
VECTORS_VERSION = "1"
DIMENSIONS = 65_536
"""The most numbers that a vector may have."""
FIRST_BATCH, BATCH = 32, 256
"""Texts that are embedded and stored at once: at first, and at most."""
FAST_S, SLOW_S = 0.5, 2.0
"""The next batch is twice as large after a fast one, and half as large after a slow one: what is
interrupted loses little."""
TERMS = 64
"""Terms whose vectors are cached."""
SAMPLE = "The quick brown fox jumps over the lazy dog: 0123456789."
"""The text whose vector identifies an embedder."""
SAME = 0.1
"""The distance below which two vectors of the sample are of one embedder; a service does not return
the same vector to the last bit."""

_DIGESTS = "SELECT digest FROM vector"
_VECTOR_OF = "SELECT digest, vector FROM vector WHERE digest = ?"
_log = logging.getLogger(__name__)
_embedding: ContextVar[tuple[Vectors, ...]] = ContextVar("kiprdf_embedding", default=())
"""The vectors whose embedders are running, one called by the other."""


class Vectors:
    """The unit vectors of one embedder, stored in the file `path`; with None nothing is stored.

    A fault of the file is logged and costs only new calls of the embedder. With `read_only` the
    file belongs to another process: it is read once and never written. An embedder that `yields`
    does not replace the vectors of another one. One thread at a time calls the embedder; `term` and
    `cached_term` may be called by any thread, the others by one.
    """

    def __init__(
        self,
        embedder: Embedder,
        path: Path | None,
        read_only: bool = False,
        *,
        yields: bool = False,
    ) -> None:
        self._embedder = embedder
        self.is_additive = isinstance(embedder, AdditiveEmbedder)
        """Whether the vector of a text is the sum of its words' vectors."""
        self._embed_words = getattr(embedder, "embed_words", None)
        self._path = path
        self._read_only = read_only
        self._yields = yields
        self._file: DerivedFile | None = None
        self._begun = False
        self._dimension = 0  # until the embedder has been called
        self._calling = threading.Lock()
        self._terms: dict[str, tuple[Words, Vector]] = {}

    def knows(self, word: str) -> bool:
        """Whether a word has a meaning for the embedder, as far as it says so."""
        return getattr(self._embedder, "knows", lambda _: True)(word) is not False

    def term(self, text: str, words: Words = ()) -> Vector:
        """Return the vector of a term, or of its words with weights; it is cached and not stored.

        Words, of an additive embedder, are quick: this may be the main thread.
        """
        with self._calling if words else timed_lock(self._calling):
            weighted, vector = self._terms.get(text, (None, None))
            if vector is None or weighted != words:
                vector = self._sum(words) if words else self._embed([text])[0]
                if len(self._terms) == TERMS:
                    del self._terms[next(iter(self._terms))]
                self._terms[text] = words, vector
            return vector

    def cached_term(self, text: str) -> Vector | None:
        """Return the vector of a term if it is cached."""
        return self._terms.get(text, (None, None))[1]

    def _sum(self, words: Words) -> Vector:
        assert self._embed_words is not None
        matrix = self._call(self._embed_words, [word for word, _ in words])
        weights = np.array([[weight for _, weight in words]], dtype=np.float32)
        vector: Vector = _unit(weights @ matrix)[0]
        return vector

    def load(self, digests: Iterable[bytes]) -> dict[bytes, Vector]:
        """Return the stored vectors of some digests."""
        self._begin()
        rows: list[tuple[bytes, bytes]] = []

        def read(connection: sqlite3.Connection) -> None:
            for key in digests:
                rows.extend(connection.execute(_VECTOR_OF, (key,)))

        with self._open_file() as file:
            if file is not None:
                file.use(read)
        return self._valid(rows)

    def make(self, texts: Iterable[str]) -> Iterator[dict[bytes, Vector]]:
        """Embed texts batch by batch; yield each batch, by digest, once it is stored."""
        self._begin()
        remaining = iter(texts)
        size = FIRST_BATCH
        while batch := {digest(text): text for text in islice(remaining, size)}:
            with timed_lock(self._calling):
                began = time.monotonic()
                matrix = self._embed(list(batch.values()))
                seconds = time.monotonic() - began
            if seconds < FAST_S:
                size = min(BATCH, 2 * size)
            elif seconds > SLOW_S:
                size = max(1, size // 2)
            self._write(
                "INSERT OR REPLACE INTO vector VALUES (?, ?)",
                [(key, vector.tobytes()) for key, vector in zip(batch, matrix, strict=True)],
            )
            yield dict(zip(batch, matrix, strict=True))

    def forget(self, digests: Iterable[bytes]) -> None:
        """Delete the vectors of some texts."""
        self._write("DELETE FROM vector WHERE digest = ?", [(key,) for key in digests])

    def stored(self) -> set[bytes]:
        """Return the digests in the file."""
        self._begin()
        with self._open_file() as file:
            if file is not None:
                return file.use(lambda c: {key for (key,) in c.execute(_DIGESTS)})
        return set()

    def close(self) -> None:
        """Close the file; nothing is stored from now on."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        """Open the file, and empty it if its vectors are of another embedder."""
        if self._begun:
            return
        with timed_lock(self._calling):
            sample = self._embed([SAMPLE])[0]
        self._begun = True
        with self._open_file():
            if self._path is not None:
                self._file = DerivedFile(self._path, VECTORS_VERSION, _create, self._read_only)
        with self._open_file() as file:
            if file is None:
                return
            (blob,) = file.use(lambda c: c.execute("SELECT probe FROM about").fetchone())
            stored = self._valid([(b"", blob)]).get(b"")
            if stored is not None and np.linalg.norm(stored - sample) < SAME:
                return
            if self._read_only or (blob and self._yields):
                self.close()
                return
            file.change(lambda c: _empty(c, sample))

    def refuse_own_embedder(self) -> None:
        """Raise `EmbeddingError` within a call of the embedder, which would wait for itself."""
        if self in _embedding.get():
            raise EmbeddingError("It searches the nexus that waits for its vectors.")

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        return _unit(self._call(self._embedder, texts))

    def _call(self, embed: Callable[[list[str]], object], texts: list[str]) -> NDArray[np.float32]:
        budget.check()
        token = _embedding.set((*_embedding.get(), self))
        try:
            vectors = embed(texts)
            _check_shape(vectors, len(texts))
            array = np.asarray(vectors)
        except EmbeddingError:
            raise
        except Exception as fault:  # of foreign code
            raise EmbeddingError(f"{type(fault).__name__}: {fault}") from fault
        finally:
            _embedding.reset(token)
        matrix = _matrix(array, len(texts))
        dimension = matrix.shape[1]
        if self._dimension not in (0, dimension):
            message = f"The embedder returned {self._dimension} numbers before, now {dimension}."
            raise EmbeddingError(message)
        self._dimension = dimension
        return matrix

    def _valid(self, rows: list[tuple[bytes, bytes]]) -> dict[bytes, Vector]:
        """Return the stored vectors that are valid; SQLite does not notice a changed bit."""
        fitting = [(key, blob) for key, blob in rows if len(blob) == 4 * self._dimension]
        joined = np.frombuffer(b"".join(blob for _, blob in fitting), dtype=np.float32)
        matrix = joined.reshape(-1, self._dimension)
        finite = np.isfinite(np.abs(matrix).max(axis=1))
        return {key: matrix[row] for row, (key, _) in enumerate(fitting) if finite[row]}

    def _write(self, statement: str, values: list[tuple[bytes, ...]]) -> None:
        with self._open_file() as file:
            if file is not None and not self._read_only and values:
                file.change(lambda c: c.executemany(statement, values))

    @contextmanager
    def _open_file(self) -> Iterator[DerivedFile | None]:
        """The file, if there is one; after a fault it is not used any more."""
        try:
            yield self._file
        except sqlite3.Error as fault:
            absent = self._read_only and self._file is None
            _log.log(
                logging.DEBUG if absent else logging.WARNING,
                "Vectors are not stored, the file is unusable: %s",
                fault,
            )
            self.close()


def timed_lock(lock: threading.Lock) -> AbstractContextManager[Any]:
    """A lock that waits until the running request is out of time (KIP_4001)."""
    spending = budget.current()
    return lock if spending is None or spending.deadline == math.inf else _held(lock, spending)


@contextmanager
def _held(lock: threading.Lock, spending: Spending) -> Iterator[None]:
    """Only for threads that kiprdf starts: in the main thread, a signal handler between two lines
    could leave the lock locked."""
    if not lock.acquire(timeout=min(spending.seconds_left(), threading.TIMEOUT_MAX)):
        raise spending.expired()
    try:
        yield
    finally:
        lock.release()


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE about (version TEXT NOT NULL, probe BLOB NOT NULL)")
    connection.execute("CREATE TABLE vector (digest BLOB PRIMARY KEY, vector BLOB NOT NULL)")
    connection.execute("INSERT INTO about VALUES (?, x'')", (VECTORS_VERSION,))


def _empty(connection: sqlite3.Connection, sample: Vector) -> None:
    connection.execute("DELETE FROM vector")
    connection.execute("UPDATE about SET probe = ?", (sample.tobytes(),))


def _check_shape(vectors: object, count: int) -> None:
    """Raise `EmbeddingError` for lists that are not vectors, before numpy reads them.

    Numpy would read nested lists that share their halves forever, and could not be stopped.
    """
    if not isinstance(vectors, list | tuple):
        return
    if len(vectors) > max(count, BATCH):
        raise EmbeddingError(f"The embedder returned {len(vectors)} vectors for {count} texts.")
    for row in vectors:
        if isinstance(row, list | tuple):
            if len(row) > DIMENSIONS:
                raise EmbeddingError(f"A vector has more than {DIMENSIONS} numbers.")
            if any(issubclass(kind, list | tuple | dict) for kind in set(map(type, row))):
                raise EmbeddingError(
                    "The embedder returned lists in lists instead of vectors of one length."
                )


def _matrix(vectors: NDArray[Any], count: int) -> NDArray[np.float32]:
    """Return the result of an embedder as one finite vector for each text."""
    try:
        with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused
            matrix = np.asarray(vectors, dtype=np.float32)
    except (ArithmeticError, RuntimeError, TypeError, ValueError) as fault:
        raise EmbeddingError(f"The embedder returned no vectors of one length: {fault}") from fault
    if matrix.ndim != 2 or len(matrix) != count or not matrix.size:
        message = f"The embedder returned an array of {matrix.shape} for {count} texts."
        raise EmbeddingError(message)
    if not np.isfinite(matrix).all():
        raise EmbeddingError("The embedder returned a number that is not finite.")
    return matrix


def _unit(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows as unit vectors; a row of zeros has no direction and stays."""
    # Squares of float32 overflow in float32.
    wide = matrix.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
