"""Errors in a browser: a page for each, with what helps; programs get JSON."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from kiprdf.serve.application import behind_gate
from kiprdf.serve.options import Options
from kiprdf.serve.state import Service
from tests.serve.running import RunningServer, serving

HTML = {"Accept": "text/html,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        ("/page/Drug/Asprin", "/page/Drug/Aspirin"),
        ("/page/Drgu/Aspirin", "/page/Drug/Aspirin"),
        ("/page/Symptom/Aspirin", "/page/Drug/Aspirin"),
        ("/Drug/aspirin", "/page/Drug/Aspirin"),
        ("/Aspirin", "/page/Drug/Aspirin"),
        ("/data/Drug/Asprin", "/page/Drug/Aspirin"),
        ("/drug", "/page/$ConceptType/Drug"),
        ("/page/treat", "/page/$PropositionType/treats"),
        ("/explore/shema", "/explore/schema"),
        ("/changes", "/explore/log"),
        ("/explore/history/Drug", "/page/$ConceptType/Drug"),
        ("/page/Drug/Asprin?as_of=5", "/page/Drug/Aspirin?as_of=5"),
    ],
)
def test_what_a_person_may_have_looked_for(server: RunningServer, address: str, meant: str) -> None:
    answer = server.client.get(address, headers=HTML)
    assert answer.status_code == 404
    listed = answer.text.partition("Did you mean")[2].partition("</ul>")[0]
    assert meant in re.findall('<a href="([^"]*)">', listed)
    assert server.client.get(meant, headers=HTML).status_code == 200
    last = address.partition("?")[0].rpartition("/")[2]
    assert f'<a href="/explore/?q={last}' in answer.text


def test_nothing_is_suggested_that_is_like_nothing(server: RunningServer) -> None:
    text = server.client.get("/page/Drug/Quuuux", headers=HTML).text
    assert "Did you mean" not in text
    assert "Search for “Quuuux”" in text


@pytest.mark.parametrize("name", ["<script>alert(2)</script>", '"><img src=x>', "%ff", "x" * 4000])
def test_a_hostile_path_is_text(server: RunningServer, name: str) -> None:
    for prefix in ("", "page/Drug/", "explore/", "explore/history/"):
        answer = server.client.get(f"/{prefix}{quote(name, safe='%')}", headers=HTML)
        assert answer.status_code == 404
        assert not re.search("<script>|<img", answer.text)
        assert "<h1" in answer.text


def test_what_the_gate_refuses_is_a_page(folder: Path) -> None:
    with serving(folder, "--read-only", "--token", "secret-token-of-the-test") as server:
        for method, headers, status in (
            ("GET", {"Host": "elsewhere.example"}, 421),
            ("POST", {"Origin": "http://elsewhere.example"}, 403),
            ("POST", {}, 401),
        ):
            wanted = {**headers, **HTML}
            answer = server.client.request(method, "/explore/kql", headers=wanted)
            assert answer.status_code == status
            assert answer.headers["content-type"].startswith("text/html")
            assert f"<small>{status}</small>" in answer.text
            assert "style-src 'sha256-" in answer.headers["content-security-policy"]
            assert ('href="/login"' in answer.text) == (status in (401, 403))
            answer = server.client.request(method, "/explore/kql", headers=headers)
            assert answer.json()["error"]["code"] == f"HTTP_{status}"
        kip = server.client.post("/kip", headers=HTML)
        assert kip.json()["error"]["code"] == "HTTP_401"


@pytest.mark.parametrize(("is_closing", "status"), [(True, 503), (False, 500)])
def test_a_server_that_ends_or_fails_says_so_in_a_page(*, is_closing: bool, status: int) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("a fault")

    service = Service(Options())
    service.is_closing = is_closing
    app = behind_gate(broken, service, frozenset())

    async def get(accept: str) -> httpx.Response:
        transport: Any = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/explore/", headers={"Accept": accept})

    answer = asyncio.run(get("text/html"))
    assert (answer.status_code, "<h1>" in answer.text) == (status, True)
    assert "a fault" not in answer.text
    assert asyncio.run(get("*/*")).json()["error"]["code"] == "KIP_4003"
