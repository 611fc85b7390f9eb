"""The store counts alike solutions; Python groups and adds their values as KIP does."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from kiprdf.kql.plan import Plan, plan_find
from kiprdf.language import ast, parse
from kiprdf.rdf.iris import Iris
from tests.standard_sparql import standard_sparql

LARGEST = 2**63 - 1
VALUES: list[tuple[Any, Any]] = [
    # A key, and a number.
    (1, LARGEST),
    (1.0, LARGEST),
    ("1", 0.1),
    ("1", 0.1),
    ("1", 0.1),
    ("1", "no number"),
    (True, 2),
    (None, 2.0),
    ({"@value": "1", "@language": "en"}, None),
]


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute('UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "T"} } }')
    for number, (key, value) in enumerate(VALUES):
        _write(nexus, f"N{number}", key, value)
    nexus.execute('UPSERT { CONCEPT ?c { {type: "T", name: "without"} } }')
    return nexus


def _write(nexus: kiprdf.Nexus, name: str, key: Any, value: Any) -> None:
    text = """
        UPSERT { CONCEPT ?c { {type: "T", name: :name} SET ATTRIBUTES { key: :key, n: :value } } }
    """
    nexus.execute(text, name=name, key=key, value=value)


def _by_key(nexus: kiprdf.Nexus, shown: str) -> dict[str, Any]:
    keys, *columns = nexus.execute(f'FIND(?t.attributes.key, {shown}) WHERE {{ ?t {{type: "T"}} }}')
    rows = zip(*columns, strict=True)
    return {repr(key): list(row) for key, row in zip(keys, rows, strict=True)}


def test_values_are_grouped_and_added_by_the_rules_of_kip(nexus: kiprdf.Nexus) -> None:
    n = "?t.attributes.n"
    shown = f"COUNT(?t), COUNT(DISTINCT ?t), COUNT(DISTINCT {n}), SUM({n}), AVG({n}), MAX({n})"
    expected = {
        "1": [2, 2, 1, 2 * LARGEST, float(LARGEST), LARGEST],
        "'1'": [4, 4, 2, 0.30000000000000004, 0.1, "no number"],
        "True": [1, 1, 1, 2, 2.0, 2],
        "None": [2, 2, 1, 2.0, 2.0, 2.0],
        "{'@value': '1', '@language': 'en'}": [1, 1, 0, 0, None, None],
    }
    assert _by_key(nexus, shown) == expected
    with standard_sparql():
        assert _by_key(nexus, shown) == expected


def test_a_write_between_two_questions_is_seen(nexus: kiprdf.Nexus) -> None:
    assert _by_key(nexus, "COUNT(?t)")["True"] == [1]
    _write(nexus, "N7", True, 1.5)
    assert _by_key(nexus, "COUNT(?t), SUM(?t.attributes.n)")["True"] == [2, 3.5]
    assert _by_key(nexus, "COUNT(?t)")["None"] == [1]


def test_groups_that_tie_are_in_the_order_of_their_values(nexus: kiprdf.Nexus) -> None:
    text = 'FIND(?t.attributes.key, MAX(?t.type)) WHERE { ?t {type: "T"} } ORDER BY MAX(?t.type)'
    assert nexus.execute(text)[0] == [True, 1, "1", {"@value": "1", "@language": "en"}, None]


def test_an_element_that_two_spellings_of_a_value_share_is_counted_once(
    nexus: kiprdf.Nexus,
) -> None:
    nexus.execute("""
        UPSERT {
          CONCEPT ?p { {type: "$PropositionType", name: "has"} }
        }
    """)
    nexus.execute("""
        UPSERT {
          CONCEPT ?c {
            {type: "T", name: "without"}
            SET PROPOSITIONS {
              ("has", {type: "T", name: "N0"})
              ("has", {type: "T", name: "N1"})
            }
          }
        }
    """)
    text = 'FIND(?o.attributes.key, COUNT(DISTINCT ?s), COUNT(?s)) WHERE { (?s, "has", ?o) }'
    assert nexus.execute(text) == [[1], [1], [2]]


def _plan(shown: str, where: str = '?s {type: "T"} (?d, "has", ?s)') -> Plan:
    find = parse(f"FIND({shown}) WHERE {{ {where} }}")
    assert isinstance(find, ast.Find)
    return plan_find(find, Iris("urn:kip:nexus/"))


@pytest.mark.parametrize(
    ("shown", "columns"),
    [
        ("?d.attributes.key, COUNT(?d)", ["d_key"]),
        ("?d.attributes.key, COUNT(DISTINCT ?d)", ["d_key"]),
        ("?d.attributes.key, COUNT(DISTINCT ?s)", ["s", "d_key"]),
        ("?s.name, AVG(?d.attributes.n)", ["s", "d_n"]),
        ("SUM(?d.attributes.n), MIN(?d.attributes.key)", ["d_n", "d_key"]),
    ],
)
def test_the_store_returns_what_differs(shown: str, columns: list[str]) -> None:
    plan = _plan(shown)
    assert [variable.value for variable in plan.variables] == columns
    assert plan.counts
