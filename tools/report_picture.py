"""docs/images/report.png: the top of a report about handwritten digits, as Debian's chromium shows it.

    python -m tools.report_picture [page.html]

With a name the page itself is kept there.
"""

import base64
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from gramlearn import MetricLearner, Pairs
from gramlearn.plots import report

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
_POINTS, _STATEMENTS = 900, 1500
_WIDTH, _HEIGHT, _COLORS = 1120, 2200, 256


def main() -> None:
    """Write the page and take its picture."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "report.html"
        point = write_page(path)
        PICTURE.write_bytes(take_picture(path, point))
    print(f"Picture: {PICTURE}")


def write_page(path: Path) -> int:
    """Learn from judgments of digits, report on others, and name a point whose neighbors became better."""
    data = load_digits()
    rows = np.random.default_rng(0).permutation(len(data.data))[:_POINTS]
    X, y, pictures = data.data[rows], data.target[rows], data.images[rows]
    side = Pairs.from_labels(y, _STATEMENTS, random_state=0)
    rest, held = side.split(0.4, random_state=0)
    learner = MetricLearner(random_state=0).fit(X, side=rest)
    title = f"Handwritten digits: what {rest.size} judgments teach"
    report(learner, X, held, y, path=path, items=pictures, title=title)
    right = [same_class(points, y) for points in (X, learner.transform(X))]
    return int(np.argmax(right[1] - right[0]))


def same_class(points: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How many of the ten nearest of each point are of its class."""
    squares = np.sum(points**2, axis=1)
    gaps = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(gaps, np.inf)
    return np.asarray(np.sum(y[np.argsort(gaps, axis=1)[:, :10]] == y[:, None], axis=1))


def with_few_colors(picture: bytes) -> bytes:
    """The same in a palette, which takes a third of the bytes."""
    from PIL import Image

    small = BytesIO()
    Image.open(BytesIO(picture)).convert("RGB").quantize(_COLORS).save(small, "PNG", optimize=True)
    return small.getvalue()


@contextmanager
def open_browser() -> Iterator[Any]:
    """Chromium without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield browser
    finally:
        browser.quit()


def take_picture(path: Path, point: int) -> bytes:
    """The top of the page, with the neighbors of a point."""
    with open_browser() as browser:
        screen = {"width": _WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        browser.get(path.resolve().as_uri())
        find = browser.find_element("id", "find")
        find.send_keys(f"point {point}\ue007")
        browser.execute_script("document.activeElement.blur()")
        browser.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        )
        clip = {"x": 0, "y": 0, "width": _WIDTH, "height": _HEIGHT, "scale": 1}
        taken = browser.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        return with_few_colors(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main()
