"""What the assistant has learned, in dictionaries; it uses nothing of kiprdf.

The rules are those of docs/semantics.md: maps are merged key by key, an element has changed when
one of its values, or an end of a link, has changed; deleting takes the links along; MERGE keeps the
target's links and values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

BUNDLED = {"$PropositionType": 15, "$ConceptType": 13, "Domain": 4, "Person": 2}
"""The concepts of a new nexus, by type; all definitions are filed under CoreSchema."""


class Name(NamedTuple):
    """A concept's identity."""

    type: str
    name: str


@dataclass(eq=False)
class Concept:
    attributes: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    changed_at: str = ""


@dataclass(eq=False)
class Fact:
    subject: End
    predicate: str
    object: End
    metadata: dict[str, Any] = field(default_factory=dict)
    changed_at: str = ""

    @property
    def key(self) -> tuple[End, str, End]:
        return self.subject, self.predicate, self.object


End: TypeAlias = Name | Fact


class Record:
    """The concepts and facts, and when each of them has changed last."""

    def __init__(self) -> None:
        self.now = ""
        self.created = 0
        self.concepts: dict[Name, Concept] = {}
        self.facts: dict[tuple[End, str, End], Fact] = {}
        self._at: dict[End, dict[Fact, None]] = {}

    def put(
        self,
        name: Name,
        attributes: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Create a concept, or change its values."""
        concept = self.concepts.get(name)
        if concept is None:
            self.created += 1
            concept = self.concepts[name] = Concept(changed_at=self.now)
        changes = (_merge(concept.attributes, attributes), _merge(concept.metadata, metadata))
        if any(changes):
            concept.changed_at = self.now

    def forget(self, name: Name, key: str) -> None:
        """Remove an attribute."""
        concept = self.concepts[name]
        if key in concept.attributes:
            del concept.attributes[key]
            concept.changed_at = self.now

    def link(
        self, subject: End, predicate: str, object: End, metadata: dict[str, Any] | None = None
    ) -> Fact:
        """State a fact, or change its metadata."""
        fact = self.facts.get((subject, predicate, object))
        if fact is None:
            fact = self._add(Fact(subject, predicate, object, changed_at=self.now))
        if _merge(fact.metadata, metadata):
            fact.changed_at = self.now
        return fact

    def unmark(self, fact: Fact, *keys: str) -> int:
        """Remove metadata of a fact; how many facts had some of them."""
        marks = fact.metadata.keys() & set(keys)
        for key in marks:
            del fact.metadata[key]
        if marks:
            fact.changed_at = self.now
        return int(bool(marks))

    def facts_of(self, predicate: str) -> list[Fact]:
        return [fact for fact in self.facts.values() if fact.predicate == predicate]

    def facts_at(self, end: End) -> list[Fact]:
        """The facts that link a concept or another fact."""
        return list(self._at.get(end, {}))

    def objects(self, subject: End, predicate: str) -> list[Fact]:
        """The facts of a subject with a predicate."""
        at = self._at.get(subject, {})
        return [fact for fact in at if fact.subject == subject and fact.predicate == predicate]

    def delete(self, names: Iterable[Name]) -> tuple[int, int]:
        """Delete concepts with their facts; the number of concepts and of facts."""
        names, before = list(names), len(self.facts)
        for name in names:
            del self.concepts[name]
            self._delete_at(name)
        return len(names), before - len(self.facts)

    def merge(self, source: Name, target: Name) -> None:
        """Make one concept of two."""
        old, new = self.concepts.pop(source), self.concepts[target]
        for key, value in old.attributes.items():
            if key != "aliases":
                new.attributes.setdefault(key, value)
        aliases = [
            *new.attributes.get("aliases", []),
            *old.attributes.get("aliases", []),
            source.name,
        ]
        new.attributes["aliases"] = list(dict.fromkeys(aliases))
        new.changed_at = self.now
        replaced: list[tuple[End, End]] = [(source, target)]
        for left, right in replaced:
            for fact in list(self._at.get(left, {})):
                self._remove(fact)
                subject = right if fact.subject == left else fact.subject
                object = right if fact.object == left else fact.object
                twin = self.facts.get((subject, fact.predicate, object))
                if subject == object:
                    self._delete_at(fact)
                elif twin is not None:
                    gained = {k: v for k, v in fact.metadata.items() if k not in twin.metadata}
                    if _merge(twin.metadata, gained):
                        twin.changed_at = self.now
                    replaced.append((fact, twin))
                else:
                    fact.subject, fact.object, fact.changed_at = subject, object, self.now
                    self._add(fact)

    def _add(self, fact: Fact) -> Fact:
        self.facts[fact.key] = fact
        for end in (fact.subject, fact.object):
            self._at.setdefault(end, {})[fact] = None
        return fact

    def _remove(self, fact: Fact) -> None:
        del self.facts[fact.key]
        for end in (fact.subject, fact.object):
            self._at[end].pop(fact, None)

    def _delete_at(self, end: End) -> None:
        for fact in list(self._at.get(end, {})):
            self._remove(fact)
            self._delete_at(fact)


def _merge(values: dict[str, Any], changes: dict[str, Any] | None) -> bool:
    """Merge a map into another; whether that changes it."""
    before = dict(values)
    values.update(changes or {})
    return values != before
