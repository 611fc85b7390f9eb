"""What the tests of comparing nexuses share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pyoxigraph import DefaultGraph, Triple

import kiprdf
from tests.nexus.support import empty
from tests.oracle.graph import Graph


def triples(nexus: kiprdf.Nexus) -> list[Triple]:
    """The dataset, as an engine spells it."""
    # A query by `sparql` would start a process for each nexus.
    return [quad.triple for quad in nexus.store.engine if quad.graph_name == DefaultGraph()]


@contextmanager
def opened(graphs: Iterable[Graph]) -> Iterator[list[kiprdf.Nexus]]:
    """A nexus of each graph."""
    nexuses = [_nexus_of(graph) for graph in graphs]
    try:
        yield nexuses
    finally:
        for nexus in nexuses:
            nexus.close()


def _nexus_of(graph: Graph) -> kiprdf.Nexus:
    nexus = empty()
    for request in graph.requests():
        response = nexus.execute_kip(request)
        assert "error" not in response, response
    return nexus
