"""An empty answer names the clause after which the naive evaluator has no solution left."""

from __future__ import annotations

from hypothesis import given, note, settings

import kiprdf
from kiprdf.language import ast
from tests.long_runs import amount
from tests.oracle import Graph, TooManySolutions
from tests.oracle.evaluate import solutions
from tests.properties.comparison import expected
from tests.properties.strategies import Case, cases
from tests.properties.test_engine_equals_oracle import build


@settings(max_examples=amount("EXAMPLES", 6))
@given(case=cases())
def test_only_an_empty_answer_has_warnings_and_the_first_one_names_the_clause(case: Case) -> None:
    nexus = build(case.graph)
    for query in case.queries:
        find = kiprdf.parse(query)
        assert isinstance(find, ast.Find)
        try:
            answer = expected(query, case.graph)
            clause = _last_straw(find.where, case.graph)
        except TooManySolutions:
            continue
        if isinstance(answer, str):
            continue  # an error
        note(query)
        warnings = nexus.answer(query).warnings
        note(str(warnings))
        if clause is not None:
            assert clause.span.start <= warnings[0].span.start < clause.span.end
            assert warnings[0].name == "NoSolution"
        elif not answer.scalar and not _reads_keys(find):
            assert warnings == ()


def _reads_keys(find: ast.Find) -> bool:
    """Whether a FIND shows or sorts by attributes or metadata, which nothing may have."""
    expressions = [*find.expressions, *(key.expression for key in find.order_by)]
    arguments = [e.argument if isinstance(e, ast.Aggregate) else e for e in expressions]
    return any(isinstance(a, ast.Path) and a.key is not None for a in arguments)


def _last_straw(where: ast.Block, graph: Graph) -> ast.Clause | None:
    """The clause after the longest beginning with solutions; None where the whole has some."""
    beginnings = [ast.Block(where.clauses[:n]) for n in range(1, len(where.clauses) + 1)]
    filled = [n for n, block in enumerate(beginnings, 1) if solutions(block, graph)]
    length = max(filled, default=0)
    return None if length == len(where.clauses) else where.clauses[length]
