"""The servers of these tests, each a child process, started once for a file."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.nexus.support import FACTS, SCHEMA
from tests.serve import generated
from tests.serve.browser import browser, show_on
from tests.serve.running import RunningServer, serving

BASE = "http://kb.example/kb/"
NAMES = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } }'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small medical nexus."""
    folder = tmp_path_factory.mktemp("serve") / "kb"
    with kiprdf.Nexus.open(folder, BASE) as nexus:
        nexus.execute(SCHEMA)
        nexus.execute(FACTS)
        for name in ("Vitamin C", "a/b", "阿司匹林", "<script>alert(1)</script>"):
            nexus.execute(NAMES, name=name)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[RunningServer]:
    """A server without tokens."""
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the nexus of ``generated``, to read; who writes copies it."""
    # The first process of the run writes it, in the folder that all of them share.
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with open(shared / "large.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "large"
        if not folder.is_dir():
            generated.write(shared / "writing")
            (shared / "writing").rename(folder)
    return folder


@pytest.fixture(scope="session")
def large_server(large: Path) -> Iterator[RunningServer]:
    """A server that only reads it."""
    with serving(large, "--read-only") as running:
        yield running


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """The browser of the run; ask for ``window``."""
    with browser() as driver:
        yield driver


@pytest.fixture
def window(driver: Any) -> Any:
    """The one window of these tests, wide and light, with no message and no cookie left."""
    show_on(driver)
    driver.delete_all_cookies()
    driver.get_log("browser")
    return driver
