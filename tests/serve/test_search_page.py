"""The search of the explorer: true numbers, types to choose from, and the words that match."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

import kiprdf
from kiprdf.actors import OWNER
from kiprdf.serve.explorer import search
from kiprdf.serve.explorer.explorer import Explorer
from tests.serve.browser import needs_browser
from tests.serve.running import RunningServer, serving
from tests.serve.test_home import page_of, text_of

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Note"} }
  CONCEPT { {type: "$ConceptType", name: "Person"} }
  CONCEPT { {type: "$PropositionType", name: "wrote"} }
}"""
LONG = "filler " * 300 + "the lighthouse keeper sings" + " filler" * 300
HOSTILE = '<img src=x onerror="alert(1)"> lighthouse'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("search") / "brain"
    notes = " ".join(f'CONCEPT {{ {{type: "Note", name: "Lighthouse {i}"}} }}' for i in range(60))
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(f"UPSERT {{ {notes} }}")
        nexus.execute(
            """UPSERT {
              CONCEPT ?n { {type: "Note", name: "Diary"} SET ATTRIBUTES {content: :long} }
              CONCEPT { {type: "Note", name: :hostile} }
              CONCEPT ?p { {type: "Person", name: "Ada"} SET ATTRIBUTES {home: "a lighthouse"} }
              PROPOSITION { (?p, "wrote", ?n) } }""",
            long=LONG,
            hostile=HOSTILE,
        )
    with serving(folder) as running:
        yield running


def test_the_numbers_are_those_of_all_hits_and_each_is_on_a_page(server: RunningServer) -> None:
    names, following, pages = [], "/explore/?q=lighthouse", 0
    while following:
        page = page_of(server, following)
        assert "All 63 Note 62 Person 1" in text_of(page)
        names += re.findall(r'<li>(?:<s>)?<a href="/page/(\w+/[^"]+)"', page)
        pages += 1
        after = re.search(r'href="([^"]*)" rel="next"', page)
        following = html.unescape(after[1]) if after else ""
    assert pages == 3
    assert len(names) == len(set(names)) == 63
    assert {"Note/Diary", "Person/Ada"} <= set(names)


def test_a_search_that_waits_for_the_index_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = " ".join(f'CONCEPT {{ {{type: "Note", name: "Tower {i}"}} }}' for i in range(2_000))
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(f"UPSERT {{ {notes} }}")
        explorer, asked = Explorer(nexus, nexus.store, "brain", OWNER), search.Asked("tower")
        monkeypatch.setattr(search, "SECONDS", 0.02)
        notes = []
        while (page := search.results(explorer, asked)) and "data-again" in page:
            notes += re.findall("Building the index(?:, [0-9]+ %)?\\.", page)
        assert notes
        assert any("%" in one for one in notes)
        assert "2,000" in page


def test_a_type_limits_the_search(server: RunningServer) -> None:
    page = page_of(server, "/explore/?q=lighthouse")
    (address,) = re.findall(r'<a href="([^"]+)">Person</a>', page)
    shown = text_of(page_of(server, html.unescape(address)))
    assert "Ada Person home: a lighthouse" in shown
    assert "Lighthouse 1" not in shown


def test_a_hit_shows_the_words_that_match_and_where(server: RunningServer) -> None:
    page = page_of(server, "/explore/?q=sings")
    assert "content: …" in page
    assert "keeper <mark>sings</mark> filler" in page
    assert len(page) < 6_000
    # The stem of a word matches, and is marked.
    assert "<mark>sings</mark>" in page_of(server, "/explore/?q=singing")


def test_names_and_terms_are_inert(server: RunningServer) -> None:
    page = page_of(server, "/explore/?q=onerror")
    assert "<img" not in page
    assert "&lt;img src=x <mark>onerror</mark>" in page
    assert "<script>alert" not in page_of(server, "/explore/?q=<script>alert(1)</script>&type=<b>")


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("q=xylophone", "No concept matches “xylophone”."),
        ("q=...", "The search contains no word, and is no name."),
        # Behind the last page is the first.
        ("q=lighthouse&first=9999", "1–25 of 63"),
        ("q=lighthouse&type=$facts&first=9999", "No fact matches “lighthouse”."),
        # What was searched in place of a word, and of a long term, is said.
        ("q=lighthuose", "No element has the word 'lighthuose': 'lighthouse' was searched."),
        (f"q=lighthouse {'%20'.join(map(str, range(300)))}", "The term is long"),
        ("q=lighthouse&type=Nothing", "No concept matches “lighthouse”."),
    ],
)
def test_a_search_without_hits_says_so(server: RunningServer, query: str, note: str) -> None:
    assert note in text_of(page_of(server, f"/explore/?{query}"))


@needs_browser
def test_keys_go_to_the_search_and_through_its_hits(server: RunningServer, window: Any) -> None:
    window.get(f"{server.address}explore/log")
    window.find_element(By.TAG_NAME, "body").send_keys("/")
    assert window.switch_to.active_element.get_attribute("name") == "q"
    assert window.switch_to.active_element.get_attribute("value") == ""
    window.get(f"{server.address}explore/?q=sings")
    window.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert window.switch_to.active_element.text == "Diary"
    window.switch_to.active_element.send_keys(Keys.ARROW_UP)
    assert window.switch_to.active_element.get_attribute("id") == "search"
    # Escape empties the search, and the start page is there again.
    window.get(f"{server.address}explore/")
    window.switch_to.active_element.send_keys("sings")
    wait = WebDriverWait(window, 10)
    wait.until(lambda _: window.find_elements(By.CSS_SELECTOR, "#results mark"))
    window.switch_to.active_element.send_keys(Keys.ESCAPE)
    wait.until(lambda _: window.find_elements(By.CSS_SELECTOR, "#results .dashboard"))
