"""CSV and lines of JSON become concepts and links; what cannot is reported."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus, importers
from tests.cli.runner import invoke
from tests.long_runs import amount

BOOKS = """\
isbn,title,pages,price,in print,author,publisher
0451450523,Snow; Crash,480,7.50,true,Neal Stephenson,Bantam
3499,"Die ""Große""
Reise",,12.00,FALSE,,
"""


def _csv(tmp_path: Path, text: str | bytes, **options: Any) -> importers.Plan:
    file = tmp_path / "books.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return importers.csv(file, **{"type": "Book", "key": "isbn", **options})


def test_a_row_that_is_missing_later_is_reported_and_stays(tmp_path: Path) -> None:
    links = {"links": {"author": "written_by:Person"}}
    with Nexus.memory() as nexus:
        _csv(tmp_path, "isbn,pages,author\n1,10,Ann\n2,20,Ann\n", **links).apply(nexus)
        for created in (1, 0):
            report = _csv(tmp_path, "isbn,pages,author\n2,20,Ann\n3,30,Ann\n", **links).apply(nexus)
            assert report["concepts"]["created"] == created
            assert report["vanished"] == [
                {"type": "Book", "name": "1"},
                {
                    "subject": {"type": "Book", "name": "1"},
                    "predicate": "written_by",
                    "object": {"type": "Person", "name": "Ann"},
                },
            ]
        rows = nexus.find('FIND(?b.name, ?b.attributes) WHERE { ?b {type: "Book"} }').tuples()
        assert sorted(rows) == [(name, {"pages": int(name) * 10}) for name in "123"]


def test_rows_of_a_csv_are_concepts_with_links(tmp_path: Path) -> None:
    plan = _csv(
        tmp_path,
        BOOKS,
        attributes={"cost": "price"},
        links={"author": "written_by:Person", "publisher": "published_by:Company"},
    )
    with Nexus.memory() as nexus:
        report = plan.apply(nexus)
        assert report["concepts"] == {"created": 4, "updated": 0, "unchanged": 0}
        rows = nexus.find(
            'FIND(?b.name, ?b.attributes) WHERE { ?b {type: "Book"} } ORDER BY ?b.name'
        )
        assert rows.tuples() == (
            (
                "0451450523",
                {
                    "cost": 7.5,
                    "in_print": True,
                    "pages": 480,
                    "title": "Snow; Crash",
                },
            ),
            ("3499", {"cost": 12.0, "in_print": False, "title": 'Die "Große"\nReise'}),
        )
        links = nexus.find(
            'FIND(?b.name, ?x.type, ?x.name, ?l.metadata.source) WHERE { ?b {type: "Book"} '
            '?l (?b, "written_by" | "published_by", ?x) } ORDER BY ?x.name'
        )
        assert links.tuples() == (
            ("0451450523", "Company", "Bantam", "books.csv"),
            ("0451450523", "Person", "Neal Stephenson", "books.csv"),
        )
        assert report["definitions"] == {
            "concept_types": ["Book", "Company"],
            "predicates": ["published_by", "written_by"],
        }
        assert report["skipped"] == []
        assert report["warnings"] == ["The column 'in print' is the attribute 'in_print'."]


def test_the_second_run_writes_nothing(tmp_path: Path) -> None:
    options: dict[str, Any] = {"links": {"author": "written_by:Person"}}
    with Nexus.memory() as nexus:
        _csv(tmp_path, BOOKS, **options).apply(nexus)
        before = nexus.info()["commit"]
        again = _csv(tmp_path, BOOKS, **options).apply(nexus)
        assert again["concepts"]["created"] == again["concepts"]["updated"] == 0
        assert again["propositions"] == {"created": 0, "updated": 0, "unchanged": 1}
        assert nexus.info()["commit"] == before
        changed = _csv(tmp_path, BOOKS.replace("480", "481"), **options).apply(nexus)
        assert changed["concepts"]["updated"] == 1
        assert nexus.info()["commit"] == before + 1


def test_a_dry_run_writes_nothing_and_reports_the_same(tmp_path: Path) -> None:
    with Nexus.memory() as nexus:
        before = nexus.info()["commit"]
        tried = _csv(tmp_path, BOOKS).apply(nexus, dry_run=True)
        assert nexus.info()["commit"] == before
        assert tried["concepts"] == {"created": 2, "updated": 0, "unchanged": 0}
        assert tried | {"commits": [before + 1]} == _csv(tmp_path, BOOKS).apply(nexus)
        assert nexus.info()["commit"] > before


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["007", "12"], ["007", "12"]),
        (["7", "12"], [7, 12]),
        (["1.10", "1.9"], ["1.10", "1.9"]),
        (["1.10", "2.50"], [1.1, 2.5]),
        (["1", "2.5"], [1, 2.5]),
        (["True", "false"], [True, False]),
        (["+49", "30"], ["+49", "30"]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["0.1234567890123456789", "1"], ["0.1234567890123456789", "1"]),
        (["1e5", "2"], ["1e5", "2"]),
        (["NaN", "2"], ["NaN", "2"]),
        (["-0", "2"], ["-0", "2"]),
        (["=1+2", "@SUM(A1)"], ["=1+2", "@SUM(A1)"]),
        (["٣", "2"], ["٣", "2"]),
        (['"1,50"', '"2,25"'], ["1,50", "2,25"]),
    ],
)
def test_a_column_has_numbers_if_no_cell_loses_a_digit(
    tmp_path: Path, cells: list[str], values: list[Any]
) -> None:
    text = "isbn,x\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells))
    assert [row["attributes"]["x"] for row in _csv(tmp_path, text).concepts] == values


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,50", "2,25"], [1.5, 2.25]),
        (["-0,125", "3"], [-0.125, 3]),
        (["1,10", "1,9"], ["1,10", "1,9"]),
        (["1,234", "12"], ["1,234", "12"]),
        (["1.234,50", "2,25"], ["1.234,50", "2,25"]),
    ],
)
def test_a_spreadsheet_with_decimal_commas_has_numbers(
    tmp_path: Path, cells: list[str], values: list[Any]
) -> None:
    text = "\ufeffsep=;\r\nisbn;x\r\n" + "".join(f"{n};{cell}\r\n" for n, cell in enumerate(cells))
    plan = _csv(tmp_path, text)
    assert [row["attributes"]["x"] for row in plan.concepts] == values
    warning = "The column 'x' stays text: a comma in it may be one of thousands."
    assert (warning in plan.warnings) == (cells[0] == "1,234")
    with pytest.raises(KipError, match=r"line 3: unexpected end"):
        _csv(tmp_path, 'sep=;\nisbn;x\n1;"a')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "books.csv is empty."),
        ("isbn,x\n".encode("utf-16-le"), "books.csv is UTF-16 without its mark."),
        ('isbn,x\n1,"a\n2,b\n', "books.csv, line 3: unexpected end of data."),
        ('isbn,x\n1,"a"b\n', "books.csv, line 2: ',' expected after '\"'."),
        ("isbn,x\n1,Größe\n".encode("latin-1"), "books.csv, line 2: this is not UTF-8 text."),
        ("id,x\n1,2\n", "There is no column 'isbn'."),
    ],
)
def test_no_table_is_an_error_with_its_place(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(KipError) as caught:
        _csv(tmp_path, text)
    assert caught.value.code == "KIP_1001"
    assert caught.value.message == message
    assert caught.value.hint


def test_ragged_and_contradicting_rows_are_reported(tmp_path: Path) -> None:
    text = "isbn;x;x\n1;a;b;c;d\n2\n;y;z\n1;a;other\n"
    plan = _csv(tmp_path, text)
    assert [row["attributes"] for row in plan.concepts] == [
        {"x": "a", "x_2": "b"},
        {},
        {"x": "a", "x_2": "other"},
    ]
    assert plan.skipped == [
        {"item": '["c", "d"]', "reason": "line 2 has more cells than there are columns"},
        {
            "item": '{"x": "y", "x 2": "z"}',
            "reason": "line 4: there is no name in the column 'isbn'",
        },
        {
            "item": '{"x_2": "b"}',
            "reason": "lines 2 and 5 have the isbn '1'; the last value is written",
        },
    ]
    assert "1 line has fewer cells than the 3 columns, first line 3." in plan.warnings


def test_utf_16_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    plan = _csv(tmp_path, "isbn\tx\n1\tGröße\n".encode("utf-16"))
    assert plan.concepts[0]["attributes"] == {"x": "Größe"}


def test_lines_of_json_keep_their_values(tmp_path: Path) -> None:
    file = tmp_path / "drugs.jsonl"
    file.write_text(
        '{"name": "Aspirin", "risk": 2, "doses": [100, 500], "by": ["Bayer", "Merck"]}\n'
        '\n{"name": 7, "risk": null, "tree": {"a b": {"c": 1}}, "n": 123456789012345678901}\n'
        '["no", "object"]\n'
    )
    plan = importers.jsonl(file, type="Drug", key="name", links={"by": "made_by:Company"})
    assert plan.skipped == [{"item": '["no", "object"]', "reason": "row 4 is no object"}]
    with Nexus.memory() as nexus:
        plan.apply(nexus)
        rows = nexus.find(
            'FIND(?d.name, ?d.attributes) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name'
        )
        assert rows.tuples() == (
            (
                "7",
                {
                    "n": {
                        "@type": "http://www.w3.org/2001/XMLSchema#integer",
                        "@value": "123456789012345678901",
                    },
                    "tree": {"a b": {"c": 1}},
                },
            ),
            ("Aspirin", {"doses": [100, 500], "risk": 2}),
        )
        makers = nexus.find('FIND(?c.name) WHERE { ({name: "Aspirin"}, "made_by", ?c) }')
        assert sorted(makers.column("?c.name")) == ["Bayer", "Merck"]


def test_what_lines_of_json_have_twice_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "drugs.jsonl"
    file.write_text('{"k": "A", "x": 1, "y": {"z": 2, "z": 3}, "x": 4}\n')
    plan = importers.jsonl(file, type="Drug", key="k", attributes={"a": "x", "b": "x"})
    assert plan.concepts[0]["attributes"] == {"a": 4, "b": 4, "y": {"z": 3}}
    assert [entry["item"] for entry in plan.skipped] == ['{"z": 2}', '{"x": 1}']
    for text, hint in (
        ("[]", "Write one object on each line, or one array of objects."),
        ('{\n"k": "A"\n}', "Write each object on one line, or give an array."),
    ):
        file.write_text(text)
        with pytest.raises(KipError) as caught:
            importers.jsonl(file, type="Drug", key="k")
        assert caught.value.hint == hint


def test_many_faults_take_linear_time(tmp_path: Path) -> None:
    size = amount("FAULTY_ROWS", 5_000)
    columns = ",".join(["isbn", *["x"] * (size // 10)])
    start = time.process_time()
    plan = _csv(tmp_path, f"{columns}\n" + "".join(f"{n}\n" for n in range(size)))
    assert time.process_time() - start < 4
    assert plan.warnings[size // 10 - 1] == (
        f"{size} lines have fewer cells than the {size // 10 + 1} columns, first line 2."
    )
    empty = _csv(tmp_path, "isbn,x\n")
    assert empty.warnings == ["books.csv has a line of columns, and no rows."]
    with Nexus.memory() as nexus:
        assert empty.apply(nexus)["definitions"]["concept_types"] == ["Book"]


def test_a_cut_line_of_json_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "drugs.jsonl"
    file.write_text('{"name": "Aspirin"}\n{"name": "Ibu')
    with pytest.raises(KipError, match=r"drugs\.jsonl, line 2, column 10: the text ends too early"):
        importers.jsonl(file, type="Drug", key="name")


def test_names_that_look_the_same_written_down_stay_apart(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"k": "a b", "说 x": 1}\n{"k": "a\\nb", "说-x": 2}\n{"k": ".."}\n')
    plan = importers.jsonl(file, type="药物", key="k")
    names = [row["name"] for row in plan.concepts]
    assert names == ["a b", "a b_7e18f737", "dots .."]
    assert plan.concepts[1]["attributes"]["original_name"] == "a\nb"
    assert plan.concepts[0]["attributes"]["original_type"] == "药物"
    assert plan.types == {"Thing_9ba3e8": "药物, from jsonl."}


def test_a_data_frame_is_a_table(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "name": ["Aspirin", "Ibuprofen"],
            "half life": [0.3, None],
            "since": pandas.to_datetime(["1899-03-06", None]),
            "maker": [["Bayer", "Merck"], "Boots"],
        }
    )
    plan = importers.frame(frame, type="Drug", key="name", links={"maker": "made_by:Company"})
    assert [row["attributes"] for row in plan.concepts if row["type"] == "Drug"] == [
        {"half_life": 0.3, "since": "1899-03-06T00:00:00"},
        {},
    ]
    assert [(row["subject"][1], row["object"][1]) for row in plan.propositions] == [
        ("Aspirin", "Bayer"),
        ("Aspirin", "Merck"),
        ("Ibuprofen", "Boots"),
    ]
    with pytest.raises(KipError, match="A data frame is expected, not list"):
        importers.frame([], type="Drug", key="name")


def test_the_command_line_reads_tables_from_files_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "books.csv").write_text(BOOKS)
    (tmp_path / "map.toml").write_text(
        'type = "Book"\nkey = "isbn"\n[attributes]\ncost = "price"\n[links]\nauthor = "by:Person"\n'
    )
    nexus = str(tmp_path / "brain")
    by_file = ("--map", str(tmp_path / "map.toml"), "--nexus", nexus)
    tried = invoke("import", "--from", "csv", str(tmp_path / "books.csv"), *by_file, "--dry-run")
    assert "concepts: 3 created" in tried.stdout
    assert not Path(nexus).exists()
    written = invoke("import", "--from", "csv", "-", *by_file, input=BOOKS)
    assert written.stdout.startswith(
        "standard input\n  concepts: 3 created, 0 updated, 0 unchanged"
    )
    options = ("--type", "Book", "--key", "isbn", "--attribute", "cost=price")
    links = ("--link", "author=by:Person", "--source", "standard input", "--nexus", nexus, "--json")
    again = invoke("import", "--from", "csv", str(tmp_path / "books.csv"), *options, *links)
    report = json.loads(again.stdout)
    assert report["commits"] == []
    assert report["concepts"] == {"created": 0, "updated": 0, "unchanged": 3}
    refused = invoke("import", "--from", "csv", "-", "--define", "--nexus", nexus)
    assert refused.exit_code == 2
    assert "Of the options, --from takes" in refused.stderr


def test_a_row_may_link_to_itself_and_two_columns_are_no_one_attribute(tmp_path: Path) -> None:
    plan = _csv(tmp_path, "isbn,x,of\n1,a,1\n", links={"of": "of:Book"})
    assert [(row["subject"], row["object"]) for row in plan.propositions] == [
        (("Book", "1"), ("Book", "1"))
    ]
    with Nexus.memory() as nexus:
        assert plan.apply(nexus)["propositions"]["created"] == 1
    with pytest.raises(KipError, match=r"Two columns are the attribute 'x'"):
        _csv(tmp_path, "isbn,x,y\n1,a,b\n", attributes={"x": "y"})
