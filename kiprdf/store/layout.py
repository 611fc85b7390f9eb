"""How a store keeps triples: links as reifiers or statements, doubles as the engine takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.rdf import reification, vocab
from kiprdf.sparql.abilities import Abilities, Links
from kiprdf.store.delta import Written

T = TypeVar("T")

OWN_DOUBLE = NamedNode("urn:kip:double")
"""The datatype of doubles on an engine that rounds xsd:double."""
LINKS = NamedNode(vocab.KIP + "links")
"""The note of how a store keeps links."""
_PARTS = frozenset((vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT))
_BOOLEANS = {"1": "true", "0": "false"}


class Layout(NamedTuple):
    """Converts the triples of RDF 1.2 that kiprdf reads and writes to those of a store, and back.

    >>> link, fact = NamedNode("urn:l"), Triple(*map(NamedNode, ("urn:s", "urn:p", "urn:o")))
    >>> layout = Layout("rdf11", own_doubles=True)
    >>> [triple.object.value for triple in layout.stored([(link, vocab.REIFIES, fact)])]
    ['http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement', 'urn:s', 'urn:p', 'urn:o']
    >>> layout.term(Literal(0.5))
    <Literal value=0.5 datatype=<NamedNode value=urn:kip:double>>
    >>> layout.read(layout.term(Literal(0.5))) == Literal(0.5)
    True
    """

    links: Links
    own_doubles: bool

    @classmethod
    def of(cls, abilities: Abilities) -> Layout:
        return cls(abilities.links, abilities.own_doubles)

    def stored(self, triples: Iterable[Written]) -> Iterator[Triple]:
        """The triples as the store keeps them; a reifying one may become four."""
        for subject, predicate, object_ in triples:
            if self.links == "rdf11" and isinstance(object_, Triple):
                yield from reification.to_rdf11(cast(NamedNode, subject), object_)
            else:
                yield Triple(subject, predicate, self.term(object_))

    def term(self, term: T) -> T:
        """A term as the store keeps it."""
        if self.own_doubles and isinstance(term, Literal) and term.datatype == vocab.DOUBLE:
            return cast(T, Literal(term.value, datatype=OWN_DOUBLE))
        return term

    def read(self, term: T) -> T:
        """A term of the store as kiprdf writes it."""
        if isinstance(term, Literal):
            if term.datatype == OWN_DOUBLE:
                return cast(T, Literal(term.value, datatype=vocab.DOUBLE))
            if term.datatype == vocab.BOOLEAN and term.value in _BOOLEANS:
                return cast(T, Literal(_BOOLEANS[term.value], datatype=vocab.BOOLEAN))
        return term

    def rows(self, rows: Iterable[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
        """Rows of an answer as kiprdf writes their terms."""
        return (tuple(map(self.read, row)) for row in rows)

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
