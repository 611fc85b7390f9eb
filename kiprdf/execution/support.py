"""What elements are known from: notes that state or mention them, and their sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import NamedNode

from kiprdf.kml.draft import Draft
from kiprdf.kml.protection import is_actor, is_system
from kiprdf.kql.identities import exists
from kiprdf.language.names import DERIVED_FROM, META_TYPES
from kiprdf.rdf.elements import Concept, Element, Proposition, attribute, metadata

STATES = "states"
"""From a note to a proposition."""
MENTIONS = "mentions"
"""From a note to an entity."""


def unsupported(draft: Draft, nodes: Iterable[NamedNode]) -> list[NamedNode]:
    """What has no evidence any more without some elements, and without what lacks it with them.

    Those are the facts that only they state, the entities that only they mention, and what is
    derived from them alone. The draft is used up.
    """
    draft.delete([node for node in nodes if exists(node, draft.store)])
    lacking: list[NamedNode] = []
    seen: set[NamedNode] = set()
    while links := [
        link
        for node, link in draft.deleted.items()
        if isinstance(link, Proposition) and node not in seen
    ]:
        seen.update(link.node for link in links)
        ways = dict.fromkeys(way for link in links for way in _supported(draft, link))
        lost = [
            node
            for node, predicate in ways
            if node not in draft.deleted and not _has_support(draft, node, predicate)
        ]
        lacking += dict.fromkeys(lost)
        draft.delete(lost)
    return lacking


def _supported(draft: Draft, link: Proposition) -> Iterator[tuple[NamedNode, str]]:
    """What a link was evidence for, and by which predicate."""
    predicate = link.predicate
    if predicate == DERIVED_FROM:
        yield link.subject, predicate
    elif predicate in (STATES, MENTIONS):
        if isinstance(draft.element(link.object), Proposition) == (predicate == STATES):
            yield link.object, predicate
    else:
        # A note that states a relation of two entities does not mention them besides.
        for end in (link.subject, link.object):
            element = draft.element(end)
            if element is not None and "entity_id" in element.attributes:
                yield end, MENTIONS


def _has_support(draft: Draft, node: NamedNode, predicate: str) -> bool:
    """Whether anything else is evidence for an element, or it needs none."""
    element, iris = draft.element(node), draft.store.iris
    if element is None or is_system(node, iris) or is_actor(node, iris) or _is_kept(element):
        return True
    links = draft.links_at(node)
    if any(_is_evidence(link, element) for link in links):
        return True
    if isinstance(element, Concept):
        return predicate == MENTIONS and bool(links)
    forgotten = {one.name for one in draft.deleted.values() if isinstance(one, Concept)}
    own, memories = (metadata(element, key) for key in ("evidence", "memory_ids"))
    # Evidence without a note is that of a snapshot, or of someone's own.
    return bool(own) and not (isinstance(memories, list) and forgotten.issuperset(memories))


def _is_evidence(link: Proposition, element: Element) -> bool:
    if link.predicate == DERIVED_FROM:
        return link.subject == element.node
    is_denial = metadata(link, "superseded") and not metadata(link, "confidence")
    way = STATES if isinstance(element, Proposition) else MENTIONS
    return (link.predicate, link.object) == (way, element.node) and not is_denial


def _is_kept(element: Element) -> bool:
    """Whether an element is there without evidence: a definition, the user, what a user named."""
    if not isinstance(element, Concept):
        return False
    is_marked = attribute(element, "is_kept") is True
    is_user = element.type == "User" and "entity_id" in element.attributes
    return is_marked or is_user or element.type in META_TYPES
