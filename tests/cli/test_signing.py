"""kiprdf key, sign, and verify of a document; verify of a folder is in test_maintenance.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

FACT = "(Drug:Aspirin, treats, Symptom:Headache)"
NOTHING = '?d {type: "Drug"} FILTER(?d.name == "x")'
KEY = "a key"


def test_a_nexus_is_signed_and_verified(
    loaded: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    made = loaded("key", "new", "key.json")
    did, other = made.stdout.strip(), "did:key:z6MkrtoYojGHitVNG4Qh25QHMFB7S9CkJeVYKcQkppAJ3WEi"
    assert did.startswith("did:key:z6Mk")
    assert Path("key.json").stat().st_mode & 0o777 == 0o600
    again = loaded("key", "new", "key.json")
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == "kiprdf: key.json cannot be written: File exists.\n"
    assert loaded("sign", "all.jsonld", "--key", "key.json").stderr.startswith("Wrote all.jsonld")
    part = loaded("sign", "--key", "key.json", "--select", '?d {type: "Drug"}').stdout
    Path("part.jsonld").write_text(part, "utf-8")
    assert 0 < len(part) < len(Path("all.jsonld").read_text("utf-8"))

    for name in ("all.jsonld", "part.jsonld"):
        trusted = loaded("verify", name, "--trust", other, "--trust", did)
        assert (trusted.exit_code, trusted.stderr) == (0, "")
        assert trusted.stdout.startswith(f"{name}: signed by {did} at 20")
    anybody = loaded("verify", "all.jsonld")
    assert anybody.exit_code == 0
    assert anybody.stderr.startswith("Nobody is named as trusted")
    refused = loaded("verify", "all.jsonld", "--trust", other, "--json")
    assert refused.exit_code == 1
    report = json.loads(refused.stdout)
    assert (report["ok"], report["signer"]) == (False, did)
    assert report["reasons"] == [f"The signer {did} is not among those who are trusted."]
    forged = loaded("verify", "-", input=part.replace("Aspirin", "Asperin"))
    assert forged.exit_code == 1
    assert "something of them was changed" in forged.stdout


def test_what_a_key_signs_is_not_written_over_it(
    loaded: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded("key", "new", "key.json")
    Path("link.json").symlink_to("key.json")
    secret = Path("key.json").read_bytes()
    for name in ("key.json", "link.json"):
        for arguments in (
            ["sign", name],
            ["sign", name, "--capsule", "medical"],
            ["receipt", "2", name],
            ["nanopublication", FACT, "-o", name],
        ):
            answer = loaded(*arguments, "--key", "key.json")
            assert (
                answer.stderr
                == f"kiprdf: {name} is the key; name another file for what it signs.\n"
            )
            assert answer.exit_code == 1
            assert Path("key.json").read_bytes() == secret
            Path("other.json").unlink(missing_ok=True)
            places = ["other.json" if part == name else part for part in arguments]
            assert loaded(*places, "--key", "key.json").exit_code == 0
            assert Path("other.json").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["verify", "missing.jsonld"], "missing.jsonld: No such file or directory."),
        (["verify", "--trust", "x"], "--trust belongs to a signed document"),
        (["sign", "--key", KEY, "--select", NOTHING], "Nothing was selected; nothing was written."),
        (["sign", "--key", "missing.json"], "missing.json: No such file or directory."),
        (["nanopublication", FACT, "--key", "missing.json"], "missing.json: No such file"),
        (["key", "new", "missing/key.json"], "cannot be written: No such file or directory."),
    ],
)
def test_what_is_missing_is_named(
    loaded: Invoke, arguments: list[str], reason: str, tmp_path: Path
) -> None:
    key = tmp_path / "key.json"
    loaded("key", "new", str(key))
    arguments = [str(key) if argument == KEY else argument for argument in arguments]
    answer = loaded(*arguments)
    assert answer.exit_code == 1
    assert reason in answer.stderr
