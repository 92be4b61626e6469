"""Chromium without a window, driven by Selenium."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

BROWSER: Final = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER: Final = shutil.which("chromedriver")


@contextmanager
def chromium(*arguments: str, downloads: Path | None = None) -> Iterator[Any]:
    """Start a browser, and yield its driver; skip the test where there is none.

    Parameters
    ----------
    *arguments : str
        More arguments of the command line.
    downloads : Path, optional
        Folder for files that a page saves.
    """
    webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")
    if BROWSER is None or DRIVER is None:
        pytest.skip("Chromium or its driver is not installed (chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    # A sandbox cannot be had in many containers; the page is our own.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", *arguments):
        options.add_argument(argument)
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def requests_of(driver: Any) -> list[str]:
    """Return the addresses of all requests since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
