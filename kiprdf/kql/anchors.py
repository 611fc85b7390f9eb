"""Conditions that a pattern can say: ``?x.name == "Aspirin"`` is ``?x {name: "Aspirin"}``.

A FILTER is applied to solutions that exist; a pattern is where the engine may start from. The
condition stays, and the clause is added to its segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias, cast

from pyoxigraph import Literal, NamedNode

from kiprdf.kql.holes import OpenPlaceholder, value_term
from kiprdf.language import ast
from kiprdf.rdf import vocab
from kiprdf.sparql.algebra import Hole


class Value(NamedTuple):
    """A variable's element has a string as an attribute or as metadata."""

    name: str
    predicate: NamedNode
    value: Literal | NamedNode | Hole


Clause: TypeAlias = ast.ConceptClause | ast.PropositionClause
Anchor: TypeAlias = Clause | Value


def conjuncts(filters: Iterable[ast.Filter]) -> Iterator[ast.Condition]:
    """The conditions that must all hold."""
    for clause in filters:
        condition = clause.condition
        if isinstance(condition, ast.Conjunction):
            yield from condition.operands
        else:
            yield condition


def anchors(
    conditions: Iterable[ast.Condition], names: set[str], clauses: Iterable[Clause]
) -> Iterator[Anchor]:
    """What a segment that binds some names may demand besides, given its conditions."""
    links = {
        clause.variable.name: clause.matcher
        for clause in clauses
        if isinstance(clause.matcher, ast.PropositionMatcher) and clause.variable is not None
    }
    for path, text in _demanded_texts(conditions):
        variable = path.variable
        if path.field in ("subject", "object") and variable.name in links:
            matcher = links[variable.name]
            end = matcher.subject if path.field == "subject" else matcher.object
            if isinstance(end, ast.Variable) and end.name in names:
                yield _by_id(end, text)
        elif variable.name in names:
            yield from _anchor(path, text)


def _demanded_texts(
    conditions: Iterable[ast.Condition],
) -> Iterator[tuple[ast.Path, ast.Scalar]]:
    """Every ``path == "text"``, either way round.

    Strings only: 3 and 3.0 are equal, and are two terms.
    """
    for condition in conditions:
        if not isinstance(condition, ast.Comparison) or condition.operator != "==":
            continue
        sides = (condition.left, condition.right)
        for path, value in (sides, sides[::-1]):
            if isinstance(path, ast.Path) and _is_text(value):
                yield path, cast(ast.Scalar, value)


def _is_text(value: ast.Operand) -> bool:
    if isinstance(value, OpenPlaceholder):
        return value.kind == "text"
    return isinstance(value, ast.Scalar) and isinstance(value.value, str)


def _anchor(path: ast.Path, value: ast.Scalar) -> Iterator[Anchor]:
    variable = path.variable
    match path.field:
        case "id":
            yield _by_id(variable, value)
        case "name":
            yield ast.ConceptClause(variable, ast.ConceptMatcher(name=value))
        case "type":
            yield ast.ConceptClause(variable, ast.ConceptMatcher(type=value))
        case "attributes" if path.key is not None:
            yield Value(variable.name, NamedNode(vocab.ATTRIBUTE + path.key), value_term(value))
        case "metadata" if path.key is not None:
            yield Value(variable.name, NamedNode(vocab.METADATA + path.key), value_term(value))
        case _:
            pass


def _by_id(variable: ast.Variable, value: ast.Scalar) -> Clause:
    if cast(str, value.value).startswith("C:"):
        return ast.ConceptClause(variable, ast.ConceptMatcher(id=value))
    return ast.PropositionClause(variable, ast.PropositionId(value))
