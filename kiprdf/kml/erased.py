"""What an erasure list names is left out of a copy, such as a capsule (docs/decisions/188)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pyoxigraph import NamedNode

from kiprdf.kml.draft import Draft
from kiprdf.rdf.elements import Proposition

_LISTS = ("upsert_concept_nodes", "upsert_proposition_links")


def drop_erased(draft: Draft) -> None:
    """Take what the list of a draft names, and every proposition about it, out of the draft.

    Only what it creates can be on the list: what is in the nexus is not.
    """
    if not draft.listed:
        return
    new = [edit.after for edit in draft.edits.values() if edit.before is None]
    links = [one for one in new if isinstance(one, Proposition)]
    facts = {link.node: draft.fact(link) for link in links}
    dropped = {one.node for one in new if draft.is_listed(one.node, facts.get(one.node))}
    dropped = with_links(dropped, facts.items())
    draft.discard(dropped)
    draft.erased |= dropped


def with_links(nodes: set[NamedNode], facts: Collection[tuple[Any, Any]]) -> set[NamedNode]:
    """Some elements, and every link about them, of those whose facts are given."""
    size, linked = 0, {*nodes}
    while size != len(linked):
        size = len(linked)
        linked |= {link for link, fact in facts if {fact.subject, fact.object} & linked}
    return linked


def with_erased(receipt: dict[str, Any], draft: Draft) -> dict[str, Any]:
    """A receipt without what was left out of a draft, and with its number as ``erased``."""
    ids = set(map(draft.shown_id, draft.erased))
    kept = {key: [id for id in receipt[key] if id not in ids] for key in _LISTS if key in receipt}
    return {**receipt, **kept, "erased": len(draft.erased)}
