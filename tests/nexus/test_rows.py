"""What rows become: tuples, the single one, data frames of pandas and of Polars.

Polars takes 170 MB, so it is not installed for the tests: they run where it is.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

import kiprdf
from kiprdf import KipError, Nexus, Rows
from tests.cases import each_case
from tests.nexus import support

LARGE = 2**63
COLUMNS: dict[str, tuple[Any, ...]] = {
    "integers": (1, None, -LARGE),
    "all integers": (1, 2, 3),
    "beyond 64 bits": (1, None, LARGE),
    "numbers": (1, None, 2.5),
    "inexact": (2**53 + 1, None, 2.5),
    "large numbers": (10**400, None, 2.5),
    "booleans": (True, None, False),
    "booleans and integers": (True, None, 1),
    "texts": ("a", None, ""),
    "dates": ("2026-01-01", None, "2026-01-02T00:00:00Z"),
    "texts and integers": ("a", None, 1),
    "elements": ({"_type": "ConceptNode", "id": "C:T/a"}, None, {"x": [1, {"y": None}]}),
    "lists": (["a", "b"], None, []),
    "mixed lists": (["a", 1], None, [[]]),
    "nulls": (None, None, None),
}
OBJECT = "object"
PANDAS = {
    "integers": "Int64",
    "all integers": "Int64",
    "beyond 64 bits": OBJECT,
    "numbers": "Float64",
    "inexact": OBJECT,
    "large numbers": OBJECT,
    "booleans": "boolean",
    "booleans and integers": OBJECT,
    "texts": "string",
    "dates": "string",
    "texts and integers": OBJECT,
    "elements": OBJECT,
    "lists": OBJECT,
    "mixed lists": OBJECT,
    "nulls": OBJECT,
}
POLARS = {
    **{column: kind.capitalize() for column, kind in PANDAS.items()},
    "lists": "List(String)",
    "nulls": "Null",
}
EVERY = Rows(tuple(COLUMNS), tuple(zip(*COLUMNS.values(), strict=True)))


@pytest.fixture(scope="module")
def medical() -> Nexus:
    return support.medical()


def values(column: Any) -> list[Any]:
    """The values of a column of pandas, with None for each null."""
    return [
        None if value is None or type(value).__name__ == "NAType" else value for value in column
    ]


def test_tuples_are_called_and_iteration_has_dictionaries() -> None:
    rows = Rows(("?a", "?a"), ((1, 1), (2, 2)))
    assert rows.tuples() == ((1, 1), (2, 2))
    assert list(rows) == [{"?a": 1}, {"?a": 2}]


def test_single_is_the_one_row_or_an_error_with_the_reason(medical: Nexus) -> None:
    drug = "FIND(?d.name, ?d.type) WHERE { ?d {type: :type, name: :name} }"
    one = {"?d.name": "Aspirin", "?d.type": "Drug"}
    assert medical.find(drug, type="Drug", name="Aspirin").single() == one
    with pytest.raises(KipError) as none:
        medical.find('FIND(?d.name) WHERE { ?d {name: "Asprin"} }').single()
    assert none.value.code == "KIP_3002"
    assert '1:33 No concept is called "Asprin".' in none.value.message
    assert none.value.hint == 'Did you mean "Aspirin"?'
    every = 'FIND(?s.name) WHERE { ?s {type: "Symptom"} } ORDER BY ?s.name'
    with pytest.raises(KipError, match="There are 2 rows") as several:
        medical.find(every).single()
    assert several.value.code == "KIP_3003"
    assert "LIMIT 1" in str(several.value.hint)
    assert medical.find(f"{every} LIMIT 1").single() == {"?s.name": "Fever"}
    with pytest.raises(KipError) as unexplained:
        Rows(("?a",), ()).single()
    assert unexplained.value.hint


@each_case("library", ["pandas", "polars"])
def test_a_library_that_is_absent_is_named(library: str) -> None:
    kept = sys.modules.get(library)
    sys.modules[library] = None  # type: ignore[assignment]  # an import of it fails
    try:
        with pytest.raises(KipError, match=f"needs {library}") as raised:
            getattr(EVERY, f"to_{library}")()
    finally:
        del sys.modules[library]
        if kept is not None:
            sys.modules[library] = kept
    assert (raised.value.code, raised.value.hint) == ("KIP_1001", f"pip install {library}")


# pandas ---------------------------------------------------------------------------------------


def test_pandas_keeps_types_and_nulls() -> None:
    pytest.importorskip("pandas")
    frame = EVERY.to_pandas()
    assert {column: str(frame[column].dtype) for column in COLUMNS} == PANDAS
    for column, expected in COLUMNS.items():
        assert values(frame[column]) == list(expected), column
    assert frame["all integers"].sum() == 6
    assert frame["integers"].isna().tolist() == [False, True, False]


@each_case("rows", [Rows(("?a", "?b"), ()), Rows((), ()), Rows((), ((), ())), Rows(("?a",), ())])
def test_pandas_has_the_columns_without_rows(rows: Rows) -> None:
    pytest.importorskip("pandas")
    frame = rows.to_pandas()
    assert (tuple(frame.columns), len(frame)) == (rows.columns, len(rows))


def test_pandas_has_a_column_that_is_selected_twice_twice() -> None:
    pytest.importorskip("pandas")
    frame = Rows(("?a", "?a"), ((1, 1),)).to_pandas()
    assert (list(frame.columns), frame.to_numpy().tolist()) == (["?a", "?a"], [[1, 1]])


# Polars ---------------------------------------------------------------------------------------


def test_polars_keeps_types_and_nulls() -> None:
    pytest.importorskip("polars")
    frame = EVERY.to_polars()
    assert {column: str(kind) for column, kind in frame.schema.items()} == POLARS
    for column, expected in COLUMNS.items():
        assert frame[column].to_list() == list(expected), column


@each_case("rows", [Rows(("?a", "?b"), ()), Rows((), ()), Rows(("?a", "?a"), ((1, 1),))])
def test_polars_has_each_column_once(rows: Rows) -> None:
    pytest.importorskip("polars")
    frame = rows.to_polars()
    assert (frame.columns, len(frame)) == (list(dict.fromkeys(rows.columns)), len(rows))


# SPARQL ---------------------------------------------------------------------------------------

TERMS = """PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?integer ?number ?flag ?wrong ?text ?iri ?fact ?none {
  VALUES (?integer ?number ?flag ?wrong ?text ?iri) {
    (7 1.5 true "x"^^xsd:integer "Tee"@de <urn:x:a>)
    ("8"^^xsd:long 2e0 false "y"^^xsd:boolean "2026-01-01"^^xsd:date <urn:x:b>)
  }
  BIND(<<( ?iri <urn:x:p> 1 )>> AS ?fact)
}"""
OF_TERMS: dict[str, tuple[str, list[Any]]] = {
    "integer": ("Int64", [7, 8]),
    "number": ("Float64", [1.5, 2.0]),
    "flag": ("boolean", [True, False]),
    "wrong": ("string", ["x", "y"]),
    "text": ("string", ["Tee", "2026-01-01"]),
    "iri": ("string", ["urn:x:a", "urn:x:b"]),
    "none": (OBJECT, [None, None]),
}


def test_terms_of_sparql_are_numbers_booleans_and_texts(medical: Nexus) -> None:
    pytest.importorskip("pandas")
    rows = medical.sparql(TERMS)
    assert isinstance(rows, Rows)
    frame = rows.to_pandas()
    shown = {name: (str(frame[name].dtype), values(frame[name])) for name in OF_TERMS}
    assert shown == OF_TERMS
    assert frame["fact"][0].startswith("<<( <urn:x:a> <urn:x:p> ")


# Notebooks ------------------------------------------------------------------------------------


def test_a_notebook_shows_why_there_are_no_rows() -> None:
    warning = kiprdf.errors.KipWarning("UnknownName", "No <b> is known.", "Write <i>.")
    shown = Rows(("?a",), (), warnings=(warning,))._repr_html_()
    assert shown.endswith(
        "<p>0 rows</p><p>Warning: No &lt;b&gt; is known. Hint: Write &lt;i&gt;.</p>"
    )
