"""Definitions as plain data: those of an ontology and those of a nexus (docs/decisions/031)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, TypeAlias

from kiprdf.interchange.importing.element_index import IMPORTED_AT, SAME_AS
from kiprdf.interchange.importing.origins import IRI
from kiprdf.interchange.importing.plan import JsonMap
from kiprdf.interchange.importing.values import listed, one_or_all
from kiprdf.interchange.vocabularies.hierarchy import read_parents
from kiprdf.interchange.vocabularies.schema import attribute_rules, definitions
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json
from kiprdf.store import Store


class LeftOut(NamedTuple):
    """A part of an ontology that is in no definition: the IRI it is about, and why."""

    iri: str
    reason: str


@dataclass(frozen=True, slots=True)
class Definition:
    """What an ontology says about a term that becomes a concept type or a predicate."""

    meta_type: ClassVar[str]
    _defaults: ClassVar[Mapping[str, Json]] = {}
    """Attributes of a new definition that the ontology may override."""

    name: str
    iri: str
    labels: dict[str, str] = field(default_factory=dict)
    """By language; ``""`` without one."""
    descriptions: dict[str, str] = field(default_factory=dict)
    parents: tuple[str, ...] = ()
    """The names of the definitions directly above it."""
    same_as: tuple[str, ...] = ()
    """Further IRIs that the ontology says are equivalent."""

    is_declared: bool = True
    """False for a term that the ontology only mentions."""
    is_homonym: bool = False
    """Whether a definition of the nexus has the name, and nothing equates the two."""

    @property
    def description(self) -> str | None:
        """The text without a language, otherwise the English one or the first by language."""
        return preferred(self.descriptions)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The texts used if there is no description: a label, the name in words, a remark."""
        labels = sorted(self.labels.values())
        names = (preferred(self.labels) or in_words(self.name), *labels, in_words(self.name))
        remark = f"<{self.iri}>, which its ontology does not describe."
        return (*names, remark) if self.is_declared else (remark, *names)

    def _texts(self) -> dict[str, Json]:
        """Labels only if they differ from the name, descriptions by language only if several."""
        attributes: dict[str, Json] = {}
        if self.description is not None:
            attributes["description"] = self.description
        if set(self.labels.values()) - {self.name}:
            attributes["labels"] = _tagged(self.labels)
        if len(self.descriptions) > 1:
            attributes["descriptions"] = _tagged(self.descriptions)
        return {**attributes, IRI: self.iri, SAME_AS: one_or_all([self.iri, *self.same_as])}

    def _values(self) -> dict[str, Json]:
        """The other attributes; those without a value are empty or false."""
        raise NotImplementedError

    def stated(self) -> dict[str, Json]:
        """What the ontology says, as attributes of the definition's concept."""
        return self._texts() | {key: value for key, value in self._values().items() if value}

    def attributes(self) -> dict[str, Json]:
        """The attributes of the concept of a new definition."""
        return {"description": self.placeholders[0], **self._defaults, **self.stated()}


@dataclass(frozen=True, slots=True)
class TypeDefinition(Definition):
    """A concept type."""

    meta_type = META_TYPES[0]
    instance_schema: dict[str, dict[str, Json]] = field(default_factory=dict)
    undescribed: frozenset[str] = frozenset()
    """The attributes whose description is only a label."""
    key_instances: tuple[str, ...] = ()

    def _values(self) -> dict[str, Json]:
        return {
            "instance_schema": self.instance_schema,
            "key_instances": list(self.key_instances),
        }


@dataclass(frozen=True, slots=True)
class PredicateDefinition(Definition):
    """A predicate."""

    meta_type = META_TYPES[1]
    subject_types: tuple[str, ...] = ("*",)
    object_types: tuple[str, ...] = ("*",)
    is_symmetric: bool = False
    is_transitive: bool = False
    inverse_of: str | None = None

    _defaults = {  # noqa: RUF012 - as Python has no frozen dict
        "subject_types": ["*"],
        "object_types": ["*"],
        "is_symmetric": False,
        "is_transitive": False,
    }

    def _values(self) -> dict[str, Json]:
        return {
            "subject_types": [] if "*" in self.subject_types else list(self.subject_types),
            "object_types": [] if "*" in self.object_types else list(self.object_types),
            "is_symmetric": self.is_symmetric,
            "is_transitive": self.is_transitive,
            "inverse_of": self.inverse_of,
        }


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions of an ontology, sorted by name, what was skipped, and warnings."""

    types: tuple[TypeDefinition, ...] = ()
    predicates: tuple[PredicateDefinition, ...] = ()
    skipped: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()

    def inherited(self) -> Definitions:
        """A copy with inheritance written out, for a nexus with ``strict_schema``.

        Types also have the attributes of the types above them, and the ends of predicates also
        allow the types below those they name.
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
    """A name as separate words.

    >>> in_words("worksOn"), in_words("date_of_birth"), in_words("HTTPServer")
    ('works on', 'date of birth', 'HTTP server')
    """
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    words = [part if part.isupper() else part.lower() for part in parts]
    return " ".join(words) or name


def _tagged(texts: dict[str, str]) -> dict[str, Json]:
    """Texts by language tag; ``und`` is that of an undetermined language."""
    return {language or "und": text for language, text in texts.items()}


def preferred(texts: dict[str, str]) -> str | None:
    """The text without a language, otherwise the English one or the first by language.

    >>> preferred({"de": "Kopfschmerz", "en-GB": "headache"})
    'headache'
    """
    english = [language for language in sorted(texts) if language.split("-")[0] == "en"]
    order = [*(["en"] if "en" in texts else []), *english, *sorted(texts)]
    return texts.get("", texts[order[0]] if order else None)


def _closure(names: Iterable[str], next_of: Mapping[str, Iterable[str]]) -> dict[str, None]:
    """Names and all that follow from them, nearest first."""
    closure: dict[str, None] = {}
    pending = list(names)
    while pending:
        name = pending.pop(0)
        if name not in closure:
            closure[name] = None
            pending += next_of.get(name, ())
    return closure


def _merged(
    names: Iterable[str], schemas: dict[str, dict[str, dict[str, Json]]]
) -> dict[str, dict[str, Json]]:
    """The rules of several types; the nearest wins."""
    merged: dict[str, dict[str, Json]] = {}
    for name in names:
        merged = {**schemas.get(name, {}), **merged}
    return dict(sorted(merged.items()))


class ExistingDefinition(NamedTuple):
    """A definition of a nexus."""

    attributes: JsonMap
    is_imported: bool = False
    """Whether an import created it."""
    parents: frozenset[str] = frozenset()
    """The names of the definitions directly above it."""

    @property
    def originals(self) -> list[Json]:
        """The IRIs in ``same_as``; an import puts the one it used first."""
        return listed(self.attributes.get(SAME_AS))

    @property
    def rules(self) -> dict[str, JsonMap]:
        """The rules of its ``instance_schema`` by attribute."""
        return attribute_rules(self.attributes)

    def is_made_from(self, iris: Iterable[str]) -> bool:
        """Whether an import created it from an IRI, so that an ontology may update it."""
        return self.is_imported and bool(self.originals) and self.originals[0] in iris


ExistingDefinitions: TypeAlias = Mapping[ConceptName, ExistingDefinition]


def read_definitions(store: Store) -> dict[ConceptName, ExistingDefinition]:
    """All definitions of a nexus."""
    parents = read_parents(store)
    return {
        (name := ConceptName(concept.type, concept.name)): ExistingDefinition(
            attributes, IMPORTED_AT in concept.metadata, frozenset(parents.get(name, ()))
        )
        for meta_type in META_TYPES
        for concept, attributes in definitions(store, meta_type)
    }
