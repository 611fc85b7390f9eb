"""The graph at the page of an element, on its own page, and in a browser."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import kiprdf
from tests.serve.browser import needs_browser, show_on, until
from tests.serve.running import RunningServer, serving

HUB, OWN = "/page/Org/Hub", "/explore/graph?element=C:Org/Hub"
HOSTILE = (
    '<script>alert(1)</script>"&',
    "x" * 500,
    "阿司匹林" * 9,
    "مرحبا بالعالم",
    "a/b?c=d&e#f%20g",
)
SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Person"} }
  CONCEPT { {type: "$ConceptType", name: "Org"} }
  CONCEPT { {type: "$ConceptType", name: "City"} }
  CONCEPT { {type: "$PropositionType", name: "works_for"} }
  CONCEPT { {type: "$PropositionType", name: "based_in"} }
  CONCEPT { {type: "$PropositionType", name: "said"} }
  CONCEPT ?city { {type: "City", name: "Rome"} }
  CONCEPT ?hub { {type: "Org", name: "Hub"} SET PROPOSITIONS { ("based_in", ?city) } }
  CONCEPT ?part { {type: "Org", name: "Part"} SET PROPOSITIONS { ("works_for", ?hub) } }
}
"""
WORKER = """
UPSERT { CONCEPT { {type: "Person", name: :name}
  SET PROPOSITIONS { ("works_for", {type: "Org", name: "Hub"}) } } }
"""
ABOUT = """
UPSERT { CONCEPT ?p { {type: "Person", name: "Worker 01"} }
  PROPOSITION ?f { (?p, "works_for", {type: "Org", name: "Hub"}) }
  PROPOSITION { ({type: "Person", name: "Worker 02"}, "said", ?f) } }
"""
RETRACTED = """
UPSERT { CONCEPT ?p { {type: "Person", name: "Worker 03"} }
  PROPOSITION { (?p, "works_for", {type: "Org", name: "Hub"}) } WITH METADATA {status: "retracted"}
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A hub of 31 facts: 25 workers, five with hostile names, and Part, Rome at the other side."""
    folder = tmp_path_factory.mktemp("graph") / "kb"
    with kiprdf.Nexus.open(folder, "http://kb.example/kb/") as nexus:
        nexus.execute(SCHEMA)
        for name in (*(f"Worker {number:02}" for number in range(1, 26)), *HOSTILE):
            nexus.execute(WORKER, name=name)
        nexus.execute(ABOUT)
        nexus.execute(RETRACTED)
        many = [f"likes_{number:02}" for number in range(1, 17)]
        kinds = " ".join(
            f'CONCEPT {{ {{type: "$PropositionType", name: "{one}"}} }}' for one in many
        )
        facts = " ".join(f'("{one}", {{type: "City", name: "Rome"}})' for one in many)
        nexus.execute(f"UPSERT {{ {kinds} }}")
        wide = f'{{type: "Org", name: "Wide"}} SET PROPOSITIONS {{ {facts} }}'
        nexus.execute(f"UPSERT {{ CONCEPT {{ {wide} }} }}")
    with serving(folder) as running:
        yield running


def graph(server: RunningServer, address: str) -> str:
    """The graph of a page, as it is without a script."""
    answer = server.client.get(address, headers={"Accept": "text/html"})
    assert answer.status_code == 200, answer.text
    (figure,) = re.findall('<figure class="graph".*?</figure>', answer.text, re.DOTALL)
    return html.unescape(figure)


def groups(figure: str) -> list[tuple[str, str]]:
    """The groups of a graph, as its list has them, with the numbers of their facts."""
    return re.findall(r'aria-expanded="\w+">(?!<svg|\n)(.*?) <small>(.*?)</small>', figure)


def address(figure: str, text: str) -> str:
    """Where a link in the list of a graph leads, without a script."""
    _, _, listed = figure.partition('<ul class="groups">')
    (href,) = re.findall(rf'<a href="([^"]*)#graph"[^>]*>{re.escape(text)}', listed)
    return str(href)


def names(figure: str) -> list[str]:
    """The neighbours in the picture of a graph, with their types and marks."""
    return re.findall(r'class="node[^"]*"><title>(.*?)</title>', figure, re.DOTALL)[:-1]


def test_neighbours_are_grouped_by_predicate_with_their_numbers(server: RunningServer) -> None:
    figure = graph(server, HUB)
    assert groups(figure) == [("based in …", "1 ▾"), ("… works for", "31 ▸")]
    assert names(figure) == ["Rome · City"]
    assert "32 facts" in figure


def test_a_group_is_opened_paged_and_closed_by_links(server: RunningServer) -> None:
    opened = graph(server, address(graph(server, HUB), "… works for"))
    assert groups(opened) == [("based in …", "1 ▾"), ("… works for", "31 ▾")]
    assert "1–14 of 31" in opened
    first = names(opened)
    assert len(first) == 15
    assert first[0] == "Rome · City"
    second = graph(server, address(opened, "›"))
    third = graph(server, address(second, "›"))
    assert "29–31 of 31" in third
    workers = [*first[1:], *names(second)[1:], *names(third)[1:]]
    assert len(workers) == len(set(workers)) == 31
    assert "Part · Org" in workers
    assert "Worker 25 · Person" in workers
    closed = graph(server, address(opened, "… works for"))
    assert names(closed) == ["Rome · City"]


def test_a_page_has_the_largest_groups_and_says_so(server: RunningServer) -> None:
    figure = graph(server, "/page/Org/Wide")
    assert len(groups(figure)) == 14
    (whole,) = re.findall('<a href="([^"]*)">14 of 16 groups</a>', figure)
    assert len(groups(graph(server, whole))) == 16


def test_the_page_of_a_graph_shows_more_and_is_walked(server: RunningServer) -> None:
    figure = graph(server, f"{OWN}&open=works_for")
    assert len(names(figure)) == 31
    assert 'href="/explore/graph?element=C%3APerson%2FWorker+01"' in figure
    walked = graph(server, "/explore/graph?element=C%3APerson%2FWorker+01")
    assert names(walked) == ["Hub · Org"]


def test_neighbours_are_filtered_by_predicate_and_type(server: RunningServer) -> None:
    figure = graph(server, f"{HUB}?t=Org")
    assert groups(figure) == [("… works for", "1 ▾")]
    assert names(figure) == ["Part · Org"]
    assert re.search("works for <small>1</small>", figure)
    figure = graph(server, f"{HUB}?" + urlencode({"p": "based_in"}))
    assert groups(figure) == [("based in …", "1 ▾")]
    assert "No fact is of" in graph(server, f"{HUB}?p=said")


def test_facts_about_facts_and_what_is_not_believed_are_marked(server: RunningServer) -> None:
    figure = graph(server, f"{OWN}&open=works_for")
    links = re.findall(r'<a href="([^"]*)" class="link ([^"]*)"[^>]*><title>(.*?)</title>', figure)
    marked = {title: (href, class_) for href, class_, title in links}
    href, class_ = marked["Worker 01 works for Hub · 1 fact about it"]
    assert class_ == ""
    retracted = marked["Worker 03 works for Hub · not believed: retracted"]
    assert retracted[1] == "unbelieved"
    assert marked["Worker 02 works for Hub"][1] == ""
    fact = graph(server, href)
    assert names(fact) == ["Hub · Org", "Worker 01 · Person", "Worker 02 · Person"]
    assert "… said" in fact
    speaker = graph(server, "/page/Person/Worker%2002")
    assert "Worker 01 works for Hub · fact" in names(speaker)


def test_names_are_text_in_every_script(server: RunningServer) -> None:
    answer = server.client.get(f"{OWN}&open=works_for").text
    assert "<script>alert" not in answer
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&amp;" in answer
    for name in HOSTILE:
        assert f"/explore/graph?{urlencode({'element': 'C:Person/' + name})}" in html.unescape(
            answer
        )
        server.client.get(f"/page/Person/{quote(name, safe='')}").raise_for_status()
    for odd in ("open=%00,:,::9,:-1,x:99999999999999999999", "open=works_for:9999", "p=%22%3E&t='"):
        assert "<figure" in server.client.get(f"{HUB}?{odd}").text


def test_a_graph_of_the_past_leads_to_the_past(server: RunningServer) -> None:
    figure = graph(server, f"{HUB}?as_of=3")
    assert [number for _, number in groups(figure)] == ["1 ▾", "2 ▾"]
    links = re.findall('href="(/[^"]*)"', figure)
    assert links
    assert [one for one in links if "as_of=3" not in one] == []


def test_no_graph_is_of_what_is_not_there(server: RunningServer) -> None:
    for query in ("element=C:Org/Nowhere", "element=nothing", ""):
        answer = server.client.get(f"/explore/graph?{query}", headers={"Accept": "text/html"})
        assert answer.status_code == 404, query


# Of an answer ---------------------------------------------------------------------------------


def answer(server: RunningServer, command: str, **query: str) -> str:
    """The page of the graph of an answer."""
    asked = urlencode({"command": command, **query})
    got = server.client.get(f"/explore/graph?{asked}", headers={"Accept": "text/html"})
    assert got.status_code == 200, got.text
    return html.unescape(got.text)


def elements(text: str) -> list[str]:
    return re.findall(r'data-number="\d+"><title>(.*?)</title>', text, re.DOTALL)


WORKS = 'FIND(?p, ?o) WHERE { (?p, "works_for", ?o) } ORDER BY ?p.name ASC'


def test_the_elements_of_rows_are_drawn_with_their_links(server: RunningServer) -> None:
    text = answer(server, WORKS)
    assert "Rows 1–25 of 31" in text
    assert len(elements(text)) == 26
    assert elements(text).count("Hub · Org") == 1
    assert "26 elements, 25 links" in text
    (following,) = re.findall('<a href="([^"]*)" rel="next">', text)
    rest = html.unescape(server.client.get(following).text)
    assert "Rows 26–31 of 31" in rest
    assert "7 elements, 6 links" in rest
    assert elements(answer(server, WORKS, first="9999")) == elements(text)
    every = {*elements(text), *elements(rest)}
    assert len(every) == 32
    assert "Part · Org" in every
    # Hub is linked to Rome, which is in no row.
    assert "based in" not in text + rest


def test_an_answer_is_filtered_and_keeps_its_page(server: RunningServer) -> None:
    text = answer(server, WORKS, t="Org")
    assert elements(text) == ["Part · Org", "Hub · Org"]
    assert "2 elements, 1 link" in text
    text = answer(server, WORKS, first="25")
    links = re.findall('<li><a href="([^"]*)#graph"', text)
    assert links
    assert [one for one in links if "first=25" not in one] == []
    past = answer(server, WORKS, as_of="3")
    assert elements(past) == ["Part · Org", "Worker 01 · Person", "Hub · Org"]


def test_links_are_drawn_between_their_ends(server: RunningServer) -> None:
    text = answer(server, 'FIND(?l) WHERE { ?l (?p, "said", ?f) }')
    assert elements(text) == ["Worker 02 · Person", "Worker 01 works for Hub · fact"]
    assert "2 elements, 1 link" in text
    assert "Worker 02 said Worker 01 works for Hub" in text


@pytest.mark.parametrize(
    ("command", "note"),
    [
        ('FIND(?p.name) WHERE { ?p {type: "Person"} }', "No row has an element."),
        ('FIND(?p) WHERE { ?p {type: "Org"} FILTER(?p.name == "x") }', "There are no rows."),
        ("FIND(?p WHERE", "Write `) ` before `WHERE`."),
        ("DESCRIBE PRIMER", "FIND only"),
        ('FIND(?p) WHERE { ?p {type: "Person"} } LIMIT 2', "No fact links these elements."),
        ('FIND(?p) WHERE { ?p {type: "Person"} } LIMIT 2', "LIMIT ends the answer"),
    ],
)
def test_what_a_graph_has_not_is_said(server: RunningServer, command: str, note: str) -> None:
    text = answer(server, command)
    assert note in text
    assert "Back to the query" in text


# In a browser -----------------------------------------------------------------------------------


@needs_browser
def test_a_graph_is_opened_in_place_filtered_and_walked(server: RunningServer, window: Any) -> None:
    window.get(server.address.rstrip("/") + HUB)
    window.execute_script("window.stays = true")
    shown = "return document.querySelectorAll('.graph > svg .node').length"
    assert window.execute_script(shown) == 2
    # By the keyboard: the focus stays on the group.
    window.execute_script("document.querySelector('.graph svg a[data-key$=\"works for\"]').focus()")
    window.switch_to.active_element.send_keys("\ue007")
    until(lambda: window.execute_script(shown) == 16)
    assert window.execute_script("return window.stays") is True
    assert "open=based_in%2Cworks_for" in window.current_url
    focus = "return document.activeElement.dataset.key"
    assert window.execute_script(focus) == "… works for"
    # No label is wider than its box, in any script.
    wide = """return [...document.querySelectorAll('.graph .node text')].filter((one) =>
        one.getBBox().width > one.parentElement.width.baseVal.value).length"""
    assert window.execute_script(wide) == 0
    window.find_element("css selector", ".graph summary").click()
    window.find_element("css selector", ".graph [data-key='type Org']").click()
    until(lambda: window.execute_script(shown) == 2)
    assert window.execute_script("return window.stays") is True
    show_on(window, 390)
    listed = window.find_element("css selector", ".groups > li ul a")
    assert listed.text == "Part"
    assert not window.find_element("css selector", ".graph > svg").is_displayed()
    assert window.execute_script("return document.documentElement.scrollWidth") <= 390
    show_on(window)
    window.find_element("css selector", ".graph .group .node").click()
    until(lambda: window.current_url.endswith("/page/Org/Part"))
    assert [one for one in window.get_log("browser") if one["level"] == "SEVERE"] == []
