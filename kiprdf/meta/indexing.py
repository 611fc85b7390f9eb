"""Keeps the index up with the store. The index is derived: it can always be made again."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from pyoxigraph import NamedNode

from kiprdf import budget
from kiprdf.language import ast
from kiprdf.meta.search import ByMeaning, all_elements, index_rows, search
from kiprdf.rdf.elements import Element
from kiprdf.rdf.literals import Json
from kiprdf.search import Embedder, Hit, IndexRow, Kind, TextIndex, known_commit
from kiprdf.semantics.places import Mode
from kiprdf.store import Delta, Store

if TYPE_CHECKING:
    from kiprdf.search.semantic import SemanticIndex

KEPT_ELEMENTS = 1_000
KEPT_CHARACTERS = 1_000_000
"""How many noted elements are kept until the index needs them, and how much text; it reads the
others again."""
INDEXED_AT_CLOSE = 500
INDEXED_CHARACTERS_AT_CLOSE = 100_000
"""How much ``close`` brings into the index itself, some hundredths of a second of work."""
_VECTORS_FILE = "vectors.sqlite3"
_log = logging.getLogger(__name__)


class Indexer:
    """Writes note what they touched; the next SEARCH brings the index up to date.

    ``close`` does so when that is soon done, and otherwise keeps the note for the SEARCH after the
    next opening. An index that is behind by more than was noted, damaged, or of an older kind is
    rebuilt. A fault of the index never reaches a write. Vectors are made by ``embedder`` when a
    SEARCH asks for meanings, and kept beside the index.
    """

    def __init__(self, store: Store, path: Path | None, embedder: Embedder | None = None) -> None:
        self._store = store
        self._path = path
        self._embedder = embedder
        self._vectors_path = path.with_name(_VECTORS_FILE) if path else None
        self._semantic: SemanticIndex | None = None
        self._index: TextIndex | None = None
        self._pending: dict[NamedNode, Element | None] = {}
        self._kept = 0
        self._noted_from: int | None = None
        self._noted_to: int | None = None
        self._is_behind = False
        self._own_lock = threading.RLock()

    def lost_commits(self) -> int:
        """How many commits the index knows of that the store has lost, as far as can be told.

        To be asked before anything is written: the index then follows the store.
        """
        if self._store.read_only:
            return 0
        lost = max(0, self.known_commit() - self._store.commit())
        if lost:
            self._empty()
        return lost

    def known_commit(self) -> int:
        """The last commit that the file of the index reflects or has noted; -1 if unknown."""
        return -1 if self._path is None else known_commit(self._path)

    def _empty(self) -> None:
        """Empty an index of lost commits: their numbers come again, for others."""
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
            # The first commit, or the one before was interrupted when it was to be noted.
            self._forget()
            self._noted_from = commit - 1
        self._pending.update(dict.fromkeys(delta.touched))
        if len(self._pending) <= KEPT_ELEMENTS:
            self._keep(delta.elements)
        # Last: an interrupt before it leaves a gap that is noticed.
        self._noted_to = commit

    def _keep(self, elements: Iterable[Element]) -> None:
        for element in elements:
            if element.attributes:
                self._kept += sum([len(term.value) for term in element.attributes.values()])
            if self._kept > KEPT_CHARACTERS:
                return
            self._pending[element.node] = element

    def outdate(self) -> None:
        """A commit may have touched everything; called under the writer's lock."""
        self._is_behind = True
        self._forget()

    def fresh(self) -> TextIndex:
        """The index as of the store's last commit."""
        index = self._index
        if index is not None and not self._pending and index.commit == self._store.commit():
            return index
        with self._lock():
            # An index given up half-way would be begun anew by each SEARCH, and never be whole.
            return budget.without_limit(self._caught_up)

    def is_sound(self) -> bool:
        """Whether the index, once it has caught up, says what the graph says."""
        with self._lock():
            try:
                return self.fresh().holds(index_rows(self._store, all_elements(self._store)))
            except sqlite3.Error as fault:
                self._give_up(fault)
                return False

    def remake(self) -> None:
        """Make the index anew from the graph."""
        with self._lock():
            rows = index_rows(self._store, all_elements(self._store))
            try:
                self.fresh().rebuild(rows, self._store.commit())
            except sqlite3.Error as fault:
                # A file that cannot be written: the next SEARCH makes an index in memory.
                self._give_up(fault)
                self._path = None

    def search(self, command: ast.Search) -> list[Json]:
        """Answer a SEARCH; an index that turns out to be damaged is made again, once."""
        try:
            return self._answer(command)
        except sqlite3.Error as fault:
            with self._lock():
                self._give_up(fault)
                self._path = None if self._store.read_only else self._path
            return self._answer(command)

    def _answer(self, command: ast.Search) -> list[Json]:
        index = self.fresh()
        by_meaning = self._by_meaning(index) if self._embedder is not None else None
        return search(command, self._store, index, by_meaning)

    def _by_meaning(self, index: TextIndex) -> ByMeaning:
        def rows(keys: Iterable[str]) -> Iterable[IndexRow]:
            return index_rows(self._store, map(NamedNode, keys))

        def ranked(kind: Kind, term: str, type: str | None, limit: int) -> list[Hit]:
            return self._semantic_index().search(index, rows, kind, term, type, limit)

        return ranked

    def _semantic_index(self) -> SemanticIndex:
        # Imported when it is asked for: numpy takes longer to load than a nexus to open.
        from kiprdf.search.semantic import SemanticIndex

        assert self._embedder is not None
        with self._own_lock:
            if self._semantic is None:
                self._semantic = SemanticIndex(
                    self._embedder, self._vectors_path, self._store.read_only
                )
            return self._semantic

    def close(self) -> None:
        """Index what was noted, or keep the note, and let the files go."""
        with self._lock():
            if self._semantic is not None:
                self._semantic.close()
            try:
                if self._is_behind and self._path is not None and not self._store.read_only:
                    self._settle()
                if self._index is not None:
                    self._index.close()
            except sqlite3.Error as fault:
                self._give_up(fault)

    def _settle(self) -> None:
        """Leave an index that the next SEARCH need not rebuild."""
        index = self._opened()
        touched = self._touched_since(index)
        some = islice(all_elements(self._store), INDEXED_AT_CLOSE + 1)
        lacking = list(some) if touched is None else touched
        if len(lacking) <= INDEXED_AT_CLOSE and self._kept <= INDEXED_CHARACTERS_AT_CLOSE:
            self._catch_up()
        elif touched is not None:
            noted = cast(tuple[int, int], (self._noted_from, self._noted_to))
            index.postpone((node.value for node in self._pending), *noted)

    def _lock(self) -> AbstractContextManager[Any]:
        """The writer's lock, so that the store stands still while rows are made."""
        return self._own_lock if self._store.read_only else self._store.writing()

    def _opened(self) -> TextIndex:
        if self._index is None:
            self._index = self._of_writer() if self._store.read_only else TextIndex(self._path)
        return self._index

    def _of_writer(self) -> TextIndex:
        """A read-only nexus uses a copy of the writer's index while it fits."""
        with suppress(sqlite3.Error):
            index = TextIndex(self._path, read_only=True)
            if self._touched_since(index) is not None:
                return index
            index.close()
        return TextIndex(None)

    def _caught_up(self) -> TextIndex:
        """The index, rebuilt in memory if the file cannot be used."""
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
        """What the index lacks, if every commit that it lacks was noted."""
        keys, reached = index.postponed()
        commit = self._store.commit()
        if reached == commit and self._noted_to in (None, commit):
            return [NamedNode(key) for key in keys]
        if (reached, commit) == (self._noted_from, self._noted_to):
            return dict.fromkeys(map(NamedNode, keys)) | self._pending if keys else self._pending
        return None

    def _give_up(self, fault: sqlite3.Error) -> None:
        """Drop the connection; the next SEARCH opens or makes the index anew."""
        _log.warning("The text index is unusable and will be rebuilt: %s", fault)
        self._index = None
        self._forget()

    def _forget(self) -> None:
        """Begin anew to note what is touched."""
        self._pending.clear()
        self._kept = 0
        self._noted_from = self._noted_to = None
