"""Names for blank nodes, by what is said of them and never by a parser's label.

The same file gives the same names. A name is a skolem IRI (RDF 1.1 Concepts 3.5), so that the rest
of an import knows IRIs only. ``partition`` tells apart what looks different.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, NamedNode

from kiprdf.budget import paced
from kiprdf.interchange.importing.foreign import Items, Object, Statement, text_of
from kiprdf.interchange.importing.partition import Partition, Spent, Steps
from kiprdf.rdf import vocab

SKOLEM = vocab.BLANK
"""What the IRI of a named blank node begins with."""
STEPS = 200_000
"""How many steps are spent on each component to tell apart what only looks symmetric."""

_DIGITS = 32
_HOLE = "_:"

Told = tuple[str, tuple[BlankNode, ...]]
"""A statement as a text with holes, and the blank nodes in them."""


def is_blank(node: NamedNode) -> bool:
    """Whether a node was a blank node."""
    return node.value.startswith(SKOLEM)


def blank_names(statements: Iterable[Statement]) -> dict[BlankNode, NamedNode]:
    """An IRI for each blank node, made of everything that is said about and around it.

    Blank nodes that nothing tells apart are numbered. Where they are symmetric, it makes no
    difference which is the first.
    """
    told = [found for statement in paced(statements) if (found := _told(statement))[1]]
    names: dict[BlankNode, NamedNode] = {}
    twins: Counter[str] = Counter()
    for component in paced(_components(told)):
        blanks, certificate = _Component(component).canonical()
        number = twins[certificate]
        twins[certificate] += 1
        for place, blank in enumerate(blanks):
            names[blank] = NamedNode(SKOLEM + _digest(certificate, f"{number} {place}"))
    return names


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:_DIGITS]


def _told(statement: Statement) -> Told:
    parts = list(_parts(statement))
    text = "".join(part if isinstance(part, str) else _HOLE for part in parts)
    return text, tuple(part for part in parts if isinstance(part, BlankNode))


def _parts(term: Object) -> Iterator[str | BlankNode]:
    """The text of a term, with its blank nodes as they are."""
    if isinstance(term, BlankNode):
        yield term
    elif isinstance(term, Statement):
        for part in (term.subject, term.predicate, term.object):
            yield " "
            yield from _parts(part)
    elif isinstance(term, Items):
        yield "("
        for item in term.terms:
            yield " "
            yield from _parts(item)
        yield ")"
    else:
        yield text_of(term)


def _components(told: list[Told]) -> Iterator[list[Told]]:
    """The statements of blank nodes that hang together."""
    places: dict[BlankNode, list[int]] = defaultdict(list)
    for place, (_, blanks) in enumerate(told):
        for blank in dict.fromkeys(blanks):
            places[blank].append(place)
    seen: set[int] = set()
    for start in paced(range(len(told))):
        component, pending = [], [start]
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            component.append(told[place])
            for blank in told[place][1]:
                pending.extend(places.pop(blank, ()))
        if component:
            yield component


class _Component:
    """Blank nodes and statements as the vertices of a graph; edges tell the places in a text."""

    def __init__(self, told: list[Told]) -> None:
        self._told = told
        self._blanks = list(dict.fromkeys(blank for _, found in told for blank in found))
        number = {blank: place for place, blank in enumerate(self._blanks)}
        self._ends = [[number[blank] for blank in found] for _, found in told]
        edges: list[list[tuple[int, int]]] = [[] for _ in range(len(number) + len(told))]
        for vertex, ends in enumerate(paced(self._ends), len(number)):
            for place, end in enumerate(ends):
                edges[vertex].append((place, end))
                edges[end].append((place, vertex))
        colours = ["" for _ in number] + [f" {text}" for text, _ in told]
        self._start = Partition(edges, colours)

    def canonical(self) -> tuple[list[BlankNode], str]:
        """The blank nodes in an order that no label makes, and the digest of all they say."""
        try:
            order, certificate = self._best(self._start.copy(Steps(STEPS)))
        except Spent:
            # As a rule this many are symmetric, and any of them may be the first.
            order, certificate = self._leaf(self._start)
        return [self._blanks[vertex] for vertex in order], certificate

    def _best(self, partition: Partition) -> tuple[list[int], str]:
        """The least certificate of all ways to tell apart what is tied.

        Two ways with one certificate are symmetric, and so is everything behind them.
        """
        tied = partition.tied(len(self._blanks))
        if not tied:
            return self._leaf(partition)
        found: list[tuple[str, list[int]]] = []
        seen: set[str] = set()
        for vertex in tied:
            branch = partition.copy()
            branch.single_out(vertex)
            certificate = self._leaf(branch.copy())[1]
            if certificate not in seen:
                order, least = self._best(branch)
                seen |= {certificate, least}
                found.append((least, order))
        certificate, order = min(found)
        return order, certificate

    def _leaf(self, partition: Partition) -> tuple[list[int], str]:
        """An order in which the first of those that are tied goes first, and its certificate."""
        partition.settle(len(self._blanks))
        order = sorted(range(len(self._blanks)), key=partition.cell_of.__getitem__)
        rank = {vertex: place for place, vertex in enumerate(order)}
        lines = (
            f"{text} {[rank[end] for end in ends]}"
            for (text, _), ends in zip(self._told, self._ends, strict=True)
        )
        return order, _digest(*sorted(lines))
