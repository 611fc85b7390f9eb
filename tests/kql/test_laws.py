"""Laws that hold on any graph, tried on small dense ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kiprdf
from tests.long_runs import amount

NAMES = ("A", "B", "C", "D", "E")
VALUES: tuple[Any, ...] = (None, 1, 1.0, 2, "1", "a", True, False, [1], {"k": 1})
Graph = tuple[dict[str, Any], list[tuple[str, str, str]]]

graphs: st.SearchStrategy[Graph] = st.tuples(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=5),
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.sampled_from("pq"), st.sampled_from(NAMES)).filter(
            lambda link: link[0] != link[2]
        ),
        max_size=9,
        unique=True,
    ),
)
conditions = st.sampled_from(
    (
        "?a.attributes.v == 1",
        '?a.attributes.v != "a"',
        "?a.attributes.v < 2",
        "?a.attributes.v >= true",
        "?a.attributes.v",
        "IS_NULL(?a.attributes.v)",
        'IN(?a.attributes.v, [null, 1, "1", [1]])',
        'CONTAINS(?a.attributes.v, "a")',
        "?a.attributes.v == ?b.attributes.v",
        "?a.attributes.v <= ?b.attributes.v",
        "?a == ?b",
        "?a.attributes.v == {k: 1}",
        '?a.attributes.v < ?b.attributes.v || !(?b.name == "A") && ?a.attributes.v',
    )
)
blocks = st.sampled_from(
    (
        '(?a, "p", ?x)',
        '(?a, "p", ?b)',
        '(?x, "q", ?b) (?a, "p", ?x)',
        '(?a, "p"{0,2}, ?x) ?x {name: "B"}',
        '?x {type: "T"} FILTER(?x.attributes.v == ?a.attributes.v && ?x != ?a)',
        '(?a, "p", ?x) NOT { (?x, "q", ?b) }',
        '(?a, "p", ?x) UNION { (?b, "q", ?x) }',
    )
)
few_examples = settings(max_examples=amount("EXAMPLES", 5))
PAIRS = '?a {type: "T"} ?b {type: "T"}'


@contextmanager
def nexus_of(graph: Graph) -> Iterator[kiprdf.Nexus]:
    values, links = graph
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        items = ['CONCEPT { {type: "$ConceptType", name: "T"} }']
        items += [f'CONCEPT {{ {{type: "$PropositionType", name: "{p}"}} }}' for p in "pq"]
        parameters = {}
        for name in NAMES:
            setting = f"SET ATTRIBUTES {{v: :{name}}}" if name in values else ""
            items.append(f'CONCEPT ?{name} {{ {{type: "T", name: "{name}"}} {setting} }}')
            if name in values:
                parameters[name] = values[name]
        items += [f'PROPOSITION {{ (?{s}, "{p}", ?{o}) }}' for s, p, o in links]
        nexus.execute("UPSERT { " + "\n".join(items) + " }", **parameters)
        yield nexus


def rows(nexus: kiprdf.Nexus, where: str, shown: str = "?a.id, ?b.id") -> Counter[Any]:
    return Counter(nexus.find(f"FIND({shown}) WHERE {{ {where} }}").tuples())


@few_examples
@given(graph=graphs)
def test_a_range_of_hops_is_the_union_of_its_lengths(graph: Graph) -> None:
    with nexus_of(graph) as nexus:
        by_length = set().union(*(rows(nexus, f'(?a, "p"{{{n}}}, ?b)') for n in (1, 2, 3)))
        assert set(rows(nexus, '(?a, "p"{1,3}, ?b)')) == by_length


@few_examples
@given(graph=graphs)
def test_any_number_of_hops_is_a_range_beyond_the_number_of_nodes(graph: Graph) -> None:
    with nexus_of(graph) as nexus:
        assert rows(nexus, '(?a, "p"{1,}, ?b)') == rows(nexus, '(?a, "p"{1,6}, ?b)')
        assert rows(nexus, '(?a, "p"{2,}, ?b)') == rows(nexus, '(?a, "p"{2,12}, ?b)')


@few_examples
@given(graph=graphs)
def test_zero_hops_add_every_element_and_itself(graph: Graph) -> None:
    with nexus_of(graph) as nexus:
        itself = {(id, id) for (id,) in rows(nexus, '(?a, "p"{0}, ?a)', "?a.id")}
        assert len(itself) == 3 + len(NAMES) + len(graph[1])
        assert set(rows(nexus, '(?a, "p"{0,2}, ?b)')) == itself | set(
            rows(nexus, '(?a, "p"{1,2}, ?b)')
        )


@few_examples
@given(graph=graphs)
def test_two_hops_are_one_and_one(graph: Graph) -> None:
    with nexus_of(graph) as nexus:
        assert rows(nexus, '(?a, "p"{2}, ?b)') == rows(nexus, '(?a, "p", ?x) (?x, "p", ?b)')


@few_examples
@given(graph=graphs)
def test_a_hop_is_the_same_from_either_end(graph: Graph) -> None:
    with nexus_of(graph) as nexus:
        free = rows(nexus, '(?a, "p"{1,2}, ?b)')
        from_start = rows(nexus, '?a {type: "T"} (?a, "p"{1,2}, ?b)')
        from_end = rows(nexus, '(?a, "p"{1,2}, ?b) ?b {type: "T"}')
        assert free == from_start == from_end


@few_examples
@given(graph=graphs)
def test_alternatives_are_the_union_of_their_predicates(graph: Graph) -> None:
    with nexus_of(graph) as nexus:
        both = set(rows(nexus, '(?a, "p", ?b)')) | set(rows(nexus, '(?a, "q", ?b)'))
        assert set(rows(nexus, '(?a, "p" | "q", ?b)')) == both


@few_examples
@given(graph=graphs, condition=conditions)
def test_a_filter_and_its_negation_partition_the_solutions(graph: Graph, condition: str) -> None:
    with nexus_of(graph) as nexus:
        held = rows(nexus, f"{PAIRS} FILTER({condition})")
        failed = rows(nexus, f"{PAIRS} FILTER(!({condition}))")
        assert not held & failed
        assert held + failed == rows(nexus, PAIRS)


@few_examples
@given(graph=graphs, block=blocks)
def test_not_and_the_block_partition_the_solutions(graph: Graph, block: str) -> None:
    with nexus_of(graph) as nexus:
        without = rows(nexus, f"{PAIRS} NOT {{ {block} }}")
        matched = rows(
            nexus,
            f'{PAIRS} OPTIONAL {{ {block} ?m {{type: "T", name: "A"}} }} FILTER(IS_NOT_NULL(?m))',
        )
        assert not set(without) & set(matched)
        assert set(without) | set(matched) == set(rows(nexus, PAIRS))


@few_examples
@given(graph=graphs, block=blocks)
def test_not_not_keeps_what_matches(graph: Graph, block: str) -> None:
    with nexus_of(graph) as nexus:
        twice = rows(nexus, f'{PAIRS} NOT {{ ?m {{name: "A"}} NOT {{ {block} }} }}')
        once = rows(nexus, f"{PAIRS} NOT {{ {block} }}")
        assert twice + once == rows(nexus, PAIRS)


@few_examples
@given(graph=graphs, block=blocks)
def test_optional_keeps_every_solution(graph: Graph, block: str) -> None:
    with nexus_of(graph) as nexus:
        assert set(rows(nexus, f"{PAIRS} OPTIONAL {{ {block} }}")) == set(rows(nexus, PAIRS))


@few_examples
@given(graph=graphs, block=blocks)
def test_a_union_with_itself_is_itself(graph: Graph, block: str) -> None:
    with nexus_of(graph) as nexus:
        shown = "?a.id, ?b.id"
        single = rows(nexus, f"{PAIRS} {block}", shown)
        assert rows(nexus, f"{PAIRS} {block} UNION {{ {PAIRS} {block} }}", shown) == single


@few_examples
@given(graph=graphs, condition=conditions)
def test_the_order_of_filters_and_clauses_in_a_segment_does_not_matter(
    graph: Graph, condition: str
) -> None:
    with nexus_of(graph) as nexus:
        first = rows(nexus, f'{PAIRS} FILTER({condition}) (?a, "p", ?b)')
        assert rows(nexus, f'(?a, "p", ?b) {PAIRS} FILTER({condition})') == first


@few_examples
@given(graph=graphs, limit=st.integers(1, 7), ordered=st.booleans())
def test_pages_concatenate(graph: Graph, limit: int, ordered: bool) -> None:
    with nexus_of(graph) as nexus:
        text = f'FIND(?a.id, ?b.id) WHERE {{ {PAIRS} OPTIONAL {{ (?a, "p", ?c) }} }}'
        text += " ORDER BY ?a.attributes.v" if ordered else ""
        rows: list[Any] = []
        page = nexus.find(f"{text} LIMIT {limit}")
        rows.extend(page.tuples())
        while page.next_cursor is not None:
            page = nexus.find(f'{text} LIMIT {limit} CURSOR "{page.next_cursor}"')
            rows.extend(page.tuples())
        assert rows == list(nexus.find(text).tuples())


@few_examples
@given(graph=graphs)
def test_counts_are_the_numbers_of_rows(graph: Graph) -> None:
    with nexus_of(graph) as nexus:
        where = '(?a, "p", ?x) OPTIONAL { (?x, "q", ?b) }'
        solutions = rows(nexus, where, "?a.id, ?x.id, ?b.id")
        count, bound = nexus.execute(f"FIND(COUNT(?a), COUNT(?b)) WHERE {{ {where} }}")
        assert count == sum(solutions.values())
        assert bound == sum(1 for row in solutions.elements() if row[2] is not None)
