"""What is meant becomes what is fast: passes from algebra to algebra (docs/decisions/006).

In order: ``push_filters`` (conditions that a pattern can say), ``order_joins`` (which part of a
group comes first, with ``hops`` for hop ranges), ``fetch_values`` (the values that FILTERs read,
and those that are shown), ``unread_links`` (links that nothing reads), and for what may take long
``deadlines``. ``solutions`` and ``duplicates`` estimate how many solutions a pattern can have.

An engine that lacks something of SPARQL 1.2 as we write it gets what is equal without it, by
``for_engine``: ``as_statements`` (links in RDF 1.1), ``standard_joins`` (no LATERAL) and
``standard_conditions`` (no custom functions; ``regexes``), ``closures`` (no joins with ``p*``).
``standard_order`` lets it sort and cut the page. ``plain`` says what it would evaluate wrongly.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Variable

from kiprdf.kql.optimize.as_statements import as_statements
from kiprdf.kql.optimize.closures import closures_apart
from kiprdf.kql.optimize.fetch_values import fetch_projected, fetch_values
from kiprdf.kql.optimize.order_joins import order_joins
from kiprdf.kql.optimize.required_values import required_values
from kiprdf.kql.optimize.standard_conditions import (
    JsonValues,
    KeyValues,
    compares_holes,
    json_keys,
    standard_conditions,
)
from kiprdf.kql.optimize.standard_joins import standard_joins
from kiprdf.kql.optimize.standard_order import SortedValue, standard_order
from kiprdf.kql.scopes import Namer, Values
from kiprdf.kql.translate import Translation
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.abilities import EMBEDDED, Abilities
from kiprdf.sparql.algebra import Pattern

__all__ = [
    "JsonValues",
    "KeyValues",
    "SortedValue",
    "compares_holes",
    "for_engine",
    "json_keys",
    "optimize",
    "standard_order",
]


def optimize(
    pattern: Pattern,
    translation: Translation,
    needed: Iterable[Variable],
    iris: Iris,
    abilities: Abilities = EMBEDDED,
) -> Pattern:
    """A pattern for SPARQL, with its filters pushed down and its joins in a good order.

    Parts that share none of the ``needed`` variables only have to exist.
    """
    values = translation.values
    pattern = order_joins(pattern, set(needed), values, translation.namer, abilities.lateral)
    pattern = fetch_values(pattern, values, translation.namer, iris)
    return fetch_projected(pattern, translation)


def for_engine(
    pattern: Pattern,
    values: Values,
    namer: Namer,
    abilities: Abilities,
    json_values: JsonValues,
) -> Pattern:
    """The same solutions by what an engine can do.

    ``json_values`` are the arrays and objects under the ``json_keys`` of the pattern, where the
    engine calls no functions.
    """
    if abilities.links == "rdf11":
        pattern = as_statements(pattern)
    if not abilities.functions:
        pattern = required_values(pattern)
    if not abilities.lateral:
        pattern = standard_joins(pattern, values, namer)
    if not abilities.functions:
        pattern = standard_conditions(pattern, values, json_values, abilities)
    if not abilities.nested_groups:
        pattern = closures_apart(pattern)
    return pattern
