"""Opens a nexus: checks that its index matches the graph, and applies the bundled capsules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from kiprdf import resources
from kiprdf.errors import KipError, StoreError
from kiprdf.execution.writer import BOOTSTRAP, RESTORED, read_capsule, run_in
from kiprdf.kml.draft import Draft, timestamp
from kiprdf.kql.identities import exists
from kiprdf.language.printer import outline
from kiprdf.loading import lazy_logger
from kiprdf.meta.indexing import Indexer
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.literals import to_term
from kiprdf.store import Delta, NexusStore, Origin, OxigraphStore

if TYPE_CHECKING:
    from kiprdf.execution.engine import CommandEngine

_CAPSULE = "capsule/"
"""The prefix of the records of applied capsules; each holds the digest of a capsule."""
_SELF = "20_self.kip"
LOST_COMMITS = "The graph has lost %s commits, which its text index knows of; restore a backup."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_log = lazy_logger(__name__)


def compare_with_index(store: NexusStore, indexer: Indexer) -> int:
    """The number of commits that the graph has lost, as far as the text index shows.

    It is called before anything is written. A commit number that cannot be read is replaced; if
    forgetting was interrupted, it is completed.
    """
    embedded = store.embedded
    if embedded is not None and embedded.lacks_number() and not store.read_only:
        opened_at = int(store.records().get(BOOTSTRAP, 0))
        number = embedded.renumber(above=max(opened_at, indexer.indexed_commit()))
        _log.warning(
            "The number of the last commit could not be read; it is %s from now on.", number
        )
    if embedded is not None and embedded.is_erasing:
        indexer.erase()
        embedded.erased()
    lost_commits = indexer.lost_commits()
    if lost_commits:
        _log.error(LOST_COMMITS, lost_commits)
    return lost_commits


def apply_bundled(engine: CommandEngine) -> None:
    """Apply the bundled capsules that are new or have changed, as one commit."""
    store, writer = engine.store, engine.writer
    if store.read_only:
        return

    def write() -> None:
        applied = store.records()
        _require_definitions(store, applied)
        capsules = resources.bundled_capsules()
        records = {_CAPSULE + capsule.name: capsule.digest for capsule in capsules}
        changed = [one for one in capsules if applied.get(_CAPSULE + one.name) != one.digest]
        if not changed:
            return
        if writer.is_empty():
            records[BOOTSTRAP] = str(store.commit() + 1)
        if exists(store.iris.concept("Person", "$self"), store):
            # The agent has developed $self; a new capsule must not reset it.
            changed = [capsule for capsule in changed if capsule.name != _SELF]
        text, statement = "\n".join(capsule.text for capsule in changed), None
        if store.commit() == 0:
            delta = _dated(_first_delta(text, store.iris.base), timestamp(engine.clock()))
            if store.journal is not None:
                statement = _first_statement(text, store.iris.base)
        else:
            delta = writer.draft(read_capsule(text), privileged=True)[1].delta()
        writer.commit(replace(delta, records=records), statement=statement)

    if not store.is_shared:
        store.write(write)
        return
    try:
        engine.budgets.spend_as_request(lambda: store.write(write))
    except KipError as error:
        raise StoreError(f"The nexus cannot be created: {error.message}") from None


@lru_cache(maxsize=8)
def _first_delta(text: str, base_iri: str) -> Delta:
    """What capsules add to an empty nexus; a process that opens many of them drafts it once."""
    draft = Draft(OxigraphStore.memory(base_iri), lambda: _EPOCH)
    run_in(draft, read_capsule(text))
    return draft.delta()


@lru_cache(maxsize=8)
def _first_statement(text: str, base_iri: str) -> str:
    """The outline of these capsules in the history, which takes as long as writing them."""
    return "\n\n".join(map(outline, _first_delta(text, base_iri).commands))


def _dated(delta: Delta, time: str) -> Delta:
    """A first delta as of a time."""
    written, moment = to_term(timestamp(_EPOCH)), to_term(time)
    added = [(s, p, moment if o == written else o) for s, p, o in delta.added]
    return replace(delta, added=added, origin=Origin(time))


def bundled_ids(base_iri: str) -> frozenset[str]:
    """The ids of the elements that the bundled capsules write."""
    text = "\n".join(capsule.text for capsule in resources.bundled_capsules())
    return frozenset(map(Iris(base_iri).id, _first_delta(text, base_iri).touched))


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
