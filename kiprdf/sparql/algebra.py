"""The SPARQL 1.2 algebra that the compiler emits, under the names of the W3C.

Terms are pyoxigraph's, and ``Hole`` for a constant that is chosen later. A pattern is a left-deep
tree: ``Lateral(Lateral(a, b), c)``. ``Lateral`` is the correlated join of SEP-0006: its right side
is evaluated once for each solution of the left, and sees it. ``Group`` and ``Hops`` say what is
meant and not how it is computed; the passes of ``kql.optimize`` replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal as Literal_
from typing import TypeAlias, TypeGuard

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.dataclasses import dataclass
from kiprdf.trees import parts, walk

# Terms ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hole:
    """A constant that is chosen when the query runs; equal holes hold the same term."""

    key: Hashable
    kind: Literal_["iri", "text", "number", "large number"]


Term: TypeAlias = NamedNode | Literal | Variable | Hole
Bindings: TypeAlias = Mapping[Hole, NamedNode | Literal]
"""The terms for the holes of a query."""


def is_iri(term: object) -> TypeGuard[NamedNode | Hole]:
    """Whether a term is an IRI, or a hole for one."""
    return isinstance(term, NamedNode) or (isinstance(term, Hole) and term.kind == "iri")


# Property paths -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alternative:
    """``p | q | ^r``: triples of some predicates, and those of the ``inverses`` reversed."""

    predicates: tuple[NamedNode, ...]
    inverses: tuple[NamedNode, ...] = ()

    @property
    def steps(self) -> Iterator[tuple[NamedNode, bool]]:
        """The predicates, and whether each leads forward."""
        yield from ((predicate, True) for predicate in self.predicates)
        yield from ((predicate, False) for predicate in self.inverses)


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """``p+``."""

    predicate: NamedNode | Alternative


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """``p*``."""

    predicate: NamedNode


def steps_of(predicate: NamedNode | Alternative) -> Iterator[tuple[NamedNode, bool]]:
    """The predicates of one hop, and whether each leads forward."""
    return iter(((predicate, True),)) if isinstance(predicate, NamedNode) else predicate.steps


# Patterns -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TripleTerm:
    """``<<( s p o )>>`` in the place of an object."""

    subject: Term
    predicate: Term
    object: Term

    @property
    def asserted(self) -> TriplePattern:
        """``s p o``."""
        return TriplePattern(self.subject, self.predicate, self.object)


@dataclass(frozen=True, slots=True)
class OneOf:
    """In the place of an object, a value that FILTER reads as one of some; each is found once.

    It is one of the ``terms``, or holds one that is ``held`` in the ``graph`` of what other values
    hold. With ``rdf:type``, one of some types.
    """

    terms: tuple[Term, ...]
    held: tuple[Term, ...]
    graph: NamedNode


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """``names`` are its variables, which are computed once, since the compiler reads them often."""

    subject: Term
    predicate: Term | Alternative | OneOrMore | ZeroOrMore
    object: Term | TripleTerm | OneOf
    names: frozenset[Variable] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        terms: tuple[object, ...] = (self.subject, self.predicate, self.object)
        if isinstance(self.object, TripleTerm):
            fact = self.object
            terms = (self.subject, fact.subject, fact.predicate, fact.object)
        names = frozenset([term for term in terms if isinstance(term, Variable)])
        object.__setattr__(self, "names", names)


@dataclass(frozen=True, slots=True)
class BGP:
    """Triple patterns joined; without any, the one empty solution."""

    triples: tuple[TriplePattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Lateral:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class AntiJoin:
    """The solutions of the left for which the right has none.

    ``shared`` are the variables of the left that the right mentions; ``witness`` is a variable
    that occurs nowhere else.
    """

    left: Pattern
    right: Pattern
    shared: tuple[Variable, ...]
    witness: Variable


@dataclass(frozen=True, slots=True)
class Union:
    branches: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    pattern: Pattern
    condition: Expression


@dataclass(frozen=True, slots=True)
class Extend:
    pattern: Pattern
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Project:
    """A subquery's DISTINCT solutions, restricted to some variables."""

    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class HopRange:
    """``minimum`` to ``maximum`` hops along a predicate; no maximum means any number.

    A fact of ``direct``, or else of the predicate, links a pair.
    """

    predicate: NamedNode | Alternative
    minimum: int
    maximum: int | None
    direct: Alternative | None = None

    @property
    def links(self) -> tuple[tuple[NamedNode, bool], ...]:
        """The predicates of facts that link a pair, and whether each leads forward."""
        return tuple(steps_of(self.direct or self.predicate))


@dataclass(frozen=True, slots=True)
class Hops:
    """The pairs of nodes within one of the hop ranges, each pair once.

    ``link`` is the reifier of a pair that is one hop apart; for other pairs it is unbound. Each
    element on the way must be believed if the hops ``are_believed``, which no query says.
    """

    subject: Term
    alternatives: tuple[HopRange, ...]
    object: Term
    link: Variable | None = None
    are_believed: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """The solutions of ``before``, joined with all ``parts``, for which all ``conditions`` hold.

    The order of parts and of conditions has no meaning. ``constants`` are variables of this group
    that stand for one term; the parts mention the term. ``starts`` find by index the elements for
    which a condition holds.
    """

    before: Pattern
    parts: tuple[Pattern, ...]
    constants: tuple[tuple[Variable, Term], ...] = ()
    conditions: tuple[Expression, ...] = ()
    starts: tuple[Start, ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """A triple that has a match exactly where a condition holds.

    The ``first`` one is rarer than the neighbours of an element that the group names.
    """

    triple: TriplePattern
    condition: Expression
    first: bool = False


Pattern: TypeAlias = (
    BGP | Lateral | LeftJoin | AntiJoin | Union | Filter | Extend | Project | Group | Hops
)
UNIT = BGP()

# Expressions ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its SPARQL name, or by its IRI."""

    function: str | NamedNode
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Infix:
    """``a op b op c``."""

    operator: Literal_["=", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-"]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Expression


@dataclass(frozen=True, slots=True)
class In:
    operand: Expression
    options: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that is true or false, never an error; ``expression`` says it in SPARQL.

    ``names`` are its variables; an IN may have ten thousand operands.
    """

    name: str
    operands: tuple[Term, ...]
    expression: Expression
    names: frozenset[Variable] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = frozenset([term for term in self.operands if isinstance(term, Variable)])
        object.__setattr__(self, "names", names)


Expression: TypeAlias = Term | Call | Infix | Negation | In | Condition

# Queries --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Count:
    """``(COUNT(variable) AS name)``; without a variable, of whole solutions."""

    name: Variable
    variable: Variable | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class SortKey:
    """``expression`` in ORDER BY, or ``DESC(expression)``."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """``VALUES variables { rows }``."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term, ...], ...]


@dataclass(frozen=True, slots=True)
class Select:
    """``SELECT DISTINCT variables { pattern } ORDER BY order LIMIT limit OFFSET offset``.

    With ``counts`` it is ``SELECT variables counts { pattern } GROUP BY variables`` instead, and
    the limit is that of the solutions which are counted.
    ``distinct`` is left out where no two solutions are alike anyway. The pattern is joined with the
    ``table``.
    """

    variables: tuple[Variable, ...]
    pattern: Pattern
    limit: int | None = None
    offset: int = 0
    counts: tuple[Count, ...] = ()
    distinct: bool = True
    order: tuple[SortKey, ...] = ()
    table: Table | None = None


def variables(node: object) -> set[Variable]:
    """Every variable that a pattern or expression mentions."""
    if isinstance(node, Variable):
        return {node}
    if isinstance(node, TriplePattern | Condition):
        return set(node.names)
    return set().union(*map(variables, parts(node)))


def constants(node: object) -> set[NamedNode | Literal | Hole]:
    """Every constant that a pattern or expression mentions, open ones included."""
    return {part for part in walk(node) if isinstance(part, NamedNode | Literal | Hole)}


def certain_variables(pattern: Pattern) -> set[Variable]:
    """The variables that every solution of a pattern binds."""
    match pattern:
        case BGP():
            return variables(pattern)
        case Lateral():
            return certain_variables(pattern.left) | certain_variables(pattern.right)
        case LeftJoin() | AntiJoin():
            return certain_variables(pattern.left)
        case Union():
            return set.intersection(*map(certain_variables, pattern.branches))
        case Filter():
            certain = certain_variables(pattern.pattern)
            match pattern.condition:
                case Call(function="BOUND", arguments=(Variable() as variable,)):
                    return certain | {variable}
            return certain
        case Extend():
            return certain_variables(pattern.pattern) | {pattern.variable}
        case Project():
            return certain_variables(pattern.pattern) & set(pattern.variables)
        case Group():
            parts = map(certain_variables, (pattern.before, *pattern.parts))
            return set().union(*parts, (variable for variable, _ in pattern.constants))
        case Hops():
            return variables((pattern.subject, pattern.object))


Visit: TypeAlias = Callable[[Pattern, Pattern, object], Pattern]


def map_patterns(pattern: Pattern, visit: Visit) -> Pattern:
    """A pattern whose direct parts are what ``visit`` returns for them.

    It is called with a part, the pattern whose solutions the part sees, and what else beside the
    part mentions variables. Parts of a group are left as they are.
    """
    match pattern:
        case Lateral() | LeftJoin() | AntiJoin():
            left = visit(pattern.left, UNIT, pattern.right)
            return replace(pattern, left=left, right=visit(pattern.right, left, left))
        case Union():
            return Union(tuple(visit(branch, UNIT, ()) for branch in pattern.branches))
        case Filter():
            return replace(pattern, pattern=visit(pattern.pattern, UNIT, pattern.condition))
        case Extend():
            return replace(pattern, pattern=visit(pattern.pattern, UNIT, pattern.expression))
        case Project():
            return replace(pattern, pattern=visit(pattern.pattern, UNIT, ()))
        case Group():
            rest = (pattern.parts, pattern.conditions)
            return replace(pattern, before=visit(pattern.before, UNIT, rest))
        case BGP() | Hops():
            return pattern
