"""What shapes read: which elements must be checked again when some triples change.

The paths of the shapes are an automaton, from the element that a shape is about, along the
properties that it reads. A changed triple that is a step of it leads back, step by step, to the
elements that a shape is about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import rdflib
from rdflib import RDF, RDFS, SH, Graph
from rdflib.paths import Path
from rdflib.plugins.sparql.parserutils import CompValue

from kiprdf import budget
from kiprdf.shapes.view import Statement

State: TypeAlias = Any
Pattern: TypeAlias = tuple[Any, Any, Any]
Queries: TypeAlias = Mapping[Any, Collection[Pattern]]
_SHAPES = (SH.property, SH.node, SH["not"], SH.qualifiedValueShape)
_LISTS = (SH["and"], SH["or"], SH.xone)
_PAIRS = (SH.equals, SH.disjoint, SH.lessThan, SH.lessThanOrEquals)
_SILENT = object()
"""The predicate of a step that stays where it is."""
_END = "end"
PATH = rdflib.URIRef("urn:kip:path")
"""What ``$PATH`` is in SPARQL: the path of the shape, which has its own steps."""
SHARED = 1_000
"""A value that more elements share does not lead from one to the others."""


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
    """The steps of all shapes of a graph.

    ``starts`` are those with targets, ``queries`` the triple patterns of SPARQL by the node that
    has it.
    """

    def __init__(
        self, graph: Graph, shapes: Iterable[Any], starts: Collection[Any], queries: Queries
    ) -> None:
        self._graph = graph
        self._into: dict[State, list[_Step]] = defaultdict(list)
        self._along: dict[Any, list[_Step]] = defaultdict(list)
        self._starts = set(starts)
        self._add(_END, RDFS.subClassOf, _END)
        for shape in shapes:
            self._add_shape(shape)
            for node, patterns in queries.items():
                # A query that is not that of a shape is one of a constraint component.
                if (None, SH.sparql, node) not in graph or (shape, SH.sparql, node) in graph:
                    self._add_query(shape, (shape, node), patterns)

    def _add(self, start: State, predicate: Any, end: State, is_inverse: bool = False) -> None:
        step = _Step(start, predicate, is_inverse, end)
        self._into[end].append(step)
        self._along[predicate].append(step)

    def _add_shape(self, shape: Any) -> None:
        graph, values = self._graph, shape
        if shape in self._starts:
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

    def _add_query(self, shape: Any, query: Any, patterns: Collection[Pattern]) -> None:
        """Lead each pattern away from ``$this``, over the patterns that join it."""
        reached = {"this", "value"}
        for name in reached:
            self._add(shape, _SILENT, (query, name))
            self._add((shape, "values"), _SILENT, (query, name))
        remaining = list(patterns)
        while joined := [one for one in remaining if not reached.isdisjoint(_variables(one))]:
            remaining = [one for one in remaining if one not in joined]
            near = frozenset(reached)
            for subject, predicate, value in joined:
                reached |= _variables((subject, predicate, value))
                is_inverse = _name(subject) not in near
                ends = (value, subject) if is_inverse else (subject, value)
                start, end = ((query, _name(one)) for one in ends)
                self._add_predicate(predicate, start, end, is_inverse)

    def _add_predicate(self, predicate: Any, start: State, end: State, is_inverse: bool) -> None:
        if not isinstance(predicate, Path):
            is_variable = isinstance(predicate, rdflib.Variable)
            self._add(start, None if is_variable else predicate, end, is_inverse)
            return
        inside = (start, end, predicate)
        self._add(start, _SILENT, inside)
        self._add(inside, _SILENT, end)
        for part in parts(predicate):
            if isinstance(part, rdflib.URIRef):
                self._add(inside, part, inside)
                self._add(inside, part, inside, True)

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
        own = {_SILENT, None, PATH, RDF.type, RDFS.subClassOf}
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
                else:
                    for graph in graphs:
                        for other in _before(step, node, graph):
                            reach(step.start, other)
        return {node for state, node in seen if state in self._starts}


def _before(step: _Step, node: Any, graph: Graph) -> list[Any]:
    """The nodes from which a step leads to a node."""
    if step.is_inverse:
        nodes = (one[2] for one in graph.triples((node, step.predicate, None)))
    else:
        nodes = (one[0] for one in graph.triples((None, step.predicate, node)))
    if not isinstance(node, rdflib.Literal):
        return list(nodes)
    some = list(islice(nodes, SHARED + 1))
    return some if len(some) <= SHARED else []


def _name(term: Any) -> str | None:
    """The name of a variable; None for another term."""
    return str(term) if isinstance(term, rdflib.Variable | rdflib.BNode) else None


def _variables(pattern: Pattern) -> set[str]:
    return {name for one in (pattern[0], pattern[2]) if (name := _name(one)) is not None}


def parts(tree: Any) -> Iterator[Any]:
    """The parts of a query, or of a path in it, of rdflib."""
    pending = [tree]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, CompValue):
            pending += part.values()
        elif isinstance(part, Path):
            pending += vars(part).values()
        elif isinstance(part, list | tuple | set):
            pending += part
