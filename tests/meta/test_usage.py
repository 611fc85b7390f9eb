"""DESCRIBE CONCEPT TYPE and PROPOSITION TYPE show how they are used (KIP 5.1.4, 5.1.6)."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from kiprdf.meta import usage as in_use
from kiprdf.store import OxigraphStore, sorted_values

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Animal"} }
  CONCEPT { {type: "$ConceptType", name: "Food"} }
  CONCEPT { {type: "$PropositionType", name: "eats"} }
  CONCEPT { {type: "$PropositionType", name: "said"} }
}
"""
FACTS = """
UPSERT {
  CONCEPT ?hay { {type: "Food", name: "hay"} SET ATTRIBUTES { colour: "yellow" } }
  CONCEPT ?lion { {type: "Animal", name: "lion"} SET ATTRIBUTES { legs: 4, tame: false } }
  CONCEPT ?zebra { {type: "Animal", name: "zebra"} SET ATTRIBUTES { legs: 4 }
    SET PROPOSITIONS { ("eats", ?hay) } }
  CONCEPT { {type: "Animal", name: "ant"} SET ATTRIBUTES { legs: 6 } }
  PROPOSITION { (?lion, "eats", ?zebra) }
  PROPOSITION { (?zebra, "said", (?lion, "eats", ?zebra)) }
}
"""


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(SCHEMA)
    nexus.execute(FACTS)
    return nexus


def usage(nexus: kiprdf.Nexus, name: str, kind: str = "CONCEPT") -> dict[str, Any]:
    return dict(nexus.execute(f"DESCRIBE {kind} TYPE :name", name=name)["usage"])


def test_a_type_shows_its_attributes_and_its_relations_in_both_directions(
    nexus: kiprdf.Nexus,
) -> None:
    assert usage(nexus, "Animal") == {
        "count": 3,
        "attributes": {
            "legs": {"count": 3, "examples": [4, 6]},
            "tame": {"count": 1, "examples": [False]},
        },
        "outgoing": {
            "eats": {"count": 2, "types": {"Animal": 1, "Food": 1}},
            "said": {"count": 1, "types": {"(eats)": 1}},
        },
        "incoming": {"eats": {"count": 1, "types": {"Animal": 1}}},
    }


def test_a_type_without_concepts_shows_that_it_has_none() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(SCHEMA)
    empty: dict[str, Any] = {"count": 0, "attributes": {}, "outgoing": {}, "incoming": {}}
    assert usage(nexus, "Animal") == empty


def test_a_predicate_shows_the_types_of_its_ends(nexus: kiprdf.Nexus) -> None:
    assert [usage(nexus, name, "PROPOSITION") for name in ("eats", "said")] == [
        {"count": 2, "subjects": {"Animal": 2}, "objects": {"Animal": 1, "Food": 1}},
        {"count": 1, "subjects": {"Animal": 1}, "objects": {"(eats)": 1}},
    ]


def test_an_attribute_has_three_examples_at_most(nexus: kiprdf.Nexus) -> None:
    animals = (
        f'CONCEPT {{ {{type: "Animal", name: "a{n}"}} SET ATTRIBUTES {{ legs: {n} }} }}'
        for n in range(10)
    )
    nexus.execute(f"UPSERT {{ {' '.join(animals)} }}")
    legs = usage(nexus, "Animal")["attributes"]["legs"]
    assert (legs["count"], len(legs["examples"])) == (13, 3)
    assert set(legs["examples"]) <= set(range(10))


def test_the_examples_of_sorted_concepts_are_those_of_the_first_ones(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_values, "WORTH_SECONDS", 0)
    monkeypatch.setattr(sorted_values, "LEAST_SECONDS", 60)
    monkeypatch.setattr(in_use, "CONCEPTS", 3)
    add = 'UPSERT { CONCEPT { {type: "Animal", name: :name} SET ATTRIBUTES { legs: :legs } } }'

    def legs() -> list[int]:
        return list(usage(nexus, "Animal")["attributes"]["legs"]["examples"])

    sought: list[object] = []
    select = OxigraphStore.select
    monkeypatch.setattr(OxigraphStore, "select", lambda *a: sought.append(a) or select(*a))
    assert legs() == [4, 6]
    sought.clear()
    assert (legs(), sought) == ([4, 6], [])
    nexus.execute(add, name="aardvark", legs=2)
    sought.clear()
    assert (legs(), sought) == ([2, 4, 6], [])
    nexus.execute('DELETE CONCEPT ?a DETACH WHERE { ?a {type: "Animal", name: "ant"} }')
    nexus.execute('UPSERT { CONCEPT { {type: "Food", name: "aa"} SET ATTRIBUTES { legs: 9 } } }')
    sought.clear()
    assert (legs(), sought) == ([2, 4], [])


@pytest.mark.parametrize(
    ("value", "example"),
    [
        ('"' + "x" * 100 + '"', "x" * 59 + "…"),
        ('"two\\nlines"', "two lines"),
        ("[1, 2, 3, 4, 5]", [1, 2, 3, "… 2 more"]),
        ("{a: 1, b: 2, c: 3, d: 4}", {"a": 1, "b": 2, "c": 3, "…": "… 1 more"}),
        ("[[[[1]]]]", [[["…"]]]),
        ("null", None),
        ('"知识"', "知识"),
    ],
)
def test_an_example_is_short(nexus: kiprdf.Nexus, value: str, example: object) -> None:
    nexus.execute(
        f'UPSERT {{ CONCEPT {{ {{type: "Food", name: "f"}} SET ATTRIBUTES {{ note: {value} }} }} }}'
    )
    assert usage(nexus, "Food")["attributes"]["note"]["examples"] == [example]


def test_attributes_that_are_left_out_are_counted(nexus: kiprdf.Nexus) -> None:
    keys = ", ".join(f"key_{n}: 1" for n in range(45))
    nexus.execute(
        f'UPSERT {{ CONCEPT {{ {{type: "Food", name: "f"}} SET ATTRIBUTES {{ {keys} }} }} }}'
    )
    shown = usage(nexus, "Food")
    assert (len(shown["attributes"]), shown["left_out"]) == (40, {"attributes": 6})


def test_metadata_is_no_attribute(nexus: kiprdf.Nexus) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "Food", name: "f"} } WITH METADATA { source: "s" } }')
    assert "source" not in usage(nexus, "Food")["attributes"]


def test_the_type_of_types_is_used_by_the_definitions(nexus: kiprdf.Nexus) -> None:
    shown = usage(nexus, "$ConceptType")
    assert (shown["count"], shown["outgoing"]) == (
        15,
        {"belongs_to_domain": {"count": 13, "types": {"Domain": 13}}},
    )


def test_usage_is_no_matter_of_rows(nexus: kiprdf.Nexus) -> None:
    with nexus.limited(max_rows=1):
        assert usage(nexus, "Animal")["count"] == 3
