"""Counts what the writer of a store keeps up to date from then on (docs/decisions/157)."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import cast

from pyoxigraph import NamedNode, Variable

from kiprdf import budget
from kiprdf.meta.counts import KEY, VALUE, X, end_kinds, ends, grouped, kinds, total
from kiprdf.meta.recency import newest
from kiprdf.rdf import vocab
from kiprdf.store import Store
from kiprdf.store.totals import BELONGS, KEPT, Recent, Use, kind

_KIND = Variable("kind")


def count_uses(store: Store) -> None:
    """Count the triples of a store whose writer keeps totals, where that was not done."""
    totals, commit = store.totals(), store.commit()
    if totals is None or not totals.is_writer or totals.uses(commit) is not None:
        return
    uses = budget.without_row_limit(lambda: _uses(store))
    if store.commit() == commit:
        totals.set_uses(commit, uses)


def find_recent(store: Store) -> None:
    """Find the last changed elements of a store whose uses are known, where that was not done."""
    totals, commit = store.totals(), store.commit()
    uses = None if totals is None or not totals.is_writer else totals.uses(commit)
    if totals is None or uses is None or totals.recent(commit, False) is not None:
        return
    filing = total(store, store.iris.predicate(BELONGS))
    concepts = _recent(store, False, end_kinds(uses, vocab.TYPE)[0].total())
    links = _recent(store, True, total(store, vocab.REIFIES) - filing)
    if concepts is not None and links is not None:
        totals.set_recent(commit, concepts, links)


def _uses(store: Store) -> Counter[Use]:
    iris = store.iris
    uses: Counter[Use] = Counter({("", vocab.REIFIES.value, ""): total(store, vocab.REIFIES)})
    predicates = {
        cast(NamedNode, triple.subject)
        for triple in store.match(None, vocab.TYPE, iris.type("$PropositionType"))
    }
    is_a = (X, vocab.TYPE, _KIND)
    for type_, key, number in grouped(store, (_KIND, KEY), is_a, (X, KEY, VALUE)):
        if key.value.startswith(iris.predicates):
            predicates.add(key)
        elif not key.value.startswith(vocab.METADATA):
            at = kind(iris, type_.value) if key == vocab.TYPE else ""
            uses[iris.concept_name(type_.value) or "", key.value, at] += number
    for predicate in predicates:
        uses.update(_uses_of(predicate, store))
    return +uses


def _uses_of(predicate: NamedNode, store: Store) -> Counter[Use]:
    """The propositions of a predicate by the kinds of their ends."""
    iris, name = store.iris, predicate.value
    subjects, objects = (kinds(iris, nodes) for nodes in ends(store, name[len(iris.predicates) :]))
    if len(subjects) == 1 or len(objects) == 1:
        pairs = ((of, at) for of in subjects for at in objects)
        return Counter({(of, name, at): min(subjects[of], objects[at]) for of, at in pairs})
    facts = budget.paced(store.match(None, predicate, None))
    nodes = ((fact.subject, fact.object) for fact in facts)
    return Counter(
        (kind(iris, cast(NamedNode, one).value), name, kind(iris, cast(NamedNode, other).value))
        for one, other in nodes
    )


def _recent(store: Store, are_links: bool, number: int) -> Recent | None:
    """The last changed of so many elements; None where some have no time that is a text."""
    recent = Recent()
    elements = list(islice(newest(store, are_links), 2 * KEPT + 1))
    for time, iri in elements:
        recent.add(iri, time)
    return recent if len(elements) == min(number, 2 * KEPT + 1) else None
