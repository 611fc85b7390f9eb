"""Hints that must not mislead: what they say is true of the place they speak of."""

from __future__ import annotations

import pytest

from kiprdf.errors import KipError
from kiprdf.language import parse


def error_of(text: str) -> KipError:
    with pytest.raises(KipError) as caught:
        parse(text)
    return caught.value


def test_select_is_not_taken_for_delete() -> None:
    assert "DELETE" not in error_of('SELECT ?d WHERE { ?d {type: "Drug"} }').hint


def test_detach_is_not_taken_for_search() -> None:
    assert "SEARCH" not in error_of('DETACH DELETE ?d WHERE { ?d {type: "Drug"} }').hint


def test_a_keyword_in_the_plural_is_reported_whole() -> None:
    error = error_of('DELETE CONCEPTS ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert error.position == (1, 8)
    assert error.message == (
        "Expected ATTRIBUTES, METADATA, PROPOSITIONS or CONCEPT, found 'CONCEPTS'."
    )


def test_a_keyword_glued_to_a_word_is_reported_whole() -> None:
    error = error_of('FIND(?d) WHEREX { ?d {type: "Drug"} }')
    assert error.position == (1, 10)
    assert error.message == "Expected WHERE, found 'WHEREX'."


@pytest.mark.parametrize(
    "text",
    [
        'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET {n: 1} } }',
        'UPSERT { {type: "Drug", name: "A"} }',
        'DELETE CONCEPT {type: "Drug", name: "A"} DETACH',
        "DELETE {",
    ],
    ids=["SET", "UPSERT", "DELETE_CONCEPT", "DELETE"],
)
def test_a_brace_outside_of_where_gets_no_hint_about_where(text: str) -> None:
    assert "A concept clause in WHERE" not in error_of(text).hint


def test_a_block_in_a_block_gets_no_hint_about_matchers() -> None:
    error = error_of('FIND(?d) WHERE { { ?d {type: "A"} } UNION { ?d {type: "B"} } }')
    assert "UNION" in error.hint


@pytest.mark.parametrize(
    "text",
    [
        'UPSERT { CONCEPT {type: "Drug", name: "A"} }',
        'UPSERT { CONCEPT ?a {type: "Drug", name: "A"} { SET ATTRIBUTES {n: 1} } }',
    ],
    ids=["without_handle", "with_handle"],
)
def test_a_matcher_in_place_of_a_block_gets_no_hint_about_upper_case(text: str) -> None:
    assert "upper case" not in error_of(text).hint


WHERE = 'WHERE { ?d {type: "Drug"} }'


@pytest.mark.parametrize("shown", ["*", "COUNT(*)"])
def test_a_star_in_find_gets_no_hint_about_hops(shown: str) -> None:
    assert "hops" not in error_of(f"FIND({shown}) {WHERE}").hint


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_arithmetic_gets_no_hint_about_hops(operator: str) -> None:
    text = f'FIND(?d) WHERE {{ ?d {{type: "Drug"}} FILTER(?d.attributes.n {operator} 1 > 3) }}'
    assert "hops" not in error_of(text).hint


@pytest.mark.parametrize(("path", "hops"), [("*", "{0,}"), ("+", "{1,}")])
def test_a_path_operator_of_sparql_gets_a_hint_about_hops(path: str, hops: str) -> None:
    assert hops in error_of(f'FIND(?s) WHERE {{ (?d, "follows"{path}, ?s) }}').hint


def test_set_propositions_in_a_proposition_block_is_not_what_is_hinted_at() -> None:
    ends = '({id: "C:Drug/A"}, "treats", {id: "C:Symptom/S"})'
    error = error_of(f"UPSERT {{ PROPOSITION {{ {ends} SET PROPOSITIONS {{ }} }} }}")
    assert "Write SET PROPOSITIONS" not in error.hint
