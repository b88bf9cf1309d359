"""A real browser without a window: how it is started, what it is told of its screen, and what it says it did.

Tests that need one are skipped where chromium, its driver or selenium is not installed; the reason begins with
"no browser: ", by which the end of a run counts them.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

DRIVER = shutil.which("chromedriver")
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"
ENTER, ESCAPE, TAB, SHIFT, BACKSPACE = "\ue007", "\ue00c", "\ue004", "\ue008", "\ue003"
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def starting() -> Iterator[Any]:
    """Chromium with a profile of its own, which leaves nothing; what it logs is asked of it."""
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        pytest.skip("no browser: selenium is not installed")
    if DRIVER is None or BROWSER is None:
        pytest.skip("no browser: chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for argument in (*_FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        browser = webdriver.Chrome(options=options, service=Service(DRIVER))
        try:
            yield browser
        finally:
            browser.quit()


def set_screen(
    browser: Any, width: int = 1200, scheme: str = "light", height: int = 900, touch: bool = False
) -> None:
    """How wide and how bright the screen is, and whether fingers move on it."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": touch})
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def forget_logs(browser: Any) -> None:
    """What was logged up to now is of another page."""
    for kind in ("browser", "performance"):
        browser.get_log(kind)


def asked_for(browser: Any) -> list[str]:
    """The addresses of all requests since they were last asked for, but for data that stands in them."""
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    urls = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if not url.startswith("data:")]


def settle(browser: Any) -> None:
    """Until two frames were drawn."""
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
    )
