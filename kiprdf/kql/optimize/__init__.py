"""What is meant becomes what is fast: passes from algebra to algebra (docs/decisions/006).

In order: ``implied_patterns`` (conditions that a pattern can say), ``order_joins`` (which part of a
group comes first, with ``hops`` for hop ranges), ``fetch_values`` (the values that FILTERs read,
and those that are shown), and for what may take long ``deadlines``. ``cardinality`` says how many
solutions a pattern can have, and leaves out links that nothing reads.

Another engine is asked for the cover of a pattern instead (``kql.cover``).
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Variable

from kiprdf.kql.optimize.fetch_values import fetch_projected, fetch_values
from kiprdf.kql.optimize.order_joins import order_joins
from kiprdf.kql.translate import Translation
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.algebra import Pattern

__all__ = ["optimize"]


def optimize(
    pattern: Pattern,
    translation: Translation,
    needed: Iterable[Variable],
    iris: Iris,
) -> Pattern:
    """A pattern for SPARQL, with its filters pushed down and its joins in a good order.

    Parts that share none of the ``needed`` variables only have to exist.
    """
    values = translation.values
    pattern = order_joins(pattern, set(needed), values, translation.namer)
    pattern = fetch_values(pattern, values, translation.namer, iris)
    return fetch_projected(pattern, translation)
