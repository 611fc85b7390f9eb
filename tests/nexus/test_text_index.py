"""The text index beside the store: always caught up, always replaceable, never in the way."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

import kiprdf
from kiprdf.checksums import drop_note
from kiprdf.search.vectors import SAMPLE
from tests.nexus.support import FACTS, SCHEMA
from tests.search.toys import Counting, by_meaning

INDEX = "search.sqlite3"
VECTORS = "vectors.sqlite3"
NEW = 'UPSERT { CONCEPT { {type: "Drug", name: "Naproxen"} } }'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A closed nexus with its own index."""
    path = tmp_path / "brain"
    with kiprdf.Nexus.open(path, genesis=False) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
        assert names(nexus, "aspirin") == ["Aspirin"]
    return path


def names(nexus: kiprdf.Nexus, term: str) -> list[str]:
    return [hit["name"] for hit in nexus.execute("SEARCH CONCEPT :term", term=term)]


def remove_index(folder: Path) -> None:
    for path in folder.glob(INDEX + "*"):
        path.unlink()


def test_the_index_is_beside_the_store(folder: Path) -> None:
    assert (folder / INDEX).is_file()


def test_search_after_reopening(folder: Path) -> None:
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert names(nexus, "aspirin") == ["Aspirin"]


def test_search_after_the_index_was_deleted(folder: Path) -> None:
    remove_index(folder)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert names(nexus, "aspirin") == ["Aspirin"]


def test_search_after_the_index_was_deleted_and_something_written(folder: Path) -> None:
    remove_index(folder)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        nexus.execute(NEW)
        assert (names(nexus, "aspirin"), names(nexus, "naproxen")) == (["Aspirin"], ["Naproxen"])


@pytest.mark.parametrize(
    "content", [b"", b"no database", b"\x00" * 8192, b"SQLite format 3\x00" + b"\xff" * 8176]
)
def test_search_after_the_index_was_overwritten(folder: Path, content: bytes) -> None:
    remove_index(folder)
    (folder / INDEX).write_bytes(content)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert names(nexus, "aspirin") == ["Aspirin"]


def test_search_after_the_index_lost_its_tail(folder: Path) -> None:
    content = (folder / INDEX).read_bytes()
    (folder / INDEX).write_bytes(content[: len(content) // 2])
    drop_note(folder / INDEX)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert names(nexus, "aspirin") == ["Aspirin"]


def test_search_after_another_program_emptied_the_index(folder: Path) -> None:
    with sqlite3.connect(folder / INDEX) as connection:
        connection.execute("DROP TABLE element")
    connection.close()
    drop_note(folder / INDEX)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert names(nexus, "aspirin") == ["Aspirin"]


def test_an_index_older_than_the_store_catches_up(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / INDEX, tmp_path / "old")
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        nexus.execute(NEW)
        nexus.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Aspirin"} }')
    remove_index(folder)
    shutil.copy(tmp_path / "old", folder / INDEX)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert (names(nexus, "aspirin"), names(nexus, "naproxen")) == ([], ["Naproxen"])


def test_an_index_older_than_the_store_catches_up_after_a_further_write(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copy(folder / INDEX, tmp_path / "old")
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        nexus.execute(NEW)
    remove_index(folder)
    shutil.copy(tmp_path / "old", folder / INDEX)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Ibuprofen"} } }')
        assert (names(nexus, "naproxen"), names(nexus, "ibuprofen")) == (
            ["Naproxen"],
            ["Ibuprofen"],
        )


def test_an_index_newer_than_the_store_is_rebuilt(folder: Path) -> None:
    with sqlite3.connect(folder / INDEX) as connection:
        connection.execute("UPDATE about SET store_commit = 99")
        connection.execute("DELETE FROM concept")
    connection.close()
    drop_note(folder / INDEX)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert names(nexus, "aspirin") == ["Aspirin"]


def test_writes_that_were_never_searched_are_found_after_reopening(folder: Path) -> None:
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        nexus.execute(NEW)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert names(nexus, "naproxen") == ["Naproxen"]


def test_a_folder_in_place_of_the_index_does_not_fail_a_write(folder: Path) -> None:
    remove_index(folder)
    (folder / INDEX / "x").mkdir(parents=True)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert nexus.execute(NEW)["upsert_concept_nodes"] == ["C:Drug/Naproxen"]


def test_a_folder_in_place_of_the_index_does_not_fail_a_search(folder: Path) -> None:
    remove_index(folder)
    (folder / INDEX / "x").mkdir(parents=True)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        assert names(nexus, "aspirin") == ["Aspirin"]
        nexus.execute(NEW)
        assert names(nexus, "naproxen") == ["Naproxen"]


def test_a_folder_in_place_of_the_index_does_not_fail_a_large_write(folder: Path) -> None:
    remove_index(folder)
    (folder / INDEX / "x").mkdir(parents=True)
    concepts = "".join(f'CONCEPT {{ {{type: "Drug", name: "drug{n}"}} }}' for n in range(1_500))
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        nexus.apply_capsule(f"UPSERT {{ {concepts} }}")
        assert nexus.execute('FIND(COUNT(?d)) WHERE { ?d {type: "Drug"} }') == 1_501
        assert names(nexus, "drug1499")[0] == "drug1499"


def test_an_index_locked_by_another_program_does_not_fail_a_write(folder: Path) -> None:
    locker = sqlite3.connect(folder / INDEX, isolation_level=None)
    locker.execute("BEGIN EXCLUSIVE")
    try:
        with kiprdf.Nexus.open(folder, genesis=False) as nexus:
            assert nexus.execute(NEW)["upsert_concept_nodes"] == ["C:Drug/Naproxen"]
    finally:
        locker.close()


def test_an_index_damaged_while_the_nexus_is_open_does_not_fail_a_search(folder: Path) -> None:
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        names(nexus, "aspirin")
        for path in folder.glob(INDEX + "*"):
            path.write_bytes(b"\xff" * 65536)
        nexus.execute(NEW)
        assert names(nexus, "naproxen") == ["Naproxen"]


def test_an_index_deleted_while_the_nexus_is_open_does_not_fail_a_search(folder: Path) -> None:
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        names(nexus, "aspirin")
        remove_index(folder)
        nexus.execute(NEW)
        assert names(nexus, "naproxen") == ["Naproxen"]


def test_an_index_error_on_closing_releases_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError

    nexus = kiprdf.Nexus.open(folder, genesis=False)
    nexus.execute(NEW)
    with monkeypatch.context() as patched:
        patched.setattr("kiprdf.meta.indexing.index_rows", broken)
        with contextlib.suppress(ValueError):
            nexus.close()
    with kiprdf.Nexus.open(folder, genesis=False) as again:
        assert names(again, "naproxen") == ["Naproxen"]


def test_a_restored_nexus_replaces_the_index(folder: Path, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "other") as nexus:
        assert names(nexus, "person")[0] == "Person"
        with kiprdf.Nexus.open(folder, genesis=False) as source:
            nexus.restore(source.snapshot())
        assert (names(nexus, "person"), names(nexus, "aspirin")) == ([], ["Aspirin"])


def test_a_capsule_of_thousands_is_searchable() -> None:
    concepts = "".join(f'CONCEPT {{ {{type: "Drug", name: "drug{n}"}} }}' for n in range(2_500))
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(SCHEMA)
    nexus.apply_capsule(f"UPSERT {{ {concepts} }}")
    assert [names(nexus, f"drug{n}")[0] for n in (0, 1_000, 2_499)] == [
        "drug0",
        "drug1000",
        "drug2499",
    ]


# A read-only nexus


def test_a_read_only_nexus_uses_the_index_of_the_writer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("rows were made again")

    monkeypatch.setattr("kiprdf.meta.indexing.index_rows", refused)
    with kiprdf.Nexus.open(folder, genesis=False, read_only=True) as nexus:
        assert names(nexus, "aspirin") == ["Aspirin"]


@pytest.mark.parametrize("name", [INDEX, VECTORS])
def test_a_read_only_nexus_creates_no_file(folder: Path, name: str) -> None:
    for path in folder.glob(name + "*"):
        path.unlink()
    before = sorted(folder.iterdir())
    with kiprdf.Nexus.open(folder, read_only=True, embedder=by_meaning) as nexus:
        assert meant(nexus, "cephalalgia") == ["Headache"]
    assert sorted(folder.iterdir()) == before


# Vectors


def meant(nexus: kiprdf.Nexus, term: str) -> list[str]:
    hits = nexus.execute('SEARCH CONCEPT :term MODE "semantic"', term=term)
    return [hit["name"] for hit in hits]


def embedded(folder: Path) -> list[str]:
    """What is embedded, besides the probe and the term, by a nexus that is opened for a search."""
    embedder = Counting()
    with kiprdf.Nexus.open(folder, genesis=False, embedder=embedder) as nexus:
        assert meant(nexus, "cephalalgia") == ["Headache"]
    return [text for text in embedder.texts if text not in (SAMPLE, "cephalalgia")]


def test_a_nexus_that_is_opened_again_embeds_nothing_again(folder: Path) -> None:
    assert "Headache" in embedded(folder)
    assert embedded(folder) == []


def test_what_was_written_without_an_embedder_is_embedded_later(folder: Path) -> None:
    embedded(folder)
    with kiprdf.Nexus.open(folder, genesis=False) as nexus:
        nexus.execute(NEW)
    assert embedded(folder) == ["Naproxen"]


def test_vectors_outlive_the_text_index(folder: Path) -> None:
    embedded(folder)
    remove_index(folder)
    assert embedded(folder) == []


@pytest.mark.parametrize("content", [b"", b"no database", b"\x00" * 8192])
def test_vectors_that_were_overwritten_are_computed_again(folder: Path, content: bytes) -> None:
    first = embedded(folder)
    for path in folder.glob(VECTORS + "*"):
        path.unlink()
    (folder / VECTORS).write_bytes(content)
    assert (embedded(folder), embedded(folder)) == (first, [])


def test_a_folder_in_place_of_the_vectors_does_not_fail_a_search(folder: Path) -> None:
    (folder / VECTORS / "x").mkdir(parents=True)
    assert "Headache" in embedded(folder)


def test_a_damaged_text_index_does_not_fail_a_search_by_meaning(folder: Path) -> None:
    with kiprdf.Nexus.open(folder, genesis=False, embedder=by_meaning) as nexus:
        assert meant(nexus, "cephalalgia") == ["Headache"]
        for path in folder.glob(INDEX + "*"):
            path.write_bytes(b"\xff" * 65536)
        nexus.execute('UPSERT { CONCEPT { {type: "Symptom", name: "Migraine"} } }')
        assert meant(nexus, "cephalalgia") == ["Headache", "Migraine"]


def test_without_a_semantic_search_no_vectors_are_kept(folder: Path) -> None:
    with kiprdf.Nexus.open(folder, genesis=False, embedder=by_meaning) as nexus:
        nexus.execute(NEW)
        assert names(nexus, "naproxen") == ["Naproxen"]
    assert not (folder / VECTORS).exists()


def test_a_restored_nexus_is_searched_by_meaning(folder: Path, tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "other", embedder=by_meaning) as nexus:
        assert meant(nexus, "cephalalgia") == []
        with kiprdf.Nexus.open(folder, genesis=False) as source:
            nexus.restore(source.snapshot())
        assert meant(nexus, "cephalalgia") == ["Headache"]
