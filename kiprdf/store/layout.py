"""How and where a SPARQL store keeps a nexus: the form of its triples, and its graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.rdf import reification, vocab
from kiprdf.rdf.directions import read_value, written
from kiprdf.rdf.iris import encode
from kiprdf.sparql.abilities import Abilities, Links
from kiprdf.store.delta import Written
from kiprdf.store.endpoint import Dataset
from kiprdf.store.http import EndpointFault

T = TypeVar("T")

_PLAIN = frozenset((vocab.STRING, vocab.LANG_STRING, vocab.INTEGER, vocab.DOUBLE, vocab.BOOLEAN))
"""The datatypes of literals that every store keeps as they are."""
LINKS = NamedNode(vocab.KIP + "links")
"""The note of how a store keeps links."""
_PARTS = frozenset((vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT))
_OWN = {
    vocab.DOUBLE: vocab.OWN_DOUBLE,
    vocab.BOOLEAN: vocab.OWN_BOOLEAN,
    vocab.XML_LITERAL: vocab.OWN_XML_LITERAL,
}
"""The datatypes whose literals some engines rewrite, with those of kiprdf that they keep."""
_STANDARD = {own: datatype for datatype, own in _OWN.items()} | {vocab.DECIMAL: vocab.INTEGER}
"""Virtuoso keeps integers of 19 digits as decimals; kiprdf writes none."""


class Layout(NamedTuple):
    """Converts the triples of RDF 1.2 that kiprdf reads and writes to those of a store, and back.

    >>> link, fact = NamedNode("urn:l"), Triple(*map(NamedNode, ("urn:s", "urn:p", "urn:o")))
    >>> layout = Layout("rdf11", own_datatypes=True)
    >>> [triple.object.value for triple in layout.stored([(link, vocab.REIFIES, fact)])]
    ['http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement', 'urn:s', 'urn:p', 'urn:o']
    >>> layout.term(Literal(0.5))
    <Literal value=0.5 datatype=<NamedNode value=urn:kip:double>>
    >>> layout.read(layout.term(Literal(0.5))) == Literal(0.5)
    True
    """

    links: Links
    own_datatypes: bool

    @classmethod
    def of(cls, abilities: Abilities) -> Layout:
        return cls(abilities.links, abilities.own_datatypes)

    def stored(self, triples: Iterable[Written]) -> Iterator[Triple]:
        """The triples as the store keeps them; a reifying one may become four."""
        for subject, predicate, object_ in triples:
            if self.links == "rdf11" and isinstance(object_, Triple):
                yield from reification.to_rdf11(cast(NamedNode, subject), object_)
            else:
                yield Triple(subject, predicate, self.term(object_))

    def term(self, term: T) -> T:
        """A term as the store keeps it."""
        if not isinstance(term, Literal):
            return term
        if self.own_datatypes and term.datatype in _OWN:
            return cast(T, Literal(term.value, datatype=_OWN[term.datatype]))
        # Fuseki confuses texts that differ only by their direction.
        return cast(T, written(term, directions=False))

    def read(self, term: T) -> T:
        """A term of the store as kiprdf writes it."""
        if not isinstance(term, Literal):
            return term
        if self.own_datatypes and term.datatype in _STANDARD:
            return cast(T, Literal(term.value, datatype=_STANDARD[term.datatype]))
        return term if term.datatype in _PLAIN else cast(T, read_value(term))

    def rows(self, rows: Iterable[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
        """Rows of an answer as kiprdf writes their terms."""
        read = self.read
        return (
            tuple([read(term) if type(term) is Literal else term for term in row]) for row in rows
        )

    def folded(self, triples: Iterable[tuple[Any, Any, Any]]) -> Iterator[Triple]:
        """Triples of rows as those of RDF 1.2; all of a statement must be among them."""
        if self.links == "rdf12":
            for subject, predicate, object_ in triples:
                yield Triple(subject, predicate, object_)
            return
        statements: dict[NamedNode | BlankNode, dict[NamedNode, NamedNode]] = {}
        for subject, predicate, object_ in triples:
            if predicate in _PARTS:
                statements.setdefault(subject, {})[predicate] = object_
            elif predicate != vocab.TYPE or object_ != vocab.STATEMENT:
                yield Triple(subject, predicate, object_)
        for link, parts in statements.items():
            if len(parts) == len(_PARTS):
                yield reification.from_rdf11(cast(NamedNode, link), parts)


# Where a nexus is -----------------------------------------------------------------------------


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
