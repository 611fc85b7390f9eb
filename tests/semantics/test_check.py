"""One test for each rule of ``semantics.check``: what a command must satisfy beyond its form."""

from __future__ import annotations

import pytest

from kiprdf.errors import KipError
from kiprdf.language import bind, parse
from kiprdf.semantics import Catalog, check
from tests.cases import each_case

CATALOG = Catalog(
    frozenset(("Drug", "Symptom", "Person")), frozenset(("treats", "stated", "follows"))
)


def checked(text: str) -> None:
    check(bind(parse(text), {}), CATALOG)


def refused(text: str) -> KipError:
    with pytest.raises(KipError) as caught:
        checked(text)
    return caught.value.in_source(text)


def where(clauses: str, shown: str = "?d") -> str:
    return f"FIND({shown}) WHERE {{ {clauses} }}"


def block(body: str, tail: str = "") -> str:
    return f'UPSERT {{ CONCEPT ?a {{ {{type: "Drug", name: "A"}} {body} }} }} {tail}'


def verdict(text: str) -> str | None:
    """The code of a command's error, or None when it is fine."""
    try:
        checked(text)
    except KipError as error:
        return error.code
    return None


# Registered names (KIP 2.9.1) -----------------------------------------------------------------

UNREGISTERED = {
    "clause": '?d {type: "Drgu"}',
    "type_and_name": '?d {type: "Drgu", name: "A"}',
    "endpoint": '(?d, "treats", {type: "Drgu"})',
    "nested": '(?d, "stated", (?x, "treats", {type: "Drgu"}))',
    "in_not": '?d {type: "Drug"} NOT { ?x {type: "Drgu"} }',
    "in_optional": '?d {type: "Drug"} OPTIONAL { ?x {type: "Drgu"} }',
    "in_union": '?d {type: "Drug"} UNION { ?d {type: "Drgu"} }',
    "lower_case": '?d {type: "drug"}',
    "no_identifier": '?d {type: "Side Effect"}',
    "empty": '?d {type: ""}',
    "unknown_meta_type": '?d {type: "$Type"}',
    "predicate": '(?d, "treat", ?s)',
    "predicate_upper_case": '(?d, "Treats", ?s)',
    "alternative": '(?d, "treats" | "heals", ?s)',
    "hops": '(?d, "heals"{1,3}, ?s)',
    "nested_predicate": '(?d, "stated", (?x, "heals", ?y))',
}


@each_case("clauses", UNREGISTERED.values())
def test_unregistered_name_in_where_is_a_type_mismatch(clauses: str) -> None:
    assert refused(where(clauses)).code == "KIP_2001"


def test_unregistered_type_is_reported_at_its_place() -> None:
    error = refused(where('?d {type: "Drgu"}'))
    assert error.position == (1, 28)
    assert error.message == "Concept type 'Drgu' is not defined."


@pytest.mark.parametrize(
    "text",
    [
        'UPSERT { CONCEPT { {type: "Food", name: "A"} } }',
        block('SET PROPOSITIONS { ("heals", {type: "Symptom", name: "S"}) }'),
        block('SET PROPOSITIONS { ("treats", {type: "Food", name: "S"}) }'),
        'UPSERT { PROPOSITION { ({type: "Drug", name: "A"}, "heals", {id: "C:Symptom/S"}) } }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Food"} }',
        'DELETE ATTRIBUTES {"a"} FROM ?d WHERE { ?d {type: "Food"} }',
        'DELETE PROPOSITIONS ?l WHERE { ?l (?d, "heals", ?s) }',
        'SEARCH CONCEPT "a" WITH TYPE "Food"',
        'SEARCH PROPOSITION "a" WITH TYPE "heals"',
    ],
)
def test_unregistered_name_elsewhere_is_a_type_mismatch(text: str) -> None:
    assert refused(text).code == "KIP_2001"


@pytest.mark.parametrize("name", ["$ConceptType", "$PropositionType"])
def test_meta_types_are_always_known(name: str) -> None:
    check(bind(parse(where(f'?d {{type: "{name}"}}')), {}), Catalog())


def test_a_type_registered_above_in_the_text_counts() -> None:
    checked(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Food"} } '
        'CONCEPT { {type: "Food", name: "Bread"} } }'
    )


def test_a_type_registered_in_an_earlier_block_counts() -> None:
    checked(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Food"} } } '
        'UPSERT { CONCEPT { {type: "Food", name: "Bread"} } }'
    )


def test_a_type_registered_below_in_the_text_does_not_count() -> None:
    text = (
        'UPSERT { CONCEPT { {type: "Food", name: "Bread"} } '
        'CONCEPT { {type: "$ConceptType", name: "Food"} } }'
    )
    assert refused(text).code == "KIP_2001"


def test_a_predicate_registered_above_in_the_text_counts() -> None:
    checked(
        'UPSERT { CONCEPT { {type: "$PropositionType", name: "heals"} } '
        'CONCEPT { {type: "Drug", name: "A"} '
        'SET PROPOSITIONS { ("heals", {type: "Symptom", name: "S"}) } } }'
    )


def test_the_search_type_of_a_proposition_is_a_predicate() -> None:
    checked('SEARCH PROPOSITION "a" WITH TYPE "treats"')
    assert verdict('SEARCH PROPOSITION "a" WITH TYPE "Drug"') == "KIP_2001"


# Names and keys (KIP 2.8) ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Side Effect", "1st", "", "a-b", "$Mine", "é", "a.b"])
@pytest.mark.parametrize("meta", ["$ConceptType", "$PropositionType"])
def test_a_definition_is_called_by_an_identifier(meta: str, name: str) -> None:
    text = f'UPSERT {{ CONCEPT {{ {{type: "{meta}", name: "{name}"}} }} }}'
    assert refused(text).code == "KIP_1002"


def test_the_meta_types_may_be_defined() -> None:
    checked('UPSERT { CONCEPT { {type: "$ConceptType", name: "$PropositionType"} } }')


def test_a_meta_type_is_no_predicate() -> None:
    text = 'UPSERT { CONCEPT { {type: "$PropositionType", name: "$ConceptType"} } }'
    assert refused(text).code == "KIP_1002"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a\\u0000", "\\u001f", "\\u007f", "\\u0085", "a\\nb"]
)
def test_a_concept_name_has_no_control_characters(name: str) -> None:
    assert refused(where(f'?d {{name: "{name}"}}')).code == "KIP_1002"
    assert verdict(f'UPSERT {{ CONCEPT {{ {{type: "Drug", name: "{name}"}} }} }}') == "KIP_1002"


@pytest.mark.parametrize(
    "name",
    ["...", "阿司匹林", "a/b", " ", "\\u200b", "\\u2028", "😀", "?x", ":x", '\\"', "e\\u0301"],
)
def test_a_concept_name_is_free_text_of_any_script(name: str) -> None:
    assert verdict(where(f'?d {{name: "{name}"}}')) is None


@pytest.mark.parametrize(("length", "code"), [(1024, None), (1025, "KIP_1002")])
def test_a_concept_name_has_1024_code_points(length: int, code: str | None) -> None:
    assert verdict(where(f'?d {{name: "{"😀" * length}"}}')) == code


@pytest.mark.parametrize("key", ["a b", "1a", "", "é", "a-b", "$a"])
@pytest.mark.parametrize("place", ["ATTRIBUTES", "METADATA", "DELETE"])
def test_a_key_is_an_identifier(place: str, key: str) -> None:
    text = {
        "ATTRIBUTES": block(f'SET ATTRIBUTES {{"{key}": 1}}'),
        "METADATA": block("", f'WITH METADATA {{"{key}": 1}}'),
        "DELETE": f'DELETE ATTRIBUTES {{"{key}"}} FROM ?d WHERE {{ ?d {{type: "Drug"}} }}',
    }[place]
    assert refused(text).code == "KIP_1002"


@pytest.mark.parametrize(("length", "code"), [(128, None), (129, "KIP_1002")])
def test_a_key_has_128_characters(length: int, code: str | None) -> None:
    assert verdict(block(f"SET ATTRIBUTES {{{'k' * length}: 1}}")) == code


def test_a_key_inside_an_object_value_is_free() -> None:
    checked(block('SET ATTRIBUTES {a: {"b c": [{"": 1}]}}'))


# Reserved metadata (KIP section 6 of our page) ------------------------------------------------

RESERVED = ["_version", "_created_at", "_updated_at", "_merged_from", "_score"]


@pytest.mark.parametrize("key", RESERVED)
def test_reserved_metadata_is_not_written(key: str) -> None:
    assert refused(block("", f"WITH METADATA {{{key}: 1}}")).code == "KIP_2002"


@pytest.mark.parametrize("key", RESERVED)
def test_reserved_metadata_is_not_written_on_a_link(key: str) -> None:
    link = f'("treats", {{type: "Symptom", name: "S"}}) WITH METADATA {{{key}: 1}}'
    assert refused(block(f"SET PROPOSITIONS {{ {link} }}")).code == "KIP_2002"


@pytest.mark.parametrize("key", RESERVED)
def test_reserved_metadata_is_not_deleted(key: str) -> None:
    text = f'DELETE METADATA {{"{key}"}} FROM ?d WHERE {{ ?d {{type: "Drug"}} }}'
    assert refused(text).code == "KIP_2002"


def test_reserved_names_are_free_as_attributes() -> None:
    checked(block("SET ATTRIBUTES {_version: 1}"))


# Ids ------------------------------------------------------------------------------------------


def test_the_id_of_a_link_is_the_wrong_kind_for_a_concept() -> None:
    assert refused(where('?d {id: "P:48ec6e8e3fe50dea:treats"}')).code == "KIP_1001"


def test_the_id_of_a_concept_is_the_wrong_kind_for_a_link() -> None:
    assert refused(where('?d (id: "C:Drug/A")')).code == "KIP_1001"


@pytest.mark.parametrize("text", ['?d {id: "C:123"}', '?d {id: "x"}', '?d (id: "P:12345:treats")'])
def test_an_id_of_another_shape_is_left_to_the_store(text: str) -> None:
    checked(where(text))


@pytest.mark.parametrize(
    "clause",
    ["?d {id: 1}", "?d {type: null}", "?d {name: true}", '?d {name: ["a"]}', "?d {type: {}}"],
)
def test_identities_are_strings(clause: str) -> None:
    assert refused(where(clause)).code == "KIP_1001"


# Variables (KIP 3.4.7) ------------------------------------------------------------------------

UNBOUND = {
    "find": where('?d {type: "Drug"}', "?x"),
    "find_path": where('?d {type: "Drug"}', "?x.name"),
    "aggregate": where('?d {type: "Drug"}', "COUNT(?x)"),
    "order_by": where('?d {type: "Drug"}') + " ORDER BY ?x.name",
    "filter": where('?d {type: "Drug"} FILTER(?x.name == "a")'),
    "filter_first": where('FILTER(?d.name == "a") ?d {type: "Drug"}'),
    "filter_operand": where('?d {type: "Drug"} FILTER(?d == ?x)'),
    "only_in_not": where('?d {type: "Drug"} NOT { (?d, "treats", ?x) }', "?x"),
    "filter_behind_not": where('?d {type: "Drug"} NOT { (?d, "treats", ?x) } FILTER(IS_NULL(?x))'),
    "filter_in_union": where(
        '?d {type: "Drug"} UNION { ?e {type: "Drug"} FILTER(?d.name == "a") }'
    ),
    "filter_in_not": where('?d {type: "Drug"} NOT { FILTER(?x.name == "a") }'),
    "delete_target": 'DELETE CONCEPT ?x DETACH WHERE { ?d {type: "Drug"} }',
}


@each_case("text", UNBOUND.values())
def test_a_variable_that_no_earlier_clause_binds_is_a_reference_error(text: str) -> None:
    assert refused(text).code == "KIP_3001"


BOUND = {
    "filter_in_not_sees_outside": '?d {type: "Drug"} NOT { (?d, "treats", ?x) '
    'FILTER(?d.name == "a") }',
    "filter_in_optional_sees_outside": '?d {type: "Drug"} OPTIONAL { FILTER(?d.name == "a") }',
    "optional_binds": '?d {type: "Drug"} OPTIONAL { (?d, "treats", ?x) } FILTER(IS_NULL(?x))',
    "union_binds": '?e {type: "Drug"} UNION { ?d {type: "Drug"} } FILTER(IS_NULL(?d))',
    "nested_endpoint_binds": '(?a, "stated", ?d ({name: "x"}, "treats", ?s)) '
    'FILTER(?s.name == "a")',
    "link_binds": '?d (?a, "treats", ?b) FILTER(?d.predicate == "treats")',
}


@pytest.mark.parametrize("clauses", BOUND.values(), ids=BOUND)
def test_a_variable_that_an_earlier_clause_binds_is_visible(clauses: str) -> None:
    assert verdict(where(clauses)) is None


# Kinds ----------------------------------------------------------------------------------------

WRONG_PATHS = {
    "name_of_a_link": where('?l (?d, "treats", ?s)', "?l.name"),
    "type_of_a_link": where('?l (?d, "treats", ?s)', "?l.type"),
    "subject_of_a_concept": where('?d {type: "Drug"}', "?d.subject"),
    "object_of_a_concept": where('?d {type: "Drug"} FILTER(?d.object == "x")'),
    "predicate_of_a_concept": where('?d {type: "Drug"}') + " ORDER BY ?d.predicate",
    "path_of_a_predicate": where("(?d, ?p, ?s)", "?p.name"),
}


@pytest.mark.parametrize("text", WRONG_PATHS.values(), ids=WRONG_PATHS)
def test_a_field_of_the_other_kind_is_a_syntax_error(text: str) -> None:
    assert refused(text).code == "KIP_1001"


@pytest.mark.parametrize("field", ["id", "type", "name", "subject", "predicate", "object"])
def test_an_endpoint_of_either_kind_has_every_field(field: str) -> None:
    assert verdict(where('(?d, "treats", ?s)', f"?s.{field}")) is None


PREDICATE_VARIABLES = {
    "as_concept": '(?a, ?d, ?b) ?d {type: "Drug"}',
    "as_endpoint": '(?a, ?d, ?b) (?d, "treats", ?b)',
    "as_link": '(?a, ?d, ?b) ?d (?a, "treats", ?b)',
    "twice_in_one_clause": "(?d, ?d, ?b)",
    "behind_a_concept": '?d {type: "Drug"} (?a, ?d, ?b)',
    "in_not": '(?a, ?d, ?b) NOT { ?d {type: "Drug"} }',
    "across_union": '?d {type: "Drug"} UNION { (?a, ?d, ?b) }',
}


@pytest.mark.parametrize("clauses", PREDICATE_VARIABLES.values(), ids=PREDICATE_VARIABLES)
def test_a_predicate_variable_joins_only_with_predicate_variables(clauses: str) -> None:
    assert refused(where(clauses)).code == "KIP_1001"


def test_a_predicate_variable_joins_with_another() -> None:
    checked(where("(?a, ?d, ?b) (?b, ?d, ?c)"))


def test_a_private_name_in_not_may_be_of_another_kind_than_a_later_one() -> None:
    checked(where('?a {type: "Drug"} NOT { (?a, ?d, ?b) } ?d {type: "Drug"}'))


# Expressions ----------------------------------------------------------------------------------


WHOLE_MAPS = {
    "null_test": where('?d {type: "Drug"} FILTER(IS_NULL(?d.attributes))'),
    "comparison": where('?d {type: "Drug"} FILTER(?d.attributes == {})'),
    "sort_key": where('?d {type: "Drug"}') + " ORDER BY ?d.attributes",
    "aggregate": where('?d {type: "Drug"}', "COUNT(?d.attributes)"),
}


@pytest.mark.parametrize("field", ["attributes", "metadata"])
@pytest.mark.parametrize("text", WHOLE_MAPS.values(), ids=WHOLE_MAPS)
def test_whole_maps_are_allowed_in_find_only(text: str, field: str) -> None:
    assert refused(text.replace("attributes", field)).code == "KIP_1001"


def test_whole_maps_are_allowed_in_find() -> None:
    checked(where('?d {type: "Drug"}', "?d.attributes, ?d.metadata"))


def test_in_takes_a_list_parameter() -> None:
    command = bind(parse(where('?d {type: "Drug"} FILTER(IN(?d.name, :v))')), {"v": "a"})
    with pytest.raises(KipError) as caught:
        check(command, CATALOG)
    assert (caught.value.code, caught.value.message) == ("KIP_1001", "IN takes a list.")


@pytest.mark.parametrize("pattern", ["3", "null", "?d.name", '["a"]'])
def test_the_pattern_of_regex_is_a_written_string(pattern: str) -> None:
    text = where(f'?d {{type: "Drug"}} FILTER(REGEX(?d.name, {pattern}))')
    assert refused(text).code == "KIP_1001"


def test_beside_aggregates_the_sort_key_is_shown() -> None:
    text = where('?d {type: "Drug"}', "?d.type, COUNT(?d)")
    assert verdict(text + " ORDER BY ?d.name") == "KIP_1001"
    assert verdict(text + " ORDER BY ?d.type") is None
    assert verdict(text + " ORDER BY COUNT(?d)") is None


def test_an_aggregate_as_sort_key_is_shown() -> None:
    assert verdict(where('?d {type: "Drug"}') + " ORDER BY COUNT(?d)") == "KIP_1001"


def test_without_aggregates_the_sort_key_need_not_be_shown() -> None:
    checked(where('?d {type: "Drug"}', "?d.name") + " ORDER BY ?d.attributes.n")


# UPSERT (KIP 4.1) -----------------------------------------------------------------------------


@pytest.mark.parametrize("matcher", ['{type: "Drug"}', '{name: "A"}'])
@pytest.mark.parametrize("place", ["block", "target", "subject"])
def test_upsert_names_concepts_exactly(place: str, matcher: str) -> None:
    text = {
        "block": f"UPSERT {{ CONCEPT {{ {matcher} }} }}",
        "target": block(f'SET PROPOSITIONS {{ ("treats", {matcher}) }}'),
        "subject": f'UPSERT {{ PROPOSITION {{ ({matcher}, "treats", {{id: "C:Drug/A"}}) }} }}',
    }[place]
    assert refused(text).code == "KIP_1001"


HANDLES = {
    "never_defined": block('SET PROPOSITIONS { ("treats", ?s) }'),
    "its_own": block('SET PROPOSITIONS { ("treats", ?a) }'),
    "defined_below": block('SET PROPOSITIONS { ("treats", ?s) }').replace(
        "} } }", '} } CONCEPT ?s { {type: "Symptom", name: "S"} } }', 1
    ),
    "of_another_block": block("")
    + 'UPSERT { PROPOSITION { (?a, "treats", {type: "Symptom", name: "S"}) } }',
    "in_a_nested_matcher": block(
        'SET PROPOSITIONS { ("stated", (?s, "treats", {id: "C:Drug/A"})) }'
    ),
}


@pytest.mark.parametrize("text", HANDLES.values(), ids=HANDLES)
def test_a_handle_is_defined_above_in_its_block(text: str) -> None:
    assert refused(text).code == "KIP_3001"


def test_a_handle_that_is_defined_above_is_visible() -> None:
    checked(
        'UPSERT { CONCEPT ?s { {type: "Symptom", name: "S"} } '
        'CONCEPT ?d { {type: "Drug", name: "A"} '
        'SET PROPOSITIONS { ("treats", ?s) } } PROPOSITION ?f { (?d, "treats", ?s) } '
        'PROPOSITION { ({id: "C:Person/P"}, "stated", ?f) } }'
    )


def test_an_endpoint_in_upsert_may_not_define_a_handle() -> None:
    text = block('SET PROPOSITIONS { ("treats", ?s {type: "Symptom", name: "S"}) }')
    assert refused(text).code == "KIP_1001"


@pytest.mark.parametrize("predicate", ["?p", '"treats"{1,2}', '"treats"{1}', '"treats" | "stated"'])
def test_a_proposition_in_upsert_has_one_plain_predicate(predicate: str) -> None:
    text = f'UPSERT {{ PROPOSITION {{ ({{id: "C:Drug/A"}}, {predicate}, {{id: "C:Drug/B"}}) }} }}'
    assert refused(text).code == "KIP_1001"


# DELETE (KIP 4.2) -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'DELETE CONCEPT ?l DETACH WHERE { ?l (?d, "treats", ?s) }',
        'DELETE PROPOSITIONS ?d WHERE { ?d {type: "Drug"} }',
        "DELETE CONCEPT ?p DETACH WHERE { (?d, ?p, ?s) }",
        "DELETE PROPOSITIONS ?p WHERE { (?d, ?p, ?s) }",
        'DELETE ATTRIBUTES {"a"} FROM ?p WHERE { (?d, ?p, ?s) }',
    ],
)
def test_a_target_of_the_wrong_kind_is_a_syntax_error(text: str) -> None:
    assert refused(text).code == "KIP_1001"


@pytest.mark.parametrize(
    "text",
    [
        'DELETE CONCEPT ?s DETACH WHERE { (?d, "treats", ?s) }',
        'DELETE PROPOSITIONS ?s WHERE { (?d, "treats", ?s) }',
        'DELETE ATTRIBUTES {"a"} FROM ?l WHERE { ?l (?d, "treats", ?s) }',
        'DELETE METADATA {"a"} FROM ?d WHERE { ?d {type: "Drug"} }',
    ],
)
def test_a_target_of_a_possible_kind_is_fine(text: str) -> None:
    assert verdict(text) is None
