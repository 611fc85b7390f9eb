"""A proposition as triples, in both dialects; only this file and ``sparql.text`` know two.

RDF 1.2: the asserted triple, and ``<link> rdf:reifies <<( s p o )>>``.
RDF 1.1: the asserted triple, and an ``rdf:Statement`` of the same IRI.
"""

from __future__ import annotations

from pyoxigraph import NamedNode, Triple

from kiprdf.rdf import vocab


def to_rdf12(link: NamedNode, fact: Triple) -> tuple[Triple, Triple]:
    """The asserted triple and its reifying triple."""
    return fact, Triple(*to_parts(link, fact)[1])


def to_parts(link: NamedNode, fact: Triple) -> tuple[Triple, tuple[NamedNode, NamedNode, Triple]]:
    """The same, the reifying triple as its three terms."""
    return fact, (link, vocab.REIFIES, fact)


def to_rdf11(link: NamedNode, fact: Triple) -> tuple[Triple, ...]:
    """The asserted triple and its ``rdf:Statement``."""
    return (
        fact,
        Triple(link, vocab.TYPE, vocab.STATEMENT),
        Triple(link, vocab.SUBJECT, fact.subject),
        Triple(link, vocab.PREDICATE, fact.predicate),
        Triple(link, vocab.OBJECT, fact.object),
    )


def from_rdf11(link: NamedNode, parts: dict[NamedNode, NamedNode]) -> Triple:
    """The reifying triple of an ``rdf:Statement``'s subject, predicate and object."""
    fact = Triple(parts[vocab.SUBJECT], parts[vocab.PREDICATE], parts[vocab.OBJECT])
    return Triple(link, vocab.REIFIES, fact)
