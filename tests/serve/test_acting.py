"""The acts on one element: each is shown, then written, under the name of who is signed in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import kiprdf
from kiprdf import principals
from kiprdf.actors import Access, Kind
from tests.serve.running import RunningServer, serving

PRINCIPALS: list[tuple[str, Kind, Access]] = [
    ("ada", "human", "write"),
    ("eve", "human", "propose"),
    ("bob", "human", "read"),
    ("claude", "model", "admin"),
]
RISK = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {risk: :risk} } }'
TREATS = """UPSERT { CONCEPT ?s { {type: "Symptom", name: "Headache"} }
    CONCEPT { {type: "Drug", name: "Aspirin"} SET PROPOSITIONS { ("treats", ?s) } } }"""
FACT = 'FIND(?l.id) WHERE { ?l ({type: "Drug", name: "Aspirin"}, "treats", {name: "Headache"}) }'
FORM = re.compile(r'<form method="post".*?</form>', re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


class Person:
    """A browser without script, with the cookie of a principal."""

    def __init__(self, server: RunningServer, token: str) -> None:
        own = server.address.rstrip("/")
        headers = {"Accept": "text/html", "Origin": own}
        self.client = httpx.Client(base_url=own, headers=headers)
        assert self.client.post("/login", data={"token": token}).status_code == 303

    def page(self, path: str) -> str:
        return self.client.get(path).text

    def form(self, address: str) -> dict[str, str]:
        """The hidden fields of the form at an address."""
        answer = self.client.get(address)
        assert answer.status_code == 200, answer.text
        return hidden(answer.text)

    def show(self, address: str, form: dict[str, str], **fields: str) -> httpx.Response:
        return self.client.post(address, data={**form, **fields, "step": "show"})

    def write(self, address: str, shown: httpx.Response) -> httpx.Response:
        return self.client.post(address, data={**hidden(shown.text), "step": "write"})

    def act(self, address: str, **fields: str) -> httpx.Response:
        """Both steps."""
        return self.write(address, self.show(address, self.form(address), **fields))


def hidden(text: str) -> dict[str, str]:
    """The hidden fields of the first form of a page that writes."""
    form = FORM.search(text)
    assert form is not None, text
    return {name: html.unescape(value) for name, value in HIDDEN.findall(form[0])}


class Acting:
    """A server with principals, of a nexus that all of them see."""

    def __init__(self, server: RunningServer, tokens: dict[str, str]) -> None:
        self.server, self.tokens = server, tokens
        self.people = {name: Person(server, token) for name, token in tokens.items()}

    def kip(self, command: str, name: str = "claude", /, **parameters: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        return self.server.kip(command, headers, parameters=parameters).json()

    def drug(self, name: str) -> Any:
        (drug,) = self.kip('FIND(?d) WHERE { ?d {type: "Drug", name: :name} }', name=name)["result"]
        return drug

    def fact(self) -> tuple[str, str]:
        """The id of a fact, and the path of its page."""
        (id,) = self.kip(FACT)["result"]
        _, digits, predicate = id.split(":")
        return id, f"$proposition/{digits}/{quote(predicate)}"


@pytest.fixture
def acting(folder: Path, tmp_path: Path) -> Iterator[Acting]:
    file = tmp_path / "principals.toml"
    tokens = {name: principals.add(file, name, kind, access) for name, kind, access in PRINCIPALS}
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(tmp_path / "kb")
    with serving(tmp_path / "kb", "--principals", str(file)) as running:
        yield Acting(running, tokens)


def edit(path: str, key: str) -> str:
    return f"/explore/act/edit/{path}?key={key}"


def test_a_value_is_shown_then_written(acting: Acting) -> None:
    ada, address = acting.people["ada"], edit("Drug/Aspirin", "attributes.risk")
    assert html.escape(address) in ada.page("/page/Drug/Aspirin")
    shown = ada.show(address, ada.form(address), kind="number", value="4")
    assert "EXPECT VERSION :version SET ATTRIBUTES { risk: :value }" in shown.text
    assert acting.drug("Aspirin")["attributes"]["risk"] == 2
    written = ada.write(address, shown)
    assert written.status_code == 303
    drug = acting.drug("Aspirin")
    assert (drug["attributes"]["risk"], drug["metadata"]["_actor"]) == (4, "human/ada")
    notice = ada.page(written.headers["location"])
    assert re.search(r'Written</strong> as commit (\d+)\. <a href="/explore/act/undo/\1"', notice)
    assert '<del><span class="number">2</span></del>' in notice


def test_another_version_is_a_conflict_and_overwrites_nothing(acting: Acting) -> None:
    ada, address = acting.people["ada"], edit("Drug/Aspirin", "attributes.risk")
    shown = ada.show(address, ada.form(address), kind="number", value="4")
    assert "error" not in acting.kip(RISK, name="Aspirin", risk=9)
    conflict = ada.write(address, shown)
    assert conflict.status_code == 409
    assert "KIP_3005" in conflict.text
    assert "model/claude" in conflict.text
    assert acting.drug("Aspirin")["attributes"]["risk"] == 9
    # Theirs is beside mine: 9 is what they wrote, and what mine would replace.
    assert conflict.text.count('<span class="number">9</span>') == 2
    assert ada.write(address, conflict).status_code == 303
    assert acting.drug("Aspirin")["attributes"]["risk"] == 4


def test_what_was_rejected_is_refused_until_it_is_lifted(acting: Acting) -> None:
    ada, claude = acting.people["ada"], acting.people["claude"]
    address = "/explore/act/reject/Drug/Aspirin"
    form = ada.form(address)
    assert ada.show(address, form, what="risk").status_code == 400
    fields = {"what": "risk", "reason": "A typing error."}
    assert ada.write(address, ada.show(address, form, **fields)).status_code == 303
    assert "risk" not in acting.drug("Aspirin")["attributes"]
    refusal = acting.kip(RISK, name="Aspirin", risk=2)["error"]
    assert refusal["code"] == "KIP_3004"
    assert "was rejected by human/ada" in refusal["message"]
    listed = ada.page("/explore/rejections?of=C:Drug/Aspirin")
    assert "A typing error." in listed
    (lift,) = re.findall(r'href="(/explore/act/lift/[^"]+)"', listed)
    seen_by_model = claude.page("/explore/rejections?of=C:Drug/Aspirin")
    assert lift not in seen_by_model
    assert "Only a person lifts a rejection." in seen_by_model
    assert claude.client.get(lift).status_code == 403
    assert ada.act(lift).headers["location"].startswith("/explore/rejections?done=")
    assert "error" not in acting.kip(RISK, name="Aspirin", risk=2)
