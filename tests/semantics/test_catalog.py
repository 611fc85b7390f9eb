"""Hints for names that are not registered."""

from __future__ import annotations

import pytest

from kiprdf.errors import KipError, nearest
from kiprdf.semantics import Catalog

CATALOG = Catalog(
    frozenset(("Drug", "Symptom", "Domain", "Person")), frozenset(("treats", "has_side_effect"))
)


def hint_for_type(name: str) -> str:
    with pytest.raises(KipError) as caught:
        CATALOG.require_type(name)
    assert caught.value.code == "KIP_2001"
    return caught.value.hint


def hint_for_predicate(name: str) -> str:
    with pytest.raises(KipError) as caught:
        CATALOG.require_predicate(name)
    assert caught.value.code == "KIP_2001"
    return caught.value.hint


def test_registered_names_pass() -> None:
    CATALOG.require_type("Drug")
    CATALOG.require_predicate("treats")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("drug", "Drug"),
        ("DRUG", "Drug"),
        ("Drugs", "Drug"),
        ("Drgu", "Drug"),
        ("symptoms", "Symptom"),
    ],
)
def test_the_hint_for_a_mistyped_type_names_the_nearest(name: str, meant: str) -> None:
    assert hint_for_type(name).startswith(f"Did you mean '{meant}'")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("treat", "treats"), ("Treats", "treats"), ("hasSideEffect", "has_side_effect")],
)
def test_the_hint_for_a_mistyped_predicate_names_the_nearest(name: str, meant: str) -> None:
    assert hint_for_predicate(name).startswith(f"Did you mean '{meant}'")


def test_the_hint_for_an_unknown_type_says_how_to_register_it() -> None:
    hint = hint_for_type("Volcano")
    assert '{type: "$ConceptType", name: "Volcano"}' in hint
    assert "DESCRIBE CONCEPT TYPES" in hint


def test_the_hint_for_an_unknown_predicate_says_how_to_register_it() -> None:
    hint = hint_for_predicate("erupts")
    assert '{type: "$PropositionType", name: "erupts"}' in hint
    assert "DESCRIBE PROPOSITION TYPES" in hint


def test_the_hint_for_a_name_that_is_no_identifier_does_not_suggest_registering_it() -> None:
    assert "UPSERT" not in hint_for_type("夏 目")


def test_a_type_is_no_predicate() -> None:
    with pytest.raises(KipError):
        CATALOG.require_predicate("Drug")


def test_a_meta_type_is_no_predicate() -> None:
    with pytest.raises(KipError):
        CATALOG.require_predicate("$ConceptType")


def test_names_that_differ_in_case_only_are_all_near() -> None:
    assert nearest("DRUG", ["Drug", "drug", "Domain"]) == ["Drug", "drug"]


def test_at_most_three_names_are_near() -> None:
    assert len(nearest("aaa", ["aaa1", "aaa2", "aaa3", "aaa4"])) == 3


def test_nothing_is_near_to_another_word() -> None:
    assert nearest("xyz", ["Drug", "Symptom"]) == []


def test_extending_a_catalog_does_not_change_it() -> None:
    extended = CATALOG.extended("$ConceptType", "New").extended("$PropositionType", "newly")
    extended.require_type("New")
    extended.require_predicate("newly")
    assert extended.concept_types - CATALOG.concept_types == {"New"}
    assert extended.predicates - CATALOG.predicates == {"newly"}
