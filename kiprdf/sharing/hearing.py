"""What a log says: the registers of elements, from its commits or from all that they lead to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.errors import KipError, shown
from kiprdf.execution.forgetting import KIND as FORGET
from kiprdf.execution.replacing import is_usual
from kiprdf.execution.writer import FOLLOW
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.kml.says import (
    OWN,
    VIA,
    By,
    Register,
    Says,
    ids_of,
    key_of,
    lives,
    own_register,
)
from kiprdf.language.limits import NESTING
from kiprdf.language.names import META_TYPES, is_definition_name, is_identifier, is_key, name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Proposition
from kiprdf.rdf.iris import ConceptName, Iris, PropositionName
from kiprdf.rdf.literals import canonical_json, is_value, to_json, to_term
from kiprdf.sharing.sources import Patch
from kiprdf.store.erasures import digest
from kiprdf.store.erasures import listed as listed_in
from kiprdf.store.journal_files import Commit
from kiprdf.store.past import KIND as BASE

Wire = list[Any]
_TIME = re.compile(r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_WRITER = re.compile(r"(?:human|model|job)/.+")
_LONGEST = 2**63
_FIELDS = {"seq", "at", "actor", "created", "keys", VIA}
_MARKED = {f"metadata.{key}" for key in (vocab.MERGED_FROM, vocab.MENTIONED)}
"""What only the engine writes, of all that a nexus may say."""


class WholeNeededError(Exception):
    """The commits do not say what they are about: all that they lead to has to be read."""


@dataclass(slots=True)
class Heard:
    """The registers of elements by nexus, and what is known of the log.

    ``irregular`` are the ids of links that are not made of their ends, ``is_whole`` says that what
    is not there is not said.
    """

    replica: str
    seq: int
    by: dict[str, tuple[Wire, By]] = field(default_factory=dict)
    irregular: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    is_whole: bool = False

    def add(self, wire: Wire, by: By) -> None:
        self.by[canonical_json(wire)] = wire, by


def is_gap(patches: list[Patch], seq: int, id: str) -> bool:
    """Whether commits do not follow the one up to which a log was followed."""
    first = patches[0]
    is_next = first.commit.first == seq + 1 and first.commit.origin.kind != BASE
    return not is_next or first.previous != id


# All of it ------------------------------------------------------------------------------------


def whole(patches: list[Patch], select: Callable[[Any, Iris], set[NamedNode]] | None) -> Heard:
    """What a log says that begins with nothing, or with a whole dataset."""
    first, last = patches[0], patches[-1]
    if first.commit.first != 1 and first.commit.origin.kind != BASE:
        message = f"The log begins after commit {first.commit.first - 1}, without what was before."
        raise KipError("KIP_3002", message, "Follow the whole log once.")
    iris = Iris(first.base)
    present: dict[Any, None] = {}
    for patch in paced(patches):
        for row in patch.commit.removed:
            present.pop(tuple(row), None)
        present |= {tuple(row): None for row in patch.commit.added}
    triples = [Triple(*row) for row in present]
    for triple in triples:
        fact = triple.object
        if triple.predicate == vocab.REIFIES and not _is_fact(fact, iris):
            raise _unreadable(shown(str(fact)), "it is no fact of this nexus")
    chosen = None if select is None else select(triples, iris)
    knowledge = Knowledge.of(triples, iris)
    heard = Heard(first.replica, last.commit.number, is_whole=True)
    wires: dict[NamedNode, Wire] = {}
    names: dict[str, NamedNode] = {}
    for node, element in paced(knowledge.elements.items()):
        wire = _wire(node, knowledge, wires)
        if wire is None:
            raise _unreadable(iris.id(node), "its ends are missing, or nested too deep")
        names[canonical_json(wire)] = node
        if isinstance(element, Proposition) and ids_of(wire)[0] != iris.id(node):
            heard.irregular.add(iris.id(node))
        if chosen is None or node in chosen:
            heard.add(wire, {heard.replica: own_register(element, heard.seq)})
    for triple in triples:
        if triple.predicate == vocab.SAYS:
            says = _read_says(triple.object)
            subject = names.get(canonical_json(says.wire))
            if chosen is None or subject in chosen:
                heard.add(says.wire, _transported(says, heard.replica))
    return heard


def _is_fact(term: Any, iris: Iris) -> bool:
    if not isinstance(term, Triple):
        return False
    nodes = term.subject, term.predicate, term.object
    names = [iris.name(node.value) if isinstance(node, NamedNode) else None for node in nodes]
    return None not in names and isinstance(names[1], ConceptName)


def _wire(
    node: NamedNode, knowledge: Knowledge, wires: dict[NamedNode, Wire], depth: int = 0
) -> Wire | None:
    if node not in wires:
        element = knowledge.elements.get(node)
        if element is None or depth > NESTING:
            return None
        if isinstance(element, Proposition):
            ends = [
                _wire(end, knowledge, wires, depth + 1) for end in (element.subject, element.object)
            ]
            if None in ends:
                return None
            wires[node] = [ends[0], element.predicate, ends[1]]
        else:
            wires[node] = [element.type, element.name]
    return wires[node]


def _transported(says: Says, replica: str) -> By:
    """The registers of an element as another nexus names them."""
    by = {origin: one for origin, one in says.by.items() if origin != OWN}
    if (own := says.by.get(OWN)) is not None:
        by[replica] = own
    return by


# Commit by commit -----------------------------------------------------------------------------


def commits(
    patches: list[Patch], irregular: Iterable[str], says_of: Callable[[str], Says | None]
) -> Heard:
    """What the next commits of a log say.

    ``says_of`` gives the says of an element by its id. Raises ``WholeNeededError`` where that is
    not enough.
    """
    first, last = patches[0], patches[-1]
    heard = Heard(first.replica, last.commit.number, irregular={*irregular})
    reader = _Reader(heard, Iris(first.base), says_of)
    for patch in paced(patches):
        reader.read(patch.commit)
    reader.finish()
    return heard


class _Reader:
    def __init__(self, heard: Heard, iris: Iris, says_of: Callable[[str], Says | None]) -> None:
        self._heard = heard
        self._iris = iris
        self._says_of = says_of
        self._facts: dict[Any, Any] = {}
        self._registers: dict[Any, Register | None] = {}
        """What the log's own nexus says of a node; None where it has deleted the element."""
        self._gone: dict[str, tuple[Wire, By]] = {}
        self._entries: dict[str, tuple[Wire, By]] = {}

    def read(self, commit: Commit) -> None:
        sides: list[dict[Any, list[Any]]] = [{}, {}]
        ids: set[str] = set()
        for side, rows in zip(sides, (commit.removed, commit.added), strict=True):
            for row in map(tuple, rows):
                if row[1] == vocab.SAYS:
                    ids |= self._hear(row[2], commit.number) if side is sides[1] else set()
                elif row[1] == vocab.UNSETTLED:
                    ids.add(self._name(row[0]).id)
                elif not row[1].value.startswith(self._iris.predicates):
                    side.setdefault(row[0], []).append(row)
        if commit.origin.kind == FORGET:
            after = {key: value for key, (_, value) in commit.records.items()}
            self._heard.forgotten |= listed_in(after)
        if commit.origin.kind == FOLLOW:
            return
        removed, added = sides
        for node, rows in added.items():
            fact = next((row[2] for row in rows if row[1] == vocab.REIFIES), None)
            if fact is not None:
                if node in removed and any(row[1] == vocab.REIFIES for row in removed[node]):
                    raise WholeNeededError  # a MERGE has given it other ends
                self._facts[node] = fact
        for node in {**removed, **added}:
            if self._name(node).id not in ids:
                self._change(node, removed.get(node, []), added.get(node, []), commit.number)

    def _hear(self, term: Any, number: int) -> set[str]:
        """Note what is said of an element, and return its id."""
        says = _read_says(term)
        by = _transported(says, self._heard.replica)
        # Without a register the log's nexus says nothing, whether it did or not.
        by.setdefault(self._heard.replica, {"seq": number})
        self._entries[canonical_json(says.wire)] = says.wire, by
        return {ids_of(says.wire)[0]}

    def _change(self, node: Any, removed: list[Any], added: list[Any], number: int) -> None:
        had, has = (any(row[1] in vocab.IDENTITY for row in side) for side in (removed, added))
        if has:
            self._registers[node] = {"keys": {}, "actor": None, "created": None}
            name = self._name(node)
            if isinstance(name, PropositionName) and ids_of(self._wire(node))[0] != name.id:
                self._heard.irregular.add(name.id)
        elif had:
            wire = self._wire(node)
            self._gone[canonical_json(wire)] = wire, {self._heard.replica: {"seq": number}}
            self._registers[node] = None
        elif node not in self._registers:
            _, register = self._stored(node)
            self._registers[node] = {**register, "keys": dict(register["keys"])}
        register_now = self._registers[node]
        if register_now is not None:
            _apply(register_now, removed, added)
            register_now["seq"] = number

    def _name(self, node: Any) -> ConceptName | PropositionName:
        name = self._iris.name(node.value) if isinstance(node, NamedNode) else None
        if name is None:
            raise _unreadable(str(node), "it is no element")
        return name

    def _wire(self, node: Any, depth: int = 0) -> Wire:
        name = self._name(node)
        if isinstance(name, ConceptName):
            return [*name]
        if node not in self._facts:
            return self._stored(node)[0]
        fact = self._facts[node]
        if not isinstance(fact, Triple) or depth > NESTING:
            raise _unreadable(name.id, "it reifies no triple, or is nested too deep")
        ends = (self._wire(end, depth + 1) for end in (fact.subject, fact.object))
        return [next(ends), name.predicate, next(ends)]

    def _stored(self, node: Any) -> tuple[Wire, Register]:
        """What this log's nexus said before, as it was heard."""
        id = self._name(node).id
        says = None if id in self._heard.irregular else self._says_of(id)
        register = None if says is None else says.by.get(self._heard.replica)
        if says is None or register is None or not lives(register):
            raise WholeNeededError
        return says.wire, register

    def finish(self) -> None:
        heard = self._heard
        heard.by |= self._gone
        for node, register in self._registers.items():
            if register is not None:
                heard.add(self._wire(node), {heard.replica: _dated(register)})
        heard.by |= self._entries


def _apply(register: Register, removed: list[Any], added: list[Any]) -> None:
    """Write rows into what a nexus says of an element."""
    engine = {
        vocab.metadata(vocab.CREATED_AT): "created",
        vocab.metadata(vocab.UPDATED_AT): "at",
        vocab.metadata(vocab.ACTOR): "actor",
    }
    for rows, is_added in ((removed, False), (added, True)):
        for _, predicate, value in rows:
            key = key_of(predicate)
            if predicate in engine:
                register[engine[predicate]] = to_json(value) if is_added else None
            elif key is not None and is_added:
                register["keys"][key] = ["", to_json(value)]
            elif key is not None:
                register["keys"].pop(key, None)


def _dated(register: Register) -> Register:
    """A register whose keys are as old as its last change, as in a whole dataset."""
    at = register.get("at") or ""
    keys = {key: [at, *entry[1:]] for key, entry in register["keys"].items() if key not in _LOCAL}
    return {**register, "at": at, "keys": keys}


_LOCAL = {"metadata._version", "metadata.via", "metadata.conflict"}


# Checks ---------------------------------------------------------------------------------------


def _read_says(term: Any) -> Says:
    try:
        says = Says.read(term.value)
        says.text().encode()  # JSON may escape what is no character
        says.by.items()
        return says
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise _unreadable(shown(str(term)), "what is said of an element cannot be read") from None


def require_sound(heard: Heard) -> None:
    """Raise KIP_2002 for registers that no nexus writes."""
    for wire, by in heard.by.values():
        if not _is_sound_wire(wire):
            raise _unreadable(shown(str(wire)), "it is no element")
        for origin, register in by.items():
            why = _fault(origin, register)
            if why is not None:
                raise _unreadable(shown(str(wire)), why)


def _is_sound_wire(wire: Any, depth: int = 0) -> bool:
    if not isinstance(wire, list) or depth > NESTING:
        return False
    if len(wire) == 3:
        ends = (_is_sound_wire(end, depth + 1) for end in (wire[0], wire[2]))
        return isinstance(wire[1], str) and is_identifier(wire[1]) and all(ends)
    if len(wire) != 2 or not all(isinstance(part, str) for part in wire):
        return False
    type, name = wire
    if type in META_TYPES:
        return is_definition_name(type, name)
    return is_identifier(type) and name_fault(name) is None


def _fault(origin: Any, register: Any) -> str | None:
    if not isinstance(origin, str) or not re.fullmatch("[0-9a-f]{32}", origin):
        return "a nexus has another id"
    if not isinstance(register, dict) or not _is_number(register.get("seq")):
        return "what is said of it has no commit"
    if not _FIELDS.issuperset(register) or ("keys" in register and "at" not in register):
        return "what is said of it has other fields"
    times = [register.get("at", ""), register.get("created") or ""]
    keys = register.get("keys", {})
    if not isinstance(keys, dict):
        return "its keys are no object"
    for key, entry in keys.items():
        part, _, name = key.partition(".")
        if part not in ("attributes", "metadata") or not is_key(name):
            return f"{shown(key)} is no key"
        if not isinstance(entry, list) or not 1 <= len(entry) <= 2:
            return f"{shown(key)} has no time"
        is_marked = key in _MARKED and not is_usual(name, entry[-1])
        if len(entry) == 2 and (is_marked or not is_value(to_term(entry[1]))):
            return f"{shown(key)} has no value of KIP"
        times.append(entry[0])
    if not all(isinstance(time, str) and _TIME.fullmatch(time) for time in times):
        return "a time is none that an engine writes"
    actor = register.get("actor")
    is_actor = actor is None or (isinstance(actor, str) and _WRITER.fullmatch(actor))
    return None if is_actor else "its writer is none that an engine writes"


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LONGEST


def _unreadable(what: str, why: str) -> KipError:
    message = f"The log has {what:.200}, but {why}."
    return KipError("KIP_2002", message, "Nothing of these commits was followed.")


def retracted(heard: Heard, all_says: Iterable[tuple[NamedNode, Says]]) -> Iterator[Wire]:
    """The elements of which the log's nexus says nothing any more."""
    for _, says in all_says:
        register = says.by.get(heard.replica)
        if register is None or "at" not in register:
            continue
        entry = heard.by.get(canonical_json(says.wire))
        # What was forgotten may have been written again.
        is_repeated = entry is not None and heard.replica in entry[1]
        if not is_repeated and (heard.is_whole or digest(ids_of(says.wire)[0]) in heard.forgotten):
            yield says.wire
