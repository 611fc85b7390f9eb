"""What a well-formed command must also satisfy, judged without the graph's data.

``catalog`` (which types and predicates are registered), ``scope`` (KIP 3.4.7 as data), ``check``
(one rule, one function, one citation), ``budget`` (sizes beyond which nothing is compiled).
"""

from kiprdf.semantics.catalog import Catalog
from kiprdf.semantics.check import check

__all__ = ["Catalog", "check"]
