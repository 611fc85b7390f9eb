"""A folder to work in, and two ways of running the command line in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kiprdf.cli import app
from kiprdf.nexus import Nexus

ROOT = Path(__file__).resolve().parents[2]

DRUGS = """\
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
}
UPSERT {
  CONCEPT ?headache { {type: "Symptom", name: "Headache"} }
  CONCEPT {
    {type: "Drug", name: "Aspirin"}
    SET ATTRIBUTES { risk_level: 2 }
    SET PROPOSITIONS { ("treats", ?headache) }
  }
  CONCEPT { {type: "Drug", name: "阿司匹林"} }
}"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Invoke = Callable[..., Result]


def environment(**more: str) -> dict[str, str]:
    """An environment that neither colours nor wraps, and knows this checkout."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **more}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``kiprdf`` as a child process in an empty folder."""

    def call(
        *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "kiprdf", *arguments],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env=environment(**(env or {})),
            timeout=60,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return call


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``kiprdf`` in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "KIPRDF_NEXUS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    runner = CliRunner()
    return lambda *arguments, **more: runner.invoke(app, list(arguments), **more)


@pytest.fixture
def drugs(tmp_path: Path) -> Path:
    """A small capsule in the folder."""
    path = tmp_path / "drugs.kip"
    path.write_text(DRUGS, "utf-8")
    return path


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nexus that holds the small capsule; to be copied."""
    folder = tmp_path_factory.mktemp("prepared") / "nexus"
    with Nexus.open(folder) as nexus:
        nexus.apply_capsule(DRUGS)
    return folder


@pytest.fixture
def loaded(invoke: Invoke, prepared: Path, tmp_path: Path) -> Invoke:
    """Run ``kiprdf`` in this process, beside a nexus that holds the small capsule."""
    shutil.copytree(prepared, tmp_path / "nexus")
    return invoke
