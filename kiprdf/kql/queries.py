"""Queries on any store that are no FIND: counts, and the values that a FIND must know first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.optimize import JsonValues, for_engine
from kiprdf.kql.scopes import Namer
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    Call,
    Extend,
    Filter,
    Infix,
    Pattern,
    Select,
    TriplePattern,
    Union,
)
from kiprdf.sparql.text import render
from kiprdf.store import Store
from kiprdf.store.base import Row

_X, _KEY, _VALUE = Variable("x"), Variable("key"), Variable("value")
_remembered: WeakKeyDictionary[Any, tuple[int, dict[NamedNode, list[Literal]]]] = (
    WeakKeyDictionary()
)


def select(query: Select, store: Store) -> list[Row]:
    """The rows of a SELECT of triples, as an RDF 1.2 dataset has them."""
    pattern = for_engine(query.pattern, {}, Namer(), store.abilities, {})
    adapted = Select(
        query.variables, pattern, query.limit, query.offset, query.counts, query.distinct
    )
    return store.select(render(adapted, abilities=store.abilities))


def json_values(keys: Sequence[NamedNode], store: Store) -> JsonValues:
    """The different arrays and objects under some keys, remembered until the next commit."""
    if not keys:
        return {}
    commit = store.commit()
    noted, values = _remembered.get(store, (commit, {}))
    if noted != commit:
        values = {}
    missing = [key for key in keys if key not in values]
    if missing:
        values = values | _read_json(missing, store)
        _remembered[store] = (commit, values)
    return values


def _read_json(keys: Sequence[NamedNode], store: Store) -> dict[NamedNode, list[Literal]]:
    is_json = Infix("=", (Call("DATATYPE", (_VALUE,)), vocab.JSON))
    branches: list[Pattern] = [
        Extend(Filter(BGP((TriplePattern(_X, key, _VALUE),)), is_json), _KEY, key) for key in keys
    ]
    pattern = branches[0] if len(branches) == 1 else Union(tuple(branches))
    values: dict[NamedNode, list[Literal]] = {key: [] for key in keys}
    for key, value in select(Select((_KEY, _VALUE), pattern), store):
        values[cast(NamedNode, key)].append(cast(Literal, value))
    return values
