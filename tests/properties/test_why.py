"""What a row is derived from is what the oracle needs: random questions about random graphs.

``KIPRDF_WHY`` sets how many graphs are tried, eight questions each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any

from hypothesis import given, note, settings

import kiprdf
from kiprdf.execution.why import ExplainedRow
from kiprdf.kql.derivations import Derivation
from kiprdf.language import ast, bind, parse, to_text
from kiprdf.trees import replaced, walk
from tests.long_runs import amount
from tests.oracle import Graph, TooManySolutions
from tests.oracle.check import bound_by
from tests.oracle.evaluate import Solution, solutions
from tests.properties.comparison import difference, expected
from tests.properties.strategies import Case, cases
from tests.properties.test_engine_equals_oracle import build

EACH = settings(max_examples=amount("WHY", 4))


@EACH
@given(case=cases())
def test_derivations_are_solutions_and_all_of_them(case: Case) -> None:
    nexus = build(case.graph)
    for query in case.queries:
        note(query)
        answer = expected_or_none(query, case.graph)
        if answer is None:
            continue
        explained = nexus.why(query)
        assert difference(query, answer, {"result": explained.result}) is None
        assert all(row.derivations or is_of_nothing(row) for row in explained.rows)
        for row in explained.rows[:: max(1, len(explained.rows) // 3)]:
            assert nexus.why(query, row=row.row).rows == (row,)
        check_solutions(query, case.graph, nexus)


def expected_or_none(query: str, graph: Graph) -> Any:
    """The oracle's answer; None where it is an error, or takes too long."""
    try:
        answer = expected(query, graph)
    except TooManySolutions:
        return None
    return None if isinstance(answer, str) else answer


def is_of_nothing(row: ExplainedRow) -> bool:
    """Whether a row is of no element: ``COUNT`` of no solution, and the row of an empty UNION."""
    return row.group == {"size": 0} or row.more == 0


def check_solutions(query: str, graph: Graph, nexus: kiprdf.Nexus) -> None:
    """The rows of all variables of a WHERE: each cites what gives it, and nothing is left out."""
    where = query_of(query).where
    names = sorted(bound_by(where))
    text = to_text(ast.Find(tuple(map(ast.Variable, names)), where))
    explained = nexus.why(text)
    numbers = Counter(key_of(solution, names) for solution in solutions(where, graph))
    columns = explained.result if len(names) > 1 else [explained.result]
    rows = list(zip(*columns, strict=True))
    assert len(rows) == len(numbers)
    for row in explained.rows:
        key = tuple(map(id_of, rows[row.row]))
        if not any(key):
            continue  # of a UNION without an element, such as { NOT { … } }
        assert row.more is not None
        number = len(row.derivations) + row.more
        assert number >= numbers[key] == 1
        if not has(where, ast.Union) and not unnamed(where):
            assert number == 1
        for one in row.derivations:
            check_cited(one, key, where, names, graph)


def check_cited(
    one: Derivation, key: tuple[str | None, ...], where: ast.Block, names: list[str], graph: Graph
) -> None:
    """Without NOT and OPTIONAL, what is cited gives the row by itself."""
    assert all(id in graph.propositions for id in one.cited)
    assert all(id in graph.concepts for id in one.concepts)
    if has(where, ast.Not | ast.Optional):
        return
    rest = part(graph, [*one.cited, *one.concepts])
    assert key in {key_of(solution, names) for solution in solutions(where, rest)}


@EACH
@given(case=cases())
def test_nothing_is_cited_that_is_not_needed(case: Case) -> None:
    nexus = build(case.graph)
    for query in case.queries:
        where = query_of(query).where
        if expected_or_none(query, case.graph) is None or has(where, NOT_PLAIN):
            continue
        where = named(where)
        names = sorted(bound_by(where))
        note(text := to_text(ast.Find(tuple(map(ast.Variable, names)), where)))
        if expected_or_none(text, case.graph) is None:
            continue
        explained = nexus.why(text)
        columns = explained.result if len(names) > 1 else [explained.result]
        rows = list(zip(*columns, strict=True))
        for row in explained.rows:
            ids = {value["id"] for value in rows[row.row] if isinstance(value, dict)}
            (one,) = row.derivations
            assert {*one.cited, *one.concepts} == ids
            for id in one.cited:
                rest = part(case.graph, ids - {id})
                if id in rest:
                    continue  # it is an end of another one
                keys = {key_of(solution, names) for solution in solutions(where, rest)}
                assert tuple(map(id_of, rows[row.row])) not in keys


NOT_PLAIN = ast.Not | ast.Optional | ast.Union | ast.Hops


def query_of(text: str) -> ast.Find:
    find = bind(parse(text), {})
    assert isinstance(find, ast.Find)
    return find


def has(where: ast.Block, kind: Any) -> bool:
    return any(isinstance(node, kind) for node in walk(where))


def unnamed(where: ast.Block) -> list[Any]:
    """The patterns without a variable."""
    kinds = ast.ConceptClause | ast.PropositionClause
    return [n for n in walk(where) if isinstance(n, kinds) and n.variable is None]


def named(where: ast.Block) -> ast.Block:
    """A WHERE in which each pattern has a variable."""
    numbers = count(1)

    def name(node: Any) -> Any:
        kinds = ast.ConceptClause | ast.PropositionClause
        if isinstance(node, kinds) and node.variable is None:
            return replaced(replace(node, variable=ast.Variable(f"n{next(numbers)}")), name)
        return node

    result = replaced(where, name)
    assert isinstance(result, ast.Block)
    return result


def key_of(solution: Solution, names: list[str]) -> tuple[str | None, ...]:
    values = (solution.get(name) for name in names)
    return tuple(v if v is None or isinstance(v, str) else v.id for v in values)


def id_of(value: Any) -> str | None:
    return value["id"] if isinstance(value, dict) else value


def part(graph: Graph, ids: Iterable[str]) -> Graph:
    """A graph with some elements, and what their ends are."""
    rest = Graph()
    pending = list(ids)
    wanted: set[str] = set()
    while pending:
        id = pending.pop()
        if id not in wanted:
            wanted.add(id)
            proposition = graph.propositions.get(id)
            pending += [proposition["subject"], proposition["object"]] if proposition else []
    rest.concepts = {id: one for id, one in graph.concepts.items() if id in wanted}
    rest.propositions = {id: one for id, one in graph.propositions.items() if id in wanted}
    return rest
