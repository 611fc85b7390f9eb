"""The values that FILTERs read, fetched where their element is bound (docs/decisions/006).

Fetched where they are used instead, a variable that may be null there would match every node.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.scopes import PREDICATE_NAME, Namer, Value, Values
from kiprdf.kql.translate import Translation, lateral
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Call,
    Expression,
    Extend,
    Lateral,
    LeftJoin,
    Pattern,
    Project,
    Term,
    TriplePattern,
    certain_variables,
    map_patterns,
    variables,
)

FETCHES_A_GROUP = 8
"""Planning time grows with the fourth power of the OPTIONALs of one group."""


def fetch_values(pattern: Pattern, values: Values, namer: Namer, iris: Iris) -> Pattern:
    """The same solutions with the value variables that the pattern mentions bound."""
    used = variables(pattern)
    mentioned = {name: value for name, value in values.items() if name in used}
    return _Fetch(mentioned, namer, iris).pattern(pattern, frozenset()) if mentioned else pattern


def fetch_projected(pattern: Pattern, translation: Translation) -> Pattern:
    """A pattern with the attributes and metadata that are shown or ordered by: one group each,
    since the planner is not to order them."""
    fetched = variables(pattern)
    for (name, *_), variable in translation.projected.items():
        # What a FILTER reads is there already, wherever its element is bound.
        if variable not in fetched:
            predicate = translation.values[variable].predicate
            assert predicate is not None
            triple = TriplePattern(translation.scope[name].term, predicate, variable)
            pattern = lateral(pattern, LeftJoin(UNIT, BGP((triple,))))
    return pattern


class _Fetch:
    def __init__(self, values: Values, namer: Namer, iris: Iris) -> None:
        self._values: dict[Variable, list[tuple[Value, Variable]]] = {}
        for variable, value in sorted(values.items(), key=lambda item: str(item[1][1:])):
            self._values.setdefault(value.node, []).append((value, variable))
        self._fresh = namer.fresh
        self._iris = iris

    def pattern(self, pattern: Pattern, done: frozenset[Variable]) -> Pattern:
        """A pattern with the values of the elements that it binds; ``done`` have theirs."""

        def visit(part: Pattern, before: Pattern, _: object) -> Pattern:
            return self.pattern(part, done | certain_variables(before))

        if isinstance(pattern, Lateral):
            left = self.pattern(pattern.left, done)
            done |= certain_variables(pattern.left)
            new = certain_variables(pattern.right) - done
            right = self.pattern(pattern.right, done | new)
            return self._with_values(Lateral(left, right), [(node, node) for node in new])
        if isinstance(pattern, Extend):
            inner = map_patterns(pattern, visit)
            is_new = pattern.variable not in done
            return self._with_values(inner, [(pattern.variable, pattern.expression)] * is_new)
        if isinstance(pattern, BGP | Project):
            # The levels of hops read no values.
            return self._with_values(pattern, [(n, n) for n in certain_variables(pattern) - done])
        return map_patterns(pattern, visit)

    def _with_values(
        self, pattern: Pattern, nodes: Iterable[tuple[Variable, Expression]]
    ) -> Pattern:
        """A pattern with the values of some variables, each of them surely bound in it."""
        terms = {node: cast(Term, term) for node, term in nodes}
        fetches = [
            (terms[node], value, variable)
            for node, values in self._values.items()
            if node in terms
            for value, variable in values
        ]
        for start in range(0, len(fetches), FETCHES_A_GROUP):
            inner = pattern if start == 0 else UNIT
            for node, value, variable in fetches[start : start + FETCHES_A_GROUP]:
                inner = self._one(inner, node, value, variable)
            pattern = inner if start == 0 else Lateral(pattern, inner)
        return pattern

    def _one(self, pattern: Pattern, node: Term, value: Value, variable: Variable) -> Pattern:
        """A pattern with one value of a node; it is unbound where the node has none."""
        field = value.field
        predicate = value.predicate
        if predicate is not None:
            return _optional(pattern, node, predicate, variable)
        if field == "name":
            return _optional(pattern, node, vocab.LABEL, variable)
        if field == "type":
            definition = self._fresh("type")
            typed = _optional(pattern, node, vocab.TYPE, definition)
            return Extend(typed, variable, _after(definition, self._iris.concept_types))
        if field == "id":
            return self._id(pattern, node, variable)
        if field == PREDICATE_NAME:
            return Extend(pattern, variable, _after(node, self._iris.predicates))
        fact = self._fresh("fact")
        if field == "predicate":
            name = _after(Call("PREDICATE", (fact,)), self._iris.predicates)
            return Extend(_optional(pattern, node, vocab.REIFIES, fact), variable, name)
        end = self._fresh(field)
        reified = BGP((TriplePattern(node, vocab.REIFIES, fact),))
        reached = Extend(reified, end, Call(field.upper(), (fact,)))
        return Lateral(pattern, LeftJoin(UNIT, self._id(reached, end, variable)))

    def _id(self, pattern: Pattern, node: Term, variable: Variable) -> Pattern:
        """``C:Type/name`` from type and label; ``P:digits:predicate`` from the IRI."""
        definition, name = self._fresh("type"), self._fresh("name")
        typed = TriplePattern(node, vocab.TYPE, definition)
        named = TriplePattern(node, vocab.LABEL, name)
        type_name = _after(definition, self._iris.concept_types)
        concept_id = Call("CONCAT", (Literal("C:"), type_name, Literal("/"), name))
        rest = Call("REPLACE", (_after(node, self._iris.propositions), Literal("/"), Literal(":")))
        proposition_id = Call("CONCAT", (Literal("P:"), rest))
        concept = Lateral(pattern, LeftJoin(UNIT, BGP((typed, named))))
        return Extend(concept, variable, Call("COALESCE", (concept_id, proposition_id)))


def _optional(pattern: Pattern, node: Term, predicate: NamedNode, variable: Variable) -> Pattern:
    return LeftJoin(pattern, BGP((TriplePattern(node, predicate, variable),)))


def _after(node: Expression, prefix: str) -> Expression:
    return Call("STRAFTER", (Call("STR", (node,)), Literal(prefix)))
