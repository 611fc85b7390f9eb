"""A draft: the nexus as a statement would leave it, and the delta from the store to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf import budget
from kiprdf.actors import OWNER, Actor
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipWarning
from kiprdf.kql.find import nodes
from kiprdf.kql.identities import Purpose, exists
from kiprdf.kql.reader import link_of, links_at
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import reification, vocab
from kiprdf.rdf.elements import Concept, Element, Proposition, Terms, read_element
from kiprdf.rdf.iris import ConceptName, PropositionName, proposition_digits
from kiprdf.rdf.literals import is_same, normal, to_term
from kiprdf.semantics import periods
from kiprdf.semantics.patterns import Kinds
from kiprdf.source import Span
from kiprdf.store import Delta, Origin, Store, Written
from kiprdf.store.erasures import digests

Clock: TypeAlias = Callable[[], datetime]
Term: TypeAlias = Literal | NamedNode
Fact: TypeAlias = tuple[NamedNode, str, NamedNode]
"""Subject, predicate and object of a proposition."""
_FIRST = to_term(1)
_MAINTAINED = (vocab.VERSION, vocab.CREATED_AT, vocab.UPDATED_AT, vocab.ACTOR)
"""The metadata that the engine writes, or another nexus did."""


def now() -> datetime:
    """The clock of a nexus that was given no other."""
    return datetime.now(UTC)


@dataclass(slots=True)
class Edit:
    """One element: in the store (None if it is new), and in the draft."""

    before: Element | None
    after: Element

    @property
    def changed(self) -> bool:
        return self.before is None or any(self.keys) or self.repointed

    @property
    def keys(self) -> tuple[list[str], list[str]]:
        """The attributes and the metadata that differ; none of an element that is new."""
        before, after = self.before, self.after
        if before is None:
            return [], []
        attributes = changed_keys(before.attributes, after.attributes)
        return attributes, changed_keys(before.metadata, after.metadata)

    @property
    def repointed(self) -> bool:
        """Whether it is a proposition with other ends than in the store."""
        before, after = self.before, self.after
        if not isinstance(before, Proposition) or not isinstance(after, Proposition):
            return False
        return (before.subject, before.object) != (after.subject, after.object)


class Targets(NamedTuple):
    """What the WHERE of a statement binds to its target, and what its variables may be."""

    nodes: list[NamedNode]
    kinds: Kinds


@dataclass
class Draft:
    """Edits of a store, which are written by applying ``delta``.

    ``targets`` are those of the one statement that runs in it, where a kept plan has found them.
    """

    store: Store
    clock: Clock = now
    targets: Targets | None = None
    edits: dict[NamedNode, Edit] = field(default_factory=dict)
    deleted: dict[NamedNode, Element] = field(default_factory=dict)
    superseded: set[NamedNode] = field(default_factory=set)
    """The deleted propositions whose fact another proposition states now."""
    spans: dict[NamedNode, Span] = field(default_factory=dict)
    """The place of an element in the command, for errors."""
    commands: list[ast.Manipulation] = field(default_factory=list)
    """What was run in the draft, for the history."""
    actor: Actor = OWNER
    """Who writes it, as the check of the draft has found."""
    unreviewed: list[str] = field(default_factory=list)
    """The ids of what was reviewed and is not any more, as the check has found."""
    warnings: tuple[KipWarning, ...] = ()
    """What does not fit a shape and is written all the same, as the check has found."""
    rejects: bool = False
    """Whether it rejects a value, or lifts that."""
    listed: frozenset[str] = frozenset()
    """The erasure list, in the draft of a copy: what it names is left out."""
    erased: set[NamedNode] = field(default_factory=set)
    """What was left out."""
    stubs: Collection[NamedNode] = ()
    """What is only named here: it is written without what the engine maintains."""
    carried: dict[NamedNode, Terms] = field(default_factory=dict)
    """The time and the writer that elements of another nexus bring along."""
    _existing: set[NamedNode] = field(default_factory=set)
    """Nodes of the store whose elements have not been read."""
    _ids: dict[NamedNode, str] = field(default_factory=dict)
    _new_links: dict[Fact, NamedNode] = field(default_factory=dict)
    _moved_to: dict[NamedNode, list[NamedNode]] = field(default_factory=dict)

    # What a view of several nexuses has (kml/scoped.py) ------------------------------------------

    @property
    def shown(self) -> Draft:
        """The draft of what the writer sees: this one, but for a view."""
        return self

    def begin(self, command: ast.Manipulation) -> None:
        """Note a statement that is going to be run in the draft."""
        self.commands.append(command)

    def owned(
        self, nodes: list[NamedNode], keys: Callable[[Element], list[str]] | None = None
    ) -> list[NamedNode]:
        """The nodes here of what the writer sees; KIP_3004 where only another scope has it.

        With ``keys``, the values of an element that are concerned, only of what has some of these.
        """
        return nodes

    def node_of(self, node: NamedNode) -> NamedNode:
        """The node here of one that the writer names, of which there may be none."""
        return node

    def seen(self, node: NamedNode) -> Element:
        """An element of the store, with the values that the writer saw before the statement."""
        before = self.edits[node].before
        assert before is not None, node
        return before

    def is_new(self, node: NamedNode) -> bool:
        """Whether nobody has an element but this draft, which has read or created it."""
        return self.edits[node].before is None

    # Elements ---------------------------------------------------------------------------------

    @property
    def read(self) -> set[NamedNode]:
        """The nodes that the store was asked for, also of elements that are absent."""
        return {*self.edits, *self._existing}

    def element(self, node: NamedNode) -> Element | None:
        """The element in the draft, which the caller may edit in place; None if there is none.

        Its values are spelled as in the store: most are neither changed nor compared.
        """
        edit = self.edits.get(node)
        if edit is None:
            budget.check()
            triples = self.store.statements(node)
            before = read_element(self.store.iris, node, triples, convert=None)
            if before is None:
                return None
            edit = self.edits[node] = Edit(before, copied(before))
        return edit.after

    def targeted(self, command: ast.Targeted, purpose: Purpose) -> list[NamedNode]:
        """The distinct elements of the store that are bound to the target of a statement."""
        if self.targets is not None:
            return self.targets.nodes
        return nodes(command.target, command.where, self.store, purpose=purpose)

    def exists(self, node: NamedNode) -> bool:
        """Whether there is an element, in the draft or in the store."""
        if node not in self.edits and node not in self._existing:
            if not exists(node, self.store):
                return False
            self._existing.add(node)
        return True

    def id(self, node: NamedNode) -> str:
        """The KIP id of a node, computed once, since each new link needs those of its ends."""
        id = self._ids.get(node)
        if id is None:
            id = self._ids[node] = self.store.iris.id(node)
        return id

    def shown_id(self, node: NamedNode) -> str:
        """The id of a node for the writer, as in a receipt."""
        return self.id(node)

    def named(self, type: str, name: str) -> NamedNode:
        """The node of a concept, of which there may be none."""
        node = self.store.iris.concept(type, name)
        # To read the id from the IRI would take longer.
        self._ids[node] = ConceptName(type, name).id
        return node

    def concept(self, type: str, name: str) -> Element:
        """The concept with a type and a name, created if there is none."""
        node, store = self.named(type, name), self.store
        # Where a read is no request, one triple is found faster than that there are none.
        may_be_there = node in self.edits or not store.abilities.lookups or exists(node, store)
        element = self.element(node) if may_be_there else None
        if element is None:
            ends = periods.attributes(type, name)
            element = Concept(node, type, name, {key: to_term(end) for key, end in ends.items()})
            self.edits[node] = Edit(None, element)
        return element

    def version(self, node: NamedNode) -> int:
        """The version of an element before the statement; 0 if it did not exist."""
        edit = self.edits[node]
        return 0 if edit.before is None else version(edit.before)

    def find_link(self, subject: NamedNode, predicate: str, object_: NamedNode) -> NamedNode | None:
        """The proposition that states a fact, in the draft or in the store."""
        return self._link_of((subject, predicate, object_))

    def _link_of(self, fact: Fact) -> NamedNode | None:
        node = self._new_links.get(fact)
        if node is None and not (self._is_new(fact[0]) or self._is_new(fact[2])):
            store, predicate = self.store, self.store.iris.predicate(fact[1])
            # Most facts are new: their triple is asked for first, unless that takes a request.
            if not store.abilities.lookups or store.lookup(fact[0], predicate, fact[2], 1):
                node = link_of(store, self._triple(*fact))
        return node if node is not None and self._states(node, fact) else None

    def _is_new(self, end: NamedNode) -> bool:
        """Whether the statement created an end; then the store has no links to it."""
        edit = self.edits.get(end)
        return edit is not None and edit.before is None

    def _states(self, node: NamedNode, fact: Fact) -> bool:
        """Whether a proposition that stated a fact in the store still does in the draft."""
        edit = self.edits.get(node)
        if node in self.deleted:
            return False
        return edit is None or _ends(cast(Proposition, edit.after)) == fact

    def links_at(self, node: NamedNode) -> list[Proposition]:
        """The propositions of the draft that have a node as subject or object."""
        stored = self._stored_links_at(node)
        self.store.prefetch(stored)
        return self._links_among(stored, node)

    def _stored_links_at(self, node: NamedNode) -> list[NamedNode]:
        return [link for link, _ in links_at(self.store, node)]

    def _links_among(self, stored: Iterable[NamedNode], node: NamedNode) -> list[Proposition]:
        """The propositions of the draft at a node, of which some were in the store."""
        links: list[Proposition] = []
        for link in dict.fromkeys((*stored, *self._moved_to.get(node, ()))):
            if link not in self.deleted:
                element = cast(Proposition, self.element(link))
                if node in (element.subject, element.object):
                    links.append(element)
        return links

    def repoint(self, link: Proposition, subject: NamedNode, object_: NamedNode) -> None:
        """Give a proposition other ends. No proposition of the draft may state the new fact."""
        link.subject, link.object = subject, object_
        self._new_links[_ends(link)] = link.node
        for end in (subject, object_):
            self._moved_to.setdefault(end, []).append(link.node)

    def link(self, subject: NamedNode, predicate: str, object_: NamedNode) -> Element:
        """The proposition that states a fact, created if there is none."""
        fact = (subject, predicate, object_)
        node = self._link_of(fact)
        if node is not None:
            element = self.element(node)
            assert element is not None
            if vocab.MENTIONED in element.metadata:
                # It is stated here from now on.
                del element.metadata[vocab.MENTIONED]
                element.metadata.pop("status", None)
            return element
        node = self._free_link(subject, predicate, object_)
        created = Proposition(node, subject, predicate, object_)
        self.edits[node] = Edit(None, created)
        self._new_links[fact] = node
        return created

    def _free_link(self, subject: NamedNode, predicate: str, object_: NamedNode) -> NamedNode:
        """The node of a new proposition; salted if another fact has that id after a merge."""
        iris = self.store.iris
        salt = 0
        while True:
            digits = proposition_digits(self.id(subject), predicate, self.id(object_), salt)
            node = iris.proposition(digits, predicate)
            if node not in self.edits and not self.store.lookup(node, vocab.REIFIES, None, 1):
                self._ids[node] = PropositionName(digits, predicate).id
                return node
            salt += 1

    def is_listed(self, node: NamedNode, fact: Triple | None = None) -> bool:
        """Whether this is a copy, and what it names was forgotten."""
        return bool(self.listed) and not self.listed.isdisjoint(
            digests(self.store.iris, node, fact)
        )

    def discard(self, nodes: set[NamedNode]) -> None:
        """Leave out elements that the draft creates."""
        self.edits = {node: edit for node, edit in self.edits.items() if node not in nodes}
        self._new_links = {
            fact: node for fact, node in self._new_links.items() if node not in nodes
        }

    # Deleting ---------------------------------------------------------------------------------

    def delete(self, nodes: Iterable[NamedNode]) -> None:
        """Delete elements with every proposition about them, and about those (KIP 4.2.4)."""
        pending = list(nodes)
        while pending:
            self.store.prefetch(pending, ends=pending)
            level = [node for node in dict.fromkeys(pending) if node not in self.deleted]
            stored = {node: self._stored_links_at(node) for node in level}
            self.store.prefetch(chain.from_iterable(stored.values()))
            pending = []
            for node in level:
                element = self.element(node)
                assert element is not None
                self.deleted[node] = element
                pending.extend(link.node for link in self._links_among(stored[node], node))

    def supersede(self, link: Proposition) -> None:
        """Delete a proposition without those about it; another one states its fact."""
        self.deleted[link.node] = link
        self.superseded.add(link.node)

    # The delta --------------------------------------------------------------------------------

    def changes(self) -> Iterator[Edit]:
        """The edits of elements that stay and differ from the store."""
        for node, edit in budget.paced(self.edits.items()):
            if edit.changed and node not in self.deleted:
                yield edit

    def delta(self) -> Delta:
        """What the store must change; empty if draft and store are equal."""
        removed: list[Written] = []
        added: list[Written] = []
        touched: list[NamedNode] = []
        elements: list[Element] = []
        time = timestamp(self.clock())
        moment = to_term(time)
        label = None if self.actor.label is None else to_term(self.actor.label)
        for node, edit in budget.paced(self.edits.items()):
            before, after = edit.before, edit.after
            attributes, own = edit.keys
            is_changed = before is None or attributes or own or edit.repointed
            if not is_changed or node in self.deleted:
                continue
            metadata = after.metadata
            if not (before is None and node in self.stubs):
                metadata = metadata | self._engine_metadata(edit, moment)
                if label is not None:
                    metadata[vocab.ACTOR] = label
                else:
                    metadata.pop(vocab.ACTOR, None)
                if node in self.carried:
                    metadata.pop(vocab.ACTOR, None)
                    metadata |= self.carried[node]
            if before is None:
                added += [(node, vocab.attribute(k), v) for k, v in after.attributes.items()]
                added += [(node, vocab.metadata(k), v) for k, v in metadata.items()]
                added += self._identity(after)
            else:
                was = before.metadata
                own = [key for key in own if key not in _MAINTAINED]
                for predicate, keys, old, new in (
                    (vocab.attribute, attributes, before.attributes, after.attributes),
                    (vocab.metadata, own, was, metadata),
                ):
                    removed += [(node, predicate(k), normal(old[k])) for k in keys if k in old]
                    added += [(node, predicate(k), normal(new[k])) for k in keys if k in new]
                maintained = [key for key in _MAINTAINED if was.get(key) != metadata.get(key)]
                names = [(key, vocab.metadata(key)) for key in maintained]
                removed += [(node, name, normal(was[k])) for k, name in names if k in was]
                added += [(node, name, metadata[k]) for k, name in names if k in metadata]
            if before is not None and edit.repointed:
                removed += self._identity(before)
                added += self._identity(after)
            touched.append(node)
            elements.append(after)
            touched += self._described_by(edit)
        for node in budget.paced(self.deleted):
            removed.extend(self.store.describe(node))
            stored = self.edits[node].before
            if isinstance(stored, Proposition):
                removed.append(self.fact(stored))
            touched.append(node)
        origin = Origin(time)
        return Delta(removed, added, touched, elements, commands=self.commands, origin=origin)

    def _engine_metadata(self, edit: Edit, moment: Term) -> Terms:
        """The metadata that only the engine writes; an element without a version counts as 1.

        One that an undo restores keeps the time of its creation, and gets a higher version.
        """
        before = edit.before or (edit.after if vocab.VERSION in edit.after.metadata else None)
        if before is None:
            return {vocab.VERSION: _FIRST, vocab.UPDATED_AT: moment, vocab.CREATED_AT: moment}
        return {vocab.VERSION: _term(version(before) + 1), vocab.UPDATED_AT: moment}

    def _identity(self, element: Element) -> Iterable[Written]:
        """The triples of the identity of an element."""
        if isinstance(element, Proposition):
            return reification.to_parts(element.node, self.fact(element))
        return (
            (element.node, vocab.TYPE, self.store.iris.type(element.type)),
            (element.node, vocab.LABEL, Literal(element.name)),
        )

    def fact(self, element: Proposition) -> Triple:
        """The triple that a proposition states."""
        return self._triple(*_ends(element))

    def _triple(self, subject: NamedNode, predicate: str, object_: NamedNode) -> Triple:
        return Triple(subject, self.store.iris.predicate(predicate), object_)

    def _described_by(self, edit: Edit) -> Iterable[NamedNode]:
        """The propositions that SEARCH finds by the description of a predicate, if it changes."""
        element = edit.after
        if not isinstance(element, Concept) or element.type != "$PropositionType":
            return ()
        old = None if edit.before is None else edit.before.attributes.get("description")
        if old == element.attributes.get("description"):
            return ()
        facts = self.store.match(None, element.node, None)
        links = (link_of(self.store, fact) for fact in list(facts))
        return [link for link in links if link is not None]


def changed_keys(old: Terms, new: Terms) -> list[str]:
    """The keys whose terms differ between two maps of an element."""
    if old == new:
        return []  # most maps of an element are as they were
    keys = [
        key
        for key, before in old.items()
        # What was copied is the same object, and need not be compared.
        if (after := new.get(key)) is not before and not is_same(before, after)
    ]
    keys += [key for key in new if key not in old]
    return keys


def _ends(element: Proposition) -> Fact:
    return element.subject, element.predicate, element.object


def copied(element: Element) -> Element:
    """A copy of an element with its own maps."""
    attributes, metadata = element.attributes.copy(), element.metadata.copy()
    if isinstance(element, Concept):
        return Concept(element.node, element.type, element.name, attributes, metadata)
    ends = (element.subject, element.predicate, element.object)
    return Proposition(element.node, *ends, attributes, metadata)


def definition_name(node: NamedNode, store: Store) -> ConceptName | None:
    """The name of the type or predicate that a node defines."""
    name = store.iris.name(node.value)
    if isinstance(name, ConceptName) and name.type in META_TYPES:
        return name
    return None


def version(element: Element) -> int:
    """The version of an element; one without it counts as 1."""
    stored = element.metadata.get(vocab.VERSION)
    return 1 if stored is None else int(cast(Literal, stored).value)


@lru_cache(maxsize=256)
def _term(version: int) -> Term:
    return to_term(version)


def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
