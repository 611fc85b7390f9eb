"""How far an element may be trusted: no further than its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pyoxigraph import NamedNode

from kiprdf import budget
from kiprdf.errors import KipError
from kiprdf.execution.naming import node_of
from kiprdf.execution.support import DERIVED_FROM, STATES
from kiprdf.kml.trust import ACTIVE, STATUS, STATUSES, statuses
from kiprdf.kql.identities import exists
from kiprdf.rdf import vocab
from kiprdf.store import Store

if TYPE_CHECKING:
    from kiprdf.nexus import Nexus


def trust(nexus: Nexus, id: str) -> str:
    """The lowest status of an element and of what it comes from.

    That is what it is ``derived_from``, and the notes that ``states`` leads from, if all of them
    have a lower one than the element. A status is ``retracted``, ``deprecated``, ``draft``,
    ``active`` or ``reviewed``; an absent or another one counts as ``active``. Raises KIP_3002 for
    an element that does not exist.

    >>> from kiprdf import Nexus
    >>> nexus = Nexus.memory()
    >>> _ = nexus.execute('''UPSERT {
    ...   CONCEPT ?talk { {type: "Event", name: "Talk"} } WITH METADATA { status: "draft" }
    ...   CONCEPT {
    ...     {type: "Insight", name: "Be brief"} SET PROPOSITIONS { ("derived_from", ?talk) }
    ...   }
    ... }''')
    >>> trust(nexus, "C:Insight/Be brief")
    'draft'
    """

    def run() -> str:
        node = node_of(id, nexus.store.iris)

        def read() -> str:
            if not exists(node, nexus.store):
                message = f"There is no element {id}."
                raise KipError("KIP_3002", message, "Read its id with FIND(?link.id).")
            return STATUSES[trust_of(nexus.store, node)]

        return nexus.store.read(read)

    return nexus.request(run)


def trust_of(store: Store, node: NamedNode) -> int:
    """The place in ``STATUSES`` of the lowest status of an element and of what it comes from."""
    derived_from, notes = (store.iris.predicate(name) for name in (DERIVED_FROM, STATES))
    sources: dict[NamedNode, list[NamedNode]] = {}
    stating: dict[NamedNode, list[NamedNode]] = {}
    pending = [node]
    while pending:
        at = pending.pop()
        if at not in sources:
            budget.check()
            facts = store.match(at, derived_from, None)
            sources[at] = [cast(NamedNode, fact.object) for fact in facts]
            facts = store.match(None, notes, at)
            stating[at] = [cast(NamedNode, fact.subject) for fact in facts]
            pending += [*sources[at], *stating[at]]
    own = {at: _own(store, at) for at in sources}
    lowest = dict(own)
    is_stable = False
    while not is_stable:  # most sources come first, so that few take another round
        is_stable = True
        for at in reversed(sources):
            budget.check()
            of_notes = [lowest[note] for note in stating[at]]
            is_below = all(status < own[at] for status in of_notes)
            of_sources = (lowest[source] for source in sources[at])
            status = min([lowest[at], *of_sources, *(of_notes if is_below else ())])
            is_stable = is_stable and status == lowest[at]
            lowest[at] = status
    return lowest[node]


def _own(store: Store, node: NamedNode) -> int:
    """The place of an element's own status in ``STATUSES``: the lowest, if it has several."""
    triple = next(iter(store.match(node, vocab.metadata(STATUS), None)), None)
    values = [] if triple is None else statuses({STATUS: cast(NamedNode, triple.object)})
    places = [STATUSES.index(value) for value in values if value in STATUSES]
    return min(places, default=STATUSES.index(ACTIVE))
