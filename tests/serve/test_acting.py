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
from starlette.testclient import TestClient

import kiprdf
import kiprdf.serve
from kiprdf import principals
from kiprdf.actors import Access, Kind
from kiprdf.serve.explorer import acts
from tests.serve.browser import needs_browser, show_on, until
from tests.serve.running import RunningServer, serving

PRINCIPALS: list[tuple[str, Kind, Access]] = [
    ("ada", "human", "write"),
    ("bea", "human", "write"),
    ("eve", "human", "propose"),
    ("bob", "human", "read"),
    ("claude", "model", "admin"),
]
RISK = 'UPSERT { CONCEPT { {type: "Drug", name: :name} SET ATTRIBUTES {risk: :risk} } }'
TREATS = """UPSERT { CONCEPT ?s { {type: "Symptom", name: "Headache"} }
    CONCEPT { {type: "Drug", name: :name} SET PROPOSITIONS { ("treats", ?s) } } }"""
FACT = 'FIND(?l.id) WHERE { ?l ({type: "Drug", name: :name}, "treats", {name: "Headache"}) }'
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

    def choice(self, address: str, text: str) -> str:
        """What the form at an address sends for a choice."""
        options = re.findall(r'<option value="(\w*)"[^>]*>([^<]*)<', self.page(address))
        return {html.unescape(label): value for value, label in options}[text]

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

    def fact(self, drug: str) -> str:
        """The id of the fact that a drug treats a headache."""
        self.kip(TREATS, name=drug)
        (id,) = self.kip(FACT, name=drug)["result"]
        return str(id)


def path_of(id: str) -> str:
    """The path of the page of a fact."""
    _, digits, predicate = id.split(":")
    return f"$proposition/{digits}/{quote(predicate)}"


@pytest.fixture(scope="module")
def acting(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acting]:
    place = tmp_path_factory.mktemp("acting")
    file = place / "principals.toml"
    tokens = {name: principals.add(file, name, kind, access) for name, kind, access in PRINCIPALS}
    with kiprdf.Nexus.open(folder, read_only=True) as nexus:
        nexus.backup(place / "kb")
    with serving(place / "kb", "--principals", str(file)) as running:
        yield Acting(running, tokens)


def edit(path: str, key: str) -> str:
    return f"/explore/act/edit/{path}?key={key}"


# Edit ---------------------------------------------------------------------------------------------


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
    for number in ("0", "9999", "-1", "x"):
        assert "Written</strong>" not in ada.page(f"/page/Drug/Aspirin?done={number}"), number
    same = ada.show(address, ada.form(address), kind="number", value="4")
    assert "it is so already" in same.text
    assert 'value="write"' not in same.text


VALUES: list[tuple[str, str, Any]] = [
    ("text", "\r\n</textarea><script>alert(1)</script>", "\n</textarea><script>alert(1)</script>"),
    ("text", "", ""),
    ("text", ":v } } DELETE", ":v } } DELETE"),
    ("number", " 7 ", 7),
    ("number", "-0.5e1", -5.0),
    ("true", "ignored", True),
    ("false", "", False),
    ("null", "", None),
    ("json", '["a", {"b": 1.0}, null]', ["a", {"b": 1.0}, None]),
    ("json", '"\\r\\u202e"', "\r\u202e"),
    # HTML has no such character.
    ("text", "\ufffe", "\ufffe"),
]


def test_a_value_keeps_its_type(acting: Acting) -> None:
    acting.kip(RISK, name="Typed", risk=2)
    ada, address = acting.people["ada"], edit("Drug/Typed", "attributes.risk")
    for kind, value, expected in VALUES:
        assert ada.act(address, kind=kind, value=value).status_code == 303, value
        risk = acting.drug("Typed")["attributes"]["risk"]
        assert (type(risk), risk) == (type(expected), expected)
        # The form of what was written, sent as it is, changes nothing.
        page = ada.page(address)
        assert "<script>alert" not in page
        if kind in ("text", "number", "json"):
            area = re.search(
                r'name="value"[^>]*?(?: value="([^"]*)"[^>]*>|>\n([^<]*)</textarea>)', page
            )
            assert area is not None, page
            text = html.unescape(area[1] if area[1] is not None else area[2])
            (again,) = re.findall(r'<option value="(\w+)" selected', page)
            assert (
                "it is so already" in ada.show(address, hidden(page), kind=again, value=text).text
            )
    for kind, value in (
        ("number", "3,5"),
        ("number", "nan"),
        ("number", "007"),
        ("number", "1e400"),
        ("number", "9" * 5000),
        ("number", '"3"'),
        ("json", "[NaN]"),
        ("json", '[{"a": 1, "a": 2}]'),
        ("json", '"\\ud800"'),
        ("json", "[" * 5000),
        ("json", "{"),
        ("x", ""),
    ):
        refused = ada.show(address, ada.form(address), kind=kind, value=value)
        assert (refused.status_code, "KIP_1001" in refused.text) == (400, True), value
    assert ada.act(address, kind="remove").status_code == 303
    assert "risk" not in acting.drug("Typed").get("attributes", {})
    assert ada.client.get(address).status_code == 404


def test_a_value_that_was_emptied_stays_empty_in_its_form(acting: Acting) -> None:
    acting.kip(RISK, name="Emptied", risk="low")
    ada, address = acting.people["ada"], edit("Drug/Emptied", "attributes.risk")
    assert '<input name="value" id="field-value" value="low"' in ada.page(address)
    shown = ada.show(address, ada.form(address), kind="text", value="")
    assert '<input name="value" id="field-value" value=""' in shown.text


def test_an_element_has_a_form_only_for_what_can_be_done_to_it(acting: Acting) -> None:
    acting.kip(RISK, name="Formless", risk=2)
    path, ada = path_of(acting.fact("Formless")), acting.people["ada"]
    for address, status in (
        (f"retract/{path}", 200),
        (f"restore/{path}", 400),
        (f"lift/{path}", 400),
        ("lift/Drug/Formless", 400),
        ("retract/Drug/Formless", 400),
        ("restore/Drug/Formless", 400),
        ("edit/Drug/Formless?key=attributes.risk", 200),
        ("edit/Drug/Formless?key=metadata._version", 404),
        ("edit/Drug/Formless?key=attributes.colour", 404),
    ):
        answer = ada.client.get(f"/explore/act/{address}")
        is_form = '<form method="post"' in answer.text
        assert (answer.status_code, is_form) == (status, status == 200), address


def test_a_key_is_added(acting: Acting) -> None:
    acting.kip(RISK, name="Added", risk=2)
    ada, address = acting.people["ada"], "/explore/act/edit/Drug/Added"
    fields = {"kind": "text", "value": "blue"}
    assert ada.act(address, part="attributes", name="colour", **fields).status_code == 303
    assert ada.act(address, part="metadata", name="source", **fields).status_code == 303
    drug = acting.drug("Added")
    assert (drug["attributes"]["colour"], drug["metadata"]["source"]) == ("blue", "blue")
    for part, name in (
        ("attributes", "colour"),
        ("attributes", "a b"),
        ("attributes", "a: 1 } } DELETE"),
        ("metadata", "_version"),
        ("other", "key"),
    ):
        answer = ada.show(address, ada.form(address), part=part, name=name, **fields)
        assert answer.status_code == 400, name
    assert acting.drug("Added")["attributes"] == {"risk": 2, "colour": "blue"}


def test_another_version_is_a_conflict_and_overwrites_nothing(acting: Acting) -> None:
    acting.kip(RISK, name="Contested", risk=2)
    ada, address = acting.people["ada"], edit("Drug/Contested", "attributes.risk")
    shown = ada.show(address, ada.form(address), kind="number", value="4")
    assert "error" not in acting.kip(RISK, name="Contested", risk=9)
    conflict = ada.write(address, shown)
    assert conflict.status_code == 409
    assert "KIP_3005" in conflict.text
    assert "model/claude" in conflict.text
    assert acting.drug("Contested")["attributes"]["risk"] == 9
    # Theirs is beside mine: 9 is what they wrote, and what mine would replace.
    assert conflict.text.count('<span class="number">9</span>') == 2
    assert ada.write(address, conflict).status_code == 303
    assert acting.drug("Contested")["attributes"]["risk"] == 4


def test_a_form_of_no_commit_is_a_conflict_that_lists_nothing(acting: Acting) -> None:
    acting.kip(RISK, name="Forged", risk=2)
    ada, address = acting.people["ada"], edit("Drug/Forged", "attributes.risk")
    form = {**ada.form(address), "version": "0", "commit": "9" * 5_000}
    shown = ada.show(address, form, kind="number", value="4")
    assert shown.status_code == 409
    assert "KIP_3005" in shown.text


# Retract, reject ----------------------------------------------------------------------------------


def test_a_retracted_fact_is_restored_by_a_person_alone(acting: Acting) -> None:
    ada, claude = acting.people["ada"], acting.people["claude"]
    id = acting.fact("Codeine")
    path = path_of(id)
    retract, restore = (f"/explore/act/{what}/{path}" for what in ("retract", "restore"))
    assert ada.show(retract, ada.form(retract)).status_code == 400
    shown = ada.show(retract, ada.form(retract), reason="Not so\u202e.")
    assert '<mark title="RIGHT-TO-LEFT OVERRIDE">\\u202e</mark>' in shown.text
    assert ada.write(retract, shown).status_code == 303
    (metadata,) = acting.kip(f'FIND(?l.metadata) WHERE {{ ?l (id: "{id}") }}')["result"]
    assert (metadata["status"], metadata["retraction_reason"]) == ("retracted", "Not so\u202e.")
    page = claude.page(f"/page/{path}")
    assert "Only a person restores it, and model/claude is none." in page
    assert restore not in page
    refused = claude.client.get(restore)
    assert (refused.status_code, "<form method" in refused.text) == (403, False)
    assert restore in ada.page(f"/page/{path}")
    assert ada.act(restore).status_code == 303
    (metadata,) = acting.kip(f'FIND(?l.metadata) WHERE {{ ?l (id: "{id}") }}')["result"]
    assert {"status", "retraction_reason", "retracted_by"}.isdisjoint(metadata)


def test_what_was_rejected_is_refused_until_it_is_lifted(acting: Acting) -> None:
    acting.kip(RISK, name="Rejected", risk=2)
    ada, claude = acting.people["ada"], acting.people["claude"]
    address = "/explore/act/reject/Drug/Rejected"
    assert address not in claude.page("/page/Drug/Rejected")
    form = ada.form(address)
    what = ada.choice(address, "risk: 2")
    assert ada.show(address, form, what=what).status_code == 400
    fields = {"what": what, "reason": "A typing error."}
    assert ada.write(address, ada.show(address, form, **fields)).status_code == 303
    assert "risk" not in acting.drug("Rejected").get("attributes", {})
    refusal = acting.kip(RISK, name="Rejected", risk=2)["error"]
    assert refusal["code"] == "KIP_3004"
    assert "was rejected by human/ada" in refusal["message"]
    adding = "/explore/act/edit/Drug/Rejected"
    again = {"part": "attributes", "name": "risk", "kind": "text", "value": "2"}
    assert ada.show(adding, ada.form(adding), **again).status_code == 403
    listed = ada.page("/explore/rejections?of=C:Drug/Rejected")
    assert "A typing error." in listed
    (lift,) = re.findall(r'href="(/explore/act/lift/[^"]+)"', listed)
    seen_by_model = claude.page("/explore/rejections?of=C:Drug/Rejected")
    assert lift not in seen_by_model
    assert "Only a person lifts a rejection." in seen_by_model
    assert claude.client.get(lift).status_code == 403
    assert ada.act(lift).headers["location"].startswith("/explore/rejections?done=")
    assert "error" not in acting.kip(RISK, name="Rejected", risk=2)
    # Changes are in words: the name of a rejection is a digest.
    home, log = (html.unescape(ada.page(f"/explore/{path}")) for path in ("", "log"))
    assert "</b> rejected for good <a" in home
    assert "</b> lifted a rejection <a" in home
    assert log.count(" · LIFT · human/ada") == 1
    assert not re.search(r"Rejection/[0-9a-f]{16}", home + log)
    # The definition of rejections is none.
    assert "/explore/act/" not in ada.page("/page/$ConceptType/Rejection")


def test_only_the_value_that_was_chosen_is_rejected(acting: Acting) -> None:
    acting.kip(RISK, name="Moved", risk=[1, 2])
    ada, address = acting.people["ada"], "/explore/act/reject/Drug/Moved"
    fields = {"what": ada.choice(address, "risk: 2"), "reason": "No."}
    shown = ada.show(address, ada.form(address), **fields)
    # Another value stands where it was, and then another beside it.
    acting.kip(RISK, name="Moved", risk=[0, 1])
    refused = ada.write(address, shown)
    assert (refused.status_code, "does not have this value" in refused.text) == (409, True)
    acting.kip(RISK, name="Moved", risk=[0, 1, 2])
    conflict = ada.write(address, shown)
    assert (conflict.status_code, "Rejects risk: 2." in conflict.text) == (409, True)
    assert ada.write(address, conflict).status_code == 303
    assert acting.drug("Moved")["attributes"]["risk"] == [0, 1]


def test_a_rejected_fact_is_listed_and_not_restored(acting: Acting) -> None:
    id = acting.fact("Willow")
    ada, path = acting.people["ada"], path_of(id)
    address, again = f"/explore/act/reject/{path}", {"what": "", "reason": "No."}
    form = ada.form(address)
    assert ada.write(address, ada.show(address, form, **again)).status_code == 303
    twice = ada.show(address, form, **again)
    assert (twice.status_code, "is rejected already." in twice.text) == (400, True)
    page = ada.page(f"/page/{path}")
    assert "It is rejected for good" in page
    assert f"/explore/act/restore/{path}" not in page
    assert ada.client.get(f"/explore/act/restore/{path}").status_code == 403
    listed = ada.page(f"/explore/rejections?of={quote(id)}")
    assert f'<a href="/page/{path}">' in listed
    (lift,) = re.findall(r'href="(/explore/act/lift/[^"]+)"', listed)
    assert ada.act(lift).status_code == 303
    assert ada.act(f"/explore/act/restore/{path}").status_code == 303


def test_the_rejections_of_one_fact_are_found_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "MOST_FACTS", 1)
    with kiprdf.Nexus.memory() as nexus:
        nexus.execute(
            """UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} }
            CONCEPT ?a { {type: "Person", name: "A"} } CONCEPT ?b { {type: "Person", name: "B"} }
            CONCEPT { {type: "Person", name: "C"}
                SET PROPOSITIONS { ("knows", ?a) ("knows", ?b) } } }"""
        )
        ids = nexus.find('FIND(?l.id) WHERE { ?l (?s, "knows", ?o) }').column("?l.id")
        for id in ids:
            nexus.reject(id, reason=f"Not {id}.")
        app = kiprdf.serve.app(nexus)
        with TestClient(
            app, base_url="http://localhost", headers={"Accept": "text/html"}
        ) as client:
            for id in ids:
                page = client.get("/explore/rejections", params={"of": id}).text
                assert [f"Not {one}." in page for one in ids] == [one == id for one in ids]


# Who may ------------------------------------------------------------------------------------------


def test_who_may_only_propose_makes_a_proposal(acting: Acting) -> None:
    acting.kip(RISK, name="Proposed", risk=2)
    eve, address = acting.people["eve"], edit("Drug/Proposed", "attributes.risk")
    assert "/explore/act/reject/" not in eve.page("/page/Drug/Proposed")
    shown = eve.show(address, eve.form(address), kind="number", value="5")
    assert "Propose it" in shown.text
    written = eve.write(address, shown)
    assert re.fullmatch(r"/page/Drug/Proposed\?proposed=prop-\d+", written.headers["location"])
    assert acting.drug("Proposed")["attributes"]["risk"] == 2
    (link,) = re.findall(
        r'<a href="(/explore/proposals/prop-\d+)"', eve.page(written.headers["location"])
    )
    ada = acting.people["ada"]
    approved = ada.client.post(link, data={**hidden(ada.page(link)), "decision": "approve"})
    assert approved.status_code == 303
    assert acting.drug("Proposed")["attributes"]["risk"] == 5


def test_who_may_not_write_sees_no_link(acting: Acting, folder: Path) -> None:
    ada, bob, address = (
        acting.people["ada"],
        acting.people["bob"],
        edit("Drug/Aspirin", "attributes.colour"),
    )
    assert "/explore/act/" in ada.page("/page/Drug/Aspirin")
    assert "/explore/act/" not in ada.page("/page/Drug/Aspirin?as_of=2")
    assert "/explore/act/" not in bob.page("/page/Drug/Aspirin")
    assert bob.client.get(address).status_code == 403
    with serving(folder, "--read-only") as server:
        page = server.client.get("/page/Drug/Aspirin", headers={"Accept": "text/html"})
        assert "Aspirin" in page.text
        assert "/explore/act/" not in page.text
        assert server.client.get(address).status_code == 403


def test_a_form_belongs_to_one_principal_and_one_element(acting: Acting) -> None:
    acting.kip(RISK, name="Forged", risk=2)
    ada, claude = acting.people["ada"], acting.people["claude"]
    address = edit("Drug/Forged", "attributes.risk")
    form = {**ada.form(address), "kind": "number", "value": "6", "step": "write"}
    theirs = {**form, "key": claude.form(address)["key"]}
    for sent, where, headers in (
        ({**form, "key": "0" * 64}, address, {}),
        (theirs, address, {}),
        (form, edit("Drug/Forged", "attributes.colour"), {}),
        (form, edit("Drug/Aspirin", "attributes.risk"), {}),
        (form, "/explore/act/reject/Drug/Forged", {}),
        (form, address, {"Origin": "https://evil.example"}),
        (form, address, {"Origin": "null"}),
    ):
        answer = ada.client.post(where, data=sent, headers=headers)
        assert answer.status_code == 403, (sent, where, headers)
        assert acting.drug("Forged")["attributes"]["risk"] == 2
    assert ada.client.post(address, data={**form, "sent": "[1]"}).status_code == 400
    assert ada.client.post(address, data=form).status_code == 303
    assert acting.drug("Forged")["attributes"]["risk"] == 6


def test_the_engine_refuses_what_is_protected(acting: Acting) -> None:
    ada, address = acting.people["ada"], edit("$ConceptType/Domain", "attributes.description")
    refused = ada.show(address, ada.form(address), kind="text", value="Mine.")
    assert refused.status_code == 403
    assert "belongs to the core schema and cannot be changed." in refused.text
    own = "/explore/act/edit/$ConceptType/Drug"
    added = {"part": "attributes", "name": "note", "kind": "text", "value": "A medicine."}
    assert ada.act(own, **added).status_code == 303


def test_hostile_names_are_text(acting: Acting) -> None:
    name = "\"><script>alert(1)</script></textarea>\u202e'&"
    assert "error" not in acting.kip(RISK, name=name, risk="</textarea><script>alert(2)</script>\n")
    ada, path = acting.people["ada"], f"Drug/{quote(name, safe='')}"
    address = edit(path, "attributes.risk")
    for text in (
        ada.page(f"/page/{path}"),
        ada.page(address),
        ada.show(address, ada.form(address), kind="text", value="<script>alert(3)</script>").text,
        ada.page(f"/explore/act/reject/{path}"),
        ada.page(ada.act(address, kind="text", value="<b>").headers["location"]),
    ):
        assert "alert(" in text
        assert "<script>alert" not in text
        assert text.count("</textarea>") <= 1
    assert acting.drug(name)["attributes"]["risk"] == "<b>"


# In a browser -------------------------------------------------------------------------------------


class Tab:
    """A tab of a browser, in which a person has signed in on a host, which has other cookies."""

    def __init__(self, window: Any, acting: Acting, name: str, host: str) -> None:
        self.window = window
        self.root = acting.server.address.replace("127.0.0.1", host)
        self.handle = window.current_window_handle
        window.get(f"{self.root}login?next=/explore/")
        window.find_element("name", "token").send_keys(acting.tokens[name] + "\n")
        until(lambda: "/explore/" in window.current_url)

    def open(self, path: str) -> None:
        self.window.switch_to.window(self.handle)
        self.window.get(self.root + path)

    def click(self, text: str) -> None:
        """Press a link or button, and wait for the next page."""
        self.window.switch_to.window(self.handle)
        at = f"//main//*[self::a or self::button][normalize-space() = '{text}']"
        until(lambda: self.window.find_elements("xpath", at))
        before = self.window.find_element("xpath", at)
        before.click()
        until(lambda: _is_gone(before))

    def type(self, field: str, text: str) -> None:
        self.window.switch_to.window(self.handle)
        element = until(lambda: self.window.find_elements("name", field))[0]
        element.clear()
        element.send_keys(text)

    def choose(self, field: str, id: str) -> None:
        """Choose what a script lists for the words of a field."""
        at = f"input[name={field}][value$='{id}']"

        def click() -> bool:
            listed = self.window.find_elements("css selector", at)
            for one in listed:
                one.click()
            return bool(listed)

        until(click)

    def wait_for(self, text: str) -> None:
        """Wait for a page with a text."""
        until(lambda: text in self.window.find_element("tag name", "html").text)

    @property
    def text(self) -> str:
        self.window.switch_to.window(self.handle)
        width, most = self.window.execute_script(
            "return [document.documentElement.scrollWidth, window.innerWidth]"
        )
        assert width <= most
        return str(self.window.find_element("tag name", "main").text)


def _is_gone(element: Any) -> bool:
    from selenium.common.exceptions import WebDriverException

    try:
        return not element.is_enabled()
    except WebDriverException:
        return True


@needs_browser
def test_two_browsers_edit_one_value(acting: Acting, window: Any) -> None:
    acting.kip(RISK, name="Twice", risk=2)
    ada = Tab(window, acting, "ada", "127.0.0.1")
    window.switch_to.new_window("tab")
    bea = Tab(window, acting, "bea", "localhost")
    try:
        for tab, value in ((ada, "4"), (bea, "7")):
            tab.open("page/Drug/Twice")
            tab.window.find_element("css selector", "a[aria-label='Edit risk']").click()
            tab.type("value", value)
            tab.click("Show what it does")
        ada.click("Write it")
        assert "Written as commit" in ada.text
        assert window.get_log("browser") == []
        show_on(window, 390, is_dark=True)
        bea.click("Write it")
        assert "KIP_3005" in bea.text
        assert "human/ada" in bea.text
        assert acting.drug("Twice")["attributes"]["risk"] == 4
        bea.click("Write mine on top")
        assert "Written as commit" in bea.text
        drug = acting.drug("Twice")
        assert (drug["attributes"]["risk"], drug["metadata"]["_actor"]) == (7, "human/bea")
    finally:
        window.close()
        window.switch_to.window(ada.handle)


@needs_browser
def test_a_fact_is_retracted_restored_rejected_and_lifted(acting: Acting, window: Any) -> None:
    path = path_of(acting.fact("Valerian"))
    ada = Tab(window, acting, "ada", "127.0.0.1")
    ada.open(f"page/{path}")
    for link, reason in (("Retract", "Not so."), ("Restore", ""), ("Reject for good", "Never.")):
        ada.click(link)
        if reason:
            ada.type("reason", reason)
            ada.click("Show what it does")
        ada.click("Write it")
        assert "Written as commit" in ada.text
    assert "It is rejected for good" in ada.text
    ada.click("the rejection")
    for text in ("Lift", "Write it"):
        ada.click(text)
    assert "Valerian" not in ada.text
    ada.open(f"page/{path}")
    assert "Restore" in ada.text
    assert window.get_log("browser") == []
