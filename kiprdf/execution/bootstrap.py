"""What happens when a nexus opens: its index is compared, the bundled capsules are applied."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kiprdf import resources
from kiprdf.errors import StoreError
from kiprdf.execution.writer import BOOTSTRAP, RESTORED
from kiprdf.kql.identities import exists
from kiprdf.meta.indexing import Indexer
from kiprdf.rdf import vocab
from kiprdf.store import Delta, NexusStore, OxigraphStore

if TYPE_CHECKING:
    from kiprdf.execution.engine import CommandEngine

_CAPSULE = "capsule/"
"""The prefix of the records of applied capsules; each holds the digest of a capsule."""
_SELF = "20_self.kip"
LOST_COMMITS = "The graph has lost %s commits, which its text index knows of; restore a backup."
_log = logging.getLogger(__name__)


def compare_with_index(store: NexusStore, indexer: Indexer) -> int:
    """The number of commits that the graph has lost, as far as the text index shows.

    It is called before anything is written. A commit number that cannot be read is replaced; if
    forgetting was interrupted, it is completed.
    """
    if isinstance(store, OxigraphStore) and store.lacks_number() and not store.read_only:
        opened_at = int(store.records().get(BOOTSTRAP, 0))
        number = store.renumber(above=max(opened_at, indexer.indexed_commit()))
        _log.warning(
            "The number of the last commit could not be read; it is %s from now on.", number
        )
    if isinstance(store, OxigraphStore) and store.is_erasing:
        indexer.erase()
        store.erased()
    lost_commits = indexer.lost_commits()
    if lost_commits:
        _log.error(LOST_COMMITS, lost_commits)
    return lost_commits


def apply_bundled(engine: CommandEngine) -> None:
    """Apply the bundled capsules that are new or have changed."""
    store, writer = engine.store, engine.writer
    if store.read_only:
        return

    def write() -> None:
        applied = store.records()
        _require_definitions(store, applied)
        is_empty = writer.is_empty()
        for bundled in resources.bundled_capsules():
            record = _CAPSULE + bundled.name
            if applied.get(record) == bundled.digest:
                continue
            records = {record: bundled.digest}
            if is_empty:
                records[BOOTSTRAP] = str(store.commit() + 1)
            if bundled.name == _SELF and exists(store.iris.concept("Person", "$self"), store):
                # The agent has developed $self; a new capsule must not reset it.
                writer.commit(Delta(records=records))
            else:
                writer.apply_capsule(bundled.text, privileged=True, records=records)

    store.write(write)


def is_bundled(store: NexusStore) -> bool:
    """Whether the bundled capsules were ever applied."""
    return any(record.startswith(_CAPSULE) for record in store.records())


def _require_definitions(store: NexusStore, records: Mapping[str, str]) -> None:
    """Refuse a graph that has lost the core schema, which no statement can delete."""
    root = store.iris.type("$ConceptType")
    # Each pattern reads another table of the engine, and each table may be lost by itself.
    patterns = ((root, vocab.TYPE, None), (None, vocab.TYPE, root), (None, None, root))
    has_root = all(next(store.match(*pattern), None) is not None for pattern in patterns)
    has_capsules = any(record.startswith(_CAPSULE) for record in records)
    if has_capsules and RESTORED not in records and not has_root:
        raise StoreError("The graph is damaged: the core schema is gone. Restore a backup.")
