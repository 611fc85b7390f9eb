"""Colour refinement: the vertices of a graph, in cells of what looks the same.

The numbers of the cells depend on nothing but the graph: no vertex is ever compared by its number.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TypeAlias

Edges: TypeAlias = list[list[tuple[int, int]]]
"""Of each vertex the labels of its edges, and where they lead."""


class Spent(Exception):
    """The steps that were allowed are taken."""


@dataclass(slots=True)
class Steps:
    """How many steps are left."""

    left: int

    def take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise Spent


class Partition:
    """The coarsest cells whose vertices have equal colours and equal edges into each cell.

    Cells that split make work for their neighbours only, and the largest part of a cell makes
    none: so all of it takes as long as sorting the edges does (Hopcroft 1971).
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
        """Another partition to be refined further; both count their steps together."""
        made = object.__new__(Partition)
        made._edges = self._edges
        made._steps = steps or self._steps
        made.cell_of = list(self.cell_of)
        made._cells = [set(cell) for cell in self._cells]
        made._first_tied = self._first_tied
        made._take(len(self.cell_of))
        return made

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
        """Give a vertex a cell of its own."""
        self._refine(deque([self._move({vertex}, self.cell_of[vertex])]))

    def settle(self, below: int) -> None:
        """Give each vertex below a number a cell of its own; of the tied any goes first."""
        while tied := self.tied(below):
            cell = self.cell_of[tied[0]]
            for vertex in tied:
                if self.cell_of[vertex] == cell and len(self._cells[cell]) > 1:
                    self.single_out(vertex)

    def _take(self, count: int) -> None:
        if self._steps is not None:
            self._steps.take(count)

    def _refine(self, pending: deque[int]) -> None:
        """Split cells until the vertices of each have equal edges into each."""
        while pending:
            labels = self._labels_into(self._cells[pending.popleft()])
            touched: dict[int, dict[tuple[int, ...], set[int]]] = defaultdict(
                lambda: defaultdict(set)
            )
            for vertex, found in labels.items():
                touched[self.cell_of[vertex]][tuple(sorted(found))].add(vertex)
            for cell in sorted(touched):
                pending.extend(self._split(cell, touched[cell]))

    def _labels_into(self, cell: set[int]) -> dict[int, list[int]]:
        """The labels of the edges that lead into a cell, by the vertices they come from."""
        labels: dict[int, list[int]] = defaultdict(list)
        for vertex in cell:
            self._take(1 + len(self._edges[vertex]))
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
