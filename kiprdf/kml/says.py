"""What several nexuses say of one element, and what is shown of it (docs/decisions/213).

The says of an element are a triple of it, ``kip:says``, with JSON: what it is, and what each nexus
says, by its id; "" is this one. They are there as soon as another nexus says something; before,
all that is stored is said by this one. A register, what one nexus says, is one of these::

    {"seq": 7, "at": TIME, "actor": …, "created": TIME, "keys": {"attributes.risk": [TIME, 2]}}
    {"seq": 7, "at": TIME, "actor": …}   it has deleted the element
    {"seq": 7}                           it says nothing any more

A key without a value was deleted. ``seq`` is the commit of that nexus as of which it says so, and
the later one replaces the earlier: so the says of all nexuses that have heard the same are the
same, in any order. What is shown is a function of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError
from kiprdf.kql.reader import links_at
from kiprdf.language.limits import NESTING
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, read_element
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName, proposition_digits
from kiprdf.rdf.literals import Json, canonical_json, to_json
from kiprdf.store import Delta, Store

Wire: TypeAlias = list[Any]
"""What an element is, without IRIs: ``[type, name]``, or ``[subject, predicate, object]``."""
Register: TypeAlias = dict[str, Any]
By: TypeAlias = dict[str, Register]
"""The registers of an element by the ids of their nexuses."""

OWN = ""
VIA = "via"
_LOCAL = {"metadata.conflict", f"metadata.{VIA}"}
"""What each nexus notes for itself."""
_ENGINE = {f"metadata.{key}" for key in vocab.ENGINE_KEYS}
_REVIEWED = ("metadata.status", "reviewed")


@dataclass(slots=True)
class Says:
    """What an element is, and what each nexus says of it."""

    wire: Wire
    by: By = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Says:
        content = json.loads(text)
        return cls(content["is"], content["by"])

    def text(self) -> str:
        return canonical_json({"is": self.wire, "by": self.by})


def lives(register: Register | None) -> bool:
    """Whether a nexus says that there is the element."""
    return register is not None and "keys" in register


def joined(old: Register | None, new: Register) -> Register:
    """The later of two registers of one nexus."""
    return new if old is None or new["seq"] > old["seq"] else old


@dataclass(slots=True)
class Shown:
    """What is shown of an element: its keys with their values, and what the engine notes.

    ``conflicts`` are the keys that others say otherwise, each with the register that says so.
    """

    keys: dict[str, Json]
    created: str | None
    updated: str
    actor: str | None
    via: list[str]
    conflicts: list[tuple[str, Register]]


def shown(by: By, me: str) -> Shown | None:
    """What is shown in the nexus ``me``; None where there is no such element.

    What this nexus says stands. Of the others the one counts that spoke last; of two at the same
    time, that with the greater id.

    >>> one = {"seq": 4, "at": "2026", "keys": {"attributes.risk": ["2026", 1]}}
    >>> two = {"seq": 9, "at": "2027", "keys": {"attributes.risk": ["2027", 2]}}
    >>> shown({"a": one, "b": two}, "c").keys
    {'attributes.risk': 2}
    >>> shown({"": one, "b": two}, "a").keys
    {'attributes.risk': 1}
    """
    if not exists(by):
        return None
    living = [(origin or me, register) for origin, register in by.items() if lives(register)]
    _, newest = max(living, key=lambda one: (one[1]["at"], one[0]))
    keys: dict[str, Json] = {}
    conflicts: list[tuple[str, Register]] = []
    for key in sorted({key for _, register in living for key in register["keys"]}):
        stating = [(origin, one) for origin, one in living if key in one["keys"]]
        own = [one for origin, one in stating if one is by.get(OWN)]
        _, chosen = max(stating, key=lambda one: (one[1]["keys"][key][0], one[0]))
        chosen = own[0] if own else chosen
        value = chosen["keys"][key][1:]
        if value:
            keys[key] = value[0]
        others = (
            one
            for _, one in stating
            if canonical_json(one["keys"][key][1:]) != canonical_json(value)
        )
        conflicts += [(key, one) for one in others]
    gone = (one for one in by.values() if "at" in one and not lives(one))
    conflicts += [("exists", one) for one in gone]
    created = min((one["created"] for _, one in living if one.get("created")), default=None)
    via = sorted({one[VIA] for _, one in living if VIA in one})
    return Shown(keys, created, newest["at"], newest.get("actor"), via, conflicts)


def exists(by: By) -> bool:
    """Whether an element is shown, as far as it is up to what is said of it."""
    own = by.get(OWN)
    if own is not None and "at" in own:
        return lives(own)
    spoken = [(one["at"], origin, one) for origin, one in by.items() if "at" in one]
    return bool(spoken) and lives(max(spoken, key=lambda one: one[:2])[2])


def is_disputed(by: By) -> bool:
    """Whether an element is not shown that others have."""
    return not exists(by) and any(map(lives, by.values()))


# Identities -----------------------------------------------------------------------------------


def ids_of(wire: Wire) -> list[str]:
    """The id of an element, by its ends, and after it those of all elements that it is about."""
    if len(wire) == 2:
        return [ConceptName(*wire).id]
    subject, object_ = ids_of(wire[0]), ids_of(wire[2])
    digits = proposition_digits(subject[0], wire[1], object_[0])
    return [PropositionName(digits, wire[1]).id, *subject, *object_]


def node_of(wire: Wire, iris: Iris) -> NamedNode:
    """The subject of the says of an element: its node, but for links that a MERGE has changed."""
    node = iris.from_id(ids_of(wire)[0])
    assert node is not None, wire
    return node


def wire_of(
    store: Store,
    node: NamedNode,
    facts: Mapping[NamedNode, Triple] | None = None,
    depth: int = 0,
) -> Wire:
    """What an element of a store is; ``facts`` are those that links state by now."""
    name = store.iris.name(node.value)
    if isinstance(name, ConceptName):
        return list(name)
    if depth > NESTING:
        message = f"An element is nested in more than {NESTING} propositions."
        raise KipError("KIP_4002", message, "Remove what is stated about it.")
    fact: Any = (facts or {}).get(node) or store.lookup(node, vocab.REIFIES, None, 1)[0].object
    ends = (wire_of(store, end, facts, depth + 1) for end in (fact.subject, fact.object))
    assert name is not None, node
    return [next(ends), name.predicate, next(ends)]


def says_at(store: Store, node: NamedNode) -> Says | None:
    """The says whose subject is a node."""
    rows = store.lookup(node, vocab.SAYS, None, 1)
    return Says.read(cast(Literal, rows[0].object).value) if rows else None


# What this nexus says -------------------------------------------------------------------------


def own_register(element: Element, seq: int) -> Register:
    """What a nexus says of an element that only it has written."""
    engine = {key: element.metadata.get(key) for key in vocab.ENGINE_KEYS}
    created, at, actor = (
        None if (term := engine[key]) is None else to_json(term)
        for key in (vocab.CREATED_AT, vocab.UPDATED_AT, vocab.ACTOR)
    )
    keys = {key: [at or "", value] for key, value in keys_of(element).items()}
    return {"seq": seq, "at": at or "", "actor": actor, "created": created, "keys": keys}


def keys_of(element: Element) -> dict[str, Json]:
    """The values of an element by key, without what each nexus notes for itself."""
    parts = (("attributes", element.attributes), ("metadata", element.metadata))
    values = {
        f"{part}.{key}": to_json(term) for part, terms in parts for key, term in terms.items()
    }
    return {key: value for key, value in values.items() if key not in _LOCAL | _ENGINE}


def changed_rows(
    node: NamedNode, old: Says | None, new: Says | None
) -> tuple[list[Triple], list[Triple]]:
    """The triples that replace the says of an element."""
    texts = (None if one is None else one.text() for one in (old, new))
    removed, added = ([] if text is None else [_triple(node, text)] for text in texts)
    return ([], []) if removed == added else (removed, added)


def unsettled(node: NamedNode) -> Triple:
    """The triple by which the next following looks again at what is shown of an element."""
    return Triple(node, vocab.UNSETTLED, Literal("true"))


def _triple(node: NamedNode, text: str) -> Triple:
    return Triple(node, vocab.SAYS, Literal(text))


def with_own(store: Store, delta: Delta) -> Delta:
    """A change of this nexus, which also notes it in the says of the elements that it changes."""
    removed, added = (
        [tuple(row) for row in side if row[1] not in (vocab.SAYS, vocab.UNSETTLED)]
        for side in (delta.removed, delta.added)
    )
    noting = _Noting(store, removed, added, delta.origin.at, delta.origin.actor)
    noting.run()
    return replace(delta, removed=[*removed, *noting.removed], added=[*added, *noting.added])


class _Noting:
    """Notes in the says of elements what a change of this nexus says."""

    def __init__(
        self, store: Store, removed: list[Any], added: list[Any], at: str, actor: str | None
    ) -> None:
        self._store = store
        predicates = store.iris.predicates
        self._sides = [_by_subject(side, predicates) for side in (removed, added)]
        self._seq = store.commit() + 1
        self._at, self._actor = at, actor
        self.removed: list[Triple] = []
        self.added: list[Triple] = []
        self._says: dict[NamedNode, tuple[Says | None, Says | None]] = {}

    def run(self) -> None:
        before, after = self._sides
        facts = {
            node: row[2] for node, rows in after.items() for row in rows if row[1] == vocab.REIFIES
        }
        nodes = {*before, *after}
        pending = [node for node in facts if _has_identity(before.get(node, ()))]
        while pending:  # what is stated about a link with other ends is another fact, too
            about = {link for link, _ in links_at(self._store, pending.pop())} - nodes
            nodes |= about
            pending += about
        for node in sorted(nodes, key=str):
            self._note_changes(node, facts)
        for node, (old, new) in self._says.items():
            removed, added = changed_rows(node, old, new)
            is_noted = old is None or bool(self._store.lookup(node, vocab.UNSETTLED, None, 1))
            self.removed += removed
            self.added += [*added, *([] if is_noted else [unsettled(node)])]

    def _note_changes(self, node: NamedNode, facts: Mapping[NamedNode, Triple]) -> None:
        was, is_ = self._wires(node, facts)
        if was is not None and was != is_ and (says := self._says_of(was)) is not None:
            says.by[OWN] = {"seq": self._seq, "at": self._at, "actor": self._actor}
        if is_ is not None and (says := self._says_of(is_)) is not None:
            self._state(says, self._element(node), self._keys(node) if was == is_ else None)

    def _wires(
        self, node: NamedNode, facts: Mapping[NamedNode, Triple]
    ) -> tuple[Wire | None, Wire | None]:
        """What a node is before and after the change; None where it is no element."""
        store = self._store
        predicate = vocab.TYPE if store.iris.type_of(node) is not None else vocab.REIFIES
        had = bool(store.lookup(node, predicate, None, 1))
        removed, added = (_has_identity(side.get(node, ())) for side in self._sides)
        was = wire_of(store, node) if had else None
        is_ = wire_of(store, node, facts) if added or (had and not removed) else None
        return was, is_

    def _says_of(self, wire: Wire) -> Says | None:
        """The says of an element, to be changed; None if only this nexus says something."""
        node = node_of(wire, self._store.iris)
        if node not in self._says:
            old = says_at(self._store, node)
            self._says[node] = old, None if old is None else Says(old.wire, dict(old.by))
        says = self._says[node][1]
        return says if says is not None and says.wire == wire else None

    def _state(self, says: Says, element: Element, keys: list[str] | None) -> None:
        """Note the keys that were written, or all of a new element, or of one that is reviewed."""
        whole = own_register(element, self._seq)
        values = keys_of(element)
        own = says.by.get(OWN)
        if keys is None or (_REVIEWED[0] in keys and values.get(_REVIEWED[0]) == _REVIEWED[1]):
            says.by[OWN] = whole
        elif keys or lives(own):
            noted, created = {}, whole["at"]
            if own is not None and lives(own):
                noted, created = dict(own["keys"]), own["created"]
            for key in keys:
                noted[key] = [whole["at"], values[key]] if key in values else [whole["at"]]
            says.by[OWN] = {**whole, "created": created, "keys": noted}

    def _keys(self, node: NamedNode) -> list[str]:
        """The keys of an element that the change writes or deletes."""
        rows = (row for side in self._sides for row in side.get(node, ()))
        keys = dict.fromkeys(key_of(predicate) for _, predicate, _ in rows)
        return [key for key in keys if key is not None and key not in _LOCAL | _ENGINE]

    def _element(self, node: NamedNode) -> Element:
        removed, added = (side.get(node, []) for side in self._sides)
        kept = {(row.predicate, row.object) for row in self._store.statements(node)}
        kept -= {(predicate, value) for _, predicate, value in removed}
        kept |= {(predicate, value) for _, predicate, value in added}
        rows = [Triple(node, *pair) for pair in kept]
        element = read_element(self._store.iris, node, rows)
        assert element is not None, node
        return element


def key_of(predicate: NamedNode) -> str | None:
    """The key of an attribute or of metadata, with its part; None for another predicate."""
    for part, space in (("attributes", vocab.ATTRIBUTE), ("metadata", vocab.METADATA)):
        if predicate.value.startswith(space):
            return f"{part}.{predicate.value[len(space) :]}"
    return None


def _by_subject(rows: Iterable[Any], predicates: str) -> dict[NamedNode, list[Any]]:
    """The rows of elements, without the facts that propositions state."""
    rows_of: dict[NamedNode, list[Any]] = {}
    for row in rows:
        if not row[1].value.startswith(predicates):
            rows_of.setdefault(row[0], []).append(row)
    return rows_of


def _has_identity(rows: Iterable[Any]) -> bool:
    return any(predicate in vocab.IDENTITY for _, predicate, _ in rows)
