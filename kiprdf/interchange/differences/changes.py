"""The differences between two nexuses in KIP terms: concepts, facts, and their keys.

Concepts are identified by type and name, propositions by what they state, never by IRIs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import NamedTuple, TypeAlias

from kiprdf.language.names import META_TYPES
from kiprdf.rdf.elements import Term, Terms
from kiprdf.rdf.iris import ConceptName, encode
from kiprdf.rdf.literals import canonical_json, to_json

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


# For people -----------------------------------------------------------------------------------


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
