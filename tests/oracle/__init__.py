"""A naive evaluator of KQL over plain dictionaries: what the specification says, and no more.

In order: ``graph`` (a nexus as dictionaries, and the requests that create it), ``values`` (kinds,
equality, order), ``check`` (what is refused before anything is evaluated), ``conditions`` (FILTER),
``evaluate`` (one function a clause), ``answer`` (FIND, aggregates, ORDER BY, LIMIT).

Nested loops over everything: simple and obviously right, never fast.
"""

from tests.oracle.answer import Answer, Row
from tests.oracle.evaluate import TooManySolutions, evaluate
from tests.oracle.graph import Graph

__all__ = ["Answer", "Graph", "Row", "TooManySolutions", "evaluate"]
