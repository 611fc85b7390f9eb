"""A temporary engine for a dataset that has not been checked yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple
from pyoxigraph import Store as Engine

from kiprdf.budget import paced

Node: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal | Triple


class StagingStore:
    """The triples in the default graph of an engine.

    >>> a, b = NamedNode("urn:a"), NamedNode("urn:b")
    >>> store = StagingStore.of(Quad(a, b, Literal(value)) for value in ("x", "x", "y"))
    >>> sorted(triple.object.value for triple in store)
    ['x', 'y']
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def of(cls, quads: Iterable[Quad]) -> StagingStore:
        """Quads of the default graph in a new engine."""
        engine = Engine()
        engine.extend(paced(quads))
        return cls(engine)

    def __iter__(self) -> Iterator[Triple]:
        """The triples as the engine holds them, doubles in its own form."""
        quads = self.engine.quads_for_pattern(None, None, None, DefaultGraph())
        return (quad.triple for quad in quads)
