"""WHERE: one function a clause, by nested loops (section 5 of the semantics, KIP 3.4).

A solution maps every variable in scope to an element, a predicate's name, or None for null. A
block is evaluated from the one solution around it: the empty one for WHERE and UNION, the outer
solution for NOT and OPTIONAL; every solution it returns extends that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, assert_never

from kiprdf.errors import KipError
from kiprdf.language import ast
from tests.oracle.answer import Answer, answer
from tests.oracle.check import bound_by, bound_by_clause, check, identities
from tests.oracle.conditions import holds
from tests.oracle.graph import Graph, Pair
from tests.oracle.values import Element

Value: TypeAlias = Element | str | None
Solution: TypeAlias = dict[str, Value]
MOST_SOLUTIONS = 2_000


class TooManySolutions(Exception):
    """The naive evaluator gives up; this says nothing about the query."""


def evaluate(find: ast.Find, graph: Graph) -> Answer:
    """The answer to a bound FIND; raises ``KipError`` where the specification refuses it."""
    check(find, graph)
    _check_identities(find.where, graph)
    return answer(find, solutions(find.where, graph), graph)


def solutions(where: ast.Block, graph: Graph) -> list[Solution]:
    """All solutions of a WHERE block."""
    return _Evaluator(graph).block(where, {})


def _check_identities(where: ast.Block, graph: Graph) -> None:
    """Rule: "Exact identities that do not exist are KIP_3002 in the mandatory pattern"; inside NOT,
    OPTIONAL and UNION they simply do not match."""
    for clause in where.clauses:
        if isinstance(clause, ast.ConceptClause | ast.PropositionClause):
            for matcher in identities(clause):
                if not _exists(matcher, graph):
                    raise KipError("KIP_3002", "An exact identity does not exist.")


def _exists(matcher: ast.ConceptMatcher | ast.PropositionId, graph: Graph) -> bool:
    if isinstance(matcher, ast.PropositionId):
        return _text(matcher.id) in graph.propositions
    return any(_concept_matches(matcher, identifier, graph) for identifier in graph.concepts)


def _concept_matches(matcher: ast.ConceptMatcher, identifier: str, graph: Graph) -> bool:
    concept = graph.concepts[identifier]
    return (
        (matcher.id is None or _text(matcher.id) == identifier)
        and (matcher.type is None or graph.is_of_type(identifier, _text(matcher.type)))
        and (matcher.name is None or _text(matcher.name) == concept["name"])
    )


def _text(value: ast.Value | None) -> str:
    assert isinstance(value, ast.Scalar)
    assert isinstance(value.value, str)
    return value.value


class _Evaluator:
    """The clauses over one graph; the matches of a single pattern are computed once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        shown = dict.fromkeys(map(graph.representative, graph.elements()))
        self._elements = {i: Element(i, graph.iri(i)) for i in shown}
        self._patterns: dict[ast.Clause, list[Solution]] = {}
        self._branches: dict[ast.Block, list[Solution]] = {}

    # Blocks -----------------------------------------------------------------------------------

    def block(self, block: ast.Block, outer: Solution) -> list[Solution]:
        """Rule: "Clauses apply in written order to a set of solutions"."""
        solutions = [outer]
        scope = set(outer)
        for number, clause in enumerate(block.clauses):
            if isinstance(clause, ast.Union):
                # "As the first clause of a block it unites with nothing (no all-null row)."
                solutions = self.union(clause, [] if number == 0 else solutions, outer, scope)
            else:
                solutions = self.clause(clause, solutions)
            scope |= bound_by_clause(clause)
            solutions = _distinct(solutions)
            if len(solutions) > MOST_SOLUTIONS:
                raise TooManySolutions
        return solutions

    def clause(self, clause: ast.Clause, solutions: list[Solution]) -> list[Solution]:
        match clause:
            case ast.ConceptClause() | ast.PropositionClause():
                return self.pattern(clause, solutions)
            case ast.Filter():
                return self.filter(clause, solutions)
            case ast.Not():
                return self.not_(clause, solutions)
            case ast.Optional():
                return self.optional(clause, solutions)
            case ast.Union():
                raise AssertionError("a UNION also needs the solution around its block")
            case _:
                assert_never(clause)

    def pattern(
        self, clause: ast.ConceptClause | ast.PropositionClause, solutions: list[Solution]
    ) -> list[Solution]:
        """Rule: "natural join on non-null values, also when no variable is shared. A clause that
        mentions a variable that is null in a solution has no match for that solution … A null is
        never filled in later."."""
        if clause not in self._patterns:
            self._patterns[clause] = _distinct(row for _, row in self.matches(clause))
        joined = (
            combine(solution, row) for solution in solutions for row in self._patterns[clause]
        )
        return [solution for solution in joined if solution is not None]

    def filter(self, clause: ast.Filter, solutions: list[Solution]) -> list[Solution]:
        """FILTER applies "where it stands"."""
        return [
            solution for solution in solutions if holds(clause.condition, solution, self._graph)
        ]

    def not_(self, clause: ast.Not, solutions: list[Solution]) -> list[Solution]:
        """Rule: "discards a solution when its block can be completed, whether or not a variable is
        shared" (KIP 3.4.7.1)."""
        return [solution for solution in solutions if not self.block(clause.block, solution)]

    def optional(self, clause: ast.Optional, solutions: list[Solution]) -> list[Solution]:
        """Rule: "left join; the block as a whole; several matches give several solutions" (KIP
        3.4.7.2)."""
        extended: list[Solution] = []
        for solution in solutions:
            matched = self.block(clause.block, solution)
            extended += matched or [_padded(solution, bound_by(clause.block))]
        return extended

    def union(
        self, clause: ast.Union, so_far: list[Solution], outer: Solution, scope: set[str]
    ) -> list[Solution]:
        """Rule: "(everything so far) ∪ (block, in a fresh scope), row-wise, missing variables null,
        equal rows once … a branch row counts only if it equals the outer solution, non-null, in
        every variable both have" (KIP 3.4.7.3)."""
        if clause.block not in self._branches:
            self._branches[clause.block] = self.block(clause.block, {})
        names = scope | bound_by(clause.block)
        branch = (combine(outer, row) for row in self._branches[clause.block])
        counted = [row for row in branch if row is not None]
        return [_padded(row, names) for row in so_far + counted]

    # Patterns ---------------------------------------------------------------------------------

    def matches(self, endpoint: ast.Endpoint) -> list[tuple[str | None, Solution]]:
        """Every element an endpoint or clause can stand for, with its bindings (KIP 3.4.1,
        3.4.2). The element is None for a hop clause without a direct link."""
        if isinstance(endpoint, ast.Variable):
            return [(i, {endpoint.name: element}) for i, element in self._elements.items()]
        match endpoint.matcher:
            case ast.ConceptMatcher() as matcher:
                matches = self.concept_matches(matcher)
            case ast.PropositionId() as matcher:
                identifier = _text(matcher.id)
                matches = iter([(identifier, {})] if identifier in self._graph.propositions else [])
            case ast.PropositionMatcher() as matcher:
                matches = self.structural_matches(matcher)
            case _:
                assert_never(endpoint.matcher)
        return list(self.named(endpoint.variable, matches))

    def concept_matches(self, matcher: ast.ConceptMatcher) -> Iterator[tuple[str | None, Solution]]:
        for identifier in self._graph.concepts:
            if _concept_matches(matcher, identifier, self._graph):
                yield self._graph.representative(identifier), {}

    def named(
        self, variable: ast.Variable | None, matches: Iterable[tuple[str | None, Solution]]
    ) -> Iterator[tuple[str | None, Solution]]:
        """Bind the variable in front of a matcher."""
        for identifier, row in matches:
            if variable is None:
                yield identifier, row
                continue
            value = None if identifier is None else self._elements[identifier]
            merged = combine(row, {variable.name: value})
            if merged is not None:
                yield identifier, merged

    def structural_matches(
        self, matcher: ast.PropositionMatcher
    ) -> Iterator[tuple[str | None, Solution]]:
        """Rule: "Higher-order patterns correlate"; a variable twice in a clause is an equality."""
        subjects = self.matches(matcher.subject)
        objects = self.matches(matcher.object)
        for subject, link, object_, names in self.edges(matcher.predicate):
            for subject_match, subject_row in subjects:
                if subject_match != subject:
                    continue
                for object_match, object_row in objects:
                    if object_match != object_:
                        continue
                    merged = combine(subject_row, object_row)
                    merged = None if merged is None else combine(merged, names)
                    if merged is not None:
                        yield link, merged

    def edges(
        self, predicate: ast.Predicates | ast.Variable
    ) -> Iterator[tuple[str, str | None, str, Solution]]:
        """Subject, link, object, and the binding of a predicate variable."""
        if isinstance(predicate, ast.Variable):
            for identifier, proposition in self._graph.propositions.items():
                binding: Solution = {predicate.name: proposition["predicate"]}
                subject = self._graph.representative(proposition["subject"])
                object_ = self._graph.representative(proposition["object"])
                yield subject, identifier, object_, binding
            return
        rows: set[tuple[str, str | None, str]] = set()
        for name in predicate.alternatives:
            rows |= set(self.alternative(name))
        for subject, link, object_ in sorted(rows, key=str):
            yield subject, link, object_, {}

    def alternative(self, name: ast.PredicateName) -> Iterator[tuple[str, str | None, str]]:
        """Rule: "a link variable on a hop clause is bound iff the range contains 1 and the direct
        link exists, else null"; each alternative has its own range."""
        direct: dict[Pair, list[str | None]] = {}
        if name.hops is None or _contains(name.hops, 1):
            for pair, link in self._graph.steps(name.name):
                direct.setdefault(pair, []).append(link)
        pairs = (
            self._graph.pairs(name.name) if name.hops is None else self.walks(name.name, name.hops)
        )
        for pair in pairs:
            for link in direct.get(pair, [None]):
                yield pair[0], link, pair[1]

    def walks(self, predicate: str, hops: ast.Hops) -> set[Pair]:
        """Rule: "walks, not simple paths … the result is a set of pairs; zero hops give (x, x) for
        every concept and proposition of the nexus"."""
        step = {pair for pair, _ in self._graph.steps(predicate)}
        reached = {(element, element) for element in self._elements}
        for _ in range(hops.minimum):
            reached = _compose(reached, step)
        pairs = set(reached)
        number = hops.minimum
        while hops.maximum is None or number < hops.maximum:
            reached = _compose(reached, step)
            if hops.maximum is None and reached <= pairs:
                break
            pairs |= reached
            number += 1
        return pairs


def combine(left: Solution, right: Solution) -> Solution | None:
    """Both together, if they agree, non-null, in every variable both have."""
    for name in left.keys() & right.keys():
        if left[name] is None or left[name] != right[name]:
            return None
    return {**left, **right}


def _compose(left: set[Pair], right: set[Pair]) -> set[Pair]:
    return {(start, end) for start, middle in left for other, end in right if middle == other}


def _contains(hops: ast.Hops, number: int) -> bool:
    return hops.minimum <= number and (hops.maximum is None or number <= hops.maximum)


def _padded(solution: Solution, names: Iterable[str]) -> Solution:
    return {**dict.fromkeys(names), **solution}


def _distinct(solutions: Iterable[Solution]) -> list[Solution]:
    return list({frozenset(solution.items()): solution for solution in solutions}.values())
