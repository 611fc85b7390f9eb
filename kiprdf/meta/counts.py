"""Counts of concepts and propositions, each from one scan of an index of the store, or kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

from pyoxigraph import NamedNode, Variable

from kiprdf import budget
from kiprdf.kql import queries
from kiprdf.kql.results import count
from kiprdf.meta.recency import newest
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.algebra import BGP, Count, Select, Term, TriplePattern
from kiprdf.store import Store
from kiprdf.store.delta import Use
from kiprdf.store.totals import BELONGS, KEPT, Recent, kind

X, KEY, VALUE = Variable("x"), Variable("key"), Variable("value")
_KIND = Variable("kind")
_NUMBER = Variable("number")


def grouped(
    store: Store, names: tuple[Variable, ...], *triples: tuple[Term, Term, Term]
) -> Iterator[tuple[Any, ...]]:
    """For each combination of some variables of a pattern, its terms and the number of solutions.

    The store counts: reading the triples one by one takes three times as long, and counting those
    of a predicate twenty times.
    """
    budget.check()
    pattern = BGP(tuple(TriplePattern(*triple) for triple in triples))
    query = Select(names, pattern, counts=(Count(_NUMBER),))
    for *terms, number in queries.select(query, store):
        yield *terms, count(number)


def kept_uses(store: Store) -> Counter[Use] | None:
    """What the writer of a store has counted, as of this commit; None where it has not."""
    totals = store.totals()
    return None if totals is None else totals.uses(store.commit())


def all_uses(store: Store) -> Counter[Use]:
    """How many triples with a predicate go from a kind to a kind: kept, or counted now."""
    uses = kept_uses(store)
    return budget.without_row_limit(lambda: _uses(store)) if uses is None else uses


def by_predicate(
    uses: Counter[Use], *, subject: str | None = None, object: str | None = None
) -> dict[NamedNode, int]:
    """The number of triples of each predicate whose ends are of some kind."""
    numbers: Counter[str] = Counter()
    for (of, predicate, at), number in uses.items():
        if subject in (None, of) and object in (None, at):
            numbers[predicate] += number
    return {NamedNode(predicate): number for predicate, number in numbers.items()}


def end_kinds(
    uses: Counter[Use],
    predicate: NamedNode,
    *,
    subject: str | None = None,
    object: str | None = None,
) -> tuple[Counter[str], Counter[str]]:
    """The kinds of the subjects, and of the objects, of a predicate whose ends are of some kind."""
    subjects: Counter[str] = Counter()
    objects: Counter[str] = Counter()
    for (of, name, at), number in uses.items():
        if name == predicate.value and subject in (None, of) and object in (None, at):
            subjects[of] += number
            objects[at] += number
    return subjects, objects


def total(store: Store, predicate: NamedNode) -> int:
    """The number of triples with a predicate."""
    uses = kept_uses(store)
    if uses is not None:
        return end_kinds(uses, predicate)[0].total()
    ((number,),) = grouped(store, (), (X, predicate, VALUE))
    return cast(int, number)


def concepts_by_type(store: Store) -> Counter[str]:
    """The number of concepts of each type that has any."""
    uses = kept_uses(store)
    if uses is not None:
        return end_kinds(uses, vocab.TYPE)[0]
    rows = grouped(store, (VALUE,), (X, vocab.TYPE, VALUE))
    return Counter({name_of(store.iris, node): number for node, number in rows})


def ends(store: Store, predicate: str) -> tuple[Counter[NamedNode], Counter[NamedNode]]:
    """The subjects, and the objects, of the propositions of a predicate, with their numbers."""
    triple = (X, store.iris.predicate(predicate), VALUE)
    subjects, objects = (dict(grouped(store, (end,), triple)) for end in (X, VALUE))
    return Counter(subjects), Counter(objects)


def kinds(iris: Iris, nodes: Counter[NamedNode]) -> Counter[str]:
    """Counts of nodes as counts of their types; a proposition counts as ``(predicate)``."""
    counts: Counter[str] = Counter()
    for node, number in nodes.items():
        counts[kind(iris, node.value)] += number
    return counts


def name_of(iris: Iris, node: NamedNode) -> str:
    """The name of a concept."""
    return cast(str, iris.concept_name(node.value))


def largest(counts: Counter[str], most: int) -> tuple[dict[str, int], int]:
    """The largest counts in descending order, ties by name, and how many others there are.

    >>> largest(Counter(b=1, a=1, c=2), 2)
    ({'c': 2, 'a': 1}, 1)
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:most]), max(0, len(ordered) - most)


# What the writer of a store keeps up to date (docs/decisions/157) ---------------------------------


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
