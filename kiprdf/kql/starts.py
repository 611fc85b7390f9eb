"""From which value, or from which type, a plan starts in a store (docs/decisions/152)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

from pyoxigraph import NamedNode, Variable

from kiprdf.kql.evaluate.steps import MOST_READS, MOST_REMEMBERED
from kiprdf.kql.optimize.implied_patterns import Choice, finds_numbers
from kiprdf.kql.plan import Plan
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import BGP, Bindings, Hole, OneOf, Select, TriplePattern
from kiprdf.sparql.text import prepare
from kiprdf.store import Store

COUNTED_SOON = 16
"""Matches of several triples: one with no more is a good start."""
COUNTED_FIRST = 100
"""Matches of what a query may start from; fewer need no comparison with those of others."""
MOST_COUNTED_FOR_PAGE = 1_000
MOST_COUNTED_VALUES = 4
"""Of the terms of an IN."""


def suited(plan: Plan, store: Store) -> Plan:
    """A plan that finds by index what can be found so in a store, noted until the next commit."""
    starts = plan.where.starts
    if not starts:
        return plan
    commit = store.commit()
    noted = plan.suited.get(commit)
    if noted is not None:
        return noted
    keys = dict.fromkeys(cast(NamedNode, start.predicate) for start in starts)
    plain = frozenset(key for key in keys if not store.lookup(None, key, None, 1, vocab.TEXTS))
    has_many = [
        start
        for start in starts
        if start.predicate not in plain
        and finds_numbers(start)
        and store.lookup(None, cast(NamedNode, start.predicate), vocab.MANY, 1, vocab.TEXTS)
    ]
    plan.suited.clear()
    plan.suited[commit] = suited = plan.without(has_many, plain)
    return suited


def from_rarest(plan: Plan, store: Store, bindings: Bindings) -> Plan:
    """A plan that starts from the values that fewest elements have, or from a rare type, or from an
    element that the command names."""
    # Only the first rows of a page are read.
    most = math.inf if plan.limit is None else MOST_COUNTED_FOR_PAGE
    choices = plan.where.open_choices
    if not choices:
        return plan
    key = (store.commit(), *[bindings[hole] for choice in choices for hole in choice.holes])
    # Another thread may clear what is remembered.
    chosen = plan.rarest.get(key)
    if chosen is None:
        rare = [] if plan.lookup is None else plan.lookup.rare(store, bindings)
        rarest = [
            choice.starts[0]
            if choice.starts[0] in rare and not choice.facts
            else _rarest(choice, most, store, bindings)
            for choice in choices
        ]
        chosen = plan.starting_from(rarest)
        if len(plan.rarest) >= MOST_REMEMBERED:
            plan.rarest.clear()
        plan.rarest[key] = chosen
    return chosen


def _rarest(choice: Choice, most: float, store: Store, bindings: Bindings) -> TriplePattern:
    """The triple with fewest matches, more or less: counting takes a tenth of the query."""
    triples = (*choice.facts, *choice.starts)
    if len(triples) > 1:
        for triple in triples:
            if not _has_more(triple, COUNTED_SOON, store, bindings):
                return triple
    number = COUNTED_FIRST
    for triple in triples:
        if not _has_more(triple, number, store, bindings):
            return triple
    while number < most:
        number *= 10
        for triple in (*triples, *choice.types):
            if not _has_more(triple, number, store, bindings):
                return triple
    return triples[0]


def _has_more(triple: TriplePattern, number: int, store: Store, bindings: Bindings) -> bool:
    """Whether a triple with one variable has more matches than a number."""
    is_first = number <= COUNTED_FIRST
    values = triple.object
    if isinstance(values, OneOf):
        values, number = _sample(values, number)
        triple = replace(triple, object=values)
    if not is_first:
        (name,) = triple.names
        query = Select((name,), BGP((triple,)), limit=1, offset=number, distinct=False)
        return bool(store.select(prepare(query).text(bindings)))
    predicate = cast(NamedNode, triple.predicate)
    if not isinstance(values, OneOf):
        ends = [_bound(end, bindings) for end in (triple.subject, values)]
        return len(store.lookup(ends[0], predicate, ends[1], number + 1)) > number
    for terms, graph in ((values.terms, None), (values.held, values.graph)):
        for term in terms:
            value = _bound(term, bindings)
            number -= len(store.lookup(None, predicate, value, number + 1, graph))
            if number < 0:
                return True
    return False


def _bound(term: object, bindings: Bindings) -> Any:
    """A term of the store; None for a variable."""
    if isinstance(term, Hole):
        return bindings[term]
    return None if isinstance(term, Variable) else term


def _sample(values: OneOf, number: int) -> tuple[OneOf, int]:
    """Some of many values, and as many matches of these as a number of all.

    It is no less than a lookup may have found of all of them: both decide alike.
    """
    every = -(-(len(values.terms) + len(values.held)) // MOST_COUNTED_VALUES)
    every += every % 2 == 0  # integers and doubles take turns
    if every == 1:
        return values, number
    sample = replace(values, terms=values.terms[::every], held=values.held[::every])
    return sample, max(MOST_READS, -(-number // every))
