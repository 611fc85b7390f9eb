"""Conditions that a pattern can say: ``?x.name == "Aspirin"`` is ``?x {name: "Aspirin"}``.

A FILTER is applied to solutions that exist; a pattern is where the engine may begin. The condition
stays, and the pattern is added to its group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, cast

from pyoxigraph import Literal, NamedNode, Variable

from kiprdf.kql.clauses import node_of_id
from kiprdf.kql.comparisons import FALSE, TRUE, Terms, equal_terms, options
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
    Infix,
    OneOf,
    Pattern,
    Start,
    Term,
    TriplePattern,
    TripleTerm,
    Union,
    certain_variables,
    constants,
    is_iri,
    map_patterns,
    variables,
)

MOST_COMMON = 10_000
"""More than the values of an IN."""


def implied_patterns(
    pattern: Pattern,
    values: Values,
    iris: Iris,
    namer: Namer,
    texts: bool = True,
    unused: Collection[TriplePattern] = (),
    plain: Collection[NamedNode] = (),
    first: Collection[TriplePattern] = (),
) -> Pattern:
    """The same solutions, with the patterns that the conditions of its groups imply, and with the
    triples from which a group may start, but not ``unused`` ones.

    A value is found where the store has a graph of ``texts``; those of ``plain`` keys are not in
    that graph. A group starts from ``first`` ones also where it names an element.
    """
    return _Push(values, iris, namer, texts, unused, plain, first).pattern(pattern, frozenset())


class _Push:
    def __init__(
        self,
        values: Values,
        iris: Iris,
        namer: Namer,
        texts: bool,
        unused: Collection[TriplePattern],
        plain: Collection[NamedNode],
        first: Collection[TriplePattern],
    ) -> None:
        self._values = values
        self._texts = texts
        self._unused = unused
        self._plain = plain
        self._first = first
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
        starts = [start for c in group.conditions if (start := self._start(c))]
        inside = _certain(parts) - outside if starts else set()
        usable = [
            start
            for start in sorted(starts, key=lambda s: (not s.first, _commonness(s)))
            if start.triple.subject in inside and start.triple not in self._unused
        ]
        return replace(group, parts=parts, starts=tuple(usable))

    def _start(self, condition: Expression) -> Start | None:
        """The triple that says the same as a condition, if there is one."""
        tested = _options(condition) if self._texts else None
        if tested is None or not tested[1]:
            return None
        value = self._values.get(tested[0])
        equal = list(map(equal_terms, tested[1]))
        predicate = None if value is None else value.predicate
        if value is None or predicate is None or None in equal:
            return None
        each = [terms for terms in equal if terms is not None]
        terms, held = (
            tuple(dict.fromkeys(term for sides in each for term in sides[side])) for side in (0, 1)
        )
        one_of = OneOf(terms, () if predicate in self._plain else held, vocab.TEXTS)
        triple = TriplePattern(value.node, predicate, one_of)
        return Start(triple, condition, triple in self._first)

    def _implied(self, value: Value, text: Literal | Hole) -> tuple[Pattern, ...]:
        """The pattern that says what a field of an element is."""
        if value.field == "name":
            return (BGP((TriplePattern(value.node, vocab.LABEL, text),)),)
        if value.field == "type" and isinstance(text, Literal):
            return (BGP((TriplePattern(value.node, vocab.TYPE, self._iris.type(text.value)),)),)
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
    """Every ``path == "text"`` and ``IN("text", path)``."""
    for condition in conditions:
        tested = options(condition) if isinstance(condition, Condition) else None
        if tested is not None and len(tested[1]) == 1 and tested[0] in values:
            ((variable, (text,)),) = (tested,)
            if isinstance(text, Literal | Hole) and _is_text(text):
                yield values[variable], text


def _options(condition: Expression) -> tuple[Variable, Terms] | None:
    """The one variable that a test, or several tests with ``||``, compare with constants."""
    if isinstance(condition, Condition):
        return options(condition)
    if not isinstance(condition, Infix) or condition.operator != "||":
        return None
    each = [_options(operand) for operand in condition.operands]
    tests = [one for one in each if one is not None]
    if len(tests) < len(each) or len({variable for variable, _ in tests}) > 1:
        return None
    return tests[0][0], tuple(term for _, terms in tests for term in terms)


def _commonness(start: Start) -> int:
    """How many terms a start looks for; booleans are last, since many elements have them."""
    terms = cast(OneOf, start.triple.object).terms
    return len(terms) + MOST_COMMON * (TRUE in terms or FALSE in terms)


class Choice(NamedTuple):
    """The triples from which a group may start to find one element, and those with its type.

    ``facts`` name another element; for a link, they are its fact. ``holes`` are those of the starts
    and the facts.
    """

    starts: tuple[TriplePattern, ...]
    types: tuple[TriplePattern, ...]
    facts: tuple[TriplePattern, ...]
    holes: tuple[Hole, ...]


def choices(pattern: Pattern) -> list[Choice]:
    """The choices of all groups of a pattern."""
    all_choices: list[Choice] = []

    def visit(part: Pattern, *_: object) -> Pattern:
        all_choices.extend(choices(part))
        return part

    map_patterns(pattern, visit)
    if isinstance(pattern, Group):
        triples = [t for part in pattern.parts if isinstance(part, BGP) for t in part.triples]
        for node in dict.fromkeys(start.triple.subject for start in pattern.starts):
            starts = tuple(s.triple for s in pattern.starts if s.triple.subject == node)
            typed = (t for t in triples if t.subject == node and t.predicate == vocab.TYPE)
            types = tuple(t for t in typed if isinstance(t.object, NamedNode))
            facts = tuple(_facts(node, triples))
            holes = tuple(t for t in constants((starts, facts)) if isinstance(t, Hole))
            all_choices.append(Choice(starts, types, facts, holes))
    return all_choices


def _facts(node: Term, triples: list[TriplePattern]) -> Iterator[TriplePattern]:
    """The facts of an element, or the fact of a link, at an element that they name."""
    for triple in triples:
        fact = triple
        if isinstance(triple.object, TripleTerm):
            if triple.subject != node:
                continue
            fact = triple.object.asserted
        elif node not in (triple.subject, triple.object):
            continue
        is_fact = isinstance(fact.predicate, NamedNode) and fact.predicate != vocab.TYPE
        if is_fact and is_iri(fact.subject) != is_iri(fact.object) and len(fact.names) == 1:
            yield fact


def finds_numbers(start: TriplePattern) -> bool:
    """Whether a start finds numbers."""
    return any(map(_is_number, cast(OneOf, start.object).terms))


def _is_number(term: Term) -> bool:
    if isinstance(term, Hole):
        return term.kind == "number"
    return isinstance(term, Literal) and term.datatype == vocab.DOUBLE


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
            # A fact that is read reversed has the ends of the other place.
            if all(forward for hop in part.alternatives for _, forward in hop.links):
                yield part.subject, part.object
        elif isinstance(part, Union):
            ends = {tuple(_ends_of_link(link, (branch,))) for branch in part.branches}
            yield from ends.pop() if len(ends) == 1 else ()
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
