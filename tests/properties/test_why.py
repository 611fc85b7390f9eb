"""What a row is derived from is what the oracle needs: random questions about random graphs.

``KIPRDF_WHY`` sets how many questions are tried.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kiprdf
from kiprdf import KipError
from kiprdf.execution.why import ExplainedRow
from kiprdf.kql.derivations import Derivation
from kiprdf.language import ast, bind, parse, to_text
from kiprdf.trees import replaced, walk
from tests.long_runs import amount
from tests.oracle import Answer, Graph, TooManySolutions
from tests.oracle.check import bound_by
from tests.oracle.entailed import Entailed
from tests.oracle.evaluate import Solution, solutions
from tests.properties.choices import RandomChoices
from tests.properties.comparison import difference, expected
from tests.properties.entailed import WORDS, ruled_graphs
from tests.properties.strategies import CONTAINERS, NUMBERS, STRINGS, QueryWriter, graphs
from tests.properties.test_engine_equals_oracle import build

QUESTIONS_EACH = 100
"""About one graph."""
ENTAILED_EACH = 20
"""About one graph with rules; a twentieth of the number is asked about these."""
ANSWERS = 50
"""Of so many questions, one is a whole FIND, with aggregates and pages."""
ASKED_AGAIN = 20
"""Of so many questions, one is also asked of a nexus that holds only what was cited."""
MOST_ROWS = 4
VALUES = (*NUMBERS, *STRINGS, *CONTAINERS, True, False, None)


class RandomQueries(RandomChoices, QueryWriter):
    """Questions about a graph, and of values that are mostly in it."""

    def where(self) -> ast.Block:
        """A pattern, and mostly some more clauses."""
        scope: set[str] = set()
        first = self.pattern(scope) + " "
        more = "" if self.one_in(4) else self.block(scope, first, depth=1, most=2)
        return query_of(f"FIND(?a) WHERE {{ {first}{more} }}").where

    def value(self) -> Any:
        return self.pick(VALUES if self.one_in(3) or not self._values else self._values)


@settings(max_examples=-(-amount("WHY", 200) // QUESTIONS_EACH))
@given(graph=graphs(), seed=st.integers(0, 2**32))
def test_rows_come_from_what_is_cited(graph: Graph, seed: int) -> None:
    with build(graph) as nexus:
        writer = RandomQueries(random.Random(seed), graph)
        for number in range(QUESTIONS_EACH):
            if number % ANSWERS == 0:
                check_answer(writer.find(), graph, nexus)
            else:
                check_solutions(writer.where(), graph, nexus, number % ASKED_AGAIN == 1)


@settings(max_examples=-(-amount("WHY", 200) // (20 * ENTAILED_EACH)))
@given(graph=ruled_graphs(), entail=st.sampled_from((True, "same_as")), seed=st.integers(0, 2**32))
def test_rows_that_follow_come_from_what_is_cited(graph: Graph, entail: Any, seed: int) -> None:
    def entailed(graph: Graph) -> Graph:
        return Entailed(graph, same_as=entail == "same_as")

    whole = entailed(graph)
    with build(graph) as nexus:
        writer = RandomQueries(random.Random(seed), graph, WORDS)
        for _ in range(ENTAILED_EACH):
            where = writer.where()
            names = sorted(bound_by(where))
            text = to_text(ast.Find(tuple(map(ast.Variable, names)), where))
            answer = answer_or_none(text, whole) if names else None
            if answer is None:
                continue
            explained = nexus.why(text, entail=entail)
            assert difference(text, answer, {"result": explained.result}) is None, text
            columns = explained.result if len(names) > 1 else [explained.result]
            rows = list(zip(*columns, strict=True))
            for row in explained.rows[:MOST_ROWS]:
                key = tuple(map(id_of, rows[row.row]))
                if not any(key):
                    continue
                assert row.derivations, text
                for one in row.derivations:
                    assert is_sufficient(one, key, where, names, graph, entailed), text
                    assert all(rule["from"] for rule in one.inferred), text
                    assert {id for rule in one.inferred for id in rule["from"]} <= {*one.cited}


def answer_or_none(query: str, graph: Graph) -> Answer | None:
    """The oracle's answer; None where it is an error, or takes too long."""
    try:
        answer = expected(query, graph)
    except TooManySolutions:
        return None
    return None if isinstance(answer, str) else answer


def check_answer(query: str, graph: Graph, nexus: kiprdf.Nexus) -> None:
    """The rows are those of the oracle, and each comes from the same by itself."""
    answer = answer_or_none(query, graph)
    if answer is None:
        return
    explained = nexus.why(query)
    assert difference(query, answer, {"result": explained.result}) is None, query
    assert all(row.derivations or is_of_nothing(row) for row in explained.rows), query
    for row in explained.rows[:: max(1, len(explained.rows) // 2)]:
        assert nexus.why(query, row=row.row).rows == (row,), query


def is_of_nothing(row: ExplainedRow) -> bool:
    """Whether a row is of no element: ``COUNT`` of no solution, and the row of an empty UNION."""
    return row.group == {"size": 0} or row.more == 0


def check_solutions(
    where: ast.Block, graph: Graph, nexus: kiprdf.Nexus, is_asked_again: bool
) -> None:
    """The rows of all variables of a WHERE: each cites what gives it, and nothing is left out."""
    is_plain = not has(where, NOT_PLAIN)
    where = named(where) if is_plain else where
    names = sorted(bound_by(where))
    text = to_text(ast.Find(tuple(map(ast.Variable, names)), where))
    try:
        numbers = Counter(key_of(solution, names) for solution in solutions(where, graph))
    except TooManySolutions:
        return
    if not numbers or not names:
        return
    try:
        explained = nexus.why(text)
    except KipError as error:
        refused = error.code
    else:
        refused = None
    if refused is not None:
        assert expected(text, graph) == refused, text
        return
    columns = explained.result if len(names) > 1 else [explained.result]
    rows = list(zip(*columns, strict=True))
    assert len(rows) == len(numbers), text
    for row in explained.rows:
        key = tuple(map(id_of, rows[row.row]))
        if not any(key):
            continue  # of a UNION without an element, such as { NOT { … } }
        assert row.more is not None, text
        number = len(row.derivations) + row.more
        assert number >= numbers[key] == 1, text
        if not has(where, ast.Union) and not unnamed(where):
            assert number == 1, text
        if row.row < MOST_ROWS:
            for one in row.derivations:
                assert is_sufficient(one, key, where, names, graph), text
            if is_plain:
                assert not superfluous(row.derivations[0], key, where, names, graph), text
    if is_plain and is_asked_again:
        check_asked_again(text, key, row.derivations[0], graph)


def is_sufficient(
    one: Derivation,
    key: tuple[str | None, ...],
    where: ast.Block,
    names: list[str],
    graph: Graph,
    entailed: Callable[[Graph], Graph] = lambda graph: graph,
) -> bool:
    """Whether there is what is cited, and gives the row by itself, unless something is absent."""
    if not all(id in graph for id in (*one.cited, *one.concepts)):
        return False
    if has(where, ast.Not | ast.Optional):
        return True
    rest = part(graph, [*one.cited, *one.concepts])
    if one.inferred:
        rest.concepts |= definitions(graph)
    return key in {key_of(solution, names) for solution in solutions(where, entailed(rest))}


def definitions(graph: Graph) -> dict[str, dict[str, Any]]:
    return {id: one for id, one in graph.concepts.items() if one["type"].startswith("$")}


def superfluous(
    one: Derivation, key: tuple[str | None, ...], where: ast.Block, names: list[str], graph: Graph
) -> list[str]:
    """What is cited without which the rest gives the row, too; ends of other facts are not left
    out."""
    cited = {*one.cited, *one.concepts}
    rests = {id: part(graph, cited - {id}) for id in cited}
    return [
        id
        for id, rest in rests.items()
        if id not in rest
        and key in {key_of(solution, names) for solution in solutions(where, rest)}
    ]


def check_asked_again(
    text: str, key: tuple[str | None, ...], one: Derivation, graph: Graph
) -> None:
    """A nexus of what is cited answers the row; one without any one of it does not."""
    cited = {*one.cited, *one.concepts}
    for id in (None, *cited):
        rest = part(graph, cited - {id})
        if id in rest:
            continue
        rest.concepts |= definitions(graph)
        with build(rest) as nexus:
            answer = nexus.execute_kip_readonly({"command": text})
            columns = answer.get("result", [])  # an element that is named may be away
            columns = columns if len(key) > 1 else [columns]
            rows = [tuple(map(id_of, row)) for row in zip(*columns, strict=True)]
            assert (key in rows) == (id is None or id in rest), text


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
