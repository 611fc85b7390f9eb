"""The history says who wrote a commit, with the kind; so does an undo."""

from __future__ import annotations

from pathlib import Path

from kiprdf import Nexus
from tests.cli.runner import invoke

PERSON = 'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES {by: :by} } }'


def test_a_commit_names_its_actor_also_after_a_restore(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with Nexus.open(folder) as nexus:
        nexus.execute(PERSON, name="A", by="owner")
        with nexus.acting(author="ada", session="s-1", kind="human"):
            nexus.execute(PERSON, name="A", by="ada")
        with nexus.acting(author="claude", session="s-1"):
            nexus.execute(PERSON, name="A", by="claude")
        nexus.snapshot(tmp_path / "kb.ttl", history=tmp_path / "kb.log")
    copy = Nexus.memory(history=True, genesis=False)
    copy.restore(tmp_path / "kb.ttl", history=tmp_path / "kb.log")
    for nexus in (Nexus.open(folder), copy):
        entries = nexus.history("C:Person/A")["entries"]
        assert [entry.get("actor") for entry in entries] == ["model/claude", "human/ada", None]
        (commit,) = nexus.changes(author="ada")["commits"]
        assert (commit["actor"], commit["author"], commit["session"]) == ("human/ada", "ada", "s-1")
        report = nexus.undo(session="s-1", dry_run=True)
        assert report["actors"] == ["human/ada", "model/claude"]
        assert "actors" not in nexus.undo(seq=report["seqs"][0] - 1, dry_run=True, conflicts="skip")
        nexus.close()
    shown = invoke("history", "C:Person/A", "--nexus", str(folder)).stdout
    heads = [line.split()[2:] for line in shown.splitlines() if line[0] != " "]
    assert [head[0] for head in heads] == ["model/claude", "human/ada", "created"]


def test_an_undo_of_a_person_is_its_own_commit() -> None:
    nexus = Nexus.memory(history=True)
    with nexus.acting(author="claude", session="s-1"):
        nexus.execute(PERSON, name="A", by="claude")
    with nexus.acting(author="ada", session="s-2", kind="human"):
        assert nexus.undo(session="s-1")["actors"] == ["model/claude"]
    assert nexus.changes(session="s-2")["commits"][0]["actor"] == "human/ada"
