"""How far an element may be trusted: no further than its sources."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from pyoxigraph import Literal, NamedNode

from kiprdf import budget
from kiprdf.errors import KipError
from kiprdf.execution.naming import node_of
from kiprdf.execution.support import STATES
from kiprdf.kml.trust import ACTIVE, REVIEWED, STATUS, STATUSES, statuses
from kiprdf.kql.identities import exists
from kiprdf.language.names import DERIVED_FROM
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
    return Trusts(store).of(node)


class Trusts:
    """``trust_of`` many elements of one state of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._derived_from, self._notes = map(store.iris.predicate, (DERIVED_FROM, STATES))
        self._places: dict[NamedNode, int] = {}
        self._own: dict[NamedNode, int] = {}

    @cached_property
    def most(self) -> int:
        """No element has a higher place."""
        reviewed = Literal(REVIEWED)
        graphs = (None, vocab.TEXTS)
        is_any = any(self._store.lookup(None, _STATUS, reviewed, 1, graph) for graph in graphs)
        return STATUSES.index(REVIEWED) if is_any else _ACTIVE

    @cached_property
    def _has_sources(self) -> bool:
        return self._has(self._derived_from) or self._has(self._notes)

    def _has(self, predicate: NamedNode) -> bool:
        return bool(self._store.lookup(None, predicate, None, 1))

    def of(self, node: NamedNode) -> int:
        """The place of an element."""
        if node not in self._places:
            of = self._lowest if self._has_sources else self._of_itself
            self._places[node] = of(node)
        return self._places[node]

    def _lowest(self, node: NamedNode) -> int:
        store = self._store
        sources: dict[NamedNode, list[NamedNode]] = {}
        stating: dict[NamedNode, list[NamedNode]] = {}
        pending = [node]
        while pending:
            at = pending.pop()
            if at not in sources:
                budget.check()
                facts = store.match(at, self._derived_from, None)
                sources[at] = [cast(NamedNode, fact.object) for fact in facts]
                facts = store.match(None, self._notes, at)
                stating[at] = [cast(NamedNode, fact.subject) for fact in facts]
                pending += [*sources[at], *stating[at]]
        own = {at: self._of_itself(at) for at in sources}
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

    def _of_itself(self, node: NamedNode) -> int:
        """The place of an element's own status: the lowest, if it has several."""
        place = self._own.get(node)
        if place is None:
            stated = self._store.lookup(node, _STATUS, None, 1)
            values = statuses({STATUS: cast(NamedNode, stated[0].object)}) if stated else []
            places = [STATUSES.index(value) for value in values if value in STATUSES]
            place = self._own[node] = min(places, default=_ACTIVE)
        return place


_ACTIVE = STATUSES.index(ACTIVE)
_STATUS = vocab.metadata(STATUS)
