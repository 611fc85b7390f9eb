"""The size budgets of a WHERE (kiprdf/language/limits.py): KIP_4002 beyond them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

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
    filters = [clause.condition for clause in clauses if isinstance(clause, ast.Filter)]
    tests = [test for condition in filters for test in scope.tests(condition)]
    operands = [operand for test in tests for operand in scope.tested(test)]
    if len(operands) > limits.FILTER_OPERANDS:
        message = (
            f"The FILTERs have {len(operands)} operands; {limits.FILTER_OPERANDS} are allowed."
        )
        raise KipError("KIP_4002", message, "Use IN for a choice of values.", where.span)
    members = (test.options for test in tests if isinstance(test, ast.Membership))
    lists = [options for options in members if not isinstance(options, ast.Path)]
    for clause in clauses:
        if isinstance(clause, ast.PropositionClause):
            _check_hops(clause)
    _check_levels(clauses, where.span)
    _check_strings([*operands, *lists], where.span)
    _check_lists(lists, where.span)


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
    """Each hop is a separate subquery, for each alternative again."""
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


def _check_lists(lists: list[ast.Array | ast.Placeholder], span: Span) -> None:
    """The lists of all INs of a WHERE together."""
    count = sum(len(options.items) for options in lists if isinstance(options, ast.Array))
    if count > limits.LIST_ITEMS:
        message = f"The lists of IN have {count} items; {limits.LIST_ITEMS} are allowed."
        raise KipError("KIP_4002", message, "Split the list.", span)


def _check_strings(operands: list[ast.Operand], span: Span) -> None:
    """The strings of all FILTERs together, which a parameter may repeat."""
    count = sum(map(_characters, operands))
    if count > limits.FILTER_CHARACTERS:
        message = f"The strings of the FILTERs have {count} characters; 1 MiB is allowed."
        raise KipError("KIP_4002", message, "Compare with fewer or shorter strings.", span)


def _characters(operand: ast.Operand) -> int:
    match operand:
        case ast.Scalar():
            return len(operand.value) if isinstance(operand.value, str) else 1
        case ast.Array():
            return sum(map(_characters, operand.items))
        case ast.Object():
            return sum(_characters(entry.value) for entry in operand.entries)
        case ast.Path() | ast.Variable() | ast.Placeholder():
            return 0
        case _:
            assert_never(operand)
