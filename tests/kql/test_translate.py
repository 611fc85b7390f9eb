"""Claims on the SPARQL of a WHERE: its shape keeps the engine from hanging (docs/decisions/006)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import kiprdf
from kiprdf.kql.optimize.order_joins import TRIPLES_A_GROUP
from kiprdf.kql.plan import plan_find
from kiprdf.language import bind, parse
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris
from kiprdf.sparql import algebra
from kiprdf.trees import walk

IRIS = Iris("urn:kip:nexus/")
ATTRIBUTE = vocab.ATTRIBUTE


def pattern(where: str, shown: str = "?a", **parameters: Any) -> algebra.Pattern:
    find = bind(parse(f"FIND({shown}) WHERE {{ {where} }}"), parameters)
    return plan_find(find, IRIS).select.pattern  # type: ignore[arg-type]


def nodes_of(kind: type, tree: object) -> list[Any]:
    return [node for node in walk(tree) if isinstance(node, kind)]


QUERIES = {
    "plain": '?a {type: "T"} (?a, "p", ?b)',
    "alternatives": '(?a, "p" | "q" | "r", ?b)',
    "linked_alternatives": '?l (?a, "p" | "q", ?b) FILTER(?l.metadata.x == 1)',
    "hops": '(?a, "p"{1,5}, ?b) (?b, "q"{2,}, ?c) (?c, "r"{0,}, ?d)',
    "mixed": '(?a, "p"{1,3} | "q" | "r"{0,}, ?b)',
    "nested": '(?a, "p", (?b, "q", (?c, "r", ?d)))',
    "not": '?a {type: "T"} NOT { (?a, "p"{1,}, ?b) NOT { (?b, "q", ?a) } }',
    "optional": '?a {type: "T"} OPTIONAL { (?a, "p", ?b) } (?b, "q"{1,2}, ?c)',
    "union": '?a {type: "T"} UNION { (?a, "p", ?b) } NOT { (?b, "q", ?c) }',
    "predicate_variable": "(?a, ?p, ?b) (?b, ?p, ?c)",
    "values": '?a {type: "T"} FILTER(?a.attributes.x == 1 && ?a.metadata.y == 2) '
    'FILTER(?a.id == "C:T/N")',
}


@pytest.mark.parametrize("where", QUERIES.values(), ids=QUERIES)
def test_a_path_expression_holds_one_predicate_or_plain_alternatives(where: str) -> None:
    for triple in nodes_of(algebra.TriplePattern, pattern(where)):
        match triple.predicate:
            case algebra.OneOrMore():
                assert triple.predicate.predicate.value.startswith(IRIS.predicates)
            case algebra.Alternative():
                assert all(p.value.startswith(IRIS.predicates) for p in triple.predicate.predicates)
            case _:
                pass


@pytest.mark.parametrize("where", QUERIES.values(), ids=QUERIES)
def test_a_reifier_is_matched_with_its_asserted_triple(where: str) -> None:
    for group in nodes_of(algebra.BGP, pattern(where)):
        for triple in group.triples:
            term = triple.object
            if isinstance(term, algebra.TripleTerm):
                asserted = algebra.TriplePattern(term.subject, term.predicate, term.object)
                assert asserted in group.triples


@pytest.mark.parametrize("where", QUERIES.values(), ids=QUERIES)
def test_a_group_has_at_most_sixteen_triples(where: str) -> None:
    assert all(len(group.triples) <= 16 for group in nodes_of(algebra.BGP, pattern(where)))


def test_the_largest_where_has_groups_of_sixteen_triples() -> None:
    star = " ".join(f'?l{i} (?a, "p{i}", ?b{i})' for i in range(64))
    links = ", ".join(f"?l{i}" for i in range(64))
    groups = nodes_of(algebra.BGP, pattern(star, links))
    assert TRIPLES_A_GROUP == 16
    assert max(len(group.triples) for group in groups) == 16
    assert sum(len(group.triples) for group in groups) == 128


def test_a_hop_range_of_64_has_64_levels() -> None:
    levels = nodes_of(algebra.Project, pattern('({id: "C:T/N"}, "p"{1,64}, ?a)'))
    assert len(levels) == 64


def test_exactly_64_hops_have_64_levels() -> None:
    assert len(nodes_of(algebra.Project, pattern('({id: "C:T/N"}, "p"{64}, ?a)'))) == 64


def test_one_hop_is_a_plain_triple() -> None:
    assert pattern('({id: "C:T/N"}, "p"{1}, ?a)') == pattern('({id: "C:T/N"}, "p", ?a)')


def test_any_number_of_hops_is_the_closure() -> None:
    (path,) = nodes_of(algebra.OneOrMore, pattern('({id: "C:T/N"}, "p"{1,}, ?a)'))
    assert path.predicate == IRIS.predicate("p")


def test_three_hops_or_more_are_two_levels_and_the_closure() -> None:
    tree = pattern('({id: "C:T/N"}, "p"{3,}, ?a)')
    assert len(nodes_of(algebra.OneOrMore, tree)) == 1
    # Two exact levels, and one DISTINCT around the closure.
    assert len(nodes_of(algebra.Project, tree)) == 3


def test_not_is_an_anti_join_on_the_variables_it_shares() -> None:
    (anti,) = nodes_of(algebra.AntiJoin, pattern('?a {type: "T"} NOT { (?a, "p", ?b) }'))
    assert [v.value for v in anti.shared] == ["a"]


def test_not_renders_as_a_subquery_that_stops_at_one() -> None:
    with kiprdf.Nexus.memory() as nexus:
        text = nexus.explain('FIND(?a) WHERE { ?a {type: "Domain"} NOT { ?b {type: "Person"} } }')
    assert re.search(
        r"OPTIONAL \{ \{ SELECT \(true AS \?found\) WHERE \{.*\} LIMIT 1 \} \}", text, re.S
    )
    assert "EXISTS" not in text
    assert "MINUS" not in text


def test_optional_is_correlated() -> None:
    tree = pattern('?a {type: "T"} OPTIONAL { (?a, "p", ?b) NOT { (?b, "q", ?a) } }')
    (optional,) = nodes_of(algebra.LeftJoin, tree)
    assert optional.left == algebra.UNIT
    assert any(lateral.right == optional for lateral in nodes_of(algebra.Lateral, tree))


def _fetches(tree: object, key: str) -> int:
    return sum(
        1
        for triple in nodes_of(algebra.TriplePattern, tree)
        if getattr(triple.predicate, "value", "") == ATTRIBUTE + key
    )


def test_a_value_is_fetched_once() -> None:
    where = (
        '?a {type: "T"} FILTER(?a.attributes.x > 1 && ?a.attributes.x < 5) '
        "FILTER(?a.attributes.x != 3)"
    )
    assert _fetches(pattern(where), "x") == 1


def test_a_value_that_not_and_optional_use_is_fetched_once_outside() -> None:
    where = (
        '?a {type: "T"} NOT { (?a, "p", ?b) FILTER(?a.attributes.x == 1) } '
        'OPTIONAL { (?a, "q", ?c) FILTER(?a.attributes.x == 2) } FILTER(?a.attributes.x > 0)'
    )
    assert _fetches(pattern(where), "x") == 1


def test_a_returned_value_is_fetched_with_its_node() -> None:
    assert _fetches(pattern('?a {type: "T"}', "?a.attributes.x, ?a.attributes.x"), "x") == 1


def test_a_value_that_is_returned_and_compared_is_fetched_once() -> None:
    where = '?a {type: "T"} UNION { ?a {type: "U"} } FILTER(?a.attributes.x == 1)'
    assert _fetches(pattern(where, "?a.attributes.x"), "x") == 2


def test_a_value_of_a_node_that_may_be_null_is_fetched_later() -> None:
    where = '?a {type: "T"} OPTIONAL { (?a, "p", ?b) }'
    assert _fetches(pattern(where, "?b.attributes.x"), "x") == 0


def test_with_order_by_only_the_key_is_fetched_with_its_node() -> None:
    command = 'FIND(?a.attributes.x) WHERE { ?a {type: "T"} } ORDER BY ?a.attributes.y'
    ordered = plan_find(bind(parse(command), {}), IRIS).select.pattern  # type: ignore[arg-type]
    assert (_fetches(ordered, "x"), _fetches(ordered, "y")) == (0, 1)


def test_every_branch_of_a_union_fetches_its_own_values() -> None:
    where = '?a {type: "T"} UNION { ?a {type: "U"} } FILTER(?a.attributes.x == 1)'
    assert _fetches(pattern(where), "x") == 2


def test_a_variable_that_may_be_null_enters_a_not_under_an_alias() -> None:
    where = '?a {type: "T"} OPTIONAL { (?a, "p", ?b) } NOT { (?b, "q", ?c) }'
    aliases = [e for e in nodes_of(algebra.Extend, pattern(where)) if "none" in e.variable.value]
    (alias,) = aliases
    assert alias.expression == algebra.Call("COALESCE", (algebra.Variable("b"), vocab.NONE))


def test_an_exact_identity_is_a_constant() -> None:
    tree = pattern('?x {type: "T", name: "N"} (?x, "p", ?a)')
    subjects = {t.subject for t in nodes_of(algebra.TriplePattern, tree)}
    assert subjects == {IRIS.concept("T", "N")}


def test_a_hop_starts_at_its_named_end_in_any_written_order() -> None:
    first = pattern('(?a, "p"{1,3}, ?b) ?b {type: "T", name: "N"}')
    steps = [
        t for t in nodes_of(algebra.TriplePattern, first) if t.predicate == IRIS.predicate("p")
    ]
    assert steps[0].object == IRIS.concept("T", "N")


def test_no_value_of_the_command_is_text() -> None:
    hostile = '"} DROP ALL #'
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        text = nexus.explain("FIND(?a) WHERE { ?a {name: :v} FILTER(?a.name == :v) }", v=hostile)
    assert text.count('"\\"} DROP ALL #"') == 2
    assert text.replace('"\\"} DROP ALL #"', "").count("DROP") == 0


# Speed --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dense() -> Iterator[kiprdf.Nexus]:
    """Forty nodes, each linked to all others: 40^n paths of n hops."""
    names = [f"N{i}" for i in range(40)]
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        blocks = ['CONCEPT { {type: "$ConceptType", name: "T"} }']
        blocks += ['CONCEPT { {type: "$PropositionType", name: "p"} }']
        blocks += [f'CONCEPT ?{name} {{ {{type: "T", name: "{name}"}} }}' for name in names]
        blocks += [
            f'PROPOSITION {{ (?{one}, "p", ?{other}) }}'
            for one in names
            for other in names
            if one != other
        ]
        nexus.apply_capsule("UPSERT {" + "\n".join(blocks) + "}")
        yield nexus


@pytest.mark.parametrize("hops", ["{1,64}", "{64}", "{1,}", "{5,}", "{0,64}"])
def test_a_hop_range_over_a_dense_graph_takes_no_exponential_time(
    dense: kiprdf.Nexus, hops: str
) -> None:
    command = f'FIND(COUNT(?b)) WHERE {{ ({{type: "T", name: "N0"}}, "p"{hops}, ?b) }}'
    with dense.limited(max_hops_rows=64 * 40 * 40):
        assert dense.execute(command) == 40


def test_hops_of_every_kind_inside_not_take_no_exponential_time(dense: kiprdf.Nexus) -> None:
    command = 'FIND(COUNT(?a)) WHERE { ?a {type: "T"} NOT { (?a, "p"{1,10}, {name: "none"}) } }'
    with dense.limited(max_hops_rows=40 * 10 * 40 * 40):
        assert dense.execute(command) == 40


LARGEST = {
    "optionals": '?a {name: "N0"} '
    + " ".join(f'OPTIONAL {{ (?a, "p", ?b{i} {{name: "N{i + 1}"}}) }}' for i in range(30)),
    "star": " ".join('(?a {name: "N0"}, "p", {name: "N1"})' for _ in range(64)),
    "nots": '?a {type: "T"} ' + 'NOT { (?a, "p", {name: "none"}) } ' * 31,
    "values": '?a {type: "T"} FILTER('
    + " || ".join(f"?a.attributes.k{i} == 1" for i in range(100))
    + ")",
    "disjunction": '?a {type: "T"} FILTER(' + " || ".join(['?a.name == "x"'] * 100) + ")",
    "nested_nots": '?a {type: "T"} ' + 'NOT { ?a {name: "none"} ' * 30 + "}" * 30,
    "unions": '?a {type: "T"} ' + 'UNION { ?a {type: "T"} } ' * 31,
}


@pytest.mark.parametrize("where", LARGEST.values(), ids=LARGEST)
def test_a_large_where_is_planned_within_the_time_of_a_request(
    dense: kiprdf.Nexus, where: str
) -> None:
    assert isinstance(dense.execute(f"FIND(?a) WHERE {{ {where} }} LIMIT 5"), list)
