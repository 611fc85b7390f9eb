"""Terms that an ontology says are equivalent: one definition with several IRIs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pyoxigraph import NamedNode

from kiprdf.interchange.vocabularies.definitions import (
    Definition,
    PredicateDefinition,
    TypeDefinition,
)
from kiprdf.interchange.vocabularies.ontology_graph import Graph
from kiprdf.rdf.literals import Json

D = TypeVar("D", bound=Definition)
Rule = dict[str, Json]


def groups(graph: Graph, iris: Iterable[str], predicate: NamedNode) -> list[list[str]]:
    """The terms in their order, those that are equivalent to one another together."""
    ordered = list(dict.fromkeys(iris))
    group = {iri: [iri] for iri in ordered}
    for iri in ordered:
        for other in graph.named(NamedNode(iri), predicate):
            if other in group and group[other] is not group[iri]:
                small, large = sorted((group[other], group[iri]), key=len)
                large += small
                group |= dict.fromkeys(small, large)
    members: dict[int, list[str]] = defaultdict(list)
    for iri in ordered:
        members[id(group[iri])].append(iri)
    return list(members.values())


def joined_types(definitions: Sequence[TypeDefinition]) -> TypeDefinition:
    """One type of several; the first has the name, and its rules win."""
    first = definitions[0]
    for other in definitions[1:]:
        schema, undescribed = dict(first.instance_schema), set(first.undescribed)
        for key, rule in other.instance_schema.items():
            is_label = key in other.undescribed
            if key not in schema:
                schema[key] = rule
                undescribed |= {key} if is_label else set()
            else:
                schema[key] = joined_rules(schema[key], rule, keeps_text=key not in undescribed)
                undescribed -= set() if is_label else {key}
        first = replace(
            _joined(first, other),
            instance_schema=dict(sorted(schema.items())),
            undescribed=frozenset(undescribed),
            key_instances=_distinct(first.key_instances, other.key_instances),
        )
    return first


def joined_predicates(definitions: Sequence[PredicateDefinition]) -> PredicateDefinition:
    """One predicate of several; each end allows the types of all."""
    first = definitions[0]
    for other in definitions[1:]:
        first = replace(
            _joined(first, other),
            subject_types=_joined_ends(first.subject_types, other.subject_types),
            object_types=_joined_ends(first.object_types, other.object_types),
            is_symmetric=first.is_symmetric or other.is_symmetric,
            is_transitive=first.is_transitive or other.is_transitive,
            inverse_of=first.inverse_of or other.inverse_of,
        )
    return first


def joined_rules(first: Rule, other: Rule, *, keeps_text: bool) -> Rule:
    """The rules of an attribute under both IRIs; those of the first win."""
    rule = {**other, **first}
    rule["is_required"] = bool(first.get("is_required") or other.get("is_required"))
    if not keeps_text and "description" in other:
        rule["description"] = other["description"]
    return rule


def _joined(first: D, other: D) -> D:
    """What types and predicates have in common."""
    iris = _distinct(first.same_as, (other.iri, *other.same_as))
    parents = {*first.parents, *other.parents} - {first.name}
    return replace(
        first,
        labels=_joined_texts(first.labels, other.labels),
        descriptions=_joined_texts(first.descriptions, other.descriptions),
        parents=tuple(sorted(parents)),
        same_as=tuple(iri for iri in iris if iri != first.iri),
        is_declared=first.is_declared or other.is_declared,
        is_homonym=first.is_homonym and other.is_homonym,
    )


def _joined_texts(first: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """The texts of both by language; different ones are joined, as those of one term are."""
    texts = dict(first)
    for language, text in other.items():
        before = texts.get(language, text)
        texts[language] = before if text == before else f"{before}\n\n{text}"
    return texts


def _joined_ends(first: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Types that either allows; an end without types says nothing."""
    if "*" in first or "*" in other:
        return first if "*" in other else other
    return tuple(sorted({*first, *other}))


def _distinct(*values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for value in values for item in value))
