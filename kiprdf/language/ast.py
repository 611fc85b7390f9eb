"""The typed tree of a KIP command.

Every node is frozen, compares by content and has the span of its text. Children are fields,
sequences are tuples, alternatives are unions. Spans are ignored in comparisons: two texts that
differ only in layout have equal trees.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal as OneOf
from typing import TypeAlias, cast

from kiprdf.dataclasses import dataclass
from kiprdf.source import NOWHERE, Span

JsonScalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """The base class of all nodes."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


# Values (KIP 2.7) -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scalar(Node):
    """A string, number, boolean or null."""

    value: JsonScalar


@dataclass(frozen=True, slots=True)
class Array(Node):
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """One ``key: value`` of an object; the span is that of the key."""

    key: str
    value: Value


@dataclass(frozen=True, slots=True)
class Object(Node):
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Placeholder(Node):
    """``:name`` instead of a whole value (KIP 6.1)."""

    name: str


Value: TypeAlias = Scalar | Array | Object | Placeholder

# Patterns (KIP 3.4.1, 3.4.2) ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """``?name``: a variable in KQL, a handle in UPSERT."""

    name: str


@dataclass(frozen=True, slots=True)
class ConceptMatcher(Node):
    """``{id: …}``, or ``{type: …, name: …}`` with both, one or none of the two."""

    id: Value | None = None
    type: Value | None = None
    name: Value | None = None


@dataclass(frozen=True, slots=True)
class PropositionId(Node):
    """``(id: "…")``."""

    id: Value


@dataclass(frozen=True, slots=True)
class Hops(Node):
    """``{minimum,maximum}``; no maximum means any number of hops."""

    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class PredicateName(Node):
    """``"name"`` or a placeholder, with its hop range, if any."""

    value: Value
    hops: Hops | None = None

    @property
    def name(self) -> str:
        """The name of a predicate that is bound and checked."""
        return cast(str, cast(Scalar, self.value).value)


@dataclass(frozen=True, slots=True)
class Predicates(Node):
    """One predicate, or several alternatives."""

    alternatives: tuple[PredicateName, ...]


@dataclass(frozen=True, slots=True)
class PropositionMatcher(Node):
    """``(subject, predicate, object)``; a variable as predicate binds the predicate's name."""

    subject: Endpoint
    predicate: Predicates | Variable
    object: Endpoint


@dataclass(frozen=True, slots=True)
class ConceptClause(Node):
    """``?v {…}``; the variable may be missing in an endpoint."""

    variable: Variable | None
    matcher: ConceptMatcher


@dataclass(frozen=True, slots=True)
class PropositionClause(Node):
    """``?v (…)`` or ``(…)``."""

    variable: Variable | None
    matcher: PropositionMatcher | PropositionId


Endpoint: TypeAlias = Variable | ConceptClause | PropositionClause

# Expressions (KIP 3.2, 3.3, 3.4.3) ------------------------------------------------------------

Field: TypeAlias = OneOf[
    "id", "type", "name", "subject", "predicate", "object", "attributes", "metadata"
]
CONCEPT_FIELDS = ("id", "type", "name", "attributes", "metadata")
PROPOSITION_FIELDS = ("id", "subject", "predicate", "object", "attributes", "metadata")


@dataclass(frozen=True, slots=True)
class Path(Node):
    """``?v.field``, ``?v.attributes.key`` or ``?v.metadata.key``."""

    variable: Variable
    field: Field
    key: str | None = None


Operand: TypeAlias = Path | Variable | Value

ComparisonOperator: TypeAlias = OneOf["==", "!=", "<", ">", "<=", ">="]
StringFunction: TypeAlias = OneOf["CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX"]
AggregateFunction: TypeAlias = OneOf["COUNT", "SUM", "AVG", "MIN", "MAX"]


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    operator: ComparisonOperator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Membership(Node):
    """``IN(operand, […])``; the list may be a placeholder, or the array at a path."""

    operand: Operand
    options: Array | Placeholder | Path


@dataclass(frozen=True, slots=True)
class NullTest(Node):
    """``IS_NULL(operand)``, negated ``IS_NOT_NULL(operand)``."""

    operand: Operand
    negated: bool


@dataclass(frozen=True, slots=True)
class StringTest(Node):
    function: StringFunction
    operand: Operand
    argument: Operand


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """A single operand: true only if it is the boolean true."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Negation(Node):
    operand: Condition


@dataclass(frozen=True, slots=True)
class Conjunction(Node):
    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Disjunction(Node):
    operands: tuple[Condition, ...]


Condition: TypeAlias = (
    Comparison | Membership | NullTest | StringTest | Truth | Negation | Conjunction | Disjunction
)


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """An aggregate, such as ``COUNT(DISTINCT ?v)``."""

    function: AggregateFunction
    argument: Variable | Path
    distinct: bool = False


Expression: TypeAlias = Variable | Path | Aggregate

# WHERE (KIP 3.4) ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter(Node):
    condition: Condition


@dataclass(frozen=True, slots=True)
class Not(Node):
    block: Block


@dataclass(frozen=True, slots=True)
class Optional(Node):
    block: Block


@dataclass(frozen=True, slots=True)
class Union(Node):
    block: Block


Clause: TypeAlias = ConceptClause | PropositionClause | Filter | Not | Optional | Union


@dataclass(frozen=True, slots=True)
class Block(Node):
    """``{ … }``: clauses in written order."""

    clauses: tuple[Clause, ...]


# KQL (KIP 3) ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OrderKey(Node):
    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Find(Node):
    expressions: tuple[Expression, ...]
    where: Block
    order_by: tuple[OrderKey, ...] = ()
    limit: Value | None = None
    cursor: Value | None = None


# KML (KIP 4) ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetProposition(Node):
    """One ``("predicate", target) WITH METADATA {…}`` of SET PROPOSITIONS."""

    predicate: PredicateName
    target: Endpoint
    metadata: Object | Placeholder | None = None


@dataclass(frozen=True, slots=True)
class ConceptBlock(Node):
    """``CONCEPT ?h { {…} EXPECT VERSION n SET … } WITH METADATA {…}``."""

    handle: Variable | None
    matcher: ConceptMatcher
    attributes: Object | Placeholder | None = None
    propositions: tuple[SetProposition, ...] | None = None
    metadata: Object | Placeholder | None = None
    expected_version: Value | None = None


@dataclass(frozen=True, slots=True)
class PropositionBlock(Node):
    """``PROPOSITION ?h { (…) EXPECT VERSION n SET … } WITH METADATA {…}``."""

    handle: Variable | None
    matcher: PropositionMatcher | PropositionId
    attributes: Object | Placeholder | None = None
    metadata: Object | Placeholder | None = None
    expected_version: Value | None = None


@dataclass(frozen=True, slots=True)
class UpsertBlock(Node):
    """One ``UPSERT { … } WITH METADATA { … }``; the scope of its handles."""

    items: tuple[ConceptBlock | PropositionBlock, ...]
    metadata: Object | Placeholder | None = None


@dataclass(frozen=True, slots=True)
class Upsert(Node):
    """All UPSERT blocks of a text, which are one transaction."""

    blocks: tuple[UpsertBlock, ...]


NumberFunction: TypeAlias = OneOf["ADD", "MUL", "CLAMP", "COALESCE"]


@dataclass(frozen=True, slots=True)
class Calculation(Node):
    """A calculation, such as ``ADD(…)``, with numbers and values of the target."""

    function: NumberFunction
    arguments: tuple[Argument, ...]


Argument: TypeAlias = Calculation | Path | Value


@dataclass(frozen=True, slots=True)
class Assignment(Node):
    """One ``key: value`` of an UPDATE; the span is that of the key."""

    key: str
    value: Calculation | Value


@dataclass(frozen=True, slots=True)
class Assignments(Node):
    """The entries of SET ATTRIBUTES or SET METADATA in an UPDATE."""

    entries: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class Update(Node):
    """``UPDATE ?v SET ATTRIBUTES {…} SET METADATA {…} WHERE {…} LIMIT n``."""

    target: Variable
    where: Block
    attributes: Assignments | Placeholder | None = None
    metadata: Assignments | Placeholder | None = None
    limit: Value | None = None


@dataclass(frozen=True, slots=True)
class MergeConcept(Node):
    """``MERGE CONCEPT ?source INTO ?target WHERE {…}``."""

    source: Variable
    target: Variable
    where: Block


@dataclass(frozen=True, slots=True)
class Key(Node):
    """An attribute or metadata key in the list of a DELETE."""

    name: str


@dataclass(frozen=True, slots=True)
class DeleteAttributes(Node):
    keys: tuple[Key, ...]
    target: Variable
    where: Block


@dataclass(frozen=True, slots=True)
class DeleteMetadata(Node):
    keys: tuple[Key, ...]
    target: Variable
    where: Block


@dataclass(frozen=True, slots=True)
class DeletePropositions(Node):
    target: Variable
    where: Block


@dataclass(frozen=True, slots=True)
class DeleteConcept(Node):
    """``DELETE CONCEPT ?v DETACH WHERE {…}``."""

    target: Variable
    where: Block


Delete: TypeAlias = DeleteAttributes | DeleteMetadata | DeletePropositions | DeleteConcept
Targeted: TypeAlias = Update | Delete
"""A statement that changes what its WHERE binds to its target."""

# META (KIP 5) ---------------------------------------------------------------------------------

Kind: TypeAlias = OneOf["CONCEPT", "PROPOSITION"]


@dataclass(frozen=True, slots=True)
class DescribePrimer(Node):
    pass


@dataclass(frozen=True, slots=True)
class DescribeDomains(Node):
    limit: Value | None = None
    cursor: Value | None = None


@dataclass(frozen=True, slots=True)
class DescribeTypes(Node):
    """``DESCRIBE CONCEPT TYPES`` or ``DESCRIBE PROPOSITION TYPES``."""

    kind: Kind
    limit: Value | None = None
    cursor: Value | None = None


@dataclass(frozen=True, slots=True)
class DescribeType(Node):
    """``DESCRIBE CONCEPT TYPE "…"`` or ``DESCRIBE PROPOSITION TYPE "…"``."""

    kind: Kind
    name: Value


@dataclass(frozen=True, slots=True)
class Search(Node):
    kind: Kind
    term: Value
    type: Value | None = None
    mode: Value | None = None
    threshold: Value | None = None
    limit: Value | None = None
    cursor: Value | None = None


@dataclass(frozen=True, slots=True)
class Export(Node):
    """``EXPORT ?v WHERE {…} LIMIT n CURSOR "…"``."""

    target: Variable
    where: Block
    limit: Value | None = None
    cursor: Value | None = None


Describe: TypeAlias = DescribePrimer | DescribeDomains | DescribeTypes | DescribeType
Meta: TypeAlias = Describe | Search | Export
Manipulation: TypeAlias = Upsert | Update | MergeConcept | Delete
Command: TypeAlias = Find | Manipulation | Meta
