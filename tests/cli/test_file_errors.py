"""A file or folder that cannot be used is one line and an exit status; nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Invoke
from .runner import matches

MISSING = (
    "kiprdf: There is no nexus in missing; create one with kiprdf load, run, import, restore or "
    "shell, or name another folder with --nexus or KIPRDF_NEXUS.\n"
)
READ = {
    "restore missing.ttl -n new": "kiprdf: missing.ttl: No such file or directory.\n",
    "restore photos -n new": "kiprdf: photos is a folder, not a file.\n",
    "import missing.ttl -n new": "kiprdf: There is no file missing.ttl.\n",
    "import photos -n new": "kiprdf: photos is a folder, not a file.\n",
    "load missing.kip -n new": "kiprdf: missing.kip: No such file or directory.\n",
    "load photos/x/y -n new": "kiprdf: photos/x/y: No such file or directory.\n",
    "run -f missing.kip": "kiprdf: missing.kip: No such file or directory.\n",
    "run -f photos": "kiprdf: photos is a folder, not a file.\n",
    "run --params-file missing.json DESCRIBE": "kiprdf: missing.json: No such file or directory.\n",
    "explain -f missing.kip": "kiprdf: missing.kip: No such file or directory.\n",
    "snapshot -m missing.jsonld": "kiprdf: missing.jsonld: No such file or directory.\n",
    "info -n letter.txt": "kiprdf: .../letter.txt is a file; a nexus needs a folder.\n",
    "info -n photos": "kiprdf: The folder .../photos contains other files and no nexus.\n",
    "check -n missing": MISSING,
    "undo --seq 1 -n missing": MISSING,
    "forget C:Drug/Aspirin -n missing": MISSING,
    "compact-history --before 1 -n missing": MISSING,
    "optimize -n missing": MISSING,
}
WRITTEN = {
    "snapshot no/x.ttl": "kiprdf: no/x.ttl cannot be written: No such file or directory.\n",
    "snapshot photos": "kiprdf: photos cannot be written: Is a directory.\n",
    "snapshot letter.txt/x.ttl": "kiprdf: letter.txt/x.ttl cannot be written: Not a directory.\n",
    "schema no/x.ttl": "kiprdf: no/x.ttl cannot be written: No such file or directory.\n",
    "export no/x.kip": "kiprdf: no/x.kip cannot be written: No such file or directory.\n",
    'why FIND(?d)WHERE{?d{type:"Drug"}} --turtle no/x.ttl': "kiprdf: no/x.ttl cannot ...",
    "demo -o no/x.ttl": "kiprdf: no/x.ttl cannot be written: there is no folder no.\n",
    "demo -o photos": "kiprdf: photos cannot be written: it is a folder.\n",
    "load medical -n letter.txt": "kiprdf: .../letter.txt is a file; a nexus needs a folder.\n",
    "backup photos": "kiprdf: .../photos is not empty; a backup needs an empty folder.\n",
    "backup letter.txt": "kiprdf: .../letter.txt is a file; a backup needs a folder.\n",
    "backup letter.txt/x": "kiprdf: No backup can be written to .../x: Not a directory.\n",
    "publish photos": "kiprdf: The folder .../photos contains 'cat.txt', which was not ...",
    "publish letter.txt": "kiprdf: .../letter.txt is a file; a nexus is published into a folder.\n",
    "publish letter.txt/x": "kiprdf: .../letter.txt is a file; a nexus is published into ...",
    "publish /": "kiprdf: A nexus is published into a separate folder, not into /.\n",
    "publish nexus/site": "kiprdf: .../nexus/site is in the folder of the nexus; ...",
}


@pytest.fixture
def folder(loaded: Invoke, tmp_path: Path) -> Path:
    """The folder of a nexus, a letter and a folder in use."""
    (tmp_path / "letter.txt").write_text("mine", "utf-8")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.txt").write_text("cat", "utf-8")
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("[!n]*/*"))


@pytest.mark.parametrize("command", READ)
def test_what_cannot_be_read_is_one_line(loaded: Invoke, folder: Path, command: str) -> None:
    answer = loaded(*command.split())
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert matches(READ[command], answer.stderr), answer.stderr
    assert not (folder / "new").exists()
    assert not (folder / "missing").exists()


@pytest.mark.parametrize("command", WRITTEN)
def test_what_cannot_be_written_is_one_line(loaded: Invoke, folder: Path, command: str) -> None:
    before = names(folder)
    answer = loaded(*command.split())
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert matches(WRITTEN[command], answer.stderr), answer.stderr
    assert names(folder) == before


def test_diff_reports_a_missing_file_with_status_two(loaded: Invoke) -> None:
    answer = loaded("diff", "missing.ttl", "nexus")
    assert answer.exit_code == 2
    assert answer.stderr == "kiprdf: There is no nexus and no snapshot missing.ttl.\n"
