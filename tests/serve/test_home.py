"""The start page: what there is, what waits, and what to do with an empty nexus."""

from __future__ import annotations

import html
import re
from pathlib import Path
from random import Random

import httpx
import pytest

import kiprdf
from tests.serve.running import RunningServer, serving
from tests.serve.test_acting import FORM, HIDDEN, hidden

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "contradicts"} }
}"""
FACTS = """UPSERT {
  CONCEPT ?a { {type: "Drug", name: "Aspirin"} }
  CONCEPT ?i { {type: "Drug", name: "Ibuprofen"} }
  CONCEPT ?h { {type: "Symptom", name: "Headache"} }
  PROPOSITION ?sure { (?a, "treats", ?h) } WITH METADATA {confidence: 0.9, source: "textbook"}
  PROPOSITION ?unsure { (?i, "treats", ?h) } WITH METADATA {confidence: 0.2, source: "a guess"}
  PROPOSITION { (?sure, "contradicts", ?unsure) }
}"""


def page_of(server: RunningServer, path: str) -> str:
    return server.client.get(path, headers={"Accept": "text/html"}).text


def post(server: RunningServer, path: str, fields: dict[str, str]) -> httpx.Response:
    own = {"Accept": "text/html", "Origin": server.address.rstrip("/")}
    return server.client.post(path, data=fields, headers=own)


def text_of(page: str) -> str:
    """The words of a page."""
    main = page[page.index("<main") : page.index("</main>")]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        nexus.execute(SCHEMA)
        with nexus.acting(author="ada", session="monday"):
            nexus.execute(FACTS)
    return tmp_path / "brain"


def test_the_start_page_is_a_dashboard(folder: Path) -> None:
    with serving(folder) as server:
        page = page_of(server, "/explore/")
        shown = text_of(page)
        # The largest type first, with a bar for it and a table behind its number.
        assert "Types Drug 2" in shown
        assert "Symptom 1" in shown
        assert '<rect width="100.0%"' in page
        assert '<rect width="50.0%"' in page
        assert "/explore/table?type=Drug" in page
        assert "ada added 6" in shown
        assert "Least confident all Ibuprofen treats Headache 0.2" in shown
        assert "Aspirin treats Headache 0.9" not in shown
        contradicting = "( Aspirin treats Headache ) contradicts ( Ibuprofen treats Headache )"
        assert f"Contradicting all {contradicting}" in shown
        sources = shown.partition("Newest sources ")[2]
        assert sources.startswith(("textbook", "a guess"))
        assert "textbook" in sources
        assert "a guess" in sources
        assert "Nobody has written here yet" not in shown
        assert "CoreSchema" in page.partition("<summary>")[2]


def test_many_types_and_long_names_are_shown_whole(tmp_path: Path) -> None:
    # A primer, which is made for a context window, cuts both.
    long = "Read the letters of " + "a very careful " * 14 + "person"
    types = [f"Type{number:02}" for number in range(60)]
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        names = [
            ("$ConceptType", "SleepTask"),
            *(("$ConceptType", one) for one in types),
            *((one, "One") for one in types),
        ]
        names += [("$PropositionType", f"is_{number:02}") for number in range(60)]
        names += [("Domain", f"Domain {number:02}") for number in range(60)]
        blocks = " ".join(f'CONCEPT {{ {{type: "{t}", name: "{n}"}} }}' for t, n in names)
        nexus.execute(f"UPSERT {{ {blocks} }}")
        nexus.execute(
            "UPSERT { CONCEPT { {type: 'SleepTask', name: :name} "
            "SET ATTRIBUTES {status: 'pending'} } }".replace("'", '"'),
            name=long,
        )
    with serving(tmp_path / "brain") as server:
        schema, home = page_of(server, "/explore/schema"), page_of(server, "/explore/")
        for number in range(60):
            assert f">Type{number:02}</a>" in schema
            assert f">is_{number:02}</a>" in schema
            assert f">Domain {number:02}</a>" in home
        assert "52 more types" in home
        (task,) = re.findall('href="([^"]*/page/SleepTask/[^"]*)"', home.partition("Waiting")[2])
        assert server.client.get(task, headers={"Accept": "text/html"}).status_code == 200


def test_a_large_commit_is_named_and_not_read(tmp_path: Path) -> None:
    texts = " ".join(
        f'CONCEPT {{ {{type: "Drug", name: "Drug {i}"}} SET ATTRIBUTES {{about: :t{i}}} }}'
        for i in range(400)
    )
    # Nothing in them is said twice, since records are compressed.
    values = {f"t{i}": Random(i).randbytes(600).hex() for i in range(400)}
    with kiprdf.Nexus.open(tmp_path / "brain") as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(f"UPSERT {{ {texts} }}", **values)
        large = nexus.info()["commit"]
        with nexus.acting(author="ada"):
            nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} } }')
    with serving(tmp_path / "brain") as server:
        latest = text_of(page_of(server, "/explore/")).partition("Latest changes")[2]
        assert "ada added 1" in latest
        assert f"commit {large} +400 concepts, +0 facts" in latest
        assert "All changes" in latest
        # All that it changed is on pages, whose address the log has, too.
        following, names = f"/explore/log?commit={large}", list[str]()
        for path in ("/explore/", "/explore/log"):
            assert f'href="{following}"' in page_of(server, path)
        while following:
            shown = page_of(server, following)
            names += re.findall(r'href="/page/Drug/([^"]*)"', shown)
            after = re.search(r'href="([^"]*)" rel="next"', shown)
            following = html.unescape(after[1]) if after else ""
        assert sorted(names) == sorted(f"Drug%20{i}" for i in range(400))


def test_the_address_without_a_slash_leads_to_the_start_page(folder: Path) -> None:
    with serving(folder) as server:
        answer = server.client.get("/explore")
        assert (answer.status_code, answer.headers["location"]) == (303, "/explore/")


def test_the_start_page_as_of_a_commit_is_that_of_then(folder: Path) -> None:
    with serving(folder) as server:
        assert "Aspirin" in page_of(server, "/explore/")
        assert "Nobody has written here yet" in page_of(server, "/explore/?as_of=1")


def test_an_empty_nexus_offers_the_example_and_loads_it(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain"):
        pass
    with serving(tmp_path / "brain") as server:
        page = page_of(server, "/explore/")
        assert f"{server.address}mcp" in page
        assert f"{server.address}kip" in page
        (address,) = re.findall('href="([^"]*/explore/act/example/[^"]*)"', page)
        asked = page_of(server, address)
        shown = post(server, address, {**hidden(asked), "step": "show"})
        assert "None of it is medical advice" in text_of(shown.text)
        assert "Nobody has written here yet" in text_of(page_of(server, "/explore/"))
        form = FORM.findall(shown.text)[0]
        fields = {name: html.unescape(value) for name, value in HIDDEN.findall(form)}
        written = post(server, address, {**fields, "step": "write"})
        after = text_of(page_of(server, written.headers["location"]))
        assert re.search(r"Written as commit (\d+)\. Undo", after)
        assert "Written as commit" not in text_of(page_of(server, "/explore/"))
        assert "Drug 12" in after
        assert "Nobody has written here yet" not in after


def test_the_statement_of_the_empty_page_is_one_that_runs(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "brain"):
        pass
    with serving(tmp_path / "brain") as server:
        blocks = re.findall("<pre[^>]*>(.*?)</pre>", page_of(server, "/explore/"), re.DOTALL)
        statement = html.unescape(blocks[-1])
        assert server.kip(statement).json()["result"]["upsert_concept_nodes"]
        assert "Aspirin" in text_of(page_of(server, "/explore/"))
