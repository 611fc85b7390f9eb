"""A pattern read by index, from the elements that it names (docs/decisions/041).

The engine takes longer to read a query than to find some dozens of triples. So what begins at a
named element is first walked: triple after triple, each a look into an index, all solutions at a
time. A walk that grows ends, and the query is asked as SPARQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple, Variable

from kiprdf.kql import conditions
from kiprdf.kql.conditions import Solution, Test, Unsure
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Alternative,
    AntiJoin,
    Bindings,
    Call,
    Expression,
    Extend,
    Filter,
    Hole,
    Lateral,
    LeftJoin,
    OneOrMore,
    Pattern,
    Project,
    Select,
    Term,
    TriplePattern,
    TripleTerm,
    Union,
    variables,
)
from kiprdf.store import Store
from kiprdf.store.base import Cell, Row, Statement

MOST_READS = 1_000
"""Triples and looks of one walk; beyond them the engine's own way is as good."""

_Nodes: TypeAlias = dict[Cell, None]
Step: TypeAlias = "Callable[[list[Solution], _Reads], list[Solution]]"
"""The solutions that some solutions have in a pattern, which sees them."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A pattern as steps.

    ``start`` are its constants, each in a slot of its own, ``holes`` the slots of those that are
    chosen later, ``columns`` the slots of what is selected, ``counts`` of what is counted.
    """

    start: Solution
    holes: list[tuple[int, Hole]]
    steps: list[Step]
    columns: tuple[int, ...]
    counts: tuple[tuple[int | None, bool], ...]

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """The distinct rows; None when there is too much."""
        start = self.start.copy()
        for slot, hole in self.holes:
            start[slot] = bindings[hole]
        try:
            found = _chained(self.steps, [start], _Reads(store))
        except (_TooMuch, Unsure):
            return None
        if self.counts:
            return self._counted(found)
        columns = self.columns
        return list(dict.fromkeys([tuple([s[column] for column in columns]) for s in found]))

    def _counted(self, found: list[Solution]) -> list[Row]:
        groups: dict[Row, list[Solution]] = {} if self.columns else {(): []}
        for solution in found:
            key = tuple([solution[column] for column in self.columns])
            groups.setdefault(key, []).append(solution)
        return [
            (*key, *(_count(group, slot, distinct) for slot, distinct in self.counts))
            for key, group in groups.items()
        ]


def walk(select: Select, iris: Iris) -> Walk | None:
    """A query as a walk; None where it begins at no named element, or does what no walk does."""
    compiler = _Compiler(iris)
    try:
        steps = compiler.pattern(select.pattern, set())
    except Unsure:
        return None
    columns = tuple(map(compiler.slot, select.variables))
    counts = tuple(
        (None if count.variable is None else compiler.slot(count.variable), count.distinct)
        for count in select.counts
    )
    return Walk(compiler.cells, compiler.holes, steps, columns, counts)


def _count(group: list[Solution], slot: int | None, distinct: bool) -> Literal:
    if slot is None:
        return Literal(len(group))
    cells = [solution[slot] for solution in group if solution[slot] is not None]
    return Literal(len(set(cells)) if distinct else len(cells))


class _TooMuch(Exception):
    """The walk has read as much as it may."""


class _Reads:
    """What one walk reads."""

    __slots__ = ("_left", "_lookup")

    def __init__(self, store: Store) -> None:
        self._lookup = store.lookup
        self._left = MOST_READS

    def __call__(self, subject: Cell, predicate: Cell, object: Cell) -> list[Statement]:
        found = self._lookup(subject, predicate, object, self._left)
        self.count(len(found) + 1)
        return found

    def count(self, number: int) -> None:
        """Count what was found, by a look or without one."""
        self._left -= number
        if self._left <= 0:
            raise _TooMuch


class _Compiler:
    """``cells`` holds the constant of each slot, None for those of variables."""

    def __init__(self, iris: Iris) -> None:
        self._facts = iris.predicates
        self._slots: dict[Term, int] = {}
        self.cells: list[Cell] = []
        self.holes: list[tuple[int, Hole]] = []

    def slot(self, term: Term) -> int:
        if term not in self._slots:
            self._slots[term] = len(self.cells)
            if isinstance(term, Hole):
                self.holes.append((len(self.cells), term))
            self.cells.append(None if isinstance(term, Variable | Hole) else term)
        return self._slots[term]

    def pattern(self, pattern: Pattern, bound: set[Variable]) -> list[Step]:
        """The steps of a pattern; ``bound``, what surely is, gains its variables."""
        match pattern:
            case BGP():
                return self._triples(list(pattern.triples), bound)
            case Lateral():
                left = self.pattern(pattern.left, bound)
                return left + self.pattern(pattern.right, bound)
            case LeftJoin() if pattern.left == UNIT or isinstance(pattern.right, BGP):
                left = self.pattern(pattern.left, bound)
                return [*left, _optional(self.pattern(pattern.right, set(bound)))]
            case AntiJoin():
                left = self.pattern(pattern.left, bound)
                return [*left, _without(self.pattern(pattern.right, set(bound)))]
            case Union():
                return [self._union(pattern.branches, bound)]
            case Filter():
                inner = self.pattern(pattern.pattern, bound)
                return [*inner, _filter(conditions.judge(pattern.condition, self.slot))]
            case Extend():
                inner = self.pattern(pattern.pattern, bound)
                extended = self._extend(self.slot(pattern.variable), pattern.expression)
                bound.add(pattern.variable)
                return [*inner, extended]
            case Project():
                return [self._project(pattern, bound)]
        raise Unsure

    def _union(self, branches: Iterable[Pattern], bound: set[Variable]) -> Step:
        sides = [(branch, set(bound)) for branch in branches]
        steps = [self.pattern(branch, side) for branch, side in sides]
        bound |= set.intersection(*(side for _, side in sides))
        return _union(steps)

    def _project(self, pattern: Project, bound: set[Variable]) -> Step:
        hidden = variables(pattern.pattern) - set(pattern.variables)
        if hidden & bound:
            raise Unsure
        inner = self.pattern(pattern.pattern, set(bound))
        bound |= set(pattern.variables)
        return _distinct(inner, [self.slot(variable) for variable in hidden])

    # Triples ----------------------------------------------------------------------------------

    def _triples(self, triples: list[TriplePattern], bound: set[Variable]) -> list[Step]:
        steps = []
        while triples:
            effort, best = min(
                ((_effort(triple, bound), triple) for triple in triples), key=lambda pair: pair[0]
            )
            if effort == _UNBOUNDED:
                raise Unsure
            triples.remove(best)
            steps.append(self._triple(best, bound))
            bound |= variables(best)
        return steps

    def _triple(self, triple: TriplePattern, bound: set[Variable]) -> Step:
        subject = self.slot(triple.subject)
        if isinstance(triple.object, TripleTerm):
            fact = triple.object
            parts = (self.slot(fact.subject), self.slot(fact.predicate), self.slot(fact.object))
            known = variables(fact) <= bound
            return _reifier(subject, parts) if known else _reified(subject, parts)
        object_ = self.slot(triple.object)
        is_known = variables(triple.object) <= bound
        match triple.predicate:
            case Alternative(predicates=predicates):
                slots = [self.slot(predicate) for predicate in predicates]
                return _union([[_match(subject, slot, object_)] for slot in slots])
            case OneOrMore(predicate=predicate):
                slot = self.slot(predicate)
                if variables(triple.subject) <= bound:
                    return _closure(subject, slot, object_, forward=True)
                return _closure(object_, slot, subject, forward=False)
            case NamedNode() if variables(triple.subject) <= bound:
                slot = self.slot(triple.predicate)
                if is_known:
                    return _exists(subject, slot, object_)
                return _objects(subject, slot, object_)
            case Variable() if triple.predicate not in bound:
                return _any_fact(subject, self.slot(triple.predicate), object_, self._facts)
        return _match(subject, self.slot(triple.predicate), object_)

    # Conditions and values --------------------------------------------------------------------

    def _extend(self, slot: int, expression: Expression) -> Step:
        match expression:
            case Variable() | NamedNode() | Literal() | Hole():
                return _bind(slot, self.slot(expression))
            case Call(function="COALESCE", arguments=(Variable() as first, NamedNode() as second)):
                return _bind(slot, self.slot(first), self.slot(second))
            case Call(
                function="STRAFTER",
                arguments=(
                    Call(function="STR", arguments=(Variable() as node,)),
                    Literal() as start,
                ),
            ):
                return _rest(slot, self.slot(node), start.value)
        raise Unsure


_UNBOUNDED = 9


def _effort(triple: TriplePattern, bound: set[Variable]) -> int:
    """How much a triple may read where some variables are bound."""

    def known(term: Term | TripleTerm) -> bool:
        return variables(term) <= bound

    if isinstance(triple.object, TripleTerm):
        return 1 if known(triple.object) else 3 if known(triple.subject) else _UNBOUNDED
    if known(triple.subject):
        if isinstance(triple.predicate, OneOrMore):
            return 6
        return 0 if known(triple.object) else 2 if not variables(triple.predicate) else 4
    if not known(triple.object) or triple.predicate == vocab.TYPE:
        return _UNBOUNDED
    return 7 if isinstance(triple.predicate, OneOrMore) else 5


# Steps ------------------------------------------------------------------------------------------


def _chained(steps: Iterable[Step], solutions: list[Solution], reads: _Reads) -> list[Solution]:
    for step in steps:
        if not solutions:
            break
        solutions = step(solutions, reads)
    return solutions


def _exists(subject: int, predicate: int, object_: int) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        return [s for s in solutions if reads(s[subject], s[predicate], s[object_])]

    return step


def _objects(subject: int, predicate: int, object_: int) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        for solution in solutions:
            for quad in reads(solution[subject], solution[predicate], solution[object_]):
                copy = solution.copy()
                copy[object_] = quad.object
                found.append(copy)
        return found

    return step


def _match(subject: int, predicate: int, object_: int) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        for solution in solutions:
            for quad in reads(solution[subject], solution[predicate], solution[object_]):
                if subject == object_ and quad.subject != quad.object:
                    continue
                copy = solution.copy()
                copy[subject], copy[predicate] = quad.subject, quad.predicate
                copy[object_] = quad.object
                found.append(copy)
        return found

    return step


def _any_fact(subject: int, predicate: int, object_: int, facts: str) -> Step:
    """A predicate that is asked for is one of a proposition."""

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        for solution in solutions:
            for quad in reads(solution[subject], solution[predicate], solution[object_]):
                node = quad.predicate
                if not node.value.startswith(facts):
                    continue
                if subject == object_ and quad.subject != quad.object:
                    continue
                copy = solution.copy()
                copy[subject], copy[predicate], copy[object_] = quad.subject, node, quad.object
                found.append(copy)
        return found

    return step


def _reifier(link: int, parts: tuple[int, int, int]) -> Step:
    """The link of a known fact."""
    subject, predicate, object_ = parts

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        for solution in solutions:
            fact = Triple(
                cast(NamedNode, solution[subject]),
                cast(NamedNode, solution[predicate]),
                cast(NamedNode, solution[object_]),
            )
            for quad in reads(solution[link], vocab.REIFIES, fact):
                copy = solution.copy()
                copy[link] = quad.subject
                found.append(copy)
        return found

    return step


def _reified(link: int, parts: tuple[int, int, int]) -> Step:
    """The fact of a known link."""

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        for solution in solutions:
            for quad in reads(solution[link], vocab.REIFIES, None):
                copy = solution.copy()
                if _unify(copy, parts, cast(Triple, quad.object)):
                    found.append(copy)
        return found

    return step


def _unify(solution: Solution, parts: tuple[int, int, int], fact: Triple) -> bool:
    for slot, term in zip(parts, (fact.subject, fact.predicate, fact.object), strict=True):
        if solution[slot] is None:
            solution[slot] = term
        elif solution[slot] != term:
            return False
    return True


def _closure(near: int, predicate: int, far: int, forward: bool) -> Step:
    """``p+`` from one end: every node that some hops reach, once."""

    def reached(start: Cell, along: Cell, reads: _Reads, known: dict[Cell, list[Cell]]) -> _Nodes:
        found: _Nodes = {}
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node not in known:
                if forward:
                    known[node] = [quad.object for quad in reads(node, along, None)]
                else:
                    known[node] = [quad.subject for quad in reads(None, along, node)]
            for end in known[node]:
                if end not in found:
                    found[end] = None
                    waiting.append(end)
        # Known ways are walked without a look, and still make solutions.
        reads.count(len(found))
        return found

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        known: dict[Cell, list[Cell]] = {}
        for solution in solutions:
            for node in reached(solution[near], solution[predicate], reads, known):
                if solution[far] is None or solution[far] == node:
                    copy = solution.copy()
                    copy[far] = node
                    found.append(copy)
        return found

    return step


def _optional(inner: list[Step]) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        for solution in solutions:
            found += _chained(inner, [solution], reads) or [solution]
        return found

    return step


def _without(inner: list[Step]) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        return [s for s in solutions if not _chained(inner, [s], reads)]

    return step


def _union(branches: list[list[Step]]) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        return [s for branch in branches for s in _chained(branch, solutions, reads)]

    return step


def _distinct(inner: list[Step], hidden: list[int]) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found: dict[tuple[Cell, ...], Solution] = {}
        for solution in _chained(inner, solutions, reads):
            for slot in hidden:
                solution[slot] = None
            found[tuple(solution)] = solution
        return list(found.values())

    return step


def _filter(test: Test) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        return [solution for solution in solutions if test(solution)]

    return step


def _bind(slot: int, *sources: int) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        for solution in solutions:
            copy = solution.copy()
            cells = (solution[source] for source in sources)
            copy[slot] = next((cell for cell in cells if cell is not None), None)
            found.append(copy)
        return found

    return step


def _rest(slot: int, node: int, start: str) -> Step:
    """The name in the IRI of a type or a predicate."""

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        found = []
        for solution in solutions:
            copy, cell = solution.copy(), solution[node]
            if cell is not None:
                copy[slot] = Literal(cast(NamedNode, cell).value.partition(start)[2])
            found.append(copy)
        return found

    return step
