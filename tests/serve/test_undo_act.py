"""A commit is undone from the pages, shown before it is written; what changed again stays."""

from __future__ import annotations

import re

from tests.serve.test_acting import RISK, Acting, acting, path_of

__all__ = ["acting"]

HEADACHE = "C:Symptom/Headache"


def last_commit(acting: Acting) -> int:
    """The number of the last commit."""
    log = acting.people["ada"].page("/explore/log")
    return int(re.findall(r"up to commit (\d+)", log)[0])


def test_a_commit_is_shown_in_words_and_undone(acting: Acting) -> None:
    acting.kip(RISK, name="Undone", risk=2)
    acting.kip(RISK, name="Undone", risk=9)
    seq, ada = last_commit(acting), acting.people["ada"]
    address = f"/explore/act/undo/{seq}"
    for page in ("/explore/log", "/explore/history/Drug/Undone"):
        assert f'href="{address}"' in ada.page(page)
        assert "/explore/act/undo/" not in acting.people["bob"].page(page)
        assert "/explore/act/undo/" not in acting.people["eve"].page(page)
    shown = ada.client.get(address)
    words = rf"Commit {seq} is of [^,]+ UTC, by model/claude \(UPSERT\): 1 change\."
    assert re.search(words, shown.text)
    assert '<del><span class="number">9</span></del>' in shown.text
    assert '<ins><span class="number">2</span></ins>' in shown.text
    assert acting.drug("Undone")["attributes"]["risk"] == 9
    written = ada.write(address, shown)
    assert written.headers["location"] == f"/explore/log?done={seq + 1}"
    assert acting.drug("Undone")["attributes"]["risk"] == 2
    notice = ada.page(written.headers["location"])
    assert "UNDO · human/ada" in notice
    # The undo is undone, too; and what is undone once is so already.
    assert "it is so already" in ada.page(address)
    assert ada.act(f"/explore/act/undo/{seq + 1}").status_code == 303
    assert acting.drug("Undone")["attributes"]["risk"] == 9


def test_what_was_changed_again_is_said_and_stays(acting: Acting) -> None:
    acting.kip(RISK, name="Again", risk=2)
    acting.kip(
        'UPSERT { CONCEPT { {type: "Drug", name: "Again"} SET ATTRIBUTES {risk: 3, dose: 1} } }'
    )
    seq, ada = last_commit(acting), acting.people["ada"]
    address = f"/explore/act/undo/{seq}"
    shown = ada.client.get(address)
    assert "changed again" not in shown.text
    acting.kip(RISK, name="Again", risk=7)
    # It would now do something else than what was shown.
    refused = ada.write(address, shown)
    assert (refused.status_code, "KIP_3005" in refused.text) == (409, True)
    text = f"C:Drug/Again: risk was changed again by commit {seq + 1}, and stays 7."
    assert text in refused.text
    assert acting.drug("Again")["attributes"]["dose"] == 1
    assert ada.write(address, refused).status_code == 303
    assert acting.drug("Again")["attributes"] == {"risk": 7}


def test_who_may_not_undo(acting: Acting) -> None:
    ada, claude = acting.people["ada"], acting.people["claude"]
    id = acting.fact("Refused")
    assert ada.act(f"/explore/act/retract/{path_of(id)}", reason="No.").status_code == 303
    seq = last_commit(acting)
    address = f"/explore/act/undo/{seq}"
    # A model does not restore what a person retracted.
    assert "stays" in claude.page(address)
    assert 'value="write"' not in claude.page(address)
    for name in ("bob", "eve"):
        assert acting.people[name].client.get(address).status_code == 403
    form = {**ada.form(address), "step": "write"}
    assert ada.client.post(address, data={**form, "key": "0" * 64}).status_code == 403
    assert ada.client.post("/explore/act/undo/3", data=form).status_code == 403
    for wrong in ("0", "-1", "x", str(seq + 1), "9" * 30, "%D9%A3", ""):
        assert ada.client.get(f"/explore/act/undo/{wrong}").status_code == 404, wrong
    assert ada.client.post(address, data=form).status_code == 303
    (metadata,) = acting.kip(f'FIND(?l.metadata) WHERE {{ ?l (id: "{id}") }}')["result"]
    assert "status" not in metadata


def test_a_rejection_is_lifted_and_not_undone(acting: Acting) -> None:
    acting.kip(RISK, name="Lifted", risk=2)
    ada = acting.people["ada"]
    address = "/explore/act/reject/Drug/Lifted"
    fields = {"what": ada.choice(address, "risk: 2"), "reason": "No."}
    assert ada.act(address, **fields).status_code == 303
    address = f"/explore/act/undo/{last_commit(acting)}"
    assert address not in ada.page("/explore/log")
    assert ada.client.get(address).status_code == 404


def test_the_undo_of_an_import_is_cut_and_what_is_used_stays(acting: Acting) -> None:
    drugs = "".join(f'CONCEPT {{ {{type: "Drug", name: "Import {i}"}} }} ' for i in range(305))
    acting.kip(f"UPSERT {{ {drugs} }}")
    seq, ada = last_commit(acting), acting.people["ada"]
    address = f"/explore/act/undo/{seq}"
    shown = ada.page(address)
    assert "305 new elements." in shown
    assert shown.count('title="removed"') == 300
    assert "and 5 more elements" in shown
    # All of it is used by now.
    links = "".join(
        f'PROPOSITION ?l{i} {{ ({{id: "C:Drug/Import {i}"}}, "treats", {{id: "{HEADACHE}"}}) }} '
        for i in range(305)
    )
    assert "result" in acting.kip(f"UPSERT {{ {links} }}")
    shown = ada.page(address)
    assert "<p>Nothing.</p>" in shown
    assert shown.count("stays: it is used by") == 100
    assert "and 205 more elements." in shown
    assert 'value="write"' not in shown
