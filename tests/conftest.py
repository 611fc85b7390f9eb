"""Options of the test run, its processes, and a line about each test that takes long."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kiprdf.execution import empty_answers
from kiprdf.store.cancellation import is_any_abandoned
from tests.long_runs import amount

# A slow machine is no fault of the code, and graphs are large.
LARGE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "kiprdf",
    deadline=None,
    suppress_health_check=LARGE,
    max_examples=amount("EXAMPLES", 20),
    # A run repeats the one before it; a long run with a seed draws others.
    derandomize="KIPRDF_SEED" not in os.environ,
)
settings.load_profile("kiprdf")

# A loaded machine may take longer than the time in which an empty answer is explained.
empty_answers.SECONDS = 60.0

# The objects of fifteen thousand tests stay, and are looked at again each time.
gc.set_threshold(20_000, 20, 100)

# Tests start hundreds of processes, each of which would compile the library again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# In memory a sync takes no time; the tests write a thousand folders, which no power cut outlives.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 << 30:
    tempfile.tempdir = os.environ["TMPDIR"] = str(MEMORY)

PATIENCE = [0.05] * 1200
"""Seconds for which tests wait in turns until queries end that earlier tests have left."""
LONG = 60.0
"""Seconds after which a running test is named, and again each time they have doubled."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what is found into the pages of tests/golden and tests/syntax/repairs",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether the pages are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the engines that are not installed, and Node, with the command that installs each."""
    skipped = terminalreporter.getreports("skipped")
    reasons = {report.longrepr[2] for report in skipped}
    for reason in sorted(reason for reason in reasons if " needs " in reason):
        terminalreporter.write_line(reason)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Named files, -k and -s run in one process, which starts at once and can be debugged.

    Everything else runs in a process for each core, and one that runs while others wait.
    """
    option = config.option
    named = any(Path(argument.split("::")[0]).is_file() for argument in config.args)
    alone = named or option.keyword or option.capture == "no"
    return 0 if alone else (os.cpu_count() or 1) + 1


def pytest_runtest_setup() -> None:
    """Wait for queries that earlier tests have left: beside them no empty answer is explained."""
    while PATIENCE and is_any_abandoned():
        time.sleep(PATIENCE.pop())


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(LongTests())


def pytest_collection(session: pytest.Session) -> None:
    """Let each process begin with other files: on a new machine none is compiled in all of them."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args != session.config.getini("testpaths"):
        return
    root = Path(__file__).parent
    files = sorted(root.rglob("test_*.py"))
    begin = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in (*files[begin:], *files[:begin]):
        # What fails here fails again where it is reported.
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(file.relative_to(root.parent).with_suffix("").parts))


def pytest_collection_finish() -> None:
    # The fifteen thousand tests stay to the end: the collector need not look at them again.
    gc.collect()
    gc.freeze()


class LongTests:
    """Names the tests that have been running for long, on the error output of the run.

    A loaded machine then shows progress, and a run that hangs says where.
    """

    def __init__(self) -> None:
        self._output = os.fdopen(os.dup(2), "w", encoding="utf-8")
        self._started: dict[str, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._report_long_tests, name="long tests", daemon=True
        )

    def pytest_sessionstart(self) -> None:
        self._thread.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._started[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._started.pop(nodeid, None)

    def pytest_sessionfinish(self) -> None:
        self._ended.set()

    def _report_long_tests(self) -> None:
        limits: dict[str, float] = {}
        while not self._ended.wait(LONG / 10):
            for nodeid, started in list(self._started.items()):
                seconds = time.monotonic() - started
                limit = limits.setdefault(nodeid, LONG)
                if seconds >= limit:
                    limits[nodeid] = limit * 2
                    print(f"\n{nodeid} has been running for {seconds:.0f} s", file=self._output)
                    self._output.flush()
