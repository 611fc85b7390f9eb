"""Ranks rows by meaning: cosines of vectors, exact, in memory."""

from __future__ import annotations

import re
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain, islice, starmap
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kiprdf.search.embedders import Embedder
from kiprdf.search.index import TextIndex
from kiprdf.search.ranking import order_ties
from kiprdf.search.rows import KINDS, Hit, IndexRow, Kind, clean, digest, embedded_text
from kiprdf.search.segment import segment_term
from kiprdf.search.vectors import Vector, Vectors, Words, timed_lock
from kiprdf.search.words import words_of

RowsOf = Callable[[Iterable[str]], Iterable[IndexRow]]
"""Reads the rows of some keys again; the index stores no texts."""
Advance = Callable[[int], None]
"""Called with the number of rows that have vectors now and had none before."""
_WORD = re.compile(r"\w+")
_IN_NO_ROW = "__"  # a token
MOST_WORDS = 64  # of a term, that are weighted
_SPARE = 64  # rows of a matrix, and an eighth of its rows, for texts that are written later
DIGITS = 6
"""Digits of a cosine; further digits depend on the machine, and would decide ties."""


class Ranking(NamedTuple):
    """The best keys among the ``embedded`` rows, of ``total`` rows that were to be searched."""

    cosines: dict[str, float]
    embedded: int
    total: int

    @property
    def hits(self) -> list[Hit]:
        """The cosines as hits."""
        return [*starmap(Hit, self.cosines.items())]


class _Row(NamedTuple):
    """The place of a row, its type, and the digest of its text."""

    place: int
    type: str
    text: bytes


class _Table:
    """The rows of a kind as of a commit, and the vectors of their texts.

    A row keeps its place. The place of a deleted row, and of a vector that no row needs, is used
    again; so a write costs as much as the rows that it changes. Threads may share a table.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.matrix: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self.numbers: dict[bytes, int] = {}
        """The row of the matrix that is the vector of a text."""
        self._used = 0
        self._holes: list[int] = []
        self.clear()

    def clear(self) -> None:
        """Forget the rows; the vectors are kept."""
        self.commit = -1
        self.rows: dict[str, _Row] = {}
        self.counts = Counter[str]()
        self._keys: list[str] = []
        self._types, self._vectors = array("q"), array("q")
        """By place: the number of a type, and that of a vector, or -1."""
        self._numbers_of_types: dict[str, int] = {}
        self._free: list[int] = []
        self._rows_of_texts = Counter[bytes]()
        self.unused = set(self.numbers)
        """Texts with a vector that no row has any more."""
        self.lacking: dict[bytes, set[str]] = {}
        """The rows of each text without a vector."""
        self._lacks = Counter[str]()
        """Their number, by type."""
        self.unread: set[bytes] = set()
        """The texts without a vector that were not looked for in the file."""

    def follow(self, index: TextIndex, kind: Kind) -> None:
        """Bring the rows to the last commit of the index."""
        with self._lock:
            if self.commit == index.commit >= 0:
                return
            commit, rows, are_all = index.changes(kind, self.commit)
            self.commit = -1  # an interrupt leaves a table whose rows are all read again
            if are_all:
                self.clear()
            for key, row in rows.items():
                self._put(key, row)
            self.commit = commit

    def _put(self, key: str, row: tuple[str, bytes] | None) -> None:
        """Replace a row, or delete it."""
        before = self.rows.pop(key, None)
        if before is not None:
            place, type, text = before
            self.counts[type] -= 1
            self._vectors[place] = -1
            self._free.append(place)
            if key in (keys := self.lacking.get(text, set())):
                keys.remove(key)
                self._lacks[type] -= 1
            self._rows_of_texts[text] -= 1
            if not self._rows_of_texts[text]:
                del self._rows_of_texts[text]
                self.lacking.pop(text, None)
                if text in self.numbers:
                    self.unused.add(text)
        if row is None:
            return
        if not self._free:
            self._free.append(len(self._keys))
            self._keys.append(key)
            self._types.append(-1)
            self._vectors.append(-1)
        (type, text), place = row, self._free.pop()
        self.rows[key] = _Row(place, type, text)
        self.counts[type] += 1
        self._rows_of_texts[text] += 1
        self.unused.discard(text)
        self._keys[place] = key
        self._types[place] = self._numbers_of_types.setdefault(type, len(self._numbers_of_types))
        self._vectors[place] = self.numbers.get(text, -1)
        if text not in self.numbers:
            self.lacking.setdefault(text, set()).add(key)
            self._lacks[type] += 1
            self.unread.add(text)

    def add(self, vectors: Mapping[bytes, Vector]) -> None:
        """Add the vectors of some texts."""
        new = [text for text in vectors if text not in self.numbers]
        with self._lock:
            most = self._used + len(new)
            if new and most > len(self.matrix):
                size = most + most // 8 + _SPARE, len(vectors[new[0]])
                matrix = np.zeros(size, np.float32)
                matrix[: len(self.matrix), : self.matrix.shape[1]] = self.matrix
                self.matrix = matrix
            for text in new:
                if not self._holes:
                    self._holes.append(self._used)
                    self._used += 1
                number = self._holes.pop()
                self.matrix[number] = vectors[text]
                self.numbers[text] = number
                for key in self.lacking.pop(text, ()):
                    place, type, _ = self.rows[key]
                    self._vectors[place] = number
                    self._lacks[type] -= 1
                if text not in self._rows_of_texts:
                    self.unused.add(text)

    def drop_unused(self) -> set[bytes]:
        """Drop the vectors of texts that no row has any more; these texts."""
        with self._lock:
            unused, self.unused = self.unused, set()
            self._holes += map(self.numbers.pop, unused)
            return unused

    def count(self, type: str | None) -> int:
        """The number of rows of a type."""
        return len(self.rows) if type is None else self.counts[type]

    def lacks(self, type: str | None) -> int:
        """The number of rows of a type that have no vector."""
        with self._lock:
            return sum(self._lacks.values()) if type is None else self._lacks[type]

    def without_vectors(self, type: str | None) -> dict[str, bytes]:
        """The rows of a type that have no vector, with their texts."""
        with self._lock:
            rows = ((key, text) for text, keys in self.lacking.items() for key in keys)
            return {key: text for key, text in rows if type in (None, self.rows[key].type)}

    def rank(
        self, vector: Vector, type: str | None, limit: int, least: float, others: Collection[str]
    ) -> Ranking:
        """The keys with the largest positive cosines, ties by key."""
        with self._lock:
            # Not the product `@`, whose threads wait for each other on a busy machine.
            products = np.zeros(self._used + 1)
            if self._used:
                products[:-1] = np.vecdot(self.matrix[: self._used], vector)
            cosines = np.round(products, DIGITS)[np.frombuffer(self._vectors, np.int64)]
            if type is not None:
                number = self._numbers_of_types.get(type, -1)
                cosines[np.frombuffer(self._types, np.int64) != number] = 0
            last = np.partition(cosines, -limit)[-limit] if 0 < limit < len(cosines) else 0
            is_best = cosines >= max(last, 10**-DIGITS / 2)
            if np.count_nonzero(is_best) <= limit:  # else keys decide which are the last
                is_kept = cosines >= least
                rows = self.rows
                is_kept[[rows[key].place for key in others if key in rows]] = True
                is_best &= is_kept
            places = np.flatnonzero(is_best)
            places = places[np.argsort(-cosines[places])]
            keys, values = [*map(self._keys.__getitem__, places.tolist())], cosines[places].tolist()
            order_ties(keys, values)
            best = zip(keys, values, strict=True)
            total = self.count(type)
            embedded = total - self.lacks(type)
            return Ranking(dict(islice(best, limit)), embedded, total)


class SemanticIndex:
    """Ranks the rows of a text index by meaning.

    `prepare` embeds the texts that have changed since the last time, batch by batch, and may end
    at any time: with the budget, by an interrupt, or with the process. The next one continues.
    `rank` uses what there is. Threads may share the index; one at a time builds it.
    """

    def __init__(
        self,
        embedder: Embedder,
        path: Path | None,
        read_only: bool = False,
        *,
        yields: bool = False,
    ) -> None:
        """Store vectors in the file `path`, or only in memory; see `Vectors`."""
        self._vectors = Vectors(embedder, path, read_only, yields=yields)
        self._building = threading.Lock()
        self._tables: dict[Kind, _Table] = {kind: _Table() for kind in KINDS}
        self._is_compared = False  # the file with the index
        self._is_closed = False

    def prepare(
        self, index: TextIndex, rows_of: RowsOf, kind: Kind, term: str, type: str | None = None
    ) -> None:
        """Embed a term, and then the rows of a kind and type that have no vectors.

        Raises `EmbeddingError`, KIP_4001 when the time is over,
        and `sqlite3.Error` for a fault of the text index.
        """
        self._vectors.refuse_own_embedder()
        if self._current(index, kind).count(type):
            self._vectors.term(clean(term), self._words(index, kind, term))
            if not self._is_finished(index, kind, type):
                self.build(index, rows_of, kind, type)

    def is_ready(self, index: TextIndex, kind: Kind, term: str, type: str | None = None) -> bool:
        """Whether `prepare` needs no other thread: it embeds at most the words of the term."""
        return self._is_finished(index, kind, type) and (
            self._vectors.is_additive or self._vectors.cached_term(clean(term)) is not None
        )

    def _is_finished(self, index: TextIndex, kind: Kind, type: str | None) -> bool:
        table = self._current(index, kind)
        is_clean = self._is_compared and not table.unused
        return not table.lacks(type) and (is_clean or bool(table.lacking))

    def _current(self, index: TextIndex, kind: Kind) -> _Table:
        """The table of a kind as of the last commit."""
        table = self._tables[kind]
        table.follow(index, kind)
        return table

    def _words(self, index: TextIndex, kind: Kind, term: str) -> Words:
        """The words of a term that count, weighted by their rarity (docs/decisions/135).

        Empty for an embedder that is not additive.
        """
        if not self._vectors.is_additive:
            return ()
        words = dict.fromkeys(_WORD.findall(clean(term)))
        tokens = {word: segment_term(word) for word in islice(words, MOST_WORDS)}
        counting = {word.token for word in words_of(clean(term), ())}
        counting.intersection_update(chain(*tokens.values()))
        rarity = index.rarity(kind, {_IN_NO_ROW, *counting})
        weights = {
            word: max((rarity.get(token, 0.0) for token in parts), default=0.0)
            for word, parts in tokens.items()
        }
        rarest = rarity[_IN_NO_ROW]
        return tuple(
            (word, weight if weight < rarest or self._vectors.knows(word) else 0.0)
            for word, weight in weights.items()
            if weight
        )

    def build(
        self,
        index: TextIndex,
        rows_of: RowsOf,
        kind: Kind,
        type: str | None = None,
        advance: Advance = lambda number: None,
    ) -> None:
        """Embed the rows of a kind and type that have no vectors; `advance` counts all rows."""
        with timed_lock(self._building):
            try:
                table = self._current(index, kind)
                if table.unread:
                    unread, table.unread = table.unread, set()
                    table.add(self._vectors.load(unread))
                missing = table.without_vectors(type)
                advance(table.count(type) - len(missing))
                rows_of_text = Counter(missing.values())
                # Batch by batch, so that a text of two rows is embedded once, and nothing is lost
                # when the embedder fails later.
                texts = map(embedded_text, rows_of(sorted(missing)))
                new_texts = (text for text in texts if digest(text) not in table.numbers)
                for batch in self._vectors.make(new_texts) if missing else ():
                    table.add(batch)
                    advance(sum(rows_of_text[of_text] for of_text in batch))
                self._drop_unused(index, table)
            finally:
                if self._is_closed:
                    self._vectors.close()

    def _drop_unused(self, index: TextIndex, table: _Table) -> None:
        """Once every row has a vector, delete those of texts that no row has any more."""
        # An index that was emptied, or is unfinished, is of no commit.
        if table.commit < 0 or table.lacking:
            return
        unused = table.drop_unused()
        if not self._is_compared:
            # The file may contain such vectors from earlier processes.
            changes = [index.changes(kind) for kind in KINDS]
            if any(of_kind.commit != table.commit for of_kind in changes):
                return
            used = {row[1] for of_kind in changes for row in of_kind.rows.values() if row}
            unused = self._vectors.stored() - used
            self._is_compared = True
        self._vectors.forget(unused)

    def rank(
        self,
        index: TextIndex,
        kind: Kind,
        term: str,
        type: str | None = None,
        limit: int = 100,
        least: float = 0.0,
        others: Collection[str] = (),
    ) -> Ranking | None:
        """Return the rows whose cosine with the term is positive, best first, ties by key.

        Those of less than the `least` may be left out, but for the `others`.
        None if the term has no vector, because `prepare` ended too early.
        """
        table = self._current(index, kind)
        if not table.count(type):
            return Ranking({}, 0, 0)
        vector = self._vectors.cached_term(clean(term))
        if vector is None:
            return None
        return table.rank(vector, type, limit, least, others)

    def embedded(self) -> int:
        """The number of rows that had vectors when they were last read."""
        tables = self._tables.values()
        return sum(len(table.rows) - table.lacks(None) for table in tables)

    def close(self) -> None:
        """Close the file of vectors; a thread that waits for the embedder closes it later."""
        self._is_closed = True
        if not self._building.locked():
            with self._building:
                self._vectors.close()
