"""Backups are whole and independent; a check finds quads that no nexus writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

import kiprdf
from kiprdf.errors import StoreError
from kiprdf.rdf import vocab
from kiprdf.search import TextIndex
from tests.cases import each_case
from tests.nexus.support import FACTS, SCHEMA, dataset, medical

ASPIRIN = "urn:kip:nexus/Drug/Aspirin"
TREATS = "urn:kip:nexus/$PropositionType/treats"
FEVER = "urn:kip:nexus/Symptom/Fever"
HEADACHE = "urn:kip:nexus/Symptom/Headache"


@pytest.fixture
def nexus(tmp_path: Path) -> Iterator[kiprdf.Nexus]:
    with kiprdf.Nexus.open(tmp_path / "kb", genesis=False) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
        yield nexus


# Backups --------------------------------------------------------------------------------------


def test_a_backup_is_the_same_nexus(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    nexus.backup(tmp_path / "copy")
    with kiprdf.Nexus.open(tmp_path / "copy", genesis=False) as copy:
        assert dataset(copy) == dataset(nexus)
        assert [hit["name"] for hit in copy.execute('SEARCH CONCEPT "Aspirin"')] == ["Aspirin"]


def test_a_backup_and_its_origin_are_independent(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    nexus.backup(tmp_path / "copy")
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Here"} } }')
    with kiprdf.Nexus.open(tmp_path / "copy", genesis=False) as copy:
        copy.execute('UPSERT { CONCEPT { {type: "Drug", name: "There"} } }')
        names = 'FIND(?d.name) WHERE { ?d {type: "Drug"} }'
        assert sorted(copy.execute(names)) == ["Aspirin", "There"]
        assert sorted(nexus.execute(names)) == ["Aspirin", "Here"]


def test_a_nexus_in_memory_and_a_reader_can_be_backed_up(
    nexus: kiprdf.Nexus, tmp_path: Path
) -> None:
    with medical() as memory:
        memory.backup(tmp_path / "of_memory")
        with kiprdf.Nexus.open(tmp_path / "of_memory", genesis=False) as copy:
            assert dataset(copy) == dataset(memory)
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
        reader.backup(tmp_path / "of_reader")
    with kiprdf.Nexus.open(tmp_path / "of_reader", genesis=False) as copy:
        assert dataset(copy) == dataset(nexus)


def test_a_backup_beside_a_writer_holds_whole_commits(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    """Each statement raises two counters; a backup in which they differ is torn."""
    raised = "UPDATE ?d SET ATTRIBUTES { count: ADD(COALESCE(?d.attributes.count, 0), 1) } "
    raised += 'WHERE { ?d {type: "Drug"} UNION { ?d {type: "Symptom", name: "Fever"} } }'
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            nexus.execute(raised)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(8):
            nexus.backup(tmp_path / f"copy{number}")
    finally:
        done.set()
        writer.join()
    for number in range(8):
        with kiprdf.Nexus.open(tmp_path / f"copy{number}", genesis=False) as copy:
            (drug,) = copy.execute('FIND(?d.attributes.count) WHERE { ?d {type: "Drug"} }')
            fever = 'FIND(?s.attributes.count) WHERE { ?s {type: "Symptom", name: "Fever"} }'
            assert copy.execute(fever) == [drug]
            assert copy.check()["faults"] == []


def test_a_backup_into_a_folder_in_use_is_refused(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for place in ("full", "kb"):
        with pytest.raises(StoreError, match="is not empty; a backup needs an empty folder"):
            nexus.backup(tmp_path / place)
    with pytest.raises(StoreError, match="is a file; a backup needs a folder"):
        nexus.backup(tmp_path / "file")
    assert (tmp_path / "full" / "letter.txt").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    nexus.backup(tmp_path / "empty")
    assert (tmp_path / "empty" / "nexus.json").is_file()


def test_a_failed_backup_leaves_no_files(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No backup can be written to"):
        nexus.backup(tmp_path / "kb" / "nexus.json" / "below")
    (tmp_path / "none").mkdir(mode=0o500)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kb", "none"]


def test_a_closed_nexus_has_no_backup(tmp_path: Path) -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.close()
    with pytest.raises(StoreError, match="is closed"):
        nexus.backup(tmp_path / "copy")


# Checks ---------------------------------------------------------------------------------------


def triple(subject: str, predicate: str, value: object) -> Quad:
    object_ = value if isinstance(value, Literal | NamedNode | Triple) else NamedNode(str(value))
    return Quad(NamedNode(subject), NamedNode(predicate), object_)  # type: ignore[arg-type]


def test_a_nexus_is_sound() -> None:
    assert medical().check() == {
        "concepts": 9,
        "propositions": 3,
        "commit": 2,
        "faults": [],
        "index": "sound",
        "vectors": 0,
        "history": None,
    }


@each_case(
    "added, fault",
    [
        (triple(FEVER, TREATS, HEADACHE), "the fact has no link"),
        (
            triple(
                "urn:kip:nexus/$proposition/0123456789abcdef/treats",
                vocab.REIFIES.value,
                Triple(NamedNode(ASPIRIN), NamedNode(TREATS), NamedNode(ASPIRIN + "2")),
            ),
            "it is reified but not asserted",
        ),
        (
            triple(
                "urn:kip:nexus/$proposition/0123456789abcdef/treats",
                vocab.REIFIES.value,
                Triple(NamedNode(ASPIRIN), NamedNode(TREATS), NamedNode(FEVER)),
            ),
            "have the same identity",
        ),
        (triple(ASPIRIN, vocab.LABEL.value, Literal("Other")), "do not match its IRI"),
        (triple("urn:kip:nexus/None/x", vocab.LABEL.value, Literal("x")), "is not defined"),
        (triple("urn:elsewhere", vocab.LABEL.value, Literal("x")), "no element below"),
        (triple(ASPIRIN, vocab.ATTRIBUTE + "risk", Literal(3)), "has several values"),
        (triple(ASPIRIN, "urn:x:p", Literal(3)), "not an attribute, metadata key or predicate"),
        (
            triple(ASPIRIN, vocab.ATTRIBUTE + "json", Literal("{", datatype=vocab.JSON)),
            "canonical JSON",
        ),
        (triple(ASPIRIN, vocab.METADATA + "_score", Literal(3)), "belongs to one search"),
    ],
)
def test_quads_that_no_nexus_writes_are_reported(added: Quad, fault: str) -> None:
    nexus = medical()
    nexus.store.engine.add(added)
    faults = nexus.check()["faults"]
    assert [text for text in faults if fault in text] != []


def test_every_fault_is_reported() -> None:
    nexus = medical()
    nexus.store.engine.add(triple(FEVER, TREATS, HEADACHE))
    nexus.store.engine.add(triple(HEADACHE, TREATS, FEVER))
    assert len(nexus.check()["faults"]) == 2


def test_a_missing_end_is_reported() -> None:
    nexus = medical()
    engine = nexus.store.engine
    for quad in list(engine.quads_for_pattern(NamedNode(FEVER), None, None, None)):
        engine.remove(quad)
    (fault,) = nexus.check()["faults"]
    assert "links <urn:kip:nexus/Symptom/Fever>, which is not an element" in fault


def test_records_and_graphs_are_checked() -> None:
    nexus = medical()
    graph = vocab.BOOKKEEPING
    engine = nexus.store.engine
    engine.add(Quad(graph, vocab.BASE, Literal("urn:other/"), graph))
    engine.add(Quad(graph, vocab.FORMAT, Literal(1), NamedNode("urn:x:graph")))
    assert nexus.check()["faults"] == [
        "There is a graph <urn:x:graph>, which does not belong to a nexus.",
        "The record <urn:kip:vocab/base> has 2 values instead of one.",
        'The noted base is "urn:other/", and the nexus has urn:kip:nexus/.',
    ]


@pytest.mark.parametrize(
    "spoil",
    [
        "DELETE FROM element WHERE kind = 'concept'",
        "UPDATE element SET type = x'4f74686572' WHERE kind = 'concept'",
        "UPDATE concept SET tokens = 'wrong'",
        "DELETE FROM proposition",
        "INSERT INTO element (key, kind, type, digest) VALUES (x'00', 'concept', x'00', x'00')",
    ],
)
def test_an_index_with_other_content_is_rebuilt(spoil: str, nexus: kiprdf.Nexus) -> None:
    nexus.execute('SEARCH CONCEPT "Aspirin"')
    nexus._engine.indexer.current()._file.change(lambda connection: connection.execute(spoil))
    assert nexus.check()["index"] == "wrong"
    assert nexus.check(repair=True)["index"] == "repaired"
    assert nexus.check()["index"] == "sound"
    assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "Aspirin"')] == ["Aspirin"]


def test_an_index_that_is_behind_is_brought_up_to_date(nexus: kiprdf.Nexus) -> None:
    nexus.execute('SEARCH CONCEPT "Aspirin"')
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Ibuprofen"} } }')
    assert nexus.check()["index"] == "sound"


def test_a_reader_checks_and_repairs_nothing(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    nexus.execute('SEARCH CONCEPT "Aspirin"')
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as reader:
        assert reader.check(repair=True)["faults"] == []
    assert isinstance(nexus._engine.indexer.current(), TextIndex)
