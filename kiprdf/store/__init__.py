"""Where the dataset is stored.

``delta`` (what a write changes), ``base`` (the protocols: all that other rooms may call),
``recorded_reads`` (validates a write that was prepared without the lock), ``lock`` (the writer's
lock), ``commit_log`` (commit numbers, recent changes), ``folder`` (manifest, claims, opening),
``update_times`` (elements in the order of their updates), ``oxigraph`` (the embedded store, in
memory or in a folder), ``log_repair`` (a log that a fork has
written), ``cancellation`` (of long queries), ``guard`` (limits of raw SPARQL), ``sparql_worker``
and ``sparql_child`` (the processes that answer it).
"""

from kiprdf.store.base import Store, WritableStore
from kiprdf.store.delta import Delta, Written
from kiprdf.store.oxigraph import OxigraphStore
from kiprdf.store.recorded_reads import RecordedReads

__all__ = ["Delta", "OxigraphStore", "RecordedReads", "Store", "WritableStore", "Written"]
