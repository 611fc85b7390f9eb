"""The elements that changed last, for the primer."""

from __future__ import annotations

from typing import NamedTuple, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.kql.reader import Reader
from kiprdf.meta.counts import VALUE, X, grouped
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json
from kiprdf.store import Store
from kiprdf.store.base import Statement

MOST_MOMENTS = 200
"""The moments of change that are looked through."""
MOST_AT_ONCE = 1_000
"""The elements of one moment that are read; a restore or an import changes any number at once."""
BOOTSTRAP = "SystemBootstrap"
"""The source of what opening a nexus writes, which is no news until it changes."""


BELONGS = "belongs_to_domain"


class Changes(NamedTuple):
    """Concepts and propositions, the last changed first."""

    concepts: list[dict[str, Json]]
    propositions: list[dict[str, Json]]


def recent_changes(store: Store, most: int) -> Changes:
    """The last changed elements, at most so many of each kind; equal times in the order of ids.

    What opening wrote, and links that only file a concept under a domain, are left out.
    """
    updated_at = vocab.metadata(vocab.UPDATED_AT)
    rows = grouped(store, (VALUE,), (X, updated_at, VALUE))
    moments = [value for value, _ in rows if isinstance(value, Literal)]
    moments.sort(key=lambda moment: moment.value, reverse=True)
    changes, reader = Changes([], []), Reader(store)
    for moment in moments[:MOST_MOMENTS]:
        statements = store.lookup(None, updated_at, moment, MOST_AT_ONCE)
        nodes = {store.iris.id(node): node for node in map(_subject, statements)}
        for id in sorted(nodes):
            entries = changes.concepts if id.startswith("C:") else changes.propositions
            if len(entries) < most and not (id.startswith("P:") and id.endswith(f":{BELONGS}")):
                entries += _entries(reader, nodes[id])
        if all(len(entries) >= most for entries in changes):
            break
    return changes


def _subject(statement: Statement) -> NamedNode:
    return cast(NamedNode, statement.subject)


def _entries(reader: Reader, node: NamedNode) -> list[dict[str, Json]]:
    """The entry of an element; none for one that is no news."""
    element = reader.object(node)
    metadata = element["metadata"]
    is_new = metadata.get(vocab.VERSION, 1) == 1
    if metadata.get("source") == BOOTSTRAP and is_new:
        return []
    keys = ("id", "subject", "predicate", "object")
    entry = {key: element[key] for key in keys if key in element}
    entry["changed_at"] = metadata[vocab.UPDATED_AT]
    if metadata.get("superseded") is True:
        entry["superseded"] = True
    return [entry]
