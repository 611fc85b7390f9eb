"""Several nexuses behind one gate: each principal sees its scopes, and nothing of others."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.serve.scoped import ScopedServer, make, serving_scopes


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScopedServer]:
    place = tmp_path_factory.mktemp("scoped")
    make(place / "scopes")
    with serving_scopes(place) as server:
        yield server


@pytest.mark.parametrize(
    ("who", "names"),
    [
        ("ada", {"team": 200, "ada": 200, "bob": 404}),
        ("bob", {"team": 200, "ada": 404, "bob": 200}),
        ("reader", {"team": 200, "ada": 404, "bob": 404}),
        ("nobody", {"team": 404, "ada": 404, "bob": 404}),
        ("root", {"team": 200, "ada": 200, "bob": 200}),
    ],
)
def test_a_principal_reads_its_scopes(
    scoped: ScopedServer, who: str, names: dict[str, int]
) -> None:
    answers = {name: scoped.send(who, "GET", f"/scopes/{name}/") for name in names}
    assert {name: answer.status_code for name, answer in answers.items()} == names
    for name, status in names.items():
        if status == 200:
            assert scoped.people(who, f"/scopes/{name}") == [f"of {name}"]


@pytest.mark.parametrize(
    ("who", "names"),
    [
        ("ada", {"team": 403, "ada": 200, "bob": 404}),
        ("bob", {"team": 403, "ada": 404, "bob": 200}),
        ("reader", {"team": 403, "ada": 404, "bob": 404}),
        ("viewer", {"team": 403, "ada": 403, "bob": 404}),
        ("root", {"team": 200, "ada": 200, "bob": 200}),
    ],
)
def test_a_principal_writes_its_scope(
    scoped: ScopedServer, who: str, names: dict[str, int]
) -> None:
    answers = {name: scoped.write(who, f"by {who}", f"/scopes/{name}") for name in names}
    assert {name: answer.status_code for name, answer in answers.items()} == names


@pytest.mark.parametrize(
    ("who", "names"),
    [
        ("ada", ["of ada", "of team"]),
        ("viewer", ["of ada", "of team"]),
        ("bob", ["of bob", "of team"]),
        ("reader", ["of team"]),
        ("alone", ["of bob"]),
    ],
)
def test_the_root_is_what_a_principal_reads(
    scoped: ScopedServer, who: str, names: list[str]
) -> None:
    assert scoped.people(who) == names


def test_what_is_written_at_the_root_goes_to_one_scope(scoped: ScopedServer) -> None:
    assert scoped.write("ada", "of the root").status_code == 200
    assert scoped.people("ada") == ["of ada", "of team", "of the root"]
    assert scoped.people("root", "/scopes/ada") == ["of ada", "of the root"]
    assert scoped.people("root", "/scopes/team") == ["of team"]
    find = 'FIND(?p.metadata._actor) WHERE { ?p {type: "Person", name: "of the root"} }'
    assert scoped.kip("root", find, "/scopes/ada").json()["result"] == ["human/ada"]
    gone = scoped.kip("ada", 'DELETE CONCEPT ?p DETACH WHERE { ?p {name: "of the root"} }')
    assert gone.status_code == 200, gone.text


def test_what_another_scope_has_is_not_changed(scoped: ScopedServer) -> None:
    gone = scoped.kip("ada", 'DELETE CONCEPT ?p DETACH WHERE { ?p {name: "of team"} }')
    assert (gone.status_code, gone.json()["error"]["code"]) == (403, "KIP_3004")
    assert "team" in gone.json()["error"]["message"]
    assert scoped.people("ada") == ["of ada", "of team"]


@pytest.mark.parametrize("who", ["viewer", "reader"])
def test_who_writes_no_scope_writes_nothing(scoped: ScopedServer, who: str) -> None:
    refused = scoped.write(who, "of nobody")
    assert refused.status_code == 403
    assert refused.json()["error"]["message"] == "This token only reads."


def form_of(scoped: ScopedServer, path: str) -> dict[str, str]:
    """The hidden fields of the first form of a page that writes."""
    page = scoped.send("ada", "GET", path, headers={"Accept": "text/html"}).text
    pairs = re.findall(r'name="(key|version)" value="(\w+)"', page)
    return dict(reversed(pairs))


def test_what_is_proposed_in_a_view_is_approved_there(scoped: ScopedServer) -> None:
    proposed = scoped.write("proposer", "of a proposal").json()["result"]["proposed"]
    assert "of a proposal" not in scoped.people("ada")
    form = form_of(scoped, f"/explore/proposals/{proposed}")
    decision = {"key": form["key"], "decision": "approve"}
    # A form belongs to its address.
    elsewhere = f"/scopes/ada/explore/proposals/{proposed}"
    assert scoped.send("ada", "POST", elsewhere, data=decision).status_code == 403
    approved = scoped.send("ada", "POST", f"/explore/proposals/{proposed}", data=decision)
    assert (approved.status_code, approved.headers["location"]) == (303, "/explore/proposals")
    assert "of a proposal" in scoped.people("ada", "/scopes/ada")
    assert "of a proposal" not in scoped.people("ada", "/scopes/team")


def test_what_is_rejected_in_a_view_is_rejected_in_its_scope(scoped: ScopedServer) -> None:
    write = 'UPSERT { CONCEPT { {type: "Person", name: "Eve"} SET ATTRIBUTES { age: 7 } } }'
    assert scoped.kip("ada", write).status_code == 200
    address = "/explore/act/reject/Person/Eve"
    form = form_of(scoped, address)
    page = scoped.send("ada", "GET", address, headers={"Accept": "text/html"}).text
    (what,) = re.findall(r'<option value="(\w+)"[^>]*>age: 7<', page)
    fields = {**form, "what": what, "reason": "no", "step": "write"}
    rejected = scoped.send("ada", "POST", address, data=fields)
    assert rejected.status_code == 303
    assert rejected.headers["location"].startswith("/page/Person/Eve")
    for who, path in (("ada", ""), ("ada", "/scopes/ada"), ("root", "/scopes/ada")):
        again = scoped.kip(who, write, path)
        assert (again.status_code, "was rejected by human/ada" in again.text) == (403, True)
    assert scoped.kip("root", write, "/scopes/team").status_code == 200


def test_a_value_is_edited_in_a_view_and_in_a_scope(scoped: ScopedServer) -> None:
    write = 'UPSERT { CONCEPT { {type: "Person", name: "Zoe"} SET ATTRIBUTES { age: 7 } } }'
    age = 'FIND(?p.attributes.age) WHERE { ?p {type: "Person", name: "Zoe"} }'
    assert scoped.kip("root", write, "/scopes/team").status_code == 200
    people = {"Accept": "text/html"}
    for path, value, status in (("/scopes/team", 8, 403), ("", 9, 303), ("/scopes/ada", 10, 303)):
        address = f"{path}/explore/act/edit/Person/Zoe?key=attributes.age"
        if status == 403:
            assert scoped.send("ada", "GET", address, headers=people).status_code == 403
            page = scoped.send("ada", "GET", f"{path}/page/Person/Zoe", headers=people).text
            assert "Zoe" in page
            assert "/explore/act/" not in page
            continue
        form = form_of(scoped, address)
        fields = {**form, "kind": "number", "value": str(value), "step": "show"}
        shown = scoped.send("ada", "POST", address, data=fields, headers=people)
        assert ("EXPECT VERSION" in shown.text) == bool(path), shown.text
        written = scoped.send("ada", "POST", address, data={**fields, "step": "write"})
        assert written.status_code == 303, written.text
        assert written.headers["location"].startswith(f"{path}/page/Person/Zoe")
        assert scoped.kip("ada", age, path).json()["result"] == [value]
    assert scoped.kip("root", age, "/scopes/team").json()["result"] == [7]


def test_a_change_of_the_written_scope_is_a_conflict_in_a_view(scoped: ScopedServer) -> None:
    write = 'UPSERT { CONCEPT { {type: "Person", name: "Yan"} SET ATTRIBUTES { age: :age } } }'
    for age in (7, 8, 9):
        assert scoped.kip("root", write, "/scopes/team", age=age).status_code == 200
    assert scoped.kip("root", write, "/scopes/ada", age=10).status_code == 200
    address, people = "/explore/act/edit/Person/Yan?key=attributes.age", {"Accept": "text/html"}
    fields = {**form_of(scoped, address), "kind": "number", "value": "11", "step": "write"}
    # The version of the view stays that of the other scope.
    assert scoped.kip("root", write, "/scopes/ada", age=20).status_code == 200
    conflict = scoped.send("ada", "POST", address, data=fields, headers=people)
    assert (conflict.status_code, "KIP_3005" in conflict.text) == (409, True)
    again = {**fields, "version": form_of(scoped, address)["version"]}
    assert scoped.send("ada", "POST", address, data=again).status_code == 303
    age_of = 'FIND(?p.attributes.age) WHERE { ?p {type: "Person", name: "Yan"} }'
    assert scoped.kip("ada", age_of).json()["result"] == [11]
