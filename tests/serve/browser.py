"""Headless Chromium with Debian's driver; tests that need it are skipped where it is missing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="needs Chromium: apt-get install chromium chromium-driver",
)


@contextmanager
def browser() -> Iterator[Any]:
    """A window; its messages are in ``get_log("browser")``."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    options.add_argument("--headless=new")
    options.add_argument("--no-sandbox")
    options.add_argument("--disable-gpu")
    options.add_argument("--disable-dev-shm-usage")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        show_on(driver)
        yield driver
    finally:
        driver.quit()


def show_on(driver: Any, width: int = 1200, *, is_dark: bool = False) -> None:
    """Show the pages of a window on a screen of a width, from now on."""
    # A window is never narrower than 500 pixels; the emulated screen is.
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def until(condition: Callable[[], Any]) -> Any:
    """The first true value of a condition; the test fails after some seconds.

    What is read of a page that another one replaces meanwhile, or between both, is read again.
    """
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException

    end = time.monotonic() + 20
    while time.monotonic() < end:
        with suppress(NoSuchElementException, StaleElementReferenceException):
            value = condition()
            if value:
                return value
        time.sleep(0.1)
    raise AssertionError("Nothing happened.")
