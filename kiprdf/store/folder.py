"""The folder of a nexus: its manifest, its lock, and the opening of its graph.

A folder contains ``nexus.json`` (format, base, and which folder the graph is in), the graph
(RocksDB) and the files of other packages. RocksDB would turn any folder into a store, so the folder
is checked before it is opened. A rewritten graph goes to the other of two folders, which
``nexus.json`` names as soon as it is complete (docs/decisions/098).
"""

from __future__ import annotations

import gc
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict, cast
from weakref import ref

from pyoxigraph import Literal, Quad
from pyoxigraph import Store as Engine

from kiprdf import forks
from kiprdf.checksums import FileSums
from kiprdf.errors import (
    DamagedGraphError,
    DamagedManifestError,
    LockedError,
    StoreError,
)
from kiprdf.loading import Lazy
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import base_fault
from kiprdf.store.bookkeeping import (
    ENGINE_FAULTS,
    note,
    readable,
    rebuild_texts,
    record,
)
from kiprdf.store.journal import FOLDER as HISTORY
from kiprdf.store.journal import discard_prepared
from kiprdf.store.journal_files import replace_file

if TYPE_CHECKING:
    import shutil
else:
    shutil = Lazy("shutil")


FORMAT = 3
"""The format of the folder and of the dataset in it; format 1 had no graph of texts, format 2
no numbers and booleans in it."""
GRAPH = "graph"
GRAPHS = (GRAPH, "graph.2")
"""The folders that the graph may be in."""
DAMAGED = "damaged"
"""The folder of a damaged graph that was written again."""
MANIFEST = "nexus.json"
VECTORS = "vectors.sqlite3"
"""The file of the vectors of texts, which take long to compute again."""
OPEN_ATTEMPTS = 12
_PARTIAL = MANIFEST + ".partial"
_OWN_LOCK = "lock hold by current process"


class FolderLock:
    """Held by a store that may write to a folder; the folder is free when the lock is gone."""

    __slots__ = ("__weakref__",)


class OpenFolder(NamedTuple):
    """The engine of a folder, the base of its IRIs, its format, and the lock of a writer."""

    engine: Engine
    base: str
    format: int
    lock: FolderLock | None


class _Manifest(TypedDict):
    format: int
    base: str
    graph: NotRequired[str]
    erasing: NotRequired[bool]
    history: NotRequired[bool]


def absolute(folder: str | os.PathLike[str]) -> Path:
    """The absolute path of a folder; raises ``StoreError`` for one that no system accepts."""
    path = Path(folder).absolute()
    if "\0" in str(path):
        raise StoreError("The path of the folder contains a NUL character.")
    return path


def index_folder(folder: str | os.PathLike[str] | None, name: str = "") -> Path | None:
    """The folder for the text index of a store that is elsewhere, which is created."""
    if folder is None:
        return None
    path = absolute(folder) / name
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise StoreError(f"The folder {path} cannot be created: {fault.strerror}.") from None
    return path


def open_folder(path: Path, base: str | None, read_only: bool, history: bool = False) -> OpenFolder:
    """Open the graph in a folder; create it if the folder is absent or empty.

    The manifest of a new folder notes whether it has a ``history``. Raises ``StoreError`` when the
    folder contains something else, a newer format or another base, when another process or this one
    has it open, and when it cannot be written.
    """
    manifest = _read_manifest(path)
    if manifest is None and read_only:
        raise StoreError(f"There is no nexus in {path}.")
    format = FORMAT if manifest is None else manifest["format"]
    if read_only and format < FORMAT:
        message = f"The nexus in {path} has the earlier format {format}"
        raise StoreError(f"{message}; 'kiprdf check' converts it, as any opening for writing does.")
    stored = None if manifest is None else manifest["base"]
    chosen = checked_base(base if base is not None else stored or vocab.DEFAULT_BASE)
    if stored is not None and stored != chosen:
        message = f"The nexus in {path} has the base {stored}, not {chosen}"
        raise StoreError(f"{message}: leave the base out.")
    lock = None if read_only else _lock_folder(path)
    try:
        if manifest is None:
            engine = _create(path, chosen, history)
        else:
            _require_graph(path)
            engine = open_engine(path, read_only)
            if not read_only:
                remove_old_logs(path)
                # What a rewriting that was killed has left; the engine is locked by now.
                shutil.rmtree(other_graph(path), ignore_errors=True)
        return OpenFolder(engine, chosen, format, lock)
    except BaseException:
        # The traceback keeps this frame, and must not keep the folder.
        lock = None
        raise


def checked_base(base: str) -> str:
    """A base IRI; raises ``StoreError`` for one that cannot be a base."""
    fault = base_fault(base)
    if fault is not None:
        raise StoreError(f"The base IRI {base!r} {fault}.")
    return base


def _read_manifest(path: Path) -> _Manifest | None:
    """The manifest of a folder; None if the folder is absent or empty."""
    try:
        try:
            manifest = json.loads((path / MANIFEST).read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            _require_empty(path)
            return None
    except (ValueError, RecursionError):
        raise _damaged(path, "cannot be read: it is not JSON") from None
    except OSError as fault:
        raise StoreError(f"The folder {path} cannot be read: {fault.strerror}.") from None
    number = manifest.get("format") if isinstance(manifest, dict) else None
    if type(number) is not int or number < 1:
        raise _damaged(path, "does not describe a nexus")
    if number > FORMAT:
        raise StoreError(
            f"The nexus in {path} has format {number}; this kiprdf reads up to {FORMAT}: "
            "use a newer one."
        )
    if not isinstance(manifest.get("base"), str) or manifest.get("graph", GRAPH) not in GRAPHS:
        raise _damaged(path, "does not describe a nexus")
    return cast(_Manifest, manifest)


def _damaged(path: Path, fault: str) -> DamagedManifestError:
    """The error of a manifest that is damaged, with what helps."""
    can_help = graph_without_manifest(path) is not None
    hint = f"Repair it: kiprdf check --repair --nexus {path}" if can_help else "Restore a backup."
    return DamagedManifestError(f"{path / MANIFEST} {fault}. {hint}")


def graph_without_manifest(path: Path) -> str | None:
    """The folder of the graph, if there is only one, and the graph is not being rewritten."""
    graphs = [name for name in GRAPHS if (path / name / "CURRENT").is_file()]
    return graphs[0] if len(graphs) == 1 and not any(path.glob("history/*.next")) else None


def is_half_created(path: Path) -> bool:
    """Whether a folder is empty, or has what an interrupted creation of a nexus leaves."""
    # That is the graph only; nothing was written to it.
    return path.is_dir() and all(one.name in (GRAPH, _PARTIAL) for one in path.iterdir())


def _require_empty(path: Path) -> None:
    """Refuse a path without a manifest that has something else; it may be absent."""
    if not path.exists():
        return
    if not path.is_dir():
        raise StoreError(f"{path} is a file; a nexus needs a folder.")
    if not is_half_created(path):
        if graph_without_manifest(path) is not None:
            raise _damaged(path, "is missing")
        scopes = sorted(one.parent.name for one in path.glob(f"*/{MANIFEST}"))
        if scopes:
            one = path / scopes[0]
            raise StoreError(
                f"The folder {path} is no nexus, and has some in it: name one, such as {one}; "
                "serve and mcp read several with --scopes."
            )
        raise StoreError(f"The folder {path} contains other files and no nexus.")


def _create(path: Path, base: str, history: bool) -> Engine:
    """Create a nexus. The manifest makes a folder a nexus, so it comes last."""
    try:
        (path / GRAPH).mkdir(parents=True, exist_ok=True)
        engine = open_engine(path, read_only=False)
        write_manifest(path, base, history=history)
    except OSError as fault:
        raise StoreError(f"No nexus can be created in {path}: {fault.strerror}.") from None
    return engine


def write_manifest(
    path: Path, base: str, graph: str = GRAPH, erasing: bool = False, history: bool = False
) -> None:
    """Write the manifest of a folder, whole or not at all.

    ``erasing`` says that other files may still have what the graph has forgotten, ``history`` that
    the folder has a history; once noted, that stays.
    """
    manifest: dict[str, object] = {"format": FORMAT, "base": base, "graph": graph}
    if erasing:
        manifest["erasing"] = True
    if history or notes_history(path):
        manifest["history"] = True
    replace_file(path / MANIFEST, [f"{json.dumps(manifest, indent=2)}\n".encode()])


def read_base(path: Path) -> str:
    """The base of the IRIs of a nexus, as its manifest says."""
    manifest = _read_manifest(path)
    return vocab.DEFAULT_BASE if manifest is None else manifest["base"]


def graph_folder(path: Path) -> Path:
    """The folder of the graph of a nexus."""
    manifest = _read_manifest(path)
    return path / (GRAPH if manifest is None else manifest.get("graph", GRAPH))


def other_graph(path: Path) -> Path:
    """The folder for a graph that is written afresh."""
    return next(path / name for name in GRAPHS if path / name != graph_folder(path))


def is_erasing(path: Path) -> bool:
    """Whether files may still have what the graph has forgotten."""
    manifest = _read_manifest(path)
    return manifest is not None and manifest.get("erasing", False)


def notes_history(path: Path) -> bool:
    """Whether a folder has a history, as its manifest says; that of an older folder does not."""
    manifest = _read_manifest(path)
    return manifest is not None and manifest.get("history", False)


def identity(path: Path) -> str | None:
    """What differs after the graph of a folder was written afresh.

    None where there is no graph, and while the history is not that of the graph.
    """
    try:
        graph = graph_folder(path)
        if is_erasing(path) or not (graph / "CURRENT").exists():
            return None
        return (graph / "IDENTITY").read_bytes().hex()
    except FileNotFoundError:
        return ""  # a backup that was never opened for writing
    except OSError:
        return None


def _require_graph(path: Path) -> None:
    """Refuse a folder that has lost its graph; RocksDB would create an empty one."""
    try:
        graph = graph_folder(path)
        # A writer may have written the graph afresh, in the other folder.
        has_graph = (graph / "CURRENT").is_file() or graph != graph_folder(path)
    except OSError as fault:
        raise StoreError(f"The graph of {path} cannot be read: {fault.strerror}.") from None
    if not has_graph:
        raise DamagedGraphError(f"The graph of the nexus in {path} is missing or damaged.")


def open_engine(path: Path, read_only: bool, attempts: int = OPEN_ATTEMPTS) -> Engine:
    """Open the graph of a folder; raises ``StoreError``."""
    if not read_only:
        require_rocksdb(path)
    forks.note_rocksdb()
    attempt = 0.0
    while attempt < attempts:
        graph = graph_folder(path)
        files = _tables(graph)
        try:
            sums = FileSums(graph)
            # A power failure may take bytes of a file, and not touch its time of change.
            damaged = sums.damaged(every_byte=not (read_only or sums.is_closed))
            if damaged and files == _tables(graph):
                raise damaged_file(damaged[0], path)
            engine = Engine.read_only(str(graph)) if read_only else Engine(str(graph))
            if read_only:
                _read_each_table(engine)
            # What a writer moves from a log to a table meanwhile may be in neither.
            if graph == graph_folder(path) and (not read_only or files == _tables(graph)):
                return engine
            reason = "another process replaces its files all the time; open it again later."
        except (OSError, RuntimeError) as fault:
            reason = str(fault)
        # A writer that is just opening replaces files that the reader has listed; an abandoned
        # query keeps the graph of a closed nexus open until it ends.
        if not read_only and graph == graph_folder(path) and _OWN_LOCK not in reason:
            break
        if _OWN_LOCK in reason:
            gc.collect()
        time.sleep(0.02 * attempt)
        # Where nothing was replaced, another attempt hardly helps.
        attempt += 1 if files == _tables(graph) else 0.1
    if _OWN_LOCK in reason:
        raise StoreError(
            f"A query that ran out of time still has the nexus in {path} open: open it again later."
        )
    if re.search("permission|read-only", reason, re.IGNORECASE):
        raise StoreError(f"The nexus in {path} cannot be written.")
    # "lock hold by", "While lock file", but not "block checksum mismatch".
    if re.search(r"\block\b", reason, re.IGNORECASE):
        raise LockedError(path)
    is_damaged = re.search("corruption|no such file", reason, re.IGNORECASE)
    error = DamagedGraphError if is_damaged else StoreError
    raise error(f"The nexus in {path} cannot be opened: {reason}")


def damaged_file(name: str, path: Path | None = None) -> DamagedGraphError:
    """The error of a file of a graph that is not as it was written."""
    deed = "cannot be read" if path is None else f"in {path} cannot be opened"
    reason = f"the file {name} of its graph is not as it was written."
    return DamagedGraphError(f"The nexus {deed}: Corruption: {reason}")


def _read_each_table(engine: Engine) -> None:
    """Let RocksDB open the tables, 16 of which are open already: a writer may remove the others."""
    read: Any = engine.quads_for_pattern
    node, graph = vocab.FORMAT, vocab.BOOKKEEPING
    for pattern in ((node, None, None), (None, node, None), (None, None, node)):
        next(read(*pattern), None)
        next(read(*pattern, graph), None)
    # The oldest texts, which are looked for in the newest tables first.
    list(read(None, None, None, graph))
    next(engine.named_graphs(), None)


def _tables(graph: Path) -> tuple[str, int] | None:
    """What differs as soon as the list of the tables of a graph has changed; None without any."""
    try:
        current = (graph / "CURRENT").read_text()
        return current, (graph / current.strip()).stat().st_size
    except (OSError, ValueError):
        return None


def remove_old_logs(path: Path) -> None:
    """Remove the logs of earlier openings: RocksDB keeps up to a thousand, of 140 kB each."""
    for log in graph_folder(path).glob("LOG.old.*"):
        with suppress(OSError):
            log.unlink()


def require_rocksdb(path: Path) -> None:
    """Refuse to write in a fork, in which RocksDB has no threads and would wait forever."""
    if forks.has_lost_rocksdb():
        raise StoreError(
            f"The nexus in {path} cannot be opened for writing: this process is a fork of one that "
            "used a folder; start processes that use kiprdf with the method spawn."
        )


def is_written(path: Path) -> bool:
    """Whether a nexus is open for writing, in this process or another, or cannot be written."""
    if _is_locked(path.resolve()):
        return True
    # The manifest, which says which graph is in use, may be damaged.
    for place in (path / graph / "LOCK" for graph in GRAPHS):
        try:
            import fcntl  # not on Windows

            with place.open("r+b") as lock:
                # As RocksDB does; for microseconds.
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            continue
        except (ImportError, OSError):
            return True
    return False


_locks: dict[Path, ref[FolderLock]] = {}
_locks_guard = threading.Lock()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """While no other store of this process may write to a folder."""
    lock = _lock_folder(path)
    try:
        yield
    finally:
        del lock


def _lock_folder(path: Path) -> FolderLock:
    """Lock a folder for writing in this process."""
    place = path.resolve()
    if _is_locked(place):
        gc.collect()  # a nexus that nobody closed may wait in a cycle of objects
    with _locks_guard:
        if _is_locked(place):
            raise StoreError(
                f"This process has the nexus in {path} open already: use that one, or close it."
            )
        lock = FolderLock()
        _locks[place] = ref(lock)
        return lock


def _is_locked(place: Path) -> bool:
    lock = _locks.get(place)
    return lock is not None and lock() is not None


# The graph, copied and written afresh ---------------------------------------------------------
# The result is complete or absent, also after a kill.


FORMAT_NOTE = note(vocab.FORMAT, Literal(str(FORMAT), datatype=vocab.INTEGER))


def notes_of(base: str, records: Mapping[str, str], *last: Quad) -> list[Quad]:
    """What a graph notes about itself: format, base, records, and what notes its last commit."""
    noted = [note(record(key), Literal(value)) for key, value in records.items()]
    return [FORMAT_NOTE, note(vocab.BASE, Literal(base)), *noted, *last]


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A temporary folder that becomes the target, which is absent or empty, at the end of a block.

    A failure leaves nothing. Raises ``StoreError``.
    """
    partial = target.parent / f".{target.name}.{os.urandom(4).hex()}.partial"
    try:
        if target.exists() and not target.is_dir():
            raise StoreError(f"{target} is a file; a backup needs a folder.")
        if target.exists() and any(target.iterdir()):
            raise StoreError(f"{target} is not empty; a backup needs an empty folder.")
        partial.mkdir(parents=True)
        yield partial
        FileSums(partial / GRAPH).note()
        if target.exists():
            target.rmdir()
        partial.rename(target)
    except (OSError, RuntimeError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise StoreError(f"No backup can be written to {target}: {reason}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_afresh(
    folder: Path, base: str, quads: Iterable[Quad], prepare: Callable[[], object] | None
) -> Engine:
    """Write the graph to the other folder, which the manifest names from then on.

    ``prepare`` prepares the journal first: the quads note its last record.
    """
    graph = other_graph(folder)
    try:
        if prepare is not None:
            prepare()
        shutil.rmtree(graph, ignore_errors=True)
        engine = Engine(str(graph))
        engine.bulk_extend(quads)
        engine.flush()
        FileSums(graph).note()
        write_manifest(folder, base, graph.name, erasing=prepare is not None)
    except BaseException as fault:
        shutil.rmtree(graph, ignore_errors=True)
        if (folder / HISTORY).is_dir():
            discard_prepared(folder / HISTORY)
        if isinstance(fault, ENGINE_FAULTS):
            reason = getattr(fault, "strerror", None) or fault
            raise StoreError(f"The nexus cannot be rewritten: {reason}.") from fault
        raise
    return engine


def copied(quads: Iterable[Quad]) -> Engine:
    """An engine in memory that lists quads in the given order."""
    engine = Engine()
    # It lists the last quad first.
    engine.bulk_extend(reversed(list(quads)))
    return engine


def convert(engine: Engine, path: Path, base: str) -> None:
    """Convert a folder of an earlier format; after an interrupt it is converted again."""
    rebuild_texts(engine)
    for quad in readable(engine, vocab.BOOKKEEPING, vocab.FORMAT, None, vocab.BOOKKEEPING):
        engine.remove(quad)
        engine.add(FORMAT_NOTE)
    engine.flush()
    write_manifest(path, base, graph_folder(path).name, is_erasing(path))


def repair_manifest(path: Path) -> bool:
    """Write a damaged manifest again, from what the graph notes; whether that was possible."""
    graph = graph_without_manifest(path)
    if graph is None or FileSums(path / graph).damaged():
        return False
    with suppress(*ENGINE_FAULTS, ValueError, StoreError):
        engine = Engine.read_only(str(path / graph))
        quads = readable(engine, vocab.BOOKKEEPING, vocab.BASE, None, vocab.BOOKKEEPING)
        (base,) = (cast(Literal, quad.object).value for quad in quads)
        if FORMAT_NOTE not in engine:
            return False
        (path / MANIFEST).write_text(json.dumps({"format": FORMAT, "base": base}), "utf-8")
        write_manifest(path, base, graph, history=(path / HISTORY).is_dir())
        return True
    return False


def require_base(engine: Engine, path: Path, base: str) -> None:
    """Refuse an edited manifest: the dataset notes its base too, and two would be mixed."""
    graph = vocab.BOOKKEEPING
    for quad in readable(engine, graph, vocab.BASE, None, graph):
        noted = cast(Literal, quad.object).value
        if noted != base:
            message = f"The nexus in {path} has the base {noted}; its {MANIFEST} says {base}."
            hint = f"Repair it: kiprdf check --repair --nexus {path}"
            raise DamagedManifestError(f"{message} {hint}")
