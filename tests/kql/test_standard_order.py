"""An engine sorts and cuts the page where its order is KIP's; otherwise Python does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import kiprdf
from kiprdf.store import OxigraphStore
from tests.standard_sparql import STANDARD, standard_sparql


def _nexus(values: list[Any]) -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute('UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "T"} } }')
    for number, value in enumerate(values):
        _write(nexus, f"N{number}", value)
    nexus.execute('UPSERT { CONCEPT ?c { {type: "T", name: "without"} } }')
    return nexus


def _write(nexus: kiprdf.Nexus, name: str, value: Any) -> None:
    text = 'UPSERT { CONCEPT ?c { {type: "T", name: :name} SET ATTRIBUTES { key: :value } } }'
    nexus.execute(text, name=name, value=value)


def _page(nexus: kiprdf.Nexus, direction: str, limit: int = 3) -> list[Any]:
    return nexus.execute(
        'FIND(?t.attributes.key) WHERE { ?t {type: "T"} } '
        f"ORDER BY ?t.attributes.key {direction} LIMIT {limit}"
    )


def _asked(nexus: kiprdf.Nexus, direction: str, limit: int = 3) -> tuple[list[Any], bool]:
    """A page, and whether the engine has cut it."""
    with standard_sparql() as texts:
        page = _page(nexus, direction, limit)
    return page, "ORDER BY" in texts[-1] and f"LIMIT {limit + 1}" in texts[-1]


@pytest.mark.parametrize(
    ("values", "ascending", "descending"),
    [
        ([2**53 + 1, 2**53, -3, 10], [-3, 10, 2**53], [2**53 + 1, 2**53, 10]),
        ([2.5, 1e300, -1e-9, 10.0], [-1e-9, 2.5, 10.0], [1e300, 10.0, 2.5]),
        (["b", "é", "B", "😀", "～"], ["B", "b", "é"], ["😀", "～", "é"]),
        ([5], [5, None], [5, None]),
    ],
)
def test_the_engine_cuts_the_page_of_values_of_one_kind(
    values: list[Any], ascending: list[Any], descending: list[Any]
) -> None:
    nexus = _nexus(values)
    for direction, expected in (("ASC", ascending), ("DESC", descending)):
        assert _page(nexus, direction) == expected
        assert _asked(nexus, direction) == (expected, True)


@pytest.mark.parametrize(
    "values", [[1, 2.5], ["a", 1], [True, False], [1, None], [[1], [2]], ["a", {"b": 1}]]
)
def test_python_sorts_values_of_several_kinds(values: list[Any]) -> None:
    nexus = _nexus(values)
    for direction in ("ASC", "DESC"):
        assert _asked(nexus, direction) == (_page(nexus, direction), False)


def test_ties_are_ordered_by_iri_and_zero_has_no_sign() -> None:
    nexus = _nexus([0.0, -0.0, 0.0, -0.0])
    text = 'FIND(?t.name) WHERE { ?t {type: "T"} } ORDER BY ?t.attributes.key {direction} LIMIT 3'
    for direction in ("ASC", "DESC"):
        with standard_sparql():
            names = nexus.execute(text.replace("{direction}", direction))
        assert names == ["N0", "N1", "N2"]


def test_a_commit_with_another_kind_of_value_is_seen() -> None:
    nexus = _nexus([1, 2, 3])
    assert _asked(nexus, "DESC", 2) == ([3, 2], True)
    _write(nexus, "N0", "text")
    assert _asked(nexus, "DESC", 2) == (["text", 3], False)
    _write(nexus, "N0", 7)
    assert _asked(nexus, "DESC", 2) == ([7, 3], True)


def test_the_next_page_follows() -> None:
    nexus = _nexus([5, 4, 3, 2, 1])
    text = 'FIND(?t.name) WHERE { ?t {type: "T"} } ORDER BY ?t.attributes.key LIMIT 2'
    pages = []
    with standard_sparql():
        cursor = None
        while True:
            page = nexus.find(text if cursor is None else f'{text} CURSOR "{cursor}"')
            pages.append([row["?t.name"] for row in page])
            cursor = page.next_cursor
            if cursor is None:
                break
    assert pages == [["N4", "N3"], ["N2", "N1"], ["N0", "without"]]


def test_what_is_not_projected_may_collapse_so_python_cuts_the_page() -> None:
    nexus = _nexus([1, 2])
    nexus.execute('UPSERT { CONCEPT ?p { {type: "$PropositionType", name: "has"} } }')
    text = """
        FIND(?s.name) WHERE { (?s, "has", ?t) } ORDER BY ?t.attributes.key LIMIT 1
    """
    with standard_sparql() as texts:
        nexus.execute(text)
    assert "ORDER BY" not in texts[-1]


def test_a_page_beyond_the_rows_of_an_answer_is_cut_by_python() -> None:
    nexus = _nexus([3, 1, 2])
    with standard_sparql() as texts, pytest.MonkeyPatch.context() as patch:
        patch.setattr(OxigraphStore, "abilities", replace(STANDARD, max_rows=3))
        assert _page(nexus, "ASC", 2) == [1, 2]
    assert "ORDER BY" not in texts[-1]


def test_texts_are_sorted_by_code_point_where_the_engine_sorts_by_units() -> None:
    nexus = _nexus(["😀", "～"])
    with standard_sparql() as texts, pytest.MonkeyPatch.context() as patch:
        patch.setattr(OxigraphStore, "abilities", replace(STANDARD, code_points=False))
        assert _page(nexus, "ASC", 2) == ["～", "😀"]
    assert "REPLACE(" in texts[-1].partition("ORDER BY")[2]
