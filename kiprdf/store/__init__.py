"""Stores the dataset.

``delta`` (what a write changes), ``base`` (the protocols: all that other packages may call),
``read_set`` (validates a write that was prepared without the lock), ``lock`` (the writer's lock),
``bookkeeping`` (commit numbers, records, texts), ``journal`` and ``journal_files`` (what each
commit changed, on disk), ``commit_index`` (the commits that changed an element), ``past`` (earlier
states, as stores and as one record), ``view`` and ``merging`` (several stores as one),
``rebuilding`` (what commits lead to, and a damaged graph from the journal), ``folder`` (manifest,
locks, opening, backups, a graph written afresh), ``proposals`` (what waits for a person),
``refusals`` (writes that were not done), ``erasures`` (the digests of what was forgotten),
``update_times`` (elements in the order of their updates), ``oxigraph_reads`` and ``oxigraph`` (the
embedded store, in memory or in a folder), ``connecting`` (opens a store that speaks SPARQL:
recognizes its engine, then ``remote``, over ``remote_session``, its commits and what is known of
them, ``remote_reads`` and ``remote_commits``; ``endpoint`` and ``http`` send, ``layout`` converts
its triples), ``cancellation`` (of long queries), ``guard`` (limits of raw SPARQL),
``sparql_worker`` and ``sparql_child`` (the processes that answer it).
"""

from kiprdf.store.base import NexusStore, Request, Solutions, Store, is_store
from kiprdf.store.delta import Delta, Origin, Written
from kiprdf.store.oxigraph import OxigraphStore
from kiprdf.store.read_set import ReadSet

__all__ = [
    "Delta",
    "NexusStore",
    "Origin",
    "OxigraphStore",
    "ReadSet",
    "Request",
    "Solutions",
    "Store",
    "Written",
    "is_store",
]
