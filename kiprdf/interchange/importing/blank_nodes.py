"""Names blank nodes by the statements about them, not by a parser's labels.

The same file gives the same names. A name is a skolem IRI (RDF 1.1 Concepts 3.5), so that the rest
of an import has IRIs only. ``Partition`` distinguishes nodes by colour refinement: vertices of a
graph, in cells that look the same.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pyoxigraph import BlankNode, NamedNode

from kiprdf.budget import paced
from kiprdf.dataclasses import dataclass
from kiprdf.interchange.importing.external import ExternalTriple, Items, Node, Object, text_of
from kiprdf.rdf import vocab

SKOLEM = vocab.BLANK
"""What the IRI of a named blank node begins with."""
STEPS = 200_000
"""How many steps each component may take to distinguish nodes that only look symmetric."""

_DIGITS = 32
_HOLE = "_:"

Template = tuple[str, tuple[BlankNode, ...]]
"""A statement as a text with holes, and the blank nodes in them."""


def is_blank(node: Node) -> bool:
    """Whether a node was a blank node."""
    return node.value.startswith(SKOLEM)


def blank_names(statements: Iterable[ExternalTriple]) -> dict[BlankNode, NamedNode]:
    """An IRI for each blank node, a digest of all statements about and around it.

    Indistinguishable blank nodes are numbered; the order of symmetric ones makes no difference.
    """
    # Most statements have none, which is found before their text is made.
    templates = [_template(one) for one in paced(statements) if _has_blank(one)]
    names: dict[BlankNode, NamedNode] = {}
    copies: Counter[str] = Counter()
    for component in paced(_components(templates)):
        blanks, certificate = _Component(component).canonical()
        number = copies[certificate]
        copies[certificate] += 1
        for position, blank in enumerate(blanks):
            names[blank] = NamedNode(SKOLEM + _digest(certificate, f"{number} {position}"))
    return names


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:_DIGITS]


def _has_blank(term: Object) -> bool:
    if isinstance(term, ExternalTriple):
        return isinstance(term.subject, BlankNode) or _has_blank(term.object)
    return (
        any(map(_has_blank, term.terms)) if isinstance(term, Items) else isinstance(term, BlankNode)
    )


def _template(statement: ExternalTriple) -> Template:
    parts = list(_parts(statement))
    text = "".join(part if isinstance(part, str) else _HOLE for part in parts)
    return text, tuple(part for part in parts if isinstance(part, BlankNode))


def _parts(term: Object) -> Iterator[str | BlankNode]:
    """The text of a term, with its blank nodes as they are."""
    if isinstance(term, BlankNode):
        yield term
    elif isinstance(term, ExternalTriple):
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


def _components(templates: list[Template]) -> Iterator[list[Template]]:
    """The statements whose blank nodes are connected."""
    numbers: dict[BlankNode, list[int]] = defaultdict(list)
    for number, (_, blanks) in enumerate(templates):
        for blank in dict.fromkeys(blanks):
            numbers[blank].append(number)
    visited: set[int] = set()
    for start in paced(range(len(templates))):
        component, pending = [], [start]
        while pending:
            number = pending.pop()
            if number in visited:
                continue
            visited.add(number)
            component.append(templates[number])
            for blank in templates[number][1]:
                pending.extend(numbers.pop(blank, ()))
        if component:
            yield component


class _Component:
    """A graph of blank nodes and statements; edges are labelled by positions in a statement."""

    def __init__(self, templates: list[Template]) -> None:
        self._templates = templates
        self._blanks = list(dict.fromkeys(blank for _, blanks in templates for blank in blanks))
        number = {blank: position for position, blank in enumerate(self._blanks)}
        self._ends = [[number[blank] for blank in blanks] for _, blanks in templates]
        edges: list[list[tuple[int, int]]] = [[] for _ in range(len(number) + len(templates))]
        for vertex, ends in enumerate(paced(self._ends), len(number)):
            for position, end in enumerate(ends):
                edges[vertex].append((position, end))
                edges[end].append((position, vertex))
        colours = ["" for _ in number] + [f" {text}" for text, _ in templates]
        self._start = Partition(edges, colours)

    def canonical(self) -> tuple[list[BlankNode], str]:
        """The blank nodes in an order independent of labels, and a digest of the statements."""
        try:
            order, certificate = self._best(self._start.copy(Steps(STEPS)))
        except StepsExceeded:
            # So many ties are nearly always symmetric, so any of them may be first.
            order, certificate = self._leaf(self._start)
        return [self._blanks[vertex] for vertex in order], certificate

    def _best(self, partition: Partition) -> tuple[list[int], str]:
        """The order with the least certificate of all ways to break ties.

        Two ways with the same certificate are symmetric, and so is everything after them.
        """
        tied = partition.tied(len(self._blanks))
        if not tied:
            return self._leaf(partition)
        orders: list[tuple[str, list[int]]] = []
        certificates: set[str] = set()
        for vertex in tied:
            branch = partition.copy()
            branch.single_out(vertex)
            certificate = self._leaf(branch.copy())[1]
            if certificate not in certificates:
                order, least = self._best(branch)
                certificates |= {certificate, least}
                orders.append((least, order))
        certificate, order = min(orders)
        return order, certificate

    def _leaf(self, partition: Partition) -> tuple[list[int], str]:
        """An order in which ties are broken by position, and its certificate."""
        partition.break_ties(len(self._blanks))
        order = sorted(range(len(self._blanks)), key=partition.cell_of.__getitem__)
        rank = {vertex: position for position, vertex in enumerate(order)}
        lines = (
            f"{text} {[rank[end] for end in ends]}"
            for (text, _), ends in zip(self._templates, self._ends, strict=True)
        )
        return order, _digest(*sorted(lines))


Edges: TypeAlias = list[list[tuple[int, int]]]
"""For each vertex the labels of its edges and the vertices at their ends."""


class StepsExceeded(Exception):
    """All allowed steps are used up."""


@dataclass(slots=True)
class Steps:
    """The number of steps that are left."""

    left: int

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise StepsExceeded


class Partition:
    """The coarsest cells whose vertices have equal colours and equal edges into each cell.

    Only the neighbours of a split cell are refined again, and not by its largest part, so the whole
    takes as long as sorting the edges (Hopcroft 1971). The numbers of the cells depend on
    the graph only: no vertex is compared by its number.
    """

    def __init__(self, edges: Edges, colours: list[str], steps: Steps | None = None) -> None:
        self._edges = edges
        self._steps = steps
        numbers = {colour: number for number, colour in enumerate(sorted(set(colours)))}
        self.cell_of = [numbers[colour] for colour in colours]
        self._cells: list[set[int]] = [set() for _ in numbers]
        for vertex, cell in enumerate(self.cell_of):
            self._cells[cell].add(vertex)
        self._first_tied = 0
        self._refine(deque(range(len(self._cells))))

    def copy(self, steps: Steps | None = None) -> Partition:
        """A copy to be refined further; both count their steps together."""
        copy = object.__new__(Partition)
        copy._edges = self._edges
        copy._steps = steps or self._steps
        copy.cell_of = list(self.cell_of)
        copy._cells = [set(cell) for cell in self._cells]
        copy._first_tied = self._first_tied
        copy._spend(len(self.cell_of))
        return copy

    def tied(self, below: int) -> list[int]:
        """The vertices of the first cell that has several, of those below a number.

        No cell has vertices on both sides of it.
        """
        while self._first_tied < len(self._cells):
            cell = self._cells[self._first_tied]
            if len(cell) > 1 and next(iter(cell)) < below:
                return sorted(cell)
            self._first_tied += 1
        return []

    def single_out(self, vertex: int) -> None:
        """Give a vertex its own cell."""
        self._refine(deque([self._move({vertex}, self.cell_of[vertex])]))

    def break_ties(self, below: int) -> None:
        """Give each vertex below a number its own cell; ties are broken in any order."""
        while tied := self.tied(below):
            cell = self.cell_of[tied[0]]
            for vertex in tied:
                if self.cell_of[vertex] == cell and len(self._cells[cell]) > 1:
                    self.single_out(vertex)

    def _spend(self, count: int) -> None:
        if self._steps is not None:
            self._steps.spend(count)

    def _refine(self, pending: deque[int]) -> None:
        """Split cells until the vertices of each have equal edges into each."""
        while pending:
            labels = self._labels_into(self._cells[pending.popleft()])
            touched: dict[int, dict[tuple[int, ...], set[int]]] = defaultdict(
                lambda: defaultdict(set)
            )
            for vertex, into_cell in labels.items():
                touched[self.cell_of[vertex]][tuple(sorted(into_cell))].add(vertex)
            for cell in sorted(touched):
                pending.extend(self._split(cell, touched[cell]))

    def _labels_into(self, cell: set[int]) -> dict[int, list[int]]:
        """The labels of the edges that lead into a cell, by the vertices they come from."""
        labels: dict[int, list[int]] = defaultdict(list)
        for vertex in cell:
            self._spend(1 + len(self._edges[vertex]))
            for label, other in self._edges[vertex]:
                labels[other].append(label)
        return labels

    def _split(self, cell: int, parts: dict[tuple[int, ...], set[int]]) -> list[int]:
        """Move all parts of a cell but the largest into cells of their own; which cells these are.

        One more part, that of the empty tuple, are the vertices that no edge reaches.
        """
        rest = len(self._cells[cell]) - sum(map(len, parts.values()))
        order = sorted(parts)
        if rest == 0 and len(order) == 1:
            return []
        largest = max(order, key=lambda signature: len(parts[signature]))
        stays = () if rest >= len(parts[largest]) else largest
        if rest and stays:
            parts[()] = self._cells[cell].difference(*parts.values())
            order.insert(0, ())
        return [self._move(parts[part], cell) for part in order if part != stays]

    def _move(self, vertices: set[int], cell: int) -> int:
        number = len(self._cells)
        self._cells[cell] -= vertices
        self._cells.append(vertices)
        for vertex in vertices:
            self.cell_of[vertex] = number
        return number
