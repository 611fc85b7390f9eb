"""Files and folders that cannot be read or written: docs/errors.md, files and folders."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from kiprdf import StoreError

READERS: dict[str, Callable[[kiprdf.Nexus, Any], Any]] = {
    "restore": lambda nexus, path: kiprdf.Nexus.memory().restore(path),
    "import_rdf": lambda nexus, path: nexus.import_rdf(path, format="turtle"),
    "import_ontology": lambda nexus, path: nexus.import_ontology(path, format="turtle"),
    "apply_capsule": lambda nexus, path: nexus.apply_capsule(path),
    "diff": lambda nexus, path: nexus.diff(path),
}
WRITERS: dict[str, Callable[[kiprdf.Nexus, Any], Any]] = {
    "snapshot": lambda nexus, path: nexus.snapshot(path),
    "write_snapshot": lambda nexus, path: nexus.write_snapshot(path),
    "schema": lambda nexus, path: nexus.schema(path),
    "shapes": lambda nexus, path: nexus.shapes(path),
    "provenance": lambda nexus, path: nexus.provenance(path),
}
FOLDERS: dict[str, Callable[[kiprdf.Nexus, Any], Any]] = {
    "open": lambda nexus, path: kiprdf.Nexus.open(path),
    "backup": lambda nexus, path: nexus.backup(path),
    "publish": lambda nexus, path: nexus.publish(path),
}


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    return kiprdf.Nexus.memory()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a file and a folder that is in use."""
    monkeypatch.chdir(tmp_path)
    Path("letter.txt").write_text("mine", "utf-8")
    Path("photos").mkdir()
    Path("photos/cat.txt").write_text("cat", "utf-8")
    return tmp_path


def fault(call: Callable[[kiprdf.Nexus, Any], Any], nexus: kiprdf.Nexus, path: Any) -> str:
    """The class of an ``OSError``, and the path it names as the caller gave it."""
    with pytest.raises(OSError, match="Errno") as raised:
        call(nexus, path)
    return f"{type(raised.value).__name__} {raised.value.filename}"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", [str, Path])
def test_reading_names_the_file_that_cannot_be_read(
    nexus: kiprdf.Nexus, name: str, kind: Callable[[str], Any]
) -> None:
    call = READERS[name]
    assert fault(call, nexus, kind("missing.ttl")) == "FileNotFoundError missing.ttl"
    assert fault(call, nexus, kind("photos")) == "IsADirectoryError photos"
    assert fault(call, nexus, kind("letter.txt/x.ttl")) == "NotADirectoryError letter.txt/x.ttl"


@pytest.mark.parametrize("name", WRITERS)
def test_writing_names_the_file_that_cannot_be_written(nexus: kiprdf.Nexus, name: str) -> None:
    call = WRITERS[name]
    assert fault(call, nexus, "no/x.ttl") == "FileNotFoundError no/x.ttl"
    assert fault(call, nexus, "photos") == "IsADirectoryError photos"
    assert fault(call, nexus, "letter.txt/x.ttl") == "NotADirectoryError letter.txt/x.ttl"
    assert fault(call, nexus, "x" * 300 + ".ttl") == f"OSError {'x' * 300}.ttl"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_an_error_that_names_the_file(nexus: kiprdf.Nexus, name: str) -> None:
    assert fault(WRITERS[name], nexus, "/dev/full") == "OSError /dev/full"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_a_missing_permission_is_a_permission_error(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    Path("letter.txt").chmod(0)
    for call in READERS.values():
        assert fault(call, nexus, "letter.txt") == "PermissionError letter.txt"
    Path("photos").chmod(0o500)
    for call in WRITERS.values():
        assert fault(call, nexus, "photos/x.ttl") == "PermissionError photos/x.ttl"


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_cannot_be_used_is_one_sentence(
    nexus: kiprdf.Nexus, folder: Path, name: str
) -> None:
    for place in ("letter.txt", "photos"):
        with pytest.raises(StoreError) as raised:
            FOLDERS[name](nexus, place)
        assert str(folder / place) in str(raised.value)
        assert str(raised.value).endswith(".")


@pytest.mark.parametrize("name", ["open", "backup"])
def test_a_folder_below_a_file_is_one_sentence_about_that_folder(
    nexus: kiprdf.Nexus, folder: Path, name: str
) -> None:
    with pytest.raises(StoreError) as raised:
        FOLDERS[name](nexus, "letter.txt/kb")
    assert str(raised.value).endswith(f"{folder / 'letter.txt/kb'}: Not a directory.")


def test_a_backup_to_a_name_that_is_too_long_is_one_sentence(nexus: kiprdf.Nexus) -> None:
    with pytest.raises(StoreError, match=r"^No backup can be written to .*: File name too long.$"):
        nexus.backup("x" * 300)


def test_publishing_below_a_file_names_the_file(nexus: kiprdf.Nexus, folder: Path) -> None:
    with pytest.raises(kiprdf.StoreError) as raised:
        nexus.publish("letter.txt/site")
    place = folder / "letter.txt"
    assert str(raised.value) == f"{place} is a file; a nexus is published into a folder."


# publish --------------------------------------------------------------------------------------


def test_publishing_into_the_root_or_the_home_folder_is_refused(
    nexus: kiprdf.Nexus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for place in ("/", "//", "/usr/..", str(home), f"{home}/x/.."):
        with pytest.raises(StoreError, match="published into a separate folder, not into /"):
            nexus.publish(place)
    assert home.is_dir()
    assert list(home.iterdir()) == []


def test_a_folder_without_a_marker_is_refused_without_visiting_what_is_below(
    nexus: kiprdf.Nexus, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def visited(*arguments: Any, **options: Any) -> Any:
        raise AssertionError(arguments)

    monkeypatch.setattr(os, "walk", visited)
    with pytest.raises(StoreError, match=r"contains 'letter\.txt', which was not published"):
        nexus.publish(folder)


def test_a_folder_of_empty_folders_is_refused(nexus: kiprdf.Nexus, tmp_path: Path) -> None:
    (tmp_path / "tree" / "branch").mkdir(parents=True)
    with pytest.raises(StoreError, match="contains 'branch', which was not published"):
        nexus.publish("tree")
    assert (tmp_path / "tree" / "branch").is_dir()


def test_publishing_into_the_working_folder_or_above_it_is_refused(
    nexus: kiprdf.Nexus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nexus.publish(tmp_path / "site")
    for place in (tmp_path / "site", tmp_path / "site" / "Domain"):
        monkeypatch.chdir(place)
        with pytest.raises(StoreError, match="run it from a folder outside of that"):
            nexus.publish(tmp_path / "site")
        assert Path("..").is_dir()
    monkeypatch.chdir(tmp_path)
    assert nexus.publish("site").folder == tmp_path / "site"


def test_publishing_into_the_folder_of_the_nexus_is_refused(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        for place in ("kb", "kb/site", "kb/graph/site"):
            with pytest.raises(StoreError, match="is in the folder of the nexus"):
                nexus.publish(tmp_path / place)
        assert nexus.check()["faults"] == []
    assert not (tmp_path / "kb" / "site").exists()


@pytest.mark.parametrize("name", ["import_rdf", "import_ontology", "snapshot", "publish"])
def test_the_file_of_a_mapping_that_is_missing_is_named(name: str, tmp_path: Path) -> None:
    source = {"publish": str(tmp_path / "pages"), "snapshot": None}.get(name, "<urn:a> a <urn:b> .")
    with pytest.raises(FileNotFoundError, match=r"missing\.jsonld"):
        getattr(kiprdf.Nexus.memory(), name)(source, mapping="missing.jsonld")
