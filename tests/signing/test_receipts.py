"""Receipts: what a commit was, without what it wrote, compared with the history of the folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from kiprdf.signing import documents, keys
from tests.node import needs_node
from tests.signing.test_node import verified_by_node

PEOPLE = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Person"} }
  CONCEPT { {type: "$PropositionType", name: "knows"} }
}"""
SECRET = """UPSERT {
  CONCEPT ?bo { {type: "Person", name: "Bo Secret"} }
  CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { note: "Hidden" }
            SET PROPOSITIONS { ("knows", ?bo) WITH METADATA { source: "A letter" } } }
}"""
CHANGE = 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES { note: "Gone" } } }'
DELETE = 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Ada"} }'
FIND_BO = 'FIND(?p) WHERE { ?p {type: "Person", name: "Bo Secret"} }'


class Signer:
    """A key, and the receipts of a folder with a commit of each kind."""

    def __init__(self, folder: Path) -> None:
        self.key, self.folder = folder / "key.json", folder / "brain"
        self.did = keys.new_key(self.key)
        with Nexus.open(self.folder, genesis=False) as nexus:
            nexus.execute(PEOPLE)
            with nexus.acting(author="agent-7", session="s1"):
                nexus.execute(SECRET)
            nexus.execute(CHANGE)
            nexus.execute(DELETE)
            nexus.undo(seq=4)
            nexus.forget(FIND_BO)
            self.receipts = {seq: nexus.receipt(seq, self.key) for seq in range(1, 7)}

    def compared(self, seq: int, folder: Path | None = None) -> dict[str, Any]:
        """How the receipt of a commit compares with the folder, or another."""
        report = Nexus.verify_history(
            folder or self.folder, receipt=self.receipts[seq], trusted=[self.did]
        )
        assert report["fault"] is None
        receipt: dict[str, Any] = report["receipt"]
        return receipt


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer(tmp_path)


def test_a_receipt_says_what_a_commit_was_and_nothing_that_it_wrote(signer: Signer) -> None:
    assert {seq: signer.compared(seq)["kind"] for seq in signer.receipts} == {
        1: "UPSERT", 2: "UPSERT", 3: "UPSERT", 4: "DELETE", 5: "UNDO", 6: "FORGET",
    }  # fmt: skip
    shown = signer.compared(3)
    assert {key: value for key, value in shown.items() if key not in ("at", "head")} == {
        "seq": 3,
        "kind": "UPSERT",
        "by": "human/owner",
        "concepts_added": 0,
        "concepts_removed": 0,
        "concepts_changed": 1,
        "propositions_added": 0,
        "propositions_removed": 0,
        "propositions_changed": 0,
        "signer": signer.did,
        "rewritten": False,
        "fault": None,
    }
    assert signer.compared(2)["by"] == "model/agent-7"
    assert signer.compared(6)["head"] == Nexus.verify_history(signer.folder)["head"]
    words = ("Bo", "Secret", "Ada", "Hidden", "letter", "knows", "Person", "note", "s1", "CONCEPT")
    for seq, receipt in signer.receipts.items():
        text = "".join(documents.read(receipt)[1])  # a signature may have any letters
        assert [word for word in words if word in text] == [], seq
        assert "receipt/at" in text


def test_the_receipt_of_an_erasure_has_its_numbers(signer: Signer) -> None:
    receipt = signer.compared(6)
    # Bo, the link to him, and what the undo restored of it
    assert (receipt["forgotten"], receipt["commits_rewritten"]) == (2, 3)
    assert "concepts_removed" not in receipt


def test_a_receipt_from_before_an_erasure_shows_the_counts_of_then(tmp_path: Path) -> None:
    key = tmp_path / "key.json"
    keys.new_key(key)
    with Nexus.open(tmp_path / "brain", genesis=False) as nexus:
        nexus.execute(PEOPLE)
        nexus.execute(SECRET)
        before = nexus.receipt(2, key)
        nexus.forget(FIND_BO)
        after = nexus.receipt(2, key)
    reports = [
        Nexus.verify_history(tmp_path / "brain", receipt=one)["receipt"] for one in (before, after)
    ]
    assert [report["concepts_added"] for report in reports] == [2, 1]
    assert [(report["fault"], report["rewritten"]) for report in reports] == [(None, True)] * 2
    assert reports[0]["head"] == reports[1]["head"]


def test_after_compacting_the_receipts_of_what_is_gone_are_no_longer_confirmed(
    signer: Signer,
) -> None:
    with Nexus.open(signer.folder, genesis=False) as nexus:
        nexus.compact_history(4)
        for seq in (3, 4):
            with pytest.raises(KipError) as raised:
                nexus.receipt(seq, signer.key)
            assert raised.value.code == "KIP_3002"
        assert raised.value.hint == "Give a number above 4."
        assert '"FORGET"' in nexus.receipt(6, signer.key)
    gone = signer.compared(3)
    assert gone["fault"] == (
        "The history has no record of commit 3 alone: it was compacted, or has a gap."
    )
    kept = {seq: signer.compared(seq) for seq in (4, 5, 6)}
    assert [(one["fault"], one["rewritten"]) for one in kept.values()] == [
        (None, True), (None, True), (None, False),
    ]  # fmt: skip


def test_a_receipt_belongs_to_one_history(signer: Signer, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Signer(tmp_path / "other")
    assert signer.compared(3, other.folder)["fault"] == "Commit 3 of the history is another one."
    with Nexus.open(signer.folder, genesis=False) as nexus:
        nexus.backup(tmp_path / "copy")
        nexus.execute(PEOPLE.replace("knows", "likes"))
        signer.receipts[7] = nexus.receipt(7, signer.key)
    assert signer.compared(7)["fault"] is None
    assert signer.compared(7, tmp_path / "copy")["fault"] == "The history ends at commit 6."
    assert signer.compared(6, tmp_path / "copy")["fault"] is None


def test_a_receipt_shows_a_history_that_was_written_again_as_a_whole(
    signer: Signer, tmp_path: Path
) -> None:
    """The chain alone cannot: whoever writes all of it again notes its digests, too."""
    with Nexus.open(tmp_path / "again", genesis=False) as nexus:
        nexus.execute(PEOPLE)
        with nexus.acting(author="agent-7", session="s1"):
            nexus.execute(SECRET.replace("Hidden", "Shown"))
    assert Nexus.verify_history(tmp_path / "again")["fault"] is None
    assert signer.compared(2, tmp_path / "again")["fault"] is not None


def test_a_receipt_that_is_not_signed_by_whom_is_trusted_does_not_hold(
    signer: Signer, tmp_path: Path
) -> None:
    stranger = keys.new_key(tmp_path / "stranger.json")
    report = Nexus.verify_history(signer.folder, receipt=signer.receipts[2], trusted=[stranger])[
        "receipt"
    ]
    assert (report["signer"], "not among those" in report["fault"]) == (signer.did, True)
    forged = signer.receipts[2].replace("agent-7", "agent-8")
    report = Nexus.verify_history(signer.folder, receipt=forged)["receipt"]
    assert (report["signer"], "seq" in report) == (None, False)
    assert "something of them was changed" in report["fault"]


def test_another_signed_document_is_no_receipt(signer: Signer) -> None:
    _, lines = documents.read(signer.receipts[2])
    changed = {
        "two numbers": [*lines, lines[-1].replace('"2"', '"3"')],
        "two receipts": [*lines, *documents.read(signer.receipts[3])[1]],
        "a number that is none": [line.replace('/seq> "2"', '/seq> "two"') for line in lines],
        "a long number": [line.replace('/seq> "2"', f'/seq> "{"2" * 5000}"') for line in lines],
        "no head": [line for line in lines if "/head>" not in line],
        "another name": [line.replace("receipt/", "receipt/0") for line in lines],
        "nothing": [],
    }
    assert documents.sign_lines(sorted(lines), signer.key) is not None
    for name, other in changed.items():
        receipt = documents.sign_lines(sorted(set(other)), signer.key)
        report = Nexus.verify_history(signer.folder, receipt=receipt)["receipt"]
        assert report["fault"] == "This document is signed, and is no receipt.", name


def test_a_receipt_of_a_history_that_was_edited_does_not_hold(signer: Signer) -> None:
    with Nexus.open(signer.folder, genesis=False) as nexus:
        nexus.execute(CHANGE.replace("Gone", "Lost"))
    [log] = (signer.folder / "history").glob("*.klog")
    data = log.read_bytes()
    log.write_bytes(data.replace(b"Lost", b"Last"))
    report = Nexus.verify_history(signer.folder, receipt=signer.receipts[2])
    assert report["fault"] is not None
    assert report["receipt"]["fault"] == "The history is not as it was written."


REFUSED: dict[Any, str] = {
    0: "KIP_3002", 7: "KIP_3002", -1: "KIP_3002", 10**5000: "KIP_3002", "2": "KIP_1001",
    True: "KIP_1001", None: "KIP_1001", "2026-01-01T00:00:00Z": "KIP_1001",
}  # fmt: skip


def test_a_commit_that_is_none_has_no_receipt(signer: Signer) -> None:
    with Nexus.open(signer.folder, read_only=True) as nexus:
        for seq, code in REFUSED.items():
            with pytest.raises(KipError) as raised:
                nexus.receipt(seq, signer.key)
            assert raised.value.code == code, str(seq)[:20]
        assert nexus.receipt(6, signer.key)
        with nexus.at(3) as past, pytest.raises(KipError) as raised:
            past.receipt(2, signer.key)
        assert raised.value.hint == "Ask the nexus itself for its history."
        with pytest.raises(FileNotFoundError):
            nexus.receipt(6, signer.folder / "nowhere.json")


def test_a_nexus_without_a_history_says_so(signer: Signer) -> None:
    with Nexus.memory() as nexus, pytest.raises(KipError) as raised:
        nexus.receipt(1, signer.key)
    assert raised.value.code == "KIP_1001"
    assert "history=True" in raised.value.hint


@needs_node
def test_the_javascript_library_verifies_receipts(signer: Signer) -> None:
    receipts = [json.loads(receipt) for receipt in signer.receipts.values()]
    assert verified_by_node(receipts) == [True] * 6
