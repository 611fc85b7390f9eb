"""A graph that is written afresh: smaller, and the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import kiprdf

WRITE = 'UPSERT { CONCEPT { {type: "Event", name: :name} SET ATTRIBUTES { note: :note } } }'
READ = 'FIND(?e.name, ?e.attributes.note, ?e.metadata._version) WHERE { ?e {type: "Event"} }'


def test_a_folder_is_smaller_and_answers_as_before(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path) as nexus:
        for number in range(40):
            nexus.execute(WRITE, name=f"Event {number % 4}", note=f"{number} " * 2_000)
            nexus.store.engine.flush()  # type: ignore[attr-defined]
        rows, commit = nexus.find(READ), nexus.info()["commit"]
        sizes = nexus.optimize()
        assert sizes["after"] < sizes["before"]
        assert (nexus.find(READ), nexus.info()["commit"]) == (rows, commit)
        nexus.execute(WRITE, name="Event 0", note="later")
    with kiprdf.Nexus.open(tmp_path) as nexus:
        assert nexus.info()["commit"] == commit + 1
        assert ("Event 0", "later", 11) in nexus.find(READ).tuples()
        report = nexus.check()
        assert (report["faults"], report["history"]["state"]) == ([], "sound")
        assert nexus.at(commit).find(READ) == rows


def test_a_cursor_goes_on_after_it(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path) as nexus:
        for number in range(4):
            nexus.execute(WRITE, name=f"Event {number}", note="short")
        page = nexus.answer(f"{READ} ORDER BY ?e.name ASC LIMIT 2")
        nexus.optimize()
        following = nexus.answer(
            f"{READ} ORDER BY ?e.name ASC LIMIT 2 CURSOR :cursor", {"cursor": page.next_cursor}
        )
        assert following.result[0] == ["Event 2", "Event 3"]


def test_a_read_only_nexus_is_refused(tmp_path: Path) -> None:
    kiprdf.Nexus.open(tmp_path).close()
    with (
        kiprdf.Nexus.open(tmp_path, read_only=True) as nexus,
        pytest.raises(kiprdf.KipError, match="read-only"),
    ):
        nexus.optimize()
