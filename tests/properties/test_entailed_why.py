"""What a row that follows is derived from gives it by itself, and without one of it does not.

``KIPRDF_ENTAIL`` sets how many graphs are tried: with each predicate and type by itself, and with
up to eight questions.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, note, settings

import kiprdf
from kiprdf.language import ast, to_text
from tests.long_runs import amount
from tests.oracle import Graph
from tests.oracle.check import bound_by
from tests.oracle.entailed import Entailed
from tests.oracle.evaluate import solutions
from tests.properties.entailed import Case, Entail, ruled_cases
from tests.properties.strategies import PREDICATES, TYPES
from tests.properties.test_engine_equals_oracle import build
from tests.properties.test_entailed import answer_of
from tests.properties.test_why import has, id_of, key_of, part, query_of

EACH = settings(max_examples=amount("ENTAIL", 2))
Key = tuple[str | None, ...]


@EACH
@given(case=ruled_cases())
def test_each_row_follows_from_what_is_cited(case: Case) -> None:
    nexus = build(case.graph)
    for query in case.queries:
        where = query_of(query).where
        if answer_of(query, case.graph, case.entail) is None or has(where, ast.Not | ast.Optional):
            continue
        text = to_text(ast.Find(tuple(map(ast.Variable, sorted(bound_by(where)))), where))
        if isinstance(answer_of(text, case.graph, case.entail), str):
            continue
        note(text)
        for key, sources in explained(nexus, text, case.entail):
            assert is_given(key, text, case.graph, sources, case.entail), (key, sources)


@EACH
@given(case=ruled_cases())
def test_a_pattern_rests_on_nothing_that_is_not_needed(case: Case) -> None:
    nexus = build(case.graph)
    types = [name for name in TYPES if case.graph.is_type(name)]
    for pattern in (
        *(f'(?a, "{name}", ?b)' for name in PREDICATES),
        *(f'?l (?a, "{name}", ?b)' for name in PREDICATES),
        *(f'?a {{type: "{name}"}}' for name in types),
    ):
        names = sorted(bound_by(query_of(f"FIND(?a) WHERE {{ {pattern} }}").where))
        text = f"FIND({', '.join(f'?{name}' for name in names)}) WHERE {{ {pattern} }}"
        note(text)
        for key, sources in explained(nexus, text, case.entail):
            assert is_given(key, text, case.graph, sources, case.entail), (key, sources)
            links = sources & case.graph.propositions.keys()
            same = {one for one in links if one.endswith(":same_as")}
            facts = {one for one in links - same if not one.endswith(":subproperty_of")}
            # Each of several steps follows by as few rules as possible, but not all together.
            is_step = len(facts) == 1 and len(set(key)) == len(key)
            few = links if not facts else links - same if is_step else facts
            for one in few:
                rest = sources - {one}
                if one not in part(case.graph, rest):  # else it is an end of another one
                    assert not is_given(key, text, case.graph, rest, case.entail), (key, one)


def explained(nexus: kiprdf.Nexus, text: str, entail: Entail) -> list[tuple[Key, set[str]]]:
    """The ids of each row, with those that its first derivation cites."""
    answer = nexus.why(text, entail=entail)
    width = len(query_of(text).expressions)
    columns = answer.result if width > 1 else [answer.result]
    keys = [tuple(map(id_of, row)) for row in zip(*columns, strict=True)]
    cited = []
    for row in answer.rows:
        if row.derivations:
            one = row.derivations[0]
            sources: list[Any] = [id for rule in one.inferred for id in rule["from"]]  # type: ignore[union-attr]
            cited.append((keys[row.row], {*one.cited, *one.concepts, *sources}))
        else:
            assert not any(keys[row.row])  # of a UNION without an element
    return cited


def is_given(key: Key, text: str, graph: Graph, sources: set[str], entail: Entail) -> bool:
    """Whether a part of a graph, with the definitions and without their hierarchies, gives a
    row."""
    rest = part(graph, sources)
    definitions = {i: one for i, one in graph.concepts.items() if one["type"].startswith("$")}
    rest.concepts = {**definitions, **rest.concepts}
    entailed = Entailed(rest, same_as=entail == "same_as")
    find = query_of(text)
    names = sorted(bound_by(find.where))
    return key in {key_of(solution, names) for solution in solutions(find.where, entailed)}


def test_the_path_of_a_range_is_the_link_that_a_row_has() -> None:
    graph = Graph()
    graph.define(types=("T",), predicates=("likes", "same_as"))
    u, v, w = (graph.concept("T", name) for name in "uvw")
    graph.proposition(w, "likes", u)
    one = graph.proposition(v, "likes", u)
    same = [graph.proposition(w, "same_as", v), graph.proposition(w, "same_as", u)]
    text = 'FIND(?a, ?b, ?l) WHERE { ?l (?a, "likes"{1,3}, ?b) }'
    cited = dict(explained(build(graph), text, "same_as"))
    assert cited[u, u, one] == {u, one, *same}
