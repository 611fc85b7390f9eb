"""The engines of these tests, each started once a process; a missing one skips its tests.

``KIPRDF_TEST_ENGINES`` names them, separated by commas, or is ``all``; the others have no tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.engines.servers import KINDS, Engine, running

NAMES = "KIPRDF_TEST_ENGINES"
DEFAULT = ("rdflib", "oxigraph", "fuseki")


def chosen() -> tuple[str, ...]:
    """The engines that this run tests."""
    named = os.environ.get(NAMES, "")
    if named == "all":
        return tuple(KINDS)
    return tuple(named.split(",")) if named else DEFAULT


def require(name: str) -> None:
    """Skip a test whose engine is not chosen, or not installed."""
    if name not in chosen():
        pytest.skip(f"{name} runs with {NAMES}={name}")
    if missing := KINDS[name].missing():
        pytest.skip(f"{name} needs {missing}: {KINDS[name].install}")


@pytest.fixture(scope="session")
def start() -> Iterator[Callable[[str], Engine]]:
    """Starts an engine by its name, once."""
    started: dict[str, Engine] = {}
    with ExitStack() as stack:

        def start(name: str) -> Engine:
            require(name)
            if name not in started:
                started[name] = stack.enter_context(running(name))
            return started[name]

        yield start


@pytest.fixture(params=chosen())
def engine(request: pytest.FixtureRequest, start: Callable[[str], Engine]) -> Engine:
    """Each chosen engine, without data."""
    engine = start(request.param)
    engine.clear()
    return engine


@pytest.fixture(params=[name for name in chosen() if KINDS[name].start])
def server(request: pytest.FixtureRequest, start: Callable[[str], Engine]) -> Engine:
    """Each chosen engine that is reached over HTTP, without data."""
    engine = start(request.param)
    engine.clear()
    return engine
