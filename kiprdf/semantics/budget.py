"""The size budgets of a WHERE (kiprdf/language/limits.py): KIP_4002 beyond them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from kiprdf.errors import KipError
from kiprdf.language import ast, limits
from kiprdf.semantics import scope
from kiprdf.source import Span


def check_budget(where: ast.Block) -> None:
    """Refuse a WHERE that is too large to be compiled safely."""
    clauses = list(_clauses(where))
    if len(clauses) > limits.CLAUSES:
        message = f"The WHERE has {len(clauses)} clauses; {limits.CLAUSES} are allowed."
        raise KipError("KIP_4002", message, "Split the command.", clauses[limits.CLAUSES].span)
    conditions = [clause.condition for clause in clauses if isinstance(clause, ast.Filter)]
    count = sum(sum(1 for _ in scope.operands(condition)) for condition in conditions)
    if count > limits.FILTER_OPERANDS:
        message = f"The FILTERs have {count} operands; {limits.FILTER_OPERANDS} are allowed."
        raise KipError("KIP_4002", message, "Use IN for a choice of values.", where.span)
    for clause in clauses:
        if isinstance(clause, ast.PropositionClause):
            _check_hops(clause)
    _check_levels(clauses, where.span)
    _check_strings(clauses, where.span)
    _check_lists(clauses, where.span)


def check_width(find: ast.Find) -> None:
    """Refuse a FIND with too many columns, each of which is as long as the result."""
    for parts, what in ((find.expressions, "expressions"), (find.order_by, "keys of ORDER BY")):
        if len(parts) > limits.EXPRESSIONS:
            message = f"The FIND has {len(parts)} {what}; {limits.EXPRESSIONS} are allowed."
            span = parts[limits.EXPRESSIONS].span
            raise KipError("KIP_4002", message, "Ask for whole elements: FIND(?x).", span)


def _clauses(block: ast.Block) -> Iterator[ast.Clause]:
    """Every clause at every depth, a proposition as an endpoint among them."""
    for clause in block.clauses:
        yield clause
        if isinstance(clause, ast.Not | ast.Optional | ast.Union):
            yield from _clauses(clause.block)
        elif isinstance(clause, ast.PropositionClause):
            yield from _nested(clause)


def _nested(clause: ast.PropositionClause) -> Iterator[ast.PropositionClause]:
    if isinstance(clause.matcher, ast.PropositionMatcher):
        for endpoint in (clause.matcher.subject, clause.matcher.object):
            if isinstance(endpoint, ast.PropositionClause):
                yield endpoint
                yield from _nested(endpoint)


def _check_hops(clause: ast.PropositionClause) -> None:
    matcher = clause.matcher
    if isinstance(matcher, ast.PropositionId) or isinstance(matcher.predicate, ast.Variable):
        return
    if len(matcher.predicate.alternatives) > limits.CLAUSES:
        message = f"A clause has more than {limits.CLAUSES} alternative predicates."
        hint = "Bind the predicate with a variable ?p and choose with FILTER(IN(?p, […]))."
        raise KipError("KIP_4002", message, hint, matcher.predicate.span)
    for name in matcher.predicate.alternatives:
        if name.hops and max(name.hops.minimum, name.hops.maximum or 0) > limits.HOPS:
            message = f"A hop range goes beyond {limits.HOPS}."
            raise KipError("KIP_4002", message, "Write {m,} for any number.", name.hops.span)


def _check_levels(clauses: list[ast.Clause], span: Span) -> None:
    """Each hop is a subquery of its own, for each alternative again."""
    levels = sum(
        max(name.hops.minimum, name.hops.maximum or 0)
        for clause in clauses
        if isinstance(clause, ast.PropositionClause)
        and isinstance(clause.matcher, ast.PropositionMatcher)
        and isinstance(clause.matcher.predicate, ast.Predicates)
        for name in clause.matcher.predicate.alternatives
        if name.hops is not None
    )
    if levels > limits.HOP_LEVELS:
        message = f"The hop ranges add up to {levels} hops; {limits.HOP_LEVELS} are allowed."
        raise KipError("KIP_4002", message, "Shorten the ranges, or write {m,}.", span)


def _check_lists(clauses: list[ast.Clause], span: Span) -> None:
    """The lists of all INs of a WHERE together."""
    count = sum(
        len(test.options.items)
        for clause in clauses
        if isinstance(clause, ast.Filter)
        for test in scope.tests(clause.condition)
        if isinstance(test, ast.Membership) and isinstance(test.options, ast.Array)
    )
    if count > limits.LIST_ITEMS:
        message = f"The lists of IN have {count} items; {limits.LIST_ITEMS} are allowed."
        raise KipError("KIP_4002", message, "Split the list.", span)


def _check_strings(clauses: list[ast.Clause], span: Span) -> None:
    """The strings of all FILTERs together, which a parameter may repeat."""
    count = sum(_characters(clause) for clause in clauses if isinstance(clause, ast.Filter))
    if count > limits.FILTER_CHARACTERS:
        message = f"The strings of the FILTERs have {count} characters; 1 MiB is allowed."
        raise KipError("KIP_4002", message, "Compare with fewer or shorter strings.", span)


def _characters(node: object) -> int:
    if isinstance(node, ast.Scalar):
        return len(node.value) if isinstance(node.value, str) else 1
    if isinstance(node, tuple):
        return sum(map(_characters, node))
    if isinstance(node, ast.Node):
        return sum(_characters(getattr(node, field.name)) for field in dataclasses.fields(node))
    return 0
