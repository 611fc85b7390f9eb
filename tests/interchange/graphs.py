"""Graphs compared apart from the labels of blank nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import rdflib
from pyoxigraph import CanonicalizationAlgorithm, Dataset, Quad, RdfFormat, Triple, parse

Graph: TypeAlias = rdflib.Graph | Iterable[Triple]


def isomorphic(one: Graph, other: Graph) -> bool:
    """Whether two graphs are one; by the engine, since rdflib takes seconds for many nodes."""
    return _canonical(one) == _canonical(other)


def _canonical(graph: Graph) -> Dataset:
    if isinstance(graph, rdflib.Graph):
        dataset = Dataset(parse(graph.serialize(format="nt"), format=RdfFormat.N_TRIPLES))
    else:
        dataset = Dataset(Quad(*triple) for triple in graph)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset
