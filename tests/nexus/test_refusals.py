"""Writes that were refused are noted, without their texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from kiprdf.store import refusals
from tests.cli.runner import invoke

UPSERT = 'UPSERT { CONCEPT { {type: "Secret", name: :name} } }'
DELETE = 'DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "$self"} }'
CAPSULE = 'UPSERT { CONCEPT { {type: "Secret", name: "Secret"} } }'


def refused(nexus: Nexus, write: Callable[[Nexus], object]) -> None:
    with pytest.raises(KipError):
        write(nexus)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


WRITES: dict[str, tuple[Callable[[Nexus], object], str, str | None]] = {
    "execute": (lambda nexus: nexus.execute(UPSERT, name="Secret"), "KIP_2001", UPSERT),
    "protected": (lambda nexus: nexus.execute(DELETE), "KIP_3004", DELETE),
    "comment": (lambda nexus: nexus.execute(f"// x\n {DELETE}"), "KIP_3004", f"// x\n {DELETE}"),
    "malformed": (lambda nexus: nexus.execute("UPSERT { Secret"), "KIP_1001", "UPSERT { Secret"),
    "no parameter": (lambda nexus: nexus.execute(UPSERT), "KIP_1001", UPSERT),
    "read-only": (lambda nexus: nexus.execute(UPSERT, readonly=True), "KIP_1001", UPSERT),
    "capsule": (lambda nexus: nexus.apply_capsule(CAPSULE), "KIP_2001", CAPSULE),
    "transaction": (
        lambda nexus: nexus.transaction(lambda tx: tx.execute(DELETE)),
        "KIP_3004",
        None,
    ),
    "import": (
        lambda nexus: nexus.import_rdf("<urn:a> a <urn:Secret> ."),
        "KIP_2001",
        None,
    ),
    "ontology": (
        lambda nexus: nexus.import_ontology("<urn:Secret> a <http://www.w3.org/2002/07/owl#Class"),
        "KIP_1001",
        None,
    ),
    "patch": (
        lambda nexus: nexus.apply_patch(
            'A <urn:kip:nexus/Secret/Secret> <urn:kip:attribute/a> "1" .\n'
        ),
        "KIP_2001",
        None,
    ),
    "undo": (lambda nexus: nexus.undo(seq=10_000), "KIP_3002", None),
    "erasures": (
        lambda nexus: nexus.apply_erasures("kiprdf erasures 1\nSecret\n"),
        "KIP_1001",
        None,
    ),
    "compact": (lambda nexus: nexus.compact_history(10_000), "KIP_3002", None),
    "forget": (lambda nexus: nexus.forget(["C:Person/$self"]), "KIP_3004", None),
    "restore": (lambda nexus: nexus.restore(nexus.snapshot()), "KIP_2002", None),
    "approve": (lambda nexus: nexus.approve("prop-1"), "KIP_3002", None),
    "decline": (lambda nexus: nexus.decline("prop-1", "Secret"), "KIP_3002", None),
    "reject": (
        lambda nexus: nexus.reject("P:0123456789abcdef:Secret", reason="Secret"),
        "KIP_3002",
        None,
    ),
    "lift": (lambda nexus: nexus.lift("Secret"), "KIP_3002", None),
}


@pytest.mark.parametrize("path", WRITES)
def test_each_refused_write_is_a_line(path: str, tmp_path: Path) -> None:
    write, code, text = WRITES[path]
    with Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        assert nexus.refusals() == []
        assert not (tmp_path / "kb" / "audit.jsonl").exists()
        with nexus.acting(author="claude", session="s-1", kind="human"):
            refused(nexus, write)
        (line,) = nexus.refusals()
    assert line.pop("time").endswith("Z")
    if text is None:
        assert line["digest"] is None or len(line["digest"]) == 64
        line["digest"] = None
    assert line == {
        "principal": "human/claude",
        "session": "s-1",
        "code": code,
        "digest": text and digest(text),
    }
    stored = (tmp_path / "kb" / "audit.jsonl").read_text()
    assert len(stored.splitlines()) == 1
    assert "Secret" not in stored
    assert "$self" not in stored


def test_what_reads_or_only_tries_is_no_refused_write() -> None:
    nexus = Nexus.memory(history=True)
    refused(nexus, lambda nexus: nexus.execute("FIND(?x"))
    refused(nexus, lambda nexus: nexus.execute('FIND(?x) WHERE { ?x {type: "Secret"} }'))
    refused(nexus, lambda nexus: nexus.execute(DELETE, dry_run=True))
    refused(nexus, lambda nexus: nexus.undo(seq=10_000, dry_run=True))
    refused(nexus, lambda nexus: nexus.history("C:Secret/x"))
    nexus.execute_kip({"command": 5})
    assert nexus.refusals() == []
    nexus.execute_kip({"commands": ["DESCRIBE DOMAINS", DELETE]})
    nexus.execute_kip_readonly({"command": DELETE})
    assert [line["code"] for line in nexus.refusals()] == ["KIP_1001", "KIP_3004"]


def test_refusals_are_selected_newest_first() -> None:
    nexus = Nexus.memory()
    for author, session in (("ada", "1"), ("bob", "1"), ("bob", "2"), (None, None)):
        with nexus.acting(author=author, session=session):
            refused(nexus, lambda nexus: nexus.execute(DELETE))
    principals = [line["principal"] for line in nexus.refusals()]
    assert principals == ["human/owner", "model/bob", "model/bob", "model/ada"]
    assert [line["session"] for line in nexus.refusals(author="bob")] == ["2", "1"]
    assert [line["principal"] for line in nexus.refusals(session="1")] == ["model/bob", "model/ada"]
    assert [line["session"] for line in nexus.refusals(limit=2)] == [None, "2"]
    for wrong in (0, True, 10_001, "1"):
        refused(nexus, lambda nexus, wrong=wrong: nexus.refusals(limit=wrong))  # type: ignore[misc]


def test_the_last_ones_are_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusals.KEPT == 1000
    monkeypatch.setattr(refusals, "KEPT", 50)
    nexus = Nexus.memory()
    for number in range(55):
        with nexus.acting(author=f"a{number}", access="read"):
            refused(nexus, lambda nexus: nexus.execute("DELETE"))
    listed = nexus.refusals(limit=10_000)
    assert len(listed) == 50
    assert (listed[0]["principal"], listed[-1]["principal"]) == ("model/a54", "model/a5")


def test_a_backup_has_them_and_a_reader_does_not_write(tmp_path: Path) -> None:
    folder, copy = tmp_path / "kb", tmp_path / "copy"
    with Nexus.open(folder) as nexus:
        refused(nexus, lambda nexus: nexus.execute(DELETE))
        with Nexus.open(folder, read_only=True) as reader:
            refused(reader, lambda nexus: nexus.execute(UPSERT, name="x"))
            assert [line["code"] for line in reader.refusals()] == ["KIP_1001", "KIP_3004"]
        assert [line["code"] for line in nexus.refusals()] == ["KIP_3004"]
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Jane"} } }')
        nexus.forget(["C:Person/Jane"])
        nexus.backup(copy)
        assert nexus.check()["faults"] == []
    for place in (folder, copy):
        with Nexus.open(place) as nexus:
            assert [line["code"] for line in nexus.refusals()] == ["KIP_3004"]
            assert nexus.check()["faults"] == []


def test_the_file_is_rotated_and_a_damaged_line_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "FILE_BYTES", 1000)
    folder = tmp_path / "kb"
    with Nexus.open(folder) as nexus:
        for number in range(60):
            with nexus.acting(author=f"a{number}", access="read"):
                refused(nexus, lambda nexus: nexus.execute("DELETE"))
        names = sorted(path.name for path in folder.glob("audit*"))
        assert names == ["audit.jsonl", *(f"audit.jsonl.{number}" for number in range(1, 6))]
        assert all(path.stat().st_size <= 1000 for path in folder.glob("audit*"))
        authors = [line["principal"] for line in nexus.refusals()]
        assert authors == [f"model/a{number}" for number in range(59, 59 - len(authors), -1)]
        assert len(authors) > 20
        nexus.backup(tmp_path / "copy")
        assert sorted(path.name for path in (tmp_path / "copy").glob("audit*")) == names
        with (folder / "audit.jsonl").open("ab") as file:
            file.write(b'{"time": "2026')
        refused(nexus, lambda nexus: nexus.execute("DELETE"))
        assert nexus.refusals()[0]["principal"] == "human/owner"
        assert nexus.refusals()[1]["principal"] == "model/a59"
        number = len((folder / "audit.jsonl.1").read_bytes().splitlines())
        assert nexus.check()["faults"] == [f"Line {number} of audit.jsonl.1 is damaged; delete it."]


@pytest.mark.parametrize(
    "damage", [b"", b"\xff\x00", b"[]", b"5", b"{}", b'{"time": 1', b"null", b"DAMAGED"]
)
def test_a_damaged_line_is_named_and_the_others_are_listed(damage: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with Nexus.open(folder) as nexus:
        for _ in range(3):
            refused(nexus, lambda nexus: nexus.execute(DELETE))
        lines = (folder / "audit.jsonl").read_bytes().splitlines()
        lines[1] = damage.replace(b"DAMAGED", lines[1].replace(b'"human/owner"', b"5"))
        (folder / "audit.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        assert len(nexus.refusals()) == len(nexus.refusals(author="owner")) == 2
        assert nexus.check()["faults"] == ["Line 2 of audit.jsonl is damaged; delete it."]
        (folder / "audit.jsonl").write_bytes(b"\n".join([lines[0], lines[2]]) + b"\n")
        assert nexus.check()["faults"] == []


def test_a_disk_that_cannot_be_written_hides_no_error(tmp_path: Path) -> None:
    with Nexus.open(tmp_path / "kb") as nexus:
        (tmp_path / "kb" / "audit.jsonl").mkdir()
        with pytest.raises(KipError) as raised:
            nexus.execute(DELETE)
        assert raised.value.code == "KIP_3004"
        assert nexus.refusals() == []


def test_the_command_line_lists_them(tmp_path: Path) -> None:
    folder = str(tmp_path / "kb")
    assert invoke("run", "--nexus", folder, UPSERT, "-p", "name=x").exit_code == 1
    invoke("run", "--nexus", folder, 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
    assert invoke("run", "--nexus", folder, DELETE).exit_code == 1
    shown = invoke("refusals", folder).stdout
    assert [line.split()[1:] for line in shown.splitlines()] == [
        ["human/owner", "KIP_3004", digest(DELETE)]
    ]
    as_json = json.loads(invoke("refusals", folder, "--json", "--author", "owner").stdout)
    assert [line["code"] for line in as_json] == ["KIP_3004"]
    none: Any = invoke("refusals", folder, "--author", "ada")
    assert (none.stdout, "Nothing was refused." in none.stderr) == ("", True)
