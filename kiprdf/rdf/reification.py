"""A proposition as triples, in both dialects; only this file and ``sparql.text`` distinguish them.

RDF 1.2: the asserted triple, and ``<link> rdf:reifies <<( s p o )>>``.
RDF 1.1: the asserted triple, and an ``rdf:Statement`` of the same IRI.
"""

from __future__ import annotations

from pyoxigraph import BlankNode, NamedNode, Triple

from kiprdf.rdf import vocab

STATEMENT_PREDICATES = (vocab.TYPE, vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)
"""The predicates of an ``rdf:Statement``: its type, then the parts of its fact."""


def to_parts(link: NamedNode, fact: Triple) -> tuple[Triple, tuple[NamedNode, NamedNode, Triple]]:
    """The asserted triple, and the three terms of its reifying triple."""
    return fact, (link, vocab.REIFIES, fact)


def to_rdf11(link: NamedNode | BlankNode, fact: Triple) -> tuple[Triple, ...]:
    """The triples of the ``rdf:Statement`` of a fact, the fact itself not among them."""
    parts = (vocab.STATEMENT, fact.subject, fact.predicate, fact.object)
    pairs = zip(STATEMENT_PREDICATES, parts, strict=True)
    return tuple(Triple(link, predicate, value) for predicate, value in pairs)


def from_rdf11(link: NamedNode, parts: dict[NamedNode, NamedNode]) -> Triple:
    """The reifying triple of an ``rdf:Statement``'s subject, predicate and object."""
    fact = Triple(parts[vocab.SUBJECT], parts[vocab.PREDICATE], parts[vocab.OBJECT])
    return Triple(link, vocab.REIFIES, fact)
