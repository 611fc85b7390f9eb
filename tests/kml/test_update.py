"""UPDATE beyond its receipts: one commit for any number of elements, exact numbers, strictness."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from tests.cases import each_case
from tests.nexus.support import dataset, empty, medical

MANY = 10_000


def decaying(count: int) -> kiprdf.Nexus:
    """A nexus with links to one hub, each with a confidence."""
    nexus = empty()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } '
        'CONCEPT { {type: "$PropositionType", name: "p"} } CONCEPT { {type: "N", name: "hub"} } }'
    )
    blocks = "".join(
        f'CONCEPT {{ {{type: "N", name: "n{i}"}} '
        'SET PROPOSITIONS { ("p", {type: "N", name: "hub"}) WITH METADATA { confidence: 0.5 } } }'
        for i in range(count)
    )
    nexus.apply_capsule(f"UPSERT {{ {blocks} }}")
    return nexus


def test_ten_thousand_propositions_decay_in_one_commit() -> None:
    with decaying(MANY) as nexus:
        before = nexus.info()["commit"]
        receipt = nexus.execute(
            "UPDATE ?l SET METADATA { confidence: MUL(?l.metadata.confidence, 0.5) } "
            'WHERE { ?l (?s, "p", ?o) FILTER(?l.metadata.confidence > 0.3) }'
        )
        assert receipt == {"updated": MANY, "matched": MANY}
        assert nexus.info()["commit"] == before + 1
        shown = "FIND(MIN(?l.metadata.confidence), MAX(?l.metadata.confidence))"
        assert nexus.execute(shown + ' WHERE { ?l (?s, "p", ?o) }') == [0.25, 0.25]


def value_of(expression: str, attributes: dict[str, Any], **parameters: Any) -> Any:
    """What an UPDATE of ``r`` writes; "skipped" when it writes nothing."""
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} } }')
        nexus.execute(
            'UPSERT { CONCEPT { {type: "T", name: "x"} SET ATTRIBUTES :a } }', a=attributes
        )
        nexus.execute(
            f'UPDATE ?t SET ATTRIBUTES {{ r: {expression} }} WHERE {{ ?t {{type: "T"}} }}',
            **parameters,
        )
        (written,) = nexus.execute('FIND(?t.attributes) WHERE { ?t {type: "T"} }')
        return written.get("r", "skipped")


@each_case(
    "expression, expected",
    [
        ("ADD(?t.attributes.i, 1)", 8),
        ("ADD(?t.attributes.i, 1.0)", 8.0),
        ("MUL(?t.attributes.i, 0.5)", 3.5),
        ("MUL(?t.attributes.i, 2, 3)", 42),
        ("ADD(0.1, 0.2, 0.3)", 0.6000000000000001),
        ("ADD(?t.attributes.big, 0)", 9223372036854775807),
        ("ADD(?t.attributes.big, 1)", "skipped"),
        ("ADD(ADD(?t.attributes.big, 1), -1)", 9223372036854775807),
        ("MUL(?t.attributes.huge, 10)", "skipped"),
        ("CLAMP(?t.attributes.i, 0, 5)", 5),
        ("CLAMP(?t.attributes.i, 0, 5.0)", 5.0),
        ("CLAMP(?t.attributes.i, 0.5, 9.5)", 7),
        ("CLAMP(?t.attributes.i, 9, 5)", "skipped"),
        ("COALESCE(?t.attributes.none, ?t.attributes.null, 4)", 4),
        ("COALESCE(?t.attributes.text, 4)", "skipped"),
        ("COALESCE(?t.attributes.yes, 4)", "skipped"),
        ("ADD(?t.attributes.yes, 1)", "skipped"),
        ("ADD(?t.attributes.none, 1)", "skipped"),
        ("ADD(?t.name, 1)", "skipped"),
        ("MUL(ADD(?t.attributes.i, :n), COALESCE(?t.metadata._version, 9))", 10),
    ],
)
def test_calculation(expression: str, expected: Any) -> None:
    attributes = {
        "i": 7, "big": 2**63 - 1, "huge": 1e308, "null": None, "text": "7", "yes": True
    }  # fmt: skip
    value = value_of(expression, attributes, n=3)
    assert (value, type(value)) == (expected, type(expected))


def test_both_maps_are_computed_from_the_state_before() -> None:
    with medical() as nexus:
        nexus.execute(
            "UPDATE ?d SET ATTRIBUTES { risk: ADD(?d.attributes.risk, 1) } "
            "SET METADATA { risk: ADD(?d.attributes.risk, 0) } "
            'WHERE { ?d {type: "Drug", name: "Aspirin"} }'
        )
        shown = 'FIND(?d.attributes.risk, ?d.metadata.risk) WHERE { ?d {type: "Drug"} }'
        assert nexus.execute(shown) == [[3], [2]]


def test_the_second_update_changes_nothing() -> None:
    with medical() as nexus:
        command = 'UPDATE ?d SET ATTRIBUTES { risk: CLAMP(9, 0, 5) } WHERE { ?d {type: "Drug"} }'
        assert nexus.execute(command) == {"updated": 1, "matched": 1}
        before = dataset(nexus)
        assert nexus.execute(command) == {"updated": 0, "matched": 1}
        assert dataset(nexus) == before


def test_search_finds_what_an_update_wrote() -> None:
    with medical() as nexus:
        assert nexus.execute('SEARCH CONCEPT "soluble"') == []
        nexus.execute('UPDATE ?d SET ATTRIBUTES { note: "soluble" } WHERE { ?d {type: "Drug"} }')
        assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "soluble"')] == ["Aspirin"]


def test_a_strict_nexus_refuses_what_the_schema_does_not_allow() -> None:
    with kiprdf.Nexus.memory(genesis=False, strict_schema=True) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "T"} '
            'SET ATTRIBUTES { instance_schema: { n: { type: "integer" } } } } '
            'CONCEPT { {type: "T", name: "a"} SET ATTRIBUTES { n: 1 } } }'
        )
        before = dataset(nexus)
        with pytest.raises(kiprdf.KipError) as caught:
            nexus.execute(
                'UPDATE ?t SET ATTRIBUTES { n: MUL(?t.attributes.n, 0.5) } WHERE { ?t {type: "T"} }'
            )
        assert caught.value.code == "KIP_2003"
        assert dataset(nexus) == before


def test_calculations_have_a_budget() -> None:
    with medical() as nexus:
        command = 'UPDATE ?d SET ATTRIBUTES {{ n: ADD({}) }} WHERE {{ ?d {{type: "Drug"}} }}'
        nexus.execute(command.format(", ".join(["1"] * 200)))
        assert nexus.execute('FIND(?d.attributes.n) WHERE { ?d {type: "Drug"} }') == [200]
        with pytest.raises(kiprdf.KipError) as caught:
            nexus.execute(command.format(", ".join(["1"] * 201)))
        assert caught.value.code == "KIP_4002"
