"""What is said of a folder that cannot be opened: one clear sentence each, and nothing changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from kiprdf.errors import StoreError
from kiprdf.store import Delta, OxigraphStore
from tests.programs import Piped

FACT = Triple(NamedNode("urn:a"), NamedNode("urn:p"), Literal(1))
OTHER = Triple(NamedNode("urn:a"), NamedNode("urn:p"), Literal(2))
OPEN = "open already: use that one, or close it."


def refusal(folder: Path, base: str | None = None, read_only: bool = False) -> str:
    """The sentence with which a folder is refused."""
    with pytest.raises(StoreError) as caught:
        OxigraphStore.open(folder, base, read_only)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a nexus of one commit."""
    path = tmp_path / "nexus"
    store = OxigraphStore.open(path)
    store.apply(Delta(added=(FACT,)))
    store.close()
    return path


def manifest(folder: Path, text: str | bytes) -> Path:
    folder.mkdir(exist_ok=True)
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "nexus.json").write_bytes(content)
    return folder


# Made ---------------------------------------------------------------------------------------------


def test_an_absent_folder_becomes_a_nexus(tmp_path: Path) -> None:
    OxigraphStore.open(tmp_path / "a" / "b").close()
    manifest = json.loads((tmp_path / "a" / "b" / "nexus.json").read_text())
    assert manifest == {"format": 3, "base": "urn:kip:nexus/", "graph": "graph"}


def test_an_empty_folder_becomes_a_nexus(tmp_path: Path) -> None:
    OxigraphStore.open(tmp_path).close()
    assert (tmp_path / "nexus.json").exists()


def test_a_path_may_be_a_string(tmp_path: Path) -> None:
    OxigraphStore.open(str(tmp_path / "nexus")).close()
    assert (tmp_path / "nexus" / "nexus.json").exists()


def test_a_bad_base_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        OxigraphStore.open(tmp_path / "nexus", "no base")
    assert not (tmp_path / "nexus").exists()


def test_a_folder_whose_creation_was_interrupted_is_created_again(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    OxigraphStore.open(tmp_path).close()


# Refused ------------------------------------------------------------------------------------------


def test_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    assert refusal(path) == f"{path} is a file; a nexus needs a folder."
    assert path.read_text() == "x"


def test_a_foreign_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    assert refusal(tmp_path) == f"The folder {tmp_path} contains other files and no nexus."
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_directory_of_scopes_is_refused_with_the_name_of_one(tmp_path: Path) -> None:
    for name in ("team", "ada"):
        OxigraphStore.open(tmp_path / name).close()
    assert refusal(tmp_path) == (
        f"The folder {tmp_path} is no nexus, and has some in it: name one, such as "
        f"{tmp_path / 'ada'}; serve and mcp read several with --scopes."
    )


def test_a_newer_format_is_refused(folder: Path) -> None:
    manifest(folder, '{"format": 4, "base": "urn:kip:nexus/"}')
    assert refusal(folder) == (
        f"The nexus in {folder} has format 4; this kiprdf reads up to 3: use a newer one."
    )


@pytest.mark.parametrize("text", ["", "{", "nonsense", b"\xff\xfe\x00", "[" * 100_000])
def test_a_manifest_that_is_no_json_is_refused(tmp_path: Path, text: str | bytes) -> None:
    folder = manifest(tmp_path, text)
    assert (
        refusal(folder)
        == f"{folder / 'nexus.json'} cannot be read: it is not JSON. Restore a backup."
    )


@pytest.mark.parametrize(
    "text",
    [
        "[]", "null", '"x"', "{}", '{"format": "1", "base": "urn:kip:nexus/"}', '{"format": 1}',
        '{"format": 1, "base": 3}', '{"format": null, "base": "urn:kip:nexus/"}',
        '{"format": true, "base": "urn:kip:nexus/"}', '{"format": 0, "base": "urn:kip:nexus/"}',
        '{"format": -1, "base": "urn:kip:nexus/"}',
    ],
)  # fmt: skip
def test_a_manifest_that_describes_no_nexus_is_refused(tmp_path: Path, text: str) -> None:
    folder = manifest(tmp_path, text)
    assert (
        refusal(folder) == f"{folder / 'nexus.json'} does not describe a nexus. Restore a backup."
    )


def test_a_manifest_with_a_bad_base_is_refused(folder: Path) -> None:
    manifest(folder, '{"format": 1, "base": "nonsense"}')
    assert refusal(folder) == "The base IRI 'nonsense' is not an absolute IRI."


def test_a_manifest_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nexus.json").mkdir()
    assert refusal(tmp_path) == f"The folder {tmp_path} cannot be read: Is a directory."


def test_another_base_is_refused(folder: Path) -> None:
    assert refusal(folder, "https://example.org/") == (
        f"The nexus in {folder} has the base urn:kip:nexus/, not https://example.org/: "
        "leave the base out."
    )


def test_a_broken_graph_is_refused(folder: Path) -> None:
    for path in (folder / "graph").glob("MANIFEST-*"):
        path.write_bytes(b"nonsense")
    assert refusal(folder).startswith(f"The nexus in {folder} cannot be opened: ")


def test_a_refused_folder_can_be_opened_once_it_is_right(folder: Path) -> None:
    refusal(folder, "https://example.org/")
    OxigraphStore.open(folder).close()


# Twice --------------------------------------------------------------------------------------------


def test_a_folder_that_this_process_has_open_is_refused(folder: Path) -> None:
    store = OxigraphStore.open(folder)
    assert refusal(folder) == f"This process has the nexus in {folder} {OPEN}"
    store.close()


def test_a_folder_under_another_name_is_the_same_folder(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    store = OxigraphStore.open(folder)
    assert refusal(link) == f"This process has the nexus in {link} {OPEN}"
    store.close()


def test_a_closed_folder_can_be_opened_again(folder: Path) -> None:
    OxigraphStore.open(folder).close()
    store = OxigraphStore.open(folder)
    assert list(store.match(None, None, None)) == [FACT]
    store.close()


def test_a_refused_opening_does_not_affect_the_open_store(folder: Path) -> None:
    store = OxigraphStore.open(folder)
    refusal(folder)
    refusal(folder)
    store.apply(Delta(added=(OTHER,)))
    assert store.commit() == 2
    store.close()


CHILD = """
import sys
from kiprdf.store import OxigraphStore
store = OxigraphStore.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
store.close()
"""


@contextmanager
def child(folder: Path) -> Iterator[Piped]:
    """A process that has the folder open until its input ends."""
    with Piped(["-c", CHILD, str(folder)]) as process:
        assert process.readline() == "open\n"
        yield process


def test_a_folder_that_another_process_has_open_is_refused(folder: Path) -> None:
    with child(folder):
        assert refusal(folder) == (
            f"Another process has the nexus in {folder} open: close it there, or open it with "
            "read_only=True."
        )
    OxigraphStore.open(folder).close()


def test_a_folder_whose_process_was_killed_can_be_opened(folder: Path) -> None:
    with child(folder) as process:
        process.kill()
    store = OxigraphStore.open(folder)
    assert list(store.match(None, None, None)) == [FACT]
    store.close()


WRITER = """
import sys
from pyoxigraph import Literal, NamedNode, Triple
from kiprdf.store import Delta, OxigraphStore
store = OxigraphStore.open(sys.argv[1])
a, p = NamedNode("urn:a"), NamedNode("urn:p")
step = 0
while True:
    old = tuple(Triple(a, p, Literal(step * 1_000 + i)) for i in range(1_000) if step)
    step += 1
    new = tuple(Triple(a, p, Literal(step * 1_000 + i)) for i in range(1_000))
    print(store.apply(Delta(removed=old, added=new)), flush=True)
"""


@pytest.mark.parametrize("commits", [2, 3, 5])
def test_a_killed_writer_leaves_whole_commits(tmp_path: Path, commits: int) -> None:
    folder = tmp_path / "nexus"
    with Piped(["-c", WRITER, str(folder)]) as process:
        for _ in range(commits):
            process.readline()
        process.kill()
    store = OxigraphStore.open(folder)
    numbers = sorted(int(t.object.value) for t in store.match(None, None, None))
    commit = store.commit()
    store.close()
    assert commit >= commits
    assert numbers == list(range(commit * 1_000, commit * 1_000 + 1_000))


# Read-only ----------------------------------------------------------------------------------------


def test_reading_beside_a_writer_of_another_process(folder: Path) -> None:
    with child(folder):
        reader = OxigraphStore.open(folder, read_only=True)
        assert list(reader.match(None, None, None)) == [FACT]
        reader.close()


def test_a_reader_shows_the_state_at_its_opening(folder: Path) -> None:
    writer = OxigraphStore.open(folder)
    reader = OxigraphStore.open(folder, read_only=True)
    writer.apply(Delta(added=(OTHER,)))
    assert list(reader.match(None, None, None)) == [FACT]
    assert (reader.commit(), writer.commit()) == (1, 2)
    reader.close()
    writer.close()


def test_a_closed_reader_keeps_the_lock_of_the_writer(folder: Path) -> None:
    writer = OxigraphStore.open(folder)
    OxigraphStore.open(folder, read_only=True).close()
    assert refusal(folder) == f"This process has the nexus in {folder} {OPEN}"
    writer.close()


def test_a_refused_reader_keeps_the_lock_of_the_writer(folder: Path) -> None:
    writer = OxigraphStore.open(folder)
    refusal(folder, base="urn:another:base/", read_only=True)
    assert refusal(folder) == f"This process has the nexus in {folder} {OPEN}"
    writer.close()


def test_a_reader_does_not_write(folder: Path) -> None:
    reader = OxigraphStore.open(folder, read_only=True)
    with pytest.raises(StoreError, match=r"^The nexus is open read-only\.$"):
        reader.apply(Delta(added=(OTHER,)))
    reader.close()


def test_a_missing_folder_cannot_be_opened_read_only(tmp_path: Path) -> None:
    path = tmp_path / "nexus"
    assert refusal(path, read_only=True) == f"There is no nexus in {path}."
    assert not path.exists()


def test_an_empty_folder_cannot_be_opened_read_only(tmp_path: Path) -> None:
    assert refusal(tmp_path, read_only=True) == (f"There is no nexus in {tmp_path}.")
    assert list(tmp_path.iterdir()) == []


def _can_write_anywhere(folder: Path) -> bool:
    try:
        (folder / "probe").touch()
    except OSError:
        return False
    return True


def test_a_folder_that_cannot_be_written_is_refused(folder: Path) -> None:
    paths = [folder, folder / "graph", *(folder / "graph").iterdir()]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        if _can_write_anywhere(folder):
            pytest.skip("this user may write everywhere")
        assert refusal(folder) == f"The nexus in {folder} cannot be written."
    finally:
        for path in paths:
            path.chmod(0o700)


def test_a_nexus_in_a_folder_that_cannot_be_written_is_not_created(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        if _can_write_anywhere(tmp_path):
            pytest.skip("this user may write everywhere")
        path = tmp_path / "nexus"
        assert refusal(path) == f"No nexus can be created in {path}: Permission denied."
    finally:
        tmp_path.chmod(0o700)


def test_a_nexus_below_a_file_is_not_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    path = tmp_path / "file" / "nexus"
    assert refusal(path) in (
        f"No nexus can be created in {path}: Not a directory.",
        f"The folder {path} cannot be read: Not a directory.",
    )


def test_opening_again_and_again_leaves_one_log_of_an_earlier_opening(folder: Path) -> None:
    for _ in range(3):
        OxigraphStore.open(folder).close()
    assert len(list((folder / "graph").glob("LOG*"))) == 1
