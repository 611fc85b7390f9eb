"""The pages of a scope, and of a view, lead to each other, at any path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote, urlencode, urljoin

import httpx
import pytest

from tests.serve.browser import browser, needs_browser
from tests.serve.scoped import ACCESS, ScopedServer, make, serving_scopes, token

NAME = "Zoë 2"
PAGES = {**ACCESS, "zoe": ("human", "write", ["team", NAME], NAME)}


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScopedServer]:
    place = tmp_path_factory.mktemp("scoped")
    make(place / "scopes", ("team", NAME))
    base = ("--base-url", "http://localhost/memory/")
    with serving_scopes(place, *base, access=PAGES) as server:
        yield server


@pytest.mark.parametrize(
    "path", [f"/memory/scopes/{quote(NAME)}", "/memory/scopes/team", "/memory"]
)
def test_all_links_of_pages_stay_below_their_path(scoped: ScopedServer, path: str) -> None:
    waiting, seen = [f"{path}/explore/"], {f"{path}/explore/"}
    with httpx.Client(base_url=scoped.server.address.rstrip("/"), timeout=60) as client:
        signed = client.post("/memory/login", data={"token": token("zoe"), "next": "/explore/"})
        assert signed.headers["location"] == "/memory/explore/"
        while waiting and len(seen) < 60:
            page = waiting.pop(0)
            answer = client.get(page, headers={"Accept": "text/html"})
            assert answer.status_code == 200, (page, answer.text)
            links = re.findall(r'(?:href|src|action)="([^"]*)"', answer.text)
            for link in links:
                target = urljoin(page, unescape(link)).partition("#")[0]
                if target.startswith(("data:", "http")):
                    continue
                assert target.startswith(f"{path}/"), (page, link)
                if target not in seen and answer.headers["content-type"].startswith("text/html"):
                    seen.add(target)
                    waiting.append(target)
    kinds = {target.removeprefix(path).split("/")[1] for target in seen}
    assert {"explore", "page", "static"} <= kinds


def test_a_view_says_why_a_row_is_there(scoped: ScopedServer) -> None:
    command = 'FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(STARTS_WITH(?p.name, "of ")) }'
    query = urlencode({"command": command})
    html = {"Accept": "text/html"}
    listed = scoped.send("zoe", "GET", f"/memory/explore/kql?{query}", headers=html)
    links = [unescape(one) for one in re.findall('<a href="([^"]*)">why</a>', listed.text)]
    assert links == [f"/memory/explore/why?{query}&row={row}" for row in range(2)]
    shown = [scoped.send("zoe", "GET", link, headers=html).text for link in links]
    assert all("Derivation 1" in text for text in shown)
    assert {name for name in ("of team", f"of {NAME}") for text in shown if name in text} == {
        "of team",
        f"of {NAME}",
    }
    in_scope = links[0].replace("/memory/", "/memory/scopes/team/")
    assert "of team" in scoped.send("zoe", "GET", in_scope, headers=html).text
    nobody = scoped.send(None, "GET", links[0], headers=html)
    assert nobody.headers["location"].startswith("/memory/login?")


def test_addresses_have_the_path(scoped: ScopedServer) -> None:
    path = f"/memory/scopes/{quote(NAME)}"
    void = scoped.send("zoe", "GET", f"{path}/.well-known/void").text
    assert f"<http://localhost{path}/sparql>" in void
    signed = scoped.send(None, "GET", f"{path}/explore/?q=1", headers={"Accept": "text/html"})
    target = quote(f"/scopes/{quote(NAME)}/explore/?q=1", safe="/")
    assert signed.headers["location"] == f"/memory/login?next={target}"


def test_people_without_a_view_choose_a_scope(scoped: ScopedServer) -> None:
    page = {"Accept": "text/html"}
    start = scoped.send("root", "GET", "/memory/", headers=page)
    assert (start.status_code, start.headers["location"]) == (303, "/memory/scopes")
    listed = scoped.send("root", "GET", "/memory/scopes", headers=page)
    links = re.findall(r'<a href="([^"]*)">([^<]*)</a>', listed.text)
    zoe = (f"/memory/scopes/{quote(NAME)}/", NAME)
    assert links == [zoe, ("/memory/scopes/team/", "team")]
    for href, _ in links:
        assert (
            scoped.send("root", "GET", href, headers=page).headers["location"].endswith("/explore/")
        )
    nobody = scoped.send("nobody", "GET", "/memory/scopes", headers=page)
    assert "There is none that you may read." in nobody.text


@needs_browser
def test_a_person_signs_in_and_walks_in_a_scope(scoped: ScopedServer) -> None:
    from selenium.webdriver.support.expected_conditions import staleness_of, url_to_be
    from selenium.webdriver.support.wait import WebDriverWait

    path = f"memory/scopes/{quote(NAME)}"
    with browser() as driver:
        driver.get(f"{scoped.server.address}{path}/explore/")
        driver.find_element("name", "token").send_keys(token("zoe"))
        driver.find_element("css selector", "button").click()
        WebDriverWait(driver, 20).until(url_to_be(f"{scoped.server.address}{path}/explore/"))
        field = driver.find_element("css selector", 'input[type="search"]')
        field.send_keys("Zoë\n")
        # Typing shows links, too, which go with the page.
        WebDriverWait(driver, 20).until(staleness_of(field))
        driver.find_element("link text", f"of {NAME}").click()
        assert f"/{path}/page/Person/" in driver.current_url
        assert driver.find_element("css selector", "h1").text.endswith(f"of {NAME}")
        driver.find_element("link text", "Query").click()
        assert driver.current_url.endswith(f"/{path}/explore/kql")
        messages = [one for one in driver.get_log("browser") if one["level"] == "SEVERE"]
        assert messages == []
