"""Options of the test run."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# A slow machine is no fault of the code.
settings.register_profile("kiprdf", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kiprdf")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what is found into the pages of tests/golden and tests/syntax/bad",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether the pages are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))
