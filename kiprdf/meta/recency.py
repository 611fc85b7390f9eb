"""The elements that changed last, for the primer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from pyoxigraph import NamedNode

from kiprdf.budget import paced
from kiprdf.kql.beliefs import reasons_of
from kiprdf.kql.reader import Reader
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json
from kiprdf.semantics.protected import is_rejection
from kiprdf.store import Store
from kiprdf.store.totals import FILING
from kiprdf.store.update_times import Range

MOST_READ = 20_000
"""The elements that are looked through: filing a whole memory may be its last change."""
BOOTSTRAP = "SystemBootstrap"
"""The source of what opening a nexus writes, which is no news until it changes."""
_LAST = "\U0010ffff"


class Changes(NamedTuple):
    """Concepts and propositions, the last changed first."""

    concepts: list[dict[str, Json]]
    propositions: list[dict[str, Json]]


def recent_changes(store: Store, most: int) -> Changes:
    """The last changed elements, at most so many of each kind; equal times in the order of IRIs.

    What opening wrote, rejections, links that only file a concept, and what is not believed in the
    store are left out.
    """
    totals = store.totals()
    entries: list[list[dict[str, Json]]] = []
    for are_links in (False, True):
        kept = None if totals is None else totals.recent(store.commit(), are_links)
        iris, is_whole = ([], False) if kept is None else kept
        shown = _entries(store, iris, most)
        if len(shown) < most and not is_whole:
            shown = _entries(store, (iri for _, iri in newest(store, are_links)), most)
        entries.append(shown)
    return Changes(*entries)


def newest(store: Store, are_links: bool) -> Iterator[tuple[str, str]]:
    """The times and IRIs of the last changed concepts, or links that do not file a concept."""
    first = store.iris.propositions
    end = first + _LAST
    ranges = [(first, end)] if are_links else [("", first), (end, _LAST)]
    return (each for each in _newest(store, ranges) if not (are_links and each[1].endswith(FILING)))


def _newest(store: Store, ranges: list[Range]) -> Iterable[tuple[str, str]]:
    elements = ((time, iri) for time, iris in store.newest(ranges) for iri in iris)
    return paced(islice(elements, MOST_READ))


def _entries(store: Store, iris: Iterable[str], most: int) -> list[dict[str, Json]]:
    reader, unbelieved = Reader(store), reasons_of(store)
    nodes = (node for node in map(NamedNode, iris) if node not in unbelieved)
    elements = map(reader.object, nodes)
    return [_entry(element) for element in islice(filter(_is_news, elements), most)]


def _is_news(element: dict[str, Json]) -> bool:
    metadata: dict[str, Json] = element["metadata"]
    if "type" in element and is_rejection(element["type"], element["name"]):
        return False
    return metadata.get("source") != BOOTSTRAP or metadata.get(vocab.VERSION, 1) != 1


def _entry(element: dict[str, Json]) -> dict[str, Json]:
    keys = ("id", "subject", "predicate", "object")
    entry = {key: element[key] for key in keys if key in element}
    entry["changed_at"] = element["metadata"][vocab.UPDATED_AT]
    return entry
