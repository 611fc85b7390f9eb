"""Which variables a clause mentions, binds and sees (KIP 3.4.7).

=========  ========================  ===============================
clause     sees outer variables      its variables are seen outside
=========  ========================  ===============================
FILTER     yes                       binds none
OPTIONAL   yes                       yes, null on a miss
NOT        yes, the earlier ones     no
UNION      no                        yes
=========  ========================  ===============================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any, Literal, TypeAlias

from kiprdf.language import ast
from kiprdf.trees import walk

Role: TypeAlias = Literal["concept", "link", "endpoint", "predicate"]
Kind: TypeAlias = Literal["concept", "link", "predicate"]

KINDS: dict[Role, frozenset[Kind]] = {
    "concept": frozenset(("concept",)),
    "link": frozenset(("link",)),
    "endpoint": frozenset(("concept", "link")),
    "predicate": frozenset(("predicate",)),
}
"""What a variable in a role may be bound to."""


def mentions(clause: ast.Endpoint) -> Iterator[tuple[ast.Variable, Role]]:
    """Every variable of a concept or proposition clause, in written order, with its role."""
    if isinstance(clause, ast.Variable):
        yield clause, "endpoint"
    elif isinstance(clause, ast.ConceptClause):
        if clause.variable is not None:
            yield clause.variable, "concept"
    else:
        if clause.variable is not None:
            yield clause.variable, "link"
        if isinstance(clause.matcher, ast.PropositionMatcher):
            yield from mentions(clause.matcher.subject)
            if isinstance(clause.matcher.predicate, ast.Variable):
                yield clause.matcher.predicate, "predicate"
            yield from mentions(clause.matcher.object)


def exported(block: ast.Block) -> dict[str, None]:
    """The names a block binds for later clauses, in the order of their first mention."""
    names: dict[str, None] = {}
    for clause in block.clauses:
        if isinstance(clause, ast.ConceptClause | ast.PropositionClause):
            names.update((variable.name, None) for variable, _ in mentions(clause))
        elif isinstance(clause, ast.Optional | ast.Union):
            names.update(exported(clause.block))
    return names


def fresh_names(tree: Any, stem: str) -> Iterator[str]:
    """Names from a stem and a number that no variable and no placeholder of a tree has."""
    kinds = ast.Variable | ast.Placeholder
    used = {node.name for node in walk(tree) if isinstance(node, kinds)}
    return (name for number in count(1) if (name := f"{stem}_{number}") not in used)


def named(clause: Any, names: Iterator[str], *, ranges: bool) -> Any:
    """A clause, or an end of one, in which each element has a variable.

    A range of hops has one only if ``ranges``. Blocks are left as they are.
    """
    if not isinstance(clause, ast.ConceptClause | ast.PropositionClause):
        return clause
    matcher: Any = clause.matcher
    is_named = True
    if isinstance(matcher, ast.PropositionMatcher):
        is_named = ranges or not any(isinstance(one, ast.Hops) for one in walk(matcher.predicate))
        subject, object_ = (
            named(end, names, ranges=ranges) for end in (matcher.subject, matcher.object)
        )
        matcher = replace(matcher, subject=subject, object=object_)
    variable = clause.variable or (ast.Variable(next(names)) if is_named else None)
    return replace(clause, variable=variable, matcher=matcher)


def mentioned_from_outside(block: ast.Block) -> set[str]:
    """The names that patterns of a NOT or OPTIONAL block share with the scope around it.

    Those inside a UNION do not count: it has a fresh scope.
    """
    names: set[str] = set()
    for clause in block.clauses:
        if isinstance(clause, ast.ConceptClause | ast.PropositionClause):
            names.update(variable.name for variable, _ in mentions(clause))
        elif isinstance(clause, ast.Optional | ast.Not):
            names |= mentioned_from_outside(clause.block)
    return names


def filters(block: ast.Block) -> Iterator[ast.Filter]:
    """Every FILTER of a block, at any depth."""
    for clause in block.clauses:
        if isinstance(clause, ast.Filter):
            yield clause
        elif isinstance(clause, ast.Not | ast.Optional | ast.Union):
            yield from filters(clause.block)


Test: TypeAlias = ast.Comparison | ast.Membership | ast.NullTest | ast.StringTest | ast.Truth


def tests(condition: ast.Condition) -> Iterator[Test]:
    """What ``&&``, ``||`` and ``!`` of a condition combine, in written order."""
    match condition:
        case ast.Negation():
            yield from tests(condition.operand)
        case ast.Conjunction() | ast.Disjunction():
            for part in condition.operands:
                yield from tests(part)
        case _:
            yield condition


def operands(condition: ast.Condition) -> Iterator[ast.Operand]:
    """The operands of a condition, in written order."""
    for test in tests(condition):
        yield from tested(test)


def tested(test: Test) -> tuple[ast.Operand, ...]:
    """The operands of a test, in written order."""
    match test:
        case ast.Comparison():
            return test.left, test.right
        case ast.StringTest():
            return test.operand, test.argument
        case ast.Membership(options=ast.Path() as items):
            return test.operand, items
        case _:
            return (test.operand,)
