"""Links for a store that keeps them as RDF 1.1: ``rdf:Statement`` in the place of reifiers.

``?l rdf:reifies <<( ?s ?p ?o )>>`` becomes the three triples of a statement; the fact itself, which
is there too, need not be asked for. Since a statement has
a type too, a pattern that asks for any type leaves ``rdf:Statement`` out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyoxigraph import Variable

from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    Filter,
    Infix,
    Pattern,
    TriplePattern,
    TripleTerm,
    map_patterns,
)

_PARTS = (vocab.SUBJECT, vocab.PREDICATE, vocab.OBJECT)


def as_statements(pattern: Pattern) -> Pattern:
    """The same solutions on the same knowledge in RDF 1.1."""
    if isinstance(pattern, BGP):
        return _triples(pattern)
    return map_patterns(pattern, lambda part, *_: as_statements(part))


def _triples(group: BGP) -> Pattern:
    triples: list[TriplePattern] = []
    types: list[Variable] = []
    objects = (triple.object for triple in group.triples)
    facts = {_terms(value) for value in objects if isinstance(value, TripleTerm)}
    for triple in group.triples:
        value = triple.object
        if _terms(triple) in facts:
            continue  # each statement is of a fact
        if isinstance(value, TripleTerm):
            pairs = zip(_PARTS, _terms(value), strict=True)
            triples += (TriplePattern(triple.subject, part, term) for part, term in pairs)
        elif triple.predicate == vocab.REIFIES:
            # Nothing reads which fact a link has.
            triples.append(replace(triple, predicate=vocab.PREDICATE))
        else:
            triples.append(triple)
            if triple.predicate == vocab.TYPE and isinstance(value, Variable):
                types.append(value)
    pattern: Pattern = BGP(tuple(triples))
    for type in types:
        pattern = Filter(pattern, Infix("!=", (type, vocab.STATEMENT)))
    return pattern


def _terms(triple: TriplePattern | TripleTerm) -> tuple[Any, Any, Any]:
    return triple.subject, triple.predicate, triple.object
