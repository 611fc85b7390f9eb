"""Other writers go on while an import, a capsule or a snapshot is prepared (decision 045)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf.execution.writer import Writer
from kiprdf.interchange import snapshots
from kiprdf.store import ReadSet
from tests.nexus.support import commit, dataset, medical, untouched

FOAF = """
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<https://example.org/#ada> a foaf:Person ; foaf:name "Ada" ; foaf:knows <https://example.org/#bob> .
<https://example.org/#bob> a foaf:Person ; foaf:name "Bob" .
"""
ONTOLOGY = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
<https://example.org/#Robot> a owl:Class .
"""
CAPSULE = 'UPSERT { CONCEPT { {type: "Drug", name: "Ibuprofen"} SET ATTRIBUTES { risk: 3 } } }'
OTHER = 'UPSERT { CONCEPT { {type: "Symptom", name: "Cough"} } }'


def import_foaf(nexus: kiprdf.Nexus, **options: Any) -> dict[str, Any]:
    return nexus.import_rdf(FOAF, mapping="foaf", define=True, **options)


def import_ontology(nexus: kiprdf.Nexus, **options: Any) -> dict[str, Any]:
    return nexus.import_ontology(ONTOLOGY, **options)


def apply_capsule(nexus: kiprdf.Nexus) -> dict[str, Any]:
    return nexus.apply_capsule(CAPSULE)


LONG_WRITES = [import_foaf, import_ontology, apply_capsule]


class Pause:
    """Pauses the first draft of a statement until another thread continues it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.drafts = 0
        self.thread: threading.Thread | None = None
        self.has_begun, self.may_end = threading.Event(), threading.Event()
        draft = Writer.draft

        def paused(writer: Writer, *arguments: Any, **options: Any) -> Any:
            # The writer beside the long write is not held.
            if threading.current_thread() is not self.thread:
                return draft(writer, *arguments, **options)
            self.drafts += 1
            result = draft(writer, *arguments, **options)
            if self.drafts == 1:
                self.has_begun.set()
                assert self.may_end.wait(60)
            return result

        patch.setattr(Writer, "draft", paused)

    def during(self, call: Callable[[], Any], other: Callable[[], Any]) -> Any:
        """The result of a call, while which another call began and ended."""
        results: list[Any] = []
        self.thread = threading.Thread(target=lambda: results.append(call()))
        self.thread.start()
        try:
            assert self.has_begun.wait(60)
            other()
        finally:
            self.may_end.set()
            self.thread.join()
        return results[0]


@pytest.fixture
def pause(monkeypatch: pytest.MonkeyPatch) -> Pause:
    return Pause(monkeypatch)


@pytest.mark.parametrize("long_write", LONG_WRITES)
def test_a_writer_does_not_wait_while_a_long_write_is_prepared(
    long_write: Callable[[kiprdf.Nexus], Any], pause: Pause
) -> None:
    expected = medical()
    expected.execute(OTHER)
    report = long_write(expected)
    nexus = medical()
    assert pause.during(lambda: long_write(nexus), lambda: nexus.execute(OTHER)) == report
    assert dataset(nexus) == dataset(expected)
    # What the other writer changed was not read.
    assert pause.drafts == 1


PERSON = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} } } '
IN_THE_WAY = [
    'UPSERT { CONCEPT { {type: "$ConceptType", name: "Robot"} SET ATTRIBUTES {is: "ours"} } }',
    'UPSERT { CONCEPT { {type: "$ConceptType", name: "Person"} SET ATTRIBUTES {is: "ours"} } }',
    'UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }',
    PERSON + 'UPSERT { CONCEPT { {type: "Person", name: "Ada"} SET ATTRIBUTES {born: 1815} } }',
    PERSON
    + """UPSERT { CONCEPT { {type: "Person", name: "Countess"}
                            SET ATTRIBUTES {same_as: "https://example.org/#ada"} } }""",
    'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Aspirin"} }',
    'UPSERT { CONCEPT { {type: "Drug", name: "Ibuprofen"} SET ATTRIBUTES {colour: "red"} } }',
]


@pytest.mark.parametrize("long_write", LONG_WRITES)
@pytest.mark.parametrize("other", IN_THE_WAY)
def test_another_write_at_any_moment_comes_before_the_long_one(
    other: str, long_write: Callable[[kiprdf.Nexus], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = medical()
    expected.execute(other)
    report = long_write(expected)
    reads = 0
    write_at = -1
    for method in ("match", "lookup", "describe"):
        read = getattr(ReadSet, method)

        def counted(self: ReadSet, *pattern: Any, _read: Any = read) -> Any:
            nonlocal reads
            reads += 1
            if reads == write_at:
                nexus.execute(other)
            return _read(self, *pattern)

        monkeypatch.setattr(ReadSet, method, counted)
    nexus = medical()
    long_write(nexus)
    for moment in range(1, reads + 1, max(1, reads // 12)):
        reads, write_at = 0, moment
        nexus = medical()
        assert long_write(nexus) == report
        assert dataset(nexus) == dataset(expected)


def test_a_write_prepared_again_follows_the_other_writer(pause: Pause) -> None:
    nexus = medical()
    other_values = CAPSULE.replace("risk: 3", 'colour: "red"')
    receipt = pause.during(lambda: apply_capsule(nexus), lambda: nexus.execute(other_values))
    assert receipt["upsert_concept_nodes"] == ["C:Drug/Ibuprofen"]
    (drug,) = nexus.execute('FIND(?d) WHERE { ?d {type: "Drug", name: "Ibuprofen"} }')
    assert drug["attributes"] == {"colour": "red", "risk": 3}
    assert drug["metadata"]["_version"] == 2
    assert pause.drafts == 2


def test_an_error_caused_by_the_other_writer_is_raised(pause: Pause) -> None:
    nexus = medical()
    text = (
        'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} EXPECT VERSION 1 '
        "SET ATTRIBUTES { risk: 3 } } }"
    )
    errors: list[str] = []

    def apply() -> None:
        with pytest.raises(kiprdf.KipError) as raised:
            nexus.apply_capsule(text)
        errors.append(raised.value.code)

    change = 'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 9 } } }'
    pause.during(apply, lambda: nexus.execute(change))
    assert errors == ["KIP_3005"]
    assert nexus.execute('FIND(?d.attributes.risk) WHERE { ?d {name: "Aspirin"} }') == [9]


@pytest.mark.parametrize("long_write", LONG_WRITES)
def test_a_long_write_alone_is_prepared_once(
    long_write: Callable[[kiprdf.Nexus], Any], pause: Pause
) -> None:
    nexus = medical()
    before = commit(nexus)
    pause.during(lambda: long_write(nexus), lambda: None)
    assert (pause.drafts, commit(nexus)) == (1, before + 1)


@pytest.mark.parametrize(
    "dry_run",
    [
        lambda nexus: import_foaf(nexus, dry_run=True),
        lambda nexus: import_ontology(nexus, dry_run=True),
        lambda nexus: nexus.execute_kip({"command": CAPSULE, "dry_run": True}),
    ],
)
def test_a_dry_run_takes_no_lock(dry_run: Callable[[kiprdf.Nexus], Any]) -> None:
    nexus = medical()
    expected = dry_run(nexus)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with nexus.store.writing():
            held.set()
            assert done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(60)
        with untouched(nexus):
            assert dry_run(nexus) == expected
    finally:
        done.set()
        holder.join()


def test_a_dry_run_beside_a_writer_is_repeated_on_a_copy(pause: Pause) -> None:
    nexus = medical()
    written, done = threading.Event(), threading.Event()

    def write_and_hold() -> None:
        with nexus.store.writing():
            nexus.execute(OTHER)
            written.set()
            assert done.wait(60)

    def write() -> None:
        holder.start()
        assert written.wait(60)

    holder = threading.Thread(target=write_and_hold)
    try:
        report = pause.during(lambda: import_foaf(nexus, dry_run=True), write)
    finally:
        done.set()
        holder.join()
    assert pause.drafts == 2
    assert report == import_foaf(nexus, dry_run=True)


def test_a_snapshot_is_read_without_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = medical().snapshot()
    nexus = kiprdf.Nexus.open(tmp_path / "kb")
    read = snapshots.read

    def write_and_read(*arguments: Any, **options: Any) -> Any:
        statement = 'UPSERT { CONCEPT { {type: "Domain", name: "News"} } }'
        writer = threading.Thread(target=lambda: nexus.execute(statement))
        writer.start()
        writer.join()
        return read(*arguments, **options)

    monkeypatch.setattr(snapshots, "read", write_and_read)
    with nexus:
        # The nexus is no longer empty once the snapshot has been read.
        with pytest.raises(kiprdf.KipError) as raised:
            nexus.restore(text)
        assert raised.value.code == "KIP_2002"
        assert "News" in nexus.execute("DESCRIBE DOMAINS")
