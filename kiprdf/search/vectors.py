"""The vectors of texts: made by an embedder once, kept in a file by the digest of the text.

A vector depends on its text and the embedder only. So it outlives the text index, a row that comes
back unchanged finds it again, and a text that changes while it is embedded does no harm.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kiprdf import budget
from kiprdf.search.embedders import Embedder, EmbeddingError
from kiprdf.search.files import DerivedFile
from kiprdf.search.rows import digest

Vector = NDArray[np.float32]

# Moves with every change of the schema below.
VECTORS_VERSION = "1"
DIMENSIONS = 65_536
"""How many numbers a vector has at most."""
BATCH = 256
"""Texts that are embedded, and kept, at once."""
PROBE = "The quick brown fox jumps over the lazy dog: 0123456789."
"""The text whose vector tells one embedder from another."""
SAME = 0.1
"""Two unit vectors of the probe that are nearer are of one embedder: services compute in floating
point and do not repeat themselves to the bit."""

_DIGESTS = "SELECT digest FROM vector"
_VECTOR_OF = "SELECT digest, vector FROM vector WHERE digest = ?"
_log = logging.getLogger(__name__)
_embedding: ContextVar[tuple[Vectors, ...]] = ContextVar("kiprdf_embedding", default=())
"""Whose embedders run now, one below the other."""


class Vectors:
    """The unit vectors of one embedder, kept in the file `path`; with None nothing is kept.

    A fault of the file is logged and costs no more than new calls of the embedder. With
    `read_only` the file is another's: it is read once and never written.
    """

    def __init__(self, embedder: Embedder, path: Path | None, read_only: bool = False) -> None:
        self._embedder = embedder
        self._path = path
        self._read_only = read_only
        self._file: DerivedFile | None = None
        self._begun = False
        self._dimension = 0  # until the embedder has been called

    def of(self, text: str) -> Vector:
        """Return the vector of a text that is not kept: the term of a search."""
        vector: Vector = self._embed([text])[0]
        return vector

    def load(self, digests: Iterable[bytes]) -> dict[bytes, Vector]:
        """Return what is kept of some digests."""
        self._begin()
        found: list[tuple[bytes, bytes]] = []

        def read(connection: sqlite3.Connection) -> None:
            for key in digests:
                found.extend(connection.execute(_VECTOR_OF, (key,)))

        with self._kept() as file:
            if file is not None:
                file.use(read)
        return self._sound(found)

    def make(self, texts: Iterable[str]) -> Iterator[tuple[bytes, Vector]]:
        """Embed texts, taken batch by batch; yield digests and vectors, which are kept by then."""
        self._begin()
        remaining = iter(texts)
        while batch := {digest(text): text for text in islice(remaining, BATCH)}:
            made = list(zip(batch, self._embed(list(batch.values())), strict=True))
            self._write(
                "INSERT OR REPLACE INTO vector VALUES (?, ?)",
                [(key, vector.tobytes()) for key, vector in made],
            )
            yield from made

    def forget(self, digests: Iterable[bytes]) -> None:
        """Drop the vectors of texts that are no more."""
        self._write("DELETE FROM vector WHERE digest = ?", [(key,) for key in digests])

    def kept(self) -> set[bytes]:
        """Return the digests in the file."""
        self._begin()
        with self._kept() as file:
            if file is not None:
                return file.use(lambda c: {key for (key,) in c.execute(_DIGESTS)})
        return set()

    def close(self) -> None:
        """Close the file; nothing is kept from here on."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        """Open the file, and empty it if another embedder filled it."""
        if self._begun:
            return
        probe = self._embed([PROBE])[0]
        self._begun = True
        with self._kept():
            if self._path is not None:
                self._file = DerivedFile(self._path, VECTORS_VERSION, _create, self._read_only)
        with self._kept() as file:
            if file is None:
                return
            (blob,) = file.use(lambda c: c.execute("SELECT probe FROM about").fetchone())
            known = self._sound([(b"", blob)]).get(b"")
            if known is not None and np.linalg.norm(known - probe) < SAME:
                return
            if self._read_only:
                self.close()
                return
            file.change(lambda c: _empty(c, probe))

    def refuse_own_embedder(self) -> None:
        """Raise `EmbeddingError` below a call of the embedder, which waits for its answer."""
        if self in _embedding.get():
            raise EmbeddingError("It searches the nexus that waits for its vectors.")

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        budget.check()
        token = _embedding.set((*_embedding.get(), self))
        try:
            made = self._embedder(texts)
        finally:
            _embedding.reset(token)
        matrix = _unit(_matrix(made, len(texts)))
        dimension = matrix.shape[1]
        if self._dimension not in (0, dimension):
            message = f"The embedder gave {self._dimension} numbers a text before, now {dimension}."
            raise EmbeddingError(message)
        self._dimension = dimension
        return matrix

    def _sound(self, found: list[tuple[bytes, bytes]]) -> dict[bytes, Vector]:
        """Return the kept vectors that can be the embedder's; SQLite does not see a changed bit."""
        fitting = [(key, blob) for key, blob in found if len(blob) == 4 * self._dimension]
        joined = np.frombuffer(b"".join(blob for _, blob in fitting), dtype=np.float32)
        matrix = joined.reshape(-1, self._dimension)
        finite = np.isfinite(np.abs(matrix).max(axis=1))
        return {key: matrix[row] for row, (key, _) in enumerate(fitting) if finite[row]}

    def _write(self, statement: str, values: list[tuple[bytes, ...]]) -> None:
        with self._kept() as file:
            if file is not None and not self._read_only and values:
                file.change(lambda c: c.executemany(statement, values))

    @contextmanager
    def _kept(self) -> Iterator[DerivedFile | None]:
        """Lend the file, if there is one; with a fault, do without it from here on."""
        try:
            yield self._file
        except sqlite3.Error as fault:
            absent = self._read_only and self._file is None
            _log.log(
                logging.DEBUG if absent else logging.WARNING,
                "Vectors are not kept, the file is unusable: %s",
                fault,
            )
            self.close()


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE about (version TEXT NOT NULL, probe BLOB NOT NULL)")
    connection.execute("CREATE TABLE vector (digest BLOB PRIMARY KEY, vector BLOB NOT NULL)")
    connection.execute("INSERT INTO about VALUES (?, x'')", (VECTORS_VERSION,))


def _empty(connection: sqlite3.Connection, probe: Vector) -> None:
    connection.execute("DELETE FROM vector")
    connection.execute("UPDATE about SET probe = ?", (probe.tobytes(),))


def check_shape(vectors: object, count: int) -> None:
    """Raise `EmbeddingError` for lists that are no vectors, before numpy looks through them.

    Lists in lists that share their halves would be walked for ever, and nothing could stop it.
    """
    if not isinstance(vectors, list | tuple):
        return
    if len(vectors) > max(count, BATCH):
        raise EmbeddingError(f"The embedder gave {len(vectors)} vectors for {count} texts.")
    for row in vectors:
        if isinstance(row, list | tuple):
            if len(row) > DIMENSIONS:
                raise EmbeddingError(f"A vector has more than {DIMENSIONS} numbers.")
            if any(issubclass(kind, list | tuple | dict) for kind in set(map(type, row))):
                raise EmbeddingError(
                    "The embedder gave no vectors of one length, but lists in lists."
                )


def _matrix(vectors: object, count: int) -> NDArray[np.float32]:
    """Return an embedder's answer as one finite vector a text."""
    check_shape(vectors, count)
    try:
        with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused
            matrix = np.asarray(vectors, dtype=np.float32)
    except (ArithmeticError, RuntimeError, TypeError, ValueError) as fault:
        raise EmbeddingError(f"The embedder gave no vectors of one length: {fault}") from fault
    if matrix.ndim != 2 or len(matrix) != count or not matrix.size:
        message = f"The embedder gave an array of {matrix.shape} for {count} texts."
        raise EmbeddingError(message)
    if not np.isfinite(matrix).all():
        raise EmbeddingError("The embedder gave a number that is not finite.")
    return matrix


def _unit(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the directions of the rows; a row of zeros has none and stays."""
    # Squares of float32 overflow in float32.
    wide = matrix.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
