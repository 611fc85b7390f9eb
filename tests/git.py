"""git in tests: it knows nothing of the settings of this machine, and runs this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.runner import ROOT

HAS_GIT = shutil.which("git") is not None
_SETTINGS = {
    "user.name": "t",
    "user.email": "t@example.org",
    "core.autocrlf": "false",
    "init.defaultBranch": "main",
    "advice.mergeConflict": "false",
}


def programs(folder: Path) -> Path:
    """The folder, which is created, with a program ``kiprdf`` that runs this checkout."""
    folder.mkdir()
    script = folder / "kiprdf"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kiprdf "$@"\n', "utf-8")
    script.chmod(0o755)
    return folder


def run_git(
    *arguments: str, folder: Path, program_folder: Path | None
) -> subprocess.CompletedProcess[str]:
    """Run ``git`` in a folder; it finds ``kiprdf`` in the folder of programs alone.

    What both print is in the standard output, in its order.
    """
    folder = folder.resolve()
    program = shutil.which("git")
    assert program is not None
    folders = [program_folder, Path(program).parent, *filter(None, os.defpath.split(os.pathsep))]
    environment = {
        "PATH": os.pathsep.join(str(one) for one in folders if one is not None),
        "HOME": str(folder.parent),
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "GIT_EDITOR": "true",
    }
    settings = [word for item in _SETTINGS.items() for word in ("-c", "=".join(item))]
    return subprocess.run(
        [program, *settings, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        encoding="utf-8",
        errors="surrogateescape",
    )
