"""The place of a nexus in a remote store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pyoxigraph import Literal, NamedNode

from kiprdf.rdf import vocab
from kiprdf.rdf.iris import encode
from kiprdf.store.endpoint import Dataset
from kiprdf.store.http import EndpointFault

CHANGED = NamedNode(vocab.KIP + "changed")
"""The key of the elements that a commit touched, one IRI a line."""


HEAD = NamedNode(vocab.KIP + "head")
"""The note of the number of the last commit and of the identity of the nexus, a random text of its
first commit; one pattern reads both."""


class Head(NamedTuple):
    """The number of the last commit, and the identity of the nexus that it is of.

    >>> Head.read(Literal("17 0f3c")) == Head(17, "0f3c"), str(Head(17, "0f3c"))
    (True, '17 0f3c')
    """

    number: int
    identity: str

    def __str__(self) -> str:
        return f"{self.number} {self.identity}"

    @classmethod
    def read(cls, note: Any) -> Head:
        """The head in the value of a note; raises ``EndpointFault``."""
        number, _, identity = note.value.partition(" ")
        return cls(highest((Literal(number),)), identity)


class Place(NamedTuple):
    """Where a store keeps a nexus: the graph of its knowledge, None for the default graph, and the
    graph of its bookkeeping.

    >>> Place.of("https://example.org/kb").bookkeeping.value
    'urn:kip:graph/nexus/https%3A%2F%2Fexample.org%2Fkb'
    """

    graph: NamedNode | None
    bookkeeping: NamedNode

    @classmethod
    def of(cls, graph: str | None) -> Place:
        """The place of a nexus in a graph with this IRI, or in the default graph."""
        if graph is None:
            return cls(None, vocab.BOOKKEEPING)
        bookkeeping = NamedNode(f"{vocab.BOOKKEEPING.value}/{encode(graph)}")
        return cls(NamedNode(graph), bookkeeping)

    @property
    def dataset(self) -> Dataset:
        """What queries of the knowledge read; without a graph, what the store says."""
        return Dataset() if self.graph is None else Dataset(self.graph, (self.bookkeeping,))

    def commit(self, number: int) -> NamedNode:
        """The node of what is noted of one commit."""
        return self.node("commit", str(number))

    def node(self, *names: str) -> NamedNode:
        """A node of the bookkeeping."""
        return NamedNode("/".join((self.bookkeeping.value, *names)))


def highest(values: Iterable[Any]) -> int:
    """The commit number among the cells of a column; 0 where there is none yet."""
    numbers = [value.value for value in values if value is not None]
    for number in numbers:
        if not number.isdecimal():
            raise EndpointFault(f"The store has {number[:60]!r} as the number of a commit.")
    return max(map(int, numbers), default=0)
