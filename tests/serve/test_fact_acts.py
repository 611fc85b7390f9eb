"""Facts and concepts are added, and concepts merged, with elements that people choose by words."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import quote

from tests.serve.test_acting import FACT, RISK, Acting, Person, acting, hidden, path_of

__all__ = ["acting"]

OPTION = re.compile(r'<input type="radio" name="(\w+)_is" value="([^"]*)"( checked)?>')
ENDS = "FIND(?l.id, ?l.metadata, ?l.attributes) WHERE { ?l ({id: :s}, :p, {id: :o}) }"


def options(text: str, name: str) -> dict[str, str]:
    """What the page lists to choose, by the id."""
    listed = ((html.unescape(value), of) for of, value, _ in OPTION.findall(text))
    return {value.partition(" ")[2] or value: value for value, of in listed if of == name}


def add(person: Person, address: str, pick: str, **fields: str) -> Any:
    """The page with what the addition of a fact does, and a choice for its other end."""
    listed = person.show(address, person.form(address), **fields)
    assert listed.status_code == 200, listed.text
    assert 'value="write"' not in listed.text
    picked = {"other_asked": fields["other"], "other_is": options(listed.text, "other")[pick]}
    return person.show(address, hidden(listed.text), **{**fields, **picked})


def test_a_fact_is_added(acting: Acting) -> None:
    acting.kip(RISK, name="Adding", risk=2)
    acting.fact("Other")
    ada, address = acting.people["ada"], "/explore/act/fact/Drug/Adding"
    assert f'href="{address}"' in ada.page("/page/Drug/Adding")
    fields = {
        "side": "subject",
        "predicate": "treats",
        "other": "headache",
        "source": 'me " }',
        "confidence": "0.8",
        "attributes": '{"since": 2020}',
    }
    shown = add(ada, address, "C:Symptom/Headache", **fields)
    assert "({id: :this}, :predicate, {id: :other})" in shown.text
    assert "treats joins anything with anything." in shown.text
    assert acting.kip(FACT, name="Adding")["result"] == []
    written = ada.write(address, shown)
    assert re.fullmatch(r"/page/Drug/Adding\?done=\d+", written.headers["location"])
    ends = {"s": "C:Drug/Adding", "p": "treats", "o": "C:Symptom/Headache"}
    (id,), (metadata,), (attributes,) = acting.kip(ENDS, **ends)["result"]
    assert (metadata["source"], metadata["confidence"]) == ('me " }', 0.8)
    assert (attributes, metadata["_actor"]) == ({"since": 2020}, "human/ada")
    # A fact about the fact, in the other direction, with a new concept.
    fields = {"side": "object", "predicate": "stated", "other": "Dr. <b>", "other_type": "User"}
    about = f"/explore/act/fact/{path_of(id)}"
    shown = add(ada, about, "new", **fields)
    assert "(?other, :predicate, (id: :this))" in shown.text
    assert ada.write(about, shown).status_code == 303
    command = 'FIND(?u.name) WHERE { ?l (id: :id) (?u, "stated", ?l) }'
    assert acting.kip(command, id=id)["result"] == ["Dr. <b>"]
    # It exists by now.
    again = add(ada, about, "new", **fields)
    assert (again.status_code, "C:User/Dr. &lt;b&gt; exists already." in again.text) == (400, True)


def test_a_predicate_is_chosen_by_words(acting: Acting) -> None:
    ada, address = acting.people["ada"], "/explore/act/fact/Drug/Aspirin"
    fields = {"side": "subject", "predicate": "derived", "other": "C:Symptom/Headache"}
    listed = ada.show(address, ada.form(address), **fields)
    predicates = options(listed.text, "predicate")
    assert "C:$PropositionType/derived_from" in predicates
    assert not any(id.startswith("C:Drug") for id in predicates)
    picked = {
        "predicate_asked": "derived",
        "predicate_is": predicates["C:$PropositionType/derived_from"],
        "other_asked": fields["other"],
        "other_is": options(listed.text, "other")["C:Symptom/Headache"],
    }
    shown = ada.show(address, hidden(listed.text), **{**fields, **picked})
    assert "derived_from joins anything with anything." in shown.text
    assert "&#34;derived_from&#34;" in shown.text
    # The choice was for other words.
    other = ada.show(address, hidden(listed.text), **{**fields, **picked, "predicate": "stat"})
    assert 'value="write"' not in other.text
    # What the types of a predicate do not allow is said.
    knows = {"predicate": "knows", "other": "C:Symptom/Headache"}
    refused = ada.show(address, hidden(listed.text), **{**fields, **picked, **knows})
    assert "knows joins Person with Person." in refused.text
    for wrong in (
        {"confidence": "2"},
        {"attributes": "[1]"},
        {"attributes": '{"a b": 1}'},
        {"attributes": '{"a": 1, "a": 2}'},
    ):
        sent = {**fields, **picked, **wrong}
        assert ada.show(address, hidden(listed.text), **sent).status_code == 400, wrong
    assert ada.show(address, hidden(listed.text), predicate="", other="").status_code == 400


def test_a_script_asks_for_the_same_choices(acting: Acting) -> None:
    ada = acting.people["ada"]
    listed = ada.page("/explore/choices?name=other&q=headache&new=yes")
    assert {"C:Symptom/Headache", "new"} <= set(options(listed, "other"))
    of_type = ada.page("/explore/choices?name=other&q=headache&type=Drug")
    assert "C:Symptom/Headache" not in options(of_type, "other")
    # No drug has this name, which only begins it.
    assert options(ada.page("/explore/choices?name=other&q=Asp&type=Drug"), "other").keys() <= {
        "C:Drug/Aspirin"
    }
    assert "Nothing is called “&lt;x&gt;”" in ada.page(
        "/explore/choices?name=other&q=<x>&type=Drug"
    )
    assert ada.page('/explore/choices?name="><script>&q=headache') == ""
    hostile = ada.page(f"/explore/choices?name=other&new=yes&q={quote('<script>alert(1)')}")
    assert "alert(1)" in hostile
    assert "<script>alert" not in hostile
    assert acting.people["bob"].client.get("/explore/act/fact/Drug/Aspirin").status_code == 403


def test_a_concept_is_added(acting: Acting) -> None:
    ada, address = acting.people["ada"], "/explore/act/concept/$ConceptType/Drug"
    assert f'href="{address}"' in ada.page("/page/$ConceptType/Drug")
    written = ada.act(address, name="New: a/b", description="A drug.")
    assert re.fullmatch(r"/page/Drug/New%3A%20a%2Fb\?done=\d+", written.headers["location"])
    assert "Written</strong> as commit" in ada.page(written.headers["location"])
    assert acting.drug("New: a/b")["attributes"] == {"description": "A drug."}
    again = ada.show(address, ada.form(address), name="New: a/b")
    assert (again.status_code, "exists already" in again.text) == (400, True)
    of_all = "/explore/act/concept/"
    assert f'href="{of_all}"' in ada.page("/explore/")
    assert of_all not in acting.people["bob"].page("/explore/")
    table = "/explore/table?type=Drug"
    assert f'href="{address}"' in ada.page(table)
    assert f'href="{address}"' not in acting.people["bob"].page(table)
    assert f'href="{address}"' not in ada.page(f"{table}&as_of=3")
    assert "explore/act/" not in ada.page("/explore/table?type=$ConceptType")
    eve = acting.people["eve"]
    proposed = eve.act(of_all, type="Drug", name="Proposed first").headers["location"]
    assert "Proposed.</strong> A person decides" in eve.page(proposed)
    assert (
        ada.act(of_all, type="Symptom", name="Yawn")
        .headers["location"]
        .startswith("/page/Symptom/Yawn?")
    )
    for wrong in ("Drug/Aspirin", "$ConceptType/$ConceptType", "$ConceptType/Absent"):
        assert ada.client.get(f"/explore/act/concept/{wrong}").status_code == 404, wrong


def test_two_concepts_are_merged(acting: Acting) -> None:
    ada = acting.people["ada"]
    for name, risk in (("Merged A", 2), ("Merged B", 3)):
        acting.kip(RISK, name=name, risk=risk)
    acting.fact("Merged B")
    address = "/explore/act/merge/Drug/Merged%20A"
    assert f'href="{address}"' in ada.page("/page/Drug/Merged%20A")
    fields = {"other": "Merged B", "side": "this"}
    listed = ada.show(address, ada.form(address), **fields)
    picks = options(listed.text, "other")
    assert "C:Drug/Merged B" in picks
    assert "C:Drug/Merged A" not in picks
    fields |= {"other_asked": "Merged B", "other_is": picks["C:Drug/Merged B"]}
    shown = ada.show(address, hidden(listed.text), **fields)
    assert "MERGE CONCEPT ?gone INTO ?kept" in shown.text
    assert "risk: 2 stays, 3 is lost." in shown.text
    assert acting.drug("Merged B")
    # What others change of the other one meanwhile is not merged unseen.
    acting.kip(RISK, name="Merged B", risk=5)
    refused = ada.write(address, shown)
    assert (refused.status_code, "has changed since it was chosen" in refused.text) == (409, True)
    listed = ada.show(address, hidden(refused.text), **fields)
    fields |= {"other_is": options(listed.text, "other")["C:Drug/Merged B"], "side": "other"}
    shown = ada.show(address, hidden(listed.text), **fields)
    assert "risk: 5 stays, 2 is lost." in shown.text
    written = ada.write(address, shown)
    assert written.headers["location"].startswith("/page/Drug/Merged%20B?done=")
    merged = acting.drug("Merged B")
    assert (merged["attributes"]["risk"], merged["attributes"]["aliases"]) == (5, ["Merged A"])
    for wrong in ("$ConceptType/Drug", path_of(acting.fact("Merged B"))):
        assert ada.client.get(f"/explore/act/merge/{wrong}").status_code != 200, wrong
    # It is undone, like every commit.
    (seq,) = re.findall(r"done=(\d+)", written.headers["location"])
    assert ada.act(f"/explore/act/undo/{seq}").status_code == 303
    assert acting.drug("Merged A")["attributes"] == {"risk": 2}
