"""What a patch does to elements, as drafts: it is checked like a statement (docs/decisions/118)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from pyoxigraph import DefaultGraph, NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.errors import KipError
from kiprdf.interchange.differences.patch import Patch
from kiprdf.interchange.staging_store import StagingStore
from kiprdf.kml.draft import Draft, Edit
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, Terms, read_element
from kiprdf.rdf.literals import Json, to_json

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def draft_deletions(patch: Patch, draft: Draft) -> None:
    """Draft the elements that a patch deletes, and the links that it gives other ends."""
    identities = (vocab.TYPE, vocab.REIFIES)
    nodes = _subjects(row for row in patch.removed if row.predicate in identities)
    draft.store.prefetch(nodes)
    for node in paced(nodes):
        element = draft.element(node)
        assert element is not None, node
        draft.deleted[node] = element
        if isinstance(element, Proposition) and draft.fact(element) not in patch.removed:
            draft.superseded.add(node)


def draft_changes(patch: Patch, dataset: StagingStore, draft: Draft) -> None:
    """Draft the elements that a patch creates and changes; ``dataset`` is its sound result.

    Versions and times are those of the patch, and no changes. Raises KIP_2002 for metadata of the
    engine that no engine writes.
    """
    iris = draft.store.iris
    rows = (*patch.removed, *patch.added)
    nodes = _subjects(row for row in rows if not row.predicate.value.startswith(iris.predicates))
    draft.store.prefetch(nodes)
    for node in paced(nodes):
        before = draft.element(node)
        quads = dataset.engine.quads_for_pattern(node, None, None, DefaultGraph())
        after = read_element(iris, node, quads)
        if after is not None:
            _check_metadata(
                {} if before is None else before.metadata, after.metadata, draft.id(node)
            )
            draft.edits[node] = Edit(before and _without_times(before), _without_times(after))


def _subjects(rows: Iterable[Triple]) -> list[NamedNode]:
    return sorted({cast(NamedNode, row.subject) for row in rows}, key=str)


def _without_times(element: Element) -> Element:
    for key in vocab.ENGINE_KEYS:
        element.metadata.pop(key, None)
    return element


def _check_metadata(before: Terms, after: Terms, id: str) -> None:
    """Raise KIP_2002 for a new time, or a new trail of merges, that no engine writes."""
    for key in (vocab.CREATED_AT, vocab.UPDATED_AT, vocab.MERGED_FROM):
        term = after.get(key)
        if term is not None and term != before.get(key) and not _is_usual(key, to_json(term)):
            message = f"The metadata key '{key}' of {id} is maintained by the engine."
            raise KipError("KIP_2002", message, "Leave it out, or write it as the engine does.")


def _is_usual(key: str, value: Json) -> bool:
    if key == vocab.MERGED_FROM:
        return isinstance(value, list) and all(isinstance(name, str) for name in value)
    return isinstance(value, str) and _TIME.fullmatch(value) is not None
