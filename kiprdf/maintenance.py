"""Whether a nexus is sound: its graph, its notes, its text index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from kiprdf.execution.bootstrap import LOST_COMMITS
from kiprdf.execution.engine import CommandEngine
from kiprdf.interchange.dataset import faults
from kiprdf.interchange.staging_store import StagingStore
from kiprdf.meta.indexing import Indexer
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import PropositionName
from kiprdf.store import OxigraphStore

_NOTES = (vocab.FORMAT, vocab.BASE)
"""What has one value; the number of the commit may stand there twice after a crash."""


def check(engine: CommandEngine, repair: bool) -> dict[str, Any]:
    """Check everything that a nexus promises of its graph and of its index.

    ``faults`` are sentences: an end that is missing, a fact without a link or with two, a value
    that no command writes, a note that is gone, files that cannot be opened again. ``index`` is
    "sound", "wrong" or "repaired": it is derived, and ``repair`` rebuilds it where it does not
    say what the graph says. Of a graph with faults no index can be judged; then it is "unchecked".
    """
    store = engine.store
    # A nexus that is open read-only never changes.
    with nullcontext() if store.read_only else store.writing():
        report = _check(store, engine.indexer, repair)
    if engine.lost_commits:
        report["faults"].append(LOST_COMMITS % engine.lost_commits)
    return report


def _check(store: OxigraphStore, indexer: Indexer, repair: bool) -> dict[str, Any]:
    elements: list[str] = []
    with store.bulk_reading() as engine:
        sentences = [fault.message for fault in faults(StagingStore(engine), store.iris, elements)]
    sentences += _faults_of_notes(store)
    fault_of_files = store.fault_of_files()
    if fault_of_files is not None:
        hint = "The folder will not open again; back it up now, while it is open."
        sentences.append(f"{hint} {fault_of_files}")
    names = map(store.iris.name, elements)
    kinds = Counter(isinstance(name, PropositionName) for name in names)
    return {
        "concepts": kinds[False],
        "propositions": kinds[True],
        "commit": store.commit(),
        "faults": sentences,
        "index": "unchecked" if sentences else _index_state(indexer, repair),
    }


def _faults_of_notes(store: OxigraphStore) -> Iterator[str]:
    """What is wrong outside of the default graph, which holds the nexus's own notes."""
    for graph in store.engine.named_graphs():
        if graph != vocab.BOOKKEEPING:
            yield f"There is a graph {graph}, of which a nexus knows nothing."
    if store.lacks_number():
        noted = ", ".join(str(quad.object) for quad in _notes(store, vocab.COMMIT))
        yield f"The number of the last commit cannot be read: {noted}."
    if store.commit() == 0:
        return
    for key in _NOTES:
        notes = list(_notes(store, key))
        if len(notes) != 1:
            yield f"The note {key} stands there {len(notes)} times; it has one value."
    for quad in _notes(store, vocab.BASE):
        if quad.object != Literal(store.iris.base):
            yield f"The noted base is {quad.object}, and the nexus has {store.iris.base}."


def _notes(store: OxigraphStore, key: NamedNode) -> Iterator[Quad]:
    graph = vocab.BOOKKEEPING
    return iter(store.engine.quads_for_pattern(graph, key, None, graph))


def _index_state(indexer: Indexer, repair: bool) -> str:
    if indexer.is_sound():
        return "sound"
    if not repair:
        return "wrong"
    indexer.remake()
    return "repaired" if indexer.is_sound() else "wrong"
