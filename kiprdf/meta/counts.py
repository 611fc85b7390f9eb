"""Counts of concepts and propositions, each from one scan of an index of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

from pyoxigraph import NamedNode, Variable

from kiprdf import budget
from kiprdf.kql import queries
from kiprdf.kql.results import count
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.sparql.algebra import BGP, Count, Select, Term, TriplePattern
from kiprdf.store import Store

X, KEY, VALUE = Variable("x"), Variable("key"), Variable("value")
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


def total(store: Store, predicate: NamedNode) -> int:
    """The number of triples with a predicate."""
    ((number,),) = grouped(store, (), (X, predicate, VALUE))
    return cast(int, number)


def concepts_by_type(store: Store) -> Counter[str]:
    """The number of concepts of each type that has any."""
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
        counts[kind(iris, node)] += number
    return counts


def kind(iris: Iris, node: NamedNode) -> str:
    """The type of a concept; of a proposition, its predicate in parentheses."""
    name = iris.name(node.value)
    assert name is not None, node
    return name.type if isinstance(name, ConceptName) else f"({name.predicate})"


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
