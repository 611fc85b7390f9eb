"""Compares two nexuses in KIP terms, as text and as JSON: concepts, facts, and their keys.

Concepts are identified by type and name, propositions by what they state, never by IRIs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, assert_never
from typing import Literal as OneOf

from pyoxigraph import NamedNode, Triple

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.interchange.knowledge import Knowledge
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.rdf.elements import Element, Proposition, Term, Terms, json_map
from kiprdf.rdf.iris import ConceptName, Iris, encode
from kiprdf.rdf.literals import Json, canonical_json, to_json

Identity: TypeAlias = "ConceptName | Fact"
Kind: TypeAlias = OneOf["added", "removed", "changed"]
Part: TypeAlias = OneOf["attributes", "metadata"]
PARTS: tuple[Part, Part] = ("attributes", "metadata")

DEEPEST_SHOWN = 4
"""Facts about facts are written out to this depth: shared parts double with each level."""

_DELIMITERS = re.compile(r'[",:()…]|^ | $')
_UNUSUAL = re.compile(r"[^ -~]")


@dataclass(frozen=True, slots=True, repr=False)
class Fact:
    """What a proposition states, regardless of its id.

    Facts are compared by their digest, which includes the facts they are about.
    """

    digest: str
    subject: Identity = field(compare=False)
    predicate: str = field(compare=False)
    object: Identity = field(compare=False)
    height: int = field(compare=False)
    """How many levels of propositions are below it: none below a fact about concepts."""

    @classmethod
    def of(cls, subject: Identity, predicate: str, object: Identity) -> Fact:
        parts = [_digest_part(subject), predicate, _digest_part(object)]
        digest = hashlib.sha256(canonical_json(parts).encode()).hexdigest()
        below = [end.height for end in (subject, object) if isinstance(end, Fact)]
        return cls(digest, subject, predicate, object, max(below, default=-1) + 1)

    def __repr__(self) -> str:
        return f"Fact{shown(self)}"


def _digest_part(end: Identity) -> str:
    return f"P:{end.digest}" if isinstance(end, Fact) else end.id


@dataclass(frozen=True, slots=True)
class Content:
    """An element in one of the two nexuses; ``ends`` are the ids of the ends of a link."""

    id: str
    attributes: Terms
    metadata: Terms
    ends: tuple[str, str] | None = None


class KeyChange(NamedTuple):
    """One key of an element; None if a side does not have it (``kip:null`` is a value)."""

    key: str
    before: Term | None
    after: Term | None


@dataclass(frozen=True, slots=True)
class Change:
    """One element that differs; None if a side does not have it."""

    identity: Identity
    before: Content | None
    after: Content | None

    @property
    def kind(self) -> Kind:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def keys(self, part: Part) -> Iterator[KeyChange]:
        """The keys that differ, in alphabetical order."""
        old: Terms = {} if self.before is None else getattr(self.before, part)
        new: Terms = {} if self.after is None else getattr(self.after, part)
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                yield KeyChange(key, old.get(key), new.get(key))

    @property
    def ids(self) -> tuple[str, str] | None:
        """The two ids of a link whose ids differ."""
        if self.before is None or self.after is None or self.before.id == self.after.id:
            return None
        return self.before.id, self.after.id


# The order ------------------------------------------------------------------------------------


def rank(identity: Identity) -> tuple[int, str, str, str, str]:
    """The order: definitions, other concepts, facts about concepts, facts about these.

    Each element comes after those that it refers to.
    """
    if isinstance(identity, ConceptName):
        is_definition = identity.type in META_TYPES
        place = META_TYPES.index(identity.type) if is_definition else len(META_TYPES)
        return place, identity.type, identity.name, "", ""
    subject, object_ = _sort_key(identity.subject), _sort_key(identity.object)
    place = len(META_TYPES) + 1 + identity.height
    return place, subject, identity.predicate, object_, identity.digest


def _sort_key(end: Identity) -> str:
    """Facts by the beginning of their text; the digest decides between equal beginnings."""
    return shown(end) if isinstance(end, Fact) else f"{end.type}:{end.name}"


def shown(identity: Identity, depth: int = DEEPEST_SHOWN) -> str:
    """The short text of an identity.

    >>> aspirin, ache = ConceptName("Drug", "Aspirin"), ConceptName("Symptom", "Ache, dull")
    >>> shown(Fact.of(aspirin, "treats", ache))
    '(Drug:Aspirin, treats, Symptom:"Ache, dull")'
    """
    if isinstance(identity, ConceptName):
        return f"{printable(identity.type)}:{_name(identity.name)}"
    if depth == 0:
        return f"(…, {identity.predicate}, …)"
    ends = shown(identity.subject, depth - 1), shown(identity.object, depth - 1)
    return f"({ends[0]}, {identity.predicate}, {ends[1]})"


def _name(name: str) -> str:
    """A name, in quotes if it would be ambiguous."""
    quoted = printable(canonical_json(name))
    return quoted if _DELIMITERS.search(name) or quoted != f'"{name}"' else name


def shown_value(term: Term) -> str:
    """A value as JSON on one line."""
    return printable(canonical_json(to_json(term)))


def printable(text: str) -> str:
    """A text in which invisible characters are JSON escapes.

    Characters that IRIs may contain are kept: fixed ranges, the same in every Python.

    >>> printable("阿司匹林\\u202e")
    '阿司匹林\\\\u202e'
    """
    return _UNUSUAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    # ASCII from space to tilde is visible and never reaches this function.
    if encode(character) == character:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    pairs = (units[i : i + 2] for i in range(0, len(units), 2))
    return "".join(f"\\u{pair.hex()}" for pair in pairs)


# Difference -----------------------------------------------------------------------------------


DifferenceFormat: TypeAlias = OneOf["text", "json"]

VALUE_CHARACTERS = 200
"""Longer values are cut in the text, around the position at which they begin to differ."""
_CONTEXT = 30
"""How many characters before that position are shown."""

_SIGNS: dict[Kind, str] = {"added": "+", "removed": "-", "changed": "~"}


def difference(
    before: Iterable[Triple],
    after: Iterable[Triple],
    iris: Iris,
    *,
    after_iris: Iris | None = None,
    engine_metadata: bool = False,
    link_ids: bool = False,
) -> Difference:
    """The elements added, removed and changed between the datasets of two nexuses.

    ``iris`` are those of ``before``, and of ``after`` unless ``after_iris`` is given: another base
    is not a difference. ``engine_metadata`` compares ``_version`` and the two times as well,
    ``link_ids`` the ids of propositions that state the same. Both datasets must pass
    ``check_dataset``.
    """
    old = contents(before, iris, engine_metadata)
    new = contents(after, after_iris or iris, engine_metadata)
    pairs = (
        Change(identity, old.get(identity), new.get(identity)) for identity in paced({**old, **new})
    )
    changes = [change for change in pairs if differs(change, link_ids)]
    return Difference(tuple(sorted(changes, key=lambda change: rank(change.identity))), link_ids)


def differs(change: Change, link_ids: bool) -> bool:
    """Whether an element differs, or the ids of a link if these count."""
    if change.kind != "changed" or (link_ids and change.ids is not None):
        return True
    return any(True for part in PARTS for _ in change.keys(part))


def contents(
    triples: Iterable[Triple], iris: Iris, engine_metadata: bool
) -> dict[Identity, Content]:
    """Every element of a dataset by its identity."""
    return contents_of(Knowledge.of(triples, iris).elements, iris, engine_metadata)


def contents_of(
    elements: dict[NamedNode, Element], iris: Iris, engine_metadata: bool
) -> dict[Identity, Content]:
    """Some elements, among which are the ends of each proposition, by their identities."""
    identities = _identities(elements)
    return {
        identities[node]: content_of(element, iris, engine_metadata)
        for node, element in paced(elements.items())
    }


def _identities(elements: dict[NamedNode, Element]) -> dict[NamedNode, Identity]:
    """Not recursive, since facts about facts may nest deeper than Python's stack."""
    identities: dict[NamedNode, Identity] = {}
    pending = list(elements.values())
    while pending:
        element = pending[-1]
        if isinstance(element, Proposition):
            ends = (element.subject, element.object)
            unresolved = [elements[end] for end in ends if end not in identities]
            if unresolved:
                pending.extend(unresolved)
                continue
            subject, object_ = (identities[end] for end in ends)
            identities[element.node] = Fact.of(subject, element.predicate, object_)
        else:
            identities[element.node] = ConceptName(element.type, element.name)
        pending.pop()
    return identities


def content_of(element: Element, iris: Iris, engine_metadata: bool) -> Content:
    """What an element has."""
    metadata = element.metadata
    if not engine_metadata:
        metadata = {key: term for key, term in metadata.items() if key not in vocab.ENGINE_KEYS}
    content = Content(iris.id(element.node), element.attributes, metadata)
    if isinstance(element, Proposition):
        return replace(content, ends=(iris.id(element.subject), iris.id(element.object)))
    return content


@dataclass(frozen=True, slots=True)
class Difference:
    """The elements that differ, in order; false when there are none.

    Definitions come first, then other concepts, then propositions, those about others last.
    """

    changes: tuple[Change, ...]
    link_ids: bool = False

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def concepts(self) -> list[Change]:
        return [change for change in self.changes if isinstance(change.identity, ConceptName)]

    @property
    def propositions(self) -> list[Change]:
        return [change for change in self.changes if isinstance(change.identity, Fact)]

    def counts(self) -> dict[str, dict[Kind, int]]:
        """How many concepts and propositions were added, removed and changed."""
        return {"concepts": _counts(self.concepts), "propositions": _counts(self.propositions)}

    def text(self) -> str:
        """For people: ``+`` added, ``-`` removed, ``~`` changed; "" if nothing differs."""
        if not self:
            return ""
        parts = (("Concepts", self.concepts), ("Propositions", self.propositions))
        groups = [
            "\n".join([title, *chain.from_iterable(map(self._lines, changes))])
            for title, changes in parts
            if changes
        ]
        counts = [f"{title}: {_counts_text(changes)}" for title, changes in parts]
        return "\n\n".join([*groups, "\n".join(counts)]) + "\n"

    def _lines(self, change: Change) -> Iterator[str]:
        yield f"{_SIGNS[change.kind]} {shown(change.identity)}"
        if self.link_ids and change.ids is not None:
            yield "    ~ id: {} -> {}".format(*change.ids)
        for part in PARTS:
            for key in change.keys(part):
                yield f"    {_key_text(part, key)}"

    def to_json(self) -> dict[str, Json]:
        """JSON for programs: elements as in KIP, changed keys as ``{"before": …, "after": …}``.

        A side that does not have a key is left out; null is a value. Of a changed element the id,
        and the ends of a proposition, are those it has afterwards.
        """
        groups = (("concepts", self.concepts), ("propositions", self.propositions))
        return {
            title: {
                kind: [self._object(change) for change in changes if change.kind == kind]
                for kind in _SIGNS
            }
            for title, changes in groups
        } | {"counts": self.counts()}

    def _object(self, change: Change) -> dict[str, Json]:
        content = change.after or change.before
        assert content is not None
        element = _identity_object(change.identity, content)
        if self.link_ids and change.ids is not None:
            element["previous_id"] = change.ids[0]
        for part in PARTS:
            if change.kind == "changed":
                values: dict[str, Json] = {key.key: _sides(key) for key in change.keys(part)}
            else:
                terms: Terms = getattr(content, part)
                values = json_map(terms)
            if values:
                element[part] = values
        return element


# For people -----------------------------------------------------------------------------------


def render(difference: Difference, format: DifferenceFormat = "text") -> str:
    """The output of ``kiprdf diff``."""
    match format:
        case "text":
            return difference.text()
        case "json":
            return json.dumps(difference.to_json(), ensure_ascii=False, indent=2) + "\n"
        case _:
            assert_never(format)


def exit_status(difference: Difference) -> int:
    """The exit status of ``kiprdf diff``: 0 if nothing differs, otherwise 1."""
    return 1 if difference else 0


def _counts(changes: list[Change]) -> dict[Kind, int]:
    return {kind: sum(change.kind == kind for change in changes) for kind in _SIGNS}


def _counts_text(changes: list[Change]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in _counts(changes).items())


def _key_text(part: str, key: KeyChange) -> str:
    name = f"{part}.{key.key}"
    values = [shown_value(term) for term in (key.before, key.after) if term is not None]
    sign = "-" if key.after is None else "+" if key.before is None else "~"
    return f"{sign} {name}: {' -> '.join(_cut(values))}"


def _cut(values: list[str]) -> list[str]:
    """Shorten long values to the part around their first difference."""
    if all(len(value) <= VALUE_CHARACTERS for value in values):
        return values
    start = max(0, _first_difference(values[0], values[-1]) - _CONTEXT)
    end = start + VALUE_CHARACTERS
    return [
        ("…" if start else "") + value[start:end] + ("…" if len(value) > end else "")
        for value in values
    ]


def _first_difference(one: str, other: str) -> int:
    """The position of the first difference between two texts; 0 if they are equal."""
    if one == other:
        return 0
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


# For programs ---------------------------------------------------------------------------------


def _identity_object(identity: Identity, content: Content) -> dict[str, Any]:
    """The KIP JSON of an element, without its values."""
    if isinstance(identity, ConceptName):
        concept = {"_type": "ConceptNode", "id": content.id}
        return {**concept, "type": identity.type, "name": identity.name}
    assert content.ends is not None
    subject, object_ = content.ends
    link = {"_type": "PropositionLink", "id": content.id}
    return {**link, "subject": subject, "predicate": identity.predicate, "object": object_}


def _sides(key: KeyChange) -> dict[str, Json]:
    sides = (("before", key.before), ("after", key.after))
    return {name: to_json(term) for name, term in sides if term is not None}
