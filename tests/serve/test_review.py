"""Proposals over HTTP and MCP, and the pages on which people decide on them."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.testclient import TestClient

import kiprdf
import kiprdf.serve
from kiprdf import principals
from kiprdf.actors import Access, Kind
from tests.serve.browser import browser, needs_browser, show_on
from tests.serve.running import RunningServer, over_pipes, serving

WRITE = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {risk_level: :risk} } }'
RISK = 'FIND(?d.attributes.risk_level) WHERE { ?d {type: "Drug"} FILTER(?d.name == :name) }'
PRINCIPALS: list[tuple[str, Kind, Access]] = [
    ("ada", "human", "write"),
    ("bob", "human", "read"),
    ("eve", "human", "propose"),
    ("claude", "model", "admin"),
    ("bot", "model", "propose"),
]


class Reviewed:
    """A server with principals, whose proposals are reviewed."""

    def __init__(self, server: RunningServer, tokens: dict[str, str]) -> None:
        self.server, self.tokens = server, tokens

    def headers(self, name: str, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[name]}", **more}

    def kip(self, sender: str, command: str, /, **parameters: Any) -> dict[str, Any]:
        headers = self.headers(sender)
        answer: dict[str, Any] = self.server.kip(command, headers, parameters=parameters).json()
        return answer

    def propose(self, drug: str, risk: Any = 1, name: str = "bot") -> str:
        return str(self.kip(name, WRITE, name=drug, risk=risk)["result"]["proposed"])

    def risk(self, drug: str) -> Any:
        return self.kip("claude", RISK, name=drug)["result"]

    def signed_in(self, name: str) -> httpx.Client:
        client = httpx.Client(base_url=self.server.address, headers={"Accept": "text/html"})
        answer = client.post("/login", data={"token": self.tokens[name]})
        assert answer.status_code == 303
        return client


@pytest.fixture(scope="module")
def reviewed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reviewed]:
    place = tmp_path_factory.mktemp("review")
    file = place / "principals.toml"
    tokens = {name: principals.add(file, name, kind, access) for name, kind, access in PRINCIPALS}
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(place / "kb")
    with serving(place / "kb", "--principals", str(file)) as running:
        yield Reviewed(running, tokens)


def form(text: str, id: str) -> dict[str, str]:
    """The hidden field of the form of a proposal."""
    match = re.search(rf'action="/explore/proposals/{id}"><input[^>]*value="([0-9a-f]+)"', text)
    assert match is not None, text
    return {"key": match[1]}


def post(
    client: httpx.Client, id: str, origin: str | None = "own", **fields: str
) -> httpx.Response:
    own = str(client.base_url).rstrip("/")
    headers = {} if origin is None else {"Origin": own if origin == "own" else origin}
    return client.post(f"/explore/proposals/{id}", data=fields, headers=headers)


def test_a_write_of_who_may_only_propose_waits(reviewed: Reviewed) -> None:
    response = reviewed.kip("bot", WRITE, name="Proposed", risk=1)
    assert response["result"]["would"]["upsert_concept_nodes"] == ["C:Drug/Proposed"]
    assert reviewed.risk("Proposed") == []
    for name in ("ada", "bob"):
        text = reviewed.signed_in(name).get("/explore/proposals").text
        assert "+ Drug:Proposed" in text
        assert f"{response['result']['proposed']}</a> <small>" in text
        assert "model/bot connection-" in text


def test_a_person_approves_by_the_form(reviewed: Reviewed) -> None:
    ada = reviewed.signed_in("ada")
    id = reviewed.propose("Approved", 2)
    fields = form(ada.get("/explore/proposals").text, id)
    answer = post(ada, id, **fields, decision="approve")
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore/proposals")
    assert reviewed.risk("Approved") == [2]
    author = 'FIND(?d.metadata._actor) WHERE { ?d {type: "Drug", name: "Approved"} }'
    assert reviewed.kip("claude", author)["result"] == ["human/ada"]
    assert re.search(
        rf"· human/ada · session \S+ · {id} of model/bot", ada.get("/explore/log").text
    )
    again = post(ada, id, **fields, decision="approve")
    assert again.status_code == 400
    assert "was approved by human/ada" in again.text


def test_a_person_declines_with_a_reason(reviewed: Reviewed) -> None:
    ada = reviewed.signed_in("ada")
    id = reviewed.propose("Declined")
    fields = form(ada.get("/explore/proposals").text, id)
    assert (
        "A proposal is declined for a reason." in post(ada, id, **fields, decision="decline").text
    )
    post(ada, id, **fields, decision="decline", reason="No <b>drug</b>.", reject="yes")
    assert reviewed.risk("Declined") == []
    again = reviewed.kip("claude", WRITE, name="Declined", risk=1)
    assert again["error"]["code"] == "KIP_3004"
    text = ada.get(f"/explore/proposals/{id}").text
    assert "declined by human/ada" in text
    assert "No &lt;b&gt;drug&lt;/b&gt;." in text
    assert "<form method" not in text


def test_a_stale_proposal_is_said_to_be_one(reviewed: Reviewed) -> None:
    ada = reviewed.signed_in("ada")
    id = reviewed.propose("Aspirin", 9)
    fields = form(ada.get(f"/explore/proposals/{id}").text, id)
    assert reviewed.kip("claude", WRITE, name="Aspirin", risk=3)["result"]
    answer = post(ada, id, **fields, decision="approve")
    assert answer.status_code == 409
    assert f"{id} is stale: C:Drug/Aspirin changed after it was proposed." in answer.text
    assert reviewed.risk("Aspirin") == [3]


@pytest.mark.parametrize("name", ["claude", "bot"])
def test_a_model_sees_no_proposals(reviewed: Reviewed, name: str) -> None:
    id = reviewed.propose("Hidden from models")
    client = reviewed.signed_in(name)
    for address in ("/explore/proposals", f"/explore/proposals/{id}"):
        answer = client.get(address)
        assert answer.status_code == 403
        assert "Hidden" not in answer.text
        assert "principal of the kind human" in answer.text
        url = reviewed.server.address.rstrip("/") + address
        plain = httpx.get(url, headers=reviewed.headers(name))
        assert plain.status_code == 403
    own = str(client.base_url).rstrip("/")
    for headers in ({"Origin": own}, reviewed.headers(name, Origin=own), reviewed.headers(name)):
        address = f"/explore/proposals/{id}"
        assert (
            client.post(address, data={"decision": "approve"}, headers=headers).status_code == 403
        )
    assert reviewed.risk("Hidden from models") == []


@pytest.mark.parametrize("name", ["bob", "eve"])
def test_who_may_not_write_has_no_buttons(reviewed: Reviewed, name: str) -> None:
    ada, other = reviewed.signed_in("ada"), reviewed.signed_in(name)
    id = reviewed.propose("No buttons")
    fields = form(ada.get(f"/explore/proposals/{id}").text, id)
    text = other.get(f"/explore/proposals/{id}").text
    assert "+ Drug:&#34;No buttons" in text or "Drug:No buttons" in text
    assert "<button" not in text
    assert post(other, id, **fields, decision="approve").status_code == 403
    assert reviewed.risk("No buttons") == []


def test_nobody_approves_their_own(reviewed: Reviewed) -> None:
    id = reviewed.propose("Own", name="eve")
    text = reviewed.signed_in("ada").get(f"/explore/proposals/{id}").text
    assert 'value="approve"' in text
    own = reviewed.signed_in("eve").get(f"/explore/proposals/{id}").text
    assert 'value="approve"' not in own


def test_a_form_of_another_site_is_refused(reviewed: Reviewed) -> None:
    ada = reviewed.signed_in("ada")
    id, other = reviewed.propose("Forged"), reviewed.propose("Other")
    fields = form(ada.get(f"/explore/proposals/{id}").text, id)
    wrong = form(ada.get(f"/explore/proposals/{other}").text, other)
    answers = [
        post(ada, id, "https://evil.example", **fields, decision="approve"),
        post(ada, id, "null", **fields, decision="approve"),
        post(ada, id, None, **fields, decision="approve"),
        post(ada, id, **wrong, decision="approve"),
        post(ada, id, decision="approve"),
    ]
    assert [answer.status_code for answer in answers] == [403] * 5
    assert reviewed.risk("Forged") == []
    assert post(ada, id, **fields, decision="approve").status_code == 303
    assert reviewed.risk("Forged") == [1]


def test_a_page_without_tokens_is_protected_too(folder: Path, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(tmp_path / "kb")
    with (
        kiprdf.Nexus.open(tmp_path / "kb") as nexus,
        nexus.acting(author="bot", access="propose"),
    ):
        nexus.execute(WRITE, name="New", risk=1)
    with serving(tmp_path / "kb") as server:
        client = httpx.Client(base_url=server.address, headers={"Accept": "text/html"})
        fields = form(client.get("/explore/proposals").text, "prop-1")
        assert post(client, "prop-1", None, decision="approve").status_code == 403
        assert post(client, "prop-1", "https://evil.example", **fields).status_code == 403
        assert post(client, "prop-1", **fields, decision="approve").status_code == 303
        assert server.kip(RISK, parameters={"name": "New"}).json()["result"] == [1]


def test_a_server_that_only_reads_decides_nothing(folder: Path, tmp_path: Path) -> None:

    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(tmp_path / "kb")
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        with nexus.acting(author="bot", access="propose"):
            nexus.execute(WRITE, name="New", risk=1)
        only_reads = kiprdf.serve.app(nexus, read_only=True)
        with TestClient(only_reads, "http://127.0.0.1", client=("127.0.0.1", 1)) as client:
            text = client.get("/explore/proposals", headers={"Accept": "text/html"}).text
            assert "+ Drug:New" in text
            assert "<button" not in text
            answer = client.post("/explore/proposals/prop-1", data={"decision": "approve"})
            assert (answer.status_code, "only reads" in answer.text) == (403, True)
        assert nexus.execute(RISK, name="New") == []


HOSTILE = [
    ("Ad\u0430", '<mark title="CYRILLIC SMALL LETTER A">Ad\u0430</mark>'),
    ("A\u202eda", '<mark title="invisible">\\u202e</mark>'),
    ("A\u200bda", '<mark title="invisible">\\u200b</mark>'),
    ("A\u00adda", '<mark title="SOFT HYPHEN">\\u00ad</mark>'),
    ("A\u3164da", '<mark title="HANGUL FILLER">\\u3164</mark>'),
    ("A\U000e0041", '<mark title="invisible">\\udb40\\udc41</mark>'),
    ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ('"><form action=//evil>', "&lt;form action=//evil&gt;"),
]


@pytest.mark.parametrize(("name", "shown"), HOSTILE)
def test_a_hostile_name_is_made_visible(reviewed: Reviewed, name: str, shown: str) -> None:
    id = reviewed.propose(name, f"a\n+ Person:Approved\n{name}")
    text = reviewed.signed_in("ada").get(f"/explore/proposals/{id}").text
    assert shown in text
    assert "\\n+ Person:Approved" in text
    assert "\n+ Person:Approved" not in html.unescape(text).replace("\\n", "")
    for part in ("\u202e", "\u200b", "\u00ad", "\u3164", "\U000e0041", "<script>alert"):
        assert part not in text
    reviewed.signed_in("ada").post("/explore/proposals")


def test_what_is_cut_is_decided_on_its_own_page(reviewed: Reviewed) -> None:
    ada = reviewed.signed_in("ada")
    blocks = " ".join(f'CONCEPT {{ {{type: "Drug", name: "many {n}"}} }}' for n in range(40))
    many = reviewed.kip("bot", f"UPSERT {{ {blocks} }}")["result"]["proposed"]
    long = reviewed.propose("Long", "x" * 300 + "hidden")
    listed = [ada.get(f"/explore/proposals?first={first}").text for first in (0, 25, 50)]
    for id in (many, long):
        (text,) = (one for one in listed if f'id="{id}"' in one)
        section = text.partition(f'id="{id}"')[2].partition("</section>")[0]
        assert "Not all of it is shown" in section
        assert "<form" not in section
        own = ada.get(f"/explore/proposals/{id}").text
        assert form(own, id)
    assert "many 39" in ada.get(f"/explore/proposals/{many}").text
    assert "hidden" in ada.get(f"/explore/proposals/{long}").text


def test_ten_thousand_proposals_are_pages(tmp_path: Path, folder: Path) -> None:
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(tmp_path / "kb")
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        with nexus.acting(author="bot", access="propose"):
            nexus.execute(WRITE, name="New", risk=1)
        kept = nexus._engine.writer.proposals
        line = (tmp_path / "kb" / "proposals.jsonl").read_text()
        more = "".join(line.replace("prop-1", f"prop-{n}") for n in range(2, 10_001))
        with (tmp_path / "kb" / "proposals.jsonl").open("a") as file:
            file.write(more)
        assert len(kept.all()) == 10_000
    with serving(tmp_path / "kb") as server:
        client = httpx.Client(base_url=server.address, headers={"Accept": "text/html"}, timeout=60)
        text = client.get("/explore/proposals").text
        assert "10,000 wait" in text
        assert re.findall(r'<section class="commit" id="(prop-\d+)"', text) == [
            f"prop-{n}" for n in range(1, 26)
        ]
        assert len(text.encode()) < 60_000
        last = client.get("/explore/proposals?first=9975").text
        assert 'id="prop-10000"' in last
        assert 'rel="next"' not in last
        wrong = client.get("/explore/proposals", params={"first": "²"})
        assert 'id="prop-1"' in wrong.text
        assert client.get("/explore/proposals/prop-10001").status_code == 404
        assert client.get("/explore/proposals/..%2f..%2f").status_code == 404


def test_a_client_of_mcp_may_only_propose(tmp_path: Path, folder: Path) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(tmp_path / "kb")
    arguments = ["-m", "kiprdf", "mcp", str(tmp_path / "kb"), "--as", "claude", "--propose"]

    async def use(program: StdioServerParameters) -> list[Any]:
        async with Client(stdio_client(program)) as client:
            call = {"command": WRITE, "parameters": {"name": "New", "risk": 1}}
            return [
                (await client.call_tool("execute_kip", call)).structured_content,
                (await client.call_tool("remember", {"text": "I like tea."})).structured_content,
                (await client.call_tool("recall", {"query": "tea"})).is_error,
            ]

    with over_pipes(arguments) as program:
        proposed, refused, failed = asyncio.run(use(program))
    assert proposed["result"]["proposed"] == "prop-1"
    assert refused["error"]["code"] == "KIP_3004"
    assert "Propose one statement, by execute or execute_kip" in refused["error"]["hint"]
    assert not failed
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        (proposal,) = nexus.proposals()
        assert proposal["by"] == "model/claude"
        assert proposal["session"].startswith("mcp-")
        nexus.approve("prop-1")
        assert nexus.execute(RISK, name="New") == [1]


@needs_browser
def test_a_person_reviews_in_a_browser(reviewed: Reviewed) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    approved, declined = reviewed.propose("Seen", 4), reviewed.propose("Unseen", 5)
    with browser() as driver:
        waiting = WebDriverWait(driver, 20)
        driver.get(reviewed.server.address + "explore/proposals")
        assert urlsplit(driver.current_url).path == "/login"
        driver.find_element(By.NAME, "token").send_keys(reviewed.tokens["ada"])
        driver.find_element(By.TAG_NAME, "button").click()
        waiting.until(lambda _: urlsplit(driver.current_url).path == "/explore/proposals")
        for id, decision in ((approved, "approve"), (declined, "decline")):
            show_on(driver, 390 if decision == "decline" else 1200, is_dark=decision == "decline")
            driver.get(f"{reviewed.server.address}explore/proposals/{id}")
            width = driver.execute_script("return document.documentElement.scrollWidth")
            assert width <= driver.execute_script("return window.innerWidth")
            driver.find_element(By.NAME, "reason").send_keys("Unknown.")
            driver.find_element(By.CSS_SELECTOR, f'button[value="{decision}"]').click()
            waiting.until(lambda _: urlsplit(driver.current_url).path == "/explore/proposals")
        assert driver.get_log("browser") == []
    assert (reviewed.risk("Seen"), reviewed.risk("Unseen")) == ([4], [])
