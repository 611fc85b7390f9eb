"""A draft of one member of a view: what a statement reads is the view, what it writes the member.

Each statement is run in two drafts. That of the view resolves names, and shows what the statement
means to whoever sees the view: rules are checked there, too. That of the member is committed. What
only other members have becomes a stub in it where it is named: the identity, and no value
(docs/decisions/195).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, cast
from weakref import proxy

from pyoxigraph import NamedNode, Triple

from kiprdf.errors import KipError, shown
from kiprdf.kml.draft import Clock, Draft, Edit, Targets
from kiprdf.kml.trust import ACTIVE, DRAFT, MARKS, RETRACTED, REVIEWED, STATUS, statuses
from kiprdf.kml.update import update
from kiprdf.kml.upsert import upsert
from kiprdf.kql.identities import exists
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Concept, Element, Proposition, Term, Terms, read_element
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import to_term
from kiprdf.source import NOWHERE
from kiprdf.store import OxigraphStore
from kiprdf.store.merging import Facts, Side, moved
from kiprdf.store.view import ViewStore

_MENTION = {STATUS: to_term(DRAFT), vocab.MENTIONED: to_term(True)}


class ScopedDraft(Draft):
    """Edits of a member of a view, by statements whose names are those of the view."""

    def __init__(
        self,
        view: ViewStore,
        store: OxigraphStore,
        clock: Clock,
        targets: Targets | None = None,
        listed: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(store, clock, listed=listed)
        self._shown = _ShownDraft(self, view, clock, targets, listed)
        self._view = view
        self._own_store = store
        self._named: set[NamedNode] = set()
        self._own: dict[NamedNode, NamedNode] = {}
        self._back: dict[NamedNode, NamedNode] = {}
        self._read()

    def _read(self) -> None:
        """Begin to read the view and its members as they are now."""
        view, facts, iris = self._view, Facts(), self._view.iris
        self._view_side = Side(view.engine, iris, iris, facts)
        sides = {
            member.store: Side(member.store.engine, member.store.iris, iris, facts)
            for member in reversed(view.members)
        }
        self._side = sides.pop(self._own_store)
        self._others = sides

    @property
    def shown(self) -> Draft:
        return self._shown

    def begin(self, command: ast.Manipulation) -> None:
        super().begin(command)
        self._read()
        if isinstance(command, ast.Upsert):
            upsert(command, self._shown)
            for node in self._shown.newly_named():
                self._name(node)
        elif isinstance(command, ast.Update):
            update(command, self._shown)

    # Nodes of the view, and of the member --------------------------------------------------------

    def node_of(self, node: NamedNode) -> NamedNode:
        return self.find(node) or self._moved(node)

    def _moved(self, node: NamedNode) -> NamedNode:
        return cast(NamedNode, moved(node, self._view.iris.base, self.store.iris.base))

    def find(self, node: NamedNode) -> NamedNode | None:
        """The node here of an element of the view; None for a fact that is not stated here."""
        if not node.value.startswith(self._view.iris.propositions):
            return self._moved(node)
        own = self._own.get(node)
        if own is None:
            edit = self._shown.edits.get(node)
            if edit is not None and edit.before is None:
                fact = cast(Proposition, edit.after)
                ends = self.find(fact.subject), self.find(fact.object)
                if ends[0] is not None and ends[1] is not None:
                    own = self.find_link(ends[0], fact.predicate, ends[1])
            else:
                number = self._view_side.fact(node)
                link = None if number is None else self._side.link(number)
                own = None if link is None else self._moved(link)
            if own is not None:
                self._note(node, own)
        return own

    def _note(self, node: NamedNode, own: NamedNode) -> None:
        self._own[node], self._back[own] = own, node

    def _seen_node(self, own: NamedNode) -> NamedNode:
        """The node in the view of one of the member."""
        base = self.store.iris
        node = cast(NamedNode, moved(own, base.base, self._view.iris.base))
        if not own.value.startswith(base.propositions):
            return node
        if own not in self._back:
            fact = self._side.fact(node)
            link = None if fact is None else self._view_side.link(fact)
            self._note(link or node, own)
        return self._back[own]

    def seen(self, node: NamedNode) -> Element:
        return self._shown.seen(self._seen_node(node))

    def shown_id(self, node: NamedNode) -> str:
        return self._view.iris.id(self._seen_node(node))

    def version(self, node: NamedNode) -> int:
        before = self.edits[node].before
        return 0 if before is not None and _is_stub(before) else super().version(node)

    def _engine_metadata(self, edit: Edit, moment: Term) -> Terms:
        is_stub = edit.before is not None and _is_stub(edit.before)
        return super()._engine_metadata(Edit(None, edit.after) if is_stub else edit, moment)

    def is_new(self, node: NamedNode) -> bool:
        return super().is_new(node) and node not in self._named

    # What others have -----------------------------------------------------------------------------

    def _name(self, node: NamedNode) -> None:
        """Let the member have an element of the view, of which it states nothing."""
        pending, begun = [node], set[NamedNode]()
        while pending:
            top = pending[-1]
            own = self.find(top)
            if own is not None and self.exists(own):
                pending.pop()
                continue
            fact = self._view_side.stated(top)
            ends = [] if fact is None else [fact.subject, fact.object]
            absent = (cast(NamedNode, end) for end in ends if not self._has(end))
            missing = [] if top in begun else list(absent)
            begun.add(top)
            pending = [*pending, *missing] if missing else pending[:-1]
            if not missing:
                self._add_stub(top, fact)

    def _has(self, node: Any) -> bool:
        own = self.find(node)
        return own is not None and self.exists(own)

    def _add_stub(self, node: NamedNode, fact: Triple | None) -> None:
        if fact is None:
            name = self._view.iris.name(node.value)
            assert isinstance(name, ConceptName)
            element = self.concept(*name)
        else:
            ends = [self.find(cast(NamedNode, end)) for end in (fact.subject, fact.object)]
            subject, object_ = ends
            predicate = self._view.iris.concept_name(fact.predicate.value)
            assert subject is not None
            assert object_ is not None
            assert predicate is not None
            element = self.link(subject, predicate, object_)
            element.metadata.update(_MENTION)
        self._note(node, element.node)
        self._named.add(element.node)

    def _free_link(self, subject: NamedNode, predicate: str, object_: NamedNode) -> NamedNode:
        """The id that the fact has in the view, if it is free here."""
        ends = self._seen_node(subject), self._seen_node(object_)
        link = self._shown.find_link(ends[0], predicate, ends[1])
        own = None if link is None else self._moved(link)
        if own is None or own in self.edits or exists(own, self.store):
            own = super()._free_link(subject, predicate, object_)
        if link is not None:
            self._note(link, own)
        return own

    def owned(
        self, nodes: list[NamedNode], keys: Callable[[Element], list[str]] | None = None
    ) -> list[NamedNode]:
        if keys is not None:
            return self._with_keys(nodes, keys)
        for node in nodes:
            if not self._is_own(node):
                raise self._not_own(node, f"{shown(self._view.iris.id(node))} is")
        return [self.node_of(node) for node in nodes]

    def _with_keys(
        self, nodes: Iterable[NamedNode], keys: Callable[[Element], list[str]]
    ) -> list[NamedNode]:
        """The nodes here of the elements that have some of the keys."""
        own = []
        for node in nodes:
            element = self._shown.element(node)
            assert element is not None
            concerned = keys(element)
            if not concerned:
                continue
            here = self.element(self.node_of(node)) if self._is_own(node) else None
            kept = [] if here is None else keys(here)
            missing = next((key for key in concerned if key not in kept), None)
            if missing is not None:
                what = f"'{missing}' of {shown(self._view.iris.id(node))} is"
                raise self._not_own(node, what)
            own.append(self.node_of(node))
        return own

    def _is_own(self, node: NamedNode) -> bool:
        """Whether the member has more of an element than its identity, or nobody else has."""
        own = self.find(node)
        if own is None or not self.exists(own):
            return False
        element = self.element(own)
        assert element is not None
        return not _is_stub(element) or self._holder(node) is None

    def _holder(
        self, node: NamedNode, holds: Callable[[OxigraphStore, Element], bool] | None = None
    ) -> OxigraphStore | None:
        """The last of the other members that has more of an element than its identity, or what
        is asked for."""
        number = self._view_side.fact(node)
        for store, side in self._others.items():
            link = node if number is None else side.link(number)
            if link is not None:
                there = cast(NamedNode, moved(link, self._view.iris.base, store.iris.base))
                element = read_element(store.iris, there, store.statements(there))
                if element is None:
                    continue
                if holds(store, element) if holds else not _is_stub(element):
                    return store
        return None

    def _not_own(self, node: NamedNode, what: str) -> KipError:
        holder = self._holder(node)
        there = "another scope" if holder is None else _named(holder, "another scope")
        here = _named(self._own_store, "one member")
        message = f"{what} in {there} only, and this view writes to {here}."
        hint = "Change it there; UPSERT stores values of it in the scope that is written."
        span = self.commands[-1].span if self.commands else NOWHERE
        return KipError("KIP_3004", message, hint, span)

    # What people judged ---------------------------------------------------------------------------

    def deleted_in_view(self) -> list[NamedNode]:
        """The elements of the view, which its draft has read, of which a part is deleted here."""
        nodes = map(self._seen_node, self.deleted)
        return [node for node in nodes if self._shown.element(node) is not None]

    def check_uncovered(self) -> None:
        """Raise KIP_3004 if the review of another member would hold, for a status deleted here."""
        for own, edit in list(self.edits.items()):
            old = {} if edit.before is None or own in self.deleted else edit.before.metadata
            if STATUS not in old or STATUS in edit.after.metadata or vocab.MENTIONED in old:
                continue
            node = self._seen_node(own)
            if self._holder(node, lambda _, one: REVIEWED in statuses(one.metadata)):
                message = f"{shown(self._view.iris.id(node))} would be reviewed:"
                hint = "Keep its status, or leave this to a person."
                raise KipError(
                    "KIP_3004", f"{message} only a person may say so.", hint, self.commands[-1].span
                )

    def keep_marks(self) -> None:
        """Note what was retracted in the view before as retracted by who did it."""
        for node in [*self._shown.edits]:
            seen, own = self._shown.edits[node], self.edits.get(self.node_of(node))
            if seen.before is None or own is None or RETRACTED not in statuses(own.after.metadata):
                continue
            for key in MARKS if RETRACTED in statuses(seen.before.metadata) else ():
                term = seen.after.metadata.get(key)
                if term is not None:
                    own.after.metadata[key] = term

    def _unreview(self, id: str) -> None:
        """Make active here what was reviewed in the view."""
        node = cast(NamedNode, self._view.iris.from_id(id))
        stores = [member.store for member in self._view.members]
        later = stores[stores.index(self._own_store) + 1 :]
        holder = self._holder(node, lambda store, one: store in later and STATUS in one.metadata)
        if holder is not None:
            message = f"{shown(id)} is reviewed in another scope, whose word holds in this view."
            hint = f"Write it in {_named(holder, 'that scope')}, or leave it to a person."
            raise KipError("KIP_3004", message, hint, self.commands[-1].span)
        self.edits[self.node_of(node)].after.metadata[STATUS] = to_term(ACTIVE)

    # The delta ------------------------------------------------------------------------------------

    def discard(self, nodes: set[NamedNode]) -> None:
        super().discard(nodes)
        self._named -= nodes

    def complete(self) -> None:
        """Name the definitions of what is new here, and leave to others what is theirs."""
        for edit in list(self.edits.values()):
            element = edit.after
            if edit.before is None and isinstance(element, Proposition):
                self._define("$PropositionType", element.predicate)
            elif (
                edit.before is None
                and isinstance(element, Concept)
                and element.type not in META_TYPES
            ):
                self._define("$ConceptType", element.type)
            if vocab.MENTIONED in element.metadata and not _is_stub(element):
                # It is stated here, with the status that was written or none.
                del element.metadata[vocab.MENTIONED]
                before = _MENTION if edit.before is None else edit.before.metadata
                if element.metadata.get(STATUS) is before.get(STATUS):
                    element.metadata.pop(STATUS, None)
        self.stubs = {node for node in self._named if _is_stub(self.edits[node].after)}
        for id in self._shown.unreviewed:
            self._unreview(id)

    def _define(self, kind: str, name: str) -> None:
        node = self.named(kind, name)
        if not self.exists(node):
            self.edits[node] = Edit(None, Concept(node, kind, name))
            self._named.add(node)


def _named(store: OxigraphStore, otherwise: str) -> str:
    """The name of a scope, or other words for one without a name."""
    return f"the scope '{shown(store.scope)}'" if store.scope else otherwise


def _is_stub(element: Element) -> bool:
    """Whether an element has no value, and a fact is only named."""
    marks = _MENTION if isinstance(element, Proposition) else {}
    return not element.attributes and element.metadata == marks


class _ShownDraft(Draft):
    """The draft of the view: what a statement that is run in a member means to its writer."""

    def __init__(
        self,
        scoped: ScopedDraft,
        view: ViewStore,
        clock: Clock,
        targets: Targets | None,
        listed: frozenset[str],
    ) -> None:
        super().__init__(view, clock, targets, listed=listed)
        # A cycle would keep the engine of a nexus that is closed, and its files would still change.
        self._scoped: ScopedDraft = proxy(scoped)
        self._number = 0
        self._seen_before: set[NamedNode] = set()

    def newly_named(self) -> list[NamedNode]:
        """The elements of the view that statements have named since the last call."""
        edits = islice(self.edits.items(), self._number, None)
        nodes = [node for node, edit in edits if edit.before is not None]
        nodes += self._existing - self._seen_before
        self._number, self._seen_before = len(self.edits), {*self._existing}
        return nodes

    def find_link(self, subject: NamedNode, predicate: str, object_: NamedNode) -> NamedNode | None:
        link = super().find_link(subject, predicate, object_)
        if link is not None and link not in self.edits:
            self._existing.add(link)
        return link

    def version(self, node: NamedNode) -> int:
        """The version in the member."""
        own = None if self.is_new(node) else self._scoped.find(node)
        is_here = own is not None and self._scoped.element(own) is not None
        return self._scoped.version(own) if own is not None and is_here else 0
