"""DESCRIBE: the primer, the domains, the types (KIP 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never, cast

from pyoxigraph import NamedNode, Triple

from kiprdf.errors import KipError, nearest, shown
from kiprdf.kml.draft import Clock, timestamp
from kiprdf.kql import cursor
from kiprdf.kql.beliefs import ALWAYS, Beliefs, Moment, name_of
from kiprdf.kql.entailment import closure
from kiprdf.kql.identities import exists
from kiprdf.kql.reader import Reader, link_of
from kiprdf.language import ast
from kiprdf.language.names import META_TYPES
from kiprdf.meta.consequences import Demands, consequences_of, gate_line
from kiprdf.meta.counts import count_uses, find_recent
from kiprdf.meta.primer import Survey, domain_names, primer, survey
from kiprdf.meta.usage import usage_of_predicate, usage_of_type
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json
from kiprdf.semantics import Catalog
from kiprdf.semantics.arguments import page_size, text_of
from kiprdf.semantics.periods import instant
from kiprdf.store import Store


def describe(
    command: ast.Describe,
    store: Store,
    catalog: Catalog,
    search_modes: list[str],
    clock: Clock,
    beliefs: Beliefs,
    demands: Demands,
) -> tuple[Json, str | None]:
    """The result of a DESCRIBE and the cursor of the next page of a list.

    ``demands`` are the messages of shapes by the types that they are for.
    """
    match command:
        case ast.DescribePrimer():
            return primer(survey_of(store, catalog, clock, beliefs), demands, search_modes), None
        case ast.DescribeDomains():
            return _page(command, list(domain_names(store).values()), store)
        case ast.DescribeTypes():
            names = catalog.concept_types if command.kind == "CONCEPT" else catalog.predicates
            return _page(command, sorted(names), store)
        case ast.DescribeType():
            return _type(command, store, catalog, beliefs, demands), None
        case _:
            assert_never(command)


def survey_of(store: Store, catalog: Catalog, clock: Clock, beliefs: Beliefs) -> Survey:
    """What a store has now, whole: a primer is a page of it."""
    count_uses(store)
    find_recent(store)
    now = clock()
    believed = beliefs.store(Moment(instant(now, "now")))
    return survey(store, believed, catalog, timestamp(now))


def _page(
    command: ast.DescribeDomains | ast.DescribeTypes, names: list[str], store: Store
) -> tuple[list[str], str | None]:
    of = name_of(store)
    start, limit = cursor.decode(command, of), page_size(command.limit)
    end = len(names) if limit is None else start + limit
    following = cursor.encode(command, store.commit(), end, of) if end < len(names) else None
    return names[start:end], following


def _type(
    command: ast.DescribeType,
    store: Store,
    catalog: Catalog,
    beliefs: Beliefs,
    demands: Demands,
) -> Json:
    """The definition node, and how it is used; an unknown name is KIP_3002."""
    name = text_of(command.name, "The name of a type")
    concept = command.kind == "CONCEPT"
    node = store.iris.type(name) if concept else store.iris.predicate(name)
    if exists(node, store):
        count_uses(store)
        if concept:
            # The same dataset has the same examples at any time.
            usage = usage_of_type(name, store, beliefs.view(ALWAYS).reasons)
        else:
            usage = usage_of_predicate(name, store)
        follows = consequences_of(node, closure(store))
        return {
            **Reader(store).object(node),
            "usage": usage,
            **({} if follows is None else {"follows": follows}),
            **({"gate": gate_line([name], demands)} if concept and name in demands else {}),
        }
    what = "concept type" if concept else "predicate"
    close = nearest(name, catalog.concept_types if concept else catalog.predicates)
    hint = f"DESCRIBE {command.kind} TYPES lists them."
    if close:
        hint = f"Did you mean {' or '.join(repr(candidate) for candidate in close)}? {hint}"
    message = f"There is no {what} '{shown(name)}'."
    raise KipError("KIP_3002", message, hint, command.name.span)


# The names that commands can mention -------------------------------------------------------------

EXAMPLES = 100
"""The elements of each type and predicate whose keys are read."""


def names_in_use(store: Store, catalog: Catalog) -> dict[str, list[str]]:
    """The types and predicates that are defined, and the keys of some elements of each."""
    attributes: set[str] = set()
    metadata: set[str] = set()
    examples = list(_examples(store, catalog))
    store.prefetch(examples)
    for node in examples:
        for statement in store.statements(node):
            iri = statement.predicate.value
            if iri.startswith(vocab.ATTRIBUTE):
                attributes.add(iri.removeprefix(vocab.ATTRIBUTE))
            elif iri.startswith(vocab.METADATA):
                metadata.add(iri.removeprefix(vocab.METADATA))
    return {
        "concept_types": sorted(catalog.concept_types),
        "predicates": sorted(catalog.predicates),
        "attributes": sorted(attributes),
        "metadata": sorted(metadata),
    }


def _examples(store: Store, catalog: Catalog) -> Iterator[NamedNode]:
    for type in (*META_TYPES, *catalog.concept_types):
        for statement in store.lookup(None, vocab.TYPE, store.iris.type(type), EXAMPLES):
            yield cast(NamedNode, statement.subject)
    for predicate in catalog.predicates:
        stated = store.lookup(None, store.iris.predicate(predicate), None, EXAMPLES)
        facts = [Triple(fact.subject, fact.predicate, fact.object) for fact in stated]
        store.prefetch((), facts)
        for link in (link_of(store, fact) for fact in facts):
            if link is not None:
                yield link
