"""Corrections of earlier imports: strings that are links now, concepts that get a better type.

UPSERT only adds, and MERGE joins concepts of one type, so no command does this.
"""

from __future__ import annotations

from typing import cast

from pyoxigraph import NamedNode

from kiprdf.interchange.importing.plan import ImportPlan, ReplacedText
from kiprdf.kml.draft import Draft
from kiprdf.kml.merge import move_links, note_merged
from kiprdf.rdf.elements import Concept
from kiprdf.rdf.literals import to_json, to_term


def correct(plan: ImportPlan, draft: Draft) -> None:
    """Make the corrections of a plan in the draft of its UPSERT."""
    for replaced in plan.replaced_texts:
        _remove_text(replaced, draft)
    for old, new in plan.superseded.items():
        _replace_concept(old, new, draft)


def _remove_text(replaced: ReplacedText, draft: Draft) -> None:
    """Remove a string from an attribute: the whole value, or one item of an array."""
    element = draft.element(cast(NamedNode, draft.store.iris.from_id(replaced.id)))
    term = None if element is None else element.attributes.get(replaced.key)
    if element is None or term is None:
        return
    value = to_json(term)
    items = value if isinstance(value, list) else [value]
    remaining = [item for item in items if item != replaced.text]
    if remaining == items:
        return  # such as an empty list beside a link
    if not remaining:
        del element.attributes[replaced.key]
    else:
        term = to_term(remaining[0] if len(remaining) == 1 else remaining)
        element.attributes[replaced.key] = term


def _replace_concept(old: str, new: str, draft: Draft) -> None:
    """Replace one concept by another, which takes over its links, values and merge history."""
    iris = draft.store.iris
    nodes = (cast(NamedNode, iris.from_id(id)) for id in (old, new))
    source, target = (cast(Concept, draft.element(node)) for node in nodes)
    note_merged(source, target)
    move_links(source.node, target.node, draft)
    draft.delete([source.node])
