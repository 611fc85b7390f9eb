"""Where the dataset lives.

``delta`` (what a write changes), ``base`` (the ``Store`` protocol: all that the other rooms may
ask of a store), ``lock`` (the writer's lock), ``oxigraph`` (the embedded store, in memory or in a
folder), ``log_repair`` (a log that a fork has written), ``cancellation`` (of long queries),
``guard`` (what raw SPARQL may not do), ``sparql_worker`` and ``sparql_child`` (the processes that
answer it), ``changes`` (what the last commits changed, for these).
"""

from kiprdf.store.base import Store
from kiprdf.store.delta import Delta, Written
from kiprdf.store.oxigraph import OxigraphStore

__all__ = ["Delta", "OxigraphStore", "Store", "Written"]
