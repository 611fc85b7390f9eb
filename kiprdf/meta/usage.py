"""How a type or predicate is used, for DESCRIBE (KIP 5.1.4, 5.1.6)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Container
from heapq import nsmallest
from itertools import chain, islice
from typing import Any, TypeAlias, cast

from pyoxigraph import NamedNode, Variable

from kiprdf import budget
from kiprdf.kql import queries
from kiprdf.kql.evaluate.by_value import members
from kiprdf.meta.counts import (
    KEY,
    VALUE,
    X,
    by_predicate,
    end_kinds,
    ends,
    grouped,
    kept_uses,
    kinds,
    largest,
)
from kiprdf.meta.excerpts import excerpt
from kiprdf.rdf import vocab
from kiprdf.rdf.literals import Json, canonical_json, to_json
from kiprdf.sparql.algebra import BGP, Select, Term, TriplePattern
from kiprdf.store import Store
from kiprdf.store.sorted_values import SortedValues, UnreadableError

MOST_KEYS = 40
"""The attributes, and the predicates of each direction, that are shown."""
MOST_TYPES = 10
"""The types at an end of a relation."""
EXAMPLES = 3
CONCEPTS = 256
"""The concepts whose values are examples; more for an attribute that none of them has."""
CHARACTERS = 60
"""Of a text in an example."""
ITEMS = 3
"""Of an array or object in an example."""
_Triple: TypeAlias = tuple[Term, Term, Term]


def usage_of_type(
    name: str, store: Store, unbelieved: Container[NamedNode] = ()
) -> dict[str, Json]:
    """The number of concepts of a type, their attributes and their relations.

    ``attributes`` have the number of concepts that have them, and examples; ``outgoing`` and
    ``incoming`` relations have the number of propositions, and that by type at the other end.
    ``left_out`` counts what is not shown. No examples are of ``unbelieved`` concepts.
    """
    return budget.without_row_limit(lambda: _of_type(name, store, unbelieved))


def usage_of_predicate(name: str, store: Store) -> dict[str, Json]:
    """The number of propositions of a predicate, and the types of their subjects and objects."""
    uses = kept_uses(store)
    if uses is None:
        counted = budget.without_row_limit(lambda: ends(store, name))
        subjects, objects = (kinds(store.iris, nodes) for nodes in counted)
    else:
        subjects, objects = end_kinds(uses, store.iris.predicate(name))
    left_out: dict[str, int] = {}
    usage = {
        "count": subjects.total(),
        "subjects": _types(subjects, "subjects", left_out),
        "objects": _types(objects, "objects", left_out),
    }
    return _with_rest(usage, left_out)


def _of_type(name: str, store: Store, unbelieved: Container[NamedNode]) -> dict[str, Json]:
    is_a = (X, vocab.TYPE, store.iris.type(name))
    uses = kept_uses(store)
    if uses is None:
        keys = dict(grouped(store, (KEY,), is_a, (X, KEY, VALUE)))
        incoming = dict(grouped(store, (KEY,), is_a, (VALUE, KEY, X)))
    else:
        keys, incoming = by_predicate(uses, subject=name), by_predicate(uses, object=name)

    def other_kinds(key: str, *, is_outgoing: bool) -> Counter[str]:
        predicate = store.iris.predicate(key)
        if uses is not None and is_outgoing:
            return end_kinds(uses, predicate, subject=name)[1]
        if uses is not None:
            return end_kinds(uses, predicate, object=name)[0]
        fact = (X, predicate, VALUE) if is_outgoing else (VALUE, predicate, X)
        return kinds(store.iris, Counter(dict(grouped(store, (VALUE,), is_a, fact))))

    facts, left_out = store.iris.predicates, dict[str, int]()
    attributes = _largest(keys, vocab.ATTRIBUTE, "attributes", left_out)
    usage: dict[str, Json] = {
        "count": keys.get(vocab.TYPE, 0),
        "attributes": {
            key: {"count": attributes[key], "examples": examples}
            for key, examples in _examples([*attributes], is_a, store, unbelieved).items()
        },
        "outgoing": {
            key: _relation(number, other_kinds(key, is_outgoing=True))
            for key, number in _largest(keys, facts, "outgoing", left_out).items()
        },
        "incoming": {
            key: _relation(number, other_kinds(key, is_outgoing=False))
            for key, number in _largest(incoming, facts, "incoming", left_out).items()
        },
    }
    return _with_rest(usage, left_out)


def _largest(
    counts: dict[NamedNode, int], prefix: str, key: str, left_out: dict[str, int]
) -> dict[str, int]:
    """The largest counts of the predicates with a prefix, by what follows it."""
    matching = {node.value: number for node, number in counts.items()}
    own = {iri[len(prefix) :]: n for iri, n in matching.items() if iri.startswith(prefix)}
    shown, rest = largest(Counter(own), MOST_KEYS)
    return _noted(shown, rest, key, left_out)


def _noted(shown: dict[str, int], rest: int, key: str, left_out: dict[str, int]) -> dict[str, int]:
    if rest:
        left_out[key] = rest
    return shown


def _relation(number: int, others: Counter[str]) -> dict[str, Json]:
    """The propositions of one predicate and direction, by type at the other end."""
    left_out: dict[str, int] = {}
    relation = {"count": number, "types": _types(others, "types", left_out)}
    return _with_rest(relation, left_out)


def _types(counts: Counter[str], key: str, left_out: dict[str, int]) -> dict[str, int]:
    return _noted(*largest(counts, MOST_TYPES), key, left_out)


def _with_rest(usage: dict[str, Json], left_out: dict[str, int]) -> dict[str, Json]:
    return {**usage, "left_out": left_out} if left_out else usage


def _examples(
    keys: list[str], is_a: _Triple, store: Store, unbelieved: Container[NamedNode]
) -> dict[str, list[Json]]:
    """A few different values of each attribute, shortened, in the order of their JSON.

    They are those of the first concepts by IRI: the first rows that a store gives depend on how it
    was filled.
    """
    budget.check()
    values: dict[str, dict[str, Json]] = {key: {} for key in keys}

    def add(key: str, value: Any) -> None:
        if key in values and len(values[key]) < EXAMPLES:
            example = to_json(value)
            values[key].setdefault(canonical_json(example), example)

    def first_rows(most: int, names: tuple[Variable, ...], *triples: _Triple) -> list[Any]:
        """The solutions of a pattern whose first terms are the first ones."""
        pattern = BGP(tuple(TriplePattern(*triple) for triple in triples))
        rows = queries.select(Select(names, pattern, distinct=False), store)
        believed = [row for row in rows if row[0] not in unbelieved]
        return nsmallest(most, believed, key=lambda row: cast(NamedNode, row[0]).value)

    began = time.perf_counter()
    members_of = members(TriplePattern(*is_a), store.iris, {})
    first = _first_sorted(store.sorted_values(members_of), unbelieved) if keys else []
    if first is None:
        first = [node for (node,) in first_rows(CONCEPTS, (X,), is_a)]
        store.sorted_values(members_of, time.perf_counter() - began)
    store.prefetch(first)
    for statement in chain.from_iterable(map(store.statements, first)):
        add(statement.predicate.value.removeprefix(vocab.ATTRIBUTE), statement.object)
    for key in [key for key, own in values.items() if not own]:
        for _, value in first_rows(EXAMPLES, (X, VALUE), is_a, (X, vocab.attribute(key), VALUE)):
            add(key, value)
    return {
        key: sorted((excerpt(one, CHARACTERS, ITEMS) for one in own.values()), key=canonical_json)
        for key, own in values.items()
    }


def _first_sorted(
    values: SortedValues | None, unbelieved: Container[NamedNode]
) -> list[NamedNode] | None:
    """The first concepts of a type by IRI, which all have one value; None where they are not
    sorted."""
    if values is None:
        return None
    try:
        runs = values.walk(False, None)
        nodes = (NamedNode(iri) for _, _, iris in runs for iri in iris)
        return list(islice((node for node in nodes if node not in unbelieved), CONCEPTS))
    except UnreadableError:
        return None
