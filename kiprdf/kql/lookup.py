"""A pattern read from the index, from the elements that it names (docs/decisions/041).

The engine takes longer to read a query than to find some dozens of triples. So what begins at a
named element is first looked up: part after part of what is meant, each triple a read from an
index, all solutions at a time. A lookup that grows ends, and the query runs as SPARQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple, Variable

from kiprdf.kql.clauses import contains_one
from kiprdf.kql.comparisons import FALSE, MOST_OPTIONS, OPERATORS, TRUE
from kiprdf.kql.optimize.push_filters import NAMESPACES
from kiprdf.kql.reader import fact_field
from kiprdf.kql.scopes import PREDICATE_NAME, Values
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import ConceptName, Iris
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Alternative,
    AntiJoin,
    Bindings,
    Call,
    Condition,
    Count,
    Expression,
    Extend,
    Filter,
    Group,
    Hole,
    HopRange,
    Hops,
    Infix,
    Lateral,
    LeftJoin,
    Negation,
    Pattern,
    Term,
    TriplePattern,
    TripleTerm,
    Union,
    certain_variables,
    variables,
)
from kiprdf.store import Store
from kiprdf.store.base import Cell, Row, Statement

MOST_READS = 1_000
"""Triples and reads of one lookup; beyond them the engine is as fast."""

Solution: TypeAlias = list[Cell]
Step: TypeAlias = "Callable[[list[Solution], _Reads], list[Solution]]"
"""The solutions that some solutions have in a pattern, which sees them."""
Read: TypeAlias = "Callable[[Solution, _Reads], Cell]"
"""A term in a solution."""
Check: TypeAlias = "Callable[[Solution, _Reads], bool]"


class Fallback(Exception):
    """The engine must answer: it alone can tell, or the lookup has grown too large."""


@dataclass(frozen=True, slots=True)
class LookupPlan:
    """A pattern as steps.

    A solution is a list: constants from ``start`` and ``holes``, and what the steps bind.
    ``columns`` are read from solutions that differ in the ``distinct`` slots.
    """

    start: Solution
    holes: list[tuple[int, Hole]]
    steps: list[Step]
    columns: list[Read]
    distinct: list[int]
    counts: list[tuple[int | None, bool]]

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """The distinct rows; None when the engine must answer."""
        start = self.start.copy()
        for slot, hole in self.holes:
            start[slot] = bindings[hole]
        reads = _Reads(store)
        try:
            solutions = _chained(self.steps, [start], reads)
            distinct = {tuple([s[slot] for slot in self.distinct]): s for s in solutions}
            rows = [
                (s, tuple([read(s, reads) for read in self.columns])) for s in distinct.values()
            ]
        except Fallback:
            return None
        return self._counted(rows) if self.counts else [row for _, row in rows]

    def _counted(self, rows: list[tuple[Solution, Row]]) -> list[Row]:
        groups: dict[Row, list[Solution]] = {} if self.columns else {(): []}
        for solution, key in rows:
            groups.setdefault(key, []).append(solution)
        return [
            (*key, *(_count(group, slot, distinct) for slot, distinct in self.counts))
            for key, group in groups.items()
        ]


def _count(group: list[Solution], slot: int | None, distinct: bool) -> Literal:
    if slot is None:
        return Literal(len(group))
    cells = [solution[slot] for solution in group if solution[slot] is not None]
    return Literal(len(set(cells)) if distinct else len(cells))


def plan_lookup(
    pattern: Pattern,
    columns: Iterable[Variable],
    distinct: Iterable[Variable],
    counts: Iterable[Count],
    values: Values,
    iris: Iris,
) -> LookupPlan | None:
    """A pattern as a lookup; None where it begins at no named element, or needs the engine."""
    planner = _Planner(values, iris)
    try:
        steps = planner.pattern(pattern, set())
        reads = list(map(planner.read, columns))
    except Fallback:
        return None
    counted = [
        (None if count.variable is None else planner.slot(count.variable), count.distinct)
        for count in counts
    ]
    slots = list(map(planner.slot, distinct))
    return LookupPlan(planner.start, planner.holes, steps, reads, slots, counted)


class _Reads:
    """What one lookup reads."""

    __slots__ = ("_left", "_lookup")

    def __init__(self, store: Store) -> None:
        self._lookup = store.lookup
        self._left = MOST_READS

    def __call__(self, subject: Cell, predicate: Cell, object: Cell) -> list[Statement]:
        statements = self._lookup(subject, predicate, object, self._left)
        self.count(len(statements) + 1)
        return statements

    def count(self, number: int) -> None:
        """Count solutions and reads."""
        self._left -= number
        if self._left <= 0:
            raise Fallback


class _Planner:
    """``start`` holds the constant of each slot, None for those of variables and holes."""

    def __init__(self, values: Values, iris: Iris) -> None:
        self._values = values
        self._iris = iris
        self._slots: dict[Term, int] = {}
        self.start: Solution = []
        self.holes: list[tuple[int, Hole]] = []

    def slot(self, term: Term) -> int:
        if term not in self._slots:
            self._slots[term] = len(self.start)
            if isinstance(term, Hole):
                self.holes.append((len(self.start), term))
            self.start.append(None if isinstance(term, Variable | Hole) else term)
        return self._slots[term]

    def pattern(self, pattern: Pattern, bound: set[Variable]) -> list[Step]:
        """The steps of a pattern; ``bound``, what surely is, gains its variables."""
        match pattern:
            case BGP() | Hops():
                return self._group(Group(UNIT, (pattern,)), bound)
            case Group():
                return self._group(pattern, bound)
            case Lateral():
                left = self.pattern(pattern.left, bound)
                return left + self.pattern(pattern.right, bound)
            case LeftJoin() if pattern.left == UNIT:
                return [_optional(self.pattern(pattern.right, set(bound)))]
            case AntiJoin():
                left = self.pattern(pattern.left, bound)
                return [*left, _without(self.pattern(pattern.right, set(bound)))]
            case Union():
                steps = [self.pattern(branch, set(bound)) for branch in pattern.branches]
                bound |= certain_variables(pattern)
                return [_union(steps)]
            case Filter():
                inner = self.pattern(pattern.pattern, bound)
                return [*inner, _filter(self._check(pattern.condition))]
            case Extend():
                inner = self.pattern(pattern.pattern, bound)
                return [*inner, self._extend(pattern.variable, pattern.expression, bound)]
        raise Fallback

    def _extend(self, variable: Variable, value: Expression, bound: set[Variable]) -> Step:
        bound.add(variable)
        terms = value.arguments if isinstance(value, Call) else (value,)
        return _bind(self.slot(variable), [self.slot(cast(Term, term)) for term in terms])

    def _group(self, group: Group, bound: set[Variable]) -> list[Step]:
        """The parts, each when it reads least; conditions as soon as they can be judged."""
        steps = self.pattern(group.before, bound) if group.before != UNIT else []
        parts = [part for whole in group.parts for part in _split(whole)]
        conditions = list(group.conditions)
        late = variables(group.parts) | {variable for variable, _ in group.constants}
        while parts:
            effort, best = min(((_effort(p, bound), p) for p in parts), key=lambda pair: pair[0])
            if effort == _UNBOUNDED:
                raise Fallback
            parts.remove(best)
            steps += self._part(best, bound)
            late -= bound | (variables(best) if isinstance(best, Hops) else set())
            for condition in [c for c in conditions if not self._mentioned(c) & late]:
                conditions.remove(condition)
                steps.append(_filter(self._check(condition)))
        for variable, term in group.constants:
            steps.append(self._extend(variable, term, bound))
        return steps + [_filter(self._check(condition)) for condition in conditions]

    def _mentioned(self, condition: Expression) -> set[Variable]:
        names = variables(condition)
        return names | {self._values[name].node for name in names if name in self._values}

    def _part(self, part: Pattern | TriplePattern, bound: set[Variable]) -> list[Step]:
        if isinstance(part, TriplePattern):
            step = self._triple(part, bound)
            bound |= part.names
            return [step]
        if isinstance(part, Hops):
            forward = variables(part.subject) <= bound
            bound |= variables((part.subject, part.object))
            return [self._hops(part, forward)]
        return self.pattern(part, bound)

    # Triples and hops -------------------------------------------------------------------------

    def _triple(self, triple: TriplePattern, bound: set[Variable]) -> Step:
        subject = self.slot(triple.subject)
        if isinstance(triple.object, TripleTerm):
            fact = triple.object
            parts = (self.slot(fact.subject), self.slot(fact.predicate), self.slot(fact.object))
            is_bound = variables(fact) <= bound
            return _reifier(subject, parts) if is_bound else _reified(subject, parts)
        object_ = self.slot(triple.object)
        if isinstance(triple.predicate, Alternative):
            slots = [self.slot(predicate) for predicate in triple.predicate.predicates]
            return _union([[_match(subject, slot, object_)] for slot in slots])
        assert isinstance(triple.predicate, NamedNode | Variable), triple
        is_open = isinstance(triple.predicate, Variable) and triple.predicate not in bound
        facts = self._iris.predicates if is_open else ""
        return _match(subject, self.slot(triple.predicate), object_, facts)

    def _hops(self, hops: Hops, forward: bool) -> Step:
        ends = self.slot(hops.subject), self.slot(hops.object)
        near, far = ends if forward else ends[::-1]
        link = None if hops.link is None else self.slot(hops.link)
        return _union([[_pairs(near, hop, far, forward, link)] for hop in hops.alternatives])

    # Conditions and values --------------------------------------------------------------------

    def read(self, term: Term) -> Read:
        """A term in a solution; a value is read from its element."""
        value = self._values.get(term) if isinstance(term, Variable) else None
        if value is None:
            slot = self.slot(term)
            return lambda solution, reads: solution[slot]
        node, field, key = self.slot(value.node), value.field, value.key
        if field in NAMESPACES:
            return _read_object(node, NamedNode(NAMESPACES[field] + str(key)))
        if field in ("subject", "predicate", "object"):
            return _read_fact(node, field, self._iris)
        return _read_name(node, field, self._iris)

    def _check(self, condition: Expression) -> Check:
        match condition:
            case Literal() if condition in (TRUE, FALSE):
                result = condition == TRUE
                return lambda solution, reads: result
            case Negation():
                inner = self._check(condition.operand)
                return lambda solution, reads: not inner(solution, reads)
            case Infix(operator="&&"):
                parts = list(map(self._check, condition.operands))
                return lambda solution, reads: all(part(solution, reads) for part in parts)
            case Infix(operator="||"):
                parts = list(map(self._check, condition.operands))
                return lambda solution, reads: any(part(solution, reads) for part in parts)
            case Condition():
                return self._test(condition)
            case Call(function="BOUND", arguments=(Variable() as variable,)):
                slot = self.slot(variable)
                return lambda solution, reads: solution[slot] is not None
            case Call(function="sameTerm", arguments=(left, right)):
                one, other = self.slot(cast(Term, left)), self.slot(cast(Term, right))
                return lambda solution, reads: (
                    solution[one] is not None and solution[one] == solution[other]
                )
        raise Fallback

    def _test(self, test: Condition) -> Check:
        compare = OPERATORS[test.name].python
        if compare is None or len(test.operands) > MOST_OPTIONS + 1:
            raise Fallback
        operands = list(map(self.read, test.operands))

        def check(solution: Solution, reads: _Reads) -> bool:
            result = compare(*[read(solution, reads) for read in operands])
            if result is None:
                raise Fallback
            return result

        return check


def _split(part: Pattern) -> Sequence[Pattern | TriplePattern]:
    return part.triples if isinstance(part, BGP) else (part,)


_UNBOUNDED = 9


def _effort(part: Pattern | TriplePattern, bound: set[Variable]) -> int:
    """How much a part may read where some variables are bound."""
    if isinstance(part, Union):
        return max(min(_effort(p, bound) for p in _split(branch)) for branch in part.branches)
    assert isinstance(part, TriplePattern | Hops), part
    has_subject, has_object = (variables(end) <= bound for end in (part.subject, part.object))
    if isinstance(part, Hops):
        return 6 if has_subject else 7 if has_object else _UNBOUNDED
    if isinstance(part.object, TripleTerm):
        return 1 if has_object else 3 if has_subject else _UNBOUNDED
    if has_subject:
        return 0 if has_object else 2 if not variables(part.predicate) else 4
    return 5 if has_object and part.predicate != vocab.TYPE else _UNBOUNDED


# Values -----------------------------------------------------------------------------------------


def _read_object(node: int, predicate: NamedNode) -> Read:
    def read(solution: Solution, reads: _Reads) -> Cell:
        subject = solution[node]
        statements = () if subject is None else reads(subject, predicate, None)
        return statements[0].object if statements else None

    return read


def _read_name(node: int, field: str, iris: Iris) -> Read:
    """What the IRI of an element says."""

    def read(solution: Solution, reads: _Reads) -> Cell:
        cell = cast(NamedNode | None, solution[node])
        if cell is None:
            return None
        if field == PREDICATE_NAME:
            return Literal(cell.value[len(iris.predicates) :])
        name = iris.name(cell.value)
        if field == "id":
            return None if name is None else Literal(name.id)
        return Literal(getattr(name, field)) if isinstance(name, ConceptName) else None

    return read


def _read_fact(node: int, field: str, iris: Iris) -> Read:
    def read(solution: Solution, reads: _Reads) -> Cell:
        link = solution[node]
        statements = () if link is None else reads(link, vocab.REIFIES, None)
        if not statements:
            return None
        return Literal(fact_field(cast(Triple, statements[0].object), field, iris))

    return read


# Steps ------------------------------------------------------------------------------------------


def _chained(steps: Iterable[Step], solutions: list[Solution], reads: _Reads) -> list[Solution]:
    for step in steps:
        if not solutions:
            break
        solutions = step(solutions, reads)
    return solutions


def _match(subject: int, predicate: int, object_: int, facts: str = "") -> Step:
    """The triples that fit; a predicate that is not bound is one of a proposition."""

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        matches = []
        for solution in solutions:
            for quad in reads(solution[subject], solution[predicate], solution[object_]):
                if facts and not quad.predicate.value.startswith(facts):
                    continue
                if subject == object_ and quad.subject != quad.object:
                    continue
                copy = solution.copy()
                copy[subject], copy[object_] = quad.subject, quad.object
                copy[predicate] = quad.predicate
                matches.append(copy)
        return matches

    return step


def _reifier(link: int, parts: tuple[int, int, int]) -> Step:
    """The link of a fact that is bound."""

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        matches = []
        for solution in solutions:
            fact = Triple(*(cast(NamedNode, solution[slot]) for slot in parts))
            for quad in reads(solution[link], vocab.REIFIES, fact):
                copy = solution.copy()
                copy[link] = quad.subject
                matches.append(copy)
        return matches

    return step


def _reified(link: int, parts: tuple[int, int, int]) -> Step:
    """The fact of a link that is bound."""

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        matches = []
        for solution in solutions:
            for quad in reads(solution[link], vocab.REIFIES, None):
                copy, fact = solution.copy(), cast(Triple, quad.object)
                terms = (fact.subject, fact.predicate, fact.object)
                for slot, term in zip(parts, terms, strict=True):
                    if copy[slot] is None:
                        copy[slot] = term
                    elif copy[slot] != term:
                        break
                else:
                    matches.append(copy)
        return matches

    return step


def _pairs(near: int, hop: HopRange, far: int, forward: bool, link: int | None) -> Step:
    """The nodes within a hop range, each once, with the link of those one hop apart."""

    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        matches = []
        neighbours: dict[Cell, list[Cell]] = {}
        for solution in solutions:
            start = solution[near]
            for node in _within(start, hop, forward, reads, neighbours):
                if solution[far] is not None and solution[far] != node:
                    continue
                copy = solution.copy()
                copy[far] = node
                if link is not None:
                    subject, object_ = (start, node) if forward else (node, start)
                    is_direct = contains_one(hop) and node in neighbours.get(start, ())
                    copy[link] = _link(subject, hop, object_, reads) if is_direct else None
                matches.append(copy)
        return matches

    return step


def _link(subject: Cell, hop: HopRange, object_: Cell, reads: _Reads) -> Cell:
    fact = Triple(cast(NamedNode, subject), hop.predicate, cast(NamedNode, object_))
    statements = reads(None, vocab.REIFIES, fact)
    return statements[0].subject if statements else None


def _within(
    start: Cell, hop: HopRange, forward: bool, reads: _Reads, neighbours: dict[Cell, list[Cell]]
) -> dict[Cell, None]:
    """The nodes that ``minimum`` to ``maximum`` hops lead to, level by level."""
    reached: dict[Cell, None] = {}
    level = {start: None}
    number = 0
    if hop.minimum == 0 and not any(reads(start, p, None) for p in (vocab.TYPE, vocab.REIFIES)):
        level = {}
    while level and (hop.maximum is None or number <= hop.maximum):
        if number >= hop.minimum:
            # Without a maximum, what was reached needs no second visit.
            fresh = [node for node in level if hop.maximum is not None or node not in reached]
            level = dict.fromkeys(fresh)
            reached.update(level)
        if number == hop.maximum:
            break
        for node in level:
            if node not in neighbours:
                if forward:
                    neighbours[node] = [q.object for q in reads(node, hop.predicate, None)]
                else:
                    neighbours[node] = [q.subject for q in reads(None, hop.predicate, node)]
        level = dict.fromkeys(end for node in level for end in neighbours[node])
        reads.count(len(level))
        number += 1
    # Nodes found without a read make solutions too.
    reads.count(len(reached))
    return reached


def _optional(inner: list[Step]) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        return [match for s in solutions for match in _chained(inner, [s], reads) or [s]]

    return step


def _without(inner: list[Step]) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        return [s for s in solutions if not _chained(inner, [s], reads)]

    return step


def _union(branches: list[list[Step]]) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        return [s for branch in branches for s in _chained(branch, solutions, reads)]

    return step


def _filter(check: Check) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        return [solution for solution in solutions if check(solution, reads)]

    return step


def _bind(slot: int, sources: list[int]) -> Step:
    def step(solutions: list[Solution], reads: _Reads) -> list[Solution]:
        extended = []
        for solution in solutions:
            copy = solution.copy()
            cells = (solution[source] for source in sources)
            copy[slot] = next((cell for cell in cells if cell is not None), None)
            extended.append(copy)
        return extended

    return step
