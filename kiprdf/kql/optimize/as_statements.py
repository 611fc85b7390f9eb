"""Links for a store that keeps them as RDF 1.1: ``rdf:Statement`` in the place of reifiers.

``?l rdf:reifies <<( ?s ?p ?o )>>`` becomes the three triples of a statement; the fact itself, which
is there too, need not be asked for. Since a statement has
a type too, a pattern that asks for any type leaves ``rdf:Statement`` out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pyoxigraph import NamedNode, Variable

from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import (
    BGP,
    Call,
    Extend,
    Filter,
    Infix,
    Pattern,
    TriplePattern,
    TripleTerm,
    map_patterns,
)
from kiprdf.trees import replaced, walk

_PARTS = {"SUBJECT": vocab.SUBJECT, "PREDICATE": vocab.PREDICATE, "OBJECT": vocab.OBJECT}


def as_statements(pattern: Pattern) -> Pattern:
    """The same solutions on the same knowledge in RDF 1.1."""
    return _converted(pattern, dict(_parts_read(pattern)))


def _parts_read(pattern: Pattern) -> Iterator[tuple[Variable, NamedNode]]:
    """The variables that hold a whole fact, with the one part of it that is read."""
    for node in walk(pattern):
        if isinstance(node, Call) and node.function in _PARTS:
            (fact,) = node.arguments
            assert isinstance(fact, Variable), node
            yield fact, _PARTS[str(node.function)]


def _converted(pattern: Pattern, parts: Mapping[Variable, NamedNode]) -> Pattern:
    if isinstance(pattern, BGP):
        return _triples(pattern, parts)
    pattern = map_patterns(pattern, lambda part, *_: _converted(part, parts))
    if isinstance(pattern, Extend):
        return replace(pattern, expression=replaced(pattern.expression, _part))
    return pattern


def _triples(group: BGP, parts: Mapping[Variable, NamedNode]) -> Pattern:
    triples: list[TriplePattern] = []
    types: list[Variable] = []
    objects = (triple.object for triple in group.triples)
    facts = {_terms(value) for value in objects if isinstance(value, TripleTerm)}
    for triple in group.triples:
        value = triple.object
        if _terms(triple) in facts:
            continue  # each statement is of a fact
        if isinstance(value, TripleTerm):
            pairs = zip(_PARTS.values(), _terms(value), strict=True)
            triples += (TriplePattern(triple.subject, part, term) for part, term in pairs)
        elif triple.predicate == vocab.REIFIES:
            assert isinstance(value, Variable), triple
            part = parts.get(value, vocab.PREDICATE)
            triples.append(TriplePattern(triple.subject, part, value))
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


def _part(node: Any) -> Any:
    """The variable of a fact, which is bound to the part that was taken of it."""
    is_taken = isinstance(node, Call) and node.function in _PARTS
    return node.arguments[0] if is_taken else node
