"""Checks well-formed commands, without the data of the graph.

``check`` (the commands, one rule a function, and sizes beyond which nothing is compiled),
``patterns`` (a WHERE) and ``arguments`` (ids, names, keys);
``catalog`` (which types and predicates are registered), ``scope`` (KIP 3.4.7 as data).
"""

from kiprdf.semantics.catalog import Catalog
from kiprdf.semantics.check import check

__all__ = ["Catalog", "check"]
