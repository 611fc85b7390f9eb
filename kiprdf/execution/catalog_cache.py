"""The defined types and predicates, read once for each change of the schema."""

from __future__ import annotations

from kiprdf.kql.reader import read_catalog
from kiprdf.semantics import Catalog
from kiprdf.store import Delta, NexusStore


class CatalogCache:
    """Keeps the catalog of a store until a commit changes a definition.

    >>> from kiprdf.store import OxigraphStore
    >>> cache = CatalogCache(OxigraphStore.memory())
    >>> cache.catalog() is cache.catalog()
    True
    """

    def __init__(self, store: NexusStore) -> None:
        self._store = store
        self._entry: tuple[int, Catalog] | None = None
        self._changed_by = 0

    def catalog(self) -> Catalog:
        """The catalog of the commit that is being read; the same object until it changes.

        Other processes may change a shared store at any time.
        """
        entry = self._entry
        is_shared = self._store.is_shared
        valid_from = self._store.commit() if is_shared else self._changed_by
        if entry is not None and entry[0] >= valid_from:
            return entry[1]
        commit = self._store.commit()
        catalog = read_catalog(self._store)
        if entry is not None and entry[1] == catalog:
            catalog = entry[1]
        self._entry = (commit, catalog)
        return catalog

    def expire(self, delta: Delta | None = None) -> None:
        """Expire the catalog if the next commit changes definitions; without ``delta`` it may.

        Call it before the commit: a reader that sees the new state must not use the old catalog.
        """
        iris = self._store.iris
        definitions = (iris.concept_types, iris.predicates)
        if delta is None or any(node.value.startswith(definitions) for node in delta.touched):
            self._changed_by = self._store.commit() + 1
