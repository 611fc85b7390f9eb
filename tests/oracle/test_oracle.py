"""Hand-worked claims about the evaluator; every expected value is written out from the page."""

from __future__ import annotations

from typing import Any

import pytest

from kiprdf.errors import KipError
from kiprdf.language import ast, bind, parse
from tests.oracle import Graph, evaluate
from tests.oracle.graph import proposition_id
from tests.oracle.values import compare_for_order, equal, less

HEADACHE = "C:Symptom/Headache"


def _medicine() -> Graph:
    graph = Graph()
    graph.define(
        types=("Drug", "Symptom", "Class", "Person"),
        predicates=("treats", "is_a", "causes", "stated"),
    )
    aspirin = graph.concept("Drug", "Aspirin", {"risk": 2, "note": None}, {"source": "book"})
    ibuprofen = graph.concept("Drug", "Ibuprofen", {"risk": 3.0, "otc": True})
    vitamin = graph.concept("Drug", "Vitamin C", {"risk": "low"})
    headache = graph.concept("Symptom", "Headache", {"tags": [1, 2]})
    fever = graph.concept("Symptom", "Fever", {"tags": [1.0, 2]})
    nsaid = graph.concept("Class", "NSAID")
    john = graph.concept("Person", "John")
    fact = graph.proposition(aspirin, "treats", headache, {"onset": 30}, {"confidence": 0.9})
    graph.proposition(ibuprofen, "treats", headache)
    graph.proposition(ibuprofen, "treats", fever)
    graph.proposition(aspirin, "is_a", nsaid)
    graph.proposition(vitamin, "causes", headache)
    graph.proposition(john, "stated", fact)
    return graph


def _ring() -> Graph:
    """a → b → c → a, c → d by "next"; a → c by "skip"."""
    graph = Graph()
    graph.define(types=("N",), predicates=("next", "skip"))
    a, b, c, d = (graph.concept("N", name) for name in "abcd")
    graph.proposition(a, "next", b)
    graph.proposition(b, "next", c)
    graph.proposition(c, "next", a)
    graph.proposition(c, "next", d)
    graph.proposition(a, "skip", c)
    return graph


MEDICINE = _medicine()
RING = _ring()


def find(text: str, graph: Graph = MEDICINE, **parameters: Any) -> Any:
    command = bind(parse(text), parameters)
    assert isinstance(command, ast.Find)
    return evaluate(command, graph).result


def find_sorted(text: str, graph: Graph = MEDICINE, **parameters: Any) -> list[Any]:
    """The rows of an unordered answer, in an order that tests can write down."""
    result = find(text, graph, **parameters)
    several = bool(result) and isinstance(result[0], list)
    rows = [tuple(row) for row in zip(*result, strict=True)] if several else result
    return sorted(rows, key=repr)


def error(text: str, graph: Graph = MEDICINE) -> str:
    with pytest.raises(KipError) as caught:
        find(text, graph)
    return caught.value.code


# Concept and proposition clauses --------------------------------------------------------------


def test_type_matches_every_concept_of_the_type() -> None:
    assert find_sorted('FIND(?d.name) WHERE { ?d {type: "Drug"} }') == [
        "Aspirin",
        "Ibuprofen",
        "Vitamin C",
    ]


def test_definitions_are_concepts_too() -> None:
    assert find('FIND(?d.type) WHERE { ?d {name: "Drug"} }') == ["$ConceptType"]


def test_concept_is_shown_without_empty_maps() -> None:
    assert find('FIND(?c) WHERE { ?c {type: "Class"} }') == [
        {"_type": "ConceptNode", "id": "C:Class/NSAID", "type": "Class", "name": "NSAID"}
    ]


def test_proposition_is_shown_with_its_ends() -> None:
    assert find('FIND(?l) WHERE { ?l ({name: "Aspirin"}, "treats", ?s) }') == [
        {
            "_type": "PropositionLink",
            "id": proposition_id("C:Drug/Aspirin", "treats", HEADACHE),
            "subject": "C:Drug/Aspirin",
            "predicate": "treats",
            "object": "C:Symptom/Headache",
            "attributes": {"onset": 30},
            "metadata": {"confidence": 0.9},
        }
    ]


def test_explicit_null_is_shown_in_the_object() -> None:
    found = find('FIND(?d) WHERE { ?d {name: "Aspirin"} }')
    assert found[0]["attributes"] == {"risk": 2, "note": None}


def test_unnamed_endpoints_are_existential() -> None:
    assert find('FIND(COUNT(?d)) WHERE { (?d, "treats", {type: "Symptom"}) }') == 2


def test_clauses_without_a_shared_variable_make_a_product() -> None:
    text = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} ?s {type: "Symptom"} }'
    assert find(text) == 6


def test_empty_clause_without_variables_empties_the_answer() -> None:
    text = 'FIND(?d) WHERE { ?d {type: "Drug"} ({name: "Fever"}, "treats", {name: "Fever"}) }'
    assert find(text) == []


def test_higher_order_pattern_binds_all_variables() -> None:
    text = 'FIND(?u.name, ?d.name, ?s.name) WHERE { (?u, "stated", (?d, "treats", ?s)) }'
    assert find(text) == [["John"], ["Aspirin"], ["Headache"]]


def test_inline_named_endpoints_bind() -> None:
    text = 'FIND(?d.name, ?f.predicate) WHERE { (?u, "stated", ?f (?d {type: "Drug"}, ?p, ?s)) }'
    assert find(text) == [["Aspirin"], ["treats"]]


def test_link_variable_joins_as_an_endpoint() -> None:
    text = 'FIND(?s.name) WHERE { ?f (?d, "treats", ?s) (?u, "stated", ?f) }'
    assert find(text) == ["Headache"]


def test_variable_twice_in_one_clause_is_an_equality() -> None:
    assert find('FIND(?x) WHERE { (?x, "next", ?x) }', RING) == []
    assert find('FIND(COUNT(?x)) WHERE { (?x, "next"{3}, ?x) }', RING) == 3


def test_alternatives_are_existential() -> None:
    text = 'FIND(COUNT(?d)) WHERE { (?d, "treats" | "causes", {name: "Headache"}) }'
    assert find(text) == 3


def test_predicate_variable_binds_the_name() -> None:
    text = 'FIND(?p) WHERE { ({name: "Aspirin"}, ?p, ?o) }'
    assert find_sorted(text) == ["is_a", "treats"]


def test_predicate_variable_joins_with_another() -> None:
    text = 'FIND(?d.name) WHERE { ({name: "Aspirin"}, ?p, {name: "NSAID"}) (?d, ?p, ?o) }'
    assert find(text) == ["Aspirin"]


def test_ids_match_exactly() -> None:
    assert find('FIND(?c.name) WHERE { ?c {id: "C:Drug/Aspirin"} }') == ["Aspirin"]
    identifier = proposition_id("C:Drug/Aspirin", "treats", HEADACHE)
    assert find("FIND(?l.object) WHERE { ?l (id: :id) }", id=identifier) == [HEADACHE]


# Hops -----------------------------------------------------------------------------------------


def test_hops_walk_round_a_cycle() -> None:
    assert find('FIND(?x.name) WHERE { ({name: "a"}, "next"{3}, ?x) }', RING) == ["a", "d"]


def test_zero_hops_reach_every_element_of_the_nexus() -> None:
    # 3 definitions, 4 concepts, 5 propositions.
    assert find('FIND(COUNT(?x)) WHERE { (?x, "next"{0}, ?y) }', RING) == 12


def test_open_hop_range_is_a_closure() -> None:
    text = 'FIND(?x.name) WHERE { ({name: "a"}, "next"{2,}, ?x) }'
    assert find_sorted(text, RING) == ["a", "b", "c", "d"]


def test_hops_are_a_set_of_pairs() -> None:
    assert find('FIND(COUNT(?x)) WHERE { ({name: "a"}, "next"{1,9}, ?x) }', RING) == 4


def test_alternatives_have_their_own_ranges() -> None:
    text = 'FIND(?x.name) WHERE { ({name: "b"}, "next"{2} | "next", ?x) }'
    assert find_sorted(text, RING) == ["a", "c", "d"]


def test_link_variable_of_a_hop_clause_is_the_direct_link_or_null() -> None:
    text = 'FIND(?x.name, ?l.predicate) WHERE { ?l ({name: "b"}, "next"{1,2}, ?x) }'
    assert find_sorted(text, RING) == [("a", None), ("c", "next"), ("d", None)]


def test_link_variable_is_null_when_the_range_leaves_out_one() -> None:
    text = 'FIND(?x.name, ?l) WHERE { ?l ({name: "c"}, "next"{3}, ?x) }'
    assert find_sorted(text, RING) == [("c", None)]


def test_null_link_variable_does_not_join() -> None:
    text = 'FIND(?x) WHERE { ?l ({name: "c"}, "next"{3}, ?x) (?l, "next"{0}, ?y) }'
    assert find(text, RING) == []


# FILTER ---------------------------------------------------------------------------------------


def test_numbers_compare_by_value() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk == 3) }'
    assert find(text) == ["Ibuprofen"]


def test_inequality_is_the_exact_opposite() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.otc != true) }'
    assert find_sorted(text) == ["Aspirin", "Vitamin C"]


def test_negated_comparison_is_true_for_mixed_kinds() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(!(?d.attributes.risk > 2)) }'
    assert find_sorted(text) == ["Aspirin", "Vitamin C"]


def test_null_is_not_ordered() -> None:
    assert not less(None, None)
    assert find('FIND(?d) WHERE { ?d {name: "Aspirin"} FILTER(null <= null) }') == []


def test_absent_and_explicit_null_are_alike() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(IS_NULL(?d.attributes.note)) }'
    assert find_sorted(text) == ["Aspirin", "Ibuprofen", "Vitamin C"]


def test_arrays_are_equal_by_canonical_form() -> None:
    text = 'FIND(?s.name) WHERE { ?s {type: "Symptom"} FILTER(?s.attributes.tags == [1, 2]) }'
    assert find(text) == ["Headache"]


def test_membership_uses_equality() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(IN(?d.attributes.risk, [2.0, null])) }'
    assert find(text) == ["Aspirin"]


def test_empty_list_from_a_parameter_is_false() -> None:
    assert find('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(IN(?d.name, :n)) }', n=[]) == []


def test_string_functions_are_false_on_other_kinds() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(CONTAINS(?d.attributes.risk, "o")) }'
    assert find(text) == ["Vitamin C"]


def test_regex_is_unanchored() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(REGEX(?d.name, "b.p")) }'
    assert find(text) == ["Ibuprofen"]


def test_an_operand_alone_is_true_only_for_true() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.otc) }'
    assert find(text) == ["Ibuprofen"]


def test_elements_compare_with_elements_not_with_their_ids() -> None:
    text = 'FIND(COUNT(?l)) WHERE { ?l (?d, "treats", ?s) FILTER(%s) }'
    assert find(text % "?l.subject == ?d.id") == 3
    assert find(text % "?l.subject == ?d") == 0
    assert find(text % "?s == ?s") == 3


# NOT ------------------------------------------------------------------------------------------


def test_not_discards_what_completes_its_block() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} NOT { (?d, "is_a", {name: "NSAID"}) } }'
    assert find_sorted(text) == ["Ibuprofen", "Vitamin C"]


def test_not_without_a_shared_variable_discards_everything() -> None:
    text = 'FIND(?d) WHERE { ?d {type: "Drug"} NOT { ?x {name: "NSAID"} } }'
    assert find(text) == []


def test_not_keeps_a_solution_with_a_null_it_mentions() -> None:
    text = (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } '
        'NOT { (?d, "is_a", ?c) } }'
    )
    assert find_sorted(text) == ["Ibuprofen", "Vitamin C"]


def test_null_in_a_filter_of_not_is_only_a_value() -> None:
    text = (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } '
        "NOT { FILTER(IS_NULL(?c)) } }"
    )
    assert find(text) == ["Aspirin"]


def test_a_variable_of_not_is_private_even_when_bound_later() -> None:
    text = 'FIND(COUNT(?c)) WHERE { ?d {name: "Fever"} NOT { (?d, "is_a", ?c) } ?c {type: "Drug"} }'
    assert find(text) == 3


def test_not_sees_outer_variables_in_its_filter() -> None:
    text = (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} '
        'NOT { (?e, "treats", {name: "Fever"}) FILTER(?e == ?d) } }'
    )
    assert find_sorted(text) == ["Aspirin", "Vitamin C"]


# OPTIONAL -------------------------------------------------------------------------------------


def test_missed_optional_is_null() -> None:
    text = 'FIND(?d.name, ?c.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } }'
    assert find_sorted(text) == [
        ("Aspirin", "NSAID"),
        ("Ibuprofen", None),
        ("Vitamin C", None),
    ]


def test_optional_misses_as_a_whole() -> None:
    text = (
        'FIND(?s) WHERE { ?d {name: "Aspirin"} OPTIONAL { (?d, "treats", ?s) (?d, "causes", ?t) } }'
    )
    assert find(text) == [None]


def test_several_matches_of_optional_are_several_solutions() -> None:
    text = 'FIND(COUNT(?s)) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) } }'
    assert find(text) == 3


def test_a_null_is_never_filled_in_later() -> None:
    text = (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } ?c {type: "Class"} }'
    )
    assert find(text) == ["Aspirin"]


def test_optional_as_first_clause_extends_the_empty_solution() -> None:
    assert find('FIND(?d) WHERE { OPTIONAL { (?d, "causes", {name: "Fever"}) } }') == [None]


def test_filter_in_optional_sees_outer_variables() -> None:
    text = (
        'FIND(?d.name, ?e.name) WHERE { ?d {type: "Drug"} '
        'OPTIONAL { ?e {type: "Drug"} FILTER(?e.attributes.risk > ?d.attributes.risk) } }'
    )
    assert find_sorted(text) == [
        ("Aspirin", "Ibuprofen"),
        ("Ibuprofen", None),
        ("Vitamin C", None),
    ]


# UNION ----------------------------------------------------------------------------------------


def test_union_unites_rows_once() -> None:
    text = (
        'FIND(COUNT(?d)) WHERE { (?d, "treats", {name: "Headache"}) '
        'UNION { (?d, "treats", {name: "Fever"}) } }'
    )
    assert find(text) == 2


def test_union_fills_missing_variables_with_null() -> None:
    text = 'FIND(?c.name, ?p.name) WHERE { ?c {type: "Class"} UNION { ?p {type: "Person"} } }'
    assert find_sorted(text) == [("NSAID", None), (None, "John")]


def test_later_clauses_apply_to_the_merged_rows() -> None:
    text = (
        'FIND(?c.name) WHERE { ?c {type: "Class"} UNION { ?c {type: "Person"} } '
        'FILTER(?c.name == "John") }'
    )
    assert find(text) == ["John"]


def test_union_as_first_clause_unites_with_nothing() -> None:
    assert find('FIND(?c.name) WHERE { UNION { ?c {type: "Class"} } }') == ["NSAID"]


def test_union_branch_does_not_see_outer_variables() -> None:
    assert (
        error('FIND(?d) WHERE { ?d {type: "Drug"} UNION { ?e {type: "Drug"} FILTER(?d == ?e) } }')
        == "KIP_3001"
    )


def test_union_branch_in_optional_counts_only_where_it_equals_the_outer_solution() -> None:
    text = (
        'FIND(?d.name, ?x.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?x) '
        'UNION { (?d, "causes", ?x) } } }'
    )
    assert find_sorted(text) == [
        ("Aspirin", "NSAID"),
        ("Ibuprofen", None),
        ("Vitamin C", "Headache"),
    ]


def test_union_branch_in_not_counts_only_where_it_equals_the_outer_solution() -> None:
    text = (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} '
        'NOT { (?d, "is_a", ?x) UNION { (?d, "causes", ?x) } } }'
    )
    assert find(text) == ["Ibuprofen"]


# Errors ---------------------------------------------------------------------------------------


def test_dangling_identity_is_not_found_in_the_mandatory_pattern() -> None:
    assert error('FIND(?d) WHERE { ?d {type: "Drug", name: "X"} }') == "KIP_3002"
    assert error('FIND(?d) WHERE { (?d, "treats", {id: "C:123"}) }') == "KIP_3002"
    assert (
        error('FIND(?d) WHERE { ?d {type: "Drug", name: "X"} UNION { ?d {type: "Drug"} } }')
        == "KIP_3002"
    )


def test_dangling_identity_in_a_block_does_not_match() -> None:
    text = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} %s { (?d, "treats", {id: "C:123"}) } }'
    assert [find(text % word) for word in ("NOT", "OPTIONAL", "UNION")] == [3, 3, 3]


def test_name_alone_does_not_have_to_exist() -> None:
    assert find('FIND(?d) WHERE { ?d {name: "X"} }') == []


def test_unregistered_names_are_type_mismatches() -> None:
    assert error('FIND(?d) WHERE { ?d {type: "drug"} }') == "KIP_2001"
    assert error('FIND(?d) WHERE { NOT { (?d, "cures", ?s) } }') == "KIP_2001"


def test_unbound_variables_are_reference_errors() -> None:
    assert error('FIND(?x) WHERE { ?d {type: "Drug"} }') == "KIP_3001"
    assert error('FIND(?x) WHERE { ?d {type: "Drug"} NOT { (?d, "is_a", ?x) } }') == "KIP_3001"
    assert error('FIND(?d) WHERE { FILTER(?d.name == "x") ?d {type: "Drug"} }') == "KIP_3001"


def test_predicate_variable_is_no_element() -> None:
    assert error("FIND(?p.name) WHERE { (?a, ?p, ?b) }") == "KIP_1001"
    assert error('FIND(?p) WHERE { (?a, ?p, ?b) (?p, "treats", ?b) }') == "KIP_1001"


# FIND, ORDER BY, LIMIT ------------------------------------------------------------------------


def test_solutions_equal_in_projected_variables_collapse() -> None:
    text = 'FIND(?d.name) WHERE { (?d, "treats", ?s) }'
    assert find_sorted(text) == ["Aspirin", "Ibuprofen"]


def test_equal_values_of_different_variables_do_not_collapse() -> None:
    assert find('FIND(?s.type) WHERE { ?s {type: "Symptom"} }') == ["Symptom", "Symptom"]


def test_order_puts_kinds_in_order_and_null_last() -> None:
    values = [None, "b", 3, True, 2.5, [1], False, "a"]
    key = sorted(values, key=_key(descending=False))
    assert key == [False, True, 2.5, 3, "a", "b", [1], None]
    assert sorted(values, key=_key(descending=True)) == [[1], "b", "a", 3, 2.5, True, False, None]


def _key(*, descending: bool) -> Any:
    from functools import cmp_to_key

    return cmp_to_key(lambda a, b: compare_for_order(a, b, descending=descending))


def test_order_by_sorts_and_limit_cuts() -> None:
    text = 'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.risk DESC LIMIT 2'
    assert find(text) == ["Vitamin C", "Ibuprofen"]


def test_ties_go_by_iri() -> None:
    text = 'FIND(?x.name) WHERE { ?x {type: "N"} } ORDER BY ?x.type DESC'
    assert find(text, RING) == ["a", "b", "c", "d"]


def test_null_is_first_among_ties() -> None:
    text = (
        'FIND(?c.name, ?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } } '
        "ORDER BY ?d.type"
    )
    assert find(text) == [[None, None, "NSAID"], ["Ibuprofen", "Vitamin C", "Aspirin"]]


def test_collapsed_solution_ranks_by_its_row_that_sorts_first() -> None:
    text = 'FIND(?d.name) WHERE { (?d, "treats", ?s) } ORDER BY ?s.name %s'
    assert find(text % "ASC") == ["Ibuprofen", "Aspirin"]
    assert find(text % "DESC") == ["Aspirin", "Ibuprofen"]


def test_sort_key_beside_aggregates_is_a_find_expression() -> None:
    text = 'FIND(?d.name, COUNT(?s)) WHERE { (?d, "treats", ?s) } ORDER BY %s'
    assert find(text % "COUNT(?s) DESC") == [["Ibuprofen", "Aspirin"], [2, 1]]
    assert error(text % "?d.type") == "KIP_1001"


# Aggregates -----------------------------------------------------------------------------------


def test_count_counts_solutions_and_distinct_values() -> None:
    text = 'FIND(COUNT(?d), COUNT(DISTINCT ?d)) WHERE { (?d, "treats", ?s) }'
    assert find(text) == [3, 2]


def test_missed_optional_counts_nothing() -> None:
    text = (
        'FIND(?d.name, COUNT(?c)) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } } '
        "ORDER BY ?d.name"
    )
    assert find(text) == [["Aspirin", "Ibuprofen", "Vitamin C"], [1, 0, 0]]


def test_sum_and_average_use_the_numbers() -> None:
    text = 'FIND(SUM(?d.attributes.risk), AVG(?d.attributes.risk)) WHERE { ?d {type: "Drug"} }'
    assert find(text) == [5.0, 2.5]


def test_minimum_and_maximum_use_the_sort_order() -> None:
    text = 'FIND(MIN(?d.attributes.risk), MAX(?d.attributes.risk)) WHERE { ?d {type: "Drug"} }'
    assert find(text) == [2, "low"]


def test_aggregates_of_nothing() -> None:
    text = 'FIND(COUNT(?d), SUM(?d.name), AVG(?d.name), MIN(?d.name)) WHERE { ?d {name: "X"} }'
    assert find(text) == [0, 0, None, None]
    assert find('FIND(?d.name, COUNT(?d)) WHERE { ?d {name: "X"} }') == [[], []]


def test_group_keys_are_equal_by_value() -> None:
    graph = Graph()
    graph.define(types=("N",))
    for number, value in enumerate([3, 3.0, None, "3", True]):
        graph.concept("N", str(number), {"a": value})
    graph.concept("N", "absent")
    text = 'FIND(?x.attributes.a, COUNT(?x)) WHERE { ?x {type: "N"} } ORDER BY ?x.attributes.a'
    assert find(text, graph) == [[True, 3, "3", None], [1, 2, 1, 2]]


def test_a_lone_aggregate_is_a_bare_scalar() -> None:
    assert find('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }') == 3


def test_booleans_are_no_numbers() -> None:
    assert not equal(True, 1)
    assert find('FIND(SUM(?d.attributes.otc)) WHERE { ?d {type: "Drug"} }') == 0


# The graph ------------------------------------------------------------------------------------


def test_requests_create_higher_order_links_by_handle_and_structurally() -> None:
    commands = [request["command"] for request in MEDICINE.requests()]
    assert len(commands) == 3
    assert '({type: :p5_subject_type, name: :p5_subject_name}, "stated", (' in commands[2]
    for command in commands:
        parse(command)


def test_iris_are_percent_encoded() -> None:
    graph = Graph()
    graph.define(types=("N",))
    assert graph.iri(graph.concept("N", 'a/b "薬"')) == "urn:kip:nexus/N/a%2Fb%20%22薬%22"
