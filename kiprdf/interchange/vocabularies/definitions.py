"""Definitions as plain data: what an ontology amounts to in a nexus (docs/decisions/031)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kiprdf.rdf.literals import Json


class Skipped(NamedTuple):
    """What of an ontology has no place in definitions: the IRI it is about, and why."""

    iri: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    iri: str
    labels: dict[str, str] = field(default_factory=dict)
    """By language; ``""`` without one."""
    descriptions: dict[str, str] = field(default_factory=dict)
    parents: tuple[str, ...] = ()
    """The names of what it is directly below of."""
    same_as: tuple[str, ...] = ()
    """Further IRIs that the ontology says are equivalent."""

    is_declared: bool = True
    """False for a term that the ontology mentions and says nothing of."""
    is_homonym: bool = False
    """Whether the nexus has the name for something that may be the same, and nobody says so."""

    @property
    def description(self) -> str | None:
        """The text without a language, else the English one, else the first by language."""
        return preferred(self.descriptions)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """What stands for a description: a label, the name in words, or that there is none."""
        labels = sorted(self.labels.values())
        said = (preferred(self.labels) or in_words(self.name), *labels, in_words(self.name))
        none = f"<{self.iri}>, which its ontology does not describe."
        return (*said, none) if self.is_declared else (none, *said)

    def _said(self) -> dict[str, Json]:
        """Labels are kept where they tell more than the name, texts by language where several."""
        found: dict[str, Json] = {}
        if self.description is not None:
            found["description"] = self.description
        if set(self.labels.values()) - {self.name}:
            found["labels"] = {language or "und": text for language, text in self.labels.items()}
        if len(self.descriptions) > 1:
            found["descriptions"] = {
                language or "und": text for language, text in self.descriptions.items()
            }
        return {**found, "same_as": [self.iri, *self.same_as] if self.same_as else self.iri}


@dataclass(frozen=True, slots=True)
class TypeDefinition(_Definition):
    """A concept type."""

    instance_schema: dict[str, dict[str, Json]] = field(default_factory=dict)
    undescribed: frozenset[str] = frozenset()
    """The attributes whose description is but a label."""
    key_instances: tuple[str, ...] = ()

    def said(self) -> dict[str, Json]:
        """What the ontology says, as attributes of the ``$ConceptType`` concept of this name."""
        found = self._said()
        if self.instance_schema:
            found["instance_schema"] = self.instance_schema
        if self.key_instances:
            found["key_instances"] = list(self.key_instances)
        if self.parents:
            found["subclass_of"] = list(self.parents)
        return found

    def attributes(self) -> dict[str, Json]:
        """What a new ``$ConceptType`` concept of this name has as attributes."""
        return {"description": self.placeholders[0], **self.said()}


@dataclass(frozen=True, slots=True)
class PredicateDefinition(_Definition):
    """A predicate."""

    subject_types: tuple[str, ...] = ("*",)
    object_types: tuple[str, ...] = ("*",)
    is_symmetric: bool = False
    is_transitive: bool = False
    inverse_of: str | None = None

    def said(self) -> dict[str, Json]:
        """What the ontology says, as attributes of the ``$PropositionType`` concept."""
        found = self._said()
        for role, types in (("subject", self.subject_types), ("object", self.object_types)):
            if "*" not in types:
                found[f"{role}_types"] = list(types)
        if self.is_symmetric:
            found["is_symmetric"] = True
        if self.is_transitive:
            found["is_transitive"] = True
        if self.inverse_of is not None:
            found["inverse_of"] = self.inverse_of
        if self.parents:
            found["subproperty_of"] = list(self.parents)
        return found

    def attributes(self) -> dict[str, Json]:
        """What a new ``$PropositionType`` concept of this name has as attributes."""
        unsaid: dict[str, Json] = {
            "description": self.placeholders[0],
            "subject_types": ["*"],
            "object_types": ["*"],
            "is_symmetric": False,
            "is_transitive": False,
        }
        return unsaid | self.said()


@dataclass(frozen=True, slots=True)
class AttributeDefinition:
    """A property whose values are literals: its key, and the types that mention it."""

    key: str
    iri: str
    rule: dict[str, Json] = field(default_factory=dict)
    """What the ontology says without regard to a type, as an ``instance_schema`` would."""
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Definitions:
    """What an ontology defines, each sorted by name, what was skipped, and what is doubtful."""

    types: tuple[TypeDefinition, ...] = ()
    predicates: tuple[PredicateDefinition, ...] = ()
    attributes: tuple[AttributeDefinition, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()

    def context(self) -> dict[str, Any]:
        """A mapping for data in terms of the ontology, as ``Mapping.load`` takes it.

        A context has one word for one thing: of a type and a predicate that share a name it has
        the predicate.
        """
        return {
            "@context": {
                "@version": 1.1,
                **{one.name: one.iri for one in self.types},
                **{one.name: {"@id": one.iri, "@type": "@id"} for one in self.predicates},
                "attributes": {
                    "@id": "@nest",
                    "@context": {one.key: one.iri for one in self.attributes},
                },
            }
        }

    def inherited(self) -> Definitions:
        """The same for a nexus with ``strict_schema``, since KIP itself has no inheritance.

        Types have the attributes of the types above them too, and the ends of predicates allow the
        types below those they name.
        """
        above = {one.name: one.parents for one in self.types}
        below: dict[str, list[str]] = defaultdict(list)
        for one in self.types:
            for parent in one.parents:
                below[parent].append(one.name)
        schemas = {one.name: one.instance_schema for one in self.types}
        types = [
            replace(one, instance_schema=_merged(_closure([one.name], above), schemas))
            for one in self.types
        ]
        predicates = [
            replace(
                one,
                subject_types=tuple(sorted(_closure(one.subject_types, below))),
                object_types=tuple(sorted(_closure(one.object_types, below))),
            )
            for one in self.predicates
        ]
        return replace(self, types=tuple(types), predicates=tuple(predicates))


def in_words(name: str) -> str:
    """A name as people say it.

    >>> in_words("worksOn"), in_words("date_of_birth"), in_words("HTTPServer")
    ('works on', 'date of birth', 'HTTP server')
    """
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    words = [part if part.isupper() else part.lower() for part in parts]
    return " ".join(words) or name


def preferred(texts: dict[str, str]) -> str | None:
    """One of the texts by language: without a language, English, else the first.

    >>> preferred({"de": "Kopfschmerz", "en-GB": "headache"})
    'headache'
    """
    english = [language for language in sorted(texts) if language.split("-")[0] == "en"]
    order = [*(["en"] if "en" in texts else []), *english, *sorted(texts)]
    return texts.get("", texts[order[0]] if order else None)


def _closure(names: Iterable[str], next_of: Mapping[str, Iterable[str]]) -> dict[str, None]:
    """Names and what follows from them, nearest first."""
    found: dict[str, None] = {}
    pending = list(names)
    while pending:
        name = pending.pop(0)
        if name not in found:
            found[name] = None
            pending += next_of.get(name, ())
    return found


def _merged(
    names: Iterable[str], schemas: dict[str, dict[str, dict[str, Json]]]
) -> dict[str, dict[str, Json]]:
    """The rules of several types; the nearest wins."""
    found: dict[str, dict[str, Json]] = {}
    for name in names:
        found = {**schemas.get(name, {}), **found}
    return dict(sorted(found.items()))
