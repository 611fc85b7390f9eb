"""The intervals in which an element is valid: its Periods, and its metadata."""

from __future__ import annotations

from typing import cast

from pyoxigraph import NamedNode

from kiprdf.errors import KipError
from kiprdf.kql.identities import exists
from kiprdf.rdf.elements import read_element
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import to_json
from kiprdf.semantics import periods
from kiprdf.store import NexusStore, Store


def validity(store: NexusStore, id: str) -> list[dict[str, str | None]]:
    """The intervals of an element, united, in their order; empty if nothing limits it.

    Raises ``KipError``: KIP_3002 for an element that does not exist.
    """
    node = store.iris.from_id(id) if isinstance(id, str) else None
    if node is None:
        message = f"{id!r} is not the id of an element."
        raise KipError("KIP_1001", message, "Give an id such as P:4c1d…:treats.")

    def run() -> list[dict[str, str | None]]:
        if not exists(node, store):
            raise KipError(
                "KIP_3002", f"There is no element {id}.", "Read its id with FIND(?link.id)."
            )
        return validity_of(store, node)

    return store.read(run)


def validity_of(store: Store, node: NamedNode) -> list[dict[str, str | None]]:
    """The intervals of an element that exists."""
    element = read_element(store.iris, node, store.statements(node))
    assert element is not None, node
    metadata = {key: to_json(term) for key, term in element.metadata.items()}
    facts = store.match(node, store.iris.predicate(periods.PREDICATE), None)
    objects = (store.iris.name(cast(NamedNode, fact.object).value) for fact in facts)
    during = [name for name in objects if isinstance(name, ConceptName)]
    intervals = periods.united(periods.of_element(metadata, during))
    return [{"from": interval.start, "until": interval.end} for interval in intervals]
