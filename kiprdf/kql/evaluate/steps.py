"""Reads a pattern from the index, starting at the elements that it names (docs/decisions/041).

The engine takes longer to parse a query than to find some dozens of triples. So a pattern that
begins at a named element is first looked up, part by part, with a read of the index for each
triple. A lookup that grows too large ends, and the query runs as SPARQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from operator import itemgetter
from typing import Any, TypeAlias, cast

from pyoxigraph import Literal, NamedNode, Triple, Variable

from kiprdf.dataclasses import dataclass
from kiprdf.kql.clauses import contains_one
from kiprdf.kql.comparisons import FALSE, FUNCTIONS, MOST_OPTIONS, OPERATORS, TESTS, TRUE
from kiprdf.kql.evaluate.reads import Fallback, Reads
from kiprdf.kql.scopes import Values, read_by
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.rdf.readings import read as read_value
from kiprdf.sparql import algebra
from kiprdf.sparql.algebra import (
    UNIT,
    Bindings,
    Call,
    Count,
    Expression,
    Group,
    Hole,
    HopRange,
    Hops,
    Pattern,
    Term,
    TriplePattern,
    TripleTerm,
    certain_variables,
    steps_of,
    variables,
)
from kiprdf.store import Store
from kiprdf.store.base import Cell, Row

MOST_READS = 64
"""Triples and reads of one lookup; beyond them the engine is faster (docs/decisions/156)."""
MOST_VALUES = 10
"""Terms of an ``IN`` that are looked up: each is a read, and so is each element that has it."""
MOST_REMEMBERED = 64
"""Starts of a plan of which it is known that their lookup is too large."""


Solution: TypeAlias = list[Cell]
Step: TypeAlias = Callable[[Solution, Reads], Iterable[Solution]]
"""The solutions of a pattern that agree with a solution."""
Read: TypeAlias = Callable[[Solution, Reads], Cell]
"""A term in a solution."""
Check: TypeAlias = Callable[[Solution, Reads], bool]


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
    fallen_back: dict[tuple[object, ...], list[TriplePattern]] = field(default_factory=dict)
    """The commits and starts whose lookups the engine had to take over, with what was rare."""

    def rows(self, store: Store, bindings: Bindings) -> list[Row] | None:
        """The distinct rows; None when the engine must answer."""
        start = self.filled(bindings)
        if self.fallen_back and (store.commit(), *start) in self.fallen_back:
            return None
        reads = Reads(store, MOST_READS)
        try:
            solved = self.solve([start], reads)
        except Fallback:
            if len(self.fallen_back) >= MOST_REMEMBERED:
                self.fallen_back.clear()
            self.fallen_back[(store.commit(), *start)] = reads.rare
            return None
        return self.result(solved)

    def rare(self, store: Store, bindings: Bindings) -> list[TriplePattern]:
        """The starts of groups of which a lookup that ended has found all matches."""
        if not self.fallen_back:
            return []
        return self.fallen_back.get((store.commit(), *self.filled(bindings)), [])

    def result(self, solved: Mapping[Row, tuple[Solution, Row]]) -> list[Row]:
        """The rows of distinct solutions, which are counted where the plan says so."""
        rows = list(solved.values())
        return self._counted(rows) if self.counts else [row for _, row in rows]

    def filled(self, bindings: Bindings) -> Solution:
        """The solution that the lookup starts from, with terms for its holes."""
        start = self.start.copy()
        for slot, hole in self.holes:
            start[slot] = bindings[hole]
        return start

    def solve(self, starts: list[Solution], reads: Reads) -> dict[Row, tuple[Solution, Row]]:
        """The solutions that agree with one of some, with their rows, by what makes them distinct.

        May raise ``Fallback``.
        """
        solutions = _run(self.steps, starts, reads)
        distinct = {tuple([s[slot] for slot in self.distinct]): s for s in solutions}
        columns = self.columns

        def row(s: Solution, reads: Reads) -> Iterable[Row]:
            return [tuple([read(s, reads) for read in columns])]

        rows = reads.each(row, distinct.values())
        pairs = zip(distinct.items(), rows, strict=True)
        return {key: (s, row) for (key, s), shown in pairs for row in shown}

    def _counted(self, rows: list[tuple[Solution, Row]]) -> list[Row]:
        groups: dict[Row, list[Solution]] = {} if self.columns else {(): []}
        for solution, key in rows:
            groups.setdefault(key, []).append(solution)
        return [
            (*key, *[_count(group, slot, distinct) for slot, distinct in self.counts])
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
    given: Iterable[Variable] = (),
    nullable: Iterable[Variable] = (),
    is_complete: bool = False,
) -> LookupPlan | None:
    """A pattern as a lookup; None where it begins at no named element, or needs the engine.

    The first slots are those of the ``given`` variables, which are bound when the lookup starts,
    and of ``nullable`` ones, which may be. One that ``is_complete`` may begin anywhere: there is
    one for each pattern without a search for values, and it needs no engine.
    """
    planner = _Planner(values, iris, is_complete)
    bound = set(given)
    for variable in (*given, *nullable):
        planner.slot(variable)
    try:
        steps = planner.pattern(pattern, bound)
        reads = list(map(planner.read, columns))
    except Fallback:
        return None
    counted = [
        (None if count.variable is None else planner.slot(count.variable), count.distinct)
        for count in counts
    ]
    slots = list(map(planner.slot, distinct))
    return LookupPlan(planner.start, planner.holes, steps, reads, slots, counted)


class _Planner:
    """``start`` holds the constant of each slot, None for those of variables and holes."""

    def __init__(self, values: Values, iris: Iris, is_complete: bool) -> None:
        self._values = values
        self._iris = iris
        self._is_complete = is_complete
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
        """The steps of a pattern; its variables join ``bound``, those that are never unbound."""
        match pattern:
            case algebra.BGP() | Hops():
                return self._group(Group(UNIT, (pattern,)), bound)
            case Group():
                return self._group(pattern, bound)
            case algebra.Lateral():
                left = self.pattern(pattern.left, bound)
                return left + self.pattern(pattern.right, bound)
            case algebra.LeftJoin() if pattern.left == UNIT:
                optional = self.pattern(pattern.right, set(bound))
                return [lambda s, reads: _run(optional, [s], reads) or [s]]
            case algebra.AntiJoin():
                left = self.pattern(pattern.left, bound)
                right = self.pattern(pattern.right, set(bound))
                return [*left, lambda s, reads: [] if _run(right, [s], reads) else [s]]
            case algebra.Union():
                branches = [self.pattern(branch, set(bound)) for branch in pattern.branches]
                bound |= certain_variables(pattern)
                return [_union(branches)]
            case algebra.Filter():
                return [*self.pattern(pattern.pattern, bound), self._filter(pattern.condition)]
            case algebra.Extend():
                inner = self.pattern(pattern.pattern, bound)
                return [*inner, self._extend(pattern.variable, pattern.expression, bound)]
        raise Fallback

    def _extend(self, variable: Variable, value: Expression, bound: set[Variable]) -> Step:
        """A variable for a term, or for the first term of a COALESCE that is bound."""
        bound.add(variable)
        terms = value.arguments if isinstance(value, Call) else (value,)
        slot, sources = self.slot(variable), [self.slot(cast(Term, term)) for term in terms]

        def step(s: Solution, reads: Reads) -> Iterable[Solution]:
            cells = (s[source] for source in sources)
            return [_with(s, (slot, next((cell for cell in cells if cell is not None), None)))]

        return step

    def _group(self, group: Group, bound: set[Variable]) -> list[Step]:
        """The parts, each when it reads least; conditions as soon as they can be evaluated."""
        steps = self.pattern(group.before, bound) if group.before != UNIT else []
        parts = [part for whole in group.parts for part in _split(whole)]
        starts = {start.triple: start.condition for start in group.starts}
        parts += starts
        first = {start.triple for start in group.starts if start.first}
        conditions = list(group.conditions)
        late = variables(group.parts) | {variable for variable, _ in group.constants}
        while parts:
            efforts = ((0 if p in first else _effort(p, bound), p) for p in parts)
            effort, best = min(efforts, key=lambda pair: pair[0])
            if effort >= _UNBOUNDED and not self._is_complete:
                raise Fallback
            parts.remove(best)
            if isinstance(best, TriplePattern) and isinstance(best.object, TripleTerm):
                # A link has its fact.
                parts = [part for part in parts if part != best.object.asserted]
            if best in starts:
                # Either says what the other says.
                if best.names <= bound:
                    continue
                conditions.remove(starts[best])
            steps += self._part(best, bound)
            late -= bound | (variables(best) if isinstance(best, Hops) else set())
            for condition in [c for c in conditions if not read_by(c, self._values) & late]:
                conditions.remove(condition)
                steps.append(self._filter(condition))
        for variable, term in group.constants:
            steps.append(self._extend(variable, term, bound))
        return steps + list(map(self._filter, conditions))

    def _part(self, part: Pattern | TriplePattern, bound: set[Variable]) -> list[Step]:
        if isinstance(part, TriplePattern):
            step = self._triple(part, bound)
            bound |= part.names
            return [step]
        if isinstance(part, Hops):
            forward = variables(part.subject) <= bound
            is_free = not forward and not variables(part.object) <= bound
            bound |= variables((part.subject, part.object))
            hops = self._hops(part, forward or is_free)
            starts = [_starts(self.slot(part.subject), part.alternatives)] if is_free else []
            return [*starts, hops]
        return self.pattern(part, bound)

    # Triples and hops -------------------------------------------------------------------------

    def _triple(self, triple: TriplePattern, bound: set[Variable]) -> Step:
        subject = self.slot(triple.subject)
        if isinstance(triple.object, TripleTerm):
            fact = triple.object
            parts = (self.slot(fact.subject), self.slot(fact.predicate), self.slot(fact.object))
            return _reifier(subject, parts, variables(fact) <= bound)
        if isinstance(triple.object, algebra.OneOf) and triple.predicate == vocab.TYPE:
            return _of_types(subject, cast(tuple[NamedNode, ...], triple.object.terms))
        if isinstance(triple.object, algebra.OneOf):
            return self._one_of(subject, triple, triple.object)
        object_ = self.slot(triple.object)
        if isinstance(triple.predicate, algebra.Alternative):
            branches = []
            for predicate, forward in triple.predicate.steps:
                ends = (subject, object_) if forward else (object_, subject)
                branches.append([_match(ends[0], self.slot(predicate), ends[1])])
            return _union(branches)
        assert isinstance(triple.predicate, NamedNode | Variable), triple
        is_open = isinstance(triple.predicate, Variable) and triple.predicate not in bound
        facts = self._iris.predicates if is_open else ""
        return _match(subject, self.slot(triple.predicate), object_, facts)

    def _one_of(self, subject: int, triple: TriplePattern, values: algebra.OneOf) -> Step:
        if len(values.terms) + len(values.held) > MOST_VALUES:
            raise Fallback
        predicate = cast(NamedNode, triple.predicate)
        places = ((values.terms, None), (values.held, values.graph))
        slots = [(self.slot(term), graph) for terms, graph in places for term in terms]

        def step(s: Solution, reads: Reads) -> Iterable[Solution]:
            # An array may hold several of the values.
            elements: dict[Cell, None] = {}
            for slot, graph in slots:
                some = reads(s[subject], predicate, s[slot], graph)
                elements.update(dict.fromkeys([quad.subject for quad in some]))
            reads.start(triple, elements)
            return [_with(s, (subject, element)) for element in elements]

        return step

    def _hops(self, hops: Hops, forward: bool) -> Step:
        ends = self.slot(hops.subject), self.slot(hops.object)
        near, far = ends if forward else ends[::-1]
        link = None if hops.link is None else self.slot(hops.link)
        return _union([[_pairs(near, hop, far, forward, link)] for hop in hops.alternatives])

    # Conditions and values --------------------------------------------------------------------

    def read(self, term: Term) -> Read:
        """A term in a solution; a value is read from its element."""
        value = self._values.get(term) if isinstance(term, Variable) else None
        slot = self.slot(term if value is None else value.node)
        if value is None:
            return lambda s, reads: s[slot]
        predicate = value.predicate
        if predicate is not None:
            return lambda s, reads: reads.value(s[slot], predicate)
        field = value.field
        return lambda s, reads: _name(cast(NamedNode | None, s[slot]), field, reads)

    def _filter(self, condition: Expression) -> Step:
        check = self._check(condition)
        return lambda s, reads: [s] if check(s, reads) else []

    def _check(self, condition: Expression) -> Check:
        match condition:
            case Literal() if condition in (TRUE, FALSE):
                result = condition == TRUE
                return lambda s, reads: result
            case algebra.Negation():
                inner = self._check(condition.operand)
                return lambda s, reads: not inner(s, reads)
            case algebra.Infix(operator="&&" | "||" as operator):
                parts = list(map(self._check, condition.operands))
                combine = all if operator == "&&" else any
                return lambda s, reads: combine(part(s, reads) for part in parts)
            case algebra.Condition():
                return self._compare(condition)
            case Call(function="BOUND", arguments=(Variable() as variable,)):
                slot = self.slot(variable)
                return lambda s, reads: s[slot] is not None
            case Call(function="sameTerm", arguments=(left, right)):
                one, other = self.slot(cast(Term, left)), self.slot(cast(Term, right))
                return lambda s, reads: s[one] is not None and s[one] == s[other]
        raise Fallback

    def _compare(self, condition: algebra.Condition) -> Check:
        if condition.name == "BELIEVED":
            slots = [self.slot(term) for term in condition.operands]
            return lambda s, reads: reads.is_believed(*[s[slot] for slot in slots])
        function = OPERATORS[condition.name].python
        if self._is_complete and function is None:
            function = TESTS[FUNCTIONS[condition.name]]
        if function is None or (not self._is_complete and _is_long(condition.operands[-1])):
            raise Fallback
        operands = list(map(self.read, condition.operands))
        return lambda s, reads: function(*[read(s, reads) for read in operands])


def _is_long(options: Term) -> bool:
    """Whether an operand is the long list of an IN."""
    is_list = isinstance(options, Literal) and options.datatype == vocab.JSON
    return is_list and len(read_value(cast(Literal, options))) > MOST_OPTIONS


def _split(part: Pattern) -> Sequence[Pattern | TriplePattern]:
    return part.triples if isinstance(part, algebra.BGP) else (part,)


_UNBOUNDED = 9
"""The least effort of a part of which nothing is bound."""


def _effort(part: Pattern | TriplePattern, bound: set[Variable]) -> int:
    """How much a part may read where some variables are bound."""
    if isinstance(part, algebra.Union):
        return max(min(_effort(p, bound) for p in _split(branch)) for branch in part.branches)
    assert isinstance(part, TriplePattern | Hops), part
    has_subject, has_object = (variables(end) <= bound for end in (part.subject, part.object))
    if isinstance(part, Hops):
        return 6 if has_subject else 7 if has_object else _UNBOUNDED + 3
    if isinstance(part.object, TripleTerm):
        return 1 if has_object else 3 if has_subject else _UNBOUNDED + 1
    if has_subject:
        return 0 if has_object else 2 if not variables(part.predicate) else 4
    if has_object and part.predicate != vocab.TYPE:
        return 5
    is_any = variables(part.predicate) or (part.predicate == vocab.TYPE and not has_object)
    return _UNBOUNDED + 2 if is_any else _UNBOUNDED


# Reading ------------------------------------------------------------------------------------------


def _run(steps: Iterable[Step], solutions: list[Solution], reads: Reads) -> list[Solution]:
    for step in steps:
        solutions = [match for matches in reads.each(step, solutions) for match in matches]
        if not solutions:
            break
    return solutions


def _with(solution: Solution, *cells: tuple[int, Cell]) -> Solution:
    copy = solution.copy()
    for slot, cell in cells:
        copy[slot] = cell
    return copy


def _name(node: NamedNode | None, field: str, reads: Reads) -> Cell:
    """A field that an IRI, or the fact of a link, says."""
    text = None if node is None else reads.reader.value(node, field, None)
    return None if text is None else Literal(cast(str, text))


def _union(branches: list[list[Step]]) -> Step:
    return lambda s, reads: [match for branch in branches for match in _run(branch, [s], reads)]


def _match(subject: int, predicate: int, object_: int, facts: str = "") -> Step:
    """The triples that fit; a predicate that is not bound is one of a proposition."""

    def step(s: Solution, reads: Reads) -> Iterable[Solution]:
        for quad in reads(s[subject], s[predicate], s[object_]):
            if facts and not quad.predicate.value.startswith(facts):
                continue
            if subject != object_ or quad.subject == quad.object:
                copy = s.copy()
                copy[subject], copy[object_] = quad.subject, quad.object
                copy[predicate] = quad.predicate
                yield copy

    return step


def _of_types(element: int, types: tuple[NamedNode, ...]) -> Step:
    """The elements of some types."""
    every = frozenset(types)

    def step(s: Solution, reads: Reads) -> Iterable[Solution]:
        if s[element] is not None:
            statements = reads(s[element], vocab.TYPE, None)
            return [s] if any(quad.object in every for quad in statements) else []
        each = reads.each(lambda type, reads: reads(None, vocab.TYPE, type), types)
        return [_with(s, (element, q.subject)) for statements in each for q in statements]

    return step


def _reifier(link: int, parts: tuple[int, int, int], is_bound: bool) -> Step:
    """The link of a fact that is bound, or the fact of a link."""
    subject, predicate, object_ = parts
    if is_bound:

        def links(s: Solution, reads: Reads) -> Iterable[Solution]:
            fact = Triple(*cast(Any, (s[subject], s[predicate], s[object_])))
            return [_with(s, (link, q.subject)) for q in reads(s[link], vocab.REIFIES, fact)]

        return links
    ends = itemgetter(*parts)

    def step(s: Solution, reads: Reads) -> Iterable[Solution]:
        bound = [slot for slot in parts if s[slot] is not None]
        for quad in reads(s[link], vocab.REIFIES, None):
            fact: Any = quad.object
            terms = fact.subject, fact.predicate, fact.object
            copy = s.copy()
            copy[link] = quad.subject
            copy[subject], copy[predicate], copy[object_] = terms
            # What was bound is the same, and so are ends, and the link, that share a slot.
            is_same = ends(copy) == terms and copy[link] == quad.subject
            if is_same and all(s[slot] == copy[slot] for slot in bound):
                yield copy

    return step


def _starts(near: int, hops: Iterable[HopRange]) -> Step:
    """Every node from which a hop range may start, once."""

    def step(s: Solution, reads: Reads) -> Iterable[Solution]:
        starts = {step for hop in hops for step in steps_of(hop.predicate)}
        if any(hop.minimum == 0 for hop in hops):
            starts = {(predicate, True) for predicate in vocab.IDENTITY}
        nodes: dict[Cell, None] = {}
        for predicate, forward in sorted(starts, key=str):
            some = reads(None, predicate, None)
            nodes.update(dict.fromkeys(q.subject if forward else q.object for q in some))
        return [_with(s, (near, node)) for node in nodes]

    return step


def _pairs(near: int, hop: HopRange, far: int, forward: bool, link: int | None) -> Step:
    """The nodes within a hop range, each once, with the link of those one hop apart."""

    def step(s: Solution, reads: Reads) -> Iterable[Solution]:
        start = s[near]
        nodes = [n for n in _within(start, hop, forward, reads) if s[far] is None or s[far] == n]
        if link is None or not contains_one(hop):
            return [_with(s, (far, node)) for node in nodes]

        def linked(node: Cell, reads: Reads) -> Iterable[Solution]:
            ends = (start, node) if forward else (node, start)
            links = _links(*cast(tuple[NamedNode, NamedNode], ends), hop, reads)
            return [_with(s, (far, node), (link, each)) for each in links or [None]]

        return [solution for pairs in reads.each(linked, nodes) for solution in pairs]

    return step


def _links(subject: NamedNode, object_: NamedNode, hop: HopRange, reads: Reads) -> list[Cell]:
    """The reifiers of a pair, none where it is more than one hop apart."""
    facts = [
        Triple(subject, p, object_) if forward else Triple(object_, p, subject)
        for p, forward in hop.links
    ]
    statements = reads.each(lambda f, reads: reads(None, vocab.REIFIES, f), facts)
    return [quad.subject for some in statements for quad in some if reads.is_believed(quad.object)]


def _within(start: Cell, hop: HopRange, forward: bool, reads: Reads) -> dict[Cell, None]:
    """The nodes that ``minimum`` to ``maximum`` hops lead to, level by level."""
    reached: dict[Cell, None] = {}
    level = {start: None}
    number = 0
    if hop.minimum == 0 and not any(reads(start, p, None) for p in vocab.IDENTITY):
        level = {}
    if not reads.is_believed(start):
        level = {}
    while level:
        if number >= hop.minimum:
            if hop.maximum is None:  # what was reached needs no second visit
                level = {node: None for node in level if node not in reached}
            reached.update(level)
        if number == hop.maximum:
            break
        ends = reads.each(lambda node, reads: reads.neighbours(node, hop.predicate, forward), level)
        level = {node: None for nodes in ends for node in nodes}
        number += 1
    return reached
