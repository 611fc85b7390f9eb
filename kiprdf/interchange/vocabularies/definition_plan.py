"""Plans the import of an ontology into a nexus that may have some of its definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.external import Skipped
from kiprdf.interchange.importing.names import spellings
from kiprdf.interchange.importing.origins import IRI, TERM
from kiprdf.interchange.importing.plan import Concept, ImportPlan, JsonMap, Proposition, concept
from kiprdf.interchange.importing.values import listed, one_or_all
from kiprdf.interchange.vocabularies.definitions import (
    Definition,
    Definitions,
    ExistingDefinition,
    TypeDefinition,
)
from kiprdf.interchange.vocabularies.hierarchy import ABOVE, link_definition
from kiprdf.kml import statements
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName, PropositionName, proposition_digits
from kiprdf.rdf.literals import Json
from kiprdf.semantics.protected import SYSTEM

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
