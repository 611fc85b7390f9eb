"""Definitions as plain data: those of an ontology, and the plan of their import into a nexus.

See docs/decisions/031; the nexus may have some of the definitions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import ClassVar, NamedTuple, TypeAlias, cast

from kiprdf.dataclasses import dataclass
from kiprdf.interchange.forms import listed
from kiprdf.interchange.importing.element_index import IMPORTED_AT, SAME_AS
from kiprdf.interchange.importing.external import Skipped
from kiprdf.interchange.importing.names import spellings
from kiprdf.interchange.importing.origins import IRI, TERM
from kiprdf.interchange.importing.plan import Concept, ImportPlan, JsonMap, Proposition, concept
from kiprdf.interchange.importing.values import one_or_all
from kiprdf.interchange.vocabularies.schema import (
    ABOVE,
    attribute_rules,
    definitions,
    link_definition,
    read_parents,
)
from kiprdf.kml import statements
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName, PropositionName, proposition_digits
from kiprdf.rdf.literals import Json
from kiprdf.semantics.protected import SYSTEM
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


# The plan -------------------------------------------------------------------------------------


_LISTS = (SAME_AS, "key_instances")
"""Attributes whose values are joined with those of other ontologies."""
_BY_LANGUAGE = ("labels", "descriptions")


def plan_definitions(
    definitions: Definitions,
    existing: Mapping[ConceptName, ExistingDefinition],
    metadata: JsonMap | None = None,
) -> ImportPlan:
    """What to write so that a nexus has the definitions; ``existing`` are those it has.

    A definition that an import created from the same IRI is updated. One that the nexus defines
    itself keeps its attributes and gains what it lacks; the report names what it keeps. Definitions
    of the core schema stay as they are and are reported, too. Definitions that would not change are
    not in the plan. ``metadata`` is written to new and updated definitions only.
    """
    plan = _Planner(metadata or {}, warnings=list(definitions.warnings))
    plan.skipped += [Skipped(f"<{iri}>", reason) for iri, reason in definitions.skipped]
    for new in (*definitions.types, *definitions.predicates):
        name = ConceptName(new.meta_type, new.name)
        old = existing.get(name)
        if old is None:
            plan.definitions.append(concept(name, new.attributes(), metadata))
        elif name in SYSTEM:
            reason = f"'{name.name}' belongs to the core schema; it stays as it is"
            plan.skipped.append(Skipped(f"<{new.iri}>", reason))
        else:
            plan.add_existing(name, old, new)
    plan.add_hierarchy(definitions, existing)
    return ImportPlan(
        plan.definitions, (), plan.propositions, skipped=plan.skipped, warnings=plan.warnings
    )


@dataclass(slots=True)
class _Planner:
    """Collects what is written, left out and reported."""

    metadata: JsonMap
    definitions: list[Concept] = field(default_factory=list)
    propositions: list[Proposition] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add_hierarchy(
        self, definitions: Definitions, existing: Mapping[ConceptName, ExistingDefinition]
    ) -> None:
        """Add the propositions to the definitions above, and the predicates that they need."""
        needed: set[str] = set()
        for new in (*definitions.types, *definitions.predicates):
            name = ConceptName(new.meta_type, new.name)
            before = existing[name].parents if name in existing else frozenset[str]()
            if name in SYSTEM:
                continue
            for parent in new.parents:
                if parent not in before:
                    needed.add(new.meta_type)
                    above = ConceptName(new.meta_type, parent)
                    self.propositions.append(_link(name, above, self.metadata))
        links = [ConceptName(META_TYPES[1], ABOVE[meta_type]) for meta_type in sorted(needed)]
        for meta_type, link in zip(sorted(needed), links, strict=True):
            if link not in existing:
                # The schema of another nexus may define it too.
                self.definitions = [one for one in self.definitions if one.key != link.id]
                self.definitions.append(concept(link, link_definition(meta_type), self.metadata))

    def add_existing(self, name: ConceptName, old: ExistingDefinition, new: Definition) -> None:
        """Add what a definition of the nexus gains, and say what it keeps."""
        is_imported = old.is_made_from(spellings(new.iri))
        merge = _updated if is_imported else _extended
        merged = merge(old.attributes, new)
        changed = {key: value for key, value in merged.items() if old.attributes.get(key) != value}
        kept = [] if is_imported else list(_kept({**old.attributes, **merged}, new))
        if kept:
            reason = f"'{name.name}' is defined already and keeps its own {', '.join(kept)}"
            self.skipped.append(Skipped(f"<{new.iri}>", reason))
        replaceable = (None, *new.placeholders)
        if "description" in changed and old.attributes.get("description") not in replaceable:
            warning = f"'{name.name}' had another description; that of this ontology replaces it."
            self.warnings.append(warning)
        if changed:
            # One that is only mentioned, or keeps its text, has its provenance from elsewhere.
            is_described = is_imported and new.description is not None
            self.definitions.append(concept(name, changed, self.metadata if is_described else {}))


def _link(below: ConceptName, above: ConceptName, metadata: JsonMap) -> Proposition:
    predicate = ABOVE[below.type]
    digits = proposition_digits(below.id, predicate, above.id)
    id = PropositionName(digits, predicate).id
    return statements.Proposition(id, below.id, predicate, above.id, {}, metadata)


def _updated(old: JsonMap, new: Definition) -> JsonMap:
    """The attributes of an imported definition after an update; others than these stay."""
    merged = new.stated()
    merged[IRI] = old.get(IRI) or merged[IRI]
    for key in _LISTS:
        if key in merged:
            merged[key] = _joined(key, old.get(key), merged[key])
    for key in _BY_LANGUAGE:
        before, after = old.get(key), merged.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            merged[key] = {**before, **after}
    if isinstance(new, TypeDefinition) and new.instance_schema:
        merged["instance_schema"] = _schema(old.get("instance_schema"), new)
    return merged


def _schema(old: Json, new: TypeDefinition) -> Json:
    """The rules of both; those of one attribute are joined key by key."""
    old_rules = old if isinstance(old, dict) else {}
    joined: dict[str, Json] = {}
    for key, rule in new.instance_schema.items():
        before = old_rules.get(key)
        is_label = key in new.undescribed
        joined[key] = _rule(before if isinstance(before, dict) else {}, rule, is_label)
    return {**old_rules, **joined}


def _rule(old: Mapping[str, Json], new: Mapping[str, Json], is_label: bool) -> dict[str, Json]:
    rule = _with_term({**old, **new}, old)
    # An ontology that does not require a value only says nothing; a label is not a description.
    if old.get("is_required") is True:
        rule["is_required"] = True
    if is_label and "description" in old:
        rule["description"] = old["description"]
    return rule


def _with_term(rule: Mapping[str, Json], by: Mapping[str, Json]) -> dict[str, Json]:
    """A rule with the IRI, datatype and language of another one, if that has an IRI."""
    if IRI not in by:
        return dict(rule)
    return _without_term(rule) | {key: by[key] for key in TERM if key in by}


def _without_term(rule: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in rule.items() if key not in TERM}


def _extended(old: JsonMap, new: Definition) -> JsonMap:
    """What is added to a definition of the nexus: original IRIs, rules, and missing attributes."""
    stated = new.stated()
    gained = {key: value for key, value in stated.items() if old.get(key) is None}
    if new.is_homonym:
        gained.pop(SAME_AS, None)
        gained.pop(IRI, None)
    else:
        gained[SAME_AS] = _joined(SAME_AS, old.get(SAME_AS), stated[SAME_AS])
    before, after = old.get("instance_schema"), stated.get("instance_schema")
    if isinstance(before, dict) and isinstance(after, dict):
        terms = {
            key: _with_term(rule, after[key])
            for key, rule in before.items()
            if key in after and isinstance(rule, dict) and IRI not in rule
        }
        gained["instance_schema"] = {**after, **before, **terms}
    return gained


def _kept(merged: JsonMap, new: Definition) -> Iterator[str]:
    """The keys in which a definition of the nexus differs from the ontology."""
    for key, value in new.stated().items():
        if key in (SAME_AS, IRI):
            continue
        existing = merged.get(key)
        if key == "instance_schema" and isinstance(existing, dict):
            rules = cast(Mapping[str, Mapping[str, Json]], value)
            yield from (one for one in rules if not _agree(existing.get(one), rules[one]))
        elif existing != value:
            yield key


def _agree(existing: Json, rule: Mapping[str, Json]) -> bool:
    return isinstance(existing, dict) and _without_term(existing) == _without_term(rule)


def _joined(key: str, *values: Json) -> Json:
    """The items of several values, each once, as a list; a single original IRI is not a list."""
    distinct = list(dict.fromkeys(item for value in values for item in listed(value)))
    return one_or_all(distinct) if key == SAME_AS else distinct
