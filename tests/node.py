"""Node, with the packages of npm that the tests run. What needs them is skipped without them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGES = json.loads(Path(__file__).with_name("package.json").read_text("utf-8"))["dependencies"]
FOLDER = Path(os.environ.get("KIPRDF_NODE", ""))
"""The folder of their ``node_modules``."""
NODE = shutil.which("node")


def _is_installed() -> bool:
    modules = FOLDER / "node_modules"
    return bool(NODE and all((modules / package).is_dir() for package in PACKAGES))


needs_node = pytest.mark.skipif(
    not _is_installed(),
    reason="It needs Node 20: mkdir DIR; cp tests/package.json DIR; npm install --prefix DIR; "
    "and the variable KIPRDF_NODE=DIR",
)


def run(script: Path, given: str = "", *, seconds: float = 60) -> str:
    """What a module for Node prints that reads a text, and imports the packages."""
    # Node looks for packages beside a module; without a file, in the current folder.
    command = [str(NODE), "--input-type=module", "--eval", script.read_text("utf-8")]
    done = subprocess.run(
        command,
        input=given,
        cwd=FOLDER,
        capture_output=True,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
