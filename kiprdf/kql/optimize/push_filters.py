"""Conditions that a pattern can say: ``?x.name == "Aspirin"`` is ``?x {name: "Aspirin"}``.

A FILTER is applied to solutions that exist; a pattern is where the engine may begin. The condition
stays, and the pattern is added to its group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.clauses import node_of_id
from kiprdf.kql.scopes import Namer, Value, Values
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql.algebra import (
    BGP,
    Condition,
    Expression,
    Group,
    Hole,
    Hops,
    Pattern,
    TextOf,
    TriplePattern,
    TripleTerm,
    Union,
    certain_variables,
    map_patterns,
    variables,
)

NAMESPACES = {"attributes": vocab.ATTRIBUTE, "metadata": vocab.METADATA}


def push_filters(
    pattern: Pattern, values: Values, iris: Iris, namer: Namer, texts: bool = True
) -> Pattern:
    """The same solutions, with the patterns that the conditions of its groups imply.

    A value is found by its text where the store has a graph of ``texts``.
    """
    return _Push(values, iris, namer, texts).pattern(pattern, frozenset())


class _Push:
    def __init__(self, values: Values, iris: Iris, namer: Namer, texts: bool) -> None:
        self._values = values
        self._texts = texts
        self._iris = iris
        self._namer = namer

    def pattern(self, pattern: Pattern, bound: frozenset[Variable]) -> Pattern:
        def visit(part: Pattern, before: Pattern, _: object) -> Pattern:
            return self.pattern(part, bound | variables(before))

        pattern = map_patterns(pattern, visit)
        return self._group(pattern, bound) if isinstance(pattern, Group) else pattern

    def _group(self, group: Group, bound: frozenset[Variable]) -> Group:
        parts = group.parts
        # What is bound outside of the group may be null there.
        outside = bound | variables(group.before)
        for value, text in _required_texts(group.conditions, self._values):
            value = _end_of_link(value, parts)
            if value.node in outside or value.node not in _certain(parts):
                continue
            if value.field == "id":
                group = self._identify(replace(group, parts=parts), value.node, text)
                parts = group.parts
            else:
                parts += self._implied(value, text)
        return replace(group, parts=parts)

    def _implied(self, value: Value, text: Literal | Hole) -> tuple[Pattern, ...]:
        """The pattern that says what a field of an element is."""
        if value.field == "name":
            return (BGP((TriplePattern(value.node, vocab.LABEL, text),)),)
        if value.field == "type" and isinstance(text, Literal):
            return (BGP((TriplePattern(value.node, vocab.TYPE, self._iris.type(text.value)),)),)
        if self._texts and value.field in NAMESPACES and value.key is not None:
            predicate = NamedNode(NAMESPACES[value.field] + value.key)
            # The text may be that of an item, or have a language.
            of_value = TextOf(predicate, vocab.TEXTS)
            return (BGP((TriplePattern(value.node, of_value, text),)),)
        return ()

    def _identify(self, group: Group, node: Variable, text: Literal | Hole) -> Group:
        """A group in which a variable is the element with an id, which must exist."""
        if isinstance(text, Hole):
            return group
        is_link = not text.value.startswith("C:")
        term = node_of_id(text.value, is_link, self._iris)
        predicate = vocab.REIFIES if is_link else vocab.TYPE
        exists = BGP((TriplePattern(term, predicate, self._namer.fresh("exists")),))
        parts = tuple(_substituted(part, node, term) for part in group.parts)
        return replace(group, parts=(*parts, exists), constants=(*group.constants, (node, term)))


def _required_texts(
    conditions: tuple[Expression, ...], values: Values
) -> Iterator[tuple[Value, Literal | Hole]]:
    """Every ``path == "text"`` and ``IN("text", path)``.

    Strings only: 3 and 3.0 are equal, and are two terms.
    """
    for condition in conditions:
        if isinstance(condition, Condition) and condition.name in ("==", "IN"):
            variable, text = condition.operands
            if condition.name == "IN":
                variable, text = text, variable
            is_value = isinstance(variable, Variable) and variable in values
            if is_value and isinstance(text, Literal | Hole) and _is_text(text):
                yield values[cast(Variable, variable)], text


def _is_text(term: Literal | Hole) -> bool:
    if isinstance(term, Hole):
        return term.kind == "text"
    return term.datatype == vocab.STRING


def _end_of_link(value: Value, parts: tuple[Pattern, ...]) -> Value:
    """``?l.subject`` is the id of the variable that is the subject of ``?l`` in the same group."""
    if value.field not in ("subject", "object"):
        return value
    for end in _ends_of_link(value.node, parts):
        if isinstance(term := end[value.field == "object"], Variable):
            return Value(term, "id", None)
    return value


def _ends_of_link(link: Variable, parts: tuple[Pattern, ...]) -> Iterator[tuple[Any, Any]]:
    for part in parts:
        if isinstance(part, Hops) and part.link == link:
            yield part.subject, part.object
        elif isinstance(part, Union):
            yield from _ends_of_link(link, part.branches[:1])
        elif isinstance(part, BGP):
            for triple in part.triples:
                if triple.subject == link and isinstance(triple.object, TripleTerm):
                    yield triple.object.subject, triple.object.object


def _certain(parts: tuple[Pattern, ...]) -> set[Variable]:
    return set().union(*map(certain_variables, parts))


def _substituted(node: Any, variable: Variable, term: NamedNode) -> Any:
    """A part of a group that mentions a term in the place of a variable."""
    if node == variable:
        return term
    if isinstance(node, tuple):
        return tuple(_substituted(item, variable, term) for item in node)
    if isinstance(node, TriplePattern | TripleTerm):
        terms = (node.subject, node.predicate, node.object)
        return type(node)(*_substituted(terms, variable, term))
    if isinstance(node, Hops):
        ends = _substituted((node.subject, node.object), variable, term)
        return replace(node, subject=ends[0], object=ends[1])
    if isinstance(node, BGP):
        return BGP(_substituted(node.triples, variable, term))
    if isinstance(node, Union):
        return Union(_substituted(node.branches, variable, term))
    return node
