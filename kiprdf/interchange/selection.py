"""Parts of a nexus that are complete datasets: a domain, or the result of a selection.

A part includes what its elements need: the ends of propositions, and the definitions of types and
predicates. So its snapshot can be restored.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from pyoxigraph import NamedNode, Triple

from kiprdf.errors import KipError, nearest
from kiprdf.kql.reader import link_of
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.store import Store

MEMBERSHIP = "belongs_to_domain"
DOMAIN = "Domain"


def domain(store: Store, name: str) -> list[Triple]:
    """The triples of a domain: the domain, its members, and the propositions among these.

    A proposition about a proposition is among them when both of its ends are. Raises KIP_3002 when
    there is no such domain.
    """
    node = store.iris.concept(DOMAIN, name)
    if not store.describe(node):
        message = f"There is no domain '{name}'."
        near = nearest(name, _domains(store))
        hint = f"Did you mean '{near[0]}'?" if near else "List them with DESCRIBE DOMAINS."
        raise KipError("KIP_3002", message, hint)
    memberships = store.match(None, store.iris.predicate(MEMBERSHIP), node)
    members = [cast(NamedNode, triple.subject) for triple in memberships]
    return elements(store, [node, *members, *_among(store, [node, *members])])


def elements(store: Store, nodes: Iterable[NamedNode]) -> list[Triple]:
    """The triples of some elements and of what they need, each once.

    Raises KIP_3002 for a node that is not an element of the store.
    """
    selected: dict[Triple, None] = {}
    pending = list(nodes)
    visited = set(pending)
    while pending:
        node = pending.pop()
        triples, needed = _element(store, node)
        selected.update(dict.fromkeys(triples))
        pending.extend(dict.fromkeys(other for other in needed if other not in visited))
        visited.update(needed)
    return list(selected)


def _element(store: Store, node: NamedNode) -> tuple[list[Triple], list[NamedNode]]:
    """The triples of one element, and the elements that it needs."""
    own = store.describe(node)
    if not own:
        message = f"There is no element {node}."
        raise KipError("KIP_3002", message, "Select elements of this nexus.")
    needed: list[NamedNode] = []
    for triple in own:
        if triple.predicate == vocab.REIFIES:
            fact = cast(Triple, triple.object)
            ends = cast(NamedNode, fact.subject), cast(NamedNode, fact.object)
            return [*own, fact], [fact.predicate, *ends]
        if triple.predicate == vocab.TYPE:
            needed.append(cast(NamedNode, triple.object))
    # A nexus that was opened without its capsules has no definitions of the meta-types.
    return own, [definition for definition in needed if store.describe(definition)]


def _among(store: Store, nodes: Iterable[NamedNode]) -> list[NamedNode]:
    """The propositions between elements, those about these propositions included."""
    selected = set(nodes)
    pending = sorted(selected, key=str)
    links: dict[NamedNode, None] = {}
    while pending:
        for fact in store.facts(pending.pop()):
            if fact.subject not in selected or fact.object not in selected:
                continue
            link = link_of(store, fact)
            assert link is not None, fact
            if link not in selected:
                selected.add(link)
                links[link] = None
                pending.append(link)
            elif link not in links:
                links[link] = None
    return list(links)


def _domains(store: Store) -> list[str]:
    typed = store.match(None, vocab.TYPE, store.iris.type(DOMAIN))
    names = (store.iris.name(cast(NamedNode, triple.subject).value) for triple in typed)
    return [name.name for name in names if isinstance(name, ConceptName)]
