"""Three states of knowledge, compared key by key: what theirs changed since the base, for ours.

What changed on one side is that of this side; what both changed differently is a conflict
(docs/decisions/209).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal as OneOf
from typing import NamedTuple, TypeAlias, cast

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.execution.authors import AUTHOR
from kiprdf.interchange.differences.difference import (
    PARTS,
    Content,
    Fact,
    Identity,
    Part,
    rank,
)
from kiprdf.kml.merged_origins import each_once, items
from kiprdf.kml.trust import MARKS, STATUS
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Term, Terms
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json, canonical_json, to_json, to_term
from kiprdf.semantics.protected import ACTORS, CORE_DIRECTIVES, SYSTEM, is_rejection
from kiprdf.sharing.applying import ElementChange
from kiprdf.sharing.conflicts import (
    CONFLICT,
    EXISTS,
    Entry,
    entries,
    is_equal,
    side,
    term_of,
    with_entries,
)

State: TypeAlias = Mapping[Identity, Content]
"""The elements of a nexus, with the metadata of the engine."""
Side: TypeAlias = OneOf["ours", "theirs"]
Sides: TypeAlias = Mapping[str, Json]
"""``value``, ``by`` and ``at`` of one side; without ``value`` where it has none."""
_NO_VALUES = frozenset((*vocab.ENGINE_KEYS, vocab.MENTIONED, CONFLICT, *MARKS))
"""The metadata that is not compared: it says how a value was written, or follows another key."""
_NOTHING: Terms = {}


class Conflict(NamedTuple):
    """What both sides changed differently: a key, or ``exists``."""

    identity: Identity
    id: str
    key: str
    ours: Sides
    theirs: Sides

    def to_json(self) -> dict[str, Json]:
        """As ``Nexus.conflicts`` lists it."""
        return {"id": self.id, "key": self.key, "ours": self.ours, "theirs": self.theirs}


class Rules(NamedTuple):
    """What a merge asks about the nexus that it writes."""

    decide: Callable[[Conflict], Side | None]
    """The side that a conflict is decided for; None leaves it one."""
    is_erased: Callable[[Content, Identity], bool]
    is_rejected: Callable[[Content, str, Term], bool]
    """Whether the value of an attribute of an element was rejected."""
    takes_rejections: bool
    dated: Callable[[Conflict, Content, Content], Conflict] = lambda conflict, *_: conflict
    """A conflict with who wrote its values, and when, by the histories of both sides."""


@dataclass
class ThreeWay:
    """What a merge writes, and what it leaves out.

    ``changes`` lead from ours to the result. ``erased`` counts what the erasure list names,
    ``rejected`` has ids and keys, ``protected`` what stays as it is by the rules of the core.
    ``differs`` is whether theirs is not as the base.
    """

    base: State
    ours: State
    theirs: State
    rules: Rules
    changes: dict[Identity, ElementChange] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    decided: int = 0
    erased: int = 0
    rejected: list[tuple[str, str]] = field(default_factory=list)
    protected: list[str] = field(default_factory=list)
    differs: bool = False

    def compare(self) -> ThreeWay:
        """Compare all elements; return this."""
        lacking: list[Identity] = []
        for identity, theirs in paced(self.theirs.items()):
            ours = self.ours.get(identity)
            self.differs = self.differs or self._is_news(identity)
            if ours is None:
                lacking.append(identity)
            elif ours.attributes != theirs.attributes or ours.metadata != theirs.metadata:
                base = _decided(self.base.get(identity), ours, theirs)
                self._compare_keys(identity, base, ours, theirs)
        self._add(lacking)
        gone = (one for one in self.base if one not in self.theirs and one in self.ours)
        self._remove(list(gone))
        self.differs = self.differs or any(one not in self.theirs for one in self.base)
        self.conflicts.sort(key=lambda one: (rank(one.identity), one.key))
        return self

    def applied(self) -> dict[Identity, Content]:
        """The result as a state; without the keys on which there is a conflict."""
        state = dict(self.ours)
        written = {one: dict(change.terms) for one, change in self.changes.items()}
        for conflict in self.conflicts:
            if conflict.key != EXISTS:
                written.setdefault(conflict.identity, {})[_place(conflict.key)] = None
        for identity, terms in written.items():
            if identity in self.changes and self.changes[identity].deletes:
                del state[identity]
            else:
                content = state.get(identity)
                after = values_of(content, terms)
                content = content or self.theirs[identity]
                state[identity] = replace(
                    content, attributes=after["attributes"], metadata=after["metadata"]
                )
        return state

    # Keys -------------------------------------------------------------------------------------

    def _compare_keys(
        self, identity: Identity, base: Content | None, ours: Content, theirs: Content
    ) -> None:
        if is_fixed(identity):
            if not is_same(ours, theirs):
                self.protected.append(ours.id)
            return
        change = ElementChange(identity)
        noted: list[Entry] = []
        agreed: list[Entry] = []
        keeps_ours = False
        for part, key, was in _keys(base, ours, theirs):
            mine, other = (getattr(one, part).get(key) for one in (ours, theirs))
            name = f"{part}.{key}"
            if mine == other:
                agreed.append(_entry(name, was))
            elif identity in ACTORS and (part, key) == ("attributes", CORE_DIRECTIVES):
                self.protected.append(f"{ours.id} {name}")
            elif mine == was:
                change.terms[part, key] = other
            elif key == vocab.MERGED_FROM:
                change.terms[part, key] = to_term(each_once([*items(mine), *items(other)]))
            elif part == "attributes" and other and self.rules.is_rejected(ours, key, other):
                self.rejected.append((ours.id, key))
            else:
                sides = (side(one.attributes, one.metadata, name) for one in (ours, theirs))
                conflict = Conflict(identity, ours.id, name, *sides)
                conflict = self.rules.dated(conflict, ours, theirs)
                choice = self._choice(conflict)
                keeps_ours = keeps_ours or choice != "theirs"
                if choice is None:
                    noted.append({"key": name, **conflict.theirs})
                else:
                    agreed += [_entry(name, was), {"key": name, **conflict.theirs}]
                if choice == "theirs":
                    change.terms[part, key] = other
        if ("metadata", STATUS) in change.terms:
            for key in MARKS:
                change.terms["metadata", key] = theirs.metadata.get(key)
        before = None if base is None else base.metadata.get(AUTHOR)
        if keeps_ours and ours.metadata.get(AUTHOR) == before:
            # The author that only theirs has changed did not write the value that stays.
            change.terms.pop(("metadata", AUTHOR), None)
        changed = bool(change.terms)
        self._note(change, base, ours, theirs, noted, agreed)
        if change.terms:
            change.carried = _carried(base, ours, theirs, changed, keeps_ours)
            self.changes[identity] = change

    def _choice(self, conflict: Conflict) -> Side | None:
        """The side that a conflict is decided for; one that is left is noted."""
        choice = self.rules.decide(conflict)
        if choice is None:
            self.conflicts.append(conflict)
        else:
            self.decided += 1
        return choice

    def _note(
        self,
        change: ElementChange,
        base: Content | None,
        ours: Content,
        theirs: Content | None,
        noted: list[Entry],
        agreed: list[Entry],
    ) -> None:
        """Change the entries of an element: those of both sides, and the new ones.

        An entry whose value is that of the element, or on whose key both sides agree, is dropped.
        """
        sides = [{} if one is None else _by_text(one) for one in (base, ours, theirs)]
        before, own, others = sides
        dropped = before.keys() - others.keys() if theirs is not None else set()
        joined = {**own, **{key: one for key, one in others.items() if key not in before}}
        kept = [one for key, one in joined.items() if key not in dropped]
        after = values_of(ours, change.terms)

        def is_open(entry: Entry) -> bool:
            key = entry["key"]
            if key == EXISTS:
                return theirs is None or base is not None
            own_value = side(after["attributes"], after["metadata"], key)
            return not is_equal(entry, own_value) and not any(
                one["key"] == key and is_equal(one, entry) for one in agreed
            )

        kept = with_entries(filter(is_open, kept), noted)
        if kept != list(own.values()):
            term = term_of(kept)
            if term != ours.metadata.get(CONFLICT):
                change.terms["metadata", CONFLICT] = term

    # Elements that one side lacks -------------------------------------------------------------

    def _add(self, lacking: list[Identity]) -> None:
        """Take what theirs added, and what ours deleted if that is decided."""
        wanted = {one: None for one in lacking if self._is_news(one)}
        needed = [*wanted]
        while needed:
            for need in needs(needed.pop()):
                if need not in self.ours and need not in wanted and need in self.theirs:
                    wanted[need] = None
                    needed.append(need)
        erased: set[Identity] = set()
        for identity in sorted(wanted, key=rank):
            theirs, needed = self.theirs[identity], list(needs(identity))
            if not erased.isdisjoint(needed) or self.rules.is_erased(theirs, identity):
                erased.add(identity)
            elif isinstance(identity, ConceptName) and is_rejection(*identity):
                if self.rules.takes_rejections:
                    self._take(identity, theirs)
                else:
                    self.protected.append(theirs.id)
            else:
                lacks = any(not self._remains(need) for need in needed)
                if identity in self.base or lacks:
                    conflict = Conflict(identity, theirs.id, EXISTS, _GONE, _whole(theirs))
                    if lacks:
                        self.conflicts.append(conflict)
                    elif self._choice(conflict) == "theirs":
                        self._take(identity, theirs)
                else:
                    self._take(identity, theirs)
        self.erased += len(erased)

    def _is_news(self, identity: Identity) -> bool:
        """Whether theirs created or changed what ours lacks."""
        base = self.base.get(identity)
        return base is None or not is_same(base, self.theirs[identity])

    def _take(self, identity: Identity, theirs: Content) -> None:
        change = ElementChange(identity)
        for part in PARTS:
            for key, term in getattr(theirs, part).items():
                if key not in vocab.ENGINE_KEYS:
                    change.terms[part, key] = term
        keys = (vocab.CREATED_AT, vocab.ACTOR)
        change.carried = {key: theirs.metadata[key] for key in keys if key in theirs.metadata}
        self.changes[identity] = change

    def _remains(self, identity: Identity) -> bool:
        """Whether an element is in the result."""
        if identity in self.changes:
            return not self.changes[identity].deletes
        return identity in self.ours

    def _remove(self, gone: list[Identity]) -> None:
        """Delete what theirs deleted, unless ours changed it, or what stays needs it."""
        users: dict[Identity, list[Identity]] = {one: [] for one in gone}
        if users:
            for identity in paced(self.ours):
                for need in needs(identity):
                    if need in users:
                        users[need].append(identity)
        for identity in sorted(gone, key=rank, reverse=True):
            ours = self.ours[identity]
            remaining = any(map(self._remains, users[identity]))
            if is_fixed(identity) or identity in ACTORS or _is_of_core(identity):
                self.protected.append(ours.id)
            elif remaining or not is_same(self.base[identity], ours):
                conflict = Conflict(identity, ours.id, EXISTS, _whole(ours), _GONE)
                choice: Side | None = None
                if remaining and rank(identity)[0] < len(META_TYPES):
                    self.conflicts.append(conflict)  # what is defined by it stays
                else:
                    choice = self._choice(conflict)
                if choice is None:
                    self._note_deletion(identity, ours)
                elif choice == "theirs":
                    self.changes[identity] = ElementChange(identity, deletes=True)
            else:
                self.changes[identity] = ElementChange(identity, deletes=True)
        self._delete_users()

    def _note_deletion(self, identity: Identity, ours: Content) -> None:
        """Note with an element that theirs deleted it."""
        change = ElementChange(identity)
        entry: Entry = {"key": EXISTS, **_GONE}
        self._note(change, self.base[identity], ours, None, [entry], [])
        if change.terms:
            change.carried = _carried(None, ours, ours, changed=False)
            self.changes[identity] = change

    def _delete_users(self) -> None:
        """Delete what ours says about elements whose deletion was decided."""
        facts = [one for one in self.ours if isinstance(one, Fact)] if self.decided else []
        for fact in sorted(facts, key=lambda fact: fact.height):
            if self._remains(fact) and not all(map(self._remains, (fact.subject, fact.object))):
                self.changes[fact] = ElementChange(fact, deletes=True)


_GONE: Sides = {"by": None, "at": None}
"""The side that deleted an element."""


def needs(identity: Identity) -> Iterator[Identity]:
    """What an element cannot be without: its definition, and the ends of a proposition."""
    if isinstance(identity, Fact):
        yield ConceptName("$PropositionType", identity.predicate)
        yield identity.subject
        yield identity.object
    elif identity.type not in META_TYPES:
        yield ConceptName("$ConceptType", identity.type)


def values_of(
    content: Content | None, terms: Mapping[tuple[Part, str], Term | None]
) -> dict[Part, Terms]:
    """The attributes and the metadata of an element after a change."""
    after: dict[Part, Terms] = {
        part: {} if content is None else dict(getattr(content, part)) for part in PARTS
    }
    for (part, key), term in terms.items():
        if term is None:
            after[part].pop(key, None)
        else:
            after[part][key] = term
    return after


def is_same(one: Content, other: Content) -> bool:
    """Whether two contents have the same values, and are equal but for how they were written."""
    return one.attributes == other.attributes and (
        one.metadata == other.metadata or _values(one) == _values(other)
    )


def _values(content: Content) -> Terms:
    return {key: term for key, term in content.metadata.items() if key not in _NO_VALUES}


def is_fixed(identity: Identity) -> bool:
    """Whether an element belongs to the core schema, or is a rejection: ours stays."""
    return isinstance(identity, ConceptName) and (identity in SYSTEM or is_rejection(*identity))


def _is_of_core(identity: Identity) -> bool:
    return isinstance(identity, Fact) and identity.subject in SYSTEM


def _keys(
    base: Content | None, ours: Content, theirs: Content
) -> Iterator[tuple[Part, str, Term | None]]:
    """The keys that theirs has changed, with the value of the base."""
    for part in PARTS:
        before: Terms = _NOTHING if base is None else getattr(base, part)
        after: Terms = getattr(theirs, part)
        for key in sorted({*before, *after}):
            is_value = part == "attributes" or key not in _NO_VALUES
            if is_value and before.get(key) != after.get(key):
                yield part, key, before.get(key)


def _decided(base: Content | None, ours: Content, theirs: Content) -> Content | None:
    """A base without the keys on which it has a conflict that neither side has any more.

    Each side decided it, so the value of the base is that of no common state. git makes such bases
    of two bases.
    """
    if base is None or CONFLICT not in base.metadata:
        return base
    kept = {one["key"] for side in (ours, theirs) for one in entries(side.metadata)}
    keys = {one["key"] for one in entries(base.metadata)} - kept
    terms = {_place(key): None for key in keys if key != EXISTS}
    after = values_of(base, terms)
    return replace(base, attributes=after["attributes"], metadata=after["metadata"])


def _place(key: str) -> tuple[Part, str]:
    part, _, name = key.partition(".")
    return cast(Part, part), name


def _entry(key: str, term: Term | None) -> Entry:
    return {"key": key} if term is None else {"key": key, "value": to_json(term)}


def _by_text(content: Content) -> dict[str, Entry]:
    return {canonical_json(one): one for one in entries(content.metadata)}


def _whole(content: Content) -> Sides:
    return side(content.attributes, content.metadata, EXISTS)


def _carried(
    base: Content | None, ours: Content, theirs: Content, changed: bool, keeps_ours: bool = False
) -> Terms:
    """The engine's metadata of an element that both have: it exists since the earlier time.

    Its writer is who wrote last, of those who changed it since the base; where a
    conflict ``keeps_ours``, it is ours. One that has only a new conflict keeps its own.
    """
    if not changed:
        keys = (vocab.CREATED_AT, vocab.UPDATED_AT, vocab.ACTOR)
        return {key: ours.metadata[key] for key in keys if key in ours.metadata}
    both = (ours, theirs)
    created = [one.metadata[vocab.CREATED_AT] for one in both if vocab.CREATED_AT in one.metadata]
    times = [time_of(one.metadata.get(vocab.UPDATED_AT)) for one in both]
    is_theirs = (base is not None and is_same(base, ours)) or times[1] >= times[0]
    writer = (theirs if is_theirs and not keeps_ours else ours).metadata.get(vocab.ACTOR)
    carried = {} if writer is None else {vocab.ACTOR: writer}
    return {**carried, **({vocab.CREATED_AT: min(created, key=time_of)} if created else {})}


def time_of(term: Term | None) -> str:
    """A time of the engine as text, which sorts as times do; "" for none."""
    return "" if term is None else term.value
