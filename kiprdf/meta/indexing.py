"""Keeps the index up to date with the store. The index is derived: it can be rebuilt."""

from __future__ import annotations

import math
import sqlite3
import threading
import time
import weakref
from _thread import get_ident, start_new_thread
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pyoxigraph import NamedNode

from kiprdf import budget
from kiprdf.derived_file import is_sound, remove
from kiprdf.errors import ClosedError, KipError, StoreError, clear_frames
from kiprdf.language import ast
from kiprdf.loading import lazy_logger, load
from kiprdf.meta.search import (
    READ_AT_ONCE,
    Hits,
    Meaning,
    Question,
    Rankings,
    Semantic,
    all_elements,
    index_rows,
    kind_of,
    rankings,
    search,
)
from kiprdf.search import Embedder, IndexRow, TextIndex
from kiprdf.search.embedders import INSTALL, EmbeddingError
from kiprdf.search.index import (
    Commits,
    batches,
    characters,
    commit_of_file,
    count_embedded,
    keep_vectors,
    overtaken,
)
from kiprdf.search.rows import KINDS, Kind
from kiprdf.semantics.arguments import Mode
from kiprdf.store import Delta, NexusStore
from kiprdf.store.folder import VECTORS, is_written
from kiprdf.store.lock import FairLock

if TYPE_CHECKING:
    from kiprdf.search.semantic import SemanticIndex

T = TypeVar("T")

INDEXED_AT_CLOSE = 500
INDEXED_CHARACTERS_AT_CLOSE = 100_000
"""The most that ``close`` adds to the index, a few hundredths of a second of work."""
MOST_NOTED = 200_000
"""The elements that commits have touched, of which as many are kept in memory."""
CLOSING_SECONDS = 10.0
"""How long ``close`` waits for the thread that builds; a step of it takes a tenth of a second, and
longer only on a remote store."""
_log = lazy_logger(__name__)


class Indexer:
    """Writes note what they touched; the next SEARCH brings the index up to date.

    The index has a kind of elements from the first SEARCH for it on (docs/decisions/253).
    An index that misses more than was noted, is damaged, or has another version is rebuilt. More
    than some hundred rows are written step by step, by a thread which goes on when the time of a
    SEARCH is over; the keys that are still missing are in the index. ``close`` adds what is quick,
    and otherwise the keys. A fault of the index never fails a write. A SEARCH by meaning lets
    ``embedder`` compute vectors, which are stored beside the index.
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
        self._commits = Commits[NamedNode]()
        """The elements that commits touched."""
        self._asked = set[Kind]()
        """The kinds that were searched."""
        self._behind = 0
        """How many elements commits have touched that are not in the index."""
        self._own_lock = FairLock()
        self._rebuilt_at: int | None = None
        """The commit at which the index is to be emptied, and all rows written."""
        self._keeps_file = not self._is_reader
        self._is_in_file = False
        """Whether a reader writes to the file of the writer, which is closed."""
        self._is_closed = False
        self._building = threading.Lock()
        """Locked while a thread builds, which may not be the one that has locked it."""
        self._builder = 0
        """The thread that builds, or was the last one to do so."""
        self._fault: BaseException | None = None

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

    def missing(self) -> int:
        """How many elements the index lacks, of those that are listed to be built."""
        return 0 if self._index is None else self._index.state().missing

    def _empty(self) -> None:
        """Empty an index with lost commits, since new commits will get their numbers."""
        try:
            index = self._opened()
            index.begin({}, -1, index.state())
        except sqlite3.Error as fault:
            self._give_up(fault)

    @property
    def modes(self) -> list[str]:
        """The modes of SEARCH that can be served (KIP 5.2)."""
        return ["keyword"] if self._embedder is None else list(get_args(Mode))

    def note(self, delta: Delta, commit: int) -> None:
        """Remember what a commit touched; called under the writer's lock."""
        self._behind += len(delta.touched) or 1
        # An interrupt before this line leaves a gap, which is noticed.
        self._commits.note(commit - 1, commit, delta.touched)
        if self._behind > MOST_NOTED:
            try:
                self._postpone(commit)
            except sqlite3.Error as fault:
                self._give_up(fault)
            self.outdate()  # what follows is noted

    def _postpone(self, commit: int) -> None:
        """Let an index that has noted all commits before this one list what they touched."""
        index = self._opened()
        touched = self._commits.since(index.state().commit, commit)
        if touched is not None:
            index.postpone(self._keys(touched, index.kinds), commit)

    def changed_since(self, number: int) -> Collection[NamedNode] | None:
        """The elements that the commits after one touched; None where that is not known."""
        touched = self._commits.since(number, self._store.commit())
        return self._store.changed_since(number) if touched is None else touched

    def outdate(self) -> None:
        """Forget what was noted, as of a replaced dataset; called under the writer's lock."""
        self._behind = INDEXED_AT_CLOSE + 1
        self._commits = Commits()

    def current(
        self, advance: Callable[[int], object] | None = None, kinds: Collection[Kind] = KINDS
    ) -> TextIndex:
        """The index, which has some kinds as of the store's last commit; without, all of its kinds.

        Raises KIP_4001 when the time of the request is over; what was done is kept, and a thread
        goes on. ``advance`` is called with the number of elements that are missing.
        """
        while True:
            index = self._index
            is_noted = self._behind or self._rebuilt_at is not None
            try:
                if index is not None and kinds and not is_noted and self._has(index, kinds):
                    self._asked.update(kinds)
                    return index
                with self._lock():
                    index = self._opened()
                    # Under the lock, since the thread that builds adds a kind that is asked.
                    self._asked.update(kinds or ("concept",))
                    kinds = kinds or (*self._asked, *index.kinds)
                    self._catch_up(index)
                    if self._rebuilt_at is None and self._has(index, kinds):
                        return index
                self._build(index, advance, kinds)
            except sqlite3.Error as fault:
                if self._is_closed:
                    raise ClosedError from None
                if index is not self._index:
                    continue  # it was closed to be erased
                # The file cannot be used: the index is in memory.
                self._give_up(fault)
                self._path = None

    def _has(self, index: TextIndex, kinds: Iterable[Kind]) -> bool:
        commit = self._store.commit()
        return all(index.reached(kind) == commit for kind in kinds)

    def complete(
        self,
        advance: Callable[[int], object],
        *,
        propositions: bool = True,
        only_after_much: bool = False,
    ) -> None:
        """Bring the index up to date, and keep it in its file, which no SEARCH of a reader writes.

        Without ``propositions`` it has these only if it had them. ``only_after_much`` does so only
        if ``close`` would leave what this process has written.
        """
        if only_after_much and not (self._path and self._behind > INDEXED_AT_CLOSE):
            return
        if not self._keeps_file:
            self._keeps_file = True
            self._index = None  # it may be in memory
        self._store.read(lambda: self.current(advance, KINDS if propositions else ()))

    def is_sound(self) -> bool:
        """Whether the file is as it was written, and the index agrees with the graph."""
        with self._lock():
            if self._path is not None and not is_sound(self._path):
                return False
            try:
                index = budget.without_limit(lambda: self.current(kinds=()))
                nodes = all_elements(self._store, index.kinds)
                return index.holds(index_rows(self._store, nodes))
            except sqlite3.Error as fault:
                self._give_up(fault)
                return False

    def rebuild(self) -> None:
        """Rebuild the index from the graph."""
        with self._lock():
            if self._path is not None and not (self._is_reader or is_sound(self._path)):
                if self._index is not None:
                    self._index.close()
                self._index = None
                remove(self._path)
            self._empty()
            budget.without_limit(lambda: self.current(kinds=()))

    def has_sound_vectors(self, repair: bool) -> bool:
        """Whether the file of the vectors is as it was written; ``repair`` removes it if not."""
        path = self._vectors_path
        is_right = path is None or is_sound(path)
        repair = repair and not self._is_reader
        if path is not None and repair and not is_right:
            _log.warning("The file %s was damaged: its vectors are computed again.", path.name)
            with self._own_lock:
                if self._ranks is not None:
                    self._ranks.close()
                self._ranks = None
                remove(path)
        return is_right or repair

    def erase(self) -> None:
        """Begin a new index, and keep only the vectors of texts that are in the graph.

        Called under the writer's lock, after something was forgotten.
        """
        if self._ranks is not None:
            self._ranks.close()
        if self._index is not None:
            self._index.close()
        self._ranks = self._index = self._rebuilt_at = None
        if self._path is None or self._vectors_path is None:
            return
        remove(self._path)
        if self._vectors_path.exists():
            index = budget.without_limit(self.current)
            rows = chain.from_iterable(index.changes(kind).rows.values() for kind in KINDS)
            keep_vectors(self._vectors_path, {row[1] for row in rows if row})

    def search(self, command: ast.Search) -> Hits:
        """Answer a SEARCH."""
        return self._ask(
            lambda index, meaning: search(command, self._store, index, meaning), kind_of(command)
        )

    def rankings(self, question: Question, embedder: Embedder | None = None) -> Rankings:
        """The rankings of a mode apart, without a limit of all rows that match; reads no element.

        ``embedder`` is used if the nexus was opened without one, and keeps the vectors of another
        one. Raises ``NoWordError`` for a term without a word.
        """
        if not self._store.is_shared:
            self.current(kinds=(question.kind,))  # it may take long, and other commits may come

        def ask(index: TextIndex, meaning: Meaning | None) -> Rankings:
            return rankings(question, index, meaning)

        return self._store.read(lambda: self._ask(ask, question.kind, embedder))

    def _ask(
        self,
        ask: Callable[[TextIndex, Meaning | None], T],
        kind: Kind,
        embedder: Embedder | None = None,
    ) -> T:
        """Call a function with the index; one that turns out to be damaged is rebuilt once."""
        used = self._embedder or embedder

        def answer() -> T:
            index = self.current(kinds=(kind,))
            return ask(index, None if used is None else lambda: self._semantic(index, used))

        try:
            return answer()
        except sqlite3.Error as fault:
            with self._lock():
                self._give_up(fault)
                self._path = None if self._is_reader else self._path
            return answer()

    def embed(self, advance: Callable[[int, int], None]) -> int:
        """Compute the missing vectors of all elements; return the number of elements.

        ``advance`` is called with the number of elements that have vectors, and of all. What is
        interrupted continues at the next call. Raises ``StoreError`` without an embedder, or if it
        fails.
        """
        if self._embedder is None:
            raise StoreError(f"Vectors need an embedder; one is installed by: {INSTALL}.")
        semantic = self._semantic(self._store.read(self.current), self._embedder)
        total = sum(len(semantic.index.changes(kind).rows) for kind in KINDS)
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

    def _semantic(self, index: TextIndex, embedder: Embedder) -> Semantic:
        def rows(keys: Iterable[str]) -> Iterable[IndexRow]:
            remaining = map(NamedNode, keys)
            while nodes := list(islice(remaining, READ_AT_ONCE)):
                yield from self._store.read(partial(_rows_of, self._store, nodes))

        return Semantic(self._semantic_index(embedder), index, rows)

    def _semantic_index(self, embedder: Embedder) -> SemanticIndex:
        # Imported here: numpy takes longer to load than a nexus to open.
        load("kiprdf.search.semantic")
        from kiprdf.search.semantic import SemanticIndex

        with self._own_lock:
            if self._ranks is None:
                is_guest = self._embedder is None
                self._ranks = SemanticIndex(
                    embedder, self._vectors_path, self._is_reader, yields=is_guest
                )
            return self._ranks

    def close(self) -> None:
        """Index what was noted, or store the note, and close the files."""
        try:
            self.end_building()
            with self._lock():
                self._close()
        except BaseException:
            self._is_closed = False
            raise

    def _close(self) -> None:
        if self._ranks is not None:
            self._ranks.close()
        try:
            is_kept = self._path is not None and not self._is_reader
            # A shared store notes itself what its commits touch.
            if self._behind and is_kept and not self._store.is_shared:
                self._catch_up_or_postpone()
            if self._index is not None:
                self._index.close()
        except sqlite3.Error as fault:
            self._give_up(fault)

    def end_building(self) -> None:
        """Let the thread that builds end after its step, and wait for it: it holds the store."""
        self._is_closed = True
        end = time.monotonic() + CLOSING_SECONDS
        while self._building.locked() and get_ident() != self._builder and time.monotonic() < end:
            time.sleep(0.001)

    def _catch_up_or_postpone(self) -> None:
        """Leave an index that the next SEARCH does not need to rebuild."""
        index = self._opened()
        if self.changed_since(index.state().commit) is not None:
            self._catch_up(index, INDEXED_CHARACTERS_AT_CLOSE)
            return
        some = list(islice(all_elements(self._store), INDEXED_AT_CLOSE + 1))
        if len(some) <= INDEXED_AT_CLOSE:
            keys = self._keys(some, {"concept", *self._asked})
            index.begin(keys, self._store.commit(), index.state())
            while index.fill(self._rows):
                pass

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
        """A copy of the writer's index, if it is up to date, for a read-only nexus.

        Else one in memory; or the file itself, if it is to be kept and nobody else writes it.
        """
        with suppress(sqlite3.Error):
            index = TextIndex(self._path, read_only=True)
            state = index.state()
            is_whole = not self._keeps_file or self._has(index, self._asked)
            if state.commit == self._store.commit() and is_whole:
                return index
            index.close()
        self._is_in_file = self._keeps_file and self._is_free()
        return TextIndex(self._path if self._is_in_file else None)

    def _is_free(self) -> bool:
        """Whether nobody writes to the folder of a reader."""
        folder = self._store.folder
        return self._path is not None and folder is not None and not is_written(folder)

    def _catch_up(self, index: TextIndex, most_characters: float = math.inf) -> None:
        """Bring the index to the last commit, at most some rows; called under the lock."""
        (reached, missing), commit = index.state(), self._store.commit()
        touched = self.changed_since(reached)
        if touched is None:
            if self._rebuilt_at is None or self.changed_since(self._rebuilt_at) is None:
                # What is committed from now on is noted.
                self._rebuilt_at = commit
            return
        if reached != commit:
            keys = self._keys(touched, index.kinds)
            nodes = [*map(NamedNode, chain.from_iterable(keys.values()))]
            is_little = not missing and len(nodes) <= INDEXED_AT_CLOSE
            rows = _rows_of(self._store, nodes) if is_little else []
            if is_little and characters(rows) <= most_characters:
                index.update(rows, (node.value for node in nodes), commit, tuple(keys))
            else:
                index.postpone(keys, commit)
        self._behind = 0
        self._commits.trim()

    # Building ---------------------------------------------------------------------------------

    def _build(
        self, index: TextIndex, advance: Callable[[int], object] | None, kinds: Iterable[Kind]
    ) -> None:
        """Let a thread write the missing rows, and wait while the request has time."""
        if self._is_closed:
            raise ClosedError
        if self._store.is_shared and self._store.embedded is not None:
            # Only the thread of the caller may read a graph of rdflib.
            while self._step():
                budget.check()
            return
        spending = budget.current()
        self._fault = None
        self._start()
        pause = 0.001
        while self._building.locked():
            missing = index.state().missing
            if advance is not None:
                advance(missing)
            if self._rebuilt_at is None and all(index.reached(kind) >= 0 for kind in kinds):
                return
            left = math.inf if spending is None else spending.seconds_left()
            if spending is not None and not left:
                raise _unfinished(spending.expired(), missing)
            time.sleep(min(pause, left))
            pause = min(2 * pause, 0.05)
        if self._fault is not None:
            raise self._fault

    def _start(self) -> None:
        """Start a thread that builds, if there is none."""
        try:
            if self._building.acquire(blocking=False):
                start_new_thread(_run, (weakref.ref(self), self._building))
        except BaseException:
            _release(self._building)
            raise

    def _step(self) -> bool:
        """Do a part of the building, a tenth of a second of work; whether there may be more."""
        index, at = self._index, self._rebuilt_at
        if index is None:
            return False
        kinds = self._asked.copy() if at is not None else self._asked.difference(index.kinds)
        if at is None and not kinds:
            # A reader of files stays at its commit; a view, which has none, does not.
            is_still = self._is_reader and self._path is not None
            return index.fill(self._rows, self._store.commit() if is_still else None) or (
                index.merge()
            )
        state = index.state()
        is_shared = self._store.is_shared

        def listed() -> dict[Kind, list[str]]:
            return self._keys(self._all(kinds), kinds)

        keys = self._store.read(listed) if is_shared else listed()
        if self._is_in_file and not self._is_free():
            raise overtaken()
        if at is None:
            # Without what was written meanwhile, the kind would wait until nobody writes.
            now = index.state()
            touched = self._store.read(lambda: self.changed_since(state.commit))
            for kind, later in self._keys(touched or (), kinds).items():
                keys[kind] += later
            index.extend(keys, state if touched is None else now)
        else:
            index.begin(keys, at, state)
        if self._rebuilt_at == at:
            self._rebuilt_at = None
        return True

    def _all(self, kinds: Iterable[Kind]) -> Iterator[NamedNode]:
        for node in all_elements(self._store, kinds):
            if self._is_closed:
                raise ClosedError
            yield node

    def _keys(self, nodes: Iterable[NamedNode], kinds: Iterable[Kind]) -> dict[Kind, list[str]]:
        """The keys of the nodes that are of some kinds, or may be elements of these."""
        keys: dict[Kind, list[str]] = {kind: [] for kind in KINDS if kind in kinds}
        beginning = self._store.iris.propositions
        for node in nodes:
            kind: Kind = "proposition" if node.value.startswith(beginning) else "concept"
            if kind in keys:
                keys[kind].append(node.value)
        return keys

    def _rows(self, keys: list[str]) -> dict[str, IndexRow]:
        nodes = list(map(NamedNode, keys))
        return self._store.read(lambda: next(batches(index_rows(self._store, nodes)), {}))

    def _give_up(self, fault: sqlite3.Error) -> None:
        """Drop the index; the next SEARCH opens or rebuilds it."""
        _log.warning("The text index is unusable and will be rebuilt: %s", str(fault))
        self._index = self._rebuilt_at = None


def _rows_of(store: NexusStore, nodes: Iterable[NamedNode]) -> list[IndexRow]:
    return list(index_rows(store, nodes))


def _run(reference: weakref.ref[Indexer], building: threading.Lock) -> None:
    """Build until nothing is missing, or the index is closed or no longer used by anybody."""
    try:
        while (indexer := reference()) and not indexer._is_closed:
            indexer._builder = get_ident()
            if not indexer._step():
                break
            indexer = None
    except BaseException as fault:
        clear_frames(fault)
        if indexer is not None:
            indexer._fault = fault.with_traceback(None)
    finally:
        indexer = None  # before the lock: who waits for it may open the folder again
        _release(building)


def _release(lock: threading.Lock) -> None:
    with suppress(RuntimeError):
        lock.release()


def _unfinished(error: KipError, missing: int) -> KipError:
    """The error of a request whose time is over before the index is complete."""
    number = f", {missing} elements are missing" if missing else ""
    message = f"{error.message.rstrip('.')}: the text index is being built{number}."
    return KipError(error.code, message, "Repeat it later: what is indexed is kept.")
