"""The embedded store: Oxigraph, in memory or in a folder.

A folder holds ``nexus.json`` (format and base), ``graph/`` (RocksDB) and what other rooms keep
beside it. RocksDB would turn any folder into a store, so the folder is looked at first.
"""

from __future__ import annotations

import gc
import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import ref

from pyoxigraph import (
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
    Triple,
)
from pyoxigraph import Store as Engine

from kiprdf import budget, forks
from kiprdf.errors import ForkedLogError, StoreError
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, base_fault, decode, encode
from kiprdf.sparql.text import render_update
from kiprdf.store import log_repair
from kiprdf.store.base import Cancellation, Cell, Row, Statement
from kiprdf.store.cancellation import CancellationToken, run_cancellable
from kiprdf.store.changes import Changes
from kiprdf.store.delta import Delta, Written
from kiprdf.store.guard import is_one_pattern
from kiprdf.store.lock import FairLock
from kiprdf.store.sparql_worker import Found, Solutions, SparqlProcesses

T = TypeVar("T")

FORMAT = 1
"""The format of the folder and of the dataset in it."""
READ_ATTEMPTS = 3
FLUSHED_QUADS = 20_000
"""After so many quads the log is written into tables: to close, or to open after a crash, then
never takes long."""
COMPACTED_QUADS = 20_000
"""Fewer quads that were removed are left in an engine in memory."""
OPEN_ATTEMPTS = 12
_MANIFEST = "nexus.json"
_PARTIAL = _MANIFEST + ".partial"
_GRAPH = "graph"
_RECORD = vocab.KIP + "record/"
_FORMAT_NOTED = Literal(str(FORMAT), datatype=vocab.INTEGER)
_DEFAULT = DefaultGraph()

_ENGINE_FAULTS = (OSError, RuntimeError)
"""What the engine raises when the disk fails it."""

_OWN_LOCK = "lock hold by current process"
_FORKED = (
    "This nexus belongs to the process that opened it, and this process is a fork of that one; "
    "start processes that use kiprdf with the method spawn."
)


class _Claim:
    """What a store that may write to a folder holds; the folder is free when it is gone."""

    __slots__ = ("__weakref__",)


_claims: dict[Path, ref[_Claim]] = {}
_claims_lock = threading.Lock()


class Reading(NamedTuple, Generic[T]):
    """What a reading function returned, and the commit that it saw."""

    commit: int
    result: T


class OxigraphStore:
    """A dataset in an embedded Oxigraph.

    >>> store = OxigraphStore.memory()
    >>> store.commit()
    0
    """

    def __init__(
        self,
        engine: Engine,
        base: str,
        folder: Path | None = None,
        read_only: bool = False,
        claim: _Claim | None = None,
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._claim = claim
        self._process = os.getpid()
        self._lock = FairLock()
        self._closed = False
        self._noted = _noted(engine)
        self._unflushed = 0
        self._uncompacted = 0
        self._compacted_after = COMPACTED_QUADS
        self._processes = SparqlProcesses()
        self.changes = Changes()
        self.iris = Iris(base)
        self.read_only = read_only
        forks.protect(self)

    @classmethod
    def memory(cls, base: str | None = None) -> OxigraphStore:
        """A new store that lives as long as the process."""
        return cls(Engine(), _checked_base(vocab.DEFAULT_BASE if base is None else base))

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], base: str | None = None, read_only: bool = False
    ) -> OxigraphStore:
        """The store in a folder, made there when the folder is absent or empty.

        Raises ``StoreError`` when the folder holds something else, a newer format or another
        base, when another process or this one has it open, and when it cannot be written.
        """
        path = Path(folder).absolute()
        if "\0" in str(path):
            raise StoreError("The path of the folder holds a NUL character.")
        manifest = _manifest(path)
        if manifest is None and read_only:
            raise StoreError(f"There is no nexus in {path}.")
        stored = None if manifest is None else manifest["base"]
        chosen = _checked_base(base if base is not None else stored or vocab.DEFAULT_BASE)
        if stored is not None and stored != chosen:
            raise StoreError(f"The nexus in {path} has the base {stored}, not {chosen}.")
        claim = None if read_only else _claim(path)
        try:
            if manifest is None:
                engine = _create(path, chosen)
            else:
                _require_graph(path)
                engine = _open_engine(path, read_only)
            _require_base(engine, path, chosen)
            if not read_only:
                _drop_stale(engine)
            return cls(engine, chosen, path, read_only, claim)
        except BaseException:
            # The traceback keeps this frame, and must not keep the folder.
            claim = None
            raise

    @property
    def folder(self) -> Path | None:
        """Where the store lives on disk, if it does."""
        return self._folder

    def close(self) -> None:
        """Write everything out and let the folder go. Closing twice is fine."""
        self.require_own_process()
        if self._closed:
            return
        self._closed = True
        engine = self._engine
        try:
            self._processes.close()
            if self._folder is not None and not self.read_only:
                engine.flush()
        except _ENGINE_FAULTS as fault:
            raise StoreError(f"The nexus in {self._folder} cannot be written: {fault}") from None
        finally:
            del self._engine, engine
            self._claim = None

    def abandon(self) -> None:
        """Leave the folder to the process that this one was forked from."""
        if hasattr(self, "_engine"):
            forks.keep_forever(self._engine)
        self._claim = None

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def is_forked(self) -> bool:
        """Whether another process opened the store, and this one was forked from it."""
        return self._process != os.getpid()

    def require_own_process(self) -> None:
        """Raise ``StoreError`` in a process that was forked from the one that opened the store."""
        if self._process != os.getpid():
            raise StoreError(_FORKED)

    # Reading ----------------------------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        """The pyoxigraph store, for bulk reading and raw SPARQL."""
        self._require_open()
        return self._engine

    def _require_open(self) -> None:
        self.require_own_process()
        if self._closed:
            raise StoreError("The nexus is closed.")

    @contextmanager
    def bulk_reading(self) -> Iterator[Engine]:
        """The engine for reading much of it; what a disk gives back amiss is a ``StoreError``."""
        try:
            yield self.engine
        except _ENGINE_FAULTS as fault:
            raise _unreadable(fault) from fault

    def select(
        self, query: str, *, cancellation: Cancellation = "none", width: int | None = None
    ) -> list[Row]:
        engine = self.engine

        def run(token: CancellationToken) -> list[Row]:
            functions = None if cancellation == "none" else token.functions
            try:
                solutions = engine.query(query, custom_functions=functions)
                return token.fetch_all(map(tuple, cast(QuerySolutions, solutions)), width)
            except _ENGINE_FAULTS as fault:
                raise _unreadable(fault) from fault

        return run_cancellable(run, budget.current(), threaded=cancellation == "threaded")

    def query(self, text: str) -> Found:
        """Answer SPARQL that a caller wrote and the guard let through (docs/decisions/043).

        A single look into an index is taken here; all else in a process that can be killed.
        Raises ``SyntaxError``, ``ValueError``, ``OSError`` and ``RuntimeError`` as the engine does.
        """
        engine = self.engine
        if not is_one_pattern(text):
            return self._processes.query(text, self, budget.current())

        def run(token: CancellationToken) -> Found:
            results = engine.query(text)
            if isinstance(results, QuerySolutions):
                names = tuple(variable.value for variable in results.variables)
                return Solutions(names, token.fetch_all(map(tuple, results)))
            return bool(cast(QueryBoolean, results))

        return run_cancellable(run, budget.current())

    def match(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object: NamedNode | Literal | Triple | None,
    ) -> Iterator[Triple]:
        budget.check()
        return _triples(self.engine, subject, predicate, object, _DEFAULT)

    def lookup(self, subject: Cell, predicate: Cell, object: Cell, most: int) -> list[Statement]:
        try:
            pattern: Any = (subject, predicate, object, _DEFAULT)
            return list(islice(self.engine.quads_for_pattern(*pattern), most))
        except _ENGINE_FAULTS as fault:
            raise _unreadable(fault) from fault

    def describe(self, node: NamedNode) -> list[Triple]:
        budget.check()
        facts = self.iris.predicates
        triples = _triples(self.engine, node, None, None, _DEFAULT)
        return [triple for triple in triples if not triple.predicate.value.startswith(facts)]

    def _quads(self, *pattern: Any) -> Iterator[Quad]:
        return _readable(self.engine, *pattern)

    def commit(self) -> int:
        engine = self.engine
        while True:
            noted = self._noted
            if noted.is_sure:
                return noted.number
            # A write is on its way: whether its number stands there is whether it has happened.
            if _commit_note(noted.number + 1) in engine:
                return noted.number + 1
            if noted is self._noted:
                return noted.number

    def lacks_number(self) -> bool:
        """Whether the number of the last commit is noted, but cannot be read.

        An interrupt could make pyoxigraph write ``<unprintable int object>`` for it.
        """
        return bool(self._noted.notes) and self._noted.number == 0

    def renumber(self, above: int) -> int:
        """Note a number for the last commit, higher than another, and return it."""
        with self.writing():
            self._noted = self._noted._replace(number=above)
            return self.apply(Delta())

    def records(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for quad in self._quads(None, None, None, vocab.BOOKKEEPING):
            if quad.predicate.value.startswith(_RECORD):
                key = decode(quad.predicate.value[len(_RECORD) :])
                found[key] = cast(Literal, quad.object).value
        return found

    def read(self, function: Callable[[], T]) -> T:
        self._require_open()
        if self.read_only:
            return function()
        for _ in range(READ_ATTEMPTS):
            reading = self.try_read(function)
            if reading is not None:
                return reading.result
        with self._lock:
            return function()

    def try_read(self, function: Callable[[], T]) -> Reading[T] | None:
        """Run a reading function once, without a lock; None if a commit came in between."""
        before = self.commit()
        try:
            result = function()
        except Exception:
            # An error on a mix of two states may be wrong; on one state it is the answer.
            if self.commit() == before:
                raise
            return None
        return Reading(before, result) if self.commit() == before else None

    def fault_of_files(self) -> str | None:
        """Why the files on disk could not be opened again, which the open engine does not see."""
        if self._folder is None or self.read_only:
            return None
        try:
            _open_engine(self._folder, read_only=True)
        except StoreError as fault:
            return str(fault)
        return None

    # Copying ----------------------------------------------------------------------------------

    def copy(self) -> OxigraphStore:
        """A copy in memory, as of one commit."""
        copy = Engine()
        copy.bulk_extend(iter(self.engine))  # an iterator sees one state as long as it lives
        return OxigraphStore(copy, self.iris.base)

    def backup(self, folder: str | os.PathLike[str]) -> None:
        """Copy the store into a folder, which is absent or empty, as of one commit.

        Others read and, unless the store lives in memory or is read-only, hardly wait. The copy is
        whole or not there. Raises ``StoreError``.
        """
        self._require_open()
        target = Path(folder).absolute()
        if "\0" in str(target):
            raise StoreError("The path of the folder holds a NUL character.")
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise StoreError(f"{target} is not empty; a backup is made in a folder of its own.")
        _require_rocksdb(target)
        partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        try:
            partial.mkdir(parents=True)
            self._copy_graph(partial / _GRAPH)
            _write_manifest(partial, self.iris.base)
            if target.exists():
                target.rmdir()
            partial.rename(target)
        except (OSError, RuntimeError) as fault:
            raise StoreError(f"No backup can be made in {target}: {fault}") from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _copy_graph(self, graph: Path) -> None:
        if self._folder is not None and not self.read_only:
            with self.writing():
                self.engine.flush()
                # RocksDB's own: it links the files that never change.
                self.engine.backup(str(graph))
            return
        # An iterator sees one state as long as it lives.
        copy = Engine(str(graph))
        copy.bulk_extend(iter(self.engine))
        copy.flush()

    # Writing ----------------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[Any]:
        self.require_own_process()
        if self.read_only:
            raise StoreError("The nexus is open read-only.")
        return self._lock

    def apply(self, delta: Delta) -> int:
        with self.writing():
            engine = self.engine
            before = self._noted if self._noted.is_sure else _noted(engine)
            number = before.number + 1
            notes = [_commit_note(number)]
            if number == 1:
                notes.append(_note(vocab.FORMAT, _FORMAT_NOTED))
                notes.append(_note(vocab.BASE, Literal(self.iris.base)))
            self._noted = before._replace(is_sure=False)
            stale: Sequence[Quad] = ()
            try:
                if delta.removed or delta.records:
                    self._exchange(delta, before.notes, notes)
                else:
                    stale = self._add(delta.added, before.notes, notes)
                # A graph that has lost its log may take a write, and not show it.
                if notes[0] not in engine:
                    raise OSError("what was written is not there.")
            except BaseException as fault:
                # What was written of it, if anything, only the graph can tell.
                with suppress(StoreError):
                    self._noted = _noted(engine)
                if isinstance(fault, _ENGINE_FAULTS):
                    raise StoreError(f"The nexus cannot be written: {fault}") from fault
                raise
            if not delta.records:  # what leads over a gap is not known
                removed, added = (*delta.removed, *before.notes), (*delta.added, *notes)
                self.changes.add(number, removed, added)
            self._noted = _Noted(number, (notes[0], *stale))
            if self._folder is not None:
                self._flush_after(len(delta.added) + len(delta.removed))
            else:
                self._compact_after(len(delta.removed) + len(before.notes))
            return number

    def _flush_after(self, written: int) -> None:
        """Write the log into tables when enough has come together; its writes have happened."""
        self._unflushed += written
        if self._unflushed >= FLUSHED_QUADS:
            with suppress(*_ENGINE_FAULTS):
                self._engine.flush()
            self._unflushed = 0

    def _compact_after(self, removed: int) -> None:
        """Copy the dataset when more was removed from it than it holds.

        An engine in memory never frees what was removed, some 400 bytes a quad.
        """
        self._uncompacted += removed
        if self._uncompacted < self._compacted_after:
            return
        size = len(self._engine)  # takes as long as there are quads
        if self._uncompacted < size:
            self._compacted_after = size
            return
        copy = Engine()
        # An engine in memory lists what came last first, and the copy should list the same.
        copy.bulk_extend(reversed(list(self._engine)))
        # Who reads the old engine goes on; it holds the same.
        self._engine = copy
        self._uncompacted = 0
        self._compacted_after = COMPACTED_QUADS

    def _exchange(self, delta: Delta, stale: Iterable[Quad], notes: Iterable[Quad]) -> None:
        """Write what removes as well, in the one way of the engine that does both."""
        removed: list[Written | Quad] = [*delta.removed, *stale]
        added: list[Written | Quad] = [*delta.added, *notes]
        for key, value in delta.records.items():
            note = _note(_record(key), Literal(value))
            removed += self._quads(note.subject, note.predicate, None, note.graph_name)
            added.append(note)
        self.engine.update(render_update(removed, added))

    def _add(
        self, added: Iterable[Written], stale: Sequence[Quad], notes: Iterable[Quad]
    ) -> Sequence[Quad]:
        """Write what only adds: one transaction too, without a text that must be parsed.

        It cannot remove the number of the commit before, which goes afterwards: until then, and
        after a crash, the higher one holds (docs/decisions/039). What stays there is returned.
        """
        self.engine.extend(chain(starmap(Quad, added), notes))
        try:
            for quad in stale:
                self.engine.remove(quad)
        except _ENGINE_FAULTS:
            # The write has happened; the next one tries again.
            return stale
        return ()

    def replace(self, dataset: Engine, records: dict[str, str]) -> int:
        """Put a dataset in the place of all there is, as one commit, and return its number.

        ``dataset`` has it as its default graph, and nothing else; it is this store's from here on.
        ``records`` are written beside those there are. The lock is held.
        """
        with self.writing():
            if self._folder is not None:
                return self._replace_on_disk(dataset, records)
            graph, number = vocab.BOOKKEEPING, self.commit() + 1
            notes = {note.predicate: note.object for note in self._quads(graph, None, None, graph)}
            notes |= {vocab.FORMAT: _FORMAT_NOTED, vocab.BASE: Literal(self.iris.base)}
            notes |= {_record(key): Literal(value) for key, value in records.items()}
            notes[vocab.COMMIT] = _commit_note(number).object
            dataset.extend(Quad(graph, key, value, graph) for key, value in notes.items())
            # Who reads the old engine goes on, and sees by the commit that it is old.
            self._noted = self._noted._replace(is_sure=False)
            self._engine = dataset
            self._noted = _Noted(number, (_commit_note(number),))
            return number

    def _replace_on_disk(self, dataset: Engine, records: dict[str, str]) -> int:
        """The same where only an update takes away and puts there at once."""
        wanted = {quad.triple: None for quad in dataset}
        present = set(self.match(None, None, None))
        removed = tuple(triple for triple in present if triple not in wanted)
        added = tuple(triple for triple in wanted if triple not in present)
        return self.apply(Delta(removed, added, records=records))


class _Noted(NamedTuple):
    """The number of the last commit and where it is noted, besides in the graph.

    To read it there takes the longer the more numbers have stood there: the engine passes by what
    was removed.
    """

    number: int
    notes: tuple[Quad, ...]
    is_sure: bool = True
    """Not while a write is on its way."""


def _noted(engine: Engine) -> _Noted:
    """The same as the graph has it; after a crash the number before may stand there too."""
    graph = vocab.BOOKKEEPING
    notes = tuple(_readable(engine, graph, vocab.COMMIT, None, graph))
    texts = (cast(Literal, quad.object).value for quad in notes)
    return _Noted(max((int(text) for text in texts if text.isdecimal()), default=0), notes)


def _drop_stale(engine: Engine) -> None:
    """Remove the number of an earlier commit, which a crash may have left."""
    noted = _noted(engine)
    last = _commit_note(noted.number)
    if last not in noted.notes:
        return
    with suppress(*_ENGINE_FAULTS):
        for quad in noted.notes:
            if quad != last:
                engine.remove(quad)


def _note(key: NamedNode, value: Literal) -> Quad:
    return Quad(vocab.BOOKKEEPING, key, value, vocab.BOOKKEEPING)


def _commit_note(number: int) -> Quad:
    # Of an integer pyoxigraph makes the text itself, and takes no notice of an interrupt meanwhile.
    return _note(vocab.COMMIT, Literal(str(number), datatype=vocab.INTEGER))


def _record(key: str) -> NamedNode:
    """The predicate of a note of the nexus's own."""
    return NamedNode(_RECORD + encode(key))


def _readable(engine: Engine, *pattern: Any) -> Iterator[Quad]:
    """The quads of a pattern; a disk that gives back something else is a ``StoreError``."""
    try:
        yield from engine.quads_for_pattern(*pattern)
    except _ENGINE_FAULTS as fault:
        raise _unreadable(fault) from fault


def _triples(engine: Engine, *pattern: Any) -> Iterator[Triple]:
    """The same without the names of graphs; most readings are small, and each layer tells."""
    try:
        for quad in engine.quads_for_pattern(*pattern):
            yield quad.triple
    except _ENGINE_FAULTS as fault:
        raise _unreadable(fault) from fault


def _unreadable(fault: Exception) -> StoreError:
    return StoreError(f"The nexus cannot be read: {fault}")


def _checked_base(base: str) -> str:
    fault = base_fault(base)
    if fault is not None:
        raise StoreError(f"The base IRI {base!r} {fault}.")
    return base


def _manifest(path: Path) -> dict[str, Any] | None:
    """What a folder says of its nexus; None when the folder is absent or empty."""
    try:
        if not path.exists():
            return None
        if not path.is_dir():
            raise StoreError(f"{path} is a file; a nexus lives in a folder.")
        manifest = path / _MANIFEST
        if not manifest.exists():
            # The graph alone is what an interrupted creation leaves; nothing was written to it.
            if any(entry.name not in (_GRAPH, _PARTIAL) for entry in path.iterdir()):
                raise StoreError(f"The folder {path} holds other files and no nexus.")
            return None
        found = json.loads(manifest.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise StoreError(f"{path / _MANIFEST} cannot be read: it is no JSON.") from None
    except OSError as fault:
        raise StoreError(f"The folder {path} cannot be read: {fault.strerror}.") from None
    number = found.get("format") if isinstance(found, dict) else None
    if type(number) is not int or number < 1:
        raise StoreError(f"{path / _MANIFEST} does not describe a nexus.")
    if found["format"] > FORMAT:
        raise StoreError(
            f"The nexus in {path} has format {found['format']}; this kiprdf reads up to {FORMAT}."
        )
    if not isinstance(found.get("base"), str):
        raise StoreError(f"{path / _MANIFEST} does not describe a nexus.")
    return cast(dict[str, Any], found)


def _create(path: Path, base: str) -> Engine:
    """Make a nexus. A folder with a manifest is one, so the manifest comes last."""
    try:
        (path / _GRAPH).mkdir(parents=True, exist_ok=True)
        engine = _open_engine(path, read_only=False)
        _write_manifest(path, base)
    except OSError as fault:
        raise StoreError(f"No nexus can be made in {path}: {fault.strerror}.") from None
    return engine


def _write_manifest(path: Path, base: str) -> None:
    text = json.dumps({"format": FORMAT, "base": base}, indent=2) + "\n"
    partial = path / _PARTIAL
    partial.write_text(text, "utf-8")
    partial.replace(path / _MANIFEST)


def _require_base(engine: Engine, path: Path, base: str) -> None:
    """The dataset notes its base too: an edited manifest would mix two bases."""
    graph = vocab.BOOKKEEPING
    for quad in _readable(engine, graph, vocab.BASE, None, graph):
        noted = cast(Literal, quad.object).value
        if noted != base:
            message = f"The nexus in {path} holds the base {noted}; its {_MANIFEST} says {base}."
            raise StoreError(message)


def _require_graph(path: Path) -> None:
    """RocksDB would make a lost graph anew, empty."""
    try:
        found = (path / _GRAPH / "CURRENT").is_file()
    except OSError as fault:
        raise StoreError(f"The graph of {path} cannot be read: {fault.strerror}.") from None
    if not found:
        raise StoreError(f"The graph of the nexus in {path} is missing or damaged.")


def _open_engine(path: Path, read_only: bool) -> Engine:
    if not read_only:
        _require_rocksdb(path)
    if log_repair.is_forked(path / _GRAPH):
        # RocksDB may not notice, and throws away what it does not read.
        raise ForkedLogError(
            f"A process and a fork of it have both written to the log of the nexus in {path}; "
            f"repair it with: kiprdf check --nexus {path}"
        )
    forks.note_rocksdb()
    graph = str(path / _GRAPH)
    for attempt in range(OPEN_ATTEMPTS):
        try:
            return Engine.read_only(graph) if read_only else Engine(graph)
        except (OSError, RuntimeError) as fault:
            reason = str(fault)
        # A writer that is just opening replaces files that the reader has listed; a query that was
        # given up has the graph of a closed nexus open until it ends.
        if not read_only and _OWN_LOCK not in reason:
            break
        gc.collect()
        time.sleep(0.02 * attempt)
    if _OWN_LOCK in reason:
        raise StoreError(f"A query that was given up still has the nexus in {path} open.")
    if re.search("permission|read-only", reason, re.IGNORECASE):
        raise StoreError(f"The nexus in {path} cannot be written.")
    # "lock hold by", "While lock file"; a "block checksum mismatch" is none of another's doing.
    if re.search(r"\block\b", reason, re.IGNORECASE):
        raise StoreError(f"Another process has the nexus in {path} open.")
    raise StoreError(f"The nexus in {path} cannot be opened: {reason}")


def _require_rocksdb(path: Path) -> None:
    """RocksDB has no threads in a fork, and would wait for them for ever."""
    if forks.has_lost_rocksdb():
        raise StoreError(
            f"The nexus in {path} cannot be opened for writing: this process is a fork of one that "
            "used a folder; start processes that use kiprdf with the method spawn."
        )


def repair_log(folder: str | os.PathLike[str]) -> None:
    """Write the log of a closed folder again, if a process and a fork of it have written it.

    Nothing of either is lost; they may disagree on an element, which ``check`` reports. The log as
    it was is kept in the subfolder ``damaged``. Raises ``StoreError`` when the folder is
    open somewhere, or cannot be written.
    """
    import fcntl  # not on Windows, which has no forks

    path = Path(folder).absolute()
    claim = _claim(path)
    try:
        with (path / _GRAPH / "LOCK").open("r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as RocksDB does
            log_repair.repair(path / _GRAPH, path / "damaged")
    except OSError as fault:
        raise StoreError(f"The log of the nexus in {path} cannot be repaired: {fault}.") from None
    finally:
        del claim


def _claim(path: Path) -> _Claim:
    place = path.resolve()
    if _is_claimed(place):
        gc.collect()  # a nexus that nobody closed may be waiting in a cycle of objects
    with _claims_lock:
        if _is_claimed(place):
            raise StoreError(f"This process has the nexus in {path} open already.")
        claim = _Claim()
        _claims[place] = ref(claim)
        return claim


def _is_claimed(place: Path) -> bool:
    found = _claims.get(place)
    return found is not None and found() is not None
