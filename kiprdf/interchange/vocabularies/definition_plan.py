"""The definitions of an ontology as a plan for a nexus, which may have some of them already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kiprdf.interchange.importing import foreign
from kiprdf.interchange.importing.known import SAME_AS
from kiprdf.interchange.importing.plan import JsonMap, Plan, PlannedConcept
from kiprdf.interchange.vocabularies.definitions import (
    Definitions,
    PredicateDefinition,
    TypeDefinition,
)
from kiprdf.interchange.vocabularies.schema import definitions
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json
from kiprdf.semantics.protected import SYSTEM
from kiprdf.store import Store


def read_definitions(store: Store) -> dict[ConceptName, JsonMap]:
    """The attributes of all definitions of a nexus."""
    return {
        ConceptName(concept.type, concept.name): attributes
        for meta_type in META_TYPES
        for concept, attributes in definitions(store, meta_type)
    }


def plan_definitions(
    found: Definitions,
    existing: Mapping[ConceptName, JsonMap],
    metadata: JsonMap | None = None,
) -> Plan:
    """What to write so that a nexus has the definitions; ``existing`` is what it has.

    A definition that came from the same IRI is brought up to date. One that the nexus has in its
    own words keeps them, gains the IRI and the attributes that its ``instance_schema`` lacks, and
    is named in the report; so is one of the core schema, which stays as it is.
    """
    plan = Plan(metadata=metadata or {})
    plan.skipped += [foreign.Skipped(f"<{iri}>", reason) for iri, reason in found.skipped]
    named: list[tuple[ConceptName, TypeDefinition | PredicateDefinition]] = [
        *((ConceptName(META_TYPES[0], one.name), one) for one in found.types),
        *((ConceptName(META_TYPES[1], one.name), one) for one in found.predicates),
    ]
    for name, own in named:
        old, attributes = existing.get(name), own.attributes()
        if old is not None and name in SYSTEM:
            reason = f"'{name.name}' belongs to the core schema; it stays as it is"
            plan.skipped.append(foreign.Skipped(f"<{own.iri}>", reason))
            continue
        if old is not None and own.iri not in _listed(old.get(SAME_AS)):
            attributes = _gained(old, attributes)
            reason = f"'{name.name}' is defined already and keeps its own words"
            plan.skipped.append(foreign.Skipped(f"<{own.iri}>", reason))
        planned = PlannedConcept(*name, attributes=attributes, is_new=old is None)
        plan.definitions.append(planned)
    return plan


def _gained(old: JsonMap, new: JsonMap) -> JsonMap:
    """What a definition of the nexus takes over: IRIs, attributes, and what it has no word for."""
    gained = {key: value for key, value in new.items() if old.get(key) is None}
    gained[SAME_AS] = _one_or_all([*_listed(old.get(SAME_AS)), *_listed(new[SAME_AS])])
    schemas = old.get("instance_schema"), new.get("instance_schema")
    if isinstance(schemas[0], dict) and isinstance(schemas[1], dict):
        gained["instance_schema"] = {**schemas[1], **schemas[0]}
    return gained


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _one_or_all(values: Iterable[Json]) -> Json:
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else distinct
