"""The pane for queries: addresses, views, downloads and charts (docs/decisions/227)."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

import kiprdf
from kiprdf.serve.explorer import chart
from tests.serve.browser import browser, needs_browser
from tests.serve.running import RunningServer, serving

PANE = "/explore/kql"
HOSTILE = "</title><script>alert(1)</script>\"'"
FORMULA = '=HYPERLINK("http://x","y")'
NAMES = 'FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(STARTS_WITH(?p.name, "p")) }'
TEAMS = 'FIND(?t, COUNT(?p)) WHERE { (?p, "in_team", ?t) } ORDER BY COUNT(?p) DESC'
DAYS = 'FIND(?e.attributes.day, ?e.attributes.size) WHERE { ?e {type: "Event"} }'
TYPED = {"@value": "2026-01-01", "@type": "http://www.w3.org/2001/XMLSchema#date"}
SIZES = {"2026-03-01": -2, "2026-01-01T10:00:00Z": 6, "2026-02": 3, "2026-01-15": None}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """250 persons in 40 teams, and events with dates; some names are hostile."""
    folder = tmp_path_factory.mktemp("queries") / "kb"
    names = [HOSTILE, FORMULA, *(f"team {n:02}" for n in range(2, 40))]
    teams = [{"type": "Team", "name": name} for name in names]
    people = [{"type": "Person", "name": f"p{n:03}"} for n in range(250)]
    facts = [
        {"subject": one, "predicate": "in_team", "object": teams[(n * n) % 1600 // 40]}
        for n, one in enumerate(people)
    ]
    events = [
        {"type": "Event", "name": day, "attributes": {"day": day, "size": size}}
        for day, size in SIZES.items()
    ]
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "Team"} } '
            'CONCEPT { {type: "$PropositionType", name: "in_team"} } }'
        )
        nexus.transaction(lambda tx: tx.write([*teams, *people, *facts, *events]))
    with serving(folder) as running:
        yield running


def asked(server: RunningServer, command: str, **fields: Any) -> httpx.Response:
    return server.client.get(PANE, params={"command": command, **fields})


def page(server: RunningServer, command: str, **fields: Any) -> str:
    answer = asked(server, command, **fields)
    assert answer.status_code == 200, answer.text
    return answer.text


def links(text: str) -> dict[str, str]:
    """The links of a page by their texts."""
    matched = re.findall(r'<a href="([^"]*)"[^>]*>([^<]+)</a>', text)
    return {label: html.unescape(href) for href, label in matched}


def until(condition: Callable[[], Any]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "Nothing happened."
        time.sleep(0.1)


def rows(server: RunningServer, command: str, **fields: Any) -> list[list[str]]:
    answer = asked(server, command, format="csv", **fields)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    assert answer.headers["content-disposition"] == 'attachment; filename="answer.csv"'
    return list(csv.reader(io.StringIO(answer.content.decode(), newline="")))


# Addresses --------------------------------------------------------------------------------------


def test_an_answer_has_an_address_and_links_to_its_views(server: RunningServer) -> None:
    text = page(server, TEAMS)
    assert '<form method="get" class="query"' in text
    shown = links(text)
    assert [one for one in shown if one in ("Table", "JSON", "Chart", "Graph", "SPARQL")] == [
        *("Table", "JSON", "Chart", "Graph", "SPARQL")
    ]
    assert shown["Table"] == f"{PANE}?" + urlencode({"command": TEAMS})
    assert shown["JSON"] == f"{PANE}?" + urlencode({"command": TEAMS, "show": "json"})
    assert shown["Graph"] == "/explore/graph?" + urlencode({"command": TEAMS})
    assert "Graph" not in links(page(server, NAMES))
    graph = asked(server, TEAMS, show="graph")
    assert (graph.status_code, graph.headers["location"]) == (303, shown["Graph"])
    current = re.findall('aria-current="page">([^<]*)<', page(server, TEAMS, show="chart"))
    assert current == ["Chart"]
    assert asked(server, TEAMS, show="pie").status_code == 400


def test_rows_are_shown_in_pages_with_true_numbers(server: RunningServer) -> None:
    text = page(server, NAMES)
    assert "250 rows" in text
    assert "1–100 of 250" in text
    seen = []
    following: str | None = f"{PANE}?{urlencode({'command': NAMES})}"
    while following:
        text = server.client.get(following).text
        seen += re.findall('<td><span class="text" dir="auto">(p[0-9]+)</span>', text)
        why = [html.unescape(one) for one in re.findall('href="([^"]*)">why', text)]
        assert parse_qs(urlsplit(why[-1]).query)["row"] == [str(len(seen) - 1)]
        following = links(text).get("Next →")
    assert len(seen) == len(set(seen)) == 250
    assert "201–250 of 250" in text
    assert "← Previous" in text
    for show in ("table", "json"):
        assert "201–250 of 250" in page(server, NAMES, first=9999, show=show)
    assert seen[249] in server.client.get(why[-1]).text


@pytest.mark.parametrize(
    "command",
    [
        "FIND(?p) WHERE { ?p {} }",
        "FIND(?l) WHERE { ?l (?a, ?p, ?b) }",
        "FIND(?a, ?p) WHERE { (?a, ?p, ?b) }",
        'FIND(?t, ?p, ?p) WHERE { ?t {} OPTIONAL { (?p, "in_team", ?t) } } ORDER BY ?p.name',
        'FIND(?p.name, ?p.attributes.x) WHERE { ?p {type: "Person"} } // all of them',
        "// Believed now\nFIND(?p) WHERE { ?p {} }",
    ],
)
def test_the_number_is_that_of_all_rows(server: RunningServer, command: str) -> None:
    number = len(rows(server, command)) - 1
    assert number > 200
    text = page(server, command)
    assert f"<small>{number} rows</small>" in text
    assert f"1–100 of {number}" in text
    assert f"201–{min(300, number)} of {number}" in page(server, command, first=200)


def test_what_a_limit_leaves_is_the_next_link(server: RunningServer) -> None:
    command, seen = f"{NAMES} LIMIT 100 // and on", []
    while command:
        text = page(server, command)
        seen += re.findall('<td><span class="text" dir="auto">(p[0-9]+)</span>', text)
        following = links(text).get("more follow")
        answer = asked(server, command, format="csv")
        assert ("link" in answer.headers) == (following is not None)
        if following is not None:
            assert f"<{following}&format=csv>" in answer.headers["link"]
        command = parse_qs(urlsplit(following or "").query).get("command", [""])[0]
    assert len(seen) == len(set(seen)) == 250


def test_what_the_limit_of_a_description_leaves_is_the_next_link(server: RunningServer) -> None:
    text = page(server, "DESCRIBE CONCEPT TYPES LIMIT 2")
    following = server.client.get(links(text)["more follow"]).text
    assert "CURSOR" in following
    assert "<h2>Answer" in following


def test_a_command_that_is_too_long_for_an_address_is_sent_in_a_body(
    server: RunningServer,
) -> None:
    command = f"// {'阿' * 70_000}\n{TEAMS}"
    answer = server.client.post(PANE, data={"command": command})
    assert answer.status_code == 200
    assert '<form method="post" class="query" id="question"' in answer.text
    assert len(answer.text) < 200_000
    buttons = {
        text: html.unescape(action)
        for action, text in re.findall('formaction="([^"]*)"[^>]*>([^<]*)</button>', answer.text)
    }
    assert [*buttons][:2] == ["Table", "JSON"]
    assert buttons["answer.csv"] == f"{PANE}?format=csv"
    shown = server.client.post(buttons["JSON"], data={"command": command})
    assert "&#34;result&#34;" in shown.text
    downloaded = server.client.post(buttons["answer.csv"], data={"command": command})
    assert downloaded.text.startswith("?t,COUNT(?p)\r\n")
    why = server.client.post(buttons["why"], data={"command": command})
    assert "Derivation 1" in why.text


def test_what_a_long_command_leads_to_is_sent_in_a_body(server: RunningServer) -> None:
    def sent(command: str, button: str) -> str:
        text = server.client.post(PANE, data={"command": command}).text
        assert not [one for one in re.findall('href="([^"]*)"', text) if len(one) > 6_000]
        return server.client.post(PANE, data=form_of(text, button)).text

    long = f"// {'阿' * 70_000}\n"
    assert "250 rows" in sent(long + NAMES.replace('"Person"', '"Persn"'), ">Run it<")
    text = sent(f"{long}{NAMES} LIMIT 100", ">More follow<")
    shown = rows(server, NAMES)[101:201]
    assert re.findall('<span class="text" dir="auto">(p[0-9]+)<', text) == [one for (one,) in shown]


# Downloads --------------------------------------------------------------------------------------


def test_a_download_has_all_rows(server: RunningServer) -> None:
    assert rows(server, NAMES)[0] == ["?p.name"]
    assert sorted(one for (one,) in rows(server, NAMES)[1:]) == [f"p{n:03}" for n in range(250)]
    answer = asked(server, NAMES, format="json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-disposition"] == 'attachment; filename="answer.json"'
    assert answer.json() == server.kip(NAMES).json()
    assert dict(rows(server, DAYS)[1:]) == {
        k: "" if v is None else str(v) for k, v in SIZES.items()
    }


def test_a_text_is_no_formula(server: RunningServer) -> None:
    command = 'FIND(?t.name, ?t) WHERE { ?t {type: "Team"} FILTER(STARTS_WITH(?t.name, :x)) }'
    command = command.replace(":x", '"="')
    assert rows(server, command) == [["?t.name", "?t"], [f"'{FORMULA}", f"C:Team/{FORMULA}"]]
    assert asked(server, command, format="json").json()["result"][0] == [FORMULA]


@pytest.mark.parametrize(
    ("command", "format", "message"),
    [
        ("DESCRIBE DOMAINS", "csv", "This call takes FIND only."),
        (NAMES, "xml", "The format is csv or json."),
        ("FIND(", "json", "1:6"),
    ],
)
def test_what_cannot_be_downloaded_is_an_error(
    server: RunningServer, command: str, format: str, message: str
) -> None:
    answer = asked(server, command, format=format)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "KIP_1001")
    assert message in answer.text
    assert asked(server, "DESCRIBE DOMAINS", format="json").json()["result"]


def test_a_download_of_the_past_is_of_the_past(server: RunningServer) -> None:
    command = 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name'
    assert rows(server, command, as_of="1") == [["?p.name"], ["$self"], ["$system"]]


# Charts -----------------------------------------------------------------------------------------


def test_a_count_by_group_is_drawn_as_bars(server: RunningServer) -> None:
    text = page(server, TEAMS, show="chart")
    assert "COUNT(?p) by ?t" in text
    bars = re.findall("<g><title>(.*?): ([0-9,]+)</title>", text)
    assert len(bars) == 30
    counts = [int(number) for _, number in bars]
    assert counts == sorted(counts, reverse=True)
    assert re.search("1–30 of [0-9]+<", text)
    assert '<rect x="0.00%" y="21" width="100.00%"' in text
    assert "<th scope" in text
    assert "<script>alert" not in text
    assert "style=" not in text


def test_a_hostile_label_is_text(server: RunningServer) -> None:
    command = 'FIND(?t.name, COUNT(?t)) WHERE { ?t {type: "Team"} } ORDER BY ?t.name'
    text = page(server, command, show="chart", first=30) + page(server, command, show="chart")
    assert "<script>alert" not in text
    assert (
        f"<title>{html.escape(HOSTILE)}: 1</title>".replace("&quot;", "&#34;").replace(
            "&#x27;", "&#39;"
        )
        in text
    )


def test_dates_are_drawn_as_a_line(server: RunningServer) -> None:
    text = page(server, DAYS, show="chart")
    (path,) = re.findall('<polyline points="([^"]*)"', text)
    assert path == "0.00,0.00 52.20,37.50 100.00,100.00"
    assert "1 without a value are not drawn." in text
    assert "<title>2026-01-01 10:00: 6</title>" in text


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (NAMES, "A chart needs a column of numbers beside one of names or dates"),
        ('FIND(?p.name) WHERE { ?p {type: "Person", name: "x"} }', "KIP_3002"),
        ('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }', "A chart needs a column of numbers"),
        ('FIND(?e.name) WHERE { ?e {type: "Task"} }', "without rows has no chart"),
    ],
)
def test_what_has_no_chart_says_why(server: RunningServer, command: str, why: str) -> None:
    text = page(server, command, show="chart")
    assert why in text or "KIP_2001" in text
    assert '<figure class="chart">' not in text


@pytest.mark.parametrize(
    ("columns", "values", "chosen"),
    [
        (["?x.attributes.year", "COUNT(?x)"], [[1999, 3], [2000, 4]], ("bars", 0, 1)),
        (["COUNT(?x)", "?x.name"], [[1, "a"], [1e308, "b"], [-1e308, None]], ("bars", 1, 0)),
        (["?d", "?n", "AVG(?n)"], [["2026-01-01", 1, 2.5], ["2026-01-02", 1, 3]], ("line", 0, 2)),
        (["?d", "?n"], [["2026-01-01", 1], ["2026-02-30", 1]], ("bars", 0, 1)),
        (["?d", "?n"], [["2026-01-01", 2**63]], ("bars", 0, 1)),
        (["?d", "?n"], [["2026-01-01T10:00:00Z", 1], ["2026-01-01T10:00:00Z", 2]], ("line", 0, 1)),
        (["?t", "?n"], [[{"_type": "ConceptNode", "id": "C:a/b"}, True]], None),
        (["?d", "?n"], [[TYPED, 1], ["2026-01-02", 2]], ("line", 0, 1)),
        (["?n"], [[1], [2]], None),
        (["?a", "?b"], [[None, None]], None),
    ],
)
def test_the_kind_of_a_chart(
    columns: list[str], values: list[list[Any]], chosen: tuple[str, int, int] | None
) -> None:
    matched = chart.chosen(columns, values)
    assert isinstance(matched, str) if chosen is None else matched == chosen
    if not isinstance(matched, str):
        drawn = chart.chart(columns, values, slice(0, 30), *matched)
        assert "@value" not in json.dumps(drawn, allow_nan=False)


# Views ------------------------------------------------------------------------------------------


def test_the_json_is_the_response_of_kip(server: RunningServer) -> None:
    def shown(command: str, **fields: Any) -> Any:
        text = page(server, command, show="json", **fields)
        (matched,) = re.findall('<pre tabindex="0">(.*?)</pre>', text, re.DOTALL)
        return json.loads(html.unescape(matched))

    for command in (TEAMS, "DESCRIBE DOMAINS", 'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }'):
        assert shown(command) == server.kip(command).json()
    whole = server.kip(NAMES).json()["result"]
    assert shown(NAMES)["result"] == whole[:100]
    assert shown(NAMES, first=200)["result"] == whole[200:]
    assert "<pre tabindex" in page(server, TEAMS, show="sparql")


def test_a_long_value_is_cut_and_says_so(server: RunningServer) -> None:
    server.kip(
        'UPSERT { CONCEPT { {type: "Event", name: "long"} SET ATTRIBUTES { t: :t } } }',
        parameters={"t": "x" * 300_000},
    )
    command = 'FIND(?e.attributes.t) WHERE { ?e {type: "Event", name: "long"} }'
    text = page(server, command)
    assert len(text) < 210_000
    assert "100,000 more characters are in the downloads" in text
    assert "more characters are in the download." in page(server, command, show="json")
    assert asked(server, command, format="json").json()["result"] == ["x" * 300_000]


def test_a_write_is_refused_with_where_to_write(server: RunningServer) -> None:
    text = page(server, 'UPSERT { CONCEPT { {type: "Team", name: "No"} } }')
    assert "execute_kip_readonly runs no command that writes." in text
    assert "<code>POST /kip</code>" in text
    assert server.kip('FIND(COUNT(?t)) WHERE { ?t {name: "No"} }').json()["result"] == 0
    assert "POST /kip" not in page(server, "FIND(?x")


# In a browser -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def window() -> Iterator[Any]:
    with browser() as driver:
        yield driver


def emptied(window: Any, server: RunningServer) -> Any:
    """The field of the pane, empty, once the vocabulary is there."""
    from selenium.webdriver.common.keys import Keys

    window.get(f"{server.address}explore/kql")
    area = window.find_element("css selector", "textarea")
    window.execute_script("arguments[0].value = ''", area)
    area.send_keys("F")
    until(lambda: offered(window))
    area.send_keys(Keys.ESCAPE, Keys.BACKSPACE)
    return area


def typed(window: Any, area: Any, text: str, expected: list[str]) -> None:
    """Type a text, and wait until just this is offered."""
    area.send_keys(text)
    until(lambda: offered(window) == expected)


def offered(window: Any) -> list[str]:
    items = window.find_elements("css selector", "[role=listbox] [role=option]")
    return [one.text for one in items if one.is_displayed()]


@needs_browser
def test_words_are_completed_by_their_place(server: RunningServer, window: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    area = emptied(window, server)
    typed(window, area, "fi", ["FIND"])
    assert area.get_attribute("role") == "combobox"
    assert area.get_attribute("aria-expanded") == "true"
    active = window.find_element("id", area.get_attribute("aria-activedescendant"))
    assert (active.text, active.get_attribute("aria-selected")) == ("FIND", "true")
    typed(window, area, Keys.ENTER, [])
    assert area.get_attribute("role") is None
    fields = ["attributes.", "id", "metadata.", "name", "object", "predicate", "subject", "type"]
    typed(window, area, "(?t.", [f"?t.{one}" for one in fields])
    area.send_keys(Keys.ESCAPE)
    assert offered(window) == []
    typed(window, area, "na" + Keys.TAB + ", ?t.attributes.da", ["?t.attributes.day"])
    typed(window, area, Keys.TAB + ") WHERE {\n?t {ty", ["type:"])
    typed(window, area, Keys.TAB + '"Tea', ["Team"])
    typed(window, area, Keys.TAB + "}\n(?", ["?t"])
    window.find_element("css selector", "[role=option]").click()
    typed(window, area, ', "in', ["in_team", "interested_in", "involves"])
    area.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
    typed(window, area, ", {})\n} ord", ["ORDER"])
    typed(window, area, Keys.TAB + " // fi", [])
    assert area.get_attribute("value") == (
        'FIND(?t.name, ?t.attributes.day) WHERE {\n?t {type: "Team"}\n(?t, "involves", {})\n'
        "} ORDER // fi"
    )
    area.send_keys(Keys.CONTROL, "z")
    assert area.get_attribute("value") != ""
    window.execute_script("arguments[0].value = ''", area)
    area.send_keys(Keys.CONTROL, " ")
    until(lambda: offered(window) == ["DESCRIBE", "EXPORT", "FIND", "SEARCH"])
    assert window.get_log("browser") == []


@needs_browser
def test_a_long_command_is_posted_and_a_short_one_has_an_address(
    server: RunningServer, window: Any
) -> None:
    from selenium.webdriver.common.keys import Keys

    area = emptied(window, server)
    area.send_keys("DESCRIBE DOMAINS", Keys.ESCAPE, Keys.CONTROL, Keys.ENTER)
    until(lambda: window.current_url.endswith("/explore/kql?command=DESCRIBE+DOMAINS"))
    area = window.find_element("css selector", "textarea")
    long = f"DESCRIBE DOMAINS // {'x' * 7000}"
    window.execute_script("arguments[0].value = arguments[1]", area, long)
    window.find_element("css selector", ".query button").click()
    until(lambda: window.current_url.endswith("/explore/kql"))
    assert "CoreSchema" in window.find_element("tag name", "main").text
    window.find_element("css selector", ".tabs button").click()
    until(lambda: window.current_url.endswith("/explore/kql?"))
    assert "CoreSchema" in window.find_element("tag name", "main").text


@needs_browser
def test_questions_stay_in_the_browser_until_they_are_cleared(
    server: RunningServer, window: Any
) -> None:
    window.get(f"{server.address}explore/kql")
    window.execute_script("localStorage.clear()")
    hostile = f"DESCRIBE DOMAINS // {HOSTILE}"
    for command in (NAMES, "FIND(", hostile, NAMES):
        window.get(f"{server.address}explore/kql?" + urlencode({"command": command}))
    window.get(f"{server.address}explore/kql")
    window.find_element("css selector", "#asked summary").click()
    asked_ = window.find_elements("css selector", "#asked a")
    assert [one.text for one in asked_] == [NAMES, hostile]
    asked_[1].click()
    until(lambda: "CoreSchema" in window.find_element("tag name", "main").text)
    assert window.find_element("css selector", "textarea").get_attribute("value") == hostile
    window.find_element("css selector", "#asked summary").click()
    window.find_element("css selector", "#asked button").click()
    assert not window.find_element("id", "asked").is_displayed()
    window.refresh()
    assert len(window.find_elements("css selector", "#asked a")) == 1
    assert window.get_log("browser") == []


# Saved questions --------------------------------------------------------------------------------


def form_of(text: str, button: str) -> dict[str, str]:
    """The hidden fields of the form that has a button."""
    (form,) = [one for one in re.findall("<form.*?</form>", text, re.DOTALL) if button in one]
    fields = re.findall('type="hidden" name="([^"]*)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in fields}


def test_a_question_is_saved_for_all_people_of_a_server(tmp_path: Path) -> None:
    file, command = tmp_path / "kb" / "questions.json", f"DESCRIBE DOMAINS // {HOSTILE}"
    kiprdf.Nexus.open(tmp_path / "kb").close()
    with serving(tmp_path / "kb") as server:
        fields = form_of(page(server, command), ">Save<")
        answer = server.client.post("/explore/questions", data={**fields, "name": HOSTILE})
        assert (answer.status_code, answer.headers["location"]) == (
            *(303, f"{PANE}?{urlencode({'command': command})}"),
        )
        for wrong, status in (({"name": HOSTILE}, 400), ({"name": " "}, 400), ({"key": "x"}, 403)):
            again = {**fields, "name": "other", **wrong}
            answer = server.client.post(
                "/explore/questions", data=again, headers={"Accept": "text/html"}
            )
            assert answer.status_code == status, wrong
            assert "<strong>" in answer.text
        assert len(json.loads(file.read_text())) == 1
    with serving(tmp_path / "kb") as server:
        text = server.client.get(PANE).text
        assert "<script>alert" not in text
        address = f"{PANE}?{urlencode({'command': command})}"
        assert f'<a href="{html.escape(address)}"' in text
        assert "local <time" in text
        assert server.client.get(PANE).headers["cache-control"] == "no-store"
        fields = form_of(text, ">Remove</button>")
        assert fields["name"] == HOSTILE
        server.client.post("/explore/questions", data={**fields, "remove": "1"})
        assert "Saved questions" not in server.client.get(PANE).text
    assert json.loads(file.read_text()) == []


def test_who_reads_sees_saved_questions_and_saves_none(tmp_path: Path) -> None:
    kiprdf.Nexus.open(tmp_path / "kb").close()
    question = {"name": "q", "command": "DESCRIBE DOMAINS", "by": "ada", "at": "2026-01-01T00:00Z"}
    (tmp_path / "kb" / "questions.json").write_text(json.dumps([question]))
    with serving(tmp_path / "kb", "--read-only") as server:
        text = page(server, "DESCRIBE DOMAINS")
        address = f"{PANE}?command=DESCRIBE+DOMAINS"
        assert f'<a href="{address}" title="DESCRIBE DOMAINS"><bdi>q</bdi></a>' in text
        assert ">Save<" not in text
        assert server.client.post("/explore/questions", data={"name": "n"}).status_code == 403


def test_saved_questions_are_backed_up_checked_and_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "kb" / "questions.json"
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Zed Quux"} } }')
        asked_ = {"by": "ada", "at": "2026-01-01T00:00:00.000Z"}
        his = 'FIND(?x) WHERE { ?x {name: "Zed\\u0020Quux"} }'
        commands = {"of Zed Quux": "FIND(?x)", "his": his}
        for name, command in {**commands, "other": "DESCRIBE DOMAINS"}.items():
            nexus._engine.writer.questions.save({"name": name, "command": command, **asked_})
        nexus.backup(tmp_path / "copy")
        assert (tmp_path / "copy" / "questions.json").read_bytes() == file.read_bytes()
        report = nexus.forget(["C:Person/Zed Quux"])
        assert report["questions"] == ["of Zed Quux", "his"]
        assert [one["name"] for one in json.loads(file.read_text())] == ["other"]
        assert nexus.check()["faults"] == []
        # A save that a kill ended.
        cut = file.with_name("questions.json.partial")
        cut.write_text("[Ann Onym")
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ann Onym"} } }')
        assert "questions" not in nexus.forget(["C:Person/Ann Onym"])
        assert not cut.exists()
        file.write_text('[{"name": 1}]')
        assert nexus.check()["faults"] == ["questions.json is damaged: remove it."]


@needs_browser
def test_a_person_saves_a_question_and_opens_it(server: RunningServer, window: Any) -> None:
    window.get(f"{server.address}explore/kql?" + urlencode({"command": TEAMS}))
    window.find_element("css selector", "#save [name=name]").send_keys("Teams by size\n")
    until(lambda: window.find_elements("css selector", "#saved"))
    window.get(f"{server.address}explore/kql")
    window.find_element("link text", "Teams by size").click()
    until(lambda: "rows" in window.find_element("tag name", "main").text)
    assert window.find_element("css selector", "textarea").get_attribute("value") == TEAMS
    window.find_element("css selector", "#saved summary").click()
    window.find_element("css selector", "#saved button").click()
    until(lambda: not window.find_elements("css selector", "#saved"))
    assert window.get_log("browser") == []
