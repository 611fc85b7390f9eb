"""The definitions of an ontology as a plan for a nexus, which may have some of them already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from kiprdf.interchange.importing import foreign
from kiprdf.interchange.importing.element_index import SAME_AS
from kiprdf.interchange.importing.naming import spellings
from kiprdf.interchange.importing.plan import JsonMap, Plan, PlannedConcept
from kiprdf.interchange.vocabularies.definitions import (
    Definitions,
    PredicateDefinition,
    TypeDefinition,
)
from kiprdf.interchange.vocabularies.existing import Existing, listed
from kiprdf.language.names import META_TYPES
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json
from kiprdf.semantics.protected import SYSTEM

_LISTS = (SAME_AS, "subclass_of", "subproperty_of", "key_instances")
"""Of these every ontology that speaks of a term says some."""
_BY_LANGUAGE = ("labels", "descriptions")


def plan_definitions(
    found: Definitions,
    existing: Mapping[ConceptName, Existing],
    metadata: JsonMap | None = None,
) -> Plan:
    """What to write so that a nexus has the definitions; ``existing`` is what it has.

    A definition that was made from the same IRI is brought up to date. One that the nexus has in
    its own words keeps them, gains what it lacks, and is named in the report where it keeps
    something else; so is one of the core schema, which stays as it is. What would not change is
    not in the plan, and ``metadata`` are for definitions in the words of this ontology only.
    """
    plan = Plan(warnings=list(found.warnings))
    plan.skipped += [foreign.Skipped(f"<{iri}>", reason) for iri, reason in found.skipped]
    named: list[tuple[ConceptName, TypeDefinition | PredicateDefinition]] = [
        *((ConceptName(META_TYPES[0], one.name), one) for one in found.types),
        *((ConceptName(META_TYPES[1], one.name), one) for one in found.predicates),
    ]
    for name, own in named:
        old = existing.get(name)
        if old is None:
            plan.definitions.append(PlannedConcept(*name, own.attributes(), dict(metadata or {})))
        elif name in SYSTEM:
            reason = f"'{name.name}' belongs to the core schema; it stays as it is"
            plan.skipped.append(foreign.Skipped(f"<{own.iri}>", reason))
        else:
            _plan_existing(plan, name, old, own, metadata or {})
    return plan


def _plan_existing(
    plan: Plan,
    name: ConceptName,
    old: Existing,
    own: TypeDefinition | PredicateDefinition,
    metadata: JsonMap,
) -> None:
    is_own = not old.is_made_from(spellings(own.iri))
    wanted = _gained(old.attributes, own) if is_own else _updated(old.attributes, own)
    changed = {key: value for key, value in wanted.items() if old.attributes.get(key) != value}
    kept = list(_kept({**old.attributes, **wanted}, own)) if is_own else []
    if kept:
        reason = f"'{name.name}' is defined already and keeps its own {', '.join(kept)}"
        plan.skipped.append(foreign.Skipped(f"<{own.iri}>", reason))
    if "description" in changed and old.attributes.get("description") not in (
        None,
        *own.placeholders,
    ):
        reason = f"'{name.name}' was described in other words; those of this ontology take over."
        plan.warnings.append(reason)
    if changed:
        # What is only mentioned, or keeps its words, has its provenance from elsewhere.
        told = metadata if not is_own and own.description is not None else {}
        plan.definitions.append(PlannedConcept(*name, changed, dict(told), is_new=False))


def _updated(old: JsonMap, own: TypeDefinition | PredicateDefinition) -> JsonMap:
    """What a definition becomes by an ontology for its term: what that does not say, stays."""
    found = own.said()
    for key in _LISTS:
        if key in found:
            found[key] = _one_or_all(key, [*listed(old.get(key)), *listed(found[key])])
    for key in _BY_LANGUAGE:
        before, now = old.get(key), found.get(key)
        if isinstance(before, dict) and isinstance(now, dict):
            found[key] = {**before, **now}
    if isinstance(own, TypeDefinition) and own.instance_schema:
        found["instance_schema"] = _schema(old.get("instance_schema"), own)
    return found


def _schema(old: Json, own: TypeDefinition) -> Json:
    """The rules of both, those of one attribute joined key by key."""
    before = old if isinstance(old, dict) else {}
    joined: dict[str, Json] = {}
    for key, rule in own.instance_schema.items():
        known = before.get(key)
        joined[key] = _rule(known if isinstance(known, dict) else {}, rule, key in own.undescribed)
    return {**before, **joined}


def _rule(old: Mapping[str, Json], new: Mapping[str, Json], is_label: bool) -> dict[str, Json]:
    rule = {**old, **new}
    # Not to ask for a value is to say nothing; a label is no description.
    if old.get("is_required") is True:
        rule["is_required"] = True
    if is_label and "description" in old:
        rule["description"] = old["description"]
    return rule


def _gained(old: JsonMap, own: TypeDefinition | PredicateDefinition) -> JsonMap:
    """What a definition of the nexus takes over: IRIs, attributes, and what it has no word for."""
    said = own.said()
    gained = {key: value for key, value in said.items() if old.get(key) is None}
    if own.is_homonym:
        gained.pop(SAME_AS, None)
    else:
        both = [*listed(old.get(SAME_AS)), *listed(said[SAME_AS])]
        gained[SAME_AS] = _one_or_all(SAME_AS, both)
    schemas = old.get("instance_schema"), said.get("instance_schema")
    if isinstance(schemas[0], dict) and isinstance(schemas[1], dict):
        gained["instance_schema"] = {**schemas[1], **schemas[0]}
    return gained


def _kept(now: JsonMap, own: TypeDefinition | PredicateDefinition) -> Iterator[str]:
    """What a definition in its own words has otherwise than the ontology."""
    for key, value in own.said().items():
        if key == SAME_AS:
            continue
        schema = now.get(key)
        if key == "instance_schema" and isinstance(schema, dict):
            rules = cast(Mapping[str, Json], value)
            yield from (one for one, rule in rules.items() if schema.get(one) != rule)
        elif schema != value:
            yield key


def _one_or_all(key: str, values: Iterable[Json]) -> Json:
    """Each value once; of a single original IRI no list is made."""
    distinct = list(dict.fromkeys(values))
    return distinct[0] if key == SAME_AS and len(distinct) == 1 else distinct
