"""Queries on any store besides FIND: of triples, and of the datatypes that a FIND needs first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast
from weakref import WeakKeyDictionary

from pyoxigraph import NamedNode, Variable

from kiprdf.kql.comparisons import KeyDatatypes
from kiprdf.rdf import vocab
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import (
    BGP,
    Call,
    Extend,
    Filter,
    Infix,
    Pattern,
    Select,
    TriplePattern,
    TripleTerm,
    Union,
    map_patterns,
)
from kiprdf.sparql.text import render
from kiprdf.store import Store
from kiprdf.store.base import Row
from kiprdf.trees import parts

_X, _X_VALUE = Variable("x"), Variable("x_value")
_KEY, _VALUE = Variable("key"), Variable("value")
_remembered: WeakKeyDictionary[Any, tuple[int, KeyDatatypes]] = WeakKeyDictionary()


def select(query: Select, store: Store) -> list[Row]:
    """The rows of a SELECT of triples, as an RDF 1.2 dataset has them."""
    return store.select(render(as_kept(query, store.abilities), abilities=store.abilities))


def as_kept(query: Select, abilities: Abilities) -> Select:
    """A query of an RDF 1.2 dataset for a store that may keep links in another way."""
    if abilities.links == "rdf12":
        return query
    return replace(query, pattern=as_statements(query.pattern))


_PARTS = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)


def as_statements(pattern: Pattern) -> Pattern:
    """The same solutions on the same knowledge in RDF 1.1.

    A reifier becomes the three triples of an ``rdf:Statement``, without the fact, which is there
    too; a pattern for any type leaves out the type of statements.
    """
    if isinstance(pattern, BGP):
        return _triples(pattern)
    return map_patterns(pattern, lambda part, *_: as_statements(part))


def _triples(group: BGP) -> Pattern:
    triples: list[TriplePattern] = []
    types: list[Variable] = []
    objects = (triple.object for triple in group.triples)
    facts = {parts(value) for value in objects if isinstance(value, TripleTerm)}
    for triple in group.triples:
        value = triple.object
        if parts(triple) in facts:
            continue  # each statement is of a fact
        if isinstance(value, TripleTerm):
            pairs = zip(_PARTS, parts(value), strict=True)
            triples += (TriplePattern(triple.subject, part, term) for part, term in pairs)
        elif triple.predicate == vocab.REIFIES:
            # Nothing reads which fact a link has.
            triples.append(replace(triple, predicate=vocab.PREDICATE))
        else:
            triples.append(triple)
            if triple.predicate == vocab.TYPE and isinstance(value, Variable):
                types.append(value)
    pattern: Pattern = BGP(tuple(triples))
    for type in types:
        pattern = Filter(pattern, Infix("!=", (type, vocab.STATEMENT)))
    return pattern


def key_datatypes(keys: Sequence[NamedNode], store: Store) -> KeyDatatypes:
    """The datatypes of the values under some keys, remembered until the next commit."""
    if not keys:
        return {}
    commit = store.commit()
    noted, datatypes = _remembered.get(store, (commit, {}))
    if noted != commit:
        datatypes = {}
    missing = [key for key in keys if key not in datatypes]
    if missing:
        datatypes = {**datatypes, **_read_datatypes(missing, store)}
        _remembered[store] = (commit, datatypes)
    return datatypes


def _read_datatypes(keys: Sequence[NamedNode], store: Store) -> KeyDatatypes:
    datatype = Call("DATATYPE", (_X_VALUE,))
    branches: list[Pattern] = []
    for key in keys:
        triples = BGP((TriplePattern(_X, key, _X_VALUE),))
        branches.append(Extend(Extend(triples, _VALUE, datatype), _KEY, key))
    by_key: dict[NamedNode, set[NamedNode | None]] = {key: set() for key in keys}
    for key, value in cast(Any, select(Select((_KEY, _VALUE), Union(tuple(branches))), store)):
        by_key[key].add(value)
    return {key: frozenset(datatypes) for key, datatypes in by_key.items()}
