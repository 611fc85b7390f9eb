"""RDF Patch, Jena's format: the triples to delete from a dataset and to add, one a line.

https://afs.github.io/rdf-delta/rdf-patch.html; triples are written as in RDF 1.2 N-Triples. A
patch is written for other tools, which also apply it; nothing here reads one (decisions/035).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import NamedTuple

from pyoxigraph import Triple

from kiprdf.interchange import n_triples
from kiprdf.interchange.formats.ordering import normalized

_IDS = uuid.UUID("5f0b6e0e-1f5c-5d6c-9d8c-2a6f1f3c7a11")
"""The namespace of the ids of patches."""


class Patch(NamedTuple):
    """The triples to delete and the triples to add."""

    removed: frozenset[Triple]
    added: frozenset[Triple]


def between(before: Iterable[Triple], after: Iterable[Triple]) -> Patch:
    """The patch that turns one dataset into another with the same base."""
    old, new = dataset(before), dataset(after)
    return Patch(old - new, new - old)


def dataset(triples: Iterable[Triple]) -> frozenset[Triple]:
    """Triples with normalized values, since engines write some values in different ways."""
    return frozenset(normalized(triples))


def write(removed: Iterable[Triple], added: Iterable[Triple]) -> str:
    """A patch as text: one transaction, rows sorted, deletions first.

    The id in its header is a function of the rows: the same patch has the same bytes.
    """
    rows = "".join([*_rows("D", removed), *_rows("A", added)])
    return f"H id <uuid:{uuid.uuid5(_IDS, rows)}> .\nTX .\n{rows}TC .\n"


def _rows(operation: str, triples: Iterable[Triple]) -> list[str]:
    lines: list[str] = []
    n_triples.read(dataset(triples), lines.extend)
    return sorted(f"{operation} {line} .\n" for line in lines)
