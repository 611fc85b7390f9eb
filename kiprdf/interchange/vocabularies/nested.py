"""Turns nested descriptions into triples.

A description is data: predicates with their objects. A description among the objects becomes a
blank node, a list an RDF list, as is usual for OWL and SHACL. The label of a blank node
comes from its place, so that the same definition gives the same triples. Nodes that others refer
to are named by ``part`` instead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from kiprdf.budget import check
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import encode

Description: TypeAlias = dict[NamedNode, Any]
"""Each predicate with one object or a set of them: a term, a ``Description``, a ``Members``."""


class Members(tuple[Any, ...]):
    """The members of an RDF list, in order."""

    __slots__ = ()


class Each(tuple[Any, ...]):
    """Several objects of one predicate."""

    __slots__ = ()


def part(node: NamedNode, name: str) -> NamedNode:
    """The IRI of a part: a fragment of the definition's IRI, which has none.

    >>> part(NamedNode("urn:x:Drug"), "shape").value
    'urn:x:Drug#shape'
    >>> part(NamedNode("urn:x:Drug#shape"), "risk level").value
    'urn:x:Drug#shape-risk%20level'
    """
    separator = "-" if "#" in node.value else "#"
    return NamedNode(f"{node.value}{separator}{encode(name)}")


def anonymous(place: str) -> BlankNode:
    """The blank node of a place; a place is an IRI, longer by each step into the description."""
    return BlankNode(f"b{hashlib.sha256(place.encode()).hexdigest()[:24]}")


def described(node: NamedNode | BlankNode, description: Description) -> Iterator[Triple]:
    """The triples of a description, followed by those of its nested nodes."""
    return _described(node, description, node.value)


def _described(
    node: NamedNode | BlankNode, description: Description, place: str
) -> Iterator[Triple]:
    for predicate, value in description.items():
        check()
        members = value if isinstance(value, Each) else (value,)
        for number, member in enumerate(members):
            yield from _object(node, predicate, member, f"{place} {predicate.value} {number}")


def _object(
    node: NamedNode | BlankNode, predicate: NamedNode, value: Any, place: str
) -> Iterator[Triple]:
    if isinstance(value, dict):
        inner = anonymous(place)
        yield Triple(node, predicate, inner)
        yield from _described(inner, value, place)
    elif isinstance(value, Members):
        yield from _list(node, predicate, value, place)
    else:
        yield Triple(node, predicate, cast(NamedNode | BlankNode | Literal, value))


def _list(
    node: NamedNode | BlankNode, predicate: NamedNode, members: Sequence[Any], place: str
) -> Iterator[Triple]:
    for number, member in enumerate(members):
        cell = anonymous(f"{place} {number}")
        yield Triple(node, predicate, cell)
        yield from _object(cell, vocab.FIRST, member, f"{place} {number} first")
        node, predicate = cell, vocab.REST
    yield Triple(node, predicate, vocab.NIL)
