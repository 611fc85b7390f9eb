"""Checks well-formed commands, without the data of the graph.

``check`` (the commands, one rule a function, and sizes beyond which nothing is compiled),
``patterns`` (a WHERE), ``conditions`` (a FILTER that can never hold) and ``arguments`` (ids, names,
keys); ``catalog`` (which types and predicates are registered), ``scope`` (KIP 3.4.7 as data),
``periods`` (names that are intervals), ``protected`` (what no statement changes).
"""

from kiprdf.semantics.catalog import Catalog
from kiprdf.semantics.check import check

__all__ = ["Catalog", "check"]
