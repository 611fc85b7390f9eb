"""The values that FILTERs look at, fetched where the variable is bound (docs/decisions/006).

Fetched where they are used instead, a variable that may be null there would match every node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.scopes import PREDICATE_NAME, Binding, Frame, Scope
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.algebra import (
    BGP,
    UNIT,
    Call,
    Expression,
    Extend,
    Hole,
    Lateral,
    LeftJoin,
    Pattern,
    TriplePattern,
)

_NAMESPACES = {"attributes": vocab.ATTRIBUTE, "metadata": vocab.METADATA}
FETCHES_A_GROUP = 8
"""Planning time grows with the fourth power of the OPTIONALs of one group."""


Fetched: TypeAlias = tuple[str, str, str | None]
"""A value of an element: variable, field and key."""


def shown(
    pattern: Pattern, scope: Scope, wanted: Iterable[Fetched], frame: Frame
) -> tuple[Pattern, dict[Fetched, Variable]]:
    """A pattern with the attributes and metadata that are to be shown, as far as they come cheap:
    one group each, since the planner is not to order them."""
    found: dict[Fetched, Variable] = {}
    for name, field, key in wanted:
        binding, namespace = scope[name], _NAMESPACES.get(field)
        # A variable that may be unbound would match every element here.
        if binding.nullable or binding.predicate or namespace is None or key is None:
            continue
        value = found[name, field, key] = frame.value(binding.carrier, field, key)
        # What a FILTER looks at is there already, wherever its variable is bound.
        if (field, key) not in frame.needs.get(name, ()):
            triple = TriplePattern(binding.term, NamedNode(namespace + key), value)
            optional = LeftJoin(UNIT, BGP((triple,)))
            pattern = optional if pattern == UNIT else Lateral(pattern, optional)
        if len(found) == FETCHES_A_GROUP:
            break
    return pattern, found


def fetch(pattern: Pattern, bindings: Mapping[str, Binding], frame: Frame, iris: Iris) -> Pattern:
    """A pattern with the needed values of some variables, each of them surely bound in it."""
    wanted = [
        (binding, field, key)
        for name, binding in bindings.items()
        for field, key in sorted(frame.needs.get(name, ()), key=str)
        if binding.predicate == (field == PREDICATE_NAME)
    ]
    for start in range(0, len(wanted), FETCHES_A_GROUP):
        group = wanted[start : start + FETCHES_A_GROUP]
        if start == 0:
            pattern = _fetch_group(pattern, group, frame, iris)
        else:
            pattern = Lateral(pattern, _fetch_group(UNIT, group, frame, iris))
    return pattern


def _fetch_group(
    pattern: Pattern,
    wanted: Iterable[tuple[Binding, str, str | None]],
    frame: Frame,
    iris: Iris,
) -> Pattern:
    for binding, field, key in wanted:
        value = frame.value(binding.carrier, field, key)
        pattern = _Fetch(frame, iris).one(pattern, binding.term, field, key, value)
    return pattern


class _Fetch:
    def __init__(self, frame: Frame, iris: Iris) -> None:
        self._fresh = frame.namer.fresh
        self._iris = iris

    def one(
        self,
        pattern: Pattern,
        node: Variable | NamedNode | Hole,
        field: str,
        key: str | None,
        value: Variable,
    ) -> Pattern:
        """A pattern with one value of a node; the value is unbound where the node has none."""
        if field in _NAMESPACES:
            assert key is not None
            return _optional(pattern, (node, NamedNode(_NAMESPACES[field] + key), value))
        if field == "name":
            return _optional(pattern, (node, vocab.LABEL, value))
        if field == "type":
            definition = self._fresh("type")
            found = _optional(pattern, (node, vocab.TYPE, definition))
            return Extend(found, value, _after(definition, self._iris.concept_types))
        if field == "id":
            return self._id(pattern, node, value)
        if field == PREDICATE_NAME:
            return Extend(pattern, value, _after(node, self._iris.predicates))
        fact = self._fresh("fact")
        found = _optional(pattern, (node, vocab.REIFIES, fact))
        if field == "predicate":
            named = _after(Call("PREDICATE", (fact,)), self._iris.predicates)
            return Extend(found, value, named)
        end = self._fresh(field)
        reached = Extend(
            BGP((TriplePattern(node, vocab.REIFIES, fact),)), end, Call(field.upper(), (fact,))
        )
        return Lateral(pattern, LeftJoin(UNIT, self._id(reached, end, value)))

    def _id(self, pattern: Pattern, node: Variable | NamedNode | Hole, value: Variable) -> Pattern:
        """``C:Type/name`` from type and label; ``P:digits:predicate`` from the IRI."""
        definition, name = self._fresh("type"), self._fresh("name")
        concept = BGP(
            (
                TriplePattern(node, vocab.TYPE, definition),
                TriplePattern(node, vocab.LABEL, name),
            )
        )
        type_name = _after(definition, self._iris.concept_types)
        concept_id = Call("CONCAT", (Literal("C:"), type_name, Literal("/"), name))
        rest = Call("REPLACE", (_after(node, self._iris.propositions), Literal("/"), Literal(":")))
        proposition_id = Call("CONCAT", (Literal("P:"), rest))
        found = Lateral(pattern, LeftJoin(UNIT, concept))
        return Extend(found, value, Call("COALESCE", (concept_id, proposition_id)))


def _optional(
    pattern: Pattern, triple: tuple[Variable | NamedNode | Hole, NamedNode, Variable]
) -> Pattern:
    return LeftJoin(pattern, BGP((TriplePattern(*triple),)))


def _after(node: Expression, prefix: str) -> Expression:
    return Call("STRAFTER", (Call("STR", (node,)), Literal(prefix)))
