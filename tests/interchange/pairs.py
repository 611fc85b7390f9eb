"""What the tests of comparing nexuses share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pyoxigraph import Triple

import kiprdf
from tests.nexus.support import empty
from tests.oracle.graph import Graph


def triples(nexus: kiprdf.Nexus) -> list[Triple]:
    """The dataset, as an engine spells it."""
    result = nexus.sparql("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }")
    assert isinstance(result, list)
    return result


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
