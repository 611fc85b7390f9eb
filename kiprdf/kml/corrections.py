"""What an import corrects of an earlier one: texts that are links now, concepts of a better type.

UPSERT adds only, and MERGE joins concepts of one type, so these have no command of their own.
"""

from __future__ import annotations

from typing import cast

from pyoxigraph import NamedNode

from kiprdf.kml.draft import Draft
from kiprdf.kml.merge import move_links, note_merged
from kiprdf.rdf.elements import Concept
from kiprdf.rdf.literals import to_json, to_term


def take_out(draft: Draft, id: str, key: str, text: str) -> None:
    """Take a text out of an attribute: as its value, or as one of several."""
    element = draft.element(cast(NamedNode, draft.store.iris.from_id(id)))
    term = None if element is None else element.attributes.get(key)
    if element is None or term is None:
        return
    value = to_json(term)
    items = value if isinstance(value, list) else [value]
    left = [item for item in items if item != text]
    if not left:
        del element.attributes[key]
    elif left != items:
        element.attributes[key] = to_term(left[0] if len(left) == 1 else left)


def replace_concept(draft: Draft, old: str, new: str) -> None:
    """Put one concept into the place of another, with its links, its values and its trail."""
    iris = draft.store.iris
    nodes = (cast(NamedNode, iris.from_id(id)) for id in (old, new))
    source, target = (cast(Concept, draft.element(node)) for node in nodes)
    note_merged(source, target)
    move_links(source.node, target.node, draft)
    draft.delete([source.node])
