"""Files that are written whole, or not at all."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import IO

import pytest

import kiprdf
from kiprdf.interchange import files


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("old and longer")
    assert files.write_whole(path, lambda output: output.write(b"new")) == 3
    assert path.read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.ttl"]


@pytest.mark.parametrize("fault", [ValueError("x"), KeyboardInterrupt(), OSError(28, "full")])
def test_a_file_that_cannot_be_finished_stays_as_it_was(
    tmp_path: Path, fault: BaseException
) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("old")

    def write(output: IO[bytes]) -> None:
        output.write(b"half")
        raise fault

    with pytest.raises(type(fault)):
        files.write_whole(path, write)
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.ttl"]


def test_a_full_disk_is_reported_with_the_name_of_the_target(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"

    def write(output: IO[bytes]) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space") as raised:
        files.write_whole(path, write)
    assert raised.value.filename == str(path)


def test_the_name_of_an_unfinished_file_is_new_each_time(tmp_path: Path) -> None:
    names: list[str] = []
    for _ in range(2):
        files.write_whole(tmp_path / "a", lambda output: names.append(output.name))
    assert len({Path(name).name for name in names}) == 2
    assert {Path(name).parent for name in names} == {tmp_path}


def test_a_link_that_waits_at_the_unfinished_name_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("kept")
    monkeypatch.setattr("os.urandom", bytes)
    (tmp_path / f".{bytes(8).hex()}.partial").symlink_to(secret)
    with pytest.raises(FileExistsError):
        files.write_whole(tmp_path / "a.ttl", lambda output: output.write(b"new"))
    assert secret.read_text() == "kept"


def test_a_link_goes_on_leading_to_the_file_that_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    path, target = tmp_path / "a.ttl", tmp_path / "there" / "b.ttl"
    path.symlink_to(target)
    files.write_whole(path, lambda output: output.write(b"new"))
    assert (path.is_symlink(), target.read_bytes()) == (True, b"new")


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("old")
    path.chmod(0o640)
    files.write_whole(path, lambda output: output.write(b"new"))
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_permissions_of_every_new_file(tmp_path: Path) -> None:
    (tmp_path / "b").touch()
    files.write_whole(tmp_path / "a", lambda output: output.write(b"new"))
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


@pytest.mark.parametrize("name", ["", "/"])
def test_a_folder_is_not_overwritten(tmp_path: Path, name: str) -> None:
    with pytest.raises(IsADirectoryError):
        files.write_text(f"{tmp_path}{name}", "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", ["w+", "w+b"])
def test_a_text_goes_into_any_open_file(mode: str) -> None:
    with tempfile.NamedTemporaryFile(mode) as file:
        files.write_text(file, "é")  # type: ignore[arg-type]
        file.flush()
        assert Path(file.name).read_text("utf-8") == "é"


def test_a_text_goes_into_a_file_in_memory() -> None:
    text, content = io.StringIO(), io.BytesIO()
    files.write_text(text, "é")
    files.write_text(content, "é")
    assert (text.getvalue(), content.getvalue()) == ("é", b"\xc3\xa9")


def test_an_output_file_without_all_characters_is_reported() -> None:
    with (
        tempfile.TemporaryFile("w", encoding="ascii") as file,
        pytest.raises(kiprdf.KipError, match="ASCII") as raised,
    ):
        files.write_text(file, "é")
    assert (raised.value.code, raised.value.hint) == ("KIP_1001", 'Open it with encoding="utf-8".')


@pytest.mark.skipif(os.name != "posix", reason="devices are files on POSIX")
def test_a_device_is_written_to_and_stays_one() -> None:
    files.write_text(os.devnull, "text")
    assert Path(os.devnull).is_char_device()
