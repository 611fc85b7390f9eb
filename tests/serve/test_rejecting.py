"""The form on the page of an element that rejects a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

import kiprdf
from kiprdf import principals
from kiprdf.actors import Access, Kind
from tests.serve.running import RunningServer, serving

PRINCIPALS: list[tuple[str, Kind, Access]] = [
    ("ada", "human", "write"),
    ("bob", "human", "read"),
    ("claude", "model", "admin"),
]
RISK = 'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {risk: 2} } }'
TREATS = """UPSERT { CONCEPT ?s { {type: "Symptom", name: "Headache"} }
    CONCEPT { {type: "Drug", name: "Aspirin"} SET PROPOSITIONS { ("treats", ?s) } } }"""
FACT = 'FIND(?l.id) WHERE { ?l ({type: "Drug", name: "Aspirin"}, "treats", {name: "Headache"}) }'


class Rejecting:
    """A server with principals."""

    def __init__(self, server: RunningServer, tokens: dict[str, str]) -> None:
        self.server, self.tokens = server, tokens

    def kip(self, command: str) -> dict[str, object]:
        headers = {"Authorization": f"Bearer {self.tokens['claude']}"}
        answer: dict[str, object] = self.server.kip(command, headers).json()
        return answer

    @contextmanager
    def signed_in(self, name: str) -> Iterator[httpx.Client]:
        accept = {"Accept": "text/html"}
        with httpx.Client(base_url=self.server.address, headers=accept) as client:
            assert client.post("/login", data={"token": self.tokens[name]}).status_code == 303
            yield client

    def post(
        self, client: httpx.Client, page: str, origin: str | None = None, **fields: str
    ) -> httpx.Response:
        action = f"/explore/reject/{page}"
        headers = {"Origin": origin or self.server.address}
        return client.post(action, data=fields, headers=headers)


@pytest.fixture
def server(folder: Path, tmp_path: Path) -> Iterator[Rejecting]:
    file = tmp_path / "principals.toml"
    tokens = {name: principals.add(file, name, kind, access) for name, kind, access in PRINCIPALS}
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(tmp_path / "kb")
    with serving(tmp_path / "kb", "--principals", str(file)) as running:
        yield Rejecting(running, tokens)


def form(text: str) -> dict[str, str]:
    """The hidden fields of the form."""
    fields = re.findall(r'<input type="hidden" name="(key|version)" value="([0-9a-f]+)">', text)
    assert len(fields) == 2, text
    return dict(fields)


def test_a_person_rejects_a_value_on_the_page_of_an_element(server: Rejecting) -> None:
    with server.signed_in("ada") as ada, server.signed_in("bob") as bob:
        page = ada.get("/page/Drug/Aspirin")
        fields = {**form(page.text), "attribute": "risk", "reason": "A typing error."}
        shown_to_bob = bob.get("/page/Drug/Aspirin")
        assert "Aspirin" in shown_to_bob.text
        assert "explore/reject" not in shown_to_bob.text
        assert page.headers["ETag"] != shown_to_bob.headers["ETag"]
        # What others send, or what comes from elsewhere, rejects nothing.
        assert server.post(bob, "Drug/Aspirin", **fields).status_code == 403
        evil = server.post(ada, "Drug/Aspirin", "https://evil.example", **fields)
        assert evil.status_code == 403
        assert server.post(ada, "Drug/Ibuprofen", **fields).status_code == 403
        wrong = {**fields, "key": "0" * 64}
        assert server.post(ada, "Drug/Aspirin", **wrong).status_code == 403
        assert server.post(ada, "Drug/Aspirin", **{**fields, "reason": ""}).status_code == 400
        assert "error" not in server.kip(RISK)
        done = server.post(ada, "Drug/Aspirin", **fields)
        assert (done.status_code, done.headers["Location"]) == (303, "/page/Drug/Aspirin")
        assert 'value="risk"' not in ada.get("/page/Drug/Aspirin").text
        refusal = server.kip(RISK)["error"]
        assert isinstance(refusal, dict)
        assert refusal["code"] == "KIP_3004"
        assert "was rejected by human/ada" in refusal["message"]
        # The page is an old one now.
        again = {**fields, "attribute": "colour"}
        assert server.post(ada, "Drug/Aspirin", **again).status_code == 409


def test_a_person_rejects_a_fact_on_its_page(server: Rejecting) -> None:
    (id,) = server.kip(FACT)["result"]  # type: ignore[misc]
    _, digits, predicate = str(id).split(":")
    path = f"$proposition/{digits}/{quote(predicate)}"
    with server.signed_in("ada") as ada:
        fields = {**form(ada.get(f"/page/{path}").text), "attribute": "", "reason": "Not so."}
        assert server.post(ada, path, **fields).status_code == 303
        assert "retracted" in ada.get(f"/page/{path}").text
    assert "error" in server.kip(TREATS)
    with server.signed_in("claude") as claude:
        assert "explore/reject" not in claude.get(f"/page/{path}").text
