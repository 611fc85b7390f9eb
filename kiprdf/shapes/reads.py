"""What shapes read: which elements must be checked again when some triples change.

The paths of the shapes are an automaton, from the element that a shape is about, along the
properties that it reads. A changed triple that is a step of it leads back, step by step, to the
elements that a shape is about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, TypeAlias

import rdflib
from rdflib import RDF, RDFS, SH, Graph

from kiprdf import budget
from kiprdf.shapes.view import Statement

State: TypeAlias = Any
_SHAPES = (SH.property, SH.node, SH["not"], SH.qualifiedValueShape)
_LISTS = (SH["and"], SH["or"], SH.xone)
_PAIRS = (SH.equals, SH.disjoint, SH.lessThan, SH.lessThanOrEquals)
TARGETS = (SH.targetNode, SH.targetClass, SH.targetSubjectsOf, SH.targetObjectsOf)
_SILENT = object()
"""The predicate of a step that stays where it is."""
_END = "end"


class _Step(NamedTuple):
    start: State
    predicate: Any
    is_inverse: bool
    end: State


def members(graph: Graph, shape: Any) -> Iterable[Any]:
    """The shapes that a shape refers to."""
    for key in _SHAPES:
        yield from graph.objects(shape, key)
    for key in _LISTS:
        for head in graph.objects(shape, key):
            yield from graph.items(head)


class Reads:
    """The steps of all shapes of a graph; ``queried`` are the IRIs in their SPARQL."""

    def __init__(self, graph: Graph, shapes: Iterable[Any], queried: Collection[Any]) -> None:
        self._graph = graph
        self._into: dict[State, list[_Step]] = defaultdict(list)
        self._along: dict[Any, list[_Step]] = defaultdict(list)
        self._starts: set[State] = set()
        self._add(_END, RDFS.subClassOf, _END)
        for shape in shapes:
            self._add_shape(shape, queried)

    def _add(self, start: State, predicate: Any, end: State, is_inverse: bool = False) -> None:
        step = _Step(start, predicate, is_inverse, end)
        self._into[end].append(step)
        self._along[predicate].append(step)

    def _add_shape(self, shape: Any, queried: Collection[Any]) -> None:
        graph, values = self._graph, shape
        is_class = (shape, RDF.type, RDFS.Class) in graph
        if is_class or any((shape, target, None) in graph for target in TARGETS):
            self._starts.add(shape)
            self._add(shape, RDF.type, _END)
            for predicate in graph.objects(shape, SH.targetSubjectsOf):
                self._add(shape, predicate, _END)
            for predicate in graph.objects(shape, SH.targetObjectsOf):
                self._add(shape, predicate, _END, True)
        for path in graph.objects(shape, SH.path):
            values = (shape, "values")
            self._add_path(path, shape, values, False)
        for member in members(graph, shape):
            self._add(values, _SILENT, member)
        if (shape, SH["class"], None) in graph:
            self._add(values, RDF.type, _END)
        if (shape, SH.closed, None) in graph:
            self._add(values, None, _END)
        for key in _PAIRS:
            for predicate in graph.objects(shape, key):
                self._add(shape, predicate, _END)
        for predicate in queried:
            for is_inverse in (False, True):
                self._add(shape, predicate, shape, is_inverse)

    def _add_path(self, path: Any, start: State, end: State, is_inverse: bool) -> None:
        graph = self._graph
        if isinstance(path, rdflib.URIRef):
            self._add(start, path, end, is_inverse)
            return
        for key, value in graph.predicate_objects(path):
            if key == RDF.first:
                items = list(graph.items(path))
                states = [start, *((path, end, at) for at in range(1, len(items))), end]
                for at, item in enumerate(reversed(items) if is_inverse else items):
                    self._add_path(item, states[at], states[at + 1], is_inverse)
            elif key == SH.inversePath:
                self._add_path(value, start, end, not is_inverse)
            elif key == SH.alternativePath:
                for item in graph.items(value):
                    self._add_path(item, start, end, is_inverse)
            elif key == SH.zeroOrOnePath:
                self._add(start, _SILENT, end)
                self._add_path(value, start, end, is_inverse)
            elif key in (SH.zeroOrMorePath, SH.oneOrMorePath):
                inside = (value, end)
                self._add(start, _SILENT, inside)
                self._add_path(value, inside, inside, is_inverse)
                self._add(inside, _SILENT, end)

    @property
    def properties(self) -> set[Any]:
        """The properties that shapes read, of elements."""
        own = {_SILENT, None, RDF.type, RDFS.subClassOf}
        return {step.predicate for steps in self._into.values() for step in steps} - own

    def elements(self, changed: Iterable[Statement], graphs: Collection[Graph]) -> set[Any]:
        """The elements for which shapes read some changed triples.

        The ``graphs`` are the dataset before and after.
        """
        pending: list[tuple[State, Any]] = []
        seen: set[tuple[State, Any]] = set()

        def reach(state: State, node: Any) -> None:
            if (state, node) not in seen:
                seen.add((state, node))
                pending.append((state, node))

        for subject, predicate, value in changed:
            for step in (*self._along.get(predicate, ()), *self._along.get(None, ())):
                reach(step.start, value if step.is_inverse else subject)
        while pending:
            budget.check()
            state, node = pending.pop()
            for step in self._into.get(state, ()):
                if step.predicate is _SILENT:
                    reach(step.start, node)
                # A loop of a query does not lead through a value, which many elements may have.
                elif not (step.start == state and isinstance(node, rdflib.Literal)):
                    for graph in graphs:
                        ends = (node, None) if step.is_inverse else (None, node)
                        for triple in graph.triples((ends[0], step.predicate, ends[1])):
                            reach(step.start, triple[2] if step.is_inverse else triple[0])
        return {node for state, node in seen if state in self._starts}
