"""Applies a mapping to triples, and undoes it: one of JSON-LD contexts, or ``original``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import NamedNode, Triple

from kiprdf.errors import KipError
from kiprdf.interchange.dataset import RESTORABLE
from kiprdf.interchange.mapping.apply import apply_mapping, undo_mapping
from kiprdf.interchange.mapping.contexts import Mapping
from kiprdf.interchange.original.record import Record
from kiprdf.interchange.original.writing import to_original
from kiprdf.rdf.iris import Iris


def applied(triples: Iterable[Triple], iris: Iris, mapping: Mapping) -> Iterator[Triple]:
    """The triples of a nexus in the terms of a mapping."""
    if mapping.is_original:
        return to_original(triples, iris)
    return apply_mapping(triples, iris, mapping)


def names(triples: Iterable[Triple], iris: Iris, mapping: Mapping) -> dict[Any, NamedNode]:
    """The IRIs that a mapping gives to elements; the others keep theirs."""
    if not mapping.is_original:
        return {}
    groups: dict[Any, list[Triple]] = defaultdict(list)
    for triple in triples:
        groups[triple.subject].append(triple)
    return dict(Record(groups, iris).own)


def undone(triples: Iterable[Triple], iris: Iris, mapping: Mapping) -> Iterator[Triple]:
    """The triples of a nexus from their mapped forms; other triples pass unchanged."""
    if mapping.is_original:
        message = "A snapshot with the mapping original is for other tools: it is not restored."
        raise KipError("KIP_1001", message, RESTORABLE)
    return undo_mapping(triples, iris, mapping)
