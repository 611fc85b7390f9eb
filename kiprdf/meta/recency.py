"""The elements that changed last, for the primer."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from pyoxigraph import NamedNode

from kiprdf.budget import paced
from kiprdf.kql.reader import Reader
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json
from kiprdf.store import Store
from kiprdf.store.update_times import Range

MOST_READ = 20_000
"""The elements that are looked through: filing a whole memory may be its last change."""
BELONGS = "belongs_to_domain"
BOOTSTRAP = "SystemBootstrap"
"""The source of what opening a nexus writes, which is no news until it changes."""
_LAST = "\U0010ffff"


class Changes(NamedTuple):
    """Concepts and propositions, the last changed first."""

    concepts: list[dict[str, Json]]
    propositions: list[dict[str, Json]]


def recent_changes(store: Store, most: int) -> Changes:
    """The last changed elements, at most so many of each kind; equal times in the order of IRIs.

    What opening wrote, and links that only file a concept under a domain, are left out.
    """
    first = store.iris.propositions
    end = first + _LAST
    filing = f"/{BELONGS}"
    links = (iri for iri in _newest(store, [(first, end)]) if not iri.endswith(filing))
    concepts = _newest(store, [("", first), (end, _LAST)])
    return Changes(_entries(store, concepts, most), _entries(store, links, most))


def _newest(store: Store, ranges: list[Range]) -> Iterable[str]:
    iris = (iri for _, iris in store.newest(ranges) for iri in iris)
    return paced(islice(iris, MOST_READ))


def _entries(store: Store, iris: Iterable[str], most: int) -> list[dict[str, Json]]:
    reader = Reader(store)
    elements = (reader.object(NamedNode(iri)) for iri in iris)
    return [_entry(element) for element in islice(filter(_is_news, elements), most)]


def _is_news(element: dict[str, Json]) -> bool:
    metadata: dict[str, Json] = element["metadata"]
    return metadata.get("source") != BOOTSTRAP or metadata.get(vocab.VERSION, 1) != 1


def _entry(element: dict[str, Json]) -> dict[str, Json]:
    keys = ("id", "subject", "predicate", "object")
    entry = {key: element[key] for key in keys if key in element}
    entry["changed_at"] = element["metadata"][vocab.UPDATED_AT]
    if element["metadata"].get("superseded") is True:
        entry["superseded"] = True
    return entry
