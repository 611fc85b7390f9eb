"""A folder to work in, and two ways to run the command line in it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from typer.testing import Result

from kiprdf.nexus import Nexus

from . import runner

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


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``kiprdf`` as a child process in an empty folder."""
    return partial(runner.run_process, folder=tmp_path)


@pytest.fixture
def run_afresh(tmp_path: Path) -> Run:
    """Run ``kiprdf`` in a new interpreter in an empty folder."""
    return partial(runner.run_afresh, folder=tmp_path)


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``kiprdf`` in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "KIPRDF_NEXUS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return runner.invoke


@pytest.fixture
def drugs(tmp_path: Path) -> Path:
    """A small capsule in the folder."""
    path = tmp_path / "drugs.kip"
    path.write_text(DRUGS, "utf-8")
    return path


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nexus with the small capsule; to be copied."""
    folder = tmp_path_factory.mktemp("prepared") / "nexus"
    with Nexus.open(folder) as nexus:
        nexus.apply_capsule(DRUGS)
    return folder


@pytest.fixture
def loaded(invoke: Invoke, prepared: Path, tmp_path: Path) -> Invoke:
    """Run ``kiprdf`` in this process, in a folder with a nexus that has the small capsule."""
    shutil.copytree(prepared, tmp_path / "nexus")
    return invoke
