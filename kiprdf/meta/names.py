"""The names that commands can mention: types, predicates and keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pyoxigraph import NamedNode, Triple

from kiprdf.kql.reader import link_of
from kiprdf.language.names import META_TYPES
from kiprdf.rdf import vocab
from kiprdf.semantics import Catalog
from kiprdf.store import Store

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
