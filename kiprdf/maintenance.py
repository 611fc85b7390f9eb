"""Checks a nexus: its graph, its records, its text index; rewrites its graph."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad
from pyoxigraph import Store as Engine

from kiprdf.errors import DamagedGraphError, ReplacedError, StoreError, without_folder
from kiprdf.execution.bootstrap import LOST_COMMITS
from kiprdf.execution.engine import CommandEngine
from kiprdf.execution.find_options import ENTAIL
from kiprdf.execution.history import BEGIN_AGAIN
from kiprdf.execution.writer import STRICT_SCHEMA
from kiprdf.interchange.dataset import faults
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.meta.indexing import Indexer
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import PropositionName
from kiprdf.store import NexusStore, OxigraphStore, refusals
from kiprdf.store.bookkeeping import record
from kiprdf.store.commit_index import INDEX
from kiprdf.store.folder import VECTORS
from kiprdf.store.journal import Journal
from kiprdf.store.past import require_embedded
from kiprdf.store.rebuilding import replayed
from kiprdf.store.sorted_values import FOLDER as VALUES

LITTLE_DISK = 64 * 1024**2
"""Free bytes below which a disk is nearly full; of a disk below 1.25 GB, a twentieth of it."""
_WRONG_TEXTS = "FILTER finds some texts of arrays, tagged or typed values wrongly; repair it."
_DERIVED = (
    "The file {} is not as it was written; "
    "let its content be made again: kiprdf check --repair --nexus FOLDER"
)
_LOST = (
    "The records of commits {first} to {last} were lost: the folder was copied without them, or "
    "while it was in use. Restore a backup; or begin the history at commit {last}: "
    "kiprdf compact-history --before {last} --nexus {folder}"
)
_SETTINGS = {STRICT_SCHEMA: ("true", "false"), ENTAIL: ("true", "false", "same_as")}
"""The values of the records of settings."""
_NOTES = (vocab.FORMAT, vocab.BASE)
"""The records with one value; the commit number may have two after a crash."""


def check(engine: CommandEngine, repair: bool) -> dict[str, Any]:
    """Check everything that a nexus promises of its graph and of its index.

    ``faults`` are sentences: a missing endpoint, a fact with no link or with two, a value that no
    command writes, a missing record, files that cannot be opened again. ``index`` is "sound",
    "wrong" or "repaired"; ``repair`` rebuilds an index that differs from the graph. If the graph
    has faults, it is "unchecked". ``vectors`` is the number of elements that have a vector.
    ``history`` is None without a journal; else its ``state`` is "sound", "gap" or "wrong".
    """
    store = engine.store

    def run() -> dict[str, Any]:
        try:
            return _check(store, engine.indexer, repair)
        except DamagedGraphError as fault:
            if repair and store.embedded is not None and store.embedded.rebuild():
                return _check(store, engine.indexer, repair)
            return _unreadable(store, engine.indexer, fault, repair)

    if store.read_only or store.is_shared:
        report = store.read(run)
    else:
        with store.writing():
            report = run()
    for kept in (engine.writer.proposals, engine.writer.questions):
        try:
            kept.all()
        except StoreError as fault:
            report["faults"].append(str(fault))
    report["faults"] += refusals.faults(store.folder)
    if engine.lost_commits:
        report["faults"].append(LOST_COMMITS % engine.lost_commits)
    return report


def problems(engine: CommandEngine) -> list[str]:
    """What is wrong with a nexus that is in use, as sentences; none if all is well.

    If the last write failed, the files are opened again, as the next write would.
    """
    store = engine.store.embedded
    if store is None or store.folder is None:
        return []
    sentences = [LOST_COMMITS % engine.lost_commits] if engine.lost_commits else []
    try:
        store.require_sound_files()
        if not store.read_only:
            store.require_writable_files()
    except StoreError as fault:
        sentences.append(without_folder(str(fault), store.folder))
    return sentences if store.read_only else sentences + full_disk(store.folder)


def full_disk(folder: Path) -> list[str]:
    """What is wrong with the disk of a folder that is written."""
    disk = shutil.disk_usage(folder)
    is_full = disk.free < min(LITTLE_DISK, disk.total // 20)
    return [f"The disk has only {disk.free // 1024**2} MB left."] if is_full else []


def optimize(engine: CommandEngine) -> dict[str, int]:
    """Write the graph of a folder afresh; the bytes of the folder ``before`` and ``after``."""
    store = require_embedded(engine.store, "optimize")
    engine.writer.require_writable()
    with store.writing():
        before = size_of(store.folder)
        store.rewrite()
        return {"before": before, "after": size_of(store.folder)}


def size_of(folder: Path | None) -> int:
    """The bytes of all files in a folder; RocksDB may remove some meanwhile."""
    size = 0
    for path in () if folder is None else folder.rglob("*"):
        with suppress(OSError):
            size += path.stat().st_size if path.is_file() else 0
    return size


def _unreadable(
    store: NexusStore, indexer: Indexer, fault: DamagedGraphError, repair: bool
) -> dict[str, Any]:
    """The report on a graph with damaged files; nothing of it is counted."""
    return {
        "concepts": None,
        "propositions": None,
        "commit": store.commit(),
        "faults": [f"{fault} {fault.hint}"],
        "index": "unchecked",
        "vectors": indexer.embedded(),
        "history": _check_history(store, repair),
    }


def _check(store: NexusStore, indexer: Indexer, repair: bool) -> dict[str, Any]:
    if store.embedded is not None:
        store.embedded.require_sound_files(every_byte=True)

    def read(engine: Engine) -> tuple[list[str], list[str]]:
        elements: list[str] = []
        broken = faults(StagingStore(engine), store.iris, elements)
        sentences = [fault.message for fault in broken]
        return [*sentences, *_faults_of_notes(store, engine)], elements

    sentences, elements = store.read_whole(read)
    if store.embedded is not None:
        sentences += _embedded_faults(store.embedded, repair)
    derived = list(_derived_faults(store, indexer, repair))
    names = map(store.iris.name, elements)
    kinds = Counter(isinstance(name, PropositionName) for name in names)
    return {
        "concepts": kinds[False],
        "propositions": kinds[True],
        "commit": store.commit(),
        "faults": sentences + derived,
        "index": "unchecked" if sentences else _index_state(indexer, repair),
        "vectors": indexer.embedded(),
        "history": _check_history(store, repair),
    }


def _embedded_faults(store: OxigraphStore, repair: bool) -> Iterator[str]:
    """The faults that only the embedded store can have."""
    if not store.has_right_texts():
        if repair:
            store.rebuild_texts()
        else:
            yield _WRONG_TEXTS
    fault_of_files = store.fault_of_files()
    if fault_of_files is not None:
        hint = "The folder will not open again; back it up now, while it is open."
        yield f"{hint} {fault_of_files}"


def _derived_faults(store: NexusStore, indexer: Indexer, repair: bool) -> Iterator[str]:
    """The files of derived data, besides the text index, that are not as they were written."""
    if not indexer.has_sound_vectors(repair):
        yield _DERIVED.format(VECTORS)
    if store.journal is not None and not store.journal.index.is_sound(repair):
        yield _DERIVED.format(INDEX)
    if store.embedded is not None and not store.embedded.has_sound_values(repair):
        yield _DERIVED.format(VALUES)


def _check_history(store: NexusStore, repair: bool) -> dict[str, Any] | None:
    """The state of the journal: sound, with a gap, or wrong, with ``faults`` as sentences."""
    journal, number = store.journal, store.commit()
    if journal is None:
        lost = _lost_records(store)
        return {"state": "gap", "earliest_seq": number, "faults": lost} if lost else None
    sentences, lost = journal.verify(), list[str]()
    texts = journal.verify_statements(repair)
    earliest = journal.earliest(number)
    try:
        if not sentences and not _leads_to(store, journal, earliest, number):
            sentences.append("The records of the history do not lead to the graph.")
        lost = [] if sentences else _lost_records(store)
    except ReplacedError:
        raise
    except StoreError as fault:
        sentences.append(str(fault))
    if sentences and store.embedded is not None:
        # They may be about the history of the graph that a writer has put in the place of this one.
        store.embedded.require_own_files()
    has_gap = journal.has_gap or journal.last < number
    if journal.faults or journal.missing:
        sentences.append(BEGIN_AGAIN.format(number=earliest))
    sentences += texts
    state = "wrong" if sentences else "gap" if has_gap else "sound"
    sentences += lost
    return {"state": state, "earliest_seq": earliest, "faults": sentences}


def _lost_records(store: NexusStore) -> list[str]:
    """Sentences about the commits whose records the history has lost."""
    lost = [] if store.embedded is None else store.embedded.lost_records()
    return [_LOST.format(first=first, last=last, folder=store.folder) for first, last in lost]


def _leads_to(store: NexusStore, journal: Journal, earliest: int, number: int) -> bool:
    """Whether the graph has what the journal added last, and nothing that it removed last."""
    whole = journal.from_nothing(number)
    present = replayed(journal.commits(earliest, number) if whole is None else whole)

    def leads_to(engine: Engine) -> bool:
        default = DefaultGraph()
        if any((Quad(*row, default) in engine) != is_in for row, is_in in present.items()):
            return False
        size = sum(1 for _ in engine.quads_for_pattern(None, None, None, default))
        return whole is None or size == sum(present.values())

    return store.read_whole(leads_to)


def _faults_of_notes(store: NexusStore, engine: Engine) -> Iterator[str]:
    """The faults outside of the default graph, where the records are."""
    for graph in engine.named_graphs():
        if graph not in (vocab.BOOKKEEPING, vocab.TEXTS):
            yield f"There is a graph {graph}, which does not belong to a nexus."
    if store.embedded is not None and store.embedded.lacks_number():
        noted = ", ".join(str(quad.object) for quad in _notes(engine, vocab.COMMIT, None))
        yield f"The number of the last commit cannot be read: {noted}."
    if store.commit() == 0:
        return
    for key in _NOTES:
        notes = list(_notes(engine, key))
        if len(notes) != 1:
            yield f"The record {key} has {len(notes)} values instead of one."
    for setting, values in _SETTINGS.items():
        stored = [quad.object for quad in _notes(engine, record(setting))]
        if stored and stored not in [[Literal(value)] for value in values]:
            noted, allowed = ", ".join(map(str, stored)), " or ".join(f'"{v}"' for v in values)
            yield f"The record {setting} is {noted}; it is either {allowed}."
    for quad in _notes(engine, vocab.BASE):
        if quad.object != Literal(store.iris.base):
            yield f"The noted base is {quad.object}, and the nexus has {store.iris.base}."


def _notes(
    engine: Engine, key: NamedNode, subject: NamedNode | None = vocab.BOOKKEEPING
) -> Iterator[Quad]:
    return iter(engine.quads_for_pattern(subject, key, None, vocab.BOOKKEEPING))


def _index_state(indexer: Indexer, repair: bool) -> str:
    if indexer.is_sound():
        return "sound"
    if not repair:
        return "wrong"
    indexer.rebuild()
    return "repaired" if indexer.is_sound() else "wrong"
