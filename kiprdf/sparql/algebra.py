"""The SPARQL 1.2 algebra that the compiler emits, under the names of the W3C.

Terms are pyoxigraph's, and ``Hole`` for a constant that is chosen later. A pattern is a left-deep
tree: ``Join(Join(a, b), c)``. ``Lateral`` is the correlated join of SEP-0006: its right side is
evaluated once for each solution of the left, and sees it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias, TypeGuard

from pyoxigraph import Literal, NamedNode, Variable

# Terms ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hole:
    """A constant that is chosen when the query runs; equal holes hold the same term."""

    key: Hashable
    kind: OneOf["iri", "text", "number"]


Term: TypeAlias = NamedNode | Literal | Variable | Hole
Bindings: TypeAlias = Mapping[Hole, NamedNode | Literal]
"""The terms for the holes of a query."""


def is_iri(term: object) -> TypeGuard[NamedNode | Hole]:
    """Whether a term is an IRI, or a hole for one."""
    return isinstance(term, NamedNode) or (isinstance(term, Hole) and term.kind == "iri")


# Property paths -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alternative:
    """``p | q``."""

    predicates: tuple[NamedNode, ...]


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """``p+``."""

    predicate: NamedNode


# Patterns -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TripleTerm:
    """``<<( s p o )>>`` in the place of an object."""

    subject: Term
    predicate: Term
    object: Term


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """``names`` are its variables, which are computed once, since the compiler reads them often."""

    subject: Term
    predicate: Term | Alternative | OneOrMore
    object: Term | TripleTerm
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
class Join:
    left: Pattern
    right: Pattern


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


Pattern: TypeAlias = BGP | Join | Lateral | LeftJoin | AntiJoin | Union | Filter | Extend | Project
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

    operator: OneOf["=", "!=", "<", "<=", ">", ">=", "&&", "||"]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Expression


@dataclass(frozen=True, slots=True)
class In:
    operand: Expression
    options: tuple[Term, ...]


Expression: TypeAlias = Term | Call | Infix | Negation | In

# Queries --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Count:
    """``(COUNT(variable) AS name)``; without a variable, of whole solutions."""

    name: Variable
    variable: Variable | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """``SELECT DISTINCT variables { pattern } LIMIT limit OFFSET offset``.

    With ``counts`` it is ``SELECT variables counts { pattern } GROUP BY variables`` instead, and
    the limit is that of the solutions which are counted.
    ``distinct`` is left out where no two solutions are alike anyway.
    """

    variables: tuple[Variable, ...]
    pattern: Pattern
    limit: int | None = None
    offset: int = 0
    counts: tuple[Count, ...] = ()
    distinct: bool = True


def variables(node: object) -> set[Variable]:
    """Every variable that a pattern or expression mentions."""
    if isinstance(node, Variable):
        return {node}
    if isinstance(node, NamedNode | Literal | Hole):
        return set()
    if isinstance(node, TriplePattern):
        return set(node.names)
    if isinstance(node, BGP):
        return set().union(*[triple.names for triple in node.triples])
    if isinstance(node, tuple):
        return set().union(*map(variables, node))
    if hasattr(node, "__dataclass_fields__"):
        return set().union(*(variables(getattr(node, name)) for name in node.__dataclass_fields__))
    return set()
