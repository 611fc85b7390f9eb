"""Brings a copy of a remote dataset up to date with later commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from pyoxigraph import NamedNode, Triple

from kiprdf.rdf import vocab
from kiprdf.store.delta import Delta
from kiprdf.store.oxigraph import OxigraphStore


def update(copy: OxigraphStore, described: Mapping[NamedNode, list[Triple]]) -> None:
    """Replace what a copy has of some elements by the triples that describe them now.

    The facts of their links follow; elements without triples were deleted.

    >>> copy = OxigraphStore.memory()
    >>> link, *ends = map(NamedNode, ("urn:link", "urn:a", "urn:b", "urn:c"))
    >>> fact = Triple(*ends)
    >>> update(copy, {link: [Triple(link, vocab.REIFIES, fact)]})
    >>> list(copy.match(None, ends[1], None)) == [fact]
    True
    >>> update(copy, {link: []})
    >>> list(copy.match(None, None, None))
    []
    """
    before = {triple for node in described for triple in copy.describe(node)}
    after = {triple for triples in described.values() for triple in triples}
    facts_before, facts_after = _facts(before), _facts(after)
    lost = {
        fact
        for fact in facts_before - facts_after
        if all(link.subject in described for link in copy.match(None, vocab.REIFIES, fact))
    }
    removed = (before - after) | lost
    copy.apply(Delta(tuple(removed), tuple((after - before) | facts_after)))


def remove_unstated(copy: OxigraphStore) -> None:
    """Remove the facts whose links were deleted before they were read."""
    stated = _facts(copy.match(None, vocab.REIFIES, None))
    facts = (
        triple
        for triple in copy.match(None, None, None)
        if triple.predicate.value.startswith(copy.iris.predicates)
    )
    copy.apply(Delta(tuple(fact for fact in facts if fact not in stated)))


def _facts(triples: Iterable[Triple]) -> set[Triple]:
    """The facts that some triples state."""
    return {cast(Triple, triple.object) for triple in triples if triple.predicate == vocab.REIFIES}
