"""WHERE to a SPARQL pattern: one function a clause.

A block is cut at OPTIONAL and UNION. Inside a segment clauses and FILTERs commute, since a null
never matches (docs/decisions/006): the segment's patterns are joined in the best order, then the
values that FILTERs need are fetched, then FILTERs and NOTs are applied.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, assert_never, cast

from pyoxigraph import Variable

from kiprdf.kql import expressions, fetches, joins, segments
from kiprdf.kql.anchors import Value, anchors, conjuncts
from kiprdf.kql.fetches import Fetched
from kiprdf.kql.joins import lateral
from kiprdf.kql.scopes import (
    PREDICATE_NAME,
    Binding,
    Frame,
    Namer,
    Scope,
    Usage,
    mention_counts,
    needs_of,
)
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
    Infix,
    LeftJoin,
    Negation,
    Pattern,
    Union,
    variables,
)


class Translation(NamedTuple):
    """The pattern of a WHERE, how each KQL variable that it binds stands in it, and the variables
    of the values that it brings besides."""

    pattern: Pattern
    scope: Scope
    values: dict[Fetched, Variable]


def translate(
    where: ast.Block,
    iris: Iris,
    projected: frozenset[str] | None = None,
    values: Iterable[Fetched] = (),
) -> Translation:
    """The pattern of a WHERE.

    It holds where the WHERE was probed: the exact identities of its mandatory pattern exist.
    ``projected`` are the names whose values matter; without it, all do. ``values`` are wanted of
    attributes and metadata; those come that hang on a variable which is surely bound.
    """
    usage = Usage(projected, mention_counts(where))
    frame = Frame(Namer(), needs_of(where), usage, frozenset(segments.required(where, iris)))
    block = _Block(iris, frame, {})
    pattern, found = fetches.shown(block.translate(where), block.scope, values, frame)
    return Translation(pattern, block.scope, found)


class _Block:
    """The translation of one block; ``outer`` is what it sees of the scope around it."""

    def __init__(self, iris: Iris, frame: Frame, outer: Scope) -> None:
        self._iris = iris
        self._frame = frame
        self._outer = outer
        self.scope: dict[str, Binding] = dict(outer)
        self._pattern: Pattern = UNIT
        self._bound: set[Variable] = set()
        for binding in outer.values():
            self._bind(binding)
        self._segment: list[ast.ConceptClause | ast.PropositionClause] = []
        self._filters: list[ast.Filter] = []
        self._nots: list[tuple[ast.Not, frozenset[str]]] = []
        self._started = False

    def translate(self, block: ast.Block) -> Pattern:
        for clause in block.clauses:
            match clause:
                case ast.ConceptClause() | ast.PropositionClause():
                    self._segment.append(clause)
                case ast.Filter():
                    self._filters.append(clause)
                case ast.Not():
                    self._nots.append((clause, frozenset(self._visible())))
                case ast.Optional():
                    self._close_segment()
                    self._optional(clause)
                case ast.Union():
                    self._close_segment()
                    self._union(clause)
                case _:
                    assert_never(clause)
            self._started = True
        self._close_segment()
        return self._pattern

    def _bind(self, binding: Binding) -> None:
        self._bound.add(binding.carrier)
        if isinstance(binding.term, Variable):
            self._bound.add(binding.term)

    def _visible(self) -> set[str]:
        """The names that a clause at this place of the text sees."""
        names = set(self.scope)
        for clause in self._segment:
            names.update(variable.name for variable, _ in kip_scope.mentions(clause))
        return names

    # A segment --------------------------------------------------------------------------------

    def _close_segment(self) -> None:
        """Join the segment's patterns, apply its FILTERs as early as can be, then its NOTs."""
        conditions = list(conjuncts(self._filters))
        self._filters = []
        if self._segment:
            self._join_segment(conditions)
        for condition in conditions:
            self._pattern = Filter(self._pattern, self._condition(condition))
        for negated, visible in self._nots:
            self._not(negated, visible)
        self._nots = []

    def _join_segment(self, conditions: list[ast.Condition]) -> None:
        """Join the patterns and fetch what FILTERs look at; takes the conditions it applies."""
        self._require_bound()
        clauses, values = self._demanded(conditions)
        units = segments.units(clauses, values, self.scope, self._frame, self._iris)
        wanted = self._wanted(units)
        self._segment = []
        settled = set(self.scope)
        self.scope.update(units.bindings)
        # Constants are bound behind the join, and a link that may be null brings its values.
        late = {n: b for n, b in units.bindings.items() if n in units.constants or b.nullable}
        unsettled = {n: b for n, b in units.bindings.items() if n not in late}
        settle = functools.partial(self._settle, unsettled, settled, conditions)
        fresh = self._frame.namer.fresh
        self._pattern = joins.join(self._pattern, units.units, self._bound, wanted, settle, fresh)
        for binding in units.constants.values():
            self._pattern = Extend(self._pattern, binding.carrier, binding.term)
        for further in units.conditions:
            self._pattern = Filter(self._pattern, further)
        for binding in units.bindings.values():
            self._bind(binding)
        constants = {n: b for n, b in late.items() if not b.nullable}
        self._pattern = fetches.fetch(self._pattern, constants, self._frame, self._iris)

    def _settle(
        self,
        unsettled: dict[str, Binding],
        settled: set[str],
        conditions: list[ast.Condition],
        pattern: Pattern,
    ) -> Pattern:
        """Fetch the values of what is bound by now; apply the conditions that can be judged."""
        ready = {n: b for n, b in unsettled.items() if b.carrier in self._bound}
        pattern = fetches.fetch(pattern, ready, self._frame, self._iris)
        settled.update(ready)
        for name in ready:
            del unsettled[name]
        for condition in [c for c in conditions if _names(c) <= settled]:
            pattern = Filter(pattern, self._condition(condition))
            conditions.remove(condition)
        return pattern

    def _demanded(
        self, conditions: list[ast.Condition]
    ) -> tuple[list[ast.ConceptClause | ast.PropositionClause], list[Value]]:
        """The segment's clauses with what its conditions demand of the names it binds."""
        new = self._visible() - set(self.scope)
        found = list(anchors(conditions, new, self._segment))
        clauses = [anchor for anchor in found if not isinstance(anchor, Value)]
        return self._segment + clauses, [value for value in found if isinstance(value, Value)]

    def _wanted(self, units: segments.Units) -> set[Variable]:
        """The variables of the segment at which anything outside of it looks."""
        here = Counter(v.name for clause in self._segment for v, _ in kip_scope.mentions(clause))
        return {
            binding.carrier
            for name, binding in units.bindings.items()
            if self._frame.is_used_outside(name, here[name])
        }

    def _require_bound(self) -> None:
        """A clause drops the solutions in which a variable that it mentions is null."""
        names = {v.name for clause in self._segment for v, _ in kip_scope.mentions(clause)}
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
        frame = self._frame.inner(needs_of(clause.block))
        right = _Block(self._iris, frame, outer).translate(clause.block)
        shared = self._shared(right)
        self._pattern = AntiJoin(self._pattern, right, shared, self._frame.namer.fresh("found"))

    def _shared(self, right: Pattern) -> tuple[Variable, ...]:
        mentioned = variables(right)
        known = self._bound | {
            self._frame.value(binding.carrier, field, key)
            for name, binding in self.scope.items()
            for field, key in self._frame.needs.get(name, ())
        }
        return tuple(sorted(mentioned & known, key=lambda variable: variable.value))

    def _optional(self, clause: ast.Optional) -> None:
        """Left join; what the block binds is null on a miss (KIP 3.4.7.2)."""
        outer = self._aliased(self.scope, clause.block)
        block = _Block(self._iris, self._frame, outer)
        right = block.translate(clause.block)
        # LATERAL, since a plain OPTIONAL hides the outer variables from the groups inside it.
        self._pattern = lateral(self._pattern, LeftJoin(UNIT, right))
        for name, binding in block.scope.items():
            if name not in self.scope:
                nullable = replace(binding, term=binding.carrier, nullable=True)
                self.scope[name] = nullable
                self._bind(nullable)

    def _union(self, clause: ast.Union) -> None:
        """(Everything so far) ∪ (the block in a fresh scope), row by row (KIP 3.4.7.3)."""
        frame = self._frame
        if self._outer:
            # LATERAL would leak the outer solution into the branch under a common name.
            own = [n for n in kip_scope.exported(clause.block) if n not in self._outer]
            frame = frame.inner(frame.needs, own)
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
        """A name is surely bound behind a UNION when both sides bind it surely."""
        before = {n: b for n, b in self.scope.items() if n not in self._outer}
        merged: dict[str, Binding] = dict(self._outer)
        for name in {**before, **branch}:
            if name in self._outer:
                continue
            sides = [side[name] for side in (before, branch) if name in side]
            sure = (len(sides) == 2 or first) and not any(side.nullable for side in sides)
            carrier = self._frame.carrier(name)
            merged[name] = Binding(carrier, carrier, not sure, sides[0].predicate)
            self._bind(merged[name])
        self.scope = merged

    def _aliased(self, visible: Scope, block: ast.Block) -> dict[str, Binding]:
        """The scope a block sees: what may be null there stands under an alias that never is."""
        seen = dict(visible)
        for name in sorted(kip_scope.mentioned_from_outside(block) & set(seen)):
            if seen[name].nullable:
                seen[name] = replace(seen[name], term=self._alias(seen[name]), nullable=False)
        return seen

    def _alias(self, binding: Binding) -> Variable:
        alias = self._frame.namer.fresh(f"{binding.carrier.value}_or_none")
        fallback = Call("COALESCE", (binding.carrier, vocab.NONE))
        self._pattern = Extend(self._pattern, alias, fallback)
        self._bound.add(alias)
        return alias

    # FILTER -----------------------------------------------------------------------------------

    def _condition(self, condition: ast.Condition) -> Expression:
        match condition:
            case ast.Comparison():
                left, right = self._operand(condition.left), self._operand(condition.right)
                return expressions.compare(condition.operator, left, right)
            case ast.Membership():
                options = cast(ast.Array, condition.options).items
                return expressions.member(self._operand(condition.operand), options)
            case ast.NullTest():
                tested = expressions.is_null(self._operand(condition.operand))
                return Negation(tested) if condition.negated else tested
            case ast.StringTest():
                operand, argument = map(self._operand, (condition.operand, condition.argument))
                return expressions.string_test(condition.function, operand, argument)
            case ast.Truth():
                return expressions.truth(self._operand(condition.operand))
            case ast.Negation():
                return Negation(self._condition(condition.operand))
            case ast.Conjunction():
                return Infix("&&", tuple(map(self._condition, condition.operands)))
            case ast.Disjunction():
                return Infix("||", tuple(map(self._condition, condition.operands)))
            case _:
                assert_never(condition)

    def _operand(self, operand: ast.Operand) -> expressions.Operand:
        match operand:
            case ast.Variable():
                binding = self.scope[operand.name]
                if not binding.predicate:
                    return expressions.NodeOperand(binding.carrier)
                return self._value(binding, PREDICATE_NAME, None)
            case ast.Path():
                binding = self.scope[operand.variable.name]
                return self._value(binding, operand.field, operand.key)
            case _:
                return expressions.literal_operand(operand)

    def _value(self, binding: Binding, field: str, key: str | None) -> expressions.ValueOperand:
        return expressions.ValueOperand(self._frame.value(binding.carrier, field, key))


def _names(condition: ast.Condition) -> set[str]:
    """The variables a condition looks at."""
    found: set[str] = set()
    for operand in kip_scope.operands(condition):
        if isinstance(operand, ast.Variable):
            found.add(operand.name)
        elif isinstance(operand, ast.Path):
            found.add(operand.variable.name)
    return found
