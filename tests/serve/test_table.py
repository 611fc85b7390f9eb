"""A type as a table: each page, number and download is what the KQL that it shows answers."""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

import kiprdf
from kiprdf.actors import Actor
from kiprdf.serve.explorer import table
from kiprdf.serve.explorer.csv_files import csv_bytes
from kiprdf.serve.explorer.explorer import Explorer
from tests.long_runs import SEED, amount
from tests.serve.running import RunningServer, serving

BASE = "http://kb.example/kb/"
TABLES = amount("TABLES", 15)
DEFINED = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Part"} }
  CONCEPT { {type: "$PropositionType", name: "fits"} }
}"""
PART = (
    'UPSERT { CONCEPT { {type: "Part", name: :name} SET ATTRIBUTES :values } WITH METADATA :about }'
)
FITS = """UPSERT { PROPOSITION { ({type: "Part", name: :one}, "fits", {type: "Part", name: :other})
  SET ATTRIBUTES :values } }"""
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=1+1",
    "a:is:b",
    "😀 中文",
)
VALUES: tuple[Any, ...] = (
    *(0, 1, 3, 3.0, -5, 2.5, 1e300, 2**53 + 1, True, False, None, "", "3", "true", "null"),
    *("2024-01-31", "2024-02-01T10:00:00Z", "Lisbon", "lisbon (old)", "-5", '"quoted"', "=1+1"),
    *HOSTILE,
    {"@value": "Lisbon", "@language": "pt"},
    {"@value": "3", "@type": "http://www.w3.org/2001/XMLSchema#decimal"},
    {"a": 1},
    *([], ["Lisbon", 3], ["Lisbon", "Lisbon", None], [True, [1]], ["=1+1", {"a": 1}]),
)
CHOICE = re.compile(r'<a href="[^"]*[?]([^"]*)"(?: class="null")?><bdi>[^<]*</bdi> <small>([\d,]+)')
Address = list[tuple[str, str]]


def explorer(nexus: kiprdf.Nexus) -> Explorer:
    return Explorer(nexus, nexus.store, "kb", Actor())


def page(nexus: kiprdf.Nexus, address: Address) -> str:
    return table.table(explorer(nexus), table.Asked.of(address))


def ids(nexus: kiprdf.Nexus, address: Address) -> list[str]:
    """The rows of a download, in their order."""
    rows = csv.reader(
        io.StringIO(
            table.download(explorer(nexus), table.Asked.of(address), "csv").content.decode(),
            newline="",
        )
    )
    return [row[0] for row in rows][1:]


def command(text: str) -> str:
    (shown,) = re.findall("<pre>(FIND.*?)</pre>", text, re.DOTALL)
    return html.unescape(shown)


def number(text: str) -> int:
    (shown,) = re.findall(r"<h1>.*?<small>([\d,]+)", text)
    return int(shown.replace(",", ""))


def random_address(chance: random.Random) -> Address:
    columns = ("name", "a", "b", "c", "metadata.source", "metadata.missing", "attributes.name")
    address = [("type", "Part")]
    for _ in range(chance.randrange(3)):
        value = chance.choice([one for one in VALUES if isinstance(one, str | int | float)])
        text = table.value_text(value) if chance.random() < 0.8 else str(value)
        one = chance.choice(columns), chance.choice([*table.OPERATORS]), text
        address.append(("filter", ":".join(one)))
    if chance.random() < 0.7:
        address += [("sort", chance.choice(columns)), ("order", chance.choice(("asc", "desc")))]
    if chance.random() < 0.3:
        address.append(("q", chance.choice(("LISB", "3", ".*", "(old)", "<", "名"))))
    if chance.random() < 0.5:
        address += [("show", one) for one in chance.sample(columns[1:], 3)]
    return address


def test_each_table_is_the_kql_that_it_shows() -> None:
    chance = random.Random(SEED)
    with kiprdf.Nexus.memory(BASE) as nexus:
        nexus.execute(DEFINED)
        for at in range(70):
            keys = chance.sample(("a", "b", "c", "name"), chance.randrange(5))
            values = {key: chance.choice(VALUES) for key in keys}
            about = {"source": chance.choice(("x", "=x", "3"))} if chance.random() < 0.5 else {}
            name = f"{chance.choice(('Lisbon', 'part', *HOSTILE))} {at}"
            nexus.execute(PART, name=name, values=values, about=about)
        for _ in range(TABLES):
            address = random_address(chance)
            text = page(nexus, address)
            answered = [row[0]["id"] for row in nexus.find(command(text)).tuples()]
            assert ids(nexus, address) == answered, address
            assert number(text) == len(answered), address
            assert text.count("<tr>") == min(len(answered), table.SIZE) + bool(answered), address
            choices = re.findall(
                r'<a href="[^"]*[?]([^"]*)"(?: class="null")?><bdi>[^<]*</bdi> <small>([\d,]+)',
                text,
            )
            for query, expected in choices:
                assert len(ids(nexus, parse_qsl(html.unescape(query)))) == int(expected), address


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A nexus with 120 parts, three with hostile names and one that is retracted."""
    folder = tmp_path_factory.mktemp("table") / "kb"
    with kiprdf.Nexus.open(folder, BASE) as nexus:
        nexus.execute(DEFINED)
        blocks = [
            f'CONCEPT {{ {{type: "Part", name: "Part {at:03}"}} SET ATTRIBUTES {{size: {at}, '
            f'kind: "{("nut", "bolt")[at % 2]}", code: "{at:03}", tags: ["a{at % 3}", "all"]}} }}'
            for at in range(120)
        ]
        nexus.execute("UPSERT { " + " ".join(blocks) + " }")
        for name in HOSTILE[:3]:
            values = {"note": name, "size": -5, "list": [name, 1], "text": "long " * 40}
            nexus.execute(PART, name=name, values=values, about={})
        nexus.execute(PART, name="Part 000", values={}, about={"status": "retracted"})
        nexus.execute(FITS, one="Part 001", other="Part 002", values={"torque": 12.5})
    with serving(folder) as running:
        yield running


def get(server: RunningServer, query: Address, status: int = 200) -> str:
    """A page, whose addresses are all of the server."""
    answer = server.client.get("/explore/table", params=query, headers={"Accept": "text/html"})
    assert answer.status_code == status, answer.text
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"', answer.text)
    assert [one for one in addresses if not re.match("/[^/]|data:,$|#content$", one)] == []
    return answer.text


def names(text: str) -> list[str]:
    """The rows of a page."""
    return [
        html.unescape(one)
        for one in re.findall(r'<tr><th scope="row">(?:<s>)?<a [^>]*><bdi>(.*?)</bdi>', text)
    ]


def link(text: str, label: str) -> Address:
    """The query of a link."""
    (address,) = re.findall(rf'<a href="[^"?]*[?]([^"]*)"[^>]*>{label}', text)
    return parse_qsl(html.unescape(address))


TYPE = [("type", "Part")]


def test_pages_have_all_rows_and_true_numbers(server: RunningServer) -> None:
    text, seen = get(server, [*TYPE, ("sort", "size"), ("order", "desc")]), list[str]()
    assert number(text) == 123
    for shown in ("1–50 of 123", "51–100 of 123", "101–123 of 123"):
        assert shown in text
        seen += names(text)
        if not shown.startswith("101"):
            text = get(server, link(text, "Next"))
    assert seen[:2] == ["Part 119", "Part 118"]
    assert seen[-4] == "Part 000"
    assert len(set(seen)) == 123
    assert names(get(server, [*TYPE, ("first", "9999")])) == names(
        get(server, [*TYPE, ("first", "100")])
    )


def test_a_heading_sorts_and_turns_the_order(server: RunningServer) -> None:
    text = get(server, TYPE)
    assert re.findall('<th scope="col" aria-sort="ascending"[^>]*>.*?>(.*?) ', text) == ["name"]
    text = get(server, link(text, "size"))
    assert names(text)[3] == "Part 000"
    text = get(server, link(text, "size"))
    assert names(text)[0] == "Part 119"
    assert 'aria-sort="descending"' in text


def test_a_form_adds_a_filter_to_the_address(server: RunningServer) -> None:
    def filtered(*given: tuple[str, str]) -> str:
        answer = server.client.get("/explore/table", params=[*TYPE, *given])
        assert answer.status_code == 303, answer.text
        return html.unescape(server.client.get(answer.headers["location"]).text)

    text = filtered(
        ("column", "size"), ("operator", "ge"), ("value", "110"), ("filter", "kind:is:nut")
    )
    assert "?x.attributes.size >= 110" in text
    assert names(text) == [f"Part {at}" for at in (110, 112, 114, 116, 118)]
    # A text of digits is a text where the column has texts.
    text = filtered(("column", "code"), ("operator", "is"), ("value", "007"))
    assert names(text) == ["Part 007"]
    text = filtered(("column", "code"), ("operator", "is"), ("value", "119"))
    assert '?x.attributes.code == "119"' in text
    assert names(text) == ["Part 119"]
    text = filtered(("column", "code"), ("operator", "is"), ("value", ""), ("filter", "code:is:"))
    assert re.findall("<span>code is <b[^>]*>(.*?)</b>", text) == ['""']
    text = filtered(("column", "kind"), ("operator", "none"), ("value", "ignored"))
    assert names(text) == sorted(HOSTILE[:3])
    assert names(get(server, link(text, "✕"))) == names(get(server, TYPE))


def test_values_are_counted_under_the_other_filters(server: RunningServer) -> None:
    text = get(server, [*TYPE, ("filter", "kind:is:bolt"), ("filter", "size:le:5")])
    counted = re.findall(r"<bdi>(\w+)</bdi> <small>(\d+)</small></a>", text)
    assert sorted(counted) == [
        ("a0", "1"),
        ("a1", "1"),
        ("a2", "1"),
        ("all", "3"),
        ("bolt", "3"),
        ("none", "3"),
        ("nut", "3"),
    ]
    assert names(get(server, link(text, "<bdi>nut"))) == ["Part 000", "Part 002", "Part 004"]
    text = get(server, [*TYPE, ("q", "PART 01"), ("show", "tags")])
    assert number(text) == 10
    assert re.findall(r"<bdi>(\w+)</bdi> <small>(\d+)</small></a>", text)[:2] == [
        ("all", "10"),
        ("a1", "4"),
    ]


def test_what_is_hostile_is_text(server: RunningServer) -> None:
    text = get(server, [*TYPE, ("filter", "note:some:"), ("show", "note"), ("show", "list")])
    assert names(text) == sorted(HOSTILE[:3])
    assert "<script>alert" not in text
    assert "<img" not in text
    for field in ("filter", "sort", "show"):
        for value in (
            "<script>alert(1)</script>",
            "a) } UNION { ?x {}",
            "metadata.a.b:is:1",
            "note:<b>:1",
        ):
            assert "<script>alert" not in get(server, [*TYPE, (field, value)], 400)
    quoted = '") || true || REGEX(?x.name, "'
    assert number(get(server, [*TYPE, ("filter", f"note:is:{quoted}")])) == 0
    assert number(get(server, [*TYPE, ("q", quoted)])) == 0
    assert "KIP_" in get(server, [("type", '<script>alert(1)</script>"})')], 400)
    get(server, [*TYPE, ("format", "exe")], 400)


def test_a_csv_has_all_rows_and_no_formulas(server: RunningServer) -> None:
    query = [*TYPE, ("filter", "size:le:0"), ("format", "csv")]
    answer = server.client.get("/explore/table", params=query)
    assert answer.headers["content-type"].startswith("text/csv; charset=utf-8")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''Part.csv"
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(answer.text, newline=""))}
    assert len(rows) == 4
    row = rows["C:Part/=1+1"]
    assert (row["name"], row["note"], row["size"], row["list"]) == (
        "'=1+1",
        "'=1+1",
        "-5",
        '["=1+1", 1]',
    )
    assert rows["C:Part/Part 000"]["metadata.status"] == "retracted"
    assert answer.content.count(b"\r\n") == 5
    shown = server.client.get(
        "/explore/table", params=[*TYPE, ("show", "size"), ("format", "excel")]
    )
    assert shown.content.startswith(b"\xef\xbb\xbfid,name,size\r\n")
    assert shown.content.count(b"\r\n") == 124


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@A1", "\t=1", "\r=1", "\n=1", "＝1"])
def test_a_text_that_begins_as_a_formula_is_inert(text: str) -> None:
    written = csv_bytes([text], [[text, -1, [text]]]).decode()
    assert list(csv.reader(io.StringIO(written, newline=""))) == [
        ["'" + text],
        ["'" + text, "-1", json.dumps([text], ensure_ascii=False)],
    ]


def test_each_column_has_its_own_heading() -> None:
    values = {"id": 7, "name": "own", "object_id": "o", "source": "s"}
    with kiprdf.Nexus.memory(BASE) as nexus:
        nexus.execute(DEFINED)
        nexus.execute(PART, name="one", values=values, about={"source": "ada"})
        text = page(nexus, [*TYPE, ("show", "source"), ("show", "metadata.source")])
        assert re.findall('<th scope="col".*?<a [^>]*>([^<]*?) ?<', text) == [
            *("name", "source", "source (metadata)")
        ]
        for shown, heading in (
            ((), "attributes.id,attributes.name,attributes.object_id,source,metadata.status"),
            (("name", "id", "attributes.id", "attributes.source"), "attributes.id,source"),
        ):
            asked = table.Asked.of([*TYPE, *(("show", one) for one in shown)])
            written = table.download(explorer(nexus), asked, "csv").content.decode()
            assert written.startswith(f"id,name,{heading}"), written
            assert written.splitlines()[1].startswith("C:Part/one,one,7,")


def test_a_search_finds_numbers(server: RunningServer) -> None:
    text = get(server, [*TYPE, ("q", "-5"), ("show", "size")])
    assert names(text) == sorted(HOSTILE[:3])
    assert "?x.attributes.size == -5" in text
    for number in ("9" * 20, "9" * 5000):
        assert names(get(server, [*TYPE, ("q", number), ("filter", f"size:not:{number}")])) == []


def test_json_is_what_the_query_answers(server: RunningServer) -> None:
    text = get(server, [*TYPE, ("filter", "kind:is:bolt"), ("sort", "size"), ("order", "desc")])
    (address,) = re.findall('<a href="([^"]*)">JSON', text)
    elements = server.client.get(html.unescape(address)).json()
    answered = server.kip(command(text)).json()["result"][0]
    assert elements == answered
    assert [one["name"] for one in elements][:2] == ["Part 119", "Part 117"]


def test_long_texts_are_cut_and_what_is_not_believed_is_struck_through(
    server: RunningServer,
) -> None:
    text = get(server, [*TYPE, ("filter", "text:some:"), ("show", "text")])
    assert f'title="{"long " * 40}"' in text
    text = get(server, [*TYPE, ("q", "Part 000")])
    assert re.search("<s><a [^>]*><bdi>Part 000</bdi></a></s> <small>not believed: retracted", text)


def test_a_predicate_is_a_table_of_facts(server: RunningServer) -> None:
    text = get(server, [("predicate", "fits"), ("filter", "subject:is:Part 001")])
    assert "1 of 1 fact<" in text
    assert re.findall("<bdi>(Part 00.)</bdi></a></th>", text) == ["Part 001", "Part 002"]
    assert '<td dir="auto" class="figure">12.5</td>' in text
    (fact,) = server.client.get("/explore/table?predicate=fits&format=json").json()
    assert (fact["subject"], fact["attributes"]) == ("C:Part/Part 001", {"torque": 12.5})
    written = server.client.get("/explore/table?predicate=fits&show=torque&format=csv").text
    header = "id,subject_id,object_id,subject,object,torque"
    assert written.splitlines() == [
        header, f"{fact['id']},C:Part/Part 001,C:Part/Part 002,Part 001,Part 002,12.5"
    ]  # fmt: skip


def test_a_table_is_as_of_a_commit(server: RunningServer) -> None:
    text = get(server, [*TYPE, ("as_of", "3"), ("filter", "size:ge:100")])
    assert "20 of 120 members" in text
    assert dict(link(text, "size"))["as_of"] == "3"
    assert 'name="as_of" value="3"' in text
    assert text.count('name="filter" value="size:ge:100"') == 3


def test_a_table_has_as_many_columns_as_a_find(server: RunningServer) -> None:
    most = [*TYPE, *(("show", f"a{number}") for number in range(60))]
    command = re.search(r"FIND\(.*", html.unescape(get(server, [*most, ("q", "a")])))
    assert command is not None
    assert "error" not in server.kip(f'{command[0]} WHERE {{ ?x {{type: "Part"}} }}').json()
    answer = server.client.get("/explore/table", params=[*most, ("show", "more")])
    assert answer.status_code == 400
    assert "A table has at most 60 columns, and not 61." in answer.text


def test_definitions_lead_to_their_tables(server: RunningServer) -> None:
    for address in ("/page/$ConceptType/Part", "/explore/", "/explore/schema"):
        assert 'href="/explore/table?type=Part"' in server.client.get(address).text, address
    assert (
        'href="/explore/table?predicate=fits"'
        in server.client.get("/page/$PropositionType/fits").text
    )


def test_addresses_begin_at_the_root_of_a_scope() -> None:
    with kiprdf.Nexus.memory(BASE) as nexus:
        nexus.execute(DEFINED)
        nexus.execute(PART, name="one", values={"size": 1}, about={})
        text = table.table(replace(explorer(nexus), root="/scopes/ada"), table.Asked.of(TYPE))
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"', text)
    assert [one for one in addresses if not one.startswith(("/scopes/ada/", "data:,", "#"))] == []


def test_a_fact_that_follows_is_a_row_with_its_own_ends() -> None:
    with kiprdf.Nexus.memory(BASE, entail=True) as nexus:
        nexus.execute(DEFINED)
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$PropositionType", name: "fits"} SET ATTRIBUTES '
            "{is_symmetric: true} } }"
        )
        for name in ("one", "two"):
            nexus.execute(PART, name=name, values={}, about={})
        nexus.execute(FITS, one="one", other="two", values={"torque": 5})
        text = page(nexus, [("predicate", "fits")])
        assert ids(nexus, [("predicate", "fits")]) == 2 * [nexus.find(command(text))[0]["?x"]["id"]]
    cells = re.findall("<bdi>(one|two)</bdi></a></th>", text)
    assert cells == ["one", "two", "two", "one"]


def test_values_are_counted_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    with kiprdf.Nexus.memory(BASE) as nexus:
        nexus.execute(DEFINED)
        for name in ("one", "two", "three"):
            nexus.execute(PART, name=name, values={"kind": name[0]}, about={})
        note = "Values are counted in up to"
        text = page(nexus, TYPE)
        assert ("<bdi>t</bdi> <small>2</small>" in text, note in text) == (True, False)
        monkeypatch.setattr(table, "MOST_COUNTED", 2)
        text = page(nexus, TYPE)
        assert ("<bdi>t</bdi> <small>2</small>" in text, note in text) == (False, True)
