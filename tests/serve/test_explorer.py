"""The pages for people, as documents and in a browser."""

from __future__ import annotations

import asyncio
import html
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest

import kiprdf
import kiprdf.serve
from tests.serve.browser import needs_browser, show_on, until
from tests.serve.running import RunningServer, serving

HTML = {"Accept": "text/html"}
PAGES = [
    "/explore/",
    "/explore/?q=aspirin",
    "/explore/schema",
    "/explore/log",
    "/explore/kql",
    "/page/Drug/Aspirin",
    "/page/$ConceptType/Drug",
    "/page/$PropositionType/treats",
    "/page/Drug/Aspirin?as_of=5",
    "/explore/?q=aspirin&as_of=5",
    "/explore/history/Drug/Aspirin",
    "/explore/graph?element=C:Drug/Aspirin",
    "/explore/graph?command=FIND(?d,?s)WHERE{(?d,%22treats%22,?s)}",
    "/explore/why?command=FIND(?d)WHERE{(?d,%22treats%22,?s)}&row=0",
]
FIND = 'FIND(?d, ?s.name) WHERE { (?d, "treats", ?s) }'


def page(server: RunningServer, address: str, status: int = 200) -> str:
    answer = server.client.get(address, headers=HTML)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].replace(" ", "") == "text/html;charset=utf-8"
    return answer.text


@pytest.mark.parametrize("address", PAGES)
def test_a_page_loads_nothing_from_elsewhere(server: RunningServer, address: str) -> None:
    text = page(server, address)
    assert '<html lang="en">' in text
    sources = re.findall(r'(?:src|href|action)="([^"]*)"', text)
    assert sources
    allowed = ("/", "data:,", "#content")
    assert [one for one in sources if not one.startswith(allowed) or one.startswith("//")] == []


@pytest.mark.parametrize("address", PAGES)
def test_a_page_has_a_policy_without_unsafe_sources(server: RunningServer, address: str) -> None:
    policy = server.client.get(address).headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_html_at_the_root_leads_to_the_explorer(server: RunningServer) -> None:
    answer = server.client.get("/", headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore/")
    answer = server.client.get("/kb/Drug/Aspirin", headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/page/Drug/Aspirin")


def test_search_lists_concepts_by_name_and_alias(server: RunningServer) -> None:
    for term in ("aspirin", "Aspir", "阿司匹林"):
        assert re.search(r'<a href="/page/Drug/[^"]+">', page(server, f"/explore/?q={term}")), term
    assert "No concept matches" in page(server, "/explore/?q=zzzzzz")


def test_what_is_not_believed_is_struck_through_behind_the_rest(server: RunningServer) -> None:
    server.kip(
        'UPSERT { CONCEPT { {type: "Drug", name: "Belladrin one"} } }'
        ' WITH METADATA {status: "retracted"}'
    )
    server.kip('UPSERT { CONCEPT { {type: "Drug", name: "Belladrin one and two"} } }')
    text = page(server, "/explore/?q=Belladrin one")
    hits = re.findall('<li>(?:(?!</li>).)*"/page/Drug/Belladrin.*?</li>', text, re.DOTALL)
    names = [re.findall('"/page/Drug/Belladrin([^"]+)"', hit) for hit in hits]
    assert names == [["%20one%20and%20two"], ["%20one"]]
    assert "<s>" not in hits[0]
    assert "<s><a" in hits[1]
    assert "not believed: retracted" in hits[1]


def test_the_page_of_a_concept_has_its_facts_and_provenance(server: RunningServer) -> None:
    text = page(server, "/page/Drug/Aspirin")
    assert re.search(r"<h1[^>]*>.*Aspirin.*</h1>", text)
    assert '<a href="/page/Symptom/Headache">' in text
    assert re.search(r'<a href="/page/\$proposition/[0-9a-f]{16}/treats"', text)
    assert "textbook" in text
    assert "<svg" in text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a/b", "Vitamin C", "阿司匹林"])
def test_a_name_is_text(server: RunningServer, name: str) -> None:
    text = page(server, f"/page/Drug/{quote(name, safe='')}")
    assert "<script>alert" not in text
    assert "alert(1)" not in text or "&lt;script&gt;alert(1)" in text


def test_queries_are_answered_as_a_table(server: RunningServer) -> None:
    text = page(server, f"/explore/kql?command={quote(FIND)}")
    assert "<th" in text
    assert '<a href="/page/Drug/Aspirin">' in text
    assert "SELECT" in text
    form = server.client.post("/explore/kql", data={"command": FIND})
    assert '<a href="/page/Drug/Aspirin">' in form.text


def test_each_row_leads_to_what_it_comes_from(server: RunningServer) -> None:
    command = 'FIND(?s.name) WHERE { ({name: "Aspirin"}, "treats", ?s {name: "Headache"}) }'
    text = page(server, f"/explore/kql?command={quote(command)}")
    links = [html.unescape(one) for one in re.findall('<a href="([^"]*)">why</a>', text)]
    assert links
    assert links[0] == "/explore/why?" + urlencode({"command": command, "row": 0})
    text = page(server, links[0])
    assert re.search(r"<dt><code>\?s.name</code></dt><dd><span[^>]*>Headache</span>", text)
    (fact,) = re.findall('<ul class="facts"><li><a href="(/page/[$]proposition/[^"]*)"', text)
    shown = re.sub("<[^>]*>", " ", text)
    assert "Aspirin treats Headache" in " ".join(shown.split())
    assert "source textbook" in " ".join(shown.split())
    assert "Aspirin" in page(server, fact)
    (back,) = re.findall('<a href="([^"]*)">Back to the query</a>', text)
    assert "Headache" in page(server, html.unescape(back))


def test_the_evidence_of_a_derived_fact_names_its_rule(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as opened:
        opened.execute(
            'UPSERT { CONCEPT ?a { {type: "Person", name: "Ann"} } '
            'CONCEPT ?b { {type: "Person", name: "Bob"} } '
            'PROPOSITION ?k { (?a, "knows", ?b) } '
            'PROPOSITION ?c { (?a, "collaborates_with", ?b) } WITH METADATA { derived_by: "<r1>" } '
            'PROPOSITION { (?c, "derived_from", ?k) } }'
        )
    command = 'FIND(?b.name) WHERE { (?a, "collaborates_with", ?b) }'
    with serving(tmp_path / "kb", "--read-only") as server:
        text = page(server, "/explore/why?" + urlencode({"command": command, "row": 0}))
    shown = " ".join(re.sub("<[^>]*>", " ", text).split())
    assert "derived by &lt;r1&gt;" in shown
    assert "It comes from Ann knows Bob" in shown


@pytest.mark.parametrize(
    ("command", "row", "shown"),
    [
        (FIND, "999", "The answer has no row 999"),
        (FIND, "x", "The answer has no row -1"),
        ("DESCRIBE PRIMER", "0", "Only a FIND says why."),
        ("FIND(<script>", "0", "FIND(&lt;script&gt;"),
    ],
)
def test_what_has_no_row_is_said(server: RunningServer, command: str, row: str, shown: str) -> None:
    text = page(server, "/explore/why?" + urlencode({"command": command, "row": row}))
    assert "KIP_1001" in text
    assert shown in text
    assert "<script>" not in text


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("FIND(?x", ["KIP_1001", "^"]),
        ('FIND(?x) WHERE { ?x {type: "drug"} }', ["KIP_2001", "Did you mean"]),
        ('UPSERT { CONCEPT { {type: "Drug", name: "No"} } }', ["KIP_1001"]),
        ("<script>alert(1)</script>", ["KIP_1001", "&lt;script&gt;"]),
    ],
)
def test_an_error_has_its_code_and_hint(
    server: RunningServer, command: str, shown: list[str]
) -> None:
    text = page(server, f"/explore/kql?command={quote(command)}")
    assert all(one in text for one in shown)
    assert server.kip('FIND(COUNT(?d)) WHERE { ?d {name: "No"} }').json()["result"] == 0


@pytest.mark.parametrize(
    ("command", "reason", "corrected"),
    [
        (
            'FIND(?s.name) WHERE { ({name: "Asprin"}, "treats", ?s) }',
            'No concept is called "Asprin".',
            'FIND(?s.name) WHERE { ({name: "Aspirin"}, "treats", ?s) }',
        ),
        (
            'FIND(?d.name) WHERE { ({type: "Symptom", name: "Headache"}, "treats", ?d) }',
            "matches nothing",
            'FIND(?d.name) WHERE { (?d, "treats", {type: "Symptom", name: "Headache"}) }',
        ),
        (
            'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risklevel > 0) }',
            "has the attribute 'risklevel'",
            'FIND(?d.name) WHERE { ?d {type: "Drug"} FILTER(?d.attributes.risk > 0) }',
        ),
        (
            'SEARCH CONCEPT "aspirinnn" LIMIT 3',
            'No concept is called "aspirinnn".',
            'SEARCH CONCEPT "Aspirin" LIMIT 3',
        ),
        (
            'FIND(?d.name) WHERE { ?d {type: "drug"} }',
            "Concept type 'drug' is not defined.",
            'FIND(?d.name) WHERE { ?d {type: "Drug"} }',
        ),
    ],
)
def test_the_correction_of_a_query_is_a_link(
    server: RunningServer, command: str, reason: str, corrected: str
) -> None:
    text = page(server, f"/explore/kql?command={quote(command)}")
    assert reason in html.unescape(text)
    links = [html.unescape(one) for one in re.findall(r'<li><a href="([^"]*)"><code>', text)]
    assert "/explore/kql?" + urlencode({"command": corrected}) in links
    answer = page(server, links[links.index("/explore/kql?" + urlencode({"command": corrected}))])
    assert "Aspirin" in answer or "Headache" in answer


@pytest.mark.parametrize("command", ["DESCRIBE PRIMER", 'SEARCH CONCEPT "aspirin"'])
def test_other_commands_that_read_are_answered(server: RunningServer, command: str) -> None:
    assert "Aspirin" in page(server, f"/explore/kql?command={quote(command)}")


def test_the_changes_are_newest_first(server: RunningServer) -> None:
    server.kip('UPSERT { CONCEPT { {type: "Drug", name: "The newest"} } }')
    text = page(server, "/explore/log")
    assert 0 < text.index("The newest") < text.index("Aspirin")


@pytest.mark.parametrize("name", ["nothing.css", "..%2fexplorer.py", "%2e%2e/__init__.py"])
def test_other_files_are_not_served(server: RunningServer, name: str) -> None:
    assert server.client.get(f"/static/{name}").status_code == 404


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "status", "code", "hint"),
    [
        ("/nothing", 404, "HTTP_404", "The routes are listed at"),
        ("/page/Drug", 404, "HTTP_404", "Search for it at /explore/."),
        ("/page/Drug/Nobody", 404, "HTTP_404", "Search for it at /explore/."),
        ("/data/Drug/Nobody", 404, "HTTP_404", "Search for it at /explore/."),
        ("/static/nothing.js", 404, "HTTP_404", "The routes are listed at"),
        ("/kip", 405, "HTTP_405", "The routes are listed at"),
        ("/explore/?as_of=soon", 400, "KIP_1001", "2026"),
        ("/graph", 400, "KIP_1001", "Ask for /graph?default."),
    ],
)
def test_an_error_is_a_page_for_people_and_json_for_programs(
    server: RunningServer, address: str, status: int, code: str, hint: str
) -> None:
    answer = server.client.get(address, headers={"Accept": "text/html,*/*;q=0.8"})
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "script-src 'self';" in answer.headers["content-security-policy"]
    assert answer.headers["vary"] == "Accept"
    assert f"<strong>{code}</strong>" in answer.text
    assert hint in answer.text
    assert '<a href="/explore/" class="home">' in answer.text
    for accept in ("*/*", "text/turtle"):
        answer = server.client.get(address, headers={"Accept": accept})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert ("allow" in answer.headers) == (status == 405)


def test_a_failure_of_the_server_is_a_page_for_people() -> None:
    nexus = kiprdf.Nexus.memory()
    app = kiprdf.serve.app(nexus)
    nexus.close()

    async def get(accept: str) -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/explore/schema", headers={"Accept": accept})

    answer = asyncio.run(get("text/html"))
    assert answer.status_code == 500
    assert "<strong>KIP_4003</strong> The nexus is closed." in answer.text
    assert asyncio.run(get("*/*")).json()["error"]["code"] == "KIP_4003"


# Numbers ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A concept with 1 203 facts, one of them with 40 facts about it."""
    folder = tmp_path_factory.mktemp("crowd") / "kb"
    types = ("City", "Person", "Claim")
    predicates = ("lives_in", "was_born_in", "about")
    definitions = [f'{{type: "$ConceptType", name: "{one}"}}' for one in types]
    definitions += [f'{{type: "$PropositionType", name: "{one}"}}' for one in predicates]
    people = [
        f'CONCEPT ?p{i} {{ {{type: "Person", name: "p{i:04}"}} }} '
        f'PROPOSITION ?l{i} {{ (?p{i}, "lives_in", ?city) }}'
        for i in range(1200)
    ]
    born = [f'PROPOSITION {{ (?p{i}, "was_born_in", ?city) }}' for i in range(3)]
    claims = [
        f'CONCEPT ?c{i} {{ {{type: "Claim", name: "c{i}"}} }} '
        f'PROPOSITION {{ (?c{i}, "about", ?l0) }}'
        for i in range(40)
    ]
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(f"UPSERT {{ {' '.join(f'CONCEPT {{ {one} }}' for one in definitions)} }}")
        nexus.execute(
            'UPSERT { CONCEPT ?city { {type: "City", name: "Rome"} } '
            + " ".join([*people, *born, *claims])
            + " }"
        )
    with serving(folder, "--read-only") as running:
        yield running


@pytest.mark.parametrize(
    ("address", "numbers"),
    [
        ("/page/City/Rome", ["Facts that refer to it 1,203", "1–50 of 1,200", "40 facts about it"]),
        ("/page/$ConceptType/Person", ["Members 1,202", "1–50 of 1,202"]),
        ("/page/$PropositionType/lives_in", ["Facts 1,200", "1–50 of 1,200"]),
        ("/page/$ConceptType/Claim", ["Members 40"]),
        ("/page/Person/p0001", ["Facts 2"]),
    ],
)
def test_numbers_are_true_beyond_what_a_page_reads(
    crowd: RunningServer, address: str, numbers: list[str]
) -> None:
    text = words_of(crowd, address)
    assert [one for one in numbers if one not in text] == []
    assert re.search(r"\b50[01]\b|1,00[01]|\b14 facts about", text) is None


@pytest.mark.parametrize(
    ("address", "heading", "names"),
    [
        ("/page/City/Rome", "Facts that refer to it", [f"p{i:04}" for i in range(1200)]),
        ("/page/$ConceptType/Person", "Members", ["$self", "$system"]),
        ("/page/$PropositionType/lives_in", "Facts", [f"p{i:04}" for i in range(1200)]),
    ],
)
def test_the_pages_of_a_long_list_have_all_of_it_by_name(
    crowd: RunningServer, address: str, heading: str, names: list[str]
) -> None:
    names_read: list[str] = []
    following: str | None = address
    pages = 0
    while following is not None:
        shown = page(crowd, following)
        listed = shown[shown.index(f"<h2>{heading}") : shown.index("<aside>")]
        listed, _, _ = listed.partition("was born in")
        names_read += dict.fromkeys(re.findall(r'<li>.*?href="/page/Person/([^"?]*)"', listed))
        pages += 1
        after = re.search(r'href="([^"]*)" rel="next"', listed)
        following = None if after is None else html.unescape(after[1])
    if heading == "Members":
        names = [*names, *(f"p{i:04}" for i in range(1200))]
    assert names_read == names
    assert pages == -(-len(names) // 50)
    # The way back has no row twice.
    assert re.findall(r'first=([0-9]+)" rel="prev"', listed) == [str(50 * (pages - 2))]


def test_a_list_that_is_none_is_the_whole_page(crowd: RunningServer) -> None:
    for query in ("list=to:nothing", "list=Members", "list=from:lives_in&first=9999", "list=x"):
        assert "1–50 of 1,200" in words_of(crowd, f"/page/City/Rome?{query}")


# Time ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def commits(server: RunningServer) -> tuple[int, int]:
    """The commits that create a drug, change it, and delete it: the first and the last."""
    for command in (
        'UPSERT { CONCEPT { {type: "Drug", name: "Fleeting"} SET ATTRIBUTES { note: "young" } '
        'SET PROPOSITIONS { ("treats", {type: "Symptom", name: "Headache"}) } } }',
        'UPDATE ?d SET ATTRIBUTES { note: "old" } WHERE { ?d {name: "Fleeting"} }',
        'DELETE CONCEPT ?d DETACH WHERE { ?d {name: "Fleeting"} }',
    ):
        server.kip(command)
    last = server.client.get("/", headers={"Accept": "application/json"}).json()["commit"]
    return last - 2, last


def words_of(server: RunningServer, address: str, status: int = 200) -> str:
    """The text of a page, without its tags."""
    text = page(server, address, status)
    return " ".join(re.sub("<[^>]*>", " ", text.partition("<main>")[2]).split())


def test_the_log_has_what_each_commit_changed(
    server: RunningServer, commits: tuple[int, int]
) -> None:
    first, last = commits
    text = words_of(server, f"/explore/log?until={last}")
    assert text.index(f"Commit {last} ") < text.index(f"Commit {first} ")
    created = text[text.index(f"Commit {first} ") :]
    who = r"UPSERT · human/local · session connection-\w+ undo"
    assert re.search(rf"{who} \+ Fleeting Drug \+ Fleeting treats Headache", created)
    changed = text[text.index(f"Commit {first + 1} ") :]
    who = r"· human/local · session connection-\w+ undo"
    assert re.search(f"UPDATE {who} ~ Fleeting Drug note young old", changed)
    assert re.search(f"DELETE {who} − Fleeting Drug − Fleeting treats Headache", text)
    assert "Older commits" not in words_of(server, "/explore/log?until=3")
    assert words_of(server, "/explore/log?until=3").startswith("Changes up to commit 3 Commit 3 ")


def test_the_log_has_what_was_forgotten_as_a_number(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Jane"} } }')
        with nexus.acting(author="agent-7"):
            nexus.forget('FIND(?p) WHERE { ?p {type: "Person", name: "Jane"} }')
    with serving(tmp_path / "kb", "--read-only") as server:
        text = words_of(server, "/explore/log")
    assert "FORGET · model/agent-7 Forgot 1 element." in text
    assert "Jane" not in text


def test_the_history_of_a_deleted_element(server: RunningServer, commits: tuple[int, int]) -> None:
    first, last = commits
    text = words_of(server, "/explore/history/Drug/Fleeting")
    places = [
        text.index(f"Commit {last} deleted"),
        text.index(f"Commit {first + 1} changed"),
        text.index(f"Commit {first} created"),
    ]
    assert places == sorted(places)
    assert "note young old" in text
    assert "UPDATE ?d SET ATTRIBUTES {note: :value}" in text
    assert "does not mention" in words_of(server, "/explore/history/Drug/Nobody")


def test_pages_of_the_past_lead_to_pages_of_the_past(
    server: RunningServer, commits: tuple[int, int]
) -> None:
    first, last = commits
    address = "/page/Drug/Fleeting"
    assert "young" in words_of(server, f"{address}?as_of={first}")
    assert "old" in words_of(server, f"{address}?as_of={last - 1}")
    assert "/explore/history/Drug/Fleeting" in page(server, address, 404)
    assert "/explore/history/" not in page(server, "/page/Drug/Nobody", 404)
    for query in ("", f"?as_of={first}"):
        answer = server.client.get(
            f"/page/Drug/Nobody{query}", headers={"Accept": "application/json"}
        )
        assert answer.json()["error"]["code"] == "HTTP_404"
    absent = "Fleeting This element does not exist as of this commit."
    assert absent in words_of(server, f"{address}?as_of={first - 1}", 404)
    assert "does not exist now" in words_of(server, address, 404)
    text = page(server, f"{address}?as_of={first}")
    assert f'<a href="/page/Symptom/Headache?as_of={first}">' in text
    assert f'href="/explore/schema?as_of={first}"' in text
    assert f'<input type="hidden" name="as_of" value="{first}">' in text
    for state, hits in ((first, 1), (last, 0)):
        results = page(server, f"/explore/?q=Fleeting&as_of={state}")
        assert results.count(f'href="/page/Drug/Fleeting?as_of={state}"') == hits


@pytest.mark.parametrize(
    ("address", "status", "shown"),
    [
        ("/page/Drug/Aspirin", 404, "Aspirin This element does not exist as of this commit."),
        ("/explore/", 200, "0 concepts, 0 facts"),
        ("/explore/?q=Aspirin", 200, "No concept matches “Aspirin”."),
        ("/explore/schema", 200, "Schema"),
        ("/explore/kql", 200, "Query"),
        ("/explore/kql?command=FIND(?d)WHERE{?d{type:%22Drug%22}}", 200, "KIP_2001"),
        ("/explore/kql?command=FIND(?d.name)WHERE{?d{}}", 200, "0 rows"),
        ("/explore/log", 200, "Changes up to commit 0"),
    ],
)
def test_the_left_end_of_the_slider_is_before_the_first_commit(
    server: RunningServer, address: str, status: int, shown: str
) -> None:
    slider = page(server, "/page/Drug/Aspirin")
    assert '<input type="range" name="as_of" min="0" ' in slider
    assert "As of commit 0 " not in words_of(server, "/page/Drug/Aspirin")
    at_zero = address + ("&" if "?" in address else "?") + "as_of=0"
    text = page(server, at_zero, status)
    assert shown in words_of(server, at_zero, status)
    if not address.endswith("log"):
        assert "As of <output>commit 0</output>" in text


@pytest.mark.parametrize(
    ("address", "key", "value"),
    [
        ("/explore/kql", "command", 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'),
        ("/explore/", "q", "as<p"),
    ],
)
def test_the_slider_keeps_the_query_and_the_search(
    server: RunningServer, commits: tuple[int, int], address: str, key: str, value: str
) -> None:
    hidden = f'<input type="hidden" name="{key}" value="{value}">'
    for as_of in ("", f"&as_of={commits[0]}"):
        text = html.unescape(page(server, f"{address}?{urlencode({key: value})}{as_of}"))
        (form,) = re.findall('<form action="[^"]*" class="time.*?</form>', text)
        assert hidden in form
        assert f'action="{address}"' in form
    assert f'<a href="{address}?{urlencode({key: value})}">Back to now</a>' in form
    assert hidden not in html.unescape(page(server, address))


@pytest.mark.parametrize(
    ("as_of", "status"), [("99999", 404), ("soon", 400), ("2026-01-01", 400), ("9" * 5000, 400)]
)
def test_a_state_that_is_not_there_is_an_error(
    server: RunningServer, as_of: str, status: int
) -> None:
    assert server.client.get(f"/explore/?as_of={as_of}").status_code == status


# In a browser -----------------------------------------------------------------------------------


@needs_browser
def test_search_as_you_type_leads_to_a_page(server: RunningServer, window: Any) -> None:
    window.get(f"{server.address}explore/")
    window.switch_to.active_element.send_keys("aspir")
    # The results are replaced as they come, so the link is looked up and clicked in one step.
    click = """
      const link = document.querySelector("#results a[href='/page/Drug/Aspirin']");
      if (link) link.click();
      return link !== null && link.textContent === "Aspirin";
    """
    until(lambda: window.execute_script(click))
    until(lambda: window.current_url.endswith("/page/Drug/Aspirin"))
    assert "Aspirin" in window.find_element("tag name", "h1").text


def test_the_changes_are_written_in_words(server: RunningServer) -> None:
    text = re.sub("<[^>]*>", "", page(server, "/explore/log"))
    assert "Aspirin treats Headache" in text
    assert "P:" not in text


def test_the_sparql_is_beside_the_answer(server: RunningServer) -> None:
    text = page(server, f"/explore/kql?command={quote(FIND)}")
    assert "<details open><summary>SPARQL</summary><pre>PREFIX " in text


@needs_browser
def test_people_sign_in_with_a_form(folder: Path, window: Any) -> None:
    with serving(folder, "--read-only", "--read-token", "r3ad") as server:
        window.get(f"{server.address}page/Drug/Aspirin")
        assert window.get_log("browser") == []
        window.find_element("name", "token").send_keys("r3ad")
        window.find_element("css selector", "button").click()
        until(lambda: window.current_url.endswith("/page/Drug/Aspirin"))
        assert "Aspirin" in window.find_element("tag name", "h1").text


@needs_browser
def test_control_and_enter_run_a_query(server: RunningServer, window: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    window.get(f"{server.address}explore/kql")
    area = window.find_element("css selector", "textarea[name=command]")
    area.clear()
    area.send_keys(FIND)
    area.send_keys(Keys.CONTROL, Keys.ENTER)
    table = until(lambda: window.find_elements("css selector", "main table"))[0]
    assert "Aspirin" in table.text
    assert "Headache" in table.text


@needs_browser
@pytest.mark.parametrize(("width", "is_dark"), [(360, True), (1200, False)])
def test_no_page_scrolls_sideways_or_complains(
    server: RunningServer, width: int, is_dark: bool, window: Any
) -> None:
    show_on(window, width, is_dark=is_dark)
    queries = (FIND, 'FIND(?d.name) WHERE { ?d {type: "Drug", name: "Asprin"} }', "FIND(?x")
    for address in [*PAGES, *(f"/explore/kql?command={quote(one)}" for one in queries)]:
        window.get(server.address.rstrip("/") + address)
        assert window.execute_script("return document.documentElement.scrollWidth") <= width
        assert window.get_log("browser") == [], address
        paper = window.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(21, 23, 26)" if is_dark else "rgb(253, 252, 250)")


@needs_browser
def test_the_slider_shows_the_page_as_of_a_commit(
    server: RunningServer, commits: tuple[int, int], window: Any
) -> None:
    window.get(f"{server.address}page/Drug/Fleeting?as_of={commits[0]}")
    assert "young" in window.find_element("tag name", "main").text
    move = """
      const slider = document.querySelector(".time input");
      slider.value = arguments[0];
      slider.dispatchEvent(new Event("input"));
      const shown = document.querySelector(".time output").textContent;
      slider.dispatchEvent(new Event("change"));
      return shown;
    """
    assert window.execute_script(move, commits[0] + 1) == f"commit {commits[0] + 1}"
    until(lambda: window.current_url.endswith(f"?as_of={commits[0] + 1}"))
    assert "old" in window.find_element("tag name", "main").text
    window.find_element("link text", "History").click()
    until(lambda: window.current_url.endswith("/explore/history/Drug/Fleeting"))
    window.find_element("link text", f"Commit {commits[0]}").click()
    until(lambda: window.current_url.endswith(f"/page/Drug/Fleeting?as_of={commits[0]}"))
    window.find_element("link text", "Back to now").click()
    until(lambda: window.current_url.endswith("/page/Drug/Fleeting"))
    window.get_log("browser")


@needs_browser
def test_keys_move_the_slider_and_enter_shows_the_page(
    server: RunningServer, commits: tuple[int, int], window: Any
) -> None:
    from selenium.webdriver.common.keys import Keys

    def moved() -> Any:
        window.get(f"{server.address}page/Drug/Fleeting?as_of={commits[0] + 1}")
        slider = window.find_element("css selector", ".time input")
        assert not window.find_element("css selector", ".time button").is_displayed()
        slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
        slider.send_keys(Keys.ARROW_LEFT)
        shown = window.find_element("css selector", ".time output").text
        assert shown == f"commit {commits[0]}: Enter shows it"
        time.sleep(0.3)
        assert window.current_url.endswith(f"?as_of={commits[0] + 1}")
        return slider

    moved().send_keys(Keys.ENTER)
    until(lambda: window.current_url.endswith(f"?as_of={commits[0]}"))
    assert "young" in window.find_element("tag name", "main").text
    moved().send_keys(Keys.TAB, Keys.SPACE)
    until(lambda: window.current_url.endswith(f"?as_of={commits[0]}"))
    window.get_log("browser")


@needs_browser
def test_a_click_follows_the_correction_of_a_query(server: RunningServer, window: Any) -> None:
    command = 'FIND(?s.name) WHERE { ({name: "Asprin"}, "treats", ?s) }'
    window.get(f"{server.address}explore/kql?command={quote(command)}")
    assert window.find_element("css selector", ".warning").is_displayed()
    window.find_element("css selector", ".warning a").click()
    until(lambda: window.find_elements("css selector", "main tbody tr"))
    area = window.find_element("css selector", "textarea")
    assert area.get_attribute("value") == command.replace("Asprin", "Aspirin")
    assert window.get_log("browser") == []


@needs_browser
def test_a_click_says_why_a_row_is_there(tmp_path: Path, window: Any) -> None:
    hostile = '<img src=x onerror="document.title=1">'
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(
            """
            UPSERT {
              CONCEPT { {type: "$ConceptType", name: "Drug"} }
              CONCEPT { {type: "$PropositionType", name: "treats"} }
              CONCEPT ?a { {type: "Drug", name: "a"} }
              CONCEPT ?b { {type: "Drug", name: :hostile} SET ATTRIBUTES { note: :hostile } }
              PROPOSITION { (?b, "treats", ?a) } WITH METADATA {
                source: :hostile, author: :hostile, status: :hostile, evidence: [:hostile]
              }
            }
            """,
            hostile=hostile,
        )
    command = 'FIND(?b.attributes.note) WHERE { (?b, "treats", ?a) FILTER(?b.name != "\'") }'
    with serving(tmp_path / "kb") as server:
        window.get(f"{server.address}explore/kql?command={quote(command)}")
        window.find_element("link text", "why").click()
        until(lambda: "/explore/why?" in window.current_url)
        text = window.find_element("tag name", "main").text
        assert text.count(hostile) >= 8
        assert window.find_elements("css selector", "img") == []
        assert window.title.startswith("Why")
        window.find_element("css selector", ".facts a").click()
        until(lambda: "/page/$proposition/" in window.current_url)
        assert window.get_log("browser") == []
