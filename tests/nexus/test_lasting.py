"""Resources of a nexus: its folder, its memory, its index, the number of its last commit."""

from __future__ import annotations

import gc
import logging
import sqlite3
import time
from pathlib import Path

import pytest
from pyoxigraph import Literal, Quad
from pyoxigraph import Store as Engine

import kiprdf
from kiprdf.checksums import drop_note
from kiprdf.rdf import vocab
from kiprdf.search import TextIndex
from kiprdf.store import oxigraph, oxigraph_reads
from tests.nexus.support import medical
from tests.trust import children

SCHEMA = 'UPSERT { CONCEPT { {type: "$ConceptType", name: "N"} } }'
UNREADABLE = "<unprintable int object>"
"""What pyoxigraph made of an integer when a signal handler raised meanwhile."""


def many(first: int, last: int, word: str) -> str:
    """A capsule of concepts."""
    blocks = (
        f'CONCEPT {{ {{type: "N", name: "n{n}"}} SET ATTRIBUTES {{ text: "{word} {n}" }} }}'
        for n in range(first, last)
    )
    return f"UPSERT {{ {' '.join(blocks)} }}"


# A nexus that nobody closes ---------------------------------------------------------------------


def test_a_dropped_nexus_releases_its_folder(tmp_path: Path) -> None:
    nexus = kiprdf.Nexus.open(tmp_path / "kb")
    nexus.execute(SCHEMA)
    del nexus
    with kiprdf.Nexus.open(tmp_path / "kb") as again:
        assert "N" in again.execute("DESCRIBE CONCEPT TYPES")


def test_a_dropped_nexus_in_a_cycle_releases_its_folder(tmp_path: Path) -> None:
    gc.disable()
    try:
        cycle: list[object] = [kiprdf.Nexus.open(tmp_path / "kb")]
        cycle.append(cycle)
        del cycle
        kiprdf.Nexus.open(tmp_path / "kb").close()
    finally:
        gc.enable()


def test_an_open_nexus_keeps_its_folder(tmp_path: Path) -> None:
    with (
        kiprdf.Nexus.open(tmp_path / "kb"),
        pytest.raises(kiprdf.StoreError, match="open already"),
    ):
        kiprdf.Nexus.open(tmp_path / "kb")


def test_a_failed_opening_releases_the_folder_while_its_error_is_handled(tmp_path: Path) -> None:
    kiprdf.Nexus.open(tmp_path / "kb").close()
    try:
        kiprdf.Nexus.open(tmp_path / "kb", clock=lambda: 1 / 0, base_iri="urn:other/")  # type: ignore[arg-type,return-value]
    except kiprdf.StoreError:
        kiprdf.Nexus.open(tmp_path / "kb").close()


# Closing ----------------------------------------------------------------------------------------


def test_closing_indexes_little_and_the_next_search_only_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        nexus.execute('SEARCH CONCEPT "anything"')
        nexus.apply_capsule(many(0, 2_000, "first"))
        monkeypatch.setattr(TextIndex, "update", _refuse)
        monkeypatch.setattr(TextIndex, "begin", _refuse)
    monkeypatch.undo()
    monkeypatch.setattr(TextIndex, "begin", _refuse)
    # A second session adds to what the first one left.
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.apply_capsule(many(1_990, 3_000, "second"))
    with kiprdf.Nexus.open(tmp_path / "kb", read_only=True) as nexus:
        assert len(nexus.execute('SEARCH CONCEPT "second" LIMIT 100')) == 100
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        (hit,) = nexus.execute('SEARCH CONCEPT "2345" LIMIT 1')
        assert hit["name"] == "n2345"
        assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "first 1234" LIMIT 1')] == [
            "n1234"
        ]
        # It was written again.
        assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "1995" LIMIT 9')] == ["n1995"]
        assert nexus.execute(
            'FIND(?n.attributes.text) WHERE { ?n {type: "N", name: "n1995"} }'
        ) == ["second 1995"]
        assert nexus.check()["index"] == "sound"


def _refuse(*_: object) -> None:
    raise AssertionError("the whole index is made")


def test_closing_takes_a_small_part_of_what_writing_took(tmp_path: Path) -> None:
    nexus = kiprdf.Nexus.open(tmp_path / "kb")
    nexus.execute(SCHEMA)
    nexus.execute('SEARCH CONCEPT "anything"')
    began = time.monotonic()
    nexus.apply_capsule(many(0, 8_000, "word"))
    written = time.monotonic()
    nexus.close()
    assert time.monotonic() - written < (written - began) / 4


def test_writes_not_yet_indexed_are_found_after_an_index_upgrade(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute(SCHEMA)
        nexus.execute('SEARCH CONCEPT "anything"')
        nexus.apply_capsule(many(0, 1_000, "word"))
    with sqlite3.connect(tmp_path / "kb" / "search.sqlite3") as connection:
        connection.execute("UPDATE about SET version = '3'")
    drop_note(tmp_path / "kb" / "search.sqlite3")
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "765" LIMIT 1')] == ["n765"]


def test_a_write_missing_from_the_index_is_found(
    nexus: kiprdf.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a signal handler raises behind the commit."""
    nexus.execute('SEARCH CONCEPT "Aspirin"')
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Before"} } }')
    monkeypatch.setattr(nexus._engine.indexer, "note", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Meanwhile"} } }')
    monkeypatch.undo()
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Behind"} } }')
    for name in ("Before", "Meanwhile", "Behind"):
        assert [hit["name"] for hit in nexus.execute(f'SEARCH CONCEPT "{name}" LIMIT 1')] == [name]


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def nexus() -> kiprdf.Nexus:
    return medical()


# The number of the last commit --------------------------------------------------------------------


def spoil(folder: Path) -> None:
    """What a signal handler that raised at the wrong moment made of the number."""
    engine = Engine(str(folder / "graph"))
    graph = vocab.BOOKKEEPING
    for quad in list(engine.quads_for_pattern(None, vocab.COMMIT, None, graph)):
        engine.remove(quad)
    engine.add(Quad(graph, vocab.COMMIT, Literal(UNREADABLE, datatype=vocab.INTEGER), graph))
    engine.flush()


@pytest.fixture
def spoiled(tmp_path: Path) -> Path:
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder) as nexus:
        nexus.execute(SCHEMA)
        nexus.apply_capsule(many(0, 10, "word"))
        nexus.execute('SEARCH CONCEPT "word"')
    spoil(folder)
    return folder


def test_a_folder_whose_number_cannot_be_read_is_opened_and_says_so(
    spoiled: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), kiprdf.Nexus.open(spoiled) as nexus:
        number = nexus.info()["commit"]
        assert caplog.messages == [
            f"The number of the last commit could not be read; it is {number} from now on."
        ]
        assert nexus.check() == {
            "concepts": 45, "propositions": 28, "commit": number, "faults": [],
            "index": "sound", "vectors": 0,
            "history": {"state": "sound", "earliest_seq": 0, "faults": []},
        }  # fmt: skip
        with pytest.raises(kiprdf.KipError, match="contains other knowledge"):
            nexus.restore("# kiprdf 1 base <urn:kip:nexus/>\n")
        nexus.apply_capsule(many(10, 11, "word"))
    with kiprdf.Nexus.open(spoiled) as nexus:
        assert nexus.info()["commit"] == number + 1
        assert len(nexus.execute('SEARCH CONCEPT "word" WITH TYPE "N"')) == 11


def test_check_reports_a_number_that_cannot_be_read(spoiled: Path) -> None:
    with kiprdf.Nexus.open(spoiled, read_only=True) as nexus:
        assert len(nexus.execute('FIND(?n) WHERE { ?n {type: "N"} }')) == 10
        (fault,) = nexus.check()["faults"]
        assert fault.startswith("The number of the last commit cannot be read: ")
        assert UNREADABLE in fault


# Memory ------------------------------------------------------------------------------------------

GROWTH = """
import resource
from pyoxigraph import Literal, NamedNode, Triple
from kiprdf.store import Delta, OxigraphStore
store = OxigraphStore.memory()
nodes = [NamedNode(f"urn:{n}") for n in range(200)]
def facts(value):
    return [(node, NamedNode("urn:p"), Literal(f"{value} {n}")) for n, node in enumerate(nodes)]
store.apply(Delta(added=facts(0)))
for value in range(1, 1_500):
    store.apply(Delta(removed=facts(value - 1), added=facts(value)))
    if value == 300:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_overwritten_quads_use_no_memory() -> None:
    child = children.run("-c", GROWTH)
    assert child.status == 0, child.output
    # 240 000 quads that were removed: some 90 MiB, if they are kept.
    assert int(child.output.split()[-1]) < 20


def test_a_compacted_nexus_has_the_same_content(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (oxigraph, oxigraph_reads):
        monkeypatch.setattr(module, "COMPACTED_QUADS", 10)
    nexus = medical()
    engine = nexus.store.engine
    reader = nexus.store.match(None, None, None)
    first = next(reader)
    number = len(list(nexus.store.match(None, None, None)))
    command = 'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: :r } } }'
    for risk in range(1_000):
        nexus.execute(command, r=risk)
    assert nexus.store.engine is not engine
    assert first
    assert list(reader)
    assert len(list(nexus.store.match(None, None, None))) == number
    assert nexus.check()["faults"] == []
    risks = nexus.execute('FIND(?d.attributes.risk) WHERE { ?d {type: "Drug", name: "Aspirin"} }')
    assert risks == [999]
