"""Receipts and signed capsules on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke


@pytest.fixture
def did(loaded: Invoke) -> str:
    """The signer whose key is in ``key.json``."""
    return loaded("key", "new", "key.json").stdout.strip()


def test_a_receipt_is_written_and_compared_with_the_history(
    loaded: Invoke, did: str, tmp_path: Path
) -> None:
    made = loaded("receipt", "2", "receipt.jsonld", "--key", "key.json")
    assert (made.exit_code, made.stdout) == (0, "")
    compared = loaded("verify", "--receipt", "receipt.jsonld", "--trust", did)
    assert compared.exit_code == 0
    assert "receipt.jsonld: commit 2, UPSERT at 20" in compared.stdout
    assert f"by human/owner; signed by {did}." in compared.stdout
    report = json.loads(loaded("verify", "--json", "--receipt", "receipt.jsonld").stdout)
    assert (report["receipt"]["seq"], report["receipt"]["fault"]) == (2, None)

    path = tmp_path / "receipt.jsonld"
    path.write_text(path.read_text("utf-8").replace("UPSERT", "DELETE"), "utf-8")
    forged = loaded("verify", "--receipt", "receipt.jsonld")
    assert forged.exit_code == 1
    assert "something of them was changed" in forged.stdout
    assert loaded("verify").exit_code == 0

    misplaced = loaded("verify", "receipt.jsonld", "--receipt", "receipt.jsonld")
    assert misplaced.exit_code == 1
    assert "--receipt belongs to the folder of a nexus" in misplaced.stderr


def test_a_signed_capsule_is_loaded_for_whom_is_trusted_and_a_forged_one_is_not(
    loaded: Invoke, did: str, drugs: Path, tmp_path: Path
) -> None:
    assert loaded("sign", "c.jsonld", "--key", "key.json", "--capsule", str(drugs)).exit_code == 0
    assert loaded("load", "c.jsonld", "--trust", did, "-n", "copy").exit_code == 0
    forged = tmp_path / "forged.jsonld"
    forged.write_text((tmp_path / "c.jsonld").read_text("utf-8").replace("Aspirin", "Poison"))
    for file, trust, message in (
        ("forged.jsonld", ["--trust", did], "KIP_3004 The capsule is refused: The signer"),
        (str(drugs), ["--trust", did], "KIP_3004 The capsule is not signed"),
        ("c.jsonld", [], "KIP_1001 The capsule is signed, and it is not said"),
        ("c.jsonld", ["--trust", "did:web:x"], "KIP_1001 'did:web:x' is not an Ed25519 key"),
    ):
        answer = loaded("load", file, *trust, "-n", "new")
        assert (answer.exit_code, answer.stdout) == (1, ""), file
        assert message in answer.stderr
        assert not (tmp_path / "new").exists()


def test_what_is_no_capsule_is_not_signed_as_one(loaded: Invoke, did: str, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("/etc/hostname", "utf-8")
    answer = loaded("sign", "--key", "key.json", "--capsule", "note.txt")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "note.txt contains no UPSERT block." in answer.stderr
    both = loaded("sign", "--key", "key.json", "--capsule", "medical", "--select", "?x {}")
    assert both.exit_code == 2
