"""Queries on any store besides FIND: counts, and the values that a FIND needs first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.optimize import JsonValues, for_engine
from kiprdf.kql.optimize.standard_conditions import KeyValues
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

_X, _X_VALUE = Variable("x"), Variable("x_value")
_KEY, _VALUE = Variable("key"), Variable("value")
_remembered: WeakKeyDictionary[Any, tuple[int, dict[NamedNode, KeyValues]]] = WeakKeyDictionary()


def select(query: Select, store: Store) -> list[Row]:
    """The rows of a SELECT of triples, as an RDF 1.2 dataset has them."""
    pattern = for_engine(query.pattern, {}, Namer(), store.abilities, {})
    adapted = Select(
        query.variables, pattern, query.limit, query.offset, query.counts, query.distinct
    )
    return store.select(render(adapted, abilities=store.abilities))


def json_values(keys: Sequence[NamedNode], store: Store) -> JsonValues:
    """The different arrays and objects under some keys, and the datatypes of all values,
    remembered until the next commit."""
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


def _read_json(keys: Sequence[NamedNode], store: Store) -> dict[NamedNode, KeyValues]:
    datatype = Call("DATATYPE", (_X_VALUE,))
    branches: list[Pattern] = []
    for key in keys:
        triples = BGP((TriplePattern(_X, key, _X_VALUE),))
        is_json = Filter(triples, Infix("=", (datatype, vocab.JSON)))
        branches.append(Extend(Extend(is_json, _VALUE, _X_VALUE), _KEY, key))
        branches.append(Extend(Extend(triples, _VALUE, datatype), _KEY, key))
    json: dict[NamedNode, list[Literal]] = {key: [] for key in keys}
    datatypes: dict[NamedNode, set[NamedNode | None]] = {key: set() for key in keys}
    for row in select(Select((_KEY, _VALUE), Union(tuple(branches))), store):
        key, value = cast(tuple[NamedNode, Literal | NamedNode | None], row)
        if isinstance(value, Literal):
            json[key].append(value)
        else:
            datatypes[key].add(value)
    return {key: KeyValues(json[key], frozenset(datatypes[key])) for key in keys}
