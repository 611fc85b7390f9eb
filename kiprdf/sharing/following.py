"""Follows another nexus: what it says is noted beside what this one says, and shown.

The log of the source is read (``sources``), as what it says of elements (``hearing``); that is
joined with the says that are stored (``kiprdf.kml.says``), and what is shown is a function of all
of them. So nexuses that follow each other, in any order and on any paths, come to the same
(docs/decisions/213).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import partial
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Quad, Triple

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.execution.bootstrap import bundled_ids
from kiprdf.execution.writer import FOLLOW, FOLLOWED, Writer
from kiprdf.interchange.differences.difference import Fact, Identity
from kiprdf.kml.draft import Draft
from kiprdf.kml.says import (
    OWN,
    VIA,
    Register,
    Says,
    Shown,
    changed_rows,
    ids_of,
    is_disputed,
    joined,
    lives,
    node_of,
    own_register,
    says_at,
    shown,
    unsettled,
    wire_of,
)
from kiprdf.kql.find import nodes as nodes_of
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import link_of, links_at, read_catalog
from kiprdf.language import ast, bind, parse
from kiprdf.language.names import META_TYPES
from kiprdf.meta.export import export_of
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, read_element
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.rdf.literals import Json, canonical_json, to_term
from kiprdf.semantics import check
from kiprdf.semantics.protected import is_rejection
from kiprdf.sharing.applying import ElementChange, apply_changes
from kiprdf.sharing.conflicts import CONFLICT, EXISTS, by_of, conflicts, entries
from kiprdf.sharing.hearing import (
    Heard,
    WholeNeededError,
    Wire,
    commits,
    is_gap,
    require_sound,
    retracted,
    whole,
)
from kiprdf.sharing.sources import Patch, Reading, Source, rolled_back
from kiprdf.store import Delta, OxigraphStore
from kiprdf.store.erasures import digest
from kiprdf.store.past import require_embedded
from kiprdf.store.replica import replica_of

KEPT_BEHIND = 256
"""After so many commits that said nothing new, the place in a source is written all the same."""
ATTEMPTS = 4
_COUNTS = ("commits", "created", "changed", "deleted", "erased", "rejected", "skipped")
_REFUSED = (
    "Follow a selection without that element, or allow it here (kiprdf gate, strict_schema), "
    "or let the source correct it: then follow again."
)
_ENGINE_NOTES = (vocab.CREATED_AT, vocab.UPDATED_AT, vocab.ACTOR)


@dataclass(slots=True)
class _Place:
    """Up to which commit a source was followed; its id, that of the patch, and what was selected.

    ``irregular`` are the ids of links that are not made of their ends.
    """

    source: str
    replica: str
    seq: int
    id: str
    selection: str | None = None
    irregular: list[str] = field(default_factory=list)

    def text(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})


def follow(
    writer: Writer,
    given: str | os.PathLike[str],
    token: str | None = None,
    selection: str | None = None,
) -> dict[str, Any]:
    """Follow a source from the place where that ended last, and return what was done."""
    writer.require_one_nexus("Following")
    store = require_embedded(writer.store, "follow another")
    writer.require_writable(access="admin")
    source = Source(given, token)
    follower = _Follower(writer, store, source, selection)
    report: dict[str, Any] = dict.fromkeys(_COUNTS, 0)
    attempts = ATTEMPTS
    while True:
        reading = follower.round(report)
        attempts = ATTEMPTS if reading.patches else attempts - 1
        if reading.fault is not None and attempts == 0:
            raise reading.fault
        if reading.fault is None and not reading.has_more:
            break
    report["conflicts"] = len(conflicts(store))
    place = follower.place
    return {"source": source.name, **report, "place": 0 if place is None else place.seq}


class _Follower:
    """Reads one source, and writes what it says."""

    def __init__(
        self, writer: Writer, store: OxigraphStore, source: Source, selection: str | None
    ) -> None:
        self._writer = writer
        self._store = store
        self._source = source
        self._selection = None if selection is None else _export(selection)
        me = replica_of(store)
        if me is None:
            message = "This nexus has no id among others: its folder cannot be written."
            raise KipError("KIP_1001", message, "Let this process write the folder.")
        self._me = me
        digits = "" if selection is None else hashlib.sha256(selection.encode()).hexdigest()[:16]
        self._key = f"{FOLLOWED}{source.key}{digits}"
        self._text = selection
        self._noted = self._stored_place()
        self.place = self._noted

    def _stored_place(self) -> _Place | None:
        text = self._store.records().get(self._key)
        return None if text is None else _Place(**json.loads(text))

    def round(self, report: dict[str, Any]) -> Reading:
        """Read what is new, and write it as one commit."""
        place = self.place
        after = 0 if place is None or self._selection is not None else place.seq
        reading = self._source.read(after)
        if not reading.patches:
            if place is None and reading.fault is None:
                raise KipError("KIP_1001", f"{self._source.name} has no commits.", "Write there.")
            self._store.write(partial(self._reconcile, report))
            return reading
        first = reading.patches[0]
        if first.replica == self._me:
            raise KipError("KIP_1001", "A nexus cannot follow itself.", "Name another source.")
        is_other = place is not None and place.replica != first.replica
        if place is not None and not is_other and reading.patches[-1].commit.number < place.seq:
            last = reading.patches[-1].commit.number
            message = f"It ends at commit {last}; {place.seq} was followed."
            raise rolled_back(self._source.name, message)
        if after and (is_other or (place and is_gap(reading.patches, place.seq, place.id))):
            reading = self._source.read(0)
            after = 0
        try:
            self._store.write(partial(self._write, reading.patches, after, report))
        except WholeNeededError:
            reading = self._source.read(0)
            self._store.write(partial(self._write, reading.patches, 0, report))
        return reading

    def _write(self, patches: list[Patch], after: int, report: dict[str, Any]) -> None:
        if not patches:
            return
        heard = self._heard(patches, after)
        require_sound(heard)
        last = patches[-1]
        place = _Place(
            self._source.name,
            heard.replica,
            heard.seq,
            last.id,
            self._text,
            sorted(heard.irregular),
        )
        new = sum(patch.commit.number > (self.place.seq if self.place else 0) for patch in patches)
        joining = _Joining(self._writer, self._store, self._me, self._source.name)
        joining.hear(heard, self._complete(), keeps_equal=self._selection is not None)
        is_news = any(patch.commit.origin.kind != FOLLOW for patch in patches) and new > 0
        is_far = self._noted is None or heard.seq - self._noted.seq >= KEPT_BEHIND
        records = {self._key: place.text()}
        settling = _Settling(joining)
        is_written = settling.write(records, always=is_news or is_far or joining.erased > 0)
        if is_written:
            self._noted = place
            self._writer.follows = True
        self.place = place
        report["commits"] += new
        for name, number in {**joining.counts(), **settling.counts}.items():
            report[name] += number

    def _reconcile(self, report: dict[str, Any]) -> None:
        """Show what this nexus, and no other, has changed in what is said."""
        settling = _Settling(_Joining(self._writer, self._store, self._me, self._source.name))
        settling.write({}, always=False)
        for name, number in settling.counts.items():
            report[name] += number

    def _heard(self, patches: list[Patch], after: int) -> Heard:
        if after and self.place is not None:
            return commits(patches, self.place.irregular, self._stored_says)
        select = None if self._selection is None else partial(_selected, self._selection)
        return whole(patches, select)

    def _stored_says(self, id: str) -> Says | None:
        node = self._store.iris.from_id(id)
        return None if node is None else says_at(self._store, node)

    def _complete(self) -> dict[str, int]:
        """Up to which commit all is known that other nexuses say, as they have said it."""
        records = self._store.records()
        places = (json.loads(text) for key, text in records.items() if key.startswith(FOLLOWED))
        seqs: dict[str, int] = {}
        for place in places:
            if place["selection"] is None:
                seqs[place["replica"]] = max(seqs.get(place["replica"], 0), place["seq"])
        return seqs


# Selections -----------------------------------------------------------------------------------


def _export(selection: str) -> ast.Export:
    """The EXPORT of a selection, of which the WHERE suffices."""
    command = parse(export_of(selection))
    if not isinstance(command, ast.Export):
        message = "A selection is the WHERE of an EXPORT."
        raise KipError("KIP_1001", message, 'Write such as: ?d {type: "Drug"}')
    return bind(command, {})


def _selected(command: ast.Export, triples: Iterable[Triple], iris: Iris) -> set[NamedNode]:
    """The elements of a dataset that are selected, with what they refer to."""
    store = OxigraphStore.memory(iris.base)
    store.engine.extend(Quad(*triple) for triple in triples)
    try:
        check(command, read_catalog(store))
        chosen = {*nodes_of(command.target, command.where, store)}
        pending = [*chosen]
        while pending:
            for node in _references(pending.pop(), store):
                if node not in chosen:
                    chosen.add(node)
                    pending.append(node)
        return chosen
    finally:
        store.close()


def _references(node: NamedNode, store: OxigraphStore) -> Iterator[NamedNode]:
    """The ends and the definition of an element."""
    rows: Any = store.lookup(node, vocab.REIFIES, None, 1)
    if rows:
        yield from cast(Any, rows[0].object)
    elif (definition := store.iris.type_of(node)) is not None and exists(definition, store):
        yield definition


# Joining --------------------------------------------------------------------------------------


class _Joining:
    """The says of elements that were heard, joined with those that are stored."""

    def __init__(self, writer: Writer, store: OxigraphStore, me: str, via: str) -> None:
        self.writer = writer
        self.store = store
        self.me = me
        self._via = via
        self._bundled = bundled_ids(store.iris.base)
        self._erasures = writer.erasures
        self.says: dict[NamedNode, tuple[Says | None, Says]] = {}
        """What was stored, and what is."""
        self.erased = self._skipped = 0
        self._keeps_equal = False

    def counts(self) -> dict[str, int]:
        return {"erased": self.erased, "skipped": self._skipped}

    def hear(self, heard: Heard, complete: dict[str, int], keeps_equal: bool) -> None:
        """Join what was heard; what is said as before stays as it is, if that is wanted."""
        self._keeps_equal = keeps_equal
        for wire, by in paced(heard.by.values()):
            for origin, register in by.items():
                is_stored_says = origin == self.me or (
                    origin != heard.replica and register["seq"] <= complete.get(origin, 0)
                )
                if is_stored_says:
                    self._skipped += 1
                else:
                    self._join(wire, origin, {**register, VIA: self._via})
        stored = (
            (cast(NamedNode, row.subject), Says.read(cast(Literal, row.object).value))
            for row in self.store.match(None, vocab.SAYS, None)
        )
        needed = heard.is_whole or heard.forgotten
        for wire in list(retracted(heard, stored)) if needed else ():
            self._join(wire, heard.replica, {"seq": heard.seq, VIA: self._via})

    def _join(self, wire: Wire, origin: str, register: Register) -> None:
        ids = ids_of(wire)
        if not self._erasures.isdisjoint(map(digest, ids)):
            self.erased += "at" in register
            return
        node = node_of(wire, self.store.iris)
        if node not in self.says:
            old = says_at(self.store, node)
            if old is None and self._is_own(wire, ids[0]):
                return
            self.says[node] = old, old or Says(wire, self._own(wire))
        old, says = self.says[node]
        before = says.by.get(origin)
        is_equal = self._keeps_equal and before == {**register, "seq": (before or register)["seq"]}
        if is_equal or joined(before, register) is not register:
            self._skipped += 1
        elif "at" in register or origin in says.by:
            self.says[node] = old, Says(wire, {**says.by, origin: register})

    def _is_own(self, wire: Wire, id: str) -> bool:
        """Whether each nexus has an element for itself."""
        if len(wire) == 2 and is_rejection(*wire):
            return True
        return id in self._bundled and self.local(wire) is not None

    def _own(self, wire: Wire) -> dict[str, Register]:
        """What this nexus says of an element of which no other has said anything."""
        node = self.local(wire)
        element = None if node is None else self.element(node)
        return {} if element is None else {OWN: own_register(element, self.store.commit())}

    def element(self, node: NamedNode) -> Element | None:
        return read_element(self.store.iris, node, self.store.statements(node))

    def local(self, wire: Wire) -> NamedNode | None:
        """The node of an element in this nexus; None if there is none."""
        if len(wire) == 2:
            node = self.store.iris.concept(*wire)
            return node if exists(node, self.store) else None
        ends = [self.local(wire[0]), self.local(wire[2])]
        if ends[0] is None or ends[1] is None:
            return None
        return link_of(self.store, Triple(ends[0], self.store.iris.predicate(wire[1]), ends[1]))


# Settling -------------------------------------------------------------------------------------


class _Settling:
    """Makes what is shown what is said: it decides which elements there are, and writes them."""

    def __init__(self, joining: _Joining) -> None:
        self._joining = joining
        self._store = joining.store
        self._local = joining.local
        self._says = dict(joining.says)
        self._load_unsettled()
        self._shown: dict[NamedNode, Shown | None] = {}
        self._kept: set[NamedNode] = set()
        """Definitions that are said to be gone, and stay, since instances need them."""
        self._hidden: set[NamedNode] = set()
        """What is said to be there, and is not, since it lacks something."""
        self._needed: dict[NamedNode, bool] = {}
        self.counts: dict[str, int] = {}

    def _load_unsettled(self) -> None:
        for row in list(self._store.match(None, vocab.UNSETTLED, None)):
            node = cast(NamedNode, row.subject)
            says = says_at(self._store, node)
            if says is not None and node not in self._says:
                self._says[node] = says, says

    # Which elements there are -----------------------------------------------------------------

    def _decide(self) -> None:
        me = self._joining.me
        for node, (_, says) in self._says.items():
            self._shown[node] = shown(says.by, me)
        ordered = sorted(self._says, key=self._depth)
        gone = [node for node in reversed(ordered) if self._shown[node] is None]
        for node in gone:
            local = self._local(self._wire(node))
            if local is not None and self._is_needed(local):
                self._keep(node)
            elif local is not None:
                self._load_about(local)
        for node in sorted(self._says, key=self._depth):
            if self._shown[node] is not None:
                self._reveal(node)

    def _load_about(self, node: NamedNode) -> None:
        """Note what is about an element that goes: it goes, too, and may be shown again."""
        for link, _ in links_at(self._store, node):
            subject = node_of(wire_of(self._store, link), self._store.iris)
            says = says_at(self._store, subject)
            if says is not None and subject not in self._says:
                self._says[subject] = says, says
                self._shown[subject] = shown(says.by, self._joining.me)
                self._load_about(link)

    def _wire(self, node: NamedNode) -> Wire:
        return self._says[node][1].wire

    def _depth(self, node: NamedNode) -> tuple[int, str]:
        wire = self._wire(node)
        if len(wire) == 2:
            is_definition = wire[0] in META_TYPES
            place = META_TYPES.index(wire[0]) if is_definition else len(META_TYPES)
            return place, node.value
        return len(META_TYPES) + len(ids_of(wire)), node.value

    def _keep(self, node: NamedNode) -> None:
        """Let an element stay that something needs: from now on this nexus says that it is there.

        A definition that others have is that of those.
        """
        old, says = self._says[node]
        living = {origin: one for origin, one in says.by.items() if lives(one)}
        local = self._local(says.wire)
        element = None if local is None else self._joining.element(local)
        is_definition = len(says.wire) == 2 and says.wire[0] in META_TYPES
        if not (is_definition and living) and element is not None:
            own = own_register(element, self._store.commit() + 1)
            own = {**own, "keys": {}} if living else own
            says = Says(says.wire, {**says.by, OWN: own})
            self._says[node] = old, says
            living = says.by
        else:
            self._kept.add(node)
        self._shown[node] = shown(living, self._joining.me)

    def _is_needed(self, node: NamedNode) -> bool:
        """Whether something of this nexus, or an instance of a definition, needs an element."""
        if node not in self._needed:
            self._needed[node] = False
            about = [link for link, _ in links_at(self._store, node)]
            self._needed[node] = any(map(self._is_held, about)) or self._is_used(node)
        return self._needed[node]

    def _is_held(self, link: NamedNode) -> bool:
        says = self._says_of(wire_of(self._store, link))
        own = None if says is None else says.by.get(OWN)
        return says is None or lives(own) or self._is_needed(link)

    def _says_of(self, wire: Wire) -> Says | None:
        node = node_of(wire, self._store.iris)
        return self._says[node][1] if node in self._says else says_at(self._store, node)

    def _is_used(self, definition: NamedNode) -> bool:
        """Whether a definition has an instance that stays."""
        name = self._store.iris.name(definition.value)
        if not isinstance(name, ConceptName) or name.type not in META_TYPES:
            return False
        if name.type == "$ConceptType":
            users = [*self._store.match(None, vocab.TYPE, definition)]
            return any(self._stays(cast(NamedNode, row.subject)) for row in users)
        facts = [*self._store.match(None, definition, None)]
        links = (link_of(self._store, fact) for fact in facts)
        return any(self._stays(link) for link in links if link is not None)

    def _stays(self, node: NamedNode) -> bool:
        subject = node_of(wire_of(self._store, node), self._store.iris)
        return subject not in self._says or self._shown[subject] is not None

    def _reveal(self, node: NamedNode) -> None:
        """Decide whether an element is shown that is said to be there."""
        wire = self._wire(node)
        if len(wire) == 2:
            parts = [] if wire[0] in META_TYPES else [["$ConceptType", wire[0]]]
        else:
            parts = [["$PropositionType", wire[1]], wire[0], wire[2]]
        if not all(map(self._is_there, parts)):
            self._hidden.add(node)

    def _is_there(self, wire: Wire) -> bool:
        node = node_of(wire, self._store.iris)
        if node in self._says:
            is_definition = len(wire) == 2 and wire[0] in META_TYPES
            living = any(map(lives, self._says[node][1].by.values()))
            if self._shown[node] is None and is_definition and living:
                self._keep(node)
            return self._shown[node] is not None and node not in self._hidden
        says = says_at(self._store, node)
        if self._local(wire) is not None:
            return True
        if says is not None and len(wire) == 2 and wire[0] in META_TYPES:
            self._says[node], self._shown[node] = (says, says), None
            return self._is_there(wire)
        return False

    # Writing ----------------------------------------------------------------------------------

    def write(self, records: dict[str, str], always: bool) -> bool:
        """Write what is shown now; False where nothing is different, unless it is ``always``."""
        self._decide()
        written = False

        def finish(draft: Draft, delta: Delta, rejected: list[tuple[str, str]]) -> Delta:
            nonlocal written
            removed, added = self._notes(draft, {id for id, _ in rejected})
            # What goes is not forgotten: what is said of it stays.
            kept = vocab.SAYS, vocab.UNSETTLED
            gone: list[Any] = [row for row in map(tuple, delta.removed) if row[1] not in kept]
            changes = [*gone, *removed], [*delta.added, *added]
            written = always or any(changes)
            self.counts = self._counted(draft, len(rejected))
            if not written:
                return replace(delta, records={})
            return replace(delta, removed=changes[0], added=changes[1])

        changes = list(self._changes())
        try:
            apply_changes(self._joining.writer, changes, FOLLOW, records=records, finish=finish)
        except KipError as error:
            if error.code != "KIP_2002":
                raise
            raise KipError(error.code, f"Nothing was followed: {error.message}", _REFUSED) from None
        return written

    def _changes(self) -> Iterator[ElementChange]:
        for node in list(self._says):
            says = self._says[node][1]
            local = self._local(says.wire)
            element = None if local is None else self._joining.element(local)
            view = None if node in self._hidden else self._shown[node]
            if view is not None:
                yield self._change(node, view, element)
            elif element is not None and self._shown[node] is None:
                yield ElementChange(_identity(says.wire), deletes=True)

    def _change(self, node: NamedNode, view: Shown, element: Element | None) -> ElementChange:
        change = ElementChange(_identity(self._wire(node)))
        terms: dict[Any, Any] = {}
        if element is not None:
            parts = (("attributes", element.attributes), ("metadata", element.metadata))
            stored = {(part, key): term for part, values in parts for key, term in values.items()}
            terms = {pair: None for pair in stored if pair[1] not in (*vocab.ENGINE_KEYS, CONFLICT)}
        for key, value in view.keys.items():
            part, _, name = key.partition(".")
            terms[part, name] = to_term(value)
        terms["metadata", VIA] = to_term(list(view.via)) if view.via else None
        terms["metadata", CONFLICT] = self._conflicts(node, view, element)
        change.terms = terms
        change.carried = _notes_of(view)
        return change

    def _conflicts(self, node: NamedNode, view: Shown, element: Element | None) -> Any:
        """The conflicts of an element: those of what was merged stay."""
        old, says = self._says[node]
        before = None if old is None else shown(old.by, self._joining.me)
        noted = [_entry(*one) for one in before.conflicts] if before is not None else []
        gone = [_entry(EXISTS, one) for one in says.by.values() if "at" in one and not lives(one)]
        if old is not None:
            noted += [_entry(EXISTS, one) for one in old.by.values() if not lives(one)]
        own = [] if element is None else entries(element.metadata)
        kept = [one for one in own if one not in noted]
        new = [_entry(*one) for one in view.conflicts]
        new += gone if node in self._kept else []
        distinct = {canonical_json(one): one for one in (*kept, *new)}
        return to_term(list(distinct.values())) if distinct else None

    def _notes(self, draft: Draft, rejected: set[str]) -> tuple[list[Triple], list[Triple]]:
        """The triples of what is said, and the engine's notes of what changes in nothing else."""
        sides: tuple[list[Triple], list[Triple]] = ([], [])
        for node, (old, says) in self._says.items():
            is_news = old is not None or any(map(bool, set(says.by) - {OWN}))
            rows = changed_rows(node, old, says) if is_news else ([], [])
            local = self._drafted(draft, says.wire)
            view = None if node in self._hidden else self._shown[node]
            is_agreed = (
                (local is not None) == (view is not None)
                and node not in self._kept | self._hidden
                and ids_of(says.wire)[0] not in rejected
                and not is_disputed(says.by)
            )
            is_noted = bool(self._store.lookup(node, vocab.UNSETTLED, None, 1))
            if is_noted == is_agreed:
                rows[0 if is_noted else 1].append(unsettled(node))
            more = ([], []) if local is None or view is None else self._engine(draft, local, view)
            for side, own, others in zip(sides, rows, more, strict=True):
                side += [*own, *others]
        return sides

    def _drafted(self, draft: Draft, wire: Wire) -> NamedNode | None:
        """The node of an element after the draft."""
        if len(wire) == 2:
            node = draft.named(*wire)
            is_there = node in draft.edits or draft.exists(node)
            return node if is_there and node not in draft.deleted else None
        ends = [self._drafted(draft, wire[0]), self._drafted(draft, wire[2])]
        if ends[0] is None or ends[1] is None:
            return None
        return draft.find_link(ends[0], wire[1], ends[1])

    def _engine(
        self, draft: Draft, node: NamedNode, view: Shown
    ) -> tuple[list[Triple], list[Triple]]:
        """The engine's notes of an element that changes in nothing else."""
        edit = draft.edits.get(node)
        if edit is None or edit.changed:
            return [], []
        removed, added = [], []
        carried = _notes_of(view)
        for key in _ENGINE_NOTES:
            predicate = vocab.metadata(key)
            rows = self._store.lookup(node, predicate, None, 1)
            before, after = [row.object for row in rows], [carried[key]] if key in carried else []
            if before != after:
                removed += [Triple(node, predicate, term) for term in before]
                added += [Triple(node, predicate, term) for term in after]
        return removed, added

    def _counted(self, draft: Draft, rejected: int) -> dict[str, int]:
        kept = [edit for node, edit in draft.edits.items() if node not in draft.deleted]
        created = sum(edit.before is None for edit in kept)
        changed = sum(edit.before is not None and edit.changed for edit in kept)
        counts = {"created": created, "changed": changed, "deleted": len(draft.deleted)}
        return {**counts, "rejected": rejected}


def _notes_of(view: Shown) -> dict[str, Any]:
    notes = zip(_ENGINE_NOTES, (view.created, view.updated, view.actor), strict=True)
    return {key: to_term(value) for key, value in notes if value}


def _entry(key: str, register: Register) -> dict[str, Json]:
    """What another nexus says, as an entry of the metadata key ``conflict``."""
    keys = register.get("keys", {})
    at, *value = keys.get(key, [register.get("at")])
    stated = {"value": value[0]} if value else {}
    return {"key": key, **stated, "by": by_of(register), "at": at or None}


def _identity(wire: Wire) -> Identity:
    if len(wire) == 2:
        return ConceptName(*wire)
    return Fact.of(_identity(wire[0]), wire[1], _identity(wire[2]))
