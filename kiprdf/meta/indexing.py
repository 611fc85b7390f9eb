"""Keeps the index up to date with the store. The index is derived: it can be rebuilt."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from pyoxigraph import NamedNode

from kiprdf import budget
from kiprdf.errors import StoreError
from kiprdf.language import ast
from kiprdf.loading import load
from kiprdf.meta.search import Hits, Semantic, all_elements, index_rows, search
from kiprdf.rdf.elements import Element
from kiprdf.search import (
    KINDS,
    Embedder,
    EmbeddingError,
    IndexRow,
    TextIndex,
    commit_of_file,
    count_embedded,
)
from kiprdf.search.embedders import INSTALL
from kiprdf.search.erasing import erase_file, keep_vectors
from kiprdf.semantics.arguments import Mode
from kiprdf.store import Delta, NexusStore
from kiprdf.store.folder import VECTORS

if TYPE_CHECKING:
    from kiprdf.search.semantic import SemanticIndex

KEPT_ELEMENTS = 1_000
KEPT_CHARACTERS = 1_000_000
"""The noted elements, and characters of their texts, that are kept until the index needs them; the
others are read again."""
INDEXED_AT_CLOSE = 500
INDEXED_CHARACTERS_AT_CLOSE = 100_000
"""The most that ``close`` adds to the index, a few hundredths of a second of work."""
_log = logging.getLogger(__name__)


class Indexer:
    """Writes note what they touched; the next SEARCH brings the index up to date.

    ``close`` does so if that is quick, and otherwise stores the note for the first SEARCH after the
    next opening. An index that misses more than was noted, is damaged, or has another version is
    rebuilt. A fault of the index never fails a write. A SEARCH by meaning lets ``embedder`` compute
    vectors, which are stored beside the index.
    """

    def __init__(
        self, store: NexusStore, path: Path | None, embedder: Embedder | None = None
    ) -> None:
        self._store = store
        self._path = path
        # The folder of a nexus belongs to its writer; an index of a remote store does not.
        self._is_reader = store.read_only and not store.is_shared
        self._embedder = embedder
        self._vectors_path = path.with_name(VECTORS) if path else None
        self._ranks: SemanticIndex | None = None
        self._index: TextIndex | None = None
        self._pending: dict[NamedNode, Element | None] = {}
        self._kept_characters = 0
        self._noted_from: int | None = None
        self._noted_to: int | None = None
        self._is_behind = False
        self._own_lock = threading.RLock()

    def lost_commits(self) -> int:
        """The number of commits in the index that the store has lost; 0 if unknown.

        Call it before anything is written. An index with lost commits is emptied.
        """
        indexed = self.indexed_commit()
        if self._is_reader or indexed < 0:
            return 0
        # Another process may have written, and indexed it, since this store was connected.
        lost = max(0, indexed - self._store.read(self._store.commit))
        if lost:
            self._empty()
        return lost

    def indexed_commit(self) -> int:
        """The last commit that the file of the index reflects or has noted; -1 if unknown."""
        return -1 if self._path is None else commit_of_file(self._path)

    def _empty(self) -> None:
        """Empty an index with lost commits, since new commits will get their numbers."""
        try:
            self._opened().rebuild((), -1)
        except sqlite3.Error as fault:
            self._give_up(fault)

    @property
    def modes(self) -> list[str]:
        """The modes of SEARCH that can be served (KIP 5.2)."""
        return ["keyword"] if self._embedder is None else list(get_args(Mode))

    def note(self, delta: Delta, commit: int) -> None:
        """Remember what a commit touched; called under the writer's lock."""
        self._is_behind = True
        if self._noted_to != commit - 1:
            # The first commit, or the note of the one before was interrupted.
            self._forget()
            self._noted_from = commit - 1
        self._pending.update(dict.fromkeys(delta.touched))
        if len(self._pending) <= KEPT_ELEMENTS:
            self._keep(delta.elements)
        # Last: an interrupt before this line leaves a gap, which is noticed.
        self._noted_to = commit

    def _keep(self, elements: Iterable[Element]) -> None:
        for element in elements:
            if element.attributes:
                sizes = [len(term.value) for term in element.attributes.values()]
                self._kept_characters += sum(sizes)
            if self._kept_characters > KEPT_CHARACTERS:
                return
            self._pending[element.node] = element

    def outdate(self) -> None:
        """Note that a commit replaced the dataset; called under the writer's lock."""
        self._is_behind = True
        self._forget()

    def current(self) -> TextIndex:
        """The index as of the store's last commit."""
        index = self._index
        if index is not None and not self._pending and index.commit == self._store.commit():
            return index
        with self._lock():
            # With a deadline, each SEARCH would start over, and the index never be complete.
            return budget.without_limit(self._caught_up)

    def is_sound(self) -> bool:
        """Whether the index, once it is up to date, agrees with the graph."""
        with self._lock():
            try:
                return self.current().holds(index_rows(self._store, all_elements(self._store)))
            except sqlite3.Error as fault:
                self._give_up(fault)
                return False

    def rebuild(self) -> None:
        """Rebuild the index from the graph."""
        with self._lock():
            rows = index_rows(self._store, all_elements(self._store))
            try:
                self.current().rebuild(rows, self._store.commit())
            except sqlite3.Error as fault:
                # The file cannot be written: the next SEARCH builds an index in memory.
                self._give_up(fault)
                self._path = None

    def erase(self) -> None:
        """Begin a new index, and keep only the vectors of texts that are in the graph.

        Called under the writer's lock, after something was forgotten.
        """
        if self._ranks is not None:
            self._ranks.close()
        if self._index is not None:
            self._index.close()
        self._ranks = self._index = None
        self._forget()
        if self._path is None or self._vectors_path is None:
            return
        erase_file(self._path)
        if self._vectors_path.exists():
            index = self.current()
            digests = [digest for kind in KINDS for digest in index.entries(kind).digests]
            keep_vectors(self._vectors_path, set(digests))

    def search(self, command: ast.Search) -> Hits:
        """Answer a SEARCH; an index that turns out to be damaged is rebuilt once."""
        try:
            return self._answer(command)
        except sqlite3.Error as fault:
            with self._lock():
                self._give_up(fault)
                self._path = None if self._is_reader else self._path
            return self._answer(command)

    def _answer(self, command: ast.Search) -> Hits:
        index = self.current()
        meaning = (lambda: self._semantic(index)) if self._embedder is not None else None
        return search(command, self._store, index, meaning)

    def embed(self, advance: Callable[[int, int], None]) -> int:
        """Compute the missing vectors of all elements; return the number of elements.

        ``advance`` is called with the number of elements that have vectors, and of all. What is
        interrupted continues at the next call. Raises ``StoreError`` without an embedder, or if it
        fails.
        """
        if self._embedder is None:
            raise StoreError(f"Vectors need an embedder; one is installed by: {INSTALL}.")
        semantic = self._semantic(self._store.read(self.current))
        total = sum(len(semantic.index.entries(kind).keys) for kind in KINDS)
        done = 0

        def add(number: int) -> None:
            nonlocal done
            done += number
            advance(done, total)

        try:
            for kind in KINDS:
                semantic.ranks.build(semantic.index, semantic.rows_of, kind, advance=add)
        except sqlite3.Error as fault:
            raise StoreError(f"The text index cannot be read: {fault}.") from fault
        except EmbeddingError as fault:
            message = f"The embedder failed: {fault}. {done} of {total} elements have vectors."
            raise StoreError(message) from fault
        return total

    def embedded(self) -> int:
        """The number of elements of the index that have vectors; computes and opens nothing."""
        in_memory = 0 if self._ranks is None else self._ranks.embedded()
        if self._path is None or self._vectors_path is None:
            return in_memory
        return max(in_memory, count_embedded(self._path, self._vectors_path))

    def _semantic(self, index: TextIndex) -> Semantic:
        def rows(keys: Iterable[str]) -> Iterable[IndexRow]:
            nodes = list(map(NamedNode, keys))
            return self._store.read(lambda: list(index_rows(self._store, nodes)))

        return Semantic(self._semantic_index(), index, rows)

    def _semantic_index(self) -> SemanticIndex:
        # Imported here: numpy takes longer to load than a nexus to open.
        load("kiprdf.search.semantic")
        from kiprdf.search.semantic import SemanticIndex

        assert self._embedder is not None
        with self._own_lock:
            if self._ranks is None:
                self._ranks = SemanticIndex(self._embedder, self._vectors_path, self._is_reader)
            return self._ranks

    def close(self) -> None:
        """Index what was noted, or store the note, and close the files."""
        with self._lock():
            if self._ranks is not None:
                self._ranks.close()
            try:
                is_kept = self._path is not None and not self._is_reader
                # A shared store notes itself what its commits touch.
                if self._is_behind and is_kept and not self._store.is_shared:
                    self._catch_up_or_postpone()
                if self._index is not None:
                    self._index.close()
            except sqlite3.Error as fault:
                self._give_up(fault)

    def _catch_up_or_postpone(self) -> None:
        """Leave an index that the next SEARCH does not need to rebuild."""
        index = self._opened()
        touched = self._touched_since(index)
        some = islice(all_elements(self._store), INDEXED_AT_CLOSE + 1)
        missing = list(some) if touched is None else touched
        is_short = self._kept_characters <= INDEXED_CHARACTERS_AT_CLOSE
        if len(missing) <= INDEXED_AT_CLOSE and is_short:
            self._catch_up()
        elif touched is not None:
            noted = cast(tuple[int, int], (self._noted_from, self._noted_to))
            index.postpone((node.value for node in self._pending), *noted)

    def _lock(self) -> AbstractContextManager[Any]:
        """The writer's lock, so that the store does not change while rows are read.

        What changes in a shared store meanwhile is noticed when it was read.
        """
        is_own = self._store.read_only or self._store.is_shared
        return self._own_lock if is_own else self._store.writing()

    def _opened(self) -> TextIndex:
        if self._index is None:
            self._index = self._of_writer() if self._is_reader else TextIndex(self._path)
        return self._index

    def _of_writer(self) -> TextIndex:
        """A copy of the writer's index, if it is up to date, for a read-only nexus."""
        with suppress(sqlite3.Error):
            index = TextIndex(self._path, read_only=True)
            if self._touched_since(index) is not None:
                return index
            index.close()
        return TextIndex(None)

    def _caught_up(self) -> TextIndex:
        """Bring the index up to date, in memory if the file cannot be used."""
        try:
            return self._catch_up()
        except sqlite3.Error as fault:
            self._give_up(fault)
            self._path = None
            return self._catch_up()

    def _catch_up(self) -> TextIndex:
        index = self._opened()
        commit = self._store.commit()
        if index.commit != commit:
            touched = self._touched_since(index)
            if touched is None:
                index.rebuild(index_rows(self._store, all_elements(self._store)), commit)
            else:
                rows = index_rows(self._store, touched, self._pending)
                index.update(rows, (node.value for node in touched), commit)
        self._is_behind = False
        self._forget()
        return index

    def _touched_since(self, index: TextIndex) -> Collection[NamedNode] | None:
        """The elements that the index misses, if every commit that it misses was noted."""
        keys, reached = index.postponed()
        commit = self._store.commit()
        if reached == commit and self._noted_to in (None, commit):
            return [NamedNode(key) for key in keys]
        if (reached, commit) == (self._noted_from, self._noted_to):
            return dict.fromkeys(map(NamedNode, keys)) | self._pending if keys else self._pending
        if not self._store.is_shared:
            return None
        self._forget()  # another process may have changed the same elements
        return self._store.changed_since(index.commit)

    def _give_up(self, fault: sqlite3.Error) -> None:
        """Drop the index; the next SEARCH opens or rebuilds it."""
        _log.warning("The text index is unusable and will be rebuilt: %s", fault)
        self._index = None
        self._forget()

    def _forget(self) -> None:
        """Forget the noted commits."""
        self._pending.clear()
        self._kept_characters = 0
        self._noted_from = self._noted_to = None
