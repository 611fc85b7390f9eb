"""Queries on which the obvious SPARQL is wrong, with answers written by hand.

One graph: drugs A, B, C and D. A and B treat X, C treats Y, D treats nothing. A causes X, B causes
Y. C follows B follows A follows C, a cycle. U states that A treats X.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import kiprdf
from tests.cases import each_case

SETUP = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$ConceptType", name: "User"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "causes"} }
  CONCEPT { {type: "$PropositionType", name: "follows"} }
  CONCEPT { {type: "$PropositionType", name: "stated"} }
  CONCEPT ?x { {type: "Symptom", name: "X"} SET ATTRIBUTES {grade: 1} }
  CONCEPT ?y { {type: "Symptom", name: "Y"} SET ATTRIBUTES {grade: 1.0} }
  CONCEPT ?a {
    {type: "Drug", name: "A"} SET ATTRIBUTES {v: 1, flag: true, n: null, list: [1, {k: 2}]}
    SET PROPOSITIONS { ("treats", ?x) ("causes", ?x) }
  }
  CONCEPT ?b {
    {type: "Drug", name: "B"} SET ATTRIBUTES {v: 1.0, flag: false, list: [1, {k: 2}]}
    SET PROPOSITIONS { ("treats", ?x) ("causes", ?y) ("follows", ?a) }
  }
  CONCEPT ?c {
    {type: "Drug", name: "C"} SET ATTRIBUTES {v: "1"}
    SET PROPOSITIONS { ("treats", ?y) ("follows", ?b) }
  }
  CONCEPT ?d { {type: "Drug", name: "D"} }
  PROPOSITION { (?a, "follows", ?c) }
  PROPOSITION ?fact { (?a, "treats", ?x) } WITH METADATA {sure: true}
  CONCEPT { {type: "User", name: "U"} SET PROPOSITIONS { ("stated", ?fact) } }
}
"""


@pytest.fixture(scope="module")
def nexus() -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute(SETUP)
        yield nexus


DRUG = '?d {type: "Drug"} '

# Name: (WHERE, names shown, rows in any order).
NAMES: dict[str, tuple[str, str, list[Any]]] = {
    # A0: null never matches, and is never filled in.
    "a_null_is_not_filled_in_by_a_later_clause": (
        DRUG + 'OPTIONAL { (?d, "causes", ?s) } (?c, "treats", ?s)',
        "?d.name, ?c.name",
        [("A", "A"), ("A", "B"), ("B", "C")],
    ),
    "a_later_concept_clause_drops_a_null": (
        DRUG + 'OPTIONAL { (?d, "causes", ?s) } ?s {type: "Symptom"}',
        "?d.name",
        ["A", "B"],
    ),
    "optional_misses_on_a_null": (
        DRUG + 'OPTIONAL { (?d, "causes", ?s) } OPTIONAL { (?e, "treats", ?s) }',
        "?d.name, ?e.name",
        [("A", "A"), ("A", "B"), ("B", "C"), ("C", None), ("D", None)],
    ),
    "not_keeps_a_null": (
        DRUG + 'OPTIONAL { (?d, "causes", ?s) } NOT { (?c, "treats", ?s) }',
        "?d.name",
        ["C", "D"],
    ),
    "an_id_that_a_filter_reads_is_read_once_where_its_element_may_be_null": (
        'UNION { OPTIONAL { ?d {type: "Drug"} FILTER(REGEX(?d.id, "A$")) } (?d, "treats", ?x) } '
        'OPTIONAL { (?d, "causes", ?s) }',
        "?d.name, ?s.name",
        [("A", "X")],
    ),
    "a_union_row_without_the_variable_is_dropped_by_a_later_clause": (
        '?d {name: "A"} UNION { ?u {type: "User"} } (?d, "treats", ?s)',
        "?d.name, ?u.name, ?s.name",
        [("A", None, "X")],
    ),
    "a_filter_in_not_on_a_null_does_not_keep_the_solution": (
        DRUG + 'OPTIONAL { (?d, "causes", ?s) } NOT { ?u {type: "User"} FILTER(IS_NULL(?s)) }',
        "?d.name",
        ["A", "B"],
    ),
    # A4: OPTIONAL is correlated at any depth.
    "a_nested_optional_sees_the_outermost_variable": (
        DRUG + 'OPTIONAL { ?u {type: "User"} OPTIONAL { (?d, "causes", ?s) } }',
        "?d.name, ?s.name",
        [("A", "X"), ("B", "Y"), ("C", None), ("D", None)],
    ),
    "a_filter_in_a_nested_optional_sees_the_outermost_variable": (
        DRUG + 'OPTIONAL { ?s {type: "Symptom"} OPTIONAL { ?u {type: "User"} '
        'FILTER(?d.name == "A" && ?s.name == "X") } FILTER(IS_NOT_NULL(?u)) }',
        "?d.name, ?s.name",
        [("A", "X"), ("B", None), ("C", None), ("D", None)],
    ),
    "a_not_inside_optional_sees_the_outer_variable": (
        DRUG + 'OPTIONAL { (?d, "treats", ?s) NOT { (?d, "causes", ?s) } }',
        "?d.name, ?s.name",
        [("A", None), ("B", "X"), ("C", "Y"), ("D", None)],
    ),
    # A5: NOT.
    "not_without_a_shared_variable_is_all_or_nothing": (
        DRUG + 'NOT { ?u {type: "User"} }',
        "?d.name",
        [],
    ),
    "not_without_a_shared_variable_keeps_all_when_it_cannot_be_completed": (
        DRUG + 'NOT { ?u {type: "User", name: "nobody"} }',
        "?d.name",
        ["A", "B", "C", "D"],
    ),
    "a_later_clause_does_not_capture_a_private_variable": (
        DRUG + 'NOT { (?d, "causes", ?s) } (?d, "treats", ?s)',
        "?d.name, ?s.name",
        [("C", "Y")],
    ),
    "an_earlier_clause_is_seen_by_not": (
        DRUG + '(?d, "treats", ?s) NOT { (?d, "causes", ?s) }',
        "?d.name, ?s.name",
        [("B", "X"), ("C", "Y")],
    ),
    "a_not_in_a_not": (
        DRUG + 'NOT { (?d, "treats", ?s) NOT { (?d, "causes", ?s) } }',
        "?d.name",
        ["A", "D"],
    ),
    "a_filter_in_not_compares_with_an_outer_value": (
        DRUG + 'NOT { ?e {type: "Drug"} (?e, "follows", ?d) '
        "FILTER(?e.attributes.v == ?d.attributes.v) }",
        "?d.name",
        ["B", "C", "D"],
    ),
    # A6: UNION.
    "a_union_row_is_there_once": (
        '(?d, "treats", {name: "X"}) UNION { (?d, "causes", {name: "X"}) }',
        "?d.name",
        ["A", "B"],
    ),
    "a_union_as_first_clause_unites_with_nothing": (
        'UNION { ?d {name: "A"} } UNION { ?e {name: "B"} }',
        "?d.name, ?e.name",
        [("A", None), (None, "B")],
    ),
    "a_union_branch_does_not_see_the_outer_variable": (
        '?d {name: "A"} UNION { (?d, "treats", {name: "Y"}) }',
        "?d.name",
        ["A", "C"],
    ),
    "a_clause_behind_a_union_holds_for_both": (
        '?d {name: "A"} UNION { ?d {name: "C"} } (?d, "treats", ?s)',
        "?d.name, ?s.name",
        [("A", "X"), ("C", "Y")],
    ),
    "a_union_in_not_counts_when_it_equals_the_outer_solution": (
        DRUG + 'NOT { (?d, "causes", ?s) UNION { (?d, "treats", {name: "Y"}) } }',
        "?d.name",
        ["D"],
    ),
    "a_union_in_optional_binds_only_what_equals_the_outer_solution": (
        DRUG + 'OPTIONAL { (?d, "causes", ?s) UNION { (?d, "treats", ?t) } }',
        "?d.name, ?s.name, ?t.name",
        [("A", "X", None), ("A", None, "X"), ("B", "Y", None), ("B", None, "X"),
         ("C", None, "Y"), ("D", None, None)],
    ),
    # A7: values.
    "not_equal_is_true_for_null": (
        DRUG + 'FILTER(?d.attributes.v != "1")', "?d.name", ["A", "B", "D"]),
    "null_equals_null": (
        DRUG + "FILTER(?d.attributes.none == null)", "?d.name", ["A", "B", "C", "D"]),
    "explicit_null_is_null": (DRUG + "FILTER(?d.attributes.n == ?d.attributes.none)", "?d.name",
                              ["A", "B", "C", "D"]),
    "three_equals_three_point_zero": (DRUG + "FILTER(?d.attributes.v == 1)", "?d.name", ["A", "B"]),
    "numbers_are_no_strings": (DRUG + 'FILTER(?d.attributes.v == "1")', "?d.name", ["C"]),
    "a_negated_comparison_with_null_is_true": (
        DRUG + "FILTER(!(?d.attributes.v > 0))", "?d.name", ["C", "D"]),
    "mixed_kinds_have_no_order": (DRUG + 'FILTER(?d.attributes.v >= "0")', "?d.name", ["C"]),
    "false_is_less_than_true": (DRUG + "FILTER(?d.attributes.flag < true)", "?d.name", ["B"]),
    "true_is_not_less_than_true_but_at_most": (
        DRUG + "FILTER(?d.attributes.flag <= true)", "?d.name", ["A", "B"]),
    "booleans_of_two_nodes_have_an_order": (
        '?d {type: "Drug"} ?e {type: "Drug"} FILTER(?d.attributes.flag < ?e.attributes.flag)',
        "?d.name, ?e.name", [("B", "A")]),
    "an_array_is_not_at_most_itself": (
        DRUG + "FILTER(?d.attributes.list <= ?d.attributes.list)", "?d.name", []),
    "an_explicit_null_is_not_at_most_itself": (
        DRUG + "FILTER(?d.attributes.n <= ?d.attributes.n)", "?d.name", []),
    "arrays_are_equal_by_content": (
        DRUG + "FILTER(?d.attributes.list == [1, {k: 2}])", "?d.name", ["A", "B"]),
    "arrays_of_two_nodes_are_equal_by_content": (
        '?d {type: "Drug"} ?e {type: "Drug"} FILTER(?d.attributes.list == ?e.attributes.list && '
        "IS_NOT_NULL(?d.attributes.list) && ?d.name < ?e.name)",
        "?d.name, ?e.name", [("A", "B")]),
    "an_operand_alone_is_true_iff_it_is_true": (
        DRUG + "FILTER(?d.attributes.flag)", "?d.name", ["A"]),
    "a_negated_operand_is_true_for_anything_else": (
        DRUG + "FILTER(!?d.attributes.flag)", "?d.name", ["B", "C", "D"]),
    "in_with_null": (DRUG + "FILTER(IN(?d.attributes.v, [null, 1]))", "?d.name", ["A", "B", "D"]),
    "a_node_equals_itself": (
        '?d {type: "Drug"} ?e {type: "Drug"} FILTER(?d == ?e)', "?d.name, ?e.name",
        [("A", "A"), ("B", "B"), ("C", "C"), ("D", "D")]),
    "a_node_is_no_string": (DRUG + "FILTER(?d == ?d.id)", "?d.name", []),
    "the_subject_of_a_link_is_an_id": (
        '?l (?d, "treats", ?s) FILTER(?l.subject == ?d.id && ?l.object == "C:Symptom/Y")',
        "?d.name", ["C"]),
    "string_functions_are_false_on_numbers": (
        DRUG + 'FILTER(CONTAINS(?d.attributes.v, "1"))', "?d.name", ["C"]),
    "a_constant_filter_holds_for_all_or_none": (DRUG + "FILTER(1 == 2)", "?d.name", []),
    # A8: hops.
    "walks_return_to_their_start": (
        '({name: "A"}, "follows"{3}, ?d)', "?d.name", ["A"]),
    "zero_hops_reach_an_element_without_links": (
        '({name: "D"}, "follows"{0,3}, ?d)', "?d.name", ["D"]),
    "zero_hops_alone": ('({type: "Drug"}, "follows"{0}, ?d)', "?d.name", ["A", "B", "C", "D"]),
    "a_hop_clause_is_a_set_of_pairs": (
        '(?d {name: "A"}, "follows"{1,9}, ?e)', "?e.name", ["A", "B", "C"]),
    "both_ends_of_a_hop_may_be_free": (
        '(?d, "follows"{2}, ?e)', "?d.name, ?e.name", [("A", "B"), ("B", "C"), ("C", "A")]),
    "one_variable_at_both_ends_is_an_equality": (
        '(?d, "follows"{3}, ?d)', "?d.name", ["A", "B", "C"]),
    "a_hop_checks_an_end_that_is_bound": (
        DRUG + '?e {type: "Drug", name: "B"} (?d, "follows"{2}, ?e)', "?d.name", ["A"]),
    "a_hop_from_a_null_has_no_match": (
        DRUG + 'OPTIONAL { (?d, "follows", ?e) } (?e, "follows"{0,1}, ?f)',
        "?d.name, ?f.name",
        [("A", "C"), ("A", "B"), ("B", "A"), ("B", "C"), ("C", "B"), ("C", "A")],
    ),
    "the_link_of_two_hops_is_null": (
        '?l ({name: "A"}, "follows"{2}, ?d)', "?d.name, ?l.id", [("B", None)]),
    "the_link_of_a_range_is_bound_where_it_is_direct": (
        '?l ({name: "A"}, "follows"{1,2}, ?d)', "?d.name, ?l.predicate",
        [("C", "follows"), ("B", None)]),
    "a_link_of_a_range_that_is_used_again_must_be_direct": (
        '?l ({name: "A"}, "follows"{1,2}, ?d) FILTER(IS_NOT_NULL(?l))', "?d.name", ["C"]),
    "a_hop_of_a_link_reaches_the_fact_itself_at_zero": (
        '({name: "U"}, "stated", ?f) (?f, "follows"{0,2}, ?g)', "?g.predicate", ["treats"]),
    # A9: links and predicates.
    "an_alternative_matches_a_pair_once": (
        '({name: "A"}, "treats" | "causes", ?s)', "?s.name", ["X"]),
    "an_alternative_with_a_link_matches_every_link": (
        '?l ({name: "A"}, "treats" | "causes", ?s)', "?l.predicate", ["treats", "causes"]),
    "a_predicate_variable_sees_propositions_only": (
        '({name: "A"}, ?p, ?s)', "?p", ["treats", "causes", "follows"]),
    "a_predicate_variable_twice_is_a_join": (
        '({name: "A"}, ?p, {name: "X"}) ({name: "B"}, ?p, {name: "Y"})', "?p", ["causes"]),
    "a_higher_order_pattern_correlates": (
        '(?u, "stated", (?d, "treats", ?s))', "?u.name, ?d.name, ?s.name", [("U", "A", "X")]),
    "the_metadata_of_a_nested_fact": (
        '(?u, "stated", ?f (?d, "treats", ?s)) FILTER(?f.metadata.sure)', "?d.name", ["A"]),
    "a_variable_twice_in_a_clause_is_an_equality": ('(?d, "follows", ?d)', "?d.name", []),
    "clauses_without_a_shared_variable_are_a_product": (
        '?d {type: "User"} ?s {type: "Symptom"}', "?d.name, ?s.name", [("U", "X"), ("U", "Y")]),
    # Exact identities.
    "a_missing_identity_in_not_does_not_match": (
        DRUG + 'NOT { (?d, "treats", {type: "Symptom", name: "Z"}) }',
        "?d.name", ["A", "B", "C", "D"]),
    "a_missing_identity_in_optional_does_not_match": (
        '?d {name: "A"} OPTIONAL { ?s {type: "Symptom", name: "Z"} }',
        "?d.name, ?s", [("A", None)]),
    "a_missing_identity_in_union_does_not_match": (
        '?d {name: "A"} UNION { ?d {id: "C:Drug/Z"} }', "?d.name", ["A"]),
    "an_id_of_another_shape_in_not_does_not_match": (
        '?d {name: "A"} NOT { ?x {id: "C:123"} }', "?d.name", ["A"]),
}  # fmt: skip


@each_case("where, shown, rows", NAMES.values())
def test_answer(nexus: kiprdf.Nexus, where: str, shown: str, rows: list[Any]) -> None:
    rows = nexus.find(f"FIND({shown}) WHERE {{ {where} }}").tuples()
    expected = [row if isinstance(row, tuple) else (row,) for row in rows]
    assert sorted(map(repr, rows)) == sorted(map(repr, expected))


PRECISE: dict[str, tuple[str, list[str]]] = {
    "a_double_is_not_greater_than_itself": ("?x.attributes.d > 0.9999", []),
    "a_double_is_at_least_itself": ("?x.attributes.d >= 0.9999", ["P"]),
    "a_double_equals_itself": ("?x.attributes.d == 0.9999", ["P"]),
    "large_integers_differ": ("?x.attributes.i == 9007199254740992", []),
    "large_integers_are_ordered": ("?x.attributes.i > 9007199254740992", ["P"]),
    "an_integer_and_a_double_compare_as_doubles": ("?x.attributes.i == 9007199254740992.0", ["P"]),
    "the_largest_integer": ("?x.attributes.largest == 9223372036854775807", ["P"]),
    "the_largest_integer_has_an_order": ("?x.attributes.largest > 5", ["P"]),
    "the_smallest_double_is_positive": ("?x.attributes.tiny > 0", ["P"]),
    "minus_zero_equals_zero": ("?x.attributes.zero == 0", ["P"]),
    "times_compare_as_strings": ('?x.attributes.time > "2024"', ["P"]),
    "times_keep_their_fraction": ('?x.attributes.time == "2024-01-01T00:00:00.000Z"', ["P"]),
    "strings_are_ordered_by_code_point": ('?x.attributes.astral > "\uffff"', ["P"]),
    "strings_are_not_normalised": ('?x.attributes.combined == "\u00e9"', []),
    "strings_of_digits_are_ordered_as_strings": ('?x.attributes.digits < "9"', ["P"]),
    "a_nul_is_a_character": ('ENDS_WITH(?x.attributes.nul, "\\u0000")', ["P"]),
    "string_functions_are_case_sensitive": ('CONTAINS(?x.name, "p")', []),
    "a_pattern_is_not_anchored": ('REGEX(?x.attributes.time, "01-01")', ["P"]),
    "an_object_equals_itself_in_any_order_of_keys": ("?x.attributes.o == {b: [1], a: 2}", ["P"]),
    "an_object_with_another_number_is_another": ("?x.attributes.o == {a: 2.0, b: [1]}", []),
    "a_language_tagged_value_is_an_object": (
        '?x.attributes.tagged == {"@value": "Kopf", "@language": "de"}', ["P"]),
    "a_language_tagged_value_is_its_text": ('?x.attributes.tagged == "Kopf"', ["P"]),
    "a_string_function_reads_a_tagged_value": ('CONTAINS(?x.attributes.tagged, "K")', ["P"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def precise() -> Iterator[kiprdf.Nexus]:
    values = {
        "d": 0.9999, "i": 9007199254740993, "largest": 2**63 - 1, "tiny": 5e-324, "zero": -0.0,
        "time": "2024-01-01T00:00:00.000Z", "astral": "😀", "combined": "e\u0301", "digits": "10",
        "nul": "a\x00", "o": {"a": 2, "b": [1]},
        "tagged": {"@value": "Kopf", "@language": "de"},
    }  # fmt: skip
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } '
            'CONCEPT { {type: "T", name: "P"} SET ATTRIBUTES :values } }',
            values=values,
        )
        yield nexus


@each_case("condition, names", PRECISE.values())
def test_comparison(precise: kiprdf.Nexus, condition: str, names: list[str]) -> None:
    command = f'FIND(?x.name) WHERE {{ ?x {{type: "T"}} FILTER({condition}) }}'
    assert precise.execute(command) == names


def test_a_sum_of_integers_is_exact_at_any_size(precise: kiprdf.Nexus) -> None:
    command = 'FIND(SUM(?x.attributes.largest)) WHERE { ?x {type: "T"} ?y {type: "$ConceptType"} }'
    assert precise.execute(command) == 2**63 - 1
    both = (
        'FIND(SUM(?x.attributes.largest)) WHERE { ?x {type: "T"} ?y {name: "P"} '
        'UNION { ?x {type: "T"} } }'
    )
    assert precise.execute(both) == 2 * (2**63 - 1)


AGGREGATES: dict[str, tuple[str, Any]] = {
    "anonymous_endpoints_count_once": (
        'FIND(COUNT(?d)) WHERE { (?d, "treats" | "causes", {type: "Symptom"}) }', 3),
    "a_missed_optional_counts_zero": (
        'FIND(?d.name, COUNT(?s)) WHERE { ?d {type: "Drug"} OPTIONAL { (?d, "causes", ?s) } } '
        "ORDER BY ?d.name", [["A", "B", "C", "D"], [1, 1, 0, 0]]),
    "strings_do_not_poison_a_sum": (
        'FIND(SUM(?d.attributes.v), AVG(?d.attributes.v)) WHERE { ?d {type: "Drug"} }', [2.0, 1.0]),
    "the_maximum_is_of_the_last_kind": (
        'FIND(MIN(?d.attributes.v), MAX(?d.attributes.v)) WHERE { ?d {type: "Drug"} }', [1, "1"]),
    "three_and_three_point_zero_are_one_group": (
        'FIND(?s.attributes.grade, COUNT(?s)) WHERE { ?s {type: "Symptom"} }', [[1], [2]]),
    "absent_and_null_are_one_group": (
        'FIND(?d.attributes.n, COUNT(?d)) WHERE { ?d {type: "Drug"} }', [[None], [4]]),
    "distinct_values_are_equal_as_in_filter": (
        'FIND(COUNT(DISTINCT ?d.attributes.v)) WHERE { ?d {type: "Drug"} }', 2),
    "an_aggregate_of_nothing_is_one_row": (
        'FIND(COUNT(?d), SUM(?d.attributes.v)) WHERE { ?d {name: "none"} }', [0, 0]),
    "a_group_of_nothing_is_no_row": (
        'FIND(?d.name, COUNT(?d)) WHERE { ?d {name: "none"} }', [[], []]),
    "counts_run_over_whole_solutions": (
        'FIND(COUNT(?s)) WHERE { (?d, "treats", ?s) }', 3),
}  # fmt: skip


@pytest.mark.parametrize(("command", "result"), AGGREGATES.values(), ids=AGGREGATES)
def test_aggregate(nexus: kiprdf.Nexus, command: str, result: Any) -> None:
    # 1 and 1.0 are equal; either may stand for both.
    assert nexus.execute(command) == result


ORDERS: dict[str, tuple[str, list[Any]]] = {
    "numbers_stand_before_strings_and_null_last": (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.v', ["A", "B", "C", "D"]),
    "descending_reverses_kinds_and_leaves_null_last": (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.v DESC',
        ["C", "A", "B", "D"]),
    "a_key_may_be_of_a_variable_that_is_not_shown": (
        'FIND(?d.name) WHERE { (?d, "treats", ?s) } ORDER BY ?s.name DESC', ["C", "A", "B"]),
    "false_stands_before_true": (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.flag',
        ["B", "A", "C", "D"]),
    "ties_go_by_iri_in_both_directions": (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.type DESC', ["A", "B", "C", "D"]),
    "explicit_null_stands_last_too": (
        'FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.attributes.n', ["A", "B", "C", "D"]),
}  # fmt: skip


@pytest.mark.parametrize(("command", "names"), ORDERS.values(), ids=ORDERS)
def test_order(nexus: kiprdf.Nexus, command: str, names: list[Any]) -> None:
    assert nexus.execute(command) == names


MISSING = {
    "type_and_name": '?d {type: "Drug", name: "Z"}',
    "id": '?d {id: "C:Drug/Z"}',
    "id_of_another_shape": '?d {id: "C:123"}',
    "relative_name": '?d {id: "C:Drug/.."}',
    "link": '?d (id: "P:0123456789abcdef:treats")',
    "endpoint": '(?d, "treats", {type: "Symptom", name: "Z"})',
    "nested": '(?u, "stated", (?d, "treats", {id: "C:Symptom/Z"}))',
    "before_a_union": '?d {type: "Drug", name: "Z"} UNION { ?d {type: "Drug"} }',
    "behind_a_clause_without_matches": '?d {name: "none"} (?d, "treats", {id: "C:Symptom/Z"})',
}


@pytest.mark.parametrize("where", MISSING.values(), ids=MISSING)
def test_a_missing_exact_identity_is_an_error(nexus: kiprdf.Nexus, where: str) -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        nexus.execute(f"FIND(?d) WHERE {{ {where} }}")
    assert caught.value.code == "KIP_3002"


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", "a(?!b)", "(?<=a)b", "(a)\\\\1", "[z-a]", "*"])
def test_a_pattern_that_the_engine_refuses_is_a_syntax_error(
    nexus: kiprdf.Nexus, pattern: str
) -> None:
    for where in (DRUG, '?d {name: "none"} NOT { '):
        text = f'FIND(?d) WHERE {{ {where} FILTER(REGEX(?d.name, "{pattern}")) }}'
        with pytest.raises(kiprdf.KipError) as caught:
            nexus.execute(text + (" }" if "NOT" in where else ""))
        assert caught.value.code == "KIP_1001"
