"""Rewrites a FIND so that it asks for what is valid at a time (docs/decisions/101)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kiprdf.errors import KipError
from kiprdf.kql.beliefs import refuse_marked
from kiprdf.language import ast, parse, to_text
from kiprdf.semantics import periods
from kiprdf.semantics.scope import fresh_names

PARAMETER = "t"
_MARK = f"// Valid at :{PARAMETER}\n"
"""The first line of a rewritten command: its parameter may be a time in any form."""
_TIME = ast.Placeholder(PARAMETER)


def valid_at(command: str) -> str:
    """A FIND in which each pattern ``(…)`` matches only facts that are valid at ``:t``.

    A fact is valid from the beginning to before the end of each of its intervals, and always if it
    has none: those of its Periods, and that of its metadata ``valid_from`` and ``valid_until``.
    The result is KIP 1.0. ``t`` is a time or date in ISO 8601, or as an object of Python. Raises
    ``KipError``: KIP_1001 for another command, one with ``:t``, and a range of hops.

    >>> print(valid_at('FIND(?o.name) WHERE { ({type: "Person", name: "Ada"}, "works_for", ?o) }'))
    // Valid at :t
    FIND(?o.name)
    WHERE {
      ?fact_1 ({type: "Person", name: "Ada"}, "works_for", ?o)
      NOT {
    ...
    """
    refuse_marked(command)
    find = parse(command)
    if not isinstance(find, ast.Find):
        message = "Only a FIND asks for what is valid at a time."
        raise KipError("KIP_1001", message, "Give a FIND.", find.span).in_source(command)
    if re.search(rf"(?<!\w):{PARAMETER}\b", command):
        message = f"The command has a placeholder :{PARAMETER}, which is that of the time."
        raise KipError("KIP_1001", message, "Give it another name.").in_source(command)
    rewriting = _Rewriting(fresh_names(find, "fact"))
    try:
        return _MARK + to_text(replace(find, where=rewriting.block(find.where)))
    except KipError as error:
        raise error.in_source(command) from None


def with_moment(text: object, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of a command, that of ``valid_at`` in the form that texts are compared with.

    Raises KIP_1001 for what is not a time.
    """
    if not (isinstance(text, str) and text.startswith(_MARK) and PARAMETER in parameters):
        return parameters
    return {**parameters, PARAMETER: periods.instant(parameters[PARAMETER], PARAMETER)}


class _Rewriting:
    def __init__(self, names: Iterator[str]) -> None:
        self._names = names

    def block(self, block: ast.Block) -> ast.Block:
        clauses: list[ast.Clause] = []
        for clause in block.clauses:
            if isinstance(clause, ast.PropositionClause):
                clauses += self._valid(clause)
            elif isinstance(clause, ast.Not | ast.Optional | ast.Union):
                clauses.append(replace(clause, block=self.block(clause.block)))
            else:
                clauses.append(clause)
        return ast.Block(tuple(clauses))

    def _valid(self, clause: ast.PropositionClause) -> list[ast.Clause]:
        """A clause and conditions on its facts, which do not multiply its solutions."""
        facts: list[ast.Variable] = []
        named = self._named(clause, facts)
        conditions = map(self._condition, facts)
        if _is_determined(clause):
            return [named, *conditions]
        # Unnamed ends and alternatives test, but do not multiply: one valid match is enough.
        return [clause, _not(_not(named, *conditions))]

    def _named(
        self, clause: ast.PropositionClause, facts: list[ast.Variable]
    ) -> ast.PropositionClause:
        """The clause with a variable for each fact in it, which are added to ``facts``."""
        fact = clause.variable or self._fresh()
        facts.append(fact)
        matcher = clause.matcher
        if isinstance(matcher, ast.PropositionMatcher):
            if isinstance(matcher.predicate, ast.Predicates):
                _refuse_hops(matcher.predicate)
            subject, object_ = (
                self._named(end, facts) if isinstance(end, ast.PropositionClause) else end
                for end in (matcher.subject, matcher.object)
            )
            matcher = replace(matcher, subject=subject, object=object_)
        return replace(clause, variable=fact, matcher=matcher)

    def _fresh(self) -> ast.Variable:
        return ast.Variable(next(self._names))

    def _condition(self, fact: ast.Variable) -> ast.Clause:
        """Keep a fact that has no interval, or one around the time."""
        period, other = self._fresh(), self._fresh()
        start, end = (ast.Path(period, "attributes", key) for key in (periods.FROM, periods.UNTIL))
        is_open = ast.Comparison("==", end, ast.Scalar(periods.OPEN))
        is_later = ast.Disjunction((is_open, ast.Comparison(">", end, _TIME)))
        is_around = ast.Conjunction((ast.Comparison("<=", start, _TIME), is_later))
        given, around = _metadata(fact)
        # The name of a Period that is not an interval gives it no such attribute.
        has_interval = ast.Disjunction((given, ast.NullTest(replace(start, variable=other), True)))
        return _not(
            ast.Optional(ast.Block((_during(fact, other),))),
            ast.Filter(ast.Conjunction((has_interval, ast.Negation(around)))),
            _not(_during(fact, period), ast.Filter(is_around)),
        )


def _metadata(fact: ast.Variable) -> tuple[ast.Condition, ast.Condition]:
    """Whether the metadata of a fact are an interval, and whether that one is around the time."""
    start, end = (
        ast.Path(fact, "metadata", key) for key in (periods.VALID_FROM, periods.VALID_UNTIL)
    )
    given = ast.Disjunction((ast.NullTest(start, True), ast.NullTest(end, True)))
    has_begun = ast.Disjunction((ast.NullTest(start, False), ast.Comparison("<=", start, _TIME)))
    is_later = ast.Disjunction((ast.NullTest(end, False), ast.Comparison(">", end, _TIME)))
    return given, ast.Conjunction((given, has_begun, is_later))


def _during(fact: ast.Variable, period: ast.Variable) -> ast.PropositionClause:
    """That a fact is valid during a Period."""
    predicate = ast.Predicates((ast.PredicateName(ast.Scalar(periods.PREDICATE)),))
    concept = ast.ConceptClause(period, ast.ConceptMatcher(type=ast.Scalar(periods.TYPE)))
    return ast.PropositionClause(None, ast.PropositionMatcher(fact, predicate, concept))


def _not(*clauses: ast.Clause) -> ast.Not:
    return ast.Not(ast.Block(clauses))


def _is_determined(end: ast.Endpoint) -> bool:
    """Whether the named variables of a clause or an end determine the facts in it."""
    if isinstance(end, ast.Variable) or end.variable is not None:
        return True
    if isinstance(end, ast.ConceptClause):
        matcher = end.matcher
        return matcher.id is not None or None not in (matcher.type, matcher.name)
    if isinstance(end.matcher, ast.PropositionId):
        return True
    predicate = end.matcher.predicate
    is_one = isinstance(predicate, ast.Variable) or len(predicate.alternatives) == 1
    return is_one and _is_determined(end.matcher.subject) and _is_determined(end.matcher.object)


def _refuse_hops(predicates: ast.Predicates) -> None:
    for name in predicates.alternatives:
        if name.hops not in (None, ast.Hops(1, 1)):
            message = "Facts between the ends of a range of hops cannot be asked for a time."
            raise KipError("KIP_1001", message, "Write the hops as single patterns.", name.span)
