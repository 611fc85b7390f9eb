"""Ranks rows by meaning: cosines of vectors, exact, in memory."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, islice, starmap
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kiprdf.search.embedders import Embedder
from kiprdf.search.index import Entries, TextIndex
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
        """The same as hits."""
        return [*starmap(Hit, self.cosines.items())]


@dataclass(frozen=True, slots=True)
class _Table:
    """The vectors of the rows of a kind that have vectors, as of one commit.

    A later table may share the matrix, and have used more of its rows.
    """

    commit: int
    vectors: int  # that there were when it was made
    keys: Sequence[str]  # in their order
    counts: Counter[str]  # of their types
    types: NDArray[np.intp]  # the place of each key's type in these
    matrix: NDArray[np.float32]  # one row a text, and spare rows
    used: int  # its rows that have, or had, a text
    numbers: dict[bytes, int]  # of the rows of texts, by digest
    texts: NDArray[np.intp]  # which text a key has

    def count(self, type: str | None) -> int:
        """The number of rows of a type."""
        return len(self.keys) if type is None else self.counts[type]

    def rank(self, vector: Vector, type: str | None, limit: int) -> dict[str, float]:
        """Return the keys with the largest positive cosines, ties by key."""
        if not self.keys:
            return {}
        # Not the product of numpy, whose threads wait for each other on a busy machine.
        products = np.einsum("ij,j->i", self.matrix[: self.used], vector)
        cosines = np.round(products[self.texts].astype(np.float64), DIGITS)
        if type is not None:
            place = [*self.counts].index(type) if type in self.counts else -1
            cosines[self.types != place] = 0
        least = np.partition(cosines, -limit)[-limit] if 0 < limit < len(cosines) else 0
        rows = np.flatnonzero(cosines >= max(least, 10**-DIGITS / 2))
        rows = rows[np.argsort(-cosines[rows], kind="stable")[:limit]]
        keys = map(self.keys.__getitem__, rows.tolist())
        return dict(zip(keys, cosines[rows].tolist(), strict=True))


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
        self._entries: dict[Kind, Entries] = {}
        self._vectors_of: dict[Kind, dict[bytes, Vector]] = {}
        self._loaded: dict[Kind, int] = {}
        """The commit for which the stored vectors of a kind were loaded."""
        self._tables: dict[Kind, _Table] = {}
        self._finished: dict[tuple[Kind, str | None], int] = {}
        """The commit at which every row of a kind and type had a vector."""
        self._is_compared = False  # the file with the index
        self._is_closed = False

    def prepare(
        self, index: TextIndex, rows_of: RowsOf, kind: Kind, term: str, type: str | None = None
    ) -> None:
        """Embed a term, and then the rows of a kind and type that have no vectors.

        Raises `EmbeddingError`, all exceptions of the embedder, KIP_4001 when the time is over,
        and `sqlite3.Error` for a fault of the text index.
        """
        self._vectors.refuse_own_embedder()
        types = self._current_entries(index, kind).types
        if type in types or (type is None and types):
            self._vectors.term(clean(term), self._words(index, kind, term))
            if not self._is_finished(index, kind, type):
                self.build(index, rows_of, kind, type)

    def is_ready(self, index: TextIndex, kind: Kind, term: str, type: str | None = None) -> bool:
        """Whether `prepare` needs no other thread: it embeds at most the words of the term."""
        return self._is_finished(index, kind, type) and (
            self._vectors.is_additive or self._vectors.cached_term(clean(term)) is not None
        )

    def _is_finished(self, index: TextIndex, kind: Kind, type: str | None) -> bool:
        commit = self._current_entries(index, kind).commit
        return any(self._finished.get((kind, of)) == commit for of in (type, None))

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
                entries = self._current_entries(index, kind)
                if self._is_finished(index, kind, type):
                    advance(_count(entries.types, type))
                    return
                if self._follow(index, rows_of, kind, type, entries):
                    advance(_count(entries.types, type))
                    return
                self._add_missing(kind, entries, rows_of, type, advance)
                self._finish(index, kind, type, entries)
            finally:
                if self._is_closed:
                    self._vectors.close()

    def rank(
        self,
        index: TextIndex,
        kind: Kind,
        term: str,
        type: str | None = None,
        limit: int = 100,
    ) -> Ranking | None:
        """Return the rows whose cosine with the term is positive, best first, ties by key.

        None if the term has no vector, because `prepare` ended too early.
        """
        entries = self._current_entries(index, kind)
        table = self._table(kind, entries)
        embedded = table.count(type)
        is_whole = len(table.keys) == len(entries.keys)
        total = embedded if is_whole else _count(entries.types, type)
        if not total:
            return Ranking({}, 0, 0)
        vector = self._vectors.cached_term(clean(term))
        if vector is None:
            return None
        return Ranking(table.rank(vector, type, limit), embedded, total)

    def embedded(self) -> int:
        """The number of rows that had vectors when their kind was last built."""
        return sum(len(self._table(kind, of_kind).keys) for kind, of_kind in self._entries.items())

    def close(self) -> None:
        """Close the file of vectors; a thread that waits for the embedder closes it later."""
        self._is_closed = True
        if not self._building.locked():
            with self._building:
                self._vectors.close()

    def _current_entries(self, index: TextIndex, kind: Kind) -> Entries:
        entries = self._entries.get(kind)
        if entries is None or entries.commit != index.commit:
            entries = self._entries[kind] = index.entries(kind, entries)
        return entries

    def _table(self, kind: Kind, entries: Entries) -> _Table:
        """The table of the rows that have vectors now."""
        vectors = self._vectors_of.get(kind, {})
        table = self._tables.get(kind)
        if table is None or (table.commit, table.vectors) != (entries.commit, len(vectors)):
            table = self._tables[kind] = _table_of(entries, vectors)
        return table

    def _add_missing(
        self, kind: Kind, entries: Entries, rows_of: RowsOf, type: str | None, advance: Advance
    ) -> None:
        """Add the missing vectors: stored ones, then those of new texts."""
        vectors = self._vectors_of.setdefault(kind, {})
        if self._loaded.get(kind) != entries.commit:
            vectors.update(self._vectors.load(set(entries.digests) - vectors.keys()))
            self._loaded[kind] = entries.commit
        missing = {}
        if without := set(entries.digests).difference(vectors):
            rows = zip(entries.keys, entries.types, entries.digests, strict=True)
            missing = {
                key: of_text
                for key, of, of_text in rows
                if of_text in without and type in (None, of)
            }
        advance(_count(entries.types, type) - len(missing))
        rows_of_text = Counter(missing.values())
        texts = map(embedded_text, rows_of(missing))
        # Batch by batch, so that a text of two rows is embedded once, and nothing is lost when the
        # embedder fails later.
        new_texts = (text for text in texts if digest(text) not in vectors)
        for batch in self._vectors.make(new_texts):
            vectors.update(batch)
            advance(sum(rows_of_text[of_text] for of_text in batch))

    def _follow(
        self, index: TextIndex, rows_of: RowsOf, kind: Kind, type: str | None, entries: Entries
    ) -> bool:
        """Bring a finished table to a later commit by the rows that changed; whether it could."""
        table = self._tables.get(kind)
        if table is None or self._finished.get((kind, type)) != table.commit:
            return False
        changed = index.changed(table.commit, entries.commit)
        if changed is None or table.used + len(changed) > len(table.matrix):
            return False
        places = {key: bisect_left(entries.keys, key) for key in sorted(changed)}
        rows = {
            key: (entries.types[at], entries.digests[at])
            for key, at in places.items()
            if entries.keys[at : at + 1] == (key,)
        }
        vectors = self._vectors_of[kind]
        of_type = {key: text for key, (of, text) in rows.items() if type in (None, of)}
        missing = [key for key, text in of_type.items() if text not in vectors]
        vectors.update(self._vectors.load({of_type[key] for key in missing}))
        new_texts = (t for t in map(embedded_text, rows_of(missing)) if digest(t) not in vectors)
        for batch in self._vectors.make(new_texts):
            vectors.update(batch)
        if not vectors.keys() >= set(of_type.values()):
            return False  # a row was written meanwhile
        self._tables[kind], unused = _followed(table, entries, changed, rows, vectors)
        if self._is_compared:
            self._vectors.forget(unused)
        self._loaded[kind] = self._finished[kind, type] = entries.commit
        return True

    def _finish(self, index: TextIndex, kind: Kind, type: str | None, entries: Entries) -> None:
        """Once every row has a vector, delete those of texts that no row has any more."""
        table = self._table(kind, entries)
        # If the index was emptied or is unfinished, or a row changed meanwhile, this is not the
        # state of a commit, and its vectors must not be deleted.
        if entries.commit >= 0 and table.count(type) == _count(entries.types, type):
            self._finished[kind, type] = entries.commit
        if entries.commit < 0 or len(table.keys) < len(entries.keys):
            return
        vectors = self._vectors_of[kind]
        # Views of the new matrix, so that the old one is freed.
        self._vectors_of[kind] = dict(
            zip(dict.fromkeys(entries.digests), table.matrix[: table.used], strict=True)
        )
        self._tables[kind] = replace(table, vectors=len(self._vectors_of[kind]))
        if self._is_compared:
            self._vectors.forget(vectors.keys() - set(entries.digests))
            return
        # The file may contain such vectors from earlier processes.
        all_entries = [index.entries(kind) for kind in KINDS]
        if all(of_kind.commit == entries.commit for of_kind in all_entries):
            used = {of_text for of_kind in all_entries for of_text in of_kind.digests}
            self._vectors.forget(self._vectors.stored() - used)
            self._is_compared = True


def _count(types: tuple[str, ...], type: str | None) -> int:
    return len(types) if type is None else types.count(type)


def _table_of(entries: Entries, vectors: dict[bytes, Vector]) -> _Table:
    """Return the table of the rows that have vectors."""
    keys, types, digests = entries[1:]
    if not vectors.keys() >= set(digests):
        has_vector = [of_text in vectors for of_text in digests]
        keys, types = tuple(compress(keys, has_vector)), tuple(compress(types, has_vector))
        digests = tuple(compress(digests, has_vector))
    numbers = {of_text: number for number, of_text in enumerate(dict.fromkeys(digests))}
    counts = Counter(types)
    places = {type: place for place, type in enumerate(counts)}
    matrix = np.empty((0, 0), np.float32)
    if numbers:
        first = vectors[digests[0]]
        matrix = np.empty((len(numbers) + len(numbers) // 8 + _SPARE, len(first)), np.float32)
        np.stack([*map(vectors.__getitem__, numbers)], out=matrix[: len(numbers)])
    return _Table(
        entries.commit,
        len(vectors),
        keys,
        counts,
        np.fromiter(map(places.__getitem__, types), np.intp, len(types)),
        matrix,
        len(numbers),
        numbers,
        np.fromiter(map(numbers.__getitem__, digests), np.intp, len(digests)),
    )


def _followed(
    table: _Table,
    entries: Entries,
    changed: Iterable[str],
    rows: dict[str, tuple[str, bytes]],
    vectors: dict[bytes, Vector],
) -> tuple[_Table, list[bytes]]:
    """A table with the vectors of some rows, which have these types and texts, or are deleted; and
    the texts that no row has any more, whose vectors are removed."""
    keys, counts, used = list(table.keys), table.counts.copy(), table.used
    types, texts, numbers = table.types, table.texts, dict(table.numbers)
    removed = set[int]()
    for key in changed:
        at = bisect_left(keys, key)
        if keys[at : at + 1] == [key]:
            counts[[*counts][types[at]]] -= 1
            removed.add(int(texts[at]))
            del keys[at]
            types, texts = np.delete(types, at), np.delete(texts, at)
        type, of_text = rows.get(key, ("", b""))
        if of_text in vectors:
            if of_text not in numbers:
                numbers[of_text] = used
                table.matrix[used] = vectors[of_text]
                used += 1
            counts[type] += 1
            keys.insert(at, key)
            types = np.insert(types, at, [*counts].index(type))
            texts = np.insert(texts, at, numbers[of_text])
    removed = {number for number in removed if not (texts == number).any()}
    unused = [text for text, number in numbers.items() if number in removed] if removed else []
    for of_text in unused:
        del vectors[of_text], numbers[of_text]
    return _Table(
        entries.commit, len(vectors), keys, counts, types, table.matrix, used, numbers, texts
    ), unused
