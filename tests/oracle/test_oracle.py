"""Hand-worked claims about the evaluator; every expected value is written out from the page."""

from __future__ import annotations

from functools import cmp_to_key, partial
from typing import Any

import pytest

from kiprdf.errors import KipError
from kiprdf.language import ast, bind, parse
from tests.oracle import Answer, Graph, evaluate
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
    return _evaluated(text, graph, parameters).result


def _evaluated(text: str, graph: Graph, parameters: dict[str, Any]) -> Answer:
    command = bind(parse(text), parameters)
    assert isinstance(command, ast.Find)
    return evaluate(command, graph)


MEDICINE_CASES: list[tuple[str, Any, str]] = [
    # Concept and proposition clauses
    ("type_matches_every_concept_of_the_type", ["Aspirin", "Ibuprofen", "Vitamin C"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} }'),
    ("definitions_are_concepts_too", ["$ConceptType"],
     'FIND(?d.type) WHERE { ?d {name: "Drug"} }'),
    ("concept_is_shown_without_empty_maps", [
        {"_type": "ConceptNode", "id": "C:Class/NSAID", "type": "Class", "name": "NSAID"}
    ],
     'FIND(?c) WHERE { ?c {type: "Class"} }'),
    ("proposition_is_shown_with_its_ends", [
        {
            "_type": "PropositionLink",
            "id": proposition_id("C:Drug/Aspirin", "treats", HEADACHE),
            "subject": "C:Drug/Aspirin",
            "predicate": "treats",
            "object": "C:Symptom/Headache",
            "attributes": {"onset": 30},
            "metadata": {"confidence": 0.9},
        }
    ],
     'FIND(?l) WHERE { ?l ({name: "Aspirin"}, "treats", ?s) }'),
    ("unnamed_endpoints_are_existential", 2,
     'FIND(COUNT(?d)) WHERE { (?d, "treats", {type: "Symptom"}) }'),
    ("clauses_without_a_shared_variable_make_a_product", 6,
     'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} ?s {type: "Symptom"} }'),
    ("empty_clause_without_variables_empties_the_answer", [],
     'FIND(?d) WHERE { ?d {type: "Drug"} ({name: "Fever"}, "treats", {name: "Fever"}) }'),
    ("higher_order_pattern_binds_all_variables", [("John", "Aspirin", "Headache")],
     'FIND(?u.name, ?d.name, ?s.name) WHERE { (?u, "stated", (?d, "treats", ?s)) }'),
    ("inline_named_endpoints_bind", [("Aspirin", "treats")],
     'FIND(?d.name, ?f.predicate) WHERE { (?u, "stated", ?f (?d {type: "Drug"}, ?p, ?s)) }'),
    ("link_variable_joins_as_an_endpoint", ["Headache"],
     'FIND(?s.name) WHERE { ?f (?d, "treats", ?s) (?u, "stated", ?f) }'),
    ("alternatives_are_existential", 3,
     'FIND(COUNT(?d)) WHERE { (?d, "treats" | "causes", {name: "Headache"}) }'),
    ("predicate_variable_binds_the_name", ["is_a", "treats"],
     'FIND(?p) WHERE { ({name: "Aspirin"}, ?p, ?o) }'),
    ("predicate_variable_joins_with_another", ["Aspirin"],
     'FIND(?d.name) WHERE { ({name: "Aspirin"}, ?p, {name: "NSAID"}) (?d, ?p, ?o) }'),
    # FILTER
    ("numbers_compare_by_value", ["Ibuprofen"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk == 3) }'),
    ("inequality_is_the_exact_opposite", ["Aspirin", "Vitamin C"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.otc != true) }'),
    ("negated_comparison_is_true_for_mixed_kinds", ["Aspirin", "Vitamin C"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(!(?d.attributes.risk > 2)) }'),
    ("absent_and_explicit_null_are_alike", ["Aspirin", "Ibuprofen", "Vitamin C"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(IS_NULL(?d.attributes.note)) }'),
    ("arrays_are_equal_by_canonical_form", ["Headache"],
     'FIND(?s.name) WHERE { ?s {type: "Symptom"} FILTER(?s.attributes.tags == [1, 2]) }'),
    ("membership_uses_equality", ["Aspirin"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(IN(?d.attributes.risk, [2.0, null])) }'),
    ("string_functions_are_false_on_other_kinds", ["Vitamin C"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(CONTAINS(?d.attributes.risk, "o")) }'),
    ("regex_is_unanchored", ["Ibuprofen"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(REGEX(?d.name, "b.p")) }'),
    ("an_operand_alone_is_true_only_for_true", ["Ibuprofen"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.otc) }'),
    ("elements_compare_with_elements_not_with_their_ids", 3,
     'FIND(COUNT(?l)) WHERE { ?l (?d, "treats", ?s) FILTER(?l.subject == ?d.id) }'),
    ("elements_compare_with_elements_not_with_their_ids", 0,
     'FIND(COUNT(?l)) WHERE { ?l (?d, "treats", ?s) FILTER(?l.subject == ?d) }'),
    ("elements_compare_with_elements_not_with_their_ids", 3,
     'FIND(COUNT(?l)) WHERE { ?l (?d, "treats", ?s) FILTER(?s == ?s) }'),
    # NOT
    ("not_discards_what_completes_its_block", ["Ibuprofen", "Vitamin C"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} NOT { (?d, "is_a", {name: "NSAID"}) } }'),
    ("not_without_a_shared_variable_discards_everything", [],
     'FIND(?d) WHERE { ?d {type: "Drug"} NOT { ?x {name: "NSAID"} } }'),
    ("not_keeps_a_solution_with_a_null_it_mentions", ["Ibuprofen", "Vitamin C"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } NOT { (?d, "is_a", '
     "?c) } }"),
    ("null_in_a_filter_of_not_is_only_a_value", ["Aspirin"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } NOT { '
     "FILTER(IS_NULL(?c)) } }"),
    ("a_variable_of_not_is_private_even_when_bound_later", 3,
     'FIND(COUNT(?c)) WHERE { ?d {name: "Fever"} NOT { (?d, "is_a", ?c) } ?c {type: "Drug"} }'),
    ("not_sees_outer_variables_in_its_filter", ["Aspirin", "Vitamin C"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} NOT { (?e, "treats", {name: "Fever"}) FILTER(?e '
     "== ?d) } }"),
    # OPTIONAL
    ("missed_optional_is_null", [("Aspirin", "NSAID"), ("Ibuprofen", None), ("Vitamin C", None)],
     'FIND(?d.name, ?c.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } }'),
    ("optional_misses_as_a_whole", [None],
     'FIND(?s) WHERE { ?d {name: "Aspirin"} OPTIONAL { (?d, "treats", ?s) (?d, "causes", ?t) } }'),
    ("several_matches_of_optional_are_several_solutions", 3,
     'FIND(COUNT(?s)) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "treats", ?s) } }'),
    ("a_null_is_never_filled_in_later", ["Aspirin"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } ?c {type: "Class"} }'),
    ("optional_as_first_clause_extends_the_empty_solution", [None],
     'FIND(?d) WHERE { OPTIONAL { (?d, "causes", {name: "Fever"}) } }'),
    ("filter_in_optional_sees_outer_variables",
     [("Aspirin", "Ibuprofen"), ("Ibuprofen", None), ("Vitamin C", None)],
     'FIND(?d.name, ?e.name) WHERE { ?d {type: "Drug"} OPTIONAL { ?e {type: "Drug"} '
     "FILTER(?e.attributes.risk > ?d.attributes.risk) } }"),
    # UNION
    ("union_unites_rows_once", 2,
     'FIND(COUNT(?d)) WHERE { (?d, "treats", {name: "Headache"}) UNION { (?d, "treats", {name: '
     '"Fever"}) } }'),
    ("union_fills_missing_variables_with_null", [("NSAID", None), (None, "John")],
     'FIND(?c.name, ?p.name) WHERE { ?c {type: "Class"} UNION { ?p {type: "Person"} } }'),
    ("later_clauses_apply_to_the_merged_rows", ["John"],
     'FIND(?c.name) WHERE { ?c {type: "Class"} UNION { ?c {type: "Person"} } FILTER(?c.name == '
     '"John") }'),
    ("union_as_first_clause_unites_with_nothing", ["NSAID"],
     'FIND(?c.name) WHERE { UNION { ?c {type: "Class"} } }'),
    ("union_branch_does_not_see_outer_variables", "KIP_3001",
     'FIND(?d) WHERE { ?d {type: "Drug"} UNION { ?e {type: "Drug"} FILTER(?d == ?e) } }'),
    ("union_branch_in_optional_counts_only_where_it_equals_the_outer_solution",
     [("Aspirin", "NSAID"), ("Ibuprofen", None), ("Vitamin C", "Headache")],
     'FIND(?d.name, ?x.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?x) UNION { (?d, '
     '"causes", ?x) } } }'),
    ("union_branch_in_not_counts_only_where_it_equals_the_outer_solution", ["Ibuprofen"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} NOT { (?d, "is_a", ?x) UNION { (?d, "causes", ?x) '
     "} } }"),
    # Errors
    ("dangling_identity_is_not_found_in_the_mandatory_pattern", "KIP_3002",
     'FIND(?d) WHERE { ?d {type: "Drug", name: "X"} }'),
    ("dangling_identity_is_not_found_in_the_mandatory_pattern", "KIP_3002",
     'FIND(?d) WHERE { (?d, "treats", {id: "C:123"}) }'),
    ("dangling_identity_is_not_found_in_the_mandatory_pattern", "KIP_3002",
     'FIND(?d) WHERE { ?d {type: "Drug", name: "X"} UNION { ?d {type: "Drug"} } }'),
    ("name_alone_does_not_have_to_exist", [],
     'FIND(?d) WHERE { ?d {name: "X"} }'),
    ("unregistered_names_are_type_mismatches", "KIP_2001",
     'FIND(?d) WHERE { ?d {type: "drug"} }'),
    ("unregistered_names_are_type_mismatches", "KIP_2001",
     'FIND(?d) WHERE { NOT { (?d, "cures", ?s) } }'),
    ("unbound_variables_are_reference_errors", "KIP_3001",
     'FIND(?x) WHERE { ?d {type: "Drug"} }'),
    ("unbound_variables_are_reference_errors", "KIP_3001",
     'FIND(?x) WHERE { ?d {type: "Drug"} NOT { (?d, "is_a", ?x) } }'),
    ("unbound_variables_are_reference_errors", "KIP_3001",
     'FIND(?d) WHERE { FILTER(?d.name == "x") ?d {type: "Drug"} }'),
    ("predicate_variable_is_no_element", "KIP_1001",
     "FIND(?p.name) WHERE { (?a, ?p, ?b) }"),
    ("predicate_variable_is_no_element", "KIP_1001",
     'FIND(?p) WHERE { (?a, ?p, ?b) (?p, "treats", ?b) }'),
    # FIND, ORDER BY, LIMIT
    ("solutions_equal_in_projected_variables_collapse", ["Aspirin", "Ibuprofen"],
     'FIND(?d.name) WHERE { (?d, "treats", ?s) }'),
    ("equal_values_of_different_variables_do_not_collapse", ["Symptom", "Symptom"],
     'FIND(?s.type) WHERE { ?s {type: "Symptom"} }'),
    ("order_by_sorts_and_limit_cuts", ["Vitamin C", "Ibuprofen"],
     'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.risk DESC LIMIT 2'),
    ("null_is_first_among_ties", [(None, "Ibuprofen"), (None, "Vitamin C"), ("NSAID", "Aspirin")],
     'FIND(?c.name, ?d.name) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } } ORDER BY '
     "?d.type"),
    ("collapsed_solution_ranks_by_its_row_that_sorts_first", ["Ibuprofen", "Aspirin"],
     'FIND(?d.name) WHERE { (?d, "treats", ?s) } ORDER BY ?s.name ASC'),
    ("collapsed_solution_ranks_by_its_row_that_sorts_first", ["Aspirin", "Ibuprofen"],
     'FIND(?d.name) WHERE { (?d, "treats", ?s) } ORDER BY ?s.name DESC'),
    ("sort_key_beside_aggregates_is_a_find_expression", [("Ibuprofen", 2), ("Aspirin", 1)],
     'FIND(?d.name, COUNT(?s)) WHERE { (?d, "treats", ?s) } ORDER BY COUNT(?s) DESC'),
    ("sort_key_beside_aggregates_is_a_find_expression", "KIP_1001",
     'FIND(?d.name, COUNT(?s)) WHERE { (?d, "treats", ?s) } ORDER BY ?d.type'),
    # Aggregates
    ("count_counts_solutions_and_distinct_values", [3, 2],
     'FIND(COUNT(?d), COUNT(DISTINCT ?d)) WHERE { (?d, "treats", ?s) }'),
    ("missed_optional_counts_nothing", [("Aspirin", 1), ("Ibuprofen", 0), ("Vitamin C", 0)],
     'FIND(?d.name, COUNT(?c)) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "is_a", ?c) } } ORDER '
     "BY ?d.name"),
    ("sum_and_average_use_the_numbers", [5.0, 2.5],
     'FIND(SUM(?d.attributes.risk), AVG(?d.attributes.risk)) WHERE { ?d {type: "Drug"} }'),
    ("minimum_and_maximum_use_the_sort_order", [2, "low"],
     'FIND(MIN(?d.attributes.risk), MAX(?d.attributes.risk)) WHERE { ?d {type: "Drug"} }'),
    ("aggregates_of_nothing", [0, 0, None, None],
     'FIND(COUNT(?d), SUM(?d.name), AVG(?d.name), MIN(?d.name)) WHERE { ?d {name: "X"} }'),
    ("aggregates_of_nothing", [],
     'FIND(?d.name, COUNT(?d)) WHERE { ?d {name: "X"} }'),
    ("a_lone_aggregate_is_a_bare_scalar", 3,
     'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }'),
]  # fmt: skip

RING_CASES: list[tuple[str, Any, str]] = [
    ("variable_twice_in_one_clause_is_an_equality", [],
     'FIND(?x) WHERE { (?x, "next", ?x) }'),
    ("variable_twice_in_one_clause_is_an_equality", 3,
     'FIND(COUNT(?x)) WHERE { (?x, "next"{3}, ?x) }'),
    ("hops_walk_round_a_cycle", ["a", "d"],
     'FIND(?x.name) WHERE { ({name: "a"}, "next"{3}, ?x) }'),
    # 3 definitions, 4 concepts, 5 propositions.
    ("zero_hops_reach_every_element_of_the_nexus", 12,
     'FIND(COUNT(?x)) WHERE { (?x, "next"{0}, ?y) }'),
    ("open_hop_range_is_a_closure", ["a", "b", "c", "d"],
     'FIND(?x.name) WHERE { ({name: "a"}, "next"{2,}, ?x) }'),
    ("hops_are_a_set_of_pairs", 4,
     'FIND(COUNT(?x)) WHERE { ({name: "a"}, "next"{1,9}, ?x) }'),
    ("alternatives_have_their_own_ranges", ["a", "c", "d"],
     'FIND(?x.name) WHERE { ({name: "b"}, "next"{2} | "next", ?x) }'),
    ("link_variable_of_a_hop_clause_is_the_direct_link_or_null",
     [("a", None), ("c", "next"), ("d", None)],
     'FIND(?x.name, ?l.predicate) WHERE { ?l ({name: "b"}, "next"{1,2}, ?x) }'),
    ("link_variable_is_null_when_the_range_leaves_out_one", [("c", None)],
     'FIND(?x.name, ?l) WHERE { ?l ({name: "c"}, "next"{3}, ?x) }'),
    ("null_link_variable_does_not_join", [],
     'FIND(?x) WHERE { ?l ({name: "c"}, "next"{3}, ?x) (?l, "next"{0}, ?y) }'),
    ("ties_go_by_iri", ["a", "b", "c", "d"],
     'FIND(?x.name) WHERE { ?x {type: "N"} } ORDER BY ?x.type DESC'),
]  # fmt: skip


def rows_of(text: str, graph: Graph) -> Any:
    """The rows of a FIND, sorted where it leaves their order open; its scalars; or its error."""
    try:
        answer = _evaluated(text, graph, {})
    except KipError as error:
        return error.code
    if answer.scalar:
        return answer.result
    rows = answer.result if answer.width == 1 else [*zip(*answer.result, strict=True)]
    return rows if answer.ordered else sorted(rows, key=repr)


@pytest.mark.parametrize(
    ("graph", "expected", "text"),
    [
        pytest.param(graph, expected, text, id=claim)
        for graph, cases in ((MEDICINE, MEDICINE_CASES), (RING, RING_CASES))
        for claim, expected, text in cases
    ],
)
def test_claim(graph: Graph, expected: Any, text: str) -> None:
    assert rows_of(text, graph) == expected


def test_explicit_null_is_shown_in_the_object() -> None:
    (drug,) = find('FIND(?d) WHERE { ?d {name: "Aspirin"} }')
    assert drug["attributes"] == {"risk": 2, "note": None}


def test_ids_match_exactly() -> None:
    assert find('FIND(?c.name) WHERE { ?c {id: "C:Drug/Aspirin"} }') == ["Aspirin"]
    identifier = proposition_id("C:Drug/Aspirin", "treats", HEADACHE)
    assert find("FIND(?l.object) WHERE { ?l (id: :id) }", id=identifier) == [HEADACHE]


def test_null_is_not_ordered() -> None:
    assert not less(None, None)
    assert find('FIND(?d) WHERE { ?d {name: "Aspirin"} FILTER(null <= null) }') == []


def test_empty_list_from_a_parameter_is_false() -> None:
    assert find('FIND(?d) WHERE { ?d {type: "Drug"} FILTER(IN(?d.name, :n)) }', n=[]) == []


def test_dangling_identity_in_a_block_does_not_match() -> None:
    text = 'FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} %s { (?d, "treats", {id: "C:123"}) } }'
    assert [find(text % word) for word in ("NOT", "OPTIONAL", "UNION")] == [3, 3, 3]


def test_order_by_sorts_kinds_in_order_and_null_last() -> None:
    values = [None, "b", 3, True, 2.5, [1], False, "a"]
    key = sorted(values, key=_key(descending=False))
    assert key == [False, True, 2.5, 3, "a", "b", [1], None]
    assert sorted(values, key=_key(descending=True)) == [[1], "b", "a", 3, 2.5, True, False, None]


def _key(*, descending: bool) -> Any:
    return cmp_to_key(partial(compare_for_order, descending=descending))


def test_group_keys_are_equal_by_value() -> None:
    graph = Graph()
    graph.define(types=("N",))
    for number, value in enumerate([3, 3.0, None, "3", True]):
        graph.concept("N", str(number), {"a": value})
    graph.concept("N", "absent")
    text = 'FIND(?x.attributes.a, COUNT(?x)) WHERE { ?x {type: "N"} } ORDER BY ?x.attributes.a'
    assert find(text, graph) == [[True, 3, "3", None], [1, 2, 1, 2]]


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
