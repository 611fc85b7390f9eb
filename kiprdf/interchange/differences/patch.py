"""RDF Patch, Jena's format: the triples to delete from a dataset and to add, one on each line.

https://afs.github.io/rdf-delta/rdf-patch.html; triples are written as in RDF 1.2 N-Triples.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyoxigraph import Quad, RdfFormat, Triple, parse

from kiprdf.errors import KipError, shown
from kiprdf.interchange import n_triples
from kiprdf.interchange.formats.ordering import normalized
from kiprdf.interchange.n_triples import StagingStore
from kiprdf.source import Span

_IDS = uuid.UUID("5f0b6e0e-1f5c-5d6c-9d8c-2a6f1f3c7a11")
"""The namespace of the ids of patches."""
_CONTROL = re.compile(r"(?:H\s.+|TX|TC)\s*\.")
CHANGE = re.compile(r"([AD])\s+(.+)")
"""A row of a patch."""


class Patch(NamedTuple):
    """The triples to delete and the triples to add."""

    removed: frozenset[Triple]
    added: frozenset[Triple]

    @property
    def text(self) -> str:
        """The patch as ``apply_patch`` reads it."""
        return write(self.removed, self.added)

    def applied(self, triples: Iterable[Triple]) -> StagingStore:
        """The dataset that the patch makes of another one.

        Raises KIP_2002 if it deletes a triple that is not there, or adds one that is: then it was
        made for another state of the dataset.
        """
        before = list(triples)
        values = list(normalized(before))
        missing, present = self.removed.difference(values), self.added.intersection(values)
        faults = (("deletes", "absent", missing), ("adds", "there already", present))
        for verb, state, triples_ in faults:
            if triples_:
                triple = min(map(str, triples_))
                message = f"The patch {verb} a triple that is {state}: {shown(triple)}."
                hint = "It was made for another state of the nexus; compare again with diff."
                raise KipError("KIP_2002", message, hint)
        kept = (old for old, value in zip(before, values, strict=True) if value not in self.removed)
        return StagingStore.of(_quads([*kept, *self.added]))


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


def read(text: str) -> Patch:
    """The changes of a patch; KIP_1001 with the place of a row that cannot be read.

    >>> patch = read("TX .\\nD <urn:a> <urn:b> <urn:c> .\\nA <urn:a> <urn:b> <urn:d> .\\nTC .\\n")
    >>> [triple.object.value for triple in patch.added]
    ['urn:d']

    A triple that is added and later deleted, or the other way round, has not changed.
    """
    removed: set[Triple] = set()
    added: set[Triple] = set()
    start = 0
    for line in text.split("\n"):
        row = line.strip()
        change = CHANGE.fullmatch(row)
        triple = None if change is None else _triple(change[2])
        if change is not None and triple is not None:
            gains, losses = (added, removed) if change[1] == "A" else (removed, added)
            if triple in losses:
                losses.remove(triple)
            else:
                gains.add(triple)
        elif row and not row.startswith("#") and not _CONTROL.fullmatch(row):
            message = f"{shown(row)!r} is not a row of a patch."
            hint = "A row is A or D and a triple in N-Triples; H, TX and TC frame them."
            raise KipError("KIP_1001", message, hint, Span(start, start + len(line)))
        start += len(line) + 1
    return Patch(frozenset(removed), frozenset(added))


def _triple(row: str) -> Triple | None:
    """The triple of a row, with its value as KIP writes it; None if it is not one triple."""
    try:
        (quad,) = parse(row, format=RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError):
        return None
    return next(normalized([quad.triple]))


def _quads(triples: Iterable[Triple]) -> Iterator[Quad]:
    return (Quad(triple.subject, triple.predicate, triple.object) for triple in triples)


def _rows(operation: str, triples: Iterable[Triple]) -> list[str]:
    lines: list[str] = []
    n_triples.read(dataset(triples), lines.extend)
    return sorted(f"{operation} {line} .\n" for line in lines)
