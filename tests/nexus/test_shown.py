"""What ``repr`` and notebooks show of rows and of a nexus, and what ``dir`` lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.execution import summary
from tests.cases import each_case
from tests.nexus.support import FACTS, SCHEMA
from tests.trust import children

HOSTILE = "<script>alert('x')</script> & \"quotes\""


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    nexus.execute(FACTS)
    return nexus


def test_rows_show_their_values_in_columns(nexus: kiprdf.Nexus) -> None:
    rows = nexus.find(
        'FIND(?s, ?s.name, ?s.attributes.none) WHERE { ?s {type: "Symptom"} } ORDER BY ?s.name'
    )
    assert repr(rows) == (
        "?s                    ?s.name     ?s.attributes.none\n"
        "'C:Symptom/Fever'     'Fever'     None\n"
        "'C:Symptom/Headache'  'Headache'  None\n"
        "2 rows"
    )


def test_one_row_and_none_are_counted() -> None:
    assert repr(kiprdf.Rows(("?a",), ((1,),))) == "?a\n1\n1 row"
    assert repr(kiprdf.Rows(("?a",), ())) == "?a\n0 rows"
    assert repr(kiprdf.Rows((), ((), ()))) == "2 rows"


def test_only_the_first_rows_are_shown_and_all_are_counted() -> None:
    lines = repr(kiprdf.Rows(("?n",), tuple((number,) for number in range(10**5)))).split("\n")
    assert (lines[1], lines[20], lines[21:]) == ("0", "19", ["100000 rows, 20 shown"])


@each_case(
    "value",
    [
        "x" * 10**6,
        list(range(10**6)),
        {"k": "x" * 10**6},
        [[["x" * 10**6]]],
        "\x1b[2J\u202e\n",
        10**400,
    ],
)
def test_a_value_is_one_short_printable_line(value: Any) -> None:
    rows = kiprdf.Rows(("?v",), ((value,),))
    head, line, count = repr(rows).split("\n")
    assert (head, count) == ("?v", "1 row")
    assert line.isprintable()
    assert len(line) <= 60


def test_rows_of_raw_sparql_show_terms(nexus: kiprdf.Nexus) -> None:
    query = "SELECT ?d WHERE { ?d <urn:kip:nexus/$PropositionType/treats> ?s } LIMIT 1"
    assert "<urn:kip:nexus/Drug/Aspirin>" in repr(nexus.sparql(query))


def test_rows_are_an_escaped_table_of_html() -> None:
    rows = kiprdf.Rows((HOSTILE,), ((HOSTILE,),))
    shown = rows._repr_html_()
    assert shown.startswith("<table><thead><tr><th>&lt;script&gt;")
    assert "<script" not in shown
    assert "<td>" in shown
    assert shown.endswith("<p>1 row</p>")


def test_a_nexus_shows_its_place_and_its_size(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    assert repr(nexus) == "<Nexus in memory, base urn:kip:nexus/, concepts 9, propositions 3>"
    kiprdf.Nexus.open(tmp_path / "kb", genesis=False, strict_schema=True).close()
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as opened:
        assert repr(opened) == (
            f"<Nexus in {tmp_path / 'kb'}, base urn:kip:nexus/, concepts 0, propositions 0, "
            "state read-only strict>"
        )


def test_a_closed_nexus_can_be_shown(nexus: kiprdf.Nexus) -> None:
    nexus.close()
    assert repr(nexus) == "<Nexus in memory, base urn:kip:nexus/, state The nexus is closed.>"
    assert "The nexus is closed." in nexus._repr_html_()


def test_a_large_nexus_is_counted_up_to_a_limit(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "COUNTED", 8)
    assert "concepts more than 8, propositions 3" in repr(nexus)


def test_a_nexus_is_an_escaped_table_of_html(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "<b>&", genesis=False) as nexus:
        shown = nexus._repr_html_()
    assert shown.startswith("<table><tr><th>in</th><td>")
    assert "&lt;b&gt;&amp;" in shown
    assert "<b>" not in shown


def test_dir_lists_everything_that_is_exported_without_importing_it() -> None:
    program = (
        "import sys, kiprdf\n"
        "assert set(kiprdf.__all__) | {'__version__'} <= set(dir(kiprdf))\n"
        "assert 'pydantic' not in sys.modules"
    )
    assert children.run_afresh("-c", program) == (0, "")
    assert all(hasattr(kiprdf, name) for name in dir(kiprdf))
