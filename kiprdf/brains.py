"""Several nexuses read as one: views."""

from __future__ import annotations

from collections.abc import Sequence

from kiprdf.arguments import check, check_opening
from kiprdf.budget import Budget
from kiprdf.errors import KipError
from kiprdf.kml.draft import Clock
from kiprdf.nexus import Nexus
from kiprdf.search.embedders import Embedder
from kiprdf.store.past import require_embedded
from kiprdf.store.view import ViewStore


def View(  # noqa: N802  (it makes an object, as a class does)
    members: Sequence[Nexus],
    *,
    base_iri: str | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    budget: Budget | None = None,
) -> Nexus:
    """The union of several nexuses as a nexus in memory, to read; close it before its members.

    What a member commits is seen by the next command on the view. One IRI is one element: of a key
    that several members have, the later member's value holds; the element is as old as the oldest
    and as new as the newest. ``base_iri`` is the base of its IRIs, that of the first member if it
    is not given. Members are in memory or in folders. A member that is open read-only stays as it
    was when it was opened, and so does what the view shows of it.

    ``clock``, ``embedder`` and ``budget`` are those of ``Nexus.open``. Raises ``KipError``:
    KIP_1001 for no member, the same one twice, and one in a SPARQL store.

    >>> team, ada = Nexus.memory(), Nexus.memory()
    >>> view = View([team, ada])
    >>> _ = ada.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
    >>> view.find('FIND(?p.name) WHERE { ?p {type: "Person", name: "Ada"} }').column("?p.name")
    ['Ada']
    """
    check(base_iri=base_iri)
    check_opening(None, embedder)
    if not isinstance(members, list | tuple) or not all(isinstance(m, Nexus) for m in members):
        raise KipError("KIP_1001", "The members of a view are a list of nexuses.", "Give [a, b].")
    stores = [require_embedded(member.store, "be a member of a view") for member in members]
    places = {store.folder or id(store) for store in stores}
    if not stores or len(places) < len(stores):
        message = "A view has a member twice." if stores else "A view has one member at least."
        raise KipError("KIP_1001", message, "Name each member once.")
    store = ViewStore(stores, members[0].base_iri if base_iri is None else base_iri)
    view = Nexus(store, genesis=False, clock=clock, embedder=embedder, budget=budget)
    store.expire = view._engine.catalogs.expire
    return view
