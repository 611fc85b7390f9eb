"""Registered types, and instance schemas enforced on request (KIP 2.9, A2)."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from tests.nexus.support import StoppedClock, code, element, untouched

DEFINITIONS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES { instance_schema: {
    risk: {type: "number", is_required: true},
    doses: {type: "integer"},
    form: {type: "string", enum: ["tablet", "syrup"]},
    aliases: {type: "array", item_type: "string"},
    safe: {type: "boolean"},
    extra: {type: "object"},
    odd: {type: "colour"}
  } } }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} SET ATTRIBUTES {
    subject_types: ["Drug"], object_types: ["Symptom"] } }
  CONCEPT { {type: "$PropositionType", name: "about"} SET ATTRIBUTES {
    subject_types: ["*"], object_types: ["*"] } }
  CONCEPT { {type: "Symptom", name: "Fever"} }
}
"""
UPSERT = 'UPSERT { CONCEPT { {type: "Drug", name: "A"} SET ATTRIBUTES :attributes } }'


def opened(strict: bool) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False, strict_schema=strict, clock=StoppedClock())
    nexus.execute(DEFINITIONS)
    return nexus


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return opened(strict=True)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, "KIP_2002"),
        ({"risk": None}, "KIP_2002"),
        ({"risk": "high"}, "KIP_2003"),
        ({"risk": True}, "KIP_2003"),
        ({"risk": [1]}, "KIP_2003"),
        ({"risk": 1, "doses": 1.5}, "KIP_2003"),
        ({"risk": 1, "doses": True}, "KIP_2003"),
        ({"risk": 1, "form": "powder"}, "KIP_2003"),
        ({"risk": 1, "form": 1}, "KIP_2003"),
        ({"risk": 1, "aliases": "x"}, "KIP_2003"),
        ({"risk": 1, "aliases": ["x", 1]}, "KIP_2003"),
        ({"risk": 1, "safe": 1}, "KIP_2003"),
        ({"risk": 1, "extra": []}, "KIP_2003"),
    ],
)
def test_a_strict_nexus_refuses_what_the_schema_does_not_allow(
    nexus: kiprdf.Nexus, attributes: dict[str, Any], expected: str
) -> None:
    with untouched(nexus):
        assert code(nexus, UPSERT, attributes=attributes) == expected


@pytest.mark.parametrize(
    "attributes",
    [
        {"risk": 1},
        {"risk": 1.5},
        {"risk": 1, "doses": 3},
        {"risk": 1, "doses": None},
        {"risk": 1, "form": "syrup"},
        {"risk": 1, "aliases": []},
        {"risk": 1, "aliases": ["x"]},
        {"risk": 1, "safe": False},
        {"risk": 1, "extra": {"a": 1}},
        {"risk": 1, "odd": "anything"},
        {"risk": 1, "beyond_the_schema": [1]},
    ],
)
def test_a_strict_nexus_accepts_what_the_schema_allows(
    nexus: kiprdf.Nexus, attributes: dict[str, Any]
) -> None:
    nexus.execute(UPSERT, attributes=attributes)
    assert element(nexus, "C:Drug/A")["attributes"] == attributes


@pytest.mark.parametrize("attributes", [{}, {"risk": "high"}, {"risk": 1, "form": "powder"}])
def test_by_default_the_schema_is_guidance(attributes: dict[str, Any]) -> None:
    receipt = opened(strict=False).execute(UPSERT, attributes=attributes)
    assert receipt["upsert_concept_nodes"] == ["C:Drug/A"]


@pytest.mark.parametrize(
    ("subject", "object"),
    [
        ('{type: "Symptom", name: "Fever"}', "?a"),
        ("?a", '{type: "Drug", name: "B"}'),
        ("?l", '{type: "Symptom", name: "Fever"}'),
        ("?a", "?l"),
    ],
)
def test_a_strict_nexus_refuses_ends_that_the_predicate_does_not_allow(
    nexus: kiprdf.Nexus, subject: str, object: str
) -> None:
    command = (
        'UPSERT { CONCEPT ?a { {type: "Drug", name: "A"} SET ATTRIBUTES { risk: 1 } } '
        'CONCEPT { {type: "Drug", name: "B"} SET ATTRIBUTES { risk: 1 } } '
        'PROPOSITION ?l { (?a, "about", {type: "Drug", name: "B"}) } '
        f'PROPOSITION {{ ({subject}, "treats", {object}) }} }}'
    )
    with untouched(nexus):
        assert code(nexus, command) == "KIP_2002"


def test_by_default_the_ends_of_a_predicate_are_guidance() -> None:
    receipt = opened(strict=False).execute(
        'UPSERT { CONCEPT ?a { {type: "Drug", name: "A"} } '
        'PROPOSITION { ({type: "Symptom", name: "Fever"}, "treats", ?a) } }'
    )
    assert len(receipt["upsert_proposition_links"]) == 1


def test_a_required_attribute_cannot_be_deleted_from_a_strict_nexus(nexus: kiprdf.Nexus) -> None:
    nexus.execute(UPSERT, attributes={"risk": 1})
    with untouched(nexus):
        command = 'DELETE ATTRIBUTES {"risk"} FROM ?d WHERE { ?d {type: "Drug"} }'
        assert code(nexus, command) == "KIP_2002"


def test_a_schema_of_the_same_command_counts(nexus: kiprdf.Nexus) -> None:
    command = (
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "New"} SET ATTRIBUTES '
        '{ instance_schema: { a: {type: "string", is_required: true} } } } '
        'CONCEPT { {type: "New", name: "x"} } }'
    )
    with untouched(nexus):
        assert code(nexus, command) == "KIP_2002"


def test_a_new_schema_is_not_checked_on_untouched_elements(nexus: kiprdf.Nexus) -> None:
    nexus.execute(UPSERT, attributes={"risk": 1})
    receipt = nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES '
        '{ instance_schema: { b: {type: "string", is_required: true} } } } '
        'CONCEPT { {type: "Drug", name: "A"} } }'
    )
    assert receipt["upsert_concept_nodes"] == ["C:$ConceptType/Drug", "C:Drug/A"]


def test_a_strict_nexus_opens_with_the_bundled_capsules() -> None:
    with kiprdf.Nexus.memory(strict_schema=True) as nexus:
        assert nexus.execute('FIND(?p.name) WHERE { ?p {type: "Person", name: "$self"} }') == [
            "$self"
        ]


def test_an_unregistered_type_is_refused_with_the_nearest_name(nexus: kiprdf.Nexus) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute('UPSERT { CONCEPT { {type: "drug", name: "A"} } }')
    assert (raised.value.code, "'Drug'" in raised.value.hint) == ("KIP_2001", True)


def test_an_unregistered_predicate_is_refused_with_the_nearest_name(nexus: kiprdf.Nexus) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        nexus.execute(
            'UPSERT { PROPOSITION { ({type: "Symptom", name: "Fever"}, "treat", '
            '{type: "Symptom", name: "Fever"}) } }'
        )
    assert (raised.value.code, "'treats'" in raised.value.hint) == ("KIP_2001", True)


@pytest.mark.parametrize("name", ["a", "_", "A" * 128])
def test_an_identifier_can_be_registered(nexus: kiprdf.Nexus, name: str) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: :n} } }', n=name)
    assert (
        nexus.execute("UPSERT { CONCEPT { {type: :t, name: :n} } }", t=name, n="x")["blocks"] == 1
    )


@pytest.mark.parametrize("meta", ["$ConceptType", "$PropositionType"])
@pytest.mark.parametrize(
    "name", ["", "1st", "a b", "a-b", "é", "药", "$Mine", "$self", "a/b", "?x"]
)
def test_what_is_no_identifier_cannot_be_registered(
    nexus: kiprdf.Nexus, meta: str, name: str
) -> None:
    with untouched(nexus):
        command = "UPSERT { CONCEPT { {type: :meta, name: :name} } }"
        assert code(nexus, command, meta=meta, name=name) == "KIP_1002"


@pytest.mark.parametrize("key", ["", "1st", "a b", "é", "a.b", "$x", "x" * 129, "a\n", "a>"])
@pytest.mark.parametrize(
    "command",
    [
        'UPSERT { CONCEPT { {type: "Symptom", name: "A"} SET ATTRIBUTES :map } }',
        'UPSERT { CONCEPT { {type: "Symptom", name: "A"} } WITH METADATA :map }',
        'UPSERT { CONCEPT { {type: "Symptom", name: "A"} } } WITH METADATA :map',
    ],
)
def test_a_key_that_is_no_identifier_is_refused(
    nexus: kiprdf.Nexus, command: str, key: str
) -> None:
    with untouched(nexus):
        assert code(nexus, command, map={key: 1}) == "KIP_1002"
