"""The question that any engine of SPARQL 1.1 answers rightly, and what is decided after it
(docs/decisions/173).

Engines differ in nested groups, in comparisons and in paths. So a part of a WHERE is asked that
none confuses: triples, alternatives of triples, OPTIONAL and NOT of triples, and conditions that
may let more pass. Its rows are a superset; the rest is a lookup from them (``kql.evaluate``), which
reads by queries of one triple (``reads``) and compares in Python. A cover ``is_exact``
where nothing is left: then the engine counts, sorts and cuts the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import pairwise
from typing import NamedTuple, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.dataclasses import dataclass
from kiprdf.kql.comparisons import Datatypes, KeyDatatypes, covering
from kiprdf.kql.evaluate.reads import BatchReads
from kiprdf.kql.evaluate.steps import LookupPlan, plan_lookup
from kiprdf.kql.optimize.hops import step_to
from kiprdf.kql.optimize.order_joins import order_joins, selectivity
from kiprdf.kql.scopes import Namer, Value, Values
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.abilities import Abilities
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
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
    Hops,
    Infix,
    Lateral,
    LeftJoin,
    OneOf,
    Pattern,
    Project,
    SortKey,
    Term,
    TriplePattern,
    Union,
    ZeroOrMore,
    certain_variables,
    is_iri,
    variables,
)
from kiprdf.store import Store
from kiprdf.store.base import Row

LONGEST_CHAIN = 3
"""Hops of a range that is asked as alternatives of triples; longer ones have too many paths."""
MOST_TYPES = 64
"""Types that are asked as alternatives."""
MOST_VALUES = 8
"""Values that come with the rows; planning takes longer the more OPTIONALs there are."""


class SortedValue(NamedTuple):
    """A key of ORDER BY: the variable with the values of an attribute or metadata key."""

    variable: Variable
    key: NamedNode
    descending: bool


@dataclass(frozen=True, eq=False)
class Cover:
    """What is asked of a WHERE, and the lookup that makes its rows.

    The query has the ``given`` variables, those that may be null last, then ``values``, each with
    its element. Without ``core`` nothing is asked first. ``fixed`` variables stand for one term.
    """

    core: Pattern | None
    given: tuple[Variable, ...]
    certain: frozenset[Variable]
    values: Mapping[Variable, tuple[Term, NamedNode]]
    fixed: Mapping[Variable, Term]
    lookup: LookupPlan
    is_exact: bool

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.given, *self.values)

    @property
    def one_value(self) -> TriplePattern | None:
        """The triple of the one value of an element that is asked for alone (106)."""
        match self.core:
            case LeftJoin(BGP(()), BGP((TriplePattern() as triple,))):
                return triple
        return None

    def rows(self, selected: Iterable[Row], store: Store, bindings: Bindings) -> list[Row]:
        """The rows of the WHERE, from those of the query."""
        start = self.lookup.filled(bindings)
        reads = BatchReads(store)
        if self.core is None:
            return self.lookup.result(self.lookup.solve([start], reads))
        number = len(self.given)
        places = {variable: place for place, variable in enumerate(self.given)}
        elements = [
            (places.get(cast(Variable, node)), bindings.get(cast(Hole, node), node), key)
            for node, key in self.values.values()
        ]
        starts = []
        for row in selected:
            starts.append([*row[:number], *start[number:]])
            for (place, node, key), value in zip(elements, row[number:], strict=False):
                element = node if place is None else row[place]
                reads.note_value(cast(NamedNode, element), key, value)
        return self.lookup.result(self.lookup.solve(starts, reads))


def cover(
    pattern: Pattern,
    columns: tuple[Variable, ...],
    distinct: tuple[Variable, ...],
    counts: tuple[Count, ...],
    values: Values,
    namer: Namer,
    iris: Iris,
    abilities: Abilities,
    datatypes: KeyDatatypes,
) -> Cover:
    """The cover of a pattern, for rows of some ``columns`` that are alike in ``distinct`` ones."""
    counted = tuple(count.variable for count in counts if count.variable is not None)
    shown = {values[name].node if name in values else name for name in columns}
    core = _Core({*shown, *distinct, *counted}, values, namer, iris, abilities, datatypes)
    stages = list(_stages(pattern))
    for number, stage in enumerate(stages):
        core.add(stage, stages[number + 1 :])
    return core.finished(columns, distinct, counts)


def _stages(pattern: Pattern) -> Iterator[Pattern]:
    """The parts of a left-deep pattern, each without those before it."""
    match pattern:
        case Lateral():
            yield from _stages(pattern.left)
            yield from _stages(pattern.right)
        case Group():
            yield from _stages(pattern.before)
            yield replace(pattern, before=UNIT)
        case AntiJoin() | LeftJoin() if pattern.left != UNIT:
            yield from _stages(pattern.left)
            yield replace(pattern, left=UNIT)
        case Filter() | Extend() if pattern.pattern != UNIT:
            yield from _stages(pattern.pattern)
            yield replace(pattern, pattern=UNIT)
        case BGP(()):
            return
        case BGP() | Hops():
            yield Group(UNIT, (pattern,))
        case _:
            yield pattern


@dataclass
class _Core:
    """What is asked so far, and the ``rest``; ``late`` variables are those that only the rest
    binds."""

    needed: set[Variable]
    value_variables: Values
    namer: Namer
    iris: Iris
    abilities: Abilities
    datatypes: KeyDatatypes
    parts: list[Pattern] = field(default_factory=list)
    optionals: list[Pattern] = field(default_factory=list)
    nots: list[Pattern] = field(default_factory=list)
    tests: list[Expression] = field(default_factory=list)
    required: set[Variable] = field(default_factory=set)
    rest: list[Pattern] = field(default_factory=list)
    fixed: dict[Variable, Term] = field(default_factory=dict)
    late: set[Variable] = field(default_factory=set)
    closure: TriplePattern | None = None

    @property
    def certain(self) -> set[Variable]:
        return set().union(*map(certain_variables, self.parts), _names(self.closure))

    @property
    def mentioned(self) -> set[Variable]:
        return set().union(*map(variables, (*self.parts, *self.optionals)), _names(self.closure))

    def add(self, stage: Pattern, later: list[Pattern]) -> None:
        match stage:
            case Group():
                self._group(stage, later)
            case Filter():
                self._condition(stage.condition)
            case LeftJoin() if variables(stage.right) <= self.certain:
                pass  # Virtuoso loses values of the OPTIONALs after one that binds nothing.
            case LeftJoin(right=Group() as group) if self._is_joined(group):
                self.optionals.append(_triples(group))
            case AntiJoin(right=Group() as group) if self._is_joined(group):
                self.nots.append(_triples(group))
            case Union() if not (self.parts or self.rest) and all(map(_is_plain, stage.branches)):
                self.parts.append(Union(tuple(map(_triples, stage.branches))))
            case _:
                self._leave(stage)

    def _leave(self, stage: Pattern) -> None:
        self.rest.append(stage)
        self.late |= variables(stage) - self.mentioned

    def _is_joined(self, group: Group) -> bool:
        """Whether a group is triples that share with the others only what is never null."""
        names = variables(group)
        certain = self.certain
        return (
            self.closure is None
            and _is_plain(group)
            and bool(names & certain)
            and not names & (self.late | (self.mentioned - certain))
        )

    # Groups -----------------------------------------------------------------------------------

    def _group(self, group: Group, later: list[Pattern]) -> None:
        self.fixed.update(group.constants)
        left: list[Pattern] = []
        sent: list[Pattern] = []
        for part in group.parts:
            asked = _read_alike(part, self.namer)
            if asked is None or self.closure or variables(part) & self.late:
                left.append(part)
            else:
                sent.append(asked)
        self._join(sent, left, group, later)
        for part in list(left):
            if isinstance(part, Hops) and self._close(part):
                left.remove(part)
        if left:
            self._leave(Group(UNIT, tuple(left)))
        if group.constants:
            self.rest.append(Group(UNIT, (), group.constants))
        for condition in group.conditions:
            self._condition(condition)

    def _join(
        self, sent: list[Pattern], left: list[Pattern], group: Group, later: list[Pattern]
    ) -> None:
        """Add what hangs together with the core, and what only has to exist; leave the rest."""
        nullable = self.mentioned - self.certain
        components = _components(sent)
        if not self.parts and components:
            best = min(components, key=_best_selectivity)
            self.parts += best
            components.remove(best)
        for component in components:
            names = variables(tuple(component))
            others = (group.conditions, later, left, [c for c in components if c is not component])
            read = self.needed | self._read(others) | self.mentioned
            if names & self.certain and not names & nullable:
                self.parts += component
            elif not names & read:
                # It only has to exist.
                self.parts += component
            else:
                left += component

    def _read(self, node: object) -> set[Variable]:
        names = variables(_as_tuple(node))
        return names | {self.value_variables[n].node for n in names if n in self.value_variables}

    def _close(self, hops: Hops) -> bool:
        """Ask a hop range without end as a path, at the end of a chain from a named element.

        Joined with anything else, some engines lose its solutions (docs/decisions/090).
        """
        (hop, *others) = hops.alternatives
        if others or hop.maximum is not None or hops.link or self.optionals or self.nots:
            return False
        if hops.are_believed or not isinstance(hop.predicate, NamedNode):
            return False
        groups = [part.triples if isinstance(part, BGP) else (None,) for part in self.parts]
        triples = [triple for group in groups for triple in group]
        reached = _end_of_chain(triples)
        ends = [(hops.subject, hops.object, True), (hops.object, hops.subject, False)]
        for near, far, forward in ends:
            starts = near in reached if triples else is_iri(near)
            if not starts or not isinstance(far, Variable) or far in (self.mentioned | self.late):
                continue
            at = cast(Variable, near)
            for _ in range(hop.minimum):
                end = self.namer.fresh("hop")
                self.parts.append(BGP((step_to(at, hop.predicate, end, forward),)))
                at = end
            self.closure = step_to(at, ZeroOrMore(hop.predicate), far, forward)
            return True
        return False

    # Conditions and values --------------------------------------------------------------------

    def _condition(self, condition: Expression) -> None:
        covered = covering(condition, self._kinds, self._is_certain, self.abilities)
        if not self._has_triple(condition):
            if covered.test is not None:
                self.tests.append(covered.test)
            if not covered.is_exact:
                self.rest.append(Filter(UNIT, condition))
            self.required |= covered.required
        self.needed |= {n for n in self._read(condition) if n not in self.value_variables}

    def _has_triple(self, condition: Expression) -> bool:
        """Whether a triple says the same: that of a name, or of a type."""
        match condition:
            case Condition("==", (Variable() as name, Literal() | Hole() as text)):
                value = self.value_variables.get(name)
                if value is None or not isinstance(text, Literal | Hole):
                    return False
                triple = TriplePattern(value.node, vocab.LABEL, text)
                if value.field == "type" and isinstance(text, Literal):
                    triple = TriplePattern(value.node, vocab.TYPE, self.iris.type(text.value))
                elif value.field != "name":
                    return False
                return any(triple in part.triples for part in self.parts if isinstance(part, BGP))
        return False

    def _is_certain(self, name: Variable) -> bool:
        """Whether an element, or the element of a value, is never null in the core."""
        value = self.value_variables.get(name)
        if value is None:
            return name in self.certain
        is_fetched = self._key(value) is not None
        return is_fetched and (value.node in self.fixed or value.node in self.certain)

    def _key(self, value: Value) -> NamedNode | None:
        """The predicate whose object a value is."""
        return vocab.LABEL if value.field == "name" else value.predicate

    def _kinds(self, name: Variable) -> Datatypes:
        value = self.value_variables.get(name)
        key = None if value is None else self._key(value)
        if key is None:
            return None
        return frozenset((vocab.STRING,)) if key == vocab.LABEL else self.datatypes.get(key)

    def finished(
        self,
        columns: tuple[Variable, ...],
        distinct: tuple[Variable, ...],
        counts: tuple[Count, ...],
    ) -> Cover:
        rest: Pattern = UNIT
        for stage in self.rest:
            rest = Lateral(rest, stage)
        values = self._values(columns, rest)
        used = self.needed | self._read(rest) | set(distinct)
        core = self._asked(values, used, bool(counts))
        if core is not None and not variables(core):
            # A query without variables is not a query to some engines.
            core, rest = None, Lateral(Group(UNIT, tuple(self.parts)), rest)
        given = sorted(self.mentioned & used, key=lambda name: name.value) if core else []
        certain = [name for name in given if name in self.certain]
        nullable = [name for name in given if name not in self.certain]
        lookup = plan_lookup(
            rest,
            columns,
            distinct,
            counts,
            self.value_variables,
            self.iris,
            certain,
            nullable,
            is_complete=True,
        )
        assert lookup is not None
        is_exact = core is not None and all(type(s) is Group and not s.parts for s in self.rest)
        return Cover(
            core, (*certain, *nullable), frozenset(certain), values, self.fixed, lookup, is_exact
        )

    def _values(
        self, columns: tuple[Variable, ...], rest: Pattern
    ) -> dict[Variable, tuple[Term, NamedNode]]:
        """The values that come with the rows, each with its element and its key."""
        tested = self.required | variables(tuple(self.tests))
        names = (*sorted(tested | variables(rest), key=lambda name: name.value), *columns)
        fetched: dict[Variable, tuple[Term, NamedNode]] = {}
        for name in dict.fromkeys(names):
            if name in self.value_variables and self._is_certain(name):
                value = self.value_variables[name]
                is_tested = name in tested
                key = self._key(value)
                if is_tested or (len(fetched) < MOST_VALUES and key != vocab.LABEL):
                    node = self.fixed.get(value.node, value.node)
                    fetched[name] = node, cast(NamedNode, key)
        return fetched

    def _asked(
        self,
        values: dict[Variable, tuple[Term, NamedNode]],
        used: set[Variable],
        is_counted: bool,
    ) -> Pattern | None:
        """The pattern of the query, of which some variables are used."""
        triples = {n: TriplePattern(node, key, n) for n, (node, key) in values.items()}
        required = [BGP((triples[name],)) for name in triples if name in self.required]
        optional = [BGP((triple,)) for name, triple in triples.items() if name not in self.required]
        if not (self.parts or self.closure or required) and len(optional) != 1:
            values.clear()
            return None
        needed = used.union(*map(variables, (*self.optionals, *self.nots)))
        needed |= {node for node, _ in values.values() if isinstance(node, Variable)}
        parts = (*self.parts, *required) if self.closure is None else tuple(self.parts)
        core = order_joins(Group(UNIT, parts), needed, {}, self.namer)
        if self.closure is not None:
            chain = tuple(t for part in self.parts for t in cast(BGP, part).triples)
            core = BGP((*chain, self.closure))
            if values or is_counted:
                ends = variables(core) & needed
                core = Project(core, tuple(sorted(ends, key=lambda name: name.value)))
            for part in required:
                core = Lateral(core, part)
        for right in self.nots:
            core = AntiJoin(core, right, (), self.namer.fresh("found"))
        for right in (*self.optionals, *optional):
            core = LeftJoin(core, right)
        for test in self.tests:
            core = Filter(core, test)
        return core


def _names(node: object) -> set[Variable]:
    return set() if node is None else variables(node)


def _as_tuple(node: object) -> object:
    if isinstance(node, list | tuple):
        return tuple(map(_as_tuple, node))
    return node


def is_counted_alike(pattern: Pattern) -> bool:
    """Whether a joined pattern is triples alone, of which every engine finds the same number."""
    match pattern:
        case BGP():
            is_path = any(not isinstance(t.predicate, NamedNode) for t in pattern.triples)
            return not is_path and _read_alike(pattern, None) is not None
        case Union():
            return all(map(is_counted_alike, pattern.branches))
        case Lateral() | LeftJoin():
            shared = variables(pattern.left) & variables(pattern.right)
            is_safe = shared <= certain_variables(pattern.left)
            return is_safe and all(map(is_counted_alike, (pattern.left, pattern.right)))
    return False


def _is_plain(group: Pattern) -> bool:
    """Whether a group is nothing but triples."""
    return (
        isinstance(group, Group)
        and group.before == UNIT
        and bool(group.parts)
        and not (group.constants or group.conditions)
        and all(isinstance(part, BGP) and _read_alike(part, None) is part for part in group.parts)
    )


def _triples(group: Pattern) -> BGP:
    assert isinstance(group, Group)
    return BGP(tuple(triple for part in group.parts for triple in cast(BGP, part).triples))


def _read_alike(part: Pattern, namer: Namer | None) -> Pattern | None:
    """A part of a group as every engine reads it; None for what it may confuse."""
    match part:
        case BGP((TriplePattern(predicate=vocab.TYPE, object=OneOf(terms=types)) as triple,)):
            if len(types) > MOST_TYPES:
                return None
            return Union(tuple(BGP((replace(triple, object=type),)) for type in types))
        case BGP():
            is_odd = any(t.subject == t.object or isinstance(t.object, OneOf) for t in part.triples)
            return None if is_odd else part
        case Union():
            return part if all(type(each) is BGP for each in part.branches) else None
        case Hops(link=None, are_believed=False) if namer and part.subject != part.object:
            return _chains(part, namer)
    return None


def _chains(hops: Hops, namer: Namer) -> Pattern | None:
    """A short hop range as alternatives of triples."""
    chains: list[BGP] = []
    for hop in hops.alternatives:
        if hop.minimum < 1 or hop.maximum is None or hop.maximum > LONGEST_CHAIN:
            return None
        if not isinstance(hop.predicate, NamedNode):
            return None
        lengths = range(hop.minimum, hop.maximum + 1)
        chains += (_chain(hops, hop.predicate, length, namer) for length in lengths)
    return chains[0] if len(chains) == 1 else Union(tuple(chains))


def _chain(hops: Hops, predicate: NamedNode, length: int, namer: Namer) -> BGP:
    nodes = [hops.subject, *(namer.fresh("hop") for _ in range(length - 1)), hops.object]
    pairs = pairwise(nodes)
    return BGP(tuple(TriplePattern(one, predicate, other) for one, other in pairs))


def _end_of_chain(triples: list[TriplePattern | None]) -> set[Term]:
    """What triples reach that lead, one after the other, from a named element; else nothing."""
    reached: set[Term] = set()
    waiting = list(triples)
    while waiting:
        step = next((t for t in waiting if t is not None and _leads(t, reached)), None)
        if step is None:
            return set()
        waiting.remove(step)
        reached |= step.names
    return reached


def _leads(triple: TriplePattern, reached: set[Term]) -> bool:
    """Whether exactly one end of a fact is an element, or reached."""
    if not isinstance(triple.predicate, NamedNode) or triple.predicate in (
        vocab.TYPE,
        vocab.LABEL,
        vocab.REIFIES,
    ):
        return False
    return sum(is_iri(end) or end in reached for end in (triple.subject, triple.object)) == 1


def _components(parts: Iterable[Pattern]) -> list[list[Pattern]]:
    """Parts that hang together by their variables."""
    components: list[list[Pattern]] = []
    for part in parts:
        joined = [part]
        for component in list(components):
            if variables(tuple(component)) & variables(part):
                components.remove(component)
                joined = component + joined
        components.append(joined)
    return components


def _best_selectivity(component: list[Pattern]) -> int:
    firsts = (part.branches[0] if isinstance(part, Union) else part for part in component)
    return min(selectivity(triple) for first in firsts for triple in cast(BGP, first).triples)


# Order --------------------------------------------------------------------------------------------


def sorted_by(
    values: Iterable[SortedValue],
    nodes: Iterable[Variable],
    datatypes: KeyDatatypes,
    abilities: Abilities,
) -> tuple[SortKey, ...] | None:
    """The order by some values, ties by the IRIs of ``nodes``, all of them bound (103).

    None where a key has values of several kinds, or of one that engines order otherwise.
    """
    order: list[SortKey] = []
    for variable, key, descending in values:
        by = _sorted_by(variable, datatypes.get(key), abilities)
        if by is None:
            return None
        # Null is last in both directions.
        order += (SortKey(Call("BOUND", (variable,)), True), SortKey(by, descending))
    return (*order, *(SortKey(_text(Call("STR", (node,)), abilities)) for node in nodes))


def _sorted_by(variable: Variable, datatypes: Datatypes, abilities: Abilities) -> Expression | None:
    """What sorts the values of a variable, all of some datatypes."""
    if datatypes is None or len(datatypes) > 1:
        return None
    (datatype,) = datatypes or (vocab.INTEGER,)
    if datatype == vocab.INTEGER:
        return variable
    if datatype == vocab.STRING:
        return _text(variable, abilities)
    if datatype in (vocab.DOUBLE, vocab.OWN_DOUBLE):
        number = Call(vocab.DOUBLE, (Call("STR", (variable,)),))
        # -0.0 and 0.0 are one number.
        return Infix("+", (number, Literal(0)))
    return None


_LAST = Literal("([\ue000-\uffff])")
_LAST_MOVED = Literal("\ud7ff$1")


def _text(text: Expression, abilities: Abilities) -> Expression:
    """A text that the engine sorts by code point.

    One that sorts by the units of UTF-16 has the characters after the surrogates moved before them,
    behind the last one that is there.
    """
    return text if abilities.code_points else Call("REPLACE", (text, _LAST, _LAST_MOVED))
