"""Nested descriptions as triples without blank nodes.

A description is data: predicates with their objects. A description among the objects becomes a
node of its own, a list an RDF list, and each such node gets an IRI that extends the IRI of the
node around it by its place. So the same definition gives the same IRIs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple

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


def described(node: NamedNode, description: Description) -> Iterator[Triple]:
    """The triples of a description, those of the nodes inside it behind them."""
    for predicate, value in description.items():
        place = part(node, predicate.value.rsplit("#", maxsplit=1)[-1].rsplit("/", maxsplit=1)[-1])
        if isinstance(value, Each):
            for number, member in enumerate(value, 1):
                yield from _object(node, predicate, member, part(place, str(number)))
        else:
            yield from _object(node, predicate, value, place)


def _object(
    node: NamedNode, predicate: NamedNode, value: Any, place: NamedNode
) -> Iterator[Triple]:
    if isinstance(value, dict):
        yield Triple(node, predicate, place)
        yield from described(place, value)
    elif isinstance(value, Members) and value:
        yield Triple(node, predicate, place)
        yield from _list(place, value)
    elif isinstance(value, Members):
        yield Triple(node, predicate, vocab.NIL)
    else:
        yield Triple(node, predicate, cast(NamedNode | Literal, value))


def _list(head: NamedNode, members: Sequence[Any]) -> Iterator[Triple]:
    cells = [head, *(part(head, f"rest{number}") for number in range(2, len(members) + 1))]
    for number, (cell, member) in enumerate(zip(cells, members, strict=True), 1):
        yield from _object(cell, vocab.FIRST, member, part(head, f"{number}"))
        yield Triple(cell, vocab.REST, cells[number] if number < len(cells) else vocab.NIL)
