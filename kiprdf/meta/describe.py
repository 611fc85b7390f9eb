"""DESCRIBE: the primer, the domains, the types (KIP 5.1)."""

from __future__ import annotations

from collections import Counter
from typing import Any, assert_never, cast

from pyoxigraph import NamedNode

from kiprdf.errors import KipError, nearest, shown
from kiprdf.kql import cursor
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import Reader, facts_at
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName
from kiprdf.rdf.literals import Json
from kiprdf.semantics import Catalog
from kiprdf.semantics.arguments import page_size, text_of
from kiprdf.store import Store

PROTOCOL = "KIP 1.0"
KEY_ITEMS = 5
"""The key concepts, types and predicates that the primer shows for a domain."""
IDENTITY_KEYS = (
    "name",
    "person_class",
    "persona",
    "core_mission",
    "core_directives",
    "capabilities",
)
_BELONGS = "belongs_to_domain"


def describe(
    command: ast.Describe, store: Store, catalog: Catalog, search_modes: list[str]
) -> tuple[Json, str | None]:
    """The result of a DESCRIBE, and the cursor of the next page of a list."""
    match command:
        case ast.DescribePrimer():
            return primer(store, search_modes), None
        case ast.DescribeDomains():
            return sorted(name.name for _, name in _domains(store)), None
        case ast.DescribeTypes():
            return _types(command, store, catalog)
        case ast.DescribeType():
            return _type(command, store, catalog), None
        case _:
            assert_never(command)


def _types(
    command: ast.DescribeTypes, store: Store, catalog: Catalog
) -> tuple[list[str], str | None]:
    names = catalog.concept_types if command.kind == "CONCEPT" else catalog.predicates
    ordered = sorted(names)
    start, limit = cursor.decode(command), page_size(command.limit)
    end = len(ordered) if limit is None else start + limit
    following = cursor.encode(command, store.commit(), end) if end < len(ordered) else None
    return ordered[start:end], following


def _type(command: ast.DescribeType, store: Store, catalog: Catalog) -> Json:
    """The definition node; an unknown name is KIP_3002."""
    name = text_of(command.name, "The name of a type")
    concept = command.kind == "CONCEPT"
    node = store.iris.type(name) if concept else store.iris.predicate(name)
    if exists(node, store):
        return Reader(store).object(node)
    what = "concept type" if concept else "predicate"
    close = nearest(name, catalog.concept_types if concept else catalog.predicates)
    hint = f"DESCRIBE {command.kind} TYPES lists them."
    if close:
        hint = f"Did you mean {' or '.join(repr(candidate) for candidate in close)}? {hint}"
    message = f"There is no {what} '{shown(name)}'."
    raise KipError("KIP_3002", message, hint, command.name.span)


# The primer -----------------------------------------------------------------------------------


def primer(store: Store, search_modes: list[str]) -> dict[str, Any]:
    """The identity of the agent and a map of its memory, small enough for a context window."""
    domains = [_domain(node, name.name, store) for node, name in sorted(_domains(store), key=str)]
    domains.sort(key=lambda domain: cast(str, domain["name"]))
    return {
        "identity": _identity(store),
        "domain_map": domains,
        "total_domains": len(domains),
        "search_modes": search_modes,
        "protocol": PROTOCOL,
    }


def _identity(store: Store) -> dict[str, Json] | None:
    """The identity of ``$self``; null in a nexus without it."""
    node = store.iris.concept("Person", "$self")
    if not exists(node, store):
        return None
    attributes = Reader(store).object(node).get("attributes", {})
    identity = {key: attributes.get(key) for key in IDENTITY_KEYS}
    # Until it gets a name, it has that of its node.
    return {**identity, "name": identity["name"] or "$self"}


def _domains(store: Store) -> list[tuple[NamedNode, ConceptName]]:
    domains = []
    for triple in store.match(None, vocab.TYPE, store.iris.type("Domain")):
        node = cast(NamedNode, triple.subject)
        name = store.iris.name(node.value)
        assert isinstance(name, ConceptName), node
        domains.append((node, name))
    return domains


def _domain(node: NamedNode, name: str, store: Store) -> dict[str, Json]:
    """One line of the map: a domain and its most linked members, types and predicates."""
    member_of = store.match(None, store.iris.predicate(_BELONGS), node)
    members = [cast(NamedNode, triple.subject) for triple in member_of]
    concepts: Counter[str] = Counter()
    types: Counter[str] = Counter()
    predicates: Counter[str] = Counter()
    for member in members:
        links = _predicates_at(member, store)
        name_of = store.iris.name(member.value)
        if isinstance(name_of, ConceptName):
            concepts[name_of.name] += sum(links.values())
            types[name_of.type] += sum(links.values())
        predicates.update(links)
    reader = Reader(store)
    return {
        "name": name,
        "description": reader.value(node, "attributes", "description"),
        "key_concept_types": _most_linked(types),
        "key_proposition_types": _most_linked(predicates),
        "key_concepts": _most_linked(concepts),
        "concept_count": len(members),
    }


def _predicates_at(node: NamedNode, store: Store) -> Counter[str]:
    """The number of propositions of a node by predicate, without membership in domains."""
    start = len(store.iris.predicates)
    counts = Counter(fact.predicate.value[start:] for fact in facts_at(store, node))
    counts.pop(_BELONGS, None)
    return counts


def _most_linked(counts: Counter[str]) -> list[str]:
    """The most linked names, ties by name."""
    return sorted(counts, key=lambda name: (-counts[name], name))[:KEY_ITEMS]
