"""Translates WHERE to an algebra pattern that says what is meant: one function for each clause.

A block is cut at OPTIONAL and UNION. What is between them is a ``Group``: its clauses and FILTERs
commute, since a null never matches (docs/decisions/006). The order of joins, and where the values
that FILTERs read are fetched, is left to the passes in ``kql.optimize``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias, assert_never, cast

from pyoxigraph import Variable

from kiprdf.dataclasses import dataclass
from kiprdf.kql import clauses, comparisons
from kiprdf.kql.entailment import STATED, Sight
from kiprdf.kql.scopes import PREDICATE_NAME, Binding, Namer, NameScope, Scope, Values
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.semantics import scope as kip_scope
from kiprdf.sparql.algebra import (
    UNIT,
    AntiJoin,
    Call,
    Expression,
    Extend,
    Filter,
    Group,
    Infix,
    Lateral,
    LeftJoin,
    Negation,
    Pattern,
    Union,
    variables,
)

Path: TypeAlias = tuple[str, str, str | None]
"""A value of an element: KQL variable, field and key."""

MOST_PROJECTED = 8
"""Values that come with their elements; others are read for the page."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The pattern of a WHERE.

    ``scope`` maps each KQL variable to its SPARQL variable, ``values`` what its value
    variables stand for, ``projected`` those that are read besides the FILTERs' own. ``namer`` has
    names for what the passes add.
    """

    pattern: Pattern
    scope: Scope
    values: Values
    projected: dict[Path, Variable]
    namer: Namer


def translate(
    where: ast.Block,
    iris: Iris,
    projected: Iterable[Path] = (),
    sight: Sight = STATED,
) -> Translation:
    """The pattern of a WHERE for a store in which its exact identities exist.

    ``projected`` are values to be read with the elements; those of attributes and metadata are,
    where their variable cannot be null.
    """
    required = clauses.required(where, iris, sight.rules)
    existing = frozenset(nodes[0] for nodes in required if len(nodes) == 1)
    frame = NameScope(Namer(), existing, sight)
    block = _Block(iris, frame, {})
    pattern = block.translate(where)
    paths: dict[Path, Variable] = {}
    for name, field, key in projected:
        binding = block.scope[name]
        is_read = key is not None and not (binding.nullable or binding.predicate)
        if is_read and len(paths) < MOST_PROJECTED:
            paths[name, field, key] = frame.value(binding.carrier, field, key)
    return Translation(pattern, block.scope, frame.values, paths, frame.namer)


def lateral(left: Pattern, right: Pattern) -> Pattern:
    """A correlated join, or the right side alone where nothing comes before it."""
    return right if left == UNIT else Lateral(left, right)


class _Block:
    """The translation of one block; ``outer`` is what it sees of the scope around it."""

    def __init__(self, iris: Iris, frame: NameScope, outer: Scope) -> None:
        self._iris = iris
        self._frame = frame
        self._outer = outer
        self.scope: dict[str, Binding] = dict(outer)
        self._pattern: Pattern = UNIT
        self._group: list[clauses.Clause] = []
        self._filters: list[ast.Filter] = []
        self._nots: list[tuple[ast.Not, frozenset[str]]] = []
        self._started = False

    def translate(self, block: ast.Block) -> Pattern:
        for clause in block.clauses:
            match clause:
                case ast.ConceptClause() | ast.PropositionClause():
                    self._group.append(clause)
                case ast.Filter():
                    self._filters.append(clause)
                case ast.Not():
                    self._nots.append((clause, frozenset(self._visible())))
                case ast.Optional():
                    self._close_group()
                    self._optional(clause)
                case ast.Union():
                    self._close_group()
                    self._union(clause)
                case _:
                    assert_never(clause)
            self._started = True
        self._close_group()
        return self._pattern

    def _visible(self) -> set[str]:
        """The names that a clause at this place of the text sees."""
        names = set(self.scope)
        for clause in self._group:
            names.update(variable.name for variable, _ in kip_scope.mentions(clause))
        return names

    # A group ----------------------------------------------------------------------------------

    def _close_group(self) -> None:
        """Clauses and FILTERs become a group, then NOTs are applied."""
        filters, self._filters = self._filters, []
        if self._group:
            self._require_bound()
            parts = clauses.parts(self._group, self.scope, self._frame, self._iris)
            self._group = []
            self.scope.update(parts.bindings)
            self._pattern = Group(
                self._pattern,
                tuple(parts.patterns),
                tuple((binding.carrier, binding.term) for binding in parts.constants.values()),
                (*parts.conditions, *map(self._condition, _conjuncts(filters))),
            )
        else:
            for condition in _conjuncts(filters):
                self._pattern = Filter(self._pattern, self._condition(condition))
        for negated, visible in self._nots:
            self._not(negated, visible)
        self._nots = []

    def _require_bound(self) -> None:
        """A clause drops the solutions in which a variable that it mentions is null."""
        names = {v.name for clause in self._group for v, _ in kip_scope.mentions(clause)}
        for name in sorted(names & set(self.scope)):
            binding = self.scope[name]
            if binding.nullable:
                self._pattern = Filter(self._pattern, Call("BOUND", (binding.carrier,)))
                alias = self._alias(binding)
                self.scope[name] = replace(binding, term=alias, nullable=False)

    # NOT, OPTIONAL, UNION ---------------------------------------------------------------------

    def _not(self, clause: ast.Not, visible: frozenset[str]) -> None:
        """Keep a solution when the block cannot be completed (KIP 3.4.7.1)."""
        # AntiJoin, not MINUS: the block's filters may compare with outer variables.
        outer = {name: self.scope[name] for name in self.scope if name in visible}
        outer = self._aliased(outer, clause.block)
        frame = self._frame.inner()
        right = _Block(self._iris, frame, outer).translate(clause.block)
        shared = self._shared(right)
        self._pattern = AntiJoin(self._pattern, right, shared, self._frame.namer.fresh("found"))

    def _shared(self, right: Pattern) -> tuple[Variable, ...]:
        """The variables of this block, and values of them, that a NOT mentions."""
        bound = variables(self._pattern)
        for binding in self.scope.values():
            bound |= variables((binding.carrier, binding.term))
        bound |= {name for name, value in self._frame.values.items() if value.node in bound}
        return tuple(sorted(variables(right) & bound, key=lambda variable: variable.value))

    def _optional(self, clause: ast.Optional) -> None:
        """Left join; what the block binds is null on a miss (KIP 3.4.7.2)."""
        outer = self._aliased(self.scope, clause.block)
        block = _Block(self._iris, self._frame, outer)
        right = block.translate(clause.block)
        # LATERAL, since a plain OPTIONAL hides the outer variables from the groups inside it.
        self._pattern = lateral(self._pattern, LeftJoin(UNIT, right))
        for name, binding in block.scope.items():
            if name not in self.scope:
                self.scope[name] = replace(binding, term=binding.carrier, nullable=True)

    def _union(self, clause: ast.Union) -> None:
        """(Everything so far) ∪ (the block in a fresh scope), row by row (KIP 3.4.7.3)."""
        frame = self._frame
        if self._outer:
            # LATERAL would leak the outer solution into the branch under a common name.
            names = [n for n in kip_scope.exported(clause.block) if n not in self._outer]
            frame = frame.inner(names)
        block = _Block(self._iris, frame, {})
        branch = block.translate(clause.block)
        for name, outer in self._outer.items():
            if name in block.scope:
                same = Call("sameTerm", (block.scope[name].carrier, outer.carrier))
                branch = Filter(branch, same)
        first = not self._started
        self._pattern = branch if first else Union((self._pattern, branch))
        self._merge(block.scope, first)

    def _merge(self, branch: Scope, first: bool) -> None:
        """A name is surely bound after a UNION when both sides surely bind it."""
        before = {n: b for n, b in self.scope.items() if n not in self._outer}
        merged: dict[str, Binding] = dict(self._outer)
        for name in {**before, **branch}:
            if name in self._outer:
                continue
            sides = [side[name] for side in (before, branch) if name in side]
            sure = (len(sides) == 2 or first) and not any(side.nullable for side in sides)
            carrier = self._frame.carrier(name)
            merged[name] = Binding(carrier, carrier, not sure, sides[0].predicate)
        self.scope = merged

    def _aliased(self, visible: Scope, block: ast.Block) -> dict[str, Binding]:
        """The scope a block sees: what may be null gets an alias there that never is."""
        inner = dict(visible)
        for name in sorted(kip_scope.mentioned_from_outside(block) & set(inner)):
            if inner[name].nullable:
                inner[name] = replace(inner[name], term=self._alias(inner[name]), nullable=False)
        return inner

    def _alias(self, binding: Binding) -> Variable:
        alias = self._frame.namer.fresh(f"{binding.carrier.value}_or_none")
        fallback = Call("COALESCE", (binding.carrier, vocab.NONE))
        self._pattern = Extend(self._pattern, alias, fallback)
        return alias

    # FILTER -----------------------------------------------------------------------------------

    def _condition(self, condition: ast.Condition) -> Expression:
        match condition:
            case ast.Comparison():
                left, right = self._operand(condition.left), self._operand(condition.right)
                return comparisons.compare(condition.operator, left, right)
            case ast.Membership():
                operand = self._operand(condition.operand)
                if isinstance(condition.options, ast.Path):
                    return comparisons.member_of(operand, self._operand(condition.options))
                return comparisons.member(operand, cast(ast.Array, condition.options).items)
            case ast.NullTest():
                tested = comparisons.is_null(self._operand(condition.operand))
                return Negation(tested) if condition.negated else tested
            case ast.StringTest():
                operand, argument = map(self._operand, (condition.operand, condition.argument))
                return comparisons.string_test(condition.function, operand, argument)
            case ast.Truth():
                return comparisons.truth(self._operand(condition.operand))
            case ast.Negation():
                return Negation(self._condition(condition.operand))
            case ast.Conjunction():
                return Infix("&&", tuple(map(self._condition, condition.operands)))
            case ast.Disjunction():
                return Infix("||", tuple(map(self._condition, condition.operands)))
            case _:
                assert_never(condition)

    def _operand(self, operand: ast.Operand) -> comparisons.Operand:
        match operand:
            case ast.Variable():
                binding = self.scope[operand.name]
                if not binding.predicate:
                    return comparisons.NodeOperand(binding.carrier)
                return self._value(binding, PREDICATE_NAME, None)
            case ast.Path():
                binding = self.scope[operand.variable.name]
                return self._value(binding, operand.field, operand.key)
            case _:
                return comparisons.literal_operand(operand)

    def _value(self, binding: Binding, field: str, key: str | None) -> comparisons.Operand:
        variable = self._frame.value(binding.carrier, field, key)
        is_text = key is None
        return (comparisons.TextOperand if is_text else comparisons.ValueOperand)(variable)


def _conjuncts(filters: Iterable[ast.Filter]) -> Iterator[ast.Condition]:
    """The conditions that must all hold."""
    for clause in filters:
        condition = clause.condition
        if isinstance(condition, ast.Conjunction):
            yield from condition.operands
        else:
            yield condition
